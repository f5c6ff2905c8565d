"""A mechanism of which only its pure epsilon is used: randomized response dominates it."""

from __future__ import annotations

from typing import Final

from dpverify.trusted.facts.pairs import Curve, Pure
from dpverify.trusted.language.model import Source
from dpverify.trusted.rules.curves import optimal_composition

NAME: Final = "pure-guarantee"
STATEMENT: Final = (
    "Every mechanism that is eps-DP is a post-processing, for each two neighbours, of binary randomized response with parameter eps, in "
    "adaptive compositions too: its pair dominates."
)
CHECKED: Final = ("the pure epsilon, by a rule about the mechanism",)
ASSUMED: Final = ()
SOURCE: Final = Source("Kairouz, Oh & Viswanath 2015", "Theorem 2.1; THEORY T13")


def curve(known: Pure) -> Curve:
    """The curve of every mechanism with this pure epsilon: an upper bound alone."""
    return Curve(optimal_composition.pair(known.epsilon), None, (NAME, *known.rules), known.assumed)
