"""A page as PDF, printed by a Chromium that is installed; no Python package is needed for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from dpverify.cli.output import scratch_of
from dpverify.trusted.kernel.errors import DpverifyError

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
"""What browsers that can print without a screen are called on the path."""
PATIENCE: Final = 300
"""Seconds until a browser that does not end is given up."""
_FLAGS: Final = (
    "--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


class PrintError(DpverifyError):
    """No browser that prints, or one that could not."""


def browser() -> str:
    """The browser that prints: CHROMIUM where that is set, else the first of the usual names on the path. Raises PrintError."""
    named = os.environ.get("CHROMIUM")
    paths = [path for path in map(shutil.which, [named] if named else NAMES) if path]
    if not paths:
        looked = f"CHROMIUM is {named!r}, which is no program" if named else f"none of {', '.join(NAMES)} is on the path"
        raise PrintError(
            f"--pdf needs Chromium or Chrome, and {looked}. Install one, such as with `apt-get install chromium`, or set CHROMIUM to its "
            "path; or print index.html from any browser."
        )
    return paths[0]


def print_picture(svg: str, target: Path, program: str) -> None:
    """Print a picture on paper of its own size. program: of `browser()`. Raises PrintError."""
    from dpverify.report.page.figures import size

    width, height = size(svg)
    style = f"@page{{size:{width}px {height}px;margin:0}}html,body{{margin:0}}svg{{display:block;width:{width}px;height:{height}px}}"
    with tempfile.TemporaryDirectory() as scratch:
        page = Path(scratch, "picture.html")
        page.write_text(f'<!doctype html><meta charset="utf-8"><style>{style}</style>{svg}', encoding="utf-8")
        print_page(page, target, program)


def print_page(page: Path, target: Path, program: str) -> None:
    """Print a page, whole or not at all, with everything unfolded. program: of `browser()`. Raises PrintError."""
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch, "page.pdf")
        # as root Chromium has no sandbox
        rooted = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        command = [program, *_FLAGS, *rooted, f"--user-data-dir={scratch}", "--no-pdf-header-footer", f"--print-to-pdf={made}"]
        try:
            done = subprocess.run([*command, page.resolve().as_uri()], capture_output=True, text=True, timeout=PATIENCE, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise PrintError(f"{program} did not print {page}: {error}. Print the page from a browser instead.") from error
        if not made.is_file():
            last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise PrintError(f"{program} did not print {page}: exit code {done.returncode}, {last}. Print the page from a browser instead.")
        neighbour = scratch_of(target)
        shutil.move(made, neighbour)
        neighbour.replace(target)
