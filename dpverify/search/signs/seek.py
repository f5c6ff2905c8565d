"""Signs of expressions in parameters, found where they are asked for, with the evidence that a certificate carries for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import ceil, floor
from typing import Any, Final, NamedTuple

from dpverify.search.signs.entries import Found, define, known, put, show
from dpverify.search.signs.expressions import ratio
from dpverify.search.signs.field import Effort, Field, Ratio
from dpverify.search.signs.polynomials import NONE, Poly, atoms_of, by_power, factored, fraction
from dpverify.search.signs.positive import factor_sign
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import (
    ZERO,
    Add,
    Call,
    Expr,
    Mul,
    Num,
    Sym,
    add,
    children,
    div,
    format_expr,
    mul,
    neg,
    num,
    sub,
    substitute,
    symbols,
)
from dpverify.trusted.kernel.model import Domain
from dpverify.trusted.kernel.signs import ANY, AT_LEAST_ZERO, AT_MOST_ZERO, NEGATIVE, NULL, POSITIVE, Sign
from dpverify.trusted.language.calls import calls
from dpverify.trusted.language.derivatives import derivative
from dpverify.trusted.order.local import difference
from dpverify.trusted.order.shown_signs import choices

MAX_KINKS: Final = 5
"""How many times a statement is taken apart into cases."""
MOST_VALUES: Final = 24
"""The most integers of a domain that are looked at one by one."""
ROUNDS: Final = 3
"""How many times an expression is written anew where signs that were found change its usual form."""


class Sought(Found):
    """Signs that are looked for where they are asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.stamp = frozenset({"sought"})  # what was not decided where no signs are sought may be here
        self._tried: set[Any] = set()

    def seek(self, left: Expr, right: Expr, domains: Mapping[str, Domain], wanted: Sign) -> bool:
        """Whether right - left was shown to have a sign that is wanted."""
        question = left, right, tuple(domains.items()), wanted
        if question in self._tried:
            return False
        self._tried.add(question)
        with suppress(DpverifyError, RecursionError):
            return self._found(left, right, domains, wanted)
        return False

    def _found(self, left: Expr, right: Expr, domains: Mapping[str, Domain], wanted: Sign) -> bool:
        field = Field(domains, Effort(factor_sign))
        define(left, field)
        define(right, field)
        for _ in range(ROUNDS):
            expr = difference(left, right, domains)
            if known(expr, domains) <= wanted or not _Search(domains, wanted).shows(expr):
                break
        return known(difference(left, right, domains), domains) <= wanted


class _Search:
    def __init__(self, domains: Mapping[str, Domain], wanted: Sign, effort: Effort | None = None, depth: int = 0) -> None:
        self.domains, self.wanted, self.depth = domains, wanted, depth
        self.effort = Effort(factor_sign) if effort is None else effort

    def shows(self, expr: Expr) -> bool:
        """The statement as it stands, or on parts of a domain, or with min, max and abs replaced by what they may be."""
        if known(expr, self.domains) <= self.wanted:
            return True
        question = expr, tuple(self.domains.items()), self.wanted
        if self.depth > MAX_KINKS or not symbols(expr) or question in self.effort.asked:
            return False
        self.effort.asked.add(question)
        with suppress(DpverifyError, RecursionError):
            if self._as_it_stands(expr, Field(self.domains, self.effort)):
                return True
        return self._halves(expr) or self._choices(expr) or self._values(expr)

    def _again(self, expr: Expr, domains: Mapping[str, Domain] | None = None) -> bool:
        return _Search(self.domains if domains is None else domains, self.wanted, self.effort, self.depth + 1).shows(expr)

    def _met(self, signs: Sign) -> bool:
        return signs <= self.wanted

    def _as_it_stands(self, expr: Expr, field: Field) -> bool:
        define(expr, field)
        quotient = ratio(field, expr)
        if self.wanted <= AT_LEAST_ZERO and any(self._without(expr, each, field) for each in _parts(expr, field)):
            return True
        pairs = [(term.factor, term.kink) for term in _parts(expr, field) if len(term.kink.args) == 2]
        if self.wanted == AT_LEAST_ZERO and any(self._mean(expr, *pair, field) for pair in dict.fromkeys(pairs)):
            return True
        if field.is_zero(quotient.num):
            return self._met(show(expr, Num(Fraction(0)), field))
        if self.wanted == NULL:
            return False
        if self._met(field.ratio_sign(quotient)) and self._met(show(expr, field.ratio_writing(quotient), field)):
            return True
        return self._ends(expr, field) or self._above_the_line(expr, quotient, field)

    def _above_the_line(self, expr: Expr, quotient: Ratio, field: Field) -> bool:
        """By what stands above a line, where floors stand below it, which has one sign."""
        below = field.sign(quotient.den)
        if field.is_constant(quotient.den) or not calls(expr, "floor") or below not in (POSITIVE, NEGATIVE):
            return False
        turn = num(1 if below == POSITIVE else -1)
        top = mul(turn, field.poly_expr(quotient.num))
        if not self._again(top):
            return False
        return self._met(show(expr, div(mul(turn, field.gap("as", top)), field.writing(quotient.den)), field))

    def _without(self, expr: Expr, part: Multiple, field: Field) -> bool:
        """By what is less: a kink with a factor replaced by what it is beyond on one side."""
        less = add(expr, neg(mul(part.factor, part.kink)), mul(part.factor, part.instead))
        if not self._again(less):
            return False
        gap = field.gap(*part.gap)
        return self._met(show(expr, add(field.gap("as", less), mul(part.size, gap)), field))

    def _mean(self, expr: Expr, factor: Expr, kink: Call, field: Field) -> bool:
        """A "max" of two is at least, a "min" at most, any c >= 0 whose square is at most, or at least, their product.

        For m = max(a, b), m^2 - a b is m (m - a) + a (m - b); for m = min(a, b), a b - m^2 is m (b - m) + b (a - m).
        """
        (a, b), most, sign = kink.args, kink.name == "max", num(1 if kink.name == "max" else -1)
        c = neg(div(add(expr, neg(mul(factor, kink))), factor))
        beyond = mul(sign, sub(mul(a, b), mul(c, c)))
        for positive, wanted in ((a, POSITIVE), (b, POSITIVE), (c, AT_LEAST_ZERO), (beyond, AT_LEAST_ZERO)):
            if not _Search(self.domains, wanted, self.effort, self.depth + 1).shows(positive):
                return False
        first, second = (field.gap(kink.name, part, kink) for part in (a, b))
        square = add(field.gap("as", beyond), mul(kink, first if most else second), mul(a, second) if most else mul(b, first))
        return self._met(show(expr, div(mul(sign, factor, square), add(kink, field.gap("as", c))), field))

    def _ends(self, expr: Expr, field: Field) -> bool:
        """By the ends of an interval on which it is concave."""
        if len(symbols(expr)) != 1 or not self.wanted <= AT_LEAST_ZERO:
            return False
        (name,) = symbols(expr)
        d = self.domains[name]
        if d.lower is None or d.upper is None:
            return False
        whole = Field({name: replace(d, integer=False)}, self.effort)
        bend = derivative(derivative(expr, name), name)
        found = ratio(whole, bend)
        if not known(bend, whole.domains) <= AT_MOST_ZERO:
            if not whole.ratio_sign(found) <= AT_MOST_ZERO:
                return False
            show(bend, whole.ratio_writing(found), whole)
        return self._met(put(expr, self.domains, {"ends": True}))

    def _halves(self, expr: Expr) -> bool:
        """On both sides of where the arguments of a kink change their order."""
        for name, cut in dict.fromkeys(crossing for kink in _kinks(expr) for crossing in self._crossings(kink)):
            whole = self.domains[name]
            halves = (replace(whole, lower=cut, lower_open=False), replace(whole, upper=cut, upper_open=False))
            if all(self._again(expr, {**self.domains, name: half}) for half in halves):
                return self._met(put(expr, self.domains, {"split": [name, [str(cut)]]}))
        return False

    def _crossings(self, kink: Call) -> Iterator[tuple[str, Fraction]]:
        """Parameters with rational values inside their domains at which two arguments of a kink are equal; an abs is of what may be 0."""
        field = Field(self.domains, self.effort)
        for a, b in [(kink.args[0], ZERO)] if kink.name == "abs" else combinations(kink.args, 2):
            with suppress(DpverifyError):
                for factor, _ in factored(ratio(field, sub(a, b)).num)[1]:
                    atoms = [field.atoms[i] for i in atoms_of(factor)]
                    if len(atoms) == 1 and isinstance(atoms[0].expr, Sym) and factor.total_degree() == 1:
                        parts = by_power(factor, field.atoms.index(atoms[0]))
                        cut = -_rational(parts.get(0, NONE)) / _rational(parts[1])
                        if _is_inside(cut, self.domains[atoms[0].expr.name]):
                            yield atoms[0].expr.name, cut

    def _choices(self, expr: Expr) -> bool:
        for kink in _kinks(expr):
            if kink.name == "abs" and known(kink.args[0], self.domains) != ANY:
                continue  # it is decided
            if kink.name == "abs" and self._decided(kink.args[0]):
                return known(expr, self.domains) <= self.wanted or self._as_it_stands(expr, Field(self.domains, self.effort))
            if all(map(self._again, choices(expr, kink))):
                return self._met(put(expr, self.domains, {"kink": format_expr(kink)}))
        return False

    def _decided(self, inside: Expr) -> bool:
        """Whether one sign of what an abs is of was shown."""
        return any(_Search(self.domains, side, self.effort, self.depth + 1).shows(inside) for side in (AT_LEAST_ZERO, AT_MOST_ZERO))

    def _values(self, expr: Expr) -> bool:
        for name in sorted(symbols(expr)):
            values = _few(self.domains[name])
            if values and all(self._again(substitute(expr, {name: Num(value)})) for value in values):
                cuts = [str(value + Fraction(1, 2)) for value in values[:-1]]
                return self._met(put(expr, self.domains, {"split": [name, cuts]}))
        return False


class Multiple(NamedTuple):
    """A kink with a factor in a sum, which is no less with something instead of the kink: by a gap of a factor's size."""

    factor: Expr
    kink: Call
    instead: Expr
    size: Expr
    gap: tuple[Any, ...]


def _parts(expr: Expr, field: Field) -> Iterator[Multiple]:
    """Multiples of a "max" with a factor that is at least 0, of a "min" with one that is at most 0, and of a "floor"."""
    for term in expr.args if isinstance(expr, Add) else (expr,):
        factors = term.args if isinstance(term, Mul) else (term,)
        for place, kink in enumerate(factors):
            if not isinstance(kink, Call) or kink.name not in ("min", "max", "floor"):
                continue
            factor = mul(*factors[:place], *factors[place + 1 :])
            signs = field.ratio_sign(ratio(field, factor))
            if kink.name != "min" and signs <= AT_LEAST_ZERO:
                low = [sub(arg, num(1)) for arg in kink.args] if kink.name == "floor" else kink.args
                yield from (Multiple(factor, kink, each, factor, _gap(kink, each)) for each in low)
            elif kink.name != "max" and signs <= AT_MOST_ZERO:
                yield from (Multiple(factor, kink, each, neg(factor), _gap(kink, each)) for each in kink.args)


def _gap(kink: Call, instead: Expr) -> tuple[Any, ...]:
    """The gap between a kink and what it is beyond."""
    if kink.name != "floor":
        return kink.name, instead, kink
    return ("floor" if instead == kink.args[0] else "above floor"), kink.args[0]


def _few(d: Domain) -> list[Fraction]:
    """All values of a domain that has few; nothing where it has many."""
    if not d.integer or d.lower is None or d.upper is None or d.upper - d.lower > MOST_VALUES:
        return []
    return [Fraction(n) for n in range(ceil(d.lower), floor(d.upper) + 1) if d.holds(Fraction(n))]


def _rational(p: Poly) -> Fraction:
    """The value of a polynomial without atoms."""
    return Fraction(0) if p.is_zero() else fraction(p.leading_coefficient())


def _is_inside(value: Fraction, d: Domain) -> bool:
    """Whether a domain goes on to both sides of a value."""
    return (d.lower is None or d.lower < value) and (d.upper is None or d.upper > value)


def _kinks(expr: Expr) -> Iterator[Call]:
    for part in children(expr):
        yield from _kinks(part)
    if isinstance(expr, Call) and expr.name in ("min", "max", "abs") and symbols(expr):
        yield expr
