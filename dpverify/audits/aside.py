"""What user code writes to stdout goes to stderr while an audit runs: stdout is for the answer, which programs may read."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from typing import TextIO

_lock = threading.Lock()
_inside = 0  # how many audits run: the first turns stdout away, the last one back
_saved: tuple[TextIO, int | None] | None = None


@contextlib.contextmanager
def stdout_aside() -> Iterator[None]:
    """Within, sys.stdout is sys.stderr, and file descriptor 1 is 2: also for code in C, and for processes that are started here."""
    global _inside, _saved
    with _lock:
        if not _inside:
            _saved = _turned_away()
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside and _saved is not None:
                _turned_back(*_saved)
                _saved = None


def _turned_away() -> tuple[TextIO, int | None]:
    _flush(sys.__stdout__, sys.stdout)
    stream, kept = sys.stdout, None
    with contextlib.suppress(OSError):  # a process without a stdout, or without a stderr
        kept = os.dup(1)
        os.dup2(2, 1)
    sys.stdout = sys.stderr
    return stream, kept


def _turned_back(stream: TextIO, kept: int | None) -> None:
    _flush(sys.__stdout__, stream)  # what was written through another name of it is for stderr too
    if sys.stdout is sys.stderr:
        sys.stdout = stream
    if kept is not None:
        os.dup2(kept, 1)
        os.close(kept)


def _flush(*streams: TextIO | None) -> None:
    for stream in streams:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            if stream is not None:
                stream.flush()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).fflush(None)  # the buffers of code in C
