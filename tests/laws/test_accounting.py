"""Laws of accounting: what must hold between mechanisms put together, and against small mechanisms composed by hand in fractions."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import product as pairs_of

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.search.verify import Verified, verify
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel.balls import constant, exact, precision
from dpverify.trusted.kernel.expr import Expr, Num, num, parse
from dpverify.trusted.kernel.model import (
    L1,
    L2,
    Claim,
    Compose,
    Group,
    Lipschitz,
    Mechanism,
    Parallel,
    Part,
    PostProcess,
    Radial,
    Subsample,
    Table,
    repeated,
)

MP = mpmath.mp.clone()
MP.dps = 40
ROOM = Fraction(1, 10**9)
"""What two roundings of one number may differ by."""


few = settings(max_examples=6)
COARSE = 6
"""Digits for compositions on a grid: what is tested is the side of the bounds, not their distance."""


def laplace(scale: Fraction | int, sensitivity: Fraction | int = 1, times: int = 1) -> Part:
    return repeated(Part(Radial(parse("exp(-r)"), L1, num(1), Num(Fraction(scale))), Num(Fraction(sensitivity))), num(times))


def gaussian(sigma: Fraction | int, sensitivity: Fraction | int = 1, times: int = 1) -> Part:
    return repeated(Part(Radial(parse("exp(-r**2/2)"), L2, num(1), Num(Fraction(sigma))), Num(Fraction(sensitivity))), num(times))


def response(p: Fraction, times: int = 1) -> Part:
    return repeated(Part(Table(((Num(p), Num(1 - p)), (Num(1 - p), Num(p))))), num(times))


@lru_cache(maxsize=4096)
def judged(mechanism: Mechanism, epsilon: Expr | None, delta: Expr | None, digits: int = 20) -> Verified:
    found = verify(Claim(mechanism, epsilon, delta), digits)
    assert kernel.check(found.certificate).verdict == found.judgement.verdict
    return found


def deltas(mechanism: Mechanism, epsilon: Fraction, digits: int = 20) -> tuple[Fraction, Fraction]:
    """The enclosure of the tight delta; 0 from below where nothing is known."""
    judgement = judged(mechanism, Num(epsilon), None, digits).judgement
    return Fraction(0) if judgement.delta_lower is None else low(judgement.delta_lower), high(judgement.delta_upper)


def alike(one: tuple[Fraction, Fraction], other: tuple[Fraction, Fraction]) -> bool:
    return all(abs(a - b) <= ROOM for a, b in zip(one, other, strict=True))


def low(value: Expr) -> Fraction:
    return max(rational(value) - Fraction(1, 10**25), Fraction(0))


def high(value: Expr) -> Fraction:
    return rational(value) + Fraction(1, 10**25)


def rational(value: Expr) -> Fraction:
    if isinstance(value, Num):
        return value.value
    with precision(160):
        return exact(constant(value).mid())


def alone(part: Part) -> Mechanism:
    return Compose((part,))


fractions = st.fractions(Fraction(1, 4), 4, max_denominator=4)
epsilons = st.fractions(0, 3, max_denominator=8)
rates = st.fractions(Fraction(1, 16), Fraction(15, 16), max_denominator=16)
truths = st.fractions(Fraction(11, 20), Fraction(19, 20), max_denominator=20)
singles = st.one_of(fractions.map(laplace), fractions.map(gaussian), truths.map(response))
kinds = st.one_of(
    st.lists(fractions.map(laplace), min_size=2, max_size=3),
    st.lists(fractions.map(gaussian), min_size=2, max_size=3),
    st.lists(truths.map(response), min_size=2, max_size=3),
)
"""Parts of one kind, whose compositions are exact."""


@given(kinds, epsilons)
@few
def test_a_composition_is_never_below_its_parts(parts, epsilon):
    whole = deltas(Compose(tuple(parts)), epsilon)
    for part in parts:
        assert whole[1] >= deltas(alone(part), epsilon)[0]


@given(kinds, epsilons, st.randoms(use_true_random=False))
@few
def test_the_order_of_parts_does_not_matter(parts, epsilon, random):
    shuffled = random.sample(parts, len(parts))
    one, other = deltas(Compose(tuple(parts)), epsilon), deltas(Compose(tuple(shuffled)), epsilon)
    assert one[0] <= other[1] and other[0] <= one[1]


@given(singles, epsilons)
@few
def test_a_sample_at_rate_1_is_the_data_and_at_rate_0_nothing(part, epsilon):
    assert alike(deltas(Subsample(part, num(1)), epsilon), deltas(alone(part), epsilon))
    assert deltas(Subsample(part, num(0)), epsilon)[1] <= ROOM


@given(singles, rates, epsilons)
@few
def test_a_sample_never_costs_more(part, rate, epsilon):
    assert deltas(Subsample(part, Num(rate)), epsilon)[0] <= deltas(alone(part), epsilon)[1]


@given(singles, epsilons)
@few
def test_groups_of_one_maps_that_keep_distances_and_single_parts_change_nothing(part, epsilon):
    single = deltas(alone(part), epsilon)
    for same in (Group(part, num(1)), Lipschitz(part, num(1)), Parallel((part,)), Compose((part,))):
        assert alike(deltas(same, epsilon), single)


@given(st.sampled_from([laplace, gaussian]), fractions, fractions, epsilons)
@few
def test_a_lipschitz_map_scales_the_sensitivity(noise, scale, constant, epsilon):
    mapped, scaled = deltas(Lipschitz(noise(scale), Num(constant)), epsilon), deltas(alone(noise(scale, constant)), epsilon)
    assert alike(mapped, scaled)


@given(st.sampled_from([laplace, gaussian]), fractions, st.integers(1, 5), epsilons)
@few
def test_a_group_of_additive_noise_scales_the_sensitivity(noise, scale, size, epsilon):
    assert alike(deltas(Group(noise(scale), num(size)), epsilon), deltas(alone(noise(scale, size)), epsilon))


@given(singles, epsilons)
@few
def test_post_processing_keeps_the_upper_bound_and_drops_the_lower(part, epsilon):
    before, after = judged(alone(part), Num(epsilon), None).judgement, judged(PostProcess(part), Num(epsilon), None).judgement
    assert after.delta_lower in (None, num(0))
    assert high(after.delta_upper) >= low(before.delta_upper) and low(after.delta_upper) <= high(before.delta_upper)
    assert judged(PostProcess(part), Num(epsilon), num(0)).judgement.verdict != "REFUTED"


@given(st.lists(singles, min_size=2, max_size=3), epsilons)
@few
def test_parallel_parts_have_the_greatest_delta(parts, epsilon):
    whole, each = deltas(Parallel(tuple(parts)), epsilon), [deltas(alone(part), epsilon) for part in parts]
    assert max(lower for lower, _ in each) <= whole[1] + ROOM
    assert whole[0] <= max(upper for _, upper in each) + ROOM
    assert abs(whole[1] - max(upper for _, upper in each)) <= ROOM


@given(kinds, st.sampled_from([Fraction(1, 10**3), Fraction(1, 10**6)]))
@few
def test_the_tight_composition_is_within_what_adding_up_gives(parts, delta):
    upper = judged(Compose(tuple(parts)), None, Num(delta)).judgement.upper
    share = Num(delta / len(parts))
    total = sum((rational(judged(alone(part), None, share).judgement.upper) for part in parts), Fraction(0))
    assert rational(upper) <= total + ROOM


@given(singles, st.lists(epsilons, min_size=3, max_size=3, unique=True))
@few
def test_delta_falls_and_is_convex_in_the_exponential_of_epsilon(part, three):
    left, middle, right = sorted(three)
    (_, a), (b, _), (_, c) = deltas(alone(part), left), deltas(alone(part), middle), deltas(alone(part), right)
    assert b <= a and deltas(alone(part), right)[0] <= deltas(alone(part), middle)[1]
    x, y, z = (MP.exp(MP.mpf(e.numerator) / e.denominator) for e in (left, middle, right))
    share = (z - y) / (z - x)
    assert MP.mpf(b.numerator) / b.denominator <= share * float_of(a) + (1 - share) * float_of(c) + MP.mpf(10) ** -18


def float_of(value: Fraction):
    return MP.mpf(value.numerator) / value.denominator


@given(singles, st.sampled_from([Fraction(1, 10), Fraction(1, 10**3), Fraction(1, 10**8)]))
@few
def test_delta_at_the_tight_epsilon_is_the_delta_asked_for(part, delta):
    found = judged(alone(part), None, Num(delta)).judgement
    lower, upper = Fraction(0) if found.lower is None else rational(found.lower), rational(found.upper)
    assert 0 <= lower <= upper
    assert deltas(alone(part), upper)[0] <= delta
    if lower > 0:
        assert deltas(alone(part), lower)[1] >= delta


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 2)])
@pytest.mark.parametrize(
    "mechanism",
    [
        Compose((laplace(2), gaussian(3), response(Fraction(3, 5)))),
        Compose((repeated(Part(Subsample(gaussian(1), Num(Fraction(1, 8)))), num(8)),)),
        Compose((Part(Subsample(laplace(1), Num(Fraction(1, 8)))), Part(Parallel((laplace(2), laplace(3)))))),
        Subsample(Part(Compose((laplace(2), laplace(3)))), Num(Fraction(1, 4))),
    ],
    ids=["three kinds", "sampled Gaussians", "a sample and parallel parts", "a sample of a composition"],
)
def test_upper_bounds_are_above_lower_ones(mechanism, epsilon):
    lower, upper = deltas(mechanism, epsilon, COARSE)
    assert 0 <= lower <= upper <= 1 + ROOM


# -- finite mechanisms in fractions


def rows(entries: list[list[int]]) -> list[list[Fraction]]:
    return [[Fraction(entry, sum(row)) for entry in row] for row in entries]


entries = st.integers(2, 3).flatmap(lambda m: st.lists(st.lists(st.integers(1, 9), min_size=m, max_size=m), min_size=2, max_size=2))
tables = entries.map(rows)


def as_part(table: list[list[Fraction]], times: int = 1) -> Part:
    return repeated(Part(Table(tuple(tuple(map(Num, row)) for row in table))), num(times))


def divergence(p: list[Fraction], q: list[Fraction], epsilon: Fraction):
    factor = MP.exp(float_of(epsilon))
    return MP.fsum(max(float_of(a) - factor * float_of(b), MP.mpf(0)) for a, b in zip(p, q, strict=True))


def outer(left: list[Fraction], right: list[Fraction]) -> list[Fraction]:
    return [a * b for a, b in pairs_of(left, right)]


def holds(mechanism: Mechanism, epsilon: Fraction, truth) -> None:
    lower, upper = deltas(mechanism, epsilon, COARSE)
    assert float_of(lower) <= truth + MP.mpf(10) ** -20
    assert float_of(upper) >= truth - MP.mpf(10) ** -20


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 2)])
def test_two_tables_against_the_product_of_their_rows(epsilon):
    (p, q), (r, s) = one, other = rows([[3, 1], [1, 3]]), rows([[3, 2, 1], [1, 2, 3]])
    truth = max(divergence(outer(p, r), outer(q, s), epsilon), divergence(outer(q, s), outer(p, r), epsilon))
    holds(Compose((as_part(one), as_part(other))), epsilon, truth)


@given(tables, rates, epsilons)
@few
def test_a_sampled_table_against_its_mixture(table, rate, epsilon):
    without, record = table
    mixed = [(1 - rate) * q + rate * p for p, q in zip(record, without, strict=True)]
    other = [(1 - rate) * p + rate * q for p, q in zip(record, without, strict=True)]
    pair = [divergence(mixed, without, epsilon), divergence(without, mixed, epsilon)]
    truth = max(*pair, divergence(other, record, epsilon), divergence(record, other, epsilon))
    holds(Subsample(as_part(table), Num(rate)), epsilon, truth)


@given(tables, st.integers(2, 4), epsilons)
@settings(max_examples=2)
def test_a_table_so_many_times_against_its_powers(table, times, epsilon):
    p, q = [Fraction(1)], [Fraction(1)]
    for _ in range(times):
        p, q = outer(p, table[0]), outer(q, table[1])
    holds(Compose((as_part(table, times),)), epsilon, max(divergence(p, q, epsilon), divergence(q, p, epsilon)))
