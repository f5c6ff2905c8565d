"""`dpverify verify`."""

from __future__ import annotations

from pathlib import Path

import click

from dpverify.cli.output import FORMATS, Writing, rendered
from dpverify.cli.parts import Share, meant, part_of, shared, sharing, the_run
from dpverify.cli.settings import Settings, clustered, configured, judging, requiring, ways


@click.command(short_help="Prove or refute the claims of files.")
@click.argument("paths", nargs=-1, metavar="[PATH|NAME]...")
@click.option("--claim", "claims", multiple=True, metavar="NAME", help="Only claims of this name; may be given several times.")
@click.option("--certificates", type=click.Path(file_okay=False, path_type=Path), help="Write a certificate for each decided claim here.")
@sharing
@clustered
@judging
@configured
@click.option("--format", "style", type=click.Choice(list(FORMATS)), default="text", show_default=True, help="Form of the answer.")
@requiring
@click.option("-v", "--verbose", is_flag=True, help="Show all that is known of each claim; and which files are skipped.")
@click.option("-q", "--quiet", is_flag=True, help="Show only the last line.")
def verify(
    paths: tuple[str, ...], claims: tuple[str, ...], certificates: Path | None, settings: Settings, style: str, verbose: bool, quiet: bool,
    require: tuple[str, ...], shard: Share | None, dask: str | None,
) -> int:
    """Prove or refute every claim of the files, directories or named mechanisms; without any, of those that pyproject.toml names."""
    from dpverify.cli.claims import refused, specs_of, verified
    from dpverify.errors import BadFiles
    from dpverify.report.results import Fault, Results
    from dpverify.report.text import PLAIN, Detail

    unread: list[Fault] = []
    files, part = settings.paths(paths), None
    if shard is not None:
        every = meant(files)
        files = tuple(shared(every, shard))
        part = part_of(shard, the_run(every, settings.digits, audits=False), files)
    try:
        specs = specs_of(files, settings.bounds, code=settings.code, unread=unread, verbose=verbose)
    except BadFiles as error:
        return refused(error, style)
    writing = Writing()
    entries = verified(
        specs, certificates, settings.digits, cache=settings.cache, jobs=settings.jobs, names=claims, bounds=settings.bounds,
        writing=writing, confirming=bool(require) or verbose or style == "json", part=part, dask=dask,
    )  # fmt: skip
    if part is not None and certificates is not None:
        part.write(certificates, writing)
    results = settings.marked(Results(entries=entries, faults=unread, required=ways(require)), whole=not claims)
    digits = None if verbose or settings.digits_asked else PLAIN.digits
    click.echo(rendered(results, style, Detail(quiet, verbose, digits)))
    return writing.code(results.exit_code)
