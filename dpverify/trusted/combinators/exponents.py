"""Continuous additive noise as the closed forms read it: its exponent h = -log(density), and how long its shifts may be."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpverify.trusted.kernel import compare
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import ExprError, Rejected, Undecided, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, num, power, sub, substitute, symbols
from dpverify.trusted.kernel.model import Domain, Mechanism, Norm, Product, Radial, Translation
from dpverify.trusted.language.logarithms import neg_log

WHAT: Final = "additive noise"
HALF_LINE: Final = Domain(Fraction(0))
LINE: Final = Domain()


_SAMPLE: Final = Num(Fraction(22, 7))


@dataclass(frozen=True, slots=True)
class Exponent:
    """h = -log(density) in the variable `name`, which ranges over `domain`: (0, inf) for a radius, the line otherwise.

    scale: what the variable is measured in. norm, dimension: of the shifts, in the noise's own terms; one coordinate moves along
    the line. independent: the density is that of each coordinate, and `norm` is that of the shifts alone.
    """

    h: Expr
    name: str
    domain: Domain
    scale: Expr
    norm: Norm
    dimension: int
    independent: bool

    def at(self, point: Expr) -> Expr:
        """h at a point."""
        return substitute(self.h, {self.name: point})

    def equals(self, form: Expr) -> bool:
        """Whether h is certainly `form`, wherever the variable is."""
        apart = sub(self.at(_SAMPLE), substitute(form, {self.name: _SAMPLE}))
        try:
            if not constant(apart).contains(0):  # most forms are told apart at one point
                return False
        except (ExprError, Undecided):
            pass
        return compare.certainly_equal(self.h, form, {self.name: self.domain})


def exponent(noise: Mechanism) -> Exponent | None:
    """The exponent of additive noise that lives on the whole line or space; None for other mechanisms and for free parameters.

    Raises Rejected for a norm, scale or dimension that is none.
    """
    if isinstance(noise, Radial):
        name, density, scale, norm, count = "r", noise.profile, noise.scale, noise.norm, noise.dimension
    elif isinstance(noise, Product):
        name, density, scale, norm, count = "z", noise.density, ONE, noise.norm, noise.dimension
    elif isinstance(noise, Translation) and not noise.integers and noise.support == (None, None):
        name, density, scale, norm, count = "z", noise.density, ONE, Norm("lp", Fraction(1)), ONE
    else:
        return None
    domain = HALF_LINE if name == "r" else LINE
    if symbols(density) != {name} or symbols(scale) or not isinstance(count, Num):
        return None
    dimension = int(count.value)
    try:
        h = neg_log(density)
    except ExprError:
        return None
    if not certainly_lt(ZERO, density, {name: domain}):
        return None
    return Exponent(h, name, domain, scale, norm, dimension, isinstance(noise, Product))


def stretch(shape: Exponent, q: Fraction | None) -> tuple[Expr, Expr]:
    """The least and the greatest l_q length (q None: the maximum norm) of a shift of independent coordinates with norm 1.

    Powers of the dimension; both are met, one by an axis, the other by the vectors whose coordinates have one size. ONE for a shift
    of a single coordinate or in the noise's own norm. Raises Rejected for independent coordinates in a norm by a matrix.
    """
    if not shape.independent:
        return ONE, ONE
    require(shape.norm.kind == "lp", Rejected(WHAT, "the norm", "independent coordinates want their sensitivity in an lp norm here"))
    gain = _inverse(q) - _inverse(shape.norm.p)
    other = power(num(shape.dimension), Num(gain))
    return (ONE, other) if gain >= 0 else (other, ONE)


def _inverse(p: Fraction | None) -> Fraction:
    return Fraction(0) if p is None else 1 / p
