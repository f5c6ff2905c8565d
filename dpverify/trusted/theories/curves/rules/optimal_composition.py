"""What a guarantee alone proves: the worst mechanisms with a pure or approximate guarantee, and their optimal composition.

Every (eps0, delta0)-DP mechanism is, on two neighbours, a post-processing of one pair: with probability delta0 an outcome that only the
input itself has, otherwise randomized response with parameter eps0. Adaptive compositions are dominated by the product of these pairs:
the losses are sums of signed eps0, with product binomial probabilities.

Theorem: A mechanism that is (eps0, delta0)-DP is dominated by the pair that reveals the input with probability delta0 and answers by
randomized response with parameter eps0 otherwise. Adaptive compositions are dominated by the product of the pairs of their parts, with
delta(eps) = 1 - product of (1 - delta_i) * (1 - E(1 - e^(eps - L))_+), L the sum of independent signed eps_i.

Checked:
- every eps_i is at least 0
- every delta_i is in [0, 1]
- the number of outcomes is within reach

Source: docs/theory/composition.md#optimal-composition, Kairouz, Oh & Viswanath 2015, Theorems 3.2 to 3.5; Murtagh & Vadhan 2016, Theorem
1.5
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

from flint import arb

from dpverify.trusted.combinators import stated
from dpverify.trusted.combinators.responses import randomized_response
from dpverify.trusted.combinators.runs import Run, leaf, merged
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import accurately, divergence, known
from dpverify.trusted.facts.pairs import Curve, Pair, symmetric
from dpverify.trusted.kernel.assumptions import IDEAL
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, format_expr
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim, Filter, Guarantee
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.theories.curves.steps import Steps, steps_of

NAME: Final = "optimal-composition"
ASSUMED: Final = ()

MAX_OUTCOMES: Final = 100_000
"""The most distinct sums of signed eps_i: the product of (times + 1)."""


@dataclass(frozen=True, slots=True)
class Part:
    """`times` mechanisms with the same guarantee: epsilon in nats, delta a probability; constants both."""

    epsilon: Expr
    delta: Expr = ZERO
    times: int = 1


def pair(eps0: Expr) -> Pair:
    """The pair that dominates every eps0-DP mechanism: randomized response. Raises Undecided where eps0 is not certainly >= 0."""
    return composed([Part(eps0)])


def guarantee(eps0: Expr, delta0: Expr) -> Pair:
    """The pair that dominates every (eps0, delta0)-DP mechanism. Raises Undecided where these are not certainly a guarantee."""
    return composed([Part(eps0, delta0)])


def composed(parts: Sequence[Part]) -> Pair:
    """The pair that dominates every adaptive composition of mechanisms with these guarantees; some such mechanisms have it.

    The same in both orders. Raises Undecided where a guarantee is none for certain, or the outcomes are too many.
    """
    check_parts(parts)
    sums = _Sums(tuple(parts))
    return symmetric(divergence(lambda epsilon: accurately(lambda: sums.delta(epsilon))))


def check_parts(parts: Sequence[Part]) -> None:
    """Raises Undecided unless guarantees are such for certain, and their outcomes within reach."""
    for part in parts:
        if not certainly_le(ZERO, part.epsilon):
            raise Undecided(f"{NAME}: eps = {format_expr(part.epsilon)} is not certainly a number of at least 0.")
        if not (certainly_le(ZERO, part.delta) and certainly_le(part.delta, ONE)):
            raise Undecided(f"{NAME}: delta = {format_expr(part.delta)} is not certainly a number in [0, 1].")
    count = prod(part.times + 1 for part in parts)
    if count > MAX_OUTCOMES:
        raise Undecided(
            f"{NAME}: {count} distinct sums of losses, beyond {MAX_OUTCOMES}. Merge equal parts, or use a privacy-loss distribution."
        )


class _Sums:
    """The product of the pairs of all parts."""

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self._parts = [(known(part.epsilon), known(part.delta), part.times) for part in parts]
        self._answers = per_precision(self._likely)

    def delta(self, epsilon: arb) -> arb:
        """H at an exact epsilon, at the working precision."""
        revealed = self._revealed()
        return revealed + (1 - revealed) * self._answers().excess(epsilon if epsilon >= 0 else arb(0))

    def _revealed(self) -> arb:
        """1 - product of (1 - delta_i)."""
        revealed = arb(0)
        for _, delta, times in self._parts:
            one = delta()
            some = -(times * (-one).log1p()).expm1() if one < 1 else 1 - (1 - one) ** times
            revealed += (1 - revealed) * some
        return revealed

    def _likely(self) -> Steps:
        """The answers, those with the same counts of true and false ones for each part together; not those that are likelier under q."""
        met = [(arb(1), arb(1))]
        for epsilon, _, times in self._parts:
            masses = _binomial(times, epsilon())
            met = [(p * masses[j], q * masses[times - j]) for p, q in met for j in range(times + 1)]
        return steps_of(arb(0), [(p, q) for p, q in met if not p <= q])


def _binomial(times: int, epsilon: arb) -> list[arb]:
    """The probabilities that j of `times` randomized responses are false, j = 0..times."""
    decay = (-epsilon).exp()
    masses = [(1 + decay) ** (-times)]
    for j in range(times):
        masses.append(masses[-1] * decay * (times - j) / (j + 1))
    return masses


def infer(run: Run, _: Mapping[str, Any], __: Sequence[Fact]) -> Curve:
    """The curve of a composition of binary randomized responses and of mechanisms with one stated (eps, delta).

    Raises Rejected; Undecided where there are too many.
    """
    parts, known, runs = list[Part](), dict[Guarantee, bool](), merged(run.part, run.factor)
    for inner in runs:
        if (guarantee := _approximate(inner)) is not None:
            epsilon, delta = guarantee.rows[0]
            parts.append(Part(epsilon, delta, times=inner.times))
            known[guarantee] = isinstance(guarantee, Filter) and inner.factor == ONE  # of some parts that is all that they have
            continue
        response = randomized_response(inner.part.mechanism)
        if response is None:
            raise Rejected(NAME, "the parts", "one of them is not binary randomized response")
        parts.append(Part(response, times=inner.times))
    both, lines = composed(parts), dict.fromkeys(line for one in known for line in stated.grounds(one))
    rules = (NAME, *dict.fromkeys(name for one in known for name in stated.theorem_of(one)))
    below = (stated.ANY_PARTS,) if known else ()
    whole = Curve(both, both if all(known.values()) else None, rules, (IDEAL, *lines), below)
    return settled.together(run, settled.several(runs, whole))


def _approximate(run: Run) -> Guarantee | None:
    """A guarantee of one epsilon and delta alone; None for all else."""
    if not isinstance(run.part.mechanism, Guarantee):
        return None
    asked = leaf(run)
    guarantee = asked.mechanism
    if not isinstance(guarantee, Guarantee) or guarantee.measure != "approximate" or len(guarantee.rows) != 1:
        return None
    if asked != Claim(guarantee, None):
        return None
    stated.check(guarantee)
    return guarantee
