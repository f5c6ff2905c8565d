"""Signs of expressions that stand shown: by the lines of a certificate, or while one is searched for.

What is in force is the innermost of the tables that are open. What was found under a table is remembered for tables of the same signs
alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from dpverify.trusted.kernel.expr import Expr, symbols

Box = tuple[tuple[str, Any], ...]
"""The domains of the symbols of an expression, by name."""


_Table = TypeVar("_Table", bound="Shown")


class Shown:
    """Signs by expression and box. stamp: all of them, to tell tables apart; used: those that were asked for."""

    def __init__(self) -> None:
        self.signs: dict[tuple[Expr, Box], frozenset[int]] = {}
        self.stamp: Any = frozenset()
        self.used: dict[tuple[Expr, Box], None] = {}

    def add(self, expr: Expr, domains: Mapping[str, Any], signs: frozenset[int]) -> None:
        """Put down what is proved of an expression over domains."""
        key = expr, box_of(expr, domains)
        self.signs[key] = signs & self.signs.get(key, signs)
        self.stamp |= {(key, signs)}

    def seek(self, left: Expr, right: Expr, domains: Mapping[str, Any], wanted: frozenset[int]) -> bool:
        """Whether signs were added that may tell the order of two expressions: here none ever are."""
        return False


_open: Final = [Shown()]


def table() -> Shown:
    """What is in force."""
    return _open[-1]


def underneath(shown: Shown) -> None:
    """Put a table in force wherever no other is."""
    _open[0] = shown


def sign(expr: Expr, domains: Mapping[str, Any]) -> frozenset[int] | None:
    """The signs that are shown of an expression, None where none are."""
    signs = _open[-1].signs
    if not signs:
        return None
    key = expr, box_of(expr, domains)
    if key in signs:
        _open[-1].used[key] = None
    return signs.get(key)


def box_of(expr: Expr, domains: Mapping[str, Any]) -> Box:
    """The domains of the symbols of an expression."""
    return tuple((name, domains.get(name)) for name in sorted(symbols(expr)))


@contextmanager
def under(shown: _Table) -> Iterator[_Table]:
    """Put a table in force."""
    _open.append(shown)
    try:
        yield shown
    finally:
        _open[:] = [other for other in _open if other is not shown]
