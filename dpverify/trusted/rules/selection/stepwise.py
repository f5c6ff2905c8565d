"""The stream that a rule is asked about."""

from __future__ import annotations

from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.model import Stream
from dpverify.trusted.rules.selection.compared import Asked


def stream_of(question: Asked) -> Stream:
    """The mechanism. Raises Rejected for what is no stream."""
    mechanism = question.claim.mechanism
    if not isinstance(mechanism, Stream):
        raise Rejected(question.rule, "the mechanism", "it is no stream")
    return mechanism
