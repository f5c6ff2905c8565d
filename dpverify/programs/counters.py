"""Counters of a loop whose limit ends its run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dpverify.programs import linear as lin
from dpverify.programs.linear import Linear, Literal
from dpverify.programs.steps import Did, Program, everywhere, is_plain, put_literals, updates
from dpverify.programs.told import Leaf, key, numbers
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.expr import ZERO


def find_limits(made: Program) -> None:
    """Counters whose limit ends the run: a comparison that nothing but a counter is in, and that ends the run where it holds."""
    for name in list(made.first):
        if not made.first[name].names and everywhere(made, name) and len(made.ways) == 1:
            falls = any(certainly_lt(lin.minus(each, lin.name(name)).rest, ZERO, made.shared.domains) for each in updates(made, name))
            if falls:
                _turn(made, name)
            _limit(made, name, falls)
            if falls and name in made.first:
                _turn(made, name)


def _turn(made: Program, name: str) -> None:
    """Keeps the opposite of a number in its place."""
    known = {name: lin.scale(lin.name(name), -1)}
    made.first[name] = lin.scale(made.first[name], -1)
    for place, ways in made.ways.items():
        made.ways[place] = [(put_literals(literals, known), _turned(did, name, known)) for literals, did in ways]


def _turned(did: Did, name: str, known: Mapping[str, Linear]) -> Did:
    kept = tuple((each, lin.scale(lin.put(value, known), -1) if each == name else lin.put(value, known)) for each, value in did.kept)
    told = tuple(
        replace(one, leaves=tuple(Leaf(lin.put(leaf.value, known), number=True) if leaf.number else leaf for leaf in one.leaves))
        for one in did.told
    )
    return replace(did, kept=kept, told=told)


def _limit(made: Program, name: str, turned: bool) -> None:
    (place,) = made.ways
    ways = made.ways[place]
    grows = {each: lin.minus(each, lin.name(name)) for each in updates(made, name)}
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
                plain = tuple(one for one in did.told if not is_plain(one))
                if key(tuple(one for one in did.told if is_plain(one))) != key(made.last):
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
    if len(ends) != 1 or next(iter(ends)).names or any(_on(one, name) for literals, _ in kept for one in literals):
        return
    limit = lin.minus(next(iter(ends)), made.first[name])
    if not certainly_lt(ZERO, limit.rest, made.shared.domains):
        return
    made.limits[name] = limit
    counted = [(literals, _counting(did, name)) for literals, did in kept]
    made.ways[place] = counted
    if _whole_steps(made, name, grows.values()) and _is_integer(made, limit):  # else == is reached beside it
        for step in {*grows.values(), lin.constant(0)}:
            at = lin.minus(lin.plus(lin.name(name), step), next(iter(ends)))
            made.checked.add(lin.scale(lin.put(at, {name: lin.scale(lin.name(name), -1)}), -1) if turned else at)
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
        and all(_is_integer(made, lin.minus(each, lin.name(name))) for each in updates(made, name))
    )
    return lin.plus(lin.minus(step, rest), lin.constant(1)) if whole else lin.name(name)
