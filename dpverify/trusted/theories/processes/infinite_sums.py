"""Sums of infinitely many terms at least 0: whether they are finite, and what they are (theory#infinite-sums).

The terms f(k), k = 1, 2, ..., are an expression in k that makes sense for all large reals. With f_0 = f and f_(c+1)(u) = f_c(e^u) e^u the
integrals of all f_c at infinity are one; each step takes one logarithm off. On an end the germ of f_c is exp(P(u)) u^a log(u)^b times a
bounded factor, which decides. The tail from N is between the integral and what Euler and Maclaurin add to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import factorial
from typing import Any, Final

from flint import arb, ctx, fmpq

from dpverify.trusted.kernel.balls import exact, finite, hull, precision, rational, value
from dpverify.trusted.kernel.errors import CertificateError, Rejected, Undecided, require
from dpverify.trusted.kernel.expr import Add, Expr, Mul, Num, Pow, Sym, call, mul, power, rebuild, substitute
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.language.derivatives import derivative
from dpverify.trusted.language.rationals import read_whole, to_whole
from dpverify.trusted.numbers.asymptotics import LEAST_START, End, Germ, end_jet
from dpverify.trusted.numbers.quadrature import integral
from dpverify.trusted.shapes.convexity import Shapes

WHAT: Final = "the sum"
K: Final = "k"
_U: Final = "u"
MOST_STARTS: Final = 4096
MOST_ORDER: Final = 6
MOST_LOGARITHMS: Final = 2
MOST_CELLS: Final = 4096
_ENDS: Final = (4, 1000)
_BOUNDARY: Final = (Fraction(-1), Fraction(-1))
"""The exponents of u and of log(u) from which the integral at infinity is infinite."""


Signs = tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Told:
    """How a sum is to be enclosed. start: where its tail begins; order: half of the derivatives that Euler and Maclaurin take;
    logarithms: how many are taken off before the tail is integrated. end: k where the integral beyond 2^k is that of u^a log(u)^b times a
    bounded factor; None where quadrature finds its ends. signs: how many logarithms are taken off before signs are looked at, and in how
    many cells up to where scales decide; None where they are looked at in k itself.
    """

    start: int
    order: int
    logarithms: int
    end: int | None
    signs: Signs = None


def read(told: Any) -> Told:
    """What evidence tells of a sum. Raises CertificateError for numbers that are out of range."""
    end = read_whole(told, "end", WHAT, *_ENDS) if "end" in told else None
    start, order = read_whole(told, "start", WHAT, int(LEAST_START), MOST_STARTS), read_whole(told, "order", WHAT, 1, MOST_ORDER)
    return Told(start, order, read_whole(told, "logarithms", WHAT, 0, MOST_LOGARITHMS), end, read_signs(told))


def read_signs(told: Mapping[str, Any]) -> Signs:
    """How signs are looked at: "signs", a table of logarithms and cells, or nothing."""
    if "signs" not in told:
        return None
    return read_whole(told["signs"], "logarithms", WHAT, 1, MOST_LOGARITHMS), read_whole(told["signs"], "cells", WHAT, 1, MOST_CELLS)


def read_start(told: Mapping[str, Any]) -> int:
    """From where terms are judged by their scale at infinity."""
    return to_whole(told.get("start", int(LEAST_START)), "start", WHAT, int(LEAST_START), MOST_STARTS)


def diverges(terms: Expr, told: Any) -> bool:
    """Whether the sum of terms that are at least 0 is certainly infinite.

    told: "logarithms", and "end", k where the end starts at 2^k. Raises Undecided.
    """
    end, logarithms = read_whole(told, "end", WHAT, *_ENDS), read_whole(told, "logarithms", WHAT, 0, MOST_LOGARITHMS)
    germ = _germ(_without_logarithms(terms, logarithms), Fraction(2) ** end)
    if not germ.k.lo > 0:
        return False
    return germ.direction() > 0 if germ.growth else (germ.a, germ.b) >= _BOUNDARY


def require_positive(terms: Expr, start: int, what: str, signs: Signs = None) -> None:
    """Raises Rejected unless all terms are certainly positive: one by one up to the start, on the whole end from there."""
    for k in range(1, start):
        require(value(terms, {K: arb(k)}) > 0, Rejected(WHAT, what, f"it is not certainly positive at k = {k}"))
    if not all(least > 0 for least in _least(terms, start, signs)):
        raise Rejected(WHAT, what, f"it is not certainly positive from k = {start} on")


def _least(terms: Expr, start: int, signs: Signs) -> Iterator[arb]:
    """Numbers that all have the sign of the least value of terms, or of one that is less, on parts of the end from a start on."""
    if signs is None:
        yield _germ(terms, Fraction(start), K).k.lo
        return
    logarithms, cells = signs
    inner, low = _without_logarithms(terms, logarithms), arb(start)
    for _ in range(logarithms):
        low = low.log()
    first = exact(low.lower())
    width = (LEAST_START - first) / cells
    for i in range(cells if width > 0 else 0):
        yield finite(value(inner, {_U: hull(first + i * width, first + (i + 1) * width)})).lower()
    yield _germ(inner, max(first, LEAST_START)).k.lo


@remembered(256)
def total(terms: Expr, told: Told, bits: int) -> arb:
    """A ball that contains the sum of terms that are at least 0, at about `bits` bits. Raises Undecided where it is not finite."""
    with precision(max(ctx.prec, bits + 40)):
        head = arb(0)
        for k in range(1, told.start):
            head = finite(head + value(terms, {K: arb(k)}))
        return finite(head + _tail(terms, told, bits))


def _tail(terms: Expr, told: Told, bits: int) -> arb:
    """The sum from `start` on: terms whose derivative of the order 2m is nowhere below 0 there, and which are integrable.

    Then all derivatives tend to 0 with alternating signs, and the rest that the formula leaves is single-signed.
    """
    start, m = told.start, told.order
    if not all(least >= 0 for least in _least(terms, start, told.signs)):
        raise Undecided(f"the terms are not certainly at least 0 from k = {start} on.")
    terms = _merged(terms)  # they have values there
    odd, at, found = derivative(terms, K), {K: arb(start)}, value(terms, {K: arb(start)}) / 2
    for j in range(1, m):
        found -= _bernoulli(2 * j) / factorial(2 * j) * value(odd, at)
        odd = derivative(derivative(odd, K), K)
    if not all(least >= 0 for least in _least(derivative(odd, K), start, told.signs)):
        raise Undecided(f"the derivative of the order {2 * m} of the terms is not certainly at least 0 from k = {start} on.")
    size = (2 - arb(2) ** (1 - 2 * m)) * abs(_bernoulli(2 * m)) / factorial(2 * m) * abs(value(odd, at))
    rest = arb(0).union(size if m % 2 else -size)
    return _integral(terms, told, bits) + found + rest


def _integral(terms: Expr, told: Told, bits: int) -> arb:
    """The integral of the terms from the start on, with logarithms for the variable."""
    inner, low = _without_logarithms(terms, told.logarithms), arb(told.start)
    for _ in range(told.logarithms):
        low = low.log()
    below, above = exact(low.lower()), exact(low.upper())
    edge = value(inner, {_U: hull(below, above)}) * hull(Fraction(0), above - below)
    if told.end is None:
        return edge + integral(inner, _U, above, None, bits)
    end = Fraction(2) ** told.end
    require(end > above, CertificateError("of a sum, 'end' is beyond the start of its tail."))
    return edge + integral(inner, _U, above, end, bits) + _slowest(_germ(inner, end), end)


def _slowest(germ: Germ, end: Fraction) -> arb:
    """The integral from an end on of u^a log(u)^b, a < -1 or a = -1 and b < -1, times a factor in an interval."""
    a, b, at = germ.a, germ.b, rational(end)
    if germ.growth or not germ.k.lo >= 0 or (a, b) >= _BOUNDARY:
        raise Undecided("the terms are not u^a log(u)^b times a bounded factor with a < -1, or a = -1 and b < -1.")
    if a == -1:
        return germ.k.ball() * at.log() ** rational(b + 1) / rational(-b - 1)
    # from X on, log(u)^b is at most log(X)^b, or for b > 0 log(X)^b (u/X)^(b/log X)
    rate = rational(-a - 1) - max(rational(b), arb(0)) / at.log()
    require(rate > 0, Undecided("where the terms are u^a log(u)^b times a bounded factor, the end starts too early."))
    most = germ.k.ball() * at ** rational(a + 1) * at.log() ** rational(b) / rate
    return most if b == 0 else arb(0).union(most)


def _without_logarithms(terms: Expr, times: int) -> Expr:
    """f_c as an expression in u; it has the integral that f_0 has, from the logarithms of its ends."""
    shapes, found = Shapes(_U, False, {}), substitute(_led(terms) if times else terms, {K: Sym(_U)})
    for _ in range(times):
        found = shapes.tidy(mul(substitute(found, {_U: call("exp", Sym(_U))}), call("exp", Sym(_U))))
    return found


def _merged(expr: Expr) -> Expr:
    """The same wherever it has a value, with powers of one base as one power."""
    if isinstance(expr, Mul | Pow):
        powers: dict[Expr, Fraction] = {}
        for factor in expr.args if isinstance(expr, Mul) else (expr,):
            exponent, base = Fraction(1), factor
            while isinstance(base, Pow) and isinstance(base.exponent, Num):
                inner = base.exponent.value
                if exponent.denominator != 1 and inner.denominator == 1:
                    break  # sqrt(x**2) is not x below 0
                exponent, base = exponent * inner, base.base
            powers[base] = powers.get(base, Fraction(0)) + exponent
        return mul(*(power(rebuild(base, _merged), Num(exponent)) for base, exponent in powers.items()))
    return rebuild(expr, _merged)


def _led(expr: Expr) -> Expr:
    """The same for k > 0, with the greatest power of k taken out of every sum: k + 1 is k (1 + 1/k), which logarithms make short."""
    if isinstance(expr, Add):
        most = max(map(_power_of_k, expr.args))
        if most > 0:
            lead = power(Sym(K), Num(most))
            return Mul((lead, Add(tuple(mul(_led(term), power(Sym(K), Num(-most))) for term in expr.args))))
    return rebuild(expr, _led)


def _power_of_k(term: Expr) -> Fraction:
    """p where a term is k^p times a constant, else 0."""
    for factor in term.args if isinstance(term, Mul) else (term,):
        if factor == Sym(K):
            return Fraction(1)
        if isinstance(factor, Pow) and factor.base == Sym(K) and isinstance(factor.exponent, Num):
            return factor.exponent.value
    return Fraction(0)


def _germ(expr: Expr, start: Fraction, name: str = _U) -> Germ:
    found: Germ = end_jet(expr, name, End("+inf", start)).v
    return found


def _bernoulli(n: int) -> arb:
    return arb(fmpq.bernoulli(n))
