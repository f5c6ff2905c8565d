"""Compositions of mechanisms with finitely many outputs, exactly, also where each next pair of rows is chosen after the outputs so far.

A state of play is how many copies of each run are left, and the product R of the ratios q/p of the outputs so far. The most that can
still be won from there, per unit of P's mass, is F(state) with
    F = (1 - e^eps R)_+ where nothing is left, and else
    F = the greatest, over the runs that are left and their faces, of the sum over outputs of p F(the state after it),
where an output that q cannot give wins its p for certain and one that p cannot give adds nothing. By induction this is the greatest
P(S) - e^eps Q(S) over all ways of choosing. Products of ratios that are formally equal are one state. A run with one face leaves
nothing to choose and its outputs only inform: it comes first.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, product, repeat
from math import gcd, lcm, prod
from typing import Any, Final

from flint import arb, ctx

from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import Known, accurately, decimals, divergence, falling
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.pairs import Curve, Pair, symmetric
from dpverify.trusted.language.errors import CertificateError, Rejected, Undecided
from dpverify.trusted.language.expr import ONE, Add, Call, Expr, Mul, Num, Pow, call, mul, num
from dpverify.trusted.language.model import Mechanism, Source
from dpverify.trusted.numbers.balls import precision
from dpverify.trusted.parts.neighbours import OnePair
from dpverify.trusted.parts.runs import Run, leaf, merged, occurs
from dpverify.trusted.rules.curves import finite
from dpverify.trusted.rules.curves.finite import Face, Faces, Weight, faces_of
from dpverify.trusted.rules.curves.steps import Steps, steps_of

NAME: Final = "finite-composition"
STATEMENT: Final = (
    "In an adaptive composition of finite mechanisms delta(eps) is at most F(e^eps), the greatest P(S) - e^eps Q(S) of an adversary who "
    "chooses the next part, and two adjacent rows of it in either order, after seeing all outputs so far: F_0(a) = (1 - a)_+ and "
    "F_(j+1)(a) = max over choices of sum over outputs of p F_j(a q/p). As a greatest of finitely many profiles F is convex in a, does not "
    "rise, is 1 at a = 0 and at least (1 - a)_+, hence the profile of one pair; its two orders agree, as every choice may be swapped. From "
    "below, the product of one pair of rows for each part is what two neighbours have. Both are the same where no part has two pairs."
)
CHECKED: Final = (
    "every row is a distribution, exactly",
    "which probabilities are zero",
    "which products of ratios are formally equal",
    "the number of states is within reach",
)
ASSUMED: Final = ("the sampler is ideal",)
SOURCE: Final = Source("docs/theory/composition.md#finite-composition", "Zhu, Dong & Wang 2022, on which functions are profiles")

MOST_WORK: Final = 60_000
"""The most products of a probability and a value for one epsilon, where there are choices."""
MOST_PRODUCTS: Final = 1_000_000
"""The most of them to put the outcomes of a product of faces together, once for all epsilons."""
MOST_COMBINED: Final = 64
"""Up to so many combinations of faces the best one is looked for, within the same work."""
_CHOICE_BITS: Final = 64

Numbers = tuple[tuple[int, int], ...]
"""Probabilities by number in their mechanism's weights, each with how many outputs have it."""


@dataclass(frozen=True, slots=True)
class Part:
    """`times` copies of a finite mechanism without free parameters. sensitivity, facing: as `finite.curve` takes them."""

    mechanism: Mechanism
    sensitivity: Expr | None = None
    times: int = 1
    facing: tuple[int, int] | None = None


# -- products of ratios ------------------------------------------------------------------------------


def factors(expr: Expr) -> Iterator[tuple[Expr, Fraction]]:
    """Bases and exponents whose product is, up to its sign, the expression; exponents are integers but for bases that are exponentials."""
    if isinstance(expr, Num):
        yield Num(Fraction(abs(expr.value.numerator))), Fraction(1)
        yield Num(Fraction(expr.value.denominator)), Fraction(-1)
    elif isinstance(expr, Mul):
        for factor in expr.args:
            yield from factors(factor)
    elif isinstance(expr, Pow) and isinstance(expr.exponent, Num) and expr.exponent.value.denominator == 1:
        for base, exponent in factors(expr.base):
            yield base, exponent * expr.exponent.value
    elif isinstance(expr, Call) and expr.name == "exp":
        for term in expr.args[0].args if isinstance(expr.args[0], Add) else expr.args:
            coefficient, rest = _scaled(term)
            yield Call("exp", (rest,)), coefficient
    else:
        yield expr, Fraction(1)


def _scaled(term: Expr) -> tuple[Fraction, Expr]:
    """A term as a rational number times the rest."""
    if isinstance(term, Num):
        return term.value, ONE
    if isinstance(term, Mul) and isinstance(term.args[0], Num):
        return term.args[0].value, mul(*term.args[1:])
    return Fraction(1), term


def coprime(integers: Iterable[int]) -> list[int]:
    """Pairwise coprime integers above 1 of which all of these, at least 1, are products of powers."""
    base, pending = list[int](), list(integers)
    while pending:
        new = pending.pop()
        if new == 1:
            continue
        for i, old in enumerate(base):
            if (common := gcd(new, old)) > 1:
                base.pop(i)
                pending += [common, new // common, old // common]
                break
        else:
            base.append(new)
    return sorted(base)


class _Ratios:
    """Products of ratios of probabilities as integers: equal integers are equal products, and products are sums of them.

    An integer holds the exponents of all generators as balanced digits.
    """

    __slots__ = ("_generators", "_places", "_powers", "_radix", "_units", "_vectors", "_worth")

    def __init__(self, weights: Sequence[Weight], times: int) -> None:
        found = [list(factors(weight.expr)) for weight in weights]
        self._units = dict[Expr, int]()
        for base, exponent in (pair for powers in found for pair in powers):
            self._units[base] = lcm(self._units.get(base, 1), exponent.denominator)
        integers = {int(base.value) for base in self._units if isinstance(base, Num)}
        primes = coprime(integers)
        others = [base for base in self._units if not isinstance(base, Num)]
        self._places = {base: i for i, base in enumerate([*map(num, primes), *others])}
        self._generators = [Known(self._root(base)) for base in self._places]
        self._vectors = {weight: self._vector(powers, primes) for weight, powers in zip(weights, found, strict=True)}
        largest = max((abs(n) for vector in self._vectors.values() for n in vector.values()), default=0)
        self._radix: int = 4 * max(times, 1) * max(largest, 1) + 3  # a ratio is of two weights, and both signs have room
        self._worth = list(accumulate(repeat(self._radix, len(self._generators)), operator.mul, initial=1))
        self._powers = dict[tuple[int, int, int], arb]()

    def _root(self, base: Expr) -> Expr:
        """The generator: exponentials are powers of a root of theirs."""
        if isinstance(base, Call) and base.name == "exp":
            return call("exp", mul(Num(Fraction(1, self._units[base])), base.args[0]))
        return base

    def _vector(self, powers: Sequence[tuple[Expr, Fraction]], primes: Sequence[int]) -> dict[int, int]:
        vector: dict[int, int] = {}
        for base, exponent in powers:
            if not isinstance(base, Num):
                vector[self._places[base]] = vector.get(self._places[base], 0) + int(exponent * self._units[base])
                continue
            for place, prime in enumerate(primes):
                value = int(base.value)
                while value % prime == 0:
                    value //= prime
                    vector[place] = vector.get(place, 0) + int(exponent)
        return vector

    def key(self, p: Weight, q: Weight) -> int:
        """q/p."""
        above, below = self._vectors[q], self._vectors[p]
        return sum((above.get(place, 0) - below.get(place, 0)) * self._worth[place] for place in {*above, *below})

    def ball(self, key: int) -> arb:
        """The product at the precision of the moment. All are positive, whatever the signs of the generators."""
        half, ball = self._radix // 2, arb(1)
        for place in range(len(self._generators)):
            exponent = (key + half) % self._radix - half
            key = (key - exponent) // self._radix
            if exponent:
                ball *= self._power(place, exponent)
        return ball

    def _power(self, place: int, exponent: int) -> arb:
        found = self._powers.get((ctx.prec, place, exponent))
        if found is None:
            found = self._powers[ctx.prec, place, exponent] = abs(self._generators[place]()) ** exponent
        return found


# -- faces and their products ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Move:
    """A face as one step of play. lost: where q has none; won: probabilities of p by the ratio q/p."""

    faces: Faces
    face: Face
    lost: Numbers
    won: Mapping[int, Numbers]

    def balls(self) -> tuple[arb, list[tuple[int, arb]]]:
        """The lost mass, and ratios with p's mass there."""
        balls = self.faces.weights.balls()

        def mass(numbers: Numbers) -> arb:
            return sum((balls[i] * times for i, times in numbers), arb(0))

        return mass(self.lost), [(ratio, mass(numbers)) for ratio, numbers in self.won.items()]


def _move(faces: Faces, face: Face, ratios: _Ratios) -> _Move:
    lost: list[tuple[int, int]] = []
    won: dict[int, list[tuple[int, int]]] = {}
    weights = faces.weights.all
    for (i, j), times in face.cells:
        if i and j:
            won.setdefault(ratios.key(weights[i], weights[j]), []).append((i, times))
        elif i:
            lost.append((i, times))
    return _Move(faces, face, tuple(lost), {ratio: tuple(numbers) for ratio, numbers in won.items()})


@dataclass(frozen=True, slots=True)
class _Run:
    """Copies of one mechanism, with all its faces as moves."""

    faces: Faces
    moves: tuple[_Move, ...]
    times: int

    def swapped(self, move: _Move) -> _Move:
        """The face of q against p."""
        other = self.faces.swapped(move.face)
        return next(found for found in self.moves if found.face is other)


def _refuse(what: str) -> Undecided:
    return Undecided(f"{NAME}: more {what}. Compose fewer copies, or use a privacy-loss distribution.")


class _Product:
    """The product of one face for each run, all copies of a run the same face."""

    __slots__ = ("_moves", "_ratios", "_runs", "_steps", "profile", "work")

    def __init__(self, runs: Sequence[_Run], moves: Sequence[_Move], ratios: _Ratios) -> None:
        self._runs, self._moves, self._ratios = tuple(runs), tuple(moves), ratios
        self._steps = dict[int, Steps]()
        self.work = self._counted()
        self.profile = divergence(lambda epsilon: accurately(lambda: self._now().excess(epsilon)))

    def rest(self) -> arb:
        """The mass of the outputs that q cannot give."""
        return self._now().p_sum[0]

    def event(self, epsilon: arb) -> Mapping[str, str]:
        """The outputs whose ratio p/q certainly exceeds e^epsilon."""
        p, q = self._now().line(epsilon)
        pairs = [f"inputs {move.face.inputs[0]} and {move.face.inputs[1]}" for move in self._moves]
        return {
            "pair": "; ".join(f"{pair} of {run.times}" for pair, run in zip(pairs, self._runs, strict=True)),
            "event": f"outputs with log(P/Q) > {decimals(epsilon)}, summed over the parts",
            "P": decimals(p),
            "Q": decimals(q),
        }

    def _each(self) -> Iterator[_Move]:
        return (move for move, run in zip(self._moves, self._runs, strict=True) for _ in range(run.times))

    def _counted(self) -> int:
        """How many products it takes to put the outcomes together. Raises Undecided where that is too many."""
        keys, work = {0}, 0
        for move in self._each():
            work += len(keys) * len(move.won) + 1
            if work > MOST_PRODUCTS:
                raise _refuse(f"than {MOST_PRODUCTS} products of probabilities to put the outcomes together")
            keys = {key + ratio for key in keys for ratio in move.won}
        return work

    def _now(self) -> Steps:
        if ctx.prec not in self._steps:
            self._steps[ctx.prec] = self._outcomes()
        return self._steps[ctx.prec]

    def _outcomes(self) -> Steps:
        infinite, masses = arb(0), {0: arb(1)}
        for move, run in zip(self._moves, self._runs, strict=True):
            lost, won = move.balls()
            for _ in range(run.times):
                infinite += (1 - infinite) * lost
                reached: dict[int, arb] = {}
                for key, mass in masses.items():
                    for ratio, p in won:
                        here = reached.get(key + ratio)
                        reached[key + ratio] = mass * p if here is None else here + mass * p
                masses = reached
        return steps_of(infinite, ((p, p * self._ratios.ball(key)) for key, p in masses.items()))


# -- choices -----------------------------------------------------------------------------------------

Used = tuple[int, ...]
"""How many copies of each run have been played."""


class _Adaptive:
    """The greatest divergence over all ways of choosing."""

    __slots__ = ("_keys", "_leaves", "_ratios", "_runs", "profile")

    def __init__(self, runs: Sequence[_Run], ratios: _Ratios, most: int) -> None:
        self._runs, self._ratios = tuple(runs), ratios
        self._keys = self._reached(most)
        self._leaves = dict[int, list[tuple[int, arb]]]()
        self.profile = falling(lambda epsilon: accurately(lambda: self._best(epsilon)))

    def _next(self, used: Used) -> list[int]:
        """The runs that may come next: one without a choice as long as there is one."""
        left = [i for i, run in enumerate(self._runs) if used[i] < run.times]
        forced = [i for i in left if len(self._runs[i].moves) == 1]
        return forced[:1] or left

    def _reached(self, most: int) -> dict[Used, set[int]]:
        """The products of ratios that each number of copies may have led to, in the order of play. Raises Undecided for too many."""
        start = (0,) * len(self._runs)
        found, layer, work = {start: {0}}, [start], 0
        while layer:
            coming: dict[Used, set[int]] = {}
            for used in layer:
                for i in self._next(used):
                    moves = self._runs[i].moves
                    work += len(found[used]) * sum(len(move.won) for move in moves) + 1
                    if work > most:
                        raise _refuse(f"than {most} products of probabilities for one epsilon")
                    shifts = {ratio for move in moves for ratio in move.won}
                    coming.setdefault(_after(used, i), set()).update(key + shift for key in found[used] for shift in shifts)
            found |= coming
            layer = list(coming)
        return found

    def _best(self, epsilon: arb) -> arb:
        """F at the start, from the end backwards. States where nothing can be won are left out."""
        factor = epsilon.exp()
        moves = [[move.balls() for move in run.moves] for run in self._runs]
        values: dict[Used, dict[int, arb]] = {}
        for used, keys in reversed(self._keys.items()):
            after = [(values[_after(used, i)], moves[i]) for i in self._next(used)]
            values[used] = _won(keys, after) if after else self._final(factor)
        return values[(0,) * len(self._runs)].get(0, arb(0))

    def _final(self, factor: arb) -> dict[int, arb]:
        """(1 - e^eps R)_+ where nothing is left."""
        if ctx.prec not in self._leaves:
            last = self._keys[tuple(run.times for run in self._runs)]
            self._leaves[ctx.prec] = [(key, self._ratios.ball(key)) for key in last]
        gains = ((key, 1 - factor * ratio) for key, ratio in self._leaves[ctx.prec])
        return {key: gain if gain > 0 else gain.max(arb(0)) for key, gain in gains if not gain <= 0}


def _after(used: Used, run: int) -> Used:
    return (*used[:run], used[run] + 1, *used[run + 1 :])


def _won(keys: Iterable[int], after: Sequence[tuple[dict[int, arb], list[tuple[arb, list[tuple[int, arb]]]]]]) -> dict[int, arb]:
    """The greatest sum over outputs of p F(the state after it), for every product of ratios."""
    found: dict[int, arb] = {}
    for key in keys:
        best: arb | None = None
        for values, moves in after:
            for lost, won in moves:
                total = lost
                for ratio, p in won:
                    value = values.get(key + ratio)
                    if value is not None:
                        total = total + p * value
                best = total if best is None else best.max(total)
        if best is not None and not best.is_zero():
            found[key] = best
    return found


# -- curves ------------------------------------------------------------------------------------------


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of a composition of finite mechanisms. Raises Rejected; Undecided where there are too many; CertificateError.

    parameters: "at", the epsilon, an expression, where the rows for the lower bound are to be the worst ones; "most", of the work for one
    epsilon, where less than usual is wanted.
    """
    most = parameters.get("most", MOST_WORK)
    if type(most) is not int or not 1 <= most <= MOST_WORK:
        raise CertificateError(f"{NAME}: 'most' must be an integer from 1 to {MOST_WORK}.")
    parts, runs = [], merged(run.part, run.factor)
    for inner in runs:
        mechanism, sensitivity, query = leaf(inner)
        if query is not None:
            raise Rejected(NAME, "query", "a finite mechanism answers none")
        facing = inner.part.pair if isinstance(inner.part, OnePair) else None
        parts.append(Part(mechanism, sensitivity, inner.times, facing))
    found = curve(parts, finite.point(parameters), all(map(occurs, runs)), most)
    return settled.together(run, settled.several(runs, found))


def curve(parts: Sequence[Part], epsilon: arb | None = None, occur: bool = True, most: int = MOST_WORK) -> Curve:
    """The curve of finite mechanisms together.

    epsilon: where the combination of rows for the lower bound is to be the worst one; 0 without it.
    occur: neighbours as these mechanisms have them certainly occur; no lower bound without it.
    most: products of probabilities for one epsilon, where there are choices.
    Raises Rejected as `finite.curve` does, Undecided where there are too many states.
    """
    every = [faces_of(part.mechanism, part.sensitivity) for part in parts]
    weights = list(dict.fromkeys(weight for faces in every for weight in faces.weights.all[1:]))
    ratios = _Ratios(weights, sum(part.times for part in parts))
    runs = [
        _Run(faces, tuple(_move(faces, face, ratios) for face in faces.all.values()), part.times)
        for faces, part in zip(every, parts, strict=True)
    ]
    if all(part.facing or len(run.moves) == 1 for part, run in zip(parts, runs, strict=True)):
        faces = [run.faces.facing(*part.facing) if part.facing else run.moves[0].face for part, run in zip(parts, runs, strict=True)]
        moves = [next(move for move in run.moves if move.face is face) for run, face in zip(runs, faces, strict=True)]
        if any(run.swapped(move) is not move for run, move in zip(runs, moves, strict=True)):
            alone = _both_orders(runs, moves, ratios)
            return Curve(alone, alone if occur else None, (NAME,), ASSUMED)
    if all(len(run.moves) == 1 for run in runs):
        only = _Product(runs, [run.moves[0] for run in runs], ratios)
        pair = Pair(only.profile, only.profile, only.event, rests=(only.rest, only.rest))
        return Curve(pair, pair if occur else None, (NAME,), ASSUMED)
    upper = symmetric(_Adaptive(runs, ratios, most).profile)
    occur = occur and not any(part.facing for part in parts)  # the others choose their rows, and these must not
    return Curve(upper, _lower(runs, ratios, arb(0) if epsilon is None else epsilon) if occur else None, (NAME,), ASSUMED)


def _lower(runs: Sequence[_Run], ratios: _Ratios, epsilon: arb) -> Pair:
    """The product of one face for each run, and of the same faces swapped."""
    with precision(_CHOICE_BITS):
        moves = _best_moves(runs, ratios, epsilon)
    found = _both_orders(runs, moves, ratios)
    assert found.rests is not None
    forward, backward = found.rests
    if found.forward(epsilon).overlaps(found.backward(epsilon)) and backward() > forward():
        return replace(found.reversed, event=found.event)  # a sample keeps what the first of the two alone has
    return found


def _both_orders(runs: Sequence[_Run], moves: Sequence[_Move], ratios: _Ratios) -> Pair:
    forward = _Product(runs, moves, ratios)
    backward = _Product(runs, [run.swapped(move) for run, move in zip(runs, moves, strict=True)], ratios)

    def event(at: arb) -> Mapping[str, str]:
        return (backward if backward.profile(at) > forward.profile(at) else forward).event(at)

    return Pair(forward.profile, backward.profile, event, rests=(forward.rest, backward.rest))


def _best_moves(runs: Sequence[_Run], ratios: _Ratios, epsilon: arb) -> Sequence[_Move]:
    """The faces whose product is worst at an epsilon where there are few combinations, else those that are worst by themselves."""
    alone = [max(run.moves, key=lambda move: move.face.profile(epsilon).mid()) for run in runs]
    count = prod(len(run.moves) for run in runs)
    if count > MOST_COMBINED or count * _Product(runs, alone, ratios).work > MOST_PRODUCTS:
        return alone
    combined = [(_Product(runs, moves, ratios), moves) for moves in product(*(run.moves for run in runs))]
    return max(combined, key=lambda found: found[0].profile(epsilon).mid())[1]
