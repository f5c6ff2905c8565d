"""What the theory, and the tactics by which files are proved over it, rest on: found once, when the theory is compiled.

Coq finds what one theorem rests on by going through all proofs below it, which takes several times as long as the proof of a replayed file.
Such a file states definitions and theorems alone, so it rests on no more than what it calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from dpverify.project.formal import coq

_FILE: Final = "rests_on.txt"
_NAMED: Final = re.compile(
    r"^\s*(?:Module\s+(?!Type\b|Import\b)(?P<opened>\w+)\s*\.|End\s+(?P<closed>\w+)\."
    r"|(?:Local |Global )?(?:Lemma|Theorem|Corollary|Proposition|Fact|Remark)\s+(?P<theorem>[\w']+))",
    re.MULTILINE,
)
_MARK: Final = re.compile(r'\(\*|\*\)|"')
_ASSUMING: Final = re.compile(
    r"\b(Axioms?|Parameters?|Conjectures?|Admitted|Admit|admit|give_up|Declare|Load|Primitive|Redirect|bypass_check"
    r"|(?:Unset|Set)\s+(?:Guard|Positivity|Universe)\s+Checking|(?:Unset|Set)\s+\w+\s+Checking)\b"
)
"""What assumes something wherever it stands."""
_OF_SECTIONS: Final = re.compile(r"\b(Variables?|Hypothes[ie]s|Context|Let)\b")
"""What assumes something outside sections."""
_OPENED: Final = re.compile(r"\b(?:(Section)|Module(?:\s+Type)?)\s+(\w+)[^.:=]*\.|\bEnd\s+(\w+)\s*\.")
_TROUBLING: Final = re.compile(r"\bUnset\b")
"""What a replayed file has no use for beside these."""
_PRINTED: Final = "Print Assumptions claim."
# an example for each tactic, with every function that claims have
_TACTICS: Final = """
From Coq Require Import Reals Lra Psatz Lia.
From Interval Require Import Tactic.
Local Open Scope R_scope.
Lemma by_interval x : 1 <= x <= 2 ->
  exp x + ln x + sqrt x + Rabs x + atan x + / x + x ^ 3 + powerRZ x 2 <= 100 /\\ 1 / 10 <= cos (x / 4) + sin (x / 4) + PI.
Proof. intros. split; interval. Qed.
Lemma by_lra x y : x <= y -> y < 3 -> 2 * x < 6.
Proof. intros. lra. Qed.
Lemma by_nra x y : 0 <= x -> 0 <= y -> 0 <= x * y + x * x.
Proof. intros. nra. Qed.
Lemma by_field x : x <> 0 -> x / x + x = 1 + x.
Proof. intros. field. assumption. Qed.
Lemma by_ring x : (x + 1) * (x - 1) = x * x - 1.
Proof. ring. Qed.
Lemma by_lia (n m : nat) : (n < m -> n + 1 <= m)%nat.
Proof. lia. Qed.
"""
_PROVED: Final = ("by_interval", "by_lra", "by_nra", "by_field", "by_ring", "by_lia")


def axioms(compiled: Path) -> tuple[str, ...]:
    """Those of all theorems of a compiled theory and of the tactics together. Raises CoqError."""
    kept = compiled / _FILE
    if not kept.is_file():
        files = coq.needed(compiled)
        together = ", ".join((*_PROVED, *(f"@{name}" for file in files for name in theorems(file, compiled))))
        modules = " ".join(file.stem for file in files)
        text = f"From dpverify Require {modules}.\n{_TACTICS}\nDefinition together := ({together}).\nPrint Assumptions together.\n"
        found = coq.check(text, compiled, coq.LIBRARY_SECONDS, "together")
        if found.fault:
            raise coq.CoqError(f"What the theory rests on is not found here: {found.fault} Are all of these installed? {coq.INSTALL}")
        meant = coq.whole_names(found.axioms, [file.stem for file in files], compiled)
        names = [name for short in found.axioms for name in meant[short] or (short,)]
        if others := coq.foreign(names):
            raise coq.CoqError(f"The theory rests on more than the axioms of its libraries: {', '.join(others)}.")
        kept.write_text("\n".join(dict.fromkeys(names)), encoding="utf-8")
    return tuple(kept.read_text(encoding="utf-8").split())


def fault(text: str, compiled: Path, seconds: float | None) -> str:
    """What is wrong with a file that is to rest on no more than the theory and the tactics; empty where nothing is."""
    plain = uncommented(text)
    words = [found[0] for found in (_ASSUMING.search(plain), _OF_SECTIONS.search(plain), _TROUBLING.search(plain)) if found]
    if words:
        return f"it has the word {words[0]}, and may assume what is not proved."
    return coq.check(text.replace(_PRINTED, ""), compiled, seconds).fault


def assumed(text: str) -> list[str]:
    """The words of a file by which it assumes what is not proved: anywhere, or outside its sections."""
    plain = uncommented(text)
    found = [one[0] for one in _ASSUMING.finditer(plain)]
    opened, sections, start = list[tuple[str, bool]](), 0, 0
    for mark in [*_OPENED.finditer(plain), None]:
        if not sections:
            found += [one[0] for one in _OF_SECTIONS.finditer(plain[start : mark.start() if mark else None]) if one[0] != "Let"]
        if mark is None:
            break
        start = mark.end()
        if mark[3]:
            if opened and opened[-1][0] == mark[3]:
                sections -= opened.pop()[1]
        else:
            opened.append((mark[2], bool(mark[1])))
            sections += bool(mark[1])
    return found


def uncommented(text: str) -> str:
    """A file without its comments, which nest, and without what its texts in quotes say."""
    kept, depth, quoted, start = list[str](), 0, False, 0
    for mark in _MARK.finditer(text):
        if mark[0] == '"':
            if not depth:
                kept.append(text[start : mark.end()] if not quoted else '"')
            quoted = not quoted
        elif quoted:
            continue
        elif mark[0] == "(*":
            if not depth:
                kept.append(text[start : mark.start()])
            depth += 1
        elif depth:
            depth -= 1
        else:
            continue
        start = mark.end()
    return "".join([*kept, "" if depth or quoted else text[start:]])


def theorems(file: Path, folder: Path) -> Iterator[str]:
    """The full names of the theorems of a file in a folder of the theory, with the modules that they stand in."""
    within: list[str] = []
    for found in _NAMED.finditer(uncommented(file.read_text(encoding="utf-8"))):
        if found["opened"]:
            within.append(found["opened"])
        elif found["theorem"]:
            yield ".".join((coq.module(file, folder), *within, found["theorem"]))
        elif within and within[-1] == found["closed"]:
            within.pop()
