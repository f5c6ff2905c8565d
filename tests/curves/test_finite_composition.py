"""Compositions of finite mechanisms: against all outputs written out, and against an adversary who tries every next choice in fractions."""

from fractions import Fraction
from itertools import combinations, permutations, product
from math import gcd, prod

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

from dpverify.search.composition import plans
from dpverify.search.finite import finite_rows
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.kernel.balls import exact, precision, rational
from dpverify.trusted.kernel.errors import CertificateError, Rejected, Undecided
from dpverify.trusted.kernel.expr import Num, num, parse
from dpverify.trusted.kernel.model import L2, Compose, Exponential, Group, KaryResponse, Lipschitz, Radial, Table, repeated
from dpverify.trusted.kernel.model import Part as Piece
from dpverify.trusted.theories.composition.ratios import coprime
from dpverify.trusted.theories.composition.rules import finite_composition
from dpverify.trusted.theories.curves.rules import finite_curve as finite
from dpverify.trusted.theories.curves.rules import optimal_composition
from tests.effort import examples

LOPSIDED = [[Fraction(9, 10), Fraction(1, 10)], [Fraction(2, 5), Fraction(3, 5)]]
RESPONSE = [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]]
LEAKY = [[Fraction(1, 2), Fraction(1, 2), Fraction(0)], [Fraction(1, 3), Fraction(0), Fraction(2, 3)]]
THREE = [
    [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)],
    [Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)],
    [Fraction(1, 10), Fraction(3, 10), Fraction(3, 5)],
]


def table(rows, adjacent=None):
    return Table(tuple(tuple(parse(entry) if isinstance(entry, str) else Num(Fraction(entry)) for entry in row) for row in rows), adjacent)


def faces(rows):
    return [(p, q) for p, q in permutations(rows, 2)]


def greatest(choices, a):
    """The adversary's best from here: a list of (faces, copies left), every order and every face tried."""
    if not any(times for _, times in choices):
        return max(1 - a, Fraction(0))
    best = Fraction(0)
    for i, (pairs, times) in enumerate(choices):
        if times == 0:
            continue
        rest = [*choices[:i], (pairs, times - 1), *choices[i + 1 :]]
        for p, q in pairs:
            best = max(best, sum((x * greatest(rest, a * y / x) for x, y in zip(p, q, strict=True) if x), Fraction(0)))
    return best


def together(pairs, a):
    """sum over all outputs of (P - a Q)_+ of a product of pairs of rows."""
    total = Fraction(0)
    for cells in product(*(list(zip(p, q, strict=True)) for p, q in pairs)):
        total += max(prod(p for p, _ in cells) - a * prod(q for _, q in cells), Fraction(0))
    return total


def alone(*parts, at=None):
    """The curve of mechanisms, each so many times, with the rows that the search takes for the lower bound."""
    runs = [Run(Piece(mechanism), times=times) for mechanism, times in parts]
    at = Fraction(0) if at is None else exact(at.mid())
    return finite_composition.curve(runs, finite_rows.parameters(runs, at))


def curve(*parts, at=None, bits=96):
    with precision(bits):
        return alone(*((table(rows), times) for rows, times in parts), at=at)


def value(profile, a, bits=96):
    with precision(bits):
        return profile(rational(Fraction(a)).log())


def agrees(ball, truth, bits=80):
    with precision(200):
        assert ball.overlaps(rational(truth))
    assert truth == 0 or ball.rel_accuracy_bits() > bits, ball


def rows_of(size):
    return st.lists(st.integers(0, 5), min_size=size, max_size=size).filter(any).map(lambda w: [Fraction(n, sum(w)) for n in w])


FACTORS = st.builds(lambda top, bottom: max(Fraction(top, bottom), Fraction(1)), st.integers(1, 30), st.integers(1, 9))


# -- from above ----------------------------------------------------------------------------------------


@given(st.lists(rows_of(3), min_size=2, max_size=3), st.integers(1, 3), FACTORS)
@settings(max_examples=examples(40))
def test_the_upper_curve_is_the_best_of_an_adversary_who_sees_the_outputs(rows, times, a):
    if len(rows) == 3:
        times = min(times, 2)
    agrees(value(curve((rows, times)).upper.worst, a), greatest([(faces(rows), times)], a))


@given(st.lists(rows_of(2), min_size=2, max_size=2), st.lists(rows_of(2), min_size=2, max_size=2), FACTORS)
@settings(max_examples=examples(30))
def test_every_order_of_two_mechanisms_is_covered(first, second, a):
    agrees(value(curve((first, 2), (second, 1)).upper.worst, a), greatest([(faces(first), 2), (faces(second), 1)], a))


@pytest.mark.parametrize("a", ["1", "7/5", "5/2", "6", "36"])
@pytest.mark.parametrize("rows", [LOPSIDED, LEAKY])
def test_mechanisms_without_a_choice_may_come_anywhere(rows, a):
    a = Fraction(a)
    expected = greatest([(faces(rows), 2), (faces(RESPONSE), 2)], a)
    agrees(value(curve((rows, 2), (RESPONSE, 2)).upper.worst, a), expected)
    agrees(value(curve((RESPONSE, 2), (rows, 2)).upper.worst, a), expected)


def test_choosing_is_worth_something_and_less_than_the_worst_profile_at_every_step():
    found = curve((LOPSIDED, 2), at=arb(1))
    with precision(96):
        above, below = found.upper.worst(arb(1)), found.lower.worst(arb(1))
        assert above.overlaps(arb("0.54") - arb("0.04") * arb(1).exp())
        assert below.overlaps(arb("0.81") - arb("0.16") * arb(1).exp())
        assert below < above < arb("0.5297")


@given(st.lists(rows_of(3), min_size=2, max_size=3), FACTORS, FACTORS)
@settings(max_examples=examples(20))
def test_the_upper_curve_is_that_of_a_pair(rows, a, b):
    """In e^epsilon it is convex, at least 1 - e^epsilon, and no greater further out: also across what a pair has below 0."""
    found = curve((rows, 2)).upper
    assert found.forward is found.backward
    low, high = sorted((a, b))
    middle = [value(found.forward, x) for x in (low, (low + high) / 2, high)]
    assert not middle[0] < middle[2] and not 2 * middle[1] > middle[0] + middle[2]


# -- from below ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("a", ["1", "3/2", "3", "8"])
@pytest.mark.parametrize("rows", [LOPSIDED, LEAKY, THREE])
def test_the_lower_pair_is_the_worst_pair_of_rows_at_its_epsilon(rows, a):
    a = Fraction(a)
    found = curve((rows, 3), at=value(lambda epsilon: epsilon, a))
    agrees(value(found.lower.worst, a), max(together([pair] * 3, a) for pair in faces(rows)))
    for other in (Fraction(1), Fraction(2), Fraction(9)):
        forward, backward = (value(profile, other) for profile in (found.lower.forward, found.lower.backward))
        products = [(together([(p, q)] * 3, other), together([(q, p)] * 3, other)) for p, q in faces(rows)]
        assert any(forward.overlaps(rational(x)) and backward.overlaps(rational(y)) for x, y in products)
        assert not max(forward, backward) > value(found.upper.worst, other)


@pytest.mark.parametrize("a", ["1", "2", "5"])
def test_the_best_combination_of_pairs_of_rows_is_found(a):
    a = Fraction(a)
    found = curve((LOPSIDED, 2), (THREE, 1), at=value(lambda epsilon: epsilon, a))
    best = max(together([first, first, second], a) for first in faces(LOPSIDED) for second in faces(THREE))
    agrees(value(found.lower.worst, a), best)
    assert not found.exact


def test_many_combinations_take_the_worst_pair_of_each():
    many = [[Fraction(n + 1, 13), Fraction(12 - n, 13)] for n in range(5)]
    found = curve((many, 1), (many[:4], 1), at=arb(0))
    worst = [(many[0], many[4]), (many[0], many[3])]
    agrees(value(found.lower.forward, 1), together(worst, Fraction(1)))


@pytest.mark.parametrize("a", ["1", "2", "4", "8", "30"])
def test_where_nothing_can_be_chosen_the_curve_is_exact(a):
    rows = [["1/2", "1/3", "1/6"], ["1/6", "1/3", "1/2"]]
    found = curve((rows, 3), (RESPONSE, 2))
    assert found.exact
    pairs = [[[Fraction(entry) for entry in row] for row in rows]] * 3 + [RESPONSE] * 2
    agrees(value(found.upper.worst, a), together(pairs, Fraction(a)))


@pytest.mark.parametrize("k", [1, 2, 7, 40])
def test_randomized_responses_are_those_of_the_theorem_about_pure_parts(k):
    with precision(96):
        known = optimal_composition.composed([optimal_composition.Part(parse("log(3)"), times=k)])
        found = alone((table(RESPONSE), k)).upper
        for epsilon in (arb(0), arb(1) / 3, arb(k) / 2):
            ours, theirs = found.worst(epsilon), known.worst(epsilon)
            assert ours.overlaps(theirs) and (ours.rel_accuracy_bits() > 80 or ours.is_zero() or not epsilon.is_exact())


def test_answers_with_equal_exponentials_are_one_outcome():
    e = "exp(1)/(1 + exp(1))", "1/(1 + exp(1))"
    with precision(96):
        found = alone((table([e, e[::-1]]), 200)).upper
        known = optimal_composition.composed([optimal_composition.Part(num(1), times=200)])
        assert found.worst(arb(120)).overlaps(known.worst(arb(120))) and found.worst(arb(120)).rel_accuracy_bits() > 80


def test_scores_on_a_lattice_are_few_outcomes():
    rows = tuple(tuple(map(num, row)) for row in ([0, 1, 2, 3], [3, 2, 1, 0]))
    with mp.workdps(40):
        weights = [mp.exp(mp.mpf(score) / 3) for score in range(4)]
        p = [weight / mp.fsum(weights) for weight in weights]
        q, truth = p[::-1], mp.mpf(0)
        for cells in product(range(4), repeat=5):
            truth += max(mp.fprod(p[i] for i in cells) - mp.e * mp.fprod(q[i] for i in cells), 0)
        with precision(110):
            found = alone((Exponential(rows, parse("1/3")), 5))
            ball = found.upper.worst(arb(1))
            assert found.exact and ball.overlaps(arb(mp.nstr(truth, 36)) * arb(1, "1e-34")) and ball.rel_accuracy_bits() > 90
            assert alone((Exponential(rows, parse("1/3")), 60)).upper.worst(arb(1)) < 1


@pytest.mark.parametrize("a", ["1", "3/2", "4", "9"])
def test_answers_among_k_are_merged(a):
    p, k = Fraction(3, 5), 5
    lie = (1 - p) / (k - 1)
    rows = [[p, lie, *[lie] * (k - 2)], [lie, p, *[lie] * (k - 2)]]
    with precision(96):
        found = alone((KaryResponse(num(k), Num(p)), 3))
    assert found.exact
    agrees(value(found.upper.worst, a), together([rows] * 3, Fraction(a)))


# -- probability 0 -------------------------------------------------------------------------------------


def test_outputs_that_only_one_row_has_are_the_rest():
    found = curve((LEAKY, 3))
    with precision(96):
        assert found.lower.rest().overlaps(1 - rational(Fraction(1, 27)))
        assert found.upper.worst(arb(50)).overlaps(1 - rational(Fraction(1, 27)))
    whole = curve(([[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]], 4))
    assert whole.exact and value(whole.upper.worst, 1) == 1 and whole.lower.rest() == 1


def test_equal_rows_never_tell():
    found = curve(([[Fraction(1, 2)] * 2] * 2, 5))
    assert found.exact and value(found.upper.worst, 1).is_zero()


# -- profiles ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [RESPONSE, LOPSIDED])
def test_a_wide_epsilon_is_enclosed(rows):
    found = curve((rows, 3))
    for pair in {found.upper, found.lower}:
        wide = pair.forward(arb(1).union(arb(2)))
        assert all(wide.overlaps(pair.forward(arb(n))) for n in (1, 2)) and wide.contains(pair.forward(arb(3) / 2).mid())
        with pytest.raises(Undecided):
            pair.forward(arb("nan"))


@pytest.mark.parametrize("bits", [64, 96, 200])
def test_what_is_small_is_as_sharp(bits):
    top = Fraction(9) ** 6 - Fraction(1, 10**6)
    p = [[Fraction(9, 10), Fraction(1, 10)], [Fraction(1, 10), Fraction(9, 10)]]
    with precision(3 * bits):
        epsilon = rational(top).log()
    with precision(bits):
        ball = curve((p, 6), bits=bits).upper.worst(epsilon.mid())
        assert ball > 0 and ball.rel_accuracy_bits() >= bits - 24


def test_a_gain_not_told_from_nothing_is_not_left_out():
    with precision(9000):
        below = rational(Fraction(6)).log().lower() - arb(2) ** -8900
    found = curve((LOPSIDED, 1)).upper
    with precision(64):
        assert found.worst(below).upper() > 0


# -- what is refused -----------------------------------------------------------------------------------


def test_too_many_states_are_refused():
    weights = [[Fraction(n, 100) for n in row] for row in ([2, 3, 5, 7, 11, 72], [3, 5, 7, 11, 2, 72])]
    with pytest.raises(Undecided, match="for one epsilon"):
        curve((weights, 30))
    circle = [[Fraction(n, 40) for n in row] for row in ([2, 3, 5, 7, 11, 12], [3, 2, 7, 5, 12, 11])]
    with pytest.raises(Undecided, match="put the outcomes together"):
        curve((circle, 200))


@pytest.mark.parametrize(
    "mechanism",
    [
        Radial(parse("exp(-r**2/2)"), L2, num(1)),
        table([["p", "1 - p"], ["1/2", "1/2"]]),
        table([["1/2", "1/2"]]),
    ],
)
def test_what_is_no_finite_mechanism_is_rejected(mechanism):
    with precision(96), pytest.raises(Rejected):
        alone((table(RESPONSE), 1), (mechanism, 1))


def derived(mechanism, **evidence):
    with precision(96):
        return plans.curve(Run(Piece(mechanism)), {"rule": finite_composition.NAME, **evidence})


@pytest.mark.parametrize("rows", [0, [], [0, 0], [2], [-1], [True], ["0"], [None], {"0": 0}])
def test_rows_that_are_no_pair_for_each_run_are_refused(rows):
    with pytest.raises(CertificateError, match=r"rows|cannot be used"):
        derived(Compose((repeated(Piece(table(LOPSIDED)), num(2)),)), rows=rows)


@given(st.integers(0, 4), st.integers(0, 4), FACTORS)
@settings(max_examples=examples(20))
def test_any_rows_are_those_of_some_neighbours_and_below_the_upper_curve(first, second, a):
    runs = [Run(Piece(table(rows)), times=times) for rows, times in ((THREE, 2), (THREE[::-1], 1))]
    with precision(96):
        found = finite_composition.curve(runs, {"rows": [first, second]})
    below = value(found.lower.worst, a)
    pairs = [together([one, one, other], a) for one in faces(THREE) for other in faces(THREE)]
    assert any(below.overlaps(rational(delta)) for delta in pairs) and not below > value(found.upper.worst, a)


def test_without_rows_there_is_no_lower_bound():
    assert derived(Compose((repeated(Piece(table(LOPSIDED)), num(2)),))).lower is None


def test_the_search_leaves_what_is_more_work_than_is_wanted():
    runs = [Run(Piece(table(LOPSIDED)), times=2)]
    with pytest.raises(Undecided, match="more states"):
        finite_rows.parameters(runs, Fraction(0), 5)


def test_the_rule_takes_runs_of_finite_mechanisms_alone():
    assert derived(Compose((Piece(table(LOPSIDED)), Piece(KaryResponse(num(3), parse("1/2"))))), rows=[0, 0]).lower is not None
    with pytest.raises(Rejected):
        derived(Compose((Piece(table(LOPSIDED)), Piece(Radial(parse("exp(-r**2/2)"), L2, num(1)), num(1)))))


def test_groups_reach_further_rows():
    chain = table(THREE, adjacent=((0, 1), (1, 2)))
    near, far = (derived(Compose((part, part)), rows=[0]) for part in (Piece(chain), Piece(Group(Piece(chain), num(2)))))
    all_pairs = [(faces(THREE), 2)]
    agrees(value(far.upper.worst, 2), greatest(all_pairs, Fraction(2)))
    assert value(near.upper.worst, 2) < value(far.upper.worst, 2) and far.lower is not None


def test_neighbours_that_may_not_occur_give_no_lower_bound():
    half = Piece(Lipschitz(Piece(table(RESPONSE)), parse("3/2")))
    found = derived(Compose((half, half)))
    assert found.upper is not None and found.lower is None and not found.exact


def test_the_faces_alone_are_those_of_one_mechanism():
    with precision(96):
        one = finite.curve(table(THREE), **finite_rows.row(Run(Piece(table(THREE))), Fraction(1)))
        found = alone((table(THREE), 1), at=arb(1))
        for epsilon in (arb(0), arb(1) / 2, arb(1)):
            assert found.upper.worst(epsilon).overlaps(one.upper.worst(epsilon))
            assert found.lower.worst(epsilon).overlaps(one.lower.worst(epsilon))


@given(st.lists(st.integers(1, 10**6), max_size=6))
def test_a_coprime_base_makes_all_of_them(integers):
    base = coprime(integers)
    assert 1 not in base and all(gcd(a, b) == 1 for a, b in combinations(base, 2))
    for n in integers:
        for b in base:
            while n % b == 0:
                n //= b
        assert n == 1
