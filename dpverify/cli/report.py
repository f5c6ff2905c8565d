"""`dpverify report`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import groupby
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final

import click

from dpverify.cli import pdf
from dpverify.cli.audit import sampling
from dpverify.cli.output import FORMATS, Writing, columns, is_terminal, paint, rendered, say, writable
from dpverify.cli.parts import Part, Share, audits_of, meant, merged, part_of, shared, sharing, the_run
from dpverify.cli.settings import Settings, clustered, configured, judging, requiring, ways
from dpverify.errors import SpecError
from dpverify.runtime.outside import read_regular
from dpverify.trusted.kernel.errors import DpverifyError

if TYPE_CHECKING:
    from dpverify.report.page.subject import Folders, Run
    from dpverify.report.results import Fault, Results

THEOREMS: Final = "theorems.tex"
REFERENCES: Final = "references.bib"
FIGURES: Final = "figures"
CERTIFICATES: Final = "certificates"
CURVES: Final = "curves"
EXTENSIONS: Final = {"json": "json", "sarif": "sarif", "junit": "xml", "github": "txt", "markdown": "md", "text": "txt"}


@click.command(short_help="Verify, audit, and write a page for people.")
@click.argument("paths", nargs=-1, metavar="[PATH|NAME]...")
@click.option(
    "-o", "--output", type=click.Path(file_okay=False, path_type=Path), default=Path("dpverify-report"), show_default=True,
    help="The directory to write to.",
)  # fmt: skip
@click.option("--audit/--no-audit", "audits", default=True, show_default=True, help="Run the samplers that [audit] tables name.")
@click.option("--pdf", "printed", is_flag=True, help="Also print the page to index.pdf, with an installed Chromium or Chrome.")
@click.option(
    "--format", "styles", type=click.Choice(list(FORMATS)), multiple=True,
    help="Also write the results as results.EXTENSION; may be repeated.",
)  # fmt: skip
@click.option("--folders", is_flag=True, help="Put certificates and the data of curves in folders, certificates/ and curves/.")
@click.option("--one-page", is_flag=True, help="Write one page, where a report of more than 20 claim files has one for each family.")
@click.option(
    "--evidence", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Also write what is worth keeping under version control to DIR: certificates by families, verdicts.txt, index.md. What is there "
    "from before is a proposal, which the kernel judges; with --no-cache everything is searched anew.",
)  # fmt: skip
@click.option("--latex", is_flag=True, help="Also write theorems.tex and references.bib: each decided claim as a theorem.")
@click.option("--figures", is_flag=True, help="Also write each picture to figures/, as SVG, and with --pdf as PDF.")
@click.option(
    "--sign", is_flag=True,
    help="Also show date, commit and command, for a report that somebody signs; no two such reports are alike.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Replace files in the directory that dpverify did not write.")
@sharing
@click.option(
    "--merge", is_flag=True,
    help="Put together what `dpverify report --shard` wrote to folders, which are named in the place of claim files.",
)
@clustered
@requiring
@judging
@configured
@sampling
def report(
    paths: tuple[str, ...], output: Path, audits: bool, printed: bool, styles: tuple[str, ...], settings: Settings, samples: int | None,
    confidence: float | None, seed: int | None, level: str | None, workers: int | None, force: bool, sign: bool,
    latex: bool, figures: bool, folders: bool, one_page: bool, evidence: Path | None,
    require: tuple[str, ...], shard: Share | None, merge: bool, dask: str | None,
) -> int:  # fmt: skip
    """Verify, audit, and write a page for people (index.html, index.md) with certificates and the data of privacy curves.

    Of more than 20 claim files the page is an overview by families, and each family has a page of its own beside it.

    The directory may be new, empty, or that of an earlier report, whose files are replaced. A file of somebody else that is in the way is
    an error, unless --force is given.
    """
    from dpverify.cli.claims import audited, labelled, not_audited, specs_of, verified
    from dpverify.cli.evidence import Evidence
    from dpverify.cli.found import refuse
    from dpverify.project.config import project_file
    from dpverify.project.made import arguments, made
    from dpverify.report.curves import data_name
    from dpverify.report.listed import PAGE
    from dpverify.report.page import family_pages
    from dpverify.report.page.subject import Folders
    from dpverify.report.results import Results

    where = Folders(CERTIFICATES, CURVES) if folders else Folders()
    program = pdf.browser() if printed else None
    unread: list[Fault] = []
    files, part = _shared_out(paths, settings, shard, merge=merge, audits=audits)
    specs = specs_of(files, settings.bounds, code=settings.code, unread=unread)
    whole = one_page or printed
    told = [PAGE, "index.md", *family_pages(specs, whole=whole), *(f"results.{EXTENSIONS[style]}" for style in styles)]
    told += [THEOREMS, REFERENCES] if latex else []
    if not force:
        refuse(output, [*told, *(["index.pdf"] if printed else [])])
        refuse(output / where.curves, [data_name(stem) for stem in _stems(spec.file for spec in specs).values()])
    certificates = output / where.certificates
    kept = Evidence(evidence)
    if evidence is not None:
        kept.prepare(force=force)
    writing = Writing()
    entries = verified(
        specs, certificates, settings.digits, cache=settings.cache, jobs=settings.jobs, force=force, bounds=settings.bounds,
        writing=writing, kept=None if settings.cache.folder is None else kept.hints(settings.digits), traced=True,
        confirming=True, part=part, dask=dask,
    )  # fmt: skip
    sampled = [spec for spec in specs if spec.audit is not None] if audits and settings.code else []
    if merge and part is not None:
        seen = labelled(sampled, *audits_of(part, sampled))
    else:
        seen = audited(sampled, dask=dask, **settings.sampling(samples, confidence, seed, workers, level=level)) if sampled else Results()
        if part is not None:
            part.note(seen)
    unrun = [*unread, *(not_audited(specs) if audits and not settings.code else [])]
    how = made(project_file(Path.cwd()), arguments() if sign else None)
    results = settings.marked(replace(seen, entries=entries, faults=[*seen.faults, *unrun], made=how, required=ways(require)))
    run = _run(results, settings, where, None if part is None else part.bands)
    if part is not None and not merge:
        part.write(output, writing)
    _write_pages(run, output, where, whole=whole, writing=writing)
    if evidence is not None:
        kept.write(run, settings.digits, writing)
    if latex:
        from dpverify.report import theorem

        writing.write(output / THEOREMS, theorem.theorems(entries))
        writing.write(output / REFERENCES, theorem.bibtex(entries))
    for style in styles:
        writing.write(output / f"results.{EXTENSIONS[style]}", rendered(results, style) + "\n")
    with writing.tried():
        _clean(output, run, where)
        _list(output, certificates, told, settings.digits)
    for name in (CERTIFICATES, CURVES):
        with contextlib.suppress(OSError):
            (output / name).rmdir()  # where nothing is left in it
    click.echo(_told(results))
    if writing.failed:
        return writing.code(results.exit_code)
    say(f"written to {output / 'index.html'}")
    if program is not None:
        with writing.tried():
            pdf.print_page(output / "index.html", output / "index.pdf", program)
        if not writing.failed:
            say(f"printed to {output / 'index.pdf'}")
    if figures:
        drawn = _figures(run, output / FIGURES, program, force=force, writing=writing)
        say(f"{drawn} figures drawn to {output / FIGURES}")
    return writing.code(results.exit_code)


def _write_pages(run: Run, output: Path, where: Folders, *, whole: bool, writing: Writing) -> None:
    """Write what people read, and the data of its curves."""
    from dpverify.report.page import pages

    data = _curves(run)
    with writing.tried():
        if data:
            writable(output / where.curves)
        for name, content in data.items():
            writing.write(output / where.curves / name, content)
    for name, content in pages(run, whole=whole).items():
        writing.write(output / name, content)


def _figures(run: Run, folder: Path, program: str | None, *, force: bool, writing: Writing) -> int:
    """Write each picture to a file of its own, named as it is on the page, with a browser also on paper; how many are written."""
    from dpverify.cli.found import refuse
    from dpverify.report.page import blocks, figures

    drawn = figures.files(blocks(run))
    writable(folder)
    if not force:
        refuse(folder, [f"{name}.svg" for name in drawn])
    count = 0
    for name, svg in drawn.items():
        with writing.tried():
            count += writing.write(folder / f"{name}.svg", svg)
            if program is not None:
                pdf.print_picture(svg, folder / f"{name}.pdf", program)
    return count


def _shared_out(
    paths: Sequence[str], settings: Settings, shard: Share | None, *, merge: bool, audits: bool
) -> tuple[Sequence[str], Part | None]:  # fmt: skip
    """The claim files that are meant, and the part of a run that this one is, or puts together."""
    if shard is not None and merge:
        raise click.UsageError("--shard makes a part, and --merge puts parts together. Give one of them.")
    if merge:
        part = merged(paths)
        wrong = []
        if part.run["digits"] != settings.digits:
            wrong.append(f"the parts were made with --digits {part.run['digits']}, and this run has {settings.digits}: give that.")
        if part.run["audits"] != (audits and settings.code):
            wrong.append("the parts were made with audits and this run is without, or the reverse: give --audit or --no-audit as for them.")
        if wrong:
            raise SpecError(wrong)
        return part.run["files"], part
    files = settings.paths(paths)
    if shard is None:
        return files, None
    every, sampling = meant(files), audits and settings.code
    mine = shared(every, shard, audits=sampling)
    return mine, part_of(shard, the_run(every, settings.digits, audits=sampling), mine)


def _run(results: Results, settings: Settings, where: Folders, bands: dict[str, Any] | None = None) -> Run:
    """The run as the page shows it: file by file, with its pictures."""
    from dpverify.cli.drawn import curves_and_pictures
    from dpverify.report.page.subject import File, Run

    groups = {file: list(group) for file, group in groupby(results.entries, key=lambda entry: entry.file)}
    stems = _stems(groups)
    named = {stems[file]: group for file, group in groups.items()}
    drawn = curves_and_pictures(named, settings.cache, settings.bounds, settings.jobs, bands)
    settings.cache.prune()
    files = []
    for file, group in groups.items():
        curves, pictures = drawn[stems[file]]
        digests = {entry.certificate: sha256(Path(entry.certificate).read_bytes()).hexdigest() for entry in group if entry.certificate}
        findings = [one for one in results.findings if one.file == file]
        faults = [one for one in results.faults if one.file == file]
        files.append(File(stems[file], group, curves, pictures, findings, faults, digests, where))
    return Run(results, files)


def _stems(files: Iterable[str]) -> dict[str, str]:
    """What claim files are called on the page and in names of files, one name each."""
    from dpverify.cli.claims import shortened, unique

    files = list(dict.fromkeys(files))
    return dict(zip(files, unique(shortened(Path(file).stem) for file in files), strict=True))


def _curves(run: Run) -> dict[str, str]:
    from dpverify.report import curves

    return {curves.data_name(file.stem): curves.render(file.path, file.curves) for file in run.files if file.curves}


def _clean(output: Path, run: Run, where: Folders) -> None:
    """Remove what an earlier report wrote of these files' claims that are gone, renamed, undecided or elsewhere now, and nothing else."""
    from dpverify.cli.found import foreign, found_in
    from dpverify.report.curves import data_name

    written = {Path(entry.certificate) for entry in run.results.entries if entry.certificate}
    mechanisms = {entry.mechanism for entry in run.results.entries}
    for folder in (output, output / CERTIFICATES):
        for name in found_in(folder).searches:
            if folder / name not in written and _mechanism(folder / name) in mechanisms:
                (folder / name).unlink()
    for folder in (output, output / CURVES):
        for file in run.files:
            mine = file.curves and folder == output / where.curves
            if not mine and not foreign(folder, [data_name(file.stem)]):
                (folder / data_name(file.stem)).unlink(missing_ok=True)


def _list(output: Path, certificates: Path, told: Sequence[str], digits: int) -> None:
    """List the files for people beside the certificates, with their digests; pages of families that only an earlier report had are removed.

    told: the names of the files of this report.
    """
    from dpverify.cli.found import found_in
    from dpverify.report.listed import is_page

    for folder in (output, output / CERTIFICATES):
        listed = found_in(folder)
        gone = {PurePath(name).name for name in listed.pages if name.endswith(".html")} - set(told)
        listed.pages = {}
        if folder == certificates:
            for name in gone:
                if is_page(output / name):
                    (output / name).unlink()
            below = "../" if folder != output else ""
            there = [name for name in told if (output / name).is_file()]
            listed.pages = {below + name: sha256((output / name).read_bytes()).hexdigest() for name in there}
        listed.add((), digits)


def _mechanism(file: Path) -> str | None:
    """The mechanism of a certificate; None for what is none."""
    from dpverify.trusted.kernel.certificate import MAX_BYTES, decode, unpack

    try:
        return unpack(decode(read_regular(file, MAX_BYTES + 1))).claim.mechanism_name
    except (OSError, ValueError, DpverifyError):
        return None


def _told(results: Results) -> str:
    """The answer in the terminal: what is not as expected, and everything that audits found."""
    from dpverify.report import text

    surprises = [entry for entry in results.entries if not entry.as_expected]
    detail = text.PLAIN._replace(width=columns(), on_terminal=is_terminal())
    return text.render(replace(results, entries=surprises), paint, whole=results.summary, detail=detail)
