"""Outputs of any shape as skeleton plus numbers."""

from __future__ import annotations

import enum
import hashlib
import inspect
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from itertools import groupby
from numbers import Complex, Real
from typing import Any, Final

import numpy as np

Array = np.ndarray[Any, Any]


class NotAnOutput(ValueError):
    """What a sampler gave back is no output: "nan in output 3", "3 outputs instead of 100", "a generator"."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """n outputs: what shape each has, and its numbers.

    numbers: (n, width), float64, or float32, int64 where all outputs are that; entries that a shape does not have are 0.
    shapes: (n,) index into `names`; None where all have one shape.
    names: each shape in words, such as "number", "[str, None, number]", "[bool x 10]", "None"; the identity of a shape in every batch.
    """

    numbers: Array
    shapes: np.ndarray[Any, np.dtype[np.int64]] | None = None
    names: tuple[str, ...] = ("number",)

    def __len__(self) -> int:
        """How many outputs there are."""
        return len(self.numbers)

    def __getitem__(self, part: slice | np.ndarray[Any, Any]) -> Outputs:
        """Some of the outputs."""
        return Outputs(self.numbers[part], None if self.shapes is None else self.shapes[part], self.names)


def encode(raw: object, n: int) -> Outputs:
    """What a sampler returned for n outputs: an array with n rows, or a sequence of n outputs of any kind.

    Integers, floats, fractions and numpy numbers are "number"; bool, str, bytes, complex (two numbers) and None are themselves;
    lists, tuples, arrays, series, mappings, sets and dataclasses are structure. A nan, a masked value, a generator, a coroutine,
    another length than n, or an object that equals nothing but itself raises NotAnOutput. Infinite numbers are outputs.
    """
    rows = _sequence(raw)
    if len(rows) != n:
        raise NotAnOutput(f"{len(rows)} outputs instead of {n}")
    if not isinstance(rows, np.ndarray) and set(map(type, rows)) == {np.ndarray} and len({(row.shape, row.dtype) for row in rows}) == 1:
        rows = np.stack(rows)
    if isinstance(rows, np.ndarray) and rows.dtype.kind in _DTYPES:
        kind, inner = _DTYPES[rows.dtype.kind], rows.shape[1:]
        outputs = Outputs(_numbers(kind, rows.reshape(n, math.prod(inner))), None, (_array_name(kind, inner),))
    else:
        outputs = _collect(list(rows))
    numbers = outputs.numbers
    if numbers.size and np.isnan(numbers.min()):  # min hands a nan on, and takes no memory
        raise NotAnOutput(f"nan in output {int(np.isnan(numbers).any(axis=1).argmax())} of {n}")
    return outputs


@cache
def kinds(name: str) -> tuple[str, ...]:
    """The kind of each number of an output of the shape `name`."""
    leaves = [(match["kind"], int(match["count"] or 1)) for match in _TOKEN.finditer(name) if match["kind"]]
    return tuple(kind for kind, count in leaves for _ in range(_WIDTHS[kind] * count))


@cache
def size(name: str) -> int:
    """How many leaves an output of the shape `name` has, None among them."""
    return sum(int(match["count"] or 1) for match in _TOKEN.finditer(name) if match["kind"])


def words(name: str, numbers: Iterable[float]) -> str:
    """One output in words, from its shape and numbers: "[True, None, 3.5]"."""
    left = iter(numbers)

    def fill(match: re.Match[str]) -> str:
        kind = match["kind"]
        if kind is None:
            return match[0]
        return ", ".join(_word(kind, [next(left) for _ in range(_WIDTHS[kind])]) for _ in range(int(match["count"] or 1)))

    return _TOKEN.sub(fill, name)


_WIDTHS: Final[Mapping[str, int]] = {"number": 1, "bool": 1, "str": 1, "bytes": 1, "complex": 2, "None": 0}
_DTYPES: Final[Mapping[str, str]] = {
    "f": "number", "i": "number", "u": "number", "b": "bool", "U": "str", "S": "bytes", "c": "complex",
}  # fmt: skip
# Names of classes and keys stand in quotes, so that none of them is taken for a kind.
_TOKEN: Final = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|(?P<kind>number|bool|str|bytes|complex|None)(?: x (?P<count>\d+))?")


def _sequence(raw: object) -> Sequence[Any] | Array:
    """The outputs as something with a length, or NotAnOutput with the reason."""
    if inspect.isgenerator(raw) or inspect.isasyncgen(raw):
        raise NotAnOutput("a generator instead of outputs: return a list")
    if inspect.isawaitable(raw):
        raise NotAnOutput("a coroutine instead of outputs: the sampler must not be async")
    if raw is None or isinstance(raw, (str, bytes, Mapping, set, frozenset)):
        raise NotAnOutput(f"{'None' if raw is None else f'a {type(raw).__name__}'} instead of a sequence of outputs")
    if isinstance(raw, (list, tuple)):
        return raw
    if hasattr(raw, "__array__"):
        array = _unmasked(raw)
        if array.ndim == 0:
            raise NotAnOutput(f"one {array.dtype} instead of a sequence of outputs")
        return array
    if isinstance(raw, Collection):
        return list(raw)
    raise NotAnOutput(f"a {type(raw).__name__} instead of a sequence of outputs")


def _unmasked(value: object) -> Array:
    if isinstance(value, np.ma.MaskedArray) and np.ma.getmaskarray(value).any():
        raise NotAnOutput("a masked value")
    return np.asarray(value)


def _numbers(kind: str, values: Array) -> Array:
    """Values of one kind, shape (n, d), as numbers: shape (n, d), or (n, 2 d) for complex ones; copied only where they must change."""
    if kind in ("str", "bytes"):
        distinct, where = np.unique(values, return_inverse=True)
        return np.array([_text(value) for value in distinct.tolist()], np.float64)[where].reshape(values.shape)
    if kind == "complex":
        return np.ascontiguousarray(values, np.complex128).view(np.float64)
    if values.dtype.kind in "bi":
        return values.astype(np.int64, copy=False)
    if values.dtype.kind == "u":
        return values.astype(np.int64 if not values.size or values.max() < 2**63 else np.float64)
    return values.astype(np.float32 if values.dtype.itemsize <= 4 else np.float64, copy=False)


def _text(value: str | bytes) -> float:
    """Equal texts, equal numbers, in every process: texts up to 6 bytes can be read back, longer ones are hashes of 52 bits."""
    data = value.encode(errors="surrogatepass") if isinstance(value, str) else value
    if len(data) <= 6:
        return float(int.from_bytes(b"\x01" + data, "big"))
    return float(2**52 + (int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big") >> 12))


def _word(kind: str, values: Sequence[float]) -> str:
    """One leaf in words."""
    if kind in ("str", "bytes"):
        code = int(values[0])
        if code >= 2**52:
            return f"<{kind} of hash {code - 2**52:x}>"
        data = code.to_bytes(7, "big").lstrip(b"\x00")[1:]
        return repr(data.decode(errors="replace") if kind == "str" else data)
    if kind == "complex":
        return repr(complex(*map(float, values)))
    if kind == "bool":
        return str(bool(values[0]))
    if kind == "None":
        return "None"
    return str(int(values[0])) if float(values[0]).is_integer() else repr(float(values[0]))


@cache
def _kind(type_: Any) -> str | None:
    """The kind of a leaf of this type; None for what has structure."""
    if not isinstance(type_, type) or issubclass(type_, enum.Enum):
        return None
    for kind, types in _KINDS:
        if issubclass(type_, types):
            return kind
    return None


_KINDS: Final[tuple[tuple[str, tuple[type, ...]], ...]] = (
    ("None", (type(None),)), ("bool", (bool, np.bool_)), ("str", (str,)), ("bytes", (bytes,)),
    ("number", (Real,)), ("complex", (Complex,)),
)  # fmt: skip


def _bracket(names: Iterable[str]) -> str:
    """[number, number, None] as "[number x 2, None]"."""
    runs = [(name, len(list(run))) for name, run in groupby(names)]
    return "[" + ", ".join(f"{name} x {n}" if n > 1 and name in _WIDTHS else ", ".join([name] * n) for name, n in runs) + "]"


@cache
def _array_name(kind: str, shape: tuple[int, ...]) -> str:
    return _bracket([_array_name(kind, shape[1:])] * shape[0]) if shape else kind


def _collect(rows: list[Any]) -> Outputs:
    """Outputs of any kind. Those with leaves of the same types are read column by column."""
    groups: dict[Any, list[int]] = {}
    types = set(map(type, rows))
    flat = {type_: _kind(type_) for type_ in types}
    if len(types) == 1 and None not in flat.values():
        groups[types.pop()] = list(range(len(rows)))
    else:
        for index, row in enumerate(rows):
            key = type(row) if flat[type(row)] is not None or type(row) not in (list, tuple) else tuple(map(type, row))
            groups.setdefault(key, []).append(index)

    names: dict[str, int] = {}
    parts: list[tuple[list[int], int, list[Array]]] = []
    for key, places in groups.items():
        chosen = rows if len(groups) == 1 else [rows[place] for place in places]
        for name, inside, leaves in _read(key, places, chosen):
            columns = [_column(kind, values) for kind, values in leaves if kind != "None"]
            parts.append((inside, names.setdefault(name, len(names)), columns))

    size = max((sum(column.shape[1] for column in columns) for _, _, columns in parts), default=0)
    exact = all(column.dtype == np.int64 for _, _, columns in parts for column in columns)
    numbers = np.zeros((len(rows), size), np.int64 if exact else np.float64)
    shapes = np.zeros(len(rows), np.int64)
    for places, shape, columns in parts:
        where: slice | Array = slice(None) if len(parts) == 1 else np.array(places)
        shapes[where] = shape
        start = 0
        for column in columns:
            numbers[where, start : start + column.shape[1]] = column
            start += column.shape[1]
    return Outputs(numbers, shapes if len(names) > 1 else None, tuple(names) or ("number",))


Leaves = Iterable[tuple[str, Sequence[Any]]]


def _read(key: Any, places: list[int], rows: Sequence[Any]) -> Iterator[tuple[str, list[int], Leaves]]:
    """The name, places and leaves (kind, values) of outputs that have one type, or are lists of leaves of the same types."""
    kinds = [_kind(type_) for type_ in (key if isinstance(key, tuple) else (key,))]
    known = [kind for kind in kinds if kind is not None]
    if len(known) == len(kinds):
        if isinstance(key, tuple):
            yield _bracket(known), places, zip(known, zip(*rows, strict=True), strict=True)
        else:
            yield known[0], places, [(known[0], rows)]
        return
    groups: dict[tuple[str, tuple[str, ...]], tuple[list[int], list[list[Any]]]] = {}
    for place, row in zip(places, rows, strict=True):
        leaves: list[tuple[str, Any]] = []
        name = _walk(row, leaves)
        where, values = groups.setdefault((name, tuple(kind for kind, _ in leaves)), ([], []))
        where.append(place)
        values.append([value for _, value in leaves])
    for (name, inside), (where, values) in groups.items():
        yield name, where, zip(inside, zip(*values, strict=True), strict=True)


def _column(kind: str, values: Sequence[Any]) -> Array:
    """One leaf of many outputs of one shape: (n, 1), or (n, 2) for complex."""
    if kind in ("str", "bytes"):
        codes = {value: _text(value) for value in set(values)}
        return np.array([codes[value] for value in values], np.float64)[:, None]
    try:
        array = np.array(values)
    except (OverflowError, ValueError):
        array = np.array(values, object)
    if array.dtype.kind not in "biufc":
        array = np.array([_float(value) for value in values])
    return _numbers(kind, array[:, None])


def _float(value: Any) -> float:
    """Any real number; an integer beyond all floats is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _walk(value: Any, leaves: list[tuple[str, Any]]) -> str:
    """The shape of one output in words; its leaves are appended to `leaves`."""
    type_: Any = type(value)
    kind = _kind(type_)
    if kind is not None:
        leaves.append((kind, value))
        return kind
    if isinstance(value, enum.Enum):
        return repr(f"{type(value).__name__}.{value.name}")
    if is_dataclass(value) and not isinstance(value, type):
        inside = ", ".join(f"{field.name!r}: {_walk(getattr(value, field.name), leaves)}" for field in fields(value))
        return f"{type(value).__name__!r}{{{inside}}}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{str(key)!r}: {_walk(value[key], leaves)}" for key in sorted(value, key=repr)) + "}"
    if isinstance(value, (set, frozenset)):
        return "set" + _bracket([_walk(item, leaves) for item in sorted(value, key=_set_order)])
    if hasattr(value, "__array__"):
        value = _unmasked(value).tolist()
        return _walk(value, leaves)
    if inspect.isgenerator(value) or inspect.isawaitable(value) or callable(value):
        raise NotAnOutput(f"a {type(value).__name__} inside an output")
    if isinstance(value, Collection):
        return _bracket([_walk(item, leaves) for item in value])
    if {getattr(type(value), "__eq__"), getattr(type(value), "__repr__")} & {object.__eq__, object.__repr__}:  # noqa: B009
        raise NotAnOutput(f"a {type(value).__name__}, which is equal to nothing but itself: return numbers, texts or lists of them")
    leaves.append(("str", repr(value)))
    return f"{type(value).__name__!r}(str)"


def _set_order(item: Any) -> tuple[str, Any]:
    """Numbers in their order, all else by its words: a set has no order of its own."""
    return ("", item) if isinstance(item, Real) else (type(item).__name__, repr(item))


def concatenate(parts: Sequence[Outputs]) -> Outputs:
    """One batch after another, their shapes under common indices."""
    names = {name: index for index, name in enumerate(dict.fromkeys(name for part in parts for name in part.names))}
    numbers = np.zeros(
        (sum(map(len, parts)), max(part.numbers.shape[1] for part in parts)), np.result_type(*(part.numbers for part in parts))
    )
    shapes = np.empty(len(numbers), np.int64)
    start = 0
    for part in parts:
        rows = slice(start, start + len(part))
        numbers[rows, : part.numbers.shape[1]] = part.numbers
        shapes[rows] = np.array([names[name] for name in part.names])[0 if part.shapes is None else part.shapes]
        start += len(part)
    return Outputs(numbers, shapes if len(names) > 1 else None, tuple(names))
