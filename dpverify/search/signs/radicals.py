"""Real roots in the field: of quotients proved to be at least zero, taken apart into roots of factors and of primes."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from typing import Any

from flint import fmpz

from dpverify.search.signs.field import Atom, Field, Ratio
from dpverify.search.signs.polynomials import ATOMS, NONE, ONE, SLOTS, Poly, atoms_of, factored, number, terms_of
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import Num, call, power
from dpverify.trusted.kernel.model import Domain
from dpverify.trusted.kernel.signs import AT_LEAST_ZERO, NEGATIVE, NULL, POSITIVE
from dpverify.trusted.order.forms import prime_powers


def root(field: Field, r: Ratio, degree: int) -> Ratio:
    """The real root of a quotient proved to be at least zero; a composite degree one prime after the other."""
    if degree > 64:
        raise Undecided(f"a root of degree {degree}.")
    for prime, e in fmpz(degree).factor():
        for _ in range(int(e)):
            r = _prime_root(field, r, int(prime))
    return r


def _prime_root(field: Field, r: Ratio, k: int) -> Ratio:
    signs = field.ratio_sign(r)
    if signs == NULL:
        return Ratio(NONE, ONE)
    if not signs <= AT_LEAST_ZERO:
        raise Undecided("a root of what is not proved to be at least zero.")
    # root(N/D) = root(N * D**(k-1)) / |D|
    below = {POSITIVE: r.den, NEGATIVE: -r.den}.get(field.sign(r.den))
    if below is None:
        raise Undecided("a denominator of unknown sign under a root.")
    above = r.num if below == r.den else -r.num
    content, factors = factored(field.times(above, field.raised(below, k - 1)))
    strict: list[tuple[Poly, int]] = []
    others: list[tuple[Poly, int]] = []
    absolute: dict[Any, Poly] = {}
    for f, e in factors:
        signs = field.sign(f)
        if signs in (POSITIVE, NEGATIVE):
            strict.append((f if signs == POSITIVE else -f, e))
            content *= 1 if signs == POSITIVE else (-1) ** e
        elif k == 2 and e % 2 == 0:
            others.append((field.times(f, f), e // 2))
            absolute[terms_of(others[-1][0])] = f  # whose absolute value is the root
        else:
            others.append((f, e))
    if not all(field.sign(f) <= AT_LEAST_ZERO for f, _ in others):
        # The strict factors are positive, so the product of the others is at least zero; each alone need not be.
        rest = reduce(field.times, (field.raised(f, e) for f, e in others)) * (1 if content > 0 else -1)
        others = [(rest, 1)]
    result = ONE
    for f, e in strict + others:
        result = field.times(result, field.raised(f, e // k))
        if e % k:
            result = field.times(result, field.raised(_root_atom(field, f, k, absolute.get(terms_of(f))), e % k))
    outside = Fraction(1)
    for prime, e in prime_powers(abs(content)).items():
        outside *= Fraction(prime) ** (e // k)
        if e % k:
            result = field.times(result, field.raised(_root_atom(field, number(prime), k), e % k))
    return field.quotient(result * number(outside), below)


def _root_atom(field: Field, radicand: Poly, k: int, under_abs: Poly | None = None) -> Poly:
    if radicand.is_one():
        return radicand
    for i, atom in enumerate(field.atoms):
        if atom.degree == k and field.same(atom.args[0], Ratio(radicand, ONE)):
            return ATOMS[i]
    under = [field.atoms[i] for i in atoms_of(radicand)]
    bounds = Domain(Fraction(0), lower_open=field.sign(radicand) == POSITIVE)
    root_of = power(field.poly_expr(radicand), Num(Fraction(1, k)))
    expr = root_of if under_abs is None else call("abs", field.poly_expr(under_abs))
    args = (Ratio(radicand, ONE),)
    relation = ATOMS[len(field.atoms) % SLOTS] ** k - radicand
    constants, algebraic = all(a.constant for a in under), all(a.algebraic for a in under)
    return field.new(Atom("root", args, expr, constants, bounds, k, algebraic, relation))
