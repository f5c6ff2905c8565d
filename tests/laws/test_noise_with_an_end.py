"""Compositions of noise with an end, sampled and nested: the losses of a part are two numbers, one of which may be infinite.

An answer that is up by 1 has exp(-z) on z > 1 in the place of z > 0: by hand the ratio of the two densities is e where both are, so that
k parts together have the ratio e^k on a set of mass e^-k, and a composition of samples is a binomial sum. What is looked for is that the
grid of a composition has these losses, the lowest and the infinite one among them: bounds within 10^-4 of each other, not 10^-1.
"""

import math
from fractions import Fraction as F

import pytest

from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.expr import ONE, ZERO, Num, num, parse
from dpverify.trusted.kernel.model import Claim, Compose, Part, Query, Subsample, Translation, repeated

EXPONENTIAL = Translation(parse("exp(-z)"), (ZERO, None))
GEOMETRIC = Translation(parse("2**(-z)"), (ZERO, None), integers=True)


def up(columns=(1,), noise=EXPONENTIAL):
    return Part(noise, None, Query((tuple(map(F, columns)),), "add-remove"))


def several(part, times):
    return Part(Compose((repeated(Part(part.mechanism, part.sensitivity, part.query, part.adjacency), num(times)),)))


def sampled(part, rate):
    return Part(Subsample(part, Num(rate)))


def bounds(part, epsilon=1):
    found = verify(Claim(part.mechanism, num(epsilon), None)).judgement
    return [float(constant(bound).mid()) for bound in (found.delta_lower, found.delta_upper)]


def by_hand(atoms, times, epsilon=1):
    """The worse order of the product of `times` pairs with two outputs each, (P, Q) of the one and of the other."""
    (a, b), (c, d) = atoms
    weights = [math.comb(times, k) for k in range(times + 1)]
    both = [[w * x**k * y ** (times - k) for k, w in enumerate(weights)] for x, y in ((a, c), (b, d))]
    return max(sum(max(0.0, p - math.exp(epsilon) * q) for p, q in zip(*order, strict=True)) for order in (both, both[::-1]))


def mixed(atoms, rate):
    """The pair (P, Q) of two outputs on a sample, P with the record."""
    return [(rate * p + (1 - rate) * q, q) for p, q in atoms]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("times", "inside", "rate"), [(20, 1, F(1, 10)), (20, 2, F(1, 20)), (5, 3, F(1, 2))])
@pytest.mark.parametrize("direction", [1, -1])
def test_samples_of_noise_with_an_end_compose_to_a_binomial_sum(times, inside, rate, direction):
    kept = math.exp(-inside)
    atoms = [(1.0, kept), (0.0, 1 - kept)] if direction > 0 else [(kept, 1.0), (1 - kept, 0.0)]
    part = up((direction,)) if inside == 1 else several(up((direction,)), inside)
    low, high = bounds(several(sampled(part, rate), times))
    truth = by_hand(mixed(atoms, float(rate)), times)
    assert low - 1e-12 <= truth <= high + 1e-12 and high - low < 1e-3 * truth


@pytest.mark.wide
def test_the_infinite_loss_of_a_composition_inside_a_sample_reaches_the_whole():
    """Nobody says whether a record moves the answers up or down: the worse of the two."""
    part = several(sampled(several(Part(EXPONENTIAL, ONE), 2), F(1, 10)), 20)
    low, high = bounds(part)
    truth = 1 - (1 - 0.1 * (1 - math.exp(-2))) ** 20
    assert low - 1e-12 <= truth <= high + 1e-12 and high - low < 1e-5


@pytest.mark.parametrize("times", [2, 4, 7])
def test_the_lowest_loss_is_above_the_first_cell(times):
    """Half of the outputs betray the lower answer; of the others each is half as likely: delta is 1 - 2^-times at every epsilon."""
    low, high = bounds(several(Part(GEOMETRIC, ONE), times))
    assert low <= 1 - 2.0**-times <= high and high - low < 1e-6
