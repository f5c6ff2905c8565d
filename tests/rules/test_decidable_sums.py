"""One law in several writings, sums at their corner, samples of one order in both: against quadrature and enumeration."""

from fractions import Fraction
from itertools import product
from math import exp, log, prod
from random import Random

import mpmath
import pytest

from dpverify.catalogue.reader import read_spec
from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.expr import parse
from dpverify.trusted.kernel.model import Domain

ROWS = 'query = [[1, 0], [1, 1]]\nadjacency = "{}"\n'
LAPLACE = 'kind = "builtin"\nname = "laplace"\nscale = 1\ndimension = 2'
WRITINGS = (
    LAPLACE,
    'kind = "product"\ndensity = "3*exp(-abs(z))"\ndimension = 2',
    'kind = "radial"\nprofile = "exp(-2*r)"\nnorm = "l1"\nscale = 2\ndimension = 2',
)


def judged(tmp_path, mechanism, claim):
    file = tmp_path / "file.toml"
    file.write_text(f'[mechanism]\n{mechanism}\n\n[[claim]]\nname = "x"\n{claim}\n', encoding="utf-8")
    return verify(read_spec(file).claims[0].claim).judgement


def number(value):
    return float(constant(value).mid())


def two_laplace(epsilon):
    """delta of two Laplace losses at one scale each: points at 1 and -1, and a density between."""

    def one(level):  # the hockey-stick of one, at any level
        return 1 - mpmath.exp((level - 1) / 2) if -1 <= level <= 1 else max(0, 1 - mpmath.exp(level))

    inside = mpmath.quad(lambda loss: mpmath.exp((loss - 1) / 2) / 4 * one(epsilon - loss), [-1, 0, 1])
    return float(one(epsilon - 1) / 2 + mpmath.exp(-1) / 2 * one(epsilon + 1) + inside)


@pytest.mark.parametrize("noise", WRITINGS)
def test_independent_coordinates_under_a_query_are_as_many_parts(tmp_path, noise):
    found = judged(tmp_path, noise, ROWS.format("add-remove") + 'epsilon = 1\ndelta = "tight"')
    assert number(found.delta_lower) == pytest.approx(two_laplace(1), abs=1e-12)
    assert number(found.delta_upper) == pytest.approx(two_laplace(1), abs=1e-12)
    assert number(judged(tmp_path, noise, ROWS.format("replace") + "epsilon = 1").upper) == pytest.approx(1)


def test_coordinates_that_move_apart_are_not_taken_for_coordinates_that_move_together(tmp_path):
    cauchy = 'kind = "product"\ndensity = "1/(1 + z**2)"\ndimension = 2'
    for adjacency, times in (("replace", 1), ("add-remove", 2)):
        found = judged(tmp_path, cauchy, ROWS.format(adjacency) + 'epsilon = "tight"')
        worst = max(log((1 + (y + 1) ** 2) / (1 + y * y)) for y in (k / 1000 for k in range(-3000, 3000)))
        assert number(found.upper) == pytest.approx(times * worst, abs=1e-5)
        assert number(found.lower) == pytest.approx(times * worst, abs=1e-5)
    squares = judged(tmp_path, LAPLACE, ROWS.format("add-remove") + "renyi = { order = 2, epsilon = 1 }")
    assert number(squares.lower) == pytest.approx(2 * log(2 * exp(1) / 3 + exp(-2) / 3)) == pytest.approx(number(squares.upper))


def test_behind_a_map_of_a_step_and_a_half_what_several_parts_have_is_bounded_from_above(tmp_path):
    part = '{{ kind = "builtin", name = "laplace", scale = 1, query = [{}], adjacency = "add-remove" }}'
    behind = f'kind = "lipschitz"\nconstant = "3/2"\npart = {{ kind = "compose", parts = [{part.format([1, 0])}, {part.format([1, 1])}] }}'
    found = judged(tmp_path, behind, 'epsilon = 1\ndelta = "tight"')
    assert found.verdict == "PROVED"
    assert two_laplace(1) < number(found.delta_upper) < 0.632


STATED = '{{ kind = "guarantee", epsilon = "{}", delta = "{}" }}'
CORNER = f'kind = "compose"\nparts = [{STATED.format("1/2", 0)}, {STATED.format("1/4", "exp(-7)")}]'


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("mechanism", "claim", "verdict"),
    [
        (CORNER, 'epsilon = "3/4"\ndelta = "exp(-7)"', "PROVED"),
        (CORNER, 'epsilon = "3/4"\ndelta = "0.999*exp(-7)"', "UNKNOWN"),
        (f'kind = "compose"\ntimes = "k"\npart = {STATED.format("e", "d")}', 'epsilon = "k*e"\ndelta = "k*d"', "PROVED"),
        (f'kind = "compose"\ntimes = "k"\npart = {STATED.format("e", "d")}', 'epsilon = "k*e"\ndelta = "d"', "UNKNOWN"),
        (f'kind = "compose"\ntimes = 200\npart = {STATED.format("e", "d")}', 'epsilon = "200*e"\ndelta = "min(1, 200*d)"', "PROVED"),
        (f'kind = "compose"\ntimes = 200\npart = {STATED.format("e", "d")}', 'epsilon = "200*e"\ndelta = "min(1, 199*d)"', "UNKNOWN"),
        (f'kind = "group"\nsize = 2\npart = {STATED.format("e", "d")}', 'epsilon = "2*e"\ndelta = "(1 + exp(1))*d"', "UNKNOWN"),
    ],
)
def test_stated_epsilons_and_deltas_add_up_exactly_and_for_all_parameters(tmp_path, mechanism, claim, verdict):
    domains = '\nparameters = { k = "integer in [1, 9]", e = "positive", d = "in (0, 1e-2)" }'
    used = domains if '"e"' in mechanism else ""
    used = used if '"k"' in mechanism else used.replace('k = "integer in [1, 9]", ', "")
    assert judged(tmp_path, mechanism + used, claim).verdict == verdict


def stick(p, q, epsilon):
    return sum(max(a - exp(epsilon) * b, 0) for a, b in zip(p, q, strict=True))


def test_a_sample_of_what_is_stated_of_one_order_has_the_greater_of_both(tmp_path):
    """Random pairs with the guarantee of one order alone, on samples: none is above what is proved, in either order; some are near."""
    random, rate, nearest = Random(5), 0.25, [0.0, 0.0]
    for _ in range(400):
        p, q = ([random.random() ** 4 * random.randint(0, 1) + 1e-9 for _ in range(3)] for _ in range(2))
        p, q = ([x / sum(row) for x in row] for row in (p, q))
        own, delta = 1.0, stick(p, q, 1.0)  # nothing is asked of the other order
        mixed = [rate * a + (1 - rate) * b for a, b in zip(p, q, strict=True)]
        claimed = max(log(1 + rate * (exp(own) - 1)), -log(1 - rate))
        for order, value in enumerate((stick(mixed, q, claimed), stick(q, mixed, claimed))):
            assert value <= rate * delta + 1e-12
            nearest[order] = max(nearest[order], value - rate * delta * 0.999)
    assert nearest[0] > 0
    part = '{ kind = "guarantee", epsilon = 1, delta = "d", order = "one-sided" }'
    sample = f'kind = "subsample"\nrate = "1/4"\npart = {part}\nparameters = {{ d = "in (0, 1)" }}'
    assert judged(tmp_path, sample, 'epsilon = "log(1 + (exp(1) - 1)/4)"\ndelta = "d/4"').verdict == "PROVED"
    assert judged(tmp_path, sample, 'epsilon = "log(1 + (exp(1) - 1)/4)"\ndelta = "d/5"').verdict == "UNKNOWN"
    small = sample.replace("epsilon = 1,", 'epsilon = "1/10",')  # the reverse order is the worse one
    assert judged(tmp_path, small, 'epsilon = "-log(3/4)"\ndelta = "d/4"').verdict == "PROVED"
    assert judged(tmp_path, small, 'epsilon = "0.28"\ndelta = "d/4"').verdict == "UNKNOWN"
    reverse = sample.replace("one-sided", "reverse")
    assert judged(tmp_path, reverse, 'epsilon = 9\ndelta = "d"').verdict == "UNKNOWN"


def test_of_tables_that_list_a_pair_in_one_order_sums_are_of_both_orders(tmp_path):
    """A claim on both orders does not know which input has the record: the tables may be at their worst in opposite orders."""
    rows = '{ kind = "table", rows = [["1/2", "1/2"], ["1/10", "9/10"]], adjacent = [[0, 1]] }'
    other = '{ kind = "table", rows = [["1/10", "9/10"], ["1/2", "1/2"], [0, 1]], adjacent = [[0, 1]] }'
    both = f'kind = "compose"\nparts = [{rows}, {other}, {STATED.format("e", "d")}]\nparameters = {{ e = "positive", d = "in (0, 1)" }}'
    assert judged(tmp_path, both, 'epsilon = "2*log(5) + e"\ndelta = "d"').verdict == "PROVED"
    assert judged(tmp_path, both, 'epsilon = "log(5) + log(9/5) + e"\ndelta = "d"').verdict == "UNKNOWN"


@pytest.mark.parametrize(
    ("a", "b", "ends", "least", "less"),
    [
        ("-log(1 - p)", "2*p", (0, "0.7968"), True, False),
        ("-log(1 - p)", "2*p", (0, "0.7969"), False, False),  # the root is 0.79681...
        ("-log(1 - p)", "2*p", ("0.1", "0.79"), True, True),
        ("-log(1 - p)", "2*p", (0, 1), False, False),
        ("exp(2*p)", "1 + 6*p", (0, 1), False, False),
        ("exp(2*p)", "1 + 7*p", (0, 1), True, False),
        ("1 + 3/2*p", "exp(p)", (0, 1), False, False),  # convex, and at least 0 at both ends
        ("p*exp(1/p)", "4", (0, 1), False, False),  # no bound near 0
    ],
)
def test_what_is_concave_is_no_less_between_than_at_the_ends(a, b, ends, least, less):
    domains = {"p": Domain(*map(Fraction, ends))}
    assert certainly_le(parse(a), parse(b), domains) == least
    assert certainly_lt(parse(a), parse(b), domains) == less


@pytest.mark.wide
def test_exponential_mechanisms_compose_by_the_range_of_their_loss(tmp_path):
    """Ten of them with four candidates, scores that move by 1 both ways: every pair of tables lies below, and a pure bound far above."""
    part = '{ kind = "exponential", beta = "1/4", candidates = 4, sensitivity = 1 }'
    found = judged(tmp_path, f'kind = "compose"\ntimes = 5\npart = {part}', 'epsilon = 1\ndelta = "tight"')
    pure = judged(tmp_path, 'kind = "compose"\ntimes = 5\npart = { kind = "guarantee", epsilon = "1/2" }', 'epsilon = 1\ndelta = "tight"')
    worst = 0.0
    for base in product((-2, 0, 2, 20), repeat=3):
        for moves in ((1, -1, -1, -1), (1, 1, -1, -1)):
            scores = (0, *base)
            p, q = ([exp(u / 4) for u in row] for row in (scores, [u + move for u, move in zip(scores, moves, strict=True)]))
            p, q = ([x / sum(row) for x in row] for row in (p, q))
            worst = max(worst, stick(*([prod(row[i] for i in word) for word in product(range(4), repeat=5)] for row in (p, q)), 1))
    assert worst <= number(found.delta_upper) < number(pure.delta_upper) / 2


@pytest.mark.wide
def test_different_discrete_gaussians_attain_the_sum_of_their_rho_at_order_two(tmp_path):
    part = '{{ kind = "builtin", name = "discrete_gaussian", sigma = {}, sensitivity = 1 }}'
    both = f'kind = "compose"\nparts = [{part.format(2)}, {part.format(3)}]'
    order_two = 0.0
    for sigma in (2, 3):
        mass = {n: exp(-n * n / (2 * sigma * sigma)) for n in range(-60, 61)}
        total = sum(mass.values())
        order_two += log(sum(mass[n] ** 2 / mass[n - 1] for n in range(-59, 61)) / total)
    found = judged(tmp_path, both, 'zcdp = "tight"')
    assert number(found.lower) == pytest.approx(order_two / 2) == pytest.approx(number(found.upper))
    assert judged(tmp_path, both, 'renyi = { order = 2, epsilon = "13/36" }').lower == parse("13/36")
    mixed = both.replace('"discrete_gaussian", sigma = 3', '"laplace", scale = 3')
    laplace = judged(tmp_path, mixed, 'zcdp = "tight"')  # orders 2 and 1: the sum is an upper bound alone
    assert number(laplace.lower) < number(laplace.upper)


def test_what_is_assumed_of_parts_at_one_pair_of_neighbours_names_the_adjacency_of_the_file(tmp_path):
    part = '{{ kind = "builtin", name = "laplace", scale = {}, query = [{}], adjacency = "replace" }}'
    both = f'kind = "compose"\nparts = [{part.format(1, [1, 0])}, {part.format(2, [0, 1])}]'
    found = judged(tmp_path, both, 'zcdp = "1/10"')
    assert found.verdict == "REFUTED"
    assert any("(replace)" in line for line in found.assumptions)
    assert not any("(add-remove)" in line for line in found.assumptions)


@pytest.mark.wide
def test_more_digits_are_advised_where_a_grid_alone_keeps_the_claim_open_and_help_there(tmp_path):
    part = '{{ kind = "builtin", name = "{}", {} = 1, sensitivity = 1 }}'
    both = f'kind = "compose"\nparts = [{part.format("laplace", "scale")}, {part.format("gaussian", "sigma")}]'
    for mechanism, claim, helps in (
        (both, 'epsilon = 1\ndelta = "0.253412"', True),
        (LAPLACE, ROWS.format("l2") + 'epsilon = 1\ndelta = "0.296"', False),  # a polygon round the disc, of whatever digits
    ):
        file = tmp_path / "file.toml"
        file.write_text(f"[mechanism]\n{mechanism}\n\n[[claim]]\n{claim}\n", encoding="utf-8")
        asked = read_spec(file).claims[0].claim
        found = verify(asked, 20)
        assert found.judgement.verdict == "UNKNOWN"
        assert any("ask for more digits" in reason for reason in found.reasons) == helps
        assert (verify(asked, 30).judgement.verdict != "UNKNOWN") == helps
