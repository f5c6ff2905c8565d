"""A partition learned from past outputs separates what can be separated, in words that say what it does."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.audits.learn import Intervals, learn, reordered
from dpverify.audits.outputs import Outputs, concatenate, encode
from dpverify.audits.partition import MAX_CELLS, Partition
from tests.effort import examples

Sampler = Callable[[int, int, np.random.Generator], Any]
PAST, FRESH = 10_000, 400_000


def best_loss(sampler: Sampler, *, past: int = PAST, fresh: int = FRESH) -> tuple[float, Partition]:
    """The largest log ratio of an event that a partition learned from `past` outputs a side spans, three standard errors off."""
    rng = np.random.default_rng(7)
    partition = learn(encode(sampler(0, past, rng), past), encode(sampler(1, past, rng), past), seed=1)
    assert partition is not None
    assert 2 <= partition.size <= MAX_CELLS
    ours, theirs = (np.bincount(partition.codes(encode(sampler(x, fresh, rng), fresh)), minlength=partition.size) for x in (0, 1))
    losses = []
    for k in range(1, partition.size):
        for a, b in ((ours[k:].sum(), theirs[k:].sum()), (theirs[:k].sum(), ours[:k].sum())):
            if a:
                losses.append(math.log(a / max(b, 0.5)) - 3 * math.sqrt(1 / a + 1 / max(b, 0.5)))
    return max(losses), partition


def laplace(scale: float) -> Sampler:
    return lambda x, n, rng: x + rng.laplace(0, scale, n)


def bits(x: int, n: int, rng: np.random.Generator) -> Any:
    """Ten bits, of which two are turned the other way on each input: loss 4 log 3 at most."""
    truth = np.zeros(10, bool)
    truth[[0, 1] if x == 0 else [2, 3]] = True
    return np.where(rng.random((n, 10)) < 0.25, ~truth, truth)


def prefix_sums(x: int, n: int, rng: np.random.Generator) -> Any:
    """Only the steps speak: 4 Laplace releases of loss 1/2 each."""
    return np.cumsum(x + rng.laplace(0, 2, (n, 4)), axis=1)


def first_hit(x: int, n: int, rng: np.random.Generator) -> Any:
    """Lists of None that end with a number: geometric lengths of parameter 0.3 or 0.5, noise of loss 1/2."""
    lengths = np.minimum(rng.geometric(0.3 + 0.2 * x, n), 6)
    return [[None] * (k - 1) + [y] for k, y in zip(lengths.tolist(), (x + rng.laplace(0, 2, n)).tolist(), strict=True)]


def leaks_sometimes(x: int, n: int, rng: np.random.Generator) -> Any:
    """Noise of loss 1/10, and once in 300 runs the true value itself."""
    return np.where(rng.random(n) < 1 / 300, float(x), x + rng.laplace(0, 10, n))


def shifted_maximum(x: int, n: int, rng: np.random.Generator) -> Any:
    """Exponential noise: what lies between 0 and 1 never comes from x' = 1; P = 1 - exp(-1/4)."""
    return x + rng.exponential(4, n)


def names(x: int, n: int, rng: np.random.Generator) -> Any:
    """Three answers in words, loss log 2 at most."""
    return rng.choice(["yes", "no", "do not know"], n, p=[0.5, 0.25, 0.25] if x == 0 else [0.25, 0.5, 0.25])


def sometimes_none(x: int, n: int, rng: np.random.Generator) -> Any:
    """None with probability 0.2 on x, 0.1 on x'."""
    return [None if none else y for none, y in zip(rng.random(n) < (0.2 - 0.1 * x), rng.normal(size=n).tolist(), strict=True)]


# What is asked for is a fraction of the supremum of the loss, from the definition of each law.
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("sampler", "loss", "part"),
    [
        (laplace(1.0), 1.0, 0.95),
        (laplace(10.0), 0.1, 0.7),
        (bits, 4 * math.log(3), 0.85),
        (prefix_sums, 2.0, 0.75),
        (first_hit, 0.5 + math.log(0.7**5 / 0.5**5), 0.75),
        (names, math.log(2), 0.95),
        (sometimes_none, math.log(2), 0.9),
    ],
)
def test_a_learned_event_comes_close_to_the_largest_loss(sampler: Sampler, loss: float, part: float) -> None:
    found, _ = best_loss(sampler)
    assert part * loss <= found <= loss


@pytest.mark.parametrize(("sampler", "words"), [(leaks_sometimes, "output == "), (shifted_maximum, "output <= ")])
def test_what_only_one_input_gives_has_its_own_cell(sampler: Sampler, words: str) -> None:
    found, partition = best_loss(sampler)
    assert found > 2.0
    assert any(words in partition.describe(*ends) for ends in ((partition.size - 1, partition.size), (0, 1)))


def test_equal_laws_give_no_event_that_stands() -> None:
    found, _ = best_loss(lambda x, n, rng: rng.normal(size=(n, 3)))
    assert found < 0.02


def test_outputs_that_are_all_alike_give_no_partition() -> None:
    assert learn(encode([None] * 200, 200), encode([None] * 200, 200), seed=0) is None
    assert learn(encode(np.zeros((200, 3)), 200), encode(np.zeros((200, 3)), 200), seed=0) is None


SAMPLERS = [laplace(1.0), bits, prefix_sums, first_hit, leaks_sometimes, names, sometimes_none]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_cell_of_an_output_depends_on_nothing_but_the_output(sampler: Sampler) -> None:
    rng = np.random.default_rng(3)
    partition = learn(encode(sampler(0, 600, rng), 600), encode(sampler(1, 600, rng), 600), seed=2)
    assert partition is not None
    fresh = encode(sampler(0, 3000, rng), 3000)
    codes = partition.codes(fresh)
    assert codes.dtype == np.uint8
    assert np.array_equal(pickle.loads(pickle.dumps(partition)).codes(fresh), codes)
    assert np.array_equal(np.concatenate([partition.codes(fresh[i : i + 7]) for i in range(0, 3000, 7)]), codes)
    assert np.array_equal(partition.codes(fresh[::-1]), codes[::-1])
    strange = concatenate([encode([("never", "seen")] * 5, 5), fresh])
    assert np.array_equal(partition.codes(strange)[5:], codes)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_same_past_and_seed_give_the_same_partition(sampler: Sampler) -> None:
    rng = np.random.default_rng(4)
    left, right = encode(sampler(0, 400, rng), 400), encode(sampler(1, 400, rng), 400)
    one, other = learn(left, right, seed=5), learn(left, right, seed=5)
    assert pickle.dumps(one) == pickle.dumps(other)


@settings(max_examples=examples(15), deadline=None)
@given(st.sampled_from([laplace(1.0), leaks_sometimes, lambda x, n, rng: rng.poisson(3 + x, n)]), st.integers(0, 10**6))
def test_an_event_in_words_is_the_event(sampler: Sampler, seed: int) -> None:
    rng = np.random.default_rng(seed)
    partition = learn(encode(sampler(0, 300, rng), 300), encode(sampler(1, 300, rng), 300), seed=seed)
    if partition is None:
        return
    y = np.asarray(sampler(0, 200, rng), float)
    codes = partition.codes(encode(y, 200))
    for k in range(1, partition.size):
        said = partition.describe(k, partition.size)
        if "more" in said or "..." in said:
            continue
        inside, _, without = said.partition(", except ")
        exceptions = [float(v) for v in without.split(", ") if v]
        truth = [
            value not in exceptions and any(eval(part, {"output": float(f"{value:.12g}")}) for part in inside.split(" or "))
            if inside not in ("no output", "any output")
            else inside == "any output" and value not in exceptions
            for value in y.tolist()
        ]
        assert np.mean(np.array(truth) == (codes >= k)) > 0.99  # words round to ten digits


def test_outliers_do_not_hide_an_event() -> None:
    found, _ = best_loss(lambda x, n, rng: x + rng.laplace(0, 1, n) * np.where(rng.random(n) < 0.01, 1e200, 1))
    assert found > 0.8


def test_numbers_below_all_normal_floats_hide_no_event() -> None:
    def often_tiny(x: int, n: int, rng: np.random.Generator) -> Any:
        # no ramp between tiny ones has a slope that is a float
        return (x + rng.laplace(0, 1, n)) * np.where(rng.random(n) < 0.5, 1e-310, 1)

    assert best_loss(often_tiny)[0] > 0.8


def test_infinite_outputs_are_sorted_too() -> None:
    found, _ = best_loss(lambda x, n, rng: np.where(rng.random((n, 2)) < 0.1 + 0.1 * x, np.inf, rng.normal(size=(n, 2))))
    assert found > 0.9 * math.log(2)  # both infinite: log 4; any infinite: log 0.36/0.19


def test_cells_in_the_order_of_their_counts_are_the_same_cells() -> None:
    rng = np.random.default_rng(1)
    left, right = encode(rng.integers(0, 5, 500), 500), encode(rng.binomial(4, 0.5, 500), 500)
    partition = learn(left, right, seed=0)
    assert isinstance(partition, Intervals)
    codes = partition.codes(left)
    ours, theirs = np.array([10, 1, 30, 7, 3][: partition.size]), np.array([1, 10, 29, 20, 3][: partition.size])
    other = reordered(partition, ours, theirs)
    assert other.order == (1, 3, 4, 2, 0)
    for new, old in enumerate(other.order):
        assert np.array_equal(other.codes(left) == new, codes == old)
        assert other.describe(new, new + 1) == partition.describe(old, old + 1)
    assert other.describe(0, 3) == f"{partition.describe(1, 2)} or {partition.describe(3, 5)}"


def test_floats_and_integers_of_fewer_bits_are_sorted_alike() -> None:
    rng = np.random.default_rng(1)
    left, right = rng.poisson(3, 500), rng.poisson(4, 500)
    partition = learn(encode(left, 500), encode(right, 500), seed=0)
    assert partition is not None
    assert np.array_equal(partition.codes(Outputs(left[:, None])), partition.codes(Outputs(left[:, None].astype(np.float32))))
