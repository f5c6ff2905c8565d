"""Lines about the error of noise, spoiled one number at a time: refused, or bounds that still hold."""

import math
from copy import deepcopy
from fractions import Fraction as F
from random import Random

import pytest

from dpverify.search.utility import noise_error
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.fact import as_errors
from dpverify.trusted.kernel.model import L2, LINF, Claim, Norm, Product, Radial, Staircase, Translation
from dpverify.trusted.kernel.proof import Proof

BETA = parse("1/20")
LOGISTIC = math.log(0.05 / 1.95)
CLAIMS = {
    "Laplace": (
        Product(parse("exp(-abs(z))"), num(2)),
        {"expected_l2": 1.62322524014023, "rms_l2": 2, "exceeded": -math.log(1 - math.sqrt(0.95)), "exceeded_union": math.log(40)},
    ),
    "cube": (Radial(parse("exp(-r)"), LINF, num(2)), {"rms_l2": 2 * math.sqrt(2), "exceeded": 4.743864518390577}),
    "logistic": (
        Translation(parse("exp(-z)/(1 + exp(-z))**2")),
        {"expected_l2": math.log(4), "rms_l2": math.pi / math.sqrt(3), "exceeded": -LOGISTIC, "exceeded_union": -LOGISTIC},
    ),
    "Cauchy": (
        Translation(parse("1/(1 + abs(z))**2")),
        {"expected_l2": math.inf, "rms_l2": math.inf, "exceeded": 19, "exceeded_union": 19},
    ),
    "integers": (Translation(parse("exp(-abs(z)/2)"), integers=True), {"expected_l2": 1 / math.sinh(0.5), "exceeded": 6}),
    "stairs": (Staircase(num(1), parse("1/3")), {"expected_l2": 0.96058493115308, "exceeded": 2.9960853597699}),
    "hexagon": (
        Radial(parse("exp(-r)"), Norm("columns", None, ((F(1), F(0)), (F(0), F(1)), (F(1), F(1)))), num(2)),
        {"expected_l2": 2.07146651295, "rms_l2": math.sqrt(20 / 3), "exceeded_union": 4.621201154552876},
    ),
    "t": (
        Radial(parse("(1 + r**2/5)**(-4)"), L2, num(3)),
        {"rms_l2": math.sqrt(5), "exceeded": 3.39924007846, "exceeded_union": 3.53411070406},
    ),
}
"""Noise with its errors, by closed forms and by another way (tests/utility/test_noise_error.py)."""


def places(value, here=()):
    """Where the numbers of parameters stand."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*here, key))
    else:
        yield here


def spoiled(parameters, place, random):
    found = deepcopy(parameters)
    inside = found
    for key in place[:-1]:
        inside = inside[key]
    was = inside[place[-1]]
    if was in ("upper", "lower"):
        inside[place[-1]] = {"upper": "lower", "lower": "upper"}[was]
    elif isinstance(was, str):
        inside[place[-1]] = random.choice([f"-{was}", "0", "1", "1/7", "5", "20"])
    else:
        inside[place[-1]] = random.choice([was + 1, was - 1, -was, 2 * was, 0])
    return found


def holds(bound, truths):
    truth = truths.get(bound.measure)
    if truth is None or bound.coordinate is not None:
        return True
    value = math.inf if isinstance(bound.value, Infinite) else float(constant(bound.value).mid())
    return value <= truth * (1 + 1e-9) if bound.side == "lower" else value >= truth * (1 - 1e-9)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CLAIMS)
def test_spoiled_numbers_prove_nothing_that_is_false(name):
    noise, truths = CLAIMS[name]
    proof, random, tried, refused = Proof(Claim(noise, None, sensitivity=num(1), utility=True, beta=BETA)), Random(name), 0, 0
    for step in noise_error.propose(proof, (), 6):
        numbers = list(places(step["evidence"]))
        for place in random.sample(numbers, min(12, len(numbers))):
            evidence = spoiled(step["evidence"], place, random)
            tried += 1
            try:
                with precision(step["prec"]):
                    says = proof.infer(step["rule"], (), evidence, step["premises"]).says
            except DpverifyError:
                refused += 1
                continue
            for bound in as_errors(says):
                assert holds(bound, truths), (step["rule"], evidence, bound)
    assert tried > 4 and refused > 0
