"""Claims of finitely many inputs and outputs: tables, the exponential mechanism, k-ary randomized response."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import reduce
from itertools import combinations
from math import gcd
from typing import Final

from dpverify.project.formal.file import Statement
from dpverify.project.formal.terms import NotReplayedError, Terms, number
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.expr import ONE, ZERO, Add, Call, Expr, Num, add, call, children, div, mul, num, sub, symbols
from dpverify.trusted.kernel.model import Claim, Exponential, Finite, KaryResponse, Table

MOST: Final = 64
"""Beyond so many cells a table is not written out."""

MOST_POWER: Final = 64
"""Exponentials that are greater powers of one are compared by their values, which have slack then."""

LOWER: Final = "cbn [row_of List.nth]. spread."
Rows = Sequence[Sequence[Expr]]
Pairs = Sequence[tuple[int, int]]


def rows_of(mechanism: Finite) -> tuple[Rows, Pairs | None]:
    """The probabilities, and which rows are neighbours; None for all."""
    match mechanism:
        case Table():
            return mechanism.rows, mechanism.adjacent
        case Exponential():
            base = mechanism.weights or (ONE,) * len(mechanism.scores[0])
            weights = [
                [mul(weight, call("exp", mul(mechanism.beta, score))) for weight, score in zip(base, row, strict=True)]
                for row in mechanism.scores
            ]
            return [[div(weight, add(*row)) for weight in row] for row in weights], mechanism.adjacent
        case KaryResponse():
            if not isinstance(mechanism.k, Num):
                raise NotReplayedError("the number of answers is a parameter, so that there is no one table.")
            size = int(mechanism.k.value)
            other = div(sub(ONE, mechanism.p), num(size - 1))
            return [[mechanism.p if x == y else other for y in range(size)] for x in range(size)], None


def pairs_of(rows: Rows, adjacent: Pairs | None) -> list[tuple[int, int]]:
    """The pairs of rows that are neighbours. Raises NotReplayedError for too many."""
    pairs = list(combinations(range(len(rows)), 2)) if adjacent is None else list(adjacent)
    if len(pairs) * len(rows[0]) > MOST * 4:
        raise NotReplayedError(f"the table has {len(pairs)} pairs of rows with {len(rows[0])} cells, too many to be written out.")
    return pairs


def written(terms: Terms, rows: Rows, pairs: Pairs) -> tuple[str, str]:
    """The rows and the pairs as lists."""
    text = ";\n  ".join(f"[{'; '.join(terms.real(entry) for entry in row)}]" for row in rows)
    return text, "; ".join(f"({x}, {y})%nat" for x, y in pairs)


def ratio(above: Expr, below: Expr) -> Expr:
    """The logarithm of a ratio of two cells."""
    return ZERO if above == below else call("log", div(above, below))


def listed(claim: Claim, mechanism: Finite, epsilon: Expr, lower: Expr | None = None, one_way: Pairs | None = None) -> Statement:
    """A table as it is listed, or of the probabilities that are proportional to exp(beta * score), or of those for a given k.

    lower: what the tight epsilon is at least; one_way: the pairs of neighbours, where the claim is about one order of each.
    """
    rows, adjacent = rows_of(mechanism)
    terms, pairs = Terms(dict(claim.domains)), pairs_of(rows, adjacent if one_way is None else one_way)
    names = [name for name in dict(claim.domains) if any(name in symbols(entry) for row in (*rows, (epsilon,)) for entry in row)]
    binders = "".join(f" ({terms.parameter(name)} : {terms.type_of(name)})" for name in names)
    applied = "".join(f" {terms.parameter(name)}" for name in names)
    text, near = written(terms, rows, pairs)
    wrap = f"({{}}{applied})" if applied else "{}"
    way, apart = ("", "rows_apart") if one_way is None else ("_one_way", "rows_one_way")
    entries = [*(entry for row in rows for entry in row), epsilon]
    upper_proof = (f"apply (replay_table{way} rows).", *facts(entries, f"unfold table, epsilon. {apart}."), "cells.")
    if one_way is not None:
        conclusion, proof = f"dp_in_order (listed [{near}]) M {wrap.format('epsilon')} 0", ("intros rows.", *upper_proof)
    elif lower is None:
        conclusion, proof = f"pure_dp (listed [{near}]) M {wrap.format('epsilon')}", ("intros rows.", *upper_proof)
    else:
        x, y, cell = greatest(rows, pairs)
        conclusion = f"tight_between (listed [{near}]) M {wrap.format('least')} {wrap.format('epsilon')}"
        cells = facts([rows[x][cell], rows[y][cell], lower], "unfold table, least. " + LOWER)
        proof = (
            "intros rows [apart measured]. split.", f"{{ {' '.join(upper_proof)} }}",
            f"refine (replay_table_lower (x := {x}) (x' := {y}) (y := {cell}) rows apart measured _ _ _ _ _).",
            "{ one_of. }", "{ cbn; lia. }", "{ cbn; lia. }",
            "{ unfold table. cbn [row_of List.nth]. positive. }", f"{{ {' '.join(cells)} cell. }}",
        )  # fmt: skip
    return Statement(
        definitions=(
            f"Definition table{binders} : list (list R) := [\n  {text}].",
            f"Definition epsilon{binders} : R := {terms.real(epsilon)}.",
            *([f"Definition least{binders} : R := {terms.real(lower)}."] if lower is not None else []),
        ),
        binders=(
            *terms.binders(),
            "(shown : measure_display) (Outputs : measurableType shown) (point : nat -> Outputs) (M : mechanism RR nat Outputs)",
        ),
        hypotheses=(
            f"has_rows M point {wrap.format('table')}",
            *(["told_apart point"] if lower is not None else []),
        ),
        conclusion=conclusion,
        proof=proof,
    )


def greatest(rows: Rows, pairs: Pairs) -> tuple[int, int, int]:
    """The two inputs and the output with the greatest ratio, by floats that decide nothing: Coq compares."""
    ways = [(x, y, cell) for pair in pairs for x, y in (pair, pair[::-1]) for cell in range(len(rows[0]))]
    value = [[_float(entry) for entry in row] for row in rows]
    return max(ways, key=lambda way: value[way[0]][way[2]] / max(value[way[1]][way[2]], 1e-300))


def _float(expr: Expr) -> float:
    return float(constant(expr).mid())


def facts(exprs: Sequence[Expr], opened: str = "unfold table, epsilon. rows_apart.") -> Iterator[str]:
    """All exponentials, that of epsilon too, as powers of one."""
    *entries, epsilon = exprs
    inside = list(dict.fromkeys(arg for expr in (*entries, call("exp", epsilon)) for arg in _exponents(expr)))
    unit = reduce(_common, inside) if inside else Fraction(0)
    yield opened
    if any(abs(value / unit) > MOST_POWER for value in inside):
        return
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
