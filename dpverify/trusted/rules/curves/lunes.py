"""Integrals over lunes: the hockey-stick divergence of two copies of radial noise, and the probability of its event.

See `spherical_caps` for the theorem. Everything is at the working precision of the making.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from flint import acb, arb, arb_poly, ctx

from dpverify.trusted.language.errors import ExprError, Undecided
from dpverify.trusted.language.expr import ONE, ZERO, Call, Expr, Mul, Num, Pow, Sym, linear_part, mul, symbols
from dpverify.trusted.numbers.asymptotics import End
from dpverify.trusted.numbers.balls import MAX_PRECISION, constant, exact, precision, rational
from dpverify.trusted.numbers.complex import square_root
from dpverify.trusted.numbers.integrability import end_mass
from dpverify.trusted.numbers.noise import weighted
from dpverify.trusted.numbers.quadrature import integral
from dpverify.trusted.order.convexity import Shapes
from dpverify.trusted.rules.curves.crossings import Loss, Span
from dpverify.trusted.rules.curves.gaps import Gap

_LEAST_TAIL: Final = 16
_MOST_DOUBLINGS: Final = 2_000
_HALVINGS: Final = 12
_SAMPLES: Final = 12
_REACHES: Final = ((arb(1) / 16, 4), (arb(1) / 4, 2), (arb(5) / 8, Fraction(2, 3)))
"""Where a power series is cut after so many terms that each gives these bits."""
_HALF_REACHES: Final = (arb(1) / 16, arb(1) / 4, arb(3) / 8, arb(9) / 16)
"""Where a series of positive terms is cut for arguments up to about a half."""
_MOST_ALTERNATING: Final = 16
_WIDE: Final = arb(2) ** -6
_EVALUATIONS: Final = 40_000
_UNIT: Final = arb(0).union(arb(1))
_NAN: Final = acb("nan")


class Cap:
    """C(x) = x^m F(m, 1 - m; m + 1; x), m the integral of (t (1 - t))^(m - 1) from 0 to x, for 2 m a positive integer."""

    def __init__(self, twice: int) -> None:
        self.twice, self._m = twice, arb(twice) / 2
        self._finite = twice % 2 == 0
        self.full = self._m * (2 * self._m.lgamma() - (2 * self._m).lgamma()).exp()
        self._high = _Positive(self._m) if twice > _MOST_ALTERNATING else None
        wanted = [twice // 2] if self._finite else [twice + int(ctx.prec / bits) for _, bits in _REACHES]
        terms = [arb(1)]
        while self._high is None and len(terms) < max(wanted):
            k = len(terms)
            terms.append(terms[-1] * (k - self._m) / k)
        series = [self._m * term / (self._m + k) for k, term in enumerate(terms)]
        self._sums = [(arb_poly(series[:count]), abs(series[min(count, len(series)) - 1])) for count in wanted]

    def factor(self, x: acb, a: bool) -> acb:
        """C(x) / x^m, by its series; the terms fall from the m-th on."""
        if self._high is not None:
            return self._factor_high(self._high, x, a)
        if self._finite:
            return _sum(self._sums[0][0], x)
        size = x.abs_upper()
        for (reach, _), (series, last) in zip(_REACHES, self._sums, strict=True):
            if size <= reach:
                rest = (last * size ** series.length() / (1 - size)).upper()
                return _sum(series, x) + acb((-rest).union(rest), (-rest).union(rest))
        if x.rad() > _WIDE:
            return self._wide(x, a)
        return x.hypgeom_2f1(self._m, 1 - self._m, self._m + 1) if x.real < 1 else _NAN

    def _factor_high(self, high: _Positive, x: acb, a: bool) -> acb:
        """The same where the terms of the series in x would cancel; C(x) + C(1 - x) is C(1)."""
        if x.rad() > _WIDE / self._m:
            return self._wide(x, a)
        rest = 1 - x
        if x.real < rest.real:
            return self.power(rest, a) * high(x)
        return (self.full - self.power(x, a) * self.power(rest, a) * high(rest)) / self.power(x, a)

    def _wide(self, x: acb, a: bool) -> acb:
        """The mean of (1 - x t)^(m - 1) for t of density m t^(m - 1)."""
        return (1 - x * _UNIT).pow(self._m - 1, analytic=a)

    def power(self, x: acb, a: bool) -> acb:
        """x^m."""
        return x ** (self.twice // 2) if self._finite else square_root(x, a) ** self.twice


class _Positive:
    """F(1, 2 m; m + 1; x) = C(x) / (x (1 - x))^m, by Euler: a series of positive terms."""

    def __init__(self, m: arb) -> None:
        self._terms, self._series = [arb(1)], list[tuple[arb, arb_poly, arb, arb]]()
        for reach in _HALF_REACHES:
            size = reach ** (len(self._terms) - 1) * self._terms[-1]
            while True:
                k = len(self._terms) - 1
                ratio = reach * (2 * m + k) / (m + 1 + k)  # of this term and the next: it falls with k where it is above `reach`
                if ratio < 1 and size * ratio / (1 - ratio) <= arb(2) ** -ctx.prec:
                    break
                self._terms.append(self._terms[-1] * (2 * m + k) / (m + 1 + k))
                size = size * ratio
            last = self._terms[-1]
            self._series.append((reach, arb_poly(self._terms), last, (2 * m + k) / (m + 1 + k)))

    def __call__(self, x: acb) -> acb:
        size = x.abs_upper()
        for reach, series, last, ratio in self._series:
            if size <= reach:
                quotient = size * ratio
                rest = (last * size ** (series.length() - 1) * quotient / (1 - quotient)).upper()
                return _sum(series, x) + acb((-rest).union(rest), (-rest).union(rest))
        return _NAN


def _sum(series: arb_poly, x: acb) -> acb:
    return acb(series(x.real)) if x.imag == 0 else series(x)


@dataclass(frozen=True, slots=True)
class _Chart:
    """r = anchor + sign * v, v = size * (cosh u - 1) for u from 0 to `extent` (None: not known yet).

    edge: +1 where r + D - s vanishes at the anchor, -1 where r + s - D does, 0 for neither.
    """

    anchor: arb
    sign: int
    size: arb
    extent: arb | None
    edge: int

    def distance(self, u: acb) -> acb:
        return 2 * self.size * (u / 2).sinh() ** 2

    def at_distance(self, v: arb) -> arb:
        """The u of a distance v >= 0 from the anchor."""
        return 2 * (v / (2 * self.size)).sqrt().asinh()

    def end(self) -> arb:
        """The radius at the end of the chart."""
        assert self.extent is not None
        return self.anchor + self.sign * self.distance(acb(self.extent)).real


@dataclass(slots=True)
class _Place:
    """Two spheres that meet, of radii r and s; outer = r + D - s, inner = r + s - D.

    reach: D + s - r. root and slack: root^2 * slack is the one of outer and inner that vanishes at the chart's edge (outer for
    none, with root 1). inside: whether that is inner.
    """

    r: acb
    s: acb
    reach: acb
    outer: acb
    inner: acb
    root: acb
    slack: acb
    inside: bool

    def vanishing(self, cap: Cap, a: bool) -> acb:
        """The m-th power of what vanishes at the edge."""
        return self.root**cap.twice * cap.power(self.slack, a)


_Weight = Callable[[_Place, bool], acb]


class _Integrand:
    """What is integrated along a chart of a known extent. sample: about its integral, by its greatest value at a few points."""

    def __init__(self, chart: _Chart, function: Callable[[acb, bool], acb]) -> None:
        assert chart.extent is not None
        self._extent, self._function = chart.extent, function
        self._end, self.sample = chart.extent.lower(), arb(0)
        for k in range(1, _SAMPLES + 1):
            found = abs(function(acb((self._end * k / _SAMPLES).mid()), False) * self._end).mid()
            self.sample = self.sample.max(found) if found.is_finite() else self.sample

    def integral(self, largest: arb, wanted: int) -> arb:
        """The integral, at about `wanted` bits of itself or of the largest part."""
        tolerance, f = arb(2) ** -wanted, self._function
        found = acb.integral(f, acb(0), acb(self._end), rel_tol=tolerance, abs_tol=(largest * tolerance).mid(), eval_limit=_EVALUATIONS)
        rest = arb(0) if self._extent.is_exact() else f(acb(self._extent), False).real * (self._extent.upper() - self._end) * _UNIT
        return found.real + rest


@dataclass(frozen=True, slots=True)
class _BesselMoment:
    """Integrals of factor * r^p K_v(scale r), p > v - 1, v >= 0 (NIST DLMF 10.43.19 and 10.43.1). The trees are constants."""

    factor: Expr
    scale: Expr
    p: Fraction
    v: Fraction

    def whole(self) -> arb:
        """From 0 to infinity."""
        gammas = rational((self.p + 1 - self.v) / 2).gamma() * rational((self.p + 1 + self.v) / 2).gamma()
        return constant(self.factor) * (2 / constant(self.scale)) ** rational(self.p + 1) / 4 * gammas

    def up_to(self, radius: arb) -> arb | None:
        """From 0 to an exact radius > 0; None for other than p = v + 1, where x^p K_p(x) falls by x^p K_v(x)."""
        if self.p != self.v + 1:
            return None
        _, size = radius.mid().man_exp()
        lost = -2 * (int(size) + int(radius.bits()))
        if lost > MAX_PRECISION // 2:
            return None
        with precision(ctx.prec + max(lost, 0) + int(4 * self.p)):
            scale, p = constant(self.scale), rational(self.p)
            x = scale * radius
            taken = x**p * x.bessel_k(p)
            return constant(self.factor) / scale ** (p + 1) * (2 ** (p - 1) * p.gamma() - taken)


def _bessel_moment(density: Expr) -> _BesselMoment | None:
    """A density as a power times a Bessel function; None where it is no such product by its form."""
    factors = density.args if isinstance(density, Mul) else (density,)
    bessels = [part for part in factors if isinstance(part, Call) and part.name == "besselk"]
    if len(bessels) != 1:
        return None
    order, x = bessels[0].args
    scale, rest = linear_part(x, "r")
    p, others = Fraction(0), list[Expr]()
    for part in factors:
        base, exponent = (part.base, part.exponent) if isinstance(part, Pow) else (part, ONE)
        if base == Sym("r") and isinstance(exponent, Num):
            p += exponent.value
        elif part is not bessels[0]:
            others.append(part)
    if any(symbols(part) for part in (*others, scale)) or rest != ZERO or not isinstance(order, Num):
        return None
    v = abs(order.value)
    return _BesselMoment(mul(*others), scale, p, v) if p > v - 1 and constant(scale) > 0 else None


class Lunes:
    """Noise of density proportional to exp(-h(|y|)) in an integer dimension, with a shift D > 0. Raises Undecided."""

    def __init__(self, h: Expr, profile: Expr, dimension: int, shift: Expr, shapes: Shapes) -> None:
        self.loss, self._d, self._shift = Loss(h, shift, shapes), dimension, constant(shift)
        self._gap = Gap(h)
        self._h, self._slope = self._gap.h, self._gap.slope
        self._density = weighted(profile, Num(Fraction(dimension)))
        self._convex = shapes.shape(h).convex
        self._bessel = _bessel_moment(self._density)
        whole = None if self._bessel is None else self._bessel.whole()
        self._mass = integral(self._density, "r", Fraction(0), None, bits=ctx.prec - 8) if whole is None else whole
        if not self._mass > 0:
            raise Undecided("the normaliser of the noise has no positive enclosure.")
        self._cap, self._share = Cap(dimension + 1), Cap(dimension - 1)
        d = arb(dimension)
        # a cap of height 2 R x of a ball of radius R has volume V_(d-1) (2 R)^d C(x) / m; the sphere has area d V_d
        ratio = ((d / 2 + 1).lgamma() - ((d + 1) / 2).lgamma()).exp() / arb.pi().sqrt()
        self._unit = ratio * arb(2) ** (dimension + 1) / (d * (d + 1))
        self._tails: dict[Fraction, arb] = {}

    # -- answers ---------------------------------------------------------------------------------------

    def divergence(self, epsilon: arb, wanted: int) -> arb:
        """H at an exact epsilon >= 0, at about `wanted` bits. Raises Undecided."""
        return self._total(epsilon, wanted, self._lune, self._lost_ball)

    def probability(self, epsilon: arb, wanted: int) -> arb:
        """P(S), S the event that attains H. Raises Undecided."""
        return self._total(epsilon, wanted, self._cap_share, self._ball)

    def _total(self, epsilon: arb, wanted: int, weight: _Weight, ball: Callable[[arb], arb]) -> arb:
        total, parts = arb(0), list[_Integrand]()
        for span in self.loss.spans(epsilon):
            pinched = self._pinched(span, ball, wanted)
            if pinched is not None:
                total += pinched
                continue
            if not span.low > 0:
                raise Undecided("epsilon is, or may be, the loss at the centre, where lunes change their form.")
            if span.whole:
                total += ball(span.low)
            for chart in self._charts(span, epsilon):
                if chart.extent is None:
                    extent, tail = self._outwards(chart, span, epsilon, weight, wanted)
                    chart, total = replace(chart, extent=extent), total + tail
                parts.append(_Integrand(chart, self._along(chart, epsilon, weight)))
        largest = abs(total.mid())
        for part in parts:
            largest = largest.max(part.sample)
        for part in parts:
            total += part.integral(largest, wanted)
        share = total / self._mass
        if not share.is_finite():
            raise Undecided("the integral over the lunes has no finite enclosure.")
        return share

    def _pinched(self, span: Span, ball: Callable[[arb], arb], wanted: int) -> arb | None:
        """What a span adds with the ball below it, where its ends are so close that the balls up to them say it; else None."""
        if not span.whole or span.high is None or span.high - span.low > span.low * arb(2) ** -(ctx.prec // 4):
            return None
        low, high = span.low.lower(), span.high.upper()
        between = (ball(low) if low > 0 else arb(0)).union(ball(high))
        apart = span.low > 0 and span.high > span.low
        return None if apart and between.rel_accuracy_bits() < wanted else between

    # -- integrands ------------------------------------------------------------------------------------

    def _lune(self, at: _Place, a: bool) -> acb:
        """-g'(r) times the volume of the lune, over the area of the unit sphere."""
        cap, d, r, s, twice = self._cap, self._d, at.r, at.s, 2 * self._shift
        common, first, second = at.vanishing(cap, a), at.reach / (2 * twice * r), at.reach / (2 * twice * s)
        if at.inside:
            second = at.outer / (2 * twice * s)
            missing = r**d * cap.power(first, a) * cap.factor(first * at.inner, a)
            missing += s**d * cap.power(second, a) * cap.factor(second * at.inner, a)
            lune = r**d * cap.full - common * missing
        else:
            first, second = 1 / twice + first, 1 / twice - second
            lune = r**d * cap.power(first, a) * cap.factor(first * at.outer, a)
            lune = common * (lune - s**d * cap.power(second, a) * cap.factor(second * at.outer, a))
        return self._slope(r, a) * (-self._h(r, a)).exp() * lune * self._unit

    def _cap_share(self, at: _Place, a: bool) -> acb:
        """The radial density of P times the share of the sphere of radius r that lies in S."""
        cap, r, twice = self._share, at.r, 2 * self._shift
        common, first = at.vanishing(cap, a), at.reach / (2 * twice * r)
        if at.inside:
            share = 1 - common * cap.power(first, a) * cap.factor(first * at.inner, a) / cap.full
        else:
            first = 1 / twice + first
            share = common * cap.power(first, a) * cap.factor(first * at.outer, a) / cap.full
        return r ** (self._d - 1) * (-self._h(r, a)).exp() * share

    def _place(self, chart: _Chart, u: acb, epsilon: arb, a: bool) -> _Place:
        v = chart.distance(u)
        r = chart.anchor + chart.sign * v
        gap = self._gap(r, epsilon, a)
        s, reach, outer, inner = r + gap, self._shift + gap, self._shift - gap, 2 * r + gap - self._shift
        if chart.edge == 0:
            return _Place(r, s, reach, outer, inner, acb(1), outer, False)
        slack = (outer if chart.edge > 0 else inner) / v
        if not (slack.is_finite() and 16 * slack.rad() < abs(slack)):
            # by the mean of its slope from the anchor, where it vanishes
            path = acb(chart.anchor).union(r)
            turning = self._gap.turning(path, self._gap(path, epsilon, a), a)
            mean = chart.sign * (-turning if chart.edge > 0 else 2 + turning)
            if mean.is_finite() and not mean.rad() > slack.rad():
                slack = mean
        root = (2 * chart.size).sqrt() * (u / 2).sinh()
        return _Place(r, s, reach, outer, inner, root, slack, chart.edge < 0)

    # -- charts ----------------------------------------------------------------------------------------

    def _charts(self, span: Span, epsilon: arb) -> Iterator[_Chart]:
        """Charts that cover a span, from its lower end on; an endless one has no extent yet."""
        chart = self._chart(span.low, 1, -1 if span.whole else 1)
        if span.whole:
            chart = replace(chart, extent=chart.at_distance((self._crossing(span, epsilon) - span.low).mid()).mid())
            yield chart
            chart = self._chart(chart.end(), 1, 0)
        if span.high is None:
            yield chart
            return
        low, high = chart.anchor.mid(), span.high.mid()
        meeting = (low * high).sqrt() if high > 4 * low else (low + high) / 2
        chart = replace(chart, extent=chart.at_distance((meeting - low).mid()).mid())
        yield chart
        last = self._chart(span.high, -1, 1)
        yield replace(last, extent=last.at_distance(span.high - chart.end()))

    def _chart(self, anchor: arb, sign: int, edge: int) -> _Chart:
        slope = self._slope(acb(anchor), False).real
        size = (1 / slope).mid() if slope > 0 else self._shift.mid()
        return _Chart(anchor, sign, size.min(self._shift).mid(), None, edge)

    def _crossing(self, span: Span, epsilon: arb) -> arb:
        """About the radius where the edge of the lune is as far out as its centre, s^2 = r^2 + D^2, or 2 D; a point of the span."""
        shift = self._shift.mid()
        low, high = span.low.mid(), 2 * shift if span.high is None else span.high.mid().min(2 * shift)
        for _ in range(_HALVINGS):
            middle = ((low + high) / 2).mid()
            s = middle + self._gap(acb(middle), epsilon, False).real
            low, high = (middle, high) if s**2 < middle**2 + shift**2 else (low, middle)
        return ((low + high) / 2).mid()

    def _outwards(self, chart: _Chart, span: Span, epsilon: arb, weight: _Weight, wanted: int) -> tuple[arb, arb]:
        """Where to end an endless chart, and what lies beyond."""
        most, v = arb(0), chart.size
        for _ in range(_MOST_DOUBLINGS):
            at = chart.at_distance(v).mid()
            far = chart.anchor + chart.distance(acb(at)).real
            if span.known is not None and not far <= span.known:
                break
            height = weight(self._place(chart, acb(at), epsilon, False), False).real * v
            most = most.max(height.mid()) if height.is_finite() else most
            tail = self._tail(far)
            if tail <= most * arb(2) ** -wanted:
                return at, arb(0).union(tail)
            v = 2 * v
        raise Undecided("how far out the noise matters is not certain: its tail is too heavy, or the loss there is too close to epsilon.")

    def _along(self, chart: _Chart, epsilon: arb, weight: _Weight) -> Callable[[acb, bool], acb]:
        """The integrand along a chart."""
        return lambda u, a: weight(self._place(chart, u, epsilon, a), a) * chart.size * u.sinh()

    # -- masses ----------------------------------------------------------------------------------------

    def _radial(self, r: arb) -> arb:
        """g(r) r^(d - 1)."""
        return (-self._h(acb(r), False).real).exp() * r ** (self._d - 1)

    def _ball(self, radius: arb) -> arb:
        """The integral of g(r) r^(d - 1) up to a radius."""
        found = None if self._bessel is None else self._bessel.up_to(radius.mid())
        if found is None:
            found = integral(self._density, "r", Fraction(0), exact(radius.mid()), bits=ctx.prec - 8)
        return found + self._radial(radius) * (radius - radius.mid())

    def _lost_ball(self, radius: arb) -> arb:
        """The integral of -g'(r) r^d / d up to a radius, in parts."""
        return self._ball(radius) - self._radial(radius) * radius / self._d

    def _tail(self, radius: arb) -> arb:
        """An upper bound of the integral of -g'(r) r^d / d, hence of g(r) r^(d - 1), beyond a radius."""
        if self._convex:  # r h' rises, so that the density falls at least as this power of r
            power = radius * self._slope(acb(radius), False).real - (self._d - 1)
            edge = self._radial(radius) * radius
            return (edge / self._d + edge / (power - 1)).upper() if power > 1 else arb("inf")
        if not radius > _LEAST_TAIL:
            return arb("inf")
        start = Fraction(2) ** (exact(radius.lower()).__floor__().bit_length() - 1)
        if start not in self._tails:
            self._tails[start] = self._far_tail(start)
        return self._tails[start]

    def _far_tail(self, start: Fraction) -> arb:
        try:
            mass = end_mass(self._density, "r", End("+inf", start))
        except (Undecided, ExprError):
            return arb("inf")
        if mass is None:
            raise Undecided("the noise is not integrable.")
        radius = rational(start)
        return (self._radial(radius) * radius / self._d + mass).upper()
