"""The record of what was compiled of specs/formal: specs/formal/compiled.txt, which `make formal` reads and writes.

A file of the theory is compiled from its text, comments apart, the files that it requires, and Coq with its libraries: one hash of all that
is its source. What Coq makes of them is the same bytes on every machine that has the same tools, and their hash cannot be made up without
compiling. A third hash is that of what the theorems of the file rest on, as assumptions.txt says it. A file whose hashes are as recorded
need not be compiled again. A record that was edited all the same is found by the sample, which is compiled again in every run and is
another for other texts, and by `make formal ALL=1`, which compiles everything.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final

from dpverify.project.formal import coq, foundations

LIBRARIES: Final = ("mathcomp", "HB", "elpi", "Interval", "Coquelicot", "Flocq", "Bignums")
"""The folders of libraries that the theory is compiled with, beside Coq's own."""
HEAD: Final = "# What was compiled of the theory, and what came out: written by `make formal`, explained in tools/theory_record.py.\n"
NOTHING: Final = "-"
"""In place of the hash of what theorems rest on, where a file states no rule."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """Of a file the hashes of what it was compiled from, of what was made, and of what its theorems rest on; seconds: that it took."""

    source: str
    made: str
    said: str
    seconds: int


@dataclass(slots=True)
class Record:
    """The files that were compiled, by their paths in the theory, and the hashes of the certificates that were replayed, by their names."""

    files: dict[str, Compiled] = field(default_factory=dict)
    replays: dict[str, str] = field(default_factory=dict)

    def text(self) -> str:
        """As it is written."""
        lines = [f"file {name} {one.source} {one.made} {one.said} {one.seconds}" for name, one in sorted(self.files.items())]
        return HEAD + "\n".join([*lines, *(f"replay {name} {made}" for name, made in sorted(self.replays.items()))]) + "\n"


def read(file: Path) -> Record:
    """The record, empty where there is none. Raises CoqError with a line that is none of a record."""
    record = Record()
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines() if file.is_file() else (), 1):
        match line.split():
            case ["file", name, source, made, said, seconds] if seconds.isdecimal() and name not in record.files:
                record.files[name] = Compiled(source, made, said, int(seconds))
            case ["replay", name, made] if name not in record.replays:
                record.replays[name] = made
            case [first, *_] if first.startswith("#"):
                pass
            case _:
                way_out = "Run `make formal ALL=1`, which writes it anew."
                raise coq.CoqError(f"{file}, line {number}: {line!r:.100} is no line of a record. {way_out}")
    return record


def digest(*parts: str | bytes) -> str:
    """One hash of several texts, in their order."""
    whole = sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        whole.update(len(data).to_bytes(8, "big") + data)
    return whole.hexdigest()[:32]


def tools() -> str:
    """The hash of Coq and its libraries, as they are installed. Raises CoqError where Coq is not there."""
    command = coq.program()
    said = [subprocess.run([command, word], capture_output=True, text=True, check=True).stdout for word in ("--version", "-where")]
    root = Path(said[1].strip())
    whole = sha256(said[0].encode())
    for folder in (root / "theories", *(root / "user-contrib" / name for name in LIBRARIES)):
        for file in sorted(folder.rglob("*.vo")):
            whole.update(digest(file.relative_to(root).as_posix(), file.read_bytes()).encode())
    return whole.hexdigest()[:32]


def read_by_coq(text: str) -> str:
    """What of a file makes a difference to what is compiled: all but comments and spaces, unless it has tactics, which keep places."""
    return text if re.search(r"\b(?:Ltac|Tactic)\b", text) else " ".join(foundations.uncommented(text).split())


def sources(folder: Path, tools: str) -> dict[str, str]:
    """Of each file of a theory, by its name, the hash of what it is compiled from: in the order in which they are compiled."""
    found = dict[str, str]()
    for file in coq.needed(folder, coq.files_of(folder)):
        below = (found[name] for name in sorted(set(coq.required(file))))
        found[file.stem] = digest(tools, file.relative_to(folder).as_posix(), read_by_coq(file.read_text(encoding="utf-8")), *below)
    return found


def needs(folder: Path) -> dict[str, set[str]]:
    """Of each file of a theory, by its name, those that it needs and itself."""
    found = dict[str, set[str]]()
    for file in coq.needed(folder, coq.files_of(folder)):
        found[file.stem] = {file.stem}.union(*(found[name] for name in coq.required(file)))
    return found


def sample(sources: Mapping[str, str], needs: Mapping[str, Collection[str]], seconds: Mapping[str, int], budget: int) -> list[str]:
    """Files to be compiled though they are as recorded, with what they need within so many seconds, the first whatever it takes.

    Which they are is decided by the texts of the whole theory and by the tools, so that every change chooses others.
    """
    whole = digest(*sorted(sources.values()))
    taken, chosen, spent = set[str](), list[str](), 0
    for name in sorted(sources, key=lambda name: digest(whole, name)):
        cost = sum(seconds[other] for other in needs[name] if other not in taken)
        if not chosen or spent + cost <= budget:
            chosen.append(name)
            taken.update(needs[name])
            spent += cost
    return chosen


def stanzas(text: str) -> dict[str, str]:
    """What the theorems of each file rest on, in assumptions.txt, by the path of the file."""
    return {part.partition(":")[0]: part for part in text.strip().split("\n\n") if part}


def stanza(name: str, theorems: Sequence[str], axioms: Collection[str]) -> str:
    """What the theorems of one file rest on."""
    return f"{name}: {', '.join(theorems)}\n  rest on: {', '.join(sorted(axioms)) or 'no axiom'}"


def outdated(folder: Path, sources: Mapping[str, str], record: Record, said: Mapping[str, str]) -> Iterator[str]:
    """The names of the files that are not as recorded, whatever it is that differs."""
    for name, file in coq.files_of(folder).items():
        path = file.relative_to(folder).as_posix()
        held = record.files.get(path)
        rests = digest(said[path])[:16] if path in said else NOTHING
        if held is None or (held.source, held.said) != (sources[name], rests):
            yield name
