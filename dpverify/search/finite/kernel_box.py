"""Looks for the greatest loss of a one-parameter kernel, and for a tree of cuts that bounds it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np
from flint import arb

from dpverify.search.finite import normaliser
from dpverify.search.numeric import vectorised
from dpverify.trusted.geometry.linear import dot
from dpverify.trusted.geometry.polytopes import Polytope, minus
from dpverify.trusted.kernel.balls import constant, exact, precision, rational, value
from dpverify.trusted.kernel.bounds import INFINITE
from dpverify.trusted.kernel.errors import DpverifyError, Undecided
from dpverify.trusted.kernel.expr import Add, Call, Expr, Num, children, format_expr, sub, symbols
from dpverify.trusted.kernel.fact import unasked
from dpverify.trusted.kernel.model import Claim, Kernel, Vector
from dpverify.trusted.language.linear import linear_part
from dpverify.trusted.theories.finite import far_outputs
from dpverify.trusted.theories.finite.densities import (
    NAMES,
    Losses,
    balls,
    constants,
    has_floor,
    has_kinks,
    linear,
    linear_on,
    losses,
    resolve,
)
from dpverify.trusted.theories.finite.normaliser import check_normaliser
from dpverify.trusted.theories.finite.part_slopes import along, at, concave, directional, directions, slide, slopes_over, under
from dpverify.trusted.theories.finite.rules import kernel_box, kernel_point

MOST_PARTS: Final = 4000
MOST_TRIED: Final = 12
MOST_CELLS: Final = 300
MOST_CLIMBS: Final = 6
LATTICE: Final = (24, 4, 4)
"""Steps of the lattice of outputs and inputs that climbs start from."""
STEPS: Final = tuple(
    tuple(Fraction(x) for x in step) for step in sorted(product((-1, 0, 1), repeat=3), key=lambda s: sum(map(abs, s))) if any(step)
)
"""The directions that a maximum is looked for along."""


class Place(NamedTuple):
    """Where outputs are: in the region itself, or beyond it along a ray, in a coordinate of some rate; with the loss there."""

    region: Polytope
    loss: Expr
    ray: Vector | None = None
    rate: Fraction = Fraction(0)


class Best(NamedTuple):
    """A point of greatest loss, the part of its place around it, and the loss as it is on that part.

    rounded: whether the point is of few digits without being less than the best.
    """

    place: Place
    point: Vector
    loss: Expr
    cell: Polytope
    rounded: bool

    @property
    def exact(self) -> bool:
        """Whether the point is one at which the loss is worth writing out."""
        return self.rounded or self.point in self.cell.vertices


class _TooMany(Exception):
    """The budget of parts is spent."""


def propose(claim: Claim, digits: int) -> list[dict[str, Any]]:
    """Steps with a lower and an upper bound on a kernel's tight epsilon, the gap below 10^-digits where that can be had."""
    if not isinstance(claim.mechanism, Kernel):
        return []
    if symbols(claim.mechanism.density) - {"y", "theta"} or claim.domains:
        return [{"rule": kernel_box.NAME, "evidence": {"value": "0", "tree": ["values"]}}]  # the kernel says why
    found = normaliser.propose(claim.mechanism)
    shared = {"normaliser": found} if found else {}
    return [{**step, "evidence": {**step["evidence"], **shared}} for step in _steps(claim, digits, found)]


def _steps(claim: Claim, digits: int, shown: Any) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    with precision(96 + 4 * digits):
        try:
            check_normaliser(claim, shown)
            seen = _seen(unasked(claim), digits)
        except (DpverifyError, ZeroDivisionError):
            return [{"rule": kernel_box.NAME, "evidence": {"value": "0", "tree": ["values"]}}]  # the kernel says why
        if not isinstance(seen, _Seen):
            return [{"rule": kernel_point.NAME, "evidence": dict(seen)}]
        lower = _witness(claim, seen, digits)
        if lower is not None:
            steps.append({"rule": kernel_point.NAME, "evidence": lower})
        ends = {"reach": [str(end) for end in seen.reach]} if seen.space.rays else {}
        for target in targets(claim, seen.best, digits) if seen.bounded else ():
            trees = _trees(unasked(claim), digits, target)
            if trees is not None:
                found = {"value": format_expr(target), **trees, **ends}
                return [*steps, {"rule": kernel_box.NAME, "evidence": found}]
        tails = {"tails": [["0", ["values"]] for _ in seen.space.rays]} if seen.space.rays else {}
        return [*steps, {"rule": kernel_box.NAME, "evidence": {"value": "0", "tree": ["values"], **ends, **tails}}]  # the kernel says why


class _Seen(NamedTuple):
    """The losses of a kernel and their greatest. places: the region, and what is beyond it, as far as the loss is bounded there."""

    space: Losses
    reach: tuple[Fraction, Fraction]
    places: list[Place]
    best: Best

    @property
    def bounded(self) -> bool:
        """Whether the loss is seen to be bounded everywhere."""
        return len(self.places) == 1 + len(self.space.rays) and bool(_height(self.best.loss, self.best.point).is_finite())


@lru_cache(maxsize=16)  # claims about one kernel look at one loss
def _seen(claim: Claim, digits: int) -> _Seen | Mapping[str, Any]:
    """What is seen of a kernel at the working precision; evidence of an event that only one input can give, where there is one."""
    reach = _reach(claim)
    space = losses(claim, reach)
    outside = [place for ray in space.rays if (place := beyond(space, ray)) is not None]
    places = [Place(space.region, space.loss), *outside]
    return _supports(claim, space) or _endless(claim, space) or _Seen(space, reach, places, greatest_of(places, digits))


@lru_cache(maxsize=64)
def _trees(claim: Claim, digits: int, target: Expr) -> dict[str, Any] | None:
    """The trees for a target, None where the budget ran out first."""
    seen = _seen(claim, digits)
    if not isinstance(seen, _Seen):
        return None
    trees: list[list[Any]] = []
    for place in seen.places:
        tree = _Builder(place, target, seen.best.point if seen.best.place == place else middle_of(place.region), digits).tree()
        if tree is None:
            return None
        trees.append(tree)
    first, *others = trees
    tails = [[str(place.rate), tree] for place, tree in zip(seen.places[1:], others, strict=True)]
    return {"tree": first, **({"tails": tails} if tails else {})}


def _reach(claim: Claim) -> tuple[Fraction, Fraction]:
    """Ends for an infinite output, the nearest beyond which the loss is seen to be bounded."""
    kernel = claim.mechanism
    assert isinstance(kernel, Kernel)
    low, high = (constant(end).mid() for end in kernel.input)
    start, stop = min(exact(low.floor().mid()), Fraction(0)), max(exact(high.ceil().mid()), Fraction(0))
    for far in (1, 4, 16, 64):
        space = losses(claim, (start - far, stop + far))
        if all(beyond(space, ray) is not None for ray in space.rays):
            break
    return start - far, stop + far


def beyond(space: Losses, ray: Vector) -> Place | None:
    """What is beyond the region along a ray, in a coordinate in which the loss is bounded; None where none is found."""
    start = space.region.box[0][ray[0] > 0]
    edge = Polytope(tuple(v for v in space.region.vertices if v[0] == start), space.region.planes)
    common = reduce(_common, _rates(resolve(space.loss, edge, (ray,))), Fraction(0))
    for rate in dict.fromkeys((Fraction(0), common)):
        try:
            loss, region = far_outputs.far(space, ray, rate)
        except (DpverifyError, ZeroDivisionError):
            continue
        if _height(loss, middle_of(region)).is_finite() and all(_height(loss, v).is_finite() for v in region.vertices):
            return Place(region, loss, ray, rate)
    return None


def _rates(expr: Expr) -> Iterator[Fraction]:
    """The rates at which exponentials in an expression grow or fall with the output."""
    for part in children(expr):
        yield from _rates(part)
    if isinstance(expr, Call) and expr.name == "exp":
        slope, _ = linear_part(expr.args[0], "y")
        yield from [slope.value] if isinstance(slope, Num) else []


def _common(a: Fraction, b: Fraction) -> Fraction:
    """The greatest rational that both are whole multiples of."""
    below = math.lcm(a.denominator, b.denominator)
    return Fraction(math.gcd(int(a * below), int(b * below)), below)


# -- the greatest loss ---------------------------------------------------------------------------------


def _kinks(expr: Expr) -> Iterator[Expr]:
    """The expressions whose sign, or for floor whose integer values, decide the kinks of a loss."""
    for part in children(expr):
        yield from _kinks(part)
    if isinstance(expr, Call) and expr.name == "abs":
        yield expr.args[0]
    if isinstance(expr, Call) and expr.name in ("min", "max"):
        yield from (sub(a, b) for i, a in enumerate(expr.args) for b in expr.args[:i])
    if isinstance(expr, Call) and expr.name == "floor":
        yield expr


def _planes(expr: Expr, part: Polytope) -> Iterator[tuple[Vector, Fraction]]:
    """The planes <normal, x> = offset through the part where the loss has kinks or jumps."""
    for kink in _kinks(expr):
        jumps = isinstance(kink, Call) and kink.name == "floor"
        found = linear(kink.args[0]) if isinstance(kink, Call) and jumps else linear_on(kink, part)
        if found is None:
            continue
        numbers = _proportional(found)
        if numbers is None or (jumps and not all(isinstance(c, Num) for c in found)):
            continue
        normal, start = numbers[:3], numbers[3]
        heights = [dot(normal, v) + start for v in part.vertices]
        low, high = min(heights), max(heights)
        levels = range(low.__floor__() + 1, high.__ceil__()) if jumps else [0] if low < 0 < high else []
        yield from ((normal, Fraction(level) - start) for level in levels)


def _proportional(coefficients: Sequence[Expr]) -> tuple[Fraction, ...] | None:
    """Rationals proportional to the coefficients of a linear expression, or rationals near to them."""
    if all(isinstance(c, Num) for c in coefficients):
        return tuple(c.value for c in coefficients if isinstance(c, Num))
    numbers = [constant(c).mid() for c in coefficients]
    scale = next((n for n in numbers if n != 0), None)
    if scale is None:
        return None
    return tuple(exact((n / scale).mid()).limit_denominator(10**15) for n in numbers)


def _cells(loss: Expr, part: Polytope) -> list[tuple[Polytope, Expr]]:
    """The parts of the region on which the linear kinks are decided, with the loss on each."""
    done: list[tuple[Polytope, Expr]] = []
    waiting = [part]
    while waiting:
        cell = waiting.pop()
        there = resolve(loss, cell)
        plane = next(_planes(there, cell), None)
        if plane is None or len(done) + len(waiting) > MOST_CELLS:
            done.append((cell, there))
            continue
        waiting += [piece for piece in _halves(cell, *plane) if piece is not None]
    return done


def _halves(part: Polytope, normal: Vector, offset: Fraction) -> list[Polytope | None]:
    return [part.below(normal, offset), part.below(tuple(-x for x in normal), -offset)]


def _grid(part: Polytope, count: int) -> Iterator[Vector]:
    """Points of a part: weighted means of its vertices with their middle."""
    middle = middle_of(part)
    for v in part.vertices:
        for i in range(count):
            yield tuple(a + (b - a) * Fraction(i, count) for a, b in zip(v, middle, strict=True))
    yield middle


def middle_of(part: Polytope) -> Vector:
    """The mean of the vertices."""
    return tuple(sum(values, Fraction(0)) / len(part.vertices) for values in zip(*part.vertices, strict=True))


def _height(loss: Expr, point: Vector) -> arb:
    """The loss at a point, -inf where it has no value, +inf where it is infinite."""
    ball = value(loss, {name: rational(x) for name, x in zip(NAMES, point, strict=True)})
    found: arb = ball.mid() if ball.is_finite() else arb("inf") if ball > 0 else arb("-inf")
    return found


def greatest_of(places: Sequence[Place], digits: int) -> Best:
    """A point where the loss is about greatest, with its part of its place."""
    best: tuple[arb, Vector, Expr, Polytope, Place] | None = None
    tops = []
    for place in places:
        for cell, loss in _cells(place.loss, place.region):
            points = [(h, v) for v in _grid(cell, 4) if (h := _height(loss, v)) > arb("-inf")]
            corners = [(h, v) for h, v in points if v in cell.vertices]
            for found in (corners, points):
                if found:
                    top = max(found, key=lambda item: item[0])
                    if best is None or top[0] > best[0] + arb("1e-12"):
                        best = (top[0], top[1], loss, cell, place)
            tops += [(height, v, loss, cell, place) for height, v in _starts(loss, cell)]
    if best is None:
        raise Undecided("the loss has no value anywhere it was looked at.")
    tops.sort(key=lambda item: -item[0])
    for _, start, loss, cell, place in tops[:MOST_CLIMBS]:
        height, point = _climb(loss, cell, start)
        if height > best[0] + arb("1e-9"):
            best = (height, point, loss, cell, place)
    _, point, loss, cell, place = best
    if point in cell.vertices:
        return Best(place, point, loss, cell, False)
    point = _polished(loss, cell, point, digits)
    simple = tuple(x.limit_denominator(1000) for x in point)
    inside = all(dot(n, simple) <= c for n, c in cell.planes)
    rounded = inside and bool(_height(loss, point) - _height(loss, simple) < arb(10) ** (-digits - 4))
    return Best(place, simple if rounded else point, loss, cell, rounded)


def _starts(loss: Expr, cell: Polytope) -> Iterator[tuple[float, Vector]]:
    """Points of a cell to climb from, and the loss there: for each of some outputs the best of a lattice, where none beside is better."""
    sides = zip(cell.box, LATTICE, strict=True)
    axes = [sorted({low + (high - low) * Fraction(i, count) for i in range(count + 1)}) for (low, high), count in sides]
    grid = np.stack([axis.ravel() for axis in np.meshgrid(*([float(x) for x in axis] for axis in axes), indexing="ij")])
    there = np.where(_inside(cell)(grid), vectorised(loss, *NAMES)(*grid), -np.inf)
    rows = np.where(np.isfinite(there), there, -np.inf).reshape(len(axes[0]), -1)
    tops = rows.max(axis=1)
    for i, top in enumerate(tops):
        if np.isfinite(top) and top >= tops[max(i - 1, 0) : i + 2].max():
            a, b = divmod(int(rows[i].argmax()), len(axes[2]))
            point = (axes[0][i], axes[1][a], axes[2][b])
            if all(dot(n, point) <= c for n, c in cell.planes):
                yield float(top), point


def _inside(cell: Polytope) -> Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]:
    """Which points, the columns of an array, lie in a cell, in floats."""
    planes = {cell.planes[i] for planes in cell.tight for i in planes}
    normals = np.array([[float(x) for x in n] for n, _ in planes])
    offsets = np.array([[float(c) + 1e-9] for _, c in planes])
    return lambda points: np.asarray((normals @ points <= offsets).all(axis=0))


def _climb(loss: Expr, cell: Polytope, start: Vector) -> tuple[arb, Vector]:
    """Compass search inside a cell, with halved steps, in floats: what is left to the top is found by Newton's method."""
    heights, inside, point = vectorised(loss, *NAMES), _inside(cell), start
    height = float(heights(*map(float, start)))
    step = max(high - low for low, high in cell.box) / 4
    while step > Fraction(1, 2**34) and math.isfinite(height):
        tried = [tuple(x + step * d for x, d in zip(point, way, strict=True)) for way in STEPS]
        points = np.array([[float(x) for x in p] for p in tried]).T
        found = np.where(inside(points), np.nan_to_num(heights(*points), nan=-np.inf), -np.inf)
        best = int(found.argmax())
        if found[best] > height and all(dot(n, tried[best]) <= c for n, c in cell.planes):
            height, point = float(found[best]), tried[best]
        else:
            step /= 4
    return _height(loss, point), point


def _polished(loss: Expr, cell: Polytope, point: Vector, digits: int) -> Vector:
    """The point moved by Newton's method along the face that it lies on."""
    near = Fraction(1, 10**6) * max(high - low for low, high in cell.box)
    face = cell
    while True:
        close = [
            i
            for i, (n, c) in enumerate(face.planes)
            if i not in face.spanning and c - dot(n, point) < near * sum(map(abs, n)) and any(i in planes for planes in face.tight)
        ]
        if not close:
            break
        face = Polytope(tuple(v for v, planes in zip(face.vertices, face.tight, strict=True) if close[0] in planes), face.planes)
    basis = directions(face)
    point = _projected(point, face.vertices[0], basis)
    for _ in range(40):
        spot = Polytope((point,), ())
        if not basis or has_kinks(loss):
            break
        slopes = slopes_over(spot, loss)
        gradient = [along(slopes, b).mid() for b in basis]
        shift = _newton(gradient, [[_second(spot, loss, a, b) for b in basis] for a in basis])
        if shift is None:
            break
        bits = 16 + 4 * digits
        moves = [exact((s * arb(2) ** bits).mid().floor().mid()) / 2**bits if s.is_finite() else Fraction(0) for s in shift]
        moved = tuple(x - sum((m * b[i] for m, b in zip(moves, basis, strict=True)), Fraction(0)) for i, x in enumerate(point))
        if any(dot(n, moved) > c for n, c in cell.planes):
            break
        point = moved
        if all(abs(m) * 2 ** (bits - 4) < 1 for m in moves):
            break
    return point


def _second(spot: Polytope, loss: Expr, a: Vector, b: Vector) -> arb:
    if a == b:
        bend: arb = directional(spot, loss, a).d2
    else:
        both = tuple(x + y for x, y in zip(a, b, strict=True))
        along_both, along_a, along_b = (directional(spot, loss, way).d2 for way in (both, a, b))
        bend = (along_both - along_a - along_b) / 2
    middle: arb = bend.mid()
    return middle


def _newton(gradient: list[arb], hessian: list[list[arb]]) -> list[arb] | None:
    """hessian^-1 gradient by elimination, None where it is singular."""
    size = len(gradient)
    rows = [[*row, g] for row, g in zip(hessian, gradient, strict=True)]
    for i in range(size):
        pivot = rows[i][i]
        if not abs(pivot) > arb("1e-20"):
            return None
        rows[i] = [x / pivot for x in rows[i]]
        for j in range(size):
            if j != i:
                rows[j] = [x - rows[j][i] * y for x, y in zip(rows[j], rows[i], strict=True)]
    return [row[-1].mid() for row in rows]


def _projected(point: Vector, origin: Vector, basis: Sequence[Vector]) -> Vector:
    """The point of origin + span(basis) nearest to the given one."""
    rest = minus(point, origin)
    orthogonal: list[Vector] = []
    for b in basis:
        for o in orthogonal:
            b = minus(b, tuple(x * dot(b, o) / dot(o, o) for x in o))
        orthogonal.append(b)
    result = origin
    for o in orthogonal:
        share = (dot(rest, o) / dot(o, o)).limit_denominator(2**60)
        result = tuple(x + share * y for x, y in zip(result, o, strict=True))
    return result


def _supports(claim: Claim, space: Losses) -> dict[str, Any] | None:
    """Evidence of an event that is impossible on one input and not on the other."""
    kernel = claim.mechanism
    assert isinstance(kernel, Kernel)
    for cell, _ in _cells(space.loss, space.region):
        for point in _grid(cell, 4):
            y, theta, other = (constant(x) for x in space.point(point))
            if value(kernel.density, {"y": y, "theta": other}) == 0 and value(kernel.density, {"y": y, "theta": theta}) > 0:
                evidence = _event(claim, space, point)
                if evidence is not None and kernel_point.check(claim, evidence).value is INFINITE:
                    return evidence
    return None


# -- evidence ------------------------------------------------------------------------------------------


def _witness(claim: Claim, seen: _Seen, digits: int) -> dict[str, Any] | None:
    """Evidence for the lower bound at the best point, or from inside its part where the density jumps at the point itself."""
    best = seen.best
    middle = middle_of(best.cell)
    for share in (0, Fraction(1, 10**30), Fraction(1, 100)):
        point = tuple(a + (b - a) * share for a, b in zip(best.point, middle, strict=True))
        evidence = _event(claim, seen.space, (output_at(best.place, seen.space, point[0], digits), *point[1:]))
        if evidence is not None:
            return evidence
    return None


def output_at(place: Place, space: Losses, coordinate: Fraction, digits: int) -> Fraction:
    """The output that a coordinate stands for; one far out for infinity."""
    if place.ray is None:
        return coordinate
    start, s = space.region.box[0][place.ray[0] > 0], coordinate or Fraction(1, 10 ** (digits + 6))
    if place.rate == 0:
        return start / s
    away = -rational(s).log() / rational(place.rate)
    return start + place.ray[0] * exact(away.mid().ceil().mid())


def _event(claim: Claim, space: Losses, point: Vector) -> dict[str, Any] | None:
    """Evidence at a point: the widest event that shows by itself that the claim is false, else the widest that is accepted."""
    y, theta, other = (format_expr(x) for x in space.point(point))
    low, high = (pick(end, point[0]) for pick, end in zip((min, max), space.region.box[0], strict=True))
    found = None
    for exponent in (2, 4, 8, 16, 35):
        width = max(high - low, abs(point[0])) / 10**exponent
        for left, right in ((width, width), (Fraction(0), width), (width, Fraction(0))):
            ends = [max(low, point[0] - left), min(high, point[0] + right)]
            event = [format_expr(space.point((end, *point[1:]))[0]) for end in ends]
            evidence = {"theta": theta, "other": other, "event": event, "y": y}
            try:
                bound = kernel_point.check(claim, evidence)
                alone = kernel_point.check(claim, {key: text for key, text in evidence.items() if key != "y"})
            except (DpverifyError, ZeroDivisionError):
                continue
            found = found or evidence
            if bound.value is INFINITE or claim.epsilon is None:
                return found
            if isinstance(alone.value, Num) and constant(alone.value) > constant(claim.epsilon):
                return evidence
            break
    return found


def _endless(claim: Claim, space: Losses) -> dict[str, Any] | None:
    """Evidence that the loss of two inputs grows without bound far out."""
    pairs = dict.fromkeys(v[1:] for v in space.region.vertices)
    for ray, (first, second) in product(space.rays, pairs):
        _, theta, other = (format_expr(x) for x in space.point((ray[0], first, second)))
        evidence = {"theta": theta, "other": other, "beyond": int(ray[0])}
        try:
            kernel_point.check(claim, evidence)
        except (DpverifyError, ZeroDivisionError):
            continue
        return evidence
    return None


def greatest(region: Polytope, loss: Expr, digits: int) -> Best:
    """A point of a region where a loss is about greatest."""
    return greatest_of([Place(region, loss)], digits)


def tree_for(region: Polytope, loss: Expr, target: Expr, point: Vector, digits: int) -> list[Any] | None:
    """A tree that shows that a loss is at most the target, about greatest at a point; None where none is found."""
    return _Builder(Place(region, loss), target, point, digits).tree()


def targets(claim: Claim, best: Best, digits: int) -> Iterator[Expr]:
    """Values to prove as upper bounds, the sharpest first: the loss at the point itself, then above it, then the claimed one."""
    there = at(best.loss, best.point)
    height = constant(there)
    values = [v for v in constants(best.place.loss, balls(best.place.region)) or () if constant(v).is_finite()]
    if values:
        there = max(values, key=lambda v: float(constant(v)))
    if values or best.exact:
        yield there
    for places in (digits + 2, 12, 6, 3):
        scale = 10**places
        yield Num(Fraction(int(exact((height * scale).upper().ceil().mid())) + 1, scale))
    if claim.epsilon is not None and height < constant(claim.epsilon):
        yield claim.epsilon


class _Builder:
    """Builds a tree of cuts whose leaves the rule accepts for a target."""

    def __init__(self, place: Place, target: Expr, best: Vector, digits: int) -> None:
        self.digits = digits
        self.place, self.best = place, best
        self.accept = kernel_box.Tree(target)
        self.left, self.trying = MOST_PARTS, False

    def tree(self) -> list[Any] | None:
        """The whole tree, or None where the budget ran out first."""
        try:
            return self.node(self.place.region, self.place.loss, 0)
        except (_TooMany, DpverifyError, ZeroDivisionError):
            return None

    def node(self, part: Polytope, loss: Expr, depth: int) -> list[Any]:
        self.left -= 1
        if self.left < 0 or depth > kernel_box.MAX_DEPTH - 5:
            raise _TooMany
        loss = resolve(loss, part) if has_kinks(loss) else loss
        leaf = self.leaf(part, loss)
        if leaf is not None:
            return leaf
        plane = next(_planes(loss, part), None)
        if plane is not None and self.splits(part, plane):
            return self.cut(part, loss, plane, depth)
        slopes = () if has_floor(loss) else slopes_over(part, loss)
        for direction in self.ways(part) if slopes else ():
            faces = slide(part, slopes, direction)
            if faces is not None:
                return ["slide", _texts(direction), [self.node(face, loss, depth + 1) for face in faces]]
        return self.under(part, loss, depth) or self.cut(part, loss, self.middle_cut(part, slopes), depth)

    def under(self, part: Polytope, loss: Expr, depth: int) -> list[Any] | None:
        """A kink that no plane decides replaced by one of its sides, where few parts show that the loss still is at most the target."""
        if self.trying or not has_kinks(loss) or has_floor(loss):
            return None
        for term, choice in product(range(len(loss.args) if isinstance(loss, Add) else 1), range(2)):
            try:
                greater = under(loss, term, choice)
            except (DpverifyError, IndexError):
                continue
            if all(_height(greater, v) < self.accept.ball + arb("1e-9") for v in part.vertices):
                left, self.left, self.trying = self.left, MOST_TRIED, True
                try:
                    return ["under", term, choice, self.node(part, greater, depth + 1)]
                except _TooMany:
                    continue
                finally:
                    self.left, self.trying = left - MOST_TRIED + max(self.left, 0), False
        return None

    def leaf(self, part: Polytope, loss: Expr) -> list[Any] | None:
        """A leaf that is accepted as it stands."""
        choices: list[list[Any]] = []
        if has_floor(loss):
            if constants(loss, balls(part)) is not None:
                choices.append(["values"])
            choices.append(["corner", 0])
        else:
            order = sorted(range(len(part.vertices)), key=lambda i: -float(_height(loss, part.vertices[i])))
            choices.append(["corner", order[0]])
            if len(part.vertices) > 1 and not has_kinks(loss) and concave(part, loss):
                inside = part.spans(minus(self.best, part.vertices[0])) and all(
                    low <= x <= high for x, (low, high) in zip(self.best, part.box, strict=True)
                )
                points = [self.best] if inside else []
                points += [part.vertices[order[0]], self.peak(part, loss)]
                choices += [["tangent", _texts(point)] for point in points]
        for choice in choices:
            try:
                if self.accept.leaf(choice, part, loss):
                    return choice
            except (DpverifyError, ZeroDivisionError):
                continue
        return None

    def peak(self, part: Polytope, loss: Expr) -> Vector:
        """About the greatest point of a concave part, of few digits where that is as good."""
        point = _polished(loss, part, middle_of(part), self.digits)
        simple = tuple(x.limit_denominator(1000) for x in point)
        return simple if part.spans(minus(simple, point)) and not _height(loss, simple) < _height(loss, point) else point

    def ways(self, part: Polytope) -> list[Vector]:
        """Directions to try: along the coordinates, their diagonals and the part's edges."""
        found = list(STEPS)
        for edge in directions(part):
            found += [edge, tuple(-x for x in edge)]
        return found

    def splits(self, part: Polytope, plane: tuple[Vector, Fraction]) -> bool:
        heights = [dot(plane[0], v) - plane[1] for v in part.vertices]
        return min(heights) < 0 < max(heights)

    def middle_cut(self, part: Polytope, slopes: Sequence[arb]) -> tuple[Vector, Fraction]:
        """The plane about the middle of the coordinate that the loss is least known along, at a simple number: 0 rather than 1/1000."""
        widths = [high - low for low, high in part.box]
        weights = [float(w) for w in widths]
        if slopes and all(s.is_finite() for s in slopes):
            weights = [float(w) * (float(s.rad()) + 1e-9 * float(abs(s).upper())) for w, s in zip(widths, slopes, strict=True)]
        if not any(weights):
            weights = [float(w) for w in widths]
        axis = max(range(len(NAMES)), key=lambda i: weights[i])
        if widths[axis] == 0:
            raise _TooMany
        middle, near = sum(part.box[axis], Fraction(0)) / 2, widths[axis] / 4
        simple = (middle.limit_denominator(2**n) for n in range(middle.denominator.bit_length()))
        return tuple(Fraction(int(i == axis)) for i in range(len(NAMES))), next((x for x in simple if abs(x - middle) <= near), middle)

    def cut(self, part: Polytope, loss: Expr, plane: tuple[Vector, Fraction], depth: int) -> list[Any]:
        trees = [["corner", 0] if piece is None else self.node(piece, loss, depth + 1) for piece in _halves(part, *plane)]
        return ["cut", _texts(plane[0]), str(plane[1]), *trees]


def _texts(vector: Vector) -> list[str]:
    return [str(x) for x in vector]
