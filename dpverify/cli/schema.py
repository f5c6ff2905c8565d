"""`dpverify schema`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

_SUFFIX: Final = ".schema.json"
_FOLDER: Final = Path(__file__).resolve().parents[1] / "schemas"
NAMES: Final = tuple(sorted(file.name.removesuffix(_SUFFIX) for file in _FOLDER.glob(f"*{_SUFFIX}")))
"""The formats that have a JSON Schema."""


@click.command(short_help="Print the JSON Schema of a format.")
@click.argument("name", type=click.Choice(NAMES))
def schema(name: str) -> int:
    """Print the JSON Schema (draft 7) of a format: of claim files, for editors; of what --format json prints; of files that are written."""
    click.echo((_FOLDER / f"{name}{_SUFFIX}").read_text(encoding="utf-8"), nl=False)
    return 0
