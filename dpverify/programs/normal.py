"""The normal form of branches: what is done, by comparisons, in whatever order these are asked and however often they are written.

Cases are lists of comparisons that all hold, each with what is done there; together they are all that can happen, and where two of
them hold the first is meant. They become a tree that asks each comparison at most once, in one order, and none that decides nothing;
and the tree a list of branches, of which the first is taken whose comparisons all hold.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from dpverify.programs.linear import Literal, impossible

Case = tuple[tuple[Literal, ...], Hashable]
"""Comparisons, and what is done where all of them hold."""
MOST_ASKED: Final = 4_000
"""Questions of a tree."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A comparison, and what comes where it holds, and where it does not."""

    literal: Literal
    holds: Tree
    fails: Tree


@dataclass(frozen=True, slots=True)
class Done:
    """What is done."""

    what: Hashable


Tree = Asked | Done


class TooMany(Exception):
    """More comparisons than are put in order."""


def tree(cases: Sequence[Case], facts: Sequence[Literal] = ()) -> Tree:
    """The tree of cases. Two lists of cases that come to the same by their comparisons have one tree."""
    atoms = {_positive(one) for literals, _ in cases for one in literals}
    order = sorted(atoms, key=lambda one: (len(one.left.names), one.text()))
    return _tree(list(cases), order, tuple(facts), [0])


def _positive(one: Literal) -> Literal:
    """Of a comparison and its opposite the one that stands for both."""
    return one if one.left.terms and one.left.terms[0][1] > 0 else one.negated()


def _tree(cases: list[Case], order: Sequence[Literal], region: tuple[Literal, ...], asked: list[int]) -> Tree:
    """The tree where the comparisons of the region hold. Of cases that are possible at once the first is meant."""
    asked[0] += 1
    if asked[0] > MOST_ASKED:
        raise TooMany
    left = list(_possible(cases, region))
    if not left:
        raise TooMany  # one case must be left
    if len({what for _, what in left}) == 1 or not left[0][0]:
        return Done(left[0][1])
    wanted = {_positive(one) for literals, _ in left for one in literals}
    for place, one in enumerate(order):
        if one in wanted:
            holds = _tree(left, order[place + 1 :], (*region, one), asked)
            fails = _tree(left, order[place + 1 :], (*region, one.negated()), asked)
            if _given(fails, (*region, one)) == holds:
                return fails  # right on both sides
            return holds if _given(holds, (*region, one.negated())) == fails else Asked(one, holds, fails)
    raise TooMany  # comparisons whose sense is not seen


def _given(found: Tree, region: tuple[Literal, ...]) -> Tree:
    """The tree without what is decided where the comparisons of the region hold."""
    if isinstance(found, Done):
        return found
    if impossible([*region, found.literal.negated()]):
        return _given(found.holds, region)
    if impossible([*region, found.literal]):
        return _given(found.fails, region)
    holds, fails = _given(found.holds, (*region, found.literal)), _given(found.fails, (*region, found.literal.negated()))
    return holds if holds == fails else Asked(found.literal, holds, fails)


def _possible(cases: Iterable[Case], region: tuple[Literal, ...]) -> Iterator[Case]:
    """The cases that are possible, each with the comparisons that do not follow; none after one that has none."""
    for literals, what in cases:
        if not impossible([*region, *literals]):
            rest = tuple(one for one in literals if not impossible([*region, one.negated()]))
            yield rest, what
            if not rest:
                return


def branches(found: Tree, facts: Sequence[Literal] = ()) -> list[Case]:
    """A list of branches, the first of which is taken whose comparisons all hold; the last has none.

    Branches of one comparison come first, so that those after them know its opposite.
    """
    open_ = list(_leaves(found, ()))
    known, listed = list(facts), list[Case]()
    while True:
        if len({what for _, what in open_}) == 1:
            listed.append(((), open_[0][1]))
            return listed
        shorter = [(_needed(literals, known, [one for one, other in open_ if other != what]), what) for literals, what in open_]
        literals, what = min(shorter, key=lambda one: len(one[0]))
        listed.append((literals, what))
        if len(literals) == 1:
            known.append(literals[0].negated())
        left = [one for one in open_ if not all(impossible([*known[: len(facts)], *one[0], each.negated()]) for each in literals)]
        open_ = [one for one in left if not impossible([*known, *one[0]])]
        if not open_:
            listed[-1] = ((), what)
            return listed


def _leaves(found: Tree, above: tuple[Literal, ...]) -> Iterable[Case]:
    if isinstance(found, Done):
        yield above, found.what
        return
    yield from _leaves(found.holds, (*above, found.literal))
    yield from _leaves(found.fails, (*above, found.literal.negated()))


def _needed(literals: Sequence[Literal], known: Sequence[Literal], others: Sequence[Sequence[Literal]]) -> tuple[Literal, ...]:
    """As few of the comparisons as tell these cases from the others."""
    kept = list(literals)
    for one in literals:
        left = [each for each in kept if each is not one]
        if all(impossible([*known, *left, *other]) for other in others):
            kept = left
    return tuple(kept)
