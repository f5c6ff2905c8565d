"""What a claim must be to mean something: parameters with values, counts that count, numbers that exist, noises that fit their answers.

The one definition: the kernel asks it before any line, the reader of claim files as it reads. Which words go together is in `fitting`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import fields, is_dataclass
from typing import Any, Final, NamedTuple

from dpverify.trusted.language.errors import STUMBLES, CertificateError, DpverifyError, Rejected, require
from dpverify.trusted.language.expr import ONE, ZERO, Expr, Num, Sym, children, format_expr, num, symbols
from dpverify.trusted.language.fitting import unseen
from dpverify.trusted.language.loading import load
from dpverify.trusted.language.model import (
    COVARIANCES,
    NEARNESS,
    VARIABLES,
    Answering,
    Claim,
    Combinator,
    Compose,
    Domain,
    Drawn,
    EllipticalProcess,
    Exponential,
    Guarantee,
    Matrix,
    Mechanism,
    Mixture,
    Parallel,
    Part,
    PostProcess,
    Product,
    Radial,
    Sampled,
    Selection,
    Space,
    Stream,
    Subsample,
    Table,
    Vector,
    all_parts,
    kind_of,
    names_of,
    noises_of,
    on_integers,
)
from dpverify.trusted.numbers.balls import precision
from dpverify.trusted.order.compare import certainly_le, certainly_lt
from dpverify.trusted.order.domains import closed, is_empty
from dpverify.trusted.order.geometry import norm_faults
from dpverify.trusted.order.integers import is_whole

Domains = Mapping[str, Domain]

POSITIVE: Final = "positive"
NOT_NEGATIVE: Final = "non-negative"
SHARE: Final = "between 0 and 1"
RISING: Final = "two ends that rise"
COUNT: Final = "an integer of at least 1"
SEVERAL: Final = "an integer of at least 2"
LEAST: Final[Mapping[str, int]] = {COUNT: 1, SEVERAL: 2}
"""The least integer of each sort of count."""
WANTED: Final[Mapping[str, str]] = {
    "scale": POSITIVE, "epsilon": POSITIVE, "gamma": SHARE, "p": SHARE, "rate": SHARE, "k": SEVERAL, "dimension": COUNT,
    "candidates": COUNT, "queries": COUNT, "positives": COUNT, "count": COUNT, "size": COUNT, "times": COUNT, "constant": NOT_NEGATIVE,
    "beta": NOT_NEGATIVE, "sensitivity": NOT_NEGATIVE, "support": RISING, "output": RISING, "input": RISING, "bounds": RISING,
    "between": RISING,
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
    domains, near = dict(claim.domains), claim.measure is not None and claim.measure.name == NEARNESS
    for name, domain in claim.domains:
        if is_empty(closed(domain)):
            yield f"no value lies in the domain of {name}."
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
    yield from of_losses(claim.mechanism, claim.loss, claim.prior)
    for asked in everything:
        yield from () if near else _of_moves(asked, domains)
        if isinstance(asked, Part):
            yield from of_numbers(asked, domains)
            yield from ("a part does not say what it is.",) * isinstance(asked.mechanism, Sampled)
        for mechanism in (asked.mechanism, *noises_of(asked.mechanism)):
            for key, _, _, wrong in free(mechanism, domains.keys()):
                yield f"{key} has the free symbol {min(wrong)!r}."
            yield from of_mechanism(mechanism, domains)
    if isinstance(claim.mechanism, Combinator):
        yield from load("parts.relations").adjacency_faults(claim.mechanism, claim.adjacency)
        other = load("parts.adjacencies").stated_adjacencies(claim.mechanism, claim.adjacency).keys() - {"add-remove"}
        if claim.order and other:
            yield f"the order {claim.order} is about a record that is added or removed, which the adjacency {min(other)} does not do."


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
    variables = VARIABLES.get(kind_of(mechanism), {})
    for field in fields(mechanism):
        held = getattr(mechanism, field.name)
        if not any(isinstance(item, Mechanism | Drawn | Part) for item in (held if isinstance(held, tuple) else (held,))):
            bound = names_of(mechanism) if isinstance(mechanism, Stream) else variables.get(field.name, ())
            yield field.name, bound, list(expressions(held))


def of_mechanism(mechanism: Mechanism, domains: Domains) -> Faults:
    """What is wrong with a mechanism by itself, apart from free symbols. Noises and parts are looked at by themselves."""
    for key, variables, held in _written(mechanism):
        values = domains if isinstance(mechanism, Stream) or not variables else {}  # what is in no parameters may have none somewhere
        for part in (part for expr in held for part in _undefined(expr, values)):
            yield f"{key}: {format_expr(part)} is not certainly a number."
    if isinstance(mechanism, Space):
        yield from _refused(load("rules.spaces.shapes").require, mechanism, domains)
        return
    yield from of_numbers(mechanism, domains)
    if isinstance(mechanism, Radial | Mixture | Product):
        yield from _of_body(mechanism)
    elif isinstance(mechanism, Table | Exponential):
        yield from _refused(load("order.tables").require_rows, mechanism, domains)
    elif isinstance(mechanism, Guarantee):
        yield from _of_guarantee(mechanism, domains)
    elif isinstance(mechanism, EllipticalProcess):
        low, high = mechanism.support
        if not isinstance(low, Num) or low.value < 0 or not (high is None or isinstance(high, Num)):
            yield "support: the law of a variance lives between rational numbers of at least 0; the upper end may be inf."
        if mechanism.covariance not in ("", *COVARIANCES):
            yield f"covariance: {mechanism.covariance[:40]!r} is none of {', '.join(COVARIANCES)}."
    elif isinstance(mechanism, Selection):
        yield from _of_selection(mechanism)
    elif isinstance(mechanism, Compose | Parallel) and not mechanism.parts:
        yield "parts: there are none."
    elif isinstance(mechanism, Subsample) and mechanism.scheme not in ("poisson", "without_replacement"):
        yield f"scheme: {mechanism.scheme[:40]!r} is not poisson or without_replacement."
    elif isinstance(mechanism, PostProcess):
        yield from ("map: it holds a character that cannot be seen.",) * bool(unseen(mechanism.map))
        yield from _refused(load("parts.released").released, mechanism) if mechanism.matrix else ()


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


def _refused(check: Any, *given: Any) -> Iterator[str]:
    """What a check raises."""
    try:
        check(*given)
    except (DpverifyError, ArithmeticError) as error:
        yield f"{error.where}: {error.why}." if isinstance(error, Rejected) else str(error)


def _of_moves(asked: Claim | Part, domains: Domains) -> Faults:
    """A query that is none; a sensitivity that is missing where neither a query nor the mechanism says how far answers move."""
    mechanism, query = asked.mechanism, asked.query
    if query is not None:
        dimension = getattr(mechanism, "dimension", ONE)
        size = int(dimension.value) if isinstance(dimension, Num) else 0
        yield from load("order.queries").query_faults(query, size) if size else ("query: the dimension must be a number.",)
        return
    needs = isinstance(mechanism, Answering | EllipticalProcess | Selection) and not getattr(mechanism, "differences", ())
    if needs and asked.sensitivity is None:
        yield "sensitivity is missing: how far answers move."


def of_losses(mechanism: Mechanism, loss: Matrix, prior: Vector) -> Iterator[str]:
    """Losses of another size than the mechanism they are of, and a prior that is none."""
    if isinstance(mechanism, Table | Exponential) and (loss or prior):
        rows = mechanism.rows if isinstance(mechanism, Table) else mechanism.scores
        if len(loss) != len(rows) or any(len(row) != len(rows[0]) for row in loss):
            yield f"loss must have {len(rows)} rows, one for each input, of {len(rows[0])} entries, one for each output."
        if prior and (len(prior) != len(rows) or min(prior) < 0 or sum(prior) != 1):
            yield f"prior must have {len(rows)} entries, one for each input, at least 0 and with the sum 1."


def _of_body(noise: Radial | Mixture | Product) -> Iterator[str]:
    """A norm that does not fit its dimension."""
    norm, dimension = noise.norm, noise.dimension
    if bool(norm.matrix) == (norm.kind == "lp") or (norm.p is not None and norm.kind != "lp"):
        yield f"norm: {norm.kind[:40]} is by a matrix, or by p, and not by both."
    if isinstance(dimension, Num) or norm.kind == "lp":
        yield from norm_faults(norm, max(1, int(dimension.value)) if isinstance(dimension, Num) else 1)
    else:
        yield f"norm: {norm.kind[:40]} has a fixed dimension. Give dimension a number."


def _of_guarantee(known: Guarantee, domains: Domains) -> Faults:
    yield from _refused(load("parts.stated").check, known, known.order)
    for row in known.rows:
        if known.measure == "renyi":
            if not isinstance(row[0], Num) or row[0].value <= 1:
                yield f"renyi: the order {format_expr(row[0])} is no rational number above 1."
            yield from of_number("renyi", row[-1], NOT_NEGATIVE, domains)
        else:
            yield from of_number("epsilon" if known.measure == "approximate" else known.measure, row[0], NOT_NEGATIVE, domains)
            yield from of_number("delta", row[-1], SHARE, domains) if known.measure == "approximate" else ()


def _of_selection(mechanism: Selection) -> Iterator[str]:
    """A program that is none, answers whose noises do not say whether they are integers, and bounds that no integers are."""
    if isinstance(mechanism, Stream):
        yield from load("parts.streams").faults(mechanism)
    for end in mechanism.bounds or ():
        if on_integers(mechanism) and isinstance(end, Num) and not is_whole(end, {}):
            yield f"bounds: {format_expr(end)} is not an integer, as the answers are that noise on the integers is added to."
    unsaid = on_integers(mechanism) and not _settled(mechanism)
    if unsaid and not getattr(mechanism, "whole_answers", False):
        yield (
            "noises: some are on the integers, and some answers meet others, or none, so that it is not said whether answers are integers. "
            "Write noise on the integers, or on the line, for all; or whole_answers = true, where all answers are integers."
        )
    elif not unsaid and getattr(mechanism, "whole_answers", False):
        yield "whole_answers: the noises say already whether answers are integers. Leave it out."


def _settled(mechanism: Selection) -> bool:
    """Whether each answer that is used meets noise on the integers alone. What is compared, told or kept together meets."""
    if not isinstance(mechanism, Stream):
        return all(map(on_integers, noises_of(mechanism)))
    lasting = frozenset(names_of(mechanism)) - {limit.name for limit in mechanism.limits}
    changes = [named for branch in mechanism.steps for named in branch.change]
    met = [symbols(expr) for branch in mechanism.steps for expr in (*(guard.left for guard in branch.when), *branch.tell)]
    met += [symbols(named.value) | {named.name} for named in (*mechanism.state, *changes)]
    whole = {drawn.name: on_integers(drawn.noise) for drawn in mechanism.once + mechanism.fresh}
    for answer in frozenset(mechanism.answers).intersection(frozenset[str]().union(*met)):
        reached, before = frozenset({answer}), frozenset[str]()
        while reached != before:
            before, reached = reached, reached.union(*(group & lasting for group in met if group & reached))
        if not (found := [whole[name] for name in reached & whole.keys()]) or not all(found):
            return False
    return True
