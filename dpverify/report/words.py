"""What a claim speaks of, in plain words: its neighbours, its norm, its guarantee, its slack."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dpverify.catalogue import kinds
from dpverify.catalogue.kinds.kind import Sensitivity
from dpverify.report import Entry, delta_enclosure, enclosure, quantity, short
from dpverify.search.decimals import decimal_bounds
from dpverify.trusted.combinators.adjacencies import stated_adjacencies
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, format_expr
from dpverify.trusted.kernel.model import Claim, Domain, Mechanism, RecordSums

_DIGITS: Final = 17
ADJACENCIES: Final = {
    "add-remove": "two inputs are neighbours where one has one record more",
    "replace": "two inputs are neighbours where one record differs",
    "l1": "two inputs are neighbours where their histograms differ by at most 1 in the l1 norm",
    "l2": "two inputs are neighbours where their histograms differ by at most 1 in the l2 norm",
}

_PERSONS: Final = {
    "add-remove": "two inputs are neighbours where one has the records of one person more",
    "replace": "two inputs are neighbours where the records of one person differ",
}
_FIRST: Final = {"one-sided": "; x is the one with the record", "reverse": "; x is the one without the record"}
"""Which of two neighbours comes first, where the claim says."""
_UNSAID: Final = {
    Sensitivity.ANSWER: "some bound",
    Sensitivity.NEEDED: "some bound",
    Sensitivity.ONE: "1",
    Sensitivity.OPTIONAL: "",
    Sensitivity.NONE: "",
}
"""What stands for a sensitivity that a claim does not state."""


def neighbours(claim: Claim) -> str:
    """Which pairs of inputs the guarantee is about."""
    said = _neighbours(claim)
    return f"{said.removesuffix(', in both orders') if claim.order else said}{_FIRST.get(claim.order, '')}"


def _neighbours(claim: Claim) -> str:
    if claim.sums is not None:
        return over_records(claim.sums)
    if claim.query is not None:
        said = ADJACENCIES[claim.query.adjacency]
        rows = len(claim.query.rows)
        answers = "the answer is one linear query" if rows == 1 else f"the answers are {rows} linear queries"
        return f"{said}; {answers}, whose sensitivity is derived"
    kind, moved = kinds.of(claim.mechanism), claim.sensitivity
    said = kind.neighbours(claim.mechanism, _UNSAID[kind.sensitivity] if moved is None else format_expr(moved))
    if said:
        return said
    stated = [ADJACENCIES.get(name, name) for name in stated_adjacencies(claim.mechanism, claim.adjacency)]
    return "; ".join(stated) or "those that every part's sensitivity speaks of"


def parameters(claim: Claim) -> str:
    """The parameters that a claim ranges over, each with its domain."""
    return ", ".join(f"{name} {domain(ranges)}" for name, ranges in claim.domains)


def over_records(sums: RecordSums) -> str:
    """Which inputs are neighbours, and what is answered."""
    answers = f"the answer is {'a sum' if len(sums.terms) == 1 else f'{len(sums.terms)} sums'} over records"
    rows = "one record" if sums.rows == 1 else f"at most {sums.rows} records"
    return f"{_PERSONS[sums.adjacency]}, who has {rows}; {answers}, whose sensitivity is derived"


def domain(given: Domain) -> str:
    """A domain in words."""
    kind = "integer" if given.integer else "real"
    if given.lower is None and given.upper is None:
        return f"any {kind}"
    left = "" if given.lower is None else f"{'above' if given.lower_open else 'at least'} {given.lower}"
    right = "" if given.upper is None else f"{'below' if given.upper_open else 'at most'} {given.upper}"
    return f"any {kind} {' and '.join(filter(None, (left, right)))}"


def guarantee(claim: Claim) -> str:
    """What is claimed."""
    order = f", in the order {claim.order} alone" if claim.order else ""
    return f"{_guarantee(claim)}{order}"


def _guarantee(claim: Claim) -> str:
    if claim.measure is not None:
        what = quantity(claim)
        return f"the least {what}" if claim.measure.value is None else f"{what} {short(claim.measure.value)}"
    epsilon, delta = short(claim.epsilon), short(claim.delta)
    if claim.epsilon is None:
        return "the least epsilon" + ("" if delta == "0" else f" at delta {delta}")
    if claim.delta is None:
        return f"the least delta at epsilon {epsilon}"
    return f"epsilon {epsilon}" + ("" if delta == "0" else f", delta {delta}")


def slack(entry: Entry) -> str:
    """How far what is claimed is above the tight value (below it: negative), and in per cent of it; empty where that is not known."""
    claim = entry.claim
    if claim.measure is not None and claim.measure.value is not None:
        return _over(claim.measure.value, enclosure(entry.judgement, _DIGITS))
    if claim.epsilon is None or claim.domains:
        return ""
    ratio = _over(claim.epsilon, enclosure(entry.judgement, _DIGITS))
    ends = delta_enclosure(entry.judgement, _DIGITS)
    if ratio or claim.delta is None or (claim.delta == ZERO and ends[1] in (None, "0")):
        return ratio
    ratio = _over(claim.delta, ends)
    return ratio and f"{ratio} of delta"


def _over(claimed: Expr, ends: tuple[str | None, str | None]) -> str:
    """claimed - tight: its value where the enclosure is narrow beside it, at least that of the upper bound where there is no lower one."""
    lower, upper = ends
    if upper is None or "inf" in ends:
        return ""
    try:
        low, high = map(Fraction, decimal_bounds(claimed, _DIGITS))
    except Undecided:
        return ""
    least, above = "" if lower is not None else "at least ", Fraction(upper)
    below = above if lower is None else Fraction(lower)
    gap, width = (low + high - below - above) / 2, (high - low + above - below) / 2
    if abs(gap) <= width or (least and gap < 0):
        return "" if least else "none"
    percent = f" ({_percent(float(100 * gap / above))} %)" if above > 0 and low > 0 else ""
    return f"{least}{float(gap):+.3g}{percent}"


def _percent(value: float) -> str:
    """To two digits at least, and to the whole from 100 on."""
    return f"{value:+.0f}" if 99.5 <= abs(value) < 1e6 else f"{value:+.2g}"


def scale(mechanism: Mechanism) -> str:
    """The scale of noise, empty where it is 1 or there is none."""
    width = getattr(mechanism, "scale", ONE)
    return "" if width == ONE else format_expr(width)


def count(number: int, noun: str) -> str:
    """So many of something."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
