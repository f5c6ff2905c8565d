"""A table of a mechanism whose answers are near the truth, on finitely many points (theory#near-table).

Theorem: A table P of probabilities, a row for each database, with the probability 1 - beta at least within gamma of each true answer and
P[x, y] <= e^(epsilon dist(x, x')) P[x', y] for all x, x', y is an epsilon-private mechanism with answers within gamma but with probability
beta.

Checked:
- the distances are a metric, and databases as declared exist
- every row sums to 1, and has the probability 1 - beta near the truth
- every ratio of two rows, for databases as near as they may be

Source: docs/theory/spaces.md#near-table, Kleinberg & Ligett 2010, Definitions 2.2 and 2.3
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import ONE, Num, call, mul, sub
from dpverify.trusted.kernel.model import Claim, Vector
from dpverify.trusted.language.rationals import read_rows
from dpverify.trusted.theories.spaces.databases import Finite, finite

NAME: Final = "near-table"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The upper bound "epsilon", by the "rows" of a table of rationals. Raises Rejected."""
    given, epsilon = finite(claim, evidence, NAME)
    rows = _rows(given, evidence.get("rows"))
    for x, row in enumerate(rows):
        near = sum((p for y, p in enumerate(row) if given.close(x, y)), Fraction(0))
        if not certainly_le(sub(ONE, given.beta), Num(near)):
            raise Rejected(NAME, f"row {x}", f"answers near the truth have the probability {near}, which is not certainly enough")
    for x, row in enumerate(rows):
        for other in range(len(rows)):
            if other != x:
                ratio = _ratio(row, rows[other], f"rows {x} and {other}")
                if not certainly_le(call("log", Num(ratio)), mul(epsilon, given.least(x, other))):
                    raise Rejected(NAME, f"rows {x} and {other}", f"their ratio {ratio} is not certainly allowed at their distance")
    return Bound("upper", epsilon)


def _rows(given: Finite, table: Any) -> tuple[Vector, ...]:
    rows = read_rows(table, "rows", NAME, len(given.distances))
    if len(rows) != len(given.truth):
        raise CertificateError(f"{NAME}: 'rows' does not have a row for each of the {len(given.truth)} databases.")
    for x, row in enumerate(rows):
        if min(row) < 0 or sum(row) != 1:
            raise Rejected(NAME, f"row {x}", "its entries must be one for each answer, at least 0, with the sum 1")
    return rows


def _ratio(row: Vector, other: Vector, where: str) -> Fraction:
    """The greatest ratio of two rows, which is at least 1."""
    if any(p and not q for p, q in zip(row, other, strict=True)):
        raise Rejected(NAME, where, "an answer has a positive probability in the first alone")
    return max(p / q for p, q in zip(row, other, strict=True) if q)
