"""Work in forked processes: so many at a time, each with a limit, nothing left behind."""

from __future__ import annotations

import os
import resource
import signal
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TextIO, TypeVar

Task = TypeVar("Task")
MEMORY = 4 << 30
"""What one process may have of address space, in bytes."""


@dataclass(frozen=True)
class Ended:
    """How a process ended: the signal that killed it, if one did, and the lines that it wrote."""

    killed_by: int | None
    late: bool
    lines: list[str]


def forked(
    tasks: Iterable[Task], work: Callable[[Task, TextIO], None], jobs: int, seconds: Callable[[Task], float], deadline: float
) -> Iterator[tuple[Task, Ended]]:
    """Run `work` on every task, each in a process of its own; none is begun after the deadline. Yields each as it ends."""
    waiting = iter(tasks)
    running: dict[int, tuple[Task, Any, float]] = {}
    more = True
    try:
        while running or more:
            while more and len(running) < jobs:
                task = next(waiting, None) if time.monotonic() < deadline else None
                if task is None:
                    more = False
                    break
                out = tempfile.TemporaryFile("w+")  # noqa: SIM115 (closed when its process has ended)
                running[_start(task, work, out)] = task, out, time.monotonic() + seconds(task)
            for pid, (task, out, until) in list(running.items()):
                ended, status = os.waitpid(pid, os.WNOHANG)
                late = not ended and time.monotonic() > until
                if late:
                    _end(pid)
                    _, status = os.waitpid(pid, 0)
                if ended or late:
                    _end(pid)  # what it has started
                    del running[pid]
                    out.seek(0)
                    yield task, Ended(os.WTERMSIG(status) if os.WIFSIGNALED(status) else None, late, out.read().splitlines())
                    out.close()
            time.sleep(0.01)
    finally:
        for pid in running:
            _end(pid)
            os.waitpid(pid, 0)


def limit_cpu(seconds: float) -> None:
    """Let this process be killed when it has used so much more CPU, even inside C code that never returns."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


def _start(task: Task, work: Callable[[Task, TextIO], None], out: TextIO) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.setpgid(0, 0)
        for number in (signal.SIGPROF, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        work(task, out)
        out.flush()
        code = 0
    finally:
        os._exit(code)


def _end(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except OSError:
        try:
            os.kill(group, signal.SIGKILL)
        except OSError:
            return
