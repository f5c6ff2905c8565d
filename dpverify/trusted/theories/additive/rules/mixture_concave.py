"""Scale mixtures with concave conditional exponents: the mixture's exponent is concave too.

Let every conditional exponent h_v be concave in r, finite at 0 and integrable, so that exp(-h_v) falls in r. Sums, and so integrals, of
log-convex functions are log-convex: h = -log G, G(r) the integral of exp(-h_v(r)) over the mixing law, is concave. G falls, and tends
to G(0) as r falls to 0 (monotone convergence). The conditionals are a scale family whose normaliser is free of v, so that G(||z||) is,
up to a constant factor, the density of noise drawn from a conditional whose v is drawn from the mixing law (`additive.scale_family`),
and integrable where the mixing law is. Then the tight epsilon is log G(0) - log G(D), as for any
concave exponent. Both integrals are enclosed.

Theorem: A scale mixture whose conditional exponents are concave in the distance and finite at 0 has tight epsilon exactly log G(0) - log
G(D), G its profile and D the sensitivity over the scale, in every norm.

Checked:
- the conditional exponent is concave, finite at 0 and integrable for every v in the support
- the mixing density is positive on the support
- the conditional is a scale family in s(v) whose normaliser does not depend on v, and the mixing density is integrable
- the integrals G(0) and G(D) are finite, and enclosed
- the scale is positive and the sensitivity at least 0

Source: docs/theory/additive.md#mixture-concave, Reimherr & Awan 2019, Theorem 1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpverify.trusted.kernel.balls import exact, precision
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import CertificateError, Rejected, require
from dpverify.trusted.kernel.expr import ZERO, Num, div, format_expr, mul, parse, substitute
from dpverify.trusted.kernel.model import Claim, Domain, Mixture
from dpverify.trusted.kernel.signs import AT_LEAST_ZERO
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.numbers.integrability import integrable
from dpverify.trusted.numbers.quadrature import integral
from dpverify.trusted.sensitivity.sensitivity import sensitivity_bounds
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.theories.additive import scale_family

NAME: Final = "mixture-concave"
ASSUMED: Final = ("the sampler is ideal",)

BITS: Final = range(20, 1025)


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """One end of the enclosure of log G(0) - log G(D), at "bits" bits, as the bound that "side" asks for.

    evidence: "scale", the text of s(v); "normaliser", what is told of the ends of the mixing density, as in `integrability`;
    "sensitivity" as in `geometry`. Raises Rejected, or Undecided from the integrals.
    """
    side, bits, noise = evidence.get("side"), evidence.get("bits"), claim.mechanism
    if side not in ("upper", "lower") or type(bits) is not int or bits not in BITS:
        raise CertificateError(f"{NAME}: 'side' must be upper or lower, and 'bits' from {BITS[0]} to {BITS[-1]}.")
    if not isinstance(noise, Mixture) or claim.domains:
        raise Rejected(NAME, "the mechanism", "only mixtures with a value for every parameter are covered")
    lower, upper = scale_family.support(noise, NAME)
    shapes = Shapes("r", True, {"v": Domain(lower, upper)})
    reach = sensitivity_bounds(claim, evidence.get("sensitivity"))
    moved = div(reach.upper if side == "upper" else reach.lower, noise.scale)
    if not shapes.sign(moved) <= AT_LEAST_ZERO:  # exact
        raise Rejected(NAME, "the sensitivity", "it is not certainly at least 0")
    require(shapes.positive(noise.mixing), Rejected(NAME, "the mixing density", "it is not certainly positive on its support"))
    h = shapes.tidy(neg_log(noise.profile))
    require(shapes.shape(h).concave, Rejected(NAME, "the conditional exponent", "it is not certainly concave in r"))
    centre = shapes.at_zero(noise.profile)
    if shapes.at_zero(h) is None or centre is None:
        raise Rejected(NAME, "the conditional exponent", "it is not certainly finite at 0")
    require(shapes.integrable(h, noise.dimension), Rejected(NAME, "the conditional exponent", "exp(-h) is not certainly integrable"))
    scale_family.require_free_of_v(noise, parse(evidence["scale"]), {}, NAME)
    if not integrable(noise.mixing, "v", lower, upper, evidence.get("normaliser")):
        raise Rejected(NAME, "the mixing density", "its integral is not certainly finite")
    with precision(bits + 32):
        at_zero = integral(mul(centre, noise.mixing), "v", lower, upper, bits)
        at_shift = integral(mul(substitute(noise.profile, {"r": moved}), noise.mixing), "v", lower, upper, bits)
        loss = (at_zero / at_shift).log()
        require(loss.is_finite(), Rejected(NAME, "the integrals", "their ratio has no finite enclosure; ask for more bits"))
        value = ZERO if moved == ZERO else Num(exact(loss.upper() if side == "upper" else loss.lower()))
    if side == "upper":
        return Bound("upper", value)
    witness = {"pair": {"says": "answers-apart", "apart": format_expr(moved)}, "point": {"says": "near-the-first-answer"}}
    ratio = {"loss": {"says": "ratio-of-means", "here": at_zero.str(20), "there": at_shift.str(20)}}
    return Bound("lower", value, witness={**witness, **ratio})
