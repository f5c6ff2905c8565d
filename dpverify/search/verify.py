"""The main path: a claim, the search's proposal, the kernel's judgement.

The search may be wrong about anything; what it proposes is only kept where the kernel accepts it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

from dpverify.search import extend_with_curve, propose
from dpverify.search.certificates import lines, pack, record
from dpverify.search.proposal import Proposal, inside
from dpverify.search.signs.needed import with_signs
from dpverify.search.signs.seek import Sought
from dpverify.search.verified import Proved as Proved
from dpverify.search.verified import Verified as Verified
from dpverify.search.witness_words import in_words
from dpverify.trusted.kernel import certificate
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import Bound, Infinite
from dpverify.trusted.kernel.canonical_form import claim_hash, from_json, to_json
from dpverify.trusted.kernel.errors import CertificateError, DpverifyError, Rejected, Undecided
from dpverify.trusted.kernel.expr import ZERO, Expr
from dpverify.trusted.kernel.fact import Fact, as_bounds, as_errors
from dpverify.trusted.kernel.loading import asked_for
from dpverify.trusted.kernel.model import Claim, Combinator, CorrelatedNoise, Leaf, Noise, NoisyKeys, Shuffle, Space, sums_of
from dpverify.trusted.kernel.proof import Place, Proof
from dpverify.trusted.kernel.shown import under
from dpverify.trusted.kernel.well_formed import require_well_formed

_ASIDE_DIGITS: Final = 9
"""Digits of what was not asked for."""


_SUMS: Final = ("combination", "one-sided")
"""Rules whose sums are told of in words."""
_TOLD: Final = ("combination", "cameron-martin")
"""Rules whose lines tell readers more than their bounds."""
_CURVES: Final = ("privacy-profile", "closed-profile")
"""Rules by whose curves a mechanism may be something in other measures, which is told too."""


def verify(claim: Claim, digits: int = 20) -> Verified:
    """Prove or refute a claim, with its tight epsilon enclosed to `digits` digits where a rule reaches it."""
    if sums_of(claim):
        from dpverify.search.records import over_records

        return over_records(claim, lambda read: verify(read, digits), replayed)
    with under(Sought()) as table:
        claim = from_json(to_json(claim))  # what is judged is what the certificate says
        require_well_formed(claim)
        found = _verified(claim, digits)
        return replace(found, certificate=with_signs(found.certificate, table)) if table.signs else found


def _verified(claim: Claim, digits: int) -> Verified:
    proposal = propose(claim, digits)
    kept = _Kept(claim, proposal.prec)
    judgement = kept.judged(proposal.steps)
    if _wants_a_curve(claim, judgement):
        judgement = _with_curve(kept, proposal, judgement, digits)
    if claim.utility:
        judgement = _with_errors(kept, digits)
    reasons = [*proposal.reasons, *kept.reasons]
    if judgement.verdict == "UNKNOWN" and None not in (judgement.lower, judgement.upper):
        what = "epsilon" if claim.measure is None else "value"
        reasons.append(_within(what, judgement.lower, judgement.upper, _sharp_at(claim, digits)))
    elif judgement.verdict == "UNKNOWN" and claim.measure is not None and judgement.upper is None and judgement.lower is not None:
        reasons.append("no upper bound is known in this measure: it wants a finite pure epsilon, Gaussian parts, or a guarantee in it.")
    elif judgement.verdict == "UNKNOWN" and None not in (judgement.delta_lower, judgement.delta_upper):
        reasons.append(_within("delta", judgement.delta_lower, judgement.delta_upper, _sharp_at(claim, digits)))
    elif judgement.verdict == "UNKNOWN" and (judgement.upper is not None or judgement.delta_upper is not None):
        reasons.append("the claim is below the upper bound that is known, and no lower bound is: claim the bound, or audit a sampler.")
    judgement = _told(kept.trimmed(judgement), lines(kept.facts))
    proved = kept.proved
    packed = pack(claim, proposal.prec, judgement.verdict, [line for line, _ in proved])
    return Verified(judgement, packed, tuple(dict.fromkeys(reasons)), proved)


def _with_curve(kept: _Kept, proposal: Proposal, judgement: kernel.Judgement, digits: int) -> kernel.Judgement:
    """The judgement with the tight delta at the claimed epsilon; where it was to bring a verdict, only if it does."""
    steps, facts, reasons = len(proposal.steps), list(kept.facts), (list(proposal.reasons), list(kept.reasons))
    extend_with_curve(proposal, kept.claim, min(digits, _ASIDE_DIGITS))
    found = kept.judged(proposal.steps[steps:])
    if (judgement.verdict, found.verdict) != ("UNKNOWN", "UNKNOWN"):
        return found
    kept.facts, proposal.reasons, kept.reasons = facts, *reasons
    return judgement


def _wants_a_curve(claim: Claim, judgement: kernel.Judgement) -> bool:
    """Whether a claim of a pure epsilon leaves a question that the tight delta at that epsilon answers.

    Where no epsilon holds by itself, there may be a delta. What parts come to together has no pure lower bound that is known where they
    share neighbours, are sampled, or are looked at in one order, and noise of which no loss is bounded may lose more between answers that
    are closer than the farthest; a delta above 0 at the claimed epsilon refutes all the same.
    """
    if claim.delta != ZERO or claim.epsilon is None:
        return False
    if judgement.verdict == "UNKNOWN" and not claim.domains:
        by_curve = Combinator | NoisyKeys | Shuffle | CorrelatedNoise
        return isinstance(claim.mechanism, by_curve) or (isinstance(claim.mechanism, Noise) and judgement.upper is None)
    return not isinstance(claim.mechanism, Combinator | Space) and isinstance(judgement.lower, Infinite)


def _sharp_at(claim: Claim, digits: int) -> float:
    """How narrow an enclosure is, by its end, that rounding or a grid alone keeps open, and not what the rules leave between them.

    A grid has a fifth of the digits; curves in other measures have few digits, however many are asked for.
    """
    return 10.0 ** -(digits / 2 if claim.measure is not None else digits // 5 - 1)


def _within(what: str, lower: Any, upper: Any, sharp: float) -> str:
    """What to do about a claim between the bounds."""
    within = f"the claimed {what} lies within the enclosure of the tight one: "
    with suppress(DpverifyError):
        if not isinstance(upper, Infinite) and not constant(upper) - constant(lower) > sharp * constant(upper):
            return within + "ask for more digits, or claim another."
    return within + "the bounds that are known are no closer, with more digits either; claim one of them, or a value beyond."


def _with_errors(kept: _Kept, digits: int) -> kernel.Judgement:
    """The judgement with the errors that a claim asks for. What is not found of them stops no verdict."""
    from dpverify.search.utility import errors as utility

    proof = Proof(kept.claim)
    proposal = utility.propose(proof, kept.facts, digits, kept.prec)
    before = list(kept.reasons)
    judgement = kept.judged(proposal.steps)
    kept.reasons[:] = before
    return judgement


def replayed(packed: Any) -> Verified:
    """What the kernel says of a certificate (its JSON value). Nothing is searched.

    Raises CertificateError where it is none or says another verdict than its lines give; Rejected for a line that is refused.
    """
    return _replayed(certificate.unpack(packed), packed, ())


def rejudged(claim: Claim, packed: Any, reasons: tuple[str, ...] = ()) -> Verified:
    """What the kernel says today of a certificate that was found for the claim before.

    Raises what `replayed` raises, and CertificateError where the certificate is of another claim.
    """
    read = certificate.unpack(packed)
    if packed["claim_sha256"] != claim_hash(to_json(claim)):
        raise CertificateError("the certificate is of another claim than the one asked about.")
    return _replayed(read, packed, reasons)


def _replayed(read: certificate.Certificate, packed: Any, reasons: tuple[str, ...]) -> Verified:
    with asked_for() as places, kernel.shown_by(read):
        facts = kernel.replay(read)
        try:
            judgement = kernel.judge(read.claim, facts)
        except (Undecided, RuntimeError) as error:
            raise CertificateError(f"the lines cannot be judged together: {error}") from error
    if judgement.verdict != read.verdict:
        raise CertificateError(f"the certificate says {read.verdict}, its lines give {judgement.verdict}.")
    bounds = [() if fact.place else as_bounds(fact.says) for fact in facts]
    return Verified(_told(judgement, facts), packed, reasons, tuple(zip(read.lines, bounds, strict=True)), tuple(places))


def _told(judgement: kernel.Judgement, facts: Sequence[Fact]) -> kernel.Judgement:
    """The judgement with its witness in words. What finds the words is loaded where there is something to tell."""
    if judgement.witness is not None:
        judgement = replace(judgement, witness=in_words(judgement.witness))
    witness = judgement.witness or {"pair": ""}
    plain = "pair" in witness and "epsilon" not in witness and not {"event", "at"} <= witness.keys()
    if plain and isinstance(judgement.claim.mechanism, Leaf) and not any(fact.rule in (*_SUMS, *_CURVES) for fact in facts):
        return judgement
    from dpverify.search.events import told

    return told(judgement, facts)


def _counts(bound: Bound, claim: Claim) -> bool:
    """Whether a bound says something of the claim: one on the pure epsilon from below says nothing of a delta above 0."""
    if bound.side == "upper":
        return not isinstance(bound.value, Infinite)
    return bound.quantity != "pure" or claim.delta == ZERO


def _shown(judgement: kernel.Judgement) -> kernel.Judgement:
    """What a judgement says, whatever it rests on."""
    return replace(judgement, rules=(), assumptions=())


def _stated(fact: Fact) -> set[tuple[str, Expr | Infinite]]:
    """The values that a fact states, each with its side."""
    return {(bound.side, bound.value) for bound in as_bounds(fact.says)}


@dataclass(slots=True)
class _Kept:
    """The facts that rules prove of what is proposed, and the reasons why they refused others."""

    claim: Claim
    prec: int
    facts: list[Fact] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    def judged(self, steps: Iterable[Mapping[str, Any]]) -> kernel.Judgement:
        """The judgement by these and all steps before."""
        proof = Proof(self.claim)
        for step in steps:
            try:
                fact = self._fact(proof, step)
            except (Rejected, CertificateError) as error:
                self.reasons.append(str(error))
            else:
                counts = any(_counts(bound, self.claim) for bound in as_bounds(fact.says)) or as_errors(fact.says)
                self.facts += [fact] if counts else []
        return kernel.judge(self.claim, lines(self.facts))

    def _fact(self, proof: Proof, step: Mapping[str, Any], place: Place = ()) -> Fact:
        inner = [self._fact(proof, below, (*place, last)) for last, below in inside(step)]
        return kernel.infer(proof, step["rule"], step["evidence"], inner or step.get("premises", ()), step.get("prec", self.prec), place)

    def trimmed(self, judgement: kernel.Judgement) -> kernel.Judgement:
        """The same judgement by what it needs: facts without which it says the same are dropped, those of the longest proof first."""
        said, claim = _shown(judgement), self.claim
        uppers, lowers = (judgement.upper, judgement.delta_upper, claim.epsilon, claim.delta), (judgement.lower, judgement.delta_lower)
        wanted = {*(("upper", value) for value in uppers), *(("lower", value) for value in lowers)}
        latest = self.facts[::-1]
        for fact in sorted(latest, key=lambda fact: len(lines([fact])), reverse=True):
            rest = [other for other in self.facts if other is not fact]
            if not rest or fact.rule in _TOLD or "spent" in fact.parameters or (_stated(fact) & wanted).difference(*map(_stated, rest)):
                continue  # it alone states what is shown
            without = kernel.judge(claim, lines(rest))
            if _shown(without) == said:
                self.facts, judgement = rest, without
        return judgement

    @property
    def proved(self) -> Proved:
        """Each line of the proof with its bounds."""
        bounds = [() if fact.place else as_bounds(fact.says) for fact in lines(self.facts)]
        return tuple(zip(record(self.facts), bounds, strict=True))
