"""What the theory of tables and kernels refuses: each guard by what it alone stops, told by its words."""

from dataclasses import replace
from fractions import Fraction as F

from flint import arb

from dpverify.trusted.kernel.balls import exact
from dpverify.trusted.kernel.expr import ONE, ZERO, neg, num, parse
from dpverify.trusted.kernel.model import Claim, Domain, Exponential, Kernel, Table
from dpverify.trusted.theories.finite import densities, tables
from dpverify.trusted.theories.finite.rules import kernel_box, kernel_point
from tests.refused import Refusals, each, require_refused

KERNEL = Kernel(parse("1/2 + y*theta/2"), (num(-1), ONE), (num(-1), ONE))
HALF_LINE = Kernel(parse("exp(-y)"), (ZERO, None), (ZERO, ONE))
POINTS = Exponential(((ZERO, num(-1)), (num(-1), ZERO)), ONE, points=((ZERO,), (ONE,)), metric="l1")
K = parse("k")
MOVING = replace(POINTS, scores=((ZERO, neg(K)), (neg(K), ZERO)), points=((ZERO,), (K,)))
"""Two points that are k apart."""
TO_2 = (("k", Domain(F(0), F(2))),)


def of(mechanism, **more):
    return Claim(mechanism, ONE, **more)


def rows(*listed):
    return lambda: tables.require_rows(Table(tuple(tuple(map(parse, row.split())) for row in listed)), {})


REFUSED: Refusals = {
    # tables and points
    "a negative probability": (rows("2 -1", "1 0"), "row 0, entry 1: the probability -1 is negative, or that is not certain"),
    "a row that sums to less": (rows("1 0", "1/2 1/3"), "row 1: the probabilities sum to 5/6, not certainly to exactly 1"),
    "points in another metric": (
        lambda: tables.distance((ZERO,), (ONE,), "l7"),
        "'l7' is not one of l1, l2, linf; give the scores instead",
    ),
    "points of several dimensions": (lambda: tables.distance((ZERO, ONE), (ONE,), "l1"), "points must have one number of coordinates"),
    "points that are inputs alone": (
        lambda: tables._distances(replace(POINTS, scores=((ZERO,), (ZERO,))), {}),
        "points must be both the inputs and the outputs of the scores",
    ),
    "scores that are not the distances": (
        lambda: tables._distances(replace(POINTS, metric="l1", points=((ZERO,), (num(2),))), {}),
        "the score is not minus the l1 distance",
    ),
    "points that may be neighbours": (
        lambda: tables.finite(of(MOVING, sensitivity=ONE, domains=TO_2)),
        "cannot tell whether their distance is within the sensitivity",
    ),
    # kernels
    "a reach that ends before its start": (
        lambda: densities.losses(of(HALF_LINE), (F(0), F(-1))),
        "the ends of output and input must be constants, the lower one first",
    ),
    "a sensitivity below 0": (lambda: densities.losses(of(KERNEL, sensitivity=num(-1)), (F(0), F(1))), "the sensitivity is negative"),
    "an end at infinity": (lambda: exact(arb("inf")), "an enclosure is not finite"),
    "an end with millions of digits": (lambda: exact(arb(2) ** 10**7), "too large or too small to write out"),
    "a value with a symbol": (lambda: kernel_box.check(of(KERNEL), {"value": "k"}), "'value' is k, not a constant"),
    "a reach to one side": (lambda: kernel_box.check(of(KERNEL), {"value": "1", "reach": ["0"]}), "'reach' is not a pair"),
    "an event of one output": (
        lambda: kernel_point.check(of(KERNEL), {"theta": "1", "other": "0", "event": ["0", "0"]}),
        "the interval holds no output but one",
    ),
    "an event beyond the outputs": (
        lambda: kernel_point.check(of(KERNEL), {"theta": "1", "other": "0", "beyond": "1"}),
        "the outputs have an end there",
    ),
    "an event in the middle of all outputs": (
        lambda: kernel_point.check(of(HALF_LINE), {"theta": "1", "other": "0", "beyond": "2"}),
        "the outputs have an end there",
    ),
    "a loss without a value": (
        lambda: kernel_point._at_point([parse("1 + y"), parse("y")], {"y": arb(0)}, ZERO, ZERO, ZERO),
        "the log-ratio has no finite value there",
    ),
}


@each(REFUSED)
def test_what_is_no_table_and_no_kernel_is_refused(asked, why):
    require_refused(asked, why)
