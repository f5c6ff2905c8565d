"""Expressions on balls with two derivatives, by forward differentiation.

A program runs on jets of any scalars that know how to add and multiply: balls here, germs in `asymptotics`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from flint import arb

from dpverify.trusted.kernel.balls import NAN, ball_power, constant
from dpverify.trusted.kernel.errors import ExprError, Undecided, require
from dpverify.trusted.kernel.expr import Add, Call, Expr, Mul, Num, Pow, Sym, call, children, mul, num, symbols
from dpverify.trusted.numbers.monotone import on_ends

Scalars = tuple[Any, Any, Any]
"""A value with its first and second derivative; the three are scalars of one kind: balls here, germs in `ends`."""

Program = Callable[[Mapping[str, Scalars]], Scalars]

_TWO: Final = Fraction(2)


@dataclass(frozen=True, slots=True)
class Jet:
    """A value with its first and second derivative in one variable."""

    v: Any
    d1: Any
    d2: Any


@dataclass(frozen=True, slots=True)
class Constant:
    """A subtree without symbols, already a scalar."""

    scalar: Any


class JetCompiler:
    """Turns a tree into a program on jets. Subclasses change the scalar: see `asymptotics`. What is kept whole is in `wholes`."""

    # scalars

    def scalar(self, expr: Expr) -> Any:
        """The scalar of an expression without symbols."""
        return constant(expr)

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
        return on_ends(w, lambda t: t / (c + t * t).sqrt())

    def special(self, name: str, order: Expr | None, x: Any) -> Scalars:
        """A special function and its two derivatives at x."""
        if order is None:
            from dpverify.trusted.numbers.special import JETS

            return JETS[name](x)
        from dpverify.trusted.numbers.bessel import logbesselk_jet

        return logbesselk_jet(order, x)

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
        return self.program(self.node(expr))

    def node(self, expr: Expr) -> Program | Constant:
        """The program of a tree, or its scalar where it has no symbols."""
        if isinstance(expr, Sym):
            name = expr.name
            return lambda env: env[name]
        parts = children(expr)
        if isinstance(expr, Num) or not parts:
            return Constant(self.scalar(expr))
        nodes = [self.node(part) for part in parts]
        if all(isinstance(node, Constant) for node in nodes):
            return Constant(self.scalar(expr))
        if isinstance(expr, Add):
            return self._sum(nodes)
        if isinstance(expr, Mul):
            return self._product(nodes)
        if isinstance(expr, Pow):
            return self._pow(expr, nodes)
        assert isinstance(expr, Call)
        return self._call(expr, nodes)

    def program(self, node: Program | Constant) -> Program:
        """The program of a node that may be constant."""
        if isinstance(node, Constant):
            zero = self.zero()
            fixed = (node.scalar, zero, zero)
            return lambda env: fixed
        return node

    def _sum(self, nodes: Sequence[Program | Constant]) -> Program:
        constants = [node.scalar for node in nodes if isinstance(node, Constant)]
        first, *rest = [node for node in nodes if not isinstance(node, Constant)]

        def run(env: Mapping[str, Scalars]) -> Scalars:
            v, d1, d2 = first(env)
            for node in rest:
                w, e1, e2 = node(env)
                v, d1, d2 = v + w, d1 + e1, d2 + e2
            for c in constants:
                v = v + c
            return v, d1, d2

        return run

    def _product(self, nodes: Sequence[Program | Constant]) -> Program:
        constants = [node.scalar for node in nodes if isinstance(node, Constant)]
        first, *rest = [node for node in nodes if not isinstance(node, Constant)]
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

    def _pow(self, expr: Pow, nodes: Sequence[Program | Constant]) -> Program:
        base = self.program(nodes[0])
        if not isinstance(expr.exponent, Num):
            if isinstance(nodes[1], Constant):
                return self._exp(self._product([nodes[1], self._log(expr.base, base)]), mul(expr.exponent, call("log", expr.base)))
            logarithm = Constant(self.log(nodes[0].scalar)) if isinstance(nodes[0], Constant) else self._log(expr.base, base)
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
            from dpverify.trusted.numbers.wholes import hypot

            found = hypot(self, expr.base)
            if found is not None:
                return found
        e1, e2 = self.scalar(Num(e)), self.scalar(Num(e * (e - 1)))

        def run(env: Mapping[str, Scalars]) -> Scalars:
            u = base(env)
            return self.chain(power(u[0], e), e1 * power(u[0], e - 1), e2 * power(u[0], e - 2), u)

        return run

    def _exp(self, inner: Program, source: Expr) -> Program:
        exp = self.exp

        def run(env: Mapping[str, Scalars]) -> Scalars:
            u = inner(env)
            f = exp(u[0], source)
            return self.chain(f, f, f, u)

        return run

    def _log(self, argument: Expr, inner: Program) -> Program:
        if isinstance(argument, Add) and any(map(_is_exponential, argument.args)):
            from dpverify.trusted.numbers.wholes import log_sum

            whole = log_sum(self, argument)
            if whole is not None:
                return whole
        log, power, minus, one = self.log, self.power, self.scalar(num(-1)), Fraction(-1)

        def run(env: Mapping[str, Scalars]) -> Scalars:
            u = inner(env)
            inverse = power(u[0], one)
            return self.chain(log(u[0]), inverse, minus * (inverse * inverse), u)

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

    def _call(self, expr: Call, nodes: Sequence[Program | Constant]) -> Program:
        name = expr.name
        if name in ("min", "max"):
            return self._extreme(name, [self.program(node) for node in nodes])
        if name == "logratio":
            from dpverify.trusted.numbers.series import log_of_quotient

            return log_of_quotient(self, expr, [self.program(node) for node in nodes])
        inner = self.program(nodes[-1])
        if name == "exp":
            return self._exp(inner, expr.args[0])
        if name == "log":
            return self._log(expr.args[0], inner)
        if name == "abs":
            return self._abs(inner)
        if name in ("besselk", "logbesselk"):
            order = expr.args[0]
            require(not symbols(order), Undecided("the order of besselk must not depend on the variable."))
            logarithm = self._special("logbesselk", order, inner)
            return logarithm if name == "logbesselk" else self._exp(logarithm, Call("logbesselk", expr.args))
        return self._special(name, None, inner)

    def _special(self, name: str, order: Expr | None, inner: Program) -> Program:
        def run(env: Mapping[str, Scalars]) -> Scalars:
            u = inner(env)
            return self.chain(*self.special(name, order, u[0]), u)

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


def _is_exponential(term: Expr) -> bool:
    """Whether a term is a multiple of an exponential that is not constant."""
    factors = term.args if isinstance(term, Mul) else (term,)
    return any(isinstance(factor, Call) and factor.name == "exp" and symbols(factor) for factor in factors)


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


def ball_product(x: arb, y: arb) -> arb:
    """x * y; of two wide balls by their ends, since a product of midpoints and radii would reach across 0."""
    if x.rel_accuracy_bits() >= 3 or y.rel_accuracy_bits() >= 3:
        return x * y
    low_x, high_x, low_y, high_y = x.lower(), x.upper(), y.lower(), y.upper()
    if low_x >= 0 and low_y >= 0:
        return (low_x * low_y).union(high_x * high_y)
    return (low_x * low_y).union(low_x * high_y).union(high_x * low_y).union(high_x * high_y)
