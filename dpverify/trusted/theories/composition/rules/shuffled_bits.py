"""Shuffled bits: how many of n people tell one of two outputs, from above for all that the others may have.

Theorem: n people tell a bit, with probability r_x on the record x, and one record is replaced; more and less are the greatest and the
least r_x. No two data are told apart better than where the one has these two chances, m of the others the one and the rest the other.
With a = more - e^eps less > 0, b = a + e^eps - 1 and X the number of those others who tell it, the tight delta is the greatest
f(m, t) = a P[X >= t - 1] - b P[X >= t] over m and t, which first rises and then falls in t; it is 0 where a <= 0. Between two splits m at
which f is known it is at most as much greater as the second derivatives of a smooth function through its values allow.

Checked:
- the least and the greatest chance, exactly
- at every split that is told, that values rise below and fall above those that are looked at, by enclosed sums
- between two splits, the same for all, and the second and third derivatives, by sums over cells of angles with all else outside
- from below: that the two records are neighbours; the value at one split

Source: docs/theory/composition.md#shuffled-bits
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import divergence, kept
from dpverify.trusted.facts.pairs import ALIKE, Curve, Pair, Profile
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le
from dpverify.trusted.kernel.errors import CertificateError, Rejected, require
from dpverify.trusted.kernel.expr import ONE, Expr, num, sub
from dpverify.trusted.kernel.fact import Parameters, Premises
from dpverify.trusted.kernel.model import KaryResponse, Shuffle, Table
from dpverify.trusted.language.rationals import to_whole
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.theories.composition.bits import Bits, of_split
from dpverify.trusted.theories.composition.rules import shuffling

NAME: Final = "shuffled-bits"
ASSUMED: Final = shuffling.ASSUMED
MOST_SPLITS: Final = 5_000


def infer(run: Run, parameters: Parameters, premises: Premises) -> Curve:
    """The curve of a shuffle. Raises Rejected, Undecided, CertificateError.

    parameters: "splits", for the bit and, where that is another claim, for its complement: how many of the others have the greater chance
    of telling it, from none to all; "below", if given, that number for the bit.
    """
    shuffle = run.part.mechanism
    require(not premises, CertificateError(f"{NAME}: it rests on no premise."))
    if not isinstance(shuffle, Shuffle) or run.factor != ONE:
        raise Rejected(NAME, "the part", "it is not shuffled, or neighbours differ by more than one person")
    others, local = shuffling.people_of(shuffle) - 1, shuffle.part.mechanism
    (more, less), both = chances(local)
    if certainly_equal(more, less):
        return settled.single(run, Curve(ALIKE, None, (NAME,), ASSUMED))
    make, told = bits(others, more, less), [_splits(each, others) for each in parameters["splits"]]
    alike = certainly_equal(more, sub(ONE, less))
    require(len(told) == 2 - alike, CertificateError(f"{NAME}: it wants {2 - alike} lists of splits."))
    makes = (make, per_precision(lambda: make().complement))
    profiles = [_worst(each, splits) for each, splits in zip(makes, told, strict=False)]
    lower = None
    if "below" in parameters:
        require(both, Rejected(NAME, "below", "the records of the least and the greatest chance are no neighbours"))
        lower = of_split(make, to_whole(parameters["below"], "below", NAME, 0, others))
    upper = Pair(profiles[0], profiles[-1])
    return settled.single(run, Curve(upper, lower, (NAME,), ASSUMED, (shuffling.LOWER,)))


def chances(local: Any) -> tuple[tuple[Expr, Expr], bool]:
    """The greatest and the least chance of the first output, and whether their records are neighbours in both orders. Raises Rejected."""
    if isinstance(local, KaryResponse) and certainly_equal(local.k, num(2)):
        lie = sub(ONE, local.p)
        return ((local.p, lie) if certainly_le(lie, local.p) else (lie, local.p)), True
    if not isinstance(local, Table) or len(local.rows[0]) != 2:
        raise Rejected(NAME, "the part", "it is no table of two outputs, and no response of two answers")
    first = [row[0] for row in local.rows]
    more = next((i for i, p in enumerate(first) if all(certainly_le(q, p) for q in first)), None)
    less = next((i for i, p in enumerate(first) if all(certainly_le(p, q) for q in first)), None)
    if more is None or less is None:
        raise Rejected(NAME, "the table", "which row is the greatest, or the least, is not known")
    listed = local.adjacent is None or {(more, less), (less, more)} <= {*local.adjacent}
    return (first[more], first[less]), listed


def _splits(told: Any, others: int) -> list[int]:
    """Numbers of others that rise from none to all. Raises CertificateError."""
    wrong = CertificateError(f"{NAME}: the splits are no list of at most {MOST_SPLITS} numbers that rise from 0 to {others}.")
    require(isinstance(told, list) and 0 < len(told) <= MOST_SPLITS, wrong)
    found = [to_whole(split, "splits", NAME, 0, others) for split in told]
    require((found[0], found[-1]) == (0, others) and all(low < high for low, high in pairwise(found)), wrong)
    return found


def bits(others: int, more: Expr, less: Expr) -> Callable[[], Bits]:
    """How many tell the bit, where the one has the greater chance on the first data."""
    return per_precision(lambda: Bits(others, *map(constant, (more, less, more, less))))


def _worst(make: Callable[[], Bits], splits: list[int]) -> Profile:
    return divergence(kept(lambda epsilon: make().worst(splits, epsilon)))
