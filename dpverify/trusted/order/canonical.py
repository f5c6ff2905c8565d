"""One way to write roots and logarithms of rationals, so that equal constants are equal trees.

A power of a rational becomes a rational times roots of primes, the logarithm of a rational a sum over primes, the exponential of such a
sum a power, and terms and factors are sorted. Where an expression has a value, the canonical one has the same.
"""

from __future__ import annotations

from fractions import Fraction

from flint import fmpz

from dpverify.trusted.language.errors import DpverifyError
from dpverify.trusted.language.expr import ZERO, Add, Call, Expr, Mul, Num, Pow, add, call, format_expr, mul, num, power, rebuild


def is_zero(expr: Expr) -> bool:
    """Whether a constant that has a value is shown to be zero by writing it in one way."""
    try:
        return canonical(expr) == ZERO
    except (DpverifyError, RecursionError):
        return False


def canonical(expr: Expr) -> Expr:
    """The same constant, written in one way as far as it is made of rationals, roots and logarithms of them, and functions of such."""
    done = rebuild(expr, canonical)
    if isinstance(done, Add | Mul):
        return (add if isinstance(done, Add) else mul)(*sorted(done.args, key=format_expr))
    if isinstance(done, Pow) and isinstance(done.exponent, Num):
        base = _positive(done.base)
        return done if base is None else _power(base, done.exponent.value)
    if isinstance(done, Call) and done.name == "log":
        inside = _positive(done.args[0])
        return done if inside is None else add(*(mul(num(e), call("log", num(prime))) for prime, e in prime_powers(inside).items()))
    if isinstance(done, Call) and done.name in ("min", "max", "abs", "exp"):
        from dpverify.trusted.order.canonical_calls import of_call

        return of_call(done, canonical)
    return done


def _positive(expr: Expr) -> Fraction | None:
    return expr.value if isinstance(expr, Num) and expr.value > 0 else None


def _power(base: Fraction, exponent: Fraction) -> Expr:
    factors = []
    for prime, e in prime_powers(base).items():
        whole, part = divmod(e * exponent, 1)
        factors.append(mul(power(num(prime), num(whole)), power(num(prime), Num(part))))
    return mul(*sorted(factors, key=format_expr))


def prime_powers(value: Fraction) -> dict[int, int]:
    """Coprime integers and exponents whose product is the positive rational: its small primes, and what is left."""
    powers: dict[int, int] = {}
    for part, direction in ((value.numerator, 1), (value.denominator, -1)):
        if part > 1:
            for prime, e in fmpz(part).factor_smooth(16):
                powers[int(prime)] = powers.get(int(prime), 0) + direction * int(e)
    return powers
