"""Arguments of audits by their names: one that there is not is told with the nearest that there is."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from dpverify.catalogue.toml import meant
from dpverify.errors import AuditError

P = ParamSpec("P")
R = TypeVar("R")


def named_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """The same function; for an argument that it does not have it raises AuditError."""
    known = inspect.signature(function).parameters

    @wraps(function)
    def checked(*given: P.args, **named: P.kwargs) -> R:
        for name in named:
            if name not in known:
                raise AuditError(f"{function.__name__}: unknown argument {name!r}.{meant(name, known)}")
        return function(*given, **named)

    return checked
