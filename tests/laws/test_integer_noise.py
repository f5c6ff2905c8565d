"""Noise on the integers hides answers that differ by integers, and no others: verdicts against outputs that are counted one by one.

The class: whatever the density, the query and the adjacency, the outputs on two neighbours are q + n and q' + n, n an integer, as they
stand. No rule may round an answer, a difference of answers, or a number of steps.
"""

import math
from fractions import Fraction
from itertools import product

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.search.additive import asymptotics
from dpverify.search.verify import verify
from dpverify.trusted.combinators.runs import Run, leaf
from dpverify.trusted.facts.assumed_of_moves import WHOLE_ATTAINED
from dpverify.trusted.kernel.assumptions import ATTAINED, EVERY, ONWARD
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.bounds import INFINITE, Infinite
from dpverify.trusted.kernel.errors import CertificateError, DpverifyError, Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, Num, num, parse
from dpverify.trusted.kernel.integers import is_whole
from dpverify.trusted.kernel.model import (
    L1,
    L2,
    Claim,
    Compose,
    Domain,
    Group,
    Lipschitz,
    Parallel,
    Part,
    PostProcess,
    Product,
    Query,
    Radial,
    Subsample,
    Translation,
    repeated,
)
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.sensitivity.apart import off_the_integers
from dpverify.trusted.sensitivity.sensitivity import sensitivity_bounds
from dpverify.trusted.sensitivity.steps_between import further
from dpverify.trusted.theories.additive.rules import cosets
from tests.effort import examples
from tests.proofs import Step, bound

MP = mpmath.mp.clone()
MP.dps = 40
FAR = 160
LINE = Translation(parse("exp(-abs(z))"))
INTEGER = Translation(parse("exp(-abs(z))"), integers=True)


def noise(text, lower=None, upper=None):
    return Translation(parse(text), tuple(None if end is None else num(end) for end in (lower, upper)), integers=True)


LAWS = {
    "laplace": (noise("exp(-abs(z)/2)"), lambda n: MP.exp(-MP.mpf(abs(n)) / 2)),
    "gauss": (noise("exp(-z**2/8)"), lambda n: MP.exp(-(MP.mpf(n) ** 2) / 8)),
    "cauchy cubed": (noise("(1 + z**2)**(-9)"), lambda n: (1 + MP.mpf(n) ** 2) ** -9),
    "one-sided": (noise("exp(-z)", 0), lambda n: MP.exp(-n) if n >= 0 else MP.mpf(0)),
    "truncated": (noise("exp(-abs(z)/3)", -3, 3), lambda n: MP.exp(-MP.mpf(abs(n)) / 3) if abs(n) <= 3 else MP.mpf(0)),
}
"""Noises with their weights at an integer. The window of outputs holds all but 1e-30 of each."""


def weights(p):
    total = MP.fsum(p(n) for n in range(-FAR, FAR + 1))
    return {n: p(n) / total for n in range(-FAR, FAR + 1)}


def outputs(law, answer):
    """The probability of every output, by the output itself."""
    return {answer + n: mass for n, mass in law.items()}


def divergence(law, one, other, epsilon):
    p, q = outputs(law, one), outputs(law, other)
    k = MP.exp(epsilon)
    return MP.fsum(max(MP.mpf(0), mass - k * q.get(y, 0)) for y, mass in p.items())


def neighbours(adjacency, columns):
    """Pairs of small histograms that are neighbours, for the adjacencies of counts."""
    for x in product(range(3), repeat=columns):
        for i in range(columns):
            more = tuple(c + (j == i) for j, c in enumerate(x))
            if adjacency == "add-remove":
                yield x, more
            elif x[i]:
                for j in range(columns):
                    yield x, tuple(c - (k == i) + (k == j) for k, c in enumerate(x))


def answer(row, x):
    return sum((a * c for a, c in zip(row, x, strict=True)), Fraction(0))


def true_delta(law, row, adjacency, epsilon):
    """The greatest divergence over neighbours, each in both orders, output by output."""
    moves = {(answer(row, x), answer(row, y)) for x, y in neighbours(adjacency, len(row))}
    steps = {b - a for a, b in moves} | {a - b for a, b in moves}
    return max((divergence(law, Fraction(0), step, epsilon) for step in steps), default=MP.mpf(0))


def number(value):
    if isinstance(value, Infinite):
        return math.inf
    with precision(128):
        return float(enclose(value).mid())


entries = st.sampled_from([Fraction(x) for x in ("0", "1", "-1", "2", "1/2", "-1/2", "3/2", "1/4", "5/2", "1/3")])


@settings(max_examples=examples(60), deadline=None)
@given(st.sampled_from(sorted(LAWS)), st.lists(entries, min_size=1, max_size=3), st.sampled_from(["add-remove", "replace"]))
def test_the_delta_of_a_query_is_that_of_its_outputs_counted_one_by_one(name, row, adjacency):
    mechanism, p = LAWS[name]
    true = true_delta(weights(p), row, adjacency, MP.mpf(1) / 2)
    found = verify(Claim(mechanism, parse("1/2"), None, query=Query((tuple(row),), adjacency)), 12).judgement
    # PROVED at "tight" says that there is a bound from above
    assert found.verdict == "PROVED"
    assert number(found.delta_lower) <= float(true) + 1e-9 and float(true) - 1e-9 <= number(found.delta_upper)
    if name != "cauchy cubed":
        assert number(found.delta_upper) - number(found.delta_lower) < 1e-6


@pytest.mark.wide
@settings(max_examples=examples(60), deadline=None)
@given(st.sampled_from(sorted(LAWS)), st.lists(entries, min_size=1, max_size=3), st.sampled_from(["add-remove", "replace"]))
def test_a_pure_epsilon_is_proved_or_refuted_as_the_outputs_say(name, row, adjacency):
    mechanism, p = LAWS[name]
    law = weights(p)
    steps = {answer(row, y) - answer(row, x) for x, y in neighbours(adjacency, len(row))}
    apart = any(step.denominator != 1 for step in steps)
    for epsilon in (Fraction(1, 1000), Fraction(2), Fraction(7)):
        found = verify(Claim(mechanism, Num(epsilon), query=Query((tuple(row),), adjacency)), 8).judgement
        broken = max(
            divergence(law, Fraction(0), step, MP.mpf(epsilon.numerator) / epsilon.denominator) for step in steps | {-s for s in steps}
        )
        if apart:
            assert found.verdict == "REFUTED" and isinstance(found.lower, Infinite) and found.delta_lower == ONE
            assert {"P": "1", "Q": "0"}.items() <= found.witness.items()
        elif broken > MP.mpf(10) ** -12:
            assert found.verdict != "PROVED"
        elif name in ("laplace", "cauchy cubed"):
            assert found.verdict != "REFUTED"


HALF = Query(((Fraction(1, 2), Fraction(1, 4)),), "replace")
LAPLACE = LAWS["laplace"][0]
RULES = {
    "concave": noise("exp(-abs(z))"),
    "convex": noise("exp(-z)/(1 + exp(-z))**2"),
    "power": noise("(1 + z**2)**(-2)"),
    "gaussian": noise("exp(-z**2)"),
    "modulus": noise("exp(-abs(z))*(2 + 1/(1 + z**2))"),
    "one-sided": LAWS["one-sided"][0],
    "truncated": LAWS["truncated"][0],
}


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("delta", ["0", "1e-6", "99/100"])
@pytest.mark.parametrize("epsilon", ["1/1000", "1000", None])
def test_no_rule_proves_anything_of_answers_that_are_no_integers(name, delta, epsilon):
    found = verify(Claim(RULES[name], None if epsilon is None else parse(epsilon), parse(delta), query=HALF)).judgement
    assert found.verdict == "REFUTED"
    assert found.witness["P"] == "1" and found.witness["Q"] == "0" and "difference is -1/4" in found.witness["pair"]
    assert found.assumptions == ("the sampler is ideal",)


def inside(part):
    """Every combinator round a part, and another part beside it, as far as delta is concerned."""
    other = Part(Translation(parse("exp(-abs(z))")), ONE)
    return {
        "compose": Compose((part, other)),
        "twice": Compose((repeated(Part(part.mechanism, query=part.query), num(2)),)),
        "group": Group(part, num(3)),
        "parallel": Parallel((part, other)),
        "nested": Compose((Part(Compose((part, other))), Part(Group(part, num(2))))),
        "lipschitz": Lipschitz(part, num(2)),
    }


@pytest.mark.parametrize("name", inside(Part(LAPLACE, ONE)))
def test_no_combinator_hides_answers_that_are_no_integers(name):
    part = Part(LAPLACE, query=Query(((Fraction(1, 2), Fraction(1)),), "add-remove"))
    assert verify(Claim(inside(part)[name], num(10))).judgement.verdict == "REFUTED"
    found = verify(Claim(inside(part)[name], ONE, None)).judgement
    assert found.delta_lower == ONE and found.delta_upper == ONE


def test_a_sample_tells_such_answers_apart_as_often_as_the_record_is_in_it():
    part = Part(LAPLACE, query=Query(((Fraction(1, 2),),), "add-remove"))
    found = verify(Claim(Subsample(part, parse("1/3")), ONE, None)).judgement
    assert number(found.delta_lower) == pytest.approx(1 / 3) and number(found.delta_upper) == pytest.approx(1 / 3)


@pytest.mark.parametrize("mechanism", [Lipschitz(Part(LAPLACE, query=HALF), parse("1/2")), PostProcess(Part(LAPLACE, query=HALF))])
def test_where_such_neighbours_may_not_be_seen_nothing_is_refuted_and_nothing_proved(mechanism):
    assert verify(Claim(mechanism, ONE)).judgement.verdict == "UNKNOWN"
    found = verify(Claim(mechanism, ONE, None)).judgement
    assert found.delta_upper == ONE and found.delta_lower is None


@pytest.mark.parametrize("adjacency", ["l1", "l2"])
def test_real_valued_histograms_move_integer_queries_by_fractions(adjacency):
    query = Query(((Fraction(1), Fraction(-2)),), adjacency)
    found = verify(Claim(LAPLACE, num(5), query=query)).judgement
    assert found.verdict == "REFUTED" and "histograms are real-valued" in found.assumptions
    assert found.witness["pair"] == "histograms that differ by 1/2 at type 1: answers q and q' whose difference is 1/2"
    still = Query(((Fraction(0), Fraction(0)),), adjacency)
    assert verify(Claim(LAPLACE, ZERO, query=still)).judgement.verdict == "PROVED"


def test_a_claim_for_all_scales_is_refuted_at_one():
    scale = ("b", Domain(Fraction(0)))
    found = verify(Claim(noise("exp(-abs(z)/b)"), parse("1/b"), query=HALF, domains=(scale,))).judgement
    assert found.verdict == "REFUTED" and found.witness["at"] == {"b": "1"}


# -- steps -------------------------------------------------------------------------------------------


def farthest(most, steps):
    """The furthest that so many integer steps of at most `most` go, by trying all."""
    reached = {0}
    for _ in range(steps):
        reached = {at + move for at in reached for move in range(-9, 10) if abs(move) <= most}
    return max(reached)


@pytest.mark.sampled(10)
@pytest.mark.parametrize("steps", [1, 2, 3, 4])
@pytest.mark.parametrize("most", ["1/2", "1", "3/2", "2", "7/3"])
def test_k_steps_of_integer_answers_move_by_k_whole_steps(most, steps):
    far = farthest(Fraction(most), steps)
    part = Part(noise("exp(-abs(z))"), parse(most))
    for mechanism in (Group(part, num(steps)), Lipschitz(part, num(steps)), Lipschitz(Part(Group(part, num(steps))), ONE)):
        tight = verify(Claim(mechanism, None)).judgement
        assert tight.upper == num(far) and tight.lower == num(far)
        if far:
            assert verify(Claim(mechanism, parse(f"{far} - 1/1000"))).judgement.verdict == "REFUTED"
        curve = verify(Claim(mechanism, parse("1/3"), None)).judgement
        true = divergence(weights(lambda n: MP.exp(-abs(n))), Fraction(0), Fraction(far), MP.mpf(1) / 3)
        assert number(curve.delta_lower) <= float(true) + 1e-12 and float(true) - 1e-12 <= number(curve.delta_upper)
        assert number(curve.delta_upper) - number(curve.delta_lower) < 1e-12


def test_a_map_that_is_no_whole_number_of_steps_is_bounded_from_above_alone():
    part = Part(noise("exp(-abs(z))"), parse("3/2"))
    found = verify(Claim(Lipschitz(part, parse("3/2")), None)).judgement
    assert found.upper == num(2) and found.lower in (None, ZERO)


def test_a_group_of_unknown_size_moves_by_whole_steps_too():
    part = Part(noise("exp(-abs(z))"), parse("3/2"))
    size = ("k", Domain(Fraction(1), lower_open=False, integer=True))
    assert verify(Claim(Group(part, parse("k")), parse("k"), domains=(size,))).judgement.verdict == "PROVED"
    assert verify(Claim(Group(part, parse("k")), parse("k - 1/100"), domains=(size,))).judgement.verdict == "REFUTED"


def test_noise_on_the_line_is_moved_by_fractions_of_steps():
    assert further(Translation(parse("exp(-abs(z))")), parse("3/2"), num(2), {}) == (num(3), num(3))
    assert further(LAPLACE, parse("3/2"), parse("5/2"), {}) == (num(3), num(2))


@given(st.lists(entries, min_size=1, max_size=4), st.sampled_from(["add-remove", "replace"]))
def test_answers_are_off_the_integers_where_a_difference_of_neighbours_is(row, adjacency):
    steps = {answer(row, y) - answer(row, x) for x, y in neighbours(adjacency, len(row))}
    found = off_the_integers(LAPLACE, Query((tuple(row),), adjacency))
    assert (found is None) == all(step.denominator == 1 for step in steps)
    assert found is None or (found.moved in steps and found.moved.denominator != 1)
    assert off_the_integers(Translation(LAPLACE.density), Query((tuple(row),), adjacency)) is None


# -- what is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "claim",
    [
        Claim(LAPLACE, ONE, query=Query(((Fraction(1), Fraction(2)),), "add-remove")),
        Claim(LAPLACE, ONE, query=Query(((Fraction(1, 2), Fraction(3, 2)),), "replace")),
        Claim(LAPLACE, ONE, sensitivity=parse("1/2")),
        Claim(Translation(LAPLACE.density), ONE, query=HALF),
        Claim(Radial(parse("exp(-r)"), L1, ONE), ONE, query=HALF),
        Claim(Product(parse("exp(-abs(z))"), ONE), ONE, query=HALF),
        Claim(noise("1/(1 + abs(z))"), ONE, query=HALF),
    ],
    ids=["integers", "integer differences", "stated", "line", "radial", "product", "not summable"],
)
def test_cosets_needs_noise_on_the_integers_and_a_difference_that_is_none(claim):
    with pytest.raises(Rejected):
        cosets.check(claim, {})


@pytest.mark.parametrize("evidence", [{"quantity": "mass"}, {"quantity": "delta", "at": {}}, {"quantity": ["pure"]}])
def test_cosets_refuses_evidence_for_other_quantities(evidence):
    with pytest.raises(CertificateError, match="cosets"):
        cosets.check(Claim(LAPLACE, ONE, query=HALF), evidence)


@pytest.mark.parametrize("delta", ["1", "2", None])
def test_cosets_proves_no_epsilon_infinite_at_a_delta_that_is_not_certainly_below_1(delta):
    with pytest.raises(Rejected, match="certainly below 1"):
        cosets.check(Claim(LAPLACE, ONE, None if delta is None else parse(delta), query=HALF), {"quantity": "epsilon"})


def test_every_rule_about_additive_noise_refuses_such_a_query():
    with pytest.raises(Rejected, match="answers of neighbours differ by -1/4, and noise on the integers leaves no output"):
        sensitivity_bounds(Claim(LAPLACE, ONE, query=HALF), None)
    claim = Claim(LAPLACE, ONE, query=HALF)
    for name in ("concave-exponent", "convex-exponent", "power-identity", "modulus", "point-witness", "divergence"):
        for side in ("upper", "lower"):
            evidence = {"side": side, "a": ["0"], "b": ["1"], "value": "0", "start": "1", "pieces": [], "cells": [], "ends": []}
            with pytest.raises(DpverifyError):
                bound(claim, Step(name, evidence), 128)


def test_an_infinite_bound_is_what_the_rule_proves():
    found = cosets.check(Claim(LAPLACE, ONE, query=HALF), {})
    assert (found.side, found.value, found.quantity, found.assumed) == ("lower", INFINITE, "pure", ())


def test_answers_off_the_integers_have_nothing_in_common_where_the_probabilities_are_taken_for_non_negative():
    signed = Translation(parse("exp(-abs(z))*(1 - 2*exp(-(10*(z - 237))**2))"), integers=True)
    assert cosets.check(Claim(signed, ONE, query=HALF), asymptotics.evidence(signed)).assumed == ("the density is non-negative",)


def test_whole_numbers_are_told_by_their_form():
    integer, positive = {"k": Domain(integer=True)}, {"k": Domain(Fraction(0))}
    for text in ("3", "k", "k + 2", "2*k", "k**2", "floor(k/2)"):
        assert is_whole(parse(text), integer), text
    for text in ("1/2", "k/2", "k**(1/2)", "k**(-1)", "sqrt(2)", "abs(k)"):
        assert not is_whole(parse(text), integer), text
    assert not is_whole(parse("k"), positive) and not is_whole(parse("j"), integer)


@pytest.mark.parametrize(
    ("mechanism", "upper", "lower"),
    [
        (Lipschitz(Part(INTEGER, query=Query(((Fraction(2),),), "add-remove")), parse("3/2")), num(3), None),
        (Lipschitz(Part(INTEGER, query=Query(((Fraction(2),),), "add-remove")), num(3)), num(6), num(6)),
        (Group(Part(INTEGER, query=Query(((Fraction(1, 2), Fraction(3, 2)),), "replace")), num(3)), num(3), num(3)),
        (Group(Part(LINE, query=Query(((Fraction(1, 2), Fraction(2)),), "replace")), num(3)), parse("9/2"), parse("9/2")),
        # records are whole: databases that are one record apart are taken at most one apart by a map of 3/2
        (Lipschitz(Part(LINE, query=Query(((Fraction(1, 2),),), "add-remove")), parse("3/2")), parse("3/4"), None),
        (Lipschitz(Part(LINE, query=Query(((Fraction(1, 2),),), "l1")), parse("3/2")), parse("3/4"), parse("3/4")),
    ],
)
def test_neighbours_further_apart_move_a_query_by_its_own_differences(mechanism, upper, lower):
    found = verify(Claim(mechanism, None)).judgement
    assert found.upper == upper and found.lower == lower
    stated = (EVERY, ONWARD, ATTAINED, WHOLE_ATTAINED)
    assert not any(line.endswith(stated) for line in found.assumptions), "the query decides how far its answers move"


def test_a_group_of_unknown_size_over_a_query_wants_its_sensitivity_exactly():
    rows = tuple(tuple(map(Fraction, row)) for row in ((1, 2, 0), (0, 1, 3), (1, 0, 1)))
    size = {"k": Domain(Fraction(1), lower_open=False, integer=True)}
    gauss = Radial(parse("exp(-r)"), L2, num(3))
    with pytest.raises(Undecided, match="is not known exactly"):
        leaf(Run(Part(gauss, query=Query(rows, "l2")), parse("k")), tuple(size.items()))
    found = leaf(Run(Part(gauss, query=Query(rows, "l1")), parse("k")), tuple(size.items()))
    assert (found.sensitivity, found.query) == (parse("k*sqrt(10)"), None)
    half = Part(INTEGER, query=Query(((Fraction(1, 2),),), "add-remove"))
    assert leaf(Run(half, parse("k")), tuple(size.items())).query == half.query, "one step tells neighbours apart already"
