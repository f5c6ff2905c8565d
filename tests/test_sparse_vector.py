"""The six variants of the sparse vector technique that Lyu, Su and Li compare: their tight values, by a second method."""

import tomllib
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

import pytest

from dpverify.catalogue.reader import read_tables
from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import exact
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.order.enclosed import enclose

SPECS = Path(__file__).parents[1] / "specs"


def tight(number, n, c):
    """Both ends of the tight epsilon of a variant at eps = 1, n queries and c positives, as they are proved; None where no epsilon is."""
    data = tomllib.loads((SPECS / f"sparse_vector_{number}.toml").read_text())
    mechanism = {**data["mechanism"], "parameters": {"n": n, "c": c, "eps": 1}}
    [stated] = read_tables("variant", {"mechanism": mechanism, "claim": [{"sensitivity": 1, "epsilon": "tight"}]}).claims
    judged = verify(stated.claim).judgement
    return [None if end is None or isinstance(end, Infinite) else exact(enclose(end).mid()) for end in (judged.lower, judged.upper)]


def loss(pattern, moves, threshold, answers):
    """What a pattern of Laplace comparisons loses in the limit where answers move so: the cheapest of all moves of the threshold."""
    slope, rate = 1 / Fraction(threshold), 1 / Fraction(answers)
    costs = [  # at the kinks of the cost
        slope * abs(shift) + sum(rate * max(0, shift - move if yes else move - shift) for yes, move in zip(pattern, moves, strict=True))
        for shift in {Fraction(0), *map(Fraction, moves)}
    ]
    return min(costs)


def runs(pattern):
    """The runs of a pattern, each up to its positive."""
    ends = [0, *(i + 1 for i, yes in enumerate(pattern) if yes), len(pattern)]
    return [slice(*ends_of) for ends_of in pairwise(dict.fromkeys(ends))]


def greatest(n, c, threshold, answers, again=False):
    """Over all patterns and all vertices of how answers move."""
    patterns = [p for k in range(1, n + 1) for p in product((False, True), repeat=k) if sum(p) <= c and (k == n or (sum(p) == c and p[-1]))]
    parts = {pattern: runs(pattern) if again else [slice(None)] for pattern in patterns}
    return max(
        sum(loss(pattern[part], moves[part], threshold, answers) for part in parts[pattern])
        for pattern in patterns
        for moves in product((-1, 1), repeat=len(pattern))
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("n", "c"), [(1, 1), (2, 1), (3, 1), (4, 1), (3, 2), (5, 2)])
def test_variants_that_tell_comparisons_alone_have_the_loss_of_the_worst_pattern(n, c):
    assert tight(1, n, c) == [greatest(n, c, 2, 4 * c)] * 2
    assert tight(4, n, c) == [greatest(n, c, 4, Fraction(4, 3))] * 2
    assert tight(6, n, c) == [greatest(n, n, 2, 2)] * 2 == [Fraction(n, 2)] * 2


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("n", "c"), [(2, 1), (4, 1), (4, 2), (6, 2)])
def test_the_variant_that_draws_its_threshold_again_has_at_least_the_loss_of_the_worst_runs_and_at_most_epsilon(n, c):
    low, high = tight(2, n, c)
    assert low <= greatest(n, c, 2 * c, 4 * c, again=True) <= high <= 1


@pytest.mark.parametrize(("c", "n"), [(1, 2), (1, 3), (2, 4), (2, 5)])
def test_the_variant_that_tells_noisy_answers_is_private_as_claimed_for_twice_as_many_queries_as_positives(c, n):
    # where all answers move up and the values stay, each query loses by itself: by its negative, or by the density of its value
    assert tight(3, n, c) == [Fraction(n, 2 * c)] * 2
    assert (n / (2 * c) <= 1) == (n <= 2 * c)


def test_the_variant_with_exact_answers_has_half_of_epsilon_for_one_query_and_none_for_two():
    assert tight(5, 1, 1) == [Fraction(1, 2)] * 2
    assert tight(5, 2, 1) == [None, None]
