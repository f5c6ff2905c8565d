"""Which functions stand in an expression."""

from __future__ import annotations

from functools import lru_cache

from dpverify.trusted.kernel.expr import Call, Expr, children


@lru_cache(maxsize=1024)
def calls(expr: Expr, *names: str) -> bool:
    """Whether one of the functions of these names stands anywhere in an expression."""
    return (isinstance(expr, Call) and expr.name in names) or any(calls(part, *names) for part in children(expr))
