"""What finitely many evaluations of a Gaussian process see of a difference: D_n^2 = h' K_n^-1 h (theory#process-evaluations).

Of the first n it is the sum of the squares of the innovations, and so does not fall in n: of Markov processes each innovation is that
of two neighbouring points; of others it is an entry of L^-1 h, L the Cholesky factor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Final

from flint import arb

from dpverify.trusted.language.errors import Rejected, Undecided
from dpverify.trusted.language.expr import ZERO, Expr, Num, symbols
from dpverify.trusted.language.model import EllipticalProcess
from dpverify.trusted.numbers import factored
from dpverify.trusted.numbers.balls import constant, finite, rational, value
from dpverify.trusted.order import processes
from dpverify.trusted.order.compare import certainly_lt
from dpverify.trusted.order.geometry import Sensitivity
from dpverify.trusted.order.processes import interval_of

WHAT: Final = "the evaluations"
MARKOV: Final = ("eigenvalues", "brownian", "bridge", "matern-1/2")
"""The covariances under which an evaluation needs those beside it alone."""
MOST: Final = 100_000
MOST_DENSE: Final = 1024


def sensitivity(noise: EllipticalProcess) -> Sensitivity:
    """The greatest norm that the released evaluations see of a difference, enclosed at the working precision."""
    return processes.between([seen(noise, h) for h in noise.differences])


def seen(noise: EllipticalProcess, h: Expr) -> arb:
    """D_n^2 of all evaluations that are released."""
    return list(squares(noise, h, points_of(noise)))[-1]


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
    """Where the function is evaluated, in rising order; of a sequence the numbers of coefficients. Raises Rejected."""
    if not noise.places:
        return first_points(noise, min(number_of(noise), MOST + 1))
    given = [point.value for point in noise.places if isinstance(point, Num)]
    if len(given) != len(noise.places) or len(set(given)) != len(given):
        raise Rejected(WHAT, "the points", "they are not distinct rational numbers")
    if noise.covariance == "eigenvalues":
        if any(k.denominator != 1 or k < 1 for k in given):
            raise Rejected(WHAT, "the points", "of a sequence they are the numbers of coefficients, from 1")
    else:
        low, high = interval_of(noise)
        inside = (low < given_one if noise.covariance in ("brownian", "bridge") else low <= given_one for given_one in given)
        if not all(inside) or max(given) > high or (noise.covariance == "bridge" and max(given) == high):
            raise Rejected(WHAT, "the points", "they are not all where the function lives and the noise has a variance")
    return sorted(given)


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
    known: dict[Fraction, arb] = {}

    def stationary(i: int, j: int) -> arb:
        apart = abs(points[i] - points[j])
        if apart not in known:
            known[apart] = variance * _SHAPES[noise.covariance](rational(apart) / length)
        return known[apart]

    return stationary


def _matern3(r: arb) -> arb:
    x = arb(3).sqrt() * r
    return (1 + x) * (-x).exp()


def _matern5(r: arb) -> arb:
    x = arb(5).sqrt() * r
    return (1 + x + x * x / 3) * (-x).exp()


_SHAPES: Final[dict[str, Callable[[arb], arb]]] = {
    "matern-3/2": _matern3,
    "matern-5/2": _matern5,
    "rbf": lambda r: (-r * r / 2).exp(),
}
