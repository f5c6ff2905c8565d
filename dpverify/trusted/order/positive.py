"""Signs of polynomials in atoms over the ranges of the atoms.

A polynomial is positive if the coefficients are, after each atom is measured from the ends of its range (Bernstein's basis on a bounded
one); exponentials are replaced by tangents, roots removed by conjugation, squares completed, and logarithms replaced by rational bounds
or removed by exponentiation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import Final

from dpverify.trusted.language.errors import Undecided
from dpverify.trusted.order.field import UNIT, Field, Ratio
from dpverify.trusted.order.logarithms import exp, log_form
from dpverify.trusted.order.polynomials import ATOMS, MAX_TERMS, NONE, ONE, SLOTS, Poly, atoms_of, by_power, number
from dpverify.trusted.order.signs import ANY, AT_LEAST_ZERO, AT_MOST_ZERO, NEGATIVE, NULL, POSITIVE, Sign, minus, times

MAX_DEGREE: Final = 40
"""The highest power of an atom that is expanded about the end of its range."""


def factor_sign(field: Field, p: Poly) -> Sign:
    """The signs that a polynomial without factors may have."""
    best: Sign = ANY
    for method in (_range_sign, _tangent_sign, _root_sign, _square_sign, _log_sign):
        best &= method(field, p)
        if len(best) == 1:
            break
    return best


def _range_sign(field: Field, p: Poly) -> Sign:
    """From the coefficients, each atom measured from an end of its range, or by both distances where it has two."""
    strict: dict[int, bool] = {}  # of each generator, by slot: positive, or only at least zero
    free: set[int] = set()
    corners = 1
    for i in atoms_of(p):
        atom, slot, x = field.atoms[i], 2 * SLOTS - 1 - i, ATOMS[i]
        if atom.constant:
            continue
        d, powers = atom.range, by_power(p, i)
        degree = max(powers)
        if degree > MAX_DEGREE:
            return ANY
        if d.lower is not None and d.upper is not None:
            # (upper - lower) * a = lower * y + upper * x with x = a - lower and y = upper - a: homogeneous, of positive factor
            y = ATOMS[SLOTS + i]
            value, one = number(d.lower) * y + number(d.upper) * x, x + y
            p = sum((c * value**e * one ** (degree - e) for e, c in powers.items()), NONE)
            strict[slot], strict[slot - SLOTS] = d.lower_open, d.upper_open
            corners *= degree + 1
            if len(p) > MAX_TERMS:
                return ANY
            continue
        if d.lower is not None:
            value, strict[slot] = x + number(d.lower), d.lower_open
        elif d.upper is not None:
            value, strict[slot] = number(d.upper) - x, d.upper_open
        else:
            free.add(slot)
            continue
        p = sum((c * value**e for e, c in powers.items()), NONE)
        if len(p) > MAX_TERMS:
            return ANY
    return _sum_sign(field, p, strict, free, corners)


def _sum_sign(field: Field, p: Poly, strict: Mapping[int, bool], free: set[int], corners: int) -> Sign:
    """The sign of a sum of terms in generators that are at least zero (`strict`) or of any sign (`free`)."""
    bounded = {slot for slot in strict if slot < SLOTS or slot - SLOTS in strict}
    total: Sign = frozenset()
    certain = False
    at_corners = 0
    for monomial, part in field.split(p, lambda i: field.atoms[i].constant).items():
        used = [slot for slot, e in enumerate(monomial) if e]
        if any(slot in free and monomial[slot] % 2 for slot in used):
            return ANY
        signs = field.constant_sign(part)
        total |= signs
        certain |= 0 not in signs and all(strict.get(slot, False) for slot in used)
        # all of Bernstein's coefficients positive: the sum is so on the whole closed box
        at_corners += 0 not in signs and bounded.issuperset(used)
    for side in (AT_LEAST_ZERO, AT_MOST_ZERO):
        if total <= side:
            return side - NULL if certain or at_corners == corners else side
    return ANY


def _tangent_sign(field: Field, p: Poly) -> Sign:
    """With exp(u) >= 1 + u for the exponentials of polynomials u that are at least zero."""
    # With x = exp(u) - u >= 1, the range that the generator has already. Later atoms first, as u has only earlier
    # ones; roots are not reduced any more, since their radicands do not take part in the change.
    shifted = p
    for i in reversed(atoms_of(p)):
        atom = field.atoms[i]
        if atom.kind == "exp" and not atom.constant and atom.args[0].den.is_one() and atom.range.lower == 1:
            powers = by_power(shifted, i)
            if max(powers) > MAX_DEGREE:
                return ANY
            value = ATOMS[i] + atom.args[0].num
            shifted = sum((c * value**e for e, c in powers.items()), NONE)
    return ANY if shifted == p else _range_sign(field, shifted)


def _root_sign(field: Field, p: Poly) -> Sign:
    """A + B*s for a square root s: by conjugation, A**2 - B**2 * s**2 tells which of the two is the larger."""
    for i in reversed(atoms_of(p)):
        atom = field.atoms[i]
        if atom.degree != 2 or atom.constant:
            continue
        parts = by_power(p, i)
        a, b = parts.get(0, NONE), parts[1]
        excess = field.sign(field.reduced(a * a - b * b * atom.args[0].num))
        best: Sign = ANY
        for larger, signs in ((a, AT_LEAST_ZERO), (b, AT_MOST_ZERO)):
            if excess <= signs:
                # where the excess is not zero the larger part is not zero either and gives the sign
                best &= field.sign(larger) - NULL if 0 not in excess else field.sign(larger) | NULL
        if excess == ANY:
            for side in (AT_LEAST_ZERO, AT_MOST_ZERO):
                if field.sign(a) <= side and field.sign(b) <= side:
                    best = field.sign(a) if 0 not in field.sign(a) else side
        if best != ANY:
            return best
    return ANY


def _square_sign(field: Field, p: Poly) -> Sign:
    """a*v**2 + b*v + c: of the sign of a where 4ac - b**2 > 0 (or >= 0)."""
    for i in atoms_of(p):
        powers = by_power(p, i)
        if field.atoms[i].constant or max(powers) != 2:
            continue
        a, b, c = powers[2], powers.get(1, NONE), powers.get(0, NONE)
        leading = field.sign(a)
        if leading in (POSITIVE, NEGATIVE):
            excess = field.sign(field.reduced(4 * a * c - b * b))
            if excess <= AT_LEAST_ZERO:
                return leading | (excess & NULL)
    return ANY


def _log_sign(field: Field, p: Poly) -> Sign:
    """rest + sum of B*log(P): by rational bounds of the logarithms, or by exponentiation of a single one."""
    try:
        form = log_form(field, p)
        if form is None or len(form[1]) > 3:
            return ANY
        rest, groups = form
        factors = [field.sign(factor) for factor, _ in groups]
        if not all(signs <= AT_LEAST_ZERO or signs <= AT_MOST_ZERO for signs in factors):
            return ANY
        for direction in (1, -1):
            signs = _log_lower(field, rest * direction, [(b * direction, q) for b, q in groups])
            if signs <= AT_LEAST_ZERO:
                return signs if direction == 1 else minus(signs)
    except Undecided:
        pass
    return ANY


def _log_lower(field: Field, rest: Poly, groups: list[tuple[Poly, Ratio]]) -> Sign:
    """The sign of rest + sum of B*log(P) where a lower bound of it is at least zero, else ANY."""
    if len(groups) == 1:
        ((factor, argument),) = groups
        signs = field.sign(factor)
        if signs in (POSITIVE, NEGATIVE):
            # rest + B*log(P) has the sign of B * (P - exp(-rest/B))
            other = exp(field, field.scaled(field.quotient(rest, factor), Fraction(-1)))
            found = times(signs, field.ratio_sign(field.subtract(argument, other)))
            if found <= AT_LEAST_ZERO:
                return found
    # The bounds are strict where P is not 1.
    strict = any(0 not in field.sign(b) and 0 not in field.sign(q.num - q.den) for b, q in groups)
    weak: Sign = ANY
    for bounds in product(*(list(_log_bounds(field, argument, field.sign(b) <= AT_LEAST_ZERO)) for b, argument in groups)):
        terms = (field.multiply(Ratio(b, ONE), bound) for (b, _), bound in zip(groups, bounds, strict=True))
        found = field.ratio_sign(field.plus(Ratio(rest, ONE), *terms))
        if found == POSITIVE or (strict and found <= AT_LEAST_ZERO):
            return POSITIVE
        if found <= AT_LEAST_ZERO:
            weak = AT_LEAST_ZERO
    return weak


def _log_bounds(field: Field, p: Ratio, lower: bool) -> Iterator[Ratio]:
    """Rational functions of P that are at most (`lower`), or at least, log(P)."""
    signs = field.ratio_sign(field.subtract(p, UNIT))
    inverse = field.inverse(p)
    yield field.subtract(UNIT, inverse) if lower else field.subtract(p, UNIT)
    if signs <= (AT_LEAST_ZERO if lower else AT_MOST_ZERO):
        yield Ratio(NONE, ONE)
        # for P >= 1: 2(P-1)/(P+1) <= log P, by comparing derivatives; both sides change sign under P -> 1/P
        yield field.scaled(field.multiply(field.subtract(p, UNIT), field.inverse(field.plus(p, UNIT))), Fraction(2))
    if signs <= (AT_MOST_ZERO if lower else AT_LEAST_ZERO):
        # for P >= 1: log P <= (P - 1/P)/2, which is asinh(x) <= x at x = sinh(log P); odd under P -> 1/P
        yield field.scaled(field.subtract(p, inverse), Fraction(1, 2))
