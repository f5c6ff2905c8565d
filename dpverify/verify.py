"""The main path: a claim, the search's proposal, the kernel's judgement.

The search may be wrong about anything; what it proposes is only kept where the kernel accepts it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from dpverify import certificate, kernel
from dpverify.certificate import Step
from dpverify.errors import CertificateError, Rejected
from dpverify.model import Claim, from_json, to_json
from dpverify.search import propose


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
    steps, bounds, reasons = [], [], list(proposal.reasons)
    for proposed in proposal.steps:
        step = Step(proposed["rule"], json.loads(json.dumps(proposed["evidence"], allow_nan=False)))
        try:
            bounds.append(kernel.bound(claim, step, proposal.prec))
            steps.append(step)
        except (Rejected, CertificateError) as error:
            reasons.append(str(error))
    judgement = kernel.judge(claim, steps, bounds)
    if judgement.verdict == "UNKNOWN" and None not in (judgement.lower, judgement.upper):
        reasons.append("the claimed epsilon lies within the enclosure of the tight one: ask for more digits, or claim another.")
    elif judgement.verdict == "UNKNOWN" and None not in (judgement.delta_lower, judgement.delta_upper):
        reasons.append("the claimed delta lies within the enclosure of the tight one: ask for more digits, or claim another.")
    packed = certificate.pack(claim, proposal.prec, judgement.verdict, steps)
    return Verified(judgement, packed, tuple(dict.fromkeys(reasons)))


class _Callable(ModuleType):
    """`dpverify.verify` names this module and the function in it; calling either is the same."""

    __call__ = staticmethod(verify)


sys.modules[__name__].__class__ = _Callable
