"""Work spread over processes: the results in the order of the tasks, whichever process did them, and whichever of them died."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_MISS: Final = 8  # a search takes about as long as so many re-checks
_ENOUGH: Final = 64  # re-checks that are worth a process


@dataclass(frozen=True, slots=True)
class Died:
    """A process that ended before its task was done. how: by what."""

    how: str


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    pipe: Connection
    group: deque[int]
    task: int = -1


def cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def worthwhile(hits: int, misses: int) -> int:
    """How many processes are worth starting for so many re-checks and searches."""
    return max(1, min(cores(), (hits + _MISS * misses) // _ENOUGH))


def in_order(work: Callable[[T], R], groups: Sequence[Sequence[T]], count: int) -> Generator[R | Died, None, None]:
    """The results of all tasks of all groups, in their order. Tasks of one group share a process as far as may be.

    count: how many processes; with 1 the work is done in this one. What `work` raises in a process of its own ends that process.
    """
    tasks = [task for group in groups for task in group]
    count = min(count, len(tasks))
    if count <= 1:
        yield from map(work, tasks)
        return
    pool = _Pool(work, tasks, groups)
    try:
        pool.start(count)
        for index in range(len(tasks)):
            while index not in pool.done:
                pool.collect()
            yield pool.done.pop(index)
    finally:
        pool.stop()


class _Pool(Generic[T, R]):
    """Processes that each do one task after the other."""

    def __init__(self, work: Callable[[T], R], tasks: Sequence[T], groups: Sequence[Sequence[T]]) -> None:
        self.work, self.tasks = work, tasks
        numbers = iter(range(len(tasks)))
        self.groups = deque(deque(next(numbers) for _ in group) for group in groups)
        self.fresh = deque(self.groups)
        self.workers: list[_Worker] = []
        self.done: dict[int, R | Died] = {}

    def start(self, count: int) -> None:
        """Start processes, each with a task."""
        forks = "fork" in multiprocessing.get_all_start_methods()  # a forked process has the tasks without their being sent
        context: Any = multiprocessing.get_context("fork" if forks else "spawn")
        for _ in range(count):
            if not any(self.groups):
                return
            ours, theirs = context.Pipe()
            inherited = [ours, *(worker.pipe for worker in self.workers)] if forks else []
            process = context.Process(target=_serve, args=(self.work, self.tasks, theirs, inherited), daemon=True)
            process.start()
            theirs.close()
            worker = _Worker(process, ours, deque())
            self.workers.append(worker)
            self._assign(worker)

    def collect(self) -> None:
        """Wait for a process to finish its task, or to die, and see that it or its successor has another."""
        ready = wait([worker.pipe for worker in self.workers])
        for worker in [worker for worker in self.workers if worker.pipe in ready]:
            try:
                sent, result = worker.pipe.recv()
            except (EOFError, OSError):
                self._bury(worker)
                continue
            # what cannot be sent from one process to the other is done in this one
            self.done[worker.task] = result if sent else self.work(self.tasks[worker.task])
            self._assign(worker)

    def stop(self) -> None:
        """End all processes, whatever they do."""
        for worker in self.workers:
            worker.process.kill()
        for worker in self.workers:
            worker.process.join()
            worker.pipe.close()
        self.workers = []

    def _assign(self, worker: _Worker) -> None:
        """Give a process the next task of its group, of a group that nobody has begun, or of the group with the most left."""
        if not worker.group and self.fresh:
            worker.group = self.fresh.popleft()
        left = worker.group or max(self.groups, key=len)
        if not left:
            worker.pipe.close()
            self.workers.remove(worker)
            worker.process.join()
            return
        worker.task = left.popleft() if left is worker.group else left.pop()
        with contextlib.suppress(OSError):  # it died meanwhile: reading from it will tell
            worker.pipe.send(worker.task)

    def _bury(self, worker: _Worker) -> None:
        worker.process.join()
        code = worker.process.exitcode or 0
        how = f"signal {-code} ({signal.strsignal(-code)})" if code < 0 else f"exit code {code}"
        self.done[worker.task] = Died(how)
        worker.pipe.close()
        self.workers.remove(worker)
        self.start(1)


def _serve(work: Callable[[T], R], tasks: Sequence[T], pipe: Connection, inherited: Sequence[Connection]) -> None:
    """Do the tasks whose numbers come through the pipe, until it is closed. inherited: ends of the parent's, which would keep it open."""
    for end in inherited:
        end.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            result = work(tasks[pipe.recv()])
            try:
                pipe.send((True, result))
            except (RecursionError, TypeError, ValueError, AttributeError):
                pipe.send((False, None))
