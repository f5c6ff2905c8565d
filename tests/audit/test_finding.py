"""What an audit says in the end: never proved, never more than was seen, and how to see it again."""

import json
import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpverify.report import findings as rendering
from dpverify.report import github, junit, markdown, record, sarif, text
from dpverify.report.results import Fault, Results
from dpverify.runtime.finding import FLOAT, MODEL, NO_VIOLATION_SEEN, NONCONFORMING, VIOLATION, Finding, confidence_text

SEEN = Finding(
    finding=NO_VIOLATION_SEEN, level=MODEL, epsilon=1.0, delta=0.0, epsilon_lower=0.96, confidence=1 - 1e-6, samples=1000,
    event="y > 1: 1/9", pair="[0] and [1]", detectable_epsilon=1.05, seed=3, seconds=0.5, sampler="noise:laplace",
    file="a.toml", name="one",
)  # fmt: skip
BROKEN = replace(SEEN, finding=VIOLATION, epsilon_lower=1.2, detectable_epsilon=None)
LEAK = replace(BROKEN, level=FLOAT)
OTHER = replace(SEEN, finding=NONCONFORMING, detectable_epsilon=None)
ALL = (SEEN, BROKEN, LEAK, OTHER)
FAULT = Fault("b.toml", "two", "SamplerError: no more ink")
TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
FINDINGS = st.builds(
    replace, st.sampled_from(ALL), file=TEXTS, name=TEXTS, event=TEXTS, pair=TEXTS, sampler=TEXTS,
    epsilon_lower=st.floats(0, 10), expected=st.sampled_from(["PROVED", "REFUTED", "UNKNOWN"]),
    notes=st.lists(TEXTS, max_size=2).map(tuple),
)  # fmt: skip
FAULTS = st.builds(Fault, TEXTS, TEXTS, TEXTS, code=st.just(FAULT.code), what=st.just(FAULT.what))


@pytest.mark.parametrize("finding", ALL)
def test_the_text_says_what_with_which_confidence_why_and_how_to_see_it_again(finding):
    text = finding.text()
    assert text.startswith({NO_VIOLATION_SEEN: "NO VIOLATION SEEN"}.get(finding.finding, finding.finding))
    for part in (
        "confidence 1 - 1e-06",
        f"{finding.epsilon_lower:.6g}",
        "y > 1: 1/9",
        "[0] and [1]",
        "noise:laplace",
        "1000 samples",
        "seed 3",
    ):
        assert part in text
    assert "prove" not in text.lower()


def test_the_text_of_no_violation_says_what_would_have_been_seen():
    assert "90% power to detect epsilon >= 1.05 (tested events and inputs only)" in SEEN.text()
    assert "too few samples to find any epsilon" in replace(SEEN, detectable_epsilon=math.inf).text()


def test_the_text_names_the_claim():
    assert "of epsilon 1," in SEEN.text() and "of epsilon 1, delta 1e-05" in replace(SEEN, delta=1e-5).text()
    assert "the declared curve" in replace(SEEN, epsilon=None).text()


def test_a_level_is_told_of_what_was_found():
    assert "float level" in LEAK.text() and "model level" in BROKEN.text() and "model level" in OTHER.text()


def test_without_a_generator_the_text_says_that_it_cannot_be_repeated():
    assert "replay: not reproducible" in replace(SEEN, seed=None).text()


def exit_code(findings, faults=()):
    return Results(findings=findings, faults=faults).exit_code


def summary(findings, faults=()):
    return Results(findings=findings, faults=faults).summary


@pytest.mark.parametrize(
    ("finding", "expected", "fine"),
    [
        (NO_VIOLATION_SEEN, "PROVED", True),
        (NO_VIOLATION_SEEN, "UNKNOWN", True),
        (NO_VIOLATION_SEEN, "REFUTED", True),  # not seen is not refuted, and no reason to fail
        (VIOLATION, "PROVED", False),
        (VIOLATION, "UNKNOWN", False),
        (VIOLATION, "REFUTED", True),
        (NONCONFORMING, "PROVED", False),
        (NONCONFORMING, "UNKNOWN", False),
        (NONCONFORMING, "REFUTED", False),
    ],
)
def test_only_what_speaks_against_the_author_is_unexpected(finding, expected, fine):
    one = replace(SEEN, finding=finding, expected=expected)
    assert one.as_expected is fine and exit_code([one]) == int(not fine)


@given(st.floats(1e-12, 0.5))
def test_a_confidence_in_words_is_never_the_certain_one(alpha):
    text = confidence_text(1 - alpha)
    assert text not in ("1", "1.0") and ("1 - " in text or 0 < float(text) < 1)


def test_the_exit_code_is_that_of_the_worst():
    assert exit_code([]) == exit_code([SEEN]) == 0
    assert exit_code([SEEN, OTHER]) == 1
    assert exit_code([SEEN], [FAULT]) == exit_code([BROKEN], [FAULT]) == 2
    assert exit_code([BROKEN], [FAULT._replace(code=3), FAULT]) == 3


def test_the_summary_counts_claims_and_findings():
    leak = (replace(LEAK, also=(SEEN,)), SEEN)
    assert summary(leak) == "1 claim audited: 1 VIOLATION, 1 NO_VIOLATION_SEEN"
    assert summary(leak, [FAULT]) == "2 claims audited: 1 VIOLATION, 1 NO_VIOLATION_SEEN, 1 not audited"


def test_several_findings_of_a_claim_are_one_case_of_junit():
    suite = ET.fromstring(junit.render(Results(findings=[LEAK, SEEN, replace(SEEN, name="two")])))
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("2", "1")
    first, second = suite.findall(".//testcase")
    assert first.find("failure").attrib["message"] == "VIOLATION" and second.find("failure") is None


@given(st.lists(FINDINGS, max_size=4), st.lists(FAULTS, max_size=2))
def test_any_findings_can_be_told_in_every_format(findings, faults):
    """Of XML what the standard allows, of Markdown a row a finding, of GitHub one line an annotation."""
    surprises = [one for one in findings if not one.as_expected]
    results = Results(findings=findings, faults=faults)
    answer = json.loads(record.render(results))
    assert [entry["finding"] for entry in answer["audits"]] == [one.finding for one in findings] and len(answer.get("errors", [])) == len(
        faults
    )
    run = json.loads(sarif.render(results))["runs"][0]
    assert len(run["results"]) == len(surprises) and run["invocations"][0]["executionSuccessful"] is not bool(faults)
    suite = ET.fromstring(junit.render(results))
    assert len(suite.findall(".//error")) == len(faults) and bool(suite.findall(".//failure")) == bool(surprises)
    *annotations, last = github.render(results).split("\n")
    assert len(annotations) == len(surprises) + len(faults) and all(line.startswith("::error ") for line in annotations)
    assert last == results.summary
    assert text.render(results).endswith(last)
    rows = [
        line for line in markdown.render(results).split("\n") if re.match(rf"\| ({VIOLATION}|{NONCONFORMING}|{NO_VIOLATION_SEEN}) \|", line)
    ]
    assert len(rows) == len(findings)


def test_numbers_that_json_has_not_are_told_as_the_contract_does():
    entry = rendering.record(replace(SEEN, detectable_epsilon=math.inf, epsilon_lower=math.inf, event="", pair=""))
    assert entry["detectable_epsilon"] == entry["epsilon_lower"] == "inf" and entry["event"] is entry["pair"] is None
    assert "Infinity" not in record.render(Results(findings=[replace(SEEN, detectable_epsilon=math.inf)]))
