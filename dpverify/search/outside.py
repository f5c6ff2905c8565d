"""Solvers in processes of their own, killed when their time is up. Nothing that they say is believed."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Final

PATIENCE: Final = 12


def answer(script: Path, question: str, seconds: float) -> str:
    """What a script writes, asked on its standard input: all of it, or what it had written when its time was up.

    seconds: of the processor, which the script is told and holds itself to (`resource`), so that a busy machine finds what a quiet one
    finds. By the clock it has PATIENCE times as long.
    """
    try:
        # -P: what lies beside the script is not to be imported
        run = subprocess.run(
            [sys.executable, "-P", str(script), str(math.ceil(seconds))],
            input=question,
            capture_output=True,
            text=True,
            timeout=PATIENCE * seconds,
            check=False,  # what it wrote before it failed may be of use
        )
    except subprocess.TimeoutExpired as late:
        return str(late.stdout or b"", "utf-8", "replace")  # bytes, though text was asked for
    except (subprocess.SubprocessError, OSError, ValueError):
        return ""
    return run.stdout
