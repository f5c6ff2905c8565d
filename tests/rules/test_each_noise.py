"""Selections of any number of answers at a delta: the share of each noise, against quadrature and the curve of Gaussian noise."""

import numpy as np
import pytest
from flint import arb
from scipy import stats

from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ONE, parse, substitute
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.theories.selection.rules import each_noise as delta_each
from tests.selections import ALL_N, GEOMETRIC, NATURAL, gaussian, laplace, largest, of, sparse


def share(mechanism, epsilon=1, n=1, sensitivity=1):
    """The bound for n answers."""
    bound = delta_each.check(of(mechanism, epsilon, sensitivity, ALL_N, parse("min(1, n/2)")), {})
    assert (bound.side, bound.quantity) == ("upper", "delta")
    return float(enclose(substitute(bound.value, {"n": parse(str(n))})).mid())


def curve(mu, epsilon):
    """Of one Gaussian noise that is moved by mu deviations (Balle and Wang)."""
    return stats.norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize(("neighbours", "moved"), [("all", 2), ("monotone", 1), ("one", 1)])
@pytest.mark.parametrize("epsilon", ["0", "1/2", "1"])
def test_one_gaussian_noise_has_the_curve_of_how_far_the_winner_is_moved(neighbours, moved, epsilon):
    mechanism = largest(gaussian(4), "n", neighbours=neighbours)
    assert share(mechanism, epsilon) == pytest.approx(curve(moved / 4, float(parse(epsilon).value)), rel=1e-9)


def test_laplace_noise_loses_no_more_than_its_pure_epsilon_and_less_below():
    mechanism = largest(laplace(2), "n")
    assert share(mechanism, 1) == pytest.approx(0, abs=1e-12)
    z = np.linspace(-80, 80, 800_001)
    density = np.exp(-np.abs(z) / 2) / 4
    lost = np.maximum(0, 1 - np.exp(0.5 - (np.abs(z + 2) - np.abs(z)) / 2))
    assert share(mechanism, "1/2") == pytest.approx(np.trapezoid(density * lost, z), rel=1e-6)


@pytest.mark.parametrize("positives", [1, 2])
def test_above_threshold_shares_the_noise_of_the_threshold_and_counts_positives(positives):
    z = np.linspace(-60, 60, 12_001)
    lost = np.maximum(0, (2 * 2 * z + 4) / (2 * 25))
    wanted = np.trapezoid(stats.norm.pdf(z, scale=5) * curve(0.5, 1 - positives * lost), z)
    assert share(sparse(gaussian(2), gaussian(5), "n", positives)) == pytest.approx(wanted, rel=1e-5)


def test_the_share_is_rounded_up():
    claim = of(largest(gaussian(4), "n"), 1, domains=ALL_N)
    with precision(64):
        found = substitute(delta_each.check(claim, {}).value, {"n": ONE})
    with precision(256):
        low, high = ((2 + side * arb(1) / 4) / arb(2).sqrt() for side in (-1, 1))  # of a move by half a deviation
        exact = (low.erfc() - arb(1).exp() * high.erfc()) / 2
        assert rational(found.value) >= exact


def test_it_rises_with_the_number_of_answers_and_is_never_above_one():
    mechanism = largest(gaussian(4), "n")
    one = share(mechanism)
    assert [share(mechanism, n=n) for n in (3, 10, 10**6)] == pytest.approx([3 * one, 10 * one, 1])


@pytest.mark.parametrize("n", [2, 5, 20])
def test_it_is_above_what_the_greatest_of_so_many_noises_loses(n):
    z = np.linspace(-40, 60, 200_001)
    greatest = np.diff(stats.norm.cdf(z, scale=4) ** n)
    lost = np.maximum(0, 1 - np.exp(1 - (4 * z[1:] + 4) / 32))
    assert (greatest * lost).sum() < share(largest(gaussian(4), "n"), n=n)


@pytest.mark.wide
def test_a_claim_for_every_number_is_proved_with_a_delta_that_rises_and_not_with_one_that_rises_too_slowly():
    mechanism, d = largest(gaussian(8), "n"), curve(2 / 8, 1)

    def verdict(delta):
        return verify(of(mechanism, 1, domains=ALL_N, delta=parse(delta))).judgement.verdict

    assert verdict(f"min(1, n*{d * 1.0001:.12f})") == "PROVED"
    assert verdict(f"min(1, n*{d * 0.9999:.12f})") == "UNKNOWN"


RATE = (("n", NATURAL), ("s", NATURAL))


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        (of(largest(gaussian(4), "n"), "-1/10", domains=ALL_N), "not certainly a number of at least 0"),
        (of(largest(gaussian(4), "n"), "n", domains=ALL_N), "not certainly a number of at least 0"),
        (of(largest(gaussian(4), "n"), None, domains=ALL_N), "not certainly a number of at least 0"),
        (of(largest(gaussian("s"), "n"), 1, domains=RATE), "with a value for every parameter"),
        (of(largest(gaussian(4), "n"), 1, "s", RATE), "not certainly a positive number"),
        (of(largest(gaussian(4), "n"), 1, 0, ALL_N), "not certainly a positive number"),
        (of(largest(gaussian(4), "n", report="value"), 1, domains=ALL_N), "more than the index is told"),
        (of(largest(GEOMETRIC, "n"), 1, domains=ALL_N), "on the integers"),
        (of(sparse(gaussian(4), gaussian(4), "n", None), 1, domains=ALL_N), "there is no limit of them"),
        (of(sparse(gaussian(4), gaussian(4), "n", "n"), 1, domains=ALL_N), "it wants a number"),
        (of(sparse(gaussian(4), gaussian(4), "n", report="answers+value"), 1, domains=ALL_N), "noisy answers are told"),
        (of(laplace(2), 1), "not of a kind that the rule is about"),
    ],
)  # fmt: skip
def test_a_broken_hypothesis_is_refused(claim, why):
    with pytest.raises(Rejected, match=why):
        delta_each.check(claim, {})


def test_it_asks_for_no_evidence():
    assert delta_each.check(of(largest(gaussian(4), 1), 1), {}).value != ONE
