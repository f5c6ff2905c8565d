"""Streams: a lower bound from one run, by weights of its comparisons that no shift of the noises escapes.

Theorem: A run of a stream with log-concave noises loses at least, in the limit, what the cheapest shifts of its noises cost that keep its
comparisons while the answers move in the same way again and again: the dual of that linear program, weights of the comparisons that at no
noise sum to more than its slope, bounds it from below. Where no shifts keep them there is no finite epsilon.

Checked:
- the run at the point that is named: each comparison holds, strictly, and no other branch tells the same
- weights of comparisons are at least 0, and at each noise their sum is between its slopes
- the noises are on the line and log-concave, with limits of the slope of -log f that are positive, or infinite

Source: docs/theory/selection.md#worst-run
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.combinators.streams import start_of
from dpverify.trusted.kernel.bounds import INFINITE, Bound, Infinite
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import ZERO, Expr, add, mul, neg, num, parse, substitute, symbols
from dpverify.trusted.kernel.integers import is_whole
from dpverify.trusted.kernel.model import Claim, Stream
from dpverify.trusted.language.rationals import to_fraction
from dpverify.trusted.theories.selection.compared import Asked, asked, at_most, slopes
from dpverify.trusted.theories.selection.runs import Row, Run, inside, step, together

NAME: Final = "worst-run"
ASSUMED: Final = ("the sampler is ideal", "the noises of different names, and of different steps, are independent")

MOVES: Final = {"says": "in-the-same-way"}
MOST_STEPS: Final = 10_000
"""The longest run."""


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The lower bound. Raises Rejected, Undecided, CertificateError.

    evidence: "side" lower; "at"; "once", values of the noises drawn at the start by name; "run", for each step the branch, the answers and
    the noises at the point, and how the answers move in units of the sensitivity; "weights", an expression for each row: of each step the
    comparisons of its branch, those of earlier ones, and what is told. "unbounded": whether no shifts keep them. "repeat": the first step
    of a part of the run and the one after it, which are repeated "times" times, an integer, or "unlimited" where steps are; then the
    weights are for one time, and sum to 0 at each noise that is not drawn in that part.
    """
    question = asked(claim, {"side": "lower"} | ({"at": evidence["at"]} if "at" in evidence else {}), NAME, wanted=Stream)
    stream = question.stream
    if evidence.get("side") != "lower":
        raise CertificateError(f"{NAME}: 'side' is not lower.")
    if not all(branch.emit or branch.tell for branch in stream.steps):
        raise Rejected(NAME, "the branches", "one of them tells nothing, so that its steps may not be seen")
    steps, weights = evidence.get("run"), evidence.get("weights")
    if not isinstance(steps, list) or not 1 <= len(steps) <= MOST_STEPS or not isinstance(weights, list):
        raise CertificateError(f"{NAME}: 'run' is no list of steps, or 'weights' none of expressions.")
    block, times = _repeated(evidence, len(steps))
    if stream.queries is not None:
        asked_for = None if times is None else num(len(steps) + (times - 1) * len(block))
        if asked_for is None or not certainly_le(asked_for, stream.queries, question.domains):
            raise Rejected(NAME, "queries", "it is not certain that so many steps are run")
    run = _run(question, stream, evidence.get("once", {}), steps, block)
    multipliers = [parse(text) for text in weights]
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
        inside(question, drawn.noise, start[drawn.name])
    apart = {name: Row({(name, -1): Fraction(1)}, Fraction(0)) for name in start}
    apart |= {name: Row({(noise, -1): factor for noise, factor in form.of.items()}, Fraction(0)) for name, form in start_of(stream).items()}
    values = {**start, **{each.name: substitute(each.value, start) for each in stream.state}}
    run = Run(question, stream, apart, values, {limit.name: ZERO for limit in stream.limits}, [])
    moved: list[list[Fraction]] = []
    before: Any = None
    for number, (branch, answers, noises, moves) in enumerate(steps):
        before = run.kept() if number == block.start else before
        moved.append([to_fraction(text, NAME) for text in moves])
        step(run, number, branch, answers, noises, dict(zip(stream.answers, moved[-1], strict=True)))
        if number + 1 == block.stop and run.kept() != before:
            raise Rejected(NAME, "repeat", "the state or a counter is not what it was before those steps, so that they cannot be repeated")
    if stream.neighbours == "one" and any(x for row in moved[block.start : block.stop] for x in row):
        raise Rejected(NAME, "repeat", "one answer alone moves, so that a step in which it does is not repeated")
    if not together(stream, moved):
        raise Rejected(NAME, "the moves", "neighbours do not move so")
    if question.whole and not all(is_whole(mul(num(x), question.moved), question.domains) for row in moved for x in row):
        raise Rejected(NAME, "the moves", "integers move by integers")
    return run


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
    for (name, number), parts in sums.items():
        left, right = (ZERO if unbounded and not isinstance(end, Infinite) else end for end in ends[name])
        if block and number not in block:
            left = right = ZERO
        total = add(*parts)
        if not (at_most(question, total, right) and at_most(question, neg(total), left)):
            raise Rejected(NAME, "weights", f"at a noise {name} their sum is not certainly between its slopes")
    return neg(add(*(mul(weight, num(row.moved)) for row, weight in zip(run.rows, weights, strict=True))))


def _told(stream: Stream, steps: Sequence[Any], block: range, times: int | None) -> dict[str, Any]:
    """What the run tells, word by word, and which of the words how often; None without end."""
    words = [stream.steps[branch].emit for branch, *_ in steps]
    return {"says": "told", "words": words, "again": [block.start, block.stop, times] if block else None}
