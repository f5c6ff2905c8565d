"""Sums over records, in plain words."""

from __future__ import annotations

from collections.abc import Iterator

from dpverify.report.words import domain
from dpverify.trusted.kernel.expr import format_expr
from dpverify.trusted.kernel.model import Guard, RecordSummand, RecordSums


def lines(sums: RecordSums) -> Iterator[str]:
    """What is added up, and what a record is."""
    for term in sums.terms:
        yield f"sum of {', and of '.join(f'{format_expr(one.value)}{_where(one)}' for one in _added_up(term))}"
    yield f"a record: {', '.join(f'{name} {domain(held)}' for name, held in sums.record)}"


def _added_up(term: RecordSummand) -> Iterator[RecordSummand]:
    """What is added to one number, each by itself."""
    yield term
    for other in term.also:
        yield from _added_up(other)


def _where(term: RecordSummand) -> str:
    """The records that count; nothing where all do."""
    if () in term.where:
        return ""
    cases = [" and ".join(map(_guard, every)) for every in term.where]
    return f" where {' or '.join(f'({case})' if len(cases) > 1 else case for case in cases)}" if cases else " of no record"


def _guard(guard: Guard) -> str:
    return f"{format_expr(guard.left)} {'>' if guard.strict else '>='} 0"
