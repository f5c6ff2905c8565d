"""A lower bound in closed form, where a pair of points has exactly the loss that an upper bound allows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import Expr, add, div, format_expr, parse
from dpverify.trusted.kernel.model import Claim, Radial
from dpverify.trusted.sensitivity.sensitivity import sensitivity_bounds
from dpverify.trusted.theories.additive.rules import point_witness

Step = dict[str, Any]


def propose(claim: Claim, steps: Sequence[Step]) -> list[Step]:
    """A point witness whose limit is the bound of a step, at its stationary points or at the points of a witness that there is."""
    witnesses = [step["evidence"] for step in steps if step["rule"] == point_witness.NAME and "value" in step["evidence"]]
    for bound in (step["evidence"] for step in steps if "bound" in step["evidence"]):
        for witness in witnesses[:1]:
            for a, b in [*_stationary(claim, bound), (witness["a"], witness["b"])]:
                kept = {key: value for key, value in witness.items() if key not in ("value", "event")}
                evidence = {**kept, "a": a, "b": b, "limit": bound["bound"]}
                if _holds(claim, evidence):
                    return [{"rule": point_witness.NAME, "evidence": evidence}]
    return []


def _stationary(claim: Claim, bound: Mapping[str, Any]) -> Iterator[tuple[list[str], list[str]]]:
    """The pairs at stationary points that cells name."""
    shift = _shift(claim)
    for key in ("rise", "fall"):
        for cell in bound.get(key, {}).get("cells", ()):
            if cell[1] == "summit":
                low = [str(cell[2])]
                high = [format_expr(add(parse(low[0]), shift))]
                yield (low, high) if key == "rise" else (high, low)


def _shift(claim: Claim) -> Expr:
    reach = sensitivity_bounds(claim, None).lower
    return div(reach, claim.mechanism.scale) if isinstance(claim.mechanism, Radial) else reach


def _holds(claim: Claim, evidence: Step) -> bool:
    try:
        with precision(int(evidence.get("prec", 128))):
            point_witness.check(claim, evidence)
    except DpverifyError:
        return False
    return True
