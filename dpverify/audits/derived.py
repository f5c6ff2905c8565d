"""Outputs taken apart, for learning: texts as the numbers in them, their length and the rest; shapes whose names are all different as one.

A text of JSON or CSV hides its numbers from a regression, and its whole is never seen twice. A mapping with random keys has a shape of its
own each time. Both are fixed maps of an output, so a partition of what they give is a partition of the outputs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dpverify.audits.outputs import SHORT, Outputs, concatenate, kinds, of_leaves
from dpverify.audits.partition import Codes, Partition

Array = np.ndarray[Any, Any]

REPEATED: Final = 0.9  # of the texts that were seen: where more are seen again and again, they are words, and stay whole
MOST_NUMBERS: Final = 64  # in one text; of one that has more, none is looked at
LONGEST: Final = 20_000  # characters
LONG: Final = 1000  # digits: such an integer is infinite
COMMON: Final = 0.9  # of outputs: where fewer have a shape that is seen often, keys are left out of shapes
OFTEN: Final = 5
_NUMBER: Final = re.compile(r"(?<![\w.])[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?(?![\w])", re.ASCII)
_KEY: Final = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")


@dataclass(frozen=True, slots=True, eq=False)
class Apart:
    """Which parts of outputs are taken apart: texts, keys, or both."""

    texts: bool
    keys: bool

    def of(self, outputs: Outputs) -> Outputs:
        """The outputs taken apart."""
        if not _last or _last[0] is not outputs:  # many partitions ask for the same outputs
            _last[:] = [outputs, {}]
        known: dict[Apart, Outputs] = _last[1]
        if self not in known:
            taken = _texts_apart(outputs) if self.texts else outputs
            known[self] = _keyless(taken) if self.keys else taken
        return known[self]


_last: Final[list[Any]] = []


def apart(past: Outputs) -> Apart | None:
    """What to take apart, by what was seen; None where nothing hides."""
    how = Apart(_hides_numbers(past), False)
    seen = how.of(past)
    counts = np.array([len(seen)]) if seen.shapes is None else np.bincount(seen.shapes, minlength=len(seen.names))
    how = Apart(how.texts, float(counts[counts >= OFTEN].sum()) < COMMON * len(seen))
    return how if how.texts or how.keys else None


@dataclass(frozen=True, slots=True, eq=False)
class TakenApart:
    """A partition of outputs that are taken apart. expected: as of the partition."""

    partition: Partition
    how: Apart
    expected: np.ndarray[Any, np.dtype[np.float64]]

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.partition.size

    def codes(self, outputs: Outputs) -> Codes:
        """The cell of each output."""
        return self.partition.codes(self.how.of(outputs))

    def describe(self, low: int, high: int) -> str:
        """The event, and what it is an event of."""
        texts = "each text is its numbers, its length and the rest" if self.how.texts else ""
        keys = "keys are left out" if self.how.keys else ""
        return f"{self.partition.describe(low, high)}, where {' and '.join(part for part in (texts, keys) if part)}"


def text_columns(name: str) -> tuple[int, ...]:
    """Which numbers of a shape stand for texts that are no numbers."""
    places = [place for place, kind in enumerate(kinds(name)) if kind in ("str", "bytes")]
    return tuple(place for place in places if not _numeral(name, place))


def texts_of(outputs: Outputs, column: int, rows: Array) -> list[str | bytes]:
    """The texts that the numbers of a column stand for; "" for a long one that was not kept."""
    kept = None if outputs.texts is None else outputs.texts[rows, column].tolist()
    found: list[str | bytes] = []
    for place, code in enumerate(outputs.numbers[rows, column].tolist()):
        said = "" if kept is None else kept[place]
        found.append(said if len(said) or code >= 2**52 else _short(int(code)))
    return found


def _short(code: int) -> bytes:
    """A text of at most six bytes from its number."""
    return code.to_bytes(SHORT + 1, "big").lstrip(b"\x00")[1:]


def _numeral(name: str, place: int) -> bool:
    """Whether a text is one of a number, which is there beside it."""
    at = 0
    for match in re.finditer(r"\b(numeral|decimal|complex|number|bool|str|bytes|length)\b(?: x (\d+))?", _KEY.sub("''", name)):
        width = {"numeral": 2, "decimal": 2, "complex": 2}.get(match[1], 1) * int(match[2] or 1)
        if at <= place < at + width:
            return match[1] in ("numeral", "decimal")
        at += width
    return False


def _hides_numbers(past: Outputs) -> bool:
    """Whether there are texts that are seldom seen again."""
    seen: Counter[float] = Counter()
    for shape, name in enumerate(past.names):
        rows = _rows(past, shape)
        for column in text_columns(name) if len(rows) else ():
            seen.update(past.numbers[rows, column].tolist())
    total = sum(seen.values())
    return bool(total) and sum(count for count in seen.values() if count > 2) < REPEATED * total


def _rows(outputs: Outputs, shape: int) -> Array:
    return np.arange(len(outputs)) if outputs.shapes is None else np.flatnonzero(outputs.shapes == shape)


def _texts_apart(outputs: Outputs) -> Outputs:
    """Each text as a text without its numbers, its length, and its numbers; under the shape that it was part of."""
    parts, places = [], []
    for shape, name in enumerate(outputs.names):
        rows, texts = _rows(outputs, shape), text_columns(name)
        told = [("number", column) for column, kind in enumerate(kinds(name)) if column not in texts and kind not in ("str", "bytes")]
        read = [list(map(_parts, texts_of(outputs, column, rows))) for column in texts]
        alike: dict[tuple[int, ...], list[int]] = {}
        for place, row in enumerate(zip(*read, strict=True) if read else [()] * len(rows)):
            alike.setdefault(tuple(len(numbers) for _, _, numbers in row), []).append(place)
        for counts, chosen in alike.items():
            leaves: list[tuple[str, Sequence[Any]]] = []
            for column, count in zip(read, counts, strict=True):
                words, lengths, numbers = zip(*(column[place] for place in chosen), strict=True)
                leaves += [("str", words), ("length", lengths)]
                leaves += [("number", each) for each in zip(*numbers, strict=True)] if count else []
            leaves += [(kind, outputs.column(column)[rows[chosen]].tolist()) for kind, column in told]
            parts.append(of_leaves(repr(name), leaves, len(chosen)))
            places.append(rows[chosen])
    return concatenate(parts)[np.argsort(np.concatenate(places), kind="stable")] if parts else outputs


def _parts(text: str | bytes) -> tuple[str | bytes, int, tuple[int | float, ...]]:
    """A text without its numbers, its length, and its numbers."""
    try:
        said = text.decode() if isinstance(text, bytes) else text
    except UnicodeDecodeError:
        return text, len(text), ()
    found = _NUMBER.findall(said) if len(said) <= LONGEST else []
    if not 0 < len(found) <= MOST_NUMBERS:
        return said, len(said), ()
    return _NUMBER.sub("#", said), len(said), tuple(map(_value, found))


def _value(text: str) -> int | float:
    """A number in a text: the float that is nearest, or an integer as it is."""
    return int(text) if text.lstrip("+-").isdecimal() and len(text) < LONG else float(text)


def _keyless(outputs: Outputs) -> Outputs:
    """The outputs with shapes that leave out what keys are called."""
    names = [_KEY.sub("'*'", name) for name in outputs.names]
    index = {name: place for place, name in enumerate(dict.fromkeys(names))}
    moved = np.array([index[name] for name in names], np.int64)
    shapes = None if len(index) == 1 else moved[0 if outputs.shapes is None else outputs.shapes]
    if shapes is not None and outputs.shapes is None:
        shapes = np.full(len(outputs), moved[0])
    return Outputs(outputs.numbers, shapes, tuple(index), outputs.exact, outputs.forms, outputs.written, outputs.texts)
