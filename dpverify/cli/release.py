"""`dpverify release`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpverify.cli import output
from dpverify.cli.numbers import Whole
from dpverify.cli.settings import Settings, judging, profiled

if TYPE_CHECKING:
    from dpverify.catalogue import Spec
    from dpverify.trusted.kernel.judgement import Judgement

UNDECIDED = 4


@click.command(short_help="Run the best mechanism of a design on data.")
@click.argument("design", metavar="DESIGN.toml")
@click.argument("data", metavar="DATA.csv", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "-o", "--output", "target", type=click.Path(dir_okay=False, path_type=Path),
    help="Write the answers to FILE.csv, and what is proved of them beside it, to FILE.json. Default: the answers on stdout.",
)
@click.option("--seed", type=Whole(0, like="1"), help="Seed of numpy's random generator, for tests alone. Default: a new one each time.")
@judging
@profiled
def release(design: str, data: Path, target: Path | None, seed: int | None, settings: Settings) -> int:
    """Answer the queries of a design on data, with the noise of the first mechanism that `dpverify design` lists.

    DATA.csv has a line of names, and a row for each record with the values of its attributes, counted from 0; or a row for each kind of
    record with a column "count" beside these, or alone for all kinds in their order. What comes out is a line for each query: what it
    counts, its noisy answer, and the standard deviation of the noise.
    """
    from dpverify.cli.claims import verified
    from dpverify.errors import DataError
    from dpverify.project import designer
    from dpverify.project.designer import data as tables
    from dpverify.report import designs
    from dpverify.trusted.theories.utility.any_mechanism import REALS

    def judge(specs: Sequence[Spec]) -> list[Judgement | None]:
        entries = verified(specs, None, settings.digits, cache=settings.cache, jobs=settings.jobs, bounds=settings.bounds)
        return [entry.judgement for entry in entries]

    if target is not None and target.suffix != ".csv":
        raise click.UsageError(f"-o {target}: the file's name ends in .csv; what is proved goes to the same name with .json.")
    question = designer.read_question(design)
    given = tables.read(data, designer.sizes_of(question), whole=question.adjacency not in REALS)
    found = designer.design(question, judge)
    if not found.ranked:
        raise DataError(f"{design}: no mechanism was found whose privacy and error are proved.")
    best = found.ranked[0]
    released = best.release(given, seed)
    output.say(f"{best.candidate.name}: {best.candidate.how}", *released.told, err=True)
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\n")
    lines.writerow(["query", "answer", "standard_deviation"])
    lines.writerows(zip(released.names, map(repr, released.answers), map(repr, released.deviations), strict=True))
    if target is None:
        click.echo(written.getvalue(), nl=False)
        return 0
    proved: dict[str, object] = {"schema": "dpverify/1", "design": designs.record(found, settings.digits)}
    proved |= {"mechanism": best.candidate.name}
    proved |= {"claim_file": best.claim_file or None, "noise": list(released.told)}
    writing = output.Writing()
    # the proof first: no answers stand anywhere without it
    if writing.write(target.with_suffix(".json"), json.dumps(proved, indent=1) + "\n"):
        writing.write(target, written.getvalue())
    return writing.code(0)
