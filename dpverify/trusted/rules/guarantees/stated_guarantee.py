"""A mechanism of which only a guarantee is known, in any measure of privacy: the pair that dominates all that have it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from dpverify.trusted.facts.pairs import Curve, Evidence, Pair
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import ONE, ZERO, Expr, Num, call, div, format_expr, mul, num, power, sub, symbols
from dpverify.trusted.language.model import MEASURES, Domain, Guarantee, Source, exact_fraction
from dpverify.trusted.order.compare import certainly_equal, certainly_le
from dpverify.trusted.rules.curves import optimal_composition
from dpverify.trusted.rules.guarantees import bounded_range, conversions, guarantees

NAME: Final = "stated-guarantee"
STATEMENT: Final = (
    "A mechanism that has a guarantee is dominated by one pair, in adaptive compositions too: (eps_i, delta_i)-DP by the hull of its "
    "points, mu-GDP by N(0, 1) and N(mu, 1), bounded range eta by its extreme pair, rho-zCDP and Renyi divergences by the hull of the "
    "(eps, delta) that they imply. For neighbours k steps apart pure eps, mu and eta are multiplied by k, rho by k^2."
)
CHECKED: Final = ("the numbers are in their ranges", "the orders asked for are those stated")
ASSUMED: Final = ("the mechanism has the guarantee that is stated of it, for all neighbours and in both orders",)
SOURCE: Final = Source("Dong, Roth & Su 2022", "Proposition 2.12, Theorem 2.14; Bun & Steinke 2016, Propositions 1.3 and 1.9")

NONE: Final[Mapping[str, Domain]] = {}
MOST_POINTS: Final = guarantees.MAX_POINTS


def curve(known: Guarantee, evidence: Evidence) -> Curve:
    """The curve of every mechanism with a guarantee: an upper bound alone.

    evidence: for "zcdp" and "renyi" the "points", pairs of an order and an epsilon. Raises Rejected, Undecided, CertificateError.
    """
    return Curve(_pair(known, evidence), None, (NAME,), ASSUMED)


def _pair(known: Guarantee, evidence: Evidence) -> Pair:
    check(known)
    if known.measure == "approximate":
        return (
            optimal_composition.guarantee(*known.rows[0])
            if len(known.rows) == 1
            else guarantees.pair([(row[0], row[1]) for row in known.rows])
        )
    only = known.rows[0][0]
    if known.measure == "gdp":
        return conversions.gdp_pair(only)
    if known.measure == "bounded_range":
        return optimal_composition.pair(ZERO) if certainly_equal(only, ZERO) else bounded_range.pair(only)
    return conversions.renyi_pair([(conversions.Renyi(a, divergence(known, a)), Num(eps)) for a, eps in read_points(evidence, NAME)])


def check(known: Guarantee) -> None:
    """Raises Rejected for a guarantee of no known form. The ranges of its numbers are checked where they are used."""
    width = MEASURES.get(known.measure)
    single = width == 1
    if width is None or not known.rows or any(len(row) != width for row in known.rows) or (single and len(known.rows) != 1):
        raise Rejected(NAME, "the guarantee", f"it is not of the form of one of {', '.join(MEASURES)}")


def read_points(evidence: Evidence, rule: str) -> list[tuple[Fraction, Fraction]]:
    """Orders above 1 and epsilons, as evidence writes them."""
    listed = evidence.get("points")
    if not isinstance(listed, list) or not 1 <= len(listed) <= MOST_POINTS:
        raise CertificateError(f"{rule}: the evidence wants 'points', a list of 1 to {MOST_POINTS} orders with their epsilons.")
    try:
        return [(exact_fraction(order), exact_fraction(epsilon)) for order, epsilon in listed]
    except (TypeError, ValueError, ZeroDivisionError) as error:
        raise CertificateError(f"{rule}: a point is not an order and an epsilon, fractions both.") from error


def divergence(known: Guarantee, order: Fraction) -> Expr:
    """An upper bound on the Renyi divergence of an order above 1. Raises Rejected where the guarantee implies none."""
    check(known)
    if known.measure == "renyi":
        found = [row[1] for row in known.rows if certainly_equal(row[0], num(order))]
        if not found:
            raise Rejected(NAME, "the order", f"no divergence of order {order} is stated")
        return found[0]
    epsilon, only = pure_epsilon(known), known.rows[0][0]
    if known.measure == "zcdp":
        rho = only
    elif known.measure == "gdp":
        rho = conversions.zcdp_of_gaussian(only)
    elif known.measure == "bounded_range":
        rho = conversions.zcdp_of_bounded_range(only)
    elif epsilon is not None:
        return conversions.renyi_of_pure(epsilon, order).divergence
    else:
        raise Rejected(NAME, "the guarantee", "no (eps, delta) with delta > 0 bounds a Renyi divergence")
    return conversions.renyi_of_zcdp(rho, order).divergence


def pure_epsilon(known: Guarantee, domains: Mapping[str, Domain] = NONE) -> Expr | None:
    """The least pure epsilon that a guarantee implies; None where it implies none."""
    check(known)
    if known.measure == "bounded_range":
        return known.rows[0][0]
    if known.measure != "approximate":
        return None
    best = None
    for epsilon, delta in known.rows:
        if certainly_equal(delta, ZERO, domains) and (best is None or certainly_le(epsilon, best, domains)):
            best = epsilon
    return best


def at_distance(known: Guarantee, k: Expr, domains: Mapping[str, Domain] = NONE) -> Guarantee:
    """What a guarantee implies for inputs k steps between neighbours apart, k an integer of at least 1.

    Bounded range: the loss over k steps is a sum of k losses, each within an interval of length eta. Raises Rejected for Renyi
    divergences, and where nothing is left.
    """
    check(known)
    if k == ONE:
        return known
    if known.measure == "renyi":
        raise Rejected(NAME, "the guarantee", "Renyi divergences over several steps are not bounded here; take the rule group-privacy")
    if known.measure == "approximate":
        rows = [(mul(k, epsilon), _grown(epsilon, delta, k)) for epsilon, delta in known.rows]
        kept = tuple(row for row in rows if certainly_le(row[1], ONE, domains))
        if not kept:
            raise Rejected(NAME, "the guarantee", f"over {format_expr(k)} steps its delta is above 1")
        return Guarantee(known.measure, kept)
    factor = power(k, num(2)) if known.measure == "zcdp" else k
    return Guarantee(known.measure, ((mul(factor, known.rows[0][0]),),))


def _grown(epsilon: Expr, delta: Expr, k: Expr) -> Expr:
    """delta (e^(k eps) - 1)/(e^eps - 1) (THEORY T12)."""
    if delta == ZERO:
        return ZERO
    if not symbols(epsilon) and certainly_equal(epsilon, ZERO):  # the quotient would be 0/0
        return mul(k, delta)
    return mul(delta, div(sub(call("exp", mul(k, epsilon)), ONE), sub(call("exp", epsilon), ONE)))
