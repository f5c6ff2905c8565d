"""Selections of which parameters range over a domain: what one event tells of two neighbours at values of these.

Theorem: At values of the parameters of a selection an event of probability p on some answers and p' on neighbouring ones shows that the
tight delta there is at least p - e^eps p', and so does its complement.

Checked:
- the values are in the domains of the parameters; the event as by the rule selection-event
- both probabilities, by enclosed quadrature between the cuts and the tails outside

Source: docs/theory/selection.md#selection-event-at
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dpverify.trusted.kernel.balls import constant, exact, finite
from dpverify.trusted.kernel.bounds import Bound, Parameters
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ZERO, Num, substitute, symbols
from dpverify.trusted.kernel.model import ONE_WAY, Claim
from dpverify.trusted.theories.selection.compared import asked
from dpverify.trusted.theories.selection.rules.selection_event import pair_of, probabilities

NAME: Final = "selection-event-at"
ASSUMED: Final = ("the sampler is ideal", "the noises are independent of each other")

_SHOWN: Final = ("group", "lead", "move", "negatives", "positives", "next", "answers")


def check(claim: Claim, evidence: Parameters) -> Bound:
    """A lower bound on the tight delta at the claimed epsilon. Raises Rejected, Undecided, CertificateError.

    evidence: "at", values of parameters; what the rule selection-event is told of an event.
    """
    if claim.epsilon is None:
        raise Rejected(NAME, "epsilon", "none is claimed")
    told = {key: value for key, value in evidence.items() if key != "at"}
    question = asked(claim, {"side": "lower", "at": evidence.get("at", {})}, NAME, near=True)
    epsilon = substitute(claim.epsilon, question.at)
    if symbols(epsilon) or not certainly_le(ZERO, epsilon):
        raise Rejected(NAME, "epsilon", "it is not certainly a number of at least 0 there")
    both = p, q = probabilities(question, told)()
    pair = pair_of(lambda: (both, both), question.selection.neighbours in ONE_WAY)
    value = max(Fraction(0), exact(finite(pair.worst(constant(epsilon))).lower()))
    event = {"says": "event", "of": {key: told[key] for key in _SHOWN if key in told}}
    witness = {"pair": {"says": "told-apart"}, "event": event, "P": p.str(20), "Q": q.str(20)}
    return Bound("lower", Num(value), quantity="delta", at=question.at, witness=witness)
