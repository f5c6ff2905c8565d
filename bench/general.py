"""Metric spaces and noise on functions: times of decisions, tables and paths, printed and written to reports/general-bench.md.

CPU seconds of one process on one core, imports apart: each the first run of its kind, nothing remembered from before. A decision is the
search with the kernel's check of what it proposes, of the slowest claim of the file; the re-check is the kernel alone, from the
certificate. The limit of delta is that of t noise on functions with 5 degrees of freedom at epsilon 1 and distance 1, to 20 digits. Paths
are of Matern 1/2 noise; both ways are timed with what they set up.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import math
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path

import numpy as np
import scipy.optimize

from dpverify.catalogue import read_spec
from dpverify.samplers import processes
from dpverify.search.processes.evaluation_tables import table
from dpverify.search.verify import Verified, verify
from dpverify.trusted.kernel.balls import constant, exact, precision
from dpverify.trusted.kernel.expr import Expr, parse
from dpverify.trusted.kernel.judgement import check
from dpverify.trusted.kernel.model import Claim, EllipticalProcess

ROOT = Path(__file__).resolve().parents[1]
T5 = parse("v**(-7/2)*exp(-5/(2*v))")
"""The law of V of the t process with 5 degrees of freedom."""
LIMIT = Fraction("0.12452640506641105817")
"""By numerical integration of the mean of Gaussian deltas, to 20 digits."""
ROWS, FEW, DIGITS = 10_000, 1_000, 12
POINTS, PATHS, FASTER = 8192, 1000, 5

SPACES = {
    "8 points, a linear program": '{ kind = "points", distances = [[0,4,7,3,9,6,5,8],[4,0,3,7,5,10,1,4],[7,3,0,10,2,13,2,1],'
    '[3,7,10,0,12,3,8,11],[9,5,2,12,0,15,4,1],[6,10,13,3,15,0,11,14],[5,1,2,8,4,11,0,3],[8,4,1,11,1,14,3,0]] }',
    "ball of 50 dimensions": '{ kind = "ball", radius = 1, dimension = 50 }',
    "sphere in 20 dimensions": '{ kind = "sphere", radius = 1, dimension = 20 }',
    "convex polytope": '{ kind = "hull", corners = [[0, 0, 0], [2, 0, 0], [0, 3, 0], [0, 0, 1], [1, 1, 1]] }',
    "Cantor set": '{ kind = "cantor", ratio = "2/7" }',
    "product of a tree and a Cantor set": '{ kind = "product", norm = "linf", parts = ['
    '{ kind = "tree", ratio = "1/3", branching = ["k + 2"] }, { kind = "cantor", ratio = "1/3" }] }',
    "Hoelder functions on the square": '{ kind = "hoelder", dimension = 2, constant = 1, exponent = "1/2", bound = 1 }',
    "axes 3/(k + 2)**(5/4)": '{ kind = "ellipsoid", axes = "3/(k + 2)**(5/4)" }',
    "axes 1/log(2 + log(1 + k))": '{ kind = "ellipsoid", axes = "1/log(2 + log(1 + k))" }',
    "axes erfc(k)": '{ kind = "ellipsoid", axes = "erfc(k)" }',
    "axes 1/(2 + (-1)**k), not compact": '{ kind = "ellipsoid", axes = "1/(2 + 2*floor(k/2) - k)" }',
}
"""Spaces that are asked about beside those of the shelf: the least epsilon at one nearness, and, but for the first, compatibility."""
CLAIM = '[[claim]]\nname = "one"\nepsilon = "tight"\nwithin = "{near}"\nbeta = "1/20"\nexpect = "unknown"\n'
EVERY = '[[claim]]\nname = "every"\nepsilon = "tight"\nwithin = "g"\nbeta = "b"\nexpect = "unknown"\n'

Row = tuple[str, str, str, str, str]


def timed(run: Callable[[], object]) -> tuple[float, object]:
    """CPU seconds, and what came out."""
    began = time.process_time()
    found = run()
    return time.process_time() - began, found


def row(what: str, seconds: float, most: float, note: str = "") -> Row:
    """One line: what was measured, and whether the limit is kept."""
    return what, f"{seconds:.3g} s", f"{most:g} s", "yes" if seconds <= most else "NO", note


def spaces(scratch: Path) -> Iterator[tuple[str, Path]]:
    """Claim files about spaces, and about the nearness of one mechanism."""
    for path in sorted((ROOT / "specs").glob("space_*.toml")) + sorted((ROOT / "specs").glob("near_*.toml")):
        yield f"`{path.stem}`", path
    for number, (what, shape) in enumerate(SPACES.items()):
        path, finite = scratch / f"{number}.toml", number == 0
        open_numbers = "" if finite else 'parameters = { g = "positive", b = "in (0, 1)" }\n'
        claims = CLAIM.format(near="3" if finite else "1/3") + ("" if finite else EVERY)
        path.write_text(f'[mechanism]\nkind = "space"\nshape = {shape}\ndatabases = "answers"\n{open_numbers}\n{claims}', encoding="utf-8")
        yield what, path


def decisions(scratch: Path) -> Iterator[Row]:
    """Of each file the slowest claim, and the slowest re-check."""
    for what, path in spaces(scratch):
        slowest, rechecked, verdicts = 0.0, 0.0, []
        for stated in read_spec(path).claims:
            seconds, found = timed(lambda claim=stated.claim: verify(claim))  # type: ignore[misc]
            assert isinstance(found, Verified)
            slowest = max(slowest, seconds)
            rechecked = max(rechecked, timed(lambda packed=found.certificate: check(packed))[0])  # type: ignore[misc]
            verdicts.append(found.judgement.verdict)
        told = ", ".join(f"{verdicts.count(one)} {one}" for one in dict.fromkeys(verdicts))
        note = f"{told}; re-check {1000 * rechecked:.1f} ms, wanted 50 ms{'' if rechecked <= 0.05 else ', NOT kept'}"
        yield row(f"decision: {what}", slowest, 1, note)


def _process(covariance: str, difference: str = "", shape: tuple[str, ...] = ()) -> EllipticalProcess:
    differences = (parse(difference),) if difference else ()
    interval = (parse("0"), parse("1"))
    return EllipticalProcess(T5, covariance=covariance, shape=tuple(map(parse, shape)), interval=interval, differences=differences)


def tables() -> Iterator[Row]:
    """What n evaluations of t noise cost, for every n."""
    cases: tuple[tuple[str, EllipticalProcess, int, float, Expr | None], ...] = (
        ("D_n given", _process("brownian", shape=("1", "1")), ROWS, 1, parse("1")),
        ("Brownian motion, t**2", _process("brownian", "t**2", ("1", "1")), ROWS, 1, None),
        ("Matern 1/2, t*(1 - t)", _process("matern-1/2", "t*(1 - t)", ("1", "1")), ROWS, 1, None),
        ("Matern 3/2, t*(1 - t)", _process("matern-3/2", "t*(1 - t)", ("1", "1")), FEW, 10, None),
        ("a kernel, exp(-(s - t)) + s*t", _process("kernel", "t", ("exp(-(s - t)) + s*t",)), FEW, 10, None),
    )
    for what, noise, most, limit, norm in cases:
        seconds, found = timed(lambda noise=noise, most=most, norm=norm: table(noise, most, DIGITS, norm))  # type: ignore[misc]
        assert isinstance(found, list)
        last = float(found[-1].epsilon.mid())
        yield row(f"epsilon of the first n evaluations, n to {most:,}, {DIGITS} digits: {what}", seconds, limit, f"at the last {last:.6f}")


def limit_of_delta() -> Row:
    """The exact delta of t noise on functions."""
    noise = EllipticalProcess(T5)
    seconds, found = timed(lambda: verify(Claim(noise, parse("1"), None, sensitivity=parse("1")), 20))
    assert isinstance(found, Verified)
    with precision(160):
        lower, upper = (exact(constant(end).mid()) for end in (found.judgement.delta_lower, found.judgement.delta_upper) if end is not None)
    unit = Fraction(1, 10**20)
    digits = int(-math.log10(upper - lower))
    known = "" if lower - unit <= LIMIT <= upper + unit else ", NOT the known value"
    note = f"{Decimal(upper.numerator) / Decimal(upper.denominator):.20f}, {digits} digits{known}"
    return row("limit of delta(1), nu = 5", seconds, 1, note)


def paths() -> Iterator[Row]:
    """Paths by circulant embedding, and by the Cholesky factor, each with its set-up."""
    rng = np.random.default_rng(1)

    def lags(distance: processes.Array) -> processes.Array:
        return np.asarray(np.exp(-distance))

    points = np.linspace(0, 1, POINTS)
    fast, drawn = timed(lambda: processes.circulant(lags, POINTS, 1 / (POINTS - 1)).paths(PATHS, rng))
    slow, others = timed(lambda: processes.cholesky(lambda s, t: lags(np.abs(s - t)), points).paths(PATHS, rng))
    assert isinstance(drawn, np.ndarray) and isinstance(others, np.ndarray) and drawn.shape == others.shape == (PATHS, POINTS)
    spread = [float(found[:, -1].std()) for found in (drawn, others)]
    ratio, kept = slow / fast, "yes" if slow >= FASTER * fast else "NO"
    note = f"circulant {fast:.3g} s, Cholesky {slow:.3g} s; deviations at the end {spread[0]:.3f} and {spread[1]:.3f}, 1 meant"
    yield f"{PATHS:,} paths at {POINTS:,} points, circulant against Cholesky", f"{ratio:.3g} times", f"{FASTER} times", kept, note


def main() -> int:
    """Measure, print, write."""
    assert __doc__ and scipy.optimize
    lines = ["# Metric spaces and noise on functions: times", "", __doc__.split("\n\n")[1].strip() + " `make bench`.", ""]
    system = f"{platform.machine()}, {os.cpu_count()} processors, {datetime.now(UTC):%Y-%m-%d}"
    packages = ", ".join(f"{name} {version(name)}" for name in ("python-flint", "numpy", "scipy"))
    lines += [f"Python {platform.python_version()}, {packages}; {system}.", ""]
    lines += ["| what | measured | limit | kept | |", "|---|---|---|---|---|"]

    def rows() -> Iterator[Row]:
        with tempfile.TemporaryDirectory() as scratch:
            yield from decisions(Path(scratch))
        yield from tables()
        yield limit_of_delta()
        yield from paths()

    for one in rows():
        print(" ".join(one), flush=True)
        lines.append(f"| {' | '.join(one)} |")
    (ROOT / "reports" / "general-bench.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
