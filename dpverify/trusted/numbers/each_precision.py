"""What is made once for each working precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from flint import ctx

_T = TypeVar("_T")


def per_precision(make: Callable[[], _T]) -> Callable[[], _T]:
    """What `make` gives at the working precision of the moment, made once for each."""
    made: dict[int, _T] = {}

    def now() -> _T:
        if ctx.prec not in made:
            made[ctx.prec] = make()
        return made[ctx.prec]

    return now
