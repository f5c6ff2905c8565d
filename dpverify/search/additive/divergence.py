"""Finds where the loss is unbounded: a light tail, a pole, or a zero."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

from flint import arb

from dpverify.search.additive import asymptotics, point_witness, sensitivity
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, add, children, div, format_expr, mul, neg, num, parse, sqrt, sub, symbols
from dpverify.trusted.kernel.fact import unasked
from dpverify.trusted.kernel.model import Claim, Product, Radial, Translation
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.noise import Additive, variable
from dpverify.trusted.numbers import quotients
from dpverify.trusted.numbers.asymptotics import End, end_jet
from dpverify.trusted.numbers.jets import Jet
from dpverify.trusted.numbers.noise import domain
from dpverify.trusted.numbers.pieces import breaks
from dpverify.trusted.theories.additive.rules import divergence as rule

_MOST_DEGREE = 12
_STARTS = (16, 2**6, 2**10, 2**20, 2**40, 2**100)


def propose(claim: Claim, digits: int = 20) -> list[dict[str, Any]]:
    """A step for the rule divergence with a witness for the claimed epsilon (or for 1), or none."""
    noise = claim.mechanism
    if claim.domains or not isinstance(noise, Radial | Translation | Product):
        return []
    with precision(128):
        evidence = _held(unasked(claim))
        if evidence is None:
            return []
        shows = _witness(claim, evidence, num(1) if claim.epsilon is None else claim.epsilon)
    return [{"rule": rule.NAME, "evidence": {**evidence, **({} if shows is None else {"witness": shows})}}]


@lru_cache(maxsize=64)  # claims about one mechanism share the answer
def _held(claim: Claim) -> dict[str, Any] | None:
    """The first evidence that the rule accepts."""
    assert isinstance(claim.mechanism, Radial | Translation | Product)
    for evidence in _candidates(claim, claim.mechanism):
        with suppress(DpverifyError):
            rule.check(claim, evidence)
            return evidence
    return None


def _candidates(claim: Claim, noise: Additive) -> Iterator[dict[str, Any]]:
    """Evidence for the ends where the slope, or the density, seems to diverge or vanish."""
    density, name = noise.profile if isinstance(noise, Radial) else noise.density, variable(noise)
    gauges = sensitivity.propose(claim)
    given = {**({"sensitivity": gauges} if gauges else {}), **asymptotics.evidence(noise)}
    lower, upper = domain(noise)
    for side, closed in (("+inf", upper), ("-inf", lower)):
        if closed is None:
            leading = _first(neg_log(density), name, side, Fraction(0))
            if leading is not None and leading[1].d1.diverges() != 0:
                yield {"side": side, "start": str(leading[0]), **given}
    if isinstance(noise, Translation) and noise.integers:
        return
    if isinstance(noise, Product) and claim.query is not None:
        return
    reach = point_witness.losses(claim)[0][0].shift
    points = breaks(density, name) | {end for end in (lower, upper) if end is not None} | {Fraction(0)}
    for point, side in product(sorted(points, key=abs), ("right", "left")):
        if point == (upper if side == "right" else lower):
            continue
        leading = _first(density, name, side, point)
        if leading is None or leading[1].v.k.is_zero() or leading[1].v.direction() == 0:
            continue
        for factor, radius in product(("1", "1/2", "-1/2"), ("1/1024", "1/1099511627776")):
            other = format_expr(add(Num(point), mul(Num(Fraction(factor)), reach)))
            yield {"side": side, "start": str(leading[0]), "point": str(point), "other": other, "radius": radius, **given}
    for turn, side in product(_turns(density, name), ("zero", "pole")):
        for factor, radius in product(("1", "1/2", "-1/2"), ("1/1024", "1/1099511627776")):
            other = format_expr(add(turn, mul(Num(Fraction(factor)), reach)))
            yield {"side": side, "point": format_expr(turn), "other": other, "radius": radius, **given}


def _turns(density: Expr, name: str) -> Iterator[Expr]:
    """Points where something in a density is exactly zero: roots of polynomials of low degree."""
    seen: set[Expr] = set()
    for part in dict.fromkeys(_parts(density, name)):
        for root in _roots(part, name):
            if root not in seen:
                seen.add(root)
                yield root


def _parts(expr: Expr, name: str) -> Iterator[Expr]:
    if name in symbols(expr):
        yield expr
        for part in children(expr):
            yield from _parts(part, name)


def _roots(expr: Expr, name: str) -> Iterator[Expr]:
    """The roots of the linear and quadratic factors of a polynomial with rational coefficients."""
    polynomial = quotients.polynomial(expr, name)
    if polynomial is None or not 1 <= polynomial.degree() <= _MOST_DEGREE:
        return
    for factor, _ in polynomial.factor()[1]:
        if factor.degree() <= 2:
            c, b, a = (Num(Fraction(str(factor[i]))) for i in range(3))
            if a == ZERO:
                yield neg(div(c, b))
                continue
            square = sub(mul(b, b), mul(num(4), a, c))
            if constant(square) > 0:
                for sign in (1, -1):
                    yield div(add(neg(b), mul(num(sign), sqrt(square))), mul(num(2), a))


def _first(expr: Expr, name: str, side: Any, point: Fraction) -> tuple[int, Jet] | None:
    """The first start from which an end has an enclosure, and the germs there."""
    for start in _STARTS:
        try:
            jet = end_jet(expr, name, End(side, Fraction(start), point))
            jet.d1.direction()
        except (DpverifyError, ValueError):
            continue
        return start, jet
    return None


def _witness(claim: Claim, evidence: dict[str, Any], target: Expr) -> dict[str, Any] | None:
    """A pair of points with a loss above the target: on the way to the end that diverges."""
    loss = point_witness.losses(claim)[0][0]
    aim = constant(target)
    with precision(512):
        for a, b in _approach(loss, evidence):
            try:
                size = loss.at(a, b)
            except DpverifyError:
                continue
            if size > aim + abs(aim) / 1000 + arb(1) / 1000:
                event = point_witness.evidence(claim, [a], [b], 10, target)
                if event is not None:
                    return event
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
    point, toward = parse(evidence["point"]), -1 if evidence["side"] == "left" else 1
    gap = sub(parse(evidence["other"]), point)
    for k in (*range(4, 40, 2), *range(40, 400, 40)):
        near = add(point, Num(toward * Fraction(1, 2**k)))
        there = add(near, gap)
        if not (loss.half and constant(there) < 0):
            yield near, there
            yield there, near
