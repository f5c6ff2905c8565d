"""Outputs of one call that share noise are named as that, and sampled one a call; independent ones are never accused."""

import math
from fractions import Fraction

import numpy as np
import pytest

import dpverify
from dpverify.audits import audit, threads
from dpverify.audits.batches import Batches
from dpverify.audits.outputs import encode
from dpverify.runtime.finding import NO_VIOLATION_SEEN, NONCONFORMING, VIOLATION
from dpverify.trusted.kernel.expr import Num, parse
from dpverify.trusted.kernel.model import Claim, Norm, Radial, Table

ONE = Num(Fraction(1))
SURE = tuple(tuple(map(parse, row)) for row in (("1 - 1e-8", "1e-8"), ("1e-8", "1 - 1e-8")))
LAPLACE = Claim(Radial(parse("exp(-r)"), Norm("lp", Fraction(1)), ONE), ONE, sensitivity=ONE)


def grid(y):
    return np.round(y * 2.0**20) / 2.0**20


def one_noise(data, size, rng):
    return grid(np.full(size, data[0] + rng.laplace()))


def half_the_noise_and_one(data, size, rng):
    return grid(np.full(size, data[0] + rng.laplace(0, 0.5)))


def again_and_again(data, size, rng):
    return grid(data[0] + np.resize(rng.laplace(size=min(size, 50)), size))


def partly(data, size, rng):
    return grid(data[0] + rng.laplace(size=size) + 3 * rng.normal())


def sorted_noise(data, size, rng):
    return grid(np.sort(data[0] + rng.laplace(size=size)))


def scale_of_a_call(data, size, rng):
    return grid(data[0] + rng.exponential() * rng.normal(size=size))


@pytest.mark.wide
@pytest.mark.sampled(3)
@pytest.mark.parametrize("sampler", [one_noise, again_and_again, partly, sorted_noise])
@pytest.mark.parametrize("white", [True, False])
def test_outputs_that_share_noise_in_a_call_are_nonconforming_and_named(sampler, white):
    what = {"claim": LAPLACE} if white else {"epsilon": 1, "pairs": [([0.0], [1.0])]}
    finding = audit(sampler, **what, samples=6000, seed=1)
    faults = [one for one in (finding, *finding.also) if "not independent" in one.event]
    assert [(one.finding, one.level) for one in faults] == [(NONCONFORMING, "model")], finding.text()
    assert not faults[0].as_expected and "Draw noise of its own" in faults[0].event


@pytest.mark.wide
def test_a_sampler_that_is_right_but_for_that_keeps_its_claim_with_one_output_a_call():
    for seed in range(3):
        finding = audit(one_noise, LAPLACE, samples=3000, seed=seed)
        assert finding.finding == NONCONFORMING and [one.finding for one in finding.also] == [NO_VIOLATION_SEEN], finding.text()
        assert any("one output a call" in note for note in finding.also[0].notes)


def test_a_sampler_that_is_wrong_besides_is_a_violation_by_outputs_of_different_calls():
    finding = audit(half_the_noise_and_one, LAPLACE, samples=6000, seed=1)
    assert finding.finding == VIOLATION and "not independent" in finding.also[-1].event


LAWS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "bits": lambda rng, n: rng.integers(0, 2, n),
    "counts": lambda rng, n: rng.poisson(3, n),
    "hundredths": lambda rng, n: np.round(rng.laplace(size=n), 2),
    "vectors": lambda rng, n: rng.laplace(size=(n, 3)),
    "mixed": lambda rng, n: [None if x < 0 else [float(x), "a"] for x in rng.normal(size=n)],
    "large": lambda rng, n: [2**70 + int(x) for x in rng.integers(0, 9, n)],
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("law", LAWS)
def test_independent_outputs_give_a_wealth_whose_mean_is_at_most_one(law):
    wealth = []
    for seed in range(120):
        rng, seen = np.random.default_rng(seed), Batches()
        for _ in range(2):
            seen.see([encode(LAWS[law](rng, n), n) for n in (32, 40, 64, 64)])
        wealth.append(math.exp(seen.log_wealth()))
    assert np.mean(wealth) < 1 + 3 * np.std(wealth) / math.sqrt(len(wealth))
    assert np.mean(np.array(wealth) >= 20) <= 1 / 20 + 3 * math.sqrt(0.05 * 0.95 / len(wealth))


def test_a_scale_that_a_call_draws_for_all_its_outputs_is_seen():
    rng, seen = np.random.default_rng(0), Batches()
    seen.see([encode(scale_of_a_call([0.0], 512, rng), 512) for _ in range(16)])
    assert seen.log_wealth() > 20


# -- samplers with memory between calls ---------------------------------------------------------------------------


class Walk:
    """Normal noise whose single outputs are right, and of which each remembers a share of the one before."""

    def __init__(self, share):
        self.share, self.last = share, None

    def __call__(self, data, rng):
        fresh = rng.normal()
        self.last = fresh if self.last is None else self.share * self.last + np.sqrt(1 - self.share**2) * fresh
        return float(np.round((data[0] + self.last) * 2**20) / 2**20)


def walked(share, white, seed):
    walk = Walk(share)
    declared, inputs = ((dpverify.gaussian(sigma=1),), {"sensitivity": 1}) if white else ((), {"pairs": [([0.0], [1.0])]})
    return dpverify.audit(lambda data, rng: walk(data, rng), *declared, epsilon=1, delta="0.127", samples=4000, seed=seed, **inputs)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("white", [True, False])
@pytest.mark.parametrize("share", [0.9, 0.999])
def test_a_sampler_with_memory_between_calls_is_named_and_no_violation(share, white):
    finding = walked(share, white, 1)
    assert finding.finding == "NONCONFORMING" and finding.also == () and finding.epsilon_lower == 0
    assert finding.event.startswith("the sampler keeps something between calls: its outputs are not independent: ")
    assert any("counts suppose that outputs are independent" in note for note in finding.notes)


@pytest.mark.wide
def test_little_memory_is_no_violation_even_where_it_is_not_seen():
    assert {walked(0.5, white, 1).finding for white in (True, False)} <= {"NO_VIOLATION_SEEN", "NONCONFORMING"}


def test_a_sampler_that_repeats_its_outputs_is_named():
    class Again(Walk):
        def __call__(self, data, rng):
            self.last = rng.normal() if self.last is None or rng.random() < 0.1 else self.last
            return float(np.round((data[0] + self.last) * 2**20) / 2**20)

    again = Again(0)
    finding = dpverify.audit(lambda data, rng: again(data, rng), epsilon=1, delta="0.127", samples=4000, seed=1, pairs=[([0.0], [1.0])])
    assert finding.finding == "NONCONFORMING" and "keeps something between calls" in finding.event


@pytest.mark.wide
def test_a_sampler_without_memory_is_not_said_to_have_one():
    assert not [seed for seed in range(8) if "keeps something" in walked(0.0, seed % 2, seed).event]


def test_a_sampler_of_one_output_is_not_said_to_have_memory():
    """Of outputs that are all equal, which two are compared is drawn each time."""
    found = audit(lambda data, rng: int(data[0]), claim=Claim(Table(SURE), parse("20")), samples=60_000, seed=0)
    assert found.finding == NO_VIOLATION_SEEN


def test_an_audit_has_one_thread_of_linear_algebra_and_gives_the_others_back():
    libraries = list(threads._libraries())
    if not libraries:
        pytest.skip("no OpenBLAS here")
    before = [int(current()) for _, current in libraries]
    for change, _ in libraries:
        change(2)
    try:
        seen = []

        def sampler(data, size, rng):
            seen.extend(int(current()) for _, current in libraries)
            return rng.laplace(data[0], 1, size)

        dpverify.audit(sampler, epsilon=2, pairs=[([0.0], [1.0])], samples=300, seed=0)
        assert set(seen) == {1} and [int(current()) for _, current in libraries] == [2] * len(libraries)
    finally:
        for (change, _), count in zip(libraries, before, strict=True):
            change(count)
