"""Tables in pages: between `<!-- table: name -->` and `<!-- end -->`, a row for each case, computed when it is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "sources"
COLOURS = (
    "--ink:#1c1e21;--grid:#dfe2e6;--accent:#0b57a4;--warn:#a3170f;--fill:#cfe0f3;--paper:#fff",
    "--ink:#e9eaec;--grid:#33373d;--accent:#7db7ff;--warn:#ff9a8f;--fill:#23405f;--paper:#15171a",
)
"""Of pictures on light and on dark screens."""


@dataclass(frozen=True)
class Row:
    """A line of a table. key: the cells that say what it is of. cells: computes the others. slow: whether that takes more than a moment."""

    key: tuple[str, ...]
    cells: Callable[[], tuple[str, ...]]
    slow: bool = False

    @property
    def start(self) -> str:
        """How its line begins."""
        return f"| {' | '.join(self.key)} | "


@dataclass(frozen=True)
class Table:
    """A table of a page, by the name in its comment."""

    name: str
    header: tuple[str, ...]
    rows: Sequence[Row]


@dataclass(frozen=True)
class Page:
    """A page of docs/sources/. pictures: from the name of a file to what draws it from the text of the page."""

    name: str
    tables: Sequence[Table]
    pictures: Sequence[tuple[str, Callable[[str], str]]] = ()

    @property
    def path(self) -> Path:
        """Where it is."""
        return FOLDER / f"{self.name}.md"

    def written(self, text: str, *, quick: bool) -> str:
        """The page with the numbers of today; quick: slow rows stay as they stand. Raises ValueError where a row is not there."""
        for table in self.tables:
            before, middle, after = _block(text, table.name)
            lines = [_line(table.header), _line(tuple("---" for _ in table.header))]
            lines += [_kept(row, middle) if quick and row.slow else row.start + _line(row.cells())[2:] for row in table.rows]
            text = f"{before}\n\n{chr(10).join(lines)}\n\n{after}"
        return text


def cells(text: str, name: str) -> list[list[str]]:
    """The rows of a table of a page, as texts, without its header."""
    lines = [line for line in _block(text, name)[1].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def standalone(svg: str) -> str:
    """An inline picture as a file, in colours for light and dark."""
    style = f"<style>:root{{{COLOURS[0]};background:var(--paper)}}@media(prefers-color-scheme:dark){{:root{{{COLOURS[1]}}}}}</style>"
    opened = svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" width="540" ', 1)
    return re.sub(r"(?<=>)(?=<title)", style, opened, count=1) + "\n"


def _block(text: str, name: str) -> tuple[str, str, str]:
    found = re.fullmatch(rf"(.*<!-- table: {re.escape(name)} -->)(.*?)(<!-- end -->.*)", text, re.DOTALL)
    if found is None:
        raise ValueError(f"there is no table {name!r}: it is between <!-- table: {name} --> and <!-- end -->.")
    return found[1], found[2], found[3]


def _line(parts: Sequence[str]) -> str:
    return f"| {' | '.join(parts)} |" if parts[0] != "---" else f"|{'|'.join(parts)}|"


def _kept(row: Row, block: str) -> str:
    kept = [line for line in block.splitlines() if line.startswith(row.start)]
    if len(kept) != 1:
        raise ValueError(f"there is no row {row.start}: run `python tools/computed`.")
    return kept[0]
