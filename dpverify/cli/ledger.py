"""`dpverify ledger`."""

from __future__ import annotations

from pathlib import Path

import click

from dpverify.errors import SpecError

STYLES = ("text", "json", "svg")


@click.command(short_help="Show what audits have seen of each claim over time.")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), metavar="LEDGER")
@click.option("--claim", "claims", multiple=True, metavar="NAME", help="Only claims of this name; may be given several times.")
@click.option("--format", "style", type=click.Choice(STYLES), default="text", show_default=True, help="Form of the answer.")
def ledger(file: Path, claims: tuple[str, ...], style: str) -> int:
    """Show what the ledger of `dpverify audit --ledger` knows: the nights of each claim, the versions of its sampler, the evidence."""
    from dpverify.audits.ledger import Ledger
    from dpverify.catalogue.toml import meant
    from dpverify.report import ledgers

    known = Ledger(file).claims()
    names = [claim["name"] for claim in known]
    missing = [name for name in dict.fromkeys(claims) if name not in names]
    wrong = [f"--claim {name!r}: no claim of this name in {file}.{meant(name, names)}" for name in missing]
    if wrong:
        raise SpecError(wrong)
    chosen = [claim for claim in known if not claims or claim["name"] in claims]
    if style == "svg":
        try:
            click.echo(ledgers.picture(chosen))
        except ValueError as error:
            raise click.UsageError(f"{file}: {error}. Name claims with --claim, or ask for another --format.") from error
        return 0
    click.echo((ledgers.data if style == "json" else ledgers.text)(str(file), chosen))
    return 0
