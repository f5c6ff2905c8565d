"""Compositions by the sums of Renyi divergences: of parts of which no more is known, sharper than what each of them implies by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final

from dpverify.trusted.facts.pairs import Curve, Evidence, Pure
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import Expr, Num, add, mul, num
from dpverify.trusted.language.model import Claim, Combinator, Guarantee, Source
from dpverify.trusted.parts.runs import Run, leaf, reach
from dpverify.trusted.rules.curves import gaussian
from dpverify.trusted.rules.guarantees import conversions, stated_guarantee

NAME: Final = "renyi-composition"
STATEMENT: Final = (
    "Renyi divergences of one order add up under adaptive composition: a rho for rho-zCDP, a mu^2/2 for Gaussian noise and mu-GDP, "
    "a eta^2/8 for bounded range eta, and that of randomized response for pure eps. The sums imply (eps, delta)-DP at several eps, and "
    "the hull of these points is a pair that dominates the composition."
)
CHECKED: Final = ("every part's divergence at every order", "the bound on delta at every point")
ASSUMED: Final = ()
SOURCE: Final = Source("Mironov 2017, Proposition 1; Bun & Steinke 2016, Lemma 1.7; Canonne, Kamath & Steinke 2020, Proposition 12")

Premise = Callable[[Claim, Evidence], Pure]


def curve(runs: Sequence[Run], evidence: Evidence, premise: Premise) -> Curve:
    """The curve of a composition, an upper bound alone. Raises Rejected, Undecided, CertificateError.

    evidence: "points", pairs of an order and an epsilon; "premises", for every run null or evidence for its pure epsilon.
    """
    listed = evidence.get("premises", [None] * len(runs))
    if not isinstance(listed, list) or len(listed) != len(runs):
        raise CertificateError(f"{NAME}: 'premises' is not a list of {len(runs)}.")
    found = [of(run, below, premise) for run, below in zip(runs, listed, strict=True)]
    divergences, assumed = [at for at, _ in found], dict.fromkeys(line for _, lines in found for line in lines)
    points = stated_guarantee.read_points(evidence, NAME)
    totals = {order: add(*(mul(num(run.times), at(order)) for run, at in zip(runs, divergences, strict=True))) for order, _ in points}
    pair = conversions.renyi_pair([(conversions.Renyi(order, totals[order]), Num(epsilon)) for order, epsilon in points])
    return Curve(pair, None, (NAME,), tuple(assumed))


def of(run: Run, evidence: Evidence | None, premise: Premise) -> tuple[Callable[[Fraction], Expr], tuple[str, ...]]:
    """The divergence, by order, of one run of a mechanism, and what it takes for granted. Raises Rejected where no bound on it is known."""
    if isinstance(run.part.mechanism, Combinator):
        raise Rejected(NAME, "the parts", "the divergence of a sample, or of parts in parallel, is not known here")
    mechanism, sensitivity, query = leaf(run)
    if isinstance(mechanism, Guarantee):
        if sensitivity is not None or query is not None:
            raise Rejected(NAME, "sensitivity", "a guarantee speaks of neighbours; it has none")
        return lambda order: stated_guarantee.divergence(mechanism, order), stated_guarantee.ASSUMED
    mu = gaussian.mu(mechanism, reach(run).upper)
    if mu is not None:
        return lambda order: conversions.renyi_of_gaussian(mu, order).divergence, gaussian.ASSUMED
    if evidence is None:
        raise Rejected(NAME, "the parts", "one is neither Gaussian nor a guarantee, and no evidence for its pure epsilon is given")
    known = premise(Claim(mechanism, None, sensitivity=sensitivity, query=query), evidence)
    return lambda order: conversions.renyi_of_pure(known.epsilon, order).divergence, known.assumed
