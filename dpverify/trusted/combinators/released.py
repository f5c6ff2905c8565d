"""What a mechanism releases where that is linear in the noises of its parts: their noisy answers, stacked, under a matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpverify.trusted.combinators.runs import count
from dpverify.trusted.geometry.linear import matrix, to_fraction
from dpverify.trusted.kernel import model
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Num
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import Claim, Matrix, Mechanism, Part, Query

WHAT: Final = "what is released"
MOST: Final = 4096
"""Numbers that the parts put out, all runs together."""


@dataclass(frozen=True, slots=True)
class Noisy:
    """Additive noise that is run so many times, each time afresh. size: how many numbers one run puts out."""

    part: Part
    size: int
    times: int


@dataclass(frozen=True, slots=True)
class Released:
    """The noises in the order of their parts, and the rows of the map over all numbers that they put out; None where there is no map."""

    noises: tuple[Noisy, ...]
    rows: Matrix | None


def released(mechanism: Mechanism) -> Released:
    """What a composition of additive noises, a linear map of one, or a sum of noises releases. Raises Rejected for all else."""
    rows, part = None, Part(mechanism)
    if isinstance(mechanism, model.Sum):
        return _summed(mechanism)
    if isinstance(mechanism, model.PostProcess):
        require(bool(mechanism.matrix), Rejected(WHAT, "the map", "no matrix says what it is"))
        rows, part = mechanism.matrix, mechanism.part
    elif not isinstance(mechanism, model.Compose):
        raise Rejected(WHAT, "the mechanism", "it is no composition, and no linear map of one")
    noises = tuple(_noises(part, 1))
    total = sum(noise.size * noise.times for noise in noises)
    require(total <= MOST, Rejected(WHAT, "the parts", f"they put out more than {MOST} numbers"))
    if rows is not None and any(len(row) != total for row in rows):
        raise Rejected(WHAT, "the matrix", f"its rows do not have {total} entries, one for each number that the parts put out")
    return Released(noises, rows)


def _summed(noise: model.Sum) -> Released:
    """All noises of a sum, which one row adds up."""
    require(noise.dropouts == ZERO, Rejected(WHAT, "dropouts", "a sum of some of its noises has another error than that of all"))
    noises = tuple(Noisy(Part(one.noise), 1, count(model.Repeat(Part(one.noise), one.times))) for one in noise.parts)
    total = sum(one.times for one in noises)
    require(total <= MOST, Rejected(WHAT, "the parts", f"they put out more than {MOST} numbers"))
    return Released(noises, ((Fraction(1),) * total,))


def _noises(part: Part, times: int) -> Iterator[Noisy]:
    noise = part.mechanism
    if isinstance(noise, model.Repeat):
        yield from _noises(noise.part, times * count(noise))
        return
    if isinstance(noise, model.Compose):
        if times > 1:
            raise Rejected(WHAT, "times", "a composition of several parts that is run several times has no one order of its numbers")
        for inner in noise.parts:
            yield from _noises(inner, 1)
        return
    if not isinstance(noise, model.Answering | model.Staircase):
        raise Rejected(WHAT, "a part", "it is not noise added to an answer")
    yield Noisy(part, _size(noise), times)


def _size(noise: model.Answering | model.Staircase) -> int:
    dimension = noise.dimension if isinstance(noise, model.Radial | model.Product | model.Mixture) else ONE
    if not isinstance(dimension, Num) or dimension.value > MOST:
        raise Rejected(WHAT, "a part", f"its dimension is no integer from 1 to {MOST}")
    return int(dimension.value)


@remembered(64)
def answered(claim: Claim) -> Query | None:
    """The query that a claim's mechanism answers with noise: stated, or the map of what its parts state; None where there is none."""
    if not isinstance(claim.mechanism, model.Compose | model.PostProcess):
        return claim.query
    try:
        found = released(claim.mechanism)
    except Rejected:
        return None
    queries = [noise.part.query for noise in found.noises for _ in range(noise.times)]
    stated = [query for query in queries if query is not None]
    spaces = {(query.adjacency, len(query.rows[0])) for query in stated}
    if len(stated) < len(queries) or len(spaces) != 1:
        return None
    stack = tuple(row for query in stated for row in query.rows)
    return Query(stack if found.rows is None else _product(found.rows, stack), stated[0].adjacency)


def _product(left: Matrix, right: Matrix) -> tuple[tuple[Fraction, ...], ...]:
    rows = (matrix(left) * matrix(right)).tolist()
    return tuple(tuple(to_fraction(x) for x in row) for row in rows)
