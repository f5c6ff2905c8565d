"""Places of the greatest of noisy answers, and answers there with noise of their own: mechanisms one after the other."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from dpverify.programs import linear as lin
from dpverify.programs.faults import NotOfThisKind
from dpverify.programs.greatest import greatest
from dpverify.programs.linear import Linear
from dpverify.programs.machine import Way as Followed
from dpverify.programs.measured import Way, measured, noises_of
from dpverify.programs.naming import is_whole, table_of
from dpverify.programs.path import CHOSEN, FRESH, ONCE, YIELDED
from dpverify.programs.setting import Setting
from dpverify.programs.told import RETURNED, Leaf, item, numbers
from dpverify.programs.values import Derived, Items, Place, Ranked, Table, Vector

_TOGETHER = (
    "what is told of several of the greatest, or of one beside its place, follows from all noisy answers. {} Gumbel noise, of "
    "which the first few places are as many selections, one after the other, draw noise anew for each selection, or say how many answers "
    'there are, dp.program(answers=3), or that one of them moves: neighbours="one".'
)


def selections(setting: Setting, way: Followed, generator: bool) -> list[Place]:
    """All that was selected on the way to what is told, each once."""
    values = told_by(way, generator)
    numbers_ = [*(one.left for one in way.literals), *way.opaque, *way.attached.values(), *_numbers_in(values)]
    used = {name for each in numbers_ for name in each.names if name.startswith(CHOSEN)}
    open_ = [*_places(values), *(setting.shared.chosen[int(name.removeprefix(CHOSEN))] for name in sorted(used))]
    found: dict[Place, None] = {}
    while open_:
        place = open_.pop(0)
        open_ += () if place in found else place.after
        found[place] = None
    return list(found)


def whole(setting: Setting, found: Sequence[Followed], generator: bool) -> Vector | None:
    """The list of noisy answers from which all that is told follows, where no selections do; None where they do.

    Raises NotOfThisKind where that would be no mechanism of a finite epsilon.
    """
    places = [place for way in found for place in selections(setting, way, generator)]
    lists = {id(place.of): place.of for place in places}.values()
    if all(_kind_of(setting, [place for place in places if place.of is of]) for of in lists):
        return None
    (of, *others) = lists
    plain = not any(_numbers(_read(way, generator)) for way in found)
    if others or not plain or len(found) > 1 or (setting.neighbours != "one" and setting.length is None):
        raise NotOfThisKind(_TOGETHER.format("Use" if not all(_is_gumbel(setting, place) for place in places) else "Tell places alone of"))
    return of


def _is_any(place: Place) -> bool:
    """Whether it stands for any of some places, of which it may be one."""
    return any(other.of is place.of and other.rank == place.rank for other in place.after)


def _others_left_out(place: Place) -> frozenset[Place]:
    """What was chosen from other lists and is left out of this one."""
    return frozenset(other for other in place.after if other.of is not place.of)


def _is_gumbel(setting: Setting, place: Place) -> bool:
    """Whether each of the noisy answers has Gumbel noise of its own."""
    element = setting.shared.elements.get(id(place.of))
    noises = [] if element is None else noises_of(element)
    return len(noises) == 1 and table_of(setting.shared.laws[noises[0]]).get("name") == "gumbel"


def _kind_of(setting: Setting, mine: Sequence[Place]) -> str | None:
    """What a selection reports of one list from which all these follow; None where it is no selection."""
    if len({place.sign for place in mine}) > 1:
        return None
    most = max(place.rank for place in mine)
    if any(place.lead for place in mine):
        return "index+gap" if not most and all(place.lead or not place.value for place in mine) else None
    if any(place.value for place in mine):
        return "value" if not most and all(place.value for place in mine) else None
    return "index" if not most or _is_gumbel(setting, mine[0]) else None


@dataclass
class _Parts:
    """The mechanisms of all ways. selections: each as often as on the way that has the most; parameters: of all."""

    setting: Setting
    selections: Counter[str] = field(default_factory=Counter)
    parameters: dict[str, Any] = field(default_factory=dict)

    def add(self, places: Sequence[Place]) -> None:
        """What is selected on one way. Raises NotOfThisKind."""
        found: Counter[str] = Counter()
        known = set[str]()
        for of in {id(place.of): place.of for place in places}.values():
            mine = [place for place in places if place.of is of]
            element = self.setting.shared.elements.get(id(of))
            noises = set() if element is None else set(noises_of(element))
            if noises & known:
                raise NotOfThisKind("two selections are of numbers with the same noise. Draw noise for each of both.")
            known |= noises
            if (report := _kind_of(self.setting, mine)) is None:
                raise NotOfThisKind("several things are told of the same noise. Draw noise for each of them.")
            if len({_others_left_out(place) for place in mine if not _is_any(place)}) > 1:
                what = "a noisy list is looked at with different places left out that others chose. Draw noise for each look."
                raise NotOfThisKind(what)
            table, sensitivity = greatest(self.setting, element, mine[0].sign, report)
            self.parameters |= table.pop("parameters", {})
            found[json.dumps({**table, **sensitivity})] += 1 + max(place.rank for place in mine)
        self.selections |= found


def selected(setting: Setting, found: Sequence[Followed], generator: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """The mechanism, and what a claim of it says. Of an answer at a place that is told everybody knows which query it is.

    Raises NotOfThisKind.
    """
    if setting.neighbours not in ("all", "one", "monotone") or "bounds" in setting.options:
        raise NotOfThisKind("what is selected is used, with neighbours all, one or monotone, and no bounds.")
    parts, ways = _Parts(setting), []
    for way in found:
        parts.add(selections(setting, way, generator))
        ways.append(_by_place(setting, _read(way, generator)))
        if any(not name.startswith((CHOSEN, ONCE, FRESH)) for each in _numbers(ways[-1]) for name in each.names):
            raise NotOfThisKind("what is selected is told together with other answers. Write two programs.")
    answers = measured(ways, CHOSEN, "the answer at the place of the greatest")
    if answers and setting.options.get("sensitivity") is None:
        raise NotOfThisKind("the answer at the place of the greatest is used. Say by how much answers move: dp.program(sensitivity=1).")
    tables = [*map(json.loads, parts.selections.elements()), *(_part(setting, each) for each in answers)]
    part = {"kind": "compose", "parts": tables} if len(tables) > 1 else tables[0]
    outer = {"kind": "post_process", "map": "what the program makes of the places and of answers there, with noise", "part": part}
    return {**outer, **({"parameters": parts.parameters} if parts.parameters else {})}, {}


def told_by(way: Followed, generator: bool) -> list[Any]:
    """What a program tells on a way, one after the other."""
    return [value for of, value in way.events if of == YIELDED] if generator else [way.result]


def with_lead(told: Sequence[Any]) -> Place | None:
    """The place of the greatest, where that and its lead over the next one are all that is told."""
    both = told[0] if len(told) == 1 and isinstance(told[0], tuple) else ()
    if len(both) != 2 or not all(isinstance(each, Place) and not (each.rank or each.after) for each in both):
        return None
    best, lead = sorted(both, key=lambda each: bool(each.lead))
    same = best.of is lead.of and best.sign == lead.sign and lead.lead and not best.value
    return best if same else None


def _read(way: Followed, generator: bool) -> Way:
    items = tuple(item(YIELDED if generator else RETURNED, _without(value)) for value in told_by(way, generator))
    return way.literals, items, way.opaque, way.attached


def _by_place(setting: Setting, way: Way) -> Way:
    """The same with one name for answers that were chosen alike, which have others on each way that they were chosen on."""
    literals, items, opaque, attached = way
    names = {name for each in (*_numbers(way), *attached.values()) for name in each.names if name.startswith(CHOSEN)}
    alike: dict[str, list[str]] = {}
    for name in sorted(names):
        place = setting.shared.chosen[int(name.removeprefix(CHOSEN))]
        alike.setdefault(f"{setting.shared.elements.get(id(place.of))} {place.sign} {place.rank}", []).append(name)
    known = {name: lin.name(f"{CHOSEN}{what} {at}") for what, found in alike.items() for at, name in enumerate(found)}
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
    """The noise of one measurement of answers."""
    (noise,) = noises_of(number)
    multiples = [factor for name, factor in number.of.items() if name.startswith(CHOSEN)]
    law = setting.shared.laws[noise]
    if is_whole(law) and any(each.denominator != 1 for each in multiples):
        raise NotOfThisKind("an answer with noise on the integers is multiplied by what is no integer.")
    return {**table_of(law), **setting.sensitivity(sum(map(abs, multiples), Fraction(0)))}


def _places(value: Any) -> Iterator[Place]:
    if isinstance(value, Place):
        yield value
    if isinstance(value, Ranked):
        yield Place(value.of, 1, value=True, rank=1)  # all of them
    for each in _inside(value):
        yield from _places(each)


def _numbers_in(value: Any) -> Iterator[Linear]:
    """The numbers of what is told, as far as they are known by themselves."""
    if isinstance(value, Linear):
        yield value
    if isinstance(value, Derived):
        yield from value.of
    for each in _inside(value):
        yield from _numbers_in(each)


def _inside(value: Any) -> Sequence[Any]:
    if isinstance(value, tuple | list):
        return value
    if isinstance(value, Items):
        return value.held
    return list(value.of.values()) if isinstance(value, Table) else ()


def _without(value: Any) -> Any:
    """What is told, with a word where a place is."""
    if isinstance(value, Place | Ranked):
        return "place"
    if isinstance(value, tuple):
        return tuple(map(_without, value))
    if isinstance(value, Items):
        return Items([_without(each) for each in value.held], value.number)
    return Table({key: _without(each) for key, each in value.of.items()}) if isinstance(value, Table) else value
