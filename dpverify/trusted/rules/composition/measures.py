"""What a mechanism is in other measures of privacy, as facts beside the bound on (epsilon, delta) that they imply."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.facts.bounds import Bound
from dpverify.trusted.facts.fact import Fact, pure_of
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import ONE, Expr, Num, format_expr, mul, sub, symbols
from dpverify.trusted.language.model import Claim, Combinator, Exponential, Guarantee, Part
from dpverify.trusted.language.rationals import read_fraction
from dpverify.trusted.order.compare import certainly_equal
from dpverify.trusted.order.decimals import decimal_bounds
from dpverify.trusted.parts import neighbours
from dpverify.trusted.parts.forms import randomized_response
from dpverify.trusted.parts.runs import Run, check_adjacencies, leaf, merged, neighbours_assumed, occurs, reach
from dpverify.trusted.rules.composition import gaussian_composition, post_processing
from dpverify.trusted.rules.curves import finite, gaussian, laplace
from dpverify.trusted.rules.guarantees import conversions, stated_guarantee

NAME: Final = "other-measures"
STATEMENT: Final = (
    "Gaussian mechanisms and their compositions are mu-GDP, (mu^2/2)-zCDP and of Renyi divergence a mu^2/2; eps-DP implies "
    "(eps tanh(eps/2))-zCDP; an exponential mechanism has bounded range. The divergence of one order bounds delta: looser than the curve."
)
CHECKED: Final = ("the mechanism's parameters", "the conversion at the order given")
ASSUMED: Final = ()
SOURCE: Final = conversions.SOURCE

ORDERS: Final = (Fraction(2), Fraction(8), Fraction(32))
"""Orders of the Renyi divergences that are shown."""
MOST_SCORES: Final = 4000
"""The most triples of two inputs and an output whose scores are compared."""
OCCUR: Final = "for the equalities shown: answers at the stated distance occur"
_SHOWN: Final = 12


@dataclass(slots=True)
class Facts:
    """Divergences by order, and what is shown. exact: whether the divergences are attained."""

    divergence: Callable[[Fraction], Expr]
    exact: bool
    shown: dict[str, str] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()


def infer(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> Bound:
    """An upper bound on the tight delta at the claimed epsilon, else on the tight epsilon at the claimed delta. Raises Rejected, Undecided.

    parameters: "order", a rational above 1. premises: the pure epsilon, where that is what is known.
    """
    facts = facts_of(claim, premises)
    facts.assumed = tuple(dict.fromkeys((*facts.assumed, *neighbours_assumed(claim))))
    order = read_fraction(parameters, "order", NAME)
    renyi = conversions.Renyi(order, facts.divergence(order))
    if claim.epsilon is not None:
        delta = conversions.rounded_up(conversions.renyi_delta_bound(renyi, claim.epsilon))
        return Bound("upper", Num(min(delta, Fraction(1))), quantity="delta", also=facts.shown, assumed=facts.assumed)
    if claim.delta is None:
        raise Rejected(NAME, "the claim", "it states neither an epsilon nor a delta")
    epsilon = conversions.rounded_up(conversions.renyi_epsilon_bound(renyi, claim.delta))
    return Bound("upper", Num(epsilon), quantity="epsilon", also=facts.shown, assumed=facts.assumed)


def facts_of(claim: Claim, premises: Sequence[Fact] = ()) -> Facts:
    """What a claim's mechanism is in other measures. Raises Rejected where nothing is known."""
    if claim.domains:
        raise Rejected(NAME, "the parameters", "it wants a value for each; claim one value at a time")
    check_adjacencies(claim)
    root = Part(claim.mechanism, claim.sensitivity, claim.query, claim.adjacency)
    runs = merged(root)
    try:
        facts = _gaussian(runs)
    except Rejected:
        if len(runs) > 1 or runs[0].times > 1 or isinstance(runs[0].part.mechanism, Combinator):
            raise
        facts = _single(runs[0], premises)
    apart = neighbours.apart(root) if facts.exact else ()
    facts.assumed = (*facts.assumed, *apart, *(post_processing.ASSUMED if any(run.processed for run in runs) else ()))
    return facts


def _gaussian(runs: tuple[Run, ...]) -> Facts:
    mu = gaussian_composition.total(runs)
    assert mu is not None
    attained = None if any(run.processed for run in runs) else gaussian_composition.total(runs, attained=True)
    facts = Facts(lambda order: conversions.renyi_of_gaussian(mu, order).divergence, attained is not None and certainly_equal(mu, attained))
    facts.shown["GDP"] = _relation("mu", mu, facts.exact)
    facts.shown["zCDP"] = _relation("rho", conversions.zcdp_of_gaussian(mu), facts.exact)
    _show_divergences(facts)
    if any(isinstance(run.part.mechanism, Guarantee) for run in runs):
        facts.assumed = (*gaussian.ASSUMED, *stated_guarantee.ASSUMED)
    elif facts.exact:
        occur = (OCCUR,) if any(run.part.query is None for run in runs) else ()
        facts.assumed = (*gaussian.ASSUMED, *occur)
    else:
        facts.assumed = gaussian.ASSUMED
    return facts


def _single(run: Run, premises: Sequence[Fact]) -> Facts:
    mechanism, sensitivity, query = leaf(run)
    attained = not run.processed and occurs(run)
    hypotheses: tuple[str, ...]
    if isinstance(mechanism, Exponential):
        eta = exponential_range(mechanism, ONE if sensitivity is None else sensitivity)
        rho = conversions.zcdp_of_bounded_range(eta)
        facts = Facts(lambda order: conversions.renyi_of_zcdp(rho, order).divergence, False)
        facts.shown["bounded range"] = _relation("eta", eta, attained)
        facts.shown["zCDP"] = _relation("rho", rho, False)
        facts.assumed = finite.ASSUMED
        return facts
    ratio = laplace.scale_ratio(mechanism, reach(run).upper) if run.part.query is None else None
    response = randomized_response(mechanism)
    if ratio is not None:
        facts, epsilon = Facts(lambda order: conversions.renyi_of_laplace(ratio, order).divergence, attained), ratio
        hypotheses = laplace.ASSUMED
    elif response is not None:
        facts, epsilon = Facts(lambda order: conversions.renyi_of_pure(response, order).divergence, attained), response
        hypotheses = finite.ASSUMED
    elif premises:
        epsilon, hypotheses = pure_of(premises[0], Claim(mechanism, None, sensitivity=sensitivity, query=query), NAME)
        facts = Facts(lambda order: conversions.renyi_of_pure(epsilon, order).divergence, False)
    else:
        raise Rejected(NAME, "the mechanism", "no bound on its divergences is known without its pure epsilon")
    facts.shown["zCDP"] = _relation("rho", conversions.zcdp_of_pure(epsilon), False)
    _show_divergences(facts)
    facts.assumed = (*hypotheses, OCCUR) if facts.exact and ratio is not None else hypotheses
    return facts


def exponential_range(mechanism: Exponential, sensitivity: Expr) -> Expr:
    """The exact range of an exponential mechanism: of log p - log q, up to a constant beta times the difference of the scores.

    Raises Rejected for scores that are not rational, or too many.
    """
    rows, inputs = mechanism.scores, range(len(mechanism.scores))
    pairs = [(i, j) for i in inputs for j in inputs if i < j] if mechanism.adjacent is None else list(mechanism.adjacent)
    if sensitivity != ONE or len(pairs) * len(rows[0]) > MOST_SCORES:
        raise Rejected(NAME, "the scores", f"their sensitivity is stated apart, or they are more than {MOST_SCORES} to compare")
    most = Fraction(0)
    for i, j in pairs:
        gaps = [sub(a, b) for a, b in zip(rows[i], rows[j], strict=True)]
        values = [gap.value for gap in gaps if isinstance(gap, Num)]
        if len(values) < len(gaps):
            raise Rejected(NAME, "the scores", "their differences are not rational")
        most = max(most, max(values) - min(values))
    return mul(mechanism.beta, Num(most))


def _show_divergences(facts: Facts) -> None:
    for order in ORDERS:
        facts.shown[f"Renyi of order {order}"] = _relation("divergence", facts.divergence(order), facts.exact)


def _relation(name: str, value: Expr, exact: bool) -> str:
    """name = value, or name <= value where it is only a bound; decimals are rounded outward."""
    if symbols(value):
        raise CertificateError(f"{NAME}: {format_expr(value)} has parameters without a value.")
    text = format_expr(value)
    if isinstance(value, Num) and len(text) <= _SHOWN:
        return f"{name} {'=' if exact else '<='} {text}"
    if not exact:
        return f"{name} <= {conversions.decimal_above(value, _SHOWN)}"
    return f"{name} in [{', '.join(decimal_bounds(value, _SHOWN))}]"
