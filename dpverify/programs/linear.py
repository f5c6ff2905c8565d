"""Numbers of a program: rational multiples of names, and of expressions in parameters, plus a rational."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, add, format_expr, mul, num, power, scaled, symbols
from dpverify.trusted.kernel.expr import Add as Sum

Atom = str | Expr
"""A name of an answer, a noise or a number that is kept; or an expression in parameters."""


@dataclass(frozen=True, slots=True)
class Linear:
    """A sum of multiples of atoms and a constant. Equal ones are equal as data."""

    terms: tuple[tuple[Atom, Fraction], ...]
    constant: Fraction = Fraction(0)

    @property
    def names(self) -> tuple[str, ...]:
        """What is no parameter in it."""
        return tuple(atom for atom, _ in self.terms if isinstance(atom, str))

    @property
    def of(self) -> dict[str, Fraction]:
        """The multiples of names."""
        return {atom: factor for atom, factor in self.terms if isinstance(atom, str)}

    @property
    def rest(self) -> Expr:
        """All of it but names, as an expression in parameters."""
        return add(*(mul(num(factor), atom) for atom, factor in self.terms if not isinstance(atom, str)), num(self.constant))

    def text(self) -> str:
        """As claim files write it."""
        parts = [(factor, atom) for atom, factor in self.terms if isinstance(atom, str)]
        written = [f"{_factor(abs(factor))}{atom}" for factor, atom in parts]
        text = ""
        for (factor, _), each in zip(parts, written, strict=True):
            text += (" - " if text else "-") + each if factor < 0 else (" + " if text else "") + each
        rest = self.rest
        if rest == ZERO:
            return text or "0"
        return f"{text} + ({format_expr(rest)})" if text else format_expr(rest)


def _factor(value: Fraction) -> str:
    if value == 1:
        return ""
    return f"{value}*" if value.denominator == 1 else f"({value})*"


def _key(atom: Atom) -> tuple[int, str]:
    return (0, atom) if isinstance(atom, str) else (1, format_expr(atom))


def linear(terms: Mapping[Atom, Fraction], constant: Fraction | int = 0) -> Linear:
    """The sum, in its one form."""
    kept = sorted(((atom, factor) for atom, factor in terms.items() if factor), key=lambda one: _key(one[0]))
    return Linear(tuple(kept), Fraction(constant))


def constant(value: Fraction | int) -> Linear:
    """A rational number."""
    return Linear((), Fraction(value))


def name(atom: str) -> Linear:
    """A name by itself."""
    return Linear(((atom, Fraction(1)),))


def expression(expr: Expr) -> Linear:
    """An expression in parameters."""
    terms: dict[Atom, Fraction] = {}
    total = Fraction(0)
    for term in expr.args if isinstance(expr, Sum) else (expr,):
        factor, atom = scaled(term)
        if atom == ONE:
            total += factor
        elif isinstance(atom, Num):
            total += factor * atom.value
        else:
            terms[atom] = terms.get(atom, Fraction(0)) + factor
    return linear(terms, total)


def plus(a: Linear, b: Linear, times: Fraction | int = 1) -> Linear:
    """a + times*b."""
    terms = dict(a.terms)
    for atom, factor in b.terms:
        terms[atom] = terms.get(atom, Fraction(0)) + times * factor
    return linear(terms, a.constant + times * b.constant)


def minus(a: Linear, b: Linear) -> Linear:
    """a - b."""
    return plus(a, b, -1)


def scale(a: Linear, factor: Fraction | int) -> Linear:
    """A rational multiple."""
    return linear({atom: each * factor for atom, each in a.terms}, a.constant * factor)


def times(a: Linear, b: Linear) -> Linear | None:
    """The product; None where that is no such sum: of two with names, or of names and a parameter."""
    if not a.terms or not b.terms:
        return scale(b, a.constant) if not a.terms else scale(a, b.constant)
    if a.names or b.names:
        return None
    return expression(_expanded(a, b))


def _expanded(a: Linear, b: Linear) -> Expr:
    """The product of two expressions in parameters, multiplied out."""
    left = [*((atom, factor) for atom, factor in a.terms), (ONE, a.constant)]
    right = [*((atom, factor) for atom, factor in b.terms), (ONE, b.constant)]
    return add(*(mul(num(f * g), x, y) for x, f in left for y, g in right if not isinstance(x, str) and not isinstance(y, str)))


def raised(a: Linear, exponent: Linear) -> Linear | None:
    """A power of an expression in parameters; None where there are names."""
    return None if a.names or exponent.names else expression(power(a.rest, exponent.rest))


def put(a: Linear, values: Mapping[str, Linear]) -> Linear:
    """With values in the place of names."""
    found = linear({atom: factor for atom, factor in a.terms if not (isinstance(atom, str) and atom in values)}, a.constant)
    for atom, factor in a.terms:
        if isinstance(atom, str) and atom in values:
            found = plus(found, values[atom], factor)
    return found


def parameters_of(a: Linear) -> frozenset[str]:
    """The parameters in it."""
    return frozenset[str]().union(*(symbols(atom) for atom, _ in a.terms if not isinstance(atom, str)))


@dataclass(frozen=True, slots=True)
class Literal:
    """That a sum is at least 0, or above it where it is strict."""

    left: Linear
    strict: bool

    def negated(self) -> Literal:
        return Literal(scale(self.left, -1), not self.strict)

    def text(self) -> str:
        return f"{self.left.text()} {'>' if self.strict else '>='} 0"


def literal(left: Linear, strict: bool) -> Literal:
    """In its one form: the first multiple is 1 or -1."""
    factor = abs(left.terms[0][1]) if left.terms else Fraction(1)
    return Literal(scale(left, 1 / factor), strict)


MOST: Final = 400
"""Comparisons that are looked at, at most, to see that some cannot hold together."""


def impossible(literals: Iterable[Literal]) -> bool:
    """Whether comparisons cannot hold together: found by exact elimination. False is no statement."""
    return _impossible(frozenset(literals))


@lru_cache(maxsize=20_000)
def _impossible(literals: frozenset[Literal]) -> bool:
    rows = {(one.left, one.strict) for one in literals}
    while True:
        for left, strict in rows:
            if not left.terms and (left.constant < 0 or (strict and left.constant == 0)):
                return True
        atoms = {atom for left, _ in rows for atom, _ in left.terms}
        if not atoms:
            return False
        found = min(atoms, key=lambda atom: (_cost(rows, atom), _key(atom)))
        rows = _without(rows, found)
        if len(rows) > MOST:
            return False


def _cost(rows: set[tuple[Linear, bool]], atom: Atom) -> int:
    up = sum(dict(left.terms).get(atom, 0) > 0 for left, _ in rows)
    return up * (sum(dict(left.terms).get(atom, 0) < 0 for left, _ in rows))


def _without(rows: set[tuple[Linear, bool]], atom: Atom) -> set[tuple[Linear, bool]]:
    """What follows without one of the atoms (Fourier and Motzkin)."""
    kept = set[tuple[Linear, bool]]()
    up, down = list[tuple[Linear, bool]](), list[tuple[Linear, bool]]()
    for left, strict in rows:
        factor = dict(left.terms).get(atom, Fraction(0))
        if factor:
            (up if factor > 0 else down).append((scale(left, 1 / abs(factor)), strict))
        else:
            kept.add((left, strict))
    for one, strict in up:
        for other, also in down:
            both = plus(one, other)
            kept.add((_shortened(both), strict or also))
    return kept


def _shortened(left: Linear) -> Linear:
    factor = abs(left.terms[0][1]) if left.terms else Fraction(1)
    return scale(left, 1 / factor)
