"""The curve of a mechanism made of parts: evidence names a rule for every node, and each rule gets the curves below it.

Evidence is a tree of objects: "rule" is the name of a rule, "parts" (or "part") the evidence of the parts, in the order of the
runs that `runs.merged` gives, and the rest is what that rule needs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from flint import ctx

from dpverify.compare import certainly_le
from dpverify.curves import (
    distributions,
    group_privacy,
    leaves,
    losses,
    parallel_composition,
    poisson_subsampling,
    post_processing,
    pure_guarantee,
    renyi_composition,
    sampling_without_replacement,
)
from dpverify.curves.base import Curve, Evidence, Pure
from dpverify.curves.compositions import COMPOSITIONS
from dpverify.curves.runs import Run, leaf, merged, occurs
from dpverify.errors import CertificateError, Rejected
from dpverify.expr import ONE, Expr, Num
from dpverify.model import Claim, Parallel, Part, Subsample, exact_fraction

Premise = Callable[[Claim, Evidence], Pure]
"""Proves an upper bound on the pure epsilon of a claim's mechanism from evidence, by the rules about densities."""

_LONGEST_KEY: Final = 1 << 16


def curve(part: Part, evidence: Evidence, premise: Premise, factor: Expr = ONE) -> Curve:
    """The curve of a part on neighbours `factor` times as far apart. Raises Rejected, Undecided, CertificateError."""
    key = json.dumps(evidence, sort_keys=True)
    if len(key) > _LONGEST_KEY:
        return combine(merged(part, factor), evidence, premise)
    return _remembered(part, key, premise, factor, ctx.prec)


@lru_cache(maxsize=64)
def _remembered(part: Part, key: str, premise: Premise, factor: Expr, prec: int) -> Curve:
    """The curve of equal evidence at equal precision is derived once: compositions take long."""
    return combine(merged(part, factor), json.loads(key), premise)


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
    elif name == losses.NAME:
        parts = [_single(replace(run, times=1), below, premise) for run, below in _each(runs, evidence)]
        found = distributions.curve(parts, [run.times for run in runs], evidence)
    else:
        raise CertificateError(f"{str(name)[:60]!r} is no rule for a composition of parts.")
    if any(run.processed for run in runs):
        return Curve(found.upper, None, (*found.rules, post_processing.NAME), (*found.assumed, *post_processing.ASSUMED))
    return found if all(map(occurs, runs)) else replace(found, lower=None)


def _each(items: Sequence[Any], evidence: Evidence) -> list[tuple[Any, Evidence]]:
    listed = evidence.get("parts")
    if not isinstance(listed, list) or len(listed) != len(items):
        raise CertificateError(f"the evidence of a curve wants 'parts', a list of {len(items)}.")
    return list(zip(items, listed, strict=True))


def _single(run: Run, evidence: Evidence, premise: Premise) -> Curve:
    """The curve of one run of one mechanism, without a lower bound where neighbours so far apart may not occur."""
    found = _one(run, evidence, premise)
    return found if occurs(run) else replace(found, lower=None)


def _one(run: Run, evidence: Evidence, premise: Premise) -> Curve:
    if not isinstance(evidence, dict):
        raise CertificateError("the evidence of a curve is not an object.")
    name, mechanism = evidence.get("rule"), run.part.mechanism
    if name == group_privacy.NAME:
        below = _single(Run(run.part), evidence.get("part", {}), premise)
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
