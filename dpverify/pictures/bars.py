"""The loss of every output of a finite mechanism, for its worst two inputs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpverify.pictures.exponent import NEAR_PRECISION
from dpverify.search.numeric import number
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.model import Claim, KaryResponse
from dpverify.trusted.theories.finite.tables import Cell, LogBalls, finite


@dataclass(frozen=True, slots=True)
class Bar:
    """One output and its loss in nats: inf where only the first input gives it, -inf where only the second does."""

    label: str
    loss: float


def finite_bars(claim: Claim) -> tuple[str, tuple[Bar, ...]]:
    """The worst ordered pair of inputs of a table or an exponential mechanism, and a bar for each output that one of them gives.

    In the metric form losses are divided by the distance. Raises Rejected for rows that are none, Undecided where no inputs are adjacent.
    """
    table = finite(claim)
    with precision(NEAR_PRECISION):
        logs = LogBalls(table)
        losses = {cell: _loss(table.is_zero(cell[0], cell[2]), table.is_zero(cell[1], cell[2]), logs, cell) for cell in table.cells()}
    known = {cell: size for cell, size in losses.items() if not math.isnan(size)}
    if not known:
        raise Undecided("no two inputs are adjacent.")
    a, b, _ = max(known, key=lambda cell: known[cell])
    outputs = range(len(table.weights[a]))
    distance = ", per unit of their distance" if (a, b) in table.divisors else ""
    pair = f"inputs {a} and {b}{distance}"
    return pair, tuple(Bar(f"output {y}", known[a, b, y]) for y in outputs if (a, b, y) in known)


def _loss(first_zero: bool, second_zero: bool, logs: LogBalls, cell: Cell) -> float:
    if first_zero or second_zero:
        return math.nan if first_zero and second_zero else -math.inf if first_zero else math.inf
    return float(logs.loss(cell))


def kary_bars(mechanism: KaryResponse) -> tuple[str, tuple[Bar, ...]]:
    """k-ary randomized response: the truth of the first input, that of the second, and every other answer."""
    k, p = number(mechanism.k), number(mechanism.p)
    other = (1 - p) / (k - 1)
    size = math.inf if other <= 0 else -math.inf if p <= 0 else math.log(p / other)
    bars = [Bar("the first input's truth", size), Bar("the second input's truth", -size)]
    if k > 2 and other > 0:
        bars.append(Bar("every other answer" if k > 3 else "the other answer", 0.0))
    return "any two inputs", tuple(bars)
