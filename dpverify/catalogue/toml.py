"""TOML with exact numbers: bounded text, and tables read key by key with a fault for whatever is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from dpverify.catalogue.synonyms import SYNONYMS
from dpverify.runtime.folders import MAX_BYTES
from dpverify.runtime.outside import plainly, printable, read_regular
from dpverify.trusted.kernel.errors import ExprError
from dpverify.trusted.kernel.expr import (
    MAX_DIGITS,
    Expr,
    format_expr,
)

_CURLY: Final = "\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}"
MAX_NESTING: Final = 32


@dataclass(frozen=True, slots=True)
class Decimal:
    """A TOML decimal as it is written."""

    text: str


@dataclass(frozen=True, slots=True)
class Unwritten:
    """A value from Python that no claim file could hold: as it is shown, and why."""

    text: str
    why: str


class Fault(Exception):
    """What is wrong with one value; the reader of the table adds where."""


T = TypeVar("T")
D = TypeVar("D")


def read_text(path: Path) -> str:
    """The text of a file of bounded size, without the mark that some editors put in front. Raises Fault or OSError."""
    raw = read_regular(path, MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise Fault(f"more than {MAX_BYTES} bytes; that is too large for a claim file.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Fault(f"not UTF-8 at byte {error.start}. Save it as UTF-8.") from error


_LEXEME = re.compile(
    r'"""(?:[^\\]|\\.)*?"""' r"|'''.*?'''" r'|"(?:[^"\\\n]|\\.)*"' r"|'[^'\n]*'" r"|#[^\n]*" r"|[\[\]{}.\n=,]",
    re.DOTALL,
)


def bound_nesting(text: str) -> None:
    """Refuse brackets and dotted keys deeper than any claim needs, before the parser recurses into them."""
    depth = dots = 0
    for match in _LEXEME.finditer(text):
        mark = match.group()
        if mark in "[{":
            depth += 1
        elif mark in "]}":
            depth -= 1
        dots = dots + 1 if mark == "." else 0 if mark in "\n=,[{" else dots
        if depth > MAX_NESTING or dots > MAX_NESTING:
            line = text.count("\n", 0, match.start()) + 1
            raise Fault(f"nested more than {MAX_NESTING} deep at line {line}.")


def long_integers(value: Any, place: str) -> Iterator[str]:
    """Where integers have more digits than a number may have: hexadecimal ones, whose length the parser does not bound."""
    if isinstance(value, int) and abs(value) >= 10**MAX_DIGITS:
        yield f"{place}: an integer of more than {MAX_DIGITS} digits."
    for key, item in value.items() if isinstance(value, dict) else ():
        yield from long_integers(item, f"{place}, {key}")
    for number, item in enumerate(value if isinstance(value, list) else (), 1):
        yield from long_integers(item, f"{place} {number}")


def not_readable(error: ValueError, text: str) -> str:
    """Why a text that is TOML has no value: an integer of more digits than Python reads, or an impossible date."""
    digits = re.search(rf"\d(?:_?\d){{{MAX_DIGITS},}}", text)
    if digits is None:
        return f"not readable: {plainly(error)}."
    return f"an integer of more than {MAX_DIGITS} digits at line {text.count(chr(10), 0, digits.start()) + 1}."


def not_toml(error: Exception, text: str) -> str:
    """Why a text is no TOML, with the way out of what is wrong most often."""
    said = str(error)
    if text.lstrip().startswith("{"):
        return "not TOML: it looks like JSON. `dpverify new NAME --kind builtin` writes a claim file that shows the form."
    found = re.search(r"at line (\d+)", said)
    line = text.split("\n")[int(found[1]) - 1 :][:1] if found else []
    if any(quote in part for part in line for quote in _CURLY):
        return f'not TOML: {said}. Quotes are straight, as in "1/2"; these are curly.'
    if "\r" in text.replace("\r\n", ""):
        return f"not TOML: {said}. Its lines end in carriage returns alone; save it with line feeds."
    if (sign := next((c for c in text if ord(c) < 32 and c not in "\t\r\n"), None)) is not None:
        return f"not TOML: {said}. It holds the character {sign!r}, which no text has."
    ways = {
        "Invalid value": ' Quote strings, as in kind = "builtin".',
        "Expected newline": " What comes after the value is no part of it. Numbers are written as 0.5, and everything else in quotes.",
        "Cannot overwrite a value": " Duplicate key in one table.",
        "Cannot declare": " Duplicate table. [[claim]] has two brackets, once for each claim, and [mechanism] one.",
        "Unbalanced": " A quote or a bracket is not closed.",
        "Illegal character": " A quote is not closed on its line.",
        "Unclosed": " A bracket is not closed.",
    }
    return f"not TOML: {said}.{next((way for begin, way in ways.items() if said.startswith(begin)), '')}"


class Fields:
    """One TOML table, read key by key: what is missing, unknown or wrong becomes a fault with its place."""

    def __init__(self, data: Mapping[str, Any], where: str, faults: list[str]) -> None:
        self.data, self.where, self.faults = data, where, faults
        self.taken: set[str] = set()

    def fault(self, text: str) -> None:
        self.faults.append(f"{self.where}: {text}")

    def has(self, key: str) -> bool:
        return key in self.data

    def need(self, key: str, read: Callable[[Any], T], default: D, *, way: str = "") -> T | D:
        """The value under a key that must be there; a fault, with the way out, and `default` when it is not, or is wrong.

        The default only lets reading go on, so that all faults are found; nothing with a fault gets through.
        """
        if key not in self.data:
            self.taken.add(key)
            self.fault(f"{key} is missing.{way and f' {way}'}")
        return self.may(key, read, default)

    def may(self, key: str, read: Callable[[Any], T], default: D) -> T | D:
        """The value under a key; `default` where it is absent, or wrong, which is a fault."""
        self.taken.add(key)
        if key not in self.data:
            return default
        try:
            return read(self.data[key])
        except Fault as error:
            self.fault(f"{key} = {show(self.data[key])} {error}")
        except ExprError as error:
            self.fault(f"{key} = {show(self.data[key])}: {error}")
        return default

    def one_of(self, keys: tuple[str, ...]) -> str | None:
        """The only one of the keys that is there; a fault where none or several are."""
        given = [key for key in keys if key in self.data]
        if len(given) == 1:
            return given[0]
        self.taken.update(keys)
        either = " or ".join(keys)
        self.fault(f"give {either}, not both." if given else f"{either} is missing: give one of them.")
        return None

    def done(self) -> None:
        """Whatever has not been asked for is unknown."""
        known = ", ".join(sorted(self.taken))
        for key in self.data:
            if key not in self.taken:
                self.fault(f"unknown key {show(key)}.{meant(key, self.taken) or f' Known here: {known}.'}")


def shorten(expr: Expr) -> str:
    """An expression for a message, shortened."""
    text = format_expr(expr)
    return text if len(text) <= 80 else text[:77] + "..."


def meant(word: str, known: Iterable[str]) -> str:
    """A question whether the nearest known word was meant; empty where none is near."""
    known = list(known)
    if same := [name for name in known if name.casefold() == word.casefold()]:
        return f" Did you mean {same[0]!r}?"
    if named := [name for name in SYNONYMS.get(word.casefold(), ()) if name in known]:
        return f" Did you mean {named[0]!r}?"
    begins = sorted(name for name in known if len(word) > 2 and name.startswith(word))
    from difflib import get_close_matches

    close = get_close_matches(word, known, n=1) or begins
    return f" Did you mean {close[0]!r}?" if close else ""


def show(value: Any) -> str:
    """A value for a message, as TOML writes it, shortened."""
    if isinstance(value, Decimal | Unwritten):
        return value.text
    if isinstance(value, str | bool | int):
        try:
            text = json.dumps(value, ensure_ascii=False)
        except ValueError:
            text = "an integer of thousands of digits"
    elif isinstance(value, list):
        text = f"[{', '.join(map(show, value[:8]))}{', ...' if len(value) > 8 else ''}]"
    elif isinstance(value, dict):
        text = f"{{{', '.join(f'{key} = {show(item)}' for key, item in list(value.items())[:8])}}}"
    else:
        text = str(value)
    text = printable(text)
    return text if len(text) <= 80 else text[:77] + "..."
