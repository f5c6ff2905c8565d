"""Streams: the probabilities of the words that they tell, by quadrature over one noise, and the neighbours that matter most.

The words are the output, or a function of it where numbers are told beside them. They are looked at as far as there is room for them, and
as far as one noise is integrated over at a time: of two noisy thresholds the first step alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

import numpy as np

from dpverify.audits.declared.base import Array
from dpverify.audits.declared.selections import (
    LawOf,
    Pair,
    SelectionLaw,
    _between,
    _is_list,
    _moved,
    _Noise,
    _score,
    may_be_neighbours,
    require_both_orders,
    usual,
)
from dpverify.audits.outputs import Outputs, encode, kinds
from dpverify.errors import AuditError
from dpverify.search.numeric import number
from dpverify.search.selection.rough_laws import Rough
from dpverify.search.selection.words_of_streams import groups, pivots
from dpverify.search.verify import verify
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.model import Claim, Stream, noises_of
from dpverify.trusted.theories.selection.compared import asked
from dpverify.trusted.theories.selection.rules import told_words
from dpverify.trusted.theories.selection.word_chances import Noise, Row, Rows, ways

LONGEST: Final = 12
"""Steps of inputs of a stream that has no end."""
_MOST_COLUMNS: Final = 256
_MOST_WAYS: Final = 1024
_KINKS: Final = 16
"""Of so many comparisons the places are looked for where what is integrated is not smooth."""
_NOTHING: Final = -1


# -- what is told, as a column -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Words:
    """Outputs that have for each step the number of its word, and numbers that are not looked at; or the words as texts.

    told: the words of so many steps are looked at. beside: how many numbers stand beside each. prefixes: what may have been told.
    """

    words: tuple[str, ...]
    told: int
    beside: int
    prefixes: tuple[tuple[str, ...], ...]

    @property
    def count(self) -> int:
        """How many columns there are."""
        return len(self.prefixes)

    def columns(self, outputs: Outputs) -> Array:
        """The column of each output; `count` for what is none. Raises AuditError for what is of another form."""
        codes = self._codes(outputs)
        node, places = np.zeros(len(codes), dtype=np.int64), {prefix: place for place, prefix in enumerate(self.prefixes)}
        following = np.full((self.count + 1, len(self.words) + 2), self.count)
        following[: self.count, -1] = np.arange(self.count)
        for prefix, place in places.items():
            for code, word in enumerate(self.words):
                following[place, code] = places.get((*prefix, word), self.count)
        ended = np.zeros(len(codes), dtype=bool)
        for step in range(min(self.told, codes.shape[1])):
            here = codes[:, step]
            node = np.where(ended & (here != _NOTHING), self.count, following[node, here])
            ended |= here == _NOTHING
        return node

    def _codes(self, outputs: Outputs) -> Array:
        """(n, steps): the number of a word, -1 for nothing more, -2 for what is none of them."""
        names = outputs.names
        if len(names) == 1 and _is_list(names[0]) and set(kinds(names[0])) == {"number"} and len(kinds(names[0])) % (1 + self.beside) == 0:
            found = outputs.numbers[:, :: 1 + self.beside]
            return np.where((found == np.rint(found)) & (found >= _NOTHING) & (found < len(self.words)), found, -2).astype(np.int64)
        if not self.beside and all(_is_list(name) and set(kinds(name)) <= {"str"} and "None" not in name for name in names):
            each = np.array([len(kinds(name)) for name in names])
            lengths = np.broadcast_to(each[0 if outputs.shapes is None else outputs.shapes], len(outputs))
            texts: Array = np.full(outputs.numbers.shape, -2, dtype=np.int64)
            for code, word in enumerate(self.words):
                texts[outputs.numbers == encode([word], 1).numbers[0, 0]] = code
            texts[np.arange(outputs.numbers.shape[1]) >= lengths[:, None]] = _NOTHING
            return texts
        codes = ", ".join(f"{code} for {word or 'numbers alone'}" for code, word in enumerate(self.words))
        beside = "" if not self.beside else f", and after it {self.beside} number{'s' * (self.beside > 1)}, 0 where less is told"
        raise AuditError(
            f"the sampler gives {', '.join(names[:4])}; the declaration wants for each step {codes}, or -1 once it has "
            f"stopped{beside}. Return that."
        )

    def word(self, column: int) -> str:
        """A column in words."""
        prefix = self.prefixes[column]
        return f"({', '.join(word or 'numbers' for word in prefix)}{', ...' if len(prefix) == self.told else ''})"


# -- the law -------------------------------------------------------------------------------------------------------------


class StreamLaw(SelectionLaw):
    """The words of a stream."""

    reader: Words

    def __init__(self, claim: Claim, law_of: LawOf, reader: Words, width: int, open_ones: frozenset[tuple[str, ...]]) -> None:
        assert isinstance(claim.mechanism, Stream)
        self.claim, self.law_of, self.reader, self.dimension = claim, law_of, reader, width
        self.stream, self.open_ones = claim.mechanism, open_ones
        self.rough = {drawn.name: Rough(drawn.noise) for drawn in (*self.stream.once, *self.stream.fresh)}
        self.noises = {drawn.name: law_of(drawn.noise) for drawn in (*self.stream.once, *self.stream.fresh)}
        self._rows = {}
        self._told: dict[tuple[float, ...], list[tuple[int, Rows]]] = {}

    def _told_on(self, x: Array) -> list[tuple[int, Rows]]:
        """The columns that may be told on the answers, each with the ways in which it is."""
        key = tuple(float(answer) for answer in x)
        if key not in self._told:
            width = len(self.stream.answers)
            answers = [[Fraction(answer) for answer in key[i : i + width]] for i in range(0, len(key), width)]
            steps, question = min(len(answers), self.reader.told), _question(self.claim)
            self._told[key] = [
                (column, rows)
                for column, prefix in enumerate(self.reader.prefixes)
                if len(prefix) == steps or (len(prefix) < steps and prefix not in self.open_ones)
                for rows in ways(question, self.stream, prefix, answers)
            ]
        return self._told[key]

    def _columns(self, x: Array, scale: float) -> Array:
        noises = {name: _Noise(law, 1.0 if _Noise(law).whole else scale) for name, law in self.noises.items()}
        found, told = np.zeros(self.reader.count), self._told_on(x)
        together = [(column, [(group, next(iter(pivots(group, self.rough)), None)) for group in groups(rows)]) for column, rows in told]
        lines: dict[str, dict[tuple[str, Fraction, Fraction], None]] = {}
        for _, parts in together:
            for group, pivot in parts:
                if pivot is not None:
                    lines.setdefault(pivot[0], {}).update(dict.fromkeys(_line(row, pivot) for row in group))
        sums = {name: _Sum(noises, name, list(of_it)) for name, of_it in lines.items()}
        alone = _Sum(noises, None, [])
        for column, parts in together:
            found[column] += math.prod((alone if pivot is None else sums[pivot[0]]).of(group, pivot) for group, pivot in parts)
        return found

    def worst_pairs(self) -> list[Pair]:
        """Of the neighbours that a proof names those on which the words tell the most; all, where numbers are told too."""
        pairs = [pair for pair in pairs_of(self.claim, self.stream) if self.neighbours(*pair)]
        if self.reader.beside:
            return pairs
        return sorted(pairs, key=lambda pair: -sum(self._shown(pair, scale) for scale in (1.0, 0.5)))[:1]

    def _shown(self, pair: Pair, scale: float) -> float:
        p, q = (self.row(side, scale) for side in pair)
        order = np.argsort(-np.log(np.maximum(p, 1e-300) / np.maximum(q, 1e-300)))
        sums = np.cumsum(p[order]), np.cumsum(q[order])
        return max(_score(*each) for each in zip(*sums, strict=True))

    def neighbours(self, x: Array, x_prime: Array) -> bool:
        """Whether the answers of all steps move together as declared; of a stream without an end, of any number of steps."""
        return x.shape == x_prime.shape and may_be_neighbours(self.claim, np.asarray(x, float), np.asarray(x_prime, float))


def _line(row: Row, pivot: Noise | None) -> tuple[str, Fraction, Fraction]:
    """Which noise is below or above a line in the pivot; of the pivot alone, with no name. Slope and height of the line."""
    own = next((key for key in row.of if key != pivot), None)
    by = Fraction(-1) if own is None else -row.of[own]
    slope = Fraction(0) if pivot is None else row.of.get(pivot, Fraction(0))
    return "" if own is None else own[0], slope / by, row.rest / by


class _Sum:
    """The integral over one noise of products over the others, of which each is between lines in it; without one, the product alone."""

    def __init__(self, noises: Mapping[str, _Noise], pivot: str | None, lines: Sequence[tuple[str, Fraction, Fraction]]) -> None:
        self.noises = noises
        self.points, self.weights = np.zeros(1), np.ones(1)
        self.edges: dict[tuple[str, Fraction, Fraction, bool], Array] = {}
        if pivot is not None:
            self.points, self.weights = noises[pivot].nodes(0.0, [] if noises[pivot].whole else list(self._kinks(lines)))

    def _kinks(self, lines: Sequence[tuple[str, Fraction, Fraction]]) -> Iterator[Array]:
        """Where a comparison of the noise alone turns, where lines cross, and where they meet a place at which a law is not smooth."""
        sloped = [(name, float(slope), float(height)) for name, slope, height in lines if slope]
        yield np.array([-height / slope for name, slope, height in sloped if not name])
        for one, other in pairwise(sloped[:_KINKS]):
            if one[0] == other[0] and one[1] != other[1]:
                yield np.array([(other[2] - one[2]) / (one[1] - other[1])])
        for name, slope, height in [line for line in sloped if line[0]][:_KINKS]:
            if not self.noises[name].whole:
                yield (self.noises[name].marks() - height) / slope

    def of(self, rows: Sequence[Row], pivot: Noise | None) -> float:
        """The probability that the rows hold."""
        weight, ends = self.weights, dict[Noise, list[Array]]()
        for row in rows:
            own = next((key for key in row.of if key != pivot), None)
            if own is None:
                assert pivot is not None
                form = float(row.of[pivot]) * self.points + float(row.rest)
                weight = weight * ((form > 0) if row.strict else (form >= 0))
                continue
            upward = row.of[own] > 0
            low_high = ends.setdefault(own, [np.zeros(1), np.ones(1)])
            edge = self._edge(*_line(row, pivot), row.strict == upward)
            low_high[not upward] = np.maximum(low_high[0], edge) if upward else np.minimum(low_high[1], edge)
        for low, high in ends.values():
            weight = weight * np.maximum(high - low, 0.0)
        return float(np.sum(weight))

    def _edge(self, name: str, slope: Fraction, height: Fraction, with_it: bool) -> Array:
        """The probability that a noise is below a line, or on it."""
        key = name, slope, height, with_it
        if key not in self.edges:
            noise, line = self.noises[name], float(slope) * self.points + float(height)
            self.edges[key] = np.asarray(noise.up_to(line) if with_it else noise.below(line))
        return self.edges[key]


def stream_law(claim: Claim, law_of: LawOf) -> StreamLaw | None:
    """The law of the words; None where no words are told, and where what it would take is not known here."""
    stream = claim.mechanism
    assert isinstance(stream, Stream)
    spoken = tuple(dict.fromkeys(branch.emit for branch in stream.steps))
    if len(spoken) < 2 or any(law_of(noise) is None for noise in noises_of(stream)):
        return None
    if not all(branch.emit or branch.tell for branch in stream.steps):
        return None
    try:
        prefixes, open_ones = _prefixes(claim, stream, spoken)
    except DpverifyError:
        return None  # constants that are no rational numbers, or counters of which it is not certain whether they have reached their limit
    if not open_ones:
        return None
    queries = _length(stream) if stream.queries is None else int(number(stream.queries))
    reader = Words(spoken, max(map(len, prefixes)), max(len(branch.tell) for branch in stream.steps), tuple(prefixes))
    return StreamLaw(claim, law_of, reader, queries * len(stream.answers), frozenset(open_ones))


def _question(claim: Claim) -> Any:
    return asked(Claim(claim.mechanism, None, sensitivity=claim.sensitivity), {"side": "lower"}, told_words.NAME, near=True, wanted=Stream)


def _prefixes(claim: Claim, stream: Stream, spoken: Sequence[str]) -> tuple[list[tuple[str, ...]], set[tuple[str, ...]]]:
    """What may have been told, of as many steps as there is room for, and what of it may go on."""
    rough = {drawn.name: Rough(drawn.noise) for drawn in (*stream.once, *stream.fresh)}
    question, found, open_ones = _question(claim), list[tuple[str, ...]]([()]), set[tuple[str, ...]]()
    last = list(found)
    for _ in range(_length(stream)):
        following, held = [], 0
        for prefix in last:
            for word in spoken:
                known = list(ways(question, stream, (*prefix, word), None))
                held += len(known)
                if known:
                    following.append((*prefix, word))
                if any(len(pivots(group, rough)) > 1 for rows in known for group in _without_answers(stream, rows)):
                    return found, open_ones
        if not following or len(found) + len(following) > _MOST_COLUMNS or held > _MOST_WAYS:
            break
        open_ones |= {prefix[:-1] for prefix in following}
        found += following
        last = following
    return found, open_ones


def _without_answers(stream: Stream, rows: Rows) -> Iterator[list[Row]]:
    """The rows as they are where answers are numbers, by the noises that they share."""
    kept = (Row({key: x for key, x in row.of.items() if key[0] not in stream.answers}, row.rest, row.strict) for row in rows)
    return groups(tuple(row for row in kept if row.of))


# -- neighbours ------------------------------------------------------------------------------------------------------


def _length(stream: Stream) -> int:
    return LONGEST if stream.queries is None else min(LONGEST, int(number(stream.queries)))


def pairs_of(claim: Claim, stream: Stream) -> list[Pair]:
    """The neighbours on which a stream is audited where none are given: those of the run that its proof names. Raises AuditError."""
    require_both_orders(claim)
    return list(_of_run(claim, stream)) or usual(claim, _length(stream) * len(stream.answers))


def _of_run(claim: Claim, stream: Stream) -> Iterator[Pair]:
    """The answers of the run that loses the most, nearer and further from where the noises are, and as they move."""
    proved = [line for line, _ in verify(claim).proved if line.rule in ("worst-run", "worst-words", "told-words")]
    if proved and proved[-1].rule != "worst-run":
        yield from _of_words(claim, stream, proved[-1].rule, proved[-1].parameters)
        return
    lines = proved[-1:]
    steps: Sequence[Any] = lines[-1].parameters["run"] if lines else ()
    if lines and "repeat" in lines[-1].parameters:
        low, high = lines[-1].parameters["repeat"]
        steps = [*steps[:low], *(list(steps[low:high]) * max(1, (_length(stream) - len(steps)) // (high - low) + 1)), *steps[high:]]
    if not steps or (stream.queries is not None and len(steps) > number(stream.queries)):
        return
    answers, moves = (np.array([[float(Fraction(text)) for text in step[i]] for step in steps]) for i in (1, 3))
    queries = len(steps) if stream.queries is None else int(number(stream.queries))
    rest = np.zeros((queries - len(steps), len(stream.answers)))
    answers, moves = np.concatenate([answers, rest]).ravel(), np.concatenate([moves, rest]).ravel() * _moved(claim)
    unit = 1.0 + max((_spread(noise) for noise in noises_of(stream)), default=0.0)
    for far in (0.0, 1.0, 3.0):
        start = _between(claim, np.clip(answers, -far * unit, far * unit))
        yield start, start + moves


def _of_words(claim: Claim, stream: Stream, rule: str, told: Mapping[str, Any]) -> Iterator[Pair]:
    """The answers on which words lose the most; in the limit, nearer and further out in the direction that is told."""
    queries = max(_length(stream), len(told["answers"] if rule == "worst-words" else told["answers"][0]))
    if stream.queries is not None and queries > number(stream.queries):
        return

    def padded(rows: Sequence[Sequence[Any]]) -> Array:
        answers = np.array([[float(Fraction(str(x))) for x in row] for row in rows])
        return np.concatenate([answers, np.zeros((queries - len(rows), len(stream.answers)))]).ravel()

    if rule == "told-words":
        here, there = (padded(side) for side in told["answers"])
        yield here, there
        return
    point, far, moves = (padded([row[i] for row in told["answers"]]) for i in range(3))
    unit = 1.0 + max((_spread(noise) for noise in noises_of(stream)), default=0.0)
    for out in (0.0, 1.0, 3.0):
        start = _between(claim, np.clip(point + out * unit * far, -out * unit, out * unit))
        yield start, start + moves * _moved(claim)


def _spread(noise: Any) -> float:
    scale = getattr(noise, "scale", None)
    return 1.0 if scale is None else number(scale)
