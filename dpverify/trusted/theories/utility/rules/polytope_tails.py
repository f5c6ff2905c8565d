"""The greatest coordinate of noise in a norm whose unit ball is a polytope, by the simplices of its boundary.

Theorem: Noise in the norm of a polytope has the direction of a point that is uniform in a simplex of its boundary, drawn by the size of its
pyramid. For exp(-r) a coordinate is there a sum of multiples of exponential variables, whose tail is a divided difference at its values at
the corners. For other profiles the direction is above s with a probability that is one of (y - s)_+^(d - 1), and between cuts of the length
that lies between its values there.

Checked:
- the simplices are the boundary of the unit ball, as the rule polytope checks it
- the density is at least 0 and integrable, the scale positive
- the probabilities of the coordinates at the distance, their sum or the greatest, against beta

Source: docs/theory/utility.md#polytope-tails
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any, Final

from flint import arb, fmpq, fmpz

from dpverify.trusted.facts.errors import ErrorBound
from dpverify.trusted.kernel.balls import constant, exact, finite, rational
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import ZERO, Num
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.theories.utility import exponential_sums, half_lines, shapes
from dpverify.trusted.theories.utility.closed_moments import Exponential, form
from dpverify.trusted.theories.utility.laws import Law, read
from dpverify.trusted.theories.utility.rules import polytope
from dpverify.trusted.theories.utility.rules.noise_quantile import beta_of, compared, told
from dpverify.trusted.theories.utility.tails import between_cuts
from dpverify.trusted.theories.utility.triangulations import Boundary

NAME: Final = "polytope-tails"
ASSUMED: Final = ("the sampler is ideal",)

Values = Sequence[tuple[Sequence[fmpz], int]]
"""The values of a coordinate at the corners of simplices, each with the size of its pyramids."""


def check(claim: Claim, evidence: Mapping[str, Any]) -> tuple[ErrorBound, ...]:
    """One side of the distances that are exceeded.

    evidence: "body", what the rule `polytope` is given of the unit ball; "at" and "side" as of the quantile; "bits" and "cuts", without
    which the profile is exp(-c r). A lower side holds of the union bound; "alone", true, says it of one coordinate, and so of the
    greatest. Raises Rejected, CertificateError.
    """
    beta, law = beta_of(claim, NAME), read(claim, evidence, NAME)
    at, side = told(evidence, NAME)
    body = evidence["body"]
    if shapes.body_named(body) != "norm" or "axes" in body:
        raise CertificateError(f"{NAME}: body is what the rule {polytope.NAME} is given of the whole unit ball of the norm.")
    _, _, boundary = polytope.boundary_of(claim, body)
    found = probabilities(law, values(boundary), boundary.unit, at, evidence)
    if side == "lower" and evidence.get("alone") is True:
        compared(reduce(arb.max, found), beta, side, NAME)
        return (ErrorBound("exceeded", "this", side, Num(at), beta=beta),)
    compared(reduce(arb.__add__, found), beta, side, NAME)
    union = ErrorBound("exceeded_union", "this", side, Num(at), beta=beta)
    return (union, ErrorBound("exceeded", "this", side, Num(at), beta=beta)) if side == "upper" else (union,)


def values(boundary: Boundary) -> list[Values]:
    """For each coordinate its values at the corners, simplices with the same ones together."""
    found = [Counter[tuple[fmpz, ...]]() for _ in range(boundary.dimension)]
    for number, size in enumerate(boundary.sizes):
        for counted, column in zip(found, boundary.corners(number).transpose().tolist(), strict=True):
            counted[tuple(sorted(column))] += int(size)
    return [tuple(counted.items()) for counted in found]


def probabilities(law: Law, coordinates: Sequence[Values], unit: int, t: Fraction, evidence: Mapping[str, Any]) -> list[arb]:
    """Balls round P(|noise_i| > t). unit: in what the values are counted."""
    if law.norm is None or law.norm.kind not in ("columns", "facets") or law.dimension != len(coordinates):
        raise Rejected(NAME, "the norm", "its unit ball is not given as a polytope")
    if "cuts" not in evidence:
        own = form(law)
        if not isinstance(own, Exponential) or own.a != 1 or own.w != ZERO:
            raise Rejected(NAME, "the profile", "it is not exp(-c r), whose tails have a closed form; cuts bound others")
        level = finite(rational(t) * unit * constant(own.c) / constant(law.unit))
        return [_average(found, lambda corners: exponential_sums.share_above(corners, level)) for found in coordinates]
    scale = law.unit

    def beyond(found: Values, r: Fraction) -> arb:
        """P(|D_i| > t/(unit r)), by what is on either side of that number where it is not rational."""
        if isinstance(scale, Num):
            return _share(found, unit, t / (r * scale.value))
        level = finite(rational(t / r) / constant(scale))
        return _share(found, unit, exact(level.lower())).union(_share(found, unit, exact(level.upper())))

    return [between_cuts(law, evidence, NAME, lambda r, found=found: beyond(found, r)) for found in coordinates]  # type: ignore[misc]


def _share(found: Values, unit: int, level: Fraction) -> arb:
    """P(|D_i| > level)."""
    at = fmpq(level.numerator, level.denominator)
    return _average(found, lambda corners: half_lines.share_above([fmpq(x, unit) - at for x in corners]))


def _average(found: Values, above: Callable[[Sequence[fmpz]], arb]) -> arb:
    """The mean, by size, of a probability on the side above and on the side below."""
    part, whole = arb(0), 0
    for corners, size in found:
        part, whole = part + size * (above(corners) + above([-x for x in corners])), whole + size
    return part / whole
