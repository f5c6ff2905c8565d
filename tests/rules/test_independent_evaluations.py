"""Values that others decide: points that stand twice, where the noise is 0, and covariances of less than full rank."""

import random
from dataclasses import replace
from fractions import Fraction
from math import asinh, sqrt

import numpy as np
import pytest

from dpverify.samplers.mechanisms import sampler
from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import INFINITE
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, Num, num, parse
from dpverify.trusted.kernel.model import Claim, Domain, EllipticalProcess
from dpverify.trusted.theories.processes import evaluations
from dpverify.trusted.theories.processes.rules import elliptical_process, evaluations_epsilon, orthogonal_laws
from dpverify.trusted.theories.processes.rules import elliptical_process_unbounded as unbounded

T5 = parse("v**(-7/2)*exp(-5/(2*v))")
FINITE = {"s*t": 1, "1 + s*t": 2, "(1 + s*t)**2": 3, "exp(s + t)": 1, "exp(s)*exp(t) + s*t": 2, "sqrt(s*t)": 1, "s**2*t**2 + 1": 2}
INFINITE_RANK = ("min(s, t)", "exp(-abs(s - t))", "exp(s*t)", "1/(2 - s*t)", "(1 + s*t)**(1/2)", "t", "exp(s*t - s**2 - t**2)")


def process(name, *differences, places=(), shape=("1", "1"), **more):
    return EllipticalProcess(
        T5,
        covariance=name,
        shape=tuple(map(parse, shape)),
        interval=() if name == "eigenvalues" else (ZERO, ONE),
        differences=tuple(map(parse, differences)),
        places=tuple(Num(Fraction(place)) for place in places),
        **more,
    )


def written(kernel, *differences, **more):
    return process("kernel", *differences, shape=(kernel,), **more)


def epsilon(noise, **stated):
    found = verify(Claim(noise, None, **stated)).judgement
    assert found.verdict == "PROVED"
    return float(constant(found.lower).mid()), float(constant(found.upper).mid())


def of_t(n, norm):
    return (5 + n) * asinh(norm / (2 * sqrt(5)))


@pytest.mark.parametrize("kernel", ["s*t", "1 + s*t", "(1 + s*t)**2", "min(s, t)", "1 + min(s, t)", "min(s, t) + s*t"])
def test_of_rational_values_rank_norm_and_range_are_those_of_linear_algebra(kernel):
    rng = random.Random(kernel)
    for _ in range(3):
        points = sorted({Fraction(rng.randrange(1, 12), 12) for _ in range(5)})
        value = eval(f"lambda s, t: {kernel}")
        matrix = np.array([[float(value(max(a, b), min(a, b))) for a in points] for b in points])
        weights = [Fraction(rng.randrange(-3, 4)) for _ in points]
        h = " + ".join(f"({w})*({kernel.replace('s', f'({x})')})" for w, x in zip(weights, points, strict=True))
        inside = written(kernel, h, places=points)
        at_points = matrix @ np.array(list(map(float, weights)))
        assert evaluations.rank(inside) == np.linalg.matrix_rank(matrix)
        expected = at_points @ np.linalg.pinv(matrix) @ at_points
        assert float(evaluations.seen(inside, inside.differences[0]).mid()) == pytest.approx(expected, rel=1e-9, abs=1e-12)
        outside = written(kernel, "t**7 + t**5 + 1/3", places=points)
        short = bool(np.linalg.matrix_rank(matrix) < len(points))
        assert evaluations.is_apart(outside, outside.differences[0]) is short
        assert not evaluations.is_apart(inside, inside.differences[0])


def test_a_value_that_is_released_twice_costs_nothing_more():
    for name in ("brownian", "matern-3/2", "rbf"):
        once, twice = (process(name, "t", places=places) for places in (("1/2", "1"), ("1", "1/2", "1", "1/2")))
        assert epsilon(once) == epsilon(twice)
    assert epsilon(process("eigenvalues", "1/k", shape=("1/k",), places=(1, 3, 3))) == pytest.approx([of_t(2, sqrt(1 + 1 / 3))] * 2)
    assert epsilon(process("brownian", places=("1/2", "1/2")), sensitivity=ONE) == pytest.approx([of_t(1, 1)] * 2)
    assert epsilon(written("s*t", places=("1/2", "1")), sensitivity=ONE) == pytest.approx([of_t(1, 1)] * 2)


def test_a_value_where_the_noise_is_0_costs_nothing_or_everything():
    assert epsilon(process("brownian", "t", places=("0", "1/2", "1"))) == pytest.approx([of_t(2, 1)] * 2)
    assert epsilon(process("bridge", "t*(1 - t)", places=("0", "1/2", "1"))) == pytest.approx([of_t(1, 1 / 2)] * 2)
    assert epsilon(process("brownian", places=("0", "1/2")), sensitivity=ONE) == pytest.approx([of_t(1, 1)] * 2)
    assert epsilon(process("brownian", "t", places=("0",))) == (0, 0)
    for noise in (
        process("brownian", "1 + t", places=("0", "1")),
        process("bridge", "t", places=("1",)),
        written("s*t", "t**2", places=("1/2", "1")),
    ):
        for claim in (Claim(noise, num(9)), Claim(noise, num(9), parse("1 - 1e-9"))):
            assert verify(claim).judgement.verdict == "REFUTED"
        tight = verify(Claim(noise, num(9), None)).judgement
        assert (tight.verdict, tight.delta_lower, tight.delta_upper) == ("PROVED", ONE, ONE)
        pure, *_ = orthogonal_laws.check(Claim(noise, ONE), {"difference": 0})
        assert (pure.value, pure.assumed) == (INFINITE, ())
    assert verify(Claim(process("brownian", "1 + t", places=("0", "1")), num(9), ONE)).judgement.verdict == "PROVED"


def test_a_difference_that_is_0_wherever_it_is_seen_costs_nothing():
    for h in ("sqrt(2)*sqrt(3)*t - sqrt(6)*t", "(t - 1/2)*(t - 1)", "exp(2*t - 1) - exp(1)**(2*t - 1)"):
        assert epsilon(process("matern-3/2", h, places=("1/2", "1"))) == (0, 0), h
    assert epsilon(process("matern-3/2", "exp(t - 1/2) - 1", places=("1/2", "1"))) != (0, 0)


def test_norms_that_are_enclosed_round_0_are_between_0_and_what_is_above():
    from flint import arb

    from dpverify.trusted.theories.processes.norms import between

    found = between([arb(0, "1e-20")])
    assert found.lower == ZERO and 0 < float(constant(found.upper)) < 1e-9
    assert between([arb(4), arb(9)]).upper == num(3) == between([arb(4), arb(9)]).lower


@pytest.mark.parametrize("kernel", FINITE)
def test_finite_sums_of_products_have_finite_rank(kernel):
    assert evaluations.has_finite_rank(written(kernel))


@pytest.mark.parametrize("kernel", INFINITE_RANK)
def test_other_covariances_are_not_said_to_have_finite_rank(kernel):
    assert not evaluations.has_finite_rank(written(kernel))
    assert not evaluations.has_finite_rank(process("brownian", shape=(kernel, "1")))


ALL = {"count": parse("n"), "domains": (("n", Domain(Fraction(0), integer=True)),)}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("kernel", "refuted"), [("s*t", False), ("1 + s*t", False), ("min(s, t)", True), ("t", True)])
def test_what_grows_with_the_number_of_values_grows_with_those_that_are_independent(kernel, refuted):
    noise = written(kernel, "t", count=ALL["count"])
    found = verify(Claim(noise, num(10), domains=ALL["domains"])).judgement
    assert (found.verdict == "REFUTED") is refuted
    at_1024 = {"side": "lower", "at": {"n": "1024"}, "seen": 16}
    bound = evaluations_epsilon.check(Claim(noise, num(10), domains=ALL["domains"]), at_1024)
    n = 1024 if refuted else FINITE[kernel]
    norm = 1.0
    assert float(constant(bound.value).mid()) == pytest.approx(of_t(n, norm))
    assert bound.assumed == ((evaluations_epsilon.INDEPENDENT,) if refuted else ())


@pytest.mark.wide
def test_eigenvalues_that_are_0_count_for_nothing():
    noise = process("eigenvalues", "max(4 - k, 0)", shape=("max(4 - k, 0)",), count=ALL["count"])
    assert verify(Claim(noise, num(10), domains=ALL["domains"])).judgement.verdict == "UNKNOWN"
    for n, seen in ((1024, 2), (8, 2)):
        with pytest.raises(Rejected, match="positive"):
            evaluations_epsilon.check(Claim(noise, ONE, domains=ALL["domains"]), {"side": "lower", "at": {"n": str(n)}, "seen": seen})
    with pytest.raises(Rejected, match="positive at k = 4"):
        evaluations.rank(process("eigenvalues", shape=("max(4 - k, 0)",), count=num(4)))
    late = process("eigenvalues", "1/k", shape=("1/k**2 - 400/k**4 + 40001/k**6",), count=ALL["count"])
    with pytest.raises((Rejected, CertificateError)):
        evaluations_epsilon.check(Claim(late, ONE, domains=ALL["domains"]), {"side": "lower", "at": {"n": "1024"}, "seen": 2, "start": 15})


def test_of_many_values_under_finite_rank_or_of_none_there_is_no_number():
    with pytest.raises(Rejected, match="finite rank"):
        evaluations.rank(written("s*t", count=num(65)))
    assert evaluations.rank(written("s*t", count=num(64))) == 1
    assert evaluations.rank(written("min(s, t)", count=num(65))) == 65
    with pytest.raises(Rejected, match="is 0 at all"):
        evaluations.rank(process("brownian", places=("0",)))
    root = replace(process("rbf"), places=(parse("sqrt(1/2)"), parse("1/2")))
    assert evaluations.rank(root) == 2
    with pytest.raises(Rejected, match="distinct"):
        evaluations.rank(replace(root, places=(parse("sqrt(1/2)"), parse("sqrt(2)/2"))))


def test_a_covariance_of_finite_rank_does_not_show_the_variance():
    noise = written("s*t")
    curve = elliptical_process.curve(noise, evaluations.Sensitivity(ONE, ONE))
    assert curve.lower is None and elliptical_process.curve(written("min(s, t)"), evaluations.Sensitivity(ONE, ONE)).lower is not None
    with pytest.raises(Rejected, match="rank is finite"):
        unbounded.check(Claim(noise, None, sensitivity=ONE), {})
    assert unbounded.check(Claim(written("min(s, t)"), None, sensitivity=ONE), {}).value == INFINITE


def test_values_that_others_decide_are_drawn_as_they_decide_them():
    rng = np.random.default_rng(0)
    drawn = sampler(process("brownian", places=("1", "0", "1/2", "1")))([1.0, 2.0, 3.0, 1.0], 4, rng)
    assert (drawn[:, 1] == 2).all() and (drawn[:, 0] == drawn[:, 3]).all() and len(set(drawn[:, 0])) == 4
    line = sampler(written("1 + s*t", places=("0", "1/4", "1")))([0, 0, 0], 50, rng)
    assert line[:, 1] == pytest.approx(0.75 * line[:, 0] + 0.25 * line[:, 2])
    spread = sampler(replace(written("1 + s*t", places=("0", "1/4", "1")), atoms=((ONE, ONE),)))([0, 0, 0], 20_000, rng)
    assert np.cov(spread.T) == pytest.approx(np.array([[1, 1, 1], [1, 17 / 16, 5 / 4], [1, 5 / 4, 2]]), abs=0.08)
