"""Numbers on the command line; what is none is told with what is meant and an example."""

from __future__ import annotations

import math
import re
from typing import Any, Final

import click

_LONGEST: Final = 80
"""Characters of a value that are shown."""


class Whole(click.IntRange):
    """A whole number from `least` to `most`. like: an example."""

    def __init__(self, least: int, most: int | None = None, *, like: str) -> None:
        super().__init__(least, most)
        self.like = like

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number. Raises click.BadParameter."""
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            between = f"of at least {self.min}" if self.max is None else f"from {self.min} to {self.max}"
            self.fail(f"{_shown(value)} is not a whole number {between}, such as {self.like}.", param, ctx)


class Count(Whole):
    """A number of things of at least 1; those who sample write 1e5 as well as 100000."""

    def __init__(self) -> None:
        super().__init__(1, like="100000 or 1e5")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number. Raises click.BadParameter."""
        written = re.fullmatch(r"(\d[\d_]{,99})[eE]\+?(\d\d?)", str(value).strip())
        return super().convert(value if written is None else int(written[1]) * 10 ** int(written[2]), param, ctx)


class Seconds(click.FloatRange):
    """A time of at least 0 seconds."""

    def __init__(self) -> None:
        super().__init__(0)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number. Raises click.BadParameter."""
        try:
            seconds = float(super().convert(value, param, ctx))
        except click.BadParameter:
            seconds = math.nan
        if not math.isfinite(seconds):
            self.fail(f"{_shown(value)} is not a number of seconds of at least 0, such as 60 or 0.5.", param, ctx)
        return seconds


class Confidence(click.types.FloatParamType):
    """A probability between 0 and 1, both excluded."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number. Raises click.BadParameter."""
        try:
            confidence = float(super().convert(value, param, ctx))
        except click.BadParameter:
            confidence = math.nan
        if not 0 < confidence < 1:
            self.fail(f"{_shown(value)} is not a confidence between 0 and 1, such as 0.999.", param, ctx)
        return confidence


def _shown(value: Any) -> str:
    """What was given, as much of it as tells readers which it is."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
