"""Outputs taken apart, for learning: texts as the numbers in them, their length and the rest; shapes whose names are all different as one.

A text of JSON or CSV hides its numbers from a regression, and its whole is never seen twice. A mapping with random keys has a shape of its own
each time. Both are fixed maps of an output, so a partition of what they give is a partition of the outputs.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dpverify.audits.outputs import SHORT, Length, Outputs, encode, kinds
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
        global _last
        if _last is None or _last[0] is not outputs or _last[1] != self:  # many partitions ask for the same outputs
            taken = _texts_apart(outputs) if self.texts else outputs
            _last = (outputs, self, _keyless(taken) if self.keys else taken)
        return _last[2]


_last: tuple[Outputs, Apart, Outputs] | None = None


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
    places, at = [], 0
    for kind in kinds(name):
        if kind in ("str", "bytes"):
            places.append(at)
        at += 1
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
    given: list[Any] = [None] * len(outputs)
    for shape, name in enumerate(outputs.names):
        chosen, texts = _rows(outputs, shape), text_columns(name)
        parts = {column: list(map(_parts, texts_of(outputs, column, chosen))) for column in texts}
        told = [column for column, kind in enumerate(kinds(name)) if column not in texts and kind not in ("str", "bytes")]
        numbers = [outputs.column(column)[chosen].tolist() for column in told]
        for place, row in enumerate(chosen.tolist()):
            given[row] = {name: [[part[place] for part in parts.values()], [column[place] for column in numbers]]}
    return encode(given, len(given)) if given else outputs


def _parts(text: str | bytes) -> list[Any]:
    """The numbers of a text, and what is left of it."""
    if isinstance(text, bytes):
        try:
            said = text.decode()
        except UnicodeDecodeError:
            return [text, Length(len(text))]
    else:
        said = text
    found = _NUMBER.findall(said) if len(said) <= LONGEST else []
    if not 0 < len(found) <= MOST_NUMBERS:
        return [_word(said), Length(len(said))]
    return [_word(_NUMBER.sub("#", said)), Length(len(said)), *map(_value, found)]


def _value(text: str) -> int | float:
    """A number in a text: the float that is nearest, or an integer as it is."""
    return int(text) if text.lstrip("+-").isdecimal() and len(text) < LONG else float(text)


def _word(text: str) -> str:
    """A text that is not taken for a number, even where it is one."""
    return f"{text}\x00"


def _keyless(outputs: Outputs) -> Outputs:
    """The outputs with shapes that leave out what keys are called."""
    names = [_KEY.sub("'*'", name) for name in outputs.names]
    index = {name: place for place, name in enumerate(dict.fromkeys(names))}
    moved = np.array([index[name] for name in names], np.int64)
    shapes = None if len(index) == 1 else moved[0 if outputs.shapes is None else outputs.shapes]
    if shapes is not None and outputs.shapes is None:
        shapes = np.full(len(outputs), moved[0])
    return Outputs(outputs.numbers, shapes, tuple(index), outputs.exact, outputs.forms, outputs.written, outputs.texts)
