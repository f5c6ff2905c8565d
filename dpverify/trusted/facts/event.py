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
    if pair.event is not None:
        return pair.event(epsilon)
    forward, backward = pair.forward(epsilon), pair.backward(epsilon)
    swapped = bool(backward > forward)
    p, q = probabilities(pair.backward if swapped else pair.forward, epsilon)
    first, second = ("Q", "P") if swapped else ("P", "Q")
    return {
        "pair": "the worst neighbours, P and Q" if not swapped else "the worst neighbours in the other order",
        "event": f"S = {{outputs with log({first}/{second}) > {_decimal(epsilon)[0]}}}, summed over the parts where there are several",
        "P": _interval(p),
        "Q": _interval(q),
        "P - exp(epsilon)*Q": _interval(backward if swapped else forward),
    }


def probabilities(profile: Profile, epsilon: arb) -> tuple[arb, arb]:
    """P(S) and Q(S): with a = e^epsilon, H is convex in a, and minus its slope at a is Q(S); P(S) = H + a Q(S)."""
    step = arb(2) ** -(ctx.prec // 3)
    factor, here = epsilon.exp(), profile(epsilon)
    right = (here - profile(epsilon + step)) / (factor * step.expm1())
    left = (profile(epsilon - step) - here) / (factor * -(-step).expm1()) if epsilon > step else arb(1)
    q = right.lower().max(arb(0)).union(left.upper().min(arb(1)))
    return (here + factor * q).min(arb(1)), q


def _decimal(ball: arb) -> tuple[str, str]:
    low, _ = decimal_bounds(Num(exact(ball.lower())), _DIGITS)
    _, high = decimal_bounds(Num(exact(ball.upper())), _DIGITS)
    return low, high


def _interval(ball: arb) -> str:
    if not ball.is_finite():
        raise Undecided("the probabilities of the event have no finite enclosure.")
    low, high = _decimal(ball)
    return f"in [{low}, {high}]" if low != high else low
