"""The tight delta of a mechanism with finitely many outputs in closed form."""

from __future__ import annotations

from functools import reduce
from typing import Final

from flint import arb

from dpverify.trusted.language.expr import Expr, add, call, format_expr, mul, num, sub
from dpverify.trusted.language.model import Mechanism
from dpverify.trusted.numbers.balls import constant, precision
from dpverify.trusted.order import compare
from dpverify.trusted.rules.curves.faces import Face, Weights, faces_of

BITS: Final = 256
"""Working precision where a closed form is put together."""


def delta_expr(noise: Mechanism, epsilon: Expr, sensitivity: Expr | None = None) -> Expr | None:
    """delta(epsilon) in closed form, the greatest over the pairs; None where the sign of some p - e^epsilon q is not certain.

    epsilon: a constant. Balls leave out what they can, exact comparison decides the rest. Raises Rejected as `curve` does.
    """
    faces = faces_of(noise, sensitivity)
    with precision(BITS):
        point, balls = constant(epsilon), faces.weights.balls()
        values = [(face, face.profile(point)) for face in faces.all.values()]
        least = reduce(lambda a, b: a.max(b), (value for _, value in values))
        signs = _Signs(faces.weights, call("exp", epsilon), [point.exp() * ball for ball in balls])
        totals = {_total(face, signs) for face, value in values if not value < least}
    best: list[Expr] = []
    for total in sorted(totals, key=lambda total: "" if total is None else format_expr(total)):
        if total is None:
            return None
        if not any(compare.certainly_le(total, other) for other in best):
            best = [other for other in best if not compare.certainly_le(other, total)] + [total]
    return best[0] if len(best) == 1 else call("max", *best)


class _Signs:
    """Whether p exceeds e^epsilon q, for pairs of probabilities by number: by balls at the precision of the moment, or else exactly."""

    __slots__ = ("_balls", "_factor", "_known", "_scaled", "_weights")

    def __init__(self, weights: Weights, factor: Expr, scaled: list[arb]) -> None:
        self._weights, self._factor, self._balls, self._scaled = weights, factor, weights.balls(), scaled
        self._known = dict[tuple[int, int], bool | None]()

    def excess(self, cell: tuple[int, int]) -> Expr:
        """p - e^epsilon q."""
        i, j = cell
        return sub(self._weights.all[i].expr, mul(self._factor, self._weights.all[j].expr))

    def exceeds(self, cell: tuple[int, int]) -> bool | None:
        """True or False where it is certain that p - e^epsilon q is at least or at most 0."""
        if cell not in self._known:
            p, scaled = self._balls[cell[0]], self._scaled[cell[1]]
            self._known[cell] = True if p > scaled else False if p < scaled else self._exactly(cell)
        return self._known[cell]

    def _exactly(self, cell: tuple[int, int]) -> bool | None:
        p, scaled = self._weights.all[cell[0]].expr, mul(self._factor, self._weights.all[cell[1]].expr)
        return False if compare.certainly_le(p, scaled) else True if compare.certainly_le(scaled, p) else None


def _total(face: Face, signs: _Signs) -> Expr | None:
    """The sum of what exceeds, None where a sign is not certain."""
    if any(signs.exceeds(cell) is None for cell, _ in face.cells):
        return None
    return add(*(mul(num(times), signs.excess(cell)) for cell, times in face.cells if signs.exceeds(cell)))
