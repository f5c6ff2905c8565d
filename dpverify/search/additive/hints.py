"""Finds what rules about curves of additive noise want to be told beside it: modes, bounds on slopes, cuts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from itertools import product as cartesian
from typing import TYPE_CHECKING, Any, Final

from flint import arb, ctx, fmpq_mat

from dpverify.search.later import Later
from dpverify.search.numeric import vectorised, written
from dpverify.trusted.combinators.densities import log_concave
from dpverify.trusted.combinators.exponents import exponent
from dpverify.trusted.geometry.lengths import l1_radius
from dpverify.trusted.geometry.linear import dot, matrix, up_to_sign
from dpverify.trusted.geometry.polyhedra import Shift
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.balls import constant, exact, hull, precision, rational, value
from dpverify.trusted.kernel.errors import DpverifyError, Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, Sym, add, div, mul, neg, sub, substitute, symbols
from dpverify.trusted.kernel.model import Matrix, Mechanism, Norm, Product, Radial, Sum, Summand, Translation, Vector
from dpverify.trusted.language.linear import linear_part
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.whole_laws import known
from dpverify.trusted.numbers.asymptotics import End, end_jet
from dpverify.trusted.numbers.jets import BallProgram
from dpverify.trusted.numbers.noise import domain
from dpverify.trusted.numbers.pieces import Piece, pieces
from dpverify.trusted.numbers.quotients import divided
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.theories.curves import lipschitz
from dpverify.trusted.theories.curves.losses import Cell, Loss, whole_cells
from dpverify.trusted.theories.curves.monotone import Rise, rises
from dpverify.trusted.theories.curves.rules import lattice, lipschitz_exponent
from dpverify.trusted.theories.curves.unimodal import Hints, Noise, Reading, read

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

_LADDER: Final = (4, 5, 6, 8, 10, 12, 14, 17, 20, 25, 30, 35, 40, 50, 60, 80, 120, 200, 400, 1000)
"""Where an end may start: at 2^k."""
_FAR: Final = 1 << 20
_HALVINGS: Final = 60
_FEW: Final = 1000
_MOST_CELLS: Final = 4_000
_DEPTH: Final = 40
_ROUGH: Final = 64
_ENDS: Final = range(1, 12)
_SHARP: Final = 21
_ROUNDED: Final = 30
"""Bits to which the greatest slope is found, where it is not known exactly, and that rounding at other precisions leaves."""
_PLACES: Final = 4_000
_LOOKED: Final = 64.0
_CLEARLY: Final = 1e-3
"""How many places, and how far out, floats are asked whether a density has several modes; and by how much it then rises."""
_MOST_SIGNS: Final = 10
"""Greatest dimension whose sign vectors are tried for a vertex in every facet."""


def on_line(noise: Mechanism, reach: Sensitivity) -> dict[str, Any]:
    """What the rule `line` wants to be told beside the noise; nothing where that is log-concave. Raises Undecided, Rejected."""
    if not isinstance(noise, Radial | Translation) or (isinstance(noise, Translation) and noise.integers):
        return {}
    hints, told = _unimodal(noise)
    density = read(noise, hints)
    orders = [density] if density.even else [density, density.mirrored()]
    units = {div(bound, noise.scale if isinstance(noise, Radial) else ONE) for bound in (reach.upper, reach.lower)} - {ZERO}
    stretched = [order.stretched(unit) for order in orders for unit in units]
    if density.concave:
        return told | _far([(neg_log(order.parts[0].density), order.parts[0].upper) for order in stretched if order.parts[0].lower is None])
    turns = {cut for order in stretched for cut in _turns(order)}
    return told | ({"turns": [written(cut) for cut in sorted(turns)]} if turns else {})


def on_integers(noise: Mechanism) -> dict[str, Any]:
    """What the rule `lattice` wants to be told beside the noise. Raises Undecided."""
    if isinstance(noise, Sum):
        from dpverify.search.curves import sums

        return sums.told(noise)
    if not isinstance(noise, Translation) or not noise.integers:
        return {}
    law = known(noise)
    if law is not None and law.name in lattice.ON_THE_CIRCLE:
        from dpverify.search.curves import sums

        return sums.told(Sum((Summand(noise),)))
    hints, told = _unimodal(noise)
    if read(noise, hints).concave:
        first, last = _peak(noise)
        told |= {} if first == last == 0 else {"peak": [first, last]}
    mirrored = substitute(noise.density, {"z": neg(Sym("z"))})
    return told | _far([(neg_log(side), None) for side in (noise.density, mirrored)])


def along_axis(noise: Mechanism, reach: Sensitivity) -> dict[str, Any]:
    """What the rule `radial-caps` wants to be told: cuts between which the loss along an axis is monotone or turns once."""
    if not isinstance(noise, Radial) or symbols(noise.profile) != {"r"}:
        return {}
    shapes = Shapes("r", True, {})
    h = shapes.tidy(divided(neg_log(noise.profile), "r"))
    shape = shapes.shape(h)
    if shape.convex or shape.concave:
        return {}
    cuts = {cut for bound in {reach.upper, reach.lower} - {ZERO} for cut in turns_of_loss(h, div(bound, noise.scale), shapes)}
    return {"cuts": [written(cut) for cut in sorted(cuts)]} if cuts else {}


def turns_of_loss(h: Expr, shift: Expr, shapes: Shapes) -> Iterator[Fraction]:
    """Cuts from 0 on between which h(r + D) - h(r) is monotone or turns once, up to where the sign of h'' is certain."""
    last = next((-cut for cut in _beyond(None) if _bent(h, End("+inf", -cut))), None)
    if last is not None:
        yield from (Fraction(0), last)
        loss = BallProgram(shapes.tidy(sub(substitute(h, {"r": add(Sym("r"), shift)}), h)), "r")
        yield from bisected(partial(_all_monotone, lambda a, b: rises(loss, [a, b])), Fraction(0), last)


def of_product(noise: Mechanism, reach: Sensitivity) -> dict[str, Any]:
    """What the rule `independent-coordinates` wants to be told: of the line of one coordinate, and a bound on its slope."""
    if not isinstance(noise, Product) or not isinstance(noise.dimension, Num):
        return {}
    length = mul(l1_radius(noise.norm, int(noise.dimension.value)), reach.upper)
    told: dict[str, Any] = {}
    with suppress(DpverifyError):
        line = on_line(Translation(noise.density), Sensitivity(length, reach.lower))
        told = {"line": line} if line else {}
    shapes = Shapes("z", False, {})
    return told if log_concave(noise) else told | _slope(shapes, shapes.tidy(neg_log(noise.density)))


def of_gauge(noise: Mechanism, reach: Sensitivity, stated: bool) -> dict[str, Any]:
    """What the rule `lipschitz-exponent` wants to be told: a bound on the slope, and vectors that its lower bound may rest on."""
    shape = exponent(noise)
    if shape is None or not isinstance(noise, Radial):
        return {}
    shapes = Shapes("r", True, {})
    h = shapes.tidy(shape.h)
    slope, rest = linear_part(h, "r")
    if "r" in symbols(rest) or not shapes.positive(slope):
        return steep(h, shapes, div(reach.upper, shape.scale))
    return {} if not stated else _vertex(noise.norm, mul(div(slope, shape.scale), reach.lower))


def steep(h: Expr, shapes: Shapes, distance: Expr) -> dict[str, Any]:
    """A bound on the slope, or the pure epsilon where that leaves less to be told apart."""
    told, sizes = _slope(shapes, h), []
    for choice in (told, {"pure": True}):
        try:
            sizes.append(float(lipschitz.dominating(h, shapes, distance, choice).forward(arb(0)).mid()))
        except DpverifyError:
            sizes.append(2.0)
    return {"pure": True} if sizes[1] < sizes[0] else told


def _vertex(norm: Norm, length: Expr) -> dict[str, Any]:
    """A vector in every facet up to sign, and the vertex of the greatest total variation."""
    told: dict[str, Any] = {}
    if norm.kind == "facets" and (vector := _of_all(up_to_sign(norm.matrix))) is not None:
        told["vertex"] = [str(x) for x in vector]
    with suppress(DpverifyError):
        polar = lipschitz_exponent.polar(norm)
        if polar is not None:
            shifts = [Shift(polar[1], corner) for corner in up_to_sign(polar[0])]
            rough = exact(constant(length).mid())
            corner = max(range(len(shifts)), key=lambda i: shifts[i].divergence(rough, Fraction(0)).mid())
            told |= {"corner": corner} if corner else {}
    return told


def _of_all(rows: Matrix) -> Vector | None:
    """A vector of size 1 under all forms, of which the first independent ones decide it up to signs."""
    dimension, basis = len(rows[0]), list[Vector]()
    if dimension > _MOST_SIGNS:
        return None
    for row in rows:
        if matrix([*basis, row]).rank() > len(basis):
            basis.append(row)
    inverse = matrix(basis).inv()
    for signs in cartesian((1, -1), repeat=dimension - 1):
        vector = tuple(Fraction(int(x.p), int(x.q)) for x in (inverse * fmpq_mat(dimension, 1, [1, *signs])).entries())
        if all(abs(dot(row, vector)) == 1 for row in rows):
            return vector
    return None


def _slope(shapes: Shapes, h: Expr) -> dict[str, Any]:
    """A bound on the slope with the cuts that show it, where the laws of shapes give none."""
    if symbols(h) != {shapes.name}:
        return {}
    with suppress(DpverifyError):
        if lipschitz.greatest_slope(h, shapes, {}) is not None:
            return {}
    with suppress(DpverifyError), precision(_ROUGH):
        return _slope_on_cells(h, shapes)
    return {}


def _slope_on_cells(h: Expr, shapes: Shapes) -> dict[str, Any]:
    """An upper bound on |h'| for a continuous h, cell by cell, within 2^-_SHARP of the greatest where the ends allow."""
    outward = [h] if shapes.half else [h, shapes.tidy(shapes.mirrored(h))]
    at_ends, far = arb("inf"), Fraction(0)
    for k in _ENDS:
        end = End("+inf", Fraction(2) ** k)
        bound = max(_end_slope(side, end, shapes.name) for side in outward)
        if bound < at_ends:
            at_ends, far = bound, end.start
    if not at_ends.is_finite():
        return {}
    program = BallProgram(h, shapes.name)
    cells = [(Fraction(0), far)] if shapes.half else [(-far, Fraction(0)), (Fraction(0), far)]
    reached, least, cuts = at_ends, arb(0), {-far, Fraction(0), far} if not shapes.half else {Fraction(0), far}
    while cells:
        low, high = cells.pop()
        middle = (low + high) / 2
        over, at = program(hull(low, high)), program(rational(middle))
        least = least.max(at.d1.abs_lower()) if at.d1.is_finite() else least
        bound = over.d1.abs_upper()
        if over.d2.is_finite():
            bound = bound.min((at.d1 + over.d2 * (hull(low, high) - rational(middle))).abs_upper())
        if bound <= least * (1 + arb(2) ** -_SHARP) or bound <= at_ends:
            reached = reached.max(bound)
            continue
        cells += [(low, middle), (middle, high)]
        cuts.add(middle)
        if len(cuts) > _MOST_CELLS:
            return {}
    return {"slope": str(exact((reached * (1 + arb(2) ** -_ROUNDED)).upper())), "cuts": [written(cut) for cut in sorted(cuts)]}


def _end_slope(h: Expr, end: End, name: str) -> arb:
    try:
        bounds = end_jet(h, name, end).d1.bounds()
    except DpverifyError:
        return arb("inf")
    largest = bounds.lo.abs_upper().max(bounds.hi.abs_upper())
    return largest if largest.is_finite() else arb("inf")


def _bent(h: Expr, end: End) -> bool:
    try:
        bend = end_jet(h, "r", end).d2.k
    except DpverifyError:
        return False
    return bool(bend.lo > 0 or bend.hi < 0)


def _unimodal(noise: Noise) -> tuple[Hints, dict[str, Any]]:
    """The first hints with which the density is proved unimodal, and as the rule reads them."""
    try:
        read(noise, Hints())
        return Hints(), {}
    except Undecided as error:
        reason = error
    lower, upper = domain(noise)
    profile = noise.profile if isinstance(noise, Radial) else noise.density
    name = "r" if isinstance(noise, Radial) else "z"
    parts = pieces(substitute(profile, {name: Sym("z")}), "z", lower, upper)
    if _rises_again(parts):
        raise reason
    for mode in _modes(parts) if isinstance(noise, Translation) else (Fraction(0),):
        about = [_moved(part, mode) for part in parts]
        for cuts in ((), tuple(sorted({cut for part in about for cut in _slopes(part)}))):
            hints = Hints(mode, cuts)
            try:
                read(noise, hints)
            except Undecided:
                continue
            told = {"mode": written(mode)} if mode else {}
            return hints, told | ({"slopes": [written(cut) for cut in cuts]} if cuts else {})
    raise reason


def _rises_again(parts: Sequence[Piece]) -> bool:
    """Whether floats see the density fall and then rise by much more than they err, so that it has several modes."""
    heights = []
    for part in parts:
        low, high = (-_LOOKED if part.lower is None else float(part.lower)), (_LOOKED if part.upper is None else float(part.upper))
        if low < high:
            at = np.unique(np.concatenate([np.linspace(low, high, _PLACES), low + (high - low) * np.geomspace(1e-6, 1, _PLACES)[:-1]]))
            heights.append(vectorised(part.density, "z")(at[1:-1]))
    seen = np.concatenate([[0.0], *heights])
    seen = seen[np.isfinite(seen)]
    top = int(np.argmax(seen))
    return any(
        bool(np.any(side > np.minimum.accumulate(side) * (1 + _CLEARLY) + seen[top] * _CLEARLY)) for side in (seen[top:], seen[top::-1])
    )


def _moved(part: Piece, mode: Fraction) -> Piece:
    density = substitute(part.density, {"z": add(Sym("z"), Num(mode))})
    return Piece(density, "z", None if part.lower is None else part.lower - mode, None if part.upper is None else part.upper - mode)


def _modes(parts: Sequence[Piece]) -> Iterator[Fraction]:
    """Points of the support that may be the mode: 0, where pieces meet, and rational points of few digits where the slope vanishes."""
    cuts = {x for p in parts for x in (p.lower, p.upper) if x is not None}
    yield from sorted(cuts | {Fraction(0), *(turn for turn in map(_turn, parts) if turn is not None)}, key=abs)


def _turn(part: Piece) -> Fraction | None:
    """A point near which the density of a piece turns from rising to falling."""
    low = part.lower if part.lower is not None else Fraction(-_FAR)
    high = part.upper if part.upper is not None else Fraction(_FAR)
    with precision(64):
        h = BallProgram(neg_log(part.density), "z")
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            slope = h(rational(middle)).d1.mid()
            if not slope.is_finite():
                return None
            low, high = (middle, high) if slope < 0 else (low, middle)
    return ((low + high) / 2).limit_denominator(_FEW)


def _slopes(part: Piece) -> Iterator[Fraction]:
    """Cuts of a piece, split at 0, between which the slope of -log(density) has a certain sign, with those where its ends start."""
    h = neg_log(part.density)
    sides = [(part.lower, part.upper)]
    if (part.lower is None or part.lower < 0) and (part.upper is None or part.upper > 0):
        sides = [(part.lower, Fraction(0)), (Fraction(0), part.upper)]
    for low, high in sides:
        if low is None:
            low = next((cut for cut in _beyond(high) if _signed(h, End("-inf", -cut))), None)
        if high is None:
            high = next((-cut for cut in _beyond(None if low is None else -low) if _signed(h, End("+inf", -cut))), None)
        if low is None or high is None:
            return
        yield from (low, high)
        yield from bisected(_of_one_sign(BallProgram(h, "z")), low, high)


def _of_one_sign(program: BallProgram) -> Callable[[arb, arb], bool]:
    def holds(low: arb, high: arb) -> bool:
        slope = program(low.union(high)).d1
        return bool(slope >= 0 or slope <= 0)

    return holds


def _signed(h: Expr, end: End) -> bool:
    try:
        slope = end_jet(h, "z", end).d1.k
    except DpverifyError:
        return False
    return bool(slope.lo >= 0 or slope.hi <= 0)


def _beyond(other: Fraction | None) -> Iterator[Fraction]:
    """Starts of ends towards minus infinity, all beyond `other`."""
    return (-(Fraction(2) ** k) for k in _LADDER if other is None or -(Fraction(2) ** k) < other)


def bisected(holds: Callable[[arb, arb], bool], low: Fraction, high: Fraction, narrow: arb | None = None) -> Iterator[Fraction]:
    """The cuts inside an interval between which something holds, or between which it is narrow, relative to its place. Raises Undecided."""
    least = arb(2) ** -_DEPTH if narrow is None else narrow
    stack, count = [(rational(low), rational(high))], 0
    while stack:
        a, b = stack.pop()
        if holds(a, b) or not b - a > least * (1 + abs(b)):
            continue
        count += 1
        if count > _MOST_CELLS:
            raise Undecided("the loss is not certainly monotone between a few points.")
        middle = ((a + b) / 2).mid()
        yield exact(middle)
        stack += [(middle, b), (a, middle)]


def _far(ends: Sequence[tuple[Expr, Fraction | None]]) -> dict[str, Any]:
    """Where the slope of -log(density) is known towards minus infinity, at each of the ends before a point."""
    for k in _LADDER:
        hints = Hints(far=Fraction(2) ** k)
        try:
            for h, other in ends:
                end_jet(h, "z", hints.end(other))
        except DpverifyError:
            continue
        return {} if hints == Hints() else {"far": written(hints.far)}
    return {}


def _turns(density: Reading) -> Iterator[Fraction]:
    """Cuts between which the loss of a density in units of the shift is monotone or turns once."""
    loss, narrow = Loss(density), arb(2) ** -(ctx.prec // 3 + 16)
    for cell in whole_cells(density):
        if not cell.lower < 0:
            continue
        if cell.lower.is_finite():
            low = exact(cell.lower.upper())
        else:
            for low in _beyond(exact(cell.upper.lower())):
                try:
                    loss.tail(cell, low)
                except DpverifyError:
                    continue
                break
            else:
                raise Undecided("whether -log(density) is convex or concave towards infinity is not certain.")
            yield low
        pieces_of = partial(loss.pieces, cell)
        yield from bisected(partial(_all_monotone, pieces_of), low, exact(cell.upper.lower()), narrow)


def _all_monotone(pieces_of: Callable[[arb, arb], Sequence[Cell | Rise]], low: arb, high: arb) -> bool:
    return all(piece.direction for piece in pieces_of(low, high))


def _peak(noise: Translation) -> tuple[int, int]:
    """Two integers about the mode of log-concave probabilities: they fall from the second on, and from the first backwards."""
    lower, upper = domain(noise)
    low, high = -_FAR if lower is None else lower.__ceil__(), _FAR if upper is None else upper.__floor__()

    def weight(n: int) -> arb:
        return value(noise.density, {"z": arb(n)}) if low <= n <= high else arb(0)

    def falls(n: int, step: int) -> bool:
        return bool(weight(n) > 0 and weight(n + step) <= weight(n))

    first, last = low, high  # p falls from `last` on by bisection for the least such integer, and so on the other side
    for _ in range(_HALVINGS):
        middle = (first + last) // 2
        first, last = (first, middle) if falls(middle, 1) or (not weight(middle) > 0 and middle > 0) else (middle + 1, last)
        if first >= last:
            break
    right = last
    left = next((n for n in range(right, max(low, right - _FEW) - 1, -1) if falls(n, -1)), right)
    return (0, 0) if low <= 0 <= high and falls(0, 1) and falls(0, -1) else (left, right)
