"""Several guarantees at once: the hull against linear programming's answer, and against what mechanisms do."""

import random
from fractions import Fraction
from itertools import pairwise, product

import mpmath
import pytest
from flint import arb
from mpmath import mp, mpf

from dpverify.search.composition import stated_guarantee as search
from dpverify.trusted.kernel.balls import constant, precision, rational
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import Num, num, parse
from dpverify.trusted.theories.composition.rules import several_guarantees as guarantees
from dpverify.trusted.theories.curves.rules import gaussian, optimal_composition

POINTS = [("1/2", "1/4"), ("1", "1/10"), ("2", "1/100"), ("3", "1/100")]


def built(points):
    return pair([(parse(epsilon), parse(delta)) for epsilon, delta in points])


def pair(points):
    """By the corners that the search finds."""
    return guarantees.pair([points[i] for i in search.corners(points)])


def hull(points, epsilon):
    """Andrew's monotone chain on the points and their mirror images, then interpolation."""
    right = [
        (mpmath.exp(mpf(Fraction(e).numerator) / Fraction(e).denominator), mpf(Fraction(d).numerator) / Fraction(d).denominator)
        for e, d in points
    ]
    corners = sorted([(mpf(0), mpf(1)), *right, *((1 / g, 1 - (1 - d) / g) for g, d in right), (mpf(10) ** 9, min(d for _, d in right))])
    chain = []
    for x, y in corners:
        while len(chain) > 1 and (chain[-1][0] - chain[-2][0]) * (y - chain[-2][1]) <= (chain[-1][1] - chain[-2][1]) * (x - chain[-2][0]):
            chain.pop()
        chain.append((x, y))
    level = mpmath.exp(epsilon)
    for (x, g), (y, h) in pairwise(chain):
        if x <= level <= y:
            return g + (h - g) * (level - x) / (y - x)
    return chain[-1][1]


@pytest.mark.parametrize("epsilon", ["0", "1/4", "1/2", "3/4", "1", "3/2", "2", "5/2", "7"])
@pytest.mark.parametrize("points", [POINTS, POINTS[:1], POINTS[1:3], [("0", "1/3"), ("1", "0")], [("1", "1")], [("1", "1"), ("2", "1/2")]])
def test_it_is_the_lower_hull(points, epsilon):
    with mp.workdps(50):
        expected = hull(points, mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator)
        with precision(96):
            ball = built(points).forward(rational(Fraction(epsilon)))
        assert abs(mpf(ball.mid().str(40, radius=False)) - expected) < mpf(10) ** -20
        assert ball.rad() < arb(2) ** -70


@pytest.mark.parametrize("epsilon", ["0", "1/2", "1", "2"])
def test_one_guarantee_is_that_of_its_worst_mechanism(epsilon):
    with precision(96):
        at = rational(Fraction(epsilon))
        ball = built([("1", "1/1000")]).forward(at)
        assert ball.overlaps(optimal_composition.guarantee(parse("1"), parse("1/1000")).forward(at))
        assert ball.rel_accuracy_bits() > 60


def test_it_keeps_every_guarantee_and_is_better_than_each():
    with precision(96):
        pair = built(POINTS)
        for epsilon, delta in POINTS:
            assert not pair.forward(rational(Fraction(epsilon))) > rational(Fraction(delta)) + arb(2) ** -80
            assert not pair.forward(arb(1) / 4) > optimal_composition.guarantee(parse(epsilon), parse(delta)).forward(arb(1) / 4)


def test_points_of_a_true_curve_lie_above_it_everywhere():
    with precision(96):
        curve = gaussian.profile(parse("1"))
        rounded = []
        for i in range(1, 9):
            mantissa = int((curve(arb(i) / 2) * 2**60).ceil().upper().unique_fmpz())
            rounded.append((Num(Fraction(i, 2)), Num(Fraction(mantissa, 2**60))))
        found = pair(rounded)
        for i in range(45):
            assert found.forward(arb(i) / 9) > curve(arb(i) / 9)
        assert found.forward(arb(9) / 4) < 3 * curve(arb(9) / 4)


def test_its_own_mirror_image_is_itself():
    # H'(1/g) = 1 - (1 - H(g))/g with H' = H: the chord through a corner and its image has the same slope on both sides of 1
    with precision(96):
        pair = built(POINTS)
        for i in range(1, 12):
            epsilon = arb(i) / 4
            low = pair.delta(-epsilon)
            middle = (1 - epsilon.exp()) / ((-epsilon).exp() - epsilon.exp())  # where 1 lies between e^eps and e^-eps
            chord = middle * low + (1 - middle) * pair.forward(epsilon)
            assert not pair.forward(arb(0)) > chord + arb(2) ** -70


@pytest.mark.parametrize("chosen", [[], [3], [0, 1], [1, 2], [0, 1, 2]])
def test_any_of_the_guarantees_bound_the_hull_from_above(chosen):
    with precision(96):
        every, few = built(POINTS), guarantees.pair([(parse(e), parse(d)) for e, d in (POINTS[i] for i in chosen)])
        for i in range(-6, 15):
            assert not few.delta(arb(i) / 4) < every.delta(arb(i) / 4) - arb(2) ** -70


def test_a_wide_epsilon_is_enclosed():
    with precision(64):
        pair = built(POINTS)
        wide = pair.forward(arb(0).union(arb(3)))
        assert all(wide.contains(pair.forward(arb(i) / 3).mid()) for i in range(1, 9))


def test_at_a_corner_the_bound_is_what_is_stated():
    with precision(96):
        pair = built(POINTS)
        for epsilon, delta in POINTS:
            at = pair.forward(constant(parse(epsilon)))
            assert at.overlaps(constant(parse(delta))) and at.rad() < arb("1e-20")


def test_of_points_that_are_no_corners_the_bound_is_a_profile_too():
    """The middle one lies above the chord of the others: the bound is convex in e^eps, and each order is the image of the other."""
    with precision(96):
        pair = guarantees.pair([(parse(epsilon), parse(delta)) for epsilon, delta in (("1", "1/2"), ("2", "2/5"), ("3", "1/100"))])
        levels = [arb(i) / 5 for i in range(1, 120)]
        heights = [pair.delta(level.log()) for level in levels]
        for before, here, after in zip(heights, heights[1:], heights[2:], strict=False):
            assert not before + after < 2 * here - arb(2) ** -70
        for level, height in zip(levels, heights, strict=True):
            assert (1 - level + level * pair.delta(-level.log())).overlaps(height)


@pytest.mark.parametrize(
    ("points", "why"),
    [
        ([(num(i), parse("1/2")) for i in range(80)], "80 guarantees"),
        ([(num(-1), parse("1/2"))], "at least 0"),
        ([(parse("x"), parse("1/2"))], "at least 0"),
        ([(num(1), parse("-1/2"))], r"in \[0, 1\]"),
        ([(num(1), parse("3/2"))], r"in \[0, 1\]"),
        ([(num(1), parse("d"))], r"in \[0, 1\]"),
        ([(num(2), parse("1/9")), (num(1), parse("1/3"))], "rising"),
        ([(num(1), parse("1/9")), (num(2), parse("1/3"))], "falling"),
        ([(num(1), parse("1/9")), (num(1), parse("1/9"))], "rising"),
        ([(num(1), parse("1"))], "falling"),
    ],
)
def test_what_is_no_guarantee_is_undecided(points, why):
    with pytest.raises(Undecided, match=why):
        guarantees.pair(points)


@pytest.mark.parametrize("seed", range(8))
def test_the_hull_is_the_least_of_all_chords(seed):
    """By brute force over all pairs of points, for random guarantees, among them useless and repeated ones."""
    draw = random.Random(seed)
    stated = [(Fraction(draw.randint(0, 30), 10), Fraction(draw.choice([0, 1, 30, 300, draw.randint(0, 999)]), 1000)) for _ in range(6)]
    found = pair([(Num(epsilon), Num(delta)) for epsilon, delta in [*stated, stated[0]]])
    right = [(mpmath.exp(mpmath.mpf(e.numerator) / e.denominator), mpmath.mpf(d.numerator) / d.denominator) for e, d in stated]
    points = [(mpmath.mpf(0), mpmath.mpf(1)), *right, *((1 / g, 1 - (1 - d) / g) for g, d in right)]
    for step in range(20):
        epsilon = Fraction(17 * step + 1, 100)
        level = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        least = min(d for g, d in points if g <= level)
        for (g, d), (h, k) in product(points, points):
            if g < level < h:
                least = min(least, d + (k - d) * (level - g) / (h - g))
        ball = found.worst(rational(epsilon))
        assert abs(mpmath.mpf(ball.mid().str(20, radius=False)) - least) <= mpmath.mpf(10) ** -13
