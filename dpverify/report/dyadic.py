"""Dyadic numbers in witnesses, m*2^e as the kernel writes them, as decimals: lower ends rounded down, upper ends up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any, Final

_NUMBER: Final = re.compile(r"(-?\d+)\*2\^(-?\d+)")
_DIGITS: Final = 9
_WIDE: Final = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)


def readable(value: Any, *, up: bool = False) -> Any:
    """A witness, or a value of one, with its dyadic numbers as decimals of nine digits. up: whether these are rounded up."""
    if isinstance(value, Mapping):
        return {key: readable(inner, up=up) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [readable(inner, up=up or (len(value) == 2 and place == 1)) for place, inner in enumerate(value)]
    return _NUMBER.sub(lambda found: _decimal(int(found[1]), int(found[2]), up), value) if isinstance(value, str) else value


def _decimal(mantissa: int, exponent: int, up: bool) -> str:
    rounded = Context(prec=_DIGITS, rounding=ROUND_CEILING if up else ROUND_FLOOR, Emax=MAX_EMAX, Emin=MIN_EMIN)
    exact = _WIDE.multiply(Decimal(mantissa), _WIDE.power(Decimal(2), Decimal(exponent)))
    decimal = rounded.normalize(exact)
    return f"{decimal:f}" if -5 <= decimal.adjusted() <= _DIGITS else str(decimal).lower().replace("e+", "e")
