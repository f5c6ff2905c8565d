"""Expressions on balls: values and two derivatives, by forward differentiation.

A ball is an interval that certainly contains the true value (python-flint's arb). Precision is
flint's global `ctx.prec`; callers set it with `precision`. Nothing here decides anything: callers
accept a comparison only when it is True, so a non-finite ball never passes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from flint import arb, ctx, fmpq

from dpverify.trusted.language.errors import ExprError, Undecided
from dpverify.trusted.language.expr import (
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
    children,
    linear_part,
    mul,
    neg,
    num,
    power,
    rebuild,
    sqrt,
    sub,
    substitute,
    symbols,
)
from dpverify.trusted.numbers.series import is_small_order, order_at_zero, quotient, taylor

MAX_PRECISION: Final = 20_000
MAX_ORDER: Final = 1_000
"""The greatest order of a Bessel function that is evaluated: the recurrence that gets there is as long."""


class precision:
    """Set flint's global precision for a block and restore it. Raises ValueError beyond MAX_PRECISION."""

    __slots__ = ("_before", "_bits")

    def __init__(self, bits: int) -> None:
        if not 32 <= bits <= MAX_PRECISION:
            raise ValueError(f"a precision of {bits} bits; between 32 and {MAX_PRECISION} is allowed.")
        self._bits, self._before = bits, 0

    def __enter__(self) -> None:
        self._before = ctx.prec
        ctx.prec = self._bits

    def __exit__(self, *_: object) -> None:
        ctx.prec = self._before


def rational(value: Fraction | int) -> arb:
    """The ball of an exact rational at the current precision."""
    if isinstance(value, int):
        return arb(value)
    return arb(value.numerator) if value.denominator == 1 else arb(fmpq(value.numerator, value.denominator))


def exact(point: arb) -> Fraction:
    """The rational that an exact ball is. Raises Undecided where that is not finite, or too long to write out."""
    mantissa, exponent = finite(point).man_exp()
    if abs(exponent) > MAX_PRECISION:
        raise Undecided("a number too large or too small to write out.")
    return int(mantissa) * Fraction(2) ** int(exponent)


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


Scalars = tuple[Any, Any, Any]
"""A value with its first and second derivative; the three are scalars of one kind: balls here, germs in `ends`."""
Program = Callable[[Mapping[str, Scalars]], Scalars]


@dataclass(frozen=True, slots=True)
class Jet:
    """A value with its first and second derivative in one variable."""

    v: Any
    d1: Any
    d2: Any


@dataclass(frozen=True, slots=True)
class _Constant:
    """A subtree without symbols, already a scalar."""

    scalar: Any


_TWO: Final = Fraction(2)


class JetCompiler:
    """Turns a tree into a program on jets. Subclasses change the scalar: see `ends`.

    Two forms are kept whole because taking them apart loses their shape on wide cells: the logarithm of a sum of
    exponentials (its slope is a weighted mean, its curvature adds a variance) and sqrt(c + u^2).
    """

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

    def times(self, x: Any, y: Any) -> Any:
        """The product, kept sharp where both are wide."""
        return ball_product(x, y)

    def exp(self, x: Any, source: Expr) -> Any:
        """exp of the scalar x, the value of the tree `source`."""
        return x.exp()

    def log(self, x: Any) -> Any:
        return x.log()

    def hypot_slope(self, c: Any, w: Any) -> Any:
        """w / sqrt(c + w^2), which rises in w, for c > 0."""
        return _on_ends(w, lambda t: t / (c + t * t).sqrt())

    def special(self, name: str, order: Expr | None, x: Any) -> Scalars:
        """A special function and its two derivatives at x."""
        return SPECIAL[name](x) if order is None else _logbesselk(order, x)

    def between(self, left: Any, right: Any) -> Any:
        return left.union(right)

    def undefined(self) -> Any:
        return NAN

    # programs

    def chain(self, f: Any, f1: Any, f2: Any, u: Scalars) -> Scalars:
        """f(u), from f and its two derivatives at the value of u."""
        _, d1, d2 = u
        times = self.times
        return f, times(f1, d1), times(f2, self.power(d1, _TWO)) + times(f1, d2)

    def compile(self, expr: Expr) -> Program:
        """The program of a tree; run it on the jets of its symbols."""
        found = self._node(expr)
        if isinstance(found, _Constant):
            zero = self.zero()
            constant = (found.scalar, zero, zero)
            return lambda env: constant
        return found

    def _node(self, expr: Expr) -> Program | _Constant:
        if isinstance(expr, Sym):
            name = expr.name
            return lambda env: env[name]
        parts = children(expr)
        if isinstance(expr, Num) or not parts:
            return _Constant(self.scalar(expr))
        nodes = [self._node(part) for part in parts]
        if all(isinstance(node, _Constant) for node in nodes):
            return _Constant(self.scalar(expr))
        if isinstance(expr, Add):
            return self._sum(nodes)
        if isinstance(expr, Mul):
            return self._product(nodes)
        if isinstance(expr, Pow):
            return self._pow(expr, nodes)
        assert isinstance(expr, Call)
        return self._call(expr, nodes)

    def _program(self, node: Program | _Constant) -> Program:
        if isinstance(node, _Constant):
            zero = self.zero()
            fixed = (node.scalar, zero, zero)
            return lambda env: fixed
        return node

    def _sum(self, nodes: Sequence[Program | _Constant]) -> Program:
        constants = [node.scalar for node in nodes if isinstance(node, _Constant)]
        first, *rest = [node for node in nodes if not isinstance(node, _Constant)]

        def run(env: Mapping[str, Scalars]) -> Scalars:
            v, d1, d2 = first(env)
            for node in rest:
                w, e1, e2 = node(env)
                v, d1, d2 = v + w, d1 + e1, d2 + e2
            for constant in constants:
                v = v + constant
            return v, d1, d2

        return run

    def _product(self, nodes: Sequence[Program | _Constant]) -> Program:
        constants = [node.scalar for node in nodes if isinstance(node, _Constant)]
        first, *rest = [node for node in nodes if not isinstance(node, _Constant)]
        times = self.times

        def run(env: Mapping[str, Scalars]) -> Scalars:
            v, d1, d2 = first(env)
            for node in rest:
                w, e1, e2 = node(env)
                cross = d1 * e1
                v, d1, d2 = times(v, w), times(d1, w) + times(v, e1), d2 * w + cross + cross + v * e2
            for c in constants:
                v, d1, d2 = c * v, c * d1, c * d2
            return v, d1, d2

        return run

    def _pow(self, expr: Pow, nodes: Sequence[Program | _Constant]) -> Program:
        base = self._program(nodes[0])
        if not isinstance(expr.exponent, Num):
            if isinstance(nodes[1], _Constant):
                return self._exp(self._product([nodes[1], self._log(expr.base, base)]), mul(expr.exponent, call("log", expr.base)))
            logarithm = _Constant(self.log(nodes[0].scalar)) if isinstance(nodes[0], _Constant) else self._log(expr.base, base)
            return self._exp(self._product([nodes[1], logarithm]), mul(expr.exponent, call("log", expr.base)))
        e = expr.exponent.value
        times, power, two = self.times, self.power, _TWO
        if e == 2:

            def square(env: Mapping[str, Scalars]) -> Scalars:
                v, d1, d2 = base(env)
                slope, bend = times(v, d1), power(d1, two) + v * d2
                return power(v, two), slope + slope, bend + bend

            return square
        if e == Fraction(1, 2) and isinstance(expr.base, Add):
            found = self._hypot(expr.base)
            if found is not None:
                return found
        e1, e2 = self.scalar(Num(e)), self.scalar(Num(e * (e - 1)))

        def run(env: Mapping[str, Scalars]) -> Scalars:
            u = base(env)
            return self.chain(power(u[0], e), e1 * power(u[0], e - 1), e2 * power(u[0], e - 2), u)

        return run

    def _hypot(self, base: Add) -> Program | None:
        """sqrt(c + k u^2) with constants c, k > 0, or None where the form is another."""
        squares = [t for t in base.args if symbols(t)]
        rest = add(*(t for t in base.args if not symbols(t)))
        if len(squares) != 1 or rest == Num(Fraction(0)):
            return None
        factors = squares[0].args if isinstance(squares[0], Mul) else (squares[0],)
        powers = [f for f in factors if symbols(f)]
        if len(powers) != 1 or not isinstance(powers[0], Pow) or powers[0].exponent != num(2):
            return None
        k, c = mul(*(f for f in factors if not symbols(f))), self.scalar(rest)
        if not (constant_ball(rest) > 0 and constant_ball(k) > 0):
            return None
        root, inner = self.scalar(sqrt(k)), self._program(self._node(powers[0].base))
        half, cube = Fraction(1, 2), Fraction(-3, 2)

        def run(env: Mapping[str, Scalars]) -> Scalars:
            u, d1, d2 = inner(env)
            w, w1, w2 = root * u, root * d1, root * d2
            inside = c + self.power(w, _TWO)
            slope = self.hypot_slope(c, w)
            return self.power(inside, half), slope * w1, slope * w2 + c * self.power(inside, cube) * (w1 * w1)

        return run

    def _exp(self, inner: Program, source: Expr) -> Program:
        exp = self.exp

        def run(env: Mapping[str, Scalars]) -> Scalars:
            u = inner(env)
            f = exp(u[0], source)
            return self.chain(f, f, f, u)

        return run

    def _log(self, argument: Expr, inner: Program) -> Program:
        weights = self._log_sum(argument) if isinstance(argument, Add) else None
        if weights is not None:
            return weights
        log, power, minus, one = self.log, self.power, self.scalar(num(-1)), Fraction(-1)

        def run(env: Mapping[str, Scalars]) -> Scalars:
            u = inner(env)
            inverse = power(u[0], one)
            return self.chain(log(u[0]), inverse, minus * (inverse * inverse), u)

        return run

    def _log_sum(self, total: Add) -> Program | None:
        """log of a sum of positive multiples of exponentials (a constant counts as one), or None."""
        parts: list[tuple[Expr, Expr]] = []
        for term in total.args:
            factors = term.args if isinstance(term, Mul) else (term,)
            exponentials = [f for f in factors if isinstance(f, Call) and f.name == "exp" and symbols(f)]
            c = mul(*(f for f in factors if f not in exponentials))
            if len(exponentials) > 1 or symbols(c) or not constant_ball(c) > 0:
                return None
            parts.append((c, exponentials[0].args[0] if exponentials else ZERO))
        if len(parts) > 6:
            return None
        programs = [self.compile(u) for _, u in parts]
        shares = [
            self.share([(mul(c, power(d, num(-1))), sub(u, w)) for j, (c, u) in enumerate(parts) if j != i])
            for i, (d, w) in enumerate(parts)
        ]
        first_log = self.compile(add(parts[0][1], call("log", parts[0][0])))
        minus = self.scalar(num(-1))

        def run(env: Mapping[str, Scalars]) -> Scalars:
            jets = [program(env) for program in programs]
            weights, logs = zip(*(share(env) for share in shares), strict=True)
            value = first_log(env)[0] + logs[0]
            d1, d2 = weights[0] * jets[0][1], weights[0] * jets[0][2]
            for w, jet in zip(weights[1:], jets[1:], strict=True):
                d1, d2 = d1 + w * jet[1], d2 + w * jet[2]
            for i, first in enumerate(jets):
                for j in range(i):
                    gap = first[1] + minus * jets[j][1]
                    d2 = d2 + weights[i] * weights[j] * (gap * gap)
            return value, d1, d2

        return run

    def share(self, others: Sequence[tuple[Expr, Expr]]) -> Callable[[Mapping[str, Scalars]], tuple[Any, Any]]:
        """1/(1 + s) and log(1 + s) for s = the sum of c*exp(u), c > 0: from both ends, as exp of a wide ball reaches below 0."""
        parts = [(self.scalar(c), self.compile(u)) for c, u in others]

        def run(env: Mapping[str, Scalars]) -> tuple[Any, Any]:
            balls = [(c, program(env)[0]) for c, program in parts]
            low = sum((c * u.lower().exp() for c, u in balls), arb(1))
            high = sum((c * u.upper().exp() for c, u in balls), arb(1))
            return (1 / high).union(1 / low), low.log().union(high.log())

        return run

    def _call(self, expr: Call, nodes: Sequence[Program | _Constant]) -> Program:
        name = expr.name
        if name in ("min", "max"):
            return self._extreme(name, [self._program(node) for node in nodes])
        if name == "logratio":
            return self._logratio(expr, [self._program(node) for node in nodes])
        inner = self._program(nodes[-1])
        if name == "exp":
            return self._exp(inner, expr.args[0])
        if name == "log":
            return self._log(expr.args[0], inner)
        if name == "abs":
            return self._abs(inner)
        if name in ("besselk", "logbesselk"):
            order = expr.args[0]
            if symbols(order):
                raise Undecided("the order of besselk must not depend on the variable.")
            logarithm = self._special("logbesselk", order, inner)
            return logarithm if name == "logbesselk" else self._exp(logarithm, Call("logbesselk", expr.args))
        return self._special(name, None, inner)

    def _special(self, name: str, order: Expr | None, inner: Program) -> Program:
        def run(env: Mapping[str, Scalars]) -> Scalars:
            u = inner(env)
            return self.chain(*self.special(name, order, u[0]), u)

        return run

    def _logratio(self, expr: Call, programs: Sequence[Program]) -> Program:
        """log(N/r^k): as it stands at narrow balls, by Taylor's theorem on [0, r] at wide ones near 0."""
        above, at, order = expr.args
        k = is_small_order(order)
        plain = isinstance(at, Sym) and symbols(above) == {at.name}
        if k is None or not isinstance(at, Sym) or not plain or order_at_zero(above, at.name, constant_ball) != k:
            raise Undecided("logratio wants an N in one plain variable that vanishes at 0 to the order k.")
        name, log, one = at.name, self.log, Fraction(-1)

        def near(u: Scalars) -> Scalars:
            q = quotient(taylor(above, name, arb(0).union(u[0]), k + 2, constant_ball), k)
            inverse = self.power(q[0], one)
            return self.chain(log(q[0]), q[1] * inverse, q[2] * inverse - self.power(q[1] * inverse, _TWO), u)

        def run(env: Mapping[str, Scalars]) -> Scalars:
            u = env[name]
            if not u[0].lower() > 0:
                return near(u)
            over, under = programs[0](env), programs[1](env)
            if u[0].rel_accuracy_bits() < _WIDE and u[1] == 1:  # N cancels: take it and its slope by the mean value too
                middle, away = u[0].mid(), u[0] - u[0].mid()
                point = programs[0]({**env, name: (middle, u[1], u[2])})
                v = over[0].intersection(point[0] + over[1] * away) if over[1].is_finite() else over[0]
                d1 = over[1].intersection(point[1] + over[2] * away) if over[2].is_finite() else over[1]
                over = (v, d1, over[2])
                if not v > 0:
                    return near(u)
            inverse, reciprocal = self.power(over[0], one), self.power(under[0], one)
            first = self.chain(log(over[0]), inverse, -(inverse * inverse), over)
            second = self.chain(log(under[0]), reciprocal, -(reciprocal * reciprocal), under)
            return first[0] - k * second[0], first[1] - k * second[1], first[2] - k * second[2]

        return run

    def _abs(self, inner: Program) -> Program:
        minus = self.scalar(num(-1))

        def run(env: Mapping[str, Scalars]) -> Scalars:
            u = inner(env)
            if self.positive(u[0]):
                return u
            flipped = (minus * u[0], minus * u[1], minus * u[2])
            if self.negative(u[0]):
                return flipped
            return abs(u[0]), self.between(u[1], flipped[1]), self.undefined()

        return run

    def _extreme(self, name: str, programs: Sequence[Program]) -> Program:
        minus = self.scalar(num(-1))
        keep, drop = (self.negative, self.positive) if name == "min" else (self.positive, self.negative)

        def run(env: Mapping[str, Scalars]) -> Scalars:
            best = programs[0](env)
            for program in programs[1:]:
                other = program(env)
                difference = best[0] + minus * other[0]
                if keep(difference):
                    continue
                if drop(difference):
                    best = other
                    continue
                slope, bend = self.between(best[1], other[1]), self.undefined()
                best = (best[0].min(other[0]) if name == "min" else best[0].max(other[0]), slope, bend)
            return best

        return run


class BallProgram:
    """A tree compiled for balls at the precision of its making, in one variable."""

    __slots__ = ("_name", "_run")

    def __init__(self, expr: Expr, name: str) -> None:
        free = symbols(expr) - {name}
        if free:
            raise ExprError(f"the symbol {min(free)!r} has no value.")
        self._run, self._name = JetCompiler().compile(expr), name

    def __call__(self, at: arb) -> Jet:
        return Jet(*self._run({self._name: (at, arb(1), arb(0))}))


def jet(expr: Expr, name: str, at: arb) -> Jet:
    """Value and two derivatives in the symbol `name` over the ball `at`; every other symbol is an error."""
    return BallProgram(expr, name)(at)


def partials(expr: Expr, values: Mapping[str, arb], direction: Mapping[str, Fraction | int]) -> Jet:
    """Value and two derivatives over a box, along a direction: name to its rate, 0 where absent."""
    free = symbols(expr) - set(values)
    if free:
        raise ExprError(f"the symbol {min(free)!r} has no value.")
    seeds = {name: (ball, rational(direction.get(name, 0)), arb(0)) for name, ball in values.items()}
    return Jet(*JetCompiler().compile(expr)(seeds))


def gradient(expr: Expr, values: Mapping[str, arb]) -> tuple[arb, dict[str, arb]]:
    """The value over a box and the enclosure of each partial derivative."""
    found = {name: partials(expr, values, {name: 1}) for name in values}
    value_ball = next(iter(found.values())).v if found else value(expr, values)
    return value_ball, {name: along.d1 for name, along in found.items()}


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
    if expr.name == "logratio":
        above, below, order = (value(arg, values) for arg in expr.args)
        return above.log() - order * below.log()
    if expr.name in ("besselk", "logbesselk"):
        logarithm = _logbesselk_value(expr.args[0], value(expr.args[1], values))
        return logarithm if expr.name == "logbesselk" else logarithm.exp()
    return _function(expr.name, [value(arg, values) for arg in expr.args])


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
    if name == "logerfc":
        return _on_ends(x, lambda t: t.erfc().log())
    if name == "logexprel":
        return _on_ends(x, lambda t: _logexprel_at(t)[0])
    if name in ("cosh", "sinh", "tanh", "asinh", "atanh", "erf", "erfc", "gamma"):
        result: arb = getattr(x, name)()
        return result
    raise ExprError(f"unknown function {name!r}.")


def ball_power(base: arb, exponent: Fraction) -> arb:
    """base ** exponent for an exact rational exponent; non-finite where the ball leaves the domain."""
    if base.rel_accuracy_bits() < _WIDE and exponent != 1:
        if base > 0:
            return _exact_power(base.lower(), exponent).union(_exact_power(base.upper(), exponent))
        if exponent > 0 and exponent.denominator == 1 and exponent % 2 == 0:
            return _exact_power(base.abs_lower(), exponent).union(_exact_power(base.abs_upper(), exponent))
    return _exact_power(base, exponent)


def ball_product(x: arb, y: arb) -> arb:
    """x * y; of two wide balls by their ends, since a product of midpoints and radii would reach across 0."""
    if x.rel_accuracy_bits() >= 3 or y.rel_accuracy_bits() >= 3:
        return x * y
    low_x, high_x, low_y, high_y = x.lower(), x.upper(), y.lower(), y.upper()
    if low_x >= 0 and low_y >= 0:
        return (low_x * low_y).union(high_x * high_y)
    return (low_x * low_y).union(low_x * high_y).union(high_x * low_y).union(high_x * high_y)


_WIDE: Final = 20  # a ball this wide gains from being taken at its two ends


def _exact_power(base: arb, exponent: Fraction) -> arb:
    if exponent.denominator == 1:
        n = exponent.numerator
        return base**n if n >= 0 else 1 / base ** (-n)
    if exponent < 0:
        return 1 / _exact_power(base, -exponent)
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
    """The image of a ball under a monotone function of exact points, from its two ends."""
    if x.is_exact():
        return monotone(x)
    return monotone(x.lower()).union(monotone(x.upper()))


def besselk_scaled(order: Expr, x: arb) -> tuple[arb, arb]:
    """exp(x) K_v(x) and exp(x) K_(v+1)(x) at an exact point x > 0, to nearly the working precision."""
    if not x.is_finite():
        return NAN, NAN
    mantissa, exponent = x.man_exp()
    return _besselk_pair(order, int(mantissa), int(exponent), ctx.prec)


@lru_cache(maxsize=4096)
def _besselk_pair(order: Expr, mantissa: int, exponent: int, bits: int) -> tuple[arb, arb]:
    x = arb((mantissa, exponent))
    found = (NAN, NAN)
    if not abs(constant(order)) <= MAX_ORDER:
        return found
    # near its turning point the power series loses about 3 x bits before the asymptotic series takes over
    for extra in (32, 32 + 3 * min(int(mantissa).bit_length() + exponent, 12) ** 2, 400, 1600):
        with precision(min(bits + extra, MAX_PRECISION)):
            found = _besselk_at(order, x)
        if min(k.rel_accuracy_bits() for k in found) >= bits:
            break
    return found


def _besselk_at(order: Expr, x: arb) -> tuple[arb, arb]:
    if not isinstance(order, Num) or order.value.denominator != 1:
        return _besselk_between(order, x, 0), _besselk_between(order, x, 1)
    # integer orders from K_0 by the Wronskian I_0 K_1 + I_1 K_0 = 1/x and the recurrence, which is stable upward
    k0 = x.bessel_k(0, scaled=True)
    i0, i1 = x.bessel_i(0, scaled=True), x.bessel_i(1, scaled=True)
    k1 = (1 / x - i1 * k0) / i0
    n = abs(int(order.value))
    low, high = k0, k1
    for m in range(1, n + 1):
        low, high = high, low + 2 * m / x * high
    if order.value >= 0:
        return low, high
    return low, (high - 2 * n / x * low)  # K_(v+1) with v = -n is K_(n-1)


def _besselk_between(order: Expr, x: arb, above: int) -> arb:
    """exp(x) K_v(x), v = order + above no integer, by its asymptotic series or as pi/2 (I_(-v) - I_v) / sin(pi v), which loses 3 x bits."""
    if x > ctx.prec:
        return x.bessel_k(constant(order) + above, scaled=True)
    with precision(min(ctx.prec + 3 * int(x.ceil().unique_fmpz() or 0), MAX_PRECISION)):
        v = constant(order) + above
        return arb.pi() / 2 * (x.bessel_i(-v) - x.bessel_i(v)) / (arb.pi() * v).sin() * x.exp()


def _logbesselk_value(order: Expr, x: arb) -> arb:
    if not x.lower() > 0:
        return NAN
    return _on_ends(x, lambda t: besselk_scaled(order, t)[0].log() - t)


def _logbesselk(order: Expr, x: arb) -> tuple[arb, arb, arb]:
    """log K_v and two derivatives; y = -K'/K falls in x (K is a mixture of exponentials) and obeys a Riccati equation."""
    if not x.lower() > 0:
        return NAN, NAN, NAN
    v = constant(order)

    def ratio(t: arb) -> arb:  # -K'_v = K_(v+1) - (v/t) K_v
        at, above = besselk_scaled(order, t)
        return above / at - v / t

    y = _on_ends(x, ratio)
    return _logbesselk_value(order, x), -y, 1 + v * v / (x * x) + y / x - y * y


def _logerfc(x: arb) -> tuple[arb, arb, arb]:
    """log erfc and two derivatives; the hazard rate 2 exp(-x^2)/(sqrt(pi) erfc(x)) rises in x."""
    hazard = _on_ends(x, lambda t: 2 * (-t * t).exp() / (arb.pi().sqrt() * t.erfc()))
    return _on_ends(x, lambda t: t.erfc().log()), -hazard, -hazard * (hazard - 2 * x)


def _logexprel(x: arb) -> tuple[arb, arb, arb]:
    """log((e^x - 1)/x), its rising derivative 1/(1 - e^-x) - 1/x, and the second, even and falling away from 0."""
    farthest, nearest = x.abs_upper(), x.abs_lower()
    bend = _logexprel_at(farthest)[2].union(_logexprel_at(nearest)[2])
    if x.is_exact():
        return _logexprel_at(x)
    low, high = _logexprel_at(x.lower()), _logexprel_at(x.upper())
    return low[0].union(high[0]), low[1].union(high[1]), bend


def _logexprel_at(x: arb) -> tuple[arb, arb, arb]:
    if x == 0:
        return arb(0), arb(1) / 2, arb(1) / 12
    if not x.is_finite():
        return NAN, NAN, NAN
    mantissa, exponent = x.man_exp()
    lost = max(0, -3 * (int(mantissa).bit_length() + int(exponent)))  # bits that cancel near 0
    if lost + ctx.prec > MAX_PRECISION // 2:
        return NAN, NAN, NAN
    with precision(ctx.prec + lost + 16):
        half = (x / 2).sinh()
        return (x.expm1() / x).log(), -1 / (-x).expm1() - 1 / x, 1 / (x * x) - 1 / (4 * half * half)


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
    "logexprel": _logexprel,
}


# -- kinks -----------------------------------------------------------------------------------------


def without_removable(expr: Expr, name: str) -> Expr:
    """The sum with log(N) written as logratio(N, r, k) + k*log(r) where N vanishes at 0 to the order k. An identity for r > 0."""
    terms: list[Expr] = []
    total = add(expr)
    for term in total.args if isinstance(total, Add) else (total,):
        factors = term.args if isinstance(term, Mul) else (term,)
        logs = [f for f in factors if isinstance(f, Call) and f.name == "log" and isinstance(f.args[0], Add)]
        k = order_at_zero(logs[0].args[0], name, constant) if len(logs) == 1 and symbols(logs[0]) == {name} else 0
        if k == 0:
            terms.append(term)
            continue
        others = mul(*(f for f in factors if f is not logs[0]))
        split = (Call("logratio", (logs[0].args[0], Sym(name), num(k))), mul(num(k), call("log", Sym(name))))
        terms += [mul(others, part) for part in split]
    return add(*terms)


def resolve(expr: Expr, name: str, lower: Fraction | None, upper: Fraction | None) -> Expr:
    """The tree on the open interval (lower, upper), with abs, min and max of monotone and floor of linear arguments decided exactly.

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
    """The limits at both ends (infinities included) of an expression that is linear or otherwise monotone by its form, else None."""
    slope, rest = linear_part(expr, name)
    if symbols(slope) | symbols(rest):
        found = _monotone_ends(expr, name, lower, upper)
        if found is None:
            return None
        left, right = (ball if end is None else _exact_zero(expr, name, end, ball) for end, ball in zip((lower, upper), found, strict=True))
        return left, right
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


def _exact_zero(expr: Expr, name: str, end: Fraction, ball: arb) -> arb:
    """The value at an end: 0 where it folds to 0 exactly, else the ball."""
    try:
        return arb(0) if substitute(expr, {name: Num(end)}) == ZERO else ball
    except ExprError:  # a pole: the ball is its limit
        return ball


def _monotone_ends(expr: Expr, name: str, lower: Fraction | None, upper: Fraction | None) -> tuple[arb, arb] | None:
    """Limits at both ends of monotone functions of each other: multiples and sums with constants, powers, log and exp."""
    if expr == Sym(name):
        return (arb("-inf") if lower is None else rational(lower), arb("inf") if upper is None else rational(upper))
    inside = [part for part in children(expr) if symbols(part)]
    ends = _monotone_ends(inside[0], name, lower, upper) if len(inside) == 1 else None
    if ends is None:
        return None
    others = [part for part in children(expr) if not symbols(part)]
    if isinstance(expr, Add):
        rest = constant(add(*others))
        return ends[0] + rest, ends[1] + rest
    if isinstance(expr, Mul):
        factor = constant(mul(*others))
        return (ends[0] * factor, ends[1] * factor) if factor > 0 or factor < 0 else None
    if isinstance(expr, Call) and expr.name == "exp":
        below, above = (x.exp() if x.is_finite() else x.max(arb(0)) for x in ends)
        return below, above
    if not (ends[0] >= 0 and ends[1] >= 0):
        return None
    if isinstance(expr, Pow) and isinstance(expr.exponent, Num):
        return _power_limit(ends[0], expr.exponent.value), _power_limit(ends[1], expr.exponent.value)
    if isinstance(expr, Call) and expr.name == "log":
        below, above = (arb("-inf") if x == 0 else x.log() if x.is_finite() else x for x in ends)
        return below, above
    return None


def _power_limit(x: arb, exponent: Fraction) -> arb:
    """x ** exponent for x >= 0, with its limits at 0 and at infinity."""
    if x == 0 or not x.is_finite():
        return arb(0) if (x == 0) == (exponent > 0) else arb("inf")
    return ball_power(x, exponent)


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
