"""One form in which equal expressions meet: quotients of sums of products of rational powers of atoms (theory#shown-signs).

Atoms are parameters, primes under roots, sums under roots, absolute values, logarithms, exponentials, and functions that are taken as they
are. What is rewritten has the same value wherever the expression has one. Nothing is factored and no sign is searched for: what the signs
of parts do not tell stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import gcd, lcm, prod
from typing import Final

from flint import arb, ctx, fmpz

from dpverify.trusted.kernel.balls import ball_power, constant
from dpverify.trusted.kernel.errors import DpverifyError, Undecided, require
from dpverify.trusted.kernel.expr import Add, Call, Expr, Mul, Num, Pow, Sym, add, call, mul, num, power
from dpverify.trusted.kernel.model import Domain
from dpverify.trusted.kernel.signs import ANY, AT_LEAST_ZERO, AT_MOST_ZERO, NEGATIVE, POSITIVE, Sign
from dpverify.trusted.order.domains import closed
from dpverify.trusted.order.local import sign_of

MAX_TERMS: Final = 600
"""The longest sum that is worked with."""
MAX_PAIRS: Final = 20_000
"""The most pairs of terms that a product may have."""
MAX_EXPONENT: Final = 2_000
"""The highest power of a sum that is multiplied out."""
MAX_BITS: Final = 100_000
"""The longest rational that is written out."""
MAX_ZERO_BITS: Final = 200_000
"""The widest separation bound that is evaluated."""

Monomial = tuple[tuple[int, Fraction], ...]
"""Atoms by number, each with its exponent, in the order of their numbers."""
Poly = Mapping[Monomial, Fraction]
"""A sum of monomials with their coefficients, none of them 0."""

NONE: Final[Poly] = {}
ONE: Final[Poly] = {(): Fraction(1)}


@dataclass(frozen=True, slots=True)
class Quotient:
    """top / bottom; a bottom of one term is 1."""

    top: Poly
    bottom: Poly


@dataclass(frozen=True, slots=True)
class Atom:
    """What is not taken apart. kind: "parameter", "prime", "sum", "abs", "log", "exp", or the name of a function; inside: its arguments.

    algebraic: whether it is made of rationals and their roots alone.
    """

    kind: str
    expr: Expr
    inside: tuple[Quotient, ...] = ()
    algebraic: bool = False


UNIT: Final = Quotient(ONE, ONE)


def plain(value: Fraction) -> Quotient:
    """A rational."""
    return Quotient({(): value} if value else NONE, ONE)


class Forms:
    """The forms of expressions over the domains of their parameters. Methods raise Undecided where a sum grows too long."""

    def __init__(self, domains: Mapping[str, Domain]) -> None:
        self.domains = domains
        self.atoms: list[Atom] = []
        self.seen: dict[Expr, Quotient] = {}

    # sums

    def plus(self, *terms: Poly) -> Poly:
        """The sum."""
        total: dict[Monomial, Fraction] = {}
        for term in terms:
            for monomial, c in term.items():
                total[monomial] = total.get(monomial, Fraction(0)) + c
        require(len(total) <= MAX_TERMS, Undecided(f"a sum of more than {MAX_TERMS} terms."))
        return {monomial: c for monomial, c in total.items() if c}

    def times(self, p: Poly, q: Poly) -> Poly:
        """The product."""
        require(len(p) * len(q) <= MAX_PAIRS, Undecided("a product of too many terms."))
        return self.plus(*(scaled(self._product(m, n), c * d) for m, c in p.items() for n, d in q.items()))

    def raised(self, p: Poly, n: int) -> Poly:
        """A power with an exponent that is at least 0."""
        if len(p) == 1:
            ((monomial, c),) = p.items()
            return scaled(self._settled({i: e * n for i, e in monomial}), whole_power(c, n))
        require(n <= MAX_EXPONENT, Undecided(f"a power beyond {MAX_EXPONENT}."))
        result = ONE
        while n:
            if n & 1:
                result = self.times(result, p)
            n >>= 1
            p = self.times(p, p) if n else p
        return result

    def _product(self, m: Monomial, n: Monomial) -> Poly:
        exponents = dict(m)
        for i, e in n:
            exponents[i] = exponents.get(i, Fraction(0)) + e
        return self._settled(exponents)

    def _settled(self, exponents: Mapping[int, Fraction]) -> Poly:
        """A product of powers, with whole powers of what stands under roots, and even powers of absolute values, multiplied out."""
        kept: list[tuple[int, Fraction]] = []
        factor, out = Fraction(1), list[Poly]()
        for i, e in sorted(exponents.items()):
            atom = self.atoms[i]
            period = {"prime": 1, "sum": 1, "abs": 2}.get(atom.kind)
            if period is not None:
                whole = e // period * period
                e -= whole
                if whole and isinstance(atom.expr, Num):
                    factor *= whole_power(atom.expr.value, int(whole))
                elif whole:
                    out.append(self.raised(atom.inside[0].top, int(whole)))
            if e:
                kept.append((i, e))
        return reduce(self.times, out, {tuple(kept): factor})

    # quotients

    def quotient(self, top: Poly, bottom: Poly) -> Quotient:
        """top / bottom, for a bottom that is not 0 where the expression has a value."""
        if len(bottom) != 1:
            lead = 1 / bottom[min(bottom)]
            return Quotient(scaled(top, lead), scaled(bottom, lead))
        ((monomial, c),) = bottom.items()
        below = ONE
        for i, e in monomial:
            atom = self.atoms[i]
            period = {"prime": 1, "sum": 1, "abs": 2}.get(atom.kind)
            if period is None or atom.kind == "prime":
                top = self.times(top, self._settled({i: -e}))
            else:  # 1/s is s^(period - 1) over what s^period is
                top = self.times(top, self._settled({i: period - e}))
                below = self.times(below, self.raised(atom.inside[0].top, period))
        top = scaled(top, 1 / c)
        return Quotient(top, ONE) if below == ONE else self.quotient(top, below)

    def sum(self, *terms: Quotient) -> Quotient:
        """The sum of quotients."""
        total = plain(Fraction(0))
        for term in terms:
            if total.bottom == term.bottom:
                total = Quotient(self.plus(total.top, term.top), total.bottom)
            else:
                top = self.plus(self.times(total.top, term.bottom), self.times(term.top, total.bottom))
                total = self.quotient(top, self.times(total.bottom, term.bottom))
        return total

    def product(self, left: Quotient, right: Quotient) -> Quotient:
        """The product of two quotients."""
        if left.bottom == right.top:
            return Quotient(left.top, right.bottom)
        if left.top == right.bottom:
            return Quotient(right.top, left.bottom)
        return self.quotient(self.times(left.top, right.top), self.times(left.bottom, right.bottom))

    def negative(self, q: Quotient) -> Quotient:
        return Quotient(scaled(q.top, Fraction(-1)), q.bottom)

    def inverse(self, q: Quotient) -> Quotient:
        """1 / q."""
        require(bool(q.top), Undecided("a divisor that is zero."))
        return self.quotient(q.bottom, q.top)

    def power(self, q: Quotient, e: Fraction) -> Quotient:
        """q ** e."""
        if e < 0:
            return self.inverse(self.power(q, -e))
        if e.denominator == 1:
            return self.quotient(self.raised(q.top, int(e)), self.raised(q.bottom, int(e)))
        if not q.top:
            return q
        top, bottom = self._of_one_sign(q)
        return self.product(self._root(top, e), self.inverse(self._root(bottom, e)))

    def _of_one_sign(self, q: Quotient) -> tuple[Poly, Poly]:
        """The top and the bottom of a quotient that is at least 0, both at least 0."""
        below = self.sign(self.tree(q.bottom))
        require(below in (POSITIVE, NEGATIVE), Undecided("a denominator of unknown sign under a root or a logarithm."))
        side = Fraction(min(below))
        return scaled(q.top, side), scaled(q.bottom, side)

    def _root(self, p: Poly, e: Fraction) -> Quotient:
        """p ** e for p >= 0 and a part e of 1 or more."""
        content, common, rest = self._apart(p, AT_LEAST_ZERO)
        found = self._settled({i: x * e for i, x in common})
        if rest != ONE:
            whole, part = divmod(e, 1)
            under = self._atom("sum", (Quotient(rest, ONE),), self.tree(rest))
            found = self.times(self.times(found, self.raised(rest, int(whole))), self._settled({under: part}))
        for prime, times in prime_powers(content).items():
            under = self._atom("prime", (), num(prime))
            found = self.times(found, self._settled({under: times * e}))
        return self.quotient(found, ONE)

    def _apart(self, p: Poly, wanted: Sign) -> tuple[Fraction, Monomial, Poly]:
        """p as a positive rational, powers of atoms of wanted signs (even powers as absolute values), and what is left."""
        content = Fraction(gcd(*(c.numerator for c in p.values())), lcm(*(c.denominator for c in p.values())))
        common: dict[int, Fraction] = {}
        rest: Poly = {monomial: c / content for monomial, c in p.items()}
        for i in sorted(atoms_of(p)):
            least = min(dict(monomial).get(i, Fraction(0)) for monomial in p)
            atom, out = self.atoms[i], i
            if least and not self.sign(atom.expr) <= wanted:
                if atom.kind != "parameter" or wanted == POSITIVE or least.denominator > 1:
                    continue
                least = Fraction(least // 2 * 2)
                out = self._atom("abs", (Quotient({((i, Fraction(1)),): Fraction(1)}, ONE),), call("abs", atom.expr))
            if least:
                common[out] = least
                rest = self.times(rest, {((i, -least),): Fraction(1)})
        if rest.keys() == {()} and rest[()] > 0:
            return content * rest[()], tuple(sorted(common.items())), ONE
        return content, tuple(sorted(common.items())), rest

    # functions

    def log(self, q: Quotient) -> Quotient:
        """log(q) for q > 0."""
        try:
            top, bottom = self._of_one_sign(q)
        except Undecided:
            return self._single(self._atom("log", (q,), call("log", mul(self.tree(q.top), power(self.tree(q.bottom), num(-1))))))
        return self.sum(self._log(top), self.negative(self._log(bottom)))

    def _log(self, p: Poly) -> Quotient:
        content, common, rest = self._apart(p, POSITIVE)
        parts = [self._times_plain(self._log_atom(i), e) for i, e in common]
        parts += [self._log_of(num(prime), plain(Fraction(prime)), Fraction(e)) for prime, e in prime_powers(content).items()]
        if rest != ONE:
            parts.append(self._log_of(self.tree(rest), Quotient(rest, ONE), Fraction(1)))
        return self.sum(*parts)

    def _log_of(self, expr: Expr, inside: Quotient, factor: Fraction) -> Quotient:
        return self._times_plain(self._single(self._atom("log", (inside,), call("log", expr))), factor)

    def _log_atom(self, i: int) -> Quotient:
        atom = self.atoms[i]
        if atom.kind == "exp":
            return atom.inside[0]
        if atom.kind == "sum":
            return self._log(atom.inside[0].top)
        return self._log_of(atom.expr, self._single(i), Fraction(1))

    def exp(self, q: Quotient) -> Quotient:
        """exp(q): the product over the terms of q, each to its coefficient; of a multiple of a logarithm a power."""
        result = UNIT
        for monomial, c in q.top.items():
            unit = Quotient({monomial: Fraction(1)}, q.bottom)
            if q.bottom == ONE and len(monomial) == 1 and monomial[0][1] == 1 and self.atoms[monomial[0][0]].kind == "log":
                part = self.power(self.atoms[monomial[0][0]].inside[0], c)
            else:
                inside = mul(self.tree(unit.top), power(self.tree(unit.bottom), num(-1)))
                part = Quotient(self._settled({self._atom("exp", (unit,), call("exp", inside)): c}), ONE)
            result = self.product(result, part)
        return result

    def absolute(self, q: Quotient) -> Quotient:
        """abs(q): decided where the sign is told by parts."""
        parts = []
        for p in (q.top, q.bottom):
            signs = self.sign(self.tree(p))
            if signs <= AT_LEAST_ZERO or signs <= AT_MOST_ZERO:
                parts.append(Quotient(p if signs <= AT_LEAST_ZERO else scaled(p, Fraction(-1)), ONE))
                continue
            found = UNIT
            content, common, rest = self._apart(p, frozenset((-1, 0, 1)))
            for i, e in common:
                known = self.sign(self.atoms[i].expr) <= AT_LEAST_ZERO
                mine = i if known else self._absolute(self._single(i).top)
                found = self.product(found, self.power(self._single(mine), e))
            found = self._times_plain(found, content)
            if rest != ONE:
                turned = scaled(rest, Fraction(-1)) if rest[min(rest)] < 0 else rest
                found = self.product(found, UNIT if turned == ONE else self._single(self._absolute(turned)))
            parts.append(found)
        return self.product(parts[0], self.inverse(parts[1]))

    def _absolute(self, p: Poly) -> int:
        return self._atom("abs", (Quotient(p, ONE),), call("abs", self.tree(p)))

    def of(self, expr: Expr) -> Quotient:
        """The form of an expression."""
        if expr not in self.seen:
            self.seen[expr] = self._of(expr)
        return self.seen[expr]

    def _of(self, expr: Expr) -> Quotient:
        if isinstance(expr, Num):
            return plain(expr.value)
        if isinstance(expr, Sym):
            domain = closed(self.domains[expr.name])
            if domain.lower is not None and domain.lower == domain.upper:
                return plain(domain.lower)
            return self._single(self._atom("parameter", (), expr))
        if isinstance(expr, Add):
            return self.sum(*map(self.of, expr.args))
        if isinstance(expr, Mul):
            return reduce(self.product, map(self.of, expr.args))
        if isinstance(expr, Pow):
            if isinstance(expr.exponent, Num):
                return self._power_tree(expr.base, expr.exponent.value)
            return self.exp(self.product(self.of(expr.exponent), self._log_tree(expr.base)))
        return self._call(expr)

    def _power_tree(self, base: Expr, e: Fraction) -> Quotient:
        """base ** e; a root of a power is a power of the absolute value."""
        if isinstance(base, Pow) and isinstance(base.exponent, Num) and e.denominator > 1:
            return self.power(self.absolute(self.of(base.base)), base.exponent.value * e)
        return self.power(self.of(base), e)

    def _log_tree(self, expr: Expr) -> Quotient:
        """log(expr), taken apart by the tree first, so that high powers are never multiplied out."""
        if isinstance(expr, Mul) and all(self.sign(arg) == POSITIVE for arg in expr.args):
            return self.sum(*map(self._log_tree, expr.args))
        if isinstance(expr, Pow) and self.sign(expr.base) == POSITIVE:
            return self.product(self.of(expr.exponent), self._log_tree(expr.base))
        if isinstance(expr, Call) and expr.name == "exp":
            return self.of(expr.args[0])
        return self.log(self.of(expr))

    def _call(self, expr: Call) -> Quotient:
        name = expr.name
        if name == "log":
            return self._log_tree(expr.args[0])
        args = [self.of(arg) for arg in expr.args]
        if name == "exp":
            return self.exp(args[0])
        if name == "abs":
            return self.absolute(args[0])
        if name in ("min", "max"):
            return reduce(lambda a, b: self._extreme(a, b, Fraction(1 if name == "max" else -1)), args)
        if name in ("cosh", "sinh", "tanh"):
            up = self.exp(args[0])
            even, odd = self.sum(up, self.inverse(up)), self.sum(up, self.negative(self.inverse(up)))
            return self.product(odd, self.inverse(even)) if name == "tanh" else self._times_plain(even if name == "cosh" else odd, HALF)
        if name == "asinh":
            return self.log(self.sum(args[0], self.power(self.sum(self.product(args[0], args[0]), UNIT), HALF)))
        if name == "atanh":
            over, under = self.sum(UNIT, args[0]), self.sum(UNIT, self.negative(args[0]))
            return self._times_plain(self.log(self.product(over, self.inverse(under))), HALF)
        if name == "logexprel" and 0 not in self.sign(expr.args[0]):
            above = self.sum(self.exp(args[0]), plain(Fraction(-1)))
            return self.log(self.product(above, self.inverse(args[0])))
        if name == "erf":
            return self.sum(UNIT, self.negative(self._opaque("erfc", args, expr.args)))
        if name in ("logerfc", "logbesselk"):
            return self.log(self._opaque(name[3:], args, expr.args))
        return self._opaque(name, args, expr.args)

    def _extreme(self, a: Quotient, b: Quotient, side: Fraction) -> Quotient:
        gap = self.absolute(self.sum(a, self.negative(b)))
        return self._times_plain(self.sum(a, b, self._times_plain(gap, side)), HALF)

    def _opaque(self, name: str, args: Sequence[Quotient], trees: Sequence[Expr]) -> Quotient:
        return self._single(self._atom(name, tuple(args), Call(name, tuple(trees))))

    # atoms

    def _atom(self, kind: str, inside: tuple[Quotient, ...], expr: Expr) -> int:
        """The number of an atom; equal arguments give the same."""
        for i, atom in enumerate(self.atoms):
            alike = atom.kind == kind and len(atom.inside) == len(inside)
            if alike and (all(map(self.same, atom.inside, inside)) if inside else atom.expr == expr):
                return i
        roots = kind == "prime" or (kind == "sum" and all(self.atoms[i].algebraic for i in atoms_of(inside[0].top)))
        self.atoms.append(Atom(kind, expr, inside, roots))
        return len(self.atoms) - 1

    def _single(self, i: int) -> Quotient:
        return Quotient({((i, Fraction(1)),): Fraction(1)}, ONE)

    def _times_plain(self, q: Quotient, factor: Fraction) -> Quotient:
        return Quotient(scaled(q.top, factor), q.bottom)

    def tree(self, p: Poly) -> Expr:
        """The expression that a sum is."""
        return add(*(mul(Num(c), *(power(self.atoms[i].expr, Num(e)) for i, e in monomial)) for monomial, c in p.items()))

    def sign(self, expr: Expr) -> Sign:
        """The signs that parts tell."""
        try:
            return sign_of(expr, self.domains)
        except DpverifyError:
            return ANY

    # zero

    def same(self, left: Quotient, right: Quotient) -> bool:
        """Whether two quotients are certainly equal where both have values."""
        return left == right or self.vanishes(self.sum(left, self.negative(right)).top)

    def vanishes(self, p: Poly) -> bool:
        """Whether a sum is certainly 0: as it stands, or since products under its logarithms are 1."""
        return self._algebraic(p) or self._by_logarithms(p)

    def _by_logarithms(self, p: Poly) -> bool:
        rest: dict[Monomial, Fraction] = {}
        products: dict[Monomial, dict[int, Fraction]] = {}
        for monomial, c in p.items():
            logs = [(i, e) for i, e in monomial if self.atoms[i].kind == "log"]
            if not logs:
                rest[monomial] = c
            elif len(logs) == 1 and logs[0][1] == 1:
                products.setdefault(tuple(each for each in monomial if each not in logs), {})[logs[0][0]] = c
            else:
                return False
        if not products:
            return False
        whole = self.exp(Quotient(rest, ONE))
        alone = len(products) == 1
        for outside, exponents in products.items():
            times = Fraction(lcm(*(c.denominator for c in exponents.values())))
            above, below = (self.power(whole, times), UNIT) if alone and not outside else (UNIT, UNIT)
            if not (alone and not outside):
                above = self.exp(plain(times * rest.pop(outside, Fraction(0))))
            for i, c in exponents.items():
                factor = self.power(self.atoms[i].inside[0], abs(c) * times)
                above, below = (self.product(above, factor), below) if c > 0 else (above, self.product(below, factor))
            if not self._algebraic(self.sum(above, self.negative(below)).top):
                return False
        return (alone and () in products) or not rest

    def _algebraic(self, p: Poly) -> bool:
        """Whether a sum is 0 for independent values of all atoms but the real roots of integers."""
        parts: dict[Monomial, dict[Monomial, Fraction]] = {}
        for monomial, c in p.items():
            outside = tuple(each for each in monomial if not self.atoms[each[0]].algebraic)
            parts.setdefault(outside, {})[tuple(each for each in monomial if each not in outside)] = c
        return all(map(self._algebraic_zero, parts.values()))

    def _algebraic_zero(self, p: Poly) -> bool:
        """Whether a sum of products of nested real roots of integers is zero, by a constructive zero bound.

        Let E be p times its common denominator. Radicands are sums with integer coefficients, so E is an algebraic integer, in a field
        of degree at most D, the product of the degrees of all roots that occur. An embedding of that field sends a root of R to some
        k-th root of the image of R; hence every conjugate of E is at most u in size, where u is p's value with all coefficients replaced
        by their sizes and all roots by roots of the same bound. The product of E's conjugates is an integer. If it is not 0 then
        |E| >= u**-(D-1). This is the division-free case of Burnikel, Funke, Mehlhorn, Schirra, Schmitt, A separation bound for real
        algebraic expressions, Algorithmica 55 (2009), Theorem 1 (there l = 1).
        """
        if len(p) == 1:
            return False  # roots of nonzero numbers are not zero
        whole = scaled(p, Fraction(lcm(*(c.denominator for c in p.values()))))
        if not self.ball(whole).contains(0):
            return False
        degrees: dict[int, int] = {}
        size = self._conjugates(whole, degrees).bit_length()
        bits = (prod(degrees.values()) - 1) * size
        if bits > MAX_ZERO_BITS:
            return False
        with ctx.workprec(bits + 2 * size + 64):
            return bool(abs(self.ball(whole)) < arb(fmpz(2)) ** (-bits))

    def _conjugates(self, p: Poly, degrees: dict[int, int]) -> int:
        """An integer of at least 1 that no conjugate of a sum with integer coefficients exceeds. degrees: of the roots that were met."""
        total = 0
        for monomial, c in p.items():
            term = abs(int(c))
            for i, e in monomial:
                atom = self.atoms[i]
                degrees[i] = lcm(degrees.get(i, 1), e.denominator)
                under = int(atom.expr.value) if isinstance(atom.expr, Num) else self._conjugates(atom.inside[0].top, degrees)
                term *= (int(fmpz(under).root(e.denominator)) + 1) ** e.numerator
            total += term
        return max(total, 1)

    def ball(self, p: Poly) -> arb:
        """The ball of a constant sum at the current precision."""
        total = arb(0)
        for monomial, c in p.items():
            term = constant(Num(c))
            for i, e in monomial:
                term *= ball_power(constant(self.atoms[i].expr), e)
            total += term
        return total


HALF: Final = Fraction(1, 2)


def scaled(p: Poly, factor: Fraction) -> Poly:
    """A rational multiple that is not 0."""
    return p if factor == 1 else {monomial: c * factor for monomial, c in p.items()}


def whole_power(value: Fraction, n: int) -> Fraction:
    """A power of a rational. Raises Undecided where it is too large to be written out."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) * abs(n) > MAX_BITS and abs(value) != 1:
        raise Undecided("a number too large to be written out.")
    return Fraction(value**n)


def atoms_of(p: Poly) -> set[int]:
    """The atoms that occur in a sum."""
    return {i for monomial in p for i, _ in monomial}


def prime_powers(value: Fraction) -> dict[int, int]:
    """Coprime integers and exponents whose product is the positive rational: its small primes, and what is left."""
    powers: dict[int, int] = {}
    for part, direction in ((value.numerator, 1), (value.denominator, -1)):
        if part > 1:
            for prime, e in fmpz(part).factor_smooth(16):
                powers[int(prime)] = direction * int(e)
    return powers


def vanishes(expr: Expr) -> bool:
    """Whether a constant that has a value is certainly 0."""
    try:
        forms = Forms({})
        return forms.vanishes(forms.of(expr).top)
    except (DpverifyError, RecursionError):
        return False


def equal(left: Expr, right: Expr, domains: Mapping[str, Domain]) -> bool:
    """Whether two expressions are certainly equal at all parameters at which both have values."""
    try:
        forms = Forms(domains)
        return forms.same(forms.of(left), forms.of(right))
    except (DpverifyError, RecursionError):
        return False
