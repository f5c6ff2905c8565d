"""Proposes where the law of the difference of two noises is looked at, so that its ratios are within a bound near their supremum."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpverify.search.numeric import log_of, written
from dpverify.search.selection.rough_laws import Rough
from dpverify.search.selection.worst_output import Setting
from dpverify.trusted.kernel.balls import exact, precision, rational
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.theories.selection.chances import Output
from dpverify.trusted.theories.selection.noise_laws import Whole, law
from dpverify.trusted.theories.selection.rules import survival
from dpverify.trusted.theories.selection.rules import two_candidates as rule

_BITS = 53
_REACH = 14
_SLACK = Fraction(1, 2**16)
"""How much the bound is above the greatest ratio that is seen."""
_ROUNDS = 14
_SHY, _OUT = 0.98, 64
_START, _FARTHEST = 32, 1 << 20
_SHARE = 2
"""Cells for each unit of the shift, to begin with."""


def propose(claim: Claim, _: int) -> list[dict[str, Any]]:
    """The bound, with cells that are halved until each is within it."""
    with precision(_BITS):
        noise, shift = rule.read(claim)
        rough = Rough(noise)
        about = _about(rough, float(shift))
        goal = Fraction(about.most * _SHY).limit_denominator(1 << 20)
        first, last = -2 * shift, max(Fraction(_START), 4 * shift)
        while -math.log(about.chance(first + shift)) > goal:
            first *= 2
        while not survival.right_of(noise, last / 2, shift, goal):
            last *= 2
            if last > shift * _FARTHEST:
                raise Undecided("the tails of the noise are not followed far enough out.")
        low, high = rough.reach(_REACH)
        far = max(-low, high) + shift + last
        places, step = {Fraction(0), *rough.kinks}, Fraction(1)
        while step < far:
            places |= {step, -step}
            step *= 4
        places |= {step, -step}
        inside = [shift * Fraction(k, _SHARE) for k in range(-2 * _SHARE, 4 * _SHARE + 1)]
        cuts = sorted({first, last, *(x for x in inside if first < x < last), *(shift * 2**k for k in range(3, 40) if shift * 2**k < last)})
        grid = rough.grid(-step - cuts[-1] - shift, step + cuts[-1] + shift)
        held = law(noise, grid)
        assert not isinstance(held, Whole)
        difference, bound = rule.Difference(held, sorted(places), sorted(rough.kinks)), goal
        for _round in range(_ROUNDS):
            seen = max(exact((difference.at(cut) / difference.at(cut + shift)).log().upper()) for cut in cuts)
            bound = max(bound, Fraction((seen + _SLACK) * 2**30 // 1 + 1, 2**30))
            wide = {i for i in range(len(cuts) - 1) if not rule.most(difference, cuts, i, shift) <= rational(bound)}
            if not wide:
                told = {"cuts": cuts, "grid": grid, "places": sorted(places), "kinks": sorted(rough.kinks)}
                evidence = {name: [written(x) for x in numbers] for name, numbers in told.items()}
                return [{"rule": rule.NAME, "evidence": {**evidence, "value": written(bound)}, "prec": _BITS}]
            cuts = sorted({*cuts, *((cuts[i] + cuts[i + 1]) / 2 for i in wide)})
    raise Undecided("the ratios of the difference of two noises are not bounded with so many cells.")


@dataclass(frozen=True, slots=True)
class About:
    """The law of the difference in floats, and the greatest ratio that is seen."""

    chance: Callable[[Fraction], float]
    most: float


def _about(rough: Rough, shift: float) -> About:
    import numpy as np

    setting = Setting({"noise": rough.noise}, {"noise": rough})

    def chance(u: float | Fraction) -> float:
        return setting.chance(Output(1, 0, float(u), float(u), 0.0))  # type: ignore[arg-type]

    seen = [math.log(chance(u) / max(chance(u + shift), 1e-300)) for u in shift * np.linspace(-1.5, 12, 55)]
    far = rough.width * _OUT
    tail = float(np.diff(-log_of(rough.density, "z")(np.array([far, far + shift])))[0])
    return About(chance, max(*seen, (tail + float(_SLACK)) / _SHY))
