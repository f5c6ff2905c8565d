"""`dpverify list`."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import click

from dpverify.cli.output import columns, say

MOST: Final = 160
"""Letters of a sentence that is told in a list."""


@click.command("list", short_help="List the kinds, the shelf of mechanisms, and the rules.")
@click.argument("what", required=False, type=click.Choice(["kinds", "shelf", "rules"]))
def names(what: str | None) -> int:
    """List the kinds of mechanisms that claim files and Python know, the mechanisms on the shelf, and the rules of proofs.

    `dpverify explain NAME` tells more of each, and `dpverify verify NAME` judges the claims of a mechanism on the shelf.
    """
    say(*listed([what] if what else list(_OF)))
    return 0


def listed(wanted: list[str]) -> Iterator[str]:
    """The lists under their heads."""
    for number, what in enumerate(wanted):
        head, of = _OF[what]
        if len(wanted) > 1:
            yield from ["", head] if number else [head]
        entries = of()
        margin = " " * 4
        for name in sorted(entries) if what != "kinds" else entries:
            yield f"  {name}{_standing(name) if what == 'rules' else ''}"
            yield from textwrap.wrap(_brief(entries[name]), columns(), initial_indent=margin, subsequent_indent=margin)


def _brief(text: str) -> str:
    """The first sentence of a text, or as much of it as is told in a list."""
    first = re.split(r"(?<=[.;]) (?=\S)", " ".join(text.split()))[0].rstrip(";.")
    return textwrap.shorten(first, MOST, placeholder=" ...")


def _kinds() -> dict[str, str]:
    from dpverify.catalogue.kinds import BUILTIN, WHAT
    from dpverify.catalogue.kinds.named import BUILTINS

    kinds = {kind: what for kind, what in WHAT.items() if kind != BUILTIN}
    needs = {name: ", ".join(field.name for field in builtin.fields if field.required) for name, builtin in BUILTINS.items()}
    return {**{f"builtin {name} ({needs[name]})": builtin.what for name, builtin in BUILTINS.items()}, **kinds}


def _shelf() -> dict[str, str]:
    from dpverify.catalogue import shelf

    return {file.stem: _comment(file) for file in (shelf() / "specs").glob("*.toml")}


def _comment(file: Path) -> str:
    """What the first comment of a claim file says."""
    lines = file.read_text(encoding="utf-8").splitlines()
    first = [line.lstrip("# ") for line in lines[: next((i for i, line in enumerate(lines) if not line.startswith("#")), 0)]]
    return " ".join(first)


def _rules() -> dict[str, str]:
    from dpverify.report.stated import stated
    from dpverify.trusted.kernel.registry import EXPLAINED

    return {name: stated(name).statement for name in EXPLAINED}


def _standing(name: str) -> str:
    from dpverify.project.formal.ledger import standing

    return f" ({standing(name)})"


_OF: Final[Mapping[str, tuple[str, Callable[[], dict[str, str]]]]] = {
    "kinds": ("Kinds of mechanisms:", _kinds),
    "shelf": ("Mechanisms on the shelf:", _shelf),
    "rules": ("Rules, and theorems about privacy curves:", _rules),
}
