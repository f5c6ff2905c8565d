"""Streams: a lower bound from one run, by weights of its comparisons that no shift of the noises escapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.facts.bounds import INFINITE, Bound, Infinite
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import ZERO, Expr, Num, add, mul, neg, num, parse, substitute, symbols
from dpverify.trusted.language.model import Branch, Claim, Guard, OnLine, Source, Stream, Translation, on_integers
from dpverify.trusted.language.rationals import to_fraction
from dpverify.trusted.order.compare import certainly_le, certainly_lt
from dpverify.trusted.parts.streams import FAMILIES, Form, start_of, step_of
from dpverify.trusted.rules.selection.compared import Asked, asked, slopes
from dpverify.trusted.rules.selection.stepwise import stream_of

NAME: Final = "worst-run"
STATEMENT: Final = (
    "A run of a stream with log-concave noises loses at least, in the limit, what the cheapest shifts of its noises cost that keep its "
    "comparisons while the answers move in the same way again and again: the dual of that linear program, weights of the comparisons that "
    "at no noise sum to more than its slope, bounds it from below. Where no shifts keep them there is no finite epsilon."
)
CHECKED: Final = (
    "the run at the point that is named: each comparison holds, strictly, and no other branch tells the same",
    "weights of comparisons are at least 0, and at each noise their sum is between its slopes",
    "the noises are on the line and log-concave, with limits of the slope of -log f that are positive, or infinite",
)
ASSUMED: Final = ("the sampler is ideal", "the noises of different names, and of different steps, are independent")
SOURCE: Final = Source("docs/theory/selection.md#worst-run")

MOVES: Final = "in the same way again and again"
MOST_STEPS: Final = 10_000
"""The longest run."""


@dataclass(frozen=True, slots=True)
class Row:
    """What a step keeps: a form in all noises of the run that is at least 0, or 0 where it is told. moved: what the answers add."""

    of: Mapping[tuple[str, int], Fraction]
    moved: Fraction
    told: bool = False

    @property
    def is_settled(self) -> bool:
        """Whether no noise and no move changes it."""
        return not self.moved and not self.of


@dataclass(slots=True)
class Run:
    """A run, step by step, at one point.

    apart: each of the state as a form in the noises so far, and what the answers add. values: what each name stands for at the point.
    counts: the counters. rows: what has been kept.
    """

    question: Asked
    stream: Stream
    apart: dict[str, Row]
    values: dict[str, Expr]
    counts: dict[str, Expr]
    rows: list[Row]

    def kept(self) -> tuple[Any, ...]:
        """What the next step starts from."""
        return dict(self.apart), {each.name: self.values[each.name] for each in self.stream.state}, dict(self.counts)

    def row(self, form: Form, step: int, moves: Mapping[str, Fraction], told: bool = False) -> Row:
        """A form of a step, in the noises of the run."""
        total: dict[tuple[str, int], Fraction] = {}
        moved = form.at(moves)
        fresh = {drawn.name for drawn in self.stream.fresh}
        for name, factor in form.of.items():
            inside = self.apart.get(name, Row({(name, step): Fraction(1)} if name in fresh else {}, Fraction(0)))
            moved += factor * inside.moved
            for noise, weight in inside.of.items():
                total[noise] = total.get(noise, Fraction(0)) + factor * weight
        return Row({noise: weight for noise, weight in total.items() if weight}, moved, told)


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The lower bound. Raises Rejected, Undecided, CertificateError.

    evidence: "side" lower; "at"; "once", values of the noises drawn at the start by name; "run", for each step the branch, the answers and
    the noises at the point, and how the answers move in units of the sensitivity; "weights", an expression for each row: of each step the
    comparisons of its branch, those of earlier ones, and what is told. "unbounded": whether no shifts keep them. "repeat": the first step
    of a part of the run and the one after it, which are repeated "times" times, an integer, or "unlimited" where steps are; then the
    weights are for one time, and sum to 0 at each noise that is not drawn in that part.
    """
    question = asked(claim, {"side": "lower"} | ({"at": evidence["at"]} if "at" in evidence else {}), NAME, wanted=Stream)
    stream = stream_of(question)
    if evidence.get("side") != "lower":
        raise CertificateError(f"{NAME}: 'side' is not lower.")
    steps, weights = evidence.get("run"), evidence.get("weights")
    if not isinstance(steps, list) or not 1 <= len(steps) <= MOST_STEPS or not isinstance(weights, list):
        raise CertificateError(f"{NAME}: 'run' is no list of steps, or 'weights' none of expressions.")
    block, times = _repeated(evidence, len(steps))
    if stream.queries is not None:
        asked_for = None if times is None else num(len(steps) + (times - 1) * len(block))
        if asked_for is None or not certainly_le(asked_for, question.natural(stream.queries, "queries"), question.domains):
            raise Rejected(NAME, "queries", "it is not certain that so many steps are run")
    try:
        run = _run(question, stream, evidence.get("once", {}), steps, block)
        multipliers = [parse(text) for text in weights]
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise CertificateError(f"{NAME}: the run cannot be read: {type(error).__name__}: {error}") from error
    if len(multipliers) != len(run.rows):
        raise CertificateError(f"{NAME}: there are {len(multipliers)} weights of {len(run.rows)} comparisons.")
    told, unbounded = _told(stream, steps, block, times), evidence.get("unbounded") is True
    value = _value(run, multipliers, unbounded, block)
    if times is not None and not unbounded:
        return question.bound(mul(num(times), value), told, MOVES)
    if not certainly_lt(ZERO, value, question.domains):
        raise Rejected(NAME, "weights", "their value is not certainly positive")
    return question.bound(INFINITE, told, MOVES)


def _repeated(evidence: Mapping[str, Any], size: int) -> tuple[range, int | None]:
    """The steps that are repeated, none where the run is as it is, and how often; None without end."""
    if "repeat" not in evidence:
        return range(0), 1
    ends, times = evidence["repeat"], evidence.get("times")
    if not isinstance(ends, list) or [type(end) for end in ends] != [int, int] or not 0 <= ends[0] < ends[1] <= size:
        raise CertificateError(f"{NAME}: 'repeat' is no part of the run.")
    if times != "unlimited" and (type(times) is not int or times < 1):
        raise CertificateError(f"{NAME}: 'times' is neither an integer of at least 1 nor \"unlimited\".")
    return range(*ends), None if times == "unlimited" else times


def _run(question: Asked, stream: Stream, once: Mapping[str, Any], steps: Sequence[Any], block: range) -> Run:
    start = {drawn.name: num(to_fraction(once[drawn.name], NAME)) for drawn in stream.once}
    for drawn in stream.once:
        _inside(question, drawn.noise, start[drawn.name])
    apart = {name: Row({(name, -1): Fraction(1)}, Fraction(0)) for name in start}
    apart |= {name: Row({(noise, -1): factor for noise, factor in form.of.items()}, Fraction(0)) for name, form in start_of(stream).items()}
    values = {**start, **{each.name: substitute(each.value, start) for each in stream.state}}
    run = Run(question, stream, apart, values, {limit.name: ZERO for limit in stream.limits}, [])
    moved: list[list[Fraction]] = []
    before: Any = None
    for number, (branch, answers, noises, moves) in enumerate(steps):
        before = run.kept() if number == block.start else before
        moved.append([to_fraction(text, NAME) for text in moves])
        _step(run, number, branch, answers, noises, dict(zip(stream.answers, moved[-1], strict=True)))
        if number + 1 == block.stop and run.kept() != before:
            raise Rejected(NAME, "repeat", "the state or a counter is not what it was before those steps, so that they cannot be repeated")
    if stream.neighbours == "one" and any(x for row in moved[block.start : block.stop] for x in row):
        raise Rejected(NAME, "repeat", "one answer alone moves, so that a step in which it does is not repeated")
    if not any(_together(stream, family, moved) for family in FAMILIES.get(stream.neighbours, (stream.neighbours,))):
        raise Rejected(NAME, "the moves", "neighbours do not move so")
    if question.whole and any(x.denominator != 1 for row in moved for x in row):
        raise Rejected(NAME, "the moves", "integers move by integers")
    return run


def _together(stream: Stream, family: str, moved: Sequence[Sequence[Fraction]]) -> bool:
    """Whether neighbours may move so in these steps."""
    if family == "one":
        return sum(x != 0 for row in moved for x in row) <= 1 and all(abs(x) <= 1 for row in moved for x in row)
    if stream.hull:
        sign = 1 if family == "hull" else -1
        return all(tuple(sign * x for x in row) in stream.hull for row in moved)
    low, high = {"all": (-1, 1), "increasing": (0, 1), "decreasing": (-1, 0)}[family]
    return all(low <= x <= high for row in moved for x in row)


def _step(run: Run, number: int, branch: Any, answers: Any, noises: Any, moves: Mapping[str, Fraction]) -> None:
    """One step: what is kept, and the state after it."""
    question, stream = run.question, run.stream
    if type(branch) is not int or not 0 <= branch < len(stream.steps):
        raise CertificateError(f"{NAME}: step {number + 1} has no such branch.")
    here = dict(zip(stream.answers, (num(to_fraction(text, NAME)) for text in answers), strict=True))
    drawn = {each.name: num(to_fraction(noises[each.name], NAME)) for each in stream.fresh}
    for each in stream.fresh:
        _inside(question, each.noise, drawn[each.name])
    if question.whole and any(value.value.denominator != 1 for value in here.values()):
        raise Rejected(NAME, f"step {number + 1}", "an answer is no integer")
    for limit in stream.limits:
        if not certainly_lt(run.counts[limit.name], limit.value, question.domains):
            raise Rejected(NAME, f"step {number + 1}", f"it is not certain that the run goes on: {limit.name} may have reached its limit")
    values = {**run.values, **here, **drawn, **run.counts}
    taken = stream.steps[branch]
    for other in stream.steps:
        if other is not taken and (other.emit, len(other.tell)) == (taken.emit, len(taken.tell)):
            raise Rejected(NAME, f"step {number + 1}", "another branch tells the same, so that the run is not known from what is told")
    own = step_of(stream, taken)
    for guard, form in zip(taken.when, own.when, strict=True):
        row = run.row(form, number, moves)
        if row.is_settled:
            _require(number, _comes_out(question, guard, values, 1))
        else:
            _keep(run, row, guard, number, values, 1)
    for earlier in stream.steps[:branch]:
        _fail(run, earlier, number, moves, values)
    run.rows += [run.row(form, number, moves, told=True) for form in own.tell]
    after = {name: run.row(form, number, moves) for name, form in own.after.items()}
    run.values |= {changed.name: substitute(changed.value, values) for changed in taken.change}
    run.apart |= after
    for grown in taken.count:
        run.counts[grown.name] = add(run.counts[grown.name], grown.value)


def _require(number: int, holds: bool) -> None:
    if not holds:
        raise Rejected(NAME, f"step {number + 1}", "a comparison does not certainly come out as the run says, with room")


def _comes_out(question: Asked, guard: Guard, values: Mapping[str, Expr], sign: int) -> bool:
    """Whether a comparison that no noise and no move changes holds at the point, or with the sign -1 does not."""
    value = mul(num(sign), substitute(guard.left, values))
    strict = guard.strict if sign > 0 else not guard.strict
    return certainly_lt(ZERO, value, question.domains) if strict else certainly_le(ZERO, value, question.domains)


def _keep(run: Run, row: Row, guard: Guard, number: int, values: Mapping[str, Expr], sign: int) -> None:
    """A comparison that holds at the point with room, or with the sign -1 fails with room."""
    value = mul(num(sign), substitute(guard.left, values))
    _require(number, certainly_lt(ZERO, value, run.question.domains))
    run.rows.append(Row({noise: sign * weight for noise, weight in row.of.items()}, sign * row.moved))


def _fail(run: Run, earlier: Branch, number: int, moves: Mapping[str, Fraction], values: Mapping[str, Expr]) -> None:
    """An earlier branch is not taken: by what no noise changes, or by its one comparison of noise."""
    rows = [(run.row(form, number, moves), guard) for guard, form in zip(earlier.when, step_of(run.stream, earlier).when, strict=True)]
    if any(row.is_settled and _comes_out(run.question, guard, values, -1) for row, guard in rows):
        return
    open_ones = [(row, guard) for row, guard in rows if not row.is_settled]
    if len(open_ones) != 1:
        raise Rejected(NAME, f"step {number + 1}", "an earlier branch has several comparisons, each of which may be what fails")
    _keep(run, *open_ones[0], number, values, -1)


def _inside(question: Asked, noise: OnLine, value: Num) -> None:
    """Raises Rejected where noise is not certainly drawn near a value."""
    if on_integers(noise) and value.value.denominator != 1:
        raise Rejected(NAME, "the noise", "a value is no integer")
    low, high = noise.support if isinstance(noise, Translation) else (None, None)
    above = low is None or certainly_lt(low, value, question.domains)
    if not above or not (high is None or certainly_lt(value, high, question.domains)):
        raise Rejected(NAME, "the noise", "a value is not certainly where it lives")


def _value(run: Run, weights: Sequence[Expr], unbounded: bool, block: range) -> Expr:
    """The dual value. unbounded: along a ray. block: the steps that are repeated, of which the weights are for one time."""
    question, stream = run.question, run.stream
    sums: dict[tuple[str, int], list[Expr]] = {}
    for row, weight in zip(run.rows, weights, strict=True):
        if symbols(weight) - question.domains.keys():
            raise CertificateError(f"{NAME}: a weight has a name that is no parameter.")
        if not row.told and not certainly_le(ZERO, weight, question.domains):
            raise Rejected(NAME, "weights", "one of a comparison is not certainly at least 0")
        for noise, factor in row.of.items():
            sums.setdefault(noise, []).append(mul(num(factor), weight))
    ends = {drawn.name: slopes(question, drawn.noise) for drawn in (*stream.once, *stream.fresh)}
    for (name, step), parts in sums.items():
        left, right = (ZERO if unbounded and not isinstance(end, Infinite) else end for end in ends[name])
        if block and step not in block:
            left = right = ZERO
        total = add(*parts)
        if not (_within(question, total, right) and _within(question, neg(total), left)):
            raise Rejected(NAME, "weights", f"at a noise {name} their sum is not certainly between its slopes")
    return neg(add(*(mul(weight, num(row.moved)) for row, weight in zip(run.rows, weights, strict=True))))


def _within(question: Asked, value: Expr, end: Expr | Infinite) -> bool:
    return isinstance(end, Infinite) or certainly_le(value, end, question.domains)


def _told(stream: Stream, steps: Sequence[Any], block: range, times: int | None) -> str:
    """What the run tells, word by word."""
    words = [stream.steps[branch].emit or "nothing" for branch, *_ in steps]
    if block:
        again = "without end" if times is None else f"{times} times"
        words[block.start : block.stop] = [f"({', '.join(words[block.start : block.stop])}) {again}"]
    return ", ".join(words)[:400]
