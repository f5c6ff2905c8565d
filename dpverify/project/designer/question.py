"""What `design` is asked: a matrix of queries or a workload by name, the neighbours, and the privacy that is wanted."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpverify.catalogue.checks import number_faults
from dpverify.catalogue.toml import Decimal, Fault, Fields, bound_nesting, long_integers, not_readable, read_text, shorten
from dpverify.catalogue.values import read_choice, read_matrix, read_number, read_table
from dpverify.errors import SpecError
from dpverify.project.designer.workloads import Workload, read_workload
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.expr import ZERO, Expr, symbols
from dpverify.trusted.kernel.model import ADJACENCIES, Query
from dpverify.trusted.kernel.well_formed import SHARE
from dpverify.trusted.sensitivity.queries import query_faults


@dataclass(frozen=True, slots=True)
class Question:
    """A query with its neighbours, and the epsilon and delta that its answer is to have. sizes, cited: of a workload by name."""

    file: str
    query: Query
    epsilon: Expr
    delta: Expr = ZERO
    workload: Workload | None = None

    @property
    def name(self) -> str:
        """What is asked, in words."""
        rows, columns = len(self.query.rows), len(self.query.rows[0])
        return self.workload.name if self.workload else f"{rows} quer{'ies' if rows > 1 else 'y'} on {columns} kinds of records"

    @property
    def rate(self) -> float:
        """Epsilon in floats."""
        return float(constant(self.epsilon))


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
    epsilon, delta = table.need("epsilon", read_number, None), table.may("delta", read_number, ZERO)
    table.done()
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if value is not None and symbols(value):
            table.fault(f"{name} = {shorten(value)} has the free symbol {min(symbols(value))!r}. Give a number.")
            return None
    if epsilon is not None and not certainly_lt(ZERO, epsilon):
        table.fault(f"epsilon = {shorten(epsilon)} is not certainly above 0.")
    for fault in number_faults("delta", delta, {}, SHARE):
        table.fault(fault)
    matrix = rows if workload is None else workload.rows
    if matrix is None or epsilon is None or not adjacency:
        return None
    query = Query(matrix, adjacency)
    for fault in query_faults(query, len(matrix)):
        table.fault(fault)
    if not table.faults and not any(map(any, matrix)):
        table.fault("query: every entry is 0, and the answer is known without looking at the data.")
    elif not table.faults and adjacency == "replace" and len(set(zip(*matrix, strict=True))) == 1:
        table.fault("query: all records count alike, so that the answer is the same when one is replaced, and needs no noise.")
    return None if table.faults else Question(file, query, epsilon, delta, workload)
