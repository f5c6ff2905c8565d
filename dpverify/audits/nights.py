"""Runs that are a part of something longer: a night of a history that a ledger keeps, or a checkpoint that is extended."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import log, log10
from typing import Any, Final

import numpy as np

from dpverify.audits.capital import Capital, Night
from dpverify.audits.engine import BlockResult, Engine
from dpverify.audits.journal import Journal
from dpverify.audits.ledger import INHERITED, NOTHING, Key, Ledger, Open
from dpverify.audits.outputs import Outputs
from dpverify.audits.plan import Plan
from dpverify.audits.run import Run, Settings, run
from dpverify.audits.versions import digest, made_with
from dpverify.errors import AuditError
from dpverify.runtime.finding import MODEL, NO_VIOLATION_SEEN, Finding

SECONDS_BETWEEN_COMMITS: Final = 10.0


class NightJournal(Journal):
    """The journal of a night: what the run owns is committed to the ledger every few seconds, and when it ends, however it does."""

    def __init__(self, ledger: Ledger, night: Open) -> None:
        super().__init__()
        self.ledger, self.night = ledger, night
        self._run: Run | None = None
        self._committed = time.monotonic()

    def follow(self, run: Any) -> None:
        """The run of the night."""
        self._run = run

    def record(self, result: BlockResult, *, quiet: bool) -> None:
        """A block was merged."""
        del result, quiet
        if time.monotonic() - self._committed > SECONDS_BETWEEN_COMMITS:
            self.save()

    def save(self) -> None:
        """Commit what the run owns now."""
        if self._run is not None and self._run.done:
            self.ledger.commit(self.night, self._run.handed_on(), self._run.done, evidence(self._run))
        self._committed = time.monotonic()

    def end(self, finding: Finding | None, *, void: bool = False) -> None:
        """Say that the night is over. void: what was counted is no evidence, nor is what led to it."""
        state = self._run
        if state is None or not state.done:
            self.ledger.undo(self.night)
            return
        capital = Capital() if void else state.handed_on()
        self.ledger.commit(self.night, capital, state.done, evidence(state), finding, last=True)


def evidence(state: Run) -> tuple[float, float]:
    """The log10 of the greatest evidence against the claim, as a part of the whole capital, and what it takes to say so."""
    model = [test.log_capital + test.log_wealth for test in state.tests if test.level == MODEL]
    reached = float(np.logaddexp.reduce(model)) if model else 0.0
    if MODEL in state.crossings:  # within a block, at whose end it may be less again
        crossing = state.crossings[MODEL]
        reached = max(reached, crossing.look.log_wealth + crossing.test.log_start)
    return reached / log(10), -log10(state.settings.sequential)


@dataclass(frozen=True, slots=True)
class Kept:
    """A ledger that an audit is written down in, and what a new version of the sampler takes over."""

    ledger: Ledger
    inherit: str = NOTHING

    def __post_init__(self) -> None:
        if self.inherit not in INHERITED:
            known = ", ".join(f'"{one}"' for one in INHERITED)
            raise AuditError(f"inherit = {self.inherit!r:.80}: not one of {known}. Without it a new version of the sampler starts anew.")

    def begin(self, key: Key, parts: dict[str, str], seed: int | None, planned: int) -> Open:
        """A new night."""
        return self.ledger.begin(
            key, parts, digest(parts), seed=seed, planned=planned, inherit=self.inherit, made_with=made_with()
        )  # fmt: skip


def standing(finding: Finding, night: Open, path: object, state: Run) -> Finding:
    """The finding of a night with what it is a part of; what an earlier night has found stands."""
    nights, samples = night.number, night.before[1] + state.done
    reached, threshold = evidence(state)
    told = f"night {nights} of this history in {path}, {samples} samples per input in all; the confidence is that of all nights together"
    if finding.finding == NO_VIOLATION_SEEN:
        told += f"; evidence 10^{reached:.1f} of the 10^{threshold:.1f} that it takes"
    finding = replace(finding, notes=(*finding.notes, told), replay="")
    if night.found is None or finding.finding != NO_VIOLATION_SEEN:
        return finding
    stands = f"found by an earlier night of this history, and so it stands; this night saw nothing: {told}"
    return replace(night.found, notes=(*night.found.notes, stands), also=(*night.found.also, replace(finding, also=())))


@dataclass(frozen=True, slots=True)
class Earlier:
    """Stages before the last one. samples: that they took; bound: on epsilon, in nats; kept: outputs that are remembered."""

    samples: int = 0
    bound: float = 0.0
    kept: Sequence[Sequence[Outputs]] = ()


def staged(
    plan: Plan, settings: Settings, journal: Journal, engine: Engine, progress: Callable[[int], object]
) -> tuple[Run, Earlier]:
    """A run that may extend an earlier one: its last stage, and what is known from the stages before.

    Stages are nights of which the first has all the capital; each goes by a seed of its own. Raises AuditError where the journal has more
    samples than are asked for.
    """
    totals = journal.totals
    if totals and totals[-1] > settings.samples:
        asked = f"it is of {totals[-1]} samples, and {settings.samples} are asked for. Ask for as many, or more; or give another path."
        raise AuditError(f"{journal.checkpoint.path if journal.checkpoint else 'the checkpoint'}: {asked}")
    if not totals or totals[-1] < settings.samples:
        totals.append(settings.samples)
    earlier, night, root = Earlier(), Night(), engine.root
    for number, total in enumerate(totals):
        journal.stage(total)
        engine.go_by(root_of_stage(root, number))
        before = earlier.samples
        state = run(plan, replace(settings, samples=total - before, night=night), engine, journal, _after(progress, before))
        if total == totals[-1] or state.over:
            break
        kept = [calls for sides in state.kept.values() for calls in sides]
        earlier = Earlier(total, max(earlier.bound, state.lower_bound()), [*earlier.kept, *kept])
        night = Night(0.0, state.handed_on())
    return state, earlier


def _after(progress: Callable[[int], object], before: int) -> Callable[[int], object]:
    return lambda done: progress(before + done)


def root_of_stage(root: int, number: int) -> int:
    """The seed of a stage: that of the run, for the first."""
    return root if number == 0 else int(np.random.SeedSequence([root, number]).generate_state(1, np.uint64)[0])
