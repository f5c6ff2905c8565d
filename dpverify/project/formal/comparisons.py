"""Facts about logarithms and roots of numbers that comparisons in Coq need, each with its proof."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import isqrt

from dpverify.project.formal.terms import ATOM, HALF, Terms, number
from dpverify.trusted.kernel.expr import Call, Expr, Num, Pow, children

_MOST = 10**6
"""Numbers beyond are not taken apart into primes: comparisons of them have slack."""


def compared(terms: Terms, left: Expr, right: Expr) -> list[str]:
    """A proof of left <= right."""
    facts = list(dict.fromkeys([*_arguments(left), *_facts((left, right))]))
    return [*facts, "below."]


def _arguments(expr: Expr) -> Iterator[str]:
    """What logarithms of numbers are taken of, as one number each: lemmas leave it as a quotient of sums."""
    match expr:
        case Call("log", (Num(value),)):
            yield f"repeat match goal with |- context [ln ?x] => progress (replace x with ({number(value)}) by lra) end."
    for child in children(expr):
        yield from _arguments(child)


def _facts(exprs: Iterable[Expr]) -> Iterator[str]:
    for expr in exprs:
        yield from _facts(children(expr))
        match expr:
            case Call("log", (Num(),)) | Call("log", (Num(), *_)):
                inner = expr.args[0]
                if isinstance(inner, Num):
                    yield from _logarithm(inner.value)
            case Call("exp", (Call("log"),)):
                yield "exponentials_of_logarithms."
            case Pow(Num(), Num()) if expr.exponent == Num(HALF) and isinstance(expr.base, Num):
                yield from _root(expr.base.value)


def logarithms(values: Iterable[Fraction]) -> list[str]:
    """What the logarithms of positive numbers are, in those of primes."""
    return list(dict.fromkeys(line for value in values for line in _logarithm(value)))


def _logarithm(value: Fraction) -> Iterator[str]:
    if value <= 0 or max(value.numerator, value.denominator) > _MOST:
        return
    above, below = _powers(value.numerator), _powers(value.denominator)
    if value.denominator == 1 and (list(above.values()) == [1] or value == 1):
        return
    text = number(value)
    total = " + ".join([*(f"{n} * ln {p}" for p, n in above.items()), *(f"{-n} * ln {p}" for p, n in below.items())]) or "0"
    yield f"assert (ln ({text}) = {total}) by logarithm {_product(above)} {_product(below)}."


def _product(powers: dict[int, int]) -> str:
    return f"({' * '.join(f'{prime} ^ {count}' for prime, count in powers.items()) or '1'})"


def _powers(value: int) -> dict[int, int]:
    found, prime = dict[int, int](), 2
    while value > 1:
        if prime * prime > value:
            prime = value
        while value % prime == 0:
            found[prime] = found.get(prime, 0) + 1
            value //= prime
        prime += 1
    return found


def _root(value: Fraction) -> Iterator[str]:
    top, bottom = isqrt(value.numerator), isqrt(value.denominator)
    if Fraction(top * top, bottom * bottom) == value:
        yield f"assert (sqrt ({number(value)}) = {number(Fraction(top, bottom))}) by (apply sqrt_lem_1; lra)."


def real(terms: Terms, expr: Expr) -> str:
    """A term that stands alone."""
    return terms.real(expr, ATOM)
