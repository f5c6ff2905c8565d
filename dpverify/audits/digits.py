"""Leaks in the last digits of numbers: which place a number ends at, in bits for integers and in decimals for others.

A query that is rounded to more digits for some data than for others, or an answer that hides below wide noise, shows in no interval
and in no value that comes again: the numbers end at other places. Numbers are taken as they are (floats by their shortest decimal), so
this is an event of the model. It is learned from past outputs alone, and only where it tells x from x' by more than the claim allows:
of correct samplers it says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpverify.audits.outputs import Outputs, kinds
from dpverify.audits.partition import Codes, Partition
from dpverify.audits.tails import rarer_tails

Array = np.ndarray[Any, Any]

BITS: Final = 8  # classes of integers: odd, ..., multiples of 2^7
DECIMALS: Final = 40  # classes of decimal places, from 1; more counts as so many
IN_FLOATS: Final = 9  # decimal places that are looked for in a float,
ROOM: Final = 2.0**10  # where floats are so much finer than that place: else any law ends there, by its representation
ENDLESS: Final = BITS + DECIMALS  # no decimal, infinite, or a float that is not so much finer than where it ends
CLASSES: Final = ENDLESS + 1
EXAMPLES: Final = 4096  # outputs of a side that are learned from
EDGES: Final = np.array([-2.0, -0.7, -1e-9, 1e-9, 0.7, 2.0])
SIGNIFICANT: Final = 1e-3
SHOWN: Final = 4


@dataclass(frozen=True, slots=True)
class LastDigits:
    """Seven cells by how much the places at which an output's numbers end spoke for x against x' in the past.

    columns: which numbers of an output; scores: (columns, CLASSES) log ratios, summed. width: of an output.
    """

    columns: tuple[int, ...]
    scores: Array
    width: int

    @property
    def size(self) -> int:
        """Seven."""
        return len(EDGES) + 1

    def codes(self, outputs: Outputs) -> Codes:
        """The cell of each output; the middle one for outputs of another width."""
        total = np.zeros(len(outputs))
        if outputs.numbers.shape[1] == self.width:
            for scores, column in zip(self.scores, self.columns, strict=True):
                total += scores[_ends(outputs.column(column))]
        return np.searchsorted(EDGES, total).astype(np.uint8)

    def describe(self, low: int, high: int) -> str:
        """The event in words: the places of one number; of several, which side they speak for, with the places that count most."""
        if len(self.columns) == 1:
            cells = np.searchsorted(EDGES, self.scores[0])
            inside = (low <= cells) & (cells < high)
            others = low <= len(EDGES) // 2 < high  # the places that were hardly seen are in the event
            named = [_end(int(place)) for place in np.argsort(-np.abs(self.scores[0]), kind="stable") if inside[place] != others]
            shown = " or ".join(named[:SHOWN]) + (f" or one of {len(named) - SHOWN} more such" if len(named) > SHOWN else "")
            return f"{self._number(0)} {'is not of these: it ' * others}{shown}"
        side, scores = ("x", self.scores) if high == self.size else ("x'", -self.scores)
        bound = EDGES[low - 1] if high == self.size else -EDGES[high - 1]
        strongest = [np.unravel_index(place, scores.shape) for place in np.argsort(-scores, axis=None, kind="stable")[:SHOWN]]
        most = [f"{self._number(row)} {_end(int(place))}" for row, place in strongest if scores[row, place] > 0.0]
        return f"the places at which numbers end speak for {side} by more than {bound:.1g}, most of all: {' or '.join(most)}"

    def _number(self, row: Any) -> str:
        return f"y[{self.columns[row]}]" if len(self.columns) > 1 else "y"


def learn_digits(left: Outputs, right: Outputs, least: float) -> Partition | None:
    """The partition by last digits that past outputs on x and x' suggest; None where they suggest none beyond a log ratio of `least`.

    To be used on outputs to come only.
    """
    if left.names != right.names or len(left.names) != 1:
        return None
    columns = tuple(i for i, kind in enumerate(kinds(left.names[0])) if kind == "number")
    scores = np.zeros((len(columns), CLASSES))
    significant = False
    for row, column in enumerate(columns):
        a, b = (np.bincount(_ends(side[:EXAMPLES].column(column)), minlength=CLASSES) for side in (left, right))
        scores[row], telling = class_scores(a, b, least, scores.size)
        significant |= telling
    return LastDigits(columns, scores, left.numbers.shape[1]) if significant else None


def class_scores(a: Array, b: Array, least: float, classes: int) -> tuple[Array, bool]:
    """The log ratio of each class of outputs, from counts on x and on x', drawn two standard errors towards 0.

    And whether one of them is beyond `least` for more than luck among so many classes.
    """
    ratio = np.log((a + 0.5) * (b.sum() + 0.5) / ((b + 0.5) * (a.sum() + 0.5)))
    scores = np.sign(ratio) * np.maximum(np.abs(ratio) - 2.0 * np.sqrt(1.0 / (a + 0.5) + 1.0 / (b + 0.5)), 0.0)
    asked = np.abs(scores) > least
    tails = rarer_tails(a[asked], b[asked], a.sum(), b.sum())
    return scores, bool(np.any(tails * 2 * classes < SIGNIFICANT))


def _ends(values: Array) -> Array:
    """The class of each number: at which place it ends."""
    if values.dtype == object:
        return np.array([_exact_end(value) for value in values.tolist()], np.int64)
    if values.dtype.kind != "f":
        return _bits(values)
    ends = np.full(len(values), ENDLESS)
    with np.errstate(all="ignore"):  # infinite numbers, and such as are so near to them that rounding overflows
        fine = np.spacing(np.abs(values)).astype(np.float64) * ROOM
        for places in range(IN_FLOATS, 0, -1):
            ends[(fine <= 0.1**places) & (np.round(values, places) == values)] = BITS + places - 1
        whole = (fine <= 1.0) & (np.floor(values) == values)
    ends[whole] = _bits(values[whole].astype(np.int64))
    return ends


def _bits(values: Array) -> Array:
    """How many times 2 divides each integer, less than BITS."""
    lowest = np.abs((values & -values).astype(np.float64))
    return np.where(lowest == 0.0, BITS - 1, np.minimum(np.frexp(lowest)[1] - 1, BITS - 1)).astype(np.int64)


def _exact_end(value: Any) -> int:
    if isinstance(value, float) and not np.isfinite(value):
        return ENDLESS
    number = Fraction(value)
    if number.denominator == 1:
        return min((number.numerator & -number.numerator).bit_length() - 1, BITS - 1) if number else BITS - 1
    twos = (number.denominator & -number.denominator).bit_length() - 1
    rest, fives = number.denominator >> twos, 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    return BITS + min(max(twos, fives), DECIMALS) - 1 if rest == 1 else ENDLESS


def _end(place: int) -> str:
    """A class in words."""
    if place == ENDLESS:
        return "has no end among decimals"
    if place >= BITS:
        more = " or more" if place == ENDLESS - 1 else ""
        return f"ends at decimal place {place - BITS + 1}{more}"
    if place == 0:
        return "is odd"
    return f"is a multiple of 2^{place}" + ("" if place == BITS - 1 else f" and not of 2^{place + 1}")
