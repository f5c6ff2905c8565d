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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.combinators.densities import log_concave
from dpverify.trusted.facts.errors import SIDES, ErrorBound, Measure
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, add, call, div, mul, num, power, sqrt, sub
from dpverify.trusted.kernel.fact import Fact, as_errors
from dpverify.trusted.kernel.model import Claim, Radial
from dpverify.trusted.theories.utility.laws import read
from dpverify.trusted.theories.utility.rules.noise_quantile import beta_of

NAME: Final = "log-concave-noise"
ASSUMED: Final = ("the sampler is ideal",)

_LEAST: Final = sqrt(Num(Fraction(1, 2)))
_GREATEST: Final = sqrt(Num(Fraction(3, 4)))


def infer(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> tuple[ErrorBound, ...]:
    """Both sides of the means, and of the distance where the claim states beta.

    parameters: those of `laws.read`. premises: one, a fact of the root mean squares of all coordinates. Raises Rejected, CertificateError.
    """
    law = read(claim, parameters, NAME)
    if len(premises) != 1 or premises[0].about != claim:
        raise CertificateError(f"{NAME}: it wants one premise, of the root mean squares of the coordinates.")
    if not isinstance(law.noise, Radial) or not log_concave(law.noise):
        raise Rejected(NAME, "the noise", "it is not certainly radial noise in a norm with a log-concave density")
    roots = [bound for bound in as_errors(premises[0].says) if (bound.measure, bound.whose) == ("rms", "this")]
    found = list(roots)
    for side in SIDES:
        squares = {bound.coordinate: power(bound.value, num(2)) for bound in roots if bound.side == side and isinstance(bound.value, Expr)}
        if squares.keys() != set(range(law.dimension)):
            raise Rejected(NAME, premises[0].rule, "it does not state a finite root mean square of every coordinate")
        found.append(ErrorBound("rms_l2", "this", side, sqrt(add(*squares.values()))))
    return (*means(found, True), *(() if claim.beta is None else exceeded(roots, beta_of(claim, NAME))))


def means(roots: Iterable[ErrorBound], smooth: bool) -> list[ErrorBound]:
    """Bounds on the means of sizes of coordinates, and of the length, from those on their root mean squares.

    smooth: whether the density is log-concave, without which a mean is no more than the root mean square.
    """
    found = []
    for root in roots:
        alone = root.coordinate is not None
        share = _LEAST if root.side == "lower" else _GREATEST if alone and smooth else ONE
        if isinstance(root.value, Expr) and (smooth or root.side == "upper"):
            measure: Measure = "expected_absolute" if alone else "expected_l2"
            found.append(ErrorBound(measure, "this", root.side, mul(share, root.value), root.coordinate))
    return found


def exceeded(roots: Sequence[ErrorBound], beta: Expr) -> Iterator[ErrorBound]:
    """Both sides of the distance that the greatest coordinate is above with probability beta, from the root mean squares of all."""
    lower, upper = ([root.value for root in roots if root.side == side and isinstance(root.value, Expr)] for side in SIDES)
    least = mul(call("max", *dict.fromkeys(lower)), sub(_LEAST, sqrt(beta)))
    if certainly_lt(ZERO, least):
        yield ErrorBound("exceeded", "this", "lower", least, beta=beta)
    most = mul(_GREATEST, call("max", *dict.fromkeys(upper)), add(ONE, call("log", div(num(len(upper)), beta))))
    yield ErrorBound("exceeded", "this", "upper", most, beta=beta)
