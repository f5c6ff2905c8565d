"""Least losses of private tables, exactly: a simplex of its own, on rationals, that shares nothing with what is tested."""

from fractions import Fraction

ZERO, ONE = Fraction(0), Fraction(1)


def least(costs, rows, right):
    """The least value of costs' x over x >= 0 with rows x = right >= 0, by Bland's rule from artificial variables."""
    count, height = len(costs), len(rows)
    unit = [[ONE if i == j else ZERO for j in range(height)] for i in range(height)]
    table = [[*row, *of, value] for row, of, value in zip(rows, unit, right, strict=True)]
    basis = [count + i for i in range(height)]
    minimise([ZERO] * count + [ONE] * height, table, basis, count + height)
    for i in range(height):  # an artificial variable that is left at 0 gives way to any other
        other = next((j for j in range(count) if table[i][j]), None)
        if basis[i] >= count and other is not None:
            pivot(table, basis, i, other)
    return minimise([*costs, *[ZERO] * height], table, basis, count)


def minimise(costs, table, basis, width):
    """Pivots until no variable below `width` lowers the costs, and returns these."""
    while True:
        of = [costs[b] for b in basis]
        reduced = (costs[j] - sum((c * row[j] for c, row in zip(of, table, strict=True) if c and row[j]), ZERO) for j in range(width))
        entering = next((j for j, cost in enumerate(reduced) if cost < 0), None)
        if entering is None:
            return sum((c * row[-1] for c, row in zip(of, table, strict=True)), ZERO)
        pivot(table, basis, min((row[-1] / row[entering], basis[i], i) for i, row in enumerate(table) if row[entering] > 0)[2], entering)


def pivot(table, basis, leaving, entering):
    basis[leaving] = entering
    head = table[leaving] = [entry / table[leaving][entering] for entry in table[leaving]]
    for i, row in enumerate(table):
        if i != leaving and row[entering]:
            table[i] = [a - row[entering] * b if b else a for a, b in zip(row, head, strict=True)]


def least_loss(losses, ratios, delta=ZERO, prior=()):
    """The least loss of all tables with P[x, y] <= ratio P[x', y] for the pairs, or with sums of excesses of at most delta."""
    inputs, outputs = len(losses), len(losses[0])
    pairs = list(ratios)
    cells, above = inputs * outputs, len(pairs) * outputs if delta else 0
    rows, right, slacks = [], [], 0

    def row(numbers, value, slack):
        nonlocal slacks
        rows.append((numbers, slacks if slack else None))
        slacks += slack
        right.append(value)

    for k, (x, w) in enumerate(pairs):
        for y in range(outputs):
            row({x * outputs + y: ONE, w * outputs + y: -ratios[x, w]} | ({cells + 1 + k * outputs + y: -ONE} if delta else {}), ZERO, True)
    for x in range(inputs):
        row({x * outputs + y: ONE for y in range(outputs)}, ONE, False)
        if not prior:
            row({x * outputs + y: losses[x][y] for y in range(outputs)} | {cells: -ONE}, ZERO, True)
    for k in range(len(pairs) if delta else 0):
        row({cells + 1 + k * outputs + y: ONE for y in range(outputs)}, delta, True)
    size = cells + 1 + above
    full = [[numbers.get(j, ZERO) for j in range(size)] + [ONE if j == slack else ZERO for j in range(slacks)] for numbers, slack in rows]
    weights = [prior[x] * losses[x][y] for x in range(inputs) for y in range(outputs)] if prior else [ZERO] * cells
    return least([*weights, ZERO if prior else ONE, *[ZERO] * (above + slacks)], full, right)
