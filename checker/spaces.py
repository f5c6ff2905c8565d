"""Answers in a metric space, near the truth: how private any mechanism can be, or one that is given (docs/theory/spaces.md)."""

from itertools import product
from math import prod

from algebra import ONE, Fraction, add, atom, constant, key, mul, names, scale, sub
from growth import INFINITE
from noise import IDEAL
from shapes import Space
from terms import Malformed, must, rational, require, sure

FEW = 12


# -- rules: each gives a side, a value, the parameters at which it holds, and what it takes for granted


def net_mechanism(space):
    """docs/theory/spaces.md#net-mechanism."""
    space.any_mechanism()
    share, field, told = rational(space.evidence["share"]), space.field, space.evidence["net"]
    must(0 < share <= 1, "a share that is none")
    radius = scale(space.gamma, share)
    if space.kind == "box":
        sure(not told, "a net of another kind")
        p, d = space.norm["p"], len(space.numbers)
        wide = ONE if p is None else field.power(constant(d), 1 / rational(p))
        pieces = [mul(mul(x, wide), field.power(scale(radius, 2), Fraction(-1))) for x in space.numbers]
        numbers = [add(x, ONE) if names(x) else constant(-field.floor(scale(x, -1))) for x in pieces]
        n = ONE
        for x in numbers:
            n = mul(n, x)
    elif space.kind == "ellipsoid" and told.keys() == {"depth", "factor", "power"}:
        return finish(space, share, [], endless(space, radius, told))
    else:
        sure(space.kind == "ellipsoid" and told.keys() == {"axes", "tail"} and not field.domains, "a net of another kind")
        axes, tail = told["axes"], constant(rational(told["tail"]))
        must(type(axes) is int and 1 <= axes <= 10_000 and field.at_most({}, tail), "axes, or a tail, that are none")
        must(field.at_most(space.axes(axes + 1), tail), "an axis of the tail is longer")
        rest = sub(mul(radius, radius), mul(tail, tail))
        sure(field.positive(rest), "a tail that is too long")
        one = scale(field.power(rest, Fraction(-1, 2)), 4)
        return finish(space, share, [field.extreme("max", [constant(2), mul(one, space.axes(k))]) for k in range(1, axes + 1)])
    return finish(space, share, [n])


def endless(space, radius, told):
    """log N of the net of axes that are at most c log(1 + k)**-p: one above t has a number below exp((c/t)**(1/p)), t = s = r/sqrt(2)."""
    c, p, field = constant(rational(told["factor"])), rational(told["power"]), space.field
    level = atom(("l", key(add(ONE, atom(("s", "k"))))), -p)
    known = told["depth"] == 1 and p > 0 and field.positive(c) and space.over.at_most(space.axis, mul(c, level))
    sure(known, "axes that are not certainly below such a bound")
    t = mul(radius, field.power(constant(2), Fraction(-1, 2)))
    many = field.exp(field.power(mul(c, field.power(t, Fraction(-1))), 1 / p))
    each = add(constant(2), mul(scale(space.axes(1), 4), field.power(t, Fraction(-1))))
    return mul(many, field.log(each))


def finish(space, share, factors, more=None):
    """What the exponential mechanism on a net has, of so many points: the product of some numbers, each at least 1; more: log of one."""
    field, several = space.field, factors != [ONE]
    sure(share < 1 or not several, "several points of a net of radius gamma")
    if not several:
        return "upper", {}, [IDEAL]
    if len(factors) == 1:
        odds = space.odds(factors[0], space.beta)
    else:  # log((n - 1) ...) is at most log n + ...
        rest = field.log(mul(sub(ONE, space.beta), field.power(space.beta, Fraction(-1))))
        odds = field.extreme("max", [{}, add(rest, more or {}, *map(field.log, factors))])
    return "upper", mul(scale(mul(odds, space.lipschitz), 2 / (1 - share)), field.power(space.gamma, Fraction(-1))), [IDEAL]


def gamma_tail(field, d, t):
    """The probability that a gamma law of a whole shape is above t >= 0."""
    terms, ways = [ONE], 1
    for k in range(1, d):
        ways *= k
        terms.append(scale(field.power(t, Fraction(k)), Fraction(1, ways)))
    return mul(field.exp(scale(t, -1)), add(*terms))


def noise_near(space):
    """docs/theory/spaces.md#noise-near, on R**d and boxes in lp norms, to which clamped entries come back."""
    space.any_mechanism()
    sure(space.kind in ("real", "box"), "noise on another space")
    d, field = space.count(space.numbers[0]) if space.kind == "real" else len(space.numbers), space.field
    if "tail" in space.evidence:
        t = constant(rational(space.evidence["tail"]))
        must(field.at_most({}, t) and d <= 1000, "a tail that is none")
        must(field.at_most(gamma_tail(field, int(d), t), space.beta), "the noise is further with a greater probability")
    else:
        t = scale(field.log(space.beta), -1)
        t = t if d == 1 else add(scale(t, 2), scale(field.log(constant(2)), 2 * d))
    return "upper", mul(mul(space.lipschitz, t), field.power(space.gamma, Fraction(-1))), [IDEAL]


def cell_response(space):
    """docs/theory/spaces.md#cell-response, of the nodes of a tree."""
    space.any_mechanism()
    depth, field = space.evidence["depth"], space.field
    known = space.kind == "infinite_tree" and type(depth) is int and 1 <= depth < len(space.nodes)
    sure(known and field.at_most(space.apart(depth), space.gamma), "pieces that are not near to one of their points")
    n = space.nodes[depth]
    odds = {} if n == 1 else space.odds(constant(n), space.beta)
    return "upper", mul(mul(odds, space.lipschitz), field.power(space.apart(depth - 1), Fraction(-1))), [IDEAL]


def packed(space, told):
    """(n, m): so many answers, infinitely many for None, of which no point is within gamma of more than m."""
    field = space.field
    if space.kind == "box":
        sure(told == {"by": "line"}, "a packing of another kind")
        pieces = [mul(x, field.power(scale(space.gamma, 2), Fraction(-1))) for x in space.numbers]
        return prod(-field.floor(scale(x, -1)) for x in pieces), 1
    if space.kind == "infinite_tree":
        sure(told.keys() == {"depth"} and type(told["depth"]) is int and 1 <= told["depth"] <= len(space.nodes), "no such depth")
        depth = told["depth"]
        must(field.positive(sub(space.apart(depth - 1), space.gamma)), "leaves of several nodes are near to one answer")
        return (space.nodes[depth] if depth < len(space.nodes) else None), 1
    sure(space.kind == "ellipsoid" and not field.domains, "a packing of another kind")
    least = constant(rational(told["least"]))
    must(field.positive(sub(least, space.gamma)), "points that are within gamma of 0")
    square = mul(least, least)
    m = field.floor(mul(square, field.power(sub(square, mul(space.gamma, space.gamma)), Fraction(-1))))
    if told.keys() == {"least", "first"}:
        must(type(told["first"]) is int and told["first"] >= 1 and field.at_most(least, space.axes(told["first"])), "axes that are shorter")
        return 2 * told["first"], m
    good = told.keys() == {"least", "start", "step"} and all(type(told[x]) is int and told[x] >= 1 for x in ("start", "step"))
    sure(good and space.over.at_most(least, space.axis), "axes that may be shorter")
    return None, m


def weighted_packing(space):
    """docs/theory/spaces.md#weighted-packing, where any two databases are at most so far apart."""
    sure(space.width is not None, "databases that are not bounded")
    n, m = packed(space, space.evidence["packing"])
    if n is None:
        return "lower", INFINITE, []
    sure(n > 1, "one point alone")
    odds = space.odds(constant(n), add(space.beta, constant(m - 1)))
    sure(space.field.positive(space.width), "databases that are no distance apart")
    return "lower", mul(odds, space.field.power(space.width, Fraction(-1))), []


def grid_packing(space):
    """docs/theory/spaces.md#grid-packing, of all points of the integer lattice in the maximum norm, or on a line."""
    space.per_answer()
    field, reach = space.field, space.evidence["reach"]
    line = space.kind == "box" and (len(space.numbers) == 1 or space.norm["p"] is None) and not field.domains
    sure(line and len(reach) == len(space.numbers), "points of another lattice, or in another norm")
    must(all(type(n) is int and 0 <= n <= 10_000 for pair in reach for n in pair) and all(len(p) == 2 for p in reach), "no such points")
    step, told = scale(space.gamma, 2), space.form(space.evidence["epsilon"])
    must(all(field.positive(sub(x, scale(step, sum(pair)))) for x, pair in zip(space.numbers, reach, strict=True)), "points without room")
    held = [prod(min(a, k) + min(b, k) + 1 for a, b in reach) for k in range(max(map(max, reach)) + 1)]
    rate = mul(mul(told, step), field.power(space.lipschitz, Fraction(-1)))
    terms = [scale(field.exp(scale(rate, -k)), n - (held[k - 1] if k else 0)) for k, n in enumerate(held)]
    must(field.positive(sub(mul(sub(ONE, space.beta), add(*terms)), ONE), strict=False), "the sum is not so great")
    return "lower", told, []


def half_spaces(space):
    """docs/theory/spaces.md#half-spaces, on an endless line."""
    space.per_answer()
    sure(space.kind == "real", "a line with ends")
    return "lower", mul(scale(mul(space.lipschitz, space.field.log(space.beta)), -1), space.field.power(space.gamma, Fraction(-1))), []


def density_mechanism(space):
    """docs/theory/spaces.md#density-mechanism."""
    side, field, (table, rate) = space.evidence["side"], space.field, space.given
    sure(space.kind in ("box", "real") and table == [] and rate is not None, "no density on a convex set")
    b, d = space.form(rate), space.count(space.numbers[0]) if space.kind == "real" else len(space.numbers)
    sure(field.positive(b), "a rate that is not above 0")
    alone = space.kind == "box" and d == 1  # an interval, where the supremum of what is far is known
    far, exact = gamma_tail(field, int(d), mul(b, space.gamma)), alone or space.kind == "real"
    if alone:
        sure(field.positive(sub(space.numbers[0], space.gamma)), "an interval that is near everywhere")
        here, end = (field.exp(scale(mul(b, x), -1)) for x in (space.gamma, space.numbers[0]))
        far = mul(sub(here, end), field.power(sub(ONE, end), Fraction(-1)))
    if side == "far":
        sure(exact, "how far answers are")
        must(field.positive(sub(far, space.beta)), "answers that are near enough")
        return "lower", INFINITE, [IDEAL]
    value = scale(mul(b, space.lipschitz), 1 if space.kind == "real" else 2)
    if side == "upper":
        must(field.at_most(far, space.beta), "answers that are too far")
        return "upper", value, [IDEAL]
    require(side == "lower", Malformed, "'side' is none")
    space.per_answer()
    sure(exact or space.norm["p"] == "1", "how private a density is at least")
    return "lower", value, [IDEAL]


def near_table(space):
    """docs/theory/spaces.md#near-table."""
    space.any_mechanism()
    rows = [list(map(rational, row)) for row in space.evidence["rows"]]
    return tabled(space, [[constant(x) for x in row] for row in rows])


def tabled(space, rows):
    """A table is near, and private at an epsilon: of databases as near as they may be."""
    field, n, epsilon = space.field, len(space.rows), space.form(space.evidence["epsilon"])
    sure(space.kind == "points" and len(rows) == n <= FEW and all(len(row) == n for row in rows), "a table of another form")
    for x, row in enumerate(rows):
        must(all(field.at_most({}, p) for p in row) and field.zero(sub(add(*row), ONE)), "a row is no distribution")
        must(field.at_most(sub(ONE, space.beta), add({}, *(row[y] for y in range(n) if space.near(x, y)))), "answers that are too far")
    must(field.at_most({}, epsilon), "a negative epsilon")
    for a, b, y in product(range(n), repeat=3):
        odds = field.exp(scale(mul(epsilon, field.power(space.lipschitz, Fraction(-1))), space.rows[a][b]))
        must(field.at_most(rows[a][y], mul(odds, rows[b][y])), "two rows are further apart")
    return "upper", epsilon, [IDEAL]


def given_mechanism(space):
    """docs/theory/spaces.md#given-mechanism, with a database for each answer."""
    space.per_answer()
    field, n, (table, rate) = space.field, len(space.rows), space.given
    sure(space.kind == "points" and n <= FEW and (table == []) != (rate is None), "no mechanism on finitely many points")
    if rate is None:
        rows = [[constant(rational(x)) for x in row] for row in table]
        sure(len(rows) == n and all(len(row) == n and field.zero(sub(add(*row), ONE)) for row in rows), "rows that are no distributions")
    else:
        b = space.form(rate)
        sure(field.positive(b), "a rate that is not above 0")
        rows = [[field.exp(scale(b, -d)) for d in row] for row in space.rows]
        rows = [[mul(w, field.power(add(*row), Fraction(-1))) for w in row] for row in rows]
    asked = space.evidence.keys() - {"at"}
    if asked == {"far"}:
        x = space.evidence["far"]
        must(type(x) is int and 0 <= x < n, "no database")
        far = add({}, *(rows[x][y] for y in range(n) if not space.near(x, y)))
        must(field.positive(sub(far, space.beta)), "answers that are near enough")
        return "lower", INFINITE, [IDEAL]
    if asked == {"epsilon"}:
        return tabled(space, rows)
    sure(asked == {"cell"}, "what is told of a mechanism otherwise")
    a, b, y = space.evidence["cell"]
    must(all(type(i) is int and 0 <= i < n for i in (a, b, y)) and a != b and field.positive(rows[a][y]), "no pair with a likely answer")
    if field.zero(rows[b][y]):
        return "lower", INFINITE, [IDEAL]
    loss = sub(field.log(rows[a][y]), field.log(rows[b][y]))
    return "lower", scale(mul(loss, space.lipschitz), 1 / space.rows[a][b]), [IDEAL]


def near_dual(space):
    """docs/theory/spaces.md#near-dual: weights and multipliers that no mechanism meets which is as private (docs/theory/optimum.md, LP)."""
    field, n, told, epsilon = space.field, len(space.rows), space.evidence, space.form(space.evidence["epsilon"])
    weights = list(map(rational, told["weights"]))
    sure(space.kind == "points" and not field.domains and len(weights) == n <= FEW, "weights of another form")
    must(sum(weights) > 0 and min(weights) >= 0, "weights that are none")
    values = [[constant(weights[x] * (not space.near(x, y))) for y in range(n)] for x in range(n)]
    for a, b, given in told["multipliers"]:
        z = list(map(rational, given))
        must(all(type(i) is int and 0 <= i < n for i in (a, b)) and a != b and len(z) == n and min(z) >= 0, "multipliers that are none")
        apart = space.width if space.width is not None else scale(field.power(space.lipschitz, Fraction(-1)), space.rows[a][b])
        odds = field.exp(mul(epsilon, apart))
        for y in range(n):
            values[a][y] = add(values[a][y], constant(z[y]))
            values[b][y] = sub(values[b][y], scale(odds, z[y]))
    total = add({}, *(field.extreme("min", row) for row in values))
    must(field.at_most({}, epsilon) and field.positive(sub(total, scale(space.beta, sum(weights)))), "whether some answers are too far")
    return "lower", epsilon, []


RULES = {
    "net-mechanism": (net_mechanism, ("net", "share")),
    "noise-near": (noise_near, ("tail",)),
    "cell-response": (cell_response, ("depth",)),
    "weighted-packing": (weighted_packing, ("packing", "at")),
    "grid-packing": (grid_packing, ("reach", "epsilon", "at")),
    "half-spaces": (half_spaces, ("at",)),
    "density-mechanism": (density_mechanism, ("side",)),
    "near-table": (near_table, ("rows", "epsilon")),
    "given-mechanism": (given_mechanism, ("cell", "epsilon", "far")),
    "near-dual": (near_dual, ("weights", "multipliers", "epsilon")),
}


def infer(claim, field, line):
    """What a line proves of the least epsilon of a claim about a space."""
    sure(line["rule"] in RULES and not line.get("place") and not line.get("premises"), "the rule is not known here")
    rule, known = RULES[line["rule"]]
    space = Space(claim, field, line.get("parameters", {}), known)
    side, value, assumed = rule(space)
    bounds = "the distances of databases are as declared, and each answer is the true one of some"
    return side, value, space.at, [*assumed, bounds]
