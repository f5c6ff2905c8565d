"""Exponents with a bounded slope: |h'| <= L, cell by cell between given cuts, and on the ends beyond them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from flint import arb

from dpverify.trusted.kernel.balls import exact, hull, rational
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import Expr, Num, add, neg, parse, substitute, symbols
from dpverify.trusted.language.linear import linear_part
from dpverify.trusted.language.rationals import to_fraction
from dpverify.trusted.numbers.asymptotics import End, end_jet
from dpverify.trusted.numbers.jets import jet
from dpverify.trusted.numbers.kinks import resolve

MAX_CELLS: Final = 20_000


def told(h: Expr, name: str, half: bool, evidence: Mapping[str, Any], rule: str) -> Expr:
    """The bound L that evidence names for the slope of h on [0, inf) (half) or on the line, where its cuts show that h is continuous and
    |h'| <= L wherever it is smooth.

    evidence: "slope", the text of L; "cuts", rationals that rise from 0, or from the boundary of the left end, to that of the right one.
    Raises Rejected, CertificateError, Undecided.
    """
    slope, cuts = parse(str(evidence["slope"])), [to_fraction(cut, rule) for cut in evidence["cuts"]]
    require(not symbols(slope), Rejected(rule, "slope", "it has free symbols"))
    start = "0" if half else "below 0"
    rises = 2 <= len(cuts) <= MAX_CELLS and sorted(set(cuts)) == cuts  # exact
    if not (rises and cuts[-1] > 0 and (cuts[0] == 0 if half else cuts[0] < 0)):  # exact
        raise Rejected(rule, "cuts", f"they must rise from {start} to above 0, at most {MAX_CELLS} of them")
    for end in (End("+inf", cuts[-1]),) if half else (End("-inf", -cuts[0]), End("+inf", cuts[-1])):
        if not end_within(h, name, slope, end):
            raise Rejected(rule, end.side, "the slope of h is not certainly within L on this end; start it further out")
    for low, high in pairwise(cuts):
        if not cell_within(h, name, slope, low, high):
            raise Rejected(rule, f"[{low}, {high}]", "the slope of h is not certainly within L here; split the cell")
    edges = [*([] if half else [None]), *cuts, None]
    for before, cut, after in zip(edges, edges[1:], edges[2:], strict=False):
        assert cut is not None
        left, right = resolve(h, name, before, cut), resolve(h, name, cut, after)
        if left != right and not certainly_equal(substitute(left, {name: Num(cut)}), substitute(right, {name: Num(cut)})):
            raise Rejected(rule, cut, "h is not certainly continuous here")
    return slope


def cell_within(h: Expr, name: str, slope: Expr, low: Fraction, high: Fraction) -> bool:
    """Whether |h'| <= L is certain on a cell; sharp where h is linear there, or h' rises or falls towards L at an end of the cell."""
    linear, rest = linear_part(resolve(h, name, low, high), name)
    if name not in symbols(rest):
        return _slopes_within(linear, [arb(0)], slope)
    over = jet(rest, name, hull(low, high))
    if not over.v.is_finite():
        return False
    if over.d2 >= 0 or over.d2 <= 0:
        return _slopes_within(linear, [jet(rest, name, rational(end)).d1 for end in (low, high)], slope)
    if _slopes_within(linear, [over.d1], slope):
        return True
    middle = rational((low + high) / 2)
    return _slopes_within(linear, [jet(rest, name, middle).d1 + over.d2 * (hull(low, high) - middle)], slope)


def end_within(h: Expr, name: str, slope: Expr, end: End) -> bool:
    """Whether |h'| <= L is certain on an infinite end; sharp where h' tends to L."""
    far = end.boundary()
    linear, rest = linear_part(resolve(h, name, *((far, None) if end.side == "+inf" else (None, far))), name)
    bounds = end_jet(rest, name, end).d1.bounds()
    return _slopes_within(linear, [bounds.lo, bounds.hi], slope)


def _slopes_within(linear: Expr, others: list[arb], slope: Expr) -> bool:
    """Whether |linear + t| <= L is certain for all t in the convex hull of the others, whose outer ends are exact numbers."""
    if not all(other.is_finite() for other in others):
        return False
    return all(
        certainly_le(add(linear, Num(exact(other.upper()))), slope) and certainly_le(neg(add(linear, Num(exact(other.lower())))), slope)
        for other in others
    )
