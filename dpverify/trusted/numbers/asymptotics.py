"""How a function behaves at an end of an interval: enclosures by scales, valid on the whole end.

Near an end (plus or minus infinity, or a finite point from one side) the variable becomes s >= X, with
X >= 16. A germ encloses a function f on all of [X, inf) as

    f(s) = exp(P(s)) * s^a * log(s)^b * k(s),   k(s) in [lo, hi],

P a sum of c * s^p with p > 0 and exact constants c. Sums keep the dominant scale and bound the ratio
of the others by its value at X, where that ratio certainly falls. The ends of [lo, hi] are rounded
outward one by one, so that 1 - (something non-negative) stays <= 1: sharp at limits. This is the one
tool for tails, poles and zeros; it has no symbolic limits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal

from flint import arb

from dpverify.trusted.kernel.balls import constant, hull, rational
from dpverify.trusted.kernel.errors import Undecided, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Call, Expr, Mul, Num, Sym, add, call, mul, num, power, sub, substitute, symbols
from dpverify.trusted.numbers.expansion import expanded_terms, monomial
from dpverify.trusted.numbers.jets import Constant, Jet, JetCompiler, Program, Scalars
from dpverify.trusted.numbers.kinks import resolve

LEAST_START: Final = Fraction(16)  # log log s / log s falls past exp(e) = 15.15...

VARIABLE: Final = "s>0"  # no claim can name a symbol so

_MOST_FACTORS: Final = 10_000
_NONE: Final[Mapping[str, arb]] = {}
_LOG_GAMMA: Final = "loggamma"
_KNOWN_AT_INFINITY: Final = frozenset(("cosh", "sinh", "tanh", "asinh", "erf", "erfc", "logerfc", "logexprel", _LOG_GAMMA))

Side = Literal["+inf", "-inf", "right", "left"]


@dataclass(frozen=True, slots=True)
class End:
    """An end of an interval: r >= start, r <= -start, or the points within 1/start of `point` on one side."""

    side: Side
    start: Fraction
    point: Fraction = Fraction(0)

    def variable(self) -> Expr:
        """The original variable as an expression in s >= start."""
        outward, s = num(1 if self.side in ("+inf", "right") else -1), Sym(VARIABLE)
        return mul(outward, s) if self.side in ("+inf", "-inf") else add(Num(self.point), mul(outward, power(s, num(-1))))

    def boundary(self) -> Fraction:
        """The point where the end meets the rest of the interval."""
        outward = 1 if self.side in ("+inf", "right") else -1
        return outward * self.start if self.side in ("+inf", "-inf") else self.point + outward / self.start

    def interval(self) -> tuple[Fraction | None, Fraction | None]:
        """All points of the end, between two, None for infinity."""
        near, far = self.boundary(), self.point if self.side in ("right", "left") else None
        return (near, far) if self.side in ("+inf", "left") else (far, near)


class Range:
    """An interval with both ends rounded outward separately."""

    __slots__ = ("hi", "lo")

    def __init__(self, lo: arb, hi: arb) -> None:
        if not (lo.is_finite() and hi.is_finite()):
            raise Undecided("an enclosure at the end of the interval is not finite; start the end further out.")
        self.lo, self.hi = lo.lower(), hi.upper()

    @staticmethod
    def of(ball: arb) -> Range:
        return Range(ball, ball)

    def __add__(self, other: Range) -> Range:
        return Range(self.lo + other.lo, self.hi + other.hi)

    def __mul__(self, other: Range) -> Range:
        products = [x * y for x in (self.lo, self.hi) for y in (other.lo, other.hi)]
        low, high = products[0].lower(), products[0].upper()
        for product in products[1:]:
            low, high = low.min(product.lower()), high.max(product.upper())
        return Range(low, high)

    def __neg__(self) -> Range:
        return Range(-self.hi, -self.lo)

    def union(self, other: Range) -> Range:
        return Range(self.lo.min(other.lo), self.hi.max(other.hi))

    def ball(self) -> arb:
        return hull(self.lo, self.hi)

    def is_zero(self) -> bool:
        return bool(self.lo == 0) and bool(self.hi == 0)


Growth = tuple[tuple[Fraction, Expr], ...]


def _growth_sum(left: Growth, right: Growth, factor: Fraction = Fraction(1)) -> Growth:
    """left + factor * right, by falling power, exact zeros dropped."""
    terms = dict(left)
    for p, c in right:
        terms[p] = add(terms.get(p, ZERO), mul(Num(factor), c))
    return tuple((p, terms[p]) for p in sorted(terms, reverse=True) if terms[p] != ZERO)


class Germ:
    """exp(P) * s^a * log(s)^b * k on s >= start."""

    __slots__ = ("a", "b", "growth", "k", "start")

    def __init__(self, start: arb, k: Range, a: Fraction = Fraction(0), b: Fraction = Fraction(0), growth: Growth = ()) -> None:
        self.start, self.k, self.a, self.b, self.growth = start, k, a, b, growth

    def _like(self, k: Range, a: Fraction = Fraction(0), b: Fraction = Fraction(0), growth: Growth = ()) -> Germ:
        return Germ(self.start, k, a, b, growth)

    def constant(self, ball: arb) -> Germ:
        """The constant germ of a ball."""
        return self._like(Range.of(ball))

    # order of scales

    def direction(self) -> int:
        """1 where the scale tends to infinity, -1 where it tends to 0, 0 where it is constant or the function is 0."""
        if self.k.is_zero():
            return 0
        for _, coefficient in self.growth:
            ball = constant(coefficient)
            if ball > 0:
                return 1
            if ball < 0:
                return -1
            raise Undecided("the sign of a growth rate is not certain.")
        scale = self.a if self.a != 0 else self.b
        return (scale > 0) - (scale < 0)

    def _fall(self) -> arb:
        """An upper bound on the scale (without k) over s >= start, where it certainly falls."""
        x, a, b = self.start, rational(self.a), rational(self.b)
        log_x = x.log()
        slack = (a if self.a > 0 else arb(0)) + (b / log_x if self.b > 0 else arb(0))
        value = a * log_x + b * log_x.log()
        if self.growth:
            lead, rate = self.growth[0][0], arb(0)
            for p, c in self.growth:
                ball = constant(c)
                value += ball * x ** rational(p)
                if p == lead or not ball <= 0:
                    rate += rational(p) * ball * x ** rational(p - lead)
            falls = rate < 0 and rate * x ** rational(lead) + slack <= 0
        else:
            falls = a + (b / log_x if self.b > 0 else arb(0)) <= 0
        require(falls, Undecided("a scale does not yet fall at the start of the end; start further out."))
        return value.exp().upper()

    def bounds(self) -> Range:
        """The range of the function over the whole end. Raises Undecided where it is unbounded."""
        direction = self.direction()
        if direction == 0:
            return self.k
        require(direction <= 0, Undecided("unbounded at the end of the interval."))
        zero = arb(0)
        return self.k * Range(zero, self._fall())

    def diverges(self) -> int:
        """1 or -1 where the function certainly tends to plus or minus infinity, else 0."""
        if self.direction() <= 0:
            return 0
        return 1 if self.k.lo > 0 else -1 if self.k.hi < 0 else 0

    # arithmetic

    def __add__(self, other: Germ) -> Germ:
        if other.k.is_zero():
            return self
        if self.k.is_zero():
            return other
        ratio = other._like(other.k, other.a - self.a, other.b - self.b, _growth_sum(other.growth, self.growth, Fraction(-1)))
        direction = ratio.direction()
        if direction > 0:
            return other + self
        k = self.k + (ratio.k if direction == 0 else ratio.k * Range(arb(0), ratio._fall()))
        return self._like(k, self.a, self.b, self.growth)

    def __mul__(self, other: Germ) -> Germ:
        return self._like(self.k * other.k, self.a + other.a, self.b + other.b, _growth_sum(self.growth, other.growth))

    def __abs__(self) -> Germ:
        low, high = self.k.lo, self.k.hi
        return self._like(Range(arb(0), high.max(-low)), self.a, self.b, self.growth)

    def power(self, e: Fraction) -> Germ:
        """The germ of f**e; k must be positive unless e is a positive integer."""
        low, high = self.k.lo, self.k.hi
        scales = (self.a * e, self.b * e, tuple((p, mul(Num(e), c)) for p, c in self.growth))
        exponent = rational(e)
        if low > 0:
            ends = (low**exponent, high**exponent)
            return self._like(Range(*(ends if e > 0 else ends[::-1])), *scales)
        if e > _MOST_FACTORS:
            raise Undecided(f"a power beyond {_MOST_FACTORS} of a function that is not certainly positive at the end of the interval.")
        if e.denominator == 1 and e > 0:
            result = self
            for _ in range(int(e) - 1):
                result = result * self
            return result
        if e.denominator == 1 and high < 0:
            flipped = self._like(-self.k, self.a, self.b, self.growth).power(e)
            return flipped if e % 2 == 0 else flipped._like(-flipped.k, *scales)
        raise Undecided("a power of a function that is not certainly positive at the end of the interval.")

    def log(self) -> Germ:
        """The germ of log f, for certainly positive f."""
        require(self.k.lo > 0, Undecided("the logarithm of a function that is not certainly positive at the end of the interval."))
        result = self._like(Range(self.k.lo.log(), self.k.hi.log()))
        for p, c in self.growth:
            result = result + self._like(Range.of(constant(c)), p)
        if self.a != 0:
            result = result + self._like(Range.of(rational(self.a)), b=Fraction(1))
        if self.b != 0:
            log_x = self.start.log()
            small = Range(arb(0), log_x.log() / log_x) * Range.of(rational(self.b))
            result = result + self._like(small, b=Fraction(1))
        return result


class GermCompiler(JetCompiler):
    """The programs of `jets` with germs for scalars."""

    def __init__(self, end: End, shares: Mapping[str, arb] = _NONE) -> None:
        require(end.start >= LEAST_START, Undecided(f"an end must start at {LEAST_START} or further out in its chart."))
        self.start = rational(end.start)
        one = self.scalar(ONE)
        s = Germ(self.start, one.k, Fraction(1))
        first, second = {
            "+inf": (one, self.zero()),
            "-inf": (self.scalar(num(-1)), self.zero()),
            "right": (self.scalar(num(-1)) * s * s, self.scalar(num(2)) * s * s * s),
            "left": (s * s, self.scalar(num(2)) * s * s * s),
        }[end.side]
        fixed = {name: (Germ(self.start, Range.of(ball)), self.zero(), self.zero()) for name, ball in shares.items()}
        self.env: Mapping[str, Scalars] = {VARIABLE: (s, first, second), **fixed}

    def run(self, expr: Expr) -> Scalars:
        """The jet of a tree in s."""
        return self.compile(expr)(self.env)

    def scalar(self, constant_expr: Expr) -> Germ:
        return Germ(self.start, Range.of(constant(constant_expr)))

    def zero(self) -> Germ:
        return Germ(self.start, Range(arb(0), arb(0)))

    def positive(self, x: Germ) -> bool:
        return bool(x.k.lo >= 0)

    def negative(self, x: Germ) -> bool:
        return bool(x.k.hi <= 0)

    def power(self, base: Germ, exponent: Fraction) -> Germ:
        return base.power(exponent)

    def times(self, x: Germ, y: Germ) -> Germ:
        return x * y

    def between(self, left: Germ, right: Germ) -> Germ:
        return Germ(self.start, left.bounds().union(right.bounds()))

    def undefined(self) -> Any:
        raise Undecided("a kink at the end of the interval.")

    def exp(self, x: Germ, source: Expr) -> Germ:
        growth: dict[Fraction, Expr] = {}
        rest: list[Expr] = []
        logs: list[tuple[Expr, Fraction, Call]] = []
        for term in expanded_terms(source):
            free, p = monomial(term, VARIABLE) or (term, Fraction(0))
            if p > 0 and not symbols(free):
                growth[p] = add(growth.get(p, ZERO), free)
                continue
            logarithm = _rational_log(term)
            if logarithm is not None:
                logs.append((term, *logarithm))
                continue
            rest.append(term)
        remainder: Germ = self.run(add(*rest))[0] if rest else self.zero()
        factor = self.scalar(ONE)
        if logs and remainder.direction() > 0:
            remainder = self.run(add(*rest, *(term for term, _, _ in logs)))[0]  # the logarithms bow to what is left
        else:
            for _, power_of, logarithm_of in logs:
                factor = factor * self._antilog(logarithm_of).power(power_of)
        if remainder.direction() > 0:
            require(remainder.k.hi <= 0, Undecided("an exponential that may grow beyond every scale at the end of the interval."))
            bounded = Range(arb(0), _supremum_of_fall(remainder).exp())
        else:
            inside = remainder.bounds()
            bounded = Range(inside.lo.exp(), inside.hi.exp())
        exact = _growth_sum((), tuple(growth.items()))
        return factor * Germ(self.start, bounded, growth=exact)

    def _antilog(self, expr: Call) -> Germ:
        """exp of a logarithm, without the detour where that would lose the scale."""
        if expr.name == "log":
            found: Germ = self.run(expr.args[0])[0]
            return found
        from dpverify.trusted.numbers import bessel_ends

        return bessel_ends.value(self, expr)

    def share(self, others: Sequence[tuple[Expr, Expr]]) -> Callable[[Mapping[str, Scalars]], tuple[Germ, Germ]]:
        parts = [self.compile(mul(c, call("exp", u))) for c, u in others]

        def run(env: Mapping[str, Scalars]) -> tuple[Germ, Germ]:
            total = self.scalar(ONE)
            for part in parts:
                total = total + part(env)[0]
            return total.power(Fraction(-1)), total.log()

        return run

    def hypot_slope(self, c: Germ, w: Germ) -> Germ:
        if w.k.lo > 0:
            inside = self.scalar(ONE) + c * w.power(Fraction(-2))
            return inside.power(Fraction(-1, 2))
        return w * (c + w * w).power(Fraction(-1, 2))

    def _call(self, expr: Call, nodes: Sequence[Program | Constant]) -> Program:
        if expr.name == "logratio":
            above, below, order = expr.args
            return self.compile(sub(call("log", above), mul(order, call("log", below))))
        name, argument = expr.name, expr.args[0]
        if name == "log" and isinstance(argument, Call) and argument.name == "gamma":
            name, argument = _LOG_GAMMA, argument.args[0]
        if name in _KNOWN_AT_INFINITY:
            inner: Germ = self.run(argument)[0]
            if inner.direction() > 0 and (inner.k.lo > 0 or (inner.k.hi < 0 and name != _LOG_GAMMA)):
                from dpverify.trusted.numbers.special_ends import at_infinity

                found = at_infinity(self, name, argument, up=bool(inner.k.lo > 0))
                return lambda env: found
        return super()._call(expr, nodes)

    def special(self, name: str, order: Expr | None, x: Germ) -> Scalars:
        tends = x.direction()
        if order is not None and x.k.lo > 0 and tends:
            from dpverify.trusted.numbers import bessel_ends

            return (bessel_ends.at_infinity if tends > 0 else bessel_ends.at_zero)(self, order, x)
        require(tends <= 0, Undecided(f"{name} has no enclosure at infinity."))
        value, slope, bend = super().special(name, order, x.bounds().ball())
        return Germ(self.start, Range.of(value)), Germ(self.start, Range.of(slope)), Germ(self.start, Range.of(bend))


def start_value(x: Germ) -> arb:
    """A lower bound of a function that grows to infinity with k > 0: its inverse falls from the start."""
    return 1 / x.power(Fraction(-1)).bounds().hi


def _supremum_of_fall(x: Germ) -> arb:
    """The supremum of a germ with k <= 0 that grows: -1 / (the supremum of its inverse), or 0 when k may vanish."""
    if not x.k.hi < 0:
        return arb(0)
    positive = Germ(x.start, -x.k, x.a, x.b, x.growth)
    return -start_value(positive)


def _rational_log(term: Expr) -> tuple[Fraction, Call] | None:
    """(c, u) where the term is c * u with rational c and u a log or logbesselk, else None."""
    coefficient, rest = Fraction(1), term
    if isinstance(term, Mul) and len(term.args) == 2 and isinstance(term.args[0], Num):
        coefficient, rest = term.args[0].value, term.args[1]
    if isinstance(rest, Call) and rest.name in ("log", "logbesselk"):
        return coefficient, rest
    return None


def end_jet(expr: Expr, name: str, end: End, shares: Mapping[str, arb] = _NONE) -> Jet:
    """The germs of an expression and its two derivatives (by the original variable) on an end, for all values of the shares in their balls.

    Raises Undecided where the form is outside what is covered or the end starts too early.
    """
    smooth = resolve(expr, name, *end.interval())
    return Jet(*GermCompiler(end, shares).run(substitute(smooth, {name: end.variable()})))
