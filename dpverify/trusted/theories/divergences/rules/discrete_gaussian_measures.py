"""The discrete Gaussian in other measures: as its namesake on the line.

Theorem: Noise on the integers of probabilities proportional to e^(-n^2/(2 s^2)), with answers an integer D apart, has Renyi divergences of
at most a D^2/(2 s^2), and exactly that where a D is an integer; so it has exactly D^2/(2 s^2) in zCDP.

Checked:
- the logarithm of the density is quadratic, with its greatest value at 0, on all integers
- answers move by integers, and by how much

Source: docs/theory/measures.md#discrete-gaussian-measures, Canonne, Kamath & Steinke 2020, Proposition 5
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.combinators.gaussian_form import gaussian_form
from dpverify.trusted.combinators.runs import reach
from dpverify.trusted.combinators.runs import whole as whole_run
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import Expr, mul, num
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim, Measure, Translation
from dpverify.trusted.sensitivity.apart import off_the_integers
from dpverify.trusted.theories.composition.rules.privacy_measures import of_mu
from dpverify.trusted.theories.curves.rules.lattice import whole
from dpverify.trusted.theories.divergences.asked import bound, measure_of

NAME: Final = "discrete-gaussian-measures"
ASSUMED: Final = ("the sampler is ideal",)

SAYS: Final = {"pair": {"says": "greatest-integer-apart"}}


def infer(claim: Claim, parameters: Mapping[str, Any], _: Sequence[Fact]) -> tuple[Bound, ...]:
    """The upper bound, and the lower one where it is attained. parameters: "sensitivity", if given, the certificate of a gauge.

    Raises Rejected, Undecided.
    """
    measure, noise = measure_of(claim, NAME), claim.mechanism
    require(measure.name != "gdp", Rejected(NAME, "the measure", "its trade-off function is not that of a Gaussian pair"))
    if not isinstance(noise, Translation) or not noise.integers or noise.support != (None, None):
        raise Rejected(NAME, "the mechanism", "it is not noise on all integers")
    if off_the_integers(noise, claim.query) is not None:
        raise Rejected(NAME, "the query", "answers of some neighbours do not differ by an integer")
    form = gaussian_form(replace(noise, integers=False))
    if form is None or not certainly_equal(form[0].at(num(1)), form[0].at(num(-1))):
        raise Rejected(NAME, "the noise", "its probabilities are not certainly proportional to e^(-n^2/(2 s^2))")
    moved = reach(whole_run(claim), parameters.get("sensitivity"))
    most, least = whole(moved.upper, up=True), whole(moved.lower, up=False)
    bounds = [bound(claim, "upper", of_mu(_ratio(most, form[1]), measure))]
    if _attained(least, measure):
        # the noise is even: the same pair in the other order is a reflection of this one
        bounds.append(bound(claim, "lower", of_mu(_ratio(least, form[1]), measure), witness=SAYS, ordered=True))
    return tuple(bounds)


def _ratio(moved: int, inverse: Expr) -> Expr:
    return mul(num(moved), inverse)


def _attained(moved: int, measure: Measure) -> bool:
    """In zCDP the order 2 attains it; a divergence is attained where the mean of the tilted law is an integer."""
    return measure.at is None or (Fraction(moved) * measure.at).denominator == 1
