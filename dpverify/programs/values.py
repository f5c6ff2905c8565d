"""What names of a program stand for while its text is followed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dpverify.programs.linear import Linear

Law = tuple[tuple[str, Any], ...]
"""A table of noise, as pairs in the order of its keys; numbers as text."""


@dataclass(frozen=True, slots=True)
class Noise:
    """The argument that noise is drawn from."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The list of answers, of which nobody knows how many there are."""


@dataclass(frozen=True, slots=True)
class Counted:
    """`enumerate` of a list whose length is not known."""

    of: Any
    start: Linear


@dataclass(frozen=True, slots=True)
class Zipped:
    """`zip` of lists whose length is not known."""

    of: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Places:
    """`range` over the places of the answers."""


@dataclass(frozen=True, slots=True, eq=False)
class Vector:
    """One number for each answer: an expression that is evaluated for each, with the names that it sees."""

    node: Any
    frame: Any
    source: Any


@dataclass(frozen=True, slots=True, eq=False)
class Filtered:
    """A number for each of some answers: those of which conditions hold."""

    target: Any
    element: Any
    conditions: tuple[Any, ...]
    frame: Any
    source: Any


@dataclass(frozen=True, slots=True)
class Element:
    """One answer of a list whose answers are lists: its numbers are named when they are taken."""


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Which of the noisy answers is the greatest, or, with sign -1, the least; or that answer itself, where value says so.

    rank: how many are greater, or less. after: places that were selected before, and left out here. lead: whether it is the lead of the
    greatest over the next one.
    """

    of: Vector
    sign: int
    value: bool = False
    rank: int = 0
    after: tuple[Place, ...] = ()
    lead: bool = False


@dataclass(frozen=True, slots=True)
class Remaining:
    """The places of the answers but for some that were selected before."""

    after: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Ranked:
    """The noisy answers in order. descending; places: whether their places are in order, and not they themselves."""

    of: Vector
    descending: bool
    places: bool


GIVEN: Final = -1
"""The number of a list that is of the data."""


@dataclass(slots=True, eq=False)
class Items:
    """A list of known length. number: which one, by the order in which they are made; told: one that the loop appends to."""

    held: list[Any]
    number: int
    in_loop: bool = False
    told: bool = False


@dataclass(frozen=True, slots=True)
class Infinite:
    """float("inf") or its opposite, in comparisons."""

    sign: int


@dataclass(frozen=True, slots=True)
class Unknown:
    """What a construct that could not be read would have given. It is told of once."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """What an earlier loop over the answers left, while a later one is followed by itself. told: whether its own mechanism tells it."""

    told: bool = False


@dataclass(frozen=True, slots=True)
class Rows:
    """The records, those of which a condition holds, as text in their fields."""

    where: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A record of a comprehension or a loop."""


@dataclass(frozen=True, slots=True)
class RowNumber:
    """A number, or a truth, of a record: its text, and the constant where it depends on no field."""

    text: str
    truth: bool = False


@dataclass(frozen=True, slots=True)
class RowNumbers:
    """A number of each record of some."""

    text: str
    where: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Growing:
    """A number that is added to while records are gone through."""


@dataclass(frozen=True, slots=True)
class Derived:
    """What is computed of noisy numbers in a way that is no sum: whoever knows these numbers knows it.

    whole: whether it is a multiple of the one number, from which that follows.
    """

    of: tuple[Linear, ...]
    whole: bool = False


UNKNOWN: Final = Unknown()


@dataclass(frozen=True, slots=True)
class Table:
    """A dict whose keys are written out."""

    of: Mapping[Any, Any]

    def __hash__(self) -> int:
        return hash(tuple(self.of))


def is_number(value: Any) -> bool:
    """Whether it is a number that is the same in every run."""
    return isinstance(value, int | Fraction) or (isinstance(value, Linear) and not value.terms)
