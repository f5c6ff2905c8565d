"""Additive noise in one variable: the density whose integral normalises it, and where it lives."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpverify.trusted.kernel.errors import ExprError, Undecided
from dpverify.trusted.kernel.expr import ONE, Expr, Num, Sym, mul, power, sub
from dpverify.trusted.kernel.model import Product, Radial, Translation
from dpverify.trusted.language.noise import Additive, variable


def weighted(profile: Expr, dimension: Expr) -> Expr:
    """profile(r) r^(d-1): its integral times the surface of the unit ball is that of profile(||x||) over R^d."""
    return mul(profile, power(Sym("r"), sub(dimension, ONE)))


def domain(mechanism: Additive) -> tuple[Fraction | None, Fraction | None]:
    """The interval where the density lives, rational ends or None. Raises Undecided for irrational ends."""
    if isinstance(mechanism, Radial):
        return Fraction(0), None
    if isinstance(mechanism, Product):
        return None, None
    ends: list[Fraction | None] = []
    for end in mechanism.support:
        if end is not None and not isinstance(end, Num):
            raise Undecided("the ends of the support must be rational here.")
        ends.append(None if end is None else end.value)
    return ends[0], ends[1]


def whole_density(mechanism: Additive) -> Expr:
    """The density in one variable whose integral normalises the noise (up to the volume of the unit ball for radial noise)."""
    return weighted(mechanism.profile, mechanism.dimension) if isinstance(mechanism, Radial) else mechanism.density


def integrable(mechanism: Additive, told: Any) -> bool:
    """Whether the density is proved to be integrable, or summable on the integers, by what is told of its ends.

    told: as in `integrability`; for noise on the integers, as in `lattice_sums`. Raises CertificateError for what is told otherwise.
    """
    try:
        lower, upper = domain(mechanism)
        if isinstance(mechanism, Translation) and mechanism.integers:
            from dpverify.trusted.numbers.lattice_sums import summable

            return summable(mechanism.density, variable(mechanism), lower, upper, told)
        from dpverify.trusted.numbers import integrability

        return integrability.integrable(whole_density(mechanism), variable(mechanism), lower, upper, told)
    except (Undecided, ExprError):
        return False
