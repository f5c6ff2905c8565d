"""Judgements and findings in a notebook: the same blocks as on the page, one claim at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from dpverify.finding import Finding
from dpverify.report import Entry
from dpverify.report.page.blocks import Badge, Block, Paragraph
from dpverify.report.page.html import fragment
from dpverify.report.page.sections import OF_CLAIM, audit
from dpverify.report.page.sections import shown as shown_sections
from dpverify.report.page.subject import Claimed, File
from dpverify.trusted.kernel import Judgement
from dpverify.verify import Verified

_UNNAMED: Final = "claim"
"""What has no name."""


def html(shown: Judgement | Verified | Finding) -> str:
    """What `_repr_html_` gives: a judgement, with its proof where it is there, or what an audit found."""
    if isinstance(shown, Finding):
        return fragment(audit.found(shown))
    judgement = shown if isinstance(shown, Judgement) else shown.judgement
    claim = judgement.claim
    entry = Entry("", claim.mechanism_name or _UNNAMED, claim, judgement.verdict, judgement=judgement)
    if isinstance(shown, Verified):
        entry = replace(entry, reasons=shown.reasons, proved=shown.proved)
    head: list[Block] = [Paragraph((Badge(entry.verdict), f" {claim.name or _UNNAMED}"))]
    return fragment([*head, *shown_sections(OF_CLAIM, Claimed(File(_UNNAMED, [entry]), entry))])
