"""Whether the density of a kernel is one: non-negative, with integral 1 for every input.

The integral is shown to be 1 by antiderivatives. The inputs are cut into cells; over a cell, lines y = c(theta), linear in theta, cut the
outputs into pieces on which every abs, min, max and floor of the density is decided at the corners (its arguments are linear). On a piece
between two lines the evidence has an F without kinks, continuous there, whose derivative in y is the density, as an exact identity; on
a piece that goes to infinity it has a c(theta) such that F = c p does, so that p is a multiple of exp(y/c) and F tends to 0 where c has
the right sign. The differences of F over all pieces sum to 1, as an exact identity in theta; where the density is q(y, theta)/D(theta),
those of q sum to D, which has no zero.

Without evidence the integral is enclosed over cells that cover all inputs, and at a few inputs more sharply; that it is 1 is then an
assumption. A density whose integral is certainly not 1 at some input, or that is certainly negative somewhere, is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from flint import arb, ctx

from dpverify.trusted.language.derivatives import derivative
from dpverify.trusted.language.errors import CertificateError, ExprError, Rejected, Undecided
from dpverify.trusted.language.expr import (
    ONE,
    ZERO,
    Call,
    Expr,
    Mul,
    Num,
    Pow,
    Sym,
    add,
    children,
    div,
    format_expr,
    linear_part,
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
from dpverify.trusted.language.loading import remembered
from dpverify.trusted.language.model import Claim, Domain, Kernel
from dpverify.trusted.language.signs import NEGATIVE, plainly_non_negative
from dpverify.trusted.numbers.balls import constant, hull, rational, value
from dpverify.trusted.numbers.quadrature import integral
from dpverify.trusted.order.compare import certainly_equal, certainly_le, certainly_lt
from dpverify.trusted.order.decimals import decimal_bounds
from dpverify.trusted.rules.finite.densities import KINKS, fraction, has_kinks

WHAT: Final = "kernel"
SHARES: Final = (Fraction(0), Fraction(1, 3), Fraction(1))
"""Where in the range of inputs the integral is enclosed, without evidence."""
CELLS: Final = 16
"""So many cells of inputs and of outputs are the integral enclosed over, without evidence."""
MOST_BOXES: Final = 600


def check_normaliser(claim: Claim, evidence: Any = None) -> tuple[str, ...]:
    """The hypotheses of a density that are not shown: that it is non-negative, that it integrates to 1.

    evidence: the antiderivatives, None where there are none. Raises Rejected where the density is certainly none, or the evidence is wrong.
    """
    kernel = claim.mechanism
    if not isinstance(kernel, Kernel):
        raise Rejected(WHAT, "mechanism", "only a density in y and theta is a kernel")
    if claim.domains or symbols(kernel.density) - {"y", "theta"}:
        raise Rejected(WHAT, "parameters", "a kernel needs a value for every parameter")
    assumed = () if is_non_negative(kernel) else (NEGATIVE,)
    if evidence is None:
        return (*assumed, _enclosed(kernel))
    _check_antiderivatives(kernel, json.dumps(evidence), ctx.prec)
    return assumed


# -- the sign ----------------------------------------------------------------------------------------


@remembered(16)
def is_non_negative(kernel: Kernel) -> bool:
    """Whether the density is certainly at least 0. Raises Rejected where it is certainly negative at some output and input."""
    return _non_negative(kernel.density, kernel)


def _non_negative(expr: Expr, kernel: Kernel) -> bool:
    if plainly_non_negative(expr):
        return True
    factors = expr.args if isinstance(expr, Mul) else (expr.base,) if isinstance(expr, Pow) else ()
    if factors and all(_non_negative_on_boxes(factor, kernel, False) for factor in factors if not plainly_non_negative(factor)):
        return True
    return _non_negative_on_boxes(expr, kernel, expr == kernel.density)


def _non_negative_on_boxes(expr: Expr, kernel: Kernel, whole: bool) -> bool:
    """At the corners where it is linear in each variable, else by bisection. whole: it is the density, refused where certainly negative."""
    ranges = {"y": kernel.output, "theta": kernel.input}
    names = sorted(symbols(expr))
    if any(end is None for name in names for end in ranges[name]):
        return False
    if _linear_in_each(expr):
        ends = [[{name: end} for end in ranges[name] if end is not None] for name in names]
        if all(certainly_le(ZERO, substitute(expr, {**a, **b})) for a in ends[0] for b in (ends[1] if len(ends) > 1 else [{}])):
            return True
    unit = [{name: (Fraction(0), Fraction(1)) for name in names}]
    lengths = {name: [constant(end) for end in ranges[name] if end is not None] for name in names}
    for _ in range(MOST_BOXES):
        if not unit:
            return True
        box = unit.pop(0)
        at = {name: low + (high - low) * hull(*box[name]) for name, (low, high) in lengths.items()}
        ball = value(expr, at)
        if ball >= 0:
            continue
        middle = {name: low + (high - low) * rational((box[name][0] + box[name][1]) / 2) for name, (low, high) in lengths.items()}
        if whole and value(expr, middle) < 0:
            where = ", ".join(f"{name} = {x.str(6, radius=False)}" for name, x in reversed(middle.items()))
            raise Rejected(WHAT, "density", f"the density is negative at {where}; a density must not be")
        if not names:
            return False
        widest = max(names, key=lambda name: box[name][1] - box[name][0])
        low, high = box[widest]
        unit += [{**box, widest: part} for part in ((low, (low + high) / 2), ((low + high) / 2, high))]
    return False


def _linear_in_each(expr: Expr) -> bool:
    """Whether an expression in y and theta is linear in either, so that it is least at a corner."""
    try:
        return bool(symbols(expr)) and all(derivative(derivative(expr, name), name) == ZERO for name in ("y", "theta"))
    except ExprError:
        return False


# -- the integral, by antiderivatives -----------------------------------------------------------------


@remembered(32)
def _check_antiderivatives(kernel: Kernel, text: str, prec: int) -> None:
    """Raises Rejected unless the evidence shows that the density integrates to 1 for every input. prec: the precision, for the cache.

    text: JSON, for each cell of inputs, in order, {"until": its end, "cuts": the lines c(theta), rising, "parts": F or c for each piece}.
    """
    evidence = json.loads(text)
    start, end = kernel.input
    upper, lower = quotient(kernel)
    if not isinstance(evidence, list) or not evidence:
        raise CertificateError("the normaliser's evidence is no list of cells.")
    for cell in evidence:
        stop = read_in(cell["until"], ())
        if not certainly_lt(start, stop):
            raise Rejected(WHAT, "the cells of inputs", "they do not certainly rise")
        total = integral_over_cell(kernel.output, upper, start, stop, cell)
        inputs = {"theta": _domain(start, stop)}
        if not _continuous_on(div(ONE, lower), inputs):
            raise Rejected(WHAT, "the normaliser", f"{format_expr(lower)} may be 0")
        if not certainly_equal(total, lower, inputs):
            where = f"theta from {format_expr(start)} to {format_expr(stop)}"
            raise Rejected(WHAT, where, "the differences of the antiderivatives do not certainly sum to 1")
        start = stop
    if not certainly_equal(start, end):
        raise Rejected(WHAT, "the cells of inputs", "they do not cover the input")


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
    if any(symbols(linear_part(cut, "theta")[1]) for cut in cuts):
        raise Rejected(WHAT, "the cuts", "they are not linear in theta")
    ends = [output[0], *cuts, output[1]]
    if len(cell["parts"]) != len(ends) - 1:
        raise CertificateError("the normaliser's evidence has another number of parts than of pieces.")
    total: list[Expr] = []
    for (low, high), text in zip(pairwise(ends), cell["parts"], strict=True):
        piece = Piece(low, high, start, stop)
        settled = piece.settled(density)
        if has_kinks(settled):
            raise Rejected(WHAT, "a piece", "the sides of its kinks are not decided at its corners")
        f = piece.antiderivative(settled, text)
        total += [substitute(f, {"y": high})] if high is not None else []
        total += [neg(substitute(f, {"y": low}))] if low is not None else []
    return add(*total)


def read_in(text: Any, names: tuple[str, ...]) -> Expr:
    """An expression of the evidence, in the given symbols alone."""
    if not isinstance(text, str):
        raise CertificateError("the normaliser's evidence holds something else than texts of expressions.")
    expr = parse(text)
    if not symbols(expr) <= set(names):
        raise CertificateError(f"the normaliser's evidence has {format_expr(expr)[:60]}, an expression in other symbols.")
    return expr


def _domain(low: Expr | None, high: Expr | None) -> Domain:
    """A domain that holds the interval between two constants."""
    least = None if low is None else low.value if isinstance(low, Num) else fraction(constant(low).lower())
    most = None if high is None else high.value if isinstance(high, Num) else fraction(constant(high).upper())
    return Domain(least, most, least is None, most is None)


class Piece:
    """Outputs between two lines (None: to infinity) over a cell of inputs. Raises Rejected where the lines may cross inside."""

    def __init__(self, low: Expr | None, high: Expr | None, start: Expr, stop: Expr) -> None:
        self.low, self.high = low, high
        self.inputs = (start, stop)
        self.corners = [(substitute(end, {"theta": x}), x) for end in (low, high) if end is not None for x in self.inputs]
        self.away = [sign for end, sign in ((low, -1), (high, 1)) if end is None]
        if not self.corners:
            raise Rejected(WHAT, "a piece", "it is the whole line; cut it")
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
        n = int(fraction(ball))
        return num(n) if self._moves(u) and self.at_least_zero(sub(u, num(n))) and self.at_least_zero(sub(num(n + 1), u)) else None

    def antiderivative(self, density: Expr, text: Any) -> Expr:
        """F in y and theta, continuous on the piece with the density as its derivative, and 0 at infinity. Raises Rejected."""
        outputs = [y for y, _ in self.corners]
        known = {
            "theta": _domain(*self.inputs),
            "y": Domain(
                None if self.low is None else min(fraction(constant(y).lower()) for y in outputs),
                None if self.high is None else max(fraction(constant(y).upper()) for y in outputs),
                self.low is None,
                self.high is None,
            ),
        }
        f = read_in(text, ("y", "theta") if not self.away else ("theta",))
        if self.away:
            falls = certainly_lt(f, ZERO, known) if self.away == [1] else certainly_lt(ZERO, f, known)
            if not falls:
                raise Rejected(WHAT, "a piece to infinity", "its factor does not certainly have the sign that makes the density fall")
            f = mul(f, density)
        elif has_kinks(f) or not _continuous_on(f, known):
            raise Rejected(WHAT, "an antiderivative", f"{format_expr(f)[:80]} is not certainly continuous on its piece")
        try:
            slope = derivative(f, "y")
        except ExprError as error:
            raise Rejected(WHAT, "an antiderivative", str(error)) from error
        if not certainly_equal(slope, density, known):
            raise Rejected(WHAT, "an antiderivative", f"the derivative of {format_expr(f)[:80]} is not certainly the density")
        return f


def _continuous_on(expr: Expr, known: Mapping[str, Domain], depth: int = 0) -> bool:
    """Whether an expression without kinks is certainly continuous on a box: everything in it has finite enclosures on parts of it."""
    ranges = {name: hull(d.lower, d.upper) for name, d in known.items() if d.lower is not None and d.upper is not None}
    if _finite(expr, ranges):
        return True
    name = max(known, key=lambda name: fraction(ranges[name].rad()))
    low, high = known[name].lower, known[name].upper
    if depth > 10 or low is None or high is None:
        return False
    halves = (Domain(low, (low + high) / 2, False, False), Domain((low + high) / 2, high, False, False))
    return all(_continuous_on(expr, {**known, name: half}, depth + 1) for half in halves)


def _finite(expr: Expr, ranges: Mapping[str, arb]) -> bool:
    return bool(value(expr, ranges).is_finite()) and all(_finite(part, ranges) for part in children(expr))


# -- the integral, enclosed -----------------------------------------------------------------------------


@remembered(16)
def _enclosed(kernel: Kernel) -> str:
    """The assumption that the integral is 1, with what is known of it. Raises Rejected where that is certainly false."""
    checked = [format_expr(theta) for share in SHARES if integrates_to_one(kernel, theta := at_share(kernel, share))]
    known = _over_cells(kernel)
    says = [*([f"for all inputs within {known}"] if known else []), *([f"checked at {', '.join(checked)}"] if checked else [])]
    return f"the density integrates to 1 for every input ({'; '.join(says) or 'no enclosure of its integral was found'})"


def at_share(kernel: Kernel, share: Fraction) -> Expr:
    """An input by its share of the range of inputs."""
    return add(mul(Num(1 - share), kernel.input[0]), mul(Num(share), kernel.input[1]))


def integrates_to_one(kernel: Kernel, theta: Expr, bits: int = 24) -> bool:
    """Whether an enclosure of the integral holds 1; False where there is none. Raises Rejected where it excludes 1."""
    low, high = kernel.output
    density = substitute(kernel.density, {"theta": theta})
    ends: tuple[Fraction | None, ...] = tuple(end.value if isinstance(end, Num) else None for end in (low, high))
    if low is not None and high is not None and None in ends:
        # an end that is not rational: the output runs over [0, 1] instead
        length = sub(high, low)
        density, ends = mul(length, substitute(density, {"y": add(low, mul(length, Sym("y")))})), (Fraction(0), Fraction(1))
    elif any(found is None and end is not None for end, found in zip((low, high), ends, strict=True)):
        return False
    try:
        total = integral(density, "y", ends[0], ends[1], bits)
    except (Undecided, ExprError):
        return False
    _refuse_unless_one(total, f"at theta = {format_expr(theta)}")
    return bool(total.is_finite())


def _refuse_unless_one(total: arb, where: str) -> None:
    if total < 1 or total > 1:
        why = f"the density does not integrate to 1 {where}: it gives {total.str(8)}. Write its normaliser out"
        raise Rejected(WHAT, "density", why)


def _over_cells(kernel: Kernel) -> str | None:
    """An enclosure of the integral for all inputs, None for an infinite output or where there is none. Raises Rejected."""
    low, high = (None if end is None else constant(end) for end in kernel.output)
    if low is None or high is None:
        return None
    steps = [hull(Fraction(i, CELLS), Fraction(i + 1, CELLS)) for i in range(CELLS)]
    start, stop = map(constant, kernel.input)
    found: list[arb] = []
    for share in steps:
        theta = start + (stop - start) * share
        total = sum((value(kernel.density, {"y": low + (high - low) * y, "theta": theta}) for y in steps), arb(0)) * (high - low) / CELLS
        _refuse_unless_one(total, f"for theta about {theta.mid().str(4, radius=False)}")
        found.append(total)
    if not all(total.is_finite() for total in found):
        return None
    low, high = found[0], found[0]
    for total in found:
        low, high = low.min(total), high.max(total)
    return f"[{decimal_bounds(Num(fraction(low.lower())), 3)[0]}, {decimal_bounds(Num(fraction(high.upper())), 3)[1]}]"
