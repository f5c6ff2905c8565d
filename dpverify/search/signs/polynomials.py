"""Polynomials with rational coefficients in atoms: the ring, and what is asked of one polynomial."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import lcm
from typing import Any, Final

from flint import fmpq, fmpq_mpoly_ctx

MAX_TERMS: Final = 600
"""The longest polynomial that is worked with; one half as long is no longer factored."""
MAX_FACTORED: Final = 80
"""The highest power of an atom in a polynomial that is factored."""

Poly = Any
"""A flint fmpq_mpoly of the one ring `RING`."""

# Atom i is the i-th generator from the end, so that later atoms are greater in the lexicographic
# order and a root's relation rewrites it by earlier ones. The first half of the generators serves
# as second coordinate of atoms with a bounded range.
SLOTS: Final = 32
RING: Final = fmpq_mpoly_ctx.get([f"x{i}" for i in range(2 * SLOTS)], "lex")
ATOMS: Final = tuple(reversed(RING.gens()))
ONE: Final = RING.constant(1)
NONE: Final = RING.constant(0)


def number(value: Fraction | int) -> Poly:
    """The constant polynomial."""
    return RING.constant(fmpq(value.numerator, value.denominator))


def fraction(value: fmpq) -> Fraction:
    """A rational of flint as one of Python."""
    return Fraction(int(value.p), int(value.q))


def terms_of(p: Poly) -> tuple[Any, ...]:
    """A polynomial as something that can be looked up."""
    return tuple(p.terms())


def by_power(p: Poly, i: int) -> dict[int, Poly]:
    """The coefficients of p as a polynomial in atom i alone."""
    slot = 2 * SLOTS - 1 - i
    parts: dict[int, dict[tuple[int, ...], fmpq]] = {}
    for monomial, coefficient in p.terms():
        rest = (*monomial[:slot], 0, *monomial[slot + 1 :])
        parts.setdefault(int(monomial[slot]), {})[rest] = coefficient
    return {e: RING.from_dict(part) for e, part in parts.items()}


def powers_in(monomial: Sequence[Any]) -> Iterator[tuple[int, int]]:
    """The atoms of a monomial with their exponents."""
    for i, e in enumerate(reversed(monomial)):
        if e:
            yield i, int(e)


def atoms_of(p: Poly) -> list[int]:
    """The atoms that occur in p, in the order of their creation."""
    return [i for i, e in enumerate(reversed(p.degrees())) if e > 0]


def factored(p: Poly) -> tuple[Fraction, list[tuple[Poly, int]]]:
    """p as a rational times powers of polynomials with integer coefficients, irreducible where p is not too large."""
    if len(p) == 1:  # a monomial: no need of a factorisation
        monomial, coefficient = next(iter(p.terms()))
        return fraction(coefficient), [(ATOMS[i], e) for i, e in powers_in(monomial)]
    whole = 2 * len(p) > MAX_TERMS or max(p.degrees()) > MAX_FACTORED
    content, found = (fmpq(1), [(p, 1)]) if whole else p.factor()
    value = fraction(content)
    result = []
    for f, e in found:
        scale = lcm(*(int(c.q) for c in f.coeffs()))
        value /= Fraction(scale) ** e
        result.append((f * scale, int(e)))
    return value, result
