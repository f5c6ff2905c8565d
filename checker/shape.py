"""The shape of a certificate: its JSON schema, and what the format asks for beyond it."""

import hashlib
import json
import re
from pathlib import Path

from noise import ADDED
from parts import COMBINATORS, every
from terms import Malformed, parse, rational, require, sure

SCHEMA = json.loads((Path(__file__).resolve().parents[1] / "dpverify" / "schemas" / "certificate.schema.json").read_text(encoding="utf-8"))
SEEN = r"(?=.*\S|$)[^\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]*"
TYPES = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "null": type(None)}


def need(holds, why):
    """Malformed unless it holds."""
    require(holds, Malformed, why)


def fits(value, schema):
    """Whether a value fits a schema; Undecided where an expression in it is not in its one writing."""
    if schema is True:
        return True
    named, known = schema.get("$ref", "").removeprefix("#/definitions/"), schema.get("properties", {})
    kinds, items, more = schema.get("type", list(TYPES)), schema.get("items", True), schema.get("additionalProperties", True)
    good = not named or fits(value, SCHEMA["definitions"][named])
    good = good and type(value) in [TYPES[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds)]
    good = good and any(type(value) is type(one) and value == one for one in schema.get("enum", [schema.get("const", value)]))
    if good and isinstance(value, str):
        good = len(value) >= schema.get("minLength", 0) and re.search(schema.get("pattern", ""), value, re.ASCII)
        good = good and (named != "fraction" or value == str(rational(value)))
        good = good and ("expression" not in named or bool(parse(value)))
    elif good and type(value) is int:
        good = schema.get("minimum", value) <= value <= schema.get("maximum", value)
    elif good and isinstance(value, list):
        each = items if isinstance(items, list) else [items] * len(value)
        good = schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)) and all(map(fits, value, each))
    elif good and isinstance(value, dict):
        good = value.keys() >= set(schema.get("required", ())) and (more is not False or value.keys() <= known.keys())
        good = good and all(fits(inner, known.get(key, more)) for key, inner in value.items())
    chosen = [part.get("then", part) for part in schema.get("allOf", ()) if fits(value, part.get("if", True))] if good else []
    return good and all(fits(value, part) for part in chosen) and any(fits(value, part) for part in schema.get("anyOf", [True]))


def pairs(items):
    """An object without doubled keys."""
    need(len({k for k, _ in items}) == len(items), "a key stands twice in one object")
    return dict(items)


def read(data):
    """The claim of a certificate that is one."""
    need(fits(data, SCHEMA), "not of the shape that the schema of certificates gives")
    claim = data["claim"]
    need(all(value or key in SCHEMA["definitions"]["claim"]["required"] for key, value in claim.items()), "a key of the claim is empty")
    written = json.dumps(claim, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    need(hashlib.sha256(written.encode()).hexdigest() == data["claim_sha256"], "claim_sha256 is not the hash of the claim")
    need(all(p < n for n, line in enumerate(data["lines"]) for p in line.get("premises", [])), "a line stands before its premises")
    whole, told = claim["mechanism"], claim.keys()
    named = all(name.isidentifier() and name.isascii() for name in claim["domains"])
    lists = not {"loss", "prior"} & told or whole["kind"] in ("table", "exponential")
    need(named and all(x.isprintable() and re.fullmatch(SEEN, x) for x in (claim["name"], claim["mechanism_name"])), "names that are none")
    need(lists and not {"order", "utility"} <= told and ("within" in told or "distance" not in told), "words that have no place")
    for mechanism, asked in every(whole, claim):
        kind, query, stated = mechanism["kind"], asked["query"], asked["sensitivity"] is not None
        placed = query is None or (kind in (*ADDED, "mixture") and not asked.get("adjacency") and not stated)
        listed = placed and all(a != b for a, b in mechanism.get("adjacent") or [(0, 1)]) and mechanism.get("adjacent") != []
        wide = {"approximate": 2, "renyi": 2}.get(mechanism.get("measure"), 1)
        need(kind not in ("guarantee", "filter") or all(len(row) == wide for row in mechanism["rows"]), "a guarantee of no known form")
        free = mechanism.get("neighbours") not in ("increasing", "decreasing") or (asked is claim and "order" not in told)
        need(listed and free and not (stated and kind in (*COMBINATORS, "table", "kary_response", "guarantee")), "what is asked of a part")
    return claim


def domain(data):
    """The values of a parameter."""
    lower, upper = ends = [None if data[key] is None else rational(data[key]) for key in ("lower", "upper")]
    need([str(end) for end in ends] == [str(data[key]) for key in ("lower", "upper")], "an end is not in its one writing")
    odd = any(data[key] and (data[f"{key}_open"] or "/" in data[key]) for key in ("lower", "upper"))
    sure(not (data["integer"] and odd), "integers whose interval is open, or does not end at them")
    sure(None in (lower, upper) or lower < upper, "a domain of at most one value")
    return lower, upper, data["lower_open"], data["upper_open"], data["integer"]
