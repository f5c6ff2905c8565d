"""What a reader notices in a claim file that is no fault, and that its author may not mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

UNSTATED: Final = "UNSTATED_SENSITIVITY"
UNUSED: Final = "UNUSED_PARAMETER"
ZERO: Final = "ZERO_SENSITIVITY"
_MOST: Final = 4
"""As many places as are named."""
_OTHERWISE: Final = ("name", "kind", "expect", "adjacency", "norm", "order", "neighbours", "scheme", "report")
"""Keys whose texts are no expressions."""


class Note(NamedTuple):
    """One of them. rule: UNSTATED, UNUSED or ZERO. said: in a sentence or two, with the way out.

    beside: what stands beside the verdict; assumed: what is taken for granted because of it; both empty where there is nothing.
    """

    rule: str
    said: str
    beside: str = ""
    assumed: str = ""


def unstated(places: Iterable[str]) -> list[Note]:
    """That sensitivities are not stated, and taken to be 1. places: the parts, as in "part 2"; "" for the mechanism itself."""
    named = list(dict.fromkeys(places))
    if not named:
        return []
    told = [f"the answer of {place}" if place else "the answer" for place in named[:_MOST]]
    told += [f"{len(named) - _MOST} more"] if len(named) > _MOST else []
    of = told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"
    where = ", ".join(place or "the claim" for place in named[:_MOST]) + (", ..." if len(named) > _MOST else "")
    said = f"{where}: neither sensitivity nor query is stated, so that the sensitivity is 1. State it, as in sensitivity = 1."
    return [Note(UNSTATED, said, "sensitivity 1 (not stated)", f"sensitivity 1 (not stated): neighbours move {of} by at most 1")]


def unused(names: Iterable[str]) -> list[Note]:
    """That parameters stand nowhere but in their own table."""
    return [Note(UNUSED, f"the parameter {name} is used nowhere. Leave it out, or use it.") for name in names]


def zero(place: str) -> Note:
    """That a sensitivity is 0."""
    of = f"{place}: " if place else ""
    said = f"{of}sensitivity 0 says that the answers of neighbours are equal: nothing needs protection, and any noise is enough."
    return Note(ZERO, said, "sensitivity 0")


def place(where: str) -> str:
    """Where a part is, in words that need no file: of "a.toml, mechanism, part 2, part 1" the parts."""
    return where.rpartition(", mechanism, ")[2] if ", mechanism, " in where else where.partition(", ")[2]


def words(data: Any, key: str = "") -> Iterator[str]:
    """All names in the expressions of a claim file's tables; a parameter's own definition does not use it."""
    if isinstance(data, Mapping):
        for inner, value in data.items():
            if inner == "parameters" and isinstance(value, Mapping):
                for name, defined in value.items():
                    yield from (word for word in words(defined) if word != name)
            elif inner not in _OTHERWISE or not isinstance(value, str):
                yield from words(value, inner)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from words(value, key)
    elif isinstance(data, str):
        yield from re.findall(r"[A-Za-z_]\w*", data)
