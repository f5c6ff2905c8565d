"""One claim to its outcome, in whichever process: by a certificate that was found before where one holds, else by a search."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from dpverify.cli import output
from dpverify.trusted.kernel.canonical_form import claim_hash, to_json
from dpverify.trusted.kernel.proof import forget

if TYPE_CHECKING:
    from dpverify.cli.found import Found
    from dpverify.project.cache import Cache
    from dpverify.runtime.processes import Bounds, Ended
    from dpverify.search.verify import Verified
    from dpverify.trusted.kernel.model import Claim


class Task(NamedTuple):
    """A claim with its file and the name of its certificate."""

    file: str
    claim: Claim
    certificate: str


class Outcome(NamedTuple):
    """What became of a claim: a judgement, or a fault of dpverify. seconds: that it took. searched: whether nothing was found before.

    kept: whether the proof is the one that is kept under version control, which an earlier search may have found. confirmed: by what the
    verdict is, where that was asked.
    """

    verified: Verified | None
    fault: str | None
    seconds: float
    searched: bool = True
    kept: bool = False
    confirmed: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges claims, with so many digits of the tight epsilon. cache, found: what was found before, if that is to be used.

    kept: certificates that are kept under version control, by the hashes of their claims. traced: whether what is found anew is followed
    once more, alone, so that its outcome says what was loaded for that. confirming: whether the second checker is asked too. parts: of what
    other runners of this run found, certificates and reasons, by the hashes of claims: that they found no more is believed.
    """

    digits: int
    cache: Cache | None
    found: Found | None
    kept: Mapping[str, Any] = field(default_factory=dict)
    traced: bool = False
    confirming: bool = False
    parts: Mapping[str, tuple[Any, tuple[str, ...]]] = field(default_factory=dict)
    _at: list[str] = field(default_factory=list)

    def has(self, task: Task) -> bool:
        """Whether there seems to be a certificate."""
        listed = self.found is not None and self.found.has(task.certificate, self.digits)
        named = claim_hash(to_json(task.claim))
        kept = named in self.kept or named in self.parts
        return listed or kept or (self.cache is not None and self.cache.has(task.claim, self.digits))

    def __call__(self, task: Task) -> Outcome:
        """The outcome of a task. A fault is an outcome too: it must not take the other answers away."""
        started = time.perf_counter()
        if self._at != [task.file]:  # what a verdict is told to rest on does not depend on the files before
            self._at[:] = [task.file]
            forget()
        try:
            before = self._before(task)
            kept = None if before is not None else self._kept(task.claim)
            verified = before or kept or self._anew(task.claim)
            seconds = time.perf_counter() - started
            ways = self._confirmed(verified)
        except MemoryError:
            raise  # the end of a worker, not a fault
        except Exception as error:
            if os.environ.get("DPVERIFY_DEBUG"):
                import traceback

                traceback.print_exc()
            return Outcome(None, output.fault(error), time.perf_counter() - started)
        return Outcome(verified, None, seconds, searched=before is None and kept is None, kept=kept is not None, confirmed=ways)

    def _confirmed(self, verified: Verified) -> tuple[str, ...] | None:
        if not self.confirming:
            return None
        from dpverify.project.confirmed import confirmed

        return confirmed(verified.judgement, verified.certificate)

    def _elsewhere(self, claim: Claim) -> Verified | None:
        """What the kernel says today of what another runner found."""
        from dpverify.search.verify import rejudged

        data, reasons = self.parts.get(claim_hash(to_json(claim)), (None, ())) if self.parts else (None, ())
        try:
            return None if data is None else rejudged(claim, data, reasons)
        except Exception:  # of a damaged or forged certificate anything may fail: what it is about is then found anew
            return None

    def _before(self, task: Task) -> Verified | None:
        if (elsewhere := self._elsewhere(task.claim)) is not None:
            return elsewhere
        listed = None if self.found is None else self.found.outcome(task.certificate, task.claim, self.digits)
        return listed or (None if self.cache is None else self.cache.find(task.claim, self.digits))

    def _kept(self, claim: Claim) -> Verified | None:
        """What the kernel says today of the certificate that is kept; None where a search could say more."""
        from dpverify.search.verify import rejudged

        data = self.kept.get(claim_hash(to_json(claim)))
        try:
            verified = None if data is None else rejudged(claim, data)
        except Exception:  # of a damaged or forged certificate anything may fail: what it is about is then found anew
            return None
        return None if verified is None or verified.judgement.verdict == "UNKNOWN" else verified

    def _anew(self, claim: Claim) -> Verified:
        from dpverify.search.verify import replayed, verify

        verified = verify(claim, self.digits)
        if self.traced and verified.judgement.verdict != "UNKNOWN":
            forget()
            verified = replace(verified, places=replayed(verified.certificate).places)
        if self.cache is not None:
            self.cache.keep(claim, self.digits, verified)
        return verified


def on_cluster(
    address: str, judge: Judge, groups: Sequence[Sequence[Task]], jobs: int, bounds: Bounds, *, told: Callable[[int], None]
) -> Generator[Outcome | Ended, None, None]:  # fmt: skip
    """The outcomes of all tasks of all groups, in their order, of the workers of a Dask scheduler; what is known here is judged here.

    What comes back is what another process of this machine would say: its certificates are not judged a second time. told: is called with
    how many tasks are done. Raises SpecError where the cluster cannot be reached.
    """
    from dpverify.errors import SpecError
    from dpverify.runtime.cluster import Cluster, Unreachable
    from dpverify.runtime.processes import in_order

    known = [all(map(judge.has, group)) for group in groups]
    far = [list(group) for group, here in zip(groups, known, strict=True) if not here]
    alone = replace(judge, cache=None, found=None, kept={}, parts={}, _at=[])
    done = 0
    try:
        with Cluster(address) as cluster:
            answers = cluster.in_order(_apart, lambda number: (alone, far[number], bounds), 0, len(far))
            near = in_order(judge, [group for group, here in zip(groups, known, strict=True) if here], jobs, bounds)
            for group, here in zip(groups, known, strict=True):
                outcomes: Iterator[Outcome | Ended] = near if here else _whole(answers, group, bounds)
                for task, _ in zip(group, range(len(group)), strict=True):
                    outcome = next(outcomes)
                    if not here and judge.cache is not None and isinstance(outcome, Outcome) and outcome.verified is not None:
                        judge.cache.keep(task.claim, judge.digits, outcome.verified)
                    done += 1
                    told(done)
                    yield outcome
    except Unreachable as error:
        raise SpecError(f"--dask: {error}") from error


def _whole(answers: Iterator[list[Outcome | Ended]], group: Sequence[Task], bounds: Bounds) -> Iterator[Outcome | Ended]:
    """The outcomes of a group; of one that ends its workers, that they were ended."""
    from dpverify.runtime.cluster import Dead
    from dpverify.runtime.processes import Ended

    try:
        return iter(next(answers))
    except Dead as error:
        return iter([Ended(f"ended on the workers that had it: {error}", bounds.timeout or 0.0) for _ in group])


def _apart(judge: Judge, tasks: Sequence[Task], bounds: Bounds) -> list[Outcome | Ended]:
    """What a worker does: the tasks of a group, in a process that can be ended as on one machine."""
    import multiprocessing

    import dpverify.search  # noqa: F401  # before processes are forked, which need it
    from dpverify.runtime.processes import in_order

    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]  # else a worker of Dask may have no children
    return list(in_order(judge, [tasks], 1, bounds))
