"""Combinations of values of a covariance that is written out: sum of c_i K(., x_i) (theory#kernel-combinations)."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from flint import arb

from dpverify.trusted.kernel.balls import finite, rational, value
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import CertificateError, Rejected, require
from dpverify.trusted.kernel.expr import Expr, Num, Sym, add, mul, substitute
from dpverify.trusted.kernel.model import Domain
from dpverify.trusted.language.calls import calls
from dpverify.trusted.language.rationals import to_fraction
from dpverify.trusted.numbers.kinks import resolve

WHAT: Final = "the combination"
MOST: Final = 64


def squared_norm(written: Expr, h: Expr, low: Fraction, high: Fraction, told: Any) -> arb:
    """The squared norm of a function that certainly is a combination of kernels. Raises Rejected where it is not.

    told: "points", rationals that rise, and "weights", the c_i. Of the covariance s is the later point.
    """
    points, weights = _read(told, low, high)
    if calls(h, "floor") or calls(written, "floor"):
        raise Rejected(WHAT, "the difference", "it, or the covariance, has a floor in it, which is continuous nowhere that it steps")
    for a, b in pairwise(sorted({low, *points, high})):
        there = {"t": Domain(a, b, False, False)}
        parts = [mul(Num(c), resolve(_beside(written, x, later=b <= x), "t", a, b)) for x, c in zip(points, weights, strict=True)]
        if not certainly_equal(resolve(h, "t", a, b), add(*parts), there):
            raise Rejected(WHAT, "the difference", f"it is not certainly that combination of kernels from t = {a} to {b}")
    total = arb(0)
    for x, c in zip(points, weights, strict=True):
        for y, d in zip(points, weights, strict=True):
            total += rational(c * d) * value(written, {"s": rational(max(x, y)), "t": rational(min(x, y))})
    require(not total < 0, Rejected(WHAT, "the covariance", "it is none: a combination of its values has a negative variance"))
    return finite(total)


def _beside(written: Expr, x: Fraction, later: bool) -> Expr:
    """K(t, x) as a function of t where x is later, or earlier."""
    return substitute(written, {"s": Num(x)}) if later else substitute(substitute(written, {"t": Num(x)}), {"s": Sym("t")})


def _read(told: Any, low: Fraction, high: Fraction) -> tuple[list[Fraction], list[Fraction]]:
    points, weights = ([to_fraction(one, WHAT) for one in told[key]] for key in ("points", "weights"))
    if not len(points) == len(weights) <= MOST or any(a >= b for a, b in pairwise(points)) or any(not low <= x <= high for x in points):
        raise CertificateError(f"{WHAT}: it has at most {MOST} points that rise inside the interval, with a weight for each.")
    return points, weights
