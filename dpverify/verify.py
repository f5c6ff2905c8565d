"""The main path: a claim, the search's proposal, the kernel's judgement.

The search may be wrong about anything; what it proposes is only kept where the kernel accepts it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Final

from dpverify import certificate, kernel
from dpverify.certificate import Step
from dpverify.errors import CertificateError, Rejected
from dpverify.expr import ZERO
from dpverify.model import Claim, Leaf, from_json, to_json
from dpverify.rules.base import Bound, Infinite
from dpverify.search import Proposal, extend_with_curve, propose

_ASIDE_DIGITS: Final = 9
"""Digits of what was not asked for."""


@dataclass(frozen=True, slots=True)
class Verified:
    """A judgement, the certificate that re-checks it, and what stopped a stronger answer, for UNKNOWN."""

    judgement: kernel.Judgement
    certificate: Mapping[str, Any]
    reasons: tuple[str, ...] = ()


def verify(claim: Claim, digits: int = 20) -> Verified:
    """Prove or refute a claim, with its tight epsilon enclosed to `digits` digits where a rule reaches it."""
    claim = from_json(to_json(claim))  # what is judged is what the certificate says
    proposal = propose(claim, digits)
    kept = _Kept()
    judgement = kept.judged(claim, proposal)
    alone = isinstance(claim.mechanism, Leaf)
    if alone and isinstance(judgement.lower, Infinite) and claim.delta == ZERO and claim.epsilon is not None:
        extend_with_curve(proposal, claim, min(digits, _ASIDE_DIGITS))  # the delta that there is where no epsilon holds by itself
        judgement = kept.judged(claim, proposal)
    reasons = [*proposal.reasons, *kept.reasons]
    if judgement.verdict == "UNKNOWN" and None not in (judgement.lower, judgement.upper):
        reasons.append("the claimed epsilon lies within the enclosure of the tight one: ask for more digits, or claim another.")
    elif judgement.verdict == "UNKNOWN" and None not in (judgement.delta_lower, judgement.delta_upper):
        reasons.append("the claimed delta lies within the enclosure of the tight one: ask for more digits, or claim another.")
    elif judgement.verdict == "UNKNOWN" and (judgement.upper is not None or judgement.delta_upper is not None):
        reasons.append("the claim is below the upper bound that is known, and no lower bound is: claim the bound, or audit a sampler.")
    packed = certificate.pack(claim, proposal.prec, judgement.verdict, kept.steps)
    return Verified(judgement, packed, tuple(dict.fromkeys(reasons)))


@dataclass(slots=True)
class _Kept:
    """The proposed steps that the kernel accepts, with what they prove."""

    steps: list[Step] = field(default_factory=list)
    bounds: list[tuple[Bound, ...]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    seen: int = 0

    def judged(self, claim: Claim, proposal: Proposal) -> kernel.Judgement:
        """The judgement by all steps proposed so far; each is checked once."""
        for proposed in proposal.steps[self.seen :]:
            step = Step(proposed["rule"], json.loads(json.dumps(proposed["evidence"], allow_nan=False)))
            try:
                self.bounds.append(kernel.bound(claim, step, proposal.prec))
                self.steps.append(step)
            except (Rejected, CertificateError) as error:
                self.reasons.append(str(error))
        self.seen = len(proposal.steps)
        return kernel.judge(claim, self.steps, self.bounds)


class _Callable(ModuleType):
    """`dpverify.verify` names this module and the function in it; calling either is the same."""

    __call__ = staticmethod(verify)


sys.modules[__name__].__class__ = _Callable
