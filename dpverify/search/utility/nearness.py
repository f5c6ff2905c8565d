"""Proposes how likely answers are to be further from the truth than a claim says: of additive noise, and of finite mechanisms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from flint import arb

from dpverify.search.proposal import Steps
from dpverify.search.utility.noise_error import BROKEN, MOST_TAIL, ends, exact, readings, ways
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.errors import DpverifyError, Rejected, Undecided
from dpverify.trusted.kernel.model import Claim, Exponential, Table
from dpverify.trusted.theories.utility import laws
from dpverify.trusted.theories.utility.rules import far_noise, far_outputs


def propose(claim: Claim, digits: int) -> Steps:
    """Both bounds in closed form, or enclosed, and between which numbers the least gamma is for a probability that is claimed."""
    if isinstance(claim.mechanism, Table | Exponential):
        return [{"rule": far_outputs.NAME, "evidence": {}}]
    prec = int(3.4 * digits) + 80
    steps: Steps = []
    with precision(prec):
        refusal = ""
        try:
            far_noise.check(claim, {"form": True})
            steps.append({"rule": far_noise.NAME, "evidence": {"form": True}, "prec": prec})
        except (Rejected, Undecided) as error:
            refusal = str(error)
        if claim.domains:
            if not steps:
                raise Rejected(far_noise.NAME, "the parameters", f"no closed form is known, and integrals want a value for each; {refusal}")
            return steps
        best = _enclosed(claim, digits)
        if best is None:
            if not steps:
                far_noise.check(claim, next(readings(claim), {}))  # says why not
            return steps
        evidence, few = best
        least = _least(claim, evidence, few)
        if least or not steps:
            steps.append({"rule": far_noise.NAME, "evidence": {**evidence, **least}, "prec": prec})
    return steps


def _enclosed(claim: Claim, digits: int) -> tuple[dict[str, Any], int] | None:
    """The first evidence by which the probability is known to the digits that it is good for, else that by which it is known best."""
    best: tuple[float, dict[str, Any], int] | None = None
    for evidence, few in _tried(claim, digits):
        try:
            lower, upper = (constant(bound.value) for bound in far_noise.check(claim, evidence))  # type: ignore[arg-type]
        except BROKEN:
            continue
        width = float((upper - lower).mid() / max(float(upper.mid()), 1e-300))
        if best is None or width < best[0]:
            best = width, evidence, few
        if width < 10.0 ** -(few - 1):
            break
    return None if best is None else best[1:]


def _tried(claim: Claim, digits: int) -> Iterator[tuple[dict[str, Any], int]]:
    near = exact(constant(far_noise.asked(claim, far_noise.NAME)).mid())
    for reading in readings(claim):
        try:
            law = laws.read(claim, reading, far_noise.NAME)
        except DpverifyError:
            continue
        for parameters, few in ways(digits, near or Fraction(1), MOST_TAIL, law):
            yield {**reading, **parameters}, few


def _least(claim: Claim, evidence: Mapping[str, Any], digits: int) -> dict[str, Any]:
    """Two distances round the least gamma, where a probability between 0 and 1 is claimed and they are found."""
    assert claim.measure is not None
    if claim.measure.value is None:
        return {}
    beta, law = constant(claim.measure.value), laws.read(claim, evidence, far_noise.NAME)
    if not (beta > 0 and beta < 1):
        return {}

    def excess(t: Fraction, upper: bool) -> arb:
        known = far_noise.beyond(claim, law, t, evidence)
        share = (known.upper() if upper else known.lower()) / beta
        nothing = arb(2) ** -64
        return share.log().mid() if share > nothing else nothing.log().mid()

    near = exact(constant(far_noise.asked(claim, far_noise.NAME)).mid())
    try:
        found = dict(ends(excess, near if near > 0 else Fraction(1), min(digits, 12), law))
        told = {"least": [str(found.get("lower", Fraction(0))), str(found["upper"])]}
        far_noise.check(claim, {**evidence, **told})
    except BROKEN:
        return {}
    return told
