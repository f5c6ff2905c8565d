"""Samples of finite mechanisms, composed exactly: every delta is that of listing all outputs, or of playing all choices out."""

from fractions import Fraction
from functools import cache
from itertools import product
from math import prod

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.search.finite import finite_rows
from dpverify.trusted.combinators.runs import merged
from dpverify.trusted.kernel.balls import constant, precision, rational
from dpverify.trusted.kernel.errors import Rejected, Undecided
from dpverify.trusted.kernel.expr import Num, num, parse
from dpverify.trusted.kernel.model import Compose, Group, Part, PostProcess, Subsample, Table, Translation, repeated
from dpverify.trusted.theories.composition import laws
from dpverify.trusted.theories.composition.ratios import Keys, Ratio, quotient
from dpverify.trusted.theories.composition.rules import finite_composition
from tests.effort import examples

F = Fraction
BITS = 128


def table(*rows):
    return Part(Table(tuple(tuple(map(Num, map(F, row))) for row in rows)))


def sample(part, rate, times=1, scheme="poisson"):
    return repeated(Part(Subsample(part, parse(str(rate)), scheme)), num(times))


def found(*parts, at=0):
    with precision(BITS):
        runs = merged(Part(Compose(parts)))
        return finite_composition.curve(runs, finite_rows.parameters(runs, F(at)))


def agrees(ball, value):
    with precision(BITS):
        return ball.overlaps(value) and bool(ball.rad() < arb(10) ** -25)


# -- the truth, by listing ---------------------------------------------------------------------------


def excess(outputs, epsilon):
    with precision(2 * BITS):
        factor = rational(F(epsilon)).exp()
        return sum(((rational(p) - factor * rational(q)).max(arb(0)) for p, q in outputs), arb(0))


def together(*lists):
    outputs = [(F(1), F(1))]
    for more in lists:
        outputs = joined([(p * a, q * b) for p, q in outputs for a, b in more])
    return outputs


def joined(outputs):
    """Outputs of equal ratios together: that keeps every delta."""
    sums = {}
    for p, q in outputs:
        key = None if q == 0 else p / q
        a, b = sums.get(key, (0, 0))
        sums[key] = a + p, b + q
    return list(sums.values())


def mixed(outputs, rate):
    return [(rate * p + (1 - rate) * q, q) for p, q in outputs]


def swapped(outputs):
    return [(q, p) for p, q in outputs]


def pairs(rows):
    return [list(zip(a, b, strict=True)) for a in rows for b in rows if a is not b]


def played(kinds, order, epsilon):
    """The most over all ways of choosing the next copy's pair after the outputs so far, by recursion over outcomes of exact rationals."""
    with precision(2 * BITS):
        factor = rational(F(epsilon)).exp()

        @cache
        def won(place, p, q):
            if place == len(order):
                return (rational(p) - factor * rational(q)).max(arb(0))
            best = arb(0)
            for outputs in kinds[order[place]]:
                best = best.max(sum((won(place + 1, p * a, q * b) for a, b in outputs), arb(0)))
            return best

        return won(0, F(1), F(1))


rates = st.sampled_from([F(1, 100), F(1, 5), F(1, 3), F(9, 10), F(1)])
numbers = st.fractions(F(-2), F(3), max_denominator=20)


@st.composite
def symmetric_rows(draw):
    """Two rows, each the other from behind: one pair in both orders."""
    weights = draw(st.lists(st.integers(0, 6), min_size=2, max_size=3).filter(any))
    row = [F(w, sum(weights)) for w in weights]
    return row, row[::-1]


@settings(max_examples=examples(40))
@given(symmetric_rows(), symmetric_rows(), rates, rates, st.integers(1, 3), numbers)
def test_samples_of_compositions_with_one_pair_have_the_delta_of_all_outputs(first, second, rate, other, times, epsilon):
    inside = Part(Compose((table(*first), table(*first), table(*second))))
    curve = found(sample(inside, rate, times), sample(table(*second), other))
    one, two = (list(zip(*rows, strict=True)) for rows in (first, second))
    outputs = together(*[mixed(together(one, one, two), rate)] * times, mixed(two, other))
    assert curve.exact
    with precision(BITS):
        at = rational(epsilon)
        assert agrees(curve.upper.delta(at), excess(outputs, epsilon))
        assert agrees(curve.upper.reversed.delta(at), excess(swapped(outputs), epsilon))
        for rest, order in zip(curve.lower.rests, (outputs, swapped(outputs)), strict=True):
            assert agrees(rest(), rational(sum(p for p, q in order if q == 0)))


@settings(max_examples=examples(40))
@given(st.lists(st.lists(st.integers(0, 6), min_size=2, max_size=2).filter(any), min_size=2, max_size=3), rates, st.integers(1, 3), numbers)
def test_parts_with_several_pairs_have_the_delta_of_the_best_choices(weights, rate, times, epsilon):
    rows = [[F(w, sum(row)) for w in row] for row in weights]
    curve = found(sample(table(*rows), rate, times), sample(table(*SYMMETRIC), F(1, 2)))
    extra = mixed(list(zip(*SYMMETRIC, strict=True)), F(1, 2))
    kinds = {0: [extra], 1: [mixed(outputs, rate) for outputs in pairs(rows)]}
    back = {kind: [swapped(outputs) for outputs in every] for kind, every in kinds.items()}
    order = [0, *[1] * times]
    with precision(BITS):
        at = rational(epsilon)
        forward, backward = curve.upper.delta(at), curve.upper.reversed.delta(at)
        assert agrees(forward, played(kinds, order, epsilon)) and agrees(backward, played(back, order, epsilon))
        lower = max(excess(together(*[outputs] * times, extra), epsilon) for outputs in kinds[1])
        assert curve.lower.delta(at) <= lower + arb(10) ** -25


@settings(max_examples=examples(15), deadline=None)
@given(rates, rates, numbers)
def test_two_samples_with_several_pairs_have_the_delta_of_the_best_choices_in_the_best_order(rate, other, epsilon):
    rows = [[F(3, 4), F(1, 4)], [F(1, 5), F(4, 5)]]
    curve = found(sample(table(*rows), rate), sample(table(*rows[::-1]), other))
    kinds = {i: [mixed(outputs, w) for outputs in pairs(rows)] for i, w in enumerate((rate, other))}
    back = {kind: [swapped(outputs) for outputs in every] for kind, every in kinds.items()}
    with precision(BITS):
        for profile, which in ((curve.upper.delta, kinds), (curve.upper.reversed.delta, back)):
            best = played(which, [0, 1], epsilon).max(played(which, [1, 0], epsilon))
            assert agrees(profile(rational(epsilon)), best)


SYMMETRIC = ((F(3, 4), F(1, 4)), (F(1, 4), F(3, 4)))


def test_ten_samples_of_two_randomized_responses():
    """The number is that of an outside accountant, from the list of wrong answers that this rule mends."""
    curve = found(sample(repeated(Part(Compose((table(*SYMMETRIC),))), num(2)), F(1, 3), 10))
    with precision(BITS):
        assert abs(float(curve.upper.worst(arb(1)).mid()) - 0.41716) < 5e-6 and curve.exact


def test_samples_in_samples_and_exponentials_of_irrational_size():
    e = "exp(1)/(1 + exp(1))"
    response = Part(Table(((parse(e), parse("1/(1 + exp(1))")), (parse("1/(1 + exp(1))"), parse(e)))))
    inner = repeated(Part(Subsample(response, parse("1/2"))), num(2))
    curve = found(sample(Part(Compose((inner,))), "exp(-1)", 2))
    with precision(BITS):
        p = constant(parse(e))
        outputs = [(p, 1 - p), (1 - p, p)]
        half = [((a + b) / 2, b) for a, b in outputs]
        rate = constant(parse("exp(-1)"))
        once = [(rate * a * c + (1 - rate) * b * d, b * d) for (a, b), (c, d) in product(half, half)]
        x = rational(F(1, 10)).exp()
        truth = sum(((a * c - x * b * d).max(arb(0)) for (a, b), (c, d) in product(once, once)), arb(0))
        assert agrees(curve.upper.delta(rational(F(1, 10))), truth)


def test_formally_equal_products_of_ratios_are_one():
    assert quotient(parse("exp(1)*6"), parse("2*exp(1/2)")) == quotient(parse("3*exp(1)"), parse("exp(1/2)"))
    (law,) = finite_composition.choice(merged(table(*SYMMETRIC))[0]).laws
    for one in (law, laws.sampled(law, parse("1/3")), laws.sampled(law, parse("exp(-1)"))):
        assert len(laws.Product([(one, 9)]).law().ratios) == 10


@given(st.lists(st.fractions(F(1, 30), F(30)), min_size=1, max_size=3), st.lists(st.integers(0, 3), min_size=3, max_size=3))
def test_products_of_ratios_are_sums_of_their_integers(numbers, times):
    ratios = [Ratio(number, frozenset({(parse("log(7)"), F(i))} if i else ())) for i, number in enumerate(numbers)]
    keys = Keys(ratios, 9)
    key = sum(keys.key(ratio) * k for ratio, k in zip(ratios, times, strict=False))
    number = prod((ratio.number**k for ratio, k in zip(ratios, times, strict=False)), start=F(1))
    power = sum(i * k for i, k in zip(range(len(ratios)), times, strict=False))
    assert keys.ratio(key) == Ratio(number, frozenset({(parse("log(7)"), F(power))} if power else ()))
    with precision(BITS):
        assert keys.ball(key).overlaps(rational(number) * arb(7).log() ** power)
        assert (keys.ball(key) * keys.ball(-key)).overlaps(arb(1))


@pytest.mark.parametrize(
    ("part", "says"),
    [
        (sample(table(*SYMMETRIC), F(1, 3), scheme="without_replacement"), "only Poisson samples"),
        (sample(table(*SYMMETRIC), "0"), "not certainly above 0"),
        (sample(table(*SYMMETRIC), "p"), "not certainly above 0"),
        (sample(Part(PostProcess(table(*SYMMETRIC))), F(1, 3)), "not seen as it is"),
        (Part(Group(sample(table(*SYMMETRIC), F(1, 3)), num(2))), "one record apart"),
        (sample(Part(Translation(parse("exp(-abs(z))")), num(1)), F(1, 3)), "are finite"),
    ],
)
def test_what_is_no_sample_of_finite_mechanisms_is_rejected(part, says):
    with pytest.raises(Rejected, match=says):
        found(part)


def test_more_products_than_are_in_reach_are_undecided(monkeypatch):
    skew = table((F(3, 4), F(1, 4)), (F(1, 5), F(4, 5)))
    with pytest.raises(Undecided, match="inside a sample"):
        found(sample(repeated(Part(Compose((skew,))), num(2)), F(1, 3)))
    monkeypatch.setattr(laws, "MOST_PRODUCTS", 20)
    monkeypatch.setattr(laws, "MOST_WORK", 20)
    with pytest.raises(Undecided, match="more than 20 products of probabilities"):
        found(sample(table(*SYMMETRIC), F(1, 3), 9))
    with pytest.raises(Undecided, match="for one epsilon"):
        found(sample(skew, F(1, 3), 9))
