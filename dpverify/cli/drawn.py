"""The data of a report's pictures, claim by claim; what fails to be drawn is told, and takes nothing else away."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dpverify.cli import output

if TYPE_CHECKING:
    from dpverify.bands import Bands
    from dpverify.model import Claim
    from dpverify.report import Entry
    from dpverify.report.page.subject import Pictures

T = TypeVar("T")


def curves_and_pictures(groups: Mapping[str, Sequence[Entry]]) -> dict[str, tuple[list[Bands], list[Pictures]]]:
    """Of every claim file, by its stem, the bands and the pictures; claims that differ only in what they claim share theirs."""
    drawn: dict[str, tuple[list[Bands], list[Pictures]]] = {}
    with click.progressbar(groups.items(), label="drawing", file=sys.stderr, hidden=not sys.stderr.isatty()) as steps:
        for stem, entries in steps:
            alike: dict[Claim, list[Entry]] = {}
            for entry in entries:
                alike.setdefault(replace(entry.claim, epsilon=None, delta=None, name=""), []).append(entry)
            found = [_bands(group) for group in alike.values()]
            drawn[stem] = ([bands for bands in found if bands is not None], [_pictures(group) for group in alike.values()])
    return drawn


def _bands(entries: Sequence[Entry]) -> Bands | None:
    from dpverify.bands import bands

    evidence = next(filter(None, map(_curve_evidence, entries)), None)
    return _tried(entries[0], "its curves", lambda: bands([entry.claim for entry in entries], evidence))


def _pictures(entries: Sequence[Entry]) -> Pictures:
    from dpverify.report.page.subject import Pictures

    return Pictures(tuple(entry.claim.name for entry in entries))


def _tried(entry: Entry, what: str, draw: Callable[[], T]) -> T | None:
    try:
        return draw()
    except Exception as error:
        if os.environ.get("DPVERIFY_DEBUG"):
            raise
        click.echo(f"{entry.file}, {entry.claim.name}, {what}: {output.fault(error)}", err=True)
        return None


def _curve_evidence(entry: Entry) -> Mapping[str, Any] | None:
    """The evidence of the privacy curve in the certificate that was written, if one is there."""
    from dpverify.certificate import decode

    steps = decode(Path(entry.certificate).read_bytes())["steps"] if entry.certificate else []
    return next((step["evidence"]["curve"] for step in steps if "curve" in step["evidence"]), None)
