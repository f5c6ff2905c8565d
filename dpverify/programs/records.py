"""Sums over records with noise, as additive noise with the query that they are."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dpverify.programs.faults import NotOfThisKind
from dpverify.programs.linear import Linear
from dpverify.programs.measured import Way, measured, noises_of
from dpverify.programs.naming import is_whole, table_of
from dpverify.programs.path import ANSWER, FRESH, ONCE, RECORDS
from dpverify.programs.rows import WORD
from dpverify.programs.setting import Setting
from dpverify.programs.told import Item, is_derived, numbers


def over_records(setting: Setting, ways: Sequence[Way]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The mechanism, and what a claim of it says: sums with noise that are told, or what is made of these."""
    if setting.options.get("adjacency") is None:
        raise NotOfThisKind('which tables of rows neighbour is not said. Write dp.program(adjacency="add-remove"), or "replace".')
    plain = len(ways) == 1 and not ways[0][0] and not ways[0][2] and not is_derived(ways[0][1])
    if plain and not all(len(noises_of(each)) == 1 for each in numbers(ways[0][1]) if each.names and noises_of(each)):
        plain = False
    if plain:
        return _told(setting, ways[0][1])
    parts = [_part(setting, each) for each in measured(ways, RECORDS, "a sum over records")]
    table, claim = _composed(setting, parts)
    return {"kind": "post_process", "map": "what the program makes of its noisy sums", "part": {**table, **claim}}, {}


def _told(setting: Setting, items: tuple[Item, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Sums with noise that are told as they are."""
    values = [each for each in numbers(items) if each.names]
    noises = [name for each in values for name in each.names if name.startswith((ONCE, FRESH))]
    if len(noises) != len(set(noises)):
        raise NotOfThisKind("one noise is in several numbers that are told. Draw a noise for each.")
    bare = [each for each in values if not any(name.startswith((ONCE, FRESH)) for name in each.names)]
    if bare:
        raise NotOfThisKind("a sum over records is told without noise, and whether neighbours have another is not looked at. Add noise.")
    return _composed(setting, [_part(setting, each) for each in values])


def _composed(setting: Setting, parts: Sequence[tuple[dict[str, Any], dict[str, Any]]]) -> tuple[dict[str, Any], dict[str, Any]]:
    adjacency = setting.options["adjacency"]
    if len(parts) == 1:
        law, query = parts[0]
        return law, {"query": query, "adjacency": adjacency}
    return {"kind": "compose", "parts": [{**law, "query": query, "adjacency": adjacency} for law, query in parts]}, {}


def _part(setting: Setting, value: Linear) -> tuple[dict[str, Any], dict[str, Any]]:
    sums = [name for name in value.names if name.startswith(RECORDS)]
    noises = [name for name in value.names if name.startswith((ONCE, FRESH))]
    if any(name.startswith(ANSWER) for name in value.names) or len(noises) != 1:
        raise NotOfThisKind("a number that is told has several noises. Draw one noise for each number.")
    law = setting.shared.laws[noises[0]]
    unit = value.of[noises[0]]
    terms = [(value.of[name] / unit, *setting.shared.records[int(name.removeprefix(RECORDS))]) for name in sums]
    query: dict[str, Any] = {"sum": [" + ".join(_times(factor, each) for factor, each, _ in terms)], "record": _record(setting)}
    if len({where for _, _, where in terms}) != 1:
        query["sum"] = [[{"value": _times(factor, each), **_where(where)} for factor, each, where in terms]]
    else:
        query |= _where(terms[0][2])
    if "rows" in setting.options:
        query["rows"] = setting.options["rows"]
    if is_whole(law) and not _is_whole_sum(setting, terms):
        raise NotOfThisKind(
            "noise on the integers is added to a sum that may be no integer. Count, say that the fields are integers, or use other noise."
        )
    return table_of(law), query


def _times(factor: Fraction, text: str) -> str:
    return text if factor == 1 else f"({factor})*({text})"


def _where(conditions: Sequence[str]) -> dict[str, str]:
    return {"where": " and ".join(f"({one})" for one in conditions)} if conditions else {}


def _record(setting: Setting) -> dict[str, Any]:
    """The fields with their domains: as stated, else a code where a field is compared with words, else any real number."""
    said = setting.options.get("record") or {}
    if words := [name for name, use in setting.shared.fields.items() if use == WORD and name in said]:
        raise NotOfThisKind(f"the field {words[0]} is compared with texts, and record says that it is a number. Leave it out of record.")
    known = {name: said.get(name, "integer" if use == WORD else "real") for name, use in setting.shared.fields.items()}
    return {**known, **{name: domain for name, domain in said.items() if name not in known}} or {"row": "real"}


def _is_whole_sum(setting: Setting, terms: Sequence[tuple[Fraction, str, tuple[str, ...]]]) -> bool:
    said = setting.options.get("record") or {}

    def whole(factor: Fraction, text: str) -> bool:
        import ast

        if factor.denominator != 1:
            return False
        for node in ast.walk(ast.parse(text, mode="eval")):
            if isinstance(node, ast.Name) and node.id not in ("min", "max", "abs") and "integer" not in str(said.get(node.id, "")):
                return False
            if isinstance(node, ast.Constant) and not isinstance(node.value, int):
                return False
            if isinstance(node, ast.Div | ast.Pow):
                return False
        return True

    return all(whole(factor, text) for factor, text, _ in terms)
