"""`dpverify report`."""

from __future__ import annotations

import glob
from itertools import groupby
from pathlib import Path

import click

from dpverify.cli.audit import sampling
from dpverify.cli.output import FORMATS, paint, rendered, write

EXTENSIONS = {"json": "json", "sarif": "sarif", "junit": "xml", "github": "txt", "markdown": "md", "text": "txt"}


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH|NAME...")
@click.option("-o", "--output", required=True, type=click.Path(file_okay=False, path_type=Path), help="The directory to write to.")
@click.option("--digits", type=click.IntRange(1, 1000), default=20, show_default=True, help="Digits of the tight epsilon.")
@click.option("--audit/--no-audit", "audits", default=True, show_default=True, help="Run the samplers that [audit] tables name.")
@click.option("--format", "styles", type=click.Choice(list(FORMATS)), multiple=True, help="Write results.EXTENSION too; may be repeated.")
@sampling
def report(
    paths: tuple[str, ...], output: Path, digits: int, audits: bool, styles: tuple[str, ...], samples: int, confidence: float,
    seed: int | None, workers: int,
) -> int:  # fmt: skip
    """Verify, audit, and write certificates and pages (.html, .md) for people, with the data of privacy curves (.curves.json)."""
    from dpverify.cli.claims import audited, drawn_bands, specs_of, unique, verified
    from dpverify.report import page, text
    from dpverify.report.results import Results

    specs = specs_of(paths)
    entries = verified(specs, output, digits)
    sampled = [spec for spec in specs if spec.audit is not None] if audits else []
    found = audited(sampled, samples=samples, confidence=confidence, seed=seed, workers=workers) if sampled else Results()
    results = Results(entries, found.findings, found.faults, found.lines)
    names = unique(Path(file).stem for file, _ in groupby(entries, key=lambda entry: entry.file))
    groups = {next(names): list(group) for _, group in groupby(entries, key=lambda entry: entry.file)}
    written = {Path(entry.certificate).name for entry in entries if entry.certificate}
    drawn = drawn_bands(groups)
    for stem, group in groups.items():
        for name, content in page.pages(stem, group, drawn[stem]).items():
            write(output / name, content)
        if not drawn[stem]:
            (output / page.data_name(stem)).unlink(missing_ok=True)
        for old in output.glob(f"{glob.escape(stem)}.*.cert.json"):  # of claims that are gone, renamed or no longer decided
            if old.name not in written:
                old.unlink()
    for name, content in page.indexes(groups).items():
        write(output / name, content)
    for style in styles:
        write(output / f"results.{EXTENSIONS[style]}", rendered(results, style) + "\n")
    surprises = [entry for entry in entries if not entry.as_expected]
    shown = Results(surprises, found.findings, found.faults, found.lines)
    click.echo(text.render(shown, paint))
    if surprises:
        click.echo(f"of all: {results.summary}")
    click.echo(f"written to {output}")
    return results.exit_code
