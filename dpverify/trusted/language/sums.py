"""Minus the logarithm of a sum: of exponentials, or of one that vanishes where its exponent does."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpverify.trusted.kernel.expr import Add, Call, Expr, Mul, Num, Pow, Sym, add, call, format_expr, mul, neg, scaled, sub


def neg_log_sum(density: Add, neg_log: Callable[[Expr], Expr]) -> Expr:
    """-log of a sum. neg_log: of its parts."""
    return _neg_log_expm1(density, neg_log) or _neg_log_exponentials(density)


def _neg_log_expm1(density: Add, neg_log: Callable[[Expr], Expr]) -> Expr | None:
    """-log(c * (exp(u) - 1)), its zero at u = 0 taken out as log(u) or log(-u), whichever is defined; None for another form."""
    if len(density.args) != 2:
        return None
    for constant, term in (density.args, density.args[::-1]):
        c, rest = scaled(term)
        if constant == Num(-c) and isinstance(rest, Call) and rest.name == "exp":
            u = rest.args[0]
            return add(neg_log(Num(abs(c))), neg(call("logexprel", u)), neg_log(u if c > 0 else neg(u)))
    return None


def _neg_log_exponentials(density: Add) -> Expr:
    """-log of a sum, one of its exponentials taken out: exp(u) + exp(v) = exp(u) * (1 + exp(v - u)) for any u, v."""
    exponents: list[Expr] = []
    for term in density.args:
        factors = term.args if isinstance(term, Mul) else (term,)
        found = [f for f in factors if isinstance(f, Call) and f.name == "exp"]
        if len(found) != 1:
            return neg(call("log", density))
        exponents.append(found[0].args[0])
    lead = max(exponents, key=_growth_key)
    rest = add(*(mul(term, call("exp", neg(lead))) for term in density.args))
    return sub(neg(lead), call("log", _merge_exponentials(rest)))


def _growth_key(exponent: Expr) -> tuple[Fraction, Fraction, int]:
    """Orders exponents so that the one that falls slowest in its variable comes last, where the form shows it."""
    terms = [(_degree(term), scaled(term)[0]) for term in (exponent.args if isinstance(exponent, Add) else (exponent,))]
    degree = max(d for d, _ in terms)
    lead = sum((c for d, c in terms if d == degree), Fraction(0))
    return (degree if lead > 0 else -degree), lead, -len(format_expr(exponent))


def _degree(expr: Expr) -> Fraction:
    """The degree of growth in all symbols together, as far as the form shows it; 0 for logarithms and what is not known."""
    if isinstance(expr, Sym):
        return Fraction(1)
    if isinstance(expr, Add):
        return max(map(_degree, expr.args))
    if isinstance(expr, Mul):
        return sum(map(_degree, expr.args), Fraction(0))
    if isinstance(expr, Pow) and isinstance(expr.exponent, Num):
        return expr.exponent.value * _degree(expr.base)
    if isinstance(expr, Call) and expr.args and expr.name in ("abs", "min", "max"):
        return max(map(_degree, expr.args))
    return Fraction(0)


def _merge_exponentials(expr: Expr) -> Expr:
    """Products of exponentials as one exponential of the sum."""
    if not isinstance(expr, Mul):
        return add(*map(_merge_exponentials, expr.args)) if isinstance(expr, Add) else expr
    inside = [f.args[0] for f in expr.args if isinstance(f, Call) and f.name == "exp"]
    others = [f for f in expr.args if not (isinstance(f, Call) and f.name == "exp")]
    powers = [f for f in others if isinstance(f, Pow) and isinstance(f.base, Call) and f.base.name == "exp"]
    inside += [mul(p.exponent, p.base.args[0]) for p in powers if isinstance(p.base, Call)]
    others = [f for f in others if f not in powers]
    return mul(call("exp", add(*inside)), *others) if inside else expr
