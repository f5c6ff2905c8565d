"""Many files at a glance: every claim with what it states and what is tight, in as few words as tell it."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dpverify.cli import output
from dpverify.report import Entry, findings, overview, text
from dpverify.report.results import Results
from dpverify.runtime.finding import VIOLATION, Finding
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.expr import num
from dpverify.trusted.kernel.judgement import Judgement
from dpverify.trusted.kernel.model import Claim, Measure, Sampled


def entry(epsilon, delta, lower, upper, deltas=(None, None), **of_claim):
    """A claim with bounds on its tight epsilon and its tight delta, as the kernel gives them."""
    exact = [value if isinstance(value, Infinite) else None if value is None else num(Fraction(value)) for value in (lower, upper, *deltas)]
    stated = [None if value is None else num(Fraction(value)) for value in (epsilon, delta)]
    claim = Claim(Sampled(), *stated, name="a name", **of_claim)
    found = Judgement(claim, "PROVED", *exact[:2], (), (), delta_lower=exact[2], delta_upper=exact[3])
    return Entry("f.toml", "m", claim, "PROVED", judgement=found)


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (entry(1, 0, 1, 1), "1 (tight)"),
        (entry(2, 0, "1/3", "1/3"), "2  tight 1/3"),
        (entry("1/2", "1/4", None, None, ("1/8", "1/8")), "(0.5, 0.25)  tight delta 0.125"),
        (entry("1/2", "1/4", "1/3", "1/3", ("1/8", "1/8")), "(0.5, 0.25)  tight 1/3"),
        (entry(None, 0, "1/3", "1/3"), "tight 1/3"),
        (entry(None, "1/4", "1/3", "1/3"), "delta 0.25  tight 1/3"),
        (entry(2, None, None, None, ("1/8", "1/8")), "2  tight delta 0.125"),
        (entry(2, 0, Infinite(), Infinite(), ("1/8", None)), "2  tight infinite, delta at least 0.125"),
        (entry(2, 0, None, 1), "2  tight at most 1"),
        (entry(2, 0, None, None), "2"),
        (entry(2, 0, "1/3", "1/3", order="one-sided"), "2, one-sided  tight 1/3"),
        (entry(None, None, "1/3", "1/3", measure=Measure("zcdp", num(2), None)), "rho 2  tight 1/3"),
        (entry(2, 0, "0.123456781", "0.123456789"), "2  tight 0.1234567..."),
        (entry(2, 0, "0.12345678", "0.87654321"), "2  tight in [0.1234, 0.8766]"),
        (entry(2, 0, "0.49999999", "0.50000001"), "2  tight in [0.49999999, 0.50000001]"),
    ],
    ids=str,
)
def test_a_claim_is_what_it_states_and_what_is_tight(one, said):
    assert "  ".join(overview.stated(one, None)) == said


def told(*files, **detail):
    """The lines of an answer about files, each with its claims."""
    entries = [replace(one, file=file) for file, group in files for one in group]
    return text.render(Results(entries), detail=text.Detail(**detail)).split("\n")


def test_a_tight_value_that_the_claim_above_has_is_not_told_again():
    first, second, third = entry(2, 0, "1/3", "1/3"), entry(3, 0, "1/3", "1/3"), entry(4, 0, "1/3", "1/2")
    assert overview.stated(second, first) == ["3", "as above"]
    assert overview.stated(third, second)[1] != "as above"
    assert overview.stated(replace(second, expected="REFUTED"), first)[1] == "tight 1/3"
    assert overview.stated(entry(None, 0, "1/3", "1/3"), first) == ["tight 1/3"]  # it is what is asked for
    assert overview.stated(entry(None, None, "1/3", "1/3", measure=Measure("zcdp", num(2), None)), first)[1] == "tight 1/3"
    assert overview.stated(entry(3, 0, None, None), entry(2, 0, None, None)) == ["3"]  # nothing is known of either


def test_files_are_named_within_the_folder_that_holds_all():
    one = entry(2, 0, "1/3", "1/3")
    lines = told(("claims/a.toml", [one]), ("claims/more/b.toml", [one]))
    assert lines[0].startswith("In claims, of each claim: ") and lines[1:5:2] == ["a.toml", "more/b.toml"]
    lines = told(("a.toml", [one]), ("more/b.toml", [one]))
    assert lines[0].startswith("Of each claim: ") and lines[1:5:2] == ["a.toml", "more/b.toml"]
    assert told(("/x/a.toml", [one]), ("b.toml", [one]))[1:5:2] == ["/x/a.toml", "b.toml"]


def test_errors_are_left_to_the_file_alone_and_that_is_said():
    plain, asks = entry(2, 0, "1/3", "1/3"), entry(2, 0, "1/3", "1/3", utility=True)
    assert any("error" in line for line in told(("a", [asks])))
    assert [line for line in told(("a", [asks]), ("b", [asks, plain])) if "error" in line] == [
        "2 claims ask for errors, which -v tells, and a run of that file alone"
    ]
    assert not any("error" in line for line in told(("a", [plain]), ("b", [plain])))
    assert any("error, " in line for line in told(("a", [replace(asks, expected="REFUTED")]), ("b", [plain])))


def test_all_that_is_known_is_told_in_words():
    one = entry(2, 0, "1/3", "1/3")
    assert "PROVED   a name  epsilon 2  tight epsilon 1/3" in told(("a", [one]), ("b", [one]), full=True)


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_on_a_terminal_no_line_is_wider_than_it_and_no_word_is_broken(columns, monkeypatch):
    said = "a sentence of many words " * 12
    finding = Finding(
        VIOLATION, "model", 1.0, 0.0, 1.5, 0.999, 1000, said, "x and x'", None, 3, 0.5, sampler="s", replay="dpverify " + "x" * 200
    )
    text = "\n".join(findings.lines([finding], lambda text, verdict: text, columns))
    assert all(len(line) <= columns or line.lstrip().startswith("replay: ") for line in text.split("\n"))
    assert set(text.split()) == set("\n".join(findings.lines([finding], lambda text, verdict: text)).split())
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    assert output.columns() == min(columns, 100)
