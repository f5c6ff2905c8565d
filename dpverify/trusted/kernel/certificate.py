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

from dpverify.trusted.kernel.canonical_form import claim_hash, from_json, shown
from dpverify.trusted.kernel.errors import CertificateError, certify
from dpverify.trusted.kernel.model import Claim

SCHEMA: Final = "dpverify-certificate/2"
VERDICTS: Final = ("REFUTED", "UNKNOWN", "PROVED")
MAX_BYTES: Final = 32 << 20
MAX_DEPTH: Final = 64
MAX_LINES: Final = 8192
PRECISIONS: Final[range] = range(53, 8193)
_KEYS: Final = frozenset(("schema", "claim", "claim_sha256", "prec", "verdict", "lines"))
MAX_SIGNS: Final = 1024
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
    """A claim with the lines of the proof that decides it and the verdict they are said to give.

    signs: of expressions in parameters, with what shows each.
    """

    claim: Claim
    prec: int
    verdict: str
    lines: tuple[Line, ...]
    signs: tuple[Mapping[str, Any], ...] = ()


def decode(text: bytes) -> Any:
    """The JSON value of a certificate file. Raises CertificateError for anything but plain, exact, bounded JSON."""
    certify(len(text) <= MAX_BYTES, f"{len(text)} bytes; a certificate has at most {MAX_BYTES}.")
    try:
        value = json.loads(text.decode("utf-8"), object_pairs_hook=_without_doubles, parse_float=_no_float, parse_constant=_no_float)
    except UnicodeDecodeError as error:
        raise CertificateError(f"not UTF-8 at byte {error.start}.") from error
    except json.JSONDecodeError as error:
        raise CertificateError(f"not JSON at line {error.lineno}, column {error.colno}: {error.msg}.") from error
    except ValueError as error:
        raise CertificateError("not a certificate: it holds an integer of more digits than are read.") from error
    except RecursionError as error:
        raise CertificateError(f"nested more than {MAX_DEPTH} deep.") from error
    return value


def unpack(data: Any) -> Certificate:
    """The certificate of a JSON value. Raises CertificateError that says where it departs from the format."""
    _bounded(data)
    certify(isinstance(data, dict), "not a JSON object.")
    certify(data.get("schema") == SCHEMA, f"schema is {shown(data.get('schema'))}; this version reads {SCHEMA!r}.")
    _exactly(data, _KEYS | (data.keys() & {"signs"}), "the certificate")
    certify(isinstance(data["claim"], dict), "claim: not an object.")
    claim, same = from_json(data["claim"]), data["claim_sha256"] == claim_hash(data["claim"])
    certify(same, "claim_sha256 is not the hash of the claim: the certificate was made for another claim, or altered.")
    prec = _precision(data["prec"], "the certificate")
    certify(data["verdict"] in VERDICTS, f"verdict is {shown(data['verdict'])}, not one of {', '.join(VERDICTS)}.")
    lines = data["lines"]
    certify(isinstance(lines, list) and len(lines) <= MAX_LINES, f"lines: not a list of at most {MAX_LINES} lines.")
    signs = data.get("signs", [])
    good = isinstance(signs, list) and len(signs) <= MAX_SIGNS and all(isinstance(sign, dict) for sign in signs)
    certify(good, f"signs: not a list of at most {MAX_SIGNS} objects.")
    return Certificate(claim, prec, data["verdict"], tuple(_line(line, number, prec) for number, line in enumerate(lines)), tuple(signs))


def _line(data: Any, number: int, prec: int) -> Line:
    where = f"line {number}"
    certify(isinstance(data, dict), f"{where}: not an object.")
    _exactly(data, frozenset({"rule"} | (data.keys() & _LINE)), where)
    place, parameters, premises = data.get("place", []), data.get("parameters", {}), data.get("premises", [])
    formed = isinstance(data["rule"], str) and isinstance(place, list) and isinstance(parameters, dict)
    certify(formed, f"{where}: rule must be a name, place a list and parameters an object.")
    before = isinstance(premises, list) and all(type(other) is int and 0 <= other < number for other in premises)
    certify(before, f"{where}: premises must be a list of numbers of lines before it.")
    return Line(data["rule"], tuple(place), parameters, tuple(premises), _precision(data.get("prec", prec), where))


def _precision(prec: Any, where: str) -> int:
    allowed = type(prec) is int and prec in PRECISIONS
    certify(allowed, f"{where}: prec is {shown(prec)}, not a number of bits from {PRECISIONS[0]} to {PRECISIONS[-1]}.")
    return int(prec)


def _exactly(data: Mapping[str, Any], keys: frozenset[str], where: str) -> None:
    missing, unknown = sorted(keys - data.keys()), sorted(data.keys() - keys)
    certify(not missing, f"{where}: {', '.join(missing)} missing.")
    certify(not unknown, f"{where}: unknown key{'s' if len(unknown) > 1 else ''} {shown(', '.join(unknown))}.")


def _bounded(data: Any) -> None:
    """Refuse nesting beyond need and binary floats, without recursion."""
    level, depth = [data], 0
    while level:
        depth += 1
        certify(depth <= MAX_DEPTH, f"nested more than {MAX_DEPTH} deep.")
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                below.extend(value.values())
            elif isinstance(value, list):
                below.extend(value)
            elif not (value is None or isinstance(value, str | int)):
                raise CertificateError(f"{shown(value)} is a {type(value).__name__}; certificates hold exact values only.")
        level = below


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        certify(key not in result, f"the key {shown(key)} stands twice in one object.")
        result[key] = value
    return result


def _no_float(text: str) -> NoReturn:
    raise CertificateError(f"{shown(text)} is a binary float; certificates hold exact values only.")
