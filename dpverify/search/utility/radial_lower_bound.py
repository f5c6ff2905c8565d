"""Balls inside the ellipsoid of differences of histograms that are close in l2, for the rule about noise that is alike all round."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Final

import numpy as np
from flint import arb

from dpverify.search.utility.offers import Asked, Offer, Vectors, rational_text
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.expr import Num
from dpverify.trusted.theories.utility.rules import radial_lower_bound as rule

CELLS: Final = 300
COARSE: Final = 60
"""Cells at first while a factor is looked for."""
GIVEN_UP: Final = 1e-9
"""Of the radius, for what is rounded."""
MOST_DIMENSIONS: Final = 40
"""Of a ball that is looked at."""


def offers(asked: Asked) -> Iterator[Offer]:
    """For each error the number of directions that gives most, those in which the answers move most."""
    if asked.query.adjacency != "l2":
        return
    rows = np.array([[float(x) for x in row] for row in asked.query.rows])
    axes, lengths, _ = np.linalg.svd(rows, full_matrices=False)
    usable = [k for k, length in enumerate(lengths[:MOST_DIMENSIONS], 1) if length > 1e-9 * lengths[0]]
    if not usable:
        return
    epsilon = constant(Num(Fraction(asked.epsilon) * (1 + Fraction(1, 2**40))))
    best = {power: max(usable, key=partial(_worth, epsilon, lengths, power)) for power in (1, 2)}
    for k in dict.fromkeys(best.values()):
        factors = [_factor(epsilon, k, power) for power in (1, 2)]
        if min(factors) <= 0:  # epsilon is too large
            continue
        radius = float(lengths[k - 1]) * (1 - GIVEN_UP)
        told = {"mean": rational_text(factors[0]), "square": rational_text(factors[1]), "radius": rational_text(radius), "cells": CELLS}
        worth = radius * factors[0], max(radius * factors[0], radius * factors[1] ** 0.5)
        yield Offer(rule.NAME, {**told, "axes": _rounded(axes[:, :k], len(rows))}, asked.granted, worth)


def _worth(epsilon: arb, lengths: Vectors, power: int, k: int) -> float:
    """About what k directions give."""
    return float(lengths[k - 1]) ** power * _guess(epsilon, k, power)


def _rounded(axes: Vectors, d: int) -> list[list[str]]:
    """The axes as rows of rationals; all coordinates where they span everything."""
    if axes.shape[1] == d:
        return [[str(int(i == j)) for j in range(d)] for i in range(d)]
    return [[str(Fraction(round(float(x) * 2**30), 2**30)) for x in axis] for axis in axes.T]


def _guess(epsilon: arb, k: int, power: int) -> float:
    """About the factor: at one place in the middle of the cells."""
    middle = arb(1) / 2
    return float(rule.sums(epsilon, k - 1 + power)(middle) / rule.sums(epsilon, k - 1)(middle))


def _factor(epsilon: arb, k: int, power: int) -> float:
    """Nearly the greatest factor that the rule accepts: between few cells first."""
    low, high = 0.0, 2 * _guess(epsilon, k, power)
    for cells in (*[COARSE] * 18, *[CELLS] * 10):
        if cells == CELLS and high <= low * (1 + 1e-4):
            high = low * (1 + 1 / COARSE)  # what many cells may add
        middle = (low + high) / 2
        low, high = (middle, high) if rule.integral(epsilon, k, power, Fraction(middle), cells) >= 0 else (low, middle)
    return low
