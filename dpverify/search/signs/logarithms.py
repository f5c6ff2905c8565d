"""Logarithms and exponentials in the field, and polynomials that are linear in logarithms."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm

from flint import fmpq

from dpverify.search.signs.field import MAX_EXPONENT, UNIT, Atom, Field, Ratio
from dpverify.search.signs.polynomials import (
    ATOMS,
    NONE,
    ONE,
    RING,
    Poly,
    atoms_of,
    by_power,
    factored,
    fraction,
    number,
    powers_in,
    terms_of,
)
from dpverify.search.signs.radicals import root
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import call, symbols
from dpverify.trusted.kernel.model import Domain
from dpverify.trusted.kernel.signs import AT_LEAST_ZERO, AT_MOST_ZERO, NEGATIVE, POSITIVE
from dpverify.trusted.order.forms import prime_powers


def log(field: Field, r: Ratio) -> Ratio:
    """The logarithm of a quotient proved to be positive, as a sum over its positive factors."""
    if field.ratio_sign(r) != POSITIVE:
        raise Undecided("a logarithm of what is not proved to be positive.")
    total = Ratio(NONE, ONE)
    content = Fraction(1)
    rest = [ONE, ONE]
    for side, (p, direction) in enumerate(((r.num, 1), (r.den, -1))):
        value, factors = factored(p)
        content *= value**direction
        for f, e in factors:
            signs = field.sign(f)
            if signs in (POSITIVE, NEGATIVE):
                content *= 1 if signs == POSITIVE else (-1) ** e
                total = field.plus(total, field.scaled(_log_factor(field, f if signs == POSITIVE else -f), Fraction(direction * e)))
            else:
                rest[side] = field.times(rest[side], field.raised(f, e))
    if not (rest[0].is_one() and rest[1].is_one()):
        # The product of these is positive although no sign of a single one is known: log(N/D) = log(ND) - log(D^2).
        together = field.times(rest[0], rest[1]) * (1 if content > 0 else -1)
        total = field.plus(total, _log_factor(field, together))
        if not rest[1].is_one():
            total = field.subtract(total, _log_factor(field, field.times(rest[1], rest[1])))
    for prime, e in prime_powers(abs(content)).items():
        total = field.plus(total, field.scaled(_log_factor(field, number(prime)), Fraction(e)))
    return total


def _log_factor(field: Field, f: Poly) -> Ratio:
    for i in atoms_of(f):
        if f == ATOMS[i]:
            atom = field.atoms[i]
            if atom.kind == "exp":
                return atom.args[0]
            if atom.kind == "root":
                return field.scaled(log(field, atom.args[0]), Fraction(1, atom.degree))
    r = Ratio(f, ONE)
    for i, atom in enumerate(field.atoms):
        if atom.kind == "log" and atom.args[0] == r:
            return Ratio(ATOMS[i], ONE)
    signs = field.sign(f - 1)
    expr = call("log", field.poly_expr(f))
    bounds = Domain()
    if signs <= AT_LEAST_ZERO:
        bounds = Domain(lower=Fraction(0), lower_open=signs == POSITIVE)
    elif signs <= AT_MOST_ZERO:
        bounds = Domain(upper=Fraction(0), upper_open=signs == NEGATIVE)
    return Ratio(field.new(Atom("log", (r,), expr, not symbols(expr), bounds)), ONE)


def exp(field: Field, r: Ratio) -> Ratio:
    """The exponential of a sum as the product over its terms; of a rational multiple of a logarithm as a power."""
    result = UNIT
    for monomial, coefficient in r.num.terms():
        unit = field.quotient(RING.from_dict({monomial: 1}), r.den)
        result = field.multiply(result, _exp_term(field, fraction(coefficient), unit))
    return result


def _exp_term(field: Field, c: Fraction, unit: Ratio) -> Ratio:
    """exp(c * unit), for a monomial over a denominator."""
    for i, atom in enumerate(field.atoms):
        if atom.kind == "log" and unit == Ratio(ATOMS[i], ONE) and c.denominator <= 64:
            return field.to_power(root(field, atom.args[0], c.denominator), c.numerator)
        if atom.kind == "exp":
            share = fraction(atom.args[0].num.leading_coefficient() / unit.num.leading_coefficient())
            times = c / share
            if field.scaled(unit, share) == atom.args[0] and times.denominator <= 24 and abs(times.numerator) <= MAX_EXPONENT:
                return field.to_power(root(field, Ratio(ATOMS[i], ONE), times.denominator), times.numerator)
    arg = field.scaled(unit, abs(c))
    signs = field.ratio_sign(arg)
    bounds = Domain(Fraction(0))
    if signs <= AT_LEAST_ZERO:
        bounds = Domain(Fraction(1), lower_open=signs == POSITIVE)
    elif signs <= AT_MOST_ZERO:
        bounds = Domain(Fraction(0), Fraction(1), upper_open=signs == NEGATIVE)
    expr = call("exp", field.expr(arg))
    return field.to_power(Ratio(field.new(Atom("exp", (arg,), expr, not symbols(expr), bounds)), ONE), 1 if c > 0 else -1)


def _logarithms(field: Field, p: Poly) -> dict[int, tuple[Ratio, int | Fraction]]:
    """The atoms of p that are logarithms: atom = times * log(argument), as pairs (argument, times).

    A parameter e is one where exp(e) is an atom; the argument of log is a root of it where that is an atom.
    """
    roots = {terms_of(atom.args[0].num): i for i, atom in enumerate(field.atoms) if atom.degree}
    found: dict[int, tuple[Ratio, int | Fraction]] = {}
    for i in atoms_of(p):
        atom = field.atoms[i]
        if atom.kind == "log":
            root = roots.get(terms_of(atom.args[0].num))
            found[i] = (atom.args[0], 1) if root is None else (Ratio(ATOMS[root], ONE), field.atoms[root].degree)
        elif atom.kind == "parameter" and max(by_power(p, i)) == 1:
            for j, other in enumerate(field.atoms):
                if other.kind == "exp" and other.args[0].den.is_one() and atoms_of(other.args[0].num) == [i]:
                    monomial, coefficient = next(iter(other.args[0].num.terms()))
                    if sum(monomial) == 1:
                        found[i] = Ratio(ATOMS[j], ONE), 1 / fraction(coefficient)
                        break
    return found


def log_form(field: Field, p: Poly) -> tuple[Poly, list[tuple[Poly, Ratio]]] | None:
    """p as rest + sum of factor * log(argument), factors independent over the rationals; None unless linear in logarithms."""
    logs = _logarithms(field, p)
    if not logs:
        return None
    parts = dict.fromkeys(logs, NONE)
    rest = NONE
    for outside, part in field.split(p, lambda i: i not in logs).items():
        here = list(powers_in(outside))
        if not here:
            rest = part
        elif len(here) == 1 and here[0][1] == 1:
            parts[here[0][0]] = part
        else:
            return None
    basis: list[Poly] = []
    rows: list[tuple[Poly, list[Fraction]]] = []  # echelon form: a row and what it is in the basis
    combined: dict[int, list[Fraction]] = {}
    for i, part in sorted(parts.items()):
        left, found = part, [Fraction(0)] * len(parts)
        for row, composition in rows:
            pivot = row.monoms()[0]
            share = fraction(left[pivot] / row[pivot])
            left = left - row * fmpq(share.numerator, share.denominator)
            found = [x + share * y for x, y in zip(found, composition, strict=True)]
        if not left.is_zero():
            mine = [Fraction(int(j == len(basis))) for j in range(len(parts))]
            rows.append((left, [x - y for x, y in zip(mine, found, strict=True)]))
            basis.append(part)
            found = mine
        combined[i] = found
    groups = []
    for j, factor in enumerate(basis):
        exponents = {i: found[j] * logs[i][1] for i, found in combined.items() if found[j]}
        unit = Fraction(gcd(*(x.numerator for x in exponents.values())), lcm(*(x.denominator for x in exponents.values())))
        argument = UNIT
        for i, x in exponents.items():
            argument = field.multiply(argument, field.to_power(logs[i][0], int(x / unit)))
        groups.append((factor * fmpq(unit.numerator, unit.denominator), argument))
    return rest, groups
