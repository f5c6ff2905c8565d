"""Comparisons of noisy answers: the probabilities of what they tell, by quadrature over one noise, and the neighbours that matter most.

Where no numbers are told the law is finite: an index, or a pattern of yes and no. Of the patterns of many queries, those of the first of
them, so that there are at most MOST_COLUMNS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Final, Protocol

import numpy as np

from dpverify.audits.declared.base import Array, Declared, difference
from dpverify.audits.declared.cells import SCALES, cells_of, choose, levels, to_refute
from dpverify.audits.declared.laws import Quadrature, Steps
from dpverify.audits.neighbours import usual_patterns
from dpverify.audits.outputs import Outputs, kinds, size
from dpverify.audits.partition import MAX_CELLS, Codes, CurvePoint
from dpverify.errors import AuditError
from dpverify.search.numeric import number
from dpverify.trusted.kernel.model import ONE_WAY, AboveThreshold, Claim, NoisyMax, Selection, Stream, noises_of, on_integers
from dpverify.trusted.sensitivity.steps_between import hull_of

MOST_COLUMNS: Final = 1024
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)
_PATTERN: Final = "for each query 1 (or True) for yes, 0 (or False) for no, and nothing or -1 once it has stopped"
_FAR: Final = (0.0, 1.0, 3.0)
"""How far answers are from each other, or from the threshold, in units of the noise and of what they move by."""
MANY: Final = 1e5
"""Runs in which an event is to show what it can. Of less noise than is declared rare events are rarer still."""
_WIDTHS: Final = (1.0, 0.5)
"""The noise as declared, and half of it, which an audit is to find."""

Pair = tuple[Array, Array]
LawOf = Callable[[Any], Quadrature | Steps | None]
"""The distribution function of a noise; None where there is none in floats."""


@dataclass(frozen=True, eq=False)
class _Noise:
    """A noise in floats, `scale` times as wide as declared; exact, always 0, where it has no law."""

    law: Quadrature | Steps | None
    scale: float = 1.0

    @property
    def whole(self) -> bool:
        return isinstance(self.law, Steps)

    @property
    def unit(self) -> float:
        """Half of the width of the middle half."""
        if self.law is None:
            return 0.0
        points = np.linspace(-64, 64, 129) if isinstance(self.law, Steps) else self.law.grid()
        low, high = np.interp([0.25, 0.75], self.law(points), points)
        return float(f"{float(high - low) / 2 * self.scale:.2g}")

    def below(self, room: Array) -> Array:
        """The probability that it is less than each number."""
        room = room / self.scale
        if self.law is None:
            return (room > 0).astype(float)
        return self.law(np.ceil(room) - 1) if self.whole else self.law(room)

    def up_to(self, room: Array) -> Array:
        """The probability that it is at most each number."""
        room = room / self.scale
        return (room >= 0).astype(float) if self.law is None else self.law(np.floor(room) if self.whole else room)

    def marks(self) -> Array:
        """Points between which its distribution function is smooth."""
        if self.law is None:
            return np.zeros(1)
        assert isinstance(self.law, Quadrature)
        grid = self.law.grid()
        edges = self.law.edges[(self.law.edges > grid[0]) & (self.law.edges < grid[-1])]
        return np.asarray(self.scale * np.union1d(grid[:: max(1, len(grid) // 400)], edges[:: max(1, len(edges) // 200)]))

    def nodes(self, centre: float, others: Sequence[Array]) -> tuple[Array, Array]:
        """Points and weights by which to integrate over it, about a centre. others: where else the integrand is not smooth."""
        if self.law is None:
            return np.array([centre]), np.ones(1)
        if isinstance(self.law, Steps):
            points = np.arange(self.law.first, self.law.first + len(self.law.cumulative))
            return centre + points * self.scale, np.diff(self.law.cumulative, prepend=0.0)
        own = centre + self.marks()
        ends = np.unique(np.concatenate([own, *others]))
        ends = ends[(ends >= own[0]) & (ends <= own[-1])]
        low, half = ends[:-1, None], np.diff(ends)[:, None] / 2
        points = (low + half + half * _NODES).ravel()
        logs = self.law.log_density((points - centre) / self.scale) - self.law.log_total
        with np.errstate(invalid="ignore"):
            return points, np.nan_to_num(np.exp(logs)) * (half * _WEIGHTS).ravel() / self.scale


@dataclass(frozen=True, eq=False)
class _Rough(_Noise):
    """The same to a few digits and fast, for looking around."""

    @cached_property
    def _table(self) -> tuple[Array, Array]:
        assert isinstance(self.law, Quadrature)
        grid = self.law.grid()
        points = grid[:: max(1, len(grid) // 300)]
        return points, self.law(points)

    def below(self, room: Array) -> Array:
        """The probability that it is less than each number."""
        return np.interp(room / self.scale, *self._table) if isinstance(self.law, Quadrature) else super().below(room)

    up_to = below

    def nodes(self, centre: float, others: Sequence[Array]) -> tuple[Array, Array]:
        """The middles between points of the table, by their masses."""
        if not isinstance(self.law, Quadrature):
            return super().nodes(centre, others)
        points, mass = self._table
        return centre + self.scale * (points[1:] + points[:-1]) / 2, np.diff(mass)


def _around(noise: _Noise, answers: Array) -> list[Array]:
    """Where functions of a noise about each of the answers are not smooth."""
    return [] if noise.whole or isinstance(noise, _Rough) else [answer + noise.marks() for answer in np.unique(answers)[:16]]


# -- what is told, as a column -------------------------------------------------------------------------------------


class Reader(Protocol):
    """What is told, as one of finitely many columns."""

    @property
    def count(self) -> int:
        """How many columns there are."""

    def columns(self, outputs: Outputs) -> Array:
        """The column of each output; `count` for what cannot be told. Raises AuditError for what is of another form."""

    def word(self, column: int) -> str:
        """A column in words."""


@dataclass(frozen=True, slots=True)
class Indices:
    """Outputs that are the index of one of the candidates."""

    count: int

    def columns(self, outputs: Outputs) -> Array:
        """The column of each output; `count` for what is none."""
        if outputs.names not in (("number",), ("[number]",)):
            given = ", ".join(outputs.names[:4])
            raise AuditError(f"the sampler gives {given}; the declaration tells the index of the greatest, from 0. Return that number.")
        found = outputs.numbers[:, 0]
        known = (found == np.rint(found)) & (found >= 0) & (found < self.count)
        return np.where(known, found, self.count).astype(np.int64)

    def word(self, column: int) -> str:
        """A column in words."""
        return str(column)


@dataclass(frozen=True, eq=False)
class Patterns:
    """Outputs that say yes or no to each query, until so many are yes.

    queries: how many are asked; told: of the first so many. patterns: what these may be told. next: from a beginning, by its number, and
    "no", "yes" or "nothing", to the next one; the last number is that of what cannot be.
    """

    queries: int
    told: int
    positives: int
    patterns: tuple[str, ...]
    next: Array
    column: Array

    @property
    def count(self) -> int:
        """How many columns there are."""
        return len(self.patterns)

    def columns(self, outputs: Outputs) -> Array:
        """The column of each output; `count` for what is none. Raises AuditError for what is no pattern."""
        answers = self._answers(outputs)
        node = np.zeros(len(answers), dtype=np.int64)
        for step in range(self.told):
            node = self.next[node, answers[:, step]]
        return np.asarray(self.column[node])

    def _answers(self, outputs: Outputs) -> Array:
        """(n, told): 0, 1, or 2 for nothing more, 3 for something else."""
        names = outputs.names
        if all(_is_list(name) and kind in ("bool", "number") for name in names for kind in kinds(name)):
            lengths = np.array([len(kinds(name)) for name in names])
            only = names == ("number",) and self.queries > 1
            if only and self.positives == 1:
                return self._stopped(outputs.numbers[:, 0])
            if not only and (lengths <= self.queries).all() and all(_ends_in_none(name) for name in names):
                numbers = np.full((len(outputs), self.told), -1.0)
                width = min(self.told, outputs.numbers.shape[1])
                numbers[:, :width] = outputs.numbers[:, :width]
                length = np.broadcast_to(lengths[0 if outputs.shapes is None else outputs.shapes], len(outputs))
                numbers[np.arange(self.told) >= length[:, None]] = -1
                return np.select([numbers == 0, numbers == 1, numbers == -1], [0, 1, 2], 3)
        stops = ", or how many come before the only yes" if self.positives == 1 else ""
        raise AuditError(f"the sampler gives {', '.join(names[:4])}; the declaration wants {_PATTERN}{stops}. Return that.")

    def _stopped(self, before: Array) -> Array:
        """Patterns of which it is known how many answers come before the first positive."""
        place = np.arange(self.told)
        answers = np.where(place < before[:, None], 0, np.where(place == before[:, None], 1, 2))
        answers[(before != np.rint(before)) | (before < 0) | (before > self.queries)] = 3
        return answers

    def word(self, column: int) -> str:
        """A column in words: Y for yes, N for no."""
        return self.patterns[column] + ("..." if self.told < self.queries and self.patterns[column].count("Y") < self.positives else "")


def _is_list(name: str) -> bool:
    """Whether outputs of a shape are numbers or lists of them, and no mappings or lists of lists."""
    return "{" not in name and "[" not in name[1:] and (name[0] == "[" or name in ("number", "bool"))


def _ends_in_none(name: str) -> bool:
    """Whether no None comes before a number."""
    return size(name) == len(kinds(name)) or name.replace(" ", "").rstrip("]0123456789x").endswith("None")


def patterns(queries: int, positives: int, most: int = MOST_COLUMNS) -> Patterns:
    """All patterns, of as many of the first queries as there is room for: at most so many."""
    told = _looked_at(queries, positives, most)
    found: list[str] = []
    following: list[list[int]] = [[-1] * 4]
    column = [-1]
    stack = [(0, "", 0)]
    while stack:
        here, text, yes = stack.pop()
        if yes >= positives or len(text) == told:
            column[here] = len(found)
            found.append(text)
        if yes >= positives:
            following[here][2] = here
        elif len(text) < told:
            for more, letter in enumerate("NY"):
                following[here][more] = len(following)
                stack.append((len(following), text + letter, yes + more))
                following.append([-1] * 4)
                column.append(-1)
    last = len(following)
    table = np.array([*following, [last] * 4])
    table[table < 0] = last
    columns = np.array([*column, len(found)])
    columns[columns < 0] = len(found)
    return Patterns(queries, told, positives, tuple(found), table, columns)


def _looked_at(queries: int, positives: int, most: int) -> int:
    """Of how many queries there are at most so many patterns."""
    ways = [1] + [0] * min(positives, most)  # by the number of positives; the last that have stopped
    for told in range(queries):
        ways = [ways[0], *(ways[y] + ways[y - 1] for y in range(1, len(ways)))]
        if sum(ways) > most:
            return told
    return queries


@dataclass(frozen=True, slots=True)
class Cells:
    """Cells of what is told: `cells[column]`, the last one for what cannot be told."""

    reader: Reader
    cells: Codes
    size: int

    def codes(self, outputs: Outputs) -> Codes:
        """The cell of each output."""
        return self.cells[self.reader.columns(outputs)]

    def describe(self, low: int, high: int) -> str:
        """The outputs in the event."""
        columns = np.flatnonzero((self.cells[:-1] >= low) & (self.cells[:-1] < high)).tolist()
        shown = [self.reader.word(column) for column in columns[:12]]
        more = f", and {len(columns) - 12} more" if len(columns) > 12 else ""
        return f"y in {{{', '.join(shown)}{more}}}" if columns else "no output"


# -- the laws --------------------------------------------------------------------------------------------------------


class SelectionLaw(Declared):
    """A selection that tells an index, or yes and no."""

    kind = "selection"

    def __init__(self, claim: Claim, law_of: LawOf, reader: Reader, width: int) -> None:
        assert isinstance(claim.mechanism, NoisyMax | AboveThreshold)
        self.claim, self.mechanism, self.law_of, self.reader, self.dimension = claim, claim.mechanism, law_of, reader, width
        self._rows: dict[tuple[tuple[float, ...], float], Array] = {}

    def row(self, x: Array, scale: float = 1.0) -> Array:
        """The probabilities of the columns on the answers x, where noise is `scale` times as wide as declared."""
        key = tuple(float(answer) for answer in x), scale
        if key not in self._rows:
            found = np.clip(self._columns(x, scale), 0.0, 1.0)
            self._rows[key] = found / found.sum()
        return self._rows[key]

    def _columns(self, x: Array, scale: float) -> Array:
        if isinstance(self.mechanism, NoisyMax):
            return _indices(self.mechanism, x + _added(self.mechanism), self._noise, scale)
        return self._patterns(x, scale)

    def _noise(self, noise: Any, scale: float) -> _Noise:
        return _Noise(self.law_of(noise), 1.0 if isinstance(self.law_of(noise), Steps) else scale)

    def _patterns(self, x: Array, scale: float) -> Array:
        """By the integral over the noise of the threshold of a product over the answers; one for each run up to a positive, if need be."""
        mechanism, reader = self.mechanism, self.reader
        assert isinstance(mechanism, AboveThreshold) and isinstance(reader, Patterns)
        first, query = self._noise(mechanism.threshold_noise, scale), self._noise(mechanism.query_noise, scale)
        t, weights = first.nodes(number(mechanism.threshold), _around(query, x))
        no = np.stack([query.below(t - answer) for answer in x[: reader.told]])
        again = mechanism.resample
        found = np.zeros(reader.count)
        stack: list[tuple[int, int, Array, float]] = [(0, 0, weights, 1.0)]
        while stack:
            node, step, mass, factor = stack.pop()
            column = reader.column[node]
            if column < reader.count:
                found[column] = factor * mass.sum()
                continue
            yes = mass * (1 - no[step])
            stack.append((reader.next[node, 0], step + 1, mass * no[step], factor))
            stack.append((reader.next[node, 1], step + 1, weights if again else yes, factor * yes.sum() if again else factor))
        return found

    def worst_pairs(self) -> list[Pair]:
        """The neighbours on which one output tells the most in many runs."""
        return _worst_pairs(self.claim, self.law_of)

    def _loss(self, x: Array, x_prime: Array) -> Array:
        with np.errstate(divide="ignore"):
            return difference(np.log(self.row(x)), np.log(self.row(x_prime)))

    def partition(self, x: Array, x_prime: Array) -> Cells:
        """Columns by their loss; what cannot be told is in the middle."""
        losses = self._loss(x, x_prime)
        rows = self.row(x), self.row(x_prime)
        thresholds = levels(losses, rows[0] + rows[1])
        if len(thresholds) >= MAX_CELLS:
            reached = losses[:, None] >= thresholds
            tables = [np.stack([self.row(answers, scale) for scale in SCALES]) @ reached for answers in (x, x_prime)]
            thresholds = thresholds[choose(tables[0], tables[1], to_refute(self.claim, losses))]
        cells = cells_of(np.append(losses, 0.0), thresholds.tolist())
        return Cells(self.reader, cells, len(thresholds) + 1)

    def law(self, x: Array, x_prime: Array, scale: float = 1.0) -> tuple[Array, Array]:
        """Sums of the rows at this scale."""
        partition = self.partition(x, x_prime)
        p, q = (np.bincount(partition.cells[:-1], weights=self.row(side, scale), minlength=partition.size) for side in (x, x_prime))
        return p, q

    def neighbours(self, x: Array, x_prime: Array) -> bool:
        """Whether the answers move together as declared, and lie between the bounds."""
        return _are_neighbours(self.claim, np.asarray(x, float), np.asarray(x_prime, float), self.dimension)

    def curve(self) -> tuple[CurvePoint, ...] | None:
        """Not known in floats: it is a supremum over all answers."""
        return None

    def probabilities(self, x: Array) -> Array:
        """The row of the answers."""
        return self.row(x)


def _added(mechanism: NoisyMax) -> Any:
    """What is added to the answers before the noise."""
    return np.array([number(value) for value in mechanism.added]) if mechanism.added else 0.0


def _indices(mechanism: NoisyMax, x: Array, noise_of: Callable[[Any, float], _Noise], scale: float) -> Array:
    """That of each candidate, of equal noisy answers the first one, or one at random where that is said."""
    noise = noise_of(mechanism.noise, scale)
    at_random = noise.whole and mechanism.ties == "random"
    marks, shares = np.polynomial.legendre.leggauss(len(x) // 2 + 1)  # exact for products of so many lines
    found = np.zeros(len(x))
    for answer in np.unique(x):
        t, weights = noise.nodes(float(answer), _around(noise, x))
        with np.errstate(divide="ignore"):
            less = np.log(np.stack([noise.below(t - other) for other in x]))
            same = np.log(np.stack([noise.up_to(t - other) for other in x])) if noise.whole else less
        if at_random:  # in a random order what stands at u in [0, 1] wins those of the same place that stand after it
            below, tied = np.exp(less), np.exp(same) - np.exp(less)
            for i in np.flatnonzero(x == answer):
                others = np.arange(len(x)) != i
                lost = [np.prod(below[others] + (1 + u) / 2 * tied[others], axis=0) for u in marks]
                found[i] = (shares / 2 @ np.array(lost)) @ weights
            continue
        before = np.concatenate([np.zeros((1, len(t))), np.cumsum(less, axis=0)[:-1]])
        after = np.concatenate([np.cumsum(same[::-1], axis=0)[::-1][1:], np.zeros((1, len(t)))])
        for i in np.flatnonzero(x == answer):
            found[i] = np.exp(before[i] + after[i]) @ weights
    return found


# -- neighbours ------------------------------------------------------------------------------------------------------


def _moved(claim: Claim) -> float:
    mechanism = claim.mechanism
    assert isinstance(mechanism, Selection)
    moved = np.inf if claim.sensitivity is None else number(claim.sensitivity)
    if mechanism.bounds is not None and not hull_of(mechanism):
        low, high = map(number, mechanism.bounds)
        moved = min(moved, high - low)
    return float(moved)


def _are_neighbours(claim: Claim, x: Array, x_prime: Array, count: int) -> bool:
    mechanism, change = claim.mechanism, x_prime - x
    assert isinstance(mechanism, Selection)
    reach = _moved(claim) * (1 + 1e-9)
    in_hull = mechanism.neighbours == "hull"
    if x.shape != (count,) or x_prime.shape != (count,) or (not in_hull and np.abs(change).max(initial=0.0) > reach):
        return False
    if mechanism.bounds is not None:
        low, high = map(number, mechanism.bounds)
        if min(x.min(), x_prime.min()) < low - 1e-9 or max(x.max(), x_prime.max()) > high + 1e-9:
            return False
    if in_hull:
        return _in_hull(claim, change[None])
    together = {"monotone": (change >= 0).all() or (change <= 0).all(), "one": np.count_nonzero(change) <= 1}
    return bool(together.get(mechanism.neighbours, True))


def may_be_neighbours(claim: Claim, x: Array, x_prime: Array) -> bool:
    """Whether two lists of answers may be those of neighbours, of a selection of whatever report; True of other mechanisms."""
    mechanism = claim.mechanism
    if not isinstance(mechanism, Selection):
        return True
    if not isinstance(mechanism, Stream):
        count = mechanism.candidates if isinstance(mechanism, NoisyMax) else mechanism.queries
        return _are_neighbours(claim, x, x_prime, int(number(count)))
    width = len(mechanism.answers)
    if len(x) % width or (mechanism.queries is not None and len(x) > width * number(mechanism.queries)):
        return False
    if mechanism.neighbours == "hull":
        return _in_hull(claim, (x_prime - x).reshape(-1, width))
    return _are_neighbours(claim, x, x_prime, len(x))


def _in_hull(claim: Claim, changes: Array) -> bool:
    """Whether every change is in the hull of the points that are listed, or every one in that of their opposites."""
    from scipy.optimize import linprog  # takes long to load, and no other claim needs it

    corners = _moved(claim) * np.array([[float(entry) for entry in row] for row in hull_of(claim.mechanism)])
    some = np.vstack([corners.T, np.ones(len(corners))])
    return any(
        all(linprog(np.zeros(len(corners)), A_eq=some, b_eq=np.append(sign * change, 1.0)).status == 0 for change in changes)
        for sign in (1, -1)
    )


def _score(p: float, q: float) -> float:
    """What an event is expected to show in many runs."""
    p, q = max(p, 1e-300), max(q, 1 / MANY)
    return float(np.log(p / q) - 2 * np.sqrt((1 / p + 1 / q) / MANY))


def _worst_pairs(claim: Claim, law_of: LawOf) -> list[Pair]:
    mechanism = claim.mechanism
    pairs = _of_largest(claim, mechanism, law_of) if isinstance(mechanism, NoisyMax) else _of_threshold(claim, law_of)
    best = sorted(pairs, key=lambda scored: -scored[0])[:1]
    return [(x, y) for _, x, y in best]


def _between(claim: Claim, values: Array) -> Array:
    """The values where there are no bounds, else kept between them; on the integers, integers."""
    mechanism = claim.mechanism
    assert isinstance(mechanism, Selection)
    if on_integers(mechanism):
        values = np.rint(values)
    if mechanism.bounds is None:
        return values
    low, high = map(number, mechanism.bounds)
    return np.asarray(np.minimum(np.maximum(values, low), high))


def _of_largest(claim: Claim, mechanism: NoisyMax, law_of: LawOf) -> Iterator[tuple[float, Array, Array]]:
    """The first answer moves down and the others up, or all up where the greatest noisy answer itself is told."""
    count, step = int(number(mechanism.candidates)), _moved(claim)
    noises = [_Rough(law_of(mechanism.noise), scale) for scale in _WIDTHS]
    first = np.arange(count) == 0
    if mechanism.report == "value":
        move = step * (first if mechanism.neighbours == "one" else np.ones(count))
        start = _between(claim, np.zeros(count))
        yield 0.0, start, start + move
        return
    for move in _moves(mechanism, step):
        winner, gained = int(move.argmin()), move - move.min()
        ahead = gained / max(gained.max(), 1e-300)  # those that gain nothing are far below
        if mechanism.bounds is not None:
            low, high = map(number, mechanism.bounds)
            start = np.where(gained > 0, high - np.maximum(move, 0), low - np.minimum(move, 0))
            if start.min() >= low and start.max() <= high:
                yield 0.0, start, start + move
            continue
        for far in _FAR:
            size = far * (noises[0].unit + step)
            start = _between(claim, np.where((ahead > 0) | (np.arange(count) == winner), ahead * size, -size))
            scored = sum(_score(*(_is_first(noise, side, winner) for side in (start, start + move))) for noise in noises)
            yield scored, start - _added(mechanism), start - _added(mechanism) + move


def _moves(mechanism: NoisyMax, step: float) -> list[Array]:
    """How answers move: the first of them down, and the others up, where they may; in a hull by each of its points, or its opposite."""
    if mechanism.hull:
        alike = {tuple(sorted(row)): row for row in reversed(mechanism.hull)}  # in another order they tell the same
        moves = [sign * step * np.array([float(x) for x in row]) for row in alike.values() if max(row) > min(row) for sign in (1, -1)]
        return [move for move in moves if not on_integers(mechanism) or (move == np.rint(move)).all()]
    first = np.arange(int(number(mechanism.candidates))) == 0
    return [np.where(first, -step, step if mechanism.neighbours == "all" else 0.0)]


def _is_first(noise: _Noise, x: Array, winner: int) -> float:
    """The probability that an answer is the greatest."""
    t, weights = noise.nodes(float(x[winner]), [])
    values, counts = np.unique(np.delete(x, winner), return_counts=True)
    return float(np.prod([noise.up_to(t - value) ** count for value, count in zip(values, counts, strict=True)], axis=0) @ weights)


_MOVES: Final = {"all": ((1, 1),), "monotone": ((1, 0), (0, 1)), "one": ((1, 0), (0, 1))}


def _of_threshold(claim: Claim, law_of: LawOf) -> Iterator[tuple[float, Array, Array]]:
    """Negatives that go up and then positives that go down, about the threshold or far from it."""
    mechanism = claim.mechanism
    assert isinstance(mechanism, AboveThreshold)
    queries = int(number(mechanism.queries))
    most = queries if mechanism.positives is None else min(queries, int(number(mechanism.positives)))
    step, threshold = _moved(claim), number(mechanism.threshold)
    noises = [(_Rough(law_of(mechanism.threshold_noise), scale), _Rough(law_of(mechanism.query_noise), scale)) for scale in _WIDTHS]
    unit = max(noise.unit for noise in noises[0]) + step
    for positives, (u, v) in product(sorted({0, 1, most // 2, most} & set(range(most + 1))), _MOVES[mechanism.neighbours]):
        late = np.arange(queries) >= queries - positives
        move = np.where(late, -v * step, u * step).astype(float)
        if mechanism.neighbours == "one":
            move[np.arange(queries) != (queries - 1 if v else 0)] = 0.0
        if not move.any():
            continue
        if mechanism.bounds is not None:
            low, high = map(number, mechanism.bounds)
            starts = [np.where(late, low + v * step, high - u * step)]
        else:
            spread = [threshold + far * unit for far in (*_FAR, *(-far for far in _FAR[1:]))]
            ends = [(low, low) for low in spread] + [(low, 2 * threshold - low) for low in spread[1:]]
            ends.append((threshold - step / 2, threshold + step / 2))  # exact answers that change places
            starts = [_between(claim, np.where(late, high, low)) for low, high in ends]
        for start in starts:
            shown = (_score(*(_one_pattern(mechanism, *pair, side, late) for side in (start, start + move))) for pair in noises)
            yield sum(shown), start, start + move


def _one_pattern(mechanism: AboveThreshold, first: _Noise, query: _Noise, x: Array, late: Array) -> float:
    """The probability of "no" and then "yes"; of each run by itself where the threshold is drawn again."""
    t, weights = first.nodes(number(mechanism.threshold), _around(query, x))
    found, mass = 1.0, weights
    values, counts = np.unique(np.stack([x, late]), axis=1, return_counts=True)
    for (answer, yes), count in zip(values.T, counts, strict=True):
        below = query.below(t - answer)
        if yes and mechanism.resample:
            found *= float(weights @ (1 - below)) ** max(0, count - 1)
            count = 1
        mass = mass * (1 - below if yes else below) ** count
    return float(found * mass.sum())


# -- what an audit asks for ------------------------------------------------------------------------------------------


def selection(claim: Claim, law_of: LawOf) -> SelectionLaw | None:
    """The law of a selection that tells no numbers; None for another, or for too many candidates."""
    mechanism = claim.mechanism
    laws = all(law_of(noise) is not None for noise in noises_of(mechanism))
    if isinstance(mechanism, NoisyMax) and mechanism.report == "index" and laws:
        count = int(number(mechanism.candidates))
        return SelectionLaw(claim, law_of, Indices(count), count) if count <= MOST_COLUMNS else None
    if isinstance(mechanism, AboveThreshold) and mechanism.report == "answers" and laws and _mixed(mechanism, law_of):
        queries = int(number(mechanism.queries))
        most = queries if mechanism.positives is None else min(queries, int(number(mechanism.positives)))
        return SelectionLaw(claim, law_of, patterns(queries, most), queries)
    return None


def _mixed(mechanism: AboveThreshold, law_of: LawOf) -> bool:
    """Whether both noises are on the line, or both on the integers."""
    laws = [law_of(noise) for noise in (mechanism.threshold_noise, mechanism.query_noise) if noise is not None]
    return len({isinstance(law, Steps) for law in laws}) == 1


def pairs_of(claim: Claim, law_of: LawOf) -> list[Pair]:
    """The neighbours on which a selection is audited where none are given.

    Raises AuditError for neighbours in one order alone.
    """
    mechanism = claim.mechanism
    assert isinstance(mechanism, NoisyMax | AboveThreshold)
    require_both_orders(claim)
    if all(law_of(noise) is not None for noise in noises_of(mechanism)):
        return _worst_pairs(claim, law_of)
    count = mechanism.candidates if isinstance(mechanism, NoisyMax) else mechanism.queries
    return usual(claim, int(number(count)))


def require_both_orders(claim: Claim) -> None:
    """Raises AuditError for a selection whose claim is of one order of two neighbours."""
    mechanism = claim.mechanism
    if isinstance(mechanism, Selection) and mechanism.neighbours in ONE_WAY:
        raise AuditError(
            f'an audit looks at both orders of two neighbours, and neighbours = "{mechanism.neighbours}" is a claim about one. '
            'Audit a claim for "monotone"; what is said of one order, `dpverify verify` judges.'
        )


def usual(claim: Claim, length: int) -> list[Pair]:
    """The usual patterns, as far as they are neighbours here."""
    found = [(np.array(pair.left), np.array(pair.right)) for pair in usual_patterns(length, _moved(claim))]
    return [pair for pair in found if _are_neighbours(claim, *pair, length)]
