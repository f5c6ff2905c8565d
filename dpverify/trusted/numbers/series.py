"""Quotients N(r)/r^k whose singularity at 0 is only apparent, by Taylor coefficients of expressions over balls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import arb, arb_series, ctx

from dpverify.trusted.kernel.balls import WIDE, constant
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import Add, Call, Expr, Mul, Num, Pow, Sym, add, call, mul, num, symbols

if TYPE_CHECKING:
    from dpverify.trusted.numbers.jets import JetCompiler, Program, Scalars

MOST_ORDER = 16


def taylor(expr: Expr, name: str, at: arb, order: int) -> list[arb]:
    """Balls of f^(j)/j! over the ball `at`, j = 0 .. order. Raises Undecided for functions without series here."""
    before = ctx.cap
    ctx.cap = max(before, order + 1)
    try:
        found = _series(expr, name, at, order + 1).coeffs()
    finally:
        ctx.cap = before
    return [found[j] if j < len(found) else arb(0) for j in range(order + 1)]


def order_at_zero(expr: Expr, name: str) -> int:
    """The order to which f certainly vanishes at 0: its first coefficients are exactly 0. 0 where none is, or all are."""
    try:
        coefficients = taylor(expr, name, arb(0), MOST_ORDER)
    except Undecided:
        return 0
    order = next((j for j, c in enumerate(coefficients) if not c.is_zero()), 0)
    return order if coefficients[order].is_finite() and not coefficients[order].contains(0) else 0


def quotient(coefficients: list[arb], order: int) -> tuple[arb, arb, arb]:
    """Q = N(r)/r^k and two derivatives over a ball that contains 0, from coefficients of N of orders k, k + 1, k + 2 over it.

    Q(r) = integral over t in [0, 1] of (1 - t)^(k-1) N^(k)(t r) / (k-1)! dt, so Q^(m) lies in N^(k+m) * m!/(k+m)!.
    """
    return coefficients[order], coefficients[order + 1], 2 * coefficients[order + 2]


def _series(expr: Expr, name: str, at: arb, length: int) -> arb_series:
    if name not in symbols(expr):
        return arb_series([constant(expr)], length)
    if isinstance(expr, Sym):
        return arb_series([at, 1], length)
    if isinstance(expr, Add | Mul):
        total = _series(expr.args[0], name, at, length)
        for part in expr.args[1:]:
            other = _series(part, name, at, length)
            total = total + other if isinstance(expr, Add) else total * other
        return total
    if isinstance(expr, Pow) and isinstance(expr.exponent, Num):
        base, e = _series(expr.base, name, at, length), expr.exponent.value
        if e.denominator == 1:
            return base ** int(e)
        if e.denominator == 2:
            return base.sqrt() ** e.numerator
    if isinstance(expr, Call) and len(expr.args) == 1:
        u = _series(expr.args[0], name, at, length)
        half = arb_series([arb(1) / 2], length)
        if expr.name in ("exp", "log", "erf", "erfc"):
            found: arb_series = getattr(u, expr.name)()
            return found
        if expr.name in ("cosh", "sinh"):
            sign = 1 if expr.name == "cosh" else -1
            return half * (u.exp() + sign * (-u).exp())
        if expr.name == "tanh":
            small = (-2 * u).exp()
            return (1 - small) * (1 + small).inv()
    raise Undecided("no power series for this form.")


def without_removable(expr: Expr, name: str) -> Expr:
    """The sum with log(N) written as logratio(N, r, k) + k*log(r) where N vanishes at 0 to the order k. An identity for r > 0."""
    terms: list[Expr] = []
    total = add(expr)
    for term in total.args if isinstance(total, Add) else (total,):
        factors = term.args if isinstance(term, Mul) else (term,)
        logs = [f for f in factors if isinstance(f, Call) and f.name == "log" and isinstance(f.args[0], Add)]
        k = order_at_zero(logs[0].args[0], name) if len(logs) == 1 and symbols(logs[0]) == {name} else 0
        if k == 0:
            terms.append(term)
            continue
        others = mul(*(f for f in factors if f is not logs[0]))
        split = (Call("logratio", (logs[0].args[0], Sym(name), num(k))), mul(num(k), call("log", Sym(name))))
        terms += [mul(others, part) for part in split]
    return add(*terms)


def log_of_quotient(compiler: JetCompiler, expr: Call, programs: Sequence[Program]) -> Program:
    """log(N/r^k): as it stands at narrow balls, by Taylor's theorem on [0, r] at wide ones near 0."""
    above, at, order = expr.args
    k = int(order.value) if isinstance(order, Num) and order.value in range(1, MOST_ORDER + 1) else None
    plain = isinstance(at, Sym) and symbols(above) == {at.name}
    if k is None or not isinstance(at, Sym) or not plain or order_at_zero(above, at.name) != k:
        raise Undecided("logratio wants an N in one plain variable that vanishes at 0 to the order k.")
    name, log, one = at.name, compiler.log, Fraction(-1)

    def near(u: Scalars) -> Scalars:
        q = quotient(taylor(above, name, arb(0).union(u[0]), k + 2), k)
        inverse = compiler.power(q[0], one)
        return compiler.chain(log(q[0]), q[1] * inverse, q[2] * inverse - compiler.power(q[1] * inverse, Fraction(2)), u)

    def run(env: Mapping[str, Scalars]) -> Scalars:
        u = env[name]
        if not u[0].lower() > 0:
            return near(u)
        over, under = programs[0](env), programs[1](env)
        if u[0].rel_accuracy_bits() < WIDE and u[1] == 1:  # N cancels: take it and its slope by the mean value too
            middle, away = u[0].mid(), u[0] - u[0].mid()
            point = programs[0]({**env, name: (middle, u[1], u[2])})
            v = over[0].intersection(point[0] + over[1] * away) if over[1].is_finite() else over[0]
            d1 = over[1].intersection(point[1] + over[2] * away) if over[2].is_finite() else over[1]
            over = (v, d1, over[2])
            if not v > 0:
                return near(u)
        inverse, reciprocal = compiler.power(over[0], one), compiler.power(under[0], one)
        first = compiler.chain(log(over[0]), inverse, -(inverse * inverse), over)
        second = compiler.chain(log(under[0]), reciprocal, -(reciprocal * reciprocal), under)
        return first[0] - k * second[0], first[1] - k * second[1], first[2] - k * second[2]

    return run
