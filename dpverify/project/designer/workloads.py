"""Workloads by name: the exact matrices of the families of queries that people ask for, a column for each kind of record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from math import comb, prod
from typing import Any, Final

from dpverify.catalogue.toml import Fault, Fields
from dpverify.catalogue.values import read_choice, read_positive_integer, read_rational
from dpverify.trusted.kernel.model import Matrix

MOST_ENTRIES: Final = 200_000
"""Of a matrix that is written out."""
MOST_TERMS: Final = 200_000
"""Families of queries in a union."""
MOST_PARTS: Final = 25_000_000
"""Of all these families together, one for each attribute."""
MOST_RECORDS: Final = 10**150
"""Kinds of records, which are never listed where they are many."""
PARTS: Final = ("total", "identity", "prefix", "ranges")
"""Families of queries on the values of one attribute: all of them, each, each and those before it, each interval."""
SYMMETRIC: Final = ("total", "identity")
"""Those that no order of the values matters to."""


@dataclass(frozen=True, slots=True)
class Term:
    """Queries that are products of one of each attribute's family, their errors counted `weight` times. parts: of each attribute."""

    parts: tuple[str, ...]
    weight: Fraction = Fraction(1)


@dataclass(frozen=True)
class Workload:
    """A family of queries on records with attributes of so many values each; the last attribute changes first from column to column.

    terms: what the queries are, where these are products; else the matrix is `written`. cited: what one record moves the answers by at
    most in l1, and what the exchange of two does, as the literature says; None where it says nothing.
    """

    name: str
    sizes: tuple[int, ...]
    terms: tuple[Term, ...] = ()
    written: Matrix = ()
    cited: tuple[int, int | None] | None = None

    @property
    def columns(self) -> int:
        """How many kinds of records there are."""
        return prod(self.sizes)

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """How many queries each term has."""
        return tuple(prod(map(queries_of, term.parts, self.sizes)) for term in self.terms)

    @cached_property
    def queries(self) -> int:
        """How many there are."""
        return sum(self.lengths) if self.terms else len(self.written)

    @cached_property
    def rows(self) -> Matrix | None:
        """The matrix, None where it has too many entries to be written out; weights of terms multiply its rows."""
        if not self.terms:
            return self.written
        if self.queries * self.columns > MOST_ENTRIES:
            return None
        found: list[tuple[Fraction, ...]] = []
        for term in self.terms:
            parts = [rows_of(part, size) for part, size in zip(term.parts, self.sizes, strict=True)]
            found += [tuple(Fraction(prod(entry)) * term.weight for entry in product(*factors)) for factors in product(*parts)]
        return tuple(found)


def queries_of(part: str, size: int) -> int:
    """How many queries a family has on an attribute of so many values."""
    return {"total": 1, "identity": size, "prefix": size, "ranges": size * (size + 1) // 2}[part]


def rows_of(part: str, size: int) -> list[list[int]]:
    """The matrix of a family; those of ranges are in the order of their first values."""
    if part == "total":
        return [[1] * size]
    if part == "ranges":
        return [[int(low <= j <= high) for j in range(size)] for low in range(size) for high in range(low, size)]
    return [[int(j <= i if part == "prefix" else j == i) for j in range(size)] for i in range(size)]


def histogram(bins: int) -> Workload:
    """How many records there are of each kind."""
    return Workload(f"histogram of {bins} bins", (bins,), (Term(("identity",)),), (), (1, 2))


def prefixes(length: int) -> Workload:
    """How many records lie at each place or before it."""
    return Workload(f"prefix sums of length {length}", (length,), (Term(("prefix",)),), (), (length, length - 1))


def ranges(length: int) -> Workload:
    """How many records lie in each interval; a record in the middle is in the most of them."""
    return Workload(f"all ranges of length {length}", (length,), (Term(("ranges",)),), (), ((length + 1) ** 2 // 4, None))


def marginals(sizes: tuple[int, ...], ways: int) -> Workload:
    """The tables of counts of every choice of so many attributes; a record is in one cell of each."""
    found = tables(sizes, tuple(combinations(range(len(sizes)), ways)))
    values = f"attributes of {list(sizes)} values" if len(sizes) <= 20 else f"{len(sizes)} attributes"
    return replace(found, name=f"all {ways}-way marginals of {values}")


def tables(sizes: tuple[int, ...], sets: tuple[tuple[int, ...], ...]) -> Workload:
    """The tables of counts of some sets of attributes."""
    terms = tuple(Term(tuple("identity" if i in kept else "total" for i in range(len(sizes)))) for kept in map(frozenset, sets))
    return Workload(f"{len(sets)} marginals of {len(sizes)} attributes", sizes, terms, (), (len(sets), 2 * len(sets)))


def cube(dimension: int) -> Workload:
    """How many records have each of so many properties; there is a kind of record for every set of them."""
    cells = list(product((0, 1), repeat=dimension))
    rows = [[cell[i] for cell in cells] for i in range(dimension)]
    name = f"{dimension} properties, records with every set of them"
    return Workload(name, (2,) * dimension, (), _whole(rows), (dimension, dimension))


def subsets(bins: int) -> Workload:
    """How many records lie in each set of bins that is not empty; a bin is in half of all sets."""
    rows = [row for row in product((0, 1), repeat=bins) if any(row)]
    return Workload(f"all subsets of {bins} bins", (bins,), (), _whole([list(row) for row in rows]), (2 ** (bins - 1), 2 ** (bins - 1)))


def _whole(rows: list[list[int]]) -> Matrix:
    return tuple(tuple(map(Fraction, row)) for row in rows)


Reader = Callable[[Fields], Workload | None]
"""Of the table of one kind of workload; what is wrong with it is told to the table."""


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


def _sized(make: Callable[[int], Workload], key: str, entries: Callable[[int], int] | None = None) -> Reader:
    """A workload of one size. entries: of its matrix, where it is written out whatever is asked of it."""

    def read(table: Fields) -> Workload | None:
        size = table.need(key, read_positive_integer, None)
        if size is None:
            return None
        if size > 10**9 or (entries is not None and entries(size) > MOST_ENTRIES):
            table.fault(f"{key} = {size}: its matrix has more than {MOST_ENTRIES} entries, and nothing shorter says what it is.")
            return None
        return make(size)

    return read


def _marginals(table: Fields) -> Workload | None:
    sizes, key = table.need("sizes", _read_sizes, None), table.one_of(("ways", "sets"))
    ways = table.may("ways", read_positive_integer, None) if key == "ways" else None
    sets = table.may("sets", _read_sets, None) if key == "sets" else None
    if sizes is None or (ways is None and sets is None):
        return None
    if ways is not None and ways > len(sizes):
        table.fault(f"ways = {ways}: there are {len(sizes)} attributes.")
        return None
    if ways is not None and (comb(len(sizes), ways) > MOST_TERMS or comb(len(sizes), ways) * len(sizes) > MOST_PARTS):
        table.fault(f"ways = {ways}: these are more than {MOST_TERMS} marginals.")
        return None
    if ways is not None:
        return marginals(sizes, ways)
    assert sets is not None
    if wrong := sorted({i for kept in sets for i in kept if i >= len(sizes)}):
        table.fault(f"sets: there is no attribute {wrong[0]}; there are {len(sizes)}, counted from 0.")
        return None
    return tables(sizes, sets)


def _product(table: Fields) -> Workload | None:
    sizes, parts = table.need("sizes", _read_sizes, None), table.need("parts", _read_parts, None)
    if sizes is None or parts is None:
        return None
    if len(parts) != len(sizes):
        table.fault(f"parts: there are {len(parts)} of them, and {len(sizes)} attributes in sizes.")
        return None
    return Workload(f"products of {', '.join(parts[:8])}", sizes, (Term(parts),))


def _union(table: Fields) -> Workload | None:
    members, weights = table.need("of", _read_members, None), table.may("weights", read_weights, None)
    if members is None:
        return None
    if weights is not None and len(weights) != len(members):
        table.fault(f"weights: there are {len(weights)} of them, and {len(members)} workloads in the union.")
        return None
    if len({member.columns for member in members}) > 1 or len({member.sizes for member in members if len(member.sizes) > 1}) > 1:
        table.fault("of: the workloads do not count the same kinds of records: their sizes differ.")
        return None
    shares = weights or (Fraction(1),) * len(members)
    name = f"union of {len(members)} workloads"
    if all(member.terms for member in members) and len({member.sizes for member in members}) == 1:
        terms = [replace(term, weight=share * term.weight) for share, member in zip(shares, members, strict=True) for term in member.terms]
        if len(terms) > MOST_TERMS:
            table.fault(f"of: these are more than {MOST_TERMS} families of queries.")
            return None
        return Workload(name, members[0].sizes, tuple(terms))
    matrices = [member.rows for member in members]
    entries = sum(member.queries * member.columns for member in members)
    if None in matrices or entries > MOST_ENTRIES:
        table.fault(f"of: the matrix has more than {MOST_ENTRIES} entries, and these workloads have no shorter form together.")
        return None
    pairs = zip(shares, matrices, strict=True)
    rows = tuple(tuple(share * x for x in row) for share, matrix in pairs if matrix is not None for row in matrix)
    return Workload(name, max((member.sizes for member in members), key=len), (), rows)


def _read_members(value: Any) -> tuple[Workload, ...]:
    if not isinstance(value, list) or not value:
        raise Fault('is not a list of workloads such as [{ kind = "prefix", length = 8 }, { kind = "histogram", bins = 8 }].')
    return tuple(map(read_workload, value))


def read_weights(value: Any) -> tuple[Fraction, ...]:
    """Rational numbers above 0."""
    if not isinstance(value, list) or not value:
        raise Fault("is not a list of numbers above 0.")
    found = tuple(map(read_rational, value))
    if min(found) <= 0:
        raise Fault("holds a number that is not above 0. Leave out what does not count.")
    return found


def _read_parts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(part in PARTS for part in value):
        raise Fault(f"is not a list of {', '.join(PARTS)}, one for each attribute.")
    return tuple(value)


def _read_sets(value: Any) -> tuple[tuple[int, ...], ...]:
    fits = isinstance(value, list) and value and all(isinstance(kept, list) for kept in value)
    fits = fits and len(value) <= MOST_TERMS and all(type(i) is int and i >= 0 for kept in value for i in kept)
    if not fits or any(len(set(kept)) < len(kept) for kept in value):
        raise Fault("is not a list of lists of attributes, counted from 0, such as [[0, 1], [2]].")
    found = tuple(tuple(sorted(kept)) for kept in value)
    if len(set(found)) < len(found):
        raise Fault("holds a set of attributes twice. Give it a weight.")
    return found


def _read_sizes(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list) or not value or not all(type(size) is int and 2 <= size <= 10**9 for size in value):
        raise Fault("is not a list of integers of at least 2, one for each attribute.")
    if len(value) > 1000 or prod(value) > MOST_RECORDS:
        raise Fault("holds more attributes, or kinds of records, than are reckoned with: 1000 and 10^150.")
    return tuple(value)


_KINDS: Final[Mapping[str, Reader]] = {
    "histogram": _sized(histogram, "bins"),
    "marginals": _marginals,
    "ranges": _sized(ranges, "length"),
    "prefix": _sized(prefixes, "length"),
    "cube": _sized(cube, "dimension", lambda n: n * 2 ** min(n, 60)),
    "subsets": _sized(subsets, "bins", lambda n: n * 2 ** min(n, 60)),
    "product": _product,
    "union": _union,
}


def kinds() -> Iterator[str]:
    """The names of workloads in files."""
    yield from _KINDS
