"""What a norm is, the lengths of rational vectors in it, the largest of several, and how far a unit ball reaches in l1 (theory#gauges).

Every value is an exact expression: a rational, a root of one, or the largest of several where their order is not rational arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final

from dpverify.trusted.kernel.errors import Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, Expr, Num, add, call, mul, num, power
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import Norm, Vector

MAX_BITS: Final = 10_000
"""Greatest length of a power sum, so that it can be printed."""


@remembered(256)
def norm_faults(norm: Norm, dimension: int) -> tuple[str, ...]:
    """All that keeps `norm` from being a norm on R^dimension, one line each; empty for a norm."""
    if dimension < 1:
        return (f"dimension {dimension} is not a positive integer.",)
    if norm.kind != "lp":
        from dpverify.trusted.geometry import matrix_norms

        return matrix_norms.faults(norm, dimension)
    if norm.p is not None and norm.p < 1:
        return (f"lp norm: p = {norm.p} is below 1, where the triangle inequality fails. Use p >= 1.",)
    return ()


def norm_value(norm: Norm, vector: Vector, evidence: object = None) -> Expr:
    """The exact value of ||vector||.

    evidence: a gauge certificate of the one vector, for a norm by columns only.
    Raises Rejected for what is no norm or a certificate that fails, Undecided where a certificate is missing.
    """
    if faults := norm_faults(norm, len(vector)):
        raise Rejected("geometry", "norm", " ".join(faults))
    return largest(norm, (vector,), evidence)[0]


def largest(norm: Norm, vectors: Sequence[Vector], evidence: object) -> tuple[Expr, Vector | None]:
    """The largest norm among the vectors, and the one that has it where the comparison is rational."""
    if norm.kind != "lp":
        from dpverify.trusted.geometry import matrix_norms

        value, worst = matrix_norms.largest(norm, vectors, evidence)
        return value, worst
    p = norm.p
    if p is None:
        return pick(vectors, [max(map(abs, v)) for v in vectors], lambda size: size)
    sums = [_power_sum(v, p) for v in vectors]
    known = [total.value for total in sums if isinstance(total, Num)]
    if len(known) == len(sums):
        return pick(vectors, known, lambda size: power(size, Num(1 / p)))
    # Powers that are not rational: a vector below another in every sorted coordinate is not the largest.
    shapes = {tuple(sorted(map(abs, v), reverse=True)): v for v in vectors}
    kept = [s for s in shapes if not any(s != t and all(a <= b for a, b in zip(s, t, strict=True)) for t in shapes)]
    values = [mul(Num(s[0]), power(_power_sum(tuple(x / s[0] for x in s), p), Num(1 / p))) for s in kept]
    return call("max", *values), shapes[kept[0]] if len(kept) == 1 else None


def pick(vectors: Sequence[Vector], sizes: Sequence[Fraction], finish: Callable[[Expr], Expr]) -> tuple[Expr, Vector]:
    """The vector of the largest size; `finish` is increasing and turns the size into the norm."""
    worst = max(range(len(sizes)), key=sizes.__getitem__)
    return finish(Num(sizes[worst])), vectors[worst]


def _power_sum(vector: Vector, p: Fraction) -> Expr:
    """The sum of |x|^p. Raises Undecided where that is a rational too long to write down."""
    if p in (1, 2):  # without an expression for each coordinate
        total: Expr = Num(sum((abs(x) if p == 1 else x * x for x in vector), Fraction(0)))
    else:
        total = add(*(power(Num(abs(x)), Num(p)) for x in vector))
    if isinstance(total, Num) and max(total.value.numerator.bit_length(), total.value.denominator.bit_length()) > MAX_BITS:
        raise Undecided(f"powers with p = {p} have more than {MAX_BITS} bits. Use the maximum norm, or state the sensitivity itself.")
    return total


def largest_in(norm: Norm, dimension: int) -> tuple[Vector, Expr]:
    """A rational vector on the unit sphere and its exact norm, for witnesses.

    The norm is 1, except for an ellipsoid whose square root stays irrational: then the vector is e_1 with its norm.
    """
    if norm.kind == "columns":
        from dpverify.trusted.geometry.matrix_norms import longest

        return longest(norm), ONE
    unit = tuple(Fraction(int(i == 0)) for i in range(dimension))
    size = norm_value(norm, unit)
    return (tuple(x / size.value for x in unit), ONE) if isinstance(size, Num) else (unit, size)


def l1_radius(norm: Norm, dimension: int, evidence: object = None) -> Expr:
    """The largest ||s||_1 over the unit ball, which product noise needs (theory#gauges).

    evidence: for facets too many to enumerate, a gauge certificate of `sign_vectors(dimension)` in the hull of + and - the facets
    (by duality the radius is the largest gauge of a sign vector in the polar ball). Raises as a sensitivity does.
    """
    if norm.kind == "lp":
        return num(dimension) if norm.p is None else power(num(dimension), Num(1 - 1 / norm.p))
    from dpverify.trusted.geometry import matrix_norms

    return matrix_norms.l1_radius(norm, dimension, evidence)
