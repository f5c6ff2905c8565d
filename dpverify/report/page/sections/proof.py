"""The proof as a tree, from the claim to its leaves."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.report import proof
from dpverify.report.page.blocks import Badge, Block, Fold, Inline, Node, Tree
from dpverify.report.page.sections.rules import link
from dpverify.report.page.subject import Claimed

TITLE = ""


def blocks(subject: Claimed) -> Sequence[Block]:
    """The tree, folded."""
    entry = subject.entry
    if not entry.proved:
        return []
    assumed = entry.assumptions
    below = tuple(_node(step, assumed) for step in proof.tree(entry).below)
    return [Fold("The proof, step by step", [Tree(Node(Badge(entry.verdict), below))], aside=True)]


def _node(step: proof.Step, assumed: Sequence[str]) -> Node:
    """A step. What a rule states and checks stands once, with the rule; what it assumes is named by its number in the claim's list."""
    content: Inline = step.text
    below = [one for one in step.below if one.kind != "checked"]
    if step.kind == "rule":
        checked = len(step.below) - len(below)
        said = f", {checked} {'hypothesis' if checked == 1 else 'hypotheses'} checked" if checked else ""
        numbers = sorted(assumed.index(one.text) + 1 for one in below if one.kind == "assumed" and one.text in assumed)
        below = [one for one in below if one.kind != "assumed" or one.text not in assumed]
        said += f", assumes {', '.join(map(str, numbers))}" if numbers else ""
        content = ("by ", link(step.rule), said)
    elif step.kind == "assumed":
        content = f"assumed: {step.text}"
    return Node(content, tuple(_node(one, assumed) for one in below))
