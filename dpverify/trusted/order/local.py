"""The sign of an expression from the signs of its parts alone, over domains of its parameters: nothing is multiplied out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Final

from dpverify.trusted.kernel import shown
from dpverify.trusted.kernel.balls import constant, finite
from dpverify.trusted.kernel.errors import Undecided, require
from dpverify.trusted.kernel.expr import ONE, Add, Call, Expr, Mul, Num, Pow, Sym, add, call, format_expr, mul, neg, rebuild, sub, symbols
from dpverify.trusted.kernel.model import Domain
from dpverify.trusted.kernel.signs import ANY, AT_LEAST_ZERO, NEGATIVE, NULL, POSITIVE, Sign, minus, sign_of_ball, square, times
from dpverify.trusted.order.domains import closed, is_empty


def sign_of_difference(a: Expr, b: Expr, domains: Mapping[str, Domain]) -> Sign:
    """The signs that b - a may have; ANY where a or b is not certainly defined at all parameters."""
    try:
        sign_of(a, domains), sign_of(b, domains)  # each by itself: their difference may lose a term without a value
        return sign_of(difference(a, b, domains), domains)
    except Undecided:
        return ANY


def difference(a: Expr, b: Expr, domains: Mapping[str, Domain]) -> Expr:
    """b - a, written as signs of it are asked for."""
    return sub(settled(b, domains), settled(a, domains))


def sign_of(expr: Expr, domains: Mapping[str, Domain]) -> Sign:
    """The signs that an expression may have. Raises Undecided where it is not certainly defined at all parameters of the domains."""
    if not symbols(expr):
        return _of_constant(expr)
    if (told := shown.sign(expr, domains)) is not None:
        return told
    if isinstance(expr, Sym):
        return of_interval(_known(expr.name, domains))
    if isinstance(expr, Add):
        return of_interval(_sum([_range(part, domains) for part in expr.args]))
    if isinstance(expr, Mul):
        return reduce(times, [sign_of(part, domains) for part in expr.args])
    if isinstance(expr, Pow):
        return _power(expr, domains)
    assert isinstance(expr, Call)
    return _call(expr, domains)


def _of_constant(expr: Expr) -> Sign:
    sign = sign_of_ball(finite(constant(expr)))
    return ANY if sign is None else frozenset((sign,))


def of_interval(d: Domain) -> Sign:
    """The signs of the numbers between the ends."""
    negative, positive = d.lower is None or d.lower < 0, d.upper is None or d.upper > 0
    return frozenset(sign for sign, there in ((-1, negative), (0, d.holds(Fraction(0))), (1, positive)) if there)


def between(signs: Sign) -> Domain:
    """The least interval that holds all numbers of these signs."""
    below, above = -1 in signs, 1 in signs
    whole = 0 not in signs
    return Domain(None if below else Fraction(0), None if above else Fraction(0), lower_open=whole, upper_open=whole)


def _range(term: Expr, domains: Mapping[str, Domain]) -> Domain:
    """An interval that holds the values of a term of a sum."""
    if isinstance(term, Num):
        return Domain(term.value, term.value, lower_open=False, upper_open=False)
    if isinstance(term, Sym):
        return _known(term.name, domains)
    if isinstance(term, Mul) and isinstance(term.args[0], Num) and term.args[0].value:
        return _scaled(_range(mul(*term.args[1:]), domains), term.args[0].value)
    signs = sign_of(term, domains)
    return _exponential(sign_of(term.args[0], domains)) if isinstance(term, Call) and term.name == "exp" else between(signs)


def _exponential(signs: Sign) -> Domain:
    """The least interval that holds the exponentials of all numbers of these signs."""
    below, above, apart = -1 in signs, 1 in signs, 0 not in signs
    return Domain(Fraction(0 if below else 1), None if above else Fraction(1), lower_open=below or apart, upper_open=apart)


def _known(name: str, domains: Mapping[str, Domain]) -> Domain:
    domain = closed(domains[name])
    require(not is_empty(domain), Undecided(f"the domain of {name!r} is empty."))
    return domain


def _scaled(d: Domain, factor: Fraction) -> Domain:
    low, high = (None if end is None else factor * end for end in (d.lower, d.upper))
    return Domain(low, high, d.lower_open, d.upper_open) if factor > 0 else Domain(high, low, d.upper_open, d.lower_open)


def _sum(parts: Sequence[Domain]) -> Domain:
    """An interval that holds all sums of numbers of the intervals."""
    lows, highs = [d.lower for d in parts if d.lower is not None], [d.upper for d in parts if d.upper is not None]
    return Domain(
        sum(lows, Fraction(0)) if len(lows) == len(parts) else None,
        sum(highs, Fraction(0)) if len(highs) == len(parts) else None,
        any(d.lower_open for d in parts),
        any(d.upper_open for d in parts),
    )


def _power(expr: Pow, domains: Mapping[str, Domain]) -> Sign:
    base = sign_of(expr.base, domains)
    if isinstance(expr.exponent, Num):
        e = expr.exponent.value
        if e.denominator == 1 and (e > 0 or 0 not in base):
            return square(base) if e % 2 == 0 else base
        if base <= (AT_LEAST_ZERO if e > 0 else POSITIVE):
            return base
    elif base == POSITIVE:
        sign_of(expr.exponent, domains)  # it has a value
        return POSITIVE
    raise Undecided("a power that is not certainly defined.")


def _call(expr: Call, domains: Mapping[str, Domain]) -> Sign:
    signs = [sign_of(arg, domains) for arg in expr.args]
    if expr.name in ("min", "max"):
        return extreme(expr.name, signs)
    if expr.name == "abs":
        return square(signs[0])
    if expr.name == "gamma" and signs[0] == POSITIVE:
        return POSITIVE
    if expr.name == "log" and signs[0] == POSITIVE:
        return sign_of(sub(expr.args[0], ONE), domains)
    if expr.name == "floor":
        least = sign_of(sub(expr.args[0], ONE), domains)
        return POSITIVE if least <= AT_LEAST_ZERO else signs[0] if signs[0] == NEGATIVE else signs[0] | NULL
    if expr.name == "atanh" and sign_of(add(ONE, expr.args[0]), domains) == sign_of(sub(ONE, expr.args[0]), domains) == POSITIVE:
        return signs[0]
    found = law(expr.name, signs[-1])
    if found is None:
        raise Undecided(f"a value of {expr.name} that is not certainly defined.")
    return found.value


def settled(expr: Expr, domains: Mapping[str, Domain]) -> Expr:
    """The same function in a more usual form where signs are told.

    abs is decided, logarithms of products and powers are taken apart, of opposite arguments of even functions the first is taken, and
    numbers are multiplied into sums.
    """
    if isinstance(expr, Call) and expr.name == "exp" and isinstance(expr.args[0], Call) and expr.args[0].name == "log":
        return settled(expr.args[0].args[0], domains)
    done = rebuild(expr, lambda part: settled(part, domains))
    if isinstance(done, Call) and done.name in ("abs", "cosh"):
        u = done.args[0]
        signs = sign_of(u, domains)
        if done.name == "abs" and (signs <= AT_LEAST_ZERO or minus(signs) <= AT_LEAST_ZERO):
            return u if signs <= AT_LEAST_ZERO else neg(u)
        return call(done.name, min(u, neg(u), key=format_expr))
    if isinstance(done, Call) and done.name == "log":
        return _apart(done.args[0], domains)
    if isinstance(done, Mul) and isinstance(done.args[0], Num):
        i = next((i for i, factor in enumerate(done.args) if isinstance(factor, Add)), None)
        if i is not None:
            return mul(mul(done.args[0], done.args[i]), *done.args[1:i], *done.args[i + 1 :])
    return done


def _apart(u: Expr, domains: Mapping[str, Domain]) -> Expr:
    """log(u), as a sum over the factors of u where all are positive."""
    if isinstance(u, Mul) and all(sign_of(factor, domains) == POSITIVE for factor in u.args):
        return add(*(_apart(factor, domains) for factor in u.args))
    if isinstance(u, Pow) and sign_of(u.base, domains) == POSITIVE:
        return mul(u.exponent, _apart(u.base, domains))
    return u.args[0] if isinstance(u, Call) and u.name == "exp" else call("log", u)


@dataclass(frozen=True, slots=True)
class Law:
    """The signs of f, f', f'', (log f)' and (log f)'' at an argument; the last two where f is positive."""

    value: Sign
    slope: Sign
    bend: Sign
    log_slope: Sign
    log_bend: Sign


_EVERYWHERE: Final[Mapping[str, str]] = {
    "exp": "+ + + + 0",
    "cosh": "+ v + v +",
    "sinh": "v + v ? ?",
    "tanh": "v + -v ? ?",
    "asinh": "v + -v ? ?",
    "erf": "v + -v ? ?",
    "erfc": "+ - v - -",
    "logerfc": "-v - - ? ?",
    "logexprel": "v + + ? ?",  # the logarithm of a mean of exp(t u) over t in [0, 1]
}
"""Functions of the whole line, smooth; v is the sign of the argument."""

_AT_POSITIVE: Final[Mapping[str, str]] = {
    "besselk": "+ - + - >=",  # K_v(x) is the integral of exp(-x cosh t) cosh(v t): it falls and is log-convex
    "logbesselk": "? - >= ? ?",
}
"""Functions of a positive last argument."""

_SIGNS: Final = {"+": POSITIVE, "-": NEGATIVE, "0": NULL, ">=": AT_LEAST_ZERO, "?": ANY}


def law(name: str, v: Sign) -> Law | None:
    """The law of a function at arguments of these signs; None where it has none, or is not certainly defined."""
    row = _EVERYWHERE.get(name) or (_AT_POSITIVE.get(name) if v == POSITIVE else None)
    return None if row is None else Law(*({**_SIGNS, "v": v, "-v": minus(v)}[sign] for sign in row.split()))


def extreme(name: str, parts: list[Sign]) -> Sign:
    """The signs of a "min" or a "max"."""
    pick = min if name == "min" else max
    return reduce(lambda a, b: frozenset(pick(x, y) for x in a for y in b), parts)
