"""Leaks in one place of something wide: a bit of an integer, its remainder, a byte of a text, a bit of a float's fraction.

An integer of sixty bits is never seen twice, and one bit in its middle orders nothing: no interval and no repeated value shows it. Of
integers and texts that is an event of the model; the bits of a float are one of its representation. The place is learned from past outputs
alone, and only where it tells x from x' by more than the claim allows: of correct samplers it says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy.special import betainc, expit

from dpverify.audits.derived import text_columns, texts_of
from dpverify.audits.digits import EDGES, SHOWN, SIGNIFICANT, class_scores
from dpverify.audits.outputs import Outputs, kinds
from dpverify.audits.partition import Codes, Partition

Array = np.ndarray[Any, Any]

EXAMPLES: Final = 4096  # outputs of a side that are learned from
COLUMNS: Final = 16  # of an output that are looked at
BYTES: Final = 64  # of a text or an integer; of longer texts the first, of longer integers the last
REMAINDERS: Final = (3, 5, 6, 7, 9, 10, 11, 12, 13, 17, 19, 23, 100, 1000)
WIDE: Final = 1 << 12  # the range of integers that are looked at: what is narrower is seen value by value
BIT, BYTE, REMAINDER = "bit", "byte", "remainder"
SET: Final = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.int64)  # of each byte, its bits


@dataclass(frozen=True, slots=True)
class Place:
    """Seven cells by what stands at one place of a column. of: "integer", "text" or "float"; kind and at: bit, byte or remainder."""

    shape: str
    column: int
    of: str
    kind: str
    at: int
    scores: tuple[float, ...]

    @property
    def size(self) -> int:
        """Seven."""
        return len(EDGES) + 1

    def codes(self, outputs: Outputs) -> Codes:
        """The cell of each output; the middle one for outputs of another shape."""
        cells = np.searchsorted(EDGES, self.scores).astype(np.uint8)
        codes = np.full(len(outputs), np.searchsorted(EDGES, 0.0), np.uint8)
        rows = _rows_of(outputs, self.shape)
        if len(rows):
            if self.kind == REMAINDER:
                classes = _remainders(outputs.column(self.column)[rows], self.at)
            else:
                classes = _classes(_bytes(outputs, rows, self.column, self.of), self.kind, self.at)
            codes[rows] = cells[classes]
        return codes

    def describe(self, low: int, high: int) -> str:
        """The event in words."""
        cells = np.searchsorted(EDGES, self.scores)
        values = [str(value) for value in np.flatnonzero((low <= cells) & (cells < high))]
        shown = " or ".join(values[:SHOWN]) + (f" or one of {len(values) - SHOWN} more" if len(values) > SHOWN else "")
        y = "y" if len(kinds(self.shape)) == 1 else f"y[{self.column}]"
        if self.kind == REMAINDER:
            return f"{y} leaves the remainder {shown or 'none'} when it is divided by {self.at}"
        if self.of == "text":
            bit = f"bit {7 - self.at % 8} of " if self.kind == BIT else ""
            return f"{bit}byte {self.at // 8 if bit else self.at} of the text {y} is {shown or 'none'}"
        width = 8 if self.of == "float" else BYTES
        place = 8 * width - 1 - self.at if self.kind == BIT else width - 1 - self.at
        return f"{self.kind} {place} of {y}, counted from its last, is {shown or 'none'}"


def learn_places(left: Outputs, right: Outputs, least: float) -> Partition | None:
    """The place of integers and texts that past outputs on x and x' suggest; None where none tells beyond a log ratio of `least`."""
    return _learn(left, right, least, ("integer", "text"))


def learn_bits(left: Outputs, right: Outputs, least: float) -> Partition | None:
    """The bit of a float's fraction, likewise."""
    return _learn(left, right, least, ("float",))


def _learn(left: Outputs, right: Outputs, least: float, wanted: tuple[str, ...]) -> Partition | None:
    sides = (left[:EXAMPLES], right[:EXAMPLES])
    found: list[tuple[float, Place]] = []
    for shape in left.names[:COLUMNS]:
        rows = [_rows_of(side, shape) for side in sides]
        if min(map(len, rows)) < 16:
            continue
        known = [(column, of) for column in range(len(kinds(shape))) if (of := _of(sides, rows, shape, column)) in wanted]
        columns = min(len(known), COLUMNS)
        for column, of in known[:columns]:
            found += _places(sides, rows, shape, column, of, least, columns)
    return max(found, key=lambda each: each[0])[1] if found else None


def _places(
    sides: tuple[Outputs, Outputs], rows: list[Array], shape: str, column: int, of: str, least: float, columns: int
) -> list[tuple[float, Place]]:
    """The places of a column, one of so many, that tell, each with how much."""
    matrices = [_bytes(side, chosen, column, of) for side, chosen in zip(sides, rows, strict=True)]
    used = np.flatnonzero([any(np.ptp(matrix[:, place]) for matrix in matrices) for place in range(matrices[0].shape[1])])
    tables: list[tuple[str, Array, list[Array]]] = []  # the kind, the places, and on both sides how often each stands there
    if len(used):
        flat = [(matrix[:, used] + 256 * np.arange(len(used))).ravel() for matrix in matrices]
        bytes_seen = [np.bincount(each, minlength=256 * len(used)).reshape(-1, 256) for each in flat]
        ones = [(seen @ SET).ravel() for seen in bytes_seen]
        zeros = [len(matrix) - each for matrix, each in zip(matrices, ones, strict=True)]
        places = (8 * used[:, None] + np.arange(8)).ravel()
        tables.append((BIT, places, [np.column_stack(each) for each in zip(zeros, ones, strict=True)]))
        if of != "float":
            tables.append((BYTE, used, bytes_seen))
    for modulus in REMAINDERS if of == "integer" else ():
        left = [_remainders(side.column(column)[chosen], modulus) for side, chosen in zip(sides, rows, strict=True)]
        tables.append((REMAINDER, np.array([modulus]), [np.bincount(each, minlength=modulus)[None, :] for each in left]))
    total, found = sum(int(np.count_nonzero(a + b)) for _, _, (a, b) in tables), []
    for kind, places, (a, b) in tables:
        for place in np.flatnonzero(_beyond(a, b, least) * columns * total < SIGNIFICANT):
            scores, _ = class_scores(a[place], b[place], least, a.shape[1])
            worth = float(np.abs(scores) @ (a[place] + b[place])) / float((a[place] + b[place]).sum())
            found.append((worth, Place(shape, column, of, kind, int(places[place]), tuple(scores.tolist()))))
    return found


def _beyond(a: Array, b: Array, least: float) -> Array:
    """Of each row, the least probability, over classes and both sides, of such counts where no log ratio is beyond `least`."""
    tails = [np.where(one > 0, betainc(np.maximum(one, 1), other + 1, expit(least)), 1.0) for one, other in ((a, b), (b, a))]
    return np.asarray(2 * np.minimum(*tails).min(axis=1))


def _rows_of(outputs: Outputs, shape: str) -> Array:
    if shape not in outputs.names:
        return np.empty(0, np.int64)
    return np.arange(len(outputs)) if outputs.shapes is None else np.flatnonzero(outputs.shapes == outputs.names.index(shape))


def _of(sides: tuple[Outputs, Outputs], rows: list[Array], shape: str, column: int) -> str:
    """What a column holds, as far as places of it are looked at: "integer", "text", "float", or nothing."""
    if column in text_columns(shape):
        return "text"
    if kinds(shape)[column] != "number":
        return ""
    values = [side.column(column)[chosen] for side, chosen in zip(sides, rows, strict=True)]
    if all(each.dtype.kind == "f" for each in values):
        return "float" if all(np.isfinite(each).all() and (each != np.floor(each)).any() for each in values) else ""
    whole = all(each.dtype.kind == "i" or all(isinstance(value, int) for value in each.tolist()) for each in values)
    if not whole or max(int(each.max()) for each in values) - min(int(each.min()) for each in values) < WIDE:
        return ""
    return "integer"


def _bytes(outputs: Outputs, rows: Array, column: int, of: str) -> Array:
    """The bytes of each value: (n, width), the most significant first. Of integers those of the value modulo 2^(8 BYTES)."""
    if of == "text":
        said = (text if isinstance(text, bytes) else text.encode(errors="surrogatepass") for text in texts_of(outputs, column, rows))
        return np.frombuffer(b"".join(text[:BYTES].ljust(BYTES, b"\x00") for text in said), np.uint8).reshape(-1, BYTES)
    values = outputs.column(column)[rows]
    if of == "float":
        return values.astype(">f8").view(np.uint8).reshape(-1, 8) if values.dtype.kind == "f" else np.zeros((len(rows), 8), np.uint8)
    if values.dtype.kind == "i":
        matrix = np.zeros((len(values), BYTES), np.uint8)
        matrix[:, -8:] = values.astype(">i8").view(np.uint8).reshape(-1, 8)
        matrix[values < 0, :-8] = 255
        return matrix
    modulus = 1 << 8 * BYTES
    whole = (int(value) % modulus if isinstance(value, int) or value == value // 1 else 0 for value in values.tolist())
    return np.frombuffer(b"".join(value.to_bytes(BYTES, "big") for value in whole), np.uint8).reshape(-1, BYTES)


def _classes(matrix: Array, kind: str, at: int) -> Array:
    """What stands at a bit or a byte."""
    if kind == BYTE:
        return matrix[:, at].astype(np.int64)
    return (matrix[:, at // 8] >> (7 - at % 8) & 1).astype(np.int64)


def _remainders(values: Array, modulus: int) -> Array:
    """The remainder of each integer; 0 of what is none."""
    if values.dtype.kind == "i":
        return values % modulus
    return np.array([value % modulus if isinstance(value, int) else 0 for value in values.tolist()], np.int64)
