"""The privacy blanket: what n people tell of finitely many outputs hides the record of one by what others tell whatever they have.

Theorem: n people run a table R, and one record is replaced, i by j. Let w_y be at most every R_x(y), and above 0 where R_i(y) is; and X =
(R_i(y) - e^eps R_j(y))/w_y with the probability w_y, for each such output y, else 0. Whatever the others have, H of what is told is at most
(1/n) E max(0, X_1 + ... + X_n), for independent X_l of that law. Where all others have the record z, it is just that with w_y = R_z(y).

Checked:
- w_y, the least of its column, is positive, or the first of the two never tells y
- each two records that are neighbours, in both orders; of responses all two are alike
- the sum, by its Laplace transform, enclosed between what it is with Gaussian noise and what that adds
- from below: that the two records are neighbours, and that there is the one that the others have

Source: docs/theory/composition.md#privacy-blanket
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from typing import Any, Final, NamedTuple

from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import divergence
from dpverify.trusted.facts.pairs import ALIKE, Curve, Pair, Profile, greatest
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, call, div, num, sub
from dpverify.trusted.kernel.fact import Parameters, Premises
from dpverify.trusted.kernel.model import KaryResponse, Shuffle, Table
from dpverify.trusted.language.rationals import to_whole
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.theories.composition import blanket
from dpverify.trusted.theories.composition.rules import shuffling

NAME: Final = "privacy-blanket"
ASSUMED: Final = shuffling.ASSUMED
_MOST: Final = 64

Sorts = Counter[tuple[Expr, Expr, Expr]]
"""How many outputs others tell with one probability, and the one with these two."""


class Outputs(NamedTuple):
    """The rows of a table, where columns of one sort stand once; how many there are of each; every two neighbours, once."""

    rows: tuple[tuple[Expr, ...], ...]
    times: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]

    def sorts(self, alike: tuple[Expr, ...], pair: tuple[int, int]) -> Sorts:
        """The outputs as two records tell them. Raises Rejected where others may not tell what the first of the two does."""
        found = Sorts()
        for *sort, times in zip(alike, *(self.rows[row] for row in pair), self.times, strict=True):
            if certainly_lt(ZERO, sort[0]):
                found[tuple(sort)] += times
            elif not certainly_le(sort[1], ZERO):
                raise Rejected(NAME, "the part", "others may not tell what the one tells, and hide nothing")
        return found


def infer(run: Run, parameters: Parameters, premises: Premises) -> Curve:
    """The curve of a shuffle. Raises Rejected, Undecided, CertificateError.

    parameters: "smoothing", about half of the bits to which the sums are enclosed; "below", if given: the "pair" of the one's rows, and the
    row that all "others" have. Of a response the rows are the first two answers, a third, if there is one, and each is like any other.
    """
    shuffle = run.part.mechanism
    require(not premises, CertificateError(f"{NAME}: it rests on no premise."))
    if not isinstance(shuffle, Shuffle) or run.factor != ONE:
        raise Rejected(NAME, "the part", "it is not shuffled, or neighbours differ by more than one person")
    people, outputs = shuffling.people_of(shuffle), outputs_of(shuffle.part.mechanism)
    smoothing = int(to_whole(parameters["smoothing"], "smoothing", NAME, 1, _MOST))
    alike = tuple(call("min", *column) for column in zip(*outputs.rows, strict=True))
    known = dict[frozenset[Any], Profile]()

    def pair_of(common: tuple[Expr, ...], pair: tuple[int, int]) -> Pair:
        """Two records, in both orders; the same law once."""
        laws = [outputs.sorts(common, order) for order in (pair, pair[::-1])]
        return Pair(*(known.setdefault(frozenset(law.items()), _profile(people, law, smoothing)) for law in laws))

    pairs = [pair_of(alike, pair) for pair in outputs.pairs if outputs.rows[pair[0]] != outputs.rows[pair[1]]]
    lower = None
    if "below" in parameters:
        one, other, others = _below(parameters["below"], outputs)
        lower = pair_of(outputs.rows[others], (one, other))
    return settled.single(run, Curve(greatest(pairs) if pairs else ALIKE, lower, (NAME,), ASSUMED, (shuffling.LOWER,)))


def outputs_of(local: Any) -> Outputs:
    """What each person runs, a table or a response. Raises Rejected for another part."""
    if isinstance(local, Table):
        size = range(len(local.rows))
        listed = tuple(combinations(size, 2)) if local.adjacent is None else local.adjacent
        return Outputs(local.rows, (1,) * len(local.rows[0]), tuple(dict.fromkeys((min(pair), max(pair)) for pair in listed)))
    if not isinstance(local, KaryResponse) or not isinstance(local.k, Num):
        raise Rejected(NAME, "the part", "it is no table, and no response with a number of answers")
    answers, lie = int(local.k.value), div(sub(ONE, local.p), sub(local.k, num(1)))
    told = min(answers, 3)  # beside these the answers are alike
    rows = tuple(tuple(local.p if x == y else lie for y in range(min(answers, told + 1))) for x in range(told))
    return Outputs(rows, (1,) * told + (answers - told,) * (answers > told), ((0, 1),))


def _below(told: Mapping[str, Any], outputs: Outputs) -> tuple[int, int, int]:
    most = len(outputs.rows) - 1
    one, other = (int(to_whole(row, "pair", NAME, 0, most)) for row in told["pair"])
    require((min(one, other), max(one, other)) in outputs.pairs, Rejected(NAME, "pair", "these rows are no neighbours"))
    return one, other, int(to_whole(told["others"], "others", NAME, 0, most))


def _profile(people: int, law: Sorts, smoothing: int) -> Profile:
    sorts = per_precision(lambda: [(*map(constant, sort), times) for sort, times in law.items()])
    return divergence(lambda epsilon: blanket.divergence(people, sorts(), smoothing, epsilon))
