"""The event behind a divergence, for readers: its two probabilities follow from the slope of the profile."""

from __future__ import annotations

from collections.abc import Mapping

from flint import arb, ctx

from dpverify.trusted.facts.pairs import Pair, Profile
from dpverify.trusted.language.errors import Undecided
from dpverify.trusted.language.expr import Num
from dpverify.trusted.numbers.balls import exact
from dpverify.trusted.order.decimals import decimal_bounds

_DIGITS = 9


def describe(pair: Pair, epsilon: arb) -> Mapping[str, str]:
    """The event S = {log(p/q) > epsilon} of the worse order of a pair: "pair", "event", "P" and "Q"."""
    return between(pair, pair, epsilon) if pair.event is None else pair.event(epsilon)


def between(below: Pair, above: Pair, epsilon: arb) -> Mapping[str, str]:
    """The same of two distributions that are known by bounds on their profiles alone."""
    forward, backward = above.forward(epsilon), above.backward(epsilon)
    swapped = bool(backward > forward)
    if swapped:
        below, above = below.reversed, above.reversed
    p, q = probabilities(below.forward, above.forward, epsilon)
    first, second = ("Q", "P") if swapped else ("P", "Q")
    return {
        "pair": "the worst neighbours, P and Q" if not swapped else "the worst neighbours in the other order",
        "event": f"S = {{outputs with log({first}/{second}) > {_decimal(epsilon)[0]}}}, summed over the parts where there are several",
        "P": _interval(p),
        "Q": _interval(q),
        "P - exp(epsilon)*Q": _interval(below.forward(epsilon).union(above.forward(epsilon))),
    }


def probabilities(below: Profile, above: Profile, epsilon: arb) -> tuple[arb, arb]:
    """P(S) and Q(S): with a = e^epsilon, H is convex in a, and minus its slope at a is Q(S); P(S) = H + a Q(S).

    Slopes of chords on either side bound it, whatever their lengths.
    """
    steps = [ctx.prec // 3] if below is above else range(0, ctx.prec // 3, 2)
    factor, low, high, q = epsilon.exp(), below(epsilon), above(epsilon), arb(0).union(arb(1))
    for step in (arb(2) ** -bits for bits in steps):
        right = (low - above(epsilon + step)) / (factor * step.expm1())
        left = (above(epsilon - step) - low) / (factor * -(-step).expm1()) if epsilon > step else arb(1)
        slopes = right.lower().max(arb(0)).union(left.upper().min(arb(1)))
        q = q.intersection(slopes) if q.overlaps(slopes) else q
    return (low.union(high) + factor * q).min(arb(1)), q


def _decimal(ball: arb) -> tuple[str, str]:
    low, _ = decimal_bounds(Num(exact(ball.lower())), _DIGITS)
    _, high = decimal_bounds(Num(exact(ball.upper())), _DIGITS)
    return low, high


def _interval(ball: arb) -> str:
    if not ball.is_finite():
        raise Undecided("the probabilities of the event have no finite enclosure.")
    low, high = _decimal(ball)
    return f"[{low}, {high}]" if low != high else low
