"""A claimed epsilon that is above a proved bound by an identity: weighted squares times constraints of the domains.

On the domains x - lower and upper - x are at least zero, and so is any sum of products of these with squares and weights that are at
least zero. Writing a polynomial as such a sum (multipliers of Farkas and Handelman, sums of squares) proves that it is at least zero,
and re-checking that needs no more than multiplying out.

Theorem: If another rule proves tight epsilon <= U, and the numerator P of V - U over a positive denominator satisfies S P = T, where T and
S - 1 are sums of weights >= 0 times squares times constraints of the domains, then tight epsilon <= V.

Checked:
- the premise is an upper bound U for all parameters
- the claimed epsilon V has a value at all parameters
- the denominator is positive on the domains
- all weights are at least zero, and all constraints hold on the domains
- the identity S P = T, by the forms of both sides

Source: Krivine 1964; Stengle 1974, Positivstellensatz, the direction that multiplies out
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from dpverify.trusted.facts.premises import bound_of, through_of
from dpverify.trusted.kernel.bounds import Bound, Infinite
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, Call, Expr, Num, Sym, add, mul, num, parse, power, sub
from dpverify.trusted.kernel.fact import Fact, unasked
from dpverify.trusted.kernel.model import Claim, Domain
from dpverify.trusted.language.rationals import to_fraction
from dpverify.trusted.order.forms import equal

NAME: Final = "positivstellensatz"
ASSUMED: Final = ()
MAX_SUMMANDS: Final = 2_000
_RISING: Final = ("log", "exp", "asinh", "sinh", "atanh", "tanh")


def infer(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> Bound:
    """The claimed epsilon as an upper bound. premises: the upper bound U.

    parameters: "denominator", an expression, 1 where it is left out; "terms" and "multiplier", the summands of T and of S - 1, each with
    "weight" (a rational), "square" (an expression, to be squared) and "constraints" (pairs as `bounded_constraint` reads them). Raises
    Rejected or Undecided, CertificateError for parameters of another form.
    """
    if claim.epsilon is None:
        raise Rejected(NAME, "the claim", "it claims no epsilon to relax the bound to")
    if len(premises) != 1:
        raise CertificateError(f"{NAME}: it wants one premise.")
    bound = bound_of(premises[0], unasked(claim), "upper", NAME)
    if isinstance(bound.value, Infinite):
        raise Rejected(NAME, premises[0].rule, "it does not prove a finite upper bound")
    domains = dict(claim.domains)
    for expr, what in ((claim.epsilon, "the claimed epsilon"), (bound.value, "the bound")):
        if not certainly_le(expr, expr, domains):
            raise Rejected(NAME, what, "it is not certainly defined for all parameters")
    below = parse(str(parameters.get("denominator", "1")))
    if not certainly_lt(ZERO, below, domains):
        raise Rejected(NAME, "the denominator", "it is not certainly positive")
    upper, claimed = stripped(bound.value, claim.epsilon)
    multiplier, terms = (summed(parameters.get(key, ()), domains) for key in ("multiplier", "terms"))
    if not equal(mul(below, sub(claimed, upper), add(ONE, multiplier)), terms, domains):
        raise Rejected(NAME, "the identity", "the two sides differ when multiplied out")
    return replace(bound, value=claim.epsilon, assumed=(*premises[0].assumed, *bound.assumed), through=through_of(premises[0]))


def stripped(low: Expr, high: Expr) -> tuple[Expr, Expr]:
    """Two expressions in the same order as the given ones, without the increasing function that both are values of."""
    while isinstance(low, Call) and isinstance(high, Call) and low.name == high.name and low.name in _RISING:
        low, high = low.args[0], high.args[0]
    return low, high


def summed(summands: Any, domains: Mapping[str, Domain]) -> Expr:
    """The sum that evidence spells out, at least zero on the domains, of what has a value on them."""
    if not isinstance(summands, Sequence) or isinstance(summands, str) or len(summands) > MAX_SUMMANDS:
        raise CertificateError(f"{NAME}: the summands are not a list of at most {MAX_SUMMANDS}.")
    terms: list[Expr] = []
    for summand in summands:
        weight, square = to_fraction(summand["weight"], NAME), parse(str(summand["square"]))
        if weight < 0:
            raise Rejected(NAME, "a weight", f"{weight} is negative")
        if not certainly_le(square, square, domains):
            raise Rejected(NAME, "a square", "it is not certainly defined for all parameters")
        held = (bounded_constraint(parse(str(text)), str(side), domains) for text, side in summand["constraints"])
        terms.append(mul(Num(weight), power(square, num(2)), *held))
    return add(*terms)


def bounded_constraint(expr: Expr, side: str, domains: Mapping[str, Domain]) -> Expr:
    """What is at least zero on the domains: x - lower or upper - x of a parameter; "zero": an expression that is.

    (x - k)(x - k - 1) of a parameter that is an integer, an integer k in the place of the side. Raises Rejected where there is none.
    """
    if side == "zero" and certainly_le(ZERO, expr, domains):
        return expr
    domain = domains.get(expr.name) if isinstance(expr, Sym) else None
    if domain is not None and domain.integer and side.removeprefix("-").isdecimal():
        return mul(sub(expr, num(int(side))), sub(expr, num(int(side) + 1)))
    end = None if domain is None else {"lower": domain.lower, "upper": domain.upper}.get(side)
    if end is None:
        raise Rejected(NAME, "a constraint", f"no {side} end of it is known")
    return sub(expr, Num(end)) if side == "lower" else sub(Num(end), expr)
