"""What refutes a claim: two inputs, an event, its two probabilities, and how much more likely it is than the claim allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from typing import Any, Final

from dpverify.report.axes import Axis
from dpverify.report.dyadic import readable
from dpverify.report.enclosures import ends, plain, shown
from dpverify.report.number_line import NumberLine
from dpverify.report.page.blocks import Block, Code, Facts, Figure, Paragraph, Row
from dpverify.report.page.subject import Claimed
from dpverify.report.svg import Chart, Series
from dpverify.search.decimals import decimal_bounds
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import parse, substitute
from dpverify.trusted.kernel.model import Claim

TITLE = "What refutes it"
_NUMBERS: Final = Context(prec=30, Emin=MIN_EMIN, Emax=MAX_EMAX)
"""Events may be as unlikely as e^-10^8, which no float and no fraction of a bearable size is."""
_WORDS: Final = {"P": "P(S), on the first input", "Q": "Q(S), on the second input", "loss": "loss (nats)", "at": "parameters"}
_CLOSE: Final = 0.95
"""Bars whose heights are in a ratio above this look the same: their difference is drawn instead."""
Ends = tuple[Decimal, Decimal]


def blocks(subject: Claimed) -> Sequence[Block]:
    """The witness of a refutation."""
    judgement = subject.entry.judgement
    if judgement is None or judgement.witness is None:
        return []
    witness = readable(judgement.witness)
    facts = Facts([(_WORDS.get(key, key), Code(plain(value))) for key, value in shown(witness).items()])
    drawn = _drawn(subject, witness)
    return [facts, *([] if drawn is None else [Row([drawn])])]


def _drawn(subject: Claimed, witness: Mapping[str, Any]) -> Block | None:
    """P(S) beside the most that the claim allows it to be; a note where the digits are too few; None where they are no numbers."""
    claim = subject.entry.claim
    with localcontext(_NUMBERS):
        seen, other = ends(witness.get("P")), ends(witness.get("Q"))
        allowed = None if other is None else _allowed(claim, other, witness.get("at", {}))
        if seen is None or allowed is None:
            return None
        if seen[0] <= allowed[1]:
            return Paragraph("These digits are too few to tell P(S) from what the claim allows; the kernel compares exactly.", note=True)
        least, most = allowed
        caption = f"P(S) is about {_text(seen[0])}; the claim allows about {_text(most)}"
        caption += ", which is nothing." if most == 0 else f": P(S) is {_times(seen[0] / most)} times as large."
        shares = [1.0, float(most / seen[0])]
        if shares[1] > _CLOSE:
            gap = float((seen[0] - most) / most), float((seen[1] - least) / least)
            unit = "by what share P(S) is above the most that is allowed"
            line = NumberLine(f"Witness, {claim.name}", caption, "allowed", "P(S)", *gap, unit)
            return Figure(line.svg(f"{subject.anchor_id}-witness"), caption)
    chart = Chart(
        f"Witness, {claim.name}", caption, Axis("", names=("P(S)", "the most that is allowed")),
        Axis("share of the larger", low=0.0, high=1.0), [Series("", [list(enumerate(shares))], "bars")],
    )  # fmt: skip
    return Figure(chart.svg(f"{subject.anchor_id}-witness"), caption)


def _allowed(claim: Claim, q: Ends, parameters: Mapping[str, str]) -> Ends | None:
    """e^epsilon Q(S) + delta, from both sides."""
    if claim.epsilon is None or claim.delta is None:
        return None
    try:
        at = {name: parse(str(value)) for name, value in parameters.items()}
        ends = [decimal_bounds(substitute(one, at), _NUMBERS.prec) for one in (claim.epsilon, claim.delta)]
        low, high = (Decimal(epsilon).exp() * share + Decimal(delta) for epsilon, delta, share in zip(*ends, q, strict=True))
    except (DpverifyError, ArithmeticError, ValueError):
        return None
    return low, high


def _text(value: Decimal) -> str:
    return f"{value:.5g}"


def _times(ratio: Decimal) -> str:
    """A ratio above 1 with as many digits as tell it from 1."""
    excess = ratio - 1
    return _text(ratio) if excess > Decimal("1e-4") else f"1 + {excess:.2g}"
