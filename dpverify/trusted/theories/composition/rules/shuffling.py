"""Shuffling: what a local mechanism tells of each of n people, in no order, hides one of them among clones.

Theorem: One record is replaced; R0 and R1 are the laws of what its owner tells. For every two records the mechanism has the pure epsilon
log rho: R0/R1 is between 1/rho and rho, and every other tells by a law that is at least (R0 + R1)/(2 rho). R0 and R1 are one map of a first
sort with probability p = rho/(1 + rho), or 1 - p, and of a second else; (R0 + R1)/2 is that map of a fair coin. So all that is told is a
map of how many of each sort there are among the one and C ~ Bin(n - 1, 1/rho) others.

Checked:
- a pure epsilon, by a premise
- that nothing in the part says that two records are no neighbours of it
- the numbers of clones that are left out, by their probability

Source: docs/theory/composition.md#shuffling, Feldman, McMillan & Talwar 2021, Theorem 3.1
"""

from __future__ import annotations

from typing import Final

from flint import arb

from dpverify.trusted.combinators.runs import Run, leaf
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import divergence, known
from dpverify.trusted.facts.pairs import Curve, symmetric
from dpverify.trusted.facts.premises import pure_of
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import Rejected, Undecided, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, call
from dpverify.trusted.kernel.fact import Parameters, Premises
from dpverify.trusted.kernel.model import Kernel, OfRecords, Parallel, Shuffle, Subsample, all_parts
from dpverify.trusted.language.rationals import to_whole
from dpverify.trusted.theories.composition.clones import Clones

NAME: Final = "shuffling"
ASSUMED: Final = ("people tell of their own records alone, by independent draws, and the order of what they tell is not seen",)
ANY: Final = "every two records are neighbours of what each person runs"
LOWER: Final = "the records that are worst for each other occur together"
MOST_PEOPLE: Final = 10**7
MOST_CLONES: Final = 200_000


def infer(run: Run, parameters: Parameters, premises: Premises) -> Curve:
    """The curve of a shuffle, from above. Raises Rejected, Undecided, CertificateError.

    parameters: "range", the least and the greatest number of clones that is looked at. The premise is a bound on the part's pure epsilon.
    """
    shuffle = run.part.mechanism
    if not isinstance(shuffle, Shuffle) or run.factor != ONE:
        raise Rejected(NAME, "the part", "it is not shuffled, or neighbours differ by more than one person")
    others = people_of(shuffle) - 1
    (premise,) = premises
    epsilon, grounds = pure_of(premise, leaf(Run(shuffle.part)), NAME)
    require_every_two(shuffle)
    low, high = (to_whole(end, "range", NAME, 0, others) for end in parameters["range"])
    require(0 <= high - low <= MOST_CLONES, Rejected(NAME, "range", f"it does not rise, or holds more than {MOST_CLONES} numbers"))
    upper = symmetric(lambda _: arb(0))
    if _positive(epsilon):
        upper = symmetric(divergence(Clones(others, known(call("exp", epsilon)), low, high).profile))
    return settled.single(run, Curve(upper, None, (NAME,), tuple(dict.fromkeys((*ASSUMED, ANY, *grounds)))))


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
