"""A program as a mechanism of a kind that exists: the table that a claim file would have."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final

from dpverify.programs import linear as lin
from dpverify.programs import streams
from dpverify.programs.budgets import filtered
from dpverify.programs.faults import NotOfThisKind
from dpverify.programs.folds import fold
from dpverify.programs.greatest import greatest
from dpverify.programs.linear import Linear
from dpverify.programs.machine import Machine, Way, numbers_of, with_steps
from dpverify.programs.naming import is_whole, table_of
from dpverify.programs.path import ANSWER, FRESH, LENGTH, ONCE, RECORDS, TOTAL, YIELDED, Shared
from dpverify.programs.records import over_records
from dpverify.programs.selected import selected, selections, told_by, with_lead
from dpverify.programs.setting import Setting
from dpverify.programs.steps import Did, put_literals
from dpverify.programs.steps import Program as Steps
from dpverify.programs.thresholds import above_threshold
from dpverify.programs.told import RETURNED, Item, is_derived, item, numbers
from dpverify.programs.values import Law, Place

ONE: Final = lin.constant(1)


@dataclass(frozen=True)
class Compiled:
    """The table of the mechanism, and what a claim of it says of neighbours. asks: whether numbers that are counted are compared.

    draws: of the noises of a stream, by its names, the law and which one of that law in its step. ends: whether something is told where
    the answers end, beside what the steps of a stream tell; alone: whether the data are one number that stands in no list; words: the
    words that numbers of a field stand for, by fields; lines: where noises are drawn, with their names in a stream and their laws; bare:
    lines where answers without noise are compared or told.
    """

    mechanism: dict[str, Any]
    claim: dict[str, Any] = field(default_factory=dict)
    asks: bool = False
    draws: dict[str, tuple[Law, int]] = field(default_factory=dict)
    ends: bool = False
    alone: bool = False
    words: dict[str, dict[int, str]] = field(default_factory=dict)
    lines: tuple[tuple[str, Law, int], ...] = ()
    bare: dict[int, str] = field(default_factory=dict)


def all_told(found: Compiled) -> Compiled:
    """The mechanism that tells all noisy answers, of which less is told."""
    if found.mechanism["kind"] == "post_process":
        return found
    outer = {"kind": "post_process", "map": "what the program tells of the noisy answers", "part": {**found.mechanism, **found.claim}}
    return replace(found, mechanism=outer, claim={})


def one_after_the_other(setting: Setting, machines: list[Machine], generator: bool) -> Compiled:
    """Loops over the answers, none of which depends on what another one kept: their mechanisms, one after the other.

    Raises NotOfThisKind, also where they share noise.
    """
    parts: list[dict[str, Any]] = []
    parameters: dict[str, Any] = {}
    once: set[str] = set()
    for machine in machines:
        drawn = {name for number in numbers_of(machine) for name in number.names if name.startswith(ONCE)}
        if once & drawn:
            raise NotOfThisKind("two loops over the answers use one noise that was drawn before both. Draw a noise for each loop.")
        once |= drawn
        found = _loop(setting, with_steps(machine, frozenset(setting.shared.indices)), generator)
        part = {**found.mechanism, **found.claim}
        parameters |= part.pop("parameters", {})
        parts.append(part)
    outer: dict[str, Any] = {
        "kind": "post_process",
        "map": "what the program tells of its loops",
        "part": {"kind": "compose", "parts": parts},
    }
    return Compiled({**outer, **({"parameters": parameters} if parameters else {})})


def compiled(setting: Setting, found: list[Way] | Machine, generator: bool) -> Compiled:
    """The kind that a program is. Raises NotOfThisKind, with the reason, where it is none."""
    if isinstance(found, Machine):
        if setting.shared.chosen:
            raise NotOfThisKind("the answer at the place of the greatest is used beside a loop over the answers. Write two programs.")
        return _loop(setting, with_steps(found, frozenset(setting.shared.indices)), generator)
    places = [place for way in found for place in selections(setting, way, generator)]
    alone = len(places) == len(found) == 1 and told_by(found[0], generator) == places
    if alone and not (places[0].rank or places[0].lead or setting.shared.chosen):
        return _greatest(setting, places[0])
    if len(found) == 1 and (best := with_lead(told_by(found[0], generator))) is not None and not setting.shared.chosen:
        return Compiled(*greatest(setting, setting.shared.elements.get(id(best.of)), best.sign, "index+gap"))
    if places:
        return Compiled(*selected(setting, found, generator))
    told = [(way.literals, tuple(_items(way, generator))) for way in found]
    used = {name for literals, items in told for each in (*(one.left for one in literals), *numbers(items)) for name in each.names}
    used |= {name for way in found for each in way.opaque for name in each.names}
    if any(name.startswith(RECORDS) for name in used):
        ways = [(way.literals, items, way.opaque, way.attached) for way, (_, items) in zip(found, told, strict=True)]
        return Compiled(*over_records(setting, ways))
    if len(found) == 1 and (one := _one_number(setting, told[0][1])) is not None:
        if is_derived(told[0][1], whole=True):
            part = {**one.mechanism, **one.claim}
            return Compiled({"kind": "post_process", "map": "what the program tells of it", "part": part})
        return one
    return _at_once(setting, told, used)


def _items(way: Way, generator: bool) -> list[Item]:
    return [item(YIELDED if generator else RETURNED, value) for value in told_by(way, generator)]


# -- noise on one number


def _one_number(setting: Setting, items: tuple[Item, ...]) -> Compiled | None:
    """Additive noise: one number is told, which one noise is added to."""
    told = list(numbers(items))
    if len(told) != 1 or any(key in setting.options for key in ("hull", "bounds")):
        return None
    (number,) = told
    noises = [name for name in number.names if name.startswith((ONCE, FRESH))]
    answers = [name for name in number.names if name.startswith((ANSWER, TOTAL))]
    if (
        len(noises) != 1
        or len(noises) + len(answers) != len(number.names)
        or not answers
        or setting.neighbours not in ("all", "one", "monotone")
    ):
        return None
    law, unit = setting.shared.laws[noises[0]], number.of[noises[0]]
    multiples = [number.of[name] / unit for name in answers]
    if is_whole(law) and any(each.denominator != 1 for each in multiples):
        return None
    factor = _moved(setting, dict(zip(answers, multiples, strict=True)))
    return Compiled(table_of(law), setting.sensitivity(factor))


def _moved(setting: Setting, multiples: Mapping[str, Fraction]) -> Fraction | str:
    """How far a sum of answers moves, where each moves by 1."""
    if TOTAL in multiples:
        if any(key in setting.options for key in ("bounds", "hull")):
            raise NotOfThisKind(
                "bounds and hull are of single answers, and the sum of all is used. Write dp.program(answers=3), or how many there are."
            )
        if len(multiples) > 1:
            raise NotOfThisKind(
                "the sum of all answers is told together with one of them. Say how many answers there are: dp.program(answers=3)."
            )
        factor = abs(multiples[TOTAL])
        if setting.neighbours == "one":
            return factor
        if setting.length is None:
            raise NotOfThisKind(
                "the sum of all answers moves as many times as far as there are answers. Say how many there are, dp.program(answers=10), "
                'or that one of them moves: neighbours="one".'
            )
        return f"{factor}*({setting.length})"
    up = sum((each for each in multiples.values() if each > 0), Fraction(0))
    down = -sum((each for each in multiples.values() if each < 0), Fraction(0))
    return {"all": up + down, "one": max(map(abs, multiples.values())), "monotone": max(up, down)}[setting.neighbours]


def _at_once(setting: Setting, told: list[tuple[Any, tuple[Item, ...]]], used: set[str]) -> Compiled:
    """A stream of one step, which reads all answers."""
    shared = setting.shared
    factor: Fraction | str = Fraction(1)
    put: dict[str, Linear] = {}
    if TOTAL in used:
        if any(name.startswith(ANSWER) for name in used):
            raise NotOfThisKind(
                "the sum of all answers is used together with some of them. Say how many answers there are: dp.program(answers=3)."
            )
        put = {TOTAL: lin.name(f"{ANSWER}1")}
        if any(name.startswith((ONCE, FRESH)) for name in used):  # else no epsilon holds, however far it moves
            factor = _moved(setting, {TOTAL: Fraction(1)})
        shared.arity = 1
    if LENGTH in used:
        raise NotOfThisKind("how many answers there are is told or compared. Say how many: dp.program(answers=3).")
    for name in [each for each in used if each.startswith(ONCE)]:
        fresh = f"{FRESH}{name.partition(':')[2]}"
        put[name], shared.laws[fresh] = lin.name(fresh), shared.laws[name]
        shared.noises[FRESH, *shared.draw_of(name)] = fresh
    ways = [(put_literals(literals, put), Did(_put(items, put), (), ())) for literals, items in told]
    made = Steps(shared, (), {}, {(): ways}, (), at_once=True)
    table, exact = streams.table(made, setting.taken)
    table["queries"] = 1
    return _of_table(setting, table, exact, factor)


def drawn_at(shared: Shared) -> tuple[tuple[str, Law, int], ...]:
    """Where noises are drawn, with the names that they have in a stream, empty where they have none there."""
    given = {inner: name for name, inner in shared.named.items()}
    return tuple((given.get(inner, ""), shared.laws[inner], line) for inner, lines in shared.lines.items() for line in lines)


def _put(items: tuple[Item, ...], put: Mapping[str, Linear]) -> tuple[Item, ...]:
    return tuple(
        replace(one, leaves=tuple(replace(leaf, value=lin.put(leaf.value, put)) if leaf.number else leaf for leaf in one.leaves))
        for one in items
    )


# -- the loop


def _loop(setting: Setting, machine: Machine, generator: bool) -> Compiled:
    shared = setting.shared
    try:
        whole = fold(setting, machine, generator)
        if whole is not None:
            _require_exact(shared, shared.equalities)
            return compiled(setting, [whole], generator=False) if isinstance(whole, Way) else Compiled(*whole)
        made = streams.program(shared, machine, generator)
    except NotOfThisKind:
        _require_exact(shared, shared.equalities)
        raise
    _require_exact(shared, shared.equalities - made.checked)
    spent = None if setting.plain else filtered(setting, machine)
    simple = spent is not None and (spent.counts if spent.measure != "epsilon" else len(made.ways) == 1 and bool(made.limits))
    if spent is not None and not simple:  # of which streams know more
        return Compiled(spent.mechanism)
    table, exact = streams.table(made, setting.taken)
    if setting.length is not None:
        table["queries"] = setting.length
    return replace(_of_table(setting, table, exact, made=made), asks=streams.asks_counters(made), ends=bool(made.last))


def _require_exact(shared: Shared, unchecked: Collection[Linear]) -> None:
    if unchecked and not shared.exact_equalities:
        raise Inexact


class Inexact(Exception):
    """A counter was compared with == as if it did not go beyond, and it may; it is to be followed anew, with both comparisons."""


def _of_table(
    setting: Setting, table: dict[str, Any], exact: bool, factor: Fraction | str = Fraction(1), made: Steps | None = None
) -> Compiled:  # fmt: skip
    """A stream, or the kind that says the same; what is told of it alone where the program tells less."""
    sensitivity = setting.sensitivity(factor)
    draws = {name: setting.shared.draw_of(inner) for name, inner in setting.shared.named.items() if inner in setting.shared.laws}
    known: dict[str, Any] = {"draws": draws, "lines": drawn_at(setting.shared)}
    if exact:
        plain = None if made is None or setting.plain else above_threshold(made, setting.options, setting.many(1))
        return Compiled({**setting.together(), **plain} if plain else {**table, **setting.together()}, sensitivity, **known)
    table |= setting.together()
    return Compiled({"kind": "post_process", "map": "what the program tells of it", "part": {**table, **sensitivity}}, **known)


# -- the greatest


def _greatest(setting: Setting, place: Place) -> Compiled:
    element = setting.shared.elements.get(id(place.of))
    return Compiled(*greatest(setting, element, place.sign, "value" if place.value else "index"))


def is_generator(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function yields."""
    return any(isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(function))
