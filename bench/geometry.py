"""The geometry of noise, from polytopes to designs, against the limits that are set, printed and written to reports/geometry-bench.md.

Seconds are of one core's time, start-up left out. Matrices have random entries +-1, `random.seed(1)` and then rows of
`random.choice([-1, 1])`; a heavy row is the first one times 100. Errors are proved, and gaps are those between proved bounds. The walks
of a library are met in reports/sampler-bench.md, which is written beside.
"""

from __future__ import annotations

import platform
import random
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from fractions import Fraction
from importlib.metadata import version
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as np
import samplers

from dpverify.catalogue import Spec, read_spec
from dpverify.project import designer
from dpverify.project.designer.candidates import Candidate, candidates
from dpverify.project.optimum import optimum
from dpverify.samplers import polytope
from dpverify.search.utility import bodies
from dpverify.search.verify import verify
from dpverify.trusted.facts.bodies import Body
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.expr import ONE, Expr, num, parse
from dpverify.trusted.kernel.model import L2, Claim, Matrix, Query, Radial
from dpverify.trusted.kernel.proof import Proof

ROOT = Path(__file__).resolve().parents[1]
FIFTH = 0.2

T = TypeVar("T")
Row = tuple[str, str, str, str, str]
"""What, measured, limit, whether it is kept, a remark."""


def signs(rows: int, columns: int) -> Matrix:
    """Random +-1."""
    random.seed(1)
    return tuple(tuple(Fraction(random.choice([-1, 1])) for _ in range(columns)) for _ in range(rows))


def timed(run: Callable[[], T]) -> tuple[T, float]:
    """What it gives, and the seconds that it takes."""
    began = time.process_time()
    found = run()
    return found, time.process_time() - began


def row(what: str, value: float, limit: float | None, unit: str, remark: str = "", above: bool = False) -> Row:
    """A line of the table. above: the limit is one from below."""
    kept = "" if limit is None else "yes" if (value >= limit if above else value <= limit) else "no"
    bound = "" if limit is None else f"{'at least ' if above else ''}{limit:.6g} {unit}".strip()
    return what, f"{value:.3g} {unit}".strip(), bound, kept, remark


# -- bodies ------------------------------------------------------------------------------------------------------


def moments(d: int, n: int, mean: bool) -> tuple[Body, float]:
    """The body of differences with volume and second moments, found and then proved by the kernel."""
    claim = Claim(Radial(parse("exp(-r)"), L2, num(d)), ONE, query=Query(signs(d, n), "l1"))
    with precision(128):
        fact, seconds = timed(lambda: bodies.fact(Proof(claim), "query", mean=mean))
    assert fact is not None and isinstance(fact.says, Body) and fact.says.exact and fact.says.second is not None
    return fact.says, seconds


def of_bodies() -> Iterator[Row]:
    """Facets, volume and moments, and mean lengths."""
    for d, n, limit in ((8, 20, 2.0), (10, 24, 30.0)):
        _, seconds = moments(d, n, False)
        yield row(f"facets, exact volume and second moments, d = {d}, n = {n}", seconds, limit, "s", "found, and proved by the kernel")
        found, seconds = moments(d, n, True)
        assert found.mean is not None
        low, high = (float(constant(end)) for end in found.mean)
        narrow = f"enclosed to {(high - low) / low:.1e}"
        yield row(f"those, and the mean length of a uniform point, d = {d}, n = {n}", seconds, None, "s", narrow)


def of_samplers() -> Iterator[Row]:
    """The exact sampler, and the walks of a library."""
    columns = tuple(zip(*signs(10, 30), strict=True))
    body, seconds = timed(lambda: polytope.hull(columns))
    yield row("exact sampler, d = 10, n = 30: to build", seconds, 60, "s", f"{2 * len(body.simplices)} simplices")
    _, seconds = timed(lambda: body.uniform(10**6, np.random.default_rng(1)))
    yield row("exact sampler, d = 10, n = 30: points", 10**6 / seconds, 2e5, "per second", above=True)
    told, found = samplers.rows()
    (ROOT / "reports" / "sampler-bench.md").write_text(samplers.table(told, found), encoding="utf-8")
    walks = [one for one in found if one[0].startswith("hopsy")]
    if not walks:
        yield "effective points against the best walk of a library", "", "at least 100 times", "", "hopsy is not installed"
        return
    rates = {one[0]: one[3] / one[2] for one in found}
    best = max(walks, key=lambda one: rates[one[0]])[0]
    ratio = rates[found[0][0]] / rates[best]
    yield row("effective points, d = 8, n = 20, against the best walk of a library", ratio, 100, "times", best, True)


# -- errors ------------------------------------------------------------------------------------------------------


def of_programs() -> Iterator[Row]:
    """The least error of a count from 0 to n."""
    for n, limit in ((20, 1e-11), (50, 1e-6)):
        found, seconds = timed(lambda n=n: optimum(1, answers=range(n + 1), neighbours="consecutive"))
        yield row(f"linear program, a count from 0 to {n}, epsilon 1: gap", float(found.gap), limit, "", f"{seconds:.3g} s")


def question(rows: Any, **asked: Any) -> designer.Question:
    """A question at l1 distance and epsilon 1."""
    return designer.question_of("bench", {"design": {"query": rows, "adjacency": "l1", "epsilon": 1, **asked}})


def square(one: Candidate, scratch: Path) -> tuple[float, float] | None:
    """The ends of the mean square error that are proved of a candidate, None where it is not proved."""
    file = scratch / "candidate.toml"
    file.write_text(one.text, encoding="utf-8")
    judged = verify(read_spec(file).claims[0].claim, 9).judgement
    ends = {bound.side: bound.value for _, bound in judged.errors if (bound.measure, bound.whose) == ("rms_l2", "this")}
    low, high = ends.get("lower"), ends.get("upper")
    if judged.verdict != "PROVED" or not isinstance(low, Expr) or not isinstance(high, Expr):
        return None
    return float(constant(low)) ** 2, float(constant(high)) ** 2


def prism(d: int) -> Fraction:
    """What E (u_1/h)^2 is at least, u uniform in the hull of points with |first coordinate| = h and their opposites (theory#prisms)."""
    m = d - 1
    times = [2 if 2 * i < m else 1 for i in range(m // 2 + 1)]
    ratio = next(Fraction(k, 1000) for k in range(1000, 10**6) if sum(c * Fraction(k, 1000) ** i for i, c in enumerate(times)) >= 2**m)
    weights = [c * ratio**i for i, c in enumerate(times)]
    middle = sum((weight * (i + 1) * (m - i + 1) for i, weight in enumerate(weights)), Fraction(0)) / sum(weights)
    return 1 - 4 * middle / ((m + 2) * (m + 3))


def of_heavy_rows(scratch: Path) -> Iterator[Row]:
    """Recursive mechanisms against noise in the norm of the whole body."""
    for d, n in ((8, 20), (10, 24), (12, 16), (16, 16), (12, 24), (16, 32)):
        matrix = signs(d, n)
        heavy = [[100 * int(x) for x in matrix[0]], *([int(x) for x in one] for one in matrix[1:])]
        found = [one for one in candidates(question(heavy)) if isinstance(one, Candidate)]
        tuned = [ends[1] for one in found if one.name.startswith("recursive, along") and (ends := square(one, scratch)) is not None]
        whole = [ends[0] for one in found if one.name == "k-norm" and (ends := square(one, scratch)) is not None]
        least = whole[0] if whole else float((d + 1) * (d + 2) * 100**2 * prism(d))
        name = f"recursive, split and budgets chosen, d = {d}, n = {n}: squared error over that of K-norm"
        if not tuned:
            yield name, "not proved", f"{FIFTH}", "no", ""
            continue
        remark = f"root mean squares {sqrt(min(tuned)):.5g} and {'' if whole else 'at least '}{sqrt(least):.5g}"
        value = min(tuned) / least
        if not whole:
            remark += "; the facets are out of reach, and the error of K-norm is known from below alone"
        name, measured, limit, kept, remark = row(name, value, FIFTH, "", remark)
        yield name, measured if whole else f"at most {measured}", limit, kept if whole or kept == "yes" else "not known", remark


def of_designs() -> Iterator[Row]:
    """The design for many marginals."""

    def judge(specs: list[Spec]) -> list[Any]:
        return [verify(spec.claims[0].claim, 9).judgement for spec in specs]

    asked = {"workload": {"kind": "marginals", "sizes": [2] * 8, "ways": 2}, "adjacency": "l1", "epsilon": 1}
    found, seconds = timed(lambda: designer.design(designer.question_of("bench", {"design": asked}), judge))  # type: ignore[arg-type]
    best = found.ranked[0].value("rms_l2", "upper")
    assert found.least is not None and best is not None and isinstance(found.least[1].value, Expr)
    size, least = float(constant(best)), float(constant(found.least[1].value))
    remark = f"{found.ranked[0].candidate.name}: root mean square error {size:.5g}, at most {size / least:.3g} times the least of any"
    yield row("`design` for all 2-way marginals of 8 binary attributes", seconds, 60, "s", remark)


def rows(scratch: Path) -> Iterator[Row]:
    """One line of the table after the other."""
    yield from of_bodies()
    yield from of_samplers()
    yield from of_programs()
    yield from of_heavy_rows(scratch)
    yield from of_designs()


def main() -> int:
    """Measure, print, write."""
    what = (__doc__ or "").split("\n\n")[1].strip().replace("\n", " ")
    lines = ["# The geometry of noise: measured against its limits", "", f"{what} `make bench`.", ""]
    lines += ["| what | measured | limit | kept | |", "|---|---|---|---|---|"]
    with TemporaryDirectory() as scratch:
        for one in rows(Path(scratch)):
            print(" | ".join(one), flush=True)
            lines.append(f"| {' | '.join(one)} |")
    lines += ["", f"{datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, numpy {version('numpy')}, {platform.machine()}."]
    (ROOT / "reports" / "geometry-bench.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
