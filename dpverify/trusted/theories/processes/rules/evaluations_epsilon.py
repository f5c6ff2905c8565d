"""The pure epsilon of n evaluations of t noise on functions from both sides, and of a whole function from below.

Theorem: n evaluations of t noise s sqrt(V) N, V = b/Gamma(a), have the tight epsilon (2 a + n) asinh(D_n/(2 s sqrt(2 b))), with D_n^2 = h'
K_n^-1 h: nu + n and nu for nu degrees of freedom, V = nu/chi^2. It grows with n beyond every bound, and fewer evaluations see no more: what
m of them see is a lower bound on D_n. Values that others decide do not count. A small ball where the loss is greatest is the event.

Checked:
- K_n is certainly positive definite, and h' K_n^-1 h enclosed, where the covariance is declared
- the law of V is one, and positive; the scale is positive
- the evaluations that D is computed from are among the n, which no others of them decide
- the loss is above the claimed epsilon on all of the ball that is shown

Source: docs/theory/processes.md#evaluations-epsilon, Reimherr & Awan 2019, Theorem 4 and Corollary 1, corrected
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from flint import arb

from dpverify.trusted.combinators.parameters import fixed
from dpverify.trusted.combinators.runs import Run, reach
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.balls import constant, hull, precision
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected, require
from dpverify.trusted.kernel.expr import ZERO, Expr, add, call, div, mul, num, sqrt, substitute, symbols
from dpverify.trusted.kernel.model import Claim, EllipticalProcess, Part
from dpverify.trusted.language.rationals import to_fraction
from dpverify.trusted.theories.processes import evaluations, infinite_sums
from dpverify.trusted.theories.processes import norms as processes
from dpverify.trusted.theories.processes.norms import is_finite
from dpverify.trusted.theories.processes.rules import process_evaluations

NAME: Final = "evaluations-epsilon"
ASSUMED: Final = ("the sampler is ideal",)
WHOLE: Final = "the whole function is released"
SEEN: Final = "the noise's norm of the difference is the stated sensitivity, and n functionals see it"
INDEPENDENT: Final = "no value is a combination of the others under the covariance that is written out"
BITS: Final = 96


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The tight epsilon from above or below. Raises Rejected, Undecided, CertificateError.

    evidence: "side". From below also values of the parameters under "at"; "n", of how many functionals of a whole function the bound is;
    "seen", of how many of the n D is computed, and of a sequence "start", from where its eigenvalues are positive by their scale; "radius",
    a rational: that of the ball that is shown.
    """
    side = evidence.get("side")
    if side not in ("upper", "lower") or (side == "upper" and evidence.keys() & {"at", "n", "seen", "start"}):
        raise CertificateError(f"{NAME}: 'side' is upper, or lower, which alone takes at, n, seen and start.")
    asked, at = fixed(claim, evidence, NAME)
    noise = asked.mechanism
    if not isinstance(noise, EllipticalProcess) or asked.domains:
        raise Rejected(NAME, "the claim", "it is about a process without open parameters")
    n = _count(noise, evidence)
    moved = _moved(asked, noise, n, evidence.get("seen"))
    process_evaluations.require_scale(noise, moved)
    n, stated = _independent(noise, n, evidence)
    bound = epsilon_of(noise, n, moved.upper if side == "upper" else moved.lower)
    released = () if is_finite(noise) else (WHOLE,)
    witness = None
    if side == "lower" and "radius" in evidence and claim.epsilon is not None:
        claimed = substitute(claim.epsilon, at)
        witness = _ball(noise, n, moved.lower, claimed, to_fraction(evidence["radius"], NAME))
    return Bound(side, bound, witness=witness, at=at, assumed=(*released, *stated))


def epsilon_of(noise: EllipticalProcess, n: int, norm: Expr) -> Expr:
    """(2 a + n) asinh(D/(2 s sqrt(2 b)))."""
    a, b = process_evaluations.inverse_gamma(noise)
    inside = div(norm, mul(num(2), noise.scale, sqrt(mul(num(2), b))))
    return mul(add(mul(num(2), a), num(n)), call("asinh", inside))


def _count(noise: EllipticalProcess, evidence: Mapping[str, Any]) -> int:
    """How many numbers are looked at."""
    if is_finite(noise):
        require("n" not in evidence, CertificateError(f"{NAME}: the mechanism itself says how many numbers are released."))
        return evaluations.number_of(noise)
    n = evidence.get("n")
    if evidence.get("side") != "lower" or type(n) is not int or n < 1:
        raise CertificateError(f"{NAME}: of a whole function there is a lower bound, by n of its functionals, a positive integer.")
    return n


def _independent(noise: EllipticalProcess, n: int, evidence: Mapping[str, Any]) -> tuple[int, tuple[str, ...]]:
    """How many of the n numbers are independent, from below where D is computed from some of them, and what that rests on."""
    if not noise.differences:
        return (evaluations.rank(noise), (process_evaluations.FULL_RANK,)) if is_finite(noise) else (n, (SEEN,))
    if is_finite(noise) and ("seen" not in evidence or n <= evaluations.MOST_EXACT):
        return evaluations.rank(noise), ()
    if noise.covariance == "eigenvalues":
        infinite_sums.require_positive(noise.shape[0], infinite_sums.read_start(evidence), "the eigenvalues")
    if evaluations.has_finite_rank(noise):
        return evaluations.rank(replace(noise, count=num(evidence["seen"]))), ()
    return n, ((INDEPENDENT,) if noise.covariance == "kernel" else ())


def _moved(claim: Claim, noise: EllipticalProcess, n: int, seen: Any) -> Sensitivity:
    """What the n numbers see of a difference; by m of them from below."""
    if not noise.differences:
        return reach(Run(Part(noise, claim.sensitivity)))
    if seen is None and is_finite(noise):
        return reach(Run(Part(noise, claim.sensitivity)))
    if type(seen) is not int or not 1 <= seen <= min(n, evaluations.MOST) or noise.places:
        raise CertificateError(f"{NAME}: 'seen' is how many of the n numbers D is computed from.")
    steps = (n + 1, seen + 1) if noise.covariance == "bridge" else (n, seen)
    if noise.covariance != "eigenvalues" and steps[0] % steps[1]:
        raise CertificateError(f"{NAME}: the {seen} evaluations are not among the {n}.")
    points = evaluations.first_points(noise, seen)
    found = processes.between([evaluations.seen(noise, h, points) for h in noise.differences])
    return Sensitivity(found.lower, found.lower)


def _ball(noise: EllipticalProcess, n: int, norm: Expr, claimed: Expr, radius: Fraction) -> dict[str, Any]:
    """A ball round the point of the greatest loss, in standardised coordinates, with the logarithms of its two probabilities.

    Raises Rejected unless the loss is certainly above the claimed epsilon on all of it.
    """
    if symbols(claimed) or radius <= 0 or not certainly_lt(ZERO, norm):
        raise Rejected(NAME, "the event", "the norm, its radius or the claimed epsilon is not certainly a positive number")
    a, b = process_evaluations.inverse_gamma(noise)
    with precision(BITS + 2 * n.bit_length()):
        d, c, k, rho = constant(div(norm, noise.scale)), 2 * constant(b), constant(a) + arb(n) / 2, hull(radius, radius)
        top = d * (1 + (1 + 4 * c / (d * d)).sqrt()) / 2
        inside = hull(Fraction(-1), Fraction(1)) * rho
        near, far = ((distance + inside).max(arb(0)) for distance in (top - d, top))
        least = k * ((1 + far.lower() ** 2 / c).log() - (1 + near.upper() ** 2 / c).log())
        if not least > constant(claimed):
            raise Rejected(NAME, "the event", "the loss is not certainly above the claimed epsilon on all of the ball; take a smaller one")
        half = arb(n) / 2
        size = k.lgamma() - constant(a).lgamma() - half * (arb.pi() * c).log()
        size += half * arb.pi().log() - (half + 1).lgamma() + n * rho.log()
        logs = [size - k * (1 + r * r / c).log() for r in (near, far)]
    return {
        "pair": {"says": "difference-in-functionals", "norm": constant(norm).str(12, radius=False), "count": str(n)},
        "event": {"says": "ball-along-the-difference", "radius": str(radius), "at": top.str(12, radius=False)},
        "log P": logs[0].str(15),
        "log Q": logs[1].str(15),
    }
