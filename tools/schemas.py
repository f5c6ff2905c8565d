"""What the JSON Schemas say of kinds of mechanisms, from the declarations of these: python tools/schemas.py.

All else in a schema is written by hand and stays as it is. A test fails where a schema is not what this makes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from dpverify.catalogue.schema import certificate, claim_file  # noqa: E402

FOLDER = ROOT / "dpverify" / "schemas"
DERIVED: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {"claim-file": claim_file, "certificate": certificate}
WIDE = 160


def text(value: Any, indent: int = 0, before: int = 0) -> str:
    """JSON with what fits on one line on one. indent: of the line that it begins on; before: what stands there already, and after."""
    line = json.dumps(value, ensure_ascii=False)
    if indent + before + len(line) <= WIDE and indent:
        return line
    inside = indent + 2
    if isinstance(value, dict) and value:
        items = [f"{json.dumps(key)}: {text(item, inside, len(json.dumps(key)) + 3)}" for key, item in value.items()]
        ends = "{}"
    elif isinstance(value, list) and value:
        items, ends = [text(item, inside, 1) for item in value], "[]"
    else:
        return line
    gap = "\n" + " " * inside
    return f"{ends[0]}{gap}{f',{gap}'.join(items)}\n{' ' * indent}{ends[1]}"


def made(name: str) -> str:
    """The text of a schema, with what is derived put in its place."""
    written = json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    return text(DERIVED[name](written)) + "\n"


if __name__ == "__main__":
    for name in DERIVED:
        (FOLDER / f"{name}.schema.json").write_text(made(name), encoding="utf-8")
