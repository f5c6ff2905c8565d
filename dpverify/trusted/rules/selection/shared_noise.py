"""The noise that all comparisons of a selection share: what it loses by itself, at every real epsilon."""

from __future__ import annotations

from dataclasses import dataclass

from flint import acb, arb

from dpverify.trusted.numbers.gaussian import gaussian_delta


@dataclass(frozen=True, slots=True)
class Shared:
    """The profile of the noise that all comparisons share, at every real epsilon, in pieces that are analytic.

    moved: by how many deviations, or scales of Laplace noise, it is moved; not at all where no noise is shared.
    """

    gaussian: bool
    moved: arb

    @property
    def ends(self) -> tuple[arb, ...]:
        """The epsilons where pieces meet, falling."""
        return () if self.gaussian else (self.moved, -self.moved)

    def at(self, epsilon: acb, piece: int) -> acb:
        """On a piece, by its number: 0 is before the first end, from above."""
        if self.gaussian:
            return gaussian_delta(acb(self.moved), epsilon)
        return acb(0) if piece == 0 else -(epsilon if piece == 2 else (epsilon - self.moved) / 2).expm1()

    def real(self, epsilon: arb) -> arb:
        """At a real epsilon: the greatest of the pieces."""
        found = arb(0)
        for piece in range(len(self.ends) + 1):
            found = found.max(self.at(acb(epsilon), piece).real)
        return found
