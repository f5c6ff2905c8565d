"""Ten releases over rows as people write them, each right, and with planted bugs: thirty in all.

RIGHT: name -> (pipeline, arguments of dpverify.replay). WRONG: (name of the release, what is wrong, pipeline).
"""

import random

import numpy as np
from hypothesis import strategies as st

import dpverify as dp

PAY = st.one_of(st.integers(-50, 500), st.floats(-50, 500), st.just(float("nan")), st.just(float("inf")))
AGE, GROUP = st.integers(0, 90), st.sampled_from("abc")
PEOPLE = {"pay": PAY, "age": AGE, "group": GROUP}
GROUPS = "abc"


def clip(x, low, high):
    return min(max(x, low), high) if x == x else low  # what is no number counts as the least


def counts_by(rows, key=lambda row: row["group"]):
    found = dict.fromkeys(GROUPS, 0)
    for row in rows:
        found[key(row)] += 1
    return found


# -- 1. a histogram by group --------------------------------------------------------------------------------------------


def histogram(rows, noise):
    return noise.laplace(counts_by(rows), scale=2, sensitivity=1)


def histogram_of_seen_groups(rows, noise):
    found = {}
    for row in rows:
        found[row["group"]] = found.get(row["group"], 0) + 1
    return noise.laplace(found, scale=2, sensitivity=1)


def histogram_in_order_of_counts(rows, noise):
    true = counts_by(rows)
    noisy = noise.laplace(true, scale=2, sensitivity=1)
    return {key: noisy[key] for key in sorted(noisy, key=lambda key: -true[key])}


def histogram_without_small_groups(rows, noise):
    true = counts_by(rows)
    noisy = noise.laplace(true, scale=2, sensitivity=1)
    return {key: value for key, value in noisy.items() if true[key] >= 2}


# -- 2. the mean of clipped incomes ---------------------------------------------------------------------------------------


def mean_income(rows, noise):
    values = [clip(row["pay"], 0, 100) for row in rows]
    total = noise.laplace(sum(values), scale=50, sensitivity=100)
    count = noise.laplace(len(values), scale=2, sensitivity=1)
    return total / max(count, 1)


def mean_clipped_after_noise(rows, noise):
    values = [row["pay"] for row in rows if row["pay"] == row["pay"]]
    return min(max(noise.laplace(sum(values), scale=50, sensitivity=100), 0), 100 * len(rows))


def mean_by_the_true_count(rows, noise):
    values = [clip(row["pay"], 0, 100) for row in rows]
    return noise.laplace(sum(values), scale=50, sensitivity=100) / max(len(values), 1)


def mean_with_a_clip_that_lets_nan_through(rows, noise):
    values = [max(min(row["pay"], 100), 0) if row["pay"] > 0 or row["pay"] != row["pay"] else 0 for row in rows]
    return noise.laplace(sum(values), scale=50, sensitivity=100)


def mean_of_nobody(rows, noise):
    values = [clip(row["pay"], 0, 100) for row in rows]
    spread = sum(values) / len(values)
    return noise.laplace(spread * 0, scale=50, sensitivity=1)


# -- 3. sparse top groups ---------------------------------------------------------------------------------------------------


def top_groups(rows, noise, k):
    """The k groups with the greatest noisy counts, one after the other."""
    left, found = counts_by(rows), []
    for _ in range(k):
        best = noise.noisy_max(left, noise=dp.laplace(4), sensitivity=1, neighbours="monotone")
        found.append((best, noise.laplace(left.pop(best), scale=4, sensitivity=1)))
    return found


def top_groups_with_ties_by_the_truth(rows, noise, k):
    found = top_groups(rows, noise, k)
    true = counts_by(rows)
    return sorted(found, key=lambda one: true[one[0]])


def top_groups_until_empty(rows, noise, k):
    left, found = counts_by(rows), []
    while len(found) < k and any(left.values()):
        best = noise.noisy_max(left, noise=dp.laplace(4), sensitivity=1)
        found.append(best)
        left.pop(best)
    return found


def top_groups_of_those_that_occur(rows, noise, k):
    left = {key: count for key, count in counts_by(rows).items() if count}
    return noise.noisy_max(left, noise=dp.laplace(4), sensitivity=1) if left else None


# -- 4. quantiles by the exponential mechanism ----------------------------------------------------------------------------


def median_age(rows, noise):
    ages = [row["age"] for row in rows]
    scores = [-abs(sum(age < edge for age in ages) - sum(age > edge for age in ages)) for edge in range(0, 91, 10)]
    return 10 * noise.exponential(scores, beta="1/2", sensitivity=1)


def median_that_weighs_pay(rows, noise):
    scores = [-abs(sum(row["age"] < edge for row in rows) - sum(3 * (row["age"] > edge) for row in rows)) for edge in range(0, 91, 10)]
    return 10 * noise.exponential(scores, beta="1/2", sensitivity=1)


def median_of_true_candidates(rows, noise):
    ages = sorted({row["age"] for row in rows}) or [0]
    scores = [-abs(sum(row["age"] < edge for row in rows) - sum(row["age"] > edge for row in rows)) for edge in ages]
    return ages[noise.exponential(scores, beta="1/2", sensitivity=1)]


def median_with_beta_from_the_data(rows, noise):
    scores = [-abs(sum(row["age"] < edge for row in rows) - sum(row["age"] > edge for row in rows)) for edge in range(0, 91, 10)]
    return noise.exponential(scores, beta=1 / (1 + len(rows)), sensitivity=1)


# -- 5. two stages: select, then measure --------------------------------------------------------------------------------


def select_then_measure(rows, noise):
    best = noise.noisy_max(counts_by(rows), noise=dp.laplace(4), sensitivity=1)
    pays = [clip(row["pay"], 0, 100) for row in rows if row["group"] == best]
    return best, noise.laplace(sum(pays), scale=100, sensitivity=100), noise.gaussian(len(pays), sigma=3, sensitivity=1)


def select_by_the_truth(rows, noise):
    true = counts_by(rows)
    best = max(true, key=true.get)
    return best, noise.laplace(true[best], scale=2, sensitivity=1)


def measure_again_where_it_is_small(rows, noise):
    true = counts_by(rows)
    best = noise.noisy_max(true, noise=dp.laplace(4), sensitivity=1)
    if true[best] < 2:
        return best, noise.laplace(true[best], scale=1, sensitivity=1)
    return best, noise.laplace(true[best], scale=2, sensitivity=1)


def measure_both_with_one_noise(rows, noise):
    one = noise.laplace(2)
    true = counts_by(rows)
    return true["a"] + one, true["b"] + one


# -- 6. the sparse vector technique -----------------------------------------------------------------------------------------


def first_above(rows, noise, threshold):
    ask = noise.above_threshold(threshold=threshold, threshold_noise=dp.laplace(2), query_noise=dp.laplace(4))
    for edge in range(0, 90, 30):
        if ask(sum(row["age"] >= edge for row in rows)):
            return edge
    return None


def first_above_by_the_true_count(rows, noise, threshold):
    for edge in range(0, 90, 30):
        count = sum(row["age"] >= edge for row in rows)
        if count >= threshold:  # compared before noise is added
            return edge, noise.laplace(count, scale=4, sensitivity=1)
    return None


def all_above_with_a_counter_that_is_not_reset(rows, noise, threshold):
    ask, found = noise.above_threshold(threshold=threshold, threshold_noise=dp.laplace(2), query_noise=dp.laplace(4)), []
    for edge in range(0, 90, 30):
        if ask(sum(row["age"] >= edge for row in rows)):
            found.append(edge)
    return found


def first_above_in_sums(rows, noise, threshold):
    ask = noise.above_threshold(threshold=threshold, threshold_noise=dp.laplace(2), query_noise=dp.laplace(4), sensitivity=1)
    return next((edge for edge in range(0, 90, 30) if ask(sum(row["age"] for row in rows if row["age"] >= edge))), None)


# -- 7. several rows a person ---------------------------------------------------------------------------------------------


def visits_each(rows, noise):
    kept, seen = [], {}
    for row in rows:
        seen[row["who"]] = seen.get(row["who"], 0) + 1
        if seen[row["who"]] <= 2:
            kept.append(row)
    people = len({row["who"] for row in rows})
    return noise.discrete_laplace(len(kept), scale=4, sensitivity=2), noise.discrete_laplace(people, scale=2, sensitivity=1)


def visits_with_a_budget_a_query(rows, noise):
    return noise.discrete_laplace(len(rows), scale=2, sensitivity=1)


def visits_bounded_for_each_group(rows, noise):
    kept, seen = [], {}
    for row in rows:
        key = row["who"], row["group"]
        seen[key] = seen.get(key, 0) + 1
        if seen[key] <= 2:
            kept.append(row)
    return noise.discrete_laplace(len(kept), scale=4, sensitivity=2)


def visits_by_group_in_the_wrong_norm(rows, noise):
    seen, kept = {}, []
    for row in rows:
        seen[row["who"]] = seen.get(row["who"], 0) + 1
        if seen[row["who"]] <= 2:
            kept.append(row)
    return noise.laplace(counts_by(kept), scale=4, sensitivity=1)  # of one entry, where the vector moves by 2


# -- 8. keys that the data brings ---------------------------------------------------------------------------------------


def words(rows, noise):
    counts = {}
    for row in rows:
        counts[row["word"]] = counts.get(row["word"], 0) + 1
    return noise.noisy_keys(counts, noise=dp.laplace(1), threshold=20, keys=1, sensitivity=1)


def words_with_many_keys(rows, noise):
    counts = {}
    for row in rows:
        for letter in row["word"]:
            counts[letter] = counts.get(letter, 0) + 1
    return noise.noisy_keys(counts, noise=dp.laplace(1), threshold=20, keys=1, sensitivity=1)


def words_that_occur_often(rows, noise):
    counts = {}
    for row in rows:
        counts[row["word"]] = counts.get(row["word"], 0) + 1
    return {word: noise.laplace(count, scale=1, sensitivity=1) for word, count in sorted(counts.items()) if count >= 2}


# -- 9. with numpy ----------------------------------------------------------------------------------------------------------


def matrix(rows):
    values = np.array([[row["age"], clip(row["pay"], 0, 100)] for row in rows], dtype=float).reshape(-1, 2)
    inside = np.clip(values, 0, 100) / 100
    return inside.sum(axis=0) + np.random.laplace(0, 4, size=2), [
        count + drawn
        for count, drawn in zip(
            np.bincount([row["age"] // 50 for row in rows], minlength=2), np.random.default_rng().laplace(0, 2, 2), strict=True
        )
    ]


def matrix_with_a_seed_from_the_data(rows):
    np.random.seed(len(rows))
    return len(rows) + np.random.laplace(0, 2)


def matrix_with_one_noise_for_all(rows):
    return np.bincount([row["age"] // 50 for row in rows], minlength=2) + np.random.laplace(0, 2)


def matrix_with_a_scale_from_the_data(rows):
    ages = np.array([row["age"] for row in rows], dtype=float)
    return ages.sum() + np.random.normal(0, 4 * (1 + ages.max(initial=0)))


# -- 10. a sum with rounding and a sample -----------------------------------------------------------------------------------


def rounded(rows, noise):
    random.seed(3)  # public: which digit is kept
    digits = random.randint(0, 2)
    total = sum(round(clip(row["pay"], 0, 10), digits) for row in rows)
    return round(total + noise.laplace(20, sensitivity=10), digits)


def rounded_by_how_large_it_is(rows, noise):
    total = sum(clip(row["pay"], 0, 10) for row in rows)
    return round(total + noise.laplace(20, sensitivity=10), 0 if total > 5 else 2)


KEPT = []


def rounded_and_kept(rows, noise):
    KEPT.append(len(rows))
    return noise.laplace(sum(clip(row["pay"], 0, 10) for row in rows), scale=20, sensitivity=10) + len(KEPT)


def rounded_in_the_sum_of_squares(rows, noise):
    return noise.gaussian([clip(row["pay"], 0, 10) ** 2 for row in rows][:1] or [0], sigma=20, sensitivity=10)


VISITS = {"rows": {"group": GROUP}, "person": "who", "rows_per_person": 4}
NUMPY = {"patch": "numpy", "sensitivity": [2, 1]}
RIGHT = {
    "histogram": (histogram, {}),
    "mean": (mean_income, {}),
    "top": (top_groups, {"config": {"k": st.integers(1, 3)}}),
    "median": (median_age, {}),
    "two stages": (select_then_measure, {"delta": "1e-5"}),
    "sparse vector": (first_above, {"config": {"threshold": st.integers(0, 5)}}),
    "visits": (visits_each, VISITS),
    "words": (words, {"rows": {"word": st.sampled_from(["red", "blue", "green"])}, "delta": "1e-5"}),
    "matrix": (matrix, NUMPY),
    "rounded": (rounded, {}),
}
WRONG = [
    ("histogram", "dictionary of the groups that occur", histogram_of_seen_groups),
    ("histogram", "order of a dictionary", histogram_in_order_of_counts),
    ("histogram", "groups hidden by their true counts", histogram_without_small_groups),
    ("mean", "clipped after noise", mean_clipped_after_noise),
    ("mean", "divided by the true count", mean_by_the_true_count),
    ("mean", "NaN passes the clip", mean_with_a_clip_that_lets_nan_through),
    ("mean", "an exception for nobody", mean_of_nobody),
    ("top", "order by true counts", top_groups_with_ties_by_the_truth),
    ("top", "number of calls depends on the data", top_groups_until_empty),
    ("top", "candidates depend on the data", top_groups_of_those_that_occur),
    ("median", "sensitivity of one side", median_that_weighs_pay),
    ("median", "candidates from the data", median_of_true_candidates),
    ("median", "parameter from the data", median_with_beta_from_the_data),
    ("two stages", "selected without noise", select_by_the_truth),
    ("two stages", "less noise where it is small", measure_again_where_it_is_small),
    ("two stages", "one noise for two answers", measure_both_with_one_noise),
    ("sparse vector", "threshold compared before noise is added", first_above_by_the_true_count),
    ("sparse vector", "counter not reset", all_above_with_a_counter_that_is_not_reset),
    ("sparse vector", "sums asked as counts", first_above_in_sums),
    ("visits", "budget a query and not a user", visits_with_a_budget_a_query),
    ("visits", "bounded for each group alone", visits_bounded_for_each_group),
    ("visits", "sensitivity of the wrong norm", visits_by_group_in_the_wrong_norm),
    ("words", "more keys than are declared", words_with_many_keys),
    ("words", "true counts above a threshold", words_that_occur_often),
    ("matrix", "seed from the data", matrix_with_a_seed_from_the_data),
    ("matrix", "one noise for all entries", matrix_with_one_noise_for_all),
    ("matrix", "scale from the data", matrix_with_a_scale_from_the_data),
    ("rounded", "rounded by the true size", rounded_by_how_large_it_is),
    ("rounded", "something is kept from run to run", rounded_and_kept),
    ("rounded", "clipped before a square", rounded_in_the_sum_of_squares),
]


def arguments(name):
    """What dpverify.replay is told of a release; seconds: as long as a busy machine needs to make a pair small."""
    return {"rows": PEOPLE, "seconds": 120, **RIGHT[name][1]}
