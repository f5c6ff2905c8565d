"""Proposes bounds for selections: which output loses the most, and values of the parameters where a claim fails."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from dpverify.search import counterexample
from dpverify.search.proposal import Premise, Proposal, Steps, bound
from dpverify.search.selection import every_word, survival, worst_output
from dpverify.trusted.combinators import noises
from dpverify.trusted.combinators.parameters import fixed
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, num, substitute, symbols
from dpverify.trusted.kernel.fact import as_bounds
from dpverify.trusted.kernel.model import AboveThreshold, Claim, Compared, Domain, NoisyMax, on_integers
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.language.rationals import to_fraction
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.theories.selection import shifted
from dpverify.trusted.theories.selection.compared import asked
from dpverify.trusted.theories.selection.rules import log_concave_noisy_max as noisy_max
from dpverify.trusted.theories.selection.rules import log_concave_threshold as threshold
from dpverify.trusted.theories.selection.rules import selection_moduli as moduli

_FARTHEST = 1 << 20
"""The most queries or candidates that are looked at where their number is a parameter."""
_MOST_RAISED = 100
"""The most positives of which it is looked at how many move up."""
_POINTS = 60
_NONE = (
    "no finite epsilon is known for all answers and all values of the parameters: state bounds of the answers, or claim an epsilon at a "
    "delta above 0."
)


def extend(proposal: Proposal, claim: Claim, digits: int, known: Premise) -> None:
    """Add what is proved of a selection. known: of the noises by themselves."""
    before = len(proposal.reasons)
    mechanism = claim.mechanism
    assert isinstance(mechanism, Compared)
    # what is known of the worst output is of both ways to decide ties
    exactly = getattr(mechanism, "ties", "") and mechanism.bounds is not None and not claim.domains
    if exactly and proposal.extend(every_word.propose, claim, digits) and every_word.is_whole(claim):
        del proposal.reasons[before:]
        return
    between = mechanism.bounds is not None and not claim.domains and proposal.extend(worst_output.between_bounds, claim, digits)
    if between and not (mechanism.neighbours == "one" and isinstance(mechanism, AboveThreshold)):
        if _is_open(claim, proposal.steps):  # nothing is sharper, but what holds of all answers may be the very number that is claimed
            proposal.extend(lambda claim, _: list(_upper(replace(claim, epsilon=None, delta=None))), claim, digits)
        return
    if mechanism.bounds is not None and on_integers(mechanism) and not claim.domains and proposal.extend(every_word.propose, claim, digits):
        del proposal.reasons[before:]
        if every_word.is_whole(claim):
            return
    if proposal.extend(_log_concave, claim, digits):
        if all(step["evidence"].get("side") == "lower" or _is_infinite(claim, step) for step in proposal.steps):
            if _is_still(claim) and proposal.extend(lambda claim, _: _by_moduli(claim, known), claim, digits):
                del proposal.reasons[before:]
                return
            proposal.reasons.append(_NONE)
        return
    winner = isinstance(mechanism, NoisyMax)
    found = winner and (proposal.extend(_greater_of_two, claim, digits) or proposal.extend(survival.propose, claim, digits))
    if proposal.extend(lambda claim, _: _by_moduli(claim, known), claim, digits) or found:
        del proposal.reasons[before:]
    reasons = len(proposal.reasons)
    if proposal.above or _is_met(claim, proposal.steps) or proposal.extend(worst_output.apart, claim, digits):
        del proposal.reasons[reasons:]
    if all(step["evidence"].get("side") == "lower" for step in proposal.steps):
        proposal.reasons.append(_NONE)


def _is_still(claim: Claim) -> bool:
    """Whether the answers of neighbours are certainly equal: any noises lose nothing then, also those that have no finite epsilon."""
    return claim.sensitivity is not None and certainly_le(claim.sensitivity, ZERO, dict(claim.domains))


def _is_open(claim: Claim, steps: Steps) -> bool:
    """Whether numbers on both sides leave a claim open, where all have enclosures that are numbers."""
    if claim.epsilon is None or any("value" not in step["evidence"] for step in steps):
        return False
    above, below = (
        [num(to_fraction(step["evidence"]["value"], "value")) for step in steps if _side(step) == side] for side in ("upper", "lower")
    )
    return not any(certainly_le(value, claim.epsilon) for value in above) and not any(certainly_lt(claim.epsilon, value) for value in below)


def _side(step: Mapping[str, Any]) -> str:
    return str(step["evidence"].get("side", "upper"))


def _is_infinite(claim: Claim, step: Mapping[str, Any]) -> bool:
    return step["rule"] in (noisy_max.NAME, threshold.NAME) and isinstance(_value(replace(claim, epsilon=None), step), Infinite)


def _greater_of_two(claim: Claim, digits: int) -> Steps:
    mechanism = claim.mechanism
    if not isinstance(mechanism, NoisyMax) or mechanism.candidates != num(2):
        return []
    from dpverify.search.selection import two_candidates

    return two_candidates.propose(claim, digits)


def _is_met(claim: Claim, steps: Steps) -> bool:
    """Whether what has been found proves the claim."""
    if claim.epsilon is None:
        return False
    proof, domains = Proof(replace(claim, epsilon=None, delta=None)), dict(claim.domains)
    for step in steps:
        try:
            bounds = as_bounds(bound(proof, (), step).says)
        except DpverifyError:
            continue
        if any(b.side == "upper" and not isinstance(b.value, Infinite) and certainly_le(b.value, claim.epsilon, domains) for b in bounds):
            return True
    return False


def _by_moduli(claim: Claim, known: Premise) -> Steps:
    """Upper bounds from what the noises lose by themselves, each way that gives one."""
    unclaimed, steps = replace(claim, epsilon=None, delta=None), Steps()
    question = asked(unclaimed, {}, moduli.NAME)
    for way in ("compared", "told"):
        try:
            places = [{"noise": name, "moved": times} for _, name, times in moduli.terms(question, way)]
            found = [known(noises.question(unclaimed, place["noise"], place["moved"]), "upper") for place in places]
        except DpverifyError:
            continue
        if None not in found:
            steps.append({"rule": moduli.NAME, "evidence": {"way": way}, "noises": list(zip(places, found, strict=True))})
    return steps


def _log_concave(claim: Claim, _: int) -> Steps:
    """Both sides of the exact rules, and a lower bound at values of the parameters that breaks the claim, where there is one."""
    unclaimed = replace(claim, epsilon=None, delta=None)
    if _is_exact(unclaimed):
        return [{"rule": threshold.NAME, "evidence": {"side": "lower", "exact": True}}]
    steps = list(_upper(unclaimed))
    if getattr(claim.mechanism, "bounds", None) is not None:
        return steps
    lower = _lower(unclaimed)
    if claim.epsilon is not None and (meeting := [step for step in steps if _met(claim, [step])]):
        return [*meeting, *(step for step in steps if step not in meeting), *lower]  # of bounds with parameters the first is shown
    steps += lower
    if claim.epsilon is None:
        return steps
    against = list(islice(_against(claim), 1)) if claim.domains else _breaks(claim, {})
    return [*steps, *(step for step in against if step not in steps), *_shown(claim, against)]


def _is_exact(claim: Claim) -> bool:
    """Whether two exact answers tell neighbours apart."""
    try:
        threshold.check(claim, {"side": "lower", "exact": True})
    except DpverifyError:
        return False
    return True


def _shown(claim: Claim, against: Steps) -> Steps:
    """The output of a bound that refutes, with its probabilities at a pair of answers, where these are known."""
    for step in against:
        told, mechanism = step["evidence"], claim.mechanism
        if isinstance(mechanism, NoisyMax):  # in all ways to move the winner is the one that goes down
            return worst_output.refutation(claim, 0, int(mechanism.neighbours != "all"), told.get("at", {}))
        if "positives" in told:
            return worst_output.refutation(claim, told["positives"], told["move"], told.get("at", {}))
    return []


def _upper(claim: Claim) -> Iterator[dict[str, Any]]:
    assert isinstance(claim.mechanism, Compared)
    if isinstance(claim.mechanism, NoisyMax):
        noisy_max.check(claim, {})  # its reasons are the reader's
        yield {"rule": noisy_max.NAME, "evidence": {}}
        return
    tried: list[dict[str, Any]] = [{}] if _told_at_once(claim) else [{"shift": way} for way in ("up", "still", "down")]
    peaks = [] if claim.mechanism.resample else _peaks(claim)
    tried = [{"peaks": [list(peak.every) or peak.positives for peak in peaks]}, *tried] if peaks else tried
    found, refused = False, None
    for evidence in tried:
        try:
            bound = threshold.check(claim, evidence)
        except DpverifyError as error:
            refused = error
            continue
        found = True
        if not isinstance(bound.value, Infinite):
            yield {"rule": threshold.NAME, "evidence": evidence}
        if "peaks" in evidence:
            return  # nothing is sharper
    if refused is not None and not found:
        raise refused


def _met(claim: Claim, steps: Steps) -> bool:
    """Whether an upper bound is within what is claimed."""
    uppers = (_value(claim, step) for step in steps if step["evidence"].get("side") != "lower")
    assert claim.epsilon is not None
    return any(not isinstance(value, Infinite) and certainly_le(value, claim.epsilon, dict(claim.domains)) for value in uppers)


def _value(claim: Claim, step: Mapping[str, Any]) -> Expr | Infinite:
    """What a step proves. Raises DpverifyError."""
    check = noisy_max.check if step["rule"] == noisy_max.NAME else threshold.check
    return check(claim, step["evidence"]).value


def _lower(claim: Claim, at: Mapping[str, str] | None = None) -> Steps:
    """The lower bound by the output that loses the most, at values of parameters where some are given."""
    told: dict[str, Any] = {"side": "lower", **({"at": dict(at)} if at else {})}
    if isinstance(claim.mechanism, NoisyMax):
        return [{"rule": noisy_max.NAME, "evidence": told}]
    if _told_at_once(claim):
        return [{"rule": threshold.NAME, "evidence": told}]
    here = fixed(claim, told, "the search")[0] if at else claim
    found = _peaks(here)
    if not found:
        return []
    move, peak = max(enumerate(found), key=lambda item: item[1].height)
    more = {"raised": peak.raised} if peak.raised else {}
    return [{"rule": threshold.NAME, "evidence": {**told, "negatives": peak.negatives, "positives": peak.positives, **more, "move": move}}]


def _told_at_once(claim: Claim) -> bool:
    """Whether the rule needs no output to be named."""
    mechanism = claim.mechanism
    return isinstance(mechanism, AboveThreshold) and (mechanism.report == "answers+value" or mechanism.neighbours == "one")


# -- the worst output ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Peak:
    """The output that loses the most, and what it loses.

    positives: those that move down; raised: more that move up. every: for each number of the first that of the others which lose the most,
    where that is looked at.
    """

    negatives: int
    positives: int
    height: float
    raised: int = 0
    every: tuple[int, ...] = ()


def _peaks(claim: Claim) -> list[Peak]:
    """For each way to move; empty without counts."""
    mechanism = claim.mechanism
    if not isinstance(mechanism, AboveThreshold) or _told_at_once(claim) or not isinstance(mechanism.queries, Num):
        return []
    most = mechanism.queries if mechanism.positives is None else mechanism.positives
    if not isinstance(most, Num):
        return []
    question = asked(replace(claim, mechanism=replace(mechanism, bounds=None)), {"side": "lower"}, threshold.NAME)
    queries, limit = int(mechanism.queries.value), int(min(mechanism.queries.value, most.value))
    sample = counterexample.simplest(dict(claim.domains))
    return [_peak(loss, mechanism.resample, queries, limit, sample) for loss in shifted.losses_of(question, mechanism)]


def _peak(loss: shifted.Loss, again: bool, queries: int, limit: int, sample: Mapping[str, Expr]) -> Peak:
    """The output, as a concave function of the number of its positives."""
    if not again and _float(loss.raised, sample) > _float(loss.lowered, sample) and limit <= _MOST_RAISED:
        return _with_raised(loss, queries, limit, sample)

    def negatives(positives: int) -> int:
        return queries // max(1, positives) - 1 if again else queries - positives

    def height(positives: int) -> float:
        if again:
            return positives * _float(loss.of(num(negatives(positives)), num(1)), sample) if positives else 0.0
        return _float(loss.of(num(negatives(positives)), num(positives)), sample)

    best = _highest(height, limit)
    return Peak(max(0, negatives(best)), best, height(best))


def _with_raised(loss: shifted.Loss, queries: int, limit: int, sample: Mapping[str, Expr]) -> Peak:
    """The output where positives may move up as well, which is worth while where their fresh noise is moved at a greater cost so."""

    def height(positives: int, raised: int) -> float:
        return _float(loss.of(num(queries - positives - raised), num(positives), num(raised)), sample)

    every = tuple(_highest(partial(height, positives), limit - positives) for positives in range(limit + 1))
    best = max(range(limit + 1), key=lambda positives: height(positives, every[positives]))
    return Peak(queries - best - every[best], best, height(best, every[best]), every[best], every)


def _highest(height: Callable[[int], float], limit: int) -> int:
    """Where a concave function on 0, ..., limit is greatest."""
    low, high = 0, limit
    while high - low > 8:
        a, b = low + (high - low) // 3, high - (high - low) // 3
        low, high = (a, high) if height(a) < height(b) else (low, b)
    return max(range(low, high + 1), key=height)


def _float(value: Expr | Infinite, sample: Mapping[str, Expr]) -> float:
    return math.inf if isinstance(value, Infinite) else float(enclose(substitute(value, sample)).mid())


# -- values of the parameters that break a claim ----------------------------------------------------------------------


def _against(claim: Claim) -> Iterator[dict[str, Any]]:
    """Lower bounds that are above the claimed epsilon, at the fewest candidates or queries of those that are looked at."""
    domains, name = dict(claim.domains), counted(claim)
    others = {other: domain for other, domain in claim.domains if other != name}
    for point in islice(counterexample.points(others), _POINTS if others else 1):
        if name is None:
            yield from _breaks(claim, point)
            continue
        tried = list(_counts(domains[name]))
        if not any(_breaks(claim, {**point, name: num(count)}) for count in tried[-1:] + tried[:8]):
            continue
        for number, count in enumerate(tried):
            if _breaks(claim, {**point, name: num(count)}):
                first = tried[number - 1] + 1 if number else count
                while first < count:  # losses do not fall with the count; a claim may rise with it, and then this is one that breaks it
                    middle = (first + count) // 2
                    first, count = (first, middle) if _breaks(claim, {**point, name: num(middle)}) else (middle + 1, count)
                yield from _breaks(claim, {**point, name: num(count)})
                break


def counted(claim: Claim) -> str | None:
    """The parameter that is the number of candidates or queries, if it is one that ranges over a domain."""
    mechanism = claim.mechanism
    count = (
        mechanism.candidates if isinstance(mechanism, NoisyMax) else mechanism.queries if isinstance(mechanism, AboveThreshold) else num(1)
    )
    names = sorted(symbols(count))
    return names[0] if len(names) == 1 and names[0] in dict(claim.domains) else None


def _counts(domain: Domain) -> Iterator[int]:
    """Counts of a domain, by ones and then by doubling."""
    count = 1 if domain.lower is None else math.ceil(domain.lower) + (domain.lower_open and domain.lower == math.ceil(domain.lower))
    step = 1
    while count <= _FARTHEST and domain.holds(num(count).value):
        yield count
        step = 1 if count < 8 else count
        count += step


def _breaks(claim: Claim, point: Mapping[str, Expr]) -> Steps:
    """The lower bound at a point, where it is above what is claimed there."""
    assert claim.epsilon is not None
    at = {name: str(value.value) for name, value in point.items() if isinstance(value, Num)}
    try:
        steps = _lower(replace(claim, epsilon=None, delta=None), at)
        for step in steps:
            value = _value(claim, step)
            if isinstance(value, Infinite) or certainly_lt(substitute(claim.epsilon, point), value, {}):
                return steps
    except DpverifyError:
        pass
    return []
