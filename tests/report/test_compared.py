"""A page that says of a claim what its certificate does not say, or that is another than was written, is found by `dpverify check`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpverify import cli

CLAIMS = """
[[claim]]
name = "as it is"
sensitivity = 1
epsilon = 1
[[claim]]
name = "less <b>&amp;</b> \\"than\\" it is"
sensitivity = 1
epsilon = "1/2"
delta = "tight"
[[claim]]
name = "as refuted"
sensitivity = 1
epsilon = "1/2"
expect = "refuted"
[[claim]]
name = "to our surprise"
sensitivity = 1
epsilon = "1/4"
[[claim]]
name = "another measure"
sensitivity = 1
zcdp = "1/2"
"""
LAPLACE = '[mechanism]\nkind = "builtin"\nname = "laplace"\nscale = {scale}\n'
RESPONSE = '[mechanism]\nkind = "table"\nrows = [["3/4", "1/4"], ["1/4", "3/4"]]\n[[claim]]\nname = "response"\nepsilon = "tight"\n'
FEW = LAPLACE.format(scale=1) + '[[claim]]\nname = "few"\nsensitivity = 1\nepsilon = 1\n'


def run(*args, code):
    result = CliRunner().invoke(cli.main, [str(arg) for arg in args])
    assert result.exit_code == code, result.output
    return result.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A report of several files, whose claims are of several kinds."""
    folder = tmp_path_factory.mktemp("report")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("noise.toml").write_text(LAPLACE.format(scale=1) + CLAIMS)
        Path("response a.toml").write_text(RESPONSE)
        Path("few.toml").write_text(FEW)
        run("report", "noise.toml", "response a.toml", "-o", "many", "--folders", "--digits", 7, code=1)
        run("report", "few.toml", "-o", "few", code=0)
    return folder


@pytest.fixture
def folder(made, monkeypatch):
    monkeypatch.chdir(made)
    kept = {file: file.read_bytes() for file in made.rglob("*") if file.is_file()}
    yield made
    for file, content in kept.items():
        file.write_bytes(content)


@pytest.mark.wide
@pytest.mark.sampled(1)
@pytest.mark.parametrize("report", ["few", "many"])
def test_a_page_that_was_written_and_left_alone_says_what_its_certificates_say(folder, report):
    assert "other: " not in run("check", report, code=0)
    for manifest in Path(report).rglob("certificates.json"):
        manifest.unlink()
    assert "other: " not in run("check", report, code=0)


def changed(file, old, new):
    text = Path(file).read_text(encoding="utf-8")
    assert old in text
    Path(file).write_text(text.replace(old, new, 1), encoding="utf-8")


LIES = {
    "the claimed epsilon": ("<dt>claimed</dt><dd>epsilon 1<", "<dt>claimed</dt><dd>epsilon 0.1<"),
    "the verdict": ("</span> REFUTED</b> to our surprise</h5>", "</span> PROVED</b> to our surprise</h5>"),
    "the row of the file": ("as it is</a></td><td>1</td>", "as it is</a></td><td>0.1</td>"),
    "the row of all": ("<td>noise</td><td>epsilon 1</td>", "<td>noise</td><td>epsilon 0.1</td>"),
    "the neighbours": ("x\u2032</dt><dd>every two inputs<", "x\u2032</dt><dd>every one input<"),
    "the name": ("</span> PROVED</b> as it is</h5>", "</span> PROVED</b> another</h5>"),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("lie", LIES)
def test_a_claim_that_is_told_otherwise_is_found_even_without_a_digest(folder, lie):
    changed("many/index.html", *LIES[lie])
    for manifest in Path("many").rglob("certificates.json"):
        manifest.unlink()
    said = [line for line in run("check", "many", code=1).splitlines() if line.startswith("other")]
    assert len(said) == 1 and "many/index.html: what it says of " in said[0] and ".cert.json says." in said[0]


@pytest.mark.parametrize(
    ("report", "file", "old", "new"),
    [
        ("few", "index.html", "Everything is as expected", "Everything is better than expected"),
        ("few", "index.md", "epsilon 1", "epsilon 0.1"),
        ("many", "index.md", "epsilon 1", "epsilon 0.1"),
    ],
)
def test_whatever_else_is_changed_is_found_by_its_digest(folder, report, file, old, new):
    changed(f"{report}/{file}", old, new)
    said = [line for line in run("check", report, code=1).splitlines() if line.startswith("other")]
    assert len(said) == 1 and said[0].startswith(f"other: {report}/{file}: its SHA-256 is not the one in {report}/")


def test_a_page_of_another_version_is_not_compared_word_by_word_and_that_is_said(folder):
    changed("few/index.html", 'content="dpverify ', 'content="dpverify 0.0.')
    changed("few/index.html", "<dt>claimed</dt><dd>epsilon 1<", "<dt>claimed</dt><dd>Epsilon 1<")
    Path("few/certificates.json").unlink()
    assert "was not compared with the certificates" in run("check", "few", code=0)


def test_a_report_that_is_written_again_has_new_digests_and_certificates_alone_keep_them(folder):
    before = json.loads(Path("few/certificates.json").read_text())["pages"]
    run("verify", "few.toml", "--certificates", "few", code=0)
    assert json.loads(Path("few/certificates.json").read_text())["pages"] == before
    run("report", "few.toml", "-o", "few", "--digits", 5, "--format", "json", code=0)
    assert json.loads(Path("few/certificates.json").read_text())["pages"].keys() == {"index.html", "index.md", "results.json"}
    run("check", "few", code=0)
