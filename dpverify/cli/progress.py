"""How far long work is, on stderr: a bar on a terminal, else a line at its start and then one now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from itertools import accumulate
from types import TracebackType
from typing import Any, Final, Self

import click

from dpverify.cli.output import say, watched

LONG: Final = 64
"""So many things are told of at the start, since they take long."""
EVERY: Final = 10.0
"""Seconds between two lines."""


class Progress:
    """Tells how many of some things are done. doing: what is done to them; things: what they are, of two or more.

    least: so many things are worth a bar. weights: about how long each takes, in their order; empty where all take as long.
    """

    def __init__(self, doing: str, total: int, things: str, *, least: int = 1, weights: Sequence[float] = ()) -> None:
        self.doing, self.total, self.things = doing, total, things
        self.behind = list(accumulate(weights or [1.0] * total, initial=0.0))
        self.bar: Any = click.progressbar(length=total, label=doing, file=sys.stderr) if watched() and total >= least else None

    def __enter__(self) -> Self:
        self.started = self.told = time.monotonic()
        if self.bar is not None:
            self.bar.__enter__()
        elif self.total >= LONG:
            say(f"{self.doing} {self.total} {self.things}", err=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.bar is not None:
            self.bar.__exit__(kind, error, trace)

    def at(self, done: int) -> None:
        """Say that so many are done, if it is time to."""
        if self.bar is not None:
            self.bar.update(done - self.bar.pos)
            return
        now = time.monotonic()
        if now - self.told < EVERY or not 0 < done < self.total:
            return
        self.told = now
        left = (now - self.started) * (self.behind[-1] / self.behind[done] - 1)
        say(f"{self.doing}: {done} of {self.total} {self.things}, about {_rough(left)} left", err=True)


def _rough(seconds: float) -> str:
    """A time, as roughly as it is known."""
    return f"{max(1, round(seconds / 10)) * 10} s" if seconds < 100 else f"{round(seconds / 60)} min"
