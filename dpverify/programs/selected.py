"""The greatest of noisy answers, and then the answer at its place with noise of its own: two mechanisms, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpverify.programs import linear as lin
from dpverify.programs.faults import NotOfThisKind
from dpverify.programs.greatest import greatest
from dpverify.programs.linear import Linear
from dpverify.programs.machine import Machine
from dpverify.programs.machine import Way as Followed
from dpverify.programs.measured import Way, measured, noises_of
from dpverify.programs.naming import is_whole, table_of
from dpverify.programs.path import CHOSEN, FRESH, ONCE, YIELDED
from dpverify.programs.setting import Setting
from dpverify.programs.told import RETURNED, Leaf, item, numbers
from dpverify.programs.values import Items, Place, Table


def selected(setting: Setting, found: Sequence[Followed] | Machine, generator: bool) -> dict[str, Any]:
    """The mechanism. Of an answer at a place that is told everybody knows which query it is. Raises NotOfThisKind."""
    if isinstance(found, Machine):
        raise NotOfThisKind("the answer at the place of the greatest is used beside a loop over the answers. Write two programs.")
    if setting.neighbours not in ("all", "one", "monotone") or "bounds" in setting.options:
        raise NotOfThisKind("the answer where the greatest noisy one is is used, with neighbours all, one or monotone, and no bounds.")
    if setting.options.get("sensitivity") is None:
        raise NotOfThisKind("the answer at the place of the greatest is used. Say by how much answers move: dp.program(sensitivity=1).")
    ways, kinds = [], dict[tuple[Any, int], None]()
    for way in found:
        told = [value for of, value in way.events if of == YIELDED] if generator else [way.result]
        places = list(_places(told))
        items = tuple(item(YIELDED if generator else RETURNED, _without(value)) for value in told)
        ways.append((way.literals, items, way.opaque, way.attached))
        used = _numbers(ways[-1])
        places += [setting.shared.chosen[int(name.removeprefix(CHOSEN))] for each in used for name in each.names if name.startswith(CHOSEN)]
        if len({id(place.of) for place in places}) > 1 or any(place.value for place in places):
            raise NotOfThisKind("several of the greatest are told, or the greatest itself. Tell one place, and what is measured there.")
        if any(not name.startswith((CHOSEN, ONCE, FRESH)) for each in used for name in each.names):
            raise NotOfThisKind("the answer at the place of the greatest is told together with other answers. Write two programs.")
        kinds |= dict.fromkeys((setting.shared.elements.get(id(place.of)), place.sign) for place in places)
    if len(kinds) != 1:
        raise NotOfThisKind("the greatest is another one on other ways. Select once, and compare what is told.")
    ((element, sign),) = kinds
    table, sensitivity = greatest(setting, element, sign, value=False)
    parts = [
        {**table, **sensitivity},
        *(_part(setting, each) for each in measured([*map(_of_one, ways)], CHOSEN, "the answer at the place of the greatest")),
    ]
    part = {"kind": "compose", "parts": parts} if len(parts) > 1 else parts[0]
    return {"kind": "post_process", "map": "what the program makes of the place and of the answer there, with noise", "part": part}


def _of_one(way: Way) -> Way:
    """The same with one name for the answer that was chosen, which has another on each way that it was chosen on."""
    literals, items, opaque, attached = way
    names = {name for each in (*_numbers(way), *attached.values()) for name in each.names if name.startswith(CHOSEN)}
    known = dict.fromkeys(names, lin.name(CHOSEN))
    return (
        tuple(replace(one, left=lin.put(one.left, known)) for one in literals),
        tuple(
            replace(one, leaves=tuple(Leaf(lin.put(leaf.value, known), number=True) if leaf.number else leaf for leaf in one.leaves))
            for one in items
        ),
        tuple(lin.put(each, known) for each in opaque),
        {noise: lin.put(each, known) for noise, each in attached.items()},
    )


def _numbers(way: Way) -> list[Linear]:
    literals, items, opaque, _ = way
    return [*(one.left for one in literals), *numbers(items), *opaque]


def _part(setting: Setting, number: Linear) -> dict[str, Any]:
    """The noise of one measurement of the answer."""
    (noise,) = noises_of(number)
    multiple = sum((factor for name, factor in number.of.items() if name.startswith(CHOSEN)), Fraction(0))
    law = setting.shared.laws[noise]
    if is_whole(law) and multiple.denominator != 1:
        raise NotOfThisKind("an answer with noise on the integers is multiplied by what is no integer.")
    return {**table_of(law), **setting.sensitivity(abs(multiple))}


def _places(value: Any) -> Iterator[Place]:
    if isinstance(value, Place):
        yield value
    for each in _inside(value):
        yield from _places(each)


def _inside(value: Any) -> Sequence[Any]:
    if isinstance(value, tuple | list):
        return value
    if isinstance(value, Items):
        return value.held
    return list(value.of.values()) if isinstance(value, Table) else ()


def _without(value: Any) -> Any:
    """What is told, with a word where the place is."""
    if isinstance(value, Place):
        return "place"
    if isinstance(value, tuple):
        return tuple(map(_without, value))
    if isinstance(value, Items):
        return Items([_without(each) for each in value.held], value.number)
    return Table({key: _without(each) for key, each in value.of.items()}) if isinstance(value, Table) else value
