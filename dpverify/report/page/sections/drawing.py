"""What the pictures of a page have in common: numbers in captions, and which claims a picture is of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dpverify.report import Entry
from dpverify.report.page.subject import File
from dpverify.search.decimals import decimal_bounds
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import Expr, symbols


def number(value: float) -> str:
    """A number in a caption."""
    return "infinite" if math.isinf(value) else f"{value:.5g}"


def size(expr: Expr | None) -> float | None:
    """A claimed number as a float; None for "tight", and for what depends on parameters."""
    if expr is None or symbols(expr):
        return None
    try:
        return float(Fraction(decimal_bounds(expr, 15)[0]))
    except (Undecided, ValueError, OverflowError):
        return None


def entries_of(file: File, names: Sequence[str]) -> list[Entry]:
    """The claims of these names."""
    return [entry for entry in file.entries if entry.claim.name in names]


def claimed(file: File, names: Sequence[str]) -> list[float]:
    """The epsilons that claims of these names state."""
    return sorted({value for entry in entries_of(file, names) if (value := size(entry.claim.epsilon)) is not None})


def few(values: Sequence[float], span: float) -> list[float]:
    """Marks that can be told apart: of values closer to each other than a thirtieth of the picture, the first."""
    kept: list[float] = []
    for value in values:
        if not kept or value - kept[-1] > span / 30:
            kept.append(value)
    return kept
