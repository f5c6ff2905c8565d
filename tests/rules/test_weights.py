"""The exponential mechanism with weights of outputs, a base measure: against sums in floats, and against scores that make up for them."""

from itertools import permutations

import numpy as np
import pytest

import dpverify as dp
from dpverify.trusted.kernel.errors import CertificateError
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import Claim, Exponential
from dpverify.trusted.kernel.well_formed import require_well_formed

SCORES, WEIGHTS = [[3, 1, 0], [2, 2, 1], [0, 1, 3]], [1, 5, 0.25]


def rows(beta, weights):
    found = np.array(weights) * np.exp(beta * np.array(SCORES, dtype=float))
    return found / found.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("weights", [WEIGHTS, [2, 2, 2], [1, 1000, 1]])
def test_tight_epsilon_and_delta_are_those_of_the_weighted_rows(weights):
    mechanism = dp.exponential(scores=SCORES, beta="1/2", weights=[str(w) for w in weights])
    found = list(permutations(rows(0.5, weights), 2))
    epsilon = max(np.log(p / q).max() for p, q in found)
    assert float(dp.tight_epsilon(mechanism).upper) == pytest.approx(epsilon, abs=1e-12)
    delta = max(np.maximum(p - np.exp(0.25) * q, 0).sum() for p, q in found)
    assert float(dp.tight_delta(mechanism, epsilon="1/4").lower) == pytest.approx(delta, abs=1e-12)


def test_weights_that_are_all_alike_are_none():
    plain, alike = dp.exponential(scores=SCORES, beta=1), dp.exponential(scores=SCORES, beta=1, weights=[7, 7, 7])
    assert float(dp.tight_epsilon(plain).upper) == pytest.approx(float(dp.tight_epsilon(alike).upper), abs=1e-15)


def test_logarithms_of_weights_are_scores():
    weighted = dp.exponential(scores=SCORES, beta=2, weights=[1, 3, 2])
    shifted = dp.exponential(scores=[[f"{s} + log({w})/2" for s, w in zip(row, (1, 3, 2), strict=True)] for row in SCORES], beta=2)
    there, here = dp.tight_epsilon(shifted), dp.tight_epsilon(weighted)
    assert float(here.lower) == pytest.approx(float(there.lower), abs=1e-15)


def test_distances_between_points_are_bounded_whatever_the_weights():
    mechanism = dp.exponential(points=[0, 1, 3], metric="l1", beta="1/2", weights=[5, 1, "1/9"])
    assert dp.verify(mechanism, sensitivity=1, epsilon=1).verdict == "PROVED"


def test_over_all_scores_weights_play_no_part():
    plain, weighted = dp.exponential(candidates=3, beta="1/2"), dp.exponential(candidates=3, beta="1/2", weights=[1, 100, "1/7"])
    assert dp.tight_epsilon(plain, sensitivity=1) == dp.tight_epsilon(weighted, sensitivity=1)


@pytest.mark.wide
def test_both_samplers_draw_by_weights_and_an_audit_tells_them_from_others():
    rng, weights = np.random.default_rng(5), np.array([1, 2, 4])
    any_scores = dp.exponential(candidates=3, beta=1, weights=[1, 2, 4])
    expected = weights * np.exp([0.5, 0, -1])
    drawn = np.bincount(np.asarray(dp.sampler(any_scores)([0.5, 0, -1], 20_000, rng)).ravel(), minlength=3) / 20_000
    assert drawn == pytest.approx(expected / expected.sum(), abs=0.02)
    listed = dp.sampler(dp.exponential(scores=SCORES, beta=1, weights=[1, 2, 4]))
    drawn = np.bincount(np.asarray(listed([1], 20_000, rng)).ravel(), minlength=3) / 20_000
    assert drawn == pytest.approx(rows(1, weights)[1], abs=0.02)
    others = dp.sampler(dp.exponential(candidates=3, beta=1))
    found = [dp.audit(each, any_scores, sensitivity=1, epsilon=2, samples=20_000, seed=1) for each in (dp.sampler(any_scores), others)]
    assert [str(one).split(" (")[0] for one in found] == ["NO VIOLATION SEEN", "NONCONFORMING"]


@pytest.mark.parametrize("weights", [(num(1),), (num(1), num(0)), (num(1), num(-1)), (num(1), parse("w"))])
def test_what_are_no_weights_is_refused(weights):
    mechanism = Exponential(((num(1), num(0)), (num(0), num(0))), num(1), weights=weights)
    with pytest.raises(CertificateError, match="weights"):
        require_well_formed(Claim(mechanism, None))
