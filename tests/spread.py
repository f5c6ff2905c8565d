"""Tests of many things of one kind: `make test` runs them on a sample that is spread over all, `make test-all` on each.

What is left out has the mark `wide`. The sample covers every feature that a test names (a rule, a kind), and is otherwise drawn by
digests of the names, so that a new thing leaves it as it is. It is the same on every machine. Where the marks leave `wide` out anyway,
such tests are not even collected.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from hashlib import sha256
from typing import Any, TypeVar

import pytest

Value = TypeVar("Value")

collected = True
"""Whether tests with the mark are collected; conftest.py says so by the marks that are asked for."""


def spread(
    values: Iterable[Value],
    most: int,
    covers: Callable[[Value], Iterable[Hashable]] = lambda value: (),
    name: Callable[[Value], str] = str,
    dear: Callable[[Value], bool] = lambda value: False,
) -> list[Any]:
    """Parameters of a test, in their order. All but about `most` of them are wide.

    covers: the features of a value, each of which some value of the sample has, though more than `most` were needed; name: its id;
    dear: whether it costs so much that the sample has it only where no other value has one of its features."""
    every = list(values)
    left_out = frozenset(number for number, value in enumerate(every) if dear(value))
    chosen = sample([name(value) for value in every], most, [tuple(covers(value)) for value in every], left_out)
    return [
        pytest.param(value, id=name(value), marks=() if number in chosen else pytest.mark.wide)
        for number, value in enumerate(every)
        if number in chosen or collected
    ]


def sample(names: Sequence[str], most: int, features: Sequence[Sequence[Hashable]] = (), dear: frozenset[int] = frozenset()) -> set[int]:
    """The numbers of a sample of things: those that cover all features, each by the most that are new, and others up to `most`.

    dear: those that are taken after all others alone."""
    order = sorted(range(len(names)), key=lambda number: sha256(names[number].encode()).digest())
    left = [set(each) for each in features]
    chosen = set()
    while any(left):
        number = max(order, key=lambda number: (bool(left[number]) and number not in dear, len(left[number])))
        chosen.add(number)
        covered = left[number]
        left = [each - covered for each in left]
    rest = sorted((number for number in order if number not in chosen), key=dear.__contains__)
    return chosen | set(rest[: max(0, most - len(chosen))])


def of_certificate(data: Any) -> set[Hashable]:
    """What a sample of certificates covers: their rules, and the kinds of mechanisms, norms and measures that they speak of."""
    return {("rule", line["rule"]) for line in data["lines"]} | {("kind", kind) for kind in _kinds(data["claim"])}


def _kinds(value: Any) -> Iterable[str]:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = [value["kind"]] if isinstance(value, dict) and isinstance(value.get("kind"), str) else []
    return [*own, *(kind for each in inside for kind in _kinds(each))]
