"""Expressions as vectorised floating-point functions, for looking around. Nothing here is evidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from dpverify.search.later import Later
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import Add, Call, Expr, Mul, Num, Pow, Sym
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.numbers.pieces import breaks

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]
else:
    np, Array = Later("numpy"), Any


def written(point: Fraction) -> str:
    """An exact rational as evidence writes it: a fraction, or m*2^e where that is shorter."""
    n, d = point.numerator, point.denominator
    if d & (d - 1) or n == 0:
        return str(point)
    shift = (n & -n).bit_length() - 1
    dyadic = f"{n >> shift}*2^{shift - (d.bit_length() - 1)}"
    return min(str(point), dyadic, key=len) if n.bit_length() < 4000 else dyadic


def vectorised(expr: Expr, *names: str) -> Callable[..., Array]:
    """The float function of the named variables, whose arrays are broadcast together; nan where it has no value. Picklable."""
    return partial(_values, expr, names)


def _values(expr: Expr, names: tuple[str, ...], *points: Array) -> Array:
    arrays = np.broadcast_arrays(*(np.asarray(array, dtype=float) for array in points))
    with np.errstate(all="ignore"):
        result = _evaluate(expr, dict(zip(names, arrays, strict=True)))
        return np.broadcast_to(np.asarray(result, dtype=float), arrays[0].shape).copy()


def log_of(density: Expr, *names: str) -> Callable[..., Array]:
    """log(density), by its own logarithm where that has a value, which survives underflow."""
    return partial(_log_values, vectorised(neg_log(density), *names), vectorised(density, *names))


def _log_values(minus_log: Callable[..., Array], density: Callable[..., Array], *points: Array) -> Array:
    logs = -minus_log(*points)
    if np.isnan(logs).any():
        with np.errstate(all="ignore"):
            logs = np.where(np.isnan(logs), np.log(density(*points)), logs)
    return np.where(np.isnan(logs), -np.inf, logs)


def kinks_of(expr: Expr, name: str) -> list[float]:
    """Where an expression may bend or jump, increasing; none where that cannot be said: a quadrature finds them by halving."""
    try:
        return sorted(map(float, breaks(expr, name)))
    except (DpverifyError, ArithmeticError):
        return []


def number(expr: Expr) -> float:
    """The float value of a constant."""
    if isinstance(expr, Num):
        return _float(expr)
    with np.errstate(all="ignore"):
        return float(_evaluate(expr, {}))


def _float(number: Num) -> float:
    try:
        return float(number.value)
    except OverflowError:
        return math.inf if number.value > 0 else -math.inf


def _evaluate(expr: Expr, at: Mapping[str, Array]) -> Any:
    if isinstance(expr, Num):
        return _float(expr)
    if isinstance(expr, Sym):
        return at.get(expr.name, np.nan)
    if isinstance(expr, Add):
        return sum(_evaluate(arg, at) for arg in expr.args)
    if isinstance(expr, Mul):
        result: Any = 1.0
        for arg in expr.args:
            result = result * _evaluate(arg, at)
        return result
    if isinstance(expr, Pow):
        return np.power(_evaluate(expr.base, at), _evaluate(expr.exponent, at))
    assert isinstance(expr, Call)
    if expr.name == "log" and isinstance(expr.args[0], Add):
        return _log_sum(expr.args[0], at)
    args = [_evaluate(arg, at) for arg in expr.args]
    return (_SPECIAL if expr.name in SPECIAL else _functions())[expr.name](*args)


def _log_sum(total: Add, at: Mapping[str, Array]) -> Any:
    """log of a sum; of exponentials without underflow."""
    exponents = []
    for term in total.args:
        factors = term.args if isinstance(term, Mul) else (term,)
        exponent: Any = 0.0
        for factor in factors:
            if isinstance(factor, Call) and factor.name == "exp":
                exponent = exponent + _evaluate(factor.args[0], at)
            else:
                exponent = exponent + np.log(_evaluate(factor, at))
        exponents.append(exponent)
    plain = np.log(_evaluate(total, at))
    summed = np.logaddexp.reduce(np.broadcast_arrays(*exponents))
    return np.where(np.isnan(summed), plain, summed)  # a term may be negative, or beyond floats, at some points alone


@cache
def _scipy() -> Any:
    """scipy.special, which takes longer to load than a claim file to read: only where a special function is met."""
    return import_module("scipy.special")


def _logerfc(x: Any) -> Any:
    special = _scipy()
    return np.where(x > 0, np.log(special.erfcx(np.abs(x))) - np.square(x), np.log(special.erfc(x)))


@cache
def _functions() -> Mapping[str, Callable[..., Any]]:
    return {
        "pi": lambda: np.pi,
        "exp": np.exp, "log": np.log, "abs": np.abs, "floor": np.floor, "cosh": np.cosh, "sinh": np.sinh, "tanh": np.tanh,
        "asinh": np.arcsinh, "atanh": np.arctanh,
        "min": lambda *a: np.minimum.reduce(np.broadcast_arrays(*a)), "max": lambda *a: np.maximum.reduce(np.broadcast_arrays(*a)),
        "logratio": lambda n, x, k: np.where(np.abs(x) ** k > 1e-9, np.log(n / x**k), np.nan),  # n cancels near 0
    }  # fmt: skip


_SPECIAL: dict[str, Callable[..., Any]] = {
    "erf": lambda x: _scipy().erf(x), "erfc": lambda x: _scipy().erfc(x), "gamma": lambda x: _scipy().gamma(x),
    "besselk": lambda v, x: _scipy().kv(v, x), "logbesselk": lambda v, x: np.log(_scipy().kve(v, x)) - x, "logerfc": _logerfc,
    "logexprel": lambda x: np.log(_scipy().exprel(x)),
}  # fmt: skip
SPECIAL: Final = frozenset(_SPECIAL)
"""The functions that take scipy."""
