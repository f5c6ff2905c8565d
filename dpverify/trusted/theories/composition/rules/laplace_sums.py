"""Compositions of Laplace mechanisms, exactly: sums of their privacy losses.

The loss of Laplace noise moved by eps0 scales has, against exp(l/2), the measure
    m = exp(-eps0/2)/2 * (point at eps0 + point at -eps0 + half of Lebesgue measure between them),
so that a sum of losses has, against exp(l/2), the convolution M of such measures, and
    delta(epsilon) = exp(epsilon/2) * integral over l > epsilon of 2 sinh((l - epsilon)/2) M(dl).
The Laplace transform of m is exp(-eps0/2)/2 * (exp(s eps0) (s + 1/2) + exp(-s eps0) (s - 1/2))/s. Expanding the product of n of them,
each sign pattern with J minus signs gives exp(s y) (s + 1/2)^(n-J-1) (s - 1/2)^(J-1) / s^n, y = sum of the signed eps0 - epsilon. It
counts where y > 0, by its residue at s = 0 (a polynomial in y whose coefficients are integers times powers of two) and, where no sign
is minus, also by the one at s = 1/2. These are Irwin-Hall sums; they alternate, so the working precision is raised until the result
is as sharp as asked.

Theorem: The composition of Laplace mechanisms, the i-th with scale b_i at sensitivity D_i, chosen adaptively, is dominated by the product
of the pairs (Laplace(0, b_i), Laplace(D_i, b_i)), and where the mechanisms answer fixed queries some neighbours attain it. Its profile is a
finite sum of exponentials and polynomials in epsilon on the pieces between the sums of the signed D_i/b_i.

Checked:
- every D_i/b_i is positive
- the number of sign patterns and mechanisms is within reach

Source: docs/theory/composition.md#laplace-sums, Irwin-Hall sums by residues of the loss's moment generating function
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate, product
from math import comb, prod
from typing import Any, Final

from flint import arb, arb_poly, ctx, fmpz, fmpz_poly

from dpverify.trusted.combinators.runs import Run, merged, reach
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import accurately, falling, known
from dpverify.trusted.facts.pairs import Curve, Pair, symmetric
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import Rejected, Undecided
from dpverify.trusted.kernel.expr import ZERO, Expr, format_expr, symbols
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.theories.curves.rules import laplace

NAME: Final = "laplace-sums"
ASSUMED: Final = ("the parts draw independent noise",)

MAX_MECHANISMS: Final = 2_000
"""The most mechanisms in one sum: the polynomials have this degree, and integer coefficients of about as many bits."""
MAX_PATTERNS: Final = 60_000
"""The most distinct sign patterns: the product of (times + 1)."""
MAX_WORK: Final = 4_100_000
"""The most coefficients of all patterns together."""
MANY: Final = 300
"""Mechanisms beyond which the polynomials of only two precisions are kept: they are long."""

Group = tuple[Expr, int]
"""eps0 = D/b of equal Laplace mechanisms, and their number."""


@dataclass(frozen=True, slots=True)
class _Pattern:
    """Sign patterns of one count a group: the minus signs of each group, and how many patterns have these counts."""

    minus: tuple[int, ...]
    ways: int


def pair(groups: Sequence[Group]) -> Pair:
    """The pair of groups of equal Laplace mechanisms, the same in both orders.

    Raises Undecided where an eps0 is not certainly positive or there are too many.
    """
    sums = _Sums(groups)
    return symmetric(falling(lambda epsilon: accurately(lambda: sums.delta(epsilon.max(arb(0))))))


class _Sums:
    """The sum of the losses of all mechanisms of the groups, at the precision of the moment."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self.total = sum(times for _, times in groups)
        _check(groups, self.total)
        self.groups = [(known(eps0), times) for eps0, times in groups]
        self.sums = lru_cache(maxsize=4)(partial(self._signed, _patterns(groups)))
        self.residues = lru_cache(maxsize=8 if self.total <= MANY else 2)(partial(_Residues, self.total))

    def delta(self, epsilon: arb) -> arb:
        """H at an exact epsilon of at least 0."""
        total, residues = arb(0), self.residues(ctx.prec)
        for pattern, y in self._reaches(epsilon):
            minus = sum(pattern.minus)
            term = 2 * residues(minus)(y / 2)
            if minus == 0:
                term += (y / 2).exp() * (fmpz(1) << self.total)
            total += pattern.ways * term
        weight = sum((times * eps0() for eps0, times in self.groups), -epsilon)
        return (-weight / 2).exp() * total / (fmpz(1) << self.total)

    def _reaches(self, epsilon: arb) -> Iterable[tuple[_Pattern, arb]]:
        """The patterns whose sum of signed eps0 may exceed epsilon, with the excess clipped at 0."""
        for pattern, signed in self.sums(ctx.prec):
            y = signed - epsilon
            if not y <= 0:
                # the polynomials are 0 at y = 0, and their patterns do not count below it
                yield pattern, y if y > 0 else arb(0).union(y.upper())

    def _signed(self, patterns: Sequence[_Pattern], _: int) -> list[tuple[_Pattern, arb]]:
        """Each pattern with its sum of signed eps0, at the working precision, which the last argument is."""
        balls = [(eps0(), times) for eps0, times in self.groups]
        return [
            (pattern, sum(((times - 2 * minus) * eps0 for (eps0, times), minus in zip(balls, pattern.minus, strict=True)), arb(0)))
            for pattern in patterns
        ]


def _check(groups: Sequence[Group], total: int) -> None:
    for eps0, _ in groups:
        if symbols(eps0) or not certainly_lt(ZERO, eps0):
            raise Undecided(f"{NAME}: D/b = {format_expr(eps0)} is not certainly a positive number; state it as a positive constant.")
    if total > MAX_MECHANISMS:
        raise Undecided(f"{NAME}: {total} mechanisms; from 1 to {MAX_MECHANISMS} are summed exactly, more by a privacy-loss distribution.")
    patterns = prod(times + 1 for _, times in groups)
    if patterns > MAX_PATTERNS or patterns * total > MAX_WORK:
        raise Undecided(f"{NAME}: {patterns} sign patterns of {total} mechanisms are too many; use a privacy-loss distribution.")


def _patterns(groups: Sequence[Group]) -> list[_Pattern]:
    """All counts of minus signs but those that are all minus, where the sum is below every epsilon >= 0."""
    total = sum(times for _, times in groups)
    counts = product(*(range(times + 1) for _, times in groups))
    return [
        _Pattern(minus, prod(comb(times, j) for (_, times), j in zip(groups, minus, strict=True))) for minus in counts if sum(minus) < total
    ]


class _Residues:
    """The residues at u = 0 of exp(u z) (u + 1)^(n - minus - 1) (u - 1)^(minus - 1) / u^n, polynomials in z = y/2, at one precision."""

    def __init__(self, n: int, bits: int) -> None:
        self.n, self.known = n, dict[int, arb_poly]()
        self.shares = [arb(1)]  # 1/i!
        for i in range(1, n):
            self.shares.append(self.shares[-1] / i)

    def __call__(self, minus: int) -> arb_poly:
        if minus not in self.known:
            coefficients = _expansion(self.n, self.n - minus - 1, minus - 1)
            self.known[minus] = arb_poly([share * c for share, c in zip(self.shares, reversed(coefficients), strict=True)])
        return self.known[minus]


def _expansion(n: int, upper: int, lower: int) -> list[fmpz]:
    """The first n Taylor coefficients of (u + 1)^upper (u - 1)^lower at 0, lower at least -1."""
    numerator = fmpz_poly([1, 1]) ** upper * fmpz_poly([-1, 1]) ** max(lower, 0)
    coefficients = (numerator.coeffs() + [fmpz(0)] * n)[:n]
    if lower >= 0:
        return coefficients
    return [-partial_sum for partial_sum in accumulate(coefficients)]  # 1/(u - 1) = -(1 + u + u^2 + ...)


def infer(run: Run, _: Mapping[str, Any], __: Sequence[Fact]) -> Curve:
    """The curve of a composition of Laplace mechanisms. Raises Rejected; Undecided where there are too many."""
    groups, runs = [], merged(run.part, run.factor)
    for inner in runs:
        moved = reach(inner)
        alone = laplace.curve(inner.part.mechanism, moved, stated=inner.part.query is None)
        ratio = laplace.scale_ratio(inner.part.mechanism, moved.upper)
        if ratio is None or not alone.exact:
            raise Rejected(NAME, "the parts", "the shift of one of them is not known exactly")
        groups.append((ratio, inner.times))
    exactly = pair(groups)
    return settled.together(run, settled.several(runs, Curve(exactly, exactly, (NAME,), ASSUMED)))
