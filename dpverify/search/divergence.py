"""Finds where the loss is unbounded: a light tail, a pole, or a zero."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from flint import arb

from dpverify.balls import constant, precision
from dpverify.certificate import Step
from dpverify.errors import DpverifyError
from dpverify.expr import Expr, Num, add, div, format_expr, mul, num
from dpverify.integral import Additive, breaks, domain, variable
from dpverify.model import Claim, Product, Radial, Translation
from dpverify.rules import divergence as rule
from dpverify.search import point_witness
from dpverify.sensitivity import sensitivity_bounds

_STARTS = (16, 2**6, 2**10, 2**20, 2**40, 2**100)


def propose(claim: Claim, digits: int = 20) -> list[Step]:
    """A step for the rule divergence with a witness for the claimed epsilon (or for 1), or none."""
    noise = claim.mechanism
    if claim.domains or not isinstance(noise, Radial | Translation | Product):
        return []
    with precision(128):
        for evidence in _ends(claim, noise):
            try:
                rule.check(claim, evidence)
            except DpverifyError:
                continue
            target = num(1) if claim.epsilon is None else claim.epsilon
            shows = _witness(claim, noise, evidence, target)
            return [Step(rule.NAME, evidence if shows is None else {**evidence, "witness": shows})]
    return []


def _ends(claim: Claim, noise: Additive) -> Iterator[dict[str, Any]]:
    lower, upper = domain(noise)
    for side, closed in (("+inf", upper), ("-inf", lower)):
        if closed is None:
            for start in _STARTS:
                yield {"side": side, "start": str(start)}
    if isinstance(noise, Translation) and noise.integers:
        return
    density = noise.profile if isinstance(noise, Radial) else noise.density
    reach = sensitivity_bounds(claim, None).lower
    if isinstance(noise, Radial):
        reach = div(reach, noise.scale)
    points = breaks(density, variable(noise)) | {end for end in (lower, upper) if end is not None} | {Fraction(0)}
    for point in sorted(points, key=abs):
        for side in ("right", "left"):
            for start in _STARTS:
                for factor in (Fraction(1), Fraction(1, 2), Fraction(-1, 2)):
                    other = add(Num(point), mul(Num(factor), reach))
                    for radius in (Fraction(1, 2**10), Fraction(1, 2**40)):
                        found = {"side": side, "start": str(start), "point": str(point), "other": format_expr(other)}
                        yield {**found, "radius": str(radius)}


def _witness(claim: Claim, noise: Additive, evidence: dict[str, Any], target: Expr) -> dict[str, Any] | None:
    """A pair of points with a loss above the target: on the way to the end that diverges."""
    loss = point_witness.losses(claim)[0][0]
    aim = constant(target)
    with precision(1024):
        for a, b in _approach(loss, evidence):
            try:
                size = loss.at(a, b)
            except DpverifyError:
                continue
            if size > aim + abs(aim) / 1000 + arb(1) / 1000:
                found = point_witness.evidence(claim, [a], [b], 10, target)
                if found is not None:
                    return found
    return None


def _approach(loss: point_witness.Loss, evidence: dict[str, Any]) -> Iterator[tuple[Expr, Expr]]:
    """Pairs (a, b), nearer and nearer to the end."""
    if evidence["side"] in ("+inf", "-inf"):
        outward = 1 if evidence["side"] == "+inf" else -1
        for k in range(-8, 300):
            c = Fraction(2) ** k
            if loss.integers:
                c = Fraction(max(0, k + 8) if k < 0 else 2**k)
            yield Num(outward * c), add(Num(outward * c), mul(num(outward), loss.shift))
        return
    point, toward = Fraction(evidence["point"]), 1 if evidence["side"] == "right" else -1
    for k in range(4, 1000, 2):
        near = point + toward * Fraction(1, 2**k)
        for sign in (1, -1):
            there = add(Num(near), mul(num(sign), loss.shift))
            yield Num(near), there
            yield there, Num(near)
