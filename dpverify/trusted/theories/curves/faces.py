"""The pairs of rows of a mechanism with finitely many outputs that face each other: tables, exponential mechanisms, k-ary response."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flint import arb

from dpverify.trusted.facts.evaluate import accurately, divergence
from dpverify.trusted.facts.pairs import Profile
from dpverify.trusted.kernel import compare
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, call, div, format_expr, mul, num, sub, symbols
from dpverify.trusted.kernel.model import Claim, Exponential, KaryResponse, Mechanism, Table
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.theories.curves.steps import Steps, steps_of
from dpverify.trusted.theories.finite.tables import Finite, finite

RULE: Final = "finite-curve"

Cells = tuple[tuple[tuple[int, int], int], ...]
"""For a pair of rows: which two probabilities face each other, and at how many outputs."""


@dataclass(frozen=True, slots=True)
class Weight:
    """A probability as numerator / denominator; a finite exponential mechanism has one denominator a row. times: of that many outputs."""

    numerator: Expr
    denominator: Expr = ONE
    times: Expr = ONE

    @property
    def expr(self) -> Expr:
        return mul(self.times, div(self.numerator, self.denominator))


class Weights:
    """All different probabilities of a mechanism, numbered, with their balls at the precision of the moment. Number 0 is zero."""

    __slots__ = ("_numbers", "all", "balls")

    def __init__(self) -> None:
        self.all = [Weight(ZERO)]
        self._numbers = {self.all[0]: 0}
        self.balls = per_precision(self._balls)

    def number(self, weight: Weight) -> int:
        """The number of a probability, new or known."""
        if weight not in self._numbers:
            self._numbers[weight] = len(self.all)
            self.all.append(weight)
        return self._numbers[weight]

    def _balls(self) -> list[arb]:
        """The balls of all probabilities, by number."""
        sums = {bottom: constant(bottom) for bottom in {weight.denominator for weight in self.all}}
        return [constant(w.times) * constant(w.numerator) / sums[w.denominator] for w in self.all]


class Face:
    """Two rows that face each other: the profile of p against q."""

    __slots__ = ("cells", "inputs", "profile", "steps")

    def __init__(self, weights: Weights, inputs: tuple[int, int], cells: Cells) -> None:
        self.inputs, self.cells = inputs, cells
        self.steps = per_precision(lambda: _sorted(weights.balls(), cells))
        self.profile: Profile = divergence(self.at)

    def at(self, epsilon: arb) -> arb:
        """The profile at an exact epsilon."""
        return accurately(lambda: self.steps().excess(epsilon))

    def rest(self) -> arb:
        """The mass of the outputs that q cannot give."""
        return self.steps().p_sum[0]


def _sorted(balls: list[arb], cells: Cells) -> Steps:
    infinite, met = arb(0), []
    for (i, j), times in cells:
        p, q = balls[i] * times, balls[j] * times
        if j == 0:
            infinite += p
        elif i != 0:
            met.append((p, q))
    return steps_of(infinite, met)


@dataclass(frozen=True, slots=True)
class Faces:
    """The different pairs of rows, up to the order of outputs; each stands in `swapped` with the same rows in the other order."""

    weights: Weights
    rows: Mapping[int, tuple[int, ...]]
    all: Mapping[Cells, Face]

    def swapped(self, face: Face) -> Face:
        """The face of q against p."""
        return self.all[_other_way(face.cells)]

    def facing(self, a: int, b: int) -> Face:
        """The face of input a against input b."""
        return self.all[_cells(self.rows, a, b)]


def _cells(rows: Mapping[int, tuple[int, ...]], a: int, b: int) -> Cells:
    return tuple(sorted(Counter(zip(rows[a], rows[b], strict=True)).items()))


def _other_way(cells: Cells) -> Cells:
    return tuple(sorted(((j, i), times) for (i, j), times in cells))


def faces_of(noise: Mechanism, sensitivity: Expr | None) -> Faces:
    """The pairs of a mechanism, checked. Raises Rejected for another kind, for free parameters and for rows that are none."""
    weights = Weights()
    if isinstance(noise, KaryResponse):
        rows, pairs = _kary_response(noise, weights)
    elif isinstance(noise, Table | Exponential):
        if isinstance(noise, Exponential) and noise.points and sensitivity is None:
            why = "it says of every two points how alike their outputs are; give the distance within which points are neighbours"
            raise Rejected(RULE, "the sensitivity", why)
        table = finite(Claim(noise, epsilon=None, sensitivity=sensitivity))
        rows = {x: tuple(weights.number(_weight(table, x, y)) for y in range(len(row))) for x, row in enumerate(table.weights)}
        pairs = table.pairs
    else:
        raise Rejected(RULE, "the mechanism", "only tables, finite exponential mechanisms and k-ary randomized response are finite")
    require(bool(pairs), Rejected(RULE, "the pairs", "no two inputs are adjacent; name a pair"))
    faces: dict[Cells, Face] = {}
    for a, b in pairs:
        cells = _cells(rows, a, b)
        if cells not in faces:
            faces[cells] = Face(weights, (a, b), cells)
    return Faces(weights, rows, faces)


def _weight(table: Finite, x: int, y: int) -> Weight:
    weight = table.weights[x][y]
    if symbols(weight) or symbols(table.sums[x]):
        raise Rejected(RULE, f"row {x}, entry {y}", f"{format_expr(weight)} has a free parameter; give it a value")
    if table.exponents:
        return Weight(call("exp", weight), table.sums[x])
    return Weight(ZERO if table.is_zero(x, y) else weight)


def _kary_response(noise: KaryResponse, weights: Weights) -> tuple[dict[int, tuple[int, ...]], tuple[tuple[int, int], ...]]:
    """Truth against truth of another input: the two answers, and the k - 2 others together."""
    k, p = noise.k, noise.p
    if not isinstance(k, Num) or symbols(p):
        raise Rejected(RULE, "k and p", "one is not a number")
    lie = div(sub(ONE, p), sub(k, ONE))
    chosen = [Weight(p), Weight(lie), Weight(lie, times=sub(k, num(2)))]
    truth, other, rest = (0 if compare.certainly_equal(weight.expr, ZERO) else weights.number(weight) for weight in chosen)
    return {0: (truth, other, rest), 1: (other, truth, rest)}, ((0, 1), (1, 0))
