"""One order of neighbours alone: what a mechanism loses on an input with a record against the one without it (theory#one-sided)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from flint import arb

from dpverify.trusted.facts.bounds import INFINITE, Bound, Infinite, Side
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.orientation import facing
from dpverify.trusted.facts.pairs import Pair
from dpverify.trusted.facts.premises import bound_of, through_of
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import ONE, ZERO, Expr, Num, add, call, div, mul, neg, sub
from dpverify.trusted.language.model import (
    ONE_SIDED,
    REVERSE,
    Claim,
    Compose,
    Exponential,
    Group,
    Guarantee,
    Parallel,
    Part,
    PostProcess,
    Source,
    Subsample,
    Table,
    Translation,
)
from dpverify.trusted.numbers.balls import constant, exact
from dpverify.trusted.numbers.balls import finite as finite_ball
from dpverify.trusted.order.compare import certainly_le, certainly_lt
from dpverify.trusted.order.tables import finite
from dpverify.trusted.parts import stated
from dpverify.trusted.parts.exchanged import by_records, either_order, listed_both_ways
from dpverify.trusted.parts.neighbours import require_one_adjacency
from dpverify.trusted.parts.runs import check_adjacencies, neighbours_assumed
from dpverify.trusted.rules.additive import convex_exponent
from dpverify.trusted.rules.composition import parallel_composition, poisson_subsampling, post_processing
from dpverify.trusted.rules.composition.combined_values import DISJOINT, SECRET, greatest
from dpverify.trusted.rules.composition.stacked_queries import times_of
from dpverify.trusted.rules.curves import finite as curves_of_tables
from dpverify.trusted.rules.curves.faces import faces_of

NAME: Final = "one-sided"
STATEMENT: Final = (
    "Of an input with a record against the one without it alone: (eps, delta) of parts add up, over k records they are k eps and delta "
    "(e^(k eps) - 1)/(e^eps - 1), and a Poisson sample at rate p has log(1 + p (e^eps - 1)) and p delta. In the reverse order a sample of "
    "what has (eps, delta) in that order has -log(1 - p + p e^-eps) and p delta/(p + (1 - p) e^eps). Pure epsilons of samples are met, and "
    "deltas of tables."
)
CHECKED: Final = ("every part, in the order that is claimed", "rates are between 0 and 1", "groups are of whole numbers of records")
ASSUMED: Final = ()
SOURCE: Final = Source("docs/theory/composition.md#one-sided", "Smith 2009, on the secrecy of the sample")

Value = Expr | Infinite
Loss = tuple[Value, Expr]
"""epsilon and delta."""


def infer(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> Bound | tuple[Bound, ...]:
    """A bound of the "side" that the parameters name; both on the tight delta of a table or a sample of one for "delta".

    Raises Rejected, Undecided, CertificateError.

    premises: bounds on that side of the pure epsilons, in both orders, of the parts that lose as much in each, in their order. "unknown":
    the numbers of those parts of which nothing is known from above. "row": which of several (epsilon, delta) that are stated counts.
    """
    side = parameters.get("side")
    if side not in ("upper", "lower", "delta") or not claim.order:
        raise Rejected(NAME, "the claim", "it is not about one order of neighbours, or no side is named")
    if not by_records(claim):
        raise Rejected(NAME, "adjacency", "neighbours are not by adding or removing a record")
    check_adjacencies(claim)
    if side == "delta":
        return _deltas(claim)
    whole = Part(claim.mechanism, claim.sensitivity, claim.query)
    if side == "upper":
        require_one_adjacency(whole, ordered=True)
    unknown = parameters.get("unknown", [])
    values = _Values(claim, side, iter(premises), parameters.get("row", 0), set(unknown) if side == "upper" else set())
    epsilon, delta = values.of(whole, forward=claim.order == ONE_SIDED)
    assumed = tuple(dict.fromkeys((*values.assumed, *neighbours_assumed(claim, side))))
    through = tuple(dict.fromkeys(values.through))
    if side == "lower":
        says = {"pair": values.says or "two neighbours in the order that is claimed"}
        return Bound("lower", epsilon, witness=says, assumed=assumed, through=through, ordered=True)
    if delta == ZERO:
        return Bound("upper", epsilon, assumed=assumed, through=through)
    domains = dict(claim.domains)
    if isinstance(epsilon, Expr) and claim.epsilon is not None and certainly_le(epsilon, claim.epsilon, domains):
        return Bound("upper", delta, quantity="delta", assumed=assumed, through=through)
    if claim.delta is not None and certainly_le(delta, claim.delta, domains):
        return Bound("upper", epsilon, quantity="epsilon", assumed=assumed, through=through)
    raise Rejected(NAME, "the parts", "neither the epsilon nor the delta that they come to is within what is claimed")


def _deltas(claim: Claim) -> tuple[Bound, ...]:
    """Both bounds on the tight delta of a table whose pairs are listed one way, or of a Poisson sample of what has such a table."""
    sample = claim.mechanism if isinstance(claim.mechanism, Subsample) and claim.mechanism.scheme == "poisson" else None
    part = Part(claim.mechanism, claim.sensitivity) if sample is None else sample.part
    mechanism, rate = part.mechanism, ONE if sample is None else sample.rate
    if not isinstance(mechanism, Table | Exponential) or listed_both_ways(mechanism) or part.times != ONE or claim.domains:
        raise Rejected(NAME, "the mechanism", "it is no table whose pairs are listed in one order, nor a sample of one")
    if claim.epsilon is None or not certainly_le(ZERO, claim.epsilon):
        raise Rejected(NAME, "epsilon", "none is claimed that is certainly at least 0")
    if not (certainly_le(ZERO, rate) and certainly_le(rate, ONE)):
        raise Rejected(NAME, "rate", "it is not certainly between 0 and 1")
    assert mechanism.adjacent is not None
    faces, most = faces_of(mechanism, part.sensitivity), arb(0)
    for a, b in dict.fromkeys(mechanism.adjacent):
        if a != b:
            pair = Pair(faces.facing(a, b).profile, faces.facing(b, a).profile)
            most = most.max(facing(claim, poisson_subsampling.sampled(pair, rate)).forward(constant(claim.epsilon)))
    ball = finite_ball(most)
    secret = () if sample is None else (SECRET,)
    below = (*secret, poisson_subsampling.LOWER) if sample is not None else ()
    least, top = max(exact(ball.lower()), Fraction(0)), min(exact(ball.upper()), Fraction(1))
    says = {"pair": "two neighbours in the order that is claimed"}
    through = (curves_of_tables.NAME,)
    return (
        Bound("upper", Num(top), quantity="delta", assumed=(*curves_of_tables.ASSUMED, *secret), through=through),
        Bound("lower", Num(least), says, quantity="delta", assumed=(*curves_of_tables.ASSUMED, *below), through=through, ordered=True),
    )


@dataclass(slots=True)
class _Values:
    """What parts lose in one order, and what that rests on."""

    claim: Claim
    side: Side
    premises: Iterator[Fact]
    row: Any
    unknown: set[int]
    looked_at: int = 0
    assumed: list[str] = field(default_factory=list)
    through: list[str] = field(default_factory=list)
    says: str = ""

    def of(self, part: Part, forward: bool) -> Loss:
        """epsilon and delta of all runs of a part. forward: the input with the record first."""
        epsilon, delta = self._once(part, forward)
        times = times_of(part, self.claim.domains)
        return (epsilon if isinstance(epsilon, Infinite) else mul(times, epsilon)), mul(times, delta)

    def _once(self, part: Part, forward: bool) -> Loss:
        mechanism = part.mechanism
        if isinstance(mechanism, Compose):
            return self._composed([self.of(inner, forward) for inner in mechanism.parts])
        if isinstance(mechanism, Parallel):
            self.assumed += [DISJOINT, parallel_composition.LOWER] if self.side == "lower" else [DISJOINT]
            return self._worst([self.of(inner, forward) for inner in mechanism.parts])
        if isinstance(mechanism, PostProcess) and self.side == "upper":
            self.assumed += post_processing.ASSUMED
            return self.of(mechanism.part, forward)
        if isinstance(mechanism, Group) and self.side == "upper":
            return self._grouped(self.of(mechanism.part, forward), mechanism.size)
        if isinstance(mechanism, Subsample) and mechanism.scheme == "poisson":
            return self._sampled(self.of(mechanism.part, forward), mechanism.rate, forward)
        if isinstance(mechanism, Guarantee) and self.side == "upper":
            return self._stated(mechanism, forward)
        if isinstance(mechanism, Table | Exponential) and not listed_both_ways(mechanism):
            return self._listed(part, forward), ZERO
        known = self._told(part, forward)
        return (self._by_premise(part), ZERO) if known is None else (known, ZERO)

    # -- parts without parts

    def _stated(self, known: Guarantee, forward: bool) -> Loss:
        wanted = ONE_SIDED if forward else REVERSE
        if known.order not in ("", wanted):
            return INFINITE, ZERO  # nothing is known of the order that is asked for
        stated.check(known, wanted)
        if known.measure != "approximate" or type(self.row) is not int or not 0 <= self.row < len(known.rows):
            raise Rejected(NAME, "the guarantee", "it states no such (epsilon, delta)")
        epsilon, delta = known.rows[self.row]
        if not all(certainly_le(ZERO, number, dict(self.claim.domains)) for number in (epsilon, delta)):
            raise Rejected(NAME, "the guarantee", "its epsilon and delta are not certainly at least 0")
        self.assumed.append(stated.STATED_ONE_SIDED if known.order else stated.STATED)
        return epsilon, delta

    def _listed(self, part: Part, forward: bool) -> Value:
        """The greatest log-ratio of a row over another, over the pairs as they are listed."""
        mechanism = part.mechanism
        assert isinstance(mechanism, Table | Exponential) and mechanism.adjacent is not None
        table = finite(Claim(mechanism, None, sensitivity=part.sensitivity, domains=self.claim.domains))
        pairs = [pair if forward else (pair[1], pair[0]) for pair in mechanism.adjacent if pair[0] != pair[1]]
        if not set(pairs) <= set(table.pairs) or table.divisors:
            raise Rejected(NAME, "adjacent", "some of the listed pairs are further apart than the sensitivity")
        losses: list[Expr] = [ZERO]
        for a, b in dict.fromkeys(pairs):
            for y in range(len(table.weights[a])):
                if table.is_zero(a, y):
                    continue
                if table.is_zero(b, y):
                    self.says = f"inputs {a} and {b}, output {y}"
                    return INFINITE
                losses.append(table.loss((a, b, y)))
        return greatest(list(dict.fromkeys(losses)), dict(self.claim.domains))

    def _told(self, part: Part, forward: bool) -> Value | None:
        """Noise on a line that is not even, where a query tells how each record moves the answer; None where that is not known."""
        noise, query = part.mechanism, part.query
        if not isinstance(noise, Translation) or query is None or len(query.rows) != 1 or either_order(Claim(noise, None, query=query)):
            return None
        values: list[Value] = [ZERO]
        for move in dict.fromkeys(query.rows[0]):
            ways = convex_exponent.one_way(noise, abs(move), dict(self.claim.domains)) if move else (ZERO, ZERO)
            if ways is None:
                return None
            values.append(ways[(move > 0) == forward])
        self.through.append(convex_exponent.NAME)
        self.assumed += convex_exponent.ASSUMED
        return self._worst([(value, ZERO) for value in values])[0]

    def _by_premise(self, part: Part) -> Value:
        question = Claim(part.mechanism, None, sensitivity=part.sensitivity, query=part.query, domains=self.claim.domains)
        if self.side == "lower" and not either_order(question):
            raise Rejected(NAME, "a part", "what it loses in one order alone is not known")
        self.looked_at += 1
        if self.looked_at - 1 in self.unknown:
            return INFINITE
        premise = next(self.premises, None)
        if premise is None:
            raise CertificateError(f"{NAME}: a part wants a premise that states its pure epsilon.")
        found = bound_of(premise, question, self.side, NAME)
        self.through += through_of(premise)
        self.assumed += (*premise.assumed, *found.assumed)
        return found.value

    # -- what is made of parts

    def _composed(self, losses: Sequence[Loss]) -> Loss:
        """The sums; from below the worst part by itself, for which are at their worst together is not looked at."""
        if self.side == "lower":
            return self._worst(losses)
        epsilons = [epsilon for epsilon, _ in losses if not isinstance(epsilon, Infinite)]
        return (add(*epsilons) if len(epsilons) == len(losses) else INFINITE), add(*(delta for _, delta in losses))

    def _worst(self, losses: Sequence[Loss]) -> Loss:
        epsilons = [epsilon for epsilon, _ in losses if not isinstance(epsilon, Infinite)]
        deltas = greatest(list(dict.fromkeys(delta for _, delta in losses)), dict(self.claim.domains))
        return (greatest(list(dict.fromkeys(epsilons)), dict(self.claim.domains)) if len(epsilons) == len(losses) else INFINITE), deltas

    def _grouped(self, loss: Loss, size: Expr) -> Loss:
        from_one, delta = loss
        if not isinstance(size, Num) or size.value.denominator != 1 or size.value < 1:
            raise Rejected(NAME, "size", "it is not a whole number of records")
        if isinstance(from_one, Infinite):
            return loss
        return mul(size, from_one), stated.grown(from_one, delta, size)

    def _sampled(self, loss: Loss, rate: Expr, forward: bool) -> Loss:
        epsilon, delta = loss
        if not (certainly_le(ZERO, rate, dict(self.claim.domains)) and certainly_le(rate, ONE, dict(self.claim.domains))):
            raise Rejected(NAME, "rate", "it is not certainly between 0 and 1")
        self.assumed += [SECRET, poisson_subsampling.LOWER] if self.side == "lower" else [SECRET]
        if rate == ZERO:
            return ZERO, ZERO
        if rate == ONE:
            return loss
        if isinstance(epsilon, Infinite):
            if self.side == "lower" and not certainly_lt(ZERO, rate, dict(self.claim.domains)):
                raise Rejected(NAME, "rate", "it is not certainly positive")
            return (INFINITE if forward else neg(call("log", sub(ONE, rate)))), (mul(rate, delta) if forward else ZERO)
        if forward:
            return call("log", add(ONE, mul(rate, sub(call("exp", epsilon), ONE)))), mul(rate, delta)
        kept = add(sub(ONE, rate), mul(rate, call("exp", neg(epsilon))))
        return neg(call("log", kept)), ZERO if delta == ZERO else div(
            mul(rate, delta), add(rate, mul(sub(ONE, rate), call("exp", epsilon)))
        )
