"""`dpverify check`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpverify.cli import output
from dpverify.cli.output import say
from dpverify.cli.settings import bounds_of, codeless, requiring, timed, ways

if TYPE_CHECKING:
    from dpverify.catalogue import Spec, Stated
    from dpverify.cli.replays import Replays
    from dpverify.evidence.recheck import Rechecked
    from dpverify.runtime.processes import Bounds
    from dpverify.trusted.kernel.model import Claim


_TRIED = (20, *range(1, 61))
"""Digits that a page may have been made with, where nothing beside it says with how many."""


@click.command(short_help="Re-check certificates with the kernel alone.")
@click.argument("certificates", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="CERT...")
@click.option(
    "--against", multiple=True, metavar="PATH|NAME",
    help="Require exactly one certificate of each claim of these claim files, with the expected verdict; may be repeated.",
)  # fmt: skip
@click.option("--trust", is_flag=True, help="Show for each certificate the rules, theorems and lines of code that it rests on.")
@click.option(
    "--replay", type=click.Choice(["coq"]),
    help="Prove each claim again in Coq, from the machine-checked theory; what has no such proof yet says which line and why.",
)  # fmt: skip
@click.option(
    "--replay-to", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
    help="Write the Coq files of the claims to this directory; without --replay, Coq is not needed.",
)  # fmt: skip
@requiring
@timed
@codeless
def check(
    certificates: tuple[Path, ...], against: tuple[str, ...], trust: bool, replay: str | None, replay_to: Path | None,
    require: tuple[str, ...], claim_timeout: float | None, no_code: bool,
) -> int:  # fmt: skip
    """Re-check certificates (files, collections, or directories of them) with the kernel alone, and tell what each of them states.

    Of the directory of a report, or of its evidence, all that its pages or verdicts.txt list has to be there, as it was when they were
    written, and nothing else.
    Exit code 1 where a certificate is missing, is another than was meant, or is refused.
    """
    from dpverify.evidence.recheck import Rechecked
    from dpverify.project.config import read_config
    from dpverify.report.results import by_which
    from dpverify.runtime.outside import printable
    from dpverify.runtime.processes import Ended, in_order, worthwhile

    config = read_config(Path.cwd())
    bounds = bounds_of(config, claim_timeout)
    expected = _expected(against, bounds, code=config.code and not no_code)  # before long work is done for them
    replays = _replays(replay, replay_to, bounds)  # before long work is done for them
    rechecked: dict[Path, Rechecked] = {}
    files = list(dict.fromkeys(file for path in certificates for file in _files(path)))
    writing = output.Writing()
    confirming, required = trust or bool(require), ways(require)
    unmet = list[str]()
    answers = in_order(partial(_rechecked, trust, confirming), [[file] for file in files], worthwhile(len(files), 0), bounds)
    for file, answer in zip(files, answers, strict=True):
        if isinstance(answer, Ended):
            told = printable(f"{file}: refused: {output.ended('checking the certificate', answer, bounds)}")
            answer = Rechecked(2, (told,))
        rechecked[file] = answer
        say(*_told(rechecked[file], trust), err=rechecked[file].code != 0)
        if replays is not None and answer.judgement is not None:
            proved = None
            with writing.tried():
                proved = replays.of(file, answer.judgement)
            if proved is not None:
                say(proved)
        if answer.judgement is not None and confirming:
            by = answer.confirmed + (("Coq",) if replays is not None and replays.proved_whole and "Coq" not in answer.confirmed else ())
            say(f"         confirmed by: {', '.join(by) or 'nothing, for nothing is decided'}")
            unmet += [f"not confirmed by {by_which([way])}: {file}" for way in required if by and way not in by]
    folders = [path for path in certificates if path.is_dir()]
    wrong = [line for beside in (_beside_page, _beside_verdicts) for path in folders for line in beside(path, rechecked)]
    wrong += _beside_claims(expected, rechecked) if against else []
    if wrong or unmet:
        say(*wrong, *unmet)
    held = sum(one.code == 0 for one in rechecked.values())
    told = f"{len(rechecked)} certificate{'' if len(rechecked) == 1 else 's'}, {held} valid"
    say(told + (f"; {len(wrong)} missing, extra or other" if wrong else ""))
    if replays is not None:
        say(replays.summary())
    found = max([1 if wrong or unmet or (replays is not None and replays.refused) else 0, *(one.code for one in rechecked.values())])
    return writing.code(found)


def _replays(replay: str | None, folder: Path | None, bounds: Bounds) -> Replays | None:
    """What is to be proved again in Coq, or written for it; None for nothing."""
    if replay is None and folder is None:
        return None
    from dpverify.cli.replays import Replays

    return Replays(folder, bounds.timeout, compiled=replay is not None)


def _rechecked(apart: bool, confirming: bool, file: Path) -> Rechecked:
    """What the kernel says of a file; a fault of dpverify is an answer too, and takes no other away.

    apart: from nothing, so that what it loads does not depend on the files before it. confirming: by what else its verdict is confirmed.
    """
    from dpverify.evidence.recheck import Rechecked, recheck
    from dpverify.runtime.outside import printable
    from dpverify.trusted.kernel.proof import forget

    try:
        if apart:
            forget()
        found = _sane(file, recheck(file))
        if confirming and found.judgement is not None:
            from dpverify.evidence.collected import read
            from dpverify.project.confirmed import confirmed
            from dpverify.trusted.kernel.certificate import decode

            found = replace(found, confirmed=confirmed(found.judgement, decode(read(file))))
        return found
    except MemoryError:
        raise
    except Exception as error:
        return Rechecked(3, (printable(f"{file}: {output.fault(error)}"),))


def _sane(file: Path, one: Rechecked) -> Rechecked:
    """The same, refused as a claim file would be where a density is certainly none: what is checked by the rules shows that as assumed."""
    from dpverify.runtime.outside import printable
    from dpverify.trusted.kernel.model import Claim, Kernel, all_parts

    if one.judgement is None:
        return one
    whole = one.judgement.claim
    inside = [whole, *(Claim(part.mechanism, None, sensitivity=part.sensitivity) for part in all_parts(whole.mechanism))]
    kernels = [claim for claim in inside if isinstance(claim.mechanism, Kernel)]
    if not kernels:
        return one
    from dpverify.search.additive import sanity

    faults = list(dict.fromkeys(fault for claim in kernels for fault in sanity.faults(claim)))
    if not faults:
        return one
    told = printable(f"{file}: not a certificate of a mechanism: {' '.join(faults)}")
    return replace(one, code=2, judgement=None, lines=(told,))


def _files(path: Path) -> list[Path]:
    from dpverify.evidence.collected import MANY, SINGLE, places, within

    if path.suffix == ".toml":
        way = f"`dpverify verify {path} --certificates DIR` makes certificates of its claims, and --against {path} demands one of each."
        raise click.UsageError(f"{path} is a claim file, not a certificate: {way}")
    if path.suffix in (".html", ".md"):
        raise click.UsageError(f"{path} is a page, not a certificate. Name its folder: dpverify check {path.parent}")
    if not path.is_dir():
        return places(path)
    certificates = within(path)
    if not certificates and not _has_page(path):
        raise click.UsageError(f"{path}: no certificates (*{SINGLE}, *{MANY}) in this directory.")
    return certificates


def _told(one: Rechecked, trust: bool) -> Sequence[str]:
    """The lines of the kernel, with the neighbours in words, and with what the verdict rests on where that is asked for."""
    from dpverify.report import text, words
    from dpverify.report.trust import rests_on

    if one.judgement is None:
        return one.lines
    first, *rest = one.lines
    rest += [f"         {line}" for line in text.errors(one.judgement.claim, one.judgement, text.ERROR_DIGITS)]
    last = [f"         rests on: {rests_on(one.rules, one.places).text()}"] if trust else []
    return [first, f"         neighbours: {words.neighbours(one.judgement.claim)}", *rest, *last]


# -- what should be there -------------------------------------------------------------------------------------


def _has_page(folder: Path) -> bool:
    from dpverify.report.listed import PAGE, is_page

    return is_page(folder / PAGE)


def _beside_page(folder: Path, rechecked: Mapping[Path, Rechecked]) -> Iterator[str]:
    """What is other in the folder of a report than its page lists, or says of a claim; nothing where there is no page."""
    from dpverify.cli.found import MAX_PAGE, NAME, found_in
    from dpverify.report.listed import PAGE, is_page, listed
    from dpverify.report.page.compared import Page
    from dpverify.runtime.outside import quoted, read_regular

    if not _has_page(folder):
        return
    first = listed(folder / PAGE)
    others = [folder / name for name in first.files if name.endswith(".html") and is_page(folder / name)]
    pages = [(file, listed(file), Page.of(read_regular(file, MAX_PAGE).decode("utf-8", "replace"))) for file in (folder / PAGE, *others)]
    for file, _, text in pages:
        if not text.comparable:
            say(f"{file}: made by dpverify {text.version}: what it says of the claims was not compared with the certificates.")
    for place in dict.fromkeys([folder, *(file.parent for file in rechecked if file.is_relative_to(folder))]):
        for file in found_in(place).changed():
            yield f"other: {file}: its SHA-256 is not the one in {place / NAME}: it was changed since it was written, or made by hand."
    for page, lists, _ in pages:
        for name in lists.files:
            if not (folder / name).is_file():
                yield f"missing: {folder / name}: {page} lists it, and it is not there. Copy the folder whole, or make it again."
    for file, one in rechecked.items():
        if not file.is_relative_to(folder):
            continue
        name = file.relative_to(folder).as_posix()
        page, lists, text = next((one for one in pages if name in one[1].digests), pages[0])
        digest = lists.digests.get(name)
        if digest is None:
            yield f"extra: {file}: {folder / PAGE} does not list it. Take it out, or make the folder again."
        elif one.digest and one.digest != digest:
            yield f"other: {file}: its SHA-256 is not the one in {page}: it was replaced since, or the page was."
        elif one.judgement is not None and text.comparable:
            anchor, judgement = lists.anchors[name], one.judgement
            known = found_in(file.parent).searches.get(file.name)
            if not any(text.agrees(anchor, judgement, digits) for digits in ([known[1]] if known else _TRIED)):
                yield f"other: {page}: what it says of {quoted(judgement.claim.name)} is not what {file} says."


def _beside_verdicts(folder: Path, rechecked: Mapping[Path, Rechecked]) -> Iterator[str]:
    """What is other in a folder of evidence than its list of verdicts says; nothing where there is no such list."""
    from dpverify.report.evidence import VERDICTS, digits_of, listed
    from dpverify.runtime.outside import read_regular
    from dpverify.trusted.kernel.certificate import MAX_BYTES

    verdicts = folder / VERDICTS
    text = read_regular(verdicts, MAX_BYTES).decode("utf-8", "replace") if verdicts.is_file() else ""
    if digits_of(text) is None:
        return
    left = {folder / place: digest for place, digest in listed(text).items()}
    for file, one in rechecked.items():
        if not file.is_relative_to(folder):
            continue
        digest = left.pop(file, None)
        if digest is None:
            yield f"extra: {file}: {verdicts} does not list it. Take it out, or make the folder again."
        elif one.digest and one.digest != digest:
            yield f"other: {file}: its SHA-256 is not the one in {verdicts}: it was replaced since, or the list was."
    for file in left:
        yield f"missing: {file}: {verdicts} lists it, and it is not there. Copy the folder whole, or make it again."


def _expected(paths: Sequence[str], bounds: Bounds, *, code: bool) -> list[tuple[Spec, Stated]]:
    from dpverify.cli.claims import specs_of

    return [(spec, stated) for spec in specs_of(paths, bounds, code=code) for stated in spec.claims] if paths else []


def _beside_claims(expected: Sequence[tuple[Spec, Stated]], rechecked: Mapping[Path, Rechecked]) -> Iterator[str]:
    """What is other than one certificate of each claim, with the verdict that its author expects.

    A claim that is expected to stay undecided has no certificate, and none is demanded of it.
    """
    from dpverify.trusted.kernel.canonical_form import claim_hash, to_json

    left = {file: one.judgement for file, one in rechecked.items() if one.judgement is not None}
    exact: dict[str, list[Path]] = {}
    for file, judgement in left.items():
        exact.setdefault(claim_hash(to_json(judgement.claim)), []).append(file)
    unmet: list[tuple[Spec, Stated]] = []
    for spec, stated in expected:
        files = exact.get(claim_hash(to_json(stated.claim)))
        if not files:
            unmet.append((spec, stated))
        elif (verdict := left.pop(file := files.pop(0)).verdict) != stated.expect:
            yield f"other: {file}: {verdict}, and {spec.file} expects {stated.expect} of {stated.claim.name}."
    for spec, stated in unmet:
        claim = stated.claim
        names = (claim.mechanism_name, claim.name)
        alike = next((file for file, one in left.items() if (one.claim.mechanism_name, one.claim.name) == names), None)
        if alike is not None:
            yield f"other: {alike}: not the claim of {spec.file}: {_difference(left.pop(alike).claim, claim)}"
        elif stated.expect != "UNKNOWN":
            yield f"missing: a certificate of {spec.file}, {claim.name}. Make it: dpverify verify {spec.file} --certificates DIR."
    for file in left:
        yield f"extra: {file}: matches no claim in these files, or duplicates one. Name the file of its claim, or take it out."


def _difference(certified: Claim, meant: Claim) -> str:
    """Where two claims differ, in their canonical forms."""
    from dpverify.trusted.kernel.canonical_form import to_json

    ours, theirs = to_json(certified), to_json(meant)
    keys = [key for key in dict.fromkeys([*ours, *theirs]) if ours.get(key) != theirs.get(key)]
    return "; ".join(f"{key} is {json.dumps(ours.get(key))}, not {json.dumps(theirs.get(key))}" for key in keys) + "."
