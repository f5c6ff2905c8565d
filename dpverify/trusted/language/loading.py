"""Modules of the trusted folder that are loaded when they are asked for, and the record of what was asked for.

A verdict rests on the code that it needs: what only some claims need is loaded by its place here. What is remembered between claims
keeps what it asked for beside it, so that a record counts it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from importlib import import_module
from types import ModuleType
from typing import Any, Final, ParamSpec, TypeVar

from dpverify.trusted.language.shown import table

_P = ParamSpec("_P")
_T = TypeVar("_T")

_open: Final[list[dict[str, None]]] = []


def load(place: str) -> ModuleType:
    """A module of the trusted folder by its place there, such as "numbers.bessel"."""
    note((place,))
    return import_module(f"dpverify.trusted.{place}")


def note(places: Iterable[str]) -> None:
    """Record that these places were asked for."""
    for record in _open:
        record.update(dict.fromkeys(places))


@contextmanager
def asked_for() -> Iterator[dict[str, None]]:
    """The places that are asked for inside, in order."""
    record: dict[str, None] = {}
    _open.append(record)
    try:
        yield record
    finally:
        _open[:] = [other for other in _open if other is not record]


def remembered(most: int) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """A function that keeps its last answers, with the places that each of them asked for."""

    def decorated(function: Callable[_P, _T]) -> Callable[_P, _T]:
        @lru_cache(maxsize=most)
        def kept(stamp: Any, *args: Any, **named: Any) -> tuple[_T, tuple[str, ...]]:
            with asked_for() as places:
                found = function(*args, **named)
            return found, tuple(places)

        @wraps(function)
        def asked(*args: _P.args, **named: _P.kwargs) -> _T:
            found, places = kept(table().stamp, *args, **named)  # type: ignore[arg-type]
            note(places)
            return found

        return asked

    return decorated
