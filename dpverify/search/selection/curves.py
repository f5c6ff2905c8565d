"""Proposes curves of selections: every bound from above that there is, and the event that tells two neighbours apart best."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from dpverify.search import same_floats
from dpverify.search.composition import plans as building
from dpverify.search.composition.plans import Plan
from dpverify.search.numeric import written
from dpverify.search.selection import every_word
from dpverify.search.selection import worst_output as searched
from dpverify.search.selection.rough_laws import Rough
from dpverify.trusted.combinators.runs import Run, leaf
from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.errors import DpverifyError, Undecided
from dpverify.trusted.kernel.expr import ONE, Num
from dpverify.trusted.kernel.model import ONE_WAY, AboveThreshold, Claim, Compared, NoisyMax, OnLine, noises_of, on_integers
from dpverify.trusted.theories.composition.rules import bounded_range
from dpverify.trusted.theories.curves.rules import least_curve as least
from dpverify.trusted.theories.curves.rules import pure_guarantee
from dpverify.trusted.theories.selection import chances
from dpverify.trusted.theories.selection.compared import Asked, asked
from dpverify.trusted.theories.selection.noise_laws import closed, in_closed_form
from dpverify.trusted.theories.selection.rules import compared_gaussians as release
from dpverify.trusted.theories.selection.rules import first_positive, worst_output
from dpverify.trusted.theories.selection.rules import greatest_noise as greatest
from dpverify.trusted.theories.selection.rules import selection_event as event
from dpverify.trusted.theories.selection.shifted import MOVES

Point = tuple[float, ...]
Log = Callable[[float, float], float]
"""How much two probabilities tell, as a logarithm."""

_POINTS = 100
"""Points of a float integral, over this many deviations on both sides."""
_MOST_POINTS = 800
_REACH = 8.0
_MOST_OUTPUTS = 64
"""Queries up to which every output is looked at between bounds."""
MOST = 1 << 20
"""Candidates or queries up to which probabilities are integrated."""
_ROUGH, _FINE = 1e-2, 1e-8
"""How far apart the corners of a simplex are in the end, in units of its first size."""
_ROUNDS = 200
_ALIKE = 1e-9
"""Of events that tell as much within this the first is taken."""
_GUESS = 1e-6
_NEGLIGIBLE = 1e-40
"""The share of the greatest probability of an integer below which it is outside of what is added."""
_FIRST_BITS = 64
_SPARE = 64
_MUCH, _TINY = 1e4, 1e-300
_LOOKED = (0.25, 1.0, 4.0)
"""Where bounds are compared that are wanted at more than one epsilon, in units of the claimed one."""
_GRAIN = 1 << 40
"""Answers are put on multiples of one over this, in units of what they move by."""


def plan(run: Run, epsilon: float | None, delta: float | None, every: bool, premise: Plan | None) -> Plan:
    """The curve of one run of a selection. every: it is wanted at all epsilons, and not at the claimed one alone. premise: the step for its
    pure epsilon. Raises Undecided, with the reasons, where nothing bounds it.
    """
    claim = leaf(run)
    mechanism, sensitivity = claim.mechanism, claim.sensitivity
    assert isinstance(mechanism, Compared)
    with suppress(DpverifyError):
        return every_word.plan(run, epsilon, delta, every)
    reasons: list[str] = []
    above: list[Plan] = []
    for one in _above(mechanism, sensitivity, premise):
        try:
            building.curve_of_one(run, one)
        except DpverifyError as error:
            reasons.append(str(error))
            continue
        above.append(one)
        if epsilon is not None and not every and _height(run, one, epsilon) == 0:
            return one  # nothing is left for delta
    if len(above) > 1:
        looked = [epsilon] if epsilon is not None and not every else [(epsilon or 1.0) * factor for factor in _LOOKED]
        best = {min(range(len(above)), key=lambda i: _height(run, above[i], at)) for at in looked}
        above = [above[i] for i in sorted(best)]
    below: list[Plan] = []
    if any(_height(run, one, epsilon or 0.0) > 0 for one in above) or not above:
        try:
            below = [event_of(run, epsilon, delta)]
        except DpverifyError as error:
            reasons.append(str(error))
    parts = [*above, *below]
    if not parts:
        raise Undecided(reasons[0] if reasons else "no rule gives the privacy curve of this selection.")
    if len(parts) == 1:
        return parts[0]
    return {"rule": least.NAME, "parts": parts, **({"below": len(above)} if below else {})}


def _above(mechanism: Compared, sensitivity: Any, premise: Plan | None) -> Iterator[Plan]:
    """Plans for bounds from above."""
    yield {"rule": bounded_range.NAME}
    if premise is not None:
        yield {"rule": pure_guarantee.NAME, "premise": premise}
    yield {"rule": release.NAME}
    yield {"rule": greatest.NAME, **_whole(mechanism)}
    if isinstance(mechanism, AboveThreshold) and mechanism.bounds is not None and mechanism.positives == ONE:
        with suppress(DpverifyError):
            yield {"rule": first_positive.NAME, "cuts": _written(_between_bounds(mechanism, sensitivity)), "prec": _FIRST_BITS}


def _whole(mechanism: Compared) -> Plan:
    """The integers between which probabilities of noise are added."""
    if not isinstance(mechanism, NoisyMax) or not on_integers(mechanism):
        return {}
    nodes = Rough(mechanism.noise).nodes
    seen = nodes.z[nodes.density > nodes.density.max() * _NEGLIGIBLE]
    return {"cuts": [str(int(seen.min())), str(int(seen.max()))]}


def _height(run: Run, one: Plan, epsilon: float) -> float:
    """About what a plan bounds delta by."""
    with precision(_FIRST_BITS), suppress(DpverifyError):
        upper = building.curve_of_one(run, one).upper
        if upper is not None:
            return float(upper.worst(rational(Fraction(epsilon))).upper())
    return math.inf


def _between_bounds(mechanism: AboveThreshold, sensitivity: Any) -> list[Fraction]:
    """Cuts for the integrals of all outputs between bounds. Raises Rejected, Undecided."""
    question = asked(Claim(mechanism, None, sensitivity=sensitivity), {}, "the search")
    assert mechanism.bounds is not None
    low, high = (question.value(end, "bounds") for end in mechanism.bounds)
    step, centre = question.value(question.moved, "the sensitivity"), question.value(mechanism.threshold, "threshold")
    if not isinstance(mechanism.queries, Num) or mechanism.queries.value > _MOST_OUTPUTS:
        raise Undecided(f"the search looks at outputs of at most {_MOST_OUTPUTS} queries.")
    return _cuts(mechanism.threshold_noise, centre, {low, high, low + step, high - step})


def _cuts(first: OnLine | None, centre: Fraction, points: set[Fraction]) -> list[Fraction]:
    """Where densities may have kinks, and how far out what is left does not count."""
    every = {centre, *points}
    if first is None:
        return sorted(every | {min(every) - 1})
    noise, far = in_closed_form(first), 1
    while noise.at(Fraction(far))[1] > arb(2) ** -(2 * ctx.prec + _SPARE):
        far *= 2
    spread = {centre + sign * Fraction(far, 2**power) for sign in (-1, 1) for power in range(4)}
    return sorted(every | spread | {min(every) - far, max(every) + far})


def _written(cuts: list[Fraction]) -> list[str]:
    return [written(cut) for cut in cuts]


# -- one event -----------------------------------------------------------------------------------------------------------


def event_of(run: Run, epsilon: float | None, delta: float | None) -> Plan:
    """The event that tells the most. Raises Undecided, Rejected where there is none to look for."""
    claim = leaf(run)
    mechanism = claim.mechanism
    assert isinstance(mechanism, Compared)
    question = asked(claim, {"side": "lower"}, "the search", near=True)
    step = question.value(question.moved, "the sensitivity")
    if not step > 0:
        raise Undecided("the answers do not certainly move.")
    tell = _telling(epsilon, delta, mechanism.neighbours in ONE_WAY)
    if mechanism.neighbours == "hull":
        alone = closed(mechanism.noise) is not None or question.whole  # type: ignore[union-attr]
        return {"rule": event.NAME, **_in_hull(question, step, tell), **({} if alone else {"prec": _FIRST_BITS})}
    noises = [noise for noise in noises_of(mechanism) if noise is not getattr(mechanism, "fresh", None)]
    if not all(closed(noise) is not None for noise in noises):
        return {"rule": event.NAME, **_of_output(question, step, tell), "prec": _FIRST_BITS}
    found = (_of_max if isinstance(mechanism, NoisyMax) else _of_threshold)(question, step, tell)
    return {"rule": event.NAME, **found}


def _telling(epsilon: float | None, delta: float | None, one_way: bool) -> Log:
    """At a claimed epsilon the logarithm of delta; else the epsilon at which a delta is passed."""
    factor = same_floats.exp_of(min(epsilon or 0.0, 700.0))

    def of(p: float, q: float) -> float:
        if epsilon is None:
            rest = p - (delta or _GUESS)
            found = same_floats.log(rest / q) if rest > 0 and q > 0 else _MUCH if rest > 0 else -math.inf
        else:
            rest = p - factor * q
            found = same_floats.log(rest) if rest > 0 else -math.inf
        return found if found > -math.inf else same_floats.log(max(p, _TINY) / max(q, _TINY)) - _MUCH

    def both(p: float, q: float) -> float:
        pairs = [(p, q), (1 - p, 1 - q)]
        return max(of(*pair) for pair in (pairs if one_way else [*pairs, *((q, p) for p, q in pairs)]))

    return both


@dataclass(frozen=True, slots=True)
class _Floats:
    """Gaussian or Laplace noise in floats, the same on every machine, so that what is found is."""

    gaussian: bool
    rate: float

    @classmethod
    def of(cls, noise: OnLine | None) -> _Floats | None:
        if noise is None:
            return None
        found = in_closed_form(noise)
        return cls(found.gaussian, float(found.rate))

    def below(self, z: Any) -> Any:
        """The probability of less, at each of an array."""
        import numpy as np

        x = self.rate * z
        if self.gaussian:
            return same_floats.normal(x)
        tail = same_floats.exp(-np.abs(x)) / 2
        return np.where(x < 0, tail, 1 - tail)

    def grid(self, other: float) -> tuple[Any, Any]:
        """Points, and their weights. other: the rate of what is integrated."""
        import numpy as np

        reach = _REACH if self.gaussian else 3 * _REACH
        count = min(_MOST_POINTS, math.ceil(_POINTS * max(1.0, other / self.rate) / (1 if self.gaussian else 0.5)))
        step = 2 * reach / count / self.rate
        points = np.array([(k - count / 2) * step for k in range(count + 1)])
        x = self.rate * points
        heights = same_floats.exp(-x * x / 2 if self.gaussian else -np.abs(x))
        return points, heights / same_floats.total(heights)


def _highest(f: Callable[[Point], float], start: Point, step: float, near: float) -> tuple[float, Point]:
    """A greatest value of a function, by the simplex of Nelder and Mead."""
    corners = [start, *(tuple(x + step * (i == j) for j, x in enumerate(start)) for i in range(len(start)))]
    held = [(f(corner), corner) for corner in corners]
    for _ in range(_ROUNDS):
        held.sort(key=lambda one: -one[0])
        best, worst = held[0], held[-1]
        if max(abs(x - y) for x, y in zip(best[1], worst[1], strict=True)) < near * step:
            break
        middle = [sum(corner[i] for _, corner in held[:-1]) / (len(held) - 1) for i in range(len(start))]

        def along(factor: float, middle: list[float] = middle, worst: Point = worst[1]) -> tuple[float, Point]:
            point = tuple(m + factor * (m - w) for m, w in zip(middle, worst, strict=True))
            return f(point), point

        once = along(1.0)
        if once[0] > best[0]:
            held[-1] = max(once, along(2.0))
        elif once[0] > held[-2][0]:
            held[-1] = once
        else:
            inside = along(-0.5) if once[0] <= worst[0] else along(0.5)
            if inside[0] > worst[0]:
                held[-1] = inside
            else:
                held = [best, *((f(p), p) for p in (tuple((x + b) / 2 for x, b in zip(q, best[1], strict=True)) for _, q in held[1:]))]
    return max(held)


def _near(x: float, step: Fraction) -> Fraction:
    """A short rational near a number, in units of what answers move by."""
    return step * Fraction(round(x / float(step) * _GRAIN), _GRAIN)


def _sizes(count: int) -> list[int]:
    """Numbers from 1 to one less than a count that are looked at: the least and the greatest, and the middle."""
    tried = {1, 2, count // 4, count // 2, (count + 1) // 2, count - 2, count - 1}
    return sorted(size for size in tried if 0 < size < count)


def _of_output(question: Asked, step: Fraction, tell: Log) -> Plan:
    """One output, with noises of any law. Raises Undecided, Rejected."""
    worst_output.readable(question)
    setting = searched.Setting.of(question, rough=True)
    best = searched.telling(question, setting, float(step), tell)
    if best is None:
        raise Undecided("no output is known that tells neighbours apart.")
    _, move, counts, answers = best
    low, high = (step * Fraction(answer / float(step)).limit_denominator(64) for answer in answers)
    shared = setting.evidence(list(chances.pair(question, move, counts, (low, high))), ctx.prec)
    told = {"move": move, "negatives": counts[0], "positives": counts[1], "answers": [str(low), str(high)]}
    return {**told, "grids": {}, **shared}


# -- noisy max ---------------------------------------------------------------------------------------------------------


def _of_max(question: Asked, step: Fraction, tell: Log) -> Plan:
    mechanism = question.selection
    assert isinstance(mechanism, NoisyMax)
    count, noise = _count(mechanism.candidates), _Floats.of(mechanism.noise)
    assert noise is not None
    if mechanism.report == "value" or count < 2:
        raise Undecided("no event is looked for where the greatest noisy answer itself is told, or there is one candidate.")
    fall = float(step) * (2 if mechanism.neighbours == "all" else 1)
    length = None
    if mechanism.bounds is not None:
        length = question.value(mechanism.bounds[1], "bounds") - question.value(mechanism.bounds[0], "bounds")
    points, weights = noise.grid(noise.rate)

    def chance(group: int, lead: float) -> float:
        ahead, behind = (same_floats.whole_power(noise.below(at), n) for at, n in ((points, group - 1), (points + lead, count - group)))
        return min(1.0, group * same_floats.total(weights * ahead * behind))

    best: tuple[float, int, Point, Callable[[Point], float]] | None = None
    for group in [1, count - 1] if mechanism.neighbours == "one" else _sizes(count):

        def told(point: Point, group: int = group) -> float:
            lead = point[0] if length is None else min(max(point[0], fall - float(length)), float(length))
            return tell(chance(group, lead), chance(group, lead - fall))

        for begin in (fall / 2 - 3 / noise.rate, fall / 2):
            value, start = _highest(told, (begin,), 1 / noise.rate, _ROUGH)
            if best is None or value > best[0] + _ALIKE:
                best = value, group, start, told
    assert best is not None
    lead = _near(_highest(best[3], best[2], _ROUGH / noise.rate, _FINE)[1][0], step)
    if length is not None:
        lead = min(max(lead, (2 if mechanism.neighbours == "all" else 1) * step - length), length)
    moved = lead - (2 if mechanism.neighbours == "all" else 1) * step
    cuts = _cuts(mechanism.noise, Fraction(0), {-lead, -moved})
    return {"group": best[1], "lead": written(lead), "cuts": _written(cuts)}


def _in_hull(question: Asked, step: Fraction, tell: Log) -> Plan:
    """That one of the answers that move up the least is the greatest, by the point of the hull and the answers where that tells the most.

    Answers that move alike are alike. Points that are the same numbers in another order tell the same.
    """
    mechanism = question.selection
    assert isinstance(mechanism, NoisyMax)
    if mechanism.report == "value":
        raise Undecided("no event is looked for where the greatest noisy answer itself is told.")
    chance, unit = _chances(mechanism)
    reach = (_REACH / 4 if closed(mechanism.noise) is None and not question.whole else 3 * _REACH) * unit
    ends = None if mechanism.bounds is None else [question.value(end, "bounds") for end in mechanism.bounds]
    best: tuple[float, int, list[int], list[Fraction]] | None = None
    for number, point in enumerate(mechanism.hull):
        levels = sorted(set(point))
        if sorted(point) in (sorted(other) for other in mechanism.hull[:number]):
            continue
        for few in range(1, len(levels)):
            winners = [i for i, x in enumerate(point) if x < levels[few]]
            wide = (-step * math.ceil(reach / step), step * math.ceil(reach / step))
            left = [(step * min(Fraction(0), x), step * max(Fraction(0), x)) for x in levels]
            narrow = [wide if ends is None else (ends[0] - low, ends[1] - high) for low, high in left]
            if any(low > high for low, high in narrow):
                continue

            def told(at: Point, levels: list[Fraction] = levels, point: Any = point, winners: Any = winners, narrow: Any = narrow) -> float:
                here = _placed(at, levels, point, narrow)
                sides = ([float(x + times * step * more) for x, more in zip(here, point, strict=True)] for times in (0, 1))
                return tell(*(chance(side, winners) for side in sides))

            lead = float(step) * float(levels[-1] - levels[0]) / 2
            for top in (lead + 3 * unit, lead, 0.0, -lead, -lead - 3 * unit):
                for between in (-8 * unit, 0.0):
                    start = (0.0, *(between,) * (len(levels) - 2), top)
                    value, found = _climbed(told, start, unit) if question.whole else _highest(told, start, unit, _ROUGH)
                    if best is None or value > best[0] + _ALIKE:
                        value, found = (value, found) if question.whole else _highest(told, found, _ROUGH * unit, _FINE)
                        best = value, number, winners, _placed(found, levels, point, narrow, step, question.whole)
    if best is None:
        raise Undecided("no point of the hull moves one answer against another between the bounds.")
    _, number, winners, answers = best
    after = [x + step * more for x, more in zip(answers, mechanism.hull[number], strict=True)]
    gaps = {x - side[i] for side in (answers, after) for i in winners for x in side}
    shown: Plan = {"winners": winners, "point": number, "answers": [written(x) for x in answers]}
    if question.whole:
        return {**shown, **_whole(mechanism)}
    if closed(mechanism.noise) is not None:
        return {**shown, "cuts": _written(_cuts(mechanism.noise, Fraction(0), gaps))}
    places = [chances.Output(1, 0, gap, gap, Fraction(0)) for gap in sorted(gaps)]
    shared = searched.Setting.of(question, rough=True).evidence(places, _FIRST_BITS)
    return {**shown, "cuts": shared["cuts"], "grid": shared["grids"]["noise"]}


def _climbed(f: Callable[[Point], float], start: Point, unit: float) -> tuple[float, Point]:
    """A great value of a function of integers, by steps of one of them that are smaller and smaller."""
    at: Point = tuple(map(round, start))
    value, step = f(at), max(1, round(unit))
    for _ in range(_ROUNDS):
        near = [(*at[:i], x + sign * step, *at[i + 1 :]) for i, x in enumerate(at) for sign in (1, -1)]
        better, place = max((f(other), other) for other in near)
        if better > value:
            value, at = better, place
        elif step == 1:
            break
        else:
            step //= 2
    return value, at


def _placed(at: Point, levels: list[Fraction], point: Any, narrow: Any, grain: Fraction | None = None, whole: bool = False) -> list[Any]:
    """The answers, by where those of each level are: between ends of their own; short rationals where a grain is given."""
    places: list[Any] = [x if grain is None else Fraction(round(x)) if whole else _near(x, grain) for x in at]
    places = [min(max(x, low), high) for x, (low, high) in zip(places, narrow, strict=True)]
    return [places[levels.index(x)] for x in point]


def _chances(mechanism: NoisyMax) -> tuple[Callable[[list[float], list[int]], float], float]:
    """How probable it is in floats that the greatest is among some answers, and how wide the noise is."""
    import numpy as np

    if on_integers(mechanism):
        nodes = Rough(mechanism.noise).nodes
        seen = nodes.density > nodes.density.max() * _NEGLIGIBLE
        points, masses = nodes.z[seen], nodes.density[seen] / nodes.density.sum()
        weights = masses
        unit = float(np.sqrt((masses * (points - (masses * points).sum()) ** 2).sum())) + 0.5

        def below(z: Any) -> Any:  # ties by halves
            found = np.concatenate([[0.0], np.cumsum(masses)])
            low, high = (found[np.searchsorted(points, np.rint(z), side=side)] for side in ("left", "right"))
            return (low + high) / 2
    elif closed(mechanism.noise) is None:
        rough = Rough(mechanism.noise)
        points, heights, below = rough.nodes.z, rough.nodes.density, rough.below
        weights = np.convolve(np.diff(points), [0.5, 0.5]) * heights
        unit = rough.width
    else:
        noise = _Floats.of(mechanism.noise)
        assert noise is not None
        (points, weights), below, unit = noise.grid(noise.rate), noise.below, 1 / noise.rate

    def chance(answers: list[float], winners: list[int]) -> float:
        total, counts = 0.0, Counter(answers)
        for place, times in Counter(answers[i] for i in winners).items():
            product = np.ones(len(points))
            for other, number in counts.items():
                product = product * same_floats.whole_power(below(points + place - other), number - (other == place))
            total += times * same_floats.total(weights * product)
        return min(1.0, total)

    return chance, unit


def _count(count: Any) -> int:
    if not isinstance(count, Num) or not count.value <= MOST:
        raise Undecided(f"an event is looked for among at most {MOST} answers.")
    return int(count.value)


# -- above threshold -------------------------------------------------------------------------------------------------------


def _of_threshold(question: Asked, step: Fraction, tell: Log) -> Plan:
    import numpy as np

    mechanism = question.selection
    assert isinstance(mechanism, AboveThreshold)
    count = _count(mechanism.queries)
    most = count if mechanism.positives is None else min(count, _count(mechanism.positives))
    first, noise = _Floats.of(mechanism.threshold_noise), _Floats.of(mechanism.query_noise)
    centre = question.value(mechanism.threshold, "threshold")
    points, weights = (np.zeros(1), np.ones(1)) if first is None else first.grid(first.rate if noise is None else noise.rate)
    points = float(centre) + points

    def chance(k: int, low: float, y: int, high: float, after: str) -> float:
        negative, other = (noise.below(points - at) if noise is not None else 1.0 * (at < points) for at in (low, high))
        found = weights * same_floats.whole_power(negative, k)
        if y:
            power = same_floats.whole_power
            found = found * (power(1 - other, y) if after == "all" else 1 - power(other, y))
        return same_floats.total(found)

    def told_by(k: int, y: int, after: str, way: tuple[int, int]) -> Callable[[Point], float]:
        up, down = way[0] * float(step), way[1] * float(step)
        return lambda at: tell(chance(k, at[0], y, at[1], after), chance(k, at[0] + up, y, at[1] - down, after))

    best: tuple[float, Plan, Point, Callable[[Point], float], tuple[int, int]] | None = None
    scale = max(1 / one.rate for one in (first, noise) if one is not None)
    ways = MOVES["monotone" if mechanism.neighbours == "one" else mechanism.neighbours]
    for move, (u, v) in enumerate(ways):
        for k, y, after in _events(mechanism, count, most, (u, v)):
            told = told_by(k, y, after, (u, v))
            for value, place in _places(question, told, float(step), (u, v), float(centre), scale):
                if best is None or value > best[0] + _ALIKE:
                    best = value, {"move": move, "negatives": k, "positives": y, "next": after}, place, told, (u, v)
    assert best is not None
    _, found, place, told, (u, v) = best
    if mechanism.bounds is not None:
        low, high = (Fraction(x).limit_denominator(_GRAIN) for x in place)
    else:
        free = noise is not None
        low, high = (_near(x, step) for x in (_highest(told, place, _ROUGH * scale, _FINE)[1] if free else place))
    cuts = _cuts(mechanism.threshold_noise, centre, {low, high, low + u * step, high - v * step})
    return {**found, "answers": [written(low), written(high)], "cuts": _written(cuts)}


def _events(mechanism: AboveThreshold, count: int, most: int, way: tuple[int, int]) -> Iterator[tuple[int, int, str]]:
    """Negatives first, and what comes next."""
    if mechanism.neighbours == "one":
        yield (1, 0, "all") if way[0] else (0, 1, "all")
        return
    together = 1 if mechanism.resample else most
    found = {(count, 0, "all"), (count - 1, 1, "all"), (count - together, together, "all"), (0, count, "any"), (0, together, "all")}
    sizes = range(1, count) if mechanism.bounds is not None and count <= _MOST_OUTPUTS else _sizes(count)
    found |= {(k, count - k, "any") for k in sizes} | {(k, 1, "all") for k in sizes}
    yield from sorted(found)


def _places(
    question: Asked, told: Callable[[Point], float], step: float, way: tuple[int, int], centre: float, scale: float
) -> Iterator[tuple[float, Point]]:
    """Answers at negatives and at positives: at the ends of what bounds allow, or anywhere."""
    (u, v), mechanism = way, question.selection
    assert isinstance(mechanism, AboveThreshold)
    if mechanism.bounds is not None:
        a, b = (float(question.value(end, "bounds")) for end in mechanism.bounds)
        for point in ((low, high) for low in {a, b - u * step} for high in {b, a + v * step}):
            yield told(point), point
    elif mechanism.query_noise is None:  # exact answers: what is between them and meets on the neighbour
        point = centre - step * u * (u + v) / 2, centre + step * v * (u + v) / 2
        yield told(point), point
    else:
        for start in ((0.0, 0.0), (-scale, -scale), (scale, scale), (2 * scale, -2 * scale), (-scale, 2 * scale)):
            yield _highest(told, (centre + start[0], centre + start[1]), scale, _ROUGH)
