"""Noise of a falling profile in a Euclidean norm: its exact privacy curve, as one integral of volumes of lunes.

The pair is p = c g(|y|) and q = c g(|y - D e|); h = -log g, rho = e^epsilon. The points with rho q < u < p are the ball of radius r
round one centre, g(r) = u, without the ball of radius s round the other, h(s) = h(r) + epsilon. Hence (layer cake)

    H(epsilon) = integral of (p - rho q)_+ = c * integral over r of -g'(r) Vol(B(0, r) minus B(D e, s(r))),

where nothing cancels. The two spheres meet in the edge of the cap of theory#radial-caps. The lune is the whole ball where r + s <= D, and
empty where s >= r + D, that is, where the loss l(r) = h(r + D) - h(r) is at most epsilon. With m = (d + 1)/2 and the incomplete
beta function C(x) = x^m F(m, 1 - m; m + 1; x), and up to one constant, the lune is

    r^d C((r + D - s)(r + D + s)/(4 r D)) - s^d C((r + D - s)(r + s - D)/(4 s D)).

It is singular only in the powers (r + D - s)^m and (r + s - D)^m at the two kinds of ends. There r = end + k (cosh u - 1) leaves
powers of sinh(u/2), and it turns algebraic tails into exponential ones. What lies beyond the last r is enclosed by its mass.

Multivariate t noise needs no such integral: its loss has a density in closed form, see `t_noise` and `student`.

H never falls with D: its derivative is rho * integral over {y : p(y + D e) > rho p(y)} of the slope of p along e, and there
|y + D e| < |y|, so by convexity the norm falls along e at y, and p rises. So the pair at full distance is the worst.

Theorem: For noise of a positive, non-increasing profile g of a Euclidean norm in dimension at least 2, the pair of outputs at the full
sensitivity dominates every other, and its hockey-stick divergence is the integral over r of -g'(r) times the volume of the ball of radius r
without the ball of radius s round the other answer, g(s) = e^-epsilon g(r).

Checked:
- the norm is l2 or an ellipsoid's, the dimension an integer of at least 2, the scale positive, the sensitivity at least 0
- the profile is positive and does not rise
- where the loss along the axis exceeds epsilon, from its monotone pieces
- the density is integrable, and the mass beyond the last radius is enclosed

Source: docs/theory/curves.md#radial-caps
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from flint import arb, ctx

from dpverify.trusted.combinators.runs import Run, reach
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import accurately, divergence, kept
from dpverify.trusted.facts.pairs import ALIKE, Curve, Pair, Profile, symmetric
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.errors import ExprError, Rejected, Undecided, require
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, div, format_expr, num, substitute, symbols
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import L2, Radial
from dpverify.trusted.kernel.signs import AT_LEAST_ZERO, NULL, POSITIVE
from dpverify.trusted.language.derivatives import derivative
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.rationals import to_fraction
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.numbers.quotients import divided
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.theories.curves.rules import student_t as t_noise

NAME: Final = "radial-caps"
ASSUMED: Final = ("the sampler is ideal",)

MAX_DIMENSION: Final = 1_000
_SHAPES: Final = Shapes("r", True, {})


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run.

    parameters: "cuts", where the loss along the axis is neither rising nor falling, as
    `crossings.Loss` wants them; "sensitivity", if given, the certificate of a gauge; "prec". Raises Rejected, Undecided.
    """
    noise = settled.additive(run, NAME)
    if not isinstance(noise, Radial):
        raise Rejected(NAME, "the mechanism", "it is about radial noise")
    return settled.noise(run, curve(noise, reach(run, parameters.get("sensitivity")), cuts(parameters)), parameters)


def cuts(parameters: Mapping[str, Any]) -> tuple[Fraction, ...]:
    """The rationals under "cuts". Raises CertificateError."""
    return tuple(to_fraction(cut, NAME) for cut in parameters.get("cuts", ()))


def curve(noise: Radial, reach: Sensitivity, cuts: tuple[Fraction, ...] = ()) -> Curve:
    """The curve of radial noise whose answers move by at most `reach`, in its norm and before its scale; exact where reach is.

    Raises Rejected for another norm, dimension, scale or sensitivity than the theorem takes, Undecided where the profile is not
    certainly positive and falling, or of a form whose integrals are not covered.
    """
    dimension = euclidean_dimension(noise)
    h = _falling(noise.profile)
    name = NAME if t_noise.law_of(h, dimension, _SHAPES) is None else t_noise.NAME
    return settled.between(reach.upper, reach.lower, lambda moved: _pair(noise, h, dimension, moved, cuts), name, ASSUMED)


def euclidean_dimension(noise: Radial) -> int:
    """The dimension of noise in a norm that is Euclidean after a linear map. Raises Rejected for other noise, or on a line."""
    d = noise.dimension
    if not (isinstance(d, Num) and d.value.denominator == 1 and 2 <= d.value <= MAX_DIMENSION):
        raise Rejected(NAME, "the dimension", f"{format_expr(d)} is not an integer from 2 to {MAX_DIMENSION}; give it a value")
    dimension = int(d.value)
    if noise.norm != L2 and noise.norm.kind != "ellipsoid":
        raise Rejected(NAME, "the norm", "only l2 and ellipsoid norms are round after a linear map")
    return dimension


def _falling(profile: Expr) -> Expr:
    """h = -log(profile), certainly finite and non-decreasing for r > 0."""
    if symbols(profile) - {"r"}:
        raise Rejected(NAME, "the profile", f"the parameter {min(symbols(profile) - {'r'})!r} has no value")
    try:
        h = _SHAPES.tidy(divided(neg_log(profile), "r"))
        shape = _SHAPES.shape(h)
        falls = shape.slope <= AT_LEAST_ZERO
        if not falls and shape.convex:
            falls = _SHAPES.sign(substitute(derivative(h, "r"), {"r": num(0)})) <= AT_LEAST_ZERO
    except ExprError as error:
        raise Undecided(f"the shape of the profile {format_expr(profile)}: {error}") from error
    require(falls, Undecided(f"whether the profile {format_expr(profile)} is positive and never rises is not certain."))
    return h


def scaled_shift(noise: Radial, reach: Expr) -> Expr:
    """The distance of the answers in units of the scale, certainly 0 (then ZERO) or positive. Raises Rejected."""
    shift = div(reach, noise.scale)
    sign = _SHAPES.sign(shift)
    require(sign in (NULL, POSITIVE), Rejected(NAME, "the sensitivity", f"{format_expr(shift)} is not certainly 0 or positive"))
    return ZERO if sign == NULL else shift


def _pair(noise: Radial, h: Expr, dimension: int, reach: Expr, cuts: tuple[Fraction, ...]) -> Pair:
    """The pair at a distance of `reach`."""
    shift = scaled_shift(noise, reach)
    if shift == ZERO:
        return ALIKE
    law = t_noise.law_of(h, dimension, _SHAPES)
    if law is not None:
        return t_noise.pair(law, shift)
    return symmetric(_prepared(noise, h, dimension, shift, cuts))


@remembered(32)
def _prepared(noise: Radial, h: Expr, dimension: int, shift: Expr, cuts: tuple[Fraction, ...]) -> Profile:
    """The profile of lunes that are made ready once for every working precision."""

    def made() -> Any:
        from dpverify.trusted.theories.curves.lunes import Lunes

        try:
            return Lunes(h, noise.profile, dimension, shift, _SHAPES, cuts)
        except ExprError as error:
            raise Undecided(f"lunes of the profile {format_expr(noise.profile)}: {error}") from error

    lunes = per_precision(made)

    def at(epsilon: arb) -> arb:
        wanted = ctx.prec
        return accurately(lambda: near(lambda place: lunes().divergence(place, wanted), epsilon)).max(arb(0)).min(arb(1))

    return divergence(kept(at))


def near(falling_at: Callable[[arb], arb], epsilon: arb) -> arb:
    """A falling function, between its values on either side where epsilon is, or may be, a loss at which lunes change their form."""
    try:
        return falling_at(epsilon)
    except Undecided as error:
        reason = error
    step = (1 + epsilon) * arb(2) ** -(ctx.prec // 2)  # losses are enclosed to nearly all bits, so that half of them tell the two apart
    below = (epsilon - step).lower()
    try:
        above = falling_at((epsilon + step).upper())
        return above.union(falling_at(below)) if below >= 0 else above.union(arb(1))
    except Undecided:
        raise reason from None
