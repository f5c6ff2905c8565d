"""How likely a sum of multiples of independent exponential variables is to be above a number (theory#polytope-tails)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from flint import arb, arb_series, fmpz


def share_above(factors: Sequence[fmpz], level: arb) -> arb:
    """P(sum a_j E_j > level) for level > 0 and E_j of mean 1.

    The divided difference of a^(d - 1) exp(-level/a), 0 for a <= 0, at the factors: a sum over those above 0 of Taylor coefficients.
    """
    counts, total = Counter(map(int, factors)), arb(0)
    for a, times in counts.items():
        if a <= 0:
            continue
        x = arb_series([a, 1], times)
        term = x ** (len(factors) - 1) * (-level / x).exp()
        for b, others in counts.items():
            if b != a:
                term = term / (x - b) ** others
        total += term[times - 1]
    return total.max(arb(0)).min(arb(1))
