"""Dinur and Nissim's attack: private bits from many noisy counts, by a linear program (docs/sources/reconstruction.md)."""

from __future__ import annotations

from functools import cache, partial
from math import isqrt
from random import Random

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import bmat, csr_matrix, identity

from computed.judged import toml, verdict
from computed.pages import Page, Row, Table, cells, standalone
from dpverify.report.axes import Axis
from dpverify.report.svg import Chart, Mark, Series
from dpverify.trusted.kernel.bounds import Infinite

Floats = NDArray[np.float64]

BITS = 64
QUERIES = 256
TRIALS = 5
SUBSETS = (64, 128, 256, 512, 1024)
BOUNDED = ("0", "1/8", "1/4", "1/2", "1", "2", "4")
"""Of the root of the number of bits."""
EPSILONS = ("1", "2", "4", "8", "16", "32", "64", "128")


@cache
def asked(bits: int, queries: int, trial: int) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]:
    """Random subsets of the bits, and the bits, the same on every machine."""
    random = Random(f"reconstruction, {bits} bits, {queries} queries, trial {trial}")
    subsets = tuple(tuple(random.getrandbits(1) for _ in range(bits)) for _ in range(queries))
    return subsets, tuple(random.getrandbits(1) for _ in range(bits))


def recovered(bits: int, queries: int, noise: str, size: float, trial: int) -> float:
    """The share of the bits that the attack finds. noise: "bounded", uniform up to the size on both sides, or "laplace" of that scale."""
    subsets, truth = (np.array(one, dtype=float) for one in asked(bits, queries, trial))
    random = Random(f"noise, {bits} bits, {queries} queries, trial {trial}")
    uniform = np.array([random.random() for _ in range(queries)]) - 0.5
    error = 2 * size * uniform if noise == "bounded" else -size * np.sign(uniform) * np.log1p(-2 * np.abs(uniform))
    found = attack(subsets, subsets @ truth + error)
    return float((found == truth).mean())


def attack(subsets: Floats, answers: Floats) -> Floats:
    """The bits that are nearest to fractions whose counts are as near as possible to the answers, in the sum of distances."""
    queries, bits = subsets.shape
    counts, distance = csr_matrix(subsets), identity(queries)
    sides = bmat([[counts, -distance], [-counts, -distance]], format="csr")
    costs = np.concatenate((np.zeros(bits), np.ones(queries)))
    bounds = [(0, 1)] * bits + [(0, None)] * queries
    solved = linprog(costs, A_ub=sides, b_ub=np.concatenate((answers, -answers)), bounds=bounds, method="highs-ds")
    if solved.status != 0:
        raise ValueError(f"the linear program is not solved: {solved.message}")
    return np.asarray((solved.x[:bits] > 0.5).astype(float))


def _mean(noise: str, size: float, queries: int = QUERIES) -> float:
    return sum(recovered(BITS, queries, noise, size, trial) for trial in range(TRIALS)) / TRIALS


def most(trial: int) -> int:
    """Of how many subsets a person is a member at most: the l1 sensitivity of the counts."""
    return max(sum(column) for column in zip(*asked(BITS, QUERIES, trial)[0], strict=True))


def worst() -> int:
    """The trial with the greatest sensitivity: what is private there is private in all of them."""
    return max(range(TRIALS), key=most)


def claim(epsilon: str, trial: int) -> str:
    """The claim file of the answers of one trial with Laplace noise: a person whose bit is 1 is added, and is in so many of the subsets."""
    subsets, _ = asked(BITS, QUERIES, trial)
    noise = f'kind = "builtin"\nname = "laplace"\nscale = "{most(worst())}/{epsilon}"\ndimension = {QUERIES}'
    return f'[mechanism]\n{noise}\n[[claim]]\nname = "answers"\nquery = {toml(subsets)}\nadjacency = "add-remove"\nepsilon = "{epsilon}"\n'


def _bounded(share: str) -> tuple[str, ...]:
    top, _, bottom = share.partition("/")
    size = int(top) / int(bottom or 1) * isqrt(BITS)
    return f"{size:g}", _epsilon(size), f"{_mean('bounded', size):.2f}"


def _epsilon(bound: float) -> str:
    """Of one count with bounded noise: what is proved of it, from below."""
    if bound == 0:
        return "infinite (no noise)"
    noise = f'kind = "translation"\ndensity = "1"\nsupport = ["{-bound}", "{bound}"]'
    judged = verdict(f'[mechanism]\n{noise}\n[[claim]]\nname = "a count"\nquery = [[1]]\nadjacency = "add-remove"\nepsilon = "tight"\n')
    return "infinite" if isinstance(judged.lower, Infinite) else "not known"


def _queries(queries: int) -> tuple[str, ...]:
    return (f"{_mean('bounded', isqrt(BITS) / 2, queries):.2f}",)


def _private(epsilon: str) -> tuple[str, ...]:
    """Laplace noise for an epsilon, with what is proved of it."""
    judged = verdict(claim(epsilon, worst()))
    if judged.verdict != "PROVED":
        raise ValueError(f"{judged.verdict}: the noise is not proved to be private.")
    at, scale = float(epsilon), most(worst()) / float(epsilon)
    return f"{scale:.3g}", f"{_mean('laplace', scale):.2f}", f"{1 / (1 + np.exp(-at)):.2f}"


def picture(text: str) -> str:
    """The share of the bits that is found against the size of the noise, from the tables."""
    root = isqrt(BITS)
    bounded = [(float(row[1]), float(row[3])) for row in cells(text, "bounded") if float(row[1])]
    laplace = sorted((float(row[1]), float(row[2])) for row in cells(text, "laplace"))
    said = f"The share of {BITS} private bits that the linear program finds from {QUERIES} counts, against the size of the noise on each: "
    said += "all of them while it is well below the root of the number of bits, half of them, as by tossing coins, where it is far above."
    chart = Chart(
        "Reconstruction", said, Axis("size of the noise on a count", log=True), Axis("share of the bits found", low=0.4, high=1.02),
        [Series("bounded noise", [bounded]), Series("Laplace noise", [laplace])],
        [Mark("root of the number of bits", root, axis="x", kind="threshold")],
    )  # fmt: skip
    return standalone(chart.svg("reconstruction"))


PAGE = Page(
    "reconstruction",
    [
        Table(
            "bounded", ("noise over sqrt(n)", "at most", "epsilon", "share of the bits found"),
            [Row((share,), partial(_bounded, share), slow=number > 0) for number, share in enumerate(BOUNDED)],
        ),
        Table(
            "queries", ("subsets", "share of the bits found"),
            [Row((str(queries),), partial(_queries, queries), slow=True) for queries in SUBSETS],
        ),
        Table(
            "laplace", ("epsilon", "scale of the noise", "share of the bits found", "most that any attack can find"),
            [Row((epsilon,), partial(_private, epsilon), slow=True) for epsilon in EPSILONS],
        ),
    ],
    [("reconstruction.svg", picture)],
)  # fmt: skip
