"""Finds the curve of a mechanism, a rule for every node, and the epsilon at which it passes a delta."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from statistics import NormalDist
from typing import TYPE_CHECKING

from flint import arb

from dpverify.search.additive import asymptotics, hints
from dpverify.search.composition import best_of, closed_epsilon, combination, shares, stated_guarantee
from dpverify.search.composition import loss_distribution as losses
from dpverify.search.composition import plans as building
from dpverify.search.composition import shuffling as shuffles
from dpverify.search.composition.combination import shared
from dpverify.search.composition.plans import COMPOSITIONS, Plan
from dpverify.search.curves import every_shift, smooth_curve, sums
from dpverify.search.finite import finite_rows, kernel_pair
from dpverify.search.kinds import curve_rules
from dpverify.search.later import Later
from dpverify.search.numeric import number, vectorised
from dpverify.search.processes import norms as processes
from dpverify.search.selection import curves as selection_delta
from dpverify.search.selection import every_word, noisy_keys, stream_gaussians, words_of_streams
from dpverify.search.selection import votes as noisy_votes
from dpverify.trusted.combinators import at_pair, candidates, neighbours, one_pair
from dpverify.trusted.combinators import sums as summands
from dpverify.trusted.combinators.runs import Run, grouped, leaf, merged, reach
from dpverify.trusted.combinators.samples import samples
from dpverify.trusted.facts.orientation import facing
from dpverify.trusted.facts.pairs import Curve, Pair
from dpverify.trusted.kernel.balls import constant, exact, precision, rational
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import DpverifyError, Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, Num
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import (
    ONE_WAY,
    BestOf,
    Claim,
    Combinator,
    Compared,
    CorrelatedNoise,
    EllipticalProcess,
    Finite,
    Guarantee,
    Noise,
    NoisyKeys,
    NoisyVotes,
    Parallel,
    Part,
    Product,
    Radial,
    Selection,
    Shuffle,
    SmoothSensitivity,
    Stream,
    Subsample,
    Sum,
    Translation,
)
from dpverify.trusted.kernel.proof import Place, Proof
from dpverify.trusted.theories.composition import one_sided_tables
from dpverify.trusted.theories.composition.grid import MAX_CELLS
from dpverify.trusted.theories.composition.losses import MAX_CHOICES
from dpverify.trusted.theories.composition.rules import (
    bounded_range,
    closed_profile,
    finite_composition,
    gaussian_composition,
    group_privacy,
    loss_distribution,
    parallel_composition,
    poisson_subsampling,
    sampling_without_replacement,
    shuffling,
    single_part,
)
from dpverify.trusted.theories.composition.rules import independent_coordinates as product
from dpverify.trusted.theories.composition.rules import privacy_profile as rule
from dpverify.trusted.theories.curves.rules import correlated_gaussians, gaussian, lattice, line, pure_guarantee
from dpverify.trusted.theories.curves.rules import every_shift as shifts
from dpverify.trusted.theories.curves.rules import finite_curve as finite
from dpverify.trusted.theories.curves.rules import gaussian_scale_mixture as scale_mixture
from dpverify.trusted.theories.curves.rules import least_curve as least
from dpverify.trusted.theories.curves.rules import lipschitz_exponent as gauge
from dpverify.trusted.theories.curves.rules import radial_caps as spherical_caps
from dpverify.trusted.theories.processes.evaluations import rank
from dpverify.trusted.theories.processes.norms import is_finite
from dpverify.trusted.theories.processes.rules import elliptical_process, process_evaluations
from dpverify.trusted.theories.processes.seen_in_cells import MOST_RINGS
from dpverify.trusted.theories.selection.compared import asked
from dpverify.trusted.theories.selection.rules import first_positive as delta_first_positive
from dpverify.trusted.theories.selection.rules import greatest_noise as delta_greatest
from dpverify.trusted.theories.selection.rules import selection_event as delta_event

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

Premises = Callable[[Claim], Plan | None]
"""Evidence for an upper bound on the pure epsilon of a single mechanism, where one is found."""

_FIRST_BITS = 64
_WORDS_BITS = 128
_NO_LOG = 1e9
"""What stands for minus the logarithm of 0."""
_GUARD_BITS = 36
_DRAWN_CELLS = 1 << 11
"""Cells of a part's grid that a picture shows."""
_GRID_DIGITS = range(3, 9)
"""A grid has a fifth of the digits that are asked for: its length doubles with every three tenths of a digit."""
_TOLD: dict[str, Callable[[Run], Plan]] = {
    line.NAME: lambda run: hints.on_line(run.part.mechanism, reach(run)),
    lattice.NAME: lambda run: hints.on_integers(run.part.mechanism),
    spherical_caps.NAME: lambda run: hints.along_axis(run.part.mechanism, reach(run)),
    product.NAME: lambda run: hints.of_product(run.part.mechanism, reach(run)),
    gauge.NAME: lambda run: hints.of_gauge(run.part.mechanism, reach(run), run.part.query is None),
}
"""What rules are told beside the noise."""
_MOST_EVALUATED = 6000
_MOST_CHOSEN = 200
"""Products of lists of masses of which the greatest is taken."""
_LONGEST_CHOSEN = 1 << 13
"""Losses that a composition is spread over where the greatest is taken again and again."""
_FREE_DIGITS = 5
"""For more digits a grid may have more places than otherwise."""
_IN_ALL = 100_000
"""Cells of the grids of all parts of a composition of many, for three digits; as many times more for each further digit as halve them."""
_EVALUATED = {
    spherical_caps.NAME: 128,
    loss_distribution.NAME: 1500,
    finite_composition.NAME: 1000,
    scale_mixture.NAME: 400,
    elliptical_process.NAME: 400,
    process_evaluations.NAME: 400,
    product.NAME: 2000,
    line.NAME: 2000,
    shifts.NAME: 48,
    delta_greatest.NAME: 400,
    delta_first_positive.NAME: 1000,
    shuffling.NAME: 400,
}
"""Rules whose profiles are slow to evaluate, with the most cells of a grid that one may have."""
_PLACES_INSIDE = 8
"""Of a nat."""
_MOST_WORK_INSIDE = 4000
"""Of a composition of finite mechanisms for one epsilon, where a grid takes thousands."""
_GUESSES = (1e-12, 1e-24, 1e-48, 1e-96)
_SLOW = 1000
_HIGH = 300
"""A dimension from which a curve by caps is tried out first."""
_MOST_LONG = 12
_MOST_WHOLE = 64
_MOST_ROWS = 64
"""Pairs of rows of which the worst for a sample, or in one order, is looked for."""
_HALF = 96
"""Intervals on each side of the middle, in which values of a process are seen."""
_WEIGHED = 1000
_DEVIATIONS = 20
"""How far out the probabilities of integers are looked at for the shift that loses most."""
_FAR, _LARGEST = 10**4, 10**12
"""Epsilons up to which a delta is looked for: the first for all, the second where the first does not do."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a curve is wanted for: the claimed epsilon and delta as floats, None where they are to be found, and digits.

    guess: about the delta that parts inside are to be sharp at, where none is claimed. inside: the curve is for a grid, which takes
    thousands of epsilons. drawn: it is for a picture, which takes fewer. order: of neighbours, where one alone is claimed. worse: of two
    orders of the neighbours only the worse one counts.
    """

    epsilon: float | None
    delta: float | None
    digits: int
    premises: Premises
    guess: float = 1e-6
    inside: bool = False
    drawn: bool = False
    order: str = ""
    worse: bool = False


def drawn(claim: Claim, digits: int, premises: Premises) -> Plan:
    """A plan for the curve of a claim's mechanism as a picture shows it, aimed at what is claimed. Raises Undecided where none is known."""
    epsilon = None if claim.epsilon is None else float(constant(claim.epsilon))
    delta = float(constant(claim.delta)) if epsilon is None and claim.delta not in (None, ZERO) else None
    target = Target(epsilon, delta, digits, premises, drawn=True)
    with precision(_FIRST_BITS):
        return _of(Part(claim.mechanism, claim.sensitivity, claim.query, claim.adjacency), target)


def propose(claim: Claim, digits: int, premises: Premises) -> list[Plan]:
    """Steps for both sides of the tight delta at the claimed epsilon, or of the tight epsilon at the claimed delta."""
    if claim.domains:
        raise Undecided("curves want a value for every parameter; claim one value at a time.")
    epsilon = None if claim.epsilon is None else float(constant(claim.epsilon))
    delta = None if claim.delta is None else float(constant(claim.delta))
    guess, order = 1e-6 if delta is None else delta, claim.order
    target = Target(epsilon, delta, digits, premises, guess=guess, order=order, worse=not order)
    bits = max(_FIRST_BITS, int(3.33 * digits) + _GUARD_BITS)
    with precision(bits):
        root = Part(claim.mechanism, claim.sensitivity, claim.query, claim.adjacency)
        plan = _of(root, target)
        if delta is None and _is_nested(plan):
            plan = _sharpened(root, plan, target)
        proof = Proof(claim)
        known, asked = _told(proof, plan)
        at = None if claim.epsilon is None else constant(claim.epsilon)
        if at is None and claim.delta not in (None, ZERO) and _tells_a_row(plan) is not None:
            found = _inverse(asked, constant(claim.delta), digits)
            at = rational(Fraction(found["upper"])) if "upper" in found else None
        if at is not None and (other := _with_worst_row(proof, plan, at)) != plan:
            plan = other
            known, asked = _told(proof, plan)
        step: Plan = {"rule": rule.NAME, "premises": [known], "prec": bits}
        steps: list[Plan] = []
        if claim.epsilon is not None:
            closed: Plan = {"rule": closed_profile.NAME, "evidence": {}}
            steps += [closed] if _accepts(proof, closed_profile.NAME) else []
            steps.append({**step, "evidence": {"delta": True}})
        if claim.delta not in (None, ZERO):
            # beside what is asked only where evaluations are quick
            quick = cells(asked) > _SLOW
            found = _at_a_delta(Run(root), plan, asked, constant(claim.delta), digits) if claim.epsilon is None or quick else {}
            steps += [{**step, "evidence": found}] if found or claim.epsilon is None else []
            closed_ones = closed_epsilon.propose(claim, Fraction(found.get("upper", 0))) if found or claim.epsilon is None else []
            steps += [*closed_ones, *([{**step, "evidence": {"lower": "0"}}] if closed_ones and not found else [])]
        return [*steps, *_budget(claim, root, target)]


def _told(proof: Proof, plan: Plan) -> tuple[Fact, Curve]:
    """The curve by a plan, and the curve of the order of neighbours that is claimed."""
    known = building.fact(proof, (), plan)
    return known, rule.in_the_order(proof.claim, rule.curve_of_claim(proof.claim, {}, [known])[0])


def _tells_a_row(plan: Plan) -> int | None:
    """The pair of rows that a plan names for the lower bound of one finite mechanism, run so many times, by itself or in samples."""
    if "part" in plan:
        return _tells_a_row(plan["part"])
    rows = [plan["row"]] if "row" in plan else plan.get("rows", [])
    return rows[0] if len(rows) == 1 else None


def _with_row(plan: Plan, row: int) -> Plan:
    if "part" in plan:
        return {**plan, "part": _with_row(plan["part"], row)}
    return {**plan, **({"row": row} if "row" in plan else {"rows": [row]})}


def _with_worst_row(proof: Proof, plan: Plan, at: arb) -> Plan:
    """The plan with the pair of rows that is the worst at an epsilon in the order that is claimed, where it names one."""
    named = _tells_a_row(plan)
    if named is None:
        return plan
    heights = dict[int, arb]()
    with suppress(DpverifyError):  # there are no more
        for row in range(_MOST_ROWS):
            lower = _told(proof, _with_row(plan, row))[1].lower
            heights |= {} if lower is None else {row: lower.worst(at)}
    top = max(heights.values(), key=lambda height: height.mid(), default=None)
    tied = [row for row, height in heights.items() if top is not None and height.overlaps(top)]
    return plan if not tied or named in tied else _with_row(plan, tied[0])


def listed(claim: Claim, digits: int) -> list[Plan]:
    """As of `propose`, over the pairs of tables as they are listed; none where they are not listed in one order."""
    bits, steps = max(_FIRST_BITS, int(3.33 * digits) + _GUARD_BITS), list[Plan]()
    with precision(bits):
        curves = listed_curves(claim)
        pairs = [(number, facing(claim, curve.lower)) for number, curve in enumerate(curves) if curve.lower is not None]
        if not pairs:
            return []
        at = rational(Fraction(0)) if claim.epsilon is None else constant(claim.epsilon)
        if claim.epsilon is not None:
            number, _ = max(pairs, key=lambda pair: float(pair[1].forward(at).mid()))
            steps.append({"rule": rule.NAME, "evidence": {"pair": number, "delta": True}, "prec": bits})
        if claim.delta not in (None, ZERO):
            assert claim.delta is not None
            delta = constant(claim.delta)
            for number, pair in pairs:
                upper = facing(claim, curves[number].upper or pair)
                found = _inverse(Curve(upper.one_way, pair.one_way, ()), delta, digits)
                steps.append({"rule": rule.NAME, "evidence": {"pair": number, **found}, "prec": bits})
    return steps


def listed_curves(claim: Claim) -> list[Curve]:
    """The curve over the pairs of tables as they are listed, with each of these for its lower side."""
    if claim.domains or not claim.order:
        return []
    count = len(one_sided_tables.listed_pairs(Part(claim.mechanism, claim.sensitivity, claim.query, claim.adjacency)))
    try:
        return [one_sided_tables.curve(claim, number) for number in range(count)]
    except DpverifyError:
        return []


def _budget(claim: Claim, root: Part, target: Target) -> list[Plan]:
    """What the parts spend by themselves, for a composition."""
    runs = merged(root)
    if claim.delta in (None, ZERO) or (len(runs) == 1 and runs[0].times == 1):
        return []
    assert claim.delta is not None
    alone = replace(target, epsilon=None)
    try:
        with precision(_FIRST_BITS):
            delta = exact(constant(claim.delta).lower())
            return shares.propose(Proof(claim), runs, lambda run: _single(run, alone), partial(_simple, target), delta)
    except DpverifyError:
        return []


def _simple(target: Target, run: Run) -> Plan | None:
    """Evidence for the pure epsilon of a mechanism that is not made of parts."""
    return None if isinstance(run.part.mechanism, Combinator) and not isinstance(run.part.mechanism, BestOf) else _premise(run, target)


def _premise(run: Run, target: Target) -> Plan | None:
    """Evidence for the pure epsilon of a single mechanism."""
    return target.premises(leaf(run))


def _other(run: Run, target: Target) -> Plan | None:
    """Evidence for the pure epsilon of a part whose divergences are not known otherwise."""
    noise = run.part.mechanism
    if (isinstance(noise, Combinator | Guarantee) and not isinstance(noise, BestOf)) or gaussian.mu(noise, reach(run).upper) is not None:
        return None
    with suppress(DpverifyError):
        bounded_range.range_of(run)  # its divergences are known by the range of its loss
        return None
    return _premise(run, target)


def _is_nested(plan: Plan, inside: bool = False) -> bool:
    """Whether a composition by privacy-loss distributions lies inside another rule."""
    below = [*plan.get("parts", []), *([plan["part"]] if "part" in plan else [])]
    if plan.get("rule") == neighbours.NAME:
        above, lower = plan["above"], plan.get("below", {})
        same = [*above.get("plans", []), *([above["curve"]] if "curve" in above else []), *([lower["curve"]] if "curve" in lower else [])]
        return any(_is_nested(part, inside) for part in same)
    return (inside and plan.get("rule") == loss_distribution.NAME) or any(_is_nested(part, True) for part in below)


def _sharpened(root: Part, plan: Plan, target: Target) -> Plan:
    """The plan with compositions inside sharp enough for the delta that there is at the claimed epsilon."""
    for guess in _GUESSES:
        try:
            curve = building.curve(Run(root), plan)
            if curve.upper is not None and curve.upper.worst(rational(Fraction(target.epsilon or 0))) > target.guess:
                return plan
        except DpverifyError:
            pass
        target = replace(target, guess=guess)
        plan = _of(root, target)
    return plan


def _accepts(proof: Proof, name: str) -> bool:
    try:
        proof.infer(name)
    except DpverifyError:
        return False
    return True


# -- a rule for every node ---------------------------------------------------------------------------


def _of(part: Part, target: Target) -> Plan:
    """Evidence for the curve of a part: at one pair of neighbours at a time where several parts share them. Raises Undecided."""
    if not neighbours.together(part, linked=False) and not any(leaf.several for leaf in neighbours.leaves(part)):
        return _plan(Run(part), target)
    if not isinstance(part.mechanism, Combinator):
        with suppress(DpverifyError):  # where one coordinate alone is the worst
            return _accepted(part, _plan(Run(part), target), both=False)
    for name in COMPOSITIONS:
        with suppress(DpverifyError):
            return _accepted(part, {"rule": name}, both=name == gaussian_composition.NAME)
    choices: tuple[one_pair.Choice, ...] = ()
    plans: list[Plan] = []
    try:
        choices = candidates.choices(part)
        plans = _plans([at_pair.at(part, choice) for choice in choices], target)
        found: Plan = {"rule": neighbours.NAME, "above": shared(plans)}
        upper = building.curve(Run(part), found)
    except DpverifyError:
        choices = ()
        found = {"rule": neighbours.NAME, "above": {"curve": _plan(Run(part), target)}}
        upper = building.curve(Run(part), found)
    at = _worst_at(upper, target)
    best: tuple[float, Plan] | None = None
    for below in _belows(part, choices, target):
        try:
            lower = building.curve(Run(part), {**found, "below": below}).lower
            height = -1.0 if lower is None else float(lower.worst(at).mid())
        except DpverifyError:
            continue
        if lower is not None and (best is None or height > best[0]):
            best = height, below
    return found if best is None else {**found, "below": best[1]}


def _accepted(part: Part, plan: Plan, both: bool) -> Plan:
    """The plan, where its two bounds are one, or where it gives both and that is enough. Raises Undecided where it does not."""
    found = building.curve(Run(part), plan)
    if not found.exact and not (both and found.lower is not None):
        raise Undecided("its bounds are not one.")
    return plan


def _plans(parts: Sequence[Part | None], target: Target) -> list[Plan]:
    """Evidence for the curve at every choice. Raises Undecided where there are many that each take long."""
    plans: list[Plan] = []
    for part in parts:
        plan: Plan = {} if part is None else _plan(Run(part), target)
        if len(parts) > _MOST_LONG and _is_nested(plan, inside=True):
            raise Undecided("there are many pairs of neighbours, and the curve of each takes long.")
        plans.append(plan)
    return plans


def _worst_at(curve: Curve, target: Target) -> arb:
    """The epsilon at which the pair of neighbours for the lower bound is to be the worst one."""
    if target.epsilon is not None:
        return rational(Fraction(target.epsilon))
    with suppress(DpverifyError), precision(_FIRST_BITS):
        found = None if curve.upper is None else _passes(curve.upper, rational(Fraction(target.delta or target.guess)), 4, 1)
        return rational(found or Fraction(0))
    return arb(0)


def _belows(part: Part, choices: Sequence[one_pair.Choice], target: Target) -> Iterator[Plan]:
    """Evidence for lower bounds: at each of the pairs that the upper bound looks at, or at others."""
    with suppress(DpverifyError):  # behind a map that takes neighbours steps apart that are not whole there is none
        same = [at_pair.at(part, choice) == at_pair.at(part, choice, lower=True) for choice in choices]
        if choices and all(same) and all(at_pair.are_neighbours(part, choice) for choice in choices):
            yield from ({"choice": number} for number in range(len(choices)))
            return
    for choice in combination.likely(part)[:_MOST_LONG]:
        with suppress(DpverifyError):
            one = at_pair.at(part, choice, lower=True)
            yield {"at": at_pair.written(choice), "curve": {} if one is None else _plan(Run(one), target)}


def _plan(whole: Run, target: Target) -> Plan:
    """A plan for the curve of all that a run comes to. Raises Undecided with what stopped it."""
    runs = merged(whole.part, whole.factor)
    if len(runs) == 1 and runs[0].times == 1:
        found = _single(runs[0], target)
        return {"rule": single_part.NAME, "part": found} if found["rule"] == neighbours.NAME else found
    apart = any(map(_has_coordinates, runs))
    for name in COMPOSITIONS:
        plan: Plan = {"rule": name}
        try:
            if name == finite_composition.NAME:
                most = _MOST_WORK_INSIDE if target.inside else finite_rows.MOST_WORK
                plan |= finite_rows.parameters(runs, _place(target), most)
            curve = building.curve(whole, plan)
        except DpverifyError:
            continue
        return plan if curve.exact or not apart else _less(whole, plan, curve, runs, target)
    if any(isinstance(run.part.mechanism, Guarantee) and run.part.mechanism.measure in ("zcdp", "renyi") for run in runs):
        try:
            return stated_guarantee.composition_plan(runs, [_other(run, target) for run in runs], target.epsilon, target.delta)
        except DpverifyError:
            pass  # a part has no divergence: the pairs compose
    return _distribution(runs, target)


def _less(whole: Run, plan: Plan, curve: Curve, runs: Sequence[Run], target: Target) -> Plan:
    """A plan whose curve is not exact; or that of the curves of the parts, where its upper bound is less."""
    with suppress(DpverifyError):
        other, at = _distribution(runs, target), _worst_at(curve, target)
        upper = building.curve(whole, other).upper
        if upper is not None and (curve.upper is None or upper.worst(at) < curve.upper.worst(at)):
            return other
    return plan


def _distribution(runs: Sequence[Run], target: Target) -> Plan:
    """A plan that composes the curves of the parts. Raises Undecided where one has none from above."""
    total = sum(run.times for run in runs)
    share = replace(
        target,
        epsilon=None if target.epsilon is None else target.epsilon / total,
        delta=None if target.delta is None else target.delta / total,
        inside=True,
        worse=False,
    )
    plans = [_single(replace(run, times=1), share) for run in runs]
    curves = [building.curve_of_one(replace(run, times=1), plan) for run, plan in zip(runs, plans, strict=True)]
    for i, run in enumerate(runs):
        if cells(curves[i]) < _MOST_EVALUATED:
            plans[i] = _coarse(plans[i])
            curves[i] = building.curve_of_one(replace(run, times=1), plans[i])
    pairs = [curve.upper for curve in curves if curve.upper is not None]
    if len(pairs) < len(runs):
        raise Undecided("a part has no upper bound on its curve, so their composition has none.")
    times = [run.times for run in runs]
    stand_ins = [_stand_in(run, plan, curve, pair) for run, plan, curve, pair in zip(runs, plans, curves, pairs, strict=True)]
    evaluated = min(map(cells, curves))
    below = [curve.lower for curve in curves if curve.lower is not None]
    lowers = [pair if curve.lower is None else curve.lower for curve, pair in zip(curves, pairs, strict=True)]
    found: Plan = {"rule": loss_distribution.NAME, "parts": plans}
    kinds = [curve.rules for curve in curves]
    orders, both = {"grid": (pairs, stand_ins, lowers, below)}, False
    if not all(pair.forward is pair.backward for pair in (*pairs, *lowers)):
        turned = [[pair.reversed for pair in listed] for listed in orders["grid"]]
        orders["reverse"] = turned[0], turned[1], turned[2], turned[3]
        worse = losses.worse_order(stand_ins, times, *_aim(target), kinds) if target.worse else None
        orders = orders if worse is None else {worse: orders[worse]}
        both = worse is not None

    def grids(chosen: bool) -> Plan:
        made: Plan = {}
        for key, (uppers, alike, others, known) in orders.items():
            made[key] = _grid(uppers, times, alike, others, evaluated, target, both, kinds, chosen)
            if len(known) == len(runs):
                known = losses.by_choices(uppers, known, times)[1] if chosen else known
                with suppress(DpverifyError):  # without, the lower bound is less sharp
                    made[key] = losses.touching(known, made[key])
        return made

    if chosen := _chosen(pairs, times):
        with suppress(Undecided):  # of lists that are too short
            return found | {"chosen": chosen} | grids(chosen=True)
    return found | grids(chosen=False)


def _chosen(pairs: Sequence[Pair], times: Sequence[int]) -> list[list[list[int]]]:
    """For each part its pairs, each in a group of its own; nothing where there is one for each, or to look at each takes too long."""
    states = math.prod(count + 1 for pair, count in zip(pairs, times, strict=True) if pair.choices)
    steps = states * sum(len(pair.choices) for pair in pairs)
    return [[[i] for i in range(len(pair.choices))] for pair in pairs] if 0 < steps <= _MOST_CHOSEN and states <= MAX_CHOICES else []


def _grid(
    pairs: Sequence[Pair],
    times: Sequence[int],
    stand_ins: Sequence[Pair],
    lowers: Sequence[Pair],
    evaluated: int,
    target: Target,
    both: bool,
    kinds: Sequence[tuple[str, ...]],
    chosen: bool,
) -> Plan:
    """The grid that is sharpest at the claimed delta, else at the claimed epsilon, else about a guess at delta."""
    epsilon, delta = _aim(target)
    digits = min(max(target.digits // 5, _GRID_DIGITS[0]), _GRID_DIGITS[-1])
    in_all = _IN_ALL * 10 ** ((digits - _GRID_DIGITS[0]) / 2) if len(pairs) > _MOST_LONG else math.inf
    more = 10 ** (max(0, digits - _FREE_DIGITS) / 2)
    longest = min(int((_LONGEST_CHOSEN if chosen else losses.MOST_CELLS) * more), MAX_CELLS)
    most = int(evaluated * more)
    found = losses.propose(pairs, times, epsilon, delta, digits, most, stand_ins, lowers, both, in_all, kinds, longest, chosen)
    return losses.coarser(found, _DRAWN_CELLS) if target.drawn else found


def _aim(target: Target) -> tuple[float | None, float | None]:
    """An epsilon or a delta that a grid is sharpest at."""
    epsilon = None if target.delta else target.epsilon
    return epsilon, None if epsilon is not None else target.delta or target.guess


def _coarse(plan: Plan) -> Plan:
    """The plan of a part with slow profiles evaluated at no more precision than a grid needs."""
    changed = dict(plan)
    if plan["rule"] in _EVALUATED:
        changed["prec"] = _FIRST_BITS
    if "part" in plan:
        changed["part"] = _coarse(plan["part"])
    if "parts" in plan and plan["rule"] != loss_distribution.NAME:
        changed["parts"] = [_coarse(below) for below in plan["parts"]]
    return changed


def curve_of(claim: Claim, digits: int, premises: Premises) -> Fact:
    """The curve of a claim's mechanism for epsilons of any size. Raises Undecided where none is known."""
    return curve_at(Proof(claim), (), digits, premises)


def curve_at(proof: Proof, place: Place, digits: int, premises: Premises) -> Fact:
    """The same of what is at a place."""
    with precision(_FIRST_BITS):
        return building.fact(proof, place, _of(proof.places.run(place).part, Target(None, None, digits, premises)))


def cells(curve: Curve) -> int:
    """The most cells that a part's grid may have, by the slowest rule that its profile rests on."""
    if curve.rules[:2] == (finite_composition.NAME, poisson_subsampling.NAME):
        return _MOST_EVALUATED  # of samples products are looked at, seldom choices
    return min(_EVALUATED.get(name, _MOST_EVALUATED) for name in curve.rules)


def _stand_in(run: Run, plan: Plan, curve: Curve, pair: Pair) -> Pair:
    """For a pair that is slow to evaluate a Gaussian one with the same total variation: enough to choose a grid by.

    Not where noise has an end, which puts much mass at single losses: the grid is to have them.
    """
    noises = [leaf.part.mechanism for leaf in neighbours.leaves(run.part)]
    ended = any(isinstance(noise, Translation) and noise.support != (None, None) for noise in noises)
    if ended or cells(curve) == _MOST_EVALUATED:
        return pair
    mechanism = run.part.mechanism
    if isinstance(mechanism, Subsample) and mechanism.scheme == "poisson" and plan["rule"] == poisson_subsampling.NAME:
        below = merged(mechanism.part)
        if len(below) == 1 and below[0].times == 1:
            inner = building.curve_of_one(below[0], plan["part"])
            if inner.upper is not None:
                return poisson_subsampling.sampled(_stand_in(below[0], plan["part"], inner, inner.upper), mechanism.rate)
    with precision(_FIRST_BITS):
        distance = min(max(float(pair.worst(arb(0)).mid()), 1e-9), 1 - 1e-9)
    return gaussian.pair(Num(Fraction(2 * NormalDist().inv_cdf((1 + distance) / 2)).limit_denominator(10**12)))


def _single(run: Run, target: Target) -> Plan:
    mechanism, target = run.part.mechanism, replace(target, worse=False)
    if isinstance(mechanism, Subsample):
        if not certainly_le(run.factor, ONE):
            return _group(run, target)
        inner = merged(mechanism.part)
        below = _of(mechanism.part, _below_sample(mechanism, inner, target))
        name = poisson_subsampling.NAME if mechanism.scheme == "poisson" else sampling_without_replacement.NAME
        return {"rule": name, "part": below}
    if isinstance(mechanism, BestOf):
        if not certainly_le(run.factor, ONE):
            return _group(run, target)
        return _best_of(run, mechanism, target)
    if isinstance(mechanism, Parallel):
        if not certainly_le(run.factor, ONE):
            return _group(run, target)
        return _parallel(run, mechanism, target)
    if isinstance(mechanism, Guarantee) and mechanism.measure == "renyi" and not certainly_le(run.factor, ONE):
        return _group(run, target)
    if isinstance(mechanism, Selection) and _not_followed(run):
        return _group(run, target)
    if isinstance(mechanism, Compared):
        every = target.inside or target.drawn
        # what is repeated is to be told apart at all
        epsilon, delta = (target.epsilon or 0.0, None) if target.inside else (target.epsilon, target.delta)
        return selection_delta.plan(run, epsilon, delta, every, _premise(run, target))
    if isinstance(mechanism, Stream):
        return _of_a_stream(run, mechanism, target)
    if isinstance(mechanism, Shuffle):
        if not certainly_le(run.factor, ONE):
            return _group(run, target)
        one = (target.epsilon, target.delta) != (None, None) and not (target.inside or target.drawn)
        return shuffles.plan(run, target.epsilon, target.delta or target.guess, target.premises, one)
    if isinstance(mechanism, CorrelatedNoise):
        if mechanism.rate is None:
            return {"rule": correlated_gaussians.NAME}
        if not certainly_le(run.factor, ONE):
            return _group(run, target)
        return {"rule": correlated_gaussians.NAME, "part": _of(samples(run.part)[0], target)}
    if isinstance(mechanism, NoisyKeys):
        if not certainly_le(run.factor, ONE):
            return _group(run, target)
        return noisy_keys.plan(run, target.epsilon, target.delta or target.guess, lambda noises: _plan(noises, target), target.order)
    if isinstance(mechanism, NoisyVotes):
        digits = min(max(target.digits // 5, _GRID_DIGITS[0]), _GRID_DIGITS[-1])
        return noisy_votes.plan(run, target.epsilon, target.delta or target.guess, digits, target.order)
    if isinstance(mechanism, SmoothSensitivity):
        if not certainly_le(run.factor, ONE):
            return _group(run, target)
        with suppress(DpverifyError):
            return smooth_curve.plan(run, target.epsilon, target.delta or target.guess, target.inside)
    if _has_coordinates(run):
        with suppress(DpverifyError):
            return _in_coordinates(run, target)
    reasons = []
    for plan in _leaf_plans(run, target):
        try:
            curve = building.curve_of_one(run, plan)
            high = plan["rule"] == spherical_caps.NAME and isinstance(mechanism, Radial) and bool(constant(mechanism.dimension) >= _HIGH)
            if high and curve.upper is not None:  # its integrals may have no enclosure
                curve.upper.worst(rational(Fraction(target.epsilon or 0)))
        except DpverifyError as error:
            reasons.append(str(error))
            continue
        return _sharper(run, plan, curve, target)
    premise = _premise(run, target)
    if premise is not None:
        with suppress(DpverifyError):
            plan = kernel_pair.plan(run, premise, target.epsilon)
            building.curve_of_one(run, plan)
            return plan
        return {"rule": pure_guarantee.NAME, "premise": premise}
    raise Undecided(reasons[-1] if reasons else "no rule gives the privacy curve of this kind of mechanism.")


def _best_of(run: Run, best: BestOf, target: Target) -> Plan:
    """The curve of the best of some runs, by the pure epsilon of one or by its divergences, or by both. Raises Undecided."""
    premise, plans, reason = _premise(run, target), list[Plan](), ""
    if premise is not None:
        plans.append({"rule": pure_guarantee.NAME, "premise": premise})
    try:
        plan = best_of.curve_plan(best, target.epsilon, target.delta)
        building.curve_of_one(run, plan)
        plans.append(plan)
    except DpverifyError as error:
        reason = str(error)
    if not plans:
        raise Undecided(reason)
    return plans[0] if len(plans) == 1 else {"rule": least.NAME, "parts": plans}


def _has_coordinates(run: Run) -> bool:
    """Whether it is coordinates under a query, in a group that other parts are not in."""
    return run.own and not run.mapped and neighbours.Leaf(run.part).several


def _in_coordinates(run: Run, target: Target) -> Plan:
    """Coordinates in a group of their own, at one pair of its neighbours at a time. Raises Undecided."""
    plan = _of(grouped(run), target)
    if plan["rule"] != neighbours.NAME or "plans" not in plan["above"]:
        raise Undecided("its pairs of neighbours are not looked at.")
    building.curve_of_one(run, plan)
    return plan


def _not_followed(run: Run) -> bool:
    """Whether neighbours several steps apart are not known by how their answers move."""
    try:
        leaf(run)
    except Undecided:
        return not certainly_le(run.factor, ONE)
    return False


def _of_a_stream(run: Run, mechanism: Stream, target: Target) -> Plan:
    """All that may be told; or what Gaussian noises hide, and what is left by the pure epsilon; both where there are both."""
    with suppress(DpverifyError):
        return every_word.plan(run, target.epsilon, target.delta, target.inside or target.drawn)
    premise, parts = _premise(run, target), list[Plan]()
    if premise is not None and mechanism.neighbours not in ONE_WAY:
        parts.append({"rule": pure_guarantee.NAME, "premise": premise})
    reasons = ["no rule gives the privacy curve of this stream: no shifts of Gaussian noises hide what its answers move by in every step."]
    at, hidden = rational(Fraction(target.epsilon or 0)), list[tuple[arb, Plan]]()
    for plan in stream_gaussians.plans(run):
        try:
            curve = building.curve_of_one(run, plan)
        except DpverifyError as error:
            reasons.insert(0, str(error))
            continue
        if curve.exact:
            return plan
        if curve.upper is not None:
            hidden.append((curve.upper.worst(at), plan))
    parts += [plan for _, plan in sorted(hidden, key=lambda one: float(one[0].upper()))[:1]]
    below = [] if target.drawn or target.inside else list(_words(run, target))
    if not parts + below:
        raise Undecided(reasons[0])
    if len(parts + below) == 1:
        return (parts + below)[0]
    return {"rule": least.NAME, "parts": parts + below, **({"below": len(parts)} if below else {})}


def _words(run: Run, target: Target) -> Iterator[Plan]:
    """Words that tell two neighbours apart, as far as they are found."""
    with suppress(DpverifyError):
        question = asked(leaf(run), {"side": "lower"}, delta_event.NAME, near=True, wanted=Stream)
        for found in words_of_streams.at_delta(question, target.epsilon or 0.0):
            plan = {"rule": delta_event.NAME, **found, "prec": _WORDS_BITS}
            building.curve_of_one(run, plan)
            yield plan


def _sharper(run: Run, plan: Plan, curve: Curve, target: Target) -> Plan:
    """The plan; or that of the hidden variance, where noise with a Lipschitz exponent has one and it is sharper."""
    if plan["rule"] != "lipschitz-exponent" or curve.exact or not isinstance(run.part.mechanism, Radial):
        return plan
    at, other = rational(Fraction(target.epsilon or 0)), {"rule": scale_mixture.NAME}
    with suppress(DpverifyError):
        upper = building.curve_of_one(run, other).upper
        if upper is not None and (curve.upper is None or upper.worst(at) < curve.upper.worst(at)):
            return other
    return plan


def _leaf_plans(run: Run, target: Target) -> Iterator[Plan]:
    """Rules for the curve of a single mechanism, the sharpest first."""
    noise = run.part.mechanism
    if isinstance(noise, Finite):
        row: Plan = {}
        with suppress(DpverifyError):  # the rule says why
            row = finite_rows.row(run, _place(target))
        yield {"rule": finite.NAME, **row}
    elif isinstance(noise, Guarantee):
        yield stated_guarantee.leaf_plan(run, target.epsilon, target.delta)
    elif isinstance(noise, Noise):
        for name in curve_rules(noise):
            if isinstance(noise, EllipticalProcess) and (noise.differences or name != elliptical_process.NAME):
                yield from _of_a_process(name, run, noise, target)
                continue
            if name == shifts.NAME:
                yield from _at_every_shift(run, target)
                continue
            told: Plan = {}
            with suppress(DpverifyError):  # what it would be told is not found: it may do without
                told = _TOLD[name](run) if name in _TOLD else {}
            if isinstance(noise, Radial | Product) and name in (gauge.NAME, product.NAME):
                told = told | asymptotics.evidence(noise)
            yield {"rule": name, **told}
            if name == lattice.NAME:
                with suppress(DpverifyError, ValueError, OverflowError):
                    yield {"rule": name, "any": True, **_worst_whole_shift(run, target)}
                yield {"rule": name, "any": True}


def _of_a_process(name: str, run: Run, noise: EllipticalProcess, target: Target) -> Iterator[Plan]:
    """Under declared differences: how their norms are derived, and whether evaluations are taken for t noise."""
    if name == process_evaluations.NAME:
        yield {"rule": name, "exactly": True}
        with suppress(DpverifyError, ValueError, OverflowError):
            yield {"rule": name, **_cells(run, noise)}
        yield {"rule": name}
    elif noise.differences and not is_finite(noise):
        with precision(_FIRST_BITS * 2):
            yield {"rule": name, "sensitivity": processes.derivations(noise, target.digits)}


def _cells(run: Run, noise: EllipticalProcess) -> Plan:
    """Cells in which values of a process are seen whose variance has several values: a few to each deviation, as far as masses go."""
    if len(noise.atoms) < 2 or not is_finite(noise):
        return {}
    deviations = [math.sqrt(number(v)) for v, _ in noise.atoms]
    far, coordinates = 9 * max(deviations) + number(reach(run).lower) / number(noise.scale) / 2, rank(noise)
    width = Fraction(far / _HALF).limit_denominator(1000)
    middles = [sqrt * math.sqrt(coordinates - 1) for sqrt in deviations]
    spread = sorted({max(at + k * sqrt / 4, 0.0) for at, sqrt in zip(middles, deviations, strict=True) for k in range(-10, 11)})
    rings = sorted({Fraction(at).limit_denominator(1000) for at in spread if at > 0.01})[:MOST_RINGS] if coordinates > 1 else []
    return {"cells": {"width": str(width), "half": _HALF, "rings": list(map(str, rings))}}


def _at_every_shift(run: Run, target: Target) -> Iterator[Plan]:
    with suppress(DpverifyError):
        yield every_shift.plan(run, target.epsilon, target.delta, rough=target.inside or target.drawn)


def _worst_whole_shift(run: Run, target: Target) -> Plan:
    """The shift at which noise on the integers loses most, about, where that is not the whole one and answers may move by less."""
    most = math.floor(number(reach(run).lower) + 1e-9)
    noise = run.part.mechanism
    if not isinstance(noise, Translation | Sum) or run.part.query is not None or not 1 < most <= _MOST_WHOLE:
        return {}
    if isinstance(noise, Sum):
        weights = np.array(sums.table(summands.least(noise)[0], _DEVIATIONS, 2 * _WEIGHED)[1])
    else:
        (low, high), places = noise.support, np.arange(-_WEIGHED, _WEIGHED + 1)
        weights = np.nan_to_num(vectorised(noise.density, "z")(places.astype(float)))
        weights[(places < (-math.inf if low is None else number(low))) | (places > (math.inf if high is None else number(high)))] = 0
    weights = np.concatenate([np.zeros(most), weights / weights.sum(), np.zeros(most)])

    def heights(epsilon: float) -> list[float]:
        """The divergence at each shift, in the worse direction."""
        factor = math.exp(epsilon)
        return [max(float(np.maximum(weights - factor * np.roll(weights, s), 0).sum()) for s in (k, -k)) for k in range(1, most + 1)]

    low_end, high_end = (target.epsilon,) * 2 if target.epsilon is not None else (0.0, 64.0)
    while high_end - low_end > 1e-3:  # about where the greatest of them passes delta
        middle = (low_end + high_end) / 2
        low_end, high_end = (middle, high_end) if max(heights(middle)) > (target.delta or target.guess) else (low_end, middle)
    # in a composition the mean losses count, which are as the areas under the curves
    found = heights(low_end) if not target.inside else [sum(column) for column in zip(*map(heights, np.arange(0, 8, 0.125)), strict=True)]
    at = max(range(most), key=lambda k: found[k])
    return {"at": at + 1} if found[at] > found[-1] * (1 + 1e-9) else {}


def _place(target: Target) -> Fraction:
    """Where finite mechanisms are to be at their worst; inside a composition only about there, so that claims near each other share it."""
    at = Fraction(0 if target.epsilon is None else target.epsilon)
    return Fraction(round(at * _PLACES_INSIDE), _PLACES_INSIDE) if target.inside else at.limit_denominator(10**6)


def _below_sample(mechanism: Subsample, inner: Sequence[Run], target: Target) -> Target:
    """What the sampled part is wanted for: finite ones at the epsilon that the sampled one comes to, others about a delta."""
    rate = float(constant(mechanism.rate))
    delta = None if target.delta is None or rate == 0 else min(target.delta / rate, 1.0)
    finite_ones = all(isinstance(run.part.mechanism, Finite | Compared) for run in inner)
    known = finite_ones and target.epsilon is not None and rate > 0
    epsilon = math.log1p(math.expm1(min(target.epsilon or 0.0, 700.0)) / rate) if known else None
    return replace(target, delta=delta, epsilon=epsilon)


def _parallel(run: Run, mechanism: Parallel, target: Target) -> Plan:
    plans = [_of(part, target) if run.factor == ONE else _plan(Run(part, run.factor), target) for part in mechanism.parts]
    curves = [building.curve(Run(part, run.factor), plan) for part, plan in zip(mechanism.parts, plans, strict=True)]
    at = rational(Fraction(0 if target.epsilon is None else target.epsilon))
    heights = [arb(-1) if curve.lower is None else curve.lower.worst(at) for curve in curves]
    index = max(range(len(curves)), key=lambda i: float(heights[i].mid()))
    return {"rule": parallel_composition.NAME, "parts": plans, "index": index}


def _group(run: Run, target: Target) -> Plan:
    """The part's epsilon for which the group's guarantee is as wanted."""
    size = group_privacy.steps(run.factor)
    alone = Run(run.part)
    below = _single(alone, replace(target, epsilon=None if target.epsilon is None else target.epsilon / size))
    if target.epsilon is not None:
        chosen = Fraction(target.epsilon / size).limit_denominator(10**9)
        chosen = chosen if chosen > 0 else Fraction(1, 10**9)
    else:
        curve = building.curve_of_one(alone, below)
        assert curve.upper is not None
        pair, wanted = curve.upper, rational(Fraction(target.delta or 1e-9))

        def excess(epsilon: Fraction) -> float:
            one, many = rational(epsilon), rational(size * epsilon)
            return _log(pair.worst(one) * many.expm1() / one.expm1()) - _log(wanted)

        chosen = _crossing(excess, 12)
    return {"rule": group_privacy.NAME, "epsilon": str(chosen), "part": below}


# -- the epsilon of a delta ----------------------------------------------------------------------------


def _at_a_delta(run: Run, plan: Plan, curve: Curve, delta: arb, digits: int) -> Plan:
    """As of `_inverse`; where one evaluation takes long, by what its plan was aimed at."""
    rest = None if curve.lower is None else curve.lower.rest
    if plan["rule"] == shifts.NAME and curve.upper is not None and not (rest is not None and rest() > delta):
        found = every_shift.passes(run, float(delta))
        if found and curve.upper.worst(rational(Fraction(found["upper"]))) <= delta:
            return found
    if plan["rule"] in shuffles.DIGITS:  # about where is known, and how near bounds are
        return _inverse(curve, delta, min(digits, shuffles.DIGITS[plan["rule"]]), shuffles.passes(run, plan, float(delta)))
    return _inverse(curve, delta, digits)


def _inverse(curve: Curve, delta: arb, digits: int, starts: tuple[Fraction | None, Fraction | None] = (None, None)) -> Plan:
    """Rationals just above and just below where the upper and the lower bound pass delta. starts: about where, if known."""
    found: Plan = {}
    rest = None if curve.lower is None else curve.lower.rest
    if rest is not None and rest() > delta:
        return {"lower": "inf"}
    if curve.upper is not None:
        upper = _passes(curve.upper, delta, digits, 1, starts[0])
        if upper is not None:
            found["upper"] = str(upper)
    if curve.lower is not None:
        lower = _passes(curve.lower, delta, digits, -1, starts[1])
        if lower is not None:
            found["lower"] = str(lower)
    return found


def _passes(pair: Pair, delta: arb, digits: int, side: int, start: Fraction | None = None) -> Fraction | None:
    """An epsilon on one side of where the profile is delta, as near as digits ask; None where there is none in reach.

    start: about where that is, if it is known.
    """

    def holds(epsilon: Fraction) -> bool:
        value = pair.worst(rational(epsilon))
        return bool(value <= delta) if side > 0 else bool(value > delta)

    if delta >= 1 or pair.worst(arb(0)) <= delta:
        return Fraction(0)
    if not (delta > 0 and (pair.worst(arb(_FAR)) <= delta or _is_reached(pair, delta, _LARGEST))):
        return Fraction(_FAR) if side < 0 and holds(Fraction(_FAR)) else None
    goal = _log(delta)
    with precision(_FIRST_BITS):
        root = start or _crossing(lambda epsilon: _log(pair.worst(rational(epsilon))) - goal, min(digits, 14))
    roots = dict.fromkeys((_refined(pair, delta, root, digits), root))  # near where a profile ends secants may lead astray
    for slack in range(digits + 1, 1, -1):
        for at in roots:
            near = _short(at + side * max(at, Fraction(1, 10**6)) / 10**slack, slack + 10)
            if near >= 0 and holds(near):
                return near
    return None if side > 0 else Fraction(0)


def _is_reached(pair: Pair, delta: arb, epsilon: int) -> bool:
    """Whether a profile is certainly at most delta at an epsilon; not where it is not known so far out."""
    with suppress(DpverifyError):
        return bool(pair.worst(arb(epsilon)) <= delta)
    return False


def _log(ball: arb) -> float:
    middle = ball.mid()
    return float(middle.log()) if middle > 0 else -_NO_LOG


def _crossing(f: Callable[[Fraction], float], digits: int) -> Fraction:
    """Where a falling function passes 0, by bracketing and the method of Illinois."""
    low, high = Fraction(0), Fraction(1)
    at_low, at_high = f(Fraction(1, 10**12)), f(high)
    if at_low <= 0:
        return low
    while at_high > 0:
        low, at_low = high, at_high
        high *= 2
        at_high = f(high)
        if high > _LARGEST:
            break
    side = 0
    for turn in range(120):
        if high - low <= high / 10**digits or at_low == at_high:
            break
        usable = turn % 3 < 2 and max(abs(at_low), abs(at_high)) < _NO_LOG / 10
        weight = at_low / (at_low - at_high) if usable else 0.5
        middle = low + (high - low) * Fraction(min(max(weight, 1e-6), 1 - 1e-6)).limit_denominator(1 << 60)
        value = f(middle)
        if value > 0:
            low, at_low = middle, value
            at_high = at_high / 2 if side == 1 and usable else at_high
            side = 1
        else:
            high, at_high = middle, value
            at_low = at_low / 2 if side == -1 and usable else at_low
            side = -1
    return high if abs(at_high) < abs(at_low) else low


def _refined(pair: Pair, delta: arb, root: Fraction, digits: int) -> Fraction:
    """The root by two secant steps at the working precision."""
    if digits <= 12 or root == 0:
        return root
    goal = delta.mid().log()

    def gap(epsilon: Fraction) -> arb:
        return pair.worst(rational(epsilon)).mid().log().mid() - goal

    previous = root - root / 10**8  # below: a profile may fall to 0 just above
    at_previous, at_root = gap(previous), gap(root)
    for _ in range(3):
        slope = at_previous - at_root
        if not slope.is_finite() or slope == 0:
            break
        step = (at_root / slope * rational(previous - root)).mid()
        if not step.is_finite():
            break
        previous, at_previous = root, at_root
        root = root - exact(step)
        if abs(exact(step)) < abs(root) / 10 ** (digits + 4):
            break
        at_root = gap(root)
    return max(root, Fraction(0))


def _short(value: Fraction, digits: int) -> Fraction:
    """A dyadic rational with about so many decimal digits."""
    scale = 2 ** (int(3.33 * digits) + 8)
    return Fraction(round(value * scale), scale)
