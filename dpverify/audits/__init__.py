"""Audits of sampled implementations: `dpverify.audit(sampler, claim)`. How they are built: docs/audit.md.

A proof speaks of a density; what ships is a sampler. An audit runs it on neighbouring inputs and says VIOLATION, NONCONFORMING or
NO_VIOLATION_SEEN, with its confidence. It never says "proved" (theory#no-test-proves).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from fractions import Fraction
from math import log
from pathlib import Path
from typing import Any, Final

import numpy as np

from dpverify.audits.arguments import SAMPLES as SAMPLES
from dpverify.audits.arguments import check_how, check_run, named_arguments
from dpverify.audits.aside import stdout_aside
from dpverify.audits.batches import Batches, dependence, one_by_one
from dpverify.audits.capital import Capital
from dpverify.audits.conclusion import findings as concluded
from dpverify.audits.declared import declared
from dpverify.audits.engine import Checkpoint, Engine
from dpverify.audits.journal import Journal, seed_of
from dpverify.audits.ledger import NOTHING, Key, Ledger
from dpverify.audits.neighbours import plain, usual_patterns
from dpverify.audits.nights import Earlier, Kept, NightJournal, staged, standing
from dpverify.audits.plan import Plan, claimed_point, make_plan, number_up
from dpverify.audits.query import QueryFinding, Searched, search_sensitivity
from dpverify.audits.replay import Replay, command_line, python_line, training_line
from dpverify.audits.run import Run, Settings, run
from dpverify.audits.target import FAILURES, TIME, Failing, GaveNan, Target, load, show, timed
from dpverify.audits.threads import one_thread
from dpverify.audits.told import alone, as_told
from dpverify.audits.training import CONFIDENCE as OF_TRAINING
from dpverify.audits.training import audited as audited_training
from dpverify.audits.training import callables
from dpverify.audits.versions import code_of
from dpverify.catalogue import Spec, Stated, inline
from dpverify.catalogue.declarations import Declared, Mechanism
from dpverify.catalogue.values import OBSERVED
from dpverify.errors import AuditError, SamplerError
from dpverify.runtime.finding import FLOAT as FLOAT
from dpverify.runtime.finding import MODEL as MODEL
from dpverify.runtime.finding import NONCONFORMING
from dpverify.runtime.finding import VIOLATION as VIOLATION
from dpverify.runtime.finding import Finding as Finding
from dpverify.runtime.version import __version__
from dpverify.trusted.kernel.canonical_form import claim_hash, to_json
from dpverify.trusted.kernel.expr import Num
from dpverify.trusted.kernel.model import Claim, Sampled

CONFIDENCE: Final = 1 - 1e-6


@one_thread()
@stdout_aside()
@named_arguments
def audit(
    sampler: Callable[..., Any] | str,
    claim: Claim | inline.Noise | None = None,
    *,
    epsilon: Any = None,
    delta: Any = 0,
    sensitivity: Any = None,
    pairs: Sequence[Sequence[Any]] | None = None,
    patterns: Any = None,
    length: int | None = None,
    query: Callable[[Any], Any] | Sequence[Sequence[Any]] | None = None,
    adjacency: str | None = None,
    samples: int = SAMPLES,
    confidence: float = CONFIDENCE,
    seed: int | None = None,
    workers: int = 0,
    executor: Executor | None = None,
    dask: str | None = None,
    ship: Sequence[str | Path] = (),
    level: str = FLOAT,
    stop: bool = True,
    checkpoint: str | Path | None = None,
    ledger: str | Path | None = None,
    inherit: str = NOTHING,
    timeout: float = 60.0,
    vectorised: bool | None = None,
    observe: str | None = None,
    folder: Path | None = None,
    progress: Callable[[int], object] = lambda done: None,
) -> Finding:
    """Sample an implementation on neighbouring inputs and say what was seen.

    sampler: callable(data, rng) -> output, callable(data, size, rng) -> size outputs, the same without rng (then the run cannot be
    repeated), or "module:name" of one. claim: what is claimed, and of which density (white box); or a mechanism, such as
    dpverify.laplace declares one, of which epsilon, delta and sensitivity claim something as in dpverify.verify (query may be its
    linear queries then); without it, these state a claim about the sampler alone (black box), in nats. pairs: neighbouring inputs
    (data, data'). patterns: "usual" with length, or a Hypothesis strategy of data. query: from data to the true answer; without it,
    data is the vector of true answers. A query is searched for neighbours that move it by more than the sensitivity. adjacency: which
    data are neighbours then: "add-remove" or "replace" of a record, "l1", "l2", "linf" of vectors; where none is stated, `notes` of the
    finding says which was taken. samples: runs on each side in all. confidence: 1 - the false-alarm budget of the whole run. level:
    "model" looks at the law of the outputs alone, "float" also for what only their representation gives away. stop: at the first
    violation; else all samples go into the lower bound on epsilon. workers: processes, 0 for this one; executor: any of
    concurrent.futures; dask: a scheduler's address, ship: files that its workers get first, modules or pure wheels. checkpoint: a file
    from which a run that was stopped goes on, with its own seed where none is given, or is extended to more samples. ledger: a file that
    keeps what many audits of a claim have seen, so that each goes on where the last one stopped, with other random numbers; samples are
    those of this one, and the confidence is that of all together.
    inherit: what a version of the sampler that is not in the ledger takes over from the one before: "nothing", its "events", or "all" that
    was won, where a violation is one of some of them. timeout: seconds that one call may take. observe: "failures" for nan and
    exceptions as outputs on both inputs (without it they are looked at as outputs where they come, and are a violation or else an error;
    in a night of a ledger, an error), "time" for how long a call took as an output beside the others.
    Raises AuditError where the audit cannot be set up, SamplerError where the sampler crashes, hangs or gives nan, unless that is
    a violation itself.
    """
    check_run(samples, confidence, seed, level, workers, timeout)
    check_how(executor, vectorised)
    if observe not in (None, *OBSERVED):
        raise AuditError(f"observe = {observe!r:.80}: not {' or '.join(map(repr, OBSERVED))}. Leave it out to observe the outputs alone.")
    samples, seed = int(samples), None if seed is None else int(seed)  # they may be numpy's
    if isinstance(claim, Declared | Mechanism):
        claim, query, adjacency = _claimed(claim, epsilon, delta, sensitivity, query, adjacency)
        epsilon, delta, sensitivity = None, 0, None
    beside = {"epsilon": epsilon, "delta": delta or None, "sensitivity": sensitivity}
    if claim is not None and (given := [name for name, value in beside.items() if value is not None]):
        raise AuditError(f"audit: {', '.join(given)}: this comes from the claim; remove these arguments.")
    if query is not None and not callable(query):
        raise AuditError(f"query = {show(query)} is not callable. Linear queries go with a mechanism; else name a function of the data.")
    again = {
        "claim": claim, "epsilon": epsilon, "delta": delta or None, "sensitivity": sensitivity, "pairs": pairs, "patterns": patterns,
        "length": length, "query": query, "adjacency": adjacency,
        "confidence": confidence, "stop": None if stop else False, "vectorised": vectorised,
        "folder": folder, "level": None if level == FLOAT else level, "observe": observe,
    }  # fmt: skip
    claimed, replay = _black_box(epsilon, delta, sensitivity) if claim is None else claim, python_line(sampler, again)
    inputs: dict[str, Any] = {"pairs": pairs, "patterns": patterns, "length": length}
    name = str(getattr(query, "__qualname__", "the query"))
    moved, note = _queried(query, name, claimed, confidence, replay, level, **inputs, adjacency=adjacency, seed=seed or 0)
    finding = _audit(
        sampler, claimed, replay=replay, pairs=pairs,
        patterns=patterns, length=length, query=query, samples=samples, confidence=confidence, seed=seed, workers=workers,
        executor=executor, dask=dask, ship=ship, stop=stop, checkpoint=checkpoint, timeout=timeout, vectorised=vectorised, folder=folder,
        progress=progress, level=level, kept=kept_in(ledger, inherit), observe=observe or "",
    )  # fmt: skip
    finding = _noted(finding, note)
    return finding if moved is None else replace(moved, also=(replace(finding, also=()), *finding.also))


def _noted(finding: Finding, note: str) -> Finding:
    return replace(finding, notes=(*finding.notes, note)) if note else finding


def _audit(
    sampler: Callable[..., Any] | str,
    claim: Claim,
    *,
    replay: Replay,
    samples: int,
    confidence: float,
    seed: int | None,
    stop: bool,
    checkpoint: str | Path | None,
    progress: Callable[[int], object],
    level: str = FLOAT,
    vectorised: bool | None = None,
    folder: Path | None = None,
    workers: int = 0,
    executor: Executor | None = None,
    dask: str | None = None,
    ship: Sequence[str | Path] = (),
    timeout: float = 60.0,
    observe: str = "",
    kept: Kept | None = None,
    file: str = "",
    **inputs: Any,
) -> Finding:
    """`audit` of a claim. inputs: pairs, patterns, length and query of the plan; replay: the line that finds a finding again.

    kept: the ledger that it is a night of, under the name of the claim's file.
    """
    check_run(samples, confidence, seed, level, workers, timeout)
    target = Target.of(sampler, folder, vectorised=vectorised, observe=observe)
    if observe == TIME and target.vectorised:
        target = replace(one_by_one(target), observe=observe)
    settings = Settings(samples, 1 - confidence, stop, level == FLOAT, observe != TIME)
    where: dict[str, Any] = {"executor": executor, "workers": workers, "dask": dask, "ship": ship, "timeout": timeout}
    if kept is not None:
        if checkpoint is not None:
            raise AuditError("a checkpoint and a ledger are two places to go on from: give one of them.")
        if observe == TIME:
            raise AuditError('observe = "time": times of different nights are no samples of one law. Audit them without a ledger.')
        return _night(kept, file, claim, target, settings, confidence, seed, where, inputs, progress)
    path = None if checkpoint is None else Path(checkpoint)
    root = seed if seed is not None else seed_of(path) if path is not None else None
    root = secrets.randbits(32) if root is None else root
    plan = make_plan(claim, seed=root, **inputs)
    given = _Given(claim, plan, settings, confidence, root, replay, where, progress)
    try:
        return given.audited(target, None if path is None else Checkpoint(path, _key(claim, target, plan, settings, root)))
    except Failing as error:
        found = given.failing(target, error)
        if found is None:
            raise SamplerError(str(error)) from error.__cause__
        return found


@dataclass(frozen=True, slots=True)
class _Given:
    """What an audit was asked, and where it samples."""

    claim: Claim
    plan: Plan
    settings: Settings
    confidence: float
    root: int
    replay: Replay
    places: Mapping[str, Any]
    progress: Callable[[int], object]

    def audited(self, target: Target, checkpoint: Checkpoint | None = None) -> Finding:
        """The finding about a target. Raises SamplerError where it fails."""
        plan, said = _as_observed(self.plan, target, self.root, self.places["timeout"])
        journal, samples, known = Journal(checkpoint, self.root), self.settings.samples, self.root if target.reproducible else None
        with Engine(target, root=self.root, **self.places) as engine:
            self.progress(0)  # from here on the engine watches over what is called
            state, earlier = staged(plan, self.settings, journal, engine, self.progress)
            shared = None if target.observe == TIME else _shared(state, target, engine, journal, earlier)
        finding = concluded(state, self.claim, target, self.confidence, known, self.replay)
        if shared is None:
            return _noted(_extended(finding, earlier) if earlier.samples else finding, said)
        if not target.vectorised:  # no count of its outputs is evidence, and nobody can sample it in another way
            return _noted(_remembering(finding, shared), said)
        whole: Replay = lambda seed, _: self.replay(seed, samples)  # noqa: E731  # no fewer: this run comes second
        finding = _one_by_one(target, plan, self.settings, self.root, self.places, self.progress, self.claim, self.confidence, whole)
        return _noted(_dependent(finding, shared, self.replay(self.root, samples) if target.reproducible else ""), said)

    def failing(self, target: Target, error: Failing) -> Finding | None:
        """What is found where nan and exceptions are outputs, after one of them: None where that is no more than an error.

        A sampler that fails always has no outputs. One that was asked to be observed so has had its nan as outputs already. The run that
        failed might have found something too: so both may spend the budget of false alarms, and the confidence says so.
        """
        if target.observe == TIME or (target.observe and not target.vectorised) or self.confidence <= 0.5:
            return None
        single = one_by_one(target) if target.vectorised and not isinstance(error, GaveNan) else target
        observed = replace(single, observe=FAILURES)
        settings = self.settings if target.observe else replace(self.settings, samples=min(self.settings.samples, MOST_FAILING))
        try:
            if not target.observe and all(_fails(observed, data, self.root, self.places["timeout"]) for data in _inputs(self.plan)):
                return None
            found = replace(self, settings=settings, confidence=2 * self.confidence - 1).audited(observed)
        except SamplerError:
            return None
        if target.observe:
            return found
        if found.finding != VIOLATION or found.level != MODEL:
            return None
        return _noted(found, f"nan and exceptions are outputs here, for they came: {error}")


MOST_FAILING: Final = 100_000
"""Samples on each side, where a sampler fails and nobody asked to observe that."""
_LOOKED_AT: Final = 32
_OF_TIME: Final = (
    "time: the nanoseconds that a call took on this machine, under this load, are an output; calls on both inputs come in pairs, whose "
    "order a coin decides. Who is far away sees time less sharply, who measures for longer sees more. Runs are not independent, so no "
    "bound by counts is stated, and another run of this seed takes other times"
)


def _as_observed(plan: Plan, target: Target, root: int, timeout: float) -> tuple[Plan, str]:
    """The plan for what the target has for outputs, and what to say of that."""
    if target.observe:
        return alone(plan), _OF_TIME if target.observe == TIME else ""
    return as_told(plan, target, root, timeout)


def _inputs(plan: Plan) -> tuple[Any, Any]:
    return plan.pairs[0].left, plan.pairs[0].right


def _fails(target: Target, data: Any, root: int, timeout: float) -> bool:
    """Whether a few calls all fail."""
    outputs = target.draw(data, _LOOKED_AT, np.random.default_rng(root), timeout=timeout)
    return all("raises " in name or "nan" in name for name in outputs.names)


def _one_by_one(
    target: Target, plan: Plan, settings: Settings, root: int, where: Mapping[str, Any], progress: Callable[[int], object], claim: Claim,
    confidence: float, replay: Replay,
) -> Finding:  # fmt: skip
    """What is found with one output a call; its replay has no fewer samples, for this run comes second."""
    single = replace(one_by_one(target), observe=target.observe)
    with Engine(single, root=root, **where) as engine:
        again = run(plan, settings, engine, Journal(None, root), progress)
    return concluded(again, claim, single, confidence, root if target.reproducible else None, replay)


def _extended(finding: Finding, earlier: Earlier) -> Finding:
    """The finding of a run's last stage as that of the run."""
    note = f"the run was extended from {earlier.samples} samples per input: its checkpoint finds this again"
    return replace(
        finding, samples=earlier.samples + finding.samples, epsilon_lower=max(finding.epsilon_lower, earlier.bound), replay="",
        notes=(*finding.notes, note), also=tuple(_extended(one, earlier) for one in finding.also),
    )  # fmt: skip


def kept_in(ledger: str | Path | None, inherit: str = NOTHING) -> Kept | None:
    """The ledger at a path, if there is one."""
    if ledger is None and inherit != NOTHING:
        raise AuditError("inherit says what a new version takes over from the ledger, and none is given: give ledger, or leave it out.")
    return None if ledger is None else Kept(Ledger(ledger), inherit)


def _night(
    kept: Kept, file: str, claim: Claim, target: Target, settings: Settings, confidence: float, seed: int | None, where: dict[str, Any],
    inputs: dict[str, Any], progress: Callable[[int], object],
) -> Finding:  # fmt: skip
    """One night of the history that a ledger keeps of a claim and a version of the sampler."""
    parts = code_of(target.call, claim)
    if target.observe:
        parts["observe"] = target.observe
    key = Key(Path(file).name, claim.name or f"claim {parts['claim'][:12]}", target.name, _stated(claim), confidence)
    night = kept.begin(key, parts, seed, settings.samples)
    journal = NightJournal(kept.ledger, night)
    settings, root = replace(settings, alpha=night.alpha, night=night.night), night.root
    known, finding, void = root if target.reproducible else None, None, False
    try:
        plan, said = _as_observed(make_plan(claim, seed=root, **inputs), target, root, where["timeout"])
        with Engine(target, root=root, **where) as engine:
            progress(0)  # from here on the engine watches over what is called
            state = run(plan, settings, engine, journal, progress)
            shared = _shared(state, target, engine, journal)
        finding = concluded(state, claim, target, confidence, known, lambda seed, samples: "")
        if shared is not None:
            void = True
            if target.vectorised:
                anew = replace(settings, night=replace(night.night, brought=Capital()))
                again = _one_by_one(target, plan, anew, root, where, progress, claim, confidence, lambda seed, samples: "")
                finding = _dependent(again, shared, "")
            else:
                finding = _remembering(finding, shared)
        finding = _noted(finding, said)
    finally:
        journal.end(finding, void=void)
    return standing(finding, night, kept.ledger.path, state)


def _stated(claim: Claim) -> str:
    """What a claim states, in words."""
    said = [f"{name} = {number_up(value):.6g}" for name, value in (("epsilon", claim.epsilon), ("delta", claim.delta)) if value is not None]
    return ", ".join(said) or "the declared curve"


def _shared(state: Run, target: Target, engine: Engine, journal: Journal, earlier: Earlier | None = None) -> Batches | None:
    """What shows that outputs of one call of the sampler are not independent, if something does."""
    first = next(iter(state.crossings.values())).test.pair if state.crossings else state.alive[0]
    pair, doubtful = state.pair(first), state.largest if MODEL in state.crossings or state.nonconforming else 0
    kept = [*(earlier.kept if earlier else ()), *(calls for sides in state.kept.values() for calls in sides)]
    left = state.settings.samples - state.done
    batches = dependence(
        kept, (pair.left, pair.right), doubtful, left, -log(state.settings.batches), engine, journal, one_a_call=not target.vectorised
    )
    journal.save()
    return batches


def _remembering(finding: Finding, shared: Batches) -> Finding:
    """What is said of a sampler that keeps something between calls, in place of what was counted as if it did not."""
    note = "what was counted says nothing of its law: counts suppose that outputs are independent"
    return replace(
        finding, finding=NONCONFORMING, level=MODEL, epsilon_lower=0.0, samples=shared.looked_at, event=shared.text(), also=(),
        detectable_epsilon=None, notes=(*finding.notes, note), path=None, refuted=None,
    )  # fmt: skip


def _dependent(finding: Finding, shared: Batches, replay: str) -> Finding:
    """The findings of a run with one output a call, and why that was needed."""
    note = "sampled with one output a call, for outputs within a batch are not independent"
    finding, *also = (replace(one, also=(), notes=(*one.notes, note)) for one in (finding, *finding.also))
    fault = replace(
        finding, finding=NONCONFORMING, level=MODEL, epsilon_lower=0.0, samples=shared.looked_at, event=shared.text(),
        detectable_epsilon=None, replay=replay, notes=(), path=None, refuted=None,
    )  # fmt: skip
    return replace(finding, also=(*also, fault)) if finding.finding == VIOLATION else replace(fault, also=(finding, *also))


@one_thread()
@stdout_aside()
@named_arguments
def audit_training(
    train: Callable[..., Any] | str,
    canaries: Any,
    claim: Claim | inline.Noise | None = None,
    *,
    score: Callable[..., Any] | str | None = None,
    data: Any = None,
    instead: Any = None,
    epsilon: Any = None,
    delta: Any = 0,
    sensitivity: Any = None,
    runs: int = 1,
    guesses: int | None = None,
    confidence: float = OF_TRAINING,
    seed: int | None = None,
    timeout: float = 3600.0,
    folder: Path | None = None,
    progress: Callable[[int], object] = lambda done: None,
) -> Finding:
    """Train with canaries that coins put in or leave out, guess from the model how the coins fell, and bound epsilon from below.

    One run is enough for a bound, with many canaries; the coins of several runs count together. Nothing is simulated: the bound and its
    confidence are theorems about every mechanism (theory#guessed-coins).

    train: callable(records, rng) -> model, or "module:name" of one; records are `data`, then the canaries whose coin fell heads: an
    array where both are arrays, else a list. canaries: records that a model that is not private would give away; or a function that gives
    them, or "module:name". score: callable(model, canaries) -> a number for each, the greater the surer that it was trained on; None
    where train gives these numbers itself. data: records that are always trained on. instead: as many records as canaries, which take
    their places where these are left out; then neighbours replace a record, else they add or remove one. claim, epsilon, delta,
    sensitivity: what is claimed, as for audit, in nats. runs: how often is trained. guesses: how many coins are guessed in all, half of
    them as heads; None tries several numbers, which share the risk. confidence: 1 - the probability of a false alarm, and that the bound
    on epsilon fails. timeout: seconds that one run may take.
    Raises AuditError where the audit cannot be set up, SamplerError where the training fails or a score is no number.
    """
    again = {
        "canaries": canaries, "claim": claim, "score": score, "data": data, "instead": instead, "epsilon": epsilon, "delta": delta or None,
        "sensitivity": sensitivity, "guesses": guesses, "confidence": confidence, "folder": folder,
    }  # fmt: skip
    replay = training_line(train, again)
    if isinstance(claim, Declared | Mechanism):
        claim, _, _ = _claimed(claim, epsilon, delta, sensitivity, None, None)
    elif claim is None:
        claim = _black_box(epsilon, delta, sensitivity)
    elif epsilon is not None or delta or sensitivity is not None:
        raise AuditError("audit_training: epsilon, delta, sensitivity: these come from the claim; remove these arguments.")
    claimed, proved_delta = claimed_point(claim)
    return audited_training(
        callables(train, canaries, score, data, instead, folder), epsilon=claimed, delta=proved_delta, runs=runs, guesses=guesses,
        confidence=confidence, seed=seed, timeout=timeout, replay=replay, name=claim.name, progress=progress,
    )  # fmt: skip


@one_thread()
@stdout_aside()
def audit_query(
    query: Callable[[Any], Any],
    claim: Claim,
    *,
    pairs: Sequence[Sequence[Any]] | None = None,
    patterns: Any = None,
    length: int | None = None,
    adjacency: str | None = None,
    seed: int = 0,
) -> QueryFinding | None:
    """Search for neighbours that move the true answer by more than the claim's sensitivity, shrunk to a minimal pair. None: none found."""
    searched = _searched(query, claim, pairs=pairs, patterns=patterns, length=length, adjacency=adjacency, seed=seed)
    return None if searched is None else searched.finding


def _searched(
    query: Callable[[Any], Any],
    claim: Claim,
    *,
    pairs: Sequence[Sequence[Any]] | None,
    patterns: Any,
    length: int | None,
    adjacency: str | None,
    seed: int,
) -> Searched | None:
    """What a search for neighbours that move the true answer too far has seen; None where the claim does not say how far that is."""
    density = declared(claim)
    if claim.sensitivity is not None:
        sensitivity = number_up(claim.sensitivity)
    elif claim.query is not None and density is not None:  # derived: the worst answers are that far apart
        sensitivity = max((density.distance(b - a) for a, b in density.worst_pairs()), default=0.0)
    else:
        return None
    adjacency = adjacency or (claim.query.adjacency if claim.query is not None else None) or claim.adjacency or None
    given = [tuple(pair) for pair in pairs or ()]
    if patterns == "usual" and adjacency is None and length is not None:
        given += [(pair.left, pair.right) for pair in usual_patterns(length, sensitivity)]
    return search_sensitivity(
        query,
        strategy=None if isinstance(patterns, str) and patterns == "usual" else patterns,
        pairs=tuple(given),
        sensitivity=sensitivity,
        norm=_largest if density is None else density.distance,
        adjacency=adjacency,
        length=length or 5,
        seed=seed,
    )


def _queried(
    query: Callable[[Any], Any] | None, name: str, claim: Claim, confidence: float, replay: Replay, level: str = FLOAT, **inputs: Any
) -> tuple[Finding | None, str]:
    """The finding of a query's search, if it found something, and what was searched in words, empty where there is no query."""
    if query is None:
        return None, ""
    searched = _searched(query, claim, **inputs)
    if searched is None:
        return None, "query: no search for neighbours that move it too far, for the claim states no sensitivity"
    if searched.finding is None or (level == MODEL and searched.finding.level == FLOAT):
        return None, searched.text()
    return replace(_of_query(searched.finding, claim, confidence, inputs["seed"], name, replay), notes=(searched.text(),)), searched.text()


@one_thread()
@stdout_aside()
def audit_spec(
    spec: Spec,
    *,
    samples: int = SAMPLES,
    confidence: float = CONFIDENCE,
    seed: int | None = None,
    workers: int = 0,
    dask: str | None = None,
    ship: Sequence[str | Path] = (),
    level: str = FLOAT,
    stop: bool = True,
    checkpoint: Path | None = None,
    ledger: Path | None = None,
    inherit: str = NOTHING,
    timeout: float = 60.0,
    progress: Callable[[int], object] = lambda done: None,
    claims: Sequence[Stated] | None = None,
) -> list[Finding]:
    """Audit the claims of a file (all, or some) against the sampler that its [audit] table names; the query's own finding comes first.

    Raises AuditError where the file has no [audit] table or the audit cannot be set up, SamplerError where the sampler fails.
    """
    if spec.audit is None:
        raise AuditError(f"{spec.file}: no [audit] table. Add one that names the sampler.")
    table, folder = spec.audit, Path(spec.file).resolve().parent
    asked = spec.claims if claims is None else claims
    if "train" in table:
        given = [(_trained(table, folder, spec.file, stated.claim, confidence, seed, timeout, progress), stated) for stated in asked]
        return [replace(one, file=spec.file, name=stated.claim.name, expected=stated.expect) for one, stated in given]
    query = timed(_callable(table["query"], folder), table["query"], timeout) if "query" in table else None
    patterns = table.get("patterns")
    if isinstance(patterns, str) and patterns.startswith("strategy:"):
        patterns = load(patterns.removeprefix("strategy:"), folder)
    inputs: dict[str, Any] = {"pairs": table.get("pairs"), "patterns": patterns, "length": table.get("length")}
    findings: list[Finding] = []
    for stated in asked:
        labels: dict[str, Any] = {"file": spec.file, "name": stated.claim.name, "expected": stated.expect}
        again = command_line(spec.file, stated.claim.name, confidence, stop=stop, level=level)
        searching = {**inputs, "adjacency": stated.adjacency or None, "seed": seed or 0}
        moved, note = _queried(query, table.get("query", ""), stated.claim, confidence, again, level, **searching)
        findings += [] if moved is None else [replace(moved, **labels)]
        finding = _audit(
            table["sampler"], stated.claim, **inputs, replay=again, query=query, samples=samples, confidence=confidence, seed=seed,
            workers=workers, dask=dask, ship=ship, stop=stop, checkpoint=checkpoint, timeout=timeout, folder=folder, progress=progress,
            level=level, kept=kept_in(ledger, inherit), file=spec.file,
            observe=table.get("observe", ""),
        )  # fmt: skip
        finding = _noted(finding, note)
        findings += [replace(one, **labels) for one in (finding, *finding.also)]
    return findings


def _trained(
    table: Mapping[str, Any], folder: Path, file: str, claim: Claim, confidence: float, seed: int | None, timeout: float,
    progress: Callable[[int], object],
) -> Finding:  # fmt: skip
    """The audit of the training that an [audit] table names."""
    train, canaries, score, data, instead = (table.get(key) for key in ("train", "canaries", "score", "data", "instead"))
    training = callables(train, canaries, score, data, instead, folder)
    epsilon, delta = claimed_point(claim)
    sure = table.get("confidence", confidence)
    line = command_line(file, claim.name, sure, stop=True)
    return audited_training(
        training, epsilon=epsilon, delta=delta, runs=table.get("runs", 1), guesses=table.get("guesses"), confidence=sure, seed=seed,
        timeout=timeout, replay=lambda seed, runs: line(seed, runs).replace(f" --samples {runs}", ""), progress=progress,
    )  # fmt: skip


# -- claims and findings ---------------------------------------------------------------------------------------


def _claimed(
    noise: inline.Noise, epsilon: Any, delta: Any, sensitivity: Any, query: Any, adjacency: str | None
) -> tuple[Claim, Callable[[Any], Any] | None, str | None]:
    """The claim of a mechanism, the query as a function where it is one, and which data are its neighbours."""
    linear = query is not None and not callable(query)
    said = {"sensitivity": sensitivity, "query": query if linear else None, "adjacency": adjacency if linear else None}
    claim = inline.stated(noise, {**said, "epsilon": epsilon, "delta": delta}).claim
    return claim, None if linear else query, None if linear else adjacency


def _black_box(epsilon: float | str | Fraction | None, delta: float | str | Fraction, sensitivity: float | str | Fraction | None) -> Claim:
    """A claim about a sampler of which no density is declared."""
    if epsilon is None:
        raise AuditError("what is claimed? Give a claim, or epsilon (nats) and delta.")
    moved = None if sensitivity is None else _number("sensitivity", sensitivity)
    return Claim(Sampled(), _number("epsilon", epsilon), _number("delta", delta), moved)


def _number(name: str, value: float | str | Fraction) -> Num:
    """A number as the decimal that it is written as: 0.1 is 1/10."""
    try:
        number = Fraction(str(value))
    except (ValueError, ZeroDivisionError) as error:
        raise AuditError(f"{name} = {value!r} is not a number. Write an integer, a decimal or a fraction.") from error
    if number < 0:
        raise AuditError(f"{name} = {value!r} is negative.")
    return Num(number)


def _callable(reference: str, folder: Path) -> Callable[[Any], Any]:
    named = load(reference, folder)
    if not callable(named):
        raise AuditError(f"query = {reference!r}: {show(named)} is not callable. Name a function from data to the true answer.")
    return named


def _largest(answer: Any) -> float:
    """The norm of a change where none is declared: the largest coordinate."""
    return float(np.abs(answer).max(initial=0.0))


def _key(claim: Claim, target: Target, plan: Plan, settings: Settings, root: int) -> str:
    """What a checkpoint must be of to go on from it, whatever the number of samples."""
    pairs = [plain((pair.left, pair.right, pair.answers, pair.origin)) for pair in plan.pairs]
    settings = replace(settings, samples=0)
    return repr((__version__, claim_hash(to_json(claim)), target.name, target.vectorised, target.observe, pairs, settings, root))


def _of_query(moved: QueryFinding, claim: Claim, confidence: float, seed: int, name: str, replay: Replay) -> Finding:
    """What is wrong with the query itself: no statistics, two inputs that anyone can try."""
    epsilon = None if claim.epsilon is None else number_up(claim.epsilon)
    return Finding(
        finding=VIOLATION if moved.kind in ("moved", "length") else NONCONFORMING, level=moved.level, epsilon=epsilon,
        delta=0.0 if claim.delta is None else number_up(claim.delta), epsilon_lower=0.0,
        confidence=confidence, samples=0, event=moved.message, pair=f"{show(moved.x)} and {show(moved.x_prime)}", detectable_epsilon=None,
        seed=seed, seconds=0.0, sampler=name, replay=replay(seed, 1),
    )  # fmt: skip
