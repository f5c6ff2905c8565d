"""Put the audits of libraries together: python tools/libraries.py LIBRARY..., after each has its own report in build/libraries.

Writes reports/libraries.md and reports/libraries.json: the findings, with the versions that they are of.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BUILT, MADE = ROOT / "build" / "libraries", ROOT / "reports" / "libraries"
NAMES = {
    "opendp": "opendp", "diffprivlib": "diffprivlib", "pydp": "python-dp", "numpy": "numpy", "smartnoise": "smartnoise-sql",
    "tmlt": "tmlt.core", "opacus": "opacus",
}  # fmt: skip
"""What each is called on PyPI."""


def versions(library: str) -> dict[str, str]:
    """The versions in a library's environment: its own, and those of what its noise comes from."""
    python = ROOT / ".venv-libraries" / library / "bin" / "python"
    said = subprocess.run([python, "-m", "pip", "list", "--format=json"], capture_output=True, text=True, check=False)
    held = {package["name"].lower(): package["version"] for package in json.loads(said.stdout or "[]")}
    return {name: held[name] for name in dict.fromkeys((NAMES[library], "opendp", "numpy", "torch")) if name in held}


def together(libraries: list[str]) -> tuple[str, dict[str, Any]]:
    """The page, and the answer in JSON: that of the first library with the audits of all."""
    parts, answer, lines = [], dict[str, Any](), []
    for library in libraries:
        folder = BUILT / library
        if not (folder / "results.json").is_file():
            lines.append(f"- {NAMES[library]}: not installed here, so not audited")
            continue
        found = versions(library)
        lines.append(f"- {library}: {', '.join(f'{name} {version}' for name, version in found.items())}")
        result = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        for key, value in result.items():
            answer[key] = [*answer.get(key, []), *value] if isinstance(value, list) else answer.get(key, value)
        page = re.sub(r"^#", "##", (folder / "results.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
        parts.append(f"## {NAMES[library]} {found.get(NAMES[library], '')}\n\n{page.strip()}")
    versions_told = "\n".join(lines)
    return f"# Audits of libraries\n\n## Versions\n\n{versions_told}\n\n" + "\n\n".join(parts) + "\n", answer


if __name__ == "__main__":
    page, answer = together(sys.argv[1:])
    MADE.with_suffix(".md").write_text(page, encoding="utf-8")
    MADE.with_suffix(".json").write_text(json.dumps(answer, indent=1) + "\n", encoding="utf-8")
