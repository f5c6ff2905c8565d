"""What is said of every mechanism with a guarantee: which guarantee and query, and the error that each of them has on some data."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from flint import arb

from dpverify.trusted.combinators.released import answered
from dpverify.trusted.facts.errors import ErrorBound, Measure
from dpverify.trusted.facts.premises import epsilon_of
from dpverify.trusted.kernel.assumptions import REAL
from dpverify.trusted.kernel.balls import constant, exact, finite
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ZERO, Num
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim, Query

COUNTS: Final = ("add-remove", "replace")
"""Adjacencies of histograms that hold counts."""
UNBOUNDED: Final = "histograms of every size are among the data"
REALS: Final = ("l1", "l2")
"""Adjacencies of histograms of real numbers."""


def query_of(claim: Claim, adjacencies: Collection[str], rule: str, *, pure: bool = True) -> Query:
    """The query whose answers any mechanism is to give. Raises Rejected where there is none, or for a claim about one order of neighbours.

    pure: whether the bound is about epsilon with delta = 0 alone.
    """
    query = answered(claim)
    if query is None:
        raise Rejected(rule, "the claim", "it states no query, and the least error is a matter of the query")
    if query.adjacency not in adjacencies:
        raise Rejected(rule, "the query", f"its adjacency is {query.adjacency}; this rule is about {' and '.join(adjacencies)}")
    require(not claim.order, Rejected(rule, "order", "the bound is about neighbours in both orders"))
    if pure and (claim.delta != ZERO or claim.measure is not None):
        raise Rejected(rule, "delta", "the bound is about pure privacy, delta = 0")
    return query


def granted(claim: Claim, premises: Sequence[Fact], rule: str) -> tuple[arb, tuple[str, ...]]:
    """The pure epsilon that is claimed, or of "tight" the one that is proved, and what that and the neighbours take for granted.

    premises: an upper bound on the tight epsilon, where the claim asks for it. Raises Rejected.
    """
    value, assumed = epsilon_of(claim, premises, rule)
    epsilon = finite(constant(value))
    require(epsilon > 0, Rejected(rule, "epsilon", "it is not certainly above 0"))
    return epsilon, (*everything_counts(answered(claim)), *assumed)


def everything_counts(query: Query | None) -> tuple[str, ...]:
    """What is taken for granted of the data: that histograms of every size are among them, and where they are real-valued, that."""
    real = (REAL,) if query is not None and query.adjacency in REALS else ()
    return (*real, UNBOUNDED)


def least(expected: arb, square: arb, assumed: Sequence[str], rule: str) -> tuple[ErrorBound, ...]:
    """The bounds on the mean length and on the root mean square, from bounds on the mean length and on the mean square.

    Raises Rejected where none of them is certainly above 0.
    """
    mean, squared = finite(expected).lower(), finite(square).lower()
    root = squared.sqrt().lower() if squared > 0 else squared
    bounds: tuple[tuple[Measure, arb], ...] = (("expected_l2", mean), ("rms_l2", root if root > mean else mean))
    told = tuple(dict.fromkeys(assumed))
    found = tuple(ErrorBound(measure, "any", "lower", Num(exact(value)), assumed=told) for measure, value in bounds if value > 0)
    require(bool(found), Rejected(rule, "the bound", "it is not certainly above 0"))
    return found


def unit_ball(dimension: int) -> arb:
    """The volume of the Euclidean unit ball."""
    return arb.pi() ** (arb(dimension) / 2) / (arb(dimension) / 2 + 1).gamma()


def over_shells(epsilon: arb, k: int) -> arb:
    """The sum of e^(-eps j) (j^k - (j-1)^k) over j >= 1: q A(q)/(1 - q)^k, q = e^-eps, A the Eulerian polynomial."""
    q, row = (-epsilon).exp(), [1]
    for size in range(2, k + 1):
        row = [(m + 1) * here + (size - m) * before for m, (here, before) in enumerate(zip([*row, 0], [0, *row], strict=True))]
    polynomial = arb(0)
    for coefficient in reversed(row):
        polynomial = polynomial * q + coefficient
    return q * polynomial / (-(-epsilon).expm1()) ** k
