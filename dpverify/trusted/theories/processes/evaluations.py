"""What finitely many evaluations of a Gaussian process see of a difference: D_n^2 = h' K_n^-1 h (theory#process-evaluations).

Of the first n it is the sum of the squares of the innovations, and so does not fall in n: of Markov processes each innovation is that
of two neighbouring points; of others it is an entry of L^-1 h, L the Cholesky factor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, combinations
from math import lcm
from typing import Final

from flint import arb, fmpq_mat

from dpverify.trusted.geometry.linear import to_fmpq, to_fraction
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.balls import constant, finite, rational, value
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import Rejected, Undecided, require
from dpverify.trusted.kernel.expr import ZERO, Add, Call, Expr, Mul, Num, Pow, Sym, add, mul, sub, substitute, symbols
from dpverify.trusted.kernel.model import Domain, EllipticalProcess
from dpverify.trusted.numbers import factored
from dpverify.trusted.theories.processes import norms as processes
from dpverify.trusted.theories.processes.norms import interval_of

WHAT: Final = "the evaluations"
MARKOV: Final = ("eigenvalues", "brownian", "bridge", "matern-1/2")
"""The covariances under which an evaluation needs those beside it alone."""
MOST: Final = 100_000
MOST_DENSE: Final = 1024
MOST_EXACT: Final = 64
"""Of up to so many points it is decided exactly which are independent, where a covariance is written out and rational."""


@dataclass(frozen=True, slots=True)
class Independent:
    """Points at which no value of the noise is a combination of the others.

    decided: of every further point the combination of values at `points` that the noise there equals.
    """

    points: tuple[Fraction, ...]
    decided: tuple[tuple[Fraction, Mapping[Fraction, Fraction]], ...] = ()


def sensitivity(noise: EllipticalProcess) -> Sensitivity:
    """The greatest norm that the released evaluations see of a difference, enclosed at the working precision."""
    return processes.between([seen(noise, h) for h in noise.differences])


def seen(noise: EllipticalProcess, h: Expr, points: Sequence[Fraction] = ()) -> arb:
    """D_n^2 of evaluations at points in rising order, else of all that are released. Raises Rejected, Undecided.

    Rejected where the noise does not hide the difference.
    """
    found = independent(noise, points or points_of(noise))
    if not all(certainly_equal(bare, ZERO) for bare in _bare(h, found)):
        raise Rejected(WHAT, "the difference", "it is not certainly as the noise is where others decide the noise, and shows there")
    if all(certainly_equal(_at(h, point), ZERO) for point in found.points):
        return arb(0)
    return list(squares(noise, h, found.points))[-1]


def is_apart(noise: EllipticalProcess, h: Expr) -> bool:
    """Whether a difference certainly shows at a point where other values decide the noise."""
    return any(certainly_lt(ZERO, bare) or certainly_lt(bare, ZERO) for bare in _bare(h, independent(noise, points_of(noise))))


def rank(noise: EllipticalProcess) -> int:
    """How many of the released values are independent; of more than `MOST_EXACT` under a covariance that is written out, all of them.

    Raises Rejected, Undecided.
    """
    n = number_of(noise)
    if not noise.covariance or (noise.covariance not in ("kernel", "eigenvalues") and not noise.places):
        return n
    if noise.covariance == "kernel" and n > MOST_EXACT:
        if has_finite_rank(noise):
            raise Rejected(WHAT, "the covariance", f"it has finite rank, which of more than {MOST_EXACT} values is not computed")
        return n
    if noise.covariance == "eigenvalues":
        _require_positive(noise)
    if any(not isinstance(point, Num) for point in noise.places):
        if not all(certainly_lt(a, b) or certainly_lt(b, a) for a, b in combinations(noise.places, 2)):
            raise Rejected(WHAT, "the points", "they are not certainly distinct")
        return n
    found = len(independent(noise, points_of(noise)).points)
    require(bool(found or noise.differences), Rejected(WHAT, "the points", "the noise is 0 at all of them"))
    return found


def _require_positive(noise: EllipticalProcess) -> None:
    """Raises Rejected where one of the first eigenvalues is not certainly positive, or certainly not where the norm is stated."""
    for k in points_of(noise)[:MOST_EXACT]:
        eigenvalue = _at(noise.shape[0], k)
        if not certainly_lt(ZERO, eigenvalue) if noise.differences else certainly_le(eigenvalue, ZERO):
            raise Rejected(WHAT, "the covariance", f"its eigenvalue is not certainly positive at k = {k}")


def has_finite_rank(noise: EllipticalProcess) -> bool:
    """Whether a covariance that is written out is certainly a finite sum of products f(s) g(t), on both sides of the diagonal."""
    if noise.covariance != "kernel" or not _separates(noise.shape[0]):
        return False
    (written,), (low, high) = noise.shape, interval_of(noise)
    turned = substitute(written, {"s": Sym("t"), "t": Sym("s")})
    return certainly_equal(written, turned, dict.fromkeys(("s", "t"), Domain(low, high, False, False)))


def _separates(expr: Expr) -> bool:
    if not {"s", "t"} <= symbols(expr):
        return True
    if isinstance(expr, Add | Mul):
        return all(map(_separates, expr.args))
    if isinstance(expr, Pow):
        whole = isinstance(expr.exponent, Num) and expr.exponent.value.denominator == 1 and expr.exponent.value > 0
        factors = isinstance(expr.base, Mul) and all(not {"s", "t"} <= symbols(factor) for factor in expr.base.args)
        return (whole and _separates(expr.base)) or (factors and not symbols(expr.exponent))
    exponent = expr.args[0] if isinstance(expr, Call) and expr.name == "exp" else ZERO
    return isinstance(exponent, Add) and all(not {"s", "t"} <= symbols(term) for term in exponent.args)


def _at(h: Expr, point: Fraction) -> Expr:
    return substitute(h, {"t": Num(point), "k": Num(point)})


def _bare(h: Expr, found: Independent) -> Iterator[Expr]:
    """What a difference shows of itself at each point where others decide the noise."""
    for point, weights in found.decided:
        yield sub(_at(h, point), add(*(mul(Num(weight), _at(h, other)) for other, weight in weights.items())))


def independent(noise: EllipticalProcess, points: Sequence[Fraction]) -> Independent:
    """Which of points in rising order decide the noise at the others (theory#process-evaluations). Raises Rejected, Undecided.

    A named covariance is strictly positive definite at distinct points, but where it holds the process at 0. One that is written out is
    taken to be so unless it is rational at few points.
    """
    if noise.covariance != "kernel":
        held = [t for t in _held(noise) if t in points]
        return Independent(tuple(t for t in points if t not in held), tuple((t, {}) for t in held))
    (written,) = noise.shape
    if len(points) > MOST_EXACT:
        return Independent(tuple(points))
    rows = [[substitute(written, {"s": Num(max(s, t)), "t": Num(min(s, t))}) for t in points] for s in points]
    known = [[to_fmpq(entry.value) for entry in row if isinstance(entry, Num)] for row in rows]
    n = len(points)
    if any(len(row) < n for row in known):
        return Independent(tuple(points))
    # a column of K is the combination of the pivots' columns that the reduced form has in it, and K of the pivots is regular
    reduced, regular = fmpq_mat(known).rref()
    pivots = [next(j for j in range(n) if reduced[i, j] != 0) for i in range(regular)]
    kept = tuple(points[j] for j in pivots)
    list(factored.leading_norms(lambda i, j: arb(known[pivots[i]][pivots[j]]), [arb(0)] * regular))  # positive definite, or Undecided
    others = [j for j in range(n) if j not in pivots]
    return Independent(
        kept, tuple((points[j], {t: to_fraction(reduced[i, j]) for i, t in enumerate(kept) if reduced[i, j] != 0}) for j in others)
    )


def _held(noise: EllipticalProcess) -> tuple[Fraction, ...]:
    """Where a named noise is 0."""
    if noise.covariance not in ("brownian", "bridge"):
        return ()
    low, high = interval_of(noise)
    return (low, high) if noise.covariance == "bridge" else (low,)


def squares(noise: EllipticalProcess, h: Expr, points: Sequence[Fraction]) -> Iterator[arb]:
    """D_1^2, D_2^2, ... of the first of the points: of a sequence the numbers of its coefficients.

    Of the bridge the points must be in order, as of every Markov process. Raises Rejected, Undecided.
    """
    if symbols(h) - {"t", "k"} or any(symbols(one) - {"s", "t", "k"} for one in noise.shape):
        raise Rejected(WHAT, "the difference", "it, or the covariance, has parameters without a value")
    if len(points) > (MOST if noise.covariance in MARKOV else MOST_DENSE):
        raise Rejected(WHAT, "the points", f"there are {len(points)}, more than are computed with")
    if noise.covariance not in MARKOV:
        at = [rational(t) for t in points]
        return factored.leading_norms(_covariance(noise, points, at), [value(h, {"t": t}) for t in at])
    steps: Iterable[arb]
    if noise.covariance == "eigenvalues":
        (eigenvalues,) = noise.shape
        steps = (_square(value(h, {"k": rational(k)})) / _positive(value(eigenvalues, {"k": rational(k)})) for k in points)
    else:
        steps = _markov(noise, h, points)
    return map(finite, accumulate(steps))


def first_points(noise: EllipticalProcess, n: int) -> list[Fraction]:
    """The numbers of the first n coefficients, or the ends of n equal steps of the interval; of the bridge of n + 1, without the last."""
    if noise.covariance == "eigenvalues":
        return [Fraction(k) for k in range(1, n + 1)]
    low, high = interval_of(noise)
    steps = n + 1 if noise.covariance == "bridge" else n
    return [low + (high - low) * Fraction(i, steps) for i in range(1, n + 1)]


def number_of(noise: EllipticalProcess) -> int:
    """How many evaluations are released. Raises Rejected where that is no number."""
    if noise.places:
        return len(noise.places)
    if not isinstance(noise.count, Num) or noise.count.value.denominator != 1 or noise.count.value < 1:
        raise Rejected(WHAT, "the count", "it is no positive integer")
    return int(noise.count.value)


def points_of(noise: EllipticalProcess) -> list[Fraction]:
    """Where the function is evaluated, each point once, in rising order; of a sequence the numbers of coefficients. Raises Rejected."""
    if not noise.places:
        return first_points(noise, min(number_of(noise), MOST + 1))
    given = [point.value for point in noise.places if isinstance(point, Num)]
    require(len(given) == len(noise.places), Rejected(WHAT, "the points", "they are not rational numbers"))
    if noise.covariance == "eigenvalues":
        if any(k.denominator != 1 or k < 1 for k in given):
            raise Rejected(WHAT, "the points", "of a sequence they are the numbers of coefficients, from 1")
    else:
        low, high = interval_of(noise)
        if not low <= min(given) <= max(given) <= high:
            raise Rejected(WHAT, "the points", f"they are not all from {low} to {high}, where the function lives")
    return sorted(set(given))


def _square(x: arb) -> arb:
    """Of a ball round 0 too, which a power is not."""
    return x * x


def _positive(variance: arb) -> arb:
    if not variance > 0:
        raise Undecided("a variance given the evaluations before is not certainly positive: the points are too close for this precision.")
    return variance


def _markov(noise: EllipticalProcess, h: Expr, points: Sequence[Fraction]) -> Iterator[arb]:
    """The squared innovation of each point given the one before; of the bridge what the end, where all is 0, adds to or takes from it."""
    if not all(certainly_lt(ZERO, one) for one in noise.shape):
        raise Rejected(WHAT, "the covariance", "its variance and length are not certainly positive")
    variance, length = map(constant, noise.shape)
    _, high = interval_of(noise)
    before, at, ended = arb(0), Fraction(0), arb(0)
    for number, t in enumerate(points):
        here = value(h, {"t": rational(t)})
        if noise.covariance == "matern-1/2":
            rho = (rational(at - t) / length).exp() if number else arb(0)
            yield _square(here - rho * before) / _positive(variance * (1 - _square(rho)))
        else:
            step = _square(here - before) / (variance * rational(t - at))
            last = _square(here) / (variance * rational(high - t)) if noise.covariance == "bridge" else arb(0)
            yield step + last - ended
            ended = last
        before, at = here, t


# -- any covariance ------------------------------------------------------------------------------------


def _covariance(noise: EllipticalProcess, points: Sequence[Fraction], at: Sequence[arb]) -> Callable[[int, int], arb]:
    """K(s, t) of the points of two numbers, as a ball. Of a kernel that is written out that with the later point first."""
    if noise.covariance == "kernel":
        (written,) = noise.shape
        return lambda i, j: value(written, {"s": at[max(i, j)], "t": at[min(i, j)]})
    if not all(certainly_lt(ZERO, one) for one in noise.shape):
        raise Rejected(WHAT, "the covariance", "its variance and length are not certainly positive")
    variance, length = map(constant, noise.shape)
    unit = lcm(*(point.denominator for point in points))
    places, known = [point.numerator * (unit // point.denominator) for point in points], dict[int, arb]()

    def stationary(i: int, j: int) -> arb:
        apart = abs(places[i] - places[j])
        if apart not in known:
            known[apart] = variance * _SHAPES[noise.covariance](rational(Fraction(apart, unit)) / length)
        return known[apart]

    return stationary


_SHAPES: Final[dict[str, Callable[[arb], arb]]] = {
    "matern-3/2": lambda r: (1 + (x := arb(3).sqrt() * r)) * (-x).exp(),
    "matern-5/2": lambda r: (1 + (x := arb(5).sqrt() * r) + x * x / 3) * (-x).exp(),
    "rbf": lambda r: (-r * r / 2).exp(),
}
