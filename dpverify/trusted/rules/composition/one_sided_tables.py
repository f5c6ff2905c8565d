"""Both bounds on the tight delta of tables, and of Poisson samples of such, in one order of neighbours (theory#one-sided)."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from flint import arb

from dpverify.trusted.facts.bounds import Bound
from dpverify.trusted.facts.orientation import facing
from dpverify.trusted.facts.pairs import Pair
from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.expr import ONE, ZERO, Num
from dpverify.trusted.language.model import Claim, Exponential, Part, Subsample, Table
from dpverify.trusted.numbers.balls import constant, exact
from dpverify.trusted.numbers.balls import finite as finite_ball
from dpverify.trusted.order.compare import certainly_le
from dpverify.trusted.parts.exchanged import listed_both_ways
from dpverify.trusted.rules.composition import poisson_subsampling
from dpverify.trusted.rules.composition.combined_values import SECRET
from dpverify.trusted.rules.curves import finite as curves_of_tables
from dpverify.trusted.rules.curves.faces import faces_of

RULE: Final = "one-sided"


def deltas(claim: Claim) -> tuple[Bound, ...]:
    """Both bounds on the tight delta of a table whose pairs are listed one way, or of a Poisson sample of what has such a table."""
    sample = claim.mechanism if isinstance(claim.mechanism, Subsample) and claim.mechanism.scheme == "poisson" else None
    part = Part(claim.mechanism, claim.sensitivity) if sample is None else sample.part
    mechanism, rate = part.mechanism, ONE if sample is None else sample.rate
    if not isinstance(mechanism, Table | Exponential) or listed_both_ways(mechanism) or claim.domains:
        raise Rejected(RULE, "the mechanism", "it is no table whose pairs are listed in one order, nor a sample of one")
    if claim.epsilon is None or not certainly_le(ZERO, claim.epsilon):
        raise Rejected(RULE, "epsilon", "none is claimed that is certainly at least 0")
    assert mechanism.adjacent is not None
    faces, most = faces_of(mechanism, part.sensitivity), arb(0)
    for a, b in dict.fromkeys(mechanism.adjacent):
        if a != b:
            pair = Pair(faces.facing(a, b).profile, faces.facing(b, a).profile)
            most = most.max(facing(claim, poisson_subsampling.sampled(pair, rate)).forward(constant(claim.epsilon)))
    ball = finite_ball(most)
    secret = () if sample is None else (SECRET,)
    below = (*secret, poisson_subsampling.LOWER) if sample is not None else ()
    least, top = max(exact(ball.lower()), Fraction(0)), min(exact(ball.upper()), Fraction(1))
    says = {"pair": {"says": "in-the-claimed-order"}}
    through = (curves_of_tables.NAME,)
    return (
        Bound("upper", Num(top), quantity="delta", assumed=(*curves_of_tables.ASSUMED, *secret), through=through),
        Bound("lower", Num(least), says, quantity="delta", assumed=(*curves_of_tables.ASSUMED, *below), through=through, ordered=True),
    )
