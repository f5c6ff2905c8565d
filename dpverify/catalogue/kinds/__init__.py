"""The kinds of mechanisms: one declaration each, from which files, schemas, Python, the reference and formulas for people are made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any, Final

from dpverify.catalogue.checks import free_symbols, great_counts, words
from dpverify.catalogue.kinds import combinators, correlated, finite, named, noise, selection, smooth, spaces, stated, streams, sums
from dpverify.catalogue.kinds.fields import PART, PARTS, Field
from dpverify.catalogue.kinds.kind import Kind, Starter
from dpverify.catalogue.toml import Fault, Fields
from dpverify.catalogue.values import read_choice
from dpverify.trusted.kernel import model
from dpverify.trusted.kernel.expr import ONE, Expr, call
from dpverify.trusted.kernel.model import Claim, Domain, Mechanism, kind_of
from dpverify.trusted.kernel.well_formed import of_mechanism

FAMILIES: Final = (noise, sums, finite, selection, streams, correlated, smooth, stated, spaces, combinators)
KINDS: Final[Mapping[str, Kind]] = {kind.name: kind for family in FAMILIES for kind in vars(family).values() if isinstance(kind, Kind)}
"""Every kind by its name."""
if undeclared := model.KINDS.keys() ^ KINDS.keys():
    raise TypeError(f"these kinds are in the model or declared here, but not both: {', '.join(sorted(undeclared))}.")

BUILTIN: Final = "builtin"
IN_FILES: Final[Mapping[str, Kind]] = {name: kind for name, kind in KINDS.items() if kind.starter is not None}
"""The kinds that claim files name, but for `builtin`."""


_FIRST_KNOWN: Final = model.Compose, model.Subsample, model.NoisyMax, model.AboveThreshold, model.NoisyKeys, model.CorrelatedNoise
_KNOWN: Final[tuple[type, ...]] = (*_FIRST_KNOWN, model.Exponential, model.Table, model.Translation)
"""What most people have heard of, which lists of kinds begin with, behind the builtins."""


def _starters() -> Iterator[tuple[str, Starter, str]]:
    yield BUILTIN, named.STARTER, named.WHAT
    kinds = IN_FILES.items()
    for name, kind in sorted(kinds, key=lambda one: _KNOWN.index(one[1].model) if one[1].model in _KNOWN else len(_KNOWN)):
        assert kind.starter is not None
        yield name, kind.starter, kind.what


STARTERS: Final[Mapping[str, Starter]] = {name: starter for name, starter, _ in _starters()}
"""What `dpverify new` writes, for every word that `kind` may be."""
WHAT: Final[Mapping[str, str]] = {name: what for name, _, what in _starters()}
"""Every word that `kind` may be, in a sentence."""


def read_kind(value: Any) -> str:
    """A kind's name. Raises Fault, for the name of a builtin with how it is written."""
    if isinstance(value, str) and value not in STARTERS:
        from difflib import get_close_matches

        near = value if value in named.BUILTINS else next(iter(get_close_matches(value, [*STARTERS, *named.BUILTINS], n=1)), "")
        if near in named.BUILTINS:
            known = "is the name of a builtin" if near == value else f"is no kind. Perhaps the builtin {near} is meant"
            raise Fault(f'{known}. Write kind = "{BUILTIN}" and name = "{near}".')
    return read_choice(tuple(STARTERS))(value)


def of(mechanism: Mechanism) -> Kind:
    """The kind of a mechanism."""
    return KINDS[kind_of(mechanism)]


def is_combinator(kind: Kind) -> bool:
    """Whether it is made of parts."""
    return any(field.value in (PART, PARTS) for field in kind.fields)


def read(kind: Kind, table: Fields) -> dict[str, Any]:
    """What stands under the keys of a kind. Whatever is missing or wrong is a fault of the table."""
    chosen = {key for group in kind.one_of if (key := table.one_of(group)) is not None}
    grouped = {key for group in kind.one_of for key in group}
    values: dict[str, Any] = {}
    for field in sorted(kind.fields, key=lambda field: field.unless is not None):
        if grouped.isdisjoint(field.keys):
            values[field.name] = _read(field, table, values)
        else:
            key = next((key for key in field.keys if key in chosen), None)
            values[field.name] = field.default if key is None else _under(key, field, table)
    return values


def _read(field: Field, table: Fields, values: Mapping[str, Any]) -> Any:
    if field.log:
        key = table.one_of(field.keys)
        return field.value.fallback if key is None else _under(key, field, table)
    if field.wanted(table.data):
        return table.need(field.name, field.value.read, field.value.fallback)
    if field.unless is not None and values[field.unless[0]] != field.unless[1]:
        return table.need(field.name, field.value.read, field.default)
    return table.may(field.name, field.value.read, field.default)


def _under(key: str, field: Field, table: Fields) -> Any:
    """The value under one of the keys that a field may stand under."""
    value = table.need(key, field.value.read, field.value.fallback)
    return value if key == field.name else call("exp", value)


def mechanism_faults(mechanism: Mechanism, domains: Mapping[str, Domain], broken: AbstractSet[str]) -> Iterator[str]:
    """All that is wrong with a model whose parameters have been put in. broken: parameters whose own faults are known already."""
    kind = of(mechanism)
    if is_combinator(kind):
        yield from kind.faults(mechanism, domains)
        return  # each part was checked where it was read
    yield from free_symbols(mechanism, domains.keys() | broken)
    yield from kind.faults(mechanism, domains)
    yield from map(words, of_mechanism(mechanism, domains))
    for field in kind.fields:
        yield from great_counts(field.name, getattr(mechanism, field.name, None))


def plain(claim: Claim) -> Claim:
    """A claim of the same law, of a kind whose density audits and pictures evaluate, where there is one."""
    return replace(claim, mechanism=of(claim.mechanism).plain(claim.mechanism))


def dimension_of(mechanism: Mechanism) -> Expr:
    """How many numbers additive noise is added to."""
    dimension: Expr = getattr(mechanism, "dimension", ONE)
    return dimension
