"""Selections in other measures: with Gaussian noise no more than the noisy answers tell, with Gumbel noise by the range of the loss.

Theorem: Noisy max and above threshold with Gaussian noise have at most mu in GDP, mu^2/2 in zCDP and the divergence a mu^2/2 of every Renyi
order a, mu being that of the pair N(0, 1), N(mu, 1) which dominates them at every delta. The index of the greatest answer with noise of
density proportional to exp(-b z - exp(-b z)) is that of an exponential mechanism, of bounded range 2 b D, or b D where answers all move the
same way or one alone moves, D being what an answer moves by.

Checked:
- the noise of the answers is Gaussian, on the line
- the counts are integers of at least 1
- or: the density is of this form, on the reals, and the index alone is told

Source: docs/theory/measures.md#selection-measures
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dpverify.trusted.facts.bounds import Bound, Infinite
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.language.errors import Rejected, Undecided
from dpverify.trusted.language.expr import ONE, Expr, Sym, add, call, mul, neg, num, sub, symbols
from dpverify.trusted.language.logarithms import neg_log_profile
from dpverify.trusted.language.model import Claim, Compared, NoisyMax, Translation
from dpverify.trusted.order.convexity import Shapes
from dpverify.trusted.parts.runs import whole
from dpverify.trusted.rules.measures.asked import bound, measure_of
from dpverify.trusted.rules.measures.gaussian import of_mu
from dpverify.trusted.rules.measures.implied import of_range
from dpverify.trusted.rules.selection import delta_release
from dpverify.trusted.rules.selection.compared import Asked, slopes
from dpverify.trusted.rules.selection.delta_masses import of_run

NAME: Final = "selection-measures"
ASSUMED: Final = delta_release.ASSUMED


def infer(claim: Claim, _: Mapping[str, Any], __: Sequence[Fact]) -> tuple[Bound, ...]:
    """The upper bound. Raises Rejected, Undecided."""
    measure = measure_of(claim, NAME)
    if not isinstance(claim.mechanism, Compared):
        raise Rejected(NAME, "the mechanism", "it is neither noisy max nor above threshold")
    question = of_run(whole(claim), NAME)
    eta = _range(question)
    if eta is not None:
        return (bound(claim, "upper", of_range(eta, measure)),)
    return (bound(claim, "upper", of_mu(delta_release.distance(question), measure), delta_release.assumed_of(question)),)


def _range(question: Asked) -> Expr | None:
    """The range of the loss of an exponential mechanism, written as the greatest of answers with noise; None for other selections."""
    mechanism = question.selection
    if not isinstance(mechanism, NoisyMax) or mechanism.report != "index":
        return None
    noise = mechanism.noise
    if not isinstance(noise, Translation) or noise.integers or noise.support != (None, None):
        return None
    try:
        rate = slopes(question, noise)[1]
    except (Rejected, Undecided):
        return None
    if isinstance(rate, Infinite):
        return None
    linear = mul(rate, Sym("z"))
    rest = sub(Shapes("z", False, question.domains).tidy(neg_log_profile(noise)), add(linear, call("exp", neg(linear))))
    if "z" in symbols(rest):
        return None
    return mul(num(2) if mechanism.neighbours == "all" else ONE, rate, question.moved)
