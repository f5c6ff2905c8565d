"""Ratios of probabilities as formal products, and as integers: equal integers are equal numbers, and products of ratios are their sums."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, repeat
from math import gcd, lcm

from flint import arb, ctx

from dpverify.trusted.kernel.balls import constant, rational
from dpverify.trusted.kernel.expr import Add, Call, Expr, Mul, Num, Pow, call, div, mul, scaled


@dataclass(frozen=True, slots=True)
class Ratio:
    """A positive number as a formal product, up to the signs of the bases: equal objects are equal numbers."""

    number: Fraction
    powers: frozenset[tuple[Expr | Mixed, Fraction]] = frozenset()

    @property
    def inverse(self) -> Ratio:
        return Ratio(1 / self.number, frozenset((base, -n) for base, n in self.powers))


@dataclass(frozen=True, slots=True)
class Mixed:
    """rate r + 1 - rate, which a sample makes of a ratio r; None for one of 0."""

    rate: Expr
    ratio: Ratio | None


def quotient(p: Expr, q: Expr) -> Ratio:
    """p/q of two positive constants."""
    number, powers = Fraction(1), dict[Expr | Mixed, Fraction]()
    for base, exponent in _factors(div(p, q)):
        if isinstance(base, Num):
            number *= base.value ** int(exponent)
        else:
            powers[base] = powers.get(base, Fraction(0)) + exponent
    return Ratio(number, frozenset((base, exponent) for base, exponent in powers.items() if exponent != 0))


def mixed(rate: Expr, ratio: Ratio | None) -> Ratio:
    """The ratio in a sample; None for an output that only Q can give."""
    if isinstance(rate, Num) and (ratio is None or not ratio.powers):
        return Ratio(1 - rate.value + (0 if ratio is None else rate.value * ratio.number))
    return Ratio(Fraction(1), frozenset({(Mixed(rate, ratio), Fraction(1))}))


def _factors(expr: Expr) -> Iterator[tuple[Expr, Fraction]]:
    """Bases and exponents whose product is, up to its sign, the expression; exponents are integers but for bases that are exponentials."""
    if isinstance(expr, Num):
        yield Num(abs(expr.value)), Fraction(1)
    elif isinstance(expr, Mul):
        for factor in expr.args:
            yield from _factors(factor)
    elif isinstance(expr, Pow) and isinstance(expr.exponent, Num) and expr.exponent.value.denominator == 1:
        for base, exponent in _factors(expr.base):
            yield base, exponent * expr.exponent.value
    elif isinstance(expr, Call) and expr.name == "exp":
        for term in expr.args[0].args if isinstance(expr.args[0], Add) else expr.args:
            coefficient, rest = scaled(term)
            yield Call("exp", (rest,)), coefficient
    else:
        yield expr, Fraction(1)


def coprime(integers: Iterable[int]) -> list[int]:
    """Pairwise coprime integers above 1 of which all of these, at least 1, are products of powers."""
    base, pending = list[int](), list(integers)
    while pending:
        new = pending.pop()
        if new == 1:
            continue
        for i, old in enumerate(base):
            if (common := gcd(new, old)) > 1:
                base.pop(i)
                pending += [common, new // common, old // common]
                break
        else:
            base.append(new)
    return sorted(base)


class Keys:
    """Products of some ratios, so many of them at most, as integers that hold the exponents of all generators as balanced digits."""

    __slots__ = ("_bases", "_keys", "_powers", "_primes", "_radix")

    def __init__(self, ratios: Iterable[Ratio], times: int) -> None:
        different = dict.fromkeys(ratios)
        self._primes = coprime({n for ratio in different for n in (ratio.number.numerator, ratio.number.denominator)})
        units = dict[Expr | Mixed, int]()
        for base, exponent in (power for ratio in different for power in ratio.powers):
            units[base] = lcm(units.get(base, 1), exponent.denominator)
        self._bases = list(units.items())
        vectors = {ratio: self._vector(ratio) for ratio in different}
        largest = max((abs(n) for vector in vectors.values() for n in vector), default=0)
        self._radix: int = 2 * max(times, 1) * largest + 3
        worth = list(accumulate(repeat(self._radix, len(self._primes) + len(units)), operator.mul, initial=1))
        self._keys: dict[Ratio, int] = {ratio: sum(map(operator.mul, vector, worth)) for ratio, vector in vectors.items()}
        self._powers = dict[tuple[int, int, int], arb]()

    def _vector(self, ratio: Ratio) -> list[int]:
        """The exponents of all generators."""
        powers, number = dict(ratio.powers), ratio.number
        counts = [_count(number.numerator, prime) - _count(number.denominator, prime) for prime in self._primes]
        return counts + [int(powers.get(base, 0) * unit) for base, unit in self._bases]

    def key(self, ratio: Ratio) -> int:
        """The integer of one of the ratios."""
        return self._keys[ratio]

    def _digits(self, key: int) -> Iterator[tuple[int, int]]:
        """The exponents that are not 0, by generator."""
        half = self._radix // 2
        for place in range(len(self._primes) + len(self._bases)):
            exponent = (key + half) % self._radix - half
            key = (key - exponent) // self._radix
            if exponent:
                yield place, exponent

    def ratio(self, key: int) -> Ratio:
        """The formal product of an integer."""
        number, powers, rational_ones = Fraction(1), set[tuple[Expr | Mixed, Fraction]](), len(self._primes)
        for place, exponent in self._digits(key):
            if place < rational_ones:
                number *= Fraction(self._primes[place]) ** exponent
            else:
                base, unit = self._bases[place - rational_ones]
                powers.add((base, Fraction(exponent, unit)))
        return Ratio(number, frozenset(powers))

    def ball(self, key: int) -> arb:
        """The product at the precision of the moment. All are positive, whatever the signs of the generators."""
        ball = arb(1)
        for place, exponent in self._digits(key):
            ball *= self._power(place, exponent)
        return ball

    def _power(self, place: int, exponent: int) -> arb:
        power = self._powers.get((ctx.prec, place, exponent))
        if power is None:
            power = self._generator(place) if exponent == 1 else self._power(place, 1) ** exponent
            self._powers[ctx.prec, place, exponent] = power
        return power

    def _generator(self, place: int) -> arb:
        """Exponentials are powers of a root of theirs."""
        if place < len(self._primes):
            return arb(self._primes[place])
        base, unit = self._bases[place - len(self._primes)]
        if isinstance(base, Call) and base.name == "exp":
            return constant(call("exp", mul(Num(Fraction(1, unit)), base.args[0])))
        return _ball(base)


def _count(n: int, prime: int) -> int:
    """How often one of pairwise coprime integers divides a product of powers of them."""
    times: int = 0
    while n % prime == 0:
        n //= prime
        times += 1
    return times


def _ball(base: Expr | Mixed) -> arb:
    """The size of a base at the precision of the moment."""
    if not isinstance(base, Mixed):
        return abs(constant(base))
    rate = constant(base.rate)
    if base.ratio is None:
        return 1 - rate
    product = rational(base.ratio.number)
    for inner, exponent in base.ratio.powers:
        product *= _ball(inner) ** rational(exponent)
    return rate * product + 1 - rate
