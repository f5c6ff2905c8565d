"""Finds evidence for the supremum rule by parts: ends, and a tree of cuts of the strip of all pairs of points within the sensitivity."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from math import floor
from typing import Any

from dpverify.search.additive import sensitivity
from dpverify.search.additive.modulus import NotFound, Search, bits_for, bound_of, kinks, side_text
from dpverify.search.finite import kernel_box
from dpverify.trusted.kernel.balls import constant, exact, precision
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import Expr, Num, format_expr, num, sub, substitute
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.numbers.asymptotics import End
from dpverify.trusted.theories.additive.axis import Line
from dpverify.trusted.theories.additive.rules import modulus_parts
from dpverify.trusted.theories.additive.sides import Side
from dpverify.trusted.theories.finite.part_slopes import at

REACH = Fraction(16)
"""Where ends that do not repeat are taken to begin while the greatest loss is looked for."""


def propose(claim: Claim, digits: int = 20) -> list[dict[str, Any]]:
    """One step for the rule. Raises NotFound with what stopped the search, Rejected where the rule does not apply."""
    with precision(bits_for(digits)):
        gauge = sensitivity.propose(claim)
        line = Line.of(claim, {"sensitivity": gauge}, points=True)
        search = Search(line, digits, sorted(kinks(line.h, line.name)))
        far, near = search.period(1), None if line.half else search.period(-1)
        first: Side | None = near or (None if line.half else End("-inf", REACH))
        last = far or End("+inf", REACH)
        if line.whole:
            top, exact_top = _of_integers(line, first, last), True
        else:
            best = kernel_box.greatest(*modulus_parts.strip(line, first, last), digits)
            top, exact_top = at(best.loss, best.point), best.exact
        candidates = [(constant(top), top if exact_top else None), *([] if far and (near or line.half) else search.at_infinity())]
        for bound in _bounds(claim, bound_of(candidates, digits), digits):
            ends: tuple[Side | None, Side] = (near or (None if line.half else search.near_end(bound)), far or search.far_end(bound))
            if line.whole:
                with suppress(Rejected):
                    evidence = {"bound": format_expr(bound), "near": ends[0] and side_text(ends[0]), "far": side_text(ends[1])}
                    modulus_parts.check(claim, evidence)
                    return [{"rule": modulus_parts.NAME, "evidence": evidence}]
                continue
            region, loss = modulus_parts.strip(line, *ends)
            tree = kernel_box.tree_for(region, loss, bound, best.point, digits)
            if tree is not None:
                evidence = {"bound": format_expr(bound), "tree": tree, "far": side_text(ends[1])}
                evidence |= {"near": side_text(ends[0])} if ends[0] is not None else {}
                return [{"rule": modulus_parts.NAME, "evidence": evidence | ({"sensitivity": gauge} if gauge else {})}]
        raise NotFound("the pairs of points within the sensitivity were not bounded.")


def _of_integers(line: Line, near: Side | None, far: Side) -> Expr:
    """The greatest loss between integers in the strip, as far as balls tell."""
    low, high, most = (floor(x) for x in modulus_parts.reaches(line, near, far))
    heights = {n: substitute(line.h, {line.name: num(n)}) for n in range(low - most, high + most + 1)}
    balls = {n: constant(height) for n, height in heights.items()}
    if not all(ball.is_finite() for ball in balls.values()):
        raise NotFound("the density is not certainly positive at every integer.")
    pairs = ((balls[b] - balls[a], -abs(a) - abs(b), a, b) for a in range(low, high + 1) for b in range(a - most, a + most + 1))
    *_, a, b = max(pairs, key=lambda pair: (float(pair[0].mid()), pair[1]))
    return sub(heights[b], heights[a])


def _bounds(claim: Claim, least: Expr, digits: int) -> Iterator[Expr]:
    """Values to prove, the sharpest first, and last the claimed one."""
    yield least
    for places in (digits, 9, 4):
        scale = 10**places
        yield Num(Fraction(int(exact((constant(least) * scale).upper().ceil())) + 1, scale))
    if claim.epsilon is not None and constant(least) < constant(claim.epsilon):
        yield claim.epsilon
