"""What a program tells after its loop over answers: a constant, or what follows from what it kept, which each step tells then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from dpverify.programs import linear as lin
from dpverify.programs.faults import NotOfThisKind
from dpverify.programs.linear import Linear
from dpverify.programs.machine import FIRST, Location, Machine
from dpverify.programs.path import ANSWER, FRESH, INDEX, KEPT, LENGTH, ONCE
from dpverify.programs.steps import Did, Program
from dpverify.programs.told import RETURNED, Item, Leaf, StepNumber, numbers

REVEALED: Final = -3
"""What is told of a step beside what the program tells: what it keeps."""
_WHY: Final = (
    "what is told after the loop depends on what was kept in it. Tell it in the loop, say how many answers there are: "
    "dp.program(answers=3), or sum them: sum(answers)."
)


@dataclass(frozen=True)
class Kept:
    """What the end of a program depends on: numbers that are kept, and the place. last: what is told there, where that is one thing."""

    names: frozenset[str]
    places: tuple[Location, ...]
    last: tuple[Item, ...]


def ends(machine: Machine, lasts: Mapping[Location, Sequence[tuple[Item, ...]]]) -> tuple[tuple[Item, ...], Kept | None]:
    """What is told where the answers end, if it is one constant; and what it depends on, where it is none. Raises NotOfThisKind."""
    told = {one for found in lasts.values() for one in found}
    used = [number for one in told for number in numbers(one)]
    if len(told) <= 1:
        last = next(iter(told), ())
        if not used:
            return last, None
        if (counted := _how_many(machine, last)) is not None:
            return counted, None
    used += [one.left for ways in machine.finish.values() for way in ways for one in way.literals]
    names = {name for number in used for name in number.names}
    if any(not name.startswith((KEPT, INDEX, LENGTH, FRESH)) for name in names):
        raise NotOfThisKind(_WHY)
    begun = [place for place, found in machine.finish.items() if found]
    kept = frozenset(name for name in names if name.startswith(KEPT))
    return (), Kept(kept, tuple(begun) if len(begun) > 1 else (), next(iter(told)) if len(told) == 1 else ())


def _how_many(machine: Machine, last: tuple[Item, ...]) -> tuple[Item, ...] | None:
    """How many answers there are, as a constant, where no step tells a number as large by itself."""
    leaves = [leaf for one in last for leaf in one.leaves if leaf.number]
    if any(leaf.value.names != (INDEX,) or leaf.value.of[INDEX] != 1 or lin.parameters_of(leaf.value) for leaf in leaves):
        return None
    least = min(leaf.value.constant for leaf in leaves)
    for place, ways in machine.steps.items():
        first = (FIRST, True) in place
        if any(way.after is None and not _is_less(way.result, first, least) for way in ways):
            return None
    named = [
        replace(one, leaves=tuple(Leaf(StepNumber(f"n + {leaf.value.constant}")) if leaf.number else leaf for leaf in one.leaves))
        for one in last
    ]
    return tuple(named)


def _is_less(result: object, first: bool, least: Fraction) -> bool:
    """Whether what a step returns is none of the numbers that are told in the end: a word, or at most the number of the step and least."""
    if result is None or isinstance(result, str):
        return True
    if isinstance(result, int) and not isinstance(result, bool):
        result = lin.constant(result)
    if not isinstance(result, Linear):
        return False
    beyond = result if first and not result.terms else lin.minus(result, lin.name(INDEX))
    return not beyond.terms and beyond.constant <= least


def reveal(made: Program, kept: Kept) -> None:
    """Lets each step tell what the end depends on: the program tells what follows from that. Raises NotOfThisKind."""
    made.partial = True
    for place, ways in made.ways.items():
        known = dict(place)
        made.ways[place] = [(literals, _ended(did, kept) if did.after is None else _told_more(did, kept, known)) for literals, did in ways]


def _told_more(did: Did, kept: Kept, known: Mapping[str, object]) -> Did:
    more: list[Item] = []
    for name, value in did.kept:
        if name in kept.names:
            more.append(_change(name, value))
    if kept.places:
        number = kept.places.index(did.after) if did.after in kept.places else -1
        more.append(Item(REVEALED, "place %", (Leaf(str(number)),)))
    return replace(did, told=(*did.told, *more))


def _change(name: str, value: Linear) -> Item:
    """What becomes of a number that is kept: what is added to it, where that is the same in every run; else what it is."""
    added = lin.minus(value, lin.name(name))
    if not added.names:
        return Item(REVEALED, f"{name.removeprefix(KEPT)} + %", (Leaf(added.text()),))
    if not value.names:
        return Item(REVEALED, f"{name.removeprefix(KEPT)} = %", (Leaf(value.text()),))
    if any(each.startswith(ANSWER) for each in value.names) and not any(each.startswith((ONCE, FRESH)) for each in value.names):
        raise NotOfThisKind(_WHY)
    return Item(REVEALED, f"{name.removeprefix(KEPT)} = %", (Leaf(value, number=True),))


def _ended(did: Did, kept: Kept) -> Did:
    """A step that ends the run and tells what the end of the answers tells, of new numbers: as one that goes on with them."""
    other_end = replace(did, told=(*did.told, Item(REVEALED, "ended", ())))  # of which the last step is none
    mine, last = [one for one in did.told if one.of == RETURNED], kept.last
    if not last or len(mine) != len(last) or kept.places or len(last) != 1:
        return other_end
    (one,), (other,) = mine, last
    if one.shape != other.shape or len(one.leaves) != len(other.leaves):
        return other_end
    changes: dict[str, Linear] = {}
    for leaf, end in zip(one.leaves, other.leaves, strict=True):
        if not end.number:
            if leaf != end:
                return other_end
            continue
        if end.value.names == (INDEX,) or len(end.value.terms) != 1 or end.value.constant or end.value.terms[0][1] != 1:
            return other_end
        value = leaf.value if leaf.number else lin.constant(leaf.value) if isinstance(leaf.value, int) else None
        if value is None or changes.setdefault(end.value.names[0], value) != value:
            return other_end
    if kept.names - changes.keys():
        return other_end
    told = tuple(each for each in did.told if each.of != RETURNED)
    more = [_change(name, value) for name, value in sorted(changes.items()) if value != lin.name(name)]
    return replace(did, told=(*told, *more))
