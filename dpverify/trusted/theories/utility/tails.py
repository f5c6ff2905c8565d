"""How likely additive noise is to be farther from 0 than a distance, in one coordinate and in its greatest (theory#noise-quantile)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import Any, Final

from flint import arb

from dpverify.trusted.kernel.balls import constant, rational, value
from dpverify.trusted.kernel.canonical_form import exact_fraction
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import CertificateError, Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, Sym, call, div, mul, num, power, sqrt, sub, substitute
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import Mixture, Radial, Staircase
from dpverify.trusted.theories.utility.closed_moments import Exponential, Powers, form
from dpverify.trusted.theories.utility.directions import length_on_the_line
from dpverify.trusted.theories.utility.laws import Law, Size, bits_of

MOST_CUTS: Final = 4096


def greatest(law: Law, t: Fraction, parameters: Mapping[str, Any], rule: str) -> arb:
    """A ball round P(max |noise_i| > t), t > 0.

    parameters: "bits", of integrals, without which tails are those of a closed form; "near" and "far", of those
    over a mixing variable, and "cuts", of those over the length in the norm.
    """
    d = law.dimension
    if law.norm is None:
        return _of_any(_on_the_line(law, t, parameters, rule), d)
    if d == 1 or _is_lp(law, None):
        return _of_radius(law, t, parameters, rule)
    own = matched(law)
    if own is not None:
        return _of_any(incomplete(own, 1, law.unit, t), d)
    hidden = hidden_of(law)
    if hidden is not None and law.norm.kind == "lp":
        return 1 - _within(hidden, d, law.unit, t, parameters, rule)
    if law.norm.kind == "lp":
        least = _over_radius(law, t, parameters, rule, lambda q: 1 - (1 - q) ** d)
    else:
        least = reduce(arb.max, single(law, t, parameters, rule))
    return least.union(summed(law, t, parameters, rule).min(arb(1)))


def summed(law: Law, t: Fraction, parameters: Mapping[str, Any], rule: str) -> arb:
    """A ball round the sum of P(|noise_i| > t) over all coordinates; the parameters are those of `greatest`."""
    found = single(law, t, parameters, rule)
    return reduce(arb.__add__, found) * (law.dimension // len(found))


def single(law: Law, t: Fraction, parameters: Mapping[str, Any], rule: str) -> list[arb]:
    """Balls round P(|noise_i| > t) for each coordinate, or for one where all are alike; the parameters are those of `greatest`."""
    d = law.dimension
    if law.norm is None:
        return [_on_the_line(law, t, parameters, rule)]
    if d == 1:
        return [_of_radius(law, t, parameters, rule)]
    own, hidden = matched(law), hidden_of(law)
    if own is not None:
        return [incomplete(own, 1, law.unit, t)]
    if _is_lp(law, None):
        return [_face_or_side(law, t, parameters, rule)]
    if law.norm.kind not in ("lp", "ellipsoid"):
        raise Rejected(rule, "the norm", "the law of a coordinate is known for lp norms and ellipsoids alone")

    coordinate = _coordinate(law)

    def at(unit: Expr) -> arb:
        if coordinate is not None:
            return incomplete(coordinate, 1, unit, t)
        if hidden is not None:
            return 1 - _within(hidden, 1, unit, t, parameters, rule)
        return _over_radius(law, t, parameters, rule, lambda q: q, unit)

    if law.norm.kind == "lp":
        return [at(law.unit)]
    return [at(mul(law.unit, sqrt(Num(law.norm.matrix[i][i])))) for i in range(d)]


def _is_lp(law: Law, p: Fraction | None) -> bool:
    return law.norm is not None and law.norm.kind == "lp" and law.norm.p == p


def _of_any(q: arb, count: int) -> arb:
    """The probability that one of so many independent events happens."""
    return -((count * (-q).log1p()).expm1())


# -- one size ------------------------------------------------------------------------------------------


def _on_the_line(law: Law, t: Fraction, parameters: Mapping[str, Any], rule: str) -> arb:
    """P(|X| > t) of one of independent coordinates."""
    if isinstance(law.noise, Staircase):
        return _of_stairs(law.noise, t)
    [size] = law.sizes
    if "bits" not in parameters:
        found = form(law)
        if not isinstance(found, Exponential | Powers) or size.whole:
            raise Rejected(rule, "the noise", "its tail has no closed form here; integrals enclose it")
        return incomplete(found, 1, ONE, t)
    bits, total = bits_of(parameters, rule), arb(0)
    step = Fraction(1) if size.whole else Fraction(0)
    start = Fraction(t.__floor__()) + step if size.whole else t
    if size.upper is None or start < size.upper + step:
        total += size.over(ONE, start if size.lower is None else max(start, size.lower), size.upper, bits)
    if size.lower is None or -start > size.lower - step:
        total += size.over(ONE, size.lower, -start if size.upper is None else min(-start, size.upper), bits)
    return total / size.total(ONE, bits)


def _of_radius(law: Law, t: Fraction, parameters: Mapping[str, Any], rule: str) -> arb:
    """P(R > t over the unit), where the greatest coordinate is R times the unit."""
    assert law.norm is not None
    return length(law, t, parameters, rule, mul(law.unit, length_on_the_line(law.norm)) if law.dimension == 1 else law.unit)


def length(law: Law, t: Fraction, parameters: Mapping[str, Any], rule: str, unit: Expr) -> arb:
    """A ball round P(R > t over a unit), R the length of noise in its norm over the law's own unit; parameters as of `greatest`."""
    if len(law.sizes) > 1 and law.dimension == 1 and (hidden := hidden_of(law)) is not None:
        return 1 - _within(hidden, 1, unit, t, parameters, rule)
    if "bits" not in parameters:
        found = form(law)
        if not isinstance(found, Exponential | Powers):
            raise Rejected(rule, "the noise", "its tail has no closed form here; integrals enclose it")
        return incomplete(found, law.weight, unit, t)
    size = _stretched(law, unit, rule)
    bits = bits_of(parameters, rule)
    return size.over(ONE, t, None, bits) / size.total(ONE, bits)


def _stretched(law: Law, unit: Expr, rule: str) -> Size:
    """R times a unit."""
    require(len(law.sizes) == 1, Rejected(rule, "the noise", "its size is a product of two; read it in closed form, if it has one"))
    [size] = law.sizes
    return Size(substitute(size.density, {"r": div(Sym("r"), unit)}), "r", Sym("r"), Fraction(0))


def incomplete(found: Exponential | Powers, weight: int, unit: Expr, t: Fraction) -> arb:
    """P(R > t over a unit) under r^(weight - 1) times the density: an incomplete Gamma or Beta function."""
    at, tail = rational(t) / constant(unit), arb(0)
    if isinstance(found, Exponential):
        shape = (weight + constant(found.w)) / rational(found.a)
        tail = (constant(found.c) * at ** rational(found.a)).gamma_upper(shape, 1)
    else:
        shape = constant(found.m) - arb(weight) / 2
        tail = (1 / (1 + constant(found.k) * at * at / constant(found.a))).beta_lower(shape, arb(weight) / 2, 1)
    require(shape > 0, Rejected("noise-quantile", "the density", "it is not certainly integrable"))
    return tail


def _of_stairs(noise: Staircase, t: Fraction) -> arb:
    """On (gamma + k - 1, gamma + k) the height is q^k; the masses beyond are geometric sums."""
    q, gamma = (-constant(noise.epsilon)).exp(), constant(noise.gamma)
    whole = gamma + q / (1 - q)
    if certainly_le(Num(t), noise.gamma):
        return (gamma - rational(t) + q / (1 - q)) / whole
    from dpverify.trusted.order.enclosed import integer

    k = integer((rational(t) - gamma).floor()) + 1
    beyond: arb = q**k * (gamma + k - rational(t)) + q ** (k + 1) / (1 - q)
    return beyond / whole


# -- directions ----------------------------------------------------------------------------------------


def matched(law: Law) -> Exponential | None:
    """The density of noise exp(-c ||z||_p^p), whose coordinates are independent; None for other noise."""
    found = form(law) if law.norm is not None and law.norm.kind == "lp" else None
    if law.norm is None or not isinstance(found, Exponential) or found.a != law.norm.p or found.w != ZERO:
        return None
    return found


def _coordinate(law: Law) -> Exponential | Powers | None:
    """The density of a coordinate of noise in a Euclidean norm over its unit, for Gaussian and for t noise; None for other noise."""
    if law.norm is None or not (law.norm.kind == "ellipsoid" or _is_lp(law, Fraction(2))):
        return None
    found = form(law)
    if isinstance(found, Powers):
        return replace(found, m=sub(found.m, Num(Fraction(law.dimension - 1, 2))))
    return found if isinstance(found, Exponential) and found.a == 2 and found.w == ZERO else None


def hidden_of(law: Law) -> Any:
    """The law of V where the noise is the unit times sqrt(V) N, N standard in the Euclidean norm of the noise; None for other noise."""
    if not isinstance(law.noise, Radial | Mixture):
        return None
    from dpverify.trusted.theories.curves.mixing import mixing_of

    return mixing_of(law.noise)


def _within(hidden: Any, power_of: int, unit: Expr, t: Fraction, parameters: Mapping[str, Any], rule: str) -> arb:
    """E erf(t / (unit sqrt(2 V)))^n, the probability that n coordinates are within t, over the mixing law.

    Beyond the cuts "near" and "far" of the mixing variable the power lies between its value there and its limit.
    """
    bits, (near, far) = bits_of(parameters, rule), (exact_fraction(parameters.get(key)) for key in ("near", "far"))
    if not (hidden.lower < near < far and (hidden.upper is None or far < hidden.upper)):
        raise CertificateError(f"{rule}: near and far are rationals inside the support of the mixing variable that rise.")
    factor = power(call("erf", div(Num(t), mul(unit, sqrt(mul(num(2), hidden.variance))))), num(power_of))
    size = Size(hidden.density, "v", ONE, hidden.lower, hidden.upper)
    total = size.over(factor, near, far, bits)
    for cut, low, high, limit in ((near, hidden.lower, near, hidden.exponent > 0), (far, far, hidden.upper, hidden.exponent < 0)):
        total += size.over(ONE, low, high, bits) * value(factor, {"v": rational(cut)}).union(arb(int(limit)))
    return total / size.total(ONE, bits)


def _face_or_side(law: Law, t: Fraction, parameters: Mapping[str, Any], rule: str) -> arb:
    """P(|noise_1| > t) in the maximum norm: it is the length with probability 1/d, else uniform below that."""
    size, bits, share = _stretched(law, law.unit, rule), bits_of(parameters, rule), Num(Fraction(1, law.dimension))
    factor = sub(ONE, mul(sub(ONE, share), div(Num(t), Sym("r"))))
    return size.over(factor, t, None, bits) / size.total(ONE, bits)


def _over_radius(
    law: Law, t: Fraction, parameters: Mapping[str, Any], rule: str, of: Callable[[arb], arb], unit: Expr | None = None
) -> arb:
    """E of a function of P(|D_1| > t/(unit R) given R), which rises from 0 to 1 with that and so with R: between the cuts of R by its ends.

    |D_1|^p has the law Beta(1/p, (d - 1)/p) under the cone measure of l_p, also of an ellipsoid with p = 2.
    """
    assert law.norm is not None
    p = Fraction(2) if law.norm.p is None else law.norm.p
    shapes = rational((law.dimension - 1) / p), rational(1 / p)

    def at(r: Fraction) -> arb:
        """The function where the length is r."""
        share = rational(t / r) / constant(law.unit if unit is None else unit)
        if share >= 1:
            return of(arb(0))
        found: arb = (1 - share ** rational(p)).max(arb(0)).min(arb(1)).beta_lower(*shapes, 1)
        return of(found)

    return between_cuts(law, parameters, rule, at)


def between_cuts(law: Law, parameters: Mapping[str, Any], rule: str, at: Callable[[Fraction], arb]) -> arb:
    """E of a function of the length R that rises from 0 to 1 with it: between two of the "cuts" of R it lies between its values there."""
    cuts = tuple(exact_fraction(cut) for cut in parameters.get("cuts", ()))
    if not cuts or len(cuts) > MOST_CUTS or not all(a < b for a, b in pairwise((Fraction(0), *cuts))):
        raise CertificateError(f"{rule}: cuts is a list of at most {MOST_CUTS} rationals above 0 that rise, of the length of the noise.")
    masses = _masses(_stretched(law, ONE, rule), cuts, bits_of(parameters, rule))
    values = [arb(0), *map(at, cuts), arb(1)]
    total, whole = arb(0), arb(0)
    for mass, (low, high) in zip(masses, pairwise(values), strict=True):
        total, whole = total + mass * low.union(high), whole + mass
    return total / whole


@remembered(8)
def _masses(size: Size, cuts: tuple[Fraction, ...], bits: int) -> list[arb]:
    """The masses of a size below, between and above cuts."""
    return [size.over(ONE, low, high, bits) for low, high in pairwise((size.lower, *cuts, None))]
