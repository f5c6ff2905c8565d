"""The folder of evidence that a report keeps under version control: read as proposals, written as text."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpverify.cli.output import Writing, writable
from dpverify.errors import SpecError
from dpverify.evidence.collected import MANY, SCHEMA, read, within
from dpverify.runtime.outside import read_regular
from dpverify.trusted.kernel.certificate import MAX_BYTES, decode
from dpverify.trusted.kernel.errors import CertificateError

if TYPE_CHECKING:
    from dpverify.report.page.subject import Run


class Evidence:
    """A folder of evidence, or none."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def prepare(self, *, force: bool) -> None:
        """Make the folder. Raises SpecError for files in the way that are no evidence, unless they may be replaced."""
        from dpverify.report.evidence import CERTIFICATES, INDEX, VERDICTS

        assert self.folder is not None
        writable(self.folder / CERTIFICATES)
        theirs = [name for name in (VERDICTS, INDEX) if (self.folder / name).exists()]
        if theirs and self._digits() is None and not force:
            way_out = "Move it, or choose another folder"
            raise SpecError([f"{self.folder / name}: dpverify did not write it, so that it is not replaced. {way_out}." for name in theirs])

    def hints(self, digits: int) -> dict[str, Any]:
        """The certificates in it by the hashes of their claims: proposals, where they were made with so many digits."""
        found: dict[str, Any] = {}
        if self.folder is None or self._digits() != digits:
            return found
        for place in within(self.folder):
            with contextlib.suppress(OSError, CertificateError, KeyError, TypeError):
                data = decode(read(place))
                found.setdefault(str(data["claim_sha256"]), data)
        return found

    def write(self, run: Run, digits: int, writing: Writing) -> None:
        """Write the evidence of a run, and remove the collections of an earlier one that it has not."""
        from dpverify.report.evidence import CERTIFICATES, files

        assert self.folder is not None
        made = files(run, digits)
        for name, text in made.items():
            writing.write(self.folder / name, text)
        with writing.tried():
            for file in (self.folder / CERTIFICATES).glob(f"*{MANY}"):
                if f"{CERTIFICATES}/{file.name}" not in made and SCHEMA.encode() in read_regular(file, MAX_BYTES):
                    file.unlink()

    def _digits(self) -> int | None:
        """That the evidence in the folder was made with; None where there is none."""
        from dpverify.report.evidence import VERDICTS, digits_of

        try:
            assert self.folder is not None
            return digits_of(read_regular(self.folder / VERDICTS, MAX_BYTES).decode("utf-8", "replace"))
        except OSError:
            return None
