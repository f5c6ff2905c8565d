"""Shape calculus: sign, direction and curvature of a function of one variable, read off its tree (theory#shape-calculus).

The variable x ranges over (0, inf) or over the whole line; every other symbol is a parameter that ranges over its domain. Facts hold for
all values of the parameters at once; nothing is evaluated. The laws are in `shape`; rewriting, values at 0 and limits at infinity are
loaded where they are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.compare import certainly_le, sign_over
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import ONE, Add, Call, Expr, Mul, Num, Pow, Sym, call, format_expr, mul, num, sub, substitute, symbols
from dpverify.trusted.kernel.model import Domain
from dpverify.trusted.kernel.signs import ANY, AT_LEAST_ZERO, NULL, POSITIVE, Sign
from dpverify.trusted.shapes import shape as laws
from dpverify.trusted.shapes.shape import Shape


class Shapes:
    """Shapes, values at 0 and limits at infinity of trees in the symbol `name`.

    half: the variable ranges over (0, inf), else over the line. domains: of every other symbol.
    """

    def __init__(self, name: str, half: bool, domains: Mapping[str, Domain]) -> None:
        self.name, self.half, self.domains = name, half, domains
        self._signs: dict[Expr, Sign] = {}
        self._shapes: dict[Expr, Shape] = {}

    def sign(self, constant: Expr) -> Sign:
        """The signs that an expression in the parameters alone may have."""
        if constant not in self._signs:
            self._signs[constant] = sign_over(constant, self.domains)
        return self._signs[constant]

    def positive(self, constant: Expr) -> bool:
        """Whether an expression in the parameters is certainly positive."""
        return self.sign(constant) == POSITIVE

    # -- shapes ------------------------------------------------------------------------------------

    def shape(self, expr: Expr) -> Shape:
        """What is known of a tree. Raises Undecided where it is not certainly defined everywhere, or not continuous."""
        if expr not in self._shapes:
            self._shapes[expr] = self._shape(expr).closed()
        return self._shapes[expr]

    def value(self, expr: Expr) -> Sign:
        """The signs that a tree may have; ANY where its shape is not known."""
        try:
            return self.shape(expr).value
        except Undecided:
            return ANY

    def _has_value(self, expr: Expr) -> bool:
        """Whether a constant certainly has a value, for all parameters: one that cancels later must have had one too."""
        if not symbols(expr):
            return bool(constant(expr).is_finite())
        return certainly_le(expr, expr, self.domains)

    def _shape(self, expr: Expr) -> Shape:
        if self.name not in symbols(expr):
            if not isinstance(expr, Num | Sym) and not self._has_value(expr):
                raise _undefined(expr)
            return laws.constant(self.sign(expr))
        if isinstance(expr, Sym):
            return Shape(POSITIVE if self.half else ANY, POSITIVE, NULL)
        if isinstance(expr, Add):
            bessel = self.bessel_in(expr)
            parts = [bessel.shape(self), self.shape(bessel.rest)] if bessel is not None else [self.shape(term) for term in expr.args]
            return laws.total(parts)
        if isinstance(expr, Mul):
            return reduce(laws.product, (self.shape(factor) for factor in expr.args))
        if isinstance(expr, Pow):
            return self._power(expr)
        assert isinstance(expr, Call)
        return self._call(expr)

    def bessel_in(self, total: Add) -> Any | None:
        """The part k*log(x^v K_v(c x)) of a sum, whose terms are not monotone or finite at 0 one by one; None where there is none."""
        inner = [outside(term, self.name)[0] for term in total.args]
        if self.half and any(isinstance(part, Call) and part.name == "logbesselk" for part in inner):
            from dpverify.trusted.shapes.bessel_sums import bessel_part

            return bessel_part(self, total)
        return None

    def _power(self, expr: Pow) -> Shape:
        if self.name in symbols(expr.exponent):
            return self.shape(call("exp", mul(expr.exponent, call("log", expr.base))))
        u, e = self.shape(expr.base), expr.exponent
        value = e.value if isinstance(e, Num) else None
        whole = value if value is not None and value.denominator == 1 else None
        smooth_at_zero = (whole is not None and whole >= 1) or certainly_le(num(2), e, self.domains)
        defined = (whole is not None and (whole > 0 or 0 not in u.value)) or u.value <= (AT_LEAST_ZERO if smooth_at_zero else POSITIVE)
        if not defined:
            raise _undefined(expr)
        return laws.to_power(u, value, self.sign(e), self.sign(sub(e, ONE)))

    def _call(self, expr: Call) -> Shape:
        name, u = expr.name, self.shape(expr.args[-1])
        if name == "log":
            if u.value != POSITIVE:
                raise _undefined(expr)
            return Shape(self.shape(sub(expr.args[0], ONE)).value, u.slope, u.log_bend)
        others = [self.shape(arg) for arg in expr.args[:-1] if name in ("min", "max") or self.name in symbols(arg)]
        from dpverify.trusted.shapes.calls import composed

        found: Shape | None = composed(name, [*others, u])
        if found is None:
            raise Undecided(f"there is no law of shapes for {format_expr(expr)} here.")
        return found

    # -- what is loaded where it is asked for ------------------------------------------------------

    def tidy(self, expr: Expr) -> Expr:
        """The same function with abs decided where a sign is certain, logarithms of products and powers taken apart, powers merged."""
        from dpverify.trusted.shapes import tidying

        return tidying.tidy(self, expr)

    def at_zero(self, expr: Expr) -> Expr | None:
        """The limit of a continuous tree as the variable falls to 0, None where it is not certainly finite."""
        from dpverify.trusted.shapes.at_zero import at_zero

        return at_zero(self, expr)

    def integrable(self, h: Expr, dimension: Expr) -> bool:
        """Whether exp(-h) r^(dimension - 1) is certainly integrable at plus infinity."""
        try:
            shape = self.shape(h)
            if shape.convex and shape.slope == POSITIVE:
                return True  # above a rising tangent
        except Undecided:
            pass
        from dpverify.trusted.shapes import limits

        return limits.integrable(self, h, dimension)

    def mirrored(self, expr: Expr) -> Expr:
        """The tree of f(-x)."""
        return substitute(expr, {self.name: mul(num(-1), Sym(self.name))})


def outside(expr: Expr, name: str) -> tuple[Expr, Expr]:
    """(inner, outer) with expr = outer * inner and outer free of `name`; inner is ONE where all of it is."""
    factors = expr.args if isinstance(expr, Mul) else (expr,)
    return mul(*(f for f in factors if name in symbols(f))), mul(*(f for f in factors if name not in symbols(f)))


def _undefined(expr: Expr) -> Undecided:
    return Undecided(f"{format_expr(expr)} is not certainly defined and smooth enough for all values of its variables.")
