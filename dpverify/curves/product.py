"""Independent coordinates of one density, with the sensitivity in a norm (THEORY T6).

The exponent of the whole noise is the sum of h(z_i), so that it changes by at most L ||y - y'||_1 where |h'| <= L. A shift within the
sensitivity has at most the l1 length that the unit ball's radius in l1 gives. Laplace noise on the line, moved by L times that length,
dominates (the theorem in `gauge`). From below, a reader may look at one coordinate alone.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dpverify.curves import gauge, line
from dpverify.curves.base import Curve, Pair
from dpverify.curves.exponents import Exponent, exponent
from dpverify.errors import ExprError, Rejected, Undecided
from dpverify.expr import ZERO, Expr, Num, div, mul
from dpverify.geometry import Sensitivity, l1_radius, largest_in
from dpverify.model import Mechanism, Product, Source, Translation
from dpverify.shapes import Shapes

NAME: Final = "independent-coordinates"
STATEMENT: Final = (
    "Independent coordinates of density exp(-h), |h'| <= L, under shifts of l1 length at most D are dominated by Laplace noise on the line "
    "moved by L D scales. The pair of one coordinate, moved as far as it is for some two neighbours, is a lower bound."
)
CHECKED: Final = (
    "h is continuous, and its slope is within L everywhere",
    "the greatest l1 length within the sensitivity, exactly",
    "the density is integrable, and for the lower bound unimodal",
    "the sensitivity is at least 0",
)
ASSUMED: Final = ("the sampler is ideal",)
SOURCE: Final = Source("THEORY", "T6, T11, T17; the theorem is proved in the module of lipschitz-exponent")


def curve(noise: Mechanism, reach: Sensitivity, stated: bool = False) -> Curve:
    """The curve of independent coordinates. stated: shifts of this length occur in every direction.

    Raises Rejected where the noise is not of this kind or makes no sense, Undecided where neither bound is found.
    """
    shape = exponent(noise)
    if shape is None or not isinstance(noise, Product):
        raise Rejected(NAME, "the noise", "it is not a product with a positive density and values for all parameters")
    gauge.require_sensible(noise, reach)
    upper, lower = _dominating(shape, reach), _one_coordinate(noise, shape, reach, stated)
    if upper is None and lower is None:
        raise Undecided(f"{NAME}: the slope of the exponent is not certainly bounded, and the profile of one coordinate is not found.")
    return Curve(upper, lower, (NAME,), ASSUMED)


def _dominating(shape: Exponent, reach: Sensitivity) -> Pair | None:
    shapes = Shapes("z", False, {})
    try:
        slope = gauge.greatest_slope(shapes.tidy(shape.h), shapes)
    except (ExprError, Undecided):
        return None
    return None if slope is None else gauge.laplacian(mul(slope, l1_radius(shape.norm, shape.dimension), reach.upper))


def _one_coordinate(noise: Product, shape: Exponent, reach: Sensitivity, stated: bool) -> Pair | None:
    """The pair of a coordinate as it certainly moves between some two neighbours, None where that or its profile is not known."""
    moved = _moved(shape, reach, stated)
    if moved is None or moved == ZERO:
        return None
    try:
        return line.curve(Translation(noise.density), Sensitivity(moved, moved)).lower
    except (Rejected, Undecided, ExprError):
        return None


def _moved(shape: Exponent, reach: Sensitivity, stated: bool) -> Expr | None:
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
