"""What a page of a report lists, read from the page itself: the files beside it, and the SHA-256 of its certificates."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote_to_bytes

from dpverify.runtime.outside import read_regular

PAGE: Final = "index.html"
MAX_BYTES: Final = 1 << 30
_GENERATOR: Final = "dpverify "
_HEAD: Final = 1 << 14
"""Bytes at the beginning of a page in which it says what made it."""


@dataclass(slots=True)
class Listed:
    """files: what the page links to beside it, by name; digests: of those that it gives one of; anchors: of the claims they are of."""

    files: list[str] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)
    anchors: dict[str, str] = field(default_factory=dict)


def is_page(file: Path) -> bool:
    """Whether a file is the page of a report, as its head says."""
    try:
        head = read_regular(file, _HEAD).decode("utf-8", "replace")
    except OSError:
        return False
    return f'<meta name="generator" content="{_GENERATOR}' in head


def listed(file: Path) -> Listed:
    """What a page lists. Raises OSError where it cannot be read."""
    reader = _Reader()
    reader.feed(read_regular(file, MAX_BYTES).decode("utf-8", "replace"))
    reader.close()
    return reader.found


class _Reader(HTMLParser):
    """Takes note of links to files, and of a digest in the facts that follow the link to a certificate."""

    def __init__(self) -> None:
        super().__init__()
        self.found = Listed()
        self.name = ""
        self.claim = ""
        self.code: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        target = known.get("href") or ""
        self.claim = known.get("id") or self.claim if tag == "div" else self.claim
        if tag == "a" and target and not target.startswith("#"):
            target = target.removeprefix("./").partition("#")[0]  # a name with this sign in it is quoted
            name = os.fsdecode(unquote_to_bytes(target.encode(errors="surrogatepass")))
            self.found.files += [] if name in self.found.files else [name]
            self.name = name if name.endswith(".cert.json") else ""
        elif tag == "code":
            self.code = []

    def handle_data(self, data: str) -> None:
        if self.code is not None:
            self.code.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "code" and self.code is not None:
            text = "".join(self.code)
            if self.name and re.fullmatch("[0-9a-f]{64}", text):
                self.found.digests[self.name] = text
                self.found.anchors[self.name] = self.claim
                self.name = ""
            self.code = None
