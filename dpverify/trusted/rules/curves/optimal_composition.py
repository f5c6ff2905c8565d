"""What a guarantee alone proves: the worst mechanisms with a pure or approximate guarantee, and their optimal composition.

Every (eps0, delta0)-DP mechanism is, on two neighbours, a post-processing of one pair: with probability delta0 an outcome that only the
input itself has, otherwise randomized response with parameter eps0. Adaptive compositions are dominated by the product of these pairs:
the losses are sums of signed eps0, with product binomial probabilities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import comb, prod
from typing import Any, Final

from flint import arb, ctx

from dpverify.trusted.facts import settled
from dpverify.trusted.facts.assumptions import IDEAL
from dpverify.trusted.facts.evaluate import Known, accurately, decimals, divergence
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.pairs import Curve, Pair, symmetric
from dpverify.trusted.language.errors import Rejected, Undecided
from dpverify.trusted.language.expr import ONE, ZERO, Expr, add, call, div, format_expr, mul, neg, num, power, sub, symbols
from dpverify.trusted.language.model import Guarantee, Source
from dpverify.trusted.numbers.balls import exact
from dpverify.trusted.order.compare import certainly_le, certainly_lt, sign
from dpverify.trusted.parts import stated
from dpverify.trusted.parts.forms import randomized_response
from dpverify.trusted.parts.runs import Run, leaf, merged

NAME: Final = "optimal-composition"
STATEMENT: Final = (
    "A mechanism that is (eps0, delta0)-DP is dominated by the pair that reveals the input with probability delta0 and answers by "
    "randomized response with parameter eps0 otherwise. Adaptive compositions are dominated by the product of the pairs of their parts, "
    "with delta(eps) = 1 - product of (1 - delta_i) * (1 - E(1 - e^(eps - L))_+), L the sum of independent signed eps_i."
)
CHECKED: Final = ("every eps_i is at least 0", "every delta_i is in [0, 1]", "the number of outcomes is within reach")
ASSUMED: Final = ()
SOURCE: Final = Source(
    "docs/theory/composition.md#optimal-composition",
    "Kairouz, Oh & Viswanath 2015, Theorems 3.2 to 3.5; Murtagh & Vadhan 2016, Theorem 1.5",
)

MAX_OUTCOMES: Final = 100_000
"""The most distinct sums of signed eps_i: the product of (times + 1)."""
MAX_TERMS: Final = 40
"""The most copies whose composition is written out as one expression."""


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
    _check(parts)
    sums = _Sums(tuple(parts))
    return symmetric(divergence(lambda epsilon: accurately(lambda: sums.delta(epsilon))), sums.event)


def basic(parts: Sequence[Part]) -> tuple[Expr, Expr]:
    """The sums of the epsilons and of the deltas (theory#basic-composition): exact, and looser than `composed`.

    Raises Undecided where a guarantee is none for certain.
    """
    _check(parts, outcomes=False)
    epsilon = add(*(mul(num(part.times), part.epsilon) for part in parts))
    return epsilon, add(*(mul(num(part.times), part.delta) for part in parts))


def delta_expr(eps0: Expr, k: int, epsilon: Expr) -> Expr | None:
    """delta(epsilon) of the composition of k eps0-DP mechanisms as a closed form (theory#closed-profile).

    None where the sign of a term is uncertain, or there are too many terms. Raises Undecided where eps0 is not certainly at least 0.
    """
    _check([Part(eps0, ZERO, k)])
    if k > MAX_TERMS or not certainly_le(ZERO, epsilon):
        return None
    terms: list[Expr] = []
    for i in range(k + 1):
        loss = mul(num(k - 2 * i), eps0)
        if not certainly_lt(epsilon, loss):
            if not certainly_le(loss, epsilon):
                return None
            break  # the losses fall with i
        # in units of exp(k eps0), so that no exponential is large
        left, right = call("exp", mul(num(-i), eps0)), call("exp", sub(epsilon, mul(num(k - i), eps0)))
        terms.append(mul(num(comb(k, i)), sub(left, right)))
    return div(add(*terms), power(add(ONE, call("exp", neg(eps0))), num(k))) if terms else ZERO


def _check(parts: Sequence[Part], outcomes: bool = True) -> None:
    if not parts:
        raise Undecided(f"{NAME}: no parts; a composition has at least one.")
    for part in parts:
        if symbols(part.epsilon) or not certainly_le(ZERO, part.epsilon):
            raise Undecided(f"{NAME}: eps = {format_expr(part.epsilon)} is not certainly a number of at least 0.")
        if symbols(part.delta) or not (certainly_le(ZERO, part.delta) and certainly_le(part.delta, ONE)):
            raise Undecided(f"{NAME}: delta = {format_expr(part.delta)} is not certainly a number in [0, 1].")
        if part.times < 1:
            raise Undecided(f"{NAME}: {part.times} copies of a part; at least one is needed.")
    count = prod(part.times + 1 for part in parts)
    if outcomes and count > MAX_OUTCOMES:
        raise Undecided(
            f"{NAME}: {count} distinct sums of losses, beyond {MAX_OUTCOMES}. Merge equal parts, or use a privacy-loss distribution."
        )


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Answers with the same counts of true and false ones for each part."""

    loss: arb
    p: arb
    q: arb
    false: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Table:
    """Outcomes by falling lower end of their loss, and the sums of p and q before each; no ball of a loss is wider than `width`."""

    outcomes: list[_Outcome]
    lower: list[arb]
    p_before: list[arb]
    q_before: list[arb]
    width: arb


class _Sums:
    """The product of the pairs of all parts."""

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self.parts = parts
        self.epsilons = [Known(part.epsilon) for part in parts]
        self.deltas = [Known(part.delta) for part in parts]
        self.tables: dict[int, _Table] = {}

    def delta(self, epsilon: arb) -> arb:
        """H at an exact epsilon, at the working precision."""
        epsilon = epsilon if epsilon >= 0 else arb(0)
        table, factor = self._table(), epsilon.exp()
        first, doubtful = _split(table, epsilon)
        total = table.p_before[first] - factor * table.q_before[first]
        for outcome in doubtful:
            total += (outcome.p - factor * outcome.q).max(arb(0))
        revealed = self._revealed()
        return revealed + (1 - revealed) * total

    def event(self, epsilon: arb) -> Mapping[str, str]:
        """The answers whose loss exceeds epsilon (the middle of a ball), and those that reveal the input."""
        epsilon = epsilon.mid()
        table = self._table()
        first, doubtful = _split(table, epsilon)
        p, q = table.p_before[first], table.q_before[first]
        for outcome in doubtful:
            p, q = p + outcome.p * self._counts(outcome, epsilon), q + outcome.q * self._counts(outcome, epsilon)
        revealed = self._revealed()
        signed = " + ".join(f"({format_expr(part.epsilon)}) * (true - false of {part.times})" for part in self.parts)
        shown = any(sign(part.delta) != 0 for part in self.parts)
        return {
            "pair": "the worst mechanisms with these guarantees: randomized responses" + (" that may reveal the input" if shown else ""),
            "event": f"{signed} > {decimals(epsilon)}" + (", or the input is revealed" if shown else ""),
            "P": decimals(revealed + (1 - revealed) * p),
            "Q": decimals((1 - revealed) * q),
        }

    def _counts(self, outcome: _Outcome, epsilon: arb) -> arb:
        """1 where the loss certainly exceeds epsilon, 0 where it certainly does not, else their hull."""
        terms = (mul(num(part.times - 2 * j), part.epsilon) for part, j in zip(self.parts, outcome.false, strict=True))
        found = sign(add(*terms, num(-exact(epsilon))))
        return arb(0).union(arb(1)) if found is None else arb(1 if found > 0 else 0)

    def _revealed(self) -> arb:
        """1 - product of (1 - delta_i)."""
        revealed = arb(0)
        for part, delta in zip(self.parts, self.deltas, strict=True):
            one = delta()
            some = -(part.times * (-one).log1p()).expm1() if one < 1 else 1 - (1 - one) ** part.times
            revealed += (1 - revealed) * some
        return revealed

    def _table(self) -> _Table:
        if ctx.prec not in self.tables:
            self.tables[ctx.prec] = self._tabulated()
        return self.tables[ctx.prec]

    def _tabulated(self) -> _Table:
        masses = [_binomial(part.times, epsilon()) for part, epsilon in zip(self.parts, self.epsilons, strict=True)]
        found: list[_Outcome] = []
        for false in product(*(range(part.times + 1) for part in self.parts)):
            loss, p, q = arb(0), arb(1), arb(1)
            for part, epsilon, mass, j in zip(self.parts, self.epsilons, masses, false, strict=True):
                loss += (part.times - 2 * j) * epsilon()
                p, q = p * mass[j], q * mass[part.times - j]
            if not loss <= 0:
                found.append(_Outcome(loss, p, q, false))
        found.sort(key=lambda outcome: exact(outcome.loss.lower()), reverse=True)
        p_before, q_before, width = [arb(0)], [arb(0)], arb(0)
        for outcome in found:
            p_before.append(p_before[-1] + outcome.p)
            q_before.append(q_before[-1] + outcome.q)
            width = width.max(outcome.loss.upper() - outcome.loss.lower()).upper()
        return _Table(found, [outcome.loss.lower() for outcome in found], p_before, q_before, width)


def _binomial(times: int, epsilon: arb) -> list[arb]:
    """The probabilities that j of `times` randomized responses are false, j = 0..times."""
    decay = (-epsilon).exp()
    masses = [(1 + decay) ** (-times)]
    for j in range(times):
        masses.append(masses[-1] * decay * (times - j) / (j + 1))
    return masses


def _split(table: _Table, epsilon: arb) -> tuple[int, list[_Outcome]]:
    """How many of the first outcomes certainly exceed an exact epsilon, and those after them that may."""
    low, high = 0, len(table.lower)
    while low < high:
        middle = (low + high) // 2
        if table.lower[middle] > epsilon:
            low = middle + 1
        else:
            high = middle
    last = low
    while last < len(table.lower) and not table.lower[last] + table.width < epsilon:
        last += 1
    return low, table.outcomes[low:last]


def infer(run: Run, _: Mapping[str, Any], __: Sequence[Fact]) -> Curve:
    """The curve of a composition of binary randomized responses and of mechanisms with one stated (eps, delta).

    Raises Rejected; Undecided where there are too many.
    """
    parts, known, runs = [], False, merged(run.part, run.factor)
    for inner in runs:
        if (guarantee := _approximate(inner)) is not None:
            parts.append(Part(*guarantee, times=inner.times))
            known = True
            continue
        epsilon = randomized_response(inner.part.mechanism)
        if epsilon is None:
            raise Rejected(NAME, "the parts", "one of them is not binary randomized response")
        parts.append(Part(epsilon, times=inner.times))
    both = composed(parts)
    found = Curve(both, None, (NAME,), (IDEAL, stated.STATED)) if known else Curve(both, both, (NAME,), (IDEAL,))
    return settled.together(run, settled.several(runs, found))


def _approximate(run: Run) -> tuple[Expr, Expr] | None:
    """Epsilon and delta of a guarantee with only these; None for all else."""
    if not isinstance(run.part.mechanism, Guarantee):
        return None
    found, sensitivity, query = leaf(run)
    if not isinstance(found, Guarantee) or found.measure != "approximate" or len(found.rows) != 1:
        return None
    if sensitivity is not None or query is not None:
        return None
    stated.check(found)
    epsilon, delta = found.rows[0]
    return epsilon, delta
