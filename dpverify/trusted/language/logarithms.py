"""Minus the logarithm of a density, taken apart."""

from __future__ import annotations

from fractions import Fraction

from dpverify.trusted.language.errors import ExprError
from dpverify.trusted.language.expr import ONE, Add, Call, Expr, Mul, Num, Pow, Sym, add, call, format_expr, mul, neg, num, scaled, sub
from dpverify.trusted.language.model import Product, Radial, Translation


def neg_log_profile(mechanism: Radial | Translation | Product) -> Expr:
    """h = -log(density) of additive noise, in r or z."""
    return neg_log(mechanism.profile if isinstance(mechanism, Radial) else mechanism.density)


def neg_log(density: Expr) -> Expr:
    """-log(density) with logarithms of products, powers and exponentials taken apart.

    Valid wherever the density is positive; an even power is taken by the absolute value of its base.
    """
    if isinstance(density, Num):
        if density.value <= 0:
            raise ExprError(f"the density {format_expr(density)} is not positive.")
        return call("log", Num(1 / density.value))
    if isinstance(density, Mul):
        if isinstance(density.args[0], Num) and density.args[0].value < 0:
            # the minus sign belongs to some factor that is negative where the density is positive
            return neg(Call("log", (density,)))
        return add(*(neg_log(factor) for factor in density.args))
    if isinstance(density, Pow):
        if isinstance(density.exponent, Num) and density.exponent.value.denominator == 1 and density.exponent.value % 2 == 0:
            return mul(density.exponent, neg_log(_absolute(density.base)))
        return mul(density.exponent, neg_log(density.base))
    if isinstance(density, Call):
        u = density.args[-1] if density.args else ONE
        if density.name == "exp":
            return neg(u)
        if density.name == "abs":
            return neg(call("log", density)) if not isinstance(u, Mul) else add(*(neg_log(_absolute(f)) for f in u.args))
        if density.name == "cosh":
            size = _absolute(u)
            return add(neg(size), neg(call("log", add(ONE, call("exp", mul(num(-2), size))))), call("log", num(2)))
        if density.name == "erfc":
            return neg(call("logerfc", u))
        if density.name == "besselk":
            return neg(call("logbesselk", *density.args))
        if density.name == "min":
            return call("max", *map(neg_log, density.args))
        if density.name == "max" and all(map(_plainly_positive, density.args)):
            return call("min", *map(neg_log, density.args))
    if isinstance(density, Add):
        return _neg_log_expm1(density) or _neg_log_sum(density)
    return neg(call("log", density))


def _neg_log_expm1(density: Add) -> Expr | None:
    """-log(c * (exp(u) - 1)), its zero at u = 0 taken out as log(u) or log(-u), whichever is defined; None for another form."""
    if len(density.args) != 2:
        return None
    for constant, term in (density.args, density.args[::-1]):
        c, rest = scaled(term)
        if constant == Num(-c) and isinstance(rest, Call) and rest.name == "exp":
            u = rest.args[0]
            return add(neg_log(Num(abs(c))), neg(call("logexprel", u)), neg_log(u if c > 0 else neg(u)))
    return None


def _neg_log_sum(density: Add) -> Expr:
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


def _plainly_positive(expr: Expr) -> bool:
    """Whether the form shows that the value is positive wherever it is defined."""
    if isinstance(expr, Num):
        return expr.value > 0
    if isinstance(expr, Add | Mul):
        return all(map(_plainly_positive, expr.args))
    if isinstance(expr, Pow):
        return _plainly_positive(expr.base)
    return isinstance(expr, Call) and expr.name in ("exp", "cosh", "erfc", "besselk", "pi")


def _absolute(expr: Expr) -> Expr:
    """abs(expr), left out where the form shows that it cannot be negative."""
    if isinstance(expr, Call) and expr.name in ("abs", "exp", "cosh", "erfc", "besselk"):
        return expr
    if isinstance(expr, Pow) and isinstance(expr.exponent, Num) and expr.exponent.value % 2 == 0:
        return expr
    if isinstance(expr, Num):
        return Num(abs(expr.value))
    if isinstance(expr, Mul) and isinstance(expr.args[0], Num):
        return mul(Num(abs(expr.args[0].value)), _absolute(mul(*expr.args[1:])))
    return call("abs", expr)
