"""Limits at plus infinity from leading terms (theory#shape-calculus): of f(x)/x, of log f(x)/x, of f(x)/log x, and f ~ c x^p.

Each is None where the calculus does not reach.
"""

from __future__ import annotations

from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.expr import ONE, ZERO, Add, Call, Expr, Mul, Pow, Sym, add, call, mul, neg, sub, symbols
from dpverify.trusted.kernel.signs import AT_LEAST_ZERO, AT_MOST_ZERO, NEGATIVE, NULL, POSITIVE
from dpverify.trusted.shapes.convexity import Shapes, outside
from dpverify.trusted.shapes.tidying import powered


def slope_limit(shapes: Shapes, expr: Expr) -> Expr | None:
    """lim f(x)/x as x grows, finite and exact, or None. For a convex or concave f it is the limit of f'."""
    if shapes.name not in symbols(expr):
        return ZERO
    if isinstance(expr, Sym):
        return ONE
    if isinstance(expr, Add):
        parts = [slope_limit(shapes, term) for term in expr.args]
        return None if None in parts else add(*(part for part in parts if part is not None))
    if isinstance(expr, Mul):
        inner, outer = outside(expr, shapes.name)
        if outer != ONE:
            limit = slope_limit(shapes, inner)
            return None if limit is None else mul(outer, limit)
    if isinstance(expr, Call):
        return _slope_limit_of_call(shapes, expr)
    lead = leading(shapes, expr)
    if lead is not None:
        c, p = lead
        excess = shapes.sign(sub(p, ONE))
        return c if excess == NULL else ZERO if excess == NEGATIVE else None
    return _negligible(shapes, expr)


def _slope_limit_of_call(shapes: Shapes, expr: Call) -> Expr | None:
    u = expr.args[-1]
    if expr.name == "log":
        return rate(shapes, u)
    if expr.name in ("abs", "min", "max"):
        limits = [slope_limit(shapes, arg) for arg in expr.args]
        return None if None in limits else extreme(shapes, expr.name, [x for x in limits if x is not None])
    if expr.name == "asinh":
        return ZERO if slope_limit(shapes, u) is not None or leading(shapes, u) is not None else None
    if expr.name in ("tanh", "erf", "erfc"):
        return ZERO
    if expr.name == "logbesselk":
        limit = slope_limit(shapes, u)
        return neg(limit) if limit is not None and shapes.positive(limit) else None
    return _negligible(shapes, expr)


def _negligible(shapes: Shapes, expr: Expr) -> Expr | None:
    limit = rate(shapes, expr)
    return ZERO if limit is not None and shapes.sign(limit) == NEGATIVE else None


def extreme(shapes: Shapes, name: str, values: list[Expr]) -> Expr:
    """abs, min or max, decided where the order is certain."""
    if name == "abs":
        sign = shapes.sign(values[0])
        return values[0] if sign <= AT_LEAST_ZERO else neg(values[0]) if sign <= AT_MOST_ZERO else call("abs", values[0])
    best = values[0]
    for other in values[1:]:
        order = shapes.sign(sub(best, other) if name == "max" else sub(other, best))
        best = best if order <= AT_LEAST_ZERO else other if order <= AT_MOST_ZERO else call(name, best, other)
    return best


def rate(shapes: Shapes, expr: Expr) -> Expr | None:
    """lim log f(x) / x as x grows, for a positive f; None where f is not certainly positive or the limit not known."""
    if shapes.value(expr) != POSITIVE:
        return None
    if shapes.name not in symbols(expr) or isinstance(expr, Sym) or leading(shapes, expr) is not None:
        return ZERO
    if isinstance(expr, Call) and expr.name == "exp":
        return slope_limit(shapes, expr.args[0])
    if isinstance(expr, Call) and expr.name == "cosh":
        limit = slope_limit(shapes, expr.args[0])
        return None if limit is None else extreme(shapes, "abs", [limit])
    if isinstance(expr, Pow) and shapes.name not in symbols(expr.exponent):
        limit = rate(shapes, expr.base)
        return None if limit is None else mul(expr.exponent, limit)
    if isinstance(expr, Add | Mul):
        rates = [rate(shapes, part) for part in expr.args]
        known = [one for one in rates if one is not None]
        if len(known) == len(rates):
            return add(*known) if isinstance(expr, Mul) else extreme(shapes, "max", known)
    return None


def leading(shapes: Shapes, expr: Expr) -> tuple[Expr, Expr] | None:
    """(c, p) with f ~ c x^p as x grows and c certainly positive, or None."""
    if shapes.name not in symbols(expr):
        return (expr, ZERO) if shapes.positive(expr) else None
    if isinstance(expr, Sym):
        return ONE, ONE
    if isinstance(expr, Mul):
        parts = [leading(shapes, factor) for factor in expr.args]
        known = [part for part in parts if part is not None]
        return (mul(*(c for c, _ in known)), add(*(p for _, p in known))) if len(known) == len(parts) else None
    if isinstance(expr, Pow):
        base = leading(shapes, expr.base)
        if base is None or shapes.name in symbols(expr.exponent):
            return None
        return powered(shapes, base[0], expr.exponent), mul(base[1], expr.exponent)
    if isinstance(expr, Add):
        return _leading_of_sum(shapes, expr)
    if isinstance(expr, Call) and expr.name == "abs":
        return leading(shapes, expr.args[0])
    return None


def _leading_of_sum(shapes: Shapes, expr: Add) -> tuple[Expr, Expr] | None:
    """The term that certainly outgrows all others, with equal powers added up."""
    sizes: list[tuple[Expr, Expr | None]] = []
    for term in expr.args:
        inner, outer = outside(term, shapes.name)
        lead = (ONE, ZERO) if inner == ONE else leading(shapes, inner)
        if lead is None:
            if slope_limit(shapes, inner) != ZERO:
                return None
            sizes.append((ZERO, None))  # o(x)
        else:
            sizes.append((mul(outer, lead[0]), lead[1]))
    powers = list(dict.fromkeys(p for _, p in sizes if p is not None))
    for top in powers:
        if all(p == top or shapes.sign(sub(top, p)) == POSITIVE for p in powers):
            c = add(*(c for c, p in sizes if p == top))
            small = all(p is not None for _, p in sizes) or certainly_le(ONE, top, shapes.domains)
            return (c, top) if small and shapes.positive(c) else None
    return None


def outgrows(shapes: Shapes, expr: Expr) -> bool:
    """Whether f(x)/x certainly tends to plus infinity: of a power above the first, of what grows like an exponential, of sums with one."""
    if shapes.name not in symbols(expr):
        return False
    lead = leading(shapes, expr)
    if lead is not None:
        return shapes.positive(sub(lead[1], ONE))
    if isinstance(expr, Add):
        steep = [outgrows(shapes, term) for term in expr.args]
        return any(steep) and all(up or slope_limit(shapes, term) is not None for up, term in zip(steep, expr.args, strict=True))
    if isinstance(expr, Mul):
        inner, outer = outside(expr, shapes.name)
        if outer != ONE:
            return shapes.positive(outer) and outgrows(shapes, inner)
    growth = rate(shapes, expr)
    return growth is not None and shapes.positive(growth)


def log_slope(shapes: Shapes, expr: Expr) -> Expr | None:
    """lim f(x) / log x as x grows, finite and exact, or None."""
    if shapes.name not in symbols(expr):
        return ZERO
    if isinstance(expr, Add):
        parts = [log_slope(shapes, term) for term in expr.args]
        return None if None in parts else add(*(part for part in parts if part is not None))
    if isinstance(expr, Mul):
        inner, outer = outside(expr, shapes.name)
        limit = log_slope(shapes, inner) if outer != ONE else None
        if limit is not None:
            return mul(outer, limit)
    if isinstance(expr, Call) and expr.name == "log":
        lead = leading(shapes, expr.args[0])
        return None if lead is None else lead[1]
    lead = leading(shapes, expr)
    return ZERO if lead is not None and shapes.sign(lead[1]) <= AT_MOST_ZERO else _negligible(shapes, expr)


def integrable(shapes: Shapes, h: Expr, dimension: Expr) -> bool:
    """Whether exp(-h) r^(dimension - 1) is certainly integrable at plus infinity."""
    slope = slope_limit(shapes, h)
    if slope is not None and shapes.positive(slope):
        return True
    lead = leading(shapes, h)
    if lead is not None and shapes.positive(lead[1]):
        return True
    slow = log_slope(shapes, h)
    return slow is not None and shapes.positive(sub(slow, dimension))
