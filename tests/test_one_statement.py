"""A claim states one thing: what could be read in two ways is refused, and what is checked is told as it is."""

import copy

import pytest
from click.testing import CliRunner

from dpverify.catalogue import read_spec
from dpverify.cli import main
from dpverify.errors import SpecError
from dpverify.search.verify import verify
from dpverify.trusted.kernel.canonical_form import claim_hash, from_json, to_json
from dpverify.trusted.kernel.certificate import SCHEMA
from dpverify.trusted.kernel.errors import CertificateError
from dpverify.trusted.kernel.judgement import check

THRESHOLD = """
[mechanism]
kind = "above_threshold"
threshold_noise = { kind = "builtin", name = "laplace", scale = 4 }
query_noise = { kind = "builtin", name = "laplace", scale = 8 }
queries = 100
neighbours = "decreasing"

[[claim]]
sensitivity = 1
epsilon = "13/100"
"""
SQUARES = """
[mechanism]
kind = "space"
shape = { kind = "ellipsoid", axes = "1/k" }
diameter = 3

[[claim]]
epsilon = "tight"
within = "1/2"
beta = "1/4"
"""
POINTS = """
[mechanism]
kind = "space"
shape = { kind = "points", distances = [[0, 1, 3], [1, 0, 2], [3, 2, 0]] }
databases = "answers"
table = [["7/10", "1/5", "1/10"], ["1/5", "1/2", "3/10"], ["1/10", "1/5", "7/10"]]

[[claim]]
epsilon = "tight"
within = 1
beta = "3/10"
"""


def claim_of(tmp_path, text):
    (tmp_path / "it.toml").write_text(text)
    (stated,) = read_spec(tmp_path / "it.toml").claims
    return stated.claim


@pytest.mark.parametrize("order", ["one-sided", "reverse"])
def test_an_order_beside_neighbours_of_one_order_is_refused(tmp_path, order):
    with pytest.raises(SpecError, match="of one order already"):
        claim_of(tmp_path, f'{THRESHOLD}order = "{order}"\n')
    data = {**to_json(claim_of(tmp_path, THRESHOLD)), "order": order}
    with pytest.raises(CertificateError, match="of one order already"):
        from_json(data)


@pytest.mark.parametrize("p", ["-1", "1/2"])
def test_noise_that_is_compared_is_in_a_norm(tmp_path, p):
    data = to_json(claim_of(tmp_path, THRESHOLD))
    data["mechanism"]["query_noise"]["norm"]["p"] = p
    certificate = {"schema": SCHEMA, "claim": data, "claim_sha256": claim_hash(data), "prec": 64, "verdict": "UNKNOWN", "lines": []}
    with pytest.raises(CertificateError, match="is below 1, where the triangle inequality fails"):
        check(certificate)


@pytest.mark.parametrize("p", ["1", "1000000", None])
def test_a_space_with_a_distance_of_its_own_takes_no_norm(tmp_path, p):
    certificate = dict(verify(claim_of(tmp_path, SQUARES)).certificate)
    assert check(certificate).verdict == "PROVED"
    forged = copy.deepcopy(certificate)
    forged["claim"]["mechanism"]["shape"]["norm"]["p"] = p
    forged["claim_sha256"] = claim_hash(forged["claim"])
    with pytest.raises(CertificateError, match="a distance of its own"):
        check(forged)


def test_a_given_table_may_be_too_far_with_exactly_the_probability_that_is_allowed(tmp_path):
    # of the third database 1/10 + 1/5, which in floats is above 3/10
    assert verify(claim_of(tmp_path, POINTS)).judgement.verdict == "PROVED"


def test_check_tells_the_measure_in_place_of_epsilon(tmp_path):
    (tmp_path / "it.toml").write_text(
        '[mechanism]\nkind = "builtin"\nname = "gaussian"\nsigma = 2\n[[claim]]\nsensitivity = 1\ngdp = "1/2"\n'
    )
    run = CliRunner().invoke(main, ["verify", str(tmp_path / "it.toml"), "--certificates", str(tmp_path / "out"), "--no-cache"])
    assert run.exit_code == 0, run.output
    first = CliRunner().invoke(main, ["check", str(tmp_path / "out")]).stdout.splitlines()[0]
    assert "gdp 1/2" in first and "epsilon" not in first and "delta" not in first


def test_pairs_that_are_listed_one_way_are_not_told_to_be_in_both_orders(tmp_path):
    table = '[mechanism]\nkind = "table"\nrows = [["3/4", "1/4"], ["1/2", "1/2"]]\nadjacent = [[0, 1]]\n'
    text = f'{table}[[claim]]\norder = "one-sided"\nepsilon = 1\n'
    (tmp_path / "it.toml").write_text(text)
    CliRunner().invoke(main, ["verify", str(tmp_path / "it.toml"), "--certificates", str(tmp_path / "out"), "--no-cache"])
    told = CliRunner().invoke(main, ["check", str(tmp_path / "out")]).stdout
    assert "the one with the record" in told and "in both orders" not in told
