"""What an alignment of a stream pays for each noise: by how much it is shifted at most, and what that costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from dpverify.search.selection.streams import alignments
from dpverify.trusted.combinators.streams import settled
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import ZERO, Expr, mul, substitute
from dpverify.trusted.kernel.model import Claim, Stream, Vector
from dpverify.trusted.theories.selection.ways import Way, at


@dataclass(frozen=True, slots=True)
class Shift:
    """The dearest shift of a noise. moved: in units of the sensitivity; costs: in nats; word: what a step tells that pays it, if one does.

    counted: whether a limit, or what is kept for it, bounds how often it is paid.
    """

    noise: str
    moved: Fraction
    costs: Expr
    word: str | None
    counted: bool


def shifts(claim: Claim) -> list[Shift] | None:
    """What the best alignment of a stream that was found pays, once and in each branch; None where none was found."""
    assert isinstance(claim.mechanism, Stream)
    stream = settled(claim.mechanism)
    try:
        sample, found = alignments(replace(claim, mechanism=stream))
    except DpverifyError:
        return None
    dearest: dict[tuple[str, str | None], tuple[float, Shift]] = {}
    for way in found:
        for name, vector, word, counted in _vectors(way, stream):
            for point in way.points:
                cost = way.cost({name: vector}, point)
                if isinstance(cost, Infinite):
                    return None
                paid = mul(cost, way.question.moved)
                size = float(constant(substitute(paid, sample)).mid())
                if size > dearest.get((name, word), (0.0, None))[0]:
                    dearest[name, word] = size, Shift(name, abs(at(vector, point)), paid, word, counted)
    return [shift for _, shift in dearest.values()]


def _vectors(way: Way, stream: Stream) -> Iterator[tuple[str, Vector, str | None, bool]]:
    for mode in way.starts:
        yield from ((name, vector, None, True) for name, vector in way.once(mode).items())
    for lead in way.leads:
        branch = stream.steps[lead.branch]
        counted = way.each == ZERO or any(each.name in way.prices for each in branch.count)
        yield from ((name, vector, branch.emit, counted) for name, vector in lead.shifts.items())
