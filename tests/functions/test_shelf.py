"""The programs on the shelf say what the claim files of the same names say."""

from __future__ import annotations

import pytest

import dpverify as dp
from dpverify.catalogue import read_spec, resolve, shelf

FILE = shelf() / "mechanisms" / "programs" / "selection.py"
ALIKE = [
    "sparse_vector_1", "sparse_vector_3", "sparse_vector_4", "sparse_vector_5", "sparse_vector_6", "above_threshold_gap", "noisy_max_value",
    "delta_above_threshold_gaussian", "delta_noisy_max_gaussian",
]  # fmt: skip
"""Those that are the same mechanism, to the letter."""
AS_STRONG = [
    "stream_adaptive", "stream_adaptive_same_noise_told", "stream_smart_sums", "stream_bad_smart_sums", "stream_prefix_sums",
    "stream_range", "stream_min_max",
]  # fmt: skip
"""Those that are written otherwise: the claims of the file have the same verdicts and the same bounds of the program."""


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


def test_every_program_is_found_with_its_claims():
    found = [path.name for path in resolve(str(FILE.parent))]
    assert f"{FILE.name}:sparse_vector_1" in found
    assert "releases.py:adults" in found
    assert len(found) == len(set(found)) >= 25
