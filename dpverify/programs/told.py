"""What a program tells: words that are constants of its text, and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from dpverify.programs import linear as lin
from dpverify.programs.faults import NotOfThisKind
from dpverify.programs.linear import Linear
from dpverify.programs.path import ANSWER
from dpverify.programs.values import Derived, Earlier, Element, Filtered, Infinite, Items, Place, Table, Unknown, Vector


class StepNumber(str):
    """The number of the step in what is told, as text: no text that a program tells."""


DERIVED: Final = "~"
WHOLE: Final = "^"
"""What is computed of numbers stands behind one of these: of numbers that follow from it, behind the second."""
RETURNED: Final = -2
"""What is told by return, beside what is yielded and what lists hold."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A constant, or a number that may be anything. kind: the type of a constant, for True is 1, and both are not told alike."""

    value: Any
    number: bool = False
    kind: str = field(init=False, default="")

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", type(self.value).__name__)


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that is told. of: the list that it is appended to, or how else it is told; shape: of tuples around the leaves."""

    of: int
    shape: str
    leaves: tuple[Leaf, ...]

    @property
    def numbers(self) -> tuple[Linear, ...]:
        return tuple(leaf.value for leaf in self.leaves if leaf.number)


def item(of: int, value: Any) -> Item:
    """What a value tells. Raises NotOfThisKind for what is no output."""
    leaves: list[Leaf] = []
    shape = _shape(value, leaves)
    return Item(of, shape, tuple(leaves))


def _shape(value: Any, leaves: list[Leaf]) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(_shape(each, leaves) for each in value)})"
    if isinstance(value, Items):
        return "[*]" if value.told else f"[{', '.join(_shape(each, leaves) for each in value.held)}]"
    if isinstance(value, Table):
        return f"{{{', '.join(f'{key!r}: {_shape(each, leaves)}' for key, each in value.of.items())}}}"
    if isinstance(value, Element):
        value = lin.name(f"{ANSWER}1")
    if isinstance(value, Linear) and not value.terms:
        value = value.constant
    if isinstance(value, Linear):
        leaves.append(Leaf(value, number=True))
        return "%"
    if isinstance(value, bool | int | Fraction | str) or value is None:
        leaves.append(Leaf(value))
        return "%"
    if isinstance(value, Derived):
        leaves += [Leaf(each, number=True) for each in value.of]
        return f"{WHOLE if value.whole else DERIVED}({', '.join('%' for _ in value.of)})"
    if isinstance(value, Infinite):
        leaves.append(Leaf("inf" if value.sign > 0 else "-inf"))
        return "%"
    if isinstance(value, Unknown):
        return "?"
    if isinstance(value, Place):
        raise NotOfThisKind("the greatest noisy answer is told together with something else. Tell it alone: its place, or itself.")
    if isinstance(value, Earlier) and value.told:
        return "earlier"
    if isinstance(value, Earlier):
        raise NotOfThisKind("what a loop over the answers kept is told after another one. Tell it in the loop, or write two programs.")
    if isinstance(value, Filtered | Vector):
        what = "a list of some of the answers" if isinstance(value, Filtered) else "a list of noisy answers"
        raise NotOfThisKind(f"{what} is told together with something else. Return it by itself, or append to a list in a loop.")
    raise NotOfThisKind(f"{type(value).__name__.lower()} is told. Tell numbers, words, and lists or tuples of them.")


def is_derived(items: Iterable[Item], *, whole: bool = False) -> bool:
    """Whether something is computed of what is told, and told in its place. whole: multiples of one number do not count."""
    return any(f"{DERIVED}(" in one.shape or (not whole and f"{WHOLE}(" in one.shape) for one in items)


def lists_in(value: Any) -> frozenset[int]:
    """The lists that the loop appends to, in what is returned."""
    if isinstance(value, Items):
        return frozenset({value.number}) if value.told else frozenset().union(*map(lists_in, value.held))
    inside = value if isinstance(value, tuple) else value.of.values() if isinstance(value, Table) else ()
    return frozenset[int]().union(*map(lists_in, inside))


def word(items: tuple[Item, ...]) -> str:
    """The constants that are told, as one word; a number that may be anything is a line."""
    return " ".join(map(_word, items))


def _word(one: Item) -> str:
    parts = iter("_" if leaf.number else _constant(leaf.value) for leaf in one.leaves)
    return "".join(next(parts) if mark == "%" else mark for mark in one.shape)


def _constant(value: Any) -> str:
    return value if isinstance(value, str) else str(value)


def key(items: tuple[Item, ...]) -> tuple[Any, ...]:
    """What is told but the numbers that may be anything."""
    return tuple(
        (one.of, one.shape, tuple(("_",) if leaf.number else (type(leaf.value).__name__, leaf.value) for leaf in one.leaves))
        for one in items
    )


def may_be_equal(a: tuple[Item, ...], b: tuple[Item, ...], spread: Mapping[str, bool]) -> bool:
    """Whether two outputs with different words may be the same output. spread: of noises, whether they have a density."""
    if [(one.of, one.shape, len(one.leaves)) for one in a] != [(one.of, one.shape, len(one.leaves)) for one in b]:
        return False
    return all(_may_be_equal(x, y, spread) for one, other in zip(a, b, strict=True) for x, y in zip(one.leaves, other.leaves, strict=True))


def _may_be_equal(a: Leaf, b: Leaf, spread: Mapping[str, bool]) -> bool:
    if a.number and b.number:
        return True
    if not a.number and not b.number:
        return bool(a.value == b.value)
    number, other = (a, b) if a.number else (b, a)
    if isinstance(other.value, str) or other.value is None:
        return False
    return not any(spread.get(name, False) for name in number.value.names)


def numbers(items: tuple[Item, ...]) -> Iterator[Linear]:
    """All numbers that are told."""
    for one in items:
        yield from one.numbers
