"""Finds evidence. Nothing here is trusted: the kernel re-derives every bound from the claim and the evidence alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dpverify.errors import DpverifyError
from dpverify.model import Claim, Exponential, Kernel, Mixture, Product, Radial, Sampled, Selection, Staircase, Table, Translation

Steps = list[dict[str, Any]]
Search = Callable[[Claim, int], Steps]


@dataclass(slots=True)
class Proposal:
    """Steps for a certificate, the precision they want, and for each thing not found a reason that says what would help."""

    steps: Steps = field(default_factory=list)
    prec: int = 128
    reasons: list[str] = field(default_factory=list)

    def extend(self, search: Search, claim: Claim, digits: int) -> bool:
        """Add the steps of a search; its failure becomes a reason. Whether it found any."""
        try:
            with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # floats that overflow only mislead the search
                found = search(claim, digits)
        except DpverifyError as error:
            self.reasons.append(str(error))
            return False
        except (ArithmeticError, ValueError) as error:
            self.reasons.append(f"the search met numbers beyond its range ({error}); a claim in other units may be within it.")
            return False
        self.steps += [step for step in found if step not in self.steps]
        return bool(found)


def propose(claim: Claim, digits: int = 20) -> Proposal:
    """Evidence for bounds on the tight epsilon from both sides, to `digits` digits where that can be had."""
    proposal = Proposal(prec=precision_for(digits))
    noise = claim.mechanism
    if isinstance(noise, Radial | Translation | Product):
        _additive(proposal, claim, digits)
    elif isinstance(noise, Mixture):
        from dpverify.search import mixture_closed, mixture_concave

        if not proposal.extend(mixture_closed.propose, claim, digits):
            proposal.extend(mixture_concave.propose, claim, digits)
    elif isinstance(noise, Table | Exponential):
        from dpverify.search import exponential, table

        proposal.extend(table.propose, claim, digits)
        proposal.extend(exponential.propose, claim, digits)
    elif isinstance(noise, Selection):
        from dpverify.search import selection

        proposal.extend(selection.propose, claim, digits)
    elif isinstance(noise, Staircase):
        from dpverify.search import staircase

        proposal.extend(staircase.propose, claim, digits)
    elif isinstance(noise, Kernel):
        from dpverify.search import kernel_box

        proposal.extend(kernel_box.propose, claim, digits)
    else:
        assert isinstance(noise, Sampled)
        proposal.reasons.append("nothing is declared, only a sampled implementation: declare its density, or audit it.")
    if claim.domains:
        from dpverify.search import relaxation

        proposal.extend(lambda claim, _: relaxation.propose(claim, proposal.steps), claim, digits)
    if not proposal.steps and not proposal.reasons:
        proposal.reasons.append("no rule covers this mechanism; `dpverify explain` lists what each rule wants.")
    return proposal


def precision_for(digits: int) -> int:
    """Bits that leave room for an enclosure to `digits` digits."""
    return int(3.4 * digits) + 80


def _additive(proposal: Proposal, claim: Claim, digits: int) -> None:
    from dpverify.search import concave_exponent, convex_exponent, divergence, modulus, point_witness, power_identity, product_lipschitz

    if proposal.extend(divergence.propose, claim, digits):
        return  # no finite epsilon: there is no upper bound to look for
    exact = False
    for rule in (power_identity, concave_exponent, convex_exponent):
        exact = proposal.extend(rule.propose, claim, digits) or exact
        if any(step["evidence"].get("side", "upper") == "upper" for step in proposal.steps):
            break  # its value is exact: no other can be better
    proposal.extend(point_witness.propose, claim, digits)
    if not (exact or claim.domains or any(step["evidence"].get("value") == "inf" for step in proposal.steps)):
        general = product_lipschitz if isinstance(claim.mechanism, Product) else modulus
        proposal.extend(general.propose, claim, digits)
