"""A loop over answers as a stream: one list of branches, in normal form, for all that is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Final

from dpverify.programs import linear as lin
from dpverify.programs.faults import NotOfThisKind
from dpverify.programs.linear import Linear, Literal
from dpverify.programs.machine import NO_RESULT, Location, Machine, Way
from dpverify.programs.naming import Names, is_whole, laws_of
from dpverify.programs.normal import Asked, Case, Done, TooMany, Tree, branches, tree
from dpverify.programs.path import FACTS, FRESH, INDEX, KEPT, LENGTH, ONCE, YIELDED, Shared
from dpverify.programs.told import RETURNED, Item, Leaf, StepNumber, item, key, lists_in, may_be_equal, numbers, word
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.expr import ZERO

END: Final = -1
"""Where a run is over, among the numbers of places."""
ENDED: Final = "ended"


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


def program(shared: Shared, machine: Machine, generator: bool) -> Program:
    """What each step of a loop tells and keeps. Raises NotOfThisKind for what is told after the answers end, and is no constant."""
    told = _told_lists(machine, generator)
    finishes = [way for ways in machine.finish.values() for way in ways]
    lasts = {_told(way, told, generator) for way in finishes}
    if any(way.literals for way in finishes) or len({key(one) for one in lasts}) > 1 or any(True for one in lasts for _ in numbers(one)):
        raise NotOfThisKind(
            "what is told after the loop hangs on what was kept in it. Tell it in the loop, say how many answers there are: "
            "dp.program(answers=3), or sum them: sum(answers)."
        )
    begun = [item(of, value) for of, value in machine.before]
    if any(True for _ in numbers(tuple(begun))):
        raise NotOfThisKind("a noisy number is told before the loop. Tell it in a program of its own, and compose the two.")
    last = next(iter(lasts), ())
    ways = {
        place: [(way.literals, Did(_told(way, told, generator), way.after, tuple(sorted(way.kept.items())))) for way in found]
        for place, found in machine.steps.items()
    }
    made = Program(shared, machine.start, dict(machine.first), ways, last)
    for cases in ways.values():
        for _, did in cases:
            for name, _value in did.kept:
                made.first.setdefault(name, lin.constant(0))
    _without_dead_ends(made)
    for name in _dead(made):
        _forget(made, name)
    _merge(made)
    _limits(made)
    return made


def _told_lists(machine: Machine, generator: bool) -> frozenset[int]:
    if generator:
        return frozenset({YIELDED})
    ends = [way for found in (machine.steps, machine.finish) for ways in found.values() for way in ways if way.after is None]
    told = {lists_in(way.result) for way in ends if way.result is not NO_RESULT}
    if len(told) > 1:
        raise NotOfThisKind("the list that the loop appends to is returned on some ways and not on others. Return it on all.")
    return next(iter(told), frozenset())


def _told(way: Way, lists: frozenset[int], generator: bool) -> tuple[Item, ...]:
    found = tuple(item(of, value) for of, value in way.events if of in lists)
    if not generator and way.after is None and way.result is not NO_RESULT:
        found = (*found, item(RETURNED, way.result))
    return found


def _is_plain(one: Item) -> bool:
    return one.of == RETURNED and not any(leaf.number for leaf in one.leaves)


# -- counters


def _updates(made: Program, name: str) -> list[Linear]:
    return [dict(did.kept).get(name, lin.name(name)) for ways in made.ways.values() for _, did in ways if did.after is not None]


def _everywhere(made: Program, name: str) -> bool:
    return all(any(name in dict(did.kept) for _, did in ways) or all(did.after is None for _, did in ways) for ways in made.ways.values())


def _literals(found: tuple[Literal, ...], known: Mapping[str, Linear]) -> tuple[Literal, ...]:
    return tuple(lin.literal(lin.put(one.left, known), one.strict) for one in found)


def _without_dead_ends(made: Program) -> None:
    """Places from where nothing more is told are where the run is over."""
    silent = [one for one in made.last if not _is_plain(one)]
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


def _limits(made: Program) -> None:
    """Counters whose limit ends the run: a comparison that nothing but a counter is in, and that ends the run where it holds."""
    for name in list(made.first):
        if not made.first[name].names and _everywhere(made, name) and len(made.ways) == 1:
            _limit(made, name)


def _limit(made: Program, name: str) -> None:
    (place,) = made.ways
    ways = made.ways[place]
    grows = {each: lin.minus(each, lin.name(name)) for each in _updates(made, name)}
    if any(step.names or not _not_negative(made, step) for step in grows.values()):
        return
    if any(name in each.names for _, did in ways for each in (*numbers(did.told), *(value for key_, value in did.kept if key_ != name))):
        return
    ends: set[Linear] = set()
    kept: list[tuple[tuple[Literal, ...], Did]] = []
    heads = [
        literals
        for literals, did in ways
        if did.after is None and len(literals) == 1 and _on(literals[0], name) and key(did.told) == key(made.last)
    ]
    if heads:
        reached = heads[0][0]
        ends.add(_end(made, reached, name, lin.constant(0), ways))
        for literals, did in ways:
            if literals == heads[0]:
                continue
            if reached.negated() not in literals:
                return
            rest = tuple(one for one in literals if one != reached.negated())
            kept.append((rest, did))
    else:
        going = {(frozenset(literals), key(did.told)): (literals, did) for literals, did in ways if did.after is not None}
        matched: set[frozenset[Literal]] = set()
        for literals, did in ways:
            mine = [one for one in literals if _on(one, name)]
            if did.after is None and len(mine) == 1:
                plain = tuple(one for one in did.told if not _is_plain(one))
                if key(tuple(one for one in did.told if _is_plain(one))) != key(made.last):
                    return
                other = going.get((frozenset(literals) - {mine[0]} | {mine[0].negated()}, key(plain)))
                if other is None or [*numbers(other[1].told)] != [*numbers(plain)]:
                    return
                step = lin.minus(dict(other[1].kept)[name], lin.name(name))
                ends.add(_end(made, mine[0], name, step, ways))
                matched.add(frozenset(other[0]))
                kept.append((tuple(one for one in literals if one != mine[0]), other[1]))
        for literals, did in ways:
            if did.after is None:
                if not any(_on(one, name) for one in literals):
                    kept.append((literals, did))
            elif frozenset(literals) not in matched:
                if lin.minus(dict(did.kept)[name], lin.name(name)) != lin.constant(0):
                    return
                kept.append((literals, did))
    if len(ends) != 1 or any(_on(one, name) for literals, _ in kept for one in literals):
        return
    limit = lin.minus(next(iter(ends)), made.first[name])
    if not certainly_lt(ZERO, limit.rest, made.shared.domains):
        return
    made.limits[name] = limit
    counted = [(literals, _counting(did, name)) for literals, did in kept]
    made.ways[place] = counted
    if _whole_steps(made, name, grows.values()):
        for step in {*grows.values(), lin.constant(0)}:
            made.checked.add(lin.minus(lin.plus(lin.name(name), step), next(iter(ends))))
    made.first.pop(name)


def _counting(did: Did, name: str) -> Did:
    step = lin.minus(dict(did.kept)[name], lin.name(name)) if name in dict(did.kept) else lin.constant(0)
    kept = tuple(one for one in did.kept if one[0] != name)
    return replace(did, kept=kept, counts=((*did.counts, (name, step)) if step != lin.constant(0) else did.counts))


def _on(one: Literal, name: str) -> bool:
    return name in one.left.names


def _not_negative(made: Program, step: Linear) -> bool:
    return not certainly_lt(step.rest, ZERO, made.shared.domains) and (
        (not step.terms and step.constant >= 0) or certainly_lt(ZERO, step.rest, made.shared.domains)
    )


def _is_integer(made: Program, number: Linear) -> bool:
    """Whether a number without names is an integer for certain."""
    if number.constant.denominator != 1 or number.names:
        return False
    for atom, factor in number.terms:
        domain = made.shared.domains.get(getattr(atom, "name", ""))
        if factor.denominator != 1 or domain is None or not domain.integer:
            return False
    return True


def _whole_steps(made: Program, name: str, steps: Any) -> bool:
    small = all(not step.terms and step.constant in (0, 1) for step in steps)
    return small and _is_integer(made, made.first[name])


def _end(made: Program, reached: Literal, name: str, step: Linear, ways: Any) -> Linear:
    """The value of the counter, after the step, from which on the run is over: of name + rest >= 0."""
    if reached.left.of != {name: 1}:
        return lin.name(name)  # no limit: a name is no number
    rest = lin.minus(reached.left, lin.name(name))
    if not reached.strict:
        return lin.minus(step, rest)
    whole = (
        _is_integer(made, rest)
        and _is_integer(made, made.first[name])
        and all(_is_integer(made, lin.minus(each, lin.name(name))) for each in _updates(made, name))
    )
    return lin.plus(lin.minus(step, rest), lin.constant(1)) if whole else lin.name(name)


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
    tells = [did for did in every if any(not _is_plain(one) for one in did.told) or did.after is None]
    if all(any(map(_tells_step, did.told)) for did in tells) and going:
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
    exact = seen(made)
    if exact:
        _forget_steps(made)
    for name in _dead(made):
        _forget(made, name)
    _merge(made)
    for name in _dead(made):
        _forget(made, name)
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
    cases: list[Case] = [(_literals(literals, once), did) for literals, did in ways]
    try:
        return branches(tree(cases, FACTS), FACTS)  # type: ignore[return-value]
    except TooMany as error:
        raise NotOfThisKind("a step compares too much to be put in order. Compare less in one step.") from error


def _branch(
    made: Program, names: Names, did: Did, guards: list[str], once: Mapping[str, Linear], phase: str, number: int, order: list[Any],
    ended: str, steps: bool, words: dict[str, Any],
) -> dict[str, Any]:  # fmt: skip
    found: dict[str, Any] = {"when": guards} if guards else {}
    told = tuple(one for one in did.told if not (_is_plain(one) and one.shape == "[*]"))
    if did.after is None and key(tuple(one for one in told if _is_plain(one))) == key(
        tuple(one for one in made.last if one.shape != "[*]")
    ):
        told = tuple(one for one in told if not _is_plain(one))
    found["emit"] = _emitted(told, did, words)
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


def _emitted(told: tuple[Item, ...], did: Did, words: dict[str, Any]) -> str:
    """A short word for the constants that are told, another one for others. words: those that are taken, and for what."""
    what = key(told) or ("nothing", did.after is None)
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


def _dead(made: Program) -> frozenset[str]:
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


def _forget(made: Program, name: str) -> None:
    made.first.pop(name, None)
    for place, ways in made.ways.items():
        made.ways[place] = [(literals, replace(did, kept=tuple(one for one in did.kept if one[0] != name))) for literals, did in ways]


def _merge(made: Program) -> None:
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
