"""The page on paper, by a browser that is installed; without one, a word on what to install."""

import re

import pytest
from click.testing import CliRunner

from dpverify import cli
from dpverify.cli import pdf

CLAIM = """
[mechanism]
kind = "table"
rows = [["3/4", "1/4"], ["1/4", "3/4"]]

[[claim]]
epsilon = "1.0987"
"""


def browser():
    try:
        return pdf.browser()
    except pdf.PrintError:
        return None


def report(folder, *more):
    (folder / "response.toml").write_text(CLAIM)
    return CliRunner().invoke(cli.main, ["report", str(folder / "response.toml"), "-o", str(folder / "out"), "--no-cache", *more])


@pytest.mark.skipif(browser() is None, reason="needs Chromium")
def test_a_report_is_printed_whole(tmp_path):
    result = report(tmp_path, "--pdf")
    assert result.exit_code == 0, result.output
    printed = (tmp_path / "out" / "index.pdf").read_bytes()
    assert printed.startswith(b"%PDF") and printed.rstrip().endswith(b"%%EOF") and printed.count(b"/Type /Page\n") >= 2
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.startswith(".index")]


def test_without_a_browser_nothing_is_done_and_what_to_install_is_said(tmp_path, monkeypatch):
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    result = report(tmp_path, "--pdf")
    assert result.exit_code == 2 and "--pdf needs Chromium or Chrome, and none of chromium, " in result.output
    assert "Install one" in result.output and not (tmp_path / "out").exists()


def test_a_browser_that_is_named_and_is_not_there_is_named_in_the_error(monkeypatch):
    monkeypatch.setenv("CHROMIUM", "/nowhere/chrome")
    with pytest.raises(pdf.PrintError, match="CHROMIUM is '/nowhere/chrome', which is no program"):
        pdf.browser()


@pytest.mark.parametrize(
    ("script", "said"), [("echo broken >&2; exit 7", "exit code 7, broken"), ("exit 0", "exit code 0, it said nothing")]
)
def test_a_browser_that_prints_nothing_is_an_error_and_leaves_nothing_behind(tmp_path, script, said):
    program = tmp_path / "chrome"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    page = tmp_path / "index.html"
    page.write_text("<p>x</p>")
    with pytest.raises(pdf.PrintError, match=said):
        pdf.print_page(page, tmp_path / "index.pdf", str(program))
    assert not (tmp_path / "index.pdf").exists()


@pytest.mark.skipif(browser() is None, reason="needs Chromium")
def test_a_picture_is_printed_on_paper_of_its_own_size(tmp_path):
    picture = '<svg viewBox="0 0 96 48" xmlns="http://www.w3.org/2000/svg"><path d="M0 0L96 48"/></svg>'
    pdf.print_picture(picture, tmp_path / "p.pdf", pdf.browser())
    printed = (tmp_path / "p.pdf").read_bytes()
    # an inch is 96 pixels and 72 points
    assert printed.count(b"/Type /Page\n") == 1 and re.search(rb"/MediaBox \[0 0 72(\.0*)? 36(\.0*)?\]", printed)
