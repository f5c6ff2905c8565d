"""Uniform noise on a ball: no epsilon helps, delta is the share of one ball that lies outside the other.

With D the distance of the centres and R the radius, the two balls of volume V share two caps of height R - D/2 each: at every epsilon
S is the one ball without the other, P(S) = H = 1 - (their volume)/V, and Q(S) = 0. P(S) rises with D, so the pair at full distance
is the worst.

Theorem: For noise that is uniform on a ball of a Euclidean norm, delta is at every epsilon the share of the ball that lies outside the ball
round the other answer, at the full sensitivity.

Checked:
- the norm is l2 or an ellipsoid's, the dimension an integer of at least 2, the scale positive, the sensitivity at least 0
- the profile is one positive constant up to a radius and zero beyond

Source: docs/theory/curves.md#uniform-ball
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from flint import acb, arb

from dpverify.trusted.combinators.runs import Run, reach
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import accurately
from dpverify.trusted.facts.pairs import Curve, Pair
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.balls import constant, rational
from dpverify.trusted.kernel.compare import sign
from dpverify.trusted.kernel.errors import ExprError, Rejected, Undecided
from dpverify.trusted.kernel.expr import Expr, format_expr, symbols
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Radial
from dpverify.trusted.numbers.pieces import pieces
from dpverify.trusted.theories.curves.rules.radial_caps import euclidean_dimension, scaled_shift
from dpverify.trusted.theories.curves.volumes import Cap

NAME: Final = "uniform-ball"
ASSUMED: Final = ("the sampler is ideal",)


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run. parameters: "sensitivity", if given, the certificate of a gauge; "prec". Raises Rejected, Undecided."""
    noise = settled.additive(run, NAME)
    if not isinstance(noise, Radial):
        raise Rejected(NAME, "the mechanism", "it is about radial noise")
    return settled.noise(run, curve(noise, reach(run, parameters.get("sensitivity"))), parameters)


def curve(noise: Radial, reach: Sensitivity) -> Curve:
    """The curve of uniform noise on a ball; exact where reach is. Raises Rejected as `spherical_caps`, Undecided for other profiles."""
    dimension, radius = euclidean_dimension(noise), _radius(noise)
    return settled.between(reach.upper, reach.lower, lambda moved: _pair(dimension, radius, scaled_shift(noise, moved)), NAME, ASSUMED)


def _radius(noise: Radial) -> Fraction:
    try:
        parts = pieces(noise.profile, "r", Fraction(0), None)
        flat = len(parts) == 1 and parts[0].lower == 0 and not symbols(parts[0].density)
        if flat and parts[0].upper is not None and sign(parts[0].density) == 1:
            return parts[0].upper
    except ExprError as error:
        raise Undecided(f"the pieces of the profile {format_expr(noise.profile)}: {error}") from error
    raise Undecided(f"the profile {format_expr(noise.profile)} is not certainly a positive constant up to a radius and zero beyond.")


def _pair(dimension: int, radius: Fraction, shift: Expr) -> Pair:
    def outside() -> arb:
        """The share of a ball outside the other."""
        left = 1 - constant(shift) / rational(2 * radius)
        if left <= 0:
            return arb(1)
        cap, x = Cap(dimension + 1), acb(left / 2)
        share = 2 * (cap.power(x, False) * cap.factor(x, False)).real / cap.full
        return (1 - share).max(arb(0)).min(arb(1))

    def rest() -> arb:
        return accurately(outside)

    def profile(_: arb) -> arb:
        return rest()

    return Pair(profile, profile, rests=(rest, rest))
