"""Comparisons of noisy answers that tell numbers too: the greatest one, its lead, or of a positive its gap, its value or a fresh number.

Numbers are sorted into bins between fixed edges, so that what is told is one of finitely many columns: of noisy max the bin, or the index
and the bin of its lead; of above threshold the pattern and the bins of the numbers of its first positives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from dpverify.audits.declared.base import Array
from dpverify.audits.declared.selections import (
    MANY,
    Indices,
    LawOf,
    Pair,
    Patterns,
    SelectionLaw,
    _around,
    _between,
    _indices,
    _mixed,
    _moved,
    _Noise,
    _of_largest,
    _of_threshold,
    _Rough,
    patterns,
)
from dpverify.audits.outputs import Outputs, kinds
from dpverify.errors import AuditError
from dpverify.search.numeric import number
from dpverify.trusted.kernel.model import AboveThreshold, Claim, NoisyMax, noises_of, on_integers

_SHARES: Final = (0.002, 0.02, 0.1, 0.3, 0.6, 0.9, 0.99)
"""Of what is told, below the edges between bins."""
_MOST_CANDIDATES: Final = 64
_TRIED: Final = 6
"""Pairs, of those where the comparisons tell the most, that are looked at with their numbers."""


NoiseOf = Callable[[Any], _Noise]
"""A noise in floats."""


# -- what is told, as a column -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Bins:
    """Outputs that are one number. edges: between the bins; a number on an edge is in the one on its right."""

    edges: Array

    @property
    def count(self) -> int:
        """How many columns there are."""
        return len(self.edges) + 1

    def columns(self, outputs: Outputs) -> Array:
        """The bin of each output. Raises AuditError for what is no number."""
        if outputs.names not in (("number",), ("[number]",)):
            raise AuditError(f"the sampler gives {', '.join(outputs.names[:4])}; the declaration tells one number. Return that.")
        return np.searchsorted(self.edges, outputs.numbers[:, 0], side="right")

    def numbers_in(self, outputs: Outputs) -> Array:
        """The numbers that are told."""
        return outputs.numbers[:, 0]

    def word(self, column: int) -> str:
        """A column in words."""
        ends = ["", *(f"{edge:.4g}" for edge in self.edges), ""]
        low, high = ends[column], ends[column + 1]
        return f"below {high}" if not low else f"from {low} on" if not high else f"{low} to {high}"


@dataclass(frozen=True, eq=False)
class Leads:
    """Outputs that are the index of one of the candidates and its lead."""

    indices: Indices
    bins: Bins

    @property
    def count(self) -> int:
        """How many columns there are."""
        return self.indices.count * self.bins.count

    def columns(self, outputs: Outputs) -> Array:
        """The column of each output; `count` for what is none. Raises AuditError for what is no pair of numbers."""
        if len(outputs.names) != 1 or kinds(outputs.names[0]) != ("number", "number"):
            given = ", ".join(outputs.names[:4])
            raise AuditError(
                f"the sampler gives {given}; the declaration tells the index of the greatest, from 0, and its lead. Return both."
            )
        index = self.indices.columns(Outputs(outputs.numbers[:, :1]))
        lead = outputs.numbers[:, 1]
        found = index * self.bins.count + np.searchsorted(self.bins.edges, lead, side="right")
        return np.where((index < self.indices.count) & (lead >= 0), found, self.count)

    def numbers_in(self, outputs: Outputs) -> Array:
        """The leads that are told."""
        return outputs.numbers[:, 1]

    def word(self, column: int) -> str:
        """A column in words."""
        index, part = divmod(column, self.bins.count)
        return f"{index} with a lead {self.bins.word(part)}"


@dataclass(frozen=True, eq=False)
class Told:
    """Outputs that have for each query 1, 0 or -1 and a number: that of a positive, else 0.

    looked_at: the numbers of the first so many positives are; signed: whether they may be below 0.
    """

    patterns: Patterns
    bins: Bins
    looked_at: int
    signed: bool

    @property
    def queries(self) -> int:
        """How many there are."""
        return self.patterns.queries

    @cached_property
    def starts(self) -> Array:
        """The first column of each pattern, then their number."""
        sizes = [self.bins.count ** self.numbers(pattern) for pattern in self.patterns.patterns]
        return np.concatenate([[0], np.cumsum(sizes)])

    @property
    def count(self) -> int:
        """How many columns there are."""
        return int(self.starts[-1])

    def numbers(self, pattern: str) -> int:
        """Of how many positives of a pattern the numbers are looked at."""
        return min(pattern.count("Y"), self.looked_at)

    def columns(self, outputs: Outputs) -> Array:
        """The column of each output; `count` for what is none. Raises AuditError for what is of another form."""
        if len(outputs.names) != 1 or kinds(outputs.names[0]) != ("number",) * (2 * self.queries):
            raise AuditError(
                f"the sampler gives {', '.join(outputs.names[:4])}; the declaration wants for each query 1 for yes, 0 for no, or -1 once "
                "it has stopped, and after it the number that is told, or 0. Return that."
            )
        said, told = outputs.numbers[:, ::2], outputs.numbers[:, 1::2]
        names = (f"[number x {self.queries}]",) if self.queries > 1 else ("[number]",)
        pattern = self.patterns.columns(Outputs(np.ascontiguousarray(said), None, names))
        wrong = ((said != 1) & (told != 0)).any(axis=1) | (pattern == self.patterns.count)
        if not self.signed:
            wrong |= (told < 0).any(axis=1)
        found, part = np.zeros(len(pattern), dtype=np.int64), np.searchsorted(self.bins.edges, told, side="right")
        before = np.cumsum(said == 1, axis=1)
        for step in range(self.patterns.told):
            here = (said[:, step] == 1) & (before[:, step] <= self.looked_at)
            found = np.where(here, found * self.bins.count + part[:, step], found)
        return np.where(wrong, self.count, found + self.starts[pattern])

    def numbers_in(self, outputs: Outputs) -> Array:
        """The numbers of positives."""
        numbers: Array = outputs.numbers[:, 1::2][outputs.numbers[:, ::2] == 1]
        return numbers

    def word(self, column: int) -> str:
        """A column in words."""
        pattern = int(np.searchsorted(self.starts, column, side="right")) - 1
        rest, parts = column - int(self.starts[pattern]), list[str]()
        for _ in range(self.numbers(self.patterns.patterns[pattern])):
            rest, part = divmod(rest, self.bins.count)
            parts.append(self.bins.word(part))
        return " with ".join([self.patterns.word(pattern), *reversed(parts)])


# -- the laws -----------------------------------------------------------------------------------------------------------


class NumberedLaw(SelectionLaw):
    """A selection that tells numbers. pair: the neighbours that matter most, by which the bins are chosen."""

    reader: Bins | Leads | Told

    def __init__(self, claim: Claim, law_of: LawOf, reader: Bins | Leads | Told, width: int, pair: Pair) -> None:
        super().__init__(claim, law_of, reader, width)
        self.pair = pair

    def _columns(self, x: Array, scale: float) -> Array:
        return _row(self.mechanism, self.reader, x, lambda noise: self._noise(noise, scale))

    @property
    def whole(self) -> bool:
        """Whether all numbers are integers."""
        return on_integers(self.mechanism)

    @property
    def unit(self) -> float:
        """How wide the narrowest noise is."""
        return min(self._noise(noise, 1.0).unit for noise in noises_of(self.mechanism))

    def worst_pairs(self) -> list[Pair]:
        """The neighbours on which what is told, its numbers in bins, tells the most in many runs."""
        return [self.pair]


def _row(mechanism: NoisyMax | AboveThreshold, reader: Any, x: Array, noise_of: NoiseOf) -> Array:
    """The probabilities of the columns on the answers x."""
    if isinstance(mechanism, NoisyMax):
        noise = noise_of(mechanism.noise)
        if isinstance(reader, Bins):
            at_edges = np.prod([noise.below(reader.edges - answer) for answer in x], axis=0)
            return np.diff(np.concatenate([[0.0], at_edges, [1.0]]))
        beyond = [_indices(mechanism, x, lambda *_: noise, 1.0), *(_ahead(noise, x, float(edge)) for edge in reader.bins.edges)]
        return -np.diff(np.stack([*beyond, np.zeros(len(x))], axis=1), axis=1).ravel()
    return _threshold_row(mechanism, reader, x, noise_of)


def _ahead(noise: _Noise, x: Array, lead: float) -> Array:
    """The probability that each candidate is ahead of all others by a lead, which is above 0 and no difference that can occur exactly."""
    found = np.zeros(len(x))
    for answer in np.unique(x):
        t, weights = noise.nodes(float(answer), _around(noise, x + lead))
        with np.errstate(divide="ignore"):
            less = np.log(np.stack([noise.below(t - lead - other) for other in x]))
        for i in np.flatnonzero(x == answer):
            found[i] = np.exp(np.delete(less, i, axis=0).sum(axis=0)) @ weights
    return found


def _threshold_row(mechanism: AboveThreshold, reader: Told, x: Array, noise_of: NoiseOf) -> Array:
    """By the integral over the noise of the threshold, as where no numbers are told, with what a positive says besides."""
    first, query = noise_of(mechanism.threshold_noise), noise_of(mechanism.query_noise)
    fresh = noise_of(mechanism.fresh) if mechanism.report == "fresh" else None
    ends = np.concatenate([[-np.inf], reader.bins.edges, [np.inf]])
    read, again = reader.patterns, mechanism.resample
    asked = x[: read.told]
    others = _around(query, asked)
    if mechanism.report == "answers+gap":
        others += [place - edge for edge in reader.bins.edges for place in _around(query, asked)]
    elif mechanism.report == "answers+value":
        others.append(reader.bins.edges)
    t, weights = first.nodes(number(mechanism.threshold), others)
    no = [query.below(t - answer) for answer in asked]
    yes: dict[float, Array] = {}
    for answer, below in zip(asked.tolist(), no, strict=True):
        if answer not in yes:
            yes[answer] = _numbers(mechanism, query, fresh, answer, t, below, ends)
    found = np.zeros(reader.count)
    stack: list[tuple[int, int, int, int, Array, float]] = [(0, 0, 0, 0, weights, 1.0)]
    while stack:
        node, step, positives, place, mass, factor = stack.pop()
        column = read.column[node]
        if column < read.count:
            found[reader.starts[column] + place] += factor * mass.sum()
            continue
        stack.append((read.next[node, 0], step + 1, positives, place, mass * no[step], factor))
        told = yes[float(asked[step])] if positives < reader.looked_at else (1 - no[step])[None]
        for part, chance in enumerate(told):
            kept = place * reader.bins.count + part if positives < reader.looked_at else place
            said = mass * chance
            following = (weights, factor * float(said.sum())) if again else (said, factor)
            stack.append((read.next[node, 1], step + 1, positives + 1, kept, *following))
    return found


def _numbers(
    mechanism: AboveThreshold, query: _Noise, fresh: _Noise | None, answer: float, t: Array, no: Array, ends: Array
) -> Array:  # fmt: skip
    """For each bin the probability, given the noisy threshold, of a positive with its number there."""
    if fresh is not None:
        chances = np.diff([0.0, *fresh.below(ends[1:-1] - answer), 1.0])
        return np.asarray(chances[:, None] * (1 - no))
    if mechanism.report == "answers+gap":  # the first bin is from 0 on
        below = [no, *(query.below(t + edge - answer) for edge in ends[1:-1]), np.ones_like(t)]
    else:
        below = [no, *(np.maximum(query.below(np.full_like(t, edge - answer)), no) for edge in ends[1:-1]), np.ones_like(t)]
    return np.diff(np.stack(below), axis=0)


# -- the bins, and the pair ---------------------------------------------------------------------------------------------


def numbered(claim: Claim, law_of: LawOf) -> NumberedLaw | None:
    """The law of a selection that tells numbers; None for another, for too many candidates, and for noise without a law."""
    mechanism = claim.mechanism
    assert isinstance(mechanism, NoisyMax | AboveThreshold)
    if not all(law_of(noise) is not None for noise in noises_of(mechanism)):
        return None
    if isinstance(mechanism, NoisyMax):
        width = int(number(mechanism.candidates))
        if width > _MOST_CANDIDATES or (mechanism.report == "index+gap" and width == 1):
            return None
    else:
        width = int(number(mechanism.queries))
        if mechanism.query_noise is None or not _mixed(mechanism, law_of):
            return None
    best: tuple[float, Any, Pair] | None = None
    as_declared, half = _rough(law_of, 1.0), _rough(law_of, 0.5)  # an audit is to find half of the noise
    for pair in _candidates(claim, law_of, as_declared):
        reader = _reader(mechanism, pair, as_declared)
        shown = sum(_shown(*(_row(mechanism, reader, side, noise_of) for side in pair)) for noise_of in (as_declared, half))
        if best is None or shown > best[0]:
            best = shown, reader, pair
    return None if best is None else NumberedLaw(claim, law_of, best[1], width, best[2])


def _rough(law_of: LawOf, scale: float) -> NoiseOf:
    """The noises to a few digits, each with its table."""
    kept: dict[Any, _Noise] = {}

    def noise_of(noise: Any) -> _Noise:
        if noise not in kept:
            kept[noise] = _Rough(law_of(noise), scale)
        return kept[noise]

    return noise_of


def _candidates(claim: Claim, law_of: LawOf, noise_of: NoiseOf) -> Iterator[Pair]:
    """Pairs where the comparisons tell the most, and those where all answers move up."""
    mechanism = claim.mechanism
    scored = _of_largest(claim, mechanism, law_of) if isinstance(mechanism, NoisyMax) else _of_threshold(claim, law_of)
    for _, x, y in sorted(scored, key=lambda each: -each[0])[:_TRIED]:
        yield x, y
    if not isinstance(mechanism, AboveThreshold):
        return
    width, threshold = int(number(mechanism.queries)), number(mechanism.threshold)
    step, noise = _moved(claim), noise_of(mechanism.query_noise)
    moves = np.full(width, step) if mechanism.neighbours != "one" else step * (np.arange(width) == 0)
    for far in (0.0, 1.0, -1.0, 3.0, -3.0):
        start = _between(claim, np.full(width, threshold + far * (noise.unit + step)))
        if np.array_equal(_between(claim, start + moves), start + moves):
            yield start, start + moves
            yield start + moves, start


def _shown(p: Array, q: Array) -> float:
    """What the best event is expected to show in many runs, in either order."""
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-np.nan_to_num(np.log(np.maximum(p, 1e-300)) - np.log(np.maximum(q, 1e-300))))
        some, other = np.cumsum(p[order]), np.cumsum(q[order])
        each = [
            np.log(a / np.maximum(b, 1 / MANY)) - 2 * np.sqrt((1 / a + 1 / np.maximum(b, 1 / MANY)) / MANY)
            for a, b in ((some, other), (1 - other, 1 - some))
        ]
    return float(np.nan_to_num(np.concatenate(each), nan=-np.inf, posinf=-np.inf).max())


def _reader(mechanism: NoisyMax | AboveThreshold, pair: Pair, noise_of: NoiseOf) -> Bins | Leads | Told:
    if isinstance(mechanism, NoisyMax):
        noise = noise_of(mechanism.noise)
        if mechanism.report == "value":
            return _bins(mechanism, lambda v: np.prod([noise.below(v - answer) for answer in pair[0]], axis=0), noise, pair[0])
        return Leads(Indices(len(pair[0])), Bins(_leads(mechanism, noise)))
    queries = len(pair[0])
    positives = queries if mechanism.positives is None else min(queries, int(number(mechanism.positives)))
    several = positives > 1
    read = patterns(queries, positives, 40 if several else 128)
    noise = noise_of(mechanism.query_noise if mechanism.fresh is None else mechanism.fresh)
    if mechanism.report == "answers+gap":
        return Told(read, Bins(_leads(mechanism, noise)), 1 + several, False)
    late = pair[0][-1]
    bins = _bins(mechanism, lambda v: noise.below(v - late), noise, pair[0][-1:])
    return Told(read, bins if not several else Bins(bins.edges[1::2]), 1 + several, True)


def _bins(mechanism: NoisyMax | AboveThreshold, below: Any, noise: _Noise, about: Array) -> Bins:
    """Bins of a number of a distribution function, by the shares of its law."""
    spread = noise.unit * np.linspace(-24, 24, 2001)
    points = np.unique(np.concatenate([answer + spread for answer in np.unique(about)]))
    edges = np.interp(_SHARES, below(points), points)
    return Bins(_distinct(mechanism, edges))


def _leads(mechanism: NoisyMax | AboveThreshold, noise: _Noise) -> Array:
    """Edges of leads and gaps, above 0."""
    return _distinct(mechanism, noise.unit * np.array([0.3, 1.0, 2.0, 4.0]))


def _distinct(mechanism: NoisyMax | AboveThreshold, edges: Sequence[float] | Array) -> Array:
    """Edges that no number is on: on the integers halfway between two of them."""
    found = np.asarray(edges, dtype=float)
    return np.unique(np.floor(found) + 0.5 if on_integers(mechanism) else found)
