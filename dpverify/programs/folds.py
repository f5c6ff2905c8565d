"""Loops that keep a number from all answers and tell it in the end: the greatest so far, a sum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dpverify.programs import linear as lin
from dpverify.programs.greatest import greatest
from dpverify.programs.linear import Linear
from dpverify.programs.machine import NO_RESULT, Location, Machine, Way
from dpverify.programs.naming import is_whole
from dpverify.programs.path import ANSWER, FRESH, INDEX, KEPT, LENGTH, ONCE, TOTAL, YIELDED
from dpverify.programs.setting import Setting
from dpverify.programs.told import item, numbers
from dpverify.programs.values import Derived


def fold(setting: Setting, machine: Machine, generator: bool) -> Way | tuple[dict[str, Any], dict[str, Any]] | None:
    """The program as one that tells once, where its loop tells nothing and never ends by itself; None where it is no such loop."""
    steps = [(place, way) for place, ways in machine.steps.items() for way in ways]
    if any(way.after is None or way.events for _, way in steps):
        return None
    told = [value for ways in machine.finish.values() for way in ways for value in _values(way, generator)]
    if not any(True for value in told for _ in numbers((item(YIELDED, value),))):
        return None
    return _greatest_so_far(setting, machine, generator) or _sums(machine, generator)


def _values(way: Way, generator: bool) -> list[Any]:
    return [value for of, value in way.events if of == YIELDED] if generator else [way.result if way.result is not NO_RESULT else None]


def _sums(machine: Machine, generator: bool) -> Way | None:
    """Numbers to which each step adds: what they begin with, plus multiples of the sum of all answers and of their number."""
    if generator or any(len(ways) != 1 for ways in machine.steps.values()):
        return None
    ways = [way for found in machine.steps.values() for way in found]
    ends = [way for found in machine.finish.values() for way in found]
    if len({tuple(sorted(way.kept.items())) for way in ways}) != 1 or len(ends) != 1:
        return None
    way, end = ways[0], ends[0]
    answer = f"{ANSWER}1"
    known: dict[str, Linear] = {}
    for name, value in way.kept.items():
        added = lin.minus(value, lin.name(name))
        if any(each != answer for each in added.names) or name not in machine.first:
            return None
        multiple = added.of.get(answer)
        rest = lin.linear({atom: factor for atom, factor in added.terms if atom != answer}, added.constant)
        if rest != lin.constant(0) and rest.terms:
            return None
        total = lin.scale(lin.name(TOTAL), multiple) if multiple else lin.constant(0)
        known[name] = lin.plus(machine.first[name], lin.plus(total, lin.scale(lin.name(LENGTH), rest.constant)))
    if end.literals or any(name.startswith(INDEX) for name in _names(end)):
        return None
    return Way((), (), _put(end.result, known))


def _names(way: Way) -> set[str]:
    return {name for each in numbers((item(YIELDED, way.result),)) for name in each.names}


def _put(value: Any, known: Mapping[str, Linear]) -> Any:
    if isinstance(value, tuple):
        return tuple(_put(each, known) for each in value)
    if isinstance(value, Derived):
        return replace(value, of=tuple(lin.put(each, known) for each in value.of))
    return lin.put(value, known) if isinstance(value, Linear) else value


def _greatest_so_far(setting: Setting, machine: Machine, generator: bool) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """The greatest noisy answer so far and its place: taken at first, and where a comparison holds."""
    start = machine.start
    firsts = machine.steps[start]
    if len(firsts) != 1 or firsts[0].literals or firsts[0].after is None:
        return None
    later = firsts[0].after
    if later == start or set(machine.steps) != {start, later} or len(machine.steps[later]) != 2:
        return None
    if any(way.after != later for way in machine.steps[later]):
        return None
    found = _told_in_the_end(machine, later, generator)
    if found is None:
        return None
    one, other = machine.steps[later]
    if len(one.literals) != 1 or len(other.literals) != 1:
        return None
    for taken, stays in ((one, other), (other, one)):
        best = [name for name, value in taken.kept.items() if any(each.startswith(FRESH) for each in value.names)]
        if len(best) != 1 or stays.kept.get(best[0], lin.name(best[0])) != lin.name(best[0]):
            continue
        element = taken.kept[best[0]]
        difference = lin.minus(element, lin.name(best[0]))
        compared = taken.literals[0].left
        for sign in (1, -1):
            if compared != lin.literal(lin.scale(difference, sign), False).left:
                continue
            if _begins(firsts[0], best[0], element) and best[0] == found:
                return greatest(setting, element, sign, "value")
            place = found
            same = stays.kept.get(place, lin.name(place)) == lin.name(place)
            step = taken.kept.get(place)
            if same and step is not None and _is_step(machine, firsts[0], later, place, step) and _begins(firsts[0], best[0], element):
                if not taken.literals[0].strict and _whole(setting, element):
                    return None  # of several that are the greatest the last one is told
                return greatest(setting, element, sign, "index")
    return None


def _whole(setting: Setting, element: Linear) -> bool:
    return any(is_whole(setting.shared.laws[name]) for name in element.names if name in setting.shared.laws)


def _told_in_the_end(machine: Machine, later: Location, generator: bool) -> str | None:
    """The name of the one number that is told where the answers end."""
    ways = machine.finish[later]
    if len(ways) != 1 or ways[0].literals:
        return None
    values = _values(ways[0], generator)
    if len(values) != 1 or not isinstance(values[0], Linear) or len(values[0].names) != 1:
        return None
    (name,) = values[0].names
    return name if name.startswith(KEPT) and abs(values[0].of[name]) == 1 and not name.startswith(ONCE) else None


def _begins(way: Way, name: str, element: Linear) -> bool:
    """Whether the first answer with its noise is the greatest so far at first."""
    first = way.kept.get(name)
    return first == element


def _is_step(machine: Machine, first: Way, later: Location, place: str, step: Linear) -> bool:
    """Whether a place is that of the step, from the first one on."""
    begun = first.kept.get(place)
    known = dict(later)
    if step.names == (INDEX,) and step.of[INDEX] == 1:
        constant = lin.minus(step, lin.name(INDEX))
        return begun in (step, constant) or known.get(place.removeprefix(KEPT)) == constant.constant
    return False
