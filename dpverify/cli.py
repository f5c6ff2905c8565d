"""The command line: parse, call, print, exit code. stdout carries the answer, stderr everything else.

Heavy modules are imported by the verb that needs them, so that --help is immediate.
"""

from __future__ import annotations

import glob
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpverify import __version__
from dpverify.errors import DpverifyError, SpecError

if TYPE_CHECKING:
    from dpverify.audit.finding import Finding
    from dpverify.bands import Bands
    from dpverify.catalogue import Spec, Stated
    from dpverify.model import Claim
    from dpverify.report import Entry
    from dpverify.report.findings import Fault

FORMATS = {"text": "text", "json": "record", "sarif": "sarif", "junit": "junit", "github": "github"}
"""Each output format and the module of dpverify.report that renders it."""
COLOURS = {"PROVED": "green", "REFUTED": "red", "UNKNOWN": "yellow"}
INTERRUPTED = 130
SAMPLES = 1_000_000
CONFIDENCE = 1 - 1e-6


class _Verbs(click.Group):
    """The verbs, with one place where failures become messages and exit codes."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb. A reader that closes the pipe is no verdict, which click's exit code 1 would say."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            sys.stdout = None  # nothing to flush at the end
            raise click.ClickException("the output was closed before all of it was written.") from error

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a verb and leave with its exit code: 2 for bad usage or files, 3 for a fault of dpverify, 130 for Ctrl-C."""
        kwargs["standalone_mode"] = False
        try:
            sys.exit(super().main(*args, **kwargs) or 0)
        except click.Abort:
            click.echo("interrupted; no file is left half-written.", err=True)
            sys.exit(INTERRUPTED)
        except click.ClickException as error:
            error.show()
            sys.exit(2)
        except SpecError as error:
            for fault in error.faults:
                click.echo(f"SpecError: {fault}", err=True)
            sys.exit(2)
        except DpverifyError as error:
            click.echo(f"{type(error).__name__}: {error}", err=True)
            sys.exit(2)
        except OSError as error:
            click.echo(_unwritten(error), err=True)
            sys.exit(2)
        except Exception as error:
            click.echo(_fault(error), err=True)
            sys.exit(3)


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, prog_name="dpverify")
def main() -> None:
    """Prove or refute differential-privacy claims.

    Exit codes: 0 all as expected; 1 a verdict other than expected; 2 bad usage or a bad file; 3 a fault of dpverify itself;
    4 nothing wrong found but something undecided.
    """
    # Matrices are small here: threads of BLAS only wait for each other, ten times as long as the work takes on a busy machine.
    for library in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(library, "1")


@main.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH|NAME...")
@click.option("--certificates", type=click.Path(file_okay=False, path_type=Path), help="Write a certificate for each decided claim here.")
@click.option("--digits", type=click.IntRange(1, 1000), default=20, show_default=True, help="Digits of the tight epsilon.")
@click.option("--format", "style", type=click.Choice(list(FORMATS)), default="text", show_default=True)
def verify(paths: tuple[str, ...], certificates: Path | None, digits: int, style: str) -> int:
    """Prove or refute every claim of the files, directories or named mechanisms."""
    from dpverify.report import exit_code

    entries = _verified(_specs(paths), certificates, digits)
    click.echo(_rendered(entries, style))
    return exit_code(entries)


@main.command()
@click.argument("certificates", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="CERT...")
def check(certificates: tuple[Path, ...]) -> int:
    """Re-check certificates (files, or directories of *.cert.json) with the kernel alone."""
    from dpverify.kernel import recheck

    files = [file for path in certificates for file in _certificate_files(path)]
    worst = held = 0
    for file in files:
        code, line = recheck(file)
        click.echo(line, err=code != 0)
        worst, held = max(worst, code), held + (code == 0)
    click.echo(f"{len(files)} certificate{'' if len(files) == 1 else 's'}, {held} hold")
    return worst


@main.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH|NAME...")
@click.option("-o", "--output", required=True, type=click.Path(file_okay=False, path_type=Path), help="The directory to write to.")
@click.option("--digits", type=click.IntRange(1, 1000), default=20, show_default=True, help="Digits of the tight epsilon.")
@click.option("--audit/--no-audit", "audits", default=True, show_default=True, help="Run the samplers that [audit] tables name.")
@click.option("--samples", type=click.IntRange(1), default=SAMPLES, show_default=True, help="Runs on each side, for each audited claim.")
@click.option("--confidence", type=float, default=CONFIDENCE, show_default="1 - 1e-6", help="1 - the false-alarm budget of each audit.")
@click.option("--seed", type=click.IntRange(0), help="Of the samplers' generators; drawn, and told, without it.")
@click.option("--workers", type=click.IntRange(0), default=1, show_default=True, help="Processes that sample; 0 for this one.")
def report(
    paths: tuple[str, ...], output: Path, digits: int, audits: bool, samples: int, confidence: float, seed: int | None, workers: int
) -> int:
    """Verify, audit, and write certificates and pages (.html, .md) for people, with the data of privacy curves (.curves.json).

    What was sampled is in audits.md and audits.json.
    """
    from dpverify.report import exit_code, page, summary, text
    from dpverify.report import findings as rendering

    specs = _specs(paths)
    entries = _verified(specs, output, digits)
    names = _unique(Path(file).stem for file, _ in groupby(entries, key=lambda entry: entry.file))
    groups = {next(names): list(group) for _, group in groupby(entries, key=lambda entry: entry.file)}
    written = {Path(entry.certificate).name for entry in entries if entry.certificate}
    drawn = _drawn(groups)
    for stem, group in groups.items():
        for name, content in page.pages(stem, group, drawn[stem]).items():
            _write(output / name, content)
        if not drawn[stem]:
            (output / page.data_name(stem)).unlink(missing_ok=True)
        for old in output.glob(f"{glob.escape(stem)}.*.cert.json"):  # of claims that are gone, renamed or no longer decided
            if old.name not in written:
                old.unlink()
    for name, content in page.indexes(groups).items():
        _write(output / name, content)
    surprises = [entry for entry in entries if not entry.as_expected]
    click.echo(text.render(surprises, _paint) if surprises else summary(entries))
    if surprises:
        click.echo(f"of all: {summary(entries)}")
    codes = [exit_code(entries)]
    sampled = [spec for spec in specs if spec.audit is not None] if audits else []
    if sampled:
        found, faults = _audited(sampled, samples=samples, confidence=confidence, seed=seed, workers=workers)
        _write(output / "audits.md", rendering.as_markdown(found, faults))
        _write(output / "audits.json", rendering.as_json(found, faults) + "\n")
        click.echo(rendering.text(found, faults, _paint))
        codes += [rendering.exit_code(found, faults)]
    click.echo(f"written to {output}")
    return next((code for code in (3, 2, 1, 4) if code in codes), 0)


@main.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH|NAME...")
@click.option("--samples", type=click.IntRange(1), default=SAMPLES, show_default=True, help="Runs on each side, for each claim.")
@click.option("--confidence", type=float, default=CONFIDENCE, show_default="1 - 1e-6", help="1 - the false-alarm budget of each audit.")
@click.option("--seed", type=click.IntRange(0), help="Of the sampler's generator; drawn, and told, without it.")
@click.option("--workers", type=click.IntRange(0), default=1, show_default=True, help="Processes that sample; 0 for this one.")
@click.option("--dask", metavar="ADDRESS", help="Sample on the workers of a Dask scheduler.")
@click.option("--timeout", type=float, default=60.0, show_default=True, help="Seconds that one call of the sampler may take.")
@click.option("--checkpoint", type=click.Path(dir_okay=False, path_type=Path), help="Go on from this file; one claim file only.")
@click.option("--no-stop", is_flag=True, help="Spend all samples, for the best lower bound on epsilon.")
@click.option("--format", "style", type=click.Choice([*FORMATS, "markdown"]), default="text", show_default=True)
def audit(
    paths: tuple[str, ...], samples: int, confidence: float, seed: int | None, workers: int, dask: str | None, timeout: float,
    checkpoint: Path | None, no_stop: bool, style: str,
) -> int:  # fmt: skip
    """Sample the implementations that [audit] tables name, and look for violations of each claim.

    Runs the code that the tables name. An audit never proves: it says VIOLATION, NONCONFORMING or what it would have seen.
    """
    from dpverify.report import findings as rendering

    specs = [spec for spec in _specs(paths) if spec.audit is not None]
    if not specs:
        raise click.UsageError(f"{', '.join(paths)}: no file has an [audit] table. Add one that names the sampler.")
    if checkpoint is not None and len(specs) > 1:
        raise click.UsageError(f"--checkpoint keeps one file's audits, and {len(specs)} files are meant. Audit them one by one.")
    found, faults = _audited(
        specs, checkpoint, samples=samples, confidence=confidence, seed=seed, workers=workers, dask=dask, timeout=timeout,
        stop=not no_stop,
    )  # fmt: skip
    click.echo(rendering.text(found, faults, _paint) if style == "text" else rendering.FORMATS[style](found, faults).rstrip("\n"))
    return rendering.exit_code(found, faults)


@main.command()
@click.argument("name", metavar="RULE|NAME")
def explain(name: str) -> int:
    """What a rule states, checks and assumes, or what a named mechanism is and which rules decide its claims."""
    from dpverify.rules.table import EXPLAINED

    click.echo("\n".join(_rule_lines(name) if name in EXPLAINED else _mechanism_lines(name)))
    return 0


# -- verifying ------------------------------------------------------------------------------------------


def _specs(paths: Sequence[str]) -> list[Spec]:
    """Every claim file meant, read; all faults of all files in one SpecError, before anything is done."""
    from dpverify.catalogue import read_spec, resolve

    specs: list[Spec] = []
    faults: list[str] = []
    for path in paths:
        try:
            files = resolve(path)
        except SpecError as error:
            faults.extend(error.faults)
            continue
        for file in files:
            try:
                specs.append(read_spec(file))
            except SpecError as error:
                faults.extend(error.faults)
    if faults:
        raise SpecError(faults)
    return specs


def _verified(specs: Sequence[Spec], certificates: Path | None, digits: int) -> list[Entry]:
    """The outcome of every claim, with certificates written as they come."""
    if certificates is not None:
        certificates.mkdir(parents=True, exist_ok=True)
        if not os.access(certificates, os.W_OK):
            raise PermissionError(13, "Permission denied", str(certificates))
    names = _unique(_certificate_stem(spec, stated) for spec in specs for stated in spec.claims)
    work = [(spec, stated, next(names)) for spec in specs for stated in spec.claims]
    entries: list[Entry] = []
    with click.progressbar(work, label="verifying", file=sys.stderr, hidden=not sys.stderr.isatty()) as steps:
        for spec, stated, name in steps:
            entries.append(_outcome(spec, stated, None if certificates is None else certificates / f"{name}.cert.json", digits))
    return entries


def _outcome(spec: Spec, stated: Stated, certificate: Path | None, digits: int) -> Entry:
    from dpverify import verify as judge
    from dpverify.certificate import encode
    from dpverify.report import Entry

    started = time.perf_counter()
    common: dict[str, Any] = {
        "file": spec.file, "mechanism": spec.mechanism, "claim": stated.claim, "expected": stated.expect, "line": stated.line,
        "digits": digits, "utility": stated.utility,
    }  # fmt: skip
    try:
        verified = judge(stated.claim, digits)
    except Exception as error:  # one claim's fault must not take the other answers away
        if os.environ.get("DPVERIFY_DEBUG"):
            raise
        fault = _fault(error)
        click.echo(f"{spec.file}, {stated.claim.name}: {fault}", err=True)
        return Entry(**common, fault=fault, seconds=time.perf_counter() - started)
    decided = certificate is not None and verified.judgement.verdict != "UNKNOWN"
    if certificate is not None and decided:
        _write(certificate, encode(verified.certificate))
    return Entry(
        **common,
        judgement=verified.judgement,
        reasons=verified.reasons,
        certificate=str(certificate) if decided else None,
        seconds=time.perf_counter() - started,
    )


def _drawn(groups: Mapping[str, Sequence[Entry]]) -> dict[str, list[Bands]]:
    """The bands of every claim file, by its stem; claims that differ only in what they claim share theirs."""
    drawn: dict[str, list[Bands]] = {}
    with click.progressbar(groups.items(), label="drawing", file=sys.stderr, hidden=not sys.stderr.isatty()) as steps:
        for stem, entries in steps:
            alike: dict[Claim, list[Entry]] = {}
            for entry in entries:
                alike.setdefault(replace(entry.claim, epsilon=None, delta=None, name=""), []).append(entry)
            drawn[stem] = [bands for group in alike.values() if (bands := _bands(group)) is not None]
    return drawn


def _bands(entries: Sequence[Entry]) -> Bands | None:
    from dpverify.bands import bands

    try:
        return bands([entry.claim for entry in entries], next(filter(None, map(_curve_evidence, entries)), None))
    except Exception as error:  # one claim's fault must not take the other curves away
        if os.environ.get("DPVERIFY_DEBUG"):
            raise
        click.echo(f"{entries[0].file}, {entries[0].claim.name}, its curves: {_fault(error)}", err=True)
        return None


def _curve_evidence(entry: Entry) -> Mapping[str, Any] | None:
    """The evidence of the privacy curve in the certificate that was written, if one is there."""
    from dpverify.certificate import decode

    steps = decode(Path(entry.certificate).read_bytes())["steps"] if entry.certificate else []
    return next((step["evidence"]["curve"] for step in steps if "curve" in step["evidence"]), None)


def _certificate_stem(spec: Spec, stated: Stated) -> str:
    slug = re.sub(r"[\s_]+", "-", re.sub(r"[^\w\s.-]", "", stated.claim.name.lower(), flags=re.ASCII).strip())
    return f"{spec.mechanism}.{slug[:80].strip('.-') or 'claim'}"


def _unique(names: Iterable[str]) -> Iterator[str]:
    """The names with -2, -3, ... after those that have been before."""
    seen = {"index", "audits"}  # files that a report has of its own
    for name in names:
        candidate, count = name, 1
        while candidate in seen:
            count += 1
            candidate = f"{name}-{count}"
        seen.add(candidate)
        yield candidate


def _certificate_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(path.rglob("*.cert.json"))
    if not found:
        raise click.UsageError(f"{path}: no certificates (*.cert.json) in this directory.")
    return found


# -- auditing -------------------------------------------------------------------------------------------


def _audited(specs: Sequence[Spec], checkpoint: Path | None = None, **settings: Any) -> tuple[list[Finding], list[Fault]]:
    """The findings of every claim of files with an [audit] table, and the audits that could not be made."""
    from dpverify.audit import audit_spec
    from dpverify.report.findings import Fault

    work = [(spec, stated) for spec in specs for stated in spec.claims]
    findings: list[Finding] = []
    faults: list[Fault] = []
    for number, (spec, stated) in enumerate(work, 1):
        file = checkpoint.with_name(f"{checkpoint.name}.{number}") if checkpoint and number > 1 else checkpoint
        label = f"auditing {number}/{len(work)} {spec.mechanism}"
        with click.progressbar(length=settings["samples"], label=label, file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:

            def progress(done: int, bar: Any = bar) -> None:
                bar.update(done - bar.pos)

            try:
                findings += audit_spec(spec, claims=[stated], checkpoint=file, progress=progress, **settings)
            except Exception as error:  # one claim's fault must not take the other findings away
                if os.environ.get("DPVERIFY_DEBUG") and not isinstance(error, DpverifyError | OSError):
                    raise
                known = f"{type(error).__name__}: {error}" if isinstance(error, DpverifyError) else None
                known = _unwritten(error) if isinstance(error, OSError) else known
                faults.append(Fault(spec.file, stated.claim.name, known or _fault(error), 2 if known else 3))
                click.echo(f"{spec.file}, {stated.claim.name}: {faults[-1].error}", err=True)
    return findings, faults


# -- output -----------------------------------------------------------------------------------------------


def _rendered(entries: Sequence[Entry], style: str) -> str:
    from importlib import import_module

    render: Callable[..., str] = import_module(f"dpverify.report.{FORMATS[style]}").render
    return render(entries, _paint) if style == "text" else render(entries)


def _paint(text: str, verdict: str) -> str:
    if sys.stdout is None or not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    return click.style(text, fg=COLOURS[verdict], bold=True)


def _write(path: Path, content: str) -> None:
    """Write a whole file or nothing: into a neighbour first, then in its place."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        scratch.write_text(content, encoding="utf-8")
        scratch.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        scratch.unlink(missing_ok=True)


def _unwritten(error: OSError) -> str:
    return f"cannot write or read {error.filename or 'the output'}: {error.strerror or error}."


def _fault(error: Exception) -> str:
    return (
        f"dpverify itself failed: {type(error).__name__}: {error}. This is a bug: please report it with the claim file "
        "and the traceback that DPVERIFY_DEBUG=1 shows."
    )


# -- explaining --------------------------------------------------------------------------------------------


def _rule_lines(name: str) -> Iterator[str]:
    from dpverify.rules.table import EXPLAINED

    rule = EXPLAINED[name]
    yield f"{name}: {rule.STATEMENT}"
    yield from (f"checked: {line}" for line in rule.CHECKED)
    yield from (f"assumed: {line}" for line in rule.ASSUMED)
    yield f"source: {rule.SOURCE}"
    users = sorted({user for user, rules in _uses() if name in rules})
    yield f"used by: {', '.join(users) if users else 'no certificate in reports/'}"


def _mechanism_lines(name: str) -> Iterator[str]:
    from dpverify.catalogue import read_spec, resolve
    from dpverify.report import short, understood
    from dpverify.rules.table import EXPLAINED

    try:
        files = resolve(name)
    except SpecError as error:
        known = f" Rules: {', '.join(sorted(EXPLAINED))}." if EXPLAINED else ""
        raise SpecError(f"{error.faults[0]}{known}") from error
    for file in files:
        spec = read_spec(file)
        yield f"{spec.mechanism}: {spec.file}"
        yield from (f"  {key}: {value}" for key, value in understood(spec.claims[0].claim))
        if spec.source:
            yield f"  source: {spec.source}"
        yield from (f"  claim: {stated.claim.name}: eps {short(stated.claim.epsilon)}, {stated.expect}" for stated in spec.claims)
        rules = sorted({rule for user, used in _uses() if user == spec.mechanism for rule in used})
        yield f"  rules: {', '.join(rules) if rules else 'no certificate in reports/'}"


def _uses() -> Iterator[tuple[str, set[str]]]:
    """Of every readable certificate in reports/, here or beside the shelf, the mechanism and the rules it uses."""
    from dpverify.catalogue import shelf
    from dpverify.certificate import decode, unpack
    from dpverify.errors import CertificateError

    folders = dict.fromkeys(folder.resolve() for folder in (Path("reports"), shelf() / "reports") if folder.is_dir())
    for file in (file for folder in folders for file in sorted(folder.glob("*.cert.json"))):
        try:
            certificate = unpack(decode(file.read_bytes()))
        except (OSError, CertificateError):
            continue
        yield certificate.claim.mechanism_name, {step.rule for step in certificate.steps}


if __name__ == "__main__":
    main()
