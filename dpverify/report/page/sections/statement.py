"""The claim as a sentence and an inequality, and how it stands beside the tight value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dpverify.catalogue.formulas.boxes import APPLY, TIMES, Box, Fence, Ident, Number, Op, Sup, Words, linear, row
from dpverify.catalogue.formulas.typeset import symbol, typeset
from dpverify.report import delta_enclosure, enclosure, exact, exact_delta, mathml, quantity, short, words
from dpverify.report.enclosures import plain_decimal
from dpverify.report.page.blocks import Block, Code, Facts, Inline, Math
from dpverify.report.page.sections.rules import link
from dpverify.report.page.subject import Claimed
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, format_expr, symbols
from dpverify.trusted.kernel.model import NEARNESS, Claim, Exponential, Space, Table

TITLE = ""
_LONGEST: Final = 24
"""Digits of a claimed number that a formula shows exactly."""
_TERMS: Final = {"PROVED": "proved", "REFUTED": "refuted", "UNKNOWN": "undecided"}


def blocks(subject: Claimed) -> Sequence[Block]:
    """What is claimed, and what is known of it."""
    entry = subject.entry
    claim, judgement = entry.claim, entry.judgement
    rows: list[tuple[str, Inline]] = [("claimed", words.guarantee(claim)), ("neighbours x, x\N{PRIME}", words.neighbours(claim))]
    if claim.domains:
        rows.append(("parameters", words.parameters(claim)))
    rows += [(_TERMS[entry.verdict], sentence(claim, entry.verdict)), *_tight_epsilon(subject)]
    low, high = delta_enclosure(judgement, entry.digits)
    if (low, high) not in ((None, None), ("0", "0")):
        closed = exact_delta(judgement)
        rows += [("tight delta", Code(closed))] if closed else []
        rows.append(("in decimals" if closed else "tight delta", between(low, high)))
    slack = words.slack(entry)
    rows += [("slack", slack)] if slack else []
    if judgement is not None and judgement.rules:
        rows.append(("by the rules" if judgement.verdict != "UNKNOWN" else "bounds by", _listed([link(name) for name in judgement.rules])))
    rows += [] if entry.as_expected else [("expected", entry.expected)]
    return [Facts(rows)]


def _listed(names: Sequence[Inline]) -> Inline:
    return tuple(part for name in names for part in (", ", name))[1:]


def _tight_epsilon(subject: Claimed) -> list[tuple[str, Inline]]:
    entry, judgement = subject.entry, subject.entry.judgement
    if judgement is None:
        return []
    lower, upper = enclosure(judgement, entry.digits)
    shown: list[Inline] = []
    if exact(judgement) is not None and isinstance(judgement.lower, Expr) and not isinstance(judgement.lower, Num):
        shown.append(formula(judgement.lower))
    elif isinstance(judgement.upper, Expr) and symbols(judgement.upper):
        shown.append(("at most ", formula(judgement.upper)))
    if lower is not None or upper is not None:
        shown.append(between(lower, upper))
    return list(zip((f"tight {quantity(entry.claim)}", "in decimals"), shown, strict=False))


def _of_a_space(claim: Claim, verdict: str) -> str:
    """What was proved of the mechanisms with answers in a space, or of the one that is given."""
    space = claim.mechanism
    assert isinstance(space, Space) and claim.within is not None and claim.beta is not None
    given = bool(space.table) or space.rate is not None
    who = "the mechanism that is given is" if given else "some mechanism is"
    if verdict == "REFUTED":
        who = "the mechanism that is given is not" if given else "no mechanism is"
    private = "private at some epsilon" if claim.epsilon is None else f"private at epsilon {format_expr(claim.epsilon)}"
    near = f"within {format_expr(claim.within)} of the truth but with probability {format_expr(claim.beta)}"
    there = "at the parameters of the witness, " if verdict == "REFUTED" and claim.domains else ""
    return f"{there}{who} {private} for each unit of distance between databases, with answers {near} on every database"


def sentence(claim: Claim, verdict: str) -> Inline:
    """What was proved, as a statement with its quantifiers; REFUTED proves the negation of what is claimed, UNKNOWN neither."""
    refuted = verdict == "REFUTED"
    if claim.measure is not None:
        return (_in_words(claim, verdict),)
    if isinstance(claim.mechanism, Space):
        return (_of_a_space(claim, verdict),)
    parts = tuple(part for box in inequality(claim, refuted=refuted) for part in (Math(mathml.element(box), linear(box)), " "))
    named = (("\N{GREEK SMALL LETTER EPSILON}", claim.epsilon), ("\N{GREEK SMALL LETTER DELTA}", claim.delta))
    unknown = [sign for sign, value in named if value is None]
    if refuted:
        parameters = "parameters, " if claim.domains else ""
        whatever = f"however large {' and '.join(unknown)}, " if unknown else ""
        return (f"{whatever}there are {parameters}neighbours x, x\N{PRIME} and an event S with ", *parts)
    parameters = "all parameters, " if claim.domains else ""
    open_question = "whether, " if verdict == "UNKNOWN" else ""
    last = f"where {' and '.join(unknown)} is the upper bound below" if unknown else ""
    return (f"{open_question}for {parameters}all neighbours x, x\N{PRIME} and every event S: ", *parts, last)


def _in_words(claim: Claim, verdict: str) -> str:
    """The same of a claim in another measure."""
    measure = claim.measure
    assert measure is not None
    refuted = verdict == "REFUTED"
    value = short(measure.value) if measure.value is not None else "any number" if refuted else "the upper bound below"
    most = f"{'more than' if refuted else 'at most'} {value}"
    if measure.name == NEARNESS:
        return ("whether, " if verdict == "UNKNOWN" else "") + _of_nearness(claim, most)
    if measure.name == "gdp":
        said = f"M(x) and M(x′) are as hard to tell apart as N(0, 1) and N(mu, 1), mu {most}"
    elif measure.at is not None:
        said = f"the Renyi divergence of order {measure.at} of M(x) from M(x′) is {most}"
    else:
        orders = "some order" if refuted else "every order"
        said = f"the Renyi divergence of {orders} above 1 of M(x) from M(x′), over its order, is {most}"
    quantifier = "there are neighbours x, x′ with: " if refuted else "for all neighbours x, x′: "
    return ("whether, " if verdict == "UNKNOWN" else "") + quantifier + said


def _of_nearness(claim: Claim, most: str) -> str:
    """How likely the answers of a mechanism are to be further from the truth than is claimed."""
    assert claim.within is not None
    where = f" in {claim.distance}" if claim.distance else ""
    what = f"costs more than {format_expr(claim.within)}"
    if not isinstance(claim.mechanism, Table | Exponential):
        what = f"is further than {format_expr(claim.within)} from the true answer{where}"
    return f"on {'some' if most.startswith('more') else 'every'} input x, M(x) {what} with a probability of {most}"


def inequality(claim: Claim, *, refuted: bool = False) -> tuple[Box, ...]:
    """Differential privacy at the claimed numbers, or what contradicts it, in parts between which a line may end."""
    epsilon = Ident("\N{GREEK SMALL LETTER EPSILON}") if claim.epsilon is None else _number(claim.epsilon)
    delta: tuple[Box, ...] = ()
    if claim.delta is None:
        delta = (Op("+"), Ident("\N{GREEK SMALL LETTER DELTA}"))
    elif claim.delta != ZERO:
        delta = (Op("+"), _number(claim.delta))
    left, right = _chance(Ident("x")), _chance(Ident("x\N{PRIME}"))
    bounded = (row(left, Op(">" if refuted else "\N{LESS-THAN OR EQUAL TO}")), row(Sup(Ident("e"), epsilon), TIMES, right))
    return (*bounded, row(*delta)) if delta else bounded


def _chance(data: Box) -> Box:
    inside = row(Ident("M"), APPLY, Fence("(", data, ")"), Op("\N{ELEMENT OF}"), symbol("S"))
    return row(Ident("Pr"), APPLY, Fence("[", inside, "]"))


def _number(value: Expr) -> Box:
    """A claimed number as its author would write it: a short decimal where that is exact."""
    text = short(value)
    if isinstance(value, Num) and "/" not in text and not text.startswith("-") and len(text) <= _LONGEST:
        return Number(text) if "e" not in text else Words(text)
    return typeset(value)


def formula(expr: Expr) -> Math:
    """An expression, set."""
    return Math(mathml.mathml(expr), mathml.text(expr))


def between(lower: str | None, upper: str | None) -> Inline:
    """What is known of a number from both sides."""
    if lower == upper and lower is not None:
        return Code("infinite" if lower == "inf" else plain_decimal(lower))
    if lower is None or upper is None:
        return (f"at {'most' if upper is not None else 'least'} ", Code(str(upper if upper is not None else lower)))
    return ("between ", Code(lower), " and ", Code("infinite" if upper == "inf" else upper))
