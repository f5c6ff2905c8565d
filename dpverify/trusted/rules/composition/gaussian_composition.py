"""Compositions of Gaussian mechanisms: exactly one Gaussian mechanism."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.facts import settled
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.pairs import Curve
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
    attained = dominating if certainly_equal(upper, lower) else gaussian.pair(lower)
    return Curve(dominating, attained, (NAME,), ASSUMED)


def total(runs: Sequence[Run], attained: bool = False) -> Expr | None:
    """mu of the composition, at most; with `attained` one that some neighbours have, None where none is known."""
    squares = []
    shared = [] if len(runs) == 1 else _shared(runs, attained)
    for _, square in shared:
        if square is None:
            return None
        squares.append(square)
    taken = {i for indices, _ in shared for i in indices}
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


def _shared(runs: Sequence[Run], attained: bool) -> list[tuple[list[int], Expr | None]]:
    """For each histogram that several runs query: these, and mu^2 of all of them together, None where it is not known."""
    spaces: dict[neighbours.Space, list[int]] = {}
    for i, run in enumerate(runs):
        space = neighbours.space_of(run.part)
        if run.part.query is not None and space is not None and (attained or not run.own):
            spaces.setdefault(space, []).append(i)
    several = [(indices, _largest(space, [runs[i] for i in indices], attained)) for space, indices in spaces.items() if len(indices) > 1]
    return [(indices, square) for indices, square in several if square is not None or attained]


def _largest(space: neighbours.Space, runs: Sequence[Run], attained: bool) -> Expr | None:
    """The largest mu^2 of runs with queries on one space of histograms, over all neighbours, None where it is not known.

    A bound from above, or with `attained` from below, where it is a root that is only enclosed.
    """
    queries = [run.part.query for run in runs if run.part.query is not None]
    _, n, adjacency = space
    if adjacency == "l2":
        known = [scale for scale in map(_scale, runs) if scale is not None]
        noises = [run.part.mechanism for run in runs]
        if len(known) < len(runs) or any(isinstance(noise, Radial) and noise.norm.kind == "ellipsoid" for noise in noises):
            return None
        upper: Expr
        lower: Expr
        upper, lower = load("order.eigenvalues").largest_eigenvalue(_gram(queries, known))
        return lower if attained else upper
    squares = [square_at(runs, v) for v in neighbours.vertices(n, adjacency)]
    known = [square for square in squares if square is not None]
    return Num(max(known, default=Fraction(0))) if len(known) == len(squares) else None


def square_at(runs: Sequence[Run], v: neighbours.Vector) -> Fraction | None:
    """mu^2 of runs with queries on one histogram between neighbours that differ by v; None where it is no rational number."""
    total = Fraction(0)
    for run in runs:
        scale = _scale(run)
        assert run.part.query is not None
        known = gaussian.rate_and_square(run.part.mechanism, neighbours.image(run.part.query, v))
        if scale is None or known is None:
            return None
        total += scale * known[1]
    return total


def _scale(run: Run) -> Fraction | None:
    """How much each unit of the squared length of an answer's move counts; None where that is no rational number."""
    assert run.part.query is not None
    known = gaussian.rate_and_square(run.part.mechanism, (Fraction(0),) * len(run.part.query.rows))
    scale = None if known is None else mul(num(run.times), power(mul(run.factor, known[0]), num(2)))
    return scale.value if isinstance(scale, Num) else None


def _gram(queries: Sequence[Query], scales: Sequence[Fraction]) -> Matrix:
    """The sum of the scales times F'F."""
    columns = range(len(queries[0].rows[0]))
    rows = [(scale, row) for query, scale in zip(queries, scales, strict=True) for row in query.rows]
    return tuple(tuple(sum((scale * row[i] * row[j] for scale, row in rows), Fraction(0)) for j in columns) for i in columns)


def _stated(run: Run) -> Expr | None:
    """mu of a guarantee; None of one in another measure."""
    guarantee, _, _ = leaf(run)
    assert isinstance(guarantee, Guarantee)
    if guarantee.measure != "gdp":
        return None
    stated.check(guarantee)
    return guarantee.rows[0][0]
