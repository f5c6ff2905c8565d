"""The probability that a stream tells certain words on given answers, enclosed by sums over cells of a few of its noises (theory#told-words)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Final

from flint import arb, fmpq

from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.expr import ZERO, Expr, Num, add, substitute
from dpverify.trusted.language.model import Stream
from dpverify.trusted.order.compare import certainly_le
from dpverify.trusted.parts.streams import Form, Step, start_of, step_of
from dpverify.trusted.rules.selection.compared import Asked
from dpverify.trusted.rules.selection.noise_laws import Law, Whole

Noise = tuple[str, int]
"""A name and the step in which it is drawn; -1 at the start."""
Words = Sequence[str]
End = fmpq | None
"""Of an interval; None for infinity."""
Below = Callable[[fmpq], tuple[arb, arb]]
"""Bounds on the probability of less than a point."""
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


def ways(question: Asked, stream: Stream, words: Words, answers: Sequence[Sequence[Fraction]]) -> Iterator[Rows]:
    """What has to hold of the noises for the words to be told on these answers, in each of the ways that exclude each other."""
    rule, steps = question.rule, [step_of(stream, branch) for branch in stream.steps]

    def number(value: Expr) -> Fraction:
        if not isinstance(value, Num):
            raise Rejected(rule, "a comparison", "it has a part that is no rational number")
        return value.value

    def row(form: Form, known: Mapping[str, Row], counts: Mapping[str, Expr], strict: bool = False) -> Row:
        of: dict[Noise, Fraction] = {}
        rest = number(substitute(form.rest, counts))
        for name, factor in form.of.items():
            rest += factor * known[name].rest
            for key, weight in known[name].of.items():
                of[key] = of.get(key, Fraction(0)) + factor * weight
        return Row({key: x for key, x in of.items() if x}, rest, strict)

    def follow(place: int, state: Mapping[str, Row], counts: Mapping[str, Expr], held: Rows) -> Iterator[Rows]:
        if place == len(words):
            yield held
            return
        if any(certainly_le(limit.value, counts[limit.name], question.domains) for limit in stream.limits):
            return
        drawn = {each.name: Row({(each.name, place): Fraction(1)}, Fraction(0)) for each in stream.fresh}
        known = {**state, **drawn, **{name: Row({}, x) for name, x in zip(stream.answers, answers[place], strict=True)}}
        whens = [
            [row(form, known, counts, guard.strict) for form, guard in zip(step.when, branch.when, strict=True)]
            for step, branch in zip(steps, stream.steps, strict=True)
        ]
        for taken, branch in enumerate(stream.steps):
            if branch.emit != words[place]:
                continue
            for failed in product(*map(_failing, whens[:taken])):
                here = _kept(row for rows in (*failed, whens[taken]) for row in rows)
                if here is not None:
                    after = {name: row(form, known, counts) for name, form in steps[taken].after.items()}
                    grown = {each.name: add(counts[each.name], each.value) for each in branch.count}
                    yield from follow(place + 1, after, {**counts, **grown}, held + here)

    start = {each.name: Row({(each.name, -1): Fraction(1)}, Fraction(0)) for each in stream.once}
    first = {name: row(form, start, {}) for name, form in start_of(stream).items()}
    return follow(0, {**start, **first}, {limit.name: ZERO for limit in stream.limits}, ())


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

    whole: bool
    below: Below

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
    """A noise, of which probabilities between the cuts are known where there are cuts."""

    @cache
    def below(point: fmpq) -> tuple[arb, arb]:
        place = Fraction(int(point.p), int(point.q))
        if cuts and place < cuts[0]:
            return arb(0), law.at(cuts[0])[0]
        if cuts and place > cuts[-1]:
            return law.at(cuts[-1])[0], arb(1)
        found = law.at(place)[0]
        return found, found

    return Known(isinstance(law, Whole), below)


def cells(noise: Known, cuts: Sequence[Fraction]) -> list[Cell]:
    """Between the cuts, or at each integer between the first and the last, and on both sides of all."""
    points = [fmpq(cut.numerator, cut.denominator) for cut in cuts]
    if noise.whole:
        first, last = points[0].ceil(), points[-1].floor()
        places: list[tuple[End, End]] = [(None, fmpq(first - 1)), *((fmpq(n), fmpq(n)) for n in range(int(first), int(last) + 1))]
        places.append((fmpq(last + 1), None))
    else:
        ends: list[End] = [None, *points, None]
        places = list(zip(ends, ends[1:], strict=False))
    found = []
    for low, high in places:
        least = noise.edge(high, True, True, 0) - noise.edge(low, False, False, 1)
        found.append(Cell(low, high, least.max(arb(0)), noise.edge(high, True, True, 1) - noise.edge(low, False, False, 0)))
    return found


def chance(rule: str, rows: Rows, noises: Mapping[str, Known], pivots: Mapping[Noise, Sequence[Cell]]) -> arb:
    """Encloses the probability that all rows hold: of the rows that share noises by sums over the cells of the pivots in them."""
    found, open_ = arb(1), list(rows)
    while open_:
        together, keys, size = [open_.pop()], set[Noise](), 0
        while len(keys) > size or not keys:
            keys = {key for row in together for key in row.of}
            size = len(keys)
            linked = [row for row in open_ if keys & row.of.keys()]
            together += linked
            open_ = [row for row in open_ if row not in linked]
            keys |= {key for row in linked for key in row.of}
        found *= _summed(rule, together, noises, {key: pivots[key] for key in sorted(keys & pivots.keys())})
    return found


def _summed(rule: str, rows: Sequence[Row], noises: Mapping[str, Known], pivots: Mapping[Noise, Sequence[Cell]]) -> arb:
    count = 1
    for one in pivots.values():
        count *= len(one)
    if count > MOST:
        raise Rejected(rule, "pivots", f"they have more than {MOST:,} cells")
    tables = [_Table.of(rule, row, noises, pivots) for row in rows]
    low, high = arb(0), arb(0)
    for places in product(*(range(len(one)) for one in pivots.values())):
        least, most = arb(1), arb(1)
        for place, one in zip(places, pivots.values(), strict=True):
            least, most = least * one[place].least, most * one[place].most
        inner: dict[Noise, list[arb]] = {}
        for table in tables:
            ends = table.ends(places)
            if table.noise is None:
                least, most = least * int(table.surely(ends)), most * int(table.perhaps(ends))
            else:
                table.narrow(inner.setdefault(table.noise, [arb(0), arb(1), arb(0), arb(1)]), ends)
        for lowest, highest, first, last in inner.values():
            least, most = least * (highest - lowest).max(arb(0)), most * (last - first).max(arb(0))
        low, high = low + least, high + most
    return arb(0) if high.is_zero() else low.union(high)


@dataclass(frozen=True, slots=True)
class _Table:
    """A row by the cells of pivots: what it says of one other noise, or of none, with what each pivot's cells add at least and at most.

    upward: whether the other noise is at least the form; after: whether the form itself is on the other side; tied: whether it is met at all.
    """

    noise: Noise | None
    tied: bool
    upward: bool
    after: bool
    known: Known | None
    rest: fmpq
    parts: Sequence[Sequence[tuple[End, End]] | None]

    @classmethod
    def of(cls, rule: str, row: Row, noises: Mapping[str, Known], pivots: Mapping[Noise, Sequence[Cell]]) -> _Table:
        others = [key for key in row.of if key not in pivots]
        if len(others) > 1:
            raise Rejected(rule, "pivots", "a comparison has two noises that are none of them")
        tied = all(noises[name].whole for name, _ in row.of)  # else the two sides are equal with probability 0
        strict = row.strict and tied
        own = others[0] if others else None
        scale = Fraction(1) if own is None else -row.of[own]
        parts = [_parts(row.of[key] / scale, one) if key in row.of else None for key, one in pivots.items()]
        rest = row.rest / scale
        # a noise is at least the form where its multiple is positive, and at most the form where that is negative
        upward = own is None or row.of[own] > 0
        after = strict if upward else not strict
        return cls(own, tied, upward, after, noises[own[0]] if own else None, fmpq(rest.numerator, rest.denominator), parts)

    def ends(self, places: Sequence[int]) -> tuple[End, End]:
        """The least and the greatest that the form is in a cell."""
        low: End = self.rest
        high: End = self.rest
        for place, part in zip(places, self.parts, strict=True):
            if part is not None:
                least, most = part[place]
                low = None if low is None or least is None else low + least
                high = None if high is None or most is None else high + most
        return low, high

    def surely(self, ends: tuple[End, End]) -> bool:
        """Whether a row of pivots alone holds in all of a cell."""
        return ends[0] is not None and (ends[0] > 0 or (not self.after and ends[0] == 0))

    def perhaps(self, ends: tuple[End, End]) -> bool:
        """Whether it may hold somewhere in a cell."""
        return ends[1] is None or ends[1] > 0 or (self.tied and not self.after and ends[1] == 0)

    def narrow(self, inner: list[arb], ends: tuple[End, End]) -> None:
        """Between which probabilities the noise is, for the least and for the most that is possible: lowest, highest, first, last."""
        assert self.known is not None
        low, high = ends
        if self.upward:  # the noise is at least the form
            inner[0] = inner[0].max(self.known.edge(high, self.after, True, 1))
            inner[2] = inner[2].max(self.known.edge(low, self.after, False, 0))
        else:
            inner[1] = inner[1].min(self.known.edge(low, self.after, False, 0))
            inner[3] = inner[3].min(self.known.edge(high, self.after, True, 1))


def _parts(factor: Fraction, pivot: Sequence[Cell]) -> list[tuple[End, End]]:
    scale = fmpq(factor.numerator, factor.denominator)
    ends = [tuple(None if end is None else scale * end for end in (cell.low, cell.high)) for cell in pivot]
    return [(low, high) if factor > 0 else (high, low) for low, high in ends]
