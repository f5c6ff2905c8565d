"""`dpverify explain`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpverify.cli.numbers import Whole
from dpverify.cli.output import say
from dpverify.cli.settings import codeless
from dpverify.errors import SpecError
from dpverify.trusted.kernel.errors import CertificateError, Rejected

if TYPE_CHECKING:
    from dpverify.report import Entry


@click.command(short_help="Explain a rule, a mechanism or a proof.")
@click.argument("name", required=False, metavar="[RULE|NAME|CERT|FILE]")
@click.option("--claim", "claims", multiple=True, metavar="NAME", help="Draw the proof of this claim, for a mechanism or a claim file.")
@click.option("--digits", type=Whole(1, 1000, like="30"), default=20, show_default=True, help="Digits of the tight epsilon.")
@click.option(
    "--format", "style", type=click.Choice(["text", "latex", "bibtex"]), default="text", show_default=True,
    help="What to print of a certificate or a claim: its proof as a tree, a theorem in LaTeX, or the references in BibTeX.",
)  # fmt: skip
@codeless
def explain(name: str | None, claims: tuple[str, ...], digits: int, style: str, no_code: bool) -> int:
    """What a rule states, checks and assumes; what a named mechanism is; the proof in a certificate or of a claim, as a tree.

    Without a name: what there is to explain, as `dpverify list` tells it.
    """
    if name is None:
        if claims:
            raise click.UsageError("--claim is of a claim file, which is not named. Write dpverify explain FILE --claim NAME.")
        from dpverify.cli.list import listed

        say(*listed(["rules", "shelf"]))
        return 0
    from dpverify.project.config import read_config
    from dpverify.trusted.kernel.registry import EXPLAINED

    code = read_config(Path.cwd()).code and not no_code
    said: Iterable[str]
    if Path(name).suffix == ".json":
        said = _proofs([_of_certificate(Path(name))], style)
    elif claims or Path(name).is_file() or style != "text":
        said = _proofs(_of_claims(name, claims, digits, code=code), style)
    elif (least := f"{name}-lower-bound") in EXPLAINED:  # as answers call it
        said = chain(_rule_lines(least), _rule_lines(name) if name in EXPLAINED else ())
    elif name in EXPLAINED:
        mechanisms = _mechanism_lines(name, code=code) if _is_mechanism(name) else ()  # some theorems are called as their mechanism is
        said = chain(_rule_lines(name), mechanisms)
    else:
        said = _mechanism_lines(name, code=code)
    say(*(line for text in said for line in text.split('\n')))
    return 0


def _is_mechanism(name: str) -> bool:
    from dpverify.catalogue import resolve

    try:
        return bool(resolve(name))
    except SpecError:
        return False


def _of_certificate(path: Path) -> Entry:
    """The claim of a certificate, as the kernel judges it now."""
    from dpverify.evidence.collected import read
    from dpverify.report import Entry
    from dpverify.search.verify import rejudged
    from dpverify.trusted.kernel.certificate import decode, unpack

    try:
        packed = decode(read(path))
        claim = unpack(packed).claim
        verified = rejudged(claim, packed)
    except (CertificateError, Rejected) as error:
        raise CertificateError(f"{path}: not a certificate that holds: {error}") from error
    verdict = verified.judgement.verdict
    file = str(path)
    return Entry(file, claim.mechanism_name, claim, verdict, judgement=verified.judgement, proved=verified.proved, certificate=file)


def _of_claims(name: str, claims: Sequence[str], digits: int, *, code: bool) -> list[Entry]:
    """A file's claims, or some of them, judged anew."""
    from dpverify.cli.claims import selected, specs_of, verified

    return verified(selected(specs_of((name,), code=code), claims), None, digits)


def _proofs(entries: Sequence[Entry], style: str) -> Iterator[str]:
    """The proofs of claims as trees, or as theorems for papers, or what these cite."""
    from dpverify.report import proof, selections, theorem

    if style == "bibtex":
        yield theorem.bibtex(entries).rstrip("\n")
    elif style == "latex":
        yield theorem.theorems(entries).rstrip("\n")
    else:
        for entry in entries:
            yield from proof.lines(proof.tree(entry))
            yield from selections.lines(entry)


def _rule_lines(name: str) -> Iterator[str]:
    from dpverify.catalogue.assumed import plain
    from dpverify.project.formal.ledger import told
    from dpverify.report.stated import stated
    from dpverify.trusted.kernel.registry import EXPLAINED

    said = stated(name)
    yield f"{name}: {said.statement}"
    yield from (f"checked: {line}" for line in said.checked)
    yield from (f"assumed: {plain(line)}" for line in EXPLAINED[name].ASSUMED)
    yield f"source: {said.source}"
    yield from (f"machine-checked: {line}" for line in told(name))
    users = sorted({user for user, rules in _uses() if name in rules})
    yield f"used by: {', '.join(users) if users else 'no certificate in reports/'}"


def _mechanism_lines(name: str, *, code: bool) -> Iterator[str]:
    from dpverify.catalogue import read_spec, resolve, shelf
    from dpverify.report import brief, understood
    from dpverify.trusted.kernel.registry import EXPLAINED

    try:
        files = resolve(name)
    except SpecError as error:
        from dpverify.catalogue.kinds import BUILTIN, WHAT
        from dpverify.catalogue.kinds.named import BUILTINS
        from dpverify.catalogue.toml import meant

        if name in WHAT or name in BUILTINS:
            kind = name if name in WHAT else BUILTIN
            way = f"`dpverify list kinds` tells it, and `dpverify new NAME --kind {kind}` makes a claim file of it."
            raise SpecError(f"{name} is a kind of mechanism, not a rule or a mechanism of the shelf: {way}") from error
        shelved = sorted(file.stem for file in (shelf() / "specs").glob("*.toml"))
        fault = error.faults[0].partition(" Did you mean")[0]
        raise SpecError(f"{fault}{meant(name, [*EXPLAINED, *shelved])} `dpverify explain` lists the rules and the shelf.") from error
    for file in files:
        spec = read_spec(file, code=code)
        yield f"{spec.mechanism}: {spec.file}"
        yield from (f"  {key}: {value}" for key, value in understood(spec.claims[0].claim))
        if spec.source:
            yield f"  source: {spec.source}"
        yield from (f"  claim: {stated.claim.name}: {brief(stated.claim)}, {stated.expect}" for stated in spec.claims)
        rules = sorted({rule for user, used in _uses() if user == spec.mechanism for rule in used})
        yield f"  rules: {', '.join(rules) if rules else 'no certificate in reports/'}"


def _uses() -> Iterator[tuple[str, set[str]]]:
    """Of every readable certificate in reports/, here or beside the shelf, the mechanism and the rules it uses."""
    from dpverify.catalogue import shelf
    from dpverify.evidence.collected import read, within
    from dpverify.trusted.kernel.certificate import decode, unpack

    folders = dict.fromkeys(folder.resolve() for folder in (Path("reports"), shelf() / "reports") if folder.is_dir())
    for file in (place for folder in folders for place in within(folder)):
        try:
            certificate = unpack(decode(read(file)))
        except (OSError, CertificateError):
            continue
        yield certificate.claim.mechanism_name, {line.rule for line in certificate.lines}
