"""Claim files to results: every claim judged or audited, one claim's fault never taking the other answers away."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from dpverify.cli import output
from dpverify.errors import BadFiles, CodeFailed, CodeForbidden, SpecError
from dpverify.trusted.kernel.errors import DpverifyError

if TYPE_CHECKING:
    from dpverify.catalogue import Spec, Stated
    from dpverify.cli.judging import Outcome
    from dpverify.cli.parts import Part
    from dpverify.project.cache import Cache
    from dpverify.report import Entry
    from dpverify.report.results import Fault, Results
    from dpverify.runtime.finding import Finding
    from dpverify.runtime.processes import Bounds, Ended

LONGEST: Final = 120
"""Bytes of a claim file's name that names of other files begin with; a file system takes 255 in all."""


def specs_of(
    paths: Sequence[str], bounds: Bounds | None = None, *, code: bool = True, unread: list[Fault] | None = None, verbose: bool = False
) -> list[Spec]:
    """Every claim file meant, read; all faults of all files in one BadFiles, before anything is done.

    bounds: of the reading of each, which is done in processes that can be ended: it looks at densities too. code: whether code may be run.
    unread: where it is given, it gets the files with nothing wrong in them but that their code was not run or failed, or that reading took
    too long: they take no other file's answer away. verbose: which other TOML files of folders are skipped is told on stderr.
    """
    from dpverify.catalogue import Spec, resolve
    from dpverify.cli.progress import LONG, Progress
    from dpverify.report.results import UNREAD, Fault
    from dpverify.runtime.processes import Bounds, Ended, in_order, worthwhile

    bounds = bounds or Bounds()
    files: list[Path] = []
    groups: list[tuple[str, tuple[str, ...]] | None] = []
    skipped: dict[Path, str] = {}
    for path in paths:
        try:
            meant = resolve(path, skipped)
        except SpecError as error:
            groups.append((path, error.faults))
            continue
        files += meant
        groups += [None] * len(meant)
    if verbose:
        output.say(*(f"skipped: {file}: {why}" for file, why in skipped.items()), err=True)
    with Progress("reading", len(files), "files", least=LONG) as progress:
        read = in_order(_Reading(code, bounds), [[file] for file in files], worthwhile(len(files), 0), bounds.twice(), told=progress.at)
        answers = iter([*zip(files, read, strict=True)])
    specs: list[Spec] = []
    faults: list[tuple[str, str]] = []
    failed: list[Fault] = []
    for said in groups:
        file, answer = said if said is not None else next(answers)
        if isinstance(answer, Spec):
            specs.append(answer)
            continue
        if isinstance(answer, Ended):
            answer = CodeFailed(f"{file}: {output.ended('reading the file', answer, bounds)}")
        if isinstance(answer, SpecError):
            failed.append(Fault(str(file), "mechanism", str(answer), what="not run" if isinstance(answer, CodeForbidden) else UNREAD))
        faults += [(str(file), fault) for fault in (answer.faults if isinstance(answer, SpecError) else answer)]
    forbidden = any(one.what == "not run" for one in failed)
    if faults and (unread is None or len(faults) > len(failed) or not (specs or forbidden)):
        raise BadFiles(faults)
    if unread is not None and failed:
        unread += failed
        output.say(*(one.error if one.what == "not run" else f"SpecError: {one.error}" for one in failed), err=True)
    return specs


def refused(error: BadFiles, style: str) -> int:
    """What is wrong with the files as an answer in the format that was asked for, and on stderr. Raises the error where that is text."""
    from dpverify.catalogue.places import split
    from dpverify.report.results import UNREAD, Fault, Results

    if style == "text":
        raise error
    faults = []
    for file, told in error.of_files:
        said, at = split(told)
        place, mark, rest = said.removeprefix(f"{file}, ").partition(": ") if said.startswith(f"{file}, ") else ("claim file", ": ", said)
        place, said = (place, rest) if mark else ("claim file", said)
        faults.append(Fault(file, place, said.removeprefix(f"{file}: "), what=UNREAD, place=at))
    output.say(*(f"SpecError: {said}" for said in error.faults), err=True)
    results = Results(faults=faults)
    click.echo(output.rendered(results, style))
    return results.exit_code


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads a claim file: its claims, or what is wrong with it."""

    code: bool
    bounds: Bounds

    def __call__(self, file: Path) -> Spec | CodeForbidden | CodeFailed | tuple[str, ...]:
        from dpverify.catalogue import read_spec

        try:
            return read_spec(file, code=self.code, bounds=self.bounds)
        except (CodeForbidden, CodeFailed) as error:
            return error
        except SpecError as error:
            return error.faults


def selected(specs: Sequence[Spec], names: Sequence[str]) -> list[Spec]:
    """The specs with the claims of these names alone, those without any left out; everything where no names are given.

    Raises SpecError naming every name that no claim has, with the nearest that there are.
    """
    from dpverify.catalogue.toml import meant

    if not names:
        return list(specs)
    there = [stated.claim.name for spec in specs for stated in spec.claims]
    files = ", ".join(spec.file for spec in specs[:3]) + (", ..." if len(specs) > 3 else "")
    faults = [
        f"--claim {name!r}: no claim of this name in {files}.{meant(name, there) or f' There are {_listed(there)}.'}"
        for name in dict.fromkeys(names)
        if name not in there
    ]
    if faults:
        raise SpecError(faults)
    chosen = (replace(spec, claims=tuple(stated for stated in spec.claims if stated.claim.name in names)) for spec in specs)
    return [spec for spec in chosen if spec.claims]


def _listed(names: Sequence[str], most: int = 8) -> str:
    """The first of some names, quoted."""
    return ", ".join(map(repr, names[:most])) + (f" and {len(names) - most} more" if len(names) > most else "")


def verified(
    specs: Sequence[Spec], certificates: Path | None, digits: int, *, cache: Cache | None = None, jobs: int | None = 1,
    names: Sequence[str] = (), force: bool = False, bounds: Bounds | None = None, writing: output.Writing | None = None,
    kept: Mapping[str, Any] | None = None, traced: bool = False, confirming: bool = False, part: Part | None = None,
    dask: str | None = None,
) -> list[Entry]:  # fmt: skip
    """The outcome of every claim, with certificates written as they come. Each is judged in a process that can be ended.

    cache: what was found before; a folder of certificates is one too. jobs: processes, None for as many as are worth it.
    names: of the claims that are meant, where not all are. force: whether foreign files in the folder are replaced too. bounds: of each
    claim's judging. writing: is told of certificates that cannot be written. kept: proposals, by the
    hashes of their claims. traced: whether each entry is to say what its check loads. confirming: whether it is to say by what
    its verdict is confirmed. part: what other runners found, which gets what is found here. dask: the scheduler of the cluster that judges.
    Raises SpecError for names that no claim has, and for files in the way.
    """
    import dpverify.search  # noqa: F401  # before the processes are forked, which need it
    from dpverify.cli.judging import Judge, Outcome, Task, on_cluster
    from dpverify.cli.progress import Progress
    from dpverify.runtime.processes import Bounds, in_order, worthwhile

    bounds, writing = bounds or Bounds(), writing or output.Writing()

    stems = unique(certificate_stem(spec.mechanism, stated.claim.name) for spec in specs for stated in spec.claims)
    files = {(spec.file, stated.claim.name): f"{next(stems)}.cert.json" for spec in specs for stated in spec.claims}
    work = [(spec, stated) for spec in selected(specs, names) for stated in spec.claims]
    earlier = None
    if certificates is not None:
        from dpverify.cli.found import NAME, found_in, refuse

        output.writable(certificates)
        if not force:
            refuse(certificates, [NAME, *(files[spec.file, stated.claim.name] for spec, stated in work)])
        earlier = found_in(certificates)
    judge = Judge(digits, cache, earlier, kept or {}, traced, confirming, {} if part is None else dict(part.claims))
    tasks = [Task(spec.file, stated.claim, files[spec.file, stated.claim.name]) for spec, stated in work]
    if jobs is None:
        hits = sum(map(judge.has, tasks))
        jobs = worthwhile(hits, len(tasks) - hits)
    groups = [list(group) for _, group in groupby(tasks, key=lambda task: task.file)]
    judged = in_order if dask is None else partial(on_cluster, dask)
    entries: list[Entry] = []
    searched = False
    not_found = set[str]()
    with (
        Progress("verifying", len(tasks), "claims") as progress,
        contextlib.closing(judged(judge, groups, jobs, bounds, told=progress.at)) as outcomes,
    ):
        for (spec, stated), outcome in zip(work, outcomes, strict=True):
            certificate = None if certificates is None else certificates / files[spec.file, stated.claim.name]
            entries.append(_entry(spec, stated, digits, outcome, certificate, bounds, writing))
            if part is not None and isinstance(outcome, Outcome) and outcome.verified is not None:
                part.add(stated.claim, outcome.verified)
            searched |= isinstance(outcome, Outcome) and outcome.searched
            not_found |= {files[spec.file, stated.claim.name]} if isinstance(outcome, Outcome) and outcome.kept else set()
    if earlier is not None:
        with writing.tried():
            written = {Path(entry.certificate).name for entry in entries if entry.certificate}
            earlier.add(written - not_found, digits, written & not_found)
    if cache is not None and searched:
        cache.prune()
    return entries


def _entry(
    spec: Spec, stated: Stated, digits: int, outcome: Outcome | Ended, certificate: Path | None, bounds: Bounds, writing: output.Writing
) -> Entry:  # fmt: skip
    """The entry of a claim, with its certificate written."""
    from dpverify.evidence.collected import encode
    from dpverify.report import Entry
    from dpverify.runtime.processes import Ended

    common: dict[str, Any] = {
        "file": spec.file, "mechanism": spec.mechanism, "claim": stated.claim, "expected": stated.expect, "line": stated.line,
        "digits": digits, "notes": stated.notes,
    }  # fmt: skip
    if isinstance(outcome, Ended):
        return Entry(**common, reasons=(output.ended("judging the claim", outcome, bounds),), seconds=outcome.seconds)
    if outcome.verified is None:
        output.say(*f"{spec.file}, {stated.claim.name}: {outcome.fault}".split("\n"), err=True)
        return Entry(**common, fault=outcome.fault, seconds=outcome.seconds)
    verified = outcome.verified
    written = False
    if certificate is not None and verified.judgement.verdict != "UNKNOWN":
        written = writing.write(certificate, encode(verified.certificate))
    return Entry(
        **common,
        judgement=verified.judgement,
        reasons=verified.reasons,
        certificate=str(certificate) if written else None,
        seconds=outcome.seconds,
        proved=verified.proved,
        places=verified.places,
        confirmed=outcome.confirmed,
        paid=_paid(spec, stated, verified.judgement.verdict),
    )


def _paid(spec: Spec, stated: Stated, verdict: str) -> tuple[tuple[int, str], ...]:
    """What a program pays, line by line, where it was expected to be proved and is not."""
    if verdict == "PROVED" or stated.expect != "PROVED" or not spec.file.endswith(".py"):
        return ()
    from dpverify.cli.costs import costs

    return tuple((cost.line, cost.said) for cost in costs(spec.source, stated.claim))


def certificate_stem(mechanism: str, name: str) -> str:
    """The name of the certificate of a claim, without its ending."""
    slug = re.sub(r"[\s_]+", "-", re.sub(r"[^\w\s.-]", "", name.lower(), flags=re.ASCII).strip())
    return f"{shortened(mechanism)}.{slug[:80].strip('.-') or 'claim'}"


def shortened(stem: str) -> str:
    """A claim file's name as the beginning of other files' names: with room for their endings, and still another for another file."""
    long = len(stem.encode()) > LONGEST
    return f"{stem.encode()[: LONGEST - 13].decode(errors='ignore')}-{sha256(stem.encode()).hexdigest()[:12]}" if long else stem


def unique(names: Iterable[str]) -> Iterator[str]:
    """The names with -2, -3, ... after those that have been before."""
    seen = {"index", "audits"}  # files that a report has of its own
    for name in names:
        candidate, count = name, 1
        while candidate in seen:
            count += 1
            candidate = f"{name}-{count}"
        seen.add(candidate)
        yield candidate


def audited(specs: Sequence[Spec], checkpoint: Path | None = None, **settings: Any) -> Results:
    """The findings of every claim of files with an [audit] table, and the audits that could not be made."""
    from dpverify.audits.apart import audit_apart
    from dpverify.report.results import Fault
    from dpverify.runtime.processes import Failed

    work = [(spec, stated) for spec in specs for stated in spec.claims]
    findings: list[Finding] = []
    faults: list[Fault] = []
    for number, (spec, stated) in enumerate(work, 1):
        file = checkpoint.with_name(f"{checkpoint.name}.{number}") if checkpoint and number > 1 else checkpoint
        label = f"auditing {number}/{len(work)} {spec.mechanism}"
        with click.progressbar(length=settings["samples"], label=label, file=sys.stderr, hidden=not output.watched()) as bar:

            def progress(done: int, bar: Any = bar) -> None:
                bar.update(done - bar.pos)

            try:
                findings += audit_apart(spec, stated, progress, {**settings, "checkpoint": file})
            except Exception as error:  # one claim's fault must not take the other findings away
                if os.environ.get("DPVERIFY_DEBUG") and not isinstance(error, DpverifyError | OSError | Failed):
                    raise
                known = f"{type(error).__name__}: {error}" if isinstance(error, DpverifyError) else None
                known = output.unwritten(error) if isinstance(error, OSError) else known
                faults.append(Fault(spec.file, stated.claim.name, known or output.fault(error), 2 if known else 3))
                output.say(*f"{spec.file}, {stated.claim.name}: {faults[-1].error}".split("\n"), err=True)
    return labelled(specs, findings, faults)


def labelled(specs: Sequence[Spec], findings: Sequence[Finding], faults: Sequence[Fault]) -> Results:
    """What audits of files found, with where their claims are."""
    from dpverify.report.results import Results

    work = [(spec, stated) for spec in specs for stated in spec.claims]
    lines = {(spec.file, stated.claim.name): stated.line for spec, stated in work}
    said = {(spec.file, stated.claim.name): _audit_digest(spec, stated) for spec, stated in work}
    return Results(findings=findings, faults=faults, lines=lines, audited=said)


def not_audited(specs: Sequence[Spec]) -> list[Fault]:
    """Of every claim that would be audited, that it was not, since no code may be run."""
    from dpverify.report.results import Fault

    why = "not audited: --no-code, or code = false in [tool.dpverify], forbids code."
    faults = [Fault(spec.file, stated.claim.name, why, 0) for spec in specs if spec.audit is not None for stated in spec.claims]
    for fault in faults:
        output.say(f"{fault.file}, {fault.name}: {fault.error}", err=True)
    return faults


def _audit_digest(spec: Spec, stated: Stated) -> str:
    """Of what a claim and its file's [audit] table say."""
    from dpverify.trusted.kernel.canonical_form import to_json

    return sha256(json.dumps([to_json(stated.claim), spec.audit], sort_keys=True, default=str).encode()).hexdigest()
