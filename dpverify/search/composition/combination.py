"""Proposes the pure epsilons of the parts of a combinator, each by the search for its own kind."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, islice, permutations, product
from typing import Any

from dpverify.search.additive import convex_exponent as convex
from dpverify.search.composition import best_of, joint_moves
from dpverify.search.proposal import bound
from dpverify.trusted.combinators import at_pair, candidates, densities, neighbours
from dpverify.trusted.combinators.one_pair import Choice, OnePair, Space, Vector, is_told
from dpverify.trusted.combinators.places import ONE_STEP
from dpverify.trusted.combinators.runs import Run, leaf, whole
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import DpverifyError, Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, mul
from dpverify.trusted.kernel.fact import Fact, as_bounds
from dpverify.trusted.kernel.model import (
    BestOf,
    Claim,
    Combinator,
    Compose,
    Domain,
    Group,
    Lipschitz,
    Parallel,
    Part,
    PostProcess,
    Repeat,
    Selection,
    Shuffle,
    Subsample,
    Translation,
    parts_of,
)
from dpverify.trusted.kernel.proof import Place, Proof
from dpverify.trusted.theories.additive.rules import convex_exponent
from dpverify.trusted.theories.composition.combined_values import NOTHING
from dpverify.trusted.theories.composition.rules import combination as rule
from dpverify.trusted.theories.composition.rules.combination import stacked

Plan = dict[str, Any]
Premises = Callable[[Claim, str], Plan | None]
"""Evidence for a bound on one side of the pure epsilon of a single mechanism, where one is found."""

_MOST_TRIED = 200
_MOST_ROWS = 3
_MOST_SPREAD = 12
_FINE = 2**20
_ASCENTS = 12


def propose(claim: Claim, premises: Premises) -> list[Plan]:
    """Steps for both sides, as far as every part has a bound there."""
    search = _Search(Proof(claim), claim.domains, premises)
    root = whole(claim).part
    steps: list[Plan] = []
    extra: list[Choice] = []
    every = search.at_every_pair((), root) if neighbours.together(root, linked=True, alone=True) else None
    if every is not None:
        steps.append(_step({"side": "upper", "neighbours": every}))
    real = any(space[2] in ("l1", "l2") for space in neighbours.together(root, linked=True, alone=True))
    if real or (every is None and neighbours.together(root, linked=True, alone=True)):
        slopes = _step({"side": "upper", "slopes": True})
        with suppress(DpverifyError):
            search.proof.infer(rule.NAME, (), slopes["evidence"])
            steps.append(slopes)
        joint, worst = joint_moves.propose(claim, premises) if not claim.domains else ([], [])
        steps, extra = steps + joint, _about_there(root, worst)
    counts = claim.delta == ZERO  # a pure epsilon is no bound from below on that of a delta above 0
    one = search.at_one_pair(root, extra) if counts and neighbours.together(root, linked=False, alone=True) else None
    if one is not None:
        steps.append(one)
    if not isinstance(claim.mechanism, Combinator):
        return steps  # of each coordinate at its own worst neighbours its own rules know
    if counts and isinstance(claim.mechanism, BestOf):
        steps += [_step({"side": "lower", **found}) for found in best_of.worst_output(claim.mechanism)]
    for side, found in (("upper", every), ("lower", one))[: 1 + counts]:
        if found is None and not (side == "lower" and neighbours.undecided(root)):
            for left_out in _left_out(root, claim.domains) if side == "lower" else [frozenset[Part]()]:
                plan = search.plan((), root, ONE, side, left_out)
                if plan is not None:
                    steps.append(_step({"side": side, "part": plan}))
    return steps


def _step(evidence: Plan) -> Plan:
    """A step whose parameters name the facts in some evidence by number."""
    premises: list[Fact] = []

    def numbered(value: Any) -> Any:
        if isinstance(value, Fact):
            if value not in premises:
                premises.append(value)
            return premises.index(value)
        if isinstance(value, dict):
            return {key: numbered(inner) for key, inner in value.items()}
        return [numbered(inner) for inner in value] if isinstance(value, list) else value

    return {"rule": rule.NAME, "evidence": numbered(evidence), "premises": premises}


def _about_there(root: Part, worst: Sequence[Vector]) -> list[Choice]:
    """Pairs of neighbours near differences of real histograms that are about the worst."""
    spaces, factor = neighbours.together(root, linked=False, alone=True), candidates.root_factor(root)
    if len(spaces) != 1:
        return []
    return [((spaces[0], tuple(factor * x for x in _to_the_edge(v, spaces[0][2]))),) for v in worst]


def _ways(
    root: Part, domains: tuple[tuple[str, Domain], ...], extra: Sequence[Choice]
) -> Iterator[tuple[Choice, Part | None, frozenset[Part], bool]]:
    """Pairs of neighbours, in both orders where they differ, with what a lower bound is not to look at."""
    for found in (*extra, *likely(root)):
        turned = tuple((space, (*reversed(value),) if space[0] == "inputs" else value) for space, value in found)
        for choice in dict.fromkeys((found, turned)):
            try:
                part = at_pair.at(root, choice, lower=True)
            except DpverifyError:
                continue
            for left_out in [frozenset[Part]()] if part is None else _left_out(part, domains):
                yield choice, part, left_out, False
                if part is not None and any(_is_one_way(leaf.part, domains) for leaf in neighbours.leaves(part)):
                    yield choice, part, left_out, True


def _spread(root: Part, space: Space) -> list[Vector]:
    """Differences of real histograms in several kinds of records at once: along the queries, and alike in some kinds."""
    _, size, adjacency = space
    queries = [leaf.part.query for leaf in neighbours.leaves(root) if neighbours.space_of(leaf.part) == space]
    rows = list(dict.fromkeys(row for query in queries if query is not None for row in query.rows))[:_MOST_ROWS]
    signs = product((1, -1), repeat=len(rows) - 1) if rows else ()
    along = [tuple(sum(s * x for s, x in zip((1, *sign), column, strict=True)) for column in zip(*rows, strict=True)) for sign in signs]
    alike = product((1, 0, -1), repeat=size) if size <= _MOST_ROWS else ()
    found = (_to_the_edge(w, adjacency) for w in (*_steepest(root), *along, *rows, *alike) if sum(map(bool, w)) > 1)
    different = dict.fromkeys(v if next(filter(None, v)) > 0 else tuple(-x for x in v) for v in found)
    return list(islice(different, _MOST_SPREAD))


def _steepest(root: Part) -> list[Vector]:
    """About the difference of length 1 that moves most, where parts lose in proportion to what their answers move by."""
    try:
        rows = stacked(root, ()).rows
    except DpverifyError:
        return []
    best: tuple[Fraction, Vector] | None = None
    turned = [tuple(x + s * y for x, y in zip(a, b, strict=True)) for a, b in islice(combinations(rows, 2), _MOST_TRIED) for s in (1, -1)]
    for v in (*rows, *turned):
        for _ in range(_ASCENTS):  # each sign of an answer is worth a step along its row
            signs = [1 if sum(x * y for x, y in zip(row, v, strict=True)) >= 0 else -1 for row in rows]
            v = tuple(sum((s * x for s, x in zip(signs, column, strict=True)), Fraction(0)) for column in zip(*rows, strict=True))
        length = sum((x * x for x in v), Fraction(0))
        if best is None or length > best[0]:
            best = length, v
    return [] if best is None else [best[1]]


def _to_the_edge(w: Sequence[Fraction | int], adjacency: str) -> Vector:
    """A multiple of w of about length 1, never more."""
    if adjacency == "l1":
        return tuple(Fraction(x) / sum(abs(Fraction(y)) for y in w) for x in w)
    square = sum((Fraction(x) ** 2 for x in w), Fraction(0))
    length = Fraction(math.isqrt(square.numerator * square.denominator), square.denominator)
    if length**2 != square:
        length = Fraction(math.isqrt(square.numerator * _FINE**2 // square.denominator) + 1, _FINE)
    return tuple(x / length for x in w)


def shared(plans: Sequence[Any]) -> Plan:
    """Plans with equal ones given once."""
    different: list[Any] = []
    of = []
    for plan in plans:
        if plan not in different:
            different.append(plan)
        of.append(different.index(plan))
    return {"plans": different, "of": of}


def likely(root: Part) -> list[Choice]:
    """Pairs of neighbours that may be worst: those that matter, else the first ones at the ends of what differs."""
    found: list[Choice] = []
    with suppress(DpverifyError):
        spaces = neighbours.together(root, linked=False, alone=True)
        found = [choice for choice in candidates.choices(root) if len(choice) == len(spaces) and at_pair.are_neighbours(root, choice)]
    if found:
        return found
    factor, spaces = candidates.root_factor(root), neighbours.together(root, linked=False, alone=True)
    listed: list[list[tuple[Fraction, ...]]] = []
    for kind, size, adjacency in spaces:
        if kind == "records":
            units = candidates.vertices(size, "add-remove" if adjacency in ("l1", "l2") else adjacency)
            spread = _spread(root, (kind, size, adjacency)) if adjacency in ("l1", "l2") else []
            listed.append([tuple(factor * x for x in v) for v in (*islice(units, _MOST_TRIED), *spread)])
        else:
            listed.append([(Fraction(a), Fraction(b)) for a, b in islice(permutations(range(size), 2), _MOST_TRIED)])
    return [tuple(zip(spaces, values, strict=True)) for values in islice(product(*listed), _MOST_TRIED)]


def _is_one_way(part: Part, domains: tuple[tuple[str, Domain], ...]) -> bool:
    """Whether the kernel knows by itself what a part at one pair of neighbours loses in each order."""
    noise = part.mechanism
    if not (isinstance(part, OnePair) and part.query is not None and isinstance(noise, Translation)) or densities.even(noise):
        return False
    return convex_exponent.one_way(noise, part.query.rows[0][0], dict(domains)) is not None


def _left_out(part: Part, domains: tuple[tuple[str, Domain], ...]) -> list[frozenset[Part]]:
    """What a lower bound is not to look at, so that all the rest loses the most in one order of the neighbours, in every way there is.

    Of parts whose order is not known one alone can be looked at, and then nothing whose order is.
    """
    turned, ordered, inputs = set[Part](), set[Part](), False
    for one in (found.part for found in neighbours.leaves(part)):
        at_inputs = isinstance(one, OnePair) and one.query is None
        inputs = inputs or at_inputs
        if _is_one_way(one, domains):
            ordered.add(one)
        elif is_told(one) or (isinstance(one, OnePair) and not at_inputs and not densities.even(one.mechanism)):
            turned.add(one)
    for inner in _all(part):
        sample = isinstance(inner.mechanism, Subsample) and inner.mechanism.rate != ONE
        if sample and turned.isdisjoint(found.part for found in neighbours.leaves(inner)):
            ordered.add(inner)
    alone = [] if inputs else [frozenset((turned | ordered) - {one}) for one in turned]
    return [frozenset(turned), *alone] if inputs or ordered or not turned else alone


def _all(part: Part) -> Iterator[Part]:
    yield part
    for inner in parts_of(part.mechanism):
        yield from _all(inner)


def _about(value: Expr) -> float:
    try:
        return float(constant(value).mid())
    except DpverifyError:
        return 0.0


def _far_out(claim: Claim, side: str) -> Plan | None:
    """Evidence by the limit of a slope, where the exponent is convex."""
    return next((step for step in convex.propose(claim, 0) if step["evidence"].get("side", "upper") == side), None)


@dataclass(frozen=True, slots=True)
class _Search:
    """Looks for bounds on the parts of one claim."""

    proof: Proof
    domains: tuple[tuple[str, Domain], ...]
    premises: Premises

    def at_every_pair(self, place: Place, root: Part) -> Plan | None:
        """Evidence for an upper bound from all pairs of neighbours that several parts share."""
        try:
            parts = [at_pair.at(root, choice) for choice in candidates.choices(root)]
            plans = [
                {} if part is None else self.plan((*place, {"choice": number}), part, ONE, "upper") for number, part in enumerate(parts)
            ]
        except DpverifyError:
            return None  # the sum of the parts' own bounds
        return None if None in plans else shared(plans)

    def at_one_pair(self, root: Part, extra: Sequence[Choice] = ()) -> Plan | None:
        """A step for a lower bound, from about the worst pair of neighbours."""
        side = "lower"
        best: tuple[float, Plan] | None = None
        for choice, part, left_out, backward in _ways(root, self.domains, extra):
            pair = at_pair.written(choice)
            try:
                plan = {} if part is None else self.plan(({"pair": pair},), part, ONE, side, left_out)
                if plan is None:
                    continue
                step = _step({"side": side, "neighbours": pair, "part": plan} | ({"backward": True} if backward else {}))
                says = self.proof.infer(rule.NAME, (), step["evidence"], step["premises"]).says
                found = as_bounds(says)[0]
                height = math.inf if isinstance(found.value, Infinite) else _about(found.value)
            except DpverifyError:
                continue
            if best is None or height > best[0]:
                best = height, step
        return None if best is None else best[1]

    def _of_parts(self, place: Place, parts: Sequence[Part], factor: Expr, side: str, left_out: frozenset[Part]) -> Plan | None:
        """Evidence for all parts; from below for those that have some, the others not looked at."""
        plans: list[Any] = []
        for i, inner in enumerate(parts):
            try:
                plans.append(self.plan((*place, {"part": i}), inner, factor, side, left_out))
            except DpverifyError:
                if side == "upper":
                    raise
                plans.append(None)
        if side == "lower" and any(plan not in (None, NOTHING) for plan in plans):
            plans = [NOTHING if plan is None else plan for plan in plans]
        return None if None in plans else {"parts": plans}

    def _best_of(self, place: Place, best: BestOf, factor: Expr, side: str) -> Plan | None:
        """Evidence for the best of some runs: from below where no more of a run is known than a pure epsilon."""
        known: Plan = {"gamma": str(best_of.gamma(best.numbers[0], side))} if best.law == "logarithmic" else {}
        if side == "lower":
            return known if factor == ONE and best_of.is_attained(best, self.domains) else None
        inside = (*place, {"part": 0})
        if factor == ONE and neighbours.together(best.part, linked=True, alone=True):
            found = self.at_every_pair(inside, best.part)
            if found is not None:
                return {"part": {"neighbours": found}, **known}
        one = self.plan(inside, best.part, factor, side)
        return None if one is None else {"part": one, **known}

    def plan(self, place: Place, part: Part, factor: Expr, side: str, left_out: frozenset[Part] = frozenset()) -> Any:
        """Evidence for a part: facts where its leaves are; None where there is none."""
        mechanism = part.mechanism
        if part in left_out:
            return NOTHING
        if isinstance(mechanism, Compose | Parallel):
            if isinstance(mechanism, Parallel) and not certainly_le(factor, ONE, dict(self.domains)):
                factor, place = ONE, (*place, ONE_STEP)
            return self._of_parts(place, mechanism.parts, factor, side, left_out)
        if isinstance(mechanism, Repeat):
            return self.plan((*place, {"part": 0}), mechanism.part, factor, side, left_out)
        if isinstance(mechanism, PostProcess):
            return None if side == "lower" else self.plan((*place, {"part": 0}), mechanism.part, factor, side, left_out)
        if isinstance(mechanism, Group | Lipschitz):
            times = mechanism.size if isinstance(mechanism, Group) else mechanism.constant
            if certainly_le(times, ZERO, dict(self.domains)):
                return {}
            return self.plan((*place, {"part": 0}), mechanism.part, mul(factor, times), side, left_out)
        if isinstance(mechanism, Subsample):
            if mechanism.rate == ZERO:
                return {}
            inside = (*place, {"part": 0})
            if side == "lower" and factor != ONE:  # far out every record in the sample does the same to the ratio of probabilities
                return replace(self, premises=_far_out).plan(inside, mechanism.part, ONE, side, left_out)
            if side == "upper" and neighbours.together(mechanism.part, linked=True, alone=True):
                found = self.at_every_pair(inside, mechanism.part)
                if found is not None:
                    return {"sampled": found}
            return self.plan(inside, mechanism.part, ONE, side, left_out)
        if isinstance(mechanism, BestOf):
            return self._best_of(place, mechanism, factor, side)
        if isinstance(part, OnePair) and part.query is None:
            return {}  # two rows: nothing is to be found
        if factor == ONE and _is_one_way(part, self.domains):
            return {}
        try:
            asked = leaf(Run(part, factor), self.domains)
        except Undecided:
            if not isinstance(mechanism, Selection | Shuffle):
                raise
            once = self.plan((*place, ONE_STEP), part, ONE, side, left_out) if side == "upper" else None
            return None if once is None else {ONE_STEP: once}
        step = self.premises(asked, side)
        return None if step is None else bound(self.proof, place, step)
