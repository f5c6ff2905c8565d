"""Neighbouring inputs to audit: the usual patterns, and pairs drawn from a Hypothesis strategy of data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from typing import Any, Final

import numpy as np

from dpverify.errors import AuditError

RECORDS: Final = ("add-remove", "replace")
"""The adjacencies of lists of records; all others are of vectors."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two neighbouring inputs and what to call them."""

    name: str
    left: Any
    right: Any


def usual_patterns(length: int, step: float = 1.0) -> list[Pair]:
    """The eight usual pairs of answer vectors of `length`, without those that coincide when it is short.

    No answer differs by more than `step`: neighbours in the maximum norm, as for many counting queries at once. Tests run each in both
    orders. Source: Ding, Wang, Wang, Zhang & Kifer 2018 (StatDP), section 5.2, with "all above & all below" as two pairs.
    Raises AuditError for a length below 1.
    """
    if length < 1:
        raise AuditError(f"length = {length}: the patterns are vectors of at least one answer.")
    first = np.arange(length) == 0
    half = np.arange(length) < (length + 1) // 2
    moves = {
        "one above": np.where(first, 1, 0),
        "one below": np.where(first, -1, 0),
        "one above, rest below": np.where(first, 1, -1),
        "one below, rest above": np.where(first, -1, 1),
        "half half": np.where(half, 1, -1),
        "all above": np.ones(length),
        "all below": -np.ones(length),
    }
    base = np.ones(length)
    pairs = [Pair(name, base.tolist(), (base + step * move).tolist()) for name, move in moves.items()]
    pairs.append(Pair("x shape", (base - step * ~half).tolist(), (base - step * half).tolist()))
    return list({(tuple(pair.left), tuple(pair.right)): pair for pair in reversed(pairs)}.values())[::-1]


def strategy_pairs(reference: Any, adjacency: str | None, sensitivity: float, seed: int, count: int) -> list[Pair]:
    """`count` distinct pairs from a Hypothesis strategy of data, or from a callable that returns one; the same for the same seed.

    Data that are tuples of length 2 are pairs already. For others a neighbour is made: of records (adjacency "add-remove" or "replace",
    or a list of what is no number) one is removed, or replaced by one of other data; in a vector one number moves by the sensitivity, or
    all do where neighbours are of the maximum norm or not said to be of any. Fewer pairs where the strategy has no more.
    Raises AuditError for what is no strategy, and where no pair can be made.
    """
    data = draw(strategy_of(reference), seed, 4 * count)
    pairs: dict[str, Pair] = {}
    for i, datum in enumerate(data):
        made = [datum] if isinstance(datum, tuple) and len(datum) == 2 else list(_neighbours(datum, data, adjacency, sensitivity))
        if made:
            left, right = made[i % len(made)]
            pairs.setdefault(repr(plain((left, right))), Pair("", left, right))
    if not pairs:
        raise AuditError(
            f"patterns: none of {len(data)} examples of the strategy, such as {data[0]!r}, has a neighbour. "
            "Let it give pairs (data, data'), lists of records, or vectors of numbers."
        )
    return [Pair(f"example {i}", pair.left, pair.right) for i, pair in enumerate(islice(pairs.values(), count), 1)]


def strategy_of(reference: Any) -> Any:
    """The Hypothesis strategy that an object is, or that it returns when called. Raises AuditError for anything else."""
    need_hypothesis()
    from hypothesis.strategies import SearchStrategy

    strategy = reference if isinstance(reference, SearchStrategy) or not callable(reference) else reference()
    if not isinstance(strategy, SearchStrategy):
        raise AuditError(f"patterns: {reference!r} is no Hypothesis strategy and does not return one, such as lists(floats(0, 1)).")
    return strategy


def need_hypothesis() -> None:
    """Raises AuditError where Hypothesis is not installed: it is wanted only by those who search for data."""
    if find_spec("hypothesis") is None:
        raise AuditError("a search for data needs Hypothesis, which is not installed: pip install hypothesis, or give pairs alone.")


def draw(strategy: Any, seed: int, count: int) -> list[Any]:
    """At most `count` distinct examples, the same for the same seed."""
    import hypothesis

    seen: dict[str, Any] = {}

    settings = hypothesis.settings(
        max_examples=4 * count,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )

    @hypothesis.seed(seed)
    @settings
    @hypothesis.given(strategy)
    def collect(datum: Any) -> None:
        seen.setdefault(repr(plain(datum)), datum)

    collect()
    return list(seen.values())[:count]


def _neighbours(datum: Any, data: Sequence[Any], adjacency: str | None, sensitivity: float) -> Iterator[tuple[Any, Any]]:
    """Neighbours of a datum, as pairs with it, each of another kind."""
    numbers = _numbers(datum)
    if numbers is None or adjacency in RECORDS:
        if isinstance(datum, (list, tuple, np.ndarray)) and len(datum):
            middle = len(datum) // 2
            if adjacency != "replace":
                yield datum, without(datum, middle)
            if adjacency != "add-remove":
                others = (other[-1] for other in data if isinstance(other, type(datum)) and len(other))
                changed = next((other for other in others if repr(plain(other)) != repr(plain(datum[middle]))), None)
                if changed is not None:
                    yield datum, replaced(datum, middle, changed)
        return
    for sign in (1, -1):
        yield datum, _like(datum, _stepped(numbers, sign * sensitivity, np.arange(len(numbers)) == len(numbers) // 2))
        if len(numbers) > 1 and adjacency in (None, "linf"):
            yield datum, _like(datum, _stepped(numbers, sign * sensitivity, np.ones(len(numbers), bool)))


def _stepped(numbers: np.ndarray[Any, Any], step: float, where: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The numbers with some of them moved by a step; integers that floats cannot hold stay exact under a whole step."""
    values = numbers.tolist()
    if numbers.dtype.kind in "iuO" and float(step).is_integer() and max(map(abs, values)) > 2**53:
        return np.array([value + int(step) * int(moved) for value, moved in zip(values, where, strict=True)], object)
    return np.asarray(numbers.astype(np.float64) + step * where)


def without(data: Any, place: int) -> Any:
    """The records but one, in the same container."""
    if isinstance(data, np.ndarray):
        return np.delete(data, place, axis=0)
    return data[:place] + data[place + 1 :]


def replaced(data: Any, place: int, record: Any) -> Any:
    """The records with one replaced, in the same container."""
    if isinstance(data, np.ndarray):
        changed = data.copy()
        changed[place] = record
        return changed
    return data[:place] + type(data)((record,)) + data[place + 1 :]


def _numbers(datum: Any) -> np.ndarray[Any, Any] | None:
    """A number or a vector of numbers as a vector; None for anything else."""
    if isinstance(datum, (bool, str, bytes)) or not isinstance(datum, (int, float, np.number, list, tuple, np.ndarray)):
        return None
    try:
        array = np.atleast_1d(np.asarray(datum))
    except ValueError:  # ragged
        return None
    whole = array.dtype.kind == "O" and all(isinstance(value, int) for value in array.ravel().tolist())  # past int64
    return array if (array.dtype.kind in "iuf" or whole) and array.ndim == 1 and len(array) else None


def _like(datum: Any, numbers: np.ndarray[Any, Any]) -> Any:
    """Moved numbers in the form of the datum that they come from."""
    if isinstance(datum, np.ndarray):
        return numbers.reshape(datum.shape)
    values = numbers.tolist()
    if isinstance(datum, (list, tuple)):
        return type(datum)(values)
    return values[0]


def plain(data: Any) -> Any:
    """Data whose repr tells them apart."""
    if isinstance(data, np.ndarray):
        return ("array", str(data.dtype), data.tolist())
    if isinstance(data, (list, tuple)):
        return type(data)(map(plain, data)) if type(data) in (list, tuple) else list(map(plain, data))
    return data
