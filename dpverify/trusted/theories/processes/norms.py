"""How far a difference of functions is, in the norm of a Gaussian process: derived from the covariance (theory#cameron-martin-norms).

Of coefficients h_k beside eigenvalues lambda_k the squared norm is the sum of h_k^2/lambda_k. Of functions beside a covariance whose
reproducing kernel space is a Sobolev space it is an integral and terms at the ends of the interval; that theorem is an assumption that
is shown. Where the sum or the integral is certainly infinite, or the function is certainly not smooth enough, the norm is infinite.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import Any, Final

from flint import acb, arb, ctx

from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.balls import constant, exact, finite, hull, precision
from dpverify.trusted.kernel.canonical_form import exact_fraction
from dpverify.trusted.kernel.compare import certainly_equal, certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected, Undecided, require
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, add, div, format_expr, mul, num, power, sqrt, sub, substitute, symbols
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import EllipticalProcess
from dpverify.trusted.language.calls import calls
from dpverify.trusted.language.derivatives import derivative
from dpverify.trusted.language.rationals import read_whole, to_whole
from dpverify.trusted.numbers.asymptotics import Germ, end_jet
from dpverify.trusted.numbers.complex import compiled
from dpverify.trusted.numbers.integrability import end_of
from dpverify.trusted.numbers.kinks import resolve
from dpverify.trusted.numbers.quadrature import integral
from dpverify.trusted.theories.processes import infinite_sums

WHAT: Final = "the norm of the process"
SPACES: Final[Mapping[str, str]] = {
    "brownian": "the reproducing kernel space of Brownian motion is that of h with h(0) = 0 and finite int h'^2 (Cameron and Martin 1944)",
    "bridge": "the reproducing kernel space of the Brownian bridge is that of h with h = 0 at both ends and finite int h'^2 (Parzen 1961)",
    "matern-1/2": "the reproducing kernel space of the Matern covariance 1/2 on an interval is the Sobolev space of order 1 (Parzen 1961)",
    "matern-3/2": "the reproducing kernel space of the Matern covariance 3/2 on an interval is the Sobolev space of order 2 (Parzen 1961)",
    "matern-5/2": "the reproducing kernel space of the Matern covariance 5/2 on an interval is the Sobolev space of order 3 (Parzen 1961)",
}
"""The theorems about closed forms, as assumptions, by the names of covariances."""
WRITTEN: Final = "what is written out is a covariance"
SMOOTHNESS: Final[Mapping[str, int]] = {"brownian": 1, "bridge": 1, "matern-1/2": 1, "matern-3/2": 2, "matern-5/2": 3}
"""How many derivatives functions of the space have."""
JUMPS: Final[Mapping[str, int]] = {**SMOOTHNESS, "rbf": 4}
"""In how many derivatives, from the function itself on, a jump is looked for; of rbf functions of the space have all of them."""
MOST_CELLS: Final = 4096
MOST_CUTS: Final = 64
_T: Final = "t"


def is_finite(noise: EllipticalProcess) -> bool:
    """Whether finitely many numbers of the function are released."""
    return bool(noise.places) or noise.count is not None


def sensitivity(noise: EllipticalProcess, evidence: Any) -> Sensitivity:
    """The greatest norm of a difference, enclosed at the working precision. evidence: for each difference, what `squared_norm` is told.

    Raises Rejected, Undecided.
    """
    if all(h == ZERO for h in noise.differences):
        return Sensitivity(ZERO, ZERO)
    if is_finite(noise):
        from dpverify.trusted.theories.processes import evaluations

        return evaluations.sensitivity(noise)
    if not isinstance(evidence, list) or len(evidence) != len(noise.differences):
        raise Rejected(WHAT, "the differences", "how the norm of each is derived is not told")
    squares = [squared_norm(noise, h, one) for h, one in zip(noise.differences, evidence, strict=True)]
    return between(squares)


def between(squares: list[arb]) -> Sensitivity:
    """The greatest of norms by their squares, between two rationals."""
    ends = [(finite(square).lower().max(arb(0)), square.upper().max(arb(0))) for square in squares]
    lower, upper = max(exact(low.sqrt().lower()) for low, _ in ends), max(exact(high.sqrt().upper()) for _, high in ends)
    return Sensitivity(Num(upper), Num(max(lower, Fraction(0))))


def assumed(noise: EllipticalProcess) -> tuple[str, ...]:
    """What the norm of functions rests on: a theorem about their space, or that what is written out is a covariance."""
    if is_finite(noise):
        return ()
    return (WRITTEN,) if noise.covariance == "kernel" else (SPACES[noise.covariance],) if noise.covariance in SPACES else ()


def squared_norm(noise: EllipticalProcess, h: Expr, told: Any) -> arb:
    """A ball that contains the squared norm of a difference. Raises Undecided, Rejected where it is not certainly finite.

    told: of a sequence what `infinite_sums.read` reads; of a function "cuts", rational points between which it is smooth, and "cells",
    into how many equal cells each piece is cut; under "left" and "right" k where the function is singular at that end of the interval,
    and its end starts at 2^-k from there. Of rbf nothing; of a covariance that is written out what `kernel_combinations` reads,
    or, with "cells", `markov_kernels`.
    """
    if h == ZERO:
        return arb(0)
    if noise.covariance == "eigenvalues":
        known = infinite_sums.read(told)
        return infinite_sums.total(_terms(noise, h, known.start, known.signs), known, ctx.prec)
    if noise.covariance in ("rbf", "kernel"):
        return _by_form(noise, h, told)
    return Functions(noise, h, told).squared_norm()


def is_infinite(noise: EllipticalProcess, h: Expr, told: Any) -> bool:
    """Whether a difference is certainly outside the space of the noise.

    told: of a sequence what `infinite_sums.diverges` is told, "signs", and "start", from where eigenvalues are positive by their scale. Of
    a function "cuts" and "cells" as in `squared_norm`, and one of: "cut" and "derivative", the numbers of a cut and of a derivative that
    jumps there; "side", "left" or "right", an end of the interval where the function is not 0 though the noise is; "side" and "end", k
    where the integral of the squared highest derivative is infinite over the points within 2^-k of that end. Of rbf a jump, or "term", the
    number of a term that no function of the space has. Of a covariance that is written out what `markov_kernels` reads.
    """
    if noise.covariance == "eigenvalues":
        start = read_whole(told, "start", WHAT, 16, infinite_sums.MOST_STARTS)
        return infinite_sums.diverges(_terms(noise, h, start, infinite_sums.read_signs(told)), told)
    if noise.covariance == "kernel":
        _require_values(noise, h)
        from dpverify.trusted.theories.processes.markov_kernels import Clocked

        return Clocked(noise, h, told).is_outside()
    if noise.covariance == "rbf":
        _require_values(noise, h)
        if "cut" in told:
            return Functions(noise, h, told).jumps()
        from dpverify.trusted.theories.processes.gaussian_functions import is_outside, terms_of

        return is_outside(h, noise.shape[1], read_whole(told, "term", WHAT, 0, len(terms_of(h)) - 1))
    return Functions(noise, h, told).is_outside()


@remembered(64)
def _terms(noise: EllipticalProcess, h: Expr, start: int, signs: infinite_sums.Signs) -> Expr:
    """h_k^2/lambda_k, with all eigenvalues certainly positive."""
    (eigenvalues,) = noise.shape
    require(symbols(h) | symbols(eigenvalues) <= {infinite_sums.K}, Rejected(WHAT, "the sequences", "they have parameters without a value"))
    with precision(max(ctx.prec, 64)):
        infinite_sums.require_positive(eigenvalues, start, "the eigenvalues", signs)
    return div(mul(h, h), eigenvalues)


def _by_form(noise: EllipticalProcess, h: Expr, told: Any) -> arb:
    """The squared norm of a function that its form puts into the space. Raises Rejected, Undecided."""
    _require_values(noise, h)
    if noise.covariance == "kernel":
        low, high = interval_of(noise)
        if "cells" in told:
            from dpverify.trusted.theories.processes.markov_kernels import Clocked

            return Clocked(noise, h, told).squared_norm()
        from dpverify.trusted.theories.processes import kernel_combinations

        return kernel_combinations.squared_norm(noise.shape[0], h, low, high, told)
    from dpverify.trusted.theories.processes import gaussian_functions

    return gaussian_functions.squared_norm(h, *noise.shape)


def _require_values(noise: EllipticalProcess, h: Expr) -> None:
    """Raises Rejected for parameters without a value, an interval that is none, or a covariance that is not certainly positive."""
    free = frozenset({"s", "t"}) if noise.covariance == "kernel" else frozenset[str]()
    if not symbols(h) <= {_T} or any(symbols(one) - free for one in noise.shape):
        raise Rejected(WHAT, "the difference", "it, or the covariance, has parameters without a value")
    interval_of(noise)
    if noise.covariance != "kernel" and not all(certainly_lt(ZERO, one) for one in noise.shape):
        raise Rejected(WHAT, "the covariance", "its variance and length are not certainly positive")


class Functions:
    """A function on an interval beside a covariance whose space is a Sobolev space."""

    def __init__(self, noise: EllipticalProcess, h: Expr, told: Any) -> None:
        if noise.covariance not in JUMPS:
            raise Undecided(f"{WHAT}: whether a function is in the space of the covariance {noise.covariance!r} is not decided here.")
        _require_values(noise, h)
        self.variance, self.length = noise.shape
        self._read(noise, h, told, JUMPS[noise.covariance])

    def _read(self, noise: EllipticalProcess, h: Expr, told: Mapping[str, Any], order: int) -> None:
        """The function in pieces. order: how many derivatives it has to have."""
        self.name, self.h, self.told, self.order = noise.covariance, h, told, order
        self.low, self.high = interval_of(noise)
        self.pieces = list(self._pieces())

    def _pieces(self) -> Iterator[tuple[Fraction, Fraction, list[Expr]]]:
        """The ends of every piece, with the function on it without kinks and its derivatives."""
        points = [self.low, *(exact_fraction(cut) for cut in self.told.get("cuts", ())), self.high]
        rises = len(points) <= MOST_CUTS + 2 and all(a < b for a, b in pairwise(points))
        require(rises, CertificateError(f"{WHAT}: 'cuts' are more than {MOST_CUTS}, or do not rise inside the interval."))
        for a, b in pairwise(points):
            found = [resolve(self.h, _T, a, b)]
            for _ in range(self.order):
                found.append(derivative(found[-1], _T))
            yield a, b, found

    def squared_norm(self) -> arb:
        """The integral and what stands at the left end."""
        self._require_smooth()
        with precision(ctx.prec + 32):
            total = sum((self._over(*piece) for piece in self.pieces), arb(0))
            return finite(total + self._at_start())

    def is_outside(self) -> bool:
        """Whether it is certain that the function is not in the space."""
        if "cut" in self.told:
            return self.jumps()
        side = self.told["side"]
        if "end" not in self.told:
            at = Num(self.low if side == "left" else self.high)
            pinned = self.name == "bridge" or (self.name == "brownian" and side == "left")
            here = substitute(self.pieces[0 if side == "left" else -1][2][0], {_T: at})
            return pinned and (certainly_lt(ZERO, here) or certainly_lt(here, ZERO))
        last = self.pieces[0 if side == "left" else -1]
        germ = self._germ(mul(last[2][-1], last[2][-1]), side, self.told["end"], last)
        if not germ.k.lo > 0:
            return False
        return germ.direction() > 0 if germ.growth else (germ.a, germ.b) >= (Fraction(1), Fraction(-1))

    def jumps(self) -> bool:
        """Whether a derivative below the highest certainly jumps at a cut between two pieces on which the function is smooth."""
        cut, j = read_whole(self.told, "cut", WHAT, 0, len(self.pieces) - 2), read_whole(self.told, "derivative", WHAT, 0, self.order - 1)
        for number in (cut, cut + 1):
            self._require_analytic(number)
        apart = self._gap(cut, j)
        return certainly_lt(ZERO, apart) or certainly_lt(apart, ZERO)

    def _gap(self, cut: int, j: int) -> Expr:
        (_, at, left), (_, _, right) = self.pieces[cut : cut + 2]
        return sub(*(substitute(side[j], {_T: Num(at)}) for side in (right, left)))

    def _germ(self, expr: Expr, side: str, start: Any, piece: tuple[Fraction, Fraction, list[Expr]]) -> Germ:
        """The germ of an expression at an end of the interval, inside the piece there."""
        end = end_of(self.low if side == "left" else self.high, -1 if side == "left" else 1, to_whole(start, side, WHAT, 4, 1000))
        require(piece[0] < end.boundary() < piece[1], CertificateError(f"{WHAT}: an end is longer than the piece that it is of."))
        found: Germ = end_jet(expr, _T, end).v
        return found

    # -- smoothness

    def _require_smooth(self) -> None:
        """Raises unless the function certainly has the derivatives that the space wants, and is 0 where the noise is."""
        if calls(self.h, "floor"):  # at a single point it may have another value than beside it
            raise Rejected(WHAT, "the difference", "it has a floor in it, which is continuous nowhere that it steps")
        for number in range(len(self.pieces)):
            self._require_analytic(number)
        for cut in range(len(self.pieces) - 1):
            for j in range(self.order):
                if not certainly_equal(self._gap(cut, j), ZERO):
                    raise Rejected(WHAT, "the difference", f"its derivative of order {j} is not certainly continuous at a cut")
        pinned = {"brownian": ("left",), "bridge": ("left", "right")}.get(self.name, ())
        for side in pinned:
            at, g = (self.low, self.pieces[0][2][0]) if side == "left" else (self.high, self.pieces[-1][2][0])
            if not certainly_equal(substitute(g, {_T: Num(at)}), ZERO):
                raise Rejected(WHAT, "the difference", f"it is not certainly 0 at t = {at}, where the noise is")

    def _require_analytic(self, number: int) -> None:
        """Raises unless the function is certainly analytic on a piece: on every cell, and on an end where it is told to be singular."""
        low, high, found = self.pieces[number]
        for side, outer in (("left", number == 0), ("right", number == len(self.pieces) - 1)):
            if not outer or side not in self.told:
                continue
            if self.name not in ("brownian", "bridge"):
                raise Rejected(WHAT, "the difference", "it is singular at an end of the interval, where this covariance is not")
            germ = self._germ(found[0], side, self.told[side], self.pieces[number])
            if not germ.direction() < 0:
                raise Rejected(WHAT, "the difference", "it does not certainly tend to 0 at the end where it is singular")
            length = Fraction(1, 2 ** self.told[side])
            low, high = (low + length, high) if side == "left" else (low, high - length)
        cells = read_whole(self.told, "cells", WHAT, 1, MOST_CELLS)
        function, step = compiled(found[0], _T), (high - low) / cells
        for i in range(cells):
            if not function(acb(hull(low + i * step, low + (i + 1) * step)), True).is_finite():
                raise Undecided(f"{WHAT}: the difference is not certainly smooth from {low + i * step} to {low + (i + 1) * step}.")

    # -- the norm

    def _rate(self) -> Expr:
        """lambda = sqrt(2 nu)/length of a Matern covariance of order nu."""
        return div(sqrt(num(2 * self.order - 1)), self.length)

    def _over(self, low: Fraction, high: Fraction, found: list[Expr]) -> arb:
        """The integral over a piece of h'^2, or of ((d/dt + lambda)^m h)^2, over the intensity of the noise that drives the process."""
        if self.name in ("brownian", "bridge"):
            driven, intensity = found[1], self.variance
        else:
            rate, m = self._rate(), self.order
            driven = add(*(mul(num(comb(m, j)), power(rate, num(m - j)), found[j]) for j in range(m + 1)))
            strength = {1: num(2), 2: num(4), 3: Num(Fraction(16, 3))}[m]
            intensity = mul(strength, self.variance, power(rate, num(2 * m - 1)))
        if driven == ZERO:
            return arb(0)
        return integral(mul(driven, driven), _T, low, high, ctx.prec - 32) / constant(intensity)

    def _at_start(self) -> arb:
        """What the stationary law of (h, h', h'') at the left end adds."""
        if self.name in ("brownian", "bridge"):
            return arb(0)
        at = {_T: Num(self.low)}
        h = [constant(substitute(found, at)) for found in self.pieces[0][2][: self.order]]
        variance, rate = constant(self.variance), constant(self._rate())
        if self.order == 1:
            return h[0] * h[0] / variance
        if self.order == 2:
            return (h[0] * h[0] + h[1] * h[1] / rate**2) / variance
        # covariance of (x, x', x''): variance times ((1, 0, -c), (0, c, 0), (-c, 0, 9 c^2)), c = rate^2/3
        c = rate**2 / 3
        return (9 * h[0] * h[0] / 8 + h[0] * h[2] / (4 * c) + h[2] * h[2] / (8 * c * c) + h[1] * h[1] / c) / variance


def interval_of(noise: EllipticalProcess) -> tuple[Fraction, Fraction]:
    """The ends of the interval that functions live on. Raises Rejected where they are not two rationals in order, or a noise wants 0."""
    ends = noise.interval
    if len(ends) != 2 or not all(isinstance(end, Num) for end in ends):
        raise Rejected(WHAT, "the interval", "its ends are not two rational numbers")
    low, high = (end.value for end in ends if isinstance(end, Num))
    if not low < high:
        raise Rejected(WHAT, "the interval", f"it ends at {format_expr(ends[1])}, before it starts")
    require(noise.covariance not in ("brownian", "bridge") or low == 0, Rejected(WHAT, "the interval", "this noise starts at 0"))
    return low, high
