"""What combinators do with their parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dpverify.catalogue.formulas.boxes import APPLY, Box, Ident, Op, Words, brackets, comma, row
from dpverify.catalogue.formulas.pieces import AT_MOST, OF_X, PRIMED, X, held
from dpverify.catalogue.formulas.typeset import ATOM, typeset
from dpverify.trusted.claims.kinds import RUNS
from dpverify.trusted.kernel.expr import mul
from dpverify.trusted.kernel.model import BestOf, Compose, Group, Lipschitz, Parallel, PostProcess, Shuffle, Subsample


def compose(mechanism: Compose, runs: Sequence[Box]) -> Iterator[Box]:
    """One part after the other."""
    first, *rest = runs
    yield row(first, *(part for run in rest for part in (Op("∘"), run)))


def subsample(mechanism: Subsample, runs: Sequence[Box]) -> Iterator[Box]:
    """A part on a random sample."""
    how = "a Poisson sample" if mechanism.scheme == "poisson" else "a sample without replacement"
    sample = row(Ident("S"), Words(f" {how} at rate "), typeset(mechanism.rate))
    yield from (row(*runs, Op("∘"), Ident("S")), sample)


def group(mechanism: Group, runs: Sequence[Box]) -> Iterator[Box]:
    """A part for neighbours further apart."""
    yield from (*runs, row(Words("neighbours differ in "), typeset(mechanism.size), Words(" records")))


def post_process(mechanism: PostProcess, runs: Sequence[Box]) -> Iterator[Box]:
    """A map of what a part puts out."""
    named = Words(f"\u201c{mechanism.map}\u201d") if mechanism.map else Ident("g")
    yield row(named, Op("∘"), *runs)


def parallel(mechanism: Parallel, runs: Sequence[Box]) -> Iterator[Box]:
    """Parts side by side."""
    yield row(brackets(comma(*runs)), Words(" on disjoint parts of x"))


def lipschitz(mechanism: Lipschitz, runs: Sequence[Box]) -> Iterator[Box]:
    """A part after a map of the data."""
    t = Ident("T")
    images, inputs = (
        row(Ident("d"), APPLY, brackets(comma(*pair))) for pair in ((row(t, OF_X), row(t, APPLY, brackets(PRIMED))), (X, PRIMED))
    )
    most = typeset(mul(mechanism.constant, held("distance")), {held("distance").name: (inputs, ATOM)})
    yield from (row(*runs, Op("∘"), t), row(images, AT_MOST, most))


def shuffle(mechanism: Shuffle, runs: Sequence[Box]) -> Iterator[Box]:
    """A part on the record of each person."""
    yield row(Words("in no order, of each of "), typeset(mechanism.people), Words(" people: "), *runs)


def best_of(mechanism: BestOf, runs: Sequence[Box]) -> Iterator[Box]:
    """The best of several outputs."""
    k = Ident("K")
    yield row(Words("the best of "), k, Words(" outputs of "), *runs)
    numbers = comma(*(row(Words(f"{name} "), typeset(value)) for name, value in zip(RUNS[mechanism.law], mechanism.numbers, strict=True)))
    yield row(k, Words(f" {_LAWS[mechanism.law]}, "), numbers)


_LAWS: Final = {
    "geometric": "has a geometric law",
    "logarithmic": "has a logarithmic law",
    "poisson": "has a Poisson law",
    "negative_binomial": "has a negative binomial law of at least 1",
    "fixed": "is fixed",
}
