"""A refuted claim of a program, in its function: on both inputs of the witness, these noises, these outputs, at these lines."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dpverify.catalogue.programs import Text, named
from dpverify.catalogue.values import read_value_or_domain
from dpverify.errors import NotCertain
from dpverify.programs.agreement import evaluated
from dpverify.programs.compiled import Compiled
from dpverify.programs.reading import Faulty, compile_program, default_parameters
from dpverify.replays.agreeing import as_word, in_a_row, numbers_in
from dpverify.replays.calls import exact, place
from dpverify.replays.code import Lines, functions_of
from dpverify.trusted.kernel.expr import Num
from dpverify.trusted.kernel.model import Domain

RUNS: Final = 4_000
FEW: Final = tuple(Fraction(each, 2) for each in (0, 2, 1, 4, -2))
"""Values of parameters of which a domain is known alone."""
SIGMAS: Final = 6
"""By how many standard deviations counts of runs may be off."""
FAR: Final = 10**6
NO_RECORD: Final = "no record"
SYMMETRIC: Final = ("laplace", "discrete_laplace")
"""The noises whose density at 0 and elsewhere differ by exp of the distance in scales."""


@dataclass(frozen=True)
class Drawn:
    """A noise of a run: what it is called, its value, and the line that drew it."""

    noise: str
    value: Any
    line: str


@dataclass(frozen=True)
class Run:
    """A run of the function: its data, its noises in order, what it tells, the lines that ran, and how many runs of how many told that."""

    data: Any
    noises: tuple[Drawn, ...]
    told: Any
    lines: tuple[str, ...]
    hits: int
    runs: int


@dataclass(frozen=True, repr=False)
class Rerun:
    """What a refutation says, seen in the function itself; printing it says all of it.

    finding: "SHOWN", or "NOT_SHOWN", for which reason says why. output: what is told on both inputs. first, second: runs that tell it; None
    where none of so many did. loss: by how much the densities of the noises differ, in nats, where both outputs are the same number.
    """

    name: str
    finding: str
    witness: Mapping[str, Any]
    parameters: Mapping[str, Any]
    output: str
    first: Run | None = None
    second: Run | None = None
    loss: Fraction | None = None
    reason: str | None = None

    def __bool__(self) -> bool:
        raise NotCertain(f"a rerun ({self.finding}) is neither true nor false. Ask its finding.")

    def as_json(self) -> dict[str, Any]:
        """What it says as data of JSON, with exact numbers as text."""

        def told(run: Run | None) -> Any:
            return run and {
                "data": _plain(run.data), "output": _plain(run.told), "lines": list(run.lines), "hits": run.hits, "runs": run.runs,
                "noises": [{"noise": one.noise, "value": _plain(one.value), "line": one.line} for one in run.noises],
            }  # fmt: skip

        return {
            "program": self.name, "finding": self.finding, "witness": {key: str(value) for key, value in self.witness.items()},
            "parameters": {key: str(value) for key, value in self.parameters.items()}, "output": self.output, "first": told(self.first),
            "second": told(self.second), "loss": None if self.loss is None else str(self.loss), "reason": self.reason,
        }  # fmt: skip

    def __str__(self) -> str:
        lines = [f"{self.finding}: the refutation of {self.name}, in the function"]
        lines += [f"  parameters: { {key: str(value) for key, value in self.parameters.items()} }"] if self.parameters else []
        lines += [f"  output: {self.output}"] if self.output else []
        for run in (self.first, self.second):
            if run is not None:
                noises = ", ".join(f"{one.noise} = {_short(one.value)} at {one.line}" for one in run.noises) or "none"
                lines += [f"  on {_plain(run.data)!r}: tells {_plain(run.told)!r}", f"    noises: {noises}"]
                lines += [f"    lines: {', '.join(run.lines)}"]
                lines += [f"    so in {run.hits} of {run.runs} runs"] if run.runs > 1 else []
        lines += [f"  the noises of the second are less likely by exp(-{self.loss})"] if self.loss is not None else []
        lines += [f"  reason: {self.reason}"] if self.reason is not None else []
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<{str(self).splitlines()[0]}>"


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _plain(value: Any) -> Any:
    """Data as JSON and readers have it."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value


class Unshown(Exception):
    """That a witness is in a form of which no run is made."""


class _Noted:
    """A source of noise whose draws are noted. shift: what is taken from a sampler is replaced by these, one after the other."""

    def __init__(self, source: Any, fixed: Sequence[Any] | None) -> None:
        self._source, self._fixed, self.drawn = source, fixed, list[Drawn]()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)

        def draw(*values: Any, **given: Any) -> Any:
            at = len(self.drawn)
            if self._fixed is None:
                value = getattr(self._source, name)(*values, **given)
            else:
                value = self._fixed[at] if at < len(self._fixed) else 0
            shown = ", ".join([*map(_short, values), *(f"{key}={_short(one)}" for key, one in given.items())])
            self.drawn.append(Drawn(f"{name}({shown})", value, place()))
            return value

        return draw


@dataclass(frozen=True)
class _Rerunning:
    function: Callable[..., Any]
    noises: Callable[[int], Any]
    parameters: Mapping[str, Any]

    def run(self, data: Any, seed: int, fixed: Sequence[Any] | None = None, lines: Lines | None = None) -> tuple[Any, list[Drawn]]:
        """What a run tells, and its noises."""
        source = _Noted(self.noises(seed) if fixed is None else None, fixed)
        if lines is None:
            told = self.function(data, **self.parameters, noise=source)
            return (list(told) if hasattr(told, "__next__") else told), source.drawn
        with lines.noted():
            told = self.function(data, **self.parameters, noise=source)
            told = list(told) if hasattr(told, "__next__") else told
        return told, source.drawn

    def shown(self, data: Any, fixed: Sequence[Any], hits: int, runs: int) -> Run:
        """A run with known noises, and its lines."""
        lines = Lines(functions_of(self.function))
        told, drawn = self.run(data, 0, fixed, lines)
        left = set(lines.left)
        ran = sorted((file, line) for file, line in lines.all if f"{file}:{line}" not in left)
        return Run(data, tuple(drawn), told, tuple(f"{file}:{line}" for file, line in ran), hits, runs)

    def sampled(self, data: Any, holds: Callable[[Any], bool]) -> Run | None:
        """A run, of RUNS, whose output is in the event."""
        source, hits, found = self.noises(1), 0, None
        for _ in range(RUNS):
            noted = _Noted(source, None)
            told = self.function(data, **self.parameters, noise=noted)
            told = list(told) if hasattr(told, "__next__") else told
            if holds(told):
                hits += 1
                found = found or [one.value for one in noted.drawn]
        return None if found is None else self.shown(data, found, hits, RUNS)


def rerun(
    function: Callable[..., Any], text: Text, answer: Any, noises: Callable[[int], Any], given: Mapping[str, Any] | None = None
) -> Rerun:  # fmt: skip
    """The refutation of a claim, run in the function.

    answer: what dpverify.verify said; noises: a source of noise from a seed; given: values of parameters, as verify was given them.
    """
    witness = dict(answer.witness or {})
    if answer.verdict != "REFUTED":
        return Rerun(text.name, "NOT_SHOWN", witness, {}, "", reason=f"the claim is {answer.verdict}, and not refuted")
    try:
        parameters, found = declared(text, {**(given or {}), **(witness.get("at") or {})})
        return _rerun(_Rerunning(function, noises, parameters), text.name, witness, parameters, found)
    except Unshown as error:
        return Rerun(text.name, "NOT_SHOWN", witness, {}, "", reason=str(error))


def declared(text: Text, given: Mapping[str, Any]) -> tuple[dict[str, Any], Compiled]:
    """The values of the program's parameters at the witness, of those in a domain one that it has, and the declaration with them."""
    module, program = named(text)
    known = default_parameters(program, {})
    said = {**known, **{name: value for name, value in given.items() if name in known}}
    values: dict[str, Fraction] = {}
    for name, one in said.items():
        number = exact(one) if not isinstance(one, str) else _rational(one)
        domain = None if number is not None else read_value_or_domain(str(one))
        fits = [each for each in FEW if isinstance(domain, Domain) and domain.holds(each)]
        values[name] = number if number is not None else [*fits, Fraction(1)][0]
    try:
        found = compile_program(module, program, {name: Num(value) for name, value in values.items()}, {}, {})
    except Faulty as error:
        said_ = ", ".join(f"{name} = {value}" for name, value in values.items())
        raise Unshown(f"the program is none at {said_}; say at which values: rerun(answer, parameters=...)") from error
    return {name: int(value) if value.denominator == 1 else float(value) for name, value in values.items()}, found


def _rational(text: str) -> Fraction | None:
    try:
        return Fraction(text)
    except ValueError:
        return None


def _rerun(by: _Rerunning, name: str, witness: Mapping[str, Any], parameters: Mapping[str, Any], found: Compiled) -> Rerun:
    pair, event = str(witness.get("pair", "")), str(witness.get("event", ""))
    if "in the limit" in str(witness.get("point", "")):
        raise Unshown(f"its witness is a limit of {pair}: no two lists of answers show all of the loss")
    if "tables" in witness:
        return _over_rows(by, name, witness, parameters, found)
    told = Unshown("")
    for inputs, holds in [*_selected(by, pair, event, witness, found)] or [_listed(pair, event, found)]:
        first, second = by.sampled(inputs[0], holds), by.sampled(inputs[1], holds)
        if first is None and second is None:
            told = Unshown(f"none of {RUNS} runs on either input told {event}")
        elif fault := _unlike(witness, first, second):
            told = Unshown(fault)
        else:
            return Rerun(name, "SHOWN", witness, parameters, event, first, second)
    raise told


def _unlike(witness: Mapping[str, Any], first: Run | None, second: Run | None) -> str:
    """What is wrong with how often the event was seen, by what the witness says of it; empty where nothing is."""
    for side, run in (("P", first), ("Q", second)):
        stated, seen = _middle(str(witness.get(side, ""))), 0 if run is None else run.hits
        if stated is not None and abs(seen - RUNS * stated) > SIGMAS * math.sqrt(RUNS * abs(stated * (1 - stated))) + 1:
            return f"the event is seen {seen} times in {RUNS} runs, and {side} = {stated:.4g}: it is read in another way than is meant"
    return ""


def _middle(text: str) -> float | None:
    """About what an enclosure in text holds: [a, b], [a +/- b] or a number."""
    numbers = re.findall(r"\d+\.?\d*(?:e[+-]?\d+)?", text)
    if not numbers or "^" in text:
        return None
    return float(numbers[0])


def _number(text: str) -> Any:
    value = Fraction(text.strip())
    return int(value) if value.denominator == 1 else float(value)


def _listed(pair: str, event: str, found: Compiled) -> tuple[tuple[Any, Any], Callable[[Any], bool]]:
    """Answers that are listed, and words that are."""
    match = re.fullmatch(r"answers ([-\d/., ()]+); and ([-\d/., ()]+)", pair)
    if match is None or not event:
        raise Unshown(f"its pair is no pair of lists of answers: {pair or 'none is told'}")
    try:
        inputs = tuple([_number(one) for one in side.split(",")] for side in match.groups())
    except ValueError:
        raise Unshown(f"its pair is no pair of lists of numbers: {pair}") from None
    words = event.removeprefix("not: ")
    whole = '"integers"' in str(found.mechanism) or "discrete" in str(found.mechanism)
    number = r"-?\d+" if whole else r"-?\d+\.(?!0(?:\D|$))[\de+-]+"  # of continuous noise no word is a whole number
    pattern = re.compile(re.escape(words).replace("_", number).replace(r",\ ", r",?\ "))

    def holds(told: Any) -> bool:
        said = in_a_row(told)
        return (pattern.fullmatch(said) is None) == event.startswith("not: ")

    return (inputs[0], inputs[1]), holds


def _in_order(told: Any) -> list[Any]:
    """What is told, one after the other."""
    return list(told) if isinstance(told, list | tuple) else [] if told is None else [told]


def _selected(
    by: _Rerunning, pair: str, event: str, witness: Mapping[str, Any], found: Compiled
) -> Iterator[tuple[tuple[Any, Any], Callable[[Any], bool]]]:  # fmt: skip
    """Answers of an above threshold, around each number that may be the threshold, or of a noisy maximum."""
    number = r"(-?[\d/.]+)"
    unit = _rational(str(found.claim.get("sensitivity", 1))) or Fraction(1)
    match = re.fullmatch(rf"answers {number} at negatives, {number} at positives; and {number} at negatives, {number} at positives", pair)
    counts = re.fullmatch(r"(\d+) negatives?, then (\d+) positives?", event)
    if match and counts:
        below, above = map(int, counts.groups())
        yes, no = (_in_order(by.run([far], 0)[0]) for far in (FAR, -FAR))
        wanted = [one for one in no * below + yes * above if one is not None]
        known = [Fraction(evaluated(found.mechanism.get("threshold", 0), {})), *map(Fraction, by.parameters.values()), Fraction(0)]
        for threshold in dict.fromkeys(known):
            values = [threshold + unit * Fraction(one) for one in match.groups()]
            sides = [[_whole(values[at])] * below + [_whole(values[at + 1])] * above for at in (0, 2)]
            yield (sides[0], sides[1]), lambda told: _in_order(told) == wanted
    match = re.fullmatch(rf"answers first {number}, all others {number}; and first {number}, all others {number}", pair)
    if match and "first of the answers" in event:
        size = int((witness.get("at") or {}).get("n", found.mechanism.get("candidates", 2)))
        values = [unit * Fraction(one) for one in match.groups()]
        sides = [[_whole(values[at]), *[_whole(values[at + 1])] * (size - 1)] for at in (0, 2)]
        best = by.run([FAR, *[-FAR] * (size - 1)], 0)[0]
        yield (sides[0], sides[1]), lambda told: told == best


def _whole(value: Fraction) -> Any:
    return int(value) if value.denominator == 1 else float(value)


def _over_rows(by: _Rerunning, name: str, witness: Mapping[str, Any], parameters: Mapping[str, Any], compiled: Compiled) -> Rerun:
    """Two tables, noise 0 on the first, and the noise that makes the second tell the same."""
    said = str(witness["tables"])
    match = re.fullmatch(
        r"one person has (?:(\d+) records of )?(.+?)(?:, and is not in the other|, and in the other table (?:\d+ records of )?(.+))", said
    )
    if match is None:
        raise Unshown(f"its tables are told in another form: {said}")
    many = int(match[1] or 1)
    tables = [[_record(match[2])] * many, [] if match[3] in (None, NO_RECORD) else [_record(match[3])] * many]
    if compiled.words:
        known = compiled.words
        tables = [[{key: as_word(known.get(key), value) for key, value in row.items()} for row in table] for table in tables]
    told, drawn = by.run(tables[0], 0, fixed=[0] * 100)
    zeros = [0 for _ in drawn]
    other, drawn_there = by.run(tables[1], 0, fixed=zeros)
    numbers, others = numbers_in(told), numbers_in(other)
    if len(drawn) != len(drawn_there) or len(numbers) != len(others):
        raise Unshown("the function draws other noises on both tables")
    moved, loss = list[Any](), Fraction(0)
    for at in range(len(drawn)):
        probe = numbers_in(by.run(tables[1], 0, fixed=[*zeros[:at], 1, *zeros[at + 1 :]])[0])
        steps = [(Fraction(str(b)) - Fraction(str(a)), place_) for place_, (a, b) in enumerate(zip(others, probe, strict=True)) if a != b]
        unit, where = steps[0] if steps else (Fraction(1), None)
        shift = Fraction(0) if where is None else (Fraction(str(numbers[where])) - Fraction(str(others[where]))) / unit
        moved.append(_whole(shift))
        loss += abs(shift) / _scale(drawn[at])
    first, second = by.shown(tables[0], zeros, 1, 1), by.shown(tables[1], moved, 1, 1)
    both = zip(numbers_in(first.told), numbers_in(second.told), strict=True)
    if not all(math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9) for a, b in both):
        raise Unshown("no shift of the noises gives the same output on both tables")
    if not loss:
        raise Unshown("the function tells the same on both tables with the same noises")
    return Rerun(name, "SHOWN", witness, parameters, repr(_plain(first.told)), first, second, loss)


def _scale(drawn: Drawn) -> Fraction:
    kind, _, inside = drawn.noise.partition("(")
    number = _rational(inside.rstrip(")").split("=")[-1])
    if kind not in SYMMETRIC or number is None:
        raise Unshown(f"the density of {drawn.noise} at shifted values is not told here")
    return number


def _record(text: str) -> Any:
    """A record as it is told: fields with their values; a number where the record is one."""
    if text == NO_RECORD:  # of which no sum reads a field
        return {}
    fields = dict(part.split(" = ", 1) for part in re.split(r", | and ", text) if " = " in part)
    if not fields:
        raise Unshown(f"its record is told in another form: {text}")
    told = {key.strip(): value.strip() for key, value in fields.items()}
    values = {key: _number(value) if _rational(value) is not None else value.strip("'\"") for key, value in told.items()}
    return values["row"] if set(values) == {"row"} else values
