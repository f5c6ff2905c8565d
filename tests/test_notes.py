"""What the author of a claim may not mean is told in every format, and fails no run."""

from __future__ import annotations

import json
from xml.etree.ElementTree import fromstring

import pytest

import dpverify as dp
from dpverify.catalogue import read_spec
from dpverify.report import Entry, github, junit, markdown, record, sarif, text
from dpverify.report.page.html import fragment
from dpverify.report.page.sections import headline
from dpverify.report.page.subject import Run
from dpverify.report.results import Results
from dpverify.search.verify import verify

SUM = """[mechanism]
kind = "compose"
parts = [{parts}]
parameters = {{ {parameters} }}

[[claim]]
name = "c = 3"
epsilon = {epsilon}
"""
LAPLACE = '{{ kind = "builtin", name = "laplace", scale = {}{} }}'
STATED = ", sensitivity = {}"


def part(scale=1, sensitivity=None):
    return LAPLACE.format(scale, "" if sensitivity is None else STATED.format(sensitivity))


def spec(tmp_path, *parts, parameters="", epsilon=1):
    file = tmp_path / "a.toml"
    file.write_text(SUM.format(parts=", ".join(parts), parameters=parameters, epsilon=epsilon))
    return read_spec(file)


def notes(found):
    return [note.rule for note in found.claims[0].notes]


def results(found):
    entries = []
    for stated in found.claims:
        done = verify(stated.claim)
        entries.append(
            Entry(
                found.file,
                found.mechanism,
                stated.claim,
                stated.expect,
                stated.line,
                done.judgement,
                proved=done.proved,
                notes=stated.notes,
            )
        )
    return Results(entries)


def test_a_part_that_says_nothing_of_its_sensitivity_is_told(tmp_path):
    assert notes(spec(tmp_path, part())) == ["UNSTATED_SENSITIVITY"]
    assert notes(spec(tmp_path, part(sensitivity=1))) == []
    [note] = spec(tmp_path, part(sensitivity=1), part(), part()).claims[0].notes
    assert note.assumed == "sensitivity 1 (not stated): neighbours move the answer of part 2 and the answer of part 3 by at most 1"


def test_what_is_not_stated_is_the_same_claim_as_1(tmp_path):
    unsaid, said = spec(tmp_path, part()).claims[0].claim, spec(tmp_path, part(sensitivity=1)).claims[0].claim
    assert unsaid == said  # so that certificates are the same


def test_a_part_inside_a_part_is_named_by_its_place(tmp_path):
    inner = f'{{ kind = "compose", parts = [{part(sensitivity=1)}, {part()}] }}'
    [note] = spec(tmp_path, part(sensitivity=1), inner).claims[0].notes
    assert "the answer of part 2, part 2" in note.assumed


def test_a_part_that_needs_none_is_not_told(tmp_path):
    query = '{ kind = "builtin", name = "laplace", scale = 1, query = [[1, 1]], adjacency = "add-remove" }'
    bits = '{ kind = "builtin", name = "randomized_response", p = "3/4" }'
    assert notes(spec(tmp_path, query)) == notes(spec(tmp_path, bits)) == []


@pytest.mark.parametrize(
    ("parameters", "scale", "told"),
    [
        ("b = 2", '"b"', []),
        ("b = 2", "2", ["b"]),
        ('b = "positive"', "2", ["b"]),
        ('b = 2, a = "2*b"', '"a"', []),
        ('b = "b2", b2 = 1', '"b"', []),
        ("b = 2, c = 3", '"b"', ["c"]),  # the name of the claim is "c = 3"
    ],
)
def test_a_parameter_that_nothing_names_is_told(tmp_path, parameters, scale, told):
    found = spec(tmp_path, part(scale, 1), parameters=parameters, epsilon='"tight"')
    assert [note.said.split()[2] for note in found.claims[0].notes] == told
    assert all(note.rule == "UNUSED_PARAMETER" for note in found.claims[0].notes)


def test_a_parameter_of_the_claim_alone_is_used(tmp_path):
    assert notes(spec(tmp_path, part(1, 1), parameters="e = 1", epsilon='"e"')) == []


def test_a_sensitivity_of_0_is_told(tmp_path):
    assert notes(spec(tmp_path, part(1, 0))) == ["ZERO_SENSITIVITY"]
    assert dp.verify(dp.laplace(1), sensitivity=0, epsilon=0).warnings[0].startswith("sensitivity 0 says that the answers")
    assert dp.verify(dp.laplace(1), query=[[0, 0]], adjacency="add-remove", epsilon=0).warnings
    assert not dp.verify(dp.laplace(1), sensitivity="1/100", epsilon=1).warnings


def test_it_stands_beside_the_verdict_and_among_the_assumptions(tmp_path):
    told = results(spec(tmp_path, part(), parameters="c = 3"))
    said = text.render(told)
    first, *rest = said.splitlines()
    assert first.startswith("PROVED") and "sensitivity 1 (not stated)" in first
    assert "assumed  sensitivity 1 (not stated): neighbours move the answer of part 1 by at most 1" in rest
    assert "warning: the parameter c is used nowhere." in said
    assert told.exit_code == 0


def test_it_is_told_in_every_format(tmp_path):
    told = results(spec(tmp_path, part()))
    unsaid = "sensitivity 1 (not stated): neighbours move the answer of part 1 by at most 1"
    [claim] = json.loads(record.render(told))["claims"]
    assert claim["assumptions"][0] == unsaid and claim["warnings"][0].startswith("part 1: neither sensitivity nor query")
    log = json.loads(sarif.render(told))["runs"][0]
    assert [(one["ruleId"], one["level"]) for one in log["results"]] == [("UNSTATED_SENSITIVITY", "warning")]
    assert log["tool"]["driver"]["rules"][log["results"][0]["ruleIndex"]]["id"] == "UNSTATED_SENSITIVITY"
    assert github.render(told).startswith("::warning file=") and "neither sensitivity nor query" in github.render(told)
    suites = fromstring(junit.render(told))
    assert suites.get("failures") == "0" and "warning: part 1" in suites.find(".//system-out").text
    assert "### Warnings" in markdown.render(told) and "neither sensitivity nor query" in markdown.render(told)
    assert "part 1: neither sensitivity nor query" in fragment(headline.blocks(Run(told, [])))


def test_python_says_so_too():
    answer = dp.verify(dp.compose(dp.laplace(1), dp.laplace(1, sensitivity=1)), epsilon=2)
    assert answer.warnings and answer.assumptions[0].startswith("sensitivity 1 (not stated): neighbours move the answer of part 1")
    assert "sensitivity 1 (not stated)" in str(answer)


def test_a_declaration_that_a_file_uses_says_so_too(tmp_path):
    (tmp_path / "m.py").write_text(
        "from dpverify.declare import Compose, Mechanism, laplace\n"
        "twice = Mechanism(name='twice', noise=Compose(parts=[laplace(1), laplace(1)]))\n"
    )
    (tmp_path / "a.toml").write_text('[mechanism]\nuse = "m.py:twice"\n\n[[claim]]\nepsilon = 2\n')
    [note] = read_spec(tmp_path / "a.toml").claims[0].notes
    assert note.rule == "UNSTATED_SENSITIVITY" and "part 1" in note.assumed and "part 2" in note.assumed
