"""The largest eigenvalue of an exact matrix whose eigenvalues are real and not negative."""

from __future__ import annotations

from typing import Final

from flint import fmpq, fmpq_poly

from dpverify.trusted.geometry.linear import matrix, to_fraction
from dpverify.trusted.kernel.expr import Expr, Num, add, sqrt
from dpverify.trusted.kernel.model import Matrix

ROOT_BITS: Final = 256
"""Relative precision of an eigenvalue that is neither rational nor a quadratic irrational."""


def largest_eigenvalue(gram: Matrix) -> tuple[Expr, Expr]:
    """Upper and lower bound on the largest eigenvalue of a symmetric matrix that is positive semidefinite."""
    return largest_root(matrix(gram).charpoly())


def largest_root(polynomial: fmpq_poly) -> tuple[Expr, Expr]:
    """Upper and lower bound on the largest root of a polynomial whose roots are all real and not negative.

    One exact expression where that root is rational or a quadratic irrational, else two rationals ROOT_BITS apart.
    """
    factors = [factor for factor, _ in polynomial.factor(monic=True)[1]]
    enclosures = [_enclose_root(factor) for factor in factors]
    low, high = (max(ends) for ends in zip(*enclosures, strict=True))
    top = [factor for factor, (_, above) in zip(factors, enclosures, strict=True) if above >= low]
    if len(top) == 1 and top[0].degree() == 2:
        b, c = to_fraction(top[0][1]), to_fraction(top[0][0])
        root = add(Num(-b / 2), sqrt(Num(b * b / 4 - c)))
        return root, root
    return Num(to_fraction(high)), Num(to_fraction(low))


def _enclose_root(factor: fmpq_poly) -> tuple[fmpq, fmpq]:
    """low <= largest root <= high of a monic irreducible factor with real roots that are not negative.

    By halves from ends whose ratio is the degree: ROOT_BITS + log2(degree) of them, each decided exactly.
    """
    degree = int(factor.degree())
    total = -factor[degree - 1]  # the sum of the roots: the largest lies between their mean and their sum
    low, high = total / degree, total
    if degree > 1:
        while (high - low) * (1 << ROOT_BITS) > high:
            middle = (low + high) / 2
            low, high = (low, middle) if roots_below(factor, middle) else (middle, high)
    return low, high


def roots_below(polynomial: fmpq_poly, bound: fmpq) -> bool:
    """Whether all roots of a monic polynomial with real roots only are below `bound`.

    They are exactly when p(x + bound), whose roots are then negative, has positive coefficients only.
    """
    return all(coefficient > 0 for coefficient in polynomial(fmpq_poly([bound, 1])).coeffs())
