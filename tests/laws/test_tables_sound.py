"""Finite mechanisms, k-ary randomized response, staircases and kernels against brute force at 40 digits: no verdict may contradict it."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, permutations
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.search.verify import verify
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.expr import Expr, Num, neg, num, parse, substitute
from dpverify.trusted.kernel.model import Claim, Domain, Exponential, KaryResponse, Kernel, Mechanism, Staircase, Table
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.theories.finite.tables import distance
from tests.effort import examples

MP = mpmath.MPContext()
MP.dps = 40
SLACK = MP.mpf(10) ** -20

fractions = st.fractions(-4, 4, max_denominator=3)
weights_of = st.integers(1, 5).flatmap(
    lambda m: st.lists(st.lists(st.integers(0, 50), min_size=m, max_size=m).filter(any), min_size=1, max_size=4)
)
scores_of = st.integers(1, 4).flatmap(lambda m: st.lists(st.lists(fractions, min_size=m, max_size=m), min_size=1, max_size=4))
points_of = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=4, unique=True)
offsets = st.sampled_from([Fraction(s, d) for s in (1, -1) for d in (1, 10**3, 10**9, 10**12)] + [Fraction(0)])


def real(value: Fraction) -> Any:
    return MP.mpf(value.numerator) / value.denominator


def number(bound: Expr | Infinite | None) -> Any:
    if bound is None or isinstance(bound, Infinite):
        return None if bound is None else MP.inf
    return MP.mpf(enclose(bound, 160).mid().str(45, radius=False))


def largest(rows: list[list[Any]], pairs: list[tuple[int, int]]) -> Any:
    """The greatest log-ratio of a table, by the definition."""
    best = MP.mpf(0)
    for a, b in pairs:
        for p, q in zip(rows[a], rows[b], strict=True):
            if p > 0:
                best = MP.inf if q == 0 else max(best, MP.log(p / q))
    return best


def agrees(mechanism: Mechanism, tight: Any, offset: Fraction, sensitivity: Expr | None = None) -> None:
    """The verdict on a claim `offset` away from the tight epsilon, the bounds and the re-checked certificate fit the tight epsilon."""
    near = Fraction(0) if tight == MP.inf else Fraction(MP.nstr(tight, 30, min_fixed=-9, max_fixed=9))
    epsilon = max(Fraction(0), near + offset)
    verified = verify(Claim(mechanism, Num(epsilon), sensitivity=sensitivity))
    judgement = verified.judgement
    assert kernel.check(verified.certificate).verdict == judgement.verdict
    lower, upper = number(judgement.lower), number(judgement.upper)
    assert upper is None or upper >= tight - SLACK * (1 + abs(tight) if tight < MP.inf else 1)
    assert lower is None or lower <= tight + SLACK * (1 + abs(tight))
    if judgement.verdict == "PROVED":
        assert real(epsilon) >= tight - SLACK
    elif judgement.verdict == "REFUTED":
        assert real(epsilon) <= tight + SLACK
    else:
        assert abs(real(epsilon) - tight) <= SLACK


@settings(max_examples=examples(40), deadline=None)
@given(weights_of, st.booleans(), offsets)
def test_tables(weights, chain, offset):
    rows = [[Fraction(w, sum(row)) for w in row] for row in weights]
    adjacent = tuple(pairwise(range(len(rows)))) if chain and len(rows) > 1 else None
    pairs = list(permutations(range(len(rows)), 2)) if adjacent is None else [p for a, b in adjacent for p in ((a, b), (b, a))]
    table = Table(tuple(tuple(map(num, row)) for row in rows), adjacent)
    agrees(table, largest([[real(p) for p in row] for row in rows], pairs), offset)


@settings(max_examples=examples(30), deadline=None)
@given(scores_of, st.fractions(0, 3, max_denominator=3), st.booleans(), offsets)
def test_exponential_mechanisms(scores, beta, stated, offset):
    weights = [[MP.exp(real(beta * score)) for score in row] for row in scores]
    rows = [[w / MP.fsum(row) for w in row] for row in weights]
    pairs = list(permutations(range(len(rows)), 2))
    moves = [abs(s - t) for a, b in pairs for s, t in zip(scores[a], scores[b], strict=True)]
    sensitivity = num(max(moves, default=Fraction(0))) if stated else None
    agrees(Exponential(tuple(tuple(map(num, row)) for row in scores), num(beta)), largest(rows, pairs), offset, sensitivity)


@settings(max_examples=examples(20), deadline=None)
@given(points_of, st.sampled_from(["l1", "l2", "linf"]), st.sampled_from([None, 1, 2]), offsets)
def test_exponential_mechanisms_on_points(points, metric, reach, offset):
    order = {"l1": 1, "l2": 2, "linf": MP.inf}[metric]
    gaps = [[MP.norm([x - y for x, y in zip(p, q, strict=True)], order) for q in points] for p in points]
    weights = [[MP.exp(-gap) for gap in row] for row in gaps]
    rows = [[w / MP.fsum(row) for w in row] for row in weights]
    pairs = [pair for pair in permutations(range(len(points)), 2) if reach is None or gaps[pair[0]][pair[1]] <= reach]
    per_distance = [largest(rows, [(a, b)]) / (gaps[a][b] if reach is None else 1) for a, b in pairs]
    exact = tuple(tuple(map(num, point)) for point in points)
    scores = tuple(tuple(neg(distance(p, q, metric)) for q in exact) for p in exact)
    sensitivity = None if reach is None else num(reach)
    agrees(Exponential(scores, num(1), None, exact, metric), max(per_distance, default=MP.mpf(0)), offset, sensitivity)


@settings(max_examples=examples(30), deadline=None)
@given(st.integers(2, 9), st.fractions(0, 1, max_denominator=12), offsets)
def test_kary_response(k, p, offset):
    other = (1 - p) / (k - 1)
    rows = [[real(p if x == y else other) for y in range(k)] for x in range(k)]
    agrees(KaryResponse(num(k), num(p)), largest(rows, list(permutations(range(k), 2))), offset)


@settings(max_examples=examples(30), deadline=None)
@given(st.fractions("1/5", 3, max_denominator=5), st.fractions(0, 1, max_denominator=6), st.fractions("1/9", 5, max_denominator=9), offsets)
def test_staircases_count_steps(epsilon, gamma, shift, offset):
    # the density is constant between these points and their copies shifted
    edges = sorted({sign * (j - 1 + gamma) + move for j in range(1, 20) for sign in (1, -1) for move in (0, -shift)})
    middles = [(a + b) / 2 for a, b in pairwise(edges)]
    steps = [abs((abs(z) + 1 - gamma).__floor__() - (abs(z + shift) + 1 - gamma).__floor__()) for z in middles]
    agrees(Staircase(num(epsilon), num(gamma)), real(epsilon * max(steps)), offset, num(shift))


KERNELS = {
    "exp(-abs(y - theta))/(2 - exp(-theta) - exp(theta - 1))": lambda y, t: np.exp(-abs(y - t)) / (2 - np.exp(-t) - np.exp(t - 1)),
    "1 + theta*(y - 1/2)": lambda y, t: 1 + t * (y - 0.5),
    "(1 + 2*min(y, theta))/(1 + 2*(theta - theta**2/2))": lambda y, t: (1 + 2 * np.minimum(y, t)) / (1 + 2 * (t - t**2 / 2)),
    "(1 + 3*max(0, y - theta))/(1 + 3*(1 - theta)**2/2)": lambda y, t: (1 + 3 * np.maximum(0, y - t)) / (1 + 3 * (1 - t) ** 2 / 2),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("density", KERNELS)
@pytest.mark.parametrize("reach", [None, "1/3", "1/2"])
def test_kernels(density, reach):
    grid = np.linspace(0, 1, 121)  # holds every corner of the region, and of its kinks
    logs = np.log(KERNELS[density](grid[None, :], grid[:, None]))
    close = abs(grid[:, None] - grid[None, :]) <= (1 if reach is None else float(Fraction(reach))) + 1e-9
    seen = max(float((logs[a] - logs[close[a]].min(axis=0)).max()) for a in range(len(grid)))
    mechanism = Kernel(parse(density), (num(0), num(1)), (num(0), num(1)))
    sensitivity = None if reach is None else parse(reach)
    for factor, verdict in ((Fraction(11, 10), "PROVED"), (Fraction(9, 10), "REFUTED")):
        judgement = verify(Claim(mechanism, num(factor * Fraction(seen)), sensitivity=sensitivity)).judgement
        assert judgement.verdict == verdict
        upper = number(judgement.upper)
        assert upper is None or upper >= seen - 1e-9


UNIT = (Fraction(0), Fraction(1))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("mechanism", [KaryResponse(num(2), parse("p")), KaryResponse(num(5), parse("p")),
                                       Table(((parse("p"), parse("1 - p")), (parse("1 - p"), parse("p"))))])  # fmt: skip
@pytest.mark.parametrize(
    ("domain", "verdict"),
    [(Domain(*UNIT), "PROVED"), (Domain(*UNIT, False, True), "REFUTED"), (Domain(*UNIT, True, False), "REFUTED")],
)
def test_at_an_end_that_p_reaches_epsilon_is_infinite(mechanism, domain, verdict):
    k = mechanism.k if isinstance(mechanism, KaryResponse) else num(2)
    claimed = substitute(parse("abs(log(p*(k - 1)/(1 - p)))"), {"k": k})
    assert verify(Claim(mechanism, claimed, domains=(("p", domain),))).judgement.verdict == verdict
