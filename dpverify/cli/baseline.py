"""`dpverify baseline`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpverify.cli.audit import sampling
from dpverify.cli.output import Writing, say, writable
from dpverify.cli.settings import Settings, judging, profiled, requiring, root_of, ways

if TYPE_CHECKING:
    from dpverify.cli.accepted import Baseline


@click.command(short_help="Accept what is not as expected today.")
@click.argument("paths", nargs=-1, metavar="[PATH|NAME]...")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="The baseline file. Default: the configured one.")
@click.option(
    "--audit/--no-audit", "audits", default=None,
    help="Also run the samplers that [audit] tables name. Default: only where an option says how to sample.",
)  # fmt: skip
@requiring
@judging
@profiled
@sampling
def baseline(
    paths: tuple[str, ...], output: Path | None, audits: bool | None, settings: Settings, samples: int | None, confidence: float | None,
    seed: int | None, level: str | None, workers: int | None, require: tuple[str, ...],
) -> int:  # fmt: skip
    """Record all current failures as known: with the file that this writes, later runs fail only on new problems.

    What the file accepts of other claim files stays in it, and so do findings of audits without --audit. Faults cannot be accepted. Commit
    the file; it is made for reading.
    """
    from dpverify.cli.accepted import NAME, accepted, render
    from dpverify.cli.claims import audited, specs_of, verified
    from dpverify.report.results import Fault, Results

    if audits is None:
        audits = any(given is not None for given in (samples, confidence, seed, level, workers))
    file = output or settings.config.baseline or Path(NAME)
    before = _before(file)
    writable(file.absolute().parent)
    unread: list[Fault] = []
    specs = specs_of(settings.paths(paths), settings.bounds, code=settings.code, unread=unread)
    entries = verified(
        specs, None, settings.digits, cache=settings.cache, jobs=settings.jobs, bounds=settings.bounds, confirming=bool(require)
    )
    sampled = [spec for spec in specs if spec.audit is not None] if audits and settings.code else []
    how = settings.sampling(samples, confidence, seed, workers, level=level)
    seen = audited(sampled, **how) if sampled else Results()
    results = replace(seen, entries=entries, faults=[*seen.faults, *unread], root=root_of(file), required=ways(require))
    known, gone = accepted(results, before), before.gone(results)
    writing = Writing()
    writing.write(file, render(known))
    marks = {one.fingerprint for one in known}
    new = marks - before.fingerprints
    if writing.failed:
        say(f"{results.summary}; nothing is accepted anew")
        return writing.code(results.exit_code)
    say(f"{file}: {len(known)} accepted, {len(new)} of them new; {len(gone)} gone")
    _read_by(settings, file)
    for one in gone:
        say(f"gone: {one.file}, {one.name}: {one.rule}", err=True)
    return replace(results, known=frozenset(marks)).exit_code


def _read_by(settings: Settings, file: Path) -> None:
    """See that runs read the file: where the project names no baseline yet, its pyproject.toml gets the key; else say what to do."""
    from dpverify.errors import ProjectError
    from dpverify.project.baseline import with_baseline
    from dpverify.project.files import carry_out

    config, whole = settings.config, file.absolute().resolve()
    if config.baseline is not None and config.baseline.resolve() == whole:
        return
    here = f"where they are told of it: --baseline {file}"
    if config.baseline is not None:
        say(f"runs read {config.baseline}, which {config.file} names, and this file {here}")
        return
    if config.file is None or not whole.is_relative_to(config.file.parent):
        say(f'runs read it {here}, or baseline = "{file.name}" in [tool.dpverify] of a pyproject.toml beside it')
        return
    name = whole.relative_to(config.file.parent).as_posix()
    try:
        carry_out([with_baseline(config.file, name)], config.file.parent)
    except (ProjectError, OSError) as error:
        say(f'{error} Runs read the baseline {here}, or once baseline = "{name}" is there.', err=True)
    else:
        say(f'{config.file}: baseline = "{name}" is set in [tool.dpverify], so that runs read it')


def _before(file: Path) -> Baseline:
    """What the file accepted until now. Raises SpecError where it is something else than a baseline, which is then not overwritten."""
    from dpverify.cli.accepted import Baseline, read

    return read(file, root_of(file)) if file.exists() else Baseline(root_of(file))
