"""Mechanisms for a query in Python: design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpverify.api.digits import checked
from dpverify.catalogue import Spec
from dpverify.project import designer
from dpverify.report import designs
from dpverify.search import verify as judging
from dpverify.trusted.kernel.judgement import Judgement

Entry = int | str | Fraction | Decimal
"""A number that is exact."""


@dataclass(frozen=True)
class Designed(designer.Design):
    """Mechanisms for a query, which shows itself as the command line does."""

    def __str__(self) -> str:
        return "\n".join(designs.lines(self))


def design(
    query: Sequence[Sequence[Entry]] | None = None, *, workload: Mapping[str, Any] | None = None, adjacency: str,
    epsilon: Entry | None = None, delta: Entry | None = None, zcdp: Entry | None = None, gdp: Entry | None = None,
    renyi: Mapping[str, Any] | None = None, objective: str = "total", weights: Sequence[Entry] | None = None,
    output: str | Path | None = None, digits: int = 20,
) -> Designed:  # fmt: skip
    """Mechanisms for a query, or a workload by name, in the order of their certified errors; what `dpverify design` tells.

    query: a row for each linear query, a column for each kind of record. workload: in its place a table as files have it, such as
    {"kind": "prefix", "length": 8}. adjacency: "add-remove", "replace", "l1" or "l2". The privacy is epsilon (in nats) with a delta, or
    zcdp, gdp, or renyi = {"order": 2, "epsilon": 1}. objective: "total", the mean square of all errors, or "greatest", the greatest
    variance of one answer. weights: by how much the error of each query counts, or of each family of a workload, such as a marginal.
    output: a folder for the claim files. Numbers are integers, fractions, decimals, or expressions as texts. Raises SpecError listing all
    that is wrong with what is asked.
    """
    checked(digits)
    asked: dict[str, Any] = {"query": query, "workload": workload, "adjacency": adjacency, "epsilon": epsilon, "delta": delta}
    asked |= {"zcdp": zcdp, "gdp": gdp, "renyi": renyi, "objective": objective, "weights": weights}
    given = {key: _as_in_files(value) for key, value in asked.items() if value is not None}

    def judge(specs: Sequence[Spec]) -> list[Judgement | None]:
        return [judging.verify(spec.claims[0].claim, digits).judgement for spec in specs]

    found = designer.design(designer.question_of("design", {"design": given}), judge)
    if output is not None:
        found = designer.written(found, Path(output))
    return Designed(**{one.name: getattr(found, one.name) for one in fields(designer.Design)})


def _as_in_files(value: Any) -> Any:
    if isinstance(value, Fraction | Decimal):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _as_in_files(inside) for key, inside in value.items()}
    return [_as_in_files(inside) for inside in value] if isinstance(value, Sequence) and not isinstance(value, str) else value
