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

_FILE: Final = "axioms.txt"
_NAMED: Final = re.compile(
    r"^\s*(?:Module\s+(?!Type\b|Import\b)(?P<opened>\w+)\s*\.|End\s+(?P<closed>\w+)\."
    r"|(?:Local |Global )?(?:Lemma|Theorem|Corollary|Proposition|Fact|Remark)\s+(?P<theorem>[\w']+))",
    re.MULTILINE,
)
_COMMENT: Final = re.compile(r"\(\*.*?\*\)", re.DOTALL)
_ASSUMING: Final = re.compile(r"\b(Axioms?|Parameters?|Conjectures?|Variables?|Hypothes[ie]s|Admitted|admit|give_up|Declare|Unset|Load)\b")
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
        together = ", ".join((*_PROVED, *(f"@{name}" for file in files for name in theorems(file))))
        modules = " ".join(file.stem for file in files)
        text = f"From dpverify Require {modules}.\n{_TACTICS}\nDefinition together := ({together}).\nPrint Assumptions together.\n"
        found = coq.check(text, compiled, coq.LIBRARY_SECONDS, "together")
        if found.fault:
            raise coq.CoqError(f"What the theory rests on is not found here: {found.fault} Are all of these installed? {coq.INSTALL}")
        kept.write_text("\n".join(found.axioms), encoding="utf-8")
    return tuple(kept.read_text(encoding="utf-8").split())


def fault(text: str, compiled: Path, seconds: float | None) -> str:
    """What is wrong with a file that is to rest on no more than the theory and the tactics; empty where nothing is."""
    if word := _ASSUMING.search(_COMMENT.sub("", text)):
        return f"it has the word {word[0]}, and may assume what is not proved."
    return coq.check(text.replace(_PRINTED, ""), compiled, seconds).fault


def theorems(file: Path) -> Iterator[str]:
    """The full names of the theorems of a file, with the modules that they stand in."""
    within: list[str] = []
    for found in _NAMED.finditer(_COMMENT.sub("", file.read_text(encoding="utf-8"))):
        if found["opened"]:
            within.append(found["opened"])
        elif found["theorem"]:
            yield ".".join(("dpverify", file.stem, *within, found["theorem"]))
        elif within and within[-1] == found["closed"]:
            within.pop()
