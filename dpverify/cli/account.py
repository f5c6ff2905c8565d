"""`dpverify account`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from dpverify.cli import output
from dpverify.cli.numbers import Seconds, Whole
from dpverify.errors import SpecError

if TYPE_CHECKING:
    from dpverify.accounting.enclosures import Bounds as Enclosed
    from dpverify.accounting.enclosures import Cost
    from dpverify.accounting.events import Event
    from dpverify.accounting.relations import Relation

TIMEOUT: Final = 600.0
"""Seconds that an answer may take, where nobody says otherwise."""
UNDECIDED: Final = 4
RELATIONS: Final = ("add-or-remove-one", "replace-one", "replace-special")


class _Exact(click.types.StringParamType):
    """A number of at least 0, taken as it is written. most: the greatest that it may be, where there is one."""

    name = "number"

    def __init__(self, most: int | None = None) -> None:
        self.most = most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number. Raises click.BadParameter."""
        from dpverify.accounting.events import exact

        try:
            found = value if isinstance(value, Fraction) else exact(str(value))
        except ValueError:
            found = -1.0
        if isinstance(found, float) or found < 0:
            self.fail(f"{str(value)[:60]!r} is not a number of at least 0, such as 1e-5 or 1/3.", param, ctx)
        if self.most is not None and found > self.most:
            self.fail(f"{str(value)[:60]!r} is above {self.most}.", param, ctx)
        return found


@click.command(short_help="Say what events of an accountant cost.")
@click.argument("files", nargs=-1, required=True, metavar="EVENT.json...")
@click.option("--delta", type=_Exact(1), metavar="NUMBER", help="Enclose the least epsilon at this delta.")
@click.option("--epsilon", type=_Exact(), metavar="NUMBER", help="Enclose the least delta at this epsilon.")
@click.option("--width", type=_Exact(), metavar="NUMBER", help="How far apart the bounds may be. Without it --digits counts.")
@click.option(
    "--neighbours", type=click.Choice(RELATIONS), help="Which data sets are neighbours. Default: as a ledger says, else add-or-remove-one."
)
@click.option("--digits", type=Whole(1, 100, like="12"), default=12, show_default=True, help="Digits of the bounds, without --width.")
@click.option(
    "--extend", type=click.Path(dir_okay=False, path_type=Path), metavar="LEDGER",
    help="Add the events to this ledger, and account the whole of it.",
)
@click.option("--certificate", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write the certificate here.")
@click.option("--claim", "as_claim", is_flag=True, help="Print the claim file that says the same, and judge nothing.")
@click.option("--event", "as_event", is_flag=True, help="Print the events, those of claim files too, as one file, and judge nothing.")
@click.option(
    "--timeout", type=Seconds(), default=TIMEOUT, show_default=True, metavar="SECONDS", help="Seconds for all; 0 for no limit."
)
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Form of the answer.")
def account(
    files: tuple[str, ...], delta: Fraction | None, epsilon: Fraction | None, width: Fraction | None, neighbours: str | None,
    digits: int, extend: Path | None, certificate: Path | None, as_claim: bool, as_event: bool, timeout: float, style: str,
) -> int:  # fmt: skip
    """Enclose what the events of all files cost together, on one data set, between two proved bounds.

    A file holds an event in the words of dp-accounting, such as
    {"class_name": "GaussianDpEvent", "noise_multiplier": 1.1}, a ledger of such, or a claim file, whose name ends in .toml. Numbers are
    taken as they are written. Exit code 4: nothing finite is known from above, or the bounds are further apart than --width.
    """
    from dpverify.project.config import read_config
    from dpverify.runtime.processes import Bounds, Ended, in_order

    added_alone = extend is not None and delta is None and epsilon is None and not (as_claim or as_event)
    if not (as_event or added_alone) and (delta is None) == (epsilon is None) and not (as_claim and delta is not None):
        raise click.UsageError("give --delta, to have epsilon enclosed, or --epsilon, to have delta enclosed.")
    config = read_config(Path.cwd())
    bounds = Bounds(timeout or None, config.memory)
    asked = _Asked(delta, epsilon, width, neighbours, digits, as_claim, as_event, certificate)
    asked_files = [str(asked.added(extend, list(files)))] if extend is not None else list(files)
    if added_alone:
        output.say(f"{extend}: added {', '.join(files)}. Ask for --delta or --epsilon to have the whole accounted.")
        return 0
    [found] = in_order(asked, [[asked_files]], 1, bounds)
    if isinstance(found, Ended):
        raise SpecError(f"{', '.join(files)}: {output.ended('the answer', found, bounds)}")
    if isinstance(found, SpecError):
        raise found
    told, data, code = found
    if style == "json" and not (as_claim or as_event):
        click.echo(json.dumps({"schema": "dpverify-account/1", "files": list(files), **data}, indent=1))
    else:
        output.say(*told.rstrip("\n").split("\n"))
    return int(code)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked of files, in whichever process."""

    delta: Fraction | None
    epsilon: Fraction | None
    width: Fraction | None
    neighbours: str | None
    digits: int
    as_claim: bool
    as_event: bool
    certificate: Path | None

    def __call__(self, files: list[str]) -> tuple[str, dict[str, Any], int] | SpecError:
        try:
            return self._answer(files)
        except SpecError as error:
            return error

    def _answer(self, files: list[str]) -> tuple[str, dict[str, Any], int]:
        """The answer as text, as a JSON value, and the exit code. Raises SpecError."""
        from dpverify.accounting.files import Ledger, ledger_text

        events, relation = self._events(files)
        if self.as_event:
            return ledger_text(Ledger(tuple(events), relation)), {}, 0
        cost = self._supported(events, relation, files)
        if self.as_claim:
            return self._claim(cost, files), {}, 0
        return self._enclosed(cost, relation)

    def added(self, ledger: Path, files: list[str]) -> Path:
        """The ledger, with the events of the files added to it, once they are seen to be supported. Raises SpecError."""
        from dpverify.accounting.files import extend_ledger

        events, relation = self._events([*files, *([str(ledger)] if ledger.exists() else [])])
        new = self._events(files)[0] if ledger.exists() else events
        self._supported(new, relation, files)
        extend_ledger(ledger, new, relation)
        return ledger

    def _supported(self, events: list[tuple[Event, int]], relation: Relation, files: list[str]) -> Cost:
        from dpverify.accounting.enclosures import Cost
        from dpverify.accounting.translate import Unsupported

        try:
            return Cost(events, relation)
        except Unsupported as error:
            raise SpecError(f"{', '.join(files)}: {error.event.kind} is not supported here: {error}") from error

    def _events(self, files: list[str]) -> tuple[list[tuple[Event, int]], Relation]:
        """The events of all files, and the relation that they are accounted under. Raises SpecError with all faults of all files."""
        from dpverify.accounting.files import Ledger, read_ledger
        from dpverify.accounting.from_claims import event_of_file
        from dpverify.accounting.relations import Relation

        faults: list[str] = []
        ledgers: list[Ledger] = []
        said = None if self.neighbours is None else Relation(self.neighbours)
        for file in files:
            try:
                if file.endswith(".toml"):
                    ledgers.append(Ledger(((event_of_file(Path(file), said or Relation.ADD_OR_REMOVE_ONE), 1),)))
                else:
                    ledgers.append(read_ledger(Path(file)))
            except SpecError as error:
                faults.extend(error.faults)
        stated = {ledger.relation for ledger in ledgers if ledger.relation is not None} | ({said} if said else set())
        if len(stated) > 1:
            several = ", ".join(sorted(one.value for one in stated))
            faults.append(f"{', '.join(files)}: several neighbouring relations are stated: {several}.")
        if faults:
            raise SpecError(faults)
        return [event for ledger in ledgers for event in ledger.events], next(iter(stated), Relation.ADD_OR_REMOVE_ONE)

    def _claim(self, cost: Cost, files: list[str]) -> str:
        from dpverify.accounting.claim_files import claim_text

        if cost.mechanisms is None:
            raise SpecError(f"{', '.join(files)}: part of it hides nothing, and no claim file says that.")
        numbers: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta}
        asked = {name: "tight" if value is None else value for name, value in numbers.items()}
        return claim_text(cost.mechanisms.most, **asked)

    def _enclosed(self, cost: Cost, relation: Relation) -> tuple[str, dict[str, Any], int]:
        from dpverify.catalogue.assumed import plain

        value, given = ("epsilon", "delta") if self.epsilon is None else ("delta", "epsilon")
        at = self.delta if self.epsilon is None else self.epsilon
        assert at is not None
        found: Enclosed = (cost.epsilon if value == "epsilon" else cost.delta)(at, self.digits, self.width)
        wide = found.upper - found.lower if found.upper.is_finite() else None
        known = wide is not None if value == "epsilon" else found.upper < 1
        narrow = self.width is None or (wide is not None and Fraction(wide) <= self.width)
        lines = [f"{value} in [{found.lower}, {found.upper}] at {given} {_shown(at)}, neighbours by {relation.value}"]
        if found.lower == found.upper:
            lines = [f"{value} = {found.lower} at {given} {_shown(at)}, neighbours by {relation.value}"]
        if not cost.is_private:
            lines.append("part of it hides nothing, so that no epsilon and no delta below 1 is promised")
        elif not known:
            lines.append("no epsilon is enough" if found.lower == found.upper else "no bound from above is known")
        elif not narrow:
            lines.append(f"further apart than the width of {_shown(self.width)} that is asked")
        if found.rules:
            lines.append(f"rules    {', '.join(found.rules)}")
        assumed = [plain(one) for one in found.assumed]
        lines.extend(f"{'assumed' if not number else ' ' * 7}  {one}" for number, one in enumerate(assumed))
        data = {
            "neighbours": relation.value, given: _shown(at), value: {"lower": str(found.lower), "upper": str(found.upper)},
            "rules": list(found.rules), "assumptions": assumed, "certificate": None,
        }  # fmt: skip
        if self.certificate is not None and cost.is_private:
            asked = {value: "tight", given: at}
            data["certificate"] = str(cost.certificate(self.certificate, self.digits, **asked))
        return "\n".join(lines), data, 0 if known and narrow else UNDECIDED


def _shown(value: Fraction | None) -> str:
    """An exact number: a short decimal where it is one."""
    from decimal import Decimal

    assert value is not None
    if value.denominator == 1:
        return str(value)
    short = Decimal(repr(float(value)))
    return str(short) if Fraction(short) == value else str(value)
