"""Noise with finitely many values: coins, and integers below a number."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb
from typing import Any, Final

from dpverify.programs.linear import Linear
from dpverify.trusted.kernel.expr import ONE, Expr, mul, num, power, sub

ARGUMENTS: Final = {"coin": ("p",), "below": ("k",), "binomial": ("n", "p")}
"""Noise with finitely many values, and what it is given."""
MOST_VALUES: Final = 64


def chances(name: str, given: Mapping[str, Linear]) -> list[tuple[Any, Expr]] | None:
    """The values of noise with finitely many, with their probabilities; None where there are too many, or nobody knows how many."""
    if name == "coin":
        p = given["p"].rest
        return [(True, p), (False, sub(ONE, p))]
    size = given["k" if name == "below" else "n"]
    least = 1 if name == "below" else 0
    if size.terms or size.constant.denominator != 1 or not least <= size.constant <= MOST_VALUES:
        return None
    n = int(size.constant)
    if name == "below":
        return [(i, num(1 / size.constant)) for i in range(n)]
    p = given["p"].rest
    return [(i, mul(num(comb(n, i)), _raised(p, i), _raised(sub(ONE, p), n - i))) for i in range(n + 1)]


def _raised(base: Expr, exponent: int) -> Expr:
    return power(base, num(exponent)) if exponent else ONE
