"""Who has the most votes with Gaussian noise, on one database, in other measures: sums over lists of what the worst neighbour has in each.

Theorem: For several lists of votes the Renyi divergence of an order, in one order of the two databases, is the sum over the lists of the
greatest over the neighbours of each list. rho in zCDP is the supremum of that over the order of the divergence: at order 1 it is the sum K
of the greatest mean losses; up to order b at most K, or the greatest sum of (mean + (b - 1) V/2)/b, V the greatest variance of the loss
under the laws between; between two further orders a chord of its convex (a - 1) D_a bounds it, and from order A the greatest loss over A.

Checked:
- the probabilities, by sums over equally spaced points with a proved remainder
- every neighbour, of each list, in both orders or in the one that is claimed
- the cuts between orders

Source: docs/theory/measures.md#measures-of-votes
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any, Final

from flint import arb

from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import Rejected, certify
from dpverify.trusted.kernel.fact import Parameters, Premises
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.language.rationals import read_fraction
from dpverify.trusted.theories.divergences.asked import above, below, bound, measure_of
from dpverify.trusted.theories.divergences.orders import most_over_orders, read_cuts
from dpverify.trusted.theories.divergences.rows import Rows
from dpverify.trusted.theories.selection import votes

NAME: Final = "measures-of-votes"
ASSUMED: Final = ("the sampler is ideal", "the noises are independent of each other")


@dataclass(frozen=True)
class Told(Rows):
    """What is told on two databases, by balls."""

    masses: tuple[tuple[arb, arb], ...] = ()

    @cached_property
    def balls(self) -> list[tuple[arb, arb, arb]]:
        """For each kind of output both masses, and the loss."""
        return [(p, q, (p / q).log()) for p, q in self.masses]


Lists = list[tuple[int, list[Told]]]
"""For each list how often it is there, and what is told at each neighbour."""


def infer(claim: Claim, parameters: Parameters, _: Premises) -> tuple[Bound, ...]:
    """Both bounds. parameters, for zCDP: "cuts", orders from 1 on; "lower", the order of the lower bound. Raises Rejected, Undecided."""
    measure, orders = measure_of(claim, NAME), orders_of(claim)
    if measure.name == "renyi":
        assert measure.at is not None
        value = reduce(arb.max, (cumulant(lists, rational(measure.at)) for lists in orders)) / rational(measure.at - 1)
        return bound(claim, "upper", above(value)), bound(claim, "lower", below(value), witness=_witness(measure.at), ordered=True)
    if measure.name != "zcdp":
        raise Rejected(NAME, "the measure", "it is about Renyi divergences and zCDP")
    bounds = list[Bound]()
    if "cuts" in parameters:
        cuts = read_cuts(parameters["cuts"], NAME)
        bounds.append(bound(claim, "upper", above(reduce(arb.max, (most_of_all(lists, cuts) for lists in orders)))))
    if "lower" in parameters:
        order = read_fraction(parameters, "lower", NAME)
        certify(order > 1, f"{NAME}: 'lower' is no order above 1.")
        least = reduce(arb.max, (cumulant(lists, rational(order)) for lists in orders)) / rational(order * (order - 1))
        bounds.append(bound(claim, "lower", below(least), witness=_witness(order), ordered=True))
    certify(bool(bounds), f"{NAME}: no bound is asked for; give 'cuts', 'lower' or both.")
    return tuple(bounds)


def orders_of(claim: Claim) -> list[Lists]:
    """What is told on the database against its neighbours', and the other way round, where the claim is not about one order."""
    sigma, lists = votes.read(claim.mechanism)
    known = [(times, votes.Answer(sigma, each).met()) for each, times in sorted(lists.items())]
    return [[(times, [_told(i, met, sign) for i, met in enumerate(every)]) for times, every in known] for sign in votes.ORDERS[claim.order]]


def _told(number: int, met: votes.Met, sign: int) -> Told:
    return Told((0, number), (), False, False, tuple((p, q) if sign > 0 else (q, p) for p, q in met))


def _witness(order: Fraction) -> dict[str, Any]:
    return {"pair": {"says": "one-database"}, "order": str(order)}


def _most(lists: Lists, of: Callable[[Rows], arb]) -> arb:
    """The sum over all lists of the greatest of a number over the neighbours."""
    return sum((times * reduce(arb.max, map(of, every), arb(0)) for times, every in lists), arb(0))


def cumulant(lists: Lists, order: arb) -> arb:
    """(a - 1) D_a at an order, of the worst neighbour."""
    return _most(lists, lambda rows: rows.cumulant(order))


def near(lists: Lists, first: arb) -> arb:
    """At least the divergence over its order, up to an order."""
    span = arb(1).union(first)
    far = _most(lists, lambda rows: rows.mean + (first - 1) * rows.spread(span) / 2) / first
    return _most(lists, lambda rows: rows.mean).max(far)


def greatest(lists: Lists) -> arb:
    """The greatest loss."""
    return _most(lists, lambda rows: rows.greatest)


def most_of_all(lists: Lists, cuts: Sequence[Fraction]) -> arb:
    """At least the divergence over its order, for all orders above 1."""
    beyond = most_over_orders(cuts[1:], lambda order: cumulant(lists, order), greatest(lists))
    return near(lists, rational(cuts[1])).max(beyond)
