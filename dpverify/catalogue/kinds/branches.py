"""The branches of a stream in the normal form of programs, so that a verdict does not hang on how they are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpverify.programs import linear as lin
from dpverify.programs.linear import Linear, Literal, literal
from dpverify.programs.normal import Case, TooMany, branches, tree
from dpverify.trusted.combinators.streams import form
from dpverify.trusted.kernel.errors import ExprError
from dpverify.trusted.kernel.expr import Expr, Sym, add, mul, num
from dpverify.trusted.kernel.model import Branch, Guard, Stream, names_of


def in_order(stream: Stream) -> Stream:
    """The stream with branches whose comparisons fail one by one, where it has one of several that may fail in several ways.

    As it is where that is not so, or where its branches cannot be put in order; what is wrong with these is told by others.
    """
    names = frozenset(names_of(stream)) - {limit.name for limit in stream.limits}
    drawn = frozenset((*stream.answers, *(one.name for one in (*stream.once, *stream.fresh))))
    try:
        asked = [[_literal(guard, names) for guard in branch.when] for branch in stream.steps]
        if stream.steps[-1].when or not any(_several(each, drawn) for each in asked[:-1]):
            return stream
        cases: list[Case] = [(tuple(each), replace(branch, when=())) for each, branch in zip(asked, stream.steps, strict=True)]
        found = branches(tree(cases))
    except (TooMany, ExprError, IndexError):
        return stream
    if sum(_several(list(literals), drawn) for literals, _ in found) >= sum(_several(each, drawn) for each in asked):
        return stream
    steps = tuple(replace(branch, when=tuple(map(_guard, literals))) for literals, branch in found if isinstance(branch, Branch))
    return replace(stream, steps=steps)


def _several(asked: Sequence[Literal], drawn: frozenset[str]) -> bool:
    """Whether more than one comparison is of answers or noises."""
    return sum(bool(drawn.intersection(one.left.names)) for one in asked) > 1


def _literal(guard: Guard, names: frozenset[str]) -> Literal:
    found = form(guard.left, names)
    moving: Mapping[Any, Fraction] = found.of  # names are atoms
    return literal(lin.plus(lin.linear(moving), lin.expression(found.rest)), guard.strict)


def _guard(one: Literal) -> Guard:
    return Guard(_expression(one.left), one.strict)


def _expression(left: Linear) -> Expr:
    return add(*(mul(num(factor), Sym(name)) for name, factor in left.of.items()), left.rest)
