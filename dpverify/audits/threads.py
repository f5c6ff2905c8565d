"""One thread of linear algebra while an audit runs: its matrices are small, and threads that wait for each other take ten times as long.

The command line says so to BLAS before numpy is there. In somebody's process numpy is there already, so its BLAS is told, and told back
after.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

_NAMES: Final = [
    (f"{start}openblas_set_num_threads{end}", f"{start}openblas_get_num_threads{end}") for start in ("", "scipy_") for end in ("", "64_")
]


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Within, OpenBLAS has one thread, also in processes that are forked; where it cannot be told, as many as before."""
    before: list[tuple[Callable[[int], Any], int]] = []
    try:
        for change, current in _libraries():
            count = int(current())
            if count > 1:
                change(1)
                before.append((change, count))
        yield
    finally:
        for change, count in before:
            change(count)


def _libraries() -> Iterator[tuple[Callable[[int], Any], Callable[[], Any]]]:
    """How many threads each OpenBLAS of this process has, and how to say it."""
    with contextlib.suppress(OSError, ValueError):
        lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        parts = [line.split(maxsplit=5) for line in lines if "openblas" in line.lower()]
        for file in sorted({part[5] for part in parts if len(part) == 6}):
            library = ctypes.CDLL(file)  # which is loaded already
            for change, current in _NAMES:
                if hasattr(library, change) and hasattr(library, current):
                    yield getattr(library, change), getattr(library, current)
                    break
