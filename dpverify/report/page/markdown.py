"""Blocks to Markdown: what the page says, without its pictures, for places that show text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from dpverify.report.markdown import literal
from dpverify.report.page.blocks import (
    Badge,
    Block,
    Code,
    Facts,
    Figure,
    Fold,
    Inline,
    Items,
    Link,
    Listing,
    Math,
    Node,
    Paragraph,
    Row,
    Section,
    Table,
    Tree,
)

_CELL_END: Final = re.compile(r"(?<!\\)\|")
"""Bars that text does not escape, for they stand in code; in a table they would end the cell all the same."""


def document(title: str, content: Sequence[Block]) -> str:
    """A whole document."""
    return "\n".join([f"# {literal(title)}", "", *_blocks(content, 2)]).rstrip() + "\n"


def _blocks(content: Sequence[Block], level: int) -> Iterator[str]:
    for block in content:
        yield from _block(block, level)


def _block(block: Block, level: int) -> Iterator[str]:
    match block:
        case Paragraph():
            yield from (_inline(block.content), "")
        case Facts():
            yield from (*(f"- {literal(term)}: {_inline(said)}" for term, said in block.rows), "")
        case Items():
            yield from (*(f"- {_inline(item)}" for item in block.items), "")
        case Table():
            rows = [[_CELL_END.sub(r"\\|", _inline(cell)) for cell in row] for row in block.rows]
            marks = ["---:" if number in block.numeric else "---" for number in range(len(block.header))]
            yield from (f"| {' | '.join(row)} |" for row in ([*map(literal, block.header)], marks, *rows))
            yield ""
        case Figure():
            yield from (f"*{literal(block.caption)}*", "")
        case Listing():
            fence = "`" * max(3, 1 + max((len(list(run)) for mark, run in groupby(block.text) if mark == "`"), default=0))
            yield from (f"{fence}text", block.text, fence, "")
        case Tree():
            yield from (*_node(block.root, 0), "")
        case Row():
            yield from _blocks(block.blocks, level)
        case Fold():
            yield from (f'<a id="{block.anchor}"></a>', "") if block.anchor else ()
            yield from (f"{'#' * min(level, 6)} {_inline(block.summary)}", "")
            yield from _blocks(block.blocks, level + 1)
        case Section():
            yield from (f'<a id="{block.anchor}"></a>', "") if block.anchor else ()
            yield from (f"{'#' * min(level, 6)} {literal(block.title)}", "")
            yield from _blocks(block.blocks, level + 1)


def _node(node: Node, depth: int) -> Iterator[str]:
    yield f"{'  ' * depth}- {_inline(node.content)}"
    for below in node.below:
        yield from _node(below, depth + 1)


def _inline(content: Inline) -> str:
    match content:
        case str():
            return literal(content) if content.strip() else content
        case Code():
            ticks = "`" * (1 + max((len(list(run)) for mark, run in groupby(content.text) if mark == "`"), default=0))
            pad = " " if len(ticks) > 1 else ""
            return f"{ticks}{pad}{' '.join(content.text.split())}{pad}{ticks}"
        case Link():
            return f"[{literal(content.text)}]({content.target})"
        case Badge():
            return f"**{content.text}**" if content.fine else f"**{content.text}** (not as expected)"
        case Math():
            return literal(content.text)
        case tuple():
            return "".join(_spaced(part) for part in content)


def _spaced(part: Inline) -> str:
    """A part of running text: a text keeps the blanks at its ends, which separate it from its neighbours."""
    said = _inline(part)
    if not isinstance(part, str) or not part.strip():
        return said
    return " " * part[0].isspace() + said + " " * part[-1].isspace()
