"""Multipliers that leave no private mechanism with answers near the truth, on finitely many points (theory#near-dual).

Theorem: If weights and multipliers prove by the dual of a linear program (theory#lp) that every epsilon-private mechanism answers further
than gamma from the truth with a probability above beta on some database, the least epsilon at which beta is met is at least epsilon.

Checked:
- the distances are a metric, and databases as declared exist
- weights and multipliers are at least 0
- the sum, in exact rationals, for databases as far apart as they may be

Source: docs/theory/spaces.md#near-dual, Kleinberg & Ligett 2010, Definitions 2.2 and 2.3
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.kernel.balls import constant, exact
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import Num, format_expr, mul
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.language.rationals import to_fraction
from dpverify.trusted.theories.spaces.databases import finite
from dpverify.trusted.theories.utility.dual import Program, least

NAME: Final = "near-dual"
ASSUMED: Final = ()


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The lower bound "epsilon", by "weights" of databases and "multipliers", a list of [x, x', [z for each answer]]. Raises Rejected."""
    given, epsilon = finite(claim, evidence, NAME, one=True)
    count = len(given.truth)

    def between(near: int, far: int) -> tuple[Fraction, Fraction]:
        return exact(constant(mul(epsilon, given.most(near, far, NAME))).exp().upper()), Fraction(0)

    losses = tuple(tuple(Fraction(int(certainly_lt(given.near, Num(d)))) for d in given.distances[answer]) for answer in given.truth)
    multipliers = {}
    for near, far, row in evidence["multipliers"]:
        if any(type(x) is not int or not 0 <= x < count for x in (near, far)) or near == far or (near, far) in multipliers:
            raise Rejected(NAME, [near, far], "it is not a pair of databases, or stands there twice")
        multipliers[near, far] = tuple(to_fraction(entry, NAME) for entry in row)
    bound = least(Program(losses, between), [to_fraction(entry, NAME) for entry in evidence["weights"]], multipliers)
    require(certainly_lt(given.beta, Num(bound)), Rejected(NAME, "the sum", "it is not certainly above beta"))
    told = {"says": "further-than-near", "epsilon": format_expr(epsilon), "near": format_expr(given.near)}
    return Bound("lower", epsilon, witness={"pair": told})
