"""Binary randomized response by the form of its table."""

from __future__ import annotations

from dpverify.trusted.kernel import compare
from dpverify.trusted.kernel.expr import Expr, call, div, num
from dpverify.trusted.kernel.model import Mechanism, Table


def randomized_response(table: Mechanism) -> Expr | None:
    """The epsilon of binary randomized response: log(p/(1 - p)) with p >= 1/2; None for another mechanism."""
    if not isinstance(table, Table) or len(table.rows) != 2 or len(table.rows[0]) != 2:
        return None
    (a, b), (c, d) = table.rows
    if not (compare.certainly_equal(a, d) and compare.certainly_equal(b, c)):
        return None
    if compare.certainly_equal(a, b):
        return num(0)
    return call("abs", call("log", div(a, b)))
