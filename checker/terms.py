"""Expressions as certificates write them: numbers, symbols, sums, products, powers and functions, read into trees that have one writing.

A tree is ("num", value), ("sym", name), ("add", terms), ("mul", factors), ("pow", base, exponent) or ("call", name, arguments).
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from math import floor

from intervals import Undecided

ARGUMENTS = {
    **dict.fromkeys("exp log sqrt abs floor cosh sinh tanh asinh atanh erf erfc gamma logerfc logexprel".split(), (1, 1)),
    "min": (1, 99), "max": (1, 99), "besselk": (2, 2), "logbesselk": (2, 2), "logratio": (3, 3),
}
_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d*)?(?:[eE][+-]?\d{1,4})?)|([A-Za-z_]\w*)|(\*\*|[-+*/(),]))", re.ASCII)


class Malformed(Exception):
    """What is no certificate, or evidence that no rule could take."""


def num(x):
    return ("num", Fraction(x))


ZERO, ONE, HALF, PI = num(0), num(1), num(Fraction(1, 2)), ("call", "pi", ())


def is_num(t):
    return t[0] == "num"


def whole(t):
    return t[0] == "num" and t[1].denominator == 1


def _parts(kind, items):
    return [part for item in items for part in (item[1] if item[0] == kind else (item,))]


def _split(term):
    """The rational factor of a term and the rest."""
    if is_num(term):
        return term[1], ONE
    if term[0] == "mul" and is_num(term[1][0]):
        return term[1][0][1], term[1][1] if len(term[1]) == 2 else ("mul", term[1][1:])
    return Fraction(1), term


def add(*terms):
    """The sum: like terms together, the number last."""
    found = {}
    for term in _parts("add", terms):
        factor, rest = _split(term)
        found[rest] = found.get(rest, 0) + factor
    listed = [num(c) if rest == ONE else mul(num(c), rest) for rest, c in found.items() if c]
    listed.sort(key=is_num)
    return ZERO if not listed else listed[0] if len(listed) == 1 else ("add", tuple(listed))


def mul(*factors):
    """The product: the number first, whole powers of one base together, what is below the line last."""
    c, powers = Fraction(1), {}
    for factor in _parts("mul", factors):
        if is_num(factor):
            c *= factor[1]
        else:
            base, e = (factor[1], factor[2][1]) if factor[0] == "pow" and whole(factor[2]) else (factor, Fraction(1))
            powers[base] = powers.get(base, 0) + e
    rest = sorted((power(base, num(e)) for base, e in powers.items() if e), key=_below)
    if not c or not rest:
        return num(c)
    if any(part[0] in ("num", "mul") for part in rest):
        return mul(num(c), *rest)
    if c != 1 and len(rest) == 1 and rest[0][0] == "add":
        return add(*(mul(num(c), term) for term in rest[0][1]))
    rest = rest if c == 1 else [num(c), *rest]
    return rest[0] if len(rest) == 1 else ("mul", tuple(rest))


def _below(t):
    return t[0] == "pow" and is_num(t[2]) and t[2][1] < 0


def neg(t):
    return mul(num(-1), t)


def power(base, e):
    """base ** e, worked out where it is rational."""
    if is_num(e):
        q = e[1]
        if q in (0, 1):
            return ONE if q == 0 else base
        if is_num(base) and (found := _rational(base[1], q)) is not None:
            return num(found)
        if q.denominator == 1 and base[0] == "pow" and is_num(base[2]):
            inner = base[2][1]
            if inner.denominator == 1 or (inner * q).denominator != 1 or (is_num(base[1]) and base[1][1] > 0):
                return power(base[1], num(inner * q))
        if q.denominator == 1 and base[0] == "mul":
            return mul(*(power(factor, e) for factor in base[1]))
    return ONE if base == ONE else ("pow", base, e)


def _rational(x, q):
    """x ** q where that is rational and of no great length, else None."""
    if x == 0:
        return Fraction(0) if q > 0 else None
    if q.denominator != 1:
        if x < 0 or q.denominator > 64:
            return None
        tops = [round(n ** (1 / q.denominator)) if n < 10**15 else 0 for n in (x.numerator, x.denominator)]
        if any(t**q.denominator != n for t, n in zip(tops, (x.numerator, x.denominator))):
            return None
        x, q = Fraction(*tops), Fraction(q.numerator)
    return x ** int(q) if abs(q) * max(x.numerator.bit_length(), x.denominator.bit_length()) <= 14000 else None


def call(name, args):
    if name not in ARGUMENTS or not ARGUMENTS[name][0] <= len(args) <= ARGUMENTS[name][1]:
        raise Malformed(f"{name} of {len(args)} arguments is no function")
    if name == "sqrt":
        return power(args[0], HALF)
    if all(map(is_num, args)):
        values = [arg[1] for arg in args]
        if name in ("abs", "floor", "min", "max"):
            return num({"abs": lambda v: abs(v[0]), "floor": lambda v: floor(v[0]), "min": min, "max": max}[name](values))
        if name in ("sinh", "tanh", "asinh", "atanh", "erf", "logexprel", "exp", "cosh", "erfc") and not values[0]:
            return ONE if name in ("exp", "cosh", "erfc") else ZERO
        if name == "log" and values[0] == 1:
            return ZERO
    return ("call", name, tuple(args))


def text(t):
    """The one writing of a tree."""
    return _text(t)[0]


def _text(t):  # with its strength: 1 a sum or a minus, 2 a product, 3 a power, 4 what stands by itself
    kind = t[0]
    if kind == "num":
        return str(t[1]), 1 if t[1] < 0 else 4 if t[1].denominator == 1 else 2
    if kind == "sym":
        return t[1], 4
    if kind == "call":
        return (f"{t[1]}({', '.join(map(text, t[2]))})" if t[2] else t[1]), 4
    if kind == "pow":
        return (f"sqrt({text(t[1])})", 4) if t[2] == HALF else (f"{_held(t[1], 4)}**{_held(t[2], 4)}", 3)
    if kind == "add":
        pieces = [_held(term, 1) for term in t[1]]
        return pieces[0] + "".join(f" - {p[1:]}" if p[0] == "-" else f" + {p}" for p in pieces[1:]), 1
    c, rest = _split(t)
    factors = rest[1] if rest[0] == "mul" else (rest,)
    above = [_held(f, 3) for f in factors if not _below(f)]
    below = [_held(power(f[1], num(-f[2][1])), 3) for f in factors if _below(f)]
    above = above if abs(c.numerator) == 1 and above else [str(abs(c.numerator)), *above]
    below = below if c.denominator == 1 else [str(c.denominator), *below]
    written = "*".join(above) + "".join("/" + b for b in below)
    return ("-" + written, 1) if c < 0 else (written, 2)


def _held(t, least):
    written, strength = _text(t)
    return written if strength >= least else f"({written})"


@lru_cache(maxsize=10000)
def parse(source):
    """The tree of a text."""
    if not isinstance(source, str) or len(source) > 20000:
        raise Malformed("an expression is no text, or too long")
    tokens, at = [], 0
    while at < len(source.rstrip()):
        match = _TOKEN.match(source, at)
        if not match:
            raise Malformed(f"{source[:60]!r} is no expression")
        tokens.append(match.group().strip())
        at = match.end()
    tokens.reverse()
    try:
        tree = _sum(tokens, 0)
    except (IndexError, RecursionError) as error:
        raise Malformed(f"{source[:60]!r} is no expression") from error
    if tokens:
        raise Malformed(f"{source[:60]!r} is no expression")
    return tree


def canonical(source):
    """The tree of a text that is the one writing of it."""
    tree = parse(source)
    if text(tree) != source:
        raise Undecided(f"{source[:60]!r} is not in the canonical form that is known here")
    return tree


def _take(tokens, *wanted):
    return tokens.pop() if tokens and tokens[-1] in wanted else None


def _sum(tokens, depth):
    if depth > 120:
        raise IndexError
    terms = [_product(tokens, depth)]
    while sign := _take(tokens, "+", "-"):
        term = _product(tokens, depth)
        terms.append(term if sign == "+" else neg(term))
    return add(*terms)


def _product(tokens, depth):
    factors = _signed(tokens, depth)
    while operator := _take(tokens, "*", "/"):
        sign, factor = _signed(tokens, depth)
        if operator == "/" and factor == ZERO:
            raise Malformed("a quotient by 0")
        factors += [sign, factor if operator == "*" else mul(ONE, power(factor, num(-1)))]
    return mul(*factors)


def _signed(tokens, depth):
    sign = 1
    while taken := _take(tokens, "+", "-"):
        sign = -sign if taken == "-" else sign
    base = _atom(tokens, depth)
    if _take(tokens, "**"):
        base = power(base, mul(*_signed(tokens, depth + 1)))
    return [num(sign), base]


def _atom(tokens, depth):
    token = tokens.pop()
    if token[0].isdigit():
        return num(token)
    if token == "(":
        inside = _sum(tokens, depth + 1)
        if not _take(tokens, ")"):
            raise IndexError
        return inside
    if not (token[0].isalpha() or token[0] == "_"):
        raise IndexError
    if token == "pi":
        return PI
    if not _take(tokens, "("):
        if token in ARGUMENTS:
            raise IndexError
        return ("sym", token)
    args = [_sum(tokens, depth + 1)]
    while _take(tokens, ","):
        args.append(_sum(tokens, depth + 1))
    if not _take(tokens, ")"):
        raise IndexError
    return call(token, args)


def symbols(t):
    """The names in a tree."""
    if t[0] == "sym":
        return {t[1]}
    inside = t[1] if t[0] in ("add", "mul") else t[2] if t[0] == "call" else () if t[0] == "num" else t[1:]
    return set().union(*map(symbols, inside)) if inside else set()
