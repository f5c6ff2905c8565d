"""What a program pays for each of its noises, at the lines where they are drawn, and where answers are used without noise.

The costs are those of a proof of the program's own epsilon, which is above the claimed one where the claim is not proved: they say which
noise is too small, or which number moves too far, for what is claimed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpverify.catalogue import read_tables
from dpverify.catalogue.programs import NAMED, named, text_of
from dpverify.catalogue.toml import Fault
from dpverify.catalogue.values import read_value_or_domain
from dpverify.errors import SpecError
from dpverify.programs.compiled import Compiled
from dpverify.programs.naming import table_of
from dpverify.programs.reading import Faulty, compile_program, default_parameters
from dpverify.programs.values import Law
from dpverify.search.selection.shifts import shifts
from dpverify.search.verify import verify
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.expr import ZERO, format_expr
from dpverify.trusted.kernel.model import Claim, Domain, Stream

_OF_A_CLAIM = ("sensitivity", "query", "adjacency")


@dataclass(frozen=True, slots=True)
class Cost:
    """A line of a program, and in a sentence what is paid there, or why no price is enough."""

    line: int
    said: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.said}"


def costs(source: str, claim: Claim) -> tuple[Cost, ...]:
    """What the program of "path.py:name" pays, line by line; nothing where the claim is none of a pure epsilon, or it is not known."""
    match = NAMED.fullmatch(source)
    if match is None or claim.measure is not None or claim.epsilon is None or (claim.delta is not None and claim.delta != ZERO):
        return ()
    try:
        text = text_of(Path(match[1]), match[2])
        module, program = named(text)
        said = default_parameters(program, {})
        given = {name: read_value_or_domain(value) for name, value in said.items()}
        values = {name: value for name, value in given.items() if not isinstance(value, Domain)}
        domains = {name: value for name, value in given.items() if isinstance(value, Domain)}
        found = compile_program(module, program, values, domains, {}, plain=True)
        parts = _parts(found)
        if sum(part["kind"] == "stream" for part in parts) > 1 or _is_filter(compile_program(module, program, values, domains, {})):
            parts = []  # which loop draws a noise, or how often a step that is charged comes, is not known here
        different = [part for at, part in enumerate(parts) if part not in parts[:at]]
        paid = [cost for part in different for cost in _paid(found, dict(part), said, parts.count(part))]
    except (SpecError, Fault, Faulty):
        return ()
    bare = [Cost(line, f"an answer is {what} as it is, without noise.") for line, what in found.bare.items()]
    return tuple(sorted(dict.fromkeys(bare or paid), key=lambda one: one.line))


def _parts(found: Compiled) -> list[dict[str, Any]]:
    """The mechanisms that a program is made of, each with what a claim says of it."""
    table = {**found.mechanism, **found.claim}
    table = table["part"] if table["kind"] == "post_process" else table
    return [dict(part) for part in table["parts"]] if table["kind"] == "compose" else [dict(table)]


def _is_filter(found: Compiled) -> bool:
    """Whether a program spends a budget."""
    return any(part["kind"] == "filter" for part in _parts(found))


def _paid(found: Compiled, part: dict[str, Any], parameters: Mapping[str, Any], times: int) -> Iterator[Cost]:
    """What is paid for one of them, of which there are so many. Raises SpecError."""
    beside = {key: part.pop(key) for key in _OF_A_CLAIM if key in part}
    named_ = {**parameters, **found.mechanism.get("parameters", {}), **part.pop("parameters", {})}
    if endless := part["kind"] == "stream" and "queries" not in part:
        part, named_ = {**part, "queries": "steps_"}, {**named_, "steps_": "integer >= 1"}
    data = {"mechanism": {**part, "parameters": named_}, "claim": [{"epsilon": "tight", "delta": 0, **beside}]}
    claim = read_tables("program", data).claims[0].claim
    if isinstance(claim.mechanism, Stream):
        for shift in shifts(claim) or ():
            for law, line in [(law, line) for name, law, line in found.lines if name == shift.noise]:
                when = "" if shift.word is None else f" in a step that tells {shift.word!r}"
                often = ", and nothing limits how many such steps there are" if endless and not shift.counted else ""
                moved = "as much" if shift.moved == 1 else f"{shift.moved} times as much"
                yield Cost(line, f"{_call(law)} is moved by {moved} as an answer, which costs {format_expr(shift.costs)}{when}{often}.")
        return
    if (upper := verify(claim, 10).judgement.upper) is None:
        return
    noise = part.get("noise", part)
    lines = sorted({line for _, law, line in found.lines if table_of(law) == noise})
    for line in lines:
        what = "more than any epsilon" if isinstance(upper, Infinite) else format_expr(upper)
        often = f", {times} times" if times > 1 else ""
        yield Cost(line, f"{_call(tuple(noise.items()))} costs {what}{_for_what(beside)}{often}.")


def _for_what(beside: Mapping[str, Any]) -> str:
    query = beside.get("query")
    summed = query["sum"] if isinstance(query, dict) else None
    return f" in the sum of {summed[0]}" if isinstance(summed, list) and isinstance(summed[0], str) and summed[0] != "1" else ""


def _call(law: Law) -> str:
    table = table_of(law)
    if table.get("kind") != "builtin":
        return "the noise"
    return f"noise.{table['name']}({', '.join(str(value) for key, value in table.items() if key not in ('kind', 'name'))})"
