"""What values of a process with a variance of finitely many values show at least: which cell the standardised vector is in.

The difference is along one axis. A cell is where the coordinate along it, from the middle between both answers, is in one interval, and
the length of all others in another; what tells cells alone tells no more than the values do (theory#process-evaluations).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from typing import Any, Final

from flint import arb

from dpverify.trusted.facts.evaluate import accurately, divergence
from dpverify.trusted.facts.pairs import Pair, symmetric
from dpverify.trusted.kernel.balls import constant, rational
from dpverify.trusted.kernel.errors import CertificateError, require
from dpverify.trusted.kernel.expr import Expr
from dpverify.trusted.language.rationals import read_whole, to_fraction
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.theories.processes.observed_variance import Atoms

MOST_INTERVALS: Final = 512
MOST_RINGS: Final = 64


def in_cells(law: Atoms, shift: Expr, dimension: int, told: Any, rule: str) -> Pair:
    """The pair of both answers seen in cells; its two orders have one profile, as cells are mirrored at the middle.

    law: of V, checked. shift: the distance in units of the scale. told: "width" of an interval, "half", how many there are on each side of
    the middle, and "rings", the lengths that rise at which all other coordinates are cut, none for one alone.
    """
    width, half = to_fraction(told["width"], rule), read_whole(told, "half", rule, 1, MOST_INTERVALS // 2)
    rings = [to_fraction(one, rule) for one in told["rings"]]
    fits = width > 0 and len(rings) <= MOST_RINGS * (dimension > 1) and all(a < b for a, b in pairwise([Fraction(0), *rings]))
    require(fits, CertificateError(f"{rule}: 'cells' wants a positive width, and few rings that rise, where there are more coordinates."))
    cells = per_precision(lambda: _cells(law, shift, dimension, [width * k for k in range(-half, half + 1)], rings))

    def at(epsilon: arb) -> arb:
        factor = epsilon.exp()
        return sum(((p - factor * q).max(arb(0)) for p, q in cells()), arb(0)).min(arb(1))

    return symmetric(divergence(lambda epsilon: accurately(lambda: at(epsilon))))


def _cells(law: Atoms, shift: Expr, dimension: int, cuts: list[Fraction], rings: list[Fraction]) -> list[tuple[arb, arb]]:
    """The probabilities of each cell with the one answer and the other."""
    weights, here, there, around = [], [], [], []
    for v, weight in law.values:
        deviation, half = constant(v).sqrt(), constant(shift) / 2
        below = [[_normal((rational(cut) + sign * half) / deviation) for cut in cuts] for sign in (-1, 1)]
        near, far = ([b - a for a, b in pairwise([arb(0), *row, arb(1)])] for row in below)
        within = [(rational(r * r) / (2 * constant(v))).gamma_lower(rational(Fraction(dimension - 1, 2)), regularized=1) for r in rings]
        weights.append(constant(weight))
        here.append(near)
        there.append(far)
        around.append([b - a for a, b in pairwise([arb(0), *within, arb(1)])])
    of = range(len(weights))
    return [
        (
            sum((weights[a] * here[a][i] * around[a][j] for a in of), arb(0)),
            sum((weights[a] * there[a][i] * around[a][j] for a in of), arb(0)),
        )
        for i, j in product(range(len(cuts) + 1), range(len(rings) + 1))
    ]


def _normal(z: arb) -> arb:
    """The probability that a standard normal number is below z."""
    return (-z / arb(2).sqrt()).erfc() / 2
