"""Blocks of samples as the unit of work: their seeds, where they run, what is kept when a run is stopped.

Everything about a block follows from its number, the root seed and its job, and results come in the order of the blocks: what a run finds
does not depend on how many workers there are, on which of them died, or on how often it was stopped and taken up again.
"""

from __future__ import annotations

import contextlib
import heapq
import json
import os
import pickle
import re
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from multiprocessing.connection import Connection, wait
from pathlib import Path
from pickle import PicklingError
from types import TracebackType
from typing import Any, Final, Protocol, Self

import numpy as np

from dpverify.audits import intact
from dpverify.audits.outputs import Outputs
from dpverify.audits.partition import Counts, Partition, code_counts
from dpverify.audits.target import TIME, TIMEOUT, Beat, Failing, Target, overdue, show
from dpverify.errors import AuditError, SamplerError
from dpverify.runtime.cluster import Cluster, Dead, Unreachable
from dpverify.runtime.outside import printable
from dpverify.runtime.processes import Worker, heard

SEGMENTS: Final = 16
FIRST_BLOCK: Final = 256
MAX_BLOCK: Final = 65_536
RETRIES: Final = 2  # how often a block is tried again whose process died
_LONGEST_ANSWER: Final = 1 << 30  # bytes of one block's result
_GARBLED: Final = "something else was written into the pipe through which it answers: write to what you opened alone."
CHECKPOINT: Final = "dpverify-checkpoint/2"

Statistics = np.ndarray[Any, Any]


class Statistic(Protocol):
    """What is kept of outputs besides counts: something additive. Picklable, and a pure function of the outputs."""

    def statistics(self, outputs: Outputs) -> Statistics:
        """The sum over the outputs, always of one shape."""


@dataclass(frozen=True, slots=True)
class Job:
    """What every block of a stretch of the run does.

    pair: the neighbouring inputs (x, x'). partitions: joint cells of the outputs are counted in each. conformances: for x and for x'.
    keep: so many of a block's first outputs on each side are sent back, to learn from.
    size: pairs of runs in a block, a multiple of `segments`; None for block_size of its number.
    segments: in how many equal parts of a block counts are told apart; more than MAX_BLOCK pairs are drawn one part after the other.
    """

    pair: tuple[Any, Any]
    partitions: tuple[Partition, ...]
    conformances: tuple[Statistic | None, Statistic | None] = (None, None)
    keep: int = 0
    size: int | None = None
    segments: int = SEGMENTS


@dataclass(frozen=True, slots=True)
class BlockResult:
    """What is left of a block: joint counts (segments, K, K) of each partition, statistics of x and x', the first outputs on each."""

    index: int
    size: int
    counts: tuple[Counts, ...]
    statistics: tuple[Statistics | None, ...]
    kept: tuple[Outputs, Outputs] | None
    seconds: float


def block_size(index: int) -> int:
    """How many pairs of runs block `index` has: 256, 256, 512, 1024, ... to 65,536, so that gross faults stop a run early."""
    return min(FIRST_BLOCK << min(max(index - 1, 0), 32), MAX_BLOCK)


def run_block(
    target: Target,
    job: Job,
    index: int,
    root: int,
    timeout: float = TIMEOUT,
    alive: Callable[[int, bool], None] | None = None,
) -> BlockResult:
    """Sample block `index` on both inputs and count.

    The stream is SeedSequence(root, spawn_key=(index,)), its two children are the generators for x and x'.
    timeout: seconds in which one call must return. alive: told the side and whether its calls go on, from inside of them.

    Raises SamplerError where the sampler is at fault.
    """
    try:
        result = _counted(target, job, index, root, timeout, alive)
    except Exception as error:
        _require_intact(target, job, index, root, error)
        raise
    if intact.is_due():
        _require_intact(target, job, index, root)
    return result


def _require_intact(target: Target, job: Job, index: int, root: int, cause: Exception | None = None) -> None:
    """Raises SamplerError where something that a block is counted with was replaced: its counts say nothing, nor does the error it made."""
    replaced = intact.changed()
    if replaced is not None:
        what = f"replaces {replaced}, which the audit itself uses: change only what is yours."
        raise target.fault(job.pair[0], f"or {show(job.pair[1])}; seed {root}, block {index}", what) from cause


def _counted(target: Target, job: Job, index: int, root: int, timeout: float, alive: Callable[[int, bool], None] | None) -> BlockResult:
    """The counts of a block."""
    started = time.perf_counter()
    size = block_size(index) if job.size is None else job.size
    streams = np.random.SeedSequence(root, spawn_key=(index,)).spawn(2)
    rngs = [np.random.default_rng(stream) for stream in streams]
    parts = job.segments if size > MAX_BLOCK else 1
    part, keep = size // parts, np.arange(min(job.keep, size // parts))
    firsts: list[Outputs] = []
    counts: list[list[Counts]] = [[] for _ in job.partitions]
    statistics: list[Statistics | None] = [None, None]
    for _ in range(parts):
        codes = []
        timed = _timed(target, job, index, root, part, timeout) if target.observe == TIME else None
        for side in (0, 1):
            outputs = timed[side] if timed else _drawn(target, job, index, root, side, part, rngs, timeout, alive)
            codes.append([partition.codes(outputs) for partition in job.partitions])
            if (conformance := job.conformances[side]) is not None:
                known, more = statistics[side], conformance.statistics(outputs)
                statistics[side] = more if known is None else known + more
            if len(firsts) < 2:
                firsts.append(outputs[keep])  # a slice would hold on to the whole block
            del outputs  # its memory is the next side's: fresh pages cost a fifth of numpy's own time
        for known, partition, left, right in zip(counts, job.partitions, *codes, strict=True):
            known.append(code_counts(partition.size, left, right, job.segments // parts))
    kept = (firsts[0], firsts[1]) if job.keep else None
    return BlockResult(index, size, tuple(map(np.concatenate, counts)), tuple(statistics), kept, time.perf_counter() - started)


def _timed(target: Target, job: Job, index: int, root: int, size: int, timeout: float) -> tuple[Outputs, Outputs]:
    """So many outputs on both inputs, with how long each took."""
    three = np.random.SeedSequence(root, spawn_key=(index,)).spawn(3)
    return target.draw_timed(job.pair, size, three, seed=f"seed {root}, block {index}", timeout=timeout)


def _drawn(
    target: Target, job: Job, index: int, root: int, side: int, size: int, rngs: Sequence[np.random.Generator], timeout: float,
    alive: Callable[[int, bool], None] | None,
) -> Outputs:  # fmt: skip
    """So many outputs on one input. Raises SamplerError, which says of a failure whether it comes on the other input too."""

    def drawn(side: int) -> Outputs:
        beat: Beat | None = None if alive is None else partial(alive, side)
        return target.draw(job.pair[side], size, rngs[side], seed=_seed(root, index, side), timeout=timeout, beat=beat)

    try:
        return drawn(side)
    except Failing as error:
        raise type(error)(f"{str(error).removesuffix('.')}. {_way_out(job, side, drawn)}") from error.__cause__


def _way_out(job: Job, side: int, drawn: Callable[[int], Outputs]) -> str:
    """What to do about a sampler that fails on one side, by what it does on the other, whose turn was before on x'."""
    alone = True
    if side == 0:
        try:
            drawn(1)
        except SamplerError:
            alone = False
    other = show(job.pair[1 - side])
    if alone:
        return (
            f"On its neighbour {other} it did not fail. What fails on one of two neighbours alone tells them apart, whatever is claimed: "
            "clip its input so that it cannot fail, or let it return a word for it (None, or a text), which is audited as any output is."
        )
    return (
        f"It fails on the neighbour {other} too. Correct it; where failing is a part of the mechanism, let it return a word for it (None, "
        "or a text), which is audited as any output is."
    )


def _seed(root: int, index: int, side: int) -> str:
    return f"seed {root}, block {index}: np.random.default_rng(np.random.SeedSequence({root}, spawn_key=({index}, {side})))"


class Engine:
    """Where blocks run: this process, processes of its own, an executor of concurrent.futures, or a Dask cluster. A context manager.

    workers: 0 for this process; with an executor, how many blocks it can run at once (the number of processors, if 0).
    executor: anything with submit(); it stays the caller's. dask: the address of a scheduler, "tcp://host:8786".
    ship: files that its workers get first: modules (.py), archives of them (.zip), pure wheels (.whl).
    timeout: seconds in which one call of the sampler must return.

    A sampler that takes no rng has at most one worker, which is not replaced: others would start as its copies and may repeat it.

    Raises AuditError where Dask is not installed or does not answer, or where more than one place to run is given.
    """

    def __init__(
        self,
        target: Target,
        *,
        root: int,
        executor: Executor | None = None,
        workers: int = 0,
        dask: str | None = None,
        ship: Sequence[str | Path] = (),
        timeout: float = TIMEOUT,
    ) -> None:
        if executor is not None and dask is not None:
            raise AuditError("an executor and a Dask address are two places to run: give one of them.")
        if workers < 0:
            raise AuditError(f"workers = {workers}: not a number of processes. 0 runs the audit in this one.")
        if not timeout > 0:
            raise AuditError(f"timeout = {timeout}: not a time. Give seconds, such as 60.")
        self.target, self.root, self.timeout = target, root, timeout
        if ship and dask is None:
            raise AuditError("ship sends files to the workers of a Dask scheduler, and none is given: give dask, or leave it out.")
        self.executor, self.workers, self.dask, self.ship = executor, workers, dask, tuple(map(str, ship))
        intact.remember()
        self._cluster: Cluster | None = None
        self._pool: list[_Worker] = []
        self.retries = RETRIES if target.reproducible else 0
        if not target.reproducible and (executor is not None or workers > 1 or dask is not None):
            print(printable(f"{target.name} takes no rng: it has one worker, for several might repeat each other"), file=sys.stderr)  # noqa: T201
            self.executor, self.workers, self.dask = None, 1, None

    def __enter__(self) -> Self:
        if self.dask is not None:
            try:
                self._cluster = Cluster(self.dask, self.ship).__enter__()
            except Unreachable as error:
                raise AuditError(str(error)) from error
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for worker in self._pool:
            worker.end()
        self._pool = []
        if self._cluster is not None:
            self._cluster.close()
            self._cluster = None

    def go_by(self, root: int) -> None:
        """Sample by another root from now on."""
        if root != self.root:
            for worker in self._pool:
                worker.end()
            self._pool, self.root = [], root

    def results(self, jobs: Callable[[int], Job], first: int, last: int) -> Iterator[BlockResult]:
        """The results of blocks first, ..., last - 1, in this order; `jobs` tells what each of them does.

        At most twice as many blocks as there are workers are under way or wait to be asked for; closing the iterator early drops them.

        Raises SamplerError where a block's sampler crashes, hangs, gives what is no output, or ends its process again and again.
        """
        if self._cluster is not None:
            return self._from_cluster(self._cluster, jobs, first, last)
        if self.executor is not None:
            return self._from_futures(self.executor.submit, 2 * (self.workers or os.cpu_count() or 1), jobs, first, last)
        if self.workers:
            return self._from_processes(jobs, first, last)
        return (run_block(self.target, jobs(index), index, self.root, self.timeout) for index in range(first, last))

    # -- somebody else's workers

    def _from_futures(
        self, submit: Callable[..., Any], ahead: int, jobs: Callable[[int], Job], first: int, last: int
    ) -> Iterator[BlockResult]:
        flying: deque[tuple[int, Job, Any]] = deque()
        following = first
        try:
            for _ in range(first, last):
                while following < last and len(flying) < ahead:
                    job = jobs(following)
                    flying.append((following, job, submit(run_block, self.target, job, following, self.root, self.timeout)))
                    following += 1
                index, job, future = flying.popleft()
                try:
                    result = future.result()
                except (PicklingError, AttributeError, TypeError) as error:
                    if not isinstance(error, PicklingError) and not re.search("pickle|seriali[sz]e", str(error)):
                        raise
                    raise _unsendable(f"the sampler {self.target.name} or its inputs", error) from error
                except BrokenExecutor as error:
                    raise self._died(index, job, None, f"{error}. With workers = N a dead process is replaced") from error
                yield result
        finally:
            for _, _, future in flying:
                future.cancel()

    # -- a cluster

    def _from_cluster(self, cluster: Cluster, jobs: Callable[[int], Job], first: int, last: int) -> Iterator[BlockResult]:
        given: dict[int, Job] = {}

        def task(index: int) -> tuple[Any, ...]:
            given[index] = jobs(index)
            return self.target, given[index], index, self.root, self.timeout

        results = cluster.in_order(run_block, task, first, last)
        try:
            for index in range(first, last):
                try:
                    result = next(results)
                except (PicklingError, AttributeError, TypeError) as error:
                    if not isinstance(error, PicklingError) and not re.search("pickle|seriali[sz]e", str(error)):
                        raise
                    raise _unsendable(f"the sampler {self.target.name} or its inputs", error) from error
                except Dead as error:
                    raise self._died(index, given[index], None, "Dask gave it up") from error
                except Unreachable as error:
                    raise AuditError(f"the Dask cluster at {self.dask} is gone, and stayed away: {error}") from error
                del given[index]
                yield result
        finally:
            results.close()  # type: ignore[attr-defined]

    # -- processes of its own

    def _from_processes(self, jobs: Callable[[int], Job], first: int, last: int) -> Iterator[BlockResult]:
        given: dict[int, Job] = {}
        again: list[int] = []
        deaths: Counter[int] = Counter()
        done: dict[int, BlockResult | Exception] = {}
        following = first
        try:
            for index in range(first, last):
                while index not in done:
                    idle = self._idle()
                    while again or following < min(last, index + 2 * self.workers):
                        worker = next(idle, None)
                        if worker is None:
                            break
                        if again:
                            block = heapq.heappop(again)
                        else:
                            block, following = following, following + 1
                            given[block] = jobs(block)
                        worker.sample(block, given[block])
                    for block, answer in self._answers():
                        if not isinstance(answer, _Death):
                            done[block] = answer
                            continue
                        deaths[block] += 1
                        if answer.garbled:
                            done[block] = self._fault(block, given[block], answer.side, _GARBLED)
                        elif answer.overdue:
                            done[block] = self._fault(block, given[block], answer.side, f"a call {overdue(self.timeout)}")
                        elif deaths[block] > self.retries:
                            done[block] = self._died(block, given[block], answer.side, answer.how)
                        else:
                            heapq.heappush(again, block)
                result = done.pop(index)
                del given[index]
                if isinstance(result, Exception):
                    raise result
                yield result
        finally:
            for worker in self._pool:
                if worker.task is not None:  # nobody will ask for it
                    worker.end()
            self._pool = [worker for worker in self._pool if worker.task is None]

    def _idle(self) -> Iterator[_Worker]:
        """Workers without work; new ones while there are fewer than there should be."""
        yield from [worker for worker in self._pool if worker.task is None]
        while len(self._pool) < self.workers:
            self._pool.append(_worker(self.target, self.root, self.timeout))
            yield self._pool[-1]

    def _answers(self) -> Iterator[tuple[int, BlockResult | Exception | _Death]]:
        """Wait until workers say something; the blocks that are done, and those whose worker is dead."""
        said = wait([worker.pipe for worker in self._pool if worker.task is not None], self.timeout / 4)
        for worker in list(self._pool):
            block, answer = worker.task, None
            if block is None:
                continue
            if worker.pipe in said:
                answer = worker.hear()
            elif worker.side is not None and time.monotonic() - worker.since > 2 * self.timeout:
                worker.end()
                answer = _Death(worker.side, "killed", overdue=True)
            if isinstance(answer, _Death):
                self._pool.remove(worker)
            if answer is not None:
                yield block, answer

    # -- faults

    def _fault(self, index: int, job: Job, side: int | None, what: str) -> SamplerError:
        """A fault that the sampler itself could not report. side: which input it was on, None where that is not known."""
        if side is not None:
            return self.target.fault(job.pair[side], _seed(self.root, index, side), what)
        return self.target.fault(job.pair[0], f"or {show(job.pair[1])}; seed {self.root}, block {index}", what)

    def _died(self, index: int, job: Job, side: int | None, how: str) -> SamplerError:
        return self._fault(index, job, side, f"the process died: {how}.")


@dataclass(frozen=True, slots=True)
class _Death:
    """A worker's process ended before its block did. side: the input that it was on.

    overdue: the engine ended it for taking too long; garbled: for what came through its pipe.
    """

    side: int | None
    how: str
    overdue: bool = False
    garbled: bool = False


@dataclass(slots=True, eq=False)
class _Worker(Worker):
    """One process, which has one block at a time, as its task. side: the input that it is sampling on; since: when it last said so."""

    job: Job | None = None
    side: int | None = None

    def sample(self, block: int, job: Job) -> None:
        """Send it a block, and the job if that is another than the last one."""
        self.side = None
        try:
            self.begin(block, (block, None if job is self.job else job))
        except (PicklingError, AttributeError, TypeError) as error:
            self.task = None
            raise _unsendable("the inputs", error) from error
        self.job = job

    def hear(self) -> BlockResult | Exception | _Death | None:
        """What it said: the block's result, its fault, or only a sign of life."""
        try:
            word = heard(self.pipe, None, _LONGEST_ANSWER)
        except ValueError:
            return self._garbled()
        except (EOFError, OSError):
            return _Death(self.side, self.ended())
        try:
            said = pickle.loads(word)
            side, calling = (None, False) if isinstance(said, (BlockResult, Exception)) else said
        except Exception:  # whatever pickle makes of bytes that nobody pickled
            return self._garbled()
        self.since = time.monotonic()
        if isinstance(said, (BlockResult, Exception)):
            self.task = self.side = None
            return said
        self.side = side if calling else None
        return None

    def _garbled(self) -> _Death:
        self.end()
        return _Death(self.side, "killed", garbled=True)


def _worker(target: Target, root: int, timeout: float) -> _Worker:
    """A new worker; a forked one needs no pickling of closures."""
    try:
        return _Worker.start(_serve, (target, root, timeout), alone=False)
    except (PicklingError, AttributeError, TypeError) as error:
        raise _unsendable(f"the sampler {target.name}", error) from error


def _serve(target: Target, root: int, timeout: float, pipe: Connection) -> None:
    """What a worker does: blocks, one after the other, until its engine is gone."""

    def alive(side: int, calling: bool) -> None:
        pipe.send((side, calling))

    job: Job | None = None
    with contextlib.suppress(EOFError, OSError):
        while True:
            index, new = pipe.recv()
            job = job if new is None else new
            assert job is not None
            answer: BlockResult | Exception
            try:
                answer = run_block(target, job, index, root, timeout, alive)
            except Exception as error:
                answer = error
            pipe.send(answer)


def _unsendable(what: str, error: Exception) -> AuditError:
    return AuditError(
        f'{what} cannot be sent to a worker: {error}. Name the sampler as "module:name" and give plain data, '
        "or audit in this process (workers = 0)."
    )


# -- what is kept when a run is stopped ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A file that holds how far a run has come. key: what the run is (claim, sampler, settings, root, version), as a text or its hash."""

    path: Path
    key: str

    def load(self) -> dict[str, Any] | None:
        """What was saved last, None if nothing was.

        Raises AuditError where the file is damaged, no file but a device, pipe or directory, or belongs to another run, OSError where it
        cannot be read.
        """
        way_out = "Give another path, or delete it to begin anew."
        if self.path.exists() and not self.path.is_file():  # a device may be read without end, and a pipe waited for
            raise AuditError(f"{self.path} is no regular file, so that no checkpoint can be kept there. Give another path.")
        try:
            text = self.path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            stored = json.loads(text)
            saved, key, digest = stored["state"], stored["key"], stored["sha256"]
        except (ValueError, TypeError, KeyError) as error:
            raise AuditError(f"{self.path} is no checkpoint, or a damaged one. {way_out}") from error
        if stored.get("schema") != CHECKPOINT or digest != _digest(key, saved) or not isinstance(saved, dict):
            raise AuditError(f"{self.path} is a damaged checkpoint, or of another version. {way_out}")
        if key != self.key:
            raise AuditError(f"{self.path} is the checkpoint of another audit: another claim, sampler, seed, setting or version. {way_out}")
        return saved

    def save(self, state: dict[str, Any]) -> None:
        """Put `state`, plain JSON data, in place of what was saved before: all of it or nothing.

        Raises OSError where it cannot be written; the earlier state is still there then.
        """
        text = json.dumps({"schema": CHECKPOINT, "key": self.key, "sha256": _digest(self.key, state), "state": state}).encode()
        new: Path | None = None
        try:
            with tempfile.NamedTemporaryFile(dir=self.path.parent, prefix=f".{self.path.name}.", delete=False) as file:
                new = Path(file.name)
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            new.replace(self.path)
        except OSError as error:
            if new is not None:
                new.unlink(missing_ok=True)
            why = f"the checkpoint cannot be written: {error.strerror}. The earlier one, if any, is intact"
            raise OSError(error.errno, why, str(self.path)) from error


def _digest(key: str, state: Any) -> str:
    return sha256(json.dumps([key, state], sort_keys=True).encode()).hexdigest()
