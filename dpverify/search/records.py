"""Sums over records: the proofs of the claims that such a claim is read as, put together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from dpverify.search.certificates import pack
from dpverify.search.verified import Verified
from dpverify.trusted.kernel import certificate
from dpverify.trusted.kernel.canonical_form import from_json, to_json
from dpverify.trusted.kernel.certificate import Line
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.judgement import Judgement
from dpverify.trusted.kernel.model import Claim, Vector, sums_of
from dpverify.trusted.kernel.well_formed import require_well_formed
from dpverify.trusted.sensitivity.record_sums import LOWER, UPPER, Record, persons_of, read_as, side_of
from dpverify.trusted.sensitivity.sensitivity import sensitivity_bounds


def over_records(claim: Claim, judge: Callable[[Claim], Verified], replayed: Callable[[Any], Verified]) -> Verified:
    """Prove or refute a claim about sums over records. judge: what does so with any other claim. replayed: what a certificate shows."""
    claim = from_json(to_json(claim))
    require_well_formed(claim)
    lines, signs, reasons, prec = list[Line](), list[Mapping[str, Any]](), list[str](), certificate.PRECISIONS[0]
    for reading in (*(UPPER if len(sums_of(claim)) > 1 else UPPER[:1]), LOWER):
        try:
            read = read_as(claim, reading)
            require_well_formed(read)
        except DpverifyError as error:
            reasons.append(str(error))
            continue
        found = judge(read)
        reasons += found.reasons
        prec = max(prec, found.certificate["prec"])
        signs += [sign for sign in found.certificate.get("signs", []) if sign not in signs]
        lines += _placed(found, reading, side_of(claim, reading)[1], len(lines), everything=claim.utility and reading == LOWER)
    for verdict in certificate.VERDICTS:
        try:
            packed = pack(claim, prec, verdict, lines, signs)
            found = replayed(packed)
        except DpverifyError:
            continue
        if verdict == "REFUTED":
            return replace(found, judgement=with_tables(found.judgement))
        return found if verdict == "PROVED" else replace(found, reasons=tuple(dict.fromkeys(reasons)))
    raise AssertionError("no verdict is that of the lines")


def _placed(found: Verified, reading: str, sides: Sequence[str], before: int, everything: bool) -> Iterator[Line]:
    """The lines that state a bound on the sides that a reading gives, and those they rest on, at the places of that reading."""
    wanted = set[int]()
    for number, (line, bounds) in reversed(list(enumerate(found.proved))):
        if number in wanted or everything or any(bound.side in sides for bound in bounds):
            wanted |= {number, *line.premises}
    place = {number: before + count for count, number in enumerate(sorted(wanted))}
    for number in sorted(wanted):
        line = found.proved[number][0]
        yield replace(line, place=(reading, *line.place), premises=tuple(place[premise] for premise in line.premises))


def with_tables(judgement: Judgement) -> Judgement:
    """The judgement with the records, in its witness, that its neighbours differ by."""
    claim, witness = judgement.claim, dict(judgement.witness or {})
    every = sums_of(claim)
    kinds = list(persons_of(every).seen.items())
    numbers = [int(kind) - 1 for kind in re.findall(r"of kind (\d+)", str(witness.get("pair", "")))]
    if claim.sums is not None and (worst := sensitivity_bounds(read_as(claim, LOWER), None).at) is not None:
        numbers = _apart(claim.sums.adjacency, [vector for vector, _ in kinds], worst)
    if numbers:
        rows = f"{every[0].rows} records of " if every[0].rows > 1 else ""
        said = [f"{rows}{_record(kinds[number][1])}" for number in dict.fromkeys(numbers) if number < len(kinds)]
        only = ", and is not in the other" if len(said) == 1 else ""
        witness["tables"] = f"one person has {', and in the other table '.join(said)}{only}"
    return replace(judgement, witness=witness)


def _apart(adjacency: str, vectors: list[Vector], worst: Vector) -> list[int]:
    """The numbers of the vector, or of the two, that a difference of answers is."""
    wanted = {worst, tuple(-x for x in worst)}
    if adjacency == "add-remove":
        return [number for number, vector in enumerate(vectors) if vector in wanted][:1]
    pairs = combinations(range(len(vectors)), 2)
    found = ([i, j] for i, j in pairs if tuple(x - y for x, y in zip(vectors[i], vectors[j], strict=True)) in wanted)
    return next(found, [])


def _record(record: Record) -> str:
    """A record as readers see it; of fields that no sum reads nothing is said."""
    if not record:
        return "no record"
    return ", ".join(f"{name} = {value}" for name, value in record.items())
