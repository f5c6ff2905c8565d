"""Releases over rows, as they are written: the sensitivity follows from the code. Beside each right one a mistake."""

import dpverify as dp

DEPARTMENTS = ("sales", "research", "support")


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
