"""`dpverify design`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpverify.cli.output import Writing
from dpverify.cli.settings import Settings, judging, profiled

if TYPE_CHECKING:
    from dpverify.catalogue import Spec
    from dpverify.trusted.kernel.judgement import Judgement

UNDECIDED = 4


@click.command(short_help="Find mechanisms for a query, with certified errors.")
@click.argument("file", metavar="QUERY.toml")
@click.option("-o", "--output", type=click.Path(file_okay=False, path_type=Path), help="Write each mechanism here, as a claim file.")
@judging
@profiled
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Form of the answer.")
def design(file: str, output: Path | None, settings: Settings, style: str) -> int:
    """Find mechanisms for a query, or for a workload by name, at the privacy that is wanted, and list them by their certified errors.

    The file holds a table [design] with query or workload, adjacency, epsilon, and delta if any.
    """
    from dpverify.cli.claims import verified
    from dpverify.project import designer
    from dpverify.report import designs

    def judge(specs: Sequence[Spec]) -> list[Judgement | None]:
        entries = verified(specs, None, settings.digits, cache=settings.cache, jobs=settings.jobs, bounds=settings.bounds)
        return [entry.judgement for entry in entries]

    found = designer.design(designer.read_question(file), judge)
    writing = Writing()
    if output is not None:
        with writing.tried():
            found = designer.written(found, output)
    click.echo(designs.render(found, settings.digits) if style == "json" else "\n".join(designs.lines(found)))
    return writing.code(0 if found.ranked else UNDECIDED)
