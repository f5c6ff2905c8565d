"""Workloads by name: the exact matrices of the families of queries that people ask for, a column for each kind of record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import comb, prod
from typing import Any, Final

from dpverify.catalogue.toml import Fault, Fields
from dpverify.catalogue.values import read_choice, read_positive_integer
from dpverify.trusted.kernel.model import Matrix

MOST_ENTRIES: Final = 200_000
"""Of a matrix that is written out."""


@dataclass(frozen=True, slots=True)
class Workload:
    """A family of queries. sizes: of the attributes whose combinations the columns are, in order, where that is what they are.

    cited: what one record moves the answers by at most in l1, and what the exchange of two does, as the literature says; None where it
    says nothing.
    """

    name: str
    rows: Matrix
    sizes: tuple[int, ...] = ()
    cited: tuple[int, int | None] | None = None


def histogram(bins: int) -> Workload:
    """How many records there are of each kind."""
    return Workload(f"histogram of {bins} bins", _whole([[int(i == j) for j in range(bins)] for i in range(bins)]), (), (1, 2))


def prefixes(length: int) -> Workload:
    """How many records lie at each place or before it."""
    rows = [[int(j <= i) for j in range(length)] for i in range(length)]
    return Workload(f"prefix sums of length {length}", _whole(rows), (), (length, length - 1))


def ranges(length: int) -> Workload:
    """How many records lie in each interval; a record in the middle is in the most of them."""
    rows = [[int(low <= j <= high) for j in range(length)] for low in range(length) for high in range(low, length)]
    return Workload(f"all ranges of length {length}", _whole(rows), (), ((length + 1) ** 2 // 4, None))


def marginals(sizes: tuple[int, ...], ways: int) -> Workload:
    """The tables of counts of every choice of so many attributes; a record is in one cell of each."""
    cells = list(product(*(range(size) for size in sizes)))
    rows = [
        [int(all(cell[i] == v for i, v in zip(kept, values, strict=True))) for cell in cells]
        for kept in combinations(range(len(sizes)), ways)
        for values in product(*(range(sizes[i]) for i in kept))
    ]
    tables = comb(len(sizes), ways)
    return Workload(f"all {ways}-way marginals of attributes of {list(sizes)} values", _whole(rows), sizes, (tables, 2 * tables))


def cube(dimension: int) -> Workload:
    """How many records have each of so many properties; there is a kind of record for every set of them."""
    cells = list(product((0, 1), repeat=dimension))
    rows = [[cell[i] for cell in cells] for i in range(dimension)]
    return Workload(f"{dimension} properties, records with every set of them", _whole(rows), (2,) * dimension, (dimension, dimension))


def subsets(bins: int) -> Workload:
    """How many records lie in each set of bins that is not empty; a bin is in half of all sets."""
    rows = [row for row in product((0, 1), repeat=bins) if any(row)]
    return Workload(f"all subsets of {bins} bins", _whole([list(row) for row in rows]), (), (2 ** (bins - 1), 2 ** (bins - 1)))


def _whole(rows: list[list[int]]) -> Matrix:
    return tuple(tuple(map(Fraction, row)) for row in rows)


def read_workload(value: Any) -> Workload:
    """The workload that a table names. Raises Fault."""
    if not isinstance(value, Mapping):
        raise Fault('is not a table such as { kind = "marginals", sizes = [2, 2, 2], ways = 2 }.')
    faults: list[str] = []
    table = Fields(value, "workload", faults)
    kind = table.need("kind", read_choice(tuple(_KINDS)), None)
    found: Workload | None = None if kind is None else _KINDS[kind](table)
    if kind is None:
        table.taken.update(value)
    table.done()
    if faults or found is None:
        raise Fault(f"is wrong: {'; '.join(fault.removeprefix('workload: ').removesuffix('.') for fault in faults)}.")
    return found


def _sized(make: Any, key: str, entries: Any) -> Any:
    def read(table: Fields) -> Workload | None:
        size = table.need(key, read_positive_integer, None)
        if size is None:
            return None
        if size > 10**4 or entries(size) > MOST_ENTRIES:
            table.fault(f"{key} = {size}: its matrix has more than {MOST_ENTRIES} entries.")
            return None
        found: Workload = make(size)
        return found

    return read


def _marginals(table: Fields) -> Workload | None:
    sizes, ways = table.need("sizes", _read_sizes, None), table.need("ways", read_positive_integer, None)
    if sizes is None or ways is None:
        return None
    if ways > len(sizes):
        table.fault(f"ways = {ways}: there are {len(sizes)} attributes.")
        return None
    columns = prod(sizes)
    if columns > MOST_ENTRIES or columns * sum(prod(kept) for kept in combinations(sizes, ways)) > MOST_ENTRIES:
        table.fault(f"sizes: the matrix has more than {MOST_ENTRIES} entries.")
        return None
    return marginals(sizes, ways)


def _read_sizes(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list) or not value or not all(type(size) is int and size >= 2 for size in value) or len(value) > 20:
        raise Fault("is not a list of at most 20 integers of at least 2, one for each attribute.")
    return tuple(value)


_KINDS: Final[Mapping[str, Any]] = {
    "histogram": _sized(histogram, "bins", lambda n: n * n),
    "marginals": _marginals,
    "ranges": _sized(ranges, "length", lambda n: n * n * (n + 1) // 2),
    "prefix": _sized(prefixes, "length", lambda n: n * n),
    "cube": _sized(cube, "dimension", lambda n: n * 2 ** min(n, 60)),
    "subsets": _sized(subsets, "bins", lambda n: n * 2 ** min(n, 60)),
}


def kinds() -> Iterator[str]:
    """The names of workloads in files."""
    yield from _KINDS
