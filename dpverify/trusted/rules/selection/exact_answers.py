"""Exact answers against a noisy threshold: they are compared without bound (theory#log-concave-threshold)."""

from __future__ import annotations

from typing import Final

from dpverify.trusted.facts.bounds import INFINITE, Bound
from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.expr import ONE, ZERO, num, sub
from dpverify.trusted.language.model import AboveThreshold
from dpverify.trusted.order.compare import certainly_le, certainly_lt
from dpverify.trusted.rules.selection.compared import Asked, slopes

RULE: Final = "log-concave-threshold"


def exact(question: Asked, mechanism: AboveThreshold) -> Bound:
    """Two exact answers less than the sensitivity apart, the first negative, the second positive: no noise does so once they have met."""
    domains = question.domains
    if question.side != "lower" or mechanism.query_noise is not None or mechanism.threshold_noise is None:
        raise Rejected(RULE, "the answers", "they are not exact, or the threshold is, or this is no lower bound")
    if getattr(mechanism.threshold_noise, "support", (None, None)) != (None, None) or question.whole:
        raise Rejected(RULE, "the threshold", "its noise is not certainly positive everywhere on the line")
    slopes(question, mechanism.threshold_noise)
    room = ONE if mechanism.bounds is None else sub(mechanism.bounds[1], mechanism.bounds[0])
    if not certainly_le(num(2), mechanism.queries, domains):
        raise Rejected(RULE, "the queries", "they are not certainly two or more")
    if not (certainly_lt(ZERO, question.moved, domains) and certainly_lt(ZERO, room, domains)):
        raise Rejected(RULE, "the sensitivity", "it is not certain that answers move")
    return question.bound(INFINITE, {"says": "two-near-answers"}, {"says": "until-they-meet"})
