"""Every rule that some proof of the run uses: what it states, what it checks, what it assumes, where it comes from."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.catalogue.assumed import plain
from dpverify.project.formal.ledger import told
from dpverify.report import proof
from dpverify.report.page.blocks import Block, Facts, Fold, Inline, Link, Paragraph
from dpverify.report.page.subject import Run
from dpverify.report.stated import stated
from dpverify.trusted.kernel.registry import EXPLAINED

TITLE = "Rules"


def blocks(run: Run) -> Sequence[Block]:
    """The rules, in the order in which they are met."""
    entries = [entry for file in run.files for entry in file.entries]
    named = dict.fromkeys(name for entry in entries if entry.judgement is not None for name in entry.judgement.rules)
    named |= dict.fromkeys(name for entry in entries for name in proof.rules(entry))
    bands = (band for file in run.files for curves in file.curves for band in curves.bands.values())
    named |= dict.fromkeys(name for band in bands for name in band.rules)
    return [_rule(name) for name in named if name in EXPLAINED]


def link(name: str) -> Inline:
    """A rule by its name, leading to what it states."""
    return Link(name, f"#rule-{name}") if name in EXPLAINED else name


def _rule(name: str) -> Block:
    said = stated(name)
    rows: list[tuple[str, Inline]] = [("checked", line) for line in said.checked]
    rows += [("assumed", plain(line)) for line in EXPLAINED[name].ASSUMED]
    rows += [("source", str(said.source))]
    rows += [("machine-checked", line) for line in told(name)]
    return Fold(name, [Paragraph(said.statement), Facts(rows)], anchor=f"rule-{name}")
