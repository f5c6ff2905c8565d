"""Operator norms from the Euclidean norm: sensitivities over real histograms at Euclidean distance at most 1."""

from __future__ import annotations

from fractions import Fraction

from flint import fmpq_mat

from dpverify.trusted.geometry.eigenvalues import largest_root
from dpverify.trusted.geometry.linear import form, matrix, to_fraction
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.geometry.vertices import MAX_SIGNS, half_of_vertices
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import Num, sqrt
from dpverify.trusted.kernel.model import Matrix, Norm


def euclidean(rows: Matrix, norm: Norm) -> Sensitivity:
    """The operator norm of F from l2: the largest ||F x|| over ||x||_2 <= 1.

    By duality it is the largest ||F' v||_2 over the polar ball, a convex function whose maximum is at a vertex v.
    """
    f = matrix(rows)
    gram = f * f.transpose()
    if norm.kind == "ellipsoid":
        return _root_of_eigenvalue(matrix(norm.matrix).solve(gram))
    if norm.kind == "facets":
        square = max(form(gram, a) for a in norm.matrix)
    elif norm.kind == "columns":
        square = max(form(gram, v) for v in half_of_vertices(norm.matrix))
    elif norm.p is None:
        square = max(to_fraction(gram[i, i]) for i in range(gram.nrows()))
    elif norm.p == 1:
        square = largest_sign_form(gram)
    elif norm.p == 2:
        return _root_of_eigenvalue(gram)
    else:
        raise Undecided(f"no exact operator norm from l2 to lp with p = {norm.p}. State the sensitivity, or use p = 1, 2 or infinity.")
    value = sqrt(Num(square))
    return Sensitivity(value, value)


def _root_of_eigenvalue(product: fmpq_mat) -> Sensitivity:
    """The square root of the largest eigenvalue of a product of positive semidefinite matrices."""
    upper, lower = largest_root(product.charpoly())
    return Sensitivity(sqrt(upper), sqrt(lower))


def largest_sign_form(gram: fmpq_mat) -> Fraction:
    """The largest s' G s over vectors s of signs, G symmetric."""
    numerators, denominator = gram.numer_denom()
    g = [[int(entry) for entry in row] for row in numerators.tolist()]
    size = len(g)
    best = value = sum(map(sum, g))  # the value at s = (1, ..., 1)
    if any(entry < 0 for row in g for entry in row):
        if size > MAX_SIGNS:
            raise Undecided(f"{size} dimensions have 2^{size - 1} sign patterns; at most {MAX_SIGNS} dimensions are tried.")
        signs, image = [1] * size, [sum(row) for row in g]
        for step in range(1, 1 << (size - 1)):
            flip = (step & -step).bit_length() - 1  # Gray code: one sign changes at a time
            value += 4 * (g[flip][flip] - signs[flip] * image[flip])
            image = [h - 2 * signs[flip] * entry for h, entry in zip(image, g[flip], strict=True)]
            signs[flip] = -signs[flip]
            best = max(best, value)
    return Fraction(best, int(denominator))
