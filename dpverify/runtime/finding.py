"""What an audit says in the end. Never "proved": refuted, not the declared density, or what it had the power to see.

Source: theory#no-test-proves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from math import inf
from typing import Any, Final

VIOLATION: Final = "VIOLATION"
NONCONFORMING: Final = "NONCONFORMING"
NO_VIOLATION_SEEN: Final = "NO_VIOLATION_SEEN"
MODEL, FLOAT = "model", "float"
GUESSED: Final = "guesses right"
"""How the event of an audit of a training run ends, whose samples are coins."""


Sides = tuple[tuple[tuple[float, ...], ...], tuple[tuple[float, ...], ...]]


@dataclass(frozen=True, slots=True)
class Known:
    """What an audit knew after so many samples a side.

    log10_evidence: of the e-process, the wealth of bets against the claim. epsilon_lower: in nats, None where the e-process says nothing
    of epsilon; all of a path hold at once, at the confidence of the finding.
    """

    samples: int
    log10_evidence: float
    epsilon_lower: float | None


@dataclass(frozen=True, slots=True)
class Path:
    """What an audit knew over samples, in their order, at most 100 times. threshold: the log10_evidence that is a finding."""

    threshold: float
    known: tuple[Known, ...]


@dataclass(frozen=True, slots=True)
class Refuted:
    """A claim that is proved false of the declared mechanism, on its sampler: how often an event comes that shows it.

    event, pair: in words; samples: runs on each side that it was counted in. declared: its probabilities on x and on x' by the declaration;
    left, right: intervals for those of the sampler, which hold at the finding's confidence. agrees: whether no interval shows that the
    sampler has other probabilities. shown: whether the audit found a violation of the model, or the intervals break the claim.
    """

    event: str
    pair: str
    samples: int
    declared: tuple[float, float]
    left: tuple[float, float]
    right: tuple[float, float]
    agrees: bool
    shown: bool

    def text(self) -> str:
        """What the proof says, and what was seen, in a sentence."""
        (low, high), (least, most), (p, q) = self.left, self.right, self.declared
        seen = f"P(S|x) in [{low:.4g}, {high:.4g}] and P(S|x') in [{least:.4g}, {most:.4g}] where the declaration has {p:.4g} and {q:.4g}"
        where = f"S = {{{self.event}}}, x and x' = {self.pair}, {self.samples} samples per input"
        if not self.agrees:
            return f"the claim is proved false of the declaration, and the implementation is another mechanism: {seen}; {where}"
        if self.shown:
            return f"the implementation shows the violation that is proved: {seen}; {where}"
        return f"the claim is proved false of the declaration, and the implementation agrees with it so far: {seen}; {where}"


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one audit.

    finding: VIOLATION (the claim is false of this sampler), NONCONFORMING (it does not sample the declared density) or NO_VIOLATION_SEEN.
    level: "model" for the law of the outputs, "float" for what only their representation gives away.
    epsilon, delta: as claimed; None where the whole curve of the declared density is claimed. Epsilon in nats.
    epsilon_lower: with probability at least `confidence`, the true epsilon at the claimed delta is above it.
    confidence: 1 - the probability that this run says VIOLATION or NONCONFORMING of a sampler that deserves neither.
    samples: runs on each side; of a training, coins. event: what was seen, in words, and how often on each side.
    pair: the two inputs, shortened.
    detectable_epsilon: the smallest epsilon that a run like this finds nine times in ten, inf if there is none; None after a violation.
    It is that of alternatives which show on the inputs that were run, in an event that the run looked at, as often on one side as was seen;
    of a claim with a delta, of alternatives whose log likelihood ratios all are larger, as those of smaller noise are.
    seed: None where the sampler takes no generator, so that the run cannot be repeated.
    also: what else the same run found: a fault of another level, nonconformance, or that no violation of the model was seen.
    replay: one line that finds it again, of the command line or of Python; empty where the sampler takes no generator.
    path: the test that speaks, over samples; None for a query, whose faults need none.
    outputs_seen: the first outputs on either input, at most 200, where they are numbers or pairs of numbers, for pictures; else None.
    refuted: of a claim that is proved false of the declared mechanism, whether the sampler shows it; None where it is not, or not on the
    inputs that were run.
    """

    finding: str
    level: str
    epsilon: float | None
    delta: float
    epsilon_lower: float
    confidence: float
    samples: int
    event: str
    pair: str
    detectable_epsilon: float | None
    seed: int | None
    seconds: float
    sampler: str
    also: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    file: str = ""
    name: str = ""
    expected: str = "PROVED"
    replay: str = ""
    path: Path | None = None
    outputs_seen: Sides | None = None
    refuted: Refuted | None = None

    def __bool__(self) -> bool:
        way = "Ask finding.is_clean, or finding.finding; dpverify.audit's also has finding.raise_unless_clean()."
        raise TypeError(f"a finding ({self.finding}) is neither true nor false. {way}")

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found: no violation, and no other density than the declared one. That proves nothing."""
        return self.finding == NO_VIOLATION_SEEN

    @property
    def as_expected(self) -> bool:
        """Whether nothing was found against the claim, or a violation of a claim that its author expects to be refuted."""
        return self.finding == NO_VIOLATION_SEEN or (self.finding == VIOLATION and self.expected == "REFUTED")

    def text(self) -> str:
        """The finding for people: what, with which confidence, then why and how to see it again."""
        claim = "the declared curve" if self.epsilon is None else f"epsilon {self.epsilon:.6g}"
        if self.delta:
            claim += f", delta {self.delta:.6g}"
        sure = f"confidence {confidence_text(self.confidence)}"
        shown = f"; lower confidence bound: epsilon > {self.epsilon_lower:.6g}" if self.epsilon_lower > 0 else ""
        if self.finding == VIOLATION:
            head = f"VIOLATION ({self.level} level) of {claim}, {sure}{shown}"
        elif self.finding == NONCONFORMING:
            head = f"NONCONFORMING ({self.level} level): not the declared density, {sure}{shown}"
        else:
            seen = self.detectable_epsilon
            where = "smaller noise on these inputs" if self.delta else "tested events and inputs only"
            where = "where a guess tells all it can" if self.event.endswith(GUESSED) else where
            power = "" if seen is None else f"; 90% power to detect epsilon >= {seen:.4g} ({where})"
            power = "; too few samples to find any epsilon" if seen == inf else power
            head = f"NO VIOLATION SEEN ({self.level} level) of {claim}, {sure}{power}{shown}"
        seed = "" if self.seed is None else f"; seed {self.seed}"
        lines = [head, f"  event: {self.event}" if self.event else "", f"  inputs: {self.pair}" if self.pair else ""]
        counted = "coins in all" if self.event.endswith(GUESSED) else "samples per input"
        lines += [f"  sampler: {self.sampler}; {self.samples} {counted}, {self.seconds:.2f} s{seed}"]
        lines += [f"  proof: {self.refuted.text()}"] if self.refuted is not None else []
        lines += [f"  note: {note}" for note in self.notes]
        replay = "not reproducible, for the sampler takes no generator" if self.seed is None else self.replay
        lines += [f"  replay: {replay}"] if replay else []
        return "\n".join(line for line in lines if line)


def as_data(finding: Finding) -> dict[str, Any]:
    """A finding as JSON data, infinite numbers as JSON in Python writes them."""
    return asdict(finding)


def of_data(data: Any) -> Finding:
    """The finding that `as_data` wrote. Raises LookupError, TypeError or ValueError for what it could not have written."""
    if not isinstance(data, dict) or data.keys() != {one.name for one in fields(Finding)}:
        raise ValueError("not a finding")
    plain = {key: _exactly(key, data[key], kinds) for key, kinds in _PLAIN.items()}
    if plain["finding"] not in (VIOLATION, NONCONFORMING, NO_VIOLATION_SEEN) or plain["level"] not in (MODEL, FLOAT):
        raise ValueError("not a finding")
    path, seen, refuted = data["path"], data["outputs_seen"], data["refuted"]
    notes = tuple(_exactly("notes", note, (str,)) for note in data["notes"])
    known = None if path is None else tuple(Known(**_exactly_all(one, _KNOWN)) for one in path["known"])
    return Finding(
        **plain,
        also=tuple(map(of_data, data["also"])),
        notes=notes,
        path=None if known is None else Path(_exactly("threshold", path["threshold"], (float, int)), known),
        outputs_seen=None if seen is None else (_side(seen[0]), _side(seen[1])),
        refuted=None if refuted is None else _refuted(refuted),
    )


def _exactly(key: str, value: Any, kinds: tuple[type, ...]) -> Any:
    if type(value) not in kinds:
        raise ValueError(f"{key} is not what a finding has there")
    return value


def _exactly_all(data: Any, kinds: Mapping[str, tuple[type, ...]]) -> dict[str, Any]:
    if data.keys() != kinds.keys():
        raise ValueError("not what a path has")
    return {key: _exactly(key, data[key], of) for key, of in kinds.items()}


def _refuted(data: Any) -> Refuted:
    both = {key: tuple(_exactly(key, number, _NUMBER) for number in data[key]) for key in ("declared", "left", "right")}
    plain: dict[str, Any] = {key: _exactly(key, data[key], (kind,)) for key, kind in _REFUTED.items()} | both
    if data.keys() != plain.keys() or any(len(ends) != 2 for ends in both.values()):
        raise ValueError("not what a refuted claim has")
    return Refuted(**plain)


def _side(data: Any) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(_exactly("outputs_seen", number, _NUMBER) for number in output) for output in data)


_NUMBER: Final = (float, int)
_NONE: Final = type(None)
_REFUTED: Final[Mapping[str, type]] = {"event": str, "pair": str, "samples": int, "agrees": bool, "shown": bool}
_KNOWN: Final[Mapping[str, tuple[type, ...]]] = {"samples": (int,), "log10_evidence": _NUMBER, "epsilon_lower": (*_NUMBER, _NONE)}
_PLAIN: Final[Mapping[str, tuple[type, ...]]] = {
    **dict.fromkeys(("finding", "level", "event", "pair", "sampler", "file", "name", "expected", "replay"), (str,)),
    **dict.fromkeys(("delta", "epsilon_lower", "confidence", "seconds"), _NUMBER),
    **dict.fromkeys(("epsilon", "detectable_epsilon"), (*_NUMBER, _NONE)),
    "samples": (int,),
    "seed": (int, _NONE),
}


def confidence_text(confidence: float) -> str:
    """0.999, or 1 - 1e-06 where a decimal would only be nines."""
    alpha = 1 - confidence
    return f"{confidence:.6g}" if alpha >= 1e-4 else f"1 - {alpha:.3g}"
