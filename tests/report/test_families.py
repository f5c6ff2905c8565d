"""A report of many claim files: an overview by families, a page for each, and evidence that is kept as text."""

import json
import re
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from click.testing import CliRunner

from dpverify import cli
from dpverify.catalogue import read_spec
from dpverify.cli import drawn, judging
from dpverify.evidence.collected import by_name, read
from dpverify.report import evidence
from dpverify.report.families import GROUPS, OTHERS, QUESTIONS, family
from dpverify.report.page import by_family
from dpverify.search.verify import verify
from dpverify.trusted.kernel import model

ROOT = Path(__file__).parents[2]
LAPLACE = """
[mechanism]
kind = "builtin"
name = "laplace"
scale = {scale}
[[claim]]
name = "tight"
sensitivity = 1
epsilon = "tight"
"""
WRONG = '[[claim]]\nname = "a tenth of it"\nsensitivity = 1\nepsilon = "1/{ten}"\nexpect = "refuted"\n'
TABLE = '[mechanism]\nkind = "table"\nrows = [["3/4", "1/4"], ["1/4", "3/4"]]\n[[claim]]\nname = "response"\nepsilon = "log(3)"\n'


def run(*args, code=0):
    result = CliRunner().invoke(cli.main, [str(arg) for arg in args])
    assert result.exit_code == code, result.output + result.stderr
    return result


def written(folder, count, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(drawn, "curves_and_pictures", lambda groups, *_: {stem: ([], []) for stem in groups})
    Path("specs").mkdir()
    for number in range(1, count + 1):
        Path(f"specs/laplace_{number:02}.toml").write_text(LAPLACE.format(scale=number) + WRONG.format(ten=10 * number))
    Path("specs/two_rows.toml").write_text(TABLE)
    return folder


@pytest.fixture
def many(tmp_path, monkeypatch):
    """Claim files of two families, too many for one page. Nothing is drawn."""
    return written(tmp_path, 21, monkeypatch)


@pytest.fixture
def some(tmp_path, monkeypatch):
    """The same, of which four are too many."""
    monkeypatch.setattr(by_family, "MOST", 3)
    return written(tmp_path, 4, monkeypatch)


class Links(HTMLParser):
    """The targets of links, and the ids that they may lead to."""

    def __init__(self, text):
        super().__init__()
        self.targets, self.ids = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        told = dict(attrs)
        self.ids |= {told["id"]} if told.get("id") else set()
        self.targets += [told["href"]] if tag == "a" else []


def test_every_kind_of_mechanism_has_a_group():
    told = [kind for kinds in GROUPS.values() for kind in kinds]
    assert len(told) == len(set(told)) and set(model.KINDS) == set(told)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("laplace", "translation-epsilon"), ("student_t", "radial-l2-epsilon"), ("knorm_facets", "radial-other-epsilon"),
        ("delta_gaussian", "radial-l2-delta"), ("randomized_response", "table-epsilon"), ("compose_gaussian", "compose-delta"),
        ("measure_laplace", "radial-l1-measures"), ("noisy_max_exponential_value", "noisy-max-epsilon"),
    ],
)  # fmt: skip
def test_a_family_is_kind_norm_and_question(file, name):
    found = family([stated.claim for stated in read_spec(ROOT / "specs" / f"{file}.toml").claims])
    assert found.name == name and found.group != OTHERS and found.title.endswith(QUESTIONS[found.question])


@pytest.mark.wide
def test_a_large_report_is_an_overview_and_a_page_for_each_family_whose_links_lead_somewhere(many):
    run("report", "specs", "-o", "out", "--folders", "--no-cache")
    pages = {path.name: Links(path.read_text()) for path in Path("out").glob("*.html")}
    assert len(pages) == 3 and "table-epsilon.html" in pages
    for name, page in pages.items():
        for target in page.targets:
            file, _, anchor = unquote(target).removeprefix("./").partition("#")
            assert (Path("out") / (file or name)).is_file(), target
            assert not anchor or anchor in pages[file or name].ids, target
    overview = Path("out/index.html").read_text()
    assert "21 mechanisms refuted by far" in overview
    assert all(f"laplace_{number:02}" in overview for number in range(1, 22))
    assert "43 certificates, 43 valid\n" in run("check", "out").stdout


@pytest.mark.wide
def test_one_page_on_request_and_no_page_of_a_family_is_left_from_before(some):
    run("report", "specs", "-o", "out", "--folders")
    theirs = Path("out/mine.html")
    theirs.write_text("mine")
    run("report", "specs", "-o", "out", "--folders", "--one-page")
    assert sorted(path.name for path in Path("out").glob("*.html")) == ["index.html", "mine.html"]
    assert "laplace_03" in Path("out/index.html").read_text()


@pytest.mark.wide
def test_a_claim_that_a_page_of_a_family_tells_otherwise_is_found(some):
    run("report", "specs", "-o", "out", "--folders")
    Path("out/certificates/certificates.json").unlink()
    page = Path("out/table-epsilon.html")
    text = page.read_text()
    page.write_text(text.replace("</span> PROVED</b> response", "</span> REFUTED</b> response", 1))
    assert page.read_text() != text
    (said,) = [line for line in run("check", "out", code=1).stdout.splitlines() if line.startswith("other")]
    assert "out/table-epsilon.html: what it says of \"response\" is not what" in said


# -- evidence ------------------------------------------------------------------------------------------------


@pytest.mark.wide
def test_evidence_is_a_collection_for_each_family_and_a_line_for_each_claim(some):
    run("report", "specs", "-o", "out", "--evidence", "kept")
    assert sorted(path.relative_to("kept").as_posix() for path in Path("kept").rglob("*") if path.is_file()) == [
        "certificates/radial-l1-epsilon.certs.json", "certificates/table-epsilon.certs.json", "index.md", "verdicts.txt",
    ]  # fmt: skip
    lines = [line for line in Path("kept/verdicts.txt").read_text().splitlines() if line and not line.startswith("#")]
    assert len(lines) == 9 and "PROVED\tspecs/laplace_02.toml\ttight\tepsilon tight\t1/2\t" in "\n".join(lines)
    page = Path("kept/index.md").read_text()
    assert "9 claims, 9 as expected" in page and "Tables of probabilities: pure epsilon" in page and "1/4" in page
    assert run("check", "kept").stdout.endswith("9 certificates, 9 valid\n")
    first = {path: path.read_bytes() for path in Path("kept").rglob("*") if path.is_file()}
    run("report", "specs", "-o", "other", "--evidence", "kept", "--no-cache")
    assert {path: path.read_bytes() for path in Path("kept").rglob("*") if path.is_file()} == first


@pytest.mark.wide
def test_what_is_kept_is_judged_by_the_kernel_and_not_searched_again(some, monkeypatch):
    run("report", "specs", "-o", "out", "--evidence", "kept", "--no-cache")
    searched = some / "searched"  # of other processes too
    searched.touch()

    def anew(self, claim):
        with searched.open("a") as file:
            file.write(f"{claim.name}\n")
        return verify(claim, self.digits)

    monkeypatch.setattr(judging.Judge, "_anew", anew)
    monkeypatch.setenv("DPVERIFY_CACHE_DIR", str(some / "cache"))
    run("report", "specs", "-o", "again", "--evidence", "kept", "--jobs", 1)
    assert searched.read_text() == ""
    listed = json.loads(Path("again/certificates.json").read_text())["found_by"]
    assert [(group["sources"], len(group["certificates"])) for group in listed] == [("kept", 9)]
    run("report", "specs", "-o", "again", "--evidence", "kept", "--jobs", 1, "--no-cache")
    assert searched.read_text().count("\n") == 9, "what was kept is not taken for what a search of today found"
    kept = Path("kept/certificates/table-epsilon.certs.json")
    assert kept.read_text().count('"REFUTED"') == 0
    kept.write_text(kept.read_text().replace('"verdict": "PROVED"', '"verdict": "REFUTED"'))
    done = run("report", "specs", "-o", "once-more", "--evidence", "kept", "--jobs", 1)
    assert "9 claims, 9 as expected" in done.stdout
    assert kept.read_text().count('"PROVED"') == 1


@pytest.mark.parametrize("change", ["missing", "other", "extra"])
def test_what_is_other_in_kept_evidence_than_its_list_says_is_found(some, change):
    run("report", "specs", "-o", "out", "--evidence", "kept")
    file, verdicts = Path("kept/certificates/table-epsilon.certs.json"), Path("kept/verdicts.txt")
    if change == "missing":
        file.unlink()
    elif change == "extra":
        verdicts.write_text("".join(line for line in verdicts.read_text().splitlines(True) if "two_rows" not in line))
    else:
        verdicts.write_text(re.sub(r"[0-9a-f]{64}(?=\ttwo_rows)", "0" * 64, verdicts.read_text()))
    (said,) = [line for line in run("check", "kept", code=1).stdout.splitlines() if line.startswith(("missing", "other", "extra"))]
    assert said.startswith(f"{change}: kept/certificates/table-epsilon.certs.json/two_rows.response.cert.json")


def test_evidence_takes_the_place_of_evidence_alone(some):
    Path("kept").mkdir()
    Path("kept/index.md").write_text("mine")
    refused = run("report", "specs/two_rows.toml", "-o", "out", "--evidence", "kept", code=2)
    assert "kept/index.md: dpverify did not write it" in refused.stderr and Path("kept/index.md").read_text() == "mine"
    run("report", "specs/two_rows.toml", "-o", "out", "--evidence", "kept", "--force")
    Path("specs/two_rows.toml").unlink()
    run("report", "specs/laplace_01.toml", "-o", "out", "--evidence", "kept")
    assert [path.name for path in Path("kept/certificates").iterdir()] == ["radial-l1-epsilon.certs.json"]


@pytest.mark.wide
def test_the_committed_evidence_is_small_and_says_what_its_files_hold():
    files = [path for path in (ROOT / "reports").rglob("*") if path.is_file()]
    assert len(files) <= 100 and sum(path.stat().st_size for path in files) <= 3_000_000
    assert (ROOT / "reports" / "index.md").stat().st_size <= 100_000
    told = evidence.listed((ROOT / "reports" / "verdicts.txt").read_text(encoding="utf-8"))
    held = {place.relative_to(ROOT / "reports").as_posix(): sha256(read(place)).hexdigest() for place in by_name(ROOT / "reports").values()}
    assert told == held
