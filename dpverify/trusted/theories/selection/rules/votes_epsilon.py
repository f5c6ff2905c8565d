"""Who has the most votes with Gaussian noise, on one database: the greatest loss against its neighbours.

Theorem: The greatest log-ratio of the probabilities of an output on the database and on a neighbour is the greatest over the candidates of
each list and over who loses a vote and who gains it there. Those of several lists add up, in one order of the two databases and in the
other.

Checked:
- the probabilities, by sums over equally spaced points with a proved remainder
- every output and every neighbour, of each list

Source: docs/theory/selection.md#votes-epsilon
"""

from __future__ import annotations

from functools import reduce
from typing import Final

from flint import arb

from dpverify.trusted.kernel.balls import exact, finite
from dpverify.trusted.kernel.bounds import Bound, Parameters, sided
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import num
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.theories.selection import votes

NAME: Final = "votes-epsilon"
ASSUMED: Final = ("the sampler is ideal", "the noises are independent of each other")


def check(claim: Claim, evidence: Parameters) -> Bound:
    """The bound on the side "side", a rational number next to the exact value. Raises Rejected, Undecided, CertificateError."""
    side, claim, _ = sided(claim, evidence, NAME)
    require(not claim.domains, Rejected(NAME, "the parameters", "it wants a value for each"))
    sigma, lists = votes.read(claim.mechanism)
    losses = [(times, [(p / q).log() for met in votes.Answer(sigma, each).met() for p, q in met]) for each, times in lists.items()]
    most = arb(0)
    for sign in votes.ORDERS[claim.order]:
        most = most.max(sum((times * reduce(arb.max, (sign * x for x in every), arb(0)) for times, every in losses), arb(0)))
    if side == "upper":
        return Bound("upper", num(exact(finite(most).upper())))
    says = {"pair": {"says": "one-database"}, "loss": most.str(20)}
    return Bound("lower", num(max(num(0).value, exact(finite(most).lower()))), witness=says, ordered=True)
