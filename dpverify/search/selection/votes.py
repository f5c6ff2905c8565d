"""Proposes what is proved of noisy votes on one database: at which neighbours it is the worst, and on which grids losses are added."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any, Final

import numpy as np
from flint import arb

from dpverify.search.composition import loss_distribution as losses
from dpverify.search.composition.plans import Plan
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.facts.pairs import Pair, greatest, one_of
from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.errors import DpverifyError, Undecided
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.theories.composition.losses import shares
from dpverify.trusted.theories.selection import votes
from dpverify.trusted.theories.selection.rules import noisy_votes as rule
from dpverify.trusted.theories.selection.rules import votes_epsilon as pure

_BITS: Final = 64
_GUARD: Final = 64
_ROUNDS: Final = 40
_SWEEPS: Final = 2
_MOST_ENUMERATED: Final = 2_000
"""Outputs of all lists together that are looked at one by one."""
_AT: Final = [k / 4 for k in range(24)]
"""Epsilons at which neighbours are compared."""
_MOST_WAYS: Final = 128
"""Ways to choose neighbours that are looked at."""
_IN_ALL: Final = 1 << 19
"""Losses that all lists together are spread over, by all ways to choose neighbours, about."""
_MOST_CELLS: Final = 1500
"""Cells of the grid of one list."""


def propose(_: Claim, digits: int) -> list[dict[str, Any]]:
    """Both bounds on the pure epsilon."""
    bits = int(3.33 * digits) + _GUARD
    return [{"rule": pure.NAME, "evidence": {"side": side}, "prec": bits} for side in ("upper", "lower")]


def plan(run: Run, epsilon: float | None, delta: float, digits: int, order: str = "") -> Plan:
    """The curve, sharp at an epsilon, or where it passes a delta. order: of the neighbours, where one alone is asked about."""
    sigma, lists = votes.read(run.part.mechanism)
    times, places = [lists[each] for each in sorted(lists)], [int(sign < 0) for sign in votes.ORDERS[order]]
    with precision(_BITS):
        answers = [votes.Answer(sigma, each) for each in sorted(lists)]
        pairs = [answer.at_most() for answer in answers]
        if lists.total() == 1:
            asked = (pairs[0].one_way, pairs[0].reversed.one_way)[places[0]] if order else pairs[0]
            at = rational(Fraction(_passes(asked, delta) if epsilon is None else epsilon))
            return {"rule": rule.NAME, "moves": [_worst(answers[0], at, places)]}
        losing = [[[_Loss(met, place) for met in answer.met()] for answer in answers] for place in places]
        moves = _worst_of_all(losing, times, epsilon, delta)
        found: Plan = {"rule": rule.NAME, "moves": moves}
        lowers = [rule.curve(answer, move).lower or pair for answer, move, pair in zip(answers, moves, pairs, strict=True)]
        grids = partial(_grids, times=times, at=(epsilon, None if epsilon is not None else delta), digits=digits)
        chosen, ways = _chosen(answers, times)
        if ways > 1:
            uppers = [_grouped(pair, groups) for pair, groups in zip(pairs, chosen, strict=True)]
            with suppress(Undecided):  # of lists that are too short
                above = grids(uppers, uppers, longest=_IN_ALL // ways) | {"chosen": chosen}
                return found | above | {"below": _below(answers, _worst_ways(losing, times, chosen, moves, epsilon), grids)}
        return found | grids(pairs, lowers)


def _below(answers: Sequence[votes.Answer], ways: Sequence[Sequence[tuple[int, int]]], grids: Callable[..., Plan]) -> Plan:
    """The grids of a lower bound at neighbours of each list, each in so many copies."""
    pairs = [answer.at(move) for answer, way in zip(answers, ways, strict=True) for move, _ in way]
    return grids(pairs, pairs, times=[n for way in ways for _, n in way]) | {"at": [[list(at) for at in way] for way in ways]}


def _worst_ways(
    orders: Sequence[Sequence[Sequence[_Loss]]],
    times: Sequence[int],
    chosen: Sequence[Sequence[Sequence[int]]],
    moves: Sequence[int],
    epsilon: float | None,
) -> list[list[tuple[int, int]]]:
    """For each list which neighbours in how many copies lose the most together at an epsilon; those named where it is not known."""
    copies = (max((len(one.seen) for one in every), default=1) ** count for every, count in zip(orders[0], times, strict=True))
    if epsilon is None or math.prod(copies) > _MOST_ENUMERATED:
        return [[(move, count)] for move, count in zip(moves, times, strict=True)]
    firsts = [[group[0] for group in groups] or [0] for groups in chosen]
    every = [
        [[(move, n) for move, n in zip(first, share, strict=True) if n] for share in shares(count, len(first))]
        for first, count in zip(firsts, times, strict=True)
    ]

    def delta(way: Iterable[list[tuple[int, int]]]) -> float:
        placed = list(enumerate(way))
        return max(_delta([(losing[i][move], n) for i, at in placed for move, n in at if losing[i]], epsilon) for losing in orders)

    return list(max(product(*every), key=delta))


def _delta(parts: Sequence[tuple[_Loss, int]], epsilon: float) -> float:
    """Of parts each so many times."""
    losses, masses = np.zeros(1), np.ones(1)
    for loss, times in parts:
        share, more = np.array(loss.seen).T
        for _ in range(times):
            losses, masses = np.add.outer(losses, more).ravel(), np.multiply.outer(masses, share).ravel()
    return float(np.sum(masses * np.maximum(np.exp(losses) - math.exp(epsilon), 0.0)))


def _grids(
    uppers: Sequence[Pair],
    lowers: Sequence[Pair],
    times: Sequence[int],
    at: tuple[float | None, float | None],
    digits: int,
    longest: int | None = None,
) -> Plan:
    """The grids of both orders. longest: where they are of each choice of the pairs, the losses that all may be spread over."""
    found: Plan = {}
    for key in ("grid", "reverse"):
        found[key] = losses.propose(uppers, times, *at, digits, _MOST_CELLS, None, lowers, longest_list=longest, chosen=longest is not None)
        with suppress(DpverifyError):  # without, the lower bound is less sharp
            found[key] = losses.touching(lowers, found[key]) if longest is None else found[key]
        uppers, lowers = ([pair.reversed for pair in some] for some in (uppers, lowers))
    return found


def _grouped(pair: Pair, groups: Sequence[Sequence[int]]) -> Pair:
    """The greatest of the neighbours that are named, and the greatest of each group for its choices; a pair without groups as it is."""
    return one_of([greatest([pair.choices[move] for move in group]) for group in groups]) if groups else pair


def _chosen(answers: Sequence[votes.Answer], times: Sequence[int]) -> tuple[list[list[list[int]]], int]:
    """For each list its neighbours in groups, the first of each the greatest, or near it; and how many ways to choose there are."""
    found = list[list[list[int]]]()
    if 2 ** len(answers) > _MOST_WAYS:
        return found, 1
    for answer in answers:
        every = [np.array([float(one(arb(at)).mid()) for at in _AT for one in (pair.forward, pair.backward)]) for pair in answer.every()]
        groups = dict[int, list[int]]()
        for move in sorted(range(len(every)), key=lambda move: -every[move].sum()):
            first = next((first for first in groups if (every[move] <= every[first]).all()), move)
            groups.setdefault(first, []).append(move)
        found.append([*groups.values()])

    def ways() -> int:
        return math.prod(math.comb(count + len(groups) - 1, count) for groups, count in zip(found, times, strict=True) if groups)

    while ways() > _MOST_WAYS:  # those that matter least together
        most = max(found, key=len)
        most[-2:] = [[*most[-2], *most[-1]]]
    return found, ways()


def _worst(answer: votes.Answer, at: arb, places: Sequence[int]) -> int:
    """The neighbour of the greatest divergence at an epsilon, in some of the orders."""
    every = [answer.at(move) for move in range(len(answer.moves))]
    heights = [max(float((pair.forward, pair.backward)[place](at).mid()) for place in places) for pair in every]
    return max(range(len(every)), key=lambda i: heights[i]) if every else 0


def _worst_of_all(
    orders: Sequence[Sequence[Sequence[_Loss]]], times: Sequence[int], epsilon: float | None, delta: float
) -> list[int]:  # fmt: skip
    """The neighbour in each list that counts the most where all are told, in the worse of some orders."""

    found = []
    for losing in orders:
        at = _order(losing, times, epsilon, delta)
        moves = [max(range(len(every)), key=lambda i: every[i].cumulant(at)) if every else 0 for every in losing]
        total = _total(losing, times, at)
        found.append(((total - math.log(delta)) / (at - 1) if epsilon is None else total - (at - 1) * epsilon, moves, losing))
    sizes = (max((len(one.seen) for one in every), default=1) ** count for every, count in zip(orders[0], times, strict=True))
    if epsilon is not None and math.prod(sizes) <= _MOST_ENUMERATED:
        return max(_climbed(losing, times, moves, epsilon) for _, moves, losing in found)[1]
    return max(found, key=lambda one: one[0])[1]


def _climbed(losing: Sequence[Sequence[_Loss]], times: Sequence[int], moves: list[int], epsilon: float) -> tuple[float, list[int]]:
    """The delta at an epsilon where each list in turn has the neighbour that is worst beside those of the others, and these."""

    def delta(chosen: Sequence[int]) -> float:
        return _delta([(every[move], count) for every, count, move in zip(losing, times, chosen, strict=True) if every], epsilon)

    best = delta(moves), list(moves)
    for _ in range(_SWEEPS):
        for place, every in enumerate(losing):
            for move in range(len(every)):
                tried = [*best[1][:place], move, *best[1][place + 1 :]]
                best = max(best, (delta(tried), tried))
    return best


class _Loss:
    """What is lost at a neighbour in one order, in floats: for each output how probable it is on the second database, and its loss."""

    __slots__ = ("seen",)

    def __init__(self, met: votes.Met, place: int) -> None:
        both = [(p, q)[::-1] if place else (p, q) for p, q in met]
        self.seen = [(float(q.mid()), float((p / q).log().mid())) for p, q in both if float(q.mid()) > 0]

    def cumulant(self, order: float) -> float:
        """(a - 1) D_a at an order."""
        top = max(order * loss for _, loss in self.seen)
        return top + math.log(sum(mass * math.exp(order * loss - top) for mass, loss in self.seen))


def _total(losing: Sequence[Sequence[_Loss]], times: Sequence[int], order: float) -> float:
    """(a - 1) D_a of all lists, each at its worst neighbour."""
    return sum(count * max((one.cumulant(order) for one in every), default=0.0) for count, every in zip(times, losing, strict=True))


def _order(losing: Sequence[Sequence[_Loss]], times: Sequence[int], epsilon: float | None, delta: float) -> float:
    """The order of the divergence that tells the most of delta at an epsilon, or of epsilon at a delta."""
    orders: list[float] = [1 + 2.0 ** (k / 4) for k in range(-16, 64)]
    if epsilon is not None:
        return min(orders, key=lambda order: _total(losing, times, order) - (order - 1) * epsilon)
    return min(orders, key=lambda order: (_total(losing, times, order) - math.log(delta)) / (order - 1))


def _passes(pair: Pair, delta: float) -> float:
    """About where a curve passes a delta."""
    low, high = 0.0, 1.0
    while high < 2**12 and pair.worst(rational(Fraction(high))).mid() > delta:
        high *= 2
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        low, high = (middle, high) if pair.worst(rational(Fraction(middle))).mid() > delta else (low, middle)
    return high
