"""Work in processes that can be ended: the only place where processes are made, and where work is bounded in time and in memory.

What a process prints goes to stderr. `in_order` spreads this program's own work over workers, which do one task after the other; a worker
that takes too long, needs too much memory or dies costs its own task alone, and another takes its place. `apart` runs foreign code in a
process of its own: what it changes stays there, and only JSON comes back, never a pickle that it could have made. `Worker.start` is what
others build on who give out work by a rule of their own, as audits do.

On Linux the system ends a process when this one ends, however that happens. Those of `in_order` and `apart` lead a group of their own,
which is ended with them. This keeps runs whole; it is no wall against an attacker, who has the user's rights.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import json
import math
import multiprocessing
import os
import signal
import sys
import time
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Final, Generic, NamedTuple, Self, TypeVar

T = TypeVar("T")
R = TypeVar("R")
Say = Callable[[Any], None]

TIMEOUT: Final = 60.0
"""Seconds that one task may take, where nobody says otherwise."""
MEMORY: Final = 4096
"""MiB that one process may use beyond what it starts with, where nobody says otherwise."""
MOST_BYTES: Final = 64 << 20
"""Of one answer of foreign code."""
_MISS: Final = 8  # a search takes about as long as so many re-checks
_ENOUGH: Final = 64  # re-checks that are worth a process
_LONGEST_WAIT: Final = 1e6
_REST: Final = 10.0  # seconds for the rest of a word that has begun: what takes longer is none
_PIECE: Final = 1 << 20  # bytes that are read at once: a length that nobody meant is not room to be made
_GRACE: Final = 2.0  # seconds
_DEATH_OF_PARENT: Final = 1  # PR_SET_PDEATHSIG of Linux


@dataclass(frozen=True, slots=True)
class Ended:
    """A process that ended before its task was done. how: by what, as a sentence goes on after "it was"; seconds: that it had.

    overdue: it was ended for taking too long; full: it ran out of the memory that it may use.
    """

    how: str
    seconds: float = 0.0
    overdue: bool = False
    full: bool = False


class Bounds(NamedTuple):
    """What a task may take. timeout: seconds, None for any time; memory: MiB, None for any."""

    timeout: float | None = TIMEOUT
    memory: int | None = MEMORY

    def twice(self) -> Bounds:
        """For a task that itself waits for a process that may take as much."""
        return Bounds(None if self.timeout is None else 2 * self.timeout + 1, self.memory)


def cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def worthwhile(hits: int, misses: int) -> int:
    """How many processes are worth starting for so many re-checks and searches."""
    return max(1, min(cores(), (hits + _MISS * misses) // _ENOUGH))


# -- a process, from both of its ends ------------------------------------------------------------------------

_LIVING: Final[weakref.WeakSet[BaseProcess]] = weakref.WeakSet()
_ENDS: Final[weakref.WeakSet[Connection]] = weakref.WeakSet()
"""This process's ends of the pipes to those that it started."""
_answering: list[Connection] = []
"""The pipe through which this process itself answers, where it runs foreign code."""


def _start(target: Callable[..., None], arguments: tuple[Any, ...], *, alone: bool = True) -> tuple[BaseProcess, Connection]:
    """A process that runs `target(*arguments, connection)`, and this end of the connection. Forked where that can be.

    alone: it leads a group of its own and has no files but the connection; else it shares both with this process, and starts none itself.
    Raises what pickling raises, where it cannot be forked.
    """
    context: Any = multiprocessing.get_context("fork" if _forks() else "spawn")
    ours, theirs = context.Pipe()
    _ENDS.add(ours)
    process = context.Process(target=_run, args=(target, arguments, theirs, os.getpid(), alone), daemon=not alone)
    with warnings.catch_warnings():  # of forks beside threads: the process uses none of its parent's
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    theirs.close()
    _LIVING.add(process)
    return process, ours


def _forks() -> bool:
    return "fork" in multiprocessing.get_all_start_methods()


def _run(target: Callable[..., None], arguments: tuple[Any, ...], connection: Connection, parent: int, alone: bool) -> None:
    """What a process does first: it ties its life to its parent's, and lets go of what it inherited."""
    if alone and hasattr(os, "setpgid"):
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
    die_with_parent(parent)
    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    for inherited in [*_ENDS, *_answering]:  # they would keep the pipes open, and foreign code could write to them
        with contextlib.suppress(OSError):
            inherited.close()
    if alone and _forks():
        kept = connection.fileno()
        os.closerange(3, kept)
        os.closerange(kept + 1, 1 << 16)
    _say_nothing_on_stdout()
    target(*arguments, connection)


def _say_nothing_on_stdout() -> None:
    """Send what foreign code prints, and what libraries in C say before they end a process, to stderr: stdout is the answer's."""
    with contextlib.suppress(OSError):
        try:
            os.dup2(2, 1)
        except OSError:  # no stderr either
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.stdout = sys.stderr


def die_with_parent(parent: int) -> None:
    """See that the system ends this process when its parent, of this number, is gone. Linux alone offers that."""
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_DEATH_OF_PARENT, signal.SIGKILL)
    if os.getppid() != parent:  # it was gone before that was asked for
        os._exit(1)


def bound_memory(memory: int | None) -> None:
    """Let this process use so many MiB more than it does, and leave no core dumps. What is beyond is refused to it."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory is None or sys.platform != "linux":
        return
    with contextlib.suppress(OSError, ValueError), open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        most = int(file.read().split()[0]) * resource.getpagesize() + (memory << 20)
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def end(process: BaseProcess) -> None:
    """End a process and its group, whatever they do."""
    if process.pid is not None and hasattr(os, "killpg"):
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(OSError):
        process.kill()
    process.join()
    _LIVING.discard(process)


def _leave(process: BaseProcess, seconds: float) -> None:
    """Let a process end by itself, for so long. `join` would wait for ever for one that closed its pipes and goes on."""
    until = time.monotonic() + seconds
    while process.exitcode is None and time.monotonic() < until:
        time.sleep(0.01)


def _how(process: BaseProcess) -> str:
    """How a process ended that ends by itself, or has; what is left of its group is ended."""
    _leave(process, 1.0)
    code = process.exitcode
    end(process)
    code = process.exitcode if code is None else code
    return f"signal {-code} ({signal.strsignal(-code)})" if code is not None and code < 0 else f"exit code {code}"


@atexit.register
def _end_all() -> None:
    """Before this process waits for its children, as it does at its end."""
    for process in list(_LIVING):
        end(process)


# -- work of this program's own ------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Worker:
    """A process that does one task after the other. task: the number of its own now; since: when it began, or last said something."""

    process: BaseProcess
    pipe: Connection
    task: int | None = None
    since: float = 0.0

    @classmethod
    def start(cls, target: Callable[..., None], arguments: tuple[Any, ...], *, alone: bool = True) -> Self:
        """One that runs `target(*arguments, connection)`, as `_start` has it."""
        return cls(*_start(target, arguments, alone=alone))

    def begin(self, task: int, word: Any) -> None:
        """Give it a task by sending it a word."""
        self.task, self.since = task, time.monotonic()
        with contextlib.suppress(OSError):  # it died meanwhile: reading from it will tell
            self.pipe.send(word)

    def end(self) -> None:
        """End it, whatever it does."""
        end(self.process)
        self.pipe.close()

    def ended(self) -> str:
        """How it ended, or is about to, by itself."""
        how = _how(self.process)
        self.pipe.close()
        return how


@dataclass(slots=True, eq=False)
class _Grouped(Worker):
    group: deque[int] = field(default_factory=deque)


def in_order(
    work: Callable[[T], R], groups: Sequence[Sequence[T]], count: int, bounds: Bounds | None = None, *,
    anew: bool = False, told: Callable[[int], None] = lambda done: None,
) -> Generator[R | Ended, None, None]:  # fmt: skip
    """The results of all tasks of all groups, in their order, each task done in one of `count` processes.

    Tasks of one group share a process as far as may be. What `work` raises ends the process that it is raised in.
    anew: every group has a process of its own, which remembers nothing of others. told: is called with how many tasks are done.
    """
    pool = _Pool(work, groups, bounds or Bounds(), anew)
    try:
        pool.start(min(count, len(pool.tasks)))
        for index in range(len(pool.tasks)):
            while index not in pool.done:
                pool.collect()
                told(index + len(pool.done))
            yield pool.done.pop(index)
    finally:
        pool.stop()


class _Pool(Generic[T, R]):
    """Processes that each do one task after the other."""

    def __init__(self, work: Callable[[T], R], groups: Sequence[Sequence[T]], bounds: Bounds, anew: bool = False) -> None:
        self.work, self.tasks, self.bounds, self.anew = work, [task for group in groups for task in group], bounds, anew
        numbers = iter(range(len(self.tasks)))
        self.groups = deque(deque(next(numbers) for _ in group) for group in groups)
        self.fresh = deque(self.groups)
        self.workers: list[_Grouped] = []
        self.done: dict[int, R | Ended] = {}

    def start(self, count: int) -> None:
        """Start processes, each with a task. A forked one has the tasks without their being sent."""
        for _ in range(count):
            if not any(self.groups):
                return
            worker = _Grouped.start(_serve, (self.work, self.tasks, self.bounds.memory))
            self.workers.append(worker)
            self._assign(worker)

    def collect(self) -> None:
        """Wait for a process to finish its task, to die or to be overdue, and see that it or its successor has another."""
        timeout = self.bounds.timeout
        first = min((worker.since for worker in self.workers), default=0.0)
        left = None if timeout is None else max(0.0, min(first + timeout - time.monotonic(), _LONGEST_WAIT))
        ready = wait([worker.pipe for worker in self.workers], left)
        for worker in list(self.workers):
            seconds = time.monotonic() - worker.since
            if worker.pipe in ready:
                self._hear(worker, seconds)
            elif timeout is not None and seconds >= timeout:
                self._bury(worker, Ended(f"ended after {timeout:g} s", seconds, overdue=True))

    def stop(self) -> None:
        """End all processes, whatever they do."""
        for worker in self.workers:
            worker.end()
        self.workers = []

    def _hear(self, worker: _Grouped, seconds: float) -> None:
        try:
            said, result = worker.pipe.recv()
        except (EOFError, OSError):
            self._bury(worker, Ended(f"ended by {worker.ended()}", seconds))
            return
        if said == "full":
            self._bury(worker, Ended("ended by a lack of memory", seconds, full=True))
            return
        # what cannot be sent from one process to the other, and was done there in time, is done in this one
        task = self._task(worker)
        self.done[task] = result if said == "done" else self.work(self.tasks[task])
        self._assign(worker)

    def _assign(self, worker: _Grouped) -> None:
        """Give a process the next task of its group, of a group that nobody has begun, or of the group with the most left."""
        if self.anew and worker.task is not None and not worker.group:
            self.workers.remove(worker)
            worker.end()
            self.start(1)
            return
        if not worker.group and self.fresh:
            worker.group = self.fresh.popleft()
        left = worker.group or max(self.groups, key=len)
        if not left:
            self.workers.remove(worker)
            worker.end()
            return
        task = left.popleft() if left is worker.group else left.pop()
        worker.begin(task, task)

    def _bury(self, worker: _Grouped, ended: Ended) -> None:
        worker.end()
        self.done[self._task(worker)] = ended
        self.workers.remove(worker)
        self.start(1)

    @staticmethod
    def _task(worker: _Grouped) -> int:
        assert worker.task is not None, "a worker of a pool always has a task"
        return worker.task


def _serve(work: Callable[[T], R], tasks: Sequence[T], memory: int | None, pipe: Connection) -> None:
    """Do the tasks whose numbers come through the pipe, until it is closed."""
    bound_memory(memory)
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            number = pipe.recv()
            try:
                result = work(tasks[number])
            except MemoryError:
                pipe.send(("full", None))
                return
            try:
                pipe.send(("done", result))
            except (RecursionError, TypeError, ValueError, AttributeError):
                pipe.send(("unsendable", None))


# -- foreign code --------------------------------------------------------------------------------------------


def _text(error: BaseException, *, whole: bool = False) -> str:
    """What an exception of foreign code says, or its arguments; foreign code makes that text too, and may fail."""
    try:
        return ", ".join(map(repr, error.args)) if whole else str(error)
    except BaseException as failure:
        return f"a text that cannot be made: {type(failure).__name__}"


class Failed(Exception):
    """What foreign code, or what was done around it, raised in a process of its own: the exception's name and its text."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text
        super().__init__(f"{name}: {text}")


def apart(
    work: Callable[..., Any], arguments: tuple[Any, ...], *, bounds: Bounds | None = None, told: Callable[[Any], float | None] | None = None
) -> Any | Ended:
    """The JSON value that `work(*arguments, say)` gives in a process of its own, or how that ended before.

    say: sends a JSON value on the way, which `told` gets here; what that returns is how many seconds may pass until the next word, None
    for any time. Whatever leads to the end of the process there, SystemExit too, is an end here. Raises Failed for what was raised there.
    """
    bounds = bounds or Bounds()
    process, pipe = _start(_obey, (work, arguments, bounds.memory))
    started = time.monotonic()
    patience = bounds.timeout
    try:
        since = started
        while True:
            try:
                kind, value = _word(heard(pipe, None if patience is None else since + patience))
            except TimeoutError:
                return Ended(f"ended after {patience:g} s", time.monotonic() - started, overdue=True)
            except ValueError:
                return Ended("ended after something else was written into the pipe through which it answers", time.monotonic() - started)
            except (EOFError, OSError):
                return Ended(f"ended by {_how(process)}", time.monotonic() - started)
            since = time.monotonic()
            if kind == "done":
                return value
            if kind == "said":
                patience = bounds.timeout if told is None else told(value)
            elif kind == "failed":
                raise Failed(*value)
            else:
                full = kind == "full"
                return Ended("ended by a lack of memory" if full else value[0], since - started, full=full)
    except (KeyboardInterrupt, SystemExit):  # it may keep what it has come to
        process.terminate()
        _leave(process, _GRACE)
        raise
    finally:
        end(process)
        pipe.close()


def heard(pipe: Connection, until: float | None, most: int = MOST_BYTES) -> bytes:
    """The next word that a process sends, in the form that connections have.

    Raises TimeoutError where none has begun by then, and ValueError for what is none: too long, or never whole.
    """
    if sys.platform == "win32":  # there a word comes whole or not at all
        _await(pipe, until)
        return pipe.recv_bytes(most)
    start = _bytes(pipe, 1, until)
    rest = min(time.monotonic() + _REST, math.inf if until is None else until)
    try:
        size = int.from_bytes(start + _bytes(pipe, 3, rest), "big", signed=True)
        if not 0 <= size <= most:
            raise ValueError("not a word")
        return _bytes(pipe, size, rest)
    except TimeoutError as error:
        raise ValueError("not a whole word") from error


def _bytes(pipe: Connection, size: int, until: float | None) -> bytes:
    """So many bytes, in however many pieces they come."""
    pieces: list[bytes] = []
    while size > 0:
        _await(pipe, until)
        pieces.append(os.read(pipe.fileno(), min(size, _PIECE)))
        size -= len(pieces[-1])
        if not pieces[-1]:
            raise EOFError
    return b"".join(pieces)


def _await(pipe: Connection, until: float | None) -> None:
    """Wait until there is something to read."""
    while not wait([pipe], _LONGEST_WAIT if until is None else max(0.0, min(until - time.monotonic(), _LONGEST_WAIT))):
        if until is not None and time.monotonic() >= until:
            raise TimeoutError


def _word(text: bytes) -> tuple[str, Any]:
    """What foreign code's process says: it may have been made by that code, so nothing about it is taken for granted."""
    try:
        kind, value = json.loads(text)
    except (RecursionError, TypeError) as error:
        raise ValueError("not a word") from error
    good = {
        "done": True, "said": True, "full": True,
        "failed": isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) for part in value),
        "ended": isinstance(value, list) and len(value) == 1 and isinstance(value[0], str),
    }  # fmt: skip
    if not isinstance(kind, str) or not good.get(kind, False):
        raise ValueError("not a word")
    return kind, value


def _obey(work: Callable[..., Any], arguments: tuple[Any, ...], memory: int | None, pipe: Connection) -> None:
    """Do the work and say what came of it."""
    bound_memory(memory)
    _answering[:] = [pipe]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    send = pipe.send_bytes  # what the work does to json or to pipes is no matter of what is said afterwards
    encode = json.JSONEncoder(allow_nan=True).encode

    def say(value: Any) -> None:
        send(encode(["said", value]).encode())

    try:
        word = ["done", work(*arguments, say)]
    except MemoryError:
        word = ["full", None]
    except Exception as error:
        word = ["failed", [type(error).__name__, _text(error)]]
    except BaseException as error:
        word = ["ended", [f"ended by {type(error).__name__}({_text(error, whole=True)})"]]
    try:
        send(encode(word).encode())
    finally:
        os._exit(0)  # no hooks, and no waiting for threads, of what ran here
