"""Streams: answers that come one after the other, and a list of branches that says what each step tells."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from dpverify.catalogue.kinds import fields
from dpverify.catalogue.kinds.kind import Kind, Sensitivity, Starter, Values, itself, law
from dpverify.catalogue.kinds.selection import kept_within, moves_of
from dpverify.catalogue.toml import Fault, Fields, show
from dpverify.catalogue.values import read_choice, read_expression
from dpverify.trusted.claims.selections import TOGETHER
from dpverify.trusted.kernel.expr import sub
from dpverify.trusted.kernel.fitting import unseen
from dpverify.trusted.kernel.model import Branch, Drawn, Guard, Named, Stream

_TEXT: Final = {"type": "string", "minLength": 1}
_NUMBER: Final = {"type": ["number", "string"]}
_KEYS: Final = ("when", "emit", "tell", "set", "count")
_COMPARISON: Final = re.compile(r"(.+?)(>=|<=|>|<)(.+)", re.DOTALL)


def _listed(read: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    """A reader of a list, or of one entry by itself."""
    return lambda value: tuple(map(read, value if isinstance(value, list) else [value]))


def _read_name(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z_]\w*", value, re.ASCII):
        raise Fault(f"holds {show(value)}, which is no name. Use letters, digits and _.")
    return value


def _read_named(value: Any) -> tuple[Named, ...]:
    """A table of names and expressions."""
    if not isinstance(value, dict):
        raise Fault("is not a table of names and expressions.")
    return tuple(Named(_read_name(name), read_expression(text)) for name, text in value.items())


def _read_guard(value: Any) -> Guard:
    """A comparison of two expressions."""
    match = _COMPARISON.fullmatch(value) if isinstance(value, str) else None
    if match is None or _COMPARISON.fullmatch(match[3]) is not None:
        raise Fault(f'holds {show(value)}, which is no comparison. Write two expressions with >=, >, <= or < between them: "q + nu >= t".')
    left, relation, right = read_expression(match[1].strip()), match[2], read_expression(match[3].strip())
    return Guard(sub(left, right) if ">" in relation else sub(right, left), strict="=" not in relation)


def _read_word(value: Any) -> str:
    if not isinstance(value, str) or unseen(value) or not 0 < len(value.strip()) <= 40:
        raise Fault(f"has emit = {show(value)}, which is no short word.")
    return value


def _read_branch(value: Any) -> Branch:
    if not isinstance(value, dict):
        raise Fault("is not a list of tables, one for each branch.")
    if unknown := [key for key in value if key not in _KEYS]:
        raise Fault(f"has the unknown key {show(unknown[0])}. A branch has {', '.join(_KEYS)}.")
    return Branch(
        _listed(_read_guard)(value.get("when", [])),
        _read_word(value["emit"]) if "emit" in value else "",
        _listed(read_expression)(value.get("tell", [])),
        _read_named(value.get("set", {})),
        _read_named(value.get("count", {})),
    )


def _read_branches(value: Any) -> tuple[Branch, ...]:
    if not isinstance(value, list) or not value:
        raise Fault("is not a list of tables, one for each branch.")
    return tuple(map(_read_branch, value))


def _many(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"anyOf": [items, {"type": "array", "items": items}]}


_NAMED_SCHEMA: Final = {"type": "object", "additionalProperties": _NUMBER}
_BRANCHES: Final = {
    "type": "array",
    "minItems": 1,
    "items": {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "when": _many(_TEXT),
            "emit": _TEXT,
            "tell": _many(_NUMBER),
            "set": _NAMED_SCHEMA,
            "count": _NAMED_SCHEMA,
        },
    },
}

ANSWERS: Final = fields.Field(
    "answers",
    fields.Value(_listed(_read_name), _many(_TEXT), exact=False),
    'The names of the numbers that each step reads of the data. ["q"] where it is left out.',
    default=("q",),
)
ONCE: Final = fields.Field(
    "once",
    fields.NOISES,
    "Noises that are drawn once, at the start: a table of names, each with a table of noise on one number.",
    default={},
)
FRESH: Final = fields.Field(
    "fresh",
    fields.NOISES,
    "Noises that are drawn anew in each step: a table of names, each with a table of noise on one number.",
    default={},
)
STATE: Final = fields.Field(
    "state",
    fields.Value(_read_named, _NAMED_SCHEMA, exact=False),
    "Numbers that are kept from step to step, with their first values: a table of names and expressions in the noises of `once`.",
    default=(),
)
LIMITS: Final = fields.Field(
    "limits",
    fields.Value(_read_named, _NAMED_SCHEMA, exact=False),
    "Counters, which start at 0, with their limits: the run ends when one of them is at least its limit.",
    default=(),
)
STEPS: Final = fields.Field(
    "step",
    fields.Value(_read_branches, _BRANCHES, exact=False),
    "What a step does, a list of branches: the first is taken of which all comparisons `when` hold. `emit` is the word and `tell` the "
    "numbers that are told, `set` the new values of the state, `count` what counters grow by. The last branch has no `when`.",
)
MOST_STEPS: Final = fields.Field(
    "queries",
    fields.NUMBER,
    "How many steps there are at most: an integer or an expression in parameters. A stream has no limit where it is left out.",
    default=None,
)
NEIGHBOURS: Final = fields.Field(
    "neighbours",
    fields.Value(read_choice(TOGETHER[Stream]), {"enum": list(TOGETHER[Stream])}, exact=False),
    fields.NEIGHBOURS.meaning
    + ' Of a stream "hull": the differences of the answers of each step are in the hull of the rows of `hull`, or all in that of their '
    "opposites.",
    default="all",
)
def _neighbours(mechanism: Stream, moved: str) -> str:
    return "; ".join((moves_of(mechanism, moved, "answers whose differences in each step"), *kept_within(mechanism)))


def _stream(_: Kind, table: Fields, values: Values) -> Stream | None:
    if values["step"] is None or None in (*values["once"].values(), *values["fresh"].values()):
        return None
    once, fresh = (tuple(Drawn(name, noise) for name, noise in values[key].items()) for key in ("once", "fresh"))
    given = (values[key] for key in ("state", "limits", "step", "queries", "neighbours", "hull", "bounds", "whole_answers"))
    from dpverify.catalogue.kinds.branches import in_order  # of few files

    return in_order(Stream(values["answers"], once, fresh, *given))


STREAM = Kind(
    model=Stream,
    what="A stream: answers one after the other, compared with noise, state and parameters; a list of branches says what each step tells.",
    fields=(ANSWERS, ONCE, FRESH, STATE, LIMITS, STEPS, MOST_STEPS, NEIGHBOURS, fields.HULL, fields.BOUNDS, fields.WHOLE_ANSWERS),
    build=_stream,
    formula=law("streams.stream"),
    plain=itself,
    neighbours=_neighbours,
    sensitivity=Sensitivity.OPTIONAL,
    starter=Starter(
        brief="any program that compares noisy answers step by step (sparse vectors and their kin).",
        mechanism="""\
kind = "stream"
once = { rho = { kind = "builtin", name = "laplace", scale = 2 } }    # drawn at the start
fresh = { nu = { kind = "builtin", name = "laplace", scale = 4 } }    # drawn in each step
state = { t = "rho" }           # what is kept, and its first value
limits = { found = 1 }          # counters: the run ends when one is at least its limit
neighbours = "all"              # each answer moves on its own; "monotone", "one", "increasing", "decreasing", "hull"

[[mechanism.step]]              # the first branch whose comparisons all hold
when = "q + nu >= t"            # q: the answer of the step
emit = "above"                  # the word that is told
tell = "q + nu - t"             # numbers that are told
count = { found = 1 }

[[mechanism.step]]              # what is done otherwise
emit = "below"
""",
        claim="sensitivity = 1      # neighbouring inputs move each answer by at most this",
        sampler="""\
def sample(data, size, rng):
    \"""How many of the answers `data` come before the first that is at least the threshold, after noise; one number for each output.\"""
    answers = np.asarray(data) + rng.laplace(0, 4, (size, len(data)))
    above = answers >= rng.laplace(0, 2, (size, 1))
    return np.where(above.any(axis=1), above.argmax(axis=1), len(data))
""",
        audit="pairs = [[[0, 0, 0, 1], [1, 1, 1, 0]]]    # neighbouring inputs: here lists of answers",
    ),
)
