"""Blocks to HTML: one file that needs nothing else, by the templates beside this module."""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from dpverify.report.page.blocks import Badge, Block
from dpverify.runtime.outside import visible
from dpverify.runtime.version import __version__

WIDE: Final = 24
"""Letters of a formula that surely stand on a narrow screen; a longer one scrolls by itself."""
SIGNS: Final = {
    "PROVED": "\N{CHECK MARK}", "REFUTED": "\N{MULTIPLICATION X}", "VIOLATION": "\N{MULTIPLICATION X}",
    "UNKNOWN": "?", "NONCONFORMING": "\N{NOT EQUAL TO}", "NO VIOLATION SEEN": "\N{WHITE CIRCLE}",
}  # fmt: skip
"""What stands before an outcome, for those who do not see colours; an exclamation mark before any other."""
_STYLE: Final = re.compile(r'(<\w[^<>]*?) style="([^"<>]*)"')
"""The style of an element; what is no tag may be foreign text."""
_ANCHOR: Final = re.compile(r'(<text [^>]*?) text-anchor="(middle|end)"([^>]*>)')
"""Where the text of a picture begins, which is a matter of style too."""


def document(title: str, content: Sequence[Block]) -> str:
    """A whole page."""
    environment = _environment()
    style, script = (_without_gaps(_part(environment, name)) for name in ("style.css", "script.js"))
    shown, rules = _classed(_shorter(_blocks(content, 2)))
    style = "\n".join([style, *rules])
    page = environment.get_template("page.html.j2").render(
        title=title, content=shown, style=style, script=script, policy=_policy(style, script), version=__version__
    )
    return _without_gaps(page) + "\n"


def _blocks(content: Sequence[Block], level: int) -> str:
    environment = _environment()
    module = environment.get_template("blocks.html.j2", globals=environment.globals).module
    return str(module.blocks(content, level))  # type: ignore[attr-defined]


def part(content: Sequence[Block], level: int) -> str:
    """Blocks as they stand in a page, but for the classes that a whole page gives to styles."""
    return _without_gaps(_shorter(_blocks(content, level)))


def _without_gaps(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if line.strip())


def _policy(style: str, script: str) -> str:
    """What a browser lets the page do: its own style and script, by their digests, and nothing else. It asks no other place for anything.

    The pictures set their colours in attributes, which can load nothing, as there is nothing that may be loaded.
    """
    of_style, of_script = (b64encode(sha256(text.encode()).digest()).decode() for text in (style, script))
    return (
        f"default-src 'none'; script-src 'sha256-{of_script}'; style-src 'unsafe-inline'; style-src-elem 'sha256-{of_style}'; "
        "style-src-attr 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    )


def fragment(content: Sequence[Block], level: int = 4) -> str:
    """Blocks with their style and nothing round them, for a notebook; the style reaches no further than they do."""
    style = _part(_environment(), "style.css")
    scoped = f"@scope {{ {style.replace(':root', ':scope')} }}"
    # what links inside the page lead to is not there
    shown = re.sub(r'<a href="#[^"]*">(.*?)</a>', r"\1", _blocks(content, level))
    return f'<div class="dpverify"><style>{scoped}</style>{shown}</div>'


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


def _classed(shown: str) -> tuple[str, list[str]]:
    """The same with a class in the place of every style that stands there often, and the rules of the classes."""
    shown = _ANCHOR.sub(r'\1 style="text-anchor:\2"\3', shown)
    often = [style for style, count in sorted(Counter(found[2] for found in _STYLE.finditer(shown)).items()) if count > 1]
    names = {style: f"s{number}" for number, style in enumerate(often)}

    def put(found: re.Match[str]) -> str:
        return f'{found[1]} class="{names[found[2]]}"' if found[2] in names else found[0]

    return _STYLE.sub(put, shown), [f".{name} {{ {style} }}" for style, name in names.items()]


@lru_cache(maxsize=1)
def _environment() -> Environment:
    loader = PackageLoader("dpverify.report.page")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, finalize=_seen)
    environment.globals.update(kind_of=lambda thing: type(thing).__name__, tone=tone, sign=sign, wide=WIDE)
    return environment


def _seen(value: Any) -> Any:
    """Foreign text as a page shows it, its line breaks meant; what the renderers below made is as it is."""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return "\n".join(map(visible, value.split("\n")))


def _part(environment: Environment, name: str) -> str:
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]
