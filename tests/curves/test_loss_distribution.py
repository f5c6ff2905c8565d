"""Compositions on a grid from the curves of their parts: both sides enclose sums over all outputs."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from flint import arb
from mpmath import mp

from dpverify.search.composition.loss_distribution import propose
from dpverify.trusted.facts.pairs import Curve, Pair
from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.errors import STUMBLES, DpverifyError
from dpverify.trusted.theories.composition import losses
from dpverify.trusted.theories.composition.rules import loss_distribution, privacy_profile

F = Fraction
ONE = ((F(3, 4), F(1, 4)), (F(1, 4), F(3, 4)))
OTHER = ((F(1, 2), F(1, 3), F(1, 6)), (F(1, 6), F(1, 3), F(1, 2)))
SKEWED = ((F(2, 3), F(1, 3)), (F(1, 2), F(1, 2)))


def profile(p, q):
    def at(epsilon):
        return sum(((rational(a) - epsilon.exp() * rational(b)).max(arb(0)) for a, b in zip(p, q, strict=True)), arb(0))

    return at


def pair(rows):
    return Pair(profile(*rows), profile(*rows[::-1]), everywhere=True)


def exact(rows, **more):
    both = pair(rows)
    return Curve(both, both, ("finite-curve",), **more)


def evidence(parts, times, epsilon):
    pairs = [part.upper for part in parts]
    with precision(64):
        return {
            "grid": propose(pairs, times, epsilon=epsilon, delta=None, digits=4),
            "reverse": propose([pair.reversed for pair in pairs], times, epsilon=epsilon, delta=None, digits=4),
        }


def truth(tables, times, epsilon):
    """The worse order, over all outputs of all parts."""
    rows = [table for table, count in zip(tables, times, strict=True) for _ in range(count)]
    best = mp.mpf(0)
    for a, b in ((0, 1), (1, 0)):
        total = mp.mpf(0)
        for cell in product(*(range(len(table[0])) for table in rows)):
            p, q = (mp.fprod(real(table[i][y]) for table, y in zip(rows, cell, strict=True)) for i in (a, b))
            total += max(p - mp.exp(epsilon) * q, 0)
        best = max(best, total)
    return best


def real(x):
    return mp.mpf(x.numerator) / x.denominator


@pytest.mark.parametrize(("tables", "times"), [((ONE, OTHER), (2, 1)), ((SKEWED, OTHER), (1, 1)), ((SKEWED,), (5,))])
def test_the_sum_over_all_outputs_lies_between_the_bounds(tables, times):
    parts = [exact(table) for table in tables]
    with precision(64), mp.workdps(30):
        found = loss_distribution.distributions(parts, times, evidence(parts, times, 0.5))
        exactly = truth(tables, times, mp.mpf(1) / 2)
        at = rational(F(1, 2))
        assert not found.upper.worst(at) < arb(mp.nstr(exactly, 25)) - arb(10) ** -18
        assert not found.lower.worst(at) > arb(mp.nstr(exactly, 25)) + arb(10) ** -18
        assert found.upper.worst(at) - found.lower.worst(at) < arb(1) / 20


def test_what_the_parts_rest_on_is_kept():
    parts = [replace(exact(ONE, assumed=("a",)), below=("c",)), exact(OTHER, assumed=("b",))]
    with precision(64):
        found = loss_distribution.distributions(parts, (1, 1), evidence(parts, (1, 1), 0.5))
    assert {"a", "b"} <= set(found.assumed) and found.below == ("c",)
    assert found.rules == ("loss-distribution", "finite-curve")


def test_a_side_is_known_only_where_every_part_has_it():
    parts = [exact(ONE), Curve(pair(ONE), None, ())]
    with precision(64):
        found = loss_distribution.distributions(parts, (1, 1), evidence(parts, (1, 1), 0.5))
    assert found.upper is not None and found.lower is None


@pytest.mark.parametrize("grid", [None, 7, "x", [], {}])
def test_evidence_without_a_grid_is_refused(grid):
    with precision(64), pytest.raises((DpverifyError, *STUMBLES)):
        loss_distribution.distributions([exact(ONE)], (2,), {"grid": grid})


@pytest.mark.parametrize("swapped", [False, True])
def test_the_lower_bound_of_the_lesser_order_is_never_made(monkeypatch, swapped):
    made = []

    def counted(parts, grid, seen):
        made.append(grid)
        return lower_sums(parts, grid, seen)

    lower_sums = losses.lower_sums
    monkeypatch.setattr(losses, "lower_sums", counted)
    rows = SKEWED[::-1] if swapped else SKEWED
    with precision(96):
        found = loss_distribution.distributions([exact(rows)], (6,), evidence([exact(rows)], (6,), 0.5))
        below = privacy_profile._certain(found, rational(F(1, 2)))
        assert len(made) == 1
        assert below.overlaps(found.lower.worst(rational(F(1, 2))))
        assert len(made) == 2
    expected = truth([rows], (6,), mp.mpf("0.5"))
    assert below <= arb(mp.nstr(expected, 15)) <= below * (1 + arb("1e-3"))


def test_what_one_order_alone_has_is_kept_apart_from_the_other():
    def gone(*eighths):
        return Pair(lambda e: arb(0), lambda e: arb(0), rests=tuple((lambda n=n: arb(n) / 8) for n in eighths))

    with precision(64):
        forward, backward = loss_distribution._rests([gone(1, 2), gone(3, 0)], [2, 1])
        assert abs(float(forward().mid()) - (1 - (7 / 8) ** 2 * 5 / 8)) < 1e-15
        assert abs(float(backward().mid()) - (1 - (6 / 8) ** 2)) < 1e-15
        assert loss_distribution._rests([Pair(lambda e: arb(0), lambda e: arb(0))], [1]) is None
