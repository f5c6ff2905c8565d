"""Families of densities p(y; theta) on an interval: bounds on boxes of outputs and pairs of inputs (docs/theory/finite.md)."""

from itertools import product
from math import floor

import algebra as al
from algebra import Field, add, constant, names, scale, sub
from intervals import Interval, log, point
from noise import IDEAL, INFINITE, dot, rational
from terms import Malformed, Refused, Undecided, forbid, num, replaced, require

NAMES = ("y", "theta", "other")  # the output, an input, the one next to it
BITS = 120
TOLD = ["the kernel has a density for each input", IDEAL]


class Part(Field):
    """A polytope of such points: all x with <n, x> <= c for its planes, and the hull of its corners."""

    def __init__(self, planes, corners):
        self.planes, self.corners = planes, sorted(set(corners))
        ends = [(min(column), max(column)) for column in zip(*self.corners, strict=True)]
        super().__init__({name: (*pair, False, False, False) for name, pair in zip(NAMES, ends, strict=False)})
        self.box = {name: point(low).hull(point(high)) for name, (low, high, *_) in self.domains.items()}
        self.everywhere = [n for n, c in planes if all(dot(n, x) == c for x in self.corners)]

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
        ahead = [(n, c) for n, c in self.planes if dot(n, way) > 0 and n not in self.everywhere]
        found = [face for face in (self.cut(tuple(-x for x in n), -c) for n, c in ahead) if face]
        return [face for face in found if not any(set(face.corners) < set(other.corners) for other in found)]

    def spans(self, way):
        """Whether a direction stays in what the part spans."""
        return not any(dot(n, way) for n in self.everywhere)

    def content(self, p):
        """Sums stay as they are written: what their terms have in common would widen enclosures."""
        return super().content(p) if len(p) == 1 else (al.Fraction(1), {}, p)

    def _positive(self, p, strict):
        """At the corners where a form is linear, else by enclosures on boxes."""
        moving = [[x for x in m if al._names(x[0])] for m in p]
        if all(not m or (len(m) == 1 and m[0][0][0] == "s" and m[0][1] == 1) for m in moving):
            return all(Field({}).positive(value(p, x), strict) for x in self.corners)
        return self._on(p, strict, self.box, 6)

    def _on(self, p, strict, box, deep):
        try:
            near = al.evaluate(p, BITS, box)
        except Undecided:
            near = None
        if near and (near.lo > 0 or (near.lo == 0 and not strict)):
            return True
        if not deep or (near and near.hi < 0):
            return False
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
        if kind == "cut":
            normal, offset = vector(told[0]), rational(told[1])
            pieces = self.cut(normal, offset), self.cut(tuple(-x for x in normal), -offset)
            return all(piece is None or piece.shows(tree, density, target) for piece, tree in zip(pieces, told[2:], strict=True))
        if kind == "values":
            values = [Field({}).form(tree) for tree in settled(density, self.box)]
            require(all(Field({}).positive(p) for p in values), Undecided, "a density that may be 0")
            return all(Field({}).at_most(sub(Field({}).log(p), Field({}).log(q)), target) for p, q in product(values, values))
        loss = sub(self.log(self.form(density)), self.log(self.form(replaced(density, {"theta": ("sym", "other")}))))
        if kind == "slide":
            way = vector(told[0])
            good = any(way) and self.spans(way) and self.at_most({}, self.along(loss, way))
            return good and all(any(face.shows(tree, density, target) for tree in told[1]) for face in self.faces(way))
        if kind == "corner":
            return any(self.below(loss, target, start) for start in self.corners)
        require(kind == "tangent", Malformed, "a tree with a node that is none")
        start, way = vector(told[0]), minus(self.corners[-1], self.corners[0])
        good = all(parallel(minus(x, self.corners[0]), way) for x in (*self.corners, start))
        good = good and all(self.domains[name][0] <= x <= self.domains[name][1] for name, x in zip(NAMES, start, strict=True))
        return good and self.at_most(self.along(self.along(loss, way), way), {}) and self.below(loss, target, start, there=True)

    def below(self, loss, target, start, there=False):
        """Whether a loss is at most the target by its value at a point and its slopes there, or anywhere on the part."""
        steps, here = [self.along(loss, minus(x, start)) for x in self.corners], value(loss, start)
        steps = [value(step, start) for step in steps] if there else steps
        return self.at_most(here, target) and all(self.at_most(step, {}) or self.at_most(add(here, step), target) for step in steps)


def vector(told):
    """A vector of three numbers."""
    require(isinstance(told, list) and len(told) == len(NAMES), Malformed, "no vector of three numbers")
    return tuple(map(rational, told))


def minus(a, b):
    """a - b."""
    return tuple(x - y for x, y in zip(a, b, strict=True))


def parallel(a, b):
    """Whether a is a multiple of b, or both are 0."""
    return (any(b) or not any(a)) and all(a[i] * b[j] == a[j] * b[i] for i in range(len(a)) for j in range(i))


def value(p, x):
    """The value of a form at a point."""
    return al.substitute(p, Field({}), {name: constant(c) for name, c in zip(NAMES, x, strict=False)})


def settled(tree, box):
    """The trees that a tree is on a box, where what stands in floor is one of finitely many integers."""
    if not isinstance(tree, tuple):
        return [tree]
    if tree[:2] == ("call", "floor"):
        field = Field({name: (None, None, True, True, False) for name in box})
        near = al.evaluate(field.form(tree[2][0]), BITS, box)
        require(near.hi - near.lo < 60, Undecided, "floor of what moves far")
        return [num(n) for n in range(floor(near.lo), floor(near.hi) + 1)]
    found = list(dict.fromkeys(product(*(settled(part, box) for part in tree))))
    require(len(found) <= 60, Undecided, "a density of too many values")
    return found


class Kernel:
    """A kernel: its density, and the ends of its outputs and inputs."""

    def __init__(self, q):
        require(q.kind == "kernel", Refused, "the mechanism is no kernel")
        forbid(q.field.domains or None in q.mechanism["output"], Undecided, "a kernel with parameters, or with outputs without end")
        self.density, self.number = q.tree(q.mechanism["density"]), lambda text: known(q.form(text))
        self.ends = [tuple(map(self.number, q.mechanism[key])) for key in ("output", "input", "input")]
        require(all(low < high for low, high in self.ends), Refused, "the ends of outputs or inputs do not rise")
        self.reach = None if q.moved is None else known(q.moved)
        forbid(self.reach is not None and self.reach < 0, Refused, "the sensitivity is negative")


def known(p):
    """A rational number."""
    require(p.keys() <= {()}, Undecided, "an end that is not rational")
    return p.get((), al.Fraction(0))


def kernel_box(q, evidence):
    """docs/theory/finite.md#kernel-box."""
    kernel, target = Kernel(q), q.form(evidence["value"])
    unit = [tuple(al.Fraction(i == j) for i in range(3)) for j in range(3)]
    planes = [(tuple(sign * x for x in n), sign * ends[sign > 0]) for n, ends in zip(unit, kernel.ends, strict=True) for sign in (-1, 1)]
    region = Part(planes, list(product(*kernel.ends)))
    for sign in (1, -1) if kernel.reach is not None else ():
        region = region.cut((al.Fraction(0), al.Fraction(sign), al.Fraction(-sign)), kernel.reach)
    shown = region.shows(evidence["tree"], kernel.density, target)
    require(shown, Undecided, "the loss is not certainly at most the value")
    return "upper", target, {}, ["the sensitivity bounds how far apart adjacent inputs are"] * (kernel.reach is not None) + TOLD


def kernel_point(q, evidence):
    """docs/theory/finite.md#kernel-point."""
    kernel = Kernel(q)
    inputs, event = [kernel.number(evidence[key]) for key in ("theta", "other")], tuple(map(kernel.number, evidence["event"]))
    (first, last), (least, most), _ = kernel.ends
    require(first <= event[0] < event[1] <= last, Refused, "the event is no interval of outputs")
    near = all(least <= x <= most for x in inputs) and (kernel.reach is None or abs(inputs[0] - inputs[1]) <= kernel.reach)
    require(near, Refused, "the two are no inputs, or not so near to each other")
    part = Part([], [(x,) for x in event])
    trees = [settled(replaced(kernel.density, {"theta": num(x)}), part.box) for x in inputs]
    require(all(len(tree) == 1 for tree in trees), Undecided, "a density that may jump there")
    p, other = (part.form(tree) for (tree,) in trees)
    above, below = (al.evaluate(each, BITS, part.box) for each in (p, other))
    require(above.lo > 0 and below.lo >= 0, Undecided, "a density that may be 0 or less there")
    if not other:
        return "lower", INFINITE, {}, TOLD
    if "y" in evidence:
        y = kernel.number(evidence["y"])
        require(event[0] <= y <= event[1], Refused, "the point is not in the event")
        p, other = (value(each, [y]) for each in (p, other))
        return "lower", sub(Field({}).log(p), Field({}).log(other)), {}, TOLD
    ratio = log(Interval(above.lo, above.lo)) - log(Interval(below.hi, below.hi))
    return "lower", constant(al.Fraction(ratio.lo)), {}, TOLD
