"""Laplace noise for workloads by their structure: on the answers, on the histogram, and on the rows of strategies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Final

import numpy as np
from flint import arb

from dpverify.project.designer.candidates import Candidate, NotTried
from dpverify.project.designer.laplace import Rows, rows_for, shares_of_tables
from dpverify.project.designer.question import Question
from dpverify.project.designer.shapes import MOST_COLUMNS, Dense
from dpverify.project.designer.structure import gram_of, tables_of, trace_of
from dpverify.project.designer.whole import PRECISION
from dpverify.project.designer.workloads import SYMMETRIC, Term, Workload
from dpverify.trusted.kernel.balls import constant, precision, rational
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.theories.utility import laplace_strategies
from dpverify.trusted.theories.utility.any_mechanism import REALS
from dpverify.trusted.theories.utility.noise_shapes import gram

LEAST_COLUMNS: Final = 8
"""Kinds of records of a query that is written out, from where on a strategy is looked for beside those that are written out."""
MOST_JOINED: Final = 64
"""The same where tables of counts are asked for, which have shares of their own."""
_TURNS: Final = 3


@dataclass(frozen=True, slots=True)
class Plan:
    """A strategy for some terms of a workload, or all queries. share: of epsilon. terms: by number, empty for all queries as one matrix.

    factors: of each attribute, None where its own values, or their total, are measured; or one on all kinds of records.
    """

    terms: tuple[int, ...]
    share: Fraction
    factors: tuple[Rows | Dense | None, ...]

    @property
    def reach(self) -> int:
        """By how much one record moves what is measured, in l1, at most."""
        return prod(factor.reach for factor in self.factors if factor is not None)


@dataclass(frozen=True, slots=True)
class Laplace:
    """A mechanism with what its root mean square error is at most. whole: whether the noise is on the integers.

    shares: of epsilon, for each term whose answers have noise; tables: for each table of counts that is measured; plans: strategies. Where
    all are empty, the histogram has noise.
    """

    candidate: Candidate
    rms: arb
    whole: bool
    shares: tuple[Fraction, ...] = ()
    tables: Mapping[tuple[int, ...], Fraction] | None = None
    plans: tuple[Plan, ...] = ()


def mechanisms(question: Question) -> Iterator[Laplace | NotTried]:
    """Those that are tried for a pure epsilon where neighbours are not known by l2 distance alone."""
    workload, written = question.workload, question.rows is not None
    if question.adjacency == "l2" or (written and question.size[1] < LEAST_COLUMNS):
        return
    whole = question.adjacency not in REALS
    name = "geometric" if whole else "laplace"
    with precision(PRECISION):
        if workload is not None and workload.terms and not written:
            yield from _plain(question, workload, name)
        for kind, how, find in (
            (f"{name}, tables", "tables of counts, each as precise as is worth it", _of_tables),
            (f"{name}, strategy", "the rows of a strategy", _of_columns),
            (f"{name}, product strategy", "products of strategies for each attribute", _of_products),
            (f"{name}, a strategy each", "a strategy for each family of queries", _each),
        ):
            try:
                found = find(question)
            except (DpverifyError, np.linalg.LinAlgError) as error:
                yield NotTried(kind, f"floats find no strategy that is certified: {error}")
                continue
            if found is not None and (found[1] is not None or _is_news(found[2])):
                square, tables, plans = found
                rms = (square * _variance(_epsilon(question), 1 if question.adjacency != "replace" else 2, whole=False)).sqrt()
                told = f"{name} noise on {how}, and answers by least squares"
                yield Laplace(Candidate(kind, told, "", float(rms)), rms, whole, (), tables, plans)


def _epsilon(question: Question) -> arb:
    assert question.epsilon is not None
    return constant(question.epsilon)


def _plain(question: Question, workload: Workload, name: str) -> Iterator[Laplace]:
    """Noise on every cell, and on every answer."""
    whole, epsilon = question.adjacency not in REALS, _epsilon(question)
    twice = 2 if question.adjacency == "replace" else 1
    squares = sum((term.weight**2 * prod(map(trace_of, term.parts, workload.sizes)) for term in workload.terms), Fraction(0))
    rms = (rational(squares) * _variance(epsilon, twice, whole=whole)).sqrt()
    yield Laplace(Candidate(f"{name}, histogram", f"the same {name} noise on every cell, summed", "", float(rms)), rms, whole)
    both = zip(workload.terms, workload.lengths, strict=True)
    shares = _cube_roots([float(one.weight**2 * count * prod(map(moved_by, one.parts, workload.sizes)) ** 2) for one, count in both])
    square = arb(0)
    for term, count, share in zip(workload.terms, workload.lengths, shares, strict=True):
        moved = twice * prod(map(moved_by, term.parts, workload.sizes))
        square += rational(term.weight**2 * count) * _variance(epsilon * rational(share), moved, whole=whole)
    how = f"{name} noise on every answer, each family of queries as precise as is worth it"
    yield Laplace(Candidate(f"{name}, each family", how, "", float(square.sqrt())), square.sqrt(), whole, shares)


def _cube_roots(sizes: Sequence[float]) -> tuple[Fraction, ...]:
    """Shares of epsilon: as the cube roots of what errors weigh."""
    found = [Fraction(max(1, round(size ** (1 / 3) * 2**20))) for size in sizes]
    return tuple(share / sum(found) for share in found)


def _variance(epsilon: arb, moved: int, *, whole: bool) -> arb:
    """Of Laplace noise of the scale moved/epsilon, or of geometric noise."""
    rate = epsilon / moved
    return 1 / (2 * (rate / 2).sinh() ** 2) if whole else 2 / rate**2


def moved_by(part: str, size: int) -> int:
    """How many queries of a family count one record at most."""
    return {"total": 1, "identity": 1, "prefix": size, "ranges": (size + 1) ** 2 // 4}[part]


# -- strategies ------------------------------------------------------------------------------------------

Found = tuple[arb, Mapping[tuple[int, ...], Fraction] | None, tuple[Plan, ...]]
"""The mean square error over the variance of Laplace noise where records move a number by 1, and how it is had."""


def _is_news(plans: Sequence[Plan]) -> bool:
    """Whether something is measured beside the values themselves, each family of queries with a share of its own for one thing."""
    return len(plans) > 1 or any(isinstance(one, Rows) and one.measured.nrows() > one.measured.ncols() for one in plans[0].factors)


def _of_tables(question: Question) -> Found | None:
    workload = question.workload
    if workload is None or not _joined(workload):
        return None
    asked = tables_of(workload)
    shares = shares_of_tables(workload.sizes, asked)
    return None if shares is None else (laplace_strategies.of_tables(workload.sizes, asked, shares), shares, ())


def _of_columns(question: Question) -> Found | None:
    """One strategy on all kinds of records."""
    workload, columns = question.workload, question.size[1]
    if workload is not None and len(workload.terms) == 1 < len(workload.sizes):
        return None  # a product says the same
    if not 1 < columns <= (MOST_COLUMNS if workload is None or not _joined(workload) else MOST_JOINED):
        return None
    counted, unit = gram_of(question)
    found = rows_for([counted], [1.0])
    return found.errors[0] * found.reach**2 / unit, None, (Plan((), Fraction(1), (found,)),)


def _of_products(question: Question) -> Found | None:
    workload = question.workload
    if workload is None or not workload.terms or len(workload.sizes) == 1 or _joined(workload) or len(workload.terms) > 1000:
        return None
    return _plan(workload, tuple(range(len(workload.terms))), Fraction(1))


def _each(question: Question) -> Found | None:
    workload = question.workload
    if workload is None or _joined(workload) or not 1 < len(workload.terms) <= 30:
        return None
    found = [_plan(workload, (number,), Fraction(1)) for number in range(len(workload.terms))]
    if None in found:
        return None
    known = [one for one in found if one is not None]
    shares = _cube_roots([float(square) for square, _, _ in known])
    total = sum((square / rational(share) ** 2 for share, (square, _, _) in zip(shares, known, strict=True)), arb(0))
    return total, None, tuple(Plan(plans[0].terms, share, plans[0].factors) for share, (_, _, plans) in zip(shares, known, strict=True))


def _joined(workload: Workload) -> bool:
    """Whether tables of counts are all that is asked for, which have shares of their own."""
    return bool(workload.terms) and all(part in SYMMETRIC for term in workload.terms for part in term.parts)


def _plan(workload: Workload, numbers: tuple[int, ...], share: Fraction) -> Found | None:
    """A strategy for each attribute, found in turn with the others as they are."""
    terms, sizes = [workload.terms[number] for number in numbers], workload.sizes
    families = [sorted({term.parts[i] for term in terms}) for i in range(len(sizes))]
    if any(size > MOST_COLUMNS for size, parts in zip(sizes, families, strict=True) if not _itself(parts)):
        return None
    known: dict[tuple[tuple[str, ...], int, tuple[float, ...]], Rows] = {}
    factors: list[Rows | None] = [None] * len(sizes)
    both = zip(families, sizes, strict=True)
    costs = [[float(trace_of(part, n)) if part != "total" or len(parts) > 1 else 1.0 for part in parts] for parts, n in both]
    open_ = [i for i, parts in enumerate(families) if not _itself(parts)]
    for _ in range(_TURNS if len(terms) > 1 and len(open_) > 1 else 1):
        for i in open_:
            parts = families[i]
            worth = [sum(float(t.weight) ** 2 * _others(t, i, families, costs) for t in terms if t.parts[i] == part) for part in parts]
            key = (tuple(parts), sizes[i], tuple(float(f"{x / sum(worth):.3e}") for x in worth))
            if key not in known:
                known[key] = rows_for([gram(part, sizes[i]) for part in parts], key[2])
            factors[i] = found = known[key]
            costs[i] = [float(error) * found.reach**2 for error in found.errors]
    total = arb(0)
    for term in terms:
        error = rational(term.weight**2)
        for part, parts, size, factor in zip(term.parts, families, sizes, factors, strict=True):
            if factor is None:
                error *= 1 if parts == ["total"] else trace_of(part, size)
            else:
                error *= factor.errors[parts.index(part)] * factor.reach**2
        total += error
    return total, None, (Plan(numbers, share, tuple(factors)),)


def _itself(parts: Sequence[str]) -> bool:
    """Whether an attribute's own values, or their total, are all that is asked for."""
    return list(parts) in (["total"], ["identity"])


def _others(term: Term, at: int, families: Sequence[Sequence[str]], costs: Sequence[Sequence[float]]) -> float:
    return prod(costs[i][families[i].index(part)] for i, part in enumerate(term.parts) if i != at)
