"""A run that is shared out: which files each runner takes, what it writes down, and how the parts are put together.

What a part says of a claim is a proposal, which the kernel judges anew. That nothing was found, and what audits found, nobody can check
without doing it again: that is taken from the part. So parts are those of one's own runners.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from dpverify.cli.output import Writing
from dpverify.errors import SpecError
from dpverify.runtime.outside import read_regular

if TYPE_CHECKING:
    from dpverify.catalogue import Spec
    from dpverify.report.results import Fault, Results
    from dpverify.runtime.finding import Finding
    from dpverify.search.verify import Verified
    from dpverify.trusted.kernel.model import Claim

NAME: Final = "part.json"
SCHEMA: Final = "dpverify-part/1"
MAX_BYTES: Final = 1 << 30
AUDITED: Final = 3
"""So many times as long as judging a claim an audit of it is taken to be."""


class Share(NamedTuple):
    """The number-th of so many parts, from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


class ShareType(click.ParamType):  # type: ignore[type-arg]
    """What --shard takes."""

    name = "K/N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Share:
        """The share. Raises click.BadParameter."""
        if isinstance(value, Share):
            return value
        written = re.fullmatch(r"(\d{1,6})/(\d{1,6})", str(value).strip())
        share = Share(int(written[1]), int(written[2])) if written else Share(0, 0)
        if not 1 <= share.number <= share.of:
            self.fail(f"{str(value)[:40]!r} is no share. Write 2/8 for the second of eight parts.", param, ctx)
        return share


sharing = click.option(
    "--shard", type=ShareType(), metavar="K/N",
    help="Take the K-th of N parts of the files alone, all about as long; `dpverify report --merge` puts the parts together.",
)  # fmt: skip


def meant(paths: Sequence[str]) -> list[str]:
    """The claim files that paths and names mean, once each. Raises SpecError."""
    from dpverify.catalogue import resolve

    return list(dict.fromkeys(str(file) for path in paths for file in resolve(path)))


def shared(files: Sequence[str], share: Share, *, audits: bool = False) -> list[str]:
    """The files of a share, in their order: the same on every machine that has the same files.

    The longest first goes to the part that has least so far, by how many claims there are in the text of each.
    """
    loads = [0] * share.of
    mine = set[str]()
    for cost, file in sorted(((_cost(Path(file), audits), file) for file in files), key=lambda one: (-one[0], one[1])):
        least = loads.index(min(loads))
        loads[least] += cost
        if least == share.number - 1:
            mine.add(file)
    return [file for file in files if file in mine]


def _cost(file: Path, audits: bool) -> int:
    try:
        text = read_regular(file, MAX_BYTES)
    except OSError:
        return 1
    claims = max(len(re.findall(rb"^\s*\[\[\s*claim\s*\]\]", text, re.MULTILINE)), 1)
    sampled = audits and re.search(rb"^\s*\[\s*audit\s*\]", text, re.MULTILINE) is not None
    return 1 + claims * (1 + AUDITED * sampled)


@dataclass(slots=True)
class Part:
    """What one runner found. run: what is the same for all of them; files: those that it took, with their digests.

    claims: by the hash of each claim its certificate, if only of bounds, and the reasons for not knowing more. findings, faults: of audits.
    bands: the data of curves, by what they are made from.
    """

    share: Share
    run: Mapping[str, Any]
    files: Mapping[str, str] = field(default_factory=dict)
    claims: dict[str, tuple[Any, tuple[str, ...]]] = field(default_factory=dict)
    findings: list[Any] = field(default_factory=list)
    faults: list[Any] = field(default_factory=list)
    bands: dict[str, Any] = field(default_factory=dict)

    def add(self, claim: Claim, verified: Verified) -> None:
        """Note what was found of a claim."""
        from dpverify.trusted.kernel.canonical_form import claim_hash, to_json

        self.claims[claim_hash(to_json(claim))] = verified.certificate, verified.reasons

    def note(self, results: Results) -> None:
        """Note what audits found."""
        from dpverify.runtime.finding import as_data

        self.findings = list(map(as_data, results.findings))
        self.faults = [list(fault) for fault in results.faults]

    def write(self, folder: Path, writing: Writing) -> None:
        """Write it down beside what else the runner wrote. Raises SpecError where a file of somebody else is in the way."""
        place = folder / NAME
        if place.exists() and (not place.is_file() or b'"dpverify-part/' not in read_regular(place, MAX_BYTES)[:100]):
            raise SpecError(f"{place}: dpverify did not write it, so that it is not replaced. Move it, or choose another folder.")
        writing.write(place, json.dumps({
            "schema": SCHEMA, "shard": list(self.share), "run": self.run, "files": self.files, "claims": self.claims,
            "findings": self.findings, "faults": self.faults, "bands": self.bands,
        }))  # fmt: skip


def the_run(files: Iterable[str], digits: int, *, audits: bool) -> dict[str, Any]:
    """What all parts of a run share."""
    from dpverify.project.cache import sources

    return {"files": list(files), "digits": digits, "audits": audits, "sources": sources()}


def part_of(share: Share, run: Mapping[str, Any], mine: Iterable[str]) -> Part:
    """An empty part of these files."""
    return Part(share, run, {file: _digest(file) for file in mine})


def _digest(file: str) -> str:
    place = file.rpartition(":")[0] if ".py:" in file else file
    try:
        return sha256(read_regular(Path(place), MAX_BYTES)).hexdigest()
    except OSError:
        return ""


def merged(folders: Sequence[str]) -> Part:
    """The parts in some folders as one. Raises SpecError with all that is wrong: no parts, of several runs, missing, twice, out of date."""
    from dpverify.project.cache import sources

    parts: list[tuple[str, Part]] = []
    faults: list[str] = []
    for folder in folders:
        try:
            parts.append((folder, _read(Path(folder) / NAME)))
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            faults.append(f"{folder}: no part of a run: its {NAME} is missing, damaged or of another version. Make it with --shard.")
    if not parts:
        raise SpecError(faults or ["--merge: no folders. Name those that `dpverify report --shard K/N -o DIR` wrote."])
    first = parts[0][1]
    for folder, part in parts[1:]:
        told = {"files": "files", "digits": "digits", "audits": "audits or none", "sources": "code"}
        other = [word for key, word in told.items() if part.run.get(key) != first.run.get(key)]
        other += [] if part.share.of == first.share.of else ["shards"]
        if other:
            faults.append(f"{folder}: of another run than {parts[0][0]}: other {', other '.join(other)}. Merge the parts of one run.")
    taken: dict[int, list[str]] = {}
    for folder, part in parts:
        taken.setdefault(part.share.number, []).append(folder)
    twice = [(Share(number, first.share.of), " and ".join(there)) for number, there in taken.items() if len(there) > 1]
    faults += [f"{share} is there twice, in {there}. Leave one out." for share, there in twice]
    missing = [str(Share(number, first.share.of)) for number in range(1, first.share.of + 1) if number not in taken]
    faults += [f"{one} is missing. Name its folder too." for one in missing]
    if first.run.get("sources") != sources():
        faults.append(f"{parts[0][0]}: found by another version of dpverify than this one. Merge with the version that made the parts.")
    for folder, part in parts:
        changed = [file for file, digest in part.files.items() if _digest(file) != digest]
        faults += [f"{file}: another file than the one that {folder} is of. Check out what was run." for file in changed]
    if faults:
        raise SpecError(faults)
    whole = Part(Share(1, 1), first.run)
    for _, part in parts:
        whole.claims |= part.claims
        whole.findings += part.findings
        whole.faults += part.faults
        whole.bands |= part.bands
    return whole


def _read(file: Path) -> Part:
    data = json.loads(read_regular(file, MAX_BYTES))
    if data["schema"] != SCHEMA:
        raise ValueError("another schema")
    claims = {str(key): (certificate, tuple(map(str, reasons))) for key, (certificate, reasons) in data["claims"].items()}
    number, of = map(int, data["shard"])
    part = Part(Share(number, of), dict(data["run"]), dict(data["files"]), claims)
    part.findings, part.faults, part.bands = list(data["findings"]), list(data["faults"]), dict(data["bands"])
    return part


def audits_of(part: Part, specs: Sequence[Spec]) -> tuple[list[Finding], list[Fault]]:
    """What the audits of the parts found, and what kept some from it, in the files' order. Raises SpecError for what is no finding."""
    from dpverify.report.results import Fault
    from dpverify.runtime.finding import of_data

    places = {spec.file: place for place, spec in enumerate(specs)}
    try:
        findings = [of_data(one) for one in part.findings]
        faults = [Fault(file, name, error, code, what) for file, name, error, code, what, _ in part.faults]
    except (LookupError, TypeError, ValueError) as error:
        raise SpecError(f"a part holds what is no finding of an audit: {error}. Run that part again.") from error
    last = len(places)
    findings.sort(key=lambda one: places.get(one.file, last))
    faults.sort(key=lambda one: places.get(one.file, last))
    return findings, faults
