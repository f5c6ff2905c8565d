"""The page in a browser: tables are sorted and filtered with the keyboard alone, links open what is folded."""

import pytest
from click.testing import CliRunner

from dpverify import cli
from dpverify.cli import pdf

playwright = pytest.importorskip("playwright.sync_api", reason="needs the extra `browser`")

RESPONSE = """
[mechanism]
kind = "table"
rows = [["3/4", "1/4"], ["1/4", "3/4"]]
"""
CLAIMS = [("b", "1.0987", "proved"), ("a", "1", "refuted"), ("hoped for", "1", "proved")]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A report of two files, four claims each; one claim of each file is refuted where its author expects it to be proved."""
    try:
        program = pdf.browser()
    except pdf.PrintError:
        pytest.skip("needs Chromium")
    folder = tmp_path_factory.mktemp("script")
    claims = "".join(f'[[claim]]\nname = "{name}"\nepsilon = "{epsilon}"\nexpect = "{expect}"\n' for name, epsilon, expect in CLAIMS)
    for stem in ("one", "two"):
        (folder / f"{stem}.toml").write_text(RESPONSE + claims)
    CliRunner().invoke(cli.main, ["report", *(str(folder / f"{stem}.toml") for stem in ("one", "two")), "-o", str(folder / "out")])
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        found = opened.new_page()
        found.goto((folder / "out" / "index.html").as_uri())
        yield found
        opened.close()


@pytest.fixture
def claims(page):
    """The table of all claims, with what sorts and filters it."""
    page.evaluate("() => { location.hash = ''; document.querySelectorAll('details').forEach(one => { one.open = false; }); }")
    fold = page.locator("details:has(> [id=':all-claims'])")
    fold.evaluate("one => { one.open = true; }")
    yield fold
    fold.evaluate("one => { one.open = true; }")
    fold.get_by_label("Show").select_option("everything")
    fold.get_by_label("Find").fill("")


def names(fold):
    return fold.locator("tbody tr:visible td:nth-child(2)").all_inner_texts()


def test_enter_on_a_header_sorts_up_and_then_down_and_says_so(page, claims):
    header = claims.locator("th").nth(1)
    for direction in ("ascending", "descending"):
        header.locator("button").focus()
        page.keyboard.press("Enter")
        assert header.get_attribute("aria-sort") == direction
        assert names(claims) == sorted(names(claims), reverse=direction == "descending")
    assert claims.locator("th[aria-sort]").count() == 1


@pytest.mark.parametrize(("choice", "count"), [("everything", 6), ("PROVED", 2), ("REFUTED", 4), ("UNKNOWN", 0), ("not as expected", 2)])
def test_rows_are_chosen_by_their_verdict_and_counted_aloud(claims, choice, count):
    claims.get_by_label("Show").select_option(choice)
    assert len(names(claims)) == count
    assert claims.get_by_role("status").inner_text() == f"{count} of 6 shown"


def test_words_that_are_looked_for_may_stand_anywhere_in_a_row(claims):
    claims.get_by_label("Find").fill("TWO hoped")
    assert names(claims) == ["hoped for"]


def test_a_link_opens_the_claim_it_leads_to_and_does_so_again(page, claims):
    target = page.locator("details:has(> [id='two:3'])")
    for _ in range(2):
        page.locator("[id=':to-look-at'] a[href='#two:3']").click()
        target.locator("dl").first.wait_for(state="visible")
        assert target.evaluate("one => one.open && one.parentElement.closest('details').open")
        page.evaluate("() => document.querySelectorAll('main > section details').forEach(one => { one.open = false; })")


def test_everything_is_open_on_paper_and_folded_again_after(page, claims):
    closed = "() => document.querySelectorAll('details:not([open])').length"
    before = page.evaluate(closed)
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert before > 0 and page.evaluate(closed) == 0
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(closed) == before
