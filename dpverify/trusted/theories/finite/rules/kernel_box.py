"""One-parameter kernels: an upper bound on the loss over outputs and pairs of inputs, by a tree of exact cuts.

Theorem: For densities p(y; theta) on an interval the tight epsilon is the supremum of log p(y; theta) - log p(y; theta') over outputs y and
inputs at most the sensitivity apart: a polytope of dimension three. It is cut into parts, and each part is bounded by its slopes from a
corner, by a tangent plane where the loss is concave, by its finitely many values, by the faces that a direction of certain increase leads
to, or by a loss that is greater: -abs(u) is at most u, and -u.

Checked:
- the density is non-negative and integrates to 1 for every input, where no assumption says otherwise
- the parts cover the region
- the loss is at most the value on every part
- past the reach of an infinite output the loss, in a coordinate that goes to 0, is at most the value on every part

Source: docs/theory/finite.md#kernel-box
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flint import arb

from dpverify.trusted.geometry.polytopes import Polytope, minus
from dpverify.trusted.kernel import compare
from dpverify.trusted.kernel.balls import constant, value
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import CertificateError, Rejected, certify
from dpverify.trusted.kernel.expr import ZERO, Expr
from dpverify.trusted.kernel.model import Claim, Vector
from dpverify.trusted.language.rationals import to_constant, to_fraction
from dpverify.trusted.theories.finite.densities import balls, constants, has_floor, has_kinks, losses, resolve
from dpverify.trusted.theories.finite.far_outputs import far
from dpverify.trusted.theories.finite.normaliser import check_normaliser
from dpverify.trusted.theories.finite.part_slopes import along, at, concave, slide, slope, slopes_over, spot, under, vector, where

NAME: Final = "kernel-box"
ASSUMED: Final = ("the sampler is ideal",)

MAX_DEPTH: Final = 90


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """tight <= value, a constant expression.

    evidence: "value"; "tree" of nodes ["cut", normal, offset, tree below, tree above], ["slide", direction, [a tree for each face]],
    ["under", number of a term, of a choice, tree], ["corner", index of a vertex], ["tangent", point], ["values"]; "reach", rational ends
    in the place of infinite ones, and "tails", for each of these [rate, tree], the coordinate beyond it and a tree in that; "normaliser" as
    in `normaliser`. Raises Rejected.
    """
    target = to_constant(evidence.get("value"), "value", NAME)
    reach = tuple(to_fraction(end, NAME) for end in evidence.get("reach", ("0", "1")))
    certify(len(reach) == 2, f"{NAME}: 'reach' is not a pair.")
    space = losses(claim, (reach[0], reach[1]))
    assumed = check_normaliser(claim, evidence.get("normaliser"))
    for ray, (rate, tree) in zip(space.rays, evidence.get("tails", ()), strict=True):
        loss, region = far(space, ray, to_fraction(rate, NAME))
        Tree(target).walk(tree, region, loss, 0)
    Tree(target).walk(evidence["tree"], space.region, space.loss, 0)
    return Bound("upper", target, assumed=assumed)


class Tree:
    """Walks a tree of cuts and accepts it where every leaf is certainly at most the target."""

    def __init__(self, target: Expr) -> None:
        self.target = target
        self.ball = constant(target)

    def walk(self, node: Any, part: Polytope, loss: Expr, depth: int) -> None:
        """Raises Rejected where the loss is not certainly at most the target on the part."""
        if depth > MAX_DEPTH:
            raise Rejected(NAME, where(part), f"the tree is more than {MAX_DEPTH} deep")
        if not isinstance(node, list | tuple) or not node:
            raise CertificateError(f"{NAME}: {str(node)[:60]!r} is not a node of a tree.")
        kind, *rest = node
        loss = resolve(loss, part) if has_kinks(loss) else loss
        if kind == "cut":
            normal, offset, low, high = rest
            normal, offset = vector(normal), to_fraction(offset, NAME)
            for tree, n, c in ((low, normal, offset), (high, tuple(-x for x in normal), -offset)):
                piece = part.below(n, c)
                if piece is not None:
                    self.walk(tree, piece, loss, depth + 1)
        elif kind == "slide":
            way, trees = rest
            direction = vector(way)
            faces = None if has_floor(loss) else slide(part, slopes_over(part, loss), direction)
            if faces is None:
                raise Rejected(NAME, where(part), "the loss does not certainly rise along the direction")
            for tree, face in zip(trees, faces, strict=True):
                self.walk(tree, face, loss, depth + 1)
        elif kind == "under":
            term, choice, tree = rest
            self.walk(tree, part, under(loss, int(term), int(choice)), depth + 1)
        elif not self.leaf(node, part, loss):
            raise Rejected(NAME, where(part), "the loss is not certainly below the value here; cut the part")

    def leaf(self, node: Sequence[Any], part: Polytope, loss: Expr) -> bool:
        """Whether the loss, resolved on the part, is certainly at most the target by the leaf's argument."""
        kind, *rest = node
        if kind == "corner":
            return self.corner(part, loss, int(*rest))
        if kind == "tangent":
            return self.tangent(part, loss, vector(*rest))
        if kind == "values":
            values = constants(loss, balls(part))
            return values is not None and all(map(self.at_most, values))
        raise CertificateError(f"{NAME}: {kind!r} is not a kind of node.")

    def corner(self, part: Polytope, loss: Expr, index: int) -> bool:
        """The mean-value bound from a vertex: loss(v) plus the greatest slope towards another vertex."""
        if has_floor(loss):
            # no slopes: the range of the loss over the box itself
            return bool(value(loss, balls(part)) <= self.ball)
        start = part.vertices[index]
        slopes = slopes_over(part, loss)
        steps = [along(slopes, minus(v, start)) for v in part.vertices]
        return self.rises_to(loss, start, steps)

    def tangent(self, part: Polytope, loss: Expr, point: Vector) -> bool:
        """The tangent plane at a point of the part's box, where the loss is certainly concave along the part."""
        inside = all(low <= x <= high for x, (low, high) in zip(point, part.box, strict=True))
        if not inside or not part.spans(minus(point, part.vertices[0])):
            raise CertificateError(f"{NAME}: the point of tangency is not in the part's box and affine hull.")
        if has_kinks(loss) or not concave(part, loss):
            return False
        slopes = slopes_over(spot(point), loss)
        steps = []
        for v in part.vertices:
            way = minus(v, point)
            step = along(slopes, way)
            # a slope that is exactly zero or less has no enclosure that says so
            settled = not step <= 0 and not step > 0 and compare.certainly_le(slope(loss, point, way), ZERO)
            steps.append(arb(0) if settled else step)
        return self.rises_to(loss, point, steps)

    def rises_to(self, loss: Expr, start: Vector, steps: Sequence[arb]) -> bool:
        """Whether loss(start) plus the greatest of 0 and the steps is at most the target: by balls, exactly where nothing rises."""
        most = arb(0)
        for step in steps:
            most = most.max(step)
        ball = value(loss, balls(spot(start)))
        if ball + most <= self.ball:
            return True
        return bool(most <= 0 and ball.overlaps(self.ball)) and self.at_most(at(loss, start))

    def at_most(self, value_there: Expr) -> bool:
        """Whether a constant is certainly at most the target."""
        return value_there == self.target or constant(value_there) <= self.ball or compare.certainly_le(value_there, self.target)
