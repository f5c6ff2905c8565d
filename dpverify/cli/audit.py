"""`dpverify audit`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from dpverify.cli.output import FORMATS, rendered
from dpverify.cli.settings import Settings, codeless, configured

Command = Callable[..., Any]


def sampling(command: Command) -> Command:
    """The options of every verb that samples; what is not given is the profile's."""
    options = (
        click.option("--samples", type=click.IntRange(1), help="Runs on each side, for each claim; the profile's without it: 1000000."),
        click.option("--confidence", type=float, help="1 - the false-alarm budget of each audit; the profile's without it: 1 - 1e-6."),
        click.option("--seed", type=click.IntRange(0), help="Of the sampler's generator; the profile's without it: drawn, and told."),
        click.option(
            "--level", type=click.Choice(["model", "float"]),
            help="What is looked for: the law of the outputs alone, or (without it) also what only their representation gives away.",
        ),
        click.option("--workers", type=click.IntRange(0), help="Processes that sample; 0 for this one. Without it, 1."),
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
@click.option("--timeout", type=float, help="Seconds that one call of the sampler may take; the profile's without it: 60.")
@click.option("--checkpoint", type=click.Path(dir_okay=False, path_type=Path), help="Go on from this file; one claim file only.")
@codeless
@click.option("--no-stop", is_flag=True, help="Spend all samples, for the best lower bound on epsilon.")
@click.option("--format", "style", type=click.Choice(list(FORMATS)), default="text", show_default=True)
def audit(
    paths: tuple[str, ...], claims: tuple[str, ...], settings: Settings, samples: int | None, confidence: float | None, seed: int | None,
    level: str | None, workers: int | None, dask: str | None, timeout: float | None, checkpoint: Path | None, no_stop: bool, style: str,
) -> int:  # fmt: skip
    """Sample the implementations that [audit] tables name, and look for violations of each claim.

    Runs the code that the tables name. An audit never proves: it says VIOLATION, NONCONFORMING or what it would have seen.
    """
    from dpverify.cli.claims import audited, refused, selected, specs_of
    from dpverify.errors import BadFiles
    from dpverify.report.results import Fault

    paths = settings.paths(paths)
    if not settings.code:
        raise click.UsageError("an audit runs code, which --no-code (or code = false in [tool.dpverify]) forbids.")
    unread: list[Fault] = []
    try:
        specs = [spec for spec in specs_of(paths, settings.bounds, unread=unread) if spec.audit is not None]
    except BadFiles as error:
        return refused(error, style)
    if not specs:
        raise click.UsageError(f"{', '.join(paths)}: no file has an [audit] table. Add one that names the sampler.")
    specs = selected(specs, claims)
    if checkpoint is not None and len(specs) > 1:
        raise click.UsageError(f"--checkpoint keeps one file's audits, and {len(specs)} files are meant. Audit them one by one.")
    how = settings.sampling(samples, confidence, seed, workers, timeout, level)
    outcome = audited(specs, checkpoint, dask=dask, stop=not no_stop, **how)
    results = settings.marked(replace(outcome, faults=[*outcome.faults, *unread]), whole=not claims)
    click.echo(rendered(results, style))
    return results.exit_code
