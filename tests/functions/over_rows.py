"""A program over rows, in a module that does nothing else: its text is read."""

import dpverify as dp


@dp.program(adjacency="add-remove", claims=[{"epsilon": "1/2"}])
def counts(rows, noise):
    adults = [row for row in rows if row["age"] >= 18]
    return len(adults) + noise.discrete_laplace(2), sum(min(max(row["income"], 0), 100) for row in adults) + noise.laplace(50)
