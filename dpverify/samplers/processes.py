"""Gaussian and elliptical processes: paths at equal steps and at any points, and further values of a path of which some are known.

What is not positive definite as it is written is refused: nothing is added to a covariance. The embedding of a covariance at equal steps
into a circulant one, whose eigenvalues a Fourier transform gives, is exact where they are all at least 0. What rounding leaves below 0
is cut off and told of (`cut`): no covariance of two values is off by more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from dpverify.errors import NoSampler
from dpverify.samplers.grids import Grid
from dpverify.samplers.law import Generator, Law, Noise, ending, floats, whole
from dpverify.search.numeric import vectorised
from dpverify.search.processes import covariances
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.errors import DpverifyError, ExprError, Rejected, Undecided
from dpverify.trusted.kernel.expr import Num, num
from dpverify.trusted.kernel.model import EllipticalProcess
from dpverify.trusted.theories.processes.evaluations import Independent, first_points, independent, number_of, points_of
from dpverify.trusted.theories.processes.rules.process_evaluations import inverse_gamma

Array = NDArray[np.float64]
Kernel = Callable[[Array, Array], Array]

ROUNDING: Final = 1e-10
"""The part of a variance that rounding may take."""
_MOST_DOUBLINGS: Final = 4


# -- at equal steps ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Circulant:
    """Paths at equal steps by a circulant embedding. roots: of its eigenvalues over its length. cut: what each covariance may be off by."""

    length: int
    roots: Array
    cut: float

    def paths(self, size: int, rng: np.random.Generator) -> Array:
        """Independent paths, one a row. Real and imaginary parts of one transform are two of them."""
        half, m = -(-size // 2), len(self.roots)
        drawn = rng.standard_normal((half, m)) + 1j * rng.standard_normal((half, m))
        found = np.fft.fft(drawn * self.roots, axis=1)[:, : self.length]
        return np.concatenate([found.real, found.imag])[:size]


def circulant(lags: Callable[[Array], Array], length: int, step: float) -> Circulant:
    """The embedding of K(s, t) = lags(|s - t|) at `length` points. Raises NoSampler where none that is short enough is positive."""
    m, worst = 1 << max(1, (2 * length - 3).bit_length()), 0.0
    for _ in range(_MOST_DOUBLINGS):
        around = np.minimum(np.arange(m), m - np.arange(m)) * step
        eigenvalues = np.fft.fft(lags(around)).real
        worst = float(np.abs(eigenvalues[eigenvalues < 0]).sum()) / m
        if worst <= ROUNDING * float(lags(np.zeros(1))[0]):
            return Circulant(length, np.sqrt(np.maximum(eigenvalues, 0) / m), worst)
        m *= 2
    raise NoSampler(
        f"a circulant embedding of this covariance at {length} points has eigenvalues below 0, which cut off would change covariances by "
        f"{worst:.1e}: draw by Cholesky factors."
    )


# -- at any points -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Cholesky:
    """Paths at given points by the Cholesky factor of their covariance."""

    factor: Array

    def paths(self, size: int, rng: np.random.Generator) -> Array:
        """Independent paths, one a row."""
        return np.asarray(rng.standard_normal((size, len(self.factor))) @ self.factor.T)


def cholesky(kernel: Kernel, points: Array) -> Cholesky:
    """The factor. Raises NoSampler where the covariance is not positive definite in floats."""
    try:
        return Cholesky(np.asarray(np.linalg.cholesky(kernel(points[:, None], points[None, :])), dtype=np.float64))
    except np.linalg.LinAlgError:
        raise NoSampler(_SINGULAR) from None


_SINGULAR: Final = "the covariance at these points is not positive definite in floats: take fewer points, or points further apart."


@dataclass(frozen=True, slots=True, eq=False)
class KarhunenLoeve:
    """Paths as sums of functions times independent normals. functions: values at points, a row for each. missing: the variance left out."""

    functions: Array
    missing: float

    def paths(self, size: int, rng: np.random.Generator) -> Array:
        """Independent paths, one a row."""
        return np.asarray(rng.standard_normal((size, len(self.functions))) @ self.functions)


def karhunen_loeve(kernel: Kernel, points: Array, terms: int) -> KarhunenLoeve:
    """The greatest eigenvalues of the covariance at points, with the greatest variance that the others have at one of these."""
    values, vectors = np.linalg.eigh(kernel(points[:, None], points[None, :]))
    if values[0] < -ROUNDING * values[-1]:
        raise NoSampler(_SINGULAR)
    scaled = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T
    return KarhunenLoeve(scaled[::-1][:terms], float((scaled[::-1][terms:] ** 2).sum(axis=0).max(initial=0.0)))


# -- one path, point by point --------------------------------------------------------------------------------


class Path:
    """One path of s sqrt(V) N, drawn where it is asked for: further values have their law given those that were drawn before.

    A release of all of the function covers every value that is ever asked for: its guarantee is spent once (theory#process-differences).
    The path is the secret: who sees V, or the noise itself, sees the data.
    """

    def __init__(self, kernel: Kernel, rng: np.random.Generator, size: float = 1.0) -> None:
        """size: s sqrt(V), one draw for the whole path."""
        self._kernel, self._rng, self._size = kernel, rng, size
        self._points, self._normals = np.zeros(0), np.zeros(0)
        self._factor = np.zeros((0, 0))
        self._numbers: dict[float, int] = {}

    def at(self, points: Sequence[float] | Array) -> Array:
        """The values at these points. Raises NoSampler for points that are too close to others for floats."""
        wanted = [float(point) for point in points]
        new = np.array([point for point in dict.fromkeys(wanted) if point not in self._numbers])
        if len(new):
            self._extend(new)
        values = self._size * (self._factor @ self._normals)
        return np.asarray(values[[self._numbers[point] for point in wanted]])

    def _extend(self, new: Array) -> None:
        """Rows of the Cholesky factor for further points, and a normal for each."""
        known = len(self._points)
        cross = self._kernel(self._points[:, None], new[None, :])
        beside = solve_triangular(self._factor, cross, lower=True) if known else cross
        own = self._kernel(new[:, None], new[None, :])
        rest = own - beside.T @ beside
        try:
            corner = np.linalg.cholesky(rest)
        except np.linalg.LinAlgError:
            raise NoSampler(_SINGULAR) from None
        if (np.diag(corner) ** 2 <= ROUNDING * np.diag(own)).any():
            raise NoSampler(_SINGULAR)
        self._factor = np.block([[self._factor, np.zeros((known, len(new)))], [beside.T, corner]])
        self._normals = np.append(self._normals, self._rng.standard_normal(len(new)))
        self._numbers |= {float(point): known + i for i, point in enumerate(new)}
        self._points = np.append(self._points, new)


# -- what is declared ------------------------------------------------------------------------------------------


def path(noise: EllipticalProcess, rng: np.random.Generator) -> Path:
    """A path of declared noise, its size drawn. Raises NoSampler for a covariance or a law of V that is not known here."""
    return Path(kernel_of(noise), rng, float(constant(noise.scale)) * float(np.sqrt(variances(noise)(1, rng)[0])))


def variances(noise: EllipticalProcess) -> Callable[[int, np.random.Generator], Array]:
    """Draws of V, of finitely many values or as in t noise. Raises NoSampler for another law."""
    if noise.atoms:
        values, weights = (np.array([float(constant(pair[i])) for pair in noise.atoms]) for i in (0, 1))
        return lambda size, rng: np.asarray(rng.choice(values, size, p=weights))
    try:
        a, b = (float(constant(number)) for number in inverse_gamma(noise))
    except DpverifyError:
        raise NoSampler(
            "the law of V is neither of finitely many values nor that of t noise. Declare it by atoms or nu, or draw V yourself and give a "
            "dpverify.samplers.processes.Path its size."
        ) from None
    return lambda size, rng: np.asarray(b / rng.gamma(a, size=size))


def evaluations(noise: EllipticalProcess, grid: Grid | None) -> Law:
    """The law of the values that are released, in the order of the file, of a function with the values of a true answer there.

    Raises NoSampler where all of the function is released, and for a covariance or a law of V that is not known here.
    """
    if not noise.covariance:
        raise NoSampler("the outputs are functions, and their covariance is not declared. Give it, and with evaluations what is published.")
    if not noise.places and noise.count is None:
        raise NoSampler(
            "the outputs are functions, which no list holds. Say with evaluations which of their values are published, or draw a path "
            "where you ask for it, by dpverify.samplers.processes.path."
        )
    try:
        count = whole(num(number_of(noise)), "the number of evaluations")
        released = [point.value for point in noise.places if isinstance(point, Num)] or first_points(noise, count)
        found = independent(noise, points_of(noise))
        scale, drawn = float(constant(noise.scale)), variances(noise)
        normals, told = _normals(noise, np.array(list(map(float, found.points))))
    except (Rejected, Undecided, ExprError) as error:
        raise NoSampler(f"{error} Give every parameter a value, and points where the function lives.") from None

    weights = _weights(released, found)

    def draw(answers: Sequence[Any], size: int, rng: Generator) -> Array:
        there, sizes = floats(answers), scale * np.sqrt(drawn(size, rng))
        added = normals(size, rng) @ weights * sizes[:, None]
        return there + added if grid is None else grid.rounded(there, added)

    return Law(count, count, draw, (f"{told}, times one draw of V", ending(grid)), (0,) * count)


def _weights(released: Sequence[Fraction], found: Independent) -> Array:
    """What each released value is of those at independent points: a column for each."""
    rows = {point: i for i, point in enumerate(found.points)}
    combinations = {**{point: {point: Fraction(1)} for point in found.points}, **dict(found.decided)}
    weights = np.zeros((len(rows), len(released)))
    for column, point in enumerate(released):
        for other, weight in combinations[point].items():
            weights[rows[other], column] = float(weight)
    return weights


def _normals(noise: EllipticalProcess, at: Array) -> tuple[Noise, str]:
    """Paths of N at these points, or these coefficients of it."""
    if noise.covariance == "eigenvalues":
        deviations = np.sqrt(vectorised(noise.shape[0], "k")(at) + np.zeros(len(at)))
        return lambda size, rng: rng.standard_normal((size, len(at))) * deviations, "independent normals, one a coefficient"
    kernel = kernel_of(noise)
    found = cholesky(kernel, at)
    if (np.diag(found.factor) ** 2 <= ROUNDING * kernel(at, at)).any():
        raise NoSampler(_SINGULAR)
    return found.paths, f"normals by the Cholesky factor of their covariance at {len(at)} points"


def kernel_of(noise: EllipticalProcess) -> Kernel:
    """The declared covariance in floats. Raises NoSampler for a sequence, which has none, or none at all."""
    found = covariances.kernel_of(noise)
    if found is None:
        raise NoSampler("only a covariance of functions is drawn at points: declare one.")
    return found
