"""Looks for the cells of a finite mechanism where the log-ratio is greatest."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from flint import arb

from dpverify.search import counterexample
from dpverify.trusted.combinators.parameters import fixed
from dpverify.trusted.kernel import compare
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import Num, substitute, symbols
from dpverify.trusted.kernel.model import Claim, Domain, Exponential, Table
from dpverify.trusted.theories.finite.rules import finite_table as rule
from dpverify.trusted.theories.finite.tables import Finite, LogBalls, finite

MOST_FORMS = 5
"""The most different log-ratios that are compared with each other for all parameters at once."""

Cell = tuple[int, int, int]


def propose(claim: Claim, digits: int) -> list[dict[str, Any]]:
    """A lower bound from the greatest cell and an upper bound that names it, with its rivals where no one is greatest for certain.

    Needs no digits, since both bounds are closed forms.
    """
    if not isinstance(claim.mechanism, Table | Exponential):
        return []
    try:
        table = finite(claim)
        zero = _zero(table)
    except DpverifyError:
        return [{"rule": rule.NAME, "evidence": {"cells": []}}, *_infinite_at_an_end(claim)]  # the kernel says why
    if zero is not None:
        return [_lower(zero)]
    cells = [cell for cell in table.cells() if not table.is_zero(cell[0], cell[2])]
    if not cells:
        return [{"rule": rule.NAME, "evidence": {"cells": []}}]
    tops = _tops(claim, table, cells)
    steps = [_lower(tops[0]), {"rule": rule.NAME, "evidence": {"cells": [list(cell) for cell in tops]}}]
    return [*steps, *_counterexamples(claim, table, tops)]


def _zero(table: Finite) -> Cell | None:
    """A cell where an impossible output faces a possible one."""
    return next((cell for cell in table.cells() if table.is_zero(cell[1], cell[2]) and not table.is_zero(cell[0], cell[2])), None)


def _infinite_at_an_end(claim: Claim) -> list[dict[str, Any]]:
    """A lower bound where a probability vanishes at an end that its parameter reaches."""
    for at in reached_ends(claim):
        try:
            cell = _zero(finite(fixed(claim, {"at": at}, rule.NAME)[0]))
        except DpverifyError:
            continue
        if cell is not None:
            return [{"rule": rule.NAME, "evidence": {"cell": list(cell), "at": at}}]
    return []


def reached_ends(claim: Claim) -> Iterator[dict[str, str]]:
    """Values of all parameters with one of them at a closed end of its domain, the others at simple values."""
    inside = {name: str(simple(domain).value) for name, domain in claim.domains}
    for name, domain in claim.domains:
        for end, opened in ((domain.lower, domain.lower_open), (domain.upper, domain.upper_open)):
            if end is not None and not opened:
                yield {**inside, name: str(end)}


def _lower(cell: Cell) -> dict[str, Any]:
    return {"rule": rule.NAME, "evidence": {"cell": list(cell)}}


def _tops(claim: Claim, table: Finite, cells: list[Cell]) -> list[Cell]:
    """The cells that no other is certainly at least as great as, the greatest by its size first."""
    domains = dict(claim.domains)
    with precision(256):
        balls = None if claim.domains else LogBalls(table)
        sizes = {cell: _size(table, cell) if balls is None else _middle(balls.loss(cell)) for cell in cells}
    ranked = sorted(cells, key=lambda cell: -sizes[cell])
    if not claim.domains:
        top = sizes[ranked[0]]
        least = top - 1e-9 * max(1.0, abs(top)) if math.isfinite(top) else top  # beyond all floats there is no difference
        ranked = [cell for cell in ranked if sizes[cell] >= least]
    losses = {cell: table.loss(cell) for cell in ranked}
    if claim.domains and len(set(losses.values())) > MOST_FORMS:
        return ranked[:1]
    kept: list[Cell] = []
    for cell in ranked:
        if not any(losses[cell] == losses[k] or compare.certainly_le(losses[cell], losses[k], domains) for k in kept):
            kept = [k for k in kept if not compare.certainly_le(losses[k], losses[cell], domains)] + [cell]
    return kept


def _size(table: Finite, cell: Cell) -> float:
    """The log-ratio as a float, at simple values of the parameters."""
    loss = table.loss(cell)
    values = {name: simple(table.domains[name]) for name in symbols(loss)}
    return _middle(constant(substitute(loss, values)))


def _middle(ball: arb) -> float:
    return float(ball.mid()) if ball.is_finite() else -math.inf


def simple(domain: Domain) -> Num:
    """A simple value inside a domain."""
    low, high = domain.lower, domain.upper
    if low is not None and high is not None and not domain.integer:
        return Num((low + high) / 2)
    return Num(low + 1 if low is not None else high - 1 if high is not None else Fraction(1))


def _counterexamples(claim: Claim, table: Finite, tops: list[Cell]) -> list[dict[str, Any]]:
    """Lower bounds at values of the parameters that break a claim made for all of them."""
    if claim.epsilon is None or not claim.domains:
        return []
    for cell in tops:
        values = counterexample.find(table.loss(cell), claim.epsilon, dict(claim.domains))
        if values is not None:
            at = {name: str(value.value) for name, value in values.items() if isinstance(value, Num)}
            return [{"rule": rule.NAME, "evidence": {"cell": list(cell), "at": at}}]
    return []
