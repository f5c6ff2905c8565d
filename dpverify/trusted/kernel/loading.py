"""The record of what a verdict loads: modules of the trusted folder are imported in functions where only some claims need them.

While a record is open, each such import is noted. What is remembered between claims keeps what was imported for it beside it, so that a
record counts it again.
"""

from __future__ import annotations

import builtins
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

from dpverify.trusted.kernel.shown import table

_P = ParamSpec("_P")
_T = TypeVar("_T")

TRUSTED: Final = "dpverify.trusted"

_open: Final[list[dict[str, None]]] = []
_caches: Final[list[Callable[[], None]]] = []
_import: Final = builtins.__import__


def _recorded(
    name: str,
    globals: Mapping[str, object] | None = None,
    locals: Mapping[str, object] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> Any:
    """What an import statement calls: the import, and a note of the modules below the line that a function imports.

    At the top of a file the names that are imported into are those of the module; these imports can be read there.
    """
    found = _import(name, globals, locals, fromlist or (), level)
    if name.startswith(TRUSTED) and locals is not globals:
        note([inner for item in fromlist or () if (inner := f"{name}.{item}") in sys.modules] or [name])
    return found


def note(modules: Iterable[str]) -> None:
    """Record that these modules were imported."""
    found = dict.fromkeys(modules)
    for record in _open:
        record.update(found)


@contextmanager
def asked_for() -> Iterator[dict[str, None]]:
    """The modules that functions import inside, in order."""
    record: dict[str, None] = {}
    _open.append(record)
    builtins.__import__ = _recorded
    try:
        yield record
    finally:
        _open[:] = [other for other in _open if other is not record]
        if not _open:
            builtins.__import__ = _import


def on_forgetting(clear: Callable[[], None]) -> None:
    """Call this too where all that is remembered is forgotten."""
    _caches.append(clear)


def forget() -> None:
    """Forget all that is remembered."""
    for clear in _caches:
        clear()


def remembered(most: int) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """A function that keeps its last answers, with the modules that were imported for each of them.

    An answer is kept for tables of the signs that are in force, and not where signs were found on the way to it, which others have not.
    """

    def decorated(function: Callable[_P, _T]) -> Callable[_P, _T]:
        known = OrderedDict[Any, tuple[_T, tuple[str, ...]]]()
        _caches.append(known.clear)

        @wraps(function)
        def asked(*args: _P.args, **named: _P.kwargs) -> _T:
            key = table().stamp, args, *named.items()
            if key in known:
                known.move_to_end(key)
                found, modules = known[key]
                note(modules)
                return found
            with asked_for() as record:
                found = function(*args, **named)
            if table().stamp == key[0]:
                known[key] = found, tuple(record)
                if len(known) > most:
                    known.popitem(last=False)
            return found

        return asked

    return decorated
