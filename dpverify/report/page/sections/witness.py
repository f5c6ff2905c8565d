"""What refutes a claim: two inputs, an event, its two probabilities, and how much more likely it is than the claim allows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from dpverify.model import Claim
from dpverify.report.axes import Axis
from dpverify.report.page.blocks import Block, Code, Facts, Figure, Row
from dpverify.report.page.sections.drawing import number, size
from dpverify.report.page.subject import Claimed
from dpverify.report.svg import Chart, Series
from dpverify.report.text import plain

TITLE = "What refutes it"
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
    seen, other = _probability(witness.get("P"), 0), _probability(witness.get("Q"), 1)
    allowed = _allowed(claim, other)
    if seen is None or allowed is None or seen <= 0:
        return None
    most = max(seen, allowed)
    shares = [float(seen / most), float(allowed / most)]
    times = "infinitely many times" if allowed == 0 else f"{_times(seen / allowed)} times"
    caption = f"S is at least {times} as likely on the first input as the claim allows: "
    caption += f"{number(float(seen))}, not {number(float(allowed))}."
    names = ("P(S)", "the most that is allowed")
    chart = Chart(
        f"Witness, {claim.name}", caption, Axis("", names=names), Axis("share of the larger", low=0.0, high=1.0),
        [Series("", [list(enumerate(shares))], "bars")],
    )  # fmt: skip
    return Figure(chart.svg(f"{subject.anchor_id}-witness"), caption)


def _allowed(claim: Claim, q: Fraction | None) -> Fraction | None:
    """e^epsilon Q(S) + delta."""
    epsilon, delta = size(claim.epsilon), size(claim.delta)
    if q is None or epsilon is None or delta is None or epsilon > 700:
        return None
    return Fraction(math.exp(epsilon)) * q + Fraction(delta)


def _times(ratio: Fraction) -> str:
    """A ratio with as many digits as tell it from 1."""
    excess = float(ratio - 1)
    return number(float(ratio)) if excess <= 0 or excess > 1e-4 else f"1 + {excess:.2g}"


def _probability(value: Any, end: int) -> Fraction | None:
    """One end of an enclosed probability."""
    text = value[end] if isinstance(value, list | tuple) and len(value) == 2 else value
    try:
        return Fraction(str(text))
    except (ValueError, ZeroDivisionError):
        return None
