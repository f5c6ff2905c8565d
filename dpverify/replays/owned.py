"""The randomness of a run that is no noise, and its clock: the same in both runs, as long as the pipeline itself seeds nothing."""

from __future__ import annotations

import contextlib
import copy
import datetime
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType, MethodType
from typing import Any, Final
from unittest import mock

from dpverify.replays.adapters import ADAPTERS, REAL, Patches, noting
from dpverify.replays.code import called_only, codes
from dpverify.replays.noise import Draw, Session

NOW: Final = 1_700_000_000
DAY: Final = 86_400


@contextlib.contextmanager
def owned(
    session: Session, public: int, patch: Sequence[str], functions: Sequence[FunctionType], pipeline: Any = None
) -> Iterator[None]:  # fmt: skip
    """Own what is random, and the clock. public: decides both; patch: the libraries whose noise is noted; functions: the pipeline's."""
    patches = [*_entropy(public), *_clock(public), *_seeds(session, public)]
    for name in patch:
        patches += ADAPTERS[name](session)
    held = {id(real): made for owner, name, made in patches if (real := getattr(owner, name, None)) is not None}
    with contextlib.ExitStack() as stack:
        stack.callback(random.setstate, random.getstate())
        random.seed(public)
        if (np := sys.modules.get("numpy")) is not None:
            stack.callback(np.random.set_state, np.random.get_state())
            np.random.seed(public)
        for owner, name, made in patches:
            stack.enter_context(mock.patch.object(owner, name, made))
        for space, key, made in [*_named(functions, held), *_generators(session, functions, pipeline, "numpy" in patch)]:
            stack.enter_context(_put(space, key, made))
        yield


@contextlib.contextmanager
def _put(space: dict[str, Any], key: str, made: Any) -> Iterator[None]:
    """A value in place of another in a namespace, for a while."""
    was, before = key in space, space.get(key)
    space[key] = made
    try:
        yield
    finally:
        if was:
            space[key] = before
        else:
            space.pop(key, None)


def _entropy(public: int) -> Patches:
    """What the system gives as random: of `secrets`, of generators without a seed, of uuid4."""
    source = random.Random(f"entropy {public}")
    drawn = source.randbytes
    return [(os, "urandom", drawn), (random, "_urandom", drawn)]


_DATETIME, _DATE = datetime.datetime, datetime.date


class _Type(type):
    """Of classes that stand in place of others, whose instances theirs are."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, cls.__mro__[1])


class _Clock:
    """The time of day, which stands still while a pipeline runs."""

    now = NOW

    class Datetime(datetime.datetime, metaclass=_Type):
        """In place of datetime.datetime."""

        def __new__(cls, *given: Any, **named: Any) -> Any:
            return _DATETIME(*given, **named)

        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return _DATETIME.fromtimestamp(_Clock.now, tz)

        @classmethod
        def utcnow(cls) -> Any:
            return _DATETIME.fromtimestamp(_Clock.now, datetime.UTC).replace(tzinfo=None)

        @classmethod
        def today(cls) -> Any:
            return cls.now()

    class Date(datetime.date, metaclass=_Type):
        """In place of datetime.date."""

        def __new__(cls, *given: Any, **named: Any) -> Any:
            return _DATE(*given, **named)

        @classmethod
        def today(cls) -> Any:
            return _DATE.fromtimestamp(_Clock.now)


def _clock(public: int) -> Patches:
    """The time of day, which stands still."""
    _Clock.now = now = NOW + DAY * public
    return [
        (datetime, "datetime", _Clock.Datetime), (datetime, "date", _Clock.Date),
        (time, "time", lambda: float(now)), (time, "time_ns", lambda: now * 10**9),
    ]  # fmt: skip


def _seeds(session: Session, public: int) -> Patches:
    """Seeds that the pipeline sets are noted."""
    inner = random.seed

    def seed(value: Any = None, *rest: Any) -> None:
        session.seeded("random", value)
        inner(public if value is None else value, *rest)

    found: Patches = [(random, "seed", seed)]
    if (np := sys.modules.get("numpy")) is not None:
        inner_np, inner_rng = np.random.seed, np.random.default_rng

        def np_seed(value: Any = None) -> None:
            session.seeded("numpy.random", value)
            inner_np(public if value is None else value)

        def default_rng(value: Any = None) -> Any:
            session.seeded("numpy.random.default_rng", value)
            return inner_rng(value)

        found += [(np.random, "seed", np_seed), (np.random, "default_rng", default_rng)]
    return found


def _named(functions: Sequence[FunctionType], held: dict[int, Any]) -> Iterator[tuple[dict[str, Any], str, Any]]:
    """Names of the pipeline's modules for what is replaced, as after `from numpy.random import laplace`; and float and int of noise."""
    seen = set[tuple[int, str]]()
    for function in functions:
        space = function.__globals__
        for name in sorted({name for code in codes(function.__code__) for name in code.co_names}):
            if (id(space), name) in seen:
                continue
            seen.add((id(space), name))
            if id(space.get(name)) in held:
                yield space, name, held[id(space[name])]
            elif name in CONVERSIONS and name not in space and _only_called(functions, space, name):
                yield space, name, CONVERSIONS[name]


def _only_called(functions: Sequence[FunctionType], space: dict[str, Any], name: str) -> bool:
    users = [one for one in functions if one.__globals__ is space and any(name in code.co_names for code in codes(one.__code__))]
    return all(called_only(one, name) for one in users)


def _as_float(*given: Any) -> Any:
    return given[0].as_float() if len(given) == 1 and isinstance(given[0], Draw) else float(*given)


def _as_int(*given: Any, **named: Any) -> Any:
    return given[0].as_int() if len(given) == 1 and isinstance(given[0], Draw) else int(*given, **named)


CONVERSIONS: Final[dict[str, Callable[..., Any]]] = {"float": _as_float, "int": _as_int}
"""What makes a number of noise that is not added yet: it stays noise."""


def _generators(
    session: Session, functions: Sequence[FunctionType], pipeline: Any, noted: bool
) -> Iterator[tuple[dict[str, Any], str, Any]]:  # fmt: skip
    """Generators of numpy that were there before the run, in modules and in the pipeline's own object: copies of them, or noting ones."""
    spaces = [(one.__globals__, {name for code in codes(one.__code__) for name in code.co_names}) for one in functions]
    own = pipeline.__self__ if isinstance(pipeline, MethodType) else pipeline
    if not isinstance(own, FunctionType | type) and hasattr(own, "__dict__"):
        spaces.append((vars(own), set(vars(own))))
    kinds = noting(session, old=True) if noted else (None, None)
    seen = set[tuple[int, str]]()
    for space, names in spaces:
        for name in sorted(names & space.keys()):
            value = space[name]
            if (id(space), name) in seen or not isinstance(value, REAL):
                continue
            seen.add((id(space), name))
            yield space, name, _copied(value, kinds)


def _copied(value: Any, kinds: Sequence[Any]) -> Any:
    """A generator with the same state, which a run leaves alone."""
    if hasattr(value, "bit_generator"):
        bits = copy.deepcopy(value.bit_generator)
        return (kinds[0] or type(value))(bits)
    made = (kinds[1] or type(value))(0)
    made.set_state(value.get_state())
    return made


@contextlib.contextmanager
def patched_for_real(public: int) -> Iterator[None]:
    """Randomness that libraries draw, from a seed, and put back afterwards."""
    import numpy as np

    state, numbers = random.getstate(), np.random.get_state()
    random.seed(public)
    np.random.seed(public)
    made, inner = [0], np.random.default_rng

    def default_rng(value: Any = None) -> Any:
        made[0] += 1
        return inner([public, made[0]] if value is None else value)

    try:
        with mock.patch.object(np.random, "default_rng", default_rng):
            yield
    finally:
        random.setstate(state)
        np.random.set_state(numbers)
