"""Order and equality of closed forms: of constants exactly, of parametric expressions over domains.

Every answer is one-sided: True is a proof, False only says that none was found. Nothing here is
a tolerance. Three layers carry the proofs:

1. Balls. A constant whose ball excludes zero has the sign of the ball.
2. A field. An expression becomes a quotient of polynomials with rational coefficients in atoms:
   parameters, real roots (s**k = radicand, kept reduced), logarithms, exponentials, and functions
   taken as opaque. An expression is rewritten only where it is proved to be defined. A polynomial in
   real roots of integers vanishes if it is below its separation bound (`_Field._algebraic_zero`); a
   sum of logarithms vanishes if the product of the arguments, to the powers given, is one.
3. Signs. A polynomial in atoms of known range is positive if the coefficients are, after each atom is
   measured from the ends of its range (Bernstein's basis on a bounded one); roots are removed by
   conjugation, logarithms by their rational bounds or by exponentiation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import islice, product
from math import ceil, floor, gcd, lcm, prod
from typing import Any, Final, NamedTuple

from flint import arb, ctx, fmpq, fmpq_mpoly_ctx, fmpz

from dpverify.trusted.language.errors import DpverifyError, Undecided
from dpverify.trusted.language.expr import (
    Add,
    Call,
    Expr,
    Mul,
    Num,
    Pow,
    Sym,
    add,
    call,
    children,
    mul,
    neg,
    num,
    power,
    rebuild,
    sub,
    substitute,
    symbols,
)
from dpverify.trusted.language.model import Domain
from dpverify.trusted.numbers.balls import constant, precision

PRECISIONS: Final = (64, 128, 256, 512, 1024, 2048, 4096)
EXACT_FROM: Final = 512
"""Bits at which a difference that still straddles zero is tried for an exact proof of equality."""
MAX_ZERO_BITS: Final = 200_000
"""The widest separation bound that is evaluated."""
MAX_TERMS: Final = 600
"""The longest polynomial that is worked with; one half as long is no longer factored."""
MAX_EXPONENT: Final = 2_000
MAX_BINARY_EXPONENT: Final = 1_000_000
"""The largest power of two that is written out as a decimal."""
MAX_DEPTH: Final = 5
"""How deep the methods of `_Field.sign` may call each other."""
MAX_EFFORT: Final = 200
"""How many signs of polynomials one form of a statement may ask for."""
MAX_TOTAL_EFFORT: Final = 800
"""How many all forms of it may ask for together."""
MAX_KINKS: Final = 5
"""How many times a statement is taken apart into cases."""
MAX_DEGREE: Final = 40
"""The highest power of an atom that is expanded about the end of its range."""
MAX_FACTORED: Final = 80
"""The highest power of an atom in a polynomial that is factored."""

Poly = Any
"""A flint fmpq_mpoly of the one ring `_RING`."""
Sign = frozenset[int]
"""The signs that a quantity may have over the whole domain, a subset of {-1, 0, 1}."""

POSITIVE: Final[Sign] = frozenset((1,))
NEGATIVE: Final[Sign] = frozenset((-1,))
NULL: Final[Sign] = frozenset((0,))
AT_LEAST_ZERO: Final[Sign] = frozenset((0, 1))
AT_MOST_ZERO: Final[Sign] = frozenset((-1, 0))
ANY: Final[Sign] = frozenset((-1, 0, 1))

# Atom i is the i-th generator from the end, so that later atoms are greater in the lexicographic
# order and a root's relation rewrites it by earlier ones. The first half of the generators serves
# as second coordinate of atoms with a bounded range.
_SLOTS: Final = 32
_RING: Final = fmpq_mpoly_ctx.get([f"x{i}" for i in range(2 * _SLOTS)], "lex")
_ATOMS: Final = tuple(reversed(_RING.gens()))
_ONE: Final = _RING.constant(1)
_NONE: Final = _RING.constant(0)


# -- constants -------------------------------------------------------------------------------------


def enclose(expr: Expr, prec: int = 128) -> arb:
    """A ball that contains the constant `expr`, computed with `prec` bits. Raises Undecided where it is not finite."""
    with precision(prec):
        ball = constant(expr)
    if not ball.is_finite():
        raise Undecided(f"no finite enclosure at {prec} bits: the constant is undefined, or needs more precision.")
    return ball


def sign(expr: Expr) -> int | None:
    """The sign of a constant, -1, 0 or 1, proved; None where it is undecided or the constant undefined."""
    for bits in PRECISIONS:
        with precision(bits):
            ball = constant(expr)
        if ball > 0:
            return 1
        if ball < 0:
            return -1
        if bits == EXACT_FROM and ball.is_finite() and _vanishes(expr):
            return 0
    return None


def decimal_bounds(expr: Expr, digits: int) -> tuple[str, str]:
    """Two decimals of `digits` significant digits, rounded outward, that enclose the constant.

    Raises Undecided where no finite enclosure is found, ValueError for fewer than one digit.
    """
    if digits < 1:
        raise ValueError(f"{digits} digits; at least one is needed.")
    if isinstance(expr, Num):
        return _decimal(expr.value, digits, floor), _decimal(expr.value, digits, ceil)
    if sign(expr) == 0:
        return "0", "0"
    bits = 64 + 4 * digits
    for prec in (bits, 2 * bits, 4 * bits, 4096 + bits):
        with precision(prec):
            ball = constant(expr)
        if ball.is_finite() and (prec > 4096 or ball.rel_accuracy_bits() > 4 * digits):
            break
    else:
        raise Undecided("no finite enclosure of the constant: it is undefined, or needs more precision.")
    middle, radius = _exact(ball.mid()), _exact(ball.rad())
    low, high = middle - radius, middle + radius
    return _decimal(low, digits, floor), _decimal(high, digits, ceil)


def _exact(point: arb) -> Fraction:
    mantissa, exponent = point.man_exp()
    if abs(exponent) > MAX_BINARY_EXPONENT:
        raise Undecided("a number too large or too small to write as a decimal.")
    return int(mantissa) * Fraction(2) ** int(exponent)


def _decimal(value: Fraction, digits: int, rounding: Callable[[Fraction], int]) -> str:
    """`value` rounded to significant digits in the direction of `rounding`, in the language of expressions."""
    if value == 0:
        return "0"
    size = abs(value)
    exponent = len(str(size.numerator)) - len(str(size.denominator))  # of the leading digit, or one too many
    if size < Fraction(10) ** exponent:
        exponent -= 1
    units = rounding(value / Fraction(10) ** (exponent - digits + 1))
    if abs(units) == 10**digits:
        units, exponent = units // 10, exponent + 1
    minus, text = "-" if units < 0 else "", str(abs(units))
    if -5 <= exponent < 0:
        return f"{minus}0.{'0' * (-exponent - 1)}{text}"
    if 0 <= exponent < digits:
        return f"{minus}{text[: exponent + 1]}" + (f".{text[exponent + 1 :]}" if exponent + 1 < digits else "")
    return f"{minus}{text[0]}" + (f".{text[1:]}" if digits > 1 else "") + f"e{exponent}"


# -- comparisons -----------------------------------------------------------------------------------

_NO_DOMAINS: Final[Mapping[str, Domain]] = {}


def certainly_le(a: Expr, b: Expr, domains: Mapping[str, Domain] = _NO_DOMAINS) -> bool:
    """True only if a <= b is proved, for all values of the parameters in `domains`; symbols without a domain are never proved."""
    return _holds(a, b, domains, AT_LEAST_ZERO)


def certainly_lt(a: Expr, b: Expr, domains: Mapping[str, Domain] = _NO_DOMAINS) -> bool:
    """True only if a < b is proved, for all values of the parameters in `domains`."""
    return _holds(a, b, domains, POSITIVE)


def certainly_equal(a: Expr, b: Expr, domains: Mapping[str, Domain] = _NO_DOMAINS) -> bool:
    """True only if a and b are proved to be equal, for all values of the parameters in `domains`."""
    return _holds(a, b, domains, NULL)


def find_counterexample(a: Expr, b: Expr, domains: Mapping[str, Domain], tries: int = 600) -> dict[str, Expr] | None:
    """Rational values of the parameters, within the domains, where a > b with certainty; None where the grid has none."""
    names = sorted(symbols(a) | symbols(b))
    if not all(name in domains for name in names):
        return None
    grids = [list(_grid(domains[name])) for name in names]
    for point in islice(diagonally(grids), tries):
        values: dict[str, Expr] = {name: Num(value) for name, value in zip(names, point, strict=True)}
        try:
            left, right = enclose(substitute(a, values)), enclose(substitute(b, values))
        except DpverifyError:
            continue
        if left > right:
            return values
    return None


def diagonally(grids: Sequence[Sequence[Fraction]]) -> Iterator[tuple[Fraction, ...]]:
    """The points of a product of lists, those near all the lists' beginnings first; no more of them are made than are asked for."""
    if not all(grids):
        return
    reach = [sum(len(grid) - 1 for grid in grids[place:]) for place in range(len(grids) + 1)]
    for total in range(reach[0] + 1):
        begun: list[tuple[int, int, Any]] = [(0, total, None)]  # how many are chosen, what is left of the distance, and the choice
        while begun:
            place, left, chosen = begun.pop()
            if place == len(grids):
                yield _unlinked(chosen)
                continue
            steps = range(max(0, left - reach[place + 1]), min(left, len(grids[place]) - 1) + 1)
            begun += [(place + 1, left - step, (chosen, grids[place][step])) for step in reversed(steps)]


def _unlinked(chosen: Any) -> tuple[Fraction, ...]:
    """The values of a chain of pairs, the first chosen first."""
    values = []
    while chosen is not None:
        chosen, value = chosen
        values.append(value)
    return tuple(reversed(values))


def _grid(domain: Domain) -> Iterator[Fraction]:
    """Simple values of a domain, the simplest first."""
    steps = [Fraction(n) for n in (1, 2, 3, 5, 10, 100, 1000)]
    steps = [step for n in steps for step in ((n,) if n == 1 or domain.integer else (n, 1 / n))]
    d = _closed(domain)
    if d.lower is not None and d.upper is not None:
        inside = [d.lower + (d.upper - d.lower) * (step / (1 + step)) for step in steps]
        found = [Fraction(floor(x)) for x in inside] if d.integer else inside
        found += [d.lower, d.upper]
    elif d.lower is not None:
        found = [d.lower + step for step in steps] + [d.lower]
    elif d.upper is not None:
        found = [d.upper - step for step in steps] + [d.upper]
    else:
        found = [Fraction(0), *(x for step in steps for x in (step, -step))]
    yield from (x for x in dict.fromkeys(found) if _contains(d, x))


def _contains(d: Domain, x: Fraction) -> bool:
    above = d.lower is None or x > d.lower or (x == d.lower and not d.lower_open)
    below = d.upper is None or x < d.upper or (x == d.upper and not d.upper_open)
    return above and below


def _closed(domain: Domain) -> Domain:
    """The domain itself; one of integers with its least and greatest integer as closed ends."""
    if not domain.integer:
        return domain
    lower, upper = domain.lower, domain.upper
    if lower is not None:
        lower = Fraction(floor(lower) + 1 if domain.lower_open else ceil(lower))
    if upper is not None:
        upper = Fraction(ceil(upper) - 1 if domain.upper_open else floor(upper))
    return replace(domain, lower=lower, upper=upper, lower_open=False, upper_open=False)


def _holds(a: Expr, b: Expr, domains: Mapping[str, Domain], wanted: Sign) -> bool:
    """Whether b - a is proved to have a sign in `wanted`."""
    names = symbols(a) | symbols(b)
    if not names <= domains.keys():
        return False
    return _decided(a, b, tuple((name, domains[name]) for name in sorted(names)), wanted, ctx.prec)


@lru_cache(maxsize=4096)
def _decided(a: Expr, b: Expr, domains: tuple[tuple[str, Domain], ...], wanted: Sign, prec: int) -> bool:
    """The same, remembered: bounds are compared with each other and with what is claimed, over and over."""
    if domains:
        return _by_cases(a, b, dict(domains), wanted, _Effort())
    # a and b by themselves: their difference may lose a term without a value
    try:
        return _defined(a) and _defined(b) and sign(sub(b, a)) in wanted
    except DpverifyError:
        return False


def _defined(expr: Expr) -> bool:
    for bits in PRECISIONS:
        with precision(bits):
            if constant(expr).is_finite():
                return True
    return False


def _vanishes(expr: Expr) -> bool:
    turned = add(*reversed(expr.args)) if isinstance(expr, Add) else expr
    for ordered in dict.fromkeys((expr, turned)):  # the order of terms decides which roots and exponentials become generators
        field = _Field({}, _Effort())
        try:
            if field.is_zero(field.ratio(ordered).num):
                return True
        except (DpverifyError, RecursionError):
            continue
    return False


def _by_cases(a: Expr, b: Expr, domains: Mapping[str, Domain], wanted: Sign, effort: _Effort, depth: int = 0) -> bool:
    """The statement as it stands, or on parts of a domain, or with min, max and abs replaced by what they may be."""
    if depth > MAX_KINKS:
        return False

    def again(left: Expr, right: Expr) -> bool:
        return _by_cases(left, right, domains, wanted, effort, depth + 1)

    kinks = [*_kinks(a), *_kinks(b)]
    choices: list[tuple[Expr, Expr]] = []
    try:
        # Both sides have a value at all parameter values; what follows may then leave parts of them out.
        field = _Field(domains, effort)
        left, right = field.ratio(a), field.ratio(b)
        if wanted != NULL:
            if isinstance(b, Call) and b.name == "max" and any(again(a, part) for part in b.args):
                return True
            if isinstance(a, Call) and a.name == "min" and any(again(part, b) for part in a.args):
                return True
        difference = field.subtract(right, left)
        if field.is_zero(difference.num):
            return 0 in wanted
        if wanted != NULL and field.ratio_sign(difference) <= wanted:
            return True
        for kink in kinks:
            found = _choices(kink, field)
            if len(found) > 1:
                choices = [(_exchange(a, kink, choice), _exchange(b, kink, choice)) for choice in found]
                break
    except (DpverifyError, RecursionError):
        pass
    for kink in kinks:
        inside = kink.args[0]
        if kink.name == "abs" and isinstance(inside, Sym) and _straddles(domains[inside.name]):
            whole = domains[inside.name]
            halves = (replace(whole, lower=Fraction(0), lower_open=False), replace(whole, upper=Fraction(0), upper_open=False))
            return all(_by_cases(a, b, {**domains, inside.name: half}, wanted, effort, depth + 1) for half in halves)
    return bool(choices) and all(again(*choice) for choice in choices)


def _straddles(d: Domain) -> bool:
    return (d.lower is None or d.lower < 0) and (d.upper is None or d.upper > 0)


def _kinks(expr: Expr) -> Iterator[Call]:
    for part in children(expr):
        yield from _kinks(part)
    if isinstance(expr, Call) and expr.name in ("min", "max", "abs") and symbols(expr):
        yield expr


def _choices(kink: Call, field: _Field) -> tuple[Expr, ...]:
    """Expressions one of which the kink equals at every parameter value; a single one where it is decided."""
    if kink.name == "abs":
        signs = field.ratio_sign(field.ratio(kink.args[0]))
        minus = neg(kink.args[0])
        return kink.args if signs <= AT_LEAST_ZERO else (minus,) if signs <= AT_MOST_ZERO else (*kink.args, minus)
    wanted = AT_MOST_ZERO if kink.name == "min" else AT_LEAST_ZERO
    for best in kink.args:
        if all(field.ratio_sign(field.subtract(field.ratio(best), field.ratio(other))) <= wanted for other in kink.args):
            return (best,)
    return kink.args


def _exchange(expr: Expr, old: Expr, new: Expr) -> Expr:
    return new if expr == old else rebuild(expr, lambda part: _exchange(part, old, new))


# -- the field -------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Effort:
    """How many signs one comparison has asked for."""

    spent: int = 0


class _Ratio(NamedTuple):
    """num / den, den proved to be without zero; both reduced by the relations of the roots."""

    num: Poly
    den: Poly


_UNIT: Final = _Ratio(_ONE, _ONE)


@dataclass(frozen=True, slots=True)
class _Atom:
    """A generator. kind: "parameter", "root", "log", "exp", or the name of an opaque function.

    range: the values that it may take. relation: for a root s of degree k the polynomial s**k - radicand.
    """

    kind: str
    args: tuple[_Ratio, ...]
    expr: Expr
    constant: bool
    range: Domain
    degree: int = 0
    algebraic: bool = False
    relation: Poly | None = None


def _product_sign(left: Sign, right: Sign) -> Sign:
    return frozenset(x * y for x in left for y in right)


def _flip(signs: Sign) -> Sign:
    return frozenset(-x for x in signs)


def _number(value: Fraction | int) -> Poly:
    return _RING.constant(fmpq(value.numerator, value.denominator))


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def _key(p: Poly) -> tuple[Any, ...]:
    return tuple(p.terms())


def _by_power(p: Poly, i: int) -> dict[int, Poly]:
    """The coefficients of p as a polynomial in atom i alone."""
    slot = 2 * _SLOTS - 1 - i
    parts: dict[int, dict[tuple[int, ...], fmpq]] = {}
    for monomial, coefficient in p.terms():
        rest = (*monomial[:slot], 0, *monomial[slot + 1 :])
        parts.setdefault(int(monomial[slot]), {})[rest] = coefficient
    return {e: _RING.from_dict(part) for e, part in parts.items()}


def _exponents(monomial: Sequence[Any]) -> Iterator[tuple[int, int]]:
    """The atoms of a monomial with their exponents."""
    for i, e in enumerate(reversed(monomial)):
        if e:
            yield i, int(e)


def _atoms_of(p: Poly) -> list[int]:
    """The atoms that occur in p, in the order of their creation."""
    return [i for i, e in enumerate(reversed(p.degrees())) if e > 0]


def _factors(p: Poly) -> tuple[Fraction, list[tuple[Poly, int]]]:
    """p as a rational times powers of polynomials with integer coefficients, irreducible where p is not too large."""
    if len(p) == 1:  # a monomial: no need of a factorisation
        monomial, coefficient = next(iter(p.terms()))
        return _fraction(coefficient), [(_ATOMS[i], e) for i, e in _exponents(monomial)]
    whole = 2 * len(p) > MAX_TERMS or max(p.degrees()) > MAX_FACTORED
    content, found = (fmpq(1), [(p, 1)]) if whole else p.factor()
    value = _fraction(content)
    result = []
    for f, e in found:
        scale = lcm(*(int(c.q) for c in f.coeffs()))
        value /= Fraction(scale) ** e
        result.append((f * scale, int(e)))
    return value, result


def _prime_powers(value: Fraction) -> dict[int, int]:
    """Coprime integers and exponents whose product is the positive rational: its small primes, and what is left."""
    powers: dict[int, int] = {}
    for part, direction in ((value.numerator, 1), (value.denominator, -1)):
        if part > 1:
            for prime, e in fmpz(part).factor_smooth(16):
                powers[int(prime)] = powers.get(int(prime), 0) + direction * int(e)
    return powers


class _Field:
    """Quotients of polynomials in atoms, over the given domains of the parameters.

    Methods raise Undecided where an expression is not proved to be defined, or grows too large.
    """

    def __init__(self, domains: Mapping[str, Domain], effort: _Effort) -> None:
        self.effort = effort
        self.limit = min(effort.spent + MAX_EFFORT, MAX_TOTAL_EFFORT)
        self.atoms: list[_Atom] = []
        self.parameters: dict[str, Poly] = {}
        self.seen: dict[Expr, _Ratio] = {}
        self.signs: dict[tuple[Any, ...], Sign] = {}
        self.balls: dict[tuple[int, int], arb] = {}
        self.depth = self.cut_short = 0
        for name, domain in domains.items():
            d = _closed(domain)
            if d.lower is not None and d.upper is not None and d.lower >= d.upper:
                if d.lower > d.upper or not _contains(d, d.lower):
                    raise Undecided(f"the domain of {name!r} is empty.")
                self.parameters[name] = _number(d.lower)
            else:
                self.parameters[name] = self._new(_Atom("parameter", (), Sym(name), False, d))

    # arithmetic

    def _new(self, atom: _Atom) -> Poly:
        if len(self.atoms) == _SLOTS:
            raise Undecided(f"more than {_SLOTS} different functions and roots.")
        self.atoms.append(atom)
        return _ATOMS[len(self.atoms) - 1]

    def reduced(self, p: Poly) -> Poly:
        """p with no root to a power of its degree or more."""
        degrees = p.degrees()
        for i in reversed(range(len(self.atoms))):  # a relation may bring in earlier roots
            atom = self.atoms[i]
            if atom.degree and degrees[2 * _SLOTS - 1 - i] >= atom.degree:
                p = divmod(p, atom.relation)[1]
                degrees = p.degrees()
        if len(p) > MAX_TERMS:
            raise Undecided(f"a polynomial of more than {MAX_TERMS} terms.")
        return p

    def times(self, p: Poly, q: Poly) -> Poly:
        if len(p) * len(q) > 500 * MAX_TERMS:
            raise Undecided("a product of too many terms.")
        return self.reduced(p * q)

    def raised(self, p: Poly, n: int) -> Poly:
        if n > MAX_EXPONENT and not p.is_one():
            raise Undecided(f"a power beyond {MAX_EXPONENT}.")
        result = _ONE
        while n:
            if n & 1:
                result = self.times(result, p)
            n >>= 1
            if n:
                p = self.times(p, p)
        return result

    def quotient(self, top: Poly, bottom: Poly) -> _Ratio:
        """top / bottom, for a bottom proved to be without zero: free of common factors and, where it can be, of roots below."""
        top, bottom = self.reduced(top), self.reduced(bottom)
        if bottom.is_constant():
            return _Ratio(top / bottom.leading_coefficient(), _ONE)
        roots = [i for i in reversed(_atoms_of(bottom)) if self.atoms[i].degree]
        for i in roots:
            parts = _by_power(bottom, i)
            if not parts.keys() - {max(parts)}:  # a factor of the bottom: s**k is rational in the rest
                scale = _ATOMS[i] ** (self.atoms[i].degree - max(parts)) if max(parts) else _ONE
            elif self.atoms[i].degree == 2 and len(roots) <= 3:
                scale = parts[0] - parts[1] * _ATOMS[i]
                if 0 in self.sign(scale):
                    continue
            else:
                continue
            top, bottom = self.times(top, scale), self.times(bottom, scale)
        common = top.gcd(bottom)
        if not common.is_constant():
            top, bottom = top // common, bottom // common
        leading = bottom.leading_coefficient()
        return _Ratio(top / leading, bottom / leading)

    def plus(self, *terms: _Ratio) -> _Ratio:
        total = _Ratio(_NONE, _ONE)
        for term in terms:
            if total.den == term.den:
                total = self.quotient(total.num + term.num, term.den)
            else:
                top = self.times(total.num, term.den) + self.times(term.num, total.den)
                total = self.quotient(top, self.times(total.den, term.den))
        return total

    def subtract(self, left: _Ratio, right: _Ratio) -> _Ratio:
        return self.plus(left, _Ratio(-right.num, right.den))

    def multiply(self, left: _Ratio, right: _Ratio) -> _Ratio:
        return self.quotient(self.times(left.num, right.num), self.times(left.den, right.den))

    def inverse(self, r: _Ratio) -> _Ratio:
        if 0 in self.sign(r.num):
            raise Undecided("a divisor that may be zero.")
        return self.quotient(r.den, r.num)

    def to_power(self, r: _Ratio, n: int) -> _Ratio:
        if n < 0:
            return self.to_power(self.inverse(r), -n)
        return self.quotient(self.raised(r.num, n), self.raised(r.den, n))

    def scaled(self, r: _Ratio, factor: Fraction) -> _Ratio:
        return _Ratio(r.num * fmpq(factor.numerator, factor.denominator), r.den)

    # from trees and back

    def ratio(self, expr: Expr) -> _Ratio:
        """The quotient that equals `expr` at all parameter values."""
        if expr not in self.seen:
            self.seen[expr] = self._ratio(expr)
        return self.seen[expr]

    def _ratio(self, expr: Expr) -> _Ratio:
        if isinstance(expr, Num):
            return _Ratio(_number(expr.value), _ONE)
        if isinstance(expr, Sym):
            return _Ratio(self.parameters[expr.name], _ONE)
        if isinstance(expr, Add):
            return self.plus(*map(self.ratio, expr.args))
        if isinstance(expr, Mul):
            return reduce(self.multiply, map(self.ratio, expr.args))
        if isinstance(expr, Pow):
            return self._pow(expr)
        return self._call(expr)

    def _pow(self, expr: Pow) -> _Ratio:
        if not isinstance(expr.exponent, Num):
            return self.exp(self.multiply(self.ratio(expr.exponent), self.log_of(expr.base)))
        e, base = expr.exponent.value, self.ratio(expr.base)
        whole, part = divmod(e, 1)
        result = self.to_power(base, int(whole))
        return result if part == 0 else self.multiply(result, self.to_power(self.root(base, part.denominator), part.numerator))

    def _call(self, expr: Call) -> _Ratio:
        name = expr.name
        if name == "log":
            return self.log_of(expr.args[0])
        args = tuple(map(self.ratio, expr.args))
        if name == "exp":
            return self.exp(args[0])
        if name in ("cosh", "sinh", "tanh"):
            rising = self.exp(args[0])
            falling = self.inverse(rising)
            even, odd = self.plus(rising, falling), self.subtract(rising, falling)
            return (
                self.multiply(odd, self.inverse(even)) if name == "tanh" else self.scaled(even if name == "cosh" else odd, Fraction(1, 2))
            )
        if name == "asinh":
            return self.log(self.plus(args[0], self.root(self.plus(self.multiply(args[0], args[0]), _UNIT), 2)))
        if name == "atanh":
            over, under = self.plus(_UNIT, args[0]), self.subtract(_UNIT, args[0])
            return self.scaled(self.log(self.multiply(over, self.inverse(under))), Fraction(1, 2))
        if name in ("min", "max", "abs"):
            return self._kink(name, args)
        if name == "erf":
            return self.subtract(_UNIT, self.opaque("erfc", args))
        if name == "logexprel" and 0 not in self.ratio_sign(args[0]):
            return self.log(self.multiply(self.subtract(self.exp(args[0]), _UNIT), self.inverse(args[0])))
        if name in ("logerfc", "logbesselk"):
            return self.log(self.opaque(name[3:], args))
        return self.opaque(name, args)

    def _kink(self, name: str, args: tuple[_Ratio, ...]) -> _Ratio:
        """min, max or abs: decided where the sign is known over the whole domain, else by abs(x) = sqrt(x**2)."""
        if name == "abs":
            signs = self.ratio_sign(args[0])
            if signs <= AT_LEAST_ZERO:
                return args[0]
            return self.scaled(args[0], Fraction(-1)) if signs <= AT_MOST_ZERO else self.root(self.multiply(args[0], args[0]), 2)
        best = args[0]
        for other in args[1:]:
            gap = self._kink("abs", (self.subtract(best, other),))
            best = self.scaled(self.plus(best, other, self.scaled(gap, Fraction(1 if name == "max" else -1))), Fraction(1, 2))
        return best

    def opaque(self, name: str, args: tuple[_Ratio, ...]) -> _Ratio:
        """The atom of a function of which only the range is known; equal arguments give the same atom."""
        bounds = Domain()
        if name == "erfc":
            bounds = Domain(Fraction(0), Fraction(2))
        elif name in ("gamma", "besselk"):
            if self.ratio_sign(args[-1]) != POSITIVE:
                raise Undecided(f"the argument of {name} is not proved to be positive.")
            bounds = Domain(Fraction(0))
        for i, atom in enumerate(self.atoms):
            if atom.kind == name and len(atom.args) == len(args) and all(map(self.same, atom.args, args)):
                return _Ratio(_ATOMS[i], _ONE)
        expr = Call(name, tuple(map(self.expr, args)))
        return _Ratio(self._new(_Atom(name, args, expr, not symbols(expr), bounds)), _ONE)

    def same(self, left: _Ratio, right: _Ratio) -> bool:
        return left == right or self.is_zero(self.subtract(left, right).num)

    def expr(self, r: _Ratio) -> Expr:
        return mul(self.poly_expr(r.num), power(self.poly_expr(r.den), num(-1)))

    def poly_expr(self, p: Poly) -> Expr:
        terms: list[Expr] = []
        for monomial, coefficient in p.terms():
            factors = [power(self.atoms[i].expr, num(e)) for i, e in _exponents(monomial)]
            terms.append(mul(Num(_fraction(coefficient)), *factors))
        return add(*terms)

    # roots

    def root(self, r: _Ratio, degree: int) -> _Ratio:
        """The real root of a quotient proved to be at least zero; a composite degree one prime after the other."""
        if degree > 64:
            raise Undecided(f"a root of degree {degree}.")
        for prime, e in fmpz(degree).factor():
            for _ in range(int(e)):
                r = self._prime_root(r, int(prime))
        return r

    def _prime_root(self, r: _Ratio, k: int) -> _Ratio:
        signs = self.ratio_sign(r)
        if signs == NULL:
            return _Ratio(_NONE, _ONE)
        if not signs <= AT_LEAST_ZERO:
            raise Undecided("a root of what is not proved to be at least zero.")
        # root(N/D) = root(N * D**(k-1)) / |D|
        below = {POSITIVE: r.den, NEGATIVE: -r.den}.get(self.sign(r.den))
        if below is None:
            raise Undecided("a denominator of unknown sign under a root.")
        above = r.num if below == r.den else -r.num
        content, factors = _factors(self.times(above, self.raised(below, k - 1)))
        strict: list[tuple[Poly, int]] = []
        others: list[tuple[Poly, int]] = []
        for f, e in factors:
            signs = self.sign(f)
            if signs in (POSITIVE, NEGATIVE):
                strict.append((f if signs == POSITIVE else -f, e))
                content *= 1 if signs == POSITIVE else (-1) ** e
            elif k == 2 and e % 2 == 0:
                others.append((self.times(f, f), e // 2))  # whose root is abs(f)
            else:
                others.append((f, e))
        if not all(self.sign(f) <= AT_LEAST_ZERO for f, _ in others):
            # The strict factors are positive, so the product of the others is at least zero; each alone need not be.
            rest = reduce(self.times, (self.raised(f, e) for f, e in others)) * (1 if content > 0 else -1)
            others = [(rest, 1)]
        result = _ONE
        for f, e in strict + others:
            result = self.times(result, self.raised(f, e // k))
            if e % k:
                result = self.times(result, self.raised(self._root_atom(f, k), e % k))
        outside = Fraction(1)
        for prime, e in _prime_powers(abs(content)).items():
            base, whole = fmpz(prime), fmpz(prime).root(k)
            if whole**k == base:
                outside *= Fraction(int(whole)) ** e
                continue
            outside *= Fraction(prime) ** (e // k)
            if e % k:
                result = self.times(result, self.raised(self._root_atom(_number(prime), k), e % k))
        return self.quotient(result * _number(outside), below)

    def _root_atom(self, radicand: Poly, k: int) -> Poly:
        if radicand.is_one():
            return radicand
        for i, atom in enumerate(self.atoms):
            if atom.degree == k and self.same(atom.args[0], _Ratio(radicand, _ONE)):
                return _ATOMS[i]
        under = [self.atoms[i] for i in _atoms_of(radicand)]
        bounds = Domain(Fraction(0), lower_open=self.sign(radicand) == POSITIVE)
        expr = power(self.poly_expr(radicand), Num(Fraction(1, k)))
        args = (_Ratio(radicand, _ONE),)
        relation = _ATOMS[len(self.atoms) % _SLOTS] ** k - radicand
        constants, algebraic = all(a.constant for a in under), all(a.algebraic for a in under)
        return self._new(_Atom("root", args, expr, constants, bounds, k, algebraic, relation))

    # logarithms and exponentials

    def log_of(self, expr: Expr) -> _Ratio:
        """log(expr), taken apart by the tree first, so that high powers are never multiplied out."""
        if isinstance(expr, Mul) and all(map(self._positive, expr.args)):
            return self.plus(*map(self.log_of, expr.args))
        if isinstance(expr, Pow) and self._positive(expr.base):
            return self.multiply(self.ratio(expr.exponent), self.log_of(expr.base))
        if isinstance(expr, Call) and expr.name == "exp":
            return self.ratio(expr.args[0])
        return self.log(self.ratio(expr))

    def _positive(self, expr: Expr) -> bool:
        """Whether expr is proved to be positive wherever its parts are defined."""
        if isinstance(expr, Pow) and self._positive(expr.base):
            return True
        if isinstance(expr, Call) and expr.name == "exp":
            return True
        return self.ratio_sign(self.ratio(expr)) == POSITIVE

    def log(self, r: _Ratio) -> _Ratio:
        """The logarithm of a quotient proved to be positive, as a sum over its positive factors."""
        if self.ratio_sign(r) != POSITIVE:
            raise Undecided("a logarithm of what is not proved to be positive.")
        total = _Ratio(_NONE, _ONE)
        content = Fraction(1)
        rest = [_ONE, _ONE]
        for side, (p, direction) in enumerate(((r.num, 1), (r.den, -1))):
            value, factors = _factors(p)
            content *= value**direction
            for f, e in factors:
                signs = self.sign(f)
                if signs in (POSITIVE, NEGATIVE):
                    content *= 1 if signs == POSITIVE else (-1) ** e
                    total = self.plus(total, self.scaled(self._log_factor(f if signs == POSITIVE else -f), Fraction(direction * e)))
                else:
                    rest[side] = self.times(rest[side], self.raised(f, e))
        if not (rest[0].is_one() and rest[1].is_one()):
            # The product of these is positive although no sign of a single one is known: log(N/D) = log(ND) - log(D^2).
            together = self.times(rest[0], rest[1]) * (1 if content > 0 else -1)
            total = self.plus(total, self._log_factor(together))
            if not rest[1].is_one():
                total = self.subtract(total, self._log_factor(self.times(rest[1], rest[1])))
        for prime, e in _prime_powers(abs(content)).items():
            total = self.plus(total, self.scaled(self._log_factor(_number(prime)), Fraction(e)))
        return total

    def _log_factor(self, f: Poly) -> _Ratio:
        for i in _atoms_of(f):
            if f == _ATOMS[i]:
                atom = self.atoms[i]
                if atom.kind == "exp":
                    return atom.args[0]
                if atom.kind == "root":
                    return self.scaled(self.log(atom.args[0]), Fraction(1, atom.degree))
        r = _Ratio(f, _ONE)
        for i, atom in enumerate(self.atoms):
            if atom.kind == "log" and atom.args[0] == r:
                return _Ratio(_ATOMS[i], _ONE)
        signs = self.sign(f - 1)
        expr = call("log", self.poly_expr(f))
        bounds = Domain()
        if signs <= AT_LEAST_ZERO:
            bounds = Domain(lower=Fraction(0), lower_open=signs == POSITIVE)
        elif signs <= AT_MOST_ZERO:
            bounds = Domain(upper=Fraction(0), upper_open=signs == NEGATIVE)
        return _Ratio(self._new(_Atom("log", (r,), expr, not symbols(expr), bounds)), _ONE)

    def exp(self, r: _Ratio) -> _Ratio:
        """The exponential of a sum as the product over its terms; of a rational multiple of a logarithm as a power."""
        result = _UNIT
        for monomial, coefficient in r.num.terms():
            unit = self.quotient(_RING.from_dict({monomial: 1}), r.den)
            result = self.multiply(result, self._exp_term(_fraction(coefficient), unit))
        return result

    def _exp_term(self, c: Fraction, unit: _Ratio) -> _Ratio:
        """exp(c * unit), for a monomial over a denominator."""
        for i, atom in enumerate(self.atoms):
            if atom.kind == "log" and unit == _Ratio(_ATOMS[i], _ONE) and c.denominator <= 64:
                return self.to_power(self.root(atom.args[0], c.denominator), c.numerator)
            if atom.kind == "exp":
                share = _fraction(atom.args[0].num.leading_coefficient() / unit.num.leading_coefficient())
                times = c / share
                if self.scaled(unit, share) == atom.args[0] and times.denominator <= 24 and abs(times.numerator) <= MAX_EXPONENT:
                    return self.to_power(self.root(_Ratio(_ATOMS[i], _ONE), times.denominator), times.numerator)
        arg = self.scaled(unit, abs(c))
        signs = self.ratio_sign(arg)
        bounds = Domain(Fraction(0))
        if signs <= AT_LEAST_ZERO:
            bounds = Domain(Fraction(1), lower_open=signs == POSITIVE)
        elif signs <= AT_MOST_ZERO:
            bounds = Domain(Fraction(0), Fraction(1), upper_open=signs == NEGATIVE)
        expr = call("exp", self.expr(arg))
        return self.to_power(_Ratio(self._new(_Atom("exp", (arg,), expr, not symbols(expr), bounds)), _ONE), 1 if c > 0 else -1)

    # zero

    def is_zero(self, p: Poly) -> bool:
        """Whether p vanishes at all parameter values; False where there is no proof."""
        try:
            return self._is_zero(p)
        except Undecided:
            return False

    def _is_zero(self, p: Poly) -> bool:
        p = self.reduced(p)
        if p.is_zero():
            return True
        if self._is_constant(p):
            with precision(128):
                if not self.ball(p).contains(0):
                    return False
        if self._coefficients_vanish(p):
            return True
        form = self._log_form(p)
        if form is None:
            return False
        rest, groups = form
        total = _Ratio(rest, _ONE)
        for factor, argument in groups:
            if not self.is_zero(argument.num - argument.den):
                total = self.plus(total, self.multiply(_Ratio(factor, _ONE), self.log(argument)))
        return self._coefficients_vanish(total.num)

    def _is_constant(self, p: Poly) -> bool:
        return all(self.atoms[i].constant for i in _atoms_of(p))

    def _coefficients_vanish(self, p: Poly) -> bool:
        """Whether p vanishes for independent values of all atoms but the real roots of integers."""
        return all(map(self._algebraic_zero, self._split(p, lambda i: self.atoms[i].algebraic).values()))

    def _split(self, p: Poly, inner: Callable[[int], bool]) -> dict[tuple[int, ...], Poly]:
        """The coefficients of p, polynomials in the atoms that `inner` picks, by the monomials in the others."""
        keep = [False] * (2 * _SLOTS)
        for i in range(len(self.atoms)):
            keep[2 * _SLOTS - 1 - i] = inner(i)
        parts: dict[tuple[int, ...], dict[tuple[int, ...], fmpq]] = {}
        for monomial, coefficient in p.terms():
            outside = tuple(0 if k else e for k, e in zip(keep, monomial, strict=True))
            inside = tuple(e if k else 0 for k, e in zip(keep, monomial, strict=True))
            parts.setdefault(outside, {})[inside] = coefficient
        return {outside: _RING.from_dict(part) for outside, part in parts.items()}

    def _algebraic_zero(self, p: Poly) -> bool:
        """Whether a polynomial in nested real roots of integers is zero, by a constructive zero bound.

        Let E be p times its common denominator. Radicands are polynomials with integer coefficients, so E
        is an algebraic integer, in a field of degree at most D, the product of the degrees of all roots that
        occur. An embedding of that field sends a root of R to some k-th root of the image of R; hence every
        conjugate of E is at most u in size, where u is p's value with all coefficients replaced by their sizes
        and all roots by roots of the same bound. The product of E's conjugates is an integer. If it is not 0
        then |E| >= u**-(D-1). This is the division-free case of Burnikel, Funke, Mehlhorn, Schirra, Schmitt,
        A separation bound for real algebraic expressions, Algorithmica 55 (2009), Theorem 1 (there l = 1).
        """
        if p.is_zero() or len(p) == 1:
            return bool(p.is_zero())  # roots of nonzero numbers are not zero
        whole = p * lcm(*(int(c.q) for c in p.coeffs()))
        with precision(128):
            if not self.ball(whole).contains(0):
                return False
        degree = prod(self.atoms[i].degree for i in self._roots_under(whole))
        size = self._conjugate_bound(whole).bit_length()
        bits = (degree - 1) * size
        if bits > MAX_ZERO_BITS:
            return False
        with ctx.workprec(bits + 2 * size + 64):
            return bool(abs(self.ball(whole)) < arb(fmpz(2)) ** (-bits))

    def _roots_under(self, p: Poly) -> set[int]:
        found = set(_atoms_of(p))
        return found.union(*(self._roots_under(self.atoms[i].args[0].num) for i in found))

    def _conjugate_bound(self, p: Poly) -> int:
        """An integer of at least 1 that no conjugate of p, a polynomial with integer coefficients in roots of such, exceeds."""
        bounds = {}
        for i in _atoms_of(p):
            k, under = self.atoms[i].degree, self._conjugate_bound(self.atoms[i].args[0].num)
            bounds[i] = int(fmpz(under).root(k)) + 1
        total = 0
        for monomial, coefficient in p.terms():
            total += abs(int(coefficient.p)) * prod(bounds[i] ** e for i, e in _exponents(monomial))
        return max(total, 1)

    def _logarithms(self, p: Poly) -> dict[int, tuple[_Ratio, int | Fraction]]:
        """The atoms of p that are logarithms: atom = times * log(argument), as pairs (argument, times).

        A parameter e is one where exp(e) is an atom; the argument of log is a root of it where that is an atom.
        """
        roots = {_key(atom.args[0].num): i for i, atom in enumerate(self.atoms) if atom.degree}
        found: dict[int, tuple[_Ratio, int | Fraction]] = {}
        for i in _atoms_of(p):
            atom = self.atoms[i]
            if atom.kind == "log":
                root = roots.get(_key(atom.args[0].num))
                found[i] = (atom.args[0], 1) if root is None else (_Ratio(_ATOMS[root], _ONE), self.atoms[root].degree)
            elif atom.kind == "parameter" and max(_by_power(p, i)) == 1:
                for j, other in enumerate(self.atoms):
                    if other.kind == "exp" and other.args[0].den.is_one() and _atoms_of(other.args[0].num) == [i]:
                        monomial, coefficient = next(iter(other.args[0].num.terms()))
                        if sum(monomial) == 1:
                            found[i] = _Ratio(_ATOMS[j], _ONE), 1 / _fraction(coefficient)
                            break
        return found

    def _log_form(self, p: Poly) -> tuple[Poly, list[tuple[Poly, _Ratio]]] | None:
        """p as rest + sum of factor * log(argument), factors independent over the rationals; None unless linear in logarithms."""
        logs = self._logarithms(p)
        if not logs:
            return None
        parts = dict.fromkeys(logs, _NONE)
        rest = _NONE
        for outside, part in self._split(p, lambda i: i not in logs).items():
            here = list(_exponents(outside))
            if not here:
                rest = part
            elif len(here) == 1 and here[0][1] == 1:
                parts[here[0][0]] = part
            else:
                return None
        basis: list[Poly] = []
        rows: list[tuple[Poly, list[Fraction]]] = []  # echelon form: a row and what it is in the basis
        combined: dict[int, list[Fraction]] = {}
        for i, part in sorted(parts.items()):
            left, found = part, [Fraction(0)] * len(parts)
            for row, composition in rows:
                pivot = row.monoms()[0]
                share = _fraction(left[pivot] / row[pivot])
                left = left - row * fmpq(share.numerator, share.denominator)
                found = [x + share * y for x, y in zip(found, composition, strict=True)]
            if not left.is_zero():
                mine = [Fraction(int(j == len(basis))) for j in range(len(parts))]
                rows.append((left, [x - y for x, y in zip(mine, found, strict=True)]))
                basis.append(part)
                found = mine
            combined[i] = found
        groups = []
        for j, factor in enumerate(basis):
            exponents = {i: found[j] * logs[i][1] for i, found in combined.items() if found[j]}
            unit = Fraction(gcd(*(x.numerator for x in exponents.values())), lcm(*(x.denominator for x in exponents.values())))
            argument = _UNIT
            for i, x in exponents.items():
                argument = self.multiply(argument, self.to_power(logs[i][0], int(x / unit)))
            groups.append((factor * fmpq(unit.numerator, unit.denominator), argument))
        return rest, groups

    # signs

    def ball(self, p: Poly) -> arb:
        """The ball of a constant polynomial at the current precision."""
        total = arb(0)
        for monomial, coefficient in p.terms():
            term = arb(coefficient)
            for i, e in _exponents(monomial):
                if (i, ctx.prec) not in self.balls:
                    self.balls[i, ctx.prec] = constant(self.atoms[i].expr)
                term *= self.balls[i, ctx.prec] ** e
            total += term
        return total

    def ratio_sign(self, r: _Ratio) -> Sign:
        return _product_sign(self.sign(r.num), self.sign(r.den))

    def sign(self, p: Poly) -> Sign:
        """The signs that p may have over the domain, as far as they are proved."""
        p = self.reduced(p)
        key = _key(p)
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
        if self._is_constant(p):
            return self._constant_sign(p)
        self.effort.spent += 1
        content, factors = _factors(p)
        result: Sign = POSITIVE if content > 0 else NEGATIVE
        for f, e in factors:
            signs = self._factor_sign(f) if len(factors) == 1 else self.sign(f)
            result = _product_sign(result, signs if e % 2 else _product_sign(signs, signs) & AT_LEAST_ZERO)
        return result

    def _constant_sign(self, p: Poly) -> Sign:
        for bits in PRECISIONS:
            with precision(bits):
                ball = self.ball(p)
            if ball > 0:
                return POSITIVE
            if ball < 0:
                return NEGATIVE
            if bits == EXACT_FROM and self.is_zero(p):
                return NULL
        return ANY

    def _factor_sign(self, p: Poly) -> Sign:
        best: Sign = ANY
        for method in (self._range_sign, self._tangent_sign, self._root_sign, self._square_sign, self._log_sign):
            best &= method(p)
            if len(best) == 1:
                break
        return best

    def _range_sign(self, p: Poly) -> Sign:
        """From the coefficients, each atom measured from an end of its range, or by both distances where it has two."""
        strict: dict[int, bool] = {}  # of each generator, by slot: positive, or only at least zero
        free: set[int] = set()
        corners = 1
        for i in _atoms_of(p):
            atom, slot, x = self.atoms[i], 2 * _SLOTS - 1 - i, _ATOMS[i]
            if atom.constant:
                continue
            d, powers = atom.range, _by_power(p, i)
            degree = max(powers)
            if degree > MAX_DEGREE:
                return ANY
            if d.lower is not None and d.upper is not None:
                # (upper - lower) * a = lower * y + upper * x with x = a - lower and y = upper - a: homogeneous, of positive factor
                y = _ATOMS[_SLOTS + i]
                value, one = _number(d.lower) * y + _number(d.upper) * x, x + y
                p = sum((c * value**e * one ** (degree - e) for e, c in powers.items()), _NONE)
                strict[slot], strict[slot - _SLOTS] = d.lower_open, d.upper_open
                corners *= degree + 1
                if len(p) > MAX_TERMS:
                    return ANY
                continue
            if d.lower is not None:
                value, strict[slot] = x + _number(d.lower), d.lower_open
            elif d.upper is not None:
                value, strict[slot] = _number(d.upper) - x, d.upper_open
            else:
                free.add(slot)
                continue
            p = sum((c * value**e for e, c in powers.items()), _NONE)
            if len(p) > MAX_TERMS:
                return ANY
        return self._sum_sign(p, strict, free, corners)

    def _sum_sign(self, p: Poly, strict: Mapping[int, bool], free: set[int], corners: int) -> Sign:
        """The sign of a sum of terms in generators that are at least zero (`strict`) or of any sign (`free`)."""
        bounded = {slot for slot in strict if slot < _SLOTS or slot - _SLOTS in strict}
        total: Sign = frozenset()
        certain = False
        at_corners = 0
        for monomial, part in self._split(p, lambda i: self.atoms[i].constant).items():
            used = [slot for slot, e in enumerate(monomial) if e]
            if any(slot in free and monomial[slot] % 2 for slot in used):
                return ANY
            signs = self._constant_sign(part)
            total |= signs
            certain |= 0 not in signs and all(strict.get(slot, False) for slot in used)
            # all of Bernstein's coefficients positive: the sum is so on the whole closed box
            at_corners += 0 not in signs and bounded.issuperset(used)
        for side in (AT_LEAST_ZERO, AT_MOST_ZERO):
            if total <= side:
                return side - NULL if certain or at_corners == corners else side
        return ANY

    def _tangent_sign(self, p: Poly) -> Sign:
        """With exp(u) >= 1 + u for the exponentials of polynomials u that are at least zero."""
        # With x = exp(u) - u >= 1, the range that the generator has already. Later atoms first, as u has only earlier
        # ones; roots are not reduced any more, since their radicands do not take part in the change.
        shifted = p
        for i in reversed(_atoms_of(p)):
            atom = self.atoms[i]
            if atom.kind == "exp" and not atom.constant and atom.args[0].den.is_one() and atom.range.lower == 1:
                powers = _by_power(shifted, i)
                if max(powers) > MAX_DEGREE:
                    return ANY
                value = _ATOMS[i] + atom.args[0].num
                shifted = sum((c * value**e for e, c in powers.items()), _NONE)
        return ANY if shifted == p else self._range_sign(shifted)

    def _root_sign(self, p: Poly) -> Sign:
        """A + B*s for a square root s: by conjugation, A**2 - B**2 * s**2 tells which of the two is the larger."""
        for i in reversed(_atoms_of(p)):
            atom = self.atoms[i]
            if atom.degree != 2 or atom.constant:
                continue
            parts = _by_power(p, i)
            a, b = parts.get(0, _NONE), parts[1]
            excess = self.sign(self.reduced(a * a - b * b * atom.args[0].num))
            best: Sign = ANY
            for larger, signs in ((a, AT_LEAST_ZERO), (b, AT_MOST_ZERO)):
                if excess <= signs:
                    # where the excess is not zero the larger part is not zero either and gives the sign
                    best &= self.sign(larger) - NULL if 0 not in excess else self.sign(larger) | NULL
            if excess == ANY:
                for side in (AT_LEAST_ZERO, AT_MOST_ZERO):
                    if self.sign(a) <= side and self.sign(b) <= side:
                        best = self.sign(a) if 0 not in self.sign(a) else side
            if best != ANY:
                return best
        return ANY

    def _square_sign(self, p: Poly) -> Sign:
        """a*v**2 + b*v + c: of the sign of a where 4ac - b**2 > 0 (or >= 0)."""
        for i in _atoms_of(p):
            powers = _by_power(p, i)
            if self.atoms[i].constant or max(powers) != 2:
                continue
            a, b, c = powers[2], powers.get(1, _NONE), powers.get(0, _NONE)
            leading = self.sign(a)
            if leading in (POSITIVE, NEGATIVE):
                excess = self.sign(self.reduced(4 * a * c - b * b))
                if excess <= AT_LEAST_ZERO:
                    return leading | (excess & NULL)
        return ANY

    def _log_sign(self, p: Poly) -> Sign:
        """rest + sum of B*log(P): by rational bounds of the logarithms, or by exponentiation of a single one."""
        try:
            form = self._log_form(p)
            if form is None or len(form[1]) > 3:
                return ANY
            rest, groups = form
            factors = [self.sign(factor) for factor, _ in groups]
            if not all(signs <= AT_LEAST_ZERO or signs <= AT_MOST_ZERO for signs in factors):
                return ANY
            for direction in (1, -1):
                signs = self._log_lower(rest * direction, [(b * direction, q) for b, q in groups])
                if signs <= AT_LEAST_ZERO:
                    return signs if direction == 1 else _flip(signs)
        except Undecided:
            pass
        return ANY

    def _log_lower(self, rest: Poly, groups: list[tuple[Poly, _Ratio]]) -> Sign:
        """The sign of rest + sum of B*log(P) where a lower bound of it is at least zero, else ANY."""
        if len(groups) == 1:
            ((factor, argument),) = groups
            signs = self.sign(factor)
            if signs in (POSITIVE, NEGATIVE):
                # rest + B*log(P) has the sign of B * (P - exp(-rest/B))
                other = self.exp(self.scaled(self.quotient(rest, factor), Fraction(-1)))
                found = _product_sign(signs, self.ratio_sign(self.subtract(argument, other)))
                if found <= AT_LEAST_ZERO:
                    return found
        # The bounds are strict where P is not 1.
        strict = any(0 not in self.sign(b) and 0 not in self.sign(q.num - q.den) for b, q in groups)
        weak: Sign = ANY
        for bounds in product(*(list(self._log_bounds(argument, self.sign(b) <= AT_LEAST_ZERO)) for b, argument in groups)):
            terms = (self.multiply(_Ratio(b, _ONE), bound) for (b, _), bound in zip(groups, bounds, strict=True))
            found = self.ratio_sign(self.plus(_Ratio(rest, _ONE), *terms))
            if found == POSITIVE or (strict and found <= AT_LEAST_ZERO):
                return POSITIVE
            if found <= AT_LEAST_ZERO:
                weak = AT_LEAST_ZERO
        return weak

    def _log_bounds(self, p: _Ratio, lower: bool) -> Iterator[_Ratio]:
        """Rational functions of P that are at most (`lower`), or at least, log(P)."""
        signs = self.ratio_sign(self.subtract(p, _UNIT))
        inverse = self.inverse(p)
        yield self.subtract(_UNIT, inverse) if lower else self.subtract(p, _UNIT)
        if signs <= (AT_LEAST_ZERO if lower else AT_MOST_ZERO):
            yield _Ratio(_NONE, _ONE)
            # for P >= 1: 2(P-1)/(P+1) <= log P, by comparing derivatives; both sides change sign under P -> 1/P
            yield self.scaled(self.multiply(self.subtract(p, _UNIT), self.inverse(self.plus(p, _UNIT))), Fraction(2))
        if signs <= (AT_MOST_ZERO if lower else AT_LEAST_ZERO):
            # for P >= 1: log P <= (P - 1/P)/2, which is asinh(x) <= x at x = sinh(log P); odd under P -> 1/P
            yield self.scaled(self.subtract(p, inverse), Fraction(1, 2))
