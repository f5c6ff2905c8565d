"""Privacy curves of mechanisms, and the rules that read bounds off them (docs/theory/curves.md, docs/theory/composition.md).

What a mechanism loses is derived from the mechanism itself, whatever the lines say of its parts: at each pair of neighbours that parts may
share, or at the worst where each has its own. A curve from above dominates both orders of all neighbours; one from below is that of some.
"""

from contextlib import suppress
from math import comb, prod

import grid
import keys
import laws
import linear
import matrices
import measures
import neighbours
import noise
import norms
import outcomes
import pairs
import processes
from algebra import ONE, Fraction, add, constant, evaluate, mul, scale, sub
from finite import Table
from growth import INFINITE
from noise import IDEAL, LINE, Noise, Question
from norms import dot
from parts import COMBINATORS, STEPS, asked, down, further, grown, inside, known_size, relation
from terms import Undecided, must, rational, sure

HALF = Fraction(1, 2)
MANY = 20_000
PRECISIONS = (100, 200, 400)
SIGNS = {"upper": (-1, 0), "lower": (1,)}  # of the divergence less delta: what proves a bound of that side on epsilon
WORST = "answers of some neighbours are apart, in the worst direction, by the stated sensitivity"
ALL = "no answer moves further than the stated sensitivity"


class Way:
    """One way to look at the parts: a side, and the pair of neighbours that all share, None where each has its own."""

    def __init__(self, side, pair, order, assumed, others=()):
        self.side, self.pair, self.order, self.assumed, self.others = side, pair, order, assumed, others

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
            told = f"neighbours behind {kind} move apart in one direction"
            self.assumed.append(told if kind in STEPS else "the map does not look at the data")
            made = self.of(inner[0])
            sure(made.alike or self.order is None, "one order of neighbours, which a map may exchange")
            return made
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
        poisson = q.mechanism["scheme"] == "poisson"
        sure(q.factor == ONE and (poisson or self.pair is None), "a sample on neighbours of neighbours, or without replacement of a query")
        sure(q.field.positive(rate) and q.field.at_most(rate, ONE), "a rate that is not certainly above 0 and at most 1")
        self.assumed.append("samples are drawn as declared and not seen")
        if self.pair is not None:
            tables, others = type(self.pair[0]) is int, [self.pair]
            if tables and self.side == "upper":  # what else is sampled may make any two inputs of these
                others = self.others
            made = [self.oriented(part, rate, pair, self.order == "reverse" if tables else sum(pair) < 0) for pair in others]
            alike = all(pair.atoms and sorted(map(pairs.key_of, pair.atoms)) == sorted(map(pairs.key_of, made[0].atoms)) for pair in made)
            return made[0] if alike else pairs.greatest(made)
        inner = self.of(part)
        sure(inner.alike or self.side == "upper", "which of two laws is that with the record")
        made = pairs.sampled(pairs.symmetric(inner), rate)
        return made if poisson or self.side == "lower" else pairs.symmetric(made)

    def oriented(self, part, rate, pair, back):
        """A sample at a pair of neighbours of which the second has the record, or for back = False the first."""
        inner = Way(self.side, pair, self.order, self.assumed, self.others).of(part)
        made = pairs.sampled(inner.turned() if back else inner, rate)
        return made.turned() if back else made

    def leaf(self, q):
        if q.kind in ("table", "exponential"):
            sure(self.pair is not None and type(self.pair[0]) is int, "a table by itself")
            rows = Table(q).rows
            self.assumed.append("the listed inputs are adjacent, and no others")
            return pairs.finite(list(zip(*(rows[x] for x in self.pair), strict=True)))
        if q.kind == "kary_response":
            return laws.response(q)
        if q.kind == "shuffle":
            self.assumed.append("what people tell is shuffled, and nobody sees who told what")
            return self.one_of(q, outcomes.shuffled(q, down(q, 0), self.pair))
        if q.kind in ("sum", "correlated_noise"):
            sure(not q.query and q.factor == ONE, "sums of noises, or correlated ones, of a query, or of neighbours of neighbours")
            self.assumed.append(ALL if self.side == "upper" else WORST)
            return pairs.gaussian(matrices.size(q, self.side) if q.kind == "correlated_noise" else laws.summed(q))
        if q.kind == "noisy_keys":
            self.assumed.append(keys.TOLD)
            return self.one_of(q, keys.listed(q, self.side, laws.added, composed))
        if q.kind == "noisy_max":
            sure(self.side == "upper", "what a selection leaves to be seen")
            self.assumed.append(ALL)
            return pairs.gaussian(laws.compared(q))
        if q.kind == "elliptical_process":
            self.assumed += [*processes.TOLD, ALL if self.side == "upper" else WORST]
            return processes.process(q)
        if q.kind == "mixture":
            sure(self.side == "upper", "what a mixture leaves to be seen")
            self.assumed.append(ALL)
            return processes.scale_mixture(q)
        if q.kind == "filter":
            return laws.budget(q, self.side)
        if q.kind == "guarantee":
            sure(self.side == "upper", "what a stated guarantee leaves to be seen")
            self.assumed.append("the mechanism is as private as is stated")
            return laws.stated(q)
        q = further(q)
        sure(q.kind in noise.ADDED, "the curve of a mechanism of this kind")
        if q.query:
            sure(self.pair is not None and q.factor == ONE and known_size(q), "a query whose records are not told")
            return self.at_pair(q)
        self.assumed.append(ALL if self.side == "upper" else WORST)
        made = laws.added(q.mechanism, q, self.side, None)
        sure(made.alike or (self.order is None and q.part is None), "which of two laws is the first")
        return made

    def at_pair(self, q):
        """Noise on a query: how far its answers are apart is known."""
        moved = [dot(row, self.pair) for row in norms.matrix_of(q.query["rows"])]
        if q.mechanism.get("integers"):
            sure(q.query["adjacency"] not in ("l1", "l2"), "answers of real histograms, and noise on the integers")
            return laws.added(q.mechanism, q, self.side, moved)
        drawn, norm = Noise(Question(q.mechanism, ONE, None, q.field, q.values), line=True), q.mechanism.get("norm", LINE)
        if not drawn.even or drawn.support != [None, None]:
            sure(len(moved) == 1 and q.kind == "translation", "several coordinates of noise that is not even")
            here = linear.pair(drawn, constant(abs(moved[0])))
            return here if moved[0] < 0 else here.turned()  # the first law is to the right where the answer is greater
        apart = q.kind == "product" or (norm["kind"] == "lp" and norm["p"] == "1")
        if len(moved) > 1 and apart and noise.power_of(drawn) == 1:  # coordinates are drawn apart
            rate = mul(noise.rate_of(drawn, 1), drawn.shift)
            return composed([(pairs.laplace(scale(rate, abs(x))), 1) for x in moved if x], self.side)
        return laws.added(q.mechanism, q, self.side, moved)


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


def tried(flat, a):
    """The sum of the divergences of an order, None where one is not known."""
    with suppress(Undecided):
        return measures.most(pairs.Pair(None, True, parts=flat), a)
    return None


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
        self.ways, self.sides = neighbours.ways(self.q, self.order), {}

    def pairs(self, side):
        """The pairs of a side, and what they take for granted; Undecided where they are not known."""
        if side not in self.sides:
            assumed = [IDEAL]
            made = [Way(side, way, self.order, assumed, self.ways).once(self.q) for way in self.ways]
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
    """docs/theory/composition.md#one-sided, of what is stated."""
    sure(delta is not None and type(given.get("row", 0)) is int, "no stated epsilon and delta")
    found = [spent(curve.q, order, given.get("row", 0)) for order in ([curve.order] if curve.order else ["one-sided", "reverse"])]
    field, told = curve.q.field, [IDEAL, "the mechanism is as private as is stated", "samples are drawn as declared and not seen"]
    sure(all(value != INFINITE and field.at_most(least, delta) for value, least in found), "whether the delta that is stated is so small")
    return [("epsilon", "upper", field.extreme("max", [value for value, _ in found]), told)]


def spent(q, order, row):
    """Epsilon and delta of one order: those that are stated, of a sample, and sums."""
    m, field = q.mechanism, q.field
    if q.kind == "compose":
        total = [(q_times(p), spent(p, order, 0)) for p in (down(q, n) for n in range(len(inside(m))))]
        sure(all(value != INFINITE for _, (value, _) in total), "a part of which nothing is known")
        return tuple(add(*(mul(n, both[i]) for n, both in total)) for i in (0, 1))
    if q.kind == "subsample":
        part, rate = down(q, 0), q.form(m["rate"])
        sure(m["scheme"] == "poisson" and q_times(part) == ONE and field.positive(rate) and field.positive(sub(ONE, rate)), "a sample")
        value, delta = spent(part, order, 0)
        if order == "one-sided":
            sure(value != INFINITE, "a part of which nothing is known")
            return grown(field, rate, value), mul(rate, delta)
        if value == INFINITE:
            return scale(field.log(sub(ONE, rate)), -1), {}
        odds, rest = field.exp(value), sub(ONE, rate)
        less = add(rest, mul(rate, field.exp(scale(value, -1))))
        return scale(field.log(less), -1), mul(mul(rate, delta), field.power(add(rate, mul(rest, odds)), Fraction(-1)))
    sure(q.kind in ("guarantee", "filter") and m["measure"] == "approximate" and q.factor == ONE, "no stated epsilon and delta")
    if m.get("order") not in (None, order):
        return INFINITE, {}
    sure(0 <= row < len(m["rows"]), "no such row")
    values = tuple(q.form(x) for x in m["rows"][row])
    must(all(field.at_most({}, x) for x in values) and field.at_most(values[1], ONE), "no epsilon and delta")
    return values


def q_times(q):
    """How often a part is run."""
    return q.count(q.part["times"])


def endless(curve):
    """That no epsilon is enough alone: of Gaussian laws, or where an outcome that is likely in one of two laws is none of the other."""
    made, assumed = curve.pairs("lower")
    listed = [part for pair in made for part in ([pair] if curve.order else [pair, pair.turned()])]
    found = any((pair.mu and pairs.FIELD.positive(pair.mu)) or any(p and not q for p, q in pair.atoms or ()) for pair in listed)
    sure(found, "whether losses have an end")
    return "lower", INFINITE, {}, assumed


ENDLESS = ("closed-profile", "privacy-profile", "cosets")
RULES = ("one-sided", "privacy-profile", "closed-profile", "closed-epsilon")
