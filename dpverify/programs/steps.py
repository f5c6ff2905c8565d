"""The steps of a loop over answers: what each does, and what of it makes no difference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from dpverify.programs import linear as lin
from dpverify.programs.faults import NotOfThisKind
from dpverify.programs.linear import Linear, Literal
from dpverify.programs.machine import FIRST, Location
from dpverify.programs.normal import Asked, Case, Done, TooMany, Tree, tree
from dpverify.programs.path import FACTS, KEPT, ONCE, Shared
from dpverify.programs.told import RETURNED, Item, key, numbers

END: Final = -1
"""Where a run is over, among the numbers of places."""


@dataclass(frozen=True)
class Did:
    """What a step does. kept: new values of numbers; counts: what counters grow by."""

    told: tuple[Item, ...]
    after: Location | None
    kept: tuple[tuple[str, Linear], ...]
    counts: tuple[tuple[str, Linear], ...] = ()


@dataclass
class Program:
    """A loop over answers on its way to a stream. limits: of counters."""

    shared: Shared
    start: Location
    first: dict[str, Linear]
    ways: dict[Location, list[tuple[tuple[Literal, ...], Did]]]
    last: tuple[Item, ...]
    at_once: bool = False
    limits: dict[str, Linear] = field(default_factory=dict)
    checked: set[Linear] = field(default_factory=set)
    partial: bool = False
    """Whether steps tell more than the program does."""


def is_plain(one: Item) -> bool:
    """Whether it is a constant that is returned."""
    return one.of == RETURNED and not any(leaf.number for leaf in one.leaves)


def updates(made: Program, name: str) -> list[Linear]:
    """What becomes of a number in the steps that go on."""
    return [dict(did.kept).get(name, lin.name(name)) for ways in made.ways.values() for _, did in ways if did.after is not None]


def everywhere(made: Program, name: str) -> bool:
    """Whether a number is kept in all places."""
    return all(any(name in dict(did.kept) for _, did in ways) or all(did.after is None for _, did in ways) for ways in made.ways.values())


def put_literals(found: tuple[Literal, ...], known: Mapping[str, Linear]) -> tuple[Literal, ...]:
    """Comparisons with values in the place of names."""
    return tuple(lin.literal(lin.put(one.left, known), one.strict) for one in found)


def without_idling(made: Program) -> None:
    """Ends the run where a step changes nothing, tells constants, and so will each step after it."""
    if not all(map(is_plain, made.last)):
        return
    counted = {name for name in made.first if all(not lin.minus(each, lin.name(name)).names for each in updates(made, name))}
    for place, ways in sorted(made.ways.items(), key=lambda one: one[0] != made.start):  # the first step looks at those after it
        for literals, did in ways:
            if did.told and _idles(made, place, literals, did) and {name for one in literals for name in one.left.names} - counted:
                made.partial = True  # that the run is over may not be seen of what is told on and on
        made.ways[place] = [
            (literals, Did(made.last, None, ())) if _idles(made, place, literals, did) else (literals, did) for literals, did in ways
        ]


def _idles(made: Program, place: Location, literals: tuple[Literal, ...], did: Did) -> bool:
    """Whether a step does what all steps after it will do: its comparisons are of what stays as it is."""
    stays = all(value == lin.name(name) for name, value in did.kept)
    same = all(name.startswith((KEPT, ONCE)) for one in literals for name in one.left.names)
    if not stays or not same or any(True for _ in numbers(did.told)):
        return False
    if (FIRST, True) in place:
        later = tuple(one for one in place if one[0] != FIRST)
        return did.after == later and (literals, did) in made.ways.get(later, ()) and _idles(made, later, literals, did)
    return did.after == place


def without_dead_ends(made: Program) -> None:
    """Places from where nothing more is told are where the run is over."""
    silent = [one for one in made.last if not is_plain(one)]
    if silent:
        return
    dead: set[Location] = set(made.ways)
    while True:
        left = {
            place
            for place in dead
            if all(_says_nothing(made, did) and (did.after is None or did.after in dead) for _, did in made.ways[place])
        }
        if left == dead:
            break
        dead = left
    if made.start in dead:
        return
    for place, ways in made.ways.items():
        made.ways[place] = [
            (literals, replace(did, after=None, kept=(), told=(*did.told, *made.last)) if did.after in dead else did)
            for literals, did in ways
        ]
    for place in dead:
        del made.ways[place]


def _says_nothing(made: Program, did: Did) -> bool:
    return did.told == () if did.after is not None else key(did.told) == key(made.last)


def dead_numbers(made: Program) -> frozenset[str]:
    """Numbers that are kept, and neither compared nor told, nor used for those that are."""
    live = {
        each
        for ways in made.ways.values()
        for literals, did in ways
        for one in (*(each.left for each in literals), *numbers(did.told))
        for each in one.names
    }
    while True:
        more = {each for ways in made.ways.values() for _, did in ways for name, value in did.kept if name in live for each in value.names}
        if more <= live:
            break
        live |= more
    return frozenset(made.first) - live


def forget(made: Program, name: str) -> None:
    """Keeps a number no longer."""
    made.first.pop(name, None)
    for place, ways in made.ways.items():
        made.ways[place] = [(literals, replace(did, kept=tuple(one for one in did.kept if one[0] != name))) for literals, did in ways]


def merge(made: Program) -> None:
    """Makes places from which the same is done one."""
    classes: dict[Location | None, int] = dict.fromkeys(made.ways, 0)
    classes[None] = END
    while True:
        signs: dict[Any, int] = {}
        after: dict[Location | None, int] = {None: END}
        for place, ways in made.ways.items():
            cases: list[Case] = [(literals, _signed(did, classes)) for literals, did in ways]
            try:
                sign = _sign(tree(cases, FACTS))
            except TooMany as error:
                raise NotOfThisKind("a step compares too much to be put in order. Compare less in one step.") from error
            after[place] = signs.setdefault((classes[place], sign), len(signs))
        if len(set(after.values())) == len(set(classes.values())):
            break
        classes = after
    found: dict[Any, list[tuple[tuple[Literal, ...], Did]]] = {}
    for place, ways in made.ways.items():
        if classes[place] not in found:
            moved = [(literals, replace(did, after=None if did.after is None else (("", classes[did.after]),))) for literals, did in ways]
            found[classes[place]] = moved
    made.ways = {(("", number),): cases for number, cases in found.items()}
    made.start = (("", classes[made.start]),)


def _signed(did: Did, classes: Mapping[Location | None, int]) -> Any:
    return (did.told, classes[did.after], did.kept, did.counts)


def _sign(found: Tree) -> Any:
    if isinstance(found, Done):
        return found.what
    assert isinstance(found, Asked)
    return (found.literal, _sign(found.holds), _sign(found.fails))
