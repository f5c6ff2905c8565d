"""Pairs of neighbouring inputs, as a strategy of Hypothesis."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, Final

from hypothesis import strategies as st

from dpverify.catalogue.toml import Fault
from dpverify.catalogue.values import DOMAIN_HELP, read_value_or_domain
from dpverify.errors import SpecError
from dpverify.replays.code import near, sizes, with_constants
from dpverify.trusted.kernel.model import Domain

ADJACENCIES: Final = ("add-remove", "replace")
FORMS: Final = ("rows", "columns", "dataframe", "duckdb")
MOST_OTHERS: Final = 6
MANY_OTHERS: Final = 40
MOST_KINDS: Final = 4
"""Rows of others, mostly few; many at times, all different or of a few kinds."""
Draw = Callable[[st.SearchStrategy[Any]], Any]


@dataclass(frozen=True)
class Inputs:
    """Tables that differ by one person.

    row: a strategy of one row. adjacency: whether the neighbour has a person more, or another in place of one. rows: how many rows a person
    has at most. person: the column that says whose a row is, filled in with numbers; form: a list of rows, a dictionary of columns, a data
    frame of pandas, or "duckdb", a connection with a table `rows` where it is run. most: how many rows a table has at most; sizes: numbers
    of rows at which the code of the pipeline may do something else; kinds: of columns, in SQL.
    """

    row: st.SearchStrategy[Any]
    adjacency: str = "add-remove"
    rows: int = 1
    person: str = ""
    form: str = "rows"
    columns: tuple[str, ...] = ()
    most: int = 200
    sizes: tuple[int, ...] = ()
    fields: Mapping[str, st.SearchStrategy[Any]] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)

    def naming(self, constants: Sequence[Any]) -> Inputs:
        """The same tables, where values and numbers of rows that code names occur more often."""
        values = near(constants)
        fields = {name: with_constants(one, values) for name, one in self.fields.items()}
        row = st.fixed_dictionaries(fields) if fields else with_constants(self.row, values)
        return replace(self, row=row, fields=fields, sizes=tuple(sizes(constants, self.most)))

    def pair(self, draw: Draw) -> tuple[Any, Any]:
        """Two neighbours, in either order, as lists of rows."""
        others = self._others(draw)
        mine = self._person(draw)
        second = list(others) if self.adjacency == "add-remove" else self._put(draw, others, self._person(draw))
        pair = (self._put(draw, others, mine), second)
        return pair if draw(st.booleans()) else pair[::-1]

    def _others(self, draw: Draw) -> list[Any]:
        rows = self._rows(draw, self.most - self.rows)
        if not self.person:
            return rows
        size = draw(st.integers(1, self.rows))
        return [{**row, self.person: 1 + number // size} for number, row in enumerate(rows)]

    def _rows(self, draw: Draw, most: int) -> list[Any]:
        few, many = min(MOST_OTHERS, most), min(MANY_OTHERS, most)
        found: list[Any]
        if draw(st.integers(0, 3)) < 3:
            found = draw(st.lists(self.row, max_size=few) | st.lists(self.row, max_size=many))
            return found
        known = [size for size in self.sizes if few < size <= most]
        size = draw(st.integers(0, most) | st.sampled_from(known)) if known else draw(st.integers(0, most))
        kinds = draw(st.lists(self.row, min_size=1, max_size=MOST_KINDS))
        return [kinds[at % len(kinds)] for at in range(size)]

    def _person(self, draw: Draw) -> list[Any]:
        least = 1 if self.rows == 1 or self.adjacency == "add-remove" else 0
        mine = draw(st.lists(self.row, min_size=least, max_size=self.rows))
        return [{**row, self.person: 0} for row in mine] if self.person else mine

    def _put(self, draw: Draw, others: Sequence[Any], mine: Sequence[Any]) -> list[Any]:
        found = list(others)
        for row in mine:
            found.insert(draw(st.integers(0, len(found))), row)
        return found

    def formed(self, rows: list[Any]) -> Any:
        """A table in its form."""
        if self.form in ("rows", "duckdb"):
            return rows
        columns = {name: [row[name] for row in rows] for name in (*self.columns, *((self.person,) if self.person else ()))}
        if self.form == "columns":
            return columns
        import pandas as pd

        return pd.DataFrame(columns)

    def opened(self, data: Any) -> Any:
        """The table as the pipeline is given it."""
        if self.form != "duckdb":
            return self.formed(copy.deepcopy(data))
        names = (*self.columns, *((self.person,) if self.person else ()))
        found: Any = import_module("duckdb").connect()
        kinds = [f'"{name}" {"BIGINT" if name == self.person else self.kinds[name]}' for name in names]
        found.execute(f"CREATE TABLE rows ({', '.join(kinds)})")
        if data:
            found.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * len(names))})", [[row[name] for name in names] for row in data])
        return found


def kind_of(strategy: st.SearchStrategy[Any]) -> str:
    """The type in SQL of a column, from what its strategy's text says."""
    text = repr(strategy)
    if "float" in text:
        return "DOUBLE"
    return next((kind for word, kind in (("integers", "BIGINT"), ("booleans", "BOOLEAN")) if word in text), "VARCHAR")


def inputs(
    rows: Any, adjacency: str, rows_per_person: Any, person: str, form: str, most_rows: Any = 200, allow_nan: bool = False
) -> Inputs:  # fmt: skip
    """Tables of rows that a strategy, or a schema of columns, describes. Raises SpecError listing what is wrong."""
    faults, columns, made = list[str](), tuple[str, ...](), dict[str, st.SearchStrategy[Any]]()
    if adjacency not in ADJACENCIES:
        faults.append(f"adjacency = {adjacency!r:.40} is none of {', '.join(ADJACENCIES)}.")
    if not isinstance(rows_per_person, int) or isinstance(rows_per_person, bool) or rows_per_person < 1:
        faults.append(f"rows_per_person = {rows_per_person!r:.40} is no integer of at least 1.")
    if not isinstance(most_rows, int) or isinstance(most_rows, bool) or most_rows < 1:
        faults.append(f"most_rows = {most_rows!r:.40} is no integer of at least 1.")
    elif not faults and most_rows < rows_per_person:
        faults.append(f"most_rows = {most_rows} is below rows_per_person = {rows_per_person}: a table holds the rows of a person.")
    if form not in FORMS:
        faults.append(f"form = {form!r:.40} is none of {', '.join(FORMS)}.")
    if isinstance(rows, Mapping):
        for name, held in rows.items():
            try:
                made[name] = held if isinstance(held, st.SearchStrategy) else of_domain(held, allow_nan)
            except Fault as fault:
                faults.append(f"rows: {name} = {held!r:.40} {fault}")
        columns, rows = tuple(made), st.fixed_dictionaries(made)
    elif not isinstance(rows, st.SearchStrategy):
        faults.append(f"rows = {rows!r:.40} is no strategy of Hypothesis of one row, and no dictionary of columns with what they hold.")
    elif form != "rows" or person:
        faults.append("rows is a strategy, and columns have names where rows is a dictionary of columns with what they hold.")
    if faults:
        raise SpecError(faults)
    kinds = {name: kind_of(one) for name, one in made.items()}
    return Inputs(rows, adjacency, rows_per_person, person, form, columns, most_rows, (), made, kinds)


def of_domain(held: Any, allow_nan: bool = False) -> st.SearchStrategy[Any]:
    """Values of a column, from what claim files write of a field. Raises Fault."""
    if held == "text":
        return st.sampled_from("abc")
    if held == "boolean":
        return st.booleans()
    found = read_value_or_domain(held) if isinstance(held, str) else None
    if not isinstance(found, Domain):
        raise Fault(f'is not {DOMAIN_HELP}, nor "text", "boolean" or a strategy.')
    if found.integer:
        return st.integers(None if found.lower is None else int(found.lower), None if found.upper is None else int(found.upper))
    low, high = (None if end is None else float(end) for end in (found.lower, found.upper))
    inside = st.floats(
        low,
        high,
        allow_nan=False,
        allow_infinity=False,
        exclude_min=found.lower_open and low is not None,
        exclude_max=found.upper_open and high is not None,
    )
    if allow_nan:
        inside |= st.just(math.nan)
    return inside | st.integers(-3, 3).filter(lambda x: (low is None or x > low) and (high is None or x < high))
