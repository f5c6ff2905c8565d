"""The curve of a mechanism made of parts: evidence names a rule for every node, and each rule gets the curves below it.

Evidence is a tree of objects: "rule" is the name of a rule, "parts" (or "part") the evidence of the parts, in the order of the
runs that `runs.merged` gives, and the rest is what that rule needs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from flint import arb, ctx

from dpverify.trusted.facts import event
from dpverify.trusted.facts.pairs import Curve, Evidence, Pair, Pure, symmetric
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import ONE, Expr, Num
from dpverify.trusted.language.model import Claim, Compose, Parallel, Part, Subsample, exact_fraction
from dpverify.trusted.order.compare import certainly_le
from dpverify.trusted.parts import neighbours
from dpverify.trusted.parts.runs import Run, leaf, merged, occurs
from dpverify.trusted.rules.composition import (
    distributions,
    gaussian_composition,
    group_privacy,
    leaves,
    losses,
    parallel_composition,
    poisson_subsampling,
    post_processing,
    renyi_composition,
    sampling_without_replacement,
)
from dpverify.trusted.rules.composition.compositions import COMPOSITIONS
from dpverify.trusted.rules.curves import lattice, line
from dpverify.trusted.rules.guarantees import pure_guarantee

Premise = Callable[[Claim, Evidence], Pure]
"""Proves an upper bound on the pure epsilon of a claim's mechanism from evidence, by the rules about densities."""

_LONGEST_KEY: Final = 1 << 16


def curve(part: Part, evidence: Evidence, premise: Premise, factor: Expr = ONE) -> Curve:
    """The curve of a part on neighbours `factor` times as far apart. Raises Rejected, Undecided, CertificateError."""
    key = json.dumps(evidence, sort_keys=True)
    if len(key) > _LONGEST_KEY:
        return _derived(part, evidence, premise, factor)
    return _remembered(part, key, premise, factor, ctx.prec)


def _derived(part: Part, evidence: Evidence, premise: Premise, factor: Expr) -> Curve:
    if isinstance(evidence, dict) and evidence.get("rule") == neighbours.NAME:
        if factor != ONE:
            raise Rejected(neighbours.NAME, "the part", "it wants neighbours as far apart as the part says")
        return _joint(part, evidence, premise)
    found = combine(merged(part, factor), evidence, premise)
    return replace(found, below=tuple(dict.fromkeys((*found.below, *neighbours.apart(part)))))


def _joint(part: Part, evidence: Evidence, premise: Premise) -> Curve:
    """The curve of a part by one pair of neighbours at a time.

    evidence: "above", the "plans" of the curves at every choice of neighbours with "of", the number of each one's plan; or the "curve"
    of parts that are each at neighbours of their own. "below", if given: the "choice" of these that the lower bound is for, by number; or
    its neighbours under "at" with their "curve".
    """
    above, below = evidence.get("above"), evidence.get("below", {})
    if not isinstance(above, dict) or not isinstance(below, dict):
        raise CertificateError(f"{neighbours.NAME}: the evidence wants 'above', and 'below' if it is there, as objects.")
    rows = neighbours.rows_assumed(part)
    if "plans" not in above:
        curves, listed = [curve(part, above.get("curve", {}), premise)], list[neighbours.Choice]()
    else:
        listed = list(neighbours.choices(part))
        curves = [
            _at(neighbours.at(part, choice), plan, premise) for choice, plan in zip(listed, plans_of(above, len(listed)), strict=True)
        ]
    number, lower = below.get("choice"), None
    if number is not None:
        if type(number) is not int or not 0 <= number < len(listed):
            raise CertificateError(f"{neighbours.NAME}: 'choice' names no pair of neighbours.")
        choice, lower = neighbours.read(part, neighbours.written(listed[number])), curves[number]
        if neighbours.at(part, choice) != neighbours.at(part, choice, lower=True):
            raise Rejected(neighbours.NAME, "choice", "some part is at neighbours of its own there")
    elif "at" in below:
        choice = neighbours.read(part, below["at"])
        lower = _at(neighbours.at(part, choice, lower=True), below.get("curve", {}), premise)
    uppers = [found.upper for found in curves if found.upper is not None]
    complete = len(uppers) == len(curves)
    inputs = any(neighbours.space_of(leaf.part) is not None and leaf.part.query is None for leaf in neighbours.leaves(part))
    if inputs or neighbours.in_either_order(part):
        # which of the two has the record nothing says, and a sample of the records asks
        uppers += [pair.reversed for pair in uppers if pair.forward is not pair.backward]
    upper = parallel_composition.greatest(uppers) if complete else None
    rules = tuple(dict.fromkeys((neighbours.NAME, *(name for found in (*curves, *filter(None, [lower])) for name in found.rules))))
    assumed = tuple(dict.fromkeys((*rows, *(line for found in curves for line in found.assumed))))
    if lower is None or lower.lower is None:
        return Curve(upper, None, rules, assumed)
    shown = _shown(lower.lower, neighbours.described(part, choice))
    exactly = len(curves) == 1 and upper is lower.lower
    told = neighbours.apart(neighbours.at(part, choice, lower=True) or part, part)
    return Curve(shown if exactly else upper, shown, rules, assumed, tuple(dict.fromkeys((*lower.assumed, *lower.below, *told))))


def plans_of(evidence: Evidence, count: int) -> list[Evidence]:
    """The plan of each of so many choices: "plans", and "of", the number of each one's."""
    plans, numbers = evidence.get("plans"), evidence.get("of")
    if not isinstance(plans, list) or not isinstance(numbers, list) or len(numbers) != count:
        raise CertificateError(f"{neighbours.NAME}: the evidence wants 'plans', and 'of', a list of {count} numbers of them.")
    if not all(type(number) is int and 0 <= number < len(plans) for number in numbers):
        raise CertificateError(f"{neighbours.NAME}: 'of' names no plan.")
    return [plans[number] for number in numbers]


def _at(part: Part | None, evidence: Evidence, premise: Premise) -> Curve:
    """The curve at one choice, where nothing at all may be revealed."""
    if part is None:
        pair = symmetric(_nothing)
        return Curve(pair, pair, ())
    return curve(part, evidence, premise)


def _nothing(_: arb) -> arb:
    return arb(0)


def _shown(pair: Pair, neighbours_shown: str) -> Pair:
    """The pair with its neighbours named in the event."""

    def describe(epsilon: arb) -> Mapping[str, str]:
        found = event.describe(pair, epsilon)
        return {**found, "pair": f"{neighbours_shown} ({found['pair']})"}

    return replace(pair, event=describe)


@lru_cache(maxsize=64)
def _remembered(part: Part, key: str, premise: Premise, factor: Expr, prec: int) -> Curve:
    """The curve of equal evidence at equal precision is derived once: compositions take long."""
    return _derived(part, json.loads(key), premise, factor)


def combine(runs: Sequence[Run], evidence: Evidence, premise: Premise) -> Curve:
    """The curve of all runs together."""
    if not isinstance(evidence, dict):
        raise CertificateError("the evidence of a curve is not an object.")
    name = evidence.get("rule")
    if name == renyi_composition.NAME:
        found = renyi_composition.curve(runs, evidence, premise)
    elif len(runs) == 1 and runs[0].times == 1:
        found = _single(runs[0], evidence, premise)
    elif name in COMPOSITIONS:
        found = COMPOSITIONS[name](runs, evidence)
        if any(run.mapped for run in runs):
            found = _in_either_order(found)
    elif name == losses.NAME:
        parts = [_single(replace(run, times=1), below, premise) for run, below in _each(runs, evidence)]
        found = distributions.curve(parts, [run.times for run in runs], evidence)
    else:
        raise CertificateError(f"{str(name)[:60]!r} is no rule for a composition of parts.")
    if len(runs) > 1:
        neighbours.require_one_adjacency(Part(Compose(tuple(run.part for run in runs if not run.own))))
    if any(run.processed for run in runs):
        return Curve(found.upper, None, (*found.rules, post_processing.NAME), (*found.assumed, *post_processing.ASSUMED))
    # of parts that share their neighbours, each would be at its own worst ones; Gaussian noise looks at all of them
    # together, and answers that are no integers at one part alone
    whole = Part(Compose(tuple(run.part for run in runs)))
    scattered = name not in (gaussian_composition.NAME, lattice.NAME) and neighbours.undecided(whole)
    return replace(found, lower=None) if scattered or not all(map(occurs, runs)) else found


def _each(items: Sequence[Any], evidence: Evidence) -> list[tuple[Any, Evidence]]:
    listed = evidence.get("parts")
    if not isinstance(listed, list) or len(listed) != len(items):
        raise CertificateError(f"the evidence of a curve wants 'parts', a list of {len(items)}.")
    return list(zip(items, listed, strict=True))


def _single(run: Run, evidence: Evidence, premise: Premise) -> Curve:
    """The curve of one run of one mechanism, without a lower bound where neighbours so far apart may not occur."""
    found = _one(run, evidence, premise)
    if run.mapped:
        found = _in_either_order(found)
    return found if occurs(run) else replace(found, lower=None)


def _in_either_order(found: Curve) -> Curve:
    """The curve of what is behind a map of the data, or of neighbours of neighbours: its upper pair dominates both orders.

    A map may exchange the neighbour with the record and the one without it, and steps between neighbours may add records and remove them.
    """
    if found.upper is None or found.upper.forward is found.upper.backward:
        return found
    return replace(found, upper=line.dominating(found.upper))


def _one(run: Run, evidence: Evidence, premise: Premise) -> Curve:
    if not isinstance(evidence, dict):
        raise CertificateError("the evidence of a curve is not an object.")
    name, mechanism = evidence.get("rule"), run.part.mechanism
    if name == group_privacy.NAME:
        below = curve(run.part, evidence.get("part", {}), premise)
        found = group_privacy.curve(below, whole(run.factor), _fraction(evidence, "epsilon"))
        # neighbours one step apart are among those of a group, and not among those that a contraction leaves
        return found if certainly_le(ONE, run.factor) else replace(found, lower=None)
    if name == pure_guarantee.NAME:
        noise, sensitivity, query = leaf(run)
        return pure_guarantee.curve(premise(Claim(noise, None, sensitivity=sensitivity, query=query), evidence.get("premise", {})))
    if isinstance(mechanism, Subsample):
        if not certainly_le(run.factor, ONE):
            raise Rejected(str(name), "the part", f"neighbours further apart than one record want the rule {group_privacy.NAME}")
        below = curve(mechanism.part, evidence.get("part", {}), premise)
        poisson = mechanism.scheme == "poisson"
        wanted = poisson_subsampling.NAME if poisson else sampling_without_replacement.NAME
        if name != wanted:
            raise Rejected(str(name), "the part", f"sampling by this scheme wants the rule {wanted}")
        return (poisson_subsampling.curve if poisson else sampling_without_replacement.curve)(below, mechanism.rate)
    if isinstance(mechanism, Parallel):
        if name != parallel_composition.NAME:
            raise Rejected(str(name), "the part", f"parts in parallel want the rule {parallel_composition.NAME}")
        if not certainly_le(run.factor, ONE):  # several records may fall into several parts
            raise Rejected(str(name), "the part", f"neighbours further apart than one record want the rule {group_privacy.NAME}")
        parts = [curve(part, e, premise, run.factor) for part, e in _each(mechanism.parts, evidence)]
        return parallel_composition.curve(parts, int(_fraction(evidence, "index")))
    return leaves.curve(run, evidence)


def whole(factor: Expr) -> int:
    """How many steps between neighbours a factor takes. Raises Rejected where it is not a number."""
    if not isinstance(factor, Num):
        raise Rejected(group_privacy.NAME, "size", "it is not a number")
    return -int(-factor.value // 1)


def _fraction(evidence: Evidence, key: str) -> Fraction:
    try:
        return exact_fraction(str(evidence.get(key)))
    except (ValueError, ZeroDivisionError) as error:
        raise CertificateError(f"the evidence of a curve wants {key!r}, a fraction.") from error
