"""What is asked of a reader of SQL: the text, and what is said of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """A query with what is said about the data, all of the right form."""

    text: str
    record: Mapping[str, str]
    rows: int
    keys: Mapping[str, Sequence[Any]]
    not_null: frozenset[str]
    joins: Mapping[str, int]
    person: str
    dialect: str
