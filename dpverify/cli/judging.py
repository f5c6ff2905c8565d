"""One claim to its outcome, in whichever process: by a certificate that was found before where one holds, else by a search."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from dpverify.cli import output
from dpverify.trusted.kernel.canonical_form import claim_hash, to_json
from dpverify.trusted.kernel.proof import forget

if TYPE_CHECKING:
    from dpverify.cli.found import Found
    from dpverify.project.cache import Cache
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
    once more, alone, so that its outcome says what was loaded for that. confirming: whether the second checker is asked too.
    """

    digits: int
    cache: Cache | None
    found: Found | None
    kept: Mapping[str, Any] = field(default_factory=dict)
    traced: bool = False
    confirming: bool = False
    _at: list[str] = field(default_factory=list)

    def has(self, task: Task) -> bool:
        """Whether there seems to be a certificate."""
        listed = self.found is not None and self.found.has(task.certificate, self.digits)
        kept = claim_hash(to_json(task.claim)) in self.kept
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

    def _before(self, task: Task) -> Verified | None:
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
