"""The streams of a program that ends with an exit code: what cannot be told must not change what the code says.

Not being able to write to stderr is no reason to stop. An answer that cannot be written to stdout is lost, which is never a success.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys

from dpverify.runtime.outside import show_all


def prepare() -> None:
    """See that stderr takes everything, that a stdout that is closed fails as a full one does, and that no file gets their numbers."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(_Closed(1, "wb", closefd=False), "utf-8", write_through=True)
    own = sys.stderr is sys.__stderr__
    if sys.stderr is None or (own and not sys.stderr.isatty()):
        encoding = "utf-8" if sys.stderr is None else sys.stderr.encoding
        sys.stderr = io.TextIOWrapper(io.BufferedWriter(_Dropping(2, "wb", closefd=False)), encoding, line_buffering=True)
    show_all(sys.stdout, sys.stderr)


def drop() -> None:
    """Let go of what stdout still holds and could not write: nothing fails over it when the program ends."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


class _Closed(io.FileIO):
    """A stdout that is closed."""

    def write(self, data: object, /) -> int:
        raise OSError(errno.EBADF, "it is closed; where no answer is wanted, send it to /dev/null")


class _Dropping(io.FileIO):
    """A file that drops what it cannot take."""

    def write(self, data: object, /) -> int:
        size = memoryview(data).nbytes  # type: ignore[arg-type]
        try:
            written = super().write(data)  # type: ignore[arg-type]
        except OSError:
            return size
        return size if written is None else written
