"""Sums of products of powers: one form in which equal expressions meet, whose signs are proved for all parameters.

A form is a dict from products to rational factors: a product is a tuple of (atom, exponent), an atom a symbol ("s", name), a prime
("p", n), pi, ("e", product) for exp(product), ("q", key) and ("l", key) for a sum and its logarithm, or ("f", name, keys) for others.
Whatever is built has a value for all parameters: who divides, takes a root or a logarithm first proves a sign.
"""

from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from itertools import combinations
from math import floor, lcm

import functions
import intervals as iv
from forms import ONE, _joined, _names, add, atom, constant, key, mul, names, primes, scale, sub, whole_power
from intervals import Interval
from normal import erfc
from terms import Undecided, sure

PRECISIONS = (64, 160, 480)
DEEPEST = 2


def evaluate(p, bits, values=None):
    """An interval that holds the form's value. values: intervals of symbols."""
    iv.precision(bits)
    return _sum(p, values or {})


def _sum(p, values):
    return sum((reduce(Interval.__mul__, (_value(a, e, values) for a, e in m), iv.point(c)) for m, c in p.items()), iv.point(0))


def _value(a, e, values):
    kind = a[0]
    if kind == "e":
        return iv.exp(_sum({a[1]: e}, values))
    if kind in ("s", "p", "pi"):
        return (values[a[1]] if kind == "s" else iv.point(a[1]) if kind == "p" else iv.pi()) ** e
    if kind in ("q", "l"):
        inside = _sum(dict(a[1]), values)
        return (iv.log(inside) if kind == "l" else inside) ** e
    if a[1] in functions.BESSEL:
        return functions.BESSEL[a[1]](dict(a[2][0]).get((), Fraction(0)), _sum(dict(a[2][1]), values)) ** e
    if a[1] == "erfc":
        return erfc(*(_sum(dict(k), values) for k in a[2])) ** e
    args, pick = [_sum(dict(k), values) for k in a[2]], {"min": min, "max": max}.get(a[1], lambda ends: Decimal(floor(*ends)))
    return Interval(pick(y.lo for y in args), pick(y.hi for y in args)) ** e


class Field:
    """Forms over parameters. domains: for each name (lower, upper, lower_open, upper_open, whole), None for an infinite end."""

    def __init__(self, domains):
        self.domains, self._known, self.deep = dict(domains), {}, 0

    def over(self, name, lower=Fraction(0)):
        """The same with one more symbol, above `lower`, or anywhere for None."""
        return Field({**self.domains, name: (lower, None, True, True, False)})

    # -- from trees

    def form(self, tree):
        kind = tree[0]
        if kind == "num":
            return constant(tree[1])
        if kind == "sym":
            sure(tree[1] in self.domains, f"{tree[1]} is no parameter here")
            return atom(("s", tree[1]))
        if kind == "add":
            return add(*map(self.form, tree[1]))
        if kind == "mul":
            return reduce(mul, map(self.form, tree[1]))
        if kind == "pow":
            base, e = self.form(tree[1]), self.form(tree[2])
            return self.power(base, e.get((), Fraction(0))) if e.keys() <= {()} else self.exp(mul(e, self.log(base)))
        return self._call(tree[1], [self.form(arg) for arg in tree[2]])

    def _call(self, name, args):
        if name in ("exp", "log"):
            return getattr(self, name)(args[0])
        if name == "abs":
            return self.extreme("max", [args[0], scale(args[0], -1), {}])
        if name in ("cosh", "sinh"):
            return scale(add(self.exp(args[0]), scale(self.exp(scale(args[0], -1)), 1 if name == "cosh" else -1)), Fraction(1, 2))
        if name in ("min", "max"):
            return self.extreme(name, args)
        if name == "pi":
            return atom(("pi",))
        if name == "tanh":
            odds = self.exp(scale(args[0], 2))
            return mul(sub(odds, ONE), self.power(add(odds, ONE), Fraction(-1)))
        if name == "besselk" and args[0] in (constant(Fraction(1, 2)), constant(Fraction(-1, 2))):  # sqrt(pi/(2 x)) exp(-x)
            return mul(atom(("pi",), Fraction(1, 2)), mul(self.power(scale(args[1], 2), Fraction(-1, 2)), self.exp(scale(args[1], -1))))
        if name in ("besselk", "logbesselk", *functions.BESSEL):
            sure(args[0].keys() <= {()} and self.positive(args[1]), "a Bessel function of an order that is no number, or of what may be 0")
            found = atom(("f", name if name in functions.BESSEL else "log_bessel", tuple(map(key, args))))
            return self.exp(found) if name == "besselk" else found
        if name == "asinh" and args[0] and self.positive(scale(args[0], -1)):
            return scale(self._call("asinh", [scale(args[0], -1)]), -1)
        if name == "asinh":
            return self.log(add(args[0], self.power(add(ONE, mul(args[0], args[0])), Fraction(1, 2))))
        if name in ("erf", "erfc"):
            return sub(ONE, self.erfc(args[0])) if name == "erf" else self.erfc(args[0])
        sure(name == "floor" and names(args[0]) <= {"r"}, f"{name} is not known here")
        if not names(args[0]):
            sure(self.positive(sub(args[0], constant(self.floor(args[0])))), "a floor where it jumps")
            return constant(self.floor(args[0]))
        return atom(("f", name, (key(args[0]),)))

    def extreme(self, name, forms):
        """The least or the greatest, where the order is certain."""
        kept = []
        for p in forms:
            if any(self.at_most(*((k, p) if name == "min" else (p, k))) for k in kept):
                continue
            kept = [k for k in kept if not self.at_most(*((p, k) if name == "min" else (k, p)))] + [p]
        return kept[0] if len(kept) == 1 else atom(("f", name, tuple(sorted(map(key, kept), key=repr))))

    def erfc(self, p):
        """erfc(p), by erfc(-p) = 2 - erfc(p) of an argument above 0."""
        if not p or self.positive(p):
            return atom(("f", "erfc", (key(p),))) if p else ONE
        sure(self.positive(scale(p, -1)), "erfc of what has no sign that is known")
        return sub(constant(2), self.erfc(scale(p, -1)))

    def floor(self, p):
        """The floor of a constant."""
        low = floor(evaluate(p, PRECISIONS[1]).lo)
        found = [n for n in range(low, low + 3) if self.at_most(constant(n), p) and self.positive(sub(constant(n + 1), p))]
        sure(found, "the floor of what is not told from an integer")
        return found[0]

    def content(self, p):
        """(c, product, rest) with p = c * product * rest, the rest with no common factor."""
        least = {a: min(dict(n).get(a, Fraction(0)) for n in p) for m in p for a, _ in m}
        kept = {a: e for a, e in least.items() if e and self.atom_positive(a)}
        rest = mul(p, {tuple(sorted(((a, -e) for a, e in kept.items()), key=repr)): Fraction(1)})
        c = key(rest)[0][1]
        return c, kept, scale(rest, 1 / c)

    def power(self, p, e):
        if e.denominator == 1 and 0 <= e <= 64:
            return whole_power(p, int(e))
        sure(p or e > 0, "a quotient by 0")
        if not p:
            return {}
        c, product, rest = self.content(p)
        sure(abs(e) <= 10000 or c == 1, "a power that is too great")
        if rest != ONE and not self.positive(rest):
            sure(self.positive(scale(rest, -1)), "the sign of what is divided by, or of what is under a root")
            c, rest = -c, scale(rest, -1)
        sure(c > 0 or e.denominator == 1, "a root of what is negative")
        result = constant(c**e) if e.denominator == 1 else reduce(mul, (_atom_power(("p", n), k * e) for n, k in primes(c)), ONE)
        result = reduce(mul, (_atom_power(a, power * e) for a, power in product.items()), result)
        return result if rest == ONE else mul(result, _sum_power(rest, e))

    def exp(self, p):
        result = ONE
        for m, c in p.items():
            alone = len(m) == 1 and m[0][0][0] == "l" and m[0][1] == 1
            result = mul(result, self.power(dict(m[0][0][1]), c) if alone else {((("e", m), c),): Fraction(1)})
        return result

    def log(self, p):
        sure(self.positive(p), "a logarithm of what is not certainly positive")
        c, product, rest = self.content(p)
        if c < 0:
            c, rest = -c, scale(rest, -1)
        result = add(*(_log_atom(("p", n), e) for n, e in primes(c)), *(_log_atom(a, e) for a, e in product.items()))
        return result if rest == ONE else add(result, atom(("l", key(rest))))

    def derivative(self, p, name):
        """The derivative after a symbol."""
        each = (mul({tuple((b, k - (b == a)) for b, k in m if (b, k) != (a, 1)): c * e}, self._slope(a, name))
                for m, c in p.items() for a, e in m if name in _names(a))  # fmt: skip
        return add(*each)

    def _slope(self, a, name):
        if a[0] == "s":
            return ONE
        if a[0] == "f":
            return mul(functions.slope(self, a), self.derivative(dict(a[2][-1]), name))
        inside = {a[1]: Fraction(1)} if a[0] == "e" else dict(a[1])
        return mul(self.derivative(inside, name), {"e": atom(a), "q": ONE}.get(a[0]) or self.power(inside, Fraction(-1)))

    # -- signs

    def at_most(self, p, q):
        return self.positive(sub(q, p), strict=False)

    def zero(self, p):
        """Whether a form is certainly 0: what stands below a line is multiplied out."""
        p = self.cleared(p)
        other = self._by_logarithm(p)
        return not p or (other is not None and self.zero(other))

    def cleared(self, p):
        """The form times something positive, without what its terms have in common, and without powers of sums that are multiplied out."""
        c, _, rest = self.content(p) if p else (1, {}, {})
        total = _expanded(scale(rest, c))
        return p if total == p else self.cleared(total)

    def atom_positive(self, a):
        """Whether an atom is certainly positive."""
        if a[0] == "s":
            lower, _, lower_open, _, _ = self.domains[a[1]]
            return lower is not None and (lower > 0 or (lower == 0 and lower_open))
        return (a[0] != "f" or a[1] == "erfc") and (a[0] != "l" or self.positive(sub(dict(a[1]), ONE)))

    def positive(self, p, strict=True):
        """Whether a form is certainly above 0, or at least 0, for all parameters."""
        known = (key(p), strict)
        if known not in self._known:
            self._known[known] = False  # what is asked of it within its own answer is not known
            self._known[known] = self._positive(p, strict)
        return self._known[known]

    def _positive(self, p, strict):
        if not p:
            return not strict
        if not names(p):
            sign = next((s for s in (evaluate(p, bits).sign() for bits in PRECISIONS) if s is not None), None)
            return sign > 0 if sign is not None else not strict and self.zero(p)
        if all(c > 0 and all(e % 2 == 0 or self.atom_positive(a) for a, e in m) for m, c in p.items()):
            return not strict or any(all(self.atom_positive(a) for a, _ in m) for m in p)
        if not strict and self.zero(p):
            return True
        if any(self._below(p, far) for far in (Fraction(1, 9), Fraction(2), Fraction(30))):
            return False
        with suppress(Undecided):
            if self._by_coefficients(p, strict):
                return True
        other = self._by_logarithm(p)
        return (other is not None and self.positive(other, strict)) or self._by_slopes(p, strict)

    def _below(self, p, far):
        """Whether a form is certainly below 0 where each parameter is so far from its lower end."""
        values = {}
        for name in names(p):
            lower, upper, _, _, whole = self.domains[name]
            x = (lower or 0) + far if upper is None else upper - far if lower is None else lower + (upper - lower) * far / (1 + far)
            values[name] = iv.point(floor(x) + 1 if whole else x)
            if whole and upper is not None and floor(x) + 1 > upper:
                return False
        with suppress(Undecided, ArithmeticError):
            return evaluate(p, PRECISIONS[0], values).hi < 0
        return False

    def _by_slopes(self, p, strict):
        """Whether a form is at least 0 at the lower end of a parameter, and its derivative after it nowhere below 0."""
        if self.deep >= DEEPEST or len(p) > 12:
            return False
        self.deep += 1
        try:
            slopes = []
            for name in sorted(names(p)):
                with suppress(Undecided):
                    slope = self.derivative(p, name)
                    slopes.append((name in names(slope), len(slope), name))
            return any(self._rises(p, name, strict) for _, many, name in sorted(slopes) if many <= 12)
        finally:
            self.deep -= 1

    def _rises(self, p, name, strict):
        lower, _, lower_open, _, whole = self.domains[name]
        if lower is None or whole:
            return False
        with suppress(Undecided, ArithmeticError):
            rest, p = Field({x: d for x, d in self.domains.items() if x != name}), self.cleared(p)
            rest.deep, start = self.deep, substitute(p, rest, {name: constant(lower)})
            above = rest.positive(start)
            good = above or (rest.positive(start, strict=False) and (lower_open or not strict))
            slope = self.derivative(p, name) if good else {}
            return good and len(slope) <= 12 and self.positive(slope, strict and not above)
        return False

    def _by_coefficients(self, p, strict):
        """Whether no coefficient is below 0 where parameters are written by their distances t from their ends."""
        values, field = {}, Field(self.domains)
        field.deep = self.deep
        for name in sorted(names(p) & self.domains.keys()):
            lower, upper, lower_open, upper_open, _ = self.domains[name]
            if (lower, upper) in ((None, None), (0, None)):
                continue
            if strict and None not in (lower, upper) and not upper_open:
                return False  # the upper end itself is not among the values of (lower + upper t)/(1 + t)
            t, start = atom(("s", name)), constant(upper if lower is None else lower)
            field.domains[name] = (Fraction(0), None, upper_open if lower is None else lower_open, True, False)
            values[name] = sub(start, t) if lower is None else add(start, t if upper is None else scale(t, upper))
            values[name] = values[name] if None in (lower, upper) else mul(values[name], field.power(add(ONE, t), Fraction(-1)))
        p = field.cleared(substitute(p, field, values) if values else p)
        for a in sorted({a for m in p for a, _ in m if a[0] == "e"}, key=repr):
            exponents = [dict(m).get(a, Fraction(0)) for m in p]
            unit = Fraction(1, lcm(*(e.denominator for e in exponents)))
            if min(exponents) >= 0 and max(exponents) <= 64 * unit and a[1] and field.positive({a[1]: Fraction(1)}):
                u = ("e", (("above 1", a[1]),))  # exp(unit m) - 1, which is positive
                up = [whole_power(add(ONE, atom(u)), n) for n in range(int(max(exponents) / unit) + 1)]
                p = add(*(mul({tuple(x for x in m if x[0] != a): c}, up[int(dict(m).get(a, 0) / unit)]) for m, c in p.items()))
        return field._no_less(p, strict)

    def _no_less(self, p, strict):
        """Whether no coefficient is below 0 but b of x, where a x**2/y + c y are added, b**2 <= 4 a c; no symbol is below 0."""
        groups, numbers = {}, Field({})
        sure(not self.deep or len(p) <= 60, "a slope that is too long")
        for m, c in p.items():
            moving = tuple((a, e) for a, e in m if _names(a) or (a[0] == "e" and a[1][:1] and a[1][0][0] == "above 1"))
            groups.setdefault(moving, {})[tuple(x for x in m if x not in moving)] = c
        atoms = {a for m in groups for a, _ in m}
        sure(all(self.domains[a[1]][:2] != (None, None) if a[0] == "s" else a[0] in "eq" or self.atom_positive(a) for a in atoms), "a sign")
        for m in [m for m, b in groups.items() if not numbers.positive(b, strict=False)]:
            square = scale(mul(groups[m], groups[m]), Fraction(1, 4))
            firm = [x for x, b in groups.items() if numbers.positive(b)]
            pairs = [(x, y) for x, y in combinations(firm, 2) if _joined(x, y) == _joined(m, m)]
            made = [pair for pair in pairs if numbers.at_most(square, mul(*(groups[x] for x in pair)))]
            sure(made, "a coefficient that may be below 0")
            groups = {x: b for x, b in groups.items() if x not in (m, *made[0])}
        return not strict or any(all(map(self.atom_positive, dict(m))) and numbers.positive(b) for m, b in groups.items())

    def _by_logarithm(self, p):
        """What has the sign of c (n_1 log A_1 + ...) + rest: A_1**n_1 ... - exp(-rest/c), c > 0; None for another form."""
        logs = {m: c for m, c in p.items() if len(m) == 1 and m[0][0][0] == "l" and m[0][1] == 1}
        moving = {m: c for m, c in logs.items() if names({m: c})} or logs
        least = min((abs(c) for c in moving.values()), default=None)
        if not moving or any((c / least).denominator != 1 or abs(c / least) > 64 for c in moving.values()):
            return None
        inside = ONE
        for m, c in moving.items():
            inside = mul(inside, self.power(dict(m[0][0][1]), c / least))
        return sub(inside, self.exp(scale({m: c for m, c in p.items() if m not in moving}, -1 / least)))


def _expanded(p):
    total = {}
    for m, c in p.items():
        ups = {a: floor(e) for a, e in m if a[0] == "q" and e >= 1}
        rest = tuple((a, e - ups.get(a, 0)) for a, e in m if e != ups.get(a, 0))
        total = add(total, reduce(mul, (whole_power(dict(a[1]), n) for a, n in ups.items()), {rest: c}))
    return total


def _atom_power(a, e):
    if a[0] == "p":
        return scale(atom(a, e - floor(e)) if e != floor(e) else ONE, Fraction(a[1]) ** floor(e))
    return _sum_power(dict(a[1]), e) if a[0] == "q" else atom(a, e) if e else ONE


def _sum_power(p, e):
    return whole_power(p, int(e)) if e.denominator == 1 and 0 <= e <= 64 else atom(("q", key(p)), e)


def _log_atom(a, e):
    if a[0] == "e":
        return {a[1]: Fraction(e)}
    inside = constant(a[1]) if a[0] == "p" else dict(a[1]) if a[0] == "q" else atom(a)
    return scale(atom(("l", key(inside))), Fraction(e))


def substitute(p, field, values):
    """The form with symbols replaced by forms, built again in a field."""
    return add(*(reduce(mul, (_substituted(a, e, field, values) for a, e in m), constant(c)) for m, c in p.items()))


def _substituted(a, e, field, values):
    if a[0] == "s":
        return field.power(values.get(a[1], atom(a)), e)
    if a[0] == "e":
        return field.exp(substitute({a[1]: e}, field, values))
    if a[0] in ("q", "l"):
        inside = substitute(dict(a[1]), field, values)
        return field.power(field.log(inside) if a[0] == "l" else inside, e)
    again = field._call(a[1], [substitute(dict(k), field, values) for k in a[2]]) if a[0] == "f" else None
    return _atom_power(a, e) if again is None else field.power(again, e)
