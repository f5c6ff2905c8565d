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
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from math import comb, prod
from typing import Any, Final

from flint import arb, arb_poly, ctx, fmpz, fmpz_poly

from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import decimals, falling
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.pairs import Curve, Pair, Profile, symmetric
from dpverify.trusted.language.errors import Rejected, Undecided
from dpverify.trusted.language.expr import ZERO, Expr, add, format_expr, mul, num, symbols
from dpverify.trusted.language.model import Source
from dpverify.trusted.numbers.balls import MAX_PRECISION, constant, exact, precision
from dpverify.trusted.order.compare import certainly_lt, sign
from dpverify.trusted.parts.runs import Run, merged, reach
from dpverify.trusted.rules.curves import laplace

NAME: Final = "laplace-sums"
STATEMENT: Final = (
    "The composition of Laplace mechanisms, the i-th with scale b_i at sensitivity D_i, chosen adaptively, is dominated by the product of "
    "the pairs (Laplace(0, b_i), Laplace(D_i, b_i)), and where the mechanisms answer fixed queries some neighbours attain it. Its profile "
    "is a finite sum of exponentials and polynomials in epsilon on the pieces between the sums of the signed D_i/b_i."
)
CHECKED: Final = ("every D_i/b_i is positive", "the number of sign patterns and mechanisms is within reach")
ASSUMED: Final = ("the parts draw independent noise",)
SOURCE: Final = Source("docs/theory/composition.md#laplace-sums", "Irwin-Hall sums by residues of the loss's moment generating function")

MAX_MECHANISMS: Final = 2_000
"""The most mechanisms in one sum: the polynomials have this degree, and integer coefficients of about as many bits."""
MAX_PATTERNS: Final = 60_000
"""The most distinct sign patterns: the product of (times + 1)."""
MAX_WORK: Final = 4_100_000
"""The most coefficients of all patterns together."""
MANY: Final = 300
"""Mechanisms beyond which the polynomials of only two precisions are kept: they are long."""
GUARD: Final = 24
"""Bits of relative accuracy that may be lost below the working precision."""
STEP: Final = 64
"""Precisions are multiples of this many bits, so that polynomials serve again."""
ROUNDS: Final = 4
"""How many precisions are tried: a value that is 0 in the end is never relatively accurate."""

Group = tuple[Expr, int]
"""eps0 = D/b of equal Laplace mechanisms, and their number."""


@dataclass(frozen=True, slots=True)
class _Pattern:
    """Sign patterns of one count a group: the minus signs of each group, and how many patterns have these counts."""

    minus: tuple[int, ...]
    ways: int


def profile(eps0: Expr, k: int) -> Profile:
    """delta(epsilon) of `k` Laplace mechanisms with eps0 = sensitivity/scale each.

    Raises Undecided where eps0 is not certainly positive or k is out of reach.
    """
    return profile_of([(eps0, k)])


def pair(eps0: Expr, k: int) -> Pair:
    """The pair of `k` Laplace mechanisms with eps0 = sensitivity/scale each, the same in both orders. Raises Undecided as `profile`."""
    return pair_of([(eps0, k)])


def pair_of(groups: Sequence[Group]) -> Pair:
    """The pair of groups of equal Laplace mechanisms, the same in both orders. Raises Undecided as `profile`."""
    sums = _Sums(groups)
    return symmetric(sums.delta, sums.event)


def profile_of(groups: Sequence[Group]) -> Profile:
    """delta(epsilon) of groups of equal Laplace mechanisms. Raises Undecided as `profile`."""
    return _Sums(groups).delta


class _Sums:
    """The sum of the losses of all mechanisms of the groups."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self.groups = tuple(groups)
        self.total = sum(times for _, times in self.groups)
        _check(self.groups, self.total)
        self.patterns = _patterns(self.groups)
        self.values = lru_cache(maxsize=4)(self._values)
        self.residues = lru_cache(maxsize=8 if self.total <= MANY else 2)(partial(_Residues, self.total))

    def _values(self, bits: int) -> list[arb]:
        with precision(bits):
            return [constant(eps0) for eps0, _ in self.groups]

    def delta(self, epsilon: arb) -> arb:
        """H at an epsilon of at least 0; on a wide ball by its two ends, since H never rises."""
        return falling(lambda at: self._sharp(at if at >= 0 else arb(0), self._delta_at))(epsilon)

    def q_tail(self, epsilon: arb) -> arb:
        """Q of a loss beyond epsilon."""
        return falling(lambda at: self._sharp(at if at >= 0 else arb(0), self._q_at))(epsilon)

    def event(self, epsilon: arb) -> Mapping[str, str]:
        """The set of outputs whose loss exceeds epsilon; the middle of a ball, since any epsilon gives an event."""
        epsilon = epsilon.mid()
        q = self.q_tail(epsilon)
        p = self.delta(epsilon) + epsilon.exp() * q
        parts = " + ".join(f"{times} x Laplace with D/b = {format_expr(eps0)}" for eps0, times in self.groups)
        terms = "sum over all answers i of (|y_i - D_i| - |y_i|)/b_i"
        return {
            "pair": f"all answers 0, and every answer i moved to D_i ({parts})",
            "event": f"{terms} > {decimals(epsilon)}",
            "P": decimals(p),
            "Q": decimals(q),
        }

    def _sharp(self, epsilon: arb, formula: Callable[[arb, int], arb]) -> arb:
        """The formula at an exact epsilon, with more bits until the result is as sharp as the working precision asks."""
        wanted, best = ctx.prec - GUARD // 2, arb(0).union(arb(1))
        bits = _rounded(ctx.prec + 2 * GUARD)
        for _ in range(ROUNDS):
            with precision(bits):
                found = formula(epsilon, bits)
            if found.is_finite() and found.overlaps(best):
                best = best.intersection(found)
            missing = wanted - int(best.rel_accuracy_bits())
            if missing <= 0 or best.is_zero():
                break
            more = missing + GUARD if missing < wanted else bits  # where no bit is right, nothing tells how many are missing
            bits = min(_rounded(bits + more), MAX_PRECISION)
        return +best

    def _reaches(self, epsilon: arb, bits: int) -> Iterable[tuple[_Pattern, arb]]:
        """The patterns whose sum of signed eps0 may exceed epsilon, with the excess clipped at 0."""
        values = self.values(bits)
        for pattern in self.patterns:
            y = -epsilon
            for (_, times), minus, eps0 in zip(self.groups, pattern.minus, values, strict=True):
                y += (times - 2 * minus) * eps0
            if y <= 0:
                continue
            # the polynomials are 0 at y = 0 for delta, and their patterns do not count below it
            yield pattern, y if y > 0 else arb(0).union(y.upper())

    def _delta_at(self, epsilon: arb, bits: int) -> arb:
        total, residues = arb(0), self.residues(bits)
        for pattern, y in self._reaches(epsilon, bits):
            minus = sum(pattern.minus)
            term = 2 * residues(minus, minus - 1)(y / 2)
            if minus == 0:
                term += (y / 2).exp() * (fmpz(1) << self.total)
            total += pattern.ways * term
        return (epsilon / 2).exp() * self._weight(bits) * total

    def _q_at(self, epsilon: arb, bits: int) -> arb:
        total, residues = arb(0), self.residues(bits)
        for pattern, y in self._reaches(epsilon, bits):
            minus = sum(pattern.minus)
            term = residues(minus, minus)(y / 2)
            if not y > 0:
                if self._is_tied(pattern, epsilon):
                    continue
                term = term.union(arb(0))
            total += pattern.ways * term
        return (-epsilon / 2).exp() * self._weight(bits) * total

    def _is_tied(self, pattern: _Pattern, epsilon: arb) -> bool:
        """Whether the sum of a pattern of points is epsilon itself, which the event leaves out."""
        signed = (mul(num(times - 2 * minus), eps0) for (eps0, times), minus in zip(self.groups, pattern.minus, strict=True))
        return sign(add(*signed, num(-exact(epsilon)))) == 0

    def _weight(self, bits: int) -> arb:
        """The product of exp(-eps0/2)/2 over all mechanisms."""
        exponent = arb(0)
        for eps0, (_, times) in zip(self.values(bits), self.groups, strict=True):
            exponent -= times * eps0 / 2
        return exponent.exp() / (fmpz(1) << self.total)


def _rounded(bits: int) -> int:
    return -(-bits // STEP) * STEP


def _check(groups: Sequence[Group], total: int) -> None:
    for eps0, times in groups:
        if symbols(eps0) or not certainly_lt(ZERO, eps0):
            raise Undecided(f"{NAME}: D/b = {format_expr(eps0)} is not certainly a positive number; state it as a positive constant.")
        if times < 1:
            raise Undecided(f"{NAME}: {times} mechanisms; at least one is needed.")
    if not 1 <= total <= MAX_MECHANISMS:
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
    """The residues at u = 0 of exp(u z) (u + 1)^(n - minus - 1) (u - 1)^lower / u^n, polynomials in z = y/2, at one precision."""

    def __init__(self, n: int, bits: int) -> None:
        self.n, self.bits = n, bits
        self.known: dict[tuple[int, int], arb_poly] = {}
        with precision(bits):
            self.shares = [arb(1)]  # 1/i!
            for i in range(1, n):
                self.shares.append(self.shares[-1] / i)

    def __call__(self, minus: int, lower: int) -> arb_poly:
        key = (minus, lower)
        if key not in self.known:
            coefficients = _expansion(self.n, self.n - minus - 1, lower)
            with precision(self.bits):
                self.known[key] = arb_poly([share * c for share, c in zip(self.shares, reversed(coefficients), strict=True)])
        return self.known[key]


def _expansion(n: int, upper: int, lower: int) -> list[fmpz]:
    """The first n Taylor coefficients of (u + 1)^upper (u - 1)^lower at 0, lower at least -1."""
    numerator = fmpz_poly([1, 1]) ** upper * fmpz_poly([-1, 1]) ** max(lower, 0)
    found = (numerator.coeffs() + [fmpz(0)] * n)[:n]
    if lower >= 0:
        return found
    running, sums = fmpz(0), []  # 1/(u - 1) = -(1 + u + u^2 + ...)
    for coefficient in found:
        running -= coefficient
        sums.append(running)
    return sums


def infer(run: Run, _: Mapping[str, Any], __: Sequence[Fact]) -> Curve:
    """The curve of a composition of Laplace mechanisms. Raises Rejected; Undecided where there are too many."""
    groups, runs = [], merged(run.part, run.factor)
    for inner in runs:
        found = reach(inner)
        alone = laplace.curve(inner.part.mechanism, found, stated=inner.part.query is None)
        ratio = laplace.scale_ratio(inner.part.mechanism, found.upper)
        if ratio is None or not alone.exact:
            raise Rejected(NAME, "the parts", "the shift of one of them is not known exactly")
        groups.append((ratio, inner.times))
    exactly = pair_of(groups)
    return settled.together(run, settled.several(runs, Curve(exactly, exactly, (NAME,), ASSUMED)))
