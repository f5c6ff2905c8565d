"""Streams: a bound for every number of steps, by shifts of the noises that make two neighbours tell the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from dpverify.trusted.facts.bounds import Bound, Infinite
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import ZERO, Expr, add, mul, num
from dpverify.trusted.language.model import Claim, Named, Source, Stream, Vector
from dpverify.trusted.order.compare import certainly_le
from dpverify.trusted.order.integers import is_whole
from dpverify.trusted.parts.streams import FAMILIES, Step, start_of, step_of
from dpverify.trusted.rules.selection.compared import Value, a_law, asked, at_most, greatest, times, total
from dpverify.trusted.rules.selection.stepwise import stream_of
from dpverify.trusted.rules.selection.ways import Way, at, read_moduli, read_way

NAME: Final = "alignment"
STATEMENT: Final = (
    "Give each noise of a stream a shift, in each branch one of its own for what is drawn in the step, so that on neighbours all "
    "comparisons of the branch come out as before, what is told stays and the differences of the state are known again. Log-concave noise "
    "whose -log density has the slopes b- and b+ in the limit costs b+ s for a shift of s to the right and b- s to the left; other noise "
    "what it loses by itself where it is moved by as much as it is shifted at most. What is drawn "
    "once, and for each counter a price times the most it can reach, where no step costs more than its counters pay, bound the epsilon."
)
CHECKED: Final = (
    "at each vertex of what neighbours may differ by: comparisons of a branch and of those before it, what is told, the state after it",
    "what each branch costs is paid by the counters that it raises, or once by the step at which one answer moves",
    "the noises are on the line and log-concave, with limits of the slope of -log f that are positive, or infinite; of others what they "
    "lose by themselves, moved by as much as their shifts, by rules about them",
)
ASSUMED: Final = ("the sampler is ideal", "the noises of different names, and of different steps, are independent")
SOURCE: Final = Source("docs/theory/selection.md#alignment", "Zhang and Kifer 2017, on alignments")


def infer(claim: Claim, evidence: Mapping[str, Any], premises: Sequence[Fact]) -> Bound:
    """The upper bound. Raises Rejected, Undecided, CertificateError.

    evidence: "ways", an alignment for each of the families of differences: "once", the shifts of the noises drawn at the start by name;
    "modes", a list of pairs of the differences of the state by name and whether the one step that moves is over; "steps", a list of
    [mode, branch, whether answers move, mode after it, shifts of its noises by name]; "prices" by counter, "each" of every step,
    "leaving" of the step that leaves each mode. A shift or difference is a list of rationals: a number and a multiple of each move.
    "moduli", where noises are not log-concave: [name, shift], for each of the premises, which are what these noises lose by such shifts.
    """
    question = asked(claim, {}, NAME, wanted=Stream)
    stream = stream_of(question)
    families = FAMILIES.get(stream.neighbours, (stream.neighbours,))
    ways = evidence.get("ways")
    if not isinstance(ways, list) or len(ways) != len(families):
        raise CertificateError(f"{NAME}: 'ways' is no list of {len(families)} alignments.")
    moduli, assumed, through = read_moduli(question, evidence.get("moduli", []), premises)
    found = [_bounded(read_way(question, stream, family, way, moduli)) for family, way in zip(families, ways, strict=True)]
    others = [drawn.noise for drawn in (*stream.once, *stream.fresh) if drawn.name not in {name for name, _ in moduli}]
    assumed = tuple(dict.fromkeys((*assumed, *(line for noise in others for line in a_law(question, noise)))))
    return replace(question.bound(greatest(question, *found), "", ""), assumed=assumed, through=through)


def _bounded(way: Way) -> Value:
    """What all steps cost together at most, in units of the sensitivity."""
    question, stream = way.question, way.stream
    steps = [step_of(stream, branch) for branch in stream.steps]
    for point in way.points:
        apart = {name: at(vector, point) for name, vector in way.once.items()}
        if any(first.at(apart) != at(way.modes[0][name], point) for name, first in start_of(stream).items()):
            raise Rejected(NAME, "the start", "the state is not as far apart as the first mode says")
        for (mode, branch, moves), (to, shifts) in way.steps.items():
            _kept(way, steps, (mode, branch, moves), to, shifts, point)
            if not at_most(question, way.cost(shifts, point), _paid(way, branch, mode, to)):
                raise Rejected(NAME, f"branch {branch + 1}", "it costs more than what it counts pays for")
    start = greatest(question, *(way.cost(way.once, point) for point in way.points))
    counted = [times(question, _most(way, limit), way.prices[limit.name]) for limit in stream.limits if limit.name in way.prices]
    if stream.queries is not None:
        counted.append(times(question, question.natural(stream.queries, "queries"), way.each))
    elif not certainly_le(way.each, ZERO, question.domains):
        raise Rejected(NAME, "queries", "every step costs something, and there is no limit of them")
    return total(start, *way.leaving, *counted)


def _kept(way: Way, steps: Sequence[Step], key: tuple[int, int, bool], to: int, shifts: Mapping[str, Vector], point: Vector) -> None:
    """Raises Rejected where a branch does not come out as before, tells something else, or leaves the state apart in another way."""
    mode, branch, moves = key
    if way.alone and way.spent[to] != (way.spent[mode] or moves):
        raise Rejected(NAME, "modes", "whether the one step is over is not kept")
    apart = {name: at(vector, point) for name, vector in (*way.once.items(), *way.modes[mode].items(), *shifts.items())}
    apart |= dict(zip(way.stream.answers, point, strict=True)) if moves else {}
    own, where = steps[branch], f"branch {branch + 1}"
    if any(guard.at(apart) < 0 for guard in own.when) or any(guard.at(apart) > 0 for step in steps[:branch] for guard in step.when):
        raise Rejected(NAME, where, "a comparison may come out in another way")
    if any(told.at(apart) for told in own.tell):
        raise Rejected(NAME, where, "what is told does not stay")
    if any(after.at(apart) != at(way.modes[to][name], point) for name, after in own.after.items()):
        raise Rejected(NAME, where, "the state after it is not as far apart as its mode says")


def _paid(way: Way, branch: int, mode: int, to: int) -> Value:
    """What a step may cost: what its counters pay, what each step may, and what leaving a mode may."""
    grown = [mul(way.prices[each.name], each.value) for each in way.stream.steps[branch].count if each.name in way.prices]
    return add(*grown, way.each, *([way.leaving[mode]] if to != mode else []))


def _most(way: Way, limit: Named) -> Expr:
    """What a counter can reach: it is below its limit before the last step, and by 1 below it where all are integers."""
    question = way.question
    steps = [each.value for branch in way.stream.steps for each in branch.count if each.name == limit.name]
    for step in steps:
        if not certainly_le(ZERO, step, question.domains):
            raise Rejected(NAME, limit.name, "it is not certain that the counter never falls")
    largest = greatest(question, ZERO, *steps)
    assert not isinstance(largest, Infinite)
    whole = all(is_whole(value, question.domains) for value in (limit.value, *steps))
    reached = add(limit.value, largest, num(-1) if whole else ZERO)
    # a counter whose limit is reached at the start pays nothing; so does one that never grows
    found = greatest(question, ZERO, reached)
    assert not isinstance(found, Infinite)
    return found
