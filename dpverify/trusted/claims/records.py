"""What sums over records must be to mean something."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from dpverify.trusted.kernel import model
from dpverify.trusted.kernel.expr import ONE, Num, format_expr, symbols
from dpverify.trusted.kernel.model import Claim, Part, RecordSums, on_integers
from dpverify.trusted.kernel.well_formed import require_well_formed
from dpverify.trusted.order.domains import faults as of_domains
from dpverify.trusted.sensitivity.record_sums import added, each, expressions, read_as, undefined


def of_records(claim: Claim) -> Iterator[str]:
    """All that is wrong with the sums of a claim."""
    every, right = model.sums_of(claim), True
    for fault in _of_each(every):
        right = False
        yield f"query: {fault}"
    if claim.measure is not None and claim.measure.name == model.NEARNESS:
        yield "query: how near answers are has nothing to do with neighbours."
    everything: tuple[Claim | Part, ...] = (claim, *model.all_parts(claim.mechanism))
    if any(asked.query is not None for asked in everything):
        yield "query: a histogram and sums over records are not in one claim. Write every query as sums, or none."
    if every[0].rows > 1 and any(isinstance(asked.mechanism, model.Subsample) for asked in everything):
        yield "query: of records that are drawn each is one person's: rows = 1."
    for asked in everything:
        if asked.sums is None:
            continue
        dimension = getattr(asked.mechanism, "dimension", ONE)
        if not isinstance(dimension, Num) or dimension.value != len(asked.sums.terms):
            yield f"query: {len(asked.sums.terms)} sums where the dimension is {format_expr(dimension)}."
        elif right and on_integers(asked.mechanism) and not added((asked.sums,)).whole:
            yield "query: noise on the integers hides integers alone, and what a record adds is not certainly always one."


def _of_each(every: tuple[RecordSums, ...]) -> Iterator[str]:
    first = every[0]
    if any((sums.record, sums.rows, sums.adjacency) != (first.record, first.rows, first.adjacency) for sums in every):
        yield "all sums of one claim are over the same records. Give each the same record, rows and adjacency."
    for sums in every:
        names = {name for name, _ in sums.record}
        if sums.adjacency not in ("add-remove", "replace"):
            yield f"sums over records have no neighbours by {sums.adjacency[:40]!r}. Use add-remove or replace."
        if sums.rows < 1 or len(names) < len(sums.record) or not sums.terms:
            yield "it wants at least one sum, fields with different names, and at least one row for each person."
        if any(other.also for term in sums.terms for other in term.also):
            yield "what is added to a number besides is a list, and no list is in another."
        yield from of_domains(sums.record)
        read = [one for term in sums.terms for one in expressions(term)]
        if unknown := sorted(frozenset[str]().union(*map(symbols, read)) - names):
            yield f"{unknown[0]!r} is no field of a record. Its fields are {', '.join(sorted(names)) or 'none'}."
            continue
        for one in read:
            if (bad := undefined(one, dict(sums.record))) is not None:
                yield f"{format_expr(bad)} is not certainly a number for all records."


def plain(claim: Claim) -> Claim:
    """The claim with a sensitivity of 1 for all sums, to be looked at as any claim: nothing but its form is like that of the claim."""

    def of(held: Any) -> Any:
        if held.sums is None:
            return held
        return replace(held, sums=None, sensitivity=ONE, **({"adjacency": held.sums.adjacency} if isinstance(held, Part) else {}))

    found: Claim = each(claim, of)
    return found


def read(claim: Claim, reading: str) -> Claim:
    """The claim as it is read, which means something itself. Raises Rejected, Undecided, CertificateError."""
    found = read_as(claim, reading)
    require_well_formed(found)
    return found
