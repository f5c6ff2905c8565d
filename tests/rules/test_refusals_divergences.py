"""What the theory of zCDP, GDP and Renyi divergences refuses: each guard by what it alone stops, told by its words."""

from dataclasses import replace
from fractions import Fraction as F

import pytest
from flint import arb

from dpverify.trusted.combinators.runs import Run, merged
from dpverify.trusted.facts.pairs import Curve, symmetric
from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.bounds import INFINITE, Bound
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.model import (
    L1,
    Claim,
    Compose,
    Domain,
    Guarantee,
    Lipschitz,
    Measure,
    Part,
    PostProcess,
    Query,
    Radial,
    Repeat,
    Table,
)
from dpverify.trusted.theories.divergences import asked as asking
from dpverify.trusted.theories.divergences import chords, orders
from dpverify.trusted.theories.divergences.rules import added_measures, finite_measures, implied_measures, measures_of_a_curve
from tests.proofs import saying
from tests.refused import Refusals, each, require_refused

ZCDP, GDP = Measure("zcdp", ONE, None), Measure("gdp", ONE, None)
LAPLACE = Radial(parse("exp(-r)"), L1, ONE)
PART = Part(LAPLACE, ONE)
COUNTS = Part(LAPLACE, None, Query(((F(1), F(0)),), "add-remove"))
SHARED = Compose((COUNTS, COUNTS))
A_COUNT = [{"columns": 2, "adjacency": "add-remove", "difference": ["1", "0"]}]
TABLE = Table(((parse("3/4"), parse("1/4")), (parse("1/4"), parse("3/4"))))
TENTH = Curve(symmetric(lambda _: arb("0.1")), symmetric(lambda _: arb("0.1")), ())


def of(mechanism, measure=ZCDP, **more):
    return Claim(mechanism, None, measure=measure, **more)


ALONE = of(LAPLACE, sensitivity=ONE)


def added(mechanism, told, premises=(), measure=ZCDP, order=""):
    return lambda: added_measures.infer(of(mechanism, measure, order=order), told, premises)


def infinite():
    premise = saying(replace(ALONE, measure=replace(ZCDP, value=None)), "laplace-measures", Bound("upper", INFINITE, quantity="zcdp"))
    return added_measures.uppers(of(Compose((PART,))), merged(Part(Compose((PART,)))), [premise])


REFUSED: Refusals = {
    "a measure over a domain": (
        lambda: asking.measure_of(replace(ALONE, domains=(("k", Domain(F(0))),)), "a-rule"),
        "claim one value at a time",
    ),
    # sums over parts
    "the parts of a single noise": (
        lambda: added_measures.infer(ALONE, {"side": "upper"}, ()),
        "it is about mechanisms that are made of parts",
    ),
    "a map of the data, in one order": (
        added(Compose((Part(Lipschitz(PART, num(2))), PART)), {"side": "upper"}, order="forward"),
        "may exchange the input with the record and the one without",
    ),
    "a part without a finite value": (infinite, "the parts: one has no finite value"),
    "a pair without a premise": (
        added(SHARED, {"side": "lower", "pair": A_COUNT}),
        "nothing is revealed there, or .* it wants one premise",
    ),
    "a pair behind a map of the output": (
        added(PostProcess(Part(SHARED), "a map"), {"side": "lower", "pair": A_COUNT}, (ONE,)),
        "what a map of the output leaves to be seen is not known",
    ),
    "a mu of two runs from below": (
        added(Repeat(PART, num(2)), {"side": "lower"}, (ONE,), measure=GDP),
        "may be less than the root of squares",
    ),
    "inputs two steps apart, in one order": (
        lambda: added_measures.question(Run(Part(TABLE), num(2)), of(Compose((Part(TABLE),)), order="forward")),
        "which inputs several steps apart are in order is not looked at",
    ),
    # tables, guarantees and curves
    "a table of which nothing is asked": (lambda: finite_measures.infer(of(TABLE), {}, ()), "no bound is asked for; give 'cuts', 'lower'"),
    "two inputs without an order": (lambda: finite_measures._lower([0, 1]), "'lower' is not two inputs and an order"),
    "a pure epsilon twice": (lambda: implied_measures.infer(ALONE, {}, (1, 2)), "it wants one premise, the pure epsilon, or none"),
    "an approximate guarantee of one order": (
        lambda: implied_measures._of_one_order(Guarantee("approximate", ((ONE, ZERO),), order="forward"), ZCDP, "forward"),
        "of one order alone, it bounds no divergence here",
    ),
    "a curve without a pure epsilon": (
        lambda: measures_of_a_curve._above(ALONE, ZCDP, TENTH, {}, ()),
        "an upper bound wants the upper side of a curve, and the pure epsilon",
    ),
    "a divergence of order 1": (
        lambda: measures_of_a_curve._below(ZCDP, TENTH.lower, {"side": "lower", "points": ["0", "1"], "at": "1"}, False),
        "at: it is not an order above 1",
    ),
    "a curve at one point": (lambda: measures_of_a_curve._points({"points": ["0"]}), "'points' is no list of 2 to 4000 numbers"),
    "a mu of 0": (lambda: chords.within_gaussian(lambda e: e, arb(0), [F(0), F(1)]), "value: it is not positive"),
    "orders from 2 on": (lambda: orders.read_cuts(["2", "3"], "a-rule"), "'cuts' do not rise from 1 on"),
    "an order twice": (lambda: orders.read_cuts(["1", "2", "2"], "a-rule"), "'cuts' do not rise from 1 on"),
    "one order": (lambda: orders.read_cuts(["1"], "a-rule"), "'cuts' is no list of 2 to 4000 numbers"),
    "orders that are far apart": (
        lambda: orders.most_over_orders([F(11, 10), F(40)], lambda order: order, arb(1)),
        "two cuts are too far apart for the chord between them",
    ),
}


@each(REFUSED)
def test_what_a_divergence_is_not_of_is_refused(asked, why):
    require_refused(asked, why)


@pytest.mark.parametrize(("heights", "most"), [((2, 6), F(8, 7)), ((0, 6), F(24, 23)), ((0, 0), F(1, 3))])
def test_between_two_orders_the_chord_over_the_tangent_bounds_all(heights, most):
    """From order 2 to 3 the chord of a (a - 1) is 4 a - 6, its tangent in the middle 4 a - 25/4; beyond, the greatest loss, 1, over 3."""
    with precision(64):
        found = orders.most_over_orders([F(2), F(3)], lambda order: arb(heights[order == 3]), arb(1))
        assert abs(found - rational(most)) < 1e-15
