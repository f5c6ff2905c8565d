"""The exponential mechanism with a density on a convex set, or on all of R^d: near, and how private (theory#density-mechanism).

Theorem: The mechanism that answers with a density proportional to exp(-b d(q(x), y)) on a convex set of R^d is 2 b C-private per unit of
distance between databases, and on all of R^d b C-private, where q is Lipschitz with constant C; at no less on an interval, in a box in l1
and on all of R^d, where there is a database for each answer. It is further than gamma with a probability of at most Q(d, b gamma), the tail
of a gamma law of shape d, on R^d with this one. On an interval of length L > gamma the supremum of these probabilities is (e^(-b gamma) -
e^(-b L))/(1 - e^(-b L)).

Checked:
- the set is all of R^d, a box, a ball or a convex polytope, and the rate is above 0
- the tail against beta
- for a bound from below, that there is a database for each answer

Source: docs/theory/spaces.md#density-mechanism, McSherry & Talwar 2007; Kleinberg & Ligett 2010, Theorem 2.7
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from flint import arb

from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import INFINITE, Bound
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, call, div, mul, neg, num, sub, symbols
from dpverify.trusted.kernel.model import Claim, Domain, Shape
from dpverify.trusted.theories.spaces.shapes import CONVEX, asked, dimension

NAME: Final = "density-mechanism"
ASSUMED: Final = ("the sampler is ideal",)

Domains = Mapping[str, Domain]


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """A bound on the epsilon of the mechanism. Raises Rejected.

    evidence: "side": "upper"; "lower", of the loss; or "far", an infinite one where answers are too far too often.
    """
    domains = dict(claim.domains)
    space, near, beta = asked(claim, NAME, one=True)
    rate, side, endless = space.rate, evidence.get("side"), space.shape.kind == "real"
    if space.shape.kind not in CONVEX or rate is None:
        raise Rejected(NAME, "the mechanism", "none with a density on a convex set is given")
    price = mul(ONE if endless else num(2), rate, space.lipschitz)
    if side == "upper":
        if not _at_most(space.shape, rate, near, beta, domains):
            raise Rejected(NAME, "the tail", "answers are not certainly near the truth but with probability beta")
        return Bound("upper", price)
    if side == "far":
        if not _above(space.shape, rate, near, beta, domains):
            raise Rejected(NAME, "the tail", "answers are not certainly too far with a greater probability than beta")
        return Bound("lower", INFINITE, witness={"pair": {"says": "a-database" if endless else "a-database-near-an-end"}})
    require(side == "lower", CertificateError(f"{NAME}: 'side' is {side!r}, not upper, lower or far."))
    exact = endless or _interval(space.shape) is not None or _sum_of_intervals(space.shape)
    if space.databases != "answers" or not exact:
        raise Rejected(NAME, "the claim", "its least loss is known on intervals, in boxes in l1 and on R^d, with one database an answer")
    return Bound("lower", price, witness={"pair": {"says": "databases-near-each-other"}})


def _interval(shape: Shape) -> Expr | None:
    """The length of a space that is an interval of the line; None for another."""
    if shape.kind not in ("box", "ball") or dimension(shape) != 1 or shape.norm.kind != "lp":
        return None
    return shape.numbers[0] if shape.kind == "box" else mul(num(2), shape.numbers[0])


def _sum_of_intervals(shape: Shape) -> bool:
    """Whether the density is a product of such on intervals."""
    return shape.kind == "box" and shape.norm.kind == "lp" and shape.norm.p == 1


def _at_most(shape: Shape, rate: Expr, near: Expr, beta: Expr, domains: Domains) -> bool:
    """Whether answers are certainly further than gamma with a probability of at most beta on every database."""
    if dimension(shape) > 1:
        return bool(_gamma(shape, mul(rate, near)) <= _number(beta))
    return certainly_le(_on_the_line(shape, rate, near, domains), beta, domains)


def _above(shape: Shape, rate: Expr, near: Expr, beta: Expr, domains: Domains) -> bool:
    """Whether they certainly are with one above beta on some database."""
    if shape.kind == "real" and dimension(shape) > 1:
        return bool(_gamma(shape, mul(rate, near)) > _number(beta))
    if shape.kind != "real" and _interval(shape) is None:
        raise Rejected(NAME, "the space", "how far answers are is known from below on R^d and on intervals alone")
    return certainly_lt(beta, _on_the_line(shape, rate, near, domains), domains)


def _on_the_line(shape: Shape, rate: Expr, near: Expr, domains: Domains) -> Expr:
    """The supremum of the probabilities on R, and on an interval; of another set on the line more than that."""
    tail, length = call("exp", neg(mul(rate, near))), _interval(shape)
    if length is None or not certainly_lt(near, length, domains):
        return tail if length is None or not certainly_le(length, near, domains) else ZERO
    whole = call("exp", neg(mul(rate, length)))
    return div(sub(tail, whole), sub(ONE, whole))


def _gamma(shape: Shape, at: Expr) -> arb:
    """The probability that a gamma law of the dimension is above a number."""
    return _number(at).gamma_upper(dimension(shape), regularized=1)


def _number(told: Expr) -> arb:
    require(not symbols(told), Rejected(NAME, "the parameters", "in several dimensions it wants a value for each"))
    return constant(told)
