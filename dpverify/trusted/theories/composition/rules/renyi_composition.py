"""Compositions by the sums of Renyi divergences: of parts of which no more is known, sharper than what each of them implies by itself.

Theorem: Renyi divergences of one order add up under adaptive composition: a rho for rho-zCDP, a mu^2/2 for Gaussian noise and mu-GDP, a
eta^2/8 for bounded range eta, and that of randomized response for pure eps. The sums imply (eps, delta)-DP at several eps, and the hull of
these points is a pair that dominates the composition.

Checked:
- every part's divergence at every order
- the bound on delta at every point

Source: docs/theory/composition.md#renyi-composition, Mironov 2017, Proposition 1; Bun & Steinke 2016, Lemma 1.7; Canonne, Kamath & Steinke
2020, Proposition 12
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from dpverify.trusted.combinators import stated
from dpverify.trusted.combinators.runs import Run, leaf, merged, reach
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.pairs import Curve
from dpverify.trusted.facts.premises import pure_of
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import Expr, Num, add, mul, num
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim, Combinator, Guarantee, Measure
from dpverify.trusted.theories.composition.rules import bounded_range, stated_guarantee
from dpverify.trusted.theories.composition.rules import privacy_measures as conversions
from dpverify.trusted.theories.curves.rules import gaussian

NAME: Final = "renyi-composition"
ASSUMED: Final = ()


def infer(run: Run, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> Curve:
    """The curve of a composition, an upper bound alone. Raises Rejected, Undecided, CertificateError.

    parameters: "points", pairs of an order and an epsilon; "known", for every run null or which premise states its pure epsilon.
    """
    runs = merged(run.part, run.factor)
    known = parameters.get("known", [None] * len(runs))
    parts = [of(inner, None if number is None else premises[number]) for inner, number in zip(runs, known, strict=True)]
    assumed = dict.fromkeys(line for _, lines in parts for line in lines)
    divergences = []
    for order, epsilon in stated_guarantee.read_points(parameters):
        measure = Measure("renyi", None, order)
        total = add(*(mul(num(inner.times), at(measure)) for inner, (at, _) in zip(runs, parts, strict=True)))
        divergences.append((conversions.Renyi(order, total), Num(epsilon)))
    pair = stated_guarantee.renyi_pair(divergences)
    return settled.together(run, Curve(pair, None, (NAME,), tuple(assumed)))


def of(run: Run, premise: Fact | None) -> tuple[Callable[[Measure], Expr], tuple[str, ...]]:
    """The divergence, by measure, of one run of a mechanism, and what it takes for granted. Raises Rejected where none is known."""
    if isinstance(run.part.mechanism, Combinator):
        raise Rejected(NAME, "the parts", "the divergence of a sample, or of parts in parallel, is not known here")
    asked = leaf(run)
    mechanism = asked.mechanism
    if isinstance(mechanism, Guarantee):
        require(asked == Claim(mechanism, None), Rejected(NAME, "sensitivity", "a guarantee speaks of neighbours; it has none"))
        return partial(conversions.of_guarantee, mechanism), stated.grounds(mechanism)
    mu = gaussian.mu(mechanism, reach(run).upper)
    if mu is not None:
        return partial(conversions.of_mu, mu), gaussian.ASSUMED
    if premise is None:  # an exponential mechanism, then
        return partial(conversions.of_range, bounded_range.range_of(run)), bounded_range.ASSUMED
    epsilon, assumed = pure_of(premise, asked, NAME)
    return partial(conversions.of_pure, epsilon), assumed
