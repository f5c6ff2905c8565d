"""Runs of a stream that an alignment finds dear: from mode to mode, with steps between that hold the shifts in place."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.expr import Expr, Num, substitute
from dpverify.trusted.kernel.model import Stream, Vector
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.theories.selection.followed import branches, first_values
from dpverify.trusted.theories.selection.ways import Lead, Way

_TRIED: Final = 200
"""The most ways from mode to mode that are looked at."""
_BEST: Final = 4
"""Of these, those of which runs are made."""
_SMALL: Final = 1e-9

Used = tuple[int, Vector]
"""A branch, and how answers move there."""
Place = tuple[int, tuple[tuple[str, Expr], ...]]
"""A mode, and what is known of what is followed."""
Legs = tuple[tuple[tuple[Used, ...], tuple[Used, ...]], ...]
"""Steps that cost nothing and come back, and those that go on, one after the other."""


def routes(way: Way, sample: Mapping[str, Expr]) -> list[Legs]:
    """The dearest ways from mode to mode, each place once."""
    if way.alone:
        return []
    leads: dict[tuple[int, int], list[Lead]] = {}
    for lead in way.leads:
        leads.setdefault((lead.mode, lead.branch), []).append(lead)
    dearest = {id(lead): _dearest(way, lead, sample) for lead in way.leads}
    known = tuple(first_values(way.stream, way.followed).items())

    def walk(place: Place, legs: Legs, spent: float, seen: frozenset[Place]) -> Iterator[tuple[float, Legs]]:
        mode, values = place
        free: list[Used] = []
        on: list[tuple[Used, float, Place | None, int]] = []
        for taken in branches(way.question, way.stream, dict(values)):
            for lead in leads.get((mode, taken.branch), ()):
                cost, point = dearest[id(lead)]
                to = lead.to, tuple(taken.after.items())
                times = _times(way.stream, taken.branch, sample)
                if to != place:
                    on.append(((taken.branch, point), cost, to, 1))
                elif cost <= _SMALL and times is None:
                    free += [(taken.branch, other) for other in way.points]
                elif times is not None:
                    on.append(((taken.branch, point), cost * times, None, times))
        ended = True
        for used, cost, next_place, times in on:
            leg = (*legs, (tuple(free), (used,) * times))
            if next_place is None:
                yield spent + cost, leg
            elif next_place not in seen:
                ended = False
                yield from walk(next_place, leg, spent + cost, seen | {next_place})
        if ended:
            yield spent, (*legs, (tuple(free), ()))

    found = [one for mode in way.starts for one in islice(walk((mode, known), (), 0.0, frozenset({(mode, known)})), _TRIED)]
    return [legs for _, legs in sorted(found, key=lambda one: -one[0])[:_BEST]]


def run(legs: Legs, times: int) -> tuple[Used, ...]:
    """The steps, with those that come back so many times each."""
    return tuple(used for free, on in legs for used in (*(each for each in free for _ in range(times)), *on))


def _dearest(way: Way, lead: Lead, sample: Mapping[str, Expr]) -> tuple[float, Vector]:
    """What a lead costs at most, about, and the difference of the answers at which it does."""
    ends = [(point, lead.turned(kept)) for point in way.points for kept in way.apart(lead.mode, point)]
    costs = [(_float(way.cost(lead.shifts, point, more), sample), point) for point, more in ends]
    return max(costs, key=lambda one: one[0])


def _float(value: Expr | Infinite, sample: Mapping[str, Expr]) -> float:
    return math.inf if isinstance(value, Infinite) else float(enclose(substitute(value, sample)).mid())


def _times(stream: Stream, branch: int, sample: Mapping[str, Expr]) -> int | None:
    """How often its counters let a branch be taken; None where it has none."""
    limits = {limit.name: substitute(limit.value, sample) for limit in stream.limits}
    found = [
        math.ceil(end.value / grown.value.value)
        for grown in stream.steps[branch].count
        if isinstance(end := limits[grown.name], Num) and isinstance(grown.value, Num) and grown.value.value > 0
    ]
    return max(1, min(found)) if found else None
