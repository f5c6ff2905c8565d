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
from typing import Any, Final

from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.model import Claim, Vector
from dpverify.trusted.language.rationals import read_rows
from dpverify.trusted.theories.spaces.databases import Finite, finite, law_of, require

NAME: Final = "near-table"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The upper bound "epsilon", by the "rows" of a table of rationals. Raises Rejected."""
    given, epsilon = finite(claim, evidence, NAME)
    require(given, law_of(given, _rows(given, evidence.get("rows")), NAME), epsilon, NAME)
    return Bound("upper", epsilon)


def _rows(given: Finite, table: Any) -> tuple[Vector, ...]:
    rows = read_rows(table, "rows", NAME, len(given.distances))
    if len(rows) != len(given.truth):
        raise CertificateError(f"{NAME}: 'rows' does not have a row for each of the {len(given.truth)} databases.")
    for x, row in enumerate(rows):
        if min(row) < 0 or sum(row) != 1:
            raise Rejected(NAME, f"row {x}", "its entries must be one for each answer, at least 0, with the sum 1")
    return rows
