"""How a workload is worked with that has no matrix, or a long one: by characters, as a product of factors, or by its Gram matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import lcm, prod

import numpy as np
from flint import arb, fmpz_mat

from dpverify.project.designer.question import Question
from dpverify.project.designer.shapes import MOST_COLUMNS, Dense, dense, greatest
from dpverify.project.designer.workloads import MOST_ENTRIES, SYMMETRIC, Workload, queries_of, rows_of
from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.model import Matrix
from dpverify.trusted.theories.utility import noise_shapes

_TURNS, _FEW = 60, 48


@dataclass(frozen=True)
class Structure:
    """Bounds on the number S of a workload, the upper one that of what noise of the best shape is measured on.

    most: where the greatest variance of one answer is made small, bounds on that over sigma^2.
    tables: the sets of attributes whose tables are asked for with the squares of their weights, where that is all; else one of factors,
    by their attributes: a matrix that is measured, None where the attribute's own values, or their total, are.
    """

    ends: tuple[arb, arb]
    tables: Mapping[tuple[int, ...], Fraction] | None = None
    factors: tuple[Dense | None, ...] = ()
    most: tuple[arb, arb] | None = None


def structure(question: Question) -> Structure | str:
    """Of a question; where none is in reach, why."""
    workload, adjacency = question.workload, question.adjacency
    try:
        if adjacency == "l2":
            return _of_balls(question)
        if workload is not None and workload.terms:
            few = adjacency == "replace" and workload.columns <= _FEW  # where characters leave something between the ends
            if not few and all(part in SYMMETRIC for term in workload.terms for part in term.parts):
                return _of_tables(question, workload)
            if len(workload.terms) == 1 and adjacency != "replace":
                return _of_product(workload, adjacency, greatest_variance=question.objective == "greatest")
        columns = question.size[1]
        if columns > MOST_COLUMNS:
            return f"there are {columns if columns < 10**12 else 'too many'} kinds of records, more than {MOST_COLUMNS}, and no symmetry."
        counted, unit = gram_of(question)
        found = dense(counted, adjacency)
        if question.objective == "greatest":
            if question.rows is None:
                return "the greatest variance of one answer wants the matrix of the queries, which has too many entries."
            whole, one = _whole(question.rows)
            best = greatest(whole, adjacency)
            above = noise_shapes.from_above(counted, best.measured, best.undone, best.unit, replaced=adjacency == "replace") / unit
            return Structure((found.ends[0] / unit, above), None, (best,), (best.ends[0] / one**2, best.ends[1] / one**2))
        return Structure((found.ends[0] / unit, found.ends[1] / unit), None, (found,))
    except DpverifyError as error:
        return f"the shape is not certified: {error}"
    except np.linalg.LinAlgError:
        return "floats find no shape: the kinds of records are too much alike."


def tables_of(workload: Workload, *, greatest_weight: bool = False) -> dict[tuple[int, ...], Fraction]:
    """The sets of attributes whose tables are asked for, with the squares of their weights, summed where a table is asked for twice."""
    found: dict[tuple[int, ...], Fraction] = {}
    for term in workload.terms:
        kept, before = tuple(i for i, part in enumerate(term.parts) if part == "identity"), Fraction(0)
        before = found.get(kept, before)
        found[kept] = max(before, term.weight**2) if greatest_weight else before + term.weight**2
    return found


def _of_tables(question: Question, workload: Workload) -> Structure:
    sizes, tables, adjacency = workload.sizes, tables_of(workload), question.adjacency
    ends = noise_shapes.of_tables(sizes, tables, adjacency)
    if question.objective == "total":
        return Structure(ends, tables)
    squares = tables_of(workload, greatest_weight=True)
    cells = {table: prod(sizes[i] for i in table) for table in squares}
    shares = {table: Fraction(1, len(squares)) for table in squares}
    for turn in range(_TURNS):
        weighted = {table: squares[table] * share / cells[table] for table, share in shares.items()}
        used = noise_shapes.measured(sizes, weighted, adjacency)
        variances = noise_shapes.variances_of_tables(sizes, squares, used)
        each = {table: float(squares[table]) * float(variance) for table, variance in variances.items()}
        mean = sum(float(shares[table]) * x for table, x in each.items())
        if max(each.values()) <= mean * (1 + 1e-6) or turn == _TURNS - 1:
            break
        grown = {table: float(shares[table]) * (x / mean) ** 0.9 if x else 0.0 for table, x in each.items()}
        whole = sum(grown.values())
        shares = {table: Fraction(max(1, round(x / whole * 2**40)), 2**40) for table, x in grown.items()}
    below = noise_shapes.of_tables(sizes, weighted, adjacency)[0] / rational(sum(shares.values(), Fraction(0)))
    above = reduce(arb.max, (rational(squares[table]) * variance for table, variance in variances.items()))
    total = sum((rational(tables[table] * cells[table]) * variance for table, variance in variances.items()), arb(0))
    return Structure((ends[0], total), weighted, (), (below, above))


def _of_balls(question: Question) -> Structure:
    """Histograms that are close in l2: S is the trace of the Gram matrix."""
    workload = question.workload
    if workload is None or not workload.terms:
        whole = sum((x * x for row in question.query.rows for x in row), Fraction(0))
    else:
        whole = sum((term.weight**2 * prod(map(trace_of, term.parts, workload.sizes)) for term in workload.terms), Fraction(0))
    ends = (rational(whole),) * 2
    if question.objective == "total":
        return Structure(ends, None, (None,))
    if workload is None or not workload.terms:
        most = max(sum((x * x for x in row), Fraction(0)) for row in question.query.rows)
    else:
        lengths = {"total": 1, "prefix": 1, "ranges": 1, "identity": 0}
        most = max(
            term.weight**2 * prod(size ** lengths[part] for part, size in zip(term.parts, workload.sizes, strict=True))
            for term in workload.terms
        )
    return Structure(ends, None, (None,), (rational(most),) * 2)


def trace_of(part: str, size: int) -> int:
    """How many pairs there are of a query of a family and a value that it counts."""
    return {"total": size, "identity": size, "prefix": size * (size + 1) // 2, "ranges": size * (size + 1) * (size + 2) // 6}[part]


def _of_product(workload: Workload, adjacency: str, *, greatest_variance: bool) -> Structure | str:
    (term,) = workload.terms
    ends: list[noise_shapes.Ends] = [(rational(term.weight**2),) * 2]
    known: dict[tuple[str, int], Dense] = {}
    factors: list[Dense | None] = []
    most = list(ends)
    for part, size in zip(term.parts, workload.sizes, strict=True):
        if part in SYMMETRIC:
            ends.append(noise_shapes.of_tables([size], {(0,) if part == "identity" else (): Fraction(1)}, adjacency))
            factors.append(None)
            most.append((arb(1), arb(1)))
            continue
        if size > MOST_COLUMNS:
            return f"an attribute has {size} values, more than {MOST_COLUMNS}, whose order matters."
        if (part, size) not in known:
            known[part, size] = dense(noise_shapes.gram(part, size), adjacency)
        found = known[part, size]
        if greatest_variance and queries_of(part, size) * size > MOST_ENTRIES:
            return f"the greatest variance of one answer wants the matrix of {part}, which has too many entries."
        if greatest_variance:
            best, counted = greatest(fmpz_mat(rows_of(part, size)), adjacency), found.counted
            ends.append((found.ends[0], noise_shapes.from_above(counted, best.measured, best.undone, best.unit, replaced=False)))
            most.append(best.ends)
            factors.append(best)
        else:
            ends.append(found.ends)
            factors.append(found)
    bounds = noise_shapes.of_product(ends)
    return Structure(bounds, None, tuple(factors), noise_shapes.of_product(most) if greatest_variance else None)


def gram_of(question: Question) -> tuple[fmpz_mat, int]:
    """The Gram matrix of the weighted queries as integers, and what they are multiples of."""
    workload = question.workload
    return _gram_of_terms(workload) if workload is not None and workload.terms else _gram_of_rows(question.query.rows)


def _gram_of_rows(rows: Matrix) -> tuple[fmpz_mat, int]:
    whole, unit = _whole(rows)
    return whole.transpose() * whole, unit**2


def _whole(rows: Matrix) -> tuple[fmpz_mat, int]:
    unit = lcm(*(x.denominator for row in rows for x in row))
    return fmpz_mat([[int(x * unit) for x in row] for row in rows]), unit


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
