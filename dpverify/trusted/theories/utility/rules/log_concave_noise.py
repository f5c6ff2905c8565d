"""Errors of log-concave noise from the mean squares of its coordinates alone.

Theorem: A coordinate X of noise of a log-concave density in a norm, s^2 = E X^2, has s/sqrt(2) <= m <= sqrt(3)/2 s for m = E|X|, and P(|X|
> t) is at most exp(1 - t/m), and at least (m - t)^2/s^2 up to t = m. So the mean length is between the root mean square over sqrt(2) and
the root mean square, and the distance that the greatest of d coordinates exceeds with probability beta is between s (1/sqrt(2) -
sqrt(beta)) and sqrt(3)/2 s (1 + log(d/beta)), s the greatest of theirs.

Checked:
- minus the logarithm of the profile is convex and does not fall
- the mean square of every coordinate is the premise's

Source: docs/theory/utility.md#log-concave-noise
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.facts.errors import SIDES, ErrorBound
from dpverify.trusted.kernel.bounds import Side
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, add, call, div, mul, num, power, sqrt, sub
from dpverify.trusted.kernel.fact import Fact, as_errors
from dpverify.trusted.kernel.model import Claim, Radial
from dpverify.trusted.kernel.signs import AT_LEAST_ZERO
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.theories.utility.laws import Law, read
from dpverify.trusted.theories.utility.rules.noise_quantile import beta_of

NAME: Final = "log-concave-noise"
ASSUMED: Final = ("the sampler is ideal",)

_SHAPES: Final = Shapes("r", True, {})
_LEAST: Final = sqrt(Num(Fraction(1, 2)))
_GREATEST: Final = sqrt(Num(Fraction(3, 4)))


def infer(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> tuple[ErrorBound, ...]:
    """Both sides of the means, and of the distance where the claim states beta.

    parameters: those of `laws.read`. premises: one, a fact of the root mean squares of all coordinates. Raises Rejected, CertificateError.
    """
    law = read(claim, parameters, NAME)
    if len(premises) != 1 or premises[0].about != claim:
        raise CertificateError(f"{NAME}: it wants one premise, of the root mean squares of the coordinates.")
    _require_log_concave(law)
    squares = {side: _squares(premises[0], side, law.dimension) for side in SIDES}
    return (*_means(squares), *(() if claim.beta is None else _exceeded(beta_of(claim, NAME), squares)))


def _means(squares: Mapping[Side, list[Expr]]) -> Iterator[ErrorBound]:
    for side, share, whole in zip(SIDES, (_LEAST, _GREATEST), (_LEAST, ONE), strict=True):
        for i, root in enumerate(squares[side]):
            yield ErrorBound("expected_absolute", "this", side, mul(share, root), i)
        yield ErrorBound("expected_l2", "this", side, mul(whole, sqrt(add(*(power(root, num(2)) for root in squares[side])))))


def _exceeded(beta: Expr, squares: Mapping[Side, list[Expr]]) -> Iterator[ErrorBound]:
    count, (lower, upper) = num(len(squares["upper"])), (call("max", *dict.fromkeys(squares[side])) for side in SIDES)
    least = mul(lower, sub(_LEAST, sqrt(beta)))
    if certainly_lt(ZERO, least):
        yield ErrorBound("exceeded", "this", "lower", least, beta=beta)
    most = mul(_GREATEST, upper, add(ONE, call("log", div(count, beta))))
    yield ErrorBound("exceeded", "this", "upper", most, beta=beta)


def _require_log_concave(law: Law) -> None:
    """Raises Rejected unless the density is certainly a log-concave function of the noise."""
    if not isinstance(law.noise, Radial):
        raise Rejected(NAME, "the noise", "it is not radial noise in a norm")
    shape = _SHAPES.shape(_SHAPES.tidy(neg_log(law.noise.profile)))
    if not (shape.convex and shape.slope <= AT_LEAST_ZERO):
        raise Rejected(NAME, "the profile", "minus its logarithm is not certainly convex, or may fall")


def _squares(premise: Fact, side: Side, dimension: int) -> list[Expr]:
    """The bounds of one side on the root mean squares of the coordinates."""
    found = {
        bound.coordinate: bound.value
        for bound in as_errors(premise.says)
        if (bound.measure, bound.whose, bound.side) == ("rms", "this", side) and isinstance(bound.value, Expr)
    }
    if found.keys() != set(range(dimension)):
        raise Rejected(NAME, premise.rule, "it does not state a finite root mean square of every coordinate")
    return [found[i] for i in range(dimension)]
