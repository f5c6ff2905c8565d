"""Measure the audits and write reports/audit-bench.md: `python bench/audit.py [PART...]`, all parts without arguments.

Parts: table (the DP-Sniper evaluation), rivals (equal samples in one run), laplace (the bound for Laplace(1)), throughput, memory, scalar.
A part that is not run keeps its section of the report. All seeds are fixed and stand in the tables.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import rivals
import scipy

from dpverify.audits import MODEL, audit
from dpverify.audits.target import load
from dpverify.catalogue import read_spec

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "specs" / "benchmarks"
REPORT = ROOT / "reports" / "audit-bench.md"
WORKERS = os.cpu_count() or 1
CONFIDENCE = 0.9
SEED = 20
TABLE_SAMPLES = 10**7
RIVAL_SAMPLES = 10**5
SECONDS_A_ROW = 10.0
ROWS_TO_BEAT = 13
LAPLACE_TARGETS = {10**6: 0.993, 10**7: 0.998}
THROUGHPUT_SAMPLES = 10**8
THROUGHPUT_TARGET = 0.85
MEMORY_SAMPLES = (10**6, 10**7, 10**8, 10**9)
MEGABYTES = 300
SCALAR_SAMPLES = 2 * 10**5
MICROSECONDS = 0.5
BLOCK = 65_536

UNIT: dict[str, Any] = {"epsilon": 1, "pairs": [([0.0], [1.0])]}  # the claim for Laplace noise of scale 1

# Flag values of DP-Sniper's own runs, which also tell StatDP's postprocessings what is a category: aborted, below the threshold.
SPECIAL = {"svt1": (-1,), "svt2": (-1,), "svt4": (-1,), "svt3": (-1e4, -2e4), "svt34_parallel": (-1, -1e4, -2e4)}


@dataclass(frozen=True)
class Benchmark:
    """A sampler of specs/benchmarks/ with its claim and what is known of it (tests/golden/audit_truth.toml)."""

    name: str
    row: str
    claimed: float
    delta: float
    epsilon: str
    pairs_epsilon: float | None
    published: tuple[float, ...]
    seconds: tuple[float, ...]
    inputs: dict[str, Any]  # "pairs", or "patterns" and "length", as in the claim file

    @property
    def exact(self) -> float:
        """The largest epsilon that these inputs can show."""
        return self.pairs_epsilon or float(self.epsilon)

    @property
    def shown(self) -> str:
        """The exact epsilon, then what the inputs can show of it."""
        text = re.sub(r"[\d.]+", lambda match: f"{float(match[0]):.5g}", self.epsilon)
        return text if self.pairs_epsilon is None else f"{text} ({self.pairs_epsilon:.4f})"

    def audit(self, samples: int) -> Any:
        """All samples, for the best bound."""
        return audit(
            f"samplers:{self.name}",
            epsilon=self.claimed,
            delta=self.delta,
            **self.inputs,
            samples=samples,
            confidence=CONFIDENCE,
            seed=SEED,
            workers=WORKERS,
            stop=False,
            folder=FOLDER,
        )

    def pairs(self) -> list[tuple[Any, Any]]:
        """The pairs of inputs, written out: those of the file, or the eight usual patterns (Ding et al. 2018, Table 1)."""
        if "pairs" in self.inputs:
            return [tuple(pair) for pair in self.inputs["pairs"]]
        k = self.inputs["length"]
        half, rest = k // 2, k - k // 2
        ones = [1.0] * k
        others = [
            [0.0] + [1.0] * (k - 1),
            [2.0] + [1.0] * (k - 1),
            [2.0] + [0.0] * (k - 1),
            [0.0] + [2.0] * (k - 1),
            [2.0] * half + [0.0] * rest,
            [2.0] * k,
            [0.0] * k,
        ]
        return [*((ones, other) for other in others), ([1.0] * half + [0.0] * rest, [0.0] * half + [1.0] * rest)]


def benchmarks() -> Iterator[Benchmark]:
    """All of them, in the order of the table."""
    truth = tomllib.loads((ROOT / "tests" / "golden" / "audit_truth.toml").read_text(encoding="utf-8"))
    for row in truth["mechanism"]:
        spec = tomllib.loads((FOLDER / f"sampled_{row['name']}.toml").read_text(encoding="utf-8"))
        (claim,) = spec["claim"]
        inputs = {key: value for key, value in spec["audit"].items() if key != "sampler"}
        yield Benchmark(
            name=row["name"],
            row=row["row"],
            claimed=float(claim["epsilon"]),
            delta=float(claim.get("delta", 0)),
            epsilon=row["epsilon"],
            pairs_epsilon=row.get("pairs_epsilon"),
            published=tuple(row.get("published", ())),
            seconds=tuple(row.get("seconds", ())),
            inputs=inputs,
        )


def timed(action: Callable[..., Any], *arguments: Any, **settings: Any) -> tuple[Any, float]:
    """The result of a call and its seconds of wall-clock time."""
    started = time.perf_counter()
    result = action(*arguments, **settings)
    return result, time.perf_counter() - started


def bound(value: float, exact: float) -> str:
    """A lower bound, with a mark if it is above what is true."""
    return f"{value:.4f}{'!' * (value > exact)}" if math.isfinite(value) else "none"


def model(finding: Any) -> Any:
    """What an audit says of the law, apart from what the representation of floats gives away."""
    return next(part for part in (finding, *finding.also) if part.level == MODEL)


def kept(condition: bool) -> str:
    """Whether a promise is kept."""
    return "yes" if condition else "NO"


# -- the parts: each yields lines of Markdown ------------------------------------------------------------


def table() -> Iterator[str]:
    """The twenty rows of the DP-Sniper evaluation."""
    yield f"At most {TABLE_SAMPLES:.0e} samples a side, black box, {CONFIDENCE:.0%} confidence, seed {SEED}, {WORKERS} processes."
    yield "Published: the reference logs of the DP-Sniper evaluation, 2e8 samples a side for the final bound, seconds on their machine."
    yield "*exact* is the supremum over all neighbours and in brackets what the inputs of the file can show. A bound above it misses (!)."
    yield "RAPPOR: on values that set eight different bits; DP-Sniper's, of which hashes coincide, can show three quarters of it."
    yield ""
    yield "| mechanism | claimed | exact | DP-Sniper logistic / neural (s) | StatDP, twice (s) | ours | s | beats DP-Sniper | findings |"
    yield "|---|---|---|---|---|---|---|---|---|"
    beaten = slow = 0
    for bench in benchmarks():
        if not bench.published:
            continue
        finding, seconds = timed(bench.audit, TABLE_SAMPLES)
        logistic, neural, first, second = (bound(value, bench.exact) for value in bench.published)
        times = [f"{value:.0f}" if math.isfinite(value) else "-" for value in bench.seconds]
        best = max((value for value in bench.published[:2] if value <= bench.exact), default=math.inf)
        law = model(finding)
        beats = law.epsilon_lower > best
        beaten, slow = beaten + beats, slow + (seconds > SECONDS_A_ROW)
        cells = (
            bench.row,
            f"{bench.claimed:g}",
            bench.shown,
            f"{logistic} / {neural} ({times[0]} / {times[1]})",
            f"{first} / {second} ({times[2]})",
            bound(law.epsilon_lower, bench.exact),
            f"{seconds:.1f}",
            kept(beats),
            "; ".join(f"{part.level}: {part.finding}" for part in (finding, *finding.also)),
        )
        yield f"| {' | '.join(cells)} |"
    yield ""
    yield f"{beaten} rows beat DP-Sniper's better bound (promised: {ROWS_TO_BEAT}); {slow} rows took more than {SECONDS_A_ROW:g} s."


def rival() -> Iterator[str]:
    """Every auditor on every mechanism with a pure claim."""
    yield f"{RIVAL_SAMPLES:.0e} samples a side in all, the same pairs of inputs, {CONFIDENCE:.0%} confidence, sampler seed {SEED}, one run."
    yield "The rivals are reimplementations (bench/rivals.py). Lower bound (seconds); a bound above the exact value misses (!)."
    yield ""
    yield "| mechanism | exact | ours | StatDP | DP-Sniper, logistic | DP-Auditorium, hockey-stick |"
    yield "|---|---|---|---|---|---|"
    wins = rows = 0
    for bench in benchmarks():
        if bench.delta:
            continue
        sampler: Any = load(f"samplers:{bench.name}", FOLDER)
        rng = np.random.default_rng(SEED)

        def draw(data: Any, size: int, sampler: Any = sampler, rng: np.random.Generator = rng) -> Any:
            return np.asarray(sampler(data, size, rng), float).reshape(size, -1)

        rng_rivals = np.random.default_rng(SEED + 1)
        arguments = (draw, bench.pairs(), RIVAL_SAMPLES, CONFIDENCE, rng_rivals, SPECIAL.get(bench.name, ()))
        finding, seconds = timed(bench.audit, RIVAL_SAMPLES)
        results = [
            (model(finding).epsilon_lower, seconds),
            timed(rivals.statdp, *arguments),
            timed(rivals.dp_sniper, *arguments),
            timed(rivals.dp_auditorium, *arguments, bench.claimed),
        ]
        rows += 1
        wins += results[0][0] >= max((value for value, _ in results[1:] if value <= bench.exact), default=0.0)
        cells = (f"{bound(value, bench.exact)} ({seconds:.1f})" for value, seconds in results)
        yield f"| {bench.row} | {bench.shown} | {' | '.join(cells)} |"
    yield ""
    yield f"Ours is the best bound that is none too high on {wins} of {rows} rows."


def unit_laplace(data: Any, size: int, rng: np.random.Generator) -> Any:
    """Laplace noise of scale 1."""
    return rng.laplace(data[0], 1.0, size)


def laplace() -> Iterator[str]:
    """The lower bound for Laplace(1), claimed 1-DP."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "unit_laplace.toml"
        path.write_text(
            '[mechanism]\nkind = "translation"\ndensity = "exp(-abs(z))"\n\n[[claim]]\nsensitivity = 1\nepsilon = 1\n', encoding="utf-8"
        )
        declared = read_spec(path).claims[0].claim
    yield f"numpy's Laplace noise of scale 1, 95 % confidence, seeds {SEED} to {SEED + 4}: median of five bounds; the true epsilon is 1."
    yield ""
    yield "| samples a side | at least | declared (white box) | s | black box | s |"
    yield "|---|---|---|---|---|---|"
    settings: dict[str, Any] = {"confidence": 0.95, "stop": False}
    for samples, target in LAPLACE_TARGETS.items():
        cells = []
        for claim, more in ((declared, {}), (None, UNIT)):
            seeds = range(SEED, SEED + 5)
            runs = [timed(audit, unit_laplace, claim, samples=samples, seed=seed, **more, **settings) for seed in seeds]
            median = float(np.median([model(finding).epsilon_lower for finding, _ in runs]))
            cells += [f"{median:.5f} {kept(median >= target)}", f"{np.median([seconds for _, seconds in runs]):.2f}"]
        yield f"| {samples:.0e} | {target} | {' | '.join(cells)} |"


def fill_and_count(samples: int) -> int:
    """What an audit cannot do without: numpy's own noise on both inputs, and one count on each."""
    rng = np.random.default_rng(SEED)
    count = 0
    for start in range(0, samples, BLOCK):
        size = min(BLOCK, samples - start)
        count += sum(int(np.count_nonzero(unit_laplace([x], size, rng) <= 0)) for x in (0.0, 1.0))
    return count


def throughput() -> Iterator[str]:
    """An audit's speed over that of filling and counting, best of three, turn by turn."""
    yield f"{THROUGHPUT_SAMPLES:.0e} samples a side of numpy's Laplace noise of scale 1, one process, seed {SEED}, best of three."
    yield ""
    yield "| what | s | million samples/s | of fill-and-count | at least | kept |"
    yield "|---|---|---|---|---|---|"
    bare = mine = math.inf
    for _ in range(3):
        bare = min(bare, timed(fill_and_count, THROUGHPUT_SAMPLES)[1])
        mine = min(mine, timed(audit, unit_laplace, **UNIT, samples=THROUGHPUT_SAMPLES, seed=SEED, stop=False)[1])
    rate, ratio = 2 * THROUGHPUT_SAMPLES / 1e6, bare / mine
    yield f"| numpy, fill and count | {bare:.2f} | {rate / bare:.1f} | | | |"
    promise = f"{THROUGHPUT_TARGET:.0%} | {kept(ratio >= THROUGHPUT_TARGET)}"
    yield f"| audit, black box | {mine:.2f} | {rate / mine:.1f} | {ratio:.1%} | {promise} |"


def memory() -> Iterator[str]:
    """The peak resident memory of a process that audits, the interpreter and all libraries included."""
    yield f"Peak resident memory of one process, numpy's Laplace noise of scale 1, one pair, seed {SEED}."
    yield ""
    yield "| samples a side | MB | at most | kept | s |"
    yield "|---|---|---|---|---|"
    for samples in MEMORY_SAMPLES:
        run, seconds = timed(_execute, "--peak", str(samples))
        megabytes = float(run.stdout.split()[-1])
        yield f"| {samples:.0e} | {megabytes:.0f} | {MEGABYTES} | {kept(megabytes < MEGABYTES)} | {seconds:.1f} |"


def peak(samples: int) -> float:
    """Audit in this process and give its peak resident memory in MB."""
    audit(unit_laplace, **UNIT, samples=samples, seed=SEED, stop=False)
    status = Path("/proc/self/status").read_text(encoding="ascii")  # what getrusage says counts whoever started this process, too
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _execute(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(Path(__file__)), *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)


def one_laplace(data: Any, rng: np.random.Generator) -> float:
    """One draw of Laplace noise of scale 1."""
    return float(rng.laplace(data[0], 1.0))


def scalar() -> Iterator[str]:
    """What an audit adds to a sampler that gives one output a call."""
    yield f"{SCALAR_SAMPLES:.0e} samples a side of a scalar Python sampler, one process, seed {SEED}, best of three."
    yield ""
    yield "| what | microseconds a sample | at most | kept |"
    yield "|---|---|---|---|"

    def bare() -> None:
        rng = np.random.default_rng(SEED)
        for data in ([0.0], [1.0]):
            for _ in range(SCALAR_SAMPLES):
                one_laplace(data, rng)

    alone = min(timed(bare)[1] for _ in range(3))
    audited = min(timed(audit, one_laplace, **UNIT, samples=SCALAR_SAMPLES, seed=SEED, stop=False)[1] for _ in range(3))
    micro = 1e6 / (2 * SCALAR_SAMPLES)
    overhead = (audited - alone) * micro
    yield f"| the sampler in a loop | {alone * micro:.2f} | | |"
    yield f"| the audit of it | {audited * micro:.2f} | | |"
    yield f"| overhead | {overhead:.2f} | {MICROSECONDS} | {kept(overhead <= MICROSECONDS)} |"


PARTS: dict[str, tuple[str, Callable[[], Iterator[str]]]] = {
    "table": ("The DP-Sniper evaluation", table),
    "rivals": ("Equal samples", rival),
    "laplace": ("Laplace(1)", laplace),
    "throughput": ("Throughput", throughput),
    "memory": ("Memory", memory),
    "scalar": ("Scalar samplers", scalar),
}


def main(arguments: Sequence[str]) -> int:
    """Print the sections of the parts as they are measured, and put them into the report."""
    if arguments[:1] == ["--peak"]:
        print(peak(int(arguments[1])))
        return 0
    unknown = [part for part in arguments if part not in PARTS]
    if unknown:
        print(f"no part {unknown[0]!r}; there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    old = REPORT.read_text(encoding="utf-8") if REPORT.exists() else ""
    sections = {title: body.strip() for title, body in re.findall(r"^## (.*)\n([^#]*)", old, re.MULTILINE)}
    versions = f"Python {sys.version.split()[0]}, numpy {np.__version__}, scipy {scipy.__version__}, {WORKERS} processors"
    for part in arguments or PARTS:
        title, measure = PARTS[part]
        print(f"\n## {title}\n", flush=True)
        lines = []
        for line in measure():
            print(line, flush=True)
            lines.append(line)
        sections[title] = "\n".join([f"`python bench/audit.py {part}`, {versions}.", *lines])
        body = "\n\n".join(f"## {title}\n\n{sections[title]}" for title, _ in PARTS.values() if title in sections)
        REPORT.parent.mkdir(exist_ok=True)
        REPORT.write_text(f"# Audits, measured\n\n{body}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
