"""Additive noise in one variable: its density and the name of the variable."""

from __future__ import annotations

from dpverify.trusted.kernel.expr import Expr
from dpverify.trusted.kernel.model import Product, Radial, Translation

Additive = Radial | Translation | Product


def variable(mechanism: Additive) -> str:
    """The name of the variable of a density: r for radial noise, z otherwise."""
    return "r" if isinstance(mechanism, Radial) else "z"


def profile(noise: Additive) -> Expr:
    """The density in its one variable."""
    return noise.profile if isinstance(noise, Radial) else noise.density
