"""Correlated Gaussian noise: the greatest move of C u over the patterns of steps at which one contributes (docs/theory/curves.md)."""

from itertools import combinations, pairwise, product

from algebra import Fraction, constant, mul
from norms import matrix_of
from terms import must, rational, sure

HALF = Fraction(1, 2)
LARGEST = 12


def size(q, side):
    """mu: the sensitivity times the root of s over sigma, s from the side that is asked for."""
    m, field = q.mechanism, q.field
    sure(m.get("rate") is None and q.moved is not None, "correlated noise on samples")
    n, k, b = (whole_number(q, m[key]) for key in ("steps", "times", "separation"))
    sigma = q.form(m["sigma"])
    must(field.positive(sigma) and field.at_most({}, q.moved), "sigma is not certainly positive, or the sensitivity below 0")
    sure(m["order"] in ("any", "fixed") and n <= 10_000, "patterns of another kind, or too many steps")
    low, high = {"toeplitz": toeplitz, "prefix_sums": toeplitz, "binary_tree": tree, "matrix": listed}[m["strategy"]](m, n, k, b)
    s = constant(low if side == "lower" else high)
    return mul(mul(q.moved, field.power(s, HALF)), field.power(sigma, Fraction(-1)))


def whole_number(q, text):
    """A count."""
    p = q.count(text)
    sure(p.keys() == {()}, "a number that is a parameter")
    return int(p[()])


def toeplitz(m, n, k, b):
    """The first steps that may be are a worst pattern: of coefficients at least 0 that do not rise, or for the order "fixed"."""
    c = [Fraction(1)] * n if m["strategy"] == "prefix_sums" else [rational(x) for x in m["coefficients"]][:n]
    falls = all(x >= y for x, y in pairwise(c)) and min(c) >= 0
    sure(falls or (m["order"] == "fixed" and min(c) >= 0) or len(c) <= b, "coefficients whose worst pattern is not known")
    steps = range(0, n, b)[:k]
    found = Fraction(0)
    for i, j in product(steps, steps):
        apart, rest = abs(i - j), n - max(i, j)
        found += sum((c[t] * c[t + apart] for t in range(min(rest, len(c) - apart))), Fraction(0))
    return found, found


def tree(m, n, k, b):
    """A row for each interval of 2**l steps within n: from above sums of squares of counts, from below those of the first steps."""
    low, high, length, steps = 0, 0, 1, range(0, n, b)[:k]
    while length <= n:
        counts = [sum(1 for i in steps if i // length == part) for part in range(n // length)]
        low += sum(x * x for x in counts)
        most, left = min(k, -(-length // b)), k
        for _ in range(n // length):
            high += min(most, left) ** 2
            left -= min(most, left)
        length *= 2
    return Fraction(low), Fraction(high)


def listed(m, n, k, b):
    """Every pattern: from above the sum of |G|, from below the greatest with signs."""
    rows = matrix_of(m["matrix"])
    sure(n <= LARGEST and rows and all(len(row) == n for row in rows), "a matrix that is too large, or has not a column for each step")
    g = [[sum(row[i] * row[j] for row in rows) for j in range(n)] for i in range(n)]
    low = high = Fraction(0)
    for count in range(1, min(k, n) + 1):
        for steps in combinations(range(n), count):
            gaps = [y - x for x, y in pairwise(steps)]
            if all(gap == b if m["order"] == "fixed" else gap >= b for gap in gaps):
                high = max(high, sum(abs(g[i][j]) for i, j in product(steps, steps)))
                for signs in product((1, -1), repeat=count):
                    low = max(low, sum(g[i][j] * signs[x] * signs[y] for (x, i), (y, j) in product(enumerate(steps), repeat=2)))
    return low, high
