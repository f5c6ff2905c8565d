"""Audits of mechanisms made of parts hold their samplers against the curve that is proved of the declaration, not at one point alone."""

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dpverify.audits import audit
from dpverify.audits.declared.curves import proved_curve
from dpverify.audits.partition import CurvePoint
from dpverify.audits.plan import make_plan
from dpverify.errors import AuditError
from dpverify.runtime.finding import NO_VIOLATION_SEEN, NONCONFORMING, VIOLATION
from dpverify.trusted.kernel.expr import Num, parse
from dpverify.trusted.kernel.model import L2, Claim, Compose, Kernel, Part, Radial, Sampled, Subsample, repeated

mpmath.mp.dps = 40
GRID = 2.0**20
GAUSS = Radial(parse("exp(-r**2/2)"), L2, Num(Fraction(1)))


def number(value):
    return Num(Fraction(value))


TWO = Claim(Compose((repeated(Part(GAUSS, number(1)), number(2)),)), number(4), number("1/10"), name="two gaussians")
SAMPLED = Claim(Subsample(Part(GAUSS, number(1), adjacency="add-remove"), number("1/4")), number(1), number("1/10"), name="sampled")


def gaussian_delta(epsilon, mu):
    """theory#gaussian, by mpmath."""
    e = mpmath.mpf(epsilon)
    return mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)


def two_answers(scale):
    def sampler(data, size, rng):
        return np.round((data[0] + scale * rng.standard_normal((size, 2))) * GRID) / GRID

    return sampler


def sampled_sum(rate):
    """The data are records of 0 and 1; with the record, data is [1], without it []."""

    def sampler(data, size, rng):
        kept = (rng.random((size, len(data))) < rate) * np.array(data, dtype=float)
        return np.round((kept.sum(axis=1) + rng.standard_normal(size)) * GRID) / GRID

    return sampler


# -- the points ------------------------------------------------------------------------------------------


def test_the_points_are_on_the_proved_curve_and_never_below_the_truth():
    points = proved_curve(TWO)
    assert 8 <= len(points) <= 12
    for point in points:
        truth = gaussian_delta(point.epsilon, mpmath.sqrt(2))
        assert truth <= mpmath.mpf(point.delta) <= truth * (1 + mpmath.mpf("1e-8"))


def test_the_points_of_a_sampled_gaussian_are_never_below_the_truth():
    """q H(log(1 + (e^eps - 1)/q)) of the Gaussian, with the record (theory#poisson-subsampling)."""
    for point in proved_curve(SAMPLED):
        inner = mpmath.log(1 + (mpmath.exp(mpmath.mpf(point.epsilon)) - 1) * 4)
        truth = gaussian_delta(inner, mpmath.mpf(1)) / 4
        assert truth <= mpmath.mpf(point.delta) <= truth * (1 + mpmath.mpf("1e-8"))


def test_a_claim_about_parts_is_its_point_and_the_curve():
    plan = make_plan(TWO, pairs=[([0.0], [1.0])])
    assert plan.curve[0] == CurvePoint(4.0, plan.delta) and plan.curve[1:] == proved_curve(TWO)
    assert (plan.epsilon, plan.declared) == (4.0, None)


def test_tight_claims_about_parts_are_the_whole_curve():
    assert make_plan(replace(TWO, epsilon=None), pairs=[([0.0], [1.0])]).epsilon is None
    plan = make_plan(replace(TWO, epsilon=number("3/2"), delta=None), pairs=[([0.0], [1.0])])
    truth = gaussian_delta(1.5, mpmath.sqrt(2))
    assert truth <= mpmath.mpf(plan.delta) <= truth + mpmath.mpf("0.02") and len(plan.curve) > 8


def test_nothing_is_added_where_no_curve_is_proved():
    black = Claim(Sampled(), number(1), number("1/10"))
    assert proved_curve(black) is None and len(make_plan(black, pairs=[(0, 1)]).curve) == 1
    pure = replace(TWO, delta=number(0))
    assert len(make_plan(pure, pairs=[([0.0], [1.0])]).curve) == 1
    kernel = Kernel(parse("1 + (theta - 1/2)*(y - 1/2)"), (number(0), number(1)), (number(0), number(1)))
    assert isinstance(proved_curve(Claim(kernel, None, number("1e-3"))), tuple | None)
    with pytest.raises(AuditError, match="is not known"):
        make_plan(Claim(Sampled(), None, number("1/10")), pairs=[(0, 1)])


# -- whole audits ------------------------------------------------------------------------------------------

SETTINGS = {"samples": 60_000, "confidence": 0.999, "seed": 3}


@pytest.mark.wide
def test_a_right_sampler_of_a_composition_is_not_flagged():
    for claim in (TWO, replace(TWO, epsilon=None)):
        assert audit(two_answers(1.0), claim, pairs=[([0.0], [1.0])], **SETTINGS).finding == NO_VIOLATION_SEEN


@pytest.mark.wide
def test_noise_that_is_30_percent_too_small_in_a_composition_is_found():
    """It keeps to the claimed point, (4, 1/10), where its own delta is below; it does not keep to the declared curve."""
    assert gaussian_delta(4, mpmath.sqrt(2) / mpmath.mpf("0.7")) < mpmath.mpf("0.1")
    found = audit(two_answers(0.7), TWO, pairs=[([0.0], [1.0])], **SETTINGS)
    assert found.finding == NONCONFORMING and "the declared curve has delta" in found.event
    found = audit(two_answers(0.7), replace(TWO, epsilon=None), pairs=[([0.0], [1.0])], **SETTINGS)
    assert found.finding == VIOLATION and "of the declared curve" in found.text()


@pytest.mark.wide
def test_a_sample_of_the_declared_rate_is_not_flagged_and_one_of_twice_the_rate_is_found():
    pairs = [([1], [])]
    assert audit(sampled_sum(0.25), SAMPLED, pairs=pairs, **SETTINGS).finding == NO_VIOLATION_SEEN
    found = audit(sampled_sum(0.5), SAMPLED, pairs=pairs, **SETTINGS)
    assert found.finding == NONCONFORMING and found.epsilon == 1.0


def test_a_violation_of_the_claimed_point_itself_is_called_one():
    """The right sampler, and a claim that is false: (1/10, 1/100) of two Gaussians at once, whose delta there is 0.47."""
    false = replace(TWO, epsilon=number("1/10"), delta=number("1/100"))
    assert audit(two_answers(1.0), false, pairs=[([0.0], [1.0])], **SETTINGS).finding == VIOLATION
