"""`dpverify check`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("certificates", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="CERT...")
def check(certificates: tuple[Path, ...]) -> int:
    """Re-check certificates (files, or directories of *.cert.json) with the kernel alone."""
    from dpverify.kernel import recheck

    files = [file for path in certificates for file in _files(path)]
    worst = held = 0
    for file in files:
        code, line = recheck(file)
        click.echo(line, err=code != 0)
        worst, held = max(worst, code), held + (code == 0)
    click.echo(f"{len(files)} certificate{'' if len(files) == 1 else 's'}, {held} hold")
    return worst


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(path.rglob("*.cert.json"))
    if not found:
        raise click.UsageError(f"{path}: no certificates (*.cert.json) in this directory.")
    return found
