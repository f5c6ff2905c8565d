"""A sample mixes the output with the record into the one without it: where a query tells how a record moves the answer, one order occurs.

One-sided noise exp(-z) on z > 0, rate p. A record that moves the answer up by 1 gives P = Exp at 1, Q = Exp at 0: P/Q is e or 0. The
mixture's losses are log(1 + p (e - 1)) and log(1 - p), and delta(eps) = max over orders, of two atoms, by hand.
"""

import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import pytest
from flint import arb

from dpverify.search.additive import asymptotics
from dpverify.search.composition import plans
from dpverify.search.verify import verify
from dpverify.trusted.combinators.one_pair import is_told
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.facts import orientation
from dpverify.trusted.facts.orientation import oriented
from dpverify.trusted.facts.pairs import Curve, Pair, symmetric
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.balls import constant, precision, rational
from dpverify.trusted.kernel.bounds import INFINITE
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import Num, parse
from dpverify.trusted.kernel.model import (
    Claim,
    Compose,
    Group,
    Lipschitz,
    Part,
    PostProcess,
    Product,
    Query,
    Subsample,
    Translation,
    repeated,
)
from dpverify.trusted.theories.composition import losses_of_parts
from dpverify.trusted.theories.composition.rules import finite_composition, poisson_subsampling
from tests.proofs import Step, bound

F = Fraction
ONE_SIDED = Translation(parse("exp(-z)"), (Num(F(0)), None))
WHOLE = replace(ONE_SIDED, integers=True)
RATE = F(1, 2)


def asked(*columns, noise=ONE_SIDED, adjacency="add-remove"):
    return Part(noise, None, Query((tuple(map(F, columns)),), adjacency))


def sampled_delta(up, epsilon, steps=1):
    """By hand, the worse order, for a record that moves the answer up by 1, or down; or for so many records."""
    e, p = mpmath.e**steps, mpmath.mpf(RATE.numerator) / RATE.denominator
    x = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
    low = 1 - 1 / e  # of Q below 1 if up, of P else
    if up:
        atoms = [((1 - p) * low, low), ((1 - p) / e + p, 1 / e)]
    else:
        atoms = [(p * low, 0), (p / e + 1 - p, 1)]
    return max(sum(max(a - x * b, 0) for a, b in order) for order in (atoms, [(b, a) for a, b in atoms]))


@pytest.mark.parametrize("noise", [ONE_SIDED, WHOLE])
@pytest.mark.parametrize(("columns", "up"), [((1,), True), ((1, F(1, 2)), True), ((-1,), False), ((1, -1), False), ((0, -1), False)])
@pytest.mark.parametrize("epsilon", [F(1, 10), F(6, 10), F(7, 10), F(3)])
def test_the_lower_bound_of_a_sample_is_of_the_order_that_occurs(noise, columns, up, epsilon):
    rule = "lattice" if noise.integers else "line"
    columns = tuple(c for c in columns if not noise.integers or F(c).denominator == 1)
    with precision(100):
        found = poisson_subsampling.curve(plans.curve_of_one(Run(asked(*columns, noise=noise)), {"rule": rule}), Num(RATE))
        below, above = found.lower.worst(rational(epsilon)), found.upper.worst(rational(epsilon))
        truth = sampled_delta(up, epsilon)
        assert abs(float(below.mid()) - float(truth)) < 1e-12
        assert float(above.mid()) >= float(truth) - 1e-12
        if columns != (1, -1):
            assert float(above.mid()) <= float(truth) + 1e-12  # all records move the answer the same way


def test_records_that_move_the_answer_both_ways_leave_the_upper_bound_for_either_order():
    with precision(100):
        one, both = (plans.curve_of_one(Run(asked(*columns)), {"rule": "line"}) for columns in ((1, F(1, 2)), (1, F(-1, 2))))
        again = plans.curve_of_one(Run(asked(1), factor=Num(F(2))), {"rule": "line"})
    assert one.exact and not both.exact and both.upper.forward is both.upper.backward
    assert again.upper.forward is again.upper.backward  # of two records one may come and one go


def test_a_map_of_the_data_may_exchange_the_neighbours():
    # a map that takes a record away where one is added is 1-Lipschitz: by hand, a sample of what it feeds is of the other order
    moved, rate = Part(Lipschitz(asked(1), Num(F(1)))), Num(RATE)
    for epsilon in (F(1, 10), F(1), F(3)):
        with precision(100):
            plan = {"rule": "poisson-subsampling", "part": {"rule": "line"}}
            found = plans.curve(Run(Part(Subsample(moved, rate))), plan)
            assert float(found.upper.worst(rational(epsilon)).mid()) >= float(sampled_delta(False, epsilon)) - 1e-12
            for part, times in ((asked(1), 1), (moved, 1), (moved, 2)):
                with pytest.raises(Rejected, match="exchange the neighbours"):
                    several = [Run(Part(Subsample(part, rate)), times=times), Run(Part(Subsample(asked(1), rate)), own=True, mapped=True)]
                    finite_composition.curve(several, {})


BESIDE_NOTHING = Part(Compose((asked(1), asked(0))))
"""Two parts that share their neighbours, so that these are looked at together."""


@pytest.mark.parametrize(
    ("moved", "steps"),
    [
        (Lipschitz(BESIDE_NOTHING, Num(F(1))), 1),
        (PostProcess(Part(Lipschitz(BESIDE_NOTHING, Num(F(1))))), 1),
        (Lipschitz(Part(PostProcess(BESIDE_NOTHING)), Num(F(2))), 2),
        (Group(BESIDE_NOTHING, Num(F(2))), 2),
        (Group(Part(Lipschitz(BESIDE_NOTHING, Num(F(1)))), Num(F(1))), 1),
    ],
)
@pytest.mark.parametrize("epsilon", [F(1, 10), F(1)])
def test_a_map_or_several_steps_round_parts_that_share_their_neighbours_may_exchange_them(moved, steps, epsilon):
    # as of one part: what a sample of it bounds is the order that is worst, whichever the query's own is
    plan = {"rule": "poisson-subsampling", "part": {"rule": "joint-neighbours", "above": {"plans": [{"rule": "line"}], "of": [0]}}}
    with precision(100):
        found = plans.curve(Run(Part(Subsample(Part(moved), Num(RATE)))), plan)
        assert float(found.upper.worst(rational(epsilon)).mid()) >= float(sampled_delta(False, epsilon, steps)) - 1e-12


def test_one_step_that_is_no_map_leaves_the_order_of_parts_that_share_their_neighbours():
    plan = {"rule": "poisson-subsampling", "part": {"rule": "joint-neighbours", "above": {"plans": [{"rule": "line"}], "of": [0]}}}
    for part in (BESIDE_NOTHING, Part(Group(BESIDE_NOTHING, Num(F(1)))), Part(PostProcess(BESIDE_NOTHING))):
        with precision(100):
            found = plans.curve(Run(Part(Subsample(part, Num(RATE)))), plan)
            assert abs(float(found.upper.worst(rational(F(1, 10))).mid()) - float(sampled_delta(True, F(1, 10)))) < 1e-12


def test_the_upper_bound_behind_a_map_is_for_both_orders():
    claim = Part(Lipschitz(Part(Subsample(Part(Translation(parse("exp(-abs(z))")), Num(F(1))), Num(RATE))), Num(F(1))))
    with precision(100):
        found = plans.curve(Run(claim), {"rule": "poisson-subsampling", "part": {"rule": "laplace"}})
        alone = plans.curve(Run(claim.mechanism.part), {"rule": "poisson-subsampling", "part": {"rule": "laplace"}})
        at = rational(F(1, 3))
        assert found.upper.forward is found.upper.backward and alone.upper.forward is not alone.upper.backward
        assert found.upper.forward(at) >= alone.upper.worst(at).lower()


@pytest.mark.wide
def test_only_noise_that_is_not_symmetric_under_a_query_by_records_of_one_sign_is_told():
    assert is_told(asked(1)) and is_told(asked(-1, 2)) and is_told(asked(1, noise=WHOLE))
    assert is_told(Part(Product(parse("exp(-abs(z) + min(z, 1))"), Num(F(1))), None, Query(((F(1),),), "add-remove")))
    for part in (
        asked(1, -1),
        asked(1, 2, adjacency="replace"),
        Part(ONE_SIDED, Num(F(1))),
        asked(1, noise=Translation(parse("exp(-abs(z))"))),
        asked(1, noise=Translation(parse("1 - abs(z)"), (Num(F(-1)), Num(F(1))))),
    ):
        assert not is_told(part)


@pytest.mark.parametrize(("columns", "least"), [((1,), "log(2)"), ((1, -1), None)])
def test_the_pure_epsilon_of_a_sample_is_bounded_by_what_either_order_has(columns, least):
    claim = Claim(Subsample(asked(*columns), Num(RATE)), None)
    witness = {"a": ["1/2"], "b": ["-1/2"], "event": "7/16", "radius": "7/16", "value": "inf"}
    witness |= asymptotics.evidence(asked(*columns).mechanism)
    (found,) = bound(claim, Step("combination", {"side": "lower", "part": {"rule": "point-witness", "evidence": witness}}))
    if least is None:
        assert found.value is INFINITE
    else:
        assert abs(_number(found.value) - _number(parse(least))) < 1e-15


def test_the_whole_data_as_the_sample_keep_the_part_s_epsilon():
    assert all(losses_of_parts.sampled(parse("3"), Num(F(1)), first) == parse("3") for first in (True, False))
    value = losses_of_parts.sampled(parse("1"), parse("1/3"), False)
    assert abs(_number(value) - _number(parse("-log(2/3 + exp(-1)/3)"))) < 1e-15


def _number(expr):
    with precision(100):
        return float(constant(expr).mid())


LEANING = Translation(parse("exp(-max(3*z, -z))"))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("columns", "rate", "losses"),
    [((2,), "1/10", (6, -2)), ((-2,), "1/10", (2, -6)), ((2, -1), "1/10", (6, -2)), ((1,), "1/2", (3, -1)), ((-1,), "1/2", (1, -3))],
)
def test_a_pure_claim_about_a_sample_is_refuted_below_the_order_that_occurs_and_never_above(columns, rate, losses):
    # the loss of the output with the record over the one without it is between these two, and both are met on half-lines
    p = mpmath.mpf(F(rate).numerator) / F(rate).denominator
    truth = max(abs(mpmath.log(1 - p + p * mpmath.exp(loss))) for loss in losses)
    mechanism = Subsample(asked(*columns, noise=LEANING), parse(rate))
    for share, wanted in ((F(98, 100), "REFUTED"), (F(102, 100), "PROVED")):
        epsilon = Num(F(mpmath.nstr(truth, 30)) * share)
        assert verify(Claim(mechanism, epsilon)).judgement.verdict == wanted


@pytest.mark.sampled(9)
@pytest.mark.parametrize("noise", [ONE_SIDED, WHOLE, Translation(parse("exp(-max(2*z, -z))"))], ids=["one-sided", "integers", "leaning"])
@pytest.mark.parametrize("columns", [(1,), (-2,), (2, 1), (3, -1), (-1, 0)])
@pytest.mark.parametrize("times", [1, 3])
def test_a_sample_alone_is_as_private_as_the_worse_of_its_two_orders(noise, columns, times):
    """With the record first log(1 + p (e^w - 1)), with it second -log(1 - p + p e^-w), w of that order.

    Both may be infinite (theory#poisson-subsampling).
    """
    up, down = (2, 1) if noise.support == (None, None) else (1, math.inf)
    ahead, behind = (max(up * sign * c if sign * c > 0 else -down * sign * c for c in columns if c) for sign in (1, -1))
    truth = times * max(math.log1p(math.expm1(ahead) / 3), -math.log(2 / 3 + math.exp(-behind) / 3))
    part = repeated(Part(Subsample(asked(*columns, noise=noise), parse("1/3"))), Num(F(times)))
    for claim in (Claim(Compose((part,)), None), *([Claim(part.mechanism, None)] if times == 1 else [])):
        found = verify(claim).judgement
        if math.isinf(truth):
            assert found.lower is INFINITE
        else:
            assert [_number(found.lower), _number(found.upper)] == pytest.approx([truth, truth], abs=1e-12)


def test_a_sample_behind_a_map_is_not_at_the_one_order():
    behind = Part(Lipschitz(asked(1), Num(F(1))))
    for mechanism in (Subsample(behind, Num(RATE)), Compose((Part(Subsample(behind, Num(RATE))),))):
        assert verify(Claim(mechanism, parse("log(2)"))).judgement.upper is None


# -- which order the lower pair is in ------------------------------------------------------------------

UNEVEN = Translation(parse("exp(-max(2*z, -z))"))
ONE_WAY = Pair(lambda epsilon: arb(0.5), lambda epsilon: arb(0.25))
FOUND = Curve(symmetric(lambda epsilon: arb(1)), ONE_WAY, ("rule",))


def turned(pair):
    return pair.forward is ONE_WAY.backward and pair.backward is ONE_WAY.forward


@pytest.mark.parametrize(
    ("columns", "up", "alone"),
    [
        ((1,), True, True),
        ((-1,), False, True),
        ((1, F(1, 2)), True, True),
        ((1, F(-1, 2)), True, False),
        ((F(1, 2), -1), False, False),
        ((0, -1), False, True),
    ],
)
def test_the_pair_is_of_the_record_that_moves_the_answer_furthest_and_bounds_from_above_where_none_moves_it_back(columns, up, alone):
    found = oriented(FOUND, Run(asked(*columns, noise=UNEVEN)))
    assert turned(found.lower) if up else found.lower is ONE_WAY
    assert found.upper is (found.lower if alone else FOUND.upper)
    nothing = oriented(replace(FOUND, upper=None), Run(asked(*columns, noise=UNEVEN)))
    assert nothing.upper is None and nothing.lower.forward is found.lower.forward


@pytest.mark.parametrize(
    "run",
    [
        Run(Part(UNEVEN, Num(F(1)))),
        Run(asked(1, noise=Translation(parse("exp(-abs(z))")))),
        Run(asked(1, noise=UNEVEN, adjacency="l1")),
        Run(asked(1, -1, noise=UNEVEN)),
        Run(asked(1, noise=UNEVEN), mapped=True),
    ],
)
def test_where_the_order_does_not_count_or_is_not_told_a_curve_is_left_as_it_is(run):
    assert oriented(FOUND, run) is FOUND


def test_a_curve_whose_orders_are_alike_or_without_a_lower_pair_is_left_as_it_is():
    run = Run(asked(1, noise=UNEVEN))
    for found in (replace(FOUND, lower=None), replace(FOUND, lower=FOUND.upper)):
        assert oriented(found, run) is found


def test_only_one_exact_shift_of_one_coordinate_by_one_step_bounds_from_above(monkeypatch):
    several = Part(Product(UNEVEN.density, Num(F(2))), None, Query(((F(1),), (F(0),)), "add-remove"))
    for run in (Run(several), Run(asked(1, noise=UNEVEN), Num(F(2)))):
        found = oriented(FOUND, run)
        assert turned(found.lower) and found.upper is FOUND.upper
    run = Run(asked(1, noise=UNEVEN))
    for known, lower in (
        (Sensitivity(Num(F(2)), Num(F(1)), (F(1),)), True),
        (Sensitivity(Num(F(1)), Num(F(1)), None), False),
        (Sensitivity(Num(F(1)), Num(F(1)), (F(1), F(0))), False),
        (Sensitivity(Num(F(1)), Num(F(1)), (F(3),)), False),
    ):
        monkeypatch.setattr(orientation, "reach", lambda _, known=known: known)
        found = oriented(FOUND, run)
        assert found.upper is FOUND.upper and (turned(found.lower) if lower else found.lower is None)
