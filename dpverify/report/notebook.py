"""Judgements and findings in a notebook: the same blocks as on the page, one claim at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from dpverify.ground.finding import Finding
from dpverify.report import Entry
from dpverify.report.page.blocks import Badge, Block, Paragraph
from dpverify.report.page.html import fragment
from dpverify.report.page.sections import OF_CLAIM, audit
from dpverify.report.page.sections import shown as shown_sections
from dpverify.report.page.subject import Claimed, File
from dpverify.search.verify import Verified

_UNNAMED: Final = "claim"
"""What has no name."""


def of_answer(verified: Verified) -> str:
    """A judgement with its proof, as HTML without a script."""
    judgement = verified.judgement
    claim = judgement.claim
    entry = Entry("", claim.mechanism_name or _UNNAMED, claim, judgement.verdict, judgement=judgement)
    entry = replace(entry, reasons=verified.reasons, proved=verified.proved)
    head: list[Block] = [Paragraph((Badge(entry.verdict), f" {claim.name or _UNNAMED}"))]
    return fragment([*head, *shown_sections(OF_CLAIM, Claimed(File(_UNNAMED, [entry]), entry))])


def of_finding(finding: Finding) -> str:
    """What an audit found, as HTML without a script."""
    return fragment(audit.found(finding))
