"""Noisy counts by key that are told above a threshold: what is lost where a record is the first of a key.

Theorem: Counts by key are told with noise Z where that is at least tau; a key that no record has is never looked at. One record more, which
adds at most D > 0 to each of at most k keys, is the first of j of them. Each of these is told with probability at most p = P[Z >= tau - D],
and never without the record; the others are noises at shifts of at most D, behind a map. With delta of k - j such noises and P = 1 -
(1 - p)^j the whole has P + (1 - P) delta(eps - log(1 - P)) with the record first, and delta(eps + log(1 - P)) in the other order, for the
worst j; more keys of either sort are no better. Counts that others have may grow, and each of these pairs is reached, or come near.

Checked:
- the record has at most k keys, and every number of new ones has its own bound
- the noises of the others are as many as there may be
- p, enclosed; it is certainly below 1
- answers are integers where the noise is, and move by whole steps
- where keys alone are told, the lower bound is of new ones, and of one with a stated count

Source: docs/theory/selection.md#noisy-keys
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Final

from flint import arb

from dpverify.trusted.combinators.old_keys import most_keys, old_keys
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import divergence
from dpverify.trusted.facts.pairs import Curve, Pair, Profile, Rest, one_of, symmetric
from dpverify.trusted.facts.premises import curves_of
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import Rejected, Undecided, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num
from dpverify.trusted.kernel.fact import Parameters, Premises
from dpverify.trusted.kernel.integers import is_whole
from dpverify.trusted.kernel.model import NoisyKeys, on_integers
from dpverify.trusted.language.rationals import read_fraction, read_rising, to_whole
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.theories.selection.noise_laws import law

NAME: Final = "noisy-keys"
ASSUMED: Final = (
    "a record adds at most the stated sensitivity to the counts of at most so many keys, and nothing below 0",
    "a key that no record has is neither told nor looked at, and noises are independent of each other",
)
LOWER: Final = "some record adds the whole sensitivity to so many keys, new ones and ones with counts as large as may be"
_MOST: Final = 4_000


def infer(run: Run, parameters: Parameters, premises: Premises) -> Curve:
    """The curve of one run, from those of noises. Raises Rejected, Undecided, CertificateError.

    parameters: "new", numbers of new keys that rise from 0; for each, up to the next, a premise has the curve of as many noises as there
    may be, at the place {"noises": number}. "cuts" of the noise, where it has no closed form. "below": which of "new" the lower bound is
    of, by its place; beside these it has all other keys, or, where keys alone are told, one with the count "count", or none.
    """
    mechanism = run.part.mechanism
    if not isinstance(mechanism, NoisyKeys) or run.factor != ONE or run.mapped:
        raise Rejected(NAME, "the part", "it is not noisy keys, of neighbours that differ by one record")
    most, moved = most_keys(mechanism), run.part.sensitivity or ONE
    new = [int(to_whole(number, "new", NAME, 0, most)) for number in parameters["new"]]
    require(new[:1] == [0] and all(low < high for low, high in pairwise(new)), Rejected(NAME, "new", "they do not rise from 0"))
    noises = curves_of(premises, [Run(old_keys(run.part, most - number)) for number in new if number < most], NAME)
    first = First(mechanism, moved, read_rising(parameters.get("cuts", []), "cuts", NAME, 0, _MOST))
    known = [*noises, *(Curve(nothing, nothing, ()),) * (new[-1] == most)]
    ends = [*(number - 1 for number in new[1:]), most]
    uppers = [first.beside(curve.upper, number) for curve, number in zip(known, ends, strict=True) if curve.upper is not None]
    upper = one_of(uppers) if len(uppers) == len(known) else None
    rules = tuple(dict.fromkeys((NAME, *(name for curve in known for name in curve.rules))))
    lower: Pair | None = None
    below: tuple[str, ...] = ()
    told = parameters.get("below")
    if told is not None:
        number = to_whole(told, "below", NAME, 0, len(new) - 1)
        here = known[number]
        if mechanism.report == "keys":
            one = first.counted(read_fraction(parameters, "count", NAME)) if "count" in parameters and new[number] < most else nothing
            lower = first.beside(one, new[number])
        elif here.lower is not None:  # as it comes it is of an answer and of one that is further up, which has the record
            every = [first.beside(curve.lower.reversed, j) for curve, j in zip(known, new, strict=True) if curve.lower is not None]
            choices = tuple(every) if len(every) == len(known) > 1 else ()
            lower = replace(first.beside(here.lower.reversed, new[number]), choices=choices)
        below = (LOWER, *here.below)
    assumed = tuple(dict.fromkeys((*ASSUMED, *(line for curve in known for line in curve.assumed))))
    return settled.single(run, Curve(upper, lower, rules, assumed, below))


nothing: Final = symmetric(lambda _: arb(0))
"""The pair of two equal distributions."""


class First:
    """What the first record of a key tells. Raises Rejected, Undecided for noise whose probabilities are not known."""

    def __init__(self, mechanism: NoisyKeys, moved: Expr, cuts: Sequence[Fraction]) -> None:
        threshold = mechanism.threshold
        if not isinstance(threshold, Num) or not isinstance(moved, Num) or not certainly_lt(ZERO, moved):
            raise Rejected(NAME, "threshold", "it and the sensitivity want rational numbers, the latter above 0")
        if on_integers(mechanism) and not is_whole(moved, {}):
            raise Rejected(NAME, "sensitivity", "it is no integer, as the counts are that noise on the integers is added to")
        self._whole, self._threshold, self.moved = on_integers(mechanism), threshold.value, moved.value
        self._law = per_precision(lambda: law(mechanism.noise, cuts))

    def chances(self, count: Fraction) -> Callable[[], tuple[arb, arb]]:
        """How probable it is that a key with a count is not told, and that it is, for the precision of the moment."""
        least = self._threshold - count
        point = Fraction(-(-least // 1)) if self._whole else least
        return per_precision(lambda: self._law().at(point))

    def beside(self, pair: Pair, new: int) -> Pair:
        """A pair with the record first, with so many new keys beside it. Raises Undecided where these may certainly be told."""
        if not new:
            return pair
        chances = self.chances(self.moved)
        if not chances()[0] > 0:
            raise Undecided(f"{NAME}: a new key is not certainly at times not told.")

        def untold() -> arb:
            """The logarithm of the probability that none of them is told."""
            return new * (-chances()[1]).log1p()

        def forward(epsilon: arb) -> arb:
            return -untold().expm1() + untold().exp() * pair.delta(epsilon - untold())

        def backward(epsilon: arb) -> arb:
            return pair.reversed.delta(epsilon + untold())

        def alone() -> arb:
            return -untold().expm1() + untold().exp() * (arb(0) if pair.rests is None else pair.rests[0]())

        rests: tuple[Rest, Rest] = alone, (lambda: arb(0)) if pair.rests is None else pair.rests[1]
        return Pair(divergence(forward), divergence(backward), rests=rests)

    def counted(self, count: Fraction) -> Pair:
        """Whether a key is told that others have, with a record more and without."""
        if count <= 0 or (self._whole and count.denominator != 1):
            raise Rejected(NAME, "count", "no key that others have has it")
        more, less = self.chances(count + self.moved), self.chances(count)

        def between(first: Callable[[], tuple[arb, arb]], other: Callable[[], tuple[arb, arb]]) -> Profile:
            def profile(epsilon: arb) -> arb:
                excess = (p - epsilon.exp() * q for p, q in zip(first(), other(), strict=True))
                return sum((gain.max(arb(0)) for gain in excess), arb(0))

            return divergence(profile)

        return Pair(between(more, less), between(less, more))
