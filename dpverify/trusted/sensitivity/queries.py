"""Linear queries on histograms, and how far their answers on adjacent ones are apart (theory#sensitivity-of-a-linear-query)."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from dpverify.trusted.geometry.lengths import largest
from dpverify.trusted.geometry.linear import square, up_to_sign
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.expr import ONE, ZERO
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import ADJACENCIES, LINF, Mechanism, Norm, Query, Vector, on_integers


def query_faults(query: Query, dimension: int) -> list[str]:
    """All that keeps `query` from being a linear query with answers in R^dimension, one line each."""
    faults = []
    if query.adjacency not in ADJACENCIES:
        faults.append(f"unknown adjacency {query.adjacency!r}. Use {', '.join(ADJACENCIES)}.")
    if len(query.rows) != dimension:
        faults.append(f"query: {len(query.rows)} rows where the dimension is {dimension}. Each row is one linear query.")
    widths = sorted({len(row) for row in query.rows})
    if len(widths) > 1:
        faults.append(f"query: rows of different lengths {widths}. Give each row one number per record type.")
    elif widths == [0] or not widths:
        faults.append("query: no columns. Give each row one number per record type.")
    return faults


@remembered(16)
def differences(query: Query) -> tuple[Vector, ...]:
    """The extreme differences of answers on adjacent histograms, one of each pair v and -v, without 0.

    Columns for "add-remove" and "l1" (the extreme points of the l1 ball), differences of two columns for "replace"
    (theory#sensitivity-of-a-linear-query). The order is that of the gauge evidence.
    """
    columns = list(dict.fromkeys(zip(*query.rows, strict=True)))
    if query.adjacency == "replace":
        columns = [tuple(a - b for a, b in zip(f, g, strict=True)) for f, g in combinations(columns, 2)]
    return up_to_sign(columns)


def sensitivity(query: Query, norm: Norm, dimension: int, evidence: object = None) -> Sensitivity:
    """The largest ||F(x - x')|| over adjacent histograms x, x'.

    "l2" means real histograms at Euclidean distance <= 1. evidence: a gauge certificate of `differences(query)`, for a norm by
    columns only. Raises Rejected for faults of the evidence; Undecided, saying what would help, where the form is not covered.
    """
    if dimension == 1 and norm.kind == "lp":
        norm = LINF  # on the line every lp norm is the absolute value
    if query.adjacency == "l2":
        from dpverify.trusted.geometry.operator_norms import euclidean

        return euclidean(query.rows, norm)
    vectors = differences(query)
    if not vectors:
        return Sensitivity(ZERO, ZERO, (Fraction(0),) * dimension)
    if norm.kind == "columns" and set(vectors) == set(up_to_sign(norm.matrix)):
        # The query's own K: no generator has a gauge above 1, and the longest one is extreme, so its gauge is 1 (theory#gauges).
        return Sensitivity(ONE, ONE, max(vectors, key=square))
    value, at = largest(norm, vectors, evidence)
    return Sensitivity(value, value, at)


def takes_fractions(noise: Mechanism, query: Query) -> bool:
    """Whether the pair that is worst under "l1" or "l2" may have counts that are no integers."""
    if query.adjacency not in ("l1", "l2"):
        return False
    if on_integers(noise):
        return all(x.denominator == 1 for row in query.rows for x in row)
    return query.adjacency == "l2" and sum(any(column) for column in zip(*query.rows, strict=False)) > 1
