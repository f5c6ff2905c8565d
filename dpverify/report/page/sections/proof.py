"""The proof as a tree, from the claim to its leaves."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.report import proof
from dpverify.report.page.blocks import Block, Fold, Inline, Link, Node, Tree
from dpverify.report.page.subject import Claimed

TITLE = ""


def blocks(subject: Claimed) -> Sequence[Block]:
    """The tree, folded."""
    if not subject.entry.proved:
        return []
    return [Fold("The proof, step by step", [Tree(_node(proof.tree(subject.entry)))])]


def _node(step: proof.Step) -> Node:
    content: Inline = step.text
    if step.kind == "rule":
        content = ("by ", Link(step.rule, f"#rule-{step.rule}"), step.text.removeprefix(step.rule))
    elif step.kind in ("checked", "assumed"):
        content = f"{step.kind}: {step.text}"
    return Node(content, tuple(_node(below) for below in step.below))
