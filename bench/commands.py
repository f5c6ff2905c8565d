"""Measure the commands as a user runs them, cold and warm, print a table, and write it to reports/command-bench.md.

Cold has an empty cache and an empty output folder; warm is the same command again. Wall-clock seconds of one run each, start-up included.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MEGABYTE = 10**6

Row = tuple[str, str, str, str, str]


def run(*arguments: str, folder: Path, cache: Path, code: int = 0) -> float:
    """Seconds that `dpverify ARGUMENTS` takes."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DPVERIFY_CACHE_DIR": str(cache), "NO_COLOR": "1"}
    environment.pop("CI", None)
    started = time.perf_counter()
    command = [sys.executable, "-m", "dpverify.cli", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != code:
        raise SystemExit(f"dpverify {' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return time.perf_counter() - started


def rows(scratch: Path) -> Iterator[Row]:
    """One line of the table after the other."""
    cache, out, specs = scratch / "cache", scratch / "out", str(ROOT / "specs")

    def row(what: str, value: float, limit: float | None, unit: str = "s", note: str = "") -> Row:
        kept = "" if limit is None else "yes" if value <= limit else "no"
        return what, f"{value:.3g} {unit}", "" if limit is None else f"{limit:g} {unit}", kept, note

    yield row("`verify specs/`, cold", run("verify", specs, folder=scratch, cache=cache), 60)
    yield row("`verify specs/`, warm", run("verify", specs, folder=scratch, cache=cache), 2, note="every certificate judged by the kernel")
    yield row("`check reports/`", run("check", str(ROOT / "reports"), folder=scratch, cache=cache), 5, note="one process")
    arguments = ("report", specs, "-o", str(out), "--no-audit")
    yield row("`report specs/ --no-audit`, no pictures yet", run(*arguments, folder=scratch, cache=cache), None)
    yield row("`report specs/ --no-audit`, from existing certificates", run(*arguments, folder=scratch, cache=cache), 10)
    yield row("its index.html", (out / "index.html").stat().st_size / MEGABYTE, 5, "MB")
    yield row("its index.md", (out / "index.md").stat().st_size / MEGABYTE, None, "MB")
    project = scratch / "project"
    project.mkdir()
    seconds = [run(*step.split(), folder=project, cache=cache) for step in ("init", "verify", "audit", "report -o report --format sarif")]
    note = ", ".join(f"{step} {value:.1f} s" for step, value in zip(("init", "verify", "audit", "report"), seconds, strict=True))
    yield row("a new project: `init` to green", sum(seconds), 60, note=note)


def main() -> int:
    """Measure, print, write."""
    lines = ["# Commands: times and sizes", "", __doc__.split("\n\n")[1].strip() + " `make bench`.", ""]
    lines += ["| what | measured | limit | kept | |", "|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as scratch:
        for row in rows(Path(scratch)):
            print(" ".join(row), flush=True)
            lines.append(f"| {' | '.join(row)} |")
    (ROOT / "reports" / "command-bench.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
