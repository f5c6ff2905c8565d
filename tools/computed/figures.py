"""The figures of Hardt and Talwar: costs, K-norm noise as an algorithm, the recursive mechanism (docs/sources/figures.md)."""

from __future__ import annotations

from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from click.testing import CliRunner
from flint import arb
from scipy.spatial import ConvexHull

from computed.judged import Judged, Rows, by_volume, down, judge, knorm, laplace, rational, toml, up, verdict
from computed.pages import Page, Row, Table
from computed.random_queries import random_rows
from dpverify.cli import main
from dpverify.project.designer import exact, recursive
from dpverify.project.designer.candidates import Candidate, candidates, least_sigma
from dpverify.project.designer.question import Question, question_of
from dpverify.report.phrases import common
from dpverify.search.utility import bodies
from dpverify.trusted.facts.bodies import Body
from dpverify.trusted.facts.errors import EUCLIDEAN, Measure
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.balls import exact as dyadic
from dpverify.trusted.kernel.expr import parse
from dpverify.trusted.kernel.model import L1, Claim, Matrix, Product, Query
from dpverify.trusted.kernel.proof import Proof

D, N = 4, 8
EPSILON = "1"
DELTA = "1e-6"
DRAWS = 200_000
SEED = 0
DRAWN = ("mean length", "root mean square", "mean of its norm")
HEAVY = 100
CHOSEN = (
    "recursive, split and shares chosen", "laplace, principal directions", "laplace, the query itself", "laplace", "k-norm",
    "recursive, of the paper", "gaussian, ellipsoid",
)  # fmt: skip
"""Candidates of the designer that are compared, the least error first."""


def fractions(rows: Rows) -> Matrix:
    """The same matrix in rationals."""
    return tuple(tuple(Fraction(x) for x in row) for row in rows)


# -- figure 1 --------------------------------------------------------------------------------------------


@cache
def _noise(kind: str) -> Judged:
    rows = random_rows(D, N)
    if kind == "gaussian":
        sigma = exact.above(least_sigma(float(Fraction(EPSILON)), float(DELTA)), 5)
        mechanism = f'kind = "builtin"\nname = "gaussian"\nsigma = "({sigma})*sqrt({D})"\ndimension = {D}'
        return judge(mechanism, toml(rows), "l1", EPSILON, f'delta = "{DELTA}"')
    return judge(laplace(D, str(D)) if kind == "laplace" else knorm(rows, "1"), toml(rows), "l1", EPSILON)


def _upper(kind: str) -> tuple[str, ...]:
    found = _noise(kind)
    return up(found.own()), up(found.own("expected_l2"))


def packing(rows: Rows) -> arb:
    """The bound of the paper's packing argument on the mean error, with its constants written out, at epsilon 1."""
    d = len(rows)
    claim = Claim(Product(parse("exp(-abs(z))"), parse(str(d)), L1), parse("1"), query=Query(fractions(rows), "l1"))
    fact = bodies.fact(Proof(claim), "query")
    assert fact is not None and isinstance(fact.says, Body) and fact.says.exact
    with precision(128):
        ball = arb.pi() ** (arb(d) / 2) / (arb(d) / 2 + 1).gamma()
        ratio = (constant(fact.says.volume) / ball).root(d)
        return arb(d) / 2 / arb(1).exp() * d / (d + 1) / arb(d + 1).root(d) * ratio


def _packed() -> tuple[str, ...]:
    return "", down(dyadic(packing(random_rows(D, N)).lower()))


def _volume() -> tuple[str, ...]:
    return down(by_volume(random_rows(D, N), EPSILON)), ""


def _lines() -> tuple[str, ...]:
    found = _noise("k-norm")
    return down(found.least()), down(found.least("expected_l2"))


# -- figure 2 --------------------------------------------------------------------------------------------


@cache
def drawn(size: int, seed: int) -> tuple[float, float, float]:
    """The mean length of K-norm noise from `dpverify sample`, its root mean square, and the mean of its norm."""
    rows = random_rows(D, N)
    with TemporaryDirectory() as folder:
        file, outputs = Path(folder) / "noise.toml", Path(folder) / "noise.npy"
        file.write_text(f'[mechanism]\n{knorm(rows, "1")}\n[[claim]]\nname = "claim"\nsensitivity = 1\nepsilon = 1\n', encoding="utf-8")
        done = CliRunner().invoke(main, ["sample", str(file), "--size", str(size), "--seed", str(seed), "-o", str(outputs)])
        if done.exit_code:
            raise ValueError(done.output)
        noise = np.load(outputs)
    lengths = np.linalg.norm(noise, axis=1)
    columns = np.array(rows, dtype=float).T
    sides = ConvexHull(np.concatenate((columns, -columns))).equations
    norms = (noise @ (sides[:, :-1] / -sides[:, -1:]).T).max(axis=1)
    return float(lengths.mean()), float(np.sqrt((lengths**2).mean())), float(norms.mean())


def _drawn(which: int) -> tuple[str, ...]:
    found = _noise("k-norm")
    proved = str(D) if which == 2 else _between(found, EUCLIDEAN[which])
    return proved, f"{drawn(DRAWS, SEED)[which]:.3f}"


def _between(found: Judged, measure: Measure) -> str:
    lower, upper = (found.value(measure, side) for side in ("lower", "upper"))
    assert lower is not None and upper is not None
    return common(down(rational(lower, 0), 8), up(rational(upper, 1), 8))


# -- figure 3 --------------------------------------------------------------------------------------------


def heavy() -> Rows:
    """Random signs, the first row a hundred times as large."""
    first, *others = random_rows(D, N)
    return [[HEAVY * x for x in first], *others]


@cache
def _halved() -> recursive.Split:
    found = recursive.of_the_paper(fractions(heavy()), exact.unit(D), "l1")
    assert found is not None
    return found


def level(number: int) -> tuple[recursive.Piece, Judged]:
    """A level of the paper's mechanism, and what is proved of its noise as it reaches the answers."""
    split = _halved()
    piece = split.pieces[number]
    at = sum(len(one.rows) for one in split.pieces[:number])
    block = tuple(row[at : at + len(piece.rows)] for row in split.matrix)
    columns = exact.text(dict.fromkeys(zip(*piece.rows, strict=True)))
    part = f'kind = "radial"\nprofile = "exp(-r)"\nnorm = {{ columns = {columns} }}\ndimension = {len(piece.rows)}\n'
    part += f'scale = "{1 / piece.share}"\nquery = {exact.text(piece.rows)}\nadjacency = "l1"'
    mechanism = f'kind = "post_process"\nmap = "to the answers"\nmatrix = {exact.text(block)}\n[mechanism.part]\n{part}'
    return piece, judge(mechanism, "", "l1", str(piece.share))


def _level(number: int) -> tuple[str, ...]:
    piece, found = level(number)
    return str(len(piece.rows)), str(len(piece.keep)), str(piece.share), up(found.own())


@cache
def _question(delta: str) -> Question:
    table = {"query": heavy(), "adjacency": "l1", "epsilon": 1} | ({"delta": delta} if delta else {})
    return question_of("heavy row", {"design": table})


@cache
def candidate(name: str) -> Judged:
    """A mechanism that the designer proposes for the heavy row, judged."""
    question = _question(DELTA if name.startswith("gaussian") else "")
    start = "recursive, along" if name == CHOSEN[0] else name
    found = [one for one in candidates(question) if isinstance(one, Candidate) and one.name.startswith(start)]
    best = min(found, key=lambda one: one.predicted or 0) if name == CHOSEN[0] else next(one for one in found if one.name == name)
    return Judged(verdict(best.text))


def _compared(name: str) -> tuple[str, ...]:
    own = candidate(name).own()
    least = candidate("k-norm").least()
    return up(own), "" if name.startswith("gaussian") else up(own / least)


def _least() -> tuple[str, ...]:
    return down(candidate("k-norm").least()), ""


PAGE = Page(
    "figures",
    [
        Table(
            "figure 1", ("", "root mean square", "mean"),
            [
                Row(("independent Laplace noise",), partial(_upper, "laplace")),
                Row(("K-norm noise",), partial(_upper, "k-norm")),
                Row(("Gaussian noise, delta = 10^-6",), partial(_upper, "gaussian"), slow=True),
                Row(("any mechanism, by packing",), _packed),
                Row(("any mechanism, by volume",), _volume),
                Row(("any mechanism, by lines",), _lines),
            ],
        ),
        Table(
            "figure 2", ("of the noise", "proved", "200,000 draws"),
            [Row((name,), partial(_drawn, number), slow=True) for number, name in enumerate(DRAWN)],
        ),
        Table(
            "figure 3", ("level", "dimension of the body", "directions kept", "epsilon", "its error in the answers"),
            [Row((str(number + 1),), partial(_level, number), slow=number < 2) for number in range(3)],
        ),
        Table(
            "heavy row", ("mechanism", "root mean square error", "times the least"),
            [
                *(Row((name,), partial(_compared, name), slow=True) for name in CHOSEN),
                Row(("any with delta = 0, at least",), _least, slow=True),
            ],
        ),
    ],
)  # fmt: skip
