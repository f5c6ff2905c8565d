"""The best output of a random number of runs, of parts whose Renyi divergences are known: bounds from above.

With t = 1 - F, F = q(<= y), and t' of the neighbour, an output y has q(y) f'(1 - t). So the divergence of order a is that of a run, and
what f'(1 - t)^a f'(1 - t')^(1 - a) is at most, over pairs that a second divergence, or an (eps, delta) of a run, allows.

Theorem: Let a run have the Renyi divergences D_a and D_b, a, b > 1, in both orders. The best of a truncated negative binomial number K of
runs has D_a + (1 + eta) ((1 - 1/b) D_b + log(1/gamma)/b) + log(E K)/(a - 1) at most, E K = eta (1 - gamma)/(gamma (1 - gamma^eta)); of a
Poisson number with mean mu log(e^-mu + mu e^((a - 1)(D_a + mu delta)))/(a - 1), where a run is (log(a/(a - 1)), delta)-DP.

Checked:
- the divergences of the part at both orders, and the law and its numbers
- that a logarithmic law is bounded by a gamma below its own

Source: docs/theory/composition.md#best-of-renyi, Papernot & Steinke 2022, Theorems 2 and 6
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.combinators import neighbours
from dpverify.trusted.combinators.runs import Run, merged
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.pairs import Curve
from dpverify.trusted.kernel.canonical_form import exact_fraction
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, add, call, div, mul, neg, num, power, sub
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import BestOf, Measure
from dpverify.trusted.theories.composition.rules import best_of, post_processing, renyi_composition, stated_guarantee
from dpverify.trusted.theories.composition.rules import privacy_measures as conversions

NAME: Final = "best-of-renyi"
ASSUMED: Final = best_of.ASSUMED


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run of the best of some, an upper bound alone. Raises Rejected, Undecided, CertificateError.

    parameters: "points", lists of an order, an epsilon, and what `divergence` is told there.
    """
    best = run.part.mechanism
    if not isinstance(best, BestOf) or run.factor != ONE:
        raise Rejected(NAME, "the part", "it is not the best of several runs, of neighbours one step apart")
    points, assumed = [], dict[str, None]()
    for order, epsilon, second, gamma in parameters["points"]:
        value, lines = divergence(best, exact_fraction(order), {"second": second, "gamma": gamma})
        assumed |= dict.fromkeys(lines)
        points.append((conversions.Renyi(exact_fraction(order), value), Num(exact_fraction(epsilon))))
    return settled.single(run, Curve(stated_guarantee.renyi_pair(points), None, (NAME,), (*ASSUMED, *assumed)))


def divergence(best: BestOf, order: Fraction, told: Mapping[str, Any]) -> tuple[Expr, tuple[str, ...]]:
    """The divergence of an order above 1, at most, and what it takes for granted. Raises Rejected, Undecided, CertificateError.

    told: the "second" order, above 1; of a logarithmic law "gamma", as of best-of.
    """
    of, assumed = of_a_run(best)
    first, second = of(order), exact_fraction(told["second"])
    if best.law == "poisson":
        return _poisson(best.numbers[0], order, first, conversions.Renyi(second, of(second))), assumed
    eta, gamma, mean = _law(best, told)
    share = num(1 / second)
    known = add(mul(sub(ONE, share), of(second)), mul(share, neg(call("log", gamma))))
    return add(first, mul(add(ONE, eta), known), mul(num(1 / (order - 1)), call("log", mean))), assumed


def of_a_run(best: BestOf) -> tuple[Callable[[Fraction], Expr], tuple[str, ...]]:
    """The divergence, by order, of one run of the part, and what it takes for granted. Raises Rejected where it is not known."""
    neighbours.require_one_adjacency(best.part)
    runs = merged(best.part)
    parts = [(run.times, *renyi_composition.of(run, None)) for run in runs]
    processed = post_processing.ASSUMED if any(run.processed for run in runs) else ()

    def of(at: Fraction) -> Expr:
        total = add(*(mul(num(times), value(Measure("renyi", None, at))) for times, value, _ in parts))
        return conversions.Renyi(at, total).divergence

    return of, tuple(dict.fromkeys((*(line for _, _, lines in parts for line in lines), *processed)))


def _poisson(mean: Expr, order: Fraction, first: Expr, second: conversions.Renyi) -> Expr:
    epsilon = call("log", num(order / (order - 1)))
    bound = conversions.renyi_delta_bound(second, epsilon)
    delta = num(conversions.rounded_up(bound)) if certainly_le(bound, ONE) else ONE  # which no delta is above
    told = mul(mean, call("exp", mul(num(order - 1), add(first, mul(mean, delta)))))
    return mul(num(1 / (order - 1)), call("log", add(call("exp", neg(mean)), told)))


def _law(best: BestOf, told: Mapping[str, Any]) -> tuple[Expr, Expr, Expr]:
    """eta and gamma of a truncated negative binomial law, and its mean, which is at least 1."""
    if best.law == "geometric":
        return ONE, div(ONE, best.numbers[0]), best.numbers[0]
    if best.law == "logarithmic":
        return ZERO, best_of.gamma_of(best.numbers[0], "upper", told, {}), best.numbers[0]
    if best.law != "negative_binomial":
        raise Rejected(NAME, "the law", "a fixed number of runs is a composition of so many")
    eta, gamma = best.numbers
    if certainly_equal(eta, ZERO):
        return eta, gamma, best_of.logarithmic_mean(gamma)
    return eta, gamma, div(mul(eta, sub(ONE, gamma)), mul(gamma, sub(ONE, power(gamma, eta))))
