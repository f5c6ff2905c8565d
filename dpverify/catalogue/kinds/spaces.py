"""Metric spaces of answers: not one mechanism, but any that answers with their points."""

from __future__ import annotations

from typing import Any, Final

from dpverify.catalogue.kinds import fields
from dpverify.catalogue.kinds.kind import Kind, Sensitivity, Starter, Values, itself, law
from dpverify.catalogue.shapes import SHAPES, read_shape
from dpverify.catalogue.toml import Fault, Fields
from dpverify.catalogue.values import read_choice, read_matrix
from dpverify.trusted.kernel.expr import ONE
from dpverify.trusted.kernel.model import Space

_WORDS: Final = ("answers", "unbounded")


def _read_truth(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list) or not value or any(type(i) is not int or i < 0 for i in value):
        raise Fault("is not a list of numbers of points, counted from 0.")
    return tuple(value)


SHAPE: Final = fields.Field(
    "shape",
    fields.Value(read_shape, {"$ref": "#/definitions/shape"}, exact=False),
    f"The metric space of the answers: a table with its kind, one of {', '.join(SHAPES)}, and what that is made of.",
    examples=({"kind": "box", "sides": [1, 1], "norm": "linf"},),
)
LIPSCHITZ: Final = fields.Field(
    "lipschitz",
    fields.NUMBER,
    fields.numbers("The true answers of databases at a distance t are at most lipschitz * t apart. 1 where it is left out."),
    default=ONE,
)
DATABASES: Final = fields.Field(
    "databases",
    fields.Value(read_choice(_WORDS), {"enum": list(_WORDS)}, exact=False),
    'How far databases are apart: "answers", one for each answer and the distance that of answers over lipschitz; "unbounded", nothing is '
    "known. Give this, diameter, or between.",
    default=None,
)
DIAMETER: Final = fields.Field(
    "diameter",
    fields.NUMBER,
    fields.numbers("Any two databases are at most so far apart. Give this, databases, or between."),
    default=None,
)
BETWEEN: Final = fields.Field(
    "between",
    fields.Value(read_matrix, fields.ROWS.schema),
    "The distances between databases, finitely many, for a space of points. Give this, databases, or diameter.",
    default=None,
)
TRUTH: Final = fields.Field(
    "truth",
    fields.Value(_read_truth, {"type": "array", "minItems": 1, "items": {"type": "integer", "minimum": 0}}, exact=False),
    "With between: the number of the true answer of each database, counted from 0; each its own where it is left out.",
    default=None,
)
TABLE: Final = fields.Field(
    "table",
    fields.Value(read_matrix, fields.ROWS.schema),
    "For a space of points: one mechanism alone, the probabilities of all answers, a row for each database. Give this, a rate, or neither, "
    "which is to ask of any mechanism.",
    default=None,
)
RATE: Final = fields.Field(
    "rate",
    fields.NUMBER,
    "For a space of points: the exponential mechanism alone, probabilities proportional to exp(-rate * distance to the true answer). For a "
    "box, a ball, a hull or all of R^d: the one whose density is that.",
    default=None,
)


def _space(_: Kind, table: Fields, values: Values) -> Space | None:
    shape, lipschitz, between, truth = (values[key] for key in ("shape", "lipschitz", "between", "truth"))
    if truth is not None and between is None:
        table.fault("truth goes with between, the distances of the databases whose answers it names.")
    if shape is None:
        return None
    one: dict[str, Any] = {"table": values["table"] or (), "rate": values["rate"]}
    if values["diameter"] is not None:
        return Space(shape, lipschitz, "bounded", values["diameter"], **one)
    if between is not None:
        return Space(shape, lipschitz, "listed", None, between, tuple(range(len(between))) if truth is None else truth, **one)
    return None if values["databases"] is None else Space(shape, lipschitz, values["databases"], **one)


def _databases(space: Space, _: str) -> str:
    return {
        "bounded": "databases at any distance; epsilon is per unit of it",
        "unbounded": "databases at any distance; epsilon is per unit of it",
        "answers": "answers at any distance; epsilon is per unit of it",
        "listed": "the listed databases; epsilon is per unit of their distance",
    }[space.databases]


SPACE = Kind(
    model=Space,
    what="Not one mechanism but any: answers in a metric space, to be near the truth. What is the least epsilon of such a mechanism?",
    fields=(SHAPE, LIPSCHITZ, DATABASES, DIAMETER, BETWEEN, TRUTH, TABLE, RATE),
    one_of=(("databases", "diameter", "between"),),
    conditions={"dependencies": {"truth": ["between"]}},
    build=_space,
    formula=law("spaces.space"),
    plain=itself,
    neighbours=_databases,
    sensitivity=Sensitivity.NONE,
    instead="how far answers move with databases is the mechanism's `lipschitz`. Leave sensitivity out.",
    starter=Starter(
        brief="any mechanism with answers in a metric space: how private can answers near the truth be?",
        mechanism="""\
kind = "space"
# Where the answers are: here three points in a row; or a box, a ball, a hull, a tree, an ellipsoid of sequences, ...
shape = { kind = "points", distances = [[0, 1, 2], [1, 0, 1], [2, 1, 0]] }
lipschitz = 1            # the true answers of databases at a distance t are at most lipschitz * t apart
databases = "answers"    # one for each answer; or "unbounded", or diameter = what databases are at most apart, or between = [[...]]
""",
        claim="""\
within = "1/2"       # answers are to be within this of the truth,
beta = "1/4"         # but with this probability, on every database""",
        no_sampler="a space is no mechanism by itself: it says what any mechanism can do.",
    ),
)
