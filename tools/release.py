"""Whether this checkout may be released: version, changelog, tree and tag agree. Lists all that is in the way.

    python tools/release.py
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def faults(root: Path) -> Iterator[str]:
    """What is in the way of a release, a sentence each."""
    version = re.search(r'__version__ = "([^"]+)"', (root / "dpverify" / "ground" / "version.py").read_text(encoding="utf-8"))[1]
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = {found[1]: found[2] for found in re.finditer(r"^## \[([^\]]+)\](.*)$", changelog, re.MULTILINE)}
    if not re.fullmatch(r" - \d{4}-\d{2}-\d{2}", sections.get(version, "")):
        yield f"CHANGELOG.md has no section `## [{version}] - YYYY-MM-DD`. Rename [Unreleased], and open an empty one above it."
    unreleased = re.search(r"^## \[Unreleased\]\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if unreleased is None or unreleased[1].strip():
        yield "CHANGELOG.md has no empty section `## [Unreleased]`. What is under it belongs to this version."
    if git(root, "status", "--porcelain"):
        yield "The tree has changes that are not committed. Commit them, so that the tag holds what is built."
    tagged = git(root, "rev-parse", "--verify", "--quiet", f"refs/tags/v{version}^{{commit}}")
    if tagged and tagged != git(root, "rev-parse", "HEAD"):
        yield f"The tag v{version} is at another commit. Raise the version in dpverify/runtime/version.py."


def git(root: Path, *arguments: str) -> str:
    """What git says; nothing where it knows nothing."""
    return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False).stdout.strip()


def main() -> int:
    """0: it may be released. 1: what is in the way was listed."""
    found = list(faults(ROOT))
    print("\n".join(found) or "version, changelog, tree and tag agree")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
