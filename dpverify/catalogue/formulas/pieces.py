"""Pieces that the laws of mechanisms share: what a noise is about, where it lives, the norm, a matrix with its name.

q(x) is the true answer, M the mechanism; a density f(y) or p(y | theta) is up to a constant factor where "∝" stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dpverify.catalogue.formulas.boxes import (
    APPLY,
    DOT,
    MINUS,
    NEGATIVE,
    PRIME,
    TIMES,
    Box,
    Fence,
    Ident,
    Matrix,
    Number,
    Op,
    Sub,
    Sup,
    Words,
    brackets,
    row,
)
from dpverify.catalogue.formulas.typeset import ATOM, Names, raised, symbol, typeset
from dpverify.trusted.kernel.expr import ONE, Expr, Num, Pow, Sym, children, div, num, power, rebuild, substitute
from dpverify.trusted.kernel.model import Norm

MOST_ENTRIES: Final = 8
"""As many rows and columns of a matrix, parts in a formula and rows of a guarantee as are shown."""

X, Y, M = Ident("x"), Ident("y"), Ident("M")
PRIMED: Final = Sup(Ident("x"), PRIME)
EQUAL, TO, IN, AT_MOST = Op("="), Op("∝"), Op("∈"), Op("≤")
INFINITY: Final = Ident("∞")
OF_X: Final = row(APPLY, brackets(X))
ANSWER: Final = row(Ident("q"), OF_X)
NOISE: Final = row(Y, MINUS, ANSWER)
DENSITY: Final = row(Ident("f"), APPLY, brackets(Y))
PROBABILITY: Final = row(Ident("Pr"), APPLY, Fence("[", row(Y, Op("|"), X), "]"))


def held(place: str) -> Sym:
    """A symbol that no claim can use, to hold a box's place in an expression."""
    return Sym(f"<{place}>")


def named(shapes: Sequence[Expr], variable: str, value: Box, strength: int, *, letter: str = "") -> tuple[Names, list[Box]]:
    """What stands for a variable: its value where it occurs once, else a letter, and then what the letter is."""
    if sum(_count(shape, variable) for shape in shapes) <= 1:
        return {variable: (value, strength)}, []
    named = symbol(letter or variable)
    return {variable: (named, ATOM)}, [row(named, EQUAL, value)]


def scaled(profile: Expr, scale: Expr) -> Expr:
    """A profile in r at r / scale."""
    return profile if scale == ONE else _merged(substitute(profile, {"r": div(Sym("r"), scale)}))


def _merged(expr: Expr) -> Expr:
    """Whole powers of roots as one power: the same wherever the root is defined, as that of a scale is."""
    match expr:
        case Pow(Pow(base, Num(inner)), Num(outer)) if outer.denominator == 1:
            return power(_merged(base), num(inner * outer))
    return rebuild(expr, _merged)


def _count(expr: Expr, name: str) -> int:
    return int(expr == Sym(name)) + sum(_count(part, name) for part in children(expr))


def size(norm: Norm, dimension: Expr) -> Box:
    """||y - q(x)||, an absolute value in one dimension."""
    if dimension == ONE and norm.kind == "lp":
        return Fence("|", NOISE, "|")
    lp = INFINITY if norm.p is None else raised(Num(norm.p))
    return Sub(Fence("‖", NOISE, "‖"), lp if norm.kind == "lp" else symbol("Sigma") if norm.kind == "ellipsoid" else Ident("K"))


def index(norm: Norm) -> Iterator[Box]:
    """What the norm's index means, where it is not a number."""
    z, a, matrix, sigma = Ident("z"), Ident("a"), Ident("A"), symbol("Sigma")
    rows = tuple(tuple(map(num, line)) for line in norm.matrix)
    if norm.kind == "ellipsoid":
        inverse = Sup(sigma, row(NEGATIVE, Number("1")))
        yield row(Sup(Sub(Fence("‖", z, "‖"), sigma), Number("2")), EQUAL, Sup(z, Ident("⊤")), TIMES, inverse, TIMES, z)
        yield matrix_named(sigma, rows, "symmetric")
    if norm.kind == "columns":
        yield row(Words("K the hull of ± the rows of "), matrix)
        yield matrix_named(matrix, rows, "a row for each point")
    if norm.kind == "facets":
        product = Fence("|", row(a, DOT, z), "|")
        yield row(Words("K where "), product, AT_MOST, Number("1"), Words(" for each row "), a, Words(" of "), matrix)
        yield matrix_named(matrix, rows, "a row for each pair of facets")


def space(dimension: Expr) -> Iterator[Box]:
    """Where the output lives, in several dimensions."""
    if dimension != ONE:
        yield row(Y, IN, Sup(Ident("ℝ"), raised(dimension)))


def within(inside: Box, ends: tuple[Expr | None, Expr | None]) -> Iterator[Box]:
    """low <= inside <= high, without the ends that are infinite."""
    low, high = (None if end is None else typeset(end) for end in ends)
    if low is not None and high is not None:
        yield row(low, AT_MOST, inside, AT_MOST, high)
    elif low is not None:
        yield row(inside, Op("≥"), low)
    elif high is not None:
        yield row(inside, AT_MOST, high)


def matrix_named(name: Box, rows: Sequence[Sequence[Expr]], meaning: str) -> Box:
    """A matrix with its name; its size in words where it is too large to be read."""
    columns = max(map(len, rows), default=0)
    if len(rows) <= MOST_ENTRIES and columns <= MOST_ENTRIES:
        return row(name, EQUAL, Matrix(tuple(tuple(map(raised, line)) for line in rows)))
    return row(name, Words(f" of {len(rows)} rows and {columns} columns, {meaning}"))
