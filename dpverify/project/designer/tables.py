"""Laplace noise for workloads without a matrix: on the answers themselves, each family with a budget of its own, or on the histogram."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from flint import arb

from dpverify.project.designer.candidates import Candidate
from dpverify.project.designer.question import Question
from dpverify.project.designer.structure import Structure, trace_of
from dpverify.project.designer.whole import PRECISION
from dpverify.project.designer.workloads import Workload
from dpverify.trusted.kernel.balls import constant, precision, rational
from dpverify.trusted.theories.utility.any_mechanism import REALS


@dataclass(frozen=True, slots=True)
class Laplace:
    """A mechanism with what its root mean square error is at most. shares: of epsilon, for each term; empty for the histogram.

    whole: whether the noise is on the integers.
    """

    candidate: Candidate
    rms: arb
    shares: tuple[Fraction, ...]
    whole: bool


def mechanisms(question: Question, known: Structure) -> Iterator[Laplace]:
    """Those that are tried for a pure epsilon where neighbours are not known by l2 distance alone."""
    workload = question.workload
    if workload is None or not workload.terms or question.adjacency == "l2":
        return
    twice = 2 if question.adjacency == "replace" else 1
    whole = question.adjacency not in REALS
    name = "geometric" if whole else "laplace"
    with precision(PRECISION):
        assert question.epsilon is not None
        epsilon = constant(question.epsilon)
        squares = sum((term.weight**2 * prod(map(trace_of, term.parts, workload.sizes)) for term in workload.terms), Fraction(0))
        rms = (rational(squares) * _variance(epsilon, twice, whole=whole)).sqrt()
        yield Laplace(Candidate(f"{name}, histogram", f"the same {name} noise on every cell, summed", "", float(rms)), rms, (), whole)
        shares = _shares(workload)
        square = arb(0)
        for term, count, share in zip(workload.terms, workload.lengths, shares, strict=True):
            moved = twice * prod(map(moved_by, term.parts, workload.sizes))
            square += rational(term.weight**2 * count) * _variance(epsilon * rational(share), moved, whole=whole)
        how = f"{name} noise on every answer, each family of queries as precise as is worth it"
        rms = square.sqrt()
        yield Laplace(Candidate(f"{name}, each family", how, "", float(rms)), rms, shares, whole)


def _shares(workload: Workload) -> tuple[Fraction, ...]:
    """Of epsilon: as the cube roots of what the families' errors weigh."""
    found = []
    for term, count in zip(workload.terms, workload.lengths, strict=True):
        moved = prod(map(moved_by, term.parts, workload.sizes))
        found.append(Fraction(max(1, round(float(term.weight**2 * count * moved**2) ** (1 / 3) * 2**20))))
    whole = sum(found)
    return tuple(share / whole for share in found)


def _variance(epsilon: arb, moved: int, *, whole: bool) -> arb:
    """Of Laplace noise of the scale moved/epsilon, or of geometric noise."""
    rate = epsilon / moved
    return 1 / (2 * (rate / 2).sinh() ** 2) if whole else 2 / rate**2


def moved_by(part: str, size: int) -> int:
    """How many queries of a family count one record at most."""
    return {"total": 1, "identity": 1, "prefix": size, "ranges": (size + 1) ** 2 // 4}[part]
