"""Sums of products of powers, as algebra.py describes them: what is done with them by their writing alone."""

from fractions import Fraction
from functools import reduce
from math import floor

from terms import sure

ONE = {(): Fraction(1)}


def key(p):
    """A form that can be a key."""
    return tuple(sorted(p.items(), key=repr))


def constant(x):
    """The form of a rational."""
    return {(): Fraction(x)} if x else {}


def atom(a, e=1):
    """The form of a power of an atom."""
    return {((a, Fraction(e)),): Fraction(1)}


def add(*forms):
    """The sum."""
    total = {}
    for p in forms:
        for m, c in p.items():
            total[m] = total.get(m, 0) + c
    return {m: c for m, c in total.items() if c}


def scale(p, c):
    """A rational multiple."""
    return {m: c * x for m, x in p.items()} if c else {}


def sub(p, q):
    """The difference."""
    return add(p, scale(q, -1))


def mul(p, q):
    """The product."""
    sure(len(p) * len(q) <= 3000, "sums that are too long")
    total = {}
    for m, c in p.items():
        for n, d in q.items():
            product, factor = _joined(m, n)
            total[product] = total.get(product, 0) + c * d * factor
    return {m: c for m, c in total.items() if c}


def _joined(m, n):
    """The product of two products, and the rational that whole powers of primes give."""
    powers, factor = {a: dict(m).get(a, 0) + dict(n).get(a, 0) for a, _ in (*m, *n)}, Fraction(1)
    for a in [a for a in powers if a[0] == "p"]:
        factor, powers[a] = factor * Fraction(a[1]) ** floor(powers[a]), powers[a] - floor(powers[a])
    return tuple(sorted(((a, e) for a, e in powers.items() if e), key=repr)), factor


def whole_power(p, n):
    """p**n for n >= 0."""
    return reduce(mul, [p] * n, ONE)


def names(p):
    """The symbols of a form."""
    return set().union(*(_names(a) for m in p for a, _ in m)) if p else set()


def _names(a):
    if a[0] == "s":
        return {a[1]}
    inside = {a[1]: 1} if a[0] == "e" else dict(a[1]) if a[0] in ("q", "l") else {}
    keys = [names(dict(k)) for k in a[2]] if a[0] == "f" else []
    return names(inside).union(*keys)


def primes(c):
    """The prime factors of a rational, with their powers."""
    return [(p, e) for p, e in factors(c.numerator)] + [(p, -e) for p, e in factors(c.denominator)]


def factors(n):
    """Prime factors with their powers; what is left above 10**8 stands as one."""
    found, p = {}, 2
    while n > 1:
        while n % p == 0:
            n, found[p] = n // p, found.get(p, 0) + 1
        p = n if p * p > n or p > 10_000 else p + 1
    return list(found.items())
