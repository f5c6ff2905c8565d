"""The key of pyproject.toml that says which baseline the runs of a project read."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Final

from dpverify.errors import ProjectError
from dpverify.project.files import Action, Planned, read

_HEAD: Final = re.compile(r"^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*dpverify[ \t]*\][ \t]*(?:#[^\n]*)?\r?$\n?", re.MULTILINE)


def with_baseline(file: Path, name: str) -> Planned:
    """pyproject.toml with `baseline = name` in [tool.dpverify], which has none yet, and all else as it is.

    Raises ProjectError where that cannot be said in one more line.
    """
    text = read(file)
    end = "\r\n" if "\r\n" in text else "\n"
    line = f"baseline = {json.dumps(name, ensure_ascii=False)}{end}"
    heads = list(_HEAD.finditer(text))
    if heads:
        place = heads[0].end()
        new = text[:place] + ("" if text[:place].endswith("\n") else end) + line + text[place:]
    else:
        new = text + ("" if not text or text.endswith("\n") else end) + (end if text else "") + f"[tool.dpverify]{end}{line}"
    before = tomllib.loads(text)
    try:
        after = tomllib.loads(new)
        said = after["tool"]["dpverify"].pop("baseline")
        if not after["tool"]["dpverify"] and not before.get("tool", {}).get("dpverify"):
            after["tool"].pop("dpverify")
            before.get("tool", {}).pop("dpverify", None)
        whole = said == name and {**after, "tool": after["tool"] or None} == {**before, "tool": before.get("tool") or None}
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError):
        whole = False
    if not whole:
        raise ProjectError(f"{file}: no line can be added to its [tool.dpverify].")
    return Planned(file, new, Action.EXTEND, "baseline")
