"""Certificates written: the claim, its hash and the lines of its proof, as `kernel.certificate` reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dpverify.trusted.kernel.canonical_form import claim_hash, to_json
from dpverify.trusted.kernel.certificate import SCHEMA, Line
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim


def pack(claim: Claim, prec: int, verdict: str, lines: Iterable[Line], signs: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """The JSON object of a certificate. prec: of the lines that say no other, and of the signs that are shown."""
    canonical = to_json(claim)
    return {
        "schema": SCHEMA,
        "claim": canonical,
        "claim_sha256": claim_hash(canonical),
        "prec": prec,
        "verdict": verdict,
        "lines": [_packed(line, prec) for line in lines],
        **({"signs": list(signs)} if signs else {}),
    }


def _packed(line: Line, prec: int) -> dict[str, Any]:
    """What a line is, without what it need not say."""
    found: dict[str, Any] = {"rule": line.rule}
    found |= {"place": list(line.place)} if line.place else {}
    found |= {"parameters": dict(line.parameters)} if line.parameters else {}
    found |= {"premises": list(line.premises)} if line.premises else {}
    return found | ({"prec": line.prec} if line.prec != prec else {})


def lines(facts: Iterable[Fact]) -> list[Fact]:
    """The facts with all their premises, each after its own."""
    found: dict[int, Fact] = {}

    def visit(fact: Fact) -> None:
        if id(fact) not in found:
            for premise in fact.premises:
                visit(premise)
            found[id(fact)] = fact

    for fact in facts:
        visit(fact)
    return list(found.values())


def record(facts: Iterable[Fact]) -> tuple[Line, ...]:
    """The facts with all their premises, as the lines of a certificate."""
    every = lines(facts)
    number = {id(fact): index for index, fact in enumerate(every)}
    return tuple(
        Line(fact.rule, fact.place, fact.parameters, tuple(number[id(premise)] for premise in fact.premises), fact.prec) for fact in every
    )
