"""How fast a loss may rise on a part of its region: slopes in directions, and where it is concave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from flint import arb, ctx

from dpverify.trusted.geometry.polytopes import Polytope, minus
from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import Add, Call, Expr, Num, add, mul, neg, scaled, substitute
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import Vector
from dpverify.trusted.language.derivatives import derivative
from dpverify.trusted.language.rationals import to_fraction
from dpverify.trusted.numbers.jets import Jet, JetCompiler, Program
from dpverify.trusted.theories.finite.densities import NAMES, balls

RULE: Final = "kernel-box"


def spot(point: Vector) -> Polytope:
    """A single point as a polytope."""
    return Polytope((point,), ())


def vector(node: Any) -> Vector:
    """A vector of three exact rationals from its text."""
    if not isinstance(node, list | tuple) or len(node) != len(NAMES):
        raise CertificateError(f"{RULE}: {str(node)[:60]!r} is not a vector of three numbers.")
    return tuple(to_fraction(x, RULE) for x in node)


def at(loss: Expr, point: Vector) -> Expr:
    """The loss at a point, as a constant expression."""
    return substitute(loss, {name: Num(x) for name, x in zip(NAMES, point, strict=True)})


@remembered(256)
def _program(loss: Expr, prec: int) -> Program:
    """The loss compiled for balls at the current precision, which is `prec`."""
    return JetCompiler().compile(loss)


def directional(part: Polytope, loss: Expr, direction: Vector) -> Jet:
    """The loss and its two derivatives along a direction over the part's box; at a kink every slope between those of its sides."""
    seeds = {name: (ball, rational(x), arb(0)) for (name, ball), x in zip(balls(part).items(), direction, strict=True)}
    return Jet(*_program(loss, ctx.prec)(seeds))


def slopes_over(part: Polytope, loss: Expr) -> tuple[arb, ...]:
    """The partial derivatives of the loss over the part's box."""
    program, seeds = _program(loss, ctx.prec), balls(part)
    slopes = []
    for axis in NAMES:
        slopes.append(program({name: (ball, arb(int(name == axis)), arb(0)) for name, ball in seeds.items()})[1])
    return tuple(slopes)


def along(slopes: Sequence[arb], direction: Vector) -> arb:
    """The derivative along a direction from the partial ones."""
    return sum((s * rational(x) for s, x in zip(slopes, direction, strict=True) if x != 0), arb(0))


def slide(part: Polytope, slopes: Sequence[arb], direction: Vector) -> list[Polytope] | None:
    """The faces that hold the maximum where, by the slopes over the part, the loss never falls along the direction, else None."""
    if not any(direction) or not along(slopes, direction) >= 0 or not part.spans(direction):
        return None
    return part.towards(direction)


def under(loss: Expr, term: int, choice: int) -> Expr:
    """A loss that is nowhere less: in one term of the sum, -max(u, v) is u or v with its sign, min(u, v) likewise; abs(u) = max(u, -u)."""
    terms: list[Expr] = list(loss.args) if isinstance(loss, Add) else [loss]
    c, kink = scaled(terms[term])
    if not isinstance(kink, Call) or kink.name not in (("abs", "max") if c < 0 else ("min",)):
        raise Rejected(RULE, "under", "the term has no kink that may be replaced")
    choices = (kink.args[0], neg(kink.args[0])) if kink.name == "abs" else kink.args
    terms[term] = mul(Num(c), choices[choice])
    return add(*terms)


def concave(part: Polytope, loss: Expr) -> bool:
    """Whether the loss is certainly concave along a part of at most two dimensions."""
    basis = directions(part)
    if not basis:
        return True
    first = directional(part, loss, basis[0]).d2
    if len(basis) == 1:
        return bool(first <= 0)
    if len(basis) > 2:
        return False
    second = directional(part, loss, basis[1]).d2
    both = tuple(a + b for a, b in zip(*basis, strict=True))
    mixed = (directional(part, loss, both).d2 - first - second) / 2
    return bool(first <= 0 and second <= 0 and first * second - mixed * mixed >= 0)


def directions(part: Polytope) -> list[Vector]:
    """Independent differences of vertices that span the part."""
    basis: list[Vector] = []
    reduced: list[Vector] = []
    for v in part.vertices:
        step = rest = minus(v, part.vertices[0])
        for other in reduced:
            pivot = next(i for i, x in enumerate(other) if x != 0)
            rest = minus(rest, tuple(x * rest[pivot] / other[pivot] for x in other))
        if any(rest):
            basis.append(step)
            reduced.append(rest)
    return basis


def slope(loss: Expr, point: Vector, direction: Vector) -> Expr:
    """The derivative along a direction at a point, as a constant expression. Raises Rejected where a function has no rule."""
    partials = [mul(derivative(loss, name), Num(x)) for name, x in zip(NAMES, direction, strict=True) if x != 0]
    return at(add(*partials), point)


def where(part: Polytope) -> str:
    """A part by the ranges of its coordinates."""
    return ", ".join(f"{name} in [{low}, {high}]" for name, (low, high) in zip(("y", "theta", "theta'"), part.box, strict=True))
