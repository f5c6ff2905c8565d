"""Audits of noisy votes of one database: the law of who wins against simulation and symmetry, planted faults, what is no neighbour."""

import numpy as np
import pytest
from scipy import special

from dpverify.audits import audit
from dpverify.audits.declared import declared
from dpverify.audits.declared.votes import winners
from dpverify.errors import AuditError
from dpverify.runtime.finding import NO_VIOLATION_SEEN, VIOLATION
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import Claim, NoisyVotes


def claim(*votes, sigma=10, epsilon="7/25"):
    return Claim(NoisyVotes(num(sigma), tuple(tuple(num(x).value for x in row) for row in votes)), parse(epsilon), parse("1/1000000"))


def drawing(sigma):
    def sampler(data, rng):
        return int(np.argmax(np.asarray(data) + rng.normal(0, sigma, len(data))))

    return sampler


def test_of_two_candidates_the_chance_is_that_of_one_difference():
    assert winners(np.array([1.5, 0.25]))[0] == pytest.approx(special.ndtr(1.25 / np.sqrt(2)), rel=1e-11)


def test_the_law_is_that_of_simulated_elections():
    votes, rng = np.array([4.0, 2.5, 2.0, 0.0]), np.random.default_rng(1)
    seen = np.bincount(np.argmax(votes + rng.normal(size=(200_000, 4)), axis=1), minlength=4) / 200_000
    assert winners(votes) == pytest.approx(seen, abs=5e-3)
    assert winners(votes[::-1]) == pytest.approx(winners(votes)[::-1], rel=1e-12)


@pytest.mark.wide
def test_a_right_sampler_is_given_no_fault_and_one_with_less_noise_is_a_violation():
    right = audit(drawing(10), claim=claim((40, 25, 20)), samples=60_000, seed=0)
    assert right.finding == NO_VIOLATION_SEEN
    wrong = audit(drawing(6), claim=claim((40, 25, 20)), samples=300_000, seed=0)
    assert wrong.finding == VIOLATION


def test_neighbours_are_those_of_the_database_alone():
    law = declared(claim((40, 25, 0)))
    here = np.array([40.0, 25, 0])
    assert law.neighbours(here, np.array([39.0, 25, 1]))
    assert not law.neighbours(np.array([39.0, 25, 1]), np.array([40.0, 24, 1]))
    assert not law.neighbours(here, np.array([40.0, 26, -1]))
    with pytest.raises(AuditError, match="are not the votes of the claim"):
        law.probabilities(np.array([1.0, 2, 3]))


def test_several_lists_have_no_law_that_is_declared():
    assert declared(claim((4, 2), (3, 3))) is None
