"""Losses without bound: tails lighter than exponential, poles, and zeros of the density refute every finite epsilon.

Theorem: Let h = -log(density) and D > 0 the sensitivity over the scale. If h' tends to infinity outwards, the loss h(c + D) - h(c) is
unbounded. If the density tends to infinity or to zero at a point, and is bounded, or away from zero, round a point within D of it, the loss
is unbounded too. No finite epsilon holds.

Checked:
- the density is integrable, and non-negative where no assumption says otherwise
- the sensitivity is positive (at least 1 on the integers)
- h' certainly diverges, or the density does or vanishes, at the end, or at a point about which it or its inverse is continuous
- the density is bounded, or away from zero, round the other point

Source: docs/theory/additive.md#divergence
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.combinators.parameters import fixed
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import INFINITE, Bound
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import format_expr
from dpverify.trusted.kernel.model import Claim, Translation
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.noise import Additive, profile, variable
from dpverify.trusted.language.rationals import read_fraction
from dpverify.trusted.numbers.asymptotics import End, Germ, end_jet
from dpverify.trusted.sensitivity.sensitivity import sensitivity_bounds
from dpverify.trusted.theories.additive.near_points import check_inner_point, check_point, check_reach
from dpverify.trusted.theories.additive.points import noise_of, sign_of
from dpverify.trusted.theories.additive.rules.point_witness import shown

NAME: Final = "divergence"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The bound that no finite epsilon holds. Raises Rejected, CertificateError, or Undecided from the end."""
    claim, at = fixed(claim, evidence, NAME)
    noise = noise_of(claim, evidence, NAME)
    side, assumed = evidence.get("side"), tuple[str, ...]()
    start = read_fraction(evidence, "start", NAME) if side not in ("zero", "pole") else Fraction(1)
    if side in ("+inf", "-inf"):
        _check_tail(claim, noise, End(side, start), evidence)
    elif side in ("zero", "pole"):
        assumed = check_inner_point(claim, noise, evidence)
    elif side in ("right", "left"):
        assumed = check_point(claim, noise, End(side, start, read_fraction(evidence, "point", NAME)), evidence)
    else:
        raise CertificateError(f"{NAME}: side must be '+inf', '-inf', 'right', 'left', 'zero' or 'pole'.")
    shows = evidence.get("witness")
    witness = _limit(claim, evidence) if shows is None else shown(claim, noise, shows)
    return Bound("lower", INFINITE, witness=witness, at=at, assumed=(*assumed, *sign_of(noise)))


def _limit(claim: Claim, evidence: Mapping[str, Any]) -> dict[str, Any]:
    """The witness where an event on which the loss passes the claim is out of reach of numbers: where the loss has no bound."""
    side = evidence["side"]
    reach = sensitivity_bounds(claim, evidence.get("sensitivity")).lower
    point = {"says": "output-towards", "side": side, "point": evidence.get("point")}
    return {"pair": {"says": "answers-at-distance", "distance": format_expr(reach)}, "point": point, "loss": "unbounded"}


def _check_tail(claim: Claim, noise: Additive, end: End, evidence: Mapping[str, Any]) -> None:
    """By the mean value theorem the loss at c is at least D times the least slope beyond c. For one coordinate that moves."""
    check_reach(end, noise)
    reach = constant(sensitivity_bounds(claim, evidence.get("sensitivity")).lower)
    lattice = isinstance(noise, Translation) and noise.integers
    if not (reach >= 1 if lattice else reach > 0):
        raise Rejected(NAME, "sensitivity", "it is not certainly positive" + (", at least 1" if lattice else ""))
    slope: Germ = end_jet(neg_log(profile(noise)), variable(noise), end).d1
    if slope.diverges() != (1 if end.side == "+inf" else -1):
        raise Rejected(NAME, end.side, "the slope of -log(density) does not certainly diverge outwards")
