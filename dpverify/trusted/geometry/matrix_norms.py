"""Norms by matrices: ellipsoids, hulls of columns and polytopes by facets (theory#gauges)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from flint import fmpq

from dpverify.trusted.geometry.lengths import pick
from dpverify.trusted.geometry.linear import dot, matrix, square, to_fraction
from dpverify.trusted.kernel.expr import Expr, Num, sqrt
from dpverify.trusted.kernel.model import Matrix, Norm, Vector


def faults(norm: Norm, dimension: int) -> tuple[str, ...]:
    """All that keeps `norm`, which is none of the lp norms, from being a norm on R^dimension."""
    if norm.kind not in ("ellipsoid", "columns", "facets"):
        return (f"unknown norm {norm.kind!r}. Use lp, ellipsoid, columns or facets.",)
    if not norm.matrix:
        return (f"{norm.kind}: the list is empty. Give {dimension} or more rows of {dimension} numbers.",)
    found = [
        f"{norm.kind}: row {i + 1} has {len(row)} numbers where the dimension is {dimension}."
        for i, row in enumerate(norm.matrix)
        if len(row) != dimension
    ]
    if norm.kind == "ellipsoid" and len(norm.matrix) != dimension:
        found.append(f"ellipsoid: Sigma has {len(norm.matrix)} rows where the dimension is {dimension}.")
    if found:
        return tuple(found)
    if norm.kind == "ellipsoid":
        return tuple(_ellipsoid_faults(norm.matrix))
    rank = matrix(norm.matrix).rank()
    if rank < dimension:
        span = f"the rows span {rank} of {dimension} dimensions"
        what = f"so that K has no interior: {span}" if norm.kind == "columns" else f"so that the unit ball is unbounded: {span}"
        return (f"{norm.kind}: they do not span R^{dimension}, {what}. Add rows outside that span.",)
    return ()


def _ellipsoid_faults(sigma: Matrix) -> Iterator[str]:
    size = range(len(sigma))
    lopsided = [(i, j) for i in size for j in range(i) if sigma[i][j] != sigma[j][i]]
    for i, j in lopsided:
        yield (
            f"ellipsoid: Sigma is not symmetric: entry ({i + 1}, {j + 1}) is {sigma[i][j]} and ({j + 1}, {i + 1}) is {sigma[j][i]}. "
            "Make them equal."
        )
    # The eigenvalues of a symmetric matrix are real: all of -Sigma's are below 0 exactly for a positive definite Sigma.
    if lopsided:
        return
    from dpverify.trusted.geometry.eigenvalues import roots_below

    if not roots_below((-matrix(sigma)).charpoly(), fmpq(0)):
        yield "ellipsoid: Sigma is not positive definite. Give a covariance whose eigenvalues are all above 0."


def largest(norm: Norm, vectors: Sequence[Vector], evidence: object) -> tuple[Expr, Vector]:
    """The largest norm among the vectors, and the one that has it."""
    if norm.kind == "columns":
        from dpverify.trusted.geometry.gauges import largest_gauge

        value, worst = largest_gauge(norm.matrix, vectors, evidence)
        return Num(value), vectors[worst]
    if norm.kind == "facets":
        return pick(vectors, [max(abs(dot(row, v)) for row in norm.matrix) for v in vectors], lambda size: size)
    return pick(vectors, _mahalanobis_squares(norm.matrix, vectors), sqrt)


def _mahalanobis_squares(sigma: Matrix, vectors: Sequence[Vector]) -> list[Fraction]:
    """z' Sigma^-1 z for every vector z."""
    solved = matrix(sigma).solve(matrix(vectors).transpose()).transpose().tolist()
    return [dot(z, [to_fraction(entry) for entry in row]) for z, row in zip(vectors, solved, strict=True)]


def l1_radius(norm: Norm, dimension: int, evidence: object) -> Expr:
    """The largest ||s||_1 over the unit ball."""
    if norm.kind == "columns":
        return Num(max(map(_length, norm.matrix)))
    if norm.kind == "ellipsoid":
        from dpverify.trusted.geometry.operator_norms import largest_sign_form

        return sqrt(Num(largest_sign_form(matrix(norm.matrix))))
    if evidence:
        from dpverify.trusted.geometry.gauges import largest_gauge
        from dpverify.trusted.geometry.vertices import sign_vectors

        return Num(largest_gauge(norm.matrix, sign_vectors(dimension), evidence)[0])
    from dpverify.trusted.geometry.vertices import half_of_vertices

    return Num(max(map(_length, half_of_vertices(norm.matrix))))


def longest(norm: Norm) -> Vector:
    """The longest of the columns; it is extreme: were its gauge below 1, K would hold a longer one."""
    return max(norm.matrix, key=square)


def _length(v: Vector) -> Fraction:
    return sum(map(abs, v), Fraction(0))
