"""Both ends of enclosures against truths with sixty digits, by formulas and integrals of their own, at deltas down to 1e-300.

A profile falls with epsilon: the lower end is true where the profile there is at least delta, and the upper one where it is at most delta.
"""

from collections.abc import Callable
from fractions import Fraction as F

import mpmath
import pytest

from dpverify.accounting.enclosures import Cost
from dpverify.accounting.events import Event
from dpverify.accounting.relations import Relation

MP = mpmath.MPContext()
MP.dps = 60
DELTAS = tuple(F(1, 10**power) for power in (5, 50, 300))
ADD, ONE = Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_ONE
Profile = Callable[[mpmath.mpf], mpmath.mpf]


def mp(number):
    return MP.mpf(F(number).numerator) / F(number).denominator


def above(z):
    """P[N(0, 1) > z]."""
    return MP.erfc(z / MP.sqrt(2)) / 2


def gaussian(epsilon):
    """Of noise 3/2: N(2/3, 1) and N(0, 1)."""
    mu = mp("2/3")
    return above(epsilon / mu - mu / 2) - MP.exp(epsilon) * above(epsilon / mu + mu / 2)


def laplace(epsilon, s=F(1, 2)):
    """Of noise 1/s, at every real epsilon."""
    if epsilon >= mp(s):
        return MP.mpf(0)
    return 1 - MP.exp((epsilon - mp(s)) / 2) if epsilon > -mp(s) else 1 - MP.exp(epsilon)


def two_orders(epsilon, q=F(1, 100)):
    """Of a sample at the rate q with noise 1: the mixture against none, and none against the mixture."""
    rate, a = mp(q), MP.exp(epsilon)
    first, second = MP.mpf(1) - a, MP.mpf(0)
    if a > 1 - rate:
        t = MP.log((a - 1 + rate) / rate) + MP.mpf(1) / 2
        first = (1 - rate - a) * above(t) + rate * above(t - 1)
    if 1 / a > 1 - rate:
        t = MP.log((1 / a - 1 + rate) / rate) + MP.mpf(1) / 2
        second = (1 - a * (1 - rate)) * above(-t) - a * rate * above(1 - t)
    return first, second


def discrete(epsilon):
    """Of noise 2 on the integers: N and N + 1 differ by (2 n - 1)/8 in the logarithm."""
    places = range(-90, 91)
    weights = {n: MP.exp(-(MP.mpf(n) ** 2) / 8) for n in range(-92, 93)}
    excess = (weights[n] - MP.exp(epsilon) * weights[n + 1] for n in places)
    return sum((one for one in excess if one > 0), MP.mpf(0)) / sum(weights.values())


def responses(epsilon):
    """Ten answers that are true with probability 3/4."""
    each = ((mp("3/4") ** k / 4 ** MP.mpf(10 - k), mp("3/4") ** (10 - k) / 4 ** MP.mpf(k), MP.binomial(10, k)) for k in range(11))
    return sum((ways * max(p - MP.exp(epsilon) * q, MP.mpf(0)) for p, q, ways in each), MP.mpf(0))


def after_laplace(profile: Profile, s=F(1, 2)) -> Profile:
    """With Laplace noise beside it: the mean over its losses, two of which have a mass and the others a density."""

    def composed(epsilon):
        end = mp(s)
        kinks = sorted({-end, end, *(place for place in (epsilon - end, epsilon + end) if -end < place < end)})
        between = MP.quad(lambda loss: MP.exp((loss - end) / 2) / 4 * profile(epsilon - loss), kinks)
        return profile(epsilon - end) / 2 + MP.exp(-end) / 2 * profile(epsilon + end) + between

    return composed


def sampled_twice(epsilon):
    """Two samples, in the order that starts with the mixture: the mean of the profile of one over the losses of the other."""
    rate = mp("1/100")

    def inside(z):
        loss = MP.log(1 - rate + rate * MP.exp(z - MP.mpf(1) / 2))
        return ((1 - rate) * MP.npdf(z) + rate * MP.npdf(z, 1)) * two_orders(epsilon - loss)[0]

    return MP.quad(inside, range(-20, 23, 3))


def event(kind, *inner, **numbers):
    return Event(f"{kind}DpEvent", {name: F(value) for name, value in numbers.items()}, inner)


NOISE, RELEASE = event("Gaussian", noise_multiplier="3/2"), event("Laplace", noise_multiplier=2)
SAMPLE = event("PoissonSampled", event("Gaussian", noise_multiplier=1), sampling_probability="1/100")
ANSWER = event("RandomizedResponse", noise_parameter="1/2", num_buckets=2)
EXACT = {
    "Gaussian": ([(NOISE, 1)], ADD, gaussian),
    "nine Gaussians": ([(event("Gaussian", noise_multiplier="9/2"), 9)], ADD, gaussian),
    "Laplace": ([(RELEASE, 1)], ADD, laplace),
    "two Laplaces": ([(RELEASE, 2)], ADD, after_laplace(laplace)),
    "a sample": ([(SAMPLE, 1)], ADD, lambda epsilon: max(two_orders(epsilon))),
    "discrete Gaussian": ([(event("DiscreteGaussian", sigma=2, sensitivity=1, dimension=1), 1)], ADD, discrete),
    "ten responses": ([(ANSWER, 10)], ONE, responses),
}
ON_A_GRID = {
    "Laplace beside Gaussian": ([(NOISE, 1), (RELEASE, 1)], after_laplace(gaussian), DELTAS),
    "two samples": ([(SAMPLE, 2)], sampled_twice, DELTAS[:1]),
}


def held(bounds, profile, delta, width):
    low, high = map(F, bounds[:2])
    assert high - low <= width
    # where the truth is an end itself, sixty digits tell it from neither side
    slack = MP.mpf(10) ** -50
    assert profile(mp(high)) <= mp(delta) * (1 + slack)
    assert low == 0 or profile(mp(low)) >= mp(delta) * (1 - slack)


@pytest.mark.parametrize("delta", DELTAS, ids=lambda delta: f"1e-{len(str(delta.denominator)) - 1}")
@pytest.mark.parametrize("name", EXACT)
def test_closed_forms_are_enclosed_narrowly(name, delta):
    events, relation, profile = EXACT[name]
    held(Cost(events, relation).epsilon(delta, 20), profile, delta, F(1, 10**13))


@pytest.mark.wide
@pytest.mark.parametrize("name", ON_A_GRID)
def test_grids_are_enclosed_too(name):
    events, profile, deltas = ON_A_GRID[name]
    for delta in deltas:
        held(Cost(events, ADD).epsilon(delta, 15), profile, delta, F(1, 500))
