"""The programs on the shelf say what the claim files of the same names say."""

from __future__ import annotations

import math
from decimal import Decimal
from itertools import product

import pytest

import dpverify as dp
from dpverify.catalogue import read_spec, resolve, shelf

FILE = shelf() / "mechanisms" / "programs" / "selection.py"
ALIKE = [
    "sparse_vector_1", "sparse_vector_2", "sparse_vector_3",
    "sparse_vector_4", "sparse_vector_5", "sparse_vector_6", "above_threshold_gap", "noisy_max_value",
    "delta_above_threshold_gaussian", "delta_noisy_max_gaussian",
]  # fmt: skip
"""Those that are the same mechanism, to the letter."""
AS_STRONG = [
    "stream_adaptive", "stream_adaptive_same_noise_told", "stream_smart_sums", "stream_bad_smart_sums", "stream_prefix_sums",
    "stream_range", "stream_min_max",
]  # fmt: skip
"""Those that are written otherwise: the claims of the file have the same verdicts and the same bounds of the program."""


@dp.program(bounds=[0, 1], answers=2)
def below_two(answers, noise):
    t = noise.laplace(4)
    for answer in answers:
        below = answer + noise.laplace(8) <= t
        yield below
        if below:
            return


def program(name):
    return read_spec(f"{FILE}:{name}")


@pytest.mark.parametrize("name", ALIKE)
def test_the_same_mechanism(name):
    (file,) = resolve(str(shelf() / "specs" / f"{name}.toml"))
    written = read_spec(file).claims[0].claim
    read = program(name).claims[0].claim
    assert read.mechanism == written.mechanism
    assert read.sensitivity == written.sensitivity
    assert {domain for domain in read.domains if domain in written.domains} == set(written.domains)


@pytest.mark.parametrize("name", AS_STRONG)
def test_the_same_verdicts_and_bounds(name):
    written = read_spec(shelf() / "specs" / f"{name}.toml").claims
    read = program(name).claims
    assert len(read) == len(written)
    for one, other in zip(read, written, strict=True):
        a, b = dp.verify(one.claim), dp.verify(other.claim)
        assert one.claim.epsilon == other.claim.epsilon
        assert (a.verdict, a.epsilon.lower, a.epsilon.upper) == (b.verdict, b.epsilon.lower, b.epsilon.upper)


BETWEEN = {
    "above_gaussian": "delta_above_threshold_between_bounds",
    "above_laplace": "above_threshold_laplace_between_bounds",
    "greatest_gaussian": "noisy_max_gaussian_between_bounds",
}
"""Programs of the suite with answers between bounds, and the claim files of the same mechanisms."""


@pytest.mark.parametrize("name", BETWEEN)
def test_the_same_mechanism_between_bounds(name):
    (file,) = resolve(str(shelf() / "specs" / f"{BETWEEN[name]}.toml"))
    read = read_spec(f"{FILE.parent / 'between_bounds.py'}:{name}").claims[0].claim
    written = read_spec(file).claims[0].claim
    assert read.mechanism == written.mechanism


def test_answers_compared_from_the_other_side_are_their_opposites():
    """The value of (True), (False, True) and (False, False) by integration."""
    steps = [i / 50 for i in range(-10000, 10001)]
    weights = [math.exp(-abs(t) / 4) / 8 / 50 for t in steps]

    def below(t):
        return math.exp(t / 8) / 2 if t < 0 else 1 - math.exp(-t / 8) / 2

    def chances(pair):
        a, b = ([below(t - q) for t in steps] for q in pair)
        return [
            sum(w * x for w, x in zip(weights, a, strict=True)),
            sum(w * (1 - x) * y for w, x, y in zip(weights, a, b, strict=True)),
            sum(w * (1 - x) * (1 - y) for w, x, y in zip(weights, a, b, strict=True)),
        ]

    rows = [chances(pair) for pair in product((0, 1), repeat=2)]
    loss = max(abs(math.log(p / q)) for one in rows for other in rows for p, q in zip(one, other, strict=True))
    two = dp.verify(below_two, epsilon="tight").epsilon
    assert abs(two.upper - Decimal(loss)) < Decimal("1e-5")


def test_every_program_is_found_with_its_claims():
    found = [path.name for path in resolve(str(FILE.parent))]
    assert f"{FILE.name}:sparse_vector_1" in found
    assert "releases.py:adults" in found
    assert len(found) == len(set(found)) >= 60
