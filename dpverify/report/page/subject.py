"""What a page is about: a run, its claim files, their claims. Everything a section may show is here, computed by the floors below."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from dpverify.report.page.blocks import beside

if TYPE_CHECKING:
    from dpverify.pictures.bands import Bands
    from dpverify.pictures.body import BodyPicture
    from dpverify.pictures.by_kind import Drawing
    from dpverify.pictures.error_curves import ErrorCurves
    from dpverify.pictures.loss import LossCurve
    from dpverify.pictures.noise_error import NoiseError
    from dpverify.pictures.unit_ball import LevelSet, Outline
    from dpverify.report import Entry
    from dpverify.report.results import Fault, Results
    from dpverify.runtime.finding import Finding

_PLAIN: Final = frozenset(string.ascii_letters + string.digits)


def letters(name: str) -> str:
    """A name in letters, digits and hyphens, different for different names."""
    return name if re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", name) else "n-" + "".join(c if c in _PLAIN else f"-{ord(c):x}-" for c in name)


@dataclass(frozen=True, slots=True)
class Plane:
    """Noise in the plane: the ball of the norm as large as the sensitivity, the balls that hold half and 90 % of the noise, and draws."""

    ball: Outline
    levels: Sequence[LevelSet] = ()
    draws: Sequence[tuple[float, float]] = ()


@dataclass(frozen=True, slots=True)
class Pictures:
    """The data of the pictures of claims that differ only in what they claim. names: of those claims; None: there is no such picture.

    errors: with the name of the claim that they are of. own: those of its own kind.
    """

    names: tuple[str, ...]
    loss: LossCurve | None = None
    plane: Plane | None = None
    error: NoiseError | None = None
    body: BodyPicture | None = None
    errors: tuple[str, ErrorCurves] | None = None
    own: tuple[Drawing, ...] = ()


@dataclass(frozen=True, slots=True)
class Folders:
    """Where certificates and the data of curves are, from the page; empty: beside it."""

    certificates: str = ""
    curves: str = ""


@dataclass(frozen=True, slots=True)
class File:
    """A claim file. stem: its name on the page, unique in a run; digests: SHA-256 of each certificate, by its path.

    page: the name of the page beside that tells of it, empty where that is this one.
    """

    stem: str
    entries: Sequence[Entry]
    curves: Sequence[Bands] = ()
    pictures: Sequence[Pictures] = ()
    findings: Sequence[Finding] = ()
    faults: Sequence[Fault] = ()
    digests: Mapping[str, str] = field(default_factory=dict)
    folders: Folders = Folders()
    page: str = ""

    @property
    def address(self) -> str:
        """Where links to this file lead."""
        return f"{beside(self.page) if self.page else ''}#{self.anchor}"

    @property
    def anchor(self) -> str:
        """The same on its page: its name, but for signs that addresses and ids do not have; different for different names."""
        return "".join(c if c.isalnum() or c in "_-." else f"~{ord(c):x}" for c in self.stem)

    @property
    def stem_id(self) -> str:
        """The stem in the letters that ids of pictures may have."""
        return letters(self.stem)

    @property
    def claims(self) -> Sequence[Claimed]:
        """Its claims, each with its place."""
        return [Claimed(self, entry, i) for i, entry in enumerate(self.entries, 1)]

    @property
    def path(self) -> str:
        """Where the file is, as it was named."""
        return self.entries[0].file


@dataclass(frozen=True, slots=True)
class Claimed:
    """One claim of a file. number: its place there, from 1 on."""

    file: File
    entry: Entry
    number: int = 1

    @property
    def anchor(self) -> str:
        """The same on its page; no anchor of a file has a colon."""
        return f"{self.file.anchor}:{self.number}"

    @property
    def address(self) -> str:
        """Where links to this claim lead."""
        return f"{self.file.address}:{self.number}"

    @property
    def pictures(self) -> Pictures | None:
        """Those of this claim and of the claims that differ from it only in what they claim."""
        return next((one for one in self.file.pictures if self.entry.claim.name in one.names), None)

    @property
    def anchor_id(self) -> str:
        """The anchor in the letters that ids of pictures may have."""
        return letters(self.anchor)


@dataclass(frozen=True, slots=True)
class Run:
    """Everything that one command looked at."""

    results: Results
    files: Sequence[File]
