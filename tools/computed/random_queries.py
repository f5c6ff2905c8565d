"""Random queries with entries +-1, all of them at once (the cube), and what a delta above 0 gains (docs/sources/random-queries.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from math import log, sqrt
from random import Random

import numpy as np
from flint import arb

from computed.judged import Rows, by_volume, down, judge, knorm, laplace, toml, up
from computed.pages import Page, Row, Table, cells, standalone
from dpverify.project.designer.candidates import least_sigma
from dpverify.project.designer.exact import above
from dpverify.report.axes import Axis
from dpverify.report.svg import Chart, Series
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.theories.utility.any_mechanism import over_shells

EPSILON = "1/100"
RATE = Fraction(1, 100)
WITHIN = 10
"""Dimensions up to which the facets of random polytopes are looked for here."""
CASES = (
    (4, 4), (4, 8), (6, 6), (6, 12), (6, 24), (6, 48), (6, 96), (6, 192), (8, 8), (8, 16), (8, 32), (10, 10), (10, 20), (10, 24),
    (16, 32), (32, 64), (64, 128),
)  # fmt: skip
CUBES = (1, 2, 3, 4, 5, 6)
DELTAS = ("1e-2", "1e-3", "1e-4", "1e-5", "1e-6", "1e-9")
CUBE = 4
"""The dimension in which noise with a delta is compared."""


def random_rows(d: int, n: int) -> Rows:
    """A matrix of independent random signs of rank d, the same on every machine."""
    random = Random(f"random signs, {d} x {n}")
    while True:
        rows = [[random.choice((-1, 1)) for _ in range(n)] for _ in range(d)]
        if np.linalg.matrix_rank(np.array(rows)) == d:
            return rows


def cube_rows(d: int) -> Rows:
    """The matrix whose columns are all vectors of signs, one of each pair of opposites: K is the cube."""
    return [list(row) for row in zip(*((1, *rest) for rest in product((1, -1), repeat=d - 1)), strict=True)]


def compared(rows: Rows, times: Fraction) -> tuple[str, ...]:
    """Lower bounds by volume and by lines, K-norm, Laplace, and K-norm over the greater bound; errors multiplied by `times`."""
    d, query = len(rows), toml(rows)
    independent = judge(laplace(d, str(d / RATE)), query, "l1", EPSILON)
    own, lines = independent.own(times=times), independent.least(times=times)
    if d > WITHIN:
        return "out of reach", down(lines), "out of reach", up(own), "out of reach"
    volume = by_volume(rows, EPSILON) * times
    norm = judge(knorm(rows, str(1 / RATE)), query, "l1", EPSILON).own(times=times)
    return down(volume), down(lines), up(norm), up(own), up(norm / max(lines, volume))


def _random_row(d: int, n: int) -> tuple[str, ...]:
    return compared(random_rows(d, n), RATE / d)


def _cube_row(d: int) -> tuple[str, ...]:
    return compared(cube_rows(d), RATE / above(d * sqrt(d), 15))


def gaussian(d: int, delta: str) -> tuple[Fraction, Fraction]:
    """Gaussian noise on the answers of the cube: its deviation over sqrt(d), and its root mean square error, proved."""
    sigma = above(least_sigma(float(RATE), float(delta)), 5)
    mechanism = f'kind = "builtin"\nname = "gaussian"\nsigma = "({sigma})*sqrt({d})"\ndimension = {d}'
    return sigma, judge(mechanism, toml(cube_rows(d)), "l1", EPSILON, f'delta = "{delta}"').own()


def _delta_row(delta: str) -> tuple[str, ...]:
    sigma, own = gaussian(CUBE, delta)
    least = max(judge(laplace(CUBE, str(CUBE / RATE)), toml(cube_rows(CUBE)), "l1", EPSILON).least(), by_volume(cube_rows(CUBE), EPSILON))
    found = first_above(float(sigma * RATE))
    return up(own * RATE / CUBE), down(least * RATE / CUBE), "yes" if own < least else "no", str(found)


def cube_by_volume(d: int) -> arb:
    """The bound by volume on the root mean square error for the cube in d dimensions, times epsilon over d: the theorem, in balls."""
    with precision(64 + d):
        mass = arb(2) ** d * over_shells(arb(1) / 100, d)
        ball = arb.pi() ** (arb(d) / 2) / (arb(d) / 2 + 1).gamma()
        return (arb(d) / (d + 2)).sqrt() * (mass / ball).root(d) / 100 / d


def first_above(size: float) -> int:
    """The first dimension in which the bound by volume for the cube is certainly above d times a number over epsilon."""
    low, high = 0, 1
    while not cube_by_volume(high) > size:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if cube_by_volume(middle) > size else (middle, high)
    return high


def _line(rows: Sequence[Sequence[str]], x: int, y: int) -> list[tuple[float, float]]:
    return [(float(row[x]), float(row[y])) for row in rows if row[y] != "out of reach"]


def against_n(text: str) -> str:
    """Errors of six random queries, from the table."""
    rows = [row for row in cells(text, "random") if row[0] == "6"]
    said = "Root mean square errors times epsilon over d, for 6 queries with random signs on 6 to 192 kinds of records, beside the root of "
    said += "log(n/d). K-norm noise and the two lower bounds grow slowly, and no more where all columns are there; Laplace noise stays."
    series = [
        Series("Laplace", [_line(rows, 1, 7)]), Series("K-norm", [_line(rows, 1, 6)]), Series("any, by lines", [_line(rows, 1, 5)]),
        Series("any, by volume", [_line(rows, 1, 4)]), Series("sqrt(log(n/d))", [_line(rows, 1, 3)]),
    ]  # fmt: skip
    axes = Axis("number n of kinds of records", log=True), Axis("error times epsilon over d", low=0.0)
    return standalone(Chart("Errors for six random queries", said, *axes, series).svg("random-queries-n"))


def picture(text: str) -> str:
    """Errors of random queries with n = 2 d, from the table."""
    rows = [row for row in cells(text, "random") if int(row[1]) == 2 * int(row[0])]
    title = "Errors for random queries"
    said = "Root mean square errors times epsilon over d, for d queries with random signs on 2 d kinds of records, d from 4 to 64. "
    said += "Laplace noise grows like the root of 2 d; K-norm noise stays below 1.8, the bound by lines near 1.4, "
    said += "that by volume below 0.7."
    series = [
        Series("Laplace", [_line(rows, 0, 7)]), Series("K-norm", [_line(rows, 0, 6)]), Series("any, by lines", [_line(rows, 0, 5)]),
        Series("any, by volume", [_line(rows, 0, 4)]),
    ]  # fmt: skip
    chart = Chart(title, said, Axis("number d of queries", log=True), Axis("error times epsilon over d", log=True), series)
    return standalone(chart.svg("random-queries"))


def _growth(d: int, n: int) -> str:
    return f"{sqrt(log(n / d)):.3f}"


def _rows(build: Callable[..., tuple[str, ...]], keys: Sequence[tuple[int | str, ...]], quick: int) -> list[Row]:
    return [Row(tuple(map(str, key)), partial(build, *key), slow=number >= quick) for number, key in enumerate(keys)]


PAGE = Page(
    "random-queries",
    [
        Table(
            "random",
            ("d", "n", "sqrt(d)", "sqrt(log(n/d))", "any, by volume", "any, by lines", "K-norm", "Laplace", "K-norm over the least"),
            [Row((str(d), str(n), f"{sqrt(d):.3f}", _growth(d, n)), partial(_random_row, d, n), slow=(d, n) != CASES[1]) for d, n in CASES],
        ),
        Table(
            "cube", ("d", "any, by volume", "any, by lines", "K-norm", "Laplace", "K-norm over the least"),
            _rows(_cube_row, [(d,) for d in CUBES], 2),
        ),
        Table(
            "separation",
            ("delta", "Gaussian", "any with delta = 0", "less than any with delta = 0", "by volume alone from d ="),
            _rows(_delta_row, [(delta,) for delta in DELTAS], 0),
        ),
    ],
    [("random-queries.svg", picture), ("random-queries-n.svg", against_n)],
)  # fmt: skip
