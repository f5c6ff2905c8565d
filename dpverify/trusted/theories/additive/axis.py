"""Noise on a line as the supremum rule reads it: h = -log(density) on pieces, and the loss between points a shift apart."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache, partial
from typing import Any, Final

from flint import arb, ctx

from dpverify.trusted.kernel.balls import constant, exact, hull, rational
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, Expr, Num, Sym, add, div, mul, neg, sub, substitute, symbols
from dpverify.trusted.kernel.model import Claim, Radial, Translation
from dpverify.trusted.language.calls import calls
from dpverify.trusted.language.linear import linear_part
from dpverify.trusted.language.logarithms import neg_log_profile
from dpverify.trusted.numbers.asymptotics import End, Germ, end_jet
from dpverify.trusted.numbers.jets import BallProgram, Jet
from dpverify.trusted.numbers.kinks import resolve
from dpverify.trusted.numbers.quotients import divided
from dpverify.trusted.numbers.series import without_removable
from dpverify.trusted.sensitivity.sensitivity import sensitivity_bounds

NAME: Final = "modulus"


class Loss:
    """sign * (h(c + D) - h(c)) where the kinks of both terms are decided, linear parts cancelled exactly."""

    __slots__ = ("_far", "_near", "_offset", "_shift", "_sign", "_slope", "expr", "name")

    def __init__(self, line: Line, near: Expr, far: Expr, sign: int) -> None:
        name = self.name = line.name
        near_slope, near_rest = linear_part(near, name)
        far_slope, far_rest = linear_part(far, name)
        slope, offset = sub(far_slope, near_slope), mul(far_slope, line.shift)
        moved = substitute(far_rest, {name: add(Sym(name), line.shift)})
        difference = add(mul(slope, Sym(name)), offset, moved, neg(near_rest))
        self.expr = difference if sign > 0 else neg(difference)
        self._near, self._far = BallProgram(near_rest, name), BallProgram(far_rest, name)
        self._shift, self._slope, self._offset, self._sign = constant(line.shift), constant(slope), constant(offset), sign

    def jet(self, at: arb) -> Jet:
        """The loss and two derivatives over a ball of c."""
        far, near, sign = self._far(at + self._shift), self._near(at), self._sign
        v, d1, d2 = far.v - near.v + self._slope * at + self._offset, far.d1 - near.d1 + self._slope, far.d2 - near.d2
        return Jet(v, d1, d2) if sign > 0 else Jet(-v, -d1, -d2)

    def is_constant(self) -> bool:
        """Whether c has cancelled."""
        return self.name not in symbols(self.expr)

    def at_most(self, point: Fraction, bound: Expr, top: arb) -> bool:
        """Whether the loss at a point is certainly at most the bound: by balls, or exactly."""
        if self.jet(rational(point)).v <= top:
            return True
        return certainly_le(substitute(self.expr, {self.name: Num(point)}), bound)


class Line:
    """Additive noise on a line: h in `name`, on [0, inf) when `half`, with shift D and the dimension for integrability.

    whole: on the integers alone.
    """

    def __init__(self, h: Expr, name: str, half: bool, shift: Expr, dimension: Expr) -> None:
        self.h, self.name, self.half, self.shift, self.dimension = h, name, half, shift, dimension
        self.step, self.whole = constant(shift), False
        self._smooth = not calls(h, "abs", "min", "max", "floor")
        self._loss, self._resolved = cache(partial(Loss, self)), cache(lambda lower, upper, _: resolve(h, name, lower, upper))
        self.program, self.slope_at = cache(self._program), cache(self._slope_at)

    @staticmethod
    def of(claim: Claim, evidence: Mapping[str, Any], points: bool = False) -> Line:
        """The line of a claim. Raises Rejected for another kind, for parameters, or for bounded supports.

        points: values at points count, so that noise on the integers may jump and may move by less than 1.
        """
        noise = claim.mechanism
        require(not claim.domains, Rejected(NAME, "the claim", "its parameters range over domains; this rule wants their values"))
        if isinstance(noise, Radial):
            delta = sensitivity_bounds(claim, evidence.get("sensitivity")).upper
            h = without_removable(divided(resolve(neg_log_profile(noise), "r", Fraction(0), None), "r"), "r")
            return Line(h, "r", True, div(delta, noise.scale), noise.dimension)
        if isinstance(noise, Translation) and noise.support == (None, None):
            moved = sensitivity_bounds(claim, None).upper
            # on the integers: with steps of 1 what is integrable is summable, where no value at one point alone is overlooked
            if noise.integers and not points and (calls(noise.density, "floor") or not certainly_le(ONE, moved)):
                raise Rejected(NAME, "the integers", "the sensitivity is not certainly at least 1, or the density may jump")
            line = Line(divided(neg_log_profile(noise), "z"), "z", False, moved, ONE)
            line.whole = noise.integers
            return line
        raise Rejected(NAME, "the claim", "it wants radial noise, or noise on the whole line")

    def smooth(self, lower: Fraction | None, upper: Fraction | None) -> Expr:
        """h on an open interval with its kinks decided."""
        return self.h if self._smooth else self._resolved(lower, upper, ctx.prec)  # more is certain at a higher precision

    def far(self, upper: Fraction) -> Fraction:
        """A rational at or just above upper + D."""
        return upper + (self.shift.value if isinstance(self.shift, Num) else exact(self.step.upper()))

    def near(self, lower: Fraction) -> Fraction:
        """A rational at or just below lower + D."""
        return lower + (self.shift.value if isinstance(self.shift, Num) else exact(self.step.lower()))

    def loss(self, lower: Fraction, upper: Fraction, sign: int) -> Loss:
        """sign * (h(c + D) - h(c)) for c in the open interval."""
        if self._smooth:  # one loss for the whole line
            return self._loss(self.h, self.h, sign)
        return self._loss(self.smooth(lower, upper), self.smooth(self.near(lower), self.far(upper)), sign)

    def _program(self, smooth: Expr) -> tuple[Expr, Expr, BallProgram]:
        """The linear slope of a smooth piece of h, the rest, and the rest compiled."""
        slope, rest = linear_part(smooth, self.name)
        return slope, rest, BallProgram(rest, self.name)

    def _slope_at(self, end: End) -> tuple[Expr, Germ]:
        """The linear slope of h on an end, and the germ of the slope of the rest."""
        slope, rest = linear_part(self.smooth(*end.interval()), self.name)
        return slope, end_jet(rest, self.name, end).d1

    def whole_slope_at(self, end: End) -> Germ:
        """The germ of the slope of h on an end."""
        slope, rest = self.slope_at(end)
        return rest.constant(constant(slope)) + rest

    def jet(self, smooth: Expr, at: arb) -> Jet:
        """A smooth piece of h and two derivatives over a ball."""
        slope, _, rest = self.program(smooth)
        jet, rate = rest(at), constant(slope)
        return Jet(jet.v + rate * at, jet.d1 + rate, jet.d2)


def direction(line: Line, lower: Fraction, upper: Fraction, flat: int = 1) -> int:
    """1 where h certainly never falls on [lower, upper], -1 where it never rises, `flat` where it is constant, 0 where none is certain."""
    smooth = line.smooth(lower, upper)
    over = line.jet(smooth, hull(lower, upper))
    if not over.v.is_finite():
        return 0
    if over.d1 == 0:
        return flat
    least = most = over.d1
    if over.d2 >= 0 or over.d2 <= 0:  # a derivative that is monotone has its sign from one end
        least, most = (line.jet(smooth, rational(end)).d1 for end in ((lower, upper) if over.d2 >= 0 else (upper, lower)))
    return 1 if least >= 0 else -1 if most <= 0 else 0


def range_of(line: Line, lower: Fraction, upper: Fraction, smooth: Expr) -> arb:
    """An enclosure of a piece of h over a small interval, by the mean value where that is better."""
    middle, cell = rational((lower + upper) / 2), hull(lower, upper)
    over = line.jet(smooth, cell)
    centred: arb = line.jet(smooth, middle).v + over.d1 * (cell - middle)
    return centred if centred.is_finite() and not centred.rad() > over.v.rad() else arb(over.v)
