"""What a query answers in exact arithmetic on the same data: numbers that compute exactly and are told apart from floats.

So that a move beyond the sensitivity can be put down to the query, or to the rounding of its sums (Casacuberta et al. 2022).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final, Self

import numpy as np

from dpverify.audits.outputs import exact_number

PLAIN: Final = (int, float, np.integer, np.floating)


class Traced:
    """An exact number. Sums, products and comparisons with floats are exact; a conversion to a float is noted in `log`."""

    __slots__ = ("log", "value")

    def __init__(self, value: Fraction, log: list[tuple[float, Fraction]]) -> None:
        self.value, self.log = value, log

    def _with(self, other: Any, compute: Callable[[Fraction, Fraction], Any]) -> Any:
        if isinstance(other, Traced):
            return self._new(compute(self.value, other.value))
        if isinstance(other, (*PLAIN, Fraction)) and np.isfinite(float(other)):
            return self._new(compute(self.value, Fraction(exact_number(other))))
        return NotImplemented

    def _new(self, value: Any) -> Any:
        return Traced(Fraction(value), self.log)

    def _compared(self, other: Any, compare: Callable[[Any, Any], bool]) -> Any:
        if isinstance(other, Traced):
            return compare(self.value, other.value)
        return compare(self.value, exact_number(other)) if isinstance(other, (*PLAIN, Fraction)) else NotImplemented

    def __float__(self) -> float:
        near = float(self.value)
        self.log.append((near, self.value))
        return near

    def __int__(self) -> int:
        return int(self.value)

    def __index__(self) -> int:
        if self.value.denominator != 1:
            raise TypeError("no integer")
        return int(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __eq__(self, other: object) -> Any:
        return self._compared(other, lambda a, b: a == b)

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a < b)

    def __le__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a <= b)

    def __gt__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a > b)

    def __ge__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a >= b)

    def __add__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a + b)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a * b)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a / b)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b / a)

    def __floordiv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a // b)

    def __mod__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a % b)

    def __pow__(self, power: Any) -> Any:
        return self._new(self.value**power) if isinstance(power, int) and abs(power) <= 64 else NotImplemented

    def __neg__(self) -> Self:
        return self._new(-self.value)  # type: ignore[no-any-return]

    def __pos__(self) -> Self:
        return self

    def __abs__(self) -> Self:
        return self._new(abs(self.value))  # type: ignore[no-any-return]

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.value) if digits is None else self._new(round(self.value, digits))

    def __trunc__(self) -> int:
        return math.trunc(self.value)

    def __floor__(self) -> int:
        return math.floor(self.value)

    def __ceil__(self) -> int:
        return math.ceil(self.value)


def exact_answers(query: Callable[[Any], Any], data: Any) -> list[Fraction] | None:
    """The query's answers on the data in exact arithmetic; None where it cannot be followed: it has floats of its own, or fails."""
    for kinds in (PLAIN, (float, np.floating)):  # integers as they are where a query wants them so
        log: list[tuple[float, Fraction]] = []
        try:
            traced = np.asarray(query(_traced(data, kinds, log)), object).reshape(-1).tolist()
            rounded = sum(near != value for near, value in log)
            answers = [_followed(leaf, log) for leaf in traced]
        except Exception:  # user code, on data that it was not written for
            continue
        known = [answer for answer in answers if answer is not None]
        if len(known) == len(answers) and rounded <= len(answers):
            return known
    return None


def _traced(data: Any, kinds: tuple[type, ...], log: list[tuple[float, Fraction]]) -> Any:
    """The data with numbers of these kinds traced."""
    if isinstance(data, (bool, np.bool_)):
        return data
    if isinstance(data, kinds) and math.isfinite(data):  # type: ignore[arg-type]
        return Traced(Fraction(exact_number(data)), log)
    if isinstance(data, np.ndarray):
        changed = np.empty(data.shape, object)
        changed.reshape(-1)[:] = [_traced(value, kinds, log) for value in data.reshape(-1).tolist()]
        return changed if data.dtype.kind in "iufO" else data.copy()
    if isinstance(data, (list, tuple)) and type(data) in (list, tuple):
        return type(data)(_traced(value, kinds, log) for value in data)
    if type(data) is dict:
        return {key: _traced(value, kinds, log) for key, value in data.items()}
    return data


def _followed(leaf: Any, log: list[tuple[float, Fraction]]) -> Fraction | None:
    """The exact number that an answer is, or was before its one conversion to a float; None for a float of unknown origin."""
    if isinstance(leaf, np.ndarray) and leaf.ndim == 0:
        leaf = leaf.item()
    if isinstance(leaf, Traced):
        return leaf.value
    if isinstance(leaf, (int, np.integer, Fraction)):
        return Fraction(int(leaf)) if not isinstance(leaf, Fraction) else leaf
    if isinstance(leaf, (float, np.floating)):
        return next((value for near, value in reversed(log) if near == leaf), None)
    return None
