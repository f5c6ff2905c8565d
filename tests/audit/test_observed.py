"""What is observed of an output: nan, exceptions, lengths, keys, tables, numbers in texts, places of wide numbers, time, and single steps.

Each leak is one of a known size, and each has a counterpart that keeps to epsilon 1 exactly and is not accused.
"""

import json
from math import exp

import numpy as np
import pytest

import dpverify as dp
from dpverify.audits.bits import learn_bits, learn_places
from dpverify.audits.derived import apart
from dpverify.audits.outputs import concatenate, encode
from dpverify.audits.steps import labels, telling
from dpverify.errors import AuditError, SamplerError
from dpverify.runtime.finding import MODEL, NO_VIOLATION_SEEN, VIOLATION

pandas = pytest.importorskip("pandas")
PAIRS = [([0], [1])]


def shown(write):
    """A sampler of what `write` makes of a noisy number and a generator. The noise is for epsilon 1, or for 2 where it leaks."""
    return lambda scale: lambda data, rng: write(data[0] + rng.laplace(0, scale), rng)


def told(bit, share):
    """A bit that tells the truth so much more often than not."""
    return lambda scale: lambda data, rng: bit(int(data[0]) ^ (rng.random() < 1 / (1 + exp(share / scale))), rng)


def wide(truth, rng):
    number = int.from_bytes(rng.bytes(16), "big")
    return (number & ~(1 << 77)) | (int(truth) << 77)


WRITTEN = {
    "a number in JSON": shown(lambda y, rng: json.dumps({"count": y, "other": rng.normal()})),
    "JSON in bytes": shown(lambda y, rng: json.dumps([y]).encode()),
    "CSV": shown(lambda y, rng: f"name,value\na,{y:.6f}\nb,{rng.normal():.6f}\n"),
    "a sentence": shown(lambda y, rng: f"about {y:.3f} people, number {rng.integers(10**12)}."),
    "the length of a random text": shown(lambda y, rng: "".join(map(chr, rng.integers(97, 123, max(0, round(40 + y)))))),
    "the length of random bytes": shown(lambda y, rng: rng.bytes(max(0, round(40 + y)))),
    "a list of some length": shown(lambda y, rng: rng.normal(size=max(0, round(5 + y))).tolist()),
    "keys": shown(lambda y, rng: {"a": rng.normal()} | ({"b": 1} if y > 0.5 else {})),
    "random keys": shown(lambda y, rng: {f"k{rng.integers(10**9)}": y}),
    "a data frame": shown(lambda y, rng: pandas.DataFrame({"a": ["u", "v"], "n": [y, rng.normal()]})),
    "columns of a data frame": shown(lambda y, rng: pandas.DataFrame({"a": [1, 2], "n" if y > 0.5 else "m": rng.normal(size=2)})),
    "the index of a series": shown(lambda y, rng: pandas.Series([1, 2], index=["a", "b" if y > 0.5 else "c"])),
    "what is missing in a frame": shown(lambda y, rng: pandas.DataFrame({"n": [y if y > 0.5 else np.nan]})),
    "a bit of an integer": told(wide, 1),
    "a bit of a hexadecimal": told(lambda truth, rng: f"{wide(truth, rng):032x}", 1),
    "a remainder": told(lambda truth, rng: 7 * int(rng.integers(10**15)) + int(truth), 1),
    "a blank behind a number": told(lambda truth, rng: f"{rng.normal()}{' ' * truth}", 1),
}


@pytest.mark.parametrize("what", WRITTEN)
def test_what_leaks_twice_the_budget_is_found_and_the_budget_itself_is_not(what):
    found = dp.audit(WRITTEN[what](0.5), epsilon=1, pairs=PAIRS, samples=12_000, confidence=0.999, level=MODEL, seed=1)
    assert found.finding == VIOLATION, what
    clean = dp.audit(WRITTEN[what](1.0), epsilon=1, pairs=PAIRS, samples=800, confidence=0.999, level=MODEL, seed=1)
    assert clean.finding == NO_VIOLATION_SEEN, what


def test_a_bit_of_a_float_is_one_of_its_representation():
    def noisy(data, size, rng):
        fraction = rng.random(size).view(np.int64)
        return ((fraction & ~(1 << 20)) | (data[0] << 20)).view(np.float64)

    found = dp.audit(noisy, epsilon=1, pairs=PAIRS, samples=10_000, seed=1)
    assert (found.finding, found.level) == (VIOLATION, "float")
    assert "bit 20 of y, counted from its last" in found.event


def failing(where, how, share=0.02):
    def noisy(data, rng):
        if data[0] in where and rng.random() < share:
            return float("nan") if how == "nan" else int(f"x{data[0]}" if how == "what it says" else "x")
        return data[0] + rng.laplace()

    return noisy


@pytest.mark.wide
@pytest.mark.parametrize("how", ["nan", "raises"])
def test_what_fails_on_one_side_alone_is_a_violation_and_what_fails_on_both_an_error_unless_it_is_observed(how):
    found = dp.audit(failing({1}, how, 0.1), epsilon=1, pairs=PAIRS, samples=20_000, seed=1)
    assert (found.finding, found.level) == (VIOLATION, MODEL)
    assert any("nan and exceptions are outputs here" in note for note in found.notes)
    assert found.confidence == pytest.approx(1 - 2e-6, abs=1e-12)  # of two runs, each of which may be mistaken
    with pytest.raises(SamplerError, match=r"fails on the neighbour|did not fail"):
        dp.audit(failing({0, 1}, how), epsilon=1, pairs=PAIRS, samples=3000, seed=1, level=MODEL)
    observed = dp.audit(failing({0, 1}, how), epsilon=1, pairs=PAIRS, samples=3000, seed=1, level=MODEL, observe="failures")
    assert observed.finding == NO_VIOLATION_SEEN


@pytest.mark.wide
def test_what_fails_is_found_alike_by_any_number_of_workers():
    found = [
        dp.audit(gives_nan, dp.laplace(scale=1), sensitivity=1, epsilon=1, samples=30_000, seed=1, workers=workers) for workers in (0, 2)
    ]
    assert found[0].finding == VIOLATION
    assert found[0].samples == found[1].samples
    assert found[0].event == found[1].event


def gives_nan(data, size, rng):
    outputs = data[0] + rng.laplace(size=size)
    return np.where((rng.random(size) < 0.02) & (data[0] > 0.5), np.nan, outputs)


def test_what_an_exception_says_is_an_output():
    noisy = failing({0, 1}, "what it says", 0.2)
    found = dp.audit(noisy, epsilon=1, pairs=PAIRS, samples=20_000, seed=1, observe="failures", level=MODEL)
    assert found.finding == VIOLATION


def test_a_sampler_that_always_fails_is_an_error_whatever_is_observed():
    for observe in (None, "time"):
        with pytest.raises(SamplerError, match="ValueError"):
            dp.audit(failing({0, 1}, "raises", 1.0), epsilon=1, pairs=PAIRS, samples=3000, seed=1, observe=observe)
    with pytest.raises(AuditError, match="observe = 'colour'"):
        dp.audit(failing({0}, "nan"), epsilon=1, pairs=PAIRS, observe="colour")


@pytest.mark.parametrize(("how", "said"), [({"executor": 3}, "executor = 3: it cannot submit"), ({"vectorised": "x"}, "vectorised = 'x'")])
def test_how_outputs_are_sampled_is_looked_at_first(how, said):
    with pytest.raises(AuditError, match=said):
        dp.audit(lambda data, size, rng: rng.normal(size=size), epsilon=1, pairs=PAIRS, samples=100, seed=1, **how)


def test_nan_in_a_batch_is_a_part_of_the_shape():
    numbers = np.array([[1.0, np.nan, 3.0], [4.0, 5.0, 6.0], [np.nan, np.nan, 9.0]])
    outputs = encode(numbers, 3, failures=True)
    names = [outputs.names[shape] for shape in outputs.shapes]
    assert names == ["[number, nan, number]", "[number x 3]", "[nan x 2, number]"]
    assert outputs.numbers.tolist() == [[1, 3, 0], [4, 5, 6], [9, 0, 0]]
    assert encode([{"a": np.nan, "b": 2.0}], 1, failures=True).names == ("{'a': nan, 'b': number}",)


@pytest.mark.wide
def test_time_is_an_output_where_it_is_asked_for():
    def slower(data, rng):
        sum(range(2000 if data[0] else 2))
        return data[0] + rng.laplace()

    quiet = dp.audit(slower, epsilon=1, pairs=PAIRS, samples=2000, seed=1, level=MODEL)
    timed = dp.audit(slower, epsilon=1, pairs=PAIRS, samples=2000, seed=1, level=MODEL, observe="time")
    assert (quiet.finding, timed.finding) == (NO_VIOLATION_SEEN, VIOLATION)
    assert any(note.startswith("time: ") for note in timed.notes)
    assert "observe='time'" in timed.replay

    def alike(data, size, rng):
        return data[0] + rng.laplace(size=size)

    clean = dp.audit(alike, epsilon=1, pairs=PAIRS, samples=2000, seed=1, level=MODEL, observe="time")
    assert clean.finding == NO_VIOLATION_SEEN
    assert clean.epsilon_lower == 0.0  # a bound by counts would suppose independent runs


@pytest.mark.wide
def test_the_step_that_tells_too_much_is_named():
    def pipeline(data, size, rng):
        scale = np.full(10, 10.0)
        scale[3] = 2.0
        return np.asarray(data) + rng.laplace(0, scale, (size, 10))

    found = dp.audit(pipeline, epsilon=1, pairs=[([0] * 10, [1] * 10)], samples=200_000, seed=1, level=MODEL)
    (named,) = [note for note in found.notes if "by itself" in note]
    assert "y[3] tells most" in named
    assert 0.2 < float(named.split("above ")[1].split(",")[0]) < 0.5


def test_no_step_is_named_where_all_tell_alike_and_no_bound_is_above_the_truth():
    rng = np.random.default_rng(3)
    outputs = [encode(start + rng.laplace(0, [2.0, 2.0, 2.0, 2.0], (20_000, 4)), 20_000) for start in (0, 1)]
    assert telling(*outputs, 0.0) == ""
    assert telling(outputs[0], outputs[0], 0.0) == ""


def test_numbers_are_called_by_their_keys():
    assert labels("[number x 2, bool]") == ["y[0]", "y[1]", "y[2]"]
    assert labels("{'a': number, 'b': [number x 2], 'c': str}") == ["y['a']", "y['b', 0]", "y['b', 1]", "y['c']"]


def test_what_is_taken_apart_depends_on_the_output_alone():
    rng = np.random.default_rng(1)
    texts = [json.dumps({"a": rng.normal(), "b": [int(rng.integers(9)), "é"]}) for _ in range(40)]
    mixed: list[object] = [text if i % 3 else [text, "short", rng.normal(), None, 1j] for i, text in enumerate(texts)]
    outputs = encode(mixed, len(mixed))
    how = apart(outputs)
    whole = how.of(outputs)
    again = concatenate([how.of(encode([each], 1)) for each in mixed])
    assert [whole.names[i] for i in whole.shapes] == [again.names[i] for i in again.shapes]
    np.testing.assert_array_equal(whole.numbers, again.numbers[:, : whole.numbers.shape[1]])


def test_of_right_samplers_no_place_is_learned():
    rng = np.random.default_rng(2)
    left, right = ([int(y) for y in start + np.round(rng.laplace(0, 1000, 4000))] for start in (0, 1000))
    assert learn_places(encode(left, 4000), encode(right, 4000), 1.0) is None
    floats = [encode(start + rng.laplace(0, 1, 4000), 4000) for start in (0.0, 1.0)]
    assert learn_bits(*floats, 1.0) is None
