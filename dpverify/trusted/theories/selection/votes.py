"""The law of who has the most votes with Gaussian noise, on a database and on its neighbours (theory#noisy-votes)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import product
from operator import mul, truediv
from typing import Final

from flint import arb, ctx

from dpverify.trusted.facts.evaluate import accurately, divergence, falling
from dpverify.trusted.facts.pairs import Pair, Profile
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.errors import Rejected, Undecided, require
from dpverify.trusted.kernel.expr import Expr
from dpverify.trusted.kernel.model import ONE_SIDED, REVERSE, Mechanism, NoisyVotes
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.order.enclosed import integer
from dpverify.trusted.theories.curves.steps import Steps, steps_of

RULE: Final = "noisy-votes"
MOST_NODES: Final = 20_000
MOST_WORK: Final = 20_000_000
"""Values at nodes that are multiplied for the neighbours of one list of votes."""

ORDERS: Final[Mapping[str, tuple[int, ...]]] = {"": (1, -1), ONE_SIDED: (1,), REVERSE: (-1,)}
"""By the order that a claim is about: the signs of the losses, 1 for those of the database with the votes against its neighbours."""

Votes = tuple[int, ...]
Move = tuple[int, int]
"""How many votes the candidate has who loses one, and the one who gains it."""
Met = list[tuple[arb, arb]]
"""How probable outputs are on two databases, those of candidates who are alike on both together."""


def read(mechanism: Mechanism) -> tuple[Expr, Counter[Votes]]:
    """The deviation, and how often there is each list, up to the order of candidates. Raises Rejected for another kind."""
    if not isinstance(mechanism, NoisyVotes):
        raise Rejected(RULE, "the mechanism", "it is no noisy votes of one database")
    return mechanism.sigma, Counter(tuple(sorted(map(int, row))) for row in mechanism.votes)


def moves(votes: Votes) -> list[Move]:
    """Who may lose a vote and who gain it; candidates with as many votes are alike."""
    held = Counter(votes)
    return [(a, b) for a, b in product(sorted(held), repeat=2) if a > 0 and (a != b or held[a] > 1)]


class Winner:
    """How probable it is that a candidate has the most votes with noise, at the precision of the making.

    In units of the deviation the integral of f(t) = phi(t - x_i) times the product of Phi(t - x_j), over the k - 1 others, is h times the
    sum of f(n h) over all integers n, but for at most 1/sinh(2 pi^2/(h^2 k)) of it, whatever h is.
    """

    __slots__ = ("_above", "_off", "_over", "_rates", "_step")

    def __init__(self, sigma: arb, votes: Votes) -> None:
        """Of such a list, and those of its neighbours. Raises Undecided where votes are too far apart for the deviation."""
        values = sorted({more for x in votes for more in (x - 1, x, x + 1) if more >= 0})
        bits, two = (ctx.prec + 8) * arb(2).log(), arb(2).sqrt()
        self._step = step = (arb.pi() * (2 / (len(votes) * bits)).sqrt()).mid()
        self._off = 1 / (2 * (arb.pi() / step) ** 2 / len(votes)).sinh()
        reach = (2 * bits).sqrt() + 1
        first, last = (integer(((value / sigma + far) / step).mid().floor()) for value, far in ((values[0], -reach), (values[-1], reach)))
        require(last - first < MOST_NODES, Undecided(f"{RULE}: the votes are too far apart for noise that is so small."))
        nodes = [step * n for n in range(first, last + 1)]
        self._over, self._rates, self._above = dict[int, list[arb]](), dict[int, list[arb]](), dict[int, arb]()
        for value in values:
            gaps = [node - value / sigma for node in nodes]
            require(gaps[0] < 0 < gaps[-1], Undecided(f"{RULE}: it is not certain that the nodes go beyond the votes."))
            self._over[value] = over = [(-gap / two).erfc() / 2 for gap in gaps]
            densities = ((-gap * gap / 2).exp() / (2 * arb.pi()).sqrt() for gap in gaps)
            self._rates[value] = list(map(truediv, densities, over))
            self._above[value] = (gaps[-1] / two).erfc() / 2

    def all_below(self, votes: Votes) -> list[arb]:
        """At each node how probable it is that everybody is below."""
        powers = ([over**times for over in self._over[value]] for value, times in Counter(votes).items())
        return list(reduce(lambda some, more: list(map(mul, some, more)), powers))

    def law(self, below: Sequence[arb], values: Iterable[int]) -> dict[int, arb]:
        """How probable it is that one candidate wins who has so many votes, by how probable it is that everybody is below each node.

        Beyond the last node f is at most phi, which falls there; before the first one phi rises, and each Phi is at most what it is there.
        """
        found, share = dict[int, arb](), 1 + (-self._off).union(self._off)
        for value in values:
            inside = self._step * sum(map(mul, below, self._rates[value]), arb(0))
            found[value] = (inside + arb(0).union(below[0] + self._above[value])) / share
        return found

    def after(self, below: Sequence[arb], value: int, more: int) -> list[arb]:
        """The same as `all_below` where one candidate who has so many votes has more of them."""
        return [all_ * now / before for all_, now, before in zip(below, self._over[value + more], self._over[value], strict=True)]


class Answer:
    """One list of votes: what is told of it there, and at each of its neighbours."""

    def __init__(self, sigma: Expr, votes: Votes) -> None:
        """Raises Undecided for more neighbours and candidates than are looked at."""
        self.votes, self.moves, self._sigma = votes, moves(votes), sigma
        work = len(self.moves) * len(set(votes)) ** 2
        require(work < MOST_WORK, Undecided(f"{RULE}: too many candidates with different votes."))
        self.met = per_precision(self._met)
        self._steps = per_precision(lambda: [_steps(met) for met in self.met()])

    def _met(self) -> list[Met]:
        """For each move the probabilities of all outputs here and at the neighbour's."""
        winner, found = Winner(constant(self._sigma), self.votes), list[Met]()
        below = winner.all_below(self.votes)
        here, less = winner.law(below, set(self.votes)), {a: winner.after(below, a, -1) for a, _ in self.moves}
        for loser, gainer in self.moves:
            others = Counter(self.votes) - Counter((loser, gainer))
            there = winner.law(winner.after(less[loser], gainer, 1), {*others, loser - 1, gainer + 1})
            alike = [(times * here[value], times * there[value]) for value, times in others.items()]
            found.append([*alike, (here[loser], there[loser - 1]), (here[gainer], there[gainer + 1])])
        return found

    def at_most(self) -> Pair:
        """What is told here against what is told at any neighbour's, and the other order."""

        def worst(order: int) -> Profile:
            def at(epsilon: arb) -> arb:
                return accurately(lambda: reduce(arb.max, (both[order].excess(epsilon) for both in self._steps()), arb(0)))

            return falling(at)

        return Pair(worst(0), worst(1), rests=(_nothing, _nothing), choices=self.every())

    def every(self) -> tuple[Pair, ...]:
        """The same at each neighbour's, where there are several."""
        return tuple(map(self.at, range(len(self.moves)))) if len(self.moves) > 1 else ()

    def at(self, move: int) -> Pair:
        """The same at one neighbour's."""

        def one(order: int) -> Profile:
            return divergence(lambda epsilon: accurately(lambda: self._steps()[move][order].excess(epsilon)))

        return Pair(one(0), one(1), rests=(_nothing, _nothing))


def _steps(met: Met) -> tuple[Steps, Steps]:
    """In both orders; each database may have every output of the other."""
    return steps_of(arb(0), met), steps_of(arb(0), [(q, p) for p, q in met])


def _nothing() -> arb:
    return arb(0)
