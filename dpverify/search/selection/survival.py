"""Proposes where the survival function of even noise is looked at, so that its ratios are within a bound that is nearly their supremum."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

from dpverify.search.numeric import written
from dpverify.search.selection.rough_laws import Rough
from dpverify.trusted.kernel.balls import exact, precision, rational
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.theories.selection.rules import survival as rule

_BITS = 100
_SLACK = Fraction(1, 2**22)
"""How much the bound is above the greatest ratio that is seen."""
_ROUNDS = 24
_FAR, _BEYOND = 80, 32
"""How far out tails are looked at: beyond there is no more than a power of two, or they have the slope that they have in the limit."""
_SHARE = 8
"""Cells for each unit of the shift, to begin with."""


def propose(claim: Claim, _: int) -> list[dict[str, Any]]:
    """The bound, with cells that are halved until each is within it."""
    with precision(_BITS):
        noise, shift = rule.read(claim)[1:]
        cuts = [shift * Fraction(k, _SHARE) for k in range(-4 * _SHARE, 4 * _SHARE + 1)]
        low, high = Rough(noise).reach(_FAR)
        cuts = [x for k in range(16, 1, -1) if (x := -shift * 2**k) >= low - 4 * shift] + cuts[1:-1]
        cuts += [x for k in range(2, 17) if (x := shift * 2**k) <= max(high, Fraction(_BEYOND)) + 4 * shift]
        bound = Fraction(0)
        for _round in range(_ROUNDS):
            tails = rule.Tails(noise, {point + move for point in cuts for move in (0, shift)})
            seen = max(exact((tails.at(cut) / tails.at(cut + shift)).log().upper()) for cut in cuts)
            bound = max(bound, Fraction((seen + _SLACK) * 2**40 // 1 + 1, 2**40))
            wide = {low for low, high in pairwise(cuts) if not rule.most(tails, low, high, shift) <= rational(bound)}
            if not wide:
                if not -tails.at(cuts[0] + shift).log() <= rational(bound) or not rule.right_of(noise, cuts[-1], shift, bound):
                    raise Undecided("the tails of the noise are not followed far enough out.")
                return [{"rule": rule.NAME, "evidence": {"cuts": [written(cut) for cut in cuts], "value": written(bound)}, "prec": _BITS}]
            cuts = sorted({*cuts, *((low + high) / 2 for low, high in pairwise(cuts) if low in wide)})
    raise Undecided("the ratios of the tails of the noise are not bounded with so many cells.")
