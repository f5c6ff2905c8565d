"""Further facts that are proved: other measures of privacy, the budget added by hand."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.report.derived import also
from dpverify.report.page.blocks import Block, Code, Facts
from dpverify.report.page.subject import Claimed

TITLE = "Also proved"


def blocks(subject: Claimed) -> Sequence[Block]:
    """The further facts of a judgement."""
    facts = {key: value for key, value in also(subject.entry).items() if key != "sensitivity"}  # which stands with the query
    return [Facts([(key, Code(value)) for key, value in facts.items()])] if facts else []
