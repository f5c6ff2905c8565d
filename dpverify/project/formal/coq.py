"""Coq as a program: where it is, the theory compiled once, a file checked within a time limit. Nothing is left half-written."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from dpverify.errors import DpverifyError

INSTALL: Final = "apt-get install coq libcoq-mathcomp-analysis libcoq-interval libcoq-coquelicot"
OPTIONS: Final = ("-q", "-w", "none")
REPLAYS: Final = (
    "replay", "replay_order", "replay_parts", "replay_samples", "replay_selection", "replay_one_way", "replay_kernels",
)  # fmt: skip
"""The files of the theory that certificates are replayed by."""
LIBRARY_SECONDS: Final = 900.0
"""For the theory, which is compiled once."""
AXIOMS: Final = frozenset(
    ("propositional_extensionality", "functional_extensionality_dep", "constructive_indefinite_description"),
)
"""Those of MathComp Analysis."""
OF_REALS: Final = frozenset(
    ("ClassicalDedekindReals.sig_forall_dec", "ClassicalDedekindReals.sig_not_dec", "Classical_Prop.classic", "Epsilon.epsilon_statement"),
)
"""Those of Coq's real numbers, which replays are about, and of their structure in MathComp."""
OF_MACHINE_NUMBERS: Final = frozenset(("PrimInt63", "Uint63", "PrimFloat", "FloatAxioms"))
"""The modules of those of machine integers and floats, by which `interval` calculates."""
_REQUIRED: Final = re.compile(r"^From dpverify Require (?:Import|Export) ([\w\s]+)\.", re.MULTILINE)
_ANSWER: Final = re.compile(r"^(?:Axioms:|Closed under the global context)", re.MULTILINE)
_AXIOM: Final = re.compile(r"^([\w.']+)\s*(?:$|:)", re.MULTILINE)


class CoqError(DpverifyError):
    """Coq is not there, or does not work here; says what is missing and how to get it."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What Coq says of a file. fault: empty where every proof is complete.

    axioms: that what it asks about rests on; each: the same for each question by itself.
    """

    fault: str
    axioms: tuple[str, ...] = ()
    each: tuple[tuple[str, ...], ...] = ()


def program() -> str:
    """The compiler. Raises CoqError where there is none."""
    found = shutil.which("coqc")
    if found is None:
        raise CoqError(f"coqc was not found, so nothing can be replayed. Install it, in Debian: {INSTALL}")
    return found


def theory() -> Path:
    """The folder of the theory: in a checkout specs/formal, else beside the shelf of the package."""
    here = Path(__file__).resolve().parents[2]
    folder = (here / "_shelf" if (here / "_shelf").is_dir() else here.parent) / "specs" / "formal"
    if not (folder / "replay.v").is_file():
        raise CoqError(f"{folder}: the theory is not there. Install dpverify again, or run it from a checkout.")
    return folder


def needed(folder: Path, names: tuple[str, ...] = REPLAYS) -> list[Path]:
    """The files of the theory that others need, in the order in which they are compiled."""
    ordered = dict[str, Path]()

    def visit(name: str) -> None:
        if name not in ordered:
            file = folder / f"{name}.v"
            for other in _required(file):
                visit(other)
            ordered[name] = file

    for name in names:
        visit(name)
    return list(ordered.values())


def _required(file: Path) -> list[str]:
    """The files of the theory that a file names."""
    return [name for names in _REQUIRED.findall(file.read_text(encoding="utf-8")) for name in names.split()]


def compiled_theory(folder: Path | None = None, names: tuple[str, ...] = REPLAYS) -> Path:
    """The theory, compiled as far as these files need it: once for each state of it, in the user's folder for what can be made again."""
    source = theory() if folder is None else folder
    files = needed(source, names)
    digest = sha256("\n".join([program(), *(file.read_text(encoding="utf-8") for file in files)]).encode()).hexdigest()[:24]
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dpverify-theory"
    made = base / digest
    if made.is_dir():
        return made
    base.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=base) as place:
        work = Path(place) / "theory"
        work.mkdir()
        _compile(files, work)
        with contextlib.suppress(OSError):  # another run was faster
            work.rename(made)
    return made


def _compile(files: list[Path], work: Path) -> None:
    """Compile files, in the order of their needs, into a folder: as many at once as there are cores."""
    begun = dict[str, Future[None]]()

    def one(file: Path, before: list[Future[None]]) -> None:
        for other in before:
            other.result()
        shutil.copy(file, work / file.name)
        fault, _ = _run(work / file.name, work, LIBRARY_SECONDS)
        if fault:
            raise CoqError(f"{file} does not compile here: {fault} Are all of these installed? {INSTALL}")

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for file in files:
            begun[file.stem] = pool.submit(one, file, [begun[name] for name in _required(file)])
        try:
            for future in begun.values():
                future.result()
        except BaseException:  # an interrupt too ends what has not begun
            pool.shutdown(cancel_futures=True)
            raise


def check(text: str, compiled: Path, seconds: float | None, name: str = "claim") -> Checked:
    """Whether Coq accepts a file, and what its last theorem rests on, where it asks that."""
    with tempfile.TemporaryDirectory(prefix="dpverify-replay-") as place:
        file = Path(place) / f"{name}.v"
        file.write_text(text, encoding="utf-8")
        fault, output = _run(file, compiled, seconds)
    each = () if fault else tuple(axioms(output))
    return Checked(fault, tuple(dict.fromkeys(name for names in each for name in names)), each)


def axioms(output: str) -> Iterator[tuple[str, ...]]:
    """The names in what each `Print Assumptions` writes."""
    _, *answers = _ANSWER.split(output)
    for answer in answers:
        yield tuple(_AXIOM.findall(answer))


def _run(file: Path, compiled: Path, seconds: float | None) -> tuple[str, str]:
    """What is wrong with a file, and what Coq writes."""
    command = [program(), *OPTIONS, "-Q", str(compiled), "dpverify", str(file)]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
        cwd=file.parent, start_new_session=True,
    )  # fmt: skip
    try:
        output, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return f"it took longer than {seconds:g} seconds.", ""
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return _fault(process.returncode, errors), output


def _fault(code: int, errors: str) -> str:
    """What is wrong, in one line that is never empty unless the code is 0."""
    if code == 0:
        return ""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    place = next((re.sub(r'^File ".*?", ', "", line).rstrip(":") for line in lines if line.startswith("File ")), "")
    said = " ".join(line for line in lines if not line.startswith("File "))[:300] or f"coqc ended with the code {code}"
    return f"{place}: {said}".removeprefix(": ").removesuffix(".") + "."
