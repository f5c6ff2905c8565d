"""Which rules are machine-checked: what stands above each theorem of specs/formal.

A theorem that states a rule has a comment above it, `(* Rule: NAME. *)`, or one of its sides alone, `(* Rule: NAME, upper. *)`, or a
part, `(* Rule: NAME, upper, in part: what is missing. *)`. A rule without such a theorem is proved on paper, in the section of
docs/theory that has its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from dpverify.project.formal.coq import CoqError, theory

_RULE: Final = re.compile(
    r"\(\*\s*Rule:\s*(?P<rule>[a-z0-9-]+)(?:,\s*(?P<side>upper|lower))?(?:,\s*in part:\s*(?P<missing>.*?))?\.\s*\*\)", re.DOTALL
)
_NEXT: Final = re.compile(r"\s*(?:\(\*.*?\*\)\s*)*(?:Theorem|Lemma|Corollary)\s+([\w']+)", re.DOTALL)
_SAID: Final = re.compile(r"\(\*\s*Rule:")


@dataclass(frozen=True, slots=True)
class Formal:
    """A theorem in Coq about a rule. file: its path in the theory; side: empty for both; missing: of the rule, if it is not all of it."""

    rule: str
    theorem: str
    file: str
    side: str = ""
    missing: str = ""


def theorems(file: Path, folder: Path) -> list[Formal]:
    """Those of one file in a folder of the theory.

    Raises ValueError for a comment that is not as the rules of this module say, or that no theorem follows.
    """
    text, name = file.read_text(encoding="utf-8"), file.relative_to(folder).as_posix()
    found = list[Formal]()
    for said in _SAID.finditer(text):
        match = _RULE.match(text, said.start())
        line = text.count("\n", 0, said.start()) + 1
        if match is None:
            raise ValueError(f"{name}, line {line}: this comment is not `Rule: NAME[, upper|lower][, in part: what is missing].`")
        following = _NEXT.match(text, match.end())
        if following is None:
            raise ValueError(f"{name}, line {line}: no theorem stands below this comment.")
        missing = " ".join((match["missing"] or "").split())
        found.append(Formal(match["rule"], following.group(1), name, match["side"] or "", missing))
    return found


@cache
def ledger() -> Mapping[str, tuple[Formal, ...]]:
    """The theorems about each rule that has any; nothing where the theory is not installed."""
    try:
        folder = theory()
    except CoqError:
        return {}
    held = dict[str, list[Formal]]()
    for one in (one for file in sorted(folder.rglob("*.v")) for one in theorems(file, folder)):
        held.setdefault(one.rule, []).append(one)
    return {rule: tuple(entries) for rule, entries in held.items()}


def standing(rule: str) -> str:
    """How a rule is proved, in a word or two: what is machine-checked of it."""
    entries = ledger().get(rule, ())
    sides = {entry.side for entry in entries if not entry.missing}
    if "" in sides or sides == {"upper", "lower"}:
        return "machine-checked"
    if sides:
        return f"machine-checked ({next(iter(sides))} bounds)"
    return "machine-checked in part" if entries else "proof on paper"


def told(rule: str) -> Iterator[str]:
    """The same with the theorems, and what is missing of each."""
    entries = ledger().get(rule, ())
    if not entries:
        yield f"no, the proof is on paper: docs/theory, {rule}"
    for entry in dict.fromkeys(entries):
        sort = f", {entry.side} bounds" if entry.side else ""
        part = f", in part: {entry.missing}" if entry.missing else ""
        yield f"{entry.theorem} in specs/formal/{entry.file}{sort}{part}"


def together(rules: tuple[str, ...]) -> str:
    """Of several rules which are machine-checked, for people."""
    groups = dict[str, list[str]]()
    for rule in rules:
        groups.setdefault(standing(rule), []).append(rule)
    return "; ".join(f"{word}: {', '.join(names)}" for word, names in groups.items())
