"""Additive noise as the exact rules read it: h = -log(density) with its shape, the shift, and how coordinates add up.

One-dimensional noise whose density is even is noise of a norm, |z|; so are its restriction to the integers and its independent copies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpverify.trusted.kernel.bounds import Bound, Infinite, Side, sided
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, Expr, Num, Pow, Sym, add, children, div, format_expr, mul, substitute, symbols
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import L1, Claim, Domain, Norm, Product, Radial, Translation, on_integers
from dpverify.trusted.kernel.signs import AT_LEAST_ZERO
from dpverify.trusted.language.logarithms import neg_log_profile
from dpverify.trusted.sensitivity.sensitivity import sensitivity_bounds, whole_part
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.shapes.shape import Shape


@dataclass(frozen=True, slots=True)
class Additive:
    """Noise of density exp(-h), on distances r >= 0 when shapes.half, else on the line.

    shift: the sensitivity over the scale, an upper or a lower bound of it as `side` asks; at: the parameters fixed by the evidence.
    dimension: of the space that h(r) is radial in. copies: independent coordinates, with the budget in `norm`
    (a single one, too: an ellipsoid on the line has its own unit). whole: on the integers.
    queried: the sensitivity comes from a query, whose answers need not move in every direction within it.
    """

    rule: str
    side: Side
    h: Expr
    shape: Shape
    shapes: Shapes
    shift: Expr
    dimension: Expr
    copies: Expr
    norm: Norm
    whole: bool
    queried: bool
    at: Mapping[str, Expr]
    radius: Any

    def concave_total(self, w: Callable[[Expr], Expr]) -> Expr:
        """The tight epsilon from a w that is concave, non-decreasing and 0 at 0."""
        if self.copies == ONE:
            return w(mul(self.longest(), self.shift))
        if self.queried and self.side == "lower":
            raise Rejected(self.rule, "the query", "its answers need not move alike in all coordinates; this bounds from above only")
        from dpverify.trusted.theories.additive.independent import moving_alike

        return moving_alike(self.rule, w, self.shift, self.copies, self.norm)

    def longest(self) -> Expr:
        """The greatest l1-length of a shift of norm 1."""
        if self.copies == ONE and self.norm.kind == "lp":
            return ONE
        from dpverify.trusted.theories.additive import independent

        return independent.longest(self.norm, self.copies, self.radius)

    def integrable(self, h: Expr) -> None:
        """Raises Rejected unless exp(-h) is certainly integrable (summable) at plus infinity."""
        why = f"exp(-h) is not certainly integrable in dimension {format_expr(self.dimension)}"
        require(self.shapes.integrable(h, self.dimension), Rejected(self.rule, "infinity", why))

    def bound(self, value: Expr | Infinite, point: str) -> Bound:
        """The bound, with the name of the point that attains it (or tends to do so) where it is a lower one."""
        if self.side == "upper":
            return Bound("upper", value)
        loss = "unbounded" if isinstance(value, Infinite) else format_expr(value)
        witness = {"pair": {"says": "answers-apart", "apart": format_expr(self.shift)}, "point": {"says": point}, "loss": loss}
        return Bound("lower", value, witness=witness, at=self.at)


def additive(claim: Claim, evidence: Mapping[str, Any], rule: str) -> Additive:
    """The noise of a claim, at the parameters that the evidence fixes.

    evidence: "side" ("upper" by default), "at" for a lower side, "sensitivity" and "radius" for `geometry`. Raises Rejected for
    another kind, a bounded support, or a sensitivity, scale or dimension that is not certainly in order; Undecided for an h whose
    shape is not certain.
    """
    side, claim, at = sided(claim, evidence, rule)
    noise, domains = claim.mechanism, dict(claim.domains)
    if not isinstance(noise, Radial | Translation | Product):
        raise Rejected(rule, "the mechanism", "only radial, translation and product noise is additive")
    everywhere = not isinstance(noise, Translation) or noise.support == (None, None)
    require(everywhere, Rejected(rule, "the support", "noise on part of the line has outputs that one neighbour cannot give"))
    dimension = noise.dimension if isinstance(noise, Radial) else ONE
    copies = noise.dimension if isinstance(noise, Product) else ONE
    scale = noise.scale if isinstance(noise, Radial) else ONE
    shapes = Shapes("r" if isinstance(noise, Radial) else "z", isinstance(noise, Radial), domains)
    bounds = sensitivity_bounds(claim, evidence.get("sensitivity"))
    shift = div(bounds.upper if side == "upper" else bounds.lower, scale)
    not_negative = shapes.sign(shift) <= AT_LEAST_ZERO  # exact
    require(not_negative, Rejected(rule, "the sensitivity", f"{format_expr(shift)} is not certainly at least 0"))
    whole = on_integers(noise)
    shift = whole_part(shift, domains) if whole else shift
    centre = evidence.get("centre") if isinstance(noise, Translation) and not whole else None
    if centre is not None:
        from dpverify.trusted.language.rationals import to_fraction

        centre = to_fraction(centre, rule)
    h, shapes, shape = read(noise, claim.domains, centre)
    norm, radius = noise.norm if isinstance(noise, Product) else L1, evidence.get("radius")
    return Additive(rule, side, h, shape, shapes, shift, dimension, copies, norm, whole, claim.query is not None, at, radius)


@remembered(64)
def read(
    noise: Radial | Translation | Product, domains: tuple[tuple[str, Domain], ...], centre: Fraction | None
) -> tuple[Expr, Shapes, Shape]:
    """h in its simplest form, about `centre` where one is given, with its shape."""
    shapes = Shapes("r" if isinstance(noise, Radial) else "z", isinstance(noise, Radial), dict(domains))
    h = neg_log_profile(noise)
    if centre is not None:
        h = substitute(h, {"z": add(Sym("z"), Num(centre))})  # noise moved by a constant hides as much
    if _divides(h, shapes.name):
        from dpverify.trusted.numbers.quotients import divided

        h = divided(h, shapes.name)
    h, shapes = _half_if_even(shapes.tidy(h), shapes)
    return h, shapes, shapes.shape(h)


def _divides(expr: Expr, name: str) -> bool:
    """Whether something with the symbol stands below a line."""
    below = isinstance(expr, Pow) and isinstance(expr.exponent, Num) and expr.exponent.value < 0 and name in symbols(expr.base)
    return below or any(_divides(part, name) for part in children(expr))


def _half_if_even(h: Expr, shapes: Shapes) -> tuple[Expr, Shapes]:
    """h on [0, inf) where h(-z) and h(z) are the same tree there, else as it is."""
    if shapes.half:
        return h, shapes
    half = Shapes(shapes.name, True, shapes.domains)
    right, left = half.tidy(h), half.tidy(half.mirrored(h))
    return (right, half) if right == left else (h, shapes)
