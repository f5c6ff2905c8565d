"""`dpverify explain`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from dpverify.errors import SpecError


@click.command()
@click.argument("name", metavar="RULE|NAME")
def explain(name: str) -> int:
    """What a rule states, checks and assumes, or what a named mechanism is and which rules decide its claims."""
    from dpverify.rules.table import EXPLAINED

    click.echo("\n".join(_rule_lines(name) if name in EXPLAINED else _mechanism_lines(name)))
    return 0


def _rule_lines(name: str) -> Iterator[str]:
    from dpverify.rules.table import EXPLAINED

    rule = EXPLAINED[name]
    yield f"{name}: {rule.STATEMENT}"
    yield from (f"checked: {line}" for line in rule.CHECKED)
    yield from (f"assumed: {line}" for line in rule.ASSUMED)
    yield f"source: {rule.SOURCE}"
    users = sorted({user for user, rules in _uses() if name in rules})
    yield f"used by: {', '.join(users) if users else 'no certificate in reports/'}"


def _mechanism_lines(name: str) -> Iterator[str]:
    from dpverify.catalogue import read_spec, resolve
    from dpverify.report import short, understood
    from dpverify.rules.table import EXPLAINED

    try:
        files = resolve(name)
    except SpecError as error:
        known = f" Rules: {', '.join(sorted(EXPLAINED))}." if EXPLAINED else ""
        raise SpecError(f"{error.faults[0]}{known}") from error
    for file in files:
        spec = read_spec(file)
        yield f"{spec.mechanism}: {spec.file}"
        yield from (f"  {key}: {value}" for key, value in understood(spec.claims[0].claim))
        if spec.source:
            yield f"  source: {spec.source}"
        yield from (f"  claim: {stated.claim.name}: eps {short(stated.claim.epsilon)}, {stated.expect}" for stated in spec.claims)
        rules = sorted({rule for user, used in _uses() if user == spec.mechanism for rule in used})
        yield f"  rules: {', '.join(rules) if rules else 'no certificate in reports/'}"


def _uses() -> Iterator[tuple[str, set[str]]]:
    """Of every readable certificate in reports/, here or beside the shelf, the mechanism and the rules it uses."""
    from dpverify.catalogue import shelf
    from dpverify.certificate import decode, unpack
    from dpverify.errors import CertificateError

    folders = dict.fromkeys(folder.resolve() for folder in (Path("reports"), shelf() / "reports") if folder.is_dir())
    for file in (file for folder in folders for file in sorted(folder.glob("*.cert.json"))):
        try:
            certificate = unpack(decode(file.read_bytes()))
        except (OSError, CertificateError):
            continue
        yield certificate.claim.mechanism_name, {step.rule for step in certificate.steps}


