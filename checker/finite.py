"""Finite inputs and outputs: tables, exponential mechanisms, responses; staircase noise and guarantees, whose rules are as short; and
families of densities p(y; theta) on an interval: bounds on boxes of outputs and pairs of inputs (docs/theory/finite.md).
"""

from itertools import permutations, product

from algebra import ONE, Field, Fraction, _names, add, constant, evaluate, floor, mul, names, scale, sub, substitute
from growth import INFINITE
from intervals import Interval, point
from noise import IDEAL, sided, total, whole
from norms import dot
from terms import Malformed, Undecided, must, num, rational, replaced, require, sure

NAMES = ("y", "theta", "other")  # the output, an input, the one next to it
TOLD = ["the kernel has a density for each input", "the sensitivity bounds how far apart adjacent inputs are", IDEAL]

PAIRS = {"upper": "only the listed inputs are adjacent", "lower": "the listed inputs are adjacent"}


class Table:
    """rows: probabilities. pairs: adjacent inputs in both orders."""

    def __init__(self, q):
        m = q.mechanism
        self.field = field = q.field
        must(q.kind in ("table", "exponential"), "there are no lists of inputs and outputs")
        listed, pairs = m["rows" if q.kind == "table" else "scores"], m["adjacent"]
        good = listed and all(row and len(row) == len(listed[0]) for row in listed)
        must(good and all(max(pair) < len(listed) for pair in pairs or ()), "rows are not of one length, or a pair is none of inputs")
        self.rows = [[q.form(x) for x in row] for row in listed]
        self.listed = pairs
        self.pairs = [(a, b) for a, b in permutations(range(len(listed)), 2) if pairs is None or [a, b] in pairs or [b, a] in pairs]
        if q.kind == "exponential":
            sure(not m["points"] and q.moved is None, "an exponential mechanism of points, or of a stated sensitivity")
            base = [q.form(x) for x in m.get("weights", ["1"] * len(listed[0]))]
            must(len(base) == len(listed[0]) and all(map(field.positive, base)), "weights that are not positive, one for each output")
            weights = ([mul(w, field.exp(mul(q.form(m["beta"]), s))) for w, s in zip(base, row, strict=True)] for row in self.rows)
            self.rows = [[mul(w, field.power(add(*row), Fraction(-1))) for w in row] for row in weights]
        for row in self.rows if q.kind == "table" else ():
            sure(all(field.at_most({}, p) for p in row) and field.zero(sub(add(*row), ONE)), "whether a row is a distribution")

    def zero(self, x, y):
        """Whether a probability is 0."""
        above = self.field.positive(self.rows[x][y])
        sure(above or self.field.zero(self.rows[x][y]), "a probability that may be 0")
        return not above

    def loss(self, a, b, listed=None):
        """The greatest log P[a, y] - log P[b, y] of the outputs that are listed, or likely on a."""
        listed = [y for y in range(len(self.rows[a])) if not self.zero(a, y)] if listed is None else listed
        losses = [INFINITE if self.zero(b, y) else sub(*(self.field.log(self.rows[x][y]) for x in (a, b))) for y in listed]
        return total("max", self.field, losses)


def finite_table(q, evidence):
    """docs/theory/finite.md#finite-table: of all cells from above, whichever are named."""
    side, (q, at) = "upper" if "cells" in evidence else "lower", q.at(evidence, "cells" not in evidence)
    table, told = Table(q), PAIRS[side] if q.mechanism["adjacent"] is not None or side == "lower" else "any two inputs are adjacent"
    if side == "upper":
        value = total("max", q.field, [{}, *(table.loss(a, b) for a, b in table.pairs)])
        must(value != INFINITE, "a zero faces a probability above 0")
        return side, value, at, [IDEAL, told]
    a, b, y = evidence["cell"]
    must(type(y) is int and (a, b) in table.pairs and 0 <= y < len(table.rows[0]) and not table.zero(a, y), "no pair with a likely output")
    return side, table.loss(a, b, [y]), at, [IDEAL, told]


def exponential_general(q, _):
    """docs/theory/finite.md#exponential-general."""
    listed, beta = [[q.form(x) for x in row] for row in q.mechanism["scores"]], q.form(q.mechanism["beta"])
    must(q.field.positive(beta) or q.field.zero(beta), "beta is not certainly positive, or 0")
    moved = q.field.extreme("max", [{}, *(sub(s, t) for a, b in Table(q).pairs for s, t in zip(listed[a], listed[b], strict=True))])
    return "upper", mul(scale(beta, 2), moved), {}, [IDEAL, PAIRS["upper"]]


def kary_response(q, evidence):
    """docs/theory/finite.md#kary-response."""
    side, q, at = sided(q, evidence)
    must(q.kind == "kary_response", "the mechanism is no k-ary response")
    field, k, p = q.field, q.count(q.mechanism["k"], 2), q.form(q.mechanism["p"])
    sure(field.positive(p) and field.positive(sub(ONE, p)), "p is not certainly between 0 and 1")
    ratio = mul(mul(p, sub(k, ONE)), field.power(sub(ONE, p), Fraction(-1)))
    return side, field.extreme("max", [field.log(ratio), scale(field.log(ratio), -1)]), at, [IDEAL, "any two inputs are adjacent"]


def staircase(q, evidence):
    """docs/theory/additive.md#staircase."""
    side, q, at = sided(q, evidence)
    must(q.kind == "staircase" and q.query is None, "the mechanism is no staircase noise, or has a query")
    field, moved, epsilon, gamma = q.field, ONE if q.moved is None else q.moved, *(q.form(q.mechanism[key]) for key in ("epsilon", "gamma"))
    good = field.positive(epsilon) and field.positive(moved) and field.at_most({}, gamma) and field.at_most(gamma, ONE)
    must(good, "epsilon and the sensitivity are not certainly positive, or gamma not from 0 to 1")
    steps = ONE if field.at_most(moved, ONE) else constant(-field.floor(scale(moved, -1)))
    word = "no answer moves further than" if side == "upper" else "some answers are apart by"
    return side, mul(steps, epsilon), at, [f"{word} the stated sensitivity", IDEAL]


def stated_epsilon(q, _):
    """docs/theory/composition.md#stated-epsilon."""
    m, rows = q.mechanism, [[q.form(x) for x in row] for row in q.mechanism["rows"]]
    if q.kind == "filter":
        known = m["measure"] == "approximate" and "order" not in m and q.factor == ONE and [len(row) for row in rows] == [2]
        sure(known and q.field.zero(rows[0][1]) and q.field.at_most({}, rows[0][0]), "no filter with a pure budget")
        told = "no part is begun that might exceed the budget, each has what it is charged, and any may be chosen"
        return "exact", rows[0][0], {}, [told, IDEAL]
    one = m["measure"] == "bounded_range" and len(rows) == 1
    good = q.kind == "guarantee" and "order" not in m and (one or m["measure"] == "approximate")
    known = [row[0] for row in rows if len(row) == 2 - one and all(q.field.zero(x) for x in row[1:])]
    steps = whole(q.field, q.factor) and q.field.at_most(ONE, q.factor)
    sure(good and known and steps and all(q.field.at_most({}, x) for row in rows for x in row), "no pure epsilon is stated")
    return "upper", mul(q.factor, q.field.extreme("min", known)), {}, ["the mechanism is as private as is stated", IDEAL]


class Part(Field):
    """A polytope of such points: all x with <n, x> <= c for its planes, and the hull of its corners."""

    def __init__(self, planes, corners):
        self.planes, self.corners = planes, sorted(set(corners))
        self.ends = [(min(column), max(column)) for column in zip(*self.corners, strict=True)]
        super().__init__({name: (*pair, False, False, False) for name, pair in zip(NAMES, self.ends, strict=False)})
        self.box = {name: point(low).hull(point(high)) for name, (low, high) in zip(NAMES, self.ends, strict=False)}
        self.flat = [n for n, c in planes if all(dot(n, x) == c for x in self.corners)]

    def cut(self, normal, offset):
        """The part where <normal, x> <= offset, None where there is none."""
        side = {x: dot(normal, x) - offset for x in self.corners}
        kept = [x for x in side if side[x] <= 0]
        for a, b in product(side, side):
            if side[a] < 0 < side[b] and sum(dot(n, a) == c == dot(n, b) for n, c in self.planes) > 1:
                kept.append(tuple(x + side[a] / (side[a] - side[b]) * (y - x) for x, y in zip(a, b, strict=True)))
        return Part([*self.planes, (normal, offset)], kept) if kept else None

    def faces(self, way):
        """The faces through which lines along a direction within the part leave it."""
        found = [self.cut(turned(n), -c) for n, c in self.planes if dot(n, way) > 0 and n not in self.flat]
        return [x for x in found if x and not any(y and set(x.corners) < set(y.corners) for y in found)]

    def content(self, p):
        """Sums stay as they are written: what their terms have in common would widen enclosures."""
        return super().content(p) if len(p) == 1 else (Fraction(1), {}, p)

    def _positive(self, p, strict):
        """At the corners where a form is linear, else by enclosures on boxes."""
        moving = [[x for x in m if _names(x[0])] for m in p]
        if all(not m or (len(m) == 1 and m[0][0][0] == "s" and m[0][1] == 1) for m in moving):
            return all(Field({}).positive(value(p, x), strict) for x in self.corners)
        return self._on(p, strict, self.box, 6)

    def _on(self, p, strict, box, deep):
        try:
            near = evaluate(p, 120, box)
        except Undecided:
            near = Interval(-1, 1)
        if near.lo > 0 or (near.lo == 0 and not strict) or near.hi < 0 or not deep:
            return near.lo >= 0 and (near.lo > 0 or not strict)
        widest = max(names(p), key=lambda name: box[name].hi - box[name].lo)
        middle = (box[widest].lo + box[widest].hi) / 2
        halves = Interval(box[widest].lo, middle), Interval(middle, box[widest].hi)
        return all(self._on(p, strict, box | {widest: half}, deep - 1) for half in halves)

    def along(self, p, way):
        """The derivative in a direction."""
        return add(*(scale(self.derivative(p, name), x) for name, x in zip(NAMES, way, strict=True) if x))

    def shows(self, node, density, target):
        """Whether a tree shows that the loss is at most the target on the part."""
        kind, *told = node
        sure(kind != "under", "a loss in the place of one that is less")
        if kind == "values":
            values = [Field({}).form(tree) for tree in settled(density, self.box)]
            return all(Field({}).at_most(sub(Field({}).log(p), Field({}).log(q)), target) for p, q in product(values, values))
        first = None if kind == "corner" else tuple(map(rational, told[0]))
        require(not first or len(first) == len(NAMES), Malformed, "no vector of three numbers")
        if kind == "cut":
            pieces = self.cut(first, rational(told[1])), self.cut(turned(first), -rational(told[1]))
            return all(piece is None or piece.shows(tree, density, target) for piece, tree in zip(pieces, told[2:], strict=True))
        loss = sub(self.log(self.form(density)), self.log(self.form(replaced(density, {"theta": ("sym", "other")}))))
        if kind == "slide":
            good = any(first) and not any(dot(n, first) for n in self.flat) and self.at_most({}, self.along(loss, first))
            return good and all(any(face.shows(tree, density, target) for tree in told[1]) for face in self.faces(first))
        if kind == "corner":
            return any(self.below(loss, target, start) for start in self.corners)
        require(kind == "tangent", Malformed, "a tree with a node that is none")
        way = minus(self.corners[-1], self.corners[0])  # a point, or a line along which the loss is concave
        line = all(a * w == b * v for x in (*self.corners, first) for a, v in zip(minus(x, first), way, strict=True)
                   for b, w in zip(minus(x, first), way, strict=True))  # fmt: skip
        good = line and all(low <= x <= high for x, (low, high) in zip(first, self.ends, strict=True))
        return good and self.at_most(self.along(self.along(loss, way), way), {}) and self.below(loss, target, first, there=True)

    def below(self, loss, target, start, there=False):
        """Whether a loss is at most the target by its value at a point and its slopes there, or anywhere on the part."""
        steps, here = [self.along(loss, minus(x, start)) for x in self.corners], value(loss, start)
        steps = [value(step, start) for step in steps] if there else steps
        return self.at_most(here, target) and all(self.at_most(step, {}) or self.at_most(add(here, step), target) for step in steps)


def turned(v):
    """-v."""
    return tuple(-x for x in v)


def minus(a, b):
    """a - b."""
    return tuple(x - y for x, y in zip(a, b, strict=True))


def value(p, x):
    """The value of a form at a point."""
    return substitute(p, Field({}), {name: constant(c) for name, c in zip(NAMES, x, strict=False)})


def settled(tree, box):
    """The trees that a tree is on a box, where what stands in floor is one of finitely many integers."""
    if not isinstance(tree, tuple):
        return [tree]
    if tree[:2] == ("call", "floor"):
        near = evaluate(Field(dict.fromkeys(box, (None, None, True, True, False))).form(tree[2][0]), 120, box)
        sure(near.hi - near.lo < 60, "floor of what moves far")
        return [num(n) for n in range(floor(near.lo), floor(near.hi) + 1)]
    found = list(dict.fromkeys(product(*(settled(part, box) for part in tree))))
    sure(len(found) <= 60, "a density of too many values")
    return found


def kernel_point(q, evidence):
    """docs/theory/finite.md#kernel-point, at one output, whatever the interval about it is."""
    q, at = q.at(evidence)
    sure(q.kind == "kernel" and not q.field.domains and evidence.keys() >= set(NAMES), "no kernel, or no output, or parameters")
    y, first, second = (rational(evidence[key]) for key in NAMES)
    m, apart, density = q.mechanism, constant(abs(first - second)), q.tree(q.mechanism["density"])
    placed = [(key, constant(x), n) for key, x in (("output", y), ("input", first), ("input", second)) for n in (0, 1)]
    order = [(x, q.form(m[key][n]))[:: 1 if n else -1] for key, x, n in placed if m[key][n] is not None]
    near = q.moved is None or q.field.at_most(apart, q.moved)
    must(near and all(q.field.at_most(*pair) for pair in order), "no output, or inputs that are no neighbours")
    values = [q.field.form(replaced(density, {"y": num(y), "theta": num(x)})) for x in (first, second)]
    sure(all(map(q.field.positive, values)), "whether a density is positive there")
    told = "any two inputs are adjacent" if q.moved is None else "inputs as far apart as the sensitivity are adjacent"
    return "lower", sub(*map(q.field.log, values)), at, [TOLD[0], told, IDEAL]


def kernel_box(q, evidence):
    """docs/theory/finite.md#kernel-box."""
    known = q.kind == "kernel" and not q.field.domains and None not in q.mechanism["output"]
    sure(known, "no kernel, or one with parameters, or with outputs without end")
    forms = [q.form(text) for key in ("output", "input", "input") for text in q.mechanism[key]] + [q.moved or {}]
    sure(all(p.keys() <= {()} for p in forms), "an end that is not rational")
    *ends, moved = (p.get((), Fraction(0)) for p in forms)
    density, target, ends = q.tree(q.mechanism["density"]), q.form(evidence["value"]), [(ends[i], ends[i + 1]) for i in (0, 2, 4)]
    good = all(low < high for low, high in ends) and moved >= 0 and "'other'" not in repr(density)
    must(good, "ends that do not rise, or another variable")
    unit = [tuple(Fraction(i == j) for i in range(3)) for j in range(3)]
    planes = [(n if sign > 0 else turned(n), sign * pair[sign > 0]) for n, pair in zip(unit, ends, strict=True) for sign in (-1, 1)]
    region, apart = Part(planes, product(*ends)), minus(unit[1], unit[2])
    region = region if q.moved is None else region.cut(apart, moved).cut(turned(apart), moved)
    sure(region.shows(evidence["tree"], density, target), "whether the loss is so small")
    return "upper", target, {}, TOLD
