"""What a pipeline keeps from run to run, in globals, attributes and caches: put back before each run, and compared after it."""

from __future__ import annotations

import copy
import dis
from collections import deque
from collections.abc import Iterator, MutableMapping, MutableSequence, MutableSet, Sequence
from types import FunctionType, MethodType, ModuleType
from typing import Any, Final

from dpverify.replays.calls import same
from dpverify.replays.code import codes

MISSING: Final = object()
MOST_KEPT: Final = 1_000
PLAIN: Final = (int, float, complex, str, bytes, tuple, frozenset, type(None))


class Kept:
    """The state of a pipeline's code: containers and numbers, each as it was before the first run."""

    def __init__(self, functions: Sequence[FunctionType], pipeline: Any) -> None:
        self.caches = [one for one in _named(functions) if callable(getattr(one, "cache_clear", None))]
        self.spaces = list(_spaces(functions, pipeline))
        self.before = [
            {key: _copied(space[key]) for key in _keys(space, names) if _is_state(space[key])} for _, space, names in self.spaces
        ]

    def reset(self) -> None:
        """Put back what there was."""
        for cache in self.caches:
            cache.cache_clear()
        for (_, space, names), before in zip(self.spaces, self.before, strict=True):
            for key in _keys(space, names):
                if key not in before and _is_state(space[key]):
                    del space[key]
            for key, value in before.items():
                if not same(space.get(key, MISSING), value):
                    space[key] = _refilled(space.get(key), value)

    def seen(self) -> dict[str, Any]:
        """What is kept now that was not there, or was another."""
        found: dict[str, Any] = {}
        for (label, space, names), before in zip(self.spaces, self.before, strict=True):
            for key in _keys(space, names):
                if _is_state(space[key]) and not same(space[key], before.get(key, MISSING)):
                    found[label + key] = _copied(space[key])
        return found


def _spaces(functions: Sequence[FunctionType], pipeline: Any) -> Iterator[tuple[str, MutableMapping[str, Any], set[str] | None]]:
    """Namespaces that code can change, each with the names that it may change there, None for all."""
    names: dict[int, tuple[dict[str, Any], set[str]]] = {}
    for function in functions:
        space, known = names.setdefault(id(function.__globals__), (function.__globals__, set()))
        for code in codes(function.__code__):
            stored = {step.argval for step in dis.get_instructions(code) if step.opname == "STORE_GLOBAL"}
            known |= stored | {name for name in code.co_names if isinstance(space.get(name), MutableMapping | MutableSequence | MutableSet)}
    yield from (("", space, known) for space, known in names.values())
    yield from ((f"{function.__name__}.", vars(function), None) for function in functions)
    yield from ((f"{function.__name__} ", _Cells(function), None) for function in functions if function.__closure__)
    own = pipeline.__self__ if isinstance(pipeline, MethodType) else pipeline
    if not isinstance(own, FunctionType | type | ModuleType) and isinstance(getattr(own, "__dict__", None), dict):
        yield f"{type(own).__name__}.", vars(own), None


class _Cells(MutableMapping[str, Any]):
    """The variables that a function has of the function around it."""

    def __init__(self, function: FunctionType) -> None:
        self.cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))

    def __getitem__(self, key: str) -> Any:
        try:
            return self.cells[key].cell_contents
        except ValueError:
            raise KeyError(key) from None

    def __setitem__(self, key: str, value: Any) -> None:
        self.cells[key].cell_contents = value

    def __delitem__(self, key: str) -> None:
        del self.cells[key].cell_contents

    def __iter__(self) -> Iterator[str]:
        return (key for key, cell in self.cells.items() if _is_there(cell))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _is_there(cell: Any) -> bool:
    try:
        return cell.cell_contents is not MISSING
    except ValueError:
        return False


def _named(functions: Sequence[FunctionType]) -> Iterator[Any]:
    """What code names as globals."""
    for function in functions:
        for code in codes(function.__code__):
            yield from (function.__globals__[name] for name in code.co_names if name in function.__globals__)


def _keys(space: MutableMapping[str, Any], names: set[str] | None) -> list[str]:
    return list(space) if names is None else sorted(names & space.keys())


def _is_state(value: Any) -> bool:
    """Whether a value is one that is compared: a container of no more than MOST_KEPT entries, or a plain value."""
    if isinstance(value, PLAIN):
        return True
    return isinstance(value, dict | list | set | deque | bytearray) and len(value) <= MOST_KEPT


def _copied(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except Exception:  # what holds something that is not copied is compared by what it shows
        return value


def _refilled(now: Any, before: Any) -> Any:
    """The container that there is, with what was in it; or the value that there was."""
    again = _copied(before)
    if type(now) is not type(before) or isinstance(before, PLAIN):
        return again
    now.clear()
    if isinstance(now, dict | set):
        now.update(again)
    else:
        now.extend(again)
    return now
