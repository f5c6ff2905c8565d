"""Two copies of t noise: their privacy loss has a density in closed form, whatever the dimension.

In units in which the density is c (1 + |y|^2)^(-k), k = (nu + d)/2, let D be the distance and E = exp(2 asinh(D/2)). The inverse
stereographic projection onto the unit sphere makes 1 + |y|^2 = 2/(1 - z), z the last coordinate, and the ratio

    kappa = (1 + |y - D e|^2)/(1 + |y|^2) = cosh(2b) + sinh(2b) t,    E = e^(2b),

t the coordinate along an axis on which the last one is -tanh b. The loss is k log(kappa), so that its level sets are the parallels
of that axis. On a parallel, 1 - z = ((1 + tanh b)(1 + t)/2) |1 - x e^(i theta)|^2 with y = x^2 = (1 - t)/(E (1 + t)), and the mean of
|1 - x e^(i theta)|^(nu - d) over sin(theta)^(d - 2) is F(y) = 2F1((d - nu)/2, 1 - nu/2; d/2; y) for y < 1 (Gegenbauer). Hence

    kappa = (E + y)/(1 + E y), positive losses are those of y < 1, and there y has the densities
    P: C y^(d/2 - 1) F(y) (1 + E y)^(-k),    Q: C y^(d/2 - 1) F(y) (E + y)^(-k),
    C = E^(nu/2) (E + 1)^((d - nu)/2) / B(nu/2, d/2).

At epsilon the event is y < Y, Y = (E - l)/(E l - 1), l = e^(epsilon/k): in the space of y a ball (Apollonius). Its probabilities are
integrals of fixed functions up to Y. They are kept as Taylor polynomials on intervals that double from 0 and halve towards 1. The rest
of a polynomial is at most M q^N/(1 - q) by Cauchy's estimate, M the product of bounds of the three factors on a circle. F is at most
the series with the absolute values of its parameters, all of whose terms are positive, and as a mean of (1 - x e^(i theta))^a
(1 - x e^(-i theta))^a with 2 a = nu - d, also for complex x, at most (1 +- |x|)^(2 a). At epsilon = 0 the event is a half-space.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from flint import acb, arb, arb_poly, ctx

from dpverify.trusted.kernel.balls import MAX_PRECISION, exact, precision
from dpverify.trusted.kernel.errors import Undecided, require

_INSIDE: Final = arb(7) / 8
"""How much of the way to the nearest singularity a circle goes."""
_OVER: Final = arb(9) / 8
"""How far beyond its interval, in half-widths, a Taylor polynomial is trusted."""
_MOST_TERMS: Final = 20_000
_MOST_PANELS: Final = 128


@dataclass(frozen=True, slots=True)
class _Panel:
    """Integrals of P's and Q's functions from 0 to `low`, and from there on as polynomials in y - centre, each with its rest."""

    low: arb
    high: arb
    centre: arb
    before: tuple[arb, arb]
    onwards: tuple[arb_poly, arb_poly]
    rests: tuple[arb, arb]

    def __call__(self, y: arb) -> tuple[arb, arb]:
        x, start = y - self.centre, self.low - self.centre
        require(abs(x) <= _OVER * abs(start), Undecided("the loss of t noise is not enclosed well enough; raise the precision."))
        p, q = (before + poly(x) - poly(start) + rest for before, poly, rest in zip(self.before, self.onwards, self.rests, strict=True))
        return p, q


class Student:
    """The pair of t noise of nu > 0 degrees of freedom in d >= 2 dimensions at a distance D > 0, at the precision of the making.

    nu: a ball. distance: in units in which the density is a multiple of (1 + |y|^2)^(-(nu + d)/2). Raises Undecided.
    """

    def __init__(self, nu: arb, dimension: int, distance: arb) -> None:
        self._prec, self.alone = ctx.prec, arb(0)
        self._nu, self._d, self._k = nu, dimension, (nu + dimension) / 2
        self._half = (distance / 2).asinh()
        self._e = (2 * self._half).exp()
        self._less = (2 * self._half).expm1()
        self._parameters = (dimension - nu) / 2, 1 - nu / 2, arb(dimension) / 2
        beta = ((nu / 2).lgamma() + (arb(dimension) / 2).lgamma() - self._k.lgamma()).exp()
        self._factor = self._e ** (nu / 2) * (self._e + 1) ** ((dimension - nu) / 2) / beta
        if not (nu > 0 and self._less > 0 and self._factor.is_finite()):
            raise Undecided("t noise whose degrees of freedom or distance are not certainly positive.")
        self._first = arb(2) ** -exact((8 * self._e).upper()).__ceil__().bit_length()
        self._near, self._near_rests = self._near_zero()
        self._panels: list[_Panel] = []

    def divergence(self, epsilon: arb) -> arb:
        """H at an exact epsilon >= 0."""
        with precision(self._prec):
            y = self._last(epsilon)
            if y is None:  # H falls, and by at most e^epsilon - 1
                first = self._total_variation()
                return (first - epsilon.expm1()).union(first) if epsilon > 0 else first
            p, q = self._integrals(y)
            return (p - epsilon.exp() * q).max(arb(0)).min(arb(1))

    def _last(self, epsilon: arb) -> arb | None:
        """Y; None where it is too close to 1 for the working precision, or for as many intervals."""
        grown = (epsilon / self._k).expm1()
        if grown >= self._less:
            return arb(0)
        y = (self._less - grown) / (self._less + self._e * grown)
        return y if 1 - y > arb(2) ** -min(ctx.prec, _MOST_PANELS) else None

    def _total_variation(self) -> arb:
        """H at epsilon = 0: the mass of the points at most D/2 from the plane through the centre."""
        square = acb(self._half.tanh() ** 2)
        between: arb = square.beta_lower(acb(arb(1) / 2), acb(self._nu / 2), regularized=True).real
        return between

    # -- integrals -------------------------------------------------------------------------------------

    def _integrals(self, y: arb) -> tuple[arb, arb]:
        """P's and Q's probabilities of (0, y), y < 1."""
        if y <= 0:
            return arb(0), arb(0)
        if not y > 0:
            p, q = self._integrals(y.upper())
            return arb(0).union(p.upper()), arb(0).union(q.upper())
        p, q = self._first_integrals(y) if y <= self._first else self._panel(y)(y)
        return self._factor * p, self._factor * q

    def _first_integrals(self, y: arb) -> tuple[arb, arb]:
        weight = y.sqrt() ** self._d
        p, q = (weight * (poly(y) + rest) for poly, rest in zip(self._near, self._near_rests, strict=True))
        return p, q

    def _panel(self, y: arb) -> _Panel:
        while not (self._panels and y <= self._panels[-1].high):
            low = self._panels[-1].high if self._panels else self._first
            before = self._panels[-1](low) if self._panels else self._first_integrals(low)
            self._panels.append(self._made(low, before))
        return next(panel for panel in self._panels if y <= panel.high)

    def _near_zero(self) -> tuple[tuple[arb_poly, arb_poly], tuple[arb, arb]]:
        """The integrals from 0 to y over y^(d/2), up to the first edge."""
        reach = 1 / (2 * self._e)
        at, ratio = arb(0), self._first / reach
        bounds = self._majorant(reach) / (1 - self._e * reach) ** self._k, self._majorant(reach) / (self._e - reach) ** self._k
        count = max(self._terms(bound / least, ratio) for bound, least in zip(bounds, (arb(1), self._e**-self._k), strict=True))
        f, half = arb_poly(self._hypergeometric(at, count)), arb(self._d) / 2
        polys = [self._cut(f * factor, count) for factor in self._loss_factors(at, count)]
        p, q = (arb_poly([c / (n + half) for n, c in enumerate(poly)]) for poly in polys)
        rests = [_about(bound * ratio**count / ((1 - ratio) * half)) for bound in bounds]
        return (p, q), (rests[0], rests[1])

    def _made(self, low: arb, before: tuple[arb, arb]) -> _Panel:
        """The interval from `low` to its double, or half of the way to 1."""
        high = 2 * low if 4 * low <= 1 else (1 + low) / 2
        centre, half = (low + high) / 2, (high - low) / 2
        reach = (_INSIDE * centre.min(1 - centre)).mid()
        ratio = _OVER * half / reach
        most = (centre + reach) ** (arb(self._d) / 2 - 1) * self._majorant(centre + reach)
        bounds = most / (1 + self._e * (centre - reach)) ** self._k, most / (self._e + centre - reach) ** self._k
        count = max(self._terms(bound * half / known, ratio) for bound, known in zip(bounds, before, strict=True))
        common = self._cut(
            arb_poly(self._hypergeometric(centre, count)) * arb_poly(_powers(centre, arb(1), arb(self._d) / 2 - 1, count)), count
        )
        p, q = (self._cut(common * factor, count).integral() for factor in self._loss_factors(centre, count))
        rests = [_about(2 * _OVER * half * bound * ratio**count / (1 - ratio)) for bound in bounds]
        return _Panel(low, high, centre, before, (p, q), (rests[0], rests[1]))

    # -- series ----------------------------------------------------------------------------------------

    def _majorant(self, radius: arb) -> arb:
        """An upper bound of |F| for |y| <= radius < 1."""
        a, b, c = self._parameters
        series = acb(radius).hypgeom_2f1(acb(abs(a)), acb(abs(b)), acb(c)).real.upper()
        root = radius.sqrt()
        mean = ((1 - root) ** (-2 * a)).max((1 + root) ** (-2 * a)).upper()
        return series.min(mean) if series.is_finite() else mean

    @staticmethod
    def _terms(size: arb, ratio: arb) -> int:
        """How many terms leave about 2^-prec of `size` times a power of `ratio`."""
        wanted = (ctx.prec + (size / (1 - ratio)).log() / arb.const_log2()) / -(ratio.log() / arb.const_log2())
        require(wanted < _MOST_TERMS, Undecided("Taylor polynomials of the loss of t noise would be too long."))
        return max(2, exact(wanted.upper()).__ceil__())

    @staticmethod
    def _cut(poly: arb_poly, count: int) -> arb_poly:
        return arb_poly(poly.coeffs()[:count])

    def _loss_factors(self, centre: arb, count: int) -> tuple[arb_poly, arb_poly]:
        """(1 + E y)^(-k) and (E + y)^(-k) in powers of y - centre."""
        p = _powers(1 + self._e * centre, self._e, -self._k, count)
        return arb_poly(p), arb_poly(_powers(self._e + centre, arb(1), -self._k, count))

    def _hypergeometric(self, centre: arb, count: int) -> list[arb]:
        """F in powers of y - centre, from its differential equation y(1 - y)F'' + (c - (a + b + 1)y)F' - abF = 0."""
        a, b, c = self._parameters
        if centre == 0:
            terms = [arb(1)]
            for n in range(count - 1):
                terms.append(terms[-1] * (a + n) * (b + n) / ((c + n) * (n + 1)))
            return terms
        terms = [_sharp(a, b, c, centre), a * b / c * _sharp(a + 1, b + 1, c + 1, centre)]
        lead, turn, first = centre * (1 - centre), 1 - 2 * centre, c - (a + b + 1) * centre
        for n in range(count - 2):
            step = terms[n] * (a + n) * (b + n) - terms[n + 1] * (n + 1) * (turn * n + first)
            terms.append(step / (lead * ((n + 1) * (n + 2))))
        return terms[:count]


def _sharp(a: arb, b: arb, c: arb, at: arb) -> arb:
    """2F1(a, b; c; at), at more precision where large parameters cancel.

    How much they cancel depends on the transformation that flint takes and is seen in the ball: where half of its bits are wrong it is
    computed a second time, with eight times as many. What is still lost then makes the enclosure wide, not wrong.
    """
    parameters = acb(a), acb(b), acb(c)
    ball: arb = acb(at).hypgeom_2f1(*parameters).real
    if ball.rel_accuracy_bits() < ctx.prec // 2:
        with precision(min(8 * ctx.prec, MAX_PRECISION)):
            ball = acb(at).hypgeom_2f1(*parameters).real
    return ball


def _powers(at: arb, slope: arb, exponent: arb, count: int) -> list[arb]:
    """(at + slope x)^exponent in powers of x."""
    terms, ratio = [at**exponent], slope / at
    for n in range(count - 1):
        terms.append(terms[-1] * ratio * (exponent - n) / (n + 1))
    return terms


def _about(bound: arb) -> arb:
    """The ball round 0 of a radius."""
    radius = bound.abs_upper()
    return (-radius).union(radius)
