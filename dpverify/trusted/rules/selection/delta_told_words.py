"""Streams at a delta: the pair of the probabilities of words at two neighbours bounds every curve from below.

Theorem: Words that a stream tells with probability p on some answers and p' on neighbouring ones bound delta(eps) from below by p - e^eps
p', and in the same way by all other outputs.

Checked:
- the answers of both neighbours lie between the bounds, and move as neighbours may
- both probabilities, by sums over cells of what is least and most probable in them

Source: docs/theory/selection.md#told-words-event
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from flint import arb

from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import accurately, divergence
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.pairs import Curve, Pair, Profile
from dpverify.trusted.language.model import ONE_WAY, Stream
from dpverify.trusted.parts.runs import Run, leaf
from dpverify.trusted.rules.selection import told_words
from dpverify.trusted.rules.selection.compared import asked

NAME: Final = "told-words-event"
ASSUMED: Final = told_words.ASSUMED


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run of a stream, from below. Raises Rejected, Undecided, CertificateError.

    parameters: "words", "answers", "pivots" and "grids" as of the rule about pure epsilon; "prec".
    """
    claim = leaf(run)
    mechanism, question = claim.mechanism, asked(claim, {"side": "lower"}, NAME, near=True, wanted=Stream)
    assert isinstance(mechanism, Stream)
    below = _pair(*told_words.probabilities(question, parameters), mechanism.neighbours in ONE_WAY)
    return settled.noise(run, Curve(None, below, (NAME,), ASSUMED), parameters)


def _pair(here: arb, there: arb, one_way: bool) -> Pair:
    """The pair of an event and its complement, from what is certain of both. one_way: of the other order nothing is told."""
    lows, highs = ([end.max(arb(0)).min(arb(1)) for end in ends] for ends in ((here.lower(), there.lower()), (here.upper(), there.upper())))

    def told(epsilon: arb, order: int) -> arb:
        (p, q), (most_p, most_q), factor = lows[::order], highs[::order], epsilon.exp()
        return (p - factor * most_q).max((1 - most_p) - factor * (1 - q)).max(arb(0))

    def profile(order: int) -> Profile:
        return divergence(lambda epsilon: accurately(lambda: told(epsilon, order)))

    def rest(order: int) -> arb:
        """The mass of what only the first of the two has: of words that the other certainly never tells."""
        return lows[::order][0] if highs[::order][1].is_zero() else arb(0)

    if one_way:
        return Pair(profile(1), lambda _: arb(0), rests=(partial(rest, 1), lambda: arb(0)))
    return Pair(profile(1), profile(-1), rests=(partial(rest, 1), partial(rest, -1)))
