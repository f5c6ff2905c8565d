"""A density between its kinks and singular points."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import Final

from flint import arb

from dpverify.trusted.kernel.balls import hull, value
from dpverify.trusted.kernel.expr import ONE, ZERO, Add, Call, Expr, Mul, Num, Pow, Sym, add, call, mul, num, power, rebuild, sub
from dpverify.trusted.language.calls import calls, subtrees
from dpverify.trusted.language.linear import linear_part
from dpverify.trusted.numbers.kinks import resolve
from dpverify.trusted.numbers.periods import quasi_period, step_period

_MOST_STEPS: Final = 2_000


def breaks(expr: Expr, name: str, lower: Fraction | None = None, upper: Fraction | None = None) -> set[Fraction]:
    """The rational points where an argument of abs, min, max, log or a power that is linear in `name` vanishes, or that of a floor steps.

    Steps are the first few about 0, and all between lower and upper where these are given and not too far apart.
    """
    found: set[Fraction] = set()
    for part in subtrees(expr):
        if isinstance(part, Call) and part.name in ("abs", "log", "besselk", "logbesselk"):
            arguments = [part.args[-1]]
        elif isinstance(part, Call) and part.name in ("min", "max"):
            arguments = [sub(left, right) for i, left in enumerate(part.args) for right in part.args[:i]]
        elif isinstance(part, Call) and part.name == "floor":
            arguments = [sub(part.args[0], num(n)) for n in _levels(part.args[0], name, lower, upper)]
        elif isinstance(part, Pow):
            whole = isinstance(part.exponent, Num) and part.exponent.value.denominator == 1 and part.exponent.value > 0
            arguments = [] if whole else [part.base]
        else:
            continue
        for argument in arguments:
            slope, rest = linear_part(argument, name)
            if isinstance(slope, Num) and isinstance(rest, Num) and slope != ZERO:
                found.add(-rest.value / slope.value)
            found |= _quadratic_roots(argument, name)
    return found


def _levels(argument: Expr, name: str, lower: Fraction | None, upper: Fraction | None) -> range:
    """The integers at which the floor of an argument steps."""
    slope, rest = linear_part(argument, name)
    if lower is None or upper is None or not isinstance(slope, Num) or not isinstance(rest, Num):
        return range(-8, 9)
    low, high = sorted((slope.value * lower + rest.value, slope.value * upper + rest.value))
    return range(low.__ceil__(), high.__floor__() + 1) if high - low <= _MOST_STEPS else range(-8, 9)


def _quadratic_roots(expr: Expr, name: str) -> set[Fraction]:
    """The rational roots of c * name^2 + e, the form of a ball's edge."""
    square = power(Sym(name), num(2))
    slope, rest = linear_part(_replace(expr, square, Sym("z^2")), "z^2")
    if not isinstance(slope, Num) or not isinstance(rest, Num) or slope == ZERO or rest.value / slope.value > 0:
        return set()
    root = power(Num(-rest.value / slope.value), Num(Fraction(1, 2)))
    return {root.value, -root.value} if isinstance(root, Num) else set()


def _replace(expr: Expr, old: Expr, new: Expr) -> Expr:
    terms = [
        new if term == old else mul(*(new if f == old else f for f in term.args)) if isinstance(term, Mul) else term
        for term in (expr.args if isinstance(expr, Add) else (expr,))
    ]
    return add(*terms)


@dataclass(frozen=True, slots=True)
class Piece:
    """A density without kinks on an open interval; None is an infinite end."""

    density: Expr
    name: str
    lower: Fraction | None
    upper: Fraction | None


def pieces(density: Expr, name: str, lower: Fraction | None, upper: Fraction | None) -> list[Piece]:
    """The pieces of a density between its breaks, those where it is identically zero left out."""
    density = resolve(_without_floors(density, name, lower, upper), name, lower, upper)
    if density == ZERO:
        return []
    if calls(density, "floor"):
        from dpverify.trusted.numbers.steps import first_period

        first = first_period(density, name, lower, upper)
        if first is not None:
            return pieces(*first)
    inside = sorted(p for p in breaks(density, name, lower, upper) if (lower is None or lower < p) and (upper is None or p < upper))
    if lower is None and upper is None and not inside:
        inside = [Fraction(0)]
    if not inside:
        return [Piece(density, name, lower, upper)]
    return [piece for left, right in pairwise([lower, *inside, upper]) for piece in pieces(density, name, left, right)]


def _without_floors(expr: Expr, name: str, lower: Fraction | None, upper: Fraction | None) -> Expr:
    """floor(u) in min and max decided by u - 1 <= floor(u) <= u, where that decides it on an open interval."""
    done = rebuild(expr, lambda part: _without_floors(part, name, lower, upper))
    if not (isinstance(done, Call) and done.name in ("min", "max") and len(done.args) == 2):
        return done
    floors = [part for part in done.args if isinstance(part, Call) and part.name == "floor"]
    if len(floors) != 1:
        return done
    other = done.args[1] if floors[0] is done.args[0] else done.args[0]
    u = floors[0].args[0]
    decided = {resolve(call(done.name, other, bound), name, lower, upper) == other for bound in (u, sub(u, ONE))}
    return other if decided == {True} else done


def without_floors(expr: Expr, name: str) -> tuple[Expr, dict[str, arb]]:
    """The tree without floors that depend on `name`, and what symbols in it stand for at every point: values in these balls.

    What repeats as a whole is a symbol, in the range that it has over a period; another floor(u) is u - f, f in [0, 1].
    """
    found: dict[Expr, tuple[str, arb]] = {}

    def share(part: Expr, ball: arb) -> Sym:
        return Sym(found.setdefault(part, (f"share{len(found)}>0", ball))[0])  # no claim can name a symbol so

    def replaced(part: Expr) -> Expr:
        length = step_period(part, name)
        if length is None:
            return part
        if quasi_period(part, name, length) == ZERO:
            cuts = sorted({Fraction(0), length, *(cut for cut in breaks(part, name, Fraction(0), length) if 0 < cut < length)})
            cells = (value(resolve(part, name, low, high), {name: hull(low, high)}) for low, high in pairwise(cuts))
            return share(part, reduce(arb.union, cells))
        if isinstance(part, Call) and part.name == "floor":
            return sub(replaced(part.args[0]), share(part, hull(Fraction(0), Fraction(1))))
        return rebuild(part, replaced)

    return replaced(expr), dict(found.values())
