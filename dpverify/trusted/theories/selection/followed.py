"""What the branches of a run tell of its state, and so which branches may be taken next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

from dpverify.trusted.combinators.streams import form, moving
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, Sym, add, neg, substitute, symbols
from dpverify.trusted.kernel.model import Guard, Stream, names_of, on_integers
from dpverify.trusted.theories.selection.compared import Asked

Values = Mapping[str, Expr]
"""Of what is followed, its value as a number, or a name of the state that has the same value, its own where nothing is known."""

Guards = Mapping[tuple[int, int], Guard]
"""Comparisons of a branch by its number and theirs."""
Place = tuple[tuple[str, Expr], ...]
"""The same as a key."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A branch that may be taken. after: what is known after it.

    earlier: the comparisons that may be what fails of branches before it, which may be taken where it is: numbers of branch and comparison.
    """

    branch: int
    after: dict[str, Expr]
    earlier: frozenset[tuple[int, int]]


def can_be_followed(stream: Stream) -> frozenset[str]:
    """The names whose values branches may tell: of the state and of counters."""
    return frozenset(each.name for each in (*stream.state, *stream.limits))


def first_values(stream: Stream, followed: Sequence[str]) -> dict[str, Expr]:
    """What is known of what is followed before the first step."""
    return _known(stream, followed, {each.name: each.value for each in stream.state} | {limit.name: ZERO for limit in stream.limits})


def branches(question: Asked, stream: Stream, before: Values) -> Iterator[Taken]:
    """The branches that may be taken where that much is known."""
    names, failed, earlier = frozenset(names_of(stream)), list[Guard](), list[Guards]()
    for number, branch in enumerate(stream.steps):
        when = [Guard(substitute(guard.left, before), guard.strict) for guard in branch.when]
        told = [_settled(question, guard, names) for guard in when]
        if False in told:
            continue
        undecided = {(number, place): guard for place, (guard, holds) in enumerate(zip(when, told, strict=True)) if not holds}
        excluded = _exclude_each_other(question, stream, [*failed, *when])
        if not excluded:
            changed = {each.name: each.value for each in branch.change}
            changed |= {each.name: add(Sym(each.name), each.value) for each in branch.count}
            after = {each.name: substitute(changed.get(each.name, Sym(each.name)), before) for each in (*stream.state, *stream.limits)}
            yield Taken(number, _known(stream, tuple(before), after), may_fail(question, names, [*undecided.values()], earlier))
        if not undecided:
            return
        if excluded:
            continue
        if len(undecided) == 1:
            failed += map(_negated, undecided.values())
        earlier.append(undecided)


def may_fail(question: Asked, names: frozenset[str], held: list[Guard], earlier: Sequence[Guards]) -> frozenset[tuple[int, int]]:
    """What may fail of each earlier branch where some comparisons hold. What alone may fail of one does, and tells of the others."""

    def excluded(guard: Guard) -> bool:
        both = (Guard(add(guard.left, one.left), guard.strict or one.strict) for one in held)
        return any(_settled(question, one, names) is False for one in both)

    found, open_ = set[tuple[int, int]](), list(earlier)
    while True:
        left = [when for when in open_ if not any(map(excluded, when.values()))]
        open_ = [{key: guard for key, guard in when.items() if not excluded(_negated(guard))} for when in left]
        alone = [when for when in open_ if len(when) == 1]
        if not alone:
            return frozenset(found.union(*open_))
        found |= alone[0].keys()
        held = [*held, *map(_negated, alone[0].values())]


def _negated(guard: Guard) -> Guard:
    return Guard(neg(guard.left), not guard.strict)


def places(question: Asked, stream: Stream, first: Values, name: str, most: int) -> dict[Place, list[Taken]]:
    """All that may be known on a run, with the branches that may be taken there. Raises Rejected for the rule `name` beyond `most`."""
    found: dict[Place, list[Taken]] = {}
    open_ = [tuple(first.items())]
    while open_:
        place = open_.pop()
        if place not in found:
            found[place] = list(branches(question, stream, dict(place)))
            open_ += (tuple(taken.after.items()) for taken in found[place] if not is_over(question, stream, taken.after))
        require(len(found) <= most, Rejected(name, "follow", f"what is followed has more than {most:,} different values"))
    return found


def _known(stream: Stream, followed: Sequence[str], values: Mapping[str, Expr]) -> dict[str, Expr]:
    """Of each name its value where that is a number, else the first name of the state that has the same value; nothing is itself."""
    same: dict[Expr, Expr] = {}
    for each in stream.state:
        same.setdefault(values[each.name], Sym(each.name))
    return {name: values[name] if isinstance(values[name], Num) else same.get(values[name], Sym(name)) for name in followed}


def _settled(question: Asked, guard: Guard, names: frozenset[str]) -> bool | None:
    """Whether a comparison holds, by what is known; None where that does not tell."""
    if symbols(guard.left) & names:
        return None
    below, strictly = (certainly_le, certainly_lt) if guard.strict else (certainly_lt, certainly_le)
    return False if below(guard.left, ZERO, question.domains) else True if strictly(ZERO, guard.left, question.domains) else None


def _exclude_each_other(question: Asked, stream: Stream, guards: Sequence[Guard]) -> bool:
    """Whether two or three of the comparisons add up to one that does not hold, or holds at one value of a noise with a density alone."""
    names, drawn = frozenset(names_of(stream)), {each.name for each in stream.fresh if not on_integers(each.noise)}
    for some in chain(combinations(guards, 2), combinations(guards, 3)):
        both = Guard(add(*(one.left for one in some)), any(one.strict for one in some))
        if _settled(question, both, names) is False or (both.left == ZERO and drawn & form(some[0].left, moving(stream)).of.keys()):
            return True
    return False


def is_over(question: Asked, stream: Stream, values: Values) -> bool:
    """Whether a counter that is followed has certainly reached its limit, so that the run has ended."""
    return any(limit.name in values and certainly_le(limit.value, values[limit.name], question.domains) for limit in stream.limits)
