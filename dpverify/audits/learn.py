"""Black box: a partition of outputs of any kind, learned from past outputs alone.

The best events are likelihood-ratio sets (theory#information-limit), so all that is learned is a score, an estimate of the log
likelihood ratio of x to x', and cuts on it. Which score and which cuts is guesswork, and may be: whatever is learned is fixed before
the outputs that it is tested on, so the statement that a test then makes does not depend on how well it was learned.

The score is logistic in ramps of the numbers, which are exact for laws whose loss is a sum of piecewise linear functions (Laplace
noise on a vector), and for whole outputs that repeat it leans on their own counts, the more so the more often they were seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final

import numpy as np
from scipy.special import betaincinv, expit, ndtri

from dpverify.audits.bets import Law
from dpverify.audits.derived import TakenApart, apart
from dpverify.audits.logistic import fitted
from dpverify.audits.outputs import Outputs, concatenate, kinds, size, words
from dpverify.audits.partition import MAX_CELLS, Codes, Partition
from dpverify.audits.places import Placed, places_of

Array = np.ndarray[Any, Any]
Floats = np.ndarray[Any, np.dtype[np.float64]]

ATOMS: Final = 4096  # whole outputs with a score of their own
SHAPES: Final = 256  # shapes with a score of their own
CHUNK: Final = 131_072  # numbers scored at once: what the cache holds
ATOMIC: Final = 0.99  # of all outputs: where so many repeat, counts say all
WORK: Final = 10_000_000  # entries of the matrix that a regression is fitted on by one Newton step,
WORK_STEEP: Final = 2_000_000  # and of the part of it where the loss is so steep that more steps are needed:
ROWS_FOR_EACH: Final = 2000  # outputs for each weight of a regression, at most
FAINT: Final = 0.5  # of the logits' spread; within it one step from nothing is all there is to gain
ROWS_ATOMIC: Final = 50_000  # outputs for the regression where counts say all
PRECISIONS: Final = (1.0, 10.0, 100.0, 1e3, 1e4)  # of the prior of one weight: a change of the loss over one ramp
ROUGHNESS: Final = (0.3, 0.1, 0.03)  # of the score's spread, by which each term may be made simpler
NEAREST: Final = 2.0**-1000  # that knots may be: the slope of a ramp is a float
WORTH: Final = 0.98  # of what a score gains, that a simpler one must keep
LEANINGS: Final = (1.0, 10.0, 100.0, 1e3, 1e4)  # pseudo-counts by which the count of a repeated output is drawn to the regression


@dataclass(frozen=True, slots=True)
class Term:
    """A sum, over a series of numbers of an output, of ramps between knots and of bonuses for single values.

    series: "all" numbers, "steps" from each to the next (from 0 to the first), the "least", the "most", the "size" of the shape,
        or one number ("at") or "step".
    shape: index of the shape it is for, None for all shapes; index: which number or step; rises: weight of each ramp.
    graded: all is multiplied by the size of the shape, for what a number says may grow with what came before it.
    """

    series: str
    shape: int | None
    index: int
    knots: Floats
    singles: Floats
    rises: Floats
    bonuses: Floats
    graded: bool = False

    def covers(self, shape: int, name: str) -> bool:
        """Whether outputs of this shape have such a series."""
        return self.shape == shape if self.shape is not None else self.series == "size" or bool(_numeric(name))

    def pick(self, columns: Floats, name: str) -> Floats:
        """The series of outputs of the shape `name`: (width, n) to (length of the series, n)."""
        if self.series == "at":
            return columns[self.index : self.index + 1]
        if self.series == "size":
            return np.full((1, columns.shape[1]), float(size(name)))
        numeric = _numeric(name)
        if self.series == "all":
            return columns[numeric]
        if self.series == "least":
            return np.asarray(columns[numeric].min(axis=0, keepdims=True))
        if self.series == "most":
            return np.asarray(columns[numeric].max(axis=0, keepdims=True))
        with np.errstate(invalid="ignore"):
            steps = (
                np.diff(columns[numeric], axis=0, prepend=0.0) if self.series == "steps" else columns[self.index] - columns[self.index - 1]
            )
        steps[np.isnan(steps)] = 0.0  # infinity to infinity
        return np.atleast_2d(steps)

    def basis(self, columns: Floats, name: str) -> Iterator[Floats]:
        """Each ramp, from 0 below its first knot to 1 above its second, then each indicator, summed over the series: (n,)."""
        series, factor = self.pick(columns, name), size(name) if self.graded else 1
        for low, high in zip(self.knots[:-1], self.knots[1:], strict=True):
            yield (np.clip(series, low, high) - low).sum(axis=0) * (factor / (high - low))
        for value in self.singles:
            yield (series == value).sum(axis=0) * factor

    def score(self, columns: Floats, name: str) -> Floats:
        """The weighted sum of the basis: (n,). Elementwise throughout, so the score of an output does not depend on its neighbours."""
        series, factor = self.pick(columns, name), size(name) if self.graded else 1
        total, ramp = np.zeros(series.shape), np.empty(series.shape)
        for low, high, rise in zip(self.knots[:-1], self.knots[1:], self.rises, strict=True):
            if rise:
                np.clip(series, low, high, out=ramp)
                ramp -= low
                ramp *= rise / (high - low)
                total += ramp
        for value, bonus in zip(self.singles, self.bonuses, strict=True):
            if bonus:
                total += (series == value) * bonus
        return np.asarray(np.add.reduce(total, axis=0) * factor)


@dataclass(frozen=True, slots=True)
class Score:
    """The estimated log likelihood ratio of x to x'.

    names, offsets: the shapes it knows and what each says by itself; any other shape scores 0.
    keys: sorted hashes of the whole outputs with a score of their own; atom_scores, atom_shapes, atom_numbers belong to them.
    """

    names: tuple[str, ...]
    offsets: Floats
    terms: tuple[Term, ...]
    keys: np.ndarray[Any, np.dtype[np.uint64]]
    atom_scores: Floats
    atom_shapes: Array
    atom_numbers: Floats

    def values(self, outputs: Outputs) -> Floats:
        """The score of each output: (n,)."""
        result = np.zeros(len(outputs))
        step = CHUNK // min(max(outputs.numbers.shape[1], 1), 64)
        for start in range(0, len(outputs), step):
            part, scores = outputs[start : start + step], result[start : start + step]
            for shape, rows, columns in _by_shape(part, self.names):
                where, present = self.find(shape, columns)
                scores[rows] = np.where(present, self.atom_scores[where], 0.0) if len(self.keys) else 0.0
                if not present.all():
                    rest = ~present if present.any() else slice(None)
                    scores[rows[rest]] = self.regression(shape, columns[:, rest])
        return result

    def regression(self, shape: int, columns: Floats) -> Floats:
        """The logistic part, for outputs of one shape: (width, n) to (n,)."""
        total = np.full(columns.shape[1], self.offsets[shape])
        for term in self.terms:
            if term.covers(shape, self.names[shape]):
                total += term.score(columns, self.names[shape])
        return total

    def find(self, shape: int, columns: Floats) -> tuple[Array, Array]:
        """Which outputs of one shape have a score of their own, and where."""
        if not len(self.keys):
            return np.zeros(0, np.int64), np.zeros(columns.shape[1], bool)
        hashes = _hash(self.names[shape], columns)
        where = np.minimum(np.searchsorted(self.keys, hashes), len(self.keys) - 1)
        return where, self.keys[where] == hashes


@dataclass(frozen=True, slots=True)
class Scored:
    """The partition by cuts on a score: an output is in cell k if k of the ascending cuts are at most its score.

    expected: (2, K) what the score expects of the cells on x and on x', as so many imaginary counts as it can be trusted for.
    steeper: by how much the logits should be multiplied, at least 1: a prior drew them to 0. Bets do so, choices of events do not.
    """

    score: Score
    cuts: Floats
    atomic: bool
    expected: Floats
    steeper: float = 1.0

    @property
    def size(self) -> int:
        """The number of cells."""
        return len(self.cuts) + 1

    def codes(self, outputs: Outputs) -> Codes:
        """The cell of each output."""
        return _cells(self.score.values(outputs), self.cuts)

    def describe(self, low: int, high: int) -> str:
        """The event {low <= cell < high}: its repeated values, most of one side first, and its range of scores."""
        cell = _cells(self.score.atom_scores, self.cuts)
        inside = np.flatnonzero((low <= cell) & (cell < high))
        inside = inside[np.argsort(-np.abs(self.score.atom_scores[inside]), kind="stable")]
        score = self.score
        values = [f"output == {words(score.names[score.atom_shapes[i]], score.atom_numbers[i])}" for i in inside[:SHOWN]]
        if len(inside) > SHOWN:
            values.append(f"{len(inside) - SHOWN} more values")
        if self.atomic and values:
            return " or ".join(values)
        bounds = [f"{self.cuts[low - 1]:.4g} <= "] if low else [""]
        bounds += ["learned score", f" < {self.cuts[high - 1]:.4g}" if high < self.size else ""]
        return f"{''.join(bounds)} (logistic regression on past outputs{'; among them ' + ' or '.join(values) if values else ''})"


@dataclass(frozen=True, slots=True)
class Intervals:
    """A partition of the real line: intervals, open on the left and closed on the right, and single values apart from them.

    edges: ascending; cells: the cell of each interval, len(edges) + 1; singles, single_cells: sorted values with a cell of their own.
    other: the cell of an output that is not one number. expected, steeper: as of Scored.
    """

    size: int
    edges: Floats
    cells: Codes
    singles: Floats
    single_cells: Codes
    other: int
    expected: Floats
    steeper: float = 1.0

    def codes(self, outputs: Outputs) -> Codes:
        """The cell of each output."""
        if outputs.names != ("number",):
            known = np.array([name == "number" for name in outputs.names])[0 if outputs.shapes is None else outputs.shapes]
            codes = np.full(len(outputs), self.other, np.uint8)
            rows = np.flatnonzero(np.broadcast_to(known, len(outputs)))
            codes[rows] = self._line(outputs.numbers[rows, 0]) if len(rows) else 0
            return codes
        return self._line(outputs.numbers[:, 0])

    def _line(self, y: Array) -> Codes:
        if len(self.edges) <= FEW:
            codes = np.full(len(y), self.cells[0], np.uint8)
            above = np.empty(len(y), bool)
            for edge, jump in zip(self.edges, np.diff(self.cells.astype(np.uint8)), strict=True):  # modulo 256, as the sums are
                np.greater(y, edge.astype(y.dtype if y.dtype == np.float32 else np.float64), out=above)
                codes += above.view(np.uint8) if jump == 1 else above.view(np.uint8) * jump
        else:
            codes = np.searchsorted(self.edges, y).astype(np.min_scalar_type(len(self.edges)))
            if not np.array_equal(self.cells, np.arange(len(self.cells))):
                codes = self.cells[codes]
        if len(self.singles) <= FEW:
            for value, cell in zip(self.singles, self.single_cells, strict=True):
                same = y == value
                if same.any():
                    codes[same] = cell
        else:
            where = np.minimum(np.searchsorted(self.singles, y), len(self.singles) - 1)
            codes = np.where(self.singles[where] == y, self.single_cells[where], codes)
        return codes

    def describe(self, low: int, high: int) -> str:
        """The event {low <= cell < high}, as intervals and single values."""
        inside = (low <= self.cells) & (self.cells < high)
        ends = np.concatenate([[-np.inf], self.edges, [np.inf]])
        starts = np.flatnonzero(inside & ~np.concatenate([[False], inside[:-1]]))
        stops = np.flatnonzero(inside & ~np.concatenate([inside[1:], [False]])) + 1
        parts = [_interval(ends[start], ends[stop]) for start, stop in zip(starts, stops, strict=True)]
        single = (low <= self.single_cells) & (self.single_cells < high)
        around = inside[np.searchsorted(self.edges, self.singles)] if len(self.singles) else np.zeros(0, bool)
        parts += [f"output == {value:.10g}" for value in self.singles[single & ~around]]
        text = " or ".join(parts[:SHOWN]) + (f" or {len(parts) - SHOWN} more intervals or values" if len(parts) > SHOWN else "")
        without = [f"{value:.10g}" for value in self.singles[~single & around]]
        return (text or "no output") + (
            f", except {', '.join(without[:SHOWN])}{', ...' if len(without) > SHOWN else ''}" if without else ""
        )


Learned = Intervals | Scored | Placed | TakenApart


@dataclass(frozen=True, slots=True)
class Reordered:
    """A partition with its cells in another order. order: the old cells, in the new one."""

    partition: Learned
    order: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of cells."""
        return len(self.order)

    @property
    def expected(self) -> Floats:
        """(2, K) imaginary counts, as of the partition."""
        return self.partition.expected[:, self.order]

    def codes(self, outputs: Outputs) -> Codes:
        """The cell of each output."""
        return np.argsort(self.order).astype(np.uint8)[self.partition.codes(outputs)]

    def describe(self, low: int, high: int) -> str:
        """The event {low <= cell < high}, old cell by old cell, neighbours together."""
        inside = sorted(self.order[low:high])
        starts = [cell for cell in inside if cell - 1 not in inside]
        stops = [cell + 1 for cell in inside if cell + 1 not in inside]
        return " or ".join(self.partition.describe(start, stop) for start, stop in zip(starts, stops, strict=True))


def reordered(partition: Learned, left: Array, right: Array) -> Reordered:
    """The cells in the order of their own past counts, (K,) on x and (K,) on x', instead of the order that was learned."""
    return Reordered(partition, tuple(np.argsort(np.log((left + 0.5) / (right + 0.5)), kind="stable").tolist()))


@dataclass(frozen=True, slots=True)
class Merged:
    """A partition with cells put together. table: the new cell of each old one, which never falls."""

    partition: Partition
    table: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.table[-1] + 1

    def codes(self, outputs: Outputs) -> Codes:
        """The cell of each output."""
        return np.array(self.table, np.uint8)[self.partition.codes(outputs)]

    def describe(self, low: int, high: int) -> str:
        """The event {low <= cell < high}, as one of the old cells."""
        inside = [cell for cell, new in enumerate(self.table) if low <= new < high]
        return self.partition.describe(inside[0], inside[-1] + 1)


def merged(partition: Partition, table: tuple[int, ...]) -> Partition:
    """The partition with cells put together: by the fewest comparisons where it is one by intervals or by cuts on a score."""
    if isinstance(partition, Reordered) and isinstance(partition.partition, Intervals):
        places = np.argsort(partition.order)
        return _of_intervals(partition.partition, np.array(table, np.uint8)[places], table[-1] + 1)
    if isinstance(partition, Intervals):
        return _of_intervals(partition, np.array(table, np.uint8), table[-1] + 1)
    if isinstance(partition, Scored):
        cuts = partition.cuts[np.diff(table) > 0]
        expected = np.array([np.bincount(table, side, table[-1] + 1) for side in partition.expected])
        return replace(partition, cuts=cuts, expected=expected)
    return Merged(partition, table)


def _of_intervals(partition: Intervals, table: Codes, size: int) -> Intervals:
    """Intervals with a new cell for each old one, without the edges between equal cells."""
    cells = table[partition.cells]
    changes = np.flatnonzero(cells[1:] != cells[:-1])
    edges, kept = partition.edges[changes], cells[np.append(changes, len(cells) - 1)]
    single_cells = table[partition.single_cells]
    apart = single_cells != kept[np.searchsorted(edges, partition.singles)] if len(partition.singles) else np.zeros(0, bool)
    expected = np.array([np.bincount(table, side, size) for side in partition.expected])
    other = int(table[partition.other])
    return Intervals(size, edges, kept, partition.singles[apart], single_cells[apart], other, expected, partition.steeper)


FEW: Final = 24  # edges that are faster to compare with one by one than to search
FEW_ROWS: Final = 4000  # outputs, of which one ramp for each number may say more than many
SHOWN: Final = 5
STEEPEST: Final = 3.0  # multiple of a score's logits, which priors draw to 0
PRIOR_SLOPE: Final = 20.0  # outputs
SLOPED: Final = 4000  # outputs that the multiple is fitted on: beyond, it is next to 1
TRUST: Final = 2.0  # imaginary counts of each past output: what a smooth score says is worth more than the counts it was learned from


def _interval(low: float, high: float) -> str:
    if low == -np.inf:
        return "any output" if high == np.inf else f"output <= {high:.10g}"
    return f"output > {low:.10g}" if high == np.inf else f"{low:.10g} < output <= {high:.10g}"


def learn(left: Outputs, right: Outputs, *, cells: int = MAX_CELLS, seed: int) -> Learned | None:
    """A partition into at most `cells` cells, ordered by the estimated log likelihood ratio of x to x'; None where all outputs look alike.

    left, right: past outputs on x and on x'. The seed decides which of them fit the score and which choose its cuts.
    Numbers that floats would not tell apart are known by their places among those that were seen.
    """
    past = concatenate([left, right])
    how = apart(past)
    if how is not None:
        past = how.of(past)
    places = places_of(past)
    learned: Learned | None = _learned(past if places is None else places.of(past), len(left), cells, seed)
    if learned is not None and places is not None:
        learned = Placed(learned, places, learned.expected)
    return learned if learned is None or how is None else TakenApart(learned, how, learned.expected)


def _learned(past: Outputs, count: int, cells: int, seed: int) -> Intervals | Scored | None:
    """`learn`, of outputs of which the first `count` are on x, and which floats tell apart."""
    label = np.repeat([1.0, 0.0], [count, len(past) - count])
    order = np.random.default_rng(seed).permutation(len(past))
    past, label = past[order], label[order]
    names = _frequent_names(past)
    split = int(0.6 * len(past))
    score = _fit(past, label, names, split)
    scores = score.values(past)
    cuts = _cuts(scores[split:], label[split:] == 1, scores, max(count, 1), cells)
    if not len(cuts):
        return None
    atomic = _known(score, past[split:]) > ATOMIC
    slope = _slope(scores[split:], label[split:])
    expected = _imagined(min(slope, 1.0) * scores, _cells(scores, cuts), label, len(cuts) + 1)
    found = _intervals(score, cuts, atomic, expected) if names == ("number",) else Scored(score, cuts, atomic, expected)
    return replace(found, steeper=max(slope, 1.0))


def _imagined(logits: Floats, cell: Codes, label: Floats, cells: int) -> Floats:
    """The counts of cells that logits of x to x' expect of outputs in these cells: TRUST for each past output."""
    chance = expit(logits)
    law = np.array([np.bincount(cell, side, cells) / side.sum() for side in (chance, 1 - chance)], np.float64)
    return TRUST * len(label) / 2 * law


def law_to_bet_on(partition: Learned | Reordered) -> Law:
    """The laws of the cells on x and on x' that a learned score expects, as steep as outputs that it was not fitted on say."""
    inner: Any = partition
    while isinstance(inner, Placed | Reordered | TakenApart):
        inner = inner.partition
    left, right = ((side + 0.5) / (side.sum() + 0.5 * partition.size) for side in partition.expected)
    steep, middle = inner.steeper * np.log(left / right), (left + right) / 2
    laws = middle * expit(steep), middle * expit(-steep)
    return laws[0] / laws[0].sum(), laws[1] / laws[1].sum()


def _slope(scores: Floats, label: Floats) -> float:
    """By how much logits are to be multiplied to tell outputs that they were not fitted on best, drawn to 1 as by PRIOR_SLOPE outputs."""
    scores, label = scores[:SLOPED], label[:SLOPED]  # they are in no order
    slopes = np.linspace(0.0, STEEPEST, 31)
    losses = [float(_losses(slope * scores, label).sum()) for slope in slopes.tolist()]
    bend = PRIOR_SLOPE / 8 * float(np.mean(scores**2))
    return float(slopes[np.argmin(losses + bend * (slopes - 1) ** 2)])


def _expected(hits: Any, n: Any, misses: Any, m: Any, planned: float, confidence: float, past: float) -> Floats:
    """The lower bound on log(P(S)/Q(S)) to expect from `planned` pairs, S seen hits of n times on one side, misses of m on the other.

    Only used to choose. Probabilities are taken where the past is sure of them, so that no event is chosen for its luck.
    """
    hits, misses = np.asarray(hits, float), np.asarray(misses, float)
    p = np.where(hits > 0, betaincinv(np.maximum(hits, 0.5), n - hits + 1, 1 - past), 0.0)
    q = np.where(misses < m, betaincinv(misses + 1, np.maximum(m - misses, 0.5), past), 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = np.log(p / q) - ndtri((1 + confidence) / 2) * np.sqrt((1 - p) / (planned * p) + (1 - q) / (planned * q))
    return np.where(p > 0, bound, -np.inf)


def _cuts(scores: Floats, left: Array, all_scores: Floats, past: int, cells: int) -> Floats:
    """At most cells - 1 ascending thresholds; a score belongs to cell k if k of them are at most it.

    scores, left: outputs that the score was not fitted on, and whether they are outputs on x.
    """
    both = np.sort(scores)
    if not len(both) or both[0] == both[-1]:
        return np.empty(0)
    ranks = np.unique(np.geomspace(1, len(both) / 2, 60).astype(int))
    candidates = np.concatenate([both[ranks], both[-ranks]])
    ours, theirs = np.sort(scores[left]), np.sort(scores[~left])
    if len(ours) and len(theirs):  # the events of one side alone
        candidates = np.append(
            candidates, [both[np.searchsorted(both, side[-1], "right") :][:1] for side in (ours, theirs) if side[-1] < both[-1]]
        )
        candidates = np.append(candidates, [side[0] for side in (ours, theirs)])
    candidates = np.unique(candidates)
    candidates = candidates[candidates > both[0]]
    p, q = len(ours) - np.searchsorted(ours, candidates), len(theirs) - np.searchsorted(theirs, candidates)
    chosen: list[float] = []
    for scale in (1, 10, 100, 1000):
        for bound in (
            _expected(p, len(ours), q, len(theirs), past * scale, 0.9, 0.7),
            _expected(len(theirs) - q, len(theirs), len(ours) - p, len(ours), past * scale, 0.9, 0.7),
        ):
            chosen.append(float(candidates[np.argmax(bound)]))
    # What lies beyond the reach of the data may still be an event: the extreme thousandth, then ever more common ones.
    levels = np.unique(all_scores)
    if len(levels) <= cells:
        chosen += levels[1:].tolist()
    for tail in (0.001, 0.5, 0.02, 0.2, 0.1, 0.05, 0.01, 0.35):
        chosen += np.quantile(all_scores, [1 - tail, tail], method="higher").tolist()
    distinct = list(dict.fromkeys(cut for cut in chosen if cut > levels[0]))
    where = np.searchsorted(levels, sorted(distinct[: cells - 1]))
    return np.asarray((levels[where - 1] + levels[where]) / 2)  # halfway to the next score, or rounding would sort what is on the cut


def _known(score: Score, outputs: Outputs) -> float:
    """The fraction of outputs that have a score of their own."""
    count = sum(int(score.find(shape, columns)[1].sum()) for shape, _, columns in _by_shape(outputs, score.names))
    return count / max(len(outputs), 1)


def _cells(scores: Floats, cuts: Floats) -> Codes:
    """How many cuts are at most each score."""
    codes = np.zeros(len(scores), np.uint8)
    for cut in cuts:
        codes += scores >= cut
    return codes


def _numeric(name: str) -> list[int]:
    """Which numbers of a shape have an order and are alike: hashes of texts have none, and lengths of texts are of another kind."""
    return [index for index, kind in enumerate(kinds(name)) if kind not in ("str", "bytes", "length")]


def _by_shape(outputs: Outputs, names: Sequence[str]) -> Iterator[tuple[int, Array, Floats]]:
    """(index in names, rows, numbers as columns (width, n)) of the outputs of each shape in `names`."""
    for index, name in enumerate(outputs.names):
        if name in names:
            rows = np.arange(len(outputs)) if outputs.shapes is None else np.flatnonzero(outputs.shapes == index)
            if len(rows):
                part = outputs.numbers if outputs.shapes is None else outputs.numbers[rows]
                yield names.index(name), rows, np.ascontiguousarray(part[:, : len(kinds(name))].T, np.float64)


def _hash(name: str, columns: Floats) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """64 bits of each whole output of one shape, equal for equal numbers in every process: (width, n) to (n,)."""
    total = np.full(
        columns.shape[1], int.from_bytes(blake2b(name.encode(errors="surrogatepass"), digest_size=8).digest(), "big"), np.uint64
    )
    for column in columns:
        bits = (column + 0.0).view(np.uint64)  # one zero
        total ^= bits
        total *= np.uint64(0x9E3779B97F4A7C15)
        total ^= total >> np.uint64(32)
        total *= np.uint64(0xD6E8FEB86659FD93)
        total ^= total >> np.uint64(29)
    return total


def _frequent_names(past: Outputs) -> tuple[str, ...]:
    """The shapes that past outputs often had, most frequent first."""
    counts = np.array([len(past)]) if past.shapes is None else np.bincount(past.shapes, minlength=len(past.names))
    often = [index for index in np.argsort(-counts, kind="stable")[:SHAPES] if counts[index] >= 5]
    return tuple(past.names[index] for index in often) or past.names[:1]


def _fit(past: Outputs, label: Floats, names: tuple[str, ...], split: int) -> Score:
    """The score, fitted on the outputs before `split`; those after it decide how much to trust what."""
    fitted, held = past[:split], past[split:]
    odds = float(np.log(label[:split].sum() / (1 - label[:split]).sum()))
    atomic = _repeated(fitted, held, names) > ATOMIC  # then the regression is only there to draw rare values to
    wider = max(len(kinds(name)) for name in names) > 1
    most = ROWS_ATOMIC if atomic else len(past)
    candidates = [_terms(fitted, names, by) for by in _manners(len(fitted), wider=wider)]
    plain = [_regression(past, label, names, split, odds, terms, most) for terms in candidates]
    score = _simplest(plain, held, label[split:], odds, errors=0.0)
    if atomic:
        return _simplest(_with_atoms(score, fitted, label[:split]), held, label[split:], odds, errors=0.0)
    score = _simpler(score, held, label[split:], odds)
    return _simplest([score, *_with_atoms(score, fitted, label[:split])], held, label[split:], odds)


def _manners(rows: int, *, wider: bool) -> tuple[str, ...]:
    """Which terms a regression on so many outputs is tried with."""
    if not wider:
        return ("all",)
    return ("all", "each", "both", "line") if rows <= FEW_ROWS else ("all", "each", "both")


def _repeated(fitted: Outputs, held: Outputs, names: tuple[str, ...]) -> float:
    """The fraction of the outputs held back that were seen three times among those fitted."""
    hashes = [
        np.concatenate([_hash(names[shape], columns) for shape, _, columns in _by_shape(part, names)] or [np.empty(0, np.uint64)])
        for part in (fitted, held)
    ]
    keys, counts = np.unique(hashes[0], return_counts=True)
    return float(np.isin(hashes[1], keys[counts >= 3]).sum()) / max(len(held), 1) if np.sum(counts >= 3) <= ATOMS else 0.0


def _gain(score: Score, held: Outputs, label: Floats, odds: float) -> float:
    """Nats an output that a score gains over knowing nothing."""
    return float(_losses(np.full(len(label), odds), label).mean() - _losses(score.values(held) + odds, label).mean())


def _simpler(score: Score, held: Outputs, label: Floats, odds: float) -> Score:
    """The score with as few pieces as keep nearly all that it gains: fast to tell, and rid of what was only noise."""
    full, values = _gain(score, held, label, odds), score.values(held)
    for roughness in ROUGHNESS:
        terms = [_rough(term, roughness * float(values.std()), score.names) for term in score.terms]
        rough = replace(score, terms=tuple(term for term in terms if len(term.rises) or len(term.bonuses)))
        moved, offsets = values - rough.values(held), score.offsets.copy()
        for shape, rows, _ in _by_shape(held, score.names):
            offsets[shape] += moved[rows].mean()
        rough = replace(rough, offsets=offsets)
        if _gain(rough, held, label, odds) >= WORTH * full:
            return rough
    return score


def _rough(term: Term, tolerance: float, names: tuple[str, ...]) -> Term:
    """The term as a function with fewer pieces, nowhere further from it than the tolerance, up to a constant."""
    longest = max((len(_numeric(name)) for shape, name in enumerate(names) if term.covers(shape, name)), default=1)
    tolerance /= np.sqrt(longest) if term.series in ("all", "steps") else 1.0
    heights = np.concatenate([[0.0], np.cumsum(term.rises)])
    none = np.empty(0)
    singles = np.abs(term.bonuses) > tolerance
    if not len(term.knots) or np.ptp(heights) <= 2 * tolerance:
        knots, rises = none, none
    else:
        keep = {0, len(heights) - 1}
        while True:  # add the knot that is furthest off
            at = sorted(keep)
            off = np.abs(np.interp(term.knots, term.knots[at], heights[at]) - heights)
            if off.max() <= tolerance:
                break
            keep.add(int(off.argmax()))
        knots, rises = term.knots[at], np.diff(heights[at])
    return replace(term, knots=knots, rises=rises, singles=term.singles[singles], bonuses=term.bonuses[singles])


def _simplest(scores: Sequence[Score], held: Outputs, label: Floats, odds: float, errors: float = 1.0) -> Score:
    """The score that predicts outputs it was not fitted on best; the first unless another gains more than so many standard errors."""
    losses = [_losses(score.values(held) + odds, label) for score in scores]
    best = min(range(len(scores)), key=lambda index: float(losses[index].mean()))
    gain = losses[0] - losses[best]
    return scores[best] if gain.mean() > errors * gain.std() / np.sqrt(len(gain)) else scores[0]


def _losses(logits: Floats, label: Floats) -> Floats:
    """Negative log likelihood of each label."""
    return np.asarray(np.logaddexp(0.0, np.where(label == 1, -logits, logits)))


def _terms(past: Outputs, names: tuple[str, ...], by: str) -> list[Term]:
    """What the regression may use: sums over "all" numbers, "each" number by itself, or by one ramp ("line"), or "both" and steps."""
    shaped = [(shape, columns) for shape, _, columns in _by_shape(past[:50_000], names)]
    if not shaped:
        return []
    none = np.empty(0)

    def term(series: str, shape: int | None, index: int, count: int) -> Term:
        blank = Term(series, shape, index, none, none, none, none)
        parts = [blank.pick(columns, names[s]).ravel() for s, columns in shaped if blank.covers(s, names[s])]
        values = np.concatenate(parts) if parts else none
        text = series == "at" and kinds(names[shape or 0])[index] in ("str", "bytes")
        knots = none if text else _knots(values, count)
        singles = _singles(values) if many and series in ("all", "at") else none
        if len(singles):
            knots = _knots(values[~np.isin(values, singles)], count)
        return Term(series, shape, index, knots, singles, np.ones(max(len(knots) - 1, 0)), np.ones(len(singles)))

    longest = max(len(kinds(name)) for name in names)
    many = longest > 1
    terms = [term("all", None, 0, 17 if many else 25)] if by in ("all", "both") else []
    if len(names) > 1:
        terms += [term("size", None, 0, 9), *(replace(pooled, graded=True) for pooled in terms)]
    if many and by in ("all", "both"):
        terms += [term(series, None, 0, 7) for series in ("least", "most")]
        terms += [term("steps", None, 0, 7)] if longest <= 64 else []
    if len(names) > 1 or by != "all":
        for shape, columns in shaped:
            own = len(columns)
            if own <= 256 and columns.shape[1] >= 30:
                count = 2 if by == "line" else 9 if own < 5 else 5 if own <= 20 else 2
                terms += [term("at", shape, index, count) for index in range(own)]
                if by == "both" and 2 <= own <= 20 and len(_numeric(names[shape])) == own:
                    terms += [term("step", shape, index, count) for index in range(1, own)]
    return [term for term in terms if len(term.rises) or len(term.bonuses)]


def _knots(values: Floats, count: int) -> Floats:
    """Distinct quantiles, denser in both tails, within the finite values: beyond the ends a score is constant, so no outlier rules it."""
    values = values[np.isfinite(values)]
    if not len(values):
        return np.empty(0)
    tail = min(10 / len(values), 0.1)
    inner = np.linspace(0, 1, count)[1:-1] if count > 2 else np.empty(0)
    knots = np.unique(np.quantile(values, np.concatenate([[tail], inner, [1 - tail]]) if count > 2 else [0.05, 0.95]))
    return knots[np.diff(knots, prepend=-np.inf) >= NEAREST]


def _singles(values: Floats) -> Floats:
    """Up to 8 values that make up at least a hundredth each."""
    distinct, counts = np.unique(values, return_counts=True)
    often = np.argsort(-counts, kind="stable")[:8]
    return distinct[often[counts[often] >= max(0.01 * len(values), 3)]]


def _regression(past: Outputs, label: Floats, names: tuple[str, ...], split: int, odds: float, terms: list[Term], most: int) -> Score:
    """Penalised logistic regression on at most `most` of the outputs before `split`, of whom exp(odds) to one are on x.

    The prior of each weight, the change of the loss over one ramp, is normal; its precision is chosen on the outputs after `split`.
    """
    sizes = [len(term.rises) + len(term.bonuses) for term in terms]
    width = 1 + len(names) + sum(sizes)
    rows = min(WORK // width, most, ROWS_FOR_EACH * width)
    train, test = min(split, rows), min(len(past) - split, rows)
    data = _matrix(past[:train], names, terms, width)
    held = _matrix(past[split : split + test], names, terms, width)
    centre = data.mean(axis=0)
    centre[0] = 0.0
    data -= centre
    held -= centre
    truth = label[split : split + test]
    gram = (data.T @ data).astype(np.float64) / 4  # bounds the curvature of the loss from above
    gram += np.eye(width) * (1e-6 * np.trace(gram))  # rounding must not make it indefinite
    slope = np.einsum("ij,i->j", data, (label[:train] - expit(odds)).astype(np.float32)).astype(np.float64)
    ridges = [np.concatenate([[1e-3], np.full(width - 1, precision)]) for precision in PRECISIONS]
    fits = [np.linalg.solve(gram + np.diag(ridge), slope) for ridge in ridges]
    logits = [np.einsum("ij,j->i", held, w.astype(np.float32)) for w in fits]
    best = min(range(len(fits)), key=lambda index: float(_losses(logits[index] + odds, truth).mean()))
    weights = fits[best]
    if float(logits[best].std()) > FAINT:
        steep = min(train, WORK_STEEP // width)
        weights = _descent(data[:steep], label[:steep], held, truth, odds, ridges)
    weights = np.where(np.abs(weights) < 1e-3 * np.abs(weights[1:]).max(initial=0.0), 0.0, weights)
    base = weights[0] - float(centre @ weights)
    pieces = np.split(weights[1 + len(names) :], np.cumsum(sizes)[:-1]) if terms else []
    given = tuple(
        replace(term, rises=piece[: len(term.rises)], bonuses=piece[len(term.rises) :]) for term, piece in zip(terms, pieces, strict=True)
    )
    none = np.empty(0)
    offsets = weights[1 : 1 + len(names)] + base
    return Score(names, offsets, given, np.empty(0, np.uint64), none, np.empty(0, np.int64), np.empty((0, 0)))


def _descent(data: Array, label: Floats, held: Array, truth: Floats, odds: float, ridges: list[Floats]) -> Floats:
    """The weights of a logistic regression with the ridge that suits the outputs held back best."""
    weights = np.zeros(data.shape[1])
    best = (np.inf, weights)
    for ridge in reversed(ridges):
        weights = fitted(data, label, odds, ridge, weights)
        loss = float(_losses(held @ weights + odds, truth).mean())
        if loss < best[0]:
            best = (loss, weights)
        elif loss > best[0] * (1 + 1e-4):
            break
    return best[1]


def _matrix(past: Outputs, names: tuple[str, ...], terms: list[Term], width: int) -> Array:
    """The design matrix: a constant, the shapes, the basis of each term. (n, width), float32."""
    matrix = np.zeros((width, len(past)), np.float32)
    matrix[0] = 1
    for shape, rows, columns in _by_shape(past, names):
        matrix[1 + shape, rows] = 1
        start = 1 + len(names)
        for term in terms:
            if term.covers(shape, names[shape]):
                for index, feature in enumerate(term.basis(columns, names[shape]), start):
                    matrix[index, rows] = feature
            start += len(term.rises) + len(term.bonuses)
    return matrix.T


def _with_atoms(plain: Score, past: Outputs, label: Floats) -> list[Score]:
    """The score with repeated whole outputs scored by their own counts, drawn to the regression more or less."""
    hashes, shapes, places = [], [], []
    for shape, rows, columns in _by_shape(past, plain.names):
        hashes.append(_hash(plain.names[shape], columns))
        shapes.append(np.full(len(rows), shape))
        places.append(rows)
    if not hashes:
        return []
    rows = np.concatenate(places)
    keys, first, inverse, counts = np.unique(np.concatenate(hashes), return_index=True, return_inverse=True, return_counts=True)
    limit = max(1, min(ATOMS, 400_000 // max(past.numbers.shape[1], 1)))
    kept = np.sort(np.argsort(-counts, kind="stable")[:limit])
    kept = kept[counts[kept] >= 3]
    if not len(kept):
        return []
    ours = np.bincount(inverse, weights=label[rows], minlength=len(keys))[kept]
    theirs = (counts[kept] - ours) * (label.sum() / (1 - label).sum())
    of, numbers = np.concatenate(shapes)[first[kept]], past.numbers[rows[first[kept]]].astype(np.float64)
    guesses = np.empty(len(kept))
    for shape in np.unique(of):
        guesses[of == shape] = plain.regression(int(shape), np.ascontiguousarray(numbers[of == shape, : len(kinds(plain.names[shape]))].T))
    return [
        replace(
            plain,
            keys=keys[kept],
            atom_scores=np.log((ours + lean * expit(guesses)) / (theirs + lean * expit(-guesses))),
            atom_shapes=of,
            atom_numbers=numbers,
        )
        for lean in LEANINGS
    ]


def _intervals(score: Score, cuts: Floats, atomic: bool, expected: Floats) -> Intervals:
    """The same partition for outputs that are one number, as comparisons with it."""
    order = np.argsort(score.atom_numbers[:, 0]) if len(score.keys) else np.empty(0, np.int64)
    singles = score.atom_numbers[order, 0] if len(order) else np.empty(0)
    single_cells = _cells(score.atom_scores[order], cuts)
    if atomic:  # values between two that were seen go with the nearer
        edges, cells = (singles[:-1] + singles[1:]) / 2, single_cells
    else:
        knots = np.unique(np.concatenate([term.knots for term in score.terms])) if score.terms else np.empty(0)
        heights = score.regression(0, knots[None, :])
        crossings = [
            low + (cuts[(min(a, b) < cuts) & (cuts < max(a, b))] - a) / (b - a) * (high - low)
            for low, high, a, b in zip(knots[:-1], knots[1:], heights[:-1], heights[1:], strict=True)
        ]
        edges = np.unique(np.concatenate([knots, *crossings]))
        inner = np.concatenate([edges[:1] - 1, (edges[:-1] + edges[1:]) / 2, edges[-1:] + 1]) if len(edges) else np.zeros(1)
        cells = _cells(score.regression(0, inner[None, :]), cuts)
    changes = np.flatnonzero(cells[1:] != cells[:-1])
    edges, cells = edges[changes], cells[np.append(changes, len(cells) - 1)]
    apart = single_cells != cells[np.searchsorted(edges, singles)]
    other = int(_cells(np.zeros(1), cuts)[0])
    return Intervals(len(cuts) + 1, edges, cells, singles[apart], single_cells[apart], other, expected)
