"""The steps of streams."""

from __future__ import annotations

from collections.abc import Iterator

from dpverify.catalogue.formulas.boxes import Box, Ident, Op, Words, row
from dpverify.catalogue.formulas.pieces import EQUAL
from dpverify.catalogue.formulas.selection import named_law
from dpverify.catalogue.formulas.typeset import typeset
from dpverify.trusted.kernel.expr import ZERO
from dpverify.trusted.kernel.model import Guard, Stream


def _expression(guard: Guard) -> Box:
    return row(typeset(guard.left), Op(">" if guard.strict else "≥"), typeset(ZERO))


def stream(mechanism: Stream) -> Iterator[Box]:
    """What each step tells, a branch a line."""
    for each in mechanism.state:
        yield row(Words("at the start "), Ident(each.name), EQUAL, typeset(each.value))
    for number, branch in enumerate(mechanism.steps):
        told: list[Box] = [Words(f"“{branch.emit}”")] if branch.emit else [] if branch.tell else [Words("nothing")]
        for value in branch.tell:
            told += [*([Words(" and ")] if told else []), typeset(value)]
        conditions: list[Box] = []
        for guard in branch.when:
            conditions += [Words(" and " if conditions else " if "), _expression(guard)]
        changes: list[Box] = []
        for each in branch.change:
            changes += [Words("; then "), Ident(each.name), EQUAL, typeset(each.value)]
        for each in branch.count:
            changes += [Words("; "), Ident(each.name), Words(" grows by "), typeset(each.value)]
        start = "each step tells " if number == 0 else "else "
        yield row(Words(start), *told, *conditions, *changes)
    for limit in mechanism.limits:
        yield row(Words("the run ends when "), Ident(limit.name), Op("≥"), typeset(limit.value))
    if mechanism.queries is not None:
        yield row(Words("at most so many steps: "), typeset(mechanism.queries))
    if mechanism.bounds is not None:
        yield row(Words("all answers are between "), typeset(mechanism.bounds[0]), Words(" and "), typeset(mechanism.bounds[1]))
    for drawn, when in ((mechanism.once, "once"), (mechanism.fresh, "in each step")):
        for each_noise in drawn:
            yield from named_law(each_noise.noise, each_noise.name, f", drawn {when}")
