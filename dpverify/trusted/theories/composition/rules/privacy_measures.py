"""Conversions between Renyi, concentrated, Gaussian and approximate differential privacy, each a theorem.

What comes out is said in the name: a `bound` on delta or epsilon holds at one point alone, for every order (any order is sound, a search
looks for the best), and is no curve to compose with. Pairs of distributions that may be composed again are in `stated_guarantee`.

epsilon and divergences are in nats; orders are rationals above 1; all other arguments are constants.

Theorem: If the Renyi divergence of order a > 1 between the outputs on every two neighbours is at most tau, the mechanism is (eps, delta)-DP
with delta = exp((a - 1)(tau - eps)) (1 - 1/a)^a/(a - 1) for every eps. rho-zCDP is tau = a rho at every order; eps-DP implies (eps
tanh(eps/2))-zCDP, bounded range eta implies (eta^2/8)-zCDP, and Renyi divergences and rho add up in adaptive composition. mu-GDP is
domination by N(0, 1) and N(mu, 1), and composes to the square root of the sum of squares.

Checked:
- orders are above 1
- divergences, rho, mu and eps are at least 0

Source: docs/theory/composition.md#privacy-measures, Canonne, Kamath & Steinke 2020, Proposition 12; Bun & Steinke 2016; Mironov 2017; Cesar
& Rogers 2021; Dong, Roth & Su 2022
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from flint import arb

from dpverify.trusted.kernel.balls import constant, exact, finite, precision
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected, Undecided, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, add, call, div, format_expr, mul, num, power, sub, symbols
from dpverify.trusted.kernel.model import Guarantee, Measure
from dpverify.trusted.order.enclosed import enclose

NAME: Final = "privacy-measures"
ASSUMED: Final = ()

ACCURACY: Final = 192
"""Bits to which a bound on delta is enclosed before it is rounded up."""
KEPT: Final = 80
"""Bits of a rounded bound."""


@dataclass(frozen=True, slots=True)
class Renyi:
    """Divergence of order `order` > 1 at most `divergence` between the outputs on every two neighbours, in both orders of the two."""

    order: Fraction
    divergence: Expr

    def __post_init__(self) -> None:
        """Raises Undecided where the order is not above 1 or the divergence is not certainly at least 0."""
        _check_order(self.order)
        check_at_least_zero("the divergence", self.divergence)


# -- Renyi ---------------------------------------------------------------------------------------


def renyi_of_gaussian(mu: Expr, order: Fraction) -> Renyi:
    """Exactly order mu^2/2, mu the distance over the standard deviation. Source: Mironov 2017, Proposition 7."""
    return Renyi(order, mul(num(order / 2), power(mu, num(2))))


def renyi_of_laplace(eps0: Expr, order: Fraction) -> Renyi:
    """Exactly log(a/(2a - 1) e^((a - 1) eps0) + (a - 1)/(2a - 1) e^(-a eps0))/(a - 1), eps0 = sensitivity/scale.

    Source: Mironov 2017, Proposition 6.
    """
    _check_order(order)
    check_at_least_zero("eps0", eps0)
    rise = mul(num(order / (2 * order - 1)), call("exp", mul(num(order - 1), eps0)))
    fall = mul(num((order - 1) / (2 * order - 1)), call("exp", mul(num(-order), eps0)))
    return Renyi(order, mul(num(1 / (order - 1)), call("log", add(rise, fall))))


def renyi_of_pure(eps0: Expr, order: Fraction) -> Renyi:
    """log((e^(a eps0) + e^((1 - a) eps0))/(1 + e^eps0))/(a - 1): the divergence of randomized response, which dominates eps0-DP."""
    _check_order(order)
    check_at_least_zero("eps0", eps0)
    above = add(call("exp", mul(num(order), eps0)), call("exp", mul(num(1 - order), eps0)))
    return Renyi(order, mul(num(1 / (order - 1)), call("log", div(above, add(ONE, call("exp", eps0))))))


def renyi_of_zcdp(rho: Expr, order: Fraction) -> Renyi:
    """order rho, by definition. Source: Bun & Steinke 2016, Definition 1.1."""
    return Renyi(order, mul(num(order), rho))


def renyi_delta_bound(renyi: Renyi, epsilon: Expr) -> Expr:
    """A delta for which the mechanism is (epsilon, delta)-DP: a bound at this epsilon, not a curve to compose with.

    E(1 - e^(eps - L))_+ <= c E e^((a - 1)(L - eps)) with c = max over x > 0 of (1 - 1/x) x^(1 - a) = (1 - 1/a)^a/(a - 1).
    Source: Canonne, Kamath & Steinke 2020, Proposition 12.
    """
    check_at_least_zero("epsilon", epsilon)
    excess = renyi.order - 1
    most = call("exp", mul(num(renyi.order), call("log", num(excess / renyi.order))))  # a power would be expanded exactly
    return mul(num(1 / excess), call("exp", mul(num(excess), sub(renyi.divergence, epsilon))), most)


# -- concentrated --------------------------------------------------------------------------------


def zcdp_of_gaussian(mu: Expr) -> Expr:
    """rho = mu^2/2. Source: Bun & Steinke 2016, Proposition 1.6."""
    check_at_least_zero("mu", mu)
    return mul(num(Fraction(1, 2)), power(mu, num(2)))


def zcdp_of_pure(eps0: Expr) -> Expr:
    """rho = eps0 tanh(eps0/2), the least that all eps0-DP mechanisms have; at most eps0^2/2, the form of Bun & Steinke 2016, Prop. 1.4.

    Randomized response dominates them all; its divergence of order a = 1/2 + x is log(cosh(x eps0)/cosh(eps0/2))/(x^2 - 1/4), and
    log cosh(eps0 sqrt(v)) is concave in v, so that it lies below its tangent at v = 1/4: the divergence is at most a eps0 tanh(eps0/2).
    """
    check_at_least_zero("eps0", eps0)
    return mul(eps0, call("tanh", mul(num(Fraction(1, 2)), eps0)))


def zcdp_of_bounded_range(eta: Expr) -> Expr:
    """rho = eta^2/8. Source: Cesar & Rogers 2021.

    The loss L lies in an interval of length eta, so that log E e^(s (L - KL)) <= s^2 eta^2/8 (Hoeffding), KL its mean. At s = -1 the left
    side is KL, since E e^-L = 1; at s = a - 1 it is (a - 1) (D_a - KL). Together D_a <= a eta^2/8.
    """
    check_at_least_zero("eta", eta)
    return mul(num(Fraction(1, 8)), power(eta, num(2)))


# -- in any measure ------------------------------------------------------------------------------


def of_mu(mu: Expr, measure: Measure) -> Expr:
    """The value in a measure of the pair N(0, 1) and N(mu, 1). Raises Undecided unless mu is certainly at least 0."""
    rho = zcdp_of_gaussian(mu)
    if measure.name == "gdp":
        return mu
    return rho if measure.at is None else renyi_of_gaussian(mu, measure.at).divergence


def of_pure(epsilon: Expr, measure: Measure) -> Expr:
    """The value in a measure of randomized response, which dominates every mechanism with this pure epsilon."""
    check_at_least_zero("eps", epsilon)
    if measure.name == "zcdp":
        return zcdp_of_pure(epsilon)
    if measure.at is not None:
        return renyi_of_pure(epsilon, measure.at).divergence
    # Phi^-1((1 + v)/2) = sqrt(2) erfinv(v), v = tanh(eps/2)
    return num(exact(finite(2 * arb(2).sqrt() * (constant(epsilon) / 2).tanh().erfinv()).upper()))


def of_range(eta: Expr, measure: Measure) -> Expr:
    """The value in a measure of a mechanism whose losses stay within an interval of length eta."""
    rho = zcdp_of_bounded_range(eta)
    if measure.name == "gdp":
        return of_pure(eta, measure)
    return rho if measure.at is None else renyi_of_zcdp(rho, measure.at).divergence


def of_guarantee(known: Guarantee, measure: Measure) -> Expr:
    """An upper bound in a measure on what has a guarantee in both orders. Raises Rejected where it implies none."""
    from dpverify.trusted.combinators.stated import pure_epsilon

    only, epsilon = known.rows[0][0], pure_epsilon(known)  # checks its form
    if known.measure == "gdp":
        return of_mu(only, measure)
    if known.measure == "zcdp" and measure.name != "gdp":
        check_at_least_zero("rho", only)
        return only if measure.at is None else renyi_of_zcdp(only, measure.at).divergence
    if known.measure == "bounded_range":
        return of_range(only, measure)
    if known.measure == "renyi" and measure.at is not None:
        # divergences do not fall with the order
        for order, divergence in known.rows:
            if certainly_le(num(measure.at), order):
                check_at_least_zero("the divergence", divergence)
                return divergence
        raise Rejected(NAME, "the order", f"no divergence is stated of order {measure.at} or of a greater one")
    if epsilon is not None:
        return of_pure(epsilon, measure)
    raise Rejected(NAME, "the guarantee", f"a guarantee of the measure {known.measure} bounds nothing in {measure.name}")


# -- checks and rounding --------------------------------------------------------------------------


def _check_order(order: Fraction) -> None:
    require(order > 1, Undecided(f"{NAME}: a Renyi divergence of order {order}; these conversions want an order above 1."))


def check_at_least_zero(name: str, value: Expr) -> None:
    """Raises Undecided unless a constant is certainly at least 0."""
    if symbols(value) or not certainly_le(ZERO, value):
        raise Undecided(f"{NAME}: {name} = {format_expr(value)} is not certainly a number of at least 0.")


def rounded_up(value: Expr) -> Fraction:
    """A rational with few bits that is at least a constant, and at least 0."""
    with precision(ACCURACY):
        top = exact(enclose(value, ACCURACY).upper())
    if top <= 0:
        return Fraction(0)
    shift = KEPT - (top.numerator.bit_length() - top.denominator.bit_length())
    scaled = top * Fraction(2) ** shift
    return Fraction(-(-scaled.numerator // scaled.denominator)) / Fraction(2) ** shift
