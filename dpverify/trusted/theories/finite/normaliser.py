"""Whether the density of a kernel is one: non-negative, with integral 1 for every input.

The integral is shown to be 1 by antiderivatives. The inputs are cut into cells; over a cell, lines y = c(theta), linear in theta, cut the
outputs into pieces on which every abs, min, max and floor of the density is decided at the corners (its arguments are linear). On a piece
between two lines the evidence has an F without kinks, continuous there, whose derivative in y is the density, as an exact identity; on
a piece that goes to infinity it has a c(theta) such that F = c p does, so that p is a multiple of exp(y/c) and F tends to 0 where c has
the right sign. The differences of F over all pieces sum to 1, as an exact identity in theta; where the density is q(y, theta)/D(theta),
those of q sum to D, which has no zero.

A density is non-negative by its form, or by the signs of its factors. What is not shown is an assumption.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

from flint import arb, ctx

from dpverify.trusted.kernel.balls import constant, exact, value
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected, require
from dpverify.trusted.kernel.expr import (
    ONE,
    ZERO,
    Call,
    Expr,
    Mul,
    Num,
    Pow,
    add,
    children,
    div,
    format_expr,
    mul,
    neg,
    num,
    parse,
    power,
    rebuild,
    sub,
    substitute,
    symbols,
)
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import Claim, Domain, Kernel
from dpverify.trusted.language.derivatives import derivative
from dpverify.trusted.language.linear import linear_part
from dpverify.trusted.language.signs import NEGATIVE, plainly_non_negative
from dpverify.trusted.theories.finite.densities import KINKS, has_kinks

WHAT: Final = "kernel"
ONE_FOR_ALL: Final = "the density integrates to 1 for every input"


def check_normaliser(claim: Claim, evidence: Any = None) -> tuple[str, ...]:
    """The hypotheses of a density that are not shown: that it is non-negative, that it integrates to 1. Raises Rejected, CertificateError.

    evidence, if given: "cells", the antiderivatives.
    """
    kernel = claim.mechanism
    if not isinstance(kernel, Kernel):
        raise Rejected(WHAT, "mechanism", "only a density in y and theta is a kernel")
    if claim.domains or symbols(kernel.density) - {"y", "theta"}:
        raise Rejected(WHAT, "parameters", "a kernel needs a value for every parameter")
    shown = {} if evidence is None else evidence
    assumed = () if is_non_negative(kernel) else (NEGATIVE,)
    if "cells" not in shown:
        return (*assumed, ONE_FOR_ALL)
    _check_antiderivatives(kernel, json.dumps(shown["cells"]), ctx.prec)
    return assumed


# -- the sign ----------------------------------------------------------------------------------------


def is_non_negative(kernel: Kernel) -> bool:
    """Whether the density is certainly at least 0 at all outputs and inputs: by its form, or by the signs of its factors."""
    ranges = {"y": _domain(*kernel.output), "theta": _domain(*kernel.input)}
    return plainly_non_negative(kernel.density) or _at_least_zero(kernel.density, ranges)


def _at_least_zero(expr: Expr, ranges: Mapping[str, Domain]) -> bool:
    if isinstance(expr, Mul) and all(_at_least_zero(factor, ranges) for factor in expr.args):
        return True
    return (isinstance(expr, Pow) and certainly_lt(ZERO, expr.base, ranges)) or certainly_le(ZERO, expr, ranges)


# -- the integral, by antiderivatives -----------------------------------------------------------------


@remembered(32)
def _check_antiderivatives(kernel: Kernel, text: str, prec: int) -> None:
    """Raises Rejected unless the evidence shows that the density integrates to 1 for every input. prec: the precision, for the cache.

    text: JSON, for each cell of inputs, in order, {"until": its end, "cuts": the lines c(theta), rising, "parts": F or c for each piece}.
    """
    evidence = json.loads(text)
    start, end = kernel.input
    upper, lower = quotient(kernel)
    for cell in evidence:
        stop = read_in(cell["until"], ())
        require(certainly_lt(start, stop), Rejected(WHAT, "the cells of inputs", "they do not certainly rise"))
        total = integral_over_cell(kernel.output, upper, start, stop, cell)
        inputs = {"theta": _domain(start, stop)}
        if not (certainly_lt(ZERO, lower, inputs) or certainly_lt(lower, ZERO, inputs)):
            raise Rejected(WHAT, "the normaliser", f"{format_expr(lower)} may be 0")
        if not certainly_equal(total, lower, inputs):
            where = f"theta from {format_expr(start)} to {format_expr(stop)}"
            raise Rejected(WHAT, where, "the differences of the antiderivatives do not certainly sum to 1")
        start = stop
    require(certainly_equal(start, end), Rejected(WHAT, "the cells of inputs", "they do not cover the input"))


def quotient(kernel: Kernel) -> tuple[Expr, Expr]:
    """(q, D) with density q/D, D free of y: the factors that the density is divided by."""
    density = kernel.density
    below = [
        factor
        for factor in (density.args if isinstance(density, Mul) else (density,))
        if isinstance(factor, Pow) and "y" not in symbols(factor) and isinstance(factor.exponent, Num) and factor.exponent.value < 0
    ]
    above = mul(*(factor for factor in (density.args if isinstance(density, Mul) else (density,)) if factor not in below))
    return above, mul(*(power(factor, num(-1)) for factor in below))


def integral_over_cell(output: tuple[Expr | None, Expr | None], density: Expr, start: Expr, stop: Expr, cell: Mapping[str, Any]) -> Expr:
    """The integral of a density over the outputs as an expression in theta, over a cell of inputs, by the evidence for that cell."""
    cuts = [read_in(text, ("theta",)) for text in cell["cuts"]]
    require(not any(symbols(linear_part(cut, "theta")[1]) for cut in cuts), Rejected(WHAT, "the cuts", "they are not linear in theta"))
    ends = [output[0], *cuts, output[1]]
    total: list[Expr] = []
    for (low, high), text in zip(pairwise(ends), cell["parts"], strict=True):
        piece = Piece(low, high, start, stop)
        settled = piece.settled(density)
        require(not has_kinks(settled), Rejected(WHAT, "a piece", "the sides of its kinks are not decided at its corners"))
        f = piece.antiderivative(settled, text)
        total += [substitute(f, {"y": high})] if high is not None else []
        total += [neg(substitute(f, {"y": low}))] if low is not None else []
    return add(*total)


def read_in(text: Any, names: tuple[str, ...]) -> Expr:
    """An expression of the evidence, in the given symbols alone."""
    expr = parse(text)
    if not symbols(expr) <= set(names):
        raise CertificateError(f"the normaliser's evidence has {format_expr(expr)[:60]}, an expression in other symbols.")
    return expr


def _domain(low: Expr | None, high: Expr | None) -> Domain:
    """A domain that holds the interval between two constants, or without end."""
    least = low.value if isinstance(low, Num) else None if low is None else exact(constant(low).lower())
    most = high.value if isinstance(high, Num) else None if high is None else exact(constant(high).upper())
    return Domain(least, most, low is None, high is None)


class Piece:
    """Outputs between two lines (None: to infinity) over a cell of inputs. Raises Rejected where the lines may cross inside."""

    def __init__(self, low: Expr | None, high: Expr | None, start: Expr, stop: Expr) -> None:
        self.low, self.high = low, high
        self.inputs = (start, stop)
        self.corners = [(substitute(end, {"theta": x}), x) for end in (low, high) if end is not None for x in self.inputs]
        self.away = [sign for end, sign in ((low, -1), (high, 1)) if end is None]
        require(bool(self.corners), Rejected(WHAT, "a piece", "it is the whole line; cut it"))
        if low is not None and high is not None:
            for x in self.inputs:
                if not certainly_le(substitute(low, {"theta": x}), substitute(high, {"theta": x})):
                    raise Rejected(WHAT, "the cuts", "they do not certainly rise over the cell")

    def at_least_zero(self, expr: Expr) -> bool:
        """Whether an expression that is linear in y and theta is certainly at least 0 on the piece."""
        in_y, rest = linear_part(expr, "y")
        in_theta, rest = linear_part(rest, "theta")
        if symbols(in_y) | symbols(in_theta) | symbols(rest):
            return False
        rises = all(certainly_le(ZERO, mul(num(sign), in_y)) for sign in self.away)
        return rises and all(certainly_le(ZERO, substitute(expr, {"y": y, "theta": x})) for y, x in self.corners)

    def settled(self, expr: Expr) -> Expr:
        """The expression with abs, min, max and floor decided where their sides are certain, but for single outputs y."""
        done = rebuild(expr, self.settled) if symbols(expr) else expr
        if not isinstance(done, Call) or done.name not in KINKS or not symbols(done):
            return done
        u = done.args[0]
        if done.name == "abs":
            return u if self.at_least_zero(u) else neg(u) if self.at_least_zero(neg(u)) else done
        if done.name == "floor":
            return self._step(u) or done
        best = u
        for other in done.args[1:]:
            below = self._at_most(best, other)
            above = not below and self._at_most(other, best)
            if not below and not above:
                return done
            best = best if below is (done.name == "min") else other
        return best

    def _at_most(self, a: Expr, b: Expr) -> bool:
        """Whether a <= b on the piece, but for single outputs y. For integers n: n <= floor(u) if n <= u, floor(u) <= n if u < n + 1."""
        if isinstance(b, Call) and b.name == "floor" and isinstance(a, Num) and a.value.denominator == 1:
            b = b.args[0]
        elif isinstance(a, Call) and a.name == "floor" and isinstance(b, Num) and b.value.denominator == 1 and self._moves(a.args[0]):
            a, b = a.args[0], add(b, ONE)
        return self.at_least_zero(sub(b, a))

    def _moves(self, u: Expr) -> bool:
        """Whether a linear expression certainly changes with y, so that it has each value for single outputs only."""
        slope, _ = linear_part(u, "y")
        return not symbols(slope) and (certainly_lt(ZERO, slope) or certainly_lt(slope, ZERO))

    def _step(self, u: Expr) -> Expr | None:
        """The integer n with n <= u <= n + 1 on the piece, u = n + 1 for single outputs at most."""
        y, x = self.corners[0], self.corners[-1]
        inside = tuple(div(add(a, b), num(2)) for a, b in zip(y, x, strict=True))
        ball = constant(substitute(u, {"y": inside[0], "theta": inside[1]})).mid().floor()
        if not ball.is_exact() or not ball.is_finite():
            return None
        n = int(exact(ball))
        return num(n) if self._moves(u) and self.at_least_zero(sub(u, num(n))) and self.at_least_zero(sub(num(n + 1), u)) else None

    @property
    def ranges(self) -> dict[str, Domain]:
        """The ranges of y and theta."""
        outputs = [constant(y) for y, _ in self.corners]
        least = None if self.low is None else min(exact(y.lower()) for y in outputs)
        most = None if self.high is None else max(exact(y.upper()) for y in outputs)
        return {"theta": _domain(*self.inputs), "y": Domain(least, most, least is None, most is None)}

    def antiderivative(self, density: Expr, text: Any) -> Expr:
        """F in y and theta, continuous on the piece with the density as its derivative, and 0 at infinity. Raises Rejected."""
        known = self.ranges
        f = read_in(text, ("y", "theta") if not self.away else ("theta",))
        if self.away:
            falls = certainly_lt(f, ZERO, known) if self.away == [1] else certainly_lt(ZERO, f, known)
            require(falls, Rejected(WHAT, "a piece to infinity", "its factor does not certainly have the sign that makes the density fall"))
            f = mul(f, density)
        elif has_kinks(f) or not certainly_le(f, f, known):  # what has a value everywhere, and no kinks, is continuous
            raise Rejected(WHAT, "an antiderivative", f"{format_expr(f)[:80]} is not certainly continuous on its piece")
        slope = derivative(f, "y")
        if not certainly_equal(slope, density, known):
            raise Rejected(WHAT, "an antiderivative", f"the derivative of {format_expr(f)[:80]} is not certainly the density")
        return f


def is_finite(expr: Expr, ranges: Mapping[str, arb]) -> bool:
    """Whether everything in an expression has a finite enclosure."""
    return bool(value(expr, ranges).is_finite()) and all(is_finite(part, ranges) for part in children(expr))
