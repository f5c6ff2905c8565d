"""Proposes what is proved at values of the parameters: where there is least noise for all of them, or where the claim does not hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import islice, product
from typing import Any, Final

from dpverify.search.grids import simple_values
from dpverify.search.proposal import Steps
from dpverify.trusted.combinators.parameters import fixed
from dpverify.trusted.combinators.runs import whole
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import substitute
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim, Domain, Part
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.theories.composition.rules import closed_profile, privacy_profile
from dpverify.trusted.theories.composition.rules import least_noise as rule

_MOST_VALUES: Final = 24
_MOST_TRIED: Final = 3
"""Values of the parameters at which all is looked for."""


def propose(claim: Claim, at_values: Callable[[Claim], Steps]) -> Steps:
    """Steps at some values of the parameters. at_values: those for a claim without parameters."""
    steps: Steps = []
    for at in islice(_values(claim), _MOST_TRIED):
        with suppress(DpverifyError):
            there, chosen = fixed(claim, {"at": at}, rule.NAME)
            epsilon, delta = (None if value is None else substitute(value, chosen) for value in (claim.epsilon, claim.delta))
            for step in at_values(replace(there, epsilon=epsilon, delta=delta)):
                steps += _moved(Proof(claim), at, step)
    return steps


def _values(claim: Claim) -> Iterator[dict[str, str]]:
    """Values of all parameters: those with least noise first."""
    names, root = [name for name, _ in claim.domains], Part(claim.mechanism, claim.sensitivity, claim.query)
    every = [
        dict(zip(names, map(str, chosen), strict=True))
        for chosen in islice(product(*(_of(domain) for _, domain in claim.domains)), _MOST_VALUES)
    ]

    def least(at: dict[str, str]) -> bool:
        with suppress(DpverifyError):
            return rule.noisier(root, whole(fixed(claim, {"at": at}, rule.NAME)[0]).part, dict(claim.domains))
        return False

    yield from sorted(every, key=lambda at: not least(at))


def _of(domain: Domain) -> list[Fraction]:
    """Simple values in a domain, its ends first."""
    ends = [end for end in (domain.lower, domain.upper) if end is not None and domain.holds(end)]
    return list(dict.fromkeys([*ends, *islice(simple_values(domain), 4)]))


def _moved(proof: Proof, at: dict[str, str], step: dict[str, Any]) -> Steps:
    """A step about the claim at values of its parameters as one about all, where that may be."""

    def again(fact: Fact) -> Fact:
        with precision(fact.prec):
            return proof.infer(fact.rule, ({"at": at}, *fact.place), fact.parameters, [again(one) for one in fact.premises])

    told: dict[str, Any] = {"rule": rule.NAME, **({"prec": step["prec"]} if "prec" in step else {})}
    premises = [again(one) for one in step.get("premises", ())]
    if proof.claim.measure is None:
        profile = step["rule"] == closed_profile.NAME or (step["rule"] == privacy_profile.NAME and premises)
        return [{**told, "evidence": {**step["evidence"], "at": at}, "premises": premises}] if profile else []
    with precision(step.get("prec", 128)):
        known = proof.infer(step["rule"], ({"at": at},), step["evidence"], premises)
    return [{**told, "evidence": {"at": at}, "premises": [known]}]
