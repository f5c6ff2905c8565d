"""What a declaration of a kind of mechanism says: everything that files, Python and people are told of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from dpverify.catalogue.kinds.fields import Field
from dpverify.catalogue.toml import Fields
from dpverify.trusted.kernel.expr import Expr
from dpverify.trusted.kernel.model import VARIABLES, Domain, Mechanism, kind_name

if TYPE_CHECKING:
    from dpverify.catalogue.formulas.boxes import Box

Values = Mapping[str, Any]
"""What stands under the keys of a kind, read; the default under those that are left out."""


class Sensitivity(Enum):
    """What a claim, or a part, says of how far neighbours are apart."""

    ANSWER = "needed, or a query that gives it"
    NEEDED = "needed"
    ONE = "1 where it is left out"
    OPTIONAL = "as it is stated, or not"
    NONE = "the mechanism itself says it"


class Starter(NamedTuple):
    """What `dpverify new` writes: TOML with every key explained, which verifies at once.

    brief: the kind in a sentence, for choosing. mechanism, claim, delta, audit: the lines of these tables. declared: whether there is
    something to verify. sampler: the function `sample` in Python, empty where it is a template (project/templates/samplers/KIND.py.jinja).
    no_sampler: why none can be written, empty where there is one.
    """

    brief: str
    mechanism: str
    claim: str = ""
    delta: str = ""
    audit: str = ""
    declared: bool = True
    sampler: str = ""
    no_sampler: str = ""


def made(kind: Kind, _: Fields, values: Values) -> Mechanism | None:
    """The mechanism of the values under the keys of the model's own fields; None where one that is needed is missing."""
    model: Callable[..., Mechanism] = kind.model
    missing = any(values[given.name] is None for given in kind.fields if given.required)
    return None if missing else model(**values)


def itself(mechanism: Mechanism) -> Mechanism:
    """Of a kind whose density audits and pictures evaluate, and of one that has none."""
    return mechanism


def law(place: str) -> Callable[..., Iterator[Box]]:
    """The formula that a function of catalogue/formulas writes, such as "noise.radial". Typesetting is loaded when it is called."""
    file, _, name = place.partition(".")

    def written(*given: Any) -> Iterator[Box]:
        boxes: Iterator[Box] = getattr(import_module(f"dpverify.catalogue.formulas.{file}"), name)(*given)
        return boxes

    return written


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of mechanism.

    model: its class; the name follows from that. what: one sentence. fields: its keys, in the order in which people meet them.
    one_of: groups of keys of which exactly one is given. conditions: what else a JSON Schema says of which keys go together.
    build: the mechanism of what has been read, with faults for what does not fit.
    faults: what is wrong with one whose parameters have been put in, beside what the core says of it.
    formula: its law for people, and what that holds under; of a combinator: what it does with its parts, whose names are given.
    plain: the same law as a kind whose density audits and pictures evaluate.
    neighbours: in words, with the sensitivity. sensitivity: what a claim says of it; instead: why it says nothing.
    starter: what `dpverify new` writes; None for a kind that files know by the names of builtins alone.
    arguments: their order in Python, where it is not that of the keys. variables: the argument in Python that says which symbol stands
    for a variable of the density.
    """

    model: type
    what: str
    fields: tuple[Field, ...] = ()
    one_of: tuple[tuple[str, ...], ...] = ()
    conditions: Mapping[str, Any] = field(default_factory=dict)
    build: Callable[[Kind, Fields, Values], Mechanism | None] = made
    faults: Callable[[Any, Mapping[str, Domain]], Iterator[str]] = lambda mechanism, domains: iter(())
    formula: Callable[..., Iterator[Box]]
    plain: Callable[[Any], Mechanism]
    neighbours: Callable[[Any, str], str] = lambda mechanism, moved: ""
    sensitivity: Sensitivity = Sensitivity.OPTIONAL
    instead: str = ""
    starter: Starter | None = None
    arguments: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its name in claim files and certificates."""
        return kind_name(self.model)

    @property
    def symbols(self) -> Mapping[str, tuple[str, ...]]:
        """The variables of each expression that arguments name."""
        known = {name: tuple(one for one in names if one in self.variables) for name, names in VARIABLES.get(self.name, {}).items()}
        return {name: names for name, names in known.items() if names}


class Builtin(NamedTuple):
    """A name for a model.

    build: the mechanism of its parameters. answers_queries: whether it is additive noise. note: what one should know of it, in a word or
    two. conditions: what else a JSON Schema says of which keys go together.
    """

    name: str
    what: str
    fields: tuple[Field, ...]
    build: Callable[[Mapping[str, Expr]], Mechanism]
    answers_queries: bool = True
    note: str = ""
    conditions: tuple[Mapping[str, Any], ...] = ()
