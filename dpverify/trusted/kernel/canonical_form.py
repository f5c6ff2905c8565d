"""The canonical form of a claim: one JSON value for each, whose hash binds a certificate to it.

Values are written by what they are and read by the types of the fields that hold them. What is read must write as it was: so nothing
that is unknown, doubled, left out or written in another way passes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from fractions import Fraction
from functools import cache
from types import NoneType
from typing import Any, Final, get_args, get_origin, get_type_hints

from dpverify.trusted.kernel.errors import CertificateError, ExprError
from dpverify.trusted.kernel.expr import Expr, Num, format_expr, parse
from dpverify.trusted.kernel.fitting import require_fitting
from dpverify.trusted.kernel.model import KINDS, LEFT_OUT, Claim, Mechanism, OnLine, Part, RecordSummand, kind_of, once, repeated

TIGHT: Final = "tight"
_ALWAYS: Final = ("mechanism", "mechanism_name", "name", "epsilon", "delta", "sensitivity", "query", "domains")
"""What is written of every claim; the rest only where it is not empty."""
_FRACTION: Final = re.compile(r"-?\d+(/\d+)?", re.ASCII)


def to_json(claim: Claim) -> dict[str, Any]:
    """The canonical form of a claim: names, strings, lists; every number exact."""
    names = dict.fromkeys((*_ALWAYS, *(f.name for f in fields(claim))))
    held = {name: write(value) for name in names if (value := getattr(claim, name)) or name in _ALWAYS}
    return held | {"domains": dict(held["domains"])} | {name: TIGHT for name in ("epsilon", "delta") if held[name] is None}


def claim_hash(canonical: Mapping[str, Any]) -> str:
    """The SHA-256 of a claim's canonical form."""
    text = json.dumps(canonical, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def from_json(data: Any) -> Claim:
    """The claim of a canonical form. Raises CertificateError for anything that `to_json` could not have written, or that does not fit."""
    if not (isinstance(data, dict) and isinstance(data.get("domains", {}), dict)):
        raise CertificateError("the claim cannot be read: it is no object, or its 'domains' are none.")
    listed = {"domains": list(data["domains"].items())} if "domains" in data else {}
    tight = {name: None for name in ("epsilon", "delta") if data.get(name) == TIGHT}
    claim: Claim = read(Claim, {**data, **listed, **tight})
    require_fitting(claim)
    if claim_hash(to_json(claim)) != claim_hash(data):  # by their texts: in Python true == 1
        raise CertificateError("the claim is not in canonical form.")
    return claim


def exact_fraction(text: Any) -> Fraction:
    """The rational that "a" or "a/b" writes. Raises ValueError for other text, such as powers of ten that would be enormous."""
    if not isinstance(text, str) or not _FRACTION.fullmatch(text):
        raise ValueError(f"{str(text)[:40]!r} is not a fraction of integers")
    return Fraction(text)


def write(value: Any) -> Any:
    """The canonical form of an object that `read` reads."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, tuple):
        return [write(item) for item in value]
    if isinstance(value, Expr):
        return format_expr(value)
    if isinstance(value, Part):
        own, times = once(value) if value == Part(value.mechanism) else (value, Num(Fraction(1)))
        return {f.name: write(getattr(own, f.name)) for f in fields(Part) if f.name != "sums" or own.sums} | {"times": format_expr(times)}
    left_out = LEFT_OUT if isinstance(value, Mechanism | RecordSummand) else ()
    held = {f.name: write(getattr(value, f.name)) for f in fields(value) if f.name not in left_out or getattr(value, f.name)}
    return {"kind": kind_of(value), **held} if isinstance(value, Mechanism) else held


@cache
def _types(kind: type) -> Mapping[str, Any]:
    """The types of the fields of a class."""
    return get_type_hints(kind)


def read(kind: type, data: Any) -> Any:
    """The object of a class with the fields that are given. Raises CertificateError that names the innermost key that cannot be read."""
    if not isinstance(data, dict):
        raise CertificateError(f"the claim cannot be read: {shown(data)} stands where an object does.")
    for field in fields(kind):
        if field.name not in data and field.default is MISSING:
            raise CertificateError(f"the claim cannot be read: the key {field.name!r} is missing in {shown(data)}.")
    return kind(**{name: _held(data, name, wanted) for name, wanted in _types(kind).items() if name in data})


def _held(data: Mapping[str, Any], key: str, wanted: Any) -> Any:
    try:
        return _decoded(wanted, data[key])
    except ExprError as error:
        raise CertificateError(f"the claim cannot be read: {key!r} is no expression: {error}") from error
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise CertificateError(f"the claim cannot be read: {key!r} is {shown(data[key])}, which dpverify does not write there.") from error


def shown(value: Any) -> str:
    """The start of a value, for errors."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _decoded(wanted: Any, value: Any) -> Any:
    """What `write` has written of a value of this type."""
    if wanted in _DECODERS:
        return _DECODERS[wanted](value)
    if isinstance(wanted, type) and is_dataclass(wanted):
        return read(wanted, value)
    items = get_args(wanted)
    if NoneType in items:
        return None if value is None else _decoded(items[0], value)
    if Ellipsis in items:
        return tuple(_decoded(items[0], item) for item in value)
    if get_origin(wanted) is tuple and len(items) == len(value):
        return tuple(_decoded(item, inside) for item, inside in zip(items, value, strict=True))
    raise TypeError(f"{value!r} is not a {wanted}")


def _mechanism(data: Any) -> Any:
    if not (isinstance(data, dict) and isinstance(data.get("kind"), str) and data["kind"] in KINDS):
        raise CertificateError(f"the claim cannot be read: {shown(data)} stands where a mechanism of a known kind does.")
    return read(KINDS[data["kind"]], data)


def _part(data: Any) -> Part:
    found = read(Part, data)
    return repeated(found, _held(data, "times", Expr)) if "times" in data else found


def _noise(data: Any) -> Any:
    found = _mechanism(data)
    if not isinstance(found, OnLine):
        raise TypeError("a selection holds what is no noise on the line")
    return found


_DECODERS: Final[Mapping[Any, Callable[[Any], Any]]] = {
    Expr: parse, Expr | None: lambda text: None if text is None else parse(text), str: str, bool: bool, int: int, Fraction: exact_fraction,
    Mechanism: _mechanism, Part: _part, OnLine: _noise, OnLine | None: lambda data: None if data is None else _noise(data),
}  # fmt: skip
