"""`dpverify calibrate`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from dpverify.cli import output
from dpverify.cli.numbers import Seconds, Whole
from dpverify.cli.output import say
from dpverify.cli.settings import codeless
from dpverify.errors import CalibrationError, SpecError

if TYPE_CHECKING:
    from dpverify.catalogue import Stated
    from dpverify.project.calibration import Calibration
    from dpverify.report import Entry
    from dpverify.search.verify import Verified

TIMEOUT: Final = 600.0
"""Seconds that a search may take, where nobody says otherwise."""


@click.command(short_help="Find the number that a claim file leaves open.")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--digits", type=Whole(1, 12, like="6"), default=6, show_default=True, help="Significant digits of the number.")
@click.option("--write", "written", is_flag=True, help="Put the number into the file, instead of printing the file with it.")
@click.option("--certificates", type=click.Path(file_okay=False, path_type=Path), help="Write the certificates of both sides here.")
@click.option(
    "--timeout", type=Seconds(), default=TIMEOUT, show_default=True, metavar="SECONDS",
    help="Seconds for the whole search; 0 for no limit.",
)  # fmt: skip
@codeless
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Form of the answer.")
def calibrate(file: Path, digits: int, written: bool, certificates: Path | None, timeout: float, no_code: bool, style: str) -> int:
    """Find the number of a claim file that says "least" (or "greatest") in its place: the value at which every claim just holds.

    A noise scale, a probability, a sampling rate, a number of steps, or another positive parameter. At the value that is found, rounded to
    the safe side, every claim is proved; at the next one, a unit in the last digit further, one of them is not. Where every smaller value
    will do, as of a sampling rate, "least" gives the greatest, and says so.
    """
    from dpverify.project.config import read_config
    from dpverify.runtime.processes import Bounds, Ended, in_order

    config = read_config(Path.cwd())
    bounds = Bounds(timeout or None, config.memory)
    if written:
        output.writable(file.absolute().parent)
    if certificates is not None:
        output.writable(certificates)
    [found] = in_order(_Search(digits, config.code and not no_code), [[file]], 1, bounds)
    if isinstance(found, Ended):
        raise CalibrationError(f"{file}: {output.ended('the search', found, bounds)}")
    if isinstance(found, SpecError):
        raise found
    if isinstance(found, CalibrationError):
        say(f"{type(found).__name__}: {found}", err=True)
        return 1 if found.verdict == "REFUTED" else 4
    calibration, text = found
    sides = _sides(file, calibration, certificates)
    writing = output.Writing()
    if certificates is not None:
        sides = _with_certificates(certificates, sides, writing)
    if written:
        written = writing.write(file, text)  # else the file is printed
    told = calibration.lines()
    if style == "json":
        click.echo(json.dumps(_record(file, calibration, sides), indent=1))
    elif written:
        say(*told)
    else:
        say(*(f"# {line}" for line in told))
        click.echo(text, nl=not text.endswith("\n"))
    return writing.code(0 if calibration.fails.judgement.verdict == "REFUTED" else 4)


@dataclass(frozen=True, slots=True)
class _Search:
    """The search of a file, in whichever process."""

    digits: int
    code: bool

    def __call__(self, file: Path) -> tuple[Calibration, str] | SpecError | CalibrationError:
        from dpverify.project.calibration import of_file

        try:
            return of_file(file, self.digits, code=self.code)
        except (SpecError, CalibrationError) as error:
            return error


def _sides(file: Path, found: Calibration, folder: Path | None) -> list[tuple[str, Entry, Verified]]:
    """Of each claim on both sides, the name of its certificate, its entry and its judgement with the certificate."""
    from dpverify.cli.claims import certificate_stem, unique
    from dpverify.project.calibration import DIGITS, shown
    from dpverify.report import Entry

    values = ((found.value, found.here), (found.next, found.beside))
    sides = [(shown(value), *both) for value, ones in values for both in zip(found.stated, ones, strict=True)]
    stems = unique(f"{certificate_stem(file.stem, stated.claim.name)}.at-{value}" for value, stated, _ in sides)

    def entry(name: str, stated: Stated, one: Verified) -> Entry:
        decided = folder is not None and one.judgement.verdict != "UNKNOWN"
        return Entry(
            str(file), file.stem, one.judgement.claim, stated.expect, stated.line, one.judgement, one.reasons,
            certificate=str(folder / name) if folder and decided else None, digits=DIGITS, proved=one.proved,
            notes=stated.notes,
        )  # fmt: skip

    names = [f"{stem}.cert.json" for stem in stems]
    return [(name, entry(name, stated, one), one) for name, (_, stated, one) in zip(names, sides, strict=True)]


def _with_certificates(
    folder: Path, sides: Sequence[tuple[str, Entry, Verified]], writing: output.Writing
) -> list[tuple[str, Entry, Verified]]:  # fmt: skip
    """The same, with the certificate of every decided claim on both sides written; an entry names its own where it is."""
    from dpverify.cli.found import NAME, found_in, refuse
    from dpverify.evidence.collected import encode
    from dpverify.project.calibration import DIGITS

    decided = {name: one.certificate for name, entry, one in sides if entry.verdict != "UNKNOWN"}
    refuse(folder, [NAME, *decided])
    there = [name for name, certificate in decided.items() if writing.write(folder / name, encode(certificate))]
    with writing.tried():
        found_in(folder).add(there, DIGITS)
    return [(name, entry if name in there else replace(entry, certificate=None), one) for name, entry, one in sides]


def _record(file: Path, found: Calibration, sides: Sequence[tuple[str, Entry, Verified]]) -> dict[str, Any]:
    """The answer as JSON."""
    from dpverify.project.calibration import shown
    from dpverify.report.record import record

    records = [record(entry) for _, entry, _ in sides]
    return {
        "schema": "dpverify-calibration/1",
        "file": str(file),
        "parameter": found.key,
        "word": found.word,
        "value": shown(found.value),
        "claims": records[: len(found.here)],
        "next": shown(found.next),
        "claims_at_next": records[len(found.here) :],
    }
