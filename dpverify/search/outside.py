"""Solvers in processes of their own, killed when their time is up. Nothing that they say is believed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def answer(script: str, question: str, seconds: float) -> str:
    """What a script beside this file writes, asked on its standard input: all of it, or what it had written when its time was up."""
    try:
        # -P: what lies beside the script is not to be imported
        run = subprocess.run(
            [sys.executable, "-P", str(Path(__file__).parent / script)],
            input=question,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,  # what it wrote before it failed may be of use
        )
    except subprocess.TimeoutExpired as late:
        return str(late.stdout or b"", "utf-8", "replace")  # bytes, though text was asked for
    except (subprocess.SubprocessError, OSError, ValueError):
        return ""
    return run.stdout
