"""The programs of this checkout as processes that need not import all of it again: copies of one process that has.

`program(folder, name, module, ...)` writes a command that runs `python -m module` in its own folder and environment, with its own input
and output. The process that is copied is started with the first of them, and ends with the process that runs the tests.
"""

import atexit
import io
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from runpy import run_module
from shutil import rmtree
from typing import Any

ROOT = Path(__file__).parents[1]
LOADED = (
    "dpverify.cli.claims", "dpverify.search.verify", "dpverify.search.events", "dpverify.search.additive.modulus",
    "dpverify.search.composition.privacy_profile", "dpverify.report.page", "dpverify.pictures", "dpverify.audits", "dpverify.audits.run",
)  # fmt: skip
CLIENT = """
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as asked:
    asked.connect(sys.argv[1])
    text = json.dumps({"module": sys.argv[2], "arguments": sys.argv[3:], "folder": os.getcwd(), "environment": dict(os.environ)})
    socket.send_fds(asked, [b"\\n"], [0, 1, 2])
    asked.sendall(text.encode())
    asked.shutdown(socket.SHUT_WR)
    said = asked.recv(16)
code = int(said or b"70")
if code < 0:
    os.kill(os.getpid(), -code)
sys.exit(code)
"""


def program(folder: Path, name: str, *arguments: str) -> None:
    """Write a command of that name into a folder. arguments: the module and what stands before those that it is given."""
    file = folder / name
    own = " ".join(f'"{word}"' for word in (sys.executable, "-I", "-S", _client(), _address(), *arguments))
    file.write_text(f'#!/bin/sh\nexec {own} "$@"\n')
    file.chmod(0o755)


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="dpverify-preloaded-"))


@cache
def _client() -> str:
    file = _folder() / "client.py"
    file.write_text(CLIENT)
    return str(file)


@cache
def _address() -> str:
    """Where the process that is copied listens."""
    address = _folder() / "socket"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = subprocess.Popen([sys.executable, __file__, str(address)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
    assert started.stdin is not None and started.stdout is not None
    atexit.register(started.stdin.close)  # without which it ends
    assert started.stdout.readline() == b"ready\n"
    return str(address)


# -- the process that is copied -------------------------------------------------------------------------------


def serve(address: str) -> int:
    """Start a copy for every question, until nobody is left to ask. Returns in each copy, with its exit code."""
    for name in LOADED:
        import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as asked:
        asked.bind(address)
        asked.listen()
        os.write(1, b"ready\n")
        if os.fork():
            sys.stdin.read()
            rmtree(Path(address).parent)
            os.killpg(0, signal.SIGKILL)
        while True:
            question, _ = asked.accept()
            if not os.fork():
                break
            question.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with question:
        _, streams, _, _ = socket.recv_fds(question, 1, 3)
        told = json.loads(question.makefile("rb").read())
        child = os.fork()
        if child:
            question.sendall(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())
            os._exit(0)
    return _run(streams, **told)


def _run(streams: Sequence[int], module: str, arguments: list[str], folder: str, environment: dict[str, str]) -> Any:
    """What `python -m module` is in a process of its own."""
    os.setpgid(0, 0)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path[0] = folder
    sys.argv[:] = [module, *arguments]
    names = (("stdin", "r", "strict"), ("stdout", "w", "strict"), ("stderr", "w", "backslashreplace"))
    for number, (name, mode, errors) in enumerate(names):
        raw = io.FileIO(number, mode, closefd=False)
        buffered = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
        stream = io.TextIOWrapper(buffered, encoding="utf-8", errors=errors, line_buffering=name == "stderr")
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    run_module(module, run_name="__main__", alter_sys=True)
    return 0


if __name__ == "__main__":
    os.setpgid(0, 0)
    sys.exit(serve(sys.argv[1]))
