"""Blocks to Markdown: what the page says, without its pictures, for places that show text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from dpverify.report.markdown import code_span, fenced, literal
from dpverify.report.page.blocks import (
    Badge,
    Block,
    Callout,
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
from dpverify.runtime.outside import printable

_CELL_END: Final = re.compile(r"(?<!\\)\|")
"""Bars that text does not escape, for they stand in code; in a table they would end the cell all the same."""

_LONG: Final = 120
"""Letters from which on what was said before is not said again."""


def document(title: str, content: Sequence[Block]) -> str:
    """A whole document."""
    lines = [f"# {literal(title)}", "", *_blocks(content, 2)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def _blocks(content: Sequence[Block], level: int) -> Iterator[str]:
    """Blocks, one after the other. What several folds have in common is said in the first of them."""
    told: dict[str, Fold] = {}
    for block in content:
        if isinstance(block, Fold) and block.anchor:
            yield from _fold(block, level, told)
        else:
            yield from _block(block, level)


def _block(block: Block, level: int) -> Iterator[str]:
    match block:
        case Paragraph() | Callout():
            said = _inline(block.content)
            yield from (f"**{said}**" if isinstance(block, Callout) else said, "")
        case Facts():
            yield from (*(f"- {literal(term)}: {_inline(said)}" for term, said in block.rows), "")
        case Items():
            yield from (*(f"{f'{i}.' if block.numbered else '-'} {_inline(item)}" for i, item in enumerate(block.items, 1)), "")
        case Table():
            rows = [[_CELL_END.sub(r"\\|", _inline(cell)) for cell in row] for row in block.rows]
            marks = ["---:" if number in block.numeric else "---" for number in range(len(block.header))]
            yield from (f"| {' | '.join(row)} |" for row in ([*map(literal, block.header)], marks, *rows))
            yield ""
        case Figure():
            yield from (f"*{literal(block.caption)}*", "")
        case Listing():
            yield from (*fenced(block.text), "")
        case Tree():
            yield from (*_node(block.root, 0), "")
        case Row():
            yield from _blocks(block.blocks, level)
        case Fold():
            yield from _fold(block, level, {})
        case Section():
            yield from (f'<a id="{block.anchor}"></a>', "") if block.anchor else ()
            yield from (f"{'#' * min(level, 6)} {literal(block.title)}", "")
            yield from _blocks(block.blocks, level + 1)


def _fold(fold: Fold, level: int, told: dict[str, Fold]) -> Iterator[str]:
    """A fold, which GitHub folds too. told: what was said in folds before it, with where that was."""
    if fold.aside:
        return
    yield from (f'<a id="{fold.anchor}"></a>', "") if fold.anchor else ()
    yield from (f"<details{' open' if fold.open else ''}><summary>{_html(fold.summary)}</summary>", "")
    for block in fold.blocks:
        said = "\n".join(_block(block, level))
        before = told.setdefault(said, fold) if isinstance(block, Fold | Section) and len(said) > _LONG else fold
        yield from (said,) if before is fold else (f"{_title(block)}: [as before](#{before.anchor}).", "")
    yield from ("</details>", "")


def _title(block: Block) -> str:
    return literal(block.title) if isinstance(block, Section) else _inline(block.summary) if isinstance(block, Fold) else ""


def _plain(content: Inline) -> str:
    """The bare text of what is said in line."""
    return "".join(map(_plain, content)) if isinstance(content, tuple) else content if isinstance(content, str) else content.text


def _html(content: Inline) -> str:
    """What stands in a summary, where Markdown is not read."""
    match content:
        case tuple():
            return "".join(map(_html, content))
        case Badge():
            return f"<b>{escape(content.text)}</b>" + ("" if content.fine else " (not as expected)")
        case Code():
            return f"<code>{escape(printable(' '.join(content.text.split())))}</code>"
        case _:
            return escape(printable(_plain(content)))


def _node(node: Node, depth: int) -> Iterator[str]:
    yield f"{'  ' * depth}- {_inline(node.content)}"
    for below in node.below:
        yield from _node(below, depth + 1)


def _inline(content: Inline) -> str:
    match content:
        case str():
            return literal(content) if content.strip() else content
        case Code():
            return code_span(content.text)
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
