"""Selections with any noise on the line: a bound for every number of candidates and queries, from what each noise loses by itself.

Theorem: Let w(s) be the pure epsilon of a noise by itself where what it is added to moves by at most s. The index of the greatest of any
number of noisy answers has at most w(r), on the reals its lead over the next one too: r = 2D where each answer moves by at most D, r = D
where all move the same way or one moves alone, in a hull D times the greatest difference of two numbers of one of its points. Above
threshold with c positives and any number of queries has at most w_1(D) + c w_2(2D). What n noisy answers tell is at most n w(D).

Checked:
- the pure epsilon of each noise, by rules about it
- the counts are integers of at least 1, the noises on the line

Source: docs/theory/selection.md#selection-moduli
"""

from __future__ import annotations

from typing import Any, Final

from dpverify.trusted.combinators import noises
from dpverify.trusted.facts.premises import pure_of, through_of
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, Expr, add, mul, num
from dpverify.trusted.kernel.fact import Parameters, Premises
from dpverify.trusted.kernel.model import AboveThreshold, Claim, NoisyMax, OnLine
from dpverify.trusted.theories.selection.compared import Asked, asked, most_lead
from dpverify.trusted.theories.selection.rules.log_concave_noisy_max import leads_move_together

NAME: Final = "selection-moduli"
ASSUMED: Final = ("the noises are independent of each other",)

Term = tuple[Expr, str, int | str]


def infer(claim: Claim, parameters: Parameters, premises: Premises) -> Bound:
    """The upper bound. Raises Rejected, CertificateError.

    parameters: "way", "told" as if all noisy answers were told, else by what the noises of comparisons are moved. premises: the pure
    epsilons that `terms` asks for, in that order.
    """
    question = asked(claim, {}, NAME)
    wanted = terms(question, parameters.get("way"))
    parts, assumed, through = [], list[str](), list[str]()
    for (count, name, times), premise in zip(wanted, premises, strict=True):
        epsilon, lines = pure_of(premise, noises.question(claim, name, times), NAME)
        parts.append(mul(count, epsilon))
        assumed += lines
        through += through_of(premise)
    return Bound("upper", add(*parts), assumed=tuple(dict.fromkeys(assumed)), through=tuple(dict.fromkeys(through)))


def terms(question: Asked, way: Any) -> list[Term]:
    """How often each noise counts, by its name, and for a move of how many times that of an answer. Raises Rejected, CertificateError."""
    mechanism = question.selection
    found = _of_max(question, mechanism, way) if isinstance(mechanism, NoisyMax) else _of_threshold(question, mechanism, way)
    for _, name, _ in found:
        noise: OnLine | None = getattr(mechanism, name)
        if noise is None or getattr(noise, "dimension", ONE) != ONE:
            raise Rejected(NAME, name, "there is none, or it is not on the line")
    return found


def _of_max(question: Asked, mechanism: NoisyMax, way: str) -> list[Term]:
    count = mechanism.candidates
    require(not (mechanism.hull and way == "told"), Rejected(NAME, "hull", "it is about comparisons alone"))
    if mechanism.report == "index" and certainly_le(count, ONE, question.domains):
        return []  # the index of one answer tells nothing
    if way == "told" or mechanism.report == "value":
        return [(ONE if mechanism.neighbours == "one" else count, "noise", 1)]
    if mechanism.report == "index+gap" and not certainly_le(num(2), count, question.domains):
        raise Rejected(NAME, "candidates", "there is no lead over a next one where there may be one alone")
    if mechanism.report == "index+gap":
        leads_move_together(question, count)
    lead = question.value(most_lead(mechanism), "hull")
    return [(ONE, "noise", int(lead) if lead.denominator == 1 else str(lead))] if lead else []


def _of_threshold(question: Asked, mechanism: AboveThreshold, way: str) -> list[Term]:
    """Where answers are compared, the noise of the threshold is moved up; that is not needed where one moves alone, or none moves up."""
    queries = mechanism.queries
    most = queries if mechanism.positives is None else mechanism.positives
    alone, told = mechanism.neighbours == "one", way == "told" or mechanism.report == "answers+value"
    fresh: list[Term] = [] if mechanism.fresh is None else [(ONE if alone else most, "fresh", 1)]
    if alone or told:
        return [(ONE if alone else queries, "query_noise", 1), *fresh]
    if mechanism.neighbours == "decreasing":
        return [(most, "query_noise", 1), *fresh]
    draws = most if mechanism.resample else ONE
    return [(draws, "threshold_noise", 1), (most, "query_noise", 2 if mechanism.neighbours == "all" else 1), *fresh]
