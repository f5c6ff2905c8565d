"""Other measures from the privacy curve of a mechanism, whatever it is made of.

Theorem: With h(x) = sum (p - x q)_+ for x >= 1 and sum (x q - p)_+ below, both convex, sum p^a q^(1 - a) = 1 + a (a - 1) times the integral
of x^(a - 2) h(x). Chords of h between points bound it from above, lines through two points, prolonged, from below; past the pure epsilon h
is 0, and x times its profile there below all points where only one order has a pure epsilon. A mechanism is mu-GDP exactly where h is at
most that of N(0, 1) and N(mu, 1) everywhere, in both orders.

Checked:
- the curve, by the rule of every node
- the pure epsilon, where a bound is from above
- the curve at every point

Source: docs/theory/measures.md#measures-of-a-curve, Liese & Vajda 2006; Dong, Roth & Su 2022, Proposition 2.12
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from flint import arb

from dpverify.trusted.combinators.exchanged import worst_way
from dpverify.trusted.combinators.runs import neighbours_assumed
from dpverify.trusted.facts.orientation import facing
from dpverify.trusted.facts.pairs import Curve, Pair
from dpverify.trusted.facts.premises import pure_of, through_of
from dpverify.trusted.kernel.balls import constant, rational
from dpverify.trusted.kernel.bounds import INFINITE, Bound
from dpverify.trusted.kernel.errors import CertificateError, Rejected, require
from dpverify.trusted.kernel.expr import num
from dpverify.trusted.kernel.fact import Fact, unasked
from dpverify.trusted.kernel.model import Claim, Measure
from dpverify.trusted.language.rationals import read_fraction, read_rising
from dpverify.trusted.theories.composition.rules.privacy_profile import curve_of_claim
from dpverify.trusted.theories.curves.rules import gaussian
from dpverify.trusted.theories.divergences.asked import above, below, bound, measure_of
from dpverify.trusted.theories.divergences.chords import Chords, least, within_gaussian
from dpverify.trusted.theories.divergences.orders import most_over_orders, read_cuts

NAME: Final = "measures-of-a-curve"
ASSUMED: Final = ()

MOST_POINTS: Final = 4000


def infer(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> tuple[Bound, ...]:
    """The bound of the "side" that the parameters name. Raises Rejected, Undecided, CertificateError.

    premises: as of `curve_of_claim`, and for an upper bound the pure epsilon, or that of the order that is claimed alone. parameters:
    "points", epsilons from 0 on; for zCDP "cuts", orders from 1 on, for an upper bound, "at", an order, for a lower one; for GDP "value",
    and for a lower bound "at", an epsilon. A lower bound of side "infinite" wants no more than the curve.
    """
    measure, side = measure_of(claim, NAME), parameters.get("side")
    curve, others = curve_of_claim(claim, parameters, premises)
    if side == "upper":
        return (_above(claim, measure, curve, parameters, others),)
    if side not in ("lower", "infinite") or others:
        raise CertificateError(f"{NAME}: 'side' is none of 'upper', 'lower' and 'infinite', or the premises are not those of the side.")
    if curve.lower is None:
        raise Rejected(NAME, "the curve", "it has no lower side, or one of which the order of the neighbours is not known")
    assumed = (*curve.assumed, *curve.below, *neighbours_assumed(claim, "lower"), *(worst_way(claim) if claim.order else ()))
    value, says = _below(measure, facing(claim, curve.lower), parameters, bool(claim.order))
    return (bound(claim, "lower", value, assumed, curve.rules, witness=says, ordered=True),)


# -- from above ------------------------------------------------------------------------------------


def _above(claim: Claim, measure: Measure, curve: Curve, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> Bound:
    if curve.upper is None or len(premises) != 1:
        raise Rejected(NAME, "the premises", "an upper bound wants the upper side of a curve, and the pure epsilon")
    alone = bool(claim.order) and premises[0].about == claim and measure.name != "gdp"
    epsilon, granted = pure_of(premises[0], claim if alone else unasked(claim), NAME)
    most, points = constant(epsilon), _points(parameters)
    require(rational(points[-1]) >= most, Rejected(NAME, "points", "the last is not certainly at least the pure epsilon"))
    orders = [facing(claim, curve.upper)] if claim.order and measure.name != "gdp" else [curve.upper, curve.upper.reversed]
    orders = orders[:1] if curve.upper.forward is curve.upper.backward else orders
    assumed = (*curve.assumed, *granted, *neighbours_assumed(claim))
    if measure.name == "gdp":
        value = num(read_fraction(parameters, "value", NAME))
        for pair in orders:
            within_gaussian(pair.forward, rational(value.value), points)
    else:
        value = above(_of_pairs(measure, [Chords(pair, points, alone) for pair in orders], parameters, most))
    return bound(claim, "upper", value, assumed, (*curve.rules, *through_of(premises[0])))


def _of_pairs(measure: Measure, pairs: Sequence[Chords], parameters: Mapping[str, Any], most: arb) -> arb:
    worst = arb(0)
    for pair in pairs:
        if measure.at is not None:
            order = rational(measure.at)
            worst = worst.max(pair.cumulant(order) / (order - 1))
            continue
        cuts = read_cuts(parameters.get("cuts"), NAME)
        first = rational(cuts[1])
        # up to the second cut D_a/a <= D_a <= D at that cut
        worst = worst.max(pair.cumulant(first) / (first - 1)).max(most_over_orders(cuts[1:], pair.cumulant, most))
    return worst


# -- from below ------------------------------------------------------------------------------------


def _below(measure: Measure, pair: Pair, parameters: Mapping[str, Any], one_way: bool) -> tuple[Any, dict[str, Any]]:
    """A value that the pair has at least, with what shows it."""
    if parameters["side"] == "infinite":
        rests = () if pair.rests is None else pair.rests
        for rest in rests[:1] if one_way and measure.name != "gdp" else rests:
            if rest() > 0:
                return INFINITE, {"pair": {"says": "two-neighbours"}, "event": {"says": "outputs-of-one-alone"}}
        raise Rejected(NAME, "the curve", "no output is certainly possible on one of two neighbours alone")
    if measure.name == "gdp":
        value, epsilon = (read_fraction(parameters, key, NAME) for key in ("value", "at"))
        reached = pair.worst(rational(epsilon)) if epsilon >= 0 and value > 0 else arb(0)
        if not gaussian.profile(num(value))(rational(epsilon)) < reached:
            raise Rejected(NAME, "value", "the profile there is not certainly above that of Gaussian noise")
        return num(value), {"pair": {"says": "two-neighbours"}, "at epsilon": str(epsilon)}
    points = _points(parameters)
    order = measure.at or read_fraction(parameters, "at", NAME)
    require(order > 1, Rejected(NAME, "at", "it is not an order above 1"))
    size = rational(order)
    forward = least(size, pair, points)
    found = forward if one_way or pair.forward is pair.backward else forward.max(least(size, pair.reversed, points))
    return below(found / (size - 1) / (1 if measure.at is not None else size)), {"order": str(order)}


def _points(parameters: Mapping[str, Any]) -> list[Fraction]:
    return read_rising(parameters.get("points"), "points", NAME, 2, MOST_POINTS, first=0)
