"""Enclosed numbers of witnesses in one form, whatever form a rule tells them in: the digits that both ends share, or [lower, upper]."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal, InvalidOperation
from typing import Any, Final

from dpverify.report.dyadic import readable

_FEWEST: Final = 3
_MOST: Final = 9
_WIDER: Final = Decimal("1.2")
"""Digits are few enough where the interval is at most so much wider for them."""
_NARROW: Final = Decimal("1e-6")
"""Relative to the ends: what is narrower is told as one number."""
_NUMBER: Final = r"-?\d+(?:\.\d*)?(?:e[+-]?\d+)?"
_BALL: Final = re.compile(rf"\[({_NUMBER})? ?\+/- ({_NUMBER})\]")
_INTERVAL: Final = re.compile(rf"\[({_NUMBER}), ({_NUMBER})\]")
_SHARED: Final = 8
"""The fewest signs that two decimals share where these stand for both."""
_CHANCES: Final = ("P", "Q", "P - exp(epsilon)*Q")
"""What is said of two numbers by these names is an interval; elsewhere they may be two answers."""

Ends = tuple[Decimal, Decimal]


def common(lower: str, upper: str) -> str:
    """Two decimals as the digits that they share, or as an interval where that would say too little."""
    (low, _, power), (high, _, other) = lower.partition("e"), upper.partition("e")
    shared = next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high)))
    same_shape = len(low) == len(high) and power == other and "." in low[:shared]
    if same_shape and shared >= _SHARED:
        return f"{low[:shared]}...{power and f'e{power}'}"
    return f"in [{plain_decimal(lower)}, {plain_decimal(upper)}]"


def plain_decimal(text: str) -> str:
    """A decimal without the zeros at its end."""
    return text.rstrip("0").removesuffix(".") if "." in text and "e" not in text else text


def witness_text(witness: Mapping[str, Any]) -> str:
    """A witness on one line."""
    return _line(shown(witness))


def _line(known: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {told}" if told.startswith("in [") else f"{key} = {told}" for key, told in _plainly(known))


def _plainly(known: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    return ((key, plain(value)) for key, value in known.items())


def plain(value: Any) -> str:
    """A value of a witness as it is shown, on one line."""
    if isinstance(value, Mapping):
        return f"({_line(value)})"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(plain(item) for item in value) + "]"
    return str(value)


def shown(witness: Any, key: str = "") -> Any:
    """A witness for people: dyadic numbers as decimals, enclosed numbers in one form."""
    if key == "":
        witness = readable(witness)
    if isinstance(witness, Mapping):
        return {name: shown(value, str(name)) for name, value in witness.items()}
    known = ends(witness) if key in _CHANCES else None
    if known is not None:
        return enclosed(*known) if known[0] != known[1] else witness[0] if isinstance(witness, list | tuple) else witness
    if isinstance(witness, list | tuple):
        return [shown(value, key if key not in _CHANCES else "of") for value in witness]
    if not isinstance(witness, str):
        return witness
    whole = _BALL.fullmatch(witness)
    return enclosed(*_ball(whole)) if whole else _BALL.sub(_of_ball, witness)


def ends(value: Any) -> Ends | None:
    """Both ends of an enclosed number, however it is told: two numbers, the same as one text, a ball, or one number."""
    if isinstance(value, str):
        ball, interval = _BALL.fullmatch(value), _INTERVAL.fullmatch(value)
        if ball:
            return _ball(ball)
        value = interval.groups() if interval else [value]
    if not isinstance(value, list | tuple) or len(value) not in (1, 2):
        return None
    low, high = _decimal(value[0]), _decimal(value[-1])
    return None if low is None or high is None else (low, high)


def enclosed(low: Decimal, high: Decimal) -> str:
    """An interval in as few digits as leave it nearly as narrow, rounded outward; where these are many, those that both ends share."""
    if high - low > _NARROW * max(abs(low), abs(high)):
        for digits in range(_FEWEST, _MOST + 1):
            below, above = _rounded(low, digits, ROUND_FLOOR), _rounded(high, digits, ROUND_CEILING)
            if above - below <= _WIDER * (high - low):
                return f"in [{_text(below)}, {_text(above)}]"
    below, above = _rounded(low, _MOST, ROUND_FLOOR), _rounded(high, _MOST, ROUND_CEILING)
    return common(_written(below), _written(above)) if below != above else _text(below)


def _of_ball(found: re.Match[str]) -> str:
    return enclosed(*_ball(found)).removeprefix("in ")


def _ball(found: re.Match[str]) -> Ends:
    middle, radius = Decimal(found[1] or 0), Decimal(found[2])
    return _exact(60, ROUND_FLOOR).subtract(middle, radius), _exact(60, ROUND_CEILING).add(middle, radius)


def _exact(digits: int, rounding: str) -> Context:
    return Context(prec=digits, rounding=rounding, Emax=MAX_EMAX, Emin=MIN_EMIN)


def _rounded(value: Decimal, digits: int, rounding: str) -> Decimal:
    return _exact(digits, rounding).plus(value)


def _text(value: Decimal) -> str:
    return plain_decimal(_written(value.normalize(_exact(60, ROUND_FLOOR))))


def _written(value: Decimal) -> str:
    """With the zeros at its end that it has."""
    return f"{value:f}" if not value or -4 <= value.adjusted() <= _MOST else f"{value:e}".replace("e+", "e")


def _decimal(value: Any) -> Decimal | None:
    """A decimal, however small, or a fraction."""
    above, _, below = str(value).strip().partition("/")
    try:
        return _exact(60, ROUND_FLOOR).divide(Decimal(above), Decimal(below or 1))
    except (InvalidOperation, ZeroDivisionError):
        return None
