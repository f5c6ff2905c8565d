"""Mechanisms with finitely many outputs: tables, finite exponential mechanisms, k-ary randomized response."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

from flint import arb, fmpq

from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import accurately, divergence, falling
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.pairs import Curve, Pair, Profile, symmetric
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import ONE, ZERO, Expr, Num, add, call, div, format_expr, mul, num, sub, symbols
from dpverify.trusted.language.model import Claim, Exponential, KaryResponse, Mechanism, Source, Table
from dpverify.trusted.numbers.balls import constant, precision
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.order import compare
from dpverify.trusted.order.tables import Finite, finite
from dpverify.trusted.parts.neighbours import OnePair
from dpverify.trusted.parts.runs import Run, leaf
from dpverify.trusted.rules.curves.steps import Steps, steps_of

NAME: Final = "finite-curve"
STATEMENT: Final = (
    "Two rows p, q of a finite mechanism have delta(eps) = sum over outputs of (p - e^eps q)_+, where an output that q cannot give adds "
    "all of p. The greatest over all ordered pairs of adjacent rows is a maximum of convex functions of x = e^eps that do not rise, are 1 "
    "at x = 0 and at least (1 - x)_+, so it is such a function too and hence the profile of one pair of distributions; as every pair "
    "counts in both orders, that pair's two orders have the same profile."
)
CHECKED: Final = (
    "every row is a distribution, exactly",
    "which probabilities are zero",
    "scores differ, or points are apart, by at most the sensitivity where one is given",
)
ASSUMED: Final = ("the sampler is ideal",)
SOURCE: Final = Source("docs/theory/curves.md#finite-curve", "Zhu, Dong & Wang 2022, on which functions are profiles")

BITS: Final = 256
"""Working precision where a closed form is put together."""
FEW: Final = 4
"""Up to so many pairs are all evaluated every time."""
PARTS: Final = 8
"""Epsilons are taken in intervals of this fraction of 1 when pairs are left out."""

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


class _Greatest:
    """The greatest profile of many faces, with those left out that are certainly not the greatest near an epsilon.

    On an interval of x = e^epsilon a profile lies below its chord, as it is convex, and the greatest one lies above the line
    P(S) - x Q(S) of any event S: a face whose chord ends below such a line at both ends is not needed between them. Nor is one
    that is 0 from the first end on.
    """

    __slots__ = ("_faces", "_near")

    def __init__(self, faces: Sequence[Face]) -> None:
        self._faces, self._near = tuple(faces), dict[int, tuple[Face, ...]]()

    def at(self, epsilon: arb) -> arb:
        """The greatest profile at an exact epsilon."""
        values = [face.at(epsilon) for face in self._candidates(epsilon)]
        return reduce(lambda a, b: a.max(b), values, arb(0))

    def _candidates(self, epsilon: arb) -> tuple[Face, ...]:
        if len(self._faces) <= FEW:
            return self._faces
        whole = (epsilon * PARTS).floor().unique_fmpz()
        if whole is None:
            return self._faces
        step = int(whole)
        low, high = (arb(fmpq(k, PARTS)) for k in (step, step + 1))
        if not low <= epsilon <= high:
            return self._faces
        if step not in self._near:
            self._near[step] = self._needed(low, high)
        return self._near[step]

    def _needed(self, low: arb, high: arb) -> tuple[Face, ...]:
        middle = (low + high) / 2
        p, q = max(self._faces, key=lambda face: face.at(middle).mid()).steps().line(middle)
        left, right = p - low.exp() * q, p - high.exp() * q
        kept = []
        for face in self._faces:
            first = face.steps().excess(low)
            if not first.is_zero() and not (first < left and face.steps().excess(high) < right):
                kept.append(face)
        return tuple(kept)


# -- from a mechanism to its pairs -------------------------------------------------------------------


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
            raise Rejected(NAME, "the sensitivity", why)
        table = finite(Claim(noise, epsilon=None, sensitivity=sensitivity))
        rows = {x: tuple(weights.number(_weight(table, x, y)) for y in range(len(row))) for x, row in enumerate(table.weights)}
        pairs = table.pairs
    else:
        raise Rejected(NAME, "the mechanism", "only tables, finite exponential mechanisms and k-ary randomized response are finite")
    if not pairs:
        raise Rejected(NAME, "the pairs", "no two inputs are adjacent; name a pair")
    faces: dict[Cells, Face] = {}
    for a, b in pairs:
        cells = _cells(rows, a, b)
        if cells not in faces:
            faces[cells] = Face(weights, (a, b), cells)
    return Faces(weights, rows, faces)


def _weight(table: Finite, x: int, y: int) -> Weight:
    weight = table.weights[x][y]
    if symbols(weight) or symbols(table.sums[x]):
        raise Rejected(NAME, f"row {x}, entry {y}", f"{format_expr(weight)} has a free parameter; give it a value")
    if table.exponents:
        return Weight(call("exp", weight), table.sums[x])
    return Weight(ZERO if table.is_zero(x, y) else weight)


def _kary_response(noise: KaryResponse, weights: Weights) -> tuple[dict[int, tuple[int, ...]], tuple[tuple[int, int], ...]]:
    """Truth against truth of another input: the two answers, and the k - 2 others together."""
    k, p = noise.k, noise.p
    if not isinstance(k, Num) or k.value.denominator != 1 or k.value < 2:
        raise Rejected(NAME, "k", f"{format_expr(k)} is not an integer of at least 2")
    if symbols(p) or not compare.certainly_le(ZERO, p) or not compare.certainly_le(p, ONE):
        raise Rejected(NAME, "p", f"{format_expr(p)} is not certainly between 0 and 1")
    lie = div(sub(ONE, p), sub(k, ONE))
    chosen = [Weight(p), Weight(lie), Weight(lie, times=sub(k, num(2)))]
    truth, other, rest = (0 if compare.certainly_equal(weight.expr, ZERO) else weights.number(weight) for weight in chosen)
    return {0: (truth, other, rest), 1: (other, truth, rest)}, ((0, 1), (1, 0))


# -- curves --------------------------------------------------------------------------------------------


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run of a finite mechanism.

    parameters: "row", the number of the pair of rows that the lower bound is of, the first without it; "prec". Raises Rejected, Undecided,
    CertificateError.
    """
    mechanism, sensitivity, query = leaf(run)
    if query is not None:
        raise Rejected(NAME, "query", "a finite mechanism answers none")
    facing = run.part.pair if isinstance(run.part, OnePair) else None
    return settled.noise(run, curve(mechanism, parameters.get("row", 0), sensitivity, facing), parameters)


def curve(noise: Mechanism, row: Any = 0, sensitivity: Expr | None = None, facing: tuple[int, int] | None = None) -> Curve:
    """The curve of a finite mechanism without free parameters, its inputs' adjacency its own.

    row: the number of the pair of rows for the lower bound, where no single pair is worst everywhere.
    sensitivity: of an exponential mechanism's scores, or the distance within which its points are neighbours.
    facing: two inputs, the first of which has the record, where these alone are spoken of.
    Raises Rejected as `tables.finite` does, and for another kind of mechanism, CertificateError for a row that is none.
    """
    faces = faces_of(noise, sensitivity)
    every = tuple(faces.all.values())
    if facing is not None:
        face, other = faces.facing(*facing), faces.facing(*reversed(facing))
        alone = Pair(face.profile, other.profile, rests=(face.rest, other.rest))
        return Curve(alone, alone, (NAME,), ASSUMED)
    if len(every) == 1:
        (face,) = every
        only = Pair(face.profile, face.profile, rests=(face.rest, face.rest))
        return Curve(only, only, (NAME,), ASSUMED)
    if type(row) is not int or not 0 <= row < len(every):
        raise CertificateError(f"{NAME}: 'row' is not the number of one of {len(every)} pairs of rows.")
    other = faces.swapped(every[row])
    lower = Pair(every[row].profile, other.profile, rests=(every[row].rest, other.rest))
    return Curve(symmetric(falling(_Greatest(every).at)), lower, (NAME,), ASSUMED)


def delta_expr(noise: Mechanism, epsilon: Expr, sensitivity: Expr | None = None) -> Expr | None:
    """delta(epsilon) in closed form, the greatest over the pairs; None where the sign of some p - e^epsilon q is not certain.

    epsilon: a constant. Balls leave out what they can, exact comparison decides the rest. Raises Rejected as `curve` does.
    """
    faces = faces_of(noise, sensitivity)
    with precision(BITS):
        point, balls = constant(epsilon), faces.weights.balls()
        values = [(face, face.profile(point)) for face in faces.all.values()]
        least = reduce(lambda a, b: a.max(b), (value for _, value in values))
        signs = _Signs(faces.weights, call("exp", epsilon), [point.exp() * ball for ball in balls])
        totals = {_total(face, signs) for face, value in values if not value < least}
    best: list[Expr] = []
    for total in sorted(totals, key=lambda total: "" if total is None else format_expr(total)):
        if total is None:
            return None
        if not any(compare.certainly_le(total, other) for other in best):
            best = [other for other in best if not compare.certainly_le(other, total)] + [total]
    return best[0] if len(best) == 1 else call("max", *best)


class _Signs:
    """Whether p exceeds e^epsilon q, for pairs of probabilities by number: by balls at the precision of the moment, or else exactly."""

    __slots__ = ("_balls", "_factor", "_known", "_scaled", "_weights")

    def __init__(self, weights: Weights, factor: Expr, scaled: list[arb]) -> None:
        self._weights, self._factor, self._balls, self._scaled = weights, factor, weights.balls(), scaled
        self._known = dict[tuple[int, int], bool | None]()

    def excess(self, cell: tuple[int, int]) -> Expr:
        """p - e^epsilon q."""
        i, j = cell
        return sub(self._weights.all[i].expr, mul(self._factor, self._weights.all[j].expr))

    def exceeds(self, cell: tuple[int, int]) -> bool | None:
        """True or False where it is certain that p - e^epsilon q is at least or at most 0."""
        if cell not in self._known:
            p, scaled = self._balls[cell[0]], self._scaled[cell[1]]
            self._known[cell] = True if p > scaled else False if p < scaled else self._exactly(cell)
        return self._known[cell]

    def _exactly(self, cell: tuple[int, int]) -> bool | None:
        p, scaled = self._weights.all[cell[0]].expr, mul(self._factor, self._weights.all[cell[1]].expr)
        return False if compare.certainly_le(p, scaled) else True if compare.certainly_le(scaled, p) else None


def _total(face: Face, signs: _Signs) -> Expr | None:
    """The sum of what exceeds, None where a sign is not certain."""
    if any(signs.exceeds(cell) is None for cell, _ in face.cells):
        return None
    return add(*(mul(num(times), signs.excess(cell)) for cell, times in face.cells if signs.exceeds(cell)))
