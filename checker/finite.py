"""Finite inputs and outputs: tables, exponential mechanisms, responses; and staircase noise and guarantees, whose rules are as short."""

from itertools import permutations

import algebra as al
import terms
from algebra import ONE, add, constant, mul, scale, sub
from noise import IDEAL, INFINITE, natural, side_of, whole
from terms import Malformed, Refused, Undecided, forbid, require

PAIRS = {"upper": "only the listed inputs are adjacent", "lower": "the listed inputs are adjacent"}


def apart(field, p, q):
    """Whether two constants are certainly different."""
    return not al.names(sub(p, q)) and (field.positive(sub(p, q)) or field.positive(sub(q, p)))


class Table:
    """rows: probabilities, or beta times scores, of which sums are the normalisers. pairs: adjacent inputs in both orders."""

    def __init__(self, q):
        m = q.mechanism
        self.q, self.field = q, q.field
        require(q.kind in ("table", "exponential"), Refused, "there are no lists of inputs and outputs")
        listed = m["rows" if q.kind == "table" else "scores"]
        forbid(not listed or any(not row or len(row) != len(listed[0]) for row in listed), Refused, "rows are not of one length, or none")
        self.rows = [[q.form(x) for x in row] for row in listed]
        self.sums = [ONE] * len(listed)
        adjacent = m["adjacent"]
        forbid(any(max(pair) >= len(listed) for pair in adjacent or ()), Refused, "an adjacent pair names no two inputs")
        every = permutations(range(len(listed)), 2)
        self.pairs = [(a, b) for a, b in every if adjacent is None or [a, b] in adjacent or [b, a] in adjacent]
        if q.kind == "exponential":
            self._scores(q, m)
        for row in self.rows if q.kind == "table" else ():
            good = all(self.field.at_most({}, p) for p in row) and self.field.equal(add(*row), ONE)
            below = not good and any(self.field.positive(scale(p, -1)) for p in row)
            wrong = Refused if below or apart(self.field, add(*row), ONE) else Undecided
            require(good, wrong, "the probabilities of a row are not certainly at least 0, with the sum 1")

    def _scores(self, q, m):
        forbid(m["points"], Undecided, "an exponential mechanism of points")
        if q.moved is not None:
            moves = [sub(s, t) for a, b in self.pairs for s, t in zip(self.rows[a], self.rows[b], strict=True)]
            require(all(self.field.at_most(move, q.moved) for move in moves), Refused, "scores differ by more than the sensitivity")
        self.scores, beta = self.rows, q.form(m["beta"])
        self.rows = [[mul(beta, s) for s in row] for row in self.rows]
        self.sums = [add(*(self.field.exp(x) for x in row)) for row in self.rows]

    def zero(self, x, y):
        """Whether a probability is 0."""
        above, zero = self.q.kind == "exponential" or self.field.positive(self.rows[x][y]), self.field.zero(self.rows[x][y])
        require(above or zero, Undecided, "a probability that may be 0")
        return not above


def loss_at(table, a, b, y):
    """log P[a, y] - log P[b, y]."""
    p, q, field = table.rows[a][y], table.rows[b][y], table.field
    if table.q.kind == "exponential":
        return add(p, scale(q, -1), field.log(table.sums[b]), scale(field.log(table.sums[a]), -1))
    return INFINITE if table.zero(b, y) else sub(field.log(p), field.log(q))


def _cell(item, table):
    require(isinstance(item, list) and len(item) == 3 and all(type(i) is int for i in item), Malformed, "a cell is [x, x', y]")
    known = tuple(item[:2]) in table.pairs and 0 <= item[2] < len(table.rows[0])
    require(known, Refused, "a cell is no adjacent pair with an output")
    return item


def finite_table(q, evidence):
    """docs/theory/finite.md#finite-table."""
    if "cells" in evidence:
        require(isinstance(evidence["cells"], list), Malformed, "'cells' is no list")
        table = Table(q)
        assumed = [IDEAL, *[PAIRS["upper"]] * (q.mechanism["adjacent"] is not None)]
        if not table.pairs:
            return "upper", {}, {}, assumed
        named = [_cell(item, table) for item in evidence["cells"]]
        require(named, Refused, "no cell is named")
        forbid(any(table.zero(x, y) for a, b, y in named for x in (a, b)), Refused, "a named cell has a zero")
        tops = [loss_at(table, *cell) for cell in named]
        cells = [(a, b, y) for a, b in table.pairs for y in range(len(table.rows[a])) if not table.zero(a, y)]
        for cell in cells:
            loss = loss_at(table, *cell)
            require(loss != INFINITE, Refused, "a zero faces a probability above 0")
            below = any(table.field.at_most(loss, top) for top in tops)
            wrong = Refused if not below and all(table.field.positive(sub(loss, top)) for top in tops) else Undecided
            require(below, wrong, f"the loss at {list(cell)} is not certainly below a named cell")
        return "upper", table.field.extreme("max", tops), {}, assumed
    q, at = q.at(evidence)
    table = Table(q)
    a, b, y = _cell(evidence.get("cell"), table)
    forbid(table.zero(a, y), Refused, "the probability on x is 0")
    return "lower", loss_at(table, a, b, y), at, [IDEAL, PAIRS["lower"] if q.mechanism["adjacent"] else "any two inputs are adjacent"]


def exponential_general(q, evidence):
    """docs/theory/finite.md#exponential-general."""
    require(q.kind == "exponential", Refused, "the mechanism is no exponential one")
    table, beta = Table(q), q.form(q.mechanism["beta"])
    require(q.field.positive(beta, strict=False), Refused, "beta is not certainly at least 0")
    moves = [sub(s, t) for a, b in table.pairs for s, t in zip(table.scores[a], table.scores[b], strict=True)]
    most = q.field.extreme("max", [dict(k) for k in dict.fromkeys(map(al.key, moves))]) if moves else {}
    return "upper", mul(scale(beta, 2), most), {}, [IDEAL, *[PAIRS["upper"]] * (q.mechanism["adjacent"] is not None)]


def kary_response(q, evidence):
    """docs/theory/finite.md#kary-response."""
    side = side_of(evidence, None)
    q, at = q.at(evidence, side == "lower")
    require(q.kind == "kary_response", Refused, "the mechanism is no k-ary response")
    field, k, p = q.field, q.form(q.mechanism["k"]), q.form(q.mechanism["p"])
    assumed = [IDEAL, *["any two inputs are adjacent"] * (side == "lower")]
    require(whole(field, k) and field.at_most(constant(2), k), Refused, "k is not certainly an integer of at least 2")
    if side == "lower" and (field.zero(p) or field.equal(p, ONE)):
        return side, INFINITE, at, assumed
    require(field.positive(p) and field.positive(sub(ONE, p)), Refused, "p is not certainly between 0 and 1")
    ratio = mul(mul(p, sub(k, ONE)), field.power(sub(ONE, p), al.Fraction(-1)))
    if "value" in evidence:
        value = field.form(terms.parse(evidence["value"]))
        require(field.positive(value, strict=False), Undecided if field.domains else Refused, "the value is not certainly at least 0")
        wrong = Refused if apart(field, ratio, field.exp(value)) else Undecided
        require(field.equal(ratio, field.exp(value)), wrong, "p (k - 1)/(1 - p) is not certainly exp(value)")
        return side, value, at, assumed
    return side, field.extreme("max", [field.log(ratio), scale(field.log(ratio), -1)]), at, assumed


def staircase(q, evidence):
    """docs/theory/additive.md#staircase."""
    side = side_of(evidence, None)
    q, at = q.at(evidence, side == "lower")
    forbid(q.kind != "staircase" or q.query is not None, Refused, "the mechanism is no staircase noise, or has a query")
    field, epsilon, gamma = q.field, q.form(q.mechanism["epsilon"]), q.form(q.mechanism["gamma"])
    moved = ONE if q.moved is None else q.moved
    if not (field.positive(epsilon) and field.positive(moved) and field.positive(gamma, strict=False) and field.at_most(gamma, ONE)):
        raise Refused("epsilon and the sensitivity are not certainly positive, or gamma not in [0, 1]")
    steps = ONE if field.at_most(moved, ONE) else constant(-field.floor(scale(moved, -1)))
    word = "no answer moves further than" if side == "upper" else "some answers are apart by"
    return side, mul(steps, epsilon), at, [f"{word} the stated sensitivity", IDEAL]


def stated_epsilon(q, _):
    """docs/theory/composition.md#stated-epsilon."""
    m = q.mechanism
    require(q.kind == "guarantee", Refused, "nothing is stated of the mechanism")
    forbid(m["measure"] not in ("approximate", "bounded_range") or "order" in m, Undecided, "what is stated otherwise, or of one order")
    rows = [[q.form(x) for x in row] for row in m["rows"]]
    known = [row[0] for row in rows if len(row) == 1 + (m["measure"] == "approximate") and all(q.field.zero(x) for x in row[1:])]
    require(known and all(q.field.at_most({}, x) for row in rows for x in row), Undecided, "no pure epsilon is certainly stated")
    require(natural(q.field, q.factor), Undecided, "what is stated on no whole number of steps")
    return "upper", mul(q.factor, q.field.extreme("min", known)), {}, ["the mechanism is as private as is stated", IDEAL]
