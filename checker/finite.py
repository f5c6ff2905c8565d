"""Finite inputs and outputs: tables, exponential mechanisms, responses; and staircase noise and guarantees, whose rules are as short."""

from itertools import permutations

from algebra import ONE, Fraction, add, constant, mul, scale, sub
from noise import IDEAL, INFINITE, sided, total, whole
from terms import Refused, Undecided, forbid, must, sure

PAIRS = {"upper": "only the listed inputs are adjacent", "lower": "the listed inputs are adjacent"}


class Table:
    """rows: probabilities. pairs: adjacent inputs in both orders."""

    def __init__(self, q):
        m = q.mechanism
        self.field = field = q.field
        must(q.kind in ("table", "exponential"), "there are no lists of inputs and outputs")
        listed = m["rows" if q.kind == "table" else "scores"]
        forbid(not listed or any(not row or len(row) != len(listed[0]) for row in listed), Refused, "rows are not of one length, or none")
        self.rows = [[q.form(x) for x in row] for row in listed]
        adjacent = m["adjacent"]
        forbid(any(max(pair) >= len(listed) for pair in adjacent or ()), Refused, "an adjacent pair names no two inputs")
        every = permutations(range(len(listed)), 2)
        self.pairs = [(a, b) for a, b in every if adjacent is None or [a, b] in adjacent or [b, a] in adjacent]
        if q.kind == "exponential":
            forbid(m["points"] or q.moved is not None, Undecided, "an exponential mechanism of points, or of a stated sensitivity")
            weights = [[field.exp(mul(q.form(m["beta"]), s)) for s in row] for row in self.rows]
            self.rows = [[mul(w, field.power(add(*row), Fraction(-1))) for w in row] for row in weights]
        for row in self.rows if q.kind == "table" else ():
            sure(all(field.at_most({}, p) for p in row) and field.equal(add(*row), ONE), "whether a row is a distribution")

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
        forbid(value == INFINITE, Refused, "a zero faces a probability above 0")
        return side, value, at, [IDEAL, told]
    a, b, y = evidence["cell"]
    must((a, b) in table.pairs and 0 <= y < len(table.rows[0]) and not table.zero(a, y), "a cell is no adjacent pair with a likely output")
    return side, table.loss(a, b, [y]), at, [IDEAL, told]


def exponential_general(q, _):
    """docs/theory/finite.md#exponential-general."""
    must(q.kind == "exponential" and q.field.at_most({}, q.form(q.mechanism["beta"])), "there are no scores, or beta may be below 0")
    listed = [[q.form(x) for x in row] for row in q.mechanism["scores"]]
    moved = q.field.extreme("max", [{}, *(sub(s, t) for a, b in Table(q).pairs for s, t in zip(listed[a], listed[b], strict=True))])
    return "upper", mul(scale(q.form(q.mechanism["beta"]), 2), moved), {}, [IDEAL, PAIRS["upper"]]


def kary_response(q, evidence):
    """docs/theory/finite.md#kary-response."""
    side, q, at = sided(q, evidence, None)
    must(q.kind == "kary_response", "the mechanism is no k-ary response")
    field, k, p = q.field, q.count(q.mechanism["k"], 2), q.form(q.mechanism["p"])
    if side == "lower" and (field.zero(p) or field.equal(p, ONE)):
        return side, INFINITE, at, [IDEAL, "any two inputs are adjacent"]
    must(field.positive(p) and field.positive(sub(ONE, p)), "p is not certainly between 0 and 1")
    ratio = mul(mul(p, sub(k, ONE)), field.power(sub(ONE, p), Fraction(-1)))
    return side, field.extreme("max", [field.log(ratio), scale(field.log(ratio), -1)]), at, [IDEAL, "any two inputs are adjacent"]


def staircase(q, evidence):
    """docs/theory/additive.md#staircase."""
    side, q, at = sided(q, evidence, None)
    forbid(q.kind != "staircase" or q.query is not None, Refused, "the mechanism is no staircase noise, or has a query")
    field, epsilon, gamma = q.field, q.form(q.mechanism["epsilon"]), q.form(q.mechanism["gamma"])
    moved = ONE if q.moved is None else q.moved
    must(field.positive(epsilon) and field.positive(moved), "epsilon and the sensitivity are not certainly positive")
    must(field.at_most({}, gamma) and field.at_most(gamma, ONE), "gamma is not certainly from 0 to 1")
    steps = ONE if field.at_most(moved, ONE) else constant(-field.floor(scale(moved, -1)))
    word = "no answer moves further than" if side == "upper" else "some answers are apart by"
    return side, mul(steps, epsilon), at, [f"{word} the stated sensitivity", IDEAL]


def stated_epsilon(q, _):
    """docs/theory/composition.md#stated-epsilon."""
    must(q.kind == "guarantee", "nothing is stated of the mechanism")
    m, rows = q.mechanism, [[q.form(x) for x in row] for row in q.mechanism["rows"]]
    one = m["measure"] == "bounded_range" and len(rows) == 1
    forbid("order" in m or not (one or m["measure"] == "approximate"), Undecided, "what is stated otherwise, or of one order")
    known = [row[0] for row in rows if len(row) == 2 - one and all(q.field.zero(x) for x in row[1:])]
    sure(known and whole(q.field, q.factor) and q.field.at_most(ONE, q.factor), "no pure epsilon is stated, or parts of steps")
    sure(all(q.field.at_most({}, x) for row in rows for x in row), "what is stated may be below 0")
    return "upper", mul(q.factor, q.field.extreme("min", known)), {}, ["the mechanism is as private as is stated", IDEAL]
