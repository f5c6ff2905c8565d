"""Privacy profiles of pairs of distributions, and what a curve rule proves with them.

The profile of a pair (P, Q) is the hockey-stick divergence H(epsilon) = sup over S of P(S) - e^epsilon Q(S), for every real epsilon.
It determines the pair up to post-processing in both directions, which is all that composition and subsampling need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Final

from flint import arb

from dpverify.trusted.kernel.errors import Undecided, require

Profile = Callable[[arb], arb]
"""Encloses H at an epsilon of at least 0 (a ball in nats; its lower end is at least 0), at the working precision."""

Rest = Callable[[], arb]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two distributions, known by their profiles for epsilon >= 0: forward of (P, Q), backward of (Q, P).

    Where the two differ by one record, P is the output with the record and Q the one without.
    everywhere: both profiles take every real epsilon. A bound rather than a pair, they need not be each other's dual.
    rests: enclose, or bound from below, what the two profiles tend to: the mass of outputs that only the first of the two has, for both
    orders. None where it is not known; no finite epsilon meets a smaller delta.

    choices: pairs between which it is still open. Of a bound from above, one of them dominates the outputs on every two neighbours, or a
    mixture of them does, and it is the greatest of all; of one from below, it is one of them, and some two neighbours have each, as the
    questions are chosen. Nothing where it is not known, or there is one.
    reached: of a bound from below, at each epsilon what some two neighbours have there, who need not be the same at every epsilon; None
    where it is known to be no more than this pair.

    What bounds another pair from below has profiles of two distributions, each by itself: convex in e^epsilon, non-increasing, 1 at
    e^epsilon = 0 and at least 1 - e^epsilon. Tangents and chords of it are prolonged. What bounds from above need not be convex.
    """

    forward: Profile
    backward: Profile
    everywhere: bool = False
    rests: tuple[Rest, Rest] | None = None
    choices: tuple[Pair, ...] = ()
    reached: Pair | None = None

    @property
    def reversed(self) -> Pair:
        """The pair (Q, P)."""
        rests, choices = None if self.rests is None else self.rests[::-1], tuple(one.reversed for one in self.choices)
        reached = None if self.reached is None else self.reached.reversed
        return Pair(self.backward, self.forward, everywhere=self.everywhere, rests=rests, choices=choices, reached=reached)

    @property
    def one_way(self) -> Pair:
        """The profile of (P, Q) in both orders' place."""
        rests = None if self.rests is None else (self.rests[0], self.rests[0])
        return Pair(self.forward, self.forward, everywhere=self.everywhere, rests=rests)

    @property
    def rest(self) -> Rest | None:
        """What the profile of the worse order tends to, as `rests` tell."""
        if self.rests is None:
            return None
        forward, backward = self.rests
        return forward if forward is backward else lambda: forward().max(backward())

    def delta(self, epsilon: arb) -> arb:
        """H of (P, Q) at any real epsilon; below 0 by H(epsilon) = 1 - e^epsilon + e^epsilon H'(-epsilon), H' of (Q, P)."""
        if self.everywhere or epsilon >= 0:
            return self.forward(epsilon)
        if epsilon <= 0:
            factor = epsilon.exp()
            return 1 - factor + factor * self.backward(-epsilon)
        require(epsilon.is_finite(), Undecided("a privacy profile at an epsilon that is not enclosed."))
        # a ball across 0: H falls and is 1-Lipschitz in e^epsilon
        zero = self.forward(arb(0))
        reach = (epsilon.abs_upper().exp() - 1).abs_upper()
        return (zero - reach).union(zero + reach)

    def worst(self, epsilon: arb) -> arb:
        """The greater of H for both orders, at an epsilon of at least 0."""
        if self.forward is self.backward:
            return self.forward(epsilon)
        return self.forward(epsilon).max(self.backward(epsilon))


def symmetric(profile: Profile) -> Pair:
    """A pair whose two orders have the same profile."""
    return Pair(profile, profile)


ALIKE: Final = symmetric(lambda _: arb(0))
"""Two distributions that are one."""


def dominating(pair: Pair) -> Pair:
    """A symmetric pair that dominates both orders of a pair: the greater of two profiles is a profile."""
    if pair.forward is pair.backward:
        return pair

    def profile(epsilon: arb) -> arb:
        return pair.worst(epsilon)

    return symmetric(profile)


def greatest(pairs: Sequence[Pair]) -> Pair:
    """The pair of the greatest profiles in each order."""
    if len(pairs) == 1:
        return pairs[0]
    same = all(pair.forward is pair.backward for pair in pairs)
    forward = extreme([pair.forward for pair in pairs], arb.max)
    backward = forward if same else extreme([pair.backward for pair in pairs], arb.max)
    return Pair(forward, backward, everywhere=all(pair.everywhere for pair in pairs))


def one_of(pairs: Sequence[Pair]) -> Pair:
    """The greatest of pairs of which one dominates the outputs on every two neighbours."""
    return replace(greatest(pairs), choices=tuple(pairs) if len(pairs) > 1 else ())


def extreme(profiles: Sequence[Profile], better: Callable[[arb, arb], arb]) -> Profile:
    """The greatest or the least of profiles at every epsilon, by what is the better of two values."""
    return lambda epsilon: reduce(better, (profile(epsilon) for profile in profiles))


@dataclass(frozen=True, slots=True)
class Curve:
    """What is proved of a mechanism at its sensitivity.

    upper: a pair that dominates the outputs on every two neighbours, in both orders, at every epsilon; None where none is proved.
    lower: a pair that some two neighbours have, up to post-processing; None where none is known. The same object as upper where
    the curve is exact. rules, assumed: what this rests on. below: what the lower pair takes for granted beside.
    """

    upper: Pair | None
    lower: Pair | None
    rules: tuple[str, ...]
    assumed: tuple[str, ...] = ()
    below: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        return self.upper is not None and self.upper is self.lower


Evidence = Mapping[str, Any]
