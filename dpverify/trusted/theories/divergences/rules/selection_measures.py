"""Selections in other measures: with Gaussian noise no more than the noisy answers tell, with Gumbel noise by the range of the loss.

Theorem: Noisy max and above threshold with Gaussian noise have at most mu in GDP, mu^2/2 in zCDP and the divergence a mu^2/2 of every Renyi
order a, mu being that of the pair N(0, 1), N(mu, 1) which dominates them at every delta. So has a stream of which shifts of Gaussian noises
that no comparison sees hide what its answers move by, or which tells one Gaussian vector. The index of the greatest answer with noise of
density proportional to exp(-b z - exp(-b z)) is that of an exponential mechanism, of bounded range 2 b D, or b D where answers all move the
same way or one alone moves, D being what an answer moves by.

Checked:
- the noise of the answers is Gaussian, on the line
- the counts are integers of at least 1
- or: the density is of this form, on the reals, and the index alone is told
- or: shifts leave all comparisons that may be made, what is told and the state as they are, wherever runs may be
- or: one run alone is possible, and what it tells is a Gaussian vector

Source: docs/theory/measures.md#selection-measures
"""

from __future__ import annotations

from typing import Final

from dpverify.trusted.combinators.runs import whole
from dpverify.trusted.kernel.assumptions import IDEAL
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.fact import Parameters, Premises
from dpverify.trusted.kernel.model import Claim, Compared, Stream
from dpverify.trusted.theories.composition.rules.privacy_measures import of_mu, of_range
from dpverify.trusted.theories.divergences.asked import bound, measure_of
from dpverify.trusted.theories.selection.delta_masses import of_run
from dpverify.trusted.theories.selection.loss_range import of_selection
from dpverify.trusted.theories.selection.rules import compared_gaussians as delta_release

NAME: Final = "selection-measures"
ASSUMED: Final = (IDEAL,)


def infer(claim: Claim, parameters: Parameters, _: Premises) -> tuple[Bound, ...]:
    """The upper bound. parameters: of a stream "shifts" and "follow", if any. Raises Rejected, Undecided, CertificateError."""
    measure = measure_of(claim, NAME)
    if isinstance(claim.mechanism, Stream):
        from dpverify.trusted.theories.selection.rules import told_sums, unseen_shifts

        run = whole(claim)
        mu, laws = unseen_shifts.distance(run, parameters) if "shifts" in parameters else (told_sums.distance(run), ())
        return (bound(claim, "upper", of_mu(mu, measure), (*unseen_shifts.ASSUMED, *laws)),)
    require(isinstance(claim.mechanism, Compared), Rejected(NAME, "the mechanism", "it is no selection"))
    question = of_run(whole(claim), NAME)
    eta = of_selection(question)
    if eta is not None:
        return (bound(claim, "upper", of_range(eta, measure), delta_release.ASSUMED),)
    assumed = (*delta_release.ASSUMED, *delta_release.assumed_of(question))
    return (bound(claim, "upper", of_mu(delta_release.distance(question), measure), assumed),)
