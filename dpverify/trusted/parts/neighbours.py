"""One pair of neighbours for all parts: which pairs there are, and what a combinator comes to at one of them (theory#joint-neighbours).

Parts that state queries with as many columns and the same adjacency are run on the same two histograms; tables with as many rows name
the same inputs by them. For one pair of neighbours, a choice, every query F becomes its one difference F v and every table its two rows,
in one orientation: the first distribution of every part is the one with the record. So the ordinary rules speak of that pair alone.

Which choices bound the rest. (1) v and -v are one choice: both orders of a pair are looked at. (2) A part whose density is even may have
its own output reflected, so that the sign of its difference does not count. (3) If all densities are log-concave, so is min(p, e^eps q)
in the outputs and v together, for all parts at once. Its integral over the outputs, 1 - delta, is then log-concave in v (Prekopa): delta
at any v is at most its greatest at the vertices of a polytope that v lies in. The same holds for the pure epsilon, a supremum of
functions that are convex in v. (4) For even log-concave densities delta does not fall with the size of any coordinate of F v.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any, Final, assert_never

from dpverify.trusted.language.errors import CertificateError, DpverifyError, ExprError, Rejected, Undecided
from dpverify.trusted.language.expr import ONE, Expr, Num, Sym, mul, neg, num, substitute, symbols
from dpverify.trusted.language.loading import remembered
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.model import (
    Combinator,
    Compose,
    Domain,
    Exponential,
    Group,
    Guarantee,
    KaryResponse,
    Kernel,
    Lipschitz,
    Mechanism,
    Mixture,
    Noise,
    Parallel,
    Part,
    PostProcess,
    Product,
    Query,
    Radial,
    Sampled,
    Subsample,
    Table,
    Translation,
    exact_fraction,
    parts_of,
)
from dpverify.trusted.order.compare import certainly_equal
from dpverify.trusted.order.convexity import Shapes
from dpverify.trusted.parts.forms import gaussian_form, laplace_form

NAME: Final = "joint-neighbours"

APART: Final = "the neighbours that are worst for one part are worst for all"
"""What a lower bound takes for granted of parts whose neighbours nothing connects."""
SAME_ROWS: Final = "tables with as many rows name the same inputs by them, in the same order"

MOST_RAW: Final = 20_000
"""The most pairs of neighbours that are looked at."""
MOST_CHOICES: Final = 400
"""The most of them that are left once none is as bad as another."""
MOST_STEPS: Final = 12
_TOUCHES: Final = tuple(map(Fraction, ("0", "5/38", "15/56", "29/70", "15/26", "33/43")))
"""Tangents of half of about 0, 15, ..., 75 degrees."""

Vector = tuple[Fraction, ...]
Space = tuple[str, int, str]
"""What neighbours are of: ("records", columns, adjacency), or ("inputs", rows, "")."""
Choice = tuple[tuple[Space, Vector], ...]
"""For each space a pair of neighbours: the difference of the histograms, or the numbers of the two inputs."""


@dataclass(frozen=True, slots=True)
class OnePair(Part):
    """A part at one pair of neighbours of a space: additive noise with a query of one column, or a finite mechanism at two of its inputs.

    pair: the two inputs, that of the first distribution first.
    """

    pair: tuple[int, int] = (0, 0)
    space: Space = ("", 0, "")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A part without parts. own: in a group or behind a map that the others are not in. parallel: in one of several parts of the data.

    repeated: run more than once. sampled: run on a Poisson sample.
    """

    part: Part
    own: bool = False
    parallel: bool = False
    repeated: bool = False
    sampled: bool = False

    @property
    def space(self) -> Space | None:
        return space_of(self.part)

    @property
    def linked(self) -> bool:
        """Whether its neighbours are certainly those of the others in its space."""
        return not self.own and not (self.parallel and self.part.query is None)

    @property
    def one_way(self) -> bool:
        """Whether it loses different amounts in the two orders of a pair of which a sample has only one."""
        return self.sampled and self.linked and is_told(self.part)


def space_of(part: Part) -> Space | None:
    """What a part's neighbours are of; None where the part does not say, and where it is at one pair already."""
    if isinstance(part, OnePair):
        return None
    if part.query is not None:
        return "records", len(part.query.rows[0]) if part.query.rows else 0, part.query.adjacency
    if isinstance(part.mechanism, Table):
        return "inputs", len(part.mechanism.rows), ""
    if isinstance(part.mechanism, Exponential):
        return "inputs", len(part.mechanism.scores), ""
    if not isinstance(part.mechanism, Noise | Kernel | KaryResponse | Guarantee | Sampled | Combinator):
        assert_never(part.mechanism)
    return None


def leaves(part: Part, top: bool = True, at: Leaf | None = None) -> Iterator[Leaf]:
    """All parts without parts. top: a group or a map that holds everything is not one part's own."""
    mechanism, here = part.mechanism, at or Leaf(part)
    here = replace(here, part=part, repeated=here.repeated or part.times != ONE)
    inside = parts_of(mechanism)
    if not inside or not isinstance(mechanism, Combinator):
        yield here
        return
    if isinstance(mechanism, Group | Lipschitz):
        here = replace(here, own=not top)
    elif not isinstance(mechanism, Compose | Subsample | PostProcess | Parallel):
        assert_never(mechanism)
    sampled = here.sampled or (isinstance(mechanism, Subsample) and mechanism.scheme == "poisson")
    here = replace(here, parallel=here.parallel or isinstance(mechanism, Parallel), sampled=sampled)
    for inner in inside:
        yield from leaves(inner, top and isinstance(mechanism, Group | Lipschitz | PostProcess), here)


def together(part: Part, linked: bool, alone: bool = False) -> tuple[Space, ...]:
    """The spaces that several parts share, or one table that is run several times.

    linked: counting the parts that certainly do alone. alone: and those of one part on a sample, of which a query tells the order.
    """
    spaces: dict[Space, list[Leaf]] = {}
    for leaf in leaves(part):
        if leaf.space is not None and (leaf.linked or not linked):
            spaces.setdefault(leaf.space, []).append(leaf)
    return tuple(
        space
        for space, those in spaces.items()
        if len({leaf.part for leaf in those}) > 1
        or (space[0] == "inputs" and (len(those) > 1 or those[0].repeated))
        or (alone and any(leaf.one_way for leaf in those))
    )


def undecided(part: Part) -> bool:
    """Whether different parts of a composition may each be at neighbours of their own although the file connects them."""
    if isinstance(part.mechanism, Compose):
        spaces: dict[Space, set[Part]] = {}
        for leaf in leaves(part):
            if leaf.space is not None:
                spaces.setdefault(leaf.space, set()).add(replace(leaf.part, times=ONE))
        if any(len(those) > 1 for those in spaces.values()):
            return True
    return any(undecided(inner) for inner in parts_of(part.mechanism))


def require_one_adjacency(part: Part) -> None:
    """Raises Rejected where tables of the same inputs name different neighbours: each alone is not at the neighbours of the others."""
    named: dict[Space, set[frozenset[tuple[int, int]]]] = {}
    for leaf in leaves(part):
        if leaf.linked and leaf.space is not None and leaf.space[0] == "inputs" and isinstance(leaf.part.mechanism, Table | Exponential):
            listed = leaf.part.mechanism.adjacent
            pairs = combinations(range(leaf.space[1]), 2) if listed is None else listed
            named.setdefault(leaf.space, set()).add(frozenset((min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]))
    if any(len(different) > 1 for different in named.values()):
        raise Rejected(NAME, "adjacent", "tables of the same inputs name different neighbours; look at all parts at every pair of them")


def apart(part: Part, whole: Part | None = None) -> tuple[str, ...]:
    """What a lower bound takes for granted where nothing connects neighbours. whole: the part before it was at one pair."""
    every = list(leaves(whole or part))
    groups = {_group(leaf) for leaf in leaves(part)}
    sizes = {group[1] for leaf in leaves(part) if leaf.linked and isinstance(group := _group(leaf), tuple) and group[0] == "inputs"}
    linked = {_group(leaf) for leaf in leaves(part) if leaf.linked and _inputs_of_a_response(leaf.part) in sizes}
    several = len(groups - linked) > 1 or (len(every) > 1 and any(leaf.own for leaf in every))
    return (APART,) * several + (SAME_ROWS,) * bool(linked)


def _group(leaf: Leaf) -> Space | Part:
    """What a part shares with the others: its space, where it has one."""
    return leaf.part.space if isinstance(leaf.part, OnePair) else leaf.space or replace(leaf.part, times=ONE)


def _inputs_of_a_response(part: Part) -> Fraction | None:
    """How many inputs a k-ary response has: it loses as much at every pair of them, so at the pair of tables that have as many."""
    k = part.mechanism.k if isinstance(part.mechanism, KaryResponse) else None
    return k.value if isinstance(k, Num) else None


def rows_assumed(part: Part) -> tuple[str, ...]:
    """What bounds at one pair of inputs for several tables take for granted."""
    tables = [leaf for leaf in leaves(part) if (leaf.space or ("",))[0] == "inputs"]
    return (SAME_ROWS,) if len(tables) > 1 else ()


# -- densities -------------------------------------------------------------------------------------


@remembered(256)
def even(noise: Mechanism) -> bool:
    """Whether reflecting the output about a point certainly exchanges a shift and its negative."""
    if isinstance(noise, Radial | Mixture):
        return True
    if not isinstance(noise, Translation | Product):
        return False
    if isinstance(noise, Translation) and noise.support != (None, None):
        low, high = noise.support
        if low is None or high is None or not certainly_equal(neg(low), high):
            return False
    mirrored = substitute(noise.density, {"z": neg(Sym("z"))})
    try:
        half = Shapes("z", True, {})
        if half.tidy(neg_log(noise.density)) == half.tidy(neg_log(mirrored)):
            return True
    except DpverifyError:
        pass
    if symbols(noise.density) <= {"z"} and certainly_equal(noise.density, mirrored, {"z": Domain()}):
        return True
    return laplace_form(noise) is not None or gaussian_form(noise) is not None


def is_told(part: Part) -> bool:
    """Whether the order of a part's worst pair matters and the part's query tells it, or may."""
    noise, query = part.mechanism, part.query
    if not isinstance(noise, Translation | Product) or query is None or query.adjacency != "add-remove":
        return False
    columns = set(zip(*query.rows, strict=True))
    return not all(tuple(-x for x in column) in columns for column in columns) and not even(noise)


@remembered(256)
def log_concave(noise: Mechanism) -> bool:
    """Whether additive noise on the reals certainly has a log-concave density, as a function on its whole space."""
    try:
        if isinstance(noise, Radial):
            half = Shapes("r", True, {})
            return half.rises_convexly(half.tidy(neg_log(noise.profile)))
        if isinstance(noise, Product) or (isinstance(noise, Translation) and not noise.integers):
            line, half, h = Shapes("z", False, {}), Shapes("z", True, {}), neg_log(noise.density)
            return line.shape(line.tidy(h)).convex or (even(noise) and half.rises_convexly(half.tidy(h)))
    except (DpverifyError, ExprError):
        return False
    return False


def all_log_concave(part: Part) -> bool:
    """Whether every part is additive noise with a log-concave density."""
    return all(log_concave(leaf.part.mechanism) for leaf in leaves(part))


# -- choices ---------------------------------------------------------------------------------------


def choices(part: Part) -> tuple[Choice, ...]:
    """Pairs of neighbours one of which is certainly worst. Raises Undecided where there are too many, or they are not known."""
    spaces, factor = together(part, linked=True, alone=True), root_factor(part)
    sampled = any(isinstance(inner, Subsample) for inner in mechanisms(part))
    if not spaces:
        raise Undecided(f"{NAME}: no parts share their neighbours.")
    linked = [leaf for leaf in leaves(part) if leaf.linked and leaf.space in spaces]
    # what has an order of its own may have it with the inputs of tables in the one order and in the other
    oriented = sampled or len(spaces) > 1 or not all(leaf.part.query is None or even(leaf.part.mechanism) for leaf in leaves(part))
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
    if count > MOST_RAW:
        raise Undecided(f"{NAME}: {count} pairs of neighbours are more than {MOST_RAW}.")
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


def mechanisms(part: Part) -> Iterator[Mechanism]:
    """The mechanism of a part and of all that it is made of."""
    yield part.mechanism
    for inner in parts_of(part.mechanism):
        yield from mechanisms(inner)


def root_factor(part: Part) -> Fraction:
    """How many steps apart the neighbours of everything are: the groups and maps that hold it all. Raises Undecided for no number."""
    factor: Expr = ONE
    while isinstance(part.mechanism, Group | Lipschitz | PostProcess):
        mechanism = part.mechanism
        if isinstance(mechanism, Group):
            factor = mul(factor, mechanism.size)
        if isinstance(mechanism, Lipschitz):
            factor = mul(factor, mechanism.constant)
        part = mechanism.part
    return _number(factor)


def in_either_order(part: Part) -> bool:
    """Whether what holds all of a part may exchange the neighbour with the record and the one without: a map, or several steps."""
    mechanism = part.mechanism
    if isinstance(mechanism, Lipschitz) or (isinstance(mechanism, Group) and mechanism.size != ONE):
        return True
    return isinstance(mechanism, Group | PostProcess) and in_either_order(mechanism.part)


def _number(factor: Expr) -> Fraction:
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
    if adjacency not in ("add-remove", "replace", "l1"):
        raise Rejected(NAME, "adjacency", f"{adjacency!r} has no vertices")
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
        if len(layer) > MOST_RAW:
            raise Undecided(f"{NAME}: more than {MOST_RAW} differences of histograms.")
    return (v for v, _ in layer)


def _pairs(parts: Sequence[Part], factor: Fraction, oriented: bool) -> list[Vector]:
    """The pairs of inputs up to `factor` steps apart, where two inputs are neighbours if one part says so."""
    near = _neighbours(parts, -int(-factor // 1))
    pairs = sorted((Fraction(a), Fraction(b)) for a, those in near.items() for b in those if a != b and (oriented or a < b))
    if not pairs:
        raise Undecided(f"{NAME}: no two inputs are neighbours.")
    return list(pairs)


def _neighbours(parts: Sequence[Part], steps: int) -> dict[int, set[int]]:
    """For each input those that are at most so many steps away."""
    near: dict[int, set[int]] = {}
    for part in parts:
        mechanism = part.mechanism
        assert isinstance(mechanism, Table | Exponential)
        if isinstance(mechanism, Exponential) and mechanism.points:
            raise Rejected(NAME, "points", "which of them are neighbours is not listed")
        size = len(mechanism.rows if isinstance(mechanism, Table) else mechanism.scores)
        listed = combinations(range(size), 2) if mechanism.adjacent is None else mechanism.adjacent
        for a, b in listed:
            near.setdefault(a, {a}).add(b)
            near.setdefault(b, {b}).add(a)
    reached = {a: {a} for a in near}
    for _ in range(steps):
        reached = {a: set().union(*(near[b] for b in those)) for a, those in reached.items()}
    return reached


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
    if len(shift) == 1 or isinstance(mechanism, Product):
        sizes = tuple(sorted(map(abs, shift), reverse=True))
        return log_concave(mechanism), sizes
    return False, _positive(shift)


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


def _positive(shift: Vector) -> Vector:
    """A vector or its negative, the first coordinate that is not 0 positive."""
    lead = next((x for x in shift if x), Fraction(0))
    return tuple(-x for x in shift) if lead < 0 else shift


# -- a combinator at a choice ------------------------------------------------------------------------


def at(part: Part, choice: Choice, lower: bool = False) -> Part | None:
    """A combinator at one pair of neighbours, groups and maps that hold it all taken in; None where that pair reveals nothing.

    lower: parts in groups of their own, tables in parallel, and samples without replacement are at that pair too; from above they are at
    neighbours of their own.
    Raises Undecided, Rejected.
    """
    return _Specialised(dict(choice), lower, _number(num(root_factor(part)))).of(part, ONE, ONE, top=True)


@dataclass(frozen=True, slots=True)
class _Specialised:
    """The differences by space, the side, and the steps between the neighbours of everything, which the differences have already."""

    choice: Mapping[Space, Vector]
    lower: bool
    factor: Fraction

    def of(self, part: Part, factor: Expr, further: Expr, top: bool = False, parallel: bool = False) -> Part | None:
        """factor: of the steps for parts that stay as they are; further: that of a group of its own."""
        mechanism = part.mechanism
        if isinstance(mechanism, Group | Lipschitz):
            steps = mechanism.size if isinstance(mechanism, Group) else mechanism.constant
            if not top and not self.lower:
                return _further(part, factor)
            inner = self.of(mechanism.part, mul(factor, steps), further if top else mul(further, steps), top, parallel)
            return None if inner is None else replace(inner, times=mul(part.times, inner.times))
        if isinstance(mechanism, PostProcess):
            inner = self.of(mechanism.part, factor, further, top, parallel)
            return None if inner is None else replace(part, mechanism=replace(mechanism, part=inner))
        if isinstance(mechanism, Subsample | Parallel) and factor != ONE:
            raise Undecided(f"{NAME}: samples and parts in parallel want neighbours one step apart.")
        if isinstance(mechanism, Subsample) and mechanism.scheme != "poisson" and not self.lower:
            return part  # samples without a record have another one in its place: the part is at all its pairs, not at this one alone
        if isinstance(mechanism, Subsample):
            inner = self.of(mechanism.part, ONE, ONE)
            return None if inner is None else replace(part, mechanism=replace(mechanism, part=inner))
        if isinstance(mechanism, Compose | Parallel):
            parallel = parallel or isinstance(mechanism, Parallel)
            parts = [self.of(inner, factor, further, False, parallel) for inner in mechanism.parts]
            kept = tuple(inner for inner in parts if inner is not None)
            return replace(part, mechanism=type(mechanism)(kept)) if kept else None
        space = space_of(part)
        if space is None or space not in self.choice or (parallel and part.query is None and not self.lower):
            return _further(part, factor)
        return self.leaf(part, space, _number(further))

    def leaf(self, part: Part, space: Space, further: Fraction) -> Part | None:
        """A part without parts at its pair."""
        mechanism, value = part.mechanism, self.choice[space]
        if isinstance(mechanism, Table | Exponential):
            if further < 1 or further.denominator != 1:
                raise Rejected(NAME, "a table", "no two inputs are certainly a number of steps apart that is not whole")
            if isinstance(mechanism, Exponential) and mechanism.points:
                raise Rejected(NAME, "points", "which of them are neighbours is not listed")
            a, b = (int(x) for x in value)
            return OnePair(replace(mechanism, adjacent=((a, b),)), part.sensitivity, None, part.adjacency, part.times, (a, b), space)
        assert part.query is not None
        shift = tuple(further * x for x in image(part.query, value))
        if not any(shift):
            return None
        if isinstance(mechanism, Product):
            moved = sorted(x for x in shift if x)
            alone = Translation(mechanism.density)
            those = Counter(_moved(alone, x, space) for x in moved)
            return Part(Compose(tuple(replace(one, times=num(k)) for one, k in those.items())), times=part.times)
        if len(shift) == 1:
            return replace(_moved(mechanism, shift[0], space), times=part.times)
        query = Query(tuple((x,) for x in _positive(shift)), "add-remove")
        return OnePair(mechanism, None, query, "", part.times, space=space)


def _moved(noise: Mechanism, shift: Fraction, space: Space) -> OnePair:
    """Noise on the line at one shift, of the first answer less the second. The rules move the second up: what is not even is reflected."""
    if shift > 0 and isinstance(noise, Translation) and not even(noise):
        low, high = noise.support
        ends = None if high is None else neg(high), None if low is None else neg(low)
        noise = replace(noise, density=substitute(noise.density, {"z": neg(Sym("z"))}), support=ends)
    return OnePair(noise, None, Query(((abs(shift),),), "add-remove"), space=space)


def _further(part: Part, factor: Expr) -> Part:
    return part if factor == ONE else Part(Group(replace(part, times=ONE), factor), times=part.times)


# -- one choice that evidence names ------------------------------------------------------------------


def read(part: Part, evidence: Any) -> Choice:
    """The choice of a lower bound, checked to be neighbours as far apart as all is.

    evidence: a list of objects, "columns" and "adjacency" with the "difference", or "inputs" with the "pair". Raises Rejected,
    CertificateError.
    """
    if not isinstance(evidence, list):
        raise CertificateError(f"{NAME}: the pair of neighbours is not a list.")
    factor, choice = root_factor(part), dict[Space, Vector]()
    every = list(leaves(part))
    for item in evidence:
        try:
            if "pair" in item:
                space: Space = ("inputs", int(item["inputs"]), "")
                value: Vector = tuple(Fraction(int(x)) for x in item["pair"])
            else:
                space = ("records", int(item["columns"]), str(item["adjacency"]))
                value = tuple(exact_fraction(str(x)) for x in item["difference"])
        except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
            raise CertificateError(f"{NAME}: the pair of neighbours cannot be read: {error}") from error
        if space[0] == "records":
            fine = len(value) == space[1] and _occurs(value, space[2], factor)
        else:
            those = [leaf for leaf in every if leaf.space == space]
            shared = [leaf.part for leaf in those if leaf.linked]
            lists = ([shared] if shared else []) + [[leaf.part] for leaf in those if not leaf.linked]
            whole = factor >= 1 and factor.denominator == 1
            fine = len(value) == 2 and whole and all(value[1] in _neighbours(some, int(factor)).get(int(value[0]), ()) for some in lists)
        if not fine:
            raise Rejected(NAME, "the pair", "it is not of neighbours as far apart as the mechanism says")
        choice[space] = value
    missing = [space for space in together(part, linked=False) if space not in choice]
    if missing:
        raise Rejected(NAME, "the pair", "it says nothing of what some parts share")
    return tuple(choice.items())


def are_neighbours(part: Part, choice: Choice) -> bool:
    """Whether histograms that differ as a choice says are neighbours, and not only a bound on what neighbours are."""
    return all(space[0] != "records" or _occurs(value, space[2], root_factor(part)) for space, value in choice)


def _occurs(v: Vector, adjacency: str, factor: Fraction) -> bool:
    """Whether histograms that differ by v are certainly `factor` steps apart at most; one step by a record more, in that order."""
    length = sum(map(abs, v), Fraction(0))
    whole = factor.denominator == 1 and all(x.denominator == 1 for x in v)
    if adjacency == "add-remove":
        if factor == 1:
            return whole and length == 1 and sum(v) == 1
        return (whole and 0 < length <= factor) or (sum(map(bool, v)) == 1 and length == factor)
    if adjacency == "replace":
        balanced = sum(v) == 0
        return balanced and ((whole and 0 < length <= 2 * factor) or (sum(map(bool, v)) == 2 and length == 2 * factor))
    if adjacency == "l1":
        return length <= factor
    return adjacency == "l2" and sum((x * x for x in v), Fraction(0)) <= factor * factor


def written(choice: Choice) -> list[dict[str, Any]]:
    """A choice as evidence writes it."""
    return [
        {"inputs": space[1], "pair": [int(x) for x in value]}
        if space[0] == "inputs"
        else {"columns": space[1], "adjacency": space[2], "difference": [str(x) for x in value]}
        for space, value in choice
    ]
