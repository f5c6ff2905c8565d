"""Streams and selections of which bounds meet: ties, long counters, thresholds that are drawn again, and first answers that are not told.

Expected values are by hand, or from sums over a fine lattice of the noise of the threshold.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpverify.catalogue.reader import read_tables
from dpverify.search.proposal import Proposal
from dpverify.search.selection import streams
from dpverify.search.verify import verify
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.expr import format_expr, num, parse
from dpverify.trusted.kernel.model import Domain
from dpverify.trusted.theories.selection.rules import alignment


def named(name, scale):
    return {"kind": "builtin", "name": name, "scale": scale}


def claimed(mechanism, epsilon="tight"):
    return read_tables("a test", {"mechanism": mechanism, "claim": [{"sensitivity": 1, "epsilon": epsilon}]}).claims[0].claim


def judged(mechanism, epsilon="tight"):
    return verify(claimed(mechanism, epsilon)).judgement


def with_a_tie(noise, **of_tie):
    """An answer that is met exactly is told, before it is said whether it is above the threshold."""
    return {
        "kind": "stream",
        "once": {"rho": named(noise, 2)},
        "fresh": {"nu": named(noise, 4)},
        "limits": {"found": 1},
        "queries": 1,
        "step": [
            {"when": ["q + nu >= rho", "q + nu <= rho"], "emit": "tie", **of_tie},
            {"when": "q + nu >= rho", "emit": "above", "count": {"found": 1}},
            {"emit": "below"},
        ],
    }


def test_a_tie_that_has_probability_0_may_tell_what_it_likes():
    # one answer loses what its own noise does, which costs less than that of the threshold
    claim, proposal = claimed(with_a_tie("laplace", tell="q")), Proposal(above=True)
    streams.extend(proposal, claim, 20, lambda *_: None)
    (step,) = proposal.steps
    assert format_expr(alignment.infer(claim, step["evidence"], ()).value) == "1/4"


def test_on_the_integers_a_tie_has_a_probability_and_may_not():
    assert judged(with_a_tie("discrete_laplace", tell="q", count={"found": 1}), 1).verdict != "PROVED"


@pytest.mark.parametrize("count", [7, 101])
def test_a_counter_that_counts_far_is_as_tight_as_a_short_one(count):
    step = {"tell": "q + nu", "count": {"told": 1}}
    found = judged({"kind": "stream", "fresh": {"nu": named("laplace", count)}, "limits": {"told": count}, "step": [step]})
    assert format_expr(found.lower) == format_expr(found.upper) == "1"


@pytest.mark.wide
def test_the_least_and_the_greatest_of_four_lose_what_those_of_two_do():
    # 4 b + 2 b' for every number of first answers (docs/theory/selection.md#alignment, the example)
    read = {"emit": "read"}
    mechanism = {
        "kind": "stream",
        "fresh": {"nu": named("laplace", 32), "xi": named("laplace", 8)},
        "state": {"low": 0, "high": 0, "seen": 0},
        "limits": {"outside": 1},
        "step": [
            {"when": "seen <= 0", **read, "set": {"low": "q + nu", "high": "q + nu", "seen": 1}},
            {"when": ["seen <= 3", "q + nu < low"], **read, "set": {"low": "q + nu", "seen": "seen + 1"}},
            {"when": ["seen <= 3", "q + nu >= high"], **read, "set": {"high": "q + nu", "seen": "seen + 1"}},
            {"when": "seen <= 3", **read, "set": {"seen": "seen + 1"}},
            {"when": "q + xi < low", "emit": "left", "count": {"outside": 1}},
            {"when": "q + xi >= high", "emit": "right", "count": {"outside": 1}},
            {"emit": "inside"},
        ],
    }
    assert format_expr(judged(mechanism).lower) == str(Fraction(4, 32) + Fraction(2, 8))


# -- a threshold that is drawn again, where one answer moves ----------------------------------------------------------

PLACES = np.arange(-300, 300, 0.25)
LEFT, ABOVE, RIGHT = 1.0, 0.5, 0.125
"""Slopes of the noise of the answers to the left, of that of the threshold to the left, and of both to the right."""


def densities(left, right):
    total = 1 / left + 1 / right
    below = np.where(PLACES < 0, np.exp(left * np.minimum(PLACES, 0)) / left, 1 / left - np.expm1(-right * np.maximum(PLACES, 0)) / right)
    return np.where(PLACES < 0, np.exp(left * np.minimum(PLACES, 0)), np.exp(-right * np.maximum(PLACES, 0))) / total, below / total


def probability(answers, output):
    """Of yes and no, a new threshold after each yes."""
    density, found, first = densities(ABOVE, RIGHT)[0] * 0.25, 1.0, 0
    below = densities(LEFT, RIGHT)[1]
    ends = [i + 1 for i, yes in enumerate(output) if yes]
    for end in [*ends, *([len(output)] if not output[-1] else [])]:
        part = density
        for answer, yes in zip(answers[first:end], output[first:end], strict=True):
            chance = np.interp(PLACES - answer, PLACES, below)
            part = part * ((1 - chance) if yes else chance)
        found, first = found * part.sum(), end
    return found


@pytest.mark.wide
def test_where_one_answer_moves_one_positive_has_its_threshold():
    mechanism = {
        "kind": "above_threshold",
        "threshold_noise": {"kind": "translation", "density": "exp(-max(z/8, -z/2))"},
        "query_noise": {"kind": "translation", "density": "exp(-max(z/8, -z))"},
        "queries": 3,
        "positives": 2,
        "neighbours": "one",
    }
    found = judged({**mechanism, "resample": True})
    assert format_expr(found.lower) == format_expr(found.upper) == "1/4"
    assert format_expr(judged(mechanism).upper) == "3/8"  # two positives may have the threshold of the answer that moves
    outputs = [output for output in itertools.product((0, 1), repeat=3) if sum(output) <= 2]
    seen = [
        math.log(probability(answers, output) / probability((answers[0] + 1, *answers[1:]), output))
        for output in outputs
        for answers in itertools.product((0, 60), repeat=3)
    ]
    assert 0.24 < max(seen) < 0.2501


# -- multiples of a maximum -------------------------------------------------------------------------------------------

POSITIVE = Domain(lower=Fraction(0), lower_open=True)


def test_a_multiple_of_a_maximum_is_at_least_that_of_each():
    domains = {"D": POSITIVE, "b": POSITIVE}
    assert certainly_le(parse("D/b"), parse("max(D/b, 1)*101/100"), domains)
    assert certainly_lt(parse("D/b"), parse("max(D/b, 1)*101/100"), domains)
    assert certainly_le(parse("b*min(D, 2)"), parse("b*D"), domains)
    assert not certainly_le(parse("D/b"), parse("max(D/b, 1)*99/100"), domains)
    assert not certainly_le(parse("-D/b"), parse("-max(D/b, 1)"), domains)  # a multiple below 0 turns the order around
    assert not certainly_le(parse("(D - b)*min(D, 2)"), parse("(D - b)*D"), domains)
    assert certainly_le(num(0), parse("b*max(D - 1, 1 - D, 0)"), domains)
