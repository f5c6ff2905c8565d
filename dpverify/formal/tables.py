"""Claims of finitely many inputs and outputs: tables, the exponential mechanism, k-ary randomized response."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import reduce
from itertools import combinations
from math import gcd
from typing import Final

from dpverify.formal.file import Statement
from dpverify.formal.terms import NotReplayedError, Terms, number
from dpverify.trusted.language.expr import ONE, Add, Call, Expr, Num, add, call, children, div, mul, num, sub, symbols
from dpverify.trusted.language.model import Claim, Exponential, KaryResponse, Table

MOST: Final = 64
"""Beyond so many cells a table is not written out."""

Rows = Sequence[Sequence[Expr]]


def table(claim: Claim, mechanism: Table, epsilon: Expr) -> Statement:
    """A table as it is listed."""
    return _listed(claim, mechanism.rows, mechanism.adjacent, epsilon)


def exponential(claim: Claim, mechanism: Exponential, epsilon: Expr) -> Statement:
    """The table of the probabilities, which are proportional to exp(beta * score)."""
    weights = [[call("exp", mul(mechanism.beta, score)) for score in row] for row in mechanism.scores]
    return _listed(claim, [[div(weight, add(*row)) for weight in row] for row in weights], mechanism.adjacent, epsilon)


def kary(claim: Claim, mechanism: KaryResponse, epsilon: Expr) -> Statement:
    """The table of the probabilities for a given k."""
    if not isinstance(mechanism.k, Num):
        raise NotReplayedError("the number of answers is a parameter, so that there is no one table.")
    size = int(mechanism.k.value)
    other = div(sub(ONE, mechanism.p), num(size - 1))
    rows = [[mechanism.p if x == y else other for y in range(size)] for x in range(size)]
    return _listed(claim, rows, None, epsilon)


def _listed(claim: Claim, rows: Rows, adjacent: Sequence[tuple[int, int]] | None, epsilon: Expr) -> Statement:
    terms = Terms(dict(claim.domains))
    pairs = list(combinations(range(len(rows)), 2)) if adjacent is None else list(adjacent)
    if len(pairs) * len(rows[0]) > MOST * 4:
        raise NotReplayedError(f"the table has {len(pairs)} pairs of rows with {len(rows[0])} cells, too many to be written out.")
    names = [name for name in dict(claim.domains) if any(name in symbols(entry) for row in (*rows, (epsilon,)) for entry in row)]
    binders = "".join(f" ({terms.parameter(name)} : {terms.type_of(name)})" for name in names)
    applied = "".join(f" {terms.parameter(name)}" for name in names)
    written = ";\n  ".join(f"[{'; '.join(terms.real(entry) for entry in row)}]" for row in rows)
    listed = "; ".join(f"({x}, {y})%nat" for x, y in pairs)
    wrap = f"({{}}{applied})" if applied else "{}"
    return Statement(
        definitions=(
            f"Definition table{binders} : list (list R) := [\n  {written}].",
            f"Definition epsilon{binders} : R := {terms.real(epsilon)}.",
        ),
        binders=(
            *terms.binders(),
            "(shown : measure_display) (Outputs : measurableType shown) (point : nat -> Outputs) (M : mechanism RR nat Outputs)",
        ),
        hypotheses=(f"has_rows M point {wrap.format('table')}",),
        conclusion=f"pure_dp (listed [{listed}]) M {wrap.format('epsilon')}",
        proof=("intros rows.", "apply (replay_table rows).", *_facts([*(entry for row in rows for entry in row), epsilon]), "cells."),
    )


def _facts(exprs: Sequence[Expr]) -> Iterator[str]:
    """All exponentials, that of epsilon too, as powers of one."""
    *entries, epsilon = exprs
    inside = list(dict.fromkeys(arg for expr in (*entries, call("exp", epsilon)) for arg in _exponents(expr)))
    unit = reduce(_common, inside) if inside else Fraction(0)
    yield "unfold table, epsilon. rows_apart."
    for value in inside:
        times = value / unit
        if times != 1:
            power = f"exp ({number(unit)}) ^ {times}" if times > 0 else f"/ exp ({number(unit)}) ^ {-times}"
            yield f"replace (exp ({number(value)})) with ({power}) by multiple."


def _common(first: Fraction, second: Fraction) -> Fraction:
    return Fraction(gcd(first.numerator * second.denominator, second.numerator * first.denominator), first.denominator * second.denominator)


def _exponents(expr: Expr) -> Iterator[Fraction]:
    if isinstance(expr, Call) and expr.name == "exp":
        terms = expr.args[0].args if isinstance(expr.args[0], Add) else expr.args
        yield from (term.value for term in terms if isinstance(term, Num) and term.value)
    for child in children(expr):
        yield from _exponents(child)
