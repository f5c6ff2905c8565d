"""`dpverify check --replay`: certificates proved again in Coq, one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from dpverify.cli.output import say, write
from dpverify.cli.progress import Progress
from dpverify.evidence.collected import SINGLE, read
from dpverify.project.formal import coq, foundations
from dpverify.project.formal.replay import replay
from dpverify.project.formal.terms import NotReplayedError
from dpverify.runtime.outside import printable
from dpverify.trusted.kernel.certificate import decode, unpack
from dpverify.trusted.kernel.judgement import Judgement

_INDENT = " " * 9


class Replays:
    """What becomes of certificates in Coq. replayed: how many are; refused: how many Coq refuses, which should be none."""

    def __init__(self, folder: Path | None, seconds: float | None, *, compiled: bool) -> None:
        self._folder, self._seconds = folder, seconds
        self._theory = coq.compiled_theory(begun=_compiling) if compiled else None
        self._rest = _rests(foundations.axioms(self._theory)) if self._theory is not None else ""
        self.replayed = self.written = self.refused = self.asked = 0
        self.proved_whole = False  # whether of the last certificate the whole claim is
        self._modules: dict[str, Path] = {}
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    def of(self, file: Path, judgement: Judgement) -> str:
        """What to say of a certificate that holds."""
        self.asked, self.proved_whole = self.asked + 1, False
        try:
            made = replay(unpack(decode(read(file))), judgement, file.name)
        except NotReplayedError as error:
            return printable(f"{_INDENT}not replayed in Coq: {error}")
        target = ""
        if self._folder is not None:
            written = self._folder / f"{self._module(file)}.v"
            write(written, made.text)
            self.written += 1
            target = f"{_INDENT}written to {written}: {made.proves}."
        if self._theory is None:
            return printable(target)
        fault = foundations.fault(made.text, self._theory, self._seconds)
        if fault:
            self.refused += 1
            return printable(f"{_INDENT}not replayed in Coq: the file that was written for it is refused: {fault}")
        self.replayed, self.proved_whole = self.replayed + 1, made.whole
        return printable(f"{_INDENT}replayed in Coq: {made.proves}. The theory and the tactics that it calls rest on {self._rest}.")

    def _module(self, file: Path) -> str:
        """What a certificate's file is called in Coq: letters, digits and _, of no two the same in a run."""
        stem = re.sub(r"\W", "_", file.name.removesuffix(SINGLE))
        if self._modules.setdefault(stem, file) != file:
            stem = f"{stem}_{sha256(str(file).encode()).hexdigest()[:8]}"
        return stem

    def summary(self) -> str:
        """At the end."""
        if self._theory is None:
            return f"{self.written} of {self.asked} written for Coq"
        return f"{self.replayed} of {self.asked} replayed in Coq"


@contextmanager
def _compiling(files: int) -> Iterator[Callable[[int], None]]:
    """Says that the theory is compiled, which takes minutes, once, and how far it is."""
    say(f"compiling the theory in Coq, {files} files: this takes minutes, once", err=True)
    with Progress("compiling the theory in Coq", files, "files", least=2) as progress:
        yield progress.at


def _rests(axioms: tuple[str, ...]) -> str:
    own = [name for name in axioms if name in coq.AXIOMS]
    reals = [name for name in axioms if name in coq.OF_REALS]
    machine = [name for name in axioms if name.rpartition(".")[0] in coq.OF_MACHINE_NUMBERS]
    others = [name for name in axioms if name not in own and name not in reals and name not in machine]
    groups = ((f"axiom{'s' if len(own) != 1 else ''} of MathComp Analysis", own), ("of Coq's real numbers", reals), ("others", others))
    said = [f"{len(names)} {what} ({', '.join(names)})" for what, names in groups if names]
    said += [f"{len(machine)} of Coq's machine numbers, which `interval` calculates with"] if machine else []
    return " and ".join(said) or "no axiom"
