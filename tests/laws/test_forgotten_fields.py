"""Fields that a rule could forget without any claim of the law that every field counts showing it: what is then true, by hand.

A scheme has no worse one, and other things are read to refuse. Each truth is a formula of two or three densities.
"""

import math
from fractions import Fraction

import pytest
from flint import arb

from dpverify.search.verify import verify
from dpverify.trusted import kernel
from dpverify.trusted.language.certificate import unpack
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import ONE, num, parse
from dpverify.trusted.language.model import (
    Claim,
    Compose,
    Exponential,
    Group,
    Guarantee,
    Lipschitz,
    Parallel,
    Part,
    Query,
    Repeat,
    Subsample,
    Translation,
)
from dpverify.trusted.numbers.balls import constant, precision
from dpverify.trusted.parts import at_pair, candidates, neighbours, released
from dpverify.trusted.parts.places import ONE_STEP
from tests.generated import LEAVES, MEASURES, asked, gaussian, integers, laplace, repeated, table
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
    runs, other = (Part(laplace(2), query=asked(row, adjacency="add-remove")) for row in ("1 1", "0 1"))
    query = released.answered(Claim(Compose((repeated(runs, 2), other)), None))
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
