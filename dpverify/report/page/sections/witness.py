"""What refutes a claim: two inputs, an event, its two probabilities, and how much more likely it is than the claim allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from typing import Any, Final

from dpverify.model import Claim
from dpverify.report.axes import Axis
from dpverify.report.page.blocks import Block, Code, Facts, Figure, Row
from dpverify.report.page.sections.drawing import size
from dpverify.report.page.subject import Claimed
from dpverify.report.svg import Chart, Series
from dpverify.report.text import plain

TITLE = "What refutes it"
_NUMBERS: Final = Context(prec=30, Emin=MIN_EMIN, Emax=MAX_EMAX)
"""Events may be as unlikely as e^-10^8, which no float and no fraction of a bearable size is."""
_WORDS: Final = {"P": "P(S), on the first input", "Q": "Q(S), on the second input", "loss": "loss (nats)", "at": "parameters"}


def blocks(subject: Claimed) -> Sequence[Block]:
    """The witness of a refutation."""
    judgement = subject.entry.judgement
    if judgement is None or judgement.witness is None:
        return []
    witness = judgement.witness
    facts = Facts([(_WORDS.get(key, key), Code(plain(value))) for key, value in witness.items()])
    drawn = _figure(subject, witness)
    return [facts, *([Row([drawn])] if drawn is not None else [])]


def _figure(subject: Claimed, witness: Mapping[str, Any]) -> Figure | None:
    """P(S) beside the most that the claim allows it to be, as shares of the larger; None where they are not numbers."""
    claim = subject.entry.claim
    with localcontext(_NUMBERS):
        seen, other = _probability(witness.get("P"), 0), _probability(witness.get("Q"), 1)
        allowed = _allowed(claim, other)
        if seen is None or allowed is None or seen <= 0:
            return None
        most = max(seen, allowed)
        shares = [float(seen / most), float(allowed / most)]
        times = "infinitely many times" if allowed == 0 else f"{_times(seen / allowed)} times"
        caption = f"S is at least {times} as likely on the first input as the claim allows: {seen:.5g}, not {allowed:.5g}."
    names = ("P(S)", "the most that is allowed")
    chart = Chart(
        f"Witness, {claim.name}", caption, Axis("", names=names), Axis("share of the larger", low=0.0, high=1.0),
        [Series("", [list(enumerate(shares))], "bars")],
    )  # fmt: skip
    return Figure(chart.svg(f"{subject.anchor_id}-witness"), caption)


def _allowed(claim: Claim, q: Decimal | None) -> Decimal | None:
    """e^epsilon Q(S) + delta."""
    epsilon, delta = size(claim.epsilon), size(claim.delta)
    if q is None or epsilon is None or delta is None:
        return None
    return Decimal(epsilon).exp() * q + Decimal(delta)


def _times(ratio: Decimal) -> str:
    """A ratio with as many digits as tell it from 1."""
    excess = ratio - 1
    return f"{ratio:.5g}" if excess <= 0 or excess > Decimal("1e-4") else f"1 + {excess:.2g}"


def _probability(value: Any, end: int) -> Decimal | None:
    """One end of an enclosed probability: a decimal, however small, or a fraction."""
    text = str(value[end] if isinstance(value, list | tuple) and len(value) == 2 else value)
    above, _, below = text.partition("/")
    try:
        return Decimal(above) / Decimal(below or 1)
    except ArithmeticError:
        return None
