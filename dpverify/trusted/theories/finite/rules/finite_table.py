"""Finite inputs and outputs: the exact tight epsilon of a table or of a finite exponential mechanism.

Theorem: With finitely many inputs and outputs the tight epsilon is the maximum over adjacent inputs x, x' and outputs y of log P[x, y] -
log P[x', y]; a zero that faces a non-zero makes it infinite. In the metric form every log-ratio is divided by the distance of x and x'.

Checked:
- every row holds non-negative numbers that sum to 1
- every adjacent pair, in both orders, and every output is at most the named maximum
- scores move by at most the claimed sensitivity; scores of points are minus their distances

Source: docs/theory/finite.md#finite-table
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.combinators.parameters import fixed
from dpverify.trusted.kernel import compare
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import INFINITE, Bound
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import ZERO, Expr, call, format_expr
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.theories.finite.tables import Finite, LogBalls, finite

NAME: Final = "finite-table"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The exact value as an upper bound ("cells": the maximising cells) or a lower bound ("cell": one of them).

    A cell is [x, x', y] by index. Several maximising cells give the maximum of their log-ratios, for the case where no one of
    them is greatest for certain. A lower bound may fix parameters under "at". Raises Rejected.
    """
    if "cells" in evidence:
        table = finite(claim)
        named = [_cell(item, table) for item in evidence["cells"]]
        return Bound("upper", _upper(table, named))
    fixed_claim, at = fixed(claim, evidence, NAME)
    table = finite(fixed_claim)
    cell = _cell(evidence.get("cell"), table)
    a, b, y = cell
    if table.is_zero(a, y):
        raise Rejected(NAME, list(cell), "the probability on x is zero, so that the cell bounds nothing")
    infinite = table.is_zero(b, y)
    sides = {key: format_expr(table.probability(x, y)) for key, x in (("P", a), ("Q", b))}
    witness = {"pair": [a, b], "event": f"{{{y}}}", **sides}
    return Bound("lower", INFINITE if infinite else table.loss(cell), witness=witness, at=at)


def _cell(item: Any, table: Finite) -> tuple[int, int, int]:
    if not isinstance(item, list | tuple) or len(item) != 3 or not all(type(i) is int for i in item):
        raise CertificateError(f"{NAME}: {item!r} is not a cell [x, x', y].")
    a, b, y = item
    if (a, b) not in table.pairs or not 0 <= y < len(table.weights[0]):
        raise Rejected(NAME, [a, b, y], "the cell is not an adjacent pair with an output")
    return a, b, y


def _upper(table: Finite, named: Sequence[tuple[int, int, int]]) -> Expr:
    """The maximum of the named cells, once every other cell has been found below one of them."""
    if not table.pairs:
        return ZERO
    if not named or any(table.is_zero(x, y) for a, b, y in named for x in (a, b)):
        raise Rejected(NAME, "cells", "the maximum needs a named cell, without zeros")
    ratios = [table.ratio(cell) for cell in named]
    greatest = max((ratio for ratio in ratios if ratio is not None), default=Fraction(0))
    tops = list(dict.fromkeys(table.loss(cell) for cell in named))
    passed: set[Expr] = set(tops)
    balls = None if table.domains else LogBalls(table)
    heights = [] if balls is None else [constant(top) for top in tops]
    for cell in table.cells():
        a, b, y = cell
        if table.is_zero(a, y):
            continue
        if table.is_zero(b, y):
            raise Rejected(NAME, list(cell), "a zero faces a non-zero, so that epsilon is infinite")
        ratio = table.ratio(cell)
        if ratio is not None and ratio <= greatest:
            continue
        if balls is not None:
            ball = balls.loss(cell)
            if any(ball <= height for height in heights):
                continue
        loss = table.loss(cell)
        if loss in passed:
            continue
        if not any(compare.certainly_le(loss, top, table.domains) for top in tops):
            why = f"the log-ratio {format_expr(loss)} is not certainly below the named maximum; name this cell too"
            raise Rejected(NAME, list(cell), why)
        passed.add(loss)
    return tops[0] if len(tops) == 1 else call("max", *tops)
