"""Floats that are the same on every machine: right within a few units of the last digit, and however an array is cut."""

import math

import numpy as np
import pytest
import scipy.special
from flint import arb, ctx

from dpverify.search import same_floats
from dpverify.search.selection.curves import event_of
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.kernel.expr import ONE
from dpverify.trusted.kernel.model import Part
from tests.selections import gaussian, laplace, largest, sparse

POINTS = np.concatenate([np.linspace(-37.9, 37.9, 997), np.linspace(-1e-9, 1e-9, 7), [0.0, 1 / 64, -1 / 64, 690.0, -699.0]])


def exactly(f, x):
    with_more = ctx.prec
    try:
        ctx.prec = 200
        return float(f(arb(float(x))).mid())
    finally:
        ctx.prec = with_more


def test_exponentials_and_normal_probabilities_are_those_of_ball_arithmetic():
    found, below = same_floats.exp(POINTS), same_floats.normal(POINTS)
    for x, e, p in zip(POINTS, found, below, strict=True):
        assert e == pytest.approx(exactly(lambda z: z.exp(), x), rel=4e-16)
        assert p == pytest.approx(exactly(lambda z: (-z / arb(2).sqrt()).erfc() / 2, x), rel=1e-12)
        assert same_floats.log(float(e)) == pytest.approx(math.log(e), rel=1e-15)
    assert same_floats.exp(np.array([-701.0]))[0] == 0 and same_floats.normal(np.array([-90.0, 90.0])).tolist()[1] == 1


def test_an_array_in_pieces_has_the_same_digits():
    """Processors take so many numbers at once as they can; what is left at an end goes another way."""
    for f in (same_floats.exp, same_floats.normal, lambda x: same_floats.whole_power(np.abs(x) / 40, 37)):
        whole = f(POINTS)
        for size in (1, 3, 8):
            pieces = np.concatenate([f(POINTS[i : i + size]) for i in range(0, len(POINTS), size)])
            assert (pieces == whole).all()
    assert same_floats.total(POINTS) == same_floats.total(POINTS[::-1]) == math.fsum(POINTS)


@pytest.mark.parametrize(
    "mechanism",
    [
        sparse(laplace(20), laplace(40), 10, positives=2),
        pytest.param(sparse(gaussian(2), gaussian(4), 5), marks=pytest.mark.wide),
        largest(laplace(2), 5),
    ],
)
def test_the_event_that_is_found_does_not_hang_on_the_last_digits_of_libraries(monkeypatch, mechanism):
    run = Run(Part(mechanism, ONE))
    found = event_of(run, 0.05, None)

    def worse(f):
        return lambda *args, **more: f(*args, **more) * (1 + 3e-16)

    for holder, names in ((np, ("exp", "log", "power", "sum", "dot", "matmul")), (scipy.special, ("ndtr", "erfc")), (math, ("exp", "log"))):
        for name in names:
            monkeypatch.setattr(holder, name, worse(getattr(holder, name)))
    assert event_of(run, 0.05, None) == found
