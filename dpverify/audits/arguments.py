"""Arguments of audits: one of a name that there is not is told with the nearest that there is; what a run goes by has to be a number."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from numbers import Integral, Real
from typing import Any, Final, ParamSpec, TypeVar

from dpverify.catalogue.toml import meant
from dpverify.errors import AuditError
from dpverify.runtime.finding import FLOAT, MODEL

P = ParamSpec("P")
R = TypeVar("R")

SAMPLES: Final = 1_000_000
"""Runs on each side, where nobody says otherwise."""


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


def check_run(samples: Any, confidence: Any, seed: Any, level: Any, workers: Any, timeout: Any) -> None:
    """See that a run can go by these. Raises AuditError."""
    if not _whole(samples):
        raise AuditError(f"samples = {samples!r:.80} is not a whole number. Write 100_000, say.")
    if samples < 1:
        raise AuditError(f"samples = {samples}: an audit needs some. Leave it out for {SAMPLES}.")
    if not (isinstance(confidence, Real) and 0 < float(confidence) < 1):
        raise AuditError(f"confidence = {confidence!r:.80}: not between 0 and 1. Give 0.999, say.")
    if seed is not None and (not _whole(seed) or seed < 0):
        raise AuditError(f"seed = {seed!r:.80} is not a whole number of at least 0. Leave it out for another one each time.")
    if not _whole(workers) or workers < 0:
        raise AuditError(f"workers = {workers!r:.80}: not a number of processes. 0 runs the audit in this one.")
    if not (isinstance(timeout, Real) and float(timeout) > 0):
        raise AuditError(f"timeout = {timeout!r:.80}: not a time. Give seconds, such as 60.")
    if level not in (MODEL, FLOAT):
        raise AuditError(f'level = {level!r:.80}: not "{MODEL}" or "{FLOAT}". The second, which is the default, looks for both.')


def check_how(executor: Any, vectorised: Any) -> None:
    """See that outputs can be sampled so. Raises AuditError."""
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise AuditError(f"executor = {executor!r:.80}: it cannot submit. Give one of concurrent.futures, or workers = 2, say.")
    if vectorised not in (None, True, False):
        raise AuditError(f"vectorised = {vectorised!r:.80}: not True or False. Leave it out to see it from the sampler's parameters.")


def _whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
