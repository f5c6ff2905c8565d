"""Proofs from plans: a rule with its evidence, in which plans of curves and steps about parts stand for the facts that it rests on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpverify.search.certificates import pack, record
from dpverify.search.composition import plans
from dpverify.trusted.combinators import at_pair, candidates
from dpverify.trusted.combinators.places import ONE_STEP
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.certificate import Line
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import ONE, mul
from dpverify.trusted.kernel.fact import Fact, as_bounds
from dpverify.trusted.kernel.model import Claim, Compose, Group, Lipschitz, Parallel, Part, PostProcess, Repeat, Subsample
from dpverify.trusted.kernel.proof import Place, Proof
from dpverify.trusted.kernel.registry import EXPLAINED


@dataclass(frozen=True)
class Step:
    """A rule and what it is to be given: parameters, with plans where it has premises.

    "curve" is the plan of the whole's curve; "premise", and under "part", "parts" and "neighbours", are steps about the parts.
    """

    rule: str
    evidence: Any


def bound(claim: Claim, step: Step, prec: int = 128) -> tuple[Bound, ...]:
    """The bounds that a step proves, at so many bits. Raises Rejected, CertificateError."""
    return as_bounds(fact(claim, step, prec).says)


def fact(claim: Claim, step: Step, prec: int = 128, proof: Proof | None = None) -> Fact:
    """What a step proves with the facts that it rests on. Raises Rejected, CertificateError."""
    proof = Proof(claim) if proof is None else proof
    with precision(prec):
        evidence, premises = _given(proof, claim, step)
    return kernel.infer(proof, step.rule, evidence, premises, prec)


def certified(claim: Claim, verdict: str, *steps: Step, prec: int = 128) -> dict[str, Any]:
    """The certificate of some steps, with whatever verdict it is to state."""
    proof = Proof(claim)
    return pack(claim, prec, verdict, record(fact(claim, step, prec, proof) for step in steps))


def saying(claim: Claim, rule: str, *bounds: Bound, place: Place = ()) -> Fact:
    """A fact as if a rule had proved these bounds, to be judged."""
    return Fact(rule, claim, bounds, tuple(EXPLAINED[rule].ASSUMED), place, {}, (), 128)


def line(rule: str, parameters: Mapping[str, Any] | None = None, premises: Sequence[int] = (), place: Place = (), prec: int = 128) -> Line:
    """One line, as it may be forged."""
    return Line(rule, place, parameters or {}, tuple(premises), prec)


def forged(claim: Claim, verdict: str, *lines: Line, prec: int = 128) -> dict[str, Any]:
    """A certificate of any lines."""
    return pack(claim, prec, verdict, lines)


def _given(proof: Proof, claim: Claim, step: Step) -> tuple[dict[str, Any], list[Fact]]:
    """The parameters and the premises of a step."""
    evidence = dict(step.evidence)
    if step.rule == "combination":
        return _combined(proof, claim, evidence)
    if step.rule == "one-sided" and "parts" in evidence:
        shares = evidence.pop("parts")
        premises = [_share(proof, number, share) for number, share in enumerate(shares)]
        spent = {str(number): told for number, share in enumerate(shares) if (told := _spent(share)) is not None}
        return {"side": "upper", **evidence, "spent": spent}, premises
    if "curve" in evidence:
        return evidence, [plans.fact(proof, (), evidence.pop("curve"))]
    if "premise" in evidence:
        return evidence, [_about(proof, (0,), evidence.pop("premise"))]
    return evidence, []


def _about(proof: Proof, place: Place, step: Mapping[str, Any]) -> Fact:
    return proof.infer(step["rule"], place, step["evidence"])


def _share(proof: Proof, number: int, share: Mapping[str, Any]) -> Fact:
    if "premise" in share:
        return _about(proof, (number,), share["premise"])
    return plans.single(proof, (number,), share["curve"])


def _spent(share: Mapping[str, Any]) -> dict[str, Any] | None:
    return None if "premise" in share else {key: value for key, value in share.items() if key != "curve"}


def _combined(proof: Proof, claim: Claim, evidence: dict[str, Any]) -> tuple[dict[str, Any], list[Fact]]:
    """The evidence of a combination, with the numbers of premises where steps about parts stand."""
    start: Place = ({"at": evidence["at"]},) if "at" in evidence else ()
    root = proof.places.run(start).part
    walk = _Walk(proof, claim)
    found = evidence.get("neighbours")
    if evidence.get("side") == "lower" and found is not None:
        part = at_pair.at(root, at_pair.read(root, found), lower=True)
        if part is not None:
            evidence["part"] = walk.of((*start, {"pair": found}), part, evidence.get("part"))
    elif "neighbours" in evidence:
        evidence["neighbours"] = walk.at_every_pair(start, root, found)
    elif "part" in evidence:
        evidence["part"] = walk.of(start, root, evidence["part"])
    return evidence, walk.premises


class _Walk:
    """Goes through a mechanism and the evidence of it."""

    def __init__(self, proof: Proof, claim: Claim) -> None:
        self.proof = proof
        self.domains = dict(claim.domains)
        self.premises: list[Fact] = []

    def of(self, place: Place, part: Part, plan: Any, factor: Any = ONE) -> Any:
        mechanism = part.mechanism
        if isinstance(mechanism, Compose | Parallel):
            if not isinstance(plan, dict) or not isinstance(plan.get("parts"), list):
                return plan
            if isinstance(mechanism, Parallel) and not certainly_le(factor, ONE, self.domains):
                place, factor = (*place, ONE_STEP), ONE
            given = plan["parts"]
            pairs = enumerate(zip(mechanism.parts, given, strict=False))
            listed = [self.of((*place, {"part": i}), one, below, factor) for i, (one, below) in pairs]
            return {**plan, "parts": [*listed, *given[len(listed) :]]}
        if isinstance(mechanism, Repeat | PostProcess | Group | Lipschitz | Subsample):
            further = mechanism.size if isinstance(mechanism, Group) else mechanism.constant if isinstance(mechanism, Lipschitz) else ONE
            inside, below = (*place, {"part": 0}), ONE if isinstance(mechanism, Subsample) else mul(factor, further)
            if isinstance(mechanism, Subsample) and isinstance(plan, dict) and "sampled" in plan:
                return {**plan, "sampled": self.at_every_pair(inside, mechanism.part, plan["sampled"])}
            return self.of(inside, mechanism.part, plan, below)
        if isinstance(plan, dict) and "rule" in plan:
            found = _about(self.proof, place, plan)
            if found not in self.premises:
                self.premises.append(found)
            return self.premises.index(found)
        return plan

    def at_every_pair(self, place: Place, root: Part, given: Any) -> Any:
        """A plan for every choice of neighbours: "plans", and "of", the number of each one's. What is of another form is left as it is."""
        found = []
        try:
            listed = [(candidates.choices(root)[number], given["plans"][index]) for number, index in enumerate(given["of"])]
            parts = [(at_pair.at(root, choice), plan) for choice, plan in listed]
        except (DpverifyError, LookupError, TypeError):
            return given
        for number, (part, plan) in enumerate(parts):
            found.append(plan if part is None else self.of((*place, {"choice": number}), part, plan))
        return {**given, "plans": found, "of": list(range(len(found)))}
