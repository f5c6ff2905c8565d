"""What a search proposes: steps for a certificate, and reasons for what it did not find."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from flint import ctx

from dpverify.trusted.combinators.places import CLOSED_FORM
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.kernel.proof import Place, Proof

Steps = list[dict[str, Any]]
Search = Callable[[Claim, int], Steps]
Premise = Callable[[Claim, str], dict[str, Any] | None]
"""The step for a bound on one side of the pure epsilon of a single mechanism, where one is found."""


def inside(step: Mapping[str, Any]) -> list[tuple[Any, Mapping[str, Any]]]:
    """The steps that a step rests on, with the last steps of their places: the radial noise of a mixture, the noises of a selection."""
    return [*([(CLOSED_FORM, step["inner"])] if "inner" in step else []), *step.get("noises", ())]


def bound(proof: Proof, place: Place, step: Mapping[str, Any]) -> Fact:
    """What a step proves of the single mechanism at a place."""
    inner = [bound(proof, (*place, last), below) for last, below in inside(step)]
    with precision(max(step.get("prec", 0), ctx.prec)):
        premises = inner or [again(proof, place, fact) if place else fact for fact in step.get("premises", ())]
        return proof.infer(step["rule"], place, step["evidence"], premises)


def again(proof: Proof, place: Place, fact: Fact) -> Fact:
    """A fact about a claim, of what stands at a place in another that is the same."""
    with precision(fact.prec):
        return proof.infer(fact.rule, (*place, *fact.place), fact.parameters, [again(proof, place, inner) for inner in fact.premises])


@dataclass(slots=True)
class Proposal:
    """Steps for a certificate, the precision they want, and for each thing not found a reason that says what would help.

    above: whether upper bounds alone are asked for, so that a search may leave out what only a lower bound needs.
    """

    steps: Steps = field(default_factory=list)
    prec: int = 128
    reasons: list[str] = field(default_factory=list)
    above: bool = False

    def extend(self, search: Search, claim: Claim, digits: int) -> bool:
        """Add the steps of a search; its failure becomes a reason. Whether it found any."""
        try:
            with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # floats that overflow only mislead the search
                found = search(claim, digits)
        except DpverifyError as error:
            self.reasons.append(str(error))
            return False
        except (ArithmeticError, ValueError) as error:
            said = "of more digits than are written" if "max_str_digits" in str(error) else error  # Python's advice is for programs
            self.reasons.append(f"the search met numbers beyond its range ({said}); a claim in other units may be within it.")
            return False
        self.steps += [step for step in found if step not in self.steps]
        return bool(found)


def of_run(run: Run) -> Proof:
    """A proof about a run alone."""
    return Proof(Claim(run.part.mechanism, None, sensitivity=run.part.sensitivity, query=run.part.query), run)
