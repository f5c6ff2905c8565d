"""Certificates: a claim, its hash, a precision and the lines of a proof, in JSON that only one reading fits.

A certificate says nothing by itself; the kernel derives the verdict by following the lines. Reading is
strict: unknown or doubled keys, another version, a hash that is not the claim's, binary floats,
and anything oversized or nested beyond need are refused with where and why.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from dpverify.trusted.language.canonical_form import claim_hash, from_json
from dpverify.trusted.language.errors import CertificateError
from dpverify.trusted.language.model import Claim

SCHEMA: Final = "dpverify-certificate/2"
VERDICTS: Final = ("REFUTED", "UNKNOWN", "PROVED")
MAX_BYTES: Final = 32 << 20
MAX_DEPTH: Final = 64
MAX_LINES: Final = 8192
PRECISIONS: Final = range(53, 8193)
_KEYS: Final = frozenset(("schema", "claim", "claim_sha256", "prec", "verdict", "lines"))
_LINE: Final = frozenset(("rule", "place", "parameters", "premises", "prec"))


@dataclass(frozen=True, slots=True)
class Line:
    """One use of a rule: its name, the place of the claim's mechanism that it speaks of, its parameters, and its premises by number.

    The lines are counted from 0, and premises stand before. prec: the working precision in bits.
    """

    rule: str
    place: tuple[Any, ...]
    parameters: Mapping[str, Any]
    premises: tuple[int, ...]
    prec: int


@dataclass(frozen=True, slots=True)
class Certificate:
    """A claim with the lines of the proof that decides it and the verdict they are said to give."""

    claim: Claim
    prec: int
    verdict: str
    lines: tuple[Line, ...]


def decode(text: bytes) -> Any:
    """The JSON value of a certificate file. Raises CertificateError for anything but plain, exact, bounded JSON."""
    if len(text) > MAX_BYTES:
        raise CertificateError(f"{len(text)} bytes; a certificate has at most {MAX_BYTES}.")
    try:
        value = json.loads(text.decode("utf-8"), object_pairs_hook=_without_doubles, parse_float=_no_float, parse_constant=_no_float)
    except UnicodeDecodeError as error:
        raise CertificateError(f"not UTF-8 at byte {error.start}.") from error
    except json.JSONDecodeError as error:
        raise CertificateError(f"not JSON at line {error.lineno}, column {error.colno}: {error.msg}.") from error
    except ValueError as error:  # an integer of more digits than Python reads
        raise CertificateError(f"not a certificate: {error}.") from error
    except RecursionError as error:
        raise CertificateError(f"nested more than {MAX_DEPTH} deep.") from error
    return value


def unpack(data: Any) -> Certificate:
    """The certificate of a JSON value. Raises CertificateError that says where it departs from the format."""
    _bounded(data)
    if not isinstance(data, dict):
        raise CertificateError("not a JSON object.")
    if data.get("schema") != SCHEMA:
        raise CertificateError(f"schema is {_show(data.get('schema'))}; this version reads {SCHEMA!r}.")
    _exactly(data, _KEYS, "the certificate")
    if not isinstance(data["claim"], dict):
        raise CertificateError("claim: not an object.")
    claim = from_json(data["claim"])
    if data["claim_sha256"] != claim_hash(data["claim"]):
        raise CertificateError("claim_sha256 is not the hash of the claim: the certificate was made for another claim, or altered.")
    prec = _precision(data["prec"], "the certificate")
    if data["verdict"] not in VERDICTS:
        raise CertificateError(f"verdict is {_show(data['verdict'])}, not one of {', '.join(VERDICTS)}.")
    lines = data["lines"]
    if not isinstance(lines, list) or len(lines) > MAX_LINES:
        raise CertificateError(f"lines: not a list of at most {MAX_LINES} lines.")
    return Certificate(claim, prec, data["verdict"], tuple(_line(line, number, prec) for number, line in enumerate(lines)))


def _line(data: Any, number: int, prec: int) -> Line:
    where = f"line {number}"
    if not isinstance(data, dict):
        raise CertificateError(f"{where}: not an object.")
    _exactly(data, frozenset({"rule"} | (data.keys() & _LINE)), where)
    place, parameters, premises = data.get("place", []), data.get("parameters", {}), data.get("premises", [])
    if not isinstance(data["rule"], str) or not isinstance(place, list) or not isinstance(parameters, dict):
        raise CertificateError(f"{where}: rule must be a name, place a list and parameters an object.")
    if not isinstance(premises, list) or not all(type(other) is int and 0 <= other < number for other in premises):
        raise CertificateError(f"{where}: premises must be a list of numbers of lines before it.")
    return Line(data["rule"], tuple(place), parameters, tuple(premises), _precision(data.get("prec", prec), where))


def _precision(prec: Any, where: str) -> int:
    if type(prec) is not int or prec not in PRECISIONS:
        raise CertificateError(f"{where}: prec is {_show(prec)}, not a number of bits from {PRECISIONS[0]} to {PRECISIONS[-1]}.")
    return prec


def _exactly(data: Mapping[str, Any], keys: frozenset[str], where: str) -> None:
    missing, unknown = sorted(keys - data.keys()), sorted(data.keys() - keys)
    if missing:
        raise CertificateError(f"{where}: {', '.join(missing)} missing.")
    if unknown:
        raise CertificateError(f"{where}: unknown key{'s' if len(unknown) > 1 else ''} {_show(', '.join(unknown))}.")


def _bounded(data: Any) -> None:
    """Refuse nesting beyond need and binary floats, without recursion."""
    level, depth = [data], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise CertificateError(f"nested more than {MAX_DEPTH} deep.")
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                below.extend(value.values())
            elif isinstance(value, list):
                below.extend(value)
            elif not (value is None or isinstance(value, str | int)):
                raise CertificateError(f"{_show(value)} is a {type(value).__name__}; certificates hold exact values only.")
        level = below


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise CertificateError(f"the key {_show(key)} stands twice in one object.")
        result[key] = value
    return result


def _no_float(text: str) -> NoReturn:
    raise CertificateError(f"{_show(text)} is a binary float; certificates hold exact values only.")


def _show(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
