"""The norm of a function beside a covariance u(t) v(s) for s >= t, that of a Gaussian Markov process (theory#markov-kernels).

The process is v times Brownian motion at the time u/v, so that the squared norm of h is h(a)^2/K(a, a) and the integral of
((h/v)')^2/(u/v)' from the start a of the interval on.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

from flint import acb, arb, ctx

from dpverify.trusted.kernel.balls import constant, hull
from dpverify.trusted.kernel.compare import certainly_equal, certainly_lt
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, Sym, add, div, mul, sub, substitute
from dpverify.trusted.kernel.model import Domain, EllipticalProcess
from dpverify.trusted.language.calls import calls
from dpverify.trusted.language.derivatives import derivative
from dpverify.trusted.language.rationals import read_whole, to_fraction
from dpverify.trusted.numbers.complex import compiled
from dpverify.trusted.numbers.kinks import resolve
from dpverify.trusted.numbers.quadrature import integral
from dpverify.trusted.theories.processes.norms import MOST_CELLS, WHAT, Functions, interval_of

_T: Final = "t"
_BETWEEN: Final = "z"


class Clocked(Functions):
    """A function on an interval beside the covariance u(t) v(s), s >= t, at the time u/v.

    told: "cuts" and "cells" as for every function, and "at", a rational m of the interval by which u(t) is K(m, t) and v(s) is
    K(s, m)/K(m, m), as written for the later point first.
    """

    def __init__(self, noise: EllipticalProcess, h: Expr, told: Any) -> None:
        written = later_first(noise.shape[0])
        if calls(h, "floor") or calls(written, "floor"):
            raise Rejected(WHAT, "the difference", "it, or the covariance, has a floor in it, which is continuous nowhere that it steps")
        at, here = Num(to_fraction(told.get("at"), WHAT)), Sym(_T)
        self.variance = substitute(written, {"s": here})
        self._early = substitute(written, {"s": at})
        self._late = div(substitute(substitute(written, {_T: at}), {"s": here}), substitute(written, {"s": at, _T: at}))
        inside = dict.fromkeys(("s", _T), Domain(*interval_of(noise), False, False))
        if not certainly_equal(written, mul(self._early, substitute(self._late, {_T: Sym("s")})), inside):
            raise Rejected(WHAT, "the covariance", "it is not certainly a product of a function of the earlier point and one of the later")
        self._answer = h
        self._read(noise, div(h, self._late), told, 1)

    def is_outside(self) -> bool:
        """Whether the function is certainly not 0 at the start, where the noise is."""
        first = self._first()
        return certainly_equal(self._at_low(self.variance), ZERO) and (certainly_lt(ZERO, first) or certainly_lt(first, ZERO))

    def _require_smooth(self) -> None:
        super()._require_smooth()
        cells = read_whole(self.told, "cells", WHAT, 1, MOST_CELLS)
        for low, high, _ in self.pieces:
            late, clock = (compiled(one, _T) for one in (self._on(self._late, low, high), self._time(low, high)))
            for i in range(cells):
                ball = acb(hull(low + i * (high - low) / cells, low + (i + 1) * (high - low) / cells))
                if not (1 / late(ball, True)).is_finite() or not clock(ball, False).is_finite():
                    raise Rejected(
                        WHAT, "the covariance", "its part of the later point is not certainly other than 0, or its time not finite"
                    )

    def _on(self, expr: Expr, low: Any, high: Any) -> Expr:
        return resolve(expr, _T, low, high)

    def _time(self, low: Any, high: Any) -> Expr:
        return self._on(div(self._early, self._late), low, high)

    def _over(self, low: Any, high: Any, found: list[Expr]) -> arb:
        if found[1] == ZERO:
            return arb(0)
        return integral(div(mul(found[1], found[1]), derivative(self._time(low, high), _T)), _T, low, high, ctx.prec - 32)

    def _at_start(self) -> arb:
        first, variance = self._first(), self._at_low(self.variance)
        if certainly_lt(ZERO, variance):
            return constant(first) ** 2 / constant(variance)
        if not (certainly_equal(variance, ZERO) and certainly_equal(first, ZERO)):
            raise Rejected(WHAT, "the difference", f"it is not certainly 0 at t = {self.low}, where the noise is")
        return arb(0)

    def _first(self) -> Expr:
        return self._at_low(self._on(self._answer, *self.pieces[0][:2]))

    def _at_low(self, expr: Expr) -> Expr:
        return substitute(expr, {_T: Num(self.low)})


def later_first(written: Expr) -> Expr:
    """The covariance for s >= t, with the kinks where s and t meet decided."""
    apart = resolve(substitute(written, {"s": add(Sym(_T), Sym(_BETWEEN))}), _BETWEEN, Fraction(0), None)
    return substitute(apart, {_BETWEEN: sub(Sym("s"), Sym(_T))})
