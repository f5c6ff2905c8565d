"""Sums of noises on all integers in zCDP and Renyi divergences.

Theorem: For log-concave noise on the integers the pair at the greatest whole shift, in the worse of both orders, has the greatest Renyi
divergences. These are sums of p^a q^(1 - a): enclosed, of sums of noises of known laws, by what one noise shows far out (p^a q^(1 - a) is
convex in both, so that adding noise averages it). Between orders (a - 1) D_a is at most its chords; from an order on D_a/a is at most what
one of the noises has, or, of k discrete Gaussians of one deviation, D^2/(2 k sigma^2) and what their probabilities vary by.

Checked:
- all noises of the sum have laws that are known, they are log-concave, and no end is finite
- answers differ by integers, and by how much at most and at least
- the sums at every order, and that loss is below 0 where they begin

Source: docs/theory/measures.md#measures-of-sums, Agarwal, Kairouz & Liu 2021; Kairouz, Liu & Steinke 2021
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from flint import arb

from dpverify.trusted.combinators.densities import even
from dpverify.trusted.combinators.runs import reach
from dpverify.trusted.combinators.runs import whole as whole_run
from dpverify.trusted.combinators.sums import least
from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import Rejected, certify, require
from dpverify.trusted.kernel.expr import ZERO
from dpverify.trusted.kernel.fact import Parameters, Premises
from dpverify.trusted.kernel.model import Claim, Sum
from dpverify.trusted.language.rationals import read_fraction
from dpverify.trusted.order.enclosed import whole
from dpverify.trusted.sensitivity.apart import off_the_integers
from dpverify.trusted.theories.curves.sums import addends, summed
from dpverify.trusted.theories.divergences.asked import above, below, bound, measure_of
from dpverify.trusted.theories.divergences.orders import most_over_orders, read_cuts
from dpverify.trusted.theories.divergences.whole_sums import Moved

NAME: Final = "measures-of-sums"
ASSUMED: Final = ("the sampler is ideal",)


def infer(claim: Claim, parameters: Parameters, _: Premises) -> tuple[Bound, ...]:
    """Both bounds; for zCDP those that the parameters name. Raises Rejected, Undecided, CertificateError.

    parameters, for zCDP: "cuts", orders from 1 on, for the upper bound, "at", an order, for the lower one; "sensitivity", if given, the
    certificate of a gauge.
    """
    measure = measure_of(claim, NAME)
    require(measure.name != "gdp", Rejected(NAME, "the measure", "it is about zCDP and Renyi divergences"))
    noise = claim.mechanism
    if not isinstance(noise, Sum) or off_the_integers(noise, claim.query) is not None:
        raise Rejected(NAME, "the mechanism", "it is no sum of noises, or answers do not differ by integers")
    moved = reach(whole_run(claim), parameters.get("sensitivity"))
    most, surely = whole(moved.upper, up=True), whole(moved.lower, up=False)
    wide = pairs(noise, most)
    narrow = wide if most == surely else pairs(noise, surely)
    exchanged, bounds = even(noise), list[Bound]()
    if measure.at is not None:
        order = rational(measure.at)
        value, low = (_greatest([one.cumulant(order) for one in those]) / (order - 1) for those in (wide, narrow))
        bounds.append(bound(claim, "upper", above(value) if wide else ZERO))
        bounds.append(bound(claim, "lower", below(low), witness=_witness(surely, measure.at), ordered=exchanged))
        return tuple(bounds)
    if "cuts" in parameters:
        cuts = read_cuts(parameters["cuts"], NAME)
        bounds.append(bound(claim, "upper", above(_greatest([over_orders(one, cuts) for one in wide])) if wide else ZERO))
    if "at" in parameters:
        at = read_fraction(parameters, "at", NAME)
        require(at > 1, Rejected(NAME, "at", "it is no order above 1"))
        order = rational(at)
        found = below(_greatest([one.cumulant(order) for one in narrow]) / (order * (order - 1)))
        bounds.append(bound(claim, "lower", found, witness=_witness(surely, at), ordered=exchanged))
    certify(bool(bounds), f"{NAME}: no bound is asked for; give 'cuts', 'at' or both.")
    return tuple(bounds)


def pairs(noise: Sum, shift: int) -> list[Moved]:
    """All pairs that have the greatest divergences at a shift, one of which has; none where nothing moves. Raises Rejected, Undecided."""
    found = []
    for one in least(noise) if shift else ():
        terms, shape = [(each.law, each.times) for each in addends(one)], summed(one)
        laws = [(law, times) for law, times in terms if law is not None]
        known = len(laws) == len(terms) and shape.concave and shape.low is None and shape.high is None
        require(known, Rejected(NAME, "the noises", "not all have known log-concave laws, or the sum has an end"))
        found += [Moved(laws, shape.masses(), turned, shift) for turned in ((False,) if shape.even else (False, True))]
    return found


def over_orders(one: Moved, cuts: Sequence[Fraction]) -> arb:
    """At least D_a/a of a pair for all orders above 1. Up to the second cut D_a/a <= D_a <= D at that cut."""
    first, last = rational(cuts[1]), rational(cuts[-1])
    near = one.cumulant(first) / (first - 1)
    return near.max(most_over_orders(cuts[1:], one.cumulant, one.beyond(last) * last))


def _greatest(found: Sequence[arb]) -> arb:
    greatest = arb(0)
    for one in found:
        greatest = greatest.max(one)
    return greatest


def _witness(moved: int, order: Fraction) -> dict[str, object]:
    return {"pair": {"says": "answers-apart", "apart": str(moved)}, "order": str(order)}
