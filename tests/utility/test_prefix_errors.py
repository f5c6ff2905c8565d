"""The error of prefix sums of what correlated noise tells (theory#prefix-errors), held against inverses in floats and closed forms."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpverify.search.utility.errors import lacking
from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.judgement import infer
from dpverify.trusted.kernel.model import Claim, CorrelatedNoise, Domain
from dpverify.trusted.kernel.proof import Proof


def of(strategy, steps, rows=(), coefficients=(), sigma="4"):
    matrix = tuple(tuple(map(Fraction, row)) for row in rows)
    return CorrelatedNoise(parse(sigma), strategy, num(steps), matrix, tuple(map(Fraction, coefficients)))


def claimed(noise, **more):
    return Claim(noise, parse("1"), None, sensitivity=num(1), utility=True, **more)


def errors(noise):
    """Both bounds of each error, by its measure and step."""
    found = {}
    for _, one in verify(claimed(noise)).judgement.errors:
        found.setdefault((one.measure, one.coordinate), {})[one.side] = float(constant(one.value))
    return found


def dense(noise):
    n = int(noise.steps.value)
    if noise.matrix:
        return np.array([[float(x) for x in row] for row in noise.matrix])
    column = [1.0] * n if noise.strategy == "prefix_sums" else [float(x) for x in noise.coefficients]
    return np.array([[column[i - j] if 0 <= i - j < len(column) else 0.0 for j in range(n)] for i in range(n)])


@pytest.mark.parametrize(
    "noise",
    [
        of("toeplitz", 20, coefficients=["1", "1/2", "3/8", "5/16"]),
        of("toeplitz", 33, coefficients=["2", "-1/2", "1/3"], sigma="1/7"),
        of("toeplitz", 1, coefficients=["-3"]),
        of("toeplitz", 12, coefficients=["1", "3"]),  # its inverse grows
        of("prefix_sums", 9),
        of("matrix", 3, rows=[["1", "0", "0"], ["1/2", "-2", "0"], ["0", "1", "1/3"]]),
        of("matrix", 1, rows=[["5"]]),
    ],
)  # fmt: skip
def test_errors_are_those_of_the_inverse(noise):
    inverse = np.tril(np.ones_like(dense(noise))) @ np.linalg.inv(dense(noise)) * float(constant(noise.sigma))
    found = errors(noise)
    assert found["rms_l2", None]["lower"] <= found["rms_l2", None]["upper"] == pytest.approx(np.linalg.norm(inverse), rel=1e-12)
    assert found["rms_l2", None]["lower"] == pytest.approx(found["rms_l2", None]["upper"], rel=1e-12)
    for step, row in enumerate(inverse):
        assert found["rms", step]["lower"] == pytest.approx(np.linalg.norm(row), rel=1e-12)
        assert found["rms", step]["upper"] == pytest.approx(np.linalg.norm(row), rel=1e-12)


def test_sums_of_independent_noise_grow_as_a_root():
    found = errors(of("toeplitz", 5000, coefficients=["1"]))
    assert found["rms", 4999]["lower"] == pytest.approx(4 * math.sqrt(5000), rel=1e-15)
    assert found["rms_l2", None]["upper"] == pytest.approx(4 * math.sqrt(5000 * 5001 / 2), rel=1e-15)
    assert len(found) == 17  # some steps, the last of them


@pytest.mark.parametrize(
    ("noise", "why"),
    [
        (of("binary_tree", 4), "it is not square"),
        (of("matrix", 2, rows=[["1", "0"], ["1", "0"]]), "without 0 on the diagonal"),
        (of("matrix", 2, rows=[["1", "1"], ["1", "2"]]), "lower triangular"),
        (of("matrix", 1, rows=[["1"], ["1"]]), "not square"),
        (of("toeplitz", 3, coefficients=["0", "1"]), "its diagonal is 0"),
    ],
)
def test_what_cannot_be_undone_step_by_step_is_rejected(noise, why):
    with pytest.raises(Rejected, match=why):
        infer(Proof(claimed(noise)), "prefix-errors", {"steps": []}, (), 128)
    assert errors(noise) == {}
    assert "square and lower triangular" in lacking(claimed(noise), "rms_l2")


def test_an_inverse_beyond_the_precision_is_not_told():
    with pytest.raises(Rejected, match="not known at this precision"):
        infer(Proof(claimed(of("toeplitz", 4, coefficients=["3", "1" + "0" * 60]))), "prefix-errors", {"steps": []}, (), 64)


def test_the_rule_is_about_correlated_noise_with_numbers_and_about_its_steps():
    ranging = of("prefix_sums", 4, sigma="s")
    with pytest.raises(Rejected, match="a value for every parameter"):
        infer(Proof(claimed(ranging, domains=(("s", Domain(Fraction(1), Fraction(2))),))), "prefix-errors", {}, (), 128)
    with pytest.raises(CertificateError, match="'steps' is 4, not a whole number from 0 to 3"):
        infer(Proof(claimed(of("prefix_sums", 4))), "prefix-errors", {"steps": [4]}, (), 128)
