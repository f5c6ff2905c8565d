"""The event behind a loss: a neighbourhood of an output, with its two probabilities, for readers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from flint import arb

from dpverify.trusted.kernel.balls import constant, finite, precision, rational, value
from dpverify.trusted.kernel.errors import ExprError, Undecided
from dpverify.trusted.kernel.expr import Expr, format_expr
from dpverify.trusted.kernel.model import Radial
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.noise import Additive, profile, variable
from dpverify.trusted.theories.additive.points import Points, density_on, neighbourhood


def event(noise: Additive, points: Points, radius: Fraction) -> dict[str, Any]:
    """The pair, the event S of a radius, P(S) and Q(S) enclosed, and a lower bound of the loss on S; numbers as m*2^e."""
    a, b = (", ".join(map(format_expr, side)) for side in (points.a, points.b))
    least, vanishes, h, name = arb(0), False, neg_log(profile(noise)), variable(noise)
    for x, y in zip(points.a, points.b, strict=True):
        near_x, near_y = neighbourhood(noise, x, radius), neighbourhood(noise, y, radius)
        vanishes = vanishes or bool(density_on(noise, near_y) == 0)
        least += arb(0) if vanishes else value(h, {name: near_y}) - value(h, {name: near_x})
    masses = {key: _mass(noise, side, radius) for key, side in (("P", points.a), ("Q", points.b))}
    in_units = "output-in-units" if isinstance(noise, Radial) else "output"
    return {
        "pair": {"says": in_units, "from_q": a, "from_other": b},
        "event": {"says": "ball-of-outputs", "radius": str(radius)} if radius else {"says": "one-output"},
        **{key: [_dyadic(mass[0], up=False), _dyadic(mass[1], up=True)] for key, mass in masses.items() if mass is not None},
        "loss": "inf" if vanishes else _dyadic(finite(least), up=False),
    }


def _mass(noise: Additive, side: Sequence[Expr], radius: Fraction) -> tuple[arb, arb] | None:
    """Bounds on the probability of S: density times volume over the normaliser, coordinate by coordinate; None where not finite.

    Radial noise of dimension d: radius^d density / (d I), I the integral of profile(r) r^(d-1), free of any volume.
    """
    try:
        from dpverify.trusted.numbers.quadrature import normaliser

        total: arb = normaliser(noise)
    except (Undecided, ExprError):
        return None
    if isinstance(noise, Radial):
        d = constant(noise.dimension)
        volume = rational(radius) ** d / d
    else:
        volume = 2 * rational(radius) if radius else arb(1)
    low, high = arb(1), arb(1)
    for point in side:
        near = neighbourhood(noise, point, radius)
        if density_on(noise, near) == 0:
            return arb(0), arb(0)
        h = value(neg_log(profile(noise)), {variable(noise): near})  # bounds of very different size keep their own exponents
        low, high = low * (-h.upper()).exp() * volume / total, high * (-h.lower()).exp() * volume / total
    return (low, high.min(arb(1))) if low.is_finite() and high.is_finite() else None


def _dyadic(ball: arb, up: bool) -> str:
    """An end of a ball as m*2^e."""
    with precision(64):
        mantissa, exponent = (ball.upper() if up else ball.lower()).man_exp()
    return f"{mantissa}*2^{exponent}"
