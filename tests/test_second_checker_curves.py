"""The second checker on curves and measures: what it encloses holds what brute force finds, and what is changed is not accepted."""

import copy
import math
import random
import sys
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, pairwise, product
from pathlib import Path

import flint
import pytest

ROOT = Path(__file__).parents[1]
CHECKER = ROOT / "checker"
BEFORE = sys.path[:]
OWN = [path.stem for path in CHECKER.glob("*.py")]
for module in OWN:  # other tests have modules of these names
    sys.modules.pop(module, None)
sys.path[:0] = [str(CHECKER)]

import algebra as al  # noqa: E402
import check  # noqa: E402
import curves  # noqa: E402
import grid  # noqa: E402
import intervals as iv  # noqa: E402
import keys  # noqa: E402
import lattice  # noqa: E402
import linear  # noqa: E402
import matrices  # noqa: E402
import measures  # noqa: E402
import noise  # noqa: E402
import normal  # noqa: E402
import outcomes  # noqa: E402
import pairs  # noqa: E402
import terms  # noqa: E402
import worst  # noqa: E402

from dpverify.trusted.kernel.canonical_form import claim_hash  # noqa: E402
from tests import committed  # noqa: E402

sys.path[:] = BEFORE
for module in OWN:
    sys.modules.pop(module, None)


@pytest.fixture(autouse=True)
def digits():
    """Every test begins at one precision, and leaves the one that it found."""
    before = iv.DOWN.prec
    iv.precision(120)
    yield
    iv.DOWN.prec = iv.UP.prec = before


def at(x):
    return iv.point(Fraction(x))


def form(x):
    return al.constant(Fraction(x))


def near(interval):
    assert interval.hi - interval.lo <= Decimal("1e-15")
    return float(interval.lo)


def rational(x):
    return flint.fmpq(*Fraction(x).as_integer_ratio())


# -- arithmetic: against digits of tables, and against flint --------------------------------------------------------


def test_erfc_holds_the_digits_of_tables():
    known = {"1/2": "0.4795001221869534623", "1": "0.15729920705028513066", "2": "0.0046777349810472658379", "-1": "1.84270079294971486934",
             "5": "0.0000000000015374597944280348502", "10": "2.0884875837625447570E-45"}  # fmt: skip
    for x, told in known.items():
        found, digits_of_it = normal.erfc(at(x)), Decimal(told)
        assert abs(found.lo - digits_of_it) <= digits_of_it.copy_abs() * Decimal("1e-18") >= found.hi - found.lo


OPERATIONS = [
    (1, normal.erfc, lambda x: x.erfc(), -9, 40), (1, iv.exp, lambda x: x.exp(), -50, 50), (1, iv.log, lambda x: x.log(), 0, 10**6),
    (1, lambda x: x**iv.HALF, lambda x: x.sqrt(), 0, 10**6), (1, lambda x: x**3, lambda x: x**3, -99, 99),
    (2, lambda x, y: x + y, lambda x, y: x + y, -99, 99), (2, lambda x, y: x * y, lambda x, y: x * y, -99, 99),
    (2, lambda x, y: x - y, lambda x, y: x - y, -99, 99), (2, lambda x, y: x / y, lambda x, y: x / y, 1, 99),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(OPERATIONS)))
def test_decimal_intervals_and_balls_hold_each_others_midpoints(number):
    compare(number, 120)


@pytest.mark.deep
@pytest.mark.parametrize("number", range(len(OPERATIONS)))
def test_decimal_intervals_and_balls_hold_each_others_midpoints_ten_million_times(number):
    compare(number, 10**7 // len(OPERATIONS) + 1)


def compare(number, times):
    """So many operations, on numbers that are drawn, by intervals and by balls."""
    size, own, theirs, low, high = OPERATIONS[number]
    drawn, before = random.Random(number), flint.ctx.prec
    flint.ctx.prec = 1000
    try:
        for _ in range(times):
            iv.precision(drawn.choice([24, 53, 120]))
            numbers = [Fraction(drawn.randint(low * 10**6 + 1, high * 10**6), 10**6) for _ in range(size)]
            found = own(*(iv.point(x) for x in numbers))
            ball = theirs(*(flint.arb(rational(x)) for x in numbers))
            assert ball.is_finite() and found.lo.is_finite() and found.hi.is_finite()
            assert not ball < flint.arb(rational(found.lo)) and not ball > flint.arb(rational(found.hi)), numbers
            assert found.hi - found.lo <= max(abs(found.hi), Decimal("1e-300")) * Decimal(10) ** (6 - iv.DOWN.prec)
    finally:
        flint.ctx.prec = before


# -- pairs: against sums and integrals ---------------------------------------------------------------------------------


def test_the_curve_of_gaussian_noise_is_that_of_its_best_event():
    for mu, eps in product((Fraction(1, 3), Fraction(1), Fraction(5, 2)), (Fraction(-2), Fraction(0), Fraction(1, 2), Fraction(3))):
        cut = float(mu) / 2 - float(eps) / float(mu)
        phi = lambda x: math.erfc(-x / math.sqrt(2)) / 2  # noqa: E731
        best = phi(cut) - math.exp(eps) * phi(cut - float(mu))
        pair = pairs.gaussian(form(mu))
        assert abs(near(pair.profile(at(eps))) - best) < 1e-13
        if eps >= 0:
            assert abs(near(al.evaluate(pair.closed(form(eps)), 120)) - best) < 1e-13


def hockey_stick(density, other, eps, low, high, steps=40_000):
    """The integral of (p - e^eps q)_+ by rectangles."""
    width = (high - low) / steps
    middles = (low + (i + 0.5) * width for i in range(steps))
    return sum(max(0.0, density(x) - math.exp(eps) * other(x)) for x in middles) * width


@pytest.mark.parametrize("eps", [-1, 0, Fraction(1, 2), Fraction(7, 5)])
def test_the_curve_of_laplace_noise_is_the_integral(eps):
    shift = Fraction(3, 2)
    told = hockey_stick(lambda x: math.exp(-abs(x)) / 2, lambda x: math.exp(-abs(x - 1.5)) / 2, float(eps), -30, 30)
    assert abs(near(pairs.laplace(form(shift)).profile(at(eps))) - told) < 1e-4


def question(density, *, integers=False, support=(None, None), moved="1"):
    m = {"kind": "translation", "density": density, "support": list(support), "integers": integers}
    field = al.Field({})
    return noise.Noise(noise.Question(m, field.form(terms.parse(moved)), None, field), line=True)


@pytest.mark.parametrize("eps", [-1, 0, Fraction(1, 3), 2])
@pytest.mark.parametrize(
    ("density", "weight"), [("exp(-z**2/8)", lambda n: math.exp(-n * n / 8)), ("exp(-abs(z)/2)", lambda n: math.exp(-abs(n) / 2))]
)
def test_the_curve_of_noise_on_the_integers_is_the_sum(density, weight, eps):
    total, told = sum(map(weight, range(-200, 201))), 0.0
    for n in range(-190, 191):
        told += max(0.0, weight(n) - math.exp(eps) * weight(n - 3)) / total
    assert abs(near(lattice.pair(question(density, integers=True, moved="3")).profile(at(eps))) - told) < 1e-12


@pytest.mark.parametrize("eps", [-1, 0, Fraction(1, 3), 2])
@pytest.mark.parametrize(("density", "low", "high", "weight"), [
    ("exp(-z/2)", "0", None, lambda x: math.exp(-x / 2) * (x > 0)), ("exp(z/2)", None, "1", lambda x: math.exp(x / 2) * (x < 1)),
    ("exp(-2*z)", "-1", "1", lambda x: math.exp(-2 * x) * (-1 < x < 1)), ("1", "0", "4", lambda x: 1.0 * (0 < x < 4)),
])  # fmt: skip
def test_the_curve_of_noise_with_a_linear_exponent_is_the_integral(density, low, high, weight, eps):
    pair, steps = linear.pair(question(density, support=(low, high)), al.ONE), 40_000
    total = sum(weight(-60 + (i + 0.5) * 120 / steps) for i in range(steps)) * 120 / steps
    for found, (p, q) in ((pair, (0, 1)), (pair.turned(), (1, 0))):
        told = hockey_stick(lambda x, p=p: weight(x - p) / total, lambda x, q=q: weight(x - q) / total, float(eps), -60, 60)
        assert abs(near(found.profile(at(eps))) - told) < 1e-2


@pytest.mark.parametrize(("density", "low", "high"), [
    ("exp(-z**2)", "0", None), ("exp(z)", "0", None), ("exp(-z)", None, "0"), ("exp(-abs(z))", "-1", "1"), ("1", None, None),
    ("1", "1", "1"),
])  # fmt: skip
def test_an_exponent_that_is_not_linear_or_has_no_finite_mass_is_not_known(density, low, high):
    with pytest.raises((terms.Undecided, terms.Refused)):
        linear.pair(question(density, support=(low, high)), al.ONE)


def drawn_pair(drawn, size):
    """Two laws on a few outcomes, each likely in both."""
    laws = [[drawn.randint(1, 20) for _ in range(size)] for _ in range(2)]
    return [(Fraction(p, sum(laws[0])), Fraction(q, sum(laws[1]))) for p, q in zip(*laws, strict=True)]


def divergence(atoms, eps):
    return sum(max(0.0, float(p) - math.exp(eps) * float(q)) for p, q in atoms)


def composed(listed):
    """All outcomes of a composition."""
    total = [(Fraction(1), Fraction(1))]
    for atoms in listed:
        total = [(p * x, q * y) for p, q in total for x, y in atoms]
    return total


def finite(atoms):
    return pairs.finite([(form(p), form(q)) for p, q in atoms])


def test_compositions_of_finite_pairs_are_those_of_all_their_outcomes():
    drawn = random.Random(5)
    for _ in range(12):
        parts = [(drawn_pair(drawn, drawn.randint(2, 3)), drawn.randint(1, 3)) for _ in range(drawn.randint(1, 2))]
        told = composed([atoms for atoms, n in parts for _ in range(n)])
        pair = outcomes.composed([(finite(atoms), n) for atoms, n in parts])
        for eps in (Fraction(-1, 2), Fraction(0), Fraction(3, 4)):
            assert abs(near(pair.profile(at(eps))) - divergence(told, eps)) < 1e-12
            assert abs(near(pair.turned().profile(at(eps))) - divergence([(q, p) for p, q in told], eps)) < 1e-12


@pytest.mark.wide
def test_masses_on_a_grid_lie_on_both_sides_of_the_composition():
    drawn = random.Random(7)
    for _ in range(6):
        parts = [(drawn_pair(drawn, drawn.randint(2, 3)), drawn.randint(1, 3)) for _ in range(drawn.randint(1, 2))]
        told = composed([atoms for atoms, n in parts for _ in range(n)])
        listed = [(finite(atoms), n) for atoms, n in parts]
        spans = [grid.composition(listed, side, 60) for side in (True, False)]
        for eps in (Fraction(-1, 2), Fraction(0), Fraction(1, 5), Fraction(3, 4), Fraction(2)):
            upper, lower = (whole.at(spacing, at(eps)) for whole, spacing in spans)
            assert float(lower.lo) <= divergence(told, eps) + 1e-12 and divergence(told, eps) <= float(upper.hi) + 1e-12


@pytest.mark.parametrize("pair", [pairs.laplace(al.constant(Fraction(1, 2))), pairs.gaussian(al.constant(Fraction(1, 2)))])
def test_on_a_grid_two_runs_come_near_to_what_they_lose_from_both_sides(pair):
    if pair.mu is not None:
        exact = pairs.gaussian(al.Field({}).power(al.constant(Fraction(1, 2)), Fraction(1, 2))).profile
    else:  # the loss of one of both is at its ends with probabilities 1/2 and e^-t/2, and has the density e^((l - t)/2)/4 between
        t = 0.5

        def exact(eps):
            e, one = float(eps.lo), lambda e: max(0.0, 1 - math.exp((e - t) / 2)) if e > -t else 1 - math.exp(e)
            inner = (
                sum(math.exp((x - t) / 2) / 4 * one(e - x) for x in ((i + 0.5) * 2 * t / 20_000 - t for i in range(20_000)))
                * 2
                * t
                / 20_000
            )
            value = one(e - t) / 2 + one(e + t) * math.exp(-t) / 2 + inner
            return iv.Interval(Decimal(value), Decimal(value))

    spans = [grid.composition([(pair, 2)], side, 200) for side in (True, False)]
    for eps in (Fraction(0), Fraction(1, 5), Fraction(4, 5)):
        upper, lower = (float(whole.at(spacing, at(eps)).hi) for whole, spacing in spans)
        assert lower <= float(exact(at(eps)).hi) + 1e-9 <= upper + 2e-9 and upper - lower < 1 / 40


def test_products_of_long_numbers_are_convolutions():
    drawn = random.Random(3)
    for _ in range(20):
        first, second = ([drawn.randint(0, 10 ** drawn.randint(0, 30)) for _ in range(drawn.randint(1, 9))] for _ in range(2))
        told = [0] * (len(first) + len(second) - 1)
        for (i, x), (j, y) in product(enumerate(first), enumerate(second)):
            told[i + j] += x * y
        assert grid.product(first, second) == told


def test_a_sample_of_a_pair_is_the_mixture():
    drawn = random.Random(11)
    for _ in range(20):
        atoms, rate = drawn_pair(drawn, 3), Fraction(drawn.randint(1, 9), 10)
        mixed = [(rate * p + (1 - rate) * q, q) for p, q in atoms]
        whole = finite(atoms)
        by_curve = pairs.sampled(pairs.Pair(whole.profile), form(rate))
        for eps in (Fraction(-1), Fraction(-1, 20), Fraction(0), Fraction(1, 3), Fraction(1)):
            assert abs(near(pairs.sampled(whole, form(rate)).profile(at(eps))) - divergence(mixed, eps)) < 1e-12
            assert abs(near(by_curve.profile(at(eps))) - divergence(mixed, eps)) < 1e-12
            assert abs(near(by_curve.turned().profile(at(eps))) - divergence([(q, p) for p, q in mixed], eps)) < 1e-12


def test_a_hull_is_above_all_that_has_what_is_stated():
    drawn = random.Random(13)
    for _ in range(40):
        atoms = drawn_pair(drawn, 4)
        both = lambda eps, atoms=atoms: max(divergence(atoms, eps), divergence([(q, p) for p, q in atoms], eps))  # noqa: E731
        stated = [(Fraction(n, 4), Fraction(both(n / 4)).limit_denominator(10**9) + Fraction(1, 10**8)) for n in (0, 2, 3)]
        hull = pairs.hull([(form(e), form(d)) for e, d in stated])
        for eps in (Fraction(-1, 3), Fraction(1, 8), Fraction(5, 8), Fraction(2)):
            assert float(hull.profile(at(eps)).hi) >= both(eps)


@pytest.mark.parametrize("n", [3, 5, 6])
@pytest.mark.parametrize(
    ("k", "b", "order"), [(1, 1, "any"), (2, 1, "any"), (2, 2, "any"), (3, 2, "any"), (2, 2, "fixed"), (3, 1, "fixed")]
)
@pytest.mark.parametrize("strategy", ["toeplitz", "binary_tree", "prefix_sums"])
def test_the_worst_pattern_of_steps_is_that_of_all(strategy, k, b, order, n):
    c = [Fraction(1), Fraction(1, 2), Fraction(3, 8)]
    rows = {"toeplitz": [[c[i - j] if 0 <= i - j < 3 else 0 for j in range(n)] for i in range(n)],
            "prefix_sums": [[1 if j <= i else 0 for j in range(n)] for i in range(n)],
            "binary_tree": [[1 if start <= j < start + 2**level else 0 for j in range(n)] for level in range(n.bit_length())
                            for start in range(0, n - 2**level + 1, 2**level)]}[strategy]  # fmt: skip
    worst = 0
    for steps in (s for size in range(1, k + 1) for s in combinations(range(n), size)):
        gaps = [y - x for x, y in pairwise(steps)]
        if all(gap == b if order == "fixed" else gap >= b for gap in gaps):
            worst = max(worst, sum(sum(row[j] for j in steps) ** 2 for row in rows))
    m = {"strategy": strategy, "order": order, "coefficients": list(map(str, c))}
    low, high = (matrices.tree if strategy == "binary_tree" else matrices.toeplitz)(m, n, k, b)
    assert low <= worst <= high and (strategy == "binary_tree" or low == high)
    if strategy == "binary_tree":
        return
    m = {"strategy": "matrix", "order": order, "matrix": [list(map(str, row)) for row in rows]}
    assert matrices.listed(m, n, k, b) == (worst, worst)


def test_a_new_key_is_told_or_not():
    chance, eps = Fraction(1, 5), Fraction(1, 2)
    old = drawn_pair(random.Random(2), 3)
    told = [*((p * (1 - chance) ** 2, q) for p, q in old), (1 - (1 - chance) ** 2, Fraction(0))]
    pair = keys.new(finite(old), lambda: at(chance), 2)
    assert abs(near(pair.profile(at(eps))) - divergence(told, eps)) < 1e-12
    assert abs(near(pair.turned().profile(at(eps))) - divergence([(q, p) for p, q in told], eps)) < 1e-12


# -- measures -----------------------------------------------------------------------------------------------------------------


def test_divergences_are_sums_and_integrals():
    drawn = random.Random(17)
    for _ in range(10):
        atoms, a = drawn_pair(drawn, 3), Fraction(drawn.randint(5, 30), 4)
        told = math.log(sum(float(p) ** float(a) * float(q) ** (1 - float(a)) for p, q in atoms)) / (float(a) - 1)
        assert abs(near(al.evaluate(measures.divergence(finite(atoms), a), 200)) - told) < 1e-9
        rho = float(al.evaluate(measures.least_rho(finite(atoms)), 200).hi)
        assert rho >= max(near(al.evaluate(measures.value([finite(atoms)], "zcdp", None, "lower"), 200)), told / float(a)) - 1e-12
    p, q = (lambda x: math.exp(-abs(x)) / 2), (lambda x: math.exp(-abs(x - 2)) / 2)
    for a in (Fraction(3, 2), Fraction(2), Fraction(7)):
        steps = [(i + 0.5) / 500 - 20 for i in range(20_000)]
        told = math.log(sum(p(x) ** float(a) * q(x) ** (1 - float(a)) for x in steps) / 500) / (float(a) - 1)
        assert abs(near(al.evaluate(measures.divergence(pairs.laplace(form(2)), a), 200)) - told) < 1e-4


def test_a_finite_pair_has_the_mu_of_its_greatest_vertex():
    drawn = random.Random(19)
    phi = lambda x: math.erfc(-x / math.sqrt(2)) / 2  # noqa: E731
    for _ in range(5):
        atoms = drawn_pair(drawn, 3)
        ordered = sorted(atoms, key=lambda atom: -atom[0] / atom[1])
        worst = 0.0
        for i in (1, 2):
            p, q = (float(sum(atom[side] for atom in ordered[:i])) for side in (0, 1))
            low, high = -9.0, 9.0
            for _ in range(200):
                middle = (low + high) / 2
                low, high = (middle, high) if phi(quantile(q) + middle) < p else (low, middle)
            worst = max(worst, low)
        assert measures.beside(finite(atoms), form(Fraction(worst) + Fraction(1, 10**6))) == -1
        assert measures.beside(finite(atoms), form(Fraction(worst) - Fraction(1, 10**6))) == 1


def quantile(q):
    low, high = -9.0, 9.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erfc(-middle / math.sqrt(2)) / 2 < q else (low, middle)
    return low


@pytest.mark.parametrize(("power", "profile"), [(2, "exp(-r**2/2)"), (1, "exp(-r)")])
def test_an_integral_of_a_concave_exponent_lies_between_its_bounds(power, profile):
    field = al.Field({})
    m = {"kind": "radial", "profile": profile, "norm": {"kind": "lp", "p": "1", "matrix": []}, "dimension": "1", "scale": "3"}
    law = worst.Drawn(m, noise.Question(m, al.ONE, None, field))
    laplace = lambda x: math.exp(x / 3) / 2 if x < 0 else 1 - math.exp(-x / 3) / 2  # noqa: E731
    below = (lambda x: math.erfc(-x / 3 / math.sqrt(2)) / 2) if power == 2 else laplace
    density = (lambda x: math.exp(-x * x / 18)) if power == 2 else (lambda x: math.exp(-abs(x) / 3))
    told = sum(density(x) * below(x - 1) ** 4 for x in ((i + 0.5) / 200 - 60 for i in range(24_000))) / 200
    found = worst.integral(lambda t: law.density(t) + at(4) * law.below(t - at(1)), at(-60), at(60), 400)
    assert float(found.lo) <= told * (1 + 1e-6) and told <= float(found.hi) * (1 + 1e-6) and found.hi < found.lo * Decimal("1.01")


# -- whole certificates, changed with knowledge: each of these claims is false, or what it is about has no meaning --------------


def answer(data):
    return check.examine(data | {"claim_sha256": claim_hash(data["claim"])})


FALSE = [
    ("delta_gaussian.delta-exact", "101/100", "sensitivity"), ("delta_gaussian.delta-exact", "99/100", "epsilon"),
    ("delta_gaussian.delta-exact", "19/10", "mechanism", "scale"), ("delta_gaussian.delta-exact", "3/2", "mechanism", "dimension"),
    ("delta_gaussian.delta-exact", "exp(-r**2/2 + r)", "mechanism", "profile"), ("delta_gaussian.delta-exact", "-1", "epsilon"),
    ("delta_laplace.delta-exact", "exp(-2*r)", "mechanism", "profile"), ("delta_laplace.delta-exact", "2", "delta"),
    ("delta_discrete_gaussian.delta-just-above", "7248776/1000000000", "delta"),
    ("delta_discrete_gaussian.delta-just-above", "2", "sensitivity"),
    ("delta_discrete_gaussian.delta-just-above", "exp(-z**2/7)", "mechanism", "density"),
    ("compose_gaussian.delta-just-above", "10001", "mechanism", "parts", 0, "times"),
    ("compose_gaussian.delta-just-above", "0", "mechanism", "parts", 0, "times"),
    ("compose_tables.delta-just-above", ["1/5", "4/5"], "mechanism", "parts", 1, "mechanism", "rows", 1),
    ("compose_tables.delta-just-above", ["1/4", "4/5"], "mechanism", "parts", 1, "mechanism", "rows", 1),
    ("compose_laplace.delta-just-above", "101", "mechanism", "parts", 0, "times"),
    ("compose_subsampled_laplace.delta-above", "11/100", "mechanism", "parts", 0, "mechanism", "rate"),
    ("compose_subsampled_laplace.delta-above", "11/10", "mechanism", "parts", 0, "mechanism", "rate"),
    ("measure_laplace.zcdp-exact", "101/100", "sensitivity"), ("measure_laplace.gdp-just-above", "101/100", "sensitivity"),
    ("measure_laplace.zcdp-exact", "gdp", "measure", "name"), ("measure_laplace.zcdp-exact", "1", "delta"),
    ("measure_discrete_gaussian.at-order-2", "21/10", "measure", "at"), ("measure_discrete_gaussian.at-order-2", "3", "sensitivity"),
    ("measure_randomized_response.renyi-divergence-of-order-2-exact", "9/4", "measure", "at"),
    ("measure_parallel.the-greater-of-18-and-12", "replace", "adjacency"),
    ("keys_google_gaussian.as-published", "30", "mechanism", "threshold"),  # three new keys have 2.4e-5 together
    ("keys_google_gaussian.as-published", "4", "mechanism", "keys"),
    ("keys_google_laplace.as-published", "101/100", "sensitivity"), ("correlated_noise.epsilon-above", "2001", "sensitivity"),
    ("correlated_noise.mu-tight", "1", "mechanism", "separation"),
    ("correlated_noise.mu-tight", ["1", "1/2", "5/8", "5/16"], "mechanism", "coefficients"),
    ("filter.at-a-delta", [["101/100", "0"]], "mechanism", "rows"), ("filter_zcdp.the-budget", [["501/1000"]], "mechanism", "rows"),
    ("keys_google_gaussian.as-published", "replace", "adjacency"), ("correlated_noise.epsilon-above", "replace", "adjacency"),
    ("shuffle_few.holds", "add-remove", "adjacency"), ("measure_laplace.gdp-just-above", "2", "measure", "at"),
    ("delta_noisy_max_gaussian.a-hair-above", "value", "mechanism", "report"),
    ("sum_gaussians.exactly-110", "2", "mechanism", "dropouts"), ("sum_gaussians.exactly-110", "4", "mechanism", "dropouts"),
    ("one_sided_exponential_noise.one-sided-delta-just-above-1---exp-12", "one-sided", "query", "adjacency"),
]  # fmt: skip


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("name", "value", "path"), [(name, value, path) for name, value, *path in FALSE])
def test_a_claim_that_is_changed_to_a_false_one_is_not_accepted(name, value, path):
    data = copy.deepcopy(committed.certificate(name))
    assert answer(data).verdict == "PROVED"
    held = data["claim"]
    for step in path[:-1]:
        held = held[step]
    held[path[-1]] = value
    assert answer(data).kind != "decided"


BOUNDARY = ["delta_gaussian.delta-exact", "delta_laplace.delta-exact", "measure_laplace.zcdp-exact", "measure_gaussian_queries.gdp-exact",
            "measure_randomized_response.zcdp-exact", "measure_repeated_laplace.zcdp-exact"]  # fmt: skip


@pytest.mark.parametrize("name", BOUNDARY)
@pytest.mark.parametrize("part", [30, 60])
def test_next_to_the_exact_value_the_verdict_turns(name, part):
    data = copy.deepcopy(committed.certificate(name))
    field, hair = al.Field({}), Fraction(1, 10**part)
    measured = "measure" in data["claim"]
    held, key = (data["claim"]["measure"], "value") if measured else (data["claim"], "delta")
    value = al.evaluate(field.form(terms.parse(held[key])), 400)
    for sign, verdict in ((1, "PROVED"), (-1, "REFUTED")):
        held[key] = str(Fraction(value.lo) + sign * hair)
        assert answer(data | {"verdict": verdict}).verdict == verdict
        assert answer(data | {"verdict": {"PROVED": "REFUTED", "REFUTED": "PROVED"}[verdict]}).kind != "decided"


def test_a_claim_without_lines_about_it_is_not_decided():
    for name in ("delta_gaussian.delta-exact", "measure_laplace.zcdp-exact"):
        assert answer(copy.deepcopy(committed.certificate(name)) | {"lines": []}).kind == "undecided"


def test_from_below_the_greatest_of_several_pairs_is_no_pair_that_can_be_composed():
    data = copy.deepcopy(committed.certificate("parallel_histogram.delta-just-below"))
    assert answer(data).verdict == "REFUTED"
    part = {"mechanism": data["claim"]["mechanism"], "sensitivity": None, "query": None, "adjacency": "", "times": "2"}
    data["claim"] |= {"mechanism": {"kind": "compose", "parts": [part]}}
    assert answer(data).kind != "decided"


def test_real_histograms_do_not_move_answers_by_integers():
    data = copy.deepcopy(committed.certificate("delta_discrete_gaussian.delta-just-above"))
    data["claim"] |= {"sensitivity": None, "query": {"rows": [["1"]], "adjacency": "add-remove"}}
    assert answer(data).verdict == "PROVED"
    data["claim"]["query"]["adjacency"] = "l1"
    assert answer(data).kind != "decided"


@pytest.mark.wide
def test_of_samples_of_a_table_each_may_be_at_another_pair_of_inputs(monkeypatch):
    monkeypatch.setattr(curves, "PRECISIONS", (100,))
    rows = [["1/9", "4/9", "4/9"], ["2/3", "1/6", "1/6"], ["1/4", "1/2", "1/4"]]
    data = copy.deepcopy(committed.certificate("compose_sampled_responses.delta-tight"))
    sample = data["claim"]["mechanism"]["parts"][0]
    sample["times"], sample["mechanism"]["rate"] = "2", "1/2"
    sample["mechanism"]["part"]["mechanism"] = {"kind": "table", "rows": rows, "adjacent": [[0, 1], [1, 2]]}
    table = [list(map(Fraction, row)) for row in rows]
    laws = [[((p + q) / 2, q) for p, q in zip(table[a], table[b], strict=True)] for a, b in [(0, 1), (1, 0), (1, 2), (2, 1)]]
    both = [max(divergence(composed(two), 1), divergence([(q, p) for p, q in composed(two)], 1)) for two in product(laws, repeat=2)]
    same = max(both[::5])
    assert same < max(both) - 0.001
    data["claim"] |= {"epsilon": "1", "delta": str(Fraction((same + max(both)) / 2).limit_denominator(10**6))}
    assert answer(data | {"verdict": "PROVED"}).kind != "decided"
    data["claim"]["delta"] = str(Fraction(max(both) + 0.05).limit_denominator(10**6))
    assert answer(data | {"verdict": "PROVED"}).verdict == "PROVED"
