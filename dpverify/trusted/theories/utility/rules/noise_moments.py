"""The error of additive noise in the mean and in the root of the mean square, of the whole answer and of each coordinate.

Theorem: Of noise of a density in a norm, the length in that norm is apart from the direction, which has the cone measure of the unit ball.
So the mean of a power of its Euclidean length, or of a coordinate, is that of its length in the norm times that of the direction, (d + p)/d
times a mean over the unit ball; both have closed forms in the common families, and are ratios of integrals elsewhere.

Checked:
- the density is at least 0 and integrable, the scale positive, the norm a norm
- the closed form is the density's own, or the integrals are enclosed
- the unit ball of a norm by columns or facets has the moments of the premise
- a mixture is a scale family whose normaliser does not depend on the mixing variable

Source: docs/theory/utility.md#noise-moments
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dpverify.trusted.facts.errors import COORDINATE, EUCLIDEAN, ErrorBound, Measure, enclosed, known
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import INFINITE, Infinite
from dpverify.trusted.kernel.expr import Expr, mul, num, power, sqrt
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.language.rationals import read_whole
from dpverify.trusted.theories.utility import closed_moments, directions
from dpverify.trusted.theories.utility.laws import bits_of, read

NAME: Final = "noise-moments"
ASSUMED: Final = ("the sampler is ideal",)

MOST_COORDINATES: Final = 1_000


def infer(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> tuple[ErrorBound, ...]:
    """Both sides of the errors of one power.

    parameters: "power", 1 or 2; "coordinates", how many of them are told of, from the first on; "bits", the accuracy of integrals, without
    which the moments of the size are those of a closed form; those of `laws.read`. Raises Rejected, Undecided, CertificateError.
    """
    p, wanted = power_of(parameters), read_whole(parameters, "coordinates", NAME, 0, MOST_COORDINATES)
    law = read(claim, parameters, NAME)
    size = law.moment(p, bits_of(parameters, NAME)) if "bits" in parameters else closed_moments.moment(law, p, NAME)
    total, single = directions.means(law, p, claim, premises, wanted)
    scale = power(law.unit, num(p))
    found = [bound for i, mean in enumerate(single) for bound in _bounds(COORDINATE[p - 1], i, p, scale, size, mean)]
    return (*(() if total is None else _bounds(EUCLIDEAN[p - 1], None, p, scale, size, total)), *found)


def power_of(parameters: Mapping[str, Any]) -> int:
    """The power of which the mean is taken, 1 or 2. Raises CertificateError."""
    return read_whole(parameters, "power", NAME, 1, 2)


def _bounds(measure: Measure, i: int | None, p: int, scale: Expr, size: Any, mean: directions.Between) -> tuple[ErrorBound, ...]:
    if isinstance(size, Infinite):
        return known(measure, INFINITE, i)
    if isinstance(size, Expr) and mean.lower == mean.upper:
        value = mul(scale, size, mean.lower)
        return known(measure, value if p == 1 else sqrt(value), i)
    ball = (constant(size) if isinstance(size, Expr) else size) * constant(scale) * constant(mean.lower).union(constant(mean.upper))
    return enclosed(measure, ball if p == 1 else ball.sqrt(), i)
