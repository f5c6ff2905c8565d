"""What `design` is asked: a matrix of queries or a workload by name, the neighbours, and the privacy that is wanted."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from dpverify.catalogue.checks import number_faults
from dpverify.catalogue.toml import Decimal, Fault, Fields, bound_nesting, long_integers, not_readable, read_text, shorten
from dpverify.catalogue.values import read_choice, read_divergence, read_matrix, read_number, read_table
from dpverify.errors import SpecError
from dpverify.project.designer.workloads import Workload, read_weights, read_workload
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.canonical_form import TIGHT
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, parse, symbols
from dpverify.trusted.kernel.model import ADJACENCIES, CLAIMED_MEASURES, Claim, Matrix, Measure, Product, Query
from dpverify.trusted.kernel.well_formed import SHARE
from dpverify.trusted.sensitivity.queries import query_faults

_ALIKE: Final = "query: all records count alike, so that the answer is the same when one is replaced, and needs no noise."
OBJECTIVES: Final = ("total", "greatest")
"""What is made small: the mean square of all answers' errors together, or the greatest variance of one answer."""


@dataclass(frozen=True)
class Question:
    """A query with its neighbours, and the privacy that its answer is to have.

    rows: the matrix of the queries, each times its weight; None where it has too many entries to be written out. epsilon, delta: None and 0
    where a measure stands in place of them. weights: of the queries, or of the terms of a workload; empty where all count alike.
    """

    file: str
    rows: Matrix | None
    adjacency: str
    epsilon: Expr | None
    delta: Expr = ZERO
    workload: Workload | None = None
    measure: Measure | None = None
    objective: str = "total"
    weights: tuple[Fraction, ...] = ()

    @cached_property
    def query(self) -> Query:
        """The queries as a matrix with the neighbours; where `rows` has it."""
        assert self.rows is not None
        return Query(self.rows, self.adjacency)

    @property
    def size(self) -> tuple[int, int]:
        """How many queries there are, and kinds of records."""
        if self.workload is not None:
            return self.workload.queries, self.workload.columns
        return len(self.query.rows), len(self.query.rows[0])

    @property
    def name(self) -> str:
        """What is asked, in words."""
        rows, columns = self.size
        return self.workload.name if self.workload else f"{rows} quer{'ies' if rows > 1 else 'y'} on {columns} kinds of records"

    @property
    def pure(self) -> bool:
        """Whether it is about epsilon alone."""
        return self.measure is None and self.delta == ZERO

    @property
    def stated(self) -> Expr:
        """Epsilon, where that is what is wanted."""
        assert self.epsilon is not None
        return self.epsilon

    @property
    def rate(self) -> float:
        """Epsilon in floats."""
        assert self.epsilon is not None
        return float(constant(self.epsilon))

    @property
    def claimed(self) -> Claim:
        """A claim of the privacy that is wanted, of a count."""
        return Claim(Product(parse("exp(-abs(z))"), ONE), self.epsilon, self.delta, sensitivity=ONE, measure=self.measure)


def read_question(path: str | Path) -> Question:
    """The question of a file. Raises SpecError listing all that is wrong with it."""
    file = str(path)
    try:
        text = read_text(Path(path))
        bound_nesting(text)
        data = tomllib.loads(text, parse_float=Decimal)
        if long := list(long_integers(data, file)):
            raise SpecError(long)
    except OSError as error:
        raise SpecError(f"{file}: cannot be read: {error.strerror or error}.") from error
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{file}: not TOML: {error}.") from error
    except ValueError as error:
        raise SpecError(f"{file}: {not_readable(error, text)}") from error
    except Fault as error:
        raise SpecError(f"{file}: {error}") from error
    return question_of(file, data)


def question_of(file: str, data: Mapping[str, Any]) -> Question:
    """The question of a table as a file has it. Raises SpecError listing all that is wrong with it."""
    faults: list[str] = []
    top = Fields(data, file, faults)
    inner = top.need("design", read_table, None)
    top.done()
    table = Fields({} if inner is None else inner, f"{file}, design", faults)
    found = None if inner is None else _question(file, table)
    if faults or found is None:
        raise SpecError(faults)
    return found


def _question(file: str, table: Fields) -> Question | None:
    key = table.one_of(("query", "workload"))
    rows = table.may("query", read_matrix, None) if key == "query" else None
    workload = table.may("workload", read_workload, None) if key == "workload" else None
    adjacency = table.need("adjacency", read_choice(ADJACENCIES), "")
    epsilon, delta, measure = _privacy(table)
    objective = table.may("objective", read_choice(OBJECTIVES), "total")
    weights = table.may("weights", read_weights, ())
    table.done()
    if table.faults or (rows is None and workload is None):
        return None
    if workload is not None:
        workload = _weighted(table, workload, weights)
        rows = None if workload is None else workload.rows
    elif weights and rows is not None:
        rows = _scaled(table, rows, weights)
    found = Question(file, rows, adjacency, epsilon, delta, workload, measure, objective, weights)
    for fault in () if rows is None else query_faults(Query(rows, adjacency), len(rows)):
        table.fault(fault)
    if not table.faults and rows is not None and not any(map(any, rows)):
        table.fault("query: every entry is 0, and the answer is known without looking at the data.")
    elif not table.faults and rows is not None and adjacency == "replace" and len(set(zip(*rows, strict=True))) == 1:
        table.fault(_ALIKE)
    totals = workload is not None and workload.terms and all(part == "total" for term in workload.terms for part in term.parts)
    if not table.faults and totals and adjacency == "replace":
        table.fault(_ALIKE)
    return None if table.faults else found


def _privacy(table: Fields) -> tuple[Expr | None, Expr, Measure | None]:
    """Epsilon with delta, or the measure in place of them; what is wrong with them is told to the table."""
    key = table.one_of(("epsilon", *CLAIMED_MEASURES))
    delta = table.may("delta", read_number, ZERO) if key in ("epsilon", None) else ZERO
    epsilon = table.may("epsilon", read_number, None) if key == "epsilon" else None
    measure: Measure | None = None
    if key == "renyi":
        value, order = table.may("renyi", read_divergence, (None, None))
        if value == TIGHT:
            table.fault('renyi: epsilon = "tight" asks for what a mechanism has, and none is given. Give a number.')
        elif isinstance(value, Expr):
            measure = Measure("renyi", value, order)
    elif key in CLAIMED_MEASURES:
        wanted = table.may(key, read_number, None)
        measure = None if wanted is None else Measure(key, wanted)
    value = epsilon if measure is None else measure.value
    name = "epsilon" if measure is None else measure.name
    for what, number in ((name, value), ("delta", delta)):
        if number is not None and symbols(number):
            table.fault(f"{what} = {shorten(number)} has the free symbol {min(symbols(number))!r}. Give a number.")
            return None, ZERO, None
    if value is not None and not certainly_lt(ZERO, value):
        table.fault(f"{name} = {shorten(value)} is not certainly above 0.")
    for fault in number_faults("delta", delta, {}, SHARE):
        table.fault(fault)
    return epsilon, delta, measure


def _scaled(table: Fields, rows: Matrix, weights: tuple[Fraction, ...]) -> Matrix:
    if len(weights) != len(rows):
        table.fault(f"weights: there are {len(weights)} of them, and {len(rows)} queries.")
        return rows
    return tuple(tuple(weight * x for x in row) for weight, row in zip(weights, rows, strict=True))


def _weighted(table: Fields, workload: Workload, weights: tuple[Fraction, ...]) -> Workload | None:
    """The workload with weights on its terms, or on all its queries, where it is no larger than a matrix can be written out."""
    if weights and len(weights) == len(workload.terms):
        terms = tuple(replace(term, weight=weight * term.weight) for weight, term in zip(weights, workload.terms, strict=True))
        return replace(workload, terms=terms)
    if weights and workload.rows is not None and len(weights) == workload.queries:
        return replace(workload, terms=(), written=_scaled(table, workload.rows, weights))
    if weights:
        families = f"{len(workload.terms)} families of queries, such as marginals, and " if workload.terms else ""
        table.fault(f"weights: there are {len(weights)} of them; the workload has {families}{workload.queries} queries in all.")
    return workload
