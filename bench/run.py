"""Measure what is promised, print a table, and write it to reports/bench.md.

Times are the best of three with every cache emptied before each, so that no run profits from another. Beside the milliseconds stands
the ratio to a fixed piece of pure Python timed just before, which says more than milliseconds on a machine that is busy or slow.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).resolve().parents[1]
DIGITS = 30
RUNS = 3
LONG = 2.0  # seconds: what takes longer is measured once

T = TypeVar("T")

ELEMENTARY = (
    "student_t_d1", "student_t_d2", "student_t", "student_t_d10", "student_t_d50", "cauchy", "cauchy_1d", "pearson_vii", "laplace",
    "exponential_radial", "stretched_exponential", "exponential_power", "kotz_modified", "kotz_modified_rising", "hyperbolic",
    "sech", "sech_squared", "logistic",
)  # fmt: skip
MIXTURES = ("student_t_mixture", "laplace_log_normal", "uniform_log_normal")
SLASH = ("slash", "slash_d3")
BESSEL = ("generalized_hyperbolic", "normal_inverse_gaussian")
REFUTED = ("gaussian", "wrong_pure_gaussian", "multivariate_laplace_d2", "multivariate_laplace_d3", "multivariate_laplace_d5", "uniform")
ALL_PARAMETERS = (
    "student_t_all", "exponential_radial_all_l1", "exponential_radial_all_l2", "exponential_radial_all_linf", "exponential_radial_all_lp",
    "discrete_laplace_all", "k_randomized_response_all", "exponential_mechanism_all", "staircase_all",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One measurement. limit: seconds promised, if any; numbers: of the certificate, as shown."""

    group: str
    what: str
    seconds: float
    limit: float | None
    load: float
    verdict: str = ""
    numbers: str = ""

    @property
    def met(self) -> str:
        """Whether the promise is kept: an answer, and in time."""
        return "" if self.limit is None else "yes" if self.seconds <= self.limit and self.verdict != "UNKNOWN" else "NO"


def forget() -> None:
    """Empty every cache of dpverify and sympy."""
    for name, module in list(sys.modules.items()):
        if name.startswith("dpverify"):
            for value in list(vars(module).values()):
                inside = [cell.cell_contents for cell in getattr(value, "__closure__", None) or ()]  # of what also notes what it loads
                for kept in (value, *inside):
                    clear = getattr(kept, "cache_clear", None)
                    if callable(clear):
                        clear()
    if "dpverify.trusted.kernel.loading" in sys.modules:  # what is remembered with the modules that it took
        sys.modules["dpverify.trusted.kernel.loading"].forget()
    if "sympy" in sys.modules:
        from sympy.core.cache import clear_cache

        clear_cache()


def processor() -> float:
    """Seconds that processors have worked for this process and those that it waited for: what a busy machine does not change much."""
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def calibrate() -> float:
    """Seconds of a fixed workload of exact arithmetic in pure Python."""
    started = processor()
    total = Fraction(0)
    for i in range(1, 1200):
        total += Fraction(1, i)
    assert total > 7
    return processor() - started


def timed(action: Callable[[], T]) -> tuple[T, float, float]:
    """The result, the best time of processors, and that time over the best calibration round it."""
    best, unit = float("inf"), float("inf")
    for _ in range(RUNS):
        unit = min(unit, calibrate())
        forget()
        started = processor()
        result = action()
        best = min(best, processor() - started)
        if best > LONG:
            break
    return result, best, best / unit


def claims(stem: str, name: str = "") -> Iterator[tuple[str, Any]]:
    """The claims of a file of specs/ whose name contains `name`."""
    from dpverify.catalogue import read_spec

    for stated in read_spec(ROOT / "specs" / f"{stem}.toml").claims:
        if name in stated.claim.name:
            yield f"{stem}: {stated.claim.name}", stated


def numbers(certificate: Mapping[str, Any], judgement: Any) -> str:
    """Rules, cells, bytes and the width of the enclosure."""
    from dpverify.evidence.collected import encode

    cells = sum(_cells(line.get("parameters", {})) for line in certificate["lines"])
    size = len(encode(certificate).encode())
    return f"{', '.join(judgement.rules)}; {cells} cells; {size} bytes; width {width(judgement)}"


def _cells(parameters: Any) -> int:
    """Entries of all lists of parameters: cuts, pieces, points and weights."""
    if isinstance(parameters, Mapping):
        return sum(map(_cells, parameters.values()))
    return len(parameters) if isinstance(parameters, list) else 0


def width(judgement: Any) -> str:
    """How far apart the proved bounds on the tight epsilon are."""
    from dpverify.trusted.kernel.balls import constant, precision
    from dpverify.trusted.kernel.bounds import Infinite
    from dpverify.trusted.kernel.expr import sub, symbols

    low, high = judgement.lower, judgement.upper
    if low is not None and low == high:
        return "0"
    if low is None or high is None or isinstance(low, Infinite) or isinstance(high, Infinite) or symbols(low) or symbols(high):
        return "-"
    with precision(600):
        return f"{float(constant(sub(high, low)).upper()):.0e}"


def searches(group: str, stems: Sequence[str], limit: Callable[[str], float], recheck: list[Row], name: str = "tight") -> Iterator[Row]:
    """Search, proof and judgement of each claim; the kernel's own time goes to `recheck`."""
    from dpverify.search.verify import verify
    from dpverify.trusted.kernel import judgement as kernel

    for stem in stems:
        for label, stated in claims(stem, name):
            verified, seconds, load = timed(lambda stated=stated: verify(stated.claim, DIGITS))
            judged = verified.judgement
            yield Row(group, label, seconds, limit(stem), load, judged.verdict, numbers(verified.certificate, judged))
            if judged.verdict != "UNKNOWN":
                _, again, ratio = timed(lambda data=verified.certificate: kernel.check(data))
                recheck.append(Row(f"{group}: kernel re-check", label, again, 0.003 if stems is ELEMENTARY else None, ratio))


def gauges() -> Iterator[Row]:
    """Gauge certificates of a random polytope, d = 8 with 20 columns, none of whose facets is ever listed."""
    from dpverify.search.additive.sensitivity import gauges as propose
    from dpverify.trusted.geometry.lengths import norm_value
    from dpverify.trusted.kernel.model import Norm

    source = random.Random(8)
    points = tuple(tuple(Fraction(source.choice((-1, 1))) for _ in range(8)) for _ in range(20))
    vector = tuple(Fraction(source.randint(-9, 9)) for _ in range(8))
    norm = Norm("columns", matrix=points)
    evidence, seconds, load = timed(lambda: propose(points, (vector,)))
    yield Row("gauge", "linear program, d = 8, 20 columns", seconds, None, load)
    _, seconds, load = timed(lambda: norm_value(norm, vector, evidence))
    yield Row("gauge", "certificate after it", seconds, 0.002, load, numbers=f"{_cells(evidence)} cells")


def execute(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, from the root of the checkout."""
    return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def commands() -> Iterator[Row]:
    """Whole commands in new processes, start-up included."""
    with tempfile.TemporaryDirectory() as scratch:
        for arguments, limit in (
            (["--help"], 0.3),
            (["verify", "specs", "--certificates", scratch, "--no-cache"], 60.0),
            (["check", scratch], 5.0),
        ):
            command = [sys.executable, "-m", "dpverify.cli", *arguments]
            run, seconds, load = timed(lambda command=command: execute(command))
            closing = run.stdout.strip().splitlines()[-1] if arguments[0] != "--help" and run.stdout else ""
            shown = " ".join(arguments).replace(scratch, "DIR")
            yield Row("command", f"dpverify {shown}", seconds, limit, load, f"exit {run.returncode}", closing)


def rows() -> Iterator[Row]:
    """Every measurement, the kernel's re-checks after the searches they belong to."""
    from dpverify.search.verify import verify

    for _, stated in claims("kotz_modified", "tight"):
        verify(stated.claim, DIGITS)  # whatever is imported late is imported now
    recheck: list[Row] = []
    yield from searches("elementary, 30 digits", ELEMENTARY, lambda stem: 0.01 if stem.startswith("student_t") else 0.05, recheck)
    yield from searches("mixture, 30 digits", MIXTURES, lambda stem: 0.05, recheck)
    yield from searches("slash, 30 digits", SLASH, lambda stem: 1.0, recheck)
    yield from searches("Bessel, 30 digits", BESSEL, lambda stem: 10.0, recheck)
    yield from searches("refutation", REFUTED, lambda stem: 0.02, recheck, name="")
    yield from searches("all parameters", ALL_PARAMETERS, lambda stem: 0.5, recheck, name="")
    yield from recheck
    yield from gauges()
    yield from commands()


def milliseconds(seconds: float) -> str:
    """A time with three digits."""
    return f"{seconds * 1000:.3g}" if seconds < 1 else f"{seconds * 1000:.0f}"


def main() -> int:
    """Print rows as they are measured, then write the table."""
    lines = [
        "# Bench",
        "",
        f"`make bench`, Python {sys.version.split()[0]}, python-flint {version('python-flint')}.",
        f"Times in ms are the best of {RUNS} with caches emptied (once where a run takes more than {LONG:.0f} s); *load* is the time over",
        f"that of a fixed piece of pure Python, {milliseconds(calibrate())} ms here, so that machines compare.",
        "A search includes the kernel's check of what it proposes. Cells are the cuts, pieces, points and weights of the evidence.",
        "",
        "| group | what | verdict | ms | at most | kept | load | rules, cells, certificate, enclosure |",
        "|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines))
    missed = 0
    for row in rows():
        limit = "" if row.limit is None else f"{row.limit * 1000:g}"
        cells = (row.group, row.what, row.verdict, milliseconds(row.seconds), limit, row.met, f"{row.load:.2f}", row.numbers)
        lines.append(f"| {' | '.join(cells)} |")
        print(lines[-1], flush=True)
        missed += row.met == "NO"
    lines += ["", f"{missed} not kept." if missed else "All kept."]
    print("\n".join(lines[-2:]))
    (ROOT / "reports").mkdir(exist_ok=True)
    (ROOT / "reports" / "bench.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
