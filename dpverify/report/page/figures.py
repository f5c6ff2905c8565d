"""The pictures of a page as files of their own, which need no page: for papers and slides."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from dpverify.report.page.blocks import Block, Figure, Fold, Row, Section

_COLOUR: Final = re.compile(r"var\(--[a-z]+,(#[0-9a-f]+)\)")
_NAME: Final = re.compile(r'aria-labelledby="([A-Za-z0-9-]+)-t ')
_SIZE: Final = re.compile(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"')


def files(content: Sequence[Block]) -> Mapping[str, str]:
    """Every picture in some blocks, by the name that its ids begin with: a whole SVG document, in the colours of paper."""
    return {named[1]: standalone(figure.svg) for figure in _figures(content) if (named := _NAME.search(figure.svg))}


def standalone(svg: str) -> str:
    """An `svg` element as a document, with its colours written out, for programs that know no custom properties."""
    return _COLOUR.sub(r"\1", svg).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" class="dpverify-figure" ', 1) + "\n"


def size(svg: str) -> tuple[float, float]:
    """The width and the height of a picture, in its own units."""
    found = _SIZE.search(svg)
    if found is None:
        raise ValueError("a picture without a view box.")
    return float(found[1]), float(found[2])


def _figures(content: Sequence[Block]) -> Iterator[Figure]:
    for block in content:
        if isinstance(block, Figure):
            yield block
        elif isinstance(block, Fold | Section | Row):
            yield from _figures(block.blocks)
