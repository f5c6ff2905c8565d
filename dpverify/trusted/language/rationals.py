"""Exact rationals, whole numbers and other constants as parameters write them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from dpverify.trusted.kernel.canonical_form import exact_fraction
from dpverify.trusted.kernel.errors import CertificateError, Rejected, certify, require
from dpverify.trusted.kernel.expr import Expr, format_expr, parse, symbols
from dpverify.trusted.kernel.model import Matrix

MAX_EXPONENT: Final = 1_000_000
"""Greatest power of two in the dyadic rationals of evidence."""


def read_fraction(evidence: Mapping[str, Any], key: str, rule: str) -> Fraction:
    """The exact rational under `key`, written as an integer, a fraction "a/b", or a dyadic "m*2^e"."""
    return to_fraction(evidence[key], rule)


def read_whole(evidence: Mapping[str, Any], key: str, rule: str, least: int, most: int | None = None) -> int:
    """The whole number under `key`, as `to_whole` takes it."""
    return to_whole(evidence.get(key), key, rule, least, most)


def to_whole(told: Any, name: str, rule: str, least: int, most: int | None = None) -> int:
    """A whole number from the least to the greatest that may be told, where there is one. Raises CertificateError; true is none."""
    if type(told) is not int or told < least or (most is not None and told > most):
        wanted = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise CertificateError(f"{rule}: {name!r} is {repr(told)[:60]}, not a whole number {wanted}.")
    return told


def to_constant(told: Any, name: str, rule: str) -> Expr:
    """A closed form without symbols. Raises CertificateError, ExprError for what is no expression."""
    expr = parse(str(told))
    certify(not symbols(expr), f"{rule}: {name!r} is {format_expr(expr)}, not a constant.")
    return expr


def read_rising(told: Any, name: str, rule: str, least: int, most: int, first: int | None = None) -> list[Fraction]:
    """A list of exact rationals, each greater than the one before. first: what it starts from, if told. Raises CertificateError."""
    if not isinstance(told, list) or not least <= len(told) <= most:
        raise CertificateError(f"{rule}: '{name}' is no list of {least} to {most} numbers.")
    found = [to_fraction(text, rule) for text in told]
    if any(low >= high for low, high in pairwise(found)) or first not in (None, *found[:1]):
        raise CertificateError(f"{rule}: '{name}' do not rise{'' if first is None else f' from {first} on'}.")
    return found


def read_rows(told: Any, name: str, rule: str, width: int) -> Matrix:
    """Rows of so many exact rationals, one row at least. Raises CertificateError."""
    if not isinstance(told, list) or not told or not all(isinstance(row, list) and len(row) == width for row in told):
        raise CertificateError(f"{rule}: {name!r} is not a list of rows of {width} rationals.")
    return tuple(tuple(to_fraction(entry, rule) for entry in row) for row in told)


def to_fraction(text: Any, rule: str) -> Fraction:
    """An exact rational from its text in evidence."""
    try:
        if isinstance(text, int) and not isinstance(text, bool):
            return Fraction(text)
        mantissa, mark, exponent = str(text).partition("*2^")
        if not mark:
            return exact_fraction(str(text))
        shift = int(exponent)
        require(abs(shift) <= MAX_EXPONENT, Rejected(rule, text, "an exponent beyond a million"))
        return int(mantissa) * Fraction(2) ** shift
    except (ValueError, ZeroDivisionError) as error:
        raise CertificateError(f"{rule}: {text!r} is not an exact rational.") from error
