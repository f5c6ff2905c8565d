"""Shuffling: what a local mechanism tells of each of n people, in no order, hides one of them among clones.

Theorem: One record is replaced; R0 and R1 are the laws of what its owner tells, R0/R1 between 1/rho and rho, and every other tells by a law
that is at least share (R0 + R1)/2: with share = 1/rho of a mechanism with the pure epsilon log rho, of a table the least of
2 R_x(y)/(R0 + R1)(y). R0 and R1 are one map of a first sort with probability p = rho/(1 + rho), or 1 - p, and of a second else; (R0 + R1)/2
is that map of a fair coin. So all that is told is a map of how many of each sort there are among the one and C ~ Bin(n - 1, share) others.
From below, the others have one record or two, and what counts is how many outputs are of some set.

Checked:
- of a table: every two rows that may be one's, the share by all rows, in exact numbers; else a pure epsilon, by a premise
- that nothing in another part says that two records are no neighbours of it
- the numbers of clones that are left out, by their probability
- from below: two rows that may be one's, how many of the others have each of two rows, the event of a set

Source: docs/theory/composition.md#shuffling, Feldman, McMillan & Talwar 2021, Theorem 3.1
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import permutations
from typing import Any, Final

from flint import arb

from dpverify.trusted.combinators.runs import Run, leaf
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import divergence, known
from dpverify.trusted.facts.pairs import Curve, Pair, greatest, symmetric
from dpverify.trusted.facts.premises import pure_of
from dpverify.trusted.kernel.balls import constant, rational
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected, Undecided, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, call, div, mul, num, sub
from dpverify.trusted.kernel.fact import Parameters, Premises
from dpverify.trusted.kernel.model import KaryResponse, Kernel, Matrix, OfRecords, Parallel, Shuffle, Subsample, Table, all_parts
from dpverify.trusted.language.rationals import read_whole, to_whole
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.theories.composition.bits import Bits, of_split
from dpverify.trusted.theories.composition.clones import Clones

NAME: Final = "shuffling"
ASSUMED: Final = ("people tell of their own records alone, by independent draws, and the order of what they tell is not seen",)
ANY: Final = "every two records are neighbours of what each person runs"
LOWER: Final = "the records that are worst for each other occur together"
MOST_PEOPLE: Final = 10**7
MOST_CLONES: Final = 200_000
_TWO: Final = 2

_Laws = tuple[Callable[[], arb], Callable[[], arb]]
"""rho and the share of clones, for the precision of the moment."""


def infer(run: Run, parameters: Parameters, premises: Premises) -> Curve:
    """The curve of a shuffle. Raises Rejected, Undecided, CertificateError.

    parameters: "ranges", for each of `laws_of` the least and the greatest number of clones that is looked at; "below", if given: the
    "first" and the "second" row of the one, how many "others" have each, and of a table the "outputs" that are counted. The premise, of
    what is no table and no response, is a bound on its pure epsilon.
    """
    shuffle = run.part.mechanism
    if not isinstance(shuffle, Shuffle) or run.factor != ONE:
        raise Rejected(NAME, "the part", "it is not shuffled, or neighbours differ by more than one person")
    people, local = people_of(shuffle), shuffle.part.mechanism
    assumed: tuple[str, ...] = ASSUMED
    if isinstance(local, Table | KaryResponse):
        require(not premises, CertificateError(f"{NAME}: what is shuffled is a table, of which no premise tells."))
        laws = list(laws_of(local))
    else:
        (premise,) = premises
        epsilon, grounds = pure_of(premise, leaf(Run(shuffle.part)), NAME)
        require_every_two(shuffle)
        rho = call("exp", epsilon)
        laws = [(known(rho), known(div(ONE, rho)))] if _positive(epsilon) else []
        assumed = tuple(dict.fromkeys((*ASSUMED, ANY, *grounds)))
    ranges = [_range(told, people) for told in parameters["ranges"]]
    pairs = [_of_clones(people, law, ends) for law, ends in zip(laws, ranges, strict=True)]
    upper = greatest(pairs) if pairs else symmetric(lambda _: arb(0))
    lower = of_split(*below(local, people, parameters["below"])) if "below" in parameters else None
    return settled.single(run, Curve(upper, lower, (NAME,), assumed, (LOWER,)))


def require_every_two(shuffle: Shuffle) -> None:
    """That nothing says that two records are no neighbours of the part: lists of pairs, inputs that are near, data sets for records."""
    for part in all_parts(shuffle):
        near = isinstance(part.mechanism, Kernel) and part.sensitivity is not None
        if near or getattr(part.mechanism, "adjacent", None) is not None:
            raise Rejected(NAME, "the part", "it says that not every two of its inputs are neighbours, as two records may be")
        if isinstance(part.mechanism, OfRecords | Subsample | Parallel):
            raise Rejected(NAME, "the part", "its neighbours differ by one of many records, and each person has one alone")


def _positive(epsilon: Expr) -> bool:
    """Whether an epsilon is not 0, which is decided. Raises Undecided."""
    positive = certainly_lt(ZERO, epsilon)
    require(positive or certainly_le(epsilon, ZERO), Undecided(f"{NAME}: whether the epsilon of the part is positive is not known."))
    return positive


def people_of(shuffle: Shuffle) -> int:
    """How many people there are. Raises Rejected for what is no number, and for very many."""
    people = shuffle.people
    if not isinstance(people, Num) or people.value.denominator != 1 or not 1 <= people.value <= MOST_PEOPLE:
        raise Rejected(NAME, "people", f"it wants an integer of at most {MOST_PEOPLE}")
    return int(people.value)


def _range(told: Any, people: int) -> tuple[int, int]:
    low, high = (to_whole(end, "ranges", NAME, 0, people - 1) for end in told)
    require(0 <= high - low <= MOST_CLONES, Rejected(NAME, "ranges", f"they do not rise, or hold more than {MOST_CLONES} numbers"))
    return low, high


def _of_clones(people: int, law: _Laws, ends: tuple[int, int]) -> Pair:
    return symmetric(divergence(Clones(people - 1, *law, *ends).profile))


# -- tables -----------------------------------------------------------------------------------------------------------


def laws_of(local: Table | KaryResponse) -> Iterator[_Laws]:
    """What the two laws of the one come to, for every two of which it may have these; each once. Raises Rejected."""
    if isinstance(local, KaryResponse):
        yield from _of_responses(local)
        return
    rows, found = rational_rows(local), dict[tuple[Fraction, Fraction], None]()
    for i, j in permutations(range(len(rows)), 2) if local.adjacent is None else local.adjacent:
        one, two = rows[i], rows[j]
        if one == two:
            continue
        if any((p == 0) != (q == 0) for p, q in zip(one, two, strict=True)):
            raise Rejected(NAME, "the table", "an output tells two records apart for certain")
        told = [y for y, p in enumerate(one) if p]
        rho = max(max(one[y] / two[y], two[y] / one[y]) for y in told)
        found[rho, min(2 * row[y] / (one[y] + two[y]) for row in rows for y in told)] = None
    for rho, share in found:
        require(share > 0, Rejected(NAME, "the table", "others may not tell what the one tells, and hide nothing"))
        yield per_precision(partial(rational, rho)), per_precision(partial(rational, share))


def _of_responses(local: KaryResponse) -> Iterator[_Laws]:
    """The truth with p, each of k - 1 others with q = (1 - p)/(k - 1), less than p: rho is p/q, and the share 2 q/(p + q)."""
    truth, other = mul(sub(local.k, ONE), local.p), sub(ONE, local.p)
    if not certainly_lt(ZERO, other) or not certainly_lt(other, truth):
        raise Rejected(NAME, "the response", "the truth is certain, or not more probable than each other answer: state it as a table")
    yield known(div(truth, other)), known(div(mul(num(2), other), sub(truth, mul(num(-1), other))))


def rational_rows(local: Table) -> Matrix:
    """The rows of a table of rational numbers. Raises Rejected for others."""
    rows = tuple(tuple(entry.value for entry in row if isinstance(entry, Num)) for row in local.rows)
    require([*map(len, rows)] == [*map(len, local.rows)], Rejected(NAME, "the table", "its entries are not all rational numbers"))
    return rows


def below(local: Any, people: int, told: Mapping[str, Any]) -> tuple[Callable[[], Bits], int]:
    """How many outputs are of a set, on two data in which the others have at most two records; how many of them the first."""
    known, neighbours = chances(local, told)
    pair = (read_whole(told, "first", NAME, 0, len(known) - 1), read_whole(told, "second", NAME, 0, len(known) - 1))
    require(neighbours is None or pair in neighbours, Rejected(NAME, "below", "these rows are no neighbours"))
    if not certainly_lt(known[pair[1]], known[pair[0]]):
        raise Rejected(NAME, "below", "the first of the rows does not tell the outputs more often")
    counts = [to_whole(count, "others", NAME, 0) for count in told["others"]]
    rows = [x for x, count in enumerate(counts) if count] or [0]
    if (len(counts), sum(counts)) != (len(known), people - 1) or len(rows) > _TWO:
        raise Rejected(NAME, "others", "they are not as many as there are, one number for each row, of which two at most are above 0")
    entries = [known[x] for x in (rows[0], rows[-1], *pair)]
    return per_precision(lambda: Bits(people - 1, *map(constant, entries))), counts[rows[0]]


def chances(local: Any, told: Mapping[str, Any]) -> tuple[list[Expr], Sequence[tuple[int, int]] | None]:
    """With each record, the chance of an output of the set; of a response, of the truth and of another answer; which are neighbours."""
    if isinstance(local, KaryResponse):
        return [local.p, div(sub(ONE, local.p), sub(local.k, ONE))], None
    if not isinstance(local, Table):
        raise Rejected(NAME, "below", "what is shuffled is no table")
    rows = rational_rows(local)
    outputs = {to_whole(output, "outputs", NAME, 0, len(rows[0]) - 1) for output in told["outputs"]}
    return [num(sum((row[y] for y in outputs), Fraction(0))) for row in rows], local.adjacent
