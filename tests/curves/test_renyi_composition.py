"""Compositions by sums of Renyi divergences."""

from fractions import Fraction

import mpmath
import pytest
from flint import arb

from dpverify.search import stated_guarantee as search
from dpverify.trusted.facts.pairs import Pure
from dpverify.trusted.language.errors import CertificateError, DpverifyError, Rejected
from dpverify.trusted.language.expr import ONE, num, parse
from dpverify.trusted.language.model import L2, Compose, Guarantee, Part, Radial, Subsample
from dpverify.trusted.parts.runs import Run
from dpverify.trusted.rules.composition import renyi_composition

mpmath.mp.dps = 40


def part(measure, *rows):
    return Part(Guarantee(measure, tuple(tuple(parse(str(value)) for value in row) for row in rows)))


def gaussian(sigma, sensitivity="1"):
    return Part(Radial(parse("exp(-r**2/2)"), L2, ONE, parse(sigma)), parse(sensitivity))


LAPLACE = Part(Radial(parse("exp(-r)"), L2, ONE, ONE), ONE)


def no_premise(claim, evidence):
    raise AssertionError("no premise is asked for")


def delta(runs, points, epsilon, premise=no_premise, **more):
    found = renyi_composition.curve(runs, {"points": points, **more}, premise)
    assert found.lower is None
    return mpmath.mpf(found.upper.worst(arb(epsilon)).mid().str(25, radius=False))


def conversion(tau, epsilon, order):
    return mpmath.exp((order - 1) * (tau - epsilon)) * (1 - mpmath.mpf(1) / order) ** order / (order - 1)


@pytest.mark.parametrize(
    ("runs", "tau"),
    [
        ([Run(part("zcdp", ["1/8"]), times=3)], lambda a: 3 * a / mpmath.mpf(8)),
        ([Run(part("gdp", ["1/2"])), Run(gaussian("2"))], lambda a: a / mpmath.mpf(4)),
        ([Run(part("zcdp", ["1/10"]), factor=num(2))], lambda a: 4 * a / mpmath.mpf(10)),
        ([Run(part("bounded_range", [1]), times=4)], lambda a: a / mpmath.mpf(2)),
        ([Run(part("renyi", [6, "1/2"], [9, 1]), times=2), Run(part("zcdp", ["1/6"]))], lambda a: 1 + a / mpmath.mpf(6)),
        ([Run(gaussian("2", "3"))], lambda a: 9 * a / mpmath.mpf(8)),
    ],
)
def test_divergences_add_up(runs, tau):
    assert abs(delta(runs, [["6", "8"]], 8) / conversion(tau(6), 8, 6) - 1) < 1e-12


def test_a_pure_part_counts_as_randomized_response():
    tau = mpmath.log((mpmath.exp(5) + mpmath.exp(-4)) / (1 + mpmath.e)) / 4
    expected = conversion(tau + mpmath.mpf(5) / 8, 4, 5)
    assert abs(delta([Run(part("zcdp", ["1/8"])), Run(part("approximate", [1, 0]))], [["5", "4"]], 4) / expected - 1) < 1e-12
    found = delta([Run(part("zcdp", ["1/8"])), Run(LAPLACE)], [["5", "4"]], 4, lambda claim, evidence: Pure(ONE), premises=[None, {}])
    assert abs(found / expected - 1) < 1e-12


def test_the_sum_is_sharper_than_each_conversion_by_itself():
    together = search.composition_plan([Run(part("zcdp", ["1/8"]), times=8)], [None], None, 1e-6)
    alone = search.leaf_plan(Run(part("zcdp", ["1/8"])), None, 1e-6 / 8)
    sums = {Fraction(epsilon) for _, epsilon in together["points"]}
    assert max(sums) < 8 * max(Fraction(epsilon) for _, epsilon in alone["points"])


@pytest.mark.parametrize(
    "run",
    [
        Run(part("approximate", [1, "1/100"])),
        Run(part("renyi", [2, 1])),
        Run(part("renyi", [6, 1]), factor=num(2)),
        Run(LAPLACE),
        Run(Part(Subsample(gaussian("1"), parse("1/2")))),
        Run(Part(Guarantee("zcdp", ((ONE,),)), sensitivity=num(1))),
        Run(part("zcdp", ["-1"])),
        Run(part("gdp", ["m"])),
    ],
)
def test_parts_without_a_divergence_are_refused(run):
    with pytest.raises(DpverifyError):
        renyi_composition.curve([run, Run(part("zcdp", [1]))], {"points": [["6", "20"]]}, no_premise)


def test_premises_are_one_for_each_run():
    with pytest.raises(CertificateError):
        renyi_composition.curve([Run(LAPLACE)], {"points": [["6", "20"]], "premises": []}, no_premise)


def test_orders_that_are_stated_must_be_shared():
    with pytest.raises(Rejected, match="in common"):
        search.composition_plan([Run(part("renyi", [2, 1])), Run(part("renyi", [3, 1]))], [None, None], 1.0, None)


def test_compositions_inside_are_no_single_run():
    with pytest.raises(DpverifyError):
        renyi_composition.of(Run(Part(Compose((gaussian("1"),)))), None, no_premise)
