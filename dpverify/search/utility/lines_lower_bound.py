"""Weights on differences of neighbours for the rule about lines: those that make the trace of the root of their spread great."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import ceil, exp, expm1, log, sqrt
from typing import Any, Final

import numpy as np

from dpverify.search.utility.offers import Asked, Offer, Vectors, rational_text
from dpverify.trusted.kernel.model import Query
from dpverify.trusted.theories.utility.any_mechanism import REALS
from dpverify.trusted.theories.utility.rules import lines_lower_bound as rule
from dpverify.trusted.theories.utility.rules import shape_lower_bound

MOST_MOVES: Final = 5_000
"""Differences of neighbours among which weights are looked for."""
MOST_SLACK: Final = 0.01
"""The share of a bound that rounding may cost."""
BITS: Final = 50
"""Of the rationals that floats are rounded to."""


def offers(asked: Asked) -> Iterator[Offer]:
    """Weights on moves that make the trace of the root of their spread great."""
    named = _moves(asked.query)
    if not 0 < len(named) <= MOST_MOVES:
        return
    rows = np.array([[float(x) for x in row] for row in asked.query.rows])
    moved = np.array([rows @ _dense(by, rows.shape[1]) for by in named])
    longest = np.abs(moved).max()
    if not 0 < longest < np.inf:
        return
    every_axis = asked.line is not None and asked.query.adjacency == "l2"  # of squares alone weights may have any sum
    weights = np.ones(len(moved)) if every_axis else _spread_weights(moved / longest)
    kept = np.flatnonzero(weights > 1e-7)
    shares = weights[kept] / (1 if every_axis else weights[kept].sum())
    rounded = [Fraction(int(share * 2**30), 2**30) for share in shares]
    spread = (moved[kept].T * np.array([float(share) for share in rounded])) @ moved[kept]
    values, axes = np.linalg.eigh(spread)
    inside = values > 1e-9 * values.max()
    scale = (axes[:, inside] / np.sqrt(values[inside])) @ axes[:, inside].T
    lengths = np.abs(np.einsum("ij,jk,ik->i", moved[kept], scale, moved[kept]))
    worth, told = _worth(asked, float(shares @ lengths), float(shares @ lengths**2))
    moves = [
        {"weight": str(weight), "by": {str(number): str(amount) for number, amount in named[k].items()}}
        for weight, k in zip(rounded, kept, strict=True)
    ]
    seen = scale @ spread @ scale
    least = max(2.0**-40, 16 * float(np.linalg.norm(seen @ seen - seen)))
    for slack in (least * 2.0**grown for grown in (0, 10, 20) if least * 2.0**grown < MOST_SLACK):
        evidence = {"moves": moves, "scale": _rounded(scale * sqrt(1 - slack)), "level": str(1 - Fraction(slack)), **told}
        name = rule.NAME if asked.line is None else shape_lower_bound.NAME
        yield Offer(name, evidence, asked.granted, (worth[0] * sqrt(1 - slack), worth[1] * sqrt(1 - slack)))


def _worth(asked: Asked, mean: float, squares: float) -> tuple[tuple[float, float], Mapping[str, Any]]:
    """About what is proved of the mean length, below 0 for nothing, and of the root mean square; and what the rule is told of one line."""
    if asked.line is not None:
        return (-1.0, sqrt(squares * asked.line.square)), asked.line.told
    half = _over_sinh(asked.epsilon / 2) / 2
    mean *= half if asked.query.adjacency in REALS else _over_sinh(asked.epsilon)
    plateau, variance = _plateau(asked.epsilon) if asked.query.adjacency in REALS else (0.0, 2 * half**2)
    return (mean, max(mean, sqrt(squares * variance))), {"plateau": rational_text(plateau)} if plateau > 0 else {}


def _plateau(epsilon: float) -> tuple[float, float]:
    """How far the middle step of the staircase with the least variance reaches, and about that variance."""
    q, rest, low, high = exp(-epsilon), -expm1(-epsilon), 0.0, 1.0
    for _ in range(60):
        g = (low + high) / 2
        fits = rest * (2 * rest * g**3 / 3 + q * g**2) <= q * (rest / 3 + q - rest * g**2 - 2 * q * g)
        low, high = (g, high) if fits else (low, g)
    g = low * (1 - 1e-9)
    return g, q * (1 + q) / rest**2 + g**2 + 2 * q * g / rest


def _over_sinh(x: float) -> float:
    """1/sinh(x), 0 where that is below all floats."""
    return 2 * exp(-x) / -expm1(-2 * x)


def _rounded(scale: Vectors) -> list[list[str]]:
    """A symmetric matrix of rationals near a matrix."""
    unit = 2.0 ** (BITS - ceil(log(np.abs(scale).max(), 2)))
    return [[str(Fraction(int(x)) / Fraction(unit)) for x in row] for row in np.rint((scale + scale.T) / 2 * unit)]


def _moves(query: Query) -> list[dict[int, Fraction]]:
    """Differences of neighbouring histograms: all that matter, but for l2 those along which the answers move most."""
    width = len(query.rows[0])
    if query.adjacency == "replace":
        apart = range(1, min(width // 2, MOST_MOVES // width) + 1)  # where they are too many, those of numbers near each other
        pairs = {(min(i, j), max(i, j)) for k in apart for i in range(width) for j in ((i + k) % width,)}
        return [{i: Fraction(1), j: Fraction(-1)} for i, j in sorted(pairs)]
    if query.adjacency != "l2":
        return [{i: Fraction(1)} for i in range(width)]
    _, _, axes = np.linalg.svd(np.array([[float(x) for x in row] for row in query.rows]), full_matrices=False)
    shorter = axes * (1 - 2.0**-40)
    return [{i: Fraction(round(x * 2**BITS), 2**BITS) for i, x in enumerate(row) if x} for row in shorter]


def _dense(by: Mapping[int, Fraction], width: int) -> Vectors:
    found = np.zeros(width)
    for number, amount in by.items():
        found[number] = float(amount)
    return found


def _spread_weights(moved: Vectors, rounds: int = 200) -> Vectors:
    """Weights of sum 1 that make tr sqrt(sum of p_i f_i f_i') great: each is multiplied by a power of its slope, again and again."""
    weights = np.linalg.norm(moved, axis=1)
    weights = weights / weights.sum()
    best = 0.0, weights
    for _ in range(max(40, min(rounds, int(4e8 / moved.size / moved.shape[1])))):
        values, axes = np.linalg.eigh((moved.T * weights) @ moved)
        inside = values > 1e-12 * values.max()
        slopes = (((moved @ axes[:, inside]) ** 2) / np.sqrt(values[inside])).sum(axis=1)
        mean = float(weights @ slopes)  # tr sqrt itself, and no weights give more than the greatest slope
        best = max(best, (mean, weights), key=lambda one: one[0])
        if slopes.max() < mean * (1 + 1e-6):
            break
        weights = weights * (slopes / mean) ** 1.9
        weights = weights / weights.sum()
    return np.asarray(best[1])
