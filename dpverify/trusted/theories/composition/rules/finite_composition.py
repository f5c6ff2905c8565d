"""Compositions of mechanisms with finitely many outputs, exactly, also where each next pair of rows is chosen after the outputs so far.

Theorem: In an adaptive composition of finite mechanisms delta(eps) is at most F(e^eps), the greatest P(S) - e^eps Q(S) of an adversary who
chooses the next part, and two adjacent rows of it in either order, after seeing all outputs so far: F_0(a) = (1 - a)_+ and F_(j+1)(a) = max
over choices of sum over outputs of p F_j(a q/p). As a greatest of finitely many profiles F is convex in a, does not rise, is 1 at a = 0 and
at least (1 - a)_+, hence the profile of one pair; its two orders agree, as every choice may be swapped. From below, the product of one pair
of rows for each part is what two neighbours have. Both are the same where no part has two pairs. Poisson samples of finite mechanisms have
finitely many privacy losses too: a ratio r of the two probabilities of an output becomes rate r + 1 - rate, with the record first.

Checked:
- every row is a distribution, exactly
- which probabilities are zero
- which products of ratios are formally equal
- rates are in (0, 1]
- the number of states, or of products, is within reach

Source: docs/theory/composition.md#finite-composition, Zhu, Dong & Wang 2022, on which functions are profiles, and Theorem 11
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dpverify.trusted.combinators.one_pair import OnePair
from dpverify.trusted.combinators.runs import Run, leaf, merged, occurs
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.pairs import Curve
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import Rejected, Undecided, require
from dpverify.trusted.kernel.expr import ONE, ZERO
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Subsample
from dpverify.trusted.language.rationals import to_whole
from dpverify.trusted.theories.composition.laws import Choice, Product, dominating_pair, of_face, product_pair, sampled
from dpverify.trusted.theories.composition.rules import poisson_subsampling
from dpverify.trusted.theories.curves.faces import faces_of

NAME: Final = "finite-composition"
ASSUMED: Final = ("the sampler is ideal",)


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of finite mechanisms and of Poisson samples of such. Raises Rejected; Undecided where there are too many; CertificateError.

    parameters: "rows", where there is a lower bound and some part has several pairs of rows: the number of one pair for every run.
    """
    runs = merged(run.part, run.factor)
    return settled.together(run, settled.several(runs, curve(runs, parameters)))


def curve(runs: Sequence[Run], parameters: Mapping[str, Any]) -> Curve:
    """The curve of runs together. Raises Undecided for too many outcomes or choices, CertificateError for rows that are none."""
    lower, of_samples = None, any(isinstance(run.part.mechanism, Subsample) for run in runs)
    if of_samples and any(run.mapped for run in runs) and any(run.own or not run.mapped for run in runs):
        raise Rejected(NAME, "the parts", "a map of the data may exchange the neighbours of some of them")
    choices = [choice(run) for run in runs]
    if all(len(choice.laws) == 1 for choice in choices):
        upper = lower = product_pair([(choice.laws[0], choice.times) for choice in choices])
    else:
        upper, rows = dominating_pair(choices), parameters.get("rows")
        if rows is not None:
            chosen = zip(choices, rows, strict=True)
            laws = [(choice.laws[to_whole(row, "rows", NAME, 0, len(choice.laws) - 1)], choice.times) for choice, row in chosen]
            lower = product_pair(laws)
    lower = lower if all(map(occurs, runs)) else None
    rules, assumed = (NAME, *(poisson_subsampling.NAME,) * of_samples), (*ASSUMED, *poisson_subsampling.ASSUMED * of_samples)
    return Curve(upper, lower, rules, assumed, (poisson_subsampling.LOWER,) * of_samples)


def choice(run: Run) -> Choice:
    """The laws that one copy may have, P with the record. Raises Rejected for what is not finite, Undecided for too many."""
    mechanism = run.part.mechanism
    if isinstance(mechanism, Subsample):
        return _of_a_sample(run, mechanism)
    asked = leaf(run)
    faces = faces_of(asked.mechanism, asked.sensitivity)
    if isinstance(run.part, OnePair):
        law = of_face(faces, faces.facing(*run.part.pair))
        return Choice((law,), run.times, law.even)
    return Choice(tuple(of_face(faces, face) for face in faces.all.values()), run.times, True)


def _of_a_sample(run: Run, mechanism: Subsample) -> Choice:
    if mechanism.scheme != "poisson" or run.factor != ONE:
        raise Rejected(NAME, "the parts", "only Poisson samples, for neighbours one record apart, are put together here")
    require(certainly_lt(ZERO, mechanism.rate), Rejected(NAME, "rate", "it is not certainly above 0"))
    inside = merged(mechanism.part)
    if any(inner.processed or not occurs(inner) for inner in inside):
        raise Rejected(NAME, "the parts", "what is sampled is not seen as it is")
    every = [choice(inner) for inner in inside]
    inner_laws = every[0].laws
    if len(every) > 1 or every[0].times > 1:
        if any(len(inner.laws) > 1 for inner in every):
            raise Undecided(f"{NAME}: a composition inside a sample whose parts have several pairs of rows.")
        inner_laws = (Product([(inner.laws[0], inner.times) for inner in every]).law(),)
    laws = tuple(sampled(law, mechanism.rate) for law in inner_laws)
    return Choice(laws, run.times, all(law.even for law in laws))
