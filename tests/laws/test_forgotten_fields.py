"""Fields that a rule could forget without any claim of the law that every field counts showing it: what is then true, by hand.

A scheme has no worse one, and other things are read to refuse. Each truth is a formula of two or three densities.
"""

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from flint import arb

from dpverify.search.verify import verify
from dpverify.trusted.combinators import at_pair, candidates, exchanged, neighbours, noises, relations, released, runs
from dpverify.trusted.combinators.places import ONE_STEP
from dpverify.trusted.combinators.stated import STATED, STATED_ONE_SIDED
from dpverify.trusted.facts.assumed_of_inputs import ANY, PAIRS
from dpverify.trusted.facts.assumed_of_parts import EITHER, RATIO
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel.assumptions import ATTAINED, IDEAL, MOVES, REAL
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.certificate import unpack
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import ONE, num, parse
from dpverify.trusted.kernel.fact import as_bounds
from dpverify.trusted.kernel.model import (
    L1,
    Claim,
    Compose,
    Exponential,
    Group,
    Guarantee,
    Lipschitz,
    NoisyMax,
    Parallel,
    Part,
    Product,
    Query,
    Radial,
    Repeat,
    Staircase,
    Subsample,
    Table,
    Translation,
)
from dpverify.trusted.theories.additive import near_points
from dpverify.trusted.theories.composition.rules import closed_profile
from dpverify.trusted.theories.composition.score_range import exponential_range
from dpverify.trusted.theories.utility import shapes
from tests import fields
from tests.generated import LEAVES, MEASURES, asked, gaussian, integers, laplace, matrix, repeated, table
from tests.laws.test_joint_neighbours import delta_of_gaussian
from tests.proofs import forged, line

ROW = asked("1 0", adjacency="replace")
EVEN = Part(laplace(2), query=ROW)
UNEVEN = Part(Translation(parse("exp(-max(z, -3*z))")), query=ROW)


def enclosed(mechanism, **asked):
    """Both bounds on what is asked for, the tight epsilon where nothing is said, as floats."""
    judgement = verify(Claim(mechanism, **{"epsilon": None, **asked})).judgement
    return [None if bound is None else float(constant(bound).mid()) for bound in (judgement.lower, judgement.upper)]


def test_a_sample_without_replacement_loses_as_much_in_the_order_in_which_what_is_beside_it_loses_the_most():
    # neighbours {x, z} and {y, z}, one of two records drawn: with z = y the one order has log(1/2 e^(1/2) + 1/2), with z = x the other
    sample = Part(Subsample(EVEN, parse("1/2"), "without_replacement"))
    truth = 3 + math.log((math.exp(0.5) + 1) / 2)
    assert enclosed(Compose((sample, UNEVEN))) == pytest.approx([truth, truth])


def test_from_above_a_sample_without_replacement_is_at_all_its_neighbours_and_a_sample_by_itself_at_the_pair_of_all():
    beside = Part(laplace(3), query=ROW)
    drawn = Part(Subsample(EVEN, parse("1/2"), "without_replacement"))
    root = Part(Compose((drawn, beside)))
    (choice,) = candidates.choices(root)
    assert drawn in at_pair.at(root, choice).mechanism.parts
    assert drawn not in at_pair.at(root, choice, lower=True).mechanism.parts


def test_the_inputs_of_a_table_on_a_sample_are_not_those_of_a_table_beside_it():
    first = table("1/2 1/2", "1/4 3/4", "1/2 1/2", adjacent=((0, 1), (1, 2)))
    second = table("1/2 1/2", "1/2 1/2", "1/8 7/8", adjacent=((0, 1), (1, 2)))
    together = Compose((Part(Subsample(Part(first), parse("1/4"))), Part(second)))
    assert neighbours.together(Part(together), linked=True) == ()
    assert enclosed(together)[1] == pytest.approx(math.log(1 + (2 - 1) / 4) + math.log(4))


def test_a_query_of_runs_is_a_row_for_each_run():
    twice, other = (Part(laplace(2), query=asked(row, adjacency="add-remove")) for row in ("1 1", "0 1"))
    query = released.answered(Claim(Compose((repeated(twice, 2), other)), None))
    assert query == asked("1 1", "1 1", "0 1", adjacency="add-remove")


@pytest.mark.parametrize("lines", [[line("laplace", place=(0,)), line("single-part", {}, [0])]])
def test_what_is_known_of_one_run_is_not_known_of_two(lines):
    once = Part(laplace(2), ONE)
    kernel.replay(unpack(forged(Claim(Compose((once,)), num(1), None), "UNKNOWN", *lines)))
    with pytest.raises(Rejected):
        kernel.replay(unpack(forged(Claim(Compose((Part(Repeat(once, num(2))),)), num(1), None), "UNKNOWN", *lines)))


def test_the_divergence_of_three_runs_is_three_times_that_of_one():
    once = math.log(2 / 3 * math.exp(1 / 2) + 1 / 3 * math.exp(-1))  # of order 2, of Laplace noise of scale 2
    three = Compose((Part(Repeat(Part(laplace(2), ONE), num(3))),))
    assert enclosed(three, **MEASURES["renyi-2"]) == pytest.approx([3 * once, 3 * once])


def _at(share: str) -> dict[str, Part]:
    """Compositions of noise whose answers move by a share of what they move by."""
    whole, times = Fraction(share), num(Fraction(share))
    once, normal = Part(laplace(2), times), Part(gaussian(2), times)
    counts = [Part(gaussian(4), query=Query((tuple(whole * x for x in row),), "add-remove")) for row in ((1, 0), (1, 1))]
    return {
        "laplace-sums": Part(Compose((repeated(once, 3),))),
        "gaussian-composition": Part(Compose((repeated(normal, 2), Part(gaussian(4), times)))),
        "gaussian-composition of queries": Part(Compose((repeated(counts[0], 2), counts[1]))),
        "loss-distribution": Part(Compose((once, normal))),
        "laplace": Part(Compose((once,))),
    }


@pytest.mark.parametrize("name", _at("1"))
def test_half_a_step_for_all_parts_in_parallel_moves_the_answers_of_each_half_as_far(name):
    whole, half = _at("1")[name], _at("1/2")[name]
    at = {"epsilon": parse("1/10"), "delta": None}
    moved = verify(Claim(Lipschitz(Part(Parallel((whole, whole))), parse("1/2")), **at)).judgement
    written = verify(Claim(Parallel((half, half)), **at)).judgement
    assert name.split()[0] in moved.rules
    assert float(constant(moved.delta_upper)) == pytest.approx(float(constant(written.delta_upper)))


@pytest.mark.parametrize(
    "inside",
    [
        Compose((repeated(LEAVES["table"].part, 3),)),
        Compose((repeated(LEAVES["response"].part, 3),)),
        Compose((LEAVES["response"].part, LEAVES["kary"].part)),
        Subsample(LEAVES["table"].part, parse("1/4")),
    ],
)
def test_between_two_inputs_there_is_no_half_step(inside):
    parts = Part(Parallel((Part(inside), Part(inside))))
    judgement = verify(Claim(Lipschitz(parts, parse("1/2")), parse("1/10"), delta=None)).judgement
    assert judgement.delta_lower is None or constant(judgement.delta_lower) <= 0


LADDER = Part(table("1/8 7/8", "1/4 3/4", "1/2 1/2", adjacent=((0, 1), (1, 2))))


@pytest.mark.parametrize(
    ("mechanism", "most"),
    [
        (Lipschitz(LADDER, parse("1/2")), 0),
        (Lipschitz(Part(Lipschitz(LADDER, parse("4/3"))), parse("3/2")), math.log(2)),  # a step, and of that a step: not two
        (Lipschitz(Part(Compose((Part(Lipschitz(LADDER, parse("4/3"))), LADDER))), parse("3/2")), 2 * math.log(2)),
        (Lipschitz(Part(Group(LADDER, num(2))), ONE), math.log(4)),
    ],
)
def test_a_lower_bound_is_of_inputs_that_whole_steps_lead_to(mechanism, most):
    lower, upper = enclosed(mechanism)
    assert (lower or 0) <= most + 1e-9 and upper >= most - 1e-9


def test_a_sensitivity_that_is_asked_between_steps_is_shown_to_hold_there():
    def told(constant):
        return set(verify(Claim(Lipschitz(Part(laplace(2), ONE), parse(constant)), None)).judgement.assumptions)

    assert told("1/2") - told("2")


@pytest.mark.parametrize(
    ("inside", "lines"),
    [
        (
            Parallel((Part(laplace(2), ONE), Part(laplace(4), ONE))),
            [
                line("laplace", place=(0, {"part": 0})),
                line("laplace", place=(0, {"part": 1})),
                line("parallel-composition", {"index": "0"}, [0, 1], (0,)),
            ],
        ),
        (
            Subsample(Part(laplace(2), ONE), parse("1/4")),
            [line("laplace", place=(0, {"part": 0})), line("poisson-subsampling", {}, [0], (0,))],
        ),
    ],
)
def test_the_curve_of_one_record_is_not_that_of_two(inside, lines):
    def replayed(size):
        return kernel.replay(unpack(forged(Claim(Group(Part(inside), num(size)), num(1), None), "UNKNOWN", *lines)))

    assert replayed(1)[-1].says.upper is not None
    with pytest.raises((Rejected, CertificateError)):
        replayed(2)


def test_the_curve_of_one_step_is_no_lower_bound_of_half_a_step():
    claim = Claim(Lipschitz(Part(laplace(2), ONE), parse("1/2")), num(1), None)
    lines = [line("laplace", place=(0, ONE_STEP)), line("group-privacy", {"epsilon": "1/4"}, [0], (0,))]
    one, half = (fact.says for fact in kernel.replay(unpack(forged(claim, "UNKNOWN", *lines))))
    assert one.lower is not None and half.upper is not None and half.lower is None


def test_a_group_inside_is_as_far_from_below_as_from_above():
    one, other = (Part(laplace(4), query=asked(row, adjacency="add-remove")) for row in ("1 0", "1 1"))
    assert enclosed(Compose((Part(Group(one, num(2))), other))) == pytest.approx([3 / 4, 3 / 4])


def test_points_that_no_step_leads_to_are_no_neighbours_in_two_steps():
    # points at 0 and 2, neighbours within 1: there are none, nor any two steps from one to the other
    zero, two = num(0), num(2)
    points = Exponential(((zero, num(-2)), (num(-2), zero)), ONE, None, ((zero,), (two,)), "l1")
    lower, _ = enclosed(Group(Part(points, ONE), two))
    assert (lower or 0) <= 1e-9


PURE = Part(Guarantee("approximate", ((parse("1/4"), num(0)),)))
TWICE = Part(Guarantee("approximate", ((parse("1/2"), num(0)),)))
ALL_NEAR = Part(table("1/8 7/8", "1/4 3/4", "1/2 1/2"))


@pytest.mark.parametrize(
    ("rule", "evidence", "once", "twice"),
    [
        ("finite-composition", {}, LADDER, ALL_NEAR),
        ("optimal-composition", {}, PURE, TWICE),
        ("renyi-composition", {"points": [["4", "3"]]}, Part(gaussian(4), ONE), Part(gaussian(2), ONE)),
    ],
)
def test_a_composition_two_steps_away_is_that_of_parts_two_steps_away(rule, evidence, once, twice):
    def at(claim, place):
        (fact,) = kernel.replay(unpack(forged(claim, "UNKNOWN", line(rule, evidence, place=place))))
        with precision(128):
            return float(fact.says.upper.worst(arb(1) / 2))

    together, apart = (Compose((repeated(part, 2),)) for part in (once, twice))
    moved = at(Claim(Group(Part(together), num(2)), num(1), None), ({"part": 0},))
    assert moved == pytest.approx(at(Claim(apart, num(1), None), ())) and moved > at(Claim(together, num(1), None), ()) + 1e-6


def test_samples_of_tables_two_steps_away_are_refused():
    sample = Part(Subsample(LADDER, parse("1/4")))
    inside, steps = Compose((repeated(sample, 2),)), line("finite-composition", place=({"part": 0},))
    assert kernel.replay(unpack(forged(Claim(Group(Part(inside), ONE), num(1), None), "UNKNOWN", steps)))
    with pytest.raises(Rejected):
        kernel.replay(unpack(forged(Claim(Group(Part(inside), num(2)), num(1), None), "UNKNOWN", steps)))


def test_several_runs_off_the_integers_tell_neighbours_apart():
    off = Part(integers("exp(-abs(z)/2)"), query=asked("1/2", adjacency="add-remove"))
    (fact,) = kernel.replay(unpack(forged(Claim(Compose((repeated(off, 3),)), num(1), None), "UNKNOWN", line("lattice"))))
    assert fact.says.lower is not None and fact.says.upper.worst(arb(1)) == 1


def test_two_steps_of_inputs_in_one_order_lose_as_much_as_the_last_over_the_first():
    rows = table("1/1000 999/1000", "1/10 9/10", "1/2 1/2", adjacent=((1, 0), (2, 1)))
    truth = math.log(1000 / 4 + 1000 / (4 * 999))
    _, upper = enclosed(Group(Part(rows), num(2)), order="one-sided", **MEASURES["renyi-2"])
    assert upper is None or upper >= truth - 1e-9


def test_what_is_put_together_half_a_step_away_has_no_lower_pair():
    claim = Claim(Lipschitz(Part(Compose((repeated(LEAVES["response"].part, 3),))), parse("1/2")), num(1), None)
    (fact,) = kernel.replay(unpack(forged(claim, "UNKNOWN", line("optimal-composition", place=({"part": 0},)))))
    assert fact.says.upper is not None and fact.says.lower is None


# -- what is taken for granted ---------------------------------------------------------------------------

SHARED = "the sensitivities of all parts speak of the same neighbours"
COUNTED = Part(laplace(2), query=asked("1 0", adjacency="add-remove"))
HALF = parse("1/2")


def believed(mechanism, **asked):
    """The hypotheses that a judgement shows, of either side."""
    lines = verify(Claim(mechanism, **{"epsilon": None, **asked}), 9).judgement.assumptions
    return {line.removeprefix("for the lower bound: ").removeprefix("for the upper bound: ") for line in lines}


@pytest.mark.parametrize(
    ("mechanism", "asked", "shown", "not_shown"),
    [
        (laplace(2), {"sensitivity": ONE}, {MOVES, ATTAINED, IDEAL}, {REAL}),
        (laplace(2), {"query": COUNTED.query}, {IDEAL}, {MOVES, ATTAINED, REAL}),
        (gaussian(2, 2), {"query": asked("1 1", "1 0", adjacency="l2"), **MEASURES["delta"]}, {REAL, IDEAL}, {MOVES, ATTAINED}),
        (Compose((COUNTED,)), {}, {IDEAL}, {MOVES, ATTAINED}),
        (integers("exp(-abs(z)/2)"), {"sensitivity": parse("5/2")}, {"answers are integers, so that they move by at most 2"}, set()),
        (Compose((Part(integers("exp(-abs(z)/2)"), parse("5/2")),)), {}, {"answers are integers, so that they move by at most 2"}, set()),
        (LEAVES["table-pairs"].mechanism, {}, {PAIRS}, {ANY}),
        (LEAVES["table"].mechanism, {}, {ANY}, {PAIRS}),
        (Lipschitz(Part(laplace(2), ONE), HALF), {}, {RATIO}, set()),
        (Lipschitz(Part(laplace(2), ONE), HALF), {"adjacency": "add-remove"}, {MOVES}, {RATIO}),
        (Lipschitz(Part(laplace(2), query=asked("1 0", adjacency="l1")), HALF), {}, set(), {RATIO, MOVES}),
        (Compose((Part(laplace(2), ONE), Part(laplace(3), ONE))), {"adjacency": "replace"}, {f"{SHARED} (replace)"}, set()),
        (Compose((Part(laplace(2), ONE, None, "replace"), Part(laplace(3), ONE))), {}, {f"{SHARED} (replace)"}, set()),
    ],
)
def test_what_is_taken_for_granted_is_of_what_is_stated(mechanism, asked, shown, not_shown):
    lines = believed(mechanism, **asked)
    assert shown <= lines and not lines & not_shown


# -- lists of pairs, queries and orders --------------------------------------------------------------------


def test_tables_of_the_same_inputs_that_list_other_pairs_are_not_at_the_pairs_of_one():
    rows = ("1/2 1/2", "1/4 3/4", "1/8 7/8")
    one, other = (Part(table(*rows, adjacent=pairs)) for pairs in (((0, 1),), ((1, 2),)))
    neighbours.require_one_adjacency(Part(Compose((one, one))))
    with pytest.raises(Rejected):
        neighbours.require_one_adjacency(Part(Compose((one, other))))


@pytest.mark.parametrize(("pairs", "eta"), [(((0, 1),), "1/4"), (((0, 1), (1, 2)), "1/2"), (None, "3/4")])
def test_the_range_of_scores_is_over_the_pairs_that_are_listed(pairs, eta):
    # scores of the first output less those of the second: 3, 2, 0, times 1/4
    scores = tuple(tuple(map(parse, row)) for row in (("3", "0"), ("2", "0"), ("0", "0")))
    assert exponential_range(Exponential(scores, parse("1/4"), pairs), ONE) == parse(eta)


def test_a_record_that_is_replaced_moves_answers_both_ways():
    # from one kind of record to another the answer moves up by 1 or down by 1, in either order: 3 is lost where it moves against the slope
    for order in ("one-sided", "reverse"):
        _, upper = enclosed(UNEVEN.mechanism, query=ROW, order=order)
        assert upper is None or upper >= 3 - 1e-9


def test_only_a_record_that_is_added_or_removed_has_an_order():
    def told(adjacency, **asked):
        return exchanged.either_order(Claim(laplace(2), None, adjacency=adjacency, **asked))

    assert told("", sensitivity=ONE) and told("add-remove", sensitivity=ONE) and told("", query=COUNTED.query)
    assert not told("replace", sensitivity=ONE) and not told("", query=ROW)


def test_uneven_noise_is_exchanged_where_no_query_tells_the_way():
    up = asked("1", adjacency="add-remove")
    assert exchanged.either_order(Claim(UNEVEN.mechanism, None, sensitivity=ONE))
    assert not exchanged.either_order(Claim(UNEVEN.mechanism, None, query=up))
    assert exchanged.worst_way(Claim(UNEVEN.mechanism, None, sensitivity=ONE)) == (exchanged.TOWARDS,)
    assert exchanged.worst_way(Claim(UNEVEN.mechanism, None, query=up)) == ()
    grouped = Group(Part(laplace(2), query=up), num(2))
    assert not exchanged.in_order(Claim(grouped, None)) and exchanged.in_order(Claim(Group(Part(laplace(2), ONE), num(2)), None))


@pytest.mark.parametrize(("constant", "most"), [("1/2", 0), ("3/2", 1)])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_records_behind_a_map_move_answers_by_whole_records(adjacency, constant, most):
    # one record moves the answer by 2, of noise of scale 2; a half of a record is none
    part = Part(laplace(2), query=asked("2 0", adjacency=adjacency))
    lower, upper = enclosed(Lipschitz(part, parse(constant)))
    assert (lower or 0) <= most + 1e-9 and upper >= most - 1e-9


def test_fractions_of_records_behind_a_map_move_answers_by_fractions():
    part = Part(laplace(2), query=asked("2 0", adjacency="l1"))
    assert enclosed(Lipschitz(part, parse("3/2"))) == pytest.approx([1.5, 1.5])


@pytest.mark.parametrize(("moved", "reached"), [("1/2", True), ("1/4", False)])
def test_integers_reach_a_point_of_a_hull_where_it_is_a_whole_number_away(moved, reached):
    # the point 2, times a half, is an integer; times a quarter it is none, and no whole number of steps goes there
    stream = replace(LEAVES["stream-whole"].mechanism, neighbours="hull", hull=matrix("2", "0"))
    assert runs.occurs(runs.Run(Part(stream, parse(moved)), num(2))) is reached


def test_a_record_that_one_coordinate_counts_moves_that_one_alone():
    golden = 2 * math.log((1 + math.sqrt(5)) / 2)  # of Cauchy noise that is moved by 1
    noise = Product(parse("1/(1 + z**2)"), num(2))
    assert enclosed(noise, query=asked("1 0", "0 1", adjacency="add-remove")) == pytest.approx([golden, golden])
    assert enclosed(noise, query=asked("1 1", "0 1", adjacency="add-remove")) == pytest.approx([2 * golden, 2 * golden])
    uneven = Product(UNEVEN.mechanism.density, num(2))
    assert enclosed(uneven, query=asked("1", "-1", adjacency="add-remove")) == pytest.approx([4, 4])


@pytest.mark.parametrize(("moved", "steps"), [(None, 1), ("1", 1), ("5/2", 3)])
def test_stairs_lose_as_many_steps_as_the_sensitivity_has(moved, steps):
    stairs = Part(Staircase(parse("1/4"), parse("1/3")), None if moved is None else parse(moved))
    assert enclosed(stairs.mechanism, sensitivity=stairs.sensitivity) == pytest.approx([steps / 4] * 2)
    assert enclosed(Compose((repeated(stairs, 2),))) == pytest.approx([steps / 2] * 2)
    # two steps of 5/2 are one of 5
    assert enclosed(Group(stairs, num(2))) == pytest.approx([math.ceil(2 * Fraction(moved or 1)) / 4] * 2)


@pytest.mark.parametrize(
    ("stated", "other", "fine"),
    [
        ({"sensitivity": num(2)}, "2", True),
        ({"sensitivity": num(2)}, "1", True),  # answers may move by less
        ({"query": asked("2", adjacency="add-remove")}, "2", True),
        ({"query": asked("2", adjacency="add-remove")}, "1", False),  # a record moves them by 2, and none by 1
    ],
)
def test_a_point_as_far_away_as_no_record_moves_an_answer_shows_nothing(stated, other, fine):
    noise = Translation(parse("abs(z)*exp(-abs(z))"))
    evidence = {"side": "zero", "point": "0", "other": other, "radius": "1/4"}
    if fine:
        near_points.check_inner_point(Claim(noise, None, **stated), noise, evidence)
        return
    with pytest.raises(Rejected):
        near_points.check_inner_point(Claim(noise, None, **stated), noise, evidence)


def test_a_delta_in_closed_form_wants_a_sensitivity_that_is_known_exactly():
    # the greatest eigenvalue of F'F is a root of a cubic, which is only enclosed
    known, enclosed_alone = asked("2 1 0", "0 1 1", "0 0 1", adjacency="add-remove"), asked("1 1 0", "0 1 1", "1 0 2", adjacency="l2")
    assert closed_profile.check(Claim(gaussian(4, 3), num(1), None, query=known), {})
    with pytest.raises(Rejected):
        closed_profile.check(Claim(gaussian(4, 3), num(1), None, query=enclosed_alone), {})


def test_histograms_in_parts_may_differ_by_fractions_where_all_is_linear():
    counted = Part(laplace(2), query=asked("1", adjacency="l1"))
    assert enclosed(Parallel((counted, counted))) == pytest.approx([1 / 2, 1 / 2])
    stated = Part(laplace(2), ONE, None, "l1")
    assert not list(relations.adjacency_faults(Parallel((counted, counted))))
    assert list(relations.adjacency_faults(Parallel((stated, stated)))) and list(relations.adjacency_faults(Parallel((counted, stated))))


BOTH = asked("1", "1", adjacency="add-remove")
"""One record moves two answers by 1 each."""


def _two_runs(epsilon: float) -> float:
    """delta of two runs of Laplace noise of scale 2 on answers that move by 1, summed over cells of the plane, a little below the truth."""
    ends = [-40 + i / 20 for i in range(1601)]
    below = [math.exp(z / 2) / 2 if z < 0 else 1 - math.exp(-z / 2) / 2 for z in (*ends, *(end - 1 for end in ends))]
    q, p = ([b - a for a, b in pairwise(side)] for side in (below[:1601], below[1601:]))
    losses = Counter()
    for a, b in zip(p, q, strict=True):
        losses[round(math.log(a / b), 9)] += a
    return sum(x * y * max(0, 1 - math.exp(epsilon - s - t)) for s, x in losses.items() for t, y in losses.items())


@pytest.mark.parametrize(
    ("rule", "noise", "truth"),
    [
        ("laplace", Product(parse("exp(-abs(z)/2)"), num(2)), _two_runs(1 / 4)),
        ("independent-coordinates", Product(parse("exp(-abs(z)/2)"), num(2)), _two_runs(1 / 4)),
        ("lipschitz-exponent", Radial(parse("exp(-r)"), L1, num(2), num(2)), _two_runs(1 / 4)),
        ("laplace-sums", Compose((Part(Product(parse("exp(-abs(z)/2)"), num(2)), query=BOTH),)), _two_runs(1 / 4)),
        ("gaussian", Product(parse("exp(-z**2/8)"), num(2)), delta_of_gaussian(math.sqrt(2) / 2, 1 / 4)),
    ],
)
def test_a_record_that_moves_two_answers_moves_neither_by_the_sum(rule, noise, truth):
    stated = {} if isinstance(noise, Compose) else {"query": BOTH}
    claim = Claim(noise, parse("1/4"), None, **stated)
    try:
        (fact,) = kernel.replay(unpack(forged(claim, "UNKNOWN", line(rule))))
    except Rejected:
        assert rule == "laplace-sums"
        return
    with precision(128):
        assert fact.says.lower is None or float(fact.says.lower.worst(arb("0.25")).lower()) <= truth + 1e-3
        assert float(fact.says.upper.worst(arb("0.25")).upper()) >= truth - 1e-3


def test_no_delta_in_closed_form_is_that_of_one_answer_where_a_record_moves_two():
    with pytest.raises(Rejected):
        closed_profile.check(Claim(Product(parse("exp(-abs(z)/2)"), num(2)), parse("1/4"), None, query=BOTH), {})


@pytest.mark.parametrize("order", [2, 3])
def test_divergences_of_two_answers_that_a_record_moves_are_those_of_each(order):
    ways = order / (2 * order - 1) * math.exp((order - 1) / 2) + (order - 1) / (2 * order - 1) * math.exp(-order / 2)
    once = math.log(ways) / (order - 1)
    claim = Claim(Product(parse("exp(-abs(z)/2)"), num(2)), query=BOTH, **MEASURES[f"renyi-{order}"])
    (fact,) = kernel.replay(unpack(forged(claim, "UNKNOWN", line("laplace-measures"))))
    for bound in as_bounds(fact.says):
        value = float(constant(bound.value).mid())
        assert value >= 2 * once - 1e-9 if bound.side == "upper" else value <= 2 * once + 1e-9


@pytest.mark.parametrize(("rows", "square"), [(("3",), 9), (("1", "1"), 2)])
def test_a_sampled_gaussian_has_the_divergence_of_what_its_query_moves(rows, square):
    # of order 2, at rate 1/4: log(1 + (e^(mu^2) - 1)/16)
    noise = gaussian(4) if len(rows) == 1 else Product(parse("exp(-z**2/32)"), num(2))
    sample = Subsample(Part(noise, query=asked(*rows, adjacency="add-remove")), parse("1/4"))
    truth = math.log(1 + (math.exp(square / 16) - 1) / 16)
    (fact,) = kernel.replay(unpack(forged(Claim(sample, **MEASURES["renyi-2"]), "UNKNOWN", line("sampled-measures"))))
    for bound in as_bounds(fact.says):
        value = float(constant(bound.value).mid())
        assert value >= truth - 1e-9 if bound.side == "upper" else value <= truth + 1e-9


@pytest.mark.parametrize(("order", "shown"), [("", STATED), ("one-sided", STATED_ONE_SIDED)])
def test_a_guarantee_of_one_order_is_believed_of_that_order_alone(order, shown):
    parts = Compose((repeated(Part(replace(PURE.mechanism, order=order)), 2),))
    lines = believed(parts, order="one-sided")
    assert shown in lines and not {STATED, STATED_ONE_SIDED} - {shown} & lines
    if order:
        assert enclosed(parts, order="reverse")[1] is None and enclosed(parts)[1] is None


@pytest.mark.parametrize("order", ["one-sided", "reverse"])
def test_a_pair_that_is_listed_is_no_neighbour_beyond_the_distance_that_is_stated(order):
    # points at 0, 1/2 and 3/2, neighbours within 1/2: of the two pairs that are listed the second is none
    places = [Fraction(0), Fraction(1, 2), Fraction(3, 2)]
    scores = tuple(tuple(num(-abs(x - y)) for y in places) for x in places)
    points = Exponential(scores, num(2), ((0, 1), (1, 2)), tuple((num(x),) for x in places), "l1")
    rows = [[math.exp(-2 * abs(x - y)) for y in places] for x in places]
    first, second = ([mass / sum(row) for mass in row] for row in (rows[:2] if order == "one-sided" else rows[1::-1]))
    truth = max(math.log(p / q) for p, q in zip(first, second, strict=True))
    lower, upper = enclosed(points, sensitivity=parse("1/2"), order=order)
    assert (lower or 0) <= truth + 1e-9 and (upper is None or upper >= truth - 1e-9)


@pytest.mark.parametrize("move", ["1", "-1"])
@pytest.mark.parametrize("rows", [("1/2 1/2", "1/10 9/10"), ("1/10 9/10", "1/2 1/2")])
def test_two_inputs_meet_a_record_in_both_orders_where_nothing_connects_them(rows, move):
    # two runs of a table lose 2 log 5 in one order, the record 3 in one order, and they may be the same
    answer = Part(UNEVEN.mechanism, query=asked(move, adjacency="add-remove"))
    _, upper = enclosed(Compose((repeated(Part(table(*rows)), 2), answer)))
    assert upper == pytest.approx(3 + 2 * math.log(5))


def _slopes(epsilon, forward):
    """delta of `UNEVEN` that is moved by 1, of which one order loses 1 and the other 3 at most."""
    if epsilon >= (1 if forward else 3):
        return 0.0
    if epsilon <= (-3 if forward else -1):
        return 1 - math.exp(epsilon)
    y = (3 + epsilon) / 4 if forward else -(1 + epsilon) / 4
    first, second = (math.exp(3 * (y - 1)) / 4, 3 * math.exp(-y) / 4) if forward else (3 * math.exp(-y - 1) / 4, math.exp(3 * y) / 4)
    return 1 - first - math.exp(epsilon) * second


@pytest.mark.wide
@pytest.mark.sampled(1)
@pytest.mark.parametrize("move", ["1", "-1"])
@pytest.mark.parametrize("rows", [("1/2 1/2", "1/10 9/10"), ("1/10 9/10", "1/2 1/2")])
def test_so_they_do_at_a_delta(rows, move):
    masses = [[float(Fraction(x)) for x in row.split()] for row in rows]

    def together(epsilon, p, q, forward):
        pairs = [(a * c, b * d) for a, b in zip(p, q, strict=True) for c, d in zip(p, q, strict=True)]
        return sum(a * _slopes(epsilon - math.log(a / b), forward) for a, b in pairs)

    truth = max(together(4, *pair, forward) for pair in (masses, masses[::-1]) for forward in (True, False))
    answer = Part(UNEVEN.mechanism, query=asked(move, adjacency="add-remove"))
    judgement = verify(Claim(Compose((repeated(Part(table(*rows)), 2), answer)), num(4), None), 9).judgement
    assert float(constant(judgement.delta_upper).upper()) >= truth - 1e-9
    assert judgement.delta_lower is None or float(constant(judgement.delta_lower).lower()) <= truth + 1e-9


def test_points_at_every_distance_have_no_neighbours_two_steps_away():
    # what is lost per unit of distance is no loss of a step, of which there would be two
    places = (0, 1, 3)
    scores = tuple(tuple(num(-abs(x - y)) for y in places) for x in places)
    points = Part(Exponential(scores, ONE, None, tuple((num(x),) for x in places), "l1"))
    assert enclosed(Group(points, num(2)))[1] is None


@pytest.mark.parametrize(
    "part",
    [
        Part(Staircase(ONE, parse("1/3")), query=asked("1", adjacency="add-remove")),
        replace(LEAVES["process-atoms"].part, sensitivity=None, query=asked("1", adjacency="add-remove")),
        Part(LEAVES["process-brownian"].mechanism, query=asked("1", adjacency="add-remove")),
        Part(LEAVES["process-brownian"].mechanism, num(2)),
        *(Part(LEAVES[name].mechanism, num(2)) for name in ("table", "kary", "guarantee-pure")),
        *(Part(LEAVES[name].mechanism, query=asked("1", adjacency="add-remove")) for name in ("table", "exponential", "guarantee-pure")),
        Part(Compose((COUNTED,)), num(2)),
        Part(Compose((COUNTED,)), query=COUNTED.query),
    ],
)
def test_no_rule_meets_a_query_or_a_sensitivity_of_what_has_none(part):
    # so that none has to read it again: the kernel refuses the claim, and one about it as a part, before any line
    for claim in (Claim(part.mechanism, num(1), None, part.sensitivity, part.query), Claim(Compose((part, part)), num(1), None)):
        with pytest.raises(CertificateError):
            kernel.replay(unpack(forged(claim, "UNKNOWN")))


def test_no_rule_meets_a_list_of_pairs_without_neighbours():
    for pairs in ((), ((0, 0),)):
        with pytest.raises(CertificateError):
            kernel.replay(unpack(forged(Claim(table("3/4 1/4", "1/4 3/4", adjacent=pairs), num(1), None), "UNKNOWN")))


# -- one order of neighbours -------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["", "one-sided", "reverse"])
@pytest.mark.parametrize(("measure", "both"), [("zcdp", False), ("gdp", True)])
def test_a_measure_that_is_stated_of_one_order_holds_of_that_order(measure, both, order):
    # of a trade-off function above a Gaussian one the inverse is above it too, so that mu holds of the other order
    known = Guarantee(measure, ((parse("1/2"),),), "one-sided")
    _, upper = enclosed(known, **MEASURES[measure], order=order)
    assert upper == (pytest.approx(1 / 2) if both or order == "one-sided" else None)


@pytest.mark.parametrize("measure", ["delta", "renyi-2"])
def test_in_one_order_stated_noise_moves_the_way_that_is_worst(measure):
    leaning = {"sensitivity": ONE, "order": "one-sided", **MEASURES[measure]}
    assert exchanged.TOWARDS in believed(UNEVEN.mechanism, **leaning) and exchanged.TOWARDS not in believed(laplace(2), **leaning)


UP = ((Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 10), Fraction(9, 10)))
DOWN = ((Fraction(1, 3), Fraction(2, 3)), (Fraction(1, 2), Fraction(1, 2)))


def _divergence(tables, order):
    """The Renyi divergence of order 2 of tables of two inputs, all at the pair that is listed, the record in the first or in the second."""
    a, b = (0, 1) if order == "one-sided" else (1, 0)
    return sum(math.log(sum(p * p / q for p, q in zip(rows[a], rows[b], strict=True))) for rows in tables)


def _listing(rows):
    return Part(Table(tuple(tuple(map(num, row)) for row in rows), ((0, 1),)))


@pytest.mark.parametrize("tables", [(UP, UP), (UP, DOWN)])
@pytest.mark.parametrize("order", ["one-sided", "reverse"])
def test_divergences_of_tables_in_one_order_are_of_that_order(tables, order):
    parts = tuple(map(_listing, tables))
    mechanism = Compose((repeated(parts[0], 2),)) if tables[0] is tables[1] else Compose(parts)
    truth, other = (_divergence(tables, each) for each in (order, {"one-sided": "reverse", "reverse": "one-sided"}[order]))
    lower, upper = enclosed(mechanism, order=order, **MEASURES["renyi-2"])
    assert (lower or 0) <= truth + 1e-9 and (upper is None or upper >= truth - 1e-9)
    # a map of the data may exchange the input with the record and the one without
    _, upper = enclosed(Lipschitz(Part(mechanism), ONE), order=order, **MEASURES["renyi-2"])
    assert upper is None or upper >= max(truth, other) - 1e-9
    # and what is known of both orders, put in the place of one, is no lower bound of the lesser
    found = verify(Claim(mechanism, **MEASURES["renyi-2"]), 9)
    lie = fields.forged(found.certificate, replace(found.judgement.claim, order=order))
    assert lie is None or fields.lower(lie) is None or float(constant(fields.lower(lie)).mid()) <= truth + 1e-9


def test_the_differences_of_real_histograms_have_no_corners():
    def claim(adjacency):
        return Claim(Product(parse("exp(-abs(z))"), num(2)), ONE, query=asked("1 0", "0 1", adjacency=adjacency))

    assert shapes.generators(claim("l2"), "query", "a rule") is None
    assert shapes.generators(claim("l1"), "query", "a rule") is not None


@pytest.mark.parametrize(("stated", "fine"), [({"sensitivity": num(3)}, True), ({"query": asked("3", adjacency="add-remove")}, False)])
def test_integers_that_a_record_moves_by_three_it_moves_by_no_less(stated, fine):
    claim = Claim(integers("exp(-abs(z)/6)"), num(1), None, **stated)
    certificate = unpack(forged(claim, "UNKNOWN", line("lattice", {"any": True, "at": 1})))
    if fine:
        assert kernel.replay(certificate)
        return
    with pytest.raises(Rejected):
        kernel.replay(certificate)


@pytest.mark.parametrize("order", ["", "one-sided", "reverse"])
@pytest.mark.parametrize("pair", [[0, 1], [1, 0]])
def test_at_one_pair_of_inputs_the_order_is_that_of_the_list(pair, order):
    # the pair that evidence names may be turned round, and would then say of one order what is true of the other
    at = [{"inputs": 2, "pair": pair}]
    claim = Claim(Compose((repeated(_listing(UP), 2),)), **MEASURES["renyi-2"], order=order)
    lines = [
        line("finite-measures", place=({"pair": at}, 0)),
        line("added-measures", {"side": "lower"}, [0], ({"pair": at},)),
        line("added-measures", {"side": "lower", "pair": at}, [1]),
    ]
    truth = max(_divergence((UP, UP), each) for each in ([order] if order else ["one-sided", "reverse"]))
    try:
        (bound,) = as_bounds(kernel.replay(unpack(forged(claim, "UNKNOWN", *lines)))[-1].says)
    except Rejected:
        assert order
        return
    assert float(constant(bound.value).mid()) <= truth + 1e-9


def test_either_row_of_a_pair_may_have_the_record_where_no_order_is_claimed():
    sample = Subsample(Part(table("1/2 1/2", "1/10 9/10", adjacent=((0, 1),))), parse("1/4"))
    assert EITHER in believed(sample) and EITHER not in believed(sample, order="one-sided")


def test_a_noise_moves_so_many_times_as_far_as_an_answer_does():
    asked_of = noises.question(Claim(NoisyMax(laplace(4), num(3)), None, sensitivity=num(3)), "noise", 2)
    assert (asked_of.mechanism, asked_of.sensitivity) == (laplace(4), num(6))


@pytest.mark.parametrize("further", [lambda part: Group(part, num(2)), lambda part: Lipschitz(part, num(2))])
def test_what_is_stated_beside_queries_two_steps_away_moves_two_steps_too(further):
    """Two records: each moves one of the two counts by 1, noise of scale 1; the stated answer moves by 1 for each, noise of scale 1."""
    counts = [Part(laplace(1), query=asked(row, adjacency="add-remove")) for row in ("1 0", "0 1")]
    stated = Part(laplace(1), sensitivity=num(1))
    assert enclosed(further(Part(Compose((*counts, stated))))) == pytest.approx([4, 4])
