"""Functions in the reproducing kernel space of the Gaussian covariance (rbf): sums of c t^m exp(-a t^2 + b t) (theory#gaussian-functions).

K(s, t) = v exp(-(s - t)^2/(2 l^2)). With t = l w the space is that of exp(-w^2/2) g(w), g entire, its norm that of the Taylor
coefficients of g; the inner products of w^m exp(A w^2 + b w) are derivatives of one closed form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Final

from flint import arb, ctx

from dpverify.trusted.kernel.balls import constant, finite, precision, value
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, Add, Call, Expr, Mul, Num, Pow, Sym, add, call, mul, neg, num, parse, power, symbols
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.language.derivatives import derivative

MOST_TERMS: Final = 64
MOST_POWER: Final = 8
_T: Final = "t"
_HALF: Final = Num(Fraction(1, 2))
_INNER: Final = parse("(1 - 4*A*B)**(-1/2)*exp((B*x**2 + x*y + A*y**2)/(1 - 4*A*B))")
"""The inner product of exp(A w^2 + x w) and exp(B w^2 + y w), |A| and |B| < 1/2."""


@dataclass(frozen=True, slots=True)
class Term:
    """c t^m exp(-a t^2 + b t)."""

    c: Expr
    m: int
    a: Expr
    b: Expr


def squared_norm(h: Expr, variance: Expr, length: Expr) -> arb:
    """The squared norm of a function. Raises Undecided where it is no such sum, or not certainly in the space."""
    terms, square = terms_of(h), mul(length, length)
    for term in terms:
        if not (certainly_lt(ZERO, term.a) and certainly_lt(mul(term.a, square), ONE)):
            raise Undecided("of a Gaussian covariance, each exp(-a t^2 + b t) in a difference wants a certainly between 0 and 1/length^2.")
    with precision(ctx.prec + 32):
        sizes = [
            (constant(mul(term.c, power(length, num(term.m)))), add(_HALF, neg(mul(term.a, square))), mul(term.b, length)) for term in terms
        ]
        total = arb(0)
        for p, (c, left, x) in zip(terms, sizes, strict=True):
            for q, (d, right, y) in zip(terms, sizes, strict=True):
                at = dict(zip("ABxy", map(constant, (left, right, x, y)), strict=True))
                total += c * d * value(_inner(p.m, q.m), at)
        return finite(total / constant(variance))


def is_outside(h: Expr, length: Expr, number: int) -> bool:
    """Whether the term of a number shows that a function is certainly not in the space."""
    terms = terms_of(h)
    shown = terms[number]
    wide = certainly_le(shown.a, ZERO) or certainly_le(ONE, mul(shown.a, length, length))
    alone = all(_differ(shown, other) for i, other in enumerate(terms) if i != number)
    return wide and alone and (certainly_lt(ZERO, shown.c) or certainly_lt(shown.c, ZERO))


def _differ(p: Term, q: Term) -> bool:
    """Whether two terms are certainly no multiples of each other."""
    pairs = ((p.a, q.a), (p.b, q.b))
    return p.m != q.m or any(certainly_lt(x, y) or certainly_lt(y, x) for x, y in pairs)


@remembered(128)
def _inner(m: int, n: int) -> Expr:
    """The inner product with w^m and w^n before the exponentials."""
    found = reduce(derivative, ["x"] * m, _INNER)
    return reduce(derivative, ["y"] * n, found)


@remembered(64)
def terms_of(h: Expr) -> tuple[Term, ...]:
    """A function as such a sum, equal terms added up. Raises Undecided where it is none."""
    found: list[Term] = []
    for term in _read(h):
        same = next((i for i, other in enumerate(found) if other.m == term.m and _equal(other, term)), None)
        if same is None:
            found.append(term)
        else:
            found[same] = Term(add(found[same].c, term.c), term.m, term.a, term.b)
    return tuple(term for term in found if not certainly_equal(term.c, ZERO))


def _equal(p: Term, q: Term) -> bool:
    return certainly_equal(p.a, q.a) and certainly_equal(p.b, q.b)


def _read(expr: Expr) -> list[Term]:
    if _T not in symbols(expr):
        return [Term(expr, 0, ZERO, ZERO)]
    if expr == Sym(_T):
        return [Term(ONE, 1, ZERO, ZERO)]
    if isinstance(expr, Add):
        return _few([term for part in expr.args for term in _read(part)])
    if isinstance(expr, Mul):
        return reduce(_product, map(_read, expr.args))
    if isinstance(expr, Pow) and isinstance(expr.exponent, Num) and expr.exponent.value in range(1, MOST_POWER + 1):
        return reduce(_product, [_read(expr.base)] * int(expr.exponent.value))
    if isinstance(expr, Call) and expr.name == "exp":
        return [_exponential(_read(expr.args[0]))]
    if isinstance(expr, Call) and expr.name in ("cosh", "sinh"):
        half = mul(_HALF, num(1 if expr.name == "cosh" else -1))
        return [*_scaled(_HALF, _read(call("exp", expr.args[0]))), *_scaled(half, _read(call("exp", neg(expr.args[0]))))]
    raise Undecided("of a Gaussian covariance a difference has to be a sum of c t^m exp(-a t^2 + b t).")


def _exponential(exponent: Sequence[Term]) -> Term:
    """exp of a polynomial of degree 2."""
    if any(term.m > 2 or (term.a, term.b) != (ZERO, ZERO) for term in exponent):
        raise Undecided("of a Gaussian covariance a difference has exponents of degree 2 in t at most.")
    start, b, a = (add(ZERO, *(term.c for term in exponent if term.m == m)) for m in range(3))
    return Term(call("exp", start), 0, neg(a), b)


def _product(left: Sequence[Term], right: Sequence[Term]) -> list[Term]:
    return _few([Term(mul(p.c, q.c), p.m + q.m, add(p.a, q.a), add(p.b, q.b)) for p in left for q in right])


def _scaled(factor: Expr, terms: Sequence[Term]) -> list[Term]:
    return [Term(mul(factor, term.c), term.m, term.a, term.b) for term in terms]


def _few(terms: list[Term]) -> list[Term]:
    if len(terms) > MOST_TERMS or any(term.m > MOST_POWER for term in terms):
        raise Undecided(f"of a Gaussian covariance a difference has at most {MOST_TERMS} terms, of degree {MOST_POWER} in t at most.")
    return terms
