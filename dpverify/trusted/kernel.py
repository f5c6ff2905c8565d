"""The kernel: the only maker of judgements.

Each line of a certificate names a rule, which proves a fact from the line's parameters and from the facts of lines before it. The least
upper and the greatest lower bound on the tight epsilon or the tight delta, or on the tight value in the measure that is claimed, compared
exactly with what is claimed, give the verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from dpverify.trusted.facts.assumptions import of_a_bound, of_a_verdict
from dpverify.trusted.facts.bounds import Bound, Infinite
from dpverify.trusted.facts.fact import Fact, as_bounds, as_errors
from dpverify.trusted.language.certificate import Certificate, unpack
from dpverify.trusted.language.errors import CertificateError, Rejected, Undecided
from dpverify.trusted.language.expr import ZERO, Expr, Num, format_expr, substitute, symbols
from dpverify.trusted.language.loading import load
from dpverify.trusted.language.model import Claim
from dpverify.trusted.language.shown import Shown, under
from dpverify.trusted.numbers.balls import precision
from dpverify.trusted.order.compare import certainly_le, certainly_lt
from dpverify.trusted.proof import CHECKED, Memory, Proof
from dpverify.trusted.well_formed import require_well_formed

if TYPE_CHECKING:
    from dpverify.trusted.facts.errors import ErrorBound

_Value = TypeVar("_Value", Expr, Expr | Infinite)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What has been proved of a claim.

    lower, upper: the enclosure of the tight epsilon at the claimed delta (for every parameter of the claim's domains), or of the tight
    value in the measure that is claimed.
    delta_lower, delta_upper: of the tight delta at the claimed epsilon. None where a side is not known. rules: what the bounds rest on.
    assumptions: what the verdict rests on, then what only a bound on the other side does, which says so. witness: of the refutation, for
    readers, with the values of the parameters under "at" where the claim ranges over some. also: further proved facts.
    errors: for each kind of error the least upper and the greatest lower bound, with the rule that each is by.
    """

    claim: Claim
    verdict: str
    lower: Expr | Infinite | None
    upper: Expr | Infinite | None
    rules: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    witness: Mapping[str, Any] | None = None
    also: Mapping[str, str] = field(default_factory=dict)
    delta_lower: Expr | None = None
    delta_upper: Expr | None = None
    errors: tuple[tuple[str, ErrorBound], ...] = ()


def check(data: Any) -> Judgement:
    """The judgement of a certificate's JSON value.

    Raises CertificateError where the data is not a certificate or states another verdict than its lines give,
    Rejected where a rule refuses its evidence.
    """
    certificate: Certificate = unpack(data)
    with shown_by(certificate):
        facts = replay(certificate, CHECKED)
        try:
            judgement = judge(certificate.claim, facts)
        except (Undecided, RuntimeError) as error:
            raise CertificateError(f"the lines cannot be judged together: {error}") from error
    if judgement.verdict != certificate.verdict:
        raise CertificateError(f"the certificate says {certificate.verdict}, its lines give {judgement.verdict}.")
    return judgement


@contextmanager
def shown_by(certificate: Certificate) -> Iterator[Shown]:
    """Put the signs in force that a certificate shows, and no others. Raises CertificateError where it does not show them."""
    with under(Shown()) as table:
        if certificate.signs:
            with precision(certificate.prec):
                load("order.shown_signs").show(certificate.signs, table)
        yield table


def replay(certificate: Certificate, known: Memory | None = None) -> list[Fact]:
    """The facts of a certificate, each made again by its rule: from nothing, or from what is known. Raises Rejected, CertificateError."""
    require_well_formed(certificate.claim)
    proof, facts = Proof(certificate.claim, known=Memory() if known is None else known), list[Fact]()
    for number, line in enumerate(certificate.lines):
        try:
            premises = [facts[premise] for premise in line.premises]
            facts.append(infer(proof, line.rule, line.parameters, premises, line.prec, line.place))
        except Rejected as error:
            raise Rejected(error.rule, f"line {number}, {error.where}", error.why) from error
        except CertificateError as error:
            raise CertificateError(f"line {number}: {error}") from error
    return facts


def infer(proof: Proof, rule: str, parameters: Mapping[str, Any], premises: Sequence[Fact], prec: int, place: tuple[Any, ...] = ()) -> Fact:
    """What a rule proves at so many bits. Raises Rejected, or CertificateError for a misuse of the rule."""
    with precision(prec):
        fact = proof.infer(rule, place, parameters, premises)
    if any(bound.quantity == "delta" for bound in as_bounds(fact.says)) and not _has_delta(proof.claim):
        raise Rejected(rule, "epsilon", "a tight delta is spoken of at epsilons that are certainly at least 0 alone")
    return fact


def _has_delta(claim: Claim) -> bool:
    """Whether the claim states an epsilon that is certainly at least 0: below it the two orders of a pair say different things."""
    return claim.epsilon is not None and certainly_le(ZERO, claim.epsilon, dict(claim.domains))


def judge(claim: Claim, facts: Sequence[Fact]) -> Judgement:
    """The verdict that facts about a claim give; what they say of its parts counts only where others rest on it.

    PROVED: an upper bound on what is asked for (the tight epsilon, or the tight delta; the tight value in a measure) is at most what is
    claimed (exists, where it is "tight"). REFUTED: a lower bound on it is above what is claimed, at one value of the parameters at least.
    """
    direct = [(fact, _asked(claim, fact)) for fact in facts if not fact.place]
    bounds = [b for _, group in direct for b in group]
    uppers = [b.value for b in bounds if b.side == "upper" and b.quantity != "delta"]
    at_delta = {"delta"} if claim.delta == ZERO else {"delta", "pure"}  # of the pure epsilon, from below, only delta = 0 is spoken of
    lowers = [b for b in bounds if b.side == "lower" and b.quantity not in at_delta and _inside(b, claim)]
    deltas = {side: [b for b in bounds if b.quantity == "delta" and b.side == side and _inside(b, claim)] for side in ("lower", "upper")}
    upper = _best(uppers, _at_most)
    lower = _best([b.value for b in lowers if not b.at], lambda a, b: _at_most(b, a))
    # of bounds that refute, one with an event, or with an epsilon that has one, is what a reader can check
    against = [b for b in lowers if _refutes(b, claim)] + [b for b in deltas["lower"] if _refutes_delta(b, claim)]
    refutation = min(against, key=lambda b: not {"event", "epsilon"} & (b.witness or {}).keys(), default=None)
    delta_uppers, delta_lowers = ([_delta_value(b) for b in deltas[side] if not b.at] for side in ("upper", "lower"))
    if _meaningful_delta(claim) and any(_contradict(above, below) for above in bounds for below in bounds):
        raise RuntimeError("the rules contradict each other: an upper bound is below a lower bound")
    # comparing closed forms over a domain can take long: not where refuted, and what is literally the claimed bound first
    open_question = refutation is None and _meaningful_delta(claim)
    pure = sorted((b.value for b in bounds if b.quantity == "pure" and b.side == "upper"), key=lambda value: value != _claimed(claim))
    proved_pure = open_question and any(_proves(value, claim) for value in pure)
    met = proved_pure or (
        open_question
        and (
            any(_proves(b.value, claim) for b in bounds if b.quantity not in ("pure", "delta") and b.side == "upper")
            or any(certainly_le(value, value if claim.delta is None else claim.delta, dict(claim.domains)) for value in delta_uppers)
        )
    )
    if proved_pure and (claim.epsilon is not None or claim.delta == ZERO):  # at the pure epsilon and above, nothing is left to delta
        delta_uppers, delta_lowers = [ZERO], [ZERO]
    assumed = [(b.side, of_a_bound(claim, b, fact.assumed)) for fact, group in direct for b in group]
    names = [name for fact, group in direct for b in group for name in (fact.rule, *b.through)]
    verdict = "PROVED" if met else "REFUTED" if refutation is not None else "UNKNOWN"
    return Judgement(
        claim=claim,
        verdict=verdict,
        lower=lower,
        upper=upper,
        rules=tuple(dict.fromkeys(names)),
        assumptions=of_a_verdict(verdict, assumed),
        witness=None if refutation is None else _witness(refutation),
        also={key: text for b in bounds for key, text in b.also.items()},
        delta_lower=_best(delta_lowers, lambda a, b: _at_most(b, a)),
        delta_upper=_best(delta_uppers, _at_most),
        errors=_errors(verdict, facts),
    )


def _asked(claim: Claim, fact: Fact) -> tuple[Bound, ...]:
    """The bounds of a fact that count: on what the claim asks for, and of one order of neighbours alone where it is about one.

    What holds from above in both orders holds in one. From below a bound is of the worse order, unless it says that it is of the one
    that is claimed, or the neighbours may be exchanged.
    """
    quantities = ("pure", "epsilon", "delta") if claim.measure is None else (claim.measure.name,)
    found = tuple(b for b in as_bounds(fact.says) if b.quantity in quantities)
    if not claim.order or all(b.side == "upper" or b.ordered for b in found) or load("parts.exchanged").either_order(claim):
        return found
    return tuple(b for b in found if b.side == "upper" or b.ordered)


def _claimed(claim: Claim) -> Expr | None:
    """What is claimed of the quantity that is asked for, None where that is "tight"."""
    return claim.epsilon if claim.measure is None else claim.measure.value


def _errors(verdict: str, facts: Sequence[Fact]) -> tuple[tuple[str, ErrorBound], ...]:
    """For each kind of error the best bound on each side, with its rule. Raises RuntimeError where these contradict each other."""
    stated = [(fact.rule, bound) for fact in facts if not fact.place for bound in as_errors(fact.says)]
    return load("facts.best_errors").best(verdict, stated, _at_most) if stated else ()


def _proves(upper: Expr | Infinite, claim: Claim) -> bool:
    if isinstance(upper, Infinite):
        return False
    # an expression is certainly at most itself only where it certainly has a value
    claimed = _claimed(claim)
    return certainly_le(upper, upper if claimed is None else claimed, dict(claim.domains))


def _refutes_delta(lower: Bound, claim: Claim) -> bool:
    return claim.delta is not None and certainly_lt(substitute(claim.delta, lower.at), _delta_value(lower), dict(claim.domains))


def _delta_value(b: Bound) -> Expr:
    if isinstance(b.value, Infinite):
        raise RuntimeError("a rule gave an infinite bound on delta")
    return b.value


def _refutes(lower: Bound, claim: Claim) -> bool:
    if isinstance(lower.value, Infinite):
        return True
    claimed = _claimed(claim)
    return claimed is not None and certainly_lt(substitute(claimed, lower.at), substitute(lower.value, lower.at), dict(claim.domains))


def _contradict(upper: Bound, lower: Bound) -> bool:
    """Whether an upper bound is certainly below a lower bound on the same, at the parameters where that holds."""
    # pure privacy implies every other: an upper bound at delta = 0 holds at the claimed delta too
    same = upper.quantity == lower.quantity or (upper.quantity, lower.quantity) == ("pure", "epsilon")
    if (upper.side, lower.side) != ("upper", "lower") or not same or isinstance(upper.value, Infinite):
        return False
    if isinstance(lower.value, Infinite):
        return True
    above, below = substitute(upper.value, lower.at), substitute(lower.value, lower.at)
    return not symbols(above) | symbols(below) and certainly_lt(above, below)


def _meaningful_delta(claim: Claim) -> bool:
    """Pure privacy implies every delta >= 0, and none below."""
    return claim.delta is None or certainly_le(ZERO, claim.delta, dict(claim.domains))


def _inside(lower: Bound, claim: Claim) -> bool:
    """Whether the parameters at which a lower bound is claimed are the claim's own and lie in their domains."""
    domains = dict(claim.domains)
    return all(name in domains and isinstance(value, Num) and domains[name].holds(value.value) for name, value in lower.at.items())


def _at_most(left: Expr | Infinite, right: Expr | Infinite) -> bool:
    """Order for the enclosure that is shown; of bounds with parameters in them the first stands."""
    if isinstance(right, Infinite):
        return True
    return not isinstance(left, Infinite) and not symbols(left) | symbols(right) and certainly_le(left, right)


def _best(values: Sequence[_Value], better: Callable[[_Value, _Value], bool]) -> _Value | None:
    """The best of the values as far as the order between them is certain."""
    best: _Value | None = None
    for value in values:
        if best is None or better(value, best):
            best = value
    return best


def _witness(lower: Bound) -> dict[str, Any]:
    at = {name: format_expr(value) for name, value in lower.at.items()}
    return {**(lower.witness or {}), **({"at": at} if at else {})}


if __name__ == "__main__":
    raise SystemExit("certificates are checked by: python -P -m dpverify.kernel FILE...")
