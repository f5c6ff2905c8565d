"""What replays of a pipeline found, with proofs of what its primitives cost."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from hypothesis import strategies as st

from dpverify import replays
from dpverify.catalogue.reader import read_tables
from dpverify.errors import DpverifyError, FoundByAudit, NotCertain, SpecError
from dpverify.replays.calls import Breach, Trace, exact
from dpverify.replays.neighbours import inputs
from dpverify.replays.told import KEPT, WAYS
from dpverify.report.answers import Answer, judged

MOST_JUDGED: Final = 20
MOST_LINES: Final = 5
CONTRACT_BROKEN, CLAIM_REFUTED, CLAIM_UNKNOWN, NO_BREACH_SEEN = "CONTRACT_BROKEN", "CLAIM_REFUTED", "CLAIM_UNKNOWN", "NO_BREACH_SEEN"
NOTHING_SEEN: Final = "NOTHING_SEEN"
DIMENSIONS: Final = ("laplace", "gaussian")
"""The builtins whose noise on a vector is declared as one."""


@dataclass(frozen=True, repr=False)
class Replayed:
    """What replays of a pipeline found, and what follows; printing it says all of it. It is neither true nor false.

    finding: "CONTRACT_BROKEN": the pipeline does not touch its data through primitives alone, as pair and breach show; whether any claim is
    wrong is another question, for audit(). "CLAIM_REFUTED", "CLAIM_UNKNOWN": no breach was seen, and the primitives together cost more than
    is claimed, or it is not known. "NOTHING_SEEN": every pair ended in an exception, or no primitive was called. "NO_BREACH_SEEN": none of
    these. breach: its kind, what it is, and the line. pair, config: the smallest inputs that show it. outputs: what the primitives gave on
    both. loss: what the one call whose answers are too far apart tells of the pair by itself. guarantees: a proof for each list of calls
    that occurred. replays, raised: the pairs that were looked at, and those that ended in the same exception. seconds, after: the time of
    everything, and of making the pair small. assumed: what neither proof nor test says. reason: why a claim is undecided, or nothing seen.
    """

    finding: str
    breach: Breach | None
    pair: tuple[Any, Any] | None
    config: Mapping[str, Any]
    outputs: tuple[Any, ...]
    guarantees: tuple[tuple[str, Answer], ...]
    loss: Answer | None
    replays: int
    raised: int
    seconds: float
    after: float
    assumed: tuple[str, ...]
    reason: str | None
    _forks: bool = field(repr=False)
    _again: tuple[Callable[..., Any], Any, Callable[[Any], Any]] = field(repr=False)

    def __bool__(self) -> bool:
        raise NotCertain(f"a replay ({self.finding}) is neither true nor false. Ask its finding, or call raise_unless_clean().")

    @property
    def is_clean(self) -> bool:
        """Whether no breach was seen and no claim is refuted or undecided, which proves nothing of inputs that were not tried."""
        return self.finding == NO_BREACH_SEEN

    @property
    def epsilon(self) -> Any:
        """The greatest epsilon that is proved of a list of calls, at the claimed delta; None where that is not known of all."""
        known = [answer.epsilon.upper for _, answer in self.guarantees if answer.epsilon is not None and answer.epsilon.upper is not None]
        return max(known) if known and len(known) == len(self.guarantees) and not self._forks else None

    def raise_unless_clean(self) -> Replayed:
        """The finding itself where nothing was found. Raises FoundByAudit with it else."""
        if not self.is_clean:
            raise FoundByAudit(str(self))
        return self

    @property
    def sampler(self) -> Callable[[Any, Any], Any]:
        """The pipeline with its noise drawn: a function of data and a generator of numpy, as dpverify.audit takes it."""
        from dpverify.replays import drawing

        return drawing.sampler(self._again[0], self.config, *self._again[1:])

    def audit(self, **claim: Any) -> Any:
        """What dpverify.audit finds on the pair that breaks the contract: whether a claim is wrong there. Raises SpecError without one."""
        if self.pair is None:
            raise SpecError(
                "no pair broke the contract, so there is none to sample on. Give dpverify.audit the pairs that you have in mind."
            )
        from dpverify.audits import audit

        return audit(self.sampler, **{"pairs": [self.pair], **claim})

    def __str__(self) -> str:
        lines = [f"{self.finding}: {self.replays} replays, {self.seconds:.1f} s"]
        if self.breach is not None and self.pair is not None:
            lines += [f"  {self.breach}", f"  inputs: {self.pair[0]!r}", f"     and: {self.pair[1]!r}"]
            lines += [f"  config: {dict(self.config)!r}"] if self.config else []
            lines += [f"  outputs of primitives: {', '.join(map(repr, self.outputs))}"] if self.outputs else []
            if self.loss is not None and self.loss.epsilon is not None and self.loss.epsilon.lower is not None:
                lines.append(f"  on this pair the output of that call alone has epsilon {self.loss.epsilon.lower:f}, if it is told")
            lines.append("  whether the claim is wrong there is another question: audit(epsilon=...) samples the pipeline on this pair")
        else:
            for calls, answer in self.guarantees:
                lines.append(f"  proved  {calls}: epsilon {_upper(answer)}" + ("" if answer.is_proved else f", claim {answer.verdict}"))
            lines += [f"  reason  {self.reason}"] if self.reason is not None else []
            lines.append(f"  tested  {self.replays} pairs of neighbours, {self.raised} of which end in the same exception")
            lines += [f"  assumed {one}" for one in self.assumed]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<{str(self).splitlines()[0]}>"


def _upper(answer: Answer) -> str:
    found = answer.epsilon
    return "not known" if found is None or found.upper is None else f"at most {found.upper.normalize():f}"


def replay(
    pipeline: Callable[..., Any], *, rows: Any = None, pairs: Any = None, adjacency: str = "add-remove", rows_per_person: int = 1,
    person: str = "", form: str = "rows", most_rows: int = 200, allow_nan: bool = False, config: Any = None, sensitivity: Any = 1,
    epsilon: Any = None, delta: Any = 0, patch: str | Sequence[str] = (), ignore: str | Sequence[str] = (), kept: bool = False,
    tries: int = 200, seed: int = 0, tolerance: Any = "1e-9", seconds: float = 8,
) -> Replayed:  # fmt: skip
    """Run a pipeline on neighbouring inputs with the outputs of its noise primitives chosen, the same on both: what else differs is a leak.

    pipeline: a function of the data that takes `noise`, whose methods are the primitives (`total + noise.laplace(50)`, or
    `noise.laplace(total, scale=50, sensitivity=100)`, noisy_max, exponential, noisy_keys, above_threshold, of(declaration)), or that draws
    from a library that patch names: "numpy", "random", "diffprivlib", "pydp", "opendp". rows: a strategy of one row, or a dictionary of
    columns with strategies, or what claim files write of fields, "text" or "boolean"; pairs: a strategy of pairs of neighbours in its
    place. adjacency, rows_per_person: who neighbours are; person: the column that says whose a row is; form: "rows", "columns",
    "dataframe", or "duckdb" for a connection with the table `rows`; most_rows: of a table; allow_nan: whether real columns hold NaN.
    config: a strategy of further arguments, or a dictionary of strategies. sensitivity: of calls that state none: one, or one for each call
    in order. epsilon, delta: what is claimed of all calls together. ignore: what is told besides the result and not to be compared:
    "printed", "logged", "warned", "written"; kept: whether what is kept in globals, attributes and caches is put back before each run, and
    compared after it. tries: pairs; tolerance: by what part of their size answers may be further apart, for rounding. seconds: how long a
    smaller pair is looked for. Raises SpecError listing what is wrong.
    """
    tries = _positive("tries", tries)
    if (rows is None) == (pairs is None):
        raise SpecError("give rows, a strategy of one row, or pairs, a strategy of pairs of neighbours: one of the two.")
    ignored = (ignore,) if isinstance(ignore, str) else tuple(ignore)
    if unknown := [way for way in ignored if way not in WAYS]:
        raise SpecError(f"ignore: {unknown[0]!r:.40} is none of {', '.join(WAYS)}.")
    given = inputs(rows, adjacency, rows_per_person, person, form, most_rows, allow_nan) if pairs is None else pairs
    chosen = st.fixed_dictionaries(dict(config)) if isinstance(config, Mapping) else st.just({}) if config is None else config
    slack = exact(Fraction(tolerance)) if isinstance(tolerance, str) else exact(tolerance)
    if slack is None or slack < 0:
        raise SpecError(f"tolerance = {tolerance!r:.40} is no number of at least 0.")
    found = replays.search(
        pipeline, given, chosen, sensitivity=sensitivity, tolerance=slack, patch=(patch,) if isinstance(patch, str) else tuple(patch),
        tries=tries, seed=seed, seconds=seconds, ways=[*(way for way in WAYS if way not in ignored), *([KEPT] if kept else [])],
    )  # fmt: skip
    claim = {"delta": str(exact(delta) if not isinstance(delta, str) else delta), "epsilon": "tight" if epsilon is None else _text(epsilon)}
    lists = sorted(found.traces, key=lambda one: -len(one)) if found.breach is None else []
    guarantees = tuple((_words(one), judged(_stated(json.loads(one), claim), 20)) for one in lists[:MOST_JUDGED] if one != "[]")
    left = len(lists[MOST_JUDGED:])
    verdicts = {answer.verdict for _, answer in guarantees}
    forks = found.forks and claim["delta"] != "0"
    finding = (
        CONTRACT_BROKEN if found.breach is not None
        else NOTHING_SEEN if not guarantees or found.raised == found.replays else CLAIM_REFUTED if "REFUTED" in verdicts
        else CLAIM_UNKNOWN if "UNKNOWN" in verdicts or left or forks else NO_BREACH_SEEN
    )  # fmt: skip
    assumed = [
        "inputs that were not tried keep the contract too, and make no other list of calls",
        "the primitives sample exactly from the declared distributions, independently of each other",
    ]
    assumed += [f"answers that are further apart by {float(slack):.0e} of their size are so by rounding alone"] if slack else []
    assumed += [f"{left} further lists of calls were not judged"] if left else []
    reasons = {answer.reason for _, answer in guarantees if answer.reason}
    reason = "; ".join(sorted(reasons)) or None
    if finding == NOTHING_SEEN:
        error = found.error
        reason = (
            "no primitive was ever called"
            if error is None
            else f"every run ends in an exception, as in {type(error).__name__}: {error!s:.160}"
        )
    if forks:
        reason = 'which calls are made depends on what earlier ones told, and for that a delta above 0 wants a filter: kind = "filter"'
        assumed.append("which calls are made does not depend on what earlier ones told: else no delta above 0 follows from single lists")
    assumed += [f"what is {way} differs from run to run of the same input too, and is not compared" for way in found.unsteady]
    assumed += [f"what is {way} is nobody's to see" for way in ignored]
    if found.left and found.breach is None:
        shown = ", ".join(found.left[:MOST_LINES]) + (", ..." if len(found.left) > MOST_LINES else "")
        assumed.append(f"the {len(found.left)} lines of {found.lines} that no replay ran keep the contract: {shown}")
    opened = given.opened if isinstance(given, replays.Inputs) and given.form == "duckdb" else copy.deepcopy
    outputs = () if found.runs is None else tuple(x for call in found.runs[0].calls for x in call.outputs if x is not None)
    return Replayed(
        finding, found.breach, found.pair, found.config, outputs, guarantees, _loss(found.breach, found.runs), found.replays, found.raised,
        found.seconds, found.after, tuple(assumed), reason, forks, (pipeline, sensitivity, opened),
    )  # fmt: skip


def _positive(name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise SpecError(f"{name} = {value!r:.40} is no integer of at least 1.")
    return value


def _text(value: Any) -> str:
    if isinstance(value, float):
        raise SpecError(f"epsilon = {value!r} is a binary float. Write it as text, or as a Fraction.")
    return str(value)


def _stated(calls: Sequence[str], claim: Mapping[str, Any]) -> Any:
    """The claim about all calls of a run. Raises SpecError."""
    parts = [_part(*json.loads(call), pure=claim["delta"] == "0") for call in calls]
    return read_tables("pipeline", {"mechanism": {"kind": "compose", "parts": parts}, "claim": [dict(claim)]}).claims[0]


def _part(table: dict[str, Any], sensitivity: str, norm: str, count: int, *, pure: bool) -> dict[str, Any]:
    """A call as a part of a composition. Of several numbers: one vector where that can be declared, else a part a number, which is more."""
    name, table = table.get("name"), {**table, "sensitivity": sensitivity}
    if table["kind"] == "guarantee":  # of the whole answer, at its sensitivity
        return {key: value for key, value in table.items() if key not in ("sensitivity", "integers")}
    if table["kind"] == "above_threshold":
        return {**table, "queries": str(max(count, 1))}
    if table["kind"] in ("noisy_max", "exponential", "noisy_keys") or (count <= 1 and "dimension" not in table):
        return table
    fits = norm == ("l2" if name == "gaussian" else "l1")
    if "dimension" in table:
        if str(table["dimension"]) != str(count):
            raise SpecError(f"noise in {table['dimension']} dimensions is added to {count} numbers.")
        return table
    if name in DIMENSIONS and fits:
        return {**table, "dimension": count}
    alone = name == "discrete_laplace" and norm == "l1" and pure  # |a| + |b| <= D costs what D in one number does, at delta 0
    return table if alone else {**table, "times": count}


def _words(calls: str) -> str:
    held = list(map(json.loads, json.loads(calls)))
    names = [f"{table.get('name', table['kind'])}{f' of {count} numbers' if count > 1 else ''}" for table, _, _, count in held]
    return ", ".join(f"{names.count(name)} {name}" for name in dict.fromkeys(names))


def _loss(breach: Breach | None, runs: tuple[Trace, Trace] | None) -> Answer | None:
    """What the output of the call whose answers are too far apart tells of the pair, by itself; None where it is no such call."""
    if breach is None or runs is None or breach.kind != "distance":
        return None
    for first, second in zip(runs[0].calls, runs[1].calls, strict=False):
        numbers = [(exact(a), exact(b)) for a, b in zip(first.values, second.values, strict=False)]
        moved = [b - a for a, b in numbers if a is not None and b is not None]
        if second.apart(first, Fraction(0)) is not None and len(moved) == 1 == len(first.values) and first.mechanism["kind"] == "builtin":
            try:
                return judged(_stated([json.dumps([first.mechanism, str(abs(moved[0])), "l1", 1])], {"delta": "0", "epsilon": "tight"}), 20)
            except DpverifyError:
                return None
    return None
