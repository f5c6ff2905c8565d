"""`dpverify audit`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

from dpverify.cli.output import FORMATS, rendered

SAMPLES: Final = 1_000_000
CONFIDENCE: Final = 1 - 1e-6

Command = Callable[..., Any]


def sampling(command: Command) -> Command:
    """The options of every verb that samples."""
    options = (
        click.option("--samples", type=click.IntRange(1), default=SAMPLES, show_default=True, help="Runs on each side, for each claim."),
        click.option(
            "--confidence", type=float, default=CONFIDENCE, show_default="1 - 1e-6", help="1 - the false-alarm budget of each audit."
        ),
        click.option("--seed", type=click.IntRange(0), help="Of the sampler's generator; drawn, and told, without it."),
        click.option("--workers", type=click.IntRange(0), default=1, show_default=True, help="Processes that sample; 0 for this one."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH|NAME...")
@click.option("--claim", "claims", multiple=True, metavar="NAME", help="Only claims of this name; may be given several times.")
@sampling
@click.option("--dask", metavar="ADDRESS", help="Sample on the workers of a Dask scheduler.")
@click.option("--timeout", type=float, default=60.0, show_default=True, help="Seconds that one call of the sampler may take.")
@click.option("--checkpoint", type=click.Path(dir_okay=False, path_type=Path), help="Go on from this file; one claim file only.")
@click.option("--no-stop", is_flag=True, help="Spend all samples, for the best lower bound on epsilon.")
@click.option("--format", "style", type=click.Choice(list(FORMATS)), default="text", show_default=True)
def audit(
    paths: tuple[str, ...], claims: tuple[str, ...], samples: int, confidence: float, seed: int | None, workers: int, dask: str | None,
    timeout: float, checkpoint: Path | None, no_stop: bool, style: str,
) -> int:  # fmt: skip
    """Sample the implementations that [audit] tables name, and look for violations of each claim.

    Runs the code that the tables name. An audit never proves: it says VIOLATION, NONCONFORMING or what it would have seen.
    """
    from dpverify.cli.claims import audited, selected, specs_of

    specs = [spec for spec in specs_of(paths) if spec.audit is not None]
    if not specs:
        raise click.UsageError(f"{', '.join(paths)}: no file has an [audit] table. Add one that names the sampler.")
    specs = selected(specs, claims)
    if checkpoint is not None and len(specs) > 1:
        raise click.UsageError(f"--checkpoint keeps one file's audits, and {len(specs)} files are meant. Audit them one by one.")
    results = audited(
        specs, checkpoint, samples=samples, confidence=confidence, seed=seed, workers=workers, dask=dask, timeout=timeout,
        stop=not no_stop,
    )  # fmt: skip
    click.echo(rendered(results, style))
    return results.exit_code
