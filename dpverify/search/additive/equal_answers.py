"""Proposes that noise under answers that never move is private at epsilon 0."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from typing import Any, Final

from dpverify.search.additive import asymptotics
from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.model import Claim, Kernel, Product, Radial, Translation, on_integers
from dpverify.trusted.language.noise import Additive
from dpverify.trusted.numbers.noise import domain
from dpverify.trusted.theories.additive.points import density_on
from dpverify.trusted.theories.additive.rules import equal_answers as rule

_PLACES: Final = 64
"""Integers on each side at which, or beside which, a density is looked at."""


def propose(claim: Claim, digits: int) -> list[dict[str, Any]]:
    """Both bounds, where answers are certainly equal."""
    try:
        rule.still(claim, None)
        evidence = _of_kernel(claim.mechanism) if isinstance(claim.mechanism, Kernel) else {}
        if isinstance(claim.mechanism, Radial | Translation | Product) and not claim.domains:
            evidence = asymptotics.evidence(claim.mechanism)
            evidence |= {"positive": _positive(claim.mechanism)} if evidence else {}
        steps: list[dict[str, Any]] = [{"rule": rule.NAME, "evidence": {"side": side, **evidence}} for side in ("upper", "lower")]
        rule.check(claim, steps[0]["evidence"])
    except DpverifyError:
        return []
    return steps


def _positive(noise: Additive) -> list[str]:
    """An interval on which the density is positive, or an integer twice; the first tried where none is found."""
    lower, _ = domain(noise)
    start, width = Fraction(math.ceil(lower or 0)), Fraction(0 if on_integers(noise) else 1)
    for place in range(_PLACES):
        for low in (start + place, start - place):
            for wide in (width, width / 16, width / 256):
                with suppress(DpverifyError):
                    if density_on(noise, rational(low + wide).union(rational(low + 2 * wide))) > 0:
                        return [str(low + wide), str(low + 2 * wide)]
    return [str(start), str(start + width)]


def _of_kernel(kernel: Kernel) -> dict[str, Any]:
    """What shows that the densities of a kernel have mass 1."""
    from dpverify.search.finite import normaliser

    shown = normaliser.propose(kernel)
    return {"normaliser": shown} if shown else {}
