"""What an event is translated into, as a claim and as a claim file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dpverify.accounting.translate import Table
from dpverify.catalogue import Stated, read_tables


def stated(table: Table, name: str = "events", **asked: Any) -> Stated:
    """The claim of a mechanism. asked: what it says, "tight" or exact numbers."""
    return read_tables(name, _document(table, asked)).claims[0]


def claim_text(table: Table, heading: str = "", **asked: Any) -> str:
    """The claim file of a mechanism."""
    document = _document(table, asked)
    lines = [f"# {line}" for line in heading.splitlines()]
    lines += ["[mechanism]", *(f"{key} = {_toml(value)}" for key, value in document["mechanism"].items())]
    lines += ["", "[[claim]]", *(f"{key} = {_toml(value)}" for key, value in document["claim"][0].items())]
    return "\n".join(lines) + "\n"


def _document(table: Table, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What a claim file says: a sensitivity belongs to the claim where the mechanism is no combinator."""
    mechanism = {key: _plain(value) for key, value in table.items()}
    claim = {key: _plain(value) for key, value in asked.items()}
    if "sensitivity" in mechanism:
        claim = {"sensitivity": mechanism.pop("sensitivity"), **claim}
    return {"mechanism": mechanism, "claim": [claim]}


def _plain(value: Any) -> Any:
    """A value as TOML holds it: integers, and all other numbers as text."""
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 and abs(value) < 2**63 else str(value)
    return value


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list):
        inside = [_toml(one) for one in value]
        if any(isinstance(one, Mapping) for one in value):
            return "[\n" + "".join(f"  {one},\n" for one in inside) + "]"
        return f"[{', '.join(inside)}]"
    return json.dumps(value) if isinstance(value, str) else str(value)
