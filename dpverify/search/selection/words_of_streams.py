"""Proposes words of a stream that tell two neighbours apart, at answers between bounds or anywhere, with noises of any law."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice, product
from typing import TYPE_CHECKING, Any, Final

from flint import arb

from dpverify.search.decimals import decimals
from dpverify.search.later import Later
from dpverify.search.numeric import written
from dpverify.search.selection.rough_laws import Rough
from dpverify.search.selection.runs_of_streams import Used, paths
from dpverify.search.witness_words import in_words
from dpverify.trusted.combinators.runs import Run, leaf
from dpverify.trusted.combinators.streams import families, vertices
from dpverify.trusted.kernel.balls import exact, precision
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import ZERO
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import ONE_WAY, Stream, Vector
from dpverify.trusted.theories.selection.compared import Asked, asked
from dpverify.trusted.theories.selection.rules import told_words
from dpverify.trusted.theories.selection.runs import together
from dpverify.trusted.theories.selection.word_chances import Noise, Row, Rows, ways

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]
else:
    np, Array = Later("numpy"), Any

_RUNS: Final = 80
"""The most runs of which words are looked at."""
_LONGEST: Final = 6
"""The longest of them."""
_EFFORT: Final = 1500
"""How often the probability of a run is computed, about."""
_BEST: Final = 2
"""Of these, those of which the answers are moved about."""
_WAYS: Final = 12
"""The most ways in which words may be told."""
_PIVOTS: Final = 2
"""The most noises that are summed over together."""
_ROUGH: Final = {1: 48, 2: 20}
_FINE: Final = {0: (2,), 1: (60, 400), 2: (32, 96)}
"""Cells of each noise that is summed over, by how many are: few first, so that what fails at once costs little."""
_MOST_CELLS: Final = 60_000
"""The most that are summed over for one pair of neighbours."""
_LEAST: Final = 1e-4
"""The mass of a noise on either side of what is parted into cells."""
_MIDDLE: Final = 5
"""In units of the width of a noise, how far on either side its cells are narrow."""
_PLACES: Final = (-4.0, -1.0, 0.0, 1.0, 4.0)
"""Where answers are put that have no bounds, in units of the widest noise."""
_GAIN: Final = 1e-6
_BITS: Final = 40
_PREC: Final = 128
_GRAIN: Final = 2**20
"""One over the unit of the losses that are shown, far more than what is rounded away."""

Answers = list[list[Fraction]]


@dataclass(frozen=True, slots=True)
class Told:
    """Words, with the answers of two neighbours on which they are told, and how much that tells, about."""

    words: list[str]
    here: Answers
    there: Answers
    score: float = -math.inf

    def evidence(self) -> dict[str, Any]:
        """As the rules read it."""
        return {"words": [self.words], "answers": [[[str(x) for x in row] for row in side] for side in (self.here, self.there)]}


@dataclass
class Ground:
    """A stream with its noises in floats, and what words are wanted to tell: a score of their probabilities on two neighbours."""

    question: Asked
    stream: Stream
    score: Callable[[float, float], float]
    rough: Mapping[str, Rough]
    known: dict[tuple[Any, ...], float] = field(default_factory=dict)
    effort: int = _EFFORT

    @property
    def moved(self) -> Fraction:
        return self.question.value(self.question.moved, "the sensitivity")

    def chance(self, words: Sequence[str], answers: Answers) -> float:
        """The probability of the words, about; nan where it is not looked at."""
        key = tuple(words), tuple(map(tuple, answers))
        if key not in self.known:
            self.known[key] = self._chance(words, answers)
        return self.known[key]

    def _chance(self, words: Sequence[str], answers: Answers) -> float:
        found = list(islice(ways(self.question, self.stream, words, answers), _WAYS + 1))
        self.effort -= 1 + len(found)
        if len(found) > _WAYS:
            return math.nan
        return sum(self._of_rows(rows) for rows in found)

    def _of_rows(self, rows: Rows) -> float:
        total = 1.0
        for group in groups(rows):
            chosen = pivots(group, self.rough)
            if len(chosen) > _PIVOTS:
                return math.nan
            total *= self._summed(group, chosen)
        return total

    def _summed(self, rows: Sequence[Row], chosen: Sequence[Noise]) -> float:
        mesh: dict[Noise, Array] = {}
        weight: Any = 1.0
        for place, key in enumerate(chosen):
            points, mass = self._points(key[0], len(chosen))
            shape = [1] * len(chosen)
            shape[place] = len(points)
            mesh[key], weight = points.reshape(shape), weight * mass.reshape(shape)
        inner: dict[Noise, list[Any]] = {}
        for row in rows:
            own = next((key for key in row.of if key not in mesh), None)
            scale = 1.0 if own is None else -float(row.of[own])
            form = sum((float(x) * mesh[key] for key, x in row.of.items() if key != own), start=np.float64(float(row.rest))) / scale
            if own is None:
                weight = weight * ((form > 0) if row.strict else (form >= 0))
                continue
            law, upward = self.rough[own[0]], row.of[own] > 0
            if law.whole:
                form = np.floor(form) + 1 if (row.strict if upward else not row.strict) else np.ceil(form)
            ends = inner.setdefault(own, [0.0, 1.0])
            edge = law.below(np.asarray(form))
            ends[0 if upward else 1] = np.maximum(ends[0], edge) if upward else np.minimum(ends[1], edge)
        for low, high in inner.values():
            weight = weight * np.maximum(high - low, 0.0)
        return float(np.sum(weight))

    def _points(self, name: str, count: int) -> tuple[Array, Array]:
        law = self.rough[name]
        ends = np.array([float(cut) for cut in cuts_of(law, _ROUGH[count])])
        if law.whole:
            points = np.arange(ends[0], ends[-1] + 1)
            return points, np.diff(law.below(np.arange(ends[0], ends[-1] + 2)))
        return (ends[1:] + ends[:-1]) / 2, np.diff(law.below(ends))

    def scored(self, told: Told) -> Told:
        """The same with its score; none once the effort is spent."""
        if self.effort <= 0:
            return Told(told.words, told.here, told.there)
        here, there = self.chance(told.words, told.here), self.chance(told.words, told.there)
        score = self.score(here, there) if math.isfinite(here + there) else -math.inf
        return Told(told.words, told.here, told.there, score)


def groups(rows: Rows) -> Iterator[list[Row]]:
    """Rows that share noises."""
    open_ = list(rows)
    while open_:
        found, size = [open_.pop()], 0
        while size < len(found):
            size = len(found)
            keys = {key for row in found for key in row.of}
            found += [row for row in open_ if keys & row.of.keys()]
            open_ = [row for row in open_ if not keys & row.of.keys()]
        yield found


def pivots(rows: Sequence[Row], rough: Mapping[str, Rough]) -> list[Noise]:
    """Noises without which no row has two, the most frequent first, and of these those with the lightest tails."""
    found: list[Noise] = []
    while open_ := [keys for row in rows if len(keys := row.of.keys() - set(found)) > 1]:
        counts: dict[Noise, int] = {}
        for keys in open_:
            for key in keys:
                counts[key] = counts.get(key, 0) + 1
        found.append(max(sorted(counts), key=lambda key: (counts[key], -_tails(rough[key[0]]))))
    return sorted(found)


def _tails(law: Rough) -> float:
    """How far out the tails reach, in units of the width."""
    low, high = _ends_of(law)
    return (high - low) / law.width


def _ends_of(law: Rough) -> tuple[float, float]:
    nodes = law.nodes
    low, high = (float(np.interp(chance, nodes.below, nodes.z)) for chance in (_LEAST, 1 - _LEAST))
    return low, high


def cuts_of(law: Rough, size: int) -> list[Fraction]:
    """Between about so many cells: a lattice about 0 where most of the noise is, and wider and wider ones on both sides."""
    low, high = _ends_of(law)
    if law.whole:
        return [Fraction(math.floor(low)), Fraction(math.ceil(high))]
    first, last = max(low, -_MIDDLE * law.width), min(high, _MIDDLE * law.width)
    unit = (last - first) / size
    step = Fraction(1, math.ceil(1 / unit)) if unit < 1 else Fraction(math.floor(unit))  # so that integers, where kinks often are, are cuts
    found = [step * place for place in range(math.floor(first / step), math.ceil(last / step) + 1)]
    for end, place, sign in ((high, -1, 1), (low, 0, -1)):
        wider = 2 * step
        while sign * (end - float(found[place])) > 0:
            found.insert(0 if sign < 0 else len(found), found[place] + sign * wider)
            wider *= 2
    return found


# -- where to look ----------------------------------------------------------------------------------------------------


def told(question: Asked, score: Callable[[float, float], float], pointed: Sequence[Sequence[Used]]) -> list[Told]:
    """Words that tell the most, of those that are looked at, the best first. pointed: branches and moves to begin with."""
    stream = question.claim.mechanism
    assert isinstance(stream, Stream)
    if question.moved == ZERO or not all(branch.emit or branch.tell for branch in stream.steps):
        return []
    ground = Ground(question, stream, score, {drawn.name: Rough(drawn.noise) for drawn in (*stream.once, *stream.fresh)})
    seen: dict[tuple[Any, ...], Told] = {}
    for path in islice((path for path in paths(stream, pointed) if len(path) <= _LONGEST), _RUNS):
        words = [stream.steps[branch].emit for branch, _ in path]
        for placed in _placed(ground, [moves for _, moves in path]):
            key = tuple(words), str(placed)
            if key not in seen and ground.effort > _EFFORT // 2:  # the rest is for moving answers about
                seen[key] = ground.scored(Told(words, *placed))
    best = sorted((one for one in seen.values() if one.score > -math.inf), key=lambda one: -one.score)[:_BEST]
    return sorted((_climbed(ground, one) for one in best), key=lambda one: -one.score)


def _ends(ground: Ground, move: Fraction) -> list[Fraction]:
    """Where an answer may begin that moves so."""
    stream, question = ground.stream, ground.question
    if stream.bounds is not None:
        low, high = (question.value(end, "bounds") for end in stream.bounds)
        first, last = max(low, low - move), min(high, high - move)
        if question.whole:
            first, last = Fraction(math.ceil(first)), Fraction(math.floor(last))
        return [] if first > last else sorted({first, last} | ({(first + last) / 2} if not question.whole else set()))
    unit = max([1.0, *(law.width for law in ground.rough.values())])
    return [Fraction(round(place * unit)) for place in _PLACES]


def _placed(ground: Ground, moves: Sequence[Vector]) -> Iterator[tuple[Answers, Answers]]:
    """All answers low, in the middle, or high; or as near to where they move to, or as far, as may be."""
    steps = [[x * ground.moved for x in row] for row in moves]
    ends = [[_ends(ground, x) for x in row] for row in steps]
    if not all(places for row in ends for places in row):
        return
    choices: list[Callable[[list[Fraction], Fraction], Fraction]] = [
        lambda places, _: places[0],
        lambda places, _: places[len(places) // 2],
        lambda places, _: places[-1],
        lambda places, move: places[0 if move < 0 else -1],
        lambda places, move: places[0 if move > 0 else -1],
    ]
    for choose in choices:
        here = [[choose(places, move) for places, move in zip(row, moved, strict=True)] for row, moved in zip(ends, steps, strict=True)]
        yield here, [[x + move for x, move in zip(row, moved, strict=True)] for row, moved in zip(here, steps, strict=True)]


def _climbed(ground: Ground, best: Told) -> Told:
    """One answer after the other moved to where it tells the most, with the move that does."""
    stream = ground.stream
    points = list(
        dict.fromkeys((*(point for family in families(stream) for point in vertices(stream, family)), (Fraction(0),) * len(stream.answers)))
    )
    for _ in range(2):
        before = best.score
        for step in range(len(best.words)):
            for point in points:
                moves = [x * ground.moved for x in point]
                for place in product(*(_ends(ground, move) for move in moves)):
                    here, there = ([list(row) for row in side] for side in (best.here, best.there))
                    here[step], there[step] = list(place), [x + move for x, move in zip(place, moves, strict=True)]
                    rows = [[(y - x) / ground.moved for x, y in zip(*both, strict=True)] for both in zip(here, there, strict=True)]
                    if together(stream, rows):
                        found = ground.scored(Told(best.words, here, there))
                        best = found if found.score > best.score + _GAIN else best
        if best.score <= before + _GAIN:
            break
    return best


# -- evidence -----------------------------------------------------------------------------------------------------------


def evidence(question: Asked, one: Told) -> Iterator[dict[str, Any]]:
    """What the rules want of words, with few cells and then with more."""
    stream = question.claim.mechanism
    assert isinstance(stream, Stream)
    rough = {drawn.name: Rough(drawn.noise) for drawn in (*stream.once, *stream.fresh)}
    linked = [
        pivots(group, rough) for side in (one.here, one.there) for rows in ways(question, stream, one.words, side) for group in groups(rows)
    ]
    chosen, widest = sorted({key for group in linked for key in group}), max(map(len, linked), default=0)
    grids = {name: law.grid(*law.reach(_BITS)) for name, law in rough.items() if not law.is_closed}
    told_of_all = one.evidence() | ({"grids": {name: list(map(str, grid)) for name, grid in grids.items()}} if grids else {})
    for size in (size for size in _FINE.get(widest, ()) if len(linked) * size**widest <= _MOST_CELLS):
        yield told_of_all | {"pivots": [[name, step, list(map(str, cuts_of(rough[name], size)))] for name, step in chosen]}


def propose(question: Asked, claimed: float | None, pointed: Sequence[Sequence[Used]], at: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """The lower bound by the words that tell the most; where epsilon is claimed, with as few cells as show that it is more."""

    def score(here: float, there: float) -> float:
        return -math.inf if here <= 0 else math.inf if there <= 0 else math.log(here / there)

    best: dict[str, Any] | None = None
    for one in told(question, score, pointed)[:1]:
        if one.score <= _GAIN:
            return
        for found in evidence(question, one):
            try:
                with precision(_PREC):
                    here, there = told_words.probabilities(question, found)
            except DpverifyError:
                continue
            shown = {"side": "lower", **({"at": dict(at)} if at else {}), **found}
            if there.is_zero() and here > 0:
                best = {"rule": told_words.NAME, "evidence": {**shown, "value": "infinite"}, "prec": _PREC}
                break
            loss = (here.lower() / there.upper()).log()
            if loss.lower() * _GRAIN > 1:
                value = Fraction(exact(loss.lower()) * _GRAIN // 1, _GRAIN)
                best = {"rule": told_words.NAME, "evidence": {**shown, "value": written(value)}, "prec": _PREC}
                if claimed is not None and value > claimed:
                    break
    if best is not None:
        yield best


def at_delta(question: Asked, epsilon: float) -> Iterator[dict[str, Any]]:
    """Parameters of the rule about curves: the words that tell the most at an epsilon, in either order of the neighbours."""
    factor = math.exp(min(epsilon, 700.0))

    def score(here: float, there: float) -> float:
        return max(here - factor * there, 1 - here - factor * (1 - there))

    for one in told(question, score, [])[:1]:
        if one.score > _GAIN:
            yield list(evidence(question, one))[-1]


def described(fact: Fact, epsilon: arb) -> Mapping[str, str]:
    """The words that a fact about a curve is about, or all other outputs, in the order of neighbours in which they tell more."""
    run = fact.about
    assert isinstance(run, Run)
    claim = leaf(run)
    mechanism = claim.mechanism
    assert isinstance(mechanism, Stream)
    question = asked(claim, {"side": "lower"}, told_words.NAME, near=True, wanted=Stream)
    p, q = told_words.probabilities(question, fact.parameters)
    told = in_words({"says": "any-of-words", "words": fact.parameters["words"]})
    factor, sides = epsilon.exp(), fact.parameters["answers"]
    found = [(p, q, sides, told), (1 - p, 1 - q, sides, f"not: {told}")]
    if mechanism.neighbours not in ONE_WAY:
        found += [(q, p, sides[::-1], told), (1 - q, 1 - p, sides[::-1], f"not: {told}")]
    p, q, sides, event = max(found, key=lambda way: float((way[0] - factor * way[1]).mid()))
    pair = in_words({"says": "answers-of-both", "sides": sides})
    told_of_both = {"pair": pair, "event": event, "P": decimals(p), "Q": decimals(q)}
    return told_of_both | {"P - exp(epsilon)*Q": decimals(p - factor * q)}
