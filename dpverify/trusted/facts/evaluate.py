"""Profiles evaluated well: constants known at every precision, lost bits made up for, epsilons that are not points."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final, Protocol

from flint import arb, ctx, fmpz

from dpverify.trusted.facts.pairs import Pair, Profile, Rest
from dpverify.trusted.kernel.balls import MAX_PRECISION, constant, finite, precision
from dpverify.trusted.kernel.errors import Undecided, require
from dpverify.trusted.kernel.expr import Expr
from dpverify.trusted.numbers.each_precision import per_precision

STEP: Final = 64
"""Working precisions are multiples of this many bits, so that what is prepared for one of them serves again."""
SLACK: Final = 16
"""Bits of relative accuracy that a profile may fall short of the working precision."""
_FOLD: Final = 4
"""How many times the bits of one evaluation the next may have."""

SPARE: Final = 2 * STEP
"""Bits beyond the working precision with which epsilons and values are rounded that are known to more."""

_KEPT: Final = 4_096
"""How many values of a profile are remembered."""

_ZERO: Final = arb(0)
_TWICE: Final = 2 * arb(0).union(arb(1))


def known(expr: Expr) -> Callable[[], arb]:
    """The ball of a constant at the precision of the moment, computed once for each."""
    return per_precision(lambda: constant(expr))


def accurately(compute: Callable[[], arb]) -> arb:
    """What `compute` encloses, with the bits that cancellation loses made up for. Raises Undecided for a ball that is not finite.

    How much is lost is not known before: a ball of which some bits are right shows how many it lacks, and the value is computed
    once more with so many, at most four times as many in all. A ball of which none is right shows nothing: before that, one at four times
    the bits takes its place. So there are three evaluations at most; a value that still has no right bit, such as 0, is left as it is.
    """
    wanted, bits = ctx.prec - SLACK, min(_rounded(ctx.prec + STEP // 2), MAX_PRECISION)
    ball = _at(bits, compute)
    if ball.rel_accuracy_bits() <= 0 and not ball.is_exact():
        bits = min(_FOLD * bits, MAX_PRECISION)
        ball = _at(bits, compute)
    missing = wanted - int(ball.rel_accuracy_bits())
    if not 0 < missing < wanted or ball.is_exact():
        return ball
    return _at(min(_rounded(bits + missing + SLACK), _FOLD * bits, MAX_PRECISION), compute)


def _at(bits: int, compute: Callable[[], arb]) -> arb:
    """The ball at a working precision. Raises Undecided where it is not finite."""
    with precision(bits):
        return finite(compute())


def _rounded(bits: int) -> int:
    return -(-bits // STEP) * STEP


def kept(at: Callable[[arb], arb]) -> Callable[[arb], arb]:
    """A function of exact epsilons that remembers its latest values, each at its working precision."""

    @lru_cache(_KEPT)
    def value(mantissa: fmpz, exponent: fmpz, _: int) -> arb:
        return at(arb((mantissa, exponent)))

    return lambda epsilon: value(*epsilon.man_exp(), ctx.prec)


def falling(at: Callable[[arb], arb]) -> Profile:
    """The profile of a function of exact epsilons that does not rise: on a ball, the hull of its values at the ends."""

    def profile(epsilon: arb) -> arb:
        if epsilon.is_exact() and epsilon.is_finite():
            return at(epsilon)
        require(epsilon.is_finite(), Undecided("a privacy profile at an epsilon that is not enclosed."))
        return at(epsilon.lower()).union(at(epsilon.upper()))

    return profile


def divergence(at: Callable[[arb], arb]) -> Profile:
    """The profile of two distributions from its values at exact epsilons.

    Its slope is -e^epsilon Q(S), S the event that attains it, and e^epsilon Q(S) <= P(S) <= 1: on a ball it falls by at most
    e^width - 1. Where that is not below the accuracy of its value, the hull of its values at the ends.
    """
    hull = falling(at)

    def profile(epsilon: arb) -> arb:
        if epsilon.is_exact() or not epsilon.is_finite():
            return hull(epsilon)
        with precision(ctx.prec + SPARE):
            low, high = epsilon.lower(), epsilon.upper()
            width = high - low
        found = at(low)
        if found == 0:
            return found
        if width <= found * _accuracy(ctx.prec):
            with precision(ctx.prec + SPARE):
                return (found - _TWICE * width).max(_ZERO)  # e^width - 1 <= 2 width
        return found.union(at(high))

    return profile


class SetUp(Protocol):
    """What is made once for a precision."""

    @property
    def alone(self) -> arb:
        """The mass that only the first of the two has."""
        ...

    def divergence(self, epsilon: arb) -> arb:
        """H at an exact epsilon of at least 0."""
        ...


def refined(*makes: Callable[[], SetUp]) -> Pair:
    """Two distributions by what is set up once for each precision: for the one order and the other, or one for both."""

    def known(make: Callable[[], SetUp]) -> tuple[Profile, Rest]:
        set_up = per_precision(make)
        return divergence(lambda epsilon: accurately(lambda: set_up().divergence(epsilon.max(_ZERO)))), lambda: set_up().alone

    (forward, rest), *other = map(known, makes)
    backward, reverse = other[0] if other else (forward, rest)
    return Pair(forward, backward, rests=(rest, reverse))


@lru_cache(maxsize=64)
def _accuracy(prec: int) -> arb:
    """Half of the relative accuracy that a profile is wanted to."""
    return arb(2) ** (SLACK - prec - 1)
