"""Chooses the grid of a composition by privacy loss distributions: floats estimate what `curves.losses` then proves."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpverify.trusted.facts.pairs import Pair
from dpverify.trusted.kernel.balls import exact, precision, rational
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.theories.composition.grid import Grid, Lines, corners, floor, line_sums, lines_below, rest_of
from dpverify.trusted.theories.composition.losses import read_grid

Floats = NDArray[np.float64]

EXPLORING_BITS: Final = 256
MOST_CELLS: Final = 1 << 17
"""As many losses as the composition is spread over at most."""
ENOUGH_CELLS: Final = 1 << 16
"""As many losses as the composition is spread over where only the shape of its parts asks for more."""
MOST_EVALUATED: Final = 1 << 15
"""As many cells as one part has, unless told otherwise."""
NUDGE_BITS: Final = 32
LARGEST_LOSS: Final = 2.0**16
_NOTHING: Final = 1e-100
FAR: Final = 2**20
_OCTAVES: Final = range(-24, 17)
_PER_OCTAVE: Final = 8
_CLOSE: Final = 0.03
_RESOLUTION: Final = 14
"""Places to a deviation of the losses of a part."""
_ROUGH: Final = 1
"""The same where parts are many: no place of one of them matters much."""
_COARSER: Final = 6
_WIDEST: Final = 256
_RARE: Final = 6
"""Cells stay as they are where losses are at least 2^-_RARE as dense, tilted, as where they are densest."""
_NEAR: Final = Fraction(1, 2**48)
"""About how far from an atom the lines on either side of it meet."""
_NEAREST: Final = Fraction(1, 2**91)
"""About how far from an atom straight lines meet."""
_SHORT: Final = Fraction(1, 2**40)
"""In an interval so short H is as good as two lines, and long ones are best told apart from its rounding."""
_FINE: Final = Fraction(1, 2**24)
_LONG: Final = Fraction(1, 8)
"""The length of a line, as a share of an interval."""
_AGAIN: Final = 3
"""After so many parts the lines are looked at again, for another atom may have been beside this one."""
_MISSED: Final = 1e-12
"""Of the mass, where atoms are all."""
_FINEST: Final = Fraction(1, 10**6)
_LOOKS: Final = 24
_SINGLE: Final = 1e-9
"""The deviation of a loss that is always the same."""
_FLAT: Final = 0.25
"""The most that a cell's width times the tilt may be."""
_LEAST_LOG: Final = -300.0
_LEAST_ASKED: Final = -700.0
"""The same of a delta that is asked for."""
_MOST_TAIL: Final = 1060
"""Bits of a tail that is still a float."""
_SPACING_BITS: Final = 8
_FIRST_LOOKS: Final = 6
_SPLIT: Final = (Fraction(15, 32), Fraction(21, 32))
"""Where an interval is split that may hold a single loss: not in its middle, where losses are that are simple."""
_DENSER: Final = 1.2
"""How much denser than the cells around it a cell is in which a loss holds much mass by itself, at least."""
_FIRST_DOUBLING: Final = 6
_EACH_DOUBLING: Final = 6 / 2**_FIRST_DOUBLING
"""The error of a doubling, in variances of the loss, over that of the first grid: 2 h^2 for each of the sums over h^2/3 for each loss."""
_REACHED: Final = 0.7
"""The width that a grid is made for, of the width that is wanted: wider cells where losses are rare add to it."""
_TINY: Final = 64
"""Single losses that make less than such a part of the error that is allowed need not be on the grid."""
_REACHED_BY_MANY: Final = 0.4
"""The same of many parts: to some of them a cell is as wide as they are."""
_SHIFTED: Final = 0.02
"""Of the error of the first grid what rare losses add that are rounded to wider places."""
_BODY: Final = 8.0
"""Deviations within which sums are not rare."""
_FAR_OFF: Final = 3
_ROUNDINGS: Final = 24
"""Bits beyond those of the tails, for the roundings of as many places as there are."""
_ALONE: Final = 20.0
"""Sums made of single losses alone are forgotten when they have e^-20."""
_TILTS: Final = np.geomspace(1e-4, 1e6, 800)
_DENSE: Final = np.geomspace(1e-6, 1e8, 1120)
"""Tilts between which cumulants are interpolated."""
_MANY: Final = 48
"""Of more pairs than this not all are explored."""
_EXPLORED: Final = 12
"""As many are of those that look alike."""


def propose(
    pairs: Sequence[Pair],
    times: Sequence[int],
    epsilon: float | None,
    delta: float | None,
    digits: int,
    evaluated: int = MOST_EVALUATED,
    stand_ins: Sequence[Pair] | None = None,
    lowers: Sequence[Pair] = (),
    both: bool = False,
    in_all: float = math.inf,
    kinds: Sequence[Any] = (),
    longest_list: int | None = None,
    chosen: bool = False,
) -> dict[str, Any]:
    """The grid, as evidence for `curves.losses.read_grid`, for bounds on delta at an epsilon or on epsilon at a delta.

    digits: relative accuracy 10^-digits of delta, or absolute of epsilon in nats, as far as the longest list of losses allows. The same
    grid serves pairs in the reversed order only if they have the same profiles. evaluated: the most cells of one part; each takes about
    three evaluations of its profile. in_all: of all parts together. stand_ins: pairs that are like the given ones and quicker to evaluate,
    for a first look at them. lowers: the pairs of the lower bound, where they are others, whose losses are to be on the grid too. both:
    the grid is to do for the reversed order as well, which has another profile, and is not the worse one. kinds: pairs of one are alike
    but for their size. longest_list: MOST_CELLS, where nothing else is said. chosen: each of the choices of
    a pair has a range of its own.
    Raises ValueError unless just one of epsilon and delta is given, and Undecided where losses reach too far for any grid.
    """
    if (epsilon is None) == (delta is None):
        raise ValueError("give either an epsilon or a delta.")
    longest_list = MOST_CELLS if longest_list is None else longest_list
    shapes = _shapes(stand_ins or pairs, kinds)
    if stand_ins:
        shapes = [replace(shape, rest=max(shape.rest, _left_over(pair, _NOTHING))) for shape, pair in zip(shapes, pairs, strict=True)]
    total = _Total(shapes, times)
    if chosen:
        several = zip(pairs, shapes, strict=True)
        shapes = [_explore(one) if pair.choices else shape for pair, shape in several for one in pair.choices or (pair,)]
        pairs, lowers, times = by_choices(pairs, lowers or pairs, times)
    placed = [_with_lower(shape, pair, lower) for shape, pair, lower in zip(shapes, pairs, lowers or pairs, strict=True)]
    tilt, log_delta, at = total.at_epsilon(epsilon) if epsilon is not None else total.at_delta(float(delta or 0))
    many = len(pairs) > _MANY
    relative = (_REACHED_BY_MANY if many else _REACHED) * 10.0**-digits * (1 if epsilon is not None else tilt)
    lost = (
        2.5
        - max(log_delta, _LEAST_LOG if delta is None else _LEAST_ASKED)
        + (at if both else 0.0)
        - math.log(min(relative, 1e-3))
        + math.log(2 * sum(times))
    )
    tail = min(math.ceil(lost / math.log(2)), _MOST_TAIL)  # of the other order, at the same epsilon, e^epsilon as much is lost
    doublings = [[] if chosen else _doublings(shape, count) for shape, count in zip(shapes, times, strict=True)]
    spread = total.spread(tail * math.log(2), doublings[: len(total.shapes)])
    deviations = [shape.deviation for shape in shapes if shape.deviation > _SINGLE]
    resolved = max(min(deviations, default=math.inf) / (_ROUGH if many else _RESOLUTION), spread / ENOUGH_CELLS)
    errors = sum(count * (1 + len(turns) * _EACH_DOUBLING) for count, turns in zip(times, doublings, strict=True))
    wanted = min(math.sqrt(6 * relative / (tilt * (tilt + 1) * errors)), resolved)
    wanted = max(wanted, spread / longest_list)
    bits, tilts, every = tail + _ROUNDINGS, (tilt, -1 - tilt) if both else (tilt,), range(len(pairs))

    def laid(parts: range, spacing: Fraction) -> tuple[Any, Any, list[int]]:
        """The ranges, the strides and the numbers of places of some parts."""
        ranges = tuple(_joint_range((pairs[i], (lowers or pairs)[i]), spacing, 2.0**-tail) for i in parts)
        if max(high - low for low, high in ranges) > longest_list:
            return ranges, (), []
        strides = tuple(_strides(placed[i], tilts, spacing, ends) for i, ends in zip(parts, ranges, strict=True))
        alone = Grid(spacing, spacing / 8, bits, tail, ranges, None, strides)
        return ranges, strides, [len(alone.places(number)) for number in range(len(parts))]

    looked = every[:: -(-len(pairs) // _MANY)]  # of many a few tell which spacing there are places enough for
    for _ in range(_COARSER):
        spacing = _spacing(wanted, shapes, times, spread, relative / (4 * tilt), longest_list)
        ranges, strides, counts = laid(looked, spacing)
        longest = max(high - low for low, high in ranges)
        if longest > longest_list:
            wanted, spread = max(wanted, float(spacing)) * 1.05 * longest / longest_list, max(spread, float(spacing) * longest)
            continue
        more = max(max(counts) / evaluated, sum(counts) * len(pairs) / len(looked) / in_all)
        if more <= 1 and looked == every:
            break
        wanted, looked = (wanted, every) if more <= 1 else (max(wanted, float(spacing)) * 1.05 * more, looked)
    if looked != every:
        ranges, strides, _ = laid(every, spacing)
        longest = max(high - low for low, high in ranges)
    if longest > longest_list:
        raise Undecided("the losses of a part reach too far for a grid.")
    nudge = spacing / 2 ** _nudge_bits(pairs, spacing, bits)
    evidence = {"spacing": str(spacing), "nudge": str(nudge), "bits": bits, "tail": tail, "ranges": [list(ends) for ends in ranges]}
    if any(strides):
        evidence["strides"] = [[list(step) for step in steps] for steps in strides]
    if any(doublings):
        evidence["doublings"] = doublings
        apart = [
            _apart(shape, count, turns, tilt, float(spacing), high) if turns else []
            for shape, count, (_, high), turns in zip(shapes, times, ranges, doublings, strict=True)
        ]
        evidence |= {"apart": apart} if any(apart) else {}
    if any(shape.rest > 2.0**-tail for shape in shapes):
        evidence["far"] = str(_far(lowers or pairs, max(high for _, high in ranges) * spacing, 2.0**-tail))
    return evidence


def by_choices(pairs: Sequence[Pair], lowers: Sequence[Pair], times: Sequence[int]) -> tuple[list[Pair], list[Pair], list[int]]:
    """Each choice of the pairs by itself, with the pair of the lower bound and how often it is run."""
    found = [
        (one, low, count)
        for pair, lower, count in zip(pairs, lowers, times, strict=True)
        for one, low in zip(pair.choices or (pair,), lower.choices or (lower,) * max(1, len(pair.choices)), strict=True)
    ]
    return [one for one, _, _ in found], [low for _, low, _ in found], [count for _, _, count in found]


_FARTHEST: Final = 90.0
"""An epsilon, about, up to which one grid serves both orders: masses are kept to e^-epsilon as much."""


def worse_order(
    pairs: Sequence[Pair], times: Sequence[int], epsilon: float | None, delta: float | None, kinds: Sequence[Any] = ()
) -> str | None:
    """Which of two orders that differ is the worse one, if a grid for it does for the other too: "grid" or "reverse"; None if not."""
    if any(_left_over(order, _NOTHING) for pair in pairs for order in (pair, pair.reversed)):
        return None
    total = _Total(_shapes(pairs, kinds), times)
    (_, log, at), (_, other_log, other_at) = (
        order.at_epsilon(epsilon) if epsilon is not None else order.at_delta(float(delta or 0)) for order in (total, total.reversed)
    )
    if max(at, other_at) > _FARTHEST:
        return None
    return "reverse" if (other_at, other_log) > (at, log) else "grid"


def coarser(grid: Mapping[str, Any], cells: int) -> dict[str, Any]:
    """A grid of at most so many cells a part, dyadic, which balls are exact at: any grid gives true bounds."""
    longest = max(high - low for low, high in grid["ranges"])
    if longest <= cells:
        return dict(grid)
    spacing = Fraction(grid["spacing"])
    unit = Fraction(2) ** (spacing.numerator.bit_length() - spacing.denominator.bit_length() - _SPACING_BITS)
    wider = -(-spacing * longest // (cells * unit)) * unit
    factor = wider / spacing
    ranges = [[low // factor, -(-high // factor)] for low, high in grid["ranges"]]
    kept = {key: value for key, value in grid.items() if key not in ("touching", "doublings", "apart")}  # those were of other cells
    return {**kept, "spacing": str(wider), "nudge": str(wider * Fraction(grid["nudge"]) / spacing), "ranges": ranges}


_ROUNDS: Final = 4
"""How often lines are exchanged."""
_WORTH: Final = 6
"""A line is exchanged if it loses at most so much at one corner for what it gains at the other: 3 where the density is smooth."""


def touching(pairs: Sequence[Pair], evidence: dict[str, Any]) -> dict[str, Any]:
    """The grid with the cells whose lines are to touch the profiles from below at an end: at most ends of the density of losses.

    pairs: of the lower bound. Where the lines of the cells' middles make a polygon that is not convex, the lines that touch at that
    place take over.
    """
    grid = read_grid(evidence)
    exchanged: list[list[list[int]]] = []
    for part, pair in enumerate(pairs):
        left, right = _exchanged(pair, grid, part)
        exchanged.append([sorted(left), sorted(right)])
    return evidence | ({"touching": exchanged} if any(left or right for left, right in exchanged) else {})


def _exchanged(pair: Pair, grid: Grid, part: int) -> tuple[set[int], set[int]]:
    """The cells of one part whose lines are to touch at the left end, and at the right one."""
    ends = list(pairwise(grid.places(part)))
    widths = [after - before for before, after in ends]
    left, right, touched = set[int](), set[int](), set[int]()
    with precision(grid.prec):
        rest = rest_of(pair, grid, ends[-1][1])
        cells, lines = lines_below(pair, grid, part, rest), Lines(pair, grid.spacing, grid.nudge, grid.bits)
        for i, (here, after) in enumerate(ends):
            # a line below 1 - alpha, where losses begin, would turn the whole polygon about its height at alpha = 0
            if here < 0 and cells[i].left < floor(-rational(here * grid.spacing - grid.nudge).expm1(), grid.bits):
                line = lines.left(here, after)
                if line.right >= rest:
                    cells[i] = line
                    left.add(i)
                    touched.add(i)
        for _ in range(_ROUNDS):
            sums, before = line_sums(corners(cells, rest), widths, grid), len(left) + len(right)
            for i in range(1, len(cells)):
                if sums[i] <= sums[i - 1]:
                    continue
                # the corner between the cells i - 1 and i juts out: one of the corners beside it is too low
                j, k = i - 2, i + 1
                if j >= 0 and j not in touched and cells[j].right < cells[i - 1].left:
                    touched.add(j)
                    line = lines.right(*ends[j])
                    if cells[j].left - line.left <= _WORTH * (min(line.right, cells[i - 1].left) - cells[j].right):
                        cells[j] = line
                        right.add(j)
                if k < len(cells) and k not in touched and cells[k].left < cells[i].right:
                    touched.add(k)
                    line = lines.left(*ends[k])
                    if line.right >= rest and cells[k].right - line.right <= _WORTH * (min(line.left, cells[i].right) - cells[k].left):
                        cells[k] = line
                        left.add(k)
            if len(left) + len(right) == before:
                break
    return left, right


# -- the parts -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Shape:
    """A pair's losses, roughly: masses at some losses, the mass at +inf, and where single losses have much mass, with that mass.

    lattice: a number of which all losses are multiples; 0 where there are no others than the atoms, None where losses are spread.
    model: a shape whose losses, so many times as great, are these.
    """

    losses: Floats
    logs: Floats
    rest: float
    atoms: tuple[tuple[Fraction, float], ...]
    lattice: Fraction | None = None
    model: tuple[_Shape, float] | None = None

    @property
    def deviation(self) -> float:
        """The standard deviation of the losses."""
        weights = np.exp(self.logs - self.logs.max())
        mean = np.average(self.losses, weights=weights)
        return math.sqrt(np.average((self.losses - mean) ** 2, weights=weights))

    def scaled(self, factor: float) -> _Shape:
        """With losses so many times as great."""
        if factor == 1:
            return self
        times = Fraction(factor)
        atoms = tuple((place * times, mass) for place, mass in self.atoms)
        return replace(self, losses=self.losses * factor, atoms=atoms, model=(self, factor))

    def cumulant(self, tilt: Floats) -> Floats:
        """log E e^(tilt loss) under P, without the mass at +inf; for tilts of one sign."""
        if self.model is not None:
            model, factor = self.model
            return np.interp(np.abs(tilt) * factor, _DENSE, _cumulants(model, bool(tilt[0] > 0)))
        terms = self.logs[None, :] + tilt[:, None] * self.losses[None, :]
        top = terms.max(axis=1)
        cumulants: Floats = top + np.log(np.exp(terms - top[:, None]).sum(axis=1))
        return cumulants


@lru_cache(maxsize=4 * _EXPLORED)
def _cumulants(shape: _Shape, above: bool) -> Floats:
    """The cumulants at tilts of one sign, for shapes that are modelled on this one."""
    return shape.cumulant(_DENSE if above else -_DENSE)


@lru_cache(maxsize=64)  # claims about one mechanism look at one pair
def _explore(pair: Pair) -> _Shape:
    sizes = [2.0 ** (octave + step / _PER_OCTAVE) for octave in _OCTAVES for step in range(_PER_OCTAVE)]
    with precision(EXPLORING_BITS):
        top, bottom = _reach(pair, sizes), _reach(pair.reversed, sizes)
        points = [-size for size in reversed(_points(sizes, bottom))] + [0.0] + _points(sizes, top)
        balls = [arb(point) for point in points]
        heights = [pair.delta(ball) for ball in balls]
        starts = [arb(1)]
        for i in range(1, len(points)):
            step = -(balls[i - 1] - balls[i]).expm1()
            starts.append(heights[i] + (heights[i - 1] - heights[i]) / step)
        starts.append(heights[-1])
        masses = np.array([max(0.0, _float(here - after)) for here, after in pairwise(starts)])
        rest = max(0.0, _float(heights[-1]))
        atoms = _atoms(pair, points, masses)
        lattice = _lattice(pair, atoms, rest, points)
    masses = np.maximum(masses, 1e-300 * (np.array(points) == 0))  # all may be at +inf
    kept = masses > 0
    return _Shape(np.array(points)[kept], np.log(masses[kept]), rest if rest > 1e-300 else 0.0, atoms, lattice)


def _shapes(pairs: Sequence[Pair], kinds: Sequence[Any]) -> list[_Shape]:
    """The shapes of pairs. Of many of a kind some are explored, and those near them in size have their shape, at their own size.

    Losses of a lattice, and single ones alone, are where they are: such pairs are each explored.
    """
    if len(pairs) <= _MANY:
        return [_explore(pair) for pair in pairs]
    with precision(EXPLORING_BITS):
        sizes = [max(_height(pair, arb(0)), _NOTHING) for pair in pairs]
    found: dict[int, _Shape] = {}
    of_a_kind: dict[Any, list[int]] = {}
    for number in sorted(range(len(pairs)), key=sizes.__getitem__):
        of_a_kind.setdefault(kinds[number] if kinds else None, []).append(number)
    for listed in of_a_kind.values():
        every = -(-len(listed) // _EXPLORED)
        for start in range(0, len(listed), every):
            near = listed[start : start + every]
            middle = near[len(near) // 2]
            shape = _explore(pairs[middle])
            for number in near:
                alike = shape.lattice is None or number == middle
                found[number] = shape.scaled(sizes[number] / sizes[middle]) if alike else _explore(pairs[number])
    return [found[number] for number in range(len(pairs))]


def _points(sizes: Sequence[float], last: float) -> list[float]:
    """Sizes up to the last, closer together where they are far apart for a large tilt."""
    step = max(_CLOSE, last / 1000)
    kept = [size for size in sizes if size <= last]
    near = [size for size in kept if size * (2 ** (1 / _PER_OCTAVE) - 1) < step]
    far = np.arange(near[-1] + step, last + step, step)
    return near + [float(size) for size in far]


def _float(ball: arb) -> float:
    return float(ball.mid())


def _reach(pair: Pair, sizes: Sequence[float]) -> float:
    """The first size beyond which H is as good as constant."""
    # upwards, for evaluations far out can take long, and are seldom needed
    top = next((i for i in range(0, len(sizes), _PER_OCTAVE) if _height(pair, arb(sizes[i])) <= _NOTHING), len(sizes) - 1)
    last = _height(pair, arb(sizes[top]))
    low, high = 0, top
    while low < high:
        middle = (low + high) // 2
        if _height(pair, arb(sizes[middle])) - last <= _NOTHING:
            high = middle
        else:
            low = middle + 1
    return sizes[min(low + 1, len(sizes) - 1)]


def _height(pair: Pair, loss: arb) -> float:
    try:
        return _float(pair.delta(loss))
    except Undecided:
        return 0.0


def _atoms(pair: Pair, points: Sequence[float], masses: Floats) -> tuple[tuple[Fraction, float], ...]:
    """Losses that hold a mass by themselves: cells that keep half of what they hold when they are halved again and again.

    Where the heaviest cells hold none, of the others those alone are looked at that are denser than the ones around them.
    """
    atoms: dict[Fraction, float] = {}
    dense = masses / np.gradient(points)
    around = np.maximum(np.append(dense[2:], [0.0, 0.0]), np.insert(dense[:-2], 0, [0.0, 0.0]))
    for number, i in enumerate(np.argsort(-masses)[:64]):
        mass = masses[i]
        if mass < 1e-4:
            break
        if number >= _FIRST_LOOKS and not atoms and dense[i] <= _DENSER * around[i]:
            continue
        left, right = points[max(i - 1, 0)], points[min(i + 1, len(points) - 1)]
        place = _narrowed(pair, Fraction(left), Fraction(right), 0.3 * mass)
        if place is not None and all(abs(place - other) > Fraction(1, 10**15) for other in atoms):
            atoms[place] = float(mass)
    return tuple(atoms.items())


def _narrowed(pair: Pair, left: Fraction, right: Fraction, least: float) -> Fraction | None:
    """The loss in an interval that holds at least a mass by itself, or None."""
    if left >= right:
        return None
    shorter = 0
    while right - left > Fraction(1, 2**90):
        if shorter % _AGAIN == 0:
            left, right = _where_lines_meet(pair, left, right, least) or (left, right)
            rise, fall = _outer_slopes(pair, left, right)
        shorter += 1
        reach, scale = (right - left) / 128, rational(left).exp()
        for part in _SPLIT:
            middle = left + part * (right - left)
            slope = _slope(pair, middle - reach, middle + reach)
            before, after = _float((rise - slope) * scale), _float((slope - fall) * scale)
            if min(before, after) <= max(before, after) / 16:
                break  # else the slope may be across a single loss
        if not max(before, after) >= least or min(before, after) < -least / 8:  # a mass below 0: the curve is not known so finely
            return None
        left, right, rise, fall = (left, middle, rise, slope) if before >= after else (middle, right, slope, fall)
    middle = (left + right) / 2
    simple = middle.limit_denominator(10**9)
    return simple if abs(simple - middle) < Fraction(1, 2**80) else Fraction(math.floor(middle * 2**90), 2**90)


def _where_lines_meet(pair: Pair, left: Fraction, right: Fraction, least: float) -> tuple[Fraction, Fraction] | None:
    """A much shorter interval, about where the lines through H near both ends meet, if it holds a mass; None if it does not."""
    width, around = right - left, None
    place = None if width <= 8 * _NEAREST else _kink(pair, left, right, width * (_LONG if width < _SHORT else _FINE))
    if place is None:
        return None
    for near in (_NEAREST,) if width < _SHORT else (_NEAR, _NEAREST):
        if not _mass(pair, place - near, place + near) >= least:
            break
        around = place - 2 * near, place + 2 * near  # an atom at an end may count for half
    return around


def _kink(pair: Pair, left: Fraction, right: Fraction, step: Fraction) -> Fraction | None:
    """Where the lines through H near both ends of an interval meet: the loss of an atom that is alone there. step: the length of a line."""
    points = [rational(at) for at in (left + step, left + 2 * step, right - 2 * step, right - step)]
    (a, x), (b, y), (c, u), (d, v) = ((pair.delta(at), at.exp()) for at in points)
    first, second = (b - a) / (y - x), (d - c) / (v - u)
    meet = ((c - second * u - a + first * x) / (first - second)).mid()
    if not (meet > 0 and meet.is_finite()):
        return None
    place = exact(meet.log().mid())
    return place if left < place < right else None


def _lattice(pair: Pair, atoms: Sequence[tuple[Fraction, float]], rest: float, points: Sequence[float]) -> Fraction | None:
    """What all losses are multiples of, by a look at some gaps between multiples; 0 where the atoms are all."""
    if sum(_mass(pair, place - _NEAR, place + _NEAR) for place, _ in atoms) + rest > 1 - _MISSED:
        return Fraction(0)
    places = [place for place, _ in atoms if place != 0]
    if len(places) < 3:
        return None
    common = _common(places)
    if common < _FINEST:
        return None
    first, last = math.floor(points[0] / common), math.ceil(points[-1] / common)
    every = max(1, (last - first) // _LOOKS)
    quarter = common / 4
    for n in range(first, last, every):
        if _mass(pair, n * common + quarter, n * common + 3 * quarter) > 1e-30:
            return None
    return common


def _with_lower(shape: _Shape, pair: Pair, lower: Pair) -> _Shape:
    """The shape with the single losses of the lower pair, where the two have no others and are not one."""
    if lower is pair or shape.lattice is None:
        return shape
    other = _explore(lower)
    atoms = {**dict(other.atoms), **dict(shape.atoms)}
    return replace(shape, atoms=tuple(atoms.items()), lattice=shape.lattice if shape.lattice == other.lattice else None)


def _far(lowers: Sequence[Pair], end: Fraction, tail: float) -> int:
    """A loss so far out that only infinite ones matter beyond it; nearer where a composition inside has put its own infinite ones."""
    near, far = math.ceil(end), FAR
    least = [_height(pair, arb(near)) - tail for pair in lowers]
    while far > 1 and any(_height(pair, arb(near + far)) < height for pair, height in zip(lowers, least, strict=True)):
        far //= 2
    return near + far


def _mass(pair: Pair, left: Fraction, right: Fraction) -> float:
    """About the mass of P at losses between two: the kink of H, from the chords on either side."""
    rise, fall = _outer_slopes(pair, left, right)
    return _float((rise - fall) * rational(left).exp())


def _outer_slopes(pair: Pair, left: Fraction, right: Fraction) -> tuple[arb, arb]:
    """How fast H falls just before an interval of losses, and just after it."""
    margin = (right - left) / 64
    return _slope(pair, left - margin, left), _slope(pair, right, right + margin)


def _slope(pair: Pair, left: Fraction, right: Fraction) -> arb:
    """How fast H falls between two losses, as a function of their exponential."""
    here, there = rational(left), rational(right)
    return (pair.delta(here) - pair.delta(there)) / (there.exp() - here.exp())


def _strides(shape: _Shape, tilts: Sequence[float], step: Fraction, ends: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    """Wider steps where few losses are that matter: the error of a cell grows with their number times the square of its width."""
    if shape.lattice is not None:
        return _between(shape, step, ends)
    spacing = float(step)
    if shape.atoms or len(shape.losses) < 8:
        return ()
    gaps = np.diff(shape.losses)
    densities = [(shape.logs + tilt * shape.losses)[1:] - np.log(gaps) for tilt in tilts]
    logs = np.max([log - log.max() for log in densities], axis=0)
    most = max(1, min(_WIDEST, int(_FLAT / (max(tilts[0], 1.0) * spacing))))
    steps: list[tuple[int, int]] = []
    for left, log_density in zip(shape.losses[:-1], logs, strict=True):
        doublings = int((-log_density / math.log(2) - _RARE) / 3)
        k = 1 << max(0, min(doublings, most.bit_length() - 1))
        place = math.floor(left / spacing)
        if not steps or (steps[-1][1] != k and place > steps[-1][0]):
            steps.append((place, k))
    kept = _within(steps, ends[0])
    return tuple(kept) if any(k > 1 for _, k in kept) else ()


def _within(steps: Sequence[tuple[int, int]], low: int) -> list[tuple[int, int]]:
    """Steps that are no longer than what is left of where they are taken, so that none goes over what wants shorter ones."""
    kept: list[tuple[int, int]] = []
    for number, (start, k) in enumerate(steps):
        left = steps[number + 1][0] - max(start, low) if number + 1 < len(steps) else k
        if left > 0:
            kept.append((start, k if left >= k else 1 << (left.bit_length() - 1)))
    return kept


def _between(shape: _Shape, step: Fraction, ends: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    """Steps from one loss to the next, where there are none between, by way of the places on either side of each."""
    low, high = ends
    if shape.lattice:
        first, last = math.floor(low * step / shape.lattice), math.ceil(high * step / shape.lattice)
        losses = [n * shape.lattice for n in range(first, last + 1)] if last - first < high - low else []
    else:
        losses = [place for place, _ in shape.atoms]
    beside = {place for loss in losses for place in (math.floor(loss / step), math.ceil(loss / step)) if low < place < high}
    places = sorted({low, high, *beside})
    steps: list[tuple[int, int]] = []
    for here, after in pairwise(places):
        if not steps or steps[-1][1] != after - here:
            steps.append((here, after - here))
    return tuple(steps) if losses else ()


def _joint_range(pairs: Sequence[Pair], spacing: Fraction, tail: float) -> tuple[int, int]:
    """The multiples of the spacing between which all but the tail of several pairs lies."""
    ranges = [_range(pair, spacing, tail) for pair in dict.fromkeys(pairs)]
    return min(low for low, _ in ranges), max(high for _, high in ranges)


# -- the whole -------------------------------------------------------------------------------------


def _apart(shape: _Shape, count: int, turns: Sequence[int], tilt: float, spacing: float, high: int) -> list[int]:
    """How often the spacing of rare losses doubles at once, and from which place on they are rare: where they are most of the range."""
    logs = shape.logs + tilt * shape.losses
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    beyond = np.append(np.cumsum(weights[::-1])[::-1][1:], 0.0)
    mean = float(np.sum(weights * shape.losses))
    deviation = math.sqrt(np.sum(weights * (shape.losses - mean) ** 2))
    for doublings in (4, 3, 2):
        reach = [float(shape.losses[int(np.argmax(beyond <= _SHIFTED / 4**doublings))])]
        for done, turn in enumerate(turns[:doublings]):  # what sums of so many come to, at the spacing by then
            copies = min(2.0**turn, count)
            reach.append((copies * max(mean, 0.0) + _BODY * math.sqrt(copies) * deviation) / 2**done)
        place = math.ceil(max(reach) / spacing)
        if _FAR_OFF * place < high:
            return [doublings, place]
    return []


class _Total:
    """Chernoff's bounds for the sum of all losses."""

    def __init__(self, shapes: Sequence[_Shape], times: Sequence[int], turned: bool = False) -> None:
        self.shapes, self.times = shapes, times
        self.rest = sum(k * shape.rest for shape, k in zip(shapes, times, strict=True)) if not turned else 0.0
        # the losses of the reversed order have the cumulants K(-1 - t)
        self._ups = [shape.cumulant(-1 - _TILTS if turned else _TILTS) for shape in shapes]
        self.up = self._sum(self._ups)
        # (1 - e^-x)+ <= e^(t x) t^t/(1 + t)^(1 + t)
        self.bent = self.up + _TILTS * np.log(_TILTS) - (1 + _TILTS) * np.log1p(_TILTS)

    @property
    def reversed(self) -> _Total:
        """The bounds for the sum of the losses of the reversed order."""
        return _Total(self.shapes, self.times, turned=True)

    def _sum(self, cumulants: Sequence[Floats]) -> Floats:
        total: Floats = sum((k * one for one, k in zip(cumulants, self.times, strict=True)), np.zeros_like(_TILTS))
        return total

    def at_epsilon(self, epsilon: float) -> tuple[float, float, float]:
        """The best tilt, about log delta, and epsilon."""
        logs = self.bent - _TILTS * epsilon
        best = int(np.argmin(logs))
        return float(_TILTS[best]), max(float(logs[best]), math.log(self.rest) if self.rest > 0 else _LEAST_LOG), epsilon

    def at_delta(self, delta: float) -> tuple[float, float, float]:
        """The best tilt at a delta, log delta, and about epsilon."""
        left = delta - self.rest
        log_delta = math.log(left if left > 0 else delta)
        epsilons = (self.bent - log_delta) / _TILTS
        best = int(np.argmin(epsilons))
        return float(_TILTS[best]), math.log(delta), max(0.0, float(epsilons[best]))

    def spread(self, nats: float, doublings: Sequence[Sequence[int]]) -> float:
        """The length of the losses outside of which there is e^-nats; of powers on the way there as a share of the spacing by then."""
        downs = [shape.cumulant(-_TILTS) for shape in self.shapes]
        most = _length(self.up, self._sum(downs), nats) / float(2 ** max(map(len, doublings)))
        for up, down, count, turns in zip(self._ups, downs, self.times, doublings, strict=True):
            for turn in range(1, count.bit_length() if turns else 0):
                copies = count >> (count.bit_length() - 1 - turn)
                most = max(most, _length(copies * up, copies * down, nats) / float(2 ** sum(earlier < turn for earlier in turns)))
        return max(most, 1e-12)


def _length(up: Floats, down: Floats, nats: float) -> float:
    """The length of the losses with these cumulants, of positive and of negative tilts, outside of which there is e^-nats."""
    return float(np.min((up + nats) / _TILTS)) + float(np.min((down + nats) / _TILTS))


def _doublings(shape: _Shape, count: int) -> list[int]:
    """After which squarings the spacing doubles: the deviation does after every two, and to begin with the many single losses count.

    Losses of a lattice stay on it, and single ones stay until hardly any sum is made of them alone.
    """
    if shape.lattice is not None:
        return []
    alone = min(sum(mass for _, mass in shape.atoms), 1 - 1e-9)
    first = max(_FIRST_DOUBLING, math.ceil(math.log2(_ALONE / -math.log(alone))) if alone > 0 else 0)
    return list(range(first, count.bit_length() - 1, 2))


def _spacing(wanted: float, shapes: Sequence[_Shape], times: Sequence[int], spread: float, allowed: float, longest_list: int) -> Fraction:
    """A spacing of at most about what is wanted that puts atoms on the grid, or above it by an allowed sum of times mass times distance."""
    weights: dict[Fraction, float] = {}
    for shape, k in zip(shapes, times, strict=True):
        for place, mass in shape.atoms:
            if k * mass * abs(place) > allowed / _TINY:  # others may as well be at 0
                weights[abs(place)] = weights.get(abs(place), 0.0) + k * mass
    if not weights:
        return Fraction(1, math.ceil(1 / wanted)) if wanted < 1 else Fraction(1)
    common = _common(list(weights))
    if common > wanted / 4 or common > 1.01 * spread / longest_list:
        return common / max(1, math.ceil(float(common) / wanted))
    longest = float(max(weights))
    places, costs = np.array([float(place) for place in weights]), np.array(list(weights.values()))
    most = max(2 * longest / wanted, min(64 * longest / wanted, longest * longest_list / spread))
    least = math.ceil(longest / wanted)
    counts = np.arange(least, min(most, least + longest_list / len(weights)) + 1)  # where far more are wanted, the first are as good as any
    turns = places[None, :] / longest * counts[:, None]
    shifts = ((turns - np.floor(turns + 1e-12)) * costs[None, :]).sum(axis=1) * longest / counts
    good = np.flatnonzero(shifts <= allowed)
    return max(weights) / int(counts[good[0] if good.size else np.argmin(shifts)])


def _common(places: Sequence[Fraction]) -> Fraction:
    """The greatest rational of which all are multiples."""
    bottom = math.lcm(*(place.denominator for place in places))
    return Fraction(math.gcd(*(int(place * bottom) for place in places)), bottom)


def _range(pair: Pair, spacing: Fraction, tail: float) -> tuple[int, int]:
    """The multiples of the spacing between which all but the tail lies, and two more below: the lowest loss is above the first cell."""
    with precision(EXPLORING_BITS):
        h = rational(spacing)
        rest, rest_below = (_left_over(order, tail) for order in (pair, pair.reversed))
        high = _first(lambda n: _height(pair, n * h) - rest <= tail)
        low = _first(lambda n: _float((-n * h).exp() * (pair.reversed.delta(n * h) - rest_below)) <= tail)
    return -low - 2, high


def _left_over(pair: Pair, tail: float) -> float:
    """About the limit of H, 0 where it falls below the tail."""
    height, size = 1.0, 1.0
    while size <= LARGEST_LOSS:
        height = _height(pair, arb(size))
        if height <= tail:
            return 0.0
        size *= 4
    return height


def _first(holds: Callable[[int], bool]) -> int:
    """The least n >= 1 for which a lasting property holds."""
    high = 1
    while not holds(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _nudge_bits(pairs: Sequence[Pair], spacing: Fraction, bits: int) -> int:
    """How much shorter than the spacing the chords can be before their slopes drown in the width of the profiles' enclosures."""
    with precision(bits + 64):
        noise = max(float(pair.delta(rational(k * spacing)).rad()) for pair in pairs for k in (-3, 0, 3))
    if noise == 0:
        return NUDGE_BITS
    return max(3, min(NUDGE_BITS, math.floor(2 * math.log2(spacing) - 10 - math.log2(noise))))
