"""Streams that are the kind above_threshold, in its words: answers that are compared with one threshold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpverify.programs import linear as lin
from dpverify.programs.calls import SYMMETRIC
from dpverify.programs.linear import Linear, Literal
from dpverify.programs.naming import is_whole, table_of
from dpverify.programs.normal import Asked, Done, TooMany, tree
from dpverify.programs.path import ANSWER, FACTS, FRESH, ONCE, Shared
from dpverify.programs.steps import Did, Program, put_literals
from dpverify.programs.told import Leaf, key, numbers
from dpverify.trusted.kernel.expr import format_expr

NEIGHBOURS = ("all", "one", "monotone", "increasing", "decreasing")
_ANSWER = f"{ANSWER}1"


def above_threshold(made: Program, options: Mapping[str, Any], many: tuple[Any, Mapping[str, Any]]) -> dict[str, Any] | None:
    """The same mechanism as above_threshold; None where it is none."""
    if len(made.ways) != 1 or (made.shared.arity or 1) != 1 or options.get("neighbours", "all") not in NEIGHBOURS:
        return None
    (ways,) = made.ways.values()
    again = False
    if made.first:
        kept = _drawn_again(made, ways)
        if kept is None:
            return None
        ways, again = kept, True
    found = _above(made, ways, options, many) or _below(made, ways, options, many)
    return {**found, "resample": True} if found is not None and again else found


Cases = list[tuple[tuple[Literal, ...], Did]]


def _drawn_again(made: Program, ways: Cases) -> Cases | None:
    """The steps with one threshold, where its noise is drawn anew after some of them; None where that is not what is kept."""
    if len(made.first) != 1:
        return None
    ((name, first),) = made.first.items()
    if len(first.names) != 1 or not first.names[0].startswith(ONCE) or first != lin.name(first.names[0]):
        return None
    found: Cases = []
    for literals, did in ways:
        value = dict(did.kept).get(name, lin.name(name))
        fresh = value.names[0] if len(value.names) == 1 else ""
        anew = fresh.startswith(FRESH) and value == lin.name(fresh) and made.shared.laws[fresh] == made.shared.laws[first.names[0]]
        used = [each for one in literals for each in one.left.names] + [each for number in numbers(did.told) for each in number.names]
        if (anew and fresh in used) or len(did.kept) > 1 or not (anew or value == lin.name(name)):
            return None
        if did.after is not None and anew != bool(did.counts):
            return None  # the kind draws it anew after each answer that counts
        put = {name: first}
        told = tuple(
            replace(one, leaves=tuple(Leaf(lin.put(leaf.value, put), number=True) if leaf.number else leaf for leaf in one.leaves))
            for one in did.told
        )
        found.append((put_literals(literals, put), replace(did, kept=(), told=told)))
    return found


def _below(made: Program, ways: Cases, options: Mapping[str, Any], many: tuple[Any, Mapping[str, Any]]) -> dict[str, Any] | None:
    """Answers that are compared from the other side are their opposites, with noise that is the same turned around."""
    noises = {name for literals, _ in ways for one in literals for name in one.left.names if name.startswith((ONCE, FRESH))}
    if any(True for _, did in ways for _ in numbers(did.told)):
        return None
    if any(table_of(made.shared.laws[name]).get("name") not in SYMMETRIC for name in noises):
        return None
    turned = {name: lin.scale(lin.name(name), -1) for name in (*noises, _ANSWER)}
    found = _above(made, [(put_literals(literals, turned), did) for literals, did in ways], options, many)
    if found is None:
        return None
    ends = options.get("bounds")
    if ends is not None and isinstance(ends, list) and len(ends) == 2:
        found["bounds"] = [f"-({end})" for end in reversed(ends)]
    elif ends is not None:
        return None
    other = {"increasing": "decreasing", "decreasing": "increasing"}.get(options.get("neighbours", "all"))
    return found | ({"neighbours": other} if other else {})


def _above(made: Program, ways: Cases, options: Mapping[str, Any], many: tuple[Any, Mapping[str, Any]]) -> dict[str, Any] | None:
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
