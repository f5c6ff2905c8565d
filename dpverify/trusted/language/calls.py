"""Which functions stand in an expression."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from dpverify.trusted.kernel.expr import Call, Expr, children


@lru_cache(maxsize=1024)
def calls(expr: Expr, *names: str) -> bool:
    """Whether one of the functions of these names stands anywhere in an expression."""
    return any(isinstance(part, Call) and part.name in names for part in subtrees(expr))


def subtrees(expr: Expr) -> Iterator[Expr]:
    """A tree and all its parts."""
    yield expr
    for part in children(expr):
        yield from subtrees(part)
