"""Finite mechanisms: their rows, adjacent pairs and log-ratios, checked, for all that is proved about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from flint import arb

from dpverify.trusted.kernel import compare
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, add, call, div, format_expr, mul, neg, power, sub
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import Claim, Domain, Exponential, Table
from dpverify.trusted.language.logarithms import neg_log

WHAT: Final = "finite mechanism"

Domains = Mapping[str, Domain]
Cell = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Finite:
    """A finite mechanism: its ordered adjacent pairs, what each pair's log-ratios are divided by, and its rows.

    weights: probabilities for a table, exponents beta * score (less the row's greatest, with the logarithm of the weight of the output) for
    an exponential mechanism.
    sums: each row's normaliser.
    """

    weights: tuple[tuple[Expr, ...], ...]
    pairs: tuple[tuple[int, int], ...]
    divisors: Mapping[tuple[int, int], Expr]
    sums: tuple[Expr, ...]
    exponents: bool
    domains: Domains

    def cells(self) -> Iterator[Cell]:
        """Every adjacent ordered pair with every output."""
        return ((a, b, y) for a, b in self.pairs for y in range(len(self.weights[a])))

    def is_zero(self, x: int, y: int) -> bool:
        """Whether output y is impossible on x. Raises Rejected where that cannot be told."""
        return not self.exponents and sign(self.weights[x][y], self.domains, f"row {x}, entry {y}") == 0

    def probability(self, x: int, y: int) -> Expr:
        """P[x, y] as an expression."""
        weight = self.weights[x][y]
        return div(call("exp", weight), self.sums[x]) if self.exponents else weight

    def ratio(self, cell: Cell) -> Fraction | None:
        """P[x, y] / P[x', y] where both are rational and non-zero and nothing divides its logarithm."""
        a, b, y = cell
        p, q = self.weights[a][y], self.weights[b][y]
        if self.exponents or (a, b) in self.divisors or not isinstance(p, Num) or not isinstance(q, Num):
            return None
        return p.value / q.value

    def loss(self, cell: Cell) -> Expr:
        """log P[x, y] - log P[x', y], divided by the distance in the metric form."""
        a, b, y = cell
        p, q = self.weights[a][y], self.weights[b][y]
        if self.exponents:
            loss = add(p, neg(q), call("log", self.sums[b]), neg(call("log", self.sums[a])))
        else:
            ratio = self.ratio(cell)
            loss = sub(neg_log(q), neg_log(p)) if ratio is None else call("log", Num(ratio))
        divisor = self.divisors.get((a, b))
        return loss if divisor is None else div(loss, divisor)


class LogBalls:
    """log P[x, y] as balls at the precision of its making, for a mechanism without parameters."""

    __slots__ = ("_logs", "_sums", "_table")

    def __init__(self, table: Finite) -> None:
        self._table, self._logs = table, dict[tuple[int, int], arb]()
        self._sums = [constant(total).log() for total in table.sums]

    def _log(self, x: int, y: int) -> arb:
        if (x, y) not in self._logs:
            weight = constant(self._table.weights[x][y])
            self._logs[x, y] = weight - self._sums[x] if self._table.exponents else weight.log()
        return self._logs[x, y]

    def loss(self, cell: Cell) -> arb:
        """The cell's log-ratio; not finite where a probability is zero."""
        a, b, y = cell
        loss, divisor = self._log(a, y) - self._log(b, y), self._table.divisors.get((a, b))
        return loss if divisor is None else loss / constant(divisor)


@remembered(32)
def finite(claim: Claim) -> Finite:
    """The claim's finite mechanism, with pairs and scores checked. Raises Rejected with what is wrong and where."""
    mechanism, domains = claim.mechanism, dict(claim.domains)
    if isinstance(mechanism, Table):
        for x, row in enumerate(mechanism.rows):
            for y, entry in enumerate(row):
                sign(entry, domains, f"row {x}, entry {y}")  # at all parameters 0, or at none
        whole: tuple[Expr, ...] = (ONE,) * len(mechanism.rows)
        return Finite(mechanism.rows, ordered_pairs(mechanism), {}, whole, False, domains)
    if not isinstance(mechanism, Exponential):
        raise Rejected(WHAT, "mechanism", "only tables and finite exponential mechanisms have finitely many outputs")
    pairs, divisors = score_pairs(claim)
    exponents, sums = [], []
    for row in mechanism.scores:
        # the greatest rational score is taken out, so that rows that differ by a shift get the same normaliser
        top = max((score.value for score in row if isinstance(score, Num)), default=Fraction(0))
        shifted = [mul(mechanism.beta, sub(score, Num(top))) for score in row]
        base = mechanism.weights or (ONE,) * len(row)
        exponents.append(tuple(add(term, call("log", weight)) for term, weight in zip(shifted, base, strict=True)))
        sums.append(add(*sorted((mul(weight, call("exp", term)) for term, weight in zip(shifted, base, strict=True)), key=format_expr)))
    return Finite(tuple(exponents), pairs, divisors, tuple(sums), True, domains)


def shape(rows: Sequence[Sequence[Expr]]) -> None:
    """Raises Rejected unless the rows are there and of one positive length."""
    if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise Rejected(WHAT, "rows", "rows must be there, not empty and of one length")


def ordered_pairs(mechanism: Table | Exponential) -> tuple[tuple[int, int], ...]:
    """The adjacent pairs in both orders; all of them where the mechanism names none."""
    count = len(mechanism.rows if isinstance(mechanism, Table) else mechanism.scores)
    if mechanism.adjacent is None:
        return tuple((a, b) for a in range(count) for b in range(count) if a != b)
    for a, b in mechanism.adjacent:
        if not (0 <= a < count and 0 <= b < count):
            raise Rejected(WHAT, (a, b), f"the pair names an input outside 0 to {count - 1}")
    return tuple(sorted({pair for a, b in mechanism.adjacent if a != b for pair in ((a, b), (b, a))}))


def score_pairs(claim: Claim) -> tuple[tuple[tuple[int, int], ...], dict[tuple[int, int], Expr]]:
    """The pairs of an exponential mechanism that the claim is about, and the distances that divide their log-ratios.

    Scores: the adjacent pairs, whose scores must differ by at most the sensitivity where the claim gives one. Points: without
    a sensitivity all pairs of different points, each divided by its distance; with one, the pairs at most that far apart.
    """
    mechanism, domains = claim.mechanism, dict(claim.domains)
    assert isinstance(mechanism, Exponential)
    pairs = ordered_pairs(mechanism)
    if not mechanism.points:
        if claim.sensitivity is not None:
            for a, b in pairs:
                for y, (s, t) in enumerate(zip(mechanism.scores[a], mechanism.scores[b], strict=True)):
                    if not compare.certainly_le(sub(s, t), claim.sensitivity, domains):
                        why = f"the scores {format_expr(s)} and {format_expr(t)} differ by more than the claimed sensitivity "
                        why += f"{format_expr(claim.sensitivity)}; claim the sensitivity that the scores have"
                        raise Rejected(WHAT, f"inputs {a} and {b}, output {y}", why)
        return pairs, {}
    distances = _distances(mechanism, domains)
    kept, divisors = [], {}
    for a, b in pairs:
        distance = distances[a][b]
        if sign(distance, domains, f"the distance of points {a} and {b}") == 0:
            continue
        if claim.sensitivity is None:
            divisors[a, b] = distance
        elif compare.certainly_lt(claim.sensitivity, distance, domains):
            continue
        elif not compare.certainly_le(distance, claim.sensitivity, domains):
            raise Rejected(WHAT, f"points {a} and {b}", "cannot tell whether their distance is within the sensitivity")
        kept.append((a, b))
    return tuple(kept), divisors


def _distances(mechanism: Exponential, domains: Domains) -> list[list[Expr]]:
    """The distances between the points in the declared metric, checked to be minus the scores."""
    distances = [[distance(a, b, mechanism.metric) for b in mechanism.points] for a in mechanism.points]
    for x, row in enumerate(distances):
        for y, size in enumerate(row):
            if len(mechanism.scores) != len(distances) or len(mechanism.scores[x]) != len(row):
                raise Rejected(WHAT, "scores", "points must be both the inputs and the outputs of the scores")
            if not compare.certainly_equal(neg(mechanism.scores[x][y]), size, domains):
                raise Rejected(WHAT, f"points {x} and {y}", f"the score is not minus the {mechanism.metric} distance")
    return distances


def distance(a: Sequence[Expr], b: Sequence[Expr], metric: str) -> Expr:
    """The l1, l2 or linf distance of two points."""
    require(len(a) == len(b), Rejected(WHAT, "points", "points must have one number of coordinates"))
    steps = [call("abs", sub(s, t)) for s, t in zip(a, b, strict=True)]
    if metric == "l1":
        return add(*steps)
    if metric == "linf":
        return call("max", *steps)
    if metric == "l2":
        return power(add(*(power(step, Num(Fraction(2))) for step in steps)), Num(Fraction(1, 2)))
    raise Rejected(WHAT, "metric", f"{metric!r} is not one of l1, l2, linf; give the scores instead")


def require_rows(mechanism: Table | Exponential, domains: Domains) -> None:
    """Raises Rejected for rows of different lengths, pairs that name no two of them, and for what are no probabilities."""
    rows = mechanism.rows if isinstance(mechanism, Table) else mechanism.scores
    shape(rows)
    ordered_pairs(mechanism)
    if mechanism.adjacent is not None and (not mechanism.adjacent or any(a == b for a, b in mechanism.adjacent)):
        raise Rejected(WHAT, "adjacent", "there is no pair, or one of a row and itself")
    weights = mechanism.weights if isinstance(mechanism, Exponential) else ()
    if weights and not (len(weights) == len(rows[0]) and all(compare.certainly_lt(ZERO, weight, domains) for weight in weights)):
        raise Rejected(WHAT, "weights", "they are not one for each output, or not certainly all positive")
    for x, row in enumerate(rows if isinstance(mechanism, Table) else ()):
        for y, entry in enumerate(row):
            if not compare.certainly_le(ZERO, entry, domains):
                raise Rejected(WHAT, f"row {x}, entry {y}", f"the probability {format_expr(entry)} is negative, or that is not certain")
        total = add(*row)
        if not compare.certainly_equal(total, ONE, domains):
            why = f"the probabilities sum to {format_expr(total)}, not certainly to exactly 1; write fractions such as 1/3"
            raise Rejected(WHAT, f"row {x}", why)


def sign(value: Expr, domains: Domains, where: str) -> int:
    """-1, 0 or 1. Raises Rejected where it cannot be told."""
    if isinstance(value, Num):
        return (value.value > 0) - (value.value < 0)
    for answer, low, high in ((1, ZERO, value), (-1, value, ZERO)):
        if compare.certainly_lt(low, high, domains):
            return answer
    if compare.certainly_equal(value, ZERO, domains):
        return 0
    raise Rejected(WHAT, where, f"the sign of {format_expr(value)} is not certain")
