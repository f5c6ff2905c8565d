"""A design run on data: noisy answers to the queries that were asked, with their standard deviations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial, reduce
from itertools import product
from math import ceil, prod, sqrt
from typing import Any, Final

import numpy as np
from flint import fmpz_mat

from dpverify.errors import DataError, DpverifyError
from dpverify.project.designer.data import Data
from dpverify.project.designer.exact import Floats, floats
from dpverify.project.designer.laplace import Rows
from dpverify.project.designer.question import Question
from dpverify.project.designer.shapes import Dense
from dpverify.project.designer.structure import tables_of
from dpverify.project.designer.tables import Laplace, Plan, moved_by
from dpverify.project.designer.whole import Shaped
from dpverify.project.designer.workloads import Term, queries_of, rows_of
from dpverify.samplers.integers import discrete_gaussian, discrete_laplace
from dpverify.samplers.mechanisms import of_claim
from dpverify.trusted.combinators.released import Noisy, answered, released
from dpverify.trusted.kernel.balls import constant, exact, precision
from dpverify.trusted.kernel.expr import Expr
from dpverify.trusted.kernel.fact import as_errors
from dpverify.trusted.kernel.model import Claim, Compose, Part, PostProcess
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.theories.utility import noise_shapes

MOST_NUMBERS: Final = 3_000_000
"""Numbers that noise is added to, or that come out."""
MOST_CELLS: Final = 1_000_000
"""Kinds of records that are all measured."""
EXACT: Final = "the noise is drawn on the integers, exactly, as numpy's generator gives its bits"
FLOATS: Final = "the noise is made of floats: its last bits may tell more of the data than the guarantee allows"
Generator = np.random.Generator


@dataclass(frozen=True, slots=True)
class Released:
    """Answers in the order of the queries, each with its standard deviation, or a bound on that. told: how the noise was drawn.

    names: of the queries.
    """

    answers: tuple[float, ...]
    deviations: tuple[float, ...]
    names: tuple[str, ...]
    told: tuple[str, ...]


def by_shape(question: Question, found: Shaped, data: Data, rng: Generator) -> Released:
    """Noise of the best shape. Raises DataError."""
    _bounded(question)
    terms = _terms(question)
    names = tuple(names_of(question))
    told = (EXACT if found.whole else FLOATS,)
    if found.structure.tables is not None:
        answers, deviations = _of_tables(question, found, data, rng)
    else:
        answers, deviations = _of_factors(question, found, data, rng, terms)
    return Released(tuple(answers.tolist()), tuple(deviations.tolist()), names, told)


def by_laplace(question: Question, found: Laplace, data: Data, rng: Generator) -> Released:
    """Geometric or Laplace noise on the answers, or on the histogram. Raises DataError."""
    _bounded(question)
    workload = question.workload
    assert question.epsilon is not None
    with precision(192):
        rate = exact(constant(question.epsilon).lower())
    twice = 2 if question.adjacency == "replace" else 1
    answers, deviations = [], []
    if found.tables is not None:
        return _of_shares(question, found, found.tables, data, rng, twice / rate)
    if found.plans:
        return _of_plans(question, found, data, rng, twice / rate)
    assert workload is not None
    if not found.shares:
        noisy = _noisy(data.dense(MOST_CELLS), twice / rate, rng, whole=found.whole)
        cells = noisy.reshape(workload.sizes)
        for term, count in zip(workload.terms, workload.lengths, strict=True):
            answers.append(_applied(term, cells).ravel())
            summed = [np.array([sum(row) for row in rows_of(part, n)]) for part, n in zip(term.parts, workload.sizes, strict=True)]
            deviations.append(np.sqrt(_deviation(twice / rate, whole=found.whole) ** 2 * reduce(np.kron, summed).astype(float)))
            assert len(answers[-1]) == count
    for term, count, share in zip(workload.terms, workload.lengths, found.shares, strict=True) if found.shares else ():
        scale = Fraction(twice * prod(map(moved_by, term.parts, workload.sizes))) / (rate * share)
        true = _applied(term, data.along([i for i, part in enumerate(term.parts) if part != "total"], MOST_NUMBERS), reduced=True)
        answers.append(_noisy(true.ravel(), scale, rng, whole=found.whole))
        deviations.append(np.full(count, _deviation(scale, whole=found.whole)))
    told = (EXACT if found.whole else FLOATS,)
    return Released(tuple(_flat(answers)), tuple(_flat(deviations)), tuple(names_of(question)), told)


def _of_shares(
    question: Question, found: Laplace, shares: Mapping[tuple[int, ...], Fraction], data: Data, rng: Generator, scale: Fraction
) -> Released:
    """Tables of counts have noise, and their contrasts are averaged over the tables that have them, those with little noise most."""
    workload = question.workload
    assert workload is not None
    sizes, whole = workload.sizes, sum(shares.values(), Fraction(0))
    if sum(prod(sizes[i] for i in kept) for kept in shares) > MOST_NUMBERS:
        raise DataError(f"noise is added to more than {MOST_NUMBERS} numbers in one release. Ask for fewer tables.")
    noisy = {}
    for kept, share in shares.items():
        counts = data.along(kept, MOST_NUMBERS)
        drawn = _noisy(counts.ravel(), scale * whole / share, rng, whole=found.whole)
        noisy[kept] = np.asarray(drawn, dtype=np.float64).reshape(counts.shape)
    seen: dict[tuple[int, ...], tuple[Floats, float]] = {}
    for kept, count, _ in noise_shapes.kinds_of_characters(sizes, tables_of(workload)):
        known = np.zeros([sizes[i] for i in kept])
        total = Fraction(0)
        for table, share in shares.items():
            if set(kept) <= set(table):
                beside = prod(sizes[i] for i in table if i not in kept)
                summed = noisy[table].sum(axis=tuple(axis for axis, i in enumerate(table) if i not in kept))
                known, total = known + float(share**2 / beside) * summed, total + share**2 / beside
        for axis in range(len(kept)):
            known = known - known.mean(axis=axis, keepdims=True)
        cells = prod(sizes[i] for i in kept)
        seen[kept] = known / float(total), 2 * float((scale * whole) ** 2 * count / (cells * total))
    answers, deviations = [], []
    for term in workload.terms:
        cells_of, square = _table(tuple(i for i, part in enumerate(term.parts) if part == "identity"), sizes, seen)
        answers.append(cells_of.ravel())
        deviations.append(np.full(cells_of.size, sqrt(square)))
    told = (EXACT if found.whole else FLOATS,)
    return Released(tuple(_flat(answers)), tuple(_flat(deviations)), tuple(names_of(question)), told)


def _of_plans(question: Question, found: Laplace, data: Data, rng: Generator, scale: Fraction) -> Released:
    """Rows of strategies have noise; answers are made of what these say of each kind of record."""
    answers: dict[int, Any] = {}
    deviations: dict[int, Any] = {}
    for plan in found.plans:
        size = scale * plan.reach / plan.share
        undone = [None if factor is None else _left_inverse(factor) for factor in plan.factors]
        told, sizes, summed = _measured(question, plan, data, partial(_noisy, scale=size, rng=rng, whole=found.whole), undone)
        for number, (some, spread) in _answered(question, plan.terms, told, sizes, undone, summed).items():
            answers[number], deviations[number] = some, sqrt(2) * float(size) * np.sqrt(spread)
    order = sorted(answers)
    told_ = (EXACT if found.whole else FLOATS,)
    found_, spreads = (tuple(_flat([each[k] for k in order])) for each in (answers, deviations))
    return Released(found_, spreads, tuple(names_of(question)), told_)


def _left_inverse(factor: Rows | Dense) -> Floats:
    rows, undone = (np.array([[float(x) for x in row] for row in matrix.tolist()]) for matrix in (factor.measured, factor.undone))
    return np.asarray(np.linalg.solve(undone @ rows, undone), dtype=np.float64)


def _flat(parts: Sequence[Any]) -> list[float]:
    return [float(x) for part in parts for x in np.asarray(part).ravel().tolist()]


def _noisy(true: Any, scale: Fraction, rng: Generator, *, whole: bool) -> Any:
    if whole:
        return true + discrete_laplace(scale, len(true), rng)
    return true.astype(float) + rng.laplace(scale=float(scale), size=len(true))


def _deviation(scale: Fraction, *, whole: bool) -> float:
    """Of Laplace noise, or of geometric noise."""
    rate = 1 / float(scale)
    return 1 / (sqrt(2) * float(np.sinh(rate / 2))) if whole else sqrt(2) * float(scale)


def _bounded(question: Question) -> None:
    if question.size[0] > MOST_NUMBERS:
        raise DataError(f"there are {question.size[0]} queries; at most {MOST_NUMBERS} are answered in one release. Ask for fewer.")


# -- tables of counts ------------------------------------------------------------------------------------


def _of_tables(question: Question, found: Shaped, data: Data, rng: Generator) -> tuple[Floats, Floats]:
    """Contrasts of each table and its margins are measured; the tables are sums of what they make of their cells."""
    workload, tables = question.workload, found.structure.tables
    assert workload is not None and tables is not None
    sizes = workload.sizes
    used = noise_shapes.measured(sizes, tables, question.adjacency)
    if sum(one.cells for one in used) > MOST_NUMBERS:
        raise DataError(f"noise is added to more than {MOST_NUMBERS} numbers in one release. Ask for fewer tables.")
    seen: dict[tuple[int, ...], tuple[Floats, float]] = {}
    if question.adjacency == "replace":
        seen[()] = np.array(float(data.total)), 0.0
    for one in used:
        counts = data.along(one.attributes, MOST_NUMBERS)
        for axis, i in enumerate(one.attributes):
            counts = sizes[i] * counts - counts.sum(axis=axis, keepdims=True)
        counts = np.asarray(counts * noise_shapes.FINE, dtype=counts.dtype)  # numpy makes a number of a table without axes
        variance = found.variance * one.variance
        if found.whole:
            noisy = counts.ravel() + discrete_gaussian(Fraction(ceil(variance)), one.cells, rng)
        else:
            noisy = counts.ravel().astype(float) + rng.normal(scale=sqrt(variance), size=one.cells)
        scaled = noisy.astype(float).reshape(counts.shape) / float(noise_shapes.FINE * one.cells)
        for axis in range(len(one.attributes)):
            scaled = scaled - scaled.mean(axis=axis, keepdims=True)
        seen[one.attributes] = scaled, float(variance / (noise_shapes.FINE * one.cells) ** 2 * Fraction(one.characters, one.cells))
    answers, deviations = [], []
    for term in workload.terms:
        kept = tuple(i for i, part in enumerate(term.parts) if part == "identity")
        table, square = _table(kept, sizes, seen)
        answers.append(table.ravel())
        deviations.append(np.full(table.size, sqrt(square)))
    return np.concatenate(answers), np.concatenate(deviations)


def _table(kept: tuple[int, ...], sizes: Sequence[int], seen: dict[tuple[int, ...], tuple[Floats, float]]) -> tuple[Floats, float]:
    table, square = np.zeros([sizes[i] for i in kept]), 0.0
    for choice in product((False, True), repeat=len(kept)):
        inside = tuple(i for i, chosen in zip(kept, choice, strict=True) if chosen)
        part, variance = seen[inside]
        spread = prod(sizes[i] for i, chosen in zip(kept, choice, strict=True) if not chosen)
        table = table + part.reshape([sizes[i] if chosen else 1 for i, chosen in zip(kept, choice, strict=True)]) / spread
        square += variance / spread**2
    return table, square


# -- products, and matrices ------------------------------------------------------------------------------


def _of_factors(
    question: Question, found: Shaped, data: Data, rng: Generator, terms: Sequence[Term] | None
) -> tuple[Floats, Floats]:
    """Rows of the factors are measured on all kinds of records, and the answers made of what these say of each kind."""
    factors = found.structure.factors
    square = found.variance * prod(factor.reach for factor in factors if factor is not None)
    plan = Plan(tuple(range(len(terms or ()))), Fraction(1), factors)
    undone = [None if factor is None else _undone(factor) for factor in factors]

    def noisy(true: Any) -> Any:
        if found.whole:
            return true + discrete_gaussian(Fraction(ceil(square)), len(true), rng)
        return true.astype(float) + rng.normal(scale=sqrt(square), size=len(true))

    told, sizes, summed = _measured(question, plan, data, noisy, undone)
    known = _answered(question, plan.terms, told, sizes, undone, summed)
    answers = [known[number][0] for number in sorted(known)]
    deviations = [np.sqrt(known[number][1] * float(square)) for number in sorted(known)]
    return np.concatenate(answers), np.concatenate(deviations)


def _measured(
    question: Question, plan: Plan, data: Data, noisy: Callable[[Any], Any], undone: Sequence[Floats | None]
) -> tuple[Floats, tuple[int, ...], list[int]]:
    """What the noisy rows of a plan say of each kind of record, by attribute; and the attributes that are summed over."""
    workload, factors = question.workload, plan.factors
    joint = len(factors) == 1
    terms = [workload.terms[number] for number in plan.terms] if workload is not None else []
    sizes = (question.size[1],) if joint or workload is None else workload.sizes
    summed = [
        i for i, factor in enumerate(factors) if factor is None and terms and not joint and all(term.parts[i] == "total" for term in terms)
    ]
    counts = data.dense(MOST_CELLS).reshape(sizes)
    counts = counts.sum(axis=tuple(summed), keepdims=True)
    for axis, factor in enumerate(factors):
        counts = counts if factor is None else _along(counts, axis, factor.measured)
    told = np.asarray(noisy(counts.ravel())).astype(float).reshape(counts.shape)
    for axis, matrix in enumerate(undone):
        if matrix is not None:
            told = np.moveaxis(np.tensordot(matrix, told, axes=(1, axis)), 0, axis)
    return told, sizes, summed


def _answered(
    question: Question, numbers: Sequence[int], told: Floats, sizes: Sequence[int], undone: Sequence[Floats | None], summed: Sequence[int]
) -> dict[int, tuple[Floats, Floats]]:
    """The answers to terms, by number, or to all queries, and the squared lengths of their rows after the map back."""
    workload, joint = question.workload, len(undone) == 1
    if workload is None or not workload.terms:
        rows = floats(question.query.rows)
        rows = rows / np.array([float(x) for x in question.weights])[:, None] if question.weights else rows
        spread = rows if undone[0] is None else rows @ undone[0]
        return {0: (rows @ told.ravel(), (spread**2).sum(axis=1))}
    found = {}
    for number in numbers or range(len(workload.terms)):
        term = workload.terms[number]
        cells = told.reshape(workload.sizes) if joint else told
        if joint:
            squares = _joint(term, workload.sizes, undone[0])
        else:
            squares = np.ones(1)
            for i, (part, n, matrix) in enumerate(zip(term.parts, workload.sizes, undone, strict=True)):
                lengths = np.ones(1) if i in summed else _alone(part, n, matrix)
                squares = np.asarray(np.kron(squares, lengths), dtype=np.float64)
        found[number] = _applied(term, cells, summed=summed).ravel(), squares
    return found


def _undone(factor: Dense) -> Floats:
    rows = np.array([[float(x) for x in row] for row in factor.measured.tolist()])
    return np.asarray(np.linalg.inv(rows), dtype=np.float64)


def _along(counts: Any, axis: int, matrix: fmpz_mat) -> Any:
    """The rows of a matrix of integers on one axis."""
    front = np.moveaxis(counts, axis, 0)
    if front.dtype.kind == "f":
        rows = np.array([[float(x) for x in row] for row in matrix.tolist()])
        return np.moveaxis(np.tensordot(rows, front, axes=(1, 0)), 0, axis)
    flat = front.reshape(front.shape[0], -1)
    found = matrix * fmpz_mat(flat.shape[0], flat.shape[1], [int(x) for x in flat.ravel().tolist()])
    values = np.array([int(x) for x in found.entries()], dtype=object)
    return np.moveaxis(values.reshape((found.nrows(), *front.shape[1:])), 0, axis)


def _joint(term: Term, sizes: Sequence[int], undone: Floats | None) -> Floats:
    """The squared lengths of a term's rows after the map back."""
    n = prod(sizes)
    axes = np.eye(n) if undone is None else undone
    total = np.zeros(prod(map(queries_of, term.parts, sizes)))
    for column in axes.T:
        total += _applied(term, column.reshape(sizes)).ravel() ** 2
    return total


def _alone(part: str, size: int, undone: Floats | None) -> Floats:
    """The squared lengths of the rows of one attribute's family after the map back; a total that is measured itself has length 1."""
    if undone is None:
        return np.ones(queries_of(part, size))
    return _joint(Term((part,)), (size,), undone)


def _applied(term: Term, cells: Any, *, reduced: bool = False, summed: Sequence[int] = ()) -> Any:
    """The answers to a term, an axis for each attribute; reduced: `cells` has none for those that are summed over. summed: already."""
    at = 0
    for i, part in enumerate(term.parts):
        if part == "total" and reduced:
            continue
        if part == "total" and i not in summed:
            cells = cells.sum(axis=at, keepdims=True)
        elif part in ("prefix", "ranges"):
            before = np.cumsum(cells, axis=at)
            if part == "prefix":
                cells = before
            else:
                low, high = np.triu_indices(cells.shape[at])
                padded = np.concatenate([np.zeros_like(np.take(before, [0], axis=at)), before], axis=at)
                cells = np.take(padded, high + 1, axis=at) - np.take(padded, low, axis=at)
        at += 1
    return cells


# -- claim files -----------------------------------------------------------------------------------------


def by_claim(question: Question, claim: Claim, data: Data, rng: Generator, most: float) -> Released:
    """A mechanism of a claim file, by its sampler. most: the root mean square of all errors together. Raises DataError, NoSampler."""
    sampler = of_claim(claim)
    counts = [Fraction(x) for x in data.dense(MOST_CELLS).tolist()]
    outputs = sampler(list(_true(claim, counts)), 1, rng)
    weights = question.weights if len(question.weights) == question.size[0] else _weights_of_terms(question)
    found = [float(x) / float(w) for x, w in zip(np.asarray(outputs).ravel().tolist(), weights, strict=True)]
    deviations = [x / float(w) for x, w in zip(_deviations(claim, most, len(found)), weights, strict=True)]
    return Released(tuple(found), tuple(deviations), tuple(names_of(question)), sampler.told)


def _weights_of_terms(question: Question) -> Sequence[Fraction]:
    workload = question.workload
    if workload is None or not workload.terms:
        return (Fraction(1),) * question.size[0]
    return [term.weight for term, count in zip(workload.terms, workload.lengths, strict=True) for _ in range(count)]


def _true(claim: Claim, counts: Sequence[Fraction]) -> Iterator[int | float]:
    """The true answers of the parts, one after the other."""
    mechanism = claim.mechanism
    whole = isinstance(mechanism, PostProcess | Compose)
    noises: Sequence[Noisy] = released(mechanism).noises if whole else (Noisy(Part(mechanism, query=claim.query), 0, 1),)
    for noise in noises:
        query = noise.part.query or claim.query
        assert query is not None
        for row in query.rows * noise.times:
            answer = sum((x * n for x, n in zip(row, counts, strict=True)), Fraction(0))
            yield int(answer) if answer.denominator == 1 else float(answer)


def _deviations(claim: Claim, most: float, count: int) -> list[float]:
    """Of each answer, rounded up; where no rule says more, that of all together."""
    found = [most] * count
    for coordinate, value in _of_coordinates(claim, count).items():
        found[coordinate] = float(constant(value))
    return found


def greatest_of(claim: Claim) -> Expr | None:
    """The greatest of the answers' deviations, where all are known."""
    count = len(answered(claim).rows)  # type: ignore[union-attr]  # designs state their queries
    found = _of_coordinates(claim, count)
    return max(found.values(), key=lambda value: float(constant(value))) if len(found) == count else None


def _of_coordinates(claim: Claim, count: int) -> dict[int, Expr]:
    """Upper bounds on the deviations of the answers, as far as the rule about linear maps has them."""
    mechanism = claim.mechanism
    if not isinstance(mechanism, PostProcess | Compose):
        rows = tuple(tuple(Fraction(int(i == j)) for j in range(count)) for i in range(count))
        mechanism = PostProcess(Part(mechanism, claim.sensitivity, claim.query), "the same", rows)
    try:
        with precision(128):
            proof = Proof(Claim(mechanism, claim.epsilon, claim.delta, measure=claim.measure, utility=True))
            fact = proof.infer("linear-map", (), {"coordinates": count}, ())
    except DpverifyError:
        return {}
    known = (bound for bound in as_errors(fact.says) if (bound.measure, bound.side) == ("rms", "upper"))
    return {bound.coordinate: bound.value for bound in known if bound.coordinate is not None and isinstance(bound.value, Expr)}


# -- names -----------------------------------------------------------------------------------------------


def _terms(question: Question) -> Sequence[Term] | None:
    return question.workload.terms if question.workload is not None and question.workload.terms else None


def names_of(question: Question) -> Iterator[str]:
    """What each query counts: attributes and their values, both counted from 0; else the number of its row."""
    workload, terms = question.workload, _terms(question)
    if workload is None or terms is None:
        yield from (f"query {number}" for number in range(question.size[0]))
        return
    for term in terms:
        parts = [_names(i, part, size) for i, (part, size) in enumerate(zip(term.parts, workload.sizes, strict=True)) if part != "total"]
        for choice in product(*parts):
            yield " ".join(choice) or "all"


def _names(number: int, part: str, size: int) -> list[str]:
    if part == "ranges":
        return [f"{low}<=#{number}<={high}" for low in range(size) for high in range(low, size)]
    return [f"#{number}{'<=' if part == 'prefix' else '='}{value}" for value in range(size)]
