"""What stopped a proof or a refutation, and what would help."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.report.page.blocks import Block, Paragraph
from dpverify.report.page.subject import Claimed

TITLE = "Why it is undecided"


def blocks(subject: Claimed) -> Sequence[Block]:
    """The reason of an UNKNOWN."""
    reason = subject.entry.reason
    return [Paragraph(reason)] if reason else []
