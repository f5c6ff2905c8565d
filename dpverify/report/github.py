"""GitHub workflow commands: an annotation at each claim that is not as its author expects.

Files are named from the root of the repository, as GitHub reads them, whatever folder the command runs in.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dpverify.report.results import Results, Surprise
from dpverify.report.sources import resolved, root_of_repository
from dpverify.runtime.outside import printable_lines


def render(results: Results) -> str:
    """The answer as annotations and a closing line."""
    root = root_of_repository()
    return "\n".join([*(line for one in [*results.surprises, *results.warnings] for line in _annotations(one, root)), results.summary])


def _annotations(surprise: Surprise, root: Path) -> Iterator[str]:
    """One at the claim, and a notice at each line that it speaks of."""
    level = "notice" if surprise.known else surprise.level
    path = resolved(surprise.file)
    file = path.relative_to(root).as_posix() if path.is_relative_to(root) else surprise.file
    column = "" if surprise.column is None else f",col={surprise.column}"
    place = f"file={_property(file)},line={surprise.line}{column},title={_property(surprise.title)}"
    yield f"::{level} {place}::{_data(surprise.message)}"
    for line, said in surprise.places:
        yield f"::notice file={_property(file)},line={line},title={_property(surprise.title)}::{_data(said)}"


def _data(text: str) -> str:
    """Foreign text as the message of a command: on one line, with line breaks that are shown where they are meant."""
    return printable_lines(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Foreign text as a property of a command, which a colon or a comma would end."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
