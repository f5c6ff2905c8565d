"""abs, min, max and floor decided on an interval, where the form of their arguments shows the side."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from dpverify.trusted.kernel.balls import ball_power, constant, rational
from dpverify.trusted.kernel.errors import ExprError
from dpverify.trusted.kernel.expr import Add, Call, Expr, Mul, Num, Pow, Sym, add, call, children, mul, num, rebuild, substitute, symbols
from dpverify.trusted.language.linear import linear_part


def resolve(expr: Expr, name: str, lower: Fraction | None, upper: Fraction | None) -> Expr:
    """The tree on the open interval (lower, upper), with abs, min and max of monotone and floor of linear arguments decided exactly.

    None is an infinite end. A kink whose side is not certain at both ends stays as it is.
    """
    if not symbols(expr):
        return expr
    parts = children(expr)
    found = [resolve(part, name, lower, upper) for part in parts]
    unchanged = all(after is before for after, before in zip(found, parts, strict=True))
    following = iter(found)
    done = expr if unchanged else rebuild(expr, lambda _: next(following))
    if not isinstance(done, Call):
        return done
    if done.name == "abs":
        side = _side(done.args[0], name, lower, upper)
        return done if side is None else done.args[0] if side > 0 else mul(num(-1), done.args[0])
    if done.name in ("min", "max"):
        best = done.args[0]
        for i, other in enumerate(done.args[1:], start=1):
            side = _side(add(best, mul(num(-1), other)), name, lower, upper)
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
    plain = expr if symbols(slope) | symbols(rest) else add(mul(slope, Sym(name)), rest)
    found = _monotone_ends(plain, name, lower, upper)
    if found is None:
        return None
    left, right = (ball if end is None else _exact_zero(expr, name, end, ball) for end, ball in zip((lower, upper), found, strict=True))
    return left, right


def _exact_zero(expr: Expr, name: str, end: Fraction, ball: arb) -> arb:
    """The value at an end: 0 where it folds to 0 exactly, else the ball."""
    try:
        return arb(0) if substitute(expr, {name: Num(end)}) == num(0) else ball
    except ExprError:  # a pole: the ball is its limit
        return ball


def _monotone_ends(expr: Expr, name: str, lower: Fraction | None, upper: Fraction | None) -> tuple[arb, arb] | None:
    """Limits at both ends of monotone functions of each other: multiples and sums with constants, powers, log and exp."""
    if not symbols(expr):
        return constant(expr), constant(expr)
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
