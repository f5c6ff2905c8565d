"""Queries in Python: SQL as the sums over records that it asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpverify.catalogue.sql import Sums, read_sql


def query_sql(
    sql: str, *, rows_per_person: int = 1, record: Mapping[str, str] | None = None, keys: Mapping[str, Sequence[Any]] | None = None,
    not_null: Sequence[str] = (), joins: Mapping[str, int] | None = None, person: str = "", dialect: str = "duckdb",
) -> Sums:  # fmt: skip
    """The sums over records that a SELECT asks for, to be given as `query` to dpverify.verify with an adjacency.

    rows_per_person: how many rows a person has at most in the table that FROM names first. record: what columns hold, as in claim files,
    or "text" or "boolean"; a column of which nothing is said holds any number, or any text where it is compared with one. Columns may be
    NULL but those of not_null; a NULL is neither counted nor added up. keys: the groups of each column of GROUP BY; not wanted where record
    gives an integer column few values. joins: with how many rows of each joined table, which is public, a row is joined at most. person:
    the column that says whose a row is, for COUNT(DISTINCT person). dialect: "duckdb", "postgres" or "sqlite".
    What is returned is the table that a claim file may have; its `answers` says what each number is, and `averages` of which two an AVG
    is the quotient. Needs sqlglot, the extra `sql`. Raises SpecError listing all that is no sum over records, with its place.
    """
    return read_sql(
        {
            "sql": sql, "rows": rows_per_person, "record": dict(record or {}), "keys": dict(keys or {}), "not_null": list(not_null),
            "joins": dict(joins or {}), "person": person, "dialect": dialect,
        }
    )  # fmt: skip
