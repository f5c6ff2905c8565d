"""Finitely many points: the most private table with answers near the truth, the dual that shows that none is more private, and packings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

from dpverify.search.proposal import Steps
from dpverify.search.spaces.private_tables import Pair, Task, dual_of, ratio, solved
from dpverify.trusted.geometry.lengths import norm_value
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import Expr, Num, call, format_expr, mul
from dpverify.trusted.kernel.model import Claim, Matrix, Shape
from dpverify.trusted.theories.spaces.databases import Finite, finite
from dpverify.trusted.theories.spaces.rules import near_dual, near_table

Told = dict[str, Any]

_MOST: Final = 40
"""Most databases for which a linear program is solved."""
_SMALL: Final = 1e-9
_MOST_EPSILON: Final = 200.0
_SIMPLE: Final = 1000
"""Greatest denominator of a ratio of which the logarithm is tried as the tight epsilon."""


def above(claim: Claim, digits: int) -> Steps:
    """The table at the claimed epsilon, or just above the tight one."""
    given = _given(claim)
    if given is None or len(given.truth) > _MOST:
        return []
    for epsilon in _epsilons(claim, given, 1 + _SMALL):
        ratios = {pair: ratio(*_scaled(epsilon, given.least(*pair))) for pair in _pairs(given, given.least)}
        try:
            rows, _ = solved(Task(_losses(given), ratios), 12)
        except DpverifyError:
            continue
        evidence = {"epsilon": format_expr(epsilon), "rows": [[str(p) for p in row] for row in rows]}
        if _accepted(near_table, claim, evidence):
            return [{"rule": near_table.NAME, "evidence": evidence}]
    return []


def below(claim: Claim, digits: int) -> Steps:
    """The dual at the claimed epsilon, or just below the tight one."""
    given = _given(claim)
    if given is None or len(given.truth) > _MOST or given.space.databases == "unbounded":
        return []
    steps: Steps = []
    for epsilon in _epsilons(claim, given, 1 - _SMALL, most=True):
        ratios = {pair: ratio(*_scaled(epsilon, _most(given)(*pair))) for pair in _pairs(given, _most(given))}
        try:
            dual = dual_of(Task(_losses(given), ratios), 12)
        except DpverifyError:
            continue
        rows = [[near, far, [str(z) for z in row]] for (near, far), row in dual.multipliers.items()]
        evidence = {"epsilon": format_expr(epsilon), "weights": [str(w) for w in dual.weights], "multipliers": rows}
        if _accepted(near_dual, claim, evidence):
            steps.append({"rule": near_dual.NAME, "evidence": evidence})
    return steps


def _accepted(rule: Any, claim: Claim, evidence: Told) -> bool:
    try:
        rule.check(claim, evidence)
    except DpverifyError:
        return False
    return True


def _given(claim: Claim) -> Finite | None:
    try:
        return finite(claim, {"epsilon": "0"}, near_table.NAME)[0]
    except DpverifyError:
        return None


def _epsilons(claim: Claim, given: Finite, factor: float, most: bool = False) -> Iterator[Expr]:
    """What is claimed, and what is just beside the tight epsilon."""
    if claim.epsilon is not None and not claim.domains:
        yield claim.epsilon
    tight = _tight(claim, most)
    ratio_there = Fraction(math.exp(min(tight or 0.0, 50.0))).limit_denominator(_SIMPLE)
    if tight is not None and not most and abs(math.log(ratio_there) - tight) < _SMALL:
        yield call("log", Num(ratio_there))  # the optimum is often at one: powers of it are rational
    if tight is not None and (most is False or tight > 0):
        size = tight * factor + (_SMALL if factor > 1 else -_SMALL)
        yield Num(Fraction(max(0, math.ceil(size * 10**12)), 10**12))


def _scaled(epsilon: Expr, distance: Expr) -> tuple[Expr, Fraction]:
    """The arguments of `ratio`: a rational distance by itself."""
    return (epsilon, distance.value) if isinstance(distance, Num) else (mul(epsilon, distance), Fraction(1))


def _pairs(given: Finite, distance: Callable[[int, int], Expr]) -> list[Pair]:
    """Pairs of databases, but those with a third one between them: what holds of every step of a way holds of its ends."""
    size = range(len(given.truth))
    known = {(x, y): value.value for x in size for y in size if x != y and isinstance(value := distance(x, y), Num) and value.value > 0}

    def between(x: int, y: int, z: int) -> bool:
        steps = (x, z), (z, y)
        return (x, y) in known and all(step in known for step in steps) and sum(known[step] for step in steps) <= known[x, y]

    return [(x, y) for x in size for y in size if x != y and not any(between(x, y, z) for z in size)]


def _most(given: Finite) -> Callable[[int, int], Expr]:
    return lambda x, y: given.most(x, y, near_dual.NAME)


def _losses(given: Finite) -> Matrix:
    close = [[certainly_le(Num(distance), given.near) for distance in given.distances[answer]] for answer in given.truth]
    return tuple(tuple(Fraction(int(not one)) for one in row) for row in close)


@lru_cache(maxsize=16)
def _tight(claim: Claim, most: bool) -> float | None:
    """The least epsilon in floats, for databases as far apart as they may be, or as near; None where there is none."""
    given = _given(claim)
    assert given is not None
    losses = np.array([[float(loss) for loss in row] for row in _losses(given)])
    distance = _most(given) if most else given.least
    pairs = _pairs(given, distance)
    far = np.array([float(constant(distance(*pair)).mid()) for pair in pairs])
    beta = float(constant(given.beta).mid())

    def excess(epsilon: float) -> float:
        """What the least probability of a far answer is above beta, in logarithms of odds, which are nearly straight in epsilon."""
        least = min(max(_least(losses, pairs, epsilon * far), 1e-300), 1 - 1e-16)
        return math.log(least / (1 - least)) - math.log(beta / (1 - beta))

    if excess(0.0) <= 1e-12:
        return 0.0
    low, high, at_low, at_high = 0.0, 1.0, excess(0.0), excess(1.0)
    while at_high > 0:
        low, high, at_low = high, 2 * high, at_high
        if high > _MOST_EPSILON / min(far, default=1.0):
            return None
        at_high = excess(high)
    return _root(excess, low, high, at_low, at_high)


def _root(excess: Callable[[float], float], low: float, high: float, at_low: float, at_high: float) -> float:
    """Where a function that does not rise falls through 0, by the method of Illinois."""
    side = 0
    for _ in range(60):
        if high - low < 1e-11 * high:
            break
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        value = excess(middle)
        if abs(value) < 1e-13:
            return middle
        if value > 0:
            low, at_low, at_high, side = middle, value, at_high / 2 if side > 0 else at_high, 1
        else:
            high, at_high, at_low, side = middle, value, at_low / 2 if side < 0 else at_low, -1
    return (low + high) / 2


def _least(losses: Any, pairs: list[Pair], exponents: Any) -> float:
    """The least probability of a far answer on the worst database."""
    inputs, outputs = losses.shape
    top = inputs * outputs
    rows, columns, entries = [], [], []
    for number, ((near, other), exponent) in enumerate(zip(pairs, exponents, strict=True)):
        at = number * outputs + np.arange(outputs)
        rows += [at, at]
        columns += [near * outputs + np.arange(outputs), other * outputs + np.arange(outputs)]
        entries += [np.full(outputs, math.exp(-exponent)), np.full(outputs, -1.0)]
    start = len(pairs) * outputs
    rows += [start + np.repeat(np.arange(inputs), outputs), start + np.arange(inputs)]
    columns += [np.arange(top), np.full(inputs, top)]
    entries += [losses.ravel(), np.full(inputs, -1.0)]
    upper = coo_matrix((np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns))), (start + inputs, top + 1))
    sums = coo_matrix((np.ones(top), (np.repeat(np.arange(inputs), outputs), np.arange(top))), (inputs, top + 1))
    cost = np.zeros(top + 1)
    cost[top] = 1
    found = linprog(cost, upper.tocsr(), np.zeros(start + inputs), sums.tocsr(), np.ones(inputs), method="highs")
    return float(found.fun) if found.status == 0 else math.inf


# -- nets and packings of finitely many points ---------------------------------------------------------------------


def centres(distances: Matrix, radius: Expr) -> list[int]:
    """Points within a radius of which all points are: greedily, those that cover most."""
    limit = float(constant(radius).mid()) * (1 - 1e-12)
    close = np.array([[float(d) <= limit or i == j for j, d in enumerate(row)] for i, row in enumerate(distances)])
    left, chosen = np.ones(len(distances), bool), []
    while left.any():
        best = int((close & left).sum(axis=1).argmax())
        chosen.append(best)
        left &= ~close[best]
    return chosen


def apart(distances: Matrix, near: Expr) -> Iterator[Told]:
    """Points of which no point is near to two: greedily, those with the fewest others around."""
    limit = float(constant(near).mid())
    close = np.array([[float(d) <= limit for d in row] for row in distances])
    meet = (close.astype(int) @ close.T.astype(int)) > 0
    order, chosen = np.argsort(meet.sum(axis=1)), list[int]()
    for i in order:
        if not any(meet[i, j] for j in chosen):
            chosen.append(int(i))
    yield {"points": sorted(chosen)}


def corners(shape: Shape, near: Expr) -> Iterator[Told]:
    """Corners of a hull that are more than twice gamma apart, and points between them: greedily."""
    count = len(shape.matrix)
    weights = [tuple(Fraction(int(i == j)) for j in range(count)) for i in range(count)]
    for i in range(count):
        for j in range(i):
            weights += [
                tuple((Fraction(part, 8) if k == i else Fraction(8 - part, 8) if k == j else Fraction(0)) for k in range(count))
                for part in range(1, 8)
            ]
    limit, kept, points = 2 * float(constant(near).mid()) * (1 + 1e-12), list[Any](), list[Any]()
    for row in weights[:400]:
        point = tuple(sum((w * x for w, x in zip(row, column, strict=True)), Fraction(0)) for column in zip(*shape.matrix, strict=True))
        if all(_length(shape, point, other) > limit for other in points):
            kept.append(row)
            points.append(point)
        if len(kept) == _MOST:
            break
    yield {"points": [[str(w) for w in row] for row in kept]}


def _length(shape: Shape, one: Any, other: Any) -> float:
    try:
        return float(constant(norm_value(shape.norm, tuple(a - b for a, b in zip(one, other, strict=True)))).mid())
    except DpverifyError:
        return 0.0
