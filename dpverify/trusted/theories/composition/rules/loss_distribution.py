"""The curve of a composition by privacy-loss distributions, from the curves of its parts.

Theorem: Convolving masses at equally spaced losses whose profile is nowhere below (above) that of each part gives a profile that is nowhere
below (above) that of the parts' composition. Where one of several pairs is chosen after what was told before, the greatest of the products
with what is then left bounds what may be won, from the last part back.

Checked:
- the masses of every part bound its profile at every epsilon, from enclosures of it
- every product is exact and rounded once in the safe direction
- what leaves the range is moved in the safe direction, mass at infinity is kept
- a bound from below is the profile of two distributions, whatever the masses
- every pair of a part that may be chosen is looked at, by itself or in a group
- what is reached by choosing is told of each epsilon alone: what is built on it has one pair

Source: docs/theory/composition.md#loss-distribution, Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from operator import itemgetter
from typing import Any, Final, NamedTuple

from flint import arb

from dpverify.trusted.combinators.runs import Run, merged
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import falling
from dpverify.trusted.facts.pairs import Curve, Evidence, Pair, Profile, Rest, greatest
from dpverify.trusted.facts.premises import curves_of
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.language.rationals import to_whole
from dpverify.trusted.theories.composition import losses
from dpverify.trusted.theories.composition.grid import RULE, Grid

NAME: Final = RULE
ASSUMED: Final = ("the parts draw independent noise",)
CHOSEN: Final = "which part is next, and what it asks, is chosen after what was told before"


def infer(run: Run, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> Curve:
    """The curve of a composition from those of one run of each part. Raises Rejected, CertificateError.

    parameters: as of `distributions`.
    """
    runs = merged(run.part, run.factor)
    parts = curves_of(premises, [replace(inner, times=1) for inner in runs], NAME)
    return settled.together(run, distributions(parts, [inner.times for inner in runs], parameters))


def distributions(parts: Sequence[Curve], times: Sequence[int], evidence: Evidence, seen: bool = True) -> Curve:
    """Bounds on both sides, from the parts' upper pairs and from their lower pairs. Raises Rejected, CertificateError.

    parameters: "grid", and "reverse" for a grid of its own for the second order, where the parts' two orders differ. "chosen", where it
    is not the greatest pair that stands for each part: for each its pairs, by their numbers, in groups. Who chooses has the greatest of a
    group, from below the first of it, and the grids have a range for each group. seen: what the parts before told, before it is chosen.
    """
    grids = [losses.read_grid(evidence[key]) if key in evidence else None for key in ("grid", "reverse")]
    if grids == [None, None]:
        raise Rejected(NAME, "grid", "neither order has one.")
    uppers = [part.upper for part in parts if part.upper is not None]
    lowers = [part.lower for part in parts if part.lower is not None]
    above = _Bounds(partial(losses.upper_sums, seen=seen), losses.Sums.mirrored_above)
    below = _Bounds(partial(losses.lower_sums, seen=seen), losses.Sums.mirrored, losses.completed)
    groups = [_groups(part, told) for part, told in zip(parts, evidence.get("chosen", [()] * len(parts)), strict=True)]
    upper = lower = None
    if len(uppers) == len(parts):
        upper = _pair(_listed(uppers, groups, times, greatest), grids, above)
    if len(lowers) == len(parts):
        alone = [replace(pair, choices=()) for pair in lowers]
        lower = replace(_pair(_listed(alone, groups, times, greatest), grids, below), rests=_rests(lowers, times))
        if any(groups):
            chosen = _pair(_listed(lowers, groups, times, itemgetter(0)), grids, below)
            lower = replace(lower, reached=replace(chosen, rests=lower.rests))
    rules = tuple(dict.fromkeys((NAME, *(rule for part in parts for rule in part.rules))))
    assumed = tuple(dict.fromkeys((*ASSUMED, *(line for part in parts for line in part.assumed))))
    turns = (CHOSEN,) * (seen and any(groups))
    return Curve(upper, lower, rules, assumed, tuple(dict.fromkeys((*turns, *(line for part in parts for line in part.below)))))


class _Bounds(NamedTuple):
    """One side: its sums, their profile in the other order, and what is handed on of an epsilon and the profile there."""

    sums: losses.Rounded
    mirrored: Callable[[losses.Sums, arb], arb]
    adapted: Callable[[arb, arb], arb] = lambda _, profile: profile


def _groups(part: Curve, told: Sequence[Sequence[Any]]) -> list[list[int]]:
    """The numbers of a part's pairs in groups; none where the greatest of all stands for the part. Raises Rejected, CertificateError."""
    if not told:
        return []
    pairs = max(len(side.choices) for side in (part.upper, part.lower) if side is not None)
    groups = [[to_whole(number, "chosen", NAME, 0, pairs - 1) for number in group] for group in told]
    every = sorted(number for group in groups for number in group)
    require(all(groups) and every == list(range(pairs)), Rejected(NAME, "chosen", "it does not name each pair of a part once"))
    return groups


def _listed(
    pairs: Sequence[Pair], groups: Sequence[list[list[int]]], times: Sequence[int], of: Callable[[Sequence[Pair]], Pair]
) -> list[losses.Part]:
    """The parts, each with one of every group of its pairs; with one pair, as often as there are groups, where it has no choices."""
    listed = list[losses.Part]()
    for pair, told, count in zip(pairs, groups, times, strict=True):
        chosen = [of([pair.choices[i] for i in group]) if pair.choices else pair for group in told]
        listed.append((chosen or [pair], count))
    return listed


def _pair(parts: Sequence[losses.Part], grids: Sequence[Grid | None], side: _Bounds) -> Pair:
    """One bound on both orders of a composition, made when first asked for; they are one where every part's are.

    An order without a grid has the mirrored profile of the other one.
    """

    def composed(ordered: Sequence[losses.Part], grid: Grid) -> tuple[Profile, Profile]:
        made = cache(lambda: side.sums(ordered, grid))
        straight = falling(lambda epsilon: side.adapted(epsilon, made().at(epsilon)))
        return straight, falling(lambda epsilon: side.adapted(epsilon, side.mirrored(made(), epsilon)))

    first, second = grids
    forward, mirrored = composed(parts, first) if first is not None else (None, None)
    alike = forward is not None and all(pair.forward is pair.backward for pairs, _ in parts for pair in pairs)
    if second is not None and not alike:
        mirrored, turned = composed([([pair.reversed for pair in pairs], times) for pairs, times in parts], second)
        forward = forward or turned
    assert forward is not None and mirrored is not None
    return Pair(forward, forward if alike else mirrored, everywhere=True)


def _rests(pairs: Sequence[Pair], times: Sequence[int]) -> tuple[Rest, Rest] | None:
    """In each order, that some part has an output which only the first side has: 1 less the chance that none has."""
    if not any(pair.rests for pair in pairs):
        return None

    def mass(order: int) -> arb:
        none = arb(1)
        for pair, count in zip(pairs, times, strict=True):
            none *= 1 if pair.rests is None else (1 - pair.rests[order]()) ** count
        return 1 - none

    return lambda: mass(0), lambda: mass(1)
