"""How likely additive noise is to be longer than a distance: how near to the truth answers are (theory#far-noise).

Theorem: An answer with additive noise is further from the truth than gamma, whatever the data, with the probability that the noise is
longer than gamma. In the norm of its density that is the tail of its length; in an lp norm the length of independent coordinates of density
exp(-c |z|^p) has the tail of a Gamma variable; the greatest of d independent coordinates exceeds gamma with probability 1 - (1 - q)^d, q
that of one. Noise on the integers of density proportional to exp(-c |z|) is beyond m with probability 2 u^(m + 1)/(1 + u), u = exp(-c).

Checked:
- the density is at least 0 and integrable, the scale positive, the norm a norm
- the probability, in closed form or by enclosed integrals, where gamma is no rational on both sides of it
- a least gamma that is shown, by the probabilities there

Source: docs/theory/utility.md#far-noise, Kleinberg & Ligett 2010, Definition 2.2
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from flint import arb

from dpverify.trusted.kernel.balls import constant, exact, finite
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.canonical_form import exact_fraction
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, format_expr
from dpverify.trusted.kernel.model import L1, L2, LINF, NEARNESS, Claim, Norm, Product
from dpverify.trusted.theories.utility import tails
from dpverify.trusted.theories.utility.closed_moments import Exponential, form
from dpverify.trusted.theories.utility.laws import Law, read
from dpverify.trusted.theories.utility.rules.noise_quantile import whole

NAME: Final = "far-noise"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Mapping[str, Any]) -> tuple[Bound, ...]:
    """Both bounds on the probability. Raises Rejected, Undecided, CertificateError.

    evidence: "form", true, for the closed form, in parameters too; else that of `laws.read` and of `tails.greatest`, and where it is told
    "least", two rationals between which the least gamma lies for the probability that is claimed.
    """
    near = asked(claim, NAME)
    if evidence.get("form") is True:
        from dpverify.trusted.theories.utility.closed_tails import closed

        value = closed(claim, near, named(claim.distance), NAME)
        return tuple(Bound(side, value, quantity=NEARNESS) for side in ("lower", "upper"))
    law = read(claim, evidence, NAME)
    ball = constant(near)
    # a rational gamma is taken as it is: noise on the integers is beyond what is a little less than an integer with a greater probability
    ends = (near.value,) if isinstance(near, Num) else (exact(ball.lower().max(arb(0))), exact(ball.upper()))
    above, below = (finite(beyond(claim, law, end, evidence)) for end in (ends[0], ends[-1]))
    low, high = exact(below.lower().max(arb(0))), exact(above.upper().min(arb(1)))
    told = _least(claim, law, evidence) if "least" in evidence else ({}, {})
    witness = {"pair": {"says": "any-data"}, "further than within": format_expr(near)}
    return (
        Bound("lower", Num(low), quantity=NEARNESS, also=told[0], witness=witness),
        Bound("upper", Num(high), quantity=NEARNESS, also=told[1]),
    )


def asked(claim: Claim, rule: str) -> Expr:
    """How near answers are to be. Raises Rejected for a claim about something else."""
    if claim.measure is None or claim.measure.name != NEARNESS or claim.within is None:
        raise Rejected(rule, "the claim", "it does not say how near answers are")
    return claim.within


def beyond(claim: Claim, law: Law, t: Fraction, evidence: Mapping[str, Any]) -> arb:
    """A ball round the probability that the noise is longer than t >= 0, in the distance that is claimed."""
    own = law.norm or (claim.mechanism.norm if isinstance(claim.mechanism, Product) else None)
    wanted = named(claim.distance)
    if law.norm is not None and wanted in (None, law.norm):
        return tails.length(law, t, evidence, NAME, law.unit)
    if law.dimension == 1 or (wanted or own) == LINF:
        return tails.greatest(law, t, evidence, NAME)
    found, norm = form(law) if law.norm is None else tails.matched(law), wanted or own
    if isinstance(found, Exponential) and norm is not None and norm.kind == "lp" and found.a == norm.p and found.w == ZERO:
        return tails.incomplete(found, law.dimension, law.unit, t)
    raise Rejected(NAME, "the distance", "the law of the length of this noise is not known in it; name linf, or the norm of the noise")


def named(distance: str) -> Norm | None:
    """The norm that a claim names; None for that of the noise."""
    return {"": None, "l1": L1, "l2": L2, "linf": LINF}[distance]


def _least(claim: Claim, law: Law, evidence: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """What is told of the least gamma at the probability that is claimed, from below and from above."""
    assert claim.measure is not None
    if claim.measure.value is None:
        raise CertificateError(f"{NAME}: no probability is claimed, so that there is no least gamma for it.")
    low, high = map(exact_fraction, evidence["least"])
    beta = constant(claim.measure.value)
    if low < 0 or not (beyond(claim, law, low, evidence) > beta and beyond(claim, law, high, evidence) <= beta):
        raise Rejected(NAME, "least", f"the probabilities at {low} and {high} are not certainly on both sides of beta")
    return {"least within, at least": str(whole(law, low, "lower"))}, {"least within, at most": str(whole(law, high, "upper"))}
