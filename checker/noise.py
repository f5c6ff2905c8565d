"""Additive noise: what its exponent h = -log(density) does at 0 and far out, how far answers move, and the rules about it."""

import re
from contextlib import suppress
from fractions import Fraction

import cells
from algebra import ONE, Field, add, atom, constant, key, mul, names, scale, sub, substitute
from growth import INFINITE, LOG_R, R, growth, split
from norms import check_norm, differences, longest, matrix_of, stretched, up_to_sign
from terms import Malformed, Undecided, must, num, parse, rational, replaced, require, sure

EVERY = "answers of neighbours are at every distance up to the sensitivity, in every direction"
ADDED = ("radial", "translation", "product")
LINE = {"kind": "lp", "p": "1", "matrix": []}
IDEAL = "what is drawn is drawn from the law that is declared"


class Question:
    """A mechanism as rules are asked about it. moved: what answers move by, a form, or None. values: of parameters that are fixed."""

    def __init__(self, mechanism, moved, query, field, values=None):
        self.mechanism, self.moved, self.query, self.field, self.values = mechanism, moved, query, field, values or {}
        self.told, self.factor, self.part = None, ONE, None  # what is told of a query; the steps that neighbours are apart; the part it is
        self.mapped = False  # whether a map stands on the way to it
        self.kind, self.exponent = mechanism["kind"], None  # the exponent of noise whose profile no text gives

    def tree(self, text):
        return num(rational(text)) if "*2^" in text else replaced(parse(text), {name: ("num", x) for name, x in self.values.items()})

    def form(self, text):
        return self.field.form(self.tree(text))

    def count(self, text, least=1, known=must):
        """A form that is certainly an integer of at least so much."""
        p = self.form(text)
        known(whole(self.field, p) and self.field.at_most(constant(least), p), "what is not certainly a count, or large enough")
        return p

    def at(self, evidence, allowed=True):
        """The question at the parameters that evidence fixes, and these."""
        given = evidence.get("at", {})
        sure(isinstance(given, dict) and (allowed or "at" not in evidence), "'at' does not belong here, or is no object")
        values, domains = {name: rational(x) for name, x in given.items()}, dict(self.field.domains)
        for name, x in values.items():
            must(name in domains and within(x, domains.pop(name)), f"{name} = {x} is no parameter, or not in its domain")
        field = Field(domains)
        moved = None if self.moved is None else substitute(self.moved, field, {n: constant(x) for n, x in values.items()})
        found = Question(self.mechanism, moved, self.query, field, {**self.values, **values})
        if self.exponent is not None:
            found.exponent = substitute(self.exponent, field.over("r"), {n: constant(x) for n, x in values.items()})
        return found, values


def total(how, field, values):
    """The sum ("add"), the greatest ("max") or the least ("min") of values that may be infinite."""
    finite = [value for value in values if value != INFINITE]
    some = finite if how == "min" else len(finite) == len(values)
    return INFINITE if not some else add(*finite) if how == "add" else field.extreme(how, finite)


def within(x, domain):
    """Whether a number lies in a domain."""
    lower, upper, lower_open, upper_open, integer = domain
    above = lower is None or x > lower or (x == lower and not lower_open)
    return above and (upper is None or x < upper or (x == upper and not upper_open)) and not (integer and x.denominator != 1)


def sided(q, evidence, default="upper"):
    """The side that evidence names, the question at the parameters that it fixes, and these."""
    side = evidence.get("side", default)
    require(side in ("upper", "lower"), Malformed, "'side' is neither upper nor lower")
    return (side, *q.at(evidence, side == "lower"))


def whole(field, p):
    """Whether a form is certainly an integer."""
    good = all(a[0] == "s" and field.domains[a[1]][4] and e.denominator == 1 and e > 0 for m in p for a, e in m)
    return good and all(c.denominator == 1 for c in p.values())


def bent(field, h, way=1):
    """Whether h is certainly convex in r > 0, or concave for way = -1."""
    return field.positive(scale(field.derivative(field.derivative(h, "r"), "r"), way), strict=False)


def convex(noise):
    """Whether h is certainly convex and never falls in the distance, or is convex on the line."""
    slopes = [noise.field.derivative(h, "r") for h in noise.sides]
    good = all(bent(noise.field, h) for h in noise.sides)
    if noise.even or not good:
        return good and noise.field.positive(slopes[0], strict=False)
    jump, turn = (substitute(p, noise.q.field, {"r": {}}) for p in (sub(*noise.sides), add(*slopes)))
    return noise.field.zero(jump) and noise.field.positive(turn, strict=False)


class Noise:
    """Noise of density exp(-h): h in r > 0, the distance from the answer, or the same to both sides of it where it is not even.

    shift: what answers move by over the scale, exactly. copies: independent coordinates, norm: of their shifts. whole: on the integers.
    """

    def __init__(self, q, line=False):
        m = q.mechanism
        must(q.kind in ADDED, "only radial, translation and product noise is additive")
        self.q, self.whole, self.support = q, m.get("integers") is True, [None, None]
        self.norm = m.get("norm", LINE)
        size, factor = q.count(m.get("dimension", "1")), q.form(m.get("scale", "1"))
        sure(q.field.positive(factor), "the scale is not certainly positive")
        number = int(size[()]) if set(size) == {()} else None
        check_norm(self.norm, number)
        self.dimension, self.copies = (size, ONE) if q.kind == "radial" else (ONE, size)
        self.shift = mul(self._reach(number), q.field.power(factor, Fraction(-1)))
        must(q.field.positive(self.shift, strict=False), "the sensitivity is not certainly at least 0")
        if self.whole and not whole(q.field, self.shift):
            sure(not names(self.shift), "the floor of the sensitivity")
            self.shift = constant(q.field.floor(self.shift))
        self.field = q.field.over("r")
        if "support" in m and m["support"] != [None, None]:
            sure(line, "noise on a part of the line")
            self.support = [None if end is None else q.form(end) for end in m["support"]]
        self.sides = [q.exponent] if q.exponent is not None else self.written(m)
        self.h, self.even = self.sides[0], key(self.sides[0]) == key(self.sides[-1])

    def written(self, m):
        """The exponent in r, or to both sides, as the mechanism writes the density."""
        name, density, signs = ("r", m["profile"], (1,)) if self.q.kind == "radial" else ("z", m["density"], (1, -1))
        turned = [replaced(self.q.tree(density), {name: ("mul", (num(sign), ("sym", "r")))}) for sign in signs]
        return [scale(self.field.log(self.field.form(tree)), -1) for tree in turned]

    def _reach(self, dimension):
        q = self.q
        must(q.query or q.moved is not None, "neither a sensitivity nor a query is given")
        if q.query is None:
            return q.moved
        must(dimension is not None and len(q.query["rows"]) == dimension, "the rows of the query are not as many as the dimension")
        if q.query["adjacency"] == "l2" and not self.whole:
            return stretched(self.norm, matrix_of(q.query["rows"]), q.field)
        vectors = differences(q.query)
        integers = q.query["adjacency"] != "l1" and all(x.denominator == 1 for v in vectors for x in v)
        sure(integers or not self.whole, "answers that differ by no integers")
        return longest(self.norm, vectors, dimension, q.field, q.told) if vectors else {}

    def check_integrable(self):
        """Undecided unless exp(-h) certainly has finite mass far out, and near 0 on a half line; a support with ends has none to check."""
        for h, end in zip(self.sides, self.support[::-1][: len(self.sides)], strict=True):
            top, lead = growth(self.field, lessened(self.field, h)) if end is None else (INFINITE, None)
            sure(top == INFINITE or self.q.field.positive(lead if top > 0 else sub(lead, self.dimension)), "whether mass is finite far out")
            logs = add(*({split(m)[1]: c} for m, c in h.items() if split(m)[0] == list(*LOG_R)))  # the multiple of log r in h
            start, few = self.at_zero(sub(h, mul(logs, LOG_R))), self.q.field.positive(sub(self.dimension, logs))
            known = (start is not None and few and not (logs and self.whole)) or cells.bounded(h)
            sure(known, "whether the density is integrable near 0")

    def at_zero(self, h):
        """The limit of h at 0, None where it is not certainly finite."""
        with suppress(Undecided):
            return substitute(h, self.q.field, {"r": {}})

    def at(self, x):
        """h at a point, near which it is continuous; of a jump at 0 what it is to the right."""
        right = self.q.kind == "radial" or self.q.field.at_most({}, x)
        sure(right or self.q.field.positive(scale(x, -1)), "on which side a point is")
        return substitute(self.sides[not right], self.q.field, {"r": x if right else scale(x, -1)})

    def outside(self, x):
        """Whether a point is outside the support; Undecided at an end."""
        gaps = [sub(x, end) if way else sub(end, x) for way, end in zip((1, 0), self.support, strict=True) if end is not None]
        beyond = any(self.q.field.positive(scale(gap, -1)) for gap in gaps)
        sure(beyond or all(self.q.field.positive(gap, not self.whole) for gap in gaps), "a point at an end of the support")
        return beyond


def lessened(field, h):
    """What is at most h far out: in the place of the square of a logarithm that grows, a large multiple of it."""
    total = {}
    for m, c in h.items():
        square = c > 0 and len(m) == 1 and m[0][0][0] == "l" and m[0][1] == 2 and growth(field, {((m[0][0], Fraction(1)),): Fraction(1)})
        grows = square and square[0] == 0 and field.positive(square[1])
        total = add(total, {((m[0][0], Fraction(1)),): 1000 * c} if grows else {m: c})
    return total


def power_of(noise):
    """1 of noise that is Laplace noise, 2 of Gaussian noise, None of other noise; Undecided where it is not even, or has ends."""
    sure(noise.even and noise.support == [None, None], "noise that is not even, or has ends")
    return next((power for power in (1, 2) if rate_of(noise, power) is not None), None)


def rate_of(noise, power):
    """c where h = c r**power + a constant, certainly positive; None of other noise."""
    moving = {m: c for m, c in noise.h.items() if split(m)[0]}
    if len(moving) != 1:
        return None
    ((m, c),) = moving.items()
    inside, rest = split(m)
    return {rest: c} if inside == [(R, Fraction(power))] and noise.q.field.positive({rest: c}) else None


def assumed_of(noise, side):
    """What a bound takes for granted of noise."""
    query, lower = noise.q.query, side == "lower"
    apart = "answers of some neighbours are apart, in the worst direction, by" if lower else "no answer moves further than"
    real = ["histograms are real"] * (lower and query is not None and query["adjacency"] in ("l1", "l2"))
    return [*real, IDEAL] if query else [f"{apart} the stated sensitivity", *["answers are integers"] * noise.whole, IDEAL]


# -- rules -----------------------------------------------------------------------------------------------------------------------


def _opened(q, evidence):
    side, q, at = sided(q, evidence)
    q.told = dict(evidence.get("sensitivity") or {})
    return side, q, at, Noise(q)


def concave_exponent(q, evidence):
    """docs/theory/additive.md#concave-exponent."""
    side, q, at, noise = _opened(q, evidence)
    start = noise.at_zero(noise.h)
    sure(noise.even and bent(noise.field, noise.h, -1) and start is not None, "whether h is concave in the distance, and finite at 0")
    noise.check_integrable()
    return side, _alike(noise, side, lambda t: sub(substitute(noise.h, q.field, {"r": t}), start) if t else {}), at, assumed_of(noise, side)


def _alike(noise, side, loss, linear=False):
    """The loss of coordinates that all move alike, from that of one, concave in its shift."""
    field, n, p = noise.q.field, noise.copies, noise.norm["p"]
    sure(noise.norm["kind"] == "lp" or noise.q.kind != "product", "coordinates in a norm by a matrix")
    if n == ONE:
        return loss(noise.shift)
    sure(side == "upper" or (noise.even and (not noise.q.query or (linear and p == "1"))), "whether coordinates move alike")
    return mul(n, loss(noise.shift if p is None else mul(noise.shift, field.power(n, -1 / rational(p)))))


def convex_exponent(q, evidence):
    """docs/theory/additive.md#convex-exponent."""
    side, q, at, noise = _opened(q, evidence)
    rates = slopes(noise)
    sure(INFINITE not in rates or (side != "upper" and q.field.positive(noise.shift)), "a slope without bound")
    value = INFINITE if INFINITE in rates else _alike(noise, side, lambda t: mul(q.field.extreme("max", rates), t), linear=True)
    return side, value, at, assumed_of(noise, side)


def slopes(noise):
    """The limits of the slope of a convex h to the left and to the right, each certainly positive, or INFINITE."""
    ends = [end is not None for end in noise.support]
    half = ends in ([True, False], [False, True]) and noise.q.field.zero(noise.support[ends[1]])
    sure(bent(noise.field, noise.sides[ends[1]]) if half else convex(noise) and not any(ends), "whether h is convex and never falls")
    found = [growth(noise.field, h) for h in ([noise.sides[ends[1]]] if half else noise.sides[::-1])]
    sure(all(top == INFINITE or (top >= 1 and noise.q.field.positive(lead)) for top, lead in found), "whether slopes have limits above 0")
    rates = [lead if top == 1 else INFINITE for top, lead in found]
    rates = [INFINITE, *rates][:: -1 if ends[1] else 1] if half else rates
    return rates if len(rates) == 2 else rates * 2


def power_sum(drawn):
    """(A0/A1, B) of a density (A0 + A1 r**2)**-B that is integrable."""
    field, weight, ratios = drawn.q.field, {}, []
    for moving, rest, c in [(*split(m), c) for m, c in drawn.h.items() if split(m)[0]]:
        inside = dict(moving[0][0][1]) if len(moving) == 1 and moving[0][0][0] == "l" and moving[0][1] == 1 else {}
        square = {split(n)[1]: d for n, d in inside.items() if split(n)[0] == [(R, Fraction(2))]}
        free = {n: d for n, d in inside.items() if not split(n)[0]}
        sure(square and len(square) + len(free) >= len(inside), "an exponent that is no sum of logarithms of A0 + A1 r**2")
        weight = add(weight, {rest: c})
        ratios.append(mul(free, field.power(square, Fraction(-1))))
    sure(ratios and all(field.zero(sub(ratios[0], other)) for other in ratios), "a sum of logarithms of several A0 + A1 r**2")
    sure(all(map(field.positive, (ratios[0], weight, sub(scale(weight, 2), drawn.dimension)))), "whether the density is integrable")
    return ratios[0], weight


def power_identity(q, evidence):
    """docs/theory/additive.md#power-identity."""
    side, q, at, noise = _opened(q, evidence)
    sure(noise.even and (side != "lower" or not noise.whole), "noise on the integers, or that is not even")
    ratio, weight = power_sum(noise)
    unit = scale(q.field.power(ratio, Fraction(-1, 2)), Fraction(1, 2))
    return side, _alike(noise, side, lambda t: mul(scale(weight, 2), q.field._call("asinh", [mul(t, unit)]))), at, assumed_of(noise, side)


def product_lipschitz(q, evidence):
    """docs/theory/additive.md#product-lipschitz."""
    noise, slope = Noise(q), q.form(evidence["slope"])
    sure(noise.even and q.kind != "radial" and not q.field.domains, "radial noise, noise that is not even, or parameters")
    noise.check_integrable()
    rate, start = noise.field.derivative(noise.h, "r"), noise.at_zero(noise.h)
    sure(start is not None and all(noise.field.at_most(way, slope) for way in (rate, scale(rate, -1))), "whether h is nowhere as steep")
    return "upper", _alike(noise, "upper", lambda t: mul(slope, t)), {}, assumed_of(noise, "upper")


def modulus(q, evidence):
    """docs/theory/additive.md#modulus, where h never falls in the distance, or rises by equal steps."""
    noise, bound, field = Noise(q), q.form(evidence["bound"]), q.field.over("r")
    sure(noise.even and q.kind != "product" and not q.field.domains, "noise that is not even, several coordinates, or parameters")
    (moving, rest, c), *more = [(*split(m), c) for m, c in noise.h.items() if split(m)[0]]
    if moving[0][0][:2] == ("f", "floor"):
        wide = field.derivative(dict(moving[0][0][2][0]), "r")
        rises = not more and len(moving) == 1 == moving[0][1] and not names(wide) and field.positive({rest: c}) and field.positive(wide)
        most = mul({rest: c}, constant(-field.floor(scale(mul(noise.shift, wide), -1)))) if rises else {}
    else:
        noise.check_integrable()
        rises = False
        slope = field.derivative(noise.h, "r")
        if field.positive(slope, strict=False):
            rises, most = True, sub(substitute(noise.h, field, {"r": add(atom(R), noise.shift)}), noise.h)
        if not rises or not field.at_most(most, bound):
            bound = add(bound, constant(Fraction(1, 10**9)))  # where it is met, cells show a little more
            rises, most = cells.rises_at_most(noise, bound), bound
    sure(rises and field.at_most(most, bound), "whether h never falls, and never rises by more within the sensitivity")
    return "upper", bound, {}, assumed_of(noise, "upper")


def modulus_parts(q, evidence):
    """docs/theory/additive.md#modulus-parts, where h rises by equal steps, or never falls."""
    return modulus(q, evidence)


def point_witness(q, evidence):
    """docs/theory/additive.md#point-witness, in the limit: what the two points lose, whatever the radius is."""
    q, at = q.at(evidence)
    noise, bits = Noise(q, line=True), evidence.get("prec", 200)
    noise.check_integrable()
    a, b = ([q.form(str(x)) for x in evidence[side]] for side in "ab")
    good = type(bits) is int and 53 <= bits <= 16384 and 1 <= len(a) == len(b) <= 1000
    require(good, Malformed, "prec is no number of bits from 53 to 16384, or 'a' and 'b' are not lists of as many points")
    assumed = [*_pair(noise, a, b), IDEAL]
    sure(not q.field.domains, "parameters without a value")
    must(noise.whole or rational(evidence.get("radius")) > 0, "the radius is not positive: a point has probability 0")
    here, beyond = (True in [noise.outside(x) for x in side] for side in (a, b))
    must(not here and beyond == (evidence.get("value") == "inf"), "the density of P is 0 there, or that of Q is and should not be")
    start = add(*map(noise.at, a))
    if beyond:
        return "lower", INFINITE, at, assumed
    told, loss = "value" in evidence, sub(add(*map(noise.at, b)), start)
    value = constant(rational(evidence["value"])) if told else q.form(evidence["limit"])
    sure(q.field.at_most(value, loss) if told else q.field.zero(sub(value, loss)), "whether the loss is so great")
    return "lower", value, at, assumed


def _pair(noise, a, b):
    """That two neighbours and an output realise the points; what that takes for granted."""
    q, field, shifts = noise.q, noise.q.field, [sub(y, x) for x, y in zip(a, b, strict=True)]
    good = all((q.kind != "radial" or field.at_most({}, x)) and (not noise.whole or whole(field, x)) for x in (*a, *b))
    must(good and field.at_most(constant(len(a)), noise.copies), "a distance below 0, a point that is no integer, or too many points")
    sizes = [s if field.positive(s, strict=False) else scale(s, -1) for s in shifts]
    real = ["histograms are real"] * (q.query is not None and q.query["adjacency"] in ("l1", "l2"))
    if q.query and q.kind == "product":
        v = tuple(s.get((), Fraction(0)) for s in shifts)
        must(not any(set(s) - {()} for s in shifts) and up_to_sign(v) in differences(q.query), "the shift is no difference of the query")
        return real
    sure(noise.norm["kind"] == "lp" or q.kind != "product", "shifts of coordinates in a norm by a matrix")
    p = noise.norm["p"] if q.kind == "product" else "1"
    lengths = [add(*(field.power(s, rational(p)) for s in sizes))] if p else sizes
    around = q.kind == "radial" and field.at_most(constant(2), noise.dimension) and field.at_most(noise.shift, add(a[0], b[0]))
    exact = q.kind != "product" and (around or field.zero(sub(sizes[0], noise.shift)))
    near = all(field.at_most(s, field.power(noise.shift, rational(p or 1))) for s in lengths)
    must(near and (exact or real or not q.query), "the points are not as far apart as answers")
    return real if q.query else ["answers of some neighbours are the sensitivity apart" if exact else EVERY]


def divergence(q, evidence):
    """docs/theory/additive.md#divergence, far out."""
    q, at = q.at(evidence)
    side, noise = evidence.get("side"), Noise(q)
    pole = side == "right" and rational(evidence.get("point")) == 0 and q.kind == "radial" and not noise.whole
    sure(not q.field.domains and (pole or side in ("+inf", "-inf")), "a density that diverges, or vanishes, at a point")
    noise.check_integrable()
    if pole:  # next to the one answer the density has no bound, or goes to 0, and next to the other it is positive and finite
        logs = add(*({split(m)[1]: c} for m, c in noise.h.items() if split(m)[0] == list(*LOG_R)))
        known = noise.at_zero(sub(noise.h, mul(logs, LOG_R))) is not None and not q.field.zero(logs)
        sure(known and (q.field.positive(logs) or q.field.positive(scale(logs, -1))), "what the density does at 0")
        must(q.field.positive(noise.shift), "answers do not move")
        return "lower", INFINITE, at, assumed_of(noise, "lower")
    must(q.field.positive(noise.shift) and not (side == "-inf" and q.kind == "radial"), "answers do not move, or a distance is negative")
    top, lead = growth(noise.field, noise.sides[side == "-inf"])
    must(top == INFINITE or (top > 1 and q.field.positive(lead)), "the slope of h is not certainly unbounded")
    return "lower", INFINITE, at, assumed_of(noise, "lower")


def finite_law(q):
    """Whether the density of the factor v > 0 of a process certainly has finite mass, far out and, as that of 1/v, near 0."""
    density, field = re.sub(r"\bv\b", "r", q.mechanism["mixing"]), q.field.over("r")
    h = scale(field.log(field.form(q.tree(density))), -1)
    ends = [growth(field, p) for p in (h, add(substitute(h, field, {"r": atom(R, -1)}), scale(LOG_R, 2)))]
    good = all(top == INFINITE or q.field.positive(lead if top > 0 else sub(lead, ONE)) for top, lead in ends)
    return good and q.mechanism["support"] == ["0", None] and q.field.positive(q.form(q.mechanism["scale"]))


def equal_answers(q, evidence):
    """docs/theory/additive.md#equal-answers."""
    side, q, _ = sided(q, evidence, None)
    noise = Noise(q) if q.kind in ADDED[::2] else None
    law = noise.check_integrable() is None if noise else q.kind == "kernel" or (q.kind == "elliptical_process" and finite_law(q))
    sure(law, "a law that is not known")
    moved = noise.shift if noise else q.moved
    must(moved is not None and q.field.zero(moved), "the inputs, or the answers, are not certainly the same")
    return side, {}, {}, ["the mechanism is one for each input", "the sensitivity bounds how far apart neighbours are", IDEAL]
