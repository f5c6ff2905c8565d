"""What the code of a pipeline says to a test of it: its functions, the constants that it names, and which of its lines ran."""

from __future__ import annotations

import contextlib
import dis
import functools
import math
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any, Final

from hypothesis import strategies as st

PACKAGE: Final = Path(__file__).parents[1]
LIBRARIES: Final = tuple({sysconfig.get_paths()[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")})
MOST_FUNCTIONS: Final = 200
MOST_HELD: Final = 50
MOST_CONSTANTS: Final = 60
LONGEST: Final = 60


def functions_of(pipeline: Any) -> list[FunctionType]:
    """The pipeline's own function and those of its code that it names, those of libraries left out."""
    found: dict[FunctionType, None] = {}
    open_: list[Any] = [pipeline]
    while open_ and len(found) < MOST_FUNCTIONS:
        held = open_.pop()
        if isinstance(held, functools.partial):
            open_ += [held.func, *held.args, *held.keywords.values()]
        elif isinstance(held, MethodType):
            open_ += [held.__func__, type(held.__self__)]
        elif isinstance(held, FunctionType):
            if held not in found and _is_own(held.__code__.co_filename):
                found[held] = None
                names = {name for code in codes(held.__code__) for name in code.co_names}
                open_ += [held.__globals__[name] for name in sorted(names & held.__globals__.keys())]
                open_ += [cell.cell_contents for cell in held.__closure__ or () if _is_filled(cell)]
            open_.append(getattr(held, "__wrapped__", None))
        elif isinstance(held, type):
            if _is_own(getattr(sys.modules.get(held.__module__), "__file__", None) or ""):
                open_ += [one for one in vars(held).values() if isinstance(one, FunctionType)]
        elif isinstance(held, ModuleType):
            if _is_own(getattr(held, "__file__", None) or ""):
                open_ += [one for one in vars(held).values() if isinstance(one, FunctionType) and one.__module__ == held.__name__]
        elif held is pipeline and callable(held):
            open_ += [getattr(held, "function", None), getattr(held, "__wrapped__", None), type(held)]
    return list(found)


def _is_own(file: str) -> bool:
    return bool(file) and not file.startswith(("<frozen", *LIBRARIES)) and not Path(file).is_relative_to(PACKAGE)


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def codes(code: CodeType) -> Iterator[CodeType]:
    """A code and all that stand in it."""
    yield code
    for held in code.co_consts:
        if isinstance(held, CodeType):
            yield from codes(held)


def constants_of(functions: Iterable[FunctionType]) -> list[Any]:
    """The numbers and short texts that functions name, in their text or as globals, each once."""
    found: dict[tuple[type, Any], None] = {}
    for function in functions:
        for code in codes(function.__code__):
            for name in code.co_names:
                _add(found, function.__globals__.get(name))
            for step in dis.get_instructions(code):
                _add(found, step.argval if step.opname in ("LOAD_CONST", "LOAD_SMALL_INT") else None)
        for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            _add(found, value)
    return [value for _, value in found][:MOST_CONSTANTS]


def _add(found: dict[tuple[type, Any], None], held: Any) -> None:
    if isinstance(held, str) and 0 < len(held) <= LONGEST:
        found[str, held] = None
    elif isinstance(held, int | float) and not isinstance(held, bool) and held == held:
        found[type(held), held] = None
    elif isinstance(held, Mapping) and len(held) <= MOST_HELD:
        for key, value in held.items():
            _add(found, key)
            _add(found, value)
    elif isinstance(held, tuple | list | set | frozenset) and len(held) <= MOST_HELD:
        for value in held:
            _add(found, value)


def near(constants: Iterable[Any]) -> list[Any]:
    """Constants with the numbers beside them: where comparisons change, and halves, where what is rounded does."""
    found: dict[tuple[type, Any], None] = {}
    for held in constants:
        beside: list[Any] = [held] if isinstance(held, str) else [held, held + 1, held - 1, held / 2]
        for value in beside:
            if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
                found[int, int(value)] = None
            found[type(value), value] = None
    return [value for _, value in found]


def with_constants(usual: st.SearchStrategy[Any], constants: Iterable[Any]) -> st.SearchStrategy[Any]:
    """Values as they are drawn usually, and now and then one that the code names, where the strategy has it."""
    special = [value for value in (*constants, *_ends(usual)) if _has(usual, value)]
    if not special:
        return usual

    @st.composite
    def mixed(draw: Any) -> Any:
        return draw(st.sampled_from(special)) if draw(st.integers(0, 3)) == 3 else draw(usual)

    return mixed()


def _has(strategy: Any, value: Any) -> bool:
    """Whether a strategy draws a value, as far as its kind says; False where it does not say."""
    try:
        held = getattr(strategy, "wrapped_strategy", strategy)
        match type(held).__name__:
            case "OneOfStrategy":
                return any(_has(one, value) for one in held.original_strategies)
            case "IntegersStrategy":
                low, high = held.start, held.end
                return isinstance(value, int) and (low is None or value >= low) and (high is None or value <= high)
            case "FloatStrategy":
                return isinstance(value, int | float) and held.min_value <= value <= held.max_value
            case "TextStrategy":
                ends = held.min_size <= (len(value) if isinstance(value, str) else -1) <= held.max_size
                return ends and all(ord(one) in held.element_strategy.intervals for one in value)
    except (AttributeError, TypeError):
        return False
    return False


def _ends(strategy: Any) -> Iterator[Any]:
    """The least and the greatest value that a strategy draws, where there are such."""
    held = getattr(strategy, "wrapped_strategy", strategy)
    for one in getattr(held, "original_strategies", ()):
        yield from _ends(one)
    for name in ("start", "end", "min_value", "max_value"):
        value = getattr(held, name, None)
        if isinstance(value, int | float) and abs(value) != math.inf:
            yield value


class Lines:
    """Which lines of functions ran, between one `noted` and another."""

    def __init__(self, functions: Iterable[FunctionType]) -> None:
        self.missing: dict[CodeType, set[int]] = {}
        for function in functions:
            for code in codes(function.__code__):
                self.missing[code] = {line for _, _, line in code.co_lines() if line is not None and line != code.co_firstlineno}
        self.all = {(Path(code.co_filename).name, line) for code, lines in self.missing.items() for line in lines}

    @property
    def left(self) -> list[str]:
        """The lines that did not run, as FILE:LINE."""
        found = {(Path(code.co_filename).name, line) for code, lines in self.missing.items() for line in lines}
        return [f"{file}:{line}" for file, line in sorted(found)]

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """Note the lines that run; where another tracer is at work already, it stays alone."""
        if sys.gettrace() is not None or not any(self.missing.values()):
            yield
            return
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(None)

    def _called(self, frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        return self._line if self.missing.get(frame.f_code) else None

    def _line(self, frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        left = self.missing.get(frame.f_code)
        if left:
            left.discard(frame.f_lineno)
        return self._line if left else None


def called_only(function: FunctionType, name: str) -> bool:
    """Whether a function names a global and does nothing with it but to call it."""
    found = [step for code in codes(function.__code__) for step in dis.get_instructions(code) if step.argval == name]
    return bool(found) and all(step.opname == "LOAD_GLOBAL" and step.arg is not None and step.arg & 1 for step in found)


def sizes(constants: Iterable[Any], most: int) -> list[int]:
    """How many rows the code may count up to: its whole numbers, with one less."""
    whole = [int(value) for value in constants if isinstance(value, int | float) and abs(value) < most + 2 and value == int(value)]
    return sorted({size for value in whole for size in (value - 1, value) if 1 <= size <= most})
