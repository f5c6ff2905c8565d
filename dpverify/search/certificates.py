"""Certificates written: the claim, its hash and the lines of its proof, as `language.certificate` reads them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from dpverify.trusted.language.certificate import SCHEMA, Line
from dpverify.trusted.language.model import Claim, claim_hash, to_json


def pack(claim: Claim, prec: int, verdict: str, lines: Iterable[Line]) -> dict[str, Any]:
    """The JSON object of a certificate. prec: of the lines that say no other."""
    canonical = to_json(claim)
    return {
        "schema": SCHEMA,
        "claim": canonical,
        "claim_sha256": claim_hash(canonical),
        "prec": prec,
        "verdict": verdict,
        "lines": [_packed(line, prec) for line in lines],
    }


def _packed(line: Line, prec: int) -> dict[str, Any]:
    """What a line is, without what it need not say."""
    found: dict[str, Any] = {"rule": line.rule}
    found |= {"place": list(line.place)} if line.place else {}
    found |= {"parameters": dict(line.parameters)} if line.parameters else {}
    found |= {"premises": list(line.premises)} if line.premises else {}
    return found | ({"prec": line.prec} if line.prec != prec else {})


def encode(data: Mapping[str, Any]) -> str:
    """The text of a packed certificate: stable, so that equal certificates are equal files."""
    return json.dumps(data, indent=1, sort_keys=True, ensure_ascii=True, allow_nan=False) + "\n"
