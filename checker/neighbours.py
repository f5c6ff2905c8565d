"""The pairs of neighbours that parts of a mechanism share (docs/theory/composition.md, joint neighbours)."""

from itertools import permutations

from algebra import Fraction
from finite import Table
from parts import STEPS, down, every, inside, leaves, spaces
from terms import sure


def ways(q, order):
    """The pairs of neighbours that parts share, [None] where each has its own; of one order, those in it."""
    listed, known = leaves(q.mechanism, q.part), set(spaces_of(q))
    if not known:
        return [None]
    sure(len(known) == 1, "parts that share several kinds of neighbours")
    apart = any(m["kind"] in (*STEPS, "parallel") for m, _ in every(q.mechanism))
    sure(not apart, "neighbours that are several steps apart, or not shared")
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
