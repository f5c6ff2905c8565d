"""Parts on the same data are judged at one pair of neighbours: against enumeration of all pairs, and against products."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import integrate

from dpverify.search.composition import plans
from dpverify.search.verify import verify
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import (
    L1,
    L2,
    Claim,
    Compose,
    Group,
    Lipschitz,
    Part,
    PostProcess,
    Product,
    Query,
    Radial,
    Subsample,
    Table,
    Translation,
    once,
    repeated,
)
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.theories.composition.rules import combination
from tests.effort import examples
from tests.proofs import Step, bound

QUICK = settings(max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
SOME = settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])


def laplace(rows: Any, scale: Any, adjacency: str = "add-remove") -> Part:
    rows = tuple(tuple(map(Fraction, row)) for row in rows)
    if len(rows) == 1:
        return Part(Radial(parse("exp(-r)"), L1, num(1), num(Fraction(scale))), None, Query(rows, adjacency))
    return Part(Product(parse(f"exp(-abs(z)/({scale}))"), num(len(rows))), None, Query(rows, adjacency))


def gaussian(rows: Any, sigma: Any, adjacency: str = "add-remove") -> Part:
    rows = tuple(tuple(map(Fraction, row)) for row in rows)
    return Part(Radial(parse("exp(-r**2/2)"), L2, num(len(rows)), num(Fraction(sigma))), None, Query(rows, adjacency))


def table(*rows: Any, adjacent: Any = None) -> Part:
    return Part(Table(tuple(tuple(num(Fraction(entry)) for entry in row) for row in rows), adjacent))


def differences(n: int, adjacency: str) -> list[tuple[int, ...]]:
    units = [tuple(int(i == j) for j in range(n)) for i in range(n)]
    if adjacency in ("add-remove", "l1"):
        return [tuple(sign * x for x in unit) for unit in units for sign in (1, -1)]
    return [tuple(a - b for a, b in zip(x, y, strict=True)) for x, y in permutations(units, 2)]


def bounds(mechanism: Any) -> tuple[float, float]:
    found = verify(Claim(mechanism, None), digits=12).judgement
    lower = -math.inf if found.lower is None else found.lower
    return number(lower), number(found.upper)


def number(end: Any) -> float:
    return end if isinstance(end, float) else math.inf if isinstance(end, Infinite) else float(enclose(end, 80).mid())


def deltas(mechanism: Any, epsilon: Any) -> tuple[float, float]:
    found = verify(Claim(mechanism, num(Fraction(epsilon)), None), digits=12).judgement
    return float(enclose(found.delta_lower, 80).mid()), float(enclose(found.delta_upper, 80).mid())


def is_tight(mechanism: Any, truth: float) -> None:
    lower, upper = bounds(mechanism)
    assert lower == pytest.approx(truth, abs=1e-9) and upper == pytest.approx(truth, abs=1e-9)


# -- pure epsilon, against all pairs of neighbours ------------------------------------------------------

widths = st.integers(2, 3)
entries = st.integers(-2, 2)
scales = st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(2), Fraction(3)])
adjacencies = st.sampled_from(["add-remove", "replace", "l1"])


@st.composite
def queries(draw: Any, n: int, adjacency: str) -> tuple[Part, Any]:
    """Laplace answers with what they lose at a difference."""
    rows = draw(st.lists(st.lists(entries, min_size=n, max_size=n), min_size=1, max_size=2))
    scale = draw(scales)
    times = draw(st.sampled_from([1, 1, 3]))
    part = repeated(laplace(rows, scale, adjacency), num(times))
    return part, lambda v: float(times * sum(abs(sum(a * x for a, x in zip(row, v, strict=True))) for row in rows) / scale)


@st.composite
def histograms(draw: Any) -> tuple[int, str, list[tuple[Part, Any]]]:
    n, adjacency = draw(widths), draw(adjacencies)
    return n, adjacency, draw(st.lists(queries(n, adjacency), min_size=2, max_size=3))


@QUICK
@given(histograms())
def test_the_epsilon_of_laplace_answers_is_the_greatest_sum_at_one_difference(drawn):
    n, adjacency, parts = drawn
    truth = max(sum(loss(v) for _, loss in parts) for v in differences(n, adjacency))
    is_tight(Compose(tuple(part for part, _ in parts)), truth)


@QUICK
@given(histograms(), st.sampled_from(["group", "lipschitz", "nested", "post"]))
def test_it_is_so_at_every_depth(drawn, how):
    n, adjacency, parts = drawn
    of = [part for part, _ in parts]
    truth = max(sum(loss(v) for _, loss in parts) for v in differences(n, adjacency))
    inside = Part(Compose(tuple(of)))
    if how == "group":
        is_tight(Group(inside, num(2)), 2 * truth)
    elif how == "lipschitz":
        is_tight(Lipschitz(inside, num(Fraction(1, 2))), truth / 2)
    elif how == "nested":
        is_tight(Compose((Part(Compose((of[0],))), *of[1:])), truth)
    else:
        assert bounds(PostProcess(inside))[1] == pytest.approx(truth, abs=1e-9)


def under_add_remove(part: Part) -> Part:
    inner, times = once(part)
    return repeated(replace(inner, query=replace(inner.query, adjacency="add-remove")), times)


@QUICK
@given(histograms(), st.sampled_from([Fraction(1, 4), Fraction(1, 2)]))
def test_a_sample_sees_one_record_in_all_of_its_parts(drawn, rate):
    n, _, parts = drawn
    parts = [(under_add_remove(part), loss) for part, loss in parts]
    first, *rest = parts
    amplified = [math.log1p(float(rate) * math.expm1(sum(loss(v) for _, loss in rest))) for v in differences(n, "add-remove")]
    truth = max(inner + first[1](v) for inner, v in zip(amplified, differences(n, "add-remove"), strict=True))
    sampled = Part(Subsample(Part(Compose(tuple(part for part, _ in rest))), num(rate)))
    is_tight(Compose((sampled, first[0])), truth)


@st.composite
def rows_of_tables(draw: Any) -> tuple[list[Part], list[list[list[Fraction]]]]:
    count = draw(st.integers(2, 3))
    weights = st.lists(st.integers(1, 5), min_size=2, max_size=3)
    found = []
    for _ in range(2):
        first = draw(weights)
        rows = [first, *(draw(st.lists(st.integers(1, 5), min_size=len(first), max_size=len(first))) for _ in range(count - 1))]
        found.append([[Fraction(w, sum(row)) for w in row] for row in rows])
    return [table(*rows) for rows in found], found


@QUICK
@given(rows_of_tables())
def test_tables_of_the_same_inputs_are_at_one_pair_of_them_in_one_order(drawn):
    parts, listed = drawn
    truth = 0.0
    for a, b in permutations(range(len(listed[0])), 2):
        truth = max(truth, sum(math.log(max(p / q for p, q in zip(rows[a], rows[b], strict=True))) for rows in listed))
    is_tight(Compose(tuple(parts)), truth)


@QUICK
@given(rows_of_tables(), st.integers(10, 40).map(lambda tenths: Fraction(tenths, 10)))
def test_so_is_the_delta_of_tables(drawn, factor):
    parts, listed = drawn
    truth = Fraction(0)
    for a, b in permutations(range(len(listed[0])), 2):
        first, second = (list(zip(rows[a], rows[b], strict=True)) for rows in listed)
        cells = [(p * r, q * s) for p, q in first for r, s in second]
        truth = max(truth, sum((max(Fraction(0), p - factor * q) for p, q in cells), Fraction(0)))
    epsilon = parse(f"log({factor})") if factor != 1 else num(0)
    found = verify(Claim(Compose(tuple(parts)), epsilon, None), digits=12).judgement
    for end in (found.delta_lower, found.delta_upper):
        assert float(enclose(end, 80).mid()) == pytest.approx(float(truth), abs=1e-12)


def test_neighbours_of_one_table_are_neighbours_of_all():
    near = table(["3/4", "1/4"], ["1/4", "3/4"], ["1/4", "3/4"], adjacent=((0, 1),))
    far = table(["1/2", "1/2"], ["1/2", "1/2"], ["1/3", "2/3"], adjacent=((1, 2),))
    # at (0, 1) the first alone, at (1, 2) the second alone
    is_tight(Compose((near, far)), math.log(3))


# -- against products ------------------------------------------------------------------------------------


@QUICK
@given(st.integers(2, 3), st.data(), st.sampled_from(["add-remove", "replace", "l1"]))
def test_a_composition_of_rows_is_one_product_that_answers_all_of_them(n, data, adjacency):
    rows = data.draw(st.lists(st.lists(entries, min_size=n, max_size=n), min_size=2, max_size=3))
    stacked = Product(parse("exp(-abs(z))"), num(len(rows)))
    query = Query(tuple(tuple(map(Fraction, row)) for row in rows), adjacency)
    one = verify(Claim(stacked, None, query=query), digits=12).judgement
    is_tight(Compose(tuple(laplace([row], 1, adjacency) for row in rows)), float(enclose(one.upper, 80).mid()))


@QUICK
@given(st.integers(2, 3), st.data(), st.sampled_from(["add-remove", "replace", "l1", "l2"]))
def test_a_composition_of_gaussian_rows_is_gaussian_noise_on_all_of_them(n, data, adjacency):
    rows = data.draw(st.lists(st.lists(entries, min_size=n, max_size=n), min_size=2, max_size=3))
    matrix = np.array(rows, dtype=float)
    vectors = [np.array(v) for v in differences(n, "replace" if adjacency == "replace" else "l1")]
    mu = np.linalg.norm(matrix, 2) if adjacency == "l2" else max(np.linalg.norm(matrix @ v) for v in vectors)
    lower, upper = deltas(Compose(tuple(gaussian([row], 1, adjacency) for row in rows)), 1)
    truth = delta_of_gaussian(mu, 1.0) if mu else 0.0
    assert lower == pytest.approx(truth, abs=1e-9) and upper == pytest.approx(truth, abs=1e-9)


@pytest.mark.parametrize(
    ("rows", "sigmas"),
    [
        (((0, 1, 0), (1, -2, -2), (1, 0, 1)), (2, 2, 1)),
        (((1, 2, 3), (0, 1, 1), (2, 0, -1)), (1, 3, 2)),
        (((1, 1, 0), (0, 1, 1), (1, 1, 1)), (1, 1, 1)),
    ],
)
def test_real_histograms_move_gaussian_answers_by_the_norm_of_the_stack_whatever_numbers_it_has(rows, sigmas):
    # the largest eigenvalue is a root of a cubic here, which is enclosed and has no form of its own
    mu = np.linalg.norm(np.array(rows) / np.array(sigmas)[:, None], 2)
    parts = tuple(gaussian([row], sigma, "l2") for row, sigma in zip(rows, sigmas, strict=True))
    lower, upper = deltas(Compose(parts), 1)
    truth = delta_of_gaussian(float(mu), 1.0)
    assert lower == pytest.approx(truth, abs=1e-9) and upper == pytest.approx(truth, abs=1e-9)


def t_noise(row: Any, nu: int, adjacency: str) -> Part:
    profile = Radial(parse(f"(1 + r**2/{nu})**(-{nu + 1}/2)"), L2, num(1))
    return Part(profile, None, Query((tuple(map(Fraction, row)),), adjacency))


def root_noise(row: Any, adjacency: str) -> Part:
    return Part(Radial(parse("exp(-sqrt(r))"), L2, num(1)), None, Query((tuple(map(Fraction, row)),), adjacency))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("adjacency", ["l1", "l2"])
@pytest.mark.parametrize("rows", [((1, 0), (0, 1)), ((-1, 2), (1, 0)), ((1, 1), (1, -1)), ((2, 1), (0, 1))])
def test_a_lower_bound_on_real_histograms_sees_that_several_kinds_of_records_change_at_once(rows, adjacency):
    # these losses are not convex in the difference, so that the worst one is no vertex; against all directions of the plane
    angles = np.linspace(0, np.pi, 4001)
    v = np.stack([np.cos(angles), np.sin(angles)])
    v = v / (np.abs(v).sum(axis=0) if adjacency == "l1" else 1.0)
    moved = np.abs(np.array(rows, dtype=float) @ v)
    laws = (
        (lambda row: t_noise(row, 3, adjacency), lambda s: 4 * np.arcsinh(s / (2 * math.sqrt(3)))),
        (lambda row: root_noise(row, adjacency), np.sqrt),
    )
    for part, loss in laws:
        truth = float(loss(moved).sum(axis=0).max())
        lower, upper = bounds(Compose(tuple(part(row) for row in rows)))
        assert 0.95 * truth <= lower <= truth * (1 + 1e-6) and upper >= truth * (1 - 1e-6)


def bent(rows: Any, adjacency: str) -> Part:
    """Coordinates that lose 2 times what they move by: log-concave, neither Laplace nor of a kink."""
    rows = tuple(tuple(map(Fraction, row)) for row in rows)
    return Part(Product(parse("exp(-2*z)/(1 + exp(-2*z))**2"), num(len(rows))), None, Query(rows, adjacency))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("rows", [((1, 0), (0, 1)), ((-1, 2), (1, 0)), ((1, 1), (1, -1)), ((2, 1), (0, 1))])
@pytest.mark.parametrize(("times", "size"), [(1, 1), (3, 2)])
def test_parts_that_lose_in_proportion_are_bounded_by_the_l1_length_of_all_their_answers_together(rows, times, size):
    """On real histograms in l2 too: against all directions of the plane."""
    angles = np.linspace(0, np.pi, 40001)
    one, other = np.abs(np.array(rows, dtype=float) @ np.stack([np.cos(angles), np.sin(angles)]))
    truth = size * float((times * one / 2 + 2 * other + 2 * one).max())
    parts = (repeated(laplace(rows[:1], 2, "l2"), num(times)), Part(Compose((bent(rows[::-1], "l2"),))))
    mechanism = Compose(parts) if size == 1 else Group(Part(Compose(parts)), num(size))
    lower, upper = bounds(mechanism)
    assert upper == pytest.approx(truth, abs=1e-6) and 0.99999 * truth <= lower <= upper


def test_the_sum_by_slopes_is_that_of_the_worst_record_where_records_are_whole():
    rows = ((1, 2), (3, -1), (0, 1))
    for adjacency, vectors in (("add-remove", [(1, 0), (0, 1)]), ("replace", [(1, -1)]), ("l1", [(1, 0), (0, 1)])):
        claim = Claim(Compose(tuple(laplace([row], 2, adjacency) for row in rows)), None)
        truth = max(sum(abs(row[0] * v[0] + row[1] * v[1]) for row in rows) / 2 for v in vectors)
        assert slopes(claim, {"side": "upper", "slopes": True}).value == num(Fraction(truth))


def slopes(claim, evidence):
    (found,) = bound(claim, Step("combination", evidence))
    return found


UNIT = laplace([(1, 0)], 1, "l2")


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ((UNIT, root_noise((0, 1), "l2")), "convex"),
        ((UNIT, table([1, 0], [0, 1])), "no noise on real numbers"),
        ((UNIT, Part(Lipschitz(UNIT, parse("1/2")))), "in a group, or behind a map"),
        ((UNIT, Part(Translation(parse("exp(-abs(z))"), integers=True), None, UNIT.query)), "no noise on real numbers"),
        ((UNIT, Part(UNIT.mechanism, num(1))), "no noise on real numbers"),
        ((UNIT, gaussian([(0, 1)], 1, "l2")), "without bound"),
        ((UNIT, Part(Radial(parse("exp(-sqrt(2)*r)"), L1, num(1)), None, UNIT.query)), "rational"),
    ],
)
def test_the_sum_by_slopes_wants_parts_that_lose_in_proportion(parts, why):
    with pytest.raises(DpverifyError, match=why):
        slopes(Claim(Compose(parts), None), {"side": "upper", "slopes": True})
    # a lower bound has no such form
    with pytest.raises(DpverifyError):
        slopes(Claim(Compose((UNIT, UNIT)), None), {"side": "lower", "slopes": True})


def test_the_sum_by_slopes_is_of_one_run_of_what_a_group_holds_and_of_one_adjacency():
    twice = Group(repeated(Part(Compose((UNIT, UNIT))), num(2)), num(2))
    assert slopes(Claim(twice, None), {"side": "upper", "slopes": True}).value == num(8), "two runs of two parts, two records apart"
    with pytest.raises(DpverifyError, match="do not speak of the same neighbours"):
        combination.stacked(Part(Compose((UNIT, laplace([(1, 0)], 1, "l1")))), ())


def test_a_map_of_the_outputs_is_assumed_not_to_look_at_the_data_where_there_is_one():
    for mechanism, there in ((Compose((UNIT, UNIT)), False), (PostProcess(Part(Compose((UNIT, UNIT))), "rounding"), True)):
        found = slopes(Claim(mechanism, None), {"side": "upper", "slopes": True})
        assert found.value == num(2) and any("does not look at the data" in line for line in found.assumed) == there


def delta_of_gaussian(mu: float, epsilon: float) -> float:
    return float(normal(mu / 2 - epsilon / mu) - math.exp(epsilon) * normal(-mu / 2 - epsilon / mu))


def normal(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


# -- curves, against enumeration and integrals -----------------------------------------------------------


def delta_of_losses(shifts: Any, epsilon: float) -> float:
    """delta of a Laplace answer (scale 1) beside a Gaussian one (sigma 1), moved by two shifts, by an integral over the first."""
    s, mu = abs(shifts[0]), abs(shifts[1])

    def rest(loss: float) -> float:
        left = epsilon - loss
        if mu == 0:
            return max(0.0, 1 - math.exp(left))
        return normal(mu / 2 - left / mu) - math.exp(left) * normal(-mu / 2 - left / mu)

    def integrand(z: float) -> float:
        return math.exp(-abs(z)) / 2 * rest(abs(z - s) - abs(z))

    pieces = sorted({-40.0, 0.0, float(s), 40.0})
    return sum(integrate.quad(integrand, a, b, epsabs=1e-11)[0] for a, b in pairwise(pieces))


@pytest.mark.wide
@SOME
@given(st.integers(2, 3), st.data(), st.sampled_from(["add-remove", "replace"]))
def test_the_delta_of_laplace_and_gaussian_answers_is_the_greatest_at_one_difference(n, data, adjacency):
    first, second = (data.draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n)) for _ in range(2))
    shifts = [[sum(a * x for a, x in zip(row, v, strict=True)) for row in (first, second)] for v in differences(n, adjacency)]
    truth = max(delta_of_losses(shift, 0.5) for shift in shifts)
    lower, upper = deltas(Compose((laplace([first], 1, adjacency), gaussian([second], 1, adjacency))), Fraction(1, 2))
    assert lower - 1e-9 <= truth <= upper + 1e-9 and upper - lower < 2e-3


@pytest.mark.parametrize("signs", [(1, 1), (1, -1)])
def test_densities_that_are_not_even_are_moved_the_way_that_the_records_move_them(signs):
    # h rises by 2 a unit before the mode, by 1 after it: moving the answer up costs 2, moving it down costs 1
    noise = Translation(parse("exp(-max(z, -2*z))"))
    other = Translation(parse("exp(-max(z, -2*z)/3)"))
    parts = tuple(Part(one, None, Query(((Fraction(sign),),), "add-remove")) for one, sign in zip((noise, other), signs, strict=True))
    lower, upper = bounds(Compose(parts))
    truth = 2 + 2 / 3 if signs == (1, 1) else max(2 + 1 / 3, 1 + 2 / 3)
    assert lower <= truth + 1e-9 and upper >= truth - 1e-9 and lower >= 2 - 1e-9


def test_real_histograms_of_noise_that_is_not_log_concave_keep_the_sum_from_above_and_one_difference_from_below():
    rows = [((Fraction(1), Fraction(0)),), ((Fraction(0), Fraction(1)),)]
    noise = Radial(parse("exp(-sqrt(r))"), L1, num(1))
    lower, upper = bounds(Compose(tuple(Part(noise, None, Query(row, "l1")) for row in rows)))
    # a half in each count loses 2 sqrt(1/2), more than 1 at a vertex and less than the sum of the worst
    assert lower == pytest.approx(math.sqrt(2)) and upper >= math.sqrt(2)


@pytest.mark.parametrize(("size", "truth"), [(2, 2.0), (3, 1 + math.sqrt(2))])
def test_groups_of_noise_that_is_not_log_concave_are_spread_over_the_parts(size, truth):
    rows = [((Fraction(1), Fraction(0)),), ((Fraction(0), Fraction(1)),)]
    noise = Radial(parse("exp(-sqrt(r))"), L1, num(1))
    inside = Part(Compose(tuple(Part(noise, None, Query(row, "add-remove")) for row in rows)))
    lower, upper = bounds(Group(inside, num(size)))
    best = max(math.sqrt(k) + math.sqrt(size - k) for k in range(size + 1))
    assert best == pytest.approx(truth) and upper == pytest.approx(truth, abs=1e-9) and lower <= truth + 1e-9


def test_many_kinds_of_records_are_no_many_pairs():
    """Thirty kinds are 435 pairs of records, most of which move the same answers as another."""
    rows = [[int(j <= i) for j in range(30)] for i in range(0, 30, 5)]
    is_tight(Compose(tuple(laplace([row], 6, "replace") for row in rows)), 6 / 6)


# -- behind maps -----------------------------------------------------------------------------------


def sampled_hinge(move: int, rate: float, epsilon: float) -> float:
    """The greater delta of the two orders of a sample whose record moves one answer, by sums over a fine grid: noise exp(-max(z, -4 z))."""
    at = np.linspace(-12, 40, 2_000_001)
    without, shifted = (np.exp(-np.maximum(z, -4 * z)) / 1.25 for z in (at, at - move))
    mixed, factor, step = rate * shifted + (1 - rate) * without, math.exp(epsilon), at[1] - at[0]
    return float(max(np.maximum(p - factor * q, 0).sum() * step for p, q in ((mixed, without), (without, mixed))))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("move", [1, -1])
@pytest.mark.parametrize(("holder", "steps", "exchanged"), [(None, 1, False), (Group, 1, False), (Lipschitz, 1, True), (Group, 2, True)])
def test_a_sample_takes_what_is_behind_a_map_or_some_steps_away_in_its_worse_order(move, holder, steps, exchanged):
    """The records of a fixed set that are NOT in x are a map that exchanges the neighbours; steps may add a record and remove two."""
    hinge = parse("exp(-max(z, -4*z))")
    inner = Compose(tuple(Part(Translation(hinge), None, Query(((Fraction(k),),), "add-remove")) for k in (move, 0)))
    held = inner if holder is None else PostProcess(Part(holder(Part(inner), num(steps))))
    plan: Any = {"rule": "joint-neighbours", "above": {"plans": [{"rule": "line"}], "of": [0]}}
    found = plans.curve(Run(Part(Subsample(Part(held), parse("1/2"), "poisson"))), {"rule": "poisson-subsampling", "part": plan})
    truth = max(sampled_hinge(steps * way, 0.5, 0.25) for way in ((1, -1) if exchanged else (move,)))
    assert found.upper is not None
    assert float(found.upper.worst(rational(Fraction(1, 4))).mid()) == pytest.approx(truth, abs=1e-5)
