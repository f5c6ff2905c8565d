"""Signs of polynomials in atoms over the ranges of the atoms.

A polynomial is positive if the coefficients are, after each atom is measured from the ends of its range (Bernstein's basis on a bounded
one); exponentials are replaced by tangents, roots removed by conjugation, squares completed, and logarithms replaced by rational bounds
or removed by exponentiation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from math import comb, isfinite, prod
from typing import Final

from dpverify.search.signs.field import UNIT, Field, Ratio
from dpverify.search.signs.logarithms import exp, log_form
from dpverify.search.signs.polynomials import ATOMS, MAX_TERMS, NONE, SLOTS, Poly, atoms_of, by_power, fraction, number
from dpverify.search.signs.polynomials import ONE as ONE_POLY
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, Add, Expr, Num, add, call, div, mul, neg, num, power, sub
from dpverify.trusted.kernel.signs import ANY, AT_LEAST_ZERO, AT_MOST_ZERO, NEGATIVE, NULL, POSITIVE, Sign, minus, times

MAX_DEGREE: Final = 40
"""The highest power of an atom that is expanded about the end of its range."""

_FINE: Final = 64
_SLACK: Final = 1e-9

Found = tuple[Sign, Expr]
"""The signs of a polynomial, and a writing of it in which the signs of parts tell them."""


def factor_sign(field: Field, p: Poly) -> Found:
    """The signs that a polynomial without factors may have, with a writing."""
    best, writing = ANY, field.poly_expr(p)
    for method in (_range_sign, _tangent_sign, _root_sign, _square_sign, _log_sign):
        signs, written = method(field, p)
        if signs & best < best:
            best, writing = signs & best, written
        if len(best) == 1:
            break
    return best, writing


def _range_sign(field: Field, p: Poly, instead: Mapping[int, Expr] | None = None) -> Found:
    """From the coefficients, each atom measured from an end of its range, or by both distances where it has two.

    instead: what the distances of some atoms from their lower ends are.
    """
    strict: dict[int, bool] = {}  # of each generator, by slot: positive, or only at least zero
    free: set[int] = set()
    corners = 1
    nothing: Found = ANY, ZERO
    named: dict[int, Expr] = {}
    widths: list[Expr] = []
    for i in atoms_of(p):
        atom, slot, x = field.atoms[i], 2 * SLOTS - 1 - i, ATOMS[i]
        named[slot] = atom.expr
        if atom.constant:
            continue
        d, powers = atom.range, by_power(p, i)
        degree = max(powers)
        if degree > MAX_DEGREE:
            return nothing
        if d.lower is not None and d.upper is not None:
            # (upper - lower) * a = lower * y + upper * x with x = a - lower and y = upper - a: homogeneous, of positive factor
            y = ATOMS[SLOTS + i]
            value, one = number(d.lower) * y + number(d.upper) * x, x + y
            p = sum((c * value**e * one ** (degree - e) for e, c in powers.items()), NONE)
            strict[slot], strict[slot - SLOTS] = d.lower_open, d.upper_open
            named[slot], named[slot - SLOTS] = sub(atom.expr, Num(d.lower)), sub(Num(d.upper), atom.expr)
            widths.append(Num((d.upper - d.lower) ** degree))
            corners *= degree + 1
            if len(p) > MAX_TERMS:
                return nothing
            continue
        if d.lower is not None:
            value, strict[slot] = x + number(d.lower), d.lower_open
            named[slot] = (instead or {}).get(i, sub(atom.expr, Num(d.lower)))
        elif d.upper is not None:
            value, strict[slot] = number(d.upper) - x, d.upper_open
            named[slot] = sub(Num(d.upper), atom.expr)
        else:
            free.add(slot)
            continue
        p = sum((c * value**e for e, c in powers.items()), NONE)
        if len(p) > MAX_TERMS:
            return nothing
    signs = _sum_sign(field, p, strict, free, corners)
    if signs == ANY:
        return nothing
    return signs, div(_written(field, p, named, strict if signs in (POSITIVE, NEGATIVE) else {}), mul(*widths))


def _written(field: Field, p: Poly, named: Mapping[int, Expr], strict: Mapping[int, bool]) -> Expr:
    """A sum of products of generators. Where no term alone shows that it is not 0, a constant is taken out of those at the corners."""
    parts = field.split(p, lambda i: field.atoms[i].constant)
    bounded = {slot for slot in strict if slot < SLOTS or slot - SLOTS in strict}
    corners = {m: _nearer_zero(field, c) for m, c in parts.items() if bounded >= _used(m)}
    taken = Fraction(0)
    alone = any(all(strict.get(s, False) for s in _used(m)) for m in parts)
    if corners and len(corners) == prod(e + 1 for e in _degrees(corners, bounded).values()) and not alone:
        weights = {m: _binomials(m, bounded) for m in corners}
        taken = min((corners[m] / weights[m] for m in corners), key=abs)
        parts = {m: c - number(taken * weights.get(m, 0)) for m, c in parts.items()}
    whole = mul(*(power(add(named[s], named[s - SLOTS]), num(e)) for s, e in _degrees(corners, bounded).items())) if taken else ZERO
    trees = {m: field.poly_expr(c) for m, c in parts.items()}
    apart = {m: field.gap("as", tree) for m, tree in trees.items() if isinstance(tree, Add) and not _used(m)}
    terms = [mul(apart.get(m, tree), *(power(named[s], num(int(m[s]))) for s in _used(m))) for m, tree in trees.items()]
    return add(mul(Num(taken), whole), *terms)


def _nearer_zero(field: Field, constant: Poly) -> Fraction:
    """A constant where it is rational, else a rational between it and 0, not 0 unless it is small."""
    if constant.is_constant():
        return fraction(next(iter(constant.terms()))[1])
    middle = float(field.ball(constant).mid())
    return Fraction(int(middle * _FINE * (1 - _SLACK)), _FINE) if isfinite(middle) else Fraction(0)


def _used(monomial: tuple[int, ...]) -> set[int]:
    return {slot for slot, e in enumerate(monomial) if e}


def _degrees(monomials: Iterable[tuple[int, ...]], bounded: set[int]) -> dict[int, int]:
    """Of each atom with two ends, by the slot of its first distance, how many factors a monomial has of both."""
    return {s: max((int(m[s] + m[s - SLOTS]) for m in monomials), default=0) for s in bounded if s >= SLOTS}


def _binomials(monomial: tuple[int, ...], bounded: set[int]) -> int:
    return prod(comb(int(monomial[s] + monomial[s - SLOTS]), int(monomial[s])) for s in bounded if s >= SLOTS)


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


def _tangent_sign(field: Field, p: Poly) -> Found:
    """With exp(u) >= 1 + u for the exponentials of polynomials u that are at least zero."""
    # With x = exp(u) - u >= 1, the range that the generator has already. Later atoms first, as u has only earlier
    # ones; roots are not reduced any more, since their radicands do not take part in the change.
    shifted, instead = p, dict[int, Expr]()
    for i in reversed(atoms_of(p)):
        atom = field.atoms[i]
        if atom.kind == "exp" and not atom.constant and atom.args[0].den.is_one() and atom.range.lower == 1:
            powers = by_power(shifted, i)
            if max(powers) > MAX_DEGREE:
                return ANY, ZERO
            value = ATOMS[i] + atom.args[0].num
            shifted = sum((c * value**e for e, c in powers.items()), NONE)
            instead[i] = field.gap("exp", field.expr(atom.args[0]))
    return (ANY, ZERO) if shifted == p else _range_sign(field, shifted, instead)


def _root_sign(field: Field, p: Poly) -> Found:
    """A + B*s for a square root s: by conjugation, A**2 - B**2 * s**2 tells which of the two is the larger."""
    for i in reversed(atoms_of(p)):
        atom = field.atoms[i]
        if atom.degree != 2 or atom.constant:
            continue
        parts = by_power(p, i)
        a, b = parts.get(0, NONE), parts[1]
        difference = field.reduced(a * a - b * b * atom.args[0].num)
        excess, first, second = field.sign(difference), field.sign(a), field.sign(b)
        above, below = field.writing(a), mul(field.writing(b), atom.expr)
        for side in (AT_LEAST_ZERO, AT_MOST_ZERO):
            if first <= side and second <= side:
                return (side - NULL if 0 not in first else side), add(above, below)
        for larger, high, low, signs in ((first, above, below, AT_LEAST_ZERO), (second, below, above, AT_MOST_ZERO)):
            if excess <= signs and larger != ANY:
                # where the excess is not zero the larger part is not zero either and gives the sign
                turned = mul(num(1 if signs == AT_LEAST_ZERO else -1), field.writing(difference))
                return (larger - NULL if 0 not in excess else larger | NULL), div(turned, sub(high, low))
    return ANY, ZERO


def _square_sign(field: Field, p: Poly) -> Found:
    """a*v**2 + b*v + c: of the sign of a where 4ac - b**2 > 0 (or >= 0)."""
    for i in atoms_of(p):
        powers = by_power(p, i)
        if field.atoms[i].constant or max(powers) != 2:
            continue
        a, b, c = powers[2], powers.get(1, NONE), powers.get(0, NONE)
        leading = field.sign(a)
        if leading in (POSITIVE, NEGATIVE):
            rest = field.reduced(4 * a * c - b * b)
            excess = field.sign(rest)
            if excess <= AT_LEAST_ZERO:
                square = power(add(mul(num(2), field.poly_expr(a), field.atoms[i].expr), field.poly_expr(b)), num(2))
                return leading | (excess & NULL), div(add(square, field.writing(rest)), mul(num(4), field.writing(a)))
    return ANY, ZERO


def _log_sign(field: Field, p: Poly) -> Found:
    """rest + sum of B*log(P): by rational bounds of the logarithms, or by exponentiation of a single one."""
    try:
        form = log_form(field, p)
        if form is None or len(form[1]) > 3:
            return ANY, ZERO
        rest, groups = form
        factors = [field.sign(factor) for factor, _ in groups]
        if not all(signs <= AT_LEAST_ZERO or signs <= AT_MOST_ZERO for signs in factors):
            return ANY, ZERO
        for direction in (1, -1):
            signs, written = _log_lower(field, rest * direction, [(b * direction, q) for b, q in groups])
            if signs <= AT_LEAST_ZERO:
                return (signs, written) if direction == 1 else (minus(signs), neg(written))
    except Undecided:
        pass
    return ANY, ZERO


def _log_lower(field: Field, rest: Poly, groups: list[tuple[Poly, Ratio]]) -> Found:
    """The sign of rest + sum of B*log(P) where a lower bound of it is at least zero, else ANY; with a writing."""
    if len(groups) == 1:
        ((factor, argument),) = groups
        signs = field.sign(factor)
        if signs in (POSITIVE, NEGATIVE):
            # rest + B*log(P) has the sign of B * (P - exp(-rest/B))
            other = exp(field, field.scaled(field.quotient(rest, factor), Fraction(-1)))
            gap = field.subtract(argument, other)
            found = times(signs, field.ratio_sign(gap))
            if found <= AT_LEAST_ZERO:
                inside = div(field.expr(argument), field.expr(other))
                field.lemmas[inside] = div(field.ratio_writing(argument), field.ratio_writing(other))
                field.lemmas[sub(inside, ONE)] = div(field.ratio_writing(gap), field.ratio_writing(other))
                return found, mul(field.writing(factor), call("log", inside))
    # The bounds are strict where P is not 1.
    strict = any(0 not in field.sign(b) and 0 not in field.sign(q.num - q.den) for b, q in groups)
    weak: Found = ANY, ZERO
    for bounds in product(*(list(_log_bounds(field, argument, field.sign(b) <= AT_LEAST_ZERO)) for b, argument in groups)):
        terms = (field.multiply(Ratio(b, ONE_POLY), bound) for (b, _), (bound, _) in zip(groups, bounds, strict=True))
        total = field.plus(Ratio(rest, ONE_POLY), *terms)
        found = field.ratio_sign(total)
        if found <= AT_LEAST_ZERO:
            gaps = (mul(field.writing(b), gap) for (b, _), (_, gap) in zip(groups, bounds, strict=True))
            written = add(field.ratio_writing(total), *gaps)
            if found == POSITIVE or strict:
                return POSITIVE, written
            weak = AT_LEAST_ZERO, written
    return weak


def _log_bounds(field: Field, p: Ratio, lower: bool) -> Iterator[tuple[Ratio, Expr]]:
    """Rational functions of P that are at most (`lower`), or at least, log(P), each with what log(P) is beyond it."""
    gap_to_one = field.subtract(p, UNIT)
    signs = field.ratio_sign(gap_to_one)
    inverse, tree = field.inverse(p), field.expr(p)
    field.lemmas |= {tree: field.ratio_writing(p), sub(tree, ONE): field.ratio_writing(gap_to_one)}
    log_p = call("log", tree)
    if lower:
        yield field.subtract(UNIT, inverse), field.gap("exp", neg(log_p))
    else:
        yield gap_to_one, neg(field.gap("exp", log_p))
    if signs <= (AT_LEAST_ZERO if lower else AT_MOST_ZERO):
        yield Ratio(NONE, ONE_POLY), field.gap("as", log_p)
        # for P >= 1: 2(P-1)/(P+1) <= log P, by comparing derivatives; both sides change sign under P -> 1/P
        bound = field.scaled(field.multiply(gap_to_one, field.inverse(field.plus(p, UNIT))), Fraction(2))
        yield bound, mul(num(2), field.gap("tanh", div(log_p, num(2))))
    if signs <= (AT_MOST_ZERO if lower else AT_LEAST_ZERO):
        # for P >= 1: log P <= (P - 1/P)/2, which is asinh(x) <= x at x = sinh(log P); odd under P -> 1/P
        yield field.scaled(field.subtract(p, inverse), Fraction(1, 2)), neg(field.gap("sinh", log_p))
