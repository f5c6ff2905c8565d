"""What a bound takes for granted of the answers that noise is added to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dpverify.trusted.facts.assumed_of_moves import of_moves
from dpverify.trusted.kernel import model
from dpverify.trusted.kernel.assumptions import ATTAINED, MOVES, ONWARD, REAL, TURNED
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.expr import ONE
from dpverify.trusted.kernel.model import Mechanism, Part, on_integers

RECORDS: Final = "a person has no more records than stated, with the stated fields, of which no value is outside its domain or not a number"
ONE_EACH: Final = "every person has exactly one record, and who is replaced has one record before and after"


def of_noise(part: Part, noise: model.Noise, bound: Bound, onward: bool) -> Iterator[str]:
    """onward: whether neighbours are several steps apart."""
    if part.sums is not None:
        if bound.side == "upper":
            yield RECORDS
            yield from (ONE_EACH,) * (part.sums.adjacency == "replace" and part.sums.rows == 1)
        return
    if part.query is not None:
        if bound.side == "lower":
            from dpverify.trusted.sensitivity.queries import takes_fractions

            yield from (REAL,) * takes_fractions(noise, part.query)
        return
    usual = MOVES if bound.side == "upper" else _attained(noise, bound)
    if on_integers(noise) or (isinstance(noise, model.EllipticalProcess) and noise.differences):
        yield from of_moves(part, bound.side, usual)
    else:
        yield usual
    yield from (ONWARD,) if onward and bound.side == "lower" else ()


def _attained(noise: Mechanism, bound: Bound) -> str:
    if not isinstance(noise, model.Radial | model.Mixture | model.Product) or noise.dimension == ONE:
        return ATTAINED
    # noise of a norm loses as much in every direction where single outputs count, noise of a Euclidean one always
    round_ball = noise.norm == model.L2 or noise.norm.kind == "ellipsoid"
    return ATTAINED if not isinstance(noise, model.Product) and (round_ball or bound.quantity == "pure") else TURNED
