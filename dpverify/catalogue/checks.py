"""Checks of a model, however it was declared, and the putting in of parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any, Final

from dpverify.catalogue.shapes import changed
from dpverify.catalogue.toml import meant, shorten
from dpverify.catalogue.values import within
from dpverify.trusted.language.errors import ExprError
from dpverify.trusted.language.expr import (
    ONE,
    ZERO,
    Expr,
    Num,
    Sym,
    children,
    sub,
    substitute,
    symbols,
)
from dpverify.trusted.language.model import (
    CLAIMED_MEASURES,
    VARIABLES,
    Answering,
    Branch,
    Claim,
    Domain,
    Drawn,
    Exponential,
    Guard,
    Matrix,
    Measure,
    Mechanism,
    Mixture,
    Named,
    Part,
    Product,
    Radial,
    Shape,
    Space,
    Staircase,
    Stream,
    Table,
    Vector,
    kind_of,
    names_of,
    noises_of,
)
from dpverify.trusted.order.compare import certainly_le, certainly_lt
from dpverify.trusted.order.geometry import norm_faults

MAX_NODES: Final = 20_000
_USUAL: Final = ("x", "y", "z", "r", "t", "u", "v", "w", "theta")
"""Letters that people write for the variable of a density."""


def expressions(value: Any) -> Iterator[Expr]:
    """All expressions in a model or a claim."""
    if isinstance(value, Expr):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from expressions(item)
    elif isinstance(value, Mechanism | Claim | Part | Measure | Shape | Named | Drawn | Guard | Branch):
        for field in fields(value):
            yield from expressions(getattr(value, field.name))


def loss_faults(mechanism: Mechanism, loss: Matrix, prior: Vector) -> Iterator[str]:
    """What is wrong with the losses that are stated beside a mechanism, and with the prior of its inputs."""
    if not loss and not prior:
        return
    if not isinstance(mechanism, Table | Exponential):
        yield f"loss and prior are for the kinds table and exponential, which list inputs and outputs, not {kind_of(mechanism)}."
        return
    rows = mechanism.rows if isinstance(mechanism, Table) else mechanism.scores
    if not loss:
        yield "prior stands without a loss. Give loss, a row for each input with what each output costs there."
    elif len(loss) != len(rows) or any(len(row) != len(rows[0]) for row in loss):
        yield f"loss must have {len(rows)} rows, one for each input, of {len(rows[0])} entries, one for each output."
    if prior and (len(prior) != len(rows) or min(prior) < 0 or sum(prior) != 1):
        yield f"prior must have {len(rows)} entries, one for each input, at least 0 and with the sum 1."


def space_faults(mechanism: Mechanism, given: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with what a claim states, key by key, of how near answers are to be."""
    if isinstance(mechanism, Space):
        missing = [key for key in ("within", "beta") if key not in given]
        if missing:
            yield (
                f"{' and '.join(missing)} {'are' if len(missing) > 1 else 'is'} missing: of a space it is asked how private answers can be "
                "that are within `within` of the truth but with probability `beta`."
            )
        for key in ("utility", "loss", "prior", "adjacency", "order", *CLAIMED_MEASURES):
            if given.get(key):
                yield f"{key} is for mechanisms; of a space pure privacy is asked, and nothing else. Leave it out."
    elif "within" in given:
        yield from _nearness_faults(mechanism, given)
    elif given.get("distance"):
        yield "distance stands without within: it is the one in which answers are to be within `within` of the truth."


def _nearness_faults(mechanism: Mechanism, given: Mapping[str, Any]) -> Iterator[str]:
    """The same of a claim about one mechanism, which asks for the probability of answers that are further than `within`."""
    if not isinstance(mechanism, Answering | Staircase | Table | Exponential):
        yield (
            f"within is how near the answers of a space, of additive noise, of a table or of an exponential mechanism are, not of "
            f"{kind_of(mechanism)}."
        )
        return
    if "beta" not in given:
        yield 'beta is missing: the probability with which answers may be further than `within`, a number or "tight".'
    for key in ("epsilon", "delta", "utility", "order", "prior", *CLAIMED_MEASURES):
        if given.get(key):
            yield f"{key} stands beside within: how near answers are is a claim of its own. Write one for each."
    if isinstance(mechanism, Table) and not given.get("loss"):
        yield "loss is missing: a table does not say how far an output is from the truth. Give it, a row for each input."
    if given.get("distance") and isinstance(mechanism, Table | Exponential):
        yield "distance is for additive noise; of a finite mechanism loss says what outputs cost."


def substituted(mechanism: Mechanism, values: Mapping[str, Expr]) -> Mechanism:
    """The mechanism with parameters replaced by their values."""

    def change(value: Any) -> Any:
        if isinstance(value, Expr):
            return grown(value, values)
        if isinstance(value, Shape):
            return changed(value, change)
        if isinstance(value, Mechanism):
            return substituted(value, values)
        if isinstance(value, Named | Drawn | Guard | Branch):
            return replace(value, **{field.name: change(getattr(value, field.name)) for field in fields(value)})
        return tuple(map(change, value)) if isinstance(value, tuple) else value

    return replace(mechanism, **{field.name: change(getattr(mechanism, field.name)) for field in fields(mechanism)})


def grown(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """The expression with values put in. Raises ExprError where that would make it enormous."""
    sizes = {name: _size(values[name], {}) for name in symbols(expr) & values.keys()}
    if _size(expr, sizes) > MAX_NODES:
        raise ExprError(f"with its parameters put in, the expression has more than {MAX_NODES} parts.")
    return substitute(expr, values)


def _size(expr: Expr, sizes: Mapping[str, int]) -> int:
    if isinstance(expr, Sym):
        return sizes.get(expr.name, 1)
    return 1 + sum(_size(part, sizes) for part in children(expr))


def free_symbols(mechanism: Mechanism, known: AbstractSet[str]) -> Iterator[str]:
    """Symbols that are neither a variable of their expression nor a parameter."""
    kind = kind_of(mechanism)
    for noise in noises_of(mechanism):
        yield from free_symbols(noise, known)
    for field in fields(mechanism):
        held = getattr(mechanism, field.name)
        if isinstance(held, Mechanism) or (isinstance(held, tuple) and any(isinstance(item, Drawn) for item in held)):
            continue
        variables = names_of(mechanism) if isinstance(mechanism, Stream) else VARIABLES.get(kind, {}).get(field.name, ())
        here = {*known, *variables}
        used = frozenset().union(*map(symbols, expressions(getattr(mechanism, field.name))))
        unused = [] if isinstance(mechanism, Stream) else [name for name in variables if name not in used]
        for name in sorted(used - here):
            if unused and name in _USUAL:
                way = f"The variable of this kind is {' or '.join(unused)}: write that, or give {name} in parameters."
            elif name in ("e", "E"):
                way = f"Write exp(...) for powers of e, or give {name} in parameters."
            else:
                way = f"Give it in parameters.{meant(name, here)}"
            yield f"{field.name} has the free symbol {name!r}. {way}"


def body_faults(noise: Radial | Mixture | Product, domains: Mapping[str, Domain]) -> Iterator[str]:
    """A norm that does not fit its dimension."""
    norm, dimension = noise.norm, noise.dimension
    faults = list(natural_faults("dimension", dimension, 1, domains))
    yield from faults
    if isinstance(dimension, Num) and not faults:
        yield from norm_faults(norm, int(dimension.value))
    elif norm.kind == "lp":
        yield from norm_faults(norm, 1)
    elif not isinstance(dimension, Num):
        yield f"norm: {norm.kind} has a fixed dimension. Give dimension a number."


def natural_faults(key: str, value: Expr, least: int, domains: Mapping[str, Domain]) -> Iterator[str]:
    """A number that counts: an integer, or a parameter whose domain holds integers only."""
    if isinstance(value, Num):
        if value.value.denominator != 1 or value.value < least:
            yield f"{key} = {shorten(value)} is not an integer of at least {least}."
        elif value.value > 10**6:
            yield f"{key} = {shorten(value)} is beyond a million."
    elif symbols(value) <= domains.keys() and not (isinstance(value, Sym) and within(domains[value.name], _naturals(least))):
        yield f'{key} = {shorten(value)} is neither an integer nor a parameter with a domain such as "integer >= {least}".'


def _naturals(least: int) -> Domain:
    return Domain(Fraction(least), lower_open=False, integer=True)


def positive_faults(key: str, value: Expr, domains: Mapping[str, Domain]) -> Iterator[str]:
    """A number that must be above 0."""
    if may_vanish(value, domains):
        yield f"{key} = {shorten(value)} {why_not(value, 'is not positive', 'positive')}"


def negative_faults(key: str, value: Expr, domains: Mapping[str, Domain]) -> Iterator[str]:
    """A number that must be at least 0."""
    if may_be_negative(value, domains):
        yield f"{key} = {shorten(value)} is not certainly non-negative."


def interval_faults(key: str, ends: tuple[Expr | None, Expr | None], domains: Mapping[str, Domain]) -> Iterator[str]:
    """Two ends that must rise."""
    low, high = ends
    if low is not None and high is not None and may_vanish(sub(high, low), domains):
        yield f"{key} = [{shorten(low)}, {shorten(high)}] is not an interval: its ends must rise."


def range_faults(key: str, value: Expr, domains: Mapping[str, Domain]) -> Iterator[str]:
    """A number that must be between 0 and 1."""
    outside = [end for end in (value, sub(ONE, value)) if may_be_negative(end, domains)]
    if outside:
        percent = " Write per cent as a decimal, such as 0.75." if isinstance(value, Num) and 1 < value.value <= 100 else ""
        yield f"{key} = {shorten(value)} {why_not(outside[0], 'is not between 0 and 1', 'between 0 and 1')}{percent}"


def may_vanish(expr: Expr, domains: Mapping[str, Domain]) -> bool:
    """Whether an expression, all of whose symbols are known, is not certainly positive."""
    return symbols(expr) <= domains.keys() and not certainly_lt(ZERO, expr, domains)


def may_be_negative(expr: Expr, domains: Mapping[str, Domain]) -> bool:
    """Whether an expression, all of whose symbols are known, is not certainly non-negative."""
    return symbols(expr) <= domains.keys() and not certainly_le(ZERO, expr, domains)


def why_not(value: Expr, certain: str, wanted: str) -> str:
    """The predicate of a fault: that something is wrong for certain, or could not be shown to be right."""
    known = isinstance(value, Num) or (not symbols(value) and certainly_lt(value, ZERO))
    return f"{certain}." if known else f"cannot be shown to be {wanted}."
