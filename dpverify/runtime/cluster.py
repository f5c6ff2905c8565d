"""Work on a Dask cluster: tasks that may be done twice, whose results come in their order whatever becomes of workers and scheduler.

A task is a pure function of its arguments. So one that a slow worker does not come to an end with is given to another too, and one whose
worker or scheduler is gone is given out again; whichever answer comes first is the answer.
"""

from __future__ import annotations

import contextlib
import importlib
import shutil
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final, TypeVar

T = TypeVar("T")

PATIENCE: Final = 10.0  # seconds for a scheduler to answer, and for a first worker
RETURN: Final = 120.0  # seconds for a scheduler or workers that were there to come back
AHEAD: Final = 6  # tasks for each thread of the cluster that are given out before the first of them is done
SLOW: Final = 4.0  # so many times as long as half of the tasks took, past its turn, and a task is given to another worker too
LEAST: Final = 1.0  # seconds below which nothing is slow
FIRST_LATE: Final = 5.0  # likewise of the first task, where others are done
RECENT: Final = 200  # tasks whose times are remembered
LOOK: Final = 0.25  # seconds between two looks at a task that is slow
SEVERAL: Final = 3  # workers at most have the same task
TRIES: Final = 8  # so often in a row a task is given out again whose answer does not arrive


class Unreachable(Exception):
    """No scheduler answers, there is nobody to work, or the package is missing: why, with the way out."""


class Dead(Exception):
    """The workers that had a task died of it, one after the other."""


@dataclass(slots=True, eq=False)
class _Given:
    """A task that was given out. futures: of all that have it; since: when it was last given; done: set where one has something to say."""

    arguments: tuple[Any, ...]
    futures: list[Any] = field(default_factory=list)
    since: float = 0.0
    done: threading.Event = field(default_factory=threading.Event)


class _Lost(Exception):
    """The answer to a task will not come from those that had it."""


@dataclass(slots=True, eq=False)
class Cluster:
    """The cluster of a scheduler, "tcp://host:8786". A context manager. Raises Unreachable.

    ship: files that every worker gets before it works: modules (.py), archives of them (.zip), pure wheels (.whl).
    """

    address: str
    ship: tuple[str, ...] = ()
    _client: Any = None
    _times: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT))  # seconds that tasks took, without what they waited
    _left: list[Any] = field(default_factory=list)  # futures that came too late, whose workers are still at them

    def __enter__(self) -> Cluster:
        self._client = self._connected(PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the scheduler."""
        client, self._client = self._client, None
        if client is not None:
            client.close(timeout=2)

    def slots(self) -> int:
        """How many tasks the cluster does at once."""
        return max(sum(map(int, self._client.nthreads().values())), 1)

    def in_order(self, work: Callable[..., T], tasks: Callable[[int], tuple[Any, ...]], first: int, last: int) -> Iterator[T]:
        """The results of `work(*tasks(number))` for numbers first, ..., last - 1, in this order; closing the iterator drops what goes on.

        Raises what the work raises, Dead for a task that ends its workers, Unreachable where the scheduler is gone and stays away.
        """
        flying: deque[_Given] = deque()
        following, slots = first, self.slots()
        try:
            for _ in range(first, last):
                while following < last and len(flying) < AHEAD * slots:
                    flying.append(self._given(work, tasks(following)))
                    following += 1
                yield self._answer(work, flying)
                with contextlib.suppress(Exception):  # of a scheduler that is gone, which whoever waits for an answer will see
                    slots = max(slots, self.slots())  # workers may come later
        finally:
            for given in flying:
                self._drop(given.futures)
            self._drop(self._left)
            self._left.clear()

    # -- one task

    def _given(self, work: Callable[..., Any], arguments: tuple[Any, ...]) -> _Given:
        given = _Given(arguments)
        self._give(work, given)
        return given

    def _give(self, work: Callable[..., Any], given: _Given, **where: Any) -> None:
        """Give a task out, perhaps once more."""
        try:
            future = self._client.submit(_timed, work, given.arguments, pure=False, **where)
        except Exception:
            if self._client.status == "running":
                raise
            return  # whoever waits for the answer will see that nobody has it
        given.futures.append(future)
        given.since = time.monotonic()
        future.add_done_callback(lambda _: given.done.set())

    def _answer(self, work: Callable[..., T], flying: deque[_Given]) -> T:
        """The result of the task that was given out first."""
        given = flying[0]
        for tried in range(TRIES):
            try:
                result, seconds, answered = self._heard(work, given, flying)
            except _Lost as error:
                if tried == TRIES - 1:
                    raise Unreachable(f"the Dask cluster at {self.address} loses what it is given: {error}.") from error
                self._again(work, flying)
                continue
            flying.popleft()
            self._times.append(seconds)
            self._leave(given.futures, answered)
            return result
        raise AssertionError("the last try returns or raises")

    def _heard(self, work: Callable[..., T], given: _Given, flying: deque[_Given]) -> tuple[T, float, int]:
        """The result of a task, in how many seconds, and which future had it. Raises what it raises, _Lost where nobody has it."""
        while True:
            for place, future in enumerate(list(given.futures)):
                if future.status == "pending":
                    continue
                try:
                    result, seconds = future.result(timeout=PATIENCE)
                    return result, seconds, place
                except Exception as error:
                    if future.status == "error" and type(error).__name__ == "KilledWorker":  # Dask's, which need not be installed
                        raise Dead(str(error)) from error
                    if future.status == "error":
                        raise
                    raise _Lost(f"{type(error).__name__}: {error}") from error
            if not given.futures or self._client.status not in ("running", "connecting"):
                raise _Lost("the scheduler is gone")
            self._give_elsewhere(work, given, flying)
            given.done.wait(LOOK)
            given.done.clear()

    def _give_elsewhere(self, work: Callable[..., Any], given: _Given, flying: deque[_Given]) -> None:
        """Where a task takes too long, give it, and all that wait as long, to workers that do not have them yet too."""
        usual, now = median(self._times) if self._times else None, time.monotonic()
        if usual is None and not any(future.status == "finished" for one in flying for future in one.futures):
            return  # nobody knows yet how long a task takes
        late = FIRST_LATE if usual is None else max((AHEAD + SLOW) * usual, LEAST)
        if now - given.since <= late:
            return
        with contextlib.suppress(Exception):  # of a scheduler that is gone, which whoever waits will see
            workers = list(self._client.nthreads())
            having = {str(key): worker for worker, keys in self._client.processing().items() for key in keys}
            for one in flying:
                waits = all(future.status == "pending" for future in one.futures) and now - one.since > late
                others = [worker for worker in workers if worker not in {having.get(str(future.key)) for future in one.futures}]
                if waits and others and len(one.futures) < SEVERAL:
                    self._give(work, one, workers=others, allow_other_workers=True)

    def _again(self, work: Callable[..., Any], flying: deque[_Given]) -> None:
        """Give everything out again that has no answer yet, to the scheduler as soon as it is back."""
        if self._client.status != "running" or not self._answers():
            self.close()
            self._client = self._connected(RETURN)
        for given in flying:
            given.futures = [future for future in given.futures if future.client is self._client and future.status in ("finished", "error")]
            if not given.futures:
                self._give(work, given)

    def _answers(self) -> bool:
        try:
            self._client.nthreads()
        except Exception:  # whatever a connection that broke raises
            return False
        return True

    def _leave(self, futures: list[Any], answered: int) -> None:
        """Let go of a task that is done. Whoever was too late keeps it: that worker may never end, and would only look free."""
        self._drop(futures[answered:])
        late = [*self._left, *futures[:answered]]
        self._left = [future for future in late if future.client is self._client and future.status == "pending"]
        self._drop([future for future in late if future.status != "pending"])

    def _drop(self, futures: list[Any]) -> None:
        alive = self._client is not None and self._client.status == "running"
        for future in futures if alive else ():
            if future.client is not self._client:  # of a scheduler that is gone
                continue
            try:
                future.release() if future.done() else future.cancel()
            except Exception:  # of a scheduler that is gone: then nobody does it any more
                continue

    # -- the scheduler

    def _connected(self, patience: float) -> Any:
        """A client. It is tried again for so many seconds: a scheduler that is started anew needs some."""
        try:
            distributed: Any = importlib.import_module("distributed")
        except ImportError as error:
            raise Unreachable("working on Dask needs the package distributed: pip install 'dpverify[dask]'.") from error
        until = time.monotonic() + patience
        while True:
            try:
                client = distributed.Client(self.address, timeout=PATIENCE, set_as_default=False)
                break
            except (OSError, ValueError) as error:  # a timeout is an OSError
                if isinstance(error, ValueError) or time.monotonic() >= until:
                    raise Unreachable(
                        f"no Dask scheduler answers at {self.address}: {error}. Give its address, such as tcp://host:8786."
                    ) from error
                time.sleep(1.0)
        try:
            client.wait_for_workers(1, timeout=max(PATIENCE, until - time.monotonic()))
        except TimeoutError as error:
            client.close()
            raise Unreachable(f"the Dask cluster at {self.address} has no workers. Start some: dask worker {self.address}.") from error
        for file in sorted(self.ship, key=lambda file: file.endswith(".py")):  # modules import what is in archives
            _shipped(client, file)
        return client


def _timed(work: Callable[..., T], arguments: tuple[Any, ...]) -> tuple[T, float]:
    """What the work says, and how many seconds it took the worker: a task that waits for a slow one is not slow."""
    began = time.monotonic()
    return work(*arguments), time.monotonic() - began


def _shipped(client: Any, file: str) -> None:
    """Send a file to all workers, those to come too. Raises Unreachable."""
    try:
        if not file.endswith(".whl"):
            client.upload_file(file)
            return
        with tempfile.TemporaryDirectory() as folder:  # a wheel of Python alone is an archive of modules
            copy = Path(folder) / f"{Path(file).stem}.zip"
            shutil.copyfile(file, copy)
            client.upload_file(str(copy))
    except Exception as error:  # whatever the workers make of it
        why = f"{type(error).__name__}: {error}. Give a .py, .zip or pure .whl file"
        raise Unreachable(f"{file} cannot be sent to the workers: {why}.") from error
