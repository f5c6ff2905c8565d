"""What the steps of a stream do, as multiples of what neighbours or draws change (theory#streams)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import product
from types import MappingProxyType
from typing import Final

from dpverify.trusted.kernel.errors import ExprError
from dpverify.trusted.kernel.expr import FUNCTIONS, ZERO, Add, Expr, Mul, Num, Sym, add, format_expr, mul, symbols
from dpverify.trusted.kernel.fitting import unseen
from dpverify.trusted.kernel.model import Branch, Stream, Vector, names_of

MOST_ANSWERS: Final = 8
"""The most numbers that a step reads: a box of them has two to this power vertices."""

MOST_LETTERS: Final = 40
"""Of a word that is told."""

INTERVALS: Final = {"all": (-1, 1), "increasing": (0, 1), "decreasing": (-1, 0)}
"""Where the difference of each answer lies, in units of the sensitivity."""
MIRRORED: Final = "mirrored hull"
FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {"monotone": ("increasing", "decreasing"), "hull": ("hull", MIRRORED)}
"""Neighbours whose differences are all of one family, or all of the other, so that the relation is symmetric."""


@dataclass(frozen=True, slots=True)
class Form:
    """Multiples of names, plus a rest that is the same for two neighbours."""

    of: Mapping[str, Fraction]
    rest: Expr

    def at(self, values: Mapping[str, Fraction]) -> Fraction:
        """The multiples alone, of these values; a name without one counts 0."""
        return sum((factor * values.get(name, Fraction(0)) for name, factor in self.of.items()), Fraction(0))


@lru_cache(maxsize=1024)
def form(expr: Expr, names: frozenset[str]) -> Form:
    """The expression as a form in the names, which nobody can change. Raises ExprError where it is none."""
    if not symbols(expr) & names:
        return Form(MappingProxyType({}), expr)
    if isinstance(expr, Sym):
        return Form(MappingProxyType({expr.name: Fraction(1)}), ZERO)
    if isinstance(expr, Add):
        parts = [form(term, names) for term in expr.args]
        total = {name: sum((part.of.get(name, Fraction(0)) for part in parts), Fraction(0)) for part in parts for name in part.of}
        return Form(MappingProxyType({name: factor for name, factor in total.items() if factor}), add(*(part.rest for part in parts)))
    if isinstance(expr, Mul):
        inside = [factor for factor in expr.args if symbols(factor) & names]
        outside = mul(*(factor for factor in expr.args if not symbols(factor) & names))
        if len(inside) == 1 and isinstance(outside, Num):
            found = form(inside[0], names)
            return Form(MappingProxyType({name: outside.value * factor for name, factor in found.of.items()}), mul(outside, found.rest))
    raise ExprError(f"{format_expr(expr)} is no sum of rational multiples of {', '.join(sorted(symbols(expr) & names))} and a rest.")


@dataclass(frozen=True, slots=True)
class Step:
    """A branch: its guards, what it tells and the state after it, by name."""

    when: tuple[Form, ...]
    tell: tuple[Form, ...]
    after: Mapping[str, Form]


def moving(stream: Stream) -> frozenset[str]:
    """The names of what may differ between two runs: answers, noises and state."""
    return frozenset(names_of(stream)) - {limit.name for limit in stream.limits}


def step_of(stream: Stream, branch: Branch) -> Step:
    """Raises ExprError."""
    names, changed = moving(stream), {each.name: each.value for each in branch.change}
    after = {each.name: form(changed.get(each.name, Sym(each.name)), names) for each in stream.state}
    return Step(tuple(form(guard.left, names) for guard in branch.when), tuple(form(told, names) for told in branch.tell), after)


def start_of(stream: Stream) -> dict[str, Form]:
    """The first values of the state, in the noises that are drawn once. Raises ExprError."""
    return {each.name: form(each.value, frozenset(drawn.name for drawn in stream.once)) for each in stream.state}


def settled(stream: Stream) -> Stream:
    """The stream without a last comparison that decides nothing: before the last branch, one that does the same."""
    *others, last = stream.steps
    while others and replace(others[-1], when=()) == last:
        others.pop()
    return replace(stream, steps=(*others, last))


def families(stream: Stream) -> tuple[str, ...]:
    """Of one of which the differences of neighbours are."""
    return FAMILIES.get(stream.neighbours, (stream.neighbours,))


def vertices(stream: Stream, family: str) -> list[Vector]:
    """The points, in units of the sensitivity, of whose hull the differences of the answers of one step are."""
    size = len(stream.answers)
    if family in ("hull", MIRRORED):
        sign = 1 if family == "hull" else -1
        return [tuple(sign * x for x in row) for row in stream.hull]
    if family == "one":
        return [tuple(Fraction(sign * (i == j)) for j in range(size)) for i in range(size) for sign in (1, -1)]
    return [tuple(map(Fraction, signs)) for signs in product(INTERVALS[family], repeat=size)]


def faults(stream: Stream) -> Iterator[str]:
    """What makes the declaration mean nothing."""
    names = names_of(stream)
    for name in dict.fromkeys(names):
        if not name.isidentifier() or not name.isascii() or name in FUNCTIONS or name == "pi":
            yield f"{name[:40]!r} cannot name anything in a step. Use letters, digits and _, and no function's name."
        elif names.count(name) > 1:
            yield f"{name} names two things. Give answers, noises, state and counters names of their own."
    if not 1 <= len(stream.answers) <= MOST_ANSWERS:
        yield f"a step reads {len(stream.answers)} answers; it may read from 1 to {MOST_ANSWERS}."
    if (stream.neighbours == "hull") != bool(stream.hull) or any(len(row) != len(stream.answers) for row in stream.hull):
        yield 'neighbours = "hull" wants hull, rows of as many numbers as a step reads answers, and no other neighbours have it.'
    yield from _of_the_start(stream, frozenset(names))
    if not stream.steps or stream.steps[-1].when:
        yield "the last branch has a condition. Give the last one none: it is what is done otherwise."
    for number, branch in enumerate(stream.steps, 1):
        if unseen(branch.emit) or branch.emit.isspace() or len(branch.emit) > MOST_LETTERS:
            yield f"branch {number}: emit is no short word."
        for fault in _of_a_branch(stream, branch, frozenset(names)):
            yield f"branch {number}: {fault}"


def _of_the_start(stream: Stream, names: frozenset[str]) -> Iterator[str]:
    once = frozenset(each.name for each in stream.once)
    for each in stream.state:
        if wrong := symbols(each.value) & (names - once):
            yield f"state: {each.name} starts at {format_expr(each.value)}, in which {min(wrong)} is not known yet."
    for each in stream.limits:
        if symbols(each.value) & names:
            yield f"limits: {each.name} has the limit {format_expr(each.value)}, which is to be the same in every run."
    try:
        start_of(stream)
    except ExprError as error:
        yield f"state: {error}"


def _of_a_branch(stream: Stream, branch: Branch, names: frozenset[str]) -> Iterator[str]:
    for what, pairs, known in (("set", branch.change, stream.state), ("count", branch.count, stream.limits)):
        yield from _targets(what, [each.name for each in pairs], {each.name for each in known})
    for each in branch.count:
        if symbols(each.value) & names:
            yield f"count: {each.name} grows by {format_expr(each.value)}, which is to be the same in every run."
    try:
        step_of(stream, branch)
    except ExprError as error:
        yield str(error)


def _targets(what: str, given: Sequence[str], known: set[str]) -> Iterator[str]:
    for name in dict.fromkeys(given):
        if name not in known:
            yield f"{what}: {name[:40]} is not declared."
        elif given.count(name) > 1:
            yield f"{what}: {name} stands twice."
