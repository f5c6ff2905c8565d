"""The query that a claim states: its matrix, row by row, and the sensitivity that follows from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dpverify.report.derived import sensitivity
from dpverify.report.page.blocks import Block, Facts, Fold, Listing
from dpverify.report.page.subject import Claimed
from dpverify.report.record_sums import lines
from dpverify.report.words import over_records
from dpverify.trusted.kernel.expr import ONE, format_expr
from dpverify.trusted.kernel.model import Claim, Query, once, parts_of, sums_of

TITLE = ""
MOST: Final = 24
"""As many rows, and as many columns, as are shown; the certificate holds all."""


def blocks(subject: Claimed) -> Sequence[Block]:
    """The matrices of a claim and of its parts, with what they are asked about."""
    shown: list[Block] = []
    for name, query in _queries(subject.entry.claim):
        rows, columns = len(query.rows), len(query.rows[0])
        shown += [Facts([(name, f"{rows} by {columns}, neighbours by {query.adjacency}; a row a query, a column a kind of record")])]
        shown += [Listing(matrix(query))]
    over = sums_of(subject.entry.claim)
    if over:
        written = "\n".join(line for sums in over for line in lines(sums))
        return [Fold("The sums over records", [Facts([("neighbours", over_records(over[0]))]), Listing(written)])]
    derived = sensitivity(subject.entry)
    if not shown:
        return []
    return [*([Facts([("sensitivity, derived", derived)])] if derived else []), Fold("The query as a matrix", shown)]


def _queries(claim: Claim) -> Iterator[tuple[str, Query]]:
    """The query of a claim, and those of its parts, at the first depth."""
    if claim.query is not None:
        yield "query", claim.query
    for number, (part, times) in enumerate(map(once, parts_of(claim.mechanism)[:MOST]), 1):
        if part.query is not None:
            yield f"query of part {number}" + ("" if times == ONE else f", {format_expr(times)} times"), part.query


def matrix(query: Query) -> str:
    """Rows of numbers in columns, those that are left out told."""
    rows = [[*map(str, row[:MOST]), *(["..."] if len(row) > MOST else [])] for row in query.rows[:MOST]]
    width = max(len(entry) for row in rows for entry in row)
    lines = ["  ".join(f"{entry:>{width}}" for entry in row) for row in rows]
    return "\n".join([*lines, *([f"... {len(query.rows) - MOST} more rows"] if len(query.rows) > MOST else [])])
