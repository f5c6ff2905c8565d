"""`dpverify audit`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from dpverify.cli.numbers import Confidence, Count, Seconds, Whole
from dpverify.cli.output import FORMATS, rendered, say
from dpverify.cli.settings import Settings, codeless, configured

Command = Callable[..., Any]


def sampling(command: Command) -> Command:
    """The options of every verb that samples; what is not given is the profile's."""
    options = (
        click.option(
            "--samples", type=Count(),
            help="Number of runs on each input, for each claim. Default: the profile's, 1000000.",
        ),
        click.option(
            "--confidence", type=Confidence(),
            help="Confidence of each audit: 1 minus the probability of a false alarm. Default: the profile's, 1 - 1e-6.",
        ),
        click.option(
            "--seed", type=Whole(0, like="1"),
            help="Seed of the sampler's random generator. Default: the profile's; where it has none, one is drawn and shown.",
        ),
        click.option(
            "--level", type=click.Choice(["model", "float"]),
            help="What to look for: the distribution of the outputs alone, or (the default) also what only their bits give away.",
        ),
        click.option("--workers", type=Whole(0, like="2"), help="Number of processes that sample; 0 samples in this one. Default: 1."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@click.command(short_help="Sample implementations and look for violations.")
@click.argument("paths", nargs=-1, metavar="[PATH|NAME]...")
@click.option("--claim", "claims", multiple=True, metavar="NAME", help="Only claims of this name; may be given several times.")
@sampling
@configured
@click.option("--dask", metavar="ADDRESS", help="Sample on the workers of a Dask scheduler.")
@click.option(
    "--ship", type=click.Path(exists=True, dir_okay=False), multiple=True, metavar="FILE",
    help="Send a module (.py), an archive of modules (.zip) or a pure wheel (.whl) to these workers first; may be repeated.",
)
@click.option(
    "--timeout", type=Seconds(), metavar="SECONDS", help="Seconds that one call of the sampler may take. Default: the profile's, 60."
)
@click.option(
    "--checkpoint", type=click.Path(dir_okay=False, path_type=Path),
    help="Continue from this checkpoint, and keep it up to date; for one claim file.",
)  # fmt: skip
@click.option(
    "--ledger", type=click.Path(dir_okay=False, path_type=Path),
    help="Go on where the last audit that this file knows of stopped, and write down what this one adds; see `dpverify ledger`.",
)
@click.option(
    "--inherit", type=click.Choice(["nothing", "events", "all"]), default="nothing", show_default=True,
    help="What a version of the sampler that the ledger does not know takes over from the one before: nothing; the events that were looked "
    "at; or all that was won, where a violation is one of some of these versions.",
)
@codeless
@click.option("--no-stop", is_flag=True, help="Use all samples even after a violation, for the best lower bound on epsilon.")
@click.option("--format", "style", type=click.Choice(list(FORMATS)), default="text", show_default=True, help="Form of the answer.")
def audit(
    paths: tuple[str, ...], claims: tuple[str, ...], settings: Settings, samples: int | None, confidence: float | None, seed: int | None,
    level: str | None, workers: int | None, dask: str | None, ship: tuple[str, ...],
    timeout: float | None, checkpoint: Path | None,
    ledger: Path | None, inherit: str, no_stop: bool, style: str,
) -> int:  # fmt: skip
    """Sample the implementations that [audit] tables name, and programs, and look for violations of each claim.

    Runs the code that the tables name, and Python files with programs, which are held against their declarations too, with the same noise.
    An audit never proves: it says VIOLATION, NONCONFORMING or what it would have seen.
    """
    from dpverify.cli.claims import audited, refused, selected, specs_of
    from dpverify.cli.programs import audited_programs, is_program
    from dpverify.errors import BadFiles
    from dpverify.report.results import Fault

    paths = settings.paths(paths)
    if not settings.code:
        raise click.UsageError("an audit runs code, which --no-code (or code = false in [tool.dpverify]) forbids.")
    unread: list[Fault] = []
    try:
        every = specs_of(paths, settings.bounds, unread=unread)
    except BadFiles as error:
        return refused(error, style)
    specs, programs = [spec for spec in every if spec.audit is not None], [spec for spec in every if is_program(spec)]
    if not specs and not programs:
        way = 'Add one that names the sampler: sampler = "module:function".'
        raise click.UsageError(f"{', '.join(paths)}: no file has an [audit] table. {way}")
    meant = selected([*specs, *programs], claims)
    specs, programs = [spec for spec in meant if spec.audit is not None], [spec for spec in meant if spec.audit is None]
    if checkpoint is not None and len(specs) > 1:
        raise click.UsageError(f"--checkpoint keeps one file's audits, and {len(specs)} files are meant. Audit them one by one.")
    if ledger is not None and checkpoint is not None:
        raise click.UsageError("--checkpoint and --ledger are two places to go on from. Give one of them.")
    if ledger is None and inherit != "nothing":
        raise click.UsageError("--inherit says what is taken over from a ledger, and none is given. Add --ledger FILE.")
    if ship and dask is None:
        raise click.UsageError("--ship sends files to the workers of a Dask scheduler, and none is given. Add --dask ADDRESS.")
    kept = {} if ledger is None else {"ledger": ledger, "inherit": inherit}
    how = settings.sampling(samples, confidence, seed, workers, timeout, level)
    outcome = audited(specs, checkpoint, dask=dask, ship=ship, stop=not no_stop, **kept, **how)
    ran = audited_programs(programs, samples, how)
    lines = {**outcome.lines, **{(spec.file, one.claim.name): one.line for spec in programs for one in spec.claims}}
    outcome = replace(outcome, findings=[*outcome.findings, *ran.findings], faults=[*outcome.faults, *ran.faults, *unread], lines=lines)
    results = settings.marked(outcome, whole=not claims)
    if ran.faults:
        say(*(f"{one.file}, {one.name}: {one.error}" for one in ran.faults), err=True)
    if style == "text" and (told := ran.text()):
        say(*(line for each in told for line in each.split("\n")))
    answer = rendered(results, style)
    click.echo(ran.beside(answer) if style == "json" and programs else answer)
    return results.exit_code
