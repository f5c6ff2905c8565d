"""Programs whose data are one of finitely many values, and that flip coins: a table of probabilities."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from dpverify.programs.faults import NotOfThisKind
from dpverify.programs.machine import Explorer, Machine, Way
from dpverify.programs.path import YIELDED
from dpverify.programs.told import RETURNED, item, key
from dpverify.programs.values import GIVEN, Items
from dpverify.trusted.kernel.expr import ZERO, Expr, add, format_expr

MOST_OUTPUTS: Final = 256


def inputs_of(said: Any) -> list[Any]:
    """What the data may be, as the program sees it. Raises NotOfThisKind."""
    if not isinstance(said, list) or len(said) < 2:
        raise NotOfThisKind('inputs lists what the data may be, two values or more: dp.program(inputs=["no", "yes"]).')

    def seen(value: Any) -> Any:
        if isinstance(value, list):
            return Items([seen(each) for each in value], GIVEN)
        if isinstance(value, str | int) or value is None:
            return value
        raise NotOfThisKind(f"inputs holds {value!r}. Inputs are words, integers, truths and lists of them.")

    return list(map(seen, said))


def table(explorer: Explorer, data: str, inputs: list[Any], generator: bool) -> dict[str, Any]:
    """The probabilities of what is told, a row for each of the inputs. data: the name of the argument. Raises NotOfThisKind, Stopped."""
    rows: list[dict[Any, Expr]] = []
    for value in inputs:
        ways = replace(explorer, arguments={**explorer.arguments, data: value}).explored()
        if isinstance(ways, Machine):
            raise NotOfThisKind("it goes through answers. Where inputs are listed the data are one of them.")
        row: dict[Any, Expr] = {}
        for way in ways:
            if way.literals:
                raise NotOfThisKind(f"whether {way.literals[0].text()} depends on parameters. Give them values.")
            told = _told(way, generator)
            row[told] = add(row.get(told, ZERO), way.weight)
        rows.append(row)
    outputs = list(dict.fromkeys(told for row in rows for told in row))
    if len(outputs) > MOST_OUTPUTS:
        raise NotOfThisKind(f"it tells one of {len(outputs)} things; tables have at most {MOST_OUTPUTS}.")
    if len(outputs) < 2:
        outputs.append(None)
    texts = [[format_expr(row.get(told, ZERO)) for told in outputs] for row in rows]
    return {"kind": "table", "rows": texts, "adjacent": "all"}


def _told(way: Way, generator: bool) -> Any:
    items = [item(YIELDED, value) for of, value in way.events if of == YIELDED] if generator else [item(RETURNED, way.result)]
    if any(leaf.number for one in items for leaf in one.leaves):
        raise NotOfThisKind("it tells a parameter. Where inputs are listed it tells words and integers.")
    return key(tuple(items))
