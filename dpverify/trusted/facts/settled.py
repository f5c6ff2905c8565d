"""What is left of a curve once it is known where in a combinator it stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from flint import arb, ctx

from dpverify.trusted.combinators.one_pair import OnePair
from dpverify.trusted.combinators.runs import Run, merged, occurs, reach
from dpverify.trusted.facts.evaluate import kept
from dpverify.trusted.facts.pairs import Curve, Pair, Profile, dominating
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.certificate import PRECISIONS
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import CertificateError, Rejected, require
from dpverify.trusted.kernel.expr import Expr
from dpverify.trusted.kernel.model import Compose, Noise, Part

WHAT: Final = "the place"
POST_PROCESSED: Final = "post-processing"
KEPT_APART: Final = "the map does not look at the data again"


def additive(run: Run, rule: str) -> Noise:
    """The noise of a run. Raises Rejected for what adds none."""
    if not isinstance(run.part.mechanism, Noise):
        raise Rejected(rule, "the mechanism", "it is about additive noise")
    return run.part.mechanism


def between(upper: Expr, lower: Expr, pair: Callable[[Expr], Pair], rule: str, assumed: tuple[str, ...]) -> Curve:
    """The curve between the pairs at the most and at the least that some neighbours are apart; exact where these are equal."""
    most = pair(upper)
    return Curve(most, most if upper == lower or certainly_equal(upper, lower) else pair(lower), (rule,), assumed)


def single(run: Run, found: Curve) -> Curve:
    """The curve of one run of one mechanism, without a lower bound where neighbours so far apart may not occur.

    Raises Rejected for what is run several times.
    """
    require(run.times == 1, Rejected(WHAT, "the run", "it is of several times, and the rule speaks of one"))
    if run.mapped:
        found = in_either_order(found)
    return found if occurs(run) else replace(found, lower=None)


def noise(run: Run, found: Curve, parameters: Mapping[str, Any], one_way: bool = False) -> Curve:
    """The curve of one run of additive noise or of a finite mechanism, in the order of its neighbours.

    parameters: "prec", if given, is the precision at which its profiles are evaluated wherever less is not asked: compositions need many
    values of few digits. one_way: its lower bound is the pair at the shift, and its upper bound is for both directions.
    """
    if not isinstance(run.part, OnePair):
        from dpverify.trusted.facts.orientation import oriented

        found = oriented(found, run)
    elif one_way and found.lower is not None and reach(run).exact:
        found = replace(found, upper=found.lower)  # the one shift, in the one direction
    if "prec" in parameters:
        bits = parameters["prec"]
        if type(bits) is not int or bits not in PRECISIONS:
            raise CertificateError(f"the precision of a part must be an integer between {PRECISIONS[0]} and {PRECISIONS[-1]}.")
        upper = None if found.upper is None else _limited(found.upper, bits)
        lower = upper if found.exact else None if found.lower is None else _limited(found.lower, bits)
        found = replace(found, upper=upper, lower=lower)
    return single(run, found)


def together(run: Run, found: Curve, jointly: bool = False) -> Curve:
    """The curve of all that a run comes to. jointly: its lower bound looks at all parts at one pair of neighbours.

    Raises Rejected where the parts speak of different neighbours, and for a run of which what it comes to does not show where it stands.
    """
    if run != Run(run.part, run.factor):
        raise Rejected(WHAT, "the run", "it stands behind a map or in a group, which the runs that it comes to do not show")
    from dpverify.trusted.combinators import neighbours

    runs = merged(run.part, run.factor)
    neighbours.require_one_adjacency(Part(Compose(tuple(inner.part for inner in runs if not inner.own))))
    if any(inner.processed for inner in runs):
        found = Curve(found.upper, None, (*found.rules, POST_PROCESSED), (*found.assumed, KEPT_APART))
    # of parts that share their neighbours, each would be at its own worst ones
    scattered = not jointly and neighbours.undecided(Part(Compose(tuple(inner.part for inner in runs))))
    if scattered or not all(map(occurs, runs)):
        found = replace(found, lower=None)
    return replace(found, below=tuple(dict.fromkeys((*found.below, *neighbours.apart(run.part)))))


def several(runs: Sequence[Run], found: Curve) -> Curve:
    """The curve of a composition whose rule knows nothing of maps of the data."""
    return in_either_order(found) if any(run.mapped for run in runs) else found


def in_either_order(found: Curve) -> Curve:
    """The curve of what is behind a map of the data, which may exchange the neighbours: its upper pair dominates both orders."""
    if found.upper is None:
        return found
    return replace(found, upper=dominating(found.upper))


def _limited(pair: Pair, bits: int) -> Pair:
    """The pair with profiles that are evaluated at no more than a precision, each epsilon once."""

    def limited(profile: Profile) -> Profile:
        known = kept(profile)

        def at(epsilon: arb) -> arb:
            with precision(min(ctx.prec, bits)):
                return known(epsilon) if epsilon.is_exact() else profile(epsilon)

        return at

    forward = limited(pair.forward)
    return replace(pair, forward=forward, backward=forward if pair.backward is pair.forward else limited(pair.backward))
