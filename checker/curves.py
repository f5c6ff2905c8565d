"""Privacy curves of mechanisms, and the rules that read bounds off them (docs/theory/curves.md, docs/theory/composition.md).

What a mechanism loses is derived from the mechanism itself, whatever the lines say of its parts: at each pair of neighbours that parts may
share, or at the worst where each has its own. A curve from above dominates both orders of all neighbours; one from below is that of some.
"""

from contextlib import suppress
from itertools import permutations
from math import comb, prod

import grid
import keys
import lattice
import linear
import matrices
import measures
import noise
import norms
import outcomes
import pairs
from algebra import ONE, Fraction, add, constant, evaluate, mul, scale, sub
from finite import Table
from growth import INFINITE
from noise import IDEAL, LINE, Noise, Question
from norms import dot
from parts import COMBINATORS, STEPS, asked, down, every, further, inside, known_size, leaves, relation, spaces
from terms import Undecided, must, rational, sure

HALF = Fraction(1, 2)
MANY = 20_000
PRECISIONS = (100, 200, 400)
SIGNS = {"upper": (-1, 0), "lower": (1,)}  # of the divergence less delta: what proves a bound of that side on epsilon
WORST = "answers of some neighbours are apart, in the worst direction, by the stated sensitivity"
ALL = "no answer moves further than the stated sensitivity"


class Way:
    """One way to look at the parts: a side, and the pair of neighbours that all share, None where each has its own."""

    def __init__(self, side, pair, order, assumed):
        self.side, self.pair, self.order, self.assumed = side, pair, order, assumed

    def of(self, q):
        """The pair of laws of a part, as often as it is run."""
        count = q.count(q.part["times"] if q.part else "1")
        sure(count.keys() == {()}, "a number of runs that is a parameter")
        return composed([(self.once(q), int(count[()]))], self.side)

    def once(self, q):
        kind, inner = q.kind, [down(q, n) for n in range(len(inside(q.mechanism)))]
        if kind == "compose":
            return composed([(self.once(p), self.times(p)) for p in inner], self.side)
        if kind == "parallel":
            sure(q.factor == ONE and self.pair is None, "parallel parts on neighbours of neighbours, or that share theirs")
            self.assumed.append("parts in parallel see disjoint data, and the worst neighbours of each occur")
            return self.one_of(q, [self.of(p) for p in inner])
        if kind == "subsample":
            return self.sampled(q, inner[0])
        if kind in (*STEPS, "post_process"):
            sure(kind in STEPS or self.side == "upper", "what a map of the output leaves to be seen is not known")
            sure(kind not in STEPS or q.field.positive(q.form(q.mechanism[STEPS[kind]])), "neighbours that are no step apart")
            sure(kind != "group" or q.count(q.mechanism["size"], known=sure), "a group of no whole number")
            self.assumed.append(f"neighbours behind {kind} move apart in one direction" if kind in STEPS else "the map does not look at the data")
            return self.of(inner[0])
        sure(kind not in COMBINATORS, "the curve of a mechanism of this kind")
        return self.leaf(q)

    def one_of(self, q, made):
        """The greatest of several pairs: from below that is no pair of its own, but of the whole."""
        plain = all(pair.mu is not None for pair in made) or all(pair.shift is not None for pair in made)
        sure(self.side == "upper" or plain or q.part is None, "which of several pairs of neighbours parts share")
        return pairs.greatest(made)

    def times(self, q):
        count = q.count(q.part["times"])
        sure(count.keys() == {()}, "a number of runs that is a parameter")
        return int(count[()])

    def sampled(self, q, part):
        rate = q.form(q.mechanism["rate"])
        sure(q.factor == ONE and q.mechanism["scheme"] == "poisson", "a sample on neighbours of neighbours, or without replacement")
        sure(q.field.positive(rate) and q.field.at_most(rate, ONE), "a rate that is not certainly above 0 and at most 1")
        self.assumed.append("samples are drawn as declared and not seen")
        inner = self.of(part)
        if self.pair is not None:  # whether the record is in the second of the two: of inputs in the order "reverse" alone
            back = self.order == "reverse" if type(self.pair[0]) is int else sum(self.pair) < 0
            made = pairs.sampled(inner.turned() if back else inner, rate)
            return made.turned() if back else made
        sure(inner.alike or self.side == "upper", "which of two laws is that with the record")
        return pairs.sampled(pairs.symmetric(inner), rate)

    def leaf(self, q):
        if q.kind in ("table", "exponential"):
            sure(self.pair is not None and type(self.pair[0]) is int, "a table by itself")
            rows = Table(q).rows
            self.assumed.append("the listed inputs are adjacent, and no others")
            return pairs.finite(list(zip(*(rows[x] for x in self.pair), strict=True)))
        if q.kind == "kary_response":
            return response(q)
        if q.kind in ("sum", "correlated_noise"):
            sure(not q.query and q.factor == ONE, "sums of noises, or correlated ones, of a query, or of neighbours of neighbours")
            self.assumed.append(ALL if self.side == "upper" else WORST)
            return pairs.gaussian(matrices.size(q, self.side) if q.kind == "correlated_noise" else summed(q))
        if q.kind == "noisy_keys":
            self.assumed.append(keys.TOLD)
            return self.one_of(q, keys.listed(q, self.side, added, composed))
        if q.kind == "noisy_max":
            sure(self.side == "upper", "what a selection leaves to be seen")
            self.assumed.append(ALL)
            return pairs.gaussian(compared(q))
        if q.kind == "filter":
            return budget(q, self.side)
        if q.kind == "guarantee":
            sure(self.side == "upper", "what a stated guarantee leaves to be seen")
            self.assumed.append("the mechanism is as private as is stated")
            return stated(q)
        q = further(q)
        sure(q.kind in noise.ADDED, "the curve of a mechanism of this kind")
        if q.query:
            sure(self.pair is not None and q.factor == ONE and known_size(q), "a query whose records are not told")
            return self.at_pair(q)
        self.assumed.append(ALL if self.side == "upper" else WORST)
        made = added(q.mechanism, q, self.side, None)
        sure(made.alike or (self.order is None and q.part is None), "which of two laws is the first")
        return made

    def at_pair(self, q):
        """Noise on a query: how far its answers are apart is known."""
        moved = [dot(row, self.pair) for row in norms.matrix_of(q.query["rows"])]
        if q.mechanism.get("integers"):
            return added(q.mechanism, q, self.side, moved)
        drawn, norm = Noise(Question(q.mechanism, ONE, None, q.field, q.values), line=True), q.mechanism.get("norm", LINE)
        if not drawn.even or drawn.support != [None, None]:
            sure(len(moved) == 1 and q.kind == "translation", "several coordinates of noise that is not even")
            here = linear.pair(drawn, constant(abs(moved[0])))
            return here if moved[0] < 0 else here.turned()  # the first law is to the right where the answer is greater
        apart = q.kind == "product" or (norm["kind"] == "lp" and norm["p"] == "1")
        if len(moved) > 1 and apart and noise.power_of(drawn) == 1:  # coordinates are drawn apart
            rate = mul(noise.rate_of(drawn, 1), drawn.shift)
            return composed([(pairs.laplace(scale(rate, abs(x))), 1) for x in moved if x], self.side)
        return added(q.mechanism, q, self.side, moved)


def composed(listed, side):
    """The composition of pairs, each so often."""
    flat = [(inner, m * n) for pair, n in listed for inner, m in (pair.parts or [(pair, 1)])]
    flat = [(pair, n) for pair, n in flat if n and pair.atoms != [(ONE, ONE)]]
    if len(flat) + sum(n > 1 for _, n in flat) > 1 and any(pair.rho is not None for pair, _ in flat):
        return pairs.converted(lambda a: tried(flat, a), parts=flat)
    normal = [(pair, n) for pair, n in flat if pair.mu is not None]
    if len(normal) > 1 or [n for _, n in normal] not in ([], [1]):
        size = add(*(scale(mul(pair.mu, pair.mu), n) for pair, n in normal))
        flat = [(pairs.gaussian(pairs.FIELD.power(size, HALF)), 1), *(part for part in flat if part not in normal)]
    if not flat:
        return pairs.finite([(ONE, ONE)])
    if [n for _, n in flat] == [1]:
        return flat[0][0]
    if all(pair.atoms for pair, _ in flat) and prod(comb(n + len(pair.atoms) - 1, n) for pair, n in flat) <= MANY:
        return outcomes.composed(flat)
    return grid.composed(flat, side == "upper")


def compared(q):
    """docs/theory/selection.md#compared-gaussians: mu of noisy max with Gaussian noise, of answers that each move by at most D."""
    m, n = q.mechanism, q.count(q.mechanism["candidates"])
    sure(m["neighbours"] == "all" and q.moved is not None and not q.query and q.factor == ONE, "answers that move otherwise")
    sure(n.keys() == {()} and n[()] >= 2, "a number of candidates that is a parameter, or one")
    drawn, count = Noise(Question(m["noise"], q.moved, None, q.field, q.values), line=True), n[()]
    line = drawn.dimension == drawn.copies == ONE and drawn.norm["kind"] == "lp" and not drawn.whole
    sure(line and noise.power_of(drawn) == 2, "other noise than Gaussian noise on the line")
    most = count if count % 2 == 0 else count - 1 / count
    return mul(drawn.shift, q.field.power(scale(noise.rate_of(drawn, 2), 2 * most), HALF))


def tried(flat, a):
    """The sum of the divergences of an order, None where one is not known."""
    with suppress(Undecided):
        return measures.most(pairs.Pair(None, True, parts=flat), a)
    return None


def response(q):
    """docs/theory/finite.md#kary-response: two inputs, whose own outputs are the likely ones."""
    k, p = q.count(q.mechanism["k"], 2), q.form(q.mechanism["p"])
    sure(k.keys() == {()} and q.field.at_most({}, p) and q.field.at_most(p, ONE), "p is not certainly from 0 to 1")
    rest = mul(sub(ONE, p), q.field.power(sub(k, ONE), Fraction(-1)))
    others = [(scale(rest, k[()] - 2),) * 2] if k[()] > 2 else []
    return pairs.finite([(p, rest), (rest, p), *others])


def worst(epsilon, delta):
    """The pair that dominates all that is (epsilon, delta)-private."""
    odds = pairs.FIELD.exp(epsilon)
    less = mul(sub(ONE, delta), pairs.FIELD.power(add(ONE, odds), Fraction(-1)))
    more, certain = mul(odds, less), [(delta, {}), ({}, delta)] if delta else []
    return pairs.finite([*certain, (more, less), (less, more)] if epsilon else [*certain, (sub(ONE, delta),) * 2])


def budget(q, side):
    """docs/theory/composition.md#privacy-filter: what has the whole budget may be chosen."""
    m, rows = q.mechanism, [[q.form(x) for x in row] for row in q.mechanism["rows"]]
    good = "order" not in m and q.factor == ONE and len(rows) == 1 and all(q.field.at_most({}, x) for x in rows[0])
    sure(good and len(rows[0]) == {"approximate": 2, "gdp": 1, "zcdp": 1, "renyi": 2}.get(m["measure"]), "a filter with such a budget")
    if m["measure"] in ("zcdp", "renyi") and side == "upper":
        return pairs.concentrated(m["measure"], rows, ONE)
    if m["measure"] in ("zcdp", "renyi"):  # Gaussian noise that spends it
        size = scale(rows[0][0], 2) if m["measure"] == "zcdp" else scale(mul(rows[0][1], q.field.power(rows[0][0], Fraction(-1))), 2)
        return pairs.gaussian(q.field.power(size, HALF))
    if m["measure"] == "gdp":
        return pairs.gaussian(rows[0][0])
    sure(q.field.at_most(rows[0][1], ONE), "a delta that is no probability")
    return worst(*rows[0])


def stated(q):
    """docs/theory/composition.md#stated-guarantee."""
    m, field = q.mechanism, q.field
    rows = [[q.form(x) for x in row] for row in m["rows"]]
    sure("order" not in m and all(field.at_most({}, x) for row in rows for x in row), "a guarantee of one order alone")
    if m["measure"] == "approximate":
        pure = all(field.zero(row[1]) for row in rows)
        sure(q.factor == ONE or (pure and noise.whole(field, q.factor)), "a guarantee with a delta for neighbours of neighbours")
        must(all(len(row) == 2 and field.at_most(row[1], ONE) for row in rows), "no epsilon and delta")
        points = [(mul(q.factor, e), d) for e, d in rows]
        return worst(*points[0]) if len(points) == 1 else pairs.hull(points)
    sure(noise.whole(field, q.factor), "a guarantee for neighbours of neighbours")
    if m["measure"] == "gdp":
        return pairs.gaussian(mul(q.factor, field.extreme("min", [row[0] for row in rows])))
    if m["measure"] == "bounded_range":
        return pairs.ranged(mul(q.factor, field.extreme("min", [row[0] for row in rows])))
    return pairs.concentrated(m["measure"], rows, q.factor)


def added(m, q, side, moved):
    """Noise on an answer: in the norm in which its pair is known; moved: what each coordinate moves by, where it is known."""
    if m.get("integers"):
        sure(moved is None or len(moved) == 1, "several coordinates")
        if moved is not None and moved[0].denominator != 1:  # docs/theory/additive.md#cosets: no output is one of both
            return pairs.finite([(ONE, {}), ({}, ONE)])
        size = None if moved is None else constant(abs(moved[0]))
        return lattice.pair(Noise(Question(m, q.moved if moved is None else size, None, q.field, q.values), line=True))
    alone = Noise(Question(m, ONE, None, q.field, q.values), line=True)
    if not alone.even or alone.support != [None, None]:
        sure(q.kind == "translation" and moved is None, "several coordinates of noise that is not even")
        here = linear.pair(alone, Noise(q, line=True).shift)
        return pairs.symmetric(here) if side == "upper" else here
    power = noise.power_of(alone)
    sure(power is not None, "noise that is neither Gaussian nor Laplace noise")
    norm = m.get("norm", LINE)
    if moved is not None:
        wanted = {"kind": "lp", "p": str(power), "matrix": []}
        norm = norm if q.kind == "radial" else wanted
        q = Question({**m, **({"norm": norm} if "norm" in m else {})}, length(norm, moved, q, side), None, q.field, q.values)
    drawn = Noise(q, line=True)
    line = drawn.dimension == ONE
    euclid = norm["kind"] == "ellipsoid" or (norm["kind"] == "lp" and norm["p"] == str(power)) or line
    sure(euclid, "noise around the answer in another norm")
    rate, root = noise.rate_of(drawn, power), drawn.q.field.power
    reach = drawn.shift
    if drawn.copies != ONE and norm["kind"] == "lp":  # the greatest l_power length of a shift of that length in l_p
        n, p = drawn.copies, norm["p"]
        longer = 1 / Fraction(power) - (0 if p is None else 1 / rational(p))
        if (p is None or rational(p) > power) and not (power == 1 and side == "lower"):
            reach = mul(reach, root(n, longer))
    sure(drawn.copies == ONE or norm["kind"] == "lp", "coordinates in a norm by a matrix")
    if power == 2:
        return pairs.gaussian(mul(reach, root(scale(rate, 2), HALF)))
    return pairs.laplace(mul(reach, rate))


def summed(q):
    """docs/theory/curves.md#sums: Gaussian noises on the line, of which those with the greatest variances may be missing."""
    missing, variances = q.form(q.mechanism["dropouts"]), []
    for part in q.mechanism["parts"]:
        m, times = part["noise"], q.count(part["times"])
        drawn = Noise(Question(m, ONE, None, q.field, q.values), line=True)
        line = drawn.dimension == drawn.copies == ONE and m.get("norm", LINE)["kind"] == "lp" and not m.get("integers")
        sure(line and noise.power_of(drawn) == 2 and times.keys() == {()} and times[()] <= 1000, "a sum of other than Gaussian noises on the line")
        precision = scale(mul(noise.rate_of(drawn, 2), mul(drawn.shift, drawn.shift)), 2)  # one over the variance
        variances += [q.field.power(precision, Fraction(-1))] * int(times[()])
    sure(missing.keys() <= {()} and 0 <= missing.get((), 0) < len(variances), "how many noises may be missing")
    for _ in range(int(missing.get((), 0))):
        worst = next(v for v in variances if all(q.field.at_most(w, v) for w in variances))
        variances.remove(worst)
    must(q.moved is not None and q.field.at_most({}, q.moved), "no sensitivity")
    return mul(q.moved, q.field.power(add(*variances), -HALF))


def length(norm, moved, q, side):
    """How long a shift is."""
    if not any(moved):
        return {}
    return norms.longest(norm, [norms.up_to_sign(moved)], len(moved), q.field, side)


def ways(q, order):
    """The pairs of neighbours that parts share, [None] where each has its own; of one order, those in it."""
    listed, known = leaves(q.mechanism, q.part), set(spaces_of(q))
    if not known:
        return [None]
    sure(len(known) == 1, "parts that share several kinds of neighbours")
    sure(not any(m["kind"] in (*STEPS, "parallel") for m, _ in every(q.mechanism)), "neighbours that are several steps apart, or not shared")
    adjacency, ((kind, n),) = {part["query"]["adjacency"] for _, part in listed if part and part["query"]}, known
    if kind == "inputs":
        tables = [Table(inner) for inner in bottom(q) if inner.kind in ("table", "exponential")]
        if order:
            sure(len(tables) == 1 and tables[0].listed is not None, "inputs that are not listed in an order")
            return [tuple(pair)[:: 1 if order == "one-sided" else -1] for pair in tables[0].listed]
        return sorted({pair for table in tables for pair in table.pairs})
    sure(len(adjacency) == 1 and adjacency <= {"add-remove", "replace", "l1"}, "neighbours by l2")
    unit = [tuple(Fraction(i == j) for i in range(n)) for j in range(n)]
    if order:
        sure(adjacency == {"add-remove"}, "one order of other neighbours than by a record")
        return unit if order == "one-sided" else [tuple(-x for x in v) for v in unit]
    if adjacency == {"replace"}:
        return [tuple(x - y for x, y in zip(v, w, strict=True)) for v, w in permutations(unit, 2)]
    return [*unit, *(tuple(-x for x in v) for v in unit)]


def bottom(q):
    """The questions of mechanisms without parts."""
    parts = inside(q.mechanism)
    return [leaf for n in range(len(parts)) for leaf in bottom(down(q, n))] if parts else [q]


def spaces_of(q):
    """What neighbours differ in, of the whole or its parts."""
    if not inside(q.mechanism):
        m = q.mechanism
        if m["kind"] in ("table", "exponential"):
            return [("inputs", len(m.get("rows") or m["scores"]))]
        return [("records", len(q.query["rows"][0]))] if q.query else []
    return spaces(q.mechanism)


class Curve:
    """The curve of a whole mechanism: the greatest of the pairs at all ways, in both orders, from above and from below."""

    def __init__(self, claim, field):
        sure("sums" not in claim, "sums over records")
        self.q = asked(claim, field)
        if self.q.kind in COMBINATORS:
            must(claim["sensitivity"] is None and claim["query"] is None, "not made of parts of own sensitivities")
        self.order = claim.get("order")
        relation(claim, {"add-remove"} if self.order else frozenset())
        if self.q.query:
            self.q.part = {"query": self.q.query, "times": "1"}
        self.ways, self.sides = ways(self.q, self.order), {}

    def pairs(self, side):
        """The pairs of a side, and what they take for granted; Undecided where they are not known."""
        if side not in self.sides:
            assumed = [IDEAL]
            made = [Way(side, way, self.order, assumed).once(self.q) for way in self.ways]
            if self.ways == [None] and self.order == "reverse":
                made = [pair.turned() for pair in made]
            self.sides[side] = made, list(dict.fromkeys(assumed))
        return self.sides[side]

    def delta(self, side, epsilon, bits):
        """An interval that holds the divergence of this side."""
        evaluate({}, bits)
        listed = self.pairs(side)[0]
        near = pairs.near(epsilon)
        return pairs.highest([pair.profile(near) if self.order else pair.both(near) for pair in listed])

    def closed(self, side, epsilon):
        """The same as a form, None where there is none."""
        listed = self.pairs(side)[0]
        made = [part for pair in listed for part in ([pair] if pair.alike or self.order else [pair, pair.turned()])]
        return pairs.FIELD.extreme("max", [pair.closed(epsilon) for pair in made]) if all(pair.closed for pair in made) else None

    def compare(self, side, epsilon, delta):
        """1, -1 or 0 where the divergence of a side is certainly above delta, below, or equal to it; None where that is not known."""
        for bits in PRECISIONS:
            found = self.delta(side, epsilon, bits) - pairs.near(delta)
            if found.sign() is not None:
                return found.sign()
        form = self.closed(side, epsilon)
        return None if form is None else 0 if pairs.FIELD.zero(sub(form, delta)) else None


def bounds(curve, claimed, line, verdict):
    """What a line about the curve of the whole proves of the claim (epsilon, delta), None for "tight": pairs of what it bounds,
    "epsilon" or "delta", a side, a value of epsilon, and what that takes for granted. The curve is looked at where the claim asks.
    """
    rule, given, (epsilon, delta) = line["rule"], line.get("parameters", {}), claimed
    if rule == "one-sided":
        return as_stated(curve, given, delta)
    sure(not curve.q.field.domains, "parameters")
    if rule == "closed-epsilon":
        first, later = (curve.q.form(given[key]) for key in ("epsilon", "later"))
        sure(delta is not None and pairs.FIELD.at_most({}, first), "no epsilon of at least 0")
        here, after = (curve.compare("upper", x, delta) for x in (first, later))
        sure(here in (0, -1) and pairs.FIELD.positive(sub(later, first)), "the curve is not certainly at most delta there")
        found = [("epsilon", "upper", first, curve.pairs("upper")[1])]
        below = here == 0 and after == -1 and [curve.compare("lower", x, delta) for x in (first, later)] == [0, -1]
        return [*found, *([("epsilon", "lower", first, curve.pairs("lower")[1])] if below else [])]
    if epsilon is None:  # some upper bound is asked for
        sure("upper" in given and delta is not None, "no upper bound")
        value = constant(rational(given["upper"]))
        sure(pairs.FIELD.at_most({}, value) and curve.compare("upper", value, delta) in SIGNS["upper"], "whether the curve is so low there")
        return [("epsilon", "upper", value, curve.pairs("upper")[1])]
    if delta is None:
        curve.delta("upper", epsilon, PRECISIONS[0])
        return [("delta", "upper", None, curve.pairs("upper")[1])]
    side = "lower" if verdict == "REFUTED" else "upper"
    sure(curve.compare(side, epsilon, delta) in SIGNS[side], "whether the curve is beside the claimed delta")
    return [("delta", side, None, curve.pairs(side)[1])]


def as_stated(curve, given, delta):
    """docs/theory/composition.md#one-sided, of a mechanism of which (epsilon, delta) is stated, as it stands there."""
    m, field, number = curve.q.mechanism, curve.q.field, given.get("row")
    stated = m["kind"] in ("guarantee", "filter") and m["measure"] == "approximate" and type(number) is int and 0 <= number < len(m["rows"])
    sure(stated and m.get("order") in (None, curve.order) and delta is not None, "no stated epsilon and delta")
    sure(m.get("order") is None or curve.order is not None, "a guarantee of one order alone")
    values = [curve.q.form(x) for x in m["rows"][number]]
    sure(all(field.at_most({}, x) for x in values) and field.at_most(values[1], delta), "whether the delta that is stated is so small")
    return [("epsilon", "upper", values[0], [IDEAL, "the mechanism is as private as is stated"])]


def endless(curve):
    """That no epsilon is enough alone: of Gaussian laws, or where an outcome that is likely in one of two laws is none of the other."""
    made, assumed = curve.pairs("lower")
    listed = [part for pair in made for part in ([pair] if curve.order else [pair, pair.turned()])]
    found = any((pair.mu and pairs.FIELD.positive(pair.mu)) or any(p and not q for p, q in pair.atoms or ()) for pair in listed)
    sure(found, "whether losses have an end")
    return "lower", INFINITE, {}, assumed


ENDLESS = ("closed-profile", "privacy-profile", "cosets")
RULES = ("one-sided", "privacy-profile", "closed-profile", "closed-epsilon")
