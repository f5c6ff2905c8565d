"""Norms, and how far the answers to queries move in them."""

from fractions import Fraction
from itertools import combinations, product

from algebra import ONE, add, constant
from terms import must, rational, sure


def matrix_of(rows):
    """Rows of rationals."""
    return [list(map(rational, row)) for row in rows]


def eliminated(rows):
    """Rows after Gauss's elimination, and the pivots."""
    rows, pivots = [list(row) for row in rows], []
    for j in range(len(rows[0])):
        i = len(pivots)
        for k in [k for k in range(i, len(rows)) if rows[k][j]][:1]:
            rows[i], rows[k] = rows[k], rows[i]
            pivots.append(rows[i][j] if k == i else Fraction(0))
            for below in rows[i + 1 :]:
                below[:] = [x - below[j] / rows[i][j] * y for x, y in zip(below, rows[i], strict=True)]
    return rows, pivots


def check_norm(norm, dimension):
    """Refuses what is no norm. dimension: a number, or None for any."""
    if norm["kind"] == "lp":
        must(norm["p"] is None or rational(norm["p"]) >= 1, "p is below 1, where l_p is no norm")
        return
    sure(dimension is not None, "a norm by a matrix in a dimension that is no number")
    rows = matrix_of(norm["matrix"])
    pivots = eliminated(rows)[1] if rows and all(len(row) == dimension for row in rows) else []
    definite = rows == [list(column) for column in zip(*rows, strict=True)] and all(p > 0 for p in pivots)
    must(len(pivots) >= dimension and (definite or norm["kind"] != "ellipsoid"), "no norm: rows that do not span, or not definite")


def differences(query):
    """The extreme differences of the answers of neighbours, one of each v and -v, without 0."""
    rows = matrix_of(query["rows"])
    must(rows and rows[0] and not any(len(row) != len(rows[0]) for row in rows), "the rows of the query are not of one length")
    sure(query["adjacency"] != "l2", "a query on histograms under l2")
    columns = list(dict.fromkeys(zip(*rows, strict=True)))
    if query["adjacency"] == "replace":
        columns = [tuple(x - y for x, y in zip(f, g, strict=True)) for f, g in combinations(columns, 2)]
    return list(dict.fromkeys(up_to_sign(v) for v in columns if any(v)))


def up_to_sign(v):
    """A vector or its negative, the first number that is not 0 positive."""
    return tuple(v) if next((x for x in v if x), 0) >= 0 else tuple(-x for x in v)


def dot(a, b):
    """The inner product."""
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def stretched(norm, rows, field):
    """The greatest length of the answers to queries where histograms differ by at most 1 in l2."""
    p = "1" if len(rows) == 1 else norm["p"]
    known = p in ("1", None) or (p == "2" and all(dot(a, b) == 0 for a, b in combinations(rows, 2)))
    sure(norm["kind"] == "lp" and known and len(rows) <= 8, "how far a query moves under l2")
    if p == "1":
        rows = [[dot(signs, column) for column in zip(*rows, strict=True)] for signs in product((1, -1), repeat=len(rows))]
    return field.power(constant(max(dot(row, row) for row in rows)), Fraction(1, 2))


def gauge(columns, vectors, told):
    """The greatest gauge of vectors in the hull of columns and their negatives: sums of columns from above, a functional from below."""
    y, value = list(map(rational, told["dual"])), rational(told["value"])
    for weights, v in zip(told["primal"], vectors, strict=True):
        each = [(rational(w), columns[int(i)]) for i, w in weights.items()]
        made = tuple(sum(w * column[j] for w, column in each) for j in range(len(y)))
        sure(made == v and sum(abs(w) for w, _ in each) <= value, "whether a vector is so short")
    longest = vectors[told["worst"]] if type(told["worst"]) is int and told["worst"] >= 0 else [Fraction(0)] * len(y)
    sure(all(abs(dot(y, column)) <= 1 for column in columns) and dot(y, longest) == value, "the length of a vector")
    return constant(value)


def longest(norm, vectors, dimension, field, told):
    """The greatest length of vectors in a norm, a form."""
    if norm["kind"] == "lp":
        p = None if norm["p"] is None or dimension == 1 else rational(norm["p"])
        if p is None or p == 1:
            return constant(max((max if p is None else sum)(abs(x) for x in v) for v in vectors))
        sums = [add(*(field.power(constant(abs(x)), p) for x in v)) for v in vectors]
        return field.power(field.extreme("max", sums), 1 / p)
    rows = matrix_of(norm["matrix"])
    if norm["kind"] == "facets":
        return constant(max(abs(dot(row, v)) for row in rows for v in vectors))
    if norm["kind"] == "ellipsoid":
        bordered = [[[*row, y] for row, y in zip(rows, v, strict=True)] + [[*v, Fraction(0)]] for v in vectors]
        return field.power(constant(max(-eliminated(square)[0][-1][-1] for square in bordered)), Fraction(1, 2))  # v' S**-1 v
    own = {up_to_sign(row) for row in rows if any(row)}
    known = set(vectors) == own or (told == "upper" and set(vectors) <= own)
    return ONE if known else gauge(rows, vectors, told)  # docs/theory/additive.md, Gauges: the longest column is extreme
