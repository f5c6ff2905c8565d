"""Noise with a random factor, of functions and of vectors: means over the law of the factor V (docs/theory/curves.md, elliptical process).

The integral is one over t = log v between two whole numbers, or over v where V lies between two rationals; what is beyond is bounded by the
slope of the density there.
"""

import re
from decimal import Decimal
from fractions import Fraction

import cells
import growth
import integrals
import intervals as iv
import mixtures
import noise
import series
from algebra import ONE, Field, add, atom, constant, mul, names, scale, sub, substitute
from growth import INFINITE
from intervals import Interval
from kept import kept
from noise import IDEAL, finite_law
from pairs import ZERO, Pair
from terms import must, rational, sure

T, EPS = ("s", "t"), ("s", "eps")
FINE, BITS, REACH = "1e-18", 110, (3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 28, 36)
TOLD = ["answers differ by functions of the noise's Cameron-Martin space",
        "the covariance has infinite rank, and the whole function is released"]  # fmt: skip
PLAIN = {"kind", "mixing", "support", "scale"}


class Factor:
    """The law of a factor v > 0: -log of its density up to a constant, in r, and where it lies."""

    def __init__(self, h, support):
        self.field, self.h, (low, high) = Field({}).over("r"), h, support
        self.ends = None if (low, high) == ("0", None) else (rational(low), rational(high or ""))
        sure(self.ends is None or 0 < self.ends[0] < self.ends[1], "a support of another form")
        sure(names(self.h) <= {"r"}, "a density of several variables")

    @classmethod
    def of(cls, q):
        """That of a mechanism with a mixing density."""
        m, field = q.mechanism, Field({}).over("r")
        sure(not q.field.domains and not re.search(r"\br\b", m["mixing"]), "parameters, or another variable in a mixing density")
        return cls(scale(field.log(field.form(q.tree(re.sub(r"\bv\b", "r", m["mixing"])))), -1), m["support"])

    def mean(self, weight, others, falls=None):
        """An interval that holds the mean of a weight, a form in r and other symbols that is between 0 and 1: two integrals. falls: a
        function that is nowhere below the weight, and falls in r.
        """
        mass, mixed = self.integral(ONE, {}, None), self.integral(weight, others, falls)
        found = mixed / mass
        return Interval(max(found.lo, Decimal(0)), min(found.hi, Decimal(1)))

    def integral(self, weight, others, falls):
        """The integral of a weight and the density."""
        if self.ends is not None:
            density = mul(self.field.exp(scale(self.h, -1)), weight)
            return pieces(integrals.Integral(density, "r", FINE, others), *self.ends, 8)
        ends, rests = [], []
        for h, up in ((integrals.inverted(self.h), False), (self.h, True)):
            for reach in REACH:
                start = int(iv.exp(series.point(reach)).lo)
                rest = cells.tried(lambda h=h, start=start: integrals.beyond(h, start))
                if rest is not None and rest.hi < Decimal("1e-17"):
                    break
            sure(rest is not None and rest.hi < Decimal("1e-9"), "a law with long tails")
            ends.append(Fraction(reach if up else -reach))
            rests.append(rest if falls is None or not up else Interval(Decimal(0), (rest * falls(series.point(start))).hi))
        in_t = Field({"t": (None, None, True, True, False)})
        at = {"r": in_t.exp(atom(T))}
        density = in_t.exp(sub(atom(T), substitute(self.h, in_t, at)))
        inside = pieces(integrals.Integral(mul(density, moved(weight, in_t, at)), "t", FINE, others), *ends, 1)
        return Interval(inside.lo, (inside + rests[0] + rests[1]).hi)


def moved(p, field, at):
    """A form with r replaced, functions of it too; other symbols stay."""
    total = {}
    for m, c in p.items():
        made = constant(c)
        for a, e in m:
            if a[0] == "f":
                made = mul(made, atom((*a[:2], tuple(cells.key(moved(dict(k), field, at)) for k in a[2])), e))
            elif a[0] == "s":
                made = mul(made, field.power(at[a[1]], e) if a[1] in at else atom(a, e))
            elif a[0] == "e":
                made = mul(made, field.exp(moved({a[1]: e}, field, at)))
            else:
                sure(a[0] in ("p", "pi"), "a weight of another form")
                made = mul(made, atom(a, e))
        total = add(total, made)
    return total


def pieces(integral, a, b, each):
    """The sum over cells of a width of 1/each."""
    total, x = ZERO, a
    while x < b:
        y = min(b, x + Fraction(1, each))
        total, x = total + integral.over(x, y), y
    return total


def gaussian_weight(mu):
    """H(eps) = (erfc((eps/mu - mu/2)/sqrt(2)) - e**eps erfc((eps/mu + mu/2)/sqrt(2)))/2 as a form in eps and what mu, a form, is of."""
    field = Field({"r": (Fraction(0), None, True, True, False)})
    far, half, root = mul(atom(EPS), field.power(mu, Fraction(-1))), scale(mu, Fraction(1, 2)), field.power(constant(2), Fraction(-1, 2))
    first, second = (atom(("f", "erfc", (cells.key(mul(root, p)),))) for p in (sub(far, half), add(far, half)))
    return scale(sub(first, mul(atom(("e", ((EPS, Fraction(1)),))), second)), Fraction(1, 2))


def curve(q, factor, size):
    """The mean of Gaussian profiles at mu = size V**(-1/2), or V**(1/2), a form in r."""
    weight = gaussian_weight(size)

    def profile(eps):
        digits = iv.DOWN.prec
        iv.precision(BITS)
        asked = ("mean", cells.key(factor.h), factor.ends, cells.key(size), eps)
        found = kept(asked, lambda: factor.mean(weight, {"eps": eps}))
        iv.DOWN.prec = iv.UP.prec = digits
        return found

    return Pair(profile, True)


def process(q):
    """docs/theory/curves.md#elliptical-process, of a stated sensitivity."""
    m = q.mechanism
    plain = all(not m[key] for key in m.keys() - PLAIN) and not q.query and q.moved is not None and q.factor == ONE
    sure(plain, "a process of its own kind")
    s = q.form(m["scale"])
    sure(q.field.positive(s) and q.field.positive(q.moved), "a scale, or a sensitivity, that is not certainly above 0")
    factor = Factor.of(q)
    return curve(q, factor, mul(mul(q.moved, q.field.power(s, Fraction(-1))), atom(("s", "r"), Fraction(-1, 2))))


def elliptical_process_unbounded(q, evidence):
    """docs/theory/additive.md#elliptical-process-unbounded."""
    q, at = q.at(evidence)
    m = q.mechanism
    plain = q.kind == "elliptical_process" and all(not m[key] for key in m.keys() - PLAIN) and evidence.keys() <= {"at"}
    sure(plain and q.moved is not None and not q.query and not q.field.domains and finite_law(q), "a process of another kind, or law")
    must(q.field.positive(q.moved), "answers do not move")
    return "lower", INFINITE, at, [*TOLD, "answers of some neighbours are apart", IDEAL]


def conditional(q, told=None):
    """-log of the conditional density of a mixture in r and v, whose normaliser is free of v: at r times a scale, times its d-th power."""
    field, h = q.field.over("v"), mixtures.joint(q, alone=True)
    if told is not None:
        size = field.form(q.tree(told))
        sure(field.positive(size) and "r" not in names(size), "the scale of the conditional noise is not certainly positive")
        once = substitute(h, field.over("r"), {"r": mul(atom(("s", "r")), size)})
        sure("v" not in names(sub(once, mul(q.form(q.mechanism["dimension"]), field.log(size)))), "conditionals that are no scale family")
    return h


def scale_mixture(q):
    """docs/theory/curves.md#gaussian-scale-mixture (c), from above: conditionals exp(-b(v) r**2) a(v), V = 1/(2 b(v))."""
    m, field = q.mechanism, q.field.over("v")
    radial = noise.Noise(noise.Question({"kind": "radial", "profile": "exp(-r)", **{x: m[x] for x in ("norm", "dimension", "scale")}},
                                        q.moved, q.query, q.field, q.values))  # fmt: skip
    euclid = radial.norm["kind"] == "ellipsoid" or radial.norm == {**noise.LINE, "p": "2"} or radial.dimension == ONE
    sure(euclid and q.factor == ONE and not q.field.domains, "a mixture in another norm, or on neighbours of neighbours")
    b = {tuple(x for x in p if x[0] != ("s", "r")): c for p, c in conditional(q).items() if "r" in names({p: c})}
    alone = all(dict(p).get(("s", "r")) == 2 for p, c in conditional(q).items() if "r" in names({p: c})) and "r" not in names(b)
    sure(alone and field.positive(b), "conditionals that are not Gaussian")
    rest = {p: c for p, c in conditional(q).items() if "r" not in names({p: c})}
    free = add(rest, mul(scale(radial.dimension, Fraction(1, 2)), field.log(b)))
    sure("v" not in names(free), "a normaliser that moves with v")
    size = field.power(scale(b, 2), Fraction(1, 2))
    here = substitute(size, Field({}).over("r"), {"v": atom(("s", "r"))})
    return curve(q, Factor.of(q), mul(radial.shift, here))


def mixture_concave(q, evidence):
    """docs/theory/additive.md#mixture-concave: log G(0) - log G(D), enclosed."""
    side, q, at = noise.sided(q, evidence)
    m, field = q.mechanism, q.field.over("r").over("v")
    sure(q.kind == "mixture" and not q.field.domains and "v" not in q.values and m["support"] == ["0", None], "no mixture over all v > 0")
    radial = noise.Noise(noise.Question({"kind": "radial", "profile": "exp(-r)", **{x: m[x] for x in ("norm", "dimension", "scale")}},
                                        q.moved, q.query, q.field, q.values))  # fmt: skip
    h = conditional(q, evidence["scale"])
    start = substitute(h, q.field.over("v"), {"r": {}})
    sure(noise.bent(field, h, -1) and start is not None and q.field.positive(radial.shift), "whether conditionals are concave in r")
    for p, lead in [growth.growth(field, h)]:
        sure(p != INFINITE and p > 0 and field.positive(lead), "whether conditionals are integrable")
    iv.precision(BITS)
    laws = [mixed(q, r) for r in ({}, radial.shift)]
    found = [iv.log(kept(("mass", cells.key(law.h)), lambda law=law: law.integral(ONE, {}, None))) for law in laws]
    loss = found[0] - found[1]
    law = Factor.of(q)
    sure(kept(("mass", cells.key(law.h)), lambda: law.integral(ONE, {}, None)).lo > 0, "whether the mixing density has finite mass")
    return side, constant(Fraction(loss.hi if side == "upper" else loss.lo)), at, noise.assumed_of(radial, side)


def mixed(q, r):
    """What G(r) is the integral of, with r for v."""
    over = Field({}).over("v")
    h = substitute(mixtures.joint(q), over, {"r": r})
    return Factor(substitute(h, Field({}).over("r"), {"v": atom(("s", "r"))}), ["0", None])
