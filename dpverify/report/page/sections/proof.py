"""The proof as a tree, from the claim to its leaves."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.report import proof
from dpverify.report.page.blocks import Block, Fold, Inline, Node, Tree
from dpverify.report.page.sections.rules import link
from dpverify.report.page.subject import Claimed

TITLE = ""


def blocks(subject: Claimed) -> Sequence[Block]:
    """The tree, folded."""
    if not subject.entry.proved:
        return []
    return [Fold("The proof, step by step", [Tree(_node(proof.tree(subject.entry)))])]


def _node(step: proof.Step) -> Node:
    """A step; what a rule checks stands once, with the rule."""
    content: Inline = step.text
    if step.kind == "rule":
        checked = sum(below.kind == "checked" for below in step.below)
        count = f", {checked} {'hypothesis' if checked == 1 else 'hypotheses'} checked" if checked else ""
        content = ("by ", link(step.rule), step.text.removeprefix(step.rule) + count)
    elif step.kind == "assumed":
        content = f"assumed: {step.text}"
    return Node(content, tuple(_node(below) for below in step.below if below.kind != "checked"))
