"""Designs beside what is published and other tools find, printed and written to reports/designs.md.

Errors are root mean squares of one answer, at epsilon 1 and delta 10^-6, or at epsilon 1 alone. Each is an upper bound that is proved;
`times least` is at most how many times it is that of any mechanism with the same guarantee. Every row is a process of its
own: seconds are of one core's time, start-up left out, and memory is the most that it has had. Published factors are those of Gaussian
strategies: of the best optimiser there and a lower bound for strategies, by singular values (journal version of HDMM); ours are between the
two proved ends of the least of all. Peers are asked in an environment of their own: a plain semidefinite program through cvxpy, and the
dense optimiser of jax-privacy for prefix sums; "-" where one does not install, or does not end in time. A row that takes more than 40 s of
CPU is ended, and longer ones of its kind are not begun.
"""

from __future__ import annotations

import argparse
import csv
import json
import platform
import resource
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from math import sqrt
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DELTA = "1/1000000"
LIMIT = 40
"""Seconds of CPU of a row."""
LONG = f"over {LIMIT} s"
LENGTHS = (64, 128, 256, 512, 1024, 2048, 8192)
TABLES = {
    "Adult-like": [100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2],
    "CPS-like": [100, 50, 7, 4, 2],
    "Loans-like": [101, 101, 101, 101, 3, 8, 36, 6, 51, 4, 5, 15],
}
"""Numbers of values of the attributes of the data sets that ResidualPlanner is tried on."""

OURS = """
import json, resource, sys, time
import dpverify
from dpverify.project.designer import question_of
from dpverify.project.designer.structure import structure
from dpverify.trusted.kernel.balls import constant
asked = json.loads(sys.argv[1])
began = time.process_time()
found = dpverify.design(**asked)
seconds = time.process_time() - began
best = found.ranked[0]
rms, least = float(constant(best.value("rms_l2", "upper"))), found.least and float(constant(found.least[1].value))
known = structure(found.question) if "delta" in asked else None
ends = None if known is None or isinstance(known, str) else [float(x) for x in known.ends]
told = {"name": best.candidate.name, "rms": rms, "least": least, "queries": found.question.size[0], "seconds": seconds, "ends": ends}
print(json.dumps({**told, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
"""

SEMIDEFINITE = """
import json, sys, time
import cvxpy as cp, numpy as np
kind, n = sys.argv[1], int(sys.argv[2])
low, high = np.minimum.outer(np.arange(n), np.arange(n)), np.maximum.outer(np.arange(n), np.arange(n))
gram = (n - high if kind == "prefix" else (low + 1) * (n - high)).astype(float)
values, axes = np.linalg.eigh(gram)
factor = axes * np.sqrt(values)
began = time.process_time()
x, y = cp.Variable((n, n), PSD=True), cp.Variable((n, n), symmetric=True)
least = cp.Problem(cp.Minimize(cp.trace(y)), [cp.bmat([[x, factor], [factor.T, y]]) >> 0, cp.diag(x) <= 1]).solve(solver="SCS", eps=1e-5)
print(json.dumps({"square": float(least), "seconds": time.process_time() - began}))
"""

DENSE = """
import json, sys, time
import jax
jax.config.update("jax_enable_x64", True)
import numpy as np
from jax_privacy.matrix_factorization import dense
n = int(sys.argv[2])
began = time.process_time()
strategy = np.asarray(dense.optimize(n, max_optimizer_steps=500, equal_norm=False))
queries = np.tril(np.ones((n, n)))
square = float((np.linalg.norm(queries @ np.linalg.pinv(strategy)) * np.linalg.norm(strategy, axis=0).max()) ** 2)
print(json.dumps({"square": square, "seconds": time.process_time() - began}))
"""


def asked(python: str, program: str, *given: str) -> dict[str, Any] | str:
    """What a program prints, as JSON; why there is nothing, where it fails or takes too long."""
    limits = [resource.RLIMIT_CPU, (LIMIT, LIMIT + 1)]
    run = [python, "-c", program, *given]
    try:
        done = subprocess.run(run, capture_output=True, text=True, check=False, preexec_fn=lambda: resource.setrlimit(*limits))
        return LONG if done.returncode < 0 else json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else "refused"
    except (OSError, ValueError, IndexError):
        return "refused"


def ours(workload: dict[str, Any], **privacy: Any) -> dict[str, Any] | str:
    """A design for counts that differ in one record."""
    return asked(sys.executable, OURS, json.dumps({"workload": workload, "adjacency": "add-remove", "epsilon": 1, **privacy}))


def published() -> dict[tuple[str, int], tuple[float, float]]:
    """The best factor that is published, and the lower bound for strategies, by workload."""
    with (HERE / "designs_published.csv").open(encoding="utf-8") as file:
        rows = [*csv.DictReader(line for line in file if not line.startswith("#"))]
    factors = [(float(row["best_found"]), float(row["svd_bound"])) for row in rows]
    return {(row["workload"].removeprefix("all-"), int(row["length"])): both for row, both in zip(rows, factors, strict=True)}


def of_lines(peers: str) -> Iterator[tuple[str, ...]]:
    """Prefix sums and ranges with a delta: the factor by both ends, what is published, what peers find."""
    known = published()
    for kind, named in (("prefix", "prefix"), ("ranges", "range")):
        found: dict[str, Any] | str = {}
        for length in LENGTHS:
            found = LONG if found == LONG else ours({"kind": kind, "length": length}, delta=DELTA)
            told = known.get((named, length))
            program = asked(peers, SEMIDEFINITE, kind, str(length)) if length <= 64 else LONG
            dense = asked(peers, DENSE, kind, str(length)) if kind == "prefix" and length <= 512 else LONG
            beside = ["-" if told is None else f"{told[0]:.5f}", "-" if told is None else f"{told[1]:.5f}"]
            queries = length if kind == "prefix" else length * (length + 1) // 2
            beside += [_peer(one, queries) for one in (program, dense)]
            if isinstance(found, str) or found["ends"] is None:
                yield kind, str(length), found if isinstance(found, str) else "refused", "", "", "", "", *beside
                continue
            low, high = (f"{sqrt(end / queries):.5f}" for end in found["ends"])
            yield kind, str(length), f"{low} to {high}", *_costs(found), *beside


def of_pure_lines() -> Iterator[tuple[str, ...]]:
    """The same for a pure epsilon."""
    for kind in ("prefix", "ranges"):
        found: dict[str, Any] | str = {}
        for length in LENGTHS:
            found = LONG if found == LONG else ours({"kind": kind, "length": length})
            yield kind, str(length), *((found, "", "", "", "") if isinstance(found, str) else (found["name"], *_costs(found)))


def of_tables() -> Iterator[tuple[str, ...]]:
    """All marginals of so many attributes, with and without a delta."""
    for name, sizes in TABLES.items():
        for ways in (1, 2, 3):
            for privacy in ({"delta": DELTA}, {}):
                found = ours({"kind": "marginals", "sizes": sizes, "ways": ways}, **privacy)
                how = "epsilon 1, delta 1e-6" if privacy else "epsilon 1"
                told = (found, "", "", "", "") if isinstance(found, str) else (found["name"], *_costs(found))
                yield name, str(ways), how, *told


def _costs(found: dict[str, Any]) -> tuple[str, str, str, str]:
    times = "" if found["least"] is None else f"{found['rms'] / found['least']:.3f}"
    return f"{found['rms'] / sqrt(found['queries']):.6g}", times, f"{found['seconds']:.3g}", f"{found['memory']:.0f}"


def _peer(found: dict[str, Any] | str, queries: int) -> str:
    return "-" if isinstance(found, str) else f"{sqrt(found['square'] / queries):.5f} ({found['seconds']:.3g} s)"


def curve() -> Iterator[tuple[str, ...]]:
    """Of one count, as epsilon grows: what any mechanism has at least, Gaussian noise, and the best that design finds."""
    for epsilon in ("1/10", "1/4", "1/2", "1", "2", "4"):
        workload = {"kind": "prefix", "length": 64}
        both, pure = ours(workload, epsilon=epsilon, delta=DELTA), ours(workload, epsilon=epsilon)
        least = "" if isinstance(both, str) or both["least"] is None else f"{both['least'] / 8:.5g}"
        yield epsilon, least, *(one if isinstance(one, str) else f"{one['rms'] / 8:.5g}" for one in (both, pure))


def table(heads: list[str], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    """Lines of markdown; printed as they come."""
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for row in rows:
        print(" | ".join(row), flush=True)
        yield f"| {' | '.join(row)} |"


def main() -> int:
    """Measure, print, write."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--peers", default=sys.executable, help="the python of an environment that has cvxpy and jax-privacy")
    peers = reader.parse_args().peers
    what = (__doc__ or "").split("\n\n")[1].strip().replace("\n", " ")
    lines = ["# Designs beside what is published", "", f"{what} `make designs`.", ""]
    lines += ["## Prefix sums and ranges, epsilon 1, delta 1e-6", ""]
    costs = ["error", "times least", "seconds", "MiB"]
    heads = ["queries", "bins", "factor", *costs, "published", "its lower bound", "semidefinite", "jax-privacy"]
    lines += [*table(heads, of_lines(peers)), "", "## The same, epsilon 1 alone", ""]
    lines += table(["queries", "bins", "mechanism", *costs], of_pure_lines())
    lines += ["", "## Marginals", "", *table(["domain", "ways", "privacy", "mechanism", *costs], of_tables())]
    heads = ["epsilon", "any mechanism, delta 1e-6", "the best with this delta", "the best, pure"]
    lines += ["", "## Prefix sums of 64 bins as epsilon grows", "", *table(heads, curve())]
    lines += ["", f"{datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, numpy {version('numpy')}, {platform.machine()}."]
    (ROOT / "reports" / "designs.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
