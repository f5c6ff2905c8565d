"""Independent coordinates of one density, with the sensitivity in a norm (theory#independent-coordinates).

The exponent of the whole noise is the sum of h(z_i), so that it changes by at most L ||y - y'||_1 where |h'| <= L. A shift within the
sensitivity has at most the l1 length that the unit ball's radius in l1 gives. Laplace noise on the line, moved by L times that length,
dominates (the theorem in `gauge`). Where h is convex, less is needed: min(p, e^epsilon q) is log-concave in the outputs and the shift
together, so that its integral is in the shift (Prekopa), and over a ball of l1 the divergence is greatest at a vertex: one coordinate is
moved by the whole length and the others reveal nothing. From below, a reader may look at one coordinate alone.

Theorem: Independent coordinates of density exp(-h), |h'| <= L, under shifts of l1 length at most D are dominated by Laplace noise on the
line moved by L D scales; where h is convex, by one coordinate alone moved by D. The pair of one coordinate, moved as far as it is for some
two neighbours, is a lower bound.

Checked:
- h is continuous, and its slope is within L everywhere
- the greatest l1 length within the sensitivity, exactly
- the density is integrable, and for the lower bound unimodal
- the sensitivity is at least 0

Source: docs/theory/curves.md#independent-coordinates, Prekopa 1973
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dpverify.trusted.combinators.densities import log_concave
from dpverify.trusted.combinators.exponents import Exponent, exponent
from dpverify.trusted.combinators.runs import Run, reach
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.pairs import Curve, Pair, dominating
from dpverify.trusted.geometry.lengths import l1_radius, largest_in
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.errors import ExprError, Rejected, Undecided
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, div, mul
from dpverify.trusted.kernel.fact import Parameters, Premises
from dpverify.trusted.kernel.model import Mechanism, Product, Translation
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.theories.curves import lipschitz
from dpverify.trusted.theories.curves.rules import line
from dpverify.trusted.theories.curves.unimodal import hints

NAME: Final = "independent-coordinates"
ASSUMED: Final = ("the sampler is ideal",)


def infer(run: Run, parameters: Parameters, _: Premises) -> Curve:
    """The curve of one run.

    parameters: "line", what that rule is told of one coordinate; "slope" and "cuts" as `slopes.told` reads them; "normaliser" as in
    `integrable.require_integrable`; "sensitivity", if given, the certificate of a gauge; "prec". Raises Rejected, Undecided.
    """
    both = curve(settled.additive(run, NAME), reach(run, parameters.get("sensitivity")), parameters, stated=run.part.query is None)
    return settled.noise(run, both, parameters)


def curve(noise: Mechanism, reach: Sensitivity, told: Parameters, stated: bool = False) -> Curve:
    """The curve of independent coordinates. told: the parameters of the line. stated: shifts of this length occur in every direction.

    Raises Rejected where the noise is not of this kind or makes no sense, Undecided where neither bound is found.
    """
    shape = exponent(noise)
    if shape is None or not isinstance(noise, Product):
        raise Rejected(NAME, "the noise", "it is not a product with a positive density and values for all parameters")
    lipschitz.require_sensible(noise, reach, told)
    length, moved = _l1_length(shape, reach), _moved(shape, reach, stated)
    vertex = _one_coordinate(noise, length, told) if length is not None and log_concave(noise) else None
    if vertex is not None and moved == length:
        return Curve(dominating(vertex), vertex, (NAME,), ASSUMED)
    upper = dominating(vertex) if vertex is not None else None if length is None else _dominating(shape, length, told)
    lower = None if moved is None or moved == ZERO else _one_coordinate(noise, moved, told)
    if upper is None and lower is None:
        raise Undecided(f"{NAME}: the slope of the exponent is not certainly bounded, and the profile of one coordinate is not found.")
    return Curve(upper, lower, (NAME,), ASSUMED)


def _l1_length(shape: Exponent, reach: Sensitivity) -> Expr | None:
    """The greatest l1 length of a shift, None where it is too much to find."""
    try:
        return mul(l1_radius(shape.norm, shape.dimension), reach.upper)
    except Undecided:
        return None


def _dominating(shape: Exponent, length: Expr, told: Parameters) -> Pair | None:
    shapes = Shapes("z", False, {})
    try:
        slope = lipschitz.greatest_slope(shapes.tidy(shape.h), shapes, told)
    except (ExprError, Undecided):
        return None
    return None if slope is None else lipschitz.laplacian(mul(slope, length))


def _one_coordinate(noise: Product, length: Expr, told: Parameters) -> Pair | None:
    """The pair of a coordinate that moves by a length, None where its profile is not known."""
    try:
        return line.curve(Translation(noise.density), Sensitivity(length, length), hints(told.get("line", {}), NAME)).lower
    except (Rejected, Undecided, ExprError):
        return None


def _moved(shape: Exponent, reach: Sensitivity, stated: bool) -> Expr | None:
    """How far one coordinate certainly moves between some two neighbours, None where that is not known."""
    if stated and shape.norm.kind == "lp":
        return reach.lower  # an axis has length 1 in every lp norm
    if stated:
        vector, length = largest_in(shape.norm, shape.dimension)
        return mul(div(Num(_largest(vector)), length), reach.lower)
    if reach.at is not None and len(reach.at) == shape.dimension:
        return Num(_largest(reach.at))
    return None


def _largest(vector: tuple[Fraction, ...]) -> Fraction:
    return max(map(abs, vector))
