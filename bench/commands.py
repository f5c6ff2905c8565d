"""Measure the commands as a user runs them, cold and warm, print a table, and write it to reports/command-bench.md.

Cold has an empty cache and an empty output folder; warm is the same command again. Wall-clock seconds of one run each, start-up included.
Ratios are of two commands that took turns in one run. Old code is an earlier commit of this repository, on that commit's own claims:
`python bench/commands.py --old` measures it too, which takes some minutes more; without it, its rows stay as they are in the report.
"""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REPORT = ROOT / "reports" / "command-bench.md"
MEGABYTE, KILOBYTE = 10**6, 10**3
TURNS = 7
"""So often short commands take turns; the least of their times counts."""
BEFORE_FACTS = "14403c8183ab621973382b34468d5f0021f33998"
"""The last commit whose kernel had two systems of theorems."""
BEFORE_PYTHON = "3cfe01c2695ec519db5f054ffc336a4e201d9115"
"""The last commit without claims in Python, and with pictures in one process."""
OLD_ROWS = ("search of all claims", "`report specs/ --no-audit`, empty cache, against old code")

LAPLACE = '[mechanism]\nkind = "builtin"\nname = "laplace"\nscale = 1\n\n[[claim]]\nsensitivity = 1\nepsilon = 1\n'
AUDITED = LAPLACE + '\n[audit]\nsampler = "noise:noisy"\n'
SAMPLER = "def noisy(data, size, rng):\n    return data + rng.laplace(size=(size, len(data)))\n"
RESEARCH = """import dpverify as dp
noise = dp.radial("(1 + r**2/5)**(-4)", norm="l2", dimension=3)
answer = dp.verify(noise, sensitivity=1, epsilon="tight")
answer.save("noise.cert.json")
print(answer.epsilon, answer.rules, answer.assumptions)
"""
"""A density in Python, its tight epsilon, a certificate, and what a theorem says: the value, by which rule, and what it assumes."""

Row = tuple[str, str, str, str, str]


@dataclass(frozen=True)
class Done:
    """A command that ended: wall-clock seconds, seconds of processors with those of the processes that it started, and what it said."""

    wall: float
    cpu: float
    said: bytes


def done(command: Sequence[str], folder: Path, environment: dict[str, str], codes: Sequence[int] = (0,)) -> Done:
    """Run a command to its end. Raises SystemExit where that is not one of the codes."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=out, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), errors.seek(0)
        if process.returncode not in codes:
            raise SystemExit(f"{' '.join(command)} ended with {process.returncode}:\n{out.read().decode()}{errors.read().decode()}")
        return Done(wall, used.ru_utime + used.ru_stime, out.read())


def surroundings(root: Path, cache: Path) -> dict[str, str]:
    """The environment in which the code of a folder runs."""
    environment = {**os.environ, "PYTHONPATH": str(root), "DPVERIFY_CACHE_DIR": str(cache), "NO_COLOR": "1"}
    environment.pop("CI", None)
    return environment


def dpverify(*arguments: str, folder: Path, cache: Path, root: Path = ROOT, codes: Sequence[int] = (0,)) -> Done:
    """`dpverify ARGUMENTS`, by the code of a folder."""
    return done([sys.executable, "-m", "dpverify.cli", *arguments], folder, surroundings(root, cache), codes)


def run(*arguments: str, folder: Path, cache: Path) -> float:
    """Seconds that `dpverify ARGUMENTS` takes."""
    return dpverify(*arguments, folder=folder, cache=cache).wall


@contextmanager
def earlier(commit: str, scratch: Path) -> Iterator[Path]:
    """The tree of an earlier commit."""
    place = scratch / commit[:9]
    subprocess.run(["git", "worktree", "add", "--detach", str(place), commit], cwd=ROOT, check=True, capture_output=True)
    try:
        yield place
    finally:
        subprocess.run(["git", "worktree", "remove", "--force", str(place)], cwd=ROOT, check=True, capture_output=True)


def rows(scratch: Path) -> Iterator[Row]:
    """One line of the table after the other."""
    cache, out, specs = scratch / "cache", scratch / "out", str(ROOT / "specs")

    def row(what: str, value: float, limit: float | None, unit: str = "s", note: str = "") -> Row:
        kept = "" if limit is None else "yes" if value <= limit else "no"
        return what, f"{value:.3g} {unit}", "" if limit is None else f"{limit:g} {unit}", kept, note

    cold = dpverify("verify", specs, folder=scratch, cache=cache)
    yield row("`verify specs/`, cold", cold.wall, 60)
    yield row("its text", len(cold.said) / KILOBYTE, 60, "kB")
    yield row("`verify specs/`, warm", run("verify", specs, folder=scratch, cache=cache), 2, note="every certificate judged by the kernel")
    yield row("`check reports/`", run("check", str(ROOT / "reports"), folder=scratch, cache=cache), 5, note="one process")
    arguments = ("report", specs, "-o", str(out), "--no-audit")
    yield row("`report specs/ --no-audit`, no pictures yet", run(*arguments, folder=scratch, cache=cache), None)
    yield row("`report specs/ --no-audit`, from existing certificates", run(*arguments, folder=scratch, cache=cache), 10)
    yield row("its overview", (out / "index.html").stat().st_size / MEGABYTE, 0.3, "MB")
    yield row("its greatest page", max(page.stat().st_size for page in out.glob("*.html")) / MEGABYTE, 1, "MB", note="a page a family")
    project = scratch / "project"
    project.mkdir()
    seconds = [run(*step.split(), folder=project, cache=cache) for step in ("init", "verify", "audit", "report -o report --format sarif")]
    told = ", ".join(f"{step} {value:.1f} s" for step, value in zip(("init", "verify", "audit", "report"), seconds, strict=True))
    yield row("a new project: `init` to green", sum(seconds), 60, note=told)


def first_hour(scratch: Path) -> Iterator[Row]:
    """What somebody meets first: one file, one small audit, a few lines of Python."""
    cache, folder = scratch / "none", scratch / "first"
    folder.mkdir()
    for name, text in (("claim.toml", LAPLACE), ("audited.toml", AUDITED), ("noise.py", SAMPLER), ("research.py", RESEARCH)):
        (folder / name).write_text(text, encoding="utf-8")
    bare, one = [], []
    for _ in range(TURNS):
        bare.append(done([sys.executable, "-c", "import numpy, scipy"], folder, surroundings(ROOT, cache)).wall)
        one.append(dpverify("verify", "claim.toml", "--no-cache", folder=folder, cache=cache).wall)
    ratio = min(one) / min(bare)
    note = f"{min(one):.2f} s against {min(bare):.2f} s"
    yield "`verify` of one file, cold, against a bare `import numpy, scipy`", f"{ratio:.2f}", "1.5", _kept(ratio <= 1.5), note
    small = ("audit", "audited.toml", "--seed", "1", "--samples", "100000")
    spent = min(dpverify(*small, folder=folder, cache=cache, codes=(0, 1)).cpu for _ in range(3))
    yield "`audit` of Laplace noise, 1e5 samples, processor seconds", f"{spent:.2f} s", "1.2 s", _kept(spent <= 1.2), ""
    lines = len(RESEARCH.splitlines())
    done([sys.executable, "research.py"], folder, surroundings(ROOT, cache))
    yield "density in Python to tight epsilon, certificate, rules and assumptions, lines", str(lines), "8", _kept(lines <= 8), "run here"


def against_old(scratch: Path) -> Iterator[Row]:
    """Ratios to earlier code, on that code's own claims."""
    cache = scratch / "none"
    with earlier(BEFORE_FACTS, scratch) as old:
        spent = [
            dpverify("verify", str(old / "specs"), "--no-cache", "--jobs", "1", folder=scratch, cache=cache, root=root, codes=(0, 1, 4)).cpu
            for root in (old, ROOT)
        ]
    ratio = spent[1] / spent[0]
    note = f"{spent[1]:.0f} s against {spent[0]:.0f} s of {BEFORE_FACTS[:9]}"
    yield f"{OLD_ROWS[0]}, processor seconds, against old code", f"{ratio:.2f}", "0.6", _kept(ratio <= 0.6), note
    with earlier(BEFORE_PYTHON, scratch) as old:
        waited = []
        for name, root in (("old", old), ("new", ROOT)):
            arguments = ("report", str(old / "specs"), "-o", str(scratch / name), "--no-audit")
            waited.append(dpverify(*arguments, folder=scratch, cache=scratch / f"{name}-cache", root=root, codes=(0, 1, 4)).wall)
    ratio = waited[1] / waited[0]
    note = f"{waited[1]:.0f} s against {waited[0]:.0f} s of {BEFORE_PYTHON[:9]}"
    yield OLD_ROWS[1], f"{ratio:.2f}", "0.35", _kept(ratio <= 0.35), note


def kept_rows() -> Iterator[Row]:
    """The rows about old code as the report has them."""
    for line in REPORT.read_text(encoding="utf-8").splitlines() if REPORT.is_file() else ():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 5 and cells[0].startswith(OLD_ROWS):
            what, measured, limit, kept, note = cells
            yield what, measured, limit, kept, note


def _is_known(commit: str) -> bool:
    """Whether this checkout has a commit: one without its history has not."""
    return subprocess.run(["git", "cat-file", "-e", commit], cwd=ROOT, check=False, capture_output=True).returncode == 0


def _kept(met: bool) -> str:
    return "yes" if met else "no"


def main() -> int:
    """Measure, print, write."""
    old = "--old" in sys.argv[1:] and all(map(_is_known, (BEFORE_FACTS, BEFORE_PYTHON)))
    lines = ["# Commands: times and sizes", "", __doc__.split("\n\n")[1].strip() + " `make bench`.", ""]
    versions = ", ".join(f"{name} {version(name)}" for name in ("python-flint", "numpy", "scipy"))
    today = datetime.datetime.now(tz=datetime.UTC).date()
    lines += [f"{os.cpu_count()} processors ({platform.machine()}), Python {platform.python_version()}, {versions}; {today}.", ""]
    lines += ["| what | measured | limit | kept | |", "|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        for rows_of in (first_hour(scratch), rows(scratch), against_old(scratch) if old else kept_rows()):
            for row in rows_of:
                print(" | ".join(row), flush=True)
                lines.append(f"| {' | '.join(row)} |")
    REPORT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
