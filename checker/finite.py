"""Finite inputs and outputs: tables, exponential mechanisms, responses; and staircase noise and guarantees, whose rules are as short."""

from itertools import permutations

from algebra import ONE, Fraction, add, constant, mul, scale, sub
from noise import IDEAL, INFINITE, natural, sided, total, whole
from terms import Refused, Undecided, forbid, must, sure

PAIRS = {"upper": "only the listed inputs are adjacent", "lower": "the listed inputs are adjacent"}


class Table:
    """rows: probabilities, or beta times scores, of which sums are the normalisers. pairs: adjacent inputs in both orders."""

    def __init__(self, q):
        m = q.mechanism
        self.q, self.field = q, q.field
        must(q.kind in ("table", "exponential"), "there are no lists of inputs and outputs")
        listed = m["rows" if q.kind == "table" else "scores"]
        forbid(not listed or any(not row or len(row) != len(listed[0]) for row in listed), Refused, "rows are not of one length, or none")
        self.rows = [[q.form(x) for x in row] for row in listed]
        self.sums = [ONE] * len(listed)
        adjacent = m["adjacent"]
        forbid(any(max(pair) >= len(listed) for pair in adjacent or ()), Refused, "an adjacent pair names no two inputs")
        every = permutations(range(len(listed)), 2)
        self.pairs = [(a, b) for a, b in every if adjacent is None or [a, b] in adjacent or [b, a] in adjacent]
        if q.kind == "exponential":
            forbid(m["points"] or q.moved is not None, Undecided, "an exponential mechanism of points, or of a stated sensitivity")
            self.rows = [[mul(q.form(m["beta"]), s) for s in row] for row in self.rows]
            self.sums = [add(*(self.field.exp(x) for x in row)) for row in self.rows]
        for row in self.rows if q.kind == "table" else ():
            sure(all(self.field.at_most({}, p) for p in row) and self.field.equal(add(*row), ONE), "whether a row is a distribution")

    def zero(self, x, y):
        """Whether a probability is 0."""
        above, zero = self.q.kind == "exponential" or self.field.positive(self.rows[x][y]), self.field.zero(self.rows[x][y])
        sure(above or zero, "a probability that may be 0")
        return not above


def loss_at(table, a, b, y):
    """log P[a, y] - log P[b, y]."""
    p, q, field = table.rows[a][y], table.rows[b][y], table.field
    if table.q.kind == "exponential":
        return add(p, scale(q, -1), field.log(table.sums[b]), scale(field.log(table.sums[a]), -1))
    return INFINITE if table.zero(b, y) else sub(field.log(p), field.log(q))


def finite_table(q, evidence):
    """docs/theory/finite.md#finite-table: of all cells from above, whichever are named."""
    side, (q, at) = "upper" if "cells" in evidence else "lower", q.at(evidence, "cells" not in evidence)
    table, listed = Table(q), [evidence.get("cell")]
    if side == "upper":
        listed = [(a, b, y) for a, b in table.pairs for y in range(len(table.rows[a])) if not table.zero(a, y)]
    known = all((a, b) in table.pairs and 0 <= y < len(table.rows[0]) and not table.zero(a, y) for a, b, y in listed)
    must(known, "a cell is no adjacent pair with a likely output")
    losses = [loss_at(table, *cell) for cell in listed]
    forbid(side == "upper" and INFINITE in losses, Refused, "a zero faces a probability above 0")
    told = PAIRS[side] if q.mechanism["adjacent"] is not None or side == "lower" else "any two inputs are adjacent"
    return side, total("max", q.field, losses) if losses else {}, at, [IDEAL, told]


def exponential_general(q, _):
    """docs/theory/finite.md#exponential-general."""
    must(q.kind == "exponential" and q.field.at_most({}, q.form(q.mechanism["beta"])), "there are no scores, or beta is not certainly at least 0")
    table = Table(q)
    moved = [sub(s, t) for a, b in table.pairs for s, t in zip(table.rows[a], table.rows[b], strict=True)]
    return "upper", scale(total("max", q.field, [{}, *moved]), 2), {}, [IDEAL, PAIRS["upper"]]


def kary_response(q, evidence):
    """docs/theory/finite.md#kary-response."""
    side, q, at = sided(q, evidence, None)
    must(q.kind == "kary_response", "the mechanism is no k-ary response")
    field, k, p = q.field, q.form(q.mechanism["k"]), q.form(q.mechanism["p"])
    must(whole(field, k) and field.at_most(constant(2), k), "k is not certainly an integer of at least 2")
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
    sure(known and natural(q.field, q.factor) and all(q.field.at_most({}, x) for row in rows for x in row), "no pure epsilon is stated")
    return "upper", mul(q.factor, q.field.extreme("min", known)), {}, ["the mechanism is as private as is stated", IDEAL]
