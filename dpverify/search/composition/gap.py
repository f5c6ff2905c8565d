"""The difference of a claimed epsilon and a bound on it as a polynomial, and sums of products that are at least 0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm, prod
from typing import Any, Final

from flint import fmpq, fmpq_mpoly_ctx

from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import Rejected, Undecided
from dpverify.trusted.kernel.expr import ZERO, Add, Call, Expr, Mul, Num, Pow, Sym, children, mul, num, parse, sub
from dpverify.trusted.kernel.model import Domain

RULE: Final = "an identity"
MAX_DEGREE: Final = 128
_RISING: Final = ("log", "exp", "asinh", "sinh", "atanh", "tanh")
"""Functions of one argument that rise."""


MAX_PRODUCT: Final = 200_000
"""The most pairs of terms that one product of polynomials may have."""


Poly = Any
"""A flint fmpq_mpoly."""


@dataclass(frozen=True, slots=True)
class _Quotient:
    """num / den, den positive on the domains."""

    num: Poly
    den: Poly


class Gap:
    """What must be at least zero for U <= V, as a polynomial in the parameters and in functions of them taken as opaque.

    variables: the expression that each generator of the ring stands for. numerator: a polynomial that is at least zero only if V - U is.
    Raises Rejected or Undecided where there is no such polynomial.
    """

    def __init__(self, upper: Expr, claimed: Expr, domains: Mapping[str, Domain]) -> None:
        self.domains = domains
        if not certainly_le(claimed, claimed, domains):
            raise Rejected(RULE, "the claimed epsilon", "it is not certainly defined for all parameters")
        upper, claimed = stripped(upper, claimed)
        self.roots: dict[Expr, int] = {}
        for base, degree in (*_roots(upper), *_roots(claimed)):
            self.roots[base] = lcm(self.roots.get(base, 1), degree)
        self.variables = tuple(dict.fromkeys((*self._variables(upper), *self._variables(claimed))))
        self.ring = fmpq_mpoly_ctx.get([f"x{i}" for i in range(max(1, len(self.variables)))], "degrevlex")
        self.generators = dict(zip(self.variables, self.ring.gens(), strict=False))
        difference = self._quotient(sub(claimed, upper))
        self.numerator, self.denominator = difference.num, difference.den

    # evidence

    def constraint(self, expr: Expr, side: str) -> Poly:
        """A polynomial that is at least zero on the domains."""
        return self.polynomial(bounded_constraint(expr, side, self.domains))

    # trees to polynomials

    def polynomial(self, expr: Expr) -> Poly:
        """The polynomial that an expression without denominators is."""
        quotient = self._quotient(expr)
        if not quotient.den.is_one():
            raise Rejected(RULE, "a polynomial", "it has a denominator")
        return quotient.num

    def _variables(self, expr: Expr) -> Iterator[Expr]:
        root = self.roots.get(expr)
        if isinstance(expr, Sym):
            yield expr if root is None else Pow(expr, Num(Fraction(1, root)))
        elif isinstance(expr, Add | Mul):
            for part in children(expr):
                yield from self._variables(part)
        elif isinstance(expr, Pow) and isinstance(expr.exponent, Num):
            whole = expr.exponent.value.denominator == 1
            yield from self._variables(expr.base) if whole or isinstance(expr.base, Sym) else (self._root(expr.base),)
        elif not isinstance(expr, Num):
            yield expr

    def _root(self, base: Expr) -> Expr:
        return Pow(base, Num(Fraction(1, self.roots.get(base, 1))))

    def _quotient(self, expr: Expr) -> _Quotient:
        one = self.ring.constant(1)
        if isinstance(expr, Num):
            return _Quotient(self.ring.constant(fmpq(expr.value.numerator, expr.value.denominator)), one)
        if isinstance(expr, Add):
            total = _Quotient(self.ring.constant(0), one)
            for part in map(self._quotient, expr.args):
                if part.den == total.den:
                    total = _Quotient(total.num + part.num, total.den)
                else:
                    over = _product(total.num, part.den) + _product(part.num, total.den)
                    total = _Quotient(over, _product(total.den, part.den))
            return total
        if isinstance(expr, Mul):
            result = _Quotient(one, one)
            for part in map(self._quotient, expr.args):
                result = _Quotient(_product(result.num, part.num), _product(result.den, part.den))
            return result
        if isinstance(expr, Pow) and isinstance(expr.exponent, Num):
            return self._power(expr.base, expr.exponent.value)
        if isinstance(expr, Sym) and expr in self.roots:
            return self._power(expr, Fraction(1))
        generator = self.generators.get(expr)
        if generator is None:
            raise Rejected(RULE, "an expression", "it has a symbol or a function that the bound and the claimed epsilon have not")
        return _Quotient(generator, one)

    def _power(self, base: Expr, exponent: Fraction) -> _Quotient:
        root = self.roots.get(base, 1)
        if root > 1 and (isinstance(base, Sym) or exponent.denominator > 1):
            generator = self.generators.get(self._root(base))
            if generator is None or root % exponent.denominator or not certainly_le(ZERO, base, self.domains):
                raise Rejected(RULE, "a root", "it is not one of the bound or the claimed epsilon, or of what may be negative")
            inside, times = _Quotient(generator, self.ring.constant(1)), int(exponent * root)
        elif exponent.denominator == 1:
            inside, times = self._quotient(base), int(exponent)
        else:
            raise Rejected(RULE, "a root", "it is not one of the bound or the claimed epsilon")
        if times < 0:
            if certainly_lt(ZERO, base, self.domains):
                inside = _Quotient(inside.den, inside.num)
            elif certainly_lt(base, ZERO, self.domains):
                inside = _Quotient(-inside.den, -inside.num)
            else:
                raise Undecided("a denominator whose sign over the domains is not certain.")
        return _Quotient(_raised(inside.num, abs(times)), _raised(inside.den, abs(times)))


def _roots(expr: Expr) -> Iterator[tuple[Expr, int]]:
    """The bases under rational powers that `Gap` reads, with the degree of the root."""
    if isinstance(expr, Pow) and isinstance(expr.exponent, Num) and expr.exponent.value.denominator > 1:
        yield expr.base, expr.exponent.value.denominator
    elif isinstance(expr, Add | Mul | Pow):
        for part in children(expr):
            yield from _roots(part)


def _product(p: Poly, q: Poly) -> Poly:
    if len(p) * len(q) > MAX_PRODUCT or p.total_degree() + q.total_degree() > MAX_DEGREE:
        raise Undecided(f"a product of more than {MAX_PRODUCT} pairs of terms, or of a degree above {MAX_DEGREE}.")
    return p * q


def _raised(p: Poly, n: int) -> Poly:
    if n > MAX_DEGREE:
        raise Undecided(f"a power beyond {MAX_DEGREE}.")
    result = p**0
    for _ in range(n):
        result = _product(result, p)
    return result


def stripped(low: Expr, high: Expr) -> tuple[Expr, Expr]:
    """Both sides without the functions that they share and that rise."""
    while isinstance(low, Call) and isinstance(high, Call) and low.name == high.name and low.name in _RISING:
        low, high = low.args[0], high.args[0]
    return low, high


def bounded_constraint(expr: Expr, side: str, domains: Mapping[str, Domain]) -> Expr:
    """What is at least zero of an expression: beyond an end of its domain, itself, or, of integers, the product beside an integer.

    Raises Rejected where that is not known.
    """
    if side == "zero" and certainly_le(ZERO, expr, domains):
        return expr
    domain = domains.get(expr.name) if isinstance(expr, Sym) else None
    if domain is not None and domain.integer and side.removeprefix("-").isdecimal():
        return mul(sub(expr, num(int(side))), sub(expr, num(int(side) + 1)))
    end = None if domain is None else {"lower": domain.lower, "upper": domain.upper}.get(side)
    if end is None:
        raise Rejected(RULE, "a constraint", f"no {side} end of it is known")
    return sub(expr, Num(end)) if side == "lower" else sub(Num(end), expr)


def total(gap: Gap, summands: Any) -> Poly:
    """The sum that summands spell out."""
    found = gap.ring.constant(0)
    for summand in summands:
        weight, square = Fraction(summand["weight"]), gap.polynomial(parse(summand["square"]))
        held = prod((gap.constraint(parse(of), side) for of, side in summand["constraints"]), start=gap.ring.constant(1))
        found += square * square * held * fmpq(weight.numerator, weight.denominator)
    return found
