"""A proof as a tree: from the claim to its leaves, nothing left out, nothing invented; in the terminal and in a notebook."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

import dpverify
from dpverify import cli
from dpverify.evidence.collected import encode
from dpverify.report import Entry, proof
from dpverify.report.stated import stated
from dpverify.search.verify import rejudged
from dpverify.trusted.kernel.errors import CertificateError
from dpverify.trusted.kernel.registry import RULES
from tests import committed

ROOT = Path(__file__).parents[2]
NAMES = (
    "student_t.d3-nu5", "student_t.d3-nu5-too-low", "randomized_response.exact", "pipeline.epsilon-above",
    "nested_sampling.delta-above", "delta_gaussian.delta-exact", "knorm_l1.queries-just-below", "student_t_all.its-linear-bound",
)  # fmt: skip


def entry_of(name):
    packed = committed.certificate(name)
    found = rejudged(dpverify.trusted.kernel.certificate.unpack(packed).claim, packed)
    claim = found.judgement.claim
    return Entry("a.toml", claim.mechanism_name, claim, found.judgement.verdict, judgement=found.judgement, proved=found.proved)


def steps(step):
    yield step
    for below in step.below:
        yield from steps(below)


def under(lines, number):
    """The rules of a line and of all that it rests on, through however many others."""
    yield lines[number]["rule"]
    for premise in set(lines[number].get("premises", [])):
        yield from under(lines, premise)


@pytest.mark.parametrize("name", NAMES)
def test_the_tree_holds_every_rule_of_the_certificate_as_often_as_it_is_used(name):
    entry = entry_of(name)
    lines = committed.certificate(name)["lines"]
    spoken = [number for number, line in enumerate(lines) if line["rule"] in RULES and not line.get("place")]
    expected = sorted(rule for number in spoken for rule in under(lines, number))
    assert sorted(step.rule for step in steps(proof.tree(entry)) if step.kind == "rule") == expected


@pytest.mark.parametrize("name", NAMES)
def test_every_rule_shows_what_it_checks_once_and_every_assumption_is_there(name):
    entry = entry_of(name)
    told = list(steps(proof.tree(entry)))
    for rule in {step.rule for step in told if step.rule}:
        shown = [below.text for step in told if step.rule == rule for below in step.below if below.kind == "checked"]
        assert shown == list(stated(rule).checked)
    assert {step.text for step in told if step.kind == "assumed"} == set(entry.assumptions)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
def test_explain_draws_the_proof_of_a_certificate(name):
    result = CliRunner().invoke(cli.main, ["explain", str(committed.place(name))])
    assert result.exit_code == 0
    lines = result.output.rstrip("\n").split("\n")
    assert lines[0].startswith(committed.certificate(name)["verdict"])
    assert lines == list(proof.lines(proof.tree(entry_of(name))))
    assert all(re.match(r"(│  |   )*(├─|└─) \S", line) for line in lines[1:])


@pytest.mark.wide
def test_bounds_are_rounded_to_the_safe_side():
    told = [step.text for step in steps(proof.tree(entry_of("pipeline.epsilon-above")))]
    uppers = [float(text) for said in told for text in re.findall(r"tight delta ≤ ([\d.e-]+)", said)]
    lowers = [float(text) for said in told for text in re.findall(r"tight delta ≥ ([\d.e-]+)", said)]
    judged = entry_of("pipeline.epsilon-above").judgement
    assert uppers and lowers and max(lowers) <= judged.delta_lower.value <= judged.delta_upper.value <= min(uppers)


def test_explain_refuses_a_certificate_that_does_not_hold(tmp_path):
    data = committed.certificate("student_t.d3-nu5-too-low")
    forged = tmp_path / "forged.cert.json"
    forged.write_text(json.dumps({**data, "verdict": "PROVED"}))
    result = CliRunner().invoke(cli.main, ["explain", str(forged)])
    assert result.exit_code == 2 and "not a certificate that holds" in result.stderr


def test_explain_draws_the_proofs_of_the_claims_of_a_file():
    result = CliRunner().invoke(cli.main, ["explain", "student_t", "--claim", "d=3 nu=5"])
    assert result.exit_code == 0 and result.output.startswith("PROVED: student_t, d=3 nu=5: epsilon 1.775") and "└─ " in result.output


class Elements(HTMLParser):
    """The elements of a fragment, balanced."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen = [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_notebook_shows_a_judgement_with_its_proof():
    claim = dpverify.read_spec(ROOT / "specs" / "student_t.toml").claims[4].claim
    verified = dpverify.verify(claim)
    shown = verified._repr_html_()
    assert {"style", "math", "ul", "dl"} <= set(Elements(shown).seen)
    assert "PROVED" in shown and "power-identity" in shown and "the implementation samples exactly from the declared distribution" in shown


def test_a_notebook_shows_a_certificate_that_was_checked_again(tmp_path):
    verified = dpverify.verify(dpverify.read_spec(ROOT / "specs" / "student_t.toml").claims[4].claim)
    file = tmp_path / "t.cert.json"
    file.write_text(encode(verified.certificate))
    for certificate in (verified.certificate, file, str(file)):
        again = dpverify.check(certificate)
        assert again.judgement == verified.judgement and again.entry.proved == verified.entry.proved
        assert "PROVED" in again._repr_html_() and "1.7742730175404607565" in again._repr_html_()


def test_what_is_no_certificate_is_an_error_from_python_too(tmp_path):
    (tmp_path / "no.json").write_text("{}")
    with pytest.raises(CertificateError, match="schema is None"):
        dpverify.check(tmp_path / "no.json")
    verified = dpverify.verify(dpverify.read_spec(ROOT / "specs" / "student_t.toml").claims[4].claim)
    with pytest.raises(CertificateError, match="the certificate says REFUTED, its lines give PROVED"):
        dpverify.check({**verified.certificate, "verdict": "REFUTED"})


def test_a_notebook_shows_what_an_audit_found():
    finding = dpverify.audit(
        lambda data, size, rng: data[0] + rng.laplace(scale=0.8, size=size), epsilon=1, pairs=[([0.0], [1.0])], samples=20000, seed=1
    )
    shown = finding._repr_html_()
    assert {"svg", "dl"} <= set(Elements(shown).seen) and "VIOLATION" in shown and "threshold" in shown
