"""A single mechanism on neighbours of neighbours, as a claim speaks of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, assert_never

from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel import model
from dpverify.trusted.kernel.balls import constant, exact
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import ONE, Expr, Mul, Num, Sym, mul, num, symbols
from dpverify.trusted.kernel.integers import is_whole
from dpverify.trusted.kernel.model import Domain, Mechanism, Part, noises_of, on_integers
from dpverify.trusted.sensitivity.steps_between import further

MOST_STEPS: Final = 1000
"""The most steps between neighbours where a number of them is no rational one."""


Spoken = tuple[Mechanism, Expr | None, model.Query | None]
"""A mechanism, its sensitivity and its query."""


def leaf(part: Part, factor: Expr, moved: Callable[[], Sensitivity], domains: Mapping[str, Domain]) -> Spoken:
    """A part on neighbours `factor` times as far apart as it says. Raises Undecided where these are not known.

    moved: what its answer moves by between them. domains: of the parameters that the factor may have.
    """
    from dpverify.trusted.combinators import stated

    if isinstance(part.mechanism, model.Table):
        return _joined(part.mechanism, _steps(factor, len(part.mechanism.rows))), None, None
    if isinstance(part.mechanism, model.Exponential):
        steps = _steps(factor)
        if part.mechanism.points and part.sensitivity is None:
            raise Undecided("points at every distance are neighbours here; give the part the distance within which they are.")
        reached = None if part.sensitivity is None else mul(num(steps), part.sensitivity)
        return _joined(part.mechanism, steps), reached, None
    if isinstance(part.mechanism, model.KaryResponse):
        return part.mechanism, None, None
    if isinstance(part.mechanism, model.Guarantee):
        return stated.at_distance(part.mechanism, _distance(factor, domains), domains), None, None
    if isinstance(part.mechanism, model.Staircase):
        return part.mechanism, mul(factor, part.sensitivity or ONE), None
    if isinstance(part.mechanism, model.Selection):
        apart = _compared(part.mechanism, factor, domains)
        return part.mechanism, further(part.mechanism, part.sensitivity or ONE, apart, domains)[0], None
    unsampled = isinstance(part.mechanism, model.CorrelatedNoise) and part.mechanism.rate is None
    if isinstance(part.mechanism, model.OfRecords) and not unsampled:
        raise Undecided("what several records do there is not followed here; of a group there is the rule group-privacy.")
    if not isinstance(part.mechanism, model.Noise | model.OfRecords | model.Kernel | model.Sampled | model.Space | model.Combinator):
        assert_never(part.mechanism)
    if part.query is not None:
        return _further(part.mechanism, part.query, factor, moved, domains)
    if part.sensitivity is None:
        raise Undecided("how far a part moves on neighbours of neighbours is not known; give it a sensitivity.")
    return part.mechanism, further(part.mechanism, part.sensitivity, factor, domains)[0], None


def _compared(mechanism: model.Selection, factor: Expr, domains: Mapping[str, Domain]) -> Expr:
    """How far answers move in so many steps, from one: what answers without bounds lose is in proportion to it (theory#selection)."""
    from dpverify.trusted.combinators.streams import FAMILIES

    if mechanism.neighbours == "one" or (mechanism.bounds is not None and mechanism.neighbours != "all"):
        raise Undecided("how answers that move together do so over several steps is not followed here; let each move on its own.")
    if isinstance(mechanism, model.Stream) and mechanism.neighbours in FAMILIES:
        # one way and back the shifts of both ways add up, which is in proportion for log-concave noise alone
        from dpverify.trusted.combinators.densities import convex_where_it_lives

        if not all(convex_where_it_lives(noise, domains) for noise in noises_of(mechanism)):
            raise Undecided("over several steps answers may move one way and back, and not all noises are certainly log-concave.")
    return _distance(factor, domains)


def _further(noise: Mechanism, query: model.Query, factor: Expr, reach: Callable[[], Sensitivity], domains: Mapping[str, Domain]) -> Spoken:
    """Noise with a query on neighbours further apart: so many records of one kind move its answers so many times as far."""
    from dpverify.trusted.sensitivity.apart import off_the_integers

    if off_the_integers(noise, query) is not None and certainly_le(ONE, factor, domains):
        return noise, None, query  # one step tells neighbours apart already
    if isinstance(factor, Num) and (is_whole(factor, domains) or not on_integers(noise)):
        return noise, None, model.Query(tuple(tuple(factor.value * x for x in row) for row in query.rows), query.adjacency)
    moved = reach()
    if not moved.exact and not on_integers(noise):
        raise Undecided("the sensitivity of a query at a number of steps that has no value is not known exactly.")
    return noise, moved.upper, None


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


def _joined(mechanism: model.Table | model.Exponential, steps: int) -> model.Table | model.Exponential:
    """The mechanism with all inputs up to `steps` steps apart as neighbours."""
    from dpverify.trusted.combinators.one_pair import joined

    if mechanism.adjacent is None or steps == 1:
        return mechanism
    reached = joined(mechanism.adjacent, steps)
    pairs = sorted({(min(a, b), max(a, b)) for a, those in reached.items() for b in those if a != b})
    return replace(mechanism, adjacent=tuple(pairs))
