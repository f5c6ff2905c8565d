"""Noise read as a mixture of Gaussians, exactly: the law of its hidden variance."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpverify.trusted.kernel.expr import ONE, ZERO, Call, Expr, Mul, Num, Sym, add, call, div, mul, neg, num, power, sub, symbols
from dpverify.trusted.kernel.model import Domain, Mixture, Radial
from dpverify.trusted.language.linear import linear_part, terms
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.numbers.expansion import monomial
from dpverify.trusted.shapes.convexity import Shapes, outside
from dpverify.trusted.theories.additive import scale_family

RULE: Final = "gaussian-scale-mixture"
_HALF: Final = Num(Fraction(1, 2))
_LOG: Final = call("log", Sym("r"))


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
    moving = [term for term in terms(shapes.tidy(neg_log(noise.profile))) if "r" in symbols(term)]
    if len(moving) == 1 and (law := _of_t(moving[0], d.value, shapes)) is not None:
        return law
    return _of_bessel(moving, d.value, shapes)


def _of_t(term: Expr, dimension: Fraction, shapes: Shapes) -> Law | None:
    """c log(a + k r^2): V is inverse gamma of shape c - d/2 and scale a/(2k)."""
    inner, c = outside(term, "r")
    if not (isinstance(inner, Call) and inner.name == "log"):
        return None
    k, a = linear_part(_square_as_symbol(inner.args[0]), "q")
    shape = sub(c, Num(dimension / 2))
    if symbols(add(k, a, c)) or not all(map(shapes.positive, (k, a, shape))):
        return None
    v = Sym("v")
    return Law(mul(power(v, sub(num(-1), shape)), call("exp", neg(div(a, mul(num(2), k, v))))))


def _of_bessel(moving: list[Expr], dimension: Fraction, shapes: Shapes) -> Law | None:
    """-log(r^w K_w(c r)), or its case c r - (w - 1/2) log r for w = 1/2 and -1/2: V is gamma of shape w + d/2 and rate c^2/2."""
    logs, others = ([(c, f) for f, c in (outside(term, "r") for term in moving) if (f == _LOG) is kind] for kind in (True, False))
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
    parts = terms(shapes.tidy(neg_log(noise.profile)))
    moving = [term for term in parts if "r" in symbols(term)]
    if len(moving) != 1 or any(not symbols(term) <= {"r", "v"} for term in (*parts, noise.mixing)):
        return None
    b, rest = linear_part(_square_as_symbol(moving[0]), "q")
    k, j = monomial(b, "v") or (b, Fraction(0))
    if rest != ZERO or j == 0 or not Shapes("r", True, {"v": domain}).positive(k):
        return None
    scale_family.require_free_of_v(noise, power(Sym("v"), Num(-j / 2)), {}, RULE)
    return Law(noise.mixing, lower.value, domain.upper, div(ONE, mul(num(2), k)), -j)


def _square_as_symbol(expr: Expr) -> Expr:
    """The tree with r^2 as the symbol q, in the terms of a sum."""
    square = power(Sym("r"), num(2))

    def swap(term: Expr) -> Expr:
        factors = term.args if isinstance(term, Mul) else (term,)
        return mul(*(Sym("q") if factor == square else factor for factor in factors))

    return add(*map(swap, terms(expr)))
