"""Tables of what n evaluations of t noise on functions cost, n = 1, 2, ...: enclosed to as many digits as are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Final

from flint import arb

from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import Expr
from dpverify.trusted.kernel.model import EllipticalProcess
from dpverify.trusted.theories.processes import evaluations
from dpverify.trusted.theories.processes.evaluations import first_points
from dpverify.trusted.theories.processes.rules.process_evaluations import inverse_gamma

_SPARE: Final = 64
_DOUBLINGS: Final = 4


@dataclass(frozen=True, slots=True)
class Row:
    """Of the first n evaluations: what they see of the difference, and the tight epsilon, both as balls."""

    n: int
    norm: arb
    epsilon: arb


def table(noise: EllipticalProcess, most: int, digits: int = 12, norm: Expr | None = None) -> list[Row]:
    """Rows for the first 1 to `most` evaluations: of a sequence its coefficients, else the ends of `most` equal steps from the left.

    norm: D_n, where it is stated in place of a difference and a covariance. Raises Undecided where the numbers do not carry so many
    digits at a few times the precision, Rejected for other noise.
    """
    inverse_gamma(noise)  # says at once of which law there is no table
    bits = int(3.4 * digits) + _SPARE
    for _ in range(_DOUBLINGS):
        try:
            with precision(bits):
                rows = list(_rows(noise, most, norm))
        except Undecided:
            bits *= 2
            continue
        if all(ball.rad() <= abs(ball.mid()) * arb(10) ** -digits for row in rows for ball in (row.norm, row.epsilon)):
            return rows
        bits *= 2
    raise Undecided(f"the table is not known to {digits} digits at {bits // 2} bits: take fewer evaluations, or points further apart.")


def _rows(noise: EllipticalProcess, most: int, norm: Expr | None) -> Iterator[Row]:
    a, b = map(constant, inverse_gamma(noise))
    unit = 2 * constant(noise.scale) * (2 * b).sqrt()
    if norm is None:
        [h] = noise.differences
        squares = evaluations.squares(noise, h, first_points(noise, most))
        seen: Iterator[arb] = (square.max(arb(0)).sqrt() for square in squares)
    else:
        seen = repeat(constant(norm), most)
    for n, length in enumerate(seen, 1):
        yield Row(n, length, (2 * a + n) * (length / unit).asinh())
