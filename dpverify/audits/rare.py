"""Rare events that one side shows and the other does not: values beyond the others' extremes, single values, shapes.

A learned score is smooth, and says next to nothing of what happens once in ten thousand runs: noise that is cut off, a true answer that is
released now and then. Such events are looked for by themselves in past outputs, and bet on in those to come. An output in an event that
only x shows is one on x, which the claim lets be true of at most e^epsilon in 1 + e^epsilon of them: bets on it are exact binomial
ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy.special import xlogy

from dpverify.audits.bets import Law
from dpverify.audits.outputs import Outputs, kinds, words
from dpverify.audits.partition import Codes, CurvePoint

Array = np.ndarray[Any, Any]
Floats = np.ndarray[Any, np.dtype[np.float64]]

AGAINST, NEITHER, FOR = 0, 1, 2  # cells: outputs that speak for x', for neither, and for x
FARTHEST: Final = 20_000  # outputs a side that are looked at from each end of a column,
FRACTION: Final = 20  # and one in so many at most: what is more frequent is for learned scores
COLUMNS: Final = 32  # numbers of an output that are looked at
RULES: Final = 24
VALUES: Final = 12  # single values, at most
CLEAR: Final = 2.0  # nats, about 7 to 1, that past outputs in an event must show against the claim
LEAST: Final = 3  # of them, or where values hardly ever repeat a value that did
LOOKED: Final = 32  # values that repeat, beyond which that is nothing unusual
PRIOR: Final = 0.5  # of an output, on each side, added to what was seen


@dataclass(frozen=True, slots=True)
class Rule:
    """An event: outputs of a shape whose number in one column is "above" or "below" a value, or "equal" to it, or any ("shape")."""

    shape: str
    column: int
    kind: str
    value: float
    cell: int

    def holds(self, numbers: Array) -> Any:
        """Of which of the outputs (n, width) of its shape it is true: (n,), or a bool of all."""
        if self.kind == "shape":
            return True
        column = numbers[:, self.column]
        if self.kind == "equal":
            return column == self.value
        return column > self.value if self.kind == "above" else column < self.value

    def covers(self, other: Rule) -> bool:
        """Whether all outputs of a single value are in this event, of the same cell."""
        same = (self.shape, self.column, self.cell) == (other.shape, other.column, other.cell) and other.kind == "equal"
        return same and ((self.kind == "above" and other.value > self.value) or (self.kind == "below" and other.value < self.value))

    @property
    def text(self) -> str:
        """The event in words."""
        width = len(kinds(self.shape))
        name = "output" if width == 1 else f"output[{self.column}]"
        if self.kind == "shape":
            return f"an output of the form {self.shape}"
        if self.kind == "equal":
            known = kinds(self.shape)[self.column]
            return f"{name} == {words(known, [self.value])}"
        return f"{name} {'>' if self.kind == 'above' else '<'} {self.value:.10g}"


@dataclass(frozen=True, slots=True)
class Rare:
    """The partition into outputs that speak for x', for neither and for x, by rules, of which the first that holds decides.

    law: of the three cells on x and on x', as past outputs let expect it.
    """

    rules: tuple[Rule, ...]
    law: Law

    @property
    def size(self) -> int:
        """The number of cells."""
        return 3

    def codes(self, outputs: Outputs) -> Codes:
        """The cell of each output."""
        codes = np.full(len(outputs), NEITHER, np.uint8)
        for rule in reversed(self.rules):
            for index, name in enumerate(outputs.names):
                if name != rule.shape:
                    continue
                held = rule.holds(outputs.numbers)
                if outputs.shapes is not None:
                    held = held & (outputs.shapes == index)
                if np.any(held):
                    codes[held] = rule.cell
        return codes

    def describe(self, low: int, high: int) -> str:
        """The event {low <= cell < high}: the rules in it, or those that are not, without values that an earlier one has."""
        told = [rule for place, rule in enumerate(self.rules) if not any(earlier.covers(rule) for earlier in self.rules[:place])]
        inside = [rule.text for rule in told if low <= rule.cell < high]
        if not low <= NEITHER < high:
            return " or ".join(inside) or "no output"
        outside = [rule.text for rule in told if not low <= rule.cell < high]
        return f"not ({' or '.join(outside)})" if outside else "any output"


def learn_rare(left: Outputs, right: Outputs, point: CurvePoint, given: tuple[Any, Any] | None = None) -> Rare | None:
    """The rare events in past outputs on x and x' that speak against a point of the claim; None where there are none.

    given: the inputs. A number of one of them that the other has not is a value that is worth looking out for, seen or not.
    """
    if left.exact is not None or right.exact is not None:
        return None
    found = sorted(_found(left, right, point), key=lambda each: -each[0])
    rules, values = [], 0
    for _, rule in found:
        values += rule.kind == "equal"
        if rule.kind != "equal" or values <= VALUES:
            rules.append(rule)
    rules = rules[:RULES] + [rule for rule in _of_inputs(left, given) if rule not in rules]
    if not rules:
        return None
    blank = Rare(tuple(rules), (np.ones(3) / 3, np.ones(3) / 3))
    seen = [np.bincount(blank.codes(side), minlength=3) for side in (left, right)]
    law = tuple((counts + PRIOR * np.array([1, 0, 1])) / (len(side) + 2 * PRIOR) for counts, side in zip(seen, (left, right), strict=True))
    return Rare(tuple(rules), (law[0], law[1]))


def _found(left: Outputs, right: Outputs, point: CurvePoint) -> Iterator[tuple[float, Rule]]:
    """Events, and how many nats past outputs speak against the claim by them."""
    for name in dict.fromkeys((*left.names, *right.names)):
        ours, theirs = (_rows(side, name) for side in (left, right))
        runs = max(len(left), len(right))
        for cell, a, b in ((FOR, len(ours), len(theirs)), (AGAINST, len(theirs), len(ours))):
            if b == 0 and a >= LEAST and a < runs:
                yield float(_evidence(a, b, runs, point)), Rule(name, 0, "shape", 0.0, cell)
        for column, kind in enumerate(kinds(name)[:COLUMNS]):
            one, other = (side[:, column].astype(np.float64) for side in (ours, theirs))
            if not len(one) + len(other):
                continue
            if kind not in ("str", "bytes", "bool"):
                yield from _ends(one, other, runs, point, name, column)
            yield from _repeated(one, other, runs, point, name, column)


def _rows(outputs: Outputs, name: str) -> Array:
    """The numbers of the outputs of a shape."""
    if name not in outputs.names:
        return np.empty((0, len(kinds(name))))
    return outputs.numbers if outputs.shapes is None else outputs.numbers[outputs.shapes == outputs.names.index(name)]


def _evidence(hits: Any, others: Any, runs: int, point: CurvePoint) -> Floats:
    """Nats that so many outputs of one side against so many of the other in an event say against the claim; 0 where it allows them."""
    allowed = point.delta * runs
    hits = np.maximum(np.asarray(hits, np.float64) - allowed - 2 * np.sqrt(allowed), 0)
    others = np.asarray(others, np.float64)
    most = 1 / (1 + np.exp(-point.epsilon))
    share = hits / np.maximum(hits + others, 1)
    nats = xlogy(hits, share / most) + xlogy(others, (1 - share) * (1 + np.exp(min(point.epsilon, 700.0))))
    return np.where(share > most, nats, 0.0)


def _ends(one: Floats, other: Floats, runs: int, point: CurvePoint, name: str, column: int) -> Iterator[tuple[float, Rule]]:
    """Of each end of a column the farthest outputs that say the most."""
    for kind, sign in (("above", 1.0), ("below", -1.0)):
        most = min(FARTHEST, max(len(one), len(other)) // FRACTION)
        if most < LEAST:
            continue
        far = [np.sort(_largest(sign * side, most + 1)) for side in (one, other)]
        floor = max((side[0] for side in far if len(side) > most), default=-np.inf)  # below it some are not here
        values = np.unique(np.concatenate(far))
        a, b = (len(side) - np.searchsorted(side, values, "right") for side in far)  # beyond each value
        whole = (values >= floor) & (a <= most) & (b <= most)
        for cell, hits, others in ((FOR, a, b), (AGAINST, b, a)):
            nats = np.where(whole, _evidence(hits, others, runs, point), 0.0)
            best = int(np.argmax(nats)) if len(nats) else 0
            if len(nats) and nats[best] >= CLEAR and hits[best] >= LEAST:
                yield float(nats[best]), Rule(name, column, kind, float(sign * values[best]), cell)


def _largest(values: Floats, count: int) -> Floats:
    return values if len(values) <= count else np.partition(values, len(values) - count)[-count:]


def _repeated(one: Floats, other: Floats, runs: int, point: CurvePoint, name: str, column: int) -> Iterator[tuple[float, Rule]]:
    """Single values of a column that repeat on one side, and on the other seldom or never."""
    both = np.sort(np.concatenate([one, other]))
    first = np.flatnonzero(np.concatenate([[True], both[1:] != both[:-1]]))
    counts = np.diff(np.append(first, len(both)))
    often = counts >= 2
    values, counts = both[first[often]], counts[often]
    if not len(values):
        return
    mine = np.sort(one)
    a = np.searchsorted(mine, values, "right") - np.searchsorted(mine, values, "left")
    b = counts - a
    need = CLEAR if len(values) > LOOKED else 0.0
    for cell, hits, others in ((FOR, a, b), (AGAINST, b, a)):
        nats = _evidence(hits, others, runs, point)
        for index in np.argsort(-nats, kind="stable")[:VALUES].tolist():
            if nats[index] > need and hits[index] <= runs // FRACTION:
                yield float(nats[index]), Rule(name, column, "equal", float(values[index]), cell)


def _of_inputs(seen: Outputs, given: tuple[Any, Any] | None) -> Iterator[Rule]:
    """The numbers of one input that the other has not in that place, or in any."""
    if given is None or len(seen.names) != 1:
        return
    left, right = map(_numbers, given)
    name = seen.names[0]
    columns = [column for column, kind in enumerate(kinds(name)[:COLUMNS]) if kind == "number"]
    for cell, own, others in ((FOR, left, right), (AGAINST, right, left)):
        same = len(own) == len(others) == len(columns)
        for place, column in enumerate(columns):
            here, there = (own[place : place + 1], others[place : place + 1]) if same else (own, others)
            fresh = sorted({*here} - {*there})[:2]
            yield from (Rule(name, column, "equal", value, cell) for value in fresh)


def _numbers(data: Any) -> Sequence[float]:
    """The numbers of an input that is a number or a list of them; none of another."""
    if isinstance(data, bool):
        return []
    try:
        numbers = np.atleast_1d(np.asarray(data, np.float64))
    except (TypeError, ValueError, OverflowError):
        return []
    return numbers.tolist() if numbers.ndim == 1 and len(numbers) <= COLUMNS else []
