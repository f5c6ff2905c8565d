"""What answers, pages, checks and explanations tell of errors."""

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
from click.testing import CliRunner

from dpverify import cli
from dpverify.report import Entry, decimal, proof, record, text, utility
from dpverify.report.page.blocks import Table
from dpverify.report.page.sections import errors
from dpverify.report.page.subject import Claimed, File
from dpverify.search.verify import verify
from dpverify.trusted.facts.errors import ErrorBound
from dpverify.trusted.kernel.bounds import INFINITE
from dpverify.trusted.kernel.expr import Num, num, parse
from dpverify.trusted.kernel.model import Claim, Product, Query

TEXT = """[mechanism]
kind = "product"
density = "exp(-abs(z))"
dimension = 1

[[claim]]
query = [[1]]
adjacency = "add-remove"
epsilon = 1
utility = true
"""
COUNTS = "integer histograms, one record added or removed"


verified_once = cache(lambda claim: verify(claim, 10))


def entry(adjacency="add-remove", beta=None, own=True, more=()):
    """A claim with the error of this noise, Laplace of scale 1, as a rule about noise would give it."""
    claim = Claim(
        Product(parse("exp(-abs(z))"), num(1)), num(1), query=Query(((Fraction(1),),), adjacency), name="one", utility=True, beta=beta
    )
    verified = verified_once(claim)
    found = [ErrorBound("expected_l2", "this", side, num(1)) for side in ("lower", "upper")] if own else []
    necessary = [one for one in verified.judgement.errors if one[1].whose == "any"]
    judgement = replace(verified.judgement, errors=(*necessary, *(("some-rule", bound) for bound in (*found, *more))))
    return Entry("one.toml", "one", claim, "PROVED", judgement=judgement, proved=verified.proved, digits=10)


def test_an_answer_tells_the_error_beside_the_least_one_with_the_ratio_and_its_neighbours():
    told = list(text.errors(entry().claim, entry().judgement, 10))
    assert told == [
        f"error, mean length: 1; least possible 0.8509181282 (lines; {COUNTS}), ratio <= 1.176",
        "error, root mean square: not known: no rule encloses this error for this noise; least possible 1.356962486 (lines)",
    ]


@pytest.mark.parametrize(("adjacency", "words"), [("add-remove", COUNTS), ("l1", "real histograms, l1"), ("l2", "real histograms, l2")])
def test_the_neighbours_stand_beside_the_least_errors(adjacency, words):
    one = entry(adjacency)
    first, *rest = text.errors(one.claim, one.judgement, 10)
    assert words in first and not any(words in line for line in rest)
    found = record.record(one)["utility"]
    assert found["necessary_l2"]["neighbours"] == found["necessary_rms_l2"]["neighbours"] == words
    (table,) = (block for block in errors.blocks(Claimed(File("one", [one]), one)) if isinstance(block, Table))
    assert [row[-1] for row in table.rows] == [words, words]


def test_the_json_names_the_rule_and_the_ratio():
    found = record.record(entry())["utility"]["necessary_l2"]
    assert (found["rule"], found["theorem"]) == ("lattice", "lines-lower-bound")
    assert (found["lower"], found["ratio"]) == ("0.8509181282", "1.175201194")


def test_a_claim_that_asks_for_no_errors_is_told_none():
    one = entry()
    silent = replace(one, claim=replace(one.claim, utility=False))
    assert list(text.errors(silent.claim, silent.judgement, 10)) == []
    assert errors.blocks(Claimed(File("one", [silent]), silent)) == []
    assert "utility" not in record.record(silent)


def test_the_reason_why_an_error_is_not_known_is_said_once():
    one, reasons = entry(), set()
    first, again = (list(text.errors(one.claim, one.judgement, 10, reasons=reasons)) for _ in range(2))
    assert first[0] == again[0] and first[1].startswith("error, root mean square: not known: no rule ")
    assert again[1] == "error, root mean square: not known; least possible 1.356962486 (lines)"


def test_a_ratio_in_a_line_is_rounded_up():
    told = utility.Told("size", "1", "2", "rule", "1.0001").text("", set())
    assert told == "error, size: 1; least possible 2 (rule), ratio <= 1.001"


def test_coordinates_and_what_is_exceeded_are_told():
    coordinates = [ErrorBound("rms", "this", "upper", num(2 + k), coordinate=k) for k in range(utility.MOST_COORDINATES + 2)]
    exceeded = ErrorBound("exceeded", "this", "lower", num(3), beta=parse("1/20"))
    one = entry(beta=parse("1/20"), more=[*coordinates, exceeded])
    told = list(text.errors(one.claim, one.judgement, 10))
    assert "error, coordinate 1, root mean square: at most 2" in told
    assert "error, other coordinates: 2 more in the JSON" in told
    assert told[-1] == "error, exceeded by some coordinate with probability at most 1/20: at least 3"


def test_coordinates_that_are_alike_are_told_once():
    one = entry(more=[ErrorBound("rms", "this", side, num(2), coordinate=k) for k in range(40) for side in ("lower", "upper")])
    told = [line for line in text.errors(one.claim, one.judgement, 10) if "coordinate" in line]
    assert told[1] == "error, each coordinate, root mean square: 2" and len(told) == 2


@pytest.mark.parametrize("verdict", ["REFUTED", "UNKNOWN"])
def test_noise_that_is_not_proved_as_private_is_not_compared(verdict):
    one = entry()
    found = record.record(replace(one, judgement=replace(one.judgement, verdict=verdict)))["utility"]["necessary_l2"]
    assert found["lower"] == "0.8509181282" and "ratio" not in found


def test_an_infinite_error_is_told_as_such():
    one = entry(own=False, more=[ErrorBound("expected_l2", "this", side, INFINITE) for side in ("lower", "upper")])
    assert next(text.errors(one.claim, one.judgement, 10)).startswith("error, mean length: infinite; least possible 0.85")
    assert record.record(one)["utility"]["expected_l2"] == {"lower": "inf", "upper": "inf"}


def test_the_ratio_is_at_least_that_of_the_two_bounds():
    one = entry()
    ratio = decimal(utility.most_times(one.judgement.errors, "expected_l2"), 10, 1)
    least = next(bound.value for _, bound in one.judgement.errors if bound.measure == "expected_l2" and bound.whose == "any")
    assert isinstance(least, Num) and Fraction(ratio) >= 1 / least.value


def test_the_proof_of_a_claim_shows_the_bound_on_errors_with_its_rule():
    lines = list(proof.lines(proof.tree(entry(own=False))))
    at = next(
        number for number, line in enumerate(lines) if "error of any mechanism, mean length \N{GREATER-THAN OR EQUAL TO} 0.85" in line
    )
    assert "by lines-lower-bound (docs/theory/necessary.md#lines-lower-bound)" in lines[at + 1]


@pytest.mark.wide
def test_check_and_explain_tell_errors(tmp_path):
    (tmp_path / "one.toml").write_text(TEXT)
    run = CliRunner().invoke
    assert run(cli.main, ["verify", "--no-cache", "--certificates", str(tmp_path), str(tmp_path / "one.toml")]).exit_code == 0
    (certificate,) = tmp_path.glob("*.cert.json")
    assert "least possible 0.8509181282" in run(cli.main, ["check", str(certificate)]).stdout
    assert "error of any mechanism" in run(cli.main, ["explain", str(certificate)]).stdout
    assert run(cli.main, ["explain", "lines"]).stdout.startswith("lines-lower-bound: With differences v_i of neighbours")
    both = run(cli.main, ["explain", "lattice"]).stdout  # a rule about the least error, and one about curves
    assert "lattice-lower-bound: " in both and "\nlattice: " in both


@pytest.mark.wide
def test_a_certificate_whose_least_error_is_raised_is_refused(tmp_path):
    (tmp_path / "one.toml").write_text(TEXT)
    CliRunner().invoke(cli.main, ["verify", "--no-cache", "--certificates", str(tmp_path), str(tmp_path / "one.toml")])
    (certificate,) = tmp_path.glob("*.cert.json")
    data = json.loads(certificate.read_text())
    line = next(line for line in data["lines"] if line["rule"] == "lines-lower-bound")
    line["parameters"]["scale"] = [["3/2"]]
    certificate.write_text(json.dumps(data))
    checked = CliRunner().invoke(cli.main, ["check", str(certificate)])
    assert checked.exit_code == 1 and "rejected by lines-lower-bound" in checked.stderr
