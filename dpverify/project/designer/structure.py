"""How a workload is worked with that has no matrix, or a long one: by characters, as a product of factors, or by its Gram matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm, prod

import numpy as np
from flint import arb, fmpz_mat

from dpverify.project.designer.question import Question
from dpverify.project.designer.shapes import MOST_COLUMNS, Dense, dense
from dpverify.project.designer.workloads import SYMMETRIC, Workload
from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.model import Matrix
from dpverify.trusted.theories.utility import noise_shapes


@dataclass(frozen=True)
class Structure:
    """Bounds on the number S of a workload, and what noise of the best shape is measured on.

    tables: the sets of attributes whose tables are asked for with the squares of their weights, where that is all; else one of factors,
    by their attributes: a matrix that is measured, None where the attribute's own values, or their total, are.
    """

    ends: tuple[arb, arb]
    tables: Mapping[tuple[int, ...], Fraction] | None = None
    factors: tuple[Dense | None, ...] = ()


def structure(question: Question) -> Structure | str:
    """Of a question; where none is in reach, why."""
    workload, adjacency = question.workload, question.adjacency
    try:
        if adjacency == "l2":
            return _of_balls(question)
        if workload is not None and workload.terms:
            if all(part in SYMMETRIC for term in workload.terms for part in term.parts):
                tables = tables_of(workload)
                return Structure(noise_shapes.of_tables(workload.sizes, tables, adjacency), tables)
            if len(workload.terms) == 1 and adjacency != "replace":
                return _of_product(workload, adjacency)
        rows, columns = question.size
        if columns > MOST_COLUMNS:
            return f"there are {columns if columns < 10**12 else 'too many'} kinds of records, more than {MOST_COLUMNS}, and no symmetry."
        counted, unit = _gram_of_terms(workload) if workload is not None and workload.terms else _gram_of_rows(question.query.rows)
        found = dense(counted, adjacency)
        return Structure((found.ends[0] / unit, found.ends[1] / unit), None, (found,))
    except DpverifyError as error:
        return f"the shape is not certified: {error}"
    except np.linalg.LinAlgError:
        return "floats find no shape: the kinds of records are too much alike."


def tables_of(workload: Workload) -> dict[tuple[int, ...], Fraction]:
    """The sets of attributes whose tables are asked for, with the squares of their weights."""
    found: dict[tuple[int, ...], Fraction] = {}
    for term in workload.terms:
        kept = tuple(i for i, part in enumerate(term.parts) if part == "identity")
        found[kept] = found.get(kept, Fraction(0)) + term.weight**2
    return found


def _of_balls(question: Question) -> Structure:
    """Histograms that are close in l2: S is the trace of the Gram matrix."""
    workload = question.workload
    if workload is None or not workload.terms:
        whole = sum((x * x for row in question.query.rows for x in row), Fraction(0))
    else:
        whole = sum((term.weight**2 * prod(map(trace_of, term.parts, workload.sizes)) for term in workload.terms), Fraction(0))
    return Structure((rational(whole),) * 2, None, (None,))


def trace_of(part: str, size: int) -> int:
    """How many pairs there are of a query of a family and a value that it counts."""
    return {"total": size, "identity": size, "prefix": size * (size + 1) // 2, "ranges": size * (size + 1) * (size + 2) // 6}[part]


def _of_product(workload: Workload, adjacency: str) -> Structure | str:
    (term,) = workload.terms
    ends: list[noise_shapes.Ends] = [(rational(term.weight**2),) * 2]
    known: dict[tuple[str, int], Dense] = {}
    factors: list[Dense | None] = []
    for part, size in zip(term.parts, workload.sizes, strict=True):
        if part in SYMMETRIC:
            ends.append(noise_shapes.of_tables([size], {(0,) if part == "identity" else (): Fraction(1)}, adjacency))
            factors.append(None)
            continue
        if size > MOST_COLUMNS:
            return f"an attribute has {size} values, more than {MOST_COLUMNS}, whose order matters."
        if (part, size) not in known:
            known[part, size] = dense(noise_shapes.gram(part, size), adjacency)
        ends.append(known[part, size].ends)
        factors.append(known[part, size])
    return Structure(noise_shapes.of_product(ends), None, tuple(factors))


def _gram_of_rows(rows: Matrix) -> tuple[fmpz_mat, int]:
    unit = lcm(*(x.denominator for row in rows for x in row))
    whole = fmpz_mat([[int(x * unit) for x in row] for row in rows])
    return whole.transpose() * whole, unit**2


def _gram_of_terms(workload: Workload) -> tuple[fmpz_mat, int]:
    unit = lcm(*((term.weight**2).denominator for term in workload.terms))
    total = np.zeros((workload.columns,) * 2, dtype=object)
    for term in workload.terms:
        whole = np.array([[int(term.weight**2 * unit)]], dtype=object)
        for part, size in zip(term.parts, workload.sizes, strict=True):
            counted = noise_shapes.gram(part, size).tolist()
            whole = np.kron(whole, np.array([[int(x) for x in row] for row in counted], dtype=object))
        total = total + whole
    return fmpz_mat(total.tolist()), unit
