"""Proposes the probabilities of the output that loses the most: between bounds both sides, else a pair of answers that loses much."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import Any

from flint import arb, ctx

from dpverify.search import counterexample
from dpverify.search.numeric import written
from dpverify.trusted.kernel.balls import exact, precision, rational
from dpverify.trusted.kernel.errors import DpverifyError, Undecided
from dpverify.trusted.kernel.expr import Expr, Num, Sym, num, substitute, symbols
from dpverify.trusted.kernel.model import Claim, NoisyMax, OnLine
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.theories.selection import chances
from dpverify.trusted.theories.selection.compared import Asked, asked
from dpverify.trusted.theories.selection.noise_laws import closed
from dpverify.trusted.theories.selection.rules import worst_output as rule

Tell = Callable[[float, float], float]
"""How much two probabilities of an output tell."""

_SPARE = 64
"""Bits beyond those asked for."""
_SERIES_SPARE = 24
_FARTHEST = 12
"""How far out answers are put, in powers of two of what they move by."""
_ROUGH, _FINE = 53, 128
_MOST_DIGITS = 9
"""Digits of what rests on noise without a closed form."""
_COUNTS = (0, 1, 2, 5, 24)
"""Negatives of outputs at answers without bounds."""
_PLACES = (-20.0, -6.0, -2.0, -0.5, 0.0, 0.5, 2.0, 6.0, 20.0)
"""Where answers are put first, in units of what they move by."""
_MANY = 64
_WIDEST = 32
_PAIRS = 4
"""Values of the parameters at which pairs of answers are looked for."""
_GAIN = 1e-8
_BITS = 40


def between_bounds(claim: Claim, digits: int) -> list[dict[str, Any]]:
    """Both sides of the tight epsilon between bounds."""
    question = asked(claim, {}, rule.NAME, near=True)
    rule.readable(question, tied=True)
    setting = Setting.of(question)
    bits = int(3.33 * (digits if setting.is_closed else min(digits, _MOST_DIGITS))) + 8
    spare = _SPARE if setting.is_closed else _SERIES_SPARE
    with precision(bits + spare):
        known = rule.corners(question)
        counted = chances.outputs(question, known)
        ways = [(move, counts) for move in range(len(chances.MOVES[question.selection.neighbours])) for counts in counted]
        pairs = {(move, counts): chances.pair(question, move, counts, None) for move, counts in ways}
        shared = setting.evidence([output for both in pairs.values() for output in both], bits)
        noises, cuts = rule.read(claim, shared)[1], [Fraction(str(cut)) for cut in shared["cuts"]]
        losses = {way: _loss(question, noises, both, cuts) for way, both in pairs.items()}
        most = [
            chances.loss(noises, replace(here, won=won), replace(there, won=won), cuts)
            for way, (here, there) in pairs.items()
            for won in chances.ties(question, way[1], known)
        ]
        if not all(loss.is_finite() for loss in (*losses.values(), *most)):
            raise Undecided("the probabilities of some output have no finite enclosure.")
        upper = max(exact(loss.upper()) for loss in most)
    grain = 2**bits
    above = Fraction(-(-upper * grain // 1), grain)
    steps = [{"rule": rule.NAME, "evidence": {**shared, "value": written(above)}, "prec": bits + spare}]
    told = [way for way in losses if chances.moves_alone(question, way[0], way[1])]
    if told:
        move, (negatives, positives) = max(told, key=lambda way: float(losses[way].mid()))
        below = Fraction(exact(losses[move, (negatives, positives)].lower()) * grain // 1, grain)
        output = {"side": "lower", "positives": positives, "negatives": negatives, "move": move}
        if below > 0 or not above:
            steps.append({"rule": rule.NAME, "evidence": {**shared, "value": written(below), **output}, "prec": bits + spare})
    return steps


def _loss(question: Asked, noises: chances.Compared, both: Sequence[chances.Output], cuts: Sequence[Fraction]) -> arb:
    """What an output loses at two neighbours whichever way ties are decided."""
    here, there = both
    found = chances.loss(noises, here, there, cuts)
    if isinstance(question.selection, NoisyMax) and question.whole:
        found = found.min(chances.loss(noises, replace(here, won=None), replace(there, won=None), cuts))
    return found


def refutation(claim: Claim, positives: int, move: int, at: Mapping[str, str]) -> list[dict[str, Any]]:
    """An output at a pair of answers whose probabilities show that a claim fails; none where it is not of those that are looked at.

    positives: of the output that loses the most far out, where the answers move so; the claim fails at these values of its parameters.
    """
    told: dict[str, Any] = {"side": "lower", "positives": positives, "move": move, **({"at": dict(at)} if at else {})}
    assert claim.epsilon is not None
    unclaimed = replace(claim, epsilon=None, delta=None)
    try:
        question = asked(unclaimed, told, rule.NAME, near=True)
        setting = Setting.of(question)
        if not setting.is_closed:
            return []
        claimed = enclose(substitute(claim.epsilon, question.at))
        noises = rule.read(unclaimed, told)[1]
        counts = (chances.outputs(question, True)[0][0] - positives, positives)
        for answers in _answers(question.moved, isinstance(claim.mechanism, NoisyMax)):
            here, there = chances.pair(question, move, counts, answers)
            with precision(_ROUGH):
                rough = chances.loss(noises, here, there, setting.cuts([here, there], ctx.prec))
            if not rough.mid() > claimed:
                continue
            with precision(_FINE):
                noises = rule.read(unclaimed, told)[1]
                cuts = setting.cuts([here, there], ctx.prec)
                loss = chances.loss(noises, here, there, cuts)
                value = exact(((loss + claimed) / 2).mid())
            if loss > claimed:
                shown = {"answers": [str(answer) for answer in answers], "cuts": [str(cut) for cut in cuts], "value": written(value)}
                return [{"rule": rule.NAME, "evidence": {**told, **shown}, "prec": _FINE}]
    except (DpverifyError, OverflowError):
        pass
    return []


def _answers(moved: Expr, winner: bool) -> Iterator[tuple[Fraction, Fraction]]:
    """Answers at negatives and at positives, further and further apart: far from the threshold on both sides, or on one."""
    step = exact(enclose(moved).mid())
    for power in range(0, _FARTHEST, 2):
        far = step * 2**power
        yield from ((far, -far),) if winner else ((far, -far), (far, far), (-far, -far))


# -- a pair of answers ----------------------------------------------------------------------------------------------


def apart(claim: Claim, _: int) -> list[dict[str, Any]]:
    """The output and the pair of answers that lose the most of those that are looked at, for noise of any law.

    Where a claim has parameters: at values of them at which that is more than is claimed, with as few candidates or queries as that
    output needs, or for all their values.
    """
    unclaimed = replace(claim, epsilon=None, delta=None)
    if claim.epsilon is None or not claim.domains:
        return _best(unclaimed, {}, 0.0)
    for point in _points(claim):
        found = _against(claim, unclaimed, point)
        if found:
            return _with_few(claim, unclaimed, point, found)
    return _best(unclaimed, {}, 0.0)


def _with_few(claim: Claim, unclaimed: Claim, point: dict[str, Expr], found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same with the fewest candidates or queries with which a bound was found that is above the claim."""
    for name in _counted(claim):
        told = found[0]["evidence"]
        low, high = _first(claim, name), told["negatives"] + told["positives"] + isinstance(claim.mechanism, NoisyMax)
        while low <= high:
            middle = (low + high) // 2
            fewer = _against(claim, unclaimed, {**point, name: num(middle)})
            low, high, found = (low, middle - 1, fewer) if fewer else (middle + 1, high, found)
    return found


def _against(claim: Claim, unclaimed: Claim, point: Mapping[str, Expr]) -> list[dict[str, Any]]:
    """A lower bound above what is claimed at values of the parameters; none where there is none, or values do not fit."""
    assert claim.epsilon is not None
    at = {name: str(value.value) for name, value in point.items() if isinstance(value, Num)}
    try:
        return _best(unclaimed, at, float(enclose(substitute(claim.epsilon, point)).upper()))
    except DpverifyError:
        return []


def _points(claim: Claim) -> Iterator[dict[str, Expr]]:
    """Values of the parameters, with many candidates or queries where their number is one."""
    domains, counted = dict(claim.domains), _counted(claim)
    many = {name: num(_first(claim, name) + _MANY) for name in counted if domains[name].holds(Fraction(_first(claim, name) + _MANY))}
    others = {name: domain for name, domain in claim.domains if name not in many}
    for point in islice(counterexample.points(others), _PAIRS) if others else ({},):
        yield {**point, **many}


def _counted(claim: Claim) -> frozenset[str]:
    """The parameters that say how many candidates or queries there are."""
    count = claim.mechanism.candidates if isinstance(claim.mechanism, NoisyMax) else getattr(claim.mechanism, "queries", num(1))
    return symbols(count) & dict(claim.domains).keys() if isinstance(count, Sym) else frozenset()


def _first(claim: Claim, name: str) -> int:
    """The least value of a count."""
    lower = dict(claim.domains)[name].lower
    return 1 if lower is None else max(1, math.ceil(lower))


def _best(claim: Claim, at: Mapping[str, str], least: float) -> list[dict[str, Any]]:
    """The same at values of the parameters, where it is more than at least. Raises Rejected, Undecided."""
    told: dict[str, Any] = {"side": "lower", **({"at": dict(at)} if at else {})}
    question = asked(claim, told, rule.NAME, near=True)
    rule.readable(question, tied=True)
    step = enclose(question.moved)
    setting, size = Setting.of(question, rough=True), float(step.mid())
    if not step > 0:
        return []
    best = telling(question, setting, size, log_ratio)
    if best is None or best[0] <= max(least, 1e-6):
        return []
    _, move, counts, answers = best
    low, high = (Fraction(answer / size).limit_denominator(64) * exact(step.mid()) for answer in answers)
    with precision(_BITS + _SERIES_SPARE):
        here, there = chances.pair(question, move, counts, (low, high))
        shared = setting.evidence([here, there], _BITS)
        noises, cuts = rule.read(claim, {**told, **shared})[1], [Fraction(str(cut)) for cut in shared["cuts"]]
        value = Fraction(exact(_loss(question, noises, (here, there), cuts).lower()) * 2**_BITS // 1, 2**_BITS)
    output = {"positives": counts[1], "negatives": counts[0], "move": move, "answers": [str(low), str(high)]}
    evidence = {**told, **shared, **output, "value": written(value)}
    return [{"rule": rule.NAME, "evidence": evidence, "prec": _BITS + _SERIES_SPARE}] if value > least else []


def telling(question: Asked, setting: Setting, size: float, tell: Tell) -> tuple[float, int, tuple[int, int], tuple[float, float]] | None:
    """The output that tells the most of those that are looked at: how much, the way to move, its counts, and the answers."""
    best: tuple[float, int, tuple[int, int], tuple[float, float]] | None = None
    for move in range(len(chances.MOVES[question.selection.neighbours])):
        for counts in _counts(question):
            if not chances.moves_alone(question, move, counts):
                continue
            ways = chances.MOVES[question.selection.neighbours][move]
            height, answers = _climbed(question, setting, ways, counts, size, tell)
            if best is None or height > best[0] + 1e-9:
                best = height, move, counts, answers
    return best


def _counts(question: Asked) -> list[tuple[int, int]]:
    """Negatives and positives of outputs that may occur."""
    winner = isinstance(question.selection, NoisyMax)
    most = getattr(question.selection, "positives", None)
    some = int(most.value) if isinstance(most, Num) else 4
    positives = (0,) if winner else sorted({0, min(some, max(_COUNTS))})
    return [(k, y) for y in positives for k in _COUNTS if k + y and chances.may_occur(question, k, y)]


def log_ratio(here: float, there: float) -> float:
    """What an output of two probabilities loses, minus infinity where they are too small for floats."""
    return math.log(here / there) if here > 1e-250 and there > 1e-250 else -math.inf


def _climbed(
    question: Asked, setting: Setting, ways: tuple[int, int], counts: tuple[int, int], size: float, tell: Tell = log_ratio
) -> tuple[float, tuple[float, float]]:
    """Answers at negatives and at positives, or at the winner, between which an output tells about the most, and how much it does."""
    winner = isinstance(question.selection, NoisyMax)
    centre = 0.0 if winner else float(enclose(question.selection.threshold).mid())  # type: ignore[union-attr]
    bounds = question.selection.bounds
    ends = (-math.inf, math.inf) if bounds is None else tuple(float(enclose(end).mid()) for end in bounds)
    up, down = (way * size for way in ways)

    def height(low: float, high: float) -> float:
        if not (ends[0] <= low <= ends[1] - up and ends[0] + down <= high <= ends[1]):
            return -math.inf
        pairs = [(high - s * down, low + s * up, high - s * down) if winner else (centre, low + s * up, high - s * down) for s in (0, 1)]
        here, there = (setting.chance(chances.Output(*counts, low, high, middle)) for middle, low, high in pairs)  # type: ignore[arg-type]
        return tell(here, there)

    places = [centre + size * x for x in _PLACES]
    if bounds is not None:
        places = sorted({ends[0] + (ends[1] - ends[0]) * i / 8 for i in range(9)} | {ends[1] - up, ends[0] + down})
    lows = places if counts[0] else places[:1]
    highs = (places if bounds is not None else [0.0]) if winner else places if counts[1] else places[-1:]
    low, high = max(((low, high) for low in lows for high in highs), key=lambda both: height(*both))
    best, stride = height(low, high), size
    while stride > size / 60:
        tried = [(low + i * stride, high + j * stride) for i, j in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1))]
        again = max(tried, key=lambda both: height(*both))
        found = height(*again)
        if found > best + _GAIN:
            (low, high), best, stride = again, found, min(2 * stride, _WIDEST * size)
        else:
            stride /= 2
    return best, (low, high)


# -- cuts -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Setting:
    """The noises of a selection by name, in floats where they have no closed form."""

    noises: Mapping[str, OnLine]
    rough: Mapping[str, Any]

    @classmethod
    def of(cls, question: Asked, rough: bool = False) -> Setting:
        """Raises Rejected where a noise has no law that is looked at."""
        mechanism = question.selection
        names = ("noise",) if isinstance(mechanism, NoisyMax) else ("threshold_noise", "query_noise")
        noises = {name: noise for name in names if (noise := getattr(mechanism, name)) is not None}
        if not rough and all(closed(noise) is not None for noise in noises.values()):
            return cls(noises, {})
        from dpverify.search.selection.rough_laws import Rough

        return cls(noises, {name: Rough(noise) for name, noise in noises.items()})

    @property
    def is_closed(self) -> bool:
        """Whether all have closed forms."""
        return not self.rough

    def cuts(self, outputs: Sequence[chances.Output], bits: int) -> list[Fraction]:
        """Where the densities have kinks, and how far out what is left does not count."""
        points = {point for output in outputs for point in (output.centre, output.low, output.high)}
        if "threshold_noise" not in self.noises and "noise" not in self.noises:
            return sorted(points | {min(points) - 1})
        if self.is_closed:
            of_first = closed(self.noises["noise" if "noise" in self.noises else "threshold_noise"])
            smallest = 1
            while of_first is not None and of_first.at(Fraction(-smallest))[0] > rational(1) / 2 ** (2 * bits):
                smallest *= 2
            return sorted(points | {min(points) - smallest, max(points) + smallest})
        first = self.rough.get("noise") or self.rough["threshold_noise"]
        low, high = first.reach(bits)  # what is outside of the cuts is no more than what is left of this noise there
        left, right = min(points) + low, max(points) + high
        if first.whole:
            return [Fraction(left.__floor__()), Fraction(right.__ceil__())]
        kinks = {point + kink for rough in self.rough.values() for kink in (*rough.kinks, Fraction(0)) for point in points}
        inside = {point for point in kinks if left < point < right}
        middle, step = (min(points) + max(points)) / 2, max(Fraction(1), max(points) - min(points))
        while step < right - left:
            inside |= {point for point in (middle - step, middle + step) if left < point < right}
            step *= 4
        return sorted({left, right} | inside)

    def evidence(self, outputs: Sequence[chances.Output], bits: int) -> dict[str, Any]:
        """Cuts, and those of each noise without a closed form, for all these outputs."""
        if self.is_closed:
            return {"cuts": [str(cut) for cut in self.cuts(outputs, ctx.prec)]}
        cuts = self.cuts(outputs, bits // 2 + 6 + self._smallness(outputs))
        grids = {}
        for name in self.noises:
            of_threshold, of_answers = name != "query_noise", name != "threshold_noise"
            points = [output.centre for output in outputs if of_threshold]
            points += [point for output in outputs if of_answers for point in (output.low, output.high)]
            grids[name] = self.rough[name].grid(cuts[0] - max(points), cuts[-1] - min(points) + self.rough[name].whole)
        return {
            "cuts": [str(cut) for cut in cuts],
            "grids": {name: [str(cut) for cut in grid] for name, grid in grids.items() if grid},
        }

    def _smallness(self, outputs: Sequence[chances.Output]) -> int:
        least = min(self.chance(output) for output in outputs)
        return min(200, int(-math.log2(least))) if least > 0 else 200

    def chance(self, output: chances.Output) -> float:
        """The probability of an output, about."""
        import numpy as np

        answers = self.rough["noise" if "noise" in self.rough else "query_noise"]
        first = self.rough.get("noise") or self.rough.get("threshold_noise")
        low, high, centre = float(output.low), float(output.high), float(output.centre)

        def height(t: Any) -> Any:
            found = answers.below(t - low) ** output.negatives
            return found * answers.above(t - high) ** output.positives if output.positives else found

        if first is None:
            return float(height(np.array([centre]))[0])
        if first.whole:
            return float((first.nodes.density * height(first.nodes.z + centre)).sum())
        t = np.unique(np.concatenate([first.nodes.z + centre, answers.nodes.z + low, answers.nodes.z + high]))
        values = first.height(t - centre) * height(t)
        return float((np.diff(t) * (values[1:] + values[:-1]) / 2).sum())
