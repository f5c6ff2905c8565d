"""The least loss of any private mechanism, from weights and multipliers of a linear program (theory#lp)."""

from fractions import Fraction as F
from itertools import product
from math import exp, sinh, sqrt
from random import Random

import pytest

from dpverify.search.certificates import pack
from dpverify.search.utility.remaps import truncated_geometric
from dpverify.search.verify import verify
from dpverify.trusted.facts.assumed_of_inputs import ANY, PAIRS
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.canonical_form import from_json, to_json
from dpverify.trusted.kernel.certificate import Line
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, Num, mul, neg, num, parse
from dpverify.trusted.kernel.judgement import check
from dpverify.trusted.kernel.model import L2, Claim, Domain, Exponential, KaryResponse, Product, Query, Radial, Table, Translation
from dpverify.trusted.theories.finite.tables import distance
from dpverify.trusted.theories.utility.dual import Program, least
from dpverify.trusted.theories.utility.rules import lp as histograms
from tests.programs import least_loss

LOSS = tuple(tuple(F(abs(x - y)) for y in range(3)) for x in range(3))
STEPS = ((0, 1), (1, 2))
BOTH = [(0, 1), (1, 0), (1, 2), (2, 1)]
GEOMETRIC = Table(tuple(tuple(map(Num, row)) for row in truncated_geometric(F(2), 2)), STEPS)
DUAL = {
    "ratio": "2",
    "weights": ["2/7", "3/7", "2/7"],
    "multipliers": [[0, 1, ["2/7", "0", "0"]], [1, 0, ["0", "0", "1/7"]], [1, 2, ["1/7", "0", "0"]], [2, 1, ["0", "0", "2/7"]]],
}


def claim(mechanism=GEOMETRIC, epsilon="log(2)", **others):
    given = {"loss": LOSS, "utility": True} | others
    return Claim(mechanism, parse(epsilon) if isinstance(epsilon, str) else epsilon, **given)


def counts(epsilon="1", rows=((F(1),),), adjacency="add-remove", **others):
    noise = Translation(parse("exp(-abs(z))"), integers=True)
    return Claim(noise, parse(epsilon), query=Query(rows, adjacency), utility=True, **others)


PAIR = counts(rows=((F(1), F(0)),), adjacency="replace")
CHAIN = {
    "measure": "expected_l2",
    "row": 0,
    "steps": 1,
    "ratio": "3",
    "weights": ["1/2", "1/2"],
    "databases": [["0"], ["1"]],
    "outputs": ["0", "1"],
    "multipliers": [[0, 1, ["1/4", "0"]], [1, 0, ["0", "1/4"]]],
}


def alone(of, prec=128, **parameters):
    """The errors in a certificate of this rule alone, as anybody may write it."""
    return check(pack(of, prec, "UNKNOWN", [Line("lp", (), parameters, (), prec)])).errors


def bound_of(of, **parameters):
    return alone(of, **parameters)[0][1].value


def test_the_bound_on_three_databases_at_log_2_is_four_sevenths_exactly():
    assert bound_of(claim(), **DUAL) == Num(F(4, 7))
    ratios = dict.fromkeys(BOTH, F(2))
    assert least_loss(LOSS, ratios) == F(4, 7)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"ratio": "19/10"}, "not certainly at least exp"),
        ({"ratio": "-2"}, "not certainly at least exp"),
        ({"ratio": "0"}, "not certainly at least exp"),
        ({"weights": ["2/7", "3/7", "-2/7"]}, "weights.*at least 0"),
        ({"weights": ["0", "0", "0"]}, "weights.*not all 0"),
        ({"weights": ["1/2", "1/2"]}, "weights.*one for each input"),
        ({"multipliers": [[0, 1, ["-1/7", "0", "0"]]]}, "multipliers must be one for each output, and at least 0"),
        ({"multipliers": [[0, 1, ["1/7", "0"]]]}, "multipliers must be one for each output"),
        ({"multipliers": [[0, 2, ["2/7", "0", "0"]]]}, "these inputs are not adjacent"),
        ({"multipliers": [[0, 1, ["2/7", "0", "0"]], [0, 1, ["2/7", "0", "0"]]]}, "stands there twice"),
        ({"multipliers": [[0, 3, ["2/7", "0", "0"]]]}, "not a pair of inputs of the list"),
        ({"multipliers": [[-1, 1, ["2/7", "0", "0"]]]}, "not a pair of inputs of the list"),
        ({"multipliers": [[True, 0, ["2/7", "0", "0"]]]}, "not a pair of inputs of the list"),
    ],
    ids=str,
)
def test_a_forged_dual_is_refused(changed, why):
    with pytest.raises(Rejected, match=why):
        alone(claim(), **DUAL | changed)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"weights": "1"}, "at least 0, and not all 0"),
        ({"weights": []}, "at least 0, and not all 0"),
        ({"weights": ["1.5", "1", "1"]}, "not an exact rational"),
        ({"ratio": "e"}, "not an exact rational"),
        ({"multipliers": [[0, 1]]}, "cannot be used"),
        ({"multipliers": None}, "cannot be used"),
    ],
    ids=str,
)
def test_what_is_no_dual_is_refused(changed, why):
    with pytest.raises((Rejected, CertificateError), match=why):
        alone(claim(), **DUAL | changed)


@pytest.mark.parametrize(
    ("of", "why"),
    [
        (claim(epsilon=None), "no premise bounds it from above"),
        (claim(delta=None), "a rational delta of at least 0"),
        (claim(delta=parse("-1/10")), "between 0 and 1"),
        (claim(epsilon="p", domains=(("p", Domain(F(0), F(1))),)), "a value for every parameter"),
        (claim(loss=LOSS[:2]), "loss.*3 rows"),
        (claim(loss=tuple(row[:2] for row in LOSS)), "of 3 entries"),
        (claim(prior=(F(1), F(0))), "prior.*3 entries"),
        (claim(prior=(F(2), F(-1), F(0))), "prior.*at least 0"),
        (claim(prior=(F(1), F(1), F(0))), "the sum 1"),
    ],
    ids=["tight", "tight delta", "negative delta", "parameter", "rows", "entries", "short prior", "negative prior", "heavy prior"],
)
def test_a_broken_hypothesis_is_rejected(of, why):
    with pytest.raises((Rejected, CertificateError), match=why):
        alone(of, **DUAL)


@pytest.mark.parametrize("extra", [{"loss": LOSS}, {"prior": (F(1),)}], ids=["loss", "prior"])
def test_losses_of_what_lists_no_inputs_are_no_claim(extra):
    with pytest.raises(CertificateError, match="has no lists of inputs and outputs"):
        from_json(to_json(Claim(KaryResponse(num(2), parse("2/3")), ONE, **extra)))


def test_a_claim_with_losses_has_a_canonical_form_that_is_read_back():
    stated = claim(prior=(F(1, 2), F(1, 3), F(1, 6)))
    assert from_json(to_json(stated)) == stated
    assert "loss" not in to_json(Claim(GEOMETRIC, ONE)) and "prior" not in to_json(Claim(GEOMETRIC, ONE))


def test_no_weights_and_multipliers_whatever_give_a_bound_above_the_least_loss():
    random = Random(7)
    ratios, delta = dict.fromkeys(BOTH, F(3, 2)), F(1, 20)
    for _ in range(4):
        losses = tuple(tuple(F(random.randint(-2, 6)) for _ in range(2)) for _ in range(3))
        at = {0: least_loss(losses, ratios), delta: least_loss(losses, ratios, delta)}
        for c in (0, delta):
            for _ in range(60):
                weights = [F(random.randint(0, 4)) for _ in range(2)] + [F(1)]
                multipliers = {pair: [F(random.choice([0, 0, random.randint(0, 9)]), 3) for _ in range(2)] for pair in BOTH}
                program = Program(losses, lambda *pair, c=c: (ratios[pair], F(c)))
                assert least(program, weights, multipliers) <= at[c]


@pytest.mark.parametrize("delta", ["0", "1/100"])
@pytest.mark.parametrize("prior", [(), (F(1, 3),) * 3], ids=["worst", "mean"])
def test_verify_encloses_the_loss_of_a_table_and_finds_the_least_of_any(delta, prior):
    stated = claim(delta=parse(delta), prior=prior)
    judgement = verify(stated).judgement
    found = {(bound.whose, bound.side): bound.value.value for _, bound in judgement.errors}
    own = [sum(p.value * loss for p, loss in zip(*both, strict=True)) for both in zip(GEOMETRIC.rows, LOSS, strict=True)]
    mean = sum(own) / 3 if prior else max(own)
    assert judgement.verdict == "PROVED" and found["this", "lower"] == found["this", "upper"] == mean
    exact = least_loss(LOSS, dict.fromkeys(BOTH, F(2)), F(delta), prior)
    assert found["any", "lower"] <= exact <= found["any", "lower"] + F(1, 10**11)


def test_the_tight_epsilon_of_a_table_is_the_guarantee_that_others_are_held_to():
    judgement = verify(claim(epsilon=None)).judgement
    assert [bound.value for rule, bound in judgement.errors if rule == "lp"] == [Num(F(4, 7))]


@pytest.mark.parametrize(
    ("of", "line"),
    [
        (claim(), "the adjacent pairs are those of the claim"),
        (claim(Table(GEOMETRIC.rows)), "any two inputs are adjacent"),
        (claim(Exponential(((ONE, ZERO), (ZERO, ONE)), ONE), loss=((F(0), F(1)), (F(1), F(0)))), "any two inputs are adjacent"),
        (claim(Exponential(((ONE, ZERO), (ZERO, ONE)), ONE), sensitivity=ONE, loss=((F(0), F(1)), (F(1), F(0)))), PAIRS),
    ],
    ids=["pairs", "all", "scores", "scores that move by the sensitivity"],
)
def test_which_inputs_are_adjacent_is_assumed(of, line):
    assert [bound.assumed for rule, bound in verify(of).judgement.errors if rule == "lp"] == [(line,)]


def test_a_table_that_is_not_private_as_claimed_may_do_better_than_any_that_is():
    truth = Table(tuple(tuple(Num(F(x == y)) for y in range(3)) for x in range(3)), STEPS)
    judgement = verify(claim(truth)).judgement
    assert judgement.verdict == "REFUTED"
    assert {(bound.whose, bound.side): bound.value for _, bound in judgement.errors} == {
        ("this", "upper"): ZERO, ("this", "lower"): ZERO, ("any", "lower"): Num(F(4, 7)),
    }  # fmt: skip


# -- queries of one row ------------------------------------------------------------------------------


TINY = Num(F(1, 10**9))
"""A delta at which the least error is that of delta 0 up to rounding, and the linear program alone speaks of its mean."""


def found(of, rules=("lp",)):
    return {b.measure: float(constant(b.value).mid()) for rule, b in verify(of).judgement.errors if rule in rules}


@pytest.mark.wide
@pytest.mark.sampled(1)
@pytest.mark.parametrize("epsilon", ["1/10", "1", "3", "12"])
def test_no_bound_for_a_count_is_above_geometric_noise_and_it_is_close(epsilon):
    errors = found(counts(epsilon, delta=TINY), ("lp", "shape-lower-bound"))
    size = eval(epsilon)
    a = exp(-size)
    assert 0.9 / sinh(size) - 1e-6 <= errors["expected_l2"] <= 1 / sinh(size)
    assert errors["expected_l2"] <= errors["rms_l2"] <= sqrt(2 * a) / (1 - a)


@pytest.mark.parametrize(
    ("rows", "adjacency", "step"),
    [
        (((F(1), F(-3)),), "add-remove", 3),
        (((F(1), F(-3)),), "replace", 4),
        (((F(2),),), "l1", 2),
        (((F(3), F(4)),), "l2", 5),
        (((F(0), F(1)), (F(-2), F(0))), "add-remove", 2),
    ],
    ids=str,
)
def test_an_answer_that_moves_by_more_has_an_error_as_many_times_as_large(rows, adjacency, step):
    noise = Product(parse("exp(-3*abs(z))"), num(len(rows)))
    of = Claim(noise, parse("3"), TINY, query=Query(rows, adjacency), utility=True)
    assert 0.99 * step / sinh(3) <= found(of)["expected_l2"] <= step / sinh(3)


@pytest.mark.parametrize(
    ("rows", "adjacency"), [(((F(0), F(0)),), "add-remove"), (((F(2), F(2)),), "replace"), (((F(0),),), "l2")], ids=str
)
def test_answers_that_are_always_the_same_have_no_least_error(rows, adjacency):
    assert found(counts("3", rows, adjacency, delta=TINY)) == {}


def test_with_delta_the_bound_is_below_the_truth_told_with_probability_delta():
    delta = F(1, 10)
    assert 0.4 / sinh(3) < found(counts("3", delta=Num(delta)))["expected_l2"] <= (1 - delta) / sinh(3)


def test_an_epsilon_that_is_proved_at_a_delta_is_what_others_are_held_to():
    gaussian = Radial(parse("exp(-r**2/2)"), L2, num(1))
    tight = Claim(gaussian, None, Num(F(1, 100)), query=Query(((F(1),),), "add-remove"), utility=True)
    judgement = verify(tight).judgement
    bounds = [b for rule, b in judgement.errors if rule == "lp" and b.measure == "rms_l2"]
    assert judgement.verdict == "PROVED" and bounds and 0 < float(constant(bounds[0].value).mid()) < 1


def test_a_chain_by_hand_bounds_the_error_on_two_databases():
    # weights 1/2, multipliers z: the infimum for both inputs is min(z, 1/2 - 3 z), at z = 1/8
    chain = CHAIN | {"multipliers": [[0, 1, ["1/8", "0"]], [1, 0, ["0", "1/8"]]]}
    assert bound_of(counts("log(3)"), **chain) == Num(F(1, 4))  # and randomized response at log(3) has it
    four = chain | {"outputs": ["0", "4"], "multipliers": [[0, 1, ["1/2", "0"]], [1, 0, ["0", "1/2"]]]}
    assert bound_of(counts("log(3)", ((F(4),),)), **four) == Num(F(1))


@pytest.mark.parametrize(
    ("of", "changed", "why"),
    [
        (counts(), {"steps": 2}, "not certainly at least exp"),
        (counts(), {"databases": [["0"], ["2"]], "outputs": ["0", "2"]}, "not known to be joined by 1 steps"),
        (counts(), {"databases": [["0"], ["1/2"]], "outputs": ["0", "1/2"]}, "not known to be joined"),
        (counts(), {"databases": [["0"], ["-1"]], "outputs": ["-1", "0"]}, "entries of at least 0"),
        (counts(), {"databases": [["0", "0"], ["1", "0"]]}, "an entry for each column of the query"),
        (counts(), {"outputs": ["0", "1/2"]}, "outputs.*must rise"),
        (counts(), {"outputs": ["1", "0"]}, "outputs.*must rise"),
        (counts(), {"outputs": ["1/2", "1"]}, "outputs.*must rise"),
        (counts(), {"outputs": ["0", "0", "1"]}, "outputs.*must rise"),
        (counts(), {"outputs": ["0", "1/2", "1/4", "1"]}, "outputs.*must rise"),
        (counts(), {"measure": "rms_l2", "outputs": ["0", "1/2"]}, "outputs.*must rise"),
        (counts(), {"measure": "rms_l2", "outputs": ["1/2", "1"]}, "outputs.*must rise"),
        (counts(), {"databases": []}, "must be histograms"),
        (counts(), {"outputs": ["-1", "2"]}, "the answer on every database must be among them"),
        (PAIR, {"databases": [["0", "0"], ["1", "0"]]}, "not known to be joined"),
        (PAIR, {"databases": [["0", "0"], ["1", "-1"]]}, "entries of at least 0"),
        (PAIR, {"databases": [["0", "2"], ["2", "0"]], "outputs": ["0", "2"]}, "not known to be joined"),
        (counts(adjacency="l1"), {"databases": [["0"], ["3/2"]], "outputs": ["0", "3/2"]}, "not known to be joined"),
        (counts(adjacency="l2"), {"databases": [["0"], ["3/2"]], "outputs": ["0", "3/2"]}, "not known to be joined"),
        (Claim(Translation(parse("exp(-abs(z))")), ONE, sensitivity=ONE, utility=True), {}, "neither losses nor a query"),
    ],
    ids=str,
)  # fmt: skip
def test_a_forged_chain_is_refused(of, changed, why):
    with pytest.raises(Rejected, match=why):
        alone(of, **CHAIN | changed)


WRONG = [("steps", 0), ("steps", "1"), ("steps", True), ("row", 1), ("row", -1), ("row", "0")]


MOVES = {
    "add-remove": [move for k in range(3) for move in (tuple(int(j == k) for j in range(3)), tuple(-int(j == k) for j in range(3)))],
    "replace": [tuple(int(j == a) - int(j == b) for j in range(3)) for a in range(3) for b in range(3) if a != b],
}


@pytest.mark.parametrize("adjacency", MOVES)
def test_counts_are_joined_by_as_many_steps_as_a_walk_through_counts_takes(adjacency):
    every = list(product(range(3), repeat=3))
    start = (1, 0, 2)
    reached = {start}
    for steps in range(1, 4):
        reached |= {to for x in reached for move in MOVES[adjacency] if min(to := tuple(a + b for a, b in zip(x, move, strict=True))) >= 0}
        assert [histograms.within(start, x, adjacency, steps) for x in every] == [x in reached for x in every]


@pytest.mark.parametrize(
    ("adjacency", "far", "steps", "joined"),
    [
        ("l1", ("1/2", "1/2"), 1, True),
        ("l1", ("1/2", "3/4"), 1, False),
        ("l1", ("2", "1"), 3, True),
        ("l1", ("2", "1"), 2, False),
        ("l2", ("3/5", "4/5"), 1, True),
        ("l2", ("3/5", "41/50"), 1, False),
        ("l2", ("1", "1"), 1, False),
        ("l2", ("1", "1"), 2, True),
        ("l2", ("6", "8"), 10, True),
        ("l2", ("6", "8"), 9, False),
        ("add-remove", ("1/2", "0"), 1, False),
        ("replace", ("1/2", "1/2"), 1, False),
    ],
)
def test_real_histograms_are_joined_by_as_many_steps_as_their_distance_says(adjacency, far, steps, joined):
    zero, other = (F(0), F(0)), tuple(map(F, far))
    assert [histograms.within(*both, adjacency, steps) for both in ((zero, other), (other, zero))] == [joined] * 2


def test_two_steps_cost_the_delta_of_both():
    # weights 1/2, multipliers 1/10: the infimum for both inputs is 1/10; P(S) <= 9 P'(S) + delta (1 + 3), for which 1 + 9 is taken
    two = {"steps": 2, "ratio": "9", "databases": [["0"], ["2"]], "outputs": ["0", "2"]}
    chain = CHAIN | two | {"multipliers": [[0, 1, ["1/10", "0"]], [1, 0, ["0", "1/10"]]]}
    assert bound_of(counts("log(3)", delta=Num(F(1, 100))), **chain) == Num(F(1, 5) - F(2, 10) * F(10, 100))
    assert bound_of(counts("log(3)"), **chain) == Num(F(1, 5))


def test_a_bound_below_nothing_is_nothing():
    for measure in ("expected_l2", "rms_l2"):
        chain = CHAIN | {"measure": measure, "multipliers": [[0, 1, ["9", "9"]]]}
        assert {bound.value for _, bound in alone(counts(), **chain)} == {ZERO}


def metric(points, name="l1", epsilon="log(2)", **others):
    places = tuple(tuple(parse(str(x)) for x in point) for point in points)
    scores = tuple(tuple(neg(distance(a, b, name)) for b in places) for a in places)
    losses = tuple(tuple(F(x != y) for y in range(len(points))) for x in range(len(points)))
    return Claim(Exponential(scores, parse("1/8"), points=places, metric=name), parse(epsilon), utility=True, **{"loss": losses} | others)


def test_epsilon_per_unit_of_distance_is_an_exponent_for_each_pair():
    told = {"weights": ["1/2", "1/2"], "multipliers": [[0, 1, ["1/10", "0"]], [1, 0, ["0", "1/10"]]]}
    # two inputs at distance 2 and epsilon log(2): randomized response of epsilon log(4) is the best, and lies once in five times
    assert bound_of(metric([[0], [2]]), ratios=[[0, 1, "4"], [1, 0, "4"]], **told) == Num(F(1, 5))
    assert alone(metric([[0], [2]]), ratios=[[0, 1, "4"], [1, 0, "4"]], **told)[0][1].assumed == (ANY,)


@pytest.mark.parametrize(
    ("of", "ratios", "why"),
    [
        (metric([[0], [2]]), [[0, 1, "2"], [1, 0, "4"]], "ratio.*2 is not certainly at least exp"),
        (metric([[0], [2]]), [[0, 1, "-4"], [1, 0, "4"]], "ratio.*-4 is not certainly at least exp"),
        (metric([[0], [2]]), [[0, 1, "4"]], "not adjacent, or no ratio is told of them"),
        (metric([[0], [2]]), [[0, 1, "4"], [1, 1, "4"]], "not two inputs at a distance above 0"),
        (metric([[0], [2]]), [[0, 1, "4"], [1, 2, "4"]], "not two inputs at a distance above 0"),
        (metric([[0], [0], [2]]), [[0, 1, "1"]], "not two inputs at a distance above 0"),
        (metric([[0], [2]], delta=parse("1/10")), [[0, 1, "4"], [1, 0, "4"]], "delta.*epsilon is per unit of distance"),
    ],
    ids=["small", "negative", "missing", "same", "beyond", "equal", "delta"],
)
def test_a_forged_ratio_of_a_distance_is_refused(of, ratios, why):
    count = len(of.loss)
    told = {"weights": ["1"] * count, "multipliers": [[0, 1, ["1/5"] + ["0"] * (count - 1)], [1, 0, ["0"] * (count - 1) + ["1/5"]]]}
    with pytest.raises(Rejected, match=why):
        alone(of, ratios=ratios, **told)


def test_a_ratio_for_all_is_none_for_distances_and_the_other_way_round():
    for of, told in ((metric([[0], [2]]), {"ratio": "8"}), (claim(), {"ratios": [[0, 1, "2"]]})):
        with pytest.raises(CertificateError):
            alone(of, weights=["1"] * len(of.loss), multipliers=[], **told)


@pytest.mark.parametrize(
    ("points", "name", "losses"),
    [
        ([[0], [1], [3]], "l1", lambda x, y: F(x != y)),
        ([[0], [1], [3]], "l1", lambda x, y: F(abs([0, 1, 3][x] - [0, 1, 3][y]) ** 2)),
        ([[0, 0], [1, 0], [0, 2], [1, 1]], "linf", lambda x, y: F(x != y)),
    ],
    ids=["lies", "squares", "plane"],
)
def test_for_any_metric_the_bound_is_the_optimum_of_the_linear_program(points, name, losses):
    inner = range(len(points))
    table = tuple(tuple(losses(x, y) for y in inner) for x in inner)
    sizes = [[max(abs(a - b) for a, b in zip(p, r, strict=True)) for r in points] for p in points]
    want = least_loss(table, {(x, y): F(2) ** sizes[x][y] for x in inner for y in inner if x != y})
    judged = verify(metric(points, name, loss=table)).judgement
    [(_, least)] = [(rule, bound) for rule, bound in judged.errors if bound.whose == "any"]
    own = max(constant(bound.value) for _, bound in judged.errors if bound.whose == "this")
    assert 0 <= want - least.value.value < F(1, 10**9) and own >= constant(least.value)


def test_distances_may_be_irrational():
    judged = verify(metric([[0, 0], [1, 1]], "l2", "1")).judgement
    [least] = [bound for _, bound in judged.errors if bound.whose == "any"]
    assert float(constant(least.value)) == pytest.approx(1 / (1 + exp(sqrt(2))))


def test_premises_are_upper_bounds_on_what_is_tight_and_nothing_else():
    below, above = Line("finite-table", (), {"cell": [0, 1, 0]}, (), 128), Line("finite-table", (), {"cells": [[0, 1, 0]]}, (), 128)

    def told(of, premise):
        return check(pack(of, 128, "PROVED", [below, above, Line("lp", (), DUAL, premise, 128)])).errors

    (bound,) = (bound for rule, bound in told(claim(epsilon=None), (1,)) if rule == "lp")
    assert bound.value == Num(F(4, 7)) and bound.assumed == ("the sampler is ideal", PAIRS)
    with pytest.raises(Rejected, match="no premise bounds it from above"):
        told(claim(epsilon=None), (0,))
    with pytest.raises(CertificateError, match="no premise is to bound it"):
        told(claim(), (1,))


@pytest.mark.parametrize(("key", "value"), WRONG)
def test_a_chain_says_what_it_measures_and_how_far_its_databases_are_apart(key, value):
    with pytest.raises(CertificateError, match=rf"'{key}' is"):
        alone(counts(), **CHAIN | {key: value})


def test_databases_that_are_no_counts_are_an_assumption():
    halves = CHAIN | {"databases": [["0"], ["1/2"]], "outputs": ["0", "1/2"]}
    assert alone(counts(adjacency="l1"), **halves)[0][1].assumed == ("histograms are real-valued",)
    assert alone(counts(adjacency="l1"), **CHAIN)[0][1].assumed == ()
    assert alone(counts(adjacency="l2"), **CHAIN)[0][1].assumed == ("histograms are real-valued",)


def test_squares_by_hand():
    # at the answers 0 and 4 with weights 1/2: y^2/2 + z and (4 - y)^2/2 - 3 z are 2 at 0 and at 2, 3/2 at 1; less 1/4 for the gaps
    rows = [[0, 1, ["2", "1", "0", "0", "0"]], [1, 0, ["0", "0", "0", "1", "2"]]]
    chain = CHAIN | {"measure": "rms_l2", "outputs": ["0", "1", "2", "3", "4"], "multipliers": rows}
    value = bound_of(counts("log(3)", ((F(4),),)), **chain)
    assert certainly_equal(mul(value, value), Num(F(3) - F(1, 4)))
    wider = chain | {"outputs": ["-1", "0", "1", "2", "3", "4", "9/2"]}
    spread = [[0, 1, ["2", *rows[0][2], "0"]], [1, 0, ["0", *rows[1][2], "2"]]]
    assert certainly_equal(bound_of(counts("log(3)", ((F(4),),)), **wider | {"multipliers": spread}), value)


def test_a_stated_prior_is_the_weights():
    losses = ((F(1), F(2), F(3)), (F(5), F(5), F(5)), (F(9), F(2), F(9)))
    stated = claim(loss=losses, prior=(F(1, 2), F(1, 4), F(1, 4)))
    assert bound_of(stated, ratio="2", multipliers=[]) == Num(F(1, 2) + F(5, 4) + F(2, 4))
    assert bound_of(claim(loss=losses), ratio="2", weights=["0", "2", "0"], multipliers=[]) == Num(F(5))


def test_squares_are_paid_for_between_the_outputs_that_are_named():
    # one database: a mechanism without neighbours to hide may answer exactly, and no bound is above 0
    square = CHAIN | {"measure": "rms_l2", "databases": [["0"]], "outputs": ["-1", "1"], "weights": ["1"], "multipliers": []}
    assert bound_of(counts(), **square) == ZERO
