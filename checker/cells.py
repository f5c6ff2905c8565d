"""How much an exponent h of even noise rises within a distance D, cell by cell (docs/theory/additive.md, modulus).

On cells up to some X, h rises, or falls, or is in a turn; beyond X it rises, at most as steeply as is shown there. Series of two terms and
a rest bound h(c + D) - h(c) on a cell. Near 0, where terms may cancel, exponentials are replaced by polynomials and a rest.
"""

from contextlib import suppress
from decimal import Decimal
from itertools import pairwise
from math import factorial, floor

import growth
import intervals as iv
import series
from algebra import Field, Fraction, add, atom, constant, evaluate, key, mul, names, scale
from growth import R
from intervals import Interval, exp, point
from kept import kept
from terms import Undecided, sure

BITS, START, FINEST, MOST, TERMS = 90, Fraction(1, 16), Fraction(1, 2**13), 6000, 7
PLACES = 10**40
FARS = (4, 8, 16, 32, 64, 256)
SLOPE = "slope_bessel"


class Replaced:
    """A form in which functions are replaced by symbols that lie between two numbers: `ends`."""

    def __init__(self):
        self.ends, self.forms = {}, {}

    def symbol(self, low, high, about):
        """A symbol between two rationals; the same again for what is the same."""
        if about not in self.forms:
            name = f"w{len(self.forms)}"
            self.ends[name], self.forms[about] = (low, high), atom(("s", name))
        return self.forms[about]

    def field(self, name, high):
        """All of them, and a symbol between 0 and a number."""
        ends = {w: (low, upper, False, False, False) for w, (low, upper) in self.ends.items()}
        return Field({**ends, name: (Fraction(0), high, True, False, False)})

    def range(self, p, name, high):
        """An interval that holds the values of a form in these, the symbol from 0 on."""
        boxes = {w: point(low).hull(point(upper)) for w, (low, upper) in self.ends.items()}
        return evaluate(p, BITS, {**boxes, name: point(0).hull(point(high))})


def outward(x, way):
    """A rational of forty places at one side of a decimal number."""
    return Fraction(floor(Fraction(x.lo) * PLACES) if way < 0 else -floor(-Fraction(x.hi) * PLACES), PLACES)


def built(p, field, made):
    """The form built again, each product by `made`, which gives None where it is to be gone through."""
    total = []
    for m, c in p.items():
        known = made(m)
        if known is None:
            known = constant(1)
            for a, e in m:
                known = mul(known, again(a, e, field, made))
        total.append(scale(known, c))
    return add({}, *total)


def again(a, e, field, made):
    """The power of an atom, what is inside built again."""
    if a[0] in "ql":
        inside = built(dict(a[1]), field, made)
        return field.power(field.log(inside) if a[0] == "l" else inside, e)
    sure(a[0] in ("s", "p", "pi"), "a function that is not replaced")
    return field.power(made.start if a == R else atom(a), e)


class Near:
    """Forms on (0, high]: exp(u) is a polynomial and u**n/n! exp(v), v between 0 and u."""

    start = atom(R)

    def __init__(self, high):
        self.kept, self.high = Replaced(), high
        self.field = Marking(self.kept, high)

    def __call__(self, m):
        fast = [(a, e) for a, e in m if a[0] == "e" and "r" in names({((a, e),): 1})]
        if not fast:
            return None
        (a, e), *more = fast
        u = {a[1]: e}
        simple = not more and all(b == R and k > 0 and k.denominator == 1 for b, k in a[1] if "r" in names({((b, k),): 1}))
        sure(simple, "an exponential near 0")
        size = series.at(u, span(Fraction(0), self.high))
        low, top = exp(Interval(min(size.lo, Decimal(0)), min(size.lo, Decimal(0)))), exp(Interval(size.hi, max(size.hi, Decimal(0))))
        rest = self.kept.symbol(outward(low, -1), outward(top, 1), ("rest", a[1], e))
        terms, one = [], constant(1)
        for k in range(TERMS):
            terms.append(scale(one, Fraction(1, factorial(k))))
            one = mul(one, u)
        whole = add(*terms, scale(mul(one, rest), Fraction(1, factorial(TERMS))))
        return mul(whole, {tuple(x for x in m if x != (a, e)): Fraction(1)})

    def values(self, h):
        """An interval that holds a form there."""
        return self.kept.range(built(h, self.field, self), "r", self.high)

    def rises(self, slope):
        """Whether a form is certainly at least 0 there, what stands below a line multiplied out."""
        return self.field.positive(self.field.cleared(built(slope, self.field, self)), strict=False)


def bounded(h):
    """Whether h is certainly finite next to 0, and has no ends there."""
    return names(h) <= {"r"} and tried(lambda: Near(START).values(h)) is not None


class Marking(Field):
    """A field whose symbols may grow while a form is built."""

    def __init__(self, kept, high):
        self.kept, self.high = kept, high
        super().__init__(kept.field("r", high).domains)

    def atom_positive(self, a):
        """Of symbols that are known by now."""
        self.domains.update(self.kept.field("r", self.high).domains)
        return super().atom_positive(a)

    def positive(self, p, strict=True):
        """By an enclosure of what is left beside factors that are positive."""
        if not p:
            return not strict
        c, _, rest = self.content(p)
        found = tried(lambda: self.kept.range(scale(rest, c), "r", self.high))
        return found is not None and (found.lo > 0 or (found.lo == 0 and not strict))


def far_out(p, start, least=False):
    """An interval that holds a form at all r >= start: r is 1/s, and what falls or has a limit is a symbol. least: whose lower end alone
    counts.
    """
    kept, s = Replaced(), Fraction(1, start)

    def made(m):
        moving = [(a, e) for a, e in m if "r" in names({((a, e),): 1})]
        fast, slow = [x for x in moving if x[0][0] == "e"], [x for x in moving if x[0][0] == "f"]
        if fast:  # r**j exp(-c r**k ...), which falls from start on
            powers = sum((e for a, e in moving if a == R), Fraction(0))
            u = {}
            for a, e in fast:
                u = add(u, {a[1]: e})
            sure(all(falls(n, c) for n, c in u.items()), "an exponential that may rise")
            total = {tuple((a, e) for a, e in m if a == R or a[0] == "e"): Fraction(1)}
            field = Field({"r": (Fraction(start), None, False, True, False)})
            slope = add(constant(powers), mul(atom(R), field.derivative(u, "r")))
            sure(field.positive(scale(slope, -1)), "an exponential that may rise")
            top = series.at(total, point(start))
            left = tuple((a, e) for a, e in m if not (a == R or a[0] == "e"))
            return mul(kept.symbol(Fraction(0), outward(top, 1), ("falls", tuple(total))), built({left: Fraction(1)}, marked, made))
        if slow:
            (a, e), *more = slow
            sure(not more and a[1] == SLOPE, "a function far out")
            field = Field({"r": (Fraction(start), None, False, True, False)})
            x = dict(a[2][1])
            sure(field.positive(field.derivative(x, "r"), strict=False), "a Bessel function of what may fall")
            w = kept.symbol(outward(slope_at(a, start), -1), Fraction(-1), ("slope", a))  # L rises to -1
            left = tuple(x for x in m if x != (a, e))
            return mul(signed(w, e), built({left: Fraction(1)}, marked, made))
        return None

    made.start = atom(("s", "r"), -1)
    marked = Marking(kept, s)
    found = logs_far(built(levelled(p), marked, made), kept, start, least)
    return kept.range(found, "r", s)


def levelled(p):
    """The form with powers of sums that grow as exp(u) as powers of exp(u) and of what is left."""
    field, total = Field({}).over("r"), {}
    for m, c in p.items():
        made = constant(c)
        for a, e in m:
            u = growth.rising(field, dict(a[1])) if a[0] == "q" else {}
            rest = key(mul(dict(a[1]), field.exp(scale(u, -1)))) if u else None
            made = mul(made, mul(field.exp(scale(u, e)), atom(("q", rest), e)) if u else atom(a, e))
        total = add(total, made)
    return total


def logs_far(p, kept, start, least):
    """The form with a symbol for each -s**j log s, which is between 0 and its value at s = 1/start, where start**j > e; -log s alone is at
    least log(start).
    """
    log_s, s, total = ("l", key(atom(R))), Fraction(1, start), {}
    for m, c in p.items():
        powers = dict(m)
        if log_s in powers and len(powers) == 1 and powers[log_s] == 1 and c < 0 and least:
            low = series.at({((log_s, Fraction(1)),): Fraction(1)}, point(start))
            total = add(total, constant(-c * max(outward(low, -1), Fraction(0))))
        elif log_s in powers:
            j = powers.get(R, Fraction(0))
            top = -series.at({((R, j), (log_s, Fraction(1))): Fraction(1)}, point(s))
            sure(powers[log_s] == 1 and j > 0 and start**j >= 3, "a logarithm far out")
            left = tuple((a, e) for a, e in m if a not in (log_s, R))
            total = add(total, scale(mul(kept.symbol(Fraction(0), outward(top, 1), ("log", j)), {left: Fraction(1)}), -c))
        else:
            total = add(total, {m: c})
    return total


def signed(w, e):
    """A whole power of a symbol."""
    sure(e.denominator == 1 and e > 0, "a power of a slope")
    total = constant(1)
    for _ in range(int(e)):
        total = mul(total, w)
    return total


def slope_at(a, start):
    """The slope of log K_v where its argument is at r = start."""
    x = series.at(dict(a[2][1]), point(start))
    return series.bessel.log_slope(dict(a[2][0]).get((), Fraction(0)), x)


def falls(m, c):
    """Whether a product is certainly below 0: a negative multiple of a power of r, and of what is positive."""
    return c < 0 and all(a == R or a[0] in ("p", "pi") for a, _ in m)


class Rise:
    """h, and the cells [a, b] with what h does on each: "up", "down" or "turn"."""

    def __init__(self, h, shift, bound):
        iv.precision(BITS)
        self.shift, self.bound, self.looked, self.field = shift, bound, 0, Field({}).over("r")
        self.h = growth.unfolded(self.field, h)
        self.slope = self.field.derivative(self.h, "r")
        self.far = next((x for x in FARS if self.ends(x)), None)
        sure(self.far is not None, "how steep h is far out")
        self.cells = [self.first()]
        edges = [START * k for k in range(1, 17) if START * k >= self.cells[0][1]]
        edges += [Fraction(k, 4) for k in range(5, 4 * self.far + 1)]
        for a, b in pairwise(edges):
            self.cells += self.sorted(a, b)

    def ends(self, x):
        """Whether h rises beyond a number, by at most the bound within D."""
        slopes = [tried(lambda p=p: far_out(p, x)) for p in (self.slope, mul(self.slope, atom(R)))]
        steep = slopes[0] is not None and (slopes[0] * self.shift).hi <= self.bound.lo
        return steep and any(found is not None and found.lo >= 0 for found in slopes)

    def first(self):
        """The first cell: where h certainly rises from 0 on, or in a turn."""
        known = (b for b in (1, Fraction(1, 2), Fraction(1, 4), Fraction(1, 8), START) if tried(lambda b=b: Near(b).rises(self.slope)))
        found = next(known, None)
        return (Fraction(0), Fraction(found or START), "up" if found else "turn")

    def sorted(self, a, b):
        """Cells from a to b."""
        found = tried(lambda: series.at(self.slope, span(a, b)))
        if found is not None and (found.lo >= 0 or found.hi <= 0):
            return [(a, b, "up" if found.lo >= 0 else "down")]
        if b - a <= FINEST:
            return [(a, b, "turn")]
        self.count()
        return [*self.sorted(a, (a + b) / 2), *self.sorted((a + b) / 2, b)]

    def count(self):
        self.looked += 1
        sure(self.looked < MOST, "too many cells")

    def value(self, a, b):
        """An interval that holds h on a cell."""
        found = tried(lambda: series.at(self.h, span(a, b)))
        return Near(b).values(self.h) if found is None else found

    def shows(self):
        """Whether the modulus is certainly at most the bound."""
        ways, turns = (1,), []
        if {kind for *_, kind in self.cells} != {"up"}:
            ways, turns = (1, -1), [cell for cell in self.cells if cell[2] == "turn" or cell[0] == 0]  # 0 is one
            after = [*self.cells[1:], (self.far, None, "up")]
            turns += [(b, b, "turn") for (_, b, kind), (*_, then) in zip(self.cells, after, strict=True) if kind != then]
        values = [self.value(a, b) for a, b, _ in turns]
        for (a, b, _), x in zip(turns, values, strict=True):
            for (c, d, _), y in zip(turns, values, strict=True):
                apart = max(Fraction(0), a - d, c - b)
                if apart <= Fraction(self.shift.hi) and not (y - x).hi <= self.bound.lo:
                    return False
        # up to X; from there on D times the slope
        return all(self.below(a, b, way) for way in ways for a, b, _ in self.cells)

    def below(self, a, b, way):
        """Whether way (h(c + D) - h(c)) is at most the bound for c in a cell."""
        self.count()
        top = tried(lambda: self.nearly(a, b, way) if a else self.loosely(a, b, way))
        middle = (a + b) / 2
        if top is not None and top.hi <= self.bound.lo:
            return True
        return b - a > FINEST / 64 and self.below(a, middle, way) and self.below(middle, b, way)

    def loosely(self, a, b, way):
        """An interval below whose upper end the loss stays on a cell."""
        there, here = series.at(self.h, span(a, b) + self.shift), self.value(a, b)
        return there - here if way > 0 else here - there

    def nearly(self, a, b, way):
        """The same by the slope in the middle, and the greatest bend."""
        middle, half = (a + b) / 2, point((b - a) / 2)
        here, there = (series.series(self.h, point(middle) + x, 2) for x in (point(0), self.shift))
        bend = [series.series(self.h, span(a, b) + x, 3)[2] for x in (point(0), self.shift)]
        value, slope, curve = (y - x if way > 0 else x - y for x, y in ((here[0], there[0]), (here[1], there[1]), bend))
        steep = max(slope.hi, (-slope).hi)
        top = value + Interval(steep, steep) * half
        return top if curve.hi <= 0 else top + curve * half * half


def tried(look):
    """What a look gives, None where nothing is known."""
    with suppress(Undecided, ArithmeticError):
        return look()
    return None


def span(a, b):
    """An interval between two rationals."""
    return point(a).hull(point(b))


def rises_at_most(drawn, bound):
    """Whether the modulus of even noise at its shift is certainly at most a bound, forms without parameters."""
    shift, most = (evaluate(p, BITS) for p in (drawn.shift, bound))
    sure(shift.lo > 0, "answers that do not move")
    return kept(("cells", key(drawn.h), shift, most), lambda: Rise(drawn.h, shift, most).shows())
