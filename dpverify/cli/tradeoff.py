"""`dpverify tradeoff`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from dpverify.cli import output
from dpverify.cli.numbers import Seconds, Whole
from dpverify.cli.settings import codeless
from dpverify.errors import SpecError

if TYPE_CHECKING:
    from dpverify.trusted.kernel.model import Claim

TIMEOUT: Final = 600.0
"""Seconds that a table may take, where nobody says otherwise."""
_USUAL: Final = ("1/4", "1/2", "1", "2", "4")
"""Multiples of the nearness of a claim that are asked about where none are named."""
_EVALUATIONS: Final = 1000


@click.command(short_help="Tabulate epsilon against nearness or evaluations.")
@click.argument("file", metavar="FILE|NAME")
@click.option("--claim", "name", metavar="NAME", help="The claim of the file that is meant; the first that has a table without it.")
@click.option("--within", metavar="NUMBER,...", help="Of a space: how near answers are to be; multiples of the claim's without it.")
@click.option("--beta", metavar="NUMBER", help="Of a space: the probability with which answers may be further; the claim's without it.")
@click.option("--evaluations", type=Whole(1, like="5"), metavar="N", help=f"Of a process: up to how many; {_EVALUATIONS} without it.")
@click.option("--digits", type=Whole(1, 100, like="12"), default=12, show_default=True, help="Digits of each number.")
@click.option(
    "--timeout", type=Seconds(), default=TIMEOUT, show_default=True, metavar="SECONDS", help="Seconds for all; 0 for no limit."
)
@codeless
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Form of the answer.")
def tradeoff(
    file: str,
    name: str | None,
    within: str | None,
    beta: str | None,
    evaluations: int | None,
    digits: int,
    timeout: float,
    no_code: bool,
    style: str,
) -> int:
    """Tabulate what privacy costs, each number between proved bounds.

    Of a claim about a space: the least epsilon of any mechanism whose answers are within each of some distances of the truth, but with
    probability beta. Of a claim about t noise on functions: the epsilon of the first 1, 2, ... evaluations, which has no bound.
    """
    from dpverify.project.config import read_config
    from dpverify.runtime.processes import Bounds, Ended, in_order

    config = read_config(Path.cwd())
    bounds = Bounds(timeout or None, config.memory)
    asked = _Asked(name, within, beta, evaluations, digits, config.code and not no_code)
    [found] = in_order(asked, [[file]], 1, bounds)
    if isinstance(found, Ended):
        raise SpecError(f"{file}: {output.ended('the table', found, bounds)}")
    if isinstance(found, SpecError):
        raise found
    told, data = found
    if style == "json":
        click.echo(json.dumps({"schema": "dpverify-tradeoff/1", **data}, indent=1))
    else:
        output.say(*told.split("\n"))
    return 0


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked of a file, in whichever process."""

    name: str | None
    within: str | None
    beta: str | None
    evaluations: int | None
    digits: int
    code: bool

    def __call__(self, file: str) -> tuple[str, dict[str, Any]] | SpecError:
        try:
            return self._table(file)
        except SpecError as error:
            return error

    def _table(self, file: str) -> tuple[str, dict[str, Any]]:
        """The table as text and as a JSON value. Raises SpecError."""
        from dpverify.project.evaluations import evaluations
        from dpverify.project.trade_off import trade_off
        from dpverify.trusted.kernel.model import Space

        path, claim = self._claim(file)
        of: dict[str, Any] = {"file": path, "claim": claim.name}
        if isinstance(claim.mechanism, Space):
            if self.evaluations is not None:
                raise SpecError(f"{path}: --evaluations is for processes; the claim {claim.name!r} is about a space. Use --within.")
            curve = trade_off(self._with_beta(claim), self._near(claim), self.digits)
            return str(curve), {**of, **curve.json()}
        if self.within is not None or self.beta is not None:
            raise SpecError(f"{path}: --within and --beta are for spaces; the claim {claim.name!r} is about a process. Use --evaluations.")
        rows = evaluations(claim, self.evaluations or _EVALUATIONS, self.digits)
        return str(rows), {**of, **rows.json()}

    def _claim(self, file: str) -> tuple[str, Claim]:
        """The claim that is meant, with the file that it is in."""
        from dpverify.catalogue import read_spec, resolve
        from dpverify.trusted.kernel.model import EllipticalProcess, Space

        specs = [(str(path), read_spec(path, code=self.code)) for path in resolve(file)]
        claims = [(path, stated.claim) for path, spec in specs for stated in spec.claims]
        if self.name is not None:
            claims = [(path, claim) for path, claim in claims if claim.name == self.name]
            if not claims:
                raise SpecError(f"{file}: no claim is named {self.name!r}.")
        fitting = [(path, claim) for path, claim in claims if isinstance(claim.mechanism, Space | EllipticalProcess)]
        if not fitting:
            raise SpecError(f"{file}: no claim is about a space or an elliptical_process, which have tables.")
        return next((one for one in fitting if self._has_numbers(one[1])), fitting[0])

    def _has_numbers(self, claim: Claim) -> bool:
        """Whether nothing is open in a claim but what the table is against."""
        from dpverify.trusted.kernel.expr import symbols
        from dpverify.trusted.kernel.model import Space

        if not isinstance(claim.mechanism, Space):
            return claim.sensitivity is not None or len(getattr(claim.mechanism, "differences", ())) == 1
        open_numbers = [claim.within] * (self.within is None) + [claim.beta] * (self.beta is None)
        return not any(number is not None and symbols(number) for number in open_numbers)

    def _with_beta(self, claim: Claim) -> Claim:
        from dataclasses import replace

        from dpverify.trusted.kernel.errors import ExprError
        from dpverify.trusted.kernel.expr import parse

        if self.beta is None:
            return claim
        try:
            return replace(claim, beta=parse(self.beta))
        except ExprError as error:
            raise SpecError(f"--beta {self.beta}: {error}") from error

    def _near(self, claim: Claim) -> list[str]:
        """The distances that are named, or multiples of that of the claim."""
        from dpverify.trusted.kernel.expr import format_expr, mul, parse, symbols

        if self.within is not None:
            return [text.strip() for text in self.within.split(",")]
        assert claim.within is not None
        if symbols(claim.within):
            raise SpecError(f"the claim {claim.name!r} is about every nearness. Say which ones are meant: --within 1/10,1/5,1/2")
        return [format_expr(mul(parse(factor), claim.within)) for factor in _USUAL]
