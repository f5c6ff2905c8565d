"""Seals on data that cannot be checked anew as a certificate can: they say that this user's own dpverify wrote it.

The key lies in the user's configuration, not beside the data: whoever can write the data alone, such as a shared cache of a build server,
cannot seal it.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from typing import Final

VARIABLE: Final = "DPVERIFY_CONFIG_DIR"
NAME: Final = "seal.key"
_BYTES: Final = 32


def seal(text: str) -> str | None:
    """The seal of a text; None where no key can be kept."""
    import hmac

    key = _key(folder())
    return None if key is None else hmac.new(key, text.encode(), "sha256").hexdigest()


def holds(text: str, sealed: object) -> bool:
    """Whether a seal is that of the text."""
    import hmac

    expected = seal(text)
    return expected is not None and isinstance(sealed, str) and sealed.isascii() and hmac.compare_digest(expected, sealed)


def folder() -> Path | None:
    """Where this platform keeps a user's configuration; None for a user without a home."""
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE])
    try:
        if sys.platform == "win32":
            base = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Application Support"
        else:
            given = Path(os.environ.get("XDG_CONFIG_HOME") or "")
            base = given if given.is_absolute() else Path.home() / ".config"
    except RuntimeError:
        return None
    return base / "dpverify"


@cache
def _key(place: Path | None) -> bytes | None:
    """The user's key, made when first needed; None where it cannot be kept, or where others could have read it."""
    if place is None:
        return None
    import secrets

    file = place / NAME
    try:
        place.mkdir(parents=True, exist_ok=True)
        try:
            handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            pass
        else:
            with os.fdopen(handle, "wb") as stream:
                stream.write(secrets.token_bytes(_BYTES))
        if not file.is_file() or (os.name == "posix" and file.stat().st_mode & 0o077):
            return None
        with file.open("rb") as stream:
            stored = stream.read(_BYTES + 1)
    except OSError:
        return None
    return stored if len(stored) == _BYTES else None
