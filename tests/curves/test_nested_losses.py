"""Compositions inside samples inside compositions: at every node both bounds hold on either side of the truth, whatever the grids.

The law (theory#loss-distribution): what bounds a pair from below is itself the profile of two distributions, so that tangents, samples
and swapped orders of it stay below the truth; what bounds from above is above at every real epsilon, also below log(1 - rate).
"""

from fractions import Fraction
from itertools import pairwise, product

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.trusted.facts.pairs import Curve, Pair
from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.expr import Num, num, parse
from dpverify.trusted.kernel.model import L1, L2, Claim, Compose, Part, Radial, Subsample, repeated
from dpverify.trusted.theories.composition import losses
from dpverify.trusted.theories.composition.rules import loss_distribution, poisson_subsampling
from tests.effort import examples, tries
from tests.proofs import Step, bound

F = Fraction
BITS = 160


# -- pairs with rational probabilities, and the truth about them ---------------------------------------


def profile(p, q):
    def at(epsilon):
        factor = epsilon.exp()
        return sum(((rational(a) - factor * rational(b)).max(arb(0)) for a, b in zip(p, q, strict=True)), arb(0))

    return at


def leaf(p, q):
    pair = Pair(profile(p, q), profile(q, p))
    return Curve(pair, pair, ("leaf",))


def times(rows, count):
    p, q = [F(1)], [F(1)]
    for a, b in [rows] * count:
        p, q = [x * y for x, y in product(p, a)], [x * y for x, y in product(q, b)]
    return p, q


def joined(first, second):
    return [x * y for x, y in product(first[0], second[0])], [x * y for x, y in product(first[1], second[1])]


def merged(rows):
    """The pair with outputs of equal ratios together."""
    found = {}
    for p, q in zip(*rows, strict=True):
        key = None if q == 0 else p / q
        a, b = found.get(key, (F(0), F(0)))
        found[key] = (a + p, b + q)
    return [p for p, _ in found.values()], [q for _, q in found.values()]


def mixed(rows, rate):
    return [rate * a + (1 - rate) * b for a, b in zip(*rows, strict=True)], rows[1]


# -- random grids, good and bad --------------------------------------------------------------------------


@st.composite
def any_grid(draw, parts):
    spacing = draw(st.sampled_from([F(1, 3), F(1, 10), F(2, 35), F(1, 100), F(1, 1000)]))
    steps = st.lists(st.tuples(st.integers(-40, 20), st.integers(1, 100)), max_size=3, unique_by=lambda step: step[0]).map(sorted)
    found = {
        "spacing": str(spacing),
        "nudge": str(spacing / draw(st.sampled_from([5, 2**8, 2**30]))),
        "bits": draw(st.sampled_from([32, 64, 128])),
        "tail": draw(st.sampled_from([1, 3, 8, 60])),
        "ranges": [[low := draw(st.integers(-60, 5)), low + draw(st.integers(1, 120))] for _ in range(parts)],
        "strides": [[list(step) for step in draw(steps)] for _ in range(parts)],
    }
    return found if draw(st.booleans()) else {**found, "far": "150"}


@st.composite
def any_node(draw, depth=2):
    """A curve with bounds by loss distributions somewhere inside, and the true pair."""
    if depth == 0:
        size = draw(st.integers(2, 3))
        weights = st.lists(st.integers(0, 9), min_size=size, max_size=size).filter(any)
        p, q = ([F(x, sum(row)) for x in row] for row in (draw(weights), draw(weights)))
        return leaf(p, q), (p, q)
    inside, rows = draw(any_node(depth - 1))
    count = draw(st.integers(1, 2))
    parts, truths, counts = [inside], [times(rows, count)], [count]
    if draw(st.booleans()):
        other, others = draw(any_node(0))
        parts, truths, counts = [*parts, other], [*truths, others], [*counts, 1]
    grid, back = draw(any_grid(len(parts))), draw(any_grid(len(parts)))
    found = loss_distribution.distributions(parts, counts, {"grid": grid, "reverse": back})
    rows = merged(truths[0] if len(truths) == 1 else joined(*truths))
    if draw(st.booleans()):
        rate = draw(st.sampled_from([F(1, 1000), F(1, 10), F(1, 3), F(9, 10), F(999, 1000)]))
        return poisson_subsampling.curve(found, Num(rate)), merged(mixed(rows, rate))
    return found, rows


def check_order(below, above, p, q, epsilons):
    truth = profile(p, q)
    for epsilon in epsilons:
        at = rational(epsilon).mid()
        assert below(at).lower() <= truth(at).upper()
        assert above(at).upper() >= truth(at).lower()


@pytest.mark.wide
@settings(max_examples=tries(examples(50), 1000))
@given(any_node(), st.lists(st.fractions(-8, 4, max_denominator=100), min_size=3, max_size=3))
def test_every_node_is_bounded_on_both_sides_at_every_real_epsilon(node, epsilons):
    found, (p, q) = node
    with precision(BITS):
        below, above = found.lower, found.upper
        check_order(below.delta, above.delta, p, q, epsilons)
        check_order(below.reversed.delta, above.reversed.delta, q, p, epsilons)


@settings(max_examples=tries(examples(30), 500))
@given(any_node())
def test_every_bound_from_below_is_the_profile_of_two_distributions(node):
    found, _ = node
    slack = arb(2) ** -(BITS - 30)
    with precision(BITS):
        for order in (found.lower, found.lower.reversed):
            places = [F(0), *(F(n, 40) for n in range(1, 40)), *(F(n, 4) for n in range(4, 20))]
            heights = [arb(1), *(order.delta(rational(x).log().mid()) for x in places[1:])]
            balls = [rational(x) for x in places]
            slopes = [(b - a) / (y - x) for (a, b), (x, y) in zip(pairwise(heights), pairwise(balls), strict=True)]
            assert all(not height < 1 - x - slack and not height < -slack for height, x in zip(heights, balls, strict=True))
            assert all(not slope > slack for slope in slopes)
            assert all(not after < before - slack * 2**20 for before, after in pairwise(slopes))


def test_masses_with_more_than_all_of_the_other_side_still_bound_from_below():
    """Two Laplace losses of 1/2000 on a grid whose steps are far wider: the masses by themselves give the other side 1.127."""
    pair = Pair(small := lambda e: (-((e - rational(F(1, 2000))) / 2).expm1()).max(arb(0)), small)
    grid = losses.read_grid(FORGED)
    with precision(BITS):
        masses = losses.lower_sums([([pair], 2)], grid)
        places = (masses.start + j * masses.spacing for j in range(masses.masses.length()))
        other = sum(rational(F(int(m), 2**128)) * (-rational(place)).exp() for m, place in zip(masses.masses.coeffs(), places, strict=True))
        assert other > arb("1.12")  # or the test has lost its point
        whole = loss_distribution.distributions([Curve(pair, pair, ())], [2], {"grid": FORGED}).lower
        for n in range(-300, 300):
            at = rational(F(n, 100)).mid()
            assert whole.delta(at) >= -at.expm1() - arb(2) ** -100


# -- certificates that are made to refute what is true ----------------------------------------------------

FORGED = {"spacing": "1/100", "nudge": "1/102400", "bits": 128, "tail": 3, "ranges": [[-9, 74]], "strides": [[[-6, 10]]]}
TWO_LAPLACE = repeated(Part(Radial(parse("exp(-r/2000)"), L1, num(1)), num(1)), num(2))
GAUSSIAN = Part(Radial(parse("exp(-r**2/2)"), L2, num(1)), num(1))


@pytest.mark.parametrize(("rate", "spacing", "first"), [("1/10", F(1, 50), -5), ("1/10", F(1, 20), -2), ("1/2", F(1, 50), -34)])
def test_no_steps_of_a_grid_inside_a_sample_refute_what_is_true(rate, spacing, first):
    """The whole is a Gaussian mechanism with delta(1) = 0.126937 and a part that moves it by less than 0.0001."""
    claim = Claim(Compose((Part(Subsample(Part(Compose((TWO_LAPLACE,))), parse(rate))), GAUSSIAN)), parse("1"), delta=parse("0.1270"))
    last = int(8 / spacing)
    outer = {"spacing": str(spacing), "nudge": str(spacing / 2**20), "bits": 128, "tail": 100, "ranges": [[first, 40], [-last, last]]}
    inner = {"rule": "loss-distribution", "grid": FORGED, "parts": [{"rule": "laplace"}]}
    parts = [{"rule": "poisson-subsampling", "part": inner}, {"rule": "gaussian"}]
    evidence = {"curve": {"rule": "loss-distribution", "grid": outer, "reverse": outer, "parts": parts}, "delta": True}
    sides = {each.side: each.value.value for each in bound(claim, Step("privacy-profile", evidence), 128)}
    assert sides["lower"] <= F("0.12694") and sides["upper"] >= F("0.126936")
