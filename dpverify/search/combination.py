"""Proposes the pure epsilons of the parts of a combinator, each by the search for its own kind."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import islice, permutations, product
from typing import Any

from dpverify.balls import constant
from dpverify.compare import certainly_le
from dpverify.curves import neighbours
from dpverify.curves.neighbours import Choice, OnePair
from dpverify.curves.runs import Run, leaf
from dpverify.errors import DpverifyError
from dpverify.expr import ONE, ZERO, Expr, mul
from dpverify.model import Claim, Combinator, Compose, Domain, Group, Lipschitz, Parallel, Part, PostProcess, Subsample, Translation
from dpverify.rules import combination as rule
from dpverify.rules import convex_exponent
from dpverify.rules.base import Infinite

Plan = dict[str, Any]
Premises = Callable[[Claim, str], Plan | None]
"""Evidence for a bound on one side of the pure epsilon of a single mechanism, where one is found."""

_MOST_TRIED = 200


def propose(claim: Claim, premises: Premises) -> list[Plan]:
    """Steps for both sides, as far as every part has a bound there."""
    assert isinstance(claim.mechanism, Combinator)
    root = Part(claim.mechanism)
    steps: list[Plan] = []
    every = _at_every_pair(root, claim.domains, premises) if neighbours.together(root, linked=True) else None
    if every is not None:
        steps.append({"rule": rule.NAME, "evidence": {"side": "upper", "neighbours": every}})
    one = _at_one_pair(claim, root, premises) if neighbours.together(root, linked=False) else None
    if one is not None:
        steps.append(one)
    for side, found in (("upper", every), ("lower", one)):
        if found is None and not (side == "lower" and neighbours.undecided(root)):
            plan = _plan(root, ONE, side, claim.domains, premises)
            if plan is not None:
                steps.append({"rule": rule.NAME, "evidence": {"side": side, "part": plan}})
    return steps


def _at_every_pair(root: Part, domains: tuple[tuple[str, Domain], ...], premises: Premises) -> Plan | None:
    """Evidence for an upper bound from all pairs of neighbours that several parts share."""
    try:
        parts = [neighbours.at(root, choice) for choice in neighbours.choices(root)]
        plans = [{} if part is None else _plan(part, ONE, "upper", domains, premises) for part in parts]
    except DpverifyError:
        return None  # the sum of the parts' own bounds
    return None if None in plans else shared(plans)


def _at_one_pair(claim: Claim, root: Part, premises: Premises) -> Plan | None:
    """A step for a lower bound, from about the worst pair of neighbours."""
    side = "lower"
    best: tuple[float, Plan] | None = None
    for choice, part, left_out, backward in _ways(root, claim.domains):
        try:
            plan = {} if part is None else _plan(part, ONE, side, claim.domains, premises, left_out)
            if plan is None:
                continue
            evidence = {"side": side, "neighbours": neighbours.written(choice), "part": plan} | ({"backward": True} if backward else {})
            found = rule.check(claim, evidence)
            height = math.inf if isinstance(found.value, Infinite) else _about(found.value)
        except DpverifyError:
            continue
        if best is None or height > best[0]:
            best = height, {"rule": rule.NAME, "evidence": evidence}
    return None if best is None else best[1]


def _ways(root: Part, domains: tuple[tuple[str, Domain], ...]) -> Iterator[tuple[Choice, Part | None, frozenset[Part], bool]]:
    """Pairs of neighbours, in both orders where they differ, with what a lower bound is not to look at."""
    for found in candidates(root):
        turned = tuple((space, (*reversed(value),) if space[0] == "inputs" else value) for space, value in found)
        for choice in dict.fromkeys((found, turned)):
            try:
                part = neighbours.at(root, choice, lower=True)
            except DpverifyError:
                continue
            for left_out in [frozenset[Part]()] if part is None else _left_out(part, domains):
                yield choice, part, left_out, False
                if part is not None and any(_is_one_way(leaf.part, domains) for leaf in neighbours.leaves(part)):
                    yield choice, part, left_out, True


def shared(plans: Sequence[Any]) -> Plan:
    """Plans with equal ones given once."""
    different: list[Any] = []
    of = []
    for plan in plans:
        if plan not in different:
            different.append(plan)
        of.append(different.index(plan))
    return {"plans": different, "of": of}


def candidates(root: Part) -> list[Choice]:
    """Pairs of neighbours that may be worst: those that matter, else the first ones at the ends of what differs."""
    found: list[Choice] = []
    with suppress(DpverifyError):
        found = [choice for choice in neighbours.choices(root) if len(choice) == len(neighbours.together(root, linked=False))]
    if found:
        return found
    factor, spaces = neighbours.root_factor(root), neighbours.together(root, linked=False)
    listed: list[list[tuple[Fraction, ...]]] = []
    for kind, size, adjacency in spaces:
        if kind == "records":
            units = neighbours.vertices(size, "add-remove" if adjacency in ("l1", "l2") else adjacency)
            listed.append([tuple(factor * x for x in v) for v in islice(units, _MOST_TRIED)])
        else:
            listed.append([(Fraction(a), Fraction(b)) for a, b in islice(permutations(range(size), 2), _MOST_TRIED)])
    return [tuple(zip(spaces, values, strict=True)) for values in islice(product(*listed), _MOST_TRIED)]


def _is_one_way(part: Part, domains: tuple[tuple[str, Domain], ...]) -> bool:
    """Whether the kernel knows by itself what a part at one pair of neighbours loses in each order."""
    noise = part.mechanism
    if not (isinstance(part, OnePair) and part.query is not None and isinstance(noise, Translation)) or neighbours.even(noise):
        return False
    return convex_exponent.one_way(noise, part.query.rows[0][0], dict(domains)) is not None


def _left_out(part: Part, domains: tuple[tuple[str, Domain], ...]) -> list[frozenset[Part]]:
    """Parts of which it is not known that they lose the most in the same order as the others: all but one of them, or of the rest."""
    those = [leaf.part for leaf in neighbours.leaves(part) if isinstance(leaf.part, OnePair)]
    inputs = any(one.query is None for one in those)
    uneven: set[Part] = {one for one in those if one.query is not None and not neighbours.even(one.mechanism)}
    ordered = {one for one in uneven if _is_one_way(one, domains)}
    turned = uneven - ordered
    alone = [] if inputs else [frozenset(uneven - {one}) for one in turned]
    return [frozenset(turned), *alone] if inputs or ordered or not turned else alone


def _about(value: Expr) -> float:
    try:
        return float(constant(value).mid())
    except DpverifyError:
        return 0.0


def _plan(
    part: Part,
    factor: Expr,
    side: str,
    domains: tuple[tuple[str, Domain], ...],
    premises: Premises,
    left_out: frozenset[Part] = frozenset(),
) -> Any:
    mechanism = part.mechanism
    if part in left_out:
        return rule.NOTHING
    if isinstance(mechanism, Compose | Parallel):
        if isinstance(mechanism, Parallel) and not certainly_le(factor, ONE, dict(domains)):
            factor = ONE
        plans = [_plan(inner, factor, side, domains, premises, left_out) for inner in mechanism.parts]
        return None if None in plans else {"parts": plans}
    if isinstance(mechanism, PostProcess):
        return None if side == "lower" else _plan(mechanism.part, factor, side, domains, premises, left_out)
    if isinstance(mechanism, Group | Lipschitz):
        times = mechanism.size if isinstance(mechanism, Group) else mechanism.constant
        return _plan(mechanism.part, mul(factor, times), side, domains, premises, left_out)
    if isinstance(mechanism, Subsample):
        if side == "lower" and factor != ONE:
            return None
        if mechanism.rate == ZERO:
            return {}
        if side == "upper" and neighbours.together(mechanism.part, linked=True):
            found = _at_every_pair(mechanism.part, domains, premises)
            if found is not None:
                return {"sampled": found}
        return _plan(mechanism.part, ONE, side, domains, premises, left_out)
    if isinstance(part, OnePair) and part.query is None:
        return {}  # two rows: nothing is to be found
    if factor == ONE and _is_one_way(part, domains):
        return {}
    noise, sensitivity, query = leaf(Run(part, factor), dict(domains))
    return premises(Claim(noise, None, sensitivity=sensitivity, query=query, domains=domains), side)
