"""Compositions of samples of finite mechanisms, exactly: their privacy losses are finitely many, and are kept as formal products.

A law is what is left of two distributions on finitely many outputs when all outputs of one ratio p/q are taken together. A sample at a
rate turns a ratio r into rate r + 1 - rate, and what only Q can give into the ratio 1 - rate; a composition multiplies ratios. Ratios that
are formally equal are one. A part with several pairs of rows leaves a choice of laws for each copy, which may depend on the outputs so
far: the greatest divergence is then found from the end backwards, as in `finite_composition`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from flint import arb, ctx

from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import accurately, decimals, divergence, falling
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.pairs import Curve, Event, Pair, Profile
from dpverify.trusted.language.errors import Rejected, Undecided
from dpverify.trusted.language.expr import ONE, ZERO, Expr, Num, div, symbols
from dpverify.trusted.language.model import Exponential, KaryResponse, Source, Subsample, Table
from dpverify.trusted.numbers.balls import constant, rational
from dpverify.trusted.order.compare import certainly_le, certainly_lt
from dpverify.trusted.parts.neighbours import OnePair
from dpverify.trusted.parts.runs import Run, leaf, merged, occurs
from dpverify.trusted.rules.composition import poisson_subsampling
from dpverify.trusted.rules.composition.finite_composition import factors
from dpverify.trusted.rules.curves import finite
from dpverify.trusted.rules.curves.finite import Face, Faces, faces_of
from dpverify.trusted.rules.curves.steps import Steps, steps_of

NAME: Final = "finite-losses"
STATEMENT: Final = (
    "Poisson samples of finite mechanisms have finitely many privacy losses: a ratio r of the two probabilities of an output becomes "
    "rate r + 1 - rate, and a composition multiplies ratios. Where parts have one pair of rows, delta(eps) is the sum of (p - e^eps q)_+ "
    "over all products; where one part has several, the greatest over all choices of the next pair after the outputs so far."
)
CHECKED: Final = (
    "every row is a distribution, exactly",
    "which probabilities are zero",
    "which products of ratios are formally equal",
    "rates are in (0, 1]",
    "the number of products is within reach",
)
ASSUMED: Final = (*finite.ASSUMED, *poisson_subsampling.ASSUMED)
SOURCE: Final = Source("docs/theory/composition.md#finite-losses", "Zhu, Dong & Wang 2022, Theorem 11")

MOST_PRODUCTS: Final = 200_000
"""The most products of two probabilities to put the outcomes of a law together, or for one epsilon where there are choices."""
MOST_COPIES: Final = 10_000


# -- ratios ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ratio:
    """A positive number as a formal product: equal objects are equal numbers."""

    number: Fraction
    powers: frozenset[tuple[Expr | Mixed, Fraction]] = frozenset()

    def __mul__(self, other: Ratio) -> Ratio:
        if not self.powers or not other.powers:
            return Ratio(self.number * other.number, self.powers or other.powers)
        return Ratio(self.number * other.number, _collected([*self.powers, *other.powers]))

    @property
    def inverse(self) -> Ratio:
        return Ratio(1 / self.number, frozenset((base, -n) for base, n in self.powers))


@dataclass(frozen=True, slots=True)
class Mixed:
    """rate r + 1 - rate, which a sample makes of a ratio r; None for one of 0."""

    rate: Expr
    ratio: Ratio | None

    def ball(self) -> arb:
        rate = constant(self.rate)
        return 1 - rate if self.ratio is None else rate * _ball(self.ratio) + 1 - rate


def ratio_of(p: Expr, q: Expr) -> Ratio:
    """p/q of two positive constants."""
    number, others = Fraction(1), list[tuple[Expr | Mixed, Fraction]]()
    for base, exponent in factors(div(p, q)):
        if isinstance(base, Num):
            number *= base.value ** int(exponent)
        else:
            others.append((base, exponent))
    return Ratio(number, _collected(others))


def _collected(powers: Iterable[tuple[Expr | Mixed, Fraction]]) -> frozenset[tuple[Expr | Mixed, Fraction]]:
    """One power of every base."""
    found = dict[Expr | Mixed, Fraction]()
    for base, exponent in powers:
        found[base] = found.get(base, Fraction(0)) + exponent
    return frozenset((base, exponent) for base, exponent in found.items() if exponent != 0)


def _mixed(rate: Expr, ratio: Ratio | None) -> Ratio:
    """The ratio in a sample; None for an output that only Q can give."""
    if isinstance(rate, Num) and (ratio is None or not ratio.powers):
        return Ratio(1 - rate.value + (0 if ratio is None else rate.value * ratio.number))
    return Ratio(Fraction(1), frozenset({(Mixed(rate, ratio), Fraction(1))}))


def _ball(ratio: Ratio) -> arb:
    """The number at the precision of the moment."""
    found = rational(ratio.number)
    for base, exponent in ratio.powers:
        ball = base.ball() if isinstance(base, Mixed) else abs(constant(base))
        found *= ball ** rational(exponent)
    return found


# -- laws --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Masses:
    """What only P can give, what only Q can, and both masses at every ratio."""

    lost: arb
    gained: arb
    met: Mapping[Ratio, tuple[arb, arb]]


class Law:
    """Two distributions on finitely many outputs, by the ratios of their probabilities."""

    __slots__ = ("_compute", "_known", "_steps", "profile", "ratios")

    def __init__(self, ratios: Sequence[Ratio], compute: Callable[[], Masses]) -> None:
        self.ratios, self._compute = tuple(ratios), compute
        self._known, self._steps = dict[int, Masses](), dict[int, Steps]()
        self.profile: Profile = divergence(lambda epsilon: accurately(lambda: self.steps().excess(epsilon)))

    def masses(self) -> Masses:
        """The masses at the precision of the moment."""
        if ctx.prec not in self._known:
            self._known[ctx.prec] = self._compute()
        return self._known[ctx.prec]

    def steps(self) -> Steps:
        """The outputs by falling ratio, at the precision of the moment."""
        if ctx.prec not in self._steps:
            self._steps[ctx.prec] = steps_of(self.masses().lost, self.masses().met.values())
        return self._steps[ctx.prec]

    def rest(self) -> arb:
        """What only P can give."""
        return self.masses().lost

    @property
    def swapped(self) -> Law:
        """Q against P."""

        def compute() -> Masses:
            found = self.masses()
            return Masses(found.gained, found.lost, {ratio.inverse: (q, p) for ratio, (p, q) in found.met.items()})

        return Law([ratio.inverse for ratio in self.ratios], compute)


def of_face(faces: Faces, face: Face) -> Law:
    """The law of two rows."""
    weights = faces.weights
    places = {cell: ratio_of(weights.all[cell[0]].expr, weights.all[cell[1]].expr) for cell, _ in face.cells if all(cell)}

    def compute() -> Masses:
        balls, lost, gained, met = weights.balls(), arb(0), arb(0), dict[Ratio, tuple[arb, arb]]()
        for (i, j), times in face.cells:
            p, q = balls[i] * times, balls[j] * times
            if i and j:
                _put(met, places[i, j], p, q)
            elif i:
                lost += p
            elif j:
                gained += q
        return Masses(lost, gained, met)

    return Law(list(dict.fromkeys(places.values())), compute)


def sampled(law: Law, rate: Expr) -> Law:
    """The mixture of P and Q at a rate in (0, 1] against Q."""
    if rate == ONE:
        return law
    places = {ratio: _mixed(rate, ratio) for ratio in law.ratios}
    alone = () if law.masses().gained.is_zero() else (_mixed(rate, None),)

    def compute() -> Masses:
        p, found, met = constant(rate), law.masses(), dict[Ratio, tuple[arb, arb]]()
        for ratio, (with_record, without) in found.met.items():
            _put(met, places[ratio], p * with_record + (1 - p) * without, without)
        for ratio in alone:
            _put(met, ratio, (1 - p) * found.gained, found.gained)
        return Masses(p * found.lost, arb(0), met)

    return Law(list(dict.fromkeys((*places.values(), *alone))), compute)


def product(laws: Sequence[Law]) -> Law:
    """The product of laws, each of its own. Raises Undecided for too many outcomes."""
    layers: list[tuple[Ratio, ...]] = [(Ratio(Fraction(1)),)]
    work = 0
    for law in laws:
        work += len(layers[-1]) * len(law.ratios)
        if work > MOST_PRODUCTS:
            raise _too_many(f"{MOST_PRODUCTS} products of probabilities")
        layers.append(tuple(dict.fromkeys(before * ratio for before in layers[-1] for ratio in law.ratios)))

    def compute() -> Masses:
        lost, gained, masses = arb(0), arb(0), {layers[0][0]: (arb(1), arb(1))}
        for law in laws:
            found, reached = law.masses(), dict[Ratio, tuple[arb, arb]]()
            lost, gained = lost + (1 - lost) * found.lost, gained + (1 - gained) * found.gained
            for before, (a, b) in masses.items():
                for ratio, (p, q) in found.met.items():
                    _put(reached, before * ratio, a * p, b * q)
            masses = reached
        return Masses(lost, gained, masses)

    return Law(layers[-1], compute)


def _too_many(what: str) -> Undecided:
    return Undecided(f"{NAME}: more than {what}. Compose fewer copies, or use a privacy-loss distribution.")


def _put(met: dict[Ratio, tuple[arb, arb]], ratio: Ratio, p: arb, q: arb) -> None:
    here = met.get(ratio)
    met[ratio] = (p, q) if here is None else (here[0] + p, here[1] + q)


class _Chosen:
    """The greatest divergence where each of `times` copies has one of several laws, chosen after the outputs so far of `first` and them."""

    __slots__ = ("_laws", "_layers", "profile")

    def __init__(self, first: Law, laws: Sequence[Law], times: int) -> None:
        self._laws, shifts = (first, tuple(laws)), tuple(dict.fromkeys(ratio for law in laws for ratio in law.ratios))
        self._layers, work = [first.ratios], 0
        for _ in range(times):
            work += len(self._layers[-1]) * sum(len(law.ratios) for law in laws)
            if work > MOST_PRODUCTS:
                raise _too_many(f"{MOST_PRODUCTS} products of probabilities for one epsilon")
            self._layers.append(tuple(dict.fromkeys(before * ratio for before in self._layers[-1] for ratio in shifts)))
        self.profile: Profile = falling(lambda epsilon: accurately(lambda: self._best(epsilon.exp())))

    def _best(self, factor: arb) -> arb:
        """Of P's mass at a ratio r of all outputs, (1 - e^eps/r)+ is won in the end; before, the most over the laws."""
        first, laws = self._laws
        values = {ratio: (1 - factor / _ball(ratio)).max(arb(0)) for ratio in self._layers[-1]}
        moves = [law.masses() for law in laws]
        for layer in reversed(self._layers[:-1]):
            coming = {}
            for before in layer:
                totals = (sum((p * values[before * r] for r, (p, _) in move.met.items()), move.lost) for move in moves)
                best = next(totals)
                for total in totals:
                    best = best.max(total)
                coming[before] = best
            values = coming
        start = first.masses()
        return sum((p * values[ratio] for ratio, (p, _) in start.met.items()), start.lost)


# -- from a mechanism to its laws --------------------------------------------------------------------


def laws_of(run: Run) -> tuple[Law, ...]:
    """The laws that one copy may have, P with the record. Raises Rejected for what is not finite, Undecided for too many."""
    mechanism = run.part.mechanism
    if isinstance(mechanism, Subsample):
        if mechanism.scheme != "poisson" or run.factor != ONE:
            raise Rejected(NAME, "the parts", "only Poisson samples, for neighbours one record apart, are put together here")
        rate = mechanism.rate
        if symbols(rate) or not (certainly_lt(ZERO, rate) and certainly_le(rate, ONE)):
            raise Rejected(NAME, "rate", "it is not certainly in (0, 1]")
        inside = merged(mechanism.part)
        if any(inner.processed or not occurs(inner) for inner in inside):
            raise Rejected(NAME, "the parts", "what is sampled is not seen as it is")
        if len(inside) == 1 and inside[0].times == 1:
            return tuple(sampled(law, rate) for law in laws_of(inside[0]))
        every = [laws_of(inner) for inner in inside]
        if any(len(laws) > 1 for laws in every):
            raise Undecided(f"{NAME}: a composition inside a sample whose parts have several pairs of rows.")
        return (sampled(_all([(laws[0], inner.times) for laws, inner in zip(every, inside, strict=True)]), rate),)
    if not isinstance(mechanism, Table | Exponential | KaryResponse):
        raise Rejected(NAME, "the parts", "one of them is not finite")
    noise, sensitivity, query = leaf(run)
    if query is not None:
        raise Rejected(NAME, "query", "a finite mechanism answers none")
    faces = faces_of(noise, sensitivity)
    if isinstance(run.part, OnePair):
        return (of_face(faces, faces.facing(*run.part.pair)),)
    return tuple(of_face(faces, face) for face in faces.all.values())


def _all(parts: Sequence[tuple[Law, int]]) -> Law:
    if sum(times for _, times in parts) > MOST_COPIES:
        raise _too_many(f"{MOST_COPIES} copies")
    return product([law for law, times in parts for _ in range(times)])


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of Poisson samples of finite mechanisms, and finite mechanisms. Raises Rejected, Undecided, CertificateError.

    parameters: "at", the epsilon, an expression, where the rows for the lower bound are to be the worst ones.
    """
    runs = merged(run.part, run.factor)
    return settled.together(run, settled.several(runs, curve(runs, finite.point(parameters))))


def curve(runs: Sequence[Run], epsilon: arb | None = None) -> Curve:
    """The curve of samples of finite mechanisms together. epsilon: where the laws for the lower bound are to be the worst ones.

    Raises Rejected for other parts, Undecided for too many outcomes or choices.
    """
    if not any(isinstance(run.part.mechanism, Subsample) for run in runs):
        raise Rejected(NAME, "the parts", "none of them is a sample")
    if any(run.mapped for run in runs) and any(run.own or not run.mapped for run in runs):
        raise Rejected(NAME, "the parts", "a map of the data may exchange the neighbours of some of them")
    every = [laws_of(run) for run in runs]
    fixed = [(laws[0], run.times) for laws, run in zip(every, runs, strict=True) if len(laws) == 1]
    open_ = [(laws, run.times) for laws, run in zip(every, runs, strict=True) if len(laws) > 1]
    below = (poisson_subsampling.LOWER,)
    first = _all(fixed)
    if not open_:
        only = _pair(first)
        return Curve(only, only if all(map(occurs, runs)) else None, (NAME,), ASSUMED, below)
    if len(open_) > 1:
        raise Undecided(f"{NAME}: several parts have several pairs of rows; use a loss distribution.")
    (laws, times), at = open_[0], arb(0) if epsilon is None else epsilon
    backward = _Chosen(first.swapped, [law.swapped for law in laws], times)
    upper = Pair(_Chosen(first, laws, times).profile, backward.profile)
    found = [_pair(product([first, *[law] * times])) for law in laws]
    lower = max(found, key=lambda pair: pair.worst(at).mid())
    return Curve(upper, lower if all(map(occurs, runs)) else None, (NAME,), ASSUMED, below)


def _pair(law: Law) -> Pair:
    other = law.swapped
    return Pair(law.profile, other.profile, _event(law, other), rests=(law.rest, other.rest))


def _event(law: Law, other: Law) -> Event:
    def describe(epsilon: arb) -> Mapping[str, str]:
        worse = other if other.profile(epsilon) > law.profile(epsilon) else law
        p, q = worse.steps().line(epsilon)
        return {
            "pair": "a pair of rows for each part, with the record and without it" + (", in the other order" if worse is other else ""),
            "event": f"S = {{outputs whose p/q is above e^{decimals(epsilon)}}}",
            "P": decimals(p),
            "Q": decimals(q),
        }

    return describe
