"""Coq as a program: where it is, the theory compiled once, a file checked within a time limit. Nothing is left half-written."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Final

from dpverify.errors import DpverifyError

INSTALL: Final = "apt-get install coq libcoq-mathcomp-analysis libcoq-interval libcoq-coquelicot"
OPTIONS: Final = ("-q", "-w", "none")
REPLAYS: Final = (
    "replay", "replay_order", "replay_parts", "replay_samples", "replay_selection", "replay_one_way", "replay_kernels",
)  # fmt: skip
"""The files of the theory that certificates are replayed by."""
Begun = Callable[[int], contextlib.AbstractContextManager[Callable[[int], None]]]
"""Told how many things are begun; what it returns is told, as a context, how many are done."""
LIBRARY_SECONDS: Final = 900.0
"""For the theory, which is compiled once."""
_LAST: Final = ("propositional_extensionality", "functional_extensionality_dep", "constructive_indefinite_description")
AXIOMS: Final = frozenset(f"mathcomp.{folder}.boolp.{name}" for folder in ("classical", "analysis") for name in _LAST)
"""Those of MathComp Analysis, by their whole names; they have stood in two of its folders."""
OF_REALS: Final = frozenset(
    (
        "Coq.Reals.ClassicalDedekindReals.sig_forall_dec", "Coq.Reals.ClassicalDedekindReals.sig_not_dec",
        "Coq.Logic.FunctionalExtensionality.functional_extensionality_dep", "Coq.Logic.Classical_Prop.classic",
        "Coq.Logic.Epsilon.epsilon_statement",
    )
)  # fmt: skip
"""Those of Coq's real numbers, which replays are about, and of their structure in MathComp."""
OF_MACHINE_NUMBERS: Final = frozenset(
    (
        "Coq.Numbers.Cyclic.Int63.PrimInt63", "Coq.Numbers.Cyclic.Int63.Uint63", "Coq.Floats.PrimFloat", "Coq.Floats.FloatAxioms",
    )
)  # fmt: skip
"""The modules of those of machine integers and floats, by which `interval` calculates."""
_REQUIRED: Final = re.compile(r"^From dpverify Require (?:Import|Export) ([\w\s]+)\.", re.MULTILINE)
_AXIOM: Final = re.compile(r"([\w.']+)\s*(?::.*)?")
_FETCHED: Final = re.compile(r"Fetching opaque proofs from disk for [\w.]+")
_LOCATED: Final = re.compile(r"(?:Constant|Inductive|Constructor|Variable) ([\w.']+)")
_NO_AXIOMS: Final = ("Module ", "Library ", "Notation ", "Ltac ", "Section ")
"""What else may have the last name of an axiom."""
_PARTS: Final = (
    "Theory", "Axioms", "Constants/Inductives relying on type-in-type", "Constants/Inductives relying on unsafe (co)fixpoints",
    "Inductives whose positivity is assumed",
)  # fmt: skip
"""What coqchk says of the modules that it has read."""


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
    if not (folder / "replays" / "replay.v").is_file():
        raise CoqError(f"{folder}: the theory is not there. Install dpverify again, or run it from a checkout.")
    return folder


def files_of(folder: Path) -> dict[str, Path]:
    """The files of a theory by their names, which no two have in common, whatever their folders. Raises CoqError where two have."""
    found = dict[str, Path]()
    for file in sorted(folder.rglob("*.v")):
        if found.setdefault(file.stem, file) != file:
            raise CoqError(f"{found[file.stem]} and {file} have one name; give one of them another.")
    return found


def needed(folder: Path, names: Iterable[str] = REPLAYS) -> list[Path]:
    """The files of the theory that these need, and they themselves, in the order in which they are compiled."""
    held, ordered = files_of(folder), dict[str, Path]()

    def visit(name: str) -> None:
        if name not in ordered:
            for other in required(held[name]):
                visit(other)
            ordered[name] = held[name]

    for name in names:
        visit(name)
    return list(ordered.values())


def required(file: Path) -> list[str]:
    """The files of the theory that a file names."""
    return [name for names in _REQUIRED.findall(file.read_text(encoding="utf-8")) for name in names.split()]


def module(file: Path, folder: Path) -> str:
    """The whole name that a file of a theory has in Coq."""
    return ".".join(("dpverify", *file.relative_to(folder).with_suffix("").parts))


@contextlib.contextmanager
def nobody(_: int) -> Iterator[Callable[[int], None]]:
    """Nobody who is told."""
    yield lambda done: None


def compiled_theory(folder: Path | None = None, names: Iterable[str] = REPLAYS, begun: Begun = nobody) -> Path:
    """The theory, compiled as far as these files need it: once for each state of it, in the user's folder for what can be made again.

    begun: told how many files are to be compiled, where any are.
    """
    source = theory() if folder is None else folder
    files = needed(source, names)
    texts = (f"{file.relative_to(source)}\n{file.read_text(encoding='utf-8')}" for file in files)
    digest = sha256("\n".join([program(), *texts]).encode()).hexdigest()[:24]
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dpverify-theory"
    made = base / digest
    if made.is_dir():
        return made
    try:
        base.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        way = "Name another folder in XDG_CACHE_HOME."
        raise CoqError(f"{base}: the compiled theory cannot be kept there: {error.strerror}. {way}") from error
    with tempfile.TemporaryDirectory(dir=base) as place:
        work = Path(place) / "theory"
        work.mkdir()
        with begun(len(files)) as done:
            number = count(1)
            compile_files(files, source, work, os.cpu_count() or 1, end=lambda file, seconds: done(next(number)))
        with contextlib.suppress(OSError):  # another run was faster
            work.rename(made)
    return made


def compile_files(
    files: list[Path], folder: Path, work: Path, jobs: int,
    begin: Callable[[Path], None] = lambda _: None, end: Callable[[Path, float], None] = lambda _, seconds: None,
) -> None:  # fmt: skip
    """Compile files of a theory, in the order of their needs, into a folder of the same shape; what else they need is there.

    jobs: how many at once; begin and end: are called before and after each, the latter with its seconds. Raises CoqError.
    """
    left = {file.stem: file for file in files}
    before = {name: left.keys() & required(file) for name, file in left.items()}
    running = dict[Future[float], Path]()

    def one(file: Path) -> float:
        begin(file)
        copy, start = work / file.relative_to(folder), time.monotonic()
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copy)
        fault, _ = _run(copy, work, LIBRARY_SECONDS)
        if fault:
            raise CoqError(f"{file} does not compile here: {fault} Are all of these installed? {INSTALL}")
        return time.monotonic() - start

    with ThreadPoolExecutor(jobs) as pool:  # an interrupt waits for the files that have begun, and no other begins
        while left or running:
            ready = [name for name in left if not before[name] & {*left, *(file.stem for file in running.values())}]
            for name in ready[: jobs - len(running)]:
                file = left.pop(name)
                running[pool.submit(one, file)] = file
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                end(running.pop(future), future.result())


def check(text: str, compiled: Path, seconds: float | None, name: str = "claim") -> Checked:
    """Whether Coq accepts a file, and what its last theorem rests on, where it asks that."""
    with _file(text, name) as file:
        fault, output = _run(file, compiled, seconds)
    try:
        each = () if fault else tuple(axioms(output))
    except CoqError as error:
        return Checked(str(error))
    return Checked(fault, tuple(dict.fromkeys(name for names in each for name in names)), each)


@contextlib.contextmanager
def _file(text: str, name: str) -> Iterator[Path]:
    """A file in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="dpverify-replay-") as place:
        file = Path(place) / f"{name}.v"
        file.write_text(text, encoding="utf-8")
        yield file


def axioms(output: str) -> list[tuple[str, ...]]:
    """The names in what each `Print Assumptions` writes. Raises CoqError with a line that is not understood.

    Such a line may say that something is assumed to be guarded or positive, relies on an unsafe hierarchy, or is a section's.
    """
    answers: list[list[str]] = []
    last = ""
    for line in output.splitlines():
        if line == "Axioms:" or line == "Closed under the global context":
            answers.append([])
        elif answers and last != "Closed under the global context" and (found := _AXIOM.fullmatch(line)):
            answers[-1].append(found[1])
        elif not _FETCHED.fullmatch(line) and not (line.strip() and line.startswith(" ") and answers and answers[-1]):
            raise CoqError(f"what Coq answers is not understood: {line!r:.200}.")
        last = line if line.startswith(("Axioms:", "Closed")) else last
    return [tuple(names) for names in answers]


def whole_names(names: Iterable[str], modules: Iterable[str], compiled: Path) -> dict[str, tuple[str, ...]]:
    """For each name as Coq shortens it, all that it may mean by whole names, where these modules of the theory are loaded.

    Raises CoqError.
    """
    asked = sorted(set(names))
    if not asked:
        return {}
    text = f"From dpverify Require {' '.join(modules)}.\n" + "".join(f"Locate {name.rpartition('.')[2]}.\n" for name in asked)
    with _file(text, "names") as file:
        fault, output = _run(file, compiled, LIBRARY_SECONDS)
    if fault:
        raise CoqError(f"what axioms are called is not found: {fault}")
    located = set[str]()
    for line in output.splitlines():
        found = _LOCATED.fullmatch(line)
        if found:
            located.add(found[1])
        elif not line.startswith((" ", *_NO_AXIOMS)):
            raise CoqError(f"what Coq answers is not understood: {line!r:.200}.")
    return {name: tuple(sorted(one for one in located if one == name or one.endswith(f".{name}"))) for name in asked}


def foreign(names: Iterable[str]) -> list[str]:
    """Those of these whole names that are not axioms of MathComp Analysis, of Coq's reals or of its machine numbers."""
    known = AXIOMS | OF_REALS
    return [name for name in names if name not in known and name.rpartition(".")[0] not in OF_MACHINE_NUMBERS]


def holes(compiled: Path, modules: Iterable[str], seconds: float | None) -> list[str]:
    """What modules of a compiled theory, by their whole names, assume, as coqchk finds when it checks them once more: axioms of their own,
    and whatever is not checked. The libraries below are taken as they are; which of their axioms theorems use is another question.

    Raises CoqError where coqchk is not there, refuses a module, or answers what is not understood.
    """
    checker = shutil.which("coqchk")
    if checker is None:
        raise CoqError(f"coqchk was not found, so the theory is not checked once more. Install it, in Debian: {INSTALL}")
    named = [word for module in modules for word in ("-norec", module)]
    code, output, errors = _process([checker, "-silent", "-o", "-Q", str(compiled), "dpverify", *named], compiled, seconds)
    if code:
        raise CoqError(f"coqchk refuses the theory: {_fault(code, f'{output}{errors}') if code > 0 else errors}")
    return list(context(output + errors))  # its summary is an error to it


def context(output: str) -> Iterator[str]:
    """What is assumed, of what coqchk writes in the end. Raises CoqError with a line that is not understood."""
    _, mark, summary = output.partition("CONTEXT SUMMARY")
    part, seen = "", list[str]()
    for line in summary.splitlines()[2:] if mark else ["no summary"]:
        name, colon, said = line.strip().removeprefix("* ").partition(":")
        if line.startswith("* ") and colon and name in _PARTS:
            part = name
            seen.append(part)
            if part == "Theory" and said.strip() != "Set is predicative":
                yield f"the theory of types:{said}"
            elif part != "Theory" and said.strip() not in ("", "<none>"):
                raise CoqError(f"what coqchk answers is not understood: {line!r:.200}.")
        elif re.fullmatch(r" {4}[\w.']+", line) and part not in ("", "Theory"):
            # a library may seal a module, which makes constants of it that have no body
            if part != "Axioms" or line.strip().startswith("dpverify."):
                yield f"{line.strip()} ({part[:1].lower()}{part[1:]})"
        elif line.strip():
            raise CoqError(f"what coqchk answers is not understood: {line!r:.200}.")
    if seen != [*_PARTS]:
        raise CoqError(f"what coqchk answers is not understood: it says nothing of {', '.join(set(_PARTS).difference(seen))}.")


def _run(file: Path, compiled: Path, seconds: float | None) -> tuple[str, str]:
    """What is wrong with a file, and what Coq writes.

    A file in the folder is named from there: tactics keep the name that they were read by, so that the same is made in every folder.
    """
    inside = file.is_relative_to(compiled)
    name, folder, place = (str(file.relative_to(compiled)), ".", compiled) if inside else (str(file), str(compiled), file.parent)
    code, output, errors = _process([program(), *OPTIONS, "-Q", folder, "dpverify", name], place, seconds)
    if code == _LATE:
        return errors, ""
    return _fault(code, errors), output


_LATE: Final = -1000
"""The code of a process that was ended, which no process has."""


def _process(command: list[str], folder: Path, seconds: float | None) -> tuple[int, str, str]:
    """The code of a process, and what it writes; _LATE with why where it takes too long."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
        cwd=folder, start_new_session=True,
    )  # fmt: skip
    try:
        output, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return _LATE, "", f"it took longer than {seconds:g} seconds."
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return process.returncode, output, errors


def _fault(code: int, errors: str) -> str:
    """What is wrong, in one line that is never empty unless the code is 0."""
    if code == 0:
        return ""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    place = next((re.sub(r'^File ".*?", ', "", line).rstrip(":") for line in lines if line.startswith("File ")), "")
    said = " ".join(line for line in lines if not line.startswith("File "))[:300] or f"coqc ended with the code {code}"
    return f"{place}: {said}".removeprefix(": ").removesuffix(".") + "."
