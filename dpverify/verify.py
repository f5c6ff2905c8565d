"""The main path: a claim, the search's proposal, the kernel's judgement.

The search may be wrong about anything; what it proposes is only kept where the kernel accepts it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from dpverify.search import Proposal, extend_with_curve, propose
from dpverify.trusted import kernel
from dpverify.trusted.facts.bounds import Bound, Infinite
from dpverify.trusted.language import certificate
from dpverify.trusted.language.certificate import Step
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import ZERO
from dpverify.trusted.language.model import Claim, Leaf, claim_hash, from_json, to_json

_ASIDE_DIGITS: Final = 9
"""Digits of what was not asked for."""


Proved = tuple[tuple[Step, tuple[Bound, ...]], ...]
"""The steps that the kernel accepted, each with the bounds that it proves."""


@dataclass(frozen=True, slots=True)
class Verified:
    """A judgement, the certificate that re-checks it, what stopped a stronger answer, for UNKNOWN, and what each step proves."""

    judgement: kernel.Judgement
    certificate: Mapping[str, Any]
    reasons: tuple[str, ...] = ()
    proved: Proved = ()

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return _html(self)


def _html(shown: Verified | kernel.Judgement) -> str:
    """Pages are on a floor above, so they are met by name."""
    page: str = import_module("dpverify.report.notebook").html(shown)
    return page


kernel.Judgement._repr_html_ = _html  # type: ignore[attr-defined]  # from here: the kernel itself knows nothing of notebooks


def verify(claim: Claim, digits: int = 20) -> Verified:
    """Prove or refute a claim, with its tight epsilon enclosed to `digits` digits where a rule reaches it."""
    claim = from_json(to_json(claim))  # what is judged is what the certificate says
    proposal = propose(claim, digits)
    kept = _Kept(claim, proposal.prec)
    judgement = kept.judged(_steps(proposal))
    alone = isinstance(claim.mechanism, Leaf)
    if alone and isinstance(judgement.lower, Infinite) and claim.delta == ZERO and claim.epsilon is not None:
        before = len(proposal.steps)
        extend_with_curve(proposal, claim, min(digits, _ASIDE_DIGITS))  # the delta that there is where no epsilon holds by itself
        judgement = kept.judged(_steps(proposal, before))
    reasons = [*proposal.reasons, *kept.reasons]
    if judgement.verdict == "UNKNOWN" and None not in (judgement.lower, judgement.upper):
        reasons.append("the claimed epsilon lies within the enclosure of the tight one: ask for more digits, or claim another.")
    elif judgement.verdict == "UNKNOWN" and None not in (judgement.delta_lower, judgement.delta_upper):
        reasons.append("the claimed delta lies within the enclosure of the tight one: ask for more digits, or claim another.")
    elif judgement.verdict == "UNKNOWN" and (judgement.upper is not None or judgement.delta_upper is not None):
        reasons.append("the claim is below the upper bound that is known, and no lower bound is: claim the bound, or audit a sampler.")
    packed = certificate.pack(claim, proposal.prec, judgement.verdict, kept.steps)
    return Verified(judgement, packed, tuple(dict.fromkeys(reasons)), kept.proved)


def rejudged(claim: Claim, packed: Any, reasons: tuple[str, ...] = ()) -> Verified:
    """What the kernel says today of a certificate (its JSON value) that was found for the claim before. Nothing is searched.

    Raises CertificateError where it is none, is of another claim, has a step that is refused, or says another verdict than its steps give.
    """
    found = certificate.unpack(packed)
    if packed["claim_sha256"] != claim_hash(to_json(claim)):
        raise CertificateError("the certificate is of another claim than the one asked about.")
    kept = _Kept(found.claim, found.prec)
    judgement = kept.judged(found.steps)
    if kept.reasons:
        raise CertificateError(kept.reasons[0])
    if judgement.verdict != found.verdict:
        raise CertificateError(f"the certificate says {found.verdict}, its steps give {judgement.verdict}.")
    return Verified(judgement, packed, reasons, kept.proved)


def _steps(proposal: Proposal, first: int = 0) -> Iterator[Step]:
    """The proposed steps as a reader of the certificate has them."""
    for proposed in proposal.steps[first:]:
        yield Step(proposed["rule"], json.loads(json.dumps(proposed["evidence"], allow_nan=False)))


@dataclass(slots=True)
class _Kept:
    """The steps that the kernel accepts, with what they prove, and the reasons why it refused others."""

    claim: Claim
    prec: int
    steps: list[Step] = field(default_factory=list)
    bounds: list[tuple[Bound, ...]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    def judged(self, steps: Iterable[Step]) -> kernel.Judgement:
        """The judgement by these and all steps before; each is checked once."""
        for step in steps:
            try:
                self.bounds.append(kernel.bound(self.claim, step, self.prec))
                self.steps.append(step)
            except (Rejected, CertificateError) as error:
                self.reasons.append(str(error))
        return kernel.judge(self.claim, self.steps, self.bounds)

    @property
    def proved(self) -> Proved:
        """Each accepted step with its bounds."""
        return tuple(zip(self.steps, self.bounds, strict=True))


class _Callable(ModuleType):
    """`dpverify.verify` names this module and the function in it; calling either is the same."""

    __call__ = staticmethod(verify)


sys.modules[__name__].__class__ = _Callable
