"""What a page is made of. Sections give blocks; each renderer knows how every block looks, and nothing else.

Inline content is a text, or one of Code, Link, Badge, Math, or several of them in a tuple. Text is plain: renderers escape it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class Code:
    """Something to be read letter by letter."""

    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link. target: an address inside the page ("#anchor"), or one that `beside` gives: nothing that a name says can make it another."""

    text: str
    target: str

    def __post_init__(self) -> None:
        if not self.target.startswith(("#", "./")):
            raise ValueError(f"{self.target!r} leads out of the report.")


def beside(name: str, folder: str = "") -> str:
    """The address of a file beside the page, or in a folder there, whatever it is called."""
    return "./" + "".join(f"{quote(os.fsencode(part), safe='')}/" for part in (folder,) if part) + quote(os.fsencode(name), safe="")


@dataclass(frozen=True, slots=True)
class Badge:
    """A verdict or a finding. fine: whether it is as its author expects; said in words and by a sign, never by colour alone."""

    text: str
    fine: bool = True


@dataclass(frozen=True, slots=True)
class Math:
    """A formula. mathml: the whole <math> element; text: the same in a line of text."""

    mathml: str
    text: str


Inline = str | Code | Link | Badge | Math | tuple["Inline", ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text. note: whether it is said in passing."""

    content: Inline
    note: bool = False


@dataclass(frozen=True, slots=True)
class Callout:
    """What a reader must not miss, set apart. fine: whether it is good news; the content says so in words."""

    content: Inline
    fine: bool


@dataclass(frozen=True, slots=True)
class Facts:
    """Terms, each with what it is here."""

    rows: Sequence[tuple[str, Inline]]


@dataclass(frozen=True, slots=True)
class Items:
    """A list. numbered: whether other places name its items by their numbers, from 1 on."""

    items: Sequence[Inline]
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a header. caption: what the rows are, for those who do not see the table around them.

    interactive: whether a reader may sort and filter it where scripts run. numeric: the columns whose cells are numbers.
    cards: whether every cell says by itself what it is, so that a narrow screen shows each row as a card. tall: whether people write in it.
    """

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[Inline]]
    numeric: frozenset[int] = frozenset()
    interactive: bool = False
    cards: bool = False
    tall: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture. svg: the whole <svg> element; caption: what it shows, in words that do without it."""

    svg: str
    caption: str


@dataclass(frozen=True, slots=True)
class Listing:
    """Commands or output, as they are."""

    text: str


@dataclass(frozen=True, slots=True)
class Node:
    """A step of a proof, with what it rests on below it."""

    content: Inline
    below: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Tree:
    """A proof from the claim to its leaves."""

    root: Node


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks that a reader opens. anchor: where links to it lead; open: whether it is open from the start.

    aside: whether it holds what is said elsewhere too, for a closer look, which Markdown leaves out.
    """

    summary: Inline
    blocks: Sequence[Block]
    anchor: str = ""
    open: bool = False
    aside: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under a heading."""

    title: str
    blocks: Sequence[Block]
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """Blocks side by side where there is room."""

    blocks: Sequence[Block]


Block = Paragraph | Callout | Facts | Items | Table | Figure | Listing | Tree | Fold | Section | Row
