"""Pairs of neighbours one of which is certainly worst for all parts (theory#joint-neighbours).

Which choices bound the rest. (1) v and -v are one choice: both orders of a pair are looked at. (2) A part whose density is even may have
its own output reflected, so that the sign of its difference does not count. (3) If all densities are log-concave, so is min(p, e^eps q)
in the outputs and v together, for all parts at once. Its integral over the outputs, 1 - delta, is then log-concave in v (Prekopa): delta
at any v is at most its greatest at the vertices of a polytope that v lies in. The same holds for the pure epsilon, a supremum of
functions that are convex in v. (4) For even log-concave densities delta does not fall with the size of any coordinate of F v.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any, Final

from dpverify.trusted.combinators.densities import coordinate, even, log_concave
from dpverify.trusted.combinators.neighbours import NAME, leaves, together
from dpverify.trusted.combinators.one_pair import Choice, Space, Vector, joined
from dpverify.trusted.kernel import model
from dpverify.trusted.kernel.errors import Rejected, Undecided, require
from dpverify.trusted.kernel.expr import ONE, Expr, Num, mul
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import Exponential, Mechanism, Part, Query, Table, parts_of

MOST_RAW: Final = 20_000
"""The most pairs of neighbours that are looked at."""


MOST_CHOICES: Final = 400
"""The most of them that are left once none is as bad as another."""


MOST_STEPS: Final = 12


_TOUCHES: Final = tuple(map(Fraction, ("0", "5/38", "15/56", "29/70", "15/26", "33/43")))
"""Tangents of half of about 0, 15, ..., 75 degrees."""


def all_log_concave(part: Part) -> bool:
    """Whether every part is additive noise with a log-concave density."""
    return all(log_concave(leaf.part.mechanism) for leaf in leaves(part))


@remembered(16)
def choices(part: Part) -> tuple[Choice, ...]:
    """Pairs of neighbours one of which is certainly worst. Raises Undecided where there are too many, or they are not known."""
    spaces, factor = together(part, linked=True, alone=True), root_factor(part)
    sampled = any(isinstance(inner, model.Subsample) for inner in mechanisms(part))
    require(bool(spaces), Undecided(f"{NAME}: no parts share their neighbours."))
    linked = [leaf for leaf in leaves(part) if leaf.linked and leaf.space in spaces]
    oriented = sampled or len(spaces) > 1 or not all(_either_way(leaf.part) for leaf in leaves(part))
    convex = all_log_concave(part)
    if len([space for space in spaces if space[0] == "records"]) > 1 and any(space[2] in ("replace", "l1") for space in spaces):
        raise Undecided(f"{NAME}: how differences of several histograms go together is not known.")
    listed: list[list[Vector]] = []
    for space in spaces:
        those = [leaf.part for leaf in linked if leaf.space == space]
        listed.append(_pairs(those, factor, oriented) if space[0] == "inputs" else _differences(space, factor, convex))
    count = 1
    for some in listed:
        count *= len(some)
    require(count <= MOST_RAW, Undecided(f"{NAME}: {count} pairs of neighbours are more than {MOST_RAW}."))
    different: dict[Any, Choice] = {}
    for values in product(*listed):
        choice = tuple(zip(spaces, values, strict=True))
        different.setdefault(tuple(_size(leaf.part, dict(choice)[leaf.space or ("", 0, "")]) for leaf in linked), choice)
    kept: list[tuple[Any, Choice]] = []
    for sizes, choice in sorted(different.items(), key=lambda sized: -sum(map(_total, sized[0]))):
        if not any(all(map(_at_most, sizes, others)) for others, _ in kept):
            kept.append((sizes, choice))
            if len(kept) > MOST_CHOICES:
                raise Undecided(f"{NAME}: more than {MOST_CHOICES} pairs of neighbours none of which is worse than the others.")
    return tuple(choice for _, choice in kept)


def _either_way(part: Part) -> bool:
    """Whether it certainly loses as much at neighbours in the one order as in the other.

    What has an order of its own, as keys that only one of the two has, may have it with the inputs of tables in either order.
    """
    if part.query is not None:
        return even(part.mechanism)
    return isinstance(part.mechanism, model.Noise | model.Finite)


def mechanisms(part: Part) -> Iterator[Mechanism]:
    """The mechanism of a part and of all that it is made of."""
    yield part.mechanism
    for inner in parts_of(part.mechanism):
        yield from mechanisms(inner)


def root_factor(part: Part) -> Fraction:
    """How many steps apart the neighbours of everything are: the groups and maps that hold it all. Raises Undecided for no number."""
    factor: Expr = ONE
    while isinstance(part.mechanism, model.Group | model.Lipschitz | model.PostProcess):
        mechanism = part.mechanism
        if isinstance(mechanism, model.Group):
            factor = mul(factor, mechanism.size)
        if isinstance(mechanism, model.Lipschitz):
            factor = mul(factor, mechanism.constant)
        part = mechanism.part
    return number(factor)


def in_either_order(part: Part) -> bool:
    """Whether what holds all of a part may exchange the neighbour with the record and the one without: a map, or several steps."""
    mechanism = part.mechanism
    if isinstance(mechanism, model.Lipschitz) or (isinstance(mechanism, model.Group) and mechanism.size != ONE):
        return True
    return isinstance(mechanism, model.Group | model.PostProcess) and in_either_order(mechanism.part)


def number(factor: Expr) -> Fraction:
    """The rational that a number of steps is. Raises Undecided for another."""
    if not isinstance(factor, Num) or factor.value < 0:
        raise Undecided(f"{NAME}: how many steps apart neighbours are is not a rational number.")
    return factor.value


def _round_about() -> Iterator[Vector]:
    """The vertices, one of each v and -v, of a polygon whose sides touch the unit circle at rational points: the disc lies in it."""
    quarter = [((1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)) for t in _TOUCHES]
    touching = [*quarter, *((-y, x) for x, y in quarter), (Fraction(-1), Fraction(0))]
    for (a, b), (c, d) in pairwise(touching):
        apart = 1 + a * c + b * d  # where the tangents at two points of length 1 meet
        yield (a + c) / apart, (b + d) / apart


def _differences(space: Space, factor: Fraction, convex: bool) -> list[Vector]:
    """Differences of histograms `factor` steps apart, one of each v and -v, the extreme ones alone where they suffice."""
    _, n, adjacency = space
    if adjacency == "l2" and convex and n == 2:
        return [tuple(factor * x for x in v) for v in _round_about()]
    if adjacency not in ("add-remove", "replace", "l1") or (adjacency == "l1" and not convex):
        raise Undecided(f"{NAME}: on real histograms the worst difference is not known for these densities.")
    if factor == 1 or convex:
        if adjacency == "replace":
            return [_sparse(n, {i: factor, j: -factor}) for i, j in combinations(range(n), 2)] or [_sparse(n, {})]
        return [_sparse(n, {i: factor}) for i in range(n)]
    if factor.denominator != 1 or factor > MOST_STEPS:
        raise Undecided(f"{NAME}: neighbours {factor} steps apart are not listed for densities that are not log-concave.")
    listed = set(_whole(n, int(factor) * (2 if adjacency == "replace" else 1)))
    return sorted(v for v in listed if (adjacency != "replace" or sum(v) == 0) and v >= tuple(-x for x in v))


def vertices(n: int, adjacency: str) -> Iterator[Vector]:
    """The extreme differences of neighbouring histograms, one of each v and -v. Raises Rejected for real ones without vertices."""
    require(adjacency in ("add-remove", "replace", "l1"), Rejected(NAME, "adjacency", f"{adjacency!r} has no vertices"))
    if adjacency == "replace":
        return (_sparse(n, {i: Fraction(1), j: Fraction(-1)}) for i, j in combinations(range(n), 2))
    return (_sparse(n, {i: Fraction(1)}) for i in range(n))


def _sparse(n: int, entries: Mapping[int, Fraction]) -> Vector:
    return tuple(entries.get(i, Fraction(0)) for i in range(n))


def _whole(n: int, most: int) -> Iterator[Vector]:
    """The integer vectors of l1 length at most `most`. Raises Undecided for too many."""
    layer: list[tuple[Vector, int]] = [((), most)]
    for _ in range(n):
        layer = [((*v, Fraction(x)), left - abs(x)) for v, left in layer for x in range(-left, left + 1)]
        require(len(layer) <= MOST_RAW, Undecided(f"{NAME}: more than {MOST_RAW} differences of histograms."))
    return (v for v, _ in layer)


def _pairs(parts: Sequence[Part], factor: Fraction, oriented: bool) -> list[Vector]:
    """The pairs of inputs up to `factor` steps apart, where two inputs are neighbours if one part says so."""
    near = reached_from(parts, -int(-factor // 1))
    pairs = sorted((Fraction(a), Fraction(b)) for a, those in near.items() for b in those if a != b and (oriented or a < b))
    require(bool(pairs), Undecided(f"{NAME}: no two inputs are neighbours."))
    return list(pairs)


def reached_from(parts: Sequence[Part], steps: int) -> dict[int, set[int]]:
    """For each input those that are at most so many steps away."""
    every = list[tuple[int, int]]()
    for part in parts:
        mechanism = part.mechanism
        assert isinstance(mechanism, Table | Exponential)
        if isinstance(mechanism, Exponential) and mechanism.points:
            raise Rejected(NAME, "points", "which of them are neighbours is not listed")
        size = len(mechanism.rows if isinstance(mechanism, Table) else mechanism.scores)
        every += combinations(range(size), 2) if mechanism.adjacent is None else mechanism.adjacent
    return joined(every, steps)


def _size(part: Part, value: Vector) -> Any:
    """What a part's pair depends on: whether greater sizes are certainly worse, and a size; or what faces what in two rows."""
    mechanism = part.mechanism
    if part.query is None:
        rows = mechanism.rows if isinstance(mechanism, Table) else mechanism.scores if isinstance(mechanism, Exponential) else ()
        a, b = (rows[int(x)] for x in value)
        return False, frozenset(Counter(zip(a, b, strict=True)).items()) if isinstance(mechanism, Table) else (a, b)
    shift = image(part.query, value)
    if not even(mechanism):
        return False, shift
    if len(shift) == 1 or coordinate(mechanism) is not None:
        sizes = tuple(sorted(map(abs, shift), reverse=True))
        return log_concave(mechanism), sizes
    return False, positive(shift)


def _at_most(size: Any, other: Any) -> bool:
    grows, value = size
    if value == other[1] or (isinstance(value, tuple) and not any(value)):
        return True
    return bool(grows and all(x <= y for x, y in zip(value, other[1], strict=True)))


def _total(size: Any) -> Fraction:
    grows, value = size
    return sum(map(abs, value), Fraction(0)) if grows else Fraction(0)


def image(query: Query, v: Vector) -> Vector:
    """F v."""
    moved = [i for i, x in enumerate(v) if x]
    return tuple(sum((row[i] * v[i] for i in moved), Fraction(0)) for row in query.rows)


def positive(shift: Vector) -> Vector:
    """A vector or its negative, the first coordinate that is not 0 positive."""
    lead = next((x for x in shift if x), Fraction(0))
    return tuple(-x for x in shift) if lead < 0 else shift
