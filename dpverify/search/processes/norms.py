"""Finds how the norm of a difference is derived from the covariance of a process, or that it is infinite."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations, islice, product
from math import ceil, floor
from typing import Any, Final

from dpverify.search.processes import kernel_combinations
from dpverify.trusted.kernel.errors import DpverifyError, Undecided
from dpverify.trusted.kernel.expr import ZERO, Call, Expr, Num, children, mul, num, sub, symbols
from dpverify.trusted.kernel.model import EllipticalProcess
from dpverify.trusted.language.linear import linear_part
from dpverify.trusted.theories.processes import evaluations, gaussian_functions
from dpverify.trusted.theories.processes import norms as processes

Told = dict[str, Any]

_FIRST: Final = ((64, 2), (1024, 1), (64, 4), (4096, 1))
_SHARPER: Final = ((128, 4), (512, 5), (1024, 6), (4096, 2))
_TAILS: Final[tuple[Told, ...]] = (
    {"logarithms": 0},
    {"logarithms": 1},
    *({"logarithms": c, "end": end} for c in (1, 0) for end in (10, 6, 40, 400)),
)
_SPARE: Final = 8
_ROUGH: Final = 16
_SIGNS: Final = ({"logarithms": 1, "cells": 64}, {"logarithms": 1, "cells": 512})
_WANTED: Final = {
    "eigenvalues": "A sequence wants terms that are smooth in k.",
    "rbf": (
        "All functions in the space of rbf are analytic, but not all analytic functions are in it: it is decided for sums of "
        "c*t**m*exp(-a*t**2 + b*t), and where a derivative jumps."
    ),
    "kernel": (
        "Of a covariance that is written out it is decided for sums of c*K(t, x), x rational points of the interval, and, where it is a "
        "function of the earlier point times one of the later, for functions in smooth pieces."
    ),
    "function": "A function wants pieces that are smooth.",
}
_CELLS: Final = (4, 32, 256, 4096)
_PLACES: Final = (Fraction(1, 2), Fraction(1))
"""The shares of the interval at whose ends a covariance is taken apart into a function of the earlier point and one of the later."""
_ENDS: Final = (4, 6, 10, 20, 60)
_FAILS: Final = (DpverifyError, ArithmeticError, ValueError)


def derivations(noise: EllipticalProcess, digits: int) -> list[Told]:
    """For each difference how its norm is enclosed, to about so many digits where that can be had. Raises Undecided."""
    return [_derivation(noise, h, digits) for h in noise.differences]


def _derivation(noise: EllipticalProcess, h: Expr, digits: int) -> Told:
    """The first that works, made more accurate as long as that is wanted."""
    if h == ZERO:
        return {}
    found = next(((accuracy, told) for told in _tried(noise, h) if (accuracy := _accuracy(noise, h, told)) is not None), None)
    if found is None:
        raise Undecided(
            f"{processes.WHAT}: that the difference is in the space of the noise is not shown, nor that it is not. {_WANTED[_kind(noise)]} "
            "Or state the sensitivity, the norm itself, or release values at points with evaluations."
        )
    if "signs" in found[1]:
        return max([found, *_further_out(noise, h, found)], key=lambda one: one[0])[1]
    for start, order in _SHARPER if noise.covariance == "eigenvalues" else ():
        if found[0] >= 3.33 * digits + _SPARE:
            break
        told = {**found[1], "start": start, "order": order}
        if (accuracy := _accuracy(noise, h, told)) is not None and accuracy > found[0]:
            found = accuracy, told
    return found[1]


def _further_out(noise: EllipticalProcess, h: Expr, found: tuple[float, Told]) -> Iterator[tuple[float, Told]]:
    """The same with ends further out, where it is not accurate."""
    for end in (40, 400) if found[0] < _ROUGH else ():
        told = {**found[1], "end": end}
        if (accuracy := _accuracy(noise, h, told)) is not None:
            yield accuracy, told


def _nested(expr: Expr) -> int:
    """How many logarithms of k stand in one another."""
    inside = max(map(_nested, children(expr)), default=0)
    return inside + (isinstance(expr, Call) and expr.name == "log" and "k" in symbols(expr))


def _kind(noise: EllipticalProcess) -> str:
    return noise.covariance if noise.covariance in _WANTED else "function"


def _accuracy(noise: EllipticalProcess, h: Expr, told: Told) -> float | None:
    """To how many bits the norm is known so; None where it is not."""
    try:
        square = processes.squared_norm(noise, h, told)
    except _FAILS:
        return None
    return float("inf") if square.is_exact() else float(square.rel_accuracy_bits())


def _tried(noise: EllipticalProcess, h: Expr) -> Iterator[Told]:
    if noise.covariance == "eigenvalues":
        for (start, order), tail in product(_FIRST, _TAILS):
            yield {"start": start, "order": order, **tail}
        for signs, (start, order) in product(_SIGNS, _FIRST) if _nested(mul(h, noise.shape[0])) > 1 else ():
            yield {"start": start, "order": order, "logarithms": 1, "end": 4, "signs": signs}
        return
    if noise.covariance == "rbf":
        yield {}
        return
    if noise.covariance == "kernel":
        yield from kernel_combinations.combinations_of(noise.shape[0], h, processes.interval_of(noise), _kinked)
        yield from _by_time(noise, h)
        return
    for shape in _shapes(noise, h):
        yield from ({**shape, "cells": cells} for cells in _CELLS)


def _by_time(noise: EllipticalProcess, h: Expr) -> Iterator[Told]:
    """A covariance that is written out as a function of the earlier point times one of the later."""
    low, high = processes.interval_of(noise)
    for share, cells in product(_PLACES, _CELLS):
        yield {**_cuts(noise, h), "cells": cells, "at": str(low + share * (high - low))}


def _shapes(noise: EllipticalProcess, h: Expr) -> Iterator[Told]:
    """Where the function is cut, and at which ends it may be singular."""
    cut = _cuts(noise, h)
    yield cut
    for end in _ENDS:
        for sides in (("left",), ("right",), ("left", "right")):
            yield {**cut, **dict.fromkeys(sides, end)}


def _cuts(noise: EllipticalProcess, h: Expr) -> Told:
    """The rational kinks of a function inside the interval."""
    low, high = processes.interval_of(noise)
    found = sorted({at for u in _kinked(h, low, high) if (at := _root(u)) is not None and low < at < high})[: processes.MOST_CUTS]
    return {"cuts": [str(at) for at in found]} if found else {}


def _kinked(expr: Expr, low: Fraction, high: Fraction) -> Iterator[Expr]:
    """Where these are 0 the expression has a kink, or a jump, between two ends."""
    if isinstance(expr, Call) and expr.name == "floor":
        slope, offset = linear_part(expr.args[0], "t")
        if isinstance(slope, Num) and isinstance(offset, Num):
            first, last = sorted(slope.value * end + offset.value for end in (low, high))
            yield from (sub(expr.args[0], num(n)) for n in islice(range(ceil(first), floor(last) + 1), processes.MOST_CUTS))
    if isinstance(expr, Call) and expr.name == "abs":
        yield expr.args[0]
    if isinstance(expr, Call) and expr.name in ("min", "max"):
        yield from (sub(a, b) for a, b in combinations(expr.args, 2))
    for part in children(expr):
        yield from _kinked(part, low, high)


def _root(u: Expr) -> Fraction | None:
    try:
        slope, offset = linear_part(u, "t")
    except DpverifyError:
        return None
    if symbols(slope) | symbols(offset) or not isinstance(slope, Num) or not isinstance(offset, Num) or slope == ZERO:
        return None
    return -offset.value / slope.value


def outside(noise: EllipticalProcess) -> tuple[int, Told] | None:
    """The number of a difference that is certainly outside the space of the noise, and what shows it."""
    for number, h in enumerate(noise.differences):
        for told in _shown(noise, h):
            if _holds(lambda told=told, h=h: processes.is_infinite(noise, h, told)):  # type: ignore[misc]
                return number, told
    return None


def apart_at_points(noise: EllipticalProcess) -> tuple[int, Told] | None:
    """The same of values at points; nothing more shows it."""
    found = (number for number, h in enumerate(noise.differences) if _holds(lambda h=h: evaluations.is_apart(noise, h)))  # type: ignore[misc]
    return next(((number, {}) for number in found), None)


def _holds(said: Callable[[], bool]) -> bool:
    try:
        return said()
    except _FAILS:
        return False


def _shown(noise: EllipticalProcess, h: Expr) -> Iterator[Told]:
    if noise.covariance == "eigenvalues":
        signs: tuple[Told, ...] = ({}, {"signs": _SIGNS[0]}) if _nested(noise.shape[0]) > 1 else ({},)
        for way, start, end, logarithms in product(signs, (16, 64, 1024), (4, 6, 10, 20), (0, 1, 2)):
            yield {"start": start, "end": end, "logarithms": logarithms, **way}
        return
    if noise.covariance == "rbf":
        yield from ({"term": number} for number in range(gaussian_functions.MOST_TERMS))
    if noise.covariance == "kernel":
        yield from _by_time(noise, h)
    if noise.covariance not in processes.JUMPS:
        return
    cut = _cuts(noise, h)
    if noise.covariance in processes.SMOOTHNESS:
        yield from ({**cut, "side": side} for side in ("left", "right"))
        yield from ({**cut, "side": side, "end": end} for side, end in product(("left", "right"), _ENDS))
    for number, j in product(range(len(cut.get("cuts", ()))), range(processes.JUMPS[noise.covariance])):
        yield from ({**cut, "cut": number, "derivative": j, "cells": cells} for cells in _CELLS)
