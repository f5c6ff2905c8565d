"""How likely one mechanism's answers are to be far from the truth (docs/theory/utility.md, far noise and far outputs)."""

from math import factorial

import noise
from algebra import ONE, Fraction, add, constant, mul, scale, sub
from finite import Table
from growth import R, split
from noise import IDEAL, LINE, Noise
from terms import must, parse, rational, sure

KEYS = {"mechanism", "mechanism_name", "name", "epsilon", "delta", "sensitivity", "query", "domains", "within", "measure"}
LENGTHS = {"l1": "1", "l2": "2", "linf": None}


def tail(field, s, y):
    """The probability that a gamma law of a shape that is whole, or a half more than that, is above y >= 0."""
    if s.denominator == 1:
        terms = [scale(field.power(y, Fraction(k)), Fraction(1, factorial(k))) for k in range(int(s))]
        return mul(field.exp(scale(y, -1)), add(*terms))
    root, found = field.power(y, Fraction(1, 2)), []
    for k in range(1, int(s - Fraction(1, 2)) + 1):  # Gamma(k + 1/2) = (2 k)!/(4**k k!) sqrt(pi)
        inverse = scale(field.power(field.form(parse("pi")), Fraction(-1, 2)), Fraction(4**k * factorial(k), factorial(2 * k)))
        found.append(mul(inverse, mul(field.power(y, Fraction(k - 1)), root)))
    rest = mul(field.exp(scale(y, -1)), add({}, *found))
    return add(field.erfc(root), rest)


def far_noise(claim, q, gamma):
    """docs/theory/utility.md#far-noise, of densities exp(-c r**a)."""
    sure(q.kind in noise.ADDED and claim.keys() <= {*KEYS, "distance"} and q.query is None, "what is told of noise otherwise")
    sure(q.moved is None, "a sensitivity beside how far answers are")
    q.moved, field = ONE, q.field
    drawn = Noise(q, line=True)
    sure(drawn.even and drawn.support == [None, None], "noise that is not even, or has ends")
    drawn.check_integrable()
    moving = {m: c for m, c in drawn.h.items() if split(m)[0]}
    (m, c), *more = moving.items()
    inside, rest = split(m)
    sure(not more and len(inside) == 1 and inside[0][0] == R, "noise of another shape")
    a, rate = inside[0][1], {rest: c}
    must(a > 0 and field.positive(rate), "no density")
    if drawn.whole:
        sure(a == 1 and drawn.dimension == drawn.copies == ONE and gamma.keys() <= {()}, "noise on the integers of another shape")
        u, m = field.exp(scale(rate, -1)), field.floor(gamma)
        return scale(mul(field.power(u, Fraction(m + 1)), field.power(add(ONE, u), Fraction(-1))), 2)
    d = mul(drawn.dimension, drawn.copies)
    sure(d.keys() == {()} and d[()] <= 1000, "a dimension that is a parameter")
    size, norm = d[()], drawn.norm if q.kind == "radial" else {**LINE, "p": str(a)}  # coordinates have their length in l_a
    sure(q.kind == "radial" or "distance" in claim or size == 1 or drawn.norm == norm, "the length of coordinates in another norm")
    y = mul(rate, field.power(mul(gamma, drawn.shift), a))
    asked = LENGTHS[claim["distance"]] if "distance" in claim else norm["p"]
    same = size == 1 or "distance" not in claim or (norm["kind"] == "lp" and norm["p"] == asked)
    if same:
        s = size / a
        sure(s.denominator <= 2, "a shape that is neither whole nor a half")
        return tail(field, s, y)
    apart = asked is None and norm["kind"] == "lp" and norm["p"] is not None and rational(norm["p"]) == a and a in (1, 2)
    sure(apart, "coordinates that are not independent, or another norm")
    near = sub(ONE, tail(field, 1 / a, y))
    return sub(ONE, field.power(near, Fraction(size)))


def far_outputs(claim, q, gamma):
    """docs/theory/utility.md#far-outputs, of tables with costs, and of scores."""
    sure(q.kind in ("table", "exponential") and claim.keys() <= {*KEYS, "loss"} and q.moved is None and not q.query, "no finite mechanism")
    table, field = Table(q), q.field
    if "loss" in claim:
        cost = [[constant(rational(x)) for x in row] for row in claim["loss"]]
    else:
        sure(q.kind == "exponential", "a table without costs")
        listed = [[q.form(x) for x in row] for row in q.mechanism["scores"]]
        cost = [[sub(field.extreme("max", row), x) for x in row] for row in listed]
    rows = table.rows
    must([len(row) for row in cost] == [len(row) for row in rows], "costs that are not one for each input and output")
    found = []
    for x, row in enumerate(rows):
        over = [field.positive(sub(c, gamma)) for c in cost[x]]
        sure(all(o or field.at_most(c, gamma) for o, c in zip(over, cost[x], strict=True)), "whether a cost is above gamma")
        found.append(add({}, *(p for p, o in zip(row, over, strict=True) if o)))
    return field.extreme("max", found)


RULES = {"far-noise": far_noise, "far-outputs": far_outputs}


def verdict(claim, q, line):
    """PROVED or REFUTED, and what that takes for granted: what is claimed is compared with the probability itself."""
    sure(line["rule"] in RULES and not line.get("place") and claim["delta"] == "0" and claim["epsilon"] == "tight", "the rule is not known")
    measure, gamma, field = claim["measure"], q.form(claim["within"]), q.field
    sure(measure["name"] == "beta" and measure["at"] is None and field.at_most({}, gamma), "no probability, or a negative distance")
    beta = RULES[line["rule"]](claim, q, gamma)
    if measure["value"] is None:
        return "PROVED", [IDEAL]
    claimed = q.form(measure["value"])
    below = field.at_most(beta, claimed)
    sure(below or field.positive(sub(beta, claimed)), "whether the probability is beside what is claimed")
    return ("PROVED" if below else "REFUTED"), [IDEAL]
