"""What a run tells besides its result: what it prints, logs and warns of, and what it writes into files."""

from __future__ import annotations

import builtins
import contextlib
import io
import logging
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from unittest import mock

from dpverify.replays.calls import ADDRESS

PRINTED, LOGGED, WARNED, WRITTEN, KEPT = "printed", "logged", "warned", "written", "kept"
WAYS: Final = (PRINTED, LOGGED, WARNED, WRITTEN)
MOST_BYTES: Final = 1_000_000


@contextlib.contextmanager
def listened(told: dict[str, Any]) -> Iterator[None]:
    """Note what is printed, logged, warned of and written while this lasts, each under its name; but for files it goes nowhere else."""
    printed, logged, opened = io.StringIO(), list[tuple[str, str, str]](), dict[str, int]()
    real = builtins.open

    def handled(self: logging.Logger, record: logging.LogRecord) -> None:
        logged.append((record.name, record.levelname, ADDRESS.sub("", record.getMessage())))

    def is_heard(self: logging.Logger, level: int) -> bool:
        return level >= logging.INFO or _is_enabled(self, level)

    def open_(file: Any, mode: Any = "r", *rest: Any, **named: Any) -> Any:
        if isinstance(mode, str) and set(mode) & set("wax+") and isinstance(file, str | os.PathLike):
            path = Path(os.fspath(file))
            opened.setdefault(str(path), path.stat().st_size if "a" in mode and path.exists() else 0)
        return real(file, mode, *rest, **named)

    try:
        with (
            contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed),
            mock.patch.object(logging.Logger, "callHandlers", handled), mock.patch.object(logging.Logger, "isEnabledFor", is_heard),
            mock.patch.object(builtins, "open", open_), mock.patch.object(io, "open", open_),
            warnings.catch_warnings(record=True) as warned,
        ):  # fmt: skip
            warnings.simplefilter("always")
            yield
    finally:
        told[PRINTED] = ADDRESS.sub("", printed.getvalue())
        told[LOGGED] = logged
        told[WARNED] = [str(one.message) for one in warned if issubclass(one.category, UserWarning)]
        told[WRITTEN] = {path: _content(path, at) for path, at in opened.items()}


_is_enabled: Final = logging.Logger.isEnabledFor


def _content(path: str, at: int) -> bytes | None:
    """What a file holds from a place on; None where it is gone."""
    with contextlib.suppress(OSError), Path(path).open("rb") as file:
        file.seek(at)
        return file.read(MOST_BYTES)
    return None
