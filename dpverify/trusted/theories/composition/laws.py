"""Pairs of distributions on finitely many outputs, with all outputs of one ratio taken together; their products, chosen or fixed.

A state of play is how many copies of each run are left, and the product of the ratios p/q of the outputs so far. The most that can still
be won from there, per unit of P's mass, is F(state) with
    F = (1 - e^eps q/p)_+ where nothing is left, and else
    F = the greatest, over the runs that are left and their laws, of the sum over outputs of p F(the state after it),
where an output that q cannot give wins its p for certain and one that p cannot give adds nothing. By induction this is the greatest
P(S) - e^eps Q(S) over all ways of choosing. Products of ratios that are formally equal are one state. A run with one law leaves nothing
to choose and its outputs only inform: it comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from flint import arb

from dpverify.trusted.facts.evaluate import accurately, divergence, falling
from dpverify.trusted.facts.pairs import Pair, Profile, symmetric
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import ONE, Expr
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.theories.composition.ratios import Keys, Ratio, mixed, quotient
from dpverify.trusted.theories.curves.faces import Face, Faces
from dpverify.trusted.theories.curves.steps import Steps, steps_of

MOST_WORK: Final = 200_000
"""The most products of a probability and a value for one epsilon, where there are choices."""
MOST_PRODUCTS: Final = 1_000_000
"""The most of them to put the outcomes of a product of laws together, once for all epsilons."""


@dataclass(frozen=True, slots=True)
class Masses:
    """What only P can give, what only Q can, and both masses at every ratio p/q."""

    lost: arb
    gained: arb
    met: dict[Ratio, tuple[arb, arb]]

    @classmethod
    def of(cls, lost: arb, gained: arb, outputs: Iterable[tuple[Ratio, arb, arb]]) -> Masses:
        met = dict[Ratio, tuple[arb, arb]]()
        for ratio, p, q in outputs:
            here = met.get(ratio)
            met[ratio] = (p, q) if here is None else (here[0] + p, here[1] + q)
        return cls(lost, gained, met)


class Law:
    """Two distributions on finitely many outputs, by the ratios of their probabilities. even: exchanging them certainly changes nothing."""

    __slots__ = ("even", "masses", "ratios")

    def __init__(self, ratios: Iterable[Ratio], compute: Callable[[], Masses], even: bool) -> None:
        self.ratios, self.masses, self.even = tuple(dict.fromkeys(ratios)), per_precision(compute), even

    @property
    def swapped(self) -> Law:
        """Q against P."""

        def compute() -> Masses:
            masses = self.masses()
            return Masses.of(masses.gained, masses.lost, ((ratio.inverse, q, p) for ratio, (p, q) in masses.met.items()))

        return self if self.even else Law((ratio.inverse for ratio in self.ratios), compute, False)


@dataclass(frozen=True, slots=True)
class Choice:
    """Copies of one mechanism, each with one of some laws. closed: every law is there with P and Q exchanged too."""

    laws: tuple[Law, ...]
    times: int
    closed: bool


def of_face(faces: Faces, face: Face) -> Law:
    """The law of two rows."""
    weights = faces.weights
    ratios = {cell: quotient(weights.all[cell[0]].expr, weights.all[cell[1]].expr) for cell, _ in face.cells if all(cell)}

    def compute() -> Masses:
        balls, lost, gained = weights.balls(), arb(0), arb(0)
        for (i, j), times in face.cells:
            lost += balls[i] * times if not j else 0
            gained += balls[j] * times if not i else 0
        both = ((ratios[i, j], balls[i] * times, balls[j] * times) for (i, j), times in face.cells if i and j)
        return Masses.of(lost, gained, both)

    return Law(ratios.values(), compute, faces.swapped(face) is face)


def sampled(law: Law, rate: Expr) -> Law:
    """The mixture of P and Q at a rate in (0, 1] against Q."""
    if rate == ONE:
        return law
    ratios = {ratio: mixed(rate, ratio) for ratio in law.ratios}
    alone = () if law.masses().gained.is_zero() else (mixed(rate, None),)

    def compute() -> Masses:
        p, masses = constant(rate), law.masses()
        both = [(ratios[ratio], p * one + (1 - p) * other, other) for ratio, (one, other) in masses.met.items()]
        without = [(ratio, (1 - p) * masses.gained, masses.gained) for ratio in alone]
        return Masses.of(p * masses.lost, arb(0), [*both, *without])

    return Law((*ratios.values(), *alone), compute, False)


class Product:
    """The product of laws, each so many times. Raises Undecided for too many outcomes."""

    __slots__ = ("_keys", "_laws", "_sorted", "profile", "reached", "work")

    def __init__(self, laws: Sequence[tuple[Law, int]]) -> None:
        self._laws, self._sorted = tuple(laws), per_precision(self._steps)
        self._keys = Keys((ratio for law, _ in laws for ratio in law.ratios), sum(times for _, times in laws))
        self.reached, self.work = {0}, 0
        for law in self._copies():
            self.work += len(self.reached) * len(law.ratios) + 1
            if self.work > MOST_PRODUCTS:
                raise _too_many(f"{MOST_PRODUCTS} products of probabilities to put the outcomes together")
            shifts = [self._keys.key(ratio) for ratio in law.ratios]
            self.reached = {key + shift for key in self.reached for shift in shifts}
        self.profile: Profile = divergence(lambda epsilon: accurately(lambda: self._sorted().excess(epsilon)))

    def _copies(self) -> Iterator[Law]:
        return (law for law, times in self._laws for _ in range(times))

    def rest(self) -> arb:
        """The mass of the outputs that Q cannot give."""
        return self._sorted().p_sum[0]

    def _steps(self) -> Steps:
        lost, _, outcomes = self._outcomes()
        return steps_of(lost, ((p, p * self._keys.ball(-key)) for key, p in outcomes.items()))

    def _outcomes(self) -> tuple[arb, arb, dict[int, arb]]:
        """What only P and only Q can give, and P's mass at every product of ratios."""
        lost, gained, outcomes = arb(0), arb(0), {0: arb(1)}
        for law in self._copies():
            masses, reached = law.masses(), dict[int, arb]()
            lost, gained = lost + (1 - lost) * masses.lost, gained + (1 - gained) * masses.gained
            won = [(self._keys.key(ratio), p) for ratio, (p, _) in masses.met.items()]
            for key, mass in outcomes.items():
                for shift, p in won:
                    here = reached.get(key + shift)
                    reached[key + shift] = mass * p if here is None else here + mass * p
            outcomes = reached
        return lost, gained, outcomes

    def law(self) -> Law:
        """The product as one law."""
        ratios = {key: self._keys.ratio(key) for key in self.reached}

        def compute() -> Masses:
            lost, gained, outcomes = self._outcomes()
            return Masses.of(lost, gained, ((ratios[key], p, p * self._keys.ball(-key)) for key, p in outcomes.items()))

        return Law(ratios.values(), compute, all(law.even for law, _ in self._laws))


def product_pair(laws: Sequence[tuple[Law, int]]) -> Pair:
    """The pair of a product of laws, in both orders. Raises Undecided for too many outcomes."""
    forward = backward = Product(laws)
    if not all(law.even for law, _ in laws):
        backward = Product([(law.swapped, times) for law, times in laws])
    return Pair(forward.profile, backward.profile, rests=(forward.rest, backward.rest))


def dominating_pair(choices: Sequence[Choice]) -> Pair:
    """The greatest divergence over all ways of choosing the next law, in both orders. Raises Undecided for too many states."""
    forward = Game([(choice.laws, choice.times) for choice in choices]).profile
    if all(choice.closed for choice in choices):
        return symmetric(forward)
    return Pair(forward, Game([(tuple(law.swapped for law in choice.laws), choice.times) for choice in choices]).profile)


def _too_many(what: str) -> Undecided:
    return Undecided(f"finite mechanisms: more than {what}. Compose fewer copies, or use a privacy-loss distribution.")


Used = tuple[int, ...]
"""How many copies of each run have been played."""


class Game:
    """The greatest divergence over all ways of choosing. Raises Undecided for too many states."""

    __slots__ = ("_keys", "_last", "_reached", "_runs", "profile", "work")

    def __init__(self, runs: Sequence[tuple[tuple[Law, ...], int]]) -> None:
        self._runs, self.work = tuple(runs), 0
        self._keys = Keys((ratio for laws, _ in runs for law in laws for ratio in law.ratios), sum(times for _, times in runs))
        self._reached = self._states()
        last = self._reached[tuple(times for _, times in runs)]
        self._last = per_precision(lambda: [(key, self._keys.ball(-key)) for key in last])
        self.profile: Profile = falling(lambda epsilon: accurately(lambda: self._best(epsilon)))

    def _next(self, used: Used) -> list[int]:
        """The runs that may come next: one without a choice as long as there is one."""
        left = [i for i, (_, times) in enumerate(self._runs) if used[i] < times]
        forced = [i for i in left if len(self._runs[i][0]) == 1]
        return forced[:1] or left

    def _states(self) -> dict[Used, set[int]]:
        """The products of ratios that each number of copies may have led to, in the order of play."""
        start = (0,) * len(self._runs)
        states, layer = {start: {0}}, [start]
        while layer:
            coming: dict[Used, set[int]] = {}
            for used in layer:
                for i in self._next(used):
                    laws = self._runs[i][0]
                    self.work += len(states[used]) * sum(len(law.ratios) for law in laws) + 1
                    if self.work > MOST_WORK:
                        raise _too_many(f"{MOST_WORK} products of probabilities for one epsilon")
                    shifts = {self._keys.key(ratio) for law in laws for ratio in law.ratios}
                    coming.setdefault(_after(used, i), set()).update(key + shift for key in states[used] for shift in shifts)
            states |= coming
            layer = list(coming)
        return states

    def _best(self, epsilon: arb) -> arb:
        """F at the start, from the end backwards. States where nothing can be won are left out."""
        moves = [[self._move(law) for law in laws] for laws, _ in self._runs]
        values: dict[Used, dict[int, arb]] = {}
        for used, keys in reversed(self._reached.items()):
            after = [(values[_after(used, i)], moves[i]) for i in self._next(used)]
            values[used] = _won(keys, after) if after else self._won_in_the_end(epsilon.exp())
        return values[(0,) * len(self._runs)].get(0, arb(0))

    def _move(self, law: Law) -> tuple[arb, list[tuple[int, arb]]]:
        masses = law.masses()
        return masses.lost, [(self._keys.key(ratio), p) for ratio, (p, _) in masses.met.items()]

    def _won_in_the_end(self, factor: arb) -> dict[int, arb]:
        """(1 - e^eps q/p)_+ where nothing is left."""
        gains = ((key, 1 - factor * ratio) for key, ratio in self._last())
        return {key: gain if gain > 0 else gain.max(arb(0)) for key, gain in gains if not gain <= 0}


def _after(used: Used, run: int) -> Used:
    return (*used[:run], used[run] + 1, *used[run + 1 :])


def _won(keys: Iterable[int], after: Sequence[tuple[dict[int, arb], list[tuple[arb, list[tuple[int, arb]]]]]]) -> dict[int, arb]:
    """The greatest sum over outputs of p F(the state after it), for every product of ratios."""
    won: dict[int, arb] = {}
    for key in keys:
        best: arb | None = None
        for values, moves in after:
            for lost, outputs in moves:
                total = lost
                for shift, p in outputs:
                    value = values.get(key + shift)
                    if value is not None:
                        total = total + p * value
                best = total if best is None else best.max(total)
        if best is not None and not best.is_zero():
            won[key] = best
    return won
