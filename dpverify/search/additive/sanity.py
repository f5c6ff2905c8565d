"""What is certainly wrong with a declared density: messages for the reader of claim files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Final

from dpverify.search.additive.asymptotics import infinite_ends
from dpverify.search.numeric import number
from dpverify.trusted.kernel.balls import constant, precision, rational, value
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import Expr, Num, format_expr, substitute
from dpverify.trusted.kernel.model import Claim, Domain, Kernel, Mixture, Product, Radial, Translation
from dpverify.trusted.language.noise import Additive, variable
from dpverify.trusted.numbers.noise import domain, whole_density
from dpverify.trusted.numbers.pieces import breaks, pieces

_ROUGH: Final = 53
"""Bits for densities that are only looked at."""


def faults(claim: Claim) -> list[str]:
    """All that is certainly wrong with the density of noise, one line each; empty for kinds without one.

    Every fault has been confirmed on balls at an exact point, or by an enclosure of a whole end. Additive noise and kernels with open
    parameters are not looked at.
    """
    noise = claim.mechanism
    if isinstance(noise, Mixture):
        with precision(128):
            return list(_mixed(noise, dict(claim.domains)))
    if isinstance(noise, Kernel) and not claim.domains:
        from dpverify.search.finite import normaliser

        return list(normaliser.faults(claim))
    if claim.domains or not isinstance(noise, Radial | Translation | Product):
        return []
    with precision(128):
        found = list(_at_points(noise))
        try:
            return found or list(_not_integrable(noise))
        except DpverifyError:
            return found


def _mixed(noise: Mixture, domains: Mapping[str, Domain]) -> Iterator[str]:
    from dpverify.search.additive import mixtures

    found = mixtures.dependence(noise, domains)
    if found is not None:
        yield (
            f"profile: its normaliser depends on v: {found}. A mixture draws v from the mixing law, and then noise of density proportional "
            "to profile(r, v): write the profile with its normaliser, such as v**(-d/2)*exp(-r**2/(2*v)) for a Gaussian of variance v in "
            "R^d. If the density is to be profile times mixing as they stand, multiply the mixing law by the normaliser and divide the "
            "profile by it."
        )


def _at_points(noise: Additive) -> Iterator[str]:
    """Points where the density is certainly negative or undefined; a density that is zero at all of them."""
    name, density = variable(noise), noise.profile if isinstance(noise, Radial) else noise.density
    points = _points(noise, density)
    heights = _heights(density, name, points, isinstance(noise, Translation) and noise.integers)
    what = f"the density {format_expr(density)}"
    for points_of, says in (
        ([p for p, h in zip(points, heights, strict=True) if h < 0], "is negative"),
        ([p for p, h in zip(points, heights, strict=True) if math.isnan(h)], "has no value"),
    ):
        for point in points_of[:8]:
            if says == "is negative" and _ball_is_negative(density, name, point):
                yield f"{what} is negative at {name} = {point}. A density must not be; correct the expression, or restrict the support."
                return
            if says == "has no value" and _ball_is_undefined(density, name, point):
                yield (
                    f"{what} has no value at {name} = {point}: a logarithm or root of a negative number. "
                    "Correct the expression, use abs or max, or restrict the support."
                )
                return
    if all(height == 0 for height in heights) and _is_zero(noise):
        yield f"{what} is zero everywhere. Noise needs a density with a positive integral."


def _heights(density: Expr, name: str, points: Sequence[Fraction], exactly: bool) -> Sequence[float]:
    """About the density at the points; nan where it has no value. exactly: floors are those of the points themselves."""
    with precision(_ROUGH):
        return [_height(density, name, point, exactly) for point in points]


def _height(density: Expr, name: str, point: Fraction, exactly: bool) -> float:
    try:
        if exactly:
            return float(constant(substitute(density, {name: Num(point)})).mid())
        return float(value(density, {name: rational(point)}).mid())
    except DpverifyError:
        return math.nan


def _points(noise: Additive, density: Expr) -> Sequence[Fraction]:
    """Exact points inside the domain: powers of two from each end and between kinks."""
    low, high = (Num(Fraction(0)), None) if isinstance(noise, Radial) else noise.support if isinstance(noise, Translation) else (None, None)
    left = -math.inf if low is None else number(low)
    right = math.inf if high is None else number(high)
    if isinstance(noise, Translation) and noise.integers:
        return _inside(None, left, right)
    ends = {end.value for end in (low, high) if isinstance(end, Num)}
    return _inside(frozenset({Fraction(0)} | breaks(density, variable(noise)) | ends), left, right)


@lru_cache(maxsize=256)
def _inside(kinks: frozenset[Fraction] | None, left: float, right: float) -> Sequence[Fraction]:
    """The points of an interval about kinks, or the integers there, the simplest first."""
    if kinks is None:
        candidates = {Fraction(s * n) for n in (*range(40), 100, 1000) for s in (1, -1)}
    else:
        steps = [Fraction(2) ** k for k in range(-20, 21)] + [Fraction(n, 3) for n in range(1, 40, 2)]
        candidates = {kink + s * step for kink in kinks for step in steps for s in (1, -1)}
    return sorted((p for p in candidates if left < p < right), key=lambda p: (abs(p.numerator) + p.denominator, p))


def _ball_is_negative(density: Expr, name: str, point: Fraction) -> bool:
    try:
        return bool(value(density, {name: rational(point)}) < 0)
    except DpverifyError:
        return False


def _ball_is_undefined(density: Expr, name: str, point: Fraction) -> bool:
    """Whether no precision gives a value there nor beside it: outside a function's domain, not a pole or a lack of digits."""
    beside = Fraction(1, 2**40)
    for bits, at in product((128, 512), (point - beside, point, point + beside)):
        with precision(bits):
            try:
                if not value(density, {name: rational(at)}).is_nan():
                    return False
            except DpverifyError:
                return False
    return True


def _is_zero(noise: Additive) -> bool:
    """Whether the density is identically zero on every piece of its domain."""
    try:
        return not pieces(whole_density(noise), variable(noise), *domain(noise))
    except DpverifyError:
        return False


def _not_integrable(noise: Additive) -> Iterator[str]:
    density = noise.profile if isinstance(noise, Radial) else noise.density
    for where in infinite_ends(noise):
        if isinstance(noise, Radial):
            size = f"{format_expr(density)} * r**({format_expr(noise.dimension)} - 1)"
            why = f"in dimension {format_expr(noise.dimension)}, {size} has an infinite integral {where}"
        else:
            why = f"{format_expr(density)} has an infinite {'sum' if getattr(noise, 'integers', False) else 'integral'} {where}"
        yield f"the density cannot be normalised: {why}. Make it fall faster there, or restrict the support."
