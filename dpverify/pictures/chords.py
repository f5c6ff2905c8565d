"""Pairs that are evaluated seldom: values kept, and profiles known at a few epsilons, enclosed at all others by convexity.

In a = e^epsilon a profile H is convex and never rises. Between two points it is below their chord, and above the chords to their left
and to their right, prolonged; beyond the last point it is between 0 and its value there.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace

from flint import arb, ctx, fmpz

from dpverify.trusted.facts.evaluate import falling
from dpverify.trusted.facts.pairs import Pair, Profile
from dpverify.trusted.kernel.balls import exact, finite, rational


def remembered(pair: Pair) -> Pair:
    """The same pair, evaluated once at each ball of epsilons and working precision."""
    forward = _kept(pair.forward)
    backward = forward if pair.forward is pair.backward else _kept(pair.backward)
    return replace(pair, forward=forward, backward=backward)


def _kept(profile: Profile) -> Profile:
    values: dict[tuple[tuple[fmpz, fmpz], tuple[fmpz, fmpz], int], arb] = {}

    def at(epsilon: arb) -> arb:
        key = finite(epsilon).mid().man_exp(), epsilon.rad().man_exp(), ctx.prec
        if key not in values:
            values[key] = profile(epsilon)
        return values[key]

    return at


def cut(pair: Pair, last: arb) -> Pair:
    """The same pair, evaluated no further than at an exact epsilon: beyond it, a profile is between 0 and its value there."""
    forward = _cut(pair.forward, last)
    backward = forward if pair.forward is pair.backward else _cut(pair.backward, last)
    return replace(pair, forward=forward, backward=backward)


def _cut(profile: Profile, last: arb) -> Profile:
    def at(epsilon: arb) -> arb:
        return profile(epsilon) if epsilon <= last else profile(last).upper().max(arb(0)).union(arb(0))

    return falling(at)


def sketch(pair: Pair, epsilons: Iterable[arb]) -> Pair:
    """The same pair, evaluated once at these exact epsilons (nats) and at 0, and enclosed in between. Raises Undecided where that fails.

    The caller answers for the convexity of the profiles in e^epsilon. The values keep the working precision of this call.
    """
    points = sorted({exact(at) for at in epsilons} | {exact(arb(0))})
    balls = [rational(at) for at in points]
    forward = [finite(pair.forward(at)) for at in balls]
    if pair.forward is pair.backward:
        profile = _profile(balls, forward, forward)
        return Pair(profile, profile, rests=pair.rests)
    backward = [finite(pair.backward(at)) for at in balls]
    return Pair(_profile(balls, forward, backward), _profile(balls, backward, forward), rests=pair.rests)


def _profile(points: Sequence[arb], here: Sequence[arb], other: Sequence[arb]) -> Profile:
    """here, other: the heights at the points of this order and of the other, which tells one point below 0."""
    epsilons, heights = list(points), list(here)
    if len(points) > 1:
        factor = (-points[1]).exp()
        epsilons.insert(0, -points[1])
        heights.insert(0, 1 - factor + factor * other[1])
    places = [exact(at) for at in epsilons]
    alphas = [at.exp() for at in epsilons]

    def at(epsilon: arb) -> arb:
        place = exact(epsilon)
        i = bisect_right(places, place) - 1
        if places[i] == place:
            return heights[i]
        alpha, above = epsilon.exp(), heights[i].upper()
        bounds = [arb(0)]
        if i + 1 < len(places):
            chord = _on_line(alphas, heights, i, i + 1, alpha)
            above = chord.upper() if chord.is_finite() else above
            bounds.append(heights[i + 1].lower())
        lines = [_on_line(alphas, heights, j, j + 1, alpha) for j in (i - 1, i + 1) if j >= 0 and j + 1 < len(places)]
        bounds += [line.lower() for line in lines if line.is_finite()]  # none through points that this precision does not tell apart
        below = bounds[0]
        for bound in bounds[1:]:
            below = below.max(bound)
        return below.union(above)

    return falling(at)


def _on_line(alphas: Sequence[arb], heights: Sequence[arb], i: int, j: int, alpha: arb) -> arb:
    """The line through two points of the profile, at alpha."""
    return heights[i] + (heights[j] - heights[i]) * ((alpha - alphas[i]) / (alphas[j] - alphas[i]))
