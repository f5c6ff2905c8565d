"""The sections of a page, one a file, in the order in which they are read.

A section is a module with TITLE and `blocks(subject)`, which gives what it has to show of its subject; nothing, and it is not there.
A new one is a file here and its line in the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any, Final

from dpverify.report.page.blocks import Block, Section
from dpverify.report.page.sections import (
    alignment,
    assumptions,
    audit,
    body,
    by_kind,
    certificate,
    claims,
    compositions,
    duties,
    error,
    error_curves,
    errors,
    facts,
    glossary,
    headline,
    index,
    loss,
    mechanism,
    neighbours,
    privacy_curve,
    proof,
    query,
    reason,
    rules,
    statement,
    trade_off,
    trust,
    unit_ball,
    witness,
)

OF_RUN: Final[tuple[ModuleType, ...]] = (headline, index)
OF_FILE: Final[tuple[ModuleType, ...]] = (mechanism, claims)
PICTURES: Final[tuple[ModuleType, ...]] = (loss, by_kind, privacy_curve, trade_off, compositions, unit_ball, error)
"""Of a file, side by side where there is room."""
AUDITS: Final[tuple[ModuleType, ...]] = (audit,)
OF_CLAIM: Final[tuple[ModuleType, ...]] = (
    statement, query, reason, witness, neighbours, alignment, errors, error_curves, body, assumptions, proof, facts, certificate,
)  # fmt: skip
AT_THE_END: Final[tuple[ModuleType, ...]] = (duties, rules, trust, glossary)
OVERVIEW: Final[tuple[ModuleType, ...]] = (trust,)
"""Of these, what stands on the overview where each family has a page of its own."""


def shown(sections: Sequence[ModuleType], subject: Any) -> list[Block]:
    """Those of the sections that have something to show; one without a title stands without a heading."""
    blocks_shown: list[Block] = []
    for section in sections:
        blocks = section.blocks(subject)
        if blocks:
            blocks_shown += [Section(section.TITLE, blocks)] if section.TITLE else list(blocks)
    return blocks_shown
