"""Programs that are run: coins fall, samples are of neighbours that the decorator speaks of, and agreement knows all kinds of data."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import dpverify as dp
from dpverify.cli.programs import neighbours
from dpverify.replays.refuted import declared


@dp.program(inputs=["no", "yes"])
def response(answer, noise):
    if noise.coin(1 / 2):
        return answer
    return ["no", "yes"][noise.below(2)]


@dp.program(inputs=["no", "yes"])
def heads(answer, noise):
    return noise.binomial(2, 3 / 4 if answer == "yes" else 1 / 4)


@dp.program(sensitivity=1)
def two_numbers(count, noise):
    return count + noise.discrete_laplace(1), count + noise.discrete_laplace(2)


@dp.program(sensitivity=1, neighbours="one")
def each(answers, noise):
    return [answer + noise.discrete_laplace(1) for answer in answers]


@dp.program(sensitivity=1, neighbours="monotone")
def best(answers, noise):
    noisy = [answer + noise.laplace(1) for answer in answers]
    return noisy.index(max(noisy))


@dp.program(sensitivity=2, answers=2)
def larger(answers, noise):
    noisy = [3 * answer + noise.laplace(1) for answer in answers]
    return noisy.index(max(noisy))


@dp.program(sensitivity=1, answers=2)
def in_order(answers, noise):
    a, b = answers
    noisy = [a + noise.discrete_laplace(1), b + noise.discrete_laplace(1)]
    return sorted(range(2), key=lambda i: noisy[i])


@dp.program(sensitivity=1, neighbours="hull", hull=[[1, -1]], answers=2)
def hull(answers, noise):
    a, b = answers
    return a + noise.laplace(1), b + noise.laplace(1)


@dp.program(bounds=[0, 1])
def bounded(answers, noise):
    return any(answer + noise.laplace(1) >= 3 for answer in answers)


@dp.program(bounds=[2, 3], sensitivity=1)
def elsewhere(answers, noise):
    return any(answer + noise.laplace(1) >= 3 for answer in answers)


@dp.program(sensitivity=1)
def ended(answers, noise):
    t = noise.laplace(1)
    for answer in answers:
        if answer + noise.laplace(2) >= t:
            yield True
            break
        else:
            yield False
    else:
        yield "none"


@dp.program(sensitivity=1, neighbours="one")
def alike(answers, noise):
    t = noise.laplace(1)
    for answer in answers:
        if answer + noise.laplace(1) >= t:
            yield True
        else:
            yield True
            break
    else:
        yield "end"


@dp.program(adjacency="add-remove")
def words(rows, noise):
    return {name: len([row for row in rows if row["dept"] == name]) + noise.discrete_laplace(1) for name in ("sales", "research")}


@dp.program(adjacency="add-remove")
def rounded(rows, noise):
    number = len(rows) + noise.laplace(1)
    return round(number / 2), number > 3


@pytest.mark.parametrize(("program", "data", "chances"), [
    (response, "yes", {"yes": 3 / 4, "no": 1 / 4}), (heads, "no", {0: 9 / 16, 1: 6 / 16, 2: 1 / 16}),
])  # fmt: skip
def test_coins_fall_as_often_as_is_proved(program, data, chances):
    for seen in (
        Counter(program.run(data, seed=seed) for seed in range(400)),
        Counter(map(program.sampler(), [data] * 400, [np.random.default_rng(0)] * 400)),
    ):
        assert set(seen) <= set(chances)
        assert all(abs(seen[told] - 400 * p) <= 6 * (400 * p * (1 - p)) ** 0.5 for told, p in chances.items())


PAIRS = {
    response: [("no", "yes")], two_numbers: [(0, 1)], each: [([0, 0, 0, 0], [1, 0, 0, 0])], best: [([0, 0, 0, 0], [1, 1, 1, 1])],
    in_order: [([0, 0], [1, 1]), ([0, 1], [1, 0])], bounded: [([0, 0, 0, 0], [1, 1, 1, 1]), ([0, 1, 0, 1], [1, 0, 1, 0])],
    hull: [], elsewhere: [], larger: [], words: [],
}  # fmt: skip


@pytest.mark.parametrize("program", PAIRS, ids=lambda program: program.__name__)
def test_samples_are_of_neighbours_that_the_decorator_speaks_of(program):
    assert neighbours(program.options, declared(program.text, {})[1]) == PAIRS[program]


@pytest.mark.parametrize("program", [two_numbers, in_order, larger, ended, alike, words], ids=lambda program: program.__name__)
def test_right_programs_agree_with_what_is_read(program):
    assert program.agree(tries=60).finding == "NO_DIFFERENCE_SEEN"


def test_what_is_made_of_noisy_sums_is_not_compared():
    assert rounded.agree(tries=5).finding == "NOT_COMPARED"


def test_a_refutation_over_words_is_seen_in_the_function():
    shown = words.rerun(dp.verify(words, epsilon="1/2"))
    assert shown.finding == "SHOWN" and shown.loss == 1
    (row,) = shown.first.data
    assert row["dept"] in ("sales", "research") and not shown.second.data


def test_another_function_over_words_differs():
    from dpverify.replays.agreeing import agreement

    def others(rows, noise):
        return {name: len([row for row in rows if row["dept"] != name]) + noise.discrete_laplace(1) for name in ("sales", "research")}

    assert agreement(others, words.text, None, None, 100, 0).finding == "DIFFERENCE"
