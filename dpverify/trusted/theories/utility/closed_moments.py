"""Moments of the size of noise that have a closed form, recognised by the form of the density (theory#noise-moments)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpverify.trusted.kernel.bounds import INFINITE, Infinite
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import ExprError, Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Call, Expr, Num, Sym, add, call, div, mul, neg, num, power, sub, substitute, symbols
from dpverify.trusted.kernel.model import Domain, Staircase
from dpverify.trusted.language.linear import linear_part, terms
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.numbers.expansion import monomial
from dpverify.trusted.shapes.convexity import Shapes, outside
from dpverify.trusted.theories.utility.laws import Law, half

_MOST_STEPS: Final = 64
_R: Final = Sym("r")


@dataclass(frozen=True, slots=True)
class Exponential:
    """A density r^w exp(-c r^a) on r > 0, up to a factor; c > 0 and a > 0."""

    c: Expr
    a: Fraction
    w: Expr = ZERO

    def moment(self, p: int, weight: int) -> Expr:
        """The mean of r^p under the density times r^(weight - 1). Raises Rejected where that is no density."""
        start = mul(add(self.w, num(weight)), Num(1 / self.a))
        _require(start)
        return mul(power(self.c, Num(-p / self.a)), gamma_ratio(start, p / self.a))


@dataclass(frozen=True, slots=True)
class Powers:
    """A density (a + k r^2)^-m on r > 0, up to a factor; a, k > 0."""

    m: Expr
    a: Expr
    k: Expr

    def moment(self, p: int, weight: int) -> Expr | Infinite:
        """The same; infinite where r^p times the density is of order 1/r or more at infinity."""
        rest = sub(self.m, Num(Fraction(weight, 2)))
        _require(rest)
        left = sub(rest, Num(Fraction(p, 2)))
        if certainly_le(left, ZERO):
            return INFINITE
        _require(left)
        size = power(div(self.a, self.k), Num(Fraction(p, 2)))
        return div(mul(size, gamma_ratio(Num(Fraction(weight, 2)), Fraction(p, 2))), gamma_ratio(left, Fraction(p, 2)))


@dataclass(frozen=True, slots=True)
class Bessel:
    """A density r^w K_v(c r) on r > 0, up to a factor; c > 0."""

    w: Expr
    v: Expr
    c: Expr

    def moment(self, p: int, weight: int) -> Expr:
        """The same (NIST DLMF 10.43.19)."""
        starts = [mul(Num(Fraction(1, 2)), add(self.w, num(weight), side)) for side in (self.v, neg(self.v))]
        for start in starts:
            _require(start)
        return mul(power(div(num(2), self.c), num(p)), *(gamma_ratio(start, Fraction(p, 2)) for start in starts))


Form = Exponential | Powers | Bessel


def moment(law: Law, p: int, rule: str) -> Expr | Infinite:
    """The mean of R^p in closed form. Raises Rejected where there is none here."""
    if isinstance(law.noise, Staircase):
        return _of_stairs(law.noise, p)
    found = form(law)
    if found is None:
        raise Rejected(rule, "the noise", "its moments have no closed form here; integrals enclose them")
    if law.sizes[0].whole:
        if not isinstance(found, Exponential) or found.a != 1 or found.w != ZERO or not continued(law):
            raise Rejected(rule, "the noise", "its moments have no closed form here; sums enclose them")
        q = call("exp", neg(found.c))
        return div(mul(num(2), q), power(sub(ONE, q), num(2))) if p == 2 else div(mul(num(2), q), sub(ONE, power(q, num(2))))
    return found.moment(p, law.weight)


def continued(law: Law) -> bool:
    """Whether probabilities at 0 are what the form for positive integers says of 0."""
    if (density := half(law)) is None:
        return False
    return certainly_equal(substitute(law.sizes[0].density, {"z": ZERO}), substitute(density, {"r": ZERO}), law.domains)


def form(law: Law) -> Form | None:
    """The density of R without its weight, as one of the forms; None for another."""
    density = half(law)
    if density is None or len(law.sizes) != 1:
        return None
    try:
        exponent = Shapes("r", True, law.domains).tidy(neg_log(density))
    except ExprError:
        return None
    pairs = [outside(term, "r") for term in terms(exponent) if "r" in symbols(term)]
    logs = [c for moving, c in pairs if moving == call("log", _R)]
    others = [(moving, c) for moving, c in pairs if moving != call("log", _R)]
    if len(others) != 1 or len(logs) > 1:
        return None
    [(only, c)], w = others, neg(logs[0]) if logs else ZERO
    return _exponential(c, only, w, law.domains) or (_powers(c, only) if not logs else None) or _bessel(c, only, w)


def _exponential(c: Expr, only: Expr, w: Expr, domains: Mapping[str, Domain]) -> Exponential | None:
    _, a = monomial(only, "r") or (c, Fraction(0))
    return Exponential(c, a, w) if a > 0 and certainly_lt(ZERO, c, domains) else None


def _powers(c: Expr, only: Expr) -> Powers | None:
    if not (isinstance(only, Call) and only.name == "log"):
        return None
    inner, square = only.args[0], power(_R, num(2))
    a = add(*(term for term in terms(inner) if "r" not in symbols(term)))
    pairs = [outside(term, "r") for term in terms(inner) if "r" in symbols(term)]
    if len(pairs) != 1 or pairs[0][0] != square or not (certainly_lt(ZERO, a) and certainly_lt(ZERO, pairs[0][1])):
        return None
    return Powers(c, a, pairs[0][1])


def _bessel(c: Expr, only: Expr, w: Expr) -> Bessel | None:
    if not (isinstance(only, Call) and only.name == "logbesselk" and c == num(-1)):
        return None
    order, argument = only.args
    slope, rest = linear_part(argument, "r")
    return Bessel(w, order, slope) if rest == ZERO and not symbols(order) and certainly_lt(ZERO, slope) else None


def gamma_ratio(start: Expr, step: Fraction) -> Expr:
    """Gamma(start + step) / Gamma(start) for start > 0 and step >= 0; a product where the step is an integer."""
    if step.denominator == 1 and step <= _MOST_STEPS:
        return mul(*(add(start, num(i)) for i in range(int(step))))
    return div(call("gamma", add(start, Num(step))), call("gamma", start))


def _require(start: Expr) -> None:
    """Raises Rejected unless the argument of a Gamma integral is certainly positive."""
    require(certainly_lt(ZERO, start), Rejected("noise-moments", "the density", "it is not certainly integrable"))


def _of_stairs(noise: Staircase, p: int) -> Expr:
    """Height q^k, q = exp(-epsilon), on (gamma + k - 1, gamma + k), and 1 on (0, gamma), of the size."""
    q, g = call("exp", neg(noise.epsilon)), noise.gamma
    rest = sub(ONE, q)
    zeroth, first = div(q, rest), div(q, power(rest, num(2)))  # the sums over k >= 1 of q^k, k q^k and k^2 q^k
    second = div(mul(q, add(ONE, q)), power(rest, num(3)))
    if p == 1:
        total = add(div(power(g, num(2)), num(2)), first, mul(sub(g, Num(Fraction(1, 2))), zeroth))
    else:
        square = add(power(g, num(2)), neg(g), Num(Fraction(1, 3)))
        total = add(div(power(g, num(3)), num(3)), second, mul(sub(mul(num(2), g), ONE), first), mul(square, zeroth))
    return div(total, add(g, zeroth))
