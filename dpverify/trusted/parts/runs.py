"""What a combinator comes to: a list of runs, with maps of the data and of the outputs folded into each.

Composition in composition is one composition; a Lipschitz map or a group of neighbours multiplies what the answer of additive
noise moves by (theory#group-privacy, theory#lipschitz-maps); post-processing keeps every upper bound (theory#post-processing).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, assert_never

from dpverify.trusted.language.errors import Rejected, Undecided
from dpverify.trusted.language.expr import ONE, Expr, Mul, Num, Sym, mul, num, symbols
from dpverify.trusted.language.loading import load
from dpverify.trusted.language.model import (
    Answering,
    Claim,
    Combinator,
    Compose,
    Domain,
    Exponential,
    Finite,
    Group,
    Guarantee,
    KaryResponse,
    Kernel,
    Leaf,
    Lipschitz,
    Mechanism,
    Noise,
    Parallel,
    Part,
    PostProcess,
    Query,
    Sampled,
    Staircase,
    Subsample,
    Table,
    all_parts,
    on_integers,
    parts_of,
)
from dpverify.trusted.numbers.balls import constant, exact
from dpverify.trusted.order.compare import certainly_le
from dpverify.trusted.order.geometry import Sensitivity
from dpverify.trusted.order.integers import is_whole
from dpverify.trusted.order.sensitivity import further, require_answers, sensitivity_bounds
from dpverify.trusted.parts import neighbours, stated
from dpverify.trusted.parts.adjacencies import stated_adjacencies
from dpverify.trusted.parts.stated import NONE

WHAT: Final = "the parts"
MOST_TIMES: Final = 10**6
MOST_RUNS: Final = 20_000
MOST_STEPS: Final = 1000
"""The most steps between neighbours where a number of them is no rational one."""


@dataclass(frozen=True, slots=True)
class Run:
    """A mechanism that is run `times` times on the data, on neighbours `factor` times as far apart as its part says.

    processed: its output is seen only after post-processing. own: it is in a group, or behind a map, that other parts are not in.
    mapped: it is behind a map of the data, which may exchange the neighbour with the record and the one without.
    """

    part: Part
    factor: Expr = ONE
    times: int = 1
    processed: bool = False
    own: bool = False
    mapped: bool = False


def whole(claim: Claim) -> Run:
    """The run that a claim is about."""
    return Run(Part(claim.mechanism, claim.sensitivity, claim.query, claim.adjacency))


def runs(part: Part, run: Run, top: bool = True) -> Iterator[Run]:
    """The runs that a part comes to. run: what all of them have from above. Raises Rejected for a count that is not a number."""
    run = replace(run, times=run.times * _count(part.times))
    mechanism = part.mechanism
    if isinstance(mechanism, Compose):
        for inner in mechanism.parts:
            yield from runs(inner, run, False)
    elif isinstance(mechanism, PostProcess):
        yield from runs(mechanism.part, replace(run, processed=True), top)
    elif isinstance(mechanism, Lipschitz):
        yield from runs(mechanism.part, replace(run, factor=mul(run.factor, mechanism.constant), own=run.own or not top, mapped=True), top)
    elif isinstance(mechanism, Group):
        yield from runs(mechanism.part, replace(run, factor=mul(run.factor, mechanism.size), own=run.own or not top), top)
    elif isinstance(mechanism, Leaf | Subsample | Parallel):
        yield replace(run, part=replace(part, times=ONE))
    else:
        assert_never(mechanism)


def merged(part: Part, factor: Expr = ONE) -> tuple[Run, ...]:
    """The runs of a part, equal ones counted together. Raises Rejected for too many."""
    counts: dict[Run, int] = {}
    for number, run in enumerate(runs(part, Run(part, factor))):
        if number >= MOST_RUNS:
            raise Rejected(WHAT, "parts", f"more than {MOST_RUNS} of them; give equal parts once, with times")
        key = replace(run, times=1)
        counts[key] = counts.get(key, 0) + run.times
    return tuple(replace(run, times=times) for run, times in counts.items())


def _count(times: Expr) -> int:
    if not isinstance(times, Num) or times.value.denominator != 1 or not 1 <= times.value <= MOST_TIMES:
        raise Rejected(WHAT, "times", f"it wants an integer from 1 to {MOST_TIMES}")
    return int(times.value)


# -- neighbours ------------------------------------------------------------------------------------


def check_adjacencies(claim: Claim) -> str:
    """The one relation of neighbours that all parts speak of, "" where none is stated.

    Raises Rejected where they differ, and for a part whose query does not fit its noise: parts at one pair of neighbours have none left.
    """
    for part in all_parts(claim.mechanism):
        if part.query is not None:
            require_answers(Claim(part.mechanism, None, query=part.query))
    for fault in adjacency_faults(claim.mechanism, claim.adjacency):
        raise Rejected(WHAT, "adjacency", fault)
    stated = stated_adjacencies(claim.mechanism, claim.adjacency)
    return next(iter(stated), "")


ONE_RECORD: Final = "neighbours differ by one record that is added or removed"
"""What an upper bound for parts in parallel takes for granted where no adjacency is stated."""


def neighbours_assumed(claim: Claim, side: str = "upper") -> tuple[str, ...]:
    """What a bound for several parts takes for granted of their neighbours."""
    parts = list(all_parts(claim.mechanism))
    if len(parts) < 2:
        return ()
    stated = next(iter(stated_adjacencies(claim.mechanism, claim.adjacency)), "")
    same = f"the sensitivities of all parts speak of the same neighbours{f' ({stated})' if stated else ''}"
    parallel = isinstance(claim.mechanism, Parallel) or any(isinstance(part.mechanism, Parallel) for part in parts)
    return (same, ONE_RECORD) if side == "upper" and parallel and not stated else (same,)


def adjacency_faults(mechanism: Mechanism, stated: str = "") -> Iterator[str]:
    """Why the parts of a combinator do not speak of the same neighbours; nothing where they do."""
    named = stated_adjacencies(mechanism, stated)
    if len(named) > 1:
        who = " and ".join(f"{holder} of {name}" for name, holder in named.items())
        yield (
            f"{who} cannot be mixed: Poisson sampling is analysed for neighbours by adding or removing one record, sampling without "
            "replacement for replacing one, and parts compose only for the same neighbours. State every sensitivity for one adjacency."
        )
    parallel = any(isinstance(inner, Parallel) for inner in (mechanism, *(part.mechanism for part in all_parts(mechanism))))
    if parallel and "replace" in named:
        yield (
            "parallel under replace adjacency: a replaced record may leave one part of the data and enter another, so two parts change. "
            "State the adjacency add-remove, or compose the parts."
        )
    for name in ("l1", "l2"):
        # half of a difference in one part and half in another is as far apart, and may be worse: not where losses are convex in it, as
        # those of linear queries are; of a sensitivity that is stated nothing says that half of the difference moves half as far
        if parallel and name in named and not (name == "l1" and _all_linear(Part(mechanism))):
            yield (
                f"parallel under {name} adjacency: a difference of histograms may be spread over several parts, so that all change. "
                "State the adjacency add-remove, or compose the parts."
            )
    yield from _column_faults(mechanism)


def _all_linear(part: Part) -> bool:
    """Whether every part answers a query with log-concave noise."""
    return neighbours.all_log_concave(part) and all(leaf.part.query is not None for leaf in neighbours.leaves(part))


def _column_faults(mechanism: Mechanism) -> Iterator[str]:
    """Queries of parts of one composition that cannot be about one histogram."""
    if isinstance(mechanism, Compose):
        counts = sorted(set().union(*(_columns(part) for part in mechanism.parts)))
        if len(counts) > 1:
            yield (
                f"query: parts of one composition answer about the same records, but their queries have {' and '.join(map(str, counts))} "
                "columns. Give every query a number for each kind of record, 0 where a kind does not count."
            )
    for part in parts_of(mechanism):
        yield from _column_faults(part.mechanism)


def _columns(part: Part) -> set[int]:
    """The numbers of columns of the queries about a part's own data; what is in parallel, or behind a map, has data of its own."""
    if part.query is not None:
        return {len(row) for row in part.query.rows}
    if isinstance(part.mechanism, Parallel | Lipschitz):
        return set()
    return set().union(*map(_columns, parts_of(part.mechanism)))


# -- how far a run's answer moves --------------------------------------------------------------------


def reach(run: Run, evidence: Any = None) -> Sensitivity:
    """Bounds on what a run's answer moves by, before scale. evidence: the gauge certificate of a query in a norm by columns."""
    part = run.part
    if isinstance(part.mechanism, Answering):
        moved = sensitivity_bounds(Claim(part.mechanism, None, sensitivity=part.sensitivity, query=part.query), evidence)
    else:
        stated = ONE if part.sensitivity is None else part.sensitivity
        moved = Sensitivity(stated, stated)
    if run.factor == ONE:
        return moved
    upper, lower = (further(part.mechanism, bound, run.factor, {}) for bound in (moved.upper, moved.lower))
    return Sensitivity(upper[0], lower[1])


def leaf(run: Run, domains: Mapping[str, Domain] = NONE) -> tuple[Mechanism, Expr | None, Query | None]:
    """A run of a single mechanism as a claim speaks of it: the mechanism, its sensitivity and its query.

    domains: of the parameters that the factor may have. Raises Undecided where the neighbours at that distance are not known.
    """
    part, factor = run.part, run.factor
    if factor == ONE:
        return part.mechanism, part.sensitivity, part.query
    if isinstance(part.mechanism, Table):
        return _joined(part.mechanism, _steps(factor, len(part.mechanism.rows))), part.sensitivity, None
    if isinstance(part.mechanism, Exponential):
        steps = _steps(factor)
        if part.mechanism.points and part.sensitivity is None:
            raise Undecided("points at every distance are neighbours here; give the part the distance within which they are.")
        reached = None if part.sensitivity is None else mul(num(steps), part.sensitivity)
        return _joined(part.mechanism, steps), reached, None
    if isinstance(part.mechanism, KaryResponse):
        return part.mechanism, part.sensitivity, None
    if isinstance(part.mechanism, Guarantee):
        return stated.at_distance(part.mechanism, _distance(factor, domains), domains), part.sensitivity, None
    if isinstance(part.mechanism, Staircase):
        return part.mechanism, mul(factor, part.sensitivity or ONE), None
    if not isinstance(part.mechanism, Noise | Kernel | Sampled | Combinator):
        assert_never(part.mechanism)
    if part.query is not None:
        return _further(run, part.query, domains)
    if part.sensitivity is None:
        raise Undecided("how far a part moves on neighbours of neighbours is not known; give it a sensitivity.")
    return part.mechanism, further(part.mechanism, part.sensitivity, factor, domains)[0], None


def _further(run: Run, query: Query, domains: Mapping[str, Domain]) -> tuple[Mechanism, Expr | None, Query | None]:
    """A run with a query on neighbours further apart: so many records of one kind move its answers so many times as far."""
    noise, factor = run.part.mechanism, run.factor
    if load("order.apart").off_the_integers(noise, query) is not None and certainly_le(ONE, factor, domains):
        return noise, None, query  # one step tells neighbours apart already
    if isinstance(factor, Num) and (is_whole(factor, domains) or not on_integers(noise)):
        return noise, None, Query(tuple(tuple(factor.value * x for x in row) for row in query.rows), query.adjacency)
    moved = reach(run)
    if not moved.exact and not on_integers(noise):
        raise Undecided("the sensitivity of a query at a number of steps that has no value is not known exactly.")
    return noise, moved.upper, None


def occurs(run: Run, domains: Mapping[str, Domain] = NONE) -> bool:
    """Whether neighbours as far apart as a run's factor says certainly occur: for finite mechanisms at whole numbers of steps alone.

    So for noise on the integers, whose answers move by whole steps.
    """
    mechanism, factor = run.part.mechanism, run.factor
    if on_integers(mechanism):
        return is_whole(factor, domains)
    if factor == ONE or isinstance(mechanism, Noise | Kernel | Guarantee | Sampled | Compose | Group | PostProcess | Lipschitz):
        return True
    if not isinstance(mechanism, Finite | Subsample | Parallel):
        assert_never(mechanism)
    whole = isinstance(factor, Num) and factor.value >= 1 and factor.value.denominator == 1
    return whole and not (isinstance(mechanism, Exponential) and bool(mechanism.points))


def _steps(factor: Expr, all_there_are: int | None = None) -> int:
    """A whole number of steps between neighbours that covers a factor. all_there_are: so many reach all that any number does."""
    if symbols(factor) and all_there_are is not None:
        return all_there_are
    if isinstance(factor, Num):
        steps = factor.value.__ceil__()
        return max(1, steps if all_there_are is None else min(steps, all_there_are))
    most = None if symbols(factor) else constant(factor).upper()
    if most is None or not most < MOST_STEPS:
        raise Undecided(f"neighbours further than {MOST_STEPS} steps apart, or a number of steps that is not known.")
    steps = max(1, exact(most).__ceil__())
    return steps - 1 if steps > 1 and certainly_le(factor, num(steps - 1)) else steps


def _distance(factor: Expr, domains: Mapping[str, Domain]) -> Expr:
    """A whole number of steps between neighbours that covers a factor: the factor itself where it is a product of integers, at least 1."""
    factors = factor.args if isinstance(factor, Mul) else (factor,)
    if symbols(factor) and all(_is_integer(part, domains) for part in factors) and certainly_le(ONE, factor, domains):
        return factor
    return num(_steps(factor))


def _is_integer(expr: Expr, domains: Mapping[str, Domain]) -> bool:
    if isinstance(expr, Num):
        return expr.value.denominator == 1
    return isinstance(expr, Sym) and expr.name in domains and domains[expr.name].integer


def _joined(mechanism: Table | Exponential, steps: int) -> Table | Exponential:
    """The mechanism with all inputs up to `steps` steps apart as neighbours."""
    if mechanism.adjacent is None or steps == 1:
        return mechanism
    near: dict[int, set[int]] = {}
    for a, b in mechanism.adjacent:
        near.setdefault(a, {a}).add(b)
        near.setdefault(b, {b}).add(a)
    reached = {a: {a} for a in near}
    for _ in range(min(steps, len(near))):  # more reach nothing new
        reached = {a: set().union(*(near[b] for b in those)) for a, those in reached.items()}
    pairs = sorted({(min(a, b), max(a, b)) for a, those in reached.items() for b in those if a != b})
    return replace(mechanism, adjacent=tuple(pairs))
