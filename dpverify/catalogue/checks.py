"""Checks of a model, however it was declared, and the putting in of parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, replace
from typing import Any, Final

from dpverify.catalogue.shapes import changed
from dpverify.catalogue.toml import meant, shorten
from dpverify.trusted.claims.kinds import of_losses
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import ExprError
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, Sym, children, substitute, symbols
from dpverify.trusted.kernel.model import (
    CLAIMED_MEASURES,
    Answering,
    Branch,
    Domain,
    Drawn,
    Exponential,
    Guard,
    Matrix,
    Mechanism,
    Named,
    Shape,
    Space,
    Staircase,
    Stream,
    Summand,
    Table,
    Vector,
    kind_of,
    noises_of,
)
from dpverify.trusted.kernel.well_formed import LEAST, NOT_NEGATIVE, POSITIVE, RISING, SHARE, WANTED, Unfit, free, of_number

MAX_NODES: Final = 20_000
GREATEST: Final = 10**6
"""The greatest count that is written as a number."""
NUMBERS: Final[Mapping[str, str]] = {**WANTED, "nu": POSITIVE}
"""What the numbers under the keys of claim files must be."""
_USUAL: Final = ("x", "y", "z", "r", "t", "u", "v", "w", "theta")
"""Letters that people write for the variable of a density."""


def loss_faults(mechanism: Mechanism, loss: Matrix, prior: Vector) -> Iterator[str]:
    """What is wrong with the losses that are stated beside a mechanism, and with the prior of its inputs."""
    if not loss and not prior:
        return
    if not isinstance(mechanism, Table | Exponential):
        yield f"loss and prior are for the kinds table and exponential, which list inputs and outputs, not {kind_of(mechanism)}."
        return
    if not loss:
        yield "prior stands without a loss. Give loss, a row for each input with what each output costs there."
    else:
        yield from of_losses(mechanism, loss, prior)


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
        if isinstance(value, Named | Drawn | Guard | Branch | Summand):
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
    for noise in noises_of(mechanism):
        yield from free_symbols(noise, known)
    for key, variables, used, wrong in free(mechanism, known):
        here = {*known, *variables}
        unused = [] if isinstance(mechanism, Stream) else [name for name in variables if name not in used]
        for name in sorted(wrong):
            if unused and name in _USUAL:
                way = f"The variable of this kind is {' or '.join(unused)}: write that, or give {name} in parameters."
            elif name in ("e", "E"):
                way = f"Write exp(...) for powers of e, or give {name} in parameters."
            else:
                way = f"Give it in parameters.{meant(name, here)}"
            yield f"{key} has the free symbol {name!r}. {way}"


def number_faults(key: str, value: Expr, domains: Mapping[str, Domain], wanted: str = "") -> Iterator[str]:
    """What is wrong with the number under a key, in words. wanted: what it must be, where its key does not say that."""
    wanted = wanted or NUMBERS.get(key, "")
    yield from map(words, of_number(key, value, wanted, domains) if wanted else ())
    yield from great_counts(key, value)


def great_counts(key: str, value: Any) -> Iterator[str]:
    """A count that is beyond what files may ask for, though it means something."""
    if WANTED.get(key) in LEAST and isinstance(value, Num) and value.value > GREATEST:
        yield f"{key} = {shorten(value)} is beyond a million."


def words(fault: str | Unfit) -> str:
    """A fault of the core for people: what is certain, or could not be shown."""
    if isinstance(fault, str):
        return fault
    key, value, wanted = fault
    if wanted == RISING:
        return f"{key} = [{shorten(value[0])}, {shorten(value[1])}] is not an interval: its ends must rise."
    said = f"{key} = {shorten(value)}"
    if wanted in LEAST:
        if not isinstance(value, Num):
            return f'{said} is neither an integer nor a parameter with a domain such as "integer >= {LEAST[wanted]}".'
        return f"{said} is not {wanted}."
    outside = not symbols(value) and (certainly_lt(value, ZERO) or (wanted == SHARE and certainly_lt(ONE, value)))
    percent = " Write per cent as a decimal, such as 0.75." if wanted == SHARE and isinstance(value, Num) and 1 < value.value <= 100 else ""
    if outside or isinstance(value, Num):
        return f"{said} is {'negative' if wanted == NOT_NEGATIVE else f'not {wanted}'}.{percent}"
    return f"{said} cannot be shown to be {wanted}."
