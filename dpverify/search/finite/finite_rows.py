"""Looks for the pairs of rows of finite mechanisms together that are about the worst ones, for the lower bound on their curve."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any, Final

from flint import arb

from dpverify.trusted.combinators.one_pair import OnePair
from dpverify.trusted.combinators.runs import Run, leaf
from dpverify.trusted.facts.pairs import Pair
from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.model import Subsample
from dpverify.trusted.theories.composition.laws import MOST_PRODUCTS, Choice, Game, Law, Product, product_pair
from dpverify.trusted.theories.composition.rules import finite_composition
from dpverify.trusted.theories.curves.faces import faces_of

MOST_WORK: Final = 60_000
"""The most products of a probability and a value for one epsilon, where there are choices."""
MOST_SAMPLED: Final = 200_000
"""The same where some parts are samples, of which no other curve is as sharp."""
MOST_COMBINED: Final = 64
"""Up to so many combinations of pairs the best one is looked for."""
_BITS: Final = 64


def parameters(runs: Sequence[Run], epsilon: Fraction, most: int = MOST_WORK) -> dict[str, Any]:
    """The parameters of the rule for finite mechanisms. epsilon: where the rows are to be the worst. most: of the work without samples.

    Raises Rejected for other mechanisms, Undecided where there are too many states.
    """
    choices = [finite_composition.choice(run) for run in runs]
    if all(len(choice.laws) == 1 for choice in choices):
        return {}
    sampled = any(isinstance(run.part.mechanism, Subsample) for run in runs)
    if Game([(choice.laws, choice.times) for choice in choices]).work > (MOST_SAMPLED if sampled else most):
        raise Undecided(f"{finite_composition.NAME}: more states than are wanted.")
    with precision(_BITS):
        return {"rows": _worst(choices, rational(epsilon).mid())}


def row(run: Run, epsilon: Fraction) -> dict[str, Any]:
    """The parameter of the rule about one run: the pair of rows that is worst at an epsilon; nothing where there is but one pair."""
    asked = leaf(run)
    faces = faces_of(asked.mechanism, asked.sensitivity)
    every = list(faces.all.values())
    if len(every) == 1 or isinstance(run.part, OnePair):
        return {}
    at = rational(epsilon).mid()
    worst = max(every, key=lambda face: face.at(at).mid())
    other = faces.swapped(worst)
    # a sample keeps what the first of the two alone has
    better = worst.at(at).overlaps(other.at(at)) and other.rest() > worst.rest()
    return {"row": every.index(other if better else worst)}


def _worst(choices: Sequence[Choice], epsilon: arb) -> list[int]:
    """The rows whose product is worst where there are few combinations, else those that are worst by themselves."""
    alone = [_best([_both(product_pair([(law, 1)]), epsilon) for law in choice.laws]) for choice in choices]
    count = prod(len(choice.laws) for choice in choices)
    if count > MOST_COMBINED or count * Product(_laws(choices, alone)).work > MOST_PRODUCTS:
        return alone
    combined = list(product(*(range(len(choice.laws)) for choice in choices)))
    return list(combined[_best([_both(product_pair(_laws(choices, rows)), epsilon) for rows in combined])])


def _laws(choices: Sequence[Choice], rows: Sequence[int]) -> list[tuple[Law, int]]:
    return [(choice.laws[row], choice.times) for choice, row in zip(choices, rows, strict=True)]


def _both(pair: Pair, epsilon: arb) -> tuple[arb, arb, arb]:
    """The worse order's profile, the first order's, and what only the first of the two can give."""
    assert pair.rests is not None
    return pair.worst(epsilon), pair.forward(epsilon), pair.rests[0]()


def _best(found: Sequence[tuple[arb, arb, arb]]) -> int:
    """The greatest in the first order; of those not told apart the one with the greatest rest, which a sample keeps."""
    top = max(found, key=lambda values: values[0].mid())
    tied = [i for i, values in enumerate(found) if values[0].overlaps(top[0])]
    first = max((found[i][1] for i in tied), key=lambda forward: forward.mid())
    return max((i for i in tied if found[i][1].overlaps(first)), key=lambda i: found[i][2].mid())
