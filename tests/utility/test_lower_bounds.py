"""Lower bounds on the error of any private mechanism (theory/necessary.md)."""

from dataclasses import replace
from fractions import Fraction
from math import exp, factorial, gamma, inf, pi, sinh, sqrt

import numpy as np
import pytest
from flint import arb
from scipy.spatial import ConvexHull

from dpverify.project.designer.tuning import spread
from dpverify.search.utility import bodies, necessary
from dpverify.search.utility import errors as utility
from dpverify.search.utility import radial_lower_bound as necessary_radial
from dpverify.search.verify import verify
from dpverify.trusted.facts.errors import ErrorBound
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.bounds import INFINITE, Bound
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import Num, num, parse
from dpverify.trusted.kernel.fact import Fact, as_errors
from dpverify.trusted.kernel.model import L1, Claim, Domain, Product, Query, Radial
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.theories.utility.any_mechanism import over_shells
from dpverify.trusted.theories.utility.rules import lattice_lower_bound, radial_lower_bound
from tests.proofs import forged, line

LAPLACE = parse("exp(-abs(z))")
ADJACENCIES = ("add-remove", "replace", "l1", "l2")
EPSILONS = ("1/100", "1/3", "1", "3", "10")


def claim(rows, adjacency, epsilon="1", **more):
    rows = tuple(tuple(map(Fraction, row)) for row in rows)
    stated = None if epsilon is None else parse(epsilon)
    return Claim(Product(LAPLACE, num(len(rows))), stated, query=Query(rows, adjacency), utility=True, **more)


def said(claim, rule, parameters=None, premises=(), proof=None):
    """What a rule proves, as floats, by the measure."""
    fact = kernel.infer(proof or Proof(claim), rule, parameters or {}, premises, 128)
    return {bound.measure: float(bound.value.value) for bound in as_errors(fact.says)}


def least(claim):
    """The best lower bounds that are found, by the measure."""
    with precision(128):
        proof = Proof(claim)
        steps = necessary.propose(proof, [], 10)
    found = {}
    for step in steps:
        for measure, value in said(claim, step["rule"], step["evidence"], step["premises"], proof).items():
            found[measure] = max(value, found.get(measure, 0))
    return found


def identity(d):
    return [[int(i == j) for j in range(d)] for i in range(d)]


def matrices(count=4):
    """Queries of many shapes: few and many columns, deficient, one heavy row, fractions."""
    draw = np.random.default_rng(5)
    yield from (
        [[1]],
        identity(3),
        [[1, 2], [2, 4]],
        [[100, 0, 100], [1, 1, 0]],
        [[1, 0, "1/3"], [0, "1/7", 1]],
        [[1, 1, 0, 0], [0, 0, 1, 1]],
    )
    for _ in range(count):
        d, n = draw.integers(1, 4), draw.integers(1, 6)
        yield [[int(x) for x in row] for row in draw.integers(-3, 4, (d, n))]


MATRICES = [rows for rows in matrices() if any(map(any, rows))]

ONE = {"moves": [{"weight": "1", "by": {"0": "1"}}], "scale": [["1"]], "level": "1"}
"""The line of one count."""


# -- values that theory gives --------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_one_count_has_at_least_the_error_of_geometric_noise(epsilon):
    e = float(Fraction(epsilon))
    found = said(claim([[1]], "add-remove", epsilon), "lines-lower-bound", ONE)
    q = exp(-e)
    assert found["expected_l2"] == pytest.approx(2 * q / (1 - q * q), rel=1e-12)
    assert found["rms_l2"] == pytest.approx(sqrt(2 * q) / (1 - q), rel=1e-12)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_one_real_number_has_at_least_the_error_of_the_staircase(epsilon):
    e = float(Fraction(epsilon))
    found = said(claim([[1]], "l1", epsilon), "lines-lower-bound", ONE)
    assert found["expected_l2"] == pytest.approx(exp(e / 2) / (exp(e) - 1), rel=1e-12)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_one_real_number_has_at_least_the_variance_of_the_best_staircase(epsilon):
    b = exp(-float(Fraction(epsilon)))
    variance = (2 ** (-2 / 3) * b ** (2 / 3) * (1 + b) ** (2 / 3) + b) / (1 - b) ** 2  # Geng & Viswanath 2016
    assert least(claim([[1]], "l1", epsilon))["rms_l2"] == pytest.approx(sqrt(variance), rel=1e-7)


@pytest.mark.parametrize(
    ("plateau", "fine"), [("0", False), ("1", False), ("-1/2", False), ("2", False), ("4167/10000", True), ("4168/10000", False)]
)
def test_a_plateau_that_is_too_wide_is_refused(plateau, fine):
    asked, parameters = claim([[1]], "l1", "1"), {**ONE, "plateau": plateau}
    if fine:
        assert said(asked, "lines-lower-bound", parameters)["rms_l2"] < sqrt(1.9181)  # the best reaches to 0.41674
    else:
        refused(asked, "lines-lower-bound", parameters, "reaches farther than what is outside it can fill")


def test_a_plateau_says_nothing_of_counts():
    counted = [said(claim([[1]], "add-remove"), "lines-lower-bound", {**ONE, **more})["rms_l2"] for more in ({}, {"plateau": "1/3"})]
    assert counted[0] == counted[1]


@pytest.mark.parametrize("d", [1, 2, 5, 20])
def test_nothing_has_a_smaller_mean_square_on_a_histogram_than_geometric_noise(d):
    q = exp(-0.5)
    assert least(claim(identity(d), "add-remove", "1/2"))["rms_l2"] == pytest.approx(sqrt(2 * d * q) / (1 - q), rel=1e-9)


@pytest.mark.parametrize("q", [0.999, 0.7, 0.1, 1e-4])
def test_the_functions_of_the_proof_for_one_line_stay_below_what_they_bound(q):
    slope, level = 1 / (1 - q), -q / (1 - q * q)
    a, b, c = 1 / (1 - q), 2 * q / (1 - q) ** 2, -q / (1 - q) ** 2
    cases = (
        (abs, lambda u: (slope * u + level) * (u > 0.5), 2 * q / (1 - q * q)),
        (lambda u: u * u, lambda u: (a * u * u + b * u + c) * (u > 0.5), 2 * q / (1 - q) ** 2),
    )
    for loss, psi, bound in cases:
        for u in [*np.linspace(-4, 4, 1601), 0.5, -0.5]:
            assert psi(u) >= 0
            right = psi(u) - q * psi(u + 1) + psi(-u) - q * psi(1 - u)
            assert loss(u) - bound >= right - 1e-9 * (1 + bound)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_one_count_on_the_lattice_comes_to_two_over_e_to_the_epsilon_plus_one(epsilon):
    e = float(Fraction(epsilon))
    reach = {"1/100": 4000, "1/3": 120}.get(epsilon, 60)
    found = said(claim([[1]], "add-remove", epsilon), "lattice-lower-bound", {"reach": reach, "radius": "1", "basis": [["1"]]})
    assert found["expected_l2"] == pytest.approx(2 / (exp(e) + 1), rel=1e-9)


def test_what_is_known_of_the_lattice_at_epsilon_10():
    wanted = {"lattice-lower-bound": 9.07957e-5, "lines-lower-bound": 9.07999e-5}
    given = {"lattice-lower-bound": {"reach": 20, "radius": "1", "basis": [["1"]]}, "lines-lower-bound": ONE}
    for rule, value in wanted.items():
        assert said(claim([[1]], "add-remove", "10"), rule, given[rule])["expected_l2"] == pytest.approx(value, rel=1e-5)


def body(claim, axes=None):
    proof = Proof(claim)
    with precision(128):
        return proof, bodies.fact(proof, "query", axes)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_one_real_number_by_its_length(epsilon):
    proof, length = body(claim([[1]], "l1", epsilon))
    e = float(Fraction(epsilon))
    found = said(proof.claim, "volume-lower-bound", {}, [length], proof)
    assert found["expected_l2"] == pytest.approx(1 / (2 * (exp(e) - 1)), rel=1e-12)
    assert found["rms_l2"] == pytest.approx(1 / (exp(e) - 1) / sqrt(3), rel=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3, 7])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 6.0])
def test_the_weights_of_the_volume_are_the_sum_over_shells(k, epsilon):
    series = sum(exp(-epsilon * j) * (j**k - (j - 1) ** k) for j in range(1, 4000))
    assert float(over_shells(arb(epsilon), k)) == pytest.approx(series, rel=1e-12)


def test_the_volume_of_a_cube_comes_to_the_metric_form_for_small_epsilon():
    corners = [[1, 1, 1, 1], [1, 1, -1, -1], [1, -1, 1, -1]]
    proof, cube = body(claim(corners, "l1", "1/1000"))
    found = said(proof.claim, "volume-lower-bound", {}, [cube], proof)["expected_l2"]
    metric = 3 / 4 * (factorial(3) * 8 / (4 / 3 * pi)) ** (1 / 3) * 1000
    assert found < metric
    assert found == pytest.approx(metric, rel=1e-3)


def test_projections_of_a_body_bound_the_error_too():
    rows = [[100, 0], [0, 1]]
    proof, whole = body(claim(rows, "l1", "3"))
    _, part = body(proof.claim, ((Fraction(1), Fraction(0)),))
    wide = said(proof.claim, "volume-lower-bound", {}, [whole], proof)["expected_l2"]
    narrow = said(proof.claim, "volume-lower-bound", {}, [part], proof)["expected_l2"]
    assert narrow == pytest.approx(100 / (2 * (exp(3) - 1)), rel=1e-9)
    assert wide != narrow
    _, tilted = body(proof.claim, ((Fraction(3), Fraction(0)),))  # the length of an axis means nothing
    assert said(proof.claim, "volume-lower-bound", {}, [tilted], proof)["expected_l2"] == pytest.approx(narrow, rel=1e-12)


def test_an_atom_makes_the_volume_bound_fall_as_the_staircase_does():
    proof, length = body(claim([[1]], "l1", "20"))
    plain = said(proof.claim, "volume-lower-bound", {}, [length], proof)["expected_l2"]
    inner, radius = Fraction(1, 2), Fraction(exp(-10) / sqrt(2))
    atom = said(proof.claim, "volume-lower-bound", {"inner": str(inner), "radius": str(radius)}, [length], proof)["expected_l2"]
    assert atom > 1000 * plain
    assert atom <= exp(10) / (exp(20) - 1)


# -- no mechanism has less ------------------------------------------------------------------------


def columns(rows, adjacency):
    """The differences of answers on neighbours, at their longest."""
    f = np.array([[float(Fraction(x)) for x in row] for row in rows]).T
    return np.array([a - b for a in f for b in f]) if adjacency == "replace" else f


def laplace(rows, adjacency, e):
    """Of independent Laplace noise: the root mean square, which the mean length is at most."""
    moved = columns(rows, adjacency)
    size = np.abs(moved).sum(axis=1).max()
    if adjacency == "l2":  # the longest l1 norm of F v is that of a signed sum of rows
        size = max(np.linalg.norm(moved @ (2 * np.array(signs) - 1)) for signs in np.ndindex(*(2,) * len(rows)))
    return sqrt(2 * len(rows)) * size / e


def geometric(rows, adjacency, e):
    """Of independent geometric noise on the integers, where answers are integers: the root mean square."""
    if adjacency not in ("add-remove", "replace") or any(isinstance(x, str) for row in rows for x in row):
        return inf
    q = exp(-e / np.abs(columns(rows, adjacency)).sum(axis=1).max())
    return sqrt(2 * len(rows) * q) / (1 - q)


def k_norm(asked, e):
    """Of the K-norm mechanism, where K has an interior: the root mean square."""
    _, hull = body(asked)
    if hull is None or hull.says.second is None:
        return inf
    d = len(asked.query.rows)
    with precision(64):
        return sqrt((d + 1) * (d + 2) * sum(float(constant(hull.says.second[i][i])) for i in range(d))) / e


@pytest.mark.sampled(20)
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("epsilon", ["1/100", "5"])
@pytest.mark.parametrize("rows", MATRICES, ids=str)
def test_no_bound_is_above_the_error_of_a_mechanism(rows, adjacency, epsilon):
    if not columns(rows, adjacency).any():
        return
    asked, e = claim(rows, adjacency, epsilon), float(Fraction(epsilon))
    achieved = min(laplace(rows, adjacency, e), geometric(rows, adjacency, e), k_norm(asked, e))
    found = least(asked)
    assert found.keys() == {"expected_l2", "rms_l2"}
    assert 0 < found["expected_l2"] <= found["rms_l2"] <= achieved * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_bound_for_one_real_number_is_above_the_staircase(epsilon):
    e = float(Fraction(epsilon))
    b = exp(-e)
    found = least(claim([[1]], "l1", epsilon))
    assert found["expected_l2"] <= exp(e / 2) / (exp(e) - 1) * (1 + 1e-9)
    variance = (2 ** (-2 / 3) * b ** (2 / 3) * (1 + b) ** (2 / 3) + b) / (1 - b) ** 2
    assert found["rms_l2"] <= sqrt(variance) * (1 + 1e-9)


def stairs(k, second, e):
    """The root mean square of noise with the density e^(-e j) where ||z||_K is in [j - 1 + g, j + g), at the best of some g.

    It is e-DP for answers at most 1 apart in the norm of K. second: the mean of the squared length of a uniform point of K.
    """
    steps = np.arange(0, 400)
    weights = np.exp(-e * steps)
    least = inf
    for g in np.linspace(0.01, 1, 100):
        ends = np.concatenate(([0.0], steps + g))
        mass = (weights * np.diff(ends**k)).sum() / k
        least = min(least, (weights * np.diff(ends ** (k + 2))).sum() / (k + 2) / mass)
    return sqrt(least * second * (k + 2) / k)


@pytest.mark.parametrize("epsilon", ["1", "4", "10"])
@pytest.mark.parametrize("rows", [identity(1), identity(2), identity(3), [[1, 1, 1, 1], [1, 1, -1, -1], [1, -1, 1, -1]]], ids=str)
def test_no_bound_for_real_histograms_is_above_the_stairs_of_the_body(rows, epsilon):
    asked = claim(rows, "l1", epsilon)
    _, hull = body(asked)
    with precision(64):
        second = sum(float(constant(hull.says.second[i][i])) for i in range(len(rows)))
    achieved = stairs(len(rows), second, float(Fraction(epsilon)))
    found = least(asked)
    assert found["expected_l2"] <= found["rms_l2"] <= achieved
    assert found["rms_l2"] > achieved / 5


@pytest.mark.sampled(5)
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_bound_under_l2_is_above_the_mechanism_of_the_ball(d, epsilon):
    e = float(Fraction(epsilon))
    found = least(claim(identity(d), "l2", epsilon))
    assert found["expected_l2"] <= d / e and found["rms_l2"] <= sqrt(d * (d + 1)) / e
    assert found["expected_l2"] >= d / e / 2.8 or e > 1  # within e of it


@pytest.mark.parametrize(
    ("adjacency", "epsilon", "rule"), [("add-remove", "1", "lines"), ("l2", "20", "volume"), ("add-remove", "8", "lattice")]
)
def test_of_several_rules_the_best_bound_is_found(adjacency, epsilon, rule):
    with precision(128):
        found = necessary.propose(Proof(claim(identity(3), adjacency, epsilon)), [], 10)
    assert found[0]["rule"] == f"{rule}-lower-bound"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("d", [1, 2, 3, 10])
def test_under_l2_and_small_epsilon_nothing_beats_noise_that_is_alike_all_round(d):
    found = least(claim(identity(d), "l2", "1/100"))
    assert found["expected_l2"] == pytest.approx(100 * d, rel=1e-4) and found["expected_l2"] <= 100 * d
    assert found["rms_l2"] == pytest.approx(100 * sqrt(d * (d + 1)), rel=1e-4) and found["rms_l2"] <= 100 * sqrt(d * (d + 1))


def staircases(k, power, e):
    """The mean of ||Z||^power under the density e^(-e j) where ||z|| is in [j - 1 + g, j + g), the least over g."""
    steps, least = np.arange(0, 800), inf
    weights = np.exp(-e * steps)
    for g in np.linspace(0.002, 1, 500):
        ends = np.concatenate(([0.0], steps + g))
        least = min(least, k / (k + power) * (weights * np.diff(ends ** (k + power))).sum() / (weights * np.diff(ends**k)).sum())
    return least


@pytest.mark.parametrize(("k", "power", "factor"), [(1, 1, "1/2"), (2, 1, "19/10"), (3, 2, "10"), (3, 2, "9"), (2, 1, "2"), (4, 2, "61/2")])
def test_the_integral_of_the_radial_bound_is_that_of_its_definition(k, power, factor):
    t, q, places = float(Fraction(factor)), exp(-1), (np.arange(20_000) + 0.5) / 20_000
    shells = sum(q**j * (places + j) ** (k - 1) * ((places + j) ** power - t) for j in range(200))
    n = next(n for n in range(100) if n**power >= t)
    weights = np.where((places + n - 1) ** power < t, 1, q)
    wanted = (weights * np.minimum(shells, q * shells)).mean()
    with precision(128):
        found = [float(radial_lower_bound.integral(arb(1), k, power, Fraction(factor), cells)) for cells in (2, 10, 3000)]
    assert found[0] < found[1] < found[2] <= wanted + 1e-6
    assert found[2] == pytest.approx(wanted, rel=0.01, abs=0.01)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("e", [0.1, 1.0, 8.0])
def test_the_radial_bound_is_below_the_stairs_all_round(k, e):
    with precision(128):
        for power in (1, 2):
            factor = necessary_radial._factor(arb(e), k, power)
            assert factor <= staircases(k, power, e) * (1 + 1e-9)
            assert factor >= 0.6 * staircases(k, power, e) or e > 1


def test_the_radial_bound_sees_the_directions_in_which_answers_move_most():
    rows = [[100, 0, 0], [0, 100, 0], [0, 0, 1]]
    (step, *_) = necessary.propose(Proof(claim(rows, "l2", "1/10")), [], 10)
    assert step["rule"] == "radial-lower-bound" and len(step["evidence"]["axes"]) == 2
    assert least(claim(rows, "l2", "1/10"))["expected_l2"] == pytest.approx(2000, rel=0.01)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"radius": "1001/1000"}, "do not hold it"),
        ({"radius": "0"}, "do not hold it"),
        ({"radius": "-1"}, "do not hold it"),
        ({"axes": [["1", "0"], ["2", "0"]]}, "not independent"),
        ({"axes": [["1"]]}, "list of rows of 2 rationals"),
        ({"axes": [["1", "0"], ["1"]]}, "list of rows of 2 rationals"),
        ({"axes": []}, "list of rows of 2 rationals"),
        ({"mean": "2"}, "not seen to be at least 0 for t = 2"),
        ({"square": "6"}, "not seen to be at least 0 for t = 6"),
        ({"mean": "0"}, "t is not above 0"),
        ({"square": "-1"}, "t is not above 0"),
        ({"cells": 0}, "number from 1 to 20000"),
        ({"cells": 20001}, "number from 1 to 20000"),
        ({"cells": True}, "number from 1 to 20000"),
    ],
)
def test_a_radial_bound_that_does_not_hold_is_refused(change, why):
    asked = claim([[1, 0, 0], [0, 1, 0]], "l2")
    good = {"axes": [["1", "0"], ["0", "1"]], "radius": "1", "mean": "19/10", "square": "58/10", "cells": 200}
    found = said(asked, "radial-lower-bound", good)
    assert found == {"expected_l2": pytest.approx(1.9), "rms_l2": pytest.approx(sqrt(5.8))}
    refused(asked, "radial-lower-bound", {**good, **change}, why)


def test_the_length_of_an_axis_means_nothing_to_a_radial_bound():
    good = {"axes": [["3", "0"]], "radius": "2", "mean": "9/10", "square": "1", "cells": 200}
    assert said(claim([[2, 0], [0, 1]], "l2"), "radial-lower-bound", good) == {
        "expected_l2": pytest.approx(1.8),
        "rms_l2": pytest.approx(2),
    }
    refused(claim([[2, 0], [0, 1]], "l2"), "radial-lower-bound", {**good, "radius": "21/10"}, "do not hold it")
    refused(claim([[2, 0], [0, 1]], "l2"), "radial-lower-bound", {**good, "axes": [["0", "3"]]}, "do not hold it")


# -- evidence that does not hold -------------------------------------------------------------------


def refused(claim, rule, parameters, why, premises=()):
    with pytest.raises((Rejected, CertificateError), match=why):
        kernel.infer(Proof(claim), rule, parameters, premises, 128)


PLANE = {"moves": [{"weight": "1/2", "by": {"0": "1"}}, {"weight": "1/2", "by": {"1": "1"}}], "scale": [["7/5", "0"], ["0", "7/5"]]}
"""Of two counts: H = 1.4 I is a little less than sqrt(2) I."""


def plane(level="49/50", **change):
    return {**PLANE, "level": level, **change}


def test_two_counts_by_hand():
    assert said(claim(identity(2), "add-remove"), "lines-lower-bound", plane())["expected_l2"] == pytest.approx(1.4 / sinh(1))


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        (plane(scale=[["3/2", "0"], ["0", "3/2"]]), "not seen to be at most the identity"),
        (plane(level="9/8", scale=[["3/2", "0"], ["0", "3/2"]]), "not seen to be at most the identity"),
        (plane(level="0"), "not seen to be at most the identity"),
        (plane(scale=[["7/5", "1"], ["0", "7/5"]]), "not symmetric"),
        (plane(scale=[["7/5"]]), "list of rows of 2 rationals"),
        (plane(moves=[{"weight": "3/4", "by": {"0": "1"}}, {"weight": "1/2", "by": {"1": "1"}}]), "sum is above 1"),
        (plane(moves=[{"weight": "-1/2", "by": {"0": "1"}}, {"weight": "1", "by": {"1": "1"}}]), "below 0"),
        (plane(moves=[{"weight": "1/2", "by": {"0": "2"}}]), "no difference of neighbours under add-remove"),
        (plane(moves=[{"weight": "1/2", "by": {"0": "1", "1": "-1"}}]), "no difference of neighbours under add-remove"),
        (plane(moves=[{"weight": "1/2", "by": {"2": "1"}}]), "2 record types, counted from 0"),
        (plane(moves=[{"weight": "1/2", "by": {"-1": "1"}}]), "2 record types, counted from 0"),
        (plane(moves=[]), "cannot be used|has not the form"),
        (plane(moves="all"), "cannot be used|has not the form"),
    ],
)
def test_lines_that_do_not_hold_are_refused(parameters, why):
    refused(claim(identity(2), "add-remove"), "lines-lower-bound", parameters, why)


@pytest.mark.parametrize(
    ("adjacency", "by", "fine"),
    [
        ("replace", {"0": "1", "1": "-1"}, True), ("replace", {"0": "1"}, False), ("replace", {"0": "1", "1": "1"}, False),
        ("l1", {"0": "1/2", "1": "-1/2"}, True), ("l1", {"0": "1/2", "1": "2/3"}, False),
        ("l2", {"0": "3/5", "1": "4/5"}, True), ("l2", {"0": "3/5", "1": "5/6"}, False),
    ],
)  # fmt: skip
def test_a_line_goes_along_a_difference_of_neighbours(adjacency, by, fine):
    asked = claim(identity(2), adjacency)
    parameters = {"moves": [{"weight": "1/2", "by": by}], "scale": [["1/2", "0"], ["0", "1/2"]], "level": "1/2"}
    if fine:
        assert said(asked, "lines-lower-bound", parameters)["expected_l2"] > 0
    else:
        refused(asked, "lines-lower-bound", parameters, f"no difference of neighbours under {adjacency}")


LATTICE = {"reach": 5, "radius": "1/2", "basis": [["1", "0"], ["0", "1"]]}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"basis": [["2", "0"], ["0", "1"]]}, "no integer combination"),
        ({"basis": [["1", "0"]]}, "no integer combination"),
        ({"basis": [["1", "0"], ["2", "0"]]}, "not independent"),
        ({"basis": [["1"]]}, "list of rows of 2 rationals"),
        ({"radius": "0"}, "radius is not above 0"),
        ({"radius": "-1"}, "radius is not above 0"),
        ({"radius": "100"}, "not certainly above 0"),
        ({"reach": 0}, "no number of steps"),
        ({"reach": True}, "no number of steps"),
        ({"reach": "5"}, "no number of steps"),
        ({"inner": "0"}, "does not count by itself"),
        ({"inner": "501/1000"}, "does not count by itself"),
    ],
)
def test_lattices_that_do_not_hold_are_refused(change, why):
    refused(claim(identity(2), "add-remove", "3"), "lattice-lower-bound", {**LATTICE, **change}, why)


def test_no_more_answers_are_gone_through_than_a_limit(monkeypatch):
    monkeypatch.setattr(lattice_lower_bound, "MOST_STEPS", 1000)
    refused(claim(identity(2), "add-remove", "3"), "lattice-lower-bound", {**LATTICE, "reach": 200}, "more than 1000 steps")


def test_answers_of_distinct_steps_are_told_apart():
    steps = ((Fraction(1), Fraction(2)), (Fraction(3), Fraction(-1)), (Fraction(1, 2), Fraction(0)))
    seen, last = {(0, 0)}, {(0, 0)}
    for size in lattice_lower_bound.layers(steps, 5):
        last = {(a + s * x, b + s * y) for a, b in last for x, y in steps for s in (1, -1)} - seen
        seen |= last
        assert size == len(last)


@pytest.mark.parametrize("radius", ["1", "2", "7/2"])
def test_no_place_is_nearer_to_many_answers_than_the_rule_says(radius):
    r = float(Fraction(radius))
    for basis in ([[1, 0], [0, 1]], [[2, 1], [-1, 1]], [[3, 0], [1, 1]], [[2]]):
        rows = np.array(basis, float)
        with precision(128):
            linear, square = map(float, lattice_lower_bound._crowd(Fraction(radius), tuple(tuple(map(Fraction, row)) for row in basis)))
        grid = np.stack(np.meshgrid(*[np.arange(-12, 13)] * len(rows)), -1).reshape(-1, len(rows)) @ rows
        for share in [*np.random.default_rng(1).uniform(0, 1, (200, len(rows))), np.zeros(len(rows)), np.full(len(rows), 0.5)]:
            apart = np.linalg.norm(share @ rows - grid, axis=1)
            assert np.maximum(r - apart, 0).sum() <= linear * (1 + 1e-12)
            assert np.maximum(r * r - apart**2, 0).sum() <= square * (1 + 1e-12)


def test_far_out_the_answers_near_a_place_are_about_as_many_as_their_cells_fill():
    with precision(128):
        linear, square = map(float, lattice_lower_bound._crowd(Fraction(200), ((Fraction(2), Fraction(1)), (Fraction(-1), Fraction(1)))))
    # the integrals of (R - |a|)_+ and of (R^2 - |a|^2)_+ over the plane, over the area 3 of a cell
    assert pi * 200**3 / 9 <= linear <= 1.05 * pi * 200**3 / 9
    assert pi * 200**4 / 6 <= square <= 1.05 * pi * 200**4 / 6


RULES = ("lines-lower-bound", "volume-lower-bound", "lattice-lower-bound", "radial-lower-bound")


ROUND = {"axes": [["1"]], "radius": "1", "mean": "1/1000", "square": "1/1000", "cells": 50}


def used(rule, asked):
    """A use of the rule that holds of one count or one real number, if the claim is fit for it."""
    other = {"lines-lower-bound": ONE, "lattice-lower-bound": {"reach": 9, "radius": "1", "basis": [["1"]]}, "radial-lower-bound": ROUND}
    proof, length = body(asked)
    return proof, other.get(rule, {}), () if rule in other else (length,)


def fit(rule):
    return {"volume-lower-bound": "l1", "radial-lower-bound": "l2"}.get(rule, "add-remove")


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"delta": parse("1/1000")}, "pure privacy, delta = 0"),
        ({"delta": None}, "pure privacy, delta = 0"),
        ({"epsilon": "0"}, "not certainly above 0"),
        ({"epsilon": "-1"}, "not certainly above 0"),
        ({"epsilon": None}, "no premise bounds it from above"),
    ],
)
def test_a_guarantee_of_another_form_is_refused(rule, change, why):
    proof, parameters, premises = used(rule, claim([[1]], fit(rule), **{"epsilon": "1/9", **change}))
    with pytest.raises((Rejected, CertificateError), match=why):
        kernel.infer(proof, rule, parameters, premises, 128)


@pytest.mark.parametrize("rule", RULES)
def test_a_bound_is_refused_for_other_neighbours_and_without_a_query(rule):
    wrong = "add-remove" if fit(rule) != "add-remove" else "l1"
    if rule != "lines-lower-bound":
        proof, parameters, premises = used(rule, claim([[1]], wrong))
        with pytest.raises(Rejected, match=f"its adjacency is {wrong}"):
            kernel.infer(proof, rule, parameters, premises, 128)
    refused(Claim(Product(LAPLACE, num(1)), num(1), sensitivity=num(1), utility=True), rule, {}, "states no query")


def test_a_bound_by_volume_rests_on_the_body_of_the_querys_differences():
    asked = Claim(Radial(parse("exp(-r)"), L1, num(1)), num(3), query=Query(((Fraction(1),),), "l1"), utility=True)
    proof, rule = Proof(asked), "volume-lower-bound"
    with precision(128):
        norm, query = bodies.fact(proof, "norm"), bodies.fact(proof, "query")
    assert said(asked, rule, {}, [query], proof)["expected_l2"] > 0
    wrong = (
        ((), "cannot be used|has not the form"),
        ((norm,), "not about the body that it stands for"),
        ((query, query), "no premise is to bound it"),
    )
    for premises, why in wrong:
        with pytest.raises(CertificateError, match=why):
            kernel.infer(proof, rule, {}, premises, 128)


@pytest.mark.parametrize(("inner", "radius"), [("0", "1/2"), ("1/2", "0"), ("3", "3"), ("-1", "1/2")])
def test_radii_of_an_atom_that_leave_nothing_are_refused(inner, radius):
    proof, length = body(claim([[1]], "l1", "3"))
    with pytest.raises(Rejected, match="leave nothing outside"):
        kernel.infer(proof, "volume-lower-bound", {"inner": inner, "radius": radius}, [length], 128)


def test_a_forged_line_is_refused_by_the_kernel():
    asked = claim([[1]], "add-remove", "2")
    good = line("lines-lower-bound", ONE)
    too_much = line("lines-lower-bound", {**ONE, "scale": [["2"]]})
    assert kernel.check(forged(asked, "UNKNOWN", good)).errors[0][0] == "lines-lower-bound"
    with pytest.raises(Rejected):
        kernel.check(forged(asked, "UNKNOWN", too_much))


# -- the tight epsilon, and the kernel's comparison --------------------------------------------------


def test_for_a_tight_epsilon_the_bound_is_at_what_is_proved_of_it():
    verified = verify(claim([[1]], "add-remove", None), 20)
    (rule, bound), *_ = verified.judgement.errors
    assert rule == "lines-lower-bound" and "the sampler is ideal" in bound.assumed
    assert float(bound.value.value) == pytest.approx(1 / sinh(1), rel=1e-9)
    assert kernel.check(verified.certificate).errors == verified.judgement.errors


@pytest.mark.parametrize(
    "bound",
    [
        Bound("lower", num(1)),
        Bound("upper", num(1), quantity="delta"),
        Bound("upper", num(1), quantity="epsilon"),
        Bound("upper", num(1), at={"b": num(1)}),
        Bound("upper", parse("b")),
        Bound("upper", INFINITE),
    ],
    ids=["from below", "on delta", "at a delta", "at a parameter", "of a parameter", "infinite"],
)
def test_only_a_number_that_bounds_the_pure_epsilon_from_above_is_a_premise(bound):
    asked = claim([[1]], "add-remove", None)
    fact = Fact("product-lipschitz", asked, (bound,), (), (), {}, (), 128)
    with pytest.raises(Rejected, match="no premise bounds it from above"):
        kernel.infer(Proof(asked), "lines-lower-bound", ONE, [fact], 128)


def test_a_bound_on_the_epsilon_of_another_claim_is_no_premise():
    asked = claim([[1]], "add-remove", None)
    fact = Fact("product-lipschitz", claim([[2]], "add-remove", None), (Bound("upper", num(1)),), (), (), {}, (), 128)
    with pytest.raises(Rejected, match="no premise bounds it from above"):
        kernel.infer(Proof(asked), "lines-lower-bound", ONE, [fact], 128)
    own = Fact("product-lipschitz", asked, (Bound("upper", num(2), assumed=("of this",)),), ("always",), (), {}, (), 128)
    (bound, _) = as_errors(kernel.infer(Proof(asked), "lines-lower-bound", ONE, [own], 128).says)
    assert float(bound.value.value) == pytest.approx(1 / sinh(2)) and bound.assumed[-2:] == ("always", "of this")


def test_a_premise_about_a_claimed_epsilon_is_refused():
    asked = claim([[1]], "add-remove", "2")
    fact = Fact("product-lipschitz", asked, (Bound("upper", num(1)),), (), (), {}, (), 128)
    with pytest.raises(CertificateError, match="no premise is to bound it"):
        kernel.infer(Proof(asked), "lines-lower-bound", ONE, [fact], 128)


def test_answers_that_never_differ_have_no_lattice():
    refused(claim([[0]], "add-remove"), "lattice-lower-bound", {"reach": 3, "radius": "1", "basis": [["1"]]}, "all answers are equal")


def test_a_radius_that_reaches_over_too_many_answers_is_refused(monkeypatch):
    monkeypatch.setattr(lattice_lower_bound, "MOST_STEPS", 100)
    refused(
        claim([[1]], "add-remove", "3"), "lattice-lower-bound", {"reach": 3, "radius": "101", "basis": [["1"]]}, "over too many answers"
    )


@pytest.mark.parametrize("rule", RULES)
def test_a_bound_for_any_mechanism_says_which_histograms_there_are(rule):
    proof, parameters, premises = used(rule, claim([[1]], fit(rule), "1/9"))
    for bound in as_errors(kernel.infer(proof, rule, parameters, premises, 128).says):
        real = ("histograms are real-valued",) if fit(rule) in ("l1", "l2") else ()
        assert bound.assumed == (*real, "histograms of every size are among the data")


def judged(verdict, *errors):
    """The kernel's judgement of facts as if rules had proved them."""
    asked = claim([[1]], "add-remove", "1")
    value = {"PROVED": Bound("upper", num(1)), "REFUTED": Bound("lower", num(2))}[verdict]
    facts = [Fact("product-lipschitz", asked, (value,), (), (), {}, (), 128)]
    facts += [Fact("lines-lower-bound", asked, (error,), (), (), {}, (), 128) for error in errors]
    return kernel.judge(asked, facts)


NECESSARY = ErrorBound("expected_l2", "any", "lower", Num(Fraction(1, 2)))


def test_an_error_below_the_least_of_any_mechanism_is_a_contradiction():
    low = ErrorBound("expected_l2", "this", "upper", Num(Fraction(49, 100)))
    with pytest.raises(RuntimeError, match="contradict each other: an error is below"):
        judged("PROVED", NECESSARY, low)
    assert judged("REFUTED", NECESSARY, low).verdict == "REFUTED"  # it is not as private as the others
    for fine in (
        ErrorBound("expected_l2", "this", "upper", Num(Fraction(1, 2))),
        ErrorBound("rms_l2", "this", "upper", Num(Fraction(1, 4))),
    ):
        assert judged("PROVED", NECESSARY, fine).verdict == "PROVED"


def test_the_greatest_of_several_lower_bounds_stands():
    less = ErrorBound("expected_l2", "any", "lower", Num(Fraction(1, 3)))
    assert {bound.value for _, bound in judged("PROVED", less, NECESSARY, less).errors} == {NECESSARY.value}


def test_parameters_of_the_noise_alone_are_in_no_bounds_way():
    asked = replace(claim([[1]], "add-remove"), mechanism=Product(parse("exp(-abs(z)/b)"), num(1)), domains=(("b", Domain(Fraction(1))),))
    assert least(asked)["expected_l2"] == pytest.approx(1 / sinh(1))


# -- reasons ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (claim([[0]], "l1", "1"), "answers that differ"),
        (claim([[0]], "l1", None), "upper bound on the tight epsilon"),
        (claim([[1]], "l1", "a", domains=(("a", Domain(Fraction(0))),)), "give them values"),
        (Claim(Product(LAPLACE, num(1)), num(1), sensitivity=num(1), utility=True), "state query and adjacency"),
    ],
)
def test_where_no_bound_is_found_the_reason_says_what_would_help(asked, why):
    assert least(asked) == {}
    for measure in ("necessary_l2", "necessary_rms_l2"):
        assert why in utility.lacking(asked, measure)


def test_the_mean_error_on_the_line_at_a_delta_has_no_bound_and_the_reason_says_why():
    asked = claim([[1]], "l1", "1", delta=parse("1/10"))
    assert "expected_l2" not in least(asked)
    assert "with a delta above 0" in utility.lacking(asked, "necessary_l2")


def test_rounding_to_counts_gives_no_more_than_lines():
    """What theory#rounding-to-counts says of the two: the numbers, and random queries with the volume of their hull."""
    c = {k: factorial(k) ** (1 / k) for k in range(1, 13)}
    assert max(k / (k + 1) * c[k] / sqrt(k) for k in range(1, 6)) < 0.98 and max(c[k] / sqrt(k + 2) for k in c) < sqrt(2)
    rng = np.random.default_rng(3)
    for k, n in ((2, 3), (3, 5), (4, 9)):
        points = rng.integers(-3, 4, (n, k)).astype(float)
        volume, ball = ConvexHull(np.concatenate((points, -points))).volume, pi ** (k / 2) / gamma(k / 2 + 1)
        greatest = np.trace(spread(points))
        for eps in (0.001, 0.3, 2.0):
            r = (factorial(k) * volume / ball) ** (1 / k) * exp(-eps) / eps
            assert k / (k + 1) * r <= greatest / sinh(eps) * (1 + 1e-5)
            assert sqrt(k / (k + 2)) * r <= greatest / (sqrt(2) * sinh(eps / 2)) * (1 + 1e-5)
