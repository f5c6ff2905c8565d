"""Whether polynomials in atoms vanish, and with them constants: by separation bounds of roots, and by products under logarithms."""

from __future__ import annotations

from math import lcm, prod
from typing import Final

from flint import arb, ctx, fmpz

from dpverify.trusted.language.errors import DpverifyError
from dpverify.trusted.language.expr import Add, Expr, add
from dpverify.trusted.language.loading import remembered
from dpverify.trusted.order.expressions import ratio
from dpverify.trusted.order.field import Effort, Field, Ratio
from dpverify.trusted.order.logarithms import log, log_form
from dpverify.trusted.order.polynomials import ONE, Poly, atoms_of, powers_in

MAX_ZERO_BITS: Final = 200_000
"""The widest separation bound that is evaluated."""


@remembered(1024)
def vanishes(expr: Expr) -> bool:
    """Whether a constant is proved to be zero."""
    turned = add(*reversed(expr.args)) if isinstance(expr, Add) else expr
    for ordered in dict.fromkeys((expr, turned)):  # the order of terms decides which roots and exponentials become generators
        field = Field({}, Effort())
        try:
            if field.is_zero(ratio(field, ordered).num):
                return True
        except (DpverifyError, RecursionError):
            continue
    return False


def is_zero(field: Field, p: Poly) -> bool:
    """Whether p certainly vanishes at all parameter values. Raises Undecided where polynomials grow too long."""
    p = field.reduced(p)
    if p.is_zero():
        return True
    if field.is_constant(p) and not field.ball(p).contains(0):
        return False
    if _coefficients_vanish(field, p):
        return True
    form = log_form(field, p)
    if form is None:
        return False
    rest, groups = form
    total = Ratio(rest, ONE)
    for factor, argument in groups:
        if not field.is_zero(argument.num - argument.den):
            total = field.plus(total, field.multiply(Ratio(factor, ONE), log(field, argument)))
    return _coefficients_vanish(field, total.num)


def _coefficients_vanish(field: Field, p: Poly) -> bool:
    """Whether p vanishes for independent values of all atoms but the real roots of integers."""
    return all(_algebraic_zero(field, part) for part in field.split(p, lambda i: field.atoms[i].algebraic).values())


def _algebraic_zero(field: Field, p: Poly) -> bool:
    """Whether a polynomial in nested real roots of integers is zero, by a constructive zero bound.

    Let E be p times its common denominator. Radicands are polynomials with integer coefficients, so E
    is an algebraic integer, in a field of degree at most D, the product of the degrees of all roots that
    occur. An embedding of that field sends a root of R to some k-th root of the image of R; hence every
    conjugate of E is at most u in size, where u is p's value with all coefficients replaced by their sizes
    and all roots by roots of the same bound. The product of E's conjugates is an integer. If it is not 0
    then |E| >= u**-(D-1). This is the division-free case of Burnikel, Funke, Mehlhorn, Schirra, Schmitt,
    A separation bound for real algebraic expressions, Algorithmica 55 (2009), Theorem 1 (there l = 1).
    """
    if p.is_zero() or len(p) == 1:
        return bool(p.is_zero())  # roots of nonzero numbers are not zero
    whole = p * lcm(*(int(c.q) for c in p.coeffs()))
    if not field.ball(whole).contains(0):
        return False
    degree = prod(field.atoms[i].degree for i in _roots_under(field, whole))
    size = _conjugate_bound(field, whole).bit_length()
    bits = (degree - 1) * size
    if bits > MAX_ZERO_BITS:
        return False
    with ctx.workprec(bits + 2 * size + 64):
        return bool(abs(field.ball(whole)) < arb(fmpz(2)) ** (-bits))


def _roots_under(field: Field, p: Poly) -> set[int]:
    found = set(atoms_of(p))
    return found.union(*(_roots_under(field, field.atoms[i].args[0].num) for i in found))


def _conjugate_bound(field: Field, p: Poly) -> int:
    """An integer of at least 1 that no conjugate of p, a polynomial with integer coefficients in roots of such, exceeds."""
    bounds = {}
    for i in atoms_of(p):
        k, under = field.atoms[i].degree, _conjugate_bound(field, field.atoms[i].args[0].num)
        bounds[i] = int(fmpz(under).root(k)) + 1
    total = 0
    for monomial, coefficient in p.terms():
        total += abs(int(coefficient.p)) * prod(bounds[i] ** e for i, e in powers_in(monomial))
    return max(total, 1)
