"""The orders of neighbours by themselves: what is lost on an input with a record against the one without it (theory#one-sided).

Theorem: Of an input with a record against the one without it alone: (eps, delta) of parts add up in adaptive compositions, over k records
they are k eps and delta (e^(k eps) - 1)/(e^eps - 1), and a Poisson sample at rate p has log(1 + p (e^eps - 1)) and p delta. In the reverse
order a sample of what has (eps, delta) in that order has -log(1 - p + p e^-eps) and p delta/(p + (1 - p) e^eps), and of what has nothing
-log(1 - p). In both orders the greater of the two holds. Pure epsilons of samples are met, and so are the curves of tables over the pairs
as they are listed.

Checked:
- every part, in the order that is claimed, or in both; of a part that spends a delta its curve at its epsilon
- rates are between 0 and 1
- groups are of whole numbers of records

Source: docs/theory/composition.md#one-sided, Dwork & Roth 2014, Theorem 3.16; Smith 2009, on the secrecy of the sample
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from dpverify.trusted.combinators.exchanged import by_records, either_order, listed_both_ways
from dpverify.trusted.combinators.neighbours import apart, require_one_adjacency, undecided
from dpverify.trusted.combinators.runs import Run, neighbours_assumed
from dpverify.trusted.facts.premises import bound_of, curve_of, through_of
from dpverify.trusted.kernel import model
from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.bounds import INFINITE, Bound, Infinite, Side
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, add, call, div, mul, sub
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import ONE_SIDED, REVERSE, Claim, Part, Translation
from dpverify.trusted.language.rationals import read_fraction
from dpverify.trusted.order.greatest import greatest
from dpverify.trusted.theories.composition.losses_of_parts import Value, of_rows, sampled, times_over, total, worst

NAME: Final = "one-sided"
ASSUMED: Final = ()


def infer(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> Bound:
    """A bound of the "side" that the parameters name. Raises Rejected, Undecided, CertificateError.

    premises: of the different parts that lose as much in each order, in turn, bounds on that side of their pure epsilons in both orders, or
    their curves. parameters: "spent", for the numbers of parts whose curve is given the "epsilon" and the "delta" that each spends;
    "unknown": the numbers of those parts of which nothing is known. "row": which of several (epsilon, delta) that are stated
    counts.
    """
    values, whole = read(claim, parameters, premises)
    epsilon, delta = values.asked(whole, forward=claim.order == ONE_SIDED)
    assumed = tuple(dict.fromkeys((*values.assumed, *neighbours_assumed(claim, values.side))))
    through = tuple(dict.fromkeys(values.through))
    if values.side == "lower":
        says = {"pair": values.says or {"says": "in-the-claimed-order"}}
        return Bound("lower", epsilon, witness=says, assumed=assumed, through=through, ordered=True)
    if delta == ZERO:
        return Bound("upper", epsilon, assumed=assumed, through=through)
    domains = dict(claim.domains)
    delta = delta if certainly_le(delta, ONE, domains) else call("min", ONE, delta)  # which no delta is above
    if isinstance(epsilon, Expr) and claim.epsilon is not None and certainly_le(epsilon, claim.epsilon, domains):
        return Bound("upper", delta, quantity="delta", assumed=assumed, through=through)
    if claim.delta is not None and certainly_le(delta, claim.delta, domains):
        return Bound("upper", epsilon, quantity="epsilon", assumed=assumed, through=through)
    raise Rejected(NAME, "the parts", "neither the epsilon nor the delta that they come to is within what is claimed")


def read(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> tuple[Values, Part]:
    """What parts lose, by the premises, and all of them. Raises Rejected."""
    side: Any = parameters.get("side")
    if side not in (("upper", "lower") if claim.order else ("upper",)):
        raise Rejected(NAME, "the claim", "it is not about one order of neighbours, and no upper bound is asked for")
    if claim.order and not by_records(claim):
        raise Rejected(NAME, "adjacency", "neighbours are not by adding or removing a record")
    whole = Part(claim.mechanism, claim.sensitivity, claim.query)
    if side == "upper":
        require_one_adjacency(whole, ordered=True)
    unknown, spent = set(parameters.get("unknown", [])), parameters.get("spent", {}) if side == "upper" else {}
    return Values(claim, side, iter(premises), parameters.get("row", 0), unknown, spent, by_records(claim)), whole


Loss = tuple[Value, Expr]
"""epsilon and delta."""


@dataclass(slots=True)
class Values:
    """What parts lose in one order, and what that rests on. by_records: neighbours are by adding or removing a record."""

    claim: Claim
    side: Side
    premises: Iterator[Fact]
    row: Any
    unknown: set[int]
    spent: Mapping[str, Any]
    by_records: bool = True
    known: dict[Part, Loss] = field(default_factory=dict)
    assumed: list[str] = field(default_factory=list)
    through: list[str] = field(default_factory=list)
    says: Mapping[str, Any] | None = None

    def asked(self, part: Part, forward: bool) -> Loss:
        """The same; of a claim on both orders the greater of the two, which steps in a row may be in turn."""
        return self.of(part, forward) if self.claim.order else self._worst([self.of(part, True), self.of(part, False)])

    def of(self, part: Part, forward: bool) -> Loss:
        """epsilon and delta of a part. forward: the input with the record first."""
        from dpverify.trusted.theories.composition.rules import parallel_composition, post_processing

        mechanism = part.mechanism
        if isinstance(mechanism, model.Repeat):
            epsilon, delta = self.of(mechanism.part, forward)
            return times_over(mechanism.times, epsilon), mul(mechanism.times, delta)
        if isinstance(mechanism, model.Compose):
            return self._composed(part, [self.of(inner, forward) for inner in mechanism.parts])
        if isinstance(mechanism, model.PostProcess) and self.side == "upper":
            self.assumed += post_processing.ASSUMED
            return self.of(mechanism.part, forward)
        alone = isinstance(mechanism, model.Guarantee) and mechanism.measure == "approximate" and len(mechanism.rows) == 1
        if part not in self.known and not alone and str(len(self.known)) in self.spent:  # what is stated alone is spent
            self.known[part] = self._spent(part, self.spent[str(len(self.known))])
        if part in self.known:
            return self.known[part]
        if isinstance(mechanism, model.Parallel | model.Subsample) and not self.by_records:
            raise Rejected(NAME, "adjacency", "samples, and parts in parallel, want neighbours by adding or removing a record")
        if isinstance(mechanism, model.Parallel):
            self.assumed += [parallel_composition.DISJOINT, *((parallel_composition.LOWER,) if self.side == "lower" else ())]
            return self._worst([self.of(inner, forward) for inner in mechanism.parts])
        if isinstance(mechanism, model.Group) and self.side == "upper":
            return self._grouped(self.asked(mechanism.part, forward), mechanism.size)
        if isinstance(mechanism, model.Subsample):  # without replacement neighbours are by replacement
            return self._sampled(self.of(mechanism.part, forward), mechanism.rate, forward)
        if isinstance(mechanism, model.Guarantee) and self.side == "upper":
            return self._stated(mechanism, forward)
        if isinstance(mechanism, model.Table | model.Exponential) and self.claim.order and not listed_both_ways(mechanism):
            return self._listed(part, forward), ZERO
        told = self._told(part, forward) if self.by_records else None
        if told is not None:
            return told, ZERO
        self.known[part] = self._by_premise(part), ZERO
        return self.known[part]

    def _next(self) -> Fact:
        premise = next(self.premises, None)
        if premise is None:
            raise CertificateError(f"{NAME}: a part wants a premise that states its pure epsilon, or its curve.")
        return premise

    def _spent(self, part: Part, share: Any) -> Loss:
        """What a part spends, in both orders, by its curve."""
        epsilon, delta = (read_fraction(share, key, NAME) for key in ("epsilon", "delta"))
        curve = curve_of(self._next(), Run(part), NAME)
        if min(epsilon, delta) < 0 or curve.upper is None or not curve.upper.worst(rational(epsilon)) <= rational(delta):
            raise Rejected(NAME, "a part", "its divergence at its epsilon is not certainly at most its delta")
        self.through += curve.rules
        self.assumed += curve.assumed
        return Num(epsilon), Num(delta)

    # -- parts without parts

    def _stated(self, known: model.Guarantee, forward: bool) -> Loss:
        from dpverify.trusted.combinators import stated

        wanted = ONE_SIDED if forward else REVERSE
        if known.order not in ("", wanted):
            return INFINITE, ZERO  # nothing is known of the order that is asked for
        stated.check(known, wanted)
        if known.measure != "approximate" or type(self.row) is not int or not 0 <= self.row < len(known.rows):
            raise Rejected(NAME, "the guarantee", "it states no such (epsilon, delta)")
        epsilon, delta = known.rows[self.row]
        self.assumed += stated.grounds(known)
        self.through += stated.theorem_of(known)
        return epsilon, delta

    def _listed(self, part: Part, forward: bool) -> Value:
        """The greatest log-ratio of a row over another, over the pairs as they are listed."""
        from dpverify.trusted.theories.finite.tables import finite

        mechanism = part.mechanism
        assert isinstance(mechanism, model.Table | model.Exponential) and mechanism.adjacent is not None
        table = finite(Claim(mechanism, None, sensitivity=part.sensitivity, domains=self.claim.domains))
        pairs = [pair if forward else (pair[1], pair[0]) for pair in mechanism.adjacent if pair[0] != pair[1]]
        if not set(pairs) <= set(table.pairs) or table.divisors:
            raise Rejected(NAME, "adjacent", "some of the listed pairs are further apart than the sensitivity")
        losses: list[Value] = [ZERO]
        for a, b in dict.fromkeys(pairs):
            loss, y = of_rows(table, a, b)
            if isinstance(loss, Infinite):
                self.says = {"says": "inputs-and-output", "inputs": [a, b], "output": y}
                return INFINITE
            losses.append(loss)
        return worst(losses, dict(self.claim.domains))

    def _told(self, part: Part, forward: bool) -> Value | None:
        """Noise on a line that is not even, where a query tells how each record moves the answer; None where that is not known."""
        noise, query = part.mechanism, part.query
        if not isinstance(noise, Translation) or query is None or len(query.rows) != 1 or either_order(Claim(noise, None, query=query)):
            return None
        from dpverify.trusted.theories.additive.rules import convex_exponent

        values: list[Value] = [ZERO]
        for move in dict.fromkeys(query.rows[0]):
            ways = convex_exponent.one_way(noise, abs(move), dict(self.claim.domains)) if move else (ZERO, ZERO)
            if ways is None:
                return None
            values.append(ways[(move > 0) == forward])
        self.through.append(convex_exponent.NAME)
        self.assumed += convex_exponent.ASSUMED
        return worst(values, dict(self.claim.domains))

    def _by_premise(self, part: Part) -> Value:
        if len(self.known) in self.unknown:
            return INFINITE if self.side == "upper" else ZERO
        question = Claim(part.mechanism, None, sensitivity=part.sensitivity, query=part.query, domains=self.claim.domains)
        if self.side == "lower" and not either_order(question):
            raise Rejected(NAME, "a part", "what it loses in one order alone is not known")
        premise = self._next()
        found = bound_of(premise, question, self.side, NAME)
        self.through += through_of(premise)
        self.assumed += (*premise.assumed, *found.assumed)
        return found.value

    # -- what is made of parts

    def _composed(self, part: Part, losses: Sequence[Loss]) -> Loss:
        """The sums; from below, where parts share neighbours, the worst by itself: which are at their worst together is not looked at."""
        if self.side == "lower" and undecided(part):
            return self._worst(losses)
        self.assumed += apart(part) if self.side == "lower" else ()
        return total([epsilon for epsilon, _ in losses]), add(*(delta for _, delta in losses))

    def _worst(self, losses: Sequence[Loss]) -> Loss:
        domains = dict(self.claim.domains)
        return worst([epsilon for epsilon, _ in losses], domains), greatest(list(dict.fromkeys(delta for _, delta in losses)), domains)

    def _grouped(self, loss: Loss, size: Expr) -> Loss:
        from dpverify.trusted.combinators import stated

        from_one, delta = loss
        if not isinstance(size, Num) or size.value.denominator != 1 or size.value < 1:
            raise Rejected(NAME, "size", "it is not a whole number of records")
        return loss if isinstance(from_one, Infinite) else (mul(size, from_one), stated.grown(from_one, delta, size))

    def _sampled(self, loss: Loss, rate: Expr, forward: bool) -> Loss:
        from dpverify.trusted.theories.composition.rules import poisson_subsampling

        epsilon, delta = loss
        self.assumed += [poisson_subsampling.SECRET, *((poisson_subsampling.LOWER,) if self.side == "lower" else ())]
        if rate == ZERO:
            return ZERO, ZERO
        if rate == ONE:
            return loss
        if isinstance(epsilon, Infinite) and self.side == "lower" and not certainly_lt(ZERO, rate, dict(self.claim.domains)):
            raise Rejected(NAME, "rate", "it is not certainly positive")
        value = sampled(epsilon, rate, first=forward)
        if forward:
            return value, mul(rate, delta)
        return value, ZERO if delta == ZERO or isinstance(epsilon, Infinite) else div(
            mul(rate, delta), add(rate, mul(sub(ONE, rate), call("exp", epsilon)))
        )
