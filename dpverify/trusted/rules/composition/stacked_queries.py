"""All queries of a composition in one, where every part loses a multiple of what its answer moves by (theory#combination)."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dpverify.trusted.facts.bounds import Infinite
from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.expr import ONE, Expr, Num, mul, num
from dpverify.trusted.language.model import L1, Claim, Domain, Part, Product, Query, Radial, Translation
from dpverify.trusted.order.queries import sensitivity
from dpverify.trusted.parts import candidates, moves
from dpverify.trusted.rules.additive import convex_exponent

WHAT: Final = "combination"


def by_slopes(root: Part, domains: tuple[tuple[str, Domain], ...]) -> Expr:
    """The greatest sum over all differences v of histograms, real ones too, for parts that lose L_j |u| where an answer moves by u.

    That is the l1 sensitivity of all queries in one, each row times the L_j of its part. Raises Rejected.
    """
    query = stacked(root, domains)
    return mul(Num(candidates.root_factor(root)), sensitivity(query, L1, len(query.rows)).upper)


def stacked(root: Part, domains: tuple[tuple[str, Domain], ...]) -> Query:
    """All queries of a composition in one, each row times what its part loses in units of what the row moves by. Raises Rejected."""
    rows: list[tuple[Fraction, ...]] = []
    adjacencies = set[str]()
    for one, times in moves.leaves(root):
        noise = Translation(one.mechanism.density) if isinstance(one.mechanism, Product) else one.mechanism
        on_the_line = isinstance(noise, Radial) and noise.dimension == ONE and noise.norm.kind == "lp"
        if one.query is None or not (on_the_line or (isinstance(noise, Translation) and not noise.integers)):
            raise Rejected(WHAT, "a part", "it is no noise on real numbers, in one coordinate or independent ones, under a query")
        slope = convex_exponent.check(Claim(noise, None, sensitivity=ONE, domains=domains), {"side": "upper"}).value
        weight = slope if isinstance(slope, Infinite) else mul(num(times), slope)
        if not isinstance(weight, Num):
            raise Rejected(WHAT, "a part", "how fast its loss grows is not a rational number")
        rows += [tuple(weight.value * x for x in row) for row in one.query.rows]
        adjacencies.add(one.query.adjacency)
    if len(adjacencies) != 1:
        raise Rejected(WHAT, "adjacency", "the parts do not speak of the same neighbours")
    return Query(tuple(rows), adjacencies.pop())

