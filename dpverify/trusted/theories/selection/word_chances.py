"""The probability that a stream tells words on given answers, enclosed by sums over cells of a few noises (theory#told-words)."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, reduce
from itertools import pairwise, product
from typing import Final

from flint import acb, arb, fmpq

from dpverify.trusted.combinators.streams import Form, Step, start_of, step_of
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, add, substitute
from dpverify.trusted.kernel.model import Stream
from dpverify.trusted.theories.selection.compared import Asked
from dpverify.trusted.theories.selection.noise_laws import Closed, Law, Whole

Noise = tuple[str, int]
"""A name and the step in which it is drawn; -1 at the start."""
Words = Sequence[str]
End = fmpq | None
"""Of an interval; None for infinity."""
Below = Callable[[fmpq], tuple[arb, arb]]
"""Bounds on the probability of less than a point."""
BITS: Final = 40
"""Of means over cells: what is beside them is far more."""
MOST: Final = 200_000
"""The most cells that are summed over, and ways in which words may be told."""


@dataclass(frozen=True, slots=True)
class Row:
    """A linear form in noises, to be at least 0, or above it where it is strict."""

    of: Mapping[Noise, Fraction]
    rest: Fraction
    strict: bool = False

    @property
    def negated(self) -> Row:
        """What holds where this fails."""
        return Row({key: -x for key, x in self.of.items()}, -self.rest, not self.strict)

    @property
    def settled(self) -> bool | None:
        """Whether it holds, where no noise is in it."""
        return None if self.of else self.rest > 0 or (not self.strict and self.rest == 0)


Rows = tuple[Row, ...]


def ways(question: Asked, stream: Stream, words: Words, answers: Sequence[Sequence[Fraction]] | None) -> Iterator[Rows]:
    """What has to hold of the noises for the words to be told on these answers, in each of the ways that exclude each other.

    Without answers they are names in the rows, by the steps in which they are read.
    """
    return (way.rows for way in runs(question, stream, answers, words))


@dataclass(frozen=True, slots=True)
class Way:
    """A run as it is seen: for each step the word and how many numbers are told, these numbers, and the rows that hold."""

    word: tuple[tuple[str, int], ...] = ()
    told: Rows = ()
    rows: Rows = ()


def runs(
    question: Asked, stream: Stream, answers: Sequence[Sequence[Fraction]] | None, words: Words | None, steps: int = 0
) -> Iterator[Way]:
    """All runs that begin with the words, or without words all that are over, after as many steps where no counter ends them before."""
    start = {each.name: Row({(each.name, -1): Fraction(1)}, Fraction(0)) for each in stream.once}
    first = {name: _row(question.rule, form, start, {}) for name, form in start_of(stream).items()}
    of_steps = [step_of(stream, branch) for branch in stream.steps]
    looked = _Runs(question, stream, answers, words, steps if words is None else len(words), start, of_steps)
    return looked.follow(0, first, {limit.name: ZERO for limit in stream.limits}, Way())


def _row(rule: str, form: Form, known: Mapping[str, Row], counts: Mapping[str, Expr], strict: bool = False) -> Row:
    """A form of what is known as a row of the noises."""
    constant = substitute(form.rest, counts)
    if not isinstance(constant, Num):
        raise Rejected(rule, "a comparison", "it has a part that is no rational number")
    rest, of = constant.value, dict[Noise, Fraction]()
    for name, factor in form.of.items():
        rest += factor * known[name].rest
        for key, weight in known[name].of.items():
            of[key] = of.get(key, Fraction(0)) + factor * weight
    return Row({key: x for key, x in of.items() if x}, rest, strict)


@dataclass(frozen=True, slots=True)
class _Runs:
    """All runs of a stream, step by step. steps: after how many they end; start: the noises of the whole run; of_steps: its branches."""

    question: Asked
    stream: Stream
    answers: Sequence[Sequence[Fraction]] | None
    words: Words | None
    steps: int
    start: Mapping[str, Row]
    of_steps: Sequence[Step]

    def follow(self, place: int, state: Mapping[str, Row], counts: Mapping[str, Expr], way: Way) -> Iterator[Way]:
        """The runs that go on from a step."""
        if place == self.steps:
            yield way
            return
        if self._over(counts):
            yield from () if self.words is not None else (way,)
            return
        drawn = {each.name: Row({(each.name, place): Fraction(1)}, Fraction(0)) for each in self.stream.fresh}
        known = {**self.start, **state, **drawn, **_read(self.stream, place, self.answers)}
        whens = self._whens(known, counts)
        for taken, branch in enumerate(self.stream.steps):
            if self.words is not None and branch.emit != self.words[place]:
                continue
            for here in _taken(whens, taken):
                after = {name: self._row(form, known, counts) for name, form in self.of_steps[taken].after.items()}
                told = tuple(self._row(form, known, counts) for form in self.of_steps[taken].tell)
                grown = {each.name: add(counts[each.name], each.value) for each in branch.count}
                on = Way((*way.word, (branch.emit, len(told))), way.told + told, way.rows + here)
                yield from self.follow(place + 1, after, {**counts, **grown}, on)

    def _row(self, form: Form, known: Mapping[str, Row], counts: Mapping[str, Expr], strict: bool = False) -> Row:
        return _row(self.question.rule, form, known, counts, strict)

    def _over(self, counts: Mapping[str, Expr]) -> bool:
        """Whether a counter ends the run. Raises Rejected where that is not certain."""
        if any(certainly_le(limit.value, counts[limit.name], self.question.domains) for limit in self.stream.limits):
            return True
        if not all(certainly_lt(counts[limit.name], limit.value, self.question.domains) for limit in self.stream.limits):
            why = "it is not certain whether the run goes on: a counter may have reached its limit"
            raise Rejected(self.question.rule, "limits", why)
        return False

    def _whens(self, known: Mapping[str, Row], counts: Mapping[str, Expr]) -> list[list[Row]]:
        """The comparisons of each branch."""
        return [
            [self._row(form, known, counts, guard.strict) for form, guard in zip(step.when, branch.when, strict=True)]
            for step, branch in zip(self.of_steps, self.stream.steps, strict=True)
        ]


def _taken(whens: Sequence[Sequence[Row]], taken: int) -> Iterator[Rows]:
    """The rows that hold where a branch is taken, for each way in which those before it fail."""
    # an earlier branch of which this one's comparisons rule out one is not taken anyway
    earlier = [when for when in whens[:taken] if not any(one.negated in whens[taken] for one in when)]
    for failed in product(*map(_failing, earlier)):
        here = _kept(row for rows in (*failed, whens[taken]) for row in rows)
        if here is not None:
            yield here


def _read(stream: Stream, place: int, answers: Sequence[Sequence[Fraction]] | None) -> dict[str, Row]:
    if answers is None:
        return {name: Row({(name, place): Fraction(1)}, Fraction(0)) for name in stream.answers}
    return {name: Row({}, x) for name, x in zip(stream.answers, answers[place], strict=True)}


def _failing(when: Sequence[Row]) -> Iterator[list[Row]]:
    """The ways in which not all comparisons hold: the first fails, or it holds and the next fails, and so on."""
    for place, row in enumerate(when):
        yield [*when[:place], row.negated]


def _kept(rows: Iterator[Row]) -> Rows | None:
    """Those with noise in them; None where one without does not hold."""
    found = tuple(rows)
    return None if any(row.settled is False for row in found) else tuple(row for row in found if row.of)


# -- sums over cells --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Known:
    """A noise as it is asked of. below: bounds on the probability of less than a point; cells: where it is summed over, if it is."""

    law: Law | Whole
    below: Below

    @property
    def whole(self) -> bool:
        """Whether it lives on the integers."""
        return isinstance(self.law, Whole)

    def edge(self, point: End, after: bool, above: bool, outward: int) -> arb:
        """The probability of what is below a comparison's edge, from below or above (outward 0, 1). after: the edge itself is below it.

        above: which of the two infinities no point is.
        """
        if point is None:
            return arb(int(above))
        if self.whole:
            point = fmpq(point.floor() + 1) if after else fmpq(point.ceil())
        return self.below(point)[outward]


@dataclass(frozen=True, slots=True)
class Cell:
    """An interval of a noise, on the integers of the integers in it, and bounds on its probability."""

    low: End
    high: End
    least: arb
    most: arb


def known(law: Law | Whole, cuts: Sequence[Fraction]) -> Known:
    """A noise, of which probabilities between the cuts are known where there are cuts, and all where it has a closed form."""
    cuts = () if isinstance(law, Closed) else cuts

    @cache
    def below(point: fmpq) -> tuple[arb, arb]:
        place = _fraction(point)
        if cuts and place < cuts[0]:
            return arb(0), law.at(cuts[0])[0]
        if cuts and place > cuts[-1]:
            return law.at(cuts[-1])[0], arb(1)
        found = law.at(place)[0]
        return found, found

    return Known(law, below)


def cells(noise: Known, cuts: Sequence[Fraction]) -> list[Cell]:
    """Between the cuts, or at each integer between the first and the last, and on both sides of all."""
    points = [fmpq(cut.numerator, cut.denominator) for cut in cuts]
    if noise.whole:
        first, last = points[0].ceil(), points[-1].floor()
        places: list[tuple[End, End]] = [(None, fmpq(first - 1)), *((fmpq(n), fmpq(n)) for n in range(int(first), int(last) + 1))]
        places.append((fmpq(last + 1), None))
    else:
        ends: list[End] = [None, *points, None]
        places = list(pairwise(ends))
    found = []
    for low, high in places:
        least = noise.edge(high, True, True, 0) - noise.edge(low, False, False, 1)
        found.append(Cell(low, high, least.max(arb(0)), noise.edge(high, True, True, 1) - noise.edge(low, False, False, 0)))
    return found


def together(rows: Iterable[Row], free: Container[Noise] = ()) -> Iterator[list[Row]]:
    """Rows that share noises, but those that are free."""
    open_ = list(rows)
    while open_:
        found, size = [open_.pop()], 0
        while size < len(found):
            size, keys = len(found), {key for row in found for key in row.of if key not in free}
            found += [row for row in open_ if keys & row.of.keys()]
            open_ = [row for row in open_ if not keys & row.of.keys()]
        yield found


def chance(rule: str, rows: Rows, noises: Mapping[str, Known], pivots: Mapping[Noise, Sequence[Cell]]) -> arb:
    """Encloses the probability that all rows hold: of the rows that share noises by sums over the cells of the pivots in them."""
    found = arb(1)
    for linked in together(rows):
        keys = {key for row in linked for key in row.of}
        found *= _summed(rule, linked, noises, {key: pivots[key] for key in sorted(keys & pivots.keys())})
    return found


def _summed(rule: str, rows: Sequence[Row], noises: Mapping[str, Known], pivots: Mapping[Noise, Sequence[Cell]]) -> arb:
    count = 1
    for one in pivots.values():
        count *= len(one)
    require(count <= MOST, Rejected(rule, "pivots", f"they have more than {MOST:,} cells"))
    tables = [_Table.of(rule, row, noises, pivots) for row in rows]
    alone, others = ([table for table in tables if (table.noise is None) == without] for without in (True, False))
    low, high = arb(0), arb(0)
    for places in product(*(range(len(one)) for one in pivots.values())):
        least, most, sure, possible = arb(1), arb(1), True, True
        for place, one in zip(places, pivots.values(), strict=True):
            least, most = least * one[place].least, most * one[place].most
        for table in alone:
            ends = table.ends(places)
            sure, possible = sure and table.surely(ends), possible and table.perhaps(ends)
        if possible:
            inner: dict[Noise, tuple[list[_Edge], list[_Edge]]] = {}
            for table in others:
                assert table.noise is not None
                inner.setdefault(table.noise, ([], []))[not table.upward].append(table.edge(places))
            lower, upper = _together([_between(*edges) for edges in inner.values()])
            low, high = low + (least * lower if sure else 0), high + most * upper
    return arb(0) if high.is_zero() else low.union(high)


def _together(factors: Sequence[tuple[arb, arb, arb]]) -> tuple[arb, arb]:
    """Bounds on the mean over a cell of a product of factors between their ends: the product of their means, and what is beside that.

    With X = m + Y, Y of mean 0 in an interval of length r, the products of one Y alone have mean 0. Those of two are at most r r'/4 in the
    mean, as the variance of each is at most r^2/4; each Y more is at most r.
    """
    lower, upper, means, once, more = arb(1), arb(1), arb(1), arb(0), arb(0)
    for least, most, mean in factors:
        spread = most - least
        lower, upper = lower * least, upper * most
        means, once, more = means * mean, once * mean + means * spread, more * (mean + spread) + once * spread
    return lower.max(means - more / 4), upper.min(means + more / 4)


@dataclass(frozen=True, slots=True)
class _Edge:
    """The probability of less than a comparison's form, at least and at most in a cell, and its mean there, where that is known."""

    low: arb
    high: arb
    mean: arb | None


def _between(lows: Sequence[_Edge], highs: Sequence[_Edge]) -> tuple[arb, arb, arb]:
    """The probability that a noise is above the greatest of some edges and below the least of others: at least, at most, and its mean."""
    first, last = (max_of([getattr(edge, end) for edge in lows], arb(0)) for end in ("low", "high"))
    lowest, highest = (min_of([getattr(edge, end) for edge in highs], arb(1)) for end in ("low", "high"))
    least, most = (lowest - last).max(arb(0)), (highest - first).max(arb(0))
    below, above = (
        arb(int(not side)) if not edges else edges[0].mean if len(edges) == 1 else None for side, edges in ((1, lows), (0, highs))
    )
    if below is None or above is None or not last <= lowest:
        return least, most, least.union(most)
    return least, most, above - below


def max_of(values: Sequence[arb], least: arb) -> arb:
    """The greatest."""
    return reduce(arb.max, values, least)


def min_of(values: Sequence[arb], most: arb) -> arb:
    """The least."""
    return reduce(arb.min, values, most)


def _mean(pivot: Known, cell: Cell, edge: Known, factor: fmpq, rest: fmpq) -> arb | None:
    """The mean over a cell of the probability that a noise is below a linear function of the pivot; None where it has a kink there."""
    if cell.low is None or cell.high is None or isinstance(pivot.law, Whole) or isinstance(edge.law, Whole):
        return None
    ends = sorted((factor * cell.low + rest, factor * cell.high + rest))
    own, other = pivot.law.next_to(_fraction(cell.low), _fraction(cell.high)), edge.law.next_to(_fraction(ends[0]), _fraction(ends[1]))
    if own is None or other is None:
        return None
    slope, shift = acb(arb(factor)), acb(arb(rest))
    found = acb.integral(
        lambda t, a: own.density(t, a) * other.below(slope * t + shift, a), acb(arb(cell.low)), acb(arb(cell.high)), rel_tol=arb(2) ** -BITS
    )
    return found.real / cell.least if found.real.is_finite() else None


def _fraction(point: fmpq) -> Fraction:
    return Fraction(int(point.p), int(point.q))


@dataclass(frozen=True, slots=True)
class _Table:
    """A row by the cells of pivots: what it says of one other noise, or of none, with what each pivot's cells add at least and at most.

    upward: whether the other noise is at least the form. after: whether the form itself is on the other side. tied: whether it is met.
    """

    noise: Noise | None
    tied: bool
    upward: bool
    after: bool
    rest: fmpq
    parts: Sequence[Sequence[tuple[End, End]] | None]
    edge: Callable[[Sequence[int]], _Edge]

    @classmethod
    def of(cls, rule: str, row: Row, noises: Mapping[str, Known], pivots: Mapping[Noise, Sequence[Cell]]) -> _Table:
        others = [key for key in row.of if key not in pivots]
        require(len(others) <= 1, Rejected(rule, "pivots", "a comparison has two noises that are none of them"))
        tied = all(noises[name].whole for name, _ in row.of)  # else the two sides are equal with probability 0
        strict = row.strict and tied
        own = others[0] if others else None
        scale = Fraction(1) if own is None else -row.of[own]
        parts = [_parts(row.of[key] / scale, one) if key in row.of else None for key, one in pivots.items()]
        rest = row.rest / scale
        # a noise is at least the form where its multiple is positive, and at most the form where that is negative
        upward = own is None or row.of[own] > 0
        after = strict if upward else not strict
        known, start = None if own is None else noises[own[0]], fmpq(rest.numerator, rest.denominator)
        inside = [place for place, part in enumerate(parts) if part is not None]

        @cache
        def edge(places: tuple[int, ...]) -> _Edge:
            assert known is not None
            ends = _ends(start, (part[place] for place, part in zip(places, (parts[i] for i in inside), strict=True) if part is not None))
            low, high = (known.edge(end, after, above, above) for end, above in zip(ends, (False, True), strict=True))
            if len(inside) != 1:
                return _Edge(low, high, low.union(high) if not inside else None)
            key = list(pivots)[inside[0]]
            factor = row.of[key] / scale
            cell = pivots[key][places[0]]
            return _Edge(low, high, _mean(noises[key[0]], cell, known, fmpq(factor.numerator, factor.denominator), start))

        return cls(own, tied, upward, after, start, parts, lambda places: edge(tuple(places[i] for i in inside)))

    def ends(self, places: Sequence[int]) -> tuple[End, End]:
        """The least and the greatest that the form is in a cell."""
        return _ends(self.rest, (part[place] for place, part in zip(places, self.parts, strict=True) if part is not None))

    def surely(self, ends: tuple[End, End]) -> bool:
        """Whether a row of pivots alone holds in all of a cell."""
        return ends[0] is not None and (ends[0] > 0 or (not self.after and ends[0] == 0))

    def perhaps(self, ends: tuple[End, End]) -> bool:
        """Whether it may hold somewhere in a cell."""
        return ends[1] is None or ends[1] > 0 or (self.tied and not self.after and ends[1] == 0)


def _ends(rest: fmpq, parts: Iterable[tuple[End, End]]) -> tuple[End, End]:
    low: End = rest
    high: End = rest
    for least, most in parts:
        low = None if low is None or least is None else low + least
        high = None if high is None or most is None else high + most
    return low, high


def _parts(factor: Fraction, pivot: Sequence[Cell]) -> list[tuple[End, End]]:
    scale = fmpq(factor.numerator, factor.denominator)
    ends = [tuple(None if end is None else scale * end for end in (cell.low, cell.high)) for cell in pivot]
    return [(low, high) if factor > 0 else (high, low) for low, high in ends]
