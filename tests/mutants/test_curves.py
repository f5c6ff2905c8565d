"""Forged evidence for privacy curves: whatever is changed, the kernel refuses it or proves nothing more than what is true."""

import copy
import json
import random
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from dpverify.search.verify import verify
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel.balls import constant, exact, precision
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.certificate import unpack
from dpverify.trusted.kernel.errors import CertificateError
from dpverify.trusted.kernel.expr import Expr, Num, num, parse
from dpverify.trusted.kernel.fact import as_bounds
from dpverify.trusted.kernel.model import (
    L1,
    L2,
    Claim,
    Compose,
    Group,
    Lipschitz,
    Parallel,
    Part,
    PostProcess,
    Radial,
    Subsample,
    Table,
    repeated,
)
from tests.tools import load

judgements = load("judgements")
HALF = parse("1/2")
LAPLACE = Part(Radial(parse("exp(-r)"), L1, num(1)), num(1))
GAUSSIAN = Part(Radial(parse("exp(-r**2/2)"), L2, num(1), num(2)), num(1))
WARNER = Part(Table(((parse("3/4"), parse("1/4")), (parse("1/4"), parse("3/4")))))
MECHANISMS = {
    "Gaussians": Compose((GAUSSIAN, repeated(Part(GAUSSIAN.mechanism, num(2)), num(3)))),
    "a sample": Subsample(GAUSSIAN, HALF),
    "a sample without replacement": Subsample(LAPLACE, HALF, "without_replacement"),
    "parallel parts": Parallel((LAPLACE, GAUSSIAN, WARNER)),
    "a group of a sample": Group(Part(Subsample(LAPLACE, HALF)), num(3)),
    "a map, then a map of the output": PostProcess(Part(Lipschitz(LAPLACE, HALF))),
    "two kinds": Compose((LAPLACE, WARNER)),
}
EPSILON, DELTA = HALF, parse("1/100")
MOST = 40
"""How many changes of a line are tried."""
VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 2**70, 1.5, "", "0", "-1", "1/0", "nan", "inf", "1/1000000", "10**9", "1e9", "log(0)", "\0", [], [[]], [1, 2], {},
    [0], [1, 0], [{"part": 0}], [{"part": 1}], [0, {"part": 0}], ["one step"], {"rule": "gaussian"},
    "gaussian", "laplace", "post-processing", "loss-distribution", "optimal-composition", "single-part", "renyi-composition",
)  # fmt: skip


@cache
def honest(claim: Claim) -> Any:
    return verify(claim, 8)


def claims(mechanism):
    return Claim(mechanism, EPSILON, None), Claim(mechanism, None, DELTA)


def number(value: Expr | Infinite) -> Fraction:
    assert not isinstance(value, Infinite)
    with precision(200):
        return value.value if isinstance(value, Num) else exact(constant(value).mid())


def places(value: Any, path: tuple[Any, ...] = ()):
    """Every place inside lines."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def changed(lines, path, value):
    forged = copy.deepcopy(lines)
    inner = forged
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return forged


def nudged(value: Any) -> list[Any]:
    """A number moved a little, as an integer or as text."""
    if isinstance(value, int) and not isinstance(value, bool):
        return [value + 1, value - 1, 2 * value, -value]
    try:
        known = Fraction(value)
    except (TypeError, ValueError, ZeroDivisionError):
        return []
    return [str(known * factor) for factor in (Fraction(9, 10), Fraction(11, 10), -1, 1000)]


def truths(claim):
    """What is known to hold: greatest lower and least upper bounds of the honest proof, by quantity."""
    judgement = honest(claim).judgement
    if claim.delta is None:
        return {"delta": (judgement.delta_lower, judgement.delta_upper)}
    return {"epsilon": (judgement.lower, judgement.upper)}


def contradicts(bound, truth):
    lower, upper = truth.get(bound.quantity, (None, None))
    if isinstance(bound.value, Infinite):
        return bound.side == "lower" and upper is not None
    if bound.side == "upper":
        return lower is not None and number(bound.value) < number(lower)
    return upper is not None and number(bound.value) > number(upper)


def false(data, number=-1):
    """The bounds that lines prove and that are not true of their claim; number: those that rest on this line."""
    try:
        certificate = unpack(data)
    except CertificateError:
        return []
    facts = judgements.proved(certificate.claim, certificate.lines, number)
    return [bound for fact in facts for bound in as_bounds(fact.says) if contradicts(bound, truths(certificate.claim))]


@pytest.mark.parametrize("name", MECHANISMS)
def test_forged_evidence_proves_nothing_that_is_false(name):
    chance = random.Random(7)
    for claim in claims(MECHANISMS[name]):
        data = honest(claim).certificate
        assert judgements.proved(claim, unpack(data).lines)
        for number, line in enumerate(data["lines"]):
            trials = []
            for path in places(line):
                inner = line
                for key in path:
                    inner = inner[key]
                trials += [(path, value) for value in (*nudged(inner), *chance.sample(VALUES, 3))]
            for path, value in chance.sample(trials, min(len(trials), MOST)):
                forged = data | {"lines": changed(data["lines"], (number, *path), value)}
                assert not false(forged, number), (line["rule"], path, value)


@pytest.mark.parametrize("name", MECHANISMS)
def test_evidence_of_another_mechanism_proves_nothing_that_is_false(name):
    own = claims(MECHANISMS[name])
    for other in MECHANISMS:
        if other == name:
            continue
        for claim, foreign in zip(own, claims(MECHANISMS[other]), strict=True):
            assert not false(honest(claim).certificate | {"lines": honest(foreign).certificate["lines"]}), other


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", MECHANISMS)
def test_certificates_survive_their_text_and_hold_for_no_other_claim(name):
    for claim in claims(MECHANISMS[name]):
        certificate = json.loads(json.dumps(honest(claim).certificate))
        assert kernel.check(certificate).claim == claim
        certificate["claim"]["adjacency"] = "l2"
        with pytest.raises(CertificateError):
            kernel.check(certificate)
