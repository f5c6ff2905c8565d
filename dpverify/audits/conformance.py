"""Is the sampler the declared density? Bets on cells of known probability, at any stopping time.

Outputs on one input are sorted into cells by a few *views*: the noise itself, its norm, its signs, its largest coordinate, a column
of a table. Under "the outputs are independent draws from the declared law" a view's counts are multinomial with known probabilities p,
so for every rival row q the likelihood ratio prod (q/p)^counts has mean at most 1 at any stopping time: an e-process (Ville, as in
theory#betting-on-pairs). A view's wealth is a fixed mixture over rivals: scaled noise, shifted noise, tilts by Legendre polynomials
(Neyman's smooth test), tails emptied or fattened on dyadic cells, outputs that are now and then too near the true answer, and Dirichlet
mixtures that have no rival in mind. The wealth of the whole is a fixed mixture over views. What is kept are counts, which add up over
batches.

Rounding: p is rounded up, by CDF_ERROR for the error of a distribution function in floats and by the mass that one float spacing can
carry over a cell's ends. So the mean of q/p stays at most 1 although p, and the outputs, are known to that accuracy only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
from scipy.special import betainc, eval_legendre, gammaln

from dpverify.audits.declared import Declared
from dpverify.audits.declared.gauges import Gauge
from dpverify.audits.declared.keys import KeysLaw, told_as
from dpverify.audits.declared.selections import SelectionLaw
from dpverify.audits.outputs import Outputs
from dpverify.audits.places import moved
from dpverify.errors import AuditError

Array = np.ndarray[Any, Any]
FloatArray = np.ndarray[Any, np.dtype[np.float64]]
Counts = np.ndarray[Any, np.dtype[np.int64]]
Cdf = Callable[[FloatArray], FloatArray]
Sorter = Callable[[FloatArray], Array]  # noise (n, width) to cells, picklable
Bet = tuple[float, FloatArray, str]

QUADRATURE_ERROR: Final = 1e-7  # of the probabilities of selections
CDF_ERROR: Final = 4e-10  # four times the accuracy that dpverify.audits.declared states: a cell has two ends
DEEPEST_TAIL: Final = 30
NEAREST: Final = 20  # cells narrow down to 2^-NEAREST of the probability on either side of the true answer
LIMIT: Final = 1 << 17  # outputs that are remembered for repeats
MAX_DECIMALS: Final = 12
_END: Final = 1e-15  # finer than any distribution function here: the cells beyond are outside the support, or as good as
_NEVER: Final = -1e9  # log(q/p) where a rival has no mass: one such output ends the rival, and 0 of them cost nothing
_CONCENTRATIONS: Final = (16.0, 256.0, 4096.0)
_GROUPS: Final = 16
_SINGLED: Final = 64  # up to so many cells without order are bet on one by one
_SIGNS: Final = 4  # so many coordinates' signs are looked at together
_MARGIN: Final = 64.0  # how far a coordinate's density may exceed 1 / (median radius) before rounding is underrated

# How a view's capital is spread; weights are normalised in the end.
_SCALES: Final = {0.5: 0.02, 0.8: 0.04, 0.9: 0.16, 0.95: 0.04, 1.05: 0.04, 1.1: 0.16, 1.25: 0.04, 2.0: 0.02}
_SHIFT_WEIGHT: Final = 0.08
_TILT_WEIGHT: Final = 0.14
_TAIL_WEIGHT: Final = 0.16
_OUTSIDE_WEIGHT: Final = 0.02
_LEAK_WEIGHT: Final = 0.03
_LEAKS: Final = (1e-4, 1e-3, 1e-2, 0.1)  # the fraction of outputs whose noise is too small
_SINGLE_WEIGHT: Final = 0.4
_INPUT_WEIGHT: Final = 0.1
_COUNTS: Final = 8  # that keys have, of which what is told is looked at
_OPEN_WEIGHT: Final = 0.1  # the Dirichlet mixtures
_MAIN_SHARE: Final = 0.8  # of the views' capital, for the noise or its norm, where there are directions to look at too
_FACTORS: Final = {0.0: "seldom", 0.5: "seldom", 0.8: "seldom", 0.9: "seldom", 1.1: "often", 1.25: "often", 2.0: "often"}


@dataclass(frozen=True, slots=True)
class View:
    """Cells of known probability, and the bets on them.

    name: what is sorted into cells, in words.
    log_odds: (bets, cells), log(q/p) with p rounded up.
    log_weights: one for each bet, then one for each Dirichlet mixture; their exponentials sum to 1.
    meanings: one for each entry of log_weights.
    upper: (cells,) the declared probabilities, rounded up.
    impossible: (cells,) the cells that the declared support leaves out.
    groups: where the Dirichlet mixtures' groups of neighbouring cells start.
    """

    name: str
    log_odds: FloatArray
    log_weights: FloatArray
    meanings: tuple[str, ...]
    upper: FloatArray
    impossible: Array
    groups: Counts

    @property
    def size(self) -> int:
        """The number of cells."""
        return len(self.upper)

    def log_wealth(self, counts: Counts) -> tuple[float, str]:
        """The logarithm (nats) of the mixture's wealth, and the leading bet in words."""
        if counts[self.impossible].any():
            return math.inf, f"{self.name}: outside the declared support"
        wealth = np.concatenate([self.log_odds @ counts, self._dirichlet(counts)]) + self.log_weights
        return float(np.logaddexp.reduce(wealth)), f"{self.name}: {self.meanings[int(np.argmax(wealth))]}"

    def _dirichlet(self, counts: Counts) -> FloatArray:
        grouped, upper = np.add.reduceat(counts, self.groups), np.add.reduceat(self.upper, self.groups)
        seen = upper > 0
        grouped, upper = grouped[seen], upper[seen]
        prior = np.outer(_CONCENTRATIONS, upper / upper.sum())
        total, mass = grouped.sum(), np.array(_CONCENTRATIONS)
        marginal = (gammaln(prior + grouped) - gammaln(prior)).sum(axis=1) + gammaln(mass) - gammaln(mass + total)
        return np.asarray(marginal - grouped @ np.log(upper), dtype=float)


def make_view(name: str, upper: FloatArray, bets: list[Bet], ordered: bool = True) -> View:
    """A view from probabilities rounded up (0: outside the support) and bets (weight, any non-negative row, meaning).

    ordered: neighbouring cells are alike, so that the Dirichlet mixtures may join them.
    """
    opened = [_OPEN_WEIGHT / len(_CONCENTRATIONS)] * len(_CONCENTRATIONS)
    weights = np.array([*(weight for weight, _, _ in bets), *opened])
    rivals = np.where(upper > 0, np.reshape([row for _, row, _ in bets], (len(bets), len(upper))), 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_odds = np.where(rivals > 0, np.log(rivals / rivals.sum(axis=1, keepdims=True)) - np.log(upper), _NEVER)
    starts = np.arange(len(upper))
    if ordered:
        levels = np.arange(1, _GROUPS) / _GROUPS
        starts = np.unique([0, *np.searchsorted(np.cumsum(upper) / upper.sum(), levels).tolist()])
    meanings = (*(meaning for _, _, meaning in bets), *["other frequencies than declared"] * len(opened))
    return View(name, log_odds, np.log(weights / weights.sum()), meanings, upper, upper <= 0, starts)


def _with_impossible(view: View) -> View:
    """One more cell, of probability 0: what the declared law cannot give."""
    return replace(
        view,
        log_odds=np.pad(view.log_odds, ((0, 0), (0, 1)), constant_values=_NEVER),
        upper=np.append(view.upper, 0.0),
        impossible=np.append(view.impossible, True),
    )


# -- real numbers with a distribution function ---------------------------------------------------------------------------


def quantile_edges(cdf: Cdf, integers: bool = False, centre: float | None = None) -> FloatArray:
    """About 110 cell ends: at every 1/64 of the probability, at 2^-j from both ends, j to DEEPEST_TAIL, and where the declared law ends.
    With a centre about 30 more: at 2^-j of the probability on either side of it, j to NEAREST.

    Where the ends lie is a matter of power alone: probabilities are read off the distribution function at the ends that were found.
    integers: the ends are half-integers, so that no rounding moves an atom from cell to cell.
    """
    deep = 2.0 ** -np.arange(DEEPEST_TAIL, 6, -1)
    levels = np.concatenate([[_END], deep, np.arange(1, 64) / 64, 1 - deep[::-1], [1 - _END]])
    if centre is not None:
        near = cdf(np.array([centre])) + np.outer([-1.0, 1.0], 2.0 ** -np.arange(7, NEAREST + 1))
        levels = np.concatenate([levels, near[(near > _END) & (near < 1 - _END)]])
    reach = 2.0 ** np.arange(-320, 320, 8)
    points = np.concatenate([-reach[::-1], [0.0], reach])
    with np.errstate(over="ignore"):
        bracket = np.clip(np.searchsorted(np.maximum.accumulate(cdf(points)), levels), 1, len(points) - 1)
    low, high = points[bracket - 1], points[bracket]
    for _ in range(60):
        middle = (low + high) / 2
        above = cdf(middle) >= levels
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.unique(np.floor(high) + 0.5 if integers else high)


def real_view(name: str, cdf: Cdf, edges: FloatArray, spacing: FloatArray | float = 0.0, scaled: bool = True) -> View:
    """Numbers with distribution function `cdf`, sorted by np.searchsorted(edges, ..., side="right").

    spacing: how far rounding may have moved a number near each edge.
    scaled: 0 is a centre, so numbers may come out too large or too small by a factor; else only shapes are bet on.
    """
    at = _rows(cdf, edges)
    mass = np.diff(at)
    outer = np.concatenate([[0.0], cdf(edges - spacing), [1.0]]), np.concatenate([[0.0], cdf(edges + spacing), [1.0]])
    upper = np.maximum(outer[1][1:] - outer[0][:-1], mass)
    upper = np.where(upper > 0, upper + CDF_ERROR, 0)
    middle = (at[1:] + at[:-1]) / 2
    bets = [*_tilted(mass, middle), *_tailed(mass, at), *_outside(mass)]
    if scaled:
        bets += _scaled(cdf, edges)
        bets += _shifted(cdf, edges)
        bets += _leaking(cdf, edges, mass)
    return make_view(name, upper, bets)


def _rows(cdf: Cdf, edges: FloatArray) -> FloatArray:
    return np.concatenate([[0.0], np.maximum.accumulate(cdf(edges)), [1.0]])


def _scaled(cdf: Cdf, edges: FloatArray) -> Iterator[Bet]:
    for factor, weight in _SCALES.items():
        yield weight, np.diff(_rows(cdf, edges / factor)), f"about {factor:g} times the declared scale"


def _shifted(cdf: Cdf, edges: FloatArray) -> Iterator[Bet]:
    spread = np.subtract(*np.interp([0.75, 0.25], cdf(edges), edges))
    shifts = [sign * size for size in (0.03, 0.1, 0.3) for sign in (1, -1)]
    for shift in shifts:
        moved = np.diff(_rows(cdf, edges - shift * spread))
        yield _SHIFT_WEIGHT / len(shifts), moved, f"off its declared centre by about {shift * spread:.3g}"


def _leaking(cdf: Cdf, edges: FloatArray, mass: FloatArray) -> Iterator[Bet]:
    """Now and then the noise is 2^-k times its size: a slip that hardly moves the scale, but gives the true answer away."""
    powers = range(2, NEAREST + 1, 2)
    for power in powers:
        tiny = np.diff(_rows(cdf, edges * 2.0**power))
        for part in _LEAKS:
            meaning = f"too often near the true answer (about {part:g} of the outputs have 2^-{power} times the declared noise)"
            yield _LEAK_WEIGHT / (len(powers) * len(_LEAKS)), (1 - part) * mass + part * tiny, meaning


def _tilted(mass: FloatArray, middle: FloatArray) -> Iterator[Bet]:
    sizes = [sign * size for size in (0.05, 0.1, 0.2, 0.4, 0.8) for sign in (1, -1)]
    for degree in range(1, 9):
        polynomial = math.sqrt(2 * degree + 1) * eval_legendre(degree, 2 * middle - 1)
        for size in sizes:
            yield _TILT_WEIGHT / (8 * len(sizes)), mass * np.exp(size * polynomial), f"another shape (Legendre term {degree})"


def _tailed(mass: FloatArray, at: FloatArray) -> Iterator[Bet]:
    sides = {"lower": at[1:], "upper": 1 - at[:-1], "lower and upper": np.minimum(at[1:], 1 - at[:-1])}
    factors = {0.0: "missing", 4.0: "too heavy", 64.0: "too heavy"}
    each = _TAIL_WEIGHT / (len(sides) * len(factors) * (DEEPEST_TAIL - 1))
    for side, depth in sides.items():
        for power in range(2, DEEPEST_TAIL + 1):
            tail = depth <= 2.0**-power * (1 + 1e-6)
            inside = mass[tail].sum()
            if not 0 < inside < 1:
                continue
            for factor, word in factors.items():
                new = min(factor * inside, 0.5)
                yield each, np.where(tail, mass / inside * new, mass / (1 - inside) * (1 - new)), f"{side} tail 2^-{power} {word}"


def _outside(mass: FloatArray) -> Iterator[Bet]:
    for end, side in ((0, "below"), (-1, "above")):
        for size in (0.001, 0.1):
            row = mass * (1 - size)
            row[end] += size
            yield _OUTSIDE_WEIGHT / 4, row, f"{side} all that the declared law can give"


# -- cells without order ---------------------------------------------------------------------------------------------------


def finite_view(name: str, probabilities: FloatArray, others: list[Bet], rounding: float = 0.0) -> View:
    """Cells numbered from 0, without order. others: whole rows to bet on, beside single cells that are too full or too empty."""
    size = len(probabilities)
    bets = list(others)
    if size <= _SINGLED:
        each = _SINGLE_WEIGHT / (size * len(_FACTORS))
        for cell in range(size):
            for factor, word in _FACTORS.items():
                row = probabilities * np.where(np.arange(size) == cell, factor, 1.0)
                if row.sum() > 0:
                    bets.append((each, row, f"number {cell} too {word}"))
    return make_view(name, np.where(probabilities > 0, probabilities + rounding + CDF_ERROR, 0), bets, ordered=False)


def signs_view(name: str, count: int, rounding: float) -> View:
    """Which of `count` numbers are above their medians, as a binary code; all codes are equally likely. Bets on every subset's parity."""
    codes = np.arange(2**count)
    sizes = (-0.9, -0.5, -0.2, -0.1, 0.1, 0.2, 0.5, 0.9)
    bets: list[Bet] = []
    for subset in range(1, 2**count):
        parity = 1 - 2 * (np.bitwise_count(codes & subset).astype(float) % 2)
        words = "more often on one side than on the other" if subset.bit_count() == 1 else "coordinates depend on each other"
        bets += [(1 / (len(sizes) * (2**count - 1)), 1 + size * parity, words) for size in sizes]
    return make_view(name, np.full(len(codes), 1 / len(codes) + rounding + CDF_ERROR), bets, ordered=False)


# -- from noise to cells: n outputs minus their true answer, (n, width), to the numbers of their cells -----------------------


def _by_value(noise: FloatArray, edges: FloatArray) -> Array:
    """Coordinates are draws of one law, so all are counted in the same cells."""
    return np.searchsorted(edges, noise.ravel(), side="right")


def _by_integer(noise: FloatArray, edges: FloatArray) -> Array:
    return np.where(noise == np.rint(noise), np.searchsorted(edges, noise, side="right"), len(edges) + 1).ravel()


def _by_column(noise: FloatArray, columns: int) -> Array:
    column = noise.ravel()
    return np.where((column == np.rint(column)) & (column >= 0) & (column < columns), column, columns).astype(np.int64)


def _by_key(told: FloatArray, keys: Array, edges: FloatArray) -> Array:
    return told_as(told[:, keys], edges).ravel()


def _by_norm(noise: FloatArray, declared: Declared, edges: FloatArray) -> Array:
    return np.searchsorted(edges, _norm(declared, noise), side="right")


def _by_lp(noise: FloatArray, power: float, unit: float, edges: FloatArray) -> Array:
    return np.searchsorted(edges, unit * Gauge(power)(noise), side="right")


def _by_side(noise: FloatArray, first: int, count: int, middle: float) -> Array:
    return np.asarray((noise[:, first : first + count] > middle) @ (1 << np.arange(count)))


def _by_largest(noise: FloatArray) -> Array:
    return np.asarray(np.argmax(np.abs(noise), axis=1))


def _by_share(noise: FloatArray, power: float, edges: FloatArray) -> Array:
    whole = np.maximum(Gauge(power)(noise), np.finfo(float).tiny)
    return np.searchsorted(edges, np.abs(noise[:, 0]) / whole, side="right")


# -- the whole -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Conformance:
    """Views of the outputs on one input, each with a share of the capital.

    centre: (width,), subtracted from every output. transform: (width, width), applied to the rows that are left; None: none.
    sorters: each sorts noise into the cells of the view at its place. shares: sum to 1. draws: in how many cells an output is counted.
    cells: where the cells of the views end, as far as that depends on the input.
    origin: an exact point that all outputs are counted from, the centre too; None for 0. whole: the declared law lives on the integers.
    read: from outputs to the number that is sorted; None where they are numbers themselves.
    """

    centre: FloatArray
    sorters: tuple[Sorter, ...]
    views: tuple[View, ...]
    shares: tuple[float, ...] = (1.0,)
    draws: tuple[int, ...] = (1,)
    transform: FloatArray | None = None
    cells: tuple[bytes, ...] = ()
    origin: Array | None = None
    whole: bool = False
    read: Callable[[Outputs], Array] | None = None

    def pools_with(self, other: Conformance | Rounded) -> bool:
        """Whether the counts of both may be added up: they are of the same cells. Floats far from 0 allow coarser cells only."""
        if isinstance(other, Rounded):
            return False
        return self.cells == other.cells and [view.size for view in self.views] == [view.size for view in other.views]

    def statistics(self, outputs: Outputs) -> Counts:
        """The counts of all views, one after the other. They add up over batches of independent outputs.

        Raises AuditError for outputs that are not numbers of the declared shape.
        """
        if self.read is not None:
            outputs = Outputs(self.read(outputs).reshape(len(outputs), -1))
        width, outputs = len(self.centre), moved(outputs, self.origin, whole=self.whole)
        if outputs.shapes is not None or outputs.numbers.shape[1:] != (width,):
            raise AuditError(
                f"the declaration speaks of {width} number{'s' * (width > 1)} an output, the sampler gave {', '.join(outputs.names)} "
                f"of {outputs.numbers.shape[1]}: declare what it returns, or audit it without a declaration."
            )
        noise = outputs.numbers - self.centre
        if np.isnan(noise).any():
            raise AuditError("the sampler gave nan, which no density covers: let it raise, or return a number.")
        if self.transform is not None:
            noise = noise @ self.transform
        pairs = zip(self.sorters, self.views, strict=True)
        return np.concatenate([np.bincount(sorter(noise), minlength=view.size) for sorter, view in pairs])

    def log_wealth(self, total: Counts, n: int) -> tuple[float, str]:
        """The logarithm (nats) of the wealth after n outputs with summed statistics `total`, and the leading bet in words.

        Under "the outputs are independent draws from the declared law", the probability that it ever reaches log(1/alpha) is at most alpha.
        inf: an output that the declared law cannot give. Raises AuditError where `total` is not of n outputs.
        """
        parts = np.split(total, np.cumsum([view.size for view in self.views]))[:-1]
        if any(part.sum() != n * draws for part, draws in zip(parts, self.draws, strict=True)):
            raise AuditError(f"these statistics are not of {n} outputs: a checkpoint of another run, or a batch that was counted twice.")
        each = [view.log_wealth(part) for view, part in zip(self.views, parts, strict=True)]
        wealth = [wealth + math.log(share) for (wealth, _), share in zip(each, self.shares, strict=True)]
        return float(np.logaddexp.reduce(wealth)), each[int(np.argmax(wealth))][1]


def conformance(declared: Declared, x: Array, origin: Array | None = None) -> Conformance:
    """The views of a declared law, for outputs on the true answer x (row index, theta: what dpverify.audits.declared says for each kind).

    line, integers, kernel: the number itself. product: all coordinates in the same cells, sides of the median, the largest coordinate.
    radial: the norm; signs, and the largest coordinate and one coordinate's share as far as the norm is symmetric. finite: the column.
    origin: an exact point that x and the outputs are counted from; None for 0.
    The declared loss of a single number is a function of the number, so it has no view of its own.
    Raises AuditError for a kind that has no distribution function.
    """
    built = _conformance(declared, tuple(np.atleast_1d(np.asarray(x, dtype=float)).tolist()))
    return built if origin is None else replace(built, origin=origin)


@lru_cache(maxsize=64)  # of one law: a claim is audited again and again
def _conformance(declared: Declared, x: tuple[float, ...]) -> Conformance:
    if isinstance(declared, SelectionLaw):
        return _selection(declared, np.array(x))
    if isinstance(declared, KeysLaw):
        return _keys(declared, np.array(x))
    builders = {"line": _additive, "product": _additive, "integers": _integers, "radial": _radial, "kernel": _kernel, "finite": _finite}
    if declared.kind not in builders:
        raise AuditError(f"no conformance test for declarations of kind {declared.kind!r}: audit without a declaration.")
    built = builders[declared.kind](declared, np.array(x))
    ends = (sorter.keywords.get("edges") for sorter in built.sorters if isinstance(sorter, partial))
    return replace(built, cells=tuple(edges.tobytes() for edges in ends if edges is not None))


def _integers(declared: Declared, x: FloatArray) -> Conformance:
    steps = declared.noise_cdf()
    assert steps is not None

    def smooth(z: FloatArray) -> FloatArray:
        """Each atom spread evenly over the unit interval around it: the same at half-integers, and noise of another scale has a meaning."""
        atom = np.floor(z + 0.5)
        below = steps(atom - 1)
        return np.asarray(below + (z + 0.5 - atom) * (steps(atom) - below))

    edges = quantile_edges(steps, integers=True, centre=0.0)
    return Conformance(x, (partial(_by_integer, edges=edges),), (_with_impossible(real_view("noise", smooth, edges)),), whole=True)


def _kernel(declared: Declared, x: FloatArray) -> Conformance:
    law = declared.output_cdf(x)
    assert law is not None
    edges = quantile_edges(law)
    view = real_view("output", law, edges, np.spacing(np.abs(edges)), scaled=False)
    return Conformance(np.zeros(1), (partial(_by_value, edges=edges),), (view,))


def _finite(declared: Declared, x: FloatArray) -> Conformance:
    row = declared.probabilities(x)
    assert row is not None
    logs = np.log(np.where(row > 0, row / row.max(), 1.0))
    hot = ((weight, scale, np.where(row > 0, np.exp(logs / scale), 0.0)) for scale, weight in _SCALES.items())
    others: list[Bet] = [(weight, rival, f"about {scale:g} times the declared temperature") for weight, scale, rival in hot]
    inputs = {float(index[0]): declared.probabilities(index) for pair in declared.worst_pairs() for index in pair}
    for index, other in inputs.items():
        if index != x[0] and other is not None:
            others.append((_INPUT_WEIGHT / len(inputs), row + other, f"as if the input were sometimes {index:g}"))
    return Conformance(np.zeros(1), (partial(_by_column, columns=len(row)),), (_with_impossible(finite_view("column", row, others)),))


def _selection(declared: SelectionLaw, x: FloatArray) -> Conformance:
    """What is told, as a column of a table; rivals are noise of another scale, and the law on the other input."""
    row = declared.row(x)
    rivals: list[Bet] = [(weight, declared.row(x, scale), f"about {scale:g} times the declared scale") for scale, weight in _SCALES.items()]
    for pair in declared.worst_pairs():
        for other in (other for other in pair if not np.array_equal(other, x)):
            rivals.append((_INPUT_WEIGHT / 2, row + declared.row(other), "as if the input were sometimes its neighbour"))
    view = _with_impossible(finite_view("what is told", row, rivals, QUADRATURE_ERROR))
    sorter = partial(_by_column, columns=len(row))
    return Conformance(np.zeros(1), (sorter,), (view,), read=declared.reader.columns)


def _keys(declared: KeysLaw, x: FloatArray) -> Conformance:
    """What is told of each key, as a column; those with the same count together."""
    counts = [float(count) for count in np.unique(x)]
    counts = counts[:: -(-len(counts) // _COUNTS)]
    sorters, views = list[Sorter](), list[View]()
    for count in counts:
        edges = declared.edges(count)
        row = declared.columns(count, edges)
        scaled = ((weight, scale, declared.columns(count, edges, scale)) for scale, weight in _SCALES.items())
        rivals: list[Bet] = [(weight, other, f"about {scale:g} times the declared scale") for weight, scale, other in scaled]
        near = [at for at in (count - declared.reach, count + declared.reach) if at > 0]
        rivals += [(_INPUT_WEIGHT / 2, row + declared.columns(at, edges), "as if the count were sometimes its neighbour's") for at in near]
        views.append(_with_impossible(finite_view(f"what is told of a count of {count:g}", row, rivals, QUADRATURE_ERROR)))
        sorters.append(partial(_by_key, keys=np.flatnonzero(x == count), edges=edges))
    draws = tuple(int((x == count).sum()) for count in counts)
    shares = (1 / len(counts),) * len(counts)
    return Conformance(np.zeros(len(x)), tuple(sorters), tuple(views), shares, draws, read=declared.reader(len(x)).columns)


def _additive(declared: Declared, x: FloatArray, step: float = 0.0) -> Conformance:
    """step: by how much outputs may have been rounded on purpose."""
    law, d = declared.noise_cdf(), len(x)
    assert law is not None
    coarse, spacing = quantile_edges(law), np.spacing(np.abs(x).max())
    fine = quantile_edges(law, centre=0.0)
    edges = np.union1d(coarse, fine[np.abs(fine) >= 8 * spacing])  # narrower cells would be nothing but rounding
    edges = _apart(edges, step)
    main = real_view("noise", law, edges, step + np.spacing(np.abs(x).max() + np.abs(edges)))
    if d == 1:
        return Conformance(x, (partial(_by_value, edges=edges),), (main,))
    low, high = np.interp([0.25, 0.75], law(edges), edges)
    rounding = float(_MARGIN * (step + np.spacing(np.abs(x).max())) / (high - low))
    return _joined(x, partial(_by_value, edges=edges), main, d, _directions(d, _median(law), rounding))


def _apart(edges: FloatArray, step: float) -> FloatArray:
    """Some of the edges, so far apart that a rounding by `step` matters little to the cells between them."""
    if not step:
        return edges
    kept = [edges[0]]
    for edge in edges[1:].tolist():
        if edge - kept[-1] >= 16 * step:
            kept.append(edge)
    return np.array(kept)


def _radial(declared: Declared, x: FloatArray, step: float = 0.0) -> Conformance:
    """step: by how much each coordinate of the outputs may have been rounded on purpose."""
    law, d = declared.radius_cdf(), len(x)
    assert law is not None
    signs = np.array([[1.0] * d, [(-1.0) ** i for i in range(d)]])
    off = float(max(_norm(declared, signs * step).max(), d * _norm(declared, np.eye(d) * step).max())) if step else 0.0
    edges = _apart(quantile_edges(law), off)
    moved = off + float(_norm(declared, np.spacing(np.abs(x))[None, :])[0])
    main = real_view("norm of the noise", law, edges, moved + 4 * d * np.spacing(np.abs(edges)))
    rounding = _MARGIN * d * moved / _median(law)
    shape = _shape(partial(_norm, declared), d)
    if not shape.exchangeable:
        directions = [_sides(i, 1, 0.0, rounding) for i in range(d)]
    else:
        directions = _directions(d, 0.0, rounding)
    if shape.power is None:
        return _joined(x, partial(_by_norm, declared=declared, edges=edges), main, 1, directions)
    if shape.power < math.inf:
        directions.append(_share(d, shape.power, rounding))
    sorter = partial(_by_lp, power=shape.power, unit=shape.unit, edges=edges)
    return replace(_joined(x, sorter, main, 1, directions), transform=shape.transform)


def _joined(x: FloatArray, sorter: Sorter, main: View, draws: int, directions: list[tuple[Sorter, View]]) -> Conformance:
    sorters, views = zip(*directions, strict=True)
    shares = (_MAIN_SHARE, *[(1 - _MAIN_SHARE) / len(views)] * len(views))
    return Conformance(x, (sorter, *sorters), (main, *views), shares, (draws, *[1] * len(views)))


def _directions(d: int, middle: float, rounding: float) -> list[tuple[Sorter, View]]:
    """Sides in groups that overlap by one coordinate, and the largest coordinate."""
    groups = [(first, min(_SIGNS, d - first)) for first in range(0, d - 1, _SIGNS - 1)]
    largest = finite_view("largest coordinate", np.full(d, 1 / d), [], rounding)
    return [*(_sides(*group, middle, rounding) for group in groups), (_by_largest, largest)]


def _sides(first: int, count: int, middle: float, rounding: float) -> tuple[Sorter, View]:
    name = f"sides of coordinates {first} to {first + count - 1}" if count > 1 else f"side of coordinate {first}"
    return partial(_by_side, first=first, count=count, middle=middle), signs_view(name, count, rounding)


def _share(d: int, power: float, rounding: float) -> tuple[Sorter, View]:
    """|z_0| / ||z||_p, to the power p, is Beta(1/p, (d - 1)/p): directions are normalised p-Gaussians (Schechtman and Zinn 1990)."""

    def law(share: FloatArray) -> FloatArray:
        return np.asarray(betainc(1 / power, (d - 1) / power, np.clip(share, 0, 1) ** power))

    edges = quantile_edges(law)
    view = real_view("share of coordinate 0 in the norm", law, edges, rounding + 8 * np.spacing(edges), scaled=False)
    return partial(_by_share, power=power, edges=edges), view


def _norm(declared: Declared, points: FloatArray) -> FloatArray:
    sizes = declared.norm(points)
    assert sizes is not None
    return np.asarray(sizes, dtype=float)


def _median(law: Cdf) -> float:
    edges = quantile_edges(law)
    return float(edges[np.searchsorted(law(edges), 0.5)])


@dataclass(frozen=True, slots=True)
class _Shape:
    """After `transform` the norm is unit times lp (`power`), or is not (None), but may yet be blind to signs and order (`exchangeable`)."""

    power: float | None
    unit: float
    exchangeable: bool
    transform: FloatArray | None = None


def _shape(norm: Callable[[FloatArray], FloatArray], d: int) -> _Shape:
    """Read off the norm at 2048 points: one that is symmetric at all of them and yet not everywhere differs on a sliver of directions."""
    points = np.random.default_rng(0).standard_normal((2048, d))
    sizes, axes = norm(points), norm(np.eye(d))
    unit = float(axes[0])
    double = float(norm(np.eye(d)[:1] + np.eye(d)[1:2])[0])  # unit * 2^(1/p)
    power = math.log(2) / math.log(double / unit) if double > unit * (1 + 1e-9) else math.inf
    near = round(power) if power < math.inf else power
    power = float(near) if math.isclose(power, near, rel_tol=1e-9) else power
    if power > 0 and np.allclose(unit * Gauge(power)(points), sizes, rtol=1e-9, atol=0):
        return _Shape(power, unit, True)
    sums = norm((np.eye(d)[:, None] + np.eye(d)[None, :]).reshape(d * d, d)).reshape(d, d) ** 2
    gram = (sums - axes[:, None] ** 2 - axes[None, :] ** 2) / 2  # of an ellipsoid: ||z||^2 = z' G z = |L' z|^2
    if np.allclose(np.einsum("ni,ij,nj->n", points, gram, points), sizes**2, rtol=1e-9, atol=0):
        return _Shape(2.0, 1.0, True, np.asarray(np.linalg.cholesky(gram), dtype=float))
    return _Shape(None, unit, bool(np.allclose(norm(np.sort(np.abs(points), axis=1)), sizes, rtol=1e-9, atol=0)))


# -- rounded outputs -------------------------------------------------------------------------------------------------------

COARSEST: Final = 0.5  # of the noise's interquartile range: beyond, a grid is another law
FINEST: Final = 2.0**-16  # of it: finer grids are the business of floats
DISTINCT: Final = 8  # values, at least, that a grid is read from


@dataclass(frozen=True, slots=True)
class Rounded:
    """Conformance of outputs on a grid: is the sampler the declared density, rounded by one of the usual rules?

    rules: their names, each with a Conformance whose cells have the probabilities of that rule; the cells are the same for all. The wealth
    is the least of all, so its mean is at most 1 under each of them, and a sampler is at odds with the declaration if it is with every one.
    """

    rules: tuple[tuple[str, Conformance], ...]

    @property
    def centre(self) -> FloatArray:
        """Of the outputs."""
        return self.rules[0][1].centre

    def pools_with(self, other: Conformance | Rounded) -> bool:
        """Never: what a rule does to a cell depends on the true answer."""
        return False

    def statistics(self, outputs: Outputs) -> Counts:
        """The counts of all cells."""
        return self.rules[0][1].statistics(outputs)

    def log_wealth(self, total: Counts, n: int) -> tuple[float, str]:
        """The logarithm (nats) of the least wealth, and its leading bet in words."""
        return min(conformance.log_wealth(total, n) for _, conformance in self.rules)


def width_of(declared: Declared, x: FloatArray) -> float:
    """About the interquartile range of the noise in one coordinate; of outputs, where there is no noise. 0 for laws without a density."""
    if declared.kind == "radial":
        law = declared.radius_cdf()
        return 0.0 if law is None else _median(law) / float(_norm(declared, np.eye(len(x))[:1])[0])
    law = declared.output_cdf(x) if declared.kind == "kernel" else declared.noise_cdf() if declared.kind in ("line", "product") else None
    if law is None:
        return 0.0
    edges = quantile_edges(law)
    return float(np.subtract(*np.interp([0.75, 0.25], law(edges), edges)))


def rounded(declared: Declared, x: Array, step: Fraction) -> Conformance | Rounded:
    """The views of a declared law that was rounded to multiples of `step`, for outputs on the true answer x.

    Numbers, and vectors whose answers are on the grid: exactly, by each rule. Else a rounding of unknown rule is allowed for.
    """
    x, size = np.atleast_1d(np.asarray(x, dtype=float)), float(step)
    if declared.kind == "radial":
        return _radial(declared, x, size)
    on_grid = bool((np.rint(x / size) * size == x).all()) if len(x) > 1 else True
    if not on_grid:
        return _additive(declared, x, size)
    law = declared.output_cdf(x) if declared.kind == "kernel" else declared.noise_cdf()
    assert law is not None
    start = float(x[0]) if declared.kind == "line" else 0.0  # of vectors, noise is on the grid too
    cells = np.unique(np.floor((quantile_edges(law, centre=None if declared.kind == "kernel" else 0.0) + start) / size))
    ends = {
        "to the nearest": cells + 0.5,
        "down": cells + 1,
        "up": cells,
        "towards 0": np.where(cells >= 0, cells + 1, cells),
    }
    sorter = partial(_by_value, edges=(cells + 0.5) * size)
    made = []
    for rule, end in ends.items():
        spacing = 2 * np.spacing(np.abs(x).max() + np.abs(end * size))
        view = real_view(f"noise, rounded {rule}", law, end * size - start, spacing, scaled=declared.kind != "kernel")
        made.append((rule, Conformance(x if len(x) > 1 else np.zeros(1), (sorter,), (view,), draws=(len(x),))))
    return Rounded(tuple(made))


def grid_of(outputs: Outputs) -> Fraction | None:
    """The coarsest grid through 0 that all numbers of some outputs lie on, up to their last bits; None where there is none.

    Candidates are the powers of ten, of two, and the least distance of two outputs: of many outputs on a grid, two are neighbours.
    """
    values = np.unique(outputs.numbers.astype(np.float64))
    if outputs.shapes is not None or len(values) < DISTINCT or not np.isfinite(values).all():
        return None
    largest = float(np.abs(values).max())
    candidates = [Fraction(1, 10**decimals) for decimals in range(MAX_DECIMALS)]
    least = float(np.diff(values).min())
    candidates += [Fraction(_binary_step(values)), Fraction(largest / max(round(largest / least), 1))]
    steps = []
    for unit in candidates:
        step = float(unit)
        if step > 2**10 * np.spacing(largest):  # else all floats are on it
            whole = np.rint(values / step)
            if (np.abs(whole * step - values) <= 4 * np.spacing(np.abs(values))).all():
                steps.append(unit * int(np.gcd.reduce(whole.astype(np.int64))))
    if not steps:
        return None
    coarsest = max(steps)
    plain = [unit for unit in (*steps, coarsest.limit_denominator(10**6)) if math.isclose(unit, coarsest, rel_tol=1e-12)]
    return min(plain, key=lambda unit: unit.denominator)


@dataclass(frozen=True, slots=True)
class OnGrid:
    """Cell 1 for outputs of which the first number is a multiple of the step, cell 0 for others."""

    step: Fraction

    @property
    def size(self) -> int:
        """Two."""
        return 2

    def codes(self, outputs: Outputs) -> Array:
        """The cell of each output."""
        if not outputs.numbers.shape[1]:
            return np.zeros(len(outputs), np.uint8)
        first, step = outputs.numbers[:, 0].astype(np.float64), float(self.step)
        return (np.abs(np.rint(first / step) * step - first) <= 1e-6 * step).astype(np.uint8)

    def describe(self, low: int, high: int) -> str:
        """The event in words."""
        return f"output {'is' if low else 'is no'} multiple of {float(self.step):.10g}, so the grid of the rounding moves with the data"


# -- repeated values -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ties:
    """Do outputs of a continuous law repeat? The distinct values of one coordinate that were seen, at most `LIMIT` outputs of it.

    An output repeats an earlier one with probability at most (outputs so far) * rho, where rho bounds the probability of a single
    float. So with R repeats among n, exp(t R - (e^t - 1) rho n (n - 1) / 2) has mean at most 1 for each t >= 0 at any stopping time,
    and a fixed mixture over t is an e-process. Noise that was rounded to a grid on purpose repeats more: where all outputs lie on a
    grid, of a power of two or of ten, rho is that of the grid, if no coarser than `coarsest`. (A larger rho only alarms later.)

    density: an upper bound on the density. single: rho of 64-bit outputs that were rounded to nearest, or made from 50 random bits.
    """

    density: float
    single: float
    coarsest: float
    values: FloatArray
    seen: int = 0
    binary: float = math.inf
    decimals: int = 0
    origin: Array | None = None

    def merge(self, outputs: Outputs) -> Ties:
        """With more outputs of the same input."""
        fresh = moved(outputs, self.origin).numbers[: max(LIMIT - self.seen, 0), 0].astype(float)
        if not len(fresh):
            return self
        values = np.union1d(self.values, fresh)
        binary, decimals = min(self.binary, _binary_step(fresh)), _decimals(values, self.decimals)
        return replace(self, values=values, seen=self.seen + len(fresh), binary=binary, decimals=decimals)

    @property
    def step(self) -> float:
        """The coarsest grid of a power of two or of ten that all outputs lie on."""
        return max(self.binary, 10.0**-self.decimals if self.decimals <= MAX_DECIMALS else 0.0)

    def log_wealth(self) -> tuple[float, str]:
        """The logarithm (nats) of the wealth, and what was seen in words."""
        repeats = self.seen - len(self.values)
        expected = max(self.single, self.density * min(self.step, self.coarsest)) * self.seen * (self.seen - 1) / 2
        growth = np.arange(1, 51) * math.log(2)
        wealth = np.logaddexp.reduce(growth * repeats - np.expm1(growth) * expected) - math.log(len(growth))
        grid = f", and all are multiples of {self.step:.3g}" if self.step >= self.coarsest else ""
        return float(wealth), f"{repeats} of {self.seen} outputs repeat an earlier one, where at most {expected:.2g} would{grid}"


def ties(declared: Declared, x: Array, origin: Array | None = None) -> Ties | None:
    """The test for repeated values of outputs on x; None for laws on integers and finite sets, whose outputs do repeat."""
    x = np.atleast_1d(np.asarray(x, dtype=float))
    match declared.kind:
        case "line" | "product":
            law, centre = declared.noise_cdf(), float(x[0])
        case "kernel":
            law, centre = declared.output_cdf(x), 0.0
        case "radial":
            law, centre = declared.radius_cdf(), float(x[0])
        case _:
            return None
    assert law is not None
    if declared.kind == "radial":
        width = _median(law) / float(_norm(declared, np.eye(len(x))[:1])[0])
        density, far = _MARGIN / width, width
    else:
        edges = quantile_edges(law)
        density = 4 * float(np.max(np.diff(law(edges)) / np.diff(edges)))  # 4: within a cell that is between 1/64-quantiles it varies less
        width = float(np.subtract(*np.interp([0.75, 0.25], law(edges), edges)))
        far = float(np.max(np.abs(np.interp([0.01, 0.99], law(edges), edges))))
    single = max(density * float(np.spacing(abs(centre) + far)), 2.0**-50)
    return Ties(density, single, width * 2.0**-16, np.empty(0), origin=origin)


def _binary_step(values: FloatArray) -> float:
    """The largest power of two that divides all values; inf where all are 0."""
    mantissa, exponent = np.frexp(values[values != 0])
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    return float(np.min(np.ldexp((whole & -whole).astype(float), exponent - 53), initial=math.inf))


def _decimals(values: FloatArray, start: int) -> int:
    """The fewest decimals, `start` or more, that write all values; MAX_DECIMALS + 1 where so many do not."""
    fits = (k for k in range(start, MAX_DECIMALS + 1) if all((np.round(part, k) == part).all() for part in (values[:64], values)))
    return next(fits, MAX_DECIMALS + 1)
