"""By what a verdict is confirmed besides the kernel: the second checker, and Coq where it has accepted the replay of its certificate."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from threading import Lock, Timer
from typing import Any, Final

from dpverify.project.formal import replayed
from dpverify.project.formal.replay import replay
from dpverify.project.formal.terms import NotReplayedError
from dpverify.trusted.kernel.certificate import unpack
from dpverify.trusted.kernel.judgement import Judgement

KERNEL: Final = "kernel"
SECOND: Final = "second checker"
COQ: Final = "Coq"
SECONDS: Final = 20.0
"""For one opinion of the second checker; what it has not decided by then it has not confirmed."""


def confirmed(judgement: Judgement, certificate: Mapping[str, Any]) -> tuple[str, ...]:
    """The ways that a verdict is confirmed by, the kernel first; none where nothing is decided.

    The second checker is asked now. Coq is not run: it counts where the file for the whole claim, with the theory as it is, is one that Coq
    is recorded to have accepted.
    """
    if judgement.verdict == "UNKNOWN":
        return ()
    second, coq = _second().verdict(certificate) == judgement.verdict, _by_coq(judgement, certificate)
    return (KERNEL, *[SECOND] * second, *[COQ] * coq)


def _by_coq(judgement: Judgement, certificate: Mapping[str, Any]) -> bool:
    try:
        made = replay(unpack(certificate), judgement, "")
    except NotReplayedError:
        return False
    return made.whole and replayed.is_recorded(made.text)


class SecondChecker:
    """The second checker as a process of its own, which shares nothing with this one; it is started when it is first asked."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = Lock()

    def verdict(self, certificate: Mapping[str, Any]) -> str | None:
        """What it says of a certificate: PROVED, REFUTED or UNKNOWN; None where it refuses or has not decided, or is not there."""
        if not _program().is_file():
            return None
        with self._lock:
            try:
                answer = json.loads(self._asked(json.dumps(certificate).encode() + b"\n"))
                return str(answer["verdict"]) if answer["kind"] == "decided" else None
            except (OSError, ValueError, TypeError, LookupError):
                self.end()
                return None
            except BaseException:  # an interruption: what comes of it now is no answer to the next question
                self.end()
                raise

    def _asked(self, line: bytes) -> bytes:
        if self._process is None or self._process.poll() is not None:
            command = [sys.executable, "-I", str(_program()), "-"]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        to, answers = self._process.stdin, self._process.stdout
        assert to is not None and answers is not None
        limit = Timer(SECONDS, self._process.kill)
        limit.start()
        try:
            to.write(line)
            to.flush()
            return answers.readline()
        finally:
            limit.cancel()

    def end(self) -> None:
        """End the process; the next question starts another."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _program() -> Path:
    """The second checker: in a checkout checker/check.py, else beside the shelf of the package."""
    here = Path(__file__).resolve().parents[1]
    return (here / "_shelf" if (here / "_shelf").is_dir() else here.parent) / "checker" / "check.py"


_asked_by: dict[int, SecondChecker] = {}


def _second() -> SecondChecker:
    """That of this process: one that was started before a fork answers its parent."""
    return _asked_by.setdefault(os.getpid(), SecondChecker())
