"""Values and conditions of SQL on one row, as expressions and comparisons of claim files.

SQL has three truths, and NULL among its values. A value is a list of pieces, each with the condition under which it is the value; in every
row the condition of exactly one piece holds, and a piece without an expression is NULL. A condition is the two conditions, of two truths,
under which it is true and under which it is false; where neither holds it is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any, Final, NamedTuple

TRUE: Final = "0 >= 0"
FALSE: Final = "0 > 0"
NUMBER, TEXT, BOOLEAN = "number", "text", "boolean"
MOST_PIECES: Final = 64
MOST_WRITTEN: Final = 6_000


class Refused(Exception):
    """What SQL says that has no place among sums over records: which part of it, and why."""

    def __init__(self, node: object, why: str) -> None:
        super().__init__(why)
        self.node, self.why = node, why


def both(*conditions: str) -> str:
    """That all hold."""
    if FALSE in conditions:
        return FALSE
    held = list(dict.fromkeys(one for one in conditions if one != TRUE))
    return " and ".join(f"({one})" if len(held) > 1 else one for one in held) or TRUE


def either(*conditions: str) -> str:
    """That one of them holds."""
    if TRUE in conditions:
        return TRUE
    held = list(dict.fromkeys(one for one in conditions if one != FALSE))
    return " or ".join(f"({one})" if len(held) > 1 else one for one in held) or FALSE


def no(condition: str) -> str:
    """That it does not hold."""
    return {TRUE: FALSE, FALSE: TRUE}.get(condition) or f"not ({condition})"


class Piece(NamedTuple):
    """A value where a condition holds; None for NULL."""

    where: str
    value: str | None


class Value(NamedTuple):
    """A value of a row. kind: whether it is a number, a text as the number that stands for it, or a truth as 0 or 1; empty for NULL."""

    pieces: tuple[Piece, ...]
    kind: str = NUMBER

    def known(self) -> str:
        """That it is not NULL."""
        if not any(piece.value is None for piece in self.pieces):
            return TRUE
        return either(*(piece.where for piece in self.pieces if piece.value is not None))

    def unknown(self) -> str:
        """That it is NULL."""
        return either(*(piece.where for piece in self.pieces if piece.value is None))


class Truth(NamedTuple):
    """A condition of a row: when it is true, and when it is false."""

    true: str
    false: str

    def value(self) -> Value:
        """The truth as a value, NULL where it is unknown."""
        unknown = both(no(self.true), no(self.false))
        settled = self.false == no(self.true) or self.true == no(self.false)
        pieces = [Piece(self.true, "1"), Piece(self.false, "0"), *([] if settled else [Piece(unknown, None)])]
        return Value(tuple(piece for piece in pieces if piece.where != FALSE), BOOLEAN)


def one(value: str | None, kind: str = NUMBER) -> Value:
    """The same value in every row."""
    return Value((Piece(TRUE, value),), kind if value is not None else "")


def kind_of(node: object, values: Iterable[Value]) -> str:
    """What all values are; numbers where all are NULL. Raises Refused."""
    kinds = {value.kind for value in values if value.kind}
    if len(kinds) > 1:
        raise Refused(
            node, f"it mixes a {' and a '.join(sorted(kinds))}. Compare and choose values of one kind, or say in record what a column is"
        )
    return next(iter(kinds), NUMBER)


def few(node: object, pieces: Sequence[Any]) -> None:
    """Raises Refused where there are too many cases, or where their conditions are too long to be looked at."""
    if len(pieces) > MOST_PIECES:
        raise Refused(node, f"it has more than {MOST_PIECES} cases. Write it with fewer CASE and fewer columns that may be NULL")
    written = (text for piece in pieces for text in ((piece,) if isinstance(piece, str) else piece) if isinstance(text, str))
    if sum(map(len, written)) > MOST_WRITTEN:
        raise Refused(node, "its cases are too long to be looked at. Nest fewer conditions and CASE in each other")


def together(node: object, values: Sequence[Value], make: Callable[[Sequence[str]], str]) -> Value:
    """What is computed of values, and is NULL where one of them is. Raises Refused where there are too many cases."""
    cases: list[tuple[str, tuple[str, ...] | None]] = [(TRUE, ())]
    for value in values:
        cases = [
            (both(where, piece.where), None if known is None or piece.value is None else (*known, piece.value))
            for where, known in cases
            for piece in value.pieces
        ]
        nulls = [where for where, known in cases if known is None and where != FALSE]
        cases = [(where, known) for where, known in cases if known is not None and where != FALSE]
        cases += [(where, None) for where in nulls]
        few(node, cases)
    pieces = tuple(Piece(where, None if known is None else make(known)) for where, known in cases)
    few(node, pieces)
    return Value(pieces)


def alternatives(node: object, branches: Iterable[tuple[str, Value]], otherwise: Value) -> Value:
    """The value of the first branch whose condition holds, or else another."""
    every, left, pieces = [*branches, (TRUE, otherwise)], TRUE, list[Piece]()
    for condition, value in every:
        here = both(left, condition)
        pieces += [Piece(both(here, piece.where), piece.value) for piece in value.pieces]
        left = both(left, no(condition))
    pieces = [piece for piece in pieces if piece.where != FALSE]
    few(node, pieces)
    return Value(tuple(pieces), kind_of(node, (value for _, value in every)))


def extreme(node: object, name: str, values: Sequence[Value], ignoring: bool) -> Value:
    """The least or the greatest of values. ignoring: of those that are not NULL, where SQL takes it so."""

    def make(numbers: Sequence[str]) -> str:
        return numbers[0] if len(numbers) == 1 else f"{name}({', '.join(numbers)})"

    if not ignoring:
        return together(node, values, make)
    sure = [value for value in values if value.unknown() == FALSE]
    doubtful = list(enumerate(value for value in values if value.unknown() != FALSE))  # by place: the same value may be there twice
    if len(doubtful) > 4:
        raise Refused(node, "more than four of its arguments may be NULL. Write COALESCE about them, or declare them not_null")
    pieces = list[Piece]()
    for count in range(len(doubtful), -1, -1):
        for there in combinations(doubtful, count):
            places = {place for place, _ in there}
            where = both(*(value.unknown() for place, value in doubtful if place not in places))
            if not sure and not there:
                pieces.append(Piece(where, None))
                continue
            pieces += [
                Piece(both(where, piece.where), piece.value)
                for piece in together(node, [*sure, *(value for _, value in there)], make).pieces
                if piece.value is not None
            ]
    few(node, pieces)
    return Value(tuple(piece for piece in pieces if piece.where != FALSE))


def compared(node: object, left: Value, right: Value, relation: str, opposite: str) -> Truth:
    """A comparison of two values, unknown where one of them is NULL."""
    true, false = list[str](), list[str]()
    for a in left.pieces:
        for b in right.pieces:
            if a.value is not None and b.value is not None:
                where = both(a.where, b.where)
                true.append(both(where, f"{a.value} {relation} {b.value}"))
                false.append(both(where, f"{a.value} {opposite} {b.value}"))
    few(node, true)
    return Truth(either(*true), either(*false))
