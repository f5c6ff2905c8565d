"""The committed certificates by their names: the one place where tests read them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from dpverify.evidence.collected import SINGLE, by_name, read

FOLDER = Path(__file__).parents[1] / "reports" / "certificates"


@cache
def _places() -> dict[str, Path]:
    return by_name(FOLDER)


@cache
def text(name: str) -> bytes:
    """The text of a certificate, as the file of its own that it would be."""
    return read(_places()[name])


def names() -> list[str]:
    """The names of all committed certificates, such as "laplace.sensitivity-1-exact", in order."""
    return list(_places())


def certificate(name: str) -> Any:
    """The JSON value of a certificate, to be changed at will."""
    return json.loads(text(name))


def certificates() -> dict[str, Any]:
    """All of them by their names."""
    return {name: certificate(name) for name in names()}


def saved(name: str, folder: Path) -> Path:
    """The file of its own that a certificate is, in a folder."""
    file = folder / f"{name}{SINGLE}"
    file.write_bytes(text(name))
    return file


def place(name: str) -> Path:
    """Where a certificate is, as `dpverify check` takes it."""
    return _places()[name]
