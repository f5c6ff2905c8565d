"""Profiles whose terms cancel: evaluated again with more bits until the accuracy is that of the working precision."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final, Generic, Protocol, TypeVar

from flint import arb, ctx

from dpverify.trusted.language.errors import Undecided
from dpverify.trusted.numbers.balls import precision

_MOST_TRIES: Final = 4
_GUARD: Final = 16
_STEP: Final = 32
"""Set-ups are made at multiples of these bits."""


class SetUp(Protocol):
    """What is made once for a precision."""

    def divergence(self, epsilon: arb) -> arb:
        """H at an epsilon of at least 0; a ball of epsilons gives a ball of all their values."""
        ...


Made = TypeVar("Made", bound=SetUp)


class Refined(ABC, Generic[Made]):
    """A profile that keeps what it has set up, one set-up for each precision."""

    def __init__(self) -> None:
        self._made: dict[int, Made] = {}

    @abstractmethod
    def make(self) -> Made:
        """The set-up at the working precision."""

    def at(self, bits: int) -> Made:
        """The set-up at this precision."""
        if bits not in self._made:
            with precision(bits):
                self._made[bits] = self.make()
        return self._made[bits]

    def __call__(self, epsilon: arb) -> arb:
        """H at an epsilon of at least 0. Raises Undecided."""
        if not epsilon.is_finite():
            raise Undecided("a privacy profile at an epsilon that is not enclosed.")
        if epsilon.is_exact() or epsilon.rel_accuracy_bits() >= ctx.prec - _GUARD:
            return self.found(epsilon)[0]
        return self.found(epsilon.lower().max(arb(0)))[0].union(self.found(epsilon.upper())[0])  # H does not rise

    def found(self, epsilon: arb) -> tuple[arb, int]:
        """H, and the bits of the set-up that found it."""
        wanted, bits = ctx.prec - _GUARD, ctx.prec + _GUARD
        for _ in range(_MOST_TRIES):
            bits += -bits % _STEP
            set_up = self.at(bits)
            with precision(bits):
                result = set_up.divergence(epsilon)
            lost = wanted - result.rel_accuracy_bits()
            if lost <= 0 or result == 0 or not epsilon.is_exact():
                break
            used, bits = bits, bits + (lost if lost < wanted else 2 * wanted) + _GUARD
        else:
            bits = used
        if not result.is_finite():
            raise Undecided("the divergence has no finite enclosure; raise the precision.")
        return result, bits
