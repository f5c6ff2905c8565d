"""Shape calculus: sign, direction and curvature of a function of one variable, read off its tree (theory#shape-calculus).

The variable x ranges over (0, inf) or over the whole line; every other symbol is a parameter that
ranges over its domain. A `Shape` holds the signs that f, f', f'' and (log f)'' may have; sums, products
and the chain rule combine them as signs. Where f has kinks, f'' is the measure that it is: f is
continuous and f' of bounded variation, so the same rules hold. What signs cannot see is added by two
classical facts: sums of log-convex functions are log-convex, and the l_p norm of non-negative convex
functions is convex. Facts hold for all values of the parameters at once; nothing is evaluated.

Limits at infinity come from leading terms: `Shapes.slope_limit` (lim f(x)/x), `Shapes.leading`
(f ~ c x^p) and `Shapes.log_slope` (lim f(x)/log x), each None where the calculus does not reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Final

from dpverify.trusted.language.derivatives import derivative
from dpverify.trusted.language.errors import ExprError, Undecided
from dpverify.trusted.language.expr import (
    ONE,
    PI,
    ZERO,
    Add,
    Call,
    Expr,
    Mul,
    Num,
    Pow,
    Sym,
    add,
    call,
    div,
    format_expr,
    linear_part,
    mul,
    neg,
    num,
    power,
    rebuild,
    sub,
    substitute,
    symbols,
)
from dpverify.trusted.language.model import Domain
from dpverify.trusted.numbers.balls import constant
from dpverify.trusted.order.compare import certainly_le, sign_over
from dpverify.trusted.order.laws import law
from dpverify.trusted.order.signs import (
    ANY,
    AT_LEAST_ZERO,
    AT_MOST_ZERO,
    NEGATIVE,
    NULL,
    POSITIVE,
    Sign,
    extreme,
    minus,
    plus,
    square,
    times,
)

HALF: Final = Num(Fraction(1, 2))


@dataclass(frozen=True, slots=True)
class Shape:
    """The signs that a function and its derivatives may have on the open domain of the variable.

    value, slope, bend: of f, f' and f''. log_bend: of (log f)'', where f is positive.
    root: an exponent s in [0, 1] for which f**s is convex and f >= 0 (0 stands for log f), None where none is known.
    """

    value: Sign
    slope: Sign
    bend: Sign
    log_bend: Sign = ANY
    root: Fraction | None = None

    @property
    def convex(self) -> bool:
        """Whether f is certainly convex."""
        return self.bend <= AT_LEAST_ZERO

    @property
    def concave(self) -> bool:
        """Whether f is certainly concave."""
        return self.bend <= AT_MOST_ZERO

    def closed(self) -> Shape:
        """The shape with what its parts say of each other: f f'' = f^2 (log f)'' + f'^2."""
        bend, log_bend, root = self.bend, self.log_bend, self.root
        if self.value == POSITIVE:
            log_bend = (log_bend & plus(bend, minus(square(self.slope)))) or log_bend
            if root == 0:
                log_bend = (log_bend & AT_LEAST_ZERO) or log_bend
            bend = (bend & plus(log_bend, square(self.slope))) or bend
            if log_bend <= AT_LEAST_ZERO:
                root = Fraction(0)
        if self.value <= AT_LEAST_ZERO:
            if root is not None and root <= 1:
                bend = (bend & AT_LEAST_ZERO) or bend
            elif bend <= AT_LEAST_ZERO:
                root = Fraction(1)
        return Shape(self.value, self.slope, bend, log_bend, root)

    def chain(self, f: Sign, f1: Sign, f2: Sign, log_bend: Sign = ANY, root: Fraction | None = None) -> Shape:
        """The shape of f(self), from the signs of f and of its two derivatives there."""
        bend = plus(times(f2, square(self.slope)), times(f1, self.bend))
        return Shape(f, times(f1, self.slope), bend, log_bend, root).closed()


@dataclass(frozen=True, slots=True)
class _Bessel:
    """factor * log(x^order K_order(scale x)) + rest, for x > 0.

    (x^v K_v)' = -x^v K_(v-1) < 0, and y = K_(v-1)/K_v obeys y' = y^2 + (2v - 1) y/x - 1 and tends to 1: its nullcline rises for
    v > 1/2 and falls for v < 1/2, and a y on the wrong side of it would never come back, so y rises or falls as its nullcline does.
    """

    factor: Expr
    order: Expr
    scale: Expr
    rest: Expr

    def shape(self, shapes: Shapes) -> Shape:
        """Of the part without the rest."""
        k = shapes.sign(self.factor)
        return Shape(ANY, times(k, NEGATIVE), times(k, shapes.sign(sub(HALF, self.order))))

    def at_zero(self) -> Expr:
        """The limit of the part without the rest, for a positive order: x^v K_v(x) tends to 2^(v-1) Gamma(v)."""
        v = self.order
        logs = (mul(sub(v, ONE), call("log", num(2))), call("log", call("gamma", v)), neg(mul(v, call("log", self.scale))))
        return mul(self.factor, add(*logs))


class Shapes:
    """Shapes, values at 0 and limits at infinity of trees in the symbol `name`.

    half: the variable ranges over (0, inf), else over the line. domains: of every other symbol.
    """

    def __init__(self, name: str, half: bool, domains: Mapping[str, Domain]) -> None:
        self.name, self.half, self.domains = name, half, domains
        self._signs: dict[Expr, Sign] = {}
        self._shapes: dict[Expr, Shape] = {}

    def sign(self, constant: Expr) -> Sign:
        """The signs that an expression in the parameters alone may have."""
        if constant not in self._signs:
            self._signs[constant] = sign_over(constant, self.domains)
        return self._signs[constant]

    def positive(self, constant: Expr) -> bool:
        """Whether an expression in the parameters is certainly positive."""
        return self.sign(constant) == POSITIVE

    # -- shapes ------------------------------------------------------------------------------------

    def shape(self, expr: Expr) -> Shape:
        """What is known of a tree. Raises Undecided where it is not certainly defined everywhere, or not continuous."""
        if expr not in self._shapes:
            self._shapes[expr] = self._shape(expr).closed()
        return self._shapes[expr]

    def _has_value(self, expr: Expr) -> bool:
        """Whether a constant certainly has a value, for all parameters: one that cancels later must have had one too."""
        if not symbols(expr):
            return bool(constant(expr).is_finite())
        return certainly_le(expr, expr, self.domains)

    def _shape(self, expr: Expr) -> Shape:
        if self.name not in symbols(expr):
            if not isinstance(expr, Num | Sym) and not self._has_value(expr):
                raise _undefined(expr)
            value = self.sign(expr)
            return Shape(value, NULL, NULL, NULL if value == POSITIVE else ANY, Fraction(0) if value <= AT_LEAST_ZERO else None)
        if isinstance(expr, Sym):
            return Shape(POSITIVE if self.half else ANY, POSITIVE, NULL)
        if isinstance(expr, Add):
            bessel = self._bessel(expr)
            if bessel is None:
                return self._sum([self.shape(term) for term in expr.args])
            return self._sum([bessel.shape(self), self.shape(bessel.rest)])
        if isinstance(expr, Mul):
            return reduce(_product, (self.shape(factor) for factor in expr.args))
        if isinstance(expr, Pow):
            return self._power(expr)
        assert isinstance(expr, Call)
        return self._call(expr)

    def _sum(self, parts: list[Shape]) -> Shape:
        value, slope, bend = (reduce(plus, signs) for signs in zip(*((p.value, p.slope, p.bend) for p in parts), strict=True))
        return Shape(value, slope, bend, ANY, _largest_root(parts))

    def _bessel(self, total: Add) -> _Bessel | None:
        """The part k*log(x^v K_v(c x)) of a sum, whose terms are not monotone or finite at 0 one by one; None where there is none."""
        if not self.half:
            return None
        for term in total.args:
            inner, k = _split(term, self.name)
            if not (isinstance(inner, Call) and inner.name == "logbesselk") or self.name in symbols(inner.args[0]):
                continue
            c, offset = linear_part(inner.args[1], self.name)
            power_of = mul(k, inner.args[0], call("log", Sym(self.name)))
            if offset == ZERO and self.positive(c) and power_of in total.args:
                return _Bessel(k, inner.args[0], c, sub(total, add(term, power_of)))
        return None

    def _power(self, expr: Pow) -> Shape:
        if self.name in symbols(expr.exponent):
            return self.shape(call("exp", mul(expr.exponent, call("log", expr.base))))
        u, e = self.shape(expr.base), expr.exponent
        whole = e.value if isinstance(e, Num) and e.value.denominator == 1 else None
        smooth_at_zero = (whole is not None and whole >= 1) or certainly_le(num(2), e, self.domains)
        defined = (whole is not None and (whole > 0 or 0 not in u.value)) or u.value <= (AT_LEAST_ZERO if smooth_at_zero else POSITIVE)
        if not defined:
            raise _undefined(expr)
        sign, falling = self.sign(e), self.sign(sub(e, ONE))
        powers = [_power_sign(u.value, None if whole is None else whole - k) for k in range(3)]
        root = None
        if sign == POSITIVE and isinstance(e, Num):
            if u.root is not None:
                root = u.root / e.value
            elif u.bend == NULL and whole is not None and whole % 2 == 0:
                root = 1 / e.value  # |affine| is convex
        log_bend = times(sign, u.log_bend) if u.value == POSITIVE else ANY
        return u.chain(powers[0], times(sign, powers[1]), times(times(sign, falling), powers[2]), log_bend, root)

    def _call(self, expr: Call) -> Shape:
        name, u = expr.name, self.shape(expr.args[-1])
        v = u.value
        if name == "abs":
            return self._absolute(u)
        if name in ("min", "max"):
            return _extreme(name, [self.shape(arg) for arg in expr.args])
        if name == "log":
            if v != POSITIVE:
                raise _undefined(expr)
            return Shape(self.shape(sub(expr.args[0], ONE)).value, u.slope, u.log_bend)
        if any(self.name in symbols(arg) for arg in expr.args[:-1]):
            raise _undefined(expr)
        row = law(name, v)
        if row is None:
            raise _undefined(expr) if name in ("besselk", "logbesselk") else Undecided(f"no shape rule for {name}.")
        log_bend = plus(times(row.log_bend, square(u.slope)), times(row.log_slope, u.bend))
        return u.chain(row.value, row.slope, row.bend, log_bend)

    def _absolute(self, u: Shape) -> Shape:
        if u.value <= AT_LEAST_ZERO:
            return u
        if u.value <= AT_MOST_ZERO:
            return _product(Shape(NEGATIVE, NULL, NULL), u)
        return Shape(AT_LEAST_ZERO, u.slope | minus(u.slope), AT_LEAST_ZERO if u.bend == NULL else ANY)

    # -- rewriting ---------------------------------------------------------------------------------

    def tidy(self, expr: Expr) -> Expr:
        """The same function with abs decided where a sign is certain, logarithms of products and powers taken apart, powers merged."""
        if self.name not in symbols(expr):
            return expr
        done = rebuild(expr, self.tidy)
        if isinstance(done, Pow) and self.name not in symbols(done.exponent):
            return self._powered(done.base, done.exponent)
        if not isinstance(done, Call):
            return add(done)  # distributes a number
        u = done.args[-1]
        if done.name == "abs" and self.name in symbols(u):
            value = self._value(u)
            return u if value <= AT_LEAST_ZERO else neg(u) if value <= AT_MOST_ZERO else done
        if done.name == "log":
            return self._apart(u)
        if done == Call("logbesselk", (HALF, u)):
            return add(neg(u), mul(Num(Fraction(-1, 2)), self._apart(u)), mul(HALF, call("log", div(PI, num(2)))))
        return done

    def _powered(self, base: Expr, exponent: Expr) -> Expr:
        """base ** exponent, with exponents multiplied where the inner base is certainly positive."""
        if isinstance(base, Pow) and self._value(base.base) == POSITIVE:
            return power(base.base, mul(base.exponent, exponent))
        if isinstance(base, Mul) and all(self._value(factor) == POSITIVE for factor in base.args):
            return mul(*(self._powered(factor, exponent) for factor in base.args))
        return power(base, exponent)

    def _value(self, expr: Expr) -> Sign:
        try:
            return self.shape(expr).value
        except Undecided:
            return ANY

    def _apart(self, u: Expr) -> Expr:
        if isinstance(u, Mul) and all(self._value(factor) == POSITIVE for factor in u.args):
            return add(*(self._apart(factor) for factor in u.args))
        if isinstance(u, Pow) and self._value(u.base) == POSITIVE:
            return mul(u.exponent, self._apart(u.base))
        if isinstance(u, Call) and u.name == "exp":
            return u.args[0]
        if isinstance(u, Call) and u.name in ("min", "max") and all(self._value(arg) == POSITIVE for arg in u.args):
            return call(u.name, *map(self._apart, u.args))
        return call("log", u)

    def rises_convexly(self, expr: Expr) -> bool:
        """Whether f is convex and never falls on (0, inf): by its shape, or because a convex f has its least slope at 0."""
        shape = self.shape(expr)
        if not self.half or not shape.convex or shape.slope <= AT_LEAST_ZERO:
            return self.half and shape.convex
        try:
            start = self.at_zero(self.tidy(derivative(expr, self.name)))
        except (ExprError, Undecided):
            return False
        return start is not None and self.sign(start) <= AT_LEAST_ZERO

    # -- the value at 0 ------------------------------------------------------------------------------

    def at_zero(self, expr: Expr) -> Expr | None:
        """The limit of a continuous tree as the variable falls to 0, None where it is not certainly finite."""
        if self.name not in symbols(expr):
            return expr
        if isinstance(expr, Sym):
            return ZERO
        if isinstance(expr, Pow):
            base, exponent = self.at_zero(expr.base), self.at_zero(expr.exponent)
            if base is None or exponent is None:
                return None
            if self.positive(base) or (isinstance(exponent, Num) and exponent.value.denominator == 1 and exponent.value > 0):
                return self._powered(base, exponent)
            return ZERO if base == ZERO and self.positive(exponent) else None
        bessel = self._bessel(expr) if isinstance(expr, Add) else None
        if bessel is not None:
            rest = self.at_zero(bessel.rest)
            return None if rest is None or not self.positive(bessel.order) else add(bessel.at_zero(), rest)
        if isinstance(expr, Add | Mul):
            parts = [self.at_zero(part) for part in expr.args]
            known = [part for part in parts if part is not None]
            if len(known) < len(parts):
                return None
            return add(*known) if isinstance(expr, Add) else mul(*known)
        assert isinstance(expr, Call)
        inner = self.at_zero(expr.args[-1])
        if expr.name in ("min", "max"):
            values = [self.at_zero(arg) for arg in expr.args]
            return None if None in values else call(expr.name, *(v for v in values if v is not None))
        if inner is None or (expr.name in ("log", "besselk", "logbesselk") and not self.positive(inner)):
            return None
        if expr.name in ("floor", "atanh", "gamma") or any(self.name in symbols(arg) for arg in expr.args[:-1]):
            return None
        return call(expr.name, *expr.args[:-1], inner)

    # -- limits at plus infinity -----------------------------------------------------------------------

    def slope_limit(self, expr: Expr) -> Expr | None:
        """lim f(x)/x as x grows, finite and exact, or None. For a convex or concave f it is the limit of f'."""
        if self.name not in symbols(expr):
            return ZERO
        if isinstance(expr, Sym):
            return ONE
        if isinstance(expr, Add):
            parts = [self.slope_limit(term) for term in expr.args]
            return None if None in parts else add(*(part for part in parts if part is not None))
        if isinstance(expr, Mul):
            inner, outer = _split(expr, self.name)
            if outer != ONE:
                limit = self.slope_limit(inner)
                return None if limit is None else mul(outer, limit)
        if isinstance(expr, Call):
            return self._slope_limit_of_call(expr)
        lead = self.leading(expr)
        if lead is not None:
            c, p = lead
            excess = self.sign(sub(p, ONE))
            return c if excess == NULL else ZERO if excess == NEGATIVE else None
        return self._negligible(expr)

    def _slope_limit_of_call(self, expr: Call) -> Expr | None:
        u = expr.args[-1]
        if expr.name == "log":
            return self.rate(u)
        if expr.name in ("abs", "min", "max"):
            limits = [self.slope_limit(arg) for arg in expr.args]
            return None if None in limits else self.extreme(expr.name, [x for x in limits if x is not None])
        if expr.name == "asinh":
            return ZERO if self.slope_limit(u) is not None or self.leading(u) is not None else None
        if expr.name in ("tanh", "erf", "erfc"):
            return ZERO
        if expr.name == "logbesselk":
            limit = self.slope_limit(u)
            return neg(limit) if limit is not None and self.positive(limit) else None
        return self._negligible(expr)

    def _negligible(self, expr: Expr) -> Expr | None:
        rate = self.rate(expr)
        return ZERO if rate is not None and self.sign(rate) == NEGATIVE else None

    def extreme(self, name: str, values: list[Expr]) -> Expr:
        """abs, min or max, decided where the order is certain."""
        if name == "abs":
            sign = self.sign(values[0])
            return values[0] if sign <= AT_LEAST_ZERO else neg(values[0]) if sign <= AT_MOST_ZERO else call("abs", values[0])
        best = values[0]
        for other in values[1:]:
            order = self.sign(sub(best, other) if name == "max" else sub(other, best))
            best = best if order <= AT_LEAST_ZERO else other if order <= AT_MOST_ZERO else call(name, best, other)
        return best

    def rate(self, expr: Expr) -> Expr | None:
        """lim log f(x) / x as x grows, for a positive f; None where f is not certainly positive or the limit not known."""
        if self._value(expr) != POSITIVE:
            return None
        if self.name not in symbols(expr) or isinstance(expr, Sym) or self.leading(expr) is not None:
            return ZERO
        if isinstance(expr, Call) and expr.name == "exp":
            return self.slope_limit(expr.args[0])
        if isinstance(expr, Call) and expr.name == "cosh":
            limit = self.slope_limit(expr.args[0])
            return None if limit is None else self.extreme("abs", [limit])
        if isinstance(expr, Pow) and self.name not in symbols(expr.exponent):
            rate = self.rate(expr.base)
            return None if rate is None else mul(expr.exponent, rate)
        if isinstance(expr, Add | Mul):
            rates = [self.rate(part) for part in expr.args]
            known = [rate for rate in rates if rate is not None]
            if len(known) == len(rates):
                return add(*known) if isinstance(expr, Mul) else self.extreme("max", known)
        return None

    def leading(self, expr: Expr) -> tuple[Expr, Expr] | None:
        """(c, p) with f ~ c x^p as x grows and c certainly positive, or None."""
        if self.name not in symbols(expr):
            return (expr, ZERO) if self.positive(expr) else None
        if isinstance(expr, Sym):
            return ONE, ONE
        if isinstance(expr, Mul):
            parts = [self.leading(factor) for factor in expr.args]
            known = [part for part in parts if part is not None]
            return (mul(*(c for c, _ in known)), add(*(p for _, p in known))) if len(known) == len(parts) else None
        if isinstance(expr, Pow):
            base = self.leading(expr.base)
            if base is None or self.name in symbols(expr.exponent):
                return None
            return self._powered(base[0], expr.exponent), mul(base[1], expr.exponent)
        if isinstance(expr, Add):
            return self._leading_of_sum(expr)
        if isinstance(expr, Call) and expr.name == "abs":
            return self.leading(expr.args[0])
        return None

    def _leading_of_sum(self, expr: Add) -> tuple[Expr, Expr] | None:
        """The term that certainly outgrows all others, with equal powers added up."""
        sizes: list[tuple[Expr, Expr | None]] = []
        for term in expr.args:
            inner, outer = _split(term, self.name)
            lead = (ONE, ZERO) if inner == ONE else self.leading(inner)
            if lead is None:
                if self.slope_limit(inner) != ZERO:
                    return None
                sizes.append((ZERO, None))  # o(x)
            else:
                sizes.append((mul(outer, lead[0]), lead[1]))
        powers = list(dict.fromkeys(p for _, p in sizes if p is not None))
        for top in powers:
            if all(p == top or self.sign(sub(top, p)) == POSITIVE for p in powers):
                c = add(*(c for c, p in sizes if p == top))
                small = all(p is not None for _, p in sizes) or certainly_le(ONE, top, self.domains)
                return (c, top) if small and self.positive(c) else None
        return None

    def log_slope(self, expr: Expr) -> Expr | None:
        """lim f(x) / log x as x grows, finite and exact, or None."""
        if self.name not in symbols(expr):
            return ZERO
        if isinstance(expr, Add):
            parts = [self.log_slope(term) for term in expr.args]
            return None if None in parts else add(*(part for part in parts if part is not None))
        if isinstance(expr, Mul):
            inner, outer = _split(expr, self.name)
            limit = self.log_slope(inner) if outer != ONE else None
            if limit is not None:
                return mul(outer, limit)
        if isinstance(expr, Call) and expr.name == "log":
            lead = self.leading(expr.args[0])
            return None if lead is None else lead[1]
        lead = self.leading(expr)
        return ZERO if lead is not None and self.sign(lead[1]) <= AT_MOST_ZERO else self._negligible(expr)

    def integrable(self, h: Expr, dimension: Expr) -> bool:
        """Whether exp(-h) r^(dimension - 1) is certainly integrable at plus infinity."""
        slope = self.slope_limit(h)
        if slope is not None and self.positive(slope):
            return True
        lead = self.leading(h)
        if lead is not None and self.positive(lead[1]):
            return True
        log_slope = self.log_slope(h)
        return log_slope is not None and self.positive(sub(log_slope, dimension))

    def mirrored(self, expr: Expr) -> Expr:
        """The tree of f(-x)."""
        return substitute(expr, {self.name: neg(Sym(self.name))})


def _split(expr: Expr, name: str) -> tuple[Expr, Expr]:
    """(inner, outer) with expr = outer * inner and outer free of `name`; inner is ONE where all of it is."""
    factors = expr.args if isinstance(expr, Mul) else (expr,)
    return mul(*(f for f in factors if name in symbols(f))), mul(*(f for f in factors if name not in symbols(f)))


def _product(f: Shape, g: Shape) -> Shape:
    slope = plus(times(f.slope, g.value), times(f.value, g.slope))
    cross = times(f.slope, g.slope)
    bend = plus(plus(times(f.bend, g.value), cross), times(f.value, g.bend))
    log_bend = plus(f.log_bend, g.log_bend) if f.value == g.value == POSITIVE else ANY
    root = None
    if f.value <= AT_LEAST_ZERO and g.value <= AT_LEAST_ZERO:
        root = g.root if f.slope == NULL else f.root if g.slope == NULL else None
    return Shape(times(f.value, g.value), slope, bend, log_bend, root).closed()


def _power_sign(value: Sign, exponent: Fraction | None) -> Sign:
    """The signs of value**exponent for an integer exponent, or any exponent (None) of a non-negative base."""
    if exponent == 0:
        return POSITIVE
    return square(value) if exponent is None or exponent % 2 == 0 else value


def _largest_root(parts: list[Shape]) -> Fraction | None:
    """The root of a sum or maximum of non-negative functions: the l_(1/s) norm of convex ones is convex for s <= 1."""
    roots = [part.root for part in parts if part.root is not None and part.value <= AT_LEAST_ZERO]
    return max(roots) if len(roots) == len(parts) and max(roots) <= 1 else None


def _extreme(name: str, parts: list[Shape]) -> Shape:
    value = extreme(name, [part.value for part in parts])
    slope: Sign = frozenset().union(*(part.slope for part in parts))
    if name == "max":
        return Shape(value, slope, AT_LEAST_ZERO if all(part.convex for part in parts) else ANY, ANY, _largest_root(parts))
    return Shape(value, slope, AT_MOST_ZERO if all(part.concave for part in parts) else ANY)


def _undefined(expr: Expr) -> Undecided:
    return Undecided(f"{format_expr(expr)} is not certainly defined and smooth enough for all values of its variables.")
