"""A loop over answers that spends a budget: parts that are chosen as it goes, none begun that might exceed it. It is a privacy filter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dpverify.programs import linear as lin
from dpverify.programs.faults import NotOfThisKind
from dpverify.programs.linear import Linear, Literal
from dpverify.programs.machine import FIRST, NO_RESULT, Location, Machine, Way
from dpverify.programs.measured import measured, noises_of
from dpverify.programs.naming import is_whole, table_of
from dpverify.programs.path import ANSWER, FRESH, INDEX, KEPT, ONCE
from dpverify.programs.setting import Setting
from dpverify.programs.told import RETURNED, item, numbers
from dpverify.programs.values import Items, Law
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import ExprError
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, add, div, format_expr, mul, num, parse, power, sqrt, symbols
from dpverify.trusted.kernel.model import Domain

PURE: Final = frozenset({"laplace", "discrete_laplace"})
"""Noises of which an answer that moves by d loses d/scale."""
NORMAL: Final = frozenset({"gaussian", "discrete_gaussian"})
"""Noises of which it has d^2/(2 sigma^2) in zCDP, on the integers too (Canonne, Kamath and Steinke 2020)."""


@dataclass(frozen=True)
class _Step:
    """A way through a step that measures answers. cost: what it has, in the measure of the budget; grows: by how much the counter."""

    literals: tuple[Literal, ...]
    cost: Expr
    grows: Fraction | None
    """None where the run ends with it."""
    begins: bool
    """Whether it is the first."""


@dataclass(frozen=True)
class Spending:
    """A loop as a filter. measure: of the budget; counts: whether so many steps, all of which measure alike, end it."""

    measure: str
    mechanism: dict[str, Any]
    counts: bool


def filtered(setting: Setting, machine: Machine) -> Spending | None:
    """The filter of a loop each step of which charges a counter for what it measures; None where it is no such loop.

    Each answer moves by at most the sensitivity, whatever was told: a step's parts have what they are charged.
    """
    found = _moves(setting)
    if found is None or any(not set(first.names) <= set(setting.shared.laws) for first in machine.first.values()):
        return None
    try:
        parts = [(place, way, _parts(setting, way)) for place, way in _ways(machine)]
    except NotOfThisKind:
        return None
    laws = [law for _, _, each in parts for law, _ in each]
    names = {str(table_of(law)["name"]) for law in laws}
    if not laws or len({is_whole(law) for law in laws}) > 1:
        return None
    if is_whole(laws[0]) and not (isinstance(found, Num) and found.value.denominator == 1):
        return None  # integers that move by less than 1 do not move, and what is no integer is told by such noise
    measure = "epsilon" if names <= PURE else "gdp" if names == {"gaussian"} else "zcdp"
    costs = [
        (way, add(*(_cost(law, mul(num(moved), found), measure) for law, moved in each)), (FIRST, True) in place)
        for place, way, each in parts
    ]
    for counter, sign in ((each, sign) for each in (*sorted(machine.first), INDEX) for sign in (1, -1)):
        if (spent := _spent(setting.shared.domains, machine, costs, counter, sign)) is not None:
            budget = format_expr(sqrt(spent) if measure == "gdp" else spent)
            part = {"kind": "filter", "budget": {measure: budget}}
            mechanism = {"kind": "post_process", "map": "what the program tells of its parts", "part": part}
            alike = len({tuple(each) for _, _, each in parts if each}) == 1
            return Spending(measure, mechanism, counter == INDEX and alike and not symbols(spent))
    return None


def _moves(setting: Setting) -> Expr | None:
    """By how much an answer moves at most, where that is all that is known of them."""
    said = setting.options.get("sensitivity")
    if said is None or isinstance(said, bool) or not isinstance(said, int | Fraction | str):
        return None
    if any(key in setting.options for key in ("hull", "bounds", "answers")) or setting.neighbours == "hull":
        return None
    try:
        found = parse(str(said))
    except ExprError:
        return None
    return found if certainly_lt(ZERO, found, dict(setting.shared.domains)) else None


def _ways(machine: Machine) -> Iterator[tuple[Location, Way]]:
    for ways in (machine.steps, machine.finish):
        for place, found in ways.items():
            yield from ((place, way) for way in found)


def _parts(setting: Setting, way: Way) -> list[tuple[Law, Fraction]]:
    """The noises of the answers that a step measures, with how far a number moves whose answers move by 1. Raises NotOfThisKind."""
    result = () if way.result is NO_RESULT or isinstance(way.result, Items) else (item(RETURNED, way.result),)
    told = (*(item(of, value) for of, value in way.events), *result)
    kept = tuple(way.kept.values())
    used = {name for each in (*(one.left for one in way.literals), *numbers(told), *kept, *way.opaque) for name in each.names}
    if any(not name.startswith((ANSWER, FRESH, ONCE, KEPT, INDEX)) for name in used):
        raise NotOfThisKind("it tells something else.")
    found = []
    for number in measured([(way.literals, told, (*kept, *way.opaque), way.attached)], ANSWER, "an answer"):
        (noise,) = noises_of(number)
        multiples = [factor / number.of[noise] for name, factor in number.of.items() if name.startswith(ANSWER)]
        law = setting.shared.laws[noise]
        if not noise.startswith(FRESH) or (is_whole(law) and any(each.denominator != 1 for each in multiples)):
            raise NotOfThisKind("noise is drawn once for several answers, or answers with noise on the integers are no integers.")
        if (width := _width(law)) is None or not certainly_lt(ZERO, width, dict(setting.shared.domains)):
            raise NotOfThisKind("the noise has no scale that is certainly above 0.")
        found.append((law, sum(map(abs, multiples), Fraction(0))))
    return found


def _cost(law: Law, moved: Expr, measure: str) -> Expr:
    """What an answer that moves so far has, in zCDP, GDP (the square of mu) or pure privacy."""
    width = _width(law)
    assert width is not None
    loss = div(moved, width)
    return loss if measure == "epsilon" else mul(ONE if measure == "gdp" else num(Fraction(1, 2)), power(loss, num(2)))


def _width(law: Law) -> Expr | None:
    """The scale of Laplace noise, the deviation of Gaussian noise."""
    table = table_of(law)
    said = table.get({**dict.fromkeys(PURE, "scale"), **dict.fromkeys(NORMAL, "sigma")}.get(str(table.get("name")), ""))
    return None if said is None else parse(str(said))


def _spent(
    domains: Mapping[str, Domain], machine: Machine, costs: list[tuple[Way, Expr, bool]], counter: str, sign: int
) -> Expr | None:  # fmt: skip
    """What all steps of a run have at most, by a counter that never falls (sign 1) or rises (-1), and rises with what is measured.

    Before a step it is at most the rate times what the counter has grown by, and of that the comparisons of the step know the most.
    costs: of each way; and whether it is one through the first step.
    """
    first = machine.first.get(counter, lin.constant(0))
    if first.names:
        return None
    steps: list[_Step] = []
    for way, cost, begins in costs:
        grown = None if way.after is None else _grown(way, counter, sign)
        if way.after is not None and (grown is None or grown < 0):
            return None
        if cost != ZERO:
            steps.append(_Step(way.literals, cost, grown, begins))
    if any(step.grows == 0 for step in steps):
        return None
    rate = _greatest(domains, [div(step.cost, num(step.grows)) for step in steps if step.grows], ZERO)
    whole = all((_grown(way, counter, sign) or Fraction(0)).denominator == 1 for way, _, _ in costs if way.after is not None)
    totals = []
    for step in steps:
        known = [_most(domains, one, counter, sign, first, whole) for one in step.literals]
        most = _least(domains, [lin.constant(0)] if step.begins else [each for each in known if each is not None])
        if rate is None or (most is None and rate != ZERO):
            return None
        most = most or lin.constant(0)
        whole_rate = step.grows is not None and certainly_le(mul(rate, num(step.grows)), step.cost, dict(domains))
        more = lin.plus(most, lin.constant(step.grows if whole_rate and step.grows else 0))
        totals.append(mul(rate, more.rest) if whole_rate else add(mul(rate, more.rest), step.cost))
    return _greatest(domains, totals, ZERO)


def _grown(way: Way, counter: str, sign: int) -> Fraction | None:
    """How much a counter, or its opposite, grows by in a step that goes on; None where that is not known."""
    if counter == INDEX:
        return Fraction(sign)
    if counter not in way.kept:
        return None
    change = lin.minus(way.kept[counter], lin.name(counter))
    return None if change.terms else sign * change.constant


def _most(domains: Mapping[str, Domain], one: Literal, counter: str, sign: int, first: Linear, whole: bool) -> Linear | None:
    """How much the counter, or its opposite, has grown by at most, by a comparison of it alone."""
    if one.left.names != (counter,) or sign * one.left.of[counter] >= 0:
        return None
    factor = abs(one.left.of[counter])
    most = lin.minus(lin.scale(lin.minus(one.left, lin.linear({counter: one.left.of[counter]})), 1 / factor), lin.scale(first, sign))
    if one.strict and whole and _is_integer(domains, most):
        most = lin.minus(most, lin.constant(1))
    return most


def _is_integer(domains: Mapping[str, Domain], number: Linear) -> bool:
    """Whether a public number is an integer for certain."""
    known = all(
        factor.denominator == 1 and (domain := domains.get(getattr(atom, "name", ""))) is not None and domain.integer
        for atom, factor in number.terms
    )
    return known and number.constant.denominator == 1


def _greatest(domains: Mapping[str, Domain], values: Iterable[Expr], least: Expr) -> Expr | None:
    """The greatest of some numbers, None where that is not certain."""
    found = least
    for value in values:
        if certainly_lt(found, value, dict(domains)) or certainly_le(found, value, dict(domains)):
            found = value
        elif not certainly_le(value, found, dict(domains)):
            return None
    return found


def _least(domains: Mapping[str, Domain], values: list[Linear]) -> Linear | None:
    """One of some upper bounds, the least where that is certain; None where there is none."""
    found = values[0] if values else None
    for value in values[1:]:
        if found is not None and certainly_le(value.rest, found.rest, dict(domains)):
            found = value
    return found
