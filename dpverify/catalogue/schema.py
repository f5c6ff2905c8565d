"""What the JSON Schemas of claim files and certificates say of kinds, from the declarations of these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields as fields_of
from fractions import Fraction
from types import NoneType
from typing import Any, Final, get_args, get_origin, get_type_hints

from dpverify.catalogue import shapes
from dpverify.catalogue.kinds import BUILTIN, IN_FILES, KINDS, STARTERS, WHAT, is_combinator
from dpverify.catalogue.kinds.fields import BOUNDS, CANDIDATES, NORM, OF_A_PART, PART, QUERY, TIMES, Field
from dpverify.catalogue.kinds.kind import Builtin, Kind, Sensitivity
from dpverify.catalogue.kinds.named import BUILTINS, given
from dpverify.catalogue.values import BODIES, SCHEMES
from dpverify.trusted.kernel.expr import Expr
from dpverify.trusted.kernel.model import (
    LEFT_OUT,
    MEASURES,
    Answering,
    Branch,
    Drawn,
    Exponential,
    Guard,
    Matrix,
    Named,
    Norm,
    OnLine,
    Part,
    Shape,
    Space,
    Summand,
    Table,
    kind_name,
)

Schema = dict[str, Any]
_RANGED: Final = {"additionalProperties": {"type": ["number", "string"]}}


def claim_file(schema: Mapping[str, Any]) -> Schema:
    """The schema of claim files, with what is derived put in its place."""
    definitions = {name: part for name, part in schema["definitions"].items() if not name.startswith(("kind_", "builtin_"))}
    definitions["builtin_parameters"] = schema["definitions"]["builtin_parameters"]
    definitions["keys"] = {**definitions["keys"], "properties": _keys(definitions["keys"]["properties"])}
    of_a_kind = {"required": ["kind"], "allOf": [_if("kind", name, f"kind_{name}") for name in STARTERS]}
    definitions["kind"] = {**definitions["kind"], "else": {**definitions["kind"]["else"], "else": of_a_kind}}
    combinators = [name for name, kind in IN_FILES.items() if is_combinator(kind)]
    timed = [name for name, kind in IN_FILES.items() if any(field.name == TIMES.name for field in kind.fields)]
    definitions["mechanism"] = {
        **definitions["mechanism"],
        "allOf": [
            {"$ref": "#/definitions/keys"},
            {"$ref": "#/definitions/kind"},
            definitions["mechanism"]["allOf"][2],
            {**_is(timed), "else": {"propertyNames": {"not": {"enum": ["times"]}}}},
            {**_is(combinators), "else": {"propertyNames": {"not": {"enum": ["adjacency"]}}}},
        ],
    }
    definitions["shape"] = shapes.schema()
    for name in STARTERS:
        definitions[f"kind_{name}"] = _builtin_kind() if name == BUILTIN else _kind(KINDS[name])
    for name, builtin in BUILTINS.items():
        definitions[f"builtin_{name}"] = _builtin(builtin)
    return {**schema, **_claims(), "definitions": definitions}


def certificate(schema: Mapping[str, Any]) -> Schema:
    """The schema of certificates, with what is derived put in its place."""
    definitions = {name: part for name, part in schema["definitions"].items() if not name.startswith("kind_")}
    definitions["shape"] = {
        "type": "object",
        "required": [field.name for field in fields_of(Shape)],
        "additionalProperties": False,
        "properties": {
            "kind": {"enum": [*shapes.SHAPES, "infinite_tree"]},
            "numbers": {"type": "array", "items": _FORMS[Expr]},
            "norm": _FORMS[Norm],
            "matrix": {"anyOf": [_FORMS[Matrix], {"const": []}]},
            "parts": {"type": "array", "items": {"$ref": "#/definitions/shape"}},
        },
    }
    definitions |= _tables(*_HELD)
    definitions["mechanism"] = {
        **definitions["mechanism"],
        "properties": {"kind": {"enum": list(KINDS)}},
        "allOf": [{"if": {"properties": {"kind": {"const": name}}}, "then": {"$ref": f"#/definitions/kind_{name}"}} for name in KINDS],
    }
    for name, kind in KINDS.items():
        types = get_type_hints(kind.model)
        held = [field.name for field in fields_of(kind.model)]
        definitions[f"kind_{name}"] = {
            "type": "object",
            "required": ["kind", *(key for key in held if key not in LEFT_OUT)],
            "additionalProperties": False,
            "properties": {"kind": True, **{key: _WORDS.get(key) or _encoded(types[key]) for key in held}},
        }
    return {**schema, "definitions": definitions}


# -- claim files: every key of every kind ----------------------------------------------------------------------


def _keys(written: Mapping[str, Any]) -> Schema:
    """Every key for completion. `use`, `program` and `parameters` are as they are written."""
    kinds = {"description": written["kind"]["description"], **_words(WHAT)}
    names = {"description": written["name"]["description"], **_words({name: builtin.what for name, builtin in BUILTINS.items()})}
    as_written = {key: written[key] for key in ("use", "program", "parameters")}
    return {"kind": kinds, **as_written, "name": names, **dict(_described())}


def _words(said: Mapping[str, str]) -> Schema:
    return {"enum": list(said), "x-taplo": {"docs": {"enumValues": list(said.values())}}}


def _described() -> Iterator[tuple[str, Schema]]:
    every = [field for kind in IN_FILES.values() for field in kind.fields]
    every += [field for builtin in BUILTINS.values() for field in builtin.fields]
    for field in (*every, *OF_A_PART):
        if field.value in (PART, NORM):  # described where they are defined
            yield field.name, dict(field.value.schema)
            continue
        yield field.name, _one(field.meaning, field.value.schema, field.examples)
        if field.log:
            yield f"log_{field.name}", _one(field.log, field.value.schema, field.log_examples)


def _one(meaning: str, schema: Mapping[str, Any], examples: tuple[Any, ...]) -> Schema:
    return {"description": meaning, **schema, **({"examples": list(examples)} if examples else {})}


# -- claim files: which keys a kind has --------------------------------------------------------------------------


def _kind(kind: Kind) -> Schema:
    bound = list(dict.fromkeys((*kind.variables, *(symbol for symbols in kind.symbols.values() for symbol in symbols))))
    parameters: Schema = {"$ref": "#/definitions/parameters"}
    if bound:
        parameters = {"allOf": [parameters, {"propertyNames": {"not": {"enum": bound}}}]}
    groups = [*kind.one_of, *(field.keys for field in kind.fields if field.log and not any(field.name in group for group in kind.one_of))]
    choices = [{"oneOf": [{"required": [key]} for key in group]} for group in groups]
    required = [field.name for field in kind.fields if field.required and not field.log]
    return {
        "properties": {
            "kind": True,
            "parameters": parameters,
            **{key: True for field in kind.fields for key in field.keys},
            **_of_a_part(kind.sensitivity is Sensitivity.ANSWER),
        },
        "additionalProperties": False,
        **({"required": required} if required else {}),
        **kind.conditions,
        **(choices[0] if len(choices) == 1 else {"allOf": choices} if choices else {}),
    }


def _of_a_part(answers_queries: bool) -> Schema:
    return {field.name: True for field in OF_A_PART if answers_queries or field is not QUERY}


def _builtin_kind() -> Schema:
    return {
        "required": ["name"],
        "properties": {"parameters": {"$ref": "#/definitions/builtin_parameters"}},
        "allOf": [_if("name", name, f"builtin_{name}") for name in BUILTINS],
    }


def _builtin(builtin: Builtin) -> Schema:
    bodies = {field.name for field in builtin.fields} >= set(BODIES)
    numbers = [field for field in builtin.fields if field.name not in BODIES]
    return {
        "description": builtin.what,
        "properties": {
            "kind": True,
            "name": True,
            "parameters": {"properties": {body: {"type": "array"} for body in BODIES}} if bodies else _RANGED,
            **{field.name: True for field in builtin.fields},
            **_of_a_part(builtin.answers_queries),
        },
        "additionalProperties": False,
        "allOf": [
            *(given(field.name) for field in numbers if field.required),
            *(_once(field) for field in numbers),
            *builtin.conditions,
        ],
    }


def _once(field: Field) -> Schema:
    """A key that stands in the table and among the parameters names the parameter."""
    both = [{"required": [field.name]}, {"properties": {"parameters": {"required": [field.name]}}, "required": ["parameters"]}]
    return {"if": {"allOf": both}, "then": {"properties": {field.name: {"const": field.name}}}}


def _if(key: str, word: str, definition: str) -> Schema:
    return {**_is([word], key), "then": {"$ref": f"#/definitions/{definition}"}}


def _is(words: Iterable[str], key: str = "kind") -> Schema:
    choices = list(words)
    return {"if": {"properties": {key: {"const": choices[0]} if len(choices) == 1 else {"enum": choices}}, "required": [key]}}


# -- claim files: what a claim says of the kind ------------------------------------------------------------------


def _claims() -> Schema:
    """Which claims need a sensitivity, or a query, and which may have none."""

    def items(condition: Schema) -> Schema:
        return {"claim": {"type": "array", "items": condition}}

    answering = [name for name, kind in IN_FILES.items() if kind.sensitivity is Sensitivity.ANSWER]
    needing = [name for name, kind in IN_FILES.items() if kind.sensitivity is Sensitivity.NEEDED]
    compared = [name for name, kind in IN_FILES.items() if BOUNDS in kind.fields]
    asking = [
        {"properties": {"kind": {"enum": needing}}, "required": ["kind"]},
        {"properties": {"kind": {"enum": compared}}, "required": ["kind"], "not": {"required": ["bounds"]}},
        {"properties": {"kind": {"enum": [name for name in IN_FILES if name not in compared]}}, "required": ["kind", CANDIDATES.name]},
    ]
    named = [name for name, builtin in BUILTINS.items() if builtin.answers_queries]
    either = [
        {"properties": {"kind": {"enum": answering}}, "required": ["kind"]},
        {"properties": {"kind": {"const": BUILTIN}, "name": {"enum": named}}, "required": ["kind", "name"]},
    ]
    space, asked = kind_name(Space), (*get_args(Answering), Table, Exponential, Space)
    never = [name for name, kind in IN_FILES.items() if kind.model not in asked and name != BUILTIN]
    return {
        "allOf": [
            {
                "if": {"properties": {"mechanism": {"properties": {"kind": {"const": space}}, "required": ["kind"]}}},
                "then": {"properties": items({"required": ["epsilon"]})},
            },
            {
                "if": {"properties": {"mechanism": {"properties": {"kind": {"enum": never}}, "required": ["kind"]}}},
                "then": {"properties": items({"propertyNames": {"not": {"const": "within"}}})},
            },
        ],
        "if": {"required": ["mechanism"], "properties": {"mechanism": {"anyOf": either}}},
        "then": {"properties": items({"anyOf": [{"required": [key]} for key in ("sensitivity", "query", "within")]})},
        "else": {
            "if": {"properties": {"mechanism": {"anyOf": [{"required": ["use"]}, {"required": ["program"]}]}}},
            "else": {
                "properties": items({"propertyNames": {"not": {"const": "query"}}}),
                "if": {"properties": {"mechanism": {"anyOf": asking}}},
                "then": {
                    "if": {"properties": {"mechanism": {"required": ["difference"]}}},
                    "else": {"properties": items({"anyOf": [{"required": ["sensitivity"]}, {"required": ["difference"]}]})},
                },
            },
        },
    }


# -- certificates ------------------------------------------------------------------------------------------------

_HELD: Final = (Named, Drawn, Guard, Branch, Summand)
_WORDS: Final[Mapping[str, Schema]] = {"measure": {"enum": list(MEASURES)}, "scheme": {"enum": list(SCHEMES)}}
"""Texts of which there are few."""
_FORMS: Final[Mapping[Any, Schema]] = {
    Expr: {"$ref": "#/definitions/expression"},
    Expr | None: {"$ref": "#/definitions/optional_expression"},
    Norm: {"$ref": "#/definitions/norm"},
    Part: {"$ref": "#/definitions/part"},
    Shape: {"$ref": "#/definitions/shape"},
    Matrix: {"$ref": "#/definitions/matrix"},
    Fraction: {"$ref": "#/definitions/fraction"},
    tuple[Part, ...]: {"$ref": "#/definitions/parts"},
    str: {"type": "string"},
    OnLine: {"$ref": "#/definitions/mechanism"},
    OnLine | None: {"anyOf": [{"type": "null"}, {"$ref": "#/definitions/mechanism"}]},
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": 0},
}


def _tables(*models: type) -> dict[str, Schema]:
    """The forms of what a mechanism holds that is a table of its own."""
    return {
        model.__name__.lower(): {
            "type": "object",
            "required": [field.name for field in fields_of(model)],
            "additionalProperties": False,
            "properties": {name: _encoded(wanted) for name, wanted in get_type_hints(model).items()},
        }
        for model in models
    }



def _encoded(wanted: Any) -> Schema:
    """The form of a value of this type in a certificate."""
    if wanted in _FORMS:
        return _FORMS[wanted]
    if wanted in _HELD:
        return {"$ref": f"#/definitions/{wanted.__name__.lower()}"}
    items = get_args(wanted)
    if NoneType in items:
        return {"anyOf": [{"type": "null"}, _encoded(items[0])]}
    assert get_origin(wanted) is tuple
    if items[-1] is Ellipsis:
        return {"type": "array", "items": _encoded(items[0])}
    forms = [_encoded(item) for item in items]
    return {"type": "array", "minItems": len(items), "maxItems": len(items), "items": forms[0] if len({*items}) == 1 else forms}
