"""Pairs of laws by their profiles (docs/theory/curves.md): H(eps), the most that P(S) - e**eps Q(S) is, for every real eps.

A profile is a function of an interval that holds eps, and gives one that holds H. What is known of a pair beside it: `mu`, where it is
N(0, 1) and N(mu, 1); `shift`, of Laplace noise of scale 1; `atoms`, the two probabilities of each of finitely many outcomes: forms all
three. `closed` gives the profile as a form, of eps >= 0; `ends` the least and the greatest loss; `parts` what it is composed of; `sample`
the pair that is sampled, and the rate, the law with the record first, and `back` that of which it is the other order; `lattice` of
Gaussian noise on the integers the shift and c in exp(-c n**2).
"""

from decimal import Decimal

from algebra import ONE, Field, Fraction, _sum, add, constant, key, mul, scale, sub
from intervals import Interval, exp, log, point
from normal import phi
from terms import sure

FIELD = Field({})
KNOWN = ("ends", "parts", "sample", "back", "lattice", "rho")
ZERO, UNIT = point(0), point(1)
HALF = Fraction(1, 2)


class Pair:
    """One pair in one order. alike: whether the other order has the same profile."""

    def __init__(self, profile, alike=False, **known):
        self.profile, self.alike = profile, alike
        self.mu, self.shift, self.atoms, self.closed = (known.get(key) for key in ("mu", "shift", "atoms", "closed"))
        self.ends, self.parts, self.sample, self.back, self.lattice, self.rho = (known.get(key) for key in KNOWN)

    def turned(self):
        """The other order."""
        if self.alike:
            return self
        atoms = None if self.atoms is None else [(q, p) for p, q in self.atoms]
        back = self.ends and (lambda: tuple(-x for x in self.ends()[::-1]))
        parts = self.parts and [(pair.turned(), n) for pair, n in self.parts]
        return finite(atoms) if atoms is not None else Pair(lambda eps: turned(self.profile, eps), ends=back, parts=parts, back=self)

    def both(self, eps):
        """The greater profile of the two orders."""
        here = self.profile(eps)
        return here if self.alike else highest([here, turned(self.profile, eps)])


def turned(profile, eps):
    """The profile of the other order: 1 - a + a H(1/a)."""
    odds = exp(eps)
    return above(UNIT - odds + odds * profile(-eps))


def above(x):
    """The positive part."""
    return Interval(max(x.lo, Decimal(0)), max(x.hi, Decimal(0)))


def highest(values):
    """The greatest."""
    return Interval(max(x.lo for x in values), max(x.hi for x in values))


def near(p):
    """The interval of a form without parameters, at the precision of now."""
    return _sum(p, {})


def gaussian(mu):
    """docs/theory/curves.md#gaussian."""
    if not mu:
        return finite([(ONE, ONE)])

    def profile(eps):
        size = near(mu)
        half, far = size / point(2), eps / size
        return above(phi(half - far) - exp(eps) * phi(-half - far))

    def closed(eps):
        far, half, root = mul(eps, FIELD.power(mu, Fraction(-1))), scale(mu, HALF), FIELD.power(constant(2), -HALF)
        first, second = (FIELD.erfc(mul(root, p)) for p in (sub(far, half), add(far, half)))
        return scale(sub(first, mul(FIELD.exp(eps), second)), HALF)

    return Pair(profile, True, mu=mu, closed=closed)


def laplace(shift):
    """docs/theory/curves.md#laplace."""

    def profile(eps):
        size = near(shift)
        return above(Interval(below(eps.hi, size.lo).lo, below(eps.lo, size.hi).hi))

    def below(x, size):
        """The value at one eps and one shift: it falls in eps, and rises with the shift."""
        if x <= size.copy_negate():
            return UNIT - exp(Interval(x, x))
        return UNIT - exp((Interval(x, x) - Interval(size, size)) / point(2))

    def closed(eps):
        return {} if FIELD.at_most(shift, eps) else sub(ONE, FIELD.exp(scale(sub(eps, shift), HALF)))

    return Pair(profile, True, shift=shift, closed=closed, ends=lambda: (-near(shift), near(shift)))


def finite(atoms):
    """docs/theory/curves.md#finite-curve, of one pair of rows."""

    def profile(eps):
        odds = exp(eps)
        return sum((above(near(p) - odds * near(q)) for p, q in atoms), ZERO)

    def closed(eps):
        odds = FIELD.exp(eps)
        terms = [sub(p, mul(odds, q)) for p, q in atoms]
        return add(*(t for t in terms if not FIELD.at_most(t, {})))

    def ends():
        losses = [log(near(p)) - log(near(q)) for p, q in atoms if p and q]
        return Interval(min(x.lo for x in losses), min(x.hi for x in losses)), highest(losses)

    same = all(any(pair == (q, p) for pair in atoms) for p, q in atoms) and len(set(map(key_of, atoms))) == len(atoms)
    return Pair(profile, same, atoms=atoms, closed=closed, ends=ends)


def key_of(atom):
    """What tells atoms apart."""
    return tuple(map(key, atom))


def greatest(pairs):
    """What is nowhere below any of them: a maximum of profiles is one."""
    first, *more = pairs
    if not more:
        return first
    if all(p.mu is not None for p in pairs):
        return gaussian(FIELD.extreme("max", [p.mu for p in pairs]))
    if all(p.shift is not None for p in pairs):
        return laplace(FIELD.extreme("max", [p.shift for p in pairs]))
    return Pair(lambda eps: highest([p.profile(eps) for p in pairs]), all(p.alike for p in pairs))


def symmetric(pair):
    """What dominates both orders of a pair, in both orders."""

    def ends():
        size = highest([-pair.ends()[0], pair.ends()[1]])
        return -size, size

    def closed(eps):
        return FIELD.extreme("max", [pair.closed(eps), other.closed(eps)])

    other = pair.turned()
    known = {"ends": pair.ends and ends, "closed": closed if pair.closed and other.closed else None}
    return pair if pair.alike else Pair(pair.both, True, **known)


def sampled(pair, rate):
    """docs/theory/composition.md#poisson-subsampling, the law with the record first."""
    if pair.atoms is not None:
        return finite([(add(mul(rate, p), mul(sub(ONE, rate), q)), q) for p, q in pair.atoms])

    def profile(eps):
        p, odds = near(rate), exp(eps)
        rest = UNIT - p
        if odds.hi <= rest.lo:
            return UNIT - odds
        if odds.lo <= rest.hi:  # about the corner
            return Interval((UNIT - odds).lo, max((UNIT - odds).hi, p.hi))
        return above(p * pair.profile(log((odds - rest) / p)))

    def ends():
        p = near(rate)
        return tuple(log(UNIT - p + p * exp(x)) for x in pair.ends())

    return Pair(profile, ends=pair.ends and ends, sample=(pair, rate))


def hull(points):
    """The greatest profile with H(eps) <= delta, in both orders, for each (eps, delta), forms: the lower convex hull of what is known."""

    def profile(eps):
        known, a = [(ZERO, UNIT), (UNIT, UNIT)], exp(eps)
        for e, d in points:
            odds, delta = exp(near(e)), near(d)
            known += [(odds, delta), (UNIT / odds, UNIT - UNIT / odds + delta / odds)]
        best = UNIT
        for x, y in known:
            if x.hi <= a.lo:
                best = least(best, y)
        for x, y in known:
            for z, w in known:
                if x.hi < a.lo and a.hi < z.lo:
                    best = least(best, y + (w - y) * ((a - x) / (z - x)))
        return best

    def closed(eps):
        """What is stated at the eps itself, or before it."""
        return FIELD.extreme("min", [ONE, *(d for e, d in points if FIELD.at_most(e, eps))])

    return Pair(profile, True, closed=closed)


def ranged(eta):
    """docs/theory/composition.md#privacy-measures, of a bounded range: (e**(eta/2) - e**(eps/2))**2/(e**eta - 1)."""

    def profile(eps):
        size = near(eta)
        if eps.lo >= size.hi:
            return ZERO
        if eps.hi <= -size.hi:
            return UNIT - exp(eps)
        root = exp(size / point(2)) - exp(eps / point(2))
        found = root * root / (exp(size) - UNIT)
        return found if eps.hi <= size.lo and eps.lo >= -size.lo else Interval(max(ZERO.lo, (UNIT - exp(eps)).lo), UNIT.hi)

    square = scale(mul(eta, eta), Fraction(1, 8))
    return Pair(profile, True, ends=lambda: (-near(eta), near(eta)), rho=lambda a: scale(square, a))


def concentrated(measure, rows, factor):
    """What is stated in zCDP, or of Renyi divergences of some orders: rho(a) bounds D_a, None where nothing is known."""
    if measure == "zcdp":
        least_rho = mul(mul(factor, factor), FIELD.extreme("min", [row[0] for row in rows]))
        return converted(lambda a: scale(least_rho, a))
    sure(measure == "renyi" and factor == ONE and all(row[0].keys() == {()} for row in rows), "a guarantee in this measure")

    def known(a):
        values = [row[1] for row in rows if row[0][()] >= a]
        return FIELD.extreme("min", values) if values else None

    return converted(known, orders=sorted({row[0][()] for row in rows}))


def converted(rho, orders=(), **known):
    """The curve that Renyi divergences imply: delta <= e**((a - 1) (D_a - eps)) (1 - 1/a)**a/(a - 1) for every a > 1."""

    def at(a, eps):
        size = rho(a)
        if size is None:
            return UNIT
        return exp(point(a - 1) * (near(size) - eps)) * exp(point(a) * log(UNIT - UNIT / point(a))) / point(a - 1)

    def profile(eps):
        best = UNIT.hi
        for a in orders or map(Fraction, (2, 3, 4, 5, 6, 8, 10, 16, 32, 64)):
            best = min(best, at(a, eps).hi)
        low, high = Fraction(1, 100), Fraction(400)  # a - 1: the bound falls, and then rises
        for _ in range(0 if orders else 40):
            x, y = (Fraction(round((low ** (1 - w) * high**w) * 10**6), 10**6) for w in (Fraction(2, 5), Fraction(3, 5)))
            first, second = at(1 + x, eps).hi, at(1 + y, eps).hi
            best = min(best, first, second)
            low, high = (low, y) if first <= second else (x, high)
        return Interval(ZERO.lo, best)

    return Pair(profile, True, rho=rho, **known)


def least(x, y):
    """The less of two."""
    return Interval(min(x.lo, y.lo), min(x.hi, y.hi))
