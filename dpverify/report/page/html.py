"""Blocks to HTML: one file that needs nothing else, by the templates beside this module."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from dpverify import __version__
from dpverify.report.page.blocks import Badge, Block

WIDE: Final = 24
"""Letters of a formula that surely stand on a narrow screen; a longer one scrolls by itself."""
SIGNS: Final = {
    "PROVED": "\N{CHECK MARK}", "REFUTED": "\N{MULTIPLICATION X}", "VIOLATION": "\N{MULTIPLICATION X}",
    "UNKNOWN": "?", "NONCONFORMING": "\N{NOT EQUAL TO}", "NO VIOLATION SEEN": "\N{WHITE CIRCLE}",
}  # fmt: skip
"""What stands before an outcome, for those who do not see colours; an exclamation mark before any other."""


def document(title: str, content: Sequence[Block]) -> str:
    """A whole page."""
    environment = _environment()
    style, script = (_part(environment, name) for name in ("style.css", "script.js"))
    page = environment.get_template("page.html.j2").render(title=title, content=content, style=style, script=script, version=__version__)
    return "\n".join(line for line in _shorter(page).split("\n") if line.strip()) + "\n"


def fragment(content: Sequence[Block], level: int = 4) -> str:
    """Blocks with their style and nothing round them, for a notebook; the style reaches no further than they do."""
    environment = _environment()
    module = environment.get_template("blocks.html.j2", globals=environment.globals).module
    style = _part(environment, "style.css")
    scoped = f"@scope {{ {style.replace(':root', ':scope')} }}"
    return f'<div class="dpverify"><style>{scoped}</style>{module.blocks(content, level)}</div>'  # type: ignore[attr-defined]


def tone(badge: Badge) -> str:
    """The class of a badge: only a surprise stands out, for a claim that is refuted as its author expects is no bad news."""
    return "loud" if not badge.fine else "good" if badge.text == "PROVED" else "calm"


def sign(badge: Badge) -> str:
    """The sign of a badge."""
    return SIGNS.get(badge.text, "!")


def _shorter(page: str) -> str:
    """Without what MathML knows of a bracket from its place; whether it grows with what it holds, browsers must be told."""
    for form in ("prefix", "postfix"):
        page = page.replace(f' form="{form}" fence="true"', "")
    return page


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(loader=PackageLoader("dpverify.report.page"), autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.globals.update(kind_of=lambda thing: type(thing).__name__, tone=tone, sign=sign, wide=WIDE)
    return environment


def _part(environment: Environment, name: str) -> str:
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]
