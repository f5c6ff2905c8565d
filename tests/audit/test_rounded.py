"""Rounded outputs are tested as the declared law rounded to their grid; a grid that moves with the data is a violation."""

from fractions import Fraction

import numpy as np
import pytest

from dpverify.audits import audit
from dpverify.audits.conformance import grid_of
from dpverify.audits.outputs import Outputs, encode
from dpverify.runtime.finding import MODEL, NO_VIOLATION_SEEN, NONCONFORMING, VIOLATION
from dpverify.trusted.kernel.expr import Num, parse
from dpverify.trusted.kernel.model import Claim, Norm, Product, Radial

ONE = Num(Fraction(1))
LINE = Claim(Radial(parse("exp(-r)"), Norm("lp", Fraction(1)), ONE), ONE, sensitivity=ONE)
TWO = Claim(Product(parse("exp(-abs(z))"), Num(Fraction(2))), ONE, sensitivity=ONE)
RULES = {"nearest": np.rint, "down": np.floor, "up": np.ceil, "towards 0": np.trunc}


def sampler(step, rule=np.rint, scale=1.0):
    return lambda data, size, rng: rule((data[0] + rng.laplace(0, scale, size)) / step) * step


ROUNDED = [(0.01, "nearest"), (0.01, "towards 0"), (0.05, "down"), (0.1, "up"), (0.25, "nearest"), (1 / 3, "nearest")]


@pytest.mark.wide
@pytest.mark.sampled(2)
@pytest.mark.parametrize(("step", "rule"), ROUNDED)
def test_laplace_noise_that_was_rounded_by_any_usual_rule_conforms_and_its_grid_is_named(step, rule):
    for seed in range(2):
        finding = audit(sampler(step, RULES[rule]), LINE, samples=12_000, seed=seed, confidence=0.999)
        assert (finding.finding, finding.also) == (NO_VIOLATION_SEEN, ()), finding.text()
        assert any(f"multiples of {step:.10g}" in note and "tested on that grid" in note for note in finding.notes)


def test_vectors_may_be_rounded_too():
    finding = audit(lambda data, size, rng: np.round(data + rng.laplace(0, 1, (size, 2)), 2), TWO, samples=6000, seed=1)
    assert finding.finding == NO_VIOLATION_SEEN, finding.text()


@pytest.mark.wide
def test_rounding_hides_no_other_scale_and_no_leak():
    assert audit(sampler(0.01, scale=0.5), LINE, samples=4000, seed=1).finding == VIOLATION
    assert audit(sampler(0.01, scale=1.3), LINE, samples=20_000, seed=1).finding == NONCONFORMING
    leaky = audit(
        lambda data, size, rng: np.where(rng.random(size) < 0.05, data[0], sampler(0.01)(data, size, rng)), LINE, samples=20_000, seed=1
    )
    assert leaky.finding in (VIOLATION, NONCONFORMING)


@pytest.mark.parametrize("step", [0.5, 0.25, 2.0**-6])
def test_noise_that_is_rounded_before_it_is_added_moves_the_grid_with_the_data(step):
    finding = audit(lambda data, size, rng: data[0] + np.rint(rng.laplace(0, 1, size) / step) * step, LINE, samples=6000, seed=1)
    assert (finding.finding, finding.level) == (VIOLATION, MODEL), finding.text()
    assert "the grid of the rounding moves with the data" in finding.event


def test_a_grid_that_is_coarse_beside_the_noise_is_named_and_no_rounding():
    finding = audit(sampler(1.0), LINE, samples=4000, seed=1)
    assert finding.finding == NONCONFORMING and any("multiples of 1" in note and "too coarse" in note for note in finding.notes)


GRIDS = [(0.01, Fraction(1, 100)), (0.05, Fraction(1, 20)), (5, Fraction(5)), (0.75, Fraction(3, 4)), (1 / 3, Fraction(1, 3))]


@pytest.mark.parametrize(("step", "grid"), GRIDS)
def test_the_grid_is_read_off_the_outputs(step, grid):
    noise = np.random.default_rng(0).laplace(0, 30 * step, 256)
    assert grid_of(encode(np.rint(noise / step) * step, 256)) == grid


def test_doubles_and_a_constant_are_on_no_grid():
    rng = np.random.default_rng(0)
    for values in (rng.laplace(size=256), 1e9 + rng.laplace(size=256), np.zeros(256), rng.normal(size=256).astype(np.float32)):
        found = grid_of(Outputs(np.asarray(values)[:, None]))
        assert found is None or found < Fraction(1, 2**18)
