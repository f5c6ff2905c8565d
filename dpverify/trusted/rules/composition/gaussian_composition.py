"""Compositions of Gaussian mechanisms: exactly one Gaussian mechanism."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from flint import arb

from dpverify.trusted.facts import settled
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.pairs import Curve, Pair
from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.expr import Expr, Num, add, mul, num, power, sqrt
from dpverify.trusted.language.loading import load
from dpverify.trusted.language.model import Guarantee, Matrix, Product, Query, Radial, Source
from dpverify.trusted.order.compare import certainly_equal
from dpverify.trusted.parts import neighbours, stated
from dpverify.trusted.parts.runs import Run, leaf, merged, reach
from dpverify.trusted.rules.curves import gaussian
from dpverify.trusted.rules.guarantees import stated_guarantee

NAME: Final = "gaussian-composition"
STATEMENT: Final = (
    "Gaussian mechanisms whose answers move by D_i at standard deviations s_i compose, adaptively, to the pair of N(0, 1) and N(mu, 1) "
    "with mu = sqrt(sum of (D_i / s_i)^2): the likelihood ratio of all answers is that of one. Where they answer queries on the same "
    "records, D_i = ||F_i v|| for one v: mu is the greatest over v, for l2 adjacency by the largest eigenvalue of the stacked queries."
)
CHECKED: Final = ("every part adds Gaussian noise in a Euclidean norm, or is mu-GDP by what is stated of it",)
ASSUMED: Final = gaussian.ASSUMED
SOURCE: Final = Source("docs/theory/composition.md#gaussian-composition", "Dong, Roth & Su 2022, Corollary 3.3")


def infer(run: Run, _: Mapping[str, Any], __: Sequence[Fact]) -> Curve:
    """The curve of a composition of Gaussian mechanisms. Raises Rejected."""
    runs = merged(run.part, run.factor)
    return settled.together(run, settled.several(runs, curve(runs)), jointly=True)


def curve(runs: Sequence[Run]) -> Curve:
    """The exact curve. Raises Rejected where a part is not Gaussian."""
    upper, lower = total(runs), total(runs, attained=True)
    assert upper is not None
    dominating = gaussian.pair(upper)
    if any(isinstance(run.part.mechanism, Guarantee) for run in runs):
        return Curve(dominating, None, (NAME,), stated_guarantee.ASSUMED)
    if lower is None:
        return Curve(dominating, None, (NAME,), ASSUMED)
    attained = _shown(dominating if certainly_equal(upper, lower) else gaussian.pair(lower), runs)
    return Curve(attained if certainly_equal(upper, lower) else dominating, attained, (NAME,), ASSUMED)


def _shown(pair: Pair, runs: Sequence[Run]) -> Pair:
    """The pair with the neighbours named in its event where several runs query one histogram."""
    described = pair.event
    texts = [] if len(runs) == 1 else [text for _, _, text in _shared(runs, attained=True) if text]
    if described is None or not texts:
        return pair

    def event(epsilon: arb) -> Mapping[str, str]:
        found = described(epsilon)
        return {**found, "pair": f"{'; '.join(texts)} ({found['pair']})"}

    return replace(pair, event=event)


def total(runs: Sequence[Run], attained: bool = False) -> Expr | None:
    """mu of the composition, at most; with `attained` one that some neighbours have, None where none is known."""
    squares = []
    shared = [] if len(runs) == 1 else _shared(runs, attained)
    for found in shared:
        if found[1] is None:
            return None
        squares.append(found[1])
    taken = {i for indices, _, _ in shared for i in indices}
    for run in (run for i, run in enumerate(runs) if i not in taken):
        moved, noise = reach(run), run.part.mechanism
        if isinstance(noise, Guarantee):
            if attained:
                return None
            mu = _stated(run)
        else:
            mu = gaussian.mu(noise, moved.lower if attained else moved.upper)
        if mu is None:
            raise Rejected(NAME, "the parts", "one of them is not Gaussian noise in a Euclidean norm")
        if attained and run.part.query is not None and isinstance(noise, Product):
            return None  # which coordinates move together is not known
        squares.append(mul(num(run.times), power(mu, num(2))))
    return sqrt(add(*squares))


def _shared(runs: Sequence[Run], attained: bool) -> list[tuple[list[int], Expr | None, str]]:
    """For each histogram that several runs query: these, mu^2 of all of them together, None where it is not known, and where it is met."""
    spaces: dict[object, list[int]] = {}
    for i, run in enumerate(runs):
        space = neighbours.space_of(run.part)
        if run.part.query is not None and space is not None and (attained or not run.own):
            spaces.setdefault(space, []).append(i)
    found: list[tuple[list[int], Expr | None, str]] = []
    for indices in spaces.values():
        if len(indices) > 1:
            square, text = _largest([runs[i] for i in indices], attained)
            if square is not None or attained:
                found.append((indices, square, text))
    return found


_UNKNOWN: Final = None, ""


def _largest(runs: Sequence[Run], attained: bool) -> tuple[Expr | None, str]:
    """The largest mu^2 of runs with queries on one histogram, over all neighbours, None where it is not known; and the neighbours.

    A bound from above, or with `attained` from below, where it is a root that is only enclosed.
    """
    queries = [run.part.query for run in runs if run.part.query is not None]
    n, adjacency = len(queries[0].rows[0]), queries[0].adjacency
    scales: list[Fraction] = []
    for run, query in zip(runs, queries, strict=True):
        known = gaussian.rate_and_square(run.part.mechanism, (Fraction(0),) * len(query.rows))
        if known is None:
            return _UNKNOWN
        scale = mul(num(run.times), power(mul(run.factor, known[0]), num(2)))
        if not isinstance(scale, Num):
            return _UNKNOWN
        scales.append(scale.value)
    if adjacency == "l2":
        if any(run.part.mechanism.norm.kind == "ellipsoid" for run in runs if isinstance(run.part.mechanism, Radial)):
            return _UNKNOWN
        upper, lower = load("order.eigenvalues").largest_eigenvalue(_gram(queries, scales))
        return lower if attained else upper, ""
    best: tuple[Fraction, neighbours.Vector] | None = None
    for v in neighbours.vertices(n, adjacency):
        total = Fraction(0)
        for run, query, factor in zip(runs, queries, scales, strict=True):
            known = gaussian.rate_and_square(run.part.mechanism, neighbours.image(query, v))
            if known is None:
                return _UNKNOWN
            total += factor * known[1]
        if best is None or total > best[0]:
            best = total, v
    if best is None:
        return num(0), ""
    return Num(best[0]), neighbours.named(("records", n, adjacency), best[1], queries)


def _gram(queries: Sequence[Query], scales: Sequence[Fraction]) -> Matrix:
    """The sum of the scales times F'F."""
    columns = range(len(queries[0].rows[0]))
    rows = [(scale, row) for query, scale in zip(queries, scales, strict=True) for row in query.rows]
    return tuple(tuple(sum((scale * row[i] * row[j] for scale, row in rows), Fraction(0)) for j in columns) for i in columns)


def _stated(run: Run) -> Expr | None:
    """mu of a guarantee; None of one in another measure."""
    found, sensitivity, query = leaf(run)
    if not isinstance(found, Guarantee) or found.measure != "gdp" or sensitivity is not None or query is not None:
        return None
    stated.check(found)
    return found.rows[0][0]
