"""What parts of a combinator lose, put together from facts about them, in an order of one pair of neighbours where that matters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from dpverify.trusted.combinators import neighbours, one_pair
from dpverify.trusted.combinators.one_pair import OnePair, is_told
from dpverify.trusted.combinators.places import ONE_STEP
from dpverify.trusted.combinators.runs import Run, is_uneven, leaf, occurs, times_as_far
from dpverify.trusted.facts.premises import bound_of, through_of
from dpverify.trusted.kernel import model
from dpverify.trusted.kernel.bounds import INFINITE, Bound, Infinite, Side
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, call, format_expr, neg
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.integers import is_whole
from dpverify.trusted.kernel.model import Claim, Domain, Part, kind_of
from dpverify.trusted.language.rationals import to_whole
from dpverify.trusted.order.greatest import greatest
from dpverify.trusted.theories.composition.losses_of_parts import Value, of_rows, sampled, times_over, total, worst

WHAT: Final = "combination"
NOTHING: Final = "nothing"
"""What stands in place of the evidence of a part that a lower bound does not look at."""
ORDERED: Final = "this order"
"""What stands for all that are looked at in one order of the neighbours: parts, inputs of tables as they are named, and samples."""


@dataclass(slots=True)
class Values:
    """What parts lose, and what that rests on.

    backward: the two outputs of one pair of neighbours are looked at in the other order, that with the record second. turned: of a lower
    bound, what loses that much in one order of the neighbours alone: the parts of which it is not known which, and ORDERED. points: where
    each part loses that much.
    """

    listed: tuple[tuple[str, Domain], ...]
    side: Side
    premises: Sequence[Fact]
    assumed: list[str] = field(default_factory=list)
    through: list[str] = field(default_factory=list)
    backward: bool = False
    turned: set[Part | str] = field(default_factory=set)
    points: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def domains(self) -> Mapping[str, Domain]:
        return dict(self.listed)

    def of(self, part: Part, factor: Expr, evidence: Any) -> Value:
        """What a part loses on neighbours `factor` times as far apart as it says. Raises Rejected, CertificateError."""
        mechanism = part.mechanism
        if evidence == NOTHING and self.side == "lower":
            return ZERO  # whoever does not look at a part loses nothing by it
        if isinstance(mechanism, model.Repeat):
            return times_over(mechanism.times, self.of(mechanism.part, factor, evidence))
        if isinstance(mechanism, model.Compose):
            return total([self.of(inner, factor, e) for inner, e in each(mechanism.parts, evidence)])
        if isinstance(mechanism, model.Parallel):
            return self._parallel(mechanism, factor, evidence)
        if isinstance(mechanism, model.PostProcess):
            return self._post_processed(mechanism, factor, evidence)
        if isinstance(mechanism, model.Group | model.Lipschitz):
            return self._moved(mechanism, factor, evidence)
        if isinstance(mechanism, model.Subsample):
            return self._sampled(mechanism, factor, evidence)
        if isinstance(mechanism, model.BestOf):
            return self._best_of(mechanism, factor, evidence)
        if isinstance(part, OnePair) and part.query is None:
            return self._facing(part)
        known = self._ways(part) if factor == ONE and evidence == {} else None
        return self._single(part, factor, evidence) if known is None else self._one_way(part, known)

    def _in_order(self, backward: bool, part: Part, factor: Expr, evidence: Any) -> Value:
        """What a part loses in an order of the neighbours, whichever order is looked at around it."""
        around, self.backward = self.backward, backward
        value = self.of(part, factor, evidence)
        self.backward = around
        return value

    def _post_processed(self, mechanism: model.PostProcess, factor: Expr, evidence: Any) -> Value:
        from dpverify.trusted.theories.composition.rules import post_processing

        require(self.side != "lower", Rejected(WHAT, "post_process", "what a map of the output leaves to be seen is not known"))
        self.assumed += post_processing.ASSUMED
        return self.of(mechanism.part, factor, evidence)

    def _moved(self, mechanism: model.Group | model.Lipschitz, factor: Expr, evidence: Any) -> Value:
        """A part on neighbours that are further apart."""
        times = mechanism.size if isinstance(mechanism, model.Group) else mechanism.constant
        if self.side == "lower" and isinstance(mechanism, model.Lipschitz) and is_uneven(mechanism, self.domains):
            raise Rejected(WHAT, "constant", "it is not whole, and something behind the map knows whole steps between neighbours alone")
        if certainly_le(times, ZERO, self.domains):
            return ZERO  # neighbours are one database
        far = times_as_far(factor, times, mechanism.part, self.domains)
        # behind a map the record may be in the other one of two neighbours: a sample is bounded in its worse order, the first
        return self._in_order(self.backward and self.side == "lower", mechanism.part, far, evidence)

    # -- single mechanisms

    def _one_way(self, part: Part, known: tuple[Value, Value]) -> Value:
        """Noise that is not even at one pair of neighbours, by what it loses in each order."""
        from dpverify.trusted.theories.additive.rules import convex_exponent

        value = known[self.backward]
        self.turned.add(ORDERED)
        self.through.append(convex_exponent.NAME)
        self.assumed += convex_exponent.ASSUMED
        where = "beyond-the-second" if isinstance(value, Infinite) else "far-on-the-first-side"
        self.points.append({"says": "one-way-point", "kind": kind_of(part.mechanism), "where": {"says": where}})
        return value

    def _ways(self, part: Part) -> tuple[Value, Value] | None:
        """What noise that is not even loses at one pair of neighbours, in both orders; None where it is even, or that is not known."""
        from dpverify.trusted.combinators import densities
        from dpverify.trusted.theories.additive.rules import convex_exponent

        noise = part.mechanism
        if not (isinstance(part, OnePair) and part.query is not None and isinstance(noise, model.Translation)) or densities.even(noise):
            return None
        return convex_exponent.one_way(noise, part.query.rows[0][0], self.domains)

    def _single(self, part: Part, factor: Expr, evidence: Any) -> Value:
        """A single mechanism, by the premise that is named for it."""
        if isinstance(evidence, Mapping) and evidence.keys() == {ONE_STEP}:
            return self._of_one_step(part, factor, evidence[ONE_STEP])
        run, kind = Run(part, factor), kind_of(part.mechanism)
        if self.side == "lower" and not occurs(run, self.domains):
            raise Rejected(WHAT, "a part", "no lower bound is known at a number of steps between neighbours that is not whole")
        premise = self.premises[to_whole(evidence, "the premise of a part", WHAT, 0, len(self.premises) - 1)]
        bound = bound_of(premise, leaf(run, self.listed), self.side, WHAT)
        self.through += through_of(premise)
        self.assumed += (*premise.assumed, *bound.assumed)
        if self.side == "lower":
            self.points.append(_point(kind, bound))
            if is_told(part):
                self.turned.add(part)
        return bound.value

    def _of_one_step(self, part: Part, factor: Expr, evidence: Any) -> Value:
        """A selection or a shuffle by what it loses on neighbours one step apart, as often as there are steps."""
        if self.side == "lower" or not isinstance(part.mechanism, model.Selection | model.Shuffle):
            raise Rejected(WHAT, "a part", "one step bounds several from above, and is looked at for selections and shuffles alone")
        return self._further(self._single(part, ONE, evidence), factor)

    def _facing(self, part: OnePair) -> Value:
        """The greatest log-ratio of one row over another, in one order."""
        from dpverify.trusted.theories.finite.rules import finite_table as finite_rule
        from dpverify.trusted.theories.finite.tables import finite

        table = finite(Claim(part.mechanism, None, sensitivity=part.sensitivity, domains=self.listed))
        a, b = reversed(part.pair) if self.backward else part.pair
        self.through.append(finite_rule.NAME)
        self.assumed += finite_rule.ASSUMED
        if self.side == "lower":
            self.turned.add(ORDERED)
        value, output = of_rows(table, a, b)
        loss = "unbounded" if isinstance(value, Infinite) else format_expr(value)
        self.points.append({"says": "output-point", "kind": kind_of(part.mechanism), "output": str(output), "loss": loss})
        return value

    # -- parts in parallel, and samples

    def _parallel(self, mechanism: model.Parallel, factor: Expr, evidence: Any) -> Value:
        """The greatest part; several records may fall into several parts, each of them changing one."""
        from dpverify.trusted.theories.composition.rules import parallel_composition

        near = certainly_le(factor, ONE, self.domains)
        if self.side == "lower" and not near and not certainly_le(ONE, factor, self.domains):
            raise Rejected(WHAT, "parallel", "it is not certain whether its neighbours are one record apart")
        self.assumed += [parallel_composition.DISJOINT, *((parallel_composition.LOWER,) if self.side == "lower" else ())]
        most = worst([self.of(inner, factor if near else ONE, e) for inner, e in each(mechanism.parts, evidence)], self.domains)
        return most if near or self.side == "lower" else self._further(most, factor)

    def _further(self, value: Value, factor: Expr) -> Value:
        """The epsilon for neighbours `factor` steps apart: one for every step."""
        steps = factor if is_whole(factor, self.domains) else neg(call("floor", neg(factor)))
        return value if certainly_le(factor, ONE, self.domains) else times_over(steps, value)

    def _sampled(self, mechanism: model.Subsample, factor: Expr, evidence: Any) -> Value:
        from dpverify.trusted.theories.composition.rules import poisson_subsampling

        rate, domains = mechanism.rate, self.domains
        if (
            self.side == "lower"
            and factor != ONE
            and not (mechanism.scheme == "poisson" and is_whole(factor, domains) and self._far_out(mechanism.part))
        ):
            raise Rejected(WHAT, "subsample", "no lower bound is known for neighbours further than one record apart")
        self.assumed.append(poisson_subsampling.SECRET)
        if rate == ZERO:
            return ZERO
        before, self.turned = self.turned, set()
        inside, turned = self._inside(mechanism, evidence), self.turned
        self.turned = before | turned
        if self._second(mechanism, factor, turned):
            return sampled(inside, rate, first=False)
        if isinstance(inside, Infinite) and self.side == "lower" and not certainly_lt(ZERO, rate, domains):
            raise Rejected(WHAT, "rate", "it is not certainly positive")
        return self._further(sampled(inside, rate, first=True), factor)

    def _far_out(self, part: Part) -> bool:
        """Whether each of k records that is in a sample multiplies the ratio of probabilities far out by the same: all by limits of slopes.

        There sum over j of C(k, j) p^j (1 - p)^(k - j) e^(j eps) = (1 + p (e^eps - 1))^k.
        """
        from dpverify.trusted.theories.additive.rules import convex_exponent

        return not has_inputs(part) and all(premise.rule == convex_exponent.NAME for premise in self.premises)

    def _second(self, mechanism: model.Subsample, factor: Expr, turned: set[Part | str]) -> bool:
        """Whether a sample is bounded by what it has in the order with the record second. turned: what inside loses in one order alone."""
        from dpverify.trusted.theories.composition.rules import poisson_subsampling, sampling_without_replacement

        poisson = mechanism.scheme == "poisson"
        if self.side == "upper":
            return poisson and self.backward and factor == ONE and not has_inputs(mechanism.part)
        self.assumed.append((poisson_subsampling if poisson else sampling_without_replacement).LOWER)
        told = any(is_told(leaf.part) for leaf in neighbours.leaves(mechanism.part) if not isinstance(leaf.part, OnePair))
        if poisson and (told or turned - {ORDERED}):
            return True
        if mechanism.rate != ONE:
            self.turned.add(ORDERED)
        return poisson and self.backward

    def _inside(self, mechanism: model.Subsample, evidence: Any) -> Value:
        """The value of a sampled part: from above in the worse order, from below in the one that has the record first, where that is told.

        evidence: that of the part, or under "sampled" that of all pairs of neighbours of the part.
        """
        part = mechanism.part
        if self.side == "lower":
            value = self.of(part, ONE, evidence)
            if mechanism.scheme != "poisson" and self.turned - {ORDERED}:
                raise Rejected(WHAT, "subsample", "it is not known in which order of the neighbours a part that is not even loses the most")
            return value
        if isinstance(evidence, Mapping) and "sampled" in evidence:
            return self.over_neighbours(part, evidence["sampled"])[0]
        orders = (False, True) if has_inputs(part) or mechanism.scheme != "poisson" else (self.backward,)
        return worst([self._in_order(backward, part, ONE, evidence) for backward in orders], self.domains)

    # -- random numbers of runs

    def _best_of(self, best: model.BestOf, factor: Expr, evidence: Any) -> Value:
        """The best of some runs: by what one loses in both orders of its neighbours, or from below where no more is known than that."""
        from dpverify.trusted.theories.composition.rules import best_of

        self.through.append(best_of.NAME)
        self.assumed += best_of.ASSUMED
        if self.side == "upper":
            one = self._one_run(best.part, factor, evidence.get("part"))
        elif factor == ONE:
            one = best_of.attained(best, self.domains)
            self.assumed.append(best_of.LOWER)
        else:
            raise Rejected(WHAT, "best_of", "no lower bound is known for neighbours further than one step apart")
        if isinstance(one, Infinite):
            return INFINITE
        value = best_of.epsilon(best, one, self.side, evidence, self.domains)
        if self.side == "lower":
            where = {"says": "most-of-the-first-below"}
            self.points.append({"says": "point", "kind": kind_of(best), "where": where, "loss": format_expr(value)})
        return value

    def _one_run(self, part: Part, factor: Expr, evidence: Any) -> Value:
        """What a part loses in the worse order. evidence: that of the part, or under "neighbours" that of all pairs that parts share."""
        if isinstance(evidence, Mapping) and "neighbours" in evidence and factor == ONE:
            return self.over_neighbours(part, evidence["neighbours"])[0]
        return worst([self._in_order(backward, part, factor, evidence) for backward in (False, True)], self.domains)

    # -- all pairs of neighbours

    def over_neighbours(self, root: Part, evidence: Any) -> tuple[Value, one_pair.Choice | None]:
        """The greatest value over all pairs of neighbours, and one where it is met. evidence: "plans" and "of", as of curves."""
        from dpverify.trusted.combinators import at_pair, candidates

        choices = candidates.choices(root)
        self.through.append(neighbours.NAME)
        self.assumed += neighbours.rows_assumed(root)
        values: list[tuple[Expr, one_pair.Choice]] = []
        plans = evidence["plans"]
        for choice, number in zip(choices, evidence["of"], strict=True):
            part, plan = at_pair.at(root, choice), plans[to_whole(number, "of", WHAT, 0, len(plans) - 1)]
            orders = (False, True) if part is not None and self._differs(part) else (False,)
            for backward in orders:
                value = ZERO if part is None else self._in_order(backward, part, ONE, plan)
                if isinstance(value, Infinite):
                    return INFINITE, None
                values.append((value, choice))
        most = greatest([value for value, _ in values], self.domains)
        return most, next((choice for value, choice in values if value == most), None)

    def _differs(self, part: Part) -> bool:
        """Whether the two orders of a pair of neighbours may differ."""
        return has_inputs(part) or any(self._ways(leaf.part) for leaf in neighbours.leaves(part))


def has_inputs(part: Part) -> bool:
    """Whether two inputs of a finite mechanism face each other in a part, so that the two orders differ."""
    return any(isinstance(leaf.part, OnePair) and leaf.part.query is None for leaf in neighbours.leaves(part))


def each(parts: Sequence[Part], evidence: Any) -> Iterator[tuple[Part, Any]]:
    """The parts, each with its evidence."""
    return zip(parts, evidence["parts"], strict=True)


def _point(kind: str, bound: Bound) -> dict[str, Any]:
    witness = bound.witness or {}
    where = witness.get("point") or witness.get("event") or {"says": "worst-output"}
    loss = "unbounded" if isinstance(bound.value, Infinite) else format_expr(bound.value)
    return {"says": "point", "kind": kind, "where": where, "loss": witness.get("loss", loss)}
