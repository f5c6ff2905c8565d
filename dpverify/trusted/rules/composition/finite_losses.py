"""Compositions of samples of finite mechanisms, exactly: their privacy losses are finitely many, and are kept as formal products.

Theorem: Poisson samples of finite mechanisms have finitely many privacy losses: a ratio r of the two probabilities of an output becomes
rate r + 1 - rate, and a composition multiplies ratios. Where parts have one pair of rows, delta(eps) is the sum of (p - e^eps q)_+ over all
products; where parts have several, the greatest over all choices of the next part and pair after the outputs so far.

Checked:
- every row is a distribution, exactly
- which probabilities are zero
- which products of ratios are formally equal
- rates are in (0, 1]
- the number of products is within reach

Source: docs/theory/composition.md#finite-losses, Zhu, Dong & Wang 2022, Theorem 11
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from dpverify.trusted.facts import settled
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.pairs import Curve
from dpverify.trusted.language.errors import Rejected, Undecided
from dpverify.trusted.language.expr import ONE, ZERO, symbols
from dpverify.trusted.language.model import Exponential, KaryResponse, Subsample, Table
from dpverify.trusted.order.compare import certainly_le, certainly_lt
from dpverify.trusted.parts.runs import Run, merged, occurs
from dpverify.trusted.rules.composition import finite_composition, poisson_subsampling
from dpverify.trusted.rules.composition.laws import Choice, Law, Product, sampled
from dpverify.trusted.rules.curves import finite

NAME: Final = "finite-losses"
ASSUMED: Final = (*finite.ASSUMED, *poisson_subsampling.ASSUMED)


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of Poisson samples of finite mechanisms, and finite mechanisms. Raises Rejected, Undecided, CertificateError.

    parameters: as of `finite_composition`.
    """
    runs = merged(run.part, run.factor)
    return settled.together(run, settled.several(runs, curve(runs, parameters)))


def curve(runs: Sequence[Run], parameters: Mapping[str, Any]) -> Curve:
    """The curve of samples of finite mechanisms together. Raises Rejected for other parts, Undecided for too many outcomes or choices."""
    if not any(isinstance(run.part.mechanism, Subsample) for run in runs):
        raise Rejected(NAME, "the parts", "none of them is a sample")
    if any(run.mapped for run in runs) and any(run.own or not run.mapped for run in runs):
        raise Rejected(NAME, "the parts", "a map of the data may exchange the neighbours of some of them")
    together = finite_composition.curve([choice(run) for run in runs], runs, parameters, (NAME,), ASSUMED)
    return replace(together, below=(poisson_subsampling.LOWER,))


def choice(run: Run) -> Choice:
    """The laws that one copy may have, P with the record. Raises Rejected for what is not finite, Undecided for too many."""
    mechanism = run.part.mechanism
    if not isinstance(mechanism, Subsample):
        if not isinstance(mechanism, Table | Exponential | KaryResponse):
            raise Rejected(NAME, "the parts", "one of them is not finite")
        return finite_composition.choice(run)
    if mechanism.scheme != "poisson" or run.factor != ONE:
        raise Rejected(NAME, "the parts", "only Poisson samples, for neighbours one record apart, are put together here")
    rate = mechanism.rate
    if symbols(rate) or not (certainly_lt(ZERO, rate) and certainly_le(rate, ONE)):
        raise Rejected(NAME, "rate", "it is not certainly in (0, 1]")
    laws = tuple(sampled(law, rate) for law in _sampled_laws(merged(mechanism.part)))
    return Choice(laws, run.times, all(law.even for law in laws))


def _sampled_laws(inside: Sequence[Run]) -> tuple[Law, ...]:
    """The laws that what is sampled may have."""
    if any(inner.processed or not occurs(inner) for inner in inside):
        raise Rejected(NAME, "the parts", "what is sampled is not seen as it is")
    every = [choice(inner) for inner in inside]
    if len(every) == 1 and every[0].times == 1:
        return every[0].laws
    if any(len(inner.laws) > 1 for inner in every):
        raise Undecided(f"{NAME}: a composition inside a sample whose parts have several pairs of rows.")
    return (Product([(inner.laws[0], inner.times) for inner in every]).law(),)
