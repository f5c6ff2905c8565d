"""`dpverify curves`."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from dpverify.cli import output
from dpverify.cli.numbers import Seconds
from dpverify.cli.settings import codeless
from dpverify.errors import SpecError

if TYPE_CHECKING:
    from dpverify.pictures.bands import Bands
    from dpverify.trusted.kernel.model import Claim

TIMEOUT: Final = 600.0
"""Seconds that curves may take, where nobody says otherwise."""
MEASURES: Final = ("renyi", "zcdp")
KINDS: Final = ("delta", "trade-off", "composition", *MEASURES)
STYLES: Final = ("csv", "json", "svg")


@click.command(short_help="Tabulate and draw the privacy curves of a mechanism.")
@click.argument("file", metavar="FILE|NAME|EVENT.json")
@click.option("--claim", "name", metavar="NAME", help="The claim of the file that is meant; the first without it.")
@click.option("--curve", type=click.Choice(KINDS), help="One curve; all but the measures without it, and delta in a picture.")
@click.option("--format", "style", type=click.Choice(STYLES), default="csv", show_default=True, help="Form of the answer.")
@click.option(
    "--timeout", type=Seconds(), default=TIMEOUT, show_default=True, metavar="SECONDS", help="Seconds for all; 0 for no limit."
)
@codeless
def curves(file: str, name: str | None, curve: str | None, style: str, timeout: float, no_code: bool) -> int:
    """Print the curves of a claim's mechanism, or of an event, each number between proved bounds.

    delta: of epsilon. trade-off: the least type II error of a test at each type I error. composition: epsilon of so many runs.
    renyi: the Renyi divergence at each order. zcdp: rho of so many runs.
    """
    from dpverify.project.config import read_config
    from dpverify.runtime.processes import Bounds, Ended, in_order

    config = read_config(Path.cwd())
    bounds = Bounds(timeout or None, config.memory)
    [found] = in_order(_Asked(name, curve, style, config.code and not no_code), [[file]], 1, bounds)
    if isinstance(found, Ended):
        raise SpecError(f"{file}: {output.ended('the curves', found, bounds)}")
    if isinstance(found, SpecError):
        raise found
    click.echo(found, nl=False)
    return 0


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked of a file, in whichever process."""

    name: str | None
    curve: str | None
    style: str
    code: bool

    def __call__(self, file: str) -> str | SpecError:
        try:
            return self._printed(file)
        except SpecError as error:
            return error

    def _printed(self, file: str) -> str:
        """The curves in the form that is asked for. Raises SpecError."""
        from dpverify.pictures.bands import bands
        from dpverify.report.tables import as_csv, picture

        claim, above_alone = self._claim(file)
        found = _measure(claim, self.curve) if self.curve in MEASURES else bands([_asking(claim)])
        if found is None:
            raise SpecError(f"{file}: no curve is known of the claim {claim.name!r}.")
        found = _from_above(found) if above_alone else found
        key = None if self.curve is None else self.curve.replace("-", "_")
        wanted = {kind: band for kind, band in found.bands.items() if key in (None, kind)}
        if not wanted:
            why = found.missing.get(key or "", "nothing is known of it")
            raise SpecError(f"{file}: there is no curve {self.curve!r} of the claim {claim.name!r}: {why}")
        if self.style == "csv":
            return as_csv(wanted)
        if self.style == "svg":
            return picture(f"{claim.name or file}: {self.curve or KINDS[0]}", next(iter(wanted.values())))
        data: dict[str, Any] = {kind: band.to_json() for kind, band in wanted.items()}
        return json.dumps({"schema": "dpverify-curve-tables/1", "file": file, "claim": claim.name, **data}, indent=1) + "\n"

    def _claim(self, file: str) -> tuple[Claim, bool]:
        """The claim that is meant, and whether it stands for an event from above alone. Raises SpecError."""
        from dpverify.catalogue import read_spec, resolve

        if file.endswith(".json"):
            return _of_event(file)
        claims = [stated.claim for path in resolve(file) for stated in read_spec(path, code=self.code).claims]
        named = [one for one in claims if self.name in (None, one.name)]
        if not named:
            raise SpecError(f"{file}: no claim is named {self.name!r}.")
        return named[0], False


def _measure(claim: Claim, name: str) -> Bands:
    """The table of a measure, or why there is none."""
    from dpverify.pictures.bands import Bands
    from dpverify.pictures.measures import MAKERS
    from dpverify.trusted.kernel.errors import DpverifyError

    try:
        return Bands((claim.name,), {name: MAKERS[name](claim)})
    except DpverifyError as error:
        return Bands((claim.name,), {}, {name: str(error)})


def _asking(claim: Claim) -> Claim:
    """The claim, asking for delta where it speaks of epsilon alone, so that all curves are drawn."""
    from dpverify.trusted.kernel.expr import ONE, ZERO

    return replace(claim, epsilon=claim.epsilon or ONE, delta=None) if claim.delta == ZERO else claim


def _of_event(file: str) -> tuple[Claim, bool]:
    """The claim that is an event of a file."""
    from dpverify.accounting.claim_files import stated
    from dpverify.accounting.files import read_ledger
    from dpverify.accounting.relations import Relation
    from dpverify.accounting.translate import NotPrivate, Unsupported, mechanisms

    ledger = read_ledger(Path(file))
    try:
        found = mechanisms(ledger.events, ledger.relation or Relation.ADD_OR_REMOVE_ONE)
    except Unsupported as error:
        raise SpecError(f"{file}: {error.event.kind} is not supported here: {error}") from error
    except NotPrivate as error:
        raise SpecError(f"{file}: {error}") from error
    return stated(found.most, epsilon=1, delta="tight").claim, found.most not in found.least


def _from_above(found: Bands) -> Bands:
    """The same without what is proved from below, which is of another mechanism."""
    none = {kind: replace(band, lower=(None,) * len(band.x), exact=(False,) * len(band.x)) for kind, band in found.bands.items()}
    return replace(found, bands=none)
