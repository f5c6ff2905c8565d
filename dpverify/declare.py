"""Declarations in Python: a mechanism as sympy expressions or strings, turned into exact trees at the door.

    r, nu, d = symbols("r nu d", positive=True)
    student_t = Mechanism(
        name="student_t",
        noise=Radial(norm=L2(), profile=(1 + r**2 / nu) ** (-(nu + d) / 2), radius=r, dimension=d),
        parameters={nu: Positive(), d: Dimension()},
        source=Source("Reimherr & Awan 2019", "Example 6"),
    )

A declaration knows no epsilon. Numbers are int, Fraction, str or sympy's exact ones; binary floats are
refused with the way out. sympy itself is imported only where an expression of it is met.

There is a constructor for every kind of mechanism, under its name (Radial, Table, Compose), and for every builtin (laplace, student_t).
Its arguments are the keys of the kind's table in a claim file, and mean the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpverify.catalogue.declarations import CONSTRUCTORS, Mechanism, Scalar, to_expr
from dpverify.catalogue.source import Source
from dpverify.errors import SpecError
from dpverify.trusted.kernel import model
from dpverify.trusted.kernel.expr import Num
from dpverify.trusted.kernel.model import Domain

__all__ = [
    "L1", "L2", "Columns", "Dimension", "Ellipsoid", "Facets", "Integer", "Interval", "LInf", "Lp", "Mechanism", "NonNegative", "Positive",
    "Real", "Source",
]  # fmt: skip
__all__ += CONSTRUCTORS
globals().update(CONSTRUCTORS)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """A constructor."""


# -- norms ------------------------------------------------------------------------------------------


def L1() -> model.Norm:
    """The sum of absolute values."""
    return model.L1


def L2() -> model.Norm:
    """The Euclidean norm."""
    return model.L2


def LInf() -> model.Norm:
    """The maximum norm."""
    return model.LINF


def Lp(p: Scalar) -> model.Norm:
    """The l_p norm for a rational p >= 1."""
    return model.Norm("lp", _rational(p))


def Ellipsoid(sigma: Sequence[Sequence[Scalar]]) -> model.Norm:
    """||x||^2 = x' Sigma^-1 x."""
    return model.Norm("ellipsoid", matrix=_matrix(sigma))


def Columns(points: Sequence[Sequence[Scalar]]) -> model.Norm:
    """The norm whose unit ball is the hull of + and - each listed point."""
    return model.Norm("columns", matrix=_matrix(points))


def Facets(rows: Sequence[Sequence[Scalar]]) -> model.Norm:
    """The norm whose unit ball is |<a, x>| <= 1 for every listed a."""
    return model.Norm("facets", matrix=_matrix(rows))


# -- domains of parameters ----------------------------------------------------------------------------


def Positive() -> Domain:
    """The reals above 0."""
    return Domain(Fraction(0))


def NonNegative() -> Domain:
    """The reals from 0."""
    return Domain(Fraction(0), lower_open=False)


def Real() -> Domain:
    """All reals."""
    return Domain()


def Integer(least: int | None = None, most: int | None = None) -> Domain:
    """The integers from `least` to `most`, either of them absent."""
    ends = [None if end is None else Fraction(end) for end in (least, most)]
    return Domain(ends[0], ends[1], least is None, most is None, integer=True)


def Dimension() -> Domain:
    """The positive integers."""
    return Integer(1)


def Interval(lower: Scalar, upper: Scalar, *, closed: bool = False) -> Domain:
    """The reals between two rationals, with or without the ends."""
    return Domain(_rational(lower), _rational(upper), not closed, not closed)


def _rational(value: Scalar) -> Fraction:
    expr = to_expr(value, {})
    if not isinstance(expr, Num):
        raise SpecError(f"{value} is not a rational number.")
    return expr.value


def _matrix(rows: Sequence[Sequence[Scalar]]) -> model.Matrix:
    return tuple(tuple(_rational(entry) for entry in row) for row in rows)
