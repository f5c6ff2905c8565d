"""The tight epsilon at the claimed delta as a closed form, where the tight delta has one.

Theorem: The tight delta does not rise with epsilon and is convex in e^epsilon. Where it is the claimed delta at some epsilon of at least 0
and less at a later one, it is more at every earlier one, so that this epsilon is the tight one. Proof: let x' < x < y and f(y) < f(x) for a
convex f. If f(x') <= f(x), then f(x) <= s f(x') + (1 - s) f(y) for some s < 1, which is less than f(x).

Checked:
- the closed form of the tight delta, by closed-profile, at both epsilons
- that it is the claimed delta at the first and certainly less at the second, exactly

Source: docs/theory/curves.md#closed-epsilon
"""

from __future__ import annotations

from typing import Final

from dpverify.trusted.kernel.bounds import Bound, Parameters
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ZERO, Num, parse
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.language.rationals import read_fraction
from dpverify.trusted.theories.composition.rules.closed_profile import at

NAME: Final = "closed-epsilon"
ASSUMED: Final = ()


def check(claim: Claim, evidence: Parameters) -> tuple[Bound, ...]:
    """Both bounds on the tight epsilon, equal; of post-processed parts the upper one. Raises Rejected, Undecided, CertificateError.

    evidence: "epsilon", a constant where the tight delta is the claimed one; "later", a rational beyond it where it is less.
    """
    if claim.delta is None:
        raise Rejected(NAME, "the claim", "it wants a delta")
    epsilon, later = parse(str(evidence.get("epsilon"))), Num(read_fraction(evidence, "later", NAME))
    if not (certainly_le(ZERO, epsilon) and certainly_lt(epsilon, later)):
        raise Rejected(NAME, "epsilon", "it is not certainly at least 0 and below the later one")
    (value, rests), (less, _) = at(claim, epsilon), at(claim, later)
    require(certainly_le(value, claim.delta), Rejected(NAME, "epsilon", "the tight delta there is not certainly at most the claimed one"))
    bounds = rests.bounds(claim, "epsilon", epsilon, epsilon)
    return bounds if certainly_le(claim.delta, value) and certainly_lt(less, value) else bounds[:1]
