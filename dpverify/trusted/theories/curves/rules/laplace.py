"""Laplace noise on the line and its independent copies (theory#laplace).

Theorem: Laplace noise of scale b and answers D apart have delta(eps) = (1 - exp((eps - t)/2))_+ with t = D/b, for every eps >= -t; it grows
with t. Independent copies under an l1 sensitivity are dominated by the pair that has the whole shift in one coordinate. Proof: let H_t be
the profile above, and split t = r + s with r >= s > 0. The loss of the first coordinate is r with probability 1/2, -r with probability
e^-r/2, and has density e^((l - r)/2)/4 between. The mean of H_s(eps - l) over it is 1 - e^-u (1 + min(u, s)/2) for u = (t - eps)/2 >= 0 and
eps >= 0, which is at most 1 - e^-u = H_t(eps), and 0 past t; below 0 by H(-eps) = 1 - e^-eps + e^-eps H(eps), as reflection exchanges the
two distributions of either pair. A mean of profiles keeps their order, so more coordinates follow by induction, one at a time. The bound is
met where one coordinate moves alone.

Checked:
- -log(density) is c |z - m| + a, with c certainly positive
- the noise lives on a line, or its coordinates are independent and the sensitivity is in an lp norm

Source: docs/theory/curves.md#laplace
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from flint import arb

from dpverify.trusted.combinators.exponents import Exponent, stretch
from dpverify.trusted.combinators.laplace_form import laplace_form
from dpverify.trusted.combinators.runs import Run, reach
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import accurately, divergence, known
from dpverify.trusted.facts.pairs import Curve, Pair, Profile
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel import compare
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, call, format_expr, mul, sub
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Mechanism

NAME: Final = "laplace"
ASSUMED: Final = ("the sampler is ideal",)

_HALF: Final = Num(Fraction(1, 2))
_ONE: Final = Fraction(1)


def scale_ratio(noise: Mechanism, reach: Expr) -> Expr | None:
    """D/b where answers D = `reach` apart, in the noise's norm, have the curve of `profile` at worst and some attain it.

    None where the noise is not Laplace, and for independent coordinates whose reach is in another norm than l1: there a shift over
    many coordinates is worse than one. Raises Rejected for a norm, scale or dimension that is none.
    """
    form = laplace_form(noise)
    if form is None or stretch(form[0], _ONE) != (ONE, ONE):
        return None
    return mul(form[1], reach)


def profile(ratio: Expr) -> Profile:
    """(1 - exp((epsilon - ratio)/2))_+, and 1 - e^epsilon below -ratio. Raises Rejected unless the ratio is certainly at least 0."""
    _check(ratio)
    end = known(ratio)

    def at(epsilon: arb) -> arb:
        return accurately(lambda: _excess(epsilon, end()))

    return divergence(at)


def _check(ratio: Expr) -> None:
    require(compare.sign(ratio) in (0, 1), Rejected(NAME, "the distance", f"D/b = {format_expr(ratio)} is not certainly at least 0"))


def _excess(epsilon: arb, end: arb) -> arb:
    return (-((epsilon - end) / 2).expm1()).max(-epsilon.expm1()).max(arb(0))


def delta_expr(ratio: Expr, epsilon: Expr) -> Expr:
    """delta(epsilon) in closed form, for epsilon >= -ratio. Raises Rejected unless the ratio is certainly at least 0."""
    _check(ratio)
    return call("max", sub(ONE, call("exp", mul(_HALF, sub(epsilon, ratio)))), ZERO)


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run. parameters: "sensitivity", if given, the certificate of a gauge; "prec". Raises Rejected, Undecided."""
    bounds = curve(settled.additive(run, NAME), reach(run, parameters.get("sensitivity")), stated=run.part.query is None)
    return settled.noise(run, bounds, parameters)


def curve(noise: Mechanism, reach: Sensitivity, stated: bool = False) -> Curve:
    """The curve of Laplace noise whose answers move by at most `reach`, in its norm and before its scale.

    stated: shifts of this length occur in every direction, as where a claim states its sensitivity; without it, what is known of
    independent coordinates is the one difference `reach.at`, or that the longest shift has a coordinate of at least its mean size.
    Raises Rejected where the noise is not Laplace.
    """
    return settled.between(*ratios(noise, reach, stated), _pair, NAME, ASSUMED)


def ratios(noise: Mechanism, reach: Sensitivity, stated: bool) -> tuple[Expr, Expr]:
    """D/b of the pair that dominates all neighbours, and of one that some have, as for `curve`."""
    form = laplace_form(noise)
    if form is None:
        raise Rejected(NAME, "the noise", "its density is not certainly exp(-c |z - m|) on a line or in independent coordinates")
    shape, rate = form
    return mul(rate, stretch(shape, _ONE)[1], reach.upper), mul(rate, _one_coordinate(shape, reach, stated))


def _pair(ratio: Expr) -> Pair:
    both = profile(ratio)
    return Pair(both, both, everywhere=True)


def _one_coordinate(shape: Exponent, reach: Sensitivity, stated: bool) -> Expr:
    """How far one coordinate certainly moves between some two neighbours; to look at it alone is post-processing."""
    if stated or not shape.independent:
        return reach.lower  # an axis has length 1 in every lp norm
    if reach.at is not None and len(reach.at) == shape.dimension:
        return Num(max(map(abs, reach.at)))
    return mul(stretch(shape, None)[0], reach.lower)
