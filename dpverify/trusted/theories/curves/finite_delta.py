"""The tight delta of a mechanism with finitely many outputs in closed form."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, reduce
from typing import Final

from flint import arb

from dpverify.trusted.kernel import compare
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.expr import ZERO, Expr, add, call, format_expr, mul, num, sub
from dpverify.trusted.kernel.model import Mechanism
from dpverify.trusted.theories.curves.faces import faces_of

BITS: Final = 256
"""Working precision where a closed form is put together."""


def delta_expr(noise: Mechanism, epsilon: Expr, sensitivity: Expr | None = None) -> Expr | None:
    """delta(epsilon) in closed form, the greatest over the pairs; None where the sign of some p - e^epsilon q is not certain.

    epsilon: a constant. Balls leave out what they can, exact comparison decides the rest. Raises Rejected as `curve` does.
    """
    faces, factor = faces_of(noise, sensitivity), call("exp", epsilon)
    weights = faces.weights
    with precision(BITS):
        point, balls = constant(epsilon), weights.balls()
        values = [(face, face.profile(point)) for face in faces.all.values()]
        least = reduce(arb.max, (value for _, value in values))
        scaled = [point.exp() * ball for ball in balls]

        @cache
        def excess(i: int, j: int) -> Expr | None:
            """(p - e^epsilon q)_+ of two probabilities by number: by balls, or else exactly; None where its sign is not certain."""
            p, q = weights.all[i].expr, mul(factor, weights.all[j].expr)
            if balls[i] < scaled[j] or (not balls[i] > scaled[j] and compare.certainly_le(p, q)):
                return ZERO
            return sub(p, q) if balls[i] > scaled[j] or compare.certainly_le(q, p) else None

        totals = {_total((times, excess(*cell)) for cell, times in face.cells) for face, value in values if not value < least}
    best: list[Expr] = []
    for total in sorted(totals, key=lambda total: "" if total is None else format_expr(total)):
        if total is None:
            return None
        if not any(compare.certainly_le(total, other) for other in best):
            best = [other for other in best if not compare.certainly_le(other, total)] + [total]
    return best[0] if len(best) == 1 else call("max", *best)


def _total(parts: Iterable[tuple[int, Expr | None]]) -> Expr | None:
    """The sum of so many of each, None where one is not certain."""
    known = [None if part is None else mul(num(times), part) for times, part in parts]
    certain = [part for part in known if part is not None]
    return add(*certain) if len(certain) == len(known) else None
