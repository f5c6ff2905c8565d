"""What a claim must be to mean something: parameters with values, counts that count, numbers that exist, noises that fit their answers.

The one definition: the kernel asks it before any line, the reader of claim files as it reads. Which words go together is in `fitting`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import fields, is_dataclass
from typing import Any, Final, NamedTuple

from dpverify.trusted.kernel import model
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import STUMBLES, CertificateError, DpverifyError, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, Sym, children, format_expr, num, symbols
from dpverify.trusted.kernel.integers import is_whole
from dpverify.trusted.kernel.model import Claim, Domain, Mechanism, Part, all_noises, all_parts

Domains = Mapping[str, Domain]

POSITIVE: Final = "positive"
NOT_NEGATIVE: Final = "non-negative"
SHARE: Final = "between 0 and 1"
RISING: Final = "two ends that rise"
COUNT: Final = "an integer of at least 1"
SEVERAL: Final = "an integer of at least 2"
SOME: Final = "an integer of at least 0"
LEAST: Final[Mapping[str, int]] = {SOME: 0, COUNT: 1, SEVERAL: 2}
"""The least integer of each sort of count."""
WANTED: Final[Mapping[str, str]] = {
    "scale": POSITIVE, "epsilon": POSITIVE, "gamma": SHARE, "p": SHARE, "rate": SHARE, "k": SEVERAL, "dimension": COUNT,
    "candidates": COUNT, "queries": COUNT, "positives": COUNT, "count": COUNT, "size": COUNT, "times": COUNT, "constant": NOT_NEGATIVE,
    "beta": NOT_NEGATIVE, "sensitivity": NOT_NEGATIVE, "support": RISING, "output": RISING, "input": RISING, "bounds": RISING,
    "between": RISING, "keys": COUNT, "people": COUNT, "separation": COUNT, "sigma": POSITIVE, "dropouts": SOME,
    "scale_bound": NOT_NEGATIVE,
}  # fmt: skip
"""What the numbers of mechanisms and of parts must be, by the names of their fields."""
CLAIMED: Final = {"delta": SHARE, "beta": SHARE, "within": NOT_NEGATIVE, "sensitivity": NOT_NEGATIVE}


class Unfit(NamedTuple):
    """A number, or two ends, under a key, which is not certainly what it must be."""

    key: str
    value: Any
    wanted: str

    def __str__(self) -> str:
        ends = self.value if isinstance(self.value, tuple) else (self.value,)
        return f"{self.key} = {', '.join('infinity' if end is None else format_expr(end) for end in ends)} is not certainly {self.wanted}."


Faults = Iterator[str | Unfit]


def require_well_formed(claim: Claim) -> None:
    """Raises CertificateError where something in a claim means nothing."""
    try:
        with precision(64):
            fault = next(faults(claim), None)
    except (DpverifyError, *STUMBLES) as error:
        raise CertificateError("the claim means nothing: it has not the form that dpverify writes.") from error
    require(fault is None, CertificateError(f"the claim means nothing: {fault}"))


def faults(claim: Claim) -> Faults:
    """All that is wrong with a claim."""
    if model.sums_of(claim):
        from dpverify.trusted.claims.records import of_records, plain

        yield from of_records(claim)
        claim = plain(claim)
    domains, near = dict(claim.domains), claim.measure is not None and claim.measure.name == model.NEARNESS
    if claim.domains:
        from dpverify.trusted.order.domains import faults as of_domains

        yield from of_domains(claim.domains)
    everything: tuple[Claim | Part, ...] = (claim, *all_parts(claim.mechanism))
    own = (getattr(asked, field.name) for asked in everything for field in fields(asked) if field.name in (*WANTED, *CLAIMED))
    stated = claim.measure and claim.measure.value, *own
    for wrong in (symbols(value) - domains.keys() for value in expressions(stated)):
        yield from (f"the claim has the free symbol {min(wrong)!r}.",) if wrong else ()
    if claim.epsilon is not None and not symbols(claim.epsilon):  # where a bound in parameters is negative it is merely not met
        yield from of_number("epsilon", claim.epsilon, NOT_NEGATIVE, domains)
    for key, wanted in CLAIMED.items():
        yield from of_number(key, getattr(claim, key), wanted, domains)
    if claim.measure is not None:
        yield from of_number(claim.measure.name, claim.measure.value, SHARE if near else NOT_NEGATIVE, domains)
    if claim.epsilon is None and claim.delta is None:
        yield 'epsilon and delta are both "tight".'
    for asked in everything:
        yield from _of_moves(asked, near)
        if isinstance(asked, Part):
            yield from of_numbers(asked, domains)
            yield from ("a part does not say what it is.",) * isinstance(asked.mechanism, model.Sampled)
        for mechanism in (asked.mechanism, *all_noises(asked.mechanism)):
            for key, _, _, wrong in free(mechanism, domains.keys()):
                yield f"{key} has the free symbol {min(wrong)!r}."
            yield from of_mechanism(mechanism, domains)
    if isinstance(claim.mechanism, model.Combinator | model.OfRecords) or claim.loss or claim.prior:
        from dpverify.trusted.claims.kinds import of_claim

        yield from of_claim(claim)


def expressions(value: Any) -> Iterator[Expr]:
    """All expressions in what a claim is made of."""
    if isinstance(value, Expr):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from expressions(item)
    elif is_dataclass(value):
        for field in fields(value):
            yield from expressions(getattr(value, field.name))


Written = tuple[str, tuple[str, ...], frozenset[str], frozenset[str]]
"""A key, the variables of what stands there, the symbols in it, and those of them that are neither variables nor parameters."""


def free(mechanism: Mechanism, known: Set[str]) -> Iterator[Written]:
    """The keys of a mechanism with free symbols. Noises and parts are looked at by themselves."""
    for key, variables, held in _written(mechanism):
        used = frozenset[str]().union(*map(symbols, held))
        if wrong := used - known - {*variables}:
            yield key, variables, used, wrong


def _written(mechanism: Mechanism) -> Iterator[tuple[str, tuple[str, ...], list[Expr]]]:
    """The keys of a mechanism itself, the variables of what stands there, and its expressions."""
    variables = model.VARIABLES.get(model.kind_of(mechanism), {})
    for field in fields(mechanism):
        held = getattr(mechanism, field.name)
        parts = Mechanism | model.Drawn | model.Summand | Part
        if not any(isinstance(item, parts) for item in (held if isinstance(held, tuple) else (held,))):
            bound = model.names_of(mechanism) if isinstance(mechanism, model.Stream) else variables.get(field.name, ())
            yield field.name, bound, list(expressions(held))


def of_mechanism(mechanism: Mechanism, domains: Domains) -> Faults:
    """What is wrong with a mechanism by itself, apart from free symbols. Noises and parts are looked at by themselves."""
    for key, variables, held in _written(mechanism):
        values = domains if isinstance(mechanism, model.Stream) or not variables else {}  # what is in no parameters may have none somewhere
        for part in (part for expr in held for part in _undefined(expr, values)):
            yield f"{key}: {format_expr(part)} is not certainly a number."
    yield from () if isinstance(mechanism, model.Space) else of_numbers(mechanism, domains)
    plain = isinstance(mechanism, model.Answering) and not isinstance(mechanism, model.Sum)
    if not plain or getattr(mechanism, "norm", model.L1) not in (model.L1, model.L2, model.LINF):
        from dpverify.trusted.claims import kinds as well_formed_kinds

        yield from well_formed_kinds.faults(mechanism, domains)


def of_numbers(held: Mechanism | Part, domains: Domains) -> Faults:
    """Numbers that are not certainly what they must be."""
    for field in fields(held):
        if field.name in WANTED:
            yield from of_number(field.name, getattr(held, field.name), WANTED[field.name], domains)


def of_number(key: str, value: Any, wanted: str, domains: Domains) -> Faults:
    """The fault of a number, or of two ends, that is not certainly what is wanted; none where it is not there, or not known."""
    known = value is not None and frozenset[str]().union(*map(symbols, expressions(value))) <= domains.keys()
    if known and not _is(value, wanted, domains):
        yield Unfit(key, value, wanted)


def _is(value: Any, wanted: str, domains: Domains) -> bool:
    if wanted == RISING:
        low, high = value
        return low is None or high is None or certainly_lt(low, high, domains)
    if wanted in LEAST:
        return is_whole(value, domains) and certainly_le(num(LEAST[wanted]), value, domains)
    if wanted == POSITIVE:
        return certainly_lt(ZERO, value, domains)
    return certainly_le(ZERO, value, domains) and (wanted != SHARE or certainly_le(value, ONE, domains))


def _undefined(expr: Expr, domains: Domains) -> Iterator[Expr]:
    """The greatest parts of an expression in parameters alone that do not certainly have a value."""
    if isinstance(expr, Num | Sym):
        return
    if symbols(expr) <= domains.keys():
        yield from () if certainly_le(expr, expr, domains) else (expr,)
        return
    for part in children(expr):
        yield from _undefined(part, domains)


def _of_moves(asked: Claim | Part, near: bool) -> Faults:
    """A query that is none; a sensitivity that is missing where neither a query nor the mechanism says how far answers move.

    near: whether the claim is about the noise alone, and needs none.
    """
    mechanism = asked.mechanism
    if asked.query is not None:
        from dpverify.trusted.claims.kinds import of_query

        yield from of_query(mechanism, asked.query)
        return
    moved = model.Answering | model.EllipticalProcess | model.Selection | model.NoisyKeys | model.CorrelatedNoise | model.SmoothSensitivity
    needs = isinstance(mechanism, moved) and not getattr(mechanism, "differences", ())
    if needs and asked.sensitivity is None and not near:
        yield "sensitivity is missing: how far answers move."
