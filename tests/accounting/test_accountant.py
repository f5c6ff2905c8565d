"""The accountant in the place of dp-accounting's own: what its tests state, and its two sides against the estimates of theirs."""

import math
import random
from decimal import Decimal
from fractions import Fraction

import pytest

pytest.importorskip("dp_accounting", reason="needs the extra `accounting`")

from dp_accounting import dp_event
from dp_accounting.pld import privacy_loss_distribution
from dp_accounting.privacy_accountant import NeighboringRelation, UnsupportedEventError

import dpverify
from dpverify.accounting import CertifiedAccountant
from dpverify.accounting.accountant import rounded_up
from dpverify.errors import NotProved

ADD, ONE, SPECIAL = NeighboringRelation
SPACING = 1e-3


class UnknownDpEvent(dp_event.DpEvent):
    pass


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize(
    "nested",
    [
        lambda event: event,
        lambda event: dp_event.ComposedDpEvent([event]),
        lambda event: dp_event.SelfComposedDpEvent(event, 10),
    ],
)
@pytest.mark.parametrize("event", [dp_event.UnsupportedDpEvent(), UnknownDpEvent()])
def test_what_is_unknown_is_refused_by_its_name(relation, nested, event):
    accountant = CertifiedAccountant(relation)
    assert accountant._maybe_compose(nested(event), 1, False).invalid_event == event
    assert not accountant.supports(nested(event))
    with pytest.raises(UnsupportedEventError, match="caused by subevent"):
        accountant.compose(nested(event))
    assert accountant.get_epsilon(0) == 0


@pytest.mark.parametrize("relation", NeighboringRelation)
def test_nothing_costs_nothing_and_what_hides_nothing_costs_all(relation):
    for accountant in (CertifiedAccountant(relation), CertifiedAccountant(relation).compose(dp_event.NoOpDpEvent())):
        assert [accountant.get_epsilon(delta) for delta in (1e-12, 0, 1)] == [0, 0, 0]
        assert [accountant.get_delta(epsilon) for epsilon in (1e-12, 0, math.inf)] == [0, 0, 0]
    accountant = CertifiedAccountant(relation).compose(dp_event.ComposedDpEvent([dp_event.NoOpDpEvent(), dp_event.NonPrivateDpEvent()]))
    assert [accountant.get_epsilon(delta) for delta in (0.99, 0, 1)] == [math.inf] * 3
    assert [accountant.get_delta(epsilon) for epsilon in (100, 0, math.inf)] == [1, 1, 1]
    with pytest.raises(NotProved):
        accountant.certificate("it.cert.json", delta=0.5)


def test_wrong_numbers_are_told_and_leave_the_ledger_alone():
    accountant = CertifiedAccountant()
    for event, said in (
        (dp_event.GaussianDpEvent(-1), "Noise multiplier"),
        (dp_event.PoissonSampledDpEvent(1.1, dp_event.GaussianDpEvent(1)), "Sampling rate"),
        (dp_event.GaussianDpEvent(math.nan), "nan is not a number"),
    ):
        with pytest.raises(ValueError, match=said):
            accountant.compose(event)
    for count in (0, -1):
        with pytest.raises(ValueError):
            accountant.compose(dp_event.GaussianDpEvent(1), count)
    with pytest.raises(ValueError, match="delta must be"):
        accountant.get_epsilon(-0.1)
    assert accountant.ledger == dp_event.NoOpDpEvent()
    assert accountant.get_epsilon(0) == 0


def test_a_float_is_the_binary_number_that_it_holds():
    near = CertifiedAccountant().compose(dp_event.LaplaceDpEvent(Fraction(11, 10))).epsilon_bounds(0)
    binary = CertifiedAccountant(digits=30).compose(dp_event.LaplaceDpEvent(1.1)).epsilon_bounds(0)
    assert Fraction(binary[0]) <= 1 / Fraction(1.1) <= Fraction(binary[1]) < Fraction(10, 11) <= Fraction(near[1])


def test_answers_are_floats_that_are_no_less_than_what_is_proved():
    accountant = CertifiedAccountant().compose(dp_event.LaplaceDpEvent(3.0))
    assert Fraction(accountant.get_epsilon(0)) >= Fraction(1, 3)
    assert rounded_up(Decimal("0.1")) == 0.1
    assert Fraction(rounded_up(Decimal("0.3"))) >= Fraction(3, 10)
    assert rounded_up(Decimal("Infinity")) == math.inf


@pytest.mark.wide
def test_days_are_added_to_a_file_and_certified_as_a_whole(tmp_path):
    step = dp_event.PoissonSampledDpEvent(0.01, dp_event.GaussianDpEvent(1.1))
    CertifiedAccountant().compose(step, 10).save(tmp_path / "ledger.json")
    later = CertifiedAccountant.load(tmp_path / "ledger.json").compose(dp_event.GaussianDpEvent(5.0))
    whole = dp_event.ComposedDpEvent([dp_event.SelfComposedDpEvent(step, 10), dp_event.GaussianDpEvent(5.0)])
    at_once = CertifiedAccountant().compose(whole)
    assert later.epsilon_bounds(1e-5) == at_once.epsilon_bounds(1e-5)
    file = later.certificate(tmp_path / "it.cert.json", epsilon=later.get_epsilon(1e-5), delta=1e-5)
    assert dpverify.check(file).is_proved
    with pytest.raises(NotProved):
        later.certificate(tmp_path / "no.cert.json", epsilon=0.01, delta=1e-5)
    assert not (tmp_path / "no.cert.json").exists()
    with pytest.raises(ValueError, match="give epsilon"):
        later.certificate(tmp_path / "no.cert.json")


def test_a_hundred_laplaces_cost_less_than_the_sum_at_a_delta():
    """dp-accounting's tests state 100 at 1e-10, which is the cost at a delta of 0."""
    accountant = CertifiedAccountant().compose(dp_event.LaplaceDpEvent(1.0), 100)
    low, high = accountant.epsilon_bounds(1e-10)
    assert 81 < low <= high < 82
    assert accountant.epsilon_bounds(0) == (100, 100)


def estimate(event, relation, pessimistic):
    """Their distribution of losses, rounded to one side."""
    kinds = {"pessimistic_estimate": pessimistic, "value_discretization_interval": SPACING}
    plain = {**kinds, "use_connect_dots": False}
    moved = 2 if relation is ONE else 1
    pld = privacy_loss_distribution
    match event:
        case dp_event.GaussianDpEvent(sigma):
            return pld.from_gaussian_mechanism(sigma, sensitivity=moved, **plain)
        case dp_event.LaplaceDpEvent(scale):
            return pld.from_laplace_mechanism(scale, sensitivity=moved, **plain)
        case dp_event.DiscreteLaplaceDpEvent(rate, sensitivity):
            return pld.from_discrete_laplace_mechanism(rate, sensitivity, **plain)
        case dp_event.RandomizedResponseDpEvent(noise, buckets):
            return pld.from_randomized_response(noise, buckets, neighboring_relation=relation, **kinds)
        case dp_event.MixtureOfGaussiansDpEvent(sigma, moves, chances):
            return pld.from_mixture_gaussian_mechanism(sigma, moves, chances, **plain)
        case dp_event.PoissonSampledDpEvent(rate, dp_event.GaussianDpEvent(sigma)):
            return pld.from_gaussian_mechanism(sigma, sampling_prob=rate, neighboring_relation=relation, **plain)
        case dp_event.PoissonSampledDpEvent(rate, dp_event.LaplaceDpEvent(scale)):
            return pld.from_laplace_mechanism(scale, sampling_prob=rate, **plain)
        case dp_event.SelfComposedDpEvent(inside, count):
            return estimate(inside, relation, pessimistic).self_compose(count)
        case dp_event.ComposedDpEvent([first, *others]):
            found = estimate(first, relation, pessimistic)
            for other in others:
                found = found.compose(estimate(other, relation, pessimistic))
            return found
    raise AssertionError(event)


def drawn(rng, relation, depth=0):
    """An event of events, at random."""
    if depth < 2 and rng.random() < 0.6:
        if rng.random() < 0.5:
            return dp_event.SelfComposedDpEvent(drawn(rng, relation, depth + 1), rng.randint(1, 3))
        return dp_event.ComposedDpEvent([drawn(rng, relation, depth + 1) for _ in range(rng.randint(1, 3))])
    gaussian, laplace = dp_event.GaussianDpEvent(rng.uniform(0.8, 5)), dp_event.LaplaceDpEvent(rng.uniform(0.8, 5))
    rate, chance = rng.uniform(0.02, 0.9), rng.uniform(0.1, 0.9)
    either = [gaussian, laplace, dp_event.PoissonSampledDpEvent(rate, gaussian)]
    if relation is not ONE:
        either += [
            dp_event.PoissonSampledDpEvent(rate, laplace),
            dp_event.DiscreteLaplaceDpEvent(rng.uniform(0.1, 1), rng.randint(1, 3)),
            dp_event.MixtureOfGaussiansDpEvent(2.0, [0.0, 0.5, 1.0], [chance, (1 - chance) / 2, (1 - chance) / 2]),
        ]
    if relation is not ADD:
        either.append(dp_event.RandomizedResponseDpEvent(chance, rng.randint(2, 9)))
    return rng.choice(either)


@pytest.mark.parametrize("seed", range(6))
def test_bounds_meet_the_estimates_of_theirs_which_are_rounded_to_either_side(seed):
    rng = random.Random(seed)
    relation = list(NeighboringRelation)[seed % 3]
    event = drawn(rng, relation)
    low, high = CertifiedAccountant(relation, digits=8).compose(event).delta_bounds(0.5)
    optimistic, pessimistic = (estimate(event, relation, side).get_delta_for_epsilon(0.5) for side in (False, True))
    assert float(low) <= pessimistic + 1e-9
    assert float(high) >= optimistic - 1e-9
