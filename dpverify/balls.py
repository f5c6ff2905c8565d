"""Expressions on balls: values and two derivatives, by forward differentiation.

A ball is an interval that certainly contains the true value (python-flint's arb). Precision is
flint's global `ctx.prec`; callers set it with `precision`. Nothing here decides anything: callers
accept a comparison only when it is True, so a non-finite ball never passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from flint import arb, ctx, fmpq

from dpverify.errors import ExprError, Undecided
from dpverify.expr import ZERO, Add, Call, Expr, Mul, Num, Pow, Sym, add, call, linear_part, neg, num, rebuild, substitute, symbols

MAX_PRECISION: Final = 20_000


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Set flint's global precision for a block and restore it. Raises ValueError beyond MAX_PRECISION."""
    if not 32 <= bits <= MAX_PRECISION:
        raise ValueError(f"a precision of {bits} bits; between 32 and {MAX_PRECISION} is allowed.")
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def rational(value: Fraction | int) -> arb:
    """The ball of an exact rational at the current precision."""
    if isinstance(value, int):
        return arb(value)
    return arb(value.numerator) if value.denominator == 1 else arb(fmpq(value.numerator, value.denominator))


def hull(lower: Fraction | arb, upper: Fraction | arb) -> arb:
    """The smallest ball at hand that contains both ends."""
    left = lower if isinstance(lower, arb) else rational(lower)
    right = upper if isinstance(upper, arb) else rational(upper)
    return left.union(right)


def finite(ball: arb) -> arb:
    """The ball itself; raises Undecided where it is not finite."""
    if not ball.is_finite():
        raise Undecided("an enclosure is not finite; split the cell or raise the precision.")
    return ball


# -- jets ------------------------------------------------------------------------------------------

NAN: Final = arb("nan")


@dataclass(slots=True)
class Jet:
    """A value with its first and second derivative in one variable; the three are scalars of one kind."""

    v: Any
    d1: Any
    d2: Any

    def __add__(self, other: Jet) -> Jet:
        return Jet(self.v + other.v, self.d1 + other.d1, self.d2 + other.d2)

    def __mul__(self, other: Jet) -> Jet:
        cross = self.d1 * other.d1
        return Jet(
            self.v * other.v, self.d1 * other.v + self.v * other.d1, self.d2 * other.v + cross + cross + self.v * other.d2
        )

    def chain(self, f: Any, f1: Any, f2: Any) -> Jet:
        """f(self), from f and its two derivatives at self.v."""
        return Jet(f, f1 * self.d1, f2 * (self.d1 * self.d1) + f1 * self.d2)


class JetEvaluator:
    """Walks a tree with jets of balls. Subclasses change the scalar: see `ends`."""

    def __init__(self, values: Mapping[str, Jet]) -> None:
        self.values = values

    # scalars

    def scalar(self, constant: Expr) -> Any:
        """The scalar of an expression without symbols."""
        return constant_ball(constant)

    def zero(self) -> Any:
        return arb(0)

    def positive(self, x: Any) -> bool:
        return bool(x >= 0)

    def negative(self, x: Any) -> bool:
        return bool(x <= 0)

    def power(self, base: Any, exponent: Fraction) -> Any:
        return ball_power(base, exponent)

    def exp(self, x: Any, source: Expr) -> Any:
        """exp of the scalar x, the value of the tree `source`."""
        return x.exp()

    def log(self, x: Any) -> Any:
        return x.log()

    def special(self, name: str, order: Expr | None, x: Any) -> tuple[Any, Any, Any]:
        """A special function and its two derivatives at x."""
        return SPECIAL[name](x) if order is None else _logbesselk(constant_ball(order), x)

    def between(self, left: Any, right: Any) -> Any:
        return left.union(right)

    def undefined(self) -> Any:
        return NAN

    # the walk

    def constant(self, expr: Expr) -> Jet:
        zero = self.zero()
        return Jet(self.scalar(expr), zero, zero)

    def visit(self, expr: Expr) -> Jet:
        """The jet of a tree. Raises ExprError for a symbol without a value."""
        if isinstance(expr, Sym):
            if expr.name not in self.values:
                raise ExprError(f"the symbol {expr.name!r} has no value.")
            return self.values[expr.name]
        if not symbols(expr):
            return self.constant(expr)
        if isinstance(expr, Add):
            total = self.visit(expr.args[0])
            for term in expr.args[1:]:
                total = total + self.visit(term)
            return total
        if isinstance(expr, Mul):
            product = self.visit(expr.args[0])
            for factor in expr.args[1:]:
                product = product * self.visit(factor)
            return product
        if isinstance(expr, Pow):
            return self._pow(expr)
        assert isinstance(expr, Call)
        return self._call(expr)

    def _pow(self, expr: Pow) -> Jet:
        base = self.visit(expr.base)
        if isinstance(expr.exponent, Num):
            e = expr.exponent.value
            p = self.power
            if e == 1:
                return base
            if e == 2:
                return base * base
            e0, e1, e2 = (self.scalar(Num(x)) for x in (e, e * (e - 1), Fraction(1)))
            second = e1 * p(base.v, e - 2) if e1 != 0 else self.zero()
            return base.chain(e2 * p(base.v, e), e0 * p(base.v, e - 1), second)
        logarithm = self._log(base)
        exponent = self.visit(expr.exponent) * logarithm
        return self._exp(exponent, call("log", expr.base), expr.exponent)

    def _exp(self, u: Jet, *factors: Expr) -> Jet:
        from_tree = factors[0] if len(factors) == 1 else Mul(tuple(factors))
        f = self.exp(u.v, from_tree)
        return u.chain(f, f, f)

    def _log(self, u: Jet) -> Jet:
        inverse = self.power(u.v, Fraction(-1))
        minus = self.scalar(Num(Fraction(-1)))
        return u.chain(self.log(u.v), inverse, minus * (inverse * inverse))

    def _call(self, expr: Call) -> Jet:
        name = expr.name
        if name in ("min", "max"):
            return self._extreme(expr)
        u = self.visit(expr.args[-1])
        if name == "exp":
            return self._exp(u, expr.args[0])
        if name == "log":
            return self._log(u)
        if name == "abs":
            minus = self.scalar(Num(Fraction(-1)))
            if self.positive(u.v):
                return u
            flipped = Jet(minus * u.v, minus * u.d1, minus * u.d2)
            if self.negative(u.v):
                return flipped
            return Jet(abs(u.v), self.between(u.d1, flipped.d1), self.undefined())
        if name == "besselk":
            logarithm = u.chain(*self.special("logbesselk", expr.args[0], u.v))
            return self._exp(logarithm, Call("logbesselk", expr.args))
        order = expr.args[0] if name == "logbesselk" else None
        if order is not None and symbols(order):
            raise Undecided("the order of besselk must not depend on the variable.")
        return u.chain(*self.special(name, order, u.v))

    def _extreme(self, expr: Call) -> Jet:
        best = self.visit(expr.args[0])
        minus = self.scalar(Num(Fraction(-1)))
        for arg in expr.args[1:]:
            other = self.visit(arg)
            difference = best.v + minus * other.v
            keep, drop = (self.negative, self.positive) if expr.name == "min" else (self.positive, self.negative)
            if keep(difference):
                continue
            if drop(difference):
                best = other
                continue
            value = best.v.min(other.v) if expr.name == "min" else best.v.max(other.v)
            best = Jet(value, self.between(best.d1, other.d1), self.undefined())
        return best


def jet(expr: Expr, name: str, at: arb) -> Jet:
    """Value and two derivatives in the symbol `name` over the ball `at`; every other symbol is an error."""
    return JetEvaluator({name: Jet(at, arb(1), arb(0))}).visit(expr)


def gradient(expr: Expr, values: Mapping[str, arb]) -> tuple[arb, dict[str, arb]]:
    """The value over a box and the enclosure of each partial derivative."""
    partials: dict[str, arb] = {}
    result = NAN
    for name in values:
        seeds = {other: Jet(ball, arb(1 if other == name else 0), arb(0)) for other, ball in values.items()}
        found = JetEvaluator(seeds).visit(expr)
        result, partials[name] = found.v, found.d1
    return result, partials


# -- values ----------------------------------------------------------------------------------------


def value(expr: Expr, values: Mapping[str, arb]) -> arb:
    """The value of a tree over balls, without derivatives. Raises ExprError for a symbol without a value."""
    if isinstance(expr, Num):
        return rational(expr.value)
    if isinstance(expr, Sym):
        if expr.name not in values:
            raise ExprError(f"the symbol {expr.name!r} has no value.")
        return values[expr.name]
    if isinstance(expr, Add):
        total = value(expr.args[0], values)
        for term in expr.args[1:]:
            total = total + value(term, values)
        return total
    if isinstance(expr, Mul):
        product = value(expr.args[0], values)
        for factor in expr.args[1:]:
            product = product * value(factor, values)
        return product
    if isinstance(expr, Pow):
        base = value(expr.base, values)
        if isinstance(expr.exponent, Num):
            return ball_power(base, expr.exponent.value)
        return (value(expr.exponent, values) * base.log()).exp()
    args = [value(arg, values) for arg in expr.args]
    return _function(expr.name, args)


def constant(expr: Expr) -> arb:
    """The ball of an expression without symbols, at the current precision."""
    return value(expr, {})


constant_ball = constant


def _function(name: str, args: list[arb]) -> arb:
    if name == "pi":
        return arb.pi()
    x = args[-1]
    if name == "exp":
        return x.exp()
    if name == "log":
        return x.log()
    if name == "abs":
        return abs(x)
    if name in ("min", "max"):
        best = args[0]
        for other in args[1:]:
            best = best.min(other) if name == "min" else best.max(other)
        return best
    if name == "floor":
        return x.floor()
    if name == "besselk":
        return _logbesselk_value(args[0], x).exp()
    if name == "logbesselk":
        return _logbesselk_value(args[0], x)
    if name == "logerfc":
        return _on_ends(x, lambda t: t.erfc().log())
    if name in ("cosh", "sinh", "tanh", "asinh", "atanh", "erf", "erfc", "gamma"):
        result: arb = getattr(x, name)()
        return result
    raise ExprError(f"unknown function {name!r}.")


def ball_power(base: arb, exponent: Fraction) -> arb:
    """base ** exponent for an exact rational exponent; non-finite where the ball leaves the domain."""
    if exponent.denominator == 1:
        n = exponent.numerator
        return base**n if n >= 0 else 1 / base ** (-n)
    if exponent < 0:
        return 1 / ball_power(base, -exponent)
    if exponent.denominator == 2:
        return base.sqrt() ** exponent.numerator
    low = base.lower()
    if low > 0:
        return (rational(exponent) * base.log()).exp()
    if low >= 0:
        top = base.upper()
        return arb(0) if top == 0 else arb(0).union((rational(exponent) * top.log()).exp())
    return NAN


def _on_ends(x: arb, monotone: Callable[[arb], arb]) -> arb:
    """The image of a ball under a monotone function, from its two ends."""
    if x.is_exact():
        return monotone(x)
    return monotone(x.lower()).union(monotone(x.upper()))


def _logbesselk_value(order: arb, x: arb) -> arb:
    if not x.lower() > 0:
        return NAN
    return _on_ends(x, lambda t: t.bessel_k(order, scaled=True).log() - t)


def _logbesselk(order: arb, x: arb) -> tuple[arb, arb, arb]:
    """log K_v and two derivatives; y = -K'/K falls in x (K is a mixture of exponentials) and obeys a Riccati equation."""
    if not x.lower() > 0:
        return NAN, NAN, NAN

    def ratio(t: arb) -> arb:
        k = t.bessel_k(order, scaled=True)
        return (t.bessel_k(order - 1, scaled=True) + t.bessel_k(order + 1, scaled=True)) / (2 * k)

    y = _on_ends(x, ratio)
    return _logbesselk_value(order, x), -y, 1 + order * order / (x * x) + y / x - y * y


def _logerfc(x: arb) -> tuple[arb, arb, arb]:
    """log erfc and two derivatives; the hazard rate 2 exp(-x^2)/(sqrt(pi) erfc(x)) rises in x."""
    hazard = _on_ends(x, lambda t: 2 * (-t * t).exp() / (arb.pi().sqrt() * t.erfc()))
    return _on_ends(x, lambda t: t.erfc().log()), -hazard, -hazard * (hazard - 2 * x)


def _floor(x: arb) -> tuple[arb, arb, arb]:
    whole = x.floor()
    return (whole, arb(0), arb(0)) if whole.is_exact() else (whole, NAN, NAN)


def _asinh(x: arb) -> tuple[arb, arb, arb]:
    root = (1 + x * x).rsqrt()
    return x.asinh(), root, -x * root**3


def _atanh(x: arb) -> tuple[arb, arb, arb]:
    d1 = 1 / (1 - x * x)
    return x.atanh(), d1, 2 * x * d1 * d1


def _tanh(x: arb) -> tuple[arb, arb, arb]:
    t = x.tanh()
    d1 = x.sech() ** 2
    return t, d1, -2 * t * d1


def _erf(x: arb) -> tuple[arb, arb, arb]:
    d1 = 2 * (-x * x).exp() / arb.pi().sqrt()
    return x.erf(), d1, -2 * x * d1


def _erfc(x: arb) -> tuple[arb, arb, arb]:
    d1 = -2 * (-x * x).exp() / arb.pi().sqrt()
    return x.erfc(), d1, -2 * x * d1


def _gamma(x: arb) -> tuple[arb, arb, arb]:
    g, psi = x.gamma(), x.digamma()
    return g, g * psi, NAN


SPECIAL: Final[Mapping[str, Callable[[arb], tuple[arb, arb, arb]]]] = {
    "cosh": lambda x: (x.cosh(), x.sinh(), x.cosh()),
    "sinh": lambda x: (x.sinh(), x.cosh(), x.sinh()),
    "tanh": _tanh,
    "asinh": _asinh,
    "atanh": _atanh,
    "erf": _erf,
    "erfc": _erfc,
    "gamma": _gamma,
    "floor": _floor,
    "logerfc": _logerfc,
}


# -- kinks -----------------------------------------------------------------------------------------


def resolve(expr: Expr, name: str, lower: Fraction | None, upper: Fraction | None) -> Expr:
    """The tree on the open interval (lower, upper), with abs, min, max and floor of linear arguments decided exactly.

    None is an infinite end. A kink whose side is not certain at both ends stays as it is.
    """
    if not symbols(expr):
        return expr
    done = rebuild(expr, lambda part: resolve(part, name, lower, upper))
    if not isinstance(done, Call):
        return done
    if done.name == "abs":
        side = _side(done.args[0], name, lower, upper)
        return done if side is None else done.args[0] if side > 0 else neg(done.args[0])
    if done.name in ("min", "max"):
        best = done.args[0]
        for i, other in enumerate(done.args[1:], start=1):
            side = _side(add(best, neg(other)), name, lower, upper)
            if side is None:
                return call(done.name, best, *done.args[i:])
            if (side > 0) == (done.name == "min"):
                best = other
        return best
    if done.name == "floor":
        step = _floor_on(done.args[0], name, lower, upper)
        return done if step is None else num(step)
    return done


def _ends(expr: Expr, name: str, lower: Fraction | None, upper: Fraction | None) -> tuple[arb, arb] | None:
    """The values of an expression linear in `name` at both ends (signed infinities included), else None."""
    slope, rest = linear_part(expr, name)
    if symbols(slope) or symbols(rest):
        return None
    gradient_ball = constant(slope)
    result = []
    for end, outward in ((lower, -1), (upper, 1)):
        if end is not None:
            at = substitute(expr, {name: Num(end)})
            result.append(arb(0) if at == ZERO else constant(at))
        elif slope == ZERO:
            result.append(constant(rest))
        elif gradient_ball > 0:
            result.append(arb("inf") * outward)
        elif gradient_ball < 0:
            result.append(arb("-inf") * outward)
        else:
            return None
    return result[0], result[1]


def _side(expr: Expr, name: str, lower: Fraction | None, upper: Fraction | None) -> int | None:
    """1 where expr >= 0 on the whole interval, -1 where <= 0, None where not certain."""
    ends = _ends(expr, name, lower, upper)
    if ends is None:
        return None
    if ends[0] >= 0 and ends[1] >= 0:
        return 1
    if ends[0] <= 0 and ends[1] <= 0:
        return -1
    return None


def _floor_on(expr: Expr, name: str, lower: Fraction | None, upper: Fraction | None) -> int | None:
    """The one integer that floor(expr) is on the open interval, where expr stays between it and the next."""
    slope, rest = linear_part(expr, name)
    if not isinstance(slope, Num) or not isinstance(rest, Num) or lower is None or upper is None:
        return None
    ends = sorted((slope.value * lower + rest.value, slope.value * upper + rest.value))
    step = ends[0].__floor__()
    return step if ends[1] <= step + 1 else None
