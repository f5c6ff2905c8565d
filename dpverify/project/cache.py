"""Certificates that were found before, kept by the content of what was asked. A hit is a proposal: the kernel judges it anew.

The folder is made and marked by dpverify, or was empty; one that holds other things without our mark is refused. Nothing is read, replaced
or removed in it but files whose names the cache itself gives, and links are not followed.

The name of a cached file is a hash of the claim, the digits, the version and the sources of all that finds and checks certificates. Nothing
that a file says is believed: one that is damaged, of another claim, or refused by the kernel is found anew and replaced.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from dpverify.project import seal
from dpverify.runtime.outside import read_regular
from dpverify.runtime.version import __version__
from dpverify.search.verify import Verified, rejudged
from dpverify.trusted.kernel.canonical_form import claim_hash, to_json
from dpverify.trusted.kernel.certificate import MAX_BYTES, decode
from dpverify.trusted.kernel.model import Claim

SCHEMA: Final = "dpverify-cache/1"
LIMIT: Final = 256 << 20
"""Bytes that a cache may hold; what was used longest ago goes first."""
_KEPT: Final = 0.75  # of the limit after a pruning, so that the next is far
_FINDS: Final = ("search", "trusted")
"""What has a part in finding and checking certificates: floors and files of the package."""
TAG: Final = "CACHEDIR.TAG"
"""The file that marks the folder of a cache; backups leave such folders out."""
_TAG: Final = "Signature: 8a477f597d28d172789f06886806bc55\n# Certificates that dpverify found before. They may be removed at any time.\n"
_FOLDER: Final = "v1"
_NAMES: Final = re.compile(r"[0-9a-f]{64}(\.json|\.[a-z0-9_]{8}\.tmp)")
"""What the cache calls its files: the last are half-written ones of a run that was ended."""


@cache
def sources() -> str:
    """The digest of the sources that find and check certificates: where they change, a search may find more."""
    package = Path(__file__).parents[1]
    digest = sha256(__version__.encode())
    for file in sorted(package.rglob("*.py")):
        place = file.relative_to(package)
        if place.parts[0] in _FINDS:
            digest.update(f"\n{place.as_posix()}\n".encode() + file.read_bytes())
    return digest.hexdigest()


def key(claim: Claim, digits: int) -> str:
    """The name under which what is found of a claim is kept."""
    asked = [SCHEMA, sources(), digits, claim_hash(to_json(claim))]
    return sha256(json.dumps(asked).encode()).hexdigest()


def user_folder() -> Path | None:
    """The folder in which this platform keeps what can be made again; None for a user without a home."""
    try:
        if sys.platform == "win32":
            base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Caches"
        else:
            given = Path(os.environ.get("XDG_CACHE_HOME") or "")  # where it is not absolute, the standard says to ignore it
            base = given if given.is_absolute() else Path.home() / ".cache"
    except RuntimeError:
        return None
    return base / "dpverify"


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of outcomes, or none. Whatever fails about it (rights, space, damage) is no outcome, never an error."""

    folder: Path | None

    def find(self, claim: Claim, digits: int) -> Verified | None:
        """The outcome kept for this question, as the kernel judges it today; None where there is none that decides it.

        That nothing was found cannot be checked, so it is never taken from a file: it could hide a refutation.
        """
        file = self.file(claim, digits)
        if file is None:
            return None
        try:
            kept = self._read(file)
            if not isinstance(kept, dict) or kept.keys() != {"schema", "certificate", "reasons"} or kept["schema"] != SCHEMA:
                return None
            reasons = kept["reasons"]
            if not isinstance(reasons, list) or not all(isinstance(reason, str) for reason in reasons):
                return None
            verified = rejudged(claim, kept["certificate"], tuple(reasons))
            os.utime(file)
        except Exception:  # of a damaged or forged file anything may fail: what it is about is then found anew
            return None
        return None if verified.judgement.verdict == "UNKNOWN" else verified

    def keep(self, claim: Claim, digits: int, verified: Verified) -> None:
        """Keep what was found, where it decides the question."""
        file = self.file(claim, digits)
        if file is None or verified.judgement.verdict == "UNKNOWN":
            return
        outcome = {"schema": SCHEMA, "certificate": verified.certificate, "reasons": list(verified.reasons)}
        try:
            text = json.dumps(outcome, allow_nan=False)
            if len(text) <= MAX_BYTES:
                self._replace(file, text)
        except (OSError, ValueError, RecursionError):
            return

    def recall(self, name: str) -> Any:
        """The JSON value that `remember` kept under this hash, by its seal this user's own; None where there is none."""
        file = self._place(name)
        try:
            if file is None:
                return None
            kept = self._read(file)
            if kept.keys() != {"schema", "value", "seal"} or not seal.holds(_told(name, kept["value"]), kept["seal"]):
                return None
            os.utime(file)
        except Exception:  # damaged: then it is made anew
            return None
        return kept["value"]

    def remember(self, name: str, value: Any) -> None:
        """Keep a JSON value that no kernel can check, such as the data of a picture, sealed, under a hash of what it is made from."""
        file = self._place(name)
        with contextlib.suppress(OSError, ValueError, RecursionError):
            sealed = seal.seal(_told(name, value))
            text = json.dumps({"schema": SCHEMA, "value": value, "seal": sealed}, allow_nan=False)
            if file is not None and sealed is not None and len(text) <= MAX_BYTES:
                self._replace(file, text)

    def has(self, claim: Claim, digits: int) -> bool:
        """Whether something is kept for this question, be it what it may."""
        file = self.file(claim, digits)
        return file is not None and file.is_file()

    def file(self, claim: Claim, digits: int) -> Path | None:
        """Where the outcome of a question is kept."""
        return None if self.folder is None else self._place(key(claim, digits))

    def foreign(self) -> str | None:
        """Why the folder is no cache, in a sentence with the way out; None where it is one, or is free to become one."""
        if self.folder is None or self._marked() or not self._foreign():
            return None
        return (
            f"{self.folder}: not a folder that dpverify made for its cache: it holds other files, and no {TAG} of dpverify. "
            "Choose an empty or a new folder for the cache; nothing was removed."
        )

    def files(self) -> list[tuple[Path, os.stat_result]]:
        """What is kept, used longest ago first; nothing of a folder without our mark, and nothing that the cache did not name."""
        listed = _stats(self.folder / _FOLDER) if self.folder is not None and self._marked() else ()
        return sorted(listed, key=lambda one: one[1].st_mtime_ns)

    def _foreign(self) -> bool:
        """Whether the folder holds anything but our mark and our own configuration, which somebody may keep in the same place."""
        assert self.folder is not None
        kept = seal.folder()
        inside = kept is not None and kept.absolute().is_relative_to(self.folder.absolute())
        own = {TAG, *((kept / seal.NAME).absolute().relative_to(self.folder.absolute()).parts[:1] if kept is not None and inside else ())}
        return any(entry.name not in own for entry in _entries(self.folder))

    def _marked(self) -> bool:
        try:
            return self.folder is not None and read_regular(self.folder / TAG, len(_TAG) + 1) == _TAG.encode("ascii")
        except OSError:
            return False

    def _place(self, name: str) -> Path | None:
        return None if self.folder is None else self.folder / _FOLDER / name[:2] / f"{name}.json"

    def _read(self, file: Path) -> Any:
        """The JSON value of a file of bounded size. Raises OSError, or CertificateError for what is no exact JSON."""
        if _linked(file.parents[1], file.parent, file):
            raise FileNotFoundError(file)
        return decode(read_regular(file, MAX_BYTES + 1))

    def _replace(self, file: Path, text: str) -> None:
        """Write a whole file or nothing, whoever else writes it at the same time; first make and mark the folder. Raises OSError."""
        assert self.folder is not None
        self.folder.mkdir(parents=True, exist_ok=True)
        if not self._marked():
            if self._foreign() or (self.folder / TAG).is_symlink():
                raise FileExistsError(self.folder)
            try:
                (self.folder / TAG).write_text(_TAG, encoding="ascii", newline="\n")
            except OSError:
                _remove(self.folder / TAG)
                raise
        if _linked(file.parents[1], file.parent):
            raise FileExistsError(file.parent)
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, scratch = tempfile.mkstemp(dir=file.parent, prefix=f"{file.stem}.", suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="ascii") as stream:
                stream.write(text)
            Path(scratch).replace(file)
        except BaseException:
            _remove(Path(scratch))
            raise

    def prune(self, limit: int = LIMIT) -> None:
        """See that the cache is within its limit, in bytes. It takes a look at every file: call it where much longer work was done."""
        kept = self.files()
        size = sum(stat.st_size for _, stat in kept)
        for file, stat in kept if size > limit else ():
            if size <= _KEPT * limit:
                return
            _remove(file)
            size -= stat.st_size

    def clear(self) -> tuple[int, list[Path]]:
        """Remove everything that is kept: how many outcomes went, and which files could not be removed. Foreign files stay."""
        gone = [(file, _remove(file)) for file, _ in self.files()]
        return sum(done for _, done in gone), [file for file, done in gone if not done]


def _told(name: str, value: Any) -> str:
    """What a seal is of: the value, and the place that it is for."""
    return json.dumps([SCHEMA, name, value], sort_keys=True, allow_nan=False)


def _linked(*places: Path) -> bool:
    """Whether one of the places is a link, which may lead out of the cache."""
    return any(place.is_symlink() for place in places)


def _remove(file: Path) -> bool:
    """Remove a file, if it is there and may be removed."""
    try:
        file.unlink(missing_ok=True)
    except OSError:
        return False
    return True


def _stats(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """The files of a cache, by exactly the names that it gives; links are not followed, and what vanishes meanwhile is left out."""
    for below in _entries(folder) if not _linked(folder) else ():
        if re.fullmatch("[0-9a-f]{2}", below.name) and below.is_dir(follow_symlinks=False):
            for entry in _entries(Path(below.path)):
                if _NAMES.fullmatch(entry.name) and entry.name.startswith(below.name) and entry.is_file(follow_symlinks=False):
                    with contextlib.suppress(OSError):
                        yield Path(entry.path), entry.stat(follow_symlinks=False)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
