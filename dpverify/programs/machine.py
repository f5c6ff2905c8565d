"""All ways through a program: what it does at once, or a machine whose steps each read an answer."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, Final

from dpverify.programs import linear as lin
from dpverify.programs.calls import Returned
from dpverify.programs.faults import NotOfThisKind, Unreadable, fault
from dpverify.programs.linear import Linear, Literal, impossible
from dpverify.programs.path import INDEX, KEPT, Again, AtLoop, Frame, NextLoop, Script, Shared, StepDone, Where
from dpverify.programs.rounding import Rounded, require_kept
from dpverify.programs.searches import COUNT, NUMBER_KEPT
from dpverify.programs.statements import Follower, counted
from dpverify.programs.values import Derived, Element, Filtered, Infinite, Items, Table, Unknown, Vector
from dpverify.trusted.kernel.expr import ONE, Expr

MOST_WAYS: Final = 600
MOST_PLACES: Final = 24
"""Values of what is kept, before numbers among it are numbers that may be anything."""
MOST_RESTARTS: Final = 200
NO_RESULT: Final = object()
NEXT: Final = "another loop"
"""What a loop ends with that another one follows."""
FIRST: Final = ""
"""What the first step is known by, among what is kept: no name is empty."""

Location = tuple[tuple[str, Any], ...]
"""What is kept at the head of the loop: names and constants, or that they are numbers."""


@dataclass(frozen=True)
class Way:
    """One way through a program, or through a step of it. after: the place that it leads to, None where the run ends; kept: new values."""

    literals: tuple[Literal, ...]
    events: tuple[tuple[int, Any], ...]
    result: Any = NO_RESULT
    after: Location | None = None
    kept: Mapping[str, Linear] = field(default_factory=dict)
    attached: Mapping[str, Linear] = field(default_factory=dict)
    """Of noises, the numbers of the data that each was added to."""
    opaque: tuple[Linear, ...] = ()
    """Noisy numbers that the way depends on, beside its comparisons."""
    weight: Expr = ONE
    """How likely it is, of programs that flip coins."""


@dataclass
class Machine:
    """A loop over all answers. steps, finish: of each place, the ways through a step, and those from where answers end."""

    start: Location
    first: dict[str, Linear]
    steps: dict[Location, list[Way]]
    finish: dict[Location, list[Way]]
    before: list[tuple[int, Any]]
    node: ast.stmt | ast.expr

    @property
    def ends(self) -> list[Way]:
        """The ways on which the loop, and what comes after it, is over."""
        return [way for found in (self.steps, self.finish) for ways in found.values() for way in ways if way.after is None]


class Stopped(Exception):
    """Something could not be read; the faults say what."""


@dataclass
class Explorer:
    """Follows a program on all its ways."""

    shared: Shared
    function: ast.FunctionDef
    arguments: Mapping[str, Any]
    values: bool = False
    """Whether numbers that are counted are followed by their values, as long as these are few."""
    loop: int = 0
    """Which of the loops over the answers is followed."""

    def explored(self) -> list[Way] | Machine:
        """What the program does. Raises Stopped where it cannot be read."""
        ways, loop = self._begin()
        if self.shared.faults:
            if loop is not None:
                self._machine(loop)  # its steps may have more that cannot be read
            raise Stopped
        return ways if loop is None else self._machine(loop)

    def _begin(self) -> tuple[list[Way], AtLoop | None]:
        ways: list[Way] = []
        loop: AtLoop | None = None
        script: Script | None = Script()
        count = 0
        while script is not None:
            follower, way, met = self._one(Where(loop=self.loop), script)
            if met is not None:
                if loop is not None or follower.literals:
                    what = "whether or how the loop over the answers is come to depends on the data. Compare in the loop, or after it."
                    self.shared.faults[fault(met.node, what)] = None
                    raise Stopped
                loop = met
            elif way is not None:
                ways.append(way)
            count += 1
            self._bounded(count)
            script = script.following()
        if loop is not None and ways:
            self.shared.faults[
                fault(loop.node, "on some ways the program ends before its loop over the answers. Let it begin with the loop.")
            ] = None
            raise Stopped
        return ways, loop

    def _bounded(self, count: int) -> None:
        if count > MOST_WAYS and not self.shared.faults:
            self.shared.faults[
                fault(self.function, f"more than {MOST_WAYS} ways through the program, or one step of it. Compare less in one step.")
            ] = None
        if count > MOST_WAYS:
            raise Stopped

    def _one(self, where: Where, script: Script) -> tuple[Follower, Way | None, AtLoop | None]:
        """Follows the program once. Raises Again."""
        follower = Follower(self.shared, where, script)
        follower.generator = any(isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(self.function))
        result: Any = NO_RESULT
        try:
            follower.run(self.function.body, Frame(dict(self.arguments), self.function))
        except Returned as returned:
            result = returned.value
        except AtLoop as loop:
            follower.before = list(follower.events)
            loop.before = follower.before
            return follower, None, loop
        except NextLoop:
            result = NEXT
        except StepDone as done:
            return follower, self._stepped(follower, where, done), None
        except Unreadable as error:
            follower.noted(error)
            if not self.shared.faults:
                self.shared.faults[fault(self.function, "the program cannot be followed on all its ways.")] = None
            return follower, None, None
        except RecursionError:
            self.shared.faults[fault(self.function, "is nested too deeply.")] = None
            return follower, None, None
        result = None if result is NO_RESULT else result
        events = follower.events[len(follower.before) :] if where.part != "begin" else follower.events
        way = Way(tuple(follower.literals), tuple(events), result, opaque=tuple(follower.opaque), weight=follower.weight)
        return follower, replace(way, attached=follower.attached), None

    def elements(self, vector: Vector | Filtered) -> list[tuple[tuple[Literal, ...], Any]]:
        """What one of the noisy answers is, on all ways; NO_RESULT where it is left out."""
        found: list[tuple[tuple[Literal, ...], Any]] = []
        script: Script | None = Script()
        while script is not None:
            follower = Follower(self.shared, Where(), script)
            follower.in_loop = True
            try:
                passes, value = follower.passing(vector)
                found.append((tuple(follower.literals), value if passes else NO_RESULT))
            except Unreadable as error:
                self.shared.faults[error.fault] = None
            script = script.following()
        if self.shared.faults:
            raise Stopped
        return found

    def together(self, vectors: Sequence[Vector]) -> dict[int, Linear]:
        """What one of the noisy answers is, of each list by its id: lists that share noise have it by one name.

        Those are left out of which it is several things, or no number.
        """
        follower = Follower(self.shared, Where(), Script())
        follower.in_loop = True
        found: dict[int, Linear] = {}
        for vector in vectors:
            try:
                found[id(vector)] = follower.number(self.function, follower.passing(vector)[1])
            except Unreadable as error:
                follower.noted(error)
                if self.shared.faults:
                    raise Stopped from error
        return {} if follower.literals else found

    def as_loop(self, vector: Vector | Filtered) -> Machine:
        """A list of noisy answers that is told, as a loop that tells one after the other."""
        ways = [Way(literals, () if value is NO_RESULT else ((0, value),), NO_RESULT, (), {}) for literals, value in self.elements(vector)]
        told = Items([], 0, told=True)
        return Machine((), {}, {(): ways}, {(): [Way((), (), told)]}, [], self.function)

    # -- the loop

    def _machine(self, loop: AtLoop) -> Machine:
        counts = frozenset[str]() if self.values else counted(loop.node) | {COUNT}
        tracked, told, anything = frozenset[str](), frozenset[int](), counts
        for _ in range(MOST_RESTARTS):
            try:
                return self._explore(loop, tracked, told, anything)
            except Again as again:
                if again.track and again.track not in tracked:
                    tracked |= {again.track}
                elif again.told is not None:
                    told |= {again.told}
                else:
                    break
            except _TooManyPlaces as many:
                if (self.values and not many.mixed) or many.names <= anything:
                    break
                anything |= many.names
        if self.shared.faults:
            raise Stopped
        self.shared.faults[fault(loop.node, "the loop keeps too much from step to step. Keep numbers and flags.")] = None
        raise Stopped

    def _explore(self, loop: AtLoop, tracked: frozenset[str], told: frozenset[int], anything: frozenset[str]) -> Machine:
        self.anything = anything
        begin = {name: found for name, found in loop.kept.items() if name in tracked}
        begun, first = self._place(begin, loop.node)
        start = ((FIRST, True), *begun)
        machine = Machine(start, first, {}, {}, loop.before, loop.node)
        open_ = [start]
        while open_:
            place = open_.pop(0)
            if place in machine.steps:
                continue
            if len(machine.steps) >= MOST_PLACES:
                raise _TooManyPlaces(_changing(machine.steps))
            where = Where("step", dict(place), tracked, told, self.loop)
            machine.steps[place] = self._ways(where)
            machine.finish[place] = [] if place == start else self._ways(replace(where, part="finish"))
            open_ += [way.after for way in machine.steps[place] if way.after is not None]
            if len(self.shared.faults) > 20:
                break
        if self.shared.faults:
            raise Stopped
        if mixed := _mixed(machine.steps):
            raise _TooManyPlaces(mixed, mixed=True)
        return machine

    def _ways(self, where: Where) -> list[Way]:
        ways: list[Way] = []
        script: Script | None = Script()
        count = 0
        while script is not None:
            _, way, _ = self._one(where, script)
            if way is not None:
                ways.append(way)
            count += 1
            self._bounded(count)
            script = script.following()
        return ways

    def _stepped(self, follower: Follower, where: Where, done: StepDone) -> Way:
        kept = {name: found for name, found in done.kept.items() if name in where.tracked}
        after, values = self._place(kept, follower.loop or self.function)
        events, opaque = tuple(follower.events[len(follower.before) :]), tuple(follower.opaque)
        return Way(tuple(follower.literals), events, NO_RESULT, after, values, follower.attached, opaque)

    def _place(self, kept: Mapping[str, Any], node: ast.AST) -> tuple[Location, dict[str, Linear]]:
        """Constants, and which names are numbers that may be anything, with these numbers."""
        numbers: dict[str, Linear] = {}
        place: Location = tuple((name, self._kept(name, kept[name], numbers, node, name in self.anything)) for name in sorted(kept))
        return place, numbers

    def _exactly(self, node: ast.AST, name: str, found: Any) -> None:
        try:
            require_kept(node, name, found)
        except Unreadable as error:
            self.shared.faults[error.fault] = None
            raise Stopped from error

    def _kept(self, name: str, found: Any, numbers: dict[str, Linear], node: ast.AST, anything: bool) -> Any:
        if isinstance(found, tuple):
            return tuple(self._kept(f"{name}_{i}", each, numbers, node, anything) for i, each in enumerate(found))
        if isinstance(found, Element):
            found = lin.name("answer:1")
            if (self.shared.arity or 1) > 1:
                raise Unreadable(node, f"{name} keeps an answer of several numbers. Take it apart, and keep the numbers.")
        self._exactly(node, name, found)
        if isinstance(found, Linear) and found.terms:
            numbers[f"{KEPT}{name}"] = found
            return NUMBER_KEPT
        if isinstance(found, Linear):
            found = found.constant
        if anything and isinstance(found, Fraction) and found.denominator != 1:
            self._exactly(node, name, Rounded(found))
        if anything and isinstance(found, int | Fraction) and not isinstance(found, bool):
            numbers[f"{KEPT}{name}"] = lin.constant(found)
            return NUMBER_KEPT
        if isinstance(found, bool | int | Fraction | str | Infinite | Unknown) or found is None:
            return found
        what = "a list" if isinstance(found, Items | Table) else "something that is no number"
        way = "Append to one list, and return it." if isinstance(found, Items) else "Keep numbers, flags and words."
        fault_ = Unreadable(node, f"{name} keeps {what} from step to step. {way}")
        self.shared.faults[fault_.fault] = None
        raise Stopped


class _TooManyPlaces(Exception):
    def __init__(self, names: frozenset[str], mixed: bool = False) -> None:
        super().__init__()
        self.names, self.mixed = names, mixed


def _mixed(places: Mapping[Location, Any]) -> frozenset[str]:
    """The names that are numbers that may be anything in some places, and numbers that are written out in all others."""
    values: dict[str, set[str]] = {}
    for place in places:
        for name, found in place:
            plain = isinstance(found, int | Fraction) and not isinstance(found, bool)
            values.setdefault(name, set()).add("any" if found is NUMBER_KEPT else "plain" if plain else "other")
    return frozenset(name for name, found in values.items() if found == {"any", "plain"})


def _changing(places: Mapping[Location, Any]) -> frozenset[str]:
    """The names with several numbers among what is kept."""
    values: dict[str, set[Any]] = {}
    for place in places:
        for name, found in place:
            if isinstance(found, int | Fraction) and not isinstance(found, bool):
                values.setdefault(name, set()).add(found)
    return frozenset(name for name, found in values.items() if len(found) > 2)


def with_steps(machine: Machine, indices: frozenset[str]) -> Machine:
    """The machine with the number of the step in the place of numbers that grow by 1 in each step.

    indices: names that must be it. Where nothing leads to the start the first step is the one that is counted 0. Raises NotOfThisKind.
    """
    going = [way for ways in machine.steps.values() for way in ways if way.after is not None]
    known: dict[str, Linear] = {}
    for name, first in machine.first.items():
        if not first.names and going and all(way.kept.get(name) == lin.plus(lin.name(name), lin.constant(1)) for way in going):
            known[name] = lin.plus(lin.name(INDEX), first)
    for name in indices:
        if known.get(name) != lin.name(INDEX) and any(name in way.kept for way in going):
            raise NotOfThisKind(
                f"{name.removeprefix(KEPT)} is the place of the answer that is read, and does not grow by 1 in each step from 0 on. "
                "Write for answer in answers, or count each step."
            )

    def of(way: Way, known: Mapping[str, Linear], facts: Sequence[Literal], here: Mapping[str, Linear]) -> Way | None:
        literals = [lin.literal(lin.put(lin.put(one.left, known), here), one.strict) for one in way.literals]
        if impossible([*facts, *literals]):
            return None
        left = tuple(one for one in literals if not impossible([*facts, one.negated()]))
        kept = {name: lin.put(value, known) for name, value in way.kept.items() if name not in known}
        events = tuple((tag, put(each, known)) for tag, each in way.events)
        return replace(way, literals=left, kept=kept, events=events, result=put(way.result, known))

    later = [Literal(lin.minus(lin.name(INDEX), lin.constant(1)), False)]
    steps: dict[Location, list[Way]] = {}
    finish: dict[Location, list[Way]] = {}
    open_ = [machine.start]
    while open_:
        place = open_.pop(0)
        if place not in steps:
            begins = place == machine.start and (FIRST, True) in place
            facts, here = ([], {INDEX: lin.constant(0)}) if begins else (later if (FIRST, True) in machine.start else [], {})
            steps[place] = [one for way in machine.steps[place] if (one := of(way, known, facts, here)) is not None]
            finish[place] = [] if begins else [one for way in machine.finish[place] if (one := of(way, known, facts, {})) is not None]
            open_ += [way.after for way in steps[place] if way.after is not None]
    begun = {name: value for name, value in machine.first.items() if name not in known}
    return replace(machine, first=begun, steps=steps, finish=finish)


def numbers_of(found: Any) -> Iterator[Linear]:
    """All numbers that a machine compares, keeps and tells."""
    if isinstance(found, Linear):
        yield found
    elif isinstance(found, Literal):
        yield found.left
    elif isinstance(found, Mapping):
        for each in (*found.keys(), *found.values()):
            yield from numbers_of(each)
    elif isinstance(found, tuple | list):
        for each in found:
            yield from numbers_of(each)
    elif isinstance(found, Machine | Way | Items | Derived | Table):
        for part in fields(found):
            yield from numbers_of(getattr(found, part.name))


def put(value: Any, known: Mapping[str, Linear]) -> Any:
    """What is told, with values in the place of names."""
    if isinstance(value, tuple):
        return tuple(put(each, known) for each in value)
    if isinstance(value, Derived):
        return replace(value, of=tuple(lin.put(each, known) for each in value.of))
    if isinstance(value, Table):
        return Table({key: put(each, known) for key, each in value.of.items()})
    if isinstance(value, Items) and not value.told:
        return Items([put(each, known) for each in value.held], value.number, value.in_loop)
    return lin.put(value, known) if isinstance(value, Linear) else value
