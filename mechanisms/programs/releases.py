"""Releases over rows, as they are written: the sensitivity follows from the code. Beside each right one a mistake."""

import dpverify as dp

DEPARTMENTS = ("sales", "research", "support")
BINS = ((0, 18), (18, 40), (40, 65), (65, 120))


@dp.program(adjacency="add-remove", claims=[{"epsilon": "5/2"}, {"epsilon": "2.49", "expect": "refuted"}])
def adults(rows, noise):
    """How many adults, and their income, clipped."""
    grown_up = [row for row in rows if row["age"] >= 18]
    return len(grown_up) + noise.discrete_laplace(2), sum(min(max(row["income"], 0), 100_000) for row in grown_up) + noise.laplace(50_000)


@dp.program(adjacency="add-remove", claims=[{"epsilon": 100, "expect": "refuted"}])
def income_not_clipped(rows, noise):
    """A mistake: clipped from above alone."""
    return sum(min(row["income"], 100_000) for row in rows) + noise.laplace(50_000)


@dp.program(adjacency="add-remove", claims=[{"epsilon": 1}, {"epsilon": "0.99", "expect": "refuted"}])
def by_department(rows, noise):
    """Counts by group: a record is in one."""
    return [len([row for row in rows if row["dept"] == name]) + noise.discrete_laplace(1) for name in DEPARTMENTS]


@dp.program(adjacency="add-remove", rows=3, claims=[{"epsilon": 1, "expect": "refuted"}, {"epsilon": 3}])
def visits(rows, noise):
    """A mistake, as far as people are to be protected, who have up to three rows: noise for one row."""
    count = 0
    for row in rows:
        if row["minutes"] < 5:
            continue
        count += 1
    return count + noise.discrete_laplace(1)


@dp.program(adjacency="replace", claims=[{"epsilon": 1}, {"epsilon": "0.99", "expect": "refuted"}])
def mean_in_parts(rows, noise):
    """A sum of what is at least 20 and at most 100, where a record may be replaced by another."""
    total = 0
    for row in rows:
        total += min(max(row["score"], 20), 100)
    return total + noise.laplace(80)


@dp.program(adjacency="replace", claims=[{"epsilon": 1, "expect": "refuted"}, {"epsilon": "5/4"}])
def mean_without_least(rows, noise):
    """A mistake: noise as above, and scores from 0 on."""
    total = 0
    for row in rows:
        total += min(max(row["score"], 0), 100)
    return total + noise.laplace(80)


@dp.program(adjacency="add-remove", claims=[{"epsilon": 1}, {"epsilon": "0.99", "expect": "refuted"}])
def ages(rows, noise):
    """A histogram: a record is in one bin at most."""
    return {low: len([row for row in rows if low <= row["age"] < high]) + noise.discrete_laplace(1) for low, high in BINS}


@dp.program(adjacency="add-remove", claims=[{"epsilon": 1, "expect": "refuted"}, {"epsilon": 4}])
def ages_from_on(rows, noise):
    """A mistake: a record is in every bin that begins below it."""
    return {low: len([row for row in rows if low <= row["age"]]) + noise.discrete_laplace(1) for low, high in BINS}


@dp.program(adjacency="add-remove", claims=[{"epsilon": 1}])
def mean_income(rows, noise):
    """A mean as the quotient of a noisy sum and a noisy count, half of the budget each."""
    count = len(rows) + noise.laplace(2)
    total = sum(min(max(row["income"], 0), 100_000) for row in rows) + noise.laplace(200_000)
    return round(total / max(count, 1), 2)


@dp.program(adjacency="add-remove", claims=[{"epsilon": 1, "expect": "refuted"}, {"epsilon": "11/2"}])
def mean_income_in_thousands(rows, noise):
    """A mistake: the sum is in units, and its noise in tens."""
    count = len(rows) + noise.laplace(2)
    total = sum(min(max(row["income"], 0), 100_000) for row in rows) + noise.laplace(20_000)
    return total, count


@dp.program(adjacency="add-remove", claims=[{"epsilon": 1}])
def largest_departments(rows, noise):
    """The two largest departments, with their counts, where these are 20 or more."""
    counts = {name: len([row for row in rows if row["dept"] == name]) + noise.laplace(1) for name in DEPARTMENTS}
    large = {name: count for name, count in counts.items() if count >= 20}
    return sorted(large.items(), key=lambda pair: pair[1], reverse=True)[:2]


@dp.program(adjacency="add-remove", rows=3, claims=[{"epsilon": 1, "expect": "unknown"}, {"epsilon": 3}])
def largest_departments_of_visits(rows, noise):
    """A mistake, where people have up to three rows: noise for one row. Neither a proof is found nor a refutation."""
    counts = {name: len([row for row in rows if row["dept"] == name]) + noise.laplace(1) for name in DEPARTMENTS}
    return max(counts, key=counts.get)


@dp.program(adjacency="add-remove", claims=[{"epsilon": 1}])
def median_age(rows, noise):
    """The bin that the median is in, from a noisy histogram."""
    counts = [len([row for row in rows if low <= row["age"] < high]) + noise.laplace(1) for low, high in BINS]
    half = sum(counts) / 2
    so_far = 0
    for (low, high), count in zip(BINS, counts, strict=True):
        so_far += count
        if so_far >= half:
            return low, high
    return None


@dp.program(adjacency="add-remove", claims=[{"epsilon": 1, "expect": "refuted"}, {"epsilon": 4}])
def quantiles_by_counts(rows, noise):
    """A mistake: how many are below each age, with noise as if a record were counted once."""
    return [len([row for row in rows if row["age"] < high]) + noise.laplace(1) for low, high in BINS]


@dp.program(sensitivity=1, claims=[{"epsilon": 1}, {"epsilon": "0.999", "expect": "refuted"}])
def quantile(scores, noise):
    """The exponential mechanism: of candidates with scores, one record less or more moves each of which by 1 at most."""
    return max(range(len(scores)), key=lambda i: scores[i] + noise.gumbel(2))


@dp.program(sensitivity=1, claims=[{"epsilon": 1, "expect": "refuted"}, {"epsilon": 2}])
def quantile_half_noise(scores, noise):
    """A mistake: half of the noise."""
    return max(range(len(scores)), key=lambda i: scores[i] + noise.gumbel(1))


@dp.program(adjacency="add-remove", claims=[{"epsilon": 2}])
def pay_of_the_largest(rows, noise):
    """Two stages: which department is largest, then what is paid in it."""
    counts = {name: len([row for row in rows if row["dept"] == name]) + noise.laplace(1) for name in DEPARTMENTS}
    best = max(counts, key=counts.get)
    return best, sum(min(max(row["pay"], 0), 100) for row in rows if row["dept"] == best) + noise.laplace(100)


@dp.program(adjacency="add-remove", claims=[{"epsilon": 2, "expect": "refuted"}, {"epsilon": 4}])
def pay_and_counts(rows, noise):
    """A mistake: both stages with noise for one record in one department, where all records are summed in each."""
    pay = [sum(min(max(row["pay"], 0), 100) for row in rows) + noise.laplace(100) for name in DEPARTMENTS]
    return [len([row for row in rows if row["dept"] == name]) + noise.laplace(1) for name in DEPARTMENTS], pay


@dp.program(adjacency="add-remove", claims=[{"epsilon": 1}, {"epsilon": "0.99", "expect": "refuted"}])
def pay_by_department(rows, noise):
    """Sums by group: a record is in one."""
    return {name: sum(min(max(row["pay"], 0), 100) for row in rows if row["dept"] == name) + noise.laplace(100) for name in DEPARTMENTS}


@dp.program(adjacency="add-remove", claims=[{"epsilon": 1, "expect": "refuted"}, {"epsilon": 3}])
def pay_in_parts(rows, noise):
    """A mistake: of a department all records count that are in another one."""
    return {name: sum(min(max(row["pay"], 0), 100) for row in rows if row["dept"] != name) + noise.laplace(100) for name in DEPARTMENTS}
