"""Tables of records, or histograms, that a design is run on."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any, Final

import numpy as np

from dpverify.errors import DataError

COUNT: Final = ("count", "counts", "number", "frequency")
"""Names of the column of a histogram that says how many records there are of a kind."""
MOST_BYTES: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class Data:
    """How many records there are of each kind that occurs. sizes: of the attributes; kinds: their values, a row for each kind.

    counts: integers, or floats where histograms are real-valued.
    """

    sizes: tuple[int, ...]
    kinds: Any
    counts: Any

    @property
    def total(self) -> Any:
        """Of all records."""
        return self.counts.sum()

    def along(self, attributes: Sequence[int], most: int) -> Any:
        """The table of counts of some attributes, an axis for each. Raises DataError where it has too many cells."""
        shape = [self.sizes[i] for i in attributes]
        if prod(shape) > most:
            raise DataError(f"a table of counts has {prod(shape)} cells, more than {most}.")
        if not shape:
            return np.array(self.total, dtype=self.counts.dtype)
        table = np.zeros(shape, dtype=self.counts.dtype)
        np.add.at(table, tuple(self.kinds[:, i] for i in attributes), self.counts)
        return table

    def dense(self, most: int) -> Any:
        """The histogram of all kinds of records, in the order of columns. Raises DataError where these are too many."""
        return self.along(range(len(self.sizes)), most).ravel()


def of_histogram(values: Sequence[Any], sizes: tuple[int, ...], *, whole: bool) -> Data:
    """Of counts of all kinds of records, in their order. whole: whether they are integers. Raises DataError."""
    given = list(values)
    if len(given) != prod(sizes):
        raise DataError(f"the histogram has {len(given)} entries; there are {prod(sizes)} kinds of records.")
    kinds = np.array(np.unravel_index(np.arange(len(given)), sizes)).T
    return Data(sizes, kinds, _counts(given, whole=whole))


def of_records(rows: Sequence[Sequence[Any]], sizes: tuple[int, ...], counts: Sequence[Any] | None = None, *, whole: bool) -> Data:
    """Of records, each a row of values of the attributes, which are counted from 0; or of kinds of records with their counts.

    Raises DataError listing the first rows that are none.
    """
    wrong = []
    for number, row in enumerate(rows, 1):
        if len(row) != len(sizes) or not all(0 <= _whole(x) < size for x, size in zip(row, sizes, strict=True)):
            wrong.append(f"row {number}, {str(list(row))[:80]}")
    if wrong:
        shown, ranges = "; ".join(wrong[:5]), ", ".join(f"0 to {size - 1}" for size in sizes[:8])
        raise DataError(f"{len(wrong)} rows are no records with {len(sizes)} values, integers from {ranges}, such as {shown}.")
    kinds = np.array([[_whole(x) for x in row] for row in rows], dtype=np.int64).reshape(len(rows), len(sizes))
    return Data(sizes, kinds, _counts([1] * len(rows) if counts is None else list(counts), whole=whole))


def read(path: Path, sizes: tuple[int, ...], *, whole: bool) -> Data:
    """Of a CSV file with a line of names: records, a column for each attribute; or a histogram, with a column "count" beside or alone.

    Raises DataError for what is neither, OSError for what cannot be read.
    """
    if path.stat().st_size > MOST_BYTES:
        raise DataError(f"{path}: the file has more than {MOST_BYTES >> 20} MiB.")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = [row for row in csv.reader(file) if row]
    except (UnicodeError, csv.Error) as error:
        raise DataError(f"{path}: not a CSV file: {error}.") from error
    if not lines:
        raise DataError(f"{path}: the file is empty. Its first line names the columns.")
    names, rows = [name.strip().lower() for name in lines[0]], lines[1:]
    if any(len(row) != len(names) for row in rows):
        raise DataError(f"{path}: the first line names {len(names)} columns, and some row has another number of entries.")
    try:
        return _of_columns(names, rows, sizes, whole=whole)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


def of_table(table: Any, sizes: tuple[int, ...], *, whole: bool) -> Data:
    """Of a data frame of pandas or a relation of DuckDB, which hold what a file may hold. Raises DataError for what is neither."""
    try:
        rows = table.fetchall() if hasattr(table, "fetchall") else table.itertuples(index=False, name=None)
        names = [str(name).strip().lower() for name in table.columns]
    except (AttributeError, TypeError) as error:
        kind = type(table).__name__
        told = f"{kind} is no histogram, data frame of pandas or relation of DuckDB. Give a list of counts or one of these."
        raise DataError(told) from error
    return _of_columns(names, [*rows], sizes, whole=whole)


def _of_columns(names: Sequence[str], rows: Sequence[Sequence[Any]], sizes: tuple[int, ...], *, whole: bool) -> Data:
    """Of rows with names for their entries. Raises DataError."""
    if all(_whole(name) >= 0 for name in names):
        raise DataError(f"the first line has numbers; it names the columns, and counts stand in one that is called {COUNT[0]!r}.")
    at = next((i for i, name in enumerate(names) if name in COUNT), None)
    if at is None:
        return of_records(rows, sizes, whole=whole)
    counts = [row[at] for row in rows]
    kinds = [(*row[:at], *row[at + 1 :]) for row in rows]
    return of_histogram(counts, sizes, whole=whole) if len(names) == 1 else of_records(kinds, sizes, counts, whole=whole)


def _whole(value: Any) -> int:
    """An integer as files or lists have it, -1 for everything else."""
    if isinstance(value, str):
        return int(value) if value.strip().isdecimal() and len(value) < 20 else -1
    return int(value) if isinstance(value, int | np.integer) and not isinstance(value, bool) else -1


def _counts(values: list[Any], *, whole: bool) -> Any:
    if whole:
        found = [_whole(value) for value in values]
        if any(not 0 <= x < 2**31 for x in found):
            at = next(i for i, x in enumerate(found) if not 0 <= x < 2**31)
            raise DataError(f"the count {str(values[at])[:40]!r} is no integer from 0 to 2^31 - 1, as histograms of counts have.")
        return np.array(found, dtype=object)
    try:
        exact = [float(Fraction(value)) if isinstance(value, str) else float(value) for value in values]
    except (ValueError, TypeError, ZeroDivisionError, OverflowError) as error:
        raise DataError(f"a count is no number: {error}.") from error
    if not np.isfinite(exact).all() or min(exact, default=0) < 0:
        raise DataError("a count is below 0 or not finite.")
    return np.array(exact)
