"""Whether code that is audited has changed what the audit itself counts with.

A sampler that sets numpy.bincount to something else, on purpose or to mend an old library, would count its own outputs. What the judging
uses is compared, after blocks and errors, with what it was before any of that code ran: functions and classes of the builtins, of numpy
and of the audit, what it has of other packages among them, and the methods of its classes. This finds what was replaced and left so; it
is no wall against code that wants to deceive, which has the user's rights.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from operator import is_
from typing import Any, Final

_PACKAGE: Final = "dpverify.audits"
_MODULES: Final = ("builtins", "numpy")

_SELDOM: Final = 0.25  # seconds

_known: list[tuple[str, Any, tuple[str, ...], tuple[Any, ...]]] = []
_looked = [0.0]
_kept = False
_all, _map = all, map  # builtins may be what is replaced


def remember(*, keep: bool = False) -> None:
    """Take what is there now for what it should be. keep: whatever later calls of this say, for this process and those forked from it."""
    global _kept
    if not _kept:
        _known[:], _looked[0] = list(_spaces()), 0.0
        _kept = keep


def is_due() -> bool:
    """Whether the last look is so long ago that another costs little beside it."""
    return time.monotonic() - _looked[0] >= _SELDOM


def changed() -> str | None:
    """The name of something that was replaced since, None where all is as it was."""
    _looked[0] = time.monotonic()
    for name, space, keys, values in _known:
        if not _all(_map(is_, _map(space.get, keys), values)):
            return next(f"{name}.{key}" for key, value in zip(keys, values, strict=True) if space.get(key) is not value)
    return None


def _spaces() -> Iterator[tuple[str, Any, tuple[str, ...], tuple[Any, ...]]]:
    """The names of what holds functions and classes, what it is, and which these are."""
    for name, module in list(sys.modules.items()):
        own = f"{name}.".startswith(f"{_PACKAGE}.")
        if own or name in _MODULES:
            space = vars(module)
            yield name, space, *_callables(space)
            for inner in list(space.values()) if own else []:
                if isinstance(inner, type) and inner.__module__ == name:
                    yield f"{name}.{inner.__name__}", vars(inner), *_callables(vars(inner))


def _callables(space: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    named = {key: value for key, value in space.items() if callable(value)}
    return tuple(named), tuple(named.values())
