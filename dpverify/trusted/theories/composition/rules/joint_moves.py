"""Pure epsilons of parts that answer about one real histogram: their moves share one difference, of bounded length.

Theorem: Parts lose at most e_j(u) where their answers move by u. With e_j(u) <= alpha_j + beta_j u^2 the whole loses, for histograms that
differ by v, at most the sum of the alpha_j and a quadratic form in v, whose greatest value on a ball is its greatest eigenvalue; in l1 the
same with u for u^2, and the greatest value at a vertex. Parts cannot all be at their own worst difference.

Checked:
- what every part loses, as an expression in what its answer moves by
- that it is at most alpha + beta u^k, on cells up to the farthest move
- that the form in v is at most its bound, exactly
- all parts speak of the same neighbours

Source: docs/theory/composition.md#joint-moves
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from flint import arb

from dpverify.trusted.combinators import candidates, moves
from dpverify.trusted.combinators.runs import neighbours_assumed, whole
from dpverify.trusted.facts.premises import pure_of, through_of
from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import Expr, Num, add, mul, num, power
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import L2, Claim, Part, PostProcess, Product, Radial, Translation
from dpverify.trusted.language.rationals import read_fraction, to_fraction
from dpverify.trusted.numbers.jets import BallProgram
from dpverify.trusted.theories.composition.rules import post_processing

NAME: Final = moves.NAME
ASSUMED: Final = ("the sampler is ideal",)

_MOST_CUTS: Final = 10_000


def infer(claim: Claim, evidence: Mapping[str, Any], premises: Sequence[Fact]) -> Bound:
    """What the whole loses at most. premises: for each part in turn what it loses at any move.

    evidence: "most", what the form in v is at most on differences of length 1; "parts", for each in turn the numbers "alpha" and "beta",
    and "cuts", moves between which the two are compared. Raises Rejected, CertificateError.
    """
    require(not claim.domains, Rejected(NAME, "mechanism", "it has parameters without values"))
    root = whole(claim).part
    parts = list(moves.leaves(root))
    adjacency, columns = _space([part for part, _ in parts])
    form = _Linear(columns) if adjacency == "l1" else _Quadratic(columns)
    factor, total, assumed = candidates.root_factor(root), Fraction(0), list[str](neighbours_assumed(claim))
    for (part, times), given, premise in zip(parts, evidence["parts"], premises, strict=True):
        loss, lines = pure_of(premise, moves.question(part), NAME)
        alpha, beta = (read_fraction(given, key, NAME) for key in ("alpha", "beta"))
        if beta < 0:  # the form would not be greatest where differences are longest; a negative alpha is below a loss of 0
            raise Rejected(NAME, "beta", "it is negative")
        rows = part_rows(part)
        for each in [[row] for row in rows] if isinstance(part.mechanism, Product) else [rows]:
            _check_above(Power(loss, alpha, beta, form.degree), factor**2 * farthest(each), given.get("cuts"))
            total += times * alpha
            form.add(each, times * beta)
        assumed += lines
    most = read_fraction(evidence, "most", NAME)
    form.check(most)
    mapped = any(isinstance(each, PostProcess) for each in candidates.mechanisms(root))
    assumed += post_processing.ASSUMED if mapped else ()
    return Bound(
        "upper",
        Num(total + factor**form.degree * most),
        assumed=tuple(dict.fromkeys(assumed)),
        through=tuple(dict.fromkeys(name for premise in premises for name in through_of(premise))),
    )


def part_rows(part: Part) -> Sequence[Sequence[Fraction]]:
    """The rows of a part's query. Raises Rejected for other parts than noise whose loss depends on the length of a move alone."""
    noise = part.mechanism
    alone = isinstance(noise, Translation) and not noise.integers
    if part.query is None or not (alone or isinstance(noise, Product) or (isinstance(noise, Radial) and noise.norm == L2)):
        raise Rejected(NAME, "a part", "it is no noise on real numbers, or of the Euclidean norm, under a query")
    return part.query.rows


def _space(parts: Sequence[Part]) -> tuple[str, int]:
    """The adjacency that all queries state, and their number of columns. Raises Rejected."""
    found = {(part.query.adjacency, len(row)) for part in parts for row in part_rows(part) if part.query is not None}
    if len(found) != 1 or next(iter(found))[0] not in ("l1", "l2"):
        raise Rejected(NAME, "adjacency", 'the parts do not all speak of one real histogram, under "l1" or "l2"')
    return next(iter(found))


def _check_above(power_of_moves: Power, square: Fraction, cuts: Any) -> None:
    """Raises Rejected unless a loss is certainly at most a power for 0 < u, u^2 at most `square`."""
    ends = [to_fraction(cut, NAME) for cut in cuts] if isinstance(cuts, list) and len(cuts) <= _MOST_CUTS else []
    if len(ends) < 2 or ends[0] != 0 or ends[-1] ** 2 < square or any(low >= high for low, high in pairwise(ends)):
        raise Rejected(NAME, "cuts", "they are not in order from 0 to the farthest that the answer moves")
    for low, high in pairwise(ends):
        if not power_of_moves.covers(low, high):
            raise Rejected(NAME, f"moves from {low} to {high}", "the loss is not certainly at most alpha + beta u^k")


Matrix = list[list[Fraction]]


def farthest(rows: Sequence[Sequence[Fraction]]) -> Fraction:
    """A bound on the square of what answers move by on differences of length 1, in l1 or in l2: the sum of squares of the entries."""
    return sum((x * x for row in rows for x in row), Fraction(0))


class _Quadratic:
    """A sum of squares of what answers move by on histograms that differ by v, as a matrix."""

    degree: Final = 2

    def __init__(self, columns: int) -> None:
        self.form: Matrix = [[Fraction(0)] * columns for _ in range(columns)]

    def add(self, rows: Sequence[Sequence[Fraction]], weight: Fraction) -> None:
        """Add weight times the square of what some rows move by."""
        for row in rows:
            moved = [(j, x) for j, x in enumerate(row) if x]
            for i, x in moved:
                for j, y in moved:
                    self.form[i][j] += weight * x * y

    def check(self, most: Fraction) -> None:
        """Raises Rejected unless it is at most this where v has length 1: most - form is positive semidefinite, by elimination."""
        rest = [[(most if i == j else Fraction(0)) - x for j, x in enumerate(row)] for i, row in enumerate(self.form)]
        for k in range(len(rest)):
            if rest[k][k] < 0 or (rest[k][k] == 0 and any(rest[k][j] for j in range(k + 1, len(rest)))):
                raise Rejected(NAME, "most", "the quadratic form is not at most this on all differences of length 1")
            for i in range(k + 1, len(rest)):
                share = rest[i][k] / rest[k][k] if rest[k][k] else Fraction(0)
                for j in range(k + 1, len(rest)):
                    rest[i][j] -= share * rest[k][j]


class _Linear:
    """A sum of absolute values of what answers move by, at differences in one kind of records: on the l1 ball it is greatest there."""

    degree: Final = 1

    def __init__(self, columns: int) -> None:
        self.form = [Fraction(0)] * columns

    def add(self, rows: Sequence[Sequence[Fraction]], weight: Fraction) -> None:
        """Add weight times what one row moves by."""
        require(len(rows) <= 1, Rejected(NAME, "a part", "noise of several coordinates that lose together is looked at under l2 alone"))
        for j, x in enumerate(rows[0]):
            self.form[j] += weight * abs(x)

    def check(self, most: Fraction) -> None:
        """Raises Rejected unless it is at most this."""
        require(max(self.form) <= most, Rejected(NAME, "most", "the sum is greater at a difference in one kind of records"))


class Power:
    """alpha + beta u^degree, beside what a part loses where its answer moves by at most u."""

    def __init__(self, loss: Expr, alpha: Fraction, beta: Fraction, degree: int) -> None:
        self._loss, self._power = (
            BallProgram(each, moves.MOVED.name) for each in (loss, add(Num(alpha), mul(Num(beta), power(moves.MOVED, num(degree)))))
        )

    def covers(self, low: Fraction, high: Fraction) -> bool:
        """Whether the power is certainly at least the loss on a cell.

        What is lost at most where the answer moves by `high` at most is so for shorter moves; or to the second order about the middle.
        """
        if self._power(rational(low)).v >= self._loss(rational(high)).v:
            return True
        cell = rational(low).union(rational(high))
        middle = cell.mid()
        at, step = (self._power(middle), self._loss(middle)), cell - middle
        bend = self._power(cell).d2 - self._loss(cell).d2
        square = step.abs_upper() ** 2 * arb(0).union(arb(1))
        return bool(at[0].v - at[1].v + (at[0].d1 - at[1].d1) * step + bend / 2 * square >= 0)
