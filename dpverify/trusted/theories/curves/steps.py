"""Two distributions on finitely many outcomes: their profile, by prefix sums of the outcomes in the order of their losses."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

from flint import arb


@dataclass(frozen=True, slots=True)
class Steps:
    """The cells of a pair by falling lower end of p/q, with what bisection needs.

    above, below: minus the lower end of each, and minus the greatest upper end from each on, both rising.
    p_sum, q_sum: the mass of the cells before each, p_sum with the outputs that q cannot give.
    """

    cells: list[tuple[arb, arb]]
    above: list[arb]
    below: list[arb]
    p_sum: list[arb]
    q_sum: list[arb]

    def excess(self, epsilon: arb) -> arb:
        """The sum of (p - e^epsilon q)_+: prefix sums where the sign is certain, cell by cell where it is not."""
        x = epsilon.exp()
        start = bisect_left(self.above, -x.upper())
        stop = bisect_left(self.below, -x.lower())
        total = self.p_sum[start] - x * self.q_sum[start]
        for p, q in self.cells[start:stop]:
            total += (p - x * q).max(arb(0))
        return total


def steps_of(infinite: arb, met: Iterable[tuple[arb, arb]]) -> Steps:
    """The steps of two distributions. infinite: the mass of p where q has none; met: both probabilities where both have some."""
    cells = []
    for p, q in met:
        ratio = p / q
        # a q not told from 0 at this precision: the cell is always weighed by itself
        low, high = (ratio.lower(), ratio.upper()) if ratio.is_finite() else (arb(0), arb("inf"))
        cells.append((low, high, p, q))
    cells.sort(key=lambda cell: -cell[0])
    above, below = list[arb](), list[arb]()
    p_sum, q_sum = [infinite], [arb(0)]
    for low, _, p, q in cells:
        above.append(-low)
        p_sum.append(p_sum[-1] + p)
        q_sum.append(q_sum[-1] + q)
    for _, high, _, _ in reversed(cells):
        below.append(-high if not below or -high <= below[-1] else below[-1])
    return Steps([(p, q) for _, _, p, q in cells], above, below[::-1], p_sum, q_sum)
