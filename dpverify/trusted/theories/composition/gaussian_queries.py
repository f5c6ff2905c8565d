"""Gaussian answers to queries on one histogram: how far all of them move together."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpverify.trusted.combinators import neighbours, one_pair
from dpverify.trusted.combinators.gaussian_form import gaussian_form
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.geometry.lengths import norm_value
from dpverify.trusted.kernel.expr import Expr, Num, mul, num, power
from dpverify.trusted.kernel.model import Matrix, Mechanism, Query, Radial


def shared(runs: Sequence[Run], attained: bool) -> list[tuple[list[int], Expr | None]]:
    """For each histogram that several runs query: these, and mu^2 of all of them together, None where it is not known."""
    spaces: dict[one_pair.Space, list[int]] = {}
    for i, run in enumerate(runs):
        space = neighbours.space_of(run.part)
        if run.part.query is not None and space is not None and (attained or not run.own):
            spaces.setdefault(space, []).append(i)
    several = [(indices, _largest(space, [runs[i] for i in indices], attained)) for space, indices in spaces.items() if len(indices) > 1]
    return [(indices, square) for indices, square in several if square is not None or attained]


def _largest(space: one_pair.Space, runs: Sequence[Run], attained: bool) -> Expr | None:
    """The largest mu^2 of runs with queries on one histogram, over all neighbours, None where it is not known.

    A bound from above, or with `attained` from below, where it is a root that is only enclosed.
    """
    from dpverify.trusted.combinators import candidates

    queries = [run.part.query for run in runs if run.part.query is not None]
    _, n, adjacency = space
    if adjacency == "l2":
        known = [scale for scale in map(_scale, runs) if scale is not None]
        noises = [run.part.mechanism for run in runs]
        if len(known) < len(runs) or any(isinstance(noise, Radial) and noise.norm.kind == "ellipsoid" for noise in noises):
            return None
        upper: Expr
        lower: Expr
        from dpverify.trusted.geometry.eigenvalues import largest_eigenvalue

        upper, lower = largest_eigenvalue(_gram(queries, known))
        return lower if attained else upper
    squares = [square_at(runs, v) for v in candidates.vertices(n, adjacency)]
    known = [square for square in squares if square is not None]
    return Num(max(known, default=Fraction(0))) if len(known) == len(squares) else None


def square_at(runs: Sequence[Run], v: one_pair.Vector) -> Fraction | None:
    """mu^2 of runs with queries on one histogram between neighbours that differ by v; None where it is no rational number."""
    from dpverify.trusted.combinators import candidates

    total = Fraction(0)
    for run in runs:
        scale = _scale(run)
        assert run.part.query is not None
        known = rate_and_square(run.part.mechanism, candidates.image(run.part.query, v))
        if scale is None or known is None:
            return None
        total += scale * known[1]
    return total


def _scale(run: Run) -> Fraction | None:
    """How much each unit of the squared length of an answer's move counts; None where that is no rational number."""
    assert run.part.query is not None
    known = rate_and_square(run.part.mechanism, (Fraction(0),) * len(run.part.query.rows))
    scale = None if known is None else mul(num(run.times), power(mul(run.factor, known[0]), num(2)))
    return scale.value if isinstance(scale, Num) else None


def _gram(queries: Sequence[Query], scales: Sequence[Fraction]) -> Matrix:
    """The sum of the scales times F'F."""
    columns = range(len(queries[0].rows[0]))
    rows = [(scale, row) for query, scale in zip(queries, scales, strict=True) for row in query.rows]
    return tuple(tuple(sum((scale * row[i] * row[j] for scale, row in rows), Fraction(0)) for j in columns) for i in columns)


def rate_and_square(noise: Mechanism, shift: tuple[Fraction, ...]) -> tuple[Expr, Fraction] | None:
    """1/sigma and the square of the length of a shift in units of its covariance; None where the noise is not Gaussian. Raises Rejected."""
    form = gaussian_form(noise)
    if form is None:
        return None
    shape, rate = form
    if shape.norm.kind != "ellipsoid" or shape.independent:
        if not shape.independent and shape.norm.kind != "lp":
            return None
        return rate, sum((x * x for x in shift), Fraction(0))
    square = power(norm_value(shape.norm, shift), num(2))
    return (rate, square.value) if isinstance(square, Num) else None
