"""Effective points per second of the exact sampler of a polytope and of walks in it, printed and written to reports/sampler-bench.md.

The body is the hull of + and - the 20 columns of a random matrix of signs with 8 rows, a query of HT's kind. An exact draw is an
independent point; of a walk the least effective sample size is taken over the coordinates and the 8th power of the norm, by Geyer's initial
monotone sequence. Each is one run, in seconds of one core; the time to find the facets is told apart. hopsy, a library of walks in C++,
is given the facets.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path

import numpy as np

from dpverify.samplers import polytope, walks
from dpverify.samplers.walks import Body, Walked

ROOT = Path(__file__).resolve().parents[1]
DIMENSION, COLUMNS = 8, 20
WANTED = 100

Row = tuple[str, int, float, float, float]
"""What, points, seconds, effective points, R-hat."""


def matrix(seed: int = 0) -> tuple[tuple[Fraction, ...], ...]:
    """The columns, as rows."""
    signs = np.random.default_rng(seed).choice((-1, 1), (COLUMNS, DIMENSION))
    return tuple(tuple(Fraction(int(entry)) for entry in column) for column in signs)


def exact(body: polytope.Polytope, known: Body) -> Row:
    """Independent points."""
    began = time.process_time()
    points = body.uniform(400_000, np.random.default_rng(1))
    seconds = time.process_time() - began
    found = Walked(points.reshape(4, -1, DIMENSION), known)
    return "exact (`dpverify.samplers.polytope`)", len(points), seconds, found.effective, found.r_hat


def walked(what: str, body: Body, known: Body, step: walks.Step, points: int, chains: int, thin: int) -> Row:
    """One of our walks; what it tells of itself is looked at by the facets."""
    began = time.process_time()
    found = walks.walk(body, step, points, np.random.default_rng(2), chains=chains, thin=thin)
    seconds = time.process_time() - began
    found = Walked(found.chains, known)
    return what, points * chains, seconds, found.effective, found.r_hat


def of_hopsy(known: walks.Facets) -> Iterator[Row]:
    """The walks of the library, where it is installed."""
    try:
        import hopsy
    except ImportError:
        return
    rows = np.concatenate((known.rows, -known.rows))
    for name in ("UniformHitAndRunProposal", "UniformCoordinateHitAndRunProposal", "BilliardWalkProposal"):
        if not hasattr(hopsy, name):
            continue
        problem = hopsy.Problem(rows, np.ones(len(rows)))
        chains = [hopsy.MarkovChain(problem, proposal=getattr(hopsy, name), starting_point=np.zeros(DIMENSION)) for _ in range(4)]
        generators = [hopsy.RandomNumberGenerator(seed=3, stream=i) for i in range(4)]
        began = time.process_time()
        _, states = hopsy.sample(chains, generators, n_samples=2_000, thinning=10, n_procs=1)
        seconds = time.process_time() - began
        found = Walked(np.asarray(states), known)
        yield f"hopsy {version('hopsy')}, {name.removesuffix('Proposal')}", 8_000, seconds, found.effective, found.r_hat


def rows() -> tuple[str, list[Row]]:
    """How long the exact sampler takes to build, and one line of the table after the other."""
    columns = matrix()
    began = time.process_time()
    body = polytope.hull(columns)
    built = time.process_time() - began
    known, programs = walks.facets(body), walks.hull(columns)
    told = f"{len(body.normals)} pairs of facets, {2 * len(body.simplices)} simplices, found in {built:.2f} s."
    grid = walks.grid_walk(programs)
    runs: list[Callable[[], Row]] = [
        lambda: exact(body, known),
        lambda: walked("hit-and-run here, facets known, 64 chains at once", known, known, walks.hit_and_run, 400, 64, 5),
        lambda: walked("hit-and-run here, linear programs", programs, known, walks.hit_and_run, 150, 4, 1),
        lambda: walked("grid walk here, linear programs", programs, known, grid, 600, 4, 1),
    ]
    found = []
    for run in runs:
        found.append(run())
        print(*found[-1], flush=True)
    for row in of_hopsy(known):
        found.append(row)
        print(*row, flush=True)
    return told, found


def table(told: str, found: list[Row]) -> str:
    """The page."""
    rates = [effective / seconds for _, _, seconds, effective, _ in found]
    ratio = rates[0] / max(rates[1:])
    what = (__doc__ or "").split("\n\n")[1].strip().replace("\n", " ")
    lines = ["# Samplers: effective points per second", "", f"{what} `make bench`.", "", told, ""]
    lines += ["| | points | seconds | effective | R-hat | effective per second | exact is faster by |", "|---|---|---|---|---|---|---|"]
    for (what, points, seconds, effective, agreed), rate in zip(found, rates, strict=True):
        faster = "" if rate == rates[0] else f"{rates[0] / rate:.3g}"
        lines.append(f"| {what} | {points:,} | {seconds:.3g} | {effective:,.0f} | {agreed:.3f} | {rate:,.3g} | {faster} |")
    kept = "kept" if ratio >= WANTED else "not kept"
    lines += ["", f"Wanted: {WANTED} times the best walk. Measured: {ratio:.3g} times, {kept}."]
    if not any(what.startswith("hopsy") for what, *_ in found):
        lines.append("hopsy was not installed: the walks are those here.")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure, print, write."""
    (ROOT / "reports" / "sampler-bench.md").write_text(table(*rows()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
