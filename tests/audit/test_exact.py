"""Numbers of any size and type keep their exact value in an audit: what floats would not tell apart is told apart, and nothing else is."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dpverify.audits import audit
from dpverify.audits.engine import BlockResult
from dpverify.audits.journal import _packed_outputs, _unpacked_outputs
from dpverify.audits.outputs import Outputs, concatenate, encode, exact_number, exact_vector
from dpverify.audits.places import places_of
from dpverify.audits.target import prepare
from dpverify.runtime.finding import MODEL, NO_VIOLATION_SEEN, NONCONFORMING, VIOLATION
from dpverify.trusted.kernel.expr import Num, parse
from dpverify.trusted.kernel.model import Claim, Norm, Radial, Translation

FAR = 2**60
PAIR = [([0], [1])]
ONE = Num(Fraction(1))
INTEGERS = Claim(Translation(parse("exp(-abs(z))"), integers=True), ONE, sensitivity=ONE)
LAPLACE = Claim(Radial(parse("exp(-r)"), Norm("lp", Fraction(1)), ONE), ONE, sensitivity=ONE)


def geometric(rng, size, epsilon):
    p = 1 - np.exp(-epsilon)
    return (rng.geometric(p, size) - rng.geometric(p, size)).tolist()


FORMS = {
    "int": lambda value: value,
    "past int64": lambda value: value * 2**80,
    "past all floats": lambda value: value + 10**400,
    "Fraction": lambda value: Fraction(value) + Fraction(1, 3),
    "Decimal": Decimal,
    "text": str,
    "text of a decimal": lambda value: f" {value}.50",
    "np.longdouble": np.longdouble,
    "np.uint64": np.uint64,
    "nested": lambda value: {"a": (0.5, [value])},
    "in an array": lambda value: np.array([[value, 1]]),
    "complex of objects": lambda value: [None, {"b": Decimal(value) / 7}],
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("form", FORMS)
def test_an_answer_past_2_to_53_without_noise_is_a_violation_in_any_form(form):
    def sampler(data, rng):
        return FORMS[form](FAR + int(data[0]))

    finding = audit(sampler, epsilon=1, pairs=PAIR, samples=2000, seed=1)
    assert (finding.finding, finding.level) == (VIOLATION, MODEL), finding.text()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("form", ["int", "Decimal", "text", "nested"])
def test_half_the_noise_past_2_to_53_is_a_violation_and_all_of_it_is_none(form):
    def sampler(epsilon):
        return lambda data, size, rng: [FORMS[form](FAR + int(data[0]) + noise) for noise in geometric(rng, size, epsilon)]

    assert audit(sampler(2.0), epsilon=1, pairs=PAIR, samples=4000, seed=1).finding == VIOLATION
    for seed in range(3):
        found = audit(sampler(1.0), epsilon=1, pairs=PAIR, samples=2000, seed=seed, confidence=0.999)
        assert found.finding == NO_VIOLATION_SEEN, found.text()


@pytest.mark.wide
@pytest.mark.sampled(1)
@pytest.mark.parametrize("form", ["int", "Decimal", "text"])
def test_declared_integer_noise_is_checked_against_the_exact_answer_however_large(form):
    pairs = [([FAR], [FAR + 1]), ([2**80], [2**80 + 1]), ([0], [1])]

    def sampler(epsilon):
        return lambda data, size, rng: [FORMS[form](int(data[0]) + noise) for noise in geometric(rng, size, epsilon)]

    for seed in range(2):
        found = audit(sampler(1.0), INTEGERS, pairs=pairs, samples=6000, seed=seed, confidence=0.999)
        assert (found.finding, found.also) == (NO_VIOLATION_SEEN, ()), found.text()
    assert audit(sampler(2.0), INTEGERS, pairs=pairs, samples=6000, seed=1).finding == VIOLATION
    wide = audit(sampler(0.7), INTEGERS, pairs=pairs, samples=6000, seed=1)
    assert wide.finding == NONCONFORMING and wide.as_expected is False


def test_a_third_beside_an_integer_is_no_integer_however_large():
    finding = audit(
        lambda data, size, rng: [int(data[0]) + noise + Fraction(1, 3) for noise in geometric(rng, size, 1.0)],
        INTEGERS, pairs=[([FAR], [FAR + 1])], samples=2000, seed=1,
    )  # fmt: skip
    assert "outside the declared support" in finding.event


@pytest.mark.wide
def test_continuous_noise_on_an_exact_answer_is_checked_too():
    def sampler(scale):
        return lambda data, size, rng: [int(data[0]) + Fraction(value) for value in rng.laplace(0, scale, size).tolist()]

    pairs = [([FAR], [FAR + 1])]
    assert audit(sampler(1.0), LAPLACE, pairs=pairs, samples=2000, seed=1).finding == NO_VIOLATION_SEEN
    assert audit(sampler(0.5), LAPLACE, pairs=pairs, samples=2000, seed=1).finding == VIOLATION


@pytest.mark.parametrize("data", [[FAR + 1, 0.5], [2**63, -1], [2**70, 1.5], [[FAR + 1, 0.5], [1, 2]]])
def test_data_reach_the_sampler_as_they_were_given(data):
    given = prepare(data)
    assert (given.tolist() if isinstance(given, np.ndarray) else given) == data
    assert isinstance(prepare([1, 0.5]), np.ndarray), "small numbers are an array as ever"


VALUES = [FAR, FAR + 1, -(2**70), 0.5, 3, Fraction(1, 3), Decimal("1e-7"), Decimal("0.1"), float("inf"), np.float32(0.1), 10**400, True]


def test_the_exact_value_and_order_of_any_two_numbers_are_kept():
    values = VALUES[:-1]
    outputs = encode([[value] for value in values], len(values))
    numbers = {}
    for index in range(len(values)):
        name = outputs.names[0 if outputs.shapes is None else outputs.shapes[index]]
        numbers[index] = outputs.column(1 if "decimal" in name else 0)[index]
    for i, one in enumerate(values):
        for j, other in enumerate(values):
            if isinstance(one, Decimal) or isinstance(other, Decimal):
                continue  # with few digits these are floats: their own order is kept
            assert (numbers[i] < numbers[j]) == (exact_number(one) < exact_number(other))


def test_batches_keep_exact_numbers_when_they_are_joined_cut_and_written_down():
    parts = [encode([FAR + 1, FAR + 2], 2), encode([0.5, 1.5], 2), encode([FAR, 0.5], 2), encode(np.array([2**63], np.uint64), 1)]
    both = concatenate(parts)
    wanted = [FAR + 1, FAR + 2, Fraction(1, 2), Fraction(3, 2), FAR, Fraction(1, 2), 2**63]
    assert both.column(0).tolist() == wanted
    assert both[np.array([1, 4])].column(0).tolist() == [FAR + 2, FAR]
    read = _unpacked_outputs(_packed_outputs(both))
    assert read.column(0).tolist() == wanted and read.names == both.names
    huge = encode([10**5000, 10**5000 + 1], 2)
    assert _unpacked_outputs(_packed_outputs(huge)).column(0).tolist() == [10**5000, 10**5000 + 1]
    assert BlockResult(0, 1, (), (), None, 0.0).kept is None


def test_places_keep_the_order_and_tell_all_numbers_apart_that_were_seen():
    past = encode([FAR + 3, FAR, FAR + 1, FAR + 3], 4)
    places = places_of(past)
    assert places is not None and places.of(past).numbers[:, 0].tolist() == [2, 0, 1, 2]
    assert places.of(encode([FAR - 5, FAR + 2, FAR + 9, 2.0**60], 4)).numbers[:, 0].tolist() == [-0.5, 1.5, 2.5, 0]
    assert places_of(encode([1.5, 2, 3], 3)) is None


def test_vectors_of_floats_stay_floats_and_others_are_exact():
    assert exact_vector([1.5, 2]).dtype == np.float64
    assert exact_vector(np.array([FAR + 1])).tolist() == [FAR + 1]
    assert exact_vector([[FAR + 1, 0.5]]).tolist() == [FAR + 1, Fraction(1, 2)]
    with pytest.raises(TypeError):
        exact_vector(["a"])


def test_texts_that_are_numbers_keep_their_text_and_their_order():
    outputs = encode(["10", "9", "10.0", "x", "1/3"], 5)
    assert outputs.names == ("numeral", "str")
    assert outputs.numbers[:3, 1].tolist() == [10, 9, 10]
    assert outputs.numbers[0, 0] != outputs.numbers[2, 0], "another text for the same number is another output"
    assert encode(np.array(["10", "9"]), 2).names == ("numeral",)


@pytest.mark.parametrize("value", ["1e99999999999", "9" * 5000, Decimal("1e999999999"), Decimal("-1e-999999999"), Decimal("inf")])
def test_numbers_that_would_fill_the_memory_are_no_trap(value):
    assert len(encode([value, value], 2)) == 2


def test_a_difference_from_an_exact_point_is_exact():
    outputs = encode([FAR + 1, FAR - 2], 2)
    assert outputs.less(np.array([FAR], object)).numbers[:, 0].tolist() == [1, -2]
    assert Outputs(np.array([[2.0**60]])).less(np.array([FAR + 1], object)).numbers[0, 0] == -1
