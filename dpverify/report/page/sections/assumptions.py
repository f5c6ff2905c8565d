"""What no density can show, and the verdict rests on."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.report.page.blocks import Block, Items
from dpverify.report.page.subject import Claimed

TITLE = "Assumed, not checked"


def blocks(subject: Claimed) -> Sequence[Block]:
    """The assumptions of a judgement, with the numbers by which the steps of its proof name them."""
    assumptions = subject.entry.assumptions
    return [Items(assumptions, numbered=True)] if assumptions else []
