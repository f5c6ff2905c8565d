"""The greatest value over all moves of a record of a sum of powers of how far each part of an answer moves."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from flint import arb

from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.expr import Expr, Num, add, mul, num, power
from dpverify.trusted.numbers.balls import rational
from dpverify.trusted.numbers.jets import BallProgram
from dpverify.trusted.parts import moves

RULE: Final = "joint-moves"


Matrix = list[list[Fraction]]


def farthest(rows: Sequence[Sequence[Fraction]]) -> Fraction:
    """A bound on the square of what answers move by on differences of length 1, in l1 or in l2: the sum of squares of the entries."""
    return sum((x * x for row in rows for x in row), Fraction(0))


class _Quadratic:
    """A sum of squares of what answers move by on histograms that differ by v, as a matrix."""

    degree: Final = 2

    def __init__(self, columns: int) -> None:
        self.form: Matrix = [[Fraction(0)] * columns for _ in range(columns)]

    def add(self, rows: Sequence[Sequence[Fraction]], weight: Fraction) -> None:
        """Add weight times the square of what some rows move by."""
        for row in rows:
            moved = [(j, x) for j, x in enumerate(row) if x]
            for i, x in moved:
                for j, y in moved:
                    self.form[i][j] += weight * x * y

    def check(self, most: Fraction) -> None:
        """Raises Rejected unless it is at most this where v has length 1: most - form is positive semidefinite, by elimination."""
        rest = [[(most if i == j else Fraction(0)) - x for j, x in enumerate(row)] for i, row in enumerate(self.form)]
        for k in range(len(rest)):
            if rest[k][k] < 0 or (rest[k][k] == 0 and any(rest[k][j] for j in range(k + 1, len(rest)))):
                raise Rejected(RULE, "most", "the quadratic form is not at most this on all differences of length 1")
            for i in range(k + 1, len(rest)):
                share = rest[i][k] / rest[k][k] if rest[k][k] else Fraction(0)
                for j in range(k + 1, len(rest)):
                    rest[i][j] -= share * rest[k][j]


class _Linear:
    """A sum of absolute values of what answers move by, at differences in one kind of records: on the l1 ball it is greatest there."""

    degree: Final = 1

    def __init__(self, columns: int) -> None:
        self.form = [Fraction(0)] * columns

    def add(self, rows: Sequence[Sequence[Fraction]], weight: Fraction) -> None:
        """Add weight times what one row moves by."""
        if len(rows) > 1:
            raise Rejected(RULE, "a part", "noise of several coordinates that lose together is looked at under l2 alone")
        for j, x in enumerate(rows[0]):
            self.form[j] += weight * abs(x)

    def check(self, most: Fraction) -> None:
        """Raises Rejected unless it is at most this."""
        if max(self.form) > most:
            raise Rejected(RULE, "most", "the sum is greater at a difference in one kind of records")


class Power:
    """alpha + beta u^degree, beside what a part loses where its answer moves by at most u."""

    def __init__(self, loss: Expr, alpha: Fraction, beta: Fraction, degree: int) -> None:
        self._loss, self._power = (
            BallProgram(each, moves.MOVED.name) for each in (loss, add(Num(alpha), mul(Num(beta), power(moves.MOVED, num(degree)))))
        )

    def covers(self, low: Fraction, high: Fraction) -> bool:
        """Whether the power is certainly at least the loss on a cell.

        What is lost at most where the answer moves by `high` at most is so for shorter moves; or to the second order about the middle.
        """
        if self._power(rational(low)).v >= self._loss(rational(high)).v:
            return True
        cell = rational(low).union(rational(high))
        middle = cell.mid()
        at, step = (self._power(middle), self._loss(middle)), cell - middle
        bend = self._power(cell).d2 - self._loss(cell).d2
        square = step.abs_upper() ** 2 * arb(0).union(arb(1))
        return bool(at[0].v - at[1].v + (at[0].d1 - at[1].d1) * step + bend / 2 * square >= 0)
