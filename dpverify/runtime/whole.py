"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path


def write(path: Path, content: str) -> None:
    """Write a whole file or nothing: into a neighbour first, then in its place. A file that says the same already is left as it is."""
    if not _says(path, content):
        write_bytes(path, content.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a whole file or nothing, of bytes."""
    if not path.name or path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder; name a file in it", str(path))
    scratch = scratch_of(path)
    try:
        scratch.write_bytes(content)
        scratch.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with suppress(OSError):  # what failed above says more
            scratch.unlink(missing_ok=True)


def scratch_of(path: Path) -> Path:
    """The file beside another in which it is written first; its name is short, however long the other's is."""
    return path.with_name(f".dpverify-{sha256(path.name.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}.{os.getpid()}.tmp")


def _says(path: Path, content: str) -> bool:
    try:
        return path.is_file() and path.read_text(encoding="utf-8") == content
    except (OSError, UnicodeError):
        return False
