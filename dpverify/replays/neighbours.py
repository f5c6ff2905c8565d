"""Pairs of neighbouring inputs, as a strategy of Hypothesis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hypothesis import strategies as st

from dpverify.catalogue.toml import Fault
from dpverify.catalogue.values import DOMAIN_HELP, read_value_or_domain
from dpverify.errors import SpecError
from dpverify.trusted.kernel.model import Domain

ADJACENCIES: Final = ("add-remove", "replace")
FORMS: Final = ("rows", "columns", "dataframe")
MOST_OTHERS: Final = 6
MANY_OTHERS: Final = 40
"""Rows of others, mostly few: what happens with ten rows or thirty is looked at now and then."""
Draw = Callable[[st.SearchStrategy[Any]], Any]


@dataclass(frozen=True)
class Inputs:
    """Tables that differ by one person.

    row: a strategy of one row. adjacency: whether the neighbour has a person more, or another in place of one. rows: how many rows a person
    has at most. person: the column that says whose a row is, filled in with numbers; form: a list of rows, a dictionary of columns, or a
    data frame of pandas.
    """

    row: st.SearchStrategy[Any]
    adjacency: str = "add-remove"
    rows: int = 1
    person: str = ""
    form: str = "rows"
    columns: tuple[str, ...] = ()

    def pair(self, draw: Draw) -> tuple[Any, Any]:
        """Two neighbours, in either order."""
        others = self._others(draw)
        mine = self._person(draw)
        second = list(others) if self.adjacency == "add-remove" else self._put(draw, others, self._person(draw))
        first = self._put(draw, others, mine)
        pair = (self._formed(first), self._formed(second))
        return pair if draw(st.booleans()) else pair[::-1]

    def _others(self, draw: Draw) -> list[Any]:
        rows: list[Any] = draw(st.lists(self.row, max_size=MOST_OTHERS) | st.lists(self.row, max_size=MANY_OTHERS))
        if not self.person:
            return rows
        size = draw(st.integers(1, self.rows))
        return [{**row, self.person: 1 + number // size} for number, row in enumerate(rows)]

    def _person(self, draw: Draw) -> list[Any]:
        least = 1 if self.rows == 1 or self.adjacency == "add-remove" else 0
        mine = draw(st.lists(self.row, min_size=least, max_size=self.rows))
        return [{**row, self.person: 0} for row in mine] if self.person else mine

    def _put(self, draw: Draw, others: Sequence[Any], mine: Sequence[Any]) -> list[Any]:
        found = list(others)
        for row in mine:
            found.insert(draw(st.integers(0, len(found))), row)
        return found

    def _formed(self, rows: list[Any]) -> Any:
        if self.form == "rows":
            return rows
        columns = {name: [row[name] for row in rows] for name in (*self.columns, *((self.person,) if self.person else ()))}
        if self.form == "columns":
            return columns
        import pandas as pd

        return pd.DataFrame(columns)


def inputs(rows: Any, adjacency: str, rows_per_person: Any, person: str, form: str) -> Inputs:
    """Tables of rows that a strategy, or a schema of columns, describes. Raises SpecError listing what is wrong."""
    faults, columns = list[str](), tuple[str, ...]()
    if adjacency not in ADJACENCIES:
        faults.append(f"adjacency = {adjacency!r:.40} is none of {', '.join(ADJACENCIES)}.")
    if not isinstance(rows_per_person, int) or isinstance(rows_per_person, bool) or rows_per_person < 1:
        faults.append(f"rows_per_person = {rows_per_person!r:.40} is no integer of at least 1.")
    if form not in FORMS:
        faults.append(f"form = {form!r:.40} is none of {', '.join(FORMS)}.")
    if isinstance(rows, Mapping):
        made = dict[str, st.SearchStrategy[Any]]()
        for name, held in rows.items():
            try:
                made[name] = held if isinstance(held, st.SearchStrategy) else of_domain(held)
            except Fault as fault:
                faults.append(f"rows: {name} = {held!r:.40} {fault}")
        columns, rows = tuple(made), st.fixed_dictionaries(made)
    elif not isinstance(rows, st.SearchStrategy):
        faults.append(f"rows = {rows!r:.40} is no strategy of Hypothesis of one row, and no dictionary of columns with what they hold.")
    elif form != "rows" or person:
        faults.append("rows is a strategy, and columns have names where rows is a dictionary of columns with what they hold.")
    if faults:
        raise SpecError(faults)
    return Inputs(rows, adjacency, rows_per_person, person, form, columns)


def of_domain(held: Any) -> st.SearchStrategy[Any]:
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
    return inside | st.integers(-3, 3).filter(lambda x: (low is None or x > low) and (high is None or x < high))
