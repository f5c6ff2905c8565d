"""Gaussian mechanisms and their compositions in other measures: exactly.

Theorem: A Gaussian mechanism, or a composition of them, with the pair N(0, 1) and N(mu, 1) has exactly mu in GDP, mu^2/2 in zCDP and the
divergence a mu^2/2 of every Renyi order a, in either order of the pair. mu of a composition is the greatest length of all answers' moves,
each over its deviation, at one pair of neighbours.

Checked:
- every part adds Gaussian noise in a Euclidean norm, or is mu-GDP by what is stated of it

Source: docs/theory/measures.md#gaussian-measures, Dong, Roth & Su 2022, Theorem 2.7; Bun & Steinke 2016, Lemma 2.4; Mironov 2017,
Proposition 7
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dpverify.trusted.combinators import neighbours, stated
from dpverify.trusted.combinators.runs import merged, neighbours_assumed, occurs
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim, Guarantee, Part
from dpverify.trusted.theories.composition.rules import gaussian_composition, post_processing
from dpverify.trusted.theories.composition.rules.privacy_measures import of_mu
from dpverify.trusted.theories.curves.rules import gaussian
from dpverify.trusted.theories.divergences.asked import bound, measure_of

NAME: Final = "gaussian-measures"
ASSUMED: Final = gaussian.ASSUMED

SAYS: Final = {"pair": {"says": "as-far-as-they-can"}}


def infer(claim: Claim, _: Mapping[str, Any], __: Sequence[Fact]) -> tuple[Bound, ...]:
    """Both bounds, the lower one where some neighbours certainly have it. Raises Rejected where a part is not Gaussian."""
    measure = measure_of(claim, NAME)
    root = Part(claim.mechanism, claim.sensitivity, claim.query)
    runs = merged(root)
    known, processed = [run.part.mechanism for run in runs if isinstance(run.part.mechanism, Guarantee)], any(run.processed for run in runs)
    mu = gaussian_composition.total(runs)
    if mu is None:
        raise Rejected(NAME, "the parts", "how far all of them move together is not known")
    grounds = dict.fromkeys(line for one in known for line in stated.grounds(one))
    through = dict.fromkeys(name for one in known for name in stated.theorem_of(one))
    assumed = (*grounds, *(post_processing.ASSUMED if processed else ()), *neighbours_assumed(claim))
    bounds = [bound(claim, "upper", of_mu(mu, measure), assumed, through)]
    attained = None if processed or not all(map(occurs, runs)) else gaussian_composition.total(runs, attained=True)
    if attained is not None:
        below = (*((stated.ANY_PARTS,) if known else ()), *neighbours.apart(root), *neighbours_assumed(claim, "lower"))
        # Gaussian noise is even: the same pair in the other order is a reflection of this one
        bounds.append(bound(claim, "lower", of_mu(attained, measure), below, through, witness=SAYS, ordered=True))
    return tuple(bounds)
