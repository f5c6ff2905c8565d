"""What theorems say, read off the files below the trust line: the docstring of each states its theorem, what it checks and its source.

    Theorem: one paragraph.

    Checked:
    - one hypothesis, which the code checks
    - another

    Source: where the proof is, the literature

Nothing below the line reads these words. What a theorem assumes, judgements show: that is code (`ASSUMED`).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dpverify.catalogue.source import Source
from dpverify.trusted import theories
from dpverify.trusted.kernel.registry import THEORIES

_FOLDER = Path(theories.__file__).parent
_HEADS = ("Theorem: ", "Checked:\n- ", "Source: ")


@dataclass(frozen=True, slots=True)
class Stated:
    """A theorem in words: what it states, which of its hypotheses are checked, and where it comes from."""

    statement: str
    checked: tuple[str, ...]
    source: Source


@cache
def stated(name: str) -> Stated:
    """What a theorem of the registry states, by its name."""
    text = file_of(name).read_text(encoding="utf-8")
    return parsed(ast.get_docstring(ast.parse(text)) or "")


def file_of(name: str) -> Path:
    """The file of a theorem of the registry."""
    return _FOLDER / THEORIES[name] / "rules" / f"{name.replace('-', '_')}.py"


def parsed(docstring: str) -> Stated:
    """What a docstring states. Raises ValueError where it does not say each thing once."""
    paragraphs = docstring.split("\n\n")
    found = [[text.removeprefix(head) for text in paragraphs if text.startswith(head)] for head in _HEADS]
    if any(len(each) != 1 for each in found):
        raise ValueError("a theorem has one paragraph each that begins 'Theorem: ', 'Checked:' and 'Source: '")
    [statement], [checked], [source] = found
    text, _, place = _flat(source).partition(", ")
    return Stated(_flat(statement), tuple(map(_flat, checked.split("\n- "))), Source(text, place))


def _flat(text: str) -> str:
    return " ".join(text.split())
