"""Evidence for claims in zCDP, GDP and Renyi divergences: which rules to try, and at which orders and epsilons."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Final

from flint import arb

from dpverify.search.composition import best_of, one_sided, privacy_profile
from dpverify.search.proposal import Steps
from dpverify.search.proposal import bound as proved
from dpverify.search.selection import stream_gaussians
from dpverify.trusted.combinators import at_pair, candidates, neighbours
from dpverify.trusted.combinators.places import SAMPLES
from dpverify.trusted.combinators.runs import merged, reach, whole
from dpverify.trusted.facts.orientation import facing
from dpverify.trusted.facts.pairs import Curve, Profile
from dpverify.trusted.kernel.balls import constant, rational
from dpverify.trusted.kernel.bounds import Bound, Infinite
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import DpverifyError, Undecided
from dpverify.trusted.kernel.fact import Fact, as_bounds, unasked
from dpverify.trusted.kernel.model import (
    BestOf,
    Claim,
    Combinator,
    Compose,
    CorrelatedNoise,
    Finite,
    Guarantee,
    NoisyVotes,
    Parallel,
    Repeat,
    Stream,
    Subsample,
    Sum,
)
from dpverify.trusted.kernel.proof import Place, Proof
from dpverify.trusted.kernel.registry import ANYWHERE, OF_THE_MECHANISM
from dpverify.trusted.order import enclosed
from dpverify.trusted.theories.composition.rules import combination
from dpverify.trusted.theories.divergences.chords import Chords, within_gaussian
from dpverify.trusted.theories.divergences.orders import MOST_CUTS
from dpverify.trusted.theories.divergences.rows import Rows, rows_of
from dpverify.trusted.theories.divergences.rules import added_measures as added
from dpverify.trusted.theories.divergences.rules import best_of_measures
from dpverify.trusted.theories.divergences.rules import finite_measures as finite
from dpverify.trusted.theories.divergences.rules import gaussian_measures as gaussian
from dpverify.trusted.theories.divergences.rules import implied_measures as implied
from dpverify.trusted.theories.divergences.rules import laplace_measures as laplace
from dpverify.trusted.theories.divergences.rules import measures_of_a_curve as of_a_curve
from dpverify.trusted.theories.divergences.rules import measures_of_sums as of_sums
from dpverify.trusted.theories.divergences.rules import measures_of_votes as of_votes
from dpverify.trusted.theories.divergences.rules import sampled_measures as sampled
from dpverify.trusted.theories.divergences.rules import selection_measures as selections
from dpverify.trusted.theories.divergences.whole_sums import Moved

Pure = Callable[[Claim], Steps]
"""The steps that bound the pure epsilon of a claim."""

_SCAN: Final = [1 + 2.0**k for k in range(-12, 17)]
"""Orders among which the worst one is looked for first."""
_CLOSEST: Final = 40
"""The second cut lies no nearer to order 1 than 2 to minus this."""
_NOTHING: Final = 1e-30
"""A divergence of less is looked for as one of this size: rows that are alike have 0, which balls about their entries do not show."""
_ORDERS: Final = [1 + 2.0**k for k in (-20, *range(-4, 9))]
"""Orders among which the worst one of a sum of noises is looked for."""
_FEW_CUTS: Final = 400
"""The most orders at which a sum of noises is looked at."""
_POINTS: Final = 192
"""Points of a curve that is quick to evaluate."""
_CURVE_DIGITS: Final = 4
_LEAST: Final = 1e-9
"""A delta beyond which a curve is not looked at for a lower bound."""


def propose(claim: Claim, digits: int, pure: Pure, premises: privacy_profile.Premises) -> Steps:
    """Steps for both bounds on the tight value in the measure that is claimed. Raises Undecided where nothing is known."""
    if claim.domains:
        raise Undecided("claims in zCDP, GDP and Renyi divergences want a value for every parameter; claim one value at a time.")
    found = _Search(claim, Proof(claim), digits, pure, premises)
    steps = list(found.steps())
    if not steps:
        raise Undecided(
            f"nothing is known of this mechanism in {'a Renyi divergence' if claim.measure and claim.measure.at else 'this measure'}: "
            "an upper bound wants a finite pure epsilon, Gaussian parts, or a guarantee in the same measure; a lower bound a privacy curve."
        )
    return steps


@dataclass(slots=True)
class _Search:
    claim: Claim
    proof: Proof
    digits: int
    pure: Pure
    premises: privacy_profile.Premises

    def steps(self) -> Iterator[dict[str, Any]]:
        """The exact rules first; those by the curve for a side that they leave open, or that they do not settle."""
        known = list(self._at((), self.claim))
        for fact in known:
            yield {"rule": fact.rule, "evidence": dict(fact.parameters), "premises": list(fact.premises)}
        sides = {b.side for fact in known for b in as_bounds(fact.says)}
        if sides == {"upper", "lower"} and any(fact.rule == of_sums.NAME for fact in known):
            return  # sums over all outputs, beside which a curve by its chords shows nothing
        if "lower" in sides and ("upper" in sides or self._infinite(known)) and self._settled(known):
            return
        with suppress(DpverifyError, OverflowError, ValueError, ZeroDivisionError):
            yield from _Curves(self.claim, self.proof, self.premises, self._granted()).steps()

    def _infinite(self, known: Sequence[Fact]) -> bool:
        return any(isinstance(b.value, Infinite) for fact in known for b in as_bounds(fact.says))

    def _settled(self, known: Sequence[Fact]) -> bool:
        """Whether both bounds are about one, so that a curve tells no more."""
        if self._infinite(known):
            return True
        bounds = [b for fact in known for b in as_bounds(fact.says)]
        upper = min(float(constant(b.value).mid()) for b in bounds if b.side == "upper" and not isinstance(b.value, Infinite))
        lower = max(float(constant(b.value).mid()) for b in bounds if b.side == "lower" and not isinstance(b.value, Infinite))
        return upper - lower <= 1e-6 * upper

    def _at(self, place: Place, question: Claim) -> Iterator[Fact]:
        """Facts about what is at a place, without curves."""
        if not place and not isinstance(question.mechanism, Combinator) and neighbours.together(whole(question).part, True, alone=True):
            yield from self._of_one_pair(question)
        for rule in (gaussian.NAME, laplace.NAME, sampled.NAME):
            with suppress(DpverifyError):
                yield self.proof.infer(rule, place)
                return
        mechanism = question.mechanism
        if isinstance(mechanism, Sum):
            with suppress(DpverifyError):
                asked = replace(question, measure=self.claim.measure, order=self.claim.order)
                yield self.proof.infer(of_sums.NAME, place, _of_a_sum(asked, mechanism))
                return
        if isinstance(mechanism, CorrelatedNoise):
            yield from self._of_samples(place)
            return
        if isinstance(mechanism, NoisyVotes):
            with suppress(DpverifyError):
                yield self.proof.infer(of_votes.NAME, place, _of_votes(self.claim, self.digits))
                return
        if isinstance(mechanism, Finite):
            with suppress(DpverifyError):
                asked = replace(question, measure=self.claim.measure, order=self.claim.order)
                yield self.proof.infer(finite.NAME, place, _of_finite(asked, self.digits))
                return
        for rule in (implied.NAME,) if isinstance(mechanism, Stream) else (selections.NAME, implied.NAME):
            with suppress(DpverifyError):
                yield self.proof.infer(rule, place)
        for plan in stream_gaussians.plans(self.proof.places.run(place)) if isinstance(mechanism, Stream) else ():
            with suppress(DpverifyError):
                yield self.proof.infer(selections.NAME, place, {key: value for key, value in plan.items() if key != "rule"})
        if isinstance(mechanism, Parallel):
            yield from self._parallel(place, mechanism)
        if isinstance(mechanism, BestOf) and self.claim.measure is not None and self.claim.measure.at is not None:
            with suppress(DpverifyError):
                yield self.proof.infer(best_of_measures.NAME, place, best_of.Orders(mechanism).told(self.claim.measure.at))
        opaque = isinstance(mechanism, Subsample | Parallel) or (isinstance(mechanism, BestOf) and mechanism.law != "fixed")
        if isinstance(mechanism, Combinator) and not opaque:
            yield from self._added(place, question)
        elif not isinstance(mechanism, Guarantee):
            with suppress(DpverifyError):
                granted = self._best_pure(place, question)
                if granted is not None:
                    yield self.proof.infer(implied.NAME, place, {}, [granted])

    def _of_samples(self, place: Place) -> Iterator[Fact]:
        """What the samples of correlated noise have together, from both sides."""
        for fact in self._inside((*place, SAMPLES)):
            for side in ("upper", "lower"):
                with suppress(DpverifyError):
                    yield self.proof.infer(sampled.NAME, place, {"side": side}, [fact])

    def _parallel(self, place: Place, mechanism: Parallel) -> Iterator[Fact]:
        """The greatest value of the parts, from both sides."""
        facts = [self._inside((*place, {"part": number})) for number in range(len(mechanism.parts))]
        with suppress(DpverifyError, ValueError):  # of a part that nothing bounds there is no least bound
            least = [min((fact for fact in those if _says(fact, "upper")), key=_value("upper")) for those in facts]
            yield self.proof.infer(added.NAME, place, {"side": "upper"}, least)
        below = [(_value("lower")(fact), number, fact) for number, those in enumerate(facts) for fact in those if _says(fact, "lower")]
        with suppress(DpverifyError, ValueError):
            _, index, fact = min(below, key=lambda one: one[:2])
            yield self.proof.infer(added.NAME, place, {"side": "lower", "index": index}, [fact])

    def _inside(self, place: Place) -> list[Fact]:
        """Facts about what is at a place; none where it is not known what is asked there."""
        with suppress(DpverifyError):
            return list(self._at(place, self.proof.places.question(place)))
        return []

    def _added(self, place: Place, question: Claim) -> Iterator[Fact]:
        if not place:
            yield from self._of_one_pair(question)
        facts = [self._inside((*place, i)) for i in range(len(merged(whole(question).part)))]
        for side in ("upper", "lower"):
            with suppress(DpverifyError):
                premises = [
                    min((fact for fact in those if _says(fact, side)), key=_value(side))
                    for those in facts
                    if any(_says(f, side) for f in those)
                ]
                yield self.proof.infer(added.NAME, place, {"side": side}, premises)
        with suppress(DpverifyError):
            granted = self._best_pure(place, question)
            if granted is not None:
                yield self.proof.infer(implied.NAME, place, {}, [granted])

    def _of_one_pair(self, question: Claim) -> Iterator[Fact]:
        """Both bounds by one pair of neighbours at a time."""
        with suppress(DpverifyError, ValueError):  # of a part that nothing bounds there is no least bound
            yield self._at_every_pair(question)
        with suppress(DpverifyError):
            lower = list(self._at_one_pair(question)) if not self.claim.order else []
            yield from sorted(lower, key=_value("lower"))[:1]

    def _at_every_pair(self, question: Claim) -> Fact:
        """The bound by one pair of neighbours at a time. Raises Undecided, Rejected where parts share none."""
        root, premises, numbers = whole(question).part, list[Fact](), list[int | None]()
        for i, choice in enumerate(candidates.choices(root)):
            place: Place = ({"choice": i},)
            if at_pair.at(root, choice) is None:
                numbers.append(None)
                continue
            there = self.proof.places.question(place)
            found = list(self._at(place, there)) if not isinstance(there.mechanism, Compose | Repeat) else [self._sum(place, there)]
            premises.append(min((fact for fact in found if _says(fact, "upper")), key=_value("upper")))
            numbers.append(len(premises) - 1)
        return self.proof.infer(added.NAME, (), {"side": "upper", "at": numbers}, premises)

    def _at_one_pair(self, question: Claim) -> Iterator[Fact]:
        """Bounds from below by each pair of neighbours."""
        root = whole(question).part
        if any(run.processed for run in merged(root)):
            return  # the rule grants nothing there: what a map of the output leaves to be seen is not known
        for choice in candidates.choices(root):
            pair = at_pair.written(choice)
            place: Place = ({"pair": pair},)
            with suppress(DpverifyError, ValueError):
                if at_pair.at(root, choice, lower=True) is None:
                    continue
                there = self.proof.places.question(place)
                yield self.proof.infer(added.NAME, (), {"side": "lower", "pair": pair}, [self._least(place, there)])

    def _least(self, place: Place, question: Claim) -> Fact:
        """A bound from below at a place: of one mechanism, or by the curve there."""
        with suppress(DpverifyError, ValueError):
            summed = isinstance(question.mechanism, Compose | Repeat)
            count = len(merged(whole(question).part)) if summed else 1
            places = [(*place, i) if summed else place for i in range(count)]
            known = [[fact for fact in self._at(one, self.proof.places.question(one)) if _says(fact, "lower")] for one in places]
            inner = [facts[0] for facts in known if facts]
            if inner or summed:
                return self.proof.infer(added.NAME, place, {"side": "lower"}, inner) if summed else inner[0]
        asked = replace(question, measure=self.claim.measure)
        by_curve = privacy_profile.curve_at(self.proof, place, _CURVE_DIGITS, self.premises)
        if not isinstance(by_curve.says, Curve) or by_curve.says.lower is None:
            raise Undecided("nothing is known from below of what is behind a map of a part's output.")
        evidence = _Curves(asked, self.proof, self.premises, None).lower(by_curve.says)
        return self.proof.infer(of_a_curve.NAME, place, evidence, [by_curve])

    def _sum(self, place: Place, question: Claim) -> Fact:
        inner = [list(self._at((*place, i), self.proof.places.question((*place, i)))) for i in range(len(merged(whole(question).part)))]
        least = [min((fact for fact in facts if _says(fact, "upper")), key=_value("upper")) for facts in inner]
        return self.proof.infer(added.NAME, place, {"side": "upper"}, least)

    def _granted(self) -> Fact | None:
        """The pure epsilon in both orders, or else in the one that is claimed."""
        found = self._best_pure((), self.claim)
        if found is not None or not self.claim.order:
            return found
        steps = one_sided.propose(self.claim, lambda single, side: self.premises(single) if side == "upper" else None)
        facts = [self.proof.infer(step["rule"], (), step["evidence"], step["premises"]) for step in steps]
        return next((fact for fact in facts if _says(fact, "upper")), None)

    def _best_pure(self, place: Place, question: Claim) -> Fact | None:
        best: tuple[Bound, Fact] | None = None
        for step in self.pure(unasked(question)):
            if step["rule"] not in ((OF_THE_MECHANISM | {combination.NAME}) if not place else ANYWHERE):
                continue
            with suppress(DpverifyError):
                fact = proved(self.proof, place, step)
                for b in as_bounds(fact.says):
                    fits = (b.side, b.quantity) == ("upper", "pure") and not b.at and not isinstance(b.value, Infinite)
                    if fits and (best is None or certainly_lt(b.value, best[0].value)):  # type: ignore[arg-type]
                        best = b, fact
        return None if best is None else best[1]


def _says(fact: Fact, side: str) -> bool:
    return any(b.side == side and not (side == "upper" and isinstance(b.value, Infinite)) for b in as_bounds(fact.says))


def _value(side: str) -> Callable[[Fact], float]:
    def value(fact: Fact) -> float:
        (known,) = [b.value for b in as_bounds(fact.says) if b.side == side]
        size = math.inf if isinstance(known, Infinite) else float(constant(known).mid())
        return size if side == "upper" else -size

    return value


# -- finite mechanisms -----------------------------------------------------------------------------


def _of_finite(claim: Claim, digits: int) -> dict[str, Any]:
    """Cuts between orders, and the worst pair with its order, for zCDP; nothing for the others."""
    if claim.measure is None or claim.measure.name != "zcdp":
        return {}
    every = rows_of(claim)
    if any(rows.first_alone for rows in every):
        return {}
    worst = [_worst_order(rows) for rows in every]
    number = max(range(len(every)), key=lambda i: worst[i][0])
    (most, order), rows = worst[number], every[number]
    found: dict[str, Any] = {"lower": [*rows.inputs, "1" if order is None else str(Fraction(order).limit_denominator(10**9))]}
    most = max(most, _NOTHING)
    targets = [most * (1 + 10.0**-k) for k in (min(digits, 10), 6, 3, 1)]
    for target in [most * (1 - 1e-9), most, *targets] if order is None else targets:  # below what order 1 has, that is the value itself
        cuts = _cuts([_of_rows(rows) for rows in every], arb(target))
        if cuts is not None:
            return found | {"cuts": cuts}
    return found


def _of_a_sum(claim: Claim, noise: Sum) -> dict[str, Any]:
    """Cuts between orders, and the order that is worst, for zCDP; nothing for the others."""
    if claim.measure is None or claim.measure.name != "zcdp":
        return {}
    every = of_sums.pairs(noise, enclosed.whole(reach(whole(claim)).upper, up=True))
    if not every:
        return {"cuts": ["1", "2"], "at": "2"}
    most, order = max(_near_peak(one) for one in every)
    found: dict[str, Any] = {"at": str(Fraction(order))}
    for slack in (1e-3, 1e-2, 0.1, 1.0, math.inf):
        target = most * (1 + slack) if slack < math.inf else max(float(one.beyond(arb(4)).upper()) for one in every) * (1 + 1e-9)
        tops = [_first_order(one, target) for one in every]
        if None not in tops and target < math.inf:
            bounded: list[Bounded] = [(_first(one), one.cumulant, top) for one, top in zip(every, tops, strict=True) if top is not None]
            cuts = _cuts(bounded, arb(target), _FEW_CUTS)
            if cuts is not None:
                return found | {"cuts": cuts}
    return found


def _of_votes(claim: Claim, digits: int) -> dict[str, Any]:
    """Cuts between orders, and the order of the lower bound, for zCDP; nothing for the others."""
    if claim.measure is None or claim.measure.name != "zcdp":
        return {}

    def over(lists: of_votes.Lists) -> Callable[[float], float]:
        return lambda order: float((of_votes.cumulant(lists, arb(order)) / (arb(order) * (arb(order) - 1))).mid())

    orders = of_votes.orders_of(claim)
    most, order = max((_peak(over(lists), 0.0) for lists in orders), key=lambda found: found[0])
    found: dict[str, Any] = {"lower": str(Fraction(order or 1 + 2.0**-20).limit_denominator(10**9))}
    bounded: list[Bounded] = [
        (partial(of_votes.near, lists), partial(of_votes.cumulant, lists), of_votes.greatest(lists)) for lists in orders
    ]
    for share in (min(digits, 10), 6, 3, 1):
        cuts = _cuts(bounded, arb(max(most, _NOTHING) * (1 + 10.0**-share)))
        if cuts is not None:
            return found | {"cuts": cuts}
    return found


def _near_peak(one: Moved) -> tuple[float, float]:
    """About the greatest divergence over its order of a pair, and that order, as far as sums are not too long."""
    found = []
    for order in _ORDERS:
        with suppress(DpverifyError):
            found.append((_over(one)(order), order))
    best, order = max(found)
    if order == _ORDERS[0]:
        return best, order
    low, high = 1 + (order - 1) / 2, 1 + (order - 1) * 2
    with suppress(DpverifyError):
        for _ in range(12):
            a, b = low + 0.382 * (high - low), low + 0.618 * (high - low)
            low, high = (low, b) if _over(one)(a) >= _over(one)(b) else (a, high)
        middle = float(Fraction((low + high) / 2).limit_denominator(1000))
        best, order = max((best, order), (_over(one)(middle), middle))
    return best, order


def _first_order(one: Moved, target: float) -> arb | None:
    """An order from which a pair has at most the target, times that, as a greatest loss would be; None where there is none."""
    for k in range(1, 40):
        beyond = one.beyond(arb(2) ** k)
        if beyond <= target:
            return arb(target) * arb(2) ** k
    return None


def _worst_order(rows: Rows) -> tuple[float, float | None]:
    """About the greatest divergence over its order, and that order; None for order 1, where nothing beyond is greater."""

    def at(order: float) -> float:
        size = arb(order)
        return float((rows.cumulant(size) / (size * (size - 1))).mid())

    return _peak(at, float(rows.mean.mid()))


def _peak(at: Callable[[float], float], first: float) -> tuple[float, float | None]:
    best = max(_SCAN, key=at)
    low, high = 1 + (best - 1) / 2, 1 + (best - 1) * 2
    for _ in range(42):
        a, b = low + 0.382 * (high - low), low + 0.618 * (high - low)
        low, high = (low, b) if at(a) >= at(b) else (a, high)
    top = (low + high) / 2
    return (at(top), top) if at(top) > first else (first, None)


Bounded = tuple[Callable[[arb], arb], Callable[[arb], arb], arb]
"""Of one pair: what it has at most up to an order, (a - 1) D_a, and the greatest loss."""


def _of_rows(rows: Rows) -> Bounded:
    def near(first: arb) -> arb:
        return (rows.mean + (first - 1) * rows.spread(arb(1).union(first)) / 2) / first

    return near, rows.cumulant, rows.greatest


def _cuts(pairs: Sequence[Bounded], target: arb, most: int = MOST_CUTS) -> list[str] | None:
    """Cuts between which no pair has certainly more than the target; None where they would be too many."""
    first = next(
        (1 + Fraction(1, 2**k) for k in range(_CLOSEST) if all(near(rational(1 + Fraction(1, 2**k))) <= target for near, _, _ in pairs)),
        None,
    )
    if first is None:
        return None
    far = max(float(top.mid()) for _, _, top in pairs) / float(target.mid())
    last = max(Fraction(math.ceil(far * 1.001)) + 1, first + 1)
    cuts, stack, known = {first}, [(first, last)], dict[tuple[int, Fraction], arb]()
    while stack:
        low, high = stack.pop()
        if len(cuts) + len(stack) > most - 2:
            return None
        if all(_chord(known, number, pair[1], low, high, target) for number, pair in enumerate(pairs)):
            cuts.add(high)
            continue
        middle = Fraction(
            float(1 + ((low - 1) * (high - 1)) ** Fraction(1, 2) if high - 1 > 4 * (low - 1) else (low + high) / 2)
        ).limit_denominator(2**50)
        if not low < middle < high:
            return None
        stack += [(middle, high), (low, middle)]
    return ["1", *(str(cut) for cut in sorted(cuts))]


def _chord(
    known: dict[tuple[int, Fraction], arb], number: int, cumulant: Callable[[arb], arb], low: Fraction, high: Fraction, target: arb
) -> bool:
    sag = rational((high - low) ** 2 / 4)
    for end in (low, high):
        size = rational(end)
        if (number, end) not in known:
            known[number, end] = cumulant(size)
        bottom = size * (size - 1) - sag
        if not (bottom > 0 and known[number, end] / bottom <= target):
            return False
    return True


# -- by the curve ------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Curves:
    claim: Claim
    proof: Proof
    premises: privacy_profile.Premises
    granted: Fact | None

    def steps(self) -> Iterator[dict[str, Any]]:
        """Steps from the curve of the whole, for every side that it has."""
        listed = privacy_profile.listed_curves(self.claim)
        for number, curve in enumerate(listed):
            yield from self._of(curve, {"pair": number}, [])
        if not listed:
            known = privacy_profile.curve_of(self.claim, _CURVE_DIGITS, self.premises)
            assert isinstance(known.says, Curve)
            yield from self._of(known.says, {}, [known])

    def _of(self, curve: Curve, named: dict[str, Any], known: list[Fact]) -> Iterator[dict[str, Any]]:
        assert self.claim.measure is not None
        if curve.lower is not None:
            for side in ({"side": "infinite"}, None):
                evidence = side or self.lower(curve)
                step = {"rule": of_a_curve.NAME, "evidence": named | (evidence or {}), "premises": known}
                if evidence is not None and _accepted(self.proof, step):
                    yield step
                    if side:
                        return
        if curve.upper is not None and self.granted is not None:
            evidence = self._upper(curve)
            if evidence is not None:
                yield {"rule": of_a_curve.NAME, "evidence": named | evidence, "premises": [*known, self.granted]}

    def _count(self, curve: Curve) -> int:
        return min(_POINTS, privacy_profile.cells(curve) // 2)

    def _epsilon(self) -> float | None:
        if self.granted is None:
            return None
        values = [b.value for b in as_bounds(self.granted.says) if b.side == "upper" and not isinstance(b.value, Infinite)]
        return float(constant(values[0]).upper())

    def lower(self, curve: Any) -> dict[str, Any] | None:
        measure, pair = self.claim.measure, curve.lower
        assert measure is not None and pair is not None
        reach = self._epsilon() or 1.0
        if self._epsilon() is None:
            while reach < 200 and pair.worst(arb(reach)) > _LEAST:
                reach *= 1.5
        points = _grid(Fraction(reach).limit_denominator(10**6), self._count(curve))
        points += _beyond(points[-1], pair.worst)
        if measure.name == "gdp":
            mu, at = max(
                (_mu(float(point), float(pair.worst(rational(point)).mid())), point) for point in points[:: max(1, len(points) // 48)]
            )
            return None if mu <= 0 else {"side": "lower", "value": str(_short(mu * (1 - 1e-9), down=True)), "at": str(at)}
        evidence = {"side": "lower", "points": [str(point) for point in points]}
        if measure.at is not None:
            return evidence
        least = pair if self.claim.order or pair.forward is pair.backward else None
        pair = facing(self.claim, pair)
        chords = [Chords(pair, points)] + ([] if least else [Chords(pair.reversed, points)])
        order = max((_peak(_over(one), 0.0) for one in chords), key=lambda found: found[0])[1]
        return None if order is None else {**evidence, "at": str(Fraction(order).limit_denominator(10**6))}

    def _upper(self, curve: Curve) -> dict[str, Any] | None:
        measure, pair, reach = self.claim.measure, curve.upper, self._epsilon()
        assert measure is not None and pair is not None and reach is not None
        points = _grid(Fraction(math.ceil(reach * 2**40) + 1, 2**40), self._count(curve))
        evidence: dict[str, Any] = {"side": "upper", "points": [str(point) for point in points]}
        one = pair.forward is pair.backward or (self.claim.order and measure.name != "gdp")
        alone = self.granted is not None and self.granted.about == self.claim
        if alone:  # the other order has losses beyond
            points += _beyond(points[-1], facing(self.claim, pair).backward)
            evidence["points"] = [str(point) for point in points]
        orders = [facing(self.claim, pair)] if one else [pair, pair.reversed]
        if measure.name == "gdp":
            return self._within(evidence, orders, points)
        if measure.at is not None:
            return evidence
        chords = [Chords(one, points, alone) for one in orders]
        most = max(_peak(_over(one), 0.0)[0] for one in chords)
        for slack in (1e-3, 1e-2, 1e-1, 1.0):
            pairs: list[Bounded] = [(_first(one), one.cumulant, arb(reach)) for one in chords]
            cuts = _cuts(pairs, arb(most * (1 + slack)))
            if cuts is not None:
                return evidence | {"cuts": cuts}
        return None

    def _within(self, evidence: dict[str, Any], orders: Sequence[Any], points: Sequence[Fraction]) -> dict[str, Any] | None:
        """The least mu, of few digits, whose curve is above the curve at hand by a proof between these points."""
        heights = [float(one.worst(rational(point)).mid()) for one in orders for point in points[:-1]]
        low = max(_mu(float(point), height) for point, height in zip([*points[:-1]] * len(orders), heights, strict=True))
        for slack in (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0):
            value = _short(low * (1 + slack), down=False)
            with suppress(DpverifyError):
                for one in orders:
                    within_gaussian(one.forward, rational(value), points)
                return evidence | {"value": str(value)}
        return None


def _first(chords: Any) -> Callable[[arb], arb]:
    return lambda first: chords.cumulant(first) / (first - 1)


def _over(chords: Any) -> Callable[[float], float]:
    """The divergence over the order."""

    def at(order: float) -> float:
        size = arb(order)
        return float((chords.cumulant(size) / (size * (size - 1))).mid())

    return at


def _accepted(proof: Proof, step: dict[str, Any]) -> bool:
    try:
        proof.infer(step["rule"], (), step["evidence"], step["premises"])
    except DpverifyError:
        return False
    return True


def _grid(end: Fraction, count: int) -> list[Fraction]:
    return [end * k / count for k in range(count + 1)]


def _beyond(last: Fraction, profile: Profile) -> list[Fraction]:
    """Further points at which a profile is not about 0."""
    steps = (last * Fraction(6, 5) ** k for k in range(1, 60))
    short = dict.fromkeys(Fraction(float(step)).limit_denominator(2**40) for step in steps)
    return [point for point in sorted(short) if point > last and profile(rational(point)) > _LEAST]


def _short(value: float, *, down: bool) -> Fraction:
    scaled = Fraction(value) * 10**12
    return Fraction(math.floor(scaled) if down else math.ceil(scaled), 10**12)


def _mu(epsilon: float, delta: float) -> float:
    """About the mu at whose curve there is this delta at an epsilon."""
    if not 0 < delta < 1:
        return 0.0
    low, high = 0.0, 64.0
    for _ in range(70):
        middle = (low + high) / 2
        near = epsilon / middle if middle else math.inf
        value = (math.erfc((near - middle / 2) / math.sqrt(2)) - _scaled(epsilon, (near + middle / 2) / math.sqrt(2))) / 2
        low, high = (middle, high) if value < delta else (low, middle)
    return low


def _scaled(epsilon: float, x: float) -> float:
    tail = math.erfc(x)
    return 0.0 if tail == 0.0 or epsilon > 700 else math.exp(epsilon) * tail
