"""Closed forms of the point where a loss is greatest, and of its value there, proposed by sympy.

It is asked where the enclosure of a supremum would have no closed form though the slope of the loss is a quotient of polynomials. What
it says is never believed: a point is kept where the slope certainly vanishes, a value where it certainly equals the loss there, and the
rule `modulus` checks both again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Final

from dpverify.search import outside
from dpverify.search.numeric import number
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import ZERO, Add, Expr, Mul, Num, Pow, Sym, add, format_expr, neg, parse, substitute, symbols
from dpverify.trusted.language.derivatives import derivative

SCRIPT: Final = Path(__file__).with_name("sympy_process.py")
SECONDS: Final = 2.0
"""Of the processor, of which it takes about half a second to start."""
MOST_TEXT: Final = 400
"""The longest loss that it is asked about, and the longest form that is taken from it."""
_CLOSE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Peak:
    """A loss in one variable, the shift between its two points, and where floats see it greatest."""

    loss: Expr
    name: str
    shift: Expr
    near: Fraction


def closed_forms(peaks: Sequence[Peak]) -> list[tuple[Peak, Expr, Expr]]:
    """Peaks with their point and their value in closed form, as far as they have one that is proved here.

    A peak and its mirror image are asked about once: most densities are even.
    """
    reached, asked = list(filter(_within_reach, peaks)), dict[float, Peak]()
    for peak in reached:
        asked.setdefault(round(abs(float(peak.near) + number(peak.shift) / 2), 9), peak)
    answers = sorted(_answers(tuple(asked.values())), key=lambda pair: len(format_expr(pair[1])))
    found = []
    for peak in reached:
        pairs = ((here, value) for point, value in answers for here in (point, neg(add(point, peak.shift))))
        held = next((pair for pair in pairs if _holds(peak, *pair)), None)
        if held is not None:
            found.append((peak, *held))
    return found


def _within_reach(peak: Peak) -> bool:
    """Whether the slope of a short loss is a quotient of polynomials."""
    try:
        return len(format_expr(peak.loss)) <= MOST_TEXT and _is_rational(derivative(peak.loss, peak.name))
    except DpverifyError:
        return False


def _is_rational(expr: Expr) -> bool:
    """Whether an expression in one symbol is a quotient of polynomials by its form, with constants of any kind."""
    if isinstance(expr, Sym) or not symbols(expr):
        return True
    if isinstance(expr, Add | Mul):
        return all(map(_is_rational, expr.args))
    return isinstance(expr, Pow) and isinstance(expr.exponent, Num) and expr.exponent.value.denominator == 1 and _is_rational(expr.base)


@lru_cache(maxsize=256)
def _answers(peaks: tuple[Peak, ...]) -> list[tuple[Expr, Expr]]:
    """What sympy says: points and values. The same loss is asked about once."""
    if not peaks:
        return []
    questions = [
        {"name": p.name, "loss": format_expr(p.loss), "shift": format_expr(p.shift), "near": str(p.near)} for p in peaks
    ]  # fmt: skip
    return list(_read(outside.answer(SCRIPT, json.dumps(questions), SECONDS)))


def _read(said: str) -> Iterator[tuple[Expr, Expr]]:
    for line in said.splitlines():
        try:
            row = json.loads(line)
            point, value = parse(str(row["point"])), parse(str(row["value"]))
        except (DpverifyError, ValueError, TypeError, KeyError):
            continue  # a form outside the language, or a line that was cut off
        if not symbols(point) | symbols(value) and len(line) <= 2 * MOST_TEXT:
            yield point, value


def _holds(peak: Peak, point: Expr, value: Expr) -> bool:
    """Whether the point is the peak's, the slope vanishes there and the loss has the value, certainly."""
    if abs(number(point) - float(peak.near)) > _CLOSE * (1 + abs(peak.near)):
        return False
    at = {peak.name: point}
    slope = substitute(derivative(peak.loss, peak.name), at)
    return certainly_equal(slope, ZERO) and certainly_equal(substitute(peak.loss, at), value)
