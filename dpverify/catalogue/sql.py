"""A query in SQL as sums over records: one number for each aggregate and each group that is listed (theory#sums-over-records).

The text is read by sqlglot, the extra `sql` of this package, and nothing of it is run. A NULL is neither counted nor added up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from dpverify.catalogue.sql_asked import Asked
from dpverify.catalogue.toml import Fault, meant, show
from dpverify.catalogue.values import DOMAIN_HELP, read_value_or_domain
from dpverify.errors import SpecError
from dpverify.trusted.kernel.model import Domain

if TYPE_CHECKING:
    from dpverify.catalogue.sql_select import Answer

KEYS: Final = ("sql", "record", "rows", "keys", "not_null", "joins", "person", "dialect")
DIALECTS: Final = ("duckdb", "postgres", "sqlite")
"""Those whose NULL, division and comparison of texts are known here. Other engines differ in them."""
MOST_CHARACTERS: Final = 20_000
MOST_NUMBERS: Final = 400
_MISSING: Final = "a query in SQL is read by sqlglot, which is not installed. Install dpverify[sql], or write the sums: sum = [...]"


class Sums(dict[str, Any]):
    """Sums over records as a claim file writes them, with what each number is.

    answers: one text for each number, in their order. averages: for each AVG the numbers of its sum and of its count, counted from 0.
    """

    answers: tuple[str, ...] = ()
    averages: tuple[tuple[int, int], ...] = ()


def read_sql(table: Mapping[str, Any]) -> Sums:
    """The sums that a table with sql says. Raises SpecError listing all that has no place among sums over records."""
    faults = list(_faults(table))
    if faults:
        raise SpecError(faults)
    try:
        from dpverify.catalogue.sql_select import answer
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "sqlglot":
            raise
        raise SpecError(_MISSING) from error
    lower = {key: {name.lower(): value for name, value in table.get(key, {}).items()} for key in ("record", "keys", "joins")}
    asked = Asked(
        table["sql"], lower["record"], table.get("rows", 1), lower["keys"], frozenset(map(str.lower, table.get("not_null", ()))),
        lower["joins"], table.get("person", "").lower(), table.get("dialect", DIALECTS[0]),
    )  # fmt: skip
    return _sums(answer(asked))


def _faults(table: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the form of what is said."""
    for key in table:
        if key not in KEYS:
            yield f"has the unknown key {show(key)}.{meant(str(key), KEYS)} A query in SQL has {', '.join(KEYS)}."
    if not isinstance(table["sql"], str) or len(table["sql"]) > MOST_CHARACTERS:
        yield f"sql is no text of at most {MOST_CHARACTERS} characters."
    if not _whole(table.get("rows", 1)):
        yield "rows is no integer of at least 1: how many rows a person has at most in the table that FROM names first."
    for key in ("record", "keys", "joins"):
        held = [name.lower() for name in table[key]] if _names(table.get(key)) else []
        if twice := [name for name in held if held.count(name) > 1]:
            yield f"{key} has {twice[0]} twice, in small letters and in capitals, and to SQL they are one name. Keep one."
    named = table.get("record", {})
    if not _names(named):
        yield 'record is no table of columns with what they hold. Write record = { pay = "real", age = "integer >= 0", dept = "text" }.'
    else:
        yield from (
            f'record has {name} = {show(held)}, which is not {DOMAIN_HELP}, nor "text" or "boolean".'
            for name, held in named.items()
            if not _holds(held)
        )
    keys = table.get("keys", {})
    if not _names(keys) or not all(isinstance(held, list | tuple | range) and _keys(held) for held in keys.values()):
        yield 'keys is no table of columns with lists of integers or texts. Write keys = { dept = ["sales", "it"] }.'
    elif repeated := [name for name, held in keys.items() if len(set(map(str, held))) < len(held)]:
        yield f"keys has a key of {repeated[0]} twice."
    not_null = table.get("not_null", [])
    if not isinstance(not_null, list | tuple) or not all(isinstance(name, str) for name in not_null):
        yield 'not_null is no list of columns. Write not_null = ["age"].'
    joins = table.get("joins", {})
    if not _names(joins) or not all(map(_whole, joins.values())):
        yield "joins is no table of tables with the number of their rows that a row is joined with at most. Write joins = { people = 1 }."
    if not isinstance(table.get("person", ""), str):
        yield 'person is no name of a column. Write person = "user_id".'
    if table.get("dialect", DIALECTS[0]) not in DIALECTS:
        yield f"dialect = {show(table['dialect'])} is none of {', '.join(DIALECTS)}, whose NULL, division and texts are known here."


def _names(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(name, str) for name in value)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _keys(values: Sequence[Any]) -> bool:
    """Whether all are integers, all texts or all truths."""
    return len(set(map(type, values))) == 1 and isinstance(values[0], int | str)


def _holds(value: Any) -> bool:
    if value in ("text", "boolean"):
        return True
    try:
        return isinstance(value, str) and isinstance(read_value_or_domain(value), Domain)
    except Fault:
        return False


def _sums(found: Answer) -> Sums:
    """Everything as a claim file writes it."""
    numbers = list(product(found.groups, found.aggregates))
    if len(numbers) > MOST_NUMBERS:
        raise SpecError(f"the answer has {len(numbers)} numbers, and at most {MOST_NUMBERS} are looked at. List fewer keys.")
    sums = Sums(sum=[aggregate.within(group.where) for group, aggregate in numbers])
    if found.where:
        sums["where"] = found.where
    sums |= {"record": dict(found.record), "rows": found.rows}
    sums.answers = tuple(f"{aggregate.name} where {group.name}" if group.name else aggregate.name for group, aggregate in numbers)
    width = len(found.aggregates)
    sums.averages = tuple((k * width + top, k * width + below) for k in range(len(found.groups)) for top, below in found.averages)
    return sums
