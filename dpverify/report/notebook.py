"""Judgements and findings in a notebook: the same blocks as on the page, one claim at a time."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from dpverify.report import Entry, mathml
from dpverify.report.page.blocks import Badge, Block, Math, Paragraph
from dpverify.report.page.html import fragment
from dpverify.report.page.sections import OF_CLAIM, audit, loss
from dpverify.report.page.sections import shown as shown_sections
from dpverify.report.page.subject import Claimed, File, Pictures
from dpverify.runtime.finding import Finding
from dpverify.search.verify import Verified
from dpverify.trusted.kernel.canonical_form import claim_hash, to_json
from dpverify.trusted.kernel.model import Claim

if TYPE_CHECKING:
    from dpverify.pictures.loss import LossCurve

_UNNAMED: Final = "claim"
"""What has no name."""


def of_answer(verified: Verified) -> str:
    """A judgement with its proof, the formula of the mechanism and a picture of its loss, as HTML without a script."""
    judgement = verified.judgement
    claim = judgement.claim
    name = claim.mechanism_name or _UNNAMED
    entry = Entry("", name, claim, judgement.verdict, judgement=judgement, reasons=verified.reasons, proved=verified.proved)
    pictures = Pictures((claim.name,), loss=_loss(claim))
    # ids of pictures are those of the whole notebook
    file = File(f"{name}-{claim_hash(to_json(claim))[:8]}", [entry], pictures=[pictures])
    law = Math(mathml.density(claim.mechanism), mathml.density_text(claim.mechanism))
    head: list[Block] = [Paragraph((Badge(entry.verdict), f" {claim.name or _UNNAMED}")), Paragraph(law)]
    return fragment([*head, *shown_sections(OF_CLAIM, Claimed(file, entry)), *shown_sections([loss], file)])


def _loss(claim: Claim) -> LossCurve | None:
    """The loss between the worst neighbours; None for what it cannot be drawn of, which takes nothing else away."""
    from dpverify import pictures
    from dpverify.catalogue.kinds import plain

    with suppress(Exception):
        return pictures.loss(plain(claim))
    return None


def of_finding(finding: Finding) -> str:
    """What an audit found, as HTML without a script."""
    return fragment(audit.found(finding))
