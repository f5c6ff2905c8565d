"""The field of quotients of polynomials in atoms: parameters, real roots, logarithms, exponentials, and functions taken as opaque.

An expression is rewritten only where it is proved to be defined. Which signs a polynomial may have, and whether it vanishes, is asked of
modules beside it. What is found leaves a writing of the polynomial in which the signs of parts tell it; gaps name what such writings have
beside functions of the language, and lemmas are writings of arguments of functions in them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, NamedTuple

from flint import arb, ctx, fmpq

from dpverify.search.signs.polynomials import (
    ATOMS,
    MAX_TERMS,
    NONE,
    ONE,
    RING,
    SLOTS,
    Poly,
    atoms_of,
    by_power,
    factored,
    fraction,
    number,
    powers_in,
    terms_of,
)
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, Sym, add, mul, num, power
from dpverify.trusted.kernel.model import Domain
from dpverify.trusted.kernel.signs import ANY, AT_LEAST_ZERO, NEGATIVE, NULL, POSITIVE, Sign, sharpened, sign_of_ball, times
from dpverify.trusted.order.domains import closed, is_empty
from dpverify.trusted.order.forms import equal

MAX_EXPONENT: Final = 2_000
"""The highest power that is multiplied out."""
MAX_DEPTH: Final = 5
"""How deep the methods that find signs may call each other."""
MAX_EFFORT: Final = 200
"""How many signs of polynomials one form of a statement may ask for."""
MAX_TOTAL_EFFORT: Final = 800
"""How many all forms of it may ask for together."""


@dataclass(slots=True)
class Effort:
    """How many signs one comparison has asked for, of what it was asked already, and who finds the sign of one factor and its writing."""

    factor_sign: Callable[[Field, Poly], tuple[Sign, Expr]]
    spent: int = 0
    asked: set[Any] = field(default_factory=set)


class Ratio(NamedTuple):
    """num / den, den proved to be without zero; both reduced by the relations of the roots."""

    num: Poly
    den: Poly


UNIT: Final = Ratio(ONE, ONE)


@dataclass(frozen=True, slots=True)
class Atom:
    """A generator. kind: "parameter", "root", "log", "exp", or the name of an opaque function.

    range: the values that it may take. relation: for a root s of degree k the polynomial s**k - radicand.
    """

    kind: str
    args: tuple[Ratio, ...]
    expr: Expr
    constant: bool
    range: Domain
    degree: int = 0
    algebraic: bool = False
    relation: Poly | None = None


class Field:
    """Quotients of polynomials in atoms, over the given domains of the parameters.

    Methods raise Undecided where an expression is not proved to be defined, or grows too large.
    """

    def __init__(self, domains: Mapping[str, Domain], effort: Effort) -> None:
        self.domains = domains
        self.writings: dict[tuple[Any, ...], Expr] = {}
        self.gaps: dict[str, tuple[str, tuple[Expr, ...]]] = {}
        self.lemmas: dict[Expr, Expr] = {}
        self.effort = effort
        self.limit = min(effort.spent + MAX_EFFORT, MAX_TOTAL_EFFORT)
        self.atoms: list[Atom] = []
        self.parameters: dict[str, Poly] = {}
        self.seen: dict[Expr, Ratio] = {}
        self.signs: dict[tuple[Any, ...], Sign] = {}
        self.balls: dict[tuple[int, int], arb] = {}
        self.depth = self.cut_short = 0
        for name, domain in domains.items():
            d = closed(domain)
            if is_empty(d):
                raise Undecided(f"the domain of {name!r} is empty.")
            if d.lower is not None and d.lower == d.upper:
                self.parameters[name] = number(d.lower)
            else:
                self.parameters[name] = self.new(Atom("parameter", (), Sym(name), False, d))

    def new(self, atom: Atom) -> Poly:
        """A new generator. Raises Undecided where there are none left."""
        if len(self.atoms) == SLOTS:
            raise Undecided(f"more than {SLOTS} different functions and roots.")
        self.atoms.append(atom)
        return ATOMS[len(self.atoms) - 1]

    def reduced(self, p: Poly) -> Poly:
        """p with no root to a power of its degree or more."""
        degrees = p.degrees()
        for i in reversed(range(len(self.atoms))):  # a relation may bring in earlier roots
            atom = self.atoms[i]
            if atom.degree and degrees[2 * SLOTS - 1 - i] >= atom.degree:
                p = divmod(p, atom.relation)[1]
                degrees = p.degrees()
        if len(p) > MAX_TERMS:
            raise Undecided(f"a polynomial of more than {MAX_TERMS} terms.")
        return p

    def times(self, p: Poly, q: Poly) -> Poly:
        """The product, reduced."""
        if len(p) * len(q) > 500 * MAX_TERMS:
            raise Undecided("a product of too many terms.")
        return self.reduced(p * q)

    def raised(self, p: Poly, n: int) -> Poly:
        """A power, reduced."""
        if n > MAX_EXPONENT and not p.is_one():
            raise Undecided(f"a power beyond {MAX_EXPONENT}.")
        result = ONE
        while n:
            if n & 1:
                result = self.times(result, p)
            n >>= 1
            if n:
                p = self.times(p, p)
        return result

    def quotient(self, top: Poly, bottom: Poly) -> Ratio:
        """top / bottom, for a bottom proved to be without zero: free of common factors and, where it can be, of roots below."""
        top, bottom = self.reduced(top), self.reduced(bottom)
        if bottom.is_constant():
            return Ratio(top / bottom.leading_coefficient(), ONE)
        roots = [i for i in reversed(atoms_of(bottom)) if self.atoms[i].degree]
        for i in roots:
            parts = by_power(bottom, i)
            if not parts.keys() - {max(parts)}:  # a factor of the bottom: s**k is rational in the rest
                scale = ATOMS[i] ** (self.atoms[i].degree - max(parts)) if max(parts) else ONE
            elif self.atoms[i].degree == 2 and len(roots) <= 3:
                scale = parts[0] - parts[1] * ATOMS[i]
                if 0 in self.sign(scale):
                    continue
            else:
                continue
            top, bottom = self.times(top, scale), self.times(bottom, scale)
        common = top.gcd(bottom)
        if not common.is_constant():
            top, bottom = top // common, bottom // common
        leading = bottom.leading_coefficient()
        return Ratio(top / leading, bottom / leading)

    def plus(self, *terms: Ratio) -> Ratio:
        """The sum."""
        total = Ratio(NONE, ONE)
        for term in terms:
            if total.den == term.den:
                total = self.quotient(total.num + term.num, term.den)
            else:
                top = self.times(total.num, term.den) + self.times(term.num, total.den)
                total = self.quotient(top, self.times(total.den, term.den))
        return total

    def subtract(self, left: Ratio, right: Ratio) -> Ratio:
        """The difference."""
        return self.plus(left, Ratio(-right.num, right.den))

    def multiply(self, left: Ratio, right: Ratio) -> Ratio:
        """The product of two quotients."""
        return self.quotient(self.times(left.num, right.num), self.times(left.den, right.den))

    def inverse(self, r: Ratio) -> Ratio:
        """One over a quotient that is proved to be without zero."""
        if 0 in self.sign(r.num):
            raise Undecided("a divisor that may be zero.")
        return self.quotient(r.den, r.num)

    def to_power(self, r: Ratio, n: int) -> Ratio:
        """A power with an integer exponent."""
        if n < 0:
            return self.to_power(self.inverse(r), -n)
        return self.quotient(self.raised(r.num, n), self.raised(r.den, n))

    def scaled(self, r: Ratio, factor: Fraction) -> Ratio:
        """A rational multiple."""
        return Ratio(r.num * fmpq(factor.numerator, factor.denominator), r.den)

    def same(self, left: Ratio, right: Ratio) -> bool:
        """Whether two quotients are certainly equal."""
        return left == right or self.is_zero(self.subtract(left, right).num)

    def expr(self, r: Ratio) -> Expr:
        """The expression that a quotient is."""
        return mul(self.poly_expr(r.num), power(self.poly_expr(r.den), num(-1)))

    def poly_expr(self, p: Poly) -> Expr:
        """The expression that a polynomial is."""
        terms: list[Expr] = []
        for monomial, coefficient in p.terms():
            factors = [power(self.atoms[i].expr, num(e)) for i, e in powers_in(monomial)]
            terms.append(mul(Num(fraction(coefficient)), *factors))
        return add(*terms)

    def ball(self, p: Poly) -> arb:
        """The ball of a constant polynomial at the current precision."""
        total = arb(0)
        for monomial, coefficient in p.terms():
            term = arb(coefficient)
            for i, e in powers_in(monomial):
                if (i, ctx.prec) not in self.balls:
                    self.balls[i, ctx.prec] = constant(self.atoms[i].expr)
                term *= self.balls[i, ctx.prec] ** e
            total += term
        return total

    def ratio_sign(self, r: Ratio) -> Sign:
        """The signs that a quotient may have over the domain."""
        return times(self.sign(r.num), self.sign(r.den))

    def sign(self, p: Poly) -> Sign:
        """The signs that p may have over the domain, as far as they are proved."""
        p = self.reduced(p)
        key = terms_of(p)
        if key in self.signs:
            return self.signs[key]
        if self.depth == MAX_DEPTH or self.effort.spent >= self.limit:
            self.cut_short += 1
            return ANY
        self.depth += 1
        before = self.cut_short
        try:
            signs = self._sign(p)
        finally:
            self.depth -= 1
        if self.cut_short == before or len(signs) == 1:
            self.signs[key] = signs  # otherwise more may be found from less deep
        return signs

    def _sign(self, p: Poly) -> Sign:
        if p.is_zero():
            return NULL
        if self.is_constant(p):
            return self.constant_sign(p)
        self.effort.spent += 1
        content, factors = factored(p)
        written: list[Expr] = []
        result: Sign = POSITIVE if content > 0 else NEGATIVE
        for f, e in factors:
            if len(factors) == 1:
                signs, writing = self.effort.factor_sign(self, f)
            else:
                signs, writing = self.sign(f), self.writing(f)
            written.append(power(writing, num(e)))
            result = times(result, signs if e % 2 else times(signs, signs) & AT_LEAST_ZERO)
        self.writings[terms_of(p)] = mul(Num(content), *written)
        return result

    def writing(self, p: Poly) -> Expr:
        """A writing of p in which the signs of parts tell what is known of its sign."""
        p = self.reduced(p)
        found = self.writings.get(terms_of(p))
        return self.poly_expr(p) if found is None else found

    def ratio_writing(self, r: Ratio) -> Expr:
        """The same of a quotient."""
        return mul(self.writing(r.num), power(self.writing(r.den), num(-1)))

    def gap(self, kind: str, *args: Expr) -> Expr:
        """The name of a difference whose sign is known."""
        for name, each in self.gaps.items():
            if each == (kind, args):
                return Sym(name)
        name = f"gap{len(self.gaps)}"
        self.gaps[name] = kind, args
        return Sym(name)

    def constant_sign(self, p: Poly) -> Sign:
        """The sign of a polynomial without parameters."""
        found = sign_of_ball(sharpened(lambda: self.ball(p)))
        if found is None and self.is_zero(p):
            found = 0
        return ANY if found is None else frozenset((found,))

    def is_zero(self, p: Poly) -> bool:
        """Whether p vanishes at all parameter values; False where there is no proof."""
        p = self.reduced(p)
        if p.is_zero():
            return True
        if self.is_constant(p) and not self.ball(p).contains(0):
            return False
        return equal(self.poly_expr(p), ZERO, self.domains)

    def is_constant(self, p: Poly) -> bool:
        """Whether no parameter occurs in p."""
        return all(self.atoms[i].constant for i in atoms_of(p))

    def split(self, p: Poly, inner: Callable[[int], bool]) -> dict[tuple[int, ...], Poly]:
        """The coefficients of p, polynomials in the atoms that `inner` picks, by the monomials in the others."""
        keep = [False] * (2 * SLOTS)
        for i in range(len(self.atoms)):
            keep[2 * SLOTS - 1 - i] = inner(i)
        parts: dict[tuple[int, ...], dict[tuple[int, ...], fmpq]] = {}
        for monomial, coefficient in p.terms():
            outside = tuple(0 if k else e for k, e in zip(keep, monomial, strict=True))
            inside = tuple(e if k else 0 for k, e in zip(keep, monomial, strict=True))
            parts.setdefault(outside, {})[inside] = coefficient
        return {outside: RING.from_dict(part) for outside, part in parts.items()}
