"""Laws of one number: noise on the line, noise on the integers, and kernels in y and theta."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property, lru_cache, partial

import numpy as np

from dpverify.audits.declared.base import Array, Cdf, Declared, Function
from dpverify.audits.declared.cells import SCALES, Intervals, choose, levels, to_refute
from dpverify.audits.declared.curves import gaussian_curve, gaussian_sigma, quadrature_curve
from dpverify.audits.declared.laws import Quadrature, quadrature, scaled_log, steps, tempered_log
from dpverify.audits.partition import CurvePoint
from dpverify.search.numeric import kinks_of, log_of, number
from dpverify.trusted.kernel.expr import Num, substitute
from dpverify.trusted.kernel.model import Claim, Kernel


class _OneNumber(Declared):
    """What line, integers and kernel share: outputs are numbers, laws are distribution functions, cells are intervals."""

    dimension = 1
    claim: Claim

    @abstractmethod
    def cdf(self, x: float, scale: float) -> Cdf:
        """The distribution function of the output at the answer x with noise of this scale."""

    @abstractmethod
    def _loss(self, x: float, x_prime: float, points: Array) -> Array:
        """log p_x - log p_x' at points; nan where both are zero."""

    @abstractmethod
    def _grid(self, x: float, x_prime: float) -> Array:
        """Increasing points between which the laws at both answers have their mass."""

    def edge(self, x: float, x_prime: float, thresholds: Array, above: Array, left: Array, right: Array) -> Array:
        """Where the loss crosses each threshold, by halving, also at a jump. above: whether it is reached at the left point."""
        for _ in range(60):
            middle = left / 2 + right / 2
            same = (self._loss(x, x_prime, middle) >= thresholds) == above
            left, right = np.where(same, middle, left), np.where(same, right, middle)
        return right

    def cells(self, x: float, x_prime: float) -> tuple[Array, Array, Array]:
        """The grid, the loss halfway between its points, and the mass there under both answers, shape (2, cells)."""
        grid = self._grid(x, x_prime)
        masses = np.stack([np.diff(self.cdf(answer, 1.0)(grid)) for answer in (x, x_prime)])
        losses = self._loss(x, x_prime, grid[:-1] / 2 + grid[1:] / 2)
        known = ~np.isnan(losses)
        known &= masses.max(axis=0) > 1e-15  # where nothing comes, rounding decides on which side of a jump a point is
        if not known.all():  # as what lies to the left
            nearest = np.maximum.accumulate(np.where(known, np.arange(len(losses)), known.argmax()))
            losses = losses[nearest]
        return grid, losses, masses

    def partition(self, x: Array, x_prime: Array) -> Intervals:
        """Intervals of outputs, cut where the loss crosses the thresholds."""
        return _intervals(self, float(x[0]), float(x_prime[0]))

    def _partition(self, a: float, b: float) -> Intervals:
        grid, losses, masses = self.cells(a, b)
        thresholds = levels(losses, masses.sum(axis=0))
        rank = np.searchsorted(thresholds, losses, side="right")
        ends = np.concatenate(([-np.inf], grid[1:-1], [np.inf]))

        def reached(answer: float, scale: float) -> Array:
            by_rank = np.bincount(rank, weights=np.diff(self.cdf(answer, scale)(ends)), minlength=len(thresholds) + 1)
            return np.cumsum(by_rank[::-1])[-2::-1]

        tables = [np.stack([reached(answer, scale) for scale in SCALES]) for answer in (a, b)]
        kept = thresholds[choose(tables[0], tables[1], to_refute(self.claim, losses, self.curve))]
        cells = np.searchsorted(kept, losses, side="right")
        change = np.flatnonzero(np.diff(cells))
        crossed = [(k, i) for i in change for k in range(min(cells[i], cells[i + 1]), max(cells[i], cells[i + 1]))]
        bounds, at = np.array(crossed, dtype=np.int64).reshape(-1, 2).T
        middles = grid[:-1] / 2 + grid[1:] / 2
        edges = np.unique(self.edge(a, b, kept[bounds], losses[at] >= kept[bounds], middles[at], middles[at + 1]))
        between = np.concatenate((middles[:1], edges[:-1] / 2 + edges[1:] / 2, middles[-1:]))
        codes = np.searchsorted(kept, self._loss(a, b, between), side="right")
        codes[0], codes[-1] = cells[0], cells[-1]
        ends_of = np.concatenate(([-np.inf], edges, [np.inf]))
        heavy = np.diff(self.cdf(a, 1.0)(ends_of) + self.cdf(b, 1.0)(ends_of)) > 1e-6  # others are not worth their edges
        codes = codes[np.maximum.accumulate(np.where(heavy, np.arange(len(codes)), heavy.argmax()))]
        real = np.flatnonzero(np.diff(codes))  # an edge with one cell on both sides is none
        return Intervals(tuple(edges[real].tolist()), tuple(codes[np.append(real, len(edges))].tolist()), len(kept) + 1)

    def law(self, x: Array, x_prime: Array, scale: float = 1.0) -> tuple[Array, Array]:
        """Differences of distribution functions, summed by cell."""
        partition = self.partition(x, x_prime)
        edges = np.array([-np.inf, *partition.edges, np.inf])
        masses = (np.diff(self.cdf(float(answer[0]), scale)(edges)) for answer in (x, x_prime))
        p, q = (np.bincount(partition.cells, weights=mass, minlength=partition.size) for mass in masses)
        return p, q

    def _largest_loss(self, x: float, x_prime: float) -> float:
        grid = self._grid(x, x_prime)
        losses = np.abs(self._loss(x, x_prime, grid[:-1] / 2 + grid[1:] / 2))
        return float(losses[~np.isnan(losses)].max())


@lru_cache(maxsize=64)
def _intervals(law: _OneNumber, x: float, x_prime: float) -> Intervals:
    return law._partition(x, x_prime)


class _Additive(_OneNumber):
    """Noise on the line or on the integers: neighbours and curves by shifts."""

    reach: float

    def _pairs(self, moves: Sequence[float], shifts: Sequence[float]) -> list[tuple[Array, Array]]:
        """The pairs at the sensitivity; and one at a smaller move where that has a greater loss (the density bumpy or periodic)."""
        at_reach = self._largest_loss(0.0, self.reach)
        sizes = [self._largest_loss(0.0, move) for move in moves]
        chosen = list(dict.fromkeys(shifts))[:1]
        if sizes and max(sizes) > at_reach * (1 + 1e-6) + 1e-9:
            chosen.append(moves[int(np.argmax(sizes))])
        return [(self._answer(0.0), self._answer(move)) for move in chosen]

    def _answer(self, value: float) -> Array:
        return np.array([value])

    def neighbours(self, x: Array, x_prime: Array) -> bool:
        """Whether the answers are within the sensitivity."""
        return bool(np.shape(x) == np.shape(x_prime) == (1,) and abs(float(x_prime[0]) - float(x[0])) <= self.reach * (1 + 1e-9))


class LineLaw(_Additive):
    """One-dimensional noise of a density."""

    kind = "line"

    def __init__(self, claim: Claim, noise: Quadrature, shifts: Sequence[float]) -> None:
        self.claim, self.noise, self.shifts = claim, noise, [float(shift) for shift in shifts]
        self.reach = abs(self.shifts[0])
        self.points = noise.grid()

    def cdf(self, x: float, scale: float) -> Cdf:
        return lambda points: self.noise((np.asarray(points) - x) / scale)

    def _loss(self, x: float, x_prime: float, points: Array) -> Array:
        with np.errstate(invalid="ignore"):
            return self.noise.log_density(points - x) - self.noise.log_density(points - x_prime)

    def _grid(self, x: float, x_prime: float) -> Array:
        return np.unique(np.concatenate((self.points + x, self.points + x_prime)))

    def worst_pairs(self) -> list[tuple[Array, Array]]:
        """0 and the sensitivity; and a smaller move where that is worse."""
        return self._pairs([self.reach * k / 8 for k in range(1, 8)], self.shifts)

    def curve(self) -> tuple[CurvePoint, ...] | None:
        """Gaussian noise in closed form (theory#gaussian), other by quadrature, where the greatest of four moves is the worst."""
        return self._curve

    @cached_property
    def _curve(self) -> tuple[CurvePoint, ...] | None:
        sigma = gaussian_sigma(self.noise.log_density)
        if sigma is not None:
            return gaussian_curve(self.reach / sigma)
        return quadrature_curve(self, [self.reach * k / 4 for k in range(1, 5)])

    def noise_cdf(self) -> Cdf:
        """The noise's distribution function."""
        return self.noise


class IntegerLaw(_Additive):
    """Noise on the integers."""

    kind = "integers"

    def __init__(self, claim: Claim, log_density: Function, support: tuple[float, float], shifts: Sequence[float]) -> None:
        self.claim, self.log_density, self.support = claim, log_density, support
        self.noise = noise = steps(log_density, *support)
        self.shifts = [float(np.floor(abs(shift) * (1 + 1e-12))) for shift in shifts]
        self.reach = self.shifts[0]
        heavy = np.flatnonzero(np.diff(noise.cumulative, prepend=0.0) > 1e-15)
        self.points = np.arange(noise.first + heavy[0], noise.first + heavy[-1] + 2) - 0.5

    def _answer(self, value: float) -> Array:
        return np.array([int(value)])

    def cdf(self, x: float, scale: float) -> Cdf:
        low, high = self.support
        law = (
            self.noise if scale == 1 else steps(partial(scaled_log, self.log_density, scale), np.ceil(low * scale), np.floor(high * scale))
        )
        return lambda points: law(np.asarray(points) - x)

    def _loss(self, x: float, x_prime: float, points: Array) -> Array:
        with np.errstate(invalid="ignore"):
            return self.log_density(points - x) - self.log_density(points - x_prime)

    def _grid(self, x: float, x_prime: float) -> Array:
        return np.arange(self.points[0] + min(x, x_prime), self.points[-1] + max(x, x_prime) + 1)

    def edge(self, x: float, x_prime: float, thresholds: Array, above: Array, left: Array, right: Array) -> Array:
        return left / 2 + right / 2

    def worst_pairs(self) -> list[tuple[Array, Array]]:
        """0 and the sensitivity; and a smaller move where that is worse. None for a sensitivity below 1, which moves no integer."""
        if self.reach < 1:
            return []
        return self._pairs([float(move) for move in range(1, min(int(self.reach), 16))], self.shifts)

    def curve(self) -> tuple[CurvePoint, ...] | None:
        """By sums, where the greatest move is the worst; None for moves too many to try."""
        return self._curve

    @cached_property
    def _curve(self) -> tuple[CurvePoint, ...] | None:
        return quadrature_curve(self, [float(move) for move in range(1, int(self.reach) + 1)]) if 1 <= self.reach <= 16 else None

    def noise_cdf(self) -> Cdf:
        """The noise's distribution function."""
        return self.noise


class KernelLaw(_OneNumber):
    """A density in y and theta."""

    kind = "kernel"

    def __init__(self, claim: Claim) -> None:
        kernel = claim.mechanism
        assert isinstance(kernel, Kernel)
        self.claim, self.density = claim, kernel.density
        self.log_density = log_of(kernel.density, "y", "theta")
        self.output = tuple(inf if end is None else number(end) for end, inf in zip(kernel.output, (-np.inf, np.inf), strict=True))
        self.input = (number(kernel.input[0]), number(kernel.input[1]))
        self.reach = self.input[1] - self.input[0] if claim.sensitivity is None else number(claim.sensitivity)

    @lru_cache(maxsize=64)  # noqa: B019 (one law lives as long as its audit)
    def _law(self, theta: float, scale: float) -> Quadrature:
        kinks = kinks_of(substitute(self.density, {"theta": Num(Fraction(theta))}), "y")
        return quadrature(partial(tempered_log, self.log_density, theta, scale), self.output[0], self.output[1], kinks)

    def cdf(self, x: float, scale: float) -> Cdf:
        return self._law(x, scale)

    def _loss(self, x: float, x_prime: float, points: Array) -> Array:
        with np.errstate(invalid="ignore"):
            return self.log_density(points, np.asarray(x)) - self.log_density(points, np.asarray(x_prime))

    def _grid(self, x: float, x_prime: float) -> Array:
        return np.unique(np.concatenate((self._law(x, 1.0).grid(), self._law(x_prime, 1.0).grid())))

    def worst_pairs(self) -> list[tuple[Array, Array]]:
        """The pair of inputs with the largest loss on a grid of inputs, apart by the sensitivity."""
        low, high = self.input
        if self.claim.sensitivity is None:
            thetas = np.linspace(low, high, 17)
            pairs = [(a, b) for i, a in enumerate(thetas) for b in thetas[:i]]
        else:
            thetas = np.linspace(low, max(low, high - self.reach), 33)
            pairs = [(a, min(a + self.reach, high)) for a in thetas]
        points = np.unique(np.concatenate([self._law(theta, 1.0).grid() for theta in (low, (low + high) / 2, high)]))
        points = points[:-1] / 2 + points[1:] / 2
        first, second = (self.log_density(points, np.array(side)[:, None]) for side in zip(*pairs, strict=True))
        with np.errstate(invalid="ignore"):
            worst = np.nanmax(np.abs(first - second), axis=1)
        alike = np.flatnonzero(worst >= worst.max() * (1 - 1e-9))  # of these the ones furthest apart, which are alike on the least mass
        a, b = max((pairs[k] for k in alike), key=lambda pair: abs(pair[0] - pair[1]))
        return [(np.array([a]), np.array([b]))]

    def neighbours(self, x: Array, x_prime: Array) -> bool:
        """Whether both are inputs and within the sensitivity, where there is one."""
        low, high = self.input
        a, b = float(x[0]), float(x_prime[0])
        slack = 1e-9 * (high - low)
        return low - slack <= min(a, b) and max(a, b) <= high + slack and abs(a - b) <= self.reach * (1 + 1e-9)

    def curve(self) -> None:
        """Not known: the worst pair may differ from epsilon to epsilon."""
        return

    def output_cdf(self, x: Array) -> Cdf:
        """The output's distribution function."""
        return self._law(float(x[0]), 1.0)
