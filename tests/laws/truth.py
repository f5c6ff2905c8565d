"""What a claim means, computed from its definition alone: nothing of dpverify is used here.

A mechanism is the table that a claim file has for it. A database is a set of records. A leaf answers by the law of a *place*: a row of a
table, a point where noise is added, a vector of answers that are compared; and a *world* is a map of databases to places that takes
neighbours to neighbours. A combinator is what its definition says: a sample is the mean over all samples, a group or a map of the data
makes several records of one, parallel parts share the records out, a composition is the product of the laws of its parts on one database.
The truth is the greatest value of a measure over all worlds, enumerated, and all pairs of neighbours.

Laws are arrays. Of tables and integers they are exact or sums; noise on the line is sorted into cells, each with its mass by Gauss's rule:
to sort outputs can only lower a divergence, so that what is computed is never above the truth but by rounding, and a little below it, the
less the finer the cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, combinations, pairwise, permutations
from typing import Any

import numpy as np
from scipy import special

Law = np.ndarray
Place = Any
Records = frozenset[Any]
Mechanism = Mapping[str, Any]
ROUNDING = 1e-11
"""Of sums in doubles, which mean at most some thousand terms of relative error 1e-16, and of logarithms and roots of them."""


# -- leaves ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Leaf:
    """law(place): the masses of the outputs. near(place, steps): the places at most so many steps away.

    starts: where worlds begin. links: what names the places, where other leaves may name the same.
    arcs: of a table in one order, (with the record, without it).
    """

    law: Callable[[Place], Law]
    starts: Sequence[Place]
    near: Callable[[Place, int], Sequence[Place]]
    links: Any = None
    arcs: frozenset[tuple[int, int]] | None = None


def number(value: Any) -> Fraction:
    return Fraction(str(value))


def table(rows: Sequence[Sequence[Any]], adjacent: Any = None) -> Leaf:
    """Exact, in fractions where the rows are."""
    laws = [np.array([entry if isinstance(entry, float) else number(entry) for entry in row], dtype=object) for row in rows]
    if any(isinstance(entry, float) for row in rows for entry in row):
        laws = [law.astype(float) for law in laws]
    arcs = [tuple(pair) for pair in (adjacent or permutations(range(len(rows)), 2))]
    beside = {i: {i} | {b for pair in arcs for b in pair if i in pair} for i in range(len(rows))}

    def near(place: int, steps: int) -> list[int]:
        found = {place}
        for _ in range(min(steps, len(rows))):
            found = {b for a in found for b in beside[a]}
        return sorted(found)

    return Leaf(laws.__getitem__, range(len(rows)), near, ("rows", len(rows)), frozenset(arcs))


def response(k: int, p: Fraction) -> Leaf:
    found = table([[p if x == y else (1 - p) / (k - 1) for y in range(k)] for x in range(k)])
    return Leaf(found.law, found.starts, found.near)


def cells(edges: Sequence[float], most: float) -> np.ndarray:
    """The edges and enough between them that no cell is wider than `most`."""
    found: list[float] = []
    for a, b in pairwise(edges):
        count = max(1, math.ceil((b - a) / most))
        found += [a + (b - a) * i / count for i in range(count)]
    return np.array([*found, edges[-1]])


NODES, WEIGHTS = np.polynomial.legendre.leggauss(6)


def masses(density: Callable[[np.ndarray], np.ndarray], edges: np.ndarray) -> np.ndarray:
    """The integral of a density over each cell."""
    middle, half = (edges[1:] + edges[:-1]) / 2, (edges[1:] - edges[:-1]) / 2
    return (density(middle[:, None] + half[:, None] * NODES) * WEIGHTS).sum(axis=1) * half


def noise(
    density: Callable[[np.ndarray], np.ndarray], edges: Sequence[float], wide: float, *, moved: float = 1, far: float | None = 60
) -> Leaf:
    """Noise on the line, of a normalised density, at multiples of `moved`.

    wide: of the cells between the edges; there is one more on either side up to `far`, or none.
    edges: all places where a density that is moved has a kink, and beyond which the ratio of two is constant or does not matter.
    """
    inner = cells(edges, wide)
    outer = [] if far is None else [cells(ends, 1 / 2) for ends in ((-far, edges[0]), (edges[-1], far))]
    assert all(np.all(np.diff(some) > 0) for some in (inner, *outer))

    def law(place: float) -> Law:
        def at(y: np.ndarray) -> np.ndarray:
            return density(y - place * moved)

        return np.array([*masses(at, inner), *(masses(at, some).sum() for some in outer)])

    return Leaf(_kept(law), (0,), lambda place, steps: [place + i for i in range(-steps, steps + 1)])


def several(one: Leaf, shifts: Sequence[tuple[float, ...]]) -> Leaf:
    """The same noise on each of several numbers; one step between neighbours moves them by one of the shifts, or not at all."""

    def law(place: tuple[float, ...]) -> Law:
        found = one.law(place[0])
        for coordinate in place[1:]:
            found = np.outer(found, one.law(coordinate)).ravel()
        return found

    def near(place: tuple[float, ...], steps: int) -> list[tuple[float, ...]]:
        return [place, *(tuple(a + k * b for a, b in zip(place, shift, strict=True)) for shift in shifts for k in range(1, steps + 1))]

    return Leaf(_kept(law), (tuple(0 for _ in shifts[0]),), near)


def plane(density: Callable[[np.ndarray, np.ndarray], np.ndarray], far: float, count: int, step: float = 1) -> Leaf:
    """Noise in the plane, moved along the first axis by multiples of `step`."""
    xs, ys = cells([-far, 0, far], far / count), cells([0, far], far / count)  # the other half plane is alike

    def nodes(edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        middle, half = (edges[1:] + edges[:-1]) / 2, (edges[1:] - edges[:-1]) / 2
        return (middle[:, None] + half[:, None] * NODES).ravel(), (half[:, None] * WEIGHTS).ravel()

    (x, wx), (y, wy) = nodes(xs), nodes(ys)

    def law(place: int) -> Law:
        fine = 2 * density(x[:, None] - place * step, y[None, :]) * wx[:, None] * wy[None, :]
        return fine.reshape(len(xs) - 1, len(NODES), len(ys) - 1, len(NODES)).sum(axis=(1, 3)).ravel()

    return Leaf(_kept(law), (0,), lambda place, steps: range(place - steps, place + steps + 1))


def points(law: Callable[[Place], Law], places: Sequence[Place], distance: Callable[[Place, Place], float]) -> Leaf:
    """A mechanism at some of its inputs; neighbours are at most 1 apart."""
    return Leaf(_kept(law), list(places), lambda place, steps: [other for other in places if distance(place, other) <= steps + 1e-9])


def above(threshold: float, query: float, answers: Sequence[float]) -> np.ndarray:
    """The chances that each answer is the first above the threshold 0, and that none is; noise is Laplace's, of these scales."""
    # nothing is left beyond 40 scales; in between the integrand has kinks at 0 and at the answers alone
    edges = cells(sorted({-40 * threshold, 0.0, 40 * threshold, *(a for a in answers if abs(a) < 40 * threshold)}), threshold / 4)
    middle, half = (edges[1:] + edges[:-1]) / 2, (edges[1:] - edges[:-1]) / 2
    t, w = (middle[:, None] + half[:, None] * NODES).ravel(), (half[:, None] * WEIGHTS).ravel()
    w = w * np.exp(-np.abs(t) / threshold) / (2 * threshold)

    def least(z: np.ndarray) -> np.ndarray:  # the chance that the noise of an answer is at least z
        return np.where(z > 0, np.exp(-np.abs(z) / query) / 2, 1 - np.exp(-np.abs(z) / query) / 2)

    def below(z: np.ndarray) -> np.ndarray:
        return least(-z)

    found, so_far = [], w
    for a in answers:
        found.append(float((so_far * least(t - a)).sum()))
        so_far = so_far * below(t - a)
    return np.array([*found, float(so_far.sum())])


def integers(weight: Callable[[np.ndarray], np.ndarray], moved: int, most: int, told: int) -> Leaf:
    """Noise on the integers, by its weights up to `most` away, beyond which there is nothing that a double would show.

    Those beyond `told` are one output on either side: there the ratio of two laws is constant, or does not matter.
    """
    grid = np.arange(-most, most + 1)
    total = weight(grid).sum()

    def law(place: int) -> Law:
        found, end = weight(grid - place) / total, most - told
        return np.array([found[: end + 1].sum(), *found[end + 1 : -end - 1], found[-end - 1 :].sum()])

    return Leaf(_kept(law), (0,), lambda place, steps: range(place - moved * steps, place + moved * steps + 1))


def _kept(law: Callable[[Place], Law]) -> Callable[[Place], Law]:
    known: dict[Place, Law] = {}

    def find(place: Place) -> Law:
        if place not in known:
            known[place] = law(place)
        return known[place]

    return find


# -- worlds ------------------------------------------------------------------------------------------


class World:
    """Choices that are made when they are first asked for; `every` goes through all of them."""

    def __init__(self, prefix: list[int], linked: bool, order: str | None) -> None:
        self.prefix, self.taken, self.linked, self.order = prefix, [], linked, order
        self.memory: dict[Any, Any] = {}
        self.places: dict[Any, dict[Records, Place]] = {}

    def choose(self, key: Any, options: Sequence[Any]) -> Any:
        if key not in self.memory:
            options = list(options)
            at = len(self.taken)
            index = self.prefix[at] if at < len(self.prefix) else 0
            self.taken.append((index, len(options)))
            self.memory[key] = options[index]
        return self.memory[key]

    def place(self, key: Any, leaf: Leaf, data: Records, replace: bool) -> Place:
        known = self.places.setdefault(key, {})
        if data not in known:
            if not known:
                options = list(leaf.starts)
            elif leaf.arcs is not None and self.order is not None and not replace:
                options = [c for c in leaf.starts if all(_one_sided(leaf, c, data, p, s) for s, p in known.items())]
            else:
                far = (lambda s: max(len(s - data), len(data - s))) if replace else (lambda s: len(s ^ data))
                first, *others = [set(leaf.near(place, far(seen))) for seen, place in known.items()]
                options = sorted(first.intersection(*others))
            known[data] = self.choose((key, data), options)
        return known[data]


def _one_sided(leaf: Leaf, new: Place, data: Records, old: Place, seen: Records) -> bool:
    """Whether two databases may have these places: a record that is added goes from the second place of an arc to the first, or stays."""

    def grown(place: Place, steps: int) -> set[Place]:
        found = {place}
        for _ in range(steps):
            found |= {a for a, b in leaf.arcs or () if b in found}
        return found

    return any(new in grown(c, len(data - seen)) and old in grown(c, len(seen - data)) for c in leaf.starts)


def every(run: Callable[[World], Any], linked: bool, order: str | None, most: int = 200_000) -> Iterator[Any]:
    prefix: list[int] = []
    for _ in range(most):
        world = World(prefix, linked, order)
        yield run(world)
        taken = world.taken
        while taken and taken[-1][0] + 1 == taken[-1][1]:
            taken.pop()
        if not taken:
            return
        prefix = [index for index, _ in taken]
        prefix[-1] += 1
    raise ValueError("more worlds than are looked at")


# -- combinators -------------------------------------------------------------------------------------


def subsets(data: Records) -> Iterator[Records]:
    listed = sorted(data, key=repr)
    return map(frozenset, chain.from_iterable(combinations(listed, n) for n in range(len(listed) + 1)))


@dataclass(frozen=True)
class Meaning:
    """The law of a mechanism on a database, in a world."""

    leaves: Callable[[Mechanism], Leaf]
    replace: bool = False
    order: str | None = None
    known: dict[int, Leaf] = field(default_factory=dict)

    def law(self, part: Mechanism, data: Records, universe: Records, world: World, at: tuple, own: Any, top: bool) -> Law:
        """at: where the part stands. own: the group, map or parallel part that it stands in, which has neighbours of its own. top: nothing
        but groups and maps of outputs stand around it."""
        kind, found = part["kind"], np.array([Fraction(1)], dtype=object)
        if kind == "compose":
            for index, inner in enumerate(part["parts"] if "parts" in part else [part["part"]]):
                found = np.outer(found, self.runs(inner, data, universe, world, (*at, index), own, False)).ravel()
            return found
        if kind == "parallel":
            for index, inner in enumerate(part["parts"]):
                mine = frozenset(r for r in universe if world.choose((at, r), range(len(part["parts"]))) == index)
                found = np.outer(found, self.runs(inner, data & mine, mine, world, (*at, index), (at, index), False)).ravel()
            return found
        if kind == "post_process":
            return self.runs(part["part"], data, universe, world, (*at, 0), own, top)
        if kind in ("group", "lipschitz"):
            return self._more(part, data, universe, world, at, own if top else at, top)
        if kind == "subsample":
            rate, inner = number(part["rate"]), part["part"]
            if self.replace:
                size = rate * len(data)
                assert size.denominator == 1
                drawn = [(s, Fraction(1, math.comb(len(data), int(size)))) for s in subsets(data) if len(s) == size]
            else:
                drawn = [(s, rate ** len(s) * (1 - rate) ** (len(data) - len(s))) for s in subsets(data)]
            laws = [self.runs(inner, s, universe, world, (*at, 0), own, False) * weight for s, weight in drawn if weight]
            return sum(laws[1:], laws[0])
        if id(part) not in self.known:
            self.known[id(part)] = self.leaves(part)
        leaf = self.known[id(part)]
        key = (own, leaf.links) if world.linked and leaf.links else at
        return leaf.law(world.place(key, leaf, data, self.replace))

    def runs(
        self, part: Mechanism, data: Records, universe: Records, world: World, at: tuple = (), own: Any = None, top: bool = True
    ) -> Law:
        """A part as often as it is run, with noise of its own each time."""
        once = self.law(part, data, universe, world, at, own, top)
        found = once
        for _ in range(int(part.get("times", 1)) - 1):
            found = np.outer(found, once).ravel()
        return found

    def _more(self, part: Mechanism, data: Records, universe: Records, world: World, at: tuple, own: Any, top: bool) -> Law:
        """In place of each record as many as the size says. Some may be there without it, behind a map and in a group of both orders."""
        size = int(number(part["size"] if part["kind"] == "group" else part["constant"]))
        whole = self.replace or (part["kind"] == "group" and self.order is not None)
        seen: set[Any] = set()
        for r in universe:
            kept = size if whole else world.choose((at, "kept", r), range(size + 1))
            seen |= {(r, i) for i in (range(kept) if r in data else range(kept, size))} if not self.replace else set()
            if self.replace and r in data:
                seen |= {(r, i) for i in range(size)}
        inside = frozenset((r, i) for r in universe for i in range(size))
        return self.runs(part["part"], frozenset(seen), inside, world, (*at, 0), own, top)


def laws(mechanism: Mechanism, leaves: Callable[[Mechanism], Leaf], order: str | None = None, *, others: int = 0, linked: bool = True,
         replace: bool = False) -> Iterator[tuple[Law, Law]]:  # fmt: skip
    """The laws on two neighbours in the order that is asked about, in every world. others: how many records both databases have besides."""
    meaning = Meaning(leaves, replace, order)
    common = frozenset(("other", i) for i in range(others))
    first, second = common | {("new", 0)}, common | ({("new", 1)} if replace else frozenset())
    universe = first | second

    def run(world: World) -> tuple[Law, Law]:
        return meaning.runs(mechanism, first, universe, world), meaning.runs(mechanism, second, universe, world)

    seen = set()
    for p, q in every(run, linked, order):
        key = _outputs(p, q)
        if key in seen:
            continue
        seen.add(key)
        if order in (None, "one-sided"):
            yield p, q
        if order in (None, "reverse"):
            yield q, p


def _outputs(p: Law, q: Law) -> Any:
    """What two pairs of laws have in common that differ by the names of outputs alone."""
    if p.dtype == object and q.dtype == object:
        return tuple(sorted(zip(p, q, strict=True)))
    p, q = p.astype(float), q.astype(float)
    return tuple(np.sort(np.log(np.maximum(v * p + (1 - v) * q, 1e-300))).round(10).tobytes() for v in (0.17, 0.83))


# -- measures ----------------------------------------------------------------------------------------


def merged(p: Law, q: Law) -> tuple[np.ndarray, np.ndarray]:
    """Outputs that can occur, as doubles."""
    p, q = p.astype(float), q.astype(float)
    keep = (p > 0) | (q > 0)
    return p[keep], q[keep]


def pure(p: Law, q: Law) -> float:
    p, q = merged(p, q)
    seen = p > 0
    with np.errstate(divide="ignore"):
        return float(np.max(np.log(p[seen]) - np.log(q[seen])))


def delta_at(p: Law, q: Law, epsilon: float) -> float:
    """The hockey-stick divergence."""
    p, q = merged(p, q)
    return math.fsum(np.maximum(p - math.exp(epsilon) * q, 0))


def epsilon_at(p: Law, q: Law, delta: float) -> float:
    """The least epsilon >= 0 with that hockey-stick divergence at most delta: between two ratios it is linear in exp(epsilon)."""
    p, q, ratio = sorted_by_ratio(p, q)
    if delta_at(p, q, 0) <= delta:
        return 0.0
    more, less = np.cumsum(p), np.cumsum(q)  # of outputs of so great a ratio, or a greater one
    above = more[:-1] - np.minimum(ratio[1:], 1e300) * less[:-1] > delta  # the divergence at each ratio but the greatest
    last = int(np.argmax(above)) if above.any() else len(p) - 1
    if less[last] == 0:
        return math.inf
    return max(0.0, math.log((more[last] - delta) / less[last]))


def sorted_by_ratio(p: Law, q: Law) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The outputs that speak most for p first."""
    p, q = merged(p, q)
    with np.errstate(divide="ignore"):
        ratio = np.where(q > 0, p / np.where(q > 0, q, 1), np.inf)
    order = np.argsort(-ratio, kind="stable")
    return p[order], q[order], ratio[order]


def renyi(p: Law, q: Law, order: float) -> float:
    p, q = merged(p, q)
    if np.any((q == 0) & (p > 0)):
        return math.inf
    keep = p > 0
    logs = order * np.log(p[keep]) + (1 - order) * np.log(q[keep])
    return float(special.logsumexp(logs)) / (order - 1)


def kullback(p: Law, q: Law) -> float:
    p, q = merged(p, q)
    if np.any((q == 0) & (p > 0)):
        return math.inf
    keep = p > 0
    return float(np.sum(p[keep] * (np.log(p[keep]) - np.log(q[keep]))))


ORDERS = 1 + np.geomspace(1e-3, 300, 60)


def zcdp(p: Law, q: Law) -> float:
    """The supremum of the divergence over its order, on a grid of orders and then near the best of them."""
    best = kullback(p, q)
    if best == math.inf:
        return best
    p, q = merged(p, q)
    p, q = p[p > 0], q[p > 0]
    logs, loss = np.log(p), np.log(p) - np.log(q)

    def rho(orders: np.ndarray) -> np.ndarray:
        return special.logsumexp(logs + np.outer(orders - 1, loss), axis=1) / ((orders - 1) * orders)

    orders = ORDERS
    for _ in range(5):
        values = rho(orders)
        best, at = max(best, float(np.max(values))), int(np.argmax(values))
        orders = np.linspace(orders[max(at - 1, 0)], orders[min(at + 1, len(orders) - 1)], 21)
    return best


def gdp(p: Law, q: Law) -> float:
    """The greatest mu that some event demands. The trade-off function is a polygon, and the Gaussian one convex: corners are enough."""
    p, q, _ = sorted_by_ratio(p, q)
    p_in, q_in = np.cumsum(p), np.cumsum(q)
    p_out, q_out = np.append(np.cumsum(p[::-1])[::-1][1:], 0), np.append(np.cumsum(q[::-1])[::-1][1:], 0)

    def z(inside: np.ndarray, outside: np.ndarray) -> np.ndarray:
        return np.where(inside < 0.5, special.ndtri(np.clip(inside, 0, 1)), -special.ndtri(np.clip(outside, 0, 1)))

    with np.errstate(invalid="ignore"):
        found = z(p_in, p_out) - z(q_in, q_out)
    # What is nearly everything or nearly nothing of both says more of the doubles than of the laws.
    sure = ((p_in > 1e-13) & (p_out > 1e-13)) | ((p_in > 1e-9) & (q_in == 0)) | ((q_out > 1e-9) & (p_out == 0))
    sure &= (q_in > 1e-13) | (q_in == 0)
    sure &= (q_out > 1e-13) | (q_out == 0)
    found = found[sure & ~np.isnan(found)]
    return max(0.0, float(np.max(found, initial=0.0)))


MEASURES: dict[str, Callable[[Law, Law], float]] = {
    "pure": pure,
    "delta": lambda p, q: delta_at(p, q, 0.5),
    "epsilon": lambda p, q: epsilon_at(p, q, 0.05),
    "zcdp": zcdp,
    "gdp": gdp,
    "renyi 3/2": lambda p, q: renyi(p, q, 1.5),
    "renyi 2": lambda p, q: renyi(p, q, 2.0),
    "renyi 5": lambda p, q: renyi(p, q, 5.0),
}
CLAIMS: dict[str, dict[str, Any]] = {
    "pure": {"epsilon": "tight"},
    "delta": {"epsilon": "1/2", "delta": "tight"},
    "epsilon": {"epsilon": "tight", "delta": "1/20"},
    "zcdp": {"zcdp": "tight"},
    "gdp": {"gdp": "tight"},
    "renyi 3/2": {"renyi": {"order": "3/2", "epsilon": "tight"}},
    "renyi 2": {"renyi": {"order": 2, "epsilon": "tight"}},
    "renyi 5": {"renyi": {"order": 5, "epsilon": "tight"}},
}


def truths(pairs: Iterator[tuple[Law, Law]]) -> dict[str, float]:
    """Every measure, over all pairs."""
    found = dict.fromkeys(MEASURES, 0.0)
    for p, q in pairs:
        for name, measure in MEASURES.items():
            found[name] = max(found[name], measure(p, q))
    return found
