"""Metric spaces of answers, and how far apart databases are that have them (docs/theory/spaces.md)."""

from itertools import product
from math import prod

import norms
from algebra import ONE, Field, Fraction, add, constant, mul, names, scale, sub, substitute
from noise import within
from terms import must, num, parse, rational, replaced, sure

KEYS = {"mechanism", "mechanism_name", "name", "epsilon", "delta", "sensitivity", "query", "domains", "within", "beta"}
SIZES = {"box": None, "real": 1, "ellipsoid": 1, "infinite_tree": None, "points": 0}  # of numbers that a shape has


class Space:
    """The claim: gamma, beta, C, the answers, and how far apart databases are, at the parameters that evidence fixes."""

    def __init__(self, claim, field, evidence, known):
        sure(claim.keys() <= KEYS and "within" in claim and claim["delta"] == "0", "what a claim about a space does not speak of")
        sure(claim["sensitivity"] is None and claim["query"] is None, "a sensitivity or a query of a space")
        sure(evidence.keys() <= set(known), "a parameter that is not known of this rule")
        self.at = {name: rational(x) for name, x in evidence.get("at", {}).items()}
        left = dict(field.domains)
        for name, x in self.at.items():
            must(name in left and within(x, left.pop(name)), f"{name} = {x} is no parameter, or not in its domain")
        self.field, m, self.fixed = Field(left), claim["mechanism"], {name: num(x) for name, x in self.at.items()}
        self.gamma, self.beta, self.lipschitz = (self.form(x) for x in (claim["within"], claim["beta"], m["lipschitz"]))
        positive = map(self.field.positive, (self.gamma, self.beta, sub(ONE, self.beta), self.lipschitz))
        sure(all(positive), "gamma, beta and C that are not certainly above 0, and beta below 1")
        shape, self.evidence, self.given = m["shape"], evidence, (m["table"], m["rate"])
        self.kind, self.norm, self.rows = shape["kind"], shape["norm"], [list(map(rational, row)) for row in shape["matrix"]]
        sure(self.kind in SIZES and not shape["parts"] and (self.rows == []) == (self.kind != "points"), "a space of another kind")
        self.texts = shape["numbers"]
        sure(SIZES[self.kind] in (None, len(self.texts)), "a shape with other numbers")
        sure(not m["distances"] and not m["truth"], "databases whose distances are listed")
        sure(m["databases"] in ("answers", "bounded") and (m["diameter"] is None) == (m["databases"] == "answers"), "other databases")
        self.numbers = [] if self.kind == "ellipsoid" else [self.form(x) for x in self.texts]
        getattr(self, f"_{self.kind}")()
        self.width = None if m["diameter"] is None else self.form(m["diameter"])
        if self.width is not None:  # databases as declared exist
            sure(self.far is not None and self.field.at_most(self.far, mul(self.lipschitz, self.width)), "answers that are too far apart")

    def form(self, text):
        return self.field.form(replaced(parse(text), self.fixed))

    def count(self, p):
        """A number that is a number."""
        sure(p.keys() <= {()}, "what is no number")
        return p.get((), Fraction(0))

    # -- the shapes: `far`, the greatest distance of two answers, None for infinite

    def _box(self):
        sure(self.norm["kind"] == "lp" and self.numbers and all(map(self.field.positive, self.numbers)), "a box in another norm")
        norms.check_norm(self.norm, len(self.numbers))
        p, power = self.norm["p"], self.field.power
        if p is None:
            self.far = self.field.extreme("max", self.numbers)
        else:
            self.far = power(add(*(power(x, rational(p)) for x in self.numbers)), 1 / rational(p))

    def _real(self):
        dimension = self.count(self.numbers[0])
        must(dimension.denominator == 1 and dimension >= 1, "a dimension that is none")
        norms.check_norm(self.norm, int(dimension))
        self.far = None

    def _ellipsoid(self):
        """Axes a_k that certainly do not rise with k."""
        domain = (Fraction(1), None, False, True, True)
        sure("k" not in self.field.domains, "a parameter with the name of the number of an axis")
        over = Field({**self.field.domains, "k": domain})
        self.axis = over.form(replaced(parse(self.texts[0]), self.fixed))
        falls = all(c > 0 and all(e < 0 and rises(a) for a, e in m if "k" in names({((a, e),): c})) for m, c in self.axis.items())
        sure(falls and over.positive(self.axis) and names(self.axis) <= {"k"}, "axes that may rise, or are not above 0")
        self.over, self.far = over, scale(self.axes(1), 2)

    def axes(self, k):
        """a_k."""
        return substitute(self.axis, self.field, {"k": constant(k)})

    def _infinite_tree(self):
        sure(len(self.numbers) >= 2, "a tree without a scale, or a ratio")
        size, ratio, *children = self.numbers
        known = all(self.field.positive(x) for x in (size, ratio, sub(ONE, ratio)))
        counts = [self.count(x) for x in children]
        sure(known and all(n.denominator == 1 and n >= 1 for n in counts), "a tree that is none")
        self.nodes, self.far = [prod(map(int, counts[:depth])) for depth in range(len(counts) + 1)], size

    def apart(self, depth):
        """How far apart leaves are at most that are under one node of a depth."""
        return mul(self.numbers[0], self.field.power(self.numbers[1], Fraction(depth)))

    def _points(self):
        rows, n = self.rows, len(self.rows)
        square = all(len(row) == n for row in rows) and all((rows[i][j] > 0) == (i != j) for i, j in product(range(n), repeat=2))
        metric = square and all(rows[i][j] == rows[j][i] for i, j in product(range(n), repeat=2))
        sure(n <= 40 and metric, "distances that are none")
        must(all(rows[i][j] <= rows[i][k] + rows[k][j] for i, j, k in product(range(n), repeat=3)), "the triangle inequality fails")
        self.far = constant(max(map(max, rows)))

    def near(self, x, y):
        """Whether a point is certainly within gamma of another, or certainly not."""
        gap = sub(self.gamma, constant(self.rows[x][y]))
        known = self.field.positive(gap, strict=False)
        sure(known or self.field.positive(scale(gap, -1)), "whether an answer is near")
        return known

    def any_mechanism(self):
        """Bounds from above are of some mechanism, and so not of one that is given."""
        sure(self.given == ([], None), "a mechanism of its own")

    def per_answer(self):
        """That there is a database for each answer, at distances in proportion."""
        sure(self.width is None, "databases that are bounded")

    def odds(self, n, spare):
        """max(0, log((n - 1)(1 - beta)/spare))."""
        inside = mul(mul(sub(n, ONE), sub(ONE, self.beta)), self.field.power(spare, Fraction(-1)))
        return self.field.extreme("max", [{}, self.field.log(inside)])


def rises(a):
    """Whether an atom, k, or k or log k plus something, certainly rises with k, and is above 0 where it has a value."""
    if a == ("s", "k"):
        return True
    inside = dict(a[1]) if a[0] in "lq" else {}
    moving = {m: c for m, c in inside.items() if "k" in names({m: c})}
    simple = all(len(m) == 1 and m[0][1] > 0 and c > 0 and rises(m[0][0]) for m, c in moving.items())
    return bool(moving) and simple and names(inside) == {"k"}
