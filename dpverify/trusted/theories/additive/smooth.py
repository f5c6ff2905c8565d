"""Noise whose scale depends on the data: what is asked of its claims, and the losses of its pairs (theory#smooth-sensitivity).

Of two neighbours let x have the smaller scale, which is taken as the unit, and q(x) as the origin: the output has the density f of the
noise on x, and e^-t f(e^-t (y - u)) on x', |u| <= D and 0 <= t <= b. All pairs are of this form, in both orders.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dpverify.trusted.geometry.polytopes import box
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, Call, Expr, Mul, Sym, add, call, div, mul, neg, num, rebuild, sub, substitute
from dpverify.trusted.kernel.model import Claim, Product, Radial, SmoothSensitivity, Translation
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.noise import Additive
from dpverify.trusted.theories.additive.integrable import require_integrable
from dpverify.trusted.theories.additive.points import sign_of
from dpverify.trusted.theories.finite.densities import Losses, rational_above

Y, T, U = map(Sym, ("y", "theta", "other"))
"""The output, the logarithm of the greater scale, and the other answer, by the names of the coordinates of a `Losses`."""
Z: Final = Sym("z")


def parts(claim: Claim, rule: str) -> tuple[SmoothSensitivity, Expr]:
    """What a claim is about, and the sensitivity. Raises Rejected for another mechanism."""
    if not isinstance(claim.mechanism, SmoothSensitivity):
        raise Rejected(rule, "the mechanism", "only noise of smooth sensitivity has a scale that depends on the data")
    return claim.mechanism, ONE if claim.sensitivity is None else claim.sensitivity


def everywhere(claim: Claim, normaliser: object, rule: str) -> tuple[Additive, Expr, tuple[str, ...]]:
    """The noise, h = -log(density) of it on the whole line in z, and what is assumed of its sign. Raises Rejected.

    normaliser: as in `integrable.require_integrable`.
    """
    noise = parts(claim, rule)[0].noise
    require(not claim.domains, Rejected(rule, "parameters", "it wants a value for every parameter"))
    if not isinstance(noise, Radial | Translation | Product) or getattr(noise, "support", (None, None)) != (None, None):
        raise Rejected(rule, "the noise", "it wants a density that is positive on the whole line")
    require_integrable(noise, {} if normaliser is None else {"normaliser": normaliser}, rule)
    density = substitute(noise.profile, {"r": div(call("abs", Z), noise.scale)}) if isinstance(noise, Radial) else noise.density
    return noise, neg_log(density), sign_of(noise)


def losses(claim: Claim, h: Expr, reach: tuple[Fraction, Fraction], rule: str) -> tuple[Losses, Losses]:
    """The losses of all pairs, with the smaller scale first and with the greater one, for outputs within the reach.

    Where the bound of the scale, or the sensitivity, is not rational the region holds a little more.
    """
    mechanism, moved = parts(claim, rule)
    most, turned = (rational_above(bound) for bound in (moved, mechanism.scale_bound))
    there = _pulled_out(substitute(h, {"z": mul(call("exp", neg(T)), sub(Y, U))}))
    narrow = add(T, there, neg(substitute(h, {"z": Y})))
    region = box([reach, (Fraction(0), turned), (-most, most)])
    rays = tuple((Fraction(side), Fraction(0), Fraction(0)) for side in (-1, 1))
    same = ((num(0), ONE),) * 3
    return Losses(narrow, region, same, rays), Losses(neg(narrow), region, same, rays)


def _pulled_out(expr: Expr) -> Expr:
    """The expression with abs(exp(-t) x) as exp(-t) abs(x), of which the sign is seen."""
    done = rebuild(expr, _pulled_out)
    if isinstance(done, Call) and done.name == "abs" and isinstance(done.args[0], Mul):
        apart = [factor for factor in done.args[0].args if isinstance(factor, Call) and factor.name == "exp"]
        rest = mul(*(factor for factor in done.args[0].args if factor not in apart))
        return mul(*apart, call("abs", rest))
    return done
