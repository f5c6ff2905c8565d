"""A private place on a street map (docs/sources/street-map.md)."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from heapq import heappop, heappush

import numpy as np

from computed.judged import down, rational, up
from computed.pages import Page, Row, Table, standalone
from dpverify.project.trade_off import trade_off
from dpverify.report.axes import Axis
from dpverify.report.svg import Chart, Series
from dpverify.samplers.nearness import NearMechanism
from dpverify.search.verify import Verified, verify
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, num
from dpverify.trusted.kernel.model import Claim, Matrix, Shape, Space

WIDE, HIGH = 4, 4
SEED = 2010
CLOSED = 3
"""Streets that are not there."""
BETA = Fraction(1, 10)
NEAR = (1, 2, 3, 4, 6)
SHOWN = 2
"""The nearness of the picture, in minutes."""
HOME = 5
"""The crossing of the picture."""
DRAWS = 200
STEPS = 10
"""Rates are multiples of 1/10."""


def crossing(number: int) -> tuple[int, int]:
    """Where a crossing is on the map."""
    return number % WIDE, number // WIDE


@cache
def streets() -> dict[tuple[int, int], int]:
    """The minutes that each street between two crossings takes, from a seed; every crossing can be reached."""
    rng = np.random.default_rng(SEED)
    count = WIDE * HIGH
    every = [(i, i + 1) for i in range(count) if (i + 1) % WIDE] + [(i, i + WIDE) for i in range(count - WIDE)]
    minutes = {street: int(rng.integers(1, 4)) for street in every}
    for number in rng.permutation(len(every)):
        left = {street: length for street, length in minutes.items() if street != every[number]}
        if len(minutes) > len(every) - CLOSED and len(_reached(left, 0)) == count:
            minutes = left
    return minutes


def _reached(minutes: dict[tuple[int, int], int], start: int) -> dict[int, int]:
    """The length of the shortest way to each crossing (Dijkstra)."""
    beside: dict[int, list[tuple[int, int]]] = {}
    for (a, b), length in minutes.items():
        beside.setdefault(a, []).append((b, length))
        beside.setdefault(b, []).append((a, length))
    found: dict[int, int] = {}
    open_ = [(0, start)]
    while open_:
        length, here = heappop(open_)
        if here not in found:
            found[here] = length
            for there, more in beside.get(here, []):
                heappush(open_, (length + more, there))
    return found


@cache
def distances() -> Matrix:
    """Minutes from crossing to crossing."""
    ways = [_reached(streets(), start) for start in range(WIDE * HIGH)]
    return tuple(tuple(Fraction(way[other]) for other in range(WIDE * HIGH)) for way in ways)


def claim(near: int, rate: Expr | None = None) -> Claim:
    """Answers within so many minutes but with probability BETA: of any mechanism, or of the exponential one with a rate."""
    return Claim(Space(Shape("points", matrix=distances()), ONE, "answers", rate=rate), None, ZERO, within=num(near), beta=Num(BETA))


@cache
def least_rate(near: int) -> Fraction:
    """The least multiple of 1/10 at which the answers of the exponential mechanism are so near: in floats, and judged afterwards."""

    def far(rate: Fraction) -> float:
        rows = [[(math.exp(-rate * d), d > near) for d in row] for row in distances()]
        return max(sum(weight for weight, is_far in row if is_far) / sum(weight for weight, _ in row) for row in rows)

    step = 0
    while far(Fraction(step, STEPS)) > BETA:
        step += 1
    return Fraction(step, STEPS)


@cache
def exponential(near: int) -> Verified:
    """What is proved of the exponential mechanism with this rate."""
    return verify(claim(near, Num(least_rate(near))), 12)


def _row(near: int) -> tuple[str, ...]:
    [point] = trade_off(claim(near), [near], 12).points
    known = exponential(near).judgement
    if point.upper is None or not isinstance(point.lower, Expr) or not isinstance(known.upper, Expr):
        raise ValueError(f"within {near} minutes: no bound is proved.")
    rate = least_rate(near)
    return down(rational(point.lower, 0)), up(rational(point.upper, 1)), str(float(rate)), up(rational(known.upper, 1)), known.verdict


def drawn() -> list[int]:
    """Answers of the exponential mechanism at one place."""
    found = exponential(SHOWN)
    asked = replace(claim(SHOWN), epsilon=found.judgement.upper)
    matrix = distances()
    mechanism = NearMechanism(asked, found, tuple(range(len(matrix))), lambda x, y: matrix[x][y], least_rate(SHOWN))
    return mechanism.sample(HOME, DRAWS, np.random.default_rng(SEED))


def picture(_: str) -> str:
    """The streets, a place, and what is told of it: each answer beside its crossing, on a spiral, so that all are seen."""
    answers = drawn()
    spots = []
    for place in sorted(set(answers)):
        x, y = crossing(place)
        for k in range(answers.count(place)):
            turn, far = 2.399963 * k, 0.028 * math.sqrt(k + (10 if place == HOME else 0))
            spots.append((round(x + far * math.cos(turn), 4), round(y + far * math.sin(turn), 4)))
    ways = [[[crossing(a), crossing(b)] for (a, b), length in streets().items() if length == minutes] for minutes in (1, 2, 3)]
    series = [
        Series("1 minute", ways[0]),
        Series("an answer", [spots], "points"),
        Series("the true place", [[crossing(HOME)]], "points"),
        Series("2 minutes", ways[1]),
        Series("3 minutes", ways[2]),
    ]
    said = f"A street map with {WIDE * HIGH} crossings. Of {DRAWS} private answers most are at the true place and the crossings around it."
    return standalone(Chart("A private place on a street map", said, Axis("east"), Axis("north"), series, equal=True).svg("street-map"))


PAGE = Page(
    "street-map",
    [
        Table(
            "trade-off",
            ("within, minutes", "epsilon of any mechanism, at least", "of the best one, at most", "rate", "epsilon at the rate", "verdict"),
            [Row((str(near),), partial(_row, near), slow=near != SHOWN) for near in NEAR],
        )
    ],
    [("street-map.svg", picture)],
)
