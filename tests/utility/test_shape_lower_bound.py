"""The least error in every measure (theory/necessary.md#shape-lower-bound), against linear programs of all noise on a lattice."""

from dataclasses import replace
from fractions import Fraction
from math import exp, expm1, sqrt

import numpy as np
import pytest
from flint import arb
from scipy.optimize import linprog
from scipy.sparse import lil_matrix

from dpverify.search.utility import necessary, one_line
from dpverify.search.verify import verify
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.fact import as_errors
from dpverify.trusted.kernel.model import L2, Claim, Measure, Query, Radial
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.theories.utility.one_line import capped

NAME = "shape-lower-bound"
MOVES = {"moves": [{"weight": "1", "by": {"0": "1"}}], "scale": [["1"]], "level": "1"}


def claim(rows=((1,),), adjacency="add-remove", **more):
    query = Query(tuple(tuple(map(Fraction, row)) for row in rows), adjacency)
    return Claim(Radial(parse("exp(-r**2/2)"), L2, num(len(rows))), None, query=query, utility=True, **more)


def said(asked, parameters, premises=()):
    fact = kernel.infer(Proof(asked), NAME, parameters, premises, 128)
    return {bound.measure: float(bound.value.value) for bound in as_errors(fact.says)}


def found(asked):
    with precision(128):
        (step,) = necessary.propose(Proof(asked), [], 10)
    assert step["rule"] == NAME
    return said(asked, step["evidence"], step["premises"])["rms_l2"] ** 2


def least_variance(epsilon, delta, offset, reach):
    """The least mean square of a law on offset + Z that keeps (epsilon, delta) with its own shift by 1, among those of so wide a reach."""
    n = 2 * reach + 1
    points, factor = np.arange(-reach, reach + 1) + offset, exp(epsilon)
    rows = lil_matrix((2 * (n + 1) + 2, n + 2 * (n + 1)))
    for i in range(n + 1):
        for side, (near, far) in enumerate(((i - 1, i), (i, i - 1))):
            row = side * (n + 1) + i
            if 0 <= near < n:
                rows[row, near] = 1
            if 0 <= far < n:
                rows[row, far] = -factor
            rows[row, n + row] = -1
    rows[2 * (n + 1), n : 2 * n + 1] = 1
    rows[2 * (n + 1) + 1, 2 * n + 1 :] = 1
    limits = np.zeros(2 * (n + 1) + 2)
    limits[-2:] = delta
    whole = np.zeros((1, rows.shape[1]))
    whole[0, :n] = 1
    costs = np.concatenate([points**2, np.zeros(2 * (n + 1))])
    return linprog(costs, A_ub=rows.tocsr(), b_ub=limits, A_eq=whole, b_eq=[1], method="highs").fun


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-2), (1, 0.3), (0.5, 0.1), (3, 1e-3), (0.05, 0.05)])
def test_with_a_delta_no_law_on_any_lattice_has_less_and_some_law_has_little_more(epsilon, delta):
    _, _, told = one_line.with_delta(epsilon, delta)
    laws = [least_variance(epsilon, delta, offset, int(40 / epsilon) + 5) for offset in np.linspace(0, 0.5, 6)]
    assert told <= min(laws) * (1 + 1e-6)
    assert told > min(laws) * 0.93


def test_as_delta_goes_to_0_the_bound_is_that_of_geometric_noise():
    for epsilon in ("1/10", "1", "4"):
        e = float(Fraction(epsilon))
        asked = replace(claim(), epsilon=parse(epsilon), delta=parse("1e-15"))
        assert found(asked) == pytest.approx(1 / (2 * np.sinh(e / 2) ** 2), rel=1e-6)


@pytest.mark.parametrize("reach", [Fraction(3, 10), Fraction(1), Fraction(7, 3), Fraction(6), Fraction(41, 2)])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_a_dual_function_that_is_accepted_is_one(reach, epsilon):
    """For each accepted pair of numbers the inequality of the proof holds on a fine grid; numbers beyond the greatest are refused."""
    accepted = 0
    for least in np.linspace(0.01, float(reach) ** 2 + 0.3, 60):
        number = Fraction(int(least * 2**20), 2**20)
        try:
            capped(arb(epsilon), arb("0.001"), reach, number, NAME)
        except Rejected:
            continue
        accepted += 1
        q, low = exp(-epsilon), float(number)
        cap = (float(reach) ** 2 - low) / (1 - q)

        def psi(u, q=q, low=low, cap=cap):
            if u <= 0.5:
                return 0.0
            total, power = 0.0, 1.0
            while u < float(reach):
                total, power, u = total + power * (u * u - low), power * q, u + 1
            return total + power * cap

        for u in np.linspace(-float(reach) - 2, float(reach) + 2, 801):
            assert 0 <= psi(u) <= cap + 1e-9
            assert u * u - low >= psi(u) - q * psi(u + 1) + psi(-u) - q * psi(1 - u) - 1e-9
    assert accepted > 0 or reach < 1


TENTH = Measure("zcdp", parse("1/10"))
ENTROPY = {"weight": "50", "least": "4997/1000", "parts": 26, "reach": 400}
MEASURES = [  # by chi square, by an order, and at most what Gaussian noise has
    (Measure("zcdp", parse("1/10")), 1 / expm1(0.2), "3/2", 3 / 8 / expm1(0.075) - 1 / 4, 5),
    (Measure("gdp", parse("1/2")), 1 / expm1(0.25), "3/2", 3 / 8 / expm1(0.09375) - 1 / 4, 4),
    (Measure("renyi", parse("1/10"), Fraction(2)), 1 / expm1(0.1), "3/2", 3 / 8 / expm1(0.05) - 1 / 4, 10),
    (Measure("renyi", parse("1/5"), Fraction(4)), 1 / expm1(0.2), "3", 3 / expm1(0.4) - 1 / 4, 10),
]


@pytest.mark.parametrize(("measure", "least", "order", "both", "most"), MEASURES, ids=lambda one: getattr(one, "name", ""))
def test_one_count_in_each_measure_and_a_histogram_and_close_ones(measure, least, order, both, most):
    asked = claim(measure=measure)
    assert said(asked, MOVES)["rms_l2"] ** 2 == pytest.approx(least, rel=1e-12)
    assert said(asked, {**MOVES, "order": order})["rms_l2"] ** 2 == pytest.approx(both, rel=1e-12)
    best = found(asked)
    assert max(least, both) * (1 - 1e-6) <= best < most and (measure.name == "renyi" or best > 0.999 * most)
    assert found(claim([[1, 0, 0], [0, 1, 0], [0, 0, 1]], measure=measure)) == pytest.approx(3 * best, rel=1e-6)
    assert found(claim([[3, 0], [1, 2]], "l2", measure=measure)) == pytest.approx(14 * best, rel=1e-6)
    assert found(claim([[1, 0], [1, 1]], measure=measure)) == pytest.approx((3 + sqrt(5)) / 2 * best, rel=1e-5)
    assert found(claim([[1, 0], [0, 1]], "replace", measure=measure)) == pytest.approx(2 * best, rel=1e-6)


def test_a_renyi_divergence_of_any_order_has_a_bound_that_gaussian_noise_comes_near():
    """Gaussian noise of the variance a/(2 eps) has the divergence eps at order a."""
    for order in (Fraction(101, 100), Fraction(5, 4), Fraction(3, 2)):
        bound = found(claim(measure=Measure("renyi", parse("1/100"), order)))
        assert 0.98 * float(order) * 50 < bound < float(order) * 50


@pytest.mark.parametrize(("size", "least"), [("1/10", 4.99805), ("1/2", 0.99166), ("1", 0.47946), ("3", 0.07902)])
def test_the_bound_by_entropy_is_that_of_the_convex_program_of_all_laws_on_the_integers(size, least):
    """The least variance with both divergences of order 1 at most so much, by cvxpy; laws on 1/4 + Z and 1/2 + Z have no less."""
    assert least * (1 - 3e-4) < found(claim(measure=Measure("zcdp", parse(size)))) < least + 1e-5


@pytest.mark.parametrize("order", [1, 1.1, 1.5, 2, 3])
def test_a_law_and_its_copy_moved_by_1_have_the_mean_square_that_both_orders_say(order):
    """Laws on u + Z, random ones and some like Gaussian ones, by their own divergences in both orders."""
    draw, near = np.random.default_rng(int(10 * order)), np.inf
    for trial in range(300 if order > 1 else 20):
        z = np.arange(-60, 61) + draw.choice([0, 0.5, draw.uniform()])
        rough = 1 if trial % 3 else np.exp(draw.normal(0, draw.uniform(0, 0.5), len(z)))
        p = np.exp(-np.abs(z / draw.uniform(0.5, 8)) ** draw.choice([1, 2])) * rough + 1e-300
        p /= p.sum()
        here, there = p[1:], p[:-1]
        with np.errstate(over="ignore"):
            ratio = np.log(here) - np.log(there)
            if order == 1:
                size = max((here * ratio).sum(), -(there * ratio).sum())
            else:
                size = np.log(max((here * np.exp((order - 1) * ratio)).sum(), (there * np.exp((1 - order) * ratio)).sum())) / (order - 1)
        if not 0 < size < 100:
            continue
        least = order * (order - 1) / (2 * expm1((order - 1) * size)) - 1 / 4 if order > 1 else one_line.by_entropy(float(size))[0]
        near = min(near, p @ z**2 / least) if least > 0 else near
        assert p @ z**2 >= least * (1 - 1e-9)
    assert near < 1.2  # some come near


def test_two_laws_of_little_chi_square_have_at_least_the_variance_that_is_said():
    """Over random laws: their own chi square with their shift by 1 says no more of their variance than they have."""
    draw = np.random.default_rng(7)
    for _ in range(300):
        p = draw.dirichlet(np.full(12, draw.uniform(0.2, 5))) + 1e-6
        p = np.convolve(p / p.sum(), np.array([0.5, 0.5]) if draw.random() < 0.5 else np.array([1.0]))
        z = np.arange(-30, 31)
        wide = 0.9 * np.interp(z, np.arange(len(p)) - len(p) // 2, p, left=0, right=0) + 0.1 * np.exp(-abs(z) / 4)
        wide /= wide.sum()
        chi = (wide[1:] ** 2 / wide[:-1]).sum() - 1
        variance = wide @ z**2 - (wide @ z) ** 2
        assert variance >= 1 / chi * (1 - 1e-2)


@pytest.mark.parametrize(
    ("asked", "parameters", "why"),
    [
        (claim(measure=Measure("renyi", ONE, Fraction(3, 2))), MOVES, "at least the order told, or 2"),
        (claim(measure=Measure("renyi", ONE, Fraction(3, 2))), {**MOVES, "order": "2"}, "at least the order told, or 2"),
        (claim(measure=Measure("zcdp", parse("1/10"))), {**MOVES, "order": "1"}, "not above 1"),
        (claim(measure=Measure("zcdp", parse("3"))), {**MOVES, "order": "3/2"}, "proves nothing above 0"),
        (claim(measure=TENTH), {**MOVES, **ENTROPY, "least": "4999/1000"}, "weight and least"),
        (claim(measure=TENTH), {**MOVES, **ENTROPY, "weight": "40"}, "weight and least"),
        (claim(measure=TENTH), {**MOVES, **ENTROPY, "parts": 4}, "weight and least"),
        (claim(measure=TENTH), {**MOVES, **ENTROPY, "reach": 30}, "not certainly above 0 where it ends"),
        (claim(measure=Measure("zcdp", parse("0.1001"))), {**MOVES, **ENTROPY}, "weight and least"),
        (claim(measure=Measure("zcdp", None)), MOVES, "states no number"),
        (claim(measure=Measure("zcdp", ZERO)), MOVES, "not certainly above 0"),
        (claim(measure=Measure("zcdp", ONE), order="one-sided"), MOVES, "both orders"),
        (replace(claim(), epsilon=ONE, delta=None), {**MOVES, "reach": "3", "least": "1"}, "states no number"),
        (replace(claim(), delta=parse("1e-6")), {**MOVES, "reach": "3", "least": "1"}, "states no number"),
        (replace(claim(), epsilon=ONE, delta=parse("1e-6")), {**MOVES, "reach": "6", "least": "2"}, "reach and least"),
        (claim(measure=Measure("zcdp", ONE)), {**MOVES, "scale": [["2"]]}, "not seen to be at most the identity"),
        (claim(measure=Measure("zcdp", ONE)), {**MOVES, "moves": [{"weight": "-1", "by": {"0": "1"}}]}, "below 0"),
        (claim(measure=Measure("zcdp", ONE)), {**MOVES, "moves": [{"weight": "1", "by": {"0": "2"}}]}, "no difference of neighbours"),
        (replace(claim(measure=Measure("zcdp", ONE)), query=None), MOVES, "states no query"),
    ],
)
def test_what_is_no_proof_is_refused(asked, parameters, why):
    with pytest.raises(Rejected, match=why):
        said(asked, parameters)


@pytest.mark.parametrize("changed", [{"parts": 27}, {"weight": "0"}, {"least": "-1"}, {"reach": 0}, {"parts": True}, {"reach": 10**9}])
def test_a_malformed_function_of_entropy_is_refused(changed):
    with pytest.raises(CertificateError):
        said(claim(measure=TENTH), {**MOVES, **ENTROPY, **changed})


def test_a_premise_about_another_measure_is_refused():
    with pytest.raises(CertificateError):
        said(claim(measure=Measure("zcdp", ONE)), {**MOVES}, [Proof(claim())])


def test_noise_of_a_claim_in_a_measure_is_compared_with_the_least():
    asked = replace(claim([[1, 0], [1, 1]], measure=Measure("zcdp", ONE)))
    judged = verify(asked, 9).judgement
    assert judged.verdict == "PROVED"
    errors = {(b.measure, b.whose, b.side): float(b.value.value) for _, b in judged.errors if b.whose == "any"}
    assert errors["rms_l2", "any", "lower"] == pytest.approx(sqrt((3 + sqrt(5)) / 2 * 0.47945), rel=1e-4)


def test_the_program_of_finite_losses_says_nothing_of_other_measures():
    """A pure epsilon of one mechanism is no bound on what others in the claimed measure may do."""
    proof = Proof(claim(measure=Measure("zcdp", ONE)))
    for name in ("lines-lower-bound", "lattice-lower-bound", "volume-lower-bound", "radial-lower-bound", "lp"):
        with pytest.raises((Rejected, CertificateError, KeyError, IndexError)):
            kernel.infer(proof, name, MOVES, (), 128)
