"""Curves of finite mechanisms: against all events, one after the other, and against the tables' rows written out."""

import math
from fractions import Fraction
from itertools import product
from random import Random

import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

from dpverify.search.finite import finite_rows
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.kernel.balls import constant, precision, rational
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import CertificateError, Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, Num, num, parse
from dpverify.trusted.kernel.model import L2, Exponential, KaryResponse, Part, Radial, Table
from dpverify.trusted.theories.curves import finite_delta
from dpverify.trusted.theories.curves.rules import finite_curve as finite


def table(*rows, adjacent=None):
    return Table(tuple(tuple(parse(entry) if isinstance(entry, str) else Num(entry) for entry in row) for row in rows), adjacent)


def scores(rows, beta="1", adjacent=None):
    return Exponential(tuple(tuple(map(num, row)) for row in rows), parse(beta), adjacent)


def over_all_events(p, q, x):
    """sup over S of P(S) - x Q(S), every S tried."""
    cells = list(zip(p, q, strict=True))
    return max(
        sum((a - x * b for (a, b), inside in zip(cells, event, strict=True) if inside), Fraction(0))
        for event in product((0, 1), repeat=len(cells))
    )


def random_scores(inputs, outputs, greatest):
    random = Random(3)
    return [[random.randint(0, greatest) for _ in range(outputs)] for _ in range(inputs)]


def softmax(row, beta):
    weights = [mp.exp(mp.mpf(beta) * score) for score in row]
    return [weight / mp.fsum(weights) for weight in weights]


def excess(p, q, x):
    return mp.fsum(max(a - x * b, 0) for a, b in zip(p, q, strict=True))


def agrees(ball, value, digits):
    with precision(300):
        reference = arb(mp.nstr(value, 50)) * arb(1, "1e-45")
        return ball.overlaps(reference) and bool(ball.rad() < abs(ball.mid()) * arb(10) ** -digits)


def curve_at(noise, epsilon):
    """The curve with the lower bound of the pair of rows that the search finds worst at an epsilon."""
    return finite.curve(noise, **finite_rows.row(Run(Part(noise)), epsilon))


@pytest.mark.parametrize("row", [-1, 6, "0", True, None])
def test_a_row_that_is_none_is_refused(row):
    with pytest.raises(CertificateError, match="whole number from 0 to 5"):
        finite.curve(table(("1/2", "1/2", "0"), ("1/4", "3/4", "0"), ("49/100", "1/2", "1/100")), row)


def rows_of(size):
    weights = st.lists(st.integers(0, 6), min_size=size, max_size=size).filter(any)
    return weights.map(lambda found: tuple(Fraction(weight, sum(found)) for weight in found))


@given(st.lists(rows_of(4), min_size=2, max_size=4), st.integers(2, 40), st.integers(1, 9))
def test_a_curve_is_the_greatest_divergence_over_events_and_ordered_pairs(rows, top, bottom):
    x = max(Fraction(top, bottom), Fraction(1))
    epsilon = rational(x).log()
    truth = max(over_all_events(p, q, x) for p in rows for q in rows)
    curve = curve_at(table(*rows), Fraction(math.log(x)))
    assert curve.upper.worst(epsilon).overlaps(rational(truth))
    assert curve.lower.worst(epsilon).overlaps(rational(truth))
    assert curve.upper.worst(epsilon).rad() < arb("1e-13")


@given(st.lists(rows_of(3), min_size=2, max_size=3), st.fractions(0, 3, max_denominator=50))
def test_the_lower_pair_is_that_of_two_rows_in_both_orders(rows, epsilon):
    x = rational(epsilon)
    lower = curve_at(table(*rows), epsilon).lower
    assert not lower.forward(x) > finite.curve(table(*rows)).upper.forward(x)
    pairs = [finite.curve(table(p, q)).upper for p in rows for q in rows]
    assert any(lower.worst(x).overlaps(pair.worst(x)) for pair in pairs)


def test_k_ary_randomized_response_is_its_table_for_every_small_k_and_one_pair_for_enormous_k():
    for k in (2, 3, 5):
        rows = [[Fraction(2, 3) if x == y else Fraction(1, 3) / (k - 1) for y in range(k)] for x in range(k)]
        response, written = finite.curve(KaryResponse(num(k), parse("2/3"))), finite.curve(table(*rows))
        assert response.exact
        assert written.exact
        for epsilon in (arb(0), arb(fmpq(1, 3)), arb(1)):
            assert response.upper.forward(epsilon).overlaps(written.upper.forward(epsilon))
    assert finite.curve(KaryResponse(num(10**12), parse("1/2"))).upper.forward(arb(5)).overlaps((1 - arb(5).exp() / (10**12 - 1)) / 2)


def test_a_lie_that_is_likelier_than_the_truth_gives_itself_away_too():
    pair = finite.curve(KaryResponse(num(2), parse("1/4"))).upper
    assert pair.forward(arb(fmpq(1, 2))).overlaps((3 - arb(fmpq(1, 2)).exp()) / 4)


def test_what_only_one_row_can_give_is_lost_at_every_epsilon():
    pair = finite.curve(table(("1/2", "1/2", "0"), ("1/2", "0", "1/2"))).upper
    assert pair.forward(arb(1000)) == arb(fmpq(1, 2))
    assert finite.curve(KaryResponse(num(7), num(1))).upper.forward(arb(10**9)) == 1


@pytest.mark.sampled(2)
@pytest.mark.parametrize("epsilon", ["0", "1/7", "1/2", "7/8", "1"])
def test_an_exponential_mechanism_keeps_its_digits(epsilon):
    rows = random_scores(2, 30, 9)
    with mp.workdps(60):
        x = mp.exp(mp.mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator)
        p, q = (softmax(row, mp.mpf(1) / 8) for row in rows)
        value = max(excess(p, q, x), excess(q, p, x))
    noise = scores(rows, "1/8")
    for bits, digits in ((64, 12), (100, 20)):
        with precision(bits):
            assert agrees(finite.curve(noise).upper.worst(rational(Fraction(epsilon))), value, digits)
    with precision(400):
        exact = constant(finite_delta.delta_expr(noise, parse(epsilon)))
    assert agrees(exact, value, 20)


def test_near_the_last_loss_the_relative_accuracy_stays():
    epsilon = parse("log(3) - 1/10**15")
    with precision(64):
        pair = finite.curve(table(("3/4", "1/4"), ("1/4", "3/4"))).upper
        with precision(400):
            point = constant(epsilon).mid()
        with mp.workdps(60):
            value = mp.mpf(3) / 4 * -mp.expm1(mp.mpf(-1) / 10**15)
        assert agrees(pair.forward(point), value, 12)


@pytest.mark.parametrize("epsilon", [50, 90, 92])
def test_a_probability_that_a_low_precision_does_not_tell_from_zero_is_found_at_a_higher_one(epsilon):
    tiny = "sqrt(1 + 1/10**40) - 1"
    pair = finite.curve(table(("1/2", "1/2"), (tiny, f"1 - ({tiny})"))).upper
    with mp.workdps(120):
        value = mp.mpf(1) / 2 - mp.exp(epsilon) * (mp.sqrt(1 + mp.mpf(10) ** -40) - 1)
    with precision(64):
        assert agrees(pair.forward(arb(epsilon)), value, 12)


def test_many_pairs_give_the_greatest_of_them_at_every_epsilon():
    rows = random_scores(8, 6, 3)
    curve = finite.curve(scores(rows))
    with mp.workdps(40):
        table_rows = [softmax(row, 1) for row in rows]
    for k in range(60):
        epsilon = Fraction(k, 16)
        with mp.workdps(40):
            x = mp.exp(mp.mpf(epsilon.numerator) / epsilon.denominator)
            value = max(excess(p, q, x) for p in table_rows for q in table_rows)
        found = curve.upper.forward(rational(epsilon))
        assert found.overlaps(arb(mp.nstr(value, 30)) + arb(0, "1e-35"))
        assert found.rad() < arb("1e-14")


def test_a_wide_epsilon_gets_all_values_within_and_a_shapeless_one_an_error():
    pair = finite.curve(table(("3/4", "1/4"), ("1/3", "2/3"))).upper
    wide = pair.forward(arb(1, "1/2"))
    assert all(wide.contains(pair.forward(arb(fmpq(k, 8)))) for k in range(4, 13))
    with pytest.raises(Undecided, match="not enclosed"):
        pair.forward(arb("nan"))


def test_a_curve_is_exact_where_one_pair_is_all_there_is_in_both_orders():
    ring = scores(
        [[-min((x - y) % 6, (y - x) % 6) for y in range(6)] for x in range(6)], adjacent=tuple((x, (x + 1) % 6) for x in range(6))
    )
    assert finite.curve(ring).exact
    lopsided = finite.curve(table(("1/2", "1/2"), ("1/4", "3/4")))
    assert not lopsided.exact
    assert lopsided.lower.forward is not lopsided.lower.backward
    assert lopsided.upper.worst(arb(fmpq(1, 4))).overlaps(lopsided.lower.worst(arb(fmpq(1, 4))))


def test_only_named_pairs_count():
    rows = (("1/2", "1/2"), ("1/3", "2/3"), ("0", "1"))
    assert finite.curve(table(*rows, adjacent=((0, 1),))).upper.forward(arb(1)) == 0
    assert finite.curve(table(*rows)).upper.forward(arb(1)) == arb(fmpq(1, 2))


def test_the_lower_pair_is_the_worst_at_the_epsilon_of_interest():
    # one pair has a rare output without a counterpart, the other a greater distance
    noise = table(("1/2", "1/2", "0"), ("1/4", "3/4", "0"), ("49/100", "1/2", "1/100"))
    far, near = (curve_at(noise, epsilon).lower for epsilon in (Fraction(3), Fraction(0)))
    assert far.worst(arb(3)).overlaps(arb("1/100"))
    assert near.worst(arb(0)).overlaps(arb("26/100")) or near.worst(arb(0)).overlaps(arb("1/4"))
    assert near.worst(arb(0)) >= far.worst(arb(0))


@pytest.mark.parametrize(
    ("noise", "epsilon", "closed"),
    [
        (KaryResponse(num(5), parse("3/4")), "log(2)", "5/8"),
        (table(("3/4", "1/4"), ("1/4", "3/4")), "log(3)", "0"),
        (table(("1/2", "1/2"), ("1/4", "3/4")), "0", "1/4"),
        (scores([[0, 1], [1, 0]]), "1/2", "(exp(1) - exp(1/2))/(1 + exp(1))"),
    ],
)
def test_the_closed_form(noise, epsilon, closed):
    assert certainly_equal(finite_delta.delta_expr(noise, parse(epsilon)), parse(closed))


@pytest.mark.parametrize(
    ("noise", "why"),
    [
        (table(("p", "1 - p"), ("1/2", "1/2")), "not certain"),
        (Exponential(((parse("s"), num(0)), (num(0), num(1))), ONE), "free parameter"),
        (table(("1/2", "1/2"), ("1/2", "1/2"), adjacent=((0, 2),)), "outside 0 to 1"),
        (table(("1/2", "1/2")), "no two inputs"),
        (KaryResponse(num(3), parse("p")), "not a number"),
        (KaryResponse(parse("k"), parse("1/2")), "not a number"),
        (Exponential(((num(0), num(-1)), (num(-1), num(0))), ONE, None, ((num(0),), (num(1),)), "l1"), "within which"),
        (Radial(parse("exp(-r)"), L2, num(1)), "are finite"),
    ],
)
def test_what_is_no_finite_mechanism_is_refused_with_the_reason(noise, why):
    with pytest.raises(Rejected, match=why):
        finite.curve(noise)


def test_scores_and_points_are_held_to_the_sensitivity():
    with pytest.raises(Rejected, match="more than the claimed sensitivity"):
        finite.curve(scores([[0, 2], [1, 0]]), sensitivity=num(1))
    points = tuple((num(x),) for x in (0, 1, 3))
    distances = tuple(tuple(num(-abs(x - y)) for y in (0, 1, 3)) for x in (0, 1, 3))
    line = Exponential(distances, ONE, None, points, "l1")
    near, far = (finite.curve(line, sensitivity=num(reach)).upper.forward(arb(fmpq(1, 4))) for reach in (1, 3))
    assert near < far
