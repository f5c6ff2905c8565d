"""Pairs that are chosen (theory#loss-distribution), held against profiles of masses by their definition and against all ways to choose."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction as F

import pytest
from flint import arb, fmpz_poly
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.trusted.facts.pairs import Curve, Pair, one_of
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.errors import CertificateError, Rejected, Undecided
from dpverify.trusted.theories.composition import losses
from dpverify.trusted.theories.composition.choices import above, below
from dpverify.trusted.theories.composition.grid import Grid, Masses
from dpverify.trusted.theories.composition.rules import loss_distribution
from tests.effort import examples

SPACING = F(1, 8)
GRID = Grid(SPACING, F(1, 10**9), 60, 40, ((-40, 40),))
ONE = 1 << GRID.bits


def profile(masses, epsilon):
    """By definition, in floats."""
    h = float(SPACING) * 2**masses.doublings
    found = ((masses.low + j) * h for j in range(masses.finite.length()))
    finite = sum(int(m) / ONE * max(0.0, -math.expm1(epsilon - loss)) for m, loss in zip(masses.finite.coeffs(), found, strict=True))
    return finite + masses.infinite / ONE


def some_masses():
    """Of parts of 1024, at a few places, and at +inf; what they leave is at the first."""

    def made(low, shares, infinite, doublings):
        rest = 1024 - sum(shares) - infinite
        return Masses(low, fmpz_poly([rest * (ONE >> 10), *(share * (ONE >> 10) for share in shares)]), infinite * (ONE >> 10), doublings)

    share = st.integers(0, 120)
    return st.builds(made, st.integers(-6, 4), st.lists(share, max_size=6), st.sampled_from([0, 0, 7, 90]), st.just(0))


@settings(max_examples=examples(200))
@given(st.lists(some_masses(), min_size=1, max_size=4), st.sampled_from([0, 1]))
def test_the_greatest_is_enclosed(several, doublings):
    several = [replace(masses, doublings=doublings) for masses in several]
    over, under = above(several, GRID), below(several, GRID)
    assert over.doublings == under.doublings == doublings
    assert min(map(int, [*over.finite.coeffs(), *under.finite.coeffs(), over.infinite, under.infinite])) >= 0
    h = float(SPACING) * 2**doublings
    for k in range(-40, 60):
        epsilon = k * h / 4
        most = max(profile(masses, epsilon) for masses in several)
        assert profile(under, epsilon) <= most + 1e-12 <= profile(over, epsilon) + 2e-12
        if k % 4 == 0:
            assert profile(over, epsilon) == pytest.approx(most, abs=1e-12)  # at the places it is the greatest
    if len(several) == 1:
        assert profile(under, 0.3 * h) == pytest.approx(profile(several[0], 0.3 * h), abs=1e-12)


def finite_pair(p, q):
    """A pair of distributions on a few outputs."""

    def stick(p, q):
        return lambda epsilon: sum(((a - epsilon.exp() * b).max(arb(0)) for a, b in zip(p, q, strict=True)), arb(0))

    p, q = ([arb(x) / 16 for x in each] for each in (p, q))
    return Pair(stick(p, q), stick(q, p))


ROWS = [((10, 4, 2), (4, 8, 4)), ((2, 13, 1), (1, 15, 0)), ((9, 7, 0), (7, 9, 0))]
PAIRS = [finite_pair(*rows) for rows in ROWS]
OTHER = ((9, 5, 2), (6, 6, 4))


def most(counts, epsilon, ratio=1.0):
    """The most that is won per unit of P, by all ways to choose, in floats."""
    if not counts:
        return max(0.0, 1 - math.exp(epsilon) * ratio)
    return max(sum(a / 16 * most(counts - 1, epsilon, ratio * b / a) for a, b in zip(*rows, strict=True) if a) for rows in ROWS)


def sticks(chosen, epsilon):
    outputs = [(1.0, 1.0)]
    for p, q in chosen:
        outputs = [(x * a / 16, y * b / 16) for x, y in outputs for a, b in zip(p, q, strict=True)]
    return sum(max(0.0, x - math.exp(epsilon) * y) for x, y in outputs)


def evidence(groups, ranges):
    grid = {"spacing": "1/512", "nudge": "1/1000000000", "bits": 80, "tail": 50, "ranges": [[-1800, 1800]] * ranges, "far": "100"}
    return {"grid": grid, "chosen": groups}


def curve(groups, ranges=3, seen=True, times=2, beside=()):
    upper = one_of(PAIRS)
    lower = replace(PAIRS[0], choices=tuple(PAIRS))
    parts = [Curve(upper, lower, ()), *(Curve(one, one, ()) for one in beside)]
    return loss_distribution.distributions(parts, [times, *(1 for _ in beside)], evidence(groups, ranges), seen)


def at(profile, epsilon):
    with precision(160):
        return float(profile(arb(epsilon)).mid())


@pytest.mark.parametrize("epsilon", [0.25, 0.75])
def test_all_ways_to_choose_are_met(epsilon):
    found = curve([[[0], [1], [2]]])
    fixed = max(sticks(chosen, epsilon) for chosen in itertools.product(ROWS, repeat=2))
    truth = most(2, epsilon)
    assert at(found.upper.forward, epsilon) == pytest.approx(truth, rel=1e-4)
    assert truth <= at(found.upper.forward, epsilon)
    assert truth * (1 - 0.02) <= at(found.lower.reached.forward, epsilon) <= truth
    assert at(found.lower.forward, epsilon) <= sticks([ROWS[0]] * 2, epsilon)  # what is built on it has one pair
    before = curve([[[0], [1], [2]]], seen=False)
    assert fixed <= at(before.upper.forward, epsilon) <= fixed * (1 + 1e-4)
    assert fixed * (1 - 0.02) <= at(before.lower.reached.forward, epsilon) <= fixed
    greatest = at(curve([[]], ranges=1).upper.forward, epsilon)
    assert fixed <= truth <= at(curve([[[0, 2], [1]]], ranges=2).upper.forward, epsilon) <= greatest * (1 + 1e-9)


def test_what_leaves_no_choice_is_told_first():
    """By whoever chooses after it: not the other way round, which is less."""
    epsilon, beside = 0.5, finite_pair(*OTHER)
    truth = sum(a / 16 * most(1, epsilon, b / a) for a, b in zip(*OTHER, strict=True))
    first = max(sticks([rows, OTHER], epsilon) for rows in ROWS)
    assert truth > first * 1.001
    found = curve([[[0], [1], [2]], []], ranges=4, times=1, beside=[beside])
    assert truth <= at(found.upper.forward, epsilon) <= truth * (1 + 1e-4)
    before = curve([[[0], [1], [2]], []], ranges=4, times=1, seen=False, beside=[beside])
    assert first <= at(before.upper.forward, epsilon) <= first * (1 + 1e-4)


@pytest.mark.parametrize(
    ("groups", "ranges", "why"),
    [
        ([[[0], [1]]], 2, "does not name each pair"),
        ([[[0], [1], [1]]], 3, "does not name each pair"),
        ([[[0], [1, 2], []]], 3, "does not name each pair"),
        ([[[0], [1], [2], [0]]], 4, "does not name each pair"),
        ([[[0], [1], [3]]], 3, "not a whole number from 0 to 2"),
        ([[[0], [1], [True]]], 3, "not a whole number from 0 to 2"),
        ([[[0], [1], [2]]], 2, "2 ranges for 3 parts"),
    ],
)
def test_no_pair_is_left_out(groups, ranges, why):
    with pytest.raises((Rejected, CertificateError), match=why):
        at(curve(groups, ranges).upper.forward, 0.5)


@pytest.mark.parametrize("seen", [True, False])
def test_too_many_ways_are_not_looked_at(seen):
    with pytest.raises(Undecided, match="more than 256 ways to choose"):
        at(curve([[[0], [1], [2]]], seen=seen, times=losses.MAX_CHOICES + 1).upper.forward, 0.5)


def test_the_other_order_keeps_what_is_chosen():
    pair = replace(one_of(PAIRS), reached=PAIRS[1])
    assert pair.reversed.choices == tuple(one.reversed for one in PAIRS)
    assert pair.reversed.reached == PAIRS[1].reversed
    assert not pair.one_way.choices and pair.one_way.reached is None
