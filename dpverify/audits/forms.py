"""Leaks in how an output is written, where its numbers are the same: types of numbers, the order of keys, and the sign of zero.

1 and 1.0 are one number, and so are 0.0 and -0.0; {"a": 1, "b": 2} is {"b": 2, "a": 1}. Whoever gets the output sees which it is. Types and
the order of keys are events of the model; the sign of zero is one of floats alone. Both partitions are learned from past outputs, and only
where these tell x from x' by more than the claim allows: of correct samplers they say nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dpverify.audits.digits import EDGES, SHOWN, class_scores
from dpverify.audits.outputs import Outputs, concatenate
from dpverify.audits.partition import Codes, Partition

Array = np.ndarray[Any, Any]

MOST_FORMS: Final = 256  # with a score of their own


@dataclass(frozen=True, slots=True)
class Forms:
    """Seven cells by how much the form of an output spoke for x against x' in the past. scores: of each form, its log ratio."""

    scores: tuple[tuple[str, float], ...]

    @property
    def size(self) -> int:
        """Seven."""
        return len(EDGES) + 1

    def codes(self, outputs: Outputs) -> Codes:
        """The cell of each output; the middle one for forms that were hardly seen."""
        known = dict(self.scores)
        cells = np.searchsorted(EDGES, [known.get(form, 0.0) for form in outputs.written]).astype(np.uint8)
        return np.full(len(outputs), cells[0]) if outputs.forms is None else cells[outputs.forms]

    def describe(self, low: int, high: int) -> str:
        """The event in words."""
        others = low <= len(EDGES) // 2 < high
        named = [form for form, score in self.scores if (low <= np.searchsorted(EDGES, score) < high) != others]
        shown = " or ".join(f"<{form}>" for form in named[:SHOWN]) + (f" or {len(named) - SHOWN} more such" if len(named) > SHOWN else "")
        return f"the types of numbers and the keys of the output, in their order, are {'none of these: ' * others}{shown}"


@dataclass(frozen=True, slots=True)
class Zeros:
    """Seven cells by how much the signs of an output's zeros spoke for x against x' in the past. scores: (width, 2), of 0.0 and of -0.0."""

    scores: Array

    @property
    def size(self) -> int:
        """Seven."""
        return len(EDGES) + 1

    def codes(self, outputs: Outputs) -> Codes:
        """The cell of each output; the middle one for outputs of another width."""
        total = np.zeros(len(outputs))
        if outputs.numbers.shape[1] == len(self.scores):
            for scores, y in zip(self.scores, outputs.numbers.T, strict=True):
                total += np.where(y == 0, scores[np.signbit(y).astype(np.int64)], 0.0)
        return np.searchsorted(EDGES, total).astype(np.uint8)

    def describe(self, low: int, high: int) -> str:
        """The event in words, with the zeros that count most."""
        side, scores = ("x", self.scores) if high == self.size else ("x'", -self.scores)
        bound = EDGES[low - 1] if high == self.size else -EDGES[high - 1]
        strongest = [np.unravel_index(place, scores.shape) for place in np.argsort(-scores, axis=None, kind="stable")[:SHOWN]]
        most = [f"y[{column}] is {'-' * int(sign)}0.0" for column, sign in strongest if scores[column, sign] > 0.0]
        return f"the signs of zeros speak for {side} by more than {bound:.1g}, most of all: {' or '.join(most)}"


def learn_forms(left: Outputs, right: Outputs, least: float) -> Partition | None:
    """The partition by forms that past outputs on x and x' suggest; None where they suggest none beyond a log ratio of `least`.

    To be used on outputs to come only.
    """
    both = concatenate([left, right])
    if both.forms is None:
        return None
    a, b = (np.bincount(part, minlength=len(both.written)) for part in (both.forms[: len(left)], both.forms[len(left) :]))
    often = np.argsort(-(a + b), kind="stable")[:MOST_FORMS]
    scores, telling = class_scores(a, b, least, len(a))
    scored = sorted(((both.written[form], float(scores[form])) for form in often), key=lambda each: -abs(each[1]))
    return Forms(tuple(each for each in scored if each[1])) if telling else None


def learn_zeros(left: Outputs, right: Outputs, least: float) -> Partition | None:
    """The partition by the signs of zeros that past outputs on x and x' suggest; None where they suggest none, as for `learn_forms`."""
    width = left.numbers.shape[1]
    if left.numbers.dtype.kind != "f" or right.numbers.dtype.kind != "f" or right.numbers.shape[1] != width:
        return None
    scores, significant = np.zeros((width, 2)), False
    for column in range(width):
        a, b = (_signs(side.numbers[:, column]) for side in (left, right))
        if min(a[1] + b[1], a[0] + b[0]):  # both signs were seen
            scored, telling = class_scores(a, b, least, 3 * width)
            scores[column], significant = scored[:2], significant or telling
    return Zeros(scores) if significant else None


def _signs(y: Array) -> Array:
    """How many are 0.0, -0.0, and neither."""
    zero, negative = y == 0, np.signbit(y)
    return np.array([np.sum(zero & ~negative), np.sum(zero & negative), np.sum(~zero)])
