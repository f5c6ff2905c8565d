"""Integrals over lunes: the hockey-stick divergence of two copies of radial noise.

See `spherical_caps` for the theorem. Everything is at the working precision of the making.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from flint import acb, arb, ctx

from dpverify.trusted.kernel.balls import constant, exact, finite
from dpverify.trusted.kernel.errors import Undecided, require
from dpverify.trusted.kernel.expr import Expr, Num
from dpverify.trusted.numbers.noise import weighted
from dpverify.trusted.numbers.quadrature import integral
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.theories.curves.crossings import Loss, Span
from dpverify.trusted.theories.curves.gaps import Gap
from dpverify.trusted.theories.curves.monotone import about
from dpverify.trusted.theories.curves.volumes import UNIT, Cap, bessel_moment

_MOST_DOUBLINGS: Final = 2_000
_EVALUATIONS: Final = 40_000
_ABOUT: Final = 10
"""Bits of a point that any other could stand for."""


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


class Lunes:
    """Noise of density proportional to exp(-h(|y|)) in an integer dimension, with a shift D > 0. Raises Undecided."""

    def __init__(self, h: Expr, profile: Expr, dimension: int, shift: Expr, shapes: Shapes, cuts: Sequence[Fraction]) -> None:
        self.loss, self._d, self._shift = Loss(h, shift, shapes, cuts), dimension, constant(shift)
        self._gap = Gap(h)
        self._h, self._slope = self._gap.h, self._gap.slope
        self._density = weighted(profile, Num(Fraction(dimension)))
        self._bessel = bessel_moment(self._density)
        whole = None if self._bessel is None else self._bessel.whole()
        self._mass = integral(self._density, "r", Fraction(0), None, bits=ctx.prec - 8) if whole is None else whole
        require(self._mass > 0, Undecided("the normaliser of the noise has no positive enclosure."))
        self._cap = Cap(dimension + 1)
        d = arb(dimension)
        # a cap of height 2 R x of a ball of radius R has volume V_(d-1) (2 R)^d C(x) / m; the sphere has area d V_d
        ratio = ((d / 2 + 1).lgamma() - ((d + 1) / 2).lgamma()).exp() / arb.pi().sqrt()
        self._unit = ratio * arb(2) ** (dimension + 1) / (d * (d + 1))

    def divergence(self, epsilon: arb, wanted: int) -> arb:
        """H at an exact epsilon >= 0, at about `wanted` bits. Raises Undecided."""
        total = arb(0)
        for span in self.loss.spans(epsilon):
            pinched = self._pinched(span, wanted)
            if pinched is not None:
                total += pinched
                continue
            require(span.low > 0, Undecided("epsilon is, or may be, the loss at the centre, where lunes change their form."))
            if span.whole:
                total += self._lost_ball(span.low)
            for chart in reversed(list(self._charts(span, epsilon))):  # from the tail on, where most lies in high dimensions
                if chart.extent is None:
                    extent, tail = self._outwards(chart, span, epsilon, wanted)
                    chart, total = replace(chart, extent=extent), total + tail
                total += self._along(chart, epsilon, arb(2) ** -wanted, abs(total.mid()))
        return finite(total / self._mass)

    def _pinched(self, span: Span, wanted: int) -> arb | None:
        """What a span adds with the ball below it, where its ends are so close that the balls up to them say it; else None."""
        if not span.whole or span.high is None or span.high - span.low > span.low * arb(2) ** -(ctx.prec // 4):
            return None
        low, high = span.low.lower(), span.high.upper()
        between = (self._lost_ball(low) if low > 0 else arb(0)).union(self._lost_ball(high))
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

    def _place(self, chart: _Chart, u: acb, epsilon: arb, a: bool) -> _Place:
        v = chart.distance(u)
        r = chart.anchor + chart.sign * v
        gap = self._gap(r, epsilon)
        s, reach, outer, inner = r + gap, self._shift + gap, self._shift - gap, 2 * r + gap - self._shift
        if chart.edge == 0:
            return _Place(r, s, reach, outer, inner, acb(1), outer, False)
        slack = (outer if chart.edge > 0 else inner) / v
        if not (slack.is_finite() and 16 * slack.rad() < abs(slack)):
            # by the mean of its slope from the anchor, where it vanishes
            path = acb(chart.anchor).union(r)
            turning = self._gap.turning(path, self._gap(path, epsilon), a)
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

        def beyond(r: arb) -> tuple[arb, arb]:
            return (r + self._gap(acb(r), epsilon).real) ** 2 - r**2 - shift**2, arb("nan")

        return about(beyond, arb(0), span.low, 2 * shift if span.high is None else span.high.min(2 * shift), True, _ABOUT)

    def _outwards(self, chart: _Chart, span: Span, epsilon: arb, wanted: int) -> tuple[arb, arb]:
        """Where to end an endless chart, and what lies beyond.

        The sizes of the integrand at distances that double say where too little is left, and one mass of the noise then proves it. At each
        size the mass beyond is about what it is for noise that goes on to fall as the power of the radius that it falls as there.
        """
        most, v = arb(0), chart.size
        for _ in range(_MOST_DOUBLINGS):
            at = chart.at_distance(v).mid()
            far = chart.anchor + chart.distance(acb(at)).real
            if span.known is not None and not far <= span.known:
                break
            height = self._lune(self._place(chart, acb(at), epsilon, False), False).real * v
            most = most.max(height.mid()) if height.is_finite() else most
            if self._beyond(far) <= most * arb(2) ** -wanted:
                return at, arb(0).union(self._far_tail(far))
            v = 2 * v
        raise Undecided("how far out the noise matters is not certain: its tail is too heavy, or the loss there is too close to epsilon.")

    def _along(self, chart: _Chart, epsilon: arb, tolerance: arb, known: arb) -> arb:
        """The integral along a chart of a known extent, at about the tolerance times itself, or times what is known of the whole."""
        assert chart.extent is not None
        end = chart.extent.lower()

        def f(u: acb, a: bool) -> acb:
            return self._lune(self._place(chart, u, epsilon, a), a) * chart.size * u.sinh()

        least = (known * tolerance).mid()
        found = acb.integral(f, acb(0), acb(end), rel_tol=tolerance, abs_tol=least, eval_limit=_EVALUATIONS, use_heap=True)
        rest = arb(0) if chart.extent.is_exact() else f(acb(chart.extent), False).real * (chart.extent.upper() - end) * UNIT
        return found.real + rest

    # -- masses ----------------------------------------------------------------------------------------

    def _radial(self, r: arb) -> arb:
        """g(r) r^(d - 1)."""
        return (-self._h(acb(r), False).real).exp() * r ** (self._d - 1)

    def _lost_ball(self, radius: arb) -> arb:
        """The integral of -g'(r) r^d / d up to a radius, in parts: that of g(r) r^(d - 1) less what stands at the end."""
        middle, edge = radius.mid(), self._radial(radius)
        mass = None if self._bessel is None else self._bessel.up_to(middle)
        if mass is None:
            mass = integral(self._density, "r", Fraction(0), exact(middle), bits=ctx.prec - 8)
        return mass + edge * (radius - middle) - edge * radius / self._d

    def _beyond(self, radius: arb) -> arb:
        """About the integral of -g'(r) r^d / d, hence of g(r) r^(d - 1), beyond a radius, as if the density fell as this power of r."""
        power = radius * self._slope(acb(radius), False).real - (self._d - 1)
        edge = self._radial(radius) * radius
        return (edge / self._d + edge / (power - 1)).upper() if power > 1 else arb("inf")

    def _far_tail(self, radius: arb) -> arb:
        """An upper bound of the same integral."""
        mass = integral(self._density, "r", exact(radius.lower()), None)
        return (self._radial(radius) * radius / self._d + mass).upper()
