"""Noise that is Gaussian given a hidden variance: s sqrt(V) N, seen together with V.

Telling the reader V as well can only help the reader, so the pair (V, Y) dominates the pair Y in every dimension, and its profile is
a mean of Gaussian profiles,

    H(epsilon) = E[ H_Gauss(epsilon; D / (s sqrt(V))) ],
    H_Gauss(epsilon; mu) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu).

In infinite dimension V is a function of Y, and the pair is what the mechanism has. H_Gauss rises in mu, which bounds the ends of the
integral: between its values at the cut and in the limit, times the mass of the mixing law beyond the cut.

Reimherr & Awan's Theorem 5 stands beside it: delta' = 2 E[(delta/2)^V] where s^2 >= 2 log(2/delta) D^2/epsilon^2. Given V = v, with
u = epsilon s sqrt(v)/D, H_Gauss(epsilon; epsilon/u) <= Phi(epsilon/(2u) - u). If u^2 >= epsilon/2 that is at most
exp(epsilon/2 - u^2/2)/2 <= 2 exp(-u^2/2) for epsilon <= 4 log 2; if u^2 < epsilon/2 <= 2 log 2 then 2 exp(-u^2/2) > 1. Without a
condition on epsilon the theorem fails: V = 1, epsilon = 20 and delta = 2 exp(-2) = 0.27 leave a true delta of 0.998.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any, Final

from flint import acb, arb, ctx, fmpz

from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import READABLE, decimals, divergence
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.pairs import Curve, Pair, symmetric
from dpverify.trusted.language.errors import Rejected, Undecided
from dpverify.trusted.language.expr import (
    ONE,
    ZERO,
    Add,
    Call,
    Expr,
    Mul,
    Num,
    Pow,
    Sym,
    add,
    call,
    div,
    format_expr,
    linear_part,
    mul,
    neg,
    num,
    power,
    sub,
    substitute,
    symbols,
)
from dpverify.trusted.language.loading import remembered
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.model import Domain, Mechanism, Mixture, Radial, Source
from dpverify.trusted.numbers.balls import constant, finite, precision, rational, value
from dpverify.trusted.numbers.complex import Complex, compiled
from dpverify.trusted.numbers.quadrature import integral
from dpverify.trusted.order.compare import certainly_le, certainly_lt
from dpverify.trusted.order.convexity import Shapes
from dpverify.trusted.order.geometry import Sensitivity
from dpverify.trusted.parts.runs import Run, reach
from dpverify.trusted.rules.curves import scale_family

NAME: Final = "gaussian-scale-mixture"
STATEMENT: Final = (
    "Noise s sqrt(V) N, N a standard Gaussian vector and V independent of it, at l2 distance D has at most the profile of the pair that "
    "shows V too, E[Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)] with mu = D/(s sqrt(V))."
)
CHECKED: Final = (
    "the noise is a mixture of Gaussians: its profile is read as one, exactly",
    "the normaliser of a mixture's profile does not depend on the mixing variable",
    "the mixing density is at least 0 and integrable, with a positive integral",
    "the scale is positive and the sensitivity at least 0",
)
ASSUMED: Final = ("the sampler is ideal",)
SOURCE: Final = Source("docs/theory/curves.md#gaussian-scale-mixture", "Reimherr & Awan 2019, Theorems 1 and 5")

_GUARDS: Final = (64, 256)
"""Bits beyond the working precision: small shifts cancel in H_Gauss."""
_LADDER: Final = range(-60, 61)
"""Powers of 4 among which the range of v is cut."""
_TINY: Final = -16_384
"""Integrals below 2 to this power are enclosed absolutely, not relatively."""
_HALF: Final = Num(Fraction(1, 2))
_LOG: Final = call("log", Sym("r"))
_MOST_KNOWN: Final = 4096
_ROUGH: Final = 64
"""Bits for guesses."""
MOST_EPSILON: Final = mul(num(4), call("log", num(2)))
"""The greatest epsilon for which Theorem 5 is proved here."""


@dataclass(frozen=True, slots=True)
class Law:
    """A hidden variance V = factor * v^exponent, v of a density on (lower, upper) known up to a constant factor.

    density: an expression in v. lower, upper: rationals, None for infinity. factor > 0, exponent not 0.
    """

    density: Expr
    lower: Fraction = Fraction(0)
    upper: Fraction | None = None
    factor: Expr = ONE
    exponent: Fraction = Fraction(1)

    @property
    def variance(self) -> Expr:
        """V as an expression in v."""
        return mul(self.factor, power(Sym("v"), Num(self.exponent)))


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run. parameters: "sensitivity", if given, the certificate of a gauge; "prec". Raises Rejected, Undecided."""
    return settled.noise(run, curve(settled.additive(run, NAME), reach(run, parameters.get("sensitivity"))), parameters)


def curve(noise: Mechanism, reach: Sensitivity) -> Curve:
    """The pair that shows the variance, as an upper bound for Gaussian scale mixtures in l2 or a Mahalanobis norm.

    Raises Undecided where the noise is not recognised as one, Rejected for a scale or a sensitivity that makes no sense.
    """
    return Curve(observed(*law_and_shift(noise, reach)), None, (NAME,), ASSUMED)


def side_by_side(noise: Mechanism, reach: Sensitivity, epsilon: Expr, delta: Expr) -> tuple[arb, arb]:
    """Theorem 5's delta' at the noise's scale, and the sharper E[H_Gauss] at the same epsilon. Raises as `curve` and `theorem5` do."""
    law, shift = law_and_shift(noise, reach)
    return theorem5(law, shift, epsilon, delta), observed(law, shift).forward(constant(epsilon))


def law_and_shift(noise: Mechanism, reach: Sensitivity) -> tuple[Law, Expr]:
    """The law of V, and D over the scale. Raises Rejected, Undecided as `curve` does."""
    if not isinstance(noise, Radial | Mixture):
        raise Rejected(NAME, "the mechanism", "it is neither radial noise nor a mixture")
    law = mixing_of(noise)
    if law is None:
        raise Undecided(f"{NAME}: the profile is not recognised as a mixture of Gaussians in r, up to a factor.")
    if symbols(noise.scale) or symbols(reach.upper):
        raise Rejected(NAME, "the sensitivity", "it or the scale has parameters without a value")
    shift = div(reach.upper, noise.scale)
    if not (certainly_lt(ZERO, noise.scale) and certainly_le(ZERO, reach.upper)):
        raise Rejected(NAME, "the sensitivity", "it is not certainly at least 0, or the scale not certainly positive")
    return law, shift


# -- reading noise as a mixture -----------------------------------------------------------------


def mixing_of(noise: Radial | Mixture) -> Law | None:
    """The law of V for noise that is sqrt(V) N at scale 1, None where it is not recognised.

    Recognised: (1 + k r^2)^-c (t noise), exp(-c r) and r^w K_w(c r) (gamma V: l2 Laplace, multivariate Laplace), and mixtures whose
    profile is exp(-b(v) r^2) times a function of v, b a multiple of a power of v. Raises Rejected where the normaliser of a mixture's
    profile is not certainly free of v.
    """
    d = noise.dimension
    if not isinstance(d, Num) or d.value.denominator != 1 or d.value < 1:
        return None
    euclidean = noise.norm.kind == "ellipsoid" or (noise.norm.kind == "lp" and (noise.norm.p == 2 or d.value == 1))
    if not euclidean:
        return None
    if isinstance(noise, Mixture):
        return _given(noise)
    if symbols(noise.profile) != {"r"}:
        return None
    shapes = Shapes("r", True, {})
    moving = [term for term in _terms(shapes.tidy(neg_log(noise.profile))) if "r" in symbols(term)]
    if len(moving) == 1 and (found := _of_t(moving[0], d.value, shapes)) is not None:
        return found
    return _of_bessel(moving, d.value, shapes)


def _of_t(term: Expr, dimension: Fraction, shapes: Shapes) -> Law | None:
    """c log(a + k r^2): V is inverse gamma of shape c - d/2 and scale a/(2k)."""
    c, inner = _coefficient(term)
    if not (isinstance(inner, Call) and inner.name == "log"):
        return None
    k, a = linear_part(_square_as_symbol(inner.args[0]), "q")
    shape = sub(c, Num(dimension / 2))
    if symbols(add(k, a, c)) or not all(map(shapes.positive, (k, a, shape))):
        return None
    v = Sym("v")
    return Law(mul(power(v, sub(num(-1), shape)), call("exp", neg(div(a, mul(num(2), k, v))))))


def _of_bessel(terms: list[Expr], dimension: Fraction, shapes: Shapes) -> Law | None:
    """-log(r^w K_w(c r)), or its case c r - (w - 1/2) log r for w = 1/2 and -1/2: V is gamma of shape w + d/2 and rate c^2/2."""
    logs, others = ([(c, f) for c, f in map(_coefficient, terms) if (f == _LOG) is kind] for kind in (True, False))
    if len(logs) > 1 or len(others) != 1:
        return None
    w = neg(logs[0][0]) if logs else ZERO
    factor, only = others[0]
    order: Expr
    if only == Sym("r"):
        w, order, c = add(w, _HALF), _HALF, factor
    elif isinstance(only, Call) and only.name == "logbesselk" and factor == num(-1):
        order, (c, offset) = only.args[0], linear_part(only.args[1], "r")
        if offset != ZERO:
            return None
    else:
        return None
    shape = add(w, Num(dimension / 2))
    if w not in (order, neg(order)) or not shapes.positive(c) or not shapes.positive(shape):
        return None
    return _gamma(shape, c)


def _gamma(shape: Expr, c: Expr) -> Law:
    """V of gamma law with rate c^2/2."""
    v = Sym("v")
    return Law(mul(power(v, sub(shape, ONE)), call("exp", neg(mul(_HALF, power(c, num(2)), v)))))


def _given(noise: Mixture) -> Law | None:
    """Of exp(-b(v) r^2) a(v), a b^(-d/2) constant, averaged with density m(v): v has density m and V = 1/(2 b(v))."""
    lower, upper = noise.support
    if not isinstance(lower, Num) or lower.value < 0 or not (upper is None or isinstance(upper, Num)):
        return None
    domain = Domain(lower.value, None if upper is None else upper.value)
    shapes = Shapes("v", True, {"r": Domain(Fraction(0))})
    terms = _terms(shapes.tidy(neg_log(noise.profile)))
    moving = [term for term in terms if "r" in symbols(term)]
    if len(moving) != 1 or any(not symbols(term) <= {"r", "v"} for term in (*terms, noise.mixing)):
        return None
    b, rest = linear_part(_square_as_symbol(moving[0]), "q")
    found = _monomial(b)
    if rest != ZERO or found is None or not Shapes("r", True, {"v": domain}).positive(found[0]):
        return None
    k, j = found
    scale_family.require_free_of_v(noise, power(Sym("v"), Num(-j / 2)), {}, NAME)
    return Law(noise.mixing, lower.value, domain.upper, div(ONE, mul(num(2), k)), -j)


def _terms(total: Expr) -> tuple[Expr, ...]:
    return total.args if isinstance(total, Add) else (total,)


def _coefficient(term: Expr) -> tuple[Expr, Expr]:
    """A term as (factor free of r, rest)."""
    factors = term.args if isinstance(term, Mul) else (term,)
    return mul(*(f for f in factors if "r" not in symbols(f))), mul(*(f for f in factors if "r" in symbols(f)))


def _square_as_symbol(expr: Expr) -> Expr:
    """The tree with r^2 as the symbol q, in the terms of a sum."""
    square = power(Sym("r"), num(2))

    def swap(term: Expr) -> Expr:
        factors = term.args if isinstance(term, Mul) else (term,)
        return mul(*(Sym("q") if factor == square else factor for factor in factors))

    found = add(*map(swap, _terms(expr)))
    return expr if "r" in symbols(found) else found


def _monomial(expr: Expr) -> tuple[Expr, Fraction] | None:
    """(k, j) with expr = k v^j, j not 0; None for another form."""
    factors = expr.args if isinstance(expr, Mul) else (expr,)
    moving = [factor for factor in factors if "v" in symbols(factor)]
    if len(moving) != 1:
        return None
    k, [only] = mul(*(factor for factor in factors if factor not in moving)), moving
    if only == Sym("v"):
        return k, Fraction(1)
    if isinstance(only, Pow) and only.base == Sym("v") and isinstance(only.exponent, Num):
        return k, only.exponent.value
    return None


# -- the pair that shows the variance -------------------------------------------------------------


def observed(law: Law, shift: Expr) -> Pair:
    """The pair (V, sqrt(V) N + shift e) and (V, sqrt(V) N), e any unit vector; its two orders have one profile.

    Raises Rejected for a law that is none, Undecided where its integral is not enclosed.
    """
    _check(law)
    mean = _mean(law, div(shift, call("sqrt", law.factor)))
    if not certainly_le(ZERO, shift):
        raise Rejected(NAME, "the shift", "it is not certainly at least 0")
    if shift == ZERO:
        return symmetric(lambda epsilon: arb(0))

    def event(epsilon: arb) -> Mapping[str, str]:
        with precision(min(ctx.prec, READABLE)):
            p, q = (decimals(mean(part, epsilon.mid())) for part in (_first, _second))
        return {
            "pair": f"shift {format_expr(shift)}, the variance V = {format_expr(law.variance)} shown too",
            "event": f"the noise along the shift is at most shift/2 - {decimals(epsilon.mid())} V/shift",
            "P": p,
            "Q": q,
        }

    return symmetric(divergence(lambda epsilon: mean(_gaussian, epsilon)), event)


def _check(law: Law) -> None:
    if not symbols(law.density) <= {"v"} or symbols(law.factor):
        raise Rejected(NAME, "the mixing law", "it has parameters without a value")
    if law.lower < 0 or (law.upper is not None and law.upper <= law.lower) or law.exponent == 0:
        raise Rejected(NAME, "the mixing law", "its support is not an interval of positive numbers, or its exponent is 0")
    if not constant(law.factor) > 0:
        raise Rejected(NAME, "the mixing law", "its factor is not certainly positive")
    shapes = Shapes("r", True, {"v": Domain(law.lower, law.upper)})
    if not shapes.positive(law.density):
        raise Rejected(NAME, "the mixing law", "its density is not certainly positive on its support")
    if not _mass(law, law.lower, law.upper, ctx.prec) > 0:
        raise Rejected(NAME, "the mixing law", "its integral is not certainly positive")


@remembered(4096)
def _mass(law: Law, lower: Fraction, upper: Fraction | None, bits: int) -> arb:
    """The integral of the density from lower to upper, at about `bits` bits."""
    with precision(bits + 40):
        found = integral(law.density, "v", lower, upper, bits)
    return finite(found)


_Part = Callable[[acb, acb], acb]
"""A function of mu and epsilon whose mean over V is taken."""


def _phi(x: acb) -> acb:
    return (-x / acb(2).sqrt()).erfc() / 2


def _first(mu: acb, epsilon: acb) -> acb:
    return _phi(mu / 2 - epsilon / mu)


def _second(mu: acb, epsilon: acb) -> acb:
    return _phi(-mu / 2 - epsilon / mu)


def _gaussian(mu: acb, epsilon: acb) -> acb:
    return _first(mu, epsilon) - epsilon.exp() * _second(mu, epsilon)


@remembered(64)
def _mean(law: Law, shift: Expr) -> _Mean:
    return _Mean(law, shift)


class _Mean:
    """E[part(mu, epsilon)] with mu = shift v^(-exponent/2), by quadrature in u = log v between two cuts; the latest are remembered."""

    def __init__(self, law: Law, shift: Expr) -> None:
        self.law, self.shift = law, shift
        in_u = Shapes("u", False, {})
        self.weight = call("exp", sub(Sym("u"), in_u.tidy(substitute(neg_log(law.density), {"v": call("exp", Sym("u"))}))))
        self.grid = [p for k in _LADDER if (p := Fraction(4) ** k) > law.lower and (law.upper is None or p < law.upper)]
        if not self.grid:
            assert law.upper is not None
            self.grid = [(law.lower + law.upper) / 2]
        with precision(_ROUGH):
            self.heights = [(rational(p) * value(law.density, {"v": rational(p)})).mid() for p in self.grid]
            self.masses = list(accumulate(self.heights)), list(accumulate(reversed(self.heights)))[::-1]
        self._functions: dict[int, Complex] = {}
        self._known: dict[tuple[_Part, fmpz, fmpz, int], arb] = {}

    def __call__(self, part: _Part, epsilon: arb) -> arb:
        """The mean at an exact epsilon."""
        key = part, *epsilon.man_exp(), ctx.prec
        if key not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = self._found(part, epsilon)
        return self._known[key]

    def _found(self, part: _Part, epsilon: arb) -> arb:
        found, wanted = arb("nan"), ctx.prec
        for guard in _GUARDS:
            with precision(wanted + guard):
                found = self._at(part, epsilon, wanted)
            if found.rel_accuracy_bits() >= wanted - 24:
                break
        return finite(found)

    def _at(self, part: _Part, epsilon: arb, bits: int) -> arb:
        law = self.law
        size, low, high = self._cuts(part, epsilon, bits)
        total = self._inside(part, epsilon, low, high, size, bits)
        if low > law.lower:
            total += self._end(part, epsilon, low, law.lower, low, bits)
        if high != law.upper:
            total += self._end(part, epsilon, high, high, law.upper, bits)
        return (total / _mass(law, law.lower, law.upper, bits)).max(arb(0)).min(arb(1))

    def _value(self, part: _Part, epsilon: arb, v: Fraction) -> arb:
        """The part at mu(v)."""
        mu = constant(self.shift) * rational(v) ** rational(-self.law.exponent / 2)
        return part(acb(mu), acb(epsilon)).real

    def _beyond(self, part: _Part, epsilon: arb, cut: Fraction, rising: bool) -> arb:
        """What encloses the part beyond a cut, where v rises to infinity or falls to 0: mu falls to 0 there or rises to infinity.

        H_Gauss and the first probability rise in mu, from at least 0 to 1. H_Gauss >= 0, so e^epsilon times the second is no greater.
        """
        if part is _second:
            return arb(0).union(self._beyond(_first, epsilon, cut, rising).upper() * (-epsilon).exp())
        limit = arb(0) if rising == (self.law.exponent > 0) else arb(1)
        return self._value(part, epsilon, cut).union(limit)

    def _end(self, part: _Part, epsilon: arb, cut: Fraction, low: Fraction, high: Fraction | None, bits: int) -> arb:
        """The integral beyond a cut."""
        between = self._beyond(part, epsilon, cut, rising=high is None)
        try:
            mass = _mass(self.law, low, high, bits)
        except Undecided:  # too far out: at most the whole mass, and at least nothing
            mass = arb(0).union(_mass(self.law, self.law.lower, self.law.upper, bits))
        return between * mass

    def _cuts(self, part: _Part, epsilon: arb, bits: int) -> tuple[arb, Fraction, Fraction]:
        """About the size of the integral, and where to cut its ends off: a guess, as what is beyond the cuts is enclosed."""
        law = self.law
        values = [self._value(part, epsilon, p) for p in self.grid]
        size = arb(2) ** _TINY
        for height, at in zip(self.heights, values, strict=True):
            size = size.max((height * at).mid())
        least = size * arb(2) ** -bits
        low, high = 0, len(self.grid) - 1
        below, above = ([2 * self._beyond(part, epsilon, p, rising).rad() for p in self.grid] for rising in (False, True))
        while low < high and below[low + 1] * self.masses[0][low + 1] < least:
            low += 1
        while high > low + 1 and above[high - 1] * self.masses[1][high - 1] < least:
            high -= 1
        start = law.lower if law.lower > 0 else self.grid[low]
        return size, start, self.grid[high] if law.upper is None else law.upper

    def _inside(self, part: _Part, epsilon: arb, low: Fraction, high: Fraction, size: arb, bits: int) -> arb:
        weight, shift, at = self._weight(), acb(constant(self.shift)), acb(epsilon)
        slope = acb(rational(-self.law.exponent / 2))

        def integrand(u: acb, analytic: bool) -> acb:
            return weight(u, analytic) * part(shift * (slope * u).exp(), at)

        tolerance = arb(2) ** -bits
        ends = (acb(rational(low).log()), acb(rational(high).log()))
        found = acb.integral(integrand, *ends, rel_tol=tolerance, abs_tol=size * tolerance, eval_limit=20_000)
        if not (found.real.is_finite() and 0 in found.imag):
            raise Undecided(f"the mean over v from {low} to {high} has no finite enclosure.")
        return found.real

    def _weight(self) -> Complex:
        """The density in u at the working precision, which its constants are rounded to."""
        if ctx.prec not in self._functions:
            self._functions[ctx.prec] = compiled(self.weight, "u")
        return self._functions[ctx.prec]


# -- Reimherr and Awan's Theorem 5 -----------------------------------------------------------------


def theorem5(law: Law, shift: Expr, epsilon: Expr, delta: Expr) -> arb:
    """delta' = 2 E[(delta/2)^V] such that noise sqrt(V) N, moved by `shift` = D/s, is (epsilon, delta')-DP.

    Raises Rejected unless 0 < delta < 2, 0 < epsilon <= 4 log 2 and 2 log(2/delta) shift^2 <= epsilon^2, each proved exactly.
    """
    _check(law)
    if not (certainly_lt(ZERO, delta) and certainly_lt(delta, num(2))):
        raise Rejected(NAME, "delta", f"{format_expr(delta)} is not certainly between 0 and 2")
    if not (certainly_lt(ZERO, epsilon) and certainly_le(epsilon, MOST_EPSILON)):
        raise Rejected(NAME, "epsilon", f"{format_expr(epsilon)} is not certainly in (0, 4 log 2], where it is proved")
    least = mul(num(2), call("log", div(num(2), delta)), power(shift, num(2)))
    if not (certainly_le(ZERO, shift) and certainly_le(least, power(epsilon, num(2)))):
        raise Rejected(NAME, "the scale", "s^2 >= 2 log(2/delta) D^2/epsilon^2 does not certainly hold; take a larger scale")
    bits = ctx.prec
    with precision(bits + 40):
        damped = mul(law.density, call("exp", mul(law.variance, call("log", div(delta, num(2))))))
        total = integral(damped, "v", law.lower, law.upper, bits)
        return finite(2 * total / _mass(law, law.lower, law.upper, bits))
