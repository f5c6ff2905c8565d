"""Noisy counts by key: whether each key is told, an atom, and its noisy count, a density; and the neighbours that matter most.

A record is the first of some of its keys, which are never told without it, and shares the others, which are told with noise. The loss of
an output is a sum over keys. Its law over shared keys is that of seeded draws; the probability that no new one is told is exact.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from dpverify.audits.declared.base import Array, Cdf, Declared, Function, difference
from dpverify.audits.declared.cells import SCALES, Scores, cells_of, choose, levels, to_refute
from dpverify.audits.declared.laws import Steps
from dpverify.audits.declared.one_number import IntegerLaw, LineLaw
from dpverify.audits.declared.selections import _WIDTHS, Pair, _Noise, _score
from dpverify.audits.outputs import Outputs, kinds
from dpverify.audits.partition import CurvePoint
from dpverify.errors import AuditError
from dpverify.search.numeric import number
from dpverify.trusted.kernel.expr import ONE
from dpverify.trusted.kernel.model import Claim, NoisyKeys

_DRAWS: Final = 1 << 14
_MOST_KEYS: Final = 256
"""Keys of the neighbours that are found, at most: a record with fewer keys is a record too."""
UNTOLD: Final = -np.inf
_WRONG: Final = float(np.finfo(float).min)
"""What is told of a key that is neither told nor left out: a number below every threshold."""
_SHARES: Final = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98)
"""Of the noise, below the edges between bins."""
_ROUNDING: Final = 1e-6
"""Of the threshold: a number that is no further below it was rounded to a float of 32 bits."""
_NEAR: Final = 0.02
"""A count that tells so little less than another is as good, if it is nearer to the threshold."""
_LEAF: Final = re.compile(r"(number|bool|None)(?: x (\d+))?")
_LIST: Final = re.compile(rf"\[(?:{_LEAF.pattern}(?:, )?)*\]|{_LEAF.pattern}")


# -- what is told ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Keys:
    """What outputs say of each of so many keys. counts: whether numbers are told, which are at least the threshold."""

    keys: int
    counts: bool
    threshold: float

    def columns(self, outputs: Outputs) -> Array:
        """(n, keys): the number that is told of a key, 0 where none is; -inf where it is not told. Raises AuditError for another form."""
        outputs = outputs.measured()
        names = outputs.names
        if self.keys == 1 and any(not kinds(name) for name in names):
            return self._alone(outputs)
        leaves = [_leaves(name) for name in names]
        if {len(each) for each in leaves} == {self.keys}:
            if any("None" in each for each in leaves):
                return self._beside(outputs, leaves)
            if not self.counts:
                return _marked(outputs.numbers)
            if self.threshold > 0:
                return np.where((outputs.numbers == -1) | (outputs.numbers == 0), UNTOLD, outputs.numbers)
        if self.counts and {len(each) for each in leaves} == {2 * self.keys} and len(names) == 1:
            return np.where(_marked(outputs.numbers[:, ::2]) == 0, outputs.numbers[:, 1::2], _marked(outputs.numbers[:, ::2]))
        one = ("its noisy count", "None (or -1, if the threshold is above 0)") if self.counts else ("1", "0")
        raise AuditError(
            f"the sampler gives {', '.join(names[:4])}; the declaration wants for each of {self.keys} keys, in the order of their counts, "
            f"{one[0]} where it is told, and {one[1]} where it is not. Return that."
        )

    def _alone(self, outputs: Outputs) -> Array:
        """What is told of one key, by itself or with its name; nothing where it is not."""
        found = np.full(len(outputs), UNTOLD)
        for shape, name in enumerate(outputs.names):
            rows, leaves = np.flatnonzero(_shapes(outputs) == shape), kinds(name)
            number = outputs.numbers[rows, leaves.index("number")] if "number" in leaves else np.full(len(rows), _WRONG)
            found[rows] = UNTOLD if not leaves else number if self.counts else 0.0
        return found[:, None]

    def _beside(self, outputs: Outputs, leaves: Sequence[Sequence[str]]) -> Array:
        """What is told, with None for what is not."""
        found = np.full((len(outputs), self.keys), UNTOLD)
        for shape, each in enumerate(leaves):
            rows, places = np.flatnonzero(_shapes(outputs) == shape), [place for place, leaf in enumerate(each) if leaf != "None"]
            numbers = outputs.numbers[rows, : len(places)]
            found[rows[:, None], places] = numbers if self.counts else _marked(numbers)
        return found

    def numbers_in(self, outputs: Outputs) -> Array:
        """The numbers that are told."""
        found = self.columns(outputs)
        return np.asarray(found[found > _WRONG])


def _shapes(outputs: Outputs) -> Array:
    return np.zeros(len(outputs), dtype=np.int64) if outputs.shapes is None else outputs.shapes


def _marked(numbers: Array) -> Array:
    """Of 1 and 0, or -1, whether a key is told."""
    return np.select([numbers == 1, (numbers == 0) | (numbers == -1)], [0.0, UNTOLD], _WRONG)


def _leaves(name: str) -> list[str]:
    """The leaves of an output that is a number or a list of them; none of another."""
    if not _LIST.fullmatch(name):
        return []
    return [kind for kind, count in _LEAF.findall(name) for _ in range(int(count or 1))]


def told_as(told: Array, edges: Array) -> Array:
    """The column of what is told of a key: 0 where it is not, else the place between edges, the first the threshold; the last is wrong."""
    wrong = told < edges[0] - _ROUNDING * np.abs(edges[0])
    return np.where(told == UNTOLD, 0, np.where(wrong, len(edges) + 1, np.maximum(np.searchsorted(edges, told, side="right"), 1)))


# -- the law -----------------------------------------------------------------------------------------------------------


class KeysLaw(Declared):
    """Noisy keys, on lists of counts: of all keys that either of two neighbours has."""

    kind, draws = "selection", _DRAWS

    def __init__(self, claim: Claim, noise: LineLaw | IntegerLaw) -> None:
        assert isinstance(claim.mechanism, NoisyKeys)
        self.claim, self.noise, self.counts = claim, noise, claim.mechanism.report == "counts"
        self.whole, self.threshold = isinstance(noise, IntegerLaw), number(claim.mechanism.threshold)
        self.log_density = noise.log_density if isinstance(noise, IntegerLaw) else noise.noise.log_density
        self.reach, self.dimension = number(claim.sensitivity or ONE), min(_MOST_KEYS, int(number(claim.mechanism.keys)))
        self.most = int(number(claim.mechanism.keys))

    def reader(self, keys: int) -> Keys:
        """How outputs on so many keys are read."""
        return Keys(keys, self.counts, self.threshold)

    @property
    def unit(self) -> float:
        """How wide the noise is."""
        return _Noise(self.noise.noise).unit

    def _below(self, points: Array, scale: float) -> Array:
        """The probability that noise is less than each number."""
        return np.asarray(np.clip(_cdf(self.noise, scale)(np.ceil(points) - 1 if self.whole else points), 0, 1))

    def untold(self, count: float, scale: float = 1.0) -> float:
        """The probability that a key with a count is not told."""
        return 1.0 if count == 0 else float(self._below(np.array([self.threshold - count]), scale)[0])

    def edges(self, count: float) -> Array:
        """The threshold, and numbers above it between which what is told of a key with a count is much the same."""
        if not self.counts:
            return np.full(1, _WRONG / 2)
        above = count + self._quantiles(np.array(_SHARES))
        above = np.floor(above) + 0.5 if self.whole else above
        return np.unique([self.threshold, *above[above > self.threshold]])

    def columns(self, count: float, edges: Array, scale: float = 1.0) -> Array:
        """The probabilities of the columns of what is told of a key with a count, `told_as` these edges."""
        if count == 0:
            return np.append(1.0, np.zeros(len(edges)))
        at = self._below(edges - count, scale) if self.counts else [self.untold(count, scale)]
        return np.asarray(np.maximum(np.diff([0.0, *at, 1.0]), 0.0))

    # -- the loss

    def _loss(self, x: Array, x_prime: Array) -> Loss:
        one, other = (np.array([self.untold(count) for count in side]) for side in (x, x_prime))
        return Loss(self.log_density if self.counts else None, (x, x_prime), (one, other))

    def _side(self, x: Array, x_prime: Array, at: Array, scale: float) -> tuple[Array, Array]:
        """Losses of outputs on one of the two, and their weights."""
        loss, moved = self._loss(x, x_prime), np.flatnonzero(x != x_prime)
        old = moved[np.minimum(x, x_prime)[moved] > 0]
        none = float(np.prod([self.untold(at[i], scale) for i in np.setdiff1d(moved, old)]))
        told = np.full((_DRAWS if len(old) else 1, len(at)), UNTOLD)
        if len(old):
            noisy = at[old] + self._noises(len(old), scale)
            told[:, old] = np.where(noisy >= self.threshold, noisy if self.counts else 0.0, UNTOLD)
        losses = loss(told)
        sure = np.inf if (x > x_prime).any() else -np.inf
        return np.append(losses, sure), np.append(np.full(len(losses), none / len(losses)), 1 - none)

    def _noises(self, keys: int, scale: float) -> Array:
        """Draws of the noise of each key; of one key its quantiles."""
        shares = (np.arange(_DRAWS)[:, None] + 0.5) / _DRAWS if keys == 1 else np.random.default_rng(0).random((_DRAWS, keys))
        drawn = self._quantiles(shares) * scale
        return np.rint(drawn) if self.whole else drawn

    def _quantiles(self, shares: Array) -> Array:
        law = self.noise.noise
        if isinstance(law, Steps):
            return law.first + np.searchsorted(law.cumulative, shares).astype(float)
        points = law.grid()
        return np.interp(shares, law(points), points)

    def partition(self, x: Array, x_prime: Array) -> Scores:
        """Cells of the loss, of which one is for what cannot be told without the record."""
        return _partition(self, tuple(map(float, x)), tuple(map(float, x_prime)))

    def _partition(self, x: Array, x_prime: Array) -> Scores:
        sides = [[self._side(x, x_prime, at, scale) for scale in SCALES] for at in (x, x_prime)]
        losses, weights = (np.concatenate(each) for each in zip(sides[0][-1], sides[1][-1], strict=True))
        thresholds = levels(losses[weights > 0], weights[weights > 0])
        tables = [np.array([[weights[losses >= t].sum() for t in thresholds] for losses, weights in side]) for side in sides]
        kept = {*choose(tables[0], tables[1], to_refute(self.claim, losses), 2 / _DRAWS)}
        sure = thresholds > losses[np.isfinite(losses)].max(), thresholds <= losses[np.isfinite(losses)].min()
        kept |= {int(np.flatnonzero(each)[-1]) for each in sure if each.any()}
        words = f"counts {_text(x)} and {_text(x_prime)}"
        read = self.reader(len(x)).columns
        return Scores(self._loss(x, x_prime), tuple(thresholds[sorted(kept)].tolist()), len(x), words, read)

    def law(self, x: Array, x_prime: Array, scale: float = 1.0) -> tuple[Array, Array]:
        """Sums of the weights of losses by cell."""
        cells = self.partition(x, x_prime)
        sides = (self._side(x, x_prime, at, scale) for at in (x, x_prime))
        p, q = (np.bincount(cells_of(losses, cells.thresholds), weights, minlength=cells.size) for losses, weights in sides)
        return p, q

    # -- neighbours

    def worst_pairs(self) -> list[Pair]:
        """The record is the first of all its keys, or of none, or, with several, of some: each where it tells the most in many runs."""
        keys, step = self.dimension, self.reach
        if self.whole:
            step = np.floor(step * (1 + 1e-12))
        if step <= 0:
            return []
        least = np.ceil(self.threshold) if self.whole else self.threshold
        far = [least + 3 * (self.unit + step)] if self.counts else []
        starts = [*(least - step - down * np.ceil(self.unit) for down in (0.0, 1.0, 3.0)), *far]
        starts = [start for start in starts if start > 0] or [step]
        shown = [self._shown(np.full(1, start), np.full(1, start + step)) for start in starts]
        base = starts[int(np.argmax(np.array(shown) >= max(shown) - _NEAR))]
        some = [max(range(1, keys), key=lambda new: self._shown(*self._mixed(base, step, new)))] if 1 < keys <= 16 else []
        return [self._mixed(base, step, new) for new in (0, keys, *some)]

    def _mixed(self, base: float, step: float, new: int) -> Pair:
        start = np.where(np.arange(self.dimension) < new, 0.0, base)
        return start, start + step

    def _shown(self, x: Array, x_prime: Array) -> float:
        """What the best event is expected to show in many runs, of noise as declared and of half of it."""
        found = 0.0
        for scale in _WIDTHS:
            p, q = (np.cumsum(side)[:-1] for side in self.law(x, x_prime, scale))
            found += max(_score(*each) for each in (*zip(1 - p, 1 - q, strict=True), *zip(q, p, strict=True)))
        return found

    def neighbours(self, x: Array, x_prime: Array) -> bool:
        """Whether one has a record more, which adds to no more keys than it may have, and to none more than it may."""
        if x.ndim != 1 or x.shape != x_prime.shape or min(x.min(initial=0), x_prime.min(initial=0)) < 0:
            return False
        change = x_prime - x
        one_way = (change >= 0).all() or (change <= 0).all()
        return bool(one_way and np.count_nonzero(change) <= self.most and np.abs(change).max(initial=0) <= self.reach * (1 + 1e-9))

    def curve(self) -> tuple[CurvePoint, ...] | None:
        """Not known in floats: what is proved is."""
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Loss:
    """The logarithm of how much likelier what is told is on one list of counts than on another, a sum over the keys that differ.

    log_density: of the noise, up to a constant; None where no numbers are told. untold: the probability that each key is not, on both.
    """

    log_density: Function | None
    counts: tuple[Array, Array]
    untold: tuple[Array, Array]

    def __call__(self, told: Array) -> Array:
        """(n, keys) to n."""
        moved = np.flatnonzero(self.counts[0] != self.counts[1])
        one, other = (self._log(told[:, moved], side[moved], row[moved]) for side, row in zip(self.counts, self.untold, strict=True))
        return difference(one, other)

    def _log(self, told: Array, counts: Array, untold: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            seen = np.log1p(-untold) if self.log_density is None else self.log_density(np.where(told == UNTOLD, 0.0, told) - counts)
            return np.asarray(np.where(told == UNTOLD, np.log(untold), np.where(counts == 0, -np.inf, seen)).sum(axis=1))


@lru_cache(maxsize=64)
def _cdf(noise: LineLaw | IntegerLaw, scale: float) -> Cdf:
    return noise.cdf(0.0, scale)


@lru_cache(maxsize=64)
def _partition(law: KeysLaw, x: tuple[float, ...], x_prime: tuple[float, ...]) -> Scores:
    return law._partition(np.array(x), np.array(x_prime))


def _text(counts: Array) -> str:
    shown = [f"{count:.6g}" for count in counts[:8]]
    return f"({', '.join([*shown, '...'] if len(counts) > 8 else shown)})"
