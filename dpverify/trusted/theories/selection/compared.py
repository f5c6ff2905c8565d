"""What the rules about selections read off a claim: how far answers move, and how steeply the tails of log-concave noise fall.

A slope is the limit of the slope of h = -log f at an end of the line, or infinity where the noise ends there (theory#selection).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.combinators.densities import convex_where_it_lives
from dpverify.trusted.kernel.bounds import INFINITE, Bound, Infinite, Side, sided
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, Sym, add, div, format_expr, mul, num, sub, substitute
from dpverify.trusted.kernel.model import (
    AboveThreshold,
    Claim,
    Compared,
    Domain,
    OnLine,
    Product,
    Radial,
    Stream,
    Sum,
    Translation,
    on_integers,
)
from dpverify.trusted.language.logarithms import neg_log_profile
from dpverify.trusted.sensitivity.sensitivity import whole_part
from dpverify.trusted.sensitivity.steps_between import each_by_integers, hull_of
from dpverify.trusted.shapes.convexity import Shapes

Value = Expr | Infinite
Named = Mapping[str, Any] | None
"""What a witness says: the name of a sentence, and what stands in it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A selection, as a rule is asked about it.

    moved: the most that one answer moves by. at: the parameters that a lower bound fixes.
    """

    rule: str
    side: Side
    claim: Claim
    moved: Expr
    at: Mapping[str, Expr]

    @property
    def domains(self) -> dict[str, Domain]:
        return dict(self.claim.domains)

    @property
    def selection(self) -> Compared:
        """The mechanism, where it is no stream."""
        assert isinstance(self.claim.mechanism, Compared)
        return self.claim.mechanism

    @property
    def stream(self) -> Stream:
        """The mechanism, where it is one, without comparisons that decide nothing."""
        from dpverify.trusted.combinators.streams import settled

        assert isinstance(self.claim.mechanism, Stream)
        return settled(self.claim.mechanism)

    @property
    def whole(self) -> bool:
        return on_integers(self.claim.mechanism)

    def value(self, expr: Expr, what: str) -> Fraction:
        """A rational number. Raises Rejected."""
        if not isinstance(expr, Num):
            raise Rejected(self.rule, what, "it wants a rational number")
        return expr.value

    def count(self, count: Expr, what: str, most: int | None = None) -> int:
        """A count, as a number of at least 1, and at most as many. Raises Rejected."""
        if not isinstance(count, Num) or (most is not None and count.value > most):
            raise Rejected(self.rule, what, "it wants a number" if most is None else f"it wants a number from 1 to {most}")
        return int(count.value)

    def counts(self, most: int | None = None) -> tuple[int, int]:
        """How many queries above threshold has, and how many of them may be positive. Raises Rejected."""
        assert isinstance(self.selection, AboveThreshold)
        queries, positives = self.count(self.selection.queries, "queries", most), self.selection.positives
        return queries, queries if positives is None else min(queries, self.count(positives, "positives", most))

    def bound(self, per_unit: Value, output: Named = None, moves: Named = None) -> Bound:
        """The bound: what is lost for each unit that answers move by, times that. output, moves: where a lower one is met in the limit."""
        if isinstance(per_unit, Infinite):
            if self.side == "lower" and not certainly_lt(ZERO, self.moved, self.domains):
                raise Rejected(self.rule, "the sensitivity", "it is not certainly positive")
            value: Value = INFINITE
        else:
            value = mul(per_unit, self.moved)
        if self.side == "upper":
            return Bound("upper", value)
        loss = "unbounded" if isinstance(value, Infinite) else format_expr(value)
        pair = {"says": "answers-far-apart", "moved": format_expr(self.moved), "moves": moves}
        return Bound("lower", value, witness={"pair": pair, "point": {"says": "in-the-limit", "output": output}, "loss": loss}, at=self.at)


def asked(claim: Claim, evidence: Mapping[str, Any], rule: str, *, near: bool = False, wanted: Any = Compared) -> Asked:
    """The claim at the parameters that the evidence fixes. Raises Rejected for what is not of a wanted kind, CertificateError.

    evidence: "side"; "at" for a lower bound. near: a lower bound is at answers that may have bounds.
    """
    side, claim, at = sided(claim, evidence, rule)
    mechanism, domains = claim.mechanism, dict(claim.domains)
    if not isinstance(mechanism, wanted):
        raise Rejected(rule, "the mechanism", "it is not of a kind that the rule is about")
    if side == "lower" and mechanism.bounds is not None and not near:
        raise Rejected(rule, "the bounds", "answers between bounds are never far apart; the worst of them lose less")
    moved = ONE if claim.sensitivity is None else claim.sensitivity
    if mechanism.bounds is not None and not hull_of(mechanism):  # no answer moves further between them
        length = sub(mechanism.bounds[1], mechanism.bounds[0])
        moved = length if certainly_le(ZERO, length, domains) and certainly_le(length, moved, domains) else moved
    moved = whole_part(moved, domains) if each_by_integers(mechanism) else moved
    return Asked(rule, side, claim, moved, at)


def most_lead(mechanism: Compared) -> Expr:
    """How far the lead of one answer over another moves at most, in units of the sensitivity."""
    hull = hull_of(mechanism)
    return num(max(max(row) - min(row) for row in hull)) if hull else num(2) if mechanism.neighbours == "all" else ONE


# -- sums, least and greatest of what may be infinite -----------------------------------------------------------------


def times(question: Asked, count: Expr, slope: Value) -> Value:
    """A slope so many times; an infinite one 0 times is 0. Where it is not certain whether the count is 0, on the bound's safe side."""
    if not isinstance(slope, Infinite):
        return mul(count, slope)
    if certainly_le(count, ZERO, question.domains):
        return ZERO
    if certainly_lt(ZERO, count, question.domains):
        return INFINITE
    return INFINITE if question.side == "upper" else ZERO


def total(*values: Value) -> Value:
    """The sum."""
    exprs = [value for value in values if not isinstance(value, Infinite)]
    return add(*exprs) if len(exprs) == len(values) else INFINITE


def least(question: Asked, *values: Value) -> Value:
    """The minimum, decided where the order is certain."""
    from dpverify.trusted.shapes import limits

    exprs = [value for value in values if not isinstance(value, Infinite)]
    return limits.extreme(_shapes(question.domains), "min", exprs) if exprs else INFINITE


def greatest(question: Asked, *values: Value) -> Value:
    """The maximum, decided where the order is certain."""
    from dpverify.trusted.shapes import limits

    exprs = [value for value in values if not isinstance(value, Infinite)]
    return INFINITE if len(exprs) < len(values) else limits.extreme(_shapes(question.domains), "max", exprs)


def at_most(question: Asked, left: Value, right: Value) -> bool:
    """Whether one value is certainly at most another."""
    if isinstance(left, Infinite) or isinstance(right, Infinite):
        return isinstance(right, Infinite)
    return certainly_le(left, right, question.domains)


def _shapes(domains: Mapping[str, Domain]) -> Shapes:
    return Shapes("z", False, domains)


# -- log-concave noise ------------------------------------------------------------------------------------------------


NORMALISED: Final = "noises that the bound does not depend on have densities that can be normalised"


def slopes(question: Asked, noise: OnLine | None) -> tuple[Value, Value]:
    """How steeply -log of the density of log-concave noise rises to the left and to the right, in the limit; infinite without noise.

    Raises Rejected, Undecided where the noise is not certainly log-concave and on the line, or the limits are not certain.
    """

    rule, domains = question.rule, question.domains
    if noise is None:
        return INFINITE, INFINITE
    if isinstance(noise, Sum):
        from dpverify.trusted.theories.additive.rules import sum_slopes

        return sum_slopes.slopes(noise, domains)
    on_the_line = isinstance(noise, Radial | Product) and noise.dimension == ONE and noise.norm.kind == "lp"
    if not (on_the_line or isinstance(noise, Translation)) or not convex_where_it_lives(noise, domains):
        raise Rejected(rule, "the noise", "it is not certainly log-concave noise on the line, in its own unit")
    if isinstance(noise, Radial):
        slope = _limit(rule, domains, neg_log_profile(noise), "r")
        slope = slope if isinstance(slope, Infinite) else div(slope, noise.scale)
        return slope, slope
    assert isinstance(noise, Product | Translation)
    low, high = noise.support if isinstance(noise, Translation) else (None, None)
    h, z = neg_log_profile(noise), Sym("z")
    left = INFINITE if low is not None else _limit(rule, domains, substitute(h, {"z": sub(high or ZERO, z)}), "z")
    right = INFINITE if high is not None else _limit(rule, domains, substitute(h, {"z": add(low or ZERO, z)}), "z")
    return left, right


def a_law(question: Asked, noise: OnLine | None) -> tuple[str, ...]:
    """What is assumed of noise of which a bound asks nothing but that it is a law of probability: nothing where its shape shows that."""
    try:
        slopes(question, noise)
    except (Rejected, Undecided):
        shown = False
        if isinstance(noise, Radial | Translation | Product):
            from dpverify.trusted.theories.additive.integrable import integrable_by_shape

            shown = integrable_by_shape(noise)
        return () if shown else (NORMALISED,)
    return ()


def _limit(rule: str, domains: Mapping[str, Domain], exponent: Expr, name: str) -> Value:
    """The certainly positive limit of the slope at plus infinity, which makes the noise integrable there."""
    from dpverify.trusted.numbers.quotients import divided
    from dpverify.trusted.shapes import limits

    shapes = Shapes(name, True, domains)
    end = shapes.tidy(divided(exponent, name))
    limit = limits.slope_limit(shapes, end)
    if limit is not None and shapes.positive(limit):
        return limit
    if limits.outgrows(shapes, end):
        return INFINITE
    raise Rejected(rule, "infinity", "the limit of the slope of the exponent of the noise is not certainly positive")
