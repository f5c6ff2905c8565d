"""Checks of a model, however it was declared, and the putting in of parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any, Final

from dpverify.catalogue.toml import meant, shorten
from dpverify.catalogue.values import within
from dpverify.trusted.language.errors import ExprError
from dpverify.trusted.language.expr import (
    ONE,
    ZERO,
    Expr,
    Num,
    Sym,
    add,
    children,
    neg,
    sub,
    substitute,
    symbols,
)
from dpverify.trusted.language.model import (
    VARIABLES,
    Claim,
    Combinator,
    Domain,
    EllipticalProcess,
    Exponential,
    Guarantee,
    KaryResponse,
    Kernel,
    Mechanism,
    Mixture,
    Norm,
    Part,
    Product,
    Radial,
    Staircase,
    Table,
    Translation,
    kind_of,
)
from dpverify.trusted.order.compare import certainly_equal, certainly_le, certainly_lt
from dpverify.trusted.order.geometry import norm_faults

MAX_NODES: Final = 20_000


def expressions(value: Any) -> Iterator[Expr]:
    """All expressions in a model or a claim."""
    if isinstance(value, Expr):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from expressions(item)
    elif isinstance(value, Mechanism | Claim | Part):
        for field in fields(value):
            yield from expressions(getattr(value, field.name))


def substituted(mechanism: Mechanism, values: Mapping[str, Expr]) -> Mechanism:
    """The mechanism with parameters replaced by their values."""

    def change(value: Any) -> Any:
        if isinstance(value, Expr):
            return grown(value, values)
        return tuple(map(change, value)) if isinstance(value, tuple) else value

    return replace(mechanism, **{field.name: change(getattr(mechanism, field.name)) for field in fields(mechanism)})


def grown(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """The expression with values put in. Raises ExprError where that would make it enormous."""
    sizes = {name: _size(values[name], {}) for name in symbols(expr) & values.keys()}
    if _size(expr, sizes) > MAX_NODES:
        raise ExprError(f"with its parameters put in, the expression has more than {MAX_NODES} parts.")
    return substitute(expr, values)


def _size(expr: Expr, sizes: Mapping[str, int]) -> int:
    if isinstance(expr, Sym):
        return sizes.get(expr.name, 1)
    return 1 + sum(_size(part, sizes) for part in children(expr))


def mechanism_faults(mechanism: Mechanism, domains: Mapping[str, Domain], broken: AbstractSet[str]) -> Iterator[str]:
    """All that is wrong with a model whose parameters have been put in. broken: parameters whose own faults are known already."""
    if isinstance(mechanism, Combinator):
        return  # each part was checked where it was read
    yield from _free_symbols(mechanism, domains.keys() | broken)
    if isinstance(mechanism, Radial | Mixture | Product):
        yield from _body_faults(mechanism.norm, mechanism.dimension, domains)
    if isinstance(mechanism, Radial | Mixture | EllipticalProcess):
        yield from positive_faults("scale", mechanism.scale, domains)
    for key, (low, high) in _intervals(mechanism):
        if low is not None and high is not None and _may_vanish(sub(high, low), domains):
            yield f"{key} = [{shorten(low)}, {shorten(high)}] is not an interval: its ends must rise."
    if isinstance(mechanism, Table):
        yield from _row_faults(mechanism, domains)
    if isinstance(mechanism, Exponential):
        yield from _score_faults(mechanism, domains)
    if isinstance(mechanism, Table | Exponential) and mechanism.adjacent is not None:
        count = len(mechanism.rows if isinstance(mechanism, Table) else mechanism.scores)
        for pair in mechanism.adjacent:
            if max(pair) >= count:
                yield f"adjacent: {list(pair)} names a row beyond the {count} there are, counted from 0."
    if isinstance(mechanism, KaryResponse):
        yield from natural_faults("k", mechanism.k, 2, domains)
        yield from _range_faults("p", mechanism.p, domains)
    if isinstance(mechanism, Staircase):
        yield from positive_faults("epsilon", mechanism.epsilon, domains)
        yield from _range_faults("gamma", mechanism.gamma, domains)
    if isinstance(mechanism, Guarantee):
        yield from _guarantee_faults(mechanism, domains)


def _guarantee_faults(known: Guarantee, domains: Mapping[str, Domain]) -> Iterator[str]:
    for row in known.rows:
        first = row[0]
        if known.measure == "renyi" and not isinstance(first, Num):
            yield f"renyi: the order {shorten(first)} is not a rational number."
        elif known.measure == "renyi" and isinstance(first, Num) and first.value <= 1:
            yield f"renyi: the order {shorten(first)} is not above 1. Leave divergences of other orders out."
        elif known.measure != "renyi" and may_be_negative(first, domains):
            name = "epsilon" if known.measure == "approximate" else known.measure
            yield f"{name} = {shorten(first)} {why_not(first, 'is negative', 'non-negative')}"
        if known.measure == "renyi" and may_be_negative(row[1], domains):
            yield f"renyi: the divergence {shorten(row[1])} {why_not(row[1], 'is negative', 'non-negative')}"
        if known.measure == "approximate":
            yield from _range_faults("delta", row[1], domains)


def _free_symbols(mechanism: Mechanism, known: AbstractSet[str]) -> Iterator[str]:
    kind = kind_of(mechanism)
    for field in fields(mechanism):
        here = {*known, *VARIABLES.get(kind, {}).get(field.name, ())}
        used = frozenset().union(*map(symbols, expressions(getattr(mechanism, field.name))))
        for name in sorted(used - here):
            yield f"{field.name} has the free symbol {name!r}. Give it in parameters.{meant(name, here)}"


def _body_faults(norm: Norm, dimension: Expr, domains: Mapping[str, Domain]) -> Iterator[str]:
    faults = list(natural_faults("dimension", dimension, 1, domains))
    yield from faults
    if isinstance(dimension, Num) and not faults:
        yield from norm_faults(norm, int(dimension.value))
    elif norm.kind == "lp":
        yield from norm_faults(norm, 1)
    elif not isinstance(dimension, Num):
        yield f"norm: {norm.kind} has a fixed dimension. Give dimension a number."


def natural_faults(key: str, value: Expr, least: int, domains: Mapping[str, Domain]) -> Iterator[str]:
    """A number that counts: an integer, or a parameter whose domain holds integers only."""
    if isinstance(value, Num):
        if value.value.denominator != 1 or value.value < least:
            yield f"{key} = {shorten(value)} is not an integer of at least {least}."
        elif value.value > 10**6:
            yield f"{key} = {shorten(value)} is beyond a million."
    elif symbols(value) <= domains.keys() and not (isinstance(value, Sym) and within(domains[value.name], _naturals(least))):
        yield f'{key} = {shorten(value)} is neither an integer nor a parameter with a domain such as "integer >= {least}".'


def _naturals(least: int) -> Domain:
    return Domain(Fraction(least), lower_open=False, integer=True)


def positive_faults(key: str, value: Expr, domains: Mapping[str, Domain]) -> Iterator[str]:
    """A number that must be above 0."""
    if _may_vanish(value, domains):
        yield f"{key} = {shorten(value)} {why_not(value, 'is not positive', 'positive')}"


def _range_faults(key: str, value: Expr, domains: Mapping[str, Domain]) -> Iterator[str]:
    if may_be_negative(value, domains) or may_be_negative(sub(ONE, value), domains):
        yield f"{key} = {shorten(value)} is not certainly between 0 and 1."


def _row_faults(table: Table, domains: Mapping[str, Domain]) -> Iterator[str]:
    for index, row in enumerate(table.rows, 1):
        for column, entry in enumerate(row, 1):
            if may_be_negative(entry, domains):
                yield f"rows: entry {column} of row {index}, {shorten(entry)}, {why_not(entry, 'is negative', 'non-negative')}"
        total = add(*row)
        if symbols(total) <= domains.keys() and not certainly_equal(total, ONE, domains):
            near = f"sums to {shorten(total)}" if isinstance(total, Num) else "does not certainly sum to 1"
            yield f'rows: row {index} {near}. The probabilities of a row sum to exactly 1; write fractions such as "1/3".'


def _score_faults(mechanism: Exponential, domains: Mapping[str, Domain]) -> Iterator[str]:
    if may_be_negative(mechanism.beta, domains):
        yield f"beta = {shorten(mechanism.beta)} {why_not(mechanism.beta, 'is negative', 'non-negative')}"
    if mechanism.metric != "given":
        return
    d = [[neg(score) for score in row] for row in mechanism.scores]
    size = range(len(d))
    if len(d[0]) != len(d):
        yield "metric: the matrix of distances is not square."
    elif any(d[i][i] != ZERO for i in size) or any(d[i][j] != d[j][i] for i in size for j in size):
        yield "metric: distances must be symmetric, and 0 from a point to itself."
    elif any(_may_vanish(d[i][j], domains) for i in size for j in size if i != j):
        yield "metric: the distance between two points must be positive."


def _intervals(mechanism: Mechanism) -> Iterator[tuple[str, tuple[Expr | None, Expr | None]]]:
    if isinstance(mechanism, Translation | Mixture | EllipticalProcess):
        yield "support", mechanism.support
    if isinstance(mechanism, Kernel):
        yield "output", mechanism.output
        yield "input", mechanism.input


def _may_vanish(expr: Expr, domains: Mapping[str, Domain]) -> bool:
    """Whether an expression, all of whose symbols are known, is not certainly positive."""
    return symbols(expr) <= domains.keys() and not certainly_lt(ZERO, expr, domains)


def may_be_negative(expr: Expr, domains: Mapping[str, Domain]) -> bool:
    """Whether an expression, all of whose symbols are known, is not certainly non-negative."""
    return symbols(expr) <= domains.keys() and not certainly_le(ZERO, expr, domains)


def why_not(value: Expr, certain: str, wanted: str) -> str:
    """The predicate of a fault: that something is wrong for certain, or could not be shown to be right."""
    known = isinstance(value, Num) or (not symbols(value) and certainly_lt(value, ZERO))
    return f"{certain}." if known else f"cannot be shown to be {wanted}."
