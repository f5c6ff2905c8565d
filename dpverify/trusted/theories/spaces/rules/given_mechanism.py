"""One mechanism on finitely many points: whether its answers are near the truth, and how private it is (theory#given-mechanism).

Theorem: A mechanism with the probabilities P[x, y] is epsilon-private where log(P[x, y]/P[x', y]) <= epsilon dist(x, x') for all x, x', y,
and at no smaller one; no epsilon holds of a claim that its answers are within gamma but with probability beta where they are further than
gamma with a greater probability on one database.

Checked:
- the distances are a metric, and databases as declared exist
- the probabilities sum to 1 in every row, or are those of the exponential mechanism on the distances
- the probability of answers that are further than gamma, on every database or on the one that is named
- the ratio of every two rows, or the one that is named

Source: docs/theory/spaces.md#given-mechanism, Kleinberg & Ligett 2010, Definition 2.2; McSherry & Talwar 2007
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.kernel.bounds import INFINITE, Bound
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, add, call, div, format_expr, mul, neg
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.language.rationals import read_whole, to_whole
from dpverify.trusted.theories.spaces.databases import Finite, finite

NAME: Final = "given-mechanism"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """A bound on the epsilon of the mechanism that is given. Raises Rejected.

    evidence: "epsilon", for an upper bound; "far", the number of a database on which answers are too far, for an infinite lower one; or
    "cell", [x, x', y], the loss there as a lower one.
    """
    given, epsilon = finite(claim, {"epsilon": evidence.get("epsilon", "0")}, NAME, one=True)
    table = _Table(given)
    if "epsilon" in evidence:
        for x in range(len(given.truth)):
            if not certainly_le(table.far(x), given.beta):
                raise Rejected(NAME, f"database {x}", "its answers are not certainly near the truth but with probability beta")
            for other in range(len(given.truth)):
                if other != x:
                    table.require(x, other, mul(epsilon, given.least(x, other)))
        return Bound("upper", epsilon)
    if "far" in evidence:
        x = read_whole(evidence, "far", NAME, 0, len(given.truth) - 1)
        far = table.far(x)
        if not certainly_lt(given.beta, far):
            raise Rejected(NAME, f"database {x}", "its answers are not certainly too far with a greater probability than beta")
        return Bound("lower", INFINITE, witness={"pair": {"says": "database", "number": x}, "further than within": format_expr(far)})
    first, second, third = _three(evidence.get("cell"))
    x, other = (to_whole(one, "cell", NAME, 0, len(given.truth) - 1) for one in (first, second))
    y = to_whole(third, "cell", NAME, 0, len(given.distances) - 1)
    if x == other:
        raise Rejected(NAME, "cell", "a database is not told from itself")
    witness = {"pair": [x, other], "event": f"{{{y}}}"}
    if table.vanishes(other, y) and not table.vanishes(x, y):
        return Bound("lower", INFINITE, witness=witness)
    return Bound("lower", div(table.loss(x, other, y), given.most(x, other, NAME)), witness=witness)


class _Table:
    """The probabilities of a mechanism, a row for each database: rationals, or weights over their sums."""

    def __init__(self, given: Finite) -> None:
        self.given, self.rate = given, given.space.rate
        if self.rate is None and not given.space.table:
            raise Rejected(NAME, "the mechanism", "none is given")

    def _exponent(self, x: int, y: int) -> Expr:
        assert self.rate is not None
        return neg(mul(self.rate, Num(self.given.distances[self.given.truth[x]][y])))

    def _sum(self, x: int, answers: list[int]) -> Expr:
        return add(*(call("exp", self._exponent(x, y)) for y in answers))

    def far(self, x: int) -> Expr:
        """The probability of answers that are not certainly near the truth: where gamma is a number, of those that are too far."""
        row = self.given.distances[self.given.truth[x]]
        answers = [y for y, distance in enumerate(row) if not certainly_le(Num(distance), self.given.near)]
        if any(not certainly_lt(self.given.near, Num(row[y])) for y in answers):
            raise Rejected(NAME, f"database {x}", "whether an answer is within gamma is not certain; raise the precision")
        if self.rate is None:
            return Num(sum((self.given.space.table[x][y] for y in answers), Fraction(0)))
        return div(self._sum(x, answers), self._sum(x, list(range(len(row))))) if answers else ZERO

    def vanishes(self, x: int, y: int) -> bool:
        """Whether an answer has no probability."""
        return self.rate is None and not self.given.space.table[x][y]

    def loss(self, x: int, other: int, y: int) -> Expr:
        """The logarithm of the ratio of two probabilities. Raises Rejected where the first is 0; the second is not."""
        if self.rate is None:
            if self.vanishes(x, y):
                raise Rejected(NAME, [x, other, y], "a probability is 0")
            return call("log", Num(self.given.space.table[x][y] / self.given.space.table[other][y]))
        every = list(range(len(self.given.distances)))
        return add(self._exponent(x, y), neg(self._exponent(other, y)), call("log", div(self._sum(other, every), self._sum(x, every))))

    def require(self, x: int, other: int, most: Expr) -> None:
        """Raises Rejected where a loss is not certainly at most so much: that of the answer where it is greatest, in rationals."""
        where = f"databases {x} and {other}"
        if self.rate is None:
            rows = self.given.space.table
            if any(p and not q for p, q in zip(rows[x], rows[other], strict=True)):
                raise Rejected(NAME, where, "an answer has a positive probability on the first alone")
            worst = max((p / q, y) for y, (p, q) in enumerate(zip(rows[x], rows[other], strict=True)) if q)[1]
        else:
            near, far = (self.given.distances[self.given.truth[one]] for one in (x, other))
            worst = max(range(len(near)), key=lambda y: far[y] - near[y])
        if not certainly_le(self.loss(x, other, worst), most):
            raise Rejected(NAME, where, "their loss is not certainly allowed at their distance")


def _three(cell: Any) -> list[Any]:
    if not isinstance(cell, list) or len(cell) != 3:
        raise CertificateError(f"{NAME}: 'cell' is not [x, x', y].")
    return cell
