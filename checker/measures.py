"""Claims in zCDP, GDP and Renyi divergences (docs/theory/measures.md), of the pairs that curves are derived from.

The value of a composition is the sum over its parts, of GDP in squares. From above rho is bounded part by part; from below each order
bounds it, the limit at order 1 too.
"""

from decimal import Decimal
from statistics import NormalDist

import intervals as iv
from algebra import ONE, Fraction, add, constant, evaluate, mul, scale, sub
from growth import INFINITE
from intervals import Interval, exp, point
from normal import phi
from pairs import FIELD, HALF, near
from terms import Undecided, rational, sure

ORDERS = (Fraction(1), Fraction(2))
BITS = 200


def inverse(a):
    """The form 1/a."""
    return FIELD.power(a, Fraction(-1))


def orders(pair):
    """The pair in both orders."""
    return [pair] if pair.alike else [pair, pair.turned()]


def divergence(pair, a):
    """D_a of one order of a pair, exactly, the mean loss for a = 1; None where it is not known here."""
    if pair.parts is not None:
        each = [(divergence(part, a), n) for part, n in pair.parts]
        if None in [d for d, _ in each]:
            return None
        return INFINITE if INFINITE in [d for d, _ in each] else add(*(scale(d, n) for d, n in each))
    if pair.mu is not None:
        return scale(mul(pair.mu, pair.mu), a * HALF)
    if pair.lattice is not None:
        step, rate = pair.lattice  # equal where a times the shift is an integer
        return scale(rate, a * step**2) if (a * step).denominator == 1 and a > 1 else None
    if pair.shift is not None:
        t = pair.shift
        if a == 1:
            return add(t, constant(-1), FIELD.exp(scale(t, -1)))
        inside = add(scale(FIELD.exp(scale(t, a - 1)), a / (2 * a - 1)), scale(FIELD.exp(scale(t, -a)), (a - 1) / (2 * a - 1)))
        return scale(FIELD.log(inside), 1 / (a - 1))
    if pair.atoms is not None:
        if any(p and not q for p, q in pair.atoms):
            return INFINITE
        both = [(p, q) for p, q in pair.atoms if p]
        if a == 1:
            return add(*(mul(p, sub(FIELD.log(p), FIELD.log(q))) for p, q in both))
        return scale(FIELD.log(add(*(mul(FIELD.power(p, a), FIELD.power(q, 1 - a)) for p, q in both))), 1 / (a - 1))
    return mixed(pair, a) if pair.sample is not None else None


def mixed(pair, a):
    """Of a Gaussian pair on a sample, the law with the record first, at a whole order."""
    (part, rate), n = pair.sample, int(a)
    if part.mu is None or n != a or n < 2 or n > 256:
        return None
    rest, size, terms, ways = sub(ONE, rate), mul(part.mu, part.mu), [], 1
    for k in range(n + 1):
        chance = mul(FIELD.power(rest, Fraction(n - k)), FIELD.power(rate, Fraction(k)))
        terms.append(scale(mul(chance, FIELD.exp(scale(size, Fraction(k * (k - 1), 2)))), ways))
        ways = ways * (n - k) // (k + 1)
    return scale(FIELD.log(add(*terms)), Fraction(1, n - 1))


def least_rho(pair):
    """A bound on rho from above: None where it is not known here."""
    if pair.parts is not None:
        each = [(least_rho(part), n) for part, n in pair.parts]
        return None if None in [r for r, _ in each] else add(*(scale(r, n) for r, n in each))
    if pair.lattice is not None:
        step, rate = pair.lattice
        return scale(rate, step**2)
    if pair.rho is not None:  # one multiple of every order
        one, two, ten = (pair.rho(Fraction(a)) for a in (1, 2, 10))
        linear = None not in (one, two, ten) and FIELD.zero(sub(scale(one, 2), two)) and FIELD.zero(sub(scale(one, 10), ten))
        return one if linear else None
    if pair.atoms is not None:
        if any(bool(p) != bool(q) for p, q in pair.atoms):
            return None
        losses = [sub(FIELD.log(p), FIELD.log(q)) for p, q in pair.atoms if p]
        worst = FIELD.extreme("max", [*losses, *(scale(x, -1) for x in losses)])
        return mul(worst, FIELD._call("tanh", [scale(worst, HALF)]))
    return divergence(pair, ORDERS[0]) if pair.mu is not None or pair.shift is not None else None


def most(pair, a):
    """D_a of one order from above."""
    found = divergence(pair, a)
    if found is None and pair.parts is not None:
        each = [(most(part, a), n) for part, n in pair.parts]
        return INFINITE if INFINITE in [d for d, _ in each] else add(*(scale(d, n) for d, n in each))
    if found is None and pair.lattice is not None:
        step, rate = pair.lattice
        return scale(rate, a * step**2)
    if found is None and pair.back is not None and pair.back.sample is not None:
        found = mixed(pair.back, a)  # the reverse order of a Gaussian pair on a sample has no more
    if found is None and pair.rho is not None:
        found = pair.rho(a)
    sure(found is not None, "a divergence from above")
    return found


def value(listed, name, a, side, field=FIELD):
    """A bound on the measure of the greatest of some pairs, in the orders that are asked for: a form, or infinite."""
    found = []
    for pair in listed:
        if name == "renyi":
            found.append(most(pair, a) if side == "upper" else divergence(pair, a))
        elif side == "upper":
            found.append(least_rho(pair))
        else:
            each = [(divergence(pair, order), order) for order in ORDERS]
            found += [d if d in (None, INFINITE) else scale(d, 1 / order) for d, order in each]
    sure(side == "lower" or None not in found, "a measure of a part")
    found = [x for x in found if x is not None]
    sure(found, "a measure of a part from below")
    return INFINITE if INFINITE in found else field.extreme("max", found)


def signed(field, gap):
    """1, -1 or 0 where a form is certainly above 0, below, or at most 0, for all parameters."""
    return 1 if field.positive(gap) else -1 if field.positive(scale(gap, -1)) else 0 if field.at_most(gap, {}) else None


def beside(pair, mu, field=FIELD):
    """1, -1 or 0 where the mu of GDP of a pair is certainly above a form, below, or at most it; None where it is not known."""
    if pair.mu is not None:
        return signed(field, sub(pair.mu, mu))
    sure(not field.domains, "parameters")
    evaluate({}, BITS)
    if pair.shift is not None:
        return (phi(-near(mu) / point(2)) - exp(-near(pair.shift) / point(2)) / point(2)).sign()
    sure(pair.atoms is not None, "GDP of a pair of this kind")
    if any(bool(p) != bool(q) for p, q in pair.atoms):
        return 1
    signs = [vertex(near(p), near(q), near(mu)) for p, q in events(pair.atoms)]
    return 1 if 1 in signs else None if None in signs else -1


def events(atoms):
    """The probabilities of the events of the outcomes with the greatest losses, but for none and all."""
    ordered, found = [], [({}, {})]
    for p, q in (atom for atom in atoms if atom[0]):
        place = next((i for i, (x, y) in enumerate(ordered) if FIELD.at_most(mul(x, q), mul(p, y))), len(ordered))
        sure(all(FIELD.at_most(mul(p, y), mul(x, q)) for x, y in ordered[:place]), "in which order losses are")
        ordered.insert(place, (p, q))
    for p, q in ordered:
        found.append((add(found[-1][0], p), add(found[-1][1], q)))
    return found[1:-1]


def vertex(p, q, mu):
    """1 where p is certainly above Phi(Phi^-1(q) + mu), -1 where it is below."""
    low, high = (quantile(q, way) for way in (-1, 1))
    if p.hi <= phi(low + mu).lo:
        return -1
    return 1 if p.lo > phi(high + mu).hi else None


def quantile(q, way):
    """A number next to Phi^-1(q): at most it for way = -1, at least it for way = 1. It is guessed, and then looked at."""
    sure(q.lo > 0 and q.hi < 1, "a quantile without end")
    guess, step = Decimal(NormalDist().inv_cdf(float(q.lo))), Decimal("1e-13")
    while step < 1:
        end = iv.DOWN.add(guess, step * way)
        here = phi(Interval(end, end))
        if here.hi <= q.lo if way < 0 else here.lo >= q.hi:
            return Interval(end, end)
        step *= 10
    raise Undecided("a quantile")


def compare(curve, measure, side, claimed):
    """1, -1 or 0 where a bound of a side is certainly above what is claimed, below, or equal to it; None where that is not known."""
    listed = [part for pair in curve.pairs(side)[0] for part in ([pair] if curve.order or pair.alike else orders(pair))]
    if measure["name"] == "gdp":
        listed = [part for pair in curve.pairs(side)[0] for part in orders(pair)[: 1 if pair.mu is not None else 2]]
        signs = [beside(pair, claimed, curve.q.field) for pair in listed]
        return 1 if 1 in signs else None if None in signs else max(signs)
    a = None if measure["at"] is None else rational(measure["at"])
    sure(measure["name"] in ("zcdp", "renyi") and (a is None) == (measure["name"] == "zcdp") and (a is None or a > 1), "another measure")
    found = value(listed, measure["name"], a, side, curve.q.field)
    return 1 if found == INFINITE else signed(curve.q.field, sub(found, claimed))


def bounds(curve, measure, verdict):
    """What is proved of a claim in a measure: pairs of a side and what that takes for granted."""
    if measure["value"] is None:  # some upper bound is asked for
        if measure["name"] == "gdp":
            listed = [part for pair in curve.pairs("upper")[0] for part in orders(pair)]
            sure(all(beside(part, constant(10**4)) in (-1, 0) for part in listed), "an upper bound")
        else:
            a = None if measure["at"] is None else rational(measure["at"])
            sure(value([x for p in curve.pairs("upper")[0] for x in orders(p)], measure["name"], a, "upper") != INFINITE, "an upper bound")
        return [("upper", curve.pairs("upper")[1])]
    side, signs = ("lower", (1,)) if verdict == "REFUTED" else ("upper", (-1, 0))
    claimed = curve.q.form(measure["value"])
    if compare(curve, measure, side, claimed) not in signs:
        raise Undecided("whether the measure is beside what is claimed")
    return [(side, curve.pairs(side)[1])]


KINDS = ["gaussian", "laplace", "finite", "added", "implied", "sampled", "selection"]
RULES = ("measures-of-sums", "measures-of-a-curve", *(f"{kind}-measures" for kind in KINDS))
