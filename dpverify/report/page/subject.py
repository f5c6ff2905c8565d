"""What a page is about: a run, its claim files, their claims. Everything a section may show is here, computed by the floors below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpverify.audit.finding import Finding
    from dpverify.bands import Bands
    from dpverify.figures.loss import LossCurve
    from dpverify.figures.noise_error import NoiseError
    from dpverify.figures.unit_ball import UnitBall
    from dpverify.report import Entry
    from dpverify.report.results import Fault, Results


@dataclass(frozen=True, slots=True)
class Pictures:
    """The data of the pictures of claims that differ only in what they claim. names: of those claims; None: there is no such picture."""

    names: tuple[str, ...]
    loss: LossCurve | None = None
    unit_ball: UnitBall | None = None
    error: NoiseError | None = None


@dataclass(frozen=True, slots=True)
class File:
    """A claim file. stem: its name on the page, unique in a run; digests: SHA-256 of each certificate, by its path."""

    stem: str
    entries: Sequence[Entry]
    curves: Sequence[Bands] = ()
    pictures: Sequence[Pictures] = ()
    findings: Sequence[Finding] = ()
    faults: Sequence[Fault] = ()
    digests: Mapping[str, str] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """Where the file is, as it was named."""
        return self.entries[0].file


@dataclass(frozen=True, slots=True)
class Claimed:
    """One claim of a file."""

    file: File
    entry: Entry

    @property
    def anchor(self) -> str:
        """Where links to this claim lead."""
        return f"{self.file.stem}-{self.file.entries.index(self.entry) + 1}"


@dataclass(frozen=True, slots=True)
class Run:
    """Everything that one command looked at."""

    results: Results
    files: Sequence[File]
