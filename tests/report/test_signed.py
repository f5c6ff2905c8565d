"""A report that somebody signs: how it came to be, who makes sure of what is assumed, the query, theorems for papers, pictures as files."""

import json
import re
import subprocess
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpverify import cli
from dpverify.catalogue.source import Source
from dpverify.cli import found
from dpverify.errors import SpecError
from dpverify.project import made
from dpverify.report import literature, owners, theorem
from dpverify.report import record as record_module
from dpverify.report.page import figures
from dpverify.report.page.blocks import Figure, Fold, Section
from dpverify.report.page.sections import glossary, query
from dpverify.report.stated import stated
from dpverify.runtime.version import __version__
from dpverify.trusted.kernel.model import Query
from dpverify.trusted.kernel.registry import EXPLAINED
from tests.report.test_page import Page

ROOT = Path(__file__).parents[2]
CLAIMS = """
[mechanism]
kind = "product"
density = "exp(-abs(z))"
dimension = 2

[[claim]]
name = "two counts"
query = [[1, 1, 0], [0, 1, "1/2"]]
adjacency = "add-remove"
epsilon = 2

[[claim]]
name = "one order"
sensitivity = 1
epsilon = 1
order = "one-sided"
"""


def report(folder, *more, code=0):
    (folder / "counts.toml").write_text(CLAIMS)
    done = CliRunner().invoke(cli.main, ["report", str(folder / "counts.toml"), "-o", str(folder / "out"), "--no-cache", *more])
    assert done.exit_code == code, done.output
    return folder / "out"


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """A report with everything that is asked for by an option, but paper."""
    return report(tmp_path_factory.mktemp("signed"), "--sign", "--latex", "--figures", "--format", "json")


@pytest.fixture(scope="module")
def page(out):
    return Page((out / "index.html").read_text()).said


@pytest.fixture
def repository(tmp_path):
    """A folder with one commit of one file."""
    def git(*arguments):
        command = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    (tmp_path / "pyproject.toml").write_text('[project]\nname = "noise-of-ours"\n')
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "one")
    return tmp_path, git("rev-parse", "HEAD")


# -- how it came to be ---------------------------------------------------------------------------------


def test_a_report_that_is_not_to_be_signed_says_what_is_the_same_at_each_run(repository):
    said = made.made(repository[0] / "pyproject.toml")
    assert said == made.made(repository[0] / "pyproject.toml")
    assert (said.project, said.date, said.commit, said.command, said.signed) == ("noise-of-ours", "", "", "", False)
    assert dict(said.versions).keys() == {"dpverify", "python-flint"} and dict(said.versions)["dpverify"] == __version__


def test_a_report_to_sign_says_when_of_which_commit_and_by_which_command(repository, monkeypatch):
    monkeypatch.setenv(made.EPOCH, "86400")
    folder, commit = repository
    said = made.made(folder / "pyproject.toml", ["report", "a file.toml", "--sign"])
    assert said.signed and said.date == "1970-01-02 00:00 UTC" and said.commit == commit
    assert said.command == "dpverify report 'a file.toml' --sign" and "Python" in dict(said.versions)


def test_changes_that_are_not_committed_are_said_and_new_files_are_none(repository):
    folder, commit = repository
    (folder / "new.txt").write_text("x")
    assert made.made(folder / "pyproject.toml", []).commit == commit
    (folder / "pyproject.toml").write_text("[project]\n")
    assert made.made(folder / "pyproject.toml", []).commit == f"{commit}, with changes that are not committed"


@pytest.mark.parametrize("text", ["", "[project]\nversion = '1'\n", "[project]\nname = 3\n", "project = 3\n", "not toml"])
def test_a_project_without_a_name_is_called_as_its_folder(tmp_path, text):
    folder = tmp_path / "ours"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(text)
    assert made.made(folder / "pyproject.toml").project == "ours"
    assert made.made(None).project == ""


def test_without_git_there_is_no_commit(tmp_path, monkeypatch):
    assert made.made(tmp_path / "pyproject.toml", []).commit == ""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert made.made(ROOT / "pyproject.toml", []).commit == ""


def test_git_runs_no_program_that_a_repository_names(repository):
    folder, commit = repository
    (folder / "spy").write_text(f"#!/bin/sh\ntouch {folder}/ran\n")
    (folder / "spy").chmod(0o755)
    subprocess.run(["git", "-C", str(folder), "config", "core.fsmonitor", str(folder / "spy")], check=True)
    assert made.made(folder / "pyproject.toml", []).commit == commit and not (folder / "ran").exists()


@pytest.mark.wide
def test_the_page_and_the_json_say_how_they_came_to_be(out, page):
    told = json.loads((out / "results.json").read_text())["made"]
    assert set(told) == {"project", "versions", "date", "commit", "command"}
    assert all(said in page for said in (told["date"], f"dpverify {__version__}", f"python-flint {told['versions']['python-flint']}"))
    assert "reviewer date what was checked signature" in page


# -- what is assumed -----------------------------------------------------------------------------------


def test_everything_that_a_rule_assumes_of_a_sampler_or_of_others_has_its_owner():
    assumed = {line for rule in EXPLAINED.values() for line in rule.ASSUMED}
    found = {line: owners.owner(line) for line in assumed}
    assert found["the sampler is ideal"] == owners.SAMPLER
    about_data = {"record", "neighbours", "inputs", "records", "histograms", "answers", "tables", "sensitivities", "pair"}
    left = [line for line, one in found.items() if one == owners.DATA and not about_data & set(re.findall(r"\w+", line))]
    assert left in ([], ["the parts see disjoint parts of the data, and which part a record belongs to depends on the record alone"])


@pytest.mark.parametrize(
    ("said", "who"),
    [
        ("the query moves by at most the stated sensitivity in the noise's norm", owners.QUERY),
        ("some pair of inputs is exactly the sensitivity apart", owners.DATA),
        ("for the lower bound: some pair of inputs is exactly the sensitivity apart", owners.NOBODY),
        ("for the upper bound: the query moves by at most the stated sensitivity in the noise's norm", owners.QUERY),
        ("the mechanism has the guarantee that is stated of it, for all neighbours and in both orders", owners.GUARANTEE),
        ("the parts draw independent noise", owners.SAMPLER),
        ("the density is non-negative", owners.DECLARATION),
    ],
)
def test_an_assumption_is_of_who_can_know_it(said, who):
    assert owners.owner(said) == who
    assert owners.by_owner([said, said]) == {who: [said]}


def test_the_page_says_who_makes_sure_of_each_assumption_and_of_how_many_claims_it_is_one(page):
    part = page[page.index("What you have to make sure of") : page.index("Rules")]
    assert "the implementation samples exactly from the declared distribution sampler author" in part and "2 claims" in part
    assert "the query moves by at most the stated sensitivity in the noise's norm author of the query" in part


# -- what is claimed -----------------------------------------------------------------------------------


def test_a_query_is_shown_with_the_sensitivity_that_follows(out, page):
    # a record of the second kind moves both answers by 1: 2 in l1
    assert "sensitivity, derived 2 in l1, from the query under add-remove" in page
    assert "  1    1    0\n  0    1  1/2" in (out / "index.md").read_text()
    claim = json.loads((out / "results.json").read_text())["claims"][0]
    assert claim["query"] == {"rows": [["1", "1", "0"], ["0", "1", "1/2"]], "adjacency": "add-remove"}


def test_a_large_query_is_shown_in_part():
    rows = tuple(tuple(Fraction(int(i == j)) for j in range(query.MOST + 1)) for i in range(query.MOST + 2))
    lines = query.matrix(Query(rows, "l1")).split("\n")
    assert len(lines) == query.MOST + 1 and lines[-1] == "... 2 more rows" and lines[0].endswith("...")


def test_neighbours_are_named_with_the_claims_that_they_are_of(page):
    assert "neighbours of two counts two inputs are neighbours where one has one record more" in page
    assert "neighbours of one order answers at most 1 apart in the l1 norm; x is the one with the record" in page


def test_of_a_claim_about_one_order_the_page_says_that_no_curve_is_drawn(page):
    assert "No curve is drawn of claims about one order of neighbours" in page


def test_the_page_explains_its_words(page):
    assert {"tight", "slack", "as expected"} <= {word for word, _ in glossary.WORDS}
    assert all(word in page and said in page for word, said in glossary.WORDS)


# -- papers --------------------------------------------------------------------------------------------


def test_theorems_state_the_law_the_neighbours_the_inequality_and_where_the_proof_is(out):
    text = (out / "theorems.tex").read_text()
    assert text.count("\\begin{theorem}") == text.count("\\end{theorem}") == text.count("\\begin{proof}") == 2
    assert text.startswith(theorem.PREAMBLE) and "two inputs are neighbours where one has one record more" in text
    for file in out.glob("*.cert.json"):
        assert sha256(file.read_bytes()).hexdigest() in text


def test_what_theorems_cite_is_in_the_references(out):
    text, references = (out / "theorems.tex").read_text(), (out / "references.bib").read_text()
    cited = set(re.findall(r"\\cite(?:\[[^\]]*\])?\{([^}]+)\}", text))
    assert cited and cited <= set(re.findall(r"^@\w+\{([^,]+),", references, re.MULTILINE))


def test_what_is_undecided_is_no_theorem(tmp_path):
    from dpverify.cli.claims import specs_of, verified

    (tmp_path / "counts.toml").write_text(CLAIMS)
    one = verified(specs_of([str(tmp_path / "counts.toml")]), None, 20)[0]
    undecided = replace(one, judgement=replace(one.judgement, verdict="UNKNOWN"))
    assert theorem.theorems([undecided]) == f"{theorem.PREAMBLE}\n% two counts: neither proved nor refuted.\n"
    assert "SHA-256" not in theorem.theorems([one])


def test_explain_prints_theorems_and_what_they_cite():
    def run(style):
        command = ["explain", str(ROOT / "specs" / "student_t.toml"), "--format", style, "--claim", "sensitivity 1: tight"]
        return CliRunner().invoke(cli.main, command).output

    said = run("latex")
    assert said.startswith(theorem.PREAMBLE) and r"~\cite{dpverify}, \cite[Example 6]{reimherr-awan-2019}." in said
    cited = run("bibtex")
    assert "title = {{Elliptical Perturbations for Differential Privacy}}" in cited and "@software{dpverify," in cited


def test_every_text_that_a_rule_names_with_authors_and_year_is_in_the_literature():
    for name in EXPLAINED:
        for part in stated(name).source.place.split("; "):
            if re.search(r"\b(1|2)\d{3}\b", part):
                assert literature.cited([Source("here", part)]), part
    assert len({one.key for one in literature.TEXTS.values()}) == len(literature.TEXTS)


def test_a_text_is_cited_once_with_all_its_places():
    (found,) = literature.cited([Source("a", "Warner 1965, page 1"), Source("b", "Warner 1965, page 2; Warner 1965, page 1")]).items()
    assert found[0].key == "warner-1965" and found[1] == ["page 1", "page 2"]
    assert found[0].bibtex().startswith("@article{warner-1965,\n  author = {Stanley L. Warner},\n  title = {{Randomized Response")


# -- pictures ------------------------------------------------------------------------------------------


def test_every_picture_of_the_page_is_a_file_that_needs_no_page(out):
    names = re.findall(r'aria-labelledby="([\w-]+)-t', (out / "index.html").read_text())
    assert names and {file.stem for file in (out / "figures").glob("*.svg")} == set(names)
    for file in (out / "figures").glob("*.svg"):
        said = file.read_text()
        assert said.startswith('<svg xmlns="http://www.w3.org/2000/svg" ') and "var(" not in said


def test_pictures_are_replaced_by_those_of_the_next_report_and_a_foreign_one_is_not(out, tmp_path):
    names = [file.name for file in (out / "figures").glob("*.svg")]
    assert found.foreign(out / "figures", names) == []
    (tmp_path / names[0]).write_text("<svg/>")
    with pytest.raises(SpecError, match="dpverify did not write it"):
        found.refuse(tmp_path, names)


def test_pictures_are_found_at_every_depth():
    svg = '<svg role="img" aria-labelledby="{0}-t {0}-d" viewBox="0 0 360 230.5" style="fill:var(--ink,#1b1b1b)"></svg>'
    content = [Fold("f", [Section("s", [Figure(svg.format("one"), "")])]), Figure(svg.format("two"), "")]
    assert list(figures.files(content)) == ["one", "two"] and "fill:#1b1b1b" in figures.files(content)["one"]
    assert figures.size(svg) == (360.0, 230.5)
    with pytest.raises(ValueError, match="without a view box"):
        figures.size("<svg></svg>")


def test_the_json_of_other_formats_has_no_word_on_how_it_came_to_be():
    from dpverify.report.results import Results

    assert "made" not in json.loads(record_module.render(Results()))
