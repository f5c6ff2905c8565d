"""The stream that a rule is asked about."""

from __future__ import annotations

from dataclasses import replace

from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.model import Stream
from dpverify.trusted.rules.selection.compared import Asked


def stream_of(question: Asked) -> Stream:
    """The mechanism, `settled`. Raises Rejected for what is no stream."""
    mechanism = question.claim.mechanism
    if not isinstance(mechanism, Stream):
        raise Rejected(question.rule, "the mechanism", "it is no stream")
    return settled(mechanism)


def settled(stream: Stream) -> Stream:
    """The stream without a last comparison that decides nothing: before the last branch, one that does the same."""
    *others, last = stream.steps
    while others and replace(others[-1], when=()) == last:
        others.pop()
    return replace(stream, steps=(*others, last))
