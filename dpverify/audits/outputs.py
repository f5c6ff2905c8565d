"""Outputs of any shape as skeleton plus numbers."""

from __future__ import annotations

import contextlib
import enum
import hashlib
import inspect
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import groupby
from numbers import Complex, Real
from typing import Any, Final

import numpy as np

Array = np.ndarray[Any, Any]


class NotAnOutput(ValueError):
    """What a sampler gave back is no output: "nan in output 3", "3 outputs instead of 100", "a generator"."""


class NotANumber(NotAnOutput):
    """An output is nan."""


Exact = int | Fraction | float
"""A real number as it is: a float only where it is infinite, or nan."""

EXACT_IN_FLOATS: Final = 2**53  # integers up to here are floats
MOST_TEXTS: Final = 1 << 22  # of a batch are kept as they are
SHORT: Final = 6  # bytes of a text that its number holds


@dataclass(frozen=True, slots=True)
class Outputs:
    """n outputs: what shape each has, and its numbers.

    numbers: (n, width), float64, or float32, int64 where all outputs are that; entries that a shape does not have are 0.
    shapes: (n,) index into `names`; None where all have one shape.
    names: each shape in words, such as "number", "[str, None, number]", "[bool x 10]", "None"; the identity of a shape in every batch.
    exact: (n, width), the numbers as they are (int, Fraction), where `numbers` has only the floats nearest to them; None where it has all.
    forms: (n,) index into `written`; None where all have one form.
    written: what numbers and shapes do not say of an output: of which types its numbers are, and its keys in their order.
    texts: (n, width), the texts (str or bytes) that numbers stand for, and "" elsewhere; None where numbers say all.
    """

    numbers: Array
    shapes: np.ndarray[Any, np.dtype[np.int64]] | None = None
    names: tuple[str, ...] = ("number",)
    exact: Array | None = None
    forms: np.ndarray[Any, np.dtype[np.int64]] | None = None
    written: tuple[str, ...] = ("",)
    texts: Array | None = None

    def __len__(self) -> int:
        """How many outputs there are."""
        return len(self.numbers)

    def __getitem__(self, part: slice | np.ndarray[Any, Any]) -> Outputs:
        """Some of the outputs."""
        given = (self.shapes, self.exact, self.forms, self.texts)
        shapes, exact, forms, texts = (None if each is None else each[part] for each in given)
        return Outputs(self.numbers[part], shapes, self.names, exact, forms, self.written, texts)

    def column(self, index: int) -> Array:
        """The numbers of one column as they are: int64, floats, or int and Fraction."""
        return (self.numbers if self.exact is None else self.exact)[:, index]

    def less(self, origin: Array, *, whole: bool = False) -> Outputs:
        """The numbers less an exact point (width,): the difference is exact, and the float nearest to it is kept.

        whole: for a law on integers. Where that float is an integer and the difference is none, 1/2 takes its place.
        """
        fits = all(isinstance(value, int) and abs(value) < 2**62 for value in origin.tolist())
        if self.numbers.dtype == np.int64 and fits and np.all((self.numbers > -(2**62)) & (self.numbers < 2**62)):
            return Outputs((self.numbers - origin.astype(np.int64)).astype(np.float64), self.shapes, self.names)
        rows = self.numbers.tolist() if self.exact is None else self.exact.tolist()
        moved = [[_difference(value, start, whole) for value, start in zip(row, origin.tolist(), strict=True)] for row in rows]
        return Outputs(np.array(moved, np.float64).reshape(self.numbers.shape), self.shapes, self.names)

    def measured(self) -> Outputs:
        """Decimals and texts of numbers as the numbers that they are; all else as it is."""
        if len(self.names) != 1 or not re.search("numeral|decimal", self.names[0]):
            return self
        keep = np.flatnonzero([kind != "str" for kind in kinds(self.names[0])])
        name = _TOKEN.sub(lambda match: "number" if match["kind"] in _WRITTEN else match[0], self.names[0])
        if "str" in kinds(name):
            return self
        return Outputs(self.numbers[:, keep], self.shapes, (name,), None if self.exact is None else self.exact[:, keep])


@dataclass(frozen=True, slots=True)
class Raised:
    """In place of an output, the exception that a call raised."""

    kind: str
    message: str


def encode(raw: object, n: int, *, failures: bool = False) -> Outputs:
    """What a sampler returned for n outputs: an array with n rows, or a sequence of n outputs of any kind.

    Integers, floats, fractions and numpy numbers are "number"; bool, str, bytes, complex (two numbers) and None are themselves.
    Numbers keep their exact value, of any size. A decimal, and a text that is a number ("numeral"), are the text and the number;
    lists, tuples, arrays, series, mappings, sets and dataclasses are structure. A nan, a masked value, a generator, a coroutine,
    another length than n, what holds itself, or an object that equals nothing but itself raises NotAnOutput. Infinite numbers are
    outputs. Data frames and series of pandas and polars are their columns by name, and their index; what is missing in one is None.
    failures: nan is an output too, as a number that says nothing but that it is none.
    """
    rows = _sequence(raw)
    if len(rows) != n:
        raise NotAnOutput(f"{len(rows)} outputs instead of {n}. A sampler of three arguments is called as (data, size, rng)")
    if not isinstance(rows, np.ndarray) and set(map(type, rows)) == {np.ndarray} and len({(row.shape, row.dtype) for row in rows}) == 1:
        rows = np.stack(rows)
    if isinstance(rows, np.ndarray) and rows.dtype.kind in _DTYPES and not _needs_care(rows):
        kind, inner = _DTYPES[rows.dtype.kind], rows.shape[1:]
        written = _form([_type_name(rows.dtype.type)] * math.prod(inner) if kind == "number" else [])
        flat = rows.reshape(n, math.prod(inner))
        texts = flat if kind in ("str", "bytes") and flat.size <= MOST_TEXTS and rows.dtype.itemsize > SHORT else None
        outputs = Outputs(_numbers(kind, flat), None, (_array_name(kind, inner),), written=(written,), texts=texts)
    else:
        try:
            outputs = _collect(list(rows))
        except NotAnOutput:
            raise
        except RecursionError as error:
            raise NotAnOutput("an output that holds itself or is nested too deep: return numbers, texts or lists of them") from error
        except Exception as error:  # by what users define: how it is compared or written
            raise NotAnOutput(f"an output that raises {type(error).__name__} when it is read") from error
    numbers = outputs.numbers
    if numbers.size and np.isnan(numbers.min()):  # min hands a nan on, and takes no memory
        if failures:
            return _without_nan(outputs)
        raise NotANumber(f"nan in output {int(np.isnan(numbers).any(axis=1).argmax())} of {n}")
    return outputs


@cache
def kinds(name: str) -> tuple[str, ...]:
    """The kind of each number of an output of the shape `name`."""
    leaves = [(match["kind"], int(match["count"] or 1)) for match in _TOKEN.finditer(name) if match["kind"]]
    return tuple(part for kind, count in leaves for part in _WRITTEN.get(kind, (kind,) * _WIDTHS[kind]) * count)


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


_WRITTEN: Final = {"numeral": ("str", "number"), "decimal": ("str", "number")}
_WIDTHS: Final[Mapping[str, int]] = {
    "number": 1, "bool": 1, "str": 1, "bytes": 1, "complex": 2, "None": 0, "nan": 0, "length": 1, "numeral": 2, "decimal": 2,
}  # fmt: skip
_DTYPES: Final[Mapping[str, str]] = {
    "f": "number", "i": "number", "u": "number", "b": "bool", "U": "str", "S": "bytes", "c": "complex",
}  # fmt: skip
# Names of classes and keys stand in quotes, so that none of them is taken for a kind.
_TOKEN: Final = re.compile(
    r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|(?P<kind>number|bool|str|bytes|complex|None|nan|length|numeral|decimal)"
    r"(?: x (?P<count>\d+))?"
)
_NUMERAL: Final = re.compile(r"\s*[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?|\d+/0*[1-9]\d*)\s*", re.ASCII)
_DIGITS: Final = re.compile(r"\d+", re.ASCII)
_LONGEST_NUMERAL: Final = 1000  # characters: beyond, and past the exponent below, a text is a text, a decimal infinite or 0
_LARGEST_EXPONENT: Final = 5000
_LONGEST_FORM: Final = 120  # characters
_DIGITS_IN_FLOATS: Final = 15  # decimals of so few digits are told apart, and are in their order, as floats


def _needs_care(rows: Array) -> bool:
    """Whether an array holds what numpy's own types cannot say: texts of numbers, integers past int64, long floats that are no doubles."""
    if rows.dtype.kind == "U":
        return any(map(_is_numeral, np.unique(rows).tolist()))
    if rows.dtype.kind == "u":
        return bool(rows.size) and int(rows.max()) >= 2**63
    return rows.dtype.kind in "fc" and rows.dtype.itemsize > (8 if rows.dtype.kind == "f" else 16)


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
        return values.astype(np.int64)
    return values.astype(np.float32 if values.dtype.itemsize <= 4 else np.float64, copy=False)


def _text(value: str | bytes) -> float:
    """Equal texts, equal numbers, in every process: texts up to 6 bytes can be read back, longer ones are hashes of 52 bits."""
    data = value.encode(errors="surrogatepass") if isinstance(value, str) else value
    if len(data) <= SHORT:
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
    if kind in ("None", "nan"):
        return kind
    if kind == "length":
        return f"of length {int(values[0])}"
    if kind in _WRITTEN:
        return _word("str" if values[0] < 2**52 else "number", values if values[0] < 2**52 else values[1:])
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
    ("decimal", (Decimal,)), ("number", (Real,)), ("complex", (Complex,)),
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
    if types == {float}:
        return Outputs(np.array(rows, np.float64)[:, None], written=(_form([_type_name(float)]),))
    flat = {type_: _kind(type_) for type_ in types}
    if len(types) == 1 and None not in flat.values():
        groups[types.pop()] = list(range(len(rows)))
    else:
        for index, row in enumerate(rows):
            key = type(row) if flat[type(row)] is not None or type(row) not in (list, tuple) else tuple(map(type, row))
            groups.setdefault(key, []).append(index)

    names: dict[str, int] = {}
    parts: list[tuple[list[int], int, list[tuple[Array, Array | None]]]] = []
    long: list[tuple[list[int], int, Sequence[Any]]] = []
    written: dict[str, int] = {}
    forms = np.zeros(len(rows), np.int64)
    for key, places in groups.items():
        chosen = rows if len(groups) == 1 else [rows[place] for place in places]
        told = list(_forms(key, chosen))
        alike = told.count(told[0]) == len(told)
        forms[places] = written.setdefault(told[0], len(written)) if alike else [written.setdefault(form, len(written)) for form in told]
        for name, inside, leaves in _read(key, places, chosen):
            columns: list[tuple[Array, Array | None]] = []
            for kind, values in leaves:
                if _WIDTHS[kind]:
                    if kind in ("str", "bytes") and any(len(value) > SHORT for value in values):
                        long.append((inside, sum(column.shape[1] for column, _ in columns), values))
                    columns.append(_column(kind, values))
            parts.append((inside, names.setdefault(name, len(names)), columns))

    size = max((sum(column.shape[1] for column, _ in columns) for _, _, columns in parts), default=0)
    whole = all(column.dtype == np.int64 for _, _, columns in parts for column, _ in columns)
    rough = any(true is not None or (not whole and _past_floats(column)) for _, _, columns in parts for column, true in columns)
    numbers = np.zeros((len(rows), size), np.int64 if whole else np.float64)
    exact = np.zeros((len(rows), size), object) if rough else None
    shapes = np.zeros(len(rows), np.int64)
    for places, shape, columns in parts:
        where: slice | Array = slice(None) if len(parts) == 1 else np.array(places)
        shapes[where] = shape
        start = 0
        for column, true in columns:
            numbers[where, start : start + column.shape[1]] = column
            if exact is not None:
                exact[where, start : start + column.shape[1]] = _exactly(column) if true is None else true
            start += column.shape[1]
    several = forms if len(written) > 1 else None
    texts = np.full((len(rows), size), "", object) if long and numbers.size <= MOST_TEXTS else None
    for places, start, values in long if texts is not None else ():
        texts[places, start] = values  # type: ignore[index]
    return Outputs(numbers, shapes if len(names) > 1 else None, tuple(names) or ("number",), exact, several, tuple(written) or ("",), texts)


def _forms(key: Any, rows: Sequence[Any]) -> Iterable[str]:
    """The form of each of some outputs that have one type, or are lists of leaves of the same types."""
    types = key if isinstance(key, tuple) else (key,)
    if all(_kind(type_) is not None for type_ in types) and not any(_kind(type_) in ("str", "decimal") for type_ in types):
        return [_form([_type_name(type_) for type_ in types if _kind(type_) == "number"])] * len(rows)
    return (_form(_written(row)) for row in rows)


def _form(parts: Sequence[str]) -> str:
    """Names of types and keys as one text, of a bounded length."""
    text = ", ".join(f"{name} x {n}" if n > 1 else name for name, n in ((name, len(list(run))) for name, run in groupby(parts)))
    if len(text) <= _LONGEST_FORM:
        return text
    return f"{text[:_LONGEST_FORM]}... (hash {hashlib.blake2b(text.encode(errors='surrogatepass'), digest_size=8).hexdigest()})"


def _written(value: Any) -> list[str]:
    """The types of the numbers of an output, and its keys, in their order."""
    type_: Any = type(value)
    kind = _kind(type_)
    if kind in ("str", "decimal") and (kind == "decimal" or _is_numeral(value)):
        return [f"{_DIGITS.sub('9', str(value))!r}"]
    if kind is not None:
        return [_type_name(type_)] if kind == "number" else []
    table = _table(value)
    if table is not None:
        return [f"{value.dtypes.to_dict()}" if hasattr(getattr(value, "dtypes", None), "to_dict") else "", *_written(table)]
    if isinstance(value, Mapping):
        return [part for key, inner in value.items() for part in (f"key {str(key)!r}", *_written(inner))]
    if is_dataclass(value) and not isinstance(value, type):
        return [part for field in fields(value) for part in _written(getattr(value, field.name))]
    if hasattr(value, "__array__"):
        array = _unmasked(value)
        return [_type_name(array.dtype.type)] * array.size if array.dtype.kind in "iuf" else []
    if isinstance(value, (list, tuple)):
        return [part for inner in value for part in _written(inner)]
    return []


@cache
def _type_name(type_: Any) -> str:
    """int, float, or the name of another type of numbers; those of numpy are the same."""
    known = (("int", (int, np.integer)), ("float", (float, np.floating)))
    return next((name for name, types in known if issubclass(type_, types)), str(type_.__name__))


Leaves = Iterable[tuple[str, Sequence[Any]]]


def _read(key: Any, places: list[int], rows: Sequence[Any]) -> Iterator[tuple[str, list[int], Leaves]]:
    """The name, places and leaves (kind, values) of outputs that have one type, or are lists of leaves of the same types."""
    kinds = [_kind(type_) for type_ in (key if isinstance(key, tuple) else (key,))]
    known = [kind for kind in kinds if kind is not None]
    if len(known) == len(kinds) and "str" not in known:
        if isinstance(key, tuple):
            yield _bracket(known), places, zip(known, zip(*rows, strict=True), strict=True)
        else:
            yield known[0], places, [(known[0], rows)]
        return
    if len(known) == len(kinds):  # texts that are numbers are of another shape than those that are not
        alike: dict[tuple[str, ...], tuple[list[int], list[Any]]] = {}
        for place, row in zip(places, rows, strict=True):
            values = row if isinstance(key, tuple) else (row,)
            shape = tuple("numeral" if kind == "str" and _is_numeral(v) else kind for kind, v in zip(known, values, strict=True))
            here, chosen = alike.setdefault(shape, ([], []))
            here.append(place)
            chosen.append(values)
        for shape, (here, chosen) in alike.items():
            yield _bracket(shape) if isinstance(key, tuple) else shape[0], here, zip(shape, zip(*chosen, strict=True), strict=True)
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


def _column(kind: str, values: Sequence[Any]) -> tuple[Array, Array | None]:
    """One leaf of many outputs of one shape: (n, 1), or (n, 2) for complex and texts of numbers; and what it is where floats cannot say."""
    if kind in ("str", "bytes"):
        codes = {value: _text(value) for value in set(values)}
        return np.array([codes[value] for value in values], np.float64)[:, None], None
    if kind in _WRITTEN:
        texts = list(map(str, values))
        codes = {text: _text(text) for text in set(texts)}
        code = np.array([codes[text] for text in texts], np.float64)[:, None]
        true = list(map(exact_number, values))
        column = np.array(list(map(_nearest, true)), np.float64)[:, None]
        short = all(sum(map(str.isdigit, text)) <= _DIGITS_IN_FLOATS and "/" not in text for text in codes)
        vanished = any(value and not near for near, value in zip(column[:, 0].tolist(), true, strict=True))
        if short and np.isfinite(column).all() and not vanished:
            return np.hstack([code, column]), None
        return np.hstack([code, column]), np.hstack([_exactly(code), _objects(true)])
    types = set(map(type, values))
    if types <= _FLOATS or (kind in ("bool", "complex") and types <= _PLAIN):
        return _numbers(kind, np.array(values)[:, None]), None
    if kind == "complex":
        return _complex(values)
    if types <= _INTEGERS:
        try:
            return np.array(values, np.int64)[:, None], None
        except OverflowError:
            pass
    if types <= _FLOATS | _INTEGERS:
        with contextlib.suppress(OverflowError):
            mixed = np.array(values, np.float64)
            whole = [int(value) for value in values if type(value) in _INTEGERS]
            if max(max(whole), -min(whole)) <= EXACT_IN_FLOATS:
                return mixed[:, None], None
    true = list(map(exact_number, values))
    column = np.array(list(map(_nearest, true)), np.float64)
    same = all(near == value or value != value for near, value in zip(column.tolist(), true, strict=True))
    return column[:, None], None if same else _objects(true)


def _complex(values: Sequence[Any]) -> tuple[Array, Array | None]:
    """Complex numbers of any type: real and imaginary parts."""
    parts = [_column("number", [getattr(value, side) for value in values]) for side in ("real", "imag")]
    column = np.hstack([part.astype(np.float64) for part, _ in parts])
    if all(true is None for _, true in parts):
        return column, None
    return column, np.hstack([_exactly(part) if true is None else true for part, true in parts])


_INTEGERS: Final = {int, *(np.dtype(code).type for code in "bBhHiIlLqQ")}
_FLOATS: Final = {float, np.float16, np.float32, np.float64}
_PLAIN: Final = {bool, np.bool_, complex, np.complex64, np.complex128}


def _is_numeral(text: str) -> bool:
    """Whether a text is a number, in digits."""
    return len(text) <= _LONGEST_NUMERAL and _NUMERAL.fullmatch(text) is not None


def exact_number(value: Any) -> Exact:
    """A real number as it is, from any type: int, Fraction, or a float that is infinite or nan. TypeError for what is no number."""
    if isinstance(value, (int, np.integer, np.bool_)):
        return int(value)
    if isinstance(value, Decimal):
        if value.is_nan():
            return math.nan
        if value.is_finite() and value and abs(value.adjusted()) > _LARGEST_EXPONENT:
            return math.copysign(math.inf, value) if value.adjusted() > 0 else 0
        return _whole(Fraction(value)) if value.is_finite() else math.copysign(math.inf, value)
    if isinstance(value, str):
        if not _is_numeral(value):
            raise TypeError(f"{value!r} is no number")
        return _whole(Fraction(value.strip()))
    if isinstance(value, (float, np.floating)):
        return _whole(Fraction(*value.as_integer_ratio())) if np.isfinite(value) else float(value)
    if isinstance(value, Fraction):
        return _whole(value)
    if isinstance(value, Real):
        try:
            return _whole(Fraction(*value.as_integer_ratio()) if hasattr(value, "as_integer_ratio") else Fraction(str(value)))
        except (TypeError, ValueError):
            return exact_number(float(value))
    raise TypeError(f"a {type(value).__name__} is no number")


def exact_vector(value: Any) -> Array:
    """Numbers, however nested, as a vector: of floats where these say all, else of int and Fraction. TypeError for what are none."""
    array = _unmasked(value)
    if array.dtype.kind in "biuf" and isinstance(value, (np.ndarray, np.generic)) and array.dtype.itemsize <= 8 and not _past_floats(array):
        return np.asarray(array, np.float64).reshape(-1)
    flat = np.asarray(value, object).reshape(-1).tolist()
    true = [exact_number(each.item() if isinstance(each, np.ndarray) and each.ndim == 0 else each) for each in flat]
    near = np.array(list(map(_nearest, true)), np.float64)
    return near if near.tolist() == true or any(each != each for each in true) else _objects(true)[:, 0]


def _whole(value: Fraction) -> int | Fraction:
    return value.numerator if value.denominator == 1 else value


def _nearest(value: Exact) -> float:
    """The float nearest to a number; what is beyond all floats is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _difference(value: Any, start: Any, whole: bool) -> float:
    """The float nearest to value - start; 1/2 for what is no integer and should be one."""
    value, start = exact_number(value), exact_number(start)
    if isinstance(value, float) or isinstance(start, float):
        return float(value) - float(start) if isinstance(start, float) else value
    difference = Fraction(value) - start
    return 0.5 if whole and difference.denominator != 1 else _nearest(difference)


def _objects(values: Sequence[Exact]) -> Array:
    """A column of exact numbers: (n, 1)."""
    column = np.empty((len(values), 1), object)
    column[:, 0] = values
    return column


def _exactly(column: Array) -> Array:
    """Numbers of numpy as exact ones, in the same shape."""
    if column.dtype.kind in "iu":
        return column.astype(object)
    true = np.empty(column.size, object)
    true[:] = [exact_number(value) for value in column.ravel().tolist()]
    return true.reshape(column.shape)


def _past_floats(column: Array) -> bool:
    """Whether integers are so large that floats may not tell them apart."""
    return column.dtype.kind in "iu" and bool(column.size) and (int(column.max()) > EXACT_IN_FLOATS or int(column.min()) < -EXACT_IN_FLOATS)


def _walk(value: Any, leaves: list[tuple[str, Any]]) -> str:
    """The shape of one output in words; its leaves are appended to `leaves`."""
    type_: Any = type(value)
    kind = _kind(type_)
    if kind is not None:
        kind = "numeral" if kind == "str" and _is_numeral(value) else kind
        leaves.append((kind, value))
        return kind
    if isinstance(value, enum.Enum):
        return repr(f"{type(value).__name__}.{value.name}")
    if isinstance(value, Raised):
        return f"{f'raises {value.kind}'!r}[{_walk(value.message, leaves)}]"
    table = _table(value)
    if table is not None:
        return f"{type(value).__name__!r}{_walk(table, leaves)}"
    if is_dataclass(value) and not isinstance(value, type):
        inside = ", ".join(f"{field.name!r}: {_walk(getattr(value, field.name), leaves)}" for field in fields(value))
        return f"{type(value).__name__!r}{{{inside}}}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{str(key)!r}: {_walk(value[key], leaves)}" for key in sorted(value, key=repr)) + "}"
    if isinstance(value, (set, frozenset)):
        return "set" + _bracket([_walk(item, leaves) for item in sorted(value, key=_set_order)])
    if hasattr(value, "__array__"):
        array = _unmasked(value)
        return _walk(array.tolist() if array.dtype.char not in "gG" or not array.ndim else list(array), leaves)
    if inspect.isgenerator(value) or inspect.isawaitable(value) or callable(value):
        raise NotAnOutput(f"a {type(value).__name__} inside an output")
    if isinstance(value, Collection):
        return _bracket([_walk(item, leaves) for item in value])
    if {getattr(type(value), "__eq__"), getattr(type(value), "__repr__")} & {object.__eq__, object.__repr__}:  # noqa: B009
        raise NotAnOutput(f"a {type(value).__name__}, which is equal to nothing but itself: return numbers, texts or lists of them")
    leaves.append(("str", repr(value)))
    return f"{type(value).__name__!r}(str)"


def _table(value: Any) -> dict[str, Any] | None:
    """A data frame or series of pandas or polars as columns by name, and its index where that is not 0, 1, ...; None for all else."""
    module = type(value).__module__.partition(".")[0]
    if module == "pandas" and hasattr(value, "index") and hasattr(value, "to_numpy"):
        columns = {str(name): value.iloc[:, place] for place, name in enumerate(value.columns)} if value.ndim == 2 else {"": value}
        table = {f"column {name}": [None if absent else each for each, absent in zip(column.tolist(), column.isna().tolist(), strict=True)]
                 for name, column in columns.items()}  # fmt: skip
        index = value.index.tolist()
        return table if index == list(range(len(index))) else {**table, "index": index}
    if module == "polars" and hasattr(value, "to_dict"):
        return {f"column {name}": column.to_list() for name, column in value.to_dict().items()}
    return None


def _without_nan(outputs: Outputs) -> Outputs:
    """The outputs with each nan as a part of the shape: "[number, nan]"."""
    hit = np.isnan(outputs.numbers)
    old = np.zeros(len(outputs), np.int64) if outputs.shapes is None else outputs.shapes
    rows = np.flatnonzero(hit.any(axis=1))
    names: dict[str, int] = {name: index for index, name in enumerate(outputs.names)}
    numbers, shapes = outputs.numbers.copy(), old.copy()
    exact, texts = (None if each is None else each.copy() for each in (outputs.exact, outputs.texts))
    keys, inverse = np.unique(np.column_stack([old[rows], hit[rows]]), axis=0, return_inverse=True)
    for number, key in enumerate(keys):
        chosen = rows[inverse.ravel() == number]
        name, kept = _of_nan(outputs.names[key[0]], key[1:].astype(bool).tolist())
        shapes[chosen] = names.setdefault(name, len(names))
        for array in (numbers, exact, texts):
            if array is not None:
                moved = array[chosen][:, kept]
                array[chosen] = "" if array is texts else 0
                array[np.ix_(chosen, np.arange(len(kept)))] = moved
    used, shapes = np.unique(shapes, return_inverse=True)
    every = tuple(names)
    return Outputs(numbers, shapes, tuple(every[index] for index in used.tolist()), exact, outputs.forms, outputs.written, texts)


def _of_nan(name: str, hit: Sequence[bool]) -> tuple[str, list[int]]:
    """A shape with "nan" for the leaves whose numbers are hit, and which numbers are left."""
    kept: list[int] = []
    at = 0

    def spelled(match: re.Match[str]) -> str:
        nonlocal at
        kind = match["kind"]
        if kind is None:
            return match[0]
        leaves = []
        for _ in range(int(match["count"] or 1)):
            width = _WIDTHS[kind]
            absent = any(hit[at : at + width])
            leaves.append("nan" if absent else kind)
            kept.extend([] if absent else range(at, at + width))
            at += width
        return _bracket(leaves)[1:-1]

    return _TOKEN.sub(spelled, name), kept


def _set_order(item: Any) -> tuple[str, Any]:
    """Numbers in their order, all else by its words: a set has no order of its own."""
    return ("", item) if isinstance(item, Real) else (type(item).__name__, repr(item))


def of_leaves(name: str, leaves: Sequence[tuple[str, Sequence[Any]]], count: int) -> Outputs:
    """`count` outputs of one shape, from the kind and the values of each leaf. "length" is a number that is pooled with no other."""
    columns = [_column("number" if kind == "length" else kind, values) for kind, values in leaves if kind not in _WRITTEN]
    rough = any(true is not None or _past_floats(column) for column, true in columns)
    numbers = np.hstack([np.zeros((count, 0)), *(column for column, _ in columns)])
    exact = np.hstack([_exactly(column) if true is None else true for column, true in columns]) if rough else None
    return Outputs(numbers, None, (f"{name}{_bracket(kind for kind, _ in leaves)}",), exact)


def concatenate(parts: Sequence[Outputs]) -> Outputs:
    """One batch after another, their shapes under common indices."""
    names = {name: index for index, name in enumerate(dict.fromkeys(name for part in parts for name in part.names))}
    numbers = np.zeros(
        (sum(map(len, parts)), max(part.numbers.shape[1] for part in parts)), np.result_type(*(part.numbers for part in parts))
    )
    rough = any(part.exact is not None or (numbers.dtype.kind == "f" and _past_floats(part.numbers)) for part in parts)
    exact = np.zeros(numbers.shape, object) if rough else None
    texts = np.full(numbers.shape, "", object) if any(part.texts is not None for part in parts) else None
    shapes, forms = np.empty((2, len(numbers)), np.int64)
    written = {form: index for index, form in enumerate(dict.fromkeys(form for part in parts for form in part.written))}
    start = 0
    for part in parts:
        rows = slice(start, start + len(part))
        numbers[rows, : part.numbers.shape[1]] = part.numbers
        if exact is not None:
            exact[rows, : part.numbers.shape[1]] = _exactly(part.numbers) if part.exact is None else part.exact
        if texts is not None and part.texts is not None:
            texts[rows, : part.texts.shape[1]] = part.texts
        shapes[rows] = np.array([names[name] for name in part.names])[0 if part.shapes is None else part.shapes]
        forms[rows] = np.array([written[form] for form in part.written])[0 if part.forms is None else part.forms]
        start += len(part)
    told = forms if len(written) > 1 else None
    return Outputs(numbers, shapes if len(names) > 1 else None, tuple(names), exact, told, tuple(written), texts)
