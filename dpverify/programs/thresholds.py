"""Streams that are the kind above_threshold, in its words: answers that are compared with one threshold."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dpverify.programs import linear as lin
from dpverify.programs.calls import SYMMETRIC
from dpverify.programs.linear import Linear, Literal
from dpverify.programs.naming import is_whole, table_of
from dpverify.programs.normal import Asked, Done, TooMany, tree
from dpverify.programs.path import ANSWER, FACTS, FRESH, ONCE, Shared
from dpverify.programs.steps import Did, Program
from dpverify.programs.told import key, numbers
from dpverify.trusted.kernel.expr import format_expr

NEIGHBOURS = ("all", "one", "monotone", "increasing", "decreasing")
_ANSWER = f"{ANSWER}1"


def above_threshold(made: Program, options: Mapping[str, Any], many: tuple[Any, Mapping[str, Any]]) -> dict[str, Any] | None:
    """The same mechanism as above_threshold; None where it is none."""
    if len(made.ways) != 1 or made.first or (made.shared.arity or 1) != 1 or options.get("neighbours", "all") not in NEIGHBOURS:
        return None
    (ways,) = made.ways.values()
    try:
        found = tree(ways, FACTS)
    except TooMany:
        return None
    if not isinstance(found, Asked) or not isinstance(found.holds, Done) or not isinstance(found.fails, Done):
        return None
    if found.literal.left.of.get(_ANSWER, 0) > 0:
        return _compared(made, options, many, found.literal, found.holds.what, found.fails.what)  # type: ignore[arg-type]
    return _compared(made, options, many, found.literal.negated(), found.fails.what, found.holds.what)  # type: ignore[arg-type]


def _compared(
    made: Program, options: Mapping[str, Any], many: tuple[Any, Mapping[str, Any]], asked: Literal, above: Did, below: Did
) -> dict[str, Any] | None:  # fmt: skip
    shared, left = made.shared, lin.scale(asked.left, 1 / asked.left.of.get(_ANSWER, Fraction(1)))
    noise = [name for name in left.names if name.startswith(FRESH)]
    threshold = [name for name in left.names if name.startswith(ONCE)]
    if (
        set(left.names) != {_ANSWER, *noise, *threshold}
        or left.of[_ANSWER] != 1
        or len(noise) > 1
        or len(threshold) > 1
        or not (noise or threshold)
    ):
        return None
    if not all(_upright(shared, left, name, sign) for names, sign in ((noise, 1), (threshold, -1)) for name in names):
        return None
    if asked.strict and any(is_whole(shared.laws[name]) for name in (*noise, *threshold)):
        return None
    if below.after is None or below.counts or below.kept or [*numbers(below.told)] or key(above.told) == key(below.told):
        return None
    positives = _positives(made, above)
    report = _report(shared, above, noise, threshold)
    if positives is None or report is None:
        return None
    table: dict[str, Any] = {"kind": "above_threshold", "positives": positives, **report}
    table |= {label: table_of(shared.laws[names[0]]) for label, names in (("threshold_noise", threshold), ("query_noise", noise)) if names}
    if "bounds" in options:
        table["threshold"] = format_expr(lin.scale(left, -1).rest)
    return {**table, "queries": many[0], **many[1]}


def _upright(shared: Shared, left: Linear, name: str, sign: int) -> bool:
    """Whether noise is added as it is, or turned around where that is the same."""
    return left.of[name] == sign or (left.of[name] == -sign and table_of(shared.laws[name]).get("name") in SYMMETRIC)


def _positives(made: Program, above: Did) -> Any:
    if above.kept:
        return None
    if above.after is None:
        return None if made.limits else 1
    if not above.counts:
        return "unlimited" if not made.limits else None
    ((name, step),) = above.counts if len(above.counts) == 1 else ((("", lin.constant(0))),)
    if step != lin.constant(1) or set(made.limits) != {name}:
        return None
    return format_expr(made.limits[name].rest)


def _report(shared: Shared, above: Did, noise: list[str], threshold: list[str]) -> dict[str, Any] | None:
    """What is told of an answer above the threshold."""
    told = [*numbers(above.told)]
    if not told:
        return {}
    if len(told) > 1 or not noise:
        return None
    number = lin.linear({atom: factor for atom, factor in told[0].terms if isinstance(atom, str)})
    value = lin.plus(lin.name(_ANSWER), lin.name(noise[0]))
    if number == value:
        return {"report": "answers+value"}
    if threshold and number == lin.minus(value, lin.name(threshold[0])):
        return {"report": "answers+gap"}
    others = [name for name in number.names if name != _ANSWER]
    if (
        len(others) == 1
        and others[0].startswith(FRESH)
        and others[0] != noise[0]
        and number == lin.plus(lin.name(_ANSWER), lin.name(others[0]))
    ):
        return {"report": {"fresh": table_of(shared.laws[others[0]])}}
    return None
