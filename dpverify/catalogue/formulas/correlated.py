"""The law of noise that is correlated over steps."""

from __future__ import annotations

from collections.abc import Iterator

from dpverify.catalogue.formulas.boxes import DOT, Box, Ident, Op, Words, brackets, comma, row
from dpverify.catalogue.formulas.pieces import EQUAL, MOST_ENTRIES, OF_X, M, matrix_named
from dpverify.catalogue.formulas.typeset import typeset
from dpverify.trusted.kernel.expr import ONE, num
from dpverify.trusted.kernel.model import CorrelatedNoise

_WHAT = {
    "prefix_sums": "the sums of the first steps, lower triangular of ones",
    "binary_tree": "the sums over all intervals [m·2^l, (m + 1)·2^l) of steps",
    "toeplitz": "lower triangular, each column as the one before and one further down",
}


def correlated_noise(noise: CorrelatedNoise) -> Iterator[Box]:
    """What is told, the strategy, and who contributes when."""
    c, x = Ident("C"), Ident("x")
    yield row(M, OF_X, EQUAL, c, DOT, x, Op("+"), Ident("Z"), Words(", each number of Z normal with the deviation "), typeset(noise.sigma))
    if noise.matrix:
        yield matrix_named(c, [[num(entry) for entry in line] for line in noise.matrix], "a column for each step")
    else:
        yield row(c, Words(f": {_WHAT[noise.strategy]}; steps: "), typeset(noise.steps))
    if noise.coefficients:
        shown = [typeset(num(entry)) for entry in noise.coefficients[:MOST_ENTRIES]]
        more = () if len(noise.coefficients) <= MOST_ENTRIES else (Words(f", and {len(noise.coefficients) - MOST_ENTRIES} more"),)
        yield row(Words("its first column: "), brackets(comma(*shown)), *more)
    if noise.rate is not None:
        yield row(Words("each step takes a record of its group with the probability "), typeset(noise.rate))
        if noise.separation != ONE:
            yield row(Words("groups, at least: "), typeset(noise.separation))
        return
    exactly = "exactly" if noise.order == "fixed" else "at least"
    yield row(
        Words("a user contributes to so many steps: "),
        typeset(noise.times),
        Words(f", {exactly} so many apart: "),
        typeset(noise.separation),
    )
