"""What a combinator comes to: a list of runs, with maps of the data and of the outputs folded into each.

Composition in composition is one composition; a Lipschitz map or a group of neighbours multiplies what the answer of additive
noise moves by (theory#group-privacy, theory#lipschitz-maps); post-processing keeps every upper bound (theory#post-processing).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, assert_never

from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel import model
from dpverify.trusted.kernel.compare import NO_DOMAINS, certainly_le
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, Expr, Num, mul
from dpverify.trusted.kernel.integers import is_whole
from dpverify.trusted.kernel.model import Claim, Domain, Part, Repeat, all_parts, on_integers
from dpverify.trusted.sensitivity.sensitivity import sensitivity_bounds

WHAT: Final = "the parts"
MOST_TIMES: Final = 10**6
MOST_RUNS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Run:
    """A mechanism that is run `times` times on the data, on neighbours `factor` times as far apart as its part says.

    processed: its output is seen only after post-processing. own: it is in a group, or behind a map, that other parts are not in.
    mapped: it is behind a map of the data, which may exchange the neighbour with the record and the one without. uneven: `is_uneven`.
    """

    part: Part
    factor: Expr = ONE
    times: int = 1
    processed: bool = False
    own: bool = False
    mapped: bool = False
    uneven: bool = False


def grouped(run: Run) -> Part:
    """The part of a run behind no map, with the groups that it is in as one around it."""
    return run.part if run.factor == ONE else Part(model.Group(run.part, run.factor))


def whole(claim: Claim) -> Run:
    """The run that a claim is about."""
    return Run(Part(claim.mechanism, claim.sensitivity, claim.query))


def runs(part: Part, run: Run, top: bool = True) -> Iterator[Run]:
    """The runs that a part comes to. run: what all of them have from above. Raises Rejected for a count that is not a number."""
    mechanism = part.mechanism
    if isinstance(mechanism, Repeat):
        yield from runs(mechanism.part, replace(run, times=run.times * count(mechanism)), top)
    elif isinstance(mechanism, model.Compose):
        for inner in mechanism.parts:
            yield from runs(inner, run, False)
    elif isinstance(mechanism, model.PostProcess):
        yield from runs(mechanism.part, replace(run, processed=True), top)
    elif isinstance(mechanism, model.Lipschitz):
        factor = times_as_far(run.factor, mechanism.constant, mechanism.part, {})
        run = replace(run, factor=factor, uneven=run.uneven or is_uneven(mechanism, {}))
        yield from runs(mechanism.part, replace(run, own=run.own or not top, mapped=True), top)
    elif isinstance(mechanism, model.Group):
        factor = times_as_far(run.factor, mechanism.size, mechanism.part, {})
        yield from runs(mechanism.part, replace(run, factor=factor, own=run.own or not top), top)
    elif isinstance(mechanism, model.BestOf) and mechanism.law == "fixed":  # a map of all outputs of so many runs
        times = count(Repeat(mechanism.part, mechanism.numbers[0]))
        yield from runs(mechanism.part, replace(run, times=run.times * times, processed=True), False)
    elif isinstance(mechanism, model.Leaf | model.Subsample | model.Parallel | model.BestOf):
        yield replace(run, part=part)
    else:
        assert_never(mechanism)


def merged(part: Part, factor: Expr = ONE) -> tuple[Run, ...]:
    """The runs of a part, equal ones counted together. Raises Rejected for too many."""
    counts: dict[Run, int] = {}
    for number, run in enumerate(runs(part, Run(part, factor))):
        require(number < MOST_RUNS, Rejected(WHAT, "parts", f"more than {MOST_RUNS} of them; give equal parts once, with times"))
        key = replace(run, times=1)
        counts[key] = counts.get(key, 0) + run.times
    return tuple(replace(run, times=times) for run, times in counts.items())


def count(repeat: Repeat) -> int:
    """How often a part is run. Raises Rejected for what is not a number from 1 on."""
    times = repeat.times
    if not isinstance(times, Num) or times.value.denominator != 1 or not 1 <= times.value <= MOST_TIMES:
        raise Rejected(WHAT, "times", f"it wants an integer from 1 to {MOST_TIMES}")
    return int(times.value)


# -- neighbours ------------------------------------------------------------------------------------


def neighbours_assumed(claim: Claim, side: str = "upper") -> tuple[str, ...]:
    """What a bound for several parts takes for granted of their neighbours."""
    if not isinstance(claim.mechanism, model.Combinator):
        return ()
    from dpverify.trusted.combinators import relations

    return relations.neighbours_assumed(claim, side)


# -- how far a run's answer moves --------------------------------------------------------------------


def reach(run: Run, evidence: Any = None) -> Sensitivity:
    """Bounds on what a run's answer moves by, before scale. evidence: the gauge certificate of a query in a norm by columns;
    how the norms of the differences of a process are derived.
    """
    part = run.part
    if isinstance(part.mechanism, model.Answering):
        moved = sensitivity_bounds(Claim(part.mechanism, None, sensitivity=part.sensitivity, query=part.query), evidence)
    elif isinstance(part.mechanism, model.EllipticalProcess) and part.mechanism.differences:
        from dpverify.trusted.theories.processes.norms import sensitivity

        moved = sensitivity(part.mechanism, evidence)
    else:
        stated = ONE if part.sensitivity is None else part.sensitivity
        moved = Sensitivity(stated, stated)
    if run.factor == ONE:
        return moved
    from dpverify.trusted.sensitivity import steps_between

    upper, lower = (steps_between.further(part.mechanism, bound, run.factor, {}) for bound in (moved.upper, moved.lower))
    return Sensitivity(upper[0], lower[1])


def leaf(run: Run, domains: tuple[tuple[str, Domain], ...] = ()) -> Claim:
    """What is asked of one run of a single mechanism: its tight epsilon, with the sensitivity or query that its part has.

    domains: of the parameters. Raises Undecided where the neighbours at that distance are not known.
    """
    part, factor = run.part, run.factor
    asked = part.mechanism, part.sensitivity, part.query
    if factor != ONE:
        from dpverify.trusted.combinators import further

        asked = further.leaf(part, factor, partial(reach, run), dict(domains))
    return Claim(asked[0], None, sensitivity=asked[1], query=asked[2], domains=domains)


def times_as_far(factor: Expr, times: Expr, part: Part, domains: Mapping[str, Domain]) -> Expr:
    """How many times as far apart neighbours of a part are, behind a group or a map by `times` on neighbours `factor` times as far apart.

    Raises Rejected where that does not say how far integers move. Two steps of a map by 3/2 are three steps of 1 each only where there is
    something between: answers that move by 3/2 a step move by 2 behind the map, so by 4 and not by 3.
    """
    even = ONE in (factor, times) or (is_whole(factor, domains) and is_whole(times, domains))
    for inner in () if even else (part, *all_parts(part.mechanism)):
        leaf = not isinstance(inner.mechanism, model.Combinator | Repeat)
        if leaf and on_integers(inner.mechanism) and not is_whole(inner.sensitivity or ONE, domains):
            why = "it is not whole, and another map or a group stands beside it: how far integers behind both move is not known"
            raise Rejected(WHAT, "constant", why)
    return mul(factor, times)


def is_uneven(mechanism: model.Lipschitz, domains: Mapping[str, Domain]) -> bool:
    """Whether a map takes neighbours a number of steps apart that is not whole, where something behind it knows whole steps alone.

    Such are inputs of finite mechanisms, integers, records, answers of selections. Two maps of 3/2 and 4/3 move them by one step and by
    one, not by two.
    """
    inside = (mechanism.part, *all_parts(mechanism.part.mechanism))
    return not is_whole(mechanism.constant, domains) and any(map(_by_whole_steps, inside))


def _by_whole_steps(part: Part) -> bool:
    mechanism = part.mechanism
    if isinstance(mechanism, model.Noise):
        return on_integers(mechanism) or (part.query is not None and part.query.adjacency in ("add-remove", "replace"))
    return isinstance(mechanism, model.Finite | model.Selection | model.OfRecords | model.Subsample | model.Parallel)


def occurs(run: Run, domains: Mapping[str, Domain] = NO_DOMAINS) -> bool:
    """Whether neighbours as far apart as a run's factor says certainly occur: for finite mechanisms at whole numbers of steps alone.

    So for noise on the integers, whose answers move by whole steps, and for selections, of which neighbours are known by their steps.
    """
    mechanism, factor = run.part.mechanism, run.factor
    if run.uneven:
        return False
    if isinstance(mechanism, model.Selection):
        if factor == ONE:
            return True
        from dpverify.trusted.sensitivity.steps_between import reaches_every_point

        reached = reaches_every_point(mechanism, run.part.sensitivity or ONE, domains)
        return reached and is_whole(factor, domains) and certainly_le(ONE, factor, domains)
    if on_integers(mechanism):
        return is_whole(factor, domains)
    alone = model.Noise | model.Kernel | model.Guarantee | model.Sampled | model.Space
    certain = alone | model.Compose | Repeat | model.Group | model.PostProcess | model.Lipschitz
    if factor == ONE or isinstance(mechanism, certain):
        return True
    if not isinstance(mechanism, model.Finite | model.OfRecords | model.Subsample | model.Parallel | model.BestOf):
        assert_never(mechanism)
    whole = isinstance(factor, Num) and factor.value >= 1 and factor.value.denominator == 1
    return whole and not (isinstance(mechanism, model.Exponential) and bool(mechanism.points))
