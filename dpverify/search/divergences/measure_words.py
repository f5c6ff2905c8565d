"""What a mechanism is in other measures of privacy, in words for readers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from dpverify.search.decimals import decimal_above, decimal_bounds
from dpverify.trusted.combinators import neighbours
from dpverify.trusted.combinators.responses import randomized_response
from dpverify.trusted.combinators.runs import Run, leaf, merged, occurs, reach
from dpverify.trusted.kernel.balls import constant, exact, finite, precision
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, format_expr, symbols
from dpverify.trusted.kernel.fact import Fact, as_bounds
from dpverify.trusted.kernel.model import Claim, Combinator, EllipticalProcess, Exponential, KaryResponse, Part
from dpverify.trusted.theories.composition.rules import gaussian_composition
from dpverify.trusted.theories.composition.rules import privacy_measures as conversions
from dpverify.trusted.theories.composition.score_range import exponential_range
from dpverify.trusted.theories.curves.rules import finite_curve, gaussian, laplace
from dpverify.trusted.theories.processes import observed_variance
from dpverify.trusted.theories.processes.norms import is_finite
from dpverify.trusted.theories.processes.rules import cameron_martin

WHAT: Final = "other measures"
CLOSED: Final = frozenset((gaussian.NAME, gaussian_composition.NAME, laplace.NAME, finite_curve.NAME))
"""Rules about curves of mechanisms that are something in other measures too."""
ORDERS: Final = (Fraction(2), Fraction(8), Fraction(32))
"""Orders of the Renyi divergences that are shown."""
OCCUR: Final = "for the equalities shown: answers at the stated distance occur"
_SHOWN: Final = 12
_DIGITS: Final = 9


def known(claim: Claim, facts: Sequence[Fact]) -> Fact | None:
    """The fact by whose curve the mechanism is something in other measures too."""
    for fact in facts:
        if not fact.place and any(CLOSED & {*bound.through} for bound in as_bounds(fact.says)):
            return None if claim.measure is not None or claim.delta == ZERO or isinstance(claim.mechanism, KaryResponse) else fact
    return None


def shown(claim: Claim) -> tuple[dict[str, str], tuple[str, ...]]:
    """Relations by name, and what the equalities among them take for granted. Raises DpverifyError where nothing is known."""
    found = measured(claim)
    root = Part(claim.mechanism, claim.sensitivity, claim.query, claim.adjacency)
    runs = merged(root)
    attained = not any(run.processed for run in runs) and all(map(occurs, runs))
    if found.measure == "gdp":
        lower = gaussian_composition.total(runs, attained=True) if not any(run.processed for run in runs) else None
        attained = lower is not None and certainly_equal(found.size, lower)
    exact = attained and found.measure in ("gdp", "laplace", "response")
    occur = (OCCUR,) if exact and found.measure != "response" and any(run.part.query is None for run in runs) else ()
    return dict(_relations(found, attained, exact)), (*occur, *(neighbours.apart(root) if exact else ()))


class Measured(NamedTuple):
    """What a mechanism is in another measure.

    measure: "gdp", with mu; "bounded_range", with eta; "laplace", with the shift in scales; "response", with epsilon.
    """

    measure: str
    size: Expr

    def divergence(self, order: Fraction) -> Expr:
        """The Renyi divergence of an order above 1, or a bound on it."""
        if self.measure == "gdp":
            return conversions.renyi_of_gaussian(self.size, order).divergence
        if self.measure == "bounded_range":
            return conversions.renyi_of_zcdp(conversions.zcdp_of_bounded_range(self.size), order).divergence
        of = conversions.renyi_of_laplace if self.measure == "laplace" else conversions.renyi_of_pure
        return of(self.size, order).divergence


def measured(claim: Claim) -> Measured:
    """What a claim's mechanism is in another measure. Raises Rejected where nothing is known."""
    if claim.domains:
        raise Rejected(WHAT, "the parameters", "it wants a value for each; claim one value at a time")
    runs = merged(Part(claim.mechanism, claim.sensitivity, claim.query, claim.adjacency))
    try:
        mu = gaussian_composition.total(runs)
        assert mu is not None
        return Measured("gdp", mu)
    except Rejected:
        if len(runs) > 1 or runs[0].times > 1 or isinstance(runs[0].part.mechanism, Combinator):
            raise
        return _single(runs[0])


def _single(run: Run) -> Measured:
    asked = leaf(run)
    mechanism = asked.mechanism
    if isinstance(mechanism, Exponential):
        return Measured("bounded_range", exponential_range(mechanism, ONE if asked.sensitivity is None else asked.sensitivity))
    ratio = laplace.scale_ratio(mechanism, reach(run).upper) if run.part.query is None else None
    if ratio is not None:
        return Measured("laplace", ratio)
    response = randomized_response(mechanism)
    if response is not None:
        return Measured("response", response)
    raise Rejected(WHAT, "the mechanism", "nothing is known of it in other measures")


def _relations(found: Measured, attained: bool, exact: bool) -> Iterator[tuple[str, str]]:
    if found.measure == "gdp":
        yield "GDP", _relation("mu", found.size, exact)
        yield "zCDP", _relation("rho", conversions.zcdp_of_gaussian(found.size), exact)
    elif found.measure == "bounded_range":
        yield "bounded range", _relation("eta", found.size, attained)
        yield "zCDP", _relation("rho", conversions.zcdp_of_bounded_range(found.size), False)
        return
    else:
        yield "zCDP", _relation("rho", conversions.zcdp_of_pure(found.size), False)
    for order in ORDERS:
        yield f"Renyi of order {order}", _relation("divergence", found.divergence(order), exact)


def _relation(name: str, value: Expr, exact: bool) -> str:
    """name = value, or name <= value where it is only a bound; decimals are rounded outward."""
    if symbols(value):
        raise CertificateError(f"{WHAT}: {format_expr(value)} has parameters without a value.")
    text = format_expr(value)
    if isinstance(value, Num) and len(text) <= _SHOWN:
        return f"{name} {'=' if exact else '<='} {text}"
    if not exact:
        return f"{name} <= {decimal_above(value, _SHOWN)}"
    return f"{name} in [{', '.join(decimal_bounds(value, _SHOWN))}]"


def theorem5(fact: Fact) -> dict[str, str]:
    """Reimherr and Awan's Theorem 5, as the rule has used it, and the sharper bound beside it. Raises DpverifyError."""
    claim = fact.about
    assert isinstance(claim, Claim) and claim.epsilon is not None
    law, shift, _ = cameron_martin.law_and_shift(claim, fact.parameters.get("sensitivity"))
    with precision(cameron_martin.BITS):
        base = cameron_martin.base_delta(shift, claim.epsilon)
        if isinstance(law, cameron_martin.Transform):
            return {"RA Theorem 5": _by_theorem5(fact, base)}
        sharper = finite(observed_variance.observed(law, shift).worst(constant(claim.epsilon)))
    low, high = decimal_bounds(Num(exact(sharper.lower())), _DIGITS)[0], decimal_above(Num(exact(sharper.upper())), _DIGITS)
    process = isinstance(claim.mechanism, EllipticalProcess) and not is_finite(claim.mechanism)
    return {
        "RA Theorem 5": _by_theorem5(fact, base),
        "sharper, with V shown": f"delta in [{low}, {high}]" if process else f"delta <= {high}",
    }


def _by_theorem5(fact: Fact, base: Expr) -> str:
    (proved,) = (bound.value for bound in as_bounds(fact.says))
    assert not isinstance(proved, Infinite)
    return f"delta <= {decimal_above(proved, _DIGITS)}, from the base delta {decimal_above(base, _DIGITS)}"
