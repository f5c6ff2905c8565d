"""Certificates in collections: one text file for those of a family, which a diff can follow.

A collection `FAMILY.certs.json` is a JSON object of certificates by their names. One of them is named as if the collection were a folder,
`FAMILY.certs.json/NAME.cert.json`, and is, to the byte, the file of this name that `dpverify verify --certificates` writes: its SHA-256 is
that file's. A collection says nothing of its own; each certificate in it is judged by itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any, Final

from dpverify.runtime.outside import quoted, read_regular
from dpverify.trusted.kernel.certificate import MAX_BYTES, decode
from dpverify.trusted.kernel.errors import CertificateError

SCHEMA: Final = "dpverify-collection/1"
SINGLE: Final = ".cert.json"
"""What the name of one certificate ends with."""
MANY: Final = ".certs.json"
"""What the name of a collection ends with."""


def encode(data: Mapping[str, Any]) -> str:
    """The text of a packed certificate, or of a collection: stable, so that equal ones are equal files."""
    return json.dumps(data, indent=1, sort_keys=True, ensure_ascii=True, allow_nan=False) + "\n"


def collection(certificates: Mapping[str, Any]) -> str:
    """The text of a collection of certificates, by their names without an ending: a line for each key, and for each line of a proof."""
    written = ",\n".join(f" {_plain(name)}: {_certificate(certificates[name])}" for name in sorted(certificates))
    return f'{{"certificates": {{\n{written}\n}}, "schema": {_plain(SCHEMA)}}}\n'


def _certificate(data: Mapping[str, Any]) -> str:
    held = (f"  {_plain(key)}: {_lines(data[key]) if key == 'lines' else _plain(data[key])}" for key in sorted(data))
    return "{\n" + ",\n".join(held) + "\n }"


def _lines(lines: Any) -> str:
    return "[\n" + ",\n".join(f"   {_plain(line)}" for line in lines) + "\n  ]" if isinstance(lines, list) and lines else _plain(lines)


def _plain(value: Any) -> str:
    """A value on one line."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, allow_nan=False)


def places(path: Path) -> list[Path]:
    """Of a collection the places of its certificates, in the order of their names; any other path itself.

    So is a collection that cannot be read: `read` says of it what is wrong.
    """
    try:
        return [path / f"{name}{SINGLE}" for name in sorted(_held(path))] if _is_many(path) else [path]
    except (CertificateError, OSError):
        return [path]


def within(folder: Path) -> list[Path]:
    """The places of all certificates in a folder and in those below it."""
    found = [*folder.rglob(f"*{SINGLE}"), *folder.rglob(f"*{MANY}")]
    return [place for path in sorted(found) for place in places(path)]


def by_name(folder: Path) -> dict[str, Path]:
    """The same by the names of the certificates, without their endings, in order."""
    found = {place.name.removesuffix(SINGLE): place for place in within(folder)}
    return {name: found[name] for name in sorted(found)}


def read(place: Path) -> bytes:
    """The text of the certificate in a file, or at a place in a collection.

    Raises CertificateError where the collection is none or does not hold it, OSError where the file cannot be read.
    """
    if _is_many(place):
        _held(place)
        raise CertificateError("a collection of certificates, not one of them.")
    if not _is_many(place.parent):
        return read_regular(place, MAX_BYTES + 1)
    held, name = _held(place.parent), place.name.removesuffix(SINGLE)
    if name not in held or not place.name.endswith(SINGLE):
        raise CertificateError(f"there is no certificate {quoted(name)} in this collection.")
    try:
        return encode(held[name]).encode()
    except RecursionError as error:
        raise CertificateError("nested too deep.") from error


def _is_many(path: Path) -> bool:
    return path.name.endswith(MANY) and path.is_file()


def _held(path: Path) -> Mapping[str, Any]:
    """The certificates of a collection, by their names."""
    state = path.stat()
    return _decoded(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=2)
def _decoded(path: Path, _changed: int, _size: int) -> Mapping[str, Any]:
    """The same, kept while the file does not change: its certificates are asked for one after the other."""
    data = decode(read_regular(path, MAX_BYTES + 1))
    if not isinstance(data, dict) or data.keys() != {"schema", "certificates"} or data["schema"] != SCHEMA:
        raise CertificateError(f"not a collection of certificates: its schema is not {SCHEMA!r}, or its keys are others.")
    held = data["certificates"]
    if not isinstance(held, dict) or not held or not all(PurePath(f"{name}{SINGLE}").name == f"{name}{SINGLE}" for name in held):
        raise CertificateError("not a collection of certificates: it holds none, or calls one as no file could be called.")
    return held
