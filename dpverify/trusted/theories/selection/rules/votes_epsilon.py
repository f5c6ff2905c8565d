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
    orders = [arb(0), arb(0)]
    for each, times in lists.items():
        losses = [(p / q).log() for met in votes.Answer(sigma, each).met() for p, q in met]
        orders = [total + times * reduce(arb.max, (s * x for x in losses), arb(0)) for total, s in zip(orders, (1, -1), strict=True)]
    most = finite(orders[0].max(orders[1]))
    if side == "upper":
        return Bound("upper", num(exact(most.upper())))
    says = {"pair": {"says": "one-database"}, "loss": most.str(20)}
    return Bound("lower", num(max(num(0).value, exact(most.lower()))), witness=says)
