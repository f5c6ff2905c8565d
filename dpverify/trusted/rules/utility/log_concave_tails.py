"""The greatest coordinate of log-concave noise, from the mean squares of its coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.facts.errors import SIDES, ErrorBound
from dpverify.trusted.facts.fact import Fact, as_errors
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import ONE, ZERO, Expr, Num, add, call, div, mul, num, sqrt, sub
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.model import Claim, Radial, Source
from dpverify.trusted.order.compare import certainly_le
from dpverify.trusted.order.convexity import Shapes
from dpverify.trusted.order.signs import AT_LEAST_ZERO
from dpverify.trusted.rules.utility.laws import read
from dpverify.trusted.rules.utility.noise_quantile import beta_of

NAME: Final = "log-concave-tails"
STATEMENT: Final = (
    "A coordinate X of noise of a log-concave density in a norm, s^2 = E X^2, has s/sqrt(2) <= m <= sqrt(3)/2 s for m = E|X|, and "
    "P(|X| > t) is at most exp(1 - t/m) and at least (m - t)^2/s^2 up to t = m. So the greatest of d coordinates exceeds a distance "
    "between s (1/sqrt(2) - sqrt(beta)) and sqrt(3)/2 s (1 + log(d/beta)), s the greatest of theirs, with probability beta."
)
CHECKED: Final = (
    "minus the logarithm of the profile is convex and does not fall",
    "the mean square of every coordinate is the premise's",
)
ASSUMED: Final = ("the sampler is ideal",)
SOURCE: Final = Source("docs/theory/utility.md#log-concave-tails")

_SHAPES: Final = Shapes("r", True, {})


def infer(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> tuple[ErrorBound, ...]:
    """Both sides of the distance. premises: one, a fact of the root mean squares of all coordinates. Raises Rejected, CertificateError."""
    beta, law = beta_of(claim, NAME), read(claim, parameters, NAME)
    if len(premises) != 1 or premises[0].about != claim:
        raise CertificateError(f"{NAME}: it wants one premise, of the root mean squares of the coordinates.")
    _require_log_concave(law.noise)
    lower, upper = (_greatest(premises[0], side, law.dimension) for side in SIDES)
    least = mul(lower, sub(sqrt(Num(Fraction(1, 2))), sqrt(beta)))
    most = mul(div(sqrt(num(3)), num(2)), upper, add(ONE, call("log", div(num(law.dimension), beta))))
    found = ErrorBound("exceeded", "this", "upper", most, beta=beta)
    return (ErrorBound("exceeded", "this", "lower", least, beta=beta), found) if certainly_le(ZERO, least) else (found,)


def _require_log_concave(noise: object) -> None:
    """Raises Rejected unless the density is certainly a log-concave function of the noise."""
    if not isinstance(noise, Radial):
        raise Rejected(NAME, "the noise", "it is not radial noise in a norm")
    shape = _SHAPES.shape(_SHAPES.tidy(neg_log(noise.profile)))
    if not (shape.convex and shape.slope <= AT_LEAST_ZERO):
        raise Rejected(NAME, "the profile", "minus its logarithm is not certainly convex, or may fall")


def _greatest(premise: Fact, side: str, dimension: int) -> Expr:
    """The greatest of the bounds of one side on the root mean squares."""
    found: dict[int | None, Expr] = {
        bound.coordinate: bound.value
        for bound in as_errors(premise.says)
        if (bound.measure, bound.whose, bound.side) == ("rms", "this", side) and isinstance(bound.value, Expr)
    }
    if found.keys() != set(range(dimension)):
        raise Rejected(NAME, premise.rule, "it does not state a finite root mean square of every coordinate")
    return call("max", *dict.fromkeys(found.values()))
