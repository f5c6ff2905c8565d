"""The table of local laws of functions: their signs and those of their derivatives at an argument of known sign (theory#shape-calculus)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Final

from dpverify.trusted.kernel.signs import ANY, AT_LEAST_ZERO, NEGATIVE, NULL, POSITIVE, Sign, minus


@dataclass(frozen=True, slots=True)
class Law:
    """The signs of f, f', f'', (log f)' and (log f)'' at an argument; the last two where f is positive."""

    value: Sign
    slope: Sign
    bend: Sign
    log_slope: Sign
    log_bend: Sign


_EVERYWHERE: Final[Mapping[str, str]] = {
    "exp": "+ + + + 0",
    "cosh": "+ v + v +",
    "sinh": "v + v ? ?",
    "tanh": "v + -v ? ?",
    "asinh": "v + -v ? ?",
    "erf": "v + -v ? ?",
    "erfc": "+ - v - -",
    "logerfc": "-v - - ? ?",
    "logexprel": "v + + ? ?",  # the logarithm of a mean of exp(t u) over t in [0, 1]
}
"""Functions of the whole line, smooth; v is the sign of the argument."""

_AT_POSITIVE: Final[Mapping[str, str]] = {
    "besselk": "+ - + - >=",  # K_v(x) is the integral of exp(-x cosh t) cosh(v t): it falls and is log-convex
    "logbesselk": "? - >= ? ?",
}
"""Functions of a positive last argument."""

_SIGNS: Final = {"+": POSITIVE, "-": NEGATIVE, "0": NULL, ">=": AT_LEAST_ZERO, "?": ANY}


def law(name: str, v: Sign) -> Law | None:
    """The law of a function at arguments of these signs; None where it has none, or is not certainly defined."""
    row = _EVERYWHERE.get(name) or (_AT_POSITIVE.get(name) if v == POSITIVE else None)
    return None if row is None else Law(*({**_SIGNS, "v": v, "-v": minus(v)}[sign] for sign in row.split()))


def extreme(name: str, parts: list[Sign]) -> Sign:
    """The signs of a "min" or a "max"."""
    pick = min if name == "min" else max
    return reduce(lambda a, b: frozenset(pick(x, y) for x in a for y in b), parts)
