"""Gaussian mechanisms and their compositions in other measures: exactly.

Theorem: A Gaussian mechanism, or a composition of them, with the pair N(0, 1) and N(mu, 1) has exactly mu in GDP, mu^2/2 in zCDP and the
divergence a mu^2/2 of every Renyi order a, in either order of the pair. mu of a composition is the greatest length of all answers' moves,
each over its deviation, at one pair of neighbours. Noise on the integers of probabilities proportional to e^(-n^2/(2 s^2)), with answers an
integer D apart, has divergences of at most a D^2/(2 s^2), and exactly that where a D is an integer; so it has exactly D^2/(2 s^2) in zCDP.

Checked:
- every part adds Gaussian noise in a Euclidean norm, or is mu-GDP by what is stated of it
- parameters stand in the scale and the stated sensitivity of noise by itself alone, which are certainly positive and at least 0
- or: the logarithm of the density is quadratic, with its greatest value at 0, on all integers; answers move by integers, and by how much

Source: docs/theory/measures.md#gaussian-measures, Dong, Roth & Su 2022, Theorem 2.7; Bun & Steinke 2016, Lemma 2.4; Mironov 2017,
Proposition 7; Canonne, Kamath & Steinke 2020, Proposition 5
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from dpverify.trusted.combinators import neighbours, stated
from dpverify.trusted.combinators.gaussian_form import gaussian_form
from dpverify.trusted.combinators.runs import merged, neighbours_assumed, occurs, reach
from dpverify.trusted.combinators.runs import whole as whole_run
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, div, mul, num, power
from dpverify.trusted.kernel.fact import Parameters, Premises
from dpverify.trusted.kernel.model import Claim, Guarantee, Measure, Part, Radial, Translation
from dpverify.trusted.order.enclosed import whole
from dpverify.trusted.sensitivity.apart import off_the_integers
from dpverify.trusted.theories.composition.rules import gaussian_composition, post_processing
from dpverify.trusted.theories.composition.rules.privacy_measures import of_mu
from dpverify.trusted.theories.curves.rules import gaussian
from dpverify.trusted.theories.divergences.asked import bound, measure_of

NAME: Final = "gaussian-measures"
ASSUMED: Final = gaussian.ASSUMED

SAYS: Final = {"pair": {"says": "as-far-as-they-can"}}
GREATEST: Final = {"pair": {"says": "greatest-integer-apart"}}


def infer(claim: Claim, parameters: Parameters, _: Premises) -> tuple[Bound, ...]:
    """Both bounds, the lower one where some neighbours certainly have it. Raises Rejected where a part is not Gaussian."""
    measure = measure_of(claim, NAME, open_ones=True)
    if claim.domains:
        value = _of_a_scale(claim, measure)
        return bound(claim, "upper", value), bound(claim, "lower", value, witness=SAYS, ordered=True)
    if isinstance(claim.mechanism, Translation) and claim.mechanism.integers:
        return _on_integers(claim, claim.mechanism, measure, parameters)
    root = Part(claim.mechanism, claim.sensitivity, claim.query)
    runs = merged(root)
    known, processed = [run.part.mechanism for run in runs if isinstance(run.part.mechanism, Guarantee)], any(run.processed for run in runs)
    mu = gaussian_composition.total(runs)
    assert mu is not None  # from above it is known, or a part is refused
    grounds, through = dict.fromkeys(line for one in known for line in stated.grounds(one)), gaussian_composition.through(runs)
    assumed = (*grounds, *(post_processing.ASSUMED if processed else ()), *neighbours_assumed(claim))
    bounds = [bound(claim, "upper", of_mu(mu, measure), assumed, through)]
    attained = None if processed or not all(map(occurs, runs)) else gaussian_composition.total(runs, attained=True)
    if attained is not None:
        below = (*((stated.ANY_PARTS,) if known else ()), *neighbours.apart(root), *neighbours_assumed(claim, "lower"))
        # Gaussian noise is even: the same pair in the other order is a reflection of this one
        bounds.append(bound(claim, "lower", of_mu(attained, measure), below, through, witness=SAYS, ordered=True))
    return tuple(bounds)


def _of_a_scale(claim: Claim, measure: Measure) -> Expr:
    """The value where parameters stand in the scale and the sensitivity alone: mu is that at unit scale times their quotient."""
    noise, moved, domains = claim.mechanism, claim.sensitivity, dict(claim.domains)
    if not isinstance(noise, Radial) or moved is None:
        raise Rejected(NAME, "the parameters", "it wants Gaussian noise by itself, whose sensitivity is stated, or a value for each")
    if not (certainly_lt(ZERO, noise.scale, domains) and certainly_le(ZERO, moved, domains)):
        raise Rejected(NAME, "the scale", "it is not certainly positive, or the sensitivity not certainly at least 0")
    unit = gaussian.mu(replace(noise, scale=ONE), ONE)
    if unit is None:
        raise Rejected(NAME, "the noise", "it is not Gaussian, or parameters stand elsewhere than in its scale")
    return mul(of_mu(unit, measure), power(div(moved, noise.scale), ONE if measure.name == "gdp" else num(2)))


def _on_integers(claim: Claim, noise: Translation, measure: Measure, parameters: Parameters) -> tuple[Bound, ...]:
    """The upper bound, and the lower one where the mean of the tilted law is an integer; in zCDP the order 2 attains it.

    parameters: "sensitivity", if given, the certificate of a gauge. Raises Rejected, Undecided.
    """
    require(measure.name != "gdp", Rejected(NAME, "the measure", "its trade-off function is not that of a Gaussian pair"))
    require(noise.support == (None, None), Rejected(NAME, "the mechanism", "it is not noise on all integers"))
    if off_the_integers(noise, claim.query) is not None:
        raise Rejected(NAME, "the query", "answers of some neighbours do not differ by an integer")
    form = gaussian_form(replace(noise, integers=False))
    if form is None or not certainly_equal(form[0].at(num(1)), form[0].at(num(-1))):
        raise Rejected(NAME, "the noise", "its probabilities are not certainly proportional to e^(-n^2/(2 s^2))")
    moved = reach(whole_run(claim), parameters.get("sensitivity"))
    most, least = whole(moved.upper, up=True), whole(moved.lower, up=False)
    bounds = [bound(claim, "upper", of_mu(mul(num(most), form[1]), measure))]
    if measure.at is None or (least * measure.at).denominator == 1:
        # the noise is even: the same pair in the other order is a reflection of this one
        bounds.append(bound(claim, "lower", of_mu(mul(num(least), form[1]), measure), witness=GREATEST, ordered=True))
    return tuple(bounds)
