"""What right guesses of coins say about epsilon: a mechanism that is private gives few coins away (theory#guessed-coins).

m coins are tossed, each decides about one record, and r of them are guessed from what the mechanism gave. r is fixed beforehand; which r
may depend on the output. The numbers are incomplete beta functions: nothing is sampled.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np
from scipy.special import betainc, expit, gammaln

from dpverify.errors import AuditError

GRID: Final = 2.0**-12
"""Of epsilon: the bounds that can be stated are its multiples, so that none is made by what was seen."""
LARGEST: Final = 64.0  # of epsilon
ROUNDING: Final = 1e-8  # relative, for the functions of scipy
MOST_GUESSES: Final = 10_000_000


def chance(right: int, guesses: int, coins: int, epsilon: float, delta: float = 0.0) -> float:
    """A bound on the probability that so many guesses or more are right, for mechanisms that are (epsilon, delta)-DP in each coin.

    right of `guesses` guesses, of so many of `coins` coins. epsilon: nats.
    Raises AuditError for numbers out of range. Source: theory#guessed-coins.
    """
    _check(guesses, coins, delta)
    if not 0 <= right <= guesses:
        raise AuditError(f"right = {right}: not a number of right guesses out of {guesses}.")
    return min((_tail(right, guesses, epsilon) + coins * delta * _gain(guesses, epsilon)) * (1 + ROUNDING), 1.0)


def epsilon_of_guesses(right: int, guesses: int, coins: int, *, confidence: float, delta: float = 0.0) -> float:
    """A lower bound on epsilon (nats) that holds with probability at least `confidence`; 0.0 where nothing is refuted.

    All multiples of GRID up to the bound are refuted at that confidence, so that the true epsilon is below the bound only if the multiple
    next above it was refuted.
    Raises AuditError for numbers out of range. Source: theory#guessed-coins.
    """
    chance(right, guesses, coins, 0.0, delta)  # for its faults
    if not 0 < confidence < 1:
        raise AuditError(f"confidence = {confidence}: not between 0 and 1. Give 0.99, say.")
    risk = (1 - confidence) / (1 + ROUNDING)

    def first_kept(low: int, high: int) -> int:
        """The first multiple among low, ..., high - 1 that is not refuted, else high; the ends of a stretch bound what is between."""
        if _tail(right, guesses, (high - 1) * GRID) + coins * delta * _gain(guesses, low * GRID) <= risk:
            return high
        if high - low == 1:
            return low
        middle = (low + high) // 2
        first = first_kept(low, middle)
        return first if first < middle else first_kept(middle, high)

    return max(first_kept(0, int(LARGEST / GRID)) - 1, 0) * GRID


def least_right(guesses: int, coins: int, epsilon: float, *, confidence: float, delta: float = 0.0) -> int | None:
    """The fewest right guesses that refute (epsilon, delta) at this confidence; None where not even all of them do."""
    low, high = 0, guesses + 1
    while low < high:
        middle = (low + high) // 2
        refuted = middle <= guesses and chance(middle, guesses, coins, epsilon, delta) <= 1 - confidence
        low, high = (low, middle) if refuted or middle > guesses else (middle + 1, high)
    return low if low <= guesses else None


def _tail(right: int, guesses: int, epsilon: float) -> float:
    """The probability of at least `right` heads in `guesses` tosses of a coin of probability e^epsilon/(1 + e^epsilon)."""
    return 1.0 if right <= 0 else float(betainc(right, guesses - right + 1, expit(epsilon)))


@lru_cache(maxsize=4096)
def _gain(guesses: int, epsilon: float) -> float:
    """What a unit of delta adds for each coin: (1 - q) times the mean, over k < guesses, of the likeliest number of heads in k tosses."""
    k = np.arange(guesses, dtype=np.float64)
    return float(expit(-epsilon) * np.exp(_log_mode(k, epsilon)).mean())


def _log_mode(k: Any, epsilon: float) -> Any:
    """The log probability of the likeliest number of heads in k tosses of a coin of probability q = e^epsilon/(1 + e^epsilon)."""
    q = expit(epsilon)
    heads = np.minimum(np.floor((k + 1) * q), k)
    ways = gammaln(k + 1) - gammaln(heads + 1) - gammaln(k - heads + 1)
    return ways + heads * -np.logaddexp(0.0, -epsilon) + (k - heads) * -np.logaddexp(0.0, epsilon)


def _check(guesses: int, coins: int, delta: float) -> None:
    if not 1 <= guesses <= coins or coins > MOST_GUESSES:
        raise AuditError(f"{guesses} guesses of {coins} coins: guess at least one, none twice, and at most {MOST_GUESSES} in all.")
    if not 0 <= delta < 1:
        raise AuditError(f"delta = {delta}: not at least 0 and below 1.")
