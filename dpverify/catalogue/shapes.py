"""Metric spaces in claim files: one table for each kind, with a key for everything that it is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from dpverify.catalogue.toml import Fault, meant, show
from dpverify.catalogue.values import read_choice, read_expression, read_matrix, read_norm, read_number
from dpverify.trusted.kernel.errors import ExprError
from dpverify.trusted.kernel.expr import Expr, num
from dpverify.trusted.kernel.model import L2, LINF, Shape

Reader = Callable[[Any], Any]


def _numbers(value: Any) -> tuple[Expr, ...]:
    if not isinstance(value, list) or not value:
        raise Fault("is not a list of numbers.")
    return tuple(map(read_number, value))


def _branching(value: Any) -> tuple[Expr | None, ...]:
    """How many children nodes have, the last again and again; None for infinitely many."""
    listed = value if isinstance(value, list) else [value]
    if not listed:
        raise Fault('is empty. Write a number, an expression in the depth k, or a list, which may end with "inf".')
    if "inf" in listed[:-1]:
        raise Fault('has "inf" before its end. A node with infinitely many children decides: end the list with it.')
    return tuple(None if item == "inf" else read_expression(item) for item in listed)


def _parts(value: Any) -> tuple[Shape, ...]:
    if not isinstance(value, list) or not value:
        raise Fault("is not a list of spaces, each a table with its kind.")
    return tuple(map(read_shape, value))


_EXPRESSION: Final = {"type": ["number", "string"]}
_LIST: Final = {"type": "array", "minItems": 1, "items": _EXPRESSION}
_MATRIX: Final = {"type": "array", "minItems": 1, "items": {"$ref": "#/definitions/row"}}
_NORM: Final = {"$ref": "#/definitions/norm"}
_FORMS: Final[Mapping[Reader, Mapping[str, Any]]] = {
    read_number: _EXPRESSION,
    read_expression: _EXPRESSION,
    _numbers: _LIST,
    _branching: {"anyOf": [_EXPRESSION, _LIST]},
    read_matrix: _MATRIX,
    read_norm: _NORM,
    _parts: {"type": "array", "minItems": 1, "items": {"$ref": "#/definitions/shape"}},
}


class Form(NamedTuple):
    """A kind of space in files. keys: what it is made of, and how each is read; defaults: of those that may be left out."""

    what: str
    keys: Mapping[str, Reader]
    build: Callable[..., Shape]
    defaults: Mapping[str, Any]


def _form(what: str, keys: Mapping[str, Reader], build: Callable[..., Shape], **defaults: Any) -> Form:
    return Form(what, keys, build, defaults)


def _plain(kind: str, *names: str) -> Callable[..., Shape]:
    """Its numbers in the order of the names; a norm beside them, where it has one."""

    def build(**values: Any) -> Shape:
        return Shape(kind, tuple(values[name] for name in names), values.get("norm", L2))

    return build


def _tree(scale: Expr, ratio: Expr, branching: tuple[Expr | None, ...]) -> Shape:
    finite = tuple(count for count in branching if count is not None)
    return Shape("tree" if len(finite) == len(branching) else "infinite_tree", (scale, ratio, *finite))


SHAPES: Final[Mapping[str, Form]] = {
    "points": _form(
        "Finitely many points, by the matrix of their distances.",
        {"distances": read_matrix},
        lambda distances: Shape("points", matrix=distances),
    ),
    "box": _form(
        "A box in R^d, by its sides.",
        {"sides": _numbers, "norm": read_norm},
        lambda sides, norm: Shape("box", sides, norm),
        norm=L2,
    ),
    "ball": _form(
        "A ball of a norm on R^d.",
        {"radius": read_number, "dimension": read_number, "norm": read_norm},
        _plain("ball", "radius", "dimension"),
        norm=L2,
    ),
    "sphere": _form(
        "A sphere of a norm on R^d, with the distance of the norm.",
        {"radius": read_number, "dimension": read_number, "norm": read_norm},
        _plain("sphere", "radius", "dimension"),
        norm=L2,
    ),
    "hull": _form(
        "A convex polytope in R^d, by its corners.",
        {"corners": read_matrix, "norm": read_norm},
        lambda corners, norm: Shape("hull", norm=norm, matrix=corners),
        norm=L2,
    ),
    "tree": _form(
        "The leaves of an infinite tree: leaves that part at depth k = 0, 1, ... are scale * ratio**k apart. branching is how many "
        'children a node has, an expression in its depth k or a list of which the last holds on; "inf" ends a list with infinitely many.',
        {"scale": read_number, "ratio": read_number, "branching": _branching},
        _tree,
        scale=num(1),
    ),
    "cantor": _form(
        "A Cantor set: an interval of a length, of which two pieces at its ends are kept, each a share of it (the ratio), and so on.",
        {"length": read_number, "ratio": read_number},
        _plain("cantor", "length", "ratio"),
        length=num(1),
    ),
    "ellipsoid": _form(
        "Sequences with sum (x_k/a_k)^2 <= 1, k = 1, 2, ..., and the distance of square-summable ones: axes is a_k, an expression in k.",
        {"axes": read_expression},
        _plain("ellipsoid", "axes"),
    ),
    "hoelder": _form(
        "Functions on [0, 1]^dimension with |f| <= bound and |f(s) - f(t)| <= constant * |s - t|**exponent in the maximum norm, and the "
        "uniform distance; Lipschitz functions at exponent 1.",
        {"dimension": read_number, "constant": read_number, "exponent": read_number, "bound": read_number},
        _plain("hoelder", "dimension", "constant", "exponent", "bound"),
        dimension=num(1),
        exponent=num(1),
    ),
    "real": _form(
        "All of R^d, with a norm.",
        {"dimension": read_number, "norm": read_norm},
        _plain("real", "dimension"),
        dimension=num(1),
        norm=L2,
    ),
    "integers": _form("All integers, with the distance |i - j|.", {}, _plain("integers")),
    "discrete": _form(
        "Infinitely many points, any two of them at the same distance.",
        {"distance": read_number},
        _plain("discrete", "distance"),
        distance=num(1),
    ),
    "net": _form(
        "A space of which only this is known, and assumed: for every radius r > 0 so many points of it, an expression in r, form a net.",
        {"size": read_expression},
        _plain("net", "size"),
    ),
    "separated": _form(
        "A space of which only this is known, and assumed: infinitely many points of it are at least so far apart, any two of them.",
        {"distance": read_number},
        _plain("separated", "distance"),
    ),
    "product": _form(
        "Tuples with a point of each part; the distance is a norm of those in the parts, the greatest of them where it is left out.",
        {"parts": _parts, "norm": read_norm},
        lambda parts, norm: Shape("product", norm=norm, parts=parts),
        norm=LINF,
    ),
}
"""Every kind of space, by its name in files."""


def read_shape(value: Any) -> Shape:
    """A space from its table; in Python, as it is."""
    if isinstance(value, Shape):
        return value
    if not isinstance(value, dict) or "kind" not in value:
        raise Fault(f"is not a space: a table with its kind, one of {', '.join(SHAPES)}.")
    form = SHAPES[read_choice(tuple(SHAPES))(value["kind"])]
    for key in value:
        if key not in (*form.keys, "kind"):
            raise Fault(f"has the unknown key {show(key)}.{meant(key, form.keys)}")
    read: dict[str, Any] = {}
    for key, reader in form.keys.items():
        if key in value:
            try:
                read[key] = reader(value[key])
            except (Fault, ExprError) as error:
                raise Fault(f"is wrong at {key}: it {error}") from error
        elif key in form.defaults:
            read[key] = form.defaults[key]
        else:
            raise Fault(f"lacks {key}.")
    return form.build(**read)


def changed(shape: Shape, change: Callable[[Expr], Expr]) -> Shape:
    """The space with its expressions changed."""
    parts = tuple(changed(part, change) for part in shape.parts)
    return replace(shape, numbers=tuple(map(change, shape.numbers)), parts=parts)


def schema() -> dict[str, Any]:
    """The form of a space in JSON: one of the tables."""
    return {
        "description": "A metric space: its kind, and what that is made of.",
        "oneOf": [
            {
                "description": form.what,
                "type": "object",
                "required": ["kind", *(key for key in form.keys if key not in form.defaults)],
                "additionalProperties": False,
                "properties": {"kind": {"const": name}, **{key: _FORMS[reader] for key, reader in form.keys.items()}},
            }
            for name, form in SHAPES.items()
        ],
    }
