"""Antiderivatives of a kernel's density, piece by piece, which show that it integrates to 1; and what is certainly wrong with it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from heapq import heappop, heappush
from itertools import pairwise, product
from typing import Any, Final

from flint import arb

from dpverify.trusted.kernel.balls import constant, exact, hull, precision, value
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import DpverifyError, ExprError, Rejected, Undecided
from dpverify.trusted.kernel.expr import (
    ONE,
    ZERO,
    Add,
    Call,
    Expr,
    Mul,
    Num,
    Pow,
    Sym,
    add,
    call,
    children,
    div,
    format_expr,
    mul,
    neg,
    num,
    power,
    rebuild,
    sub,
    substitute,
    symbols,
)
from dpverify.trusted.kernel.model import Claim, Domain, Kernel
from dpverify.trusted.language.derivatives import derivative
from dpverify.trusted.language.linear import linear_part
from dpverify.trusted.numbers.quadrature import integral
from dpverify.trusted.theories.finite import normaliser
from dpverify.trusted.theories.finite.densities import KINKS, WHAT

MOST_LINES: Final = 24
MOST_LEVELS: Final = 16
MOST_BRANCHES: Final = 64
MOST_DEGREE: Final = 12
MOST_BISECTIONS: Final = 600
STEP: Final = arb(2) ** -30
BITS: Final = 64
"""Of the integrals at single inputs that a density is refused by."""
SHARES: Final = (Fraction(0), Fraction(1, 3), Fraction(1))
"""Shares of the range of inputs where the integral is enclosed first."""
CELLS: Final = 16
"""So many cells of inputs and of outputs is the integral enclosed over."""
MOST_BOXES: Final = 600
"""Of which the sign of a density is looked for."""
LOOKED_AT: Final = (*(Fraction(n, 89) for n in range(7, 89, 11)), Fraction(1, 2))
"""Shares of the range of inputs where the integral is enclosed, to find one where it is not 1."""


Box = dict[str, tuple[Fraction, Fraction]]
"""For each coordinate the share of its range that a box takes."""


@lru_cache(maxsize=16)
def propose(kernel: Kernel) -> dict[str, Any]:
    """The evidence for `rules.normaliser`, as much of it as is found and accepted."""
    claim = Claim(kernel, None)
    with precision(128):
        for few in (True, False):
            try:
                cells = _cells(kernel, few)
                normaliser.check_normaliser(claim, {"cells": cells})
                return {"cells": cells}
            except (DpverifyError, ArithmeticError, RecursionError):
                continue
    return {}


def _each_box(names: Sequence[str], holds: Callable[[Box], bool], most: int = MOST_BOXES) -> None:
    """Ask of the whole, of its halves and so on, the greatest first, for as long as it does not hold on a box."""
    pending: deque[Box] = deque([{name: (Fraction(0), Fraction(1)) for name in names}])
    for _ in range(most):
        if not pending:
            return
        box = pending.popleft()
        if not holds(box):
            widest = max(names, key=lambda name: box[name][1] - box[name][0])
            low, high = box[widest]
            pending.extend({**box, widest: part} for part in ((low, (low + high) / 2), ((low + high) / 2, high)))


# -- what is certainly wrong ------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def faults(claim: Claim) -> tuple[str, ...]:
    """What is certainly wrong with a kernel's density: that it is negative at some output and input, or does not integrate to 1."""
    kernel = claim.mechanism
    if not isinstance(kernel, Kernel) or symbols(kernel.density) - {"y", "theta"}:
        return ()
    with precision(128):
        try:
            _refuse_negative(kernel)
            if "cells" not in propose(kernel):
                for share in (*SHARES, *_suspects(kernel)):
                    _integrates_to_one(kernel, at_share(kernel, share))
                _over_cells(kernel)
        except Rejected as error:
            return (f"{error.why}.",)
        except (DpverifyError, ArithmeticError):
            return ()
    return ()


def _refuse_negative(kernel: Kernel) -> None:
    """Raises Rejected where the density is certainly negative at some output and input."""
    ends = {"y": kernel.output, "theta": kernel.input}
    balls = {name: (constant(low), constant(high)) for name, (low, high) in ends.items() if low is not None and high is not None}
    names = tuple(name for name in ends if name in symbols(kernel.density))
    if not names or not balls.keys() >= set(names) or normaliser.is_non_negative(kernel):
        return

    def at(box: Box) -> dict[str, arb]:
        return {name: low + (high - low) * hull(*box[name]) for name, (low, high) in balls.items() if name in box}

    def told(box: Box) -> bool:
        middle = at({name: ((low + high) / 2,) * 2 for name, (low, high) in box.items()})
        if value(kernel.density, middle) < 0:
            where = ", ".join(f"{name} = {x.str(6, radius=False)}" for name, x in reversed(middle.items()))
            raise Rejected(WHAT, "density", f"the density is negative at {where}; a density must not be")
        return bool(value(kernel.density, at(box)) >= 0)

    _each_box(names, told)


def at_share(kernel: Kernel, share: Fraction) -> Expr:
    """An input by its share of the range of inputs."""
    return add(mul(Num(1 - share), kernel.input[0]), mul(Num(share), kernel.input[1]))


def _integrates_to_one(kernel: Kernel, theta: Expr) -> None:
    """Raises Rejected where an enclosure of the integral at an input excludes 1."""
    low, high = kernel.output
    density = substitute(kernel.density, {"theta": theta})
    ends: tuple[Fraction | None, ...] = tuple(end.value if isinstance(end, Num) else None for end in (low, high))
    if low is not None and high is not None and None in ends:
        # an end that is not rational: the output runs over [0, 1] instead
        length = sub(high, low)
        density, ends = mul(length, substitute(density, {"y": add(low, mul(length, Sym("y")))})), (Fraction(0), Fraction(1))
    elif any(found is None and end is not None for end, found in zip((low, high), ends, strict=True)):
        return
    try:
        total = integral(density, "y", ends[0], ends[1], BITS)
    except (Undecided, ExprError):
        return
    _refuse_unless_one(total, f"at theta = {format_expr(theta)}")


def _refuse_unless_one(total: arb, where: str) -> None:
    if total < 1 or total > 1:
        why = f"the density does not integrate to 1 {where}: it gives {total.str(8)}. Write its normaliser out"
        raise Rejected(WHAT, "density", why)


def _over_cells(kernel: Kernel) -> None:
    """Raises Rejected where an enclosure of the integral for all inputs of a cell excludes 1."""
    low, high = (None if end is None else constant(end) for end in kernel.output)
    if low is None or high is None:
        return
    steps = [hull(Fraction(i, CELLS), Fraction(i + 1, CELLS)) for i in range(CELLS)]
    start, stop = map(constant, kernel.input)
    for share in steps:
        theta = start + (stop - start) * share
        total = sum((value(kernel.density, {"y": low + (high - low) * y, "theta": theta}) for y in steps), arb(0)) * (high - low) / CELLS
        _refuse_unless_one(total, f"for theta about {theta.mid().str(4, radius=False)}")


def _suspects(kernel: Kernel) -> Iterator[Fraction]:
    """Shares of the inputs where the integral may differ from 1: where its antiderivatives say so most, then everywhere a little."""
    try:
        upper, lower = normaliser.quotient(kernel)
        start = kernel.input[0]
        low, length = constant(kernel.input[0]), constant(sub(kernel.input[1], kernel.input[0]))
        for cell in _cells(kernel, False):
            stop = normaliser.read_in(cell["until"], ())
            total = normaliser.integral_over_cell(kernel.output, upper, start, stop, cell)
            found = _away_from_one(sub(total, lower), constant(start), constant(stop))
            if found is not None:
                yield exact(((found - low) / length).mid())
            start = stop
    except (DpverifyError, ArithmeticError, RecursionError):
        pass
    yield from LOOKED_AT


def _away_from_one(excess: Expr, low: arb, high: arb) -> arb | None:
    """An input where a function of theta is far from 0, looked for where its enclosure reaches farthest; None where it is 0 throughout."""
    boxes: list[tuple[float, int, arb, arb]] = [(0.0, 0, low, high)]
    best, most = None, arb(0)
    for count in range(1, MOST_BISECTIONS):
        if not boxes:
            break
        _, _, left, right = heappop(boxes)
        middle = ((left + right) / 2).mid()
        at = abs(value(excess, {"theta": middle})).lower()
        if at > most:
            best, most = middle, at.mid()
        for n, part in enumerate(((left, middle), (middle, right))):
            reach = abs(value(excess, {"theta": part[0].union(part[1])})).upper()
            if not reach <= 2 * most:
                heappush(boxes, (-float(reach) if reach.is_finite() else -math.inf, 2 * count + n, *part))
    return best


# -- cells and pieces -----------------------------------------------------------------------------------


def _cells(kernel: Kernel, few: bool) -> list[dict[str, Any]]:
    """The evidence, before it is checked. few: by the lines alone on which the density, or the side of an abs in it, seems to change."""
    start, stop = kernel.input
    lines = list(_lines(kernel, few))
    borders = [*lines, *(end for end in kernel.output if end is not None)]
    crossings = [x for a, b in product(lines, borders) if (x := _crossing(a, b)) is not None]
    inside = [x for x in crossings if constant(start) < constant(x) < constant(stop)]
    marks = _distinct([start, *sorted(inside, key=lambda x: exact(constant(x).mid())), stop])
    return [_cell(kernel, lines, a, b) for a, b in pairwise(marks)]


def _cell(kernel: Kernel, lines: Sequence[Expr], start: Expr, stop: Expr) -> dict[str, Any]:
    middle = div(add(start, stop), num(2))
    low, high = kernel.output
    at = {line: substitute(line, {"theta": middle}) for line in lines}
    heights = {line: constant(at[line]) for line in lines}
    inside = [line for line, y in heights.items() if (low is None or constant(low) < y) and (high is None or y < constant(high))]
    cuts = _distinct(sorted(inside, key=lambda line: exact(constant(at[line]).mid())))
    if low is None and high is None and not cuts:
        cuts = [ZERO]
    parts = list[str]()
    upper, _ = normaliser.quotient(kernel)
    for below, above in pairwise([low, *cuts, high]):
        piece = normaliser.Piece(below, above, start, stop)
        density = piece.settled(upper)
        if below is None or above is None:
            rate = div(density, derivative(density, "y"))
            found = next((c for c in _rates(density) if certainly_equal(mul(c, derivative(density, "y")), density)), rate)
        else:
            halfway = div(add(at.get(below, below), at.get(above, above)), num(2))
            found = antiderivative(density, "y", {"theta": constant(middle), "y": constant(halfway)})
        parts.append(format_expr(found))
    return {"until": format_expr(stop), "cuts": [format_expr(cut) for cut in cuts], "parts": parts}


def _rates(density: Expr) -> Iterator[Expr]:
    """1/a for every a y in an exponent."""
    for part in _nodes(density):
        if isinstance(part, Call) and part.name == "exp":
            slope, rest = linear_part(part.args[0], "y")
            if "y" not in symbols(slope) | symbols(rest) and slope != ZERO:
                yield div(ONE, slope)


def _nodes(expr: Expr) -> Iterator[Expr]:
    yield expr
    for part in children(expr):
        yield from _nodes(part)


def _distinct(exprs: Sequence[Expr]) -> list[Expr]:
    found: list[Expr] = []
    for expr in exprs:
        if not any(expr == other or _same(expr, other) for other in found[-2:]):
            found.append(expr)
    return found


def _same(a: Expr, b: Expr) -> bool:
    """Whether two lines are certainly the same: first at one input, which is fast."""
    gap = sub(a, b)
    return bool(value(gap, {"theta": arb(1) / 7}).contains(0)) and certainly_equal(a, b, {"theta": Domain()})


def _crossing(a: Expr, b: Expr) -> Expr | None:
    slope, rest = linear_part(sub(a, b), "theta")
    return None if slope == ZERO or constant(slope).contains(0) else div(neg(rest), slope)


def _lines(kernel: Kernel, few: bool) -> Iterator[Expr]:
    """The lines y = c(theta) on which a kink of the density may lie."""
    seen: list[Expr] = []
    for node in _nodes(kernel.density):
        if not isinstance(node, Call) or node.name not in (*KINKS, "exp"):
            continue
        zeros: list[Expr] = []
        if node.name == "exp":  # the turning point of a square
            zeros = [_expanded(derivative(branch, "y")) for branch in _branches(node.args[0]) if not _kinked(branch)]
        elif node.name in ("min", "max"):
            pairs = [(a, b) for i, a in enumerate(node.args) for b in node.args[:i]]
            zeros += [sub(_without_floor(a), _without_floor(b)) for a, b in pairs]
            # floor(u) against an integer: it is at most n up to u = n + 1
            stepped = [sub(u, v) for a, b in pairs if (u := _without_floor(a), v := _without_floor(b)) != (a, b)]
            zeros += [add(gap, step) for gap in stepped for step in (ONE, num(-1))]
        elif node.name == "abs":
            zeros = [node.args[0]]
        else:
            zeros = [sub(node.args[0], num(n)) for n in _levels(node.args[0], kernel)]
        for zero in zeros:
            for branch in _branches(zero):
                slope, rest = linear_part(branch, "y")
                if symbols(slope) or "y" in symbols(rest) or slope == ZERO or symbols(linear_part(rest, "theta")[1]):
                    continue
                line = div(neg(rest), slope)
                if line not in seen and len(seen) < MOST_LINES and (not few or node.name in ("exp", "abs") or _bends(kernel, line)):
                    seen.append(line)
                    yield line


def _bends(kernel: Kernel, line: Expr) -> bool:
    """Whether the density seems to have a kink or a jump on a line, from its second differences at a few inputs."""
    for share in (Fraction(1, 7), Fraction(2, 5), Fraction(7, 9)):
        theta = constant(at_share(kernel, share))
        y = value(line, {"theta": theta})
        left, at, right = (value(kernel.density, {"theta": theta, "y": y + k * STEP}) for k in (-1, 0, 1))
        if not abs(left - 2 * at + right) < STEP * STEP.sqrt():
            return True
    return False


def _kinked(expr: Expr) -> bool:
    return any(isinstance(node, Call) and node.name in KINKS for node in _nodes(expr))


def _without_floor(expr: Expr) -> Expr:
    return expr.args[0] if isinstance(expr, Call) and expr.name == "floor" else expr


def _levels(u: Expr, kernel: Kernel) -> range:
    if None in kernel.output:
        return range(-MOST_LEVELS, MOST_LEVELS + 1)
    ends = [constant(end) for end in kernel.output if end is not None]
    inputs = [constant(end) for end in kernel.input]
    ball = value(u, {"y": ends[0].union(ends[1]), "theta": inputs[0].union(inputs[1])})
    if not ball.is_finite():
        return range(0)
    low, high = exact(ball.lower()).__floor__(), exact(ball.upper()).__ceil__()
    return range(low, high + 1) if high - low <= 4 * MOST_LEVELS else range(-MOST_LEVELS, MOST_LEVELS + 1)


def _branches(expr: Expr) -> list[Expr]:
    """The expression with every kink in it replaced by each of what it may be; a floor by nothing."""
    if isinstance(expr, Call) and expr.name == "abs":
        return [side for inner in _branches(expr.args[0]) for side in (inner, neg(inner))]
    if isinstance(expr, Call) and expr.name in ("min", "max"):
        return [branch for arg in expr.args for branch in _branches(arg)]
    if not children(expr):
        return [expr]
    choices = [_branches(part) for part in children(expr)]
    found = []
    for picked in list(product(*choices))[:MOST_BRANCHES]:
        parts = iter(picked)
        found.append(rebuild(expr, lambda _, parts=parts: next(parts)))  # type: ignore[misc]
    return found


# -- antiderivatives --------------------------------------------------------------------------------------


def antiderivative(expr: Expr, name: str, inside: Mapping[str, arb]) -> Expr:
    """An expression whose derivative is `expr`: sums of products of a power of a linear form, an exponential and a few others.

    inside: a point about which logarithms and error functions have a positive argument. Raises ExprError where the form is another.
    """
    terms = _expanded(expr)
    return add(*(_of_term(term, name, inside) for term in (terms.args if isinstance(terms, Add) else (terms,))))


def _expanded(expr: Expr) -> Expr:
    """Products and small powers of sums multiplied out, hyperbolic functions as exponentials but where they stand by themselves."""
    done = rebuild(expr, _expanded)
    if isinstance(done, Pow) and isinstance(done.base, Add) and isinstance(done.exponent, Num) and done.exponent.value in range(2, 9):
        lower = power(done.base, sub(done.exponent, ONE))
        return add(*(_expanded(mul(term, lower)) for term in done.base.args))
    if isinstance(done, Mul):
        for i, factor in enumerate(done.args):
            if isinstance(factor, Add):
                return add(*(_expanded(mul(term, *done.args[:i], *done.args[i + 1 :])) for term in factor.args))
    return done


def _of_term(term: Expr, name: str, inside: Mapping[str, arb]) -> Expr:
    factors = term.args if isinstance(term, Mul) else (term,)
    outer = mul(*(factor for factor in factors if name not in symbols(factor)))
    moving = [factor for factor in factors if name in symbols(factor)]
    exponents = [factor.args[0] for factor in moving if isinstance(factor, Call) and factor.name == "exp"]
    rest = [factor for factor in moving if not (isinstance(factor, Call) and factor.name == "exp")]
    if exponents:
        return mul(outer, _of_exponential(add(*exponents), rest, name, inside))
    degree = _degree(rest, name)
    if degree is not None:
        return mul(outer, power(Sym(name), num(degree + 1)), Num(Fraction(1, degree + 1)))
    if len(rest) == 1:
        return mul(outer, _of_factor(rest[0], name, inside))
    raise ExprError("no antiderivative is known.")


def _degree(factors: Sequence[Expr], name: str) -> int | None:
    """The degree of a monomial."""
    total = 0
    for factor in factors:
        base, exponent = (factor.base, factor.exponent) if isinstance(factor, Pow) else (factor, ONE)
        if base != Sym(name) or not isinstance(exponent, Num) or exponent.value not in range(1, MOST_DEGREE):
            return None
        total += int(exponent.value)
    return total


def _slope(expr: Expr, name: str) -> Expr:
    slope, rest = linear_part(expr, name)
    if slope == ZERO or name in symbols(slope) | symbols(rest):
        raise ExprError("no antiderivative is known.")
    return slope


def _of_exponential(exponent: Expr, rest: Sequence[Expr], name: str, inside: Mapping[str, arb]) -> Expr:
    degree = _degree(rest, name)
    if degree is None:
        raise ExprError("no antiderivative is known.")
    exponent = _expanded(exponent)
    slope, constant_part = linear_part(exponent, name)
    if name not in symbols(slope) | symbols(constant_part):
        total: list[Expr] = []
        c: Expr = ONE
        for k in range(degree + 1):  # by parts
            total.append(mul(c, power(Sym(name), num(degree - k)), power(slope, num(-k - 1))))
            c = mul(c, num(-(degree - k)))
        return mul(add(*total), call("exp", exponent))
    # exp(-a (y - m)^2 + b): the error function
    bend = derivative(derivative(exponent, name), name)
    if degree or name in symbols(bend):
        raise ExprError("no antiderivative is known.")
    a = mul(Num(Fraction(-1, 2)), bend)
    m = div(substitute(derivative(exponent, name), {name: ZERO}), mul(num(2), a))
    top = substitute(exponent, {name: m})
    root = power(div(ONE, a), Num(Fraction(-1, 2)))
    scale = mul(Num(Fraction(1, 2)), call("exp", top), power(Call("pi", ()), Num(Fraction(1, 2))), power(root, num(-1)))
    away = sub(Sym(name), m)
    return neg(mul(scale, call("erf", mul(root, neg(away))))) if value(away, inside) < 0 else mul(scale, call("erf", mul(root, away)))


def _of_factor(factor: Expr, name: str, inside: Mapping[str, arb]) -> Expr:
    """Of a single factor f(u), u linear."""
    if isinstance(factor, Pow) and isinstance(factor.exponent, Num):
        n = factor.exponent.value
        if isinstance(factor.base, Call) and factor.base.name == "cosh" and n == -2:
            u = factor.base.args[0]
            return mul(call("tanh", u), power(_slope(u, name), num(-1)))
        slope = _slope(factor.base, name)
        if n == -1:
            return mul(call("log", neg(factor.base) if value(factor.base, inside) < 0 else factor.base), power(slope, num(-1)))
        return mul(power(factor.base, Num(n + 1)), power(slope, num(-1)), Num(1 / (n + 1)))
    if isinstance(factor, Call) and factor.name in ("cosh", "sinh"):
        u = factor.args[0]
        return mul(call("sinh" if factor.name == "cosh" else "cosh", u), power(_slope(u, name), num(-1)))
    raise ExprError("no antiderivative is known.")
