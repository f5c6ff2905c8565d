"""GitHub workflow commands: an annotation at each claim that is not as its author expects."""

from __future__ import annotations

from dpverify.report.results import Results, Surprise


def render(results: Results) -> str:
    """The answer as annotations and a closing line."""
    return "\n".join([*(_annotation(surprise) for surprise in results.surprises), results.summary])


def _annotation(surprise: Surprise) -> str:
    level = "notice" if surprise.known else surprise.level
    place = f"file={_property(surprise.file)},line={surprise.line},title={_property(surprise.title)}"
    return f"::{level} {place}::{_data(surprise.message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
