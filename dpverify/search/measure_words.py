"""What a mechanism is in other measures of privacy, in words for readers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final

from dpverify.search.decimals import decimal_above, decimal_bounds
from dpverify.trusted.facts.bounds import Infinite
from dpverify.trusted.facts.fact import Fact, as_bounds
from dpverify.trusted.language.errors import CertificateError
from dpverify.trusted.language.expr import Expr, Num, format_expr, symbols
from dpverify.trusted.language.model import Claim, EllipticalProcess, Part
from dpverify.trusted.numbers.balls import constant, exact, finite, precision
from dpverify.trusted.order.compare import certainly_equal
from dpverify.trusted.order.processes import is_finite
from dpverify.trusted.parts import neighbours
from dpverify.trusted.parts.runs import merged, occurs
from dpverify.trusted.rules.additive import cameron_martin
from dpverify.trusted.rules.composition import gaussian_composition
from dpverify.trusted.rules.composition.measures import NAME, Measured, measured
from dpverify.trusted.rules.curves import observed_variance
from dpverify.trusted.rules.guarantees import conversions

ORDERS: Final = (Fraction(2), Fraction(8), Fraction(32))
"""Orders of the Renyi divergences that are shown."""
OCCUR: Final = "for the equalities shown: answers at the stated distance occur"
_SHOWN: Final = 12
_DIGITS: Final = 9


def shown(claim: Claim, premises: Sequence[Fact] = ()) -> tuple[dict[str, str], tuple[str, ...]]:
    """Relations by name, and what the equalities among them take for granted. Raises DpverifyError where nothing is known."""
    found = measured(claim, premises)
    root = Part(claim.mechanism, claim.sensitivity, claim.query, claim.adjacency)
    runs = merged(root)
    attained = not any(run.processed for run in runs) and all(map(occurs, runs))
    if found.measure == "gdp":
        lower = gaussian_composition.total(runs, attained=True) if not any(run.processed for run in runs) else None
        attained = lower is not None and certainly_equal(found.size, lower)
    exact = attained and found.measure in ("gdp", "laplace", "response")
    occur = (OCCUR,) if exact and found.measure != "response" and any(run.part.query is None for run in runs) else ()
    return dict(_relations(found, attained, exact)), (*occur, *(neighbours.apart(root) if exact else ()))


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
        raise CertificateError(f"{NAME}: {format_expr(value)} has parameters without a value.")
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
