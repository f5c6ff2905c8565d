"""`dpverify verify`."""

from __future__ import annotations

from pathlib import Path

import click

from dpverify.cli.output import FORMATS, rendered


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH|NAME...")
@click.option("--certificates", type=click.Path(file_okay=False, path_type=Path), help="Write a certificate for each decided claim here.")
@click.option("--digits", type=click.IntRange(1, 1000), default=20, show_default=True, help="Digits of the tight epsilon.")
@click.option("--format", "style", type=click.Choice(list(FORMATS)), default="text", show_default=True)
def verify(paths: tuple[str, ...], certificates: Path | None, digits: int, style: str) -> int:
    """Prove or refute every claim of the files, directories or named mechanisms."""
    from dpverify.cli.claims import specs_of, verified
    from dpverify.report.results import Results

    results = Results(entries=verified(specs_of(paths), certificates, digits))
    click.echo(rendered(results, style))
    return results.exit_code
