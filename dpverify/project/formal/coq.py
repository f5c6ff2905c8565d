"""Coq as a program: where it is, the theory compiled once, a file checked within a time limit. Nothing is left half-written."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
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


@contextlib.contextmanager
def nobody(_: int) -> Iterator[Callable[[int], None]]:
    """Nobody who is told."""
    yield lambda done: None


def compiled_theory(folder: Path | None = None, names: tuple[str, ...] = REPLAYS, begun: Begun = nobody) -> Path:
    """The theory, compiled as far as these files need it: once for each state of it, in the user's folder for what can be made again.

    begun: told how many files are to be compiled, where any are.
    """
    source = theory() if folder is None else folder
    files = needed(source, names)
    digest = sha256("\n".join([program(), *(file.read_text(encoding="utf-8") for file in files)]).encode()).hexdigest()[:24]
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
            _compile(files, work, done)
        with contextlib.suppress(OSError):  # another run was faster
            work.rename(made)
    return made


def _compile(files: list[Path], work: Path, done: Callable[[int], None]) -> None:
    """Compile files, in the order of their needs, into a folder: as many at once as there are cores. done: told how many there are."""
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
            for number, future in enumerate(as_completed(begun.values()), start=1):
                future.result()
                done(number)
        except BaseException:  # an interrupt too ends what has not begun
            pool.shutdown(cancel_futures=True)
            raise


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
    """What the modules of a compiled theory assume, as coqchk finds when it checks them once more: axioms of their own, and whatever is not
    checked. The libraries below are taken as they are; which of their axioms theorems use is another question.

    Raises CoqError where coqchk is not there, refuses a module, or answers what is not understood.
    """
    checker = shutil.which("coqchk")
    if checker is None:
        raise CoqError(f"coqchk was not found, so the theory is not checked once more. Install it, in Debian: {INSTALL}")
    named = [word for module in modules for word in ("-norec", f"dpverify.{module}")]
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
    """What is wrong with a file, and what Coq writes."""
    code, output, errors = _process([program(), *OPTIONS, "-Q", str(compiled), "dpverify", str(file)], file.parent, seconds)
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
