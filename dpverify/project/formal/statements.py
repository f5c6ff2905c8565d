"""The theory as statements: what a replayed file needs of it. The proofs are checked once, when the theory is compiled.

Coq asks of a theorem what it rests on by going through all proofs below it, which takes several times as long as the replayed file itself.
So a file is checked against the statements of the theory alone, of which Coq then says which it uses; what all of them together rest on
is found once.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dpverify.project.formal import coq

_FOLDER: Final = "statements"
_AXIOMS: Final = "axioms.txt"
_NAMED: Final = re.compile(
    r"^\s*(?:Module\s+(?!Type\b|Import\b)(?P<opened>\w+)\s*\.|End\s+(?P<closed>\w+)\."
    r"|(?:Local |Global )?(?:Lemma|Theorem|Corollary|Proposition|Fact|Remark)\s+(?P<theorem>[\w']+))",
    re.MULTILINE,
)
_COMMENT: Final = re.compile(r"\(\*.*?\*\)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Statements:
    """Where they are; the names of all theorems, and what these rest on together."""

    folder: Path
    theorems: frozenset[str]
    axioms: tuple[str, ...]


def statements(compiled: Path) -> Statements:
    """Those of a compiled theory, made once. Raises CoqError."""
    folder, files = compiled / _FOLDER, coq.needed(compiled)
    names = [name for file in files for name in theorems(file)]
    if not folder.is_dir():
        with tempfile.TemporaryDirectory(dir=compiled) as place:
            work = Path(place) / _FOLDER
            work.mkdir()
            for file in files:
                shutil.copy(file, work / file.name)
                _require(coq.run(work / file.name, work, coq.LIBRARY_SECONDS, "-vos")[0], file)
            question = work / "all_theorems.v"
            question.write_text(_question([file.stem for file in files], names), encoding="utf-8")
            fault, output = coq.run(question, compiled, coq.LIBRARY_SECONDS)
            _require(fault, question)
            (work / _AXIOMS).write_text("\n".join(coq.axioms(output)), encoding="utf-8")
            with contextlib.suppress(OSError):  # another run was faster
                work.rename(folder)
    found = (folder / _AXIOMS).read_text(encoding="utf-8").split()
    return Statements(folder, frozenset(name.rpartition(".")[2] for name in names), tuple(found))


def check(text: str, known: Statements, seconds: float | None) -> coq.Checked:
    """Whether Coq accepts a file, and what its last theorem rests on at most: axioms of its own, and those of all theorems."""
    with tempfile.TemporaryDirectory(prefix="dpverify-replay-") as place:
        file = Path(place) / "claim.v"
        file.write_text(text, encoding="utf-8")
        fault, output = coq.run(file, known.folder, seconds, "-vok")
    own = [name for name in coq.axioms(output) if name.rpartition(".")[2] not in known.theorems]
    return coq.Checked(fault, () if fault else tuple(dict.fromkeys((*own, *known.axioms))))


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


def _question(modules: list[str], names: list[str]) -> str:
    """A file that asks what all theorems together rest on."""
    together = ", ".join(f"@{name}" for name in names)
    return f"From dpverify Require {' '.join(modules)}.\nDefinition together := ({together}).\nPrint Assumptions together.\n"


def _require(fault: str, file: Path) -> None:
    if fault:
        raise coq.CoqError(f"{file} does not compile here: {fault} Are all of these installed? {coq.INSTALL}")
