"""Covariances of Gaussian processes, what is released of them, and differences of functions, as claim files write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dpverify.catalogue.toml import Fault, show
from dpverify.catalogue.values import read_expression, read_number
from dpverify.trusted.claims.kinds import COVARIANCES
from dpverify.trusted.kernel.expr import ONE, Expr, symbols

_BY_EXPRESSION: Final = {"eigenvalues": "k", "kernel": "s and t"}
_NAMED: Final = tuple(name for name in COVARIANCES if name not in _BY_EXPRESSION)
_HELP: Final = (
    f"Use one of {', '.join(_NAMED)}, as a name or as {{ name = ..., variance = 1, length = 1, interval = [0, 1] }}; "
    '{ eigenvalues = "1/k**2" }, an expression in k; or { kernel = "min(s, t)", interval = [0, 1] }, an expression in s and t.'
)


@dataclass(frozen=True, slots=True)
class Covariance:
    """What a file says of a covariance: the fields of the model."""

    name: str
    shape: tuple[Expr, ...]
    interval: tuple[Expr, ...]


def read_covariance(value: Any) -> Covariance:
    """A covariance by its name, its eigenvalues or its expression."""
    if isinstance(value, Covariance):
        return value
    table: Mapping[str, Any] = {"name": value} if isinstance(value, str) else value if isinstance(value, dict) else {}
    given = [key for key in ("name", *_BY_EXPRESSION) if key in table]
    if len(given) != 1:
        raise Fault(f"is no covariance. {_HELP}")
    [key] = given
    allowed = {"name": ("variance", "length", "interval"), "kernel": ("interval",), "eigenvalues": ()}[key]
    for other in table.keys() - {key}:
        if other not in allowed:
            raise Fault(f"has the key {other}, which does not go with {key}. {_HELP}")
    interval = _interval(table.get("interval", [0, 1])) if key != "eigenvalues" else ()
    if key != "name":
        written = read_expression(table[key])
        if not symbols(written) & set(_BY_EXPRESSION[key].split(" and ")):
            raise Fault(f"has {key} = {show(table[key])}, which is no expression in {_BY_EXPRESSION[key]}.")
        return Covariance(key, (written,), interval)
    if table["name"] not in _NAMED:
        raise Fault(f"has the name {show(table['name'])}. {_HELP}")
    return Covariance(table["name"], tuple(read_number(table[k]) if k in table else ONE for k in ("variance", "length")), interval)


def _interval(value: Any) -> tuple[Expr, ...]:
    if not isinstance(value, list) or len(value) != 2:
        raise Fault("has an interval that is not [low, high].")
    return read_number(value[0]), read_number(value[1])


def read_evaluations(value: Any) -> Expr | tuple[Expr, ...]:
    """How many evaluations are released, or the points where the function is evaluated."""
    return _several(value, read_number) if isinstance(value, list) else read_number(value)


def read_differences(value: Any) -> tuple[Expr, ...]:
    """Functions, or sequences of coefficients: one expression or a list of them."""
    return _several(value, read_expression) if isinstance(value, list) else (read_expression(value),)


def _several(value: list[Any], read: Callable[[Any], Expr]) -> tuple[Expr, ...]:
    if not value:
        raise Fault("is an empty list.")
    return tuple(map(read, value))
