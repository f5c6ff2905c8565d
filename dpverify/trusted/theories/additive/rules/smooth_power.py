"""Student's t noise, Cauchy noise among it, whose scale depends on the data: the tight epsilon in closed form.

With h = B log(nu + z^2) and k = z h'(z) = 2 B z^2/(nu + z^2), which rises with |z|, the losses of the pairs (theory#smooth-sensitivity) are
greatest where the answer has moved by D, away from the output, and are convex in t: they are greatest at t = 0 or t = b. There, with
c = e^t, both orders are a ratio of quadratics: (c^2 nu + (z + D)^2)/(nu + z^2) and (nu + (c z + D)^2)/(nu + z^2) are at most the greater
eigenvalue c e^E of a matrix of determinant c^2 and trace 1 + c^2 + D^2/nu, so that E = arcosh(cosh t + D^2 e^-t/(2 nu)).

Theorem: Noise of density (A0 + A1 z^2)^-B on the line, at a scale whose logarithm moves by at most b, of answers that move by at most D
times the smaller scale: the tight epsilon is max(S(0), S(b)), S(t) = 2 B asinh(sqrt(sinh(t/2)^2 + D^2 e^-t A1/(4 A0))) + |B - 1| t. For
Cauchy noise, B = A0 = A1 = 1, that is a distance in the hyperbolic plane. It is at most B D sqrt(A1/A0) + max(1, 2 B - 1) b.

Checked:
- h is a sum of constants and B_i log(A0_i + A1_i z^2) with one ratio A0_i/A1_i
- A0/A1 is positive, and 2 B above 1, so that the density is integrable
- the sensitivity and the bound of the scale are at least 0

Source: docs/theory/additive.md#smooth-power
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.kernel.bounds import Bound, sided
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import certify
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, add, call, div, format_expr, mul, neg, num, power, sqrt, sub
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.theories.additive.additive import additive
from dpverify.trusted.theories.additive.rules.power_identity import power_of
from dpverify.trusted.theories.additive.smooth import parts

NAME: Final = "smooth-power"
ASSUMED: Final = ("the sampler is ideal",)

_HALF: Final = Num(Fraction(1, 2))


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The tight epsilon, as the bound that "side" asks for; a lower one may fix parameters under "at". Raises Rejected.

    evidence: with "slopes" an upper bound instead, by the greatest slopes of h and of h(e^z): B D/sqrt(A0/A1) + max(1, 2 B - 1) b.
    """
    side, claim, at = sided(claim, evidence, NAME)
    mechanism, moved = parts(claim, NAME)
    noise = additive(Claim(mechanism.noise, None, sensitivity=moved, domains=claim.domains), {"side": side}, NAME)
    exponent, ratio = power_of(noise)

    if evidence.get("slopes") is True:
        certify(side == "upper", f"{NAME}: slopes bound from above.")
        steep = call("max", ONE, sub(mul(num(2), exponent), ONE))
        return Bound("upper", add(mul(exponent, noise.shift, div(ONE, sqrt(ratio))), mul(steep, mechanism.scale_bound)))

    def turned(t: Expr) -> Expr:
        """S(t)."""
        here = mul(power(noise.shift, num(2)), call("exp", neg(t)), div(ONE, mul(num(4), ratio)))
        root = sqrt(add(power(call("sinh", mul(_HALF, t)), num(2)), here))
        return add(mul(num(2), exponent, call("asinh", root)), mul(call("abs", sub(exponent, ONE)), t))

    still, whole = turned(ZERO), turned(mechanism.scale_bound)
    domains = dict(claim.domains)
    value = whole if certainly_le(still, whole, domains) else still if certainly_le(whole, still, domains) else call("max", still, whole)
    pair = {"says": "scales-and-answers", "turned": format_expr(mechanism.scale_bound), "moved": format_expr(moved)}
    witness = {"pair": pair, "point": {"says": "smooth-power"}, "loss": format_expr(value)}
    return Bound(side, value, at=at, witness=witness if side == "lower" else None)
