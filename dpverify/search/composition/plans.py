"""Plans: which rule is to prove the curve of each part of a mechanism, as a tree; and the facts that the rules make of it.

A plan is a dictionary with the name of a "rule", the plans of the parts ("part", "parts", "above", "below"), a "premise" with the step that
proves a pure epsilon, and the parameters of the rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from dpverify.search.proposal import bound, of_run
from dpverify.trusted.combinators.old_keys import most_keys
from dpverify.trusted.combinators.places import ONE_STEP, SAMPLES
from dpverify.trusted.combinators.runs import Run, merged
from dpverify.trusted.facts.pairs import Curve
from dpverify.trusted.kernel.certificate import Line
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import CorrelatedNoise, NoisyKeys, Parallel, Subsample
from dpverify.trusted.kernel.proof import Place, Proof
from dpverify.trusted.kernel.registry import ANYWHERE
from dpverify.trusted.theories.composition.rules import (
    finite_composition,
    gaussian_composition,
    group_privacy,
    joint_neighbours,
    laplace_sums,
    loss_distribution,
    parallel_composition,
    renyi_composition,
    shuffling,
    single_part,
)
from dpverify.trusted.theories.curves.rules import kernel_pair, lattice, optimal_composition, pure_guarantee
from dpverify.trusted.theories.curves.rules import least_curve as least
from dpverify.trusted.theories.selection.rules import noisy_keys

Plan = dict[str, Any]

COMPOSITIONS: Final = (
    lattice.NAME,
    gaussian_composition.NAME,
    laplace_sums.NAME,
    optimal_composition.NAME,
    finite_composition.NAME,
)
"""The rules for exact curves of compositions, the quickest first."""

_BELOW: Final = ("rule", "part", "parts", "premise", "premises")


def curve(run: Run, plan: Plan) -> Curve:
    """The curve of all that a run comes to. Raises Rejected, CertificateError."""
    found = fact(of_run(run), (), plan).says
    assert isinstance(found, Curve)
    return found


def curve_of_one(run: Run, plan: Plan) -> Curve:
    """The curve of one run of one mechanism. Raises Rejected, CertificateError."""
    found = single(of_run(run), (), plan).says
    assert isinstance(found, Curve)
    return found


def fact(proof: Proof, place: Place, plan: Plan) -> Fact:
    """The curve of all that the run at a place comes to, proved as planned. Raises Rejected, CertificateError."""
    run, name = proof.places.run(place), plan.get("rule")
    if name == joint_neighbours.NAME:
        return _joint(proof, place, plan)
    runs = merged(run.part, run.factor)
    own = {key: value for key, value in plan.items() if key not in _BELOW}
    if name == renyi_composition.NAME:
        listed = plan.get("premises", [None] * len(runs))
        premises = [_premise(proof, (*place, i), step) for i, step in enumerate(listed) if step is not None]
        numbers = iter(range(len(premises)))
        known = [None if step is None else next(numbers) for step in listed]
        return proof.infer(name, place, own | ({"known": known} if premises else {}), premises)
    if name == single_part.NAME:
        return proof.infer(name, place, own, [single(proof, (*place, 0), _inside(plan, "part"))])
    if len(runs) == 1 and runs[0].times == 1:
        if runs[0] == run:
            return single(proof, place, plan)
        return proof.infer(single_part.NAME, place, {}, [single(proof, (*place, 0), plan)])
    if name == loss_distribution.NAME:
        return proof.infer(name, place, own, [single(proof, (*place, i), below) for i, below in enumerate(_inside(plan, "parts"))])
    if name in COMPOSITIONS:
        return proof.infer(name, place, own)
    raise Undecided(f"{str(name)[:60]!r} is no rule for a composition of parts.")


def single(proof: Proof, place: Place, plan: Plan) -> Fact:
    """The curve of the one run of one mechanism at a place, proved as planned. Raises Rejected, CertificateError."""
    mechanism, name = proof.places.run(place).part.mechanism, _inside(plan, "rule")
    if name == joint_neighbours.NAME:
        return _joint(proof, place, plan)
    own = {key: value for key, value in plan.items() if key not in _BELOW}
    if name == group_privacy.NAME:
        return proof.infer(name, place, own, [fact(proof, (*place, ONE_STEP), _inside(plan, "part"))])
    if name in (pure_guarantee.NAME, kernel_pair.NAME):
        return proof.infer(name, place, own, [_premise(proof, place, _inside(plan, "premise"))])
    if name == least.NAME:
        return proof.infer(name, place, own, [single(proof, place, inner) for inner in _inside(plan, "parts")])
    if isinstance(mechanism, Subsample):
        return proof.infer(name, place, own, [fact(proof, (*place, {"part": 0}), _inside(plan, "part"))])
    if name == shuffling.NAME:
        part = [_premise(proof, (*place, {"part": 0}), plan["premise"])] if "premise" in plan else []
        return proof.infer(name, place, own, part)
    if isinstance(mechanism, CorrelatedNoise) and mechanism.rate is not None:
        return proof.infer(name, place, own, [fact(proof, (*place, SAMPLES), _inside(plan, "part"))])
    if isinstance(mechanism, NoisyKeys):
        noises = [{"noises": most_keys(mechanism) - number} for number in _inside(plan, "new")]
        return proof.infer(name, place, own, [fact(proof, (*place, at), one) for at, one in zip(noises, plan["parts"], strict=False)])
    if isinstance(mechanism, Parallel):
        below = enumerate(_inside(plan, "parts"))
        return proof.infer(name, place, own, [fact(proof, (*place, {"part": i}), inner) for i, inner in below])
    return proof.infer(name, place, own)


def _inside(plan: Plan, key: str) -> Any:
    """What a plan says of the parts. Raises Undecided where it says nothing: as where a rule for one thing is tried on another."""
    if key not in plan:
        raise Undecided(f"{plan.get('rule')}: the plan has no {key!r}.")
    return plan[key]


def _premise(proof: Proof, place: Place, step: Plan) -> Fact:
    """A bound on the pure epsilon of the mechanism at a place: of the whole as of its one run, for it is not asked what is claimed."""
    return bound(proof, place or (0,), step)


def _joint(proof: Proof, place: Place, plan: Plan) -> Fact:
    """The curve by one pair of neighbours at a time: "above", plans of every choice, or of parts that are each at their own; "below"."""
    above, below, premises = plan["above"], plan.get("below", {}), list[Fact]()
    own: Plan = {}

    def number(of: Fact) -> int:
        if of not in premises:
            premises.append(of)
        return premises.index(of)

    if "plans" in above:
        chosen = [above["plans"][index] for index in above["of"]]
        own["above"] = [number(fact(proof, (*place, {"choice": i}), one)) if one else None for i, one in enumerate(chosen)]
    else:
        number(fact(proof, place, above["curve"]))
    if "choice" in below:
        own["below"] = {"choice": below["choice"]}
    elif "at" in below:
        at = {"pair": below["at"]}
        own["below"] = at | ({"premise": number(fact(proof, (*place, at), below["curve"]))} if below["curve"] else {})
    return proof.infer(joint_neighbours.NAME, place, own, premises)


def plan_of(lines: Sequence[Line], number: int) -> Plan:
    """The plan by which a curve was proved: the inverse of `fact`. number: of the line that states the curve."""
    line = lines[number]
    below = [plan_of(lines, premise) for premise in line.premises]
    found: Plan = {"rule": line.rule, **line.parameters}
    if line.rule == single_part.NAME and below[0]["rule"] != joint_neighbours.NAME:
        return below[0]
    if line.rule == joint_neighbours.NAME:
        return _joint_plan(line, below)
    if line.rule in ANYWHERE:
        return {"rule": line.rule, "evidence": dict(line.parameters), **({"inner": below[0]} if below else {})}
    if line.rule == renyi_composition.NAME and "known" in found:
        found["premises"] = [None if index is None else below[index] for index in found.pop("known")]
    elif line.rule in (loss_distribution.NAME, parallel_composition.NAME, least.NAME, noisy_keys.NAME):
        found["parts"] = below
    elif line.rule in (pure_guarantee.NAME, kernel_pair.NAME) or (line.rule == shuffling.NAME and below):
        found["premise"] = below[0]
    elif below:
        found["part"] = below[0]
    return found


def _joint_plan(line: Line, below: Sequence[Plan]) -> Plan:
    above, lower = line.parameters.get("above"), line.parameters.get("below")
    if above is None:
        found: Plan = {"rule": line.rule, "above": {"curve": below[0]}}
    else:
        plans = [*below, {}]
        found = {"rule": line.rule, "above": {"plans": plans, "of": [len(below) if index is None else index for index in above]}}
    if lower is not None and "pair" in lower:
        found["below"] = {"at": lower["pair"], "curve": below[lower["premise"]] if "premise" in lower else {}}
    elif lower is not None:
        found["below"] = dict(lower)
    return found
