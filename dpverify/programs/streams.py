"""A loop over answers as a stream: one list of branches, in normal form, for all that is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final

from dpverify.programs import linear as lin
from dpverify.programs.counters import find_limits
from dpverify.programs.ends import ends, reveal
from dpverify.programs.faults import NotOfThisKind
from dpverify.programs.linear import Linear, Literal
from dpverify.programs.machine import NEXT, NO_RESULT, Machine, Way
from dpverify.programs.naming import Names, is_whole, laws_of
from dpverify.programs.normal import Case, TooMany, branches, tree
from dpverify.programs.path import FACTS, FRESH, INDEX, KEPT, LENGTH, ONCE, YIELDED, Shared
from dpverify.programs.steps import (
    Did,
    Program,
    dead_numbers,
    forget,
    is_plain,
    merge,
    put_literals,
    without_dead_ends,
    without_idling,
)  # fmt: skip
from dpverify.programs.told import RETURNED, Item, Leaf, StepNumber, is_derived, item, key, lists_in, may_be_equal, numbers, word

ENDED: Final = "ended"


def program(shared: Shared, machine: Machine, generator: bool) -> Program:
    """What each step of a loop tells and keeps. Raises NotOfThisKind for what is told after the answers end, and is no constant."""
    told = _told_lists(machine, generator)
    last, reveals = ends(machine, {place: [_told(way, told, generator) for way in found] for place, found in machine.finish.items()})
    begun = [item(of, value) for of, value in machine.before]
    if any(True for _ in numbers(tuple(begun))):
        raise NotOfThisKind("a noisy number is told before the loop. Tell it in a program of its own, and compose the two.")
    ways = {
        place: [(way.literals, Did(_told(way, told, generator), way.after, tuple(sorted(way.kept.items())))) for way in found]
        for place, found in machine.steps.items()
    }
    made = Program(shared, machine.start, dict(machine.first), ways, last)
    if reveals is not None:
        reveal(made, reveals)
    for cases in ways.values():
        for _, did in cases:
            for name, _value in did.kept:
                made.first.setdefault(name, lin.constant(0))
    without_idling(made)
    without_dead_ends(made)
    for name in dead_numbers(made):
        forget(made, name)
    merge(made)
    find_limits(made)
    return made


def _told_lists(machine: Machine, generator: bool) -> frozenset[int]:
    ends = machine.ends
    if any(way.result is NEXT for way in ends):  # all that is told in the loop
        return frozenset(of for found in (machine.steps, machine.finish) for ways in found.values() for way in ways for of, _ in way.events)
    if generator:
        return frozenset({YIELDED})
    told = {lists_in(way.result) for way in ends if way.result is not NO_RESULT}
    if len(told) > 1:
        raise NotOfThisKind("the list that the loop appends to is returned on some ways and not on others. Return it on all.")
    return next(iter(told), frozenset())


def _told(way: Way, lists: frozenset[int], generator: bool) -> tuple[Item, ...]:
    found = tuple(item(of, value) for of, value in way.events if of in lists)
    if not generator and way.after is None and way.result is not NO_RESULT:
        found = (*found, item(RETURNED, way.result))
    return found


# -- what can be seen


def _tells_step(one: Item) -> bool:
    """Whether the number of the step can be told from it."""
    return any(leaf.number and leaf.value.names == (INDEX,) for leaf in one.leaves)


def seen(made: Program) -> bool:
    """Whether an output shows which step told what, and so what each branch told. Numbers of steps are no longer told then."""
    every = [did for ways in made.ways.values() for _, did in ways]
    going = [did for did in every if did.after is not None]
    spread = {name: not is_whole(law) for name, law in made.shared.laws.items()}
    words = {key(did.told): did.told for did in every}
    if any(may_be_equal(a, b, spread) for i, a in enumerate(words.values()) for b in list(words.values())[:i]):
        return False
    if made.at_once:
        return True
    clocks = {one.of for did in every for one in did.told if one.of != RETURNED}
    for clock in sorted(clocks):
        counts = {sum(one.of == clock for one in did.told) for did in going}
        ends = [sum(one.of == clock for one in did.told) for did in every if did.after is None]
        if len(counts) == 1 and min(counts) >= 1 and all(end <= min(counts) for end in ends) and _others_follow(every, clock):
            return True
    tells = [did for did in every if any(not is_plain(one) for one in did.told) or did.after is None]
    if all(any(map(_tells_step, did.told)) for did in tells) and all(did in tells for did in every if did.counts) and going:
        return all(not may_be_equal(did.told, made.last, spread) for did in every if did.after is None)
    return not going and all(did.told for did in every)


def _others_follow(every: list[Did], clock: int) -> bool:
    """Whether what is told on other lists follows from what is told on one."""
    known: dict[Any, Any] = {}
    for did in every:
        mine = key(tuple(one for one in did.told if one.of == clock))
        others = [(one.of, one.shape) for one in did.told if one.of not in (clock, RETURNED)]
        if known.setdefault(mine, others) != others:
            return False
    return True


# -- the table


def table(made: Program, taken: Any) -> tuple[dict[str, Any], bool]:
    """The stream's table, without what the claim says of neighbours, and whether it tells no more than the program."""
    exact = seen(made) and not made.partial and not any(is_derived(did.told) for ways in made.ways.values() for _, did in ways)
    if exact:
        _forget_steps(made)
    for name in dead_numbers(made):
        forget(made, name)
    merge(made)
    for name in dead_numbers(made):
        forget(made, name)
    ways, start = made.ways, made.start
    used = _used(made, ways)
    if LENGTH in used:
        raise NotOfThisKind("how many answers there are is told or compared. Say how many: dp.program(answers=3).")
    once = {
        name: lin.name(f"{KEPT}t") if i == 0 else lin.name(f"{KEPT}t{i + 1}")
        for i, name in enumerate(sorted(each for each in used if each.startswith(ONCE)))
    }
    arity = made.shared.arity or 1
    names = Names(taken, arity)
    answers = [names.of(f"answer:{i + 1}") for i in range(arity)]
    firsts = dict(made.first)
    clash = {f"{KEPT}{each}" for each in ("t", *(f"t{i}" for i in range(2, 9)))} & firsts.keys()
    if clash:
        once = {name: lin.name(f"{KEPT}kept_{i}") for i, name in enumerate(once)}
    for name, kept in once.items():
        firsts[kept.names[0]] = lin.name(name)
    if INDEX in used:
        firsts[INDEX] = lin.constant(0)
    state = {names.of(name): names.text(first) for name, first in firsts.items()}
    phase = ""
    if len(ways) > 1:
        phase = names._free("phase")
        state[phase] = "0"
    limits = {names.of(name): names.text(limit) for name, limit in made.limits.items()}
    ends = any(did.after is None for found in ways.values() for _, did in found)
    if ends:
        limits[names._free(ENDED)] = "1"
    ended = list(limits)[-1] if ends else ""
    order = [start, *(place for place in ways if place != start)]
    steps: list[dict[str, Any]] = []
    words: dict[str, Any] = {}
    for number, place in enumerate(order):
        listed = _listed(ways[place], once)
        for literals, did in listed:
            guards = [names.comparison(one) for one in literals]
            if phase and number < len(order) - 1:
                guards.insert(0, f"{phase} <= {number}")
            steps.append(_branch(made, names, did, guards, once, phase, number, order, ended, INDEX in used, words))
    found: dict[str, Any] = {"kind": "stream", "answers": answers}
    everything = used | frozenset(each for first in firsts.values() for each in first.names)
    for label, kind in (("once", ONCE), ("fresh", FRESH)):
        laws = laws_of(made.shared, names, everything, kind)
        if laws:
            found[label] = laws
    found |= {label: value for label, value in (("state", state), ("limits", limits)) if value}
    found["step"] = steps
    made.shared.named = {given: inner for inner, given in names.given.items()}
    return found, exact


def asks_counters(made: Program) -> bool:
    """Whether a step compares numbers that are kept, and neither answers nor noises."""
    compared = [one.left.names for ways in made.ways.values() for literals, _ in ways for one in literals]
    return any(names and all(name.startswith(KEPT) or name == INDEX for name in names) for names in compared)


def _listed(ways: list[tuple[tuple[Literal, ...], Did]], once: Mapping[str, Linear]) -> list[tuple[tuple[Literal, ...], Did]]:
    cases: list[Case] = [(put_literals(literals, once), did) for literals, did in ways]
    try:
        return branches(tree(cases, FACTS), FACTS)  # type: ignore[return-value]
    except TooMany as error:
        raise NotOfThisKind("a step compares too much to be put in order. Compare less in one step.") from error


def _branch(
    made: Program, names: Names, did: Did, guards: list[str], once: Mapping[str, Linear], phase: str, number: int, order: list[Any],
    ended: str, steps: bool, words: dict[str, Any],
) -> dict[str, Any]:  # fmt: skip
    found: dict[str, Any] = {"when": guards} if guards else {}
    told, last = (tuple(one for one in found if not (is_plain(one) and one.shape == "[*]")) for found in (did.told, made.last))
    alike = did.after is not None or not last
    if did.after is None and last and key(told[len(told) - len(last) :]) == key(last):  # as where the answers end
        told, alike = told[: len(told) - len(last)], True
    found["emit"] = _emitted(told, did, words, alike)
    tells = [names.text(lin.put(each, once)) for each in numbers(told)]
    if tells:
        found["tell"] = tells
    values = {name: lin.put(value, once) for name, value in did.kept if name in made.first and value != lin.name(name)}
    changes = {names.of(name): names.text(value) for name, value in values.items()} if did.after is not None else {}
    if steps and did.after is not None:
        changes[names.of(INDEX)] = f"{names.of(INDEX)} + 1"
    if phase and did.after is not None and order.index(did.after) != number:
        changes[phase] = str(order.index(did.after))
    if changes:
        found["set"] = changes
    counts = {names.of(name): names.text(step) for name, step in did.counts}
    if did.after is None:
        counts[ended] = "1"
    if counts:
        found["count"] = counts
    return found


def _emitted(told: tuple[Item, ...], did: Did, words: dict[str, Any], alike: bool) -> str:
    """A short word for the constants that are told, another one for others. words: those that are taken, and for what.

    alike: whether what is told after it is what is told where the answers end, so that the last step may be either.
    """
    what = (key(told) or ("nothing", did.after is None), alike)
    plain, count = _short(told, did), 1
    text = plain
    while words.setdefault(text, what) != what:
        count += 1
        text = f"{plain[:34]} ({count})"
    return text


def _short(told: tuple[Item, ...], did: Did) -> str:
    said = word(told)
    if not said:
        return "stop" if did.after is None else "go on"
    plain = "".join(mark if mark.isprintable() else "?" for mark in said).strip() or "?"
    if len(plain) > 40 or plain != said:
        return f"{plain[:24].strip()} {sha256(said.encode()).hexdigest()[:10]}"
    return plain


def _used(made: Program, ways: Mapping[Any, list[tuple[tuple[Literal, ...], Did]]]) -> frozenset[str]:
    found: set[str] = set()
    for cases in ways.values():
        for literals, did in cases:
            for each in (*(one.left for one in literals), *numbers(did.told), *(value for name, value in did.kept if name in made.first)):
                found.update(each.names)
    return frozenset(found)


def _forget_steps(made: Program) -> None:
    """Numbers of steps are seen already."""
    for place, ways in made.ways.items():
        made.ways[place] = [(literals, replace(did, told=tuple(map(_without_step, did.told)))) for literals, did in ways]


def _without_step(one: Item) -> Item:
    known = {INDEX: lin.name("i")}
    leaves = [
        Leaf(StepNumber(lin.put(leaf.value, known).text().replace(" ", ""))) if leaf.number and leaf.value.names == (INDEX,) else leaf
        for leaf in one.leaves
    ]
    return replace(one, leaves=tuple(leaves))
