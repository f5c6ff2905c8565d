"""Gaussian mechanisms and their compositions in other measures: exactly.

Theorem: A Gaussian mechanism, or a composition of them, with the pair N(0, 1) and N(mu, 1) has exactly mu in GDP, mu^2/2 in zCDP and the
divergence a mu^2/2 of every Renyi order a, in either order of the pair. mu of a composition is the greatest length of all answers' moves,
each over its deviation, at one pair of neighbours.

Checked:
- every part adds Gaussian noise in a Euclidean norm, or is mu-GDP by what is stated of it
- parameters stand in the scale and the stated sensitivity of noise by itself alone, which are certainly positive and at least 0

Source: docs/theory/measures.md#gaussian-measures, Dong, Roth & Su 2022, Theorem 2.7; Bun & Steinke 2016, Lemma 2.4; Mironov 2017,
Proposition 7
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from dpverify.trusted.combinators import neighbours
from dpverify.trusted.combinators.runs import merged, neighbours_assumed, occurs
from dpverify.trusted.combinators.stated import STATED
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, div, mul, num, power
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim, Guarantee, Measure, Part, Radial
from dpverify.trusted.theories.composition.rules import gaussian_composition, post_processing
from dpverify.trusted.theories.composition.rules.privacy_measures import of_mu
from dpverify.trusted.theories.curves.rules import gaussian
from dpverify.trusted.theories.divergences.asked import bound, measure_of

NAME: Final = "gaussian-measures"
ASSUMED: Final = gaussian.ASSUMED

SAYS: Final = {"pair": {"says": "as-far-as-they-can"}}


def infer(claim: Claim, _: Mapping[str, Any], __: Sequence[Fact]) -> tuple[Bound, ...]:
    """Both bounds, the lower one where some neighbours certainly have it. Raises Rejected where a part is not Gaussian."""
    measure = measure_of(claim, NAME, open_ones=True)
    if claim.domains:
        value = _of_a_scale(claim, measure)
        return bound(claim, "upper", value), bound(claim, "lower", value, witness=SAYS, ordered=True)
    root = Part(claim.mechanism, claim.sensitivity, claim.query)
    runs = merged(root)
    stated, processed = any(isinstance(run.part.mechanism, Guarantee) for run in runs), any(run.processed for run in runs)
    mu = gaussian_composition.total(runs)
    assert mu is not None  # from above it is known, or a part is refused
    assumed = (*((STATED,) if stated else ()), *(post_processing.ASSUMED if processed else ()), *neighbours_assumed(claim))
    bounds = [bound(claim, "upper", of_mu(mu, measure), assumed)]
    attained = None if processed or not all(map(occurs, runs)) else gaussian_composition.total(runs, attained=True)
    if attained is not None:
        below = (*neighbours.apart(root), *neighbours_assumed(claim, "lower"))
        # Gaussian noise is even: the same pair in the other order is a reflection of this one
        bounds.append(bound(claim, "lower", of_mu(attained, measure), below, witness=SAYS, ordered=True))
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
