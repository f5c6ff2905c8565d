"""The kernel: the only maker of judgements.

Each line of a certificate names a rule, which proves a fact from the line's parameters and from the facts of lines before it. The least
upper and the greatest lower bound on the tight epsilon or the tight delta, or on the tight value in the measure that is claimed, compared
exactly with what is claimed, give the verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, TypeVar

from dpverify.trusted.kernel.assumptions import SIDES, of_a_bound, of_a_verdict
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.bounds import Bound, Infinite
from dpverify.trusted.kernel.certificate import Certificate, unpack
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected, Undecided
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, format_expr, substitute, symbols
from dpverify.trusted.kernel.fact import Fact, as_bounds, as_errors
from dpverify.trusted.kernel.model import Claim, sums_of
from dpverify.trusted.kernel.proof import CHECKED, Memory, Proof
from dpverify.trusted.kernel.shown import Shown, under
from dpverify.trusted.kernel.well_formed import require_well_formed

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
                from dpverify.trusted.order.shown_signs import show

                show(certificate.signs, table)
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
    depth = len(sums_of(claim)[:1])  # facts about the whole have no place, or that of one way to read its sums
    stated = [(fact, _asked(claim, fact)) for fact in facts if len(fact.place) == depth]
    found = _Bounds(claim, [bound for _, bounds in stated for bound in bounds])
    found.require_consistent()
    refutation = found.refutation()
    purely = refutation is None and found.proved_purely()  # comparing closed forms over a domain can take long: not where refuted
    proved = purely or (refutation is None and found.proved())
    verdict = "PROVED" if proved else "REFUTED" if refutation is not None else "UNKNOWN"
    delta_lower, delta_upper = found.delta(purely)
    return Judgement(
        claim=claim,
        verdict=verdict,
        lower=found.lower,
        upper=found.upper,
        rules=_rules(stated),
        assumptions=of_a_verdict(verdict, [(b.side, of_a_bound(claim, b, fact.assumed)) for fact, bounds in stated for b in bounds]),
        witness=None if refutation is None else _witness(refutation),
        also={key: text for bound in found.all for key, text in bound.also.items()},
        delta_lower=delta_lower,
        delta_upper=delta_upper,
        errors=_errors(verdict, facts),
    )


class _Bounds:
    """The bounds on what a claim asks for, and what they come to.

    all: as facts state them; uppers, lowers: on the tight epsilon at the claimed delta, or on the tight value in a measure; delta_lowers:
    on the tight delta; deltas_above, deltas_below: the values of bounds on it for all parameters. A bound at parameters that are not the
    claim's, or outside their domains, does not count.
    """

    def __init__(self, claim: Claim, bounds: Sequence[Bound]) -> None:
        self.claim, self.all, self.domains = claim, bounds, dict(claim.domains)
        below = [bound for bound in bounds if bound.side == "lower" and _inside(bound, claim)]
        above = [bound for bound in bounds if bound.side == "upper"]
        self.uppers = [bound for bound in above if bound.quantity != "delta"]
        self.lowers = [bound for bound in below if bound.quantity not in _not_at(claim.delta)]
        self.delta_lowers = [bound for bound in below if bound.quantity == "delta"]
        self.deltas_above = [_delta_value(bound) for bound in above if bound.quantity == "delta" and _inside(bound, claim) and not bound.at]
        self.deltas_below = [_delta_value(bound) for bound in self.delta_lowers if not bound.at]

    @property
    def upper(self) -> Expr | Infinite | None:
        return _least([bound.value for bound in self.uppers])

    @property
    def lower(self) -> Expr | Infinite | None:
        return _greatest([bound.value for bound in self.lowers if not bound.at])

    def require_consistent(self) -> None:
        """Raises RuntimeError where an upper bound is certainly below a lower bound on the same."""
        if self.meaningful and any(_contradict(upper, lower) for upper in self.all for lower in self.all):
            raise RuntimeError("the rules contradict each other: an upper bound is below a lower bound")

    @cached_property
    def meaningful(self) -> bool:
        """Pure privacy implies every delta >= 0, and none below."""
        return self.claim.delta is None or certainly_le(ZERO, self.claim.delta, self.domains)

    def refutation(self) -> Bound | None:
        """A lower bound that is above what is claimed: one with an event, or with an epsilon that has one, can be checked by a reader."""
        against = [bound for bound in self.lowers if _refutes(bound, self.claim)]
        against += [bound for bound in self.delta_lowers if _refutes_delta(bound, self.claim)]
        return min(against, key=lambda bound: not {"event", "epsilon"} & (bound.witness or {}).keys(), default=None)

    def proved_purely(self) -> bool:
        """Whether an upper bound at delta = 0 is at most what is claimed; what is literally that comes first."""
        pure = [bound.value for bound in self.uppers if bound.quantity == "pure"]
        pure.sort(key=lambda value: value != _claimed(self.claim))
        return self.meaningful and any(_proves(value, self.claim) for value in pure)

    def proved(self) -> bool:
        """Whether another upper bound is at most what is claimed: on the tight epsilon or the tight value, or on the tight delta."""
        others = (bound for bound in self.uppers if bound.quantity != "pure")
        met = self.meaningful and any(_proves(bound.value, self.claim) for bound in others)
        return met or (self.meaningful and any(map(self._proves_delta, self.deltas_above)))

    def _proves_delta(self, upper: Expr) -> bool:
        return certainly_le(upper, upper if self.claim.delta is None else self.claim.delta, self.domains)

    def delta(self, purely: bool) -> tuple[Expr | None, Expr | None]:
        """The enclosure of the tight delta. purely: whether the claimed epsilon is at least the pure one, which leaves nothing to delta."""
        if purely and (self.claim.epsilon is not None or self.claim.delta == ZERO):
            return ZERO, ZERO
        return _greatest(self.deltas_below), _least(self.deltas_above)


def _rules(stated: Sequence[tuple[Fact, Sequence[Bound]]]) -> tuple[str, ...]:
    """The rules that the bounds rest on, each once."""
    return tuple(dict.fromkeys(name for fact, bounds in stated for bound in bounds for name in (fact.rule, *bound.through)))


def _not_at(delta: Expr | None) -> frozenset[str]:
    """The quantities of which a lower bound says nothing of the epsilon at a delta: of the pure epsilon only delta = 0 is spoken of."""
    return frozenset(("delta",)) if delta == ZERO else frozenset(("delta", "pure"))


def _asked(claim: Claim, fact: Fact) -> tuple[Bound, ...]:
    """The bounds of a fact that count: on what the claim asks for, and of one order of neighbours alone where it is about one.

    What holds from above in both orders holds in one. From below a bound is of the worse order, unless it says that it is of the one
    that is claimed, or the neighbours may be exchanged.
    """
    quantities = ("pure", "epsilon", "delta") if claim.measure is None else (claim.measure.name,)
    sides = SIDES
    if fact.place:
        from dpverify.trusted.sensitivity.record_sums import side_of

        claim, sides = side_of(claim, fact.place[0])
    found = tuple(b for b in as_bounds(fact.says) if b.quantity in quantities and b.side in sides)
    ordered = tuple(b for b in found if b.side == "upper" or b.ordered)
    if not claim.order or ordered == found:
        return found
    from dpverify.trusted.combinators.exchanged import either_order

    return found if either_order(claim) else ordered


def _claimed(claim: Claim) -> Expr | None:
    """What is claimed of the quantity that is asked for, None where that is "tight"."""
    return claim.epsilon if claim.measure is None else claim.measure.value


def _errors(verdict: str, facts: Sequence[Fact]) -> tuple[tuple[str, ErrorBound], ...]:
    """For each kind of error the best bound on each side, with its rule. Raises RuntimeError where these contradict each other."""
    stated = [(fact.rule, bound) for fact in facts if fact.place in ((), ("pairs",)) for bound in as_errors(fact.says)]
    if not stated:
        return ()
    from dpverify.trusted.facts import best_errors

    return best_errors.best(verdict, stated, _at_most)


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


def _inside(lower: Bound, claim: Claim) -> bool:
    """Whether the parameters at which a lower bound is claimed are the claim's own and lie in their domains."""
    domains = dict(claim.domains)
    return all(name in domains and isinstance(value, Num) and domains[name].holds(value.value) for name, value in lower.at.items())


def _at_most(left: Expr | Infinite, right: Expr | Infinite) -> bool:
    """Order for the enclosure that is shown; of bounds with parameters in them the first stands."""
    if isinstance(right, Infinite):
        return True
    return not isinstance(left, Infinite) and not symbols(left) | symbols(right) and certainly_le(left, right)


def _least(values: Sequence[_Value]) -> _Value | None:
    """The least of the values as far as the order between them is certain."""
    return reduce(lambda best, value: value if _at_most(value, best) else best, values) if values else None


def _greatest(values: Sequence[_Value]) -> _Value | None:
    """The greatest of the values as far as the order between them is certain."""
    return reduce(lambda best, value: value if _at_most(best, value) else best, values) if values else None


def _witness(lower: Bound) -> dict[str, Any]:
    at = {name: format_expr(value) for name, value in lower.at.items()}
    return {**(lower.witness or {}), **({"at": at} if at else {})}


if __name__ == "__main__":
    raise SystemExit("certificates are checked by: python -P -m dpverify.kernel FILE...")
