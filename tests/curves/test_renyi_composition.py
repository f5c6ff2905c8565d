"""Compositions by sums of Renyi divergences."""

from dataclasses import replace
from fractions import Fraction

import mpmath
import pytest
from flint import arb

from dpverify.search.composition import plans
from dpverify.search.composition import stated_guarantee as search
from dpverify.search.proposal import of_run
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.kernel.errors import CertificateError, DpverifyError, Rejected
from dpverify.trusted.kernel.expr import ONE, num, parse
from dpverify.trusted.kernel.model import L2, Compose, Group, Guarantee, Part, Radial, Subsample, repeated
from dpverify.trusted.theories.composition.rules import renyi_composition

mpmath.mp.dps = 40


def part(measure, *rows):
    return Part(Guarantee(measure, tuple(tuple(parse(str(value)) for value in row) for row in rows)))


def times(count, one):
    return repeated(one, num(count))


def gaussian(sigma, sensitivity="1"):
    return Part(Radial(parse("exp(-r**2/2)"), L2, ONE, parse(sigma)), parse(sensitivity))


LAPLACE = Part(Radial(parse("exp(-r)"), L2, ONE, ONE), ONE)
PREMISE = {"rule": "concave-exponent", "evidence": {"side": "upper"}}


def curve(parts, **plan):
    return plans.curve(Run(Part(Compose(tuple(parts)))), {"rule": renyi_composition.NAME, **plan})


def delta(parts, points, epsilon, **more):
    found = curve(parts, points=points, **more)
    assert found.lower is None
    return mpmath.mpf(found.upper.worst(arb(epsilon)).mid().str(25, radius=False))


def conversion(tau, epsilon, order):
    return mpmath.exp((order - 1) * (tau - epsilon)) * (1 - mpmath.mpf(1) / order) ** order / (order - 1)


@pytest.mark.parametrize(
    ("parts", "tau"),
    [
        ([times(3, part("zcdp", ["1/8"]))], lambda a: 3 * a / mpmath.mpf(8)),
        ([part("gdp", ["1/2"]), gaussian("2")], lambda a: a / mpmath.mpf(4)),
        ([Part(Group(part("zcdp", ["1/10"]), num(2)))], lambda a: 4 * a / mpmath.mpf(10)),
        ([times(4, part("bounded_range", [1]))], lambda a: a / mpmath.mpf(2)),
        ([times(2, part("renyi", [6, "1/2"], [9, 1])), part("zcdp", ["1/6"])], lambda a: 1 + a / mpmath.mpf(6)),
        ([gaussian("2", "3")], lambda a: 9 * a / mpmath.mpf(8)),
    ],
)
def test_divergences_add_up(parts, tau):
    assert abs(delta(parts, [["6", "8"]], 8) / conversion(tau(6), 8, 6) - 1) < 1e-12


def test_a_pure_part_counts_as_randomized_response():
    tau = mpmath.log((mpmath.exp(5) + mpmath.exp(-4)) / (1 + mpmath.e)) / 4
    expected = conversion(tau + mpmath.mpf(5) / 8, 4, 5)
    assert abs(delta([part("zcdp", ["1/8"]), part("approximate", [1, 0])], [["5", "4"]], 4) / expected - 1) < 1e-12
    found = delta([part("zcdp", ["1/8"]), LAPLACE], [["5", "4"]], 4, premises=[None, PREMISE])
    assert abs(found / expected - 1) < 1e-12


def test_the_sum_is_sharper_than_each_conversion_by_itself():
    together = search.composition_plan([Run(part("zcdp", ["1/8"]), times=8)], [None], None, 1e-6)
    alone = search.leaf_plan(Run(part("zcdp", ["1/8"])), None, 1e-6 / 8)
    sums = {Fraction(epsilon) for _, epsilon in together["points"]}
    assert max(sums) < 8 * max(Fraction(epsilon) for _, epsilon in alone["points"])


@pytest.mark.parametrize(
    "one",
    [
        part("approximate", [1, "1/100"]),
        part("renyi", [2, 1]),
        Part(Group(part("renyi", [6, 1]), num(2))),
        LAPLACE,
        Part(Subsample(gaussian("1"), parse("1/2"))),
        Part(Guarantee("zcdp", ((ONE,),)), sensitivity=num(1)),
        part("zcdp", ["-1"]),
        part("gdp", ["m"]),
    ],
)
def test_parts_without_a_divergence_are_refused(one):
    with pytest.raises(DpverifyError):
        curve([one, part("zcdp", [1])], points=[["6", "20"]])


@pytest.mark.parametrize("known", [[], [None, None], 3, "0", {}, [0, 0], [1], [-2], ["0"], [None]])
def test_every_run_is_said_to_have_its_premise_or_none(known):
    proof = of_run(Run(LAPLACE))
    premise = proof.infer(PREMISE["rule"], (0,), PREMISE["evidence"])
    given = {"points": [["6", "20"]]}
    assert proof.infer(renyi_composition.NAME, (), {**given, "known": [0]}, [premise]).says.upper is not None
    with pytest.raises((CertificateError, Rejected)):
        proof.infer(renyi_composition.NAME, (), {**given, "known": known}, [premise])


def test_the_premise_of_another_part_is_refused():
    proof = of_run(Run(Part(Compose((LAPLACE, replace(LAPLACE, sensitivity=num(2)))))))
    less, more = (proof.infer(PREMISE["rule"], (number,), PREMISE["evidence"]) for number in (0, 1))
    given = {"points": [["6", "20"]]}
    assert proof.infer(renyi_composition.NAME, (), {**given, "known": [0, 1]}, [less, more]).says.upper is not None
    for numbers in ([0, 0], [1, 0], [1, 1]):
        with pytest.raises(CertificateError, match="not about the pure epsilon of the part"):
            proof.infer(renyi_composition.NAME, (), {**given, "known": numbers}, [less, more])


def test_orders_that_are_stated_must_be_shared():
    with pytest.raises(Rejected, match="in common"):
        search.composition_plan([Run(part("renyi", [2, 1])), Run(part("renyi", [3, 1]))], [None, None], 1.0, None)


def test_compositions_inside_are_no_single_run():
    with pytest.raises(DpverifyError):
        renyi_composition.of(Run(Part(Compose((gaussian("1"),)))), None)
